// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/loads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "tempi/core/cross.hpp"
#include "tempi/core/error.hpp"
#include "tempi/force/pressure_kernel.hpp"
#include "tempi/mesh/elements.hpp"

namespace tempi {
namespace {

// A load that does not depend on where the nodes are: what it is made of says what it does.
class DeadLoad : public Force {
 public:
  explicit DeadLoad(const Mesh& mesh) : mesh_(mesh) {}

  bool is_dead() const final { return true; }
  void add_impulse(Index k, std::span<const double>, std::span<const double>, double t, double dt,
                   std::span<double> p) const final {
    const DeadPart* last = nullptr;
    DeadPart kept;
    double value = 0.0;  // parts of one formula at one place come one after the other
    const auto add = [&](const DeadPart& part) {
      if (last == nullptr || last->value != part.value || last->X != part.X)
        value = finite_value(*part.value, std::span(part.X).first(dim()), t, part.what);
      kept = part;
      last = &kept;
      p[part.node * dim() + static_cast<std::size_t>(part.component)] += dt * part.weight * value;
    };
    each_dead_part(k, std::ref(add));  // a reference: nothing is allocated
  }

 protected:
  std::size_t dim() const { return static_cast<std::size_t>(mesh_.dim()); }
  std::array<double, 3> place(NodeId a) const {
    std::array<double, 3> X{};
    std::ranges::copy(mesh_.point(a), X.begin());
    return X;
  }

  const Mesh& mesh_;
};

class Gravity final : public DeadLoad {
 public:
  Gravity(const Mesh& mesh, const ElasticCells& cells, std::vector<Index> only, VectorExpression acceleration)
      : DeadLoad(mesh), cells_(cells), terms_(std::move(only)), acceleration_(std::move(acceleration)) {}

  Index size() const override { return static_cast<Index>(terms_.size()); }
  std::span<const NodeId> stencil(Index k) const override {
    return cells_.stencil(terms_[static_cast<std::size_t>(k)]);
  }
  void each_dead_part(Index k, const std::function<void(const DeadPart&)>& visit) const override {
    const auto nodes = stencil(k);
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      const double mass = cells_.mass(terms_[static_cast<std::size_t>(k)], a);
      for (int c = 0; c < mesh_.dim(); ++c) visit({a, c, &acceleration_[c], place(nodes[a]), mass, "gravity"});
    }
  }

 private:
  const ElasticCells& cells_;
  std::vector<Index> terms_;
  VectorExpression acceleration_;
};

class PointForces final : public DeadLoad {
 public:
  PointForces(const Mesh& mesh, std::vector<PointForce> parts, VectorExpression force)
      : DeadLoad(mesh), parts_(std::move(parts)), force_(std::move(force)) {}

  Index size() const override { return static_cast<Index>(parts_.size()); }
  std::span<const NodeId> stencil(Index k) const override { return {&parts_[static_cast<std::size_t>(k)].node, 1}; }
  void each_dead_part(Index k, const std::function<void(const DeadPart&)>& visit) const override {
    const PointForce& part = parts_[static_cast<std::size_t>(k)];
    for (int c = 0; c < mesh_.dim(); ++c) visit({0, c, &force_[c], place(part.node), part.factor, "force"});
  }

 private:
  std::vector<PointForce> parts_;
  VectorExpression force_;
};

template <class Element>
std::vector<FacetPoint> facet_rule(int n) {
  std::vector<FacetPoint> rule;
  for (const auto& at : collapsed_gauss_rule<Element::dim>(n)) {
    FacetPoint point;
    const auto shape = Element::shape(at.xi);
    const auto derivative = Element::derivative(at.xi);
    for (std::size_t a = 0; a < Element::nodes; ++a) {
      point.N[a] = shape[a];
      for (std::size_t j = 0; j < Element::dim; ++j) point.dN[a][j] = derivative[a][j];
    }
    point.weight = at.weight;
    rule.push_back(point);
  }
  return rule;
}

// Exact for a constant pressure on a deformed facet: degree 4 on 6-node triangles.
const std::vector<FacetPoint>& rule_of(CellType type) {
  static const std::vector<FacetPoint> point = {FacetPoint{{1.0}, {}, 1.0}};
  static const auto line2 = facet_rule<Line2>(2), line3 = facet_rule<Line3>(3);
  static const auto triangle3 = facet_rule<Triangle3>(2), triangle6 = facet_rule<Triangle6>(3);
  switch (type) {
    case CellType::line2: return line2;
    case CellType::line3: return line3;
    case CellType::triangle3: return triangle3;
    case CellType::triangle6: return triangle6;
    default: return point;
  }
}

using Vector = std::array<double, 3>;

// Facets and their nodes.
class Facets {
 public:
  Facets(const Mesh& mesh, const std::vector<CellFacet>& facets)
      : mesh_(mesh), dim_(static_cast<std::size_t>(mesh.dim())), facets_(facets) {
    for (const CellFacet& f : facets_) {
      for (const NodeId a : facet_nodes(mesh, f)) nodes_.push_back(a);
      offsets_.push_back(nodes_.size());
    }
  }
  Index size() const { return static_cast<Index>(facets_.size()); }
  std::size_t dim() const { return dim_; }
  std::span<const NodeId> stencil(Index k) const {
    const auto i = static_cast<std::size_t>(k);
    return {nodes_.data() + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }
  double X(NodeId a, std::size_t i) const { return mesh_.point(a)[i]; }
  CellType type(Index k) const { return facet_type(mesh_, facets_[static_cast<std::size_t>(k)]); }
  const std::vector<FacetPoint>& rule(Index k) const { return rule_of(type(k)); }
  double side(Index k) const { return facets_[static_cast<std::size_t>(k)].local == 0 ? -1.0 : 1.0; }  // of a bar

  Vector place(Index k, const FacetPoint& at) const {
    Vector place{};
    const auto nodes = stencil(k);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t i = 0; i < dim_; ++i) place[i] += at.N[a] * X(nodes[a], i);
    return place;
  }

