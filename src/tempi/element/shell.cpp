// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/shell.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/element/packed_batch.hpp"
#include "tempi/element/shell_kernels.hpp"
#include "tempi/element/shell_terms.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi {
namespace {

using namespace shell_detail;
using V3 = Vector3<double>;

V3 point(const Mesh& mesh, NodeId a) {
  const auto X = mesh.point(a);
  return {X[0], X[1], X[2]};
}
V3 minus(const V3& a, const V3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
V3 times(double s, const V3& a) { return {s * a[0], s * a[1], s * a[2]}; }
V3 sum(const V3& a, const V3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
double norm(const V3& a) { return std::sqrt(dot(a, a)); }

// Displacements of nodes relative to the first.
V3 relative(std::span<const double> u, NodeId a, NodeId first) {
  const double *x = &u[3 * ordinal(a)], *x0 = &u[3 * ordinal(first)];
  return {x[0] - x0[0], x[1] - x0[1], x[2] - x0[2]};
}

// H += the Hessian of N nodes whose forces are those of all but the first: columns of the latter by dual numbers.
template <std::size_t N, class Forces>
void add_by_duals(std::span<const V3> u, Forces&& forces, std::span<double> H) {
  constexpr std::size_t n = 3 * N;
  std::array<Vector3<Dual<double>>, N - 1> e, force;
  for (std::size_t b = 1; b < N; ++b)
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t a = 0; a + 1 < N; ++a)
        for (std::size_t i = 0; i < 3; ++i) e[a][i] = Dual<double>(u[a][i], a + 1 == b && i == j ? 1.0 : 0.0);
      forces(e, force);
      for (std::size_t a = 1; a < N; ++a)
        for (std::size_t i = 0; i < 3; ++i) {
          const double h = force[a - 1][i].slope;
          H[(3 * a + i) * n + 3 * b + j] += h;
          H[i * n + 3 * b + j] -= h;
          H[(3 * a + i) * n + j] -= h;
          H[i * n + j] += h;
        }
    }
}

// Of numbers in a row.
template <class T>
MembraneGeometry<T> membrane_of(const std::array<double, MembraneGeometry<T>::size>& g) {
  return MembraneGeometry<T>::read([&](std::size_t k) { return T(g[k]); });
}
template <class T>
HingeGeometry<T> hinge_of(const std::array<double, HingeGeometry<T>::size>& g) {
  return HingeGeometry<T>::read([&](std::size_t k) { return T(g[k]); });
}

// Numbers of terms, lane behind lane; what fills up the last pack is the term before it with `nothing` of it zero.
template <std::size_t size>
AlignedVector<double> packed_geometry(std::span<const std::array<double, size>> of, std::span<const Index> terms,
                                      std::size_t nothing) {
  const auto W = static_cast<std::size_t>(pack_width());
  const std::size_t count = (terms.size() + W - 1) / W * W;
  AlignedVector<double> packed(count * size);
  Index k = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool none = i >= terms.size() || terms[i] < 0;
    if (!none) k = terms[i];
    double* lane = &packed[i / W * size * W + i % W];
    for (std::size_t c = 0; c < size; ++c) lane[c * W] = of[static_cast<std::size_t>(k)][c];
    if (none) lane[nothing * W] = 0.0;
  }
  return packed;
}

template <class Model>
class Membrane final : public ElasticCells {
 public:
  Membrane(const Mesh& mesh, std::vector<CellId> cells, const ShellMaterial& material, const Model& model)
      : mesh_(mesh), cells_(std::move(cells)), of_(material), model_(model) {
    geometry_.reserve(cells_.size());
    for (const CellId cell : cells_) add_geometry(cell);
  }

  Index size() const override { return static_cast<Index>(cells_.size()); }
  int dim() const override { return 3; }
  CellId cell(Index k) const override { return cells_[static_cast<std::size_t>(k)]; }
  std::span<const NodeId> stencil(Index k) const override { return mesh_.cells()[index(cell(k))]; }
  double volume(Index k) const override { return numbers(k)[9]; }
  double mass(Index k, std::size_t) const override { return of_.density * volume(k) / 3.0; }
  double density() const override { return of_.density; }
  double thickness() const override { return of_.thickness; }
  const Material& material() const override { return of_.membrane; }
  std::string describe(Index k) const override { return mesh_.describe(cell(k)); }

