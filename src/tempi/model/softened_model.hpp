// SPDX-License-Identifier: Apache-2.0
// A model whose terms give way (potential/softened.hpp), each with its own time: implicit asynchronous methods are
// explicit ones on this model.
#pragma once

#include <vector>

#include "tempi/model/model.hpp"

namespace tempi {

// The same nodes, masses, terms, loads and supports; term K gives way with the time `times[K]` [s] (0: as it is)
// between its shares of the masses in `model`; held components do not. It brings these shares: the stable step of a
// term of stable step s is sqrt(s^2 + 4 times[K]^2). `model` must outlive it. A state of one is a state of the other.
// Throws InputError when a time is negative or not finite, or when a term that is to give way has no share of a node's
// mass.
Model softened(const Model& model, std::vector<double> times);

}  // namespace tempi
