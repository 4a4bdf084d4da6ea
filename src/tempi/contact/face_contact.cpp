// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/face_contact.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <unsupported/Eigen/AutoDiff>
#include <utility>

#include "tempi/contact/face_crossing.hpp"
#include "tempi/contact/face_passages.hpp"
#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"
#include "tempi/space/box_tree.hpp"

namespace tempi {
namespace {

using Corners = std::array<std::int32_t, 3>;   // places of a face's nodes in the stencil
using FacePair = std::array<std::int32_t, 2>;  // ascending
using Dual = Eigen::AutoDiffScalar<Eigen::Matrix<double, 18, 1>>;

// The faces of a contact and where their nodes are.
struct Faces {
  std::vector<NodeId> nodes;  // ascending
  std::vector<Corners> corners;
  std::size_t first_of_others = 0;  // faces from here on are the other side's; all of them: there is one side
  std::vector<double> reference;    // of the nodes, from the first of them [m]
  double epsilon = 0.0, skin = 0.0, shortest_edge = 0.0;

  std::size_t size() const { return corners.size(); }
  bool may_cross(const FacePair& pair) const {
    const auto i = static_cast<std::size_t>(pair[0]), j = static_cast<std::size_t>(pair[1]);
    if (first_of_others < size() && (i < first_of_others) == (j < first_of_others)) return false;
    return std::ranges::none_of(corners[i],
                                [&](std::int32_t a) { return std::ranges::find(corners[j], a) != corners[j].end(); });
  }
};

// Pairs that may cross, ascending, while no node has moved more than a reach from where they were made.
class PairsWithin {
 public:
  using List = std::shared_ptr<const std::vector<FacePair>>;

  PairsWithin() = default;
  PairsWithin(std::vector<FacePair> pairs, std::span<const double> x, double reach)
      : pairs_(std::make_shared<const std::vector<FacePair>>(std::move(pairs))),
        made_at_(x.begin(), x.end()),
        reach_(reach * (1.0 - 1e-9)) {}

  // Whoever has it may go on while another thread makes the next one.
  const List& pairs() const { return pairs_; }

  // `x`: places of the nodes [m], three numbers each, finite.
  bool holds(std::span<const double> x) const {
    if (made_at_.size() != x.size()) return false;
    double farthest = 0.0;
    for (std::size_t i = 0; i < x.size(); i += 3) {
      double moved = 0.0;
      for (std::size_t c = i; c < i + 3; ++c) moved += (x[c] - made_at_[c]) * (x[c] - made_at_[c]);
      farthest = std::max(farthest, moved);
    }
    return farthest <= reach_ * reach_;
  }
  // How long, at least, it holds where nodes go from x with velocities v [m/s], as far as `within`; holds now.
  double holds_for(std::span<const double> x, std::span<const double> v, double within) const {
    const auto squares = [&](std::size_t i) {
      double moved = 0.0, speed = 0.0;
      for (std::size_t c = i; c < i + 3; ++c) {
        moved += (x[c] - made_at_[c]) * (x[c] - made_at_[c]);
        speed += v[c] * v[c];
      }
      return std::pair(moved, speed);
    };
    double farthest = 0.0, fastest = 0.0;
    for (std::size_t i = 0; i < x.size(); i += 3) {
      const auto [moved, speed] = squares(i);
      farthest = std::max(farthest, moved);
      fastest = std::max(fastest, speed);
    }
    if (std::sqrt(farthest) + within * std::sqrt(fastest) <= reach_) return within;  // most often, and quickly found
    double shortest = within;
    for (std::size_t i = 0; i < x.size(); i += 3) {
      const auto [moved, speed] = squares(i);
      if (speed > 0.0) shortest = std::min(shortest, (reach_ - std::sqrt(moved)) / std::sqrt(speed));
    }
    return std::max(0.0, shortest);
  }

 private:
  List pairs_;
  std::vector<double> made_at_;
  double reach_ = 0.0;
};

// From the first vertex of the pair, places as well as velocities: their own digits count.
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

// Pairs that may cross, near ones by a tree of boxes; and closer ones of these, for motions a small part as large: few
// of those near cross, and what most looks ask for is who does.
class NearFaces {
 public:
  // The closer ones at x, places of the nodes [m], finite.
  const PairsWithin& close(const Faces& faces, std::span<const double> x) {
    if (!close_.holds(x)) make(faces, x, near_.holds(x));
    return close_;
  }
  // The closer ones, or where these do not hold for so long as nodes go on with velocities v, the near ones.
  const PairsWithin& for_a_while(const Faces& faces, std::span<const double> x, std::span<const double> v,
                                 double within) {
    if (close(faces, x).holds_for(x, v, within) >= within) return close_;
    if (near_.holds_for(x, v, within) < within) make(faces, x, false);
    return near_;
  }

