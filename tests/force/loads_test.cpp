// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/loads.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/batches.hpp"
#include "support/meshes.hpp"
#include "tempi/core/error.hpp"
#include "tempi/mesh/elements.hpp"

namespace tempi {
namespace {

using test::Body;
using Vector = std::array<double, 3>;
const Material material = NeoHookean{{1.3, 0.7}};

VectorExpression formulas(const std::vector<std::string>& texts) {
  std::vector<Expression> all;
  for (const std::string& text : texts) all.emplace_back(text, Constants{});
  return VectorExpression(std::move(all));
}

// The first `dim` of three formulas.
VectorExpression formulas_in(int dim, std::vector<std::string> texts) {
  texts.resize(static_cast<std::size_t>(dim));
  return formulas(texts);
}

// Impulses of all elements, gathered at the nodes: dim components a node.
std::vector<double> gather(const Mesh& mesh, const Force& force, std::span<const double> u, double t = 0.0,
                           double dt = 1.0) {
  const auto d = static_cast<std::size_t>(mesh.dim());
  const std::vector<double> v(mesh.points().size(), 0.0);
  std::vector<double> total(v);
  for (Index k = 0; k < force.size(); ++k) {
    const auto nodes = force.stencil(k);
    std::vector<double> p(nodes.size() * d, 0.0);
    force.add_impulse(k, u, v, t, dt, p);
    for (std::size_t i = 0; i < p.size(); ++i) total[static_cast<std::size_t>(index(nodes[i / d])) * d + i % d] += p[i];
  }
  return total;
}

std::vector<double> gather(const Mesh& mesh, const Force& force) {
  return gather(mesh, force, std::vector<double>(mesh.points().size(), 0.0));
}

Vector resultant(const Mesh& mesh, const std::vector<double>& f) {
  Vector sum{};
  for (std::size_t i = 0; i < f.size(); ++i) sum[i % static_cast<std::size_t>(mesh.dim())] += f[i];
  return sum;
}

Vector moment(const Mesh& mesh, const std::vector<double>& f, std::span<const double> u) {
  const auto d = static_cast<std::size_t>(mesh.dim());
  Vector sum{};
  for (std::size_t a = 0; a < f.size() / d; ++a) {
    Vector x{}, p{};
    for (std::size_t c = 0; c < d; ++c) {
      x[c] = mesh.points()[a * d + c] + u[a * d + c];
      p[c] = f[a * d + c];
    }
    sum[0] += x[1] * p[2] - x[2] * p[1];
    sum[1] += x[2] * p[0] - x[0] * p[2];
    sum[2] += x[0] * p[1] - x[1] * p[0];
  }
  return sum;
}

double size_of(const std::vector<double>& f) {
  return std::sqrt(std::inner_product(f.begin(), f.end(), f.begin(), 0.0));
}

// One 6-node triangle whose first edge is the parabola y = -4 h x (1 - x).
Mesh triangle_on_a_parabola(double h) {
  return test::mesh_of(2, {0, 0, 1, 0, 0, 1, 0.5, -h, 0.5, 0.5, 0, 0.5}, CellType::triangle6, {{0, 1, 2, 3, 4, 5}});
}

// One 10-node tetrahedron whose first face (z <= 0, normal -z) is bent: middle of edge 01 at (0.5, y, z), of 12 at
// (0.5, 0.5, z12).
Mesh tetrahedron_on_a_bent_face(double y, double z, double z12) {
  return test::mesh_of(3, {0,   0,   0,   1, 0,   0, 0, 1, 0,   0,   0, 1,   0.5, y,   z,
                           0.5, 0.5, z12, 0, 0.5, 0, 0, 0, 0.5, 0.5, 0, 0.5, 0,   0.5, 0.5},
                       CellType::tetrahedron10, {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}});
}

double parabola_length(double h) { return 0.5 * std::sqrt(1.0 + 16.0 * h * h) + std::asinh(4.0 * h) / (8.0 * h); }

class EveryMesh : public testing::TestWithParam<test::MeshCase> {
 protected:
  EveryMesh() : body(test::make_body(GetParam().make(), material, 2.5)) {}
  const Mesh& mesh() const { return *body.mesh; }
  std::vector<double> deformed() const { return test::random_displacements(mesh(), 0.05, 3); }
  Body body;
};
INSTANTIATE_TEST_SUITE_P(Loads, EveryMesh, testing::ValuesIn(test::mesh_cases()),
                         [](const auto& param) { return param.param.name; });

TEST_P(EveryMesh, gravity_gives_every_node_its_mass_times_the_acceleration) {
  const auto g = make_gravity(mesh(), body.cells(), {}, formulas_in(mesh().dim(), {"2 + X", "-9.81", "t"})).force;
  const auto d = static_cast<std::size_t>(mesh().dim());
  const auto p = gather(mesh(), *g, deformed(), 3.0, 0.5);
  for (std::size_t a = 0; a < body.model->mass().size(); ++a) {
    const double m = body.model->mass()[a];
    const Vector b = {2.0 + mesh().points()[a * d], -9.81, 3.0};
    for (std::size_t c = 0; c < d; ++c) EXPECT_NEAR(p[a * d + c], 0.5 * m * b[c], 1e-15 * (1.0 + std::abs(b[c])));
  }
}

TEST_P(EveryMesh, gravity_on_some_cells_acts_on_their_mass_only) {
  const auto [g, hosts] = make_gravity(mesh(), body.cells(), {1, 3}, formulas_in(mesh().dim(), {"1", "0", "0"}));
  EXPECT_EQ(g->size(), 2);
  EXPECT_EQ(hosts, (std::vector{CellId{1}, CellId{3}}));
  EXPECT_NEAR(resultant(mesh(), gather(mesh(), *g))[0], 2.5 * (body.cells().volume(1) + body.cells().volume(3)), 1e-15);
}

// The enclosed volume is a polynomial that is linear in each coordinate of each node, so its central difference is
// exact: work of a pressure p is -p dV.
double enclosed_volume(const Mesh& mesh, std::span<const double> u) {
  std::vector<double> x(mesh.points().begin(), mesh.points().end());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += u[i];
  double volume = 0.0;
  for (Index c = 0; c < mesh.cells().size(); ++c) {
    const auto nodes = mesh.cells()[c];
    const auto add = [&]<class Element>(Element) {
      constexpr auto D = static_cast<std::size_t>(Element::dim);
      static const auto rule = collapsed_gauss_rule<Element::dim>(4);
      for (const auto& at : rule) {
        const auto dN = Element::derivative(at.xi);
        Mat<double, Element::dim> J;
        for (std::size_t a = 0; a < nodes.size(); ++a)
          for (std::size_t i = 0; i < D; ++i)
            for (std::size_t j = 0; j < D; ++j)
              J(static_cast<int>(i), static_cast<int>(j)) +=
                  x[static_cast<std::size_t>(index(nodes[a])) * D + i] * dN[a][j];
        volume += at.weight * determinant(J);
      }
    };
    switch (mesh.cells().types[static_cast<std::size_t>(c)]) {
      case CellType::line2: add(Line2{}); break;
      case CellType::triangle3: add(Triangle3{}); break;
      case CellType::triangle6: add(Triangle6{}); break;
      case CellType::tetrahedron4: add(Tetrahedron4{}); break;
      default: add(Tetrahedron10{}); break;
    }
  }
  return volume;
}

TEST_P(EveryMesh, pressure_on_a_closed_surface_is_minus_p_times_the_gradient_of_the_volume) {
  const double p = 1.7, spacing = 1e-2;
  const auto pressure = make_pressure(mesh(), boundary_facets(mesh()), Expression(p), PressureFrame::deformed).force;
  auto u = deformed();
  const auto f = gather(mesh(), *pressure, u);
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double u0 = u[i];
    u[i] = u0 + spacing;
    const double up = enclosed_volume(mesh(), u);
    u[i] = u0 - spacing;
    const double down = enclosed_volume(mesh(), u);
    u[i] = u0;
    EXPECT_NEAR(f[i], -p * (up - down) / (2.0 * spacing), 1e-12) << i;
  }
}

