// SPDX-License-Identifier: Apache-2.0
// What methods that step through the energy ask of a model.
#pragma once

#include <string_view>

#include "tempi/model/model.hpp"

namespace tempi {

enum class SumsTaken { none, of_known_length };  // which have a ManyBodySum::shortest_length()

// Throws InputError unless all that acts has an energy of its own terms: no loads, dampers, supports that move, sums
// of changing pieces but those taken. `method`: for the message.
void require_conservative(const Model& model, std::string_view method, SumsTaken sums = SumsTaken::none);

}  // namespace tempi