  // n da / dxi, outward: of the reference surface where `u` is empty.
  Vector area_vector(Index k, const FacetPoint& at, std::span<const double> u) const {
    if (dim_ == 1) return {side(k), 0.0, 0.0};
    std::array<Vector, 2> tangent{};
    const auto nodes = stencil(k);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t i = 0; i < dim_; ++i) {
        const double x = X(nodes[a], i) + (u.empty() ? 0.0 : u[ordinal(nodes[a]) * dim_ + i]);
        for (std::size_t j = 0; j + 1 < dim_; ++j) tangent[j][i] += x * at.dN[a][j];
      }
    if (dim_ == 2) return {tangent[0][1], -tangent[0][0], 0.0};
    return cross(tangent[0], tangent[1]);
  }

 private:
  const Mesh& mesh_;
  std::size_t dim_;
  std::vector<CellFacet> facets_;
  std::vector<NodeId> nodes_;
  std::vector<std::size_t> offsets_{0};
};

// Either a traction per reference area, or a pressure along the outward area vector of the reference surface.
class DeadSurfaceLoad final : public DeadLoad {
 public:
  DeadSurfaceLoad(const Mesh& mesh, const std::vector<CellFacet>& facets, VectorExpression traction)
      : DeadLoad(mesh), facets_(mesh, facets), traction_(std::move(traction)) {}
  DeadSurfaceLoad(const Mesh& mesh, const std::vector<CellFacet>& facets, Expression pressure)
      : DeadLoad(mesh), facets_(mesh, facets), pressure_(std::move(pressure)) {}

  Index size() const override { return facets_.size(); }
  std::span<const NodeId> stencil(Index k) const override { return facets_.stencil(k); }

  void each_dead_part(Index k, const std::function<void(const DeadPart&)>& visit) const override {
    const std::size_t nodes = stencil(k).size();
    for (const FacetPoint& at : facets_.rule(k)) {
      const Vector X = facets_.place(k, at), n = facets_.area_vector(k, at, {});
      const double area = std::hypot(n[0], n[1], n[2]);
      for (std::size_t i = 0; i < dim(); ++i)
        for (std::size_t a = 0; a < nodes; ++a) {
          const int c = static_cast<int>(i);
          if (pressure_)
            visit({a, c, &*pressure_, X, -at.weight * at.N[a] * n[i], "pressure"});
          else
            visit({a, c, &(*traction_)[c], X, at.weight * at.N[a] * area, "traction"});
        }
    }
  }

 private:
  Facets facets_;
  std::optional<VectorExpression> traction_;
  std::optional<Expression> pressure_;
};

// Pressure on facets of one type, where it acts now.
class PressureBatch final : public LoadBatch {
 public:
  PressureBatch(const Facets& facets, const Expression& pressure, std::span<const Index> elements,
                std::span<const std::int32_t> place)
      : dim_(facets.dim()),
        nodes_(facets.stencil(elements.front()).size()),
        facets_(std::ssize(elements)),
        rule_(facets.rule(elements.front())),
        pressure_(pressure, points(facets, elements), "pressure"),
        kernel_(pressure_kernel(nodes_, dim_)) {
    const std::size_t rows = (elements.size() + Eight::lanes - 1) / Eight::lanes;
    lines_.resize(rows * nodes_);
    X_.resize(lines_.size() * dim_);
    for (std::size_t i = 0; i < rows * Eight::lanes; ++i) {
      const Index k = elements[std::min(i, elements.size() - 1)];
      for (std::size_t a = 0; a < nodes_; ++a) {
        const NodeId node = facets.stencil(k)[a];
        const std::size_t at = i / Eight::lanes * nodes_ + a;
        lines_[at][i % Eight::lanes] = place[ordinal(node)];
        for (std::size_t c = 0; c < dim_; ++c)
          X_[at * dim_ + c].lane[i % Eight::lanes] = dim_ == 1 ? facets.side(k) : facets.X(node, c);
      }
    }
  }

  void prepare(double t) override {
    for (Index block = 0; block < pressure_.blocks(); ++block) pressure_.evaluate(block, t);
  }
  Index row() const override { return static_cast<Index>(nodes_ * dim_); }
  void evaluate(Index first, Index last, std::span<const NodeLine> nodes, std::span<double> forces) const override {
    kernel_({facets_, lines_.data(), X_.data(), rule_.data(), std::ssize(rule_), &pressure_[0], pressure_.size() == 1},
            first, last, nodes.data(), forces.data());
  }