TEST_P(EveryMesh, pressure_on_a_closed_surface_has_no_resultant_and_no_moment_also_deformed) {
  const auto pressure = make_pressure(mesh(), boundary_facets(mesh()), Expression(1.7), PressureFrame::deformed).force;
  for (const auto& u : {std::vector<double>(mesh().points().size(), 0.0), deformed()}) {
    const auto f = gather(mesh(), *pressure, u);
    ASSERT_GT(size_of(f), 0.1);
    for (const double r : resultant(mesh(), f)) EXPECT_NEAR(r, 0.0, 1e-14);
    for (const double m : moment(mesh(), f, u)) EXPECT_NEAR(m, 0.0, 1e-14);
  }
}

// Half a surface has both: the two tests above do not hold by being empty.
TEST_P(EveryMesh, pressure_on_an_open_surface_has_a_resultant) {
  const auto pressure =
      make_pressure(mesh(), test::facets_of(mesh(), "left"), Expression(1.7), PressureFrame::deformed).force;
  EXPECT_GT(resultant(mesh(), gather(mesh(), *pressure))[0], 1.0);  // pushes into the body, along +x
}

TEST_P(EveryMesh, dead_pressure_keeps_to_the_undeformed_surface) {
  const auto facets = test::facets_of(mesh(), "right");
  const auto dead = make_pressure(mesh(), facets, Expression("1 + X", {}), PressureFrame::reference).force;
  const auto follower = make_pressure(mesh(), facets, Expression("1 + X", {}), PressureFrame::deformed).force;
  const auto at_rest = gather(mesh(), *dead);
  EXPECT_EQ(gather(mesh(), *dead, deformed()), at_rest);
  EXPECT_EQ(gather(mesh(), *follower), at_rest);
  if (mesh().dim() > 1) {
    EXPECT_NE(gather(mesh(), *follower, deformed()), at_rest);
  }
}

