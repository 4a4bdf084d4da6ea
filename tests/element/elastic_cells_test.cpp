// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/elastic_cells.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>
#include <numeric>

#include "support/meshes.hpp"
#include "tempi/core/error.hpp"
#include "tempi/mesh/elements.hpp"

namespace tempi {
namespace {

constexpr Lame lame{1.3, 0.7};
constexpr double density = 2.5;
using test::Body;
using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<double> gradient(const Potential& potential, Index k, std::span<const double> u) {
  std::vector<double> g(potential.stencil(k).size() * static_cast<std::size_t>(potential.dim()), 0.0);
  potential.add_gradient(k, u, 0.0, g);
  return g;
}

Dense hessian(const Potential& potential, Index k, std::span<const double> u) {
  const auto n = static_cast<Index>(potential.stencil(k).size()) * potential.dim();
  Dense H = Dense::Zero(n, n);
  potential.as_local()->add_hessian(k, u, 0.0, {H.data(), static_cast<std::size_t>(n * n)});
  return H;
}

// Jacobian of the gradient by central differences over the stencil's degrees of freedom.
Dense difference_hessian(const Potential& potential, Index k, std::span<const double> u, double spacing) {
  const auto stencil = potential.stencil(k);
  const auto d = static_cast<std::size_t>(potential.dim()), n = stencil.size() * d;
  std::vector<double> moved(u.begin(), u.end());
  Dense H(n, n);
  for (std::size_t j = 0; j < n; ++j) {
    double& x = moved[static_cast<std::size_t>(index(stencil[j / d])) * d + j % d];
    const double x0 = x;
    x = x0 + spacing;
    const auto up = gradient(potential, k, moved);
    x = x0 - spacing;
    const auto down = gradient(potential, k, moved);
    x = x0;
    for (std::size_t i = 0; i < n; ++i)
      H(static_cast<Index>(i), static_cast<Index>(j)) = (up[i] - down[i]) / (2.0 * spacing);
  }
  return H;
}

double norm(const std::vector<double>& v) { return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0)); }

// 2 / omega_max of M^-1 H by Eigen's generalised solver.
double dense_stable_step(Dense H, const std::vector<double>& mass) {
  Dense M = Dense::Zero(H.rows(), H.rows());
  for (Index i = 0; i < H.rows(); ++i) M(i, i) = mass[static_cast<std::size_t>(i)];
  H = (0.5 * (H + H.transpose())).eval();
  const Eigen::GeneralizedSelfAdjointEigenSolver<Dense> solver(H, M, Eigen::EigenvaluesOnly);
  return 2.0 / std::sqrt(solver.eigenvalues()(H.rows() - 1));
}

std::vector<double> mass_of_rows(const Potential& potential, Index k) {
  std::vector<double> mass;
  for (const double m : test::masses(potential, k))
    for (int c = 0; c < potential.dim(); ++c) mass.push_back(m);
  return mass;
}

std::array<double, 3> cross(const std::array<double, 3>& x, const std::array<double, 3>& f) {
  return {x[1] * f[2] - x[2] * f[1], x[2] * f[0] - x[0] * f[2], x[0] * f[1] - x[1] * f[0]};
}

// |sum over the stencil of x cross f| over the sum of |x| |f|; x = X + weight * u.
double relative_moment(const Mesh& mesh, const Potential& potential, Index k, std::span<const double> u,
                       double weight) {
  const auto g = gradient(potential, k, u);
  const auto d = static_cast<std::size_t>(mesh.dim());
  std::array<double, 3> sum{};
  double scale = 0.0;
  for (std::size_t a = 0; a < potential.stencil(k).size(); ++a) {
    std::array<double, 3> x{}, f{};
    for (std::size_t c = 0; c < d; ++c) {
      const NodeId node = potential.stencil(k)[a];
      x[c] = mesh.point(node)[c] + weight * u[static_cast<std::size_t>(index(node)) * d + c];
      f[c] = g[a * d + c];
    }
    const auto m = cross(x, f);
    for (std::size_t c = 0; c < 3; ++c) sum[c] += m[c];
    scale += std::hypot(x[0], x[1], x[2]) * std::hypot(f[0], f[1], f[2]);
  }
  return std::hypot(sum[0], sum[1], sum[2]) / scale;
}