 private:
  static std::vector<double> points(const Facets& facets, std::span<const Index> elements) {
    std::vector<double> X;
    for (const Index k : elements)
      for (const FacetPoint& at : facets.rule(k)) {
        const Vector place = facets.place(k, at);
        X.insert(X.end(), place.begin(), place.end());
      }
    return X;
  }

  std::size_t dim_, nodes_;
  Index facets_;
  const std::vector<FacetPoint>& rule_;
  ExpressionAtPoints pressure_;
  PressureKernel kernel_;
  std::vector<std::array<std::int32_t, Eight::lanes>> lines_;
  std::vector<Eight> X_;
};

// A pressure that follows the surface.
class FollowerPressure final : public Force {
 public:
  FollowerPressure(const Mesh& mesh, const std::vector<CellFacet>& facets, Expression pressure)
      : facets_(mesh, facets), pressure_(std::move(pressure)) {}

  Index size() const override { return facets_.size(); }
  std::span<const NodeId> stencil(Index k) const override { return facets_.stencil(k); }

  void add_impulse(Index k, std::span<const double> u, std::span<const double>, double t, double dt,
                   std::span<double> p) const override {
    const std::size_t dim = facets_.dim();
    for (const FacetPoint& at : facets_.rule(k)) {
      const Vector X = facets_.place(k, at), area = facets_.area_vector(k, at, u);
      const double value = finite_value(pressure_, {X.data(), dim}, t, "pressure");
      for (std::size_t a = 0; a < stencil(k).size(); ++a)
        for (std::size_t i = 0; i < dim; ++i) p[a * dim + i] += dt * (-at.weight * at.N[a] * area[i]) * value;
    }
  }

  std::unique_ptr<LoadBatch> batch(int dim, std::span<const Index> elements,
                                   std::span<const std::int32_t> place) const override {
    const CellType type = facets_.type(elements.front());
    if (std::ranges::any_of(elements, [&](Index k) { return facets_.type(k) != type; }))
      return Force::batch(dim, elements, place);
    return std::make_unique<PressureBatch>(facets_, pressure_, elements, place);
  }

 private:
  Facets facets_;
  Expression pressure_;
};

std::vector<CellId> cells_of(const std::vector<CellFacet>& facets) {
  std::vector<CellId> cells;
  for (const CellFacet& f : facets) cells.push_back(f.cell);
  return cells;
}

}  // namespace

CellLoad make_gravity(const Mesh& mesh, const ElasticCells& cells, std::vector<Index> only,
                      VectorExpression acceleration) {
  if (only.empty()) {
    only.resize(static_cast<std::size_t>(cells.size()));
    std::iota(only.begin(), only.end(), Index{0});
  }
  std::vector<CellId> hosts;
  for (const Index k : only) hosts.push_back(cells.cell(k));
  return {std::make_unique<Gravity>(mesh, cells, std::move(only), std::move(acceleration)), std::move(hosts)};
}

CellLoad make_traction(const Mesh& mesh, const std::vector<CellFacet>& facets, VectorExpression traction) {
  return {std::make_unique<DeadSurfaceLoad>(mesh, facets, std::move(traction)), cells_of(facets)};
}

CellLoad make_pressure(const Mesh& mesh, const std::vector<CellFacet>& facets, Expression pressure,
                       PressureFrame frame) {
  if (frame == PressureFrame::reference)
    return {std::make_unique<DeadSurfaceLoad>(mesh, facets, std::move(pressure)), cells_of(facets)};
  return {std::make_unique<FollowerPressure>(mesh, facets, std::move(pressure)), cells_of(facets)};
}

CellLoad make_nodal_force(const Mesh& mesh, const std::vector<const ElasticCells*>& cells,
                          const std::vector<NodeId>& nodes, VectorExpression force) {
  std::unordered_map<Index, double> mass;  // of the loaded nodes
  for (const NodeId a : nodes) mass[index(a)] = 0.0;
  std::vector<PointForce> parts;
  std::vector<CellId> hosts;
  for (const ElasticCells* potential : cells)
    for (Index k = 0; k < potential->size(); ++k) {
      const auto stencil = potential->stencil(k);
      for (std::size_t i = 0; i < stencil.size(); ++i) {
        const auto found = mass.find(index(stencil[i]));
        if (found == mass.end()) continue;
        found->second += potential->mass(k, i);
        parts.push_back({stencil[i], potential->mass(k, i)});
        hosts.push_back(potential->cell(k));
      }
    }
  for (PointForce& part : parts) part.factor /= mass.at(index(part.node));
  return {make_point_forces(mesh, std::move(parts), std::move(force)), std::move(hosts)};
}

std::unique_ptr<Force> make_point_forces(const Mesh& mesh, std::vector<PointForce> parts, VectorExpression force) {
  return std::make_unique<PointForces>(mesh, std::move(parts), std::move(force));
}

}  // namespace tempi