TEST_P(EveryMesh, follower_pressure_turns_with_the_body) {
  const auto follower =
      make_pressure(mesh(), test::facets_of(mesh(), "right"), Expression(2.0), PressureFrame::deformed).force;
  const int D = mesh().dim();
  const auto Q = test::rotation(D, 0.9);
  const Vector before = resultant(mesh(), gather(mesh(), *follower));
  const Vector after =
      resultant(mesh(), gather(mesh(), *follower, test::rigid_displacements(mesh(), 0.9, {1.0, 2.0, 3.0})));
  for (int i = 0; i < D; ++i) {
    double turned = 0.0;
    for (int j = 0; j < D; ++j) turned += Q[static_cast<std::size_t>(i * D + j)] * before[static_cast<std::size_t>(j)];
    EXPECT_NEAR(after[static_cast<std::size_t>(i)], turned, 1e-14);
  }
}

// Traction on the plane X = 0, whose facets fill the unit area or length between the corners of the mesh.
TEST_P(EveryMesh, traction_sums_to_itself_times_the_reference_area) {
  const auto facets = test::facets_of(mesh(), "left");
  const auto traction = make_traction(mesh(), facets, formulas_in(mesh().dim(), {"1", "2*t", "-3"})).force;
  const auto push = make_pressure(mesh(), facets, Expression(1.0), PressureFrame::reference).force;
  const double area = resultant(mesh(), gather(mesh(), *push))[0];  // the plane's normal is (-1, 0, 0)
  const auto p = gather(mesh(), *traction, deformed(), 0.25, 0.5);
  const Vector sum = resultant(mesh(), p), expected = {0.5 * area, 0.25 * area, -1.5 * area};
  for (std::size_t c = 0; c < static_cast<std::size_t>(mesh().dim()); ++c) EXPECT_NEAR(sum[c], expected[c], 1e-14);
}

