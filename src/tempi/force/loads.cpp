// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/loads.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "tempi/core/error.hpp"
#include "tempi/mesh/elements.hpp"

namespace tempi {
namespace {

double finite(const Expression& f, std::span<const double> X, double t, std::string_view what) {
  const double value = f(X, t);
  if (!std::isfinite(value))
    throw SolveError(fmt::format("the {} \"{}\" is {} at X = ({:.6g}), t = {:.6g} s. Correct the expression.", what,
                                 f.text(), value, fmt::join(X, ", "), t));
  return value;
}

class Gravity final : public Force {
 public:
  Gravity(const Mesh& mesh, const ElasticCells& cells, std::vector<Index> only, VectorExpression acceleration)
      : mesh_(mesh), cells_(cells), terms_(std::move(only)), acceleration_(std::move(acceleration)) {}

  Index size() const override { return static_cast<Index>(terms_.size()); }
  CellId host(Index k) const override { return cells_.cell(terms_[static_cast<std::size_t>(k)]); }
  std::span<const NodeId> stencil(Index k) const override {
    return cells_.stencil(terms_[static_cast<std::size_t>(k)]);
  }
  void add_impulse(Index k, std::span<const double>, std::span<const double>, double t, double dt,
                   std::span<double> p) const override {
    const auto nodes = stencil(k);
    const Index term = terms_[static_cast<std::size_t>(k)];
    const auto dim = static_cast<std::size_t>(mesh_.dim());
    for (std::size_t c = 0; c < dim; ++c)
      for (std::size_t a = 0; a < nodes.size(); ++a)
        p[a * dim + c] +=
            dt * cells_.mass(term, a) * finite(acceleration_[static_cast<int>(c)], mesh_.point(nodes[a]), t, "gravity");
  }

 private:
  const Mesh& mesh_;
  const ElasticCells& cells_;
  std::vector<Index> terms_;
  VectorExpression acceleration_;
};

class NodalForce final : public Force {
 public:
  struct Part {
    NodeId node;
    CellId host;
    double fraction;
  };
  NodalForce(const Mesh& mesh, std::vector<Part> parts, VectorExpression force)
      : mesh_(mesh), parts_(std::move(parts)), force_(std::move(force)) {}

  Index size() const override { return static_cast<Index>(parts_.size()); }
  CellId host(Index k) const override { return parts_[static_cast<std::size_t>(k)].host; }
  std::span<const NodeId> stencil(Index k) const override { return {&parts_[static_cast<std::size_t>(k)].node, 1}; }
  void add_impulse(Index k, std::span<const double>, std::span<const double>, double t, double dt,
                   std::span<double> p) const override {
    const Part& part = parts_[static_cast<std::size_t>(k)];
    for (int c = 0; c < mesh_.dim(); ++c)
      p[static_cast<std::size_t>(c)] += dt * part.fraction * finite(force_[c], mesh_.point(part.node), t, "force");
  }

 private:
  const Mesh& mesh_;
  std::vector<Part> parts_;
  VectorExpression force_;
};

// Shape functions and derivatives of a facet at its quadrature points.
struct FacetPoint {
  std::array<double, 6> N{};
  std::array<std::array<double, 2>, 6> dN{};
  double weight = 1.0;
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

// A load on facets. Either a traction per reference area, or a pressure along the outward area vector.
class SurfaceLoad : public Force {
 public:
  SurfaceLoad(const Mesh& mesh, const std::vector<CellFacet>& facets) : mesh_(mesh), facets_(facets) {
    for (const CellFacet& f : facets_) {
      for (const NodeId a : facet_nodes(mesh, f)) nodes_.push_back(a);
      offsets_.push_back(nodes_.size());
    }
  }
  Index size() const override { return static_cast<Index>(facets_.size()); }
  CellId host(Index k) const override { return facets_[static_cast<std::size_t>(k)].cell; }
  std::span<const NodeId> stencil(Index k) const override {
    const auto i = static_cast<std::size_t>(k);
    return {nodes_.data() + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }

 protected:
  using Vector = std::array<double, 3>;

  const std::vector<FacetPoint>& rule(Index k) const {
    return rule_of(facet_type(mesh_, facets_[static_cast<std::size_t>(k)]));
  }

  Vector place(Index k, const FacetPoint& at) const {
    Vector X{};
    const auto nodes = stencil(k);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t i = 0; i < dim(); ++i) X[i] += at.N[a] * mesh_.point(nodes[a])[i];
    return X;
  }

  // n da / dxi, outward: of the reference surface where `u` is empty.
  Vector area_vector(Index k, const FacetPoint& at, std::span<const double> u) const {
    if (dim() == 1) return {facets_[static_cast<std::size_t>(k)].local == 0 ? -1.0 : 1.0, 0.0, 0.0};
    std::array<Vector, 2> tangent{};
    const auto nodes = stencil(k);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t i = 0; i < dim(); ++i) {
        double x = mesh_.point(nodes[a])[i];
        if (!u.empty()) x += u[ordinal(nodes[a]) * dim() + i];
        for (std::size_t j = 0; j + 1 < dim(); ++j) tangent[j][i] += x * at.dN[a][j];
      }
    const Vector &r = tangent[0], &s = tangent[1];
    if (dim() == 2) return {r[1], -r[0], 0.0};
    return {r[1] * s[2] - r[2] * s[1], r[2] * s[0] - r[0] * s[2], r[0] * s[1] - r[1] * s[0]};
  }

