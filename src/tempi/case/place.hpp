// SPDX-License-Identifier: Apache-2.0
// Where something stands in the user's files, and errors that say so: "block.toml:14: density = ...".
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "tempi/core/error.hpp"

namespace tempi {

using Place = std::string;  // "block.toml:14", or "--set run.end_time=x"

// An InputError whose message begins with its place.
class PlacedError : public InputError {
 public:
  PlacedError(const Place& place, std::string_view message) : InputError(fmt::format("{}: {}", place, message)) {}
};

// Runs `make`; what it throws is given the place in front, unless it has one.
template <class Make>
auto at_place(const Place& place, Make&& make) {
  try {
    return make();
  } catch (const PlacedError&) {
    throw;
  } catch (const InputError& e) {
    throw PlacedError(place, e.what());
  } catch (const SolveError& e) {
    throw PlacedError(place, e.what());
  }
}

}  // namespace tempi