  std::string fault(Index k, std::span<const double>, double t, double) const override {
    return fmt::format("{} has no area any more at t = {:.9g} s. Try smaller steps.", describe(k), t);
  }

  double energy(Index k, std::span<const double> u, double) const override {
    const auto [e1, e2] = edges(k, u);
    return membrane_energy(model_, membrane_of<double>(numbers(k)), e1, e2);
  }
  double add_gradient(Index k, std::span<const double> u, double, std::span<double> g) const override {
    const auto [e1, e2] = edges(k, u);
    V3 force[2];
    const double det = membrane_forces(model_, membrane_of<double>(numbers(k)), e1, e2, 1.0, force[0], force[1]);
    for (std::size_t a = 0; a < 2; ++a)
      for (std::size_t i = 0; i < 3; ++i) {
        g[3 * (a + 1) + i] += force[a][i];
        g[i] -= force[a][i];
      }
    return det;
  }
  void add_hessian(Index k, std::span<const double> u, double, std::span<double> H) const override {
    const auto [e1, e2] = edges(k, u);
    const auto g = membrane_of<Dual<double>>(numbers(k));
    add_by_duals<3>(
        std::array{e1, e2},
        [&](const auto& e, auto& force) {
          membrane_forces(model_, g, e[0], e[1], Dual<double>(1.0), force[0], force[1]);
        },
        H);
  }

  Index point_count() const override { return 1; }
  CellPoint at_point(Index k, Index) const override {
    const auto g = membrane_of<double>(numbers(k));
    CellPoint at{g.volume};
    const V3 d1 = combine(g.d10, g.axis[0], g.d11, g.axis[1]), d2 = times(g.d21, g.axis[1]);
    at.dN[0] = times(-1.0, sum(d1, d2));
    at.dN[1] = d1;
    at.dN[2] = d2;
    return at;
  }

  PackedGeometry pack(std::span<const Index>, std::span<const std::int32_t>) const override {
    throw InputError("shells have no viscosity.");
  }
  std::unique_ptr<Batch> batch(std::span<const Index> terms, std::span<const std::int32_t> place) const override {
    return std::make_unique<PackedBatch>(membrane_kernel(static_cast<CellMaterial>(of_.membrane.index())), pack_width(),
                                         3, 9, model_.lame, packed_geometry<10>(geometry_, terms, 9),
                                         packed_places(*this, terms, place));
  }

  // F S F^T / J with J = sqrt(det C c).
  std::array<double, 6> cauchy_stress(Index k, std::span<const double> u) const override {
    const auto [e1, e2] = edges(k, u);
    const MembraneStrain<double> at = membrane_strain(membrane_of<double>(numbers(k)), e1, e2);
    const InPlane<double> S = model_.stress(at.c);
    const double det = 1.0 + at.c.xx + at.c.yy + NeoHookeanMembrane::det_beyond_trace(at.c);
    return tensor(at.tangent, S, 1.0 / std::sqrt(det * (1.0 + model_.thickening(at.c))));
  }
  // In the plane, and half of what the square of the thickness changes along the normal.
  std::array<double, 6> green_strain(Index k, std::span<const double> u) const override {
    const auto [e1, e2] = edges(k, u);
    const auto g = membrane_of<double>(numbers(k));
    const MembraneStrain<double> at = membrane_strain(g, e1, e2);
    std::array<double, 6> E = tensor(g.axis, at.c, 0.5);
    const V3 n = cross(g.axis[0], g.axis[1]);
    const double across = 0.5 * model_.thickening(at.c);
    for (std::size_t c = 0; c < 6; ++c)
      E[c] += across * n[symmetric_components[c].first] * n[symmetric_components[c].second];
    return E;
  }

