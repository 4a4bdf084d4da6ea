// SPDX-License-Identifier: Apache-2.0
// What dampers and their packs have in common.
#pragma once

#include <cstdint>
#include <span>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/force/force.hpp"

namespace tempi {

class Damper : public Force {
 public:
  bool is_damper() const final { return true; }
};

// Throws InputError unless it is a number >= 0.
double checked_coefficient(const char* name, double value, const char* unit);

// Packs of pack_width() elements. Impulses are kept pack by pack: node, component, lane.
class PackedDampers : public DampingBatch {
 public:
  std::size_t row() const final { return nodes_ * dim_; }
  void works(Index first, Index last, std::span<const double> kept, std::span<const NodeMean> velocities,
             std::span<double> work) const final;
  void impulse(std::size_t element, std::span<const double> kept, std::span<double> p) const final;

 protected:
  // Of elements with so many nodes each; `places`: the lines of these, pack by pack: node, lane.
  PackedDampers(std::size_t dim, std::size_t nodes, AlignedVector<std::int32_t> places);

  std::size_t width_, dim_, nodes_;
  AlignedVector<std::int32_t> places_;
};

}  // namespace tempi