 private:
  void make(const Faces& faces, std::span<const double> x, bool near_holds) {
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

  BoxTree tree_;
  std::vector<Bounds> boxes_;
  PairsWithin near_, close_;
};

// visit(pair, places, crossing) for all that cross, ascending.
template <class Visit>
void each_crossing(const Faces& faces, std::span<const FacePair> pairs, std::span<const double> x, Visit&& visit) {
  for (const FacePair& pair : pairs) {
    const TwoTriangles<double> p = places_of(faces, pair, x);
    if (const auto found = find_crossing(p)) visit(pair, p, *found);
  }
}

// V, and dV/dx added to `g`, three numbers a node.
double sum_of(const Faces& faces, std::span<const FacePair> pairs, std::span<const double> x, double* g) {
  double V = 0.0;
  each_crossing(faces, pairs, x, [&](const FacePair& pair, const TwoTriangles<double>& p, const FaceCrossing& found) {
    TwoTriangles<double> own{};
    V += half_squared_length(p, found, own) / faces.epsilon;
    for (std::size_t i = 0; i < 6; ++i) {
      const Corners& of = faces.corners[static_cast<std::size_t>(pair[i / 3])];
      double* mine = g + 3 * of[i % 3];
      for (std::size_t c = 0; c < 3; ++c) mine[c] += own[i][c] / faces.epsilon;
    }
  });
  return V;
}

class FaceBatch final : public Batch {
 public:
  FaceBatch(const Faces& faces, std::span<const std::int32_t> place) : faces_(faces) {
    for (const NodeId a : faces.nodes) lines_.push_back(place[ordinal(a)]);
    x_.assign(3 * lines_.size(), 0.0);
    gradients_ = x_;
  }

  bool strike(Index first, Index last, double step, double, std::span<NodeLine> nodes) const override {
    if (first == last) return true;
    if (std::isnan(evaluate(nodes))) return false;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      NodeLine& node = nodes[static_cast<std::size_t>(lines_[i])];
      for (std::size_t c = 0; c < 3; ++c) node.velocity[c] -= step * node.inverse_mass * gradients_[3 * i + c];
    }
    return true;
  }

  Index row() const override { return std::ssize(x_); }
  void measure(Index first, Index last, double, std::span<const NodeLine> nodes, std::span<double> energies,
               std::span<double> gradients) const override {
    if (first == last) return;
    energies[0] = evaluate(nodes);
    std::ranges::copy(gradients_, gradients.begin());
  }

 private:
  double evaluate(std::span<const NodeLine> nodes) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < lines_.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c) {
        const double u = nodes[static_cast<std::size_t>(lines_[i])].displacement[c];
        x_[3 * i + c] = faces_.reference[3 * i + c] + u;
        sum += u;
      }
    std::ranges::fill(gradients_, 0.0);
    if (!std::isfinite(sum)) return std::numeric_limits<double>::quiet_NaN();
    return sum_of(faces_, *near_.close(faces_, x_).pairs(), x_, gradients_.data());
  }

  const Faces& faces_;
  std::vector<std::int32_t> lines_;  // of the nodes
  mutable NearFaces near_;
  mutable std::vector<double> x_, gradients_;
};

class Contact final : public FaceContact {
 public:
  explicit Contact(Faces faces) : faces_(std::move(faces)) {}

  int dim() const override { return 3; }
  std::span<const NodeId> stencil(Index) const override { return faces_.nodes; }
  double mass(Index, std::size_t) const override { return 0.0; }
  bool stays_together() const override { return false; }
  std::optional<double> shortest_length() const override { return faces_.shortest_edge; }