 private:
  // factor (s_xx a a^T + s_yy b b^T + s_xy (a b^T + b a^T)).
  static std::array<double, 6> tensor(const V3 (&axis)[2], const InPlane<double>& s, double factor) {
    std::array<double, 6> values{};
    for (std::size_t c = 0; c < 6; ++c) {
      const auto [i, j] = symmetric_components[c];
      values[c] = factor * (s.xx * axis[0][i] * axis[0][j] + s.yy * axis[1][i] * axis[1][j] +
                            s.xy * (axis[0][i] * axis[1][j] + axis[1][i] * axis[0][j]));
    }
    return values;
  }

  const std::array<double, 10>& numbers(Index k) const { return geometry_[static_cast<std::size_t>(k)]; }
  std::array<V3, 2> edges(Index k, std::span<const double> u) const {
    const auto nodes = stencil(k);
    return {relative(u, nodes[1], nodes[0]), relative(u, nodes[2], nodes[0])};
  }

  void add_geometry(CellId cell) {
    const auto nodes = mesh_.cells()[index(cell)];
    const V3 X0 = point(mesh_, nodes[0]), a = minus(point(mesh_, nodes[1]), X0), b = minus(point(mesh_, nodes[2]), X0);
    const V3 n = cross(a, b);
    const double length = norm(a), doubled = norm(n);
    if (!(doubled > 1e-14 * std::max(dot(a, a), dot(b, b))))
      throw InputError(fmt::format("{} has no area. Remove or remesh it.", mesh_.describe(cell)));
    const V3 first = times(1.0 / length, a), second = times(1.0 / doubled, cross(n, first));
    const double along = dot(b, first), height = doubled / length;
    geometry_.push_back({first[0], first[1], first[2], second[0], second[1], second[2], 1.0 / length,
                         -along / (length * height), 1.0 / height, 0.5 * doubled * of_.thickness});
  }

  const Mesh& mesh_;
  std::vector<CellId> cells_;
  ShellMaterial of_;
  Model model_;
  std::vector<std::array<double, 10>> geometry_;  // MembraneGeometry, number by number
};

// N = 4: hinges; N = 3: clamped edges, whose fourth node stays where it is from the first.
template <std::size_t N>
class Hinges final : public ShellBending {
 public:
  struct Hinge {
    std::array<NodeId, N> nodes;
    std::array<CellId, N - 2> cells;
    V3 mirror{};       // X_3 - X_0 of clamped edges
    double stiffness;  // 3 k |e0|^2 / A0
  };

  Hinges(const Mesh& mesh, std::span<const Hinge> hinges) : mesh_(mesh) {
    for (const Hinge& h : hinges) {
      nodes_.push_back(h.nodes);
      cells_.push_back(h.cells);
      const V3 X0 = point(mesh, h.nodes[0]);
      const V3 e = minus(point(mesh, h.nodes[1]), X0), p = minus(point(mesh, h.nodes[2]), X0);
      V3 q = h.mirror;
      if constexpr (N == 4) q = minus(point(mesh, h.nodes[3]), X0);
      geometry_.push_back(
          {e[0], e[1], e[2], p[0], p[1], p[2], q[0], q[1], q[2], hinge_angle(e, p, q).theta, h.stiffness});
    }
  }

  Index size() const override { return static_cast<Index>(nodes_.size()); }
  int dim() const override { return 3; }
  std::span<const NodeId> stencil(Index k) const override { return nodes_[static_cast<std::size_t>(k)]; }
  double mass(Index, std::size_t) const override { return 0.0; }
  std::string describe(Index k) const override {
    const auto nodes = stencil(k);
    const V3 middle = times(0.5, sum(point(mesh_, nodes[0]), point(mesh_, nodes[1])));
    return fmt::format("the {} between nodes {} and {} at ({:.6g})", N == 4 ? "hinge" : "clamped edge",
                       mesh_.point_label(nodes[0]), mesh_.point_label(nodes[1]), fmt::join(middle, ", "));
  }

  std::string fault(Index k, std::span<const double>, double t, double) const override {
    return fmt::format("a triangle at {} has no area any more at t = {:.9g} s. Try smaller steps.", describe(k), t);
  }

