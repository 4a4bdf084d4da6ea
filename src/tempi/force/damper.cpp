// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/damper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi {

double checked_coefficient(const char* name, double value, const char* unit) {
  if (!(value >= 0.0) || !std::isfinite(value))
    throw InputError(fmt::format("{} = {} {} (must be >= 0).", name, value, unit));
  return value;
}

PackedDampers::PackedDampers(std::size_t dim, std::size_t nodes, AlignedVector<std::int32_t> places)
    : width_(static_cast<std::size_t>(pack_width())), dim_(dim), nodes_(nodes), places_(std::move(places)) {}

void PackedDampers::works(Index first, Index last, std::span<const double> kept, std::span<const NodeMean> velocities,
                          std::span<double> work) const {
  for (auto pack = static_cast<std::size_t>(first); pack < static_cast<std::size_t>(last); ++pack) {
    const double* p = &kept[pack * row() * width_];
    const std::int32_t* line = &places_[pack * nodes_ * width_];
    double* of_pack = &work[pack * width_];
    std::fill_n(of_pack, width_, 0.0);
    for (std::size_t a = 0; a < nodes_; ++a, line += width_, p += dim_ * width_)
      for (std::size_t lane = 0; lane < width_; ++lane) {
        const double* v = velocities[static_cast<std::size_t>(line[lane])].velocity;
        for (std::size_t c = 0; c < dim_; ++c) of_pack[lane] += p[c * width_ + lane] * v[c];
      }
  }
}

void PackedDampers::impulse(std::size_t element, std::span<const double> kept, std::span<double> p) const {
  const double* lane = &kept[element / width_ * row() * width_ + element % width_];
  for (std::size_t i = 0; i < row(); ++i) p[i] = lane[i * width_];
}

}  // namespace tempi