struct BodyCase {
  test::MeshCase mesh;
  Material material;
  friend void PrintTo(const BodyCase& c, std::ostream* out) { *out << c.mesh.name << ' ' << test::name_of(c.material); }
};

std::vector<BodyCase> body_cases() {
  std::vector<BodyCase> all;
  for (const auto& mesh : test::mesh_cases())
    for (const Material& material : test::materials(lame)) all.push_back({mesh, material});
  return all;
}

class EveryBody : public testing::TestWithParam<BodyCase> {
 protected:
  EveryBody() : body(test::make_body(GetParam().mesh.make(), GetParam().material, density)) {}
  Index size() const { return cells().size(); }
  const ElasticCells& cells() const { return body.cells(); }
  const Mesh& mesh() const { return *body.mesh; }
  // Stretched along x, so that no cell is nearly free of force, and shaken.
  std::vector<double> deformed() const {
    std::vector<double> A(static_cast<std::size_t>(mesh().dim() * mesh().dim()), 0.0);
    A[0] = 0.2;
    auto u = test::affine_displacements(mesh(), A, {0, 0, 0});
    const auto shaken = test::random_displacements(mesh(), 0.02, 5);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] += shaken[i];
    return u;
  }
  bool frame_indifferent() const { return test::is_frame_indifferent(GetParam().material); }

  Body body;
};
INSTANTIATE_TEST_SUITE_P(ElasticCells, EveryBody, testing::ValuesIn(body_cases()), [](const auto& param) {
  std::string name = param.param.mesh.name + "_" + test::name_of(param.param.material);
  std::ranges::replace(name, '-', '_');
  return name;
});

// Spacing 2e-6: truncation (spacing / size)^2 times the largest third derivative, which vertices of strained curved
// cells have, and rounding 1e-16 size / spacing both stay below 1e-8.
TEST_P(EveryBody, gradient_is_the_derivative_of_energy) {
  const auto u = deformed();
  for (Index k = 0; k < size(); ++k) EXPECT_LT(check_gradient(cells(), k, u, 0.0, 2e-6), 1e-8) << k;
}

TEST_P(EveryBody, hessian_is_the_derivative_of_the_gradient) {
  const auto u = deformed();
  for (Index k = 0; k < size(); ++k) {
    const Dense H = hessian(cells(), k, u);
    EXPECT_LT((H - difference_hessian(cells(), k, u, 2e-6)).norm(), 1e-8 * H.norm()) << k;
  }
}

// Betti's reciprocity: the work of one set of forces on another's displacements is the same the other way round.
TEST_P(EveryBody, hessian_is_symmetric) {
  const auto u = deformed();
  for (Index k = 0; k < size(); ++k) {
    const Dense H = hessian(cells(), k, u);
    EXPECT_LT((H - H.transpose()).norm(), 1e-15 * H.norm()) << k;
  }
}

// No hourglass modes: the undeformed stiffness is zero on rigid motions only.
TEST_P(EveryBody, stiffness_has_no_zero_modes_but_the_rigid_ones) {
  const std::vector<double> u(mesh().points().size(), 0.0);
  const int D = mesh().dim(), rigid = D * (D + 1) / 2;
  for (Index k = 0; k < size(); ++k) {
    const Eigen::SelfAdjointEigenSolver<Dense> solver(hessian(cells(), k, u));
    const double largest = solver.eigenvalues().tail(1)(0);
    for (int i = 0; i < solver.eigenvalues().size(); ++i) {
      if (i < rigid)
        EXPECT_LT(std::abs(solver.eigenvalues()(i)), 1e-13 * largest);
      else
        EXPECT_GT(solver.eigenvalues()(i), 1e-5 * largest);
    }
  }
}

TEST_P(EveryBody, a_translation_costs_nothing_at_all) {
  const auto u = test::rigid_displacements(mesh(), 0.0, {0.1, -7.3, 1e5});
  for (Index k = 0; k < size(); ++k) {
    EXPECT_EQ(cells().energy(k, u, 0.0), 0.0);
    EXPECT_EQ(norm(gradient(cells(), k, u)), 0.0);
  }
}