TEST_P(EveryMesh, nodal_forces_reach_each_node_once_whatever_cells_carry_them) {
  auto nodes = test::nodes_of(mesh(), "left");
  const auto force =
      make_nodal_force(mesh(), {&body.cells()}, nodes, formulas_in(mesh().dim(), {"1 + Y", "t", "-3"})).force;
  const auto d = static_cast<std::size_t>(mesh().dim());
  const auto p = gather(mesh(), *force, deformed(), 2.0, 0.5);
  for (std::size_t a = 0; a < p.size() / d; ++a) {
    const bool loaded = std::ranges::binary_search(nodes, make_id<NodeId>(static_cast<Index>(a)));
    const Vector F = {1.0 + (d > 1 ? mesh().points()[a * d + 1] : 0.0), 2.0, -3.0};
    for (std::size_t c = 0; c < d; ++c) EXPECT_NEAR(p[a * d + c], loaded ? 0.5 * F[c] : 0.0, 1e-15);
  }
}

TEST_P(EveryMesh, parts_of_a_nodal_force_are_in_proportion_to_mass_shares) {
  const NodeId node = test::nodes_of(mesh(), "left").front();
  const auto [force, hosts] =
      make_nodal_force(mesh(), {&body.cells()}, {node}, formulas_in(mesh().dim(), {"1", "0", "0"}));
  const std::vector<double> zero(mesh().points().size(), 0.0);
  double sum = 0.0;
  for (Index k = 0; k < force->size(); ++k) {
    std::array<double, 3> p{};
    force->add_impulse(k, zero, zero, 0.0, 1.0, p);
    const auto cell = mesh().cells()[index(hosts[static_cast<std::size_t>(k)])];
    const auto place = static_cast<std::size_t>(std::ranges::find(cell, node) - cell.begin());
    ASSERT_LT(place, cell.size());
    EXPECT_NEAR(p[0], body.cells().mass(index(hosts[static_cast<std::size_t>(k)]), place) / body.model->mass(node),
                1e-15);
    sum += p[0];
  }
  EXPECT_NEAR(sum, 1.0, 1e-15);
}

TEST_P(EveryMesh, every_load_acts_within_nodes_of_its_host_cell) {
  const int D = mesh().dim();
  const auto facets = boundary_facets(mesh());
  std::vector<CellLoad> loads;
  loads.push_back(make_gravity(mesh(), body.cells(), {}, formulas_in(D, {"1", "1", "1"})));
  loads.push_back(make_traction(mesh(), facets, formulas_in(D, {"1", "1", "1"})));
  loads.push_back(make_pressure(mesh(), facets, Expression(1.0), PressureFrame::deformed));
  loads.push_back(
      make_nodal_force(mesh(), {&body.cells()}, test::nodes_of(mesh(), "right"), formulas_in(D, {"1", "1", "1"})));
  for (const auto& [load, hosts] : loads) {
    ASSERT_EQ(std::ssize(hosts), load->size());
    for (Index k = 0; k < load->size(); ++k) {
      const auto cell = mesh().cells()[index(hosts[static_cast<std::size_t>(k)])];
      for (const NodeId a : load->stencil(k)) EXPECT_NE(std::ranges::find(cell, a), cell.end());
    }
  }
}

TEST_P(EveryMesh, an_impulse_is_added_and_in_proportion_to_its_duration) {
  const auto pressure = make_pressure(mesh(), boundary_facets(mesh()), Expression(1.0), PressureFrame::deformed).force;
  const auto u = deformed();
  const auto d = static_cast<std::size_t>(mesh().dim());
  const std::size_t n = pressure->stencil(0).size() * d;
  std::vector<double> once(n, 0.0), again(n, 5.0);
  pressure->add_impulse(0, u, u, 0.0, 1.0, once);
  pressure->add_impulse(0, u, u, 0.0, 0.25, again);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(again[i], 5.0 + 0.25 * once[i], 1e-14);
}