  double smooth_until(std::span<const double> u, std::span<const double> v, double after,
                      double within) const override {
    std::vector<double> x = faces_.reference;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += u[i];
    if (!is_finite(x)) return after;
    PairsWithin::List list;
    double until = within;
    {
      const std::lock_guard lock(last_->making);
      const PairsWithin& pairs = last_->faces.for_a_while(faces_, x, v, within);
      list = pairs.pairs();
      until = pairs.holds_for(x, v, within);
    }
    double size = 0.0;
    for (const double value : x) size = std::max(size, std::abs(value));
    const double rounding = 8.0 * std::numeric_limits<double>::epsilon() * size;
    for (const FacePair& pair : *list) {
      const TwoTriangles<double> w = places_of(faces_, pair, v);
      double speed = 0.0;
      for (const Point3<double>& of_vertex : w)
        for (const double component : of_vertex) speed = std::max(speed, std::abs(component));
      until = std::min(until, first_passage(places_of(faces_, pair, x), w, std::max(after, rounding / speed), until));
    }
    return std::max(after, until);
  }

  double energy(Index, std::span<const double> u, double) const override {
    const std::vector<double> x = places(u);
    std::vector<double> g(x.size(), 0.0);
    return is_finite(x) ? sum_of(faces_, *at(x), x, g.data()) : std::numeric_limits<double>::quiet_NaN();
  }

  double add_gradient(Index, std::span<const double> u, double, std::span<double> g) const override {
    const std::vector<double> x = places(u);
    if (!is_finite(x)) return std::numeric_limits<double>::quiet_NaN();
    sum_of(faces_, *at(x), x, g.data());
    return 1.0;
  }

  void each_present(std::span<const double> u, double, const VisitPresent& visit) const override {
    const std::vector<double> x = places(u);
    std::array<double, 18> g{};
    if (!is_finite(x)) {
      const auto [key, nodes] = name_of({0, 1});
      return visit({key, nodes, std::numeric_limits<double>::quiet_NaN(), g});
    }
    each_crossing(faces_, *at(x), x,
                  [&](const FacePair& pair, const TwoTriangles<double>& p, const FaceCrossing& found) {
                    TwoTriangles<double> own{};
                    half_squared_length(p, found, own);
                    for (std::size_t i = 0; i < 18; ++i) g[i] = own[i / 3][i % 3] / faces_.epsilon;
                    const auto [key, nodes] = name_of(pair);
                    visit({key, nodes, 1.0, g});
                  });
  }

  void each_hessian_piece(Index, std::span<const double> u, double, const VisitPiece& visit) const override {
    const std::vector<double> x = places(u);
    std::array<double, 324> H{};
    if (!is_finite(x)) {
      H.fill(std::numeric_limits<double>::quiet_NaN());
      return visit(name_of({0, 1}).second, H);
    }
    each_crossing(faces_, *at(x), x,
                  [&](const FacePair& pair, const TwoTriangles<double>& p, const FaceCrossing& found) {
                    TwoTriangles<Dual> y, g;
                    for (std::size_t i = 0; i < 18; ++i) {
                      y[i / 3][i % 3] = Dual(p[i / 3][i % 3], 18, static_cast<int>(i));
                      g[i / 3][i % 3] = Dual(0.0, Eigen::Matrix<double, 18, 1>::Zero());
                    }
                    half_squared_length(y, found, g);
                    for (std::size_t i = 0; i < 18; ++i)
                      for (std::size_t j = 0; j < 18; ++j)
                        H[i * 18 + j] = g[i / 3][i % 3].derivatives()[static_cast<int>(j)] / faces_.epsilon;
                    visit(name_of(pair).second, H);
                  });
  }

  std::unique_ptr<Batch> batch(std::span<const Index>, std::span<const std::int32_t> place) const override {
    return std::make_unique<FaceBatch>(faces_, place);
  }

  std::string describe(Index) const override { return fmt::format("the contact of {} faces", faces_.size()); }

  std::string first_crossing(std::span<const double> u) const override {
    const std::vector<double> x = places(u);
    std::string result;
    each_crossing(faces_, *at(x), x, [&](const FacePair& pair, const TwoTriangles<double>&, const FaceCrossing&) {
      const std::array<NodeId, 6> n = name_of(pair).second;
      if (result.empty())
        result = fmt::format("the face of nodes {}, {}, {} and that of nodes {}, {}, {}", index(n[0]), index(n[1]),
                             index(n[2]), index(n[3]), index(n[4]), index(n[5]));
    });
    return result;
  }