// Rounding of H is 1e-16 of a rotation's O(1) gradient, and the nodal force that comes of it 1e-16 of the force of a
// strain of one.
TEST_P(EveryBody, a_rotation_costs_nothing_unless_linear) {
  const auto u = test::rigid_displacements(mesh(), 0.7, {0.3, -0.2, 0.1});
  const auto strained = test::affine_displacements(mesh(), std::vector<double>(9, 0.3), {0, 0, 0});
  for (Index k = 0; k < size(); ++k) {
    const double energy = cells().energy(k, u, 0.0), force = norm(gradient(cells(), k, u));
    const double energy_scale = cells().energy(k, strained, 0.0), force_scale = norm(gradient(cells(), k, strained));
    if (frame_indifferent() || mesh().dim() == 1) {  // a line cannot turn
      EXPECT_LT(std::abs(energy), 1e-14 * energy_scale);
      EXPECT_LT(force, 1e-13 * force_scale);
    } else {
      EXPECT_GT(energy, 1e-2 * energy_scale);
    }
  }
}

TEST_P(EveryBody, forces_of_a_cell_sum_to_zero) {
  const auto u = deformed();
  const auto d = static_cast<std::size_t>(mesh().dim());
  for (Index k = 0; k < size(); ++k) {
    const auto g = gradient(cells(), k, u);
    for (std::size_t c = 0; c < d; ++c) {
      double sum = 0.0;
      for (std::size_t i = c; i < g.size(); i += d) sum += g[i];
      EXPECT_LT(std::abs(sum), 1e-15 * norm(g));
    }
  }
}

// The moment about the deformed positions follows from frame indifference. The linear law balances moments about the
// undeformed ones only.
TEST_P(EveryBody, moments_of_a_cell_sum_to_zero) {
  const auto u = deformed();
  double worst_deformed = 0.0, worst_undeformed = 0.0;
  for (Index k = 0; k < size(); ++k) {
    worst_deformed = std::max(worst_deformed, relative_moment(mesh(), cells(), k, u, 1.0));
    worst_undeformed = std::max(worst_undeformed, relative_moment(mesh(), cells(), k, u, 0.0));
  }
  if (frame_indifferent()) {
    EXPECT_LT(worst_deformed, 1e-14);
  } else {
    EXPECT_LT(worst_undeformed, 1e-14);
    if (mesh().dim() > 1) {
      EXPECT_GT(worst_deformed, 1e-4);
    }
  }
}

TEST_P(EveryBody, admissibility_is_the_smallest_determinant) {
  std::vector<double> A = {0.2, 0.1, -0.1, 0.05, 0.1, 0.2, 0.0, -0.1, -0.15};
  Eigen::Matrix3d F = Eigen::Matrix3d::Identity();
  const int D = mesh().dim();
  std::vector<double> in_plane;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      in_plane.push_back(A[static_cast<std::size_t>(3 * i + j)]);
      F(i, j) += in_plane.back();
    }
  const auto u = test::affine_displacements(mesh(), in_plane, {0, 0, 0});
  std::array<double, 30> g{};
  for (Index k = 0; k < size(); ++k) EXPECT_NEAR(cells().add_gradient(k, u, 0.0, g), F.determinant(), 1e-13);

  std::vector<double> mirrored(static_cast<std::size_t>(D * D), 0.0);
  mirrored[0] = -2.0;
  const auto inside_out = test::affine_displacements(mesh(), mirrored, {0, 0, 0});
  EXPECT_LT(cells().add_gradient(0, inside_out, 0.0, g), 0.0);
  auto lost = u;
  lost[static_cast<std::size_t>(index(cells().stencil(0)[1])) * static_cast<std::size_t>(D)] = std::nan("");
  EXPECT_TRUE(std::isnan(cells().add_gradient(0, lost, 0.0, g)));
}

TEST_P(EveryBody, stable_step_is_that_of_the_dense_eigenvalue_problem) {
  const auto u = deformed();
  for (Index k = 0; k < size(); ++k) {
    const double expected = dense_stable_step(difference_hessian(cells(), k, u, 2e-6), mass_of_rows(cells(), k));
    EXPECT_NEAR(cells().stable_step(k, u, test::masses(cells(), k)), expected, 1e-8 * expected) << k;
  }
}

