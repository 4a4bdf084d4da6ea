// SPDX-License-Identifier: Apache-2.0
#include "tempi/constraint/holonomic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <iterator>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using Vector = std::array<double, 3>;

Vector position(const Points& points, NodeId a) {
  Vector x{};
  const auto d = static_cast<std::size_t>(points.dim);
  std::copy_n(points.positions.begin() + static_cast<std::ptrdiff_t>(ordinal(a) * d), d, x.begin());
  return x;
}

std::string place(const Points& points, NodeId a) {
  const Vector x = position(points, a);
  return fmt::format("({:.6g})", fmt::join(std::span(x).first(static_cast<std::size_t>(points.dim)), ", "));
}

double norm(const Vector& w) { return std::hypot(w[0], w[1], w[2]); }

void require_nodes(const Points& points, std::span<const NodeId> nodes) {
  if (nodes.empty()) throw InputError("a constraint has no nodes. Name those it acts on.");
  for (const NodeId a : nodes)
    if (index(a) < 0 || index(a) >= points.size())
      throw InputError(
          fmt::format("a constraint acts on node {} (there are {} nodes, numbered from 0).", index(a), points.size()));
  std::vector<NodeId> sorted(nodes.begin(), nodes.end());
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw InputError(fmt::format("a constraint is given node {} twice. Give different nodes.", index(*twice)));
}

// The difference of two positions between the images that are nearest.
Vector separation(const Points& points, NodeId a, NodeId b, const BoxLengths& box) {
  const Vector x = position(points, a), y = position(points, b);
  Vector w{};
  for (std::size_t c = 0; c < 3; ++c) {
    w[c] = y[c] - x[c];
    if (box[c]) w[c] -= *box[c] * std::nearbyint(w[c] / *box[c]);
  }
  return w;
}

// Between two nodes, or of one node from a point that is not in the model.
class Distance final : public HolonomicConstraint {
 public:
  // `w`: from the first node, or the fixed point, to the last node at u = 0.
  Distance(std::vector<NodeId> stencil, int dim, const Vector& w, std::optional<double> length, std::string name)
      : stencil_(std::move(stencil)),
        d_(static_cast<std::size_t>(dim)),
        w_(w),
        length_(length ? *length : norm(w)),
        name_(std::move(name)) {
    if (!(length_ > 0.0) || !std::isfinite(length_))
      throw InputError(fmt::format("{} is to be {} m (must be > 0).{}", name_, length_,
                                   length ? "" : " Move one of them, or give the length."));
  }

  std::span<const NodeId> stencil() const override { return stencil_; }
  double length() const override { return length_; }
  bool is_internal() const override { return stencil_.size() == 2; }
  std::string describe() const override { return name_; }

  double value(std::span<const double> u) const override {
    const Vector w = separation_at(u);
    return 0.5 * ((w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) / length_ - length_);
  }
  void gradient(std::span<const double> u, std::span<double> gradient) const override {
    const Vector w = separation_at(u);
    for (std::size_t c = 0; c < d_; ++c) {
      const double slope = w[c] / length_;
      gradient[gradient.size() - d_ + c] = slope;
      if (is_internal()) gradient[c] = -slope;
    }
  }

 private:
  Vector separation_at(std::span<const double> u) const {
    const auto at = [&](NodeId a) { return ordinal(a) * d_; };
    Vector w = w_;
    for (std::size_t c = 0; c < d_; ++c)
      w[c] += is_internal() ? u[at(stencil_[1]) + c] - u[at(stencil_[0]) + c] : u[at(stencil_[0]) + c];
    return w;
  }

  std::vector<NodeId> stencil_;
  std::size_t d_;
  Vector w_;
  double length_;
  std::string name_;
};

// Of a component c of positions: g = x_b - sum_i w_i x_i, b the last node of the stencil, sum_i w_i = 1. It holds at
// u = 0.
class Combination final : public HolonomicConstraint {
 public:
  Combination(std::vector<NodeId> stencil, std::vector<double> weights, std::size_t dim, std::size_t component,
              double size, std::string name)
      : stencil_(std::move(stencil)),
        weights_(std::move(weights)),
        d_(dim),
        c_(component),
        size_(size),
        name_(std::move(name)) {}