TEST_P(EveryMesh, a_value_that_is_not_finite_ends_the_run_with_place_and_time) {
  const int D = mesh().dim();
  const auto facets = test::facets_of(mesh(), "right");
  const std::vector<std::string> bad = {"1/(t - 2)", "ln(-t)", "0"};
  std::vector<std::unique_ptr<Force>> loads;
  loads.push_back(make_gravity(mesh(), body.cells(), {}, formulas_in(D, bad)).force);
  loads.push_back(make_traction(mesh(), facets, formulas_in(D, bad)).force);
  loads.push_back(make_pressure(mesh(), facets, Expression(bad[0], {}), PressureFrame::reference).force);
  loads.push_back(
      make_nodal_force(mesh(), {&body.cells()}, test::nodes_of(mesh(), "right"), formulas_in(D, bad)).force);
  for (const auto& load : loads) {
    std::string message;
    try {
      gather(mesh(), *load, deformed(), 2.0);
    } catch (const SolveError& e) {
      message = e.what();
    }
    EXPECT_NE(message.find("1/(t - 2)"), std::string::npos) << message;
    EXPECT_NE(message.find("t = 2 s"), std::string::npos) << message;
    EXPECT_NE(message.find("X = ("), std::string::npos) << message;
  }
}

TEST(Traction, on_a_bar_end_is_the_force_itself) {
  const Mesh mesh = test::bar_mesh(3);
  const auto p = gather(mesh, *make_traction(mesh, test::facets_of(mesh, "right"), formulas({"5"})).force);
  EXPECT_EQ(p, (std::vector<double>{0, 0, 0, 5}));
}

TEST(Pressure, compresses_a_bar_from_both_ends) {
  const Mesh mesh = test::bar_mesh(3);
  const auto p =
      gather(mesh, *make_pressure(mesh, boundary_facets(mesh), Expression(5.0), PressureFrame::deformed).force);
  EXPECT_EQ(p, (std::vector<double>{5, 0, 0, -5}));
}

// int N_a dA over a straight facet: 1/2 1/2; 1/6 1/6 2/3; 1/3 each; 0 0 0 1/3 1/3 1/3.
TEST(Traction, has_consistent_weights_on_every_facet) {
  const auto weights = [](const Mesh& mesh, CellFacet facet) {
    const auto force = make_traction(mesh, {facet}, formulas_in(mesh.dim(), {"1", "0", "0"})).force;
    const std::vector<double> zero(mesh.points().size(), 0.0);
    std::vector<double> p(force->stencil(0).size() * static_cast<std::size_t>(mesh.dim()), 0.0);
    force->add_impulse(0, zero, zero, 0.0, 1.0, p);
    std::vector<double> result;
    double area = 0.0;
    for (std::size_t i = 0; i < p.size(); i += static_cast<std::size_t>(mesh.dim())) area += p[i];
    for (std::size_t i = 0; i < p.size(); i += static_cast<std::size_t>(mesh.dim())) result.push_back(p[i] / area);
    return result;
  };
  using enum CellType;
  const auto expect = [&](const Mesh& mesh, const std::vector<double>& expected) {
    const auto found = weights(mesh, {CellId{0}, 1});
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t a = 0; a < found.size(); ++a) EXPECT_NEAR(found[a], expected[a], 1e-15);
  };
  expect(test::triangle_mesh(triangle3, 1, 0.1, 4), {0.5, 0.5});
  expect(test::triangle_mesh(triangle6, 1, 0.1, 4), {1.0 / 6, 1.0 / 6, 2.0 / 3});
  expect(test::tetrahedron_mesh(tetrahedron4, 1, 0.1, 4), {1.0 / 3, 1.0 / 3, 1.0 / 3});
  expect(test::tetrahedron_mesh(tetrahedron10, 1, 0.1, 4), {0, 0, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3});
}

