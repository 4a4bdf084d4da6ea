// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/stepping/conservative.hpp"

#include <fmt/format.h>

#include "tempi/core/error.hpp"

namespace tempi {

void require_conservative(const Model& model, std::string_view method, SumsTaken sums) {
  if (model.has_forces())
    throw InputError(
        fmt::format("{} keeps an energy that loads and dampers do not have: it takes none. Give constant gravity as "
                    "the potential \"uniform-field\", or choose another method.",
                    method));
  for (const NodeId a : model.supports().held_nodes())
    if (model.supports().moves(a))
      throw InputError(
          fmt::format("{} keeps an energy, and supports that move give and take some. Hold them at rest, or choose "
                      "another method.",
                      method));
  for (Index p = 0; p < model.potential_count(); ++p) {
    const ManyBodySum* sum = model.potential(p).as_sum();
    if (sum == nullptr || (sums == SumsTaken::of_known_length && sum->shortest_length())) continue;
    throw InputError(
        sum->shortest_length()
            ? fmt::format("{} does not take {}, whose pairs act together. Choose another method.", method,
                          sum->describe(0))
            : fmt::format("{} does not take {}, whose pairs act together. Give that potential together = false, or "
                          "choose another method.",
                          method, sum->describe(0)));
  }
}

}  // namespace tempi
