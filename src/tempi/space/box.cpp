// SPDX-License-Identifier: Apache-2.0
#include "tempi/space/box.hpp"

#include <fmt/format.h>

#include "tempi/core/error.hpp"

namespace tempi {

Box::Box(const Lengths& lengths) : lengths_(lengths) {
  for (std::size_t c = 0; c < 3; ++c)
    if (lengths[c] && (!(*lengths[c] > 0.0) || !std::isfinite(*lengths[c])))
      throw InputError(fmt::format("the box is {} m long along {} (must be > 0).", *lengths[c], "xyz"[c]));
}

void Box::require_room_for(std::string_view name, double range) const {
  for (std::size_t c = 0; c < 3; ++c)
    if (lengths_[c] && range > 0.5 * *lengths_[c])
      throw InputError(
          fmt::format("{} = {} m in a box that is {} m long along {} (must be at most half of it: only the nearest "
                      "image of a particle is felt). Enlarge the box.",
                      name, range, *lengths_[c], "xyz"[c]));
}

}  // namespace tempi