  std::size_t dim() const { return static_cast<std::size_t>(mesh_.dim()); }

 private:
  const Mesh& mesh_;
  std::vector<CellFacet> facets_;
  std::vector<NodeId> nodes_;
  std::vector<std::size_t> offsets_{0};
};

class Traction final : public SurfaceLoad {
 public:
  Traction(const Mesh& mesh, const std::vector<CellFacet>& facets, VectorExpression traction)
      : SurfaceLoad(mesh, facets), traction_(std::move(traction)) {}

  void add_impulse(Index k, std::span<const double>, std::span<const double>, double t, double dt,
                   std::span<double> p) const override {
    for (const FacetPoint& at : rule(k)) {
      const Vector X = place(k, at), area = area_vector(k, at, {});
      const double w = dt * at.weight * std::hypot(area[0], area[1], area[2]);
      for (std::size_t i = 0; i < dim(); ++i) {
        const double T = finite(traction_[static_cast<int>(i)], {X.data(), dim()}, t, "traction");
        for (std::size_t a = 0; a < stencil(k).size(); ++a) p[a * dim() + i] += w * at.N[a] * T;
      }
    }
  }

 private:
  VectorExpression traction_;
};

class Pressure final : public SurfaceLoad {
 public:
  Pressure(const Mesh& mesh, const std::vector<CellFacet>& facets, Expression pressure, PressureFrame frame)
      : SurfaceLoad(mesh, facets), pressure_(std::move(pressure)), frame_(frame) {}

  void add_impulse(Index k, std::span<const double> u, std::span<const double>, double t, double dt,
                   std::span<double> p) const override {
    const auto surface = frame_ == PressureFrame::deformed ? u : std::span<const double>{};
    for (const FacetPoint& at : rule(k)) {
      const Vector X = place(k, at), area = area_vector(k, at, surface);
      const double w = -dt * at.weight * finite(pressure_, {X.data(), dim()}, t, "pressure");
      for (std::size_t a = 0; a < stencil(k).size(); ++a)
        for (std::size_t i = 0; i < dim(); ++i) p[a * dim() + i] += w * at.N[a] * area[i];
    }
  }

 private:
  Expression pressure_;
  PressureFrame frame_;
};

}  // namespace

std::unique_ptr<Force> make_gravity(const Mesh& mesh, const ElasticCells& cells, std::vector<Index> only,
                                    VectorExpression acceleration) {
  if (only.empty()) {
    only.resize(static_cast<std::size_t>(cells.size()));
    std::iota(only.begin(), only.end(), Index{0});
  }
  return std::make_unique<Gravity>(mesh, cells, std::move(only), std::move(acceleration));
}

std::unique_ptr<Force> make_traction(const Mesh& mesh, const std::vector<CellFacet>& facets,
                                     VectorExpression traction) {
  return std::make_unique<Traction>(mesh, facets, std::move(traction));
}

std::unique_ptr<Force> make_pressure(const Mesh& mesh, const std::vector<CellFacet>& facets, Expression pressure,
                                     PressureFrame frame) {
  return std::make_unique<Pressure>(mesh, facets, std::move(pressure), frame);
}

std::unique_ptr<Force> make_nodal_force(const Mesh& mesh, const std::vector<const ElasticCells*>& cells,
                                        const std::vector<NodeId>& nodes, VectorExpression force) {
  std::unordered_map<Index, double> mass;  // of the loaded nodes
  for (const NodeId a : nodes) mass[index(a)] = 0.0;
  std::vector<NodalForce::Part> parts;
  for (const ElasticCells* potential : cells)
    for (Index k = 0; k < potential->size(); ++k) {
      const auto stencil = potential->stencil(k);
      for (std::size_t i = 0; i < stencil.size(); ++i) {
        const auto found = mass.find(index(stencil[i]));
        if (found == mass.end()) continue;
        found->second += potential->mass(k, i);
        parts.push_back({stencil[i], potential->cell(k), potential->mass(k, i)});
      }
    }
  for (auto& part : parts) part.fraction /= mass.at(index(part.node));
  return std::make_unique<NodalForce>(mesh, std::move(parts), std::move(force));
}

std::unique_ptr<Force> make_point_force(const Mesh& mesh, const std::vector<NodeId>& nodes,
                                        const std::vector<CellId>& hosts, const std::vector<double>& factors,
                                        VectorExpression force) {
  std::vector<NodalForce::Part> parts;
  for (std::size_t i = 0; i < nodes.size(); ++i) parts.push_back({nodes[i], hosts[i], factors[i]});
  return std::make_unique<NodalForce>(mesh, std::move(parts), std::move(force));
}

}  // namespace tempi