  std::span<const NodeId> stencil() const override { return stencil_; }
  double length() const override { return size_; }
  bool is_internal() const override { return true; }
  std::string describe() const override { return fmt::format("the component {} of {}", "xyz"[c_], name_); }
  double value(std::span<const double> u) const override {
    double g = u[ordinal(stencil_.back()) * d_ + c_];
    for (std::size_t i = 0; i < weights_.size(); ++i) g -= weights_[i] * u[ordinal(stencil_[i]) * d_ + c_];
    return g;
  }
  void gradient(std::span<const double>, std::span<double> gradient) const override {
    std::ranges::fill(gradient, 0.0);
    for (std::size_t i = 0; i < weights_.size(); ++i) gradient[i * d_ + c_] = -weights_[i];
    gradient[weights_.size() * d_ + c_] = 1.0;
  }

 private:
  std::vector<NodeId> stencil_;
  std::vector<double> weights_;
  std::size_t d_, c_;
  double size_;
  std::string name_;
};

class OnSurface final : public HolonomicConstraint {
 public:
  OnSurface(const Points& points, NodeId a, std::shared_ptr<const Expression> F, double extent)
      : node_{a},
        d_(static_cast<std::size_t>(points.dim)),
        X_(position(points, a)),
        F_(std::move(F)),
        extent_(extent),
        spacing_(1e-3 * extent) {
    const Vector slope = slope_at(X_);
    scale_ = 1.0 / norm(slope);
    if (!std::isfinite(scale_) || !(scale_ > 0.0))
      throw InputError(
          fmt::format("the surface \"{}\" = 0 has the gradient ({:.6g}) at node {}, {} (must be finite and not zero). "
                      "Start the node elsewhere, or write the surface with a slope.",
                      F_->text(), fmt::join(std::span(slope).first(d_), ", "), index(a), place(points, a)));
  }

  std::span<const NodeId> stencil() const override { return node_; }
  double length() const override { return extent_; }
  bool is_internal() const override { return false; }
  std::string describe() const override { return fmt::format("node {} on \"{}\" = 0", index(node_[0]), F_->text()); }

  double value(std::span<const double> u) const override { return scale_ * F(position_at(u)); }
  void gradient(std::span<const double> u, std::span<double> gradient) const override {
    const Vector slope = slope_at(position_at(u));
    for (std::size_t c = 0; c < d_; ++c) gradient[c] = scale_ * slope[c];
  }

 private:
  double F(const Vector& x) const { return (*F_)(std::span(x).first(d_), 0.0); }
  Vector position_at(std::span<const double> u) const {
    Vector x = X_;
    for (std::size_t c = 0; c < d_; ++c) x[c] += u[ordinal(node_[0]) * d_ + c];
    return x;
  }
  Vector slope_at(const Vector& x) const {
    Vector slope{};
    for (std::size_t c = 0; c < d_; ++c) {
      const auto at = [&](double k) {
        Vector y = x;
        y[c] += k * spacing_;
        return F(y);
      };
      slope[c] = (at(-2.0) - 8.0 * at(-1.0) + 8.0 * at(1.0) - at(2.0)) / (12.0 * spacing_);
    }
    return slope;
  }

  std::array<NodeId, 1> node_;
  std::size_t d_;
  Vector X_;
  std::shared_ptr<const Expression> F_;  // one formula for all nodes on the surface
  double extent_, spacing_, scale_;
};

// Nodes that span what all of them span: each the farthest from the span of those before it.
std::vector<std::size_t> spanning(const Eigen::MatrixXd& x) {
  std::vector<std::size_t> base = {0};
  Eigen::MatrixXd rest = x.colwise() - x.col(0);
  const double size = rest.colwise().norm().maxCoeff();
  for (Index k = 0; k < x.rows(); ++k) {
    Index farthest = 0;
    const double distance = rest.colwise().norm().maxCoeff(&farthest);
    if (!(distance > 1e-6 * size)) break;
    base.push_back(static_cast<std::size_t>(farthest));
    const Eigen::VectorXd axis = rest.col(farthest) / distance;
    rest -= axis * (axis.transpose() * rest);
  }
  return base;
}

