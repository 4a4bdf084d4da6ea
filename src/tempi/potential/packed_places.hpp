// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/potential/potential.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi {

// Lines of the nodes of terms, or of elements of a force, lane behind lane. -1 among `terms`, and what fills up the
// last pack, has those of the term before it.
template <class Of>
AlignedVector<std::int32_t> packed_places(const Of& of, std::span<const Index> terms,
                                          std::span<const std::int32_t> place) {
  const auto W = static_cast<std::size_t>(pack_width());
  const std::size_t packs = (terms.size() + W - 1) / W, N = of.stencil(0).size();
  AlignedVector<std::int32_t> places(packs * W * N);
  Index k = 0;
  for (std::size_t i = 0; i < packs * W; ++i) {
    if (i < terms.size() && terms[i] >= 0) k = terms[i];
    const auto nodes = of.stencil(k);
    for (std::size_t a = 0; a < N; ++a) places[(i / W * N + a) * W + i % W] = place[ordinal(nodes[a])];
  }
  return places;
}

// Where `of_line` has what belongs to these lines.
inline AlignedVector<std::int32_t> places_of(std::span<const std::int32_t> lines,
                                             std::span<const std::int32_t> of_line) {
  AlignedVector<std::int32_t> places;
  places.reserve(lines.size());
  for (const std::int32_t line : lines) places.push_back(of_line[static_cast<std::size_t>(line)]);
  return places;
}

}  // namespace tempi