TEST_P(EveryBody, short_cut_of_the_stable_step_equals_the_general_path) {
  const auto u = deformed();
  for (Index k = 0; k < size(); ++k) {
    const double general = cells().LocalPotential::stable_step(k, u, test::masses(cells(), k));
    EXPECT_NEAR(cells().stable_step(k, u, test::masses(cells(), k)), general, 1e-13 * general) << k;
  }
}

TEST_P(EveryBody, steps_just_below_the_stable_one_are_stable_and_just_above_are_not) {
  const auto u = deformed();
  for (Index k = 0; k < size(); ++k) {
    const double step = cells().stable_step(k, u, test::masses(cells(), k));
    EXPECT_TRUE(cells().step_is_stable(k, u, test::masses(cells(), k), step));
    EXPECT_TRUE(cells().step_is_stable(k, u, test::masses(cells(), k), (1.0 - 1e-7) * step));
    EXPECT_TRUE(cells().step_is_stable(k, u, test::masses(cells(), k), 1e-3 * step));
    EXPECT_FALSE(cells().step_is_stable(k, u, test::masses(cells(), k), (1.0 + 1e-7) * step));
    EXPECT_FALSE(cells().step_is_stable(k, u, test::masses(cells(), k), 1e3 * step));
  }
}

// The reason why per-term steps are safe: no mode of the assembled body is stiffer than the stiffest of its terms.
TEST_P(EveryBody, smallest_stable_step_of_the_terms_bounds_that_of_the_body) {
  const std::vector<double> u(mesh().points().size(), 0.0);
  const auto d = static_cast<std::size_t>(mesh().dim());
  const auto n = static_cast<Index>(u.size());
  Dense K = Dense::Zero(n, n);
  double smallest = std::numeric_limits<double>::infinity();
  for (Index k = 0; k < size(); ++k) {
    const Dense H = hessian(cells(), k, u);
    const auto nodes = cells().stencil(k);
    const auto row = [&](Index i) {
      const auto local = static_cast<std::size_t>(i);
      return index(nodes[local / d]) * static_cast<Index>(d) + static_cast<Index>(local % d);
    };
    for (Index i = 0; i < H.rows(); ++i)
      for (Index j = 0; j < H.cols(); ++j) K(row(i), row(j)) += H(i, j);
    smallest = std::min(smallest, cells().stable_step(k, u, test::masses(cells(), k)));
  }
  std::vector<double> mass;
  for (const double m : body.model->mass()) mass.insert(mass.end(), d, m);
  EXPECT_LE(smallest, dense_stable_step(K, mass) * (1.0 + 1e-12));
}

// Affine displacements are equilibrium: interior nodes feel no net force however distorted their cells are. Curved
// 10-node tetrahedra are the exception, see below.
double patch_residual(const Mesh& mesh, const ElasticCells& cells) {
  const auto D = static_cast<std::size_t>(mesh.dim());
  std::vector<double> A;
  for (std::size_t i = 0; i < D; ++i)
    for (std::size_t j = 0; j < D; ++j) A.push_back(0.1 * std::cos(1.0 + 2.0 * double(i) + 3.0 * double(j)));
  const auto u = test::affine_displacements(mesh, A, {0.3, -0.2, 0.1});
  std::vector<double> net(u.size(), 0.0);
  double largest = 0.0, worst = 0.0;
  for (Index k = 0; k < cells.size(); ++k) {
    const auto g = gradient(cells, k, u);
    for (std::size_t i = 0; i < g.size(); ++i) {
      net[static_cast<std::size_t>(index(cells.stencil(k)[i / D])) * D + i % D] += g[i];
      largest = std::max(largest, std::abs(g[i]));
    }
  }
  std::vector<bool> boundary(static_cast<std::size_t>(mesh.node_count()), false);
  for (const NodeId a : test::nodes_of(mesh, "boundary")) boundary[static_cast<std::size_t>(index(a))] = true;
  for (std::size_t i = 0; i < net.size(); ++i)
    if (!boundary[i / D]) worst = std::max(worst, std::abs(net[i]));
  return worst / largest;
}

