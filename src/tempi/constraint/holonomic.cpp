// SPDX-License-Identifier: Apache-2.0
#include "tempi/constraint/holonomic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

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

class Coincident final : public HolonomicConstraint {
 public:
  Coincident(const std::array<NodeId, 2>& nodes, std::size_t dim, std::size_t component, double size)
      : nodes_(nodes), d_(dim), c_(component), size_(size) {}

  std::span<const NodeId> stencil() const override { return nodes_; }
  double length() const override { return size_; }
  bool is_internal() const override { return true; }
  std::string describe() const override {
    return fmt::format("the component {} of the coincident nodes {} and {}", "xyz"[c_], index(nodes_[0]),
                       index(nodes_[1]));
  }
  double value(std::span<const double> u) const override {
    return u[ordinal(nodes_[1]) * d_ + c_] - u[ordinal(nodes_[0]) * d_ + c_];
  }
  void gradient(std::span<const double>, std::span<double> gradient) const override {
    std::ranges::fill(gradient, 0.0);
    gradient[c_] = -1.0;
    gradient[d_ + c_] = 1.0;
  }

 private:
  std::array<NodeId, 2> nodes_;
  std::size_t d_, c_;
  double size_;
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
    for (std::size_t c = 0; c < d; ++c) result.push_back(std::make_unique<Coincident>(std::array{a, b}, d, c, size));
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

// A node beyond the base is joined to dim nodes of it. The one left out is that with the largest barycentric coordinate
// of the node: the simplex with the others is the largest then, and its edges to the node the most independent.
Constraints make_rigid_body(const Points& points, std::span<const NodeId> nodes, const BoxLengths& box) {
  require_nodes(points, nodes);
  const auto d = static_cast<Index>(points.dim), n = static_cast<Index>(nodes.size());
  if (n < 2) throw InputError(fmt::format("a rigid body has {} node (must be at least 2).", n));
  Eigen::MatrixXd x(d, n);
  for (Index i = 0; i < n; ++i) {
    const Vector w = separation(points, nodes[0], nodes[static_cast<std::size_t>(i)], box);
    for (Index c = 0; c < d; ++c) x(c, i) = w[static_cast<std::size_t>(c)];
  }
  const std::vector<std::size_t> base = spanning(x);
  const auto k = static_cast<Index>(base.size());
  if (n > k && k <= d) {
    std::vector<Index> numbers;
    for (const NodeId a : nodes) numbers.push_back(index(a));
    throw InputError(fmt::format(
        "the {} nodes {} of a rigid body lie {} (distances cannot hold them without redundancy). Hold only {} of them, "
        "or add a node that lies elsewhere.",
        n, fmt::join(numbers, ", "),
        k == 1   ? "in one point"
        : k == 2 ? "on one line"
                 : "in one plane",
        k));
  }

  std::vector<std::array<NodeId, 2>> pairs;
  const auto join = [&](std::size_t i, std::size_t j) { pairs.push_back({nodes[i], nodes[j]}); };
  for (std::size_t i = 0; i < base.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) join(base[j], base[i]);
  Eigen::MatrixXd simplex = Eigen::MatrixXd::Ones(d + 1, k);
  for (Index i = 0; i < k; ++i) simplex.col(i).head(d) = x.col(static_cast<Index>(base[static_cast<std::size_t>(i)]));
  for (std::size_t i = 0; i < nodes.size() && n > k; ++i) {
    if (std::ranges::find(base, i) != base.end()) continue;
    Eigen::VectorXd point = Eigen::VectorXd::Ones(d + 1);
    point.head(d) = x.col(static_cast<Index>(i));
    Index left_out = 0;
    simplex.partialPivLu().solve(point).cwiseAbs().maxCoeff(&left_out);
    for (Index j = 0; j < k; ++j)
      if (j != left_out) join(base[static_cast<std::size_t>(j)], i);
  }
  return make_distances(points, pairs, {}, box);
}

}  // namespace tempi
