// SPDX-License-Identifier: Apache-2.0
// A number of each of eight terms, facets ... side by side: as many as the widest packs have lanes, so that what is
// kept of them does not depend on the machine.
#pragma once

#include <array>
#include <cstdint>

namespace tempi {

struct alignas(64) Eight {
  static constexpr std::int32_t lanes = 8;
  std::array<double, lanes> lane = {};
};

}  // namespace tempi
