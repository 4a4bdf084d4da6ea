// SPDX-License-Identifier: Apache-2.0
// What methods that step through the energy ask of a model.
#pragma once

#include <string_view>

#include "tempi/model/model.hpp"

namespace tempi {

// Throws InputError unless all that acts has an energy of its own terms: no loads, dampers, supports that move, sums of
// changing pieces. `method`: for the message.
void require_conservative(const Model& model, std::string_view method);

}  // namespace tempi