  double energy(Index k, std::span<const double> u, double) const override {
    const Three e = edges(k, u);
    return hinge_energy(hinge_of<double>(numbers(k)), e.u);
  }
  double add_gradient(Index k, std::span<const double> u, double, std::span<double> g) const override {
    const Three e = edges(k, u);
    V3 force[3];
    const double flatness = hinge_forces(hinge_of<double>(numbers(k)), e.u, 1.0, force);
    for (std::size_t a = 1; a < N; ++a)
      for (std::size_t i = 0; i < 3; ++i) {
        g[3 * a + i] += force[a - 1][i];
        g[i] -= force[a - 1][i];
      }
    return flatness;
  }
  // At rest 2 c (dtheta/dx) (dtheta/dx)^T and no more.
  void add_hessian(Index k, std::span<const double> u, double, std::span<double> H) const override {
    const Three e = edges(k, u);
    const auto numbers_of = hinge_of<double>(numbers(k));
    const HingeAngle<double> at = hinge_angle(numbers_of, e.u);
    if (at.theta == numbers_of.rest) {
      const auto slope = whole_slope(at);
      for (std::size_t i = 0; i < 3 * N; ++i)
        for (std::size_t j = 0; j < 3 * N; ++j) H[i * 3 * N + j] += 2.0 * numbers_of.stiffness * slope[i] * slope[j];
      return;
    }
    const auto g = hinge_of<Dual<double>>(numbers(k));
    add_by_duals<N>(
        std::span<const V3>(e.u).first(N - 1),
        [&](const auto& x, auto& force) {
          Vector3<Dual<double>> all[3]{}, forces[3];
          std::copy_n(x.begin(), N - 1, all);
          hinge_forces(g, all, Dual<double>(1.0), forces);
          std::copy_n(forces, N - 1, force.begin());
        },
        H);
  }
  // At rest the Hessian has rank one: omega^2 = 2 c sum_a |dtheta/dx_a|^2 / m_a.
  double stable_step(Index k, std::span<const double> u, std::span<const double> shares) const override {
    const Three e = edges(k, u);
    const auto g = hinge_of<double>(numbers(k));
    const HingeAngle<double> at = hinge_angle(g, e.u);
    if (at.theta != g.rest) return LocalPotential::stable_step(k, u, shares);
    const auto slope = whole_slope(at);
    double sum_of = 0.0;
    for (std::size_t i = 0; i < 3 * N; ++i) sum_of += slope[i] * slope[i] / shares[i / 3];
    const double squared = 2.0 * g.stiffness * sum_of;
    return squared > 0.0 ? 2.0 / std::sqrt(squared) : std::numeric_limits<double>::infinity();
  }

  std::unique_ptr<Batch> batch(std::span<const Index> terms, std::span<const std::int32_t> place) const override {
    if constexpr (N == 3) return LocalPotential::batch(terms, place);
    return std::make_unique<PackedBatch>(hinge_kernel(), pack_width(), 3, 12, Lame{},
                                         packed_geometry<11>(geometry_, terms, 10), packed_places(*this, terms, place));
  }

  void add_curvature(std::span<const double> u, std::span<double> curvature) const override {
    for (Index k = 0; k < size(); ++k) {
      const auto i = static_cast<std::size_t>(k);
      const auto g = hinge_of<double>(geometry_[i]);
      const Three moved = edges(k, u);
      const V3 e = sum(g.edge[0], moved.u[0]), p = sum(g.edge[1], moved.u[1]), q = sum(g.edge[2], moved.u[2]);
      const double theta = hinge_angle(e, p, q).theta, length = norm(e);
      const double doubled[2] = {norm(cross(e, p)), norm(cross(e, q))};
      // Of a clamped edge the mirror image turns as much again.
      const double turn = N == 4 ? theta * 2.0 * length / (doubled[0] + doubled[1]) : theta * 2.0 * length / doubled[0];
      for (std::size_t c = 0; c < N - 2; ++c) {
        const V3 apex = c == 0 ? p : q;
        const V3 off = minus(apex, times(dot(apex, e) / (length * length), e));
        const V3 n = times(1.0 / norm(off), off);
        const double sign = orientation(cells_[i][c], nodes_[i]) == (c == 0) ? 1.0 : -1.0;
        double* to = &curvature[6 * ordinal(cells_[i][c])];
        for (std::size_t s = 0; s < 6; ++s)
          to[s] += sign * turn * n[symmetric_components[s].first] * n[symmetric_components[s].second];
      }
    }
  }
  void add_energy(std::span<const double> u, std::span<double> energies) const override {
    for (Index k = 0; k < size(); ++k) {
      const double V = energy(k, u, 0.0) / static_cast<double>(N - 2);
      for (const CellId cell : cells_[static_cast<std::size_t>(k)]) energies[ordinal(cell)] += V;
    }
  }