// The length of a parabola. The rule is exact for all but the terms of order h^6 of its square root.
TEST(Traction, on_a_curved_edge_sums_to_its_length) {
  const auto error = [](double h) {
    const Mesh mesh = triangle_on_a_parabola(h);
    const auto p = gather(mesh, *make_traction(mesh, {{CellId{0}, 0}}, formulas({"3", "0"})).force);
    return std::abs(resultant(mesh, p)[0] - 3.0 * parabola_length(h));
  };
  EXPECT_LT(error(0.05), 1e-6);
  EXPECT_NEAR(std::log2(error(0.1) / error(0.05)), 6.0, 0.3);
}

// An edge bent within the plane of the face changes its area by 2/3 of the bend: exact.
TEST(Traction, on_a_face_with_a_curved_edge_sums_to_its_area) {
  const Mesh mesh = tetrahedron_on_a_bent_face(-0.1, 0.0, 0.0);
  const auto p = gather(mesh, *make_traction(mesh, {{CellId{0}, 0}}, formulas({"0", "3", "0"})).force);
  EXPECT_NEAR(resultant(mesh, p)[1], 3.0 * (0.5 + 2.0 / 3.0 * 0.1), 1e-14);
}

// z = -4 h x (1 - x) over the triangle: area (length of the parabola) / 2, by the symmetry of x and 1 - x.
TEST(Traction, on_a_parabolic_face_sums_to_its_area) {
  const auto error = [](double h) {
    const Mesh mesh = tetrahedron_on_a_bent_face(0.0, -h, -h);
    const auto p = gather(mesh, *make_traction(mesh, {{CellId{0}, 0}}, formulas({"0", "3", "0"})).force);
    return std::abs(resultant(mesh, p)[1] - 1.5 * parabola_length(h));
  };
  EXPECT_LT(error(0.05), 1e-6);
  EXPECT_NEAR(std::log2(error(0.1) / error(0.05)), 6.0, 0.3);
}

// The projection of the face on z = 0 counts, curved or not: its resultant along z is p / 2.
TEST(Pressure, on_a_curved_face_pushes_like_on_its_projection) {
  const Mesh mesh = tetrahedron_on_a_bent_face(0.0, -0.1, -0.1);
  const auto p = gather(mesh, *make_pressure(mesh, {{CellId{0}, 0}}, Expression(3.0), PressureFrame::deformed).force);
  EXPECT_NEAR(resultant(mesh, p)[2], 1.5, 1e-14);
}

// T = X on an edge from 0 to 1: int N_a X dX = 1/6, 1/3.
TEST(Traction, that_varies_is_integrated_with_the_shape_functions) {
  const Mesh mesh = test::mesh_of(2, {0, 0, 1, 0, 0, 1}, CellType::triangle3, {{0, 1, 2}});
  const auto p = gather(mesh, *make_traction(mesh, {{CellId{0}, 0}}, formulas({"X", "0"})).force);
  EXPECT_NEAR(p[0], 1.0 / 6.0, 1e-15);
  EXPECT_NEAR(p[2], 1.0 / 3.0, 1e-15);
}

// A node of two materials is loaded once, through the cells of both.
TEST(NodalForce, is_shared_between_the_cells_of_two_potentials) {
  const Mesh mesh = test::bar_mesh(2);
  const auto left = make_elastic_cells(mesh, CellType::line2, {CellId{0}}, material, 1.0);
  const auto right = make_elastic_cells(mesh, CellType::line2, {CellId{1}}, material, 3.0);
  const auto force = make_nodal_force(mesh, {left.get(), right.get()}, {NodeId{1}}, formulas({"8"})).force;
  ASSERT_EQ(force->size(), 2);
  const std::vector<double> zero(3, 0.0);
  std::array<double, 2> parts{};
  for (Index k = 0; k < 2; ++k)
    force->add_impulse(k, zero, zero, 0.0, 1.0, std::span(parts).subspan(static_cast<std::size_t>(k), 1));
  EXPECT_DOUBLE_EQ(parts[0], 2.0);
  EXPECT_DOUBLE_EQ(parts[1], 6.0);
}

