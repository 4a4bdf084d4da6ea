// SPDX-License-Identifier: Apache-2.0
// Methods that come back between events where they are told to.
#pragma once

#include "tempi/integrator/integrator.hpp"

namespace tempi::test {

// To `end`, coming back wherever a method does. Returns how often it was sent out; 0: it came back from where it was.
inline Index advance_coming_back(Integrator& integrator, State& state, double end) {
  integrator.come_back_when([] { return true; });
  double reached = 0.0;
  Index times = 0;
  for (; reached < end; ++times) {
    const double now = integrator.advance_to(state, end);
    if (!(now > reached)) return 0;
    reached = now;
  }
  return times;
}

}  // namespace tempi::test
