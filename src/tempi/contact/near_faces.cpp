// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/near_faces.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tempi {
namespace {

// How far apart the two are, at least, along one of a few directions: their normals and the axes [m]. Negative: these
// do not tell.
double gap_between(const TwoTriangles<double>& p) {
  const auto along = [&](const Point3<double>& n) {
    const double squared = dot(n, n);
    if (!(squared > 0.0)) return -std::numeric_limits<double>::infinity();
    std::array<double, 2> low, high;
    for (std::size_t t = 0; t < 2; ++t) {
      low[t] = high[t] = dot(n, p[3 * t]);
      for (std::size_t i = 3 * t + 1; i < 3 * t + 3; ++i) {
        const double at = dot(n, p[i]);
        low[t] = std::min(low[t], at);
        high[t] = std::max(high[t], at);
      }
    }
    return std::max(low[0] - high[1], low[1] - high[0]) / std::sqrt(squared);
  };
  double gap = std::max(along(crossing::normal(p[0], p[1], p[2])), along(crossing::normal(p[3], p[4], p[5])));
  for (std::size_t c = 0; c < 3; ++c) {
    Point3<double> axis{};
    axis[c] = 1.0;
    gap = std::max(gap, along(axis));
  }
  return gap;
}

}  // namespace

bool Faces::may_cross(const FacePair& pair) const {
  const auto i = static_cast<std::size_t>(pair[0]), j = static_cast<std::size_t>(pair[1]);
  if (first_of_others < size() && (i < first_of_others) == (j < first_of_others)) return false;
  return std::ranges::none_of(corners[i],
                              [&](std::int32_t a) { return std::ranges::find(corners[j], a) != corners[j].end(); });
}

TwoTriangles<double> places_of(const Faces& faces, const FacePair& pair, std::span<const double> x) {
  TwoTriangles<double> p;
  const auto first = static_cast<std::size_t>(faces.corners[static_cast<std::size_t>(pair[0])][0]);
  for (std::size_t i = 0; i < 6; ++i) {
    const Corners& of = faces.corners[static_cast<std::size_t>(pair[i / 3])];
    const auto a = static_cast<std::size_t>(of[i % 3]);
    for (std::size_t c = 0; c < 3; ++c) p[i][c] = x[3 * a + c] - x[3 * first + c];
  }
  return p;
}

PairsWithin::PairsWithin(std::vector<FacePair> pairs, std::span<const double> x, double reach)
    : pairs_(std::make_shared<const std::vector<FacePair>>(std::move(pairs))),
      made_at_(x.begin(), x.end()),
      reach_(reach * (1.0 - 1e-9)) {}

// Squares of the way from where it was made, and of the speed, of the node at i.
inline std::pair<double, double> PairsWithin::squares(std::span<const double> x, std::span<const double> v,
                                                      std::size_t i) const {
  double moved = 0.0, speed = 0.0;
  for (std::size_t c = i; c < i + 3; ++c) {
    moved += (x[c] - made_at_[c]) * (x[c] - made_at_[c]);
    speed += v[c] * v[c];
  }
  return {moved, speed};
}

bool PairsWithin::holds(std::span<const double> x) const {
  if (made_at_.size() != x.size()) return false;
  double farthest = 0.0;
  for (std::size_t i = 0; i < x.size(); i += 3) {
    double moved = 0.0;
    for (std::size_t c = i; c < i + 3; ++c) moved += (x[c] - made_at_[c]) * (x[c] - made_at_[c]);
    farthest = std::max(farthest, moved);
  }
  return farthest <= reach_ * reach_;
}

double PairsWithin::holds_for(std::span<const double> x, std::span<const double> v, double within) const {
  if (holds_at_least(x, v) >= within) return within;  // most often
  double shortest = within;
  for (std::size_t i = 0; i < x.size(); i += 3) {
    const auto [moved, speed] = squares(x, v, i);
    if (speed > 0.0) shortest = std::min(shortest, (reach_ - std::sqrt(moved)) / std::sqrt(speed));
  }
  return std::max(0.0, shortest);
}

double PairsWithin::holds_at_least(std::span<const double> x, std::span<const double> v) const {
  double farthest = 0.0, fastest = 0.0;
  for (std::size_t i = 0; i < x.size(); i += 3) {
    const auto [moved, speed] = squares(x, v, i);
    farthest = std::max(farthest, moved);
    fastest = std::max(fastest, speed);
  }
  const double left = std::max(0.0, reach_ - std::sqrt(farthest));
  return fastest > 0.0 ? left / std::sqrt(fastest) : std::numeric_limits<double>::infinity();
}

const PairsWithin& NearFaces::close(const Faces& faces, std::span<const double> x) {
  if (!close_.holds(x)) make(faces, x, near_.holds(x));
  return close_;
}

const PairsWithin& NearFaces::for_a_while(const Faces& faces, std::span<const double> x, std::span<const double> v,
                                          double within) {
  if (close(faces, x).holds_for(x, v, within) >= within) return close_;
  if (near_.holds_for(x, v, within) < within) make(faces, x, false);
  return near_;
}

void NearFaces::make(const Faces& faces, std::span<const double> x, bool near_holds) {
  const double reach = 0.5 * faces.skin, part = reach / 32.0;
  if (!near_holds) {
    boxes_.assign(faces.size(), {});
    for (std::size_t f = 0; f < faces.size(); ++f) {
      for (const std::int32_t a : faces.corners[f]) boxes_[f].take(x.subspan(3 * static_cast<std::size_t>(a), 3));
      boxes_[f].grow(reach + part);  // the closer ones reach beyond it
    }
    tree_.make(boxes_);
    std::vector<FacePair> near;
    tree_.each_pair([&](std::int32_t i, std::int32_t j) {
      if (faces.may_cross({i, j})) near.push_back({i, j});
    });
    std::ranges::sort(near);
    near_ = PairsWithin(std::move(near), x, reach);
  }
  std::vector<FacePair> close;
  for (const FacePair& pair : *near_.pairs())
    if (!(gap_between(places_of(faces, pair, x)) > 2.0 * part)) close.push_back(pair);
  close_ = PairsWithin(std::move(close), x, part);
}

}  // namespace tempi