TEST_P(EveryBody, passes_the_patch_test) { EXPECT_LT(patch_residual(mesh(), cells()), 1e-13); }

// Volume of a cell from its surface alone: D V = sum over facets of int X . n dA.
template <class Facet>
double volume_by_surface(const Mesh& mesh, Index c) {
  constexpr int D = Facet::dim + 1;
  double volume = 0.0;
  for (int f = 0; f <= D; ++f) {
    const auto nodes = facet_nodes(mesh, {make_id<CellId>(c), f});
    for (const auto& at : collapsed_gauss_rule<Facet::dim>(5)) {
      const auto N = Facet::shape(at.xi);
      const auto dN = Facet::derivative(at.xi);
      Eigen::Vector3d X = Eigen::Vector3d::Zero(), r = X, s = X;
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (int i = 0; i < D; ++i) {
          const double x = mesh.point(nodes[a])[static_cast<std::size_t>(i)];
          X(i) += N[a] * x;
          r(i) += dN[a][0] * x;
          if constexpr (D == 3) s(i) += dN[a][1] * x;
        }
      if (D == 2) s = Eigen::Vector3d::UnitZ();
      volume += at.weight * X.dot(r.cross(s)) / D;
    }
  }
  return volume;
}

double volume_by_surface(const Mesh& mesh, Index c) {
  switch (mesh.cells().types[static_cast<std::size_t>(c)]) {
    case CellType::triangle3: return volume_by_surface<Line2>(mesh, c);
    case CellType::triangle6: return volume_by_surface<Line3>(mesh, c);
    case CellType::tetrahedron4: return volume_by_surface<Triangle3>(mesh, c);
    case CellType::tetrahedron10: return volume_by_surface<Triangle6>(mesh, c);
    default: return mesh.point(mesh.cells()[c][1])[0] - mesh.point(mesh.cells()[c][0])[0];
  }
}

TEST_P(EveryBody, mass_shares_are_positive_and_sum_to_density_times_volume) {
  double total = 0.0;
  for (Index k = 0; k < size(); ++k) {
    const double volume = volume_by_surface(mesh(), index(cells().cell(k)));
    double sum = 0.0;
    for (const double share : test::masses(cells(), k)) {
      EXPECT_GT(share, 0.0);
      sum += share;
    }
    EXPECT_NEAR(sum, density * volume, 1e-14 * density * volume + 1e-16);
    EXPECT_NEAR(cells().volume(k), volume, 1e-14 * volume + 1e-16);
    total += sum;
  }
  const auto mass = body.model->mass();
  EXPECT_NEAR(std::accumulate(mass.begin(), mass.end(), 0.0), total, 1e-13 * total);
}

TEST(ElasticCells, shares_of_nearly_straight_cells_are_those_of_straight_ones) {
  for (const auto& [straight, bent] : {std::pair(test::triangle_mesh(CellType::triangle6, 2, 0.1, 3),
                                                 test::triangle_mesh(CellType::triangle6, 2, 0.1, 3, 1e-9)),
                                       std::pair(test::tetrahedron_mesh(CellType::tetrahedron10, 1, 0.1, 3),
                                                 test::tetrahedron_mesh(CellType::tetrahedron10, 1, 0.1, 3, 1e-9))}) {
    const Body a = test::make_body(straight, NeoHookean{lame}, density);
    const Body b = test::make_body(bent, NeoHookean{lame}, density);
    for (Index k = 0; k < a.cells().size(); ++k)
      for (std::size_t i = 0; i < a.cells().stencil(k).size(); ++i)
        EXPECT_NEAR(a.cells().mass(k, i), b.cells().mass(k, i), 1e-7 * a.cells().mass(k, i));
  }
}

// Exact: a 2-node bar of length L has omega = 2 c / L, so its stable step is L / c.
TEST(ElasticCells, stable_step_of_a_bar_is_its_length_over_the_wave_speed) {
  const Body body = test::make_body(test::bar_mesh(4, 0.2, 9), LinearElastic{lame}, density);
  const std::vector<double> u(5, 0.0);
  for (Index k = 0; k < 4; ++k)
    EXPECT_NEAR(body.cells().stable_step(k, u, test::masses(body.cells(), k)),
                body.cells().volume(k) / dilatational_wave_speed(lame, density), 1e-15);
}