 private:
  struct Three {
    V3 u[3]{};
  };
  Three edges(Index k, std::span<const double> u) const {
    const auto nodes = stencil(k);
    Three e;
    for (std::size_t a = 1; a < N; ++a) e.u[a - 1] = relative(u, nodes[a], nodes[0]);
    return e;
  }
  const std::array<double, 11>& numbers(Index k) const { return geometry_[static_cast<std::size_t>(k)]; }

  static std::array<double, 3 * N> whole_slope(const HingeAngle<double>& at) {
    std::array<double, 3 * N> slope{};
    for (std::size_t a = 1; a < N; ++a)
      for (std::size_t i = 0; i < 3; ++i) {
        slope[3 * a + i] = at.slope[a - 1][i];
        slope[i] -= at.slope[a - 1][i];
      }
    return slope;
  }
  // Whether a cell goes along the edge as it is written here.
  bool orientation(CellId cell, const std::array<NodeId, N>& nodes) const {
    const auto of = mesh_.cells()[index(cell)];
    for (std::size_t a = 0; a < 3; ++a)
      if (of[a] == nodes[0]) return of[(a + 1) % 3] == nodes[1];
    return true;
  }

  const Mesh& mesh_;
  std::vector<std::array<NodeId, N>> nodes_;
  std::vector<std::array<CellId, N - 2>> cells_;
  std::vector<std::array<double, 11>> geometry_;  // HingeGeometry, number by number
};

struct ShellEdge {
  NodeId a, b;
  std::vector<CellId> cells;
};

// In the order in which cells show them.
std::vector<ShellEdge> shell_edges(const Mesh& mesh) {
  struct Side {
    NodeId low, high, a, b;
    CellId cell;
  };
  std::vector<Side> sides;
  for (Index c = 0; c < mesh.cells().size(); ++c) {
    if (!mesh.is_shell(make_id<CellId>(c))) continue;
    const auto nodes = mesh.cells()[c];
    for (std::size_t k = 0; k < 3; ++k) {
      const NodeId a = nodes[k], b = nodes[(k + 1) % 3];
      sides.push_back({std::min(a, b), std::max(a, b), a, b, make_id<CellId>(c)});
    }
  }
  std::ranges::stable_sort(sides, {}, [](const Side& s) { return std::pair(s.low, s.high); });
  std::vector<ShellEdge> edges;
  for (std::size_t i = 0; i < sides.size();) {
    edges.push_back({sides[i].a, sides[i].b, {}});
    const NodeId low = sides[i].low, high = sides[i].high;
    for (; i < sides.size() && sides[i].low == low && sides[i].high == high; ++i)
      edges.back().cells.push_back(sides[i].cell);
  }
  std::ranges::stable_sort(edges, {}, [](const ShellEdge& e) { return e.cells.front(); });
  return edges;
}

NodeId apex_of(const Mesh& mesh, CellId cell, const ShellEdge& edge) {
  for (const NodeId a : mesh.cells()[index(cell)])
    if (a != edge.a && a != edge.b) return a;
  return edge.a;
}

double doubled_area(const Mesh& mesh, CellId cell) {
  const auto nodes = mesh.cells()[index(cell)];
  const V3 X0 = point(mesh, nodes[0]);
  return norm(cross(minus(point(mesh, nodes[1]), X0), minus(point(mesh, nodes[2]), X0)));
}

}  // namespace

double bending_stiffness(const ShellMaterial& material) {
  // E / (1 - nu^2) = 4 mu (lambda + mu) / (lambda + 2 mu)
  const Lame lame = lame_of(material.membrane);
  return 4.0 * lame.mu * (lame.lambda + lame.mu) / (lame.lambda + 2.0 * lame.mu) * std::pow(material.thickness, 3) /
         12.0;
}

