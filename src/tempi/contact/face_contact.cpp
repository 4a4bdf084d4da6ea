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
#include "tempi/contact/near_faces.hpp"
#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using Dual = Eigen::AutoDiffScalar<Eigen::Matrix<double, 18, 1>>;

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

  // Along a flight the nodes of pairs that may cross within it are looked at, no others: few of a large surface.
  Index followed() const override { return std::ssize(x_); }
  double depart(Index first, Index last, std::span<const NodeLine> nodes, std::span<const NodeShift>, double,
                std::span<double> flight) const override {
    for (std::size_t a = 0; first < last && a < lines_.size(); ++a)
      for (std::size_t c = 0; c < 3; ++c) {
        const NodeLine& node = nodes[static_cast<std::size_t>(lines_[a])];
        flight[3 * a + c] = faces_.reference[3 * a + c] + node.displacement[c];
        flight[x_.size() + 3 * a + c] = node.velocity[c];
      }
    near_until_ = -1.0;
    return std::numeric_limits<double>::infinity();
  }
  Followed follow(Index first, Index last, double s, std::span<const double> flight, std::span<double> rates,
                  std::span<double> kept) const override {
    if (first == last) return {};
    const auto x0 = flight.first(x_.size()), v = flight.subspan(x_.size(), x_.size());
    if (!(s <= near_until_)) look_around(s, x0, v, kept);
    std::ranges::fill(rates, 0.0);
    double sum = 0.0;
    for (const std::size_t a : touched_)
      for (std::size_t i = 3 * a; i < 3 * a + 3; ++i) {
        sum += x_[i] = x0[i] + s * v[i];
        kept[i] = 0.0;
      }
    const double V = is_finite_ && std::isfinite(sum) ? sum_of(faces_, *pairs_, x_, kept.data())
                                                      : std::numeric_limits<double>::quiet_NaN();
    Followed found{V, 0.0, std::abs(V)};
    for (const std::size_t a : touched_) found.rate += rates[a] = rate_of(a, v, kept);
    return found;
  }
  Followed turn(Index first, Index last, std::span<const double> flight, std::span<double> rates,
                std::span<const double> kept) const override {
    Followed found{};
    for (std::size_t a = 0; first < last && a < lines_.size(); ++a)
      found.rate += rates[a] = rate_of(a, flight.subspan(x_.size()), kept);
    return found;
  }
  void add_gradient(Index first, Index last, std::span<const double> kept, std::span<double> gradient) const override {
    for (std::size_t a = 0; first < last && a < lines_.size(); ++a)
      for (std::size_t c = 0; c < 3; ++c) gradient[3 * static_cast<std::size_t>(lines_[a]) + c] += kept[3 * a + c];
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

  static double rate_of(std::size_t a, std::span<const double> v, std::span<const double> gradient) {
    return gradient[3 * a] * v[3 * a] + gradient[3 * a + 1] * v[3 * a + 1] + gradient[3 * a + 2] * v[3 * a + 2];
  }
  // Which pairs may cross up to s, and for how much longer these are all.
  void look_around(double s, std::span<const double> x0, std::span<const double> v, std::span<double> kept) const {
    std::ranges::fill(kept.first(x_.size()), 0.0);
    touched_.clear();
    std::array<double, 3> sums{};
    for (std::size_t i = 0; i < x0.size(); i += 3)
      for (std::size_t c = 0; c < 3; ++c) sums[c] += x0[i + c] + s * v[i + c];
    is_finite_ = std::isfinite(sums[0] + sums[1] + sums[2]);
    if (!is_finite_) return;
    const PairsWithin& near = near_.for_a_while(faces_, x0, v, s);
    near_until_ = std::max(near.holds_at_least(x0, v), near.holds_for(x0, v, s));
    pairs_ = near.pairs();
    if (s > near_until_) {  // farther than any list reaches: those there
      for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = x0[i] + s * v[i];
      pairs_ = near_.close(faces_, x_).pairs();
      near_until_ = -1.0;
    }
    for (const FacePair& pair : *pairs_)
      for (const std::int32_t face : pair)
        for (const std::int32_t a : faces_.corners[static_cast<std::size_t>(face)])
          touched_.push_back(static_cast<std::size_t>(a));
    make_distinct(touched_);
  }

  const Faces& faces_;
  std::vector<std::int32_t> lines_;  // of the nodes
  mutable NearFaces near_;
  mutable std::vector<double> x_, gradients_;
  // Of the flight in hand, up to `near_until_` [s]; nodes ascending.
  mutable double near_until_ = -1.0;
  mutable bool is_finite_ = true;
  mutable PairsWithin::List pairs_;
  mutable std::vector<std::size_t> touched_;
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
    std::array<double, 3> sizes{}, sums{};
    for (std::size_t i = 0; i < x.size(); i += 3)
      for (std::size_t c = 0; c < 3; ++c) {
        x[i + c] += u[i + c];
        sizes[c] = std::max(sizes[c], std::abs(x[i + c]));
        sums[c] += x[i + c];
      }
    if (!std::isfinite(sums[0] + sums[1] + sums[2])) return after;
    PairsWithin::List list;
    double until = within;
    {
      const std::lock_guard lock(last_->making);
      const PairsWithin& pairs = last_->faces.for_a_while(faces_, x, v, within);
      list = pairs.pairs();
      until = pairs.holds_for(x, v, within);
    }
    const double rounding = 8.0 * std::numeric_limits<double>::epsilon() * std::ranges::max(sizes);
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