TEST(ElasticCells, a_term_without_stiffness_has_no_largest_step) {
  const Body body = test::make_body(test::bar_mesh(1), SaintVenantKirchhoff{lame}, density);
  const std::vector<double> collapsed = {0.0, -0.5};  // past the limit stretch 0.58: negative stiffness
  EXPECT_EQ(body.cells().stable_step(0, collapsed, test::masses(body.cells(), 0)),
            std::numeric_limits<double>::infinity());
  EXPECT_TRUE(body.cells().step_is_stable(0, collapsed, test::masses(body.cells(), 0), 1e10));
}

// Uniaxial strain F = diag(s, 1, 1): sigma_XX = P_XX, sigma_YY = sigma_ZZ = P_YY / s.
TEST(ElasticCells, cauchy_stress_of_uniaxial_strain_has_its_out_of_plane_components) {
  const double s = 1.25, E = 0.5 * (s * s - 1.0);
  for (const auto& mesh_case : test::mesh_cases()) {
    SCOPED_TRACE(mesh_case.name);
    const auto expect = [&](const Material& material, double axial, double lateral) {
      const Body body = test::make_body(mesh_case.make(), material, density);
      std::vector<double> A(static_cast<std::size_t>(body.mesh->dim() * body.mesh->dim()), 0.0);
      A[0] = s - 1.0;
      const auto u = test::affine_displacements(*body.mesh, A, {0.1, 0.2, 0.3});
      for (Index k = 0; k < body.cells().size(); ++k) {
        const auto sigma = body.cells().cauchy_stress(k, u);
        const std::array<double, 6> expected = {axial, lateral, lateral, 0.0, 0.0, 0.0};
        for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(sigma[c], expected[c], 1e-13) << c;
      }
    };
    expect(NeoHookean{lame}, lame.lambda * std::log(s) / s + lame.mu * (s - 1.0 / s), lame.lambda * std::log(s) / s);
    expect(SaintVenantKirchhoff{lame}, s * (lame.lambda + 2.0 * lame.mu) * E, lame.lambda * E / s);
  }
}

// Simple shear g of a neo-Hookean body: sigma = mu (B - 1), so the shear stress is mu g in its own place only.
TEST(ElasticCells, cauchy_stress_components_are_in_the_order_of_the_documentation) {
  const Body body = test::make_body(test::tetrahedron_mesh(CellType::tetrahedron4, 1, 0.1, 2), NeoHookean{lame}, 1.0);
  const double g = 0.3;
  const std::array<std::array<std::size_t, 3>, 3> shears = {{{0, 1, 3}, {1, 2, 4}, {0, 2, 5}}};  // i, J, place
  for (const auto& [i, J, place] : shears) {
    std::vector<double> A(9, 0.0);
    A[i * 3 + J] = g;
    const auto sigma = body.cells().cauchy_stress(3, test::affine_displacements(*body.mesh, A, {0, 0, 0}));
    std::array<double, 6> expected{};
    expected[i] = lame.mu * g * g;
    expected[place] = lame.mu * g;
    for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(sigma[c], expected[c], 1e-14) << c;
  }
}

// However large H is: P F^T / det F would be another, and not symmetric.
TEST(ElasticCells, stress_of_linear_elasticity_is_that_of_its_law) {
  const Body body =
      test::make_body(test::tetrahedron_mesh(CellType::tetrahedron4, 1, 0.1, 2), LinearElastic{lame}, 1.0);
  const std::vector<double> A = {0.2, 0.3, 0.0, -0.1, 0.1, 0.05, 0.0, 0.15, -0.05};
  const auto sigma = body.cells().cauchy_stress(3, test::affine_displacements(*body.mesh, A, {0, 0, 0}));
  const double p = lame.lambda * (0.2 + 0.1 - 0.05), mu = lame.mu;
  const std::array<double, 6> expected = {p + 0.4 * mu, p + 0.2 * mu, p - 0.1 * mu, 0.2 * mu, 0.2 * mu, 0.0};
  for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(sigma[c], expected[c], 1e-14) << c;
}