std::unique_ptr<ElasticCells> make_membrane(const Mesh& mesh, std::vector<CellId> cells,
                                            const ShellMaterial& material) {
  if (!(material.density > 0.0) || !std::isfinite(material.density))
    throw InputError(fmt::format("density = {} kg/m^3 (must be > 0).", material.density));
  if (!(material.thickness > 0.0) || !std::isfinite(material.thickness))
    throw InputError(fmt::format("thickness = {} m (must be > 0).", material.thickness));
  if (const auto* neo_hookean = std::get_if<NeoHookean>(&material.membrane)) {
    if (neo_hookean->lame.lambda < 0.0)
      throw InputError(
          "a neo-hookean membrane with lambda < 0 has no thickness of least energy. Choose "
          "saint-venant-kirchhoff.");
    return std::make_unique<Membrane<NeoHookeanMembrane>>(mesh, std::move(cells), material,
                                                          NeoHookeanMembrane{neo_hookean->lame});
  }
  if (const auto* saint_venant = std::get_if<SaintVenantKirchhoff>(&material.membrane))
    return std::make_unique<Membrane<SaintVenantMembrane>>(mesh, std::move(cells), material,
                                                           SaintVenantMembrane{saint_venant->lame});
  throw InputError(
      "linear-elastic strains with every rotation, which shells make: choose another model of stretching.");
}

std::unique_ptr<ShellBending> make_hinges(const Mesh& mesh, std::span<const double> stiffness) {
  std::vector<Hinges<4>::Hinge> hinges;
  for (const ShellEdge& edge : shell_edges(mesh)) {
    if (edge.cells.size() == 1) continue;
    if (edge.cells.size() > 2)
      throw InputError(fmt::format(
          "{} triangles share the edge between nodes {} and {} (a hinge joins two). Part the surface there, "
          "and hold its parts together by a [[constraint]].",
          edge.cells.size(), mesh.point_label(edge.a), mesh.point_label(edge.b)));
    const V3 e = minus(point(mesh, edge.b), point(mesh, edge.a));
    const CellId first = edge.cells[0], second = edge.cells[1];
    const double area = 0.5 * (doubled_area(mesh, first) + doubled_area(mesh, second));
    const double D = 0.5 * (stiffness[ordinal(first)] + stiffness[ordinal(second)]);
    hinges.push_back({{edge.a, edge.b, apex_of(mesh, first, edge), apex_of(mesh, second, edge)},
                      {first, second},
                      {},
                      D / 6.0 * 3.0 * dot(e, e) / area});
  }
  if (hinges.empty()) return nullptr;
  return std::make_unique<Hinges<4>>(mesh, hinges);
}

std::unique_ptr<ShellBending> make_clamped_edges(const Mesh& mesh, std::span<const double> stiffness,
                                                 std::span<const std::vector<NodeId>> nodes) {
  const auto are_in = [&](NodeId a, NodeId b) {
    return std::ranges::any_of(nodes, [&](const std::vector<NodeId>& list) {
      return std::ranges::binary_search(list, a) && std::ranges::binary_search(list, b);
    });
  };
  std::vector<Hinges<3>::Hinge> hinges;
  for (const ShellEdge& edge : shell_edges(mesh)) {
    if (edge.cells.size() != 1 || !are_in(edge.a, edge.b)) continue;
    const CellId cell = edge.cells.front();
    const NodeId apex = apex_of(mesh, cell, edge);
    const V3 e = minus(point(mesh, edge.b), point(mesh, edge.a)), p = minus(point(mesh, apex), point(mesh, edge.a));
    const V3 foot = times(dot(p, e) / dot(e, e), e);
    // Half of a hinge with the mirror image, at twice the angle: 1/2 (D/6) 3 |e|^2 / (2 A) (2 phi)^2.
    hinges.push_back({{edge.a, edge.b, apex},
                      {cell},
                      minus(times(2.0, foot), p),
                      stiffness[ordinal(cell)] / 6.0 * 3.0 * dot(e, e) / (0.5 * doubled_area(mesh, cell))});
  }
  if (hinges.empty()) return nullptr;
  return std::make_unique<Hinges<3>>(mesh, hinges);
}

}  // namespace tempi