// ---- what fast engines take them for ----

// Nodal forces of a dead load from its parts, of another from its batch.
std::vector<double> packed(const Mesh& mesh, const Force& force, std::span<const double> u, double t) {
  const auto d = static_cast<std::size_t>(mesh.dim());
  std::vector<double> total(mesh.points().size(), 0.0);
  std::vector<Index> elements(static_cast<std::size_t>(force.size()));
  std::iota(elements.begin(), elements.end(), Index{0});
  if (force.is_dead()) {
    for (const Index k : elements)
      force.each_dead_part(k, [&](const DeadPart& part) {
        const std::span X(part.X.data(), d);
        total[static_cast<std::size_t>(index(force.stencil(k)[part.node])) * d +
              static_cast<std::size_t>(part.component)] += part.weight * (*part.value)(X, t);
      });
    return total;
  }
  std::vector<NodeLine> lines(static_cast<std::size_t>(mesh.node_count()));
  std::vector<std::int32_t> place;
  for (std::size_t a = 0; a < lines.size(); ++a) {  // backwards: a line is no node
    place.push_back(static_cast<std::int32_t>(lines.size() - 1 - a));
    std::copy_n(&u[a * d], d, lines[static_cast<std::size_t>(place.back())].displacement);
  }
  const auto batch = force.batch(mesh.dim(), elements, place);
  std::vector<double> rows(elements.size() * static_cast<std::size_t>(batch->row()));
  batch->prepare(t);
  const Index half = force.size() / 2;  // within a row of eight, mostly
  batch->evaluate(half, force.size(), lines, std::span(rows).subspan(static_cast<std::size_t>(half * batch->row())));
  batch->evaluate(0, half, lines, rows);
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const auto nodes = force.stencil(elements[k]);
    for (std::size_t i = 0; i < nodes.size() * d; ++i)
      total[static_cast<std::size_t>(index(nodes[i / d])) * d + i % d] +=
          rows[k * static_cast<std::size_t>(batch->row()) + i];
  }
  return total;
}

TEST_P(EveryMesh, packed_loads_are_those_element_by_element) {
  const auto& cells = body.cells();
  const auto facets = test::facets_of(mesh(), "right");
  std::vector<std::unique_ptr<Force>> loads;
  loads.push_back(make_gravity(mesh(), cells, {}, formulas_in(mesh().dim(), {"X*t", "-9.81", "sin(t)"})).force);
  loads.push_back(make_traction(mesh(), facets, formulas_in(mesh().dim(), {"1 + X*t", "0.3", "Y"})).force);
  loads.push_back(
      make_nodal_force(mesh(), {&cells}, test::nodes_of(mesh(), "right"), formulas_in(mesh().dim(), {"t", "X", "2"}))
          .force);
  for (const auto frame : {PressureFrame::deformed, PressureFrame::reference})
    for (const char* text : {"1.7", "1 + X + t"})
      for (const auto& surface : {facets, test::facets_of(mesh(), "boundary")})
        loads.push_back(make_pressure(mesh(), surface, Expression(text, {}), frame).force);
  for (const auto& load : loads)
    for (const std::string& set : test::instruction_sets()) {
      SCOPED_TRACE(set);
      const test::Instructions wish(set);
      const auto expected = gather(mesh(), *load, deformed(), 0.7), found = packed(mesh(), *load, deformed(), 0.7);
      ASSERT_GT(size_of(expected), 1e-3);
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 1e-15 + 1e-14 * size_of(expected));
    }
}

}  // namespace
}  // namespace tempi