TEST(ElasticCells, cauchy_stress_turns_with_the_body) {
  const Body body = test::make_body(test::triangle_mesh(CellType::triangle3, 1, 0.1, 2), NeoHookean{lame}, 1.0);
  const double s = 1.25;  // stretched along x, then turned by 90 degrees: now along y
  const auto u = test::affine_displacements(*body.mesh, {-1.0, -1.0, s, -1.0}, {0, 0});
  const auto sigma = body.cells().cauchy_stress(0, u);
  EXPECT_NEAR(sigma[1], lame.lambda * std::log(s) / s + lame.mu * (s - 1.0 / s), 1e-14);
  EXPECT_NEAR(sigma[0], lame.lambda * std::log(s) / s, 1e-14);
  EXPECT_NEAR(sigma[3], 0.0, 1e-14);
}

std::string refusal(const Mesh& mesh, double rho = 1.0) {
  try {
    make_elastic_cells(mesh, mesh.cells().types[0], {CellId{0}}, NeoHookean{lame}, rho);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

void expect_words(const std::string& message, std::initializer_list<const char*> words) {
  for (const char* word : words) EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
}

TEST(ElasticCells, inverted_cells_are_refused_with_label_and_centroid) {
  expect_words(refusal(test::mesh_of(1, {1, 0}, CellType::line2, {{0, 1}})), {"cell 1", "0.5", "inverted"});
  expect_words(refusal(test::mesh_of(2, {0, 0, 0, 3, 3, 0}, CellType::triangle3, {{0, 1, 2}})),
               {"cell 1", "(1, 1)", "inverted"});
  expect_words(refusal(test::mesh_of(3, {0, 0, 0, 0, 4, 0, 4, 0, 0, 0, 0, 4}, CellType::tetrahedron4, {{0, 1, 2, 3}})),
               {"cell 1", "(1, 1, 1)", "inverted"});
}

TEST(ElasticCells, flat_cells_are_refused_with_label_and_centroid) {
  expect_words(refusal(test::mesh_of(1, {1, 1}, CellType::line2, {{0, 1}})), {"cell 1", "zero volume"});
  expect_words(refusal(test::mesh_of(2, {0, 0, 1, 1, 2, 2}, CellType::triangle3, {{0, 1, 2}})),
               {"cell 1", "(1, 1)", "zero volume"});
  expect_words(refusal(test::mesh_of(3, {0, 0, 0, 3, 0, 0, 0, 3, 0, 1, 1, 0}, CellType::tetrahedron4, {{0, 1, 2, 3}})),
               {"cell 1", "(1, 1, 0)", "zero volume"});
}

// Middle of the first edge pushed through the opposite side of the reference triangle; or just far enough for the
// determinant to change sign near a vertex while it is positive at the stiffness rule's points.
TEST(ElasticCells, folded_cells_are_refused_with_label_and_centroid) {
  const auto bent = [](double y) {
    return test::mesh_of(2, {0, 0, 3, 0, 0, 3, 1.5, y, 1.5, 1.5, 0, 1.5}, CellType::triangle6, {{0, 1, 2, 3, 4, 5}});
  };
  EXPECT_EQ(refusal(bent(0.5)), "");
  expect_words(refusal(bent(2.5)), {"cell 1", "(1, 1)"});
  expect_words(refusal(bent(1.0)), {"cell 1", "(1, 1)", "folded"});
}

TEST(ElasticCells, density_must_be_positive_and_finite) {
  for (const double rho : {0.0, -7800.0, std::nan(""), std::numeric_limits<double>::infinity()})
    expect_words(refusal(test::bar_mesh(1), rho), {"density", "> 0"});
}

TEST(ElasticCells, a_cell_without_an_element_is_refused_by_name) {
  const Mesh mesh = test::mesh_of(1, {0, 1, 0.5}, CellType::line3, {{0, 1, 2}});
  expect_words(refusal(mesh), {"3-node line"});
}

TEST(ElasticCells, describes_a_cell_by_label_and_centroid) {
  const Body body = test::make_body(test::triangle_mesh(CellType::triangle3, 1), NeoHookean{lame}, 1.0);
  expect_words(body.cells().describe(1), {"cell 2", "0.333333", "0.666667"});
}

}  // namespace
}  // namespace tempi
