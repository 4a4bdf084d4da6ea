// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/linearised.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "support/meshes.hpp"

namespace tempi {
namespace {

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A strained body of every element and material, and its linear potential there.
struct Case {
  Case(const test::MeshCase& mesh, const Material& material)
      : body(test::make_body(mesh.make(), material, 2.5)),
        u(test::random_displacements(*body.mesh, 0.02, 4)),
        linear(linearise(original(), u)) {}
  const Potential& original() const { return body.cells(); }

  test::Body body;
  std::vector<double> u;
  std::unique_ptr<Potential> linear;
};
template <class Check>
void in_every_case(Check&& check) {
  for (const auto& mesh : test::mesh_cases())
    for (const Material& material : test::materials()) {
      SCOPED_TRACE(mesh.name + " " + test::name_of(material));
      check(Case(mesh, material));
    }
}

Eigen::VectorXd gradient(const Potential& potential, Index k, std::span<const double> u) {
  const auto n = potential.stencil(k).size() * static_cast<std::size_t>(potential.dim());
  Eigen::VectorXd g = Eigen::VectorXd::Zero(static_cast<Index>(n));
  potential.add_gradient(k, u, 0.0, {g.data(), n});
  return g;
}

Dense hessian(const Potential& potential, Index k, std::span<const double> u) {
  const auto n = static_cast<Index>(potential.stencil(k).size()) * potential.dim();
  Dense H = Dense::Zero(n, n);
  potential.as_local()->add_hessian(k, u, 0.0, {H.data(), static_cast<std::size_t>(n * n)});
  return H;
}

Eigen::VectorXd of_stencil(const Potential& potential, Index k, std::span<const double> u) {
  const int d = potential.dim();
  Eigen::VectorXd local(static_cast<Index>(potential.stencil(k).size()) * d);
  for (Index i = 0; i < local.size(); ++i)
    local(i) = u[static_cast<std::size_t>(index(potential.stencil(k)[static_cast<std::size_t>(i / d)]) * d + i % d)];
  return local;
}

TEST(Linearised, hessian_is_that_of_the_original_symmetric_to_the_bit_and_the_same_everywhere) {
  in_every_case([](const Case& c) {
    const auto elsewhere = test::random_displacements(*c.body.mesh, 0.7, 5);
    for (Index k = 0; k < c.linear->size(); ++k) {
      const Dense K = hessian(*c.linear, k, elsewhere), H = hessian(c.original(), k, c.u);
      EXPECT_EQ((K - K.transpose()).cwiseAbs().maxCoeff(), 0.0);
      EXPECT_LE((K - H).cwiseAbs().maxCoeff(), 1e-14 * H.cwiseAbs().maxCoeff());
    }
  });
}

TEST(Linearised, gradient_is_K_d_and_energy_half_of_d_K_d) {
  in_every_case([](const Case& c) {
    const auto d = test::random_displacements(*c.body.mesh, 0.7, 5);
    for (Index k = 0; k < c.linear->size(); ++k) {
      const Eigen::VectorXd local = of_stencil(*c.linear, k, d), Kd = hessian(*c.linear, k, d) * local;
      EXPECT_LE((gradient(*c.linear, k, d) - Kd).norm(), 1e-14 * Kd.norm());
      EXPECT_NEAR(c.linear->energy(k, d, 0.0), 0.5 * local.dot(Kd), 1e-13 * local.norm() * Kd.norm());
      EXPECT_EQ(c.linear->energy(k, std::vector<double>(d.size(), 0.0), 0.0), 0.0);
    }
  });
}

// (dV/dx(u + e d) - dV/dx(u - e d)) / 2e = K d + O(e^2); up to 50 per K where a cell is nearly folded.
TEST(Linearised, gradient_is_how_the_original_s_changes_along_a_small_displacement) {
  in_every_case([](const Case& c) {
    const double e = 1e-6;
    const auto d = test::random_displacements(*c.body.mesh, 1.0, 6);
    std::vector<double> up = c.u, down = c.u;
    for (std::size_t i = 0; i < d.size(); ++i) up[i] += e * d[i], down[i] -= e * d[i];
    for (Index k = 0; k < c.linear->size(); ++k) {
      const Eigen::VectorXd difference = (gradient(c.original(), k, up) - gradient(c.original(), k, down)) / (2.0 * e);
      EXPECT_LE((gradient(*c.linear, k, d) - difference).norm(), 1e-6 * difference.norm());
    }
  });
}

TEST(Linearised, adds_to_what_is_there_and_never_degenerates) {
  const Case c(test::mesh_cases().front(), NeoHookean{{1.3, 0.7}});
  const std::vector<double> d = test::affine_displacements(*c.body.mesh, {-2.0}, {0.0});  // turned inside out
  std::vector<double> g(2, 0.0), twice(2, 0.0), H(4, 0.0), H_twice(4, 0.0);
  EXPECT_EQ(c.linear->add_gradient(0, d, 0.0, g), 1.0);
  c.linear->add_gradient(0, d, 0.0, twice);
  c.linear->add_gradient(0, d, 0.0, twice);
  c.linear->as_local()->add_hessian(0, d, 0.0, H);
  c.linear->as_local()->add_hessian(0, d, 0.0, H_twice);
  c.linear->as_local()->add_hessian(0, d, 0.0, H_twice);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(twice[i], 2.0 * g[i]);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(H_twice[i], 2.0 * H[i]);
}

TEST(Linearised, stable_step_is_that_of_the_original_at_u) {
  in_every_case([](const Case& c) {
    const std::vector<double> zero(c.u.size(), 0.0);
    for (Index k = 0; k < c.linear->size(); ++k) {
      const auto shares = test::masses(c.original(), k);
      const double expected = c.original().stable_step(k, c.u, shares);
      EXPECT_NEAR(c.linear->stable_step(k, zero, shares), expected, 1e-12 * expected);
    }
  });
}

TEST(Linearised, terms_are_those_of_the_original) {
  in_every_case([](const Case& c) {
    ASSERT_EQ(c.linear->size(), c.original().size());
    EXPECT_EQ(c.linear->dim(), c.original().dim());
    for (Index k = 0; k < c.linear->size(); ++k) {
      EXPECT_TRUE(std::ranges::equal(c.linear->stencil(k), c.original().stencil(k)));
      EXPECT_TRUE(test::masses(*c.linear, k) == test::masses(c.original(), k));
      EXPECT_EQ(c.linear->describe(k), c.original().describe(k));
    }
  });
}

}  // namespace
}  // namespace tempi