// That nodes[i] stays the combination of the base it is, to `off` of the body's size [m].
void combine(const Points& points, std::span<const NodeId> nodes, std::span<const std::size_t> base,
             const Eigen::VectorXd& weights, std::size_t i, double off, double size, Constraints& to) {
  std::vector<NodeId> stencil;
  for (const std::size_t j : base) stencil.push_back(nodes[j]);
  if (!(off <= 1e-9))
    throw InputError(
        fmt::format("node {} of a rigid body of {} nodes is off the {} of the others by {:.2g} of their size: too near "
                    "to hold it by distances, and too far to be in it (1e-9). Write places with more digits, or hold "
                    "fewer nodes.",
                    index(nodes[i]), nodes.size(), base.size() == 2 ? "line" : "plane", off));
  std::vector<Index> numbers;
  for (const NodeId a : stencil) numbers.push_back(index(a));
  const std::string name =
      fmt::format("node {} of the rigid body with nodes {}", index(nodes[i]), fmt::join(numbers, ", "));
  const auto d = static_cast<std::size_t>(points.dim);
  stencil.push_back(nodes[i]);
  for (std::size_t c = 0; c < d; ++c)
    to.push_back(std::make_unique<Combination>(stencil, std::vector(weights.begin(), weights.end()), d, c, size, name));
}

}  // namespace

Constraints make_distances(const Points& points, std::span<const std::array<NodeId, 2>> pairs,
                           std::optional<double> length, const BoxLengths& box) {
  if (pairs.empty()) throw InputError("a distance constraint has no pairs of nodes. Name them.");
  Constraints result;
  for (const auto& [a, b] : pairs) {
    require_nodes(points, std::array{a, b});
    const Vector w = separation(points, a, b, box);
    for (std::size_t c = 0; c < 3; ++c)
      if (box[c] && std::max(norm(w), length.value_or(0.0)) > 0.5 * *box[c])
        throw InputError(fmt::format(
            "the distance of nodes {} and {} is {:.6g} m in a box that is {} m long along {} (must be at most half of "
            "it: nodes are held to their nearest images). Enlarge the box.",
            index(a), index(b), std::max(norm(w), length.value_or(0.0)), *box[c], "xyz"[c]));
    result.push_back(std::make_unique<Distance>(std::vector{a, b}, points.dim, w, length,
                                                fmt::format("the distance of nodes {} and {}", index(a), index(b))));
  }
  return result;
}

Constraints make_links(const Points& points, std::span<const NodeId> nodes, const std::array<double, 3>& anchor,
                       std::optional<double> length) {
  require_nodes(points, nodes);
  Constraints result;
  const auto d = static_cast<std::size_t>(points.dim);
  for (const NodeId a : nodes) {
    Vector w = position(points, a);
    for (std::size_t c = 0; c < d; ++c) w[c] -= anchor[c];
    result.push_back(std::make_unique<Distance>(std::vector{a}, points.dim, w, length,
                                                fmt::format("the distance of node {} from ({:.6g})", index(a),
                                                            fmt::join(std::span(anchor).first(d), ", "))));
  }
  return result;
}

Constraints make_coincident(const Points& points, std::span<const std::array<NodeId, 2>> pairs) {
  if (pairs.empty()) throw InputError("a constraint of coincident nodes has no pairs. Name them.");
  double size = 0.0;
  for (const double x : points.positions) size = std::max(size, std::abs(x));
  Constraints result;
  for (const auto& [a, b] : pairs) {
    for (const NodeId node : {a, b})
      if (index(node) < 0 || index(node) >= points.size() || a == b)
        throw InputError(fmt::format("nodes {} and {} cannot coincide (there are {} nodes, numbered from 0).", index(a),
                                     index(b), points.size()));
    const auto d = static_cast<std::size_t>(points.dim);
    const auto X = points.positions.subspan(ordinal(a) * d, d), Y = points.positions.subspan(ordinal(b) * d, d);
    for (std::size_t c = 0; c < d; ++c)
      if (!(std::abs(Y[c] - X[c]) <= 1e-9 * size))
        throw InputError(fmt::format("nodes {} and {} are to coincide, and are {} m apart along {}. Move one of them.",
                                     index(a), index(b), std::abs(Y[c] - X[c]), "xyz"[c]));
    const std::string name = fmt::format("the coincident nodes {} and {}", index(a), index(b));
    for (std::size_t c = 0; c < d; ++c)
      result.push_back(std::make_unique<Combination>(std::vector{a, b}, std::vector{1.0}, d, c, size, name));
  }
  return result;
}

