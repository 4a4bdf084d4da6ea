// SPDX-License-Identifier: Apache-2.0
// Space that repeats along some of its axes: particles feel the nearest image of each other.
//
//   d_c - L_c round(d_c / L_c)    for a difference d of two positions
//
// Positions need not lie within the box: they go on counting when they leave it.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tempi {

class Box {
 public:
  using Lengths = std::array<std::optional<double>, 3>;  // [m], along x, y, z

  Box() = default;                       // nothing repeats
  explicit Box(const Lengths& lengths);  // throws InputError unless all given are positive and finite

  const std::optional<double>& length(std::size_t axis) const { return lengths_[axis]; }

  // The component along `axis` of a difference of two positions, between their nearest images [m].
  double nearest(double difference, std::size_t axis) const {
    const auto& L = lengths_[axis];
    return L ? difference - *L * std::nearbyint(difference / *L) : difference;
  }

  // Throws InputError when something that reaches as far as `range` [m] would meet two images of the same particle.
  // `name`: what to call the range.
  void require_room_for(std::string_view name, double range) const;

 private:
  Lengths lengths_;
};

}  // namespace tempi
