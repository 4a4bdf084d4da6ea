// SPDX-License-Identifier: Apache-2.0
// The points of two small simplices that are closest to each other: of a vertex and a vertex, an edge (in a plane) or a
// face, or of two edges.
//
// The distance |a - b|, a = sum of w_i x_i over the first simplex, b = -sum over the second, has the gradient w_i n,
// n = (a - b) / |a - b|, whatever feature the points lie on: what the weights do with x does not matter at a minimum.
// As the w_i sum to zero and n lies along a - b, such forces keep both momenta.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tempi/contact/closest_formula.hpp"

namespace tempi {

// How many of the vertices are the first simplex' and how many the second's, which come behind them.
struct SimplexPair {
  std::int8_t first, second;  // 1 and 1, 2 or 3; or 2 and 2
  // The first, a vertex, is within something hollow around the second, a point or a straight axis: what counts is that
  // it does not go far from that.
  bool within = false;
  int size() const { return first + second; }
  friend auto operator<=>(const SimplexPair&, const SimplexPair&) = default;
};

// f.operator()<first, second>() for the sizes of a pair, which may be 1 and 1, 2 or 3; or 2 and 2.
template <class F>
auto with_simplices(SimplexPair pair, F&& f) {
  if (pair.first == 2) return f.template operator()<2, 2>();
  if (pair.second == 3) return f.template operator()<1, 3>();
  if (pair.second == 2) return f.template operator()<1, 2>();
  return f.template operator()<1, 1>();
}

// `weight`: of the vertices, of the first simplex sum 1, of the second sum -1; `apart`: a - b [m]; `distance`: its
// length [m].
using ClosestPoints = ClosestPointsOf<double>;

// `x`: as many places as the pair has vertices. Degenerate simplices are taken as what is left of them.
ClosestPoints closest_points(SimplexPair pair, std::span<const std::array<double, 3>> x);

}  // namespace tempi