Constraints make_surface(const Points& points, std::span<const NodeId> nodes, Expression F,
                         std::optional<double> extent) {
  require_nodes(points, nodes);
  if (F.depends_on_time())
    throw InputError(fmt::format("the surface \"{}\" = 0 depends on t (must stay where it is).", F.text()));
  double size = extent.value_or(0.0);
  if (!extent)
    for (const double x : points.positions) size = std::max(size, std::abs(x));
  if (!(size > 0.0) || !std::isfinite(size))
    throw InputError(
        fmt::format("the surface \"{}\" = 0 has the extent {} m (must be > 0). Give a length over which it bends.",
                    F.text(), size));
  const auto shared = std::make_shared<const Expression>(std::move(F));
  Constraints result;
  for (const NodeId a : nodes) result.push_back(std::make_unique<OnSurface>(points, a, shared, size));
  return result;
}

Constraints make_rigid_body(const Points& points, std::span<const NodeId> nodes, const BoxLengths& box) {
  require_nodes(points, nodes);
  const auto d = static_cast<Index>(points.dim), n = static_cast<Index>(nodes.size());
  if (n < 2) throw InputError(fmt::format("a rigid body has {} node (must be at least 2).", n));
  Eigen::MatrixXd x(d, n);
  for (Index i = 0; i < n; ++i) {
    const Vector w = separation(points, nodes[0], nodes[static_cast<std::size_t>(i)], box);
    for (Index c = 0; c < d; ++c) x(c, i) = w[static_cast<std::size_t>(c)];
  }
  const double size = x.colwise().norm().maxCoeff();
  if (size > 0.0) x /= size;
  const std::vector<std::size_t> base = spanning(x);
  const auto k = static_cast<Index>(base.size());
  if (k == 1)
    throw InputError(fmt::format(
        "the {} nodes of a rigid body, {} the first, lie in one point. Join them by coincident, or move them.", n,
        index(nodes[0])));

  std::vector<std::array<NodeId, 2>> pairs;
  const auto join = [&](std::size_t i, std::size_t j) { pairs.push_back({nodes[i], nodes[j]}); };
  for (std::size_t i = 0; i < base.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) join(base[j], base[i]);
  Eigen::MatrixXd simplex = Eigen::MatrixXd::Ones(d + 1, k);  // barycentric coordinates to places, and 1
  for (Index i = 0; i < k; ++i) simplex.col(i).head(d) = x.col(static_cast<Index>(base[static_cast<std::size_t>(i)]));
  const auto of_base = simplex.colPivHouseholderQr();
  Constraints combined;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (std::ranges::find(base, i) != base.end()) continue;
    Eigen::VectorXd point = Eigen::VectorXd::Ones(d + 1);
    point.head(d) = x.col(static_cast<Index>(i));
    const Eigen::VectorXd weights = of_base.solve(point);
    if (k <= d) {
      combine(points, nodes, base, weights, i, (simplex * weights - point).norm(), size, combined);
      continue;
    }
    // Joined to dim nodes of the base. Without the one of the largest barycentric coordinate the simplex of the others
    // and the node is the largest, and its edges to the node the most independent.
    Index left_out = 0;
    weights.cwiseAbs().maxCoeff(&left_out);
    for (Index j = 0; j < k; ++j)
      if (j != left_out) join(base[static_cast<std::size_t>(j)], i);
  }
  Constraints all = make_distances(points, pairs, {}, box);
  std::ranges::move(combined, std::back_inserter(all));
  return all;
}

}  // namespace tempi