 private:
  std::vector<double> places(std::span<const double> u) const {
    std::vector<double> x = faces_.reference;
    for (std::size_t a = 0; a < faces_.nodes.size(); ++a)
      for (std::size_t c = 0; c < 3; ++c) x[3 * a + c] += u[3 * ordinal(faces_.nodes[a]) + c];
    return x;
  }
  static bool is_finite(const std::vector<double>& x) {
    return std::ranges::all_of(x, [](double value) { return std::isfinite(value); });
  }

  PairsWithin::List at(std::span<const double> x) const {
    const std::lock_guard lock(last_->making);
    return last_->faces.close(faces_, x).pairs();
  }

  // Nodes of one face, ascending, and of the other; as they stand.
  std::pair<TermKey, std::array<NodeId, 6>> name_of(const FacePair& pair) const {
    std::array<NodeId, 6> nodes{};
    for (std::size_t i = 0; i < 6; ++i)
      nodes[i] = faces_.nodes[static_cast<std::size_t>(faces_.corners[static_cast<std::size_t>(pair[i / 3])][i % 3])];
    TermKey key = nodes;
    std::sort(key.begin(), key.begin() + 3);
    std::sort(key.begin() + 3, key.end());
    return {key, nodes};
  }

  Faces faces_;
  struct Last {
    std::mutex making;
    NearFaces faces;
  };
  std::unique_ptr<Last> last_ = std::make_unique<Last>();
};

}  // namespace

std::unique_ptr<FaceContact> make_face_contact(std::span<const double> reference, std::vector<SurfaceTriangle> faces,
                                               std::vector<SurfaceTriangle> others, double penalty,
                                               std::optional<double> skin) {
  if (!(penalty > 0.0) || !std::isfinite(penalty))
    throw InputError(fmt::format("penalty = {} m/N (must be > 0).", penalty));
  if (skin && (!(*skin >= 0.0) || !std::isfinite(*skin)))
    throw InputError(fmt::format("skin = {} m (must be >= 0).", *skin));
  if (faces.size() + others.size() < 2)
    throw InputError(fmt::format("a contact has {} face{} (needs two or more).", faces.size() + others.size(),
                                 faces.size() + others.size() == 1 ? "" : "s"));
  Faces result;
  result.epsilon = penalty;
  result.first_of_others = others.empty() ? faces.size() + 1 : faces.size();
  // Ascending by their nodes, as keys are: what is summed does not depend on the order they were given in.
  for (auto* side : {&faces, &others})
    std::ranges::sort(*side, {}, [](SurfaceTriangle nodes) {
      std::ranges::sort(nodes);
      return nodes;
    });
  faces.insert(faces.end(), others.begin(), others.end());
  for (const SurfaceTriangle& face : faces) result.nodes.insert(result.nodes.end(), face.begin(), face.end());
  make_distinct(result.nodes);
  for (const NodeId a : result.nodes) {
    TEMPI_ASSERT(3 * ordinal(a) + 2 < reference.size());
    for (std::size_t c = 0; c < 3; ++c)
      result.reference.push_back(reference[3 * ordinal(a) + c] - reference[3 * ordinal(result.nodes[0]) + c]);
  }
  double sum = 0.0, shortest = std::numeric_limits<double>::infinity();
  for (const SurfaceTriangle& face : faces) {
    Corners corners{};
    for (std::size_t i = 0; i < 3; ++i)
      corners[i] = static_cast<std::int32_t>(std::ranges::lower_bound(result.nodes, face[i]) - result.nodes.begin());
    result.corners.push_back(corners);
    for (std::size_t i = 0; i < 3; ++i) {
      double squared = 0.0;
      for (std::size_t c = 0; c < 3; ++c) {
        const double edge = result.reference[3 * static_cast<std::size_t>(corners[i]) + c] -
                            result.reference[3 * static_cast<std::size_t>(corners[(i + 1) % 3]) + c];
        squared += edge * edge;
      }
      if (!(squared > 0.0))
        throw InputError(
            fmt::format("the face of nodes {}, {}, {} has no area.", index(face[0]), index(face[1]), index(face[2])));
      sum += std::sqrt(squared);
      shortest = std::min(shortest, std::sqrt(squared));
    }
  }
  result.shortest_edge = shortest;
  result.skin = skin.value_or(0.5 * sum / static_cast<double>(3 * faces.size()));
  return std::make_unique<Contact>(std::move(result));
}

}  // namespace tempi
