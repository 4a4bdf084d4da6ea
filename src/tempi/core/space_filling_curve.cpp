// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/space_filling_curve.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace tempi {
namespace {

constexpr int bits = 20;  // per axis
using Cell = std::array<std::uint32_t, 3>;

// The Hilbert index of a lattice cell, by Gray code: J. Skilling, "Programming the Hilbert curve", AIP Conf. Proc. 707
// (2004): undo the rotations and reflections of every level from the coarsest on, then interleave the bits.
std::uint64_t hilbert_index(Cell x, std::size_t dim) {
  for (std::uint32_t level = 1U << (bits - 1); level > 1; level >>= 1) {
    const std::uint32_t below = level - 1;
    for (std::size_t i = 0; i < dim; ++i) {
      if ((x[i] & level) != 0) {
        x[0] ^= below;
      } else {
        const std::uint32_t exchange = (x[0] ^ x[i]) & below;
        x[0] ^= exchange;
        x[i] ^= exchange;
      }
    }
  }
  for (std::size_t i = 1; i < dim; ++i) x[i] ^= x[i - 1];
  std::uint32_t flip = 0;
  for (std::uint32_t level = 1U << (bits - 1); level > 1; level >>= 1)
    if ((x[dim - 1] & level) != 0) flip ^= level - 1;
  std::uint64_t key = 0;
  for (int b = bits - 1; b >= 0; --b)
    for (std::size_t i = 0; i < dim; ++i) key = (key << 1) | (((x[i] ^ flip) >> b) & 1U);
  return key;
}

}  // namespace

std::vector<std::uint64_t> hilbert_keys(std::span<const double> points, int dim) {
  const auto d = static_cast<std::size_t>(dim);
  std::array<double, 3> low{}, high{};
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < points.size(); ++i) {
    low[i % d] = std::min(low[i % d], points[i]);
    high[i % d] = std::max(high[i % d], points[i]);
  }
  double side = 0.0;
  for (std::size_t c = 0; c < d; ++c) side = std::max(side, high[c] - low[c]);
  constexpr double cells = (1U << bits) - 1;
  const double scale = side > 0.0 ? cells / side : 0.0;
  std::vector<std::uint64_t> keys(points.size() / d);
  for (std::size_t p = 0; p < keys.size(); ++p) {
    Cell x{};
    for (std::size_t c = 0; c < d; ++c) x[c] = static_cast<std::uint32_t>((points[p * d + c] - low[c]) * scale);
    keys[p] = hilbert_index(x, d);
  }
  return keys;
}

}  // namespace tempi
