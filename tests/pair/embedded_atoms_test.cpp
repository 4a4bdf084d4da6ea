// SPDX-License-Identifier: Apache-2.0
#include "tempi/pair/embedded_atoms.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "support/pair_cases.hpp"
#include "support/runs.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using namespace test;

std::vector<NodeId> nodes_up_to(std::size_t count) {
  std::vector<NodeId> nodes;
  for (std::size_t a = 0; a < count; ++a) nodes.push_back(make_id<NodeId>(static_cast<Index>(a)));
  return nodes;
}

// By hand: a row of three.
TEST(EmbeddedAtoms, have_the_energy_of_their_density) {
  const std::vector<double> X = {0.0, 1.0, 2.5}, u(3, 0.0);
  const auto atoms = make_embedded_atoms(X, 1, nodes_up_to(3), {3.0, 2.0, 2.0});
  const double near = std::pow(1.0 - 1.0 / 2.0, 2), far = std::pow(1.0 - 1.5 / 2.0, 2);  // 2.5 is beyond
  EXPECT_DOUBLE_EQ(atoms->energy(0, u, 0.0), -3.0 * (std::sqrt(near) + std::sqrt(near + far) + std::sqrt(far)));
  // not a sum over pairs
  const double pairs = -3.0 * 2.0 * (std::sqrt(near) + std::sqrt(far));
  EXPECT_GT(std::abs(atoms->energy(0, u, 0.0) - pairs), 0.1);
}

struct Cloud {
  int dim;
  bool periodic;
  double exponent;
};

class EmbeddedAtomsAnywhere : public testing::TestWithParam<Cloud> {
 protected:
  static constexpr std::size_t count = 18;
  int dim = GetParam().dim;
  double radius = dim == 1 ? 12.0 : dim == 2 ? 3.0 : 2.0;
  std::vector<double> X = random_cloud(dim, count, radius, 0.7, 31);
  std::unique_ptr<Potential> atoms =
      make_embedded_atoms(X, dim, nodes_up_to(count), {2.0, 1.9, GetParam().exponent},
                          GetParam().periodic ? Box({2.0 * radius, 2.0 * radius, {}}) : Box(), 0.1);
  std::vector<double> moved() const {
    Random random(32);
    std::vector<double> u(X.size());
    for (double& x : u) x = random.uniform(-0.25, 0.25);
    return u;
  }
};

TEST_P(EmbeddedAtomsAnywhere, have_the_gradient_and_hessian_of_their_energy) {
  const auto u = moved();
  EXPECT_LT(check_gradient(*atoms, 0, u, 0.0, 1e-5), 1e-8);
  const auto gradient = [&](const std::vector<double>& at) {
    std::vector<double> g(at.size(), 0.0);
    EXPECT_GT(atoms->add_gradient(0, at, 0.0, g), 0.0);
    return g;
  };
  const auto n = static_cast<Eigen::Index>(u.size());
  const auto d = static_cast<std::size_t>(dim);
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(n, n), expected(n, n);
  atoms->each_hessian_piece(0, u, 0.0, [&](std::span<const NodeId> nodes, std::span<const double> part) {
    const std::size_t m = nodes.size() * d;
    const auto at = [&](std::size_t i) { return index(nodes[i / d]) * dim + static_cast<Index>(i % d); };
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < m; ++j) H(at(i), at(j)) += part[i * m + j];
  });
  for (Eigen::Index j = 0; j < n; ++j) {
    auto up = u, down = u;
    up[static_cast<std::size_t>(j)] += 1e-5;
    down[static_cast<std::size_t>(j)] -= 1e-5;
    const auto g_up = gradient(up), g_down = gradient(down);
    for (Eigen::Index i = 0; i < n; ++i)
      expected(i, j) = (g_up[static_cast<std::size_t>(i)] - g_down[static_cast<std::size_t>(i)]) / 2e-5;
  }
  EXPECT_LT((H - expected).cwiseAbs().maxCoeff(), 1e-6 * expected.cwiseAbs().maxCoeff());
}

TEST_P(EmbeddedAtomsAnywhere, are_the_sum_of_their_terms_each_of_which_is_in_balance) {
  const auto u = moved();
  const auto d = static_cast<std::size_t>(dim);
  std::vector<double> expected(u.size(), 0.0), sum(u.size(), 0.0);
  atoms->add_gradient(0, u, 0.0, expected);
  TermKey last = term_key(NodeId{-1});
  atoms->as_sum()->each_present(u, 0.0, [&](const ManyBodySum::Present& term) {
    EXPECT_LT(last, term.key);
    last = term.key;
    EXPECT_EQ(term.key[0], term.nodes[0]);
    std::array<double, 3> total{};
    for (std::size_t i = 0; i < term.gradient.size(); ++i) {
      sum[static_cast<std::size_t>(index(term.nodes[i / d])) * d + i % d] += term.gradient[i];
      total[i % d] += term.gradient[i];
    }
    for (const double t : total) EXPECT_NEAR(t, 0.0, 1e-13);
  });
  EXPECT_LT(largest_difference(sum, expected), 1e-14 * largest(expected));
}

TEST_P(EmbeddedAtomsAnywhere, know_their_stable_step) {
  const auto u = moved();
  const auto n = static_cast<Eigen::Index>(u.size());
  const std::vector<double> shares(count, 1.5);
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(n, n);
  const auto d = static_cast<std::size_t>(dim);
  atoms->each_hessian_piece(0, u, 0.0, [&](std::span<const NodeId> nodes, std::span<const double> part) {
    const std::size_t m = nodes.size() * d;
    const auto at = [&](std::size_t i) { return index(nodes[i / d]) * dim + static_cast<Index>(i % d); };
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < m; ++j) H(at(i), at(j)) += part[i * m + j];
  });
  const double largest_eigenvalue = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(H / 1.5).eigenvalues()(n - 1);
  if (largest_eigenvalue < 1e-12) {  // on a line all curvatures are negative: nothing vibrates
    EXPECT_EQ(dim, 1);
    EXPECT_GT(atoms->stable_step(0, u, shares), 1e6);
    return;
  }
  const double stable = 2.0 / std::sqrt(largest_eigenvalue);
  EXPECT_NEAR(atoms->stable_step(0, u, shares), stable, 1e-3 * stable);
  EXPECT_TRUE(atoms->step_is_stable(0, u, shares, 0.2 * stable));
  EXPECT_TRUE(atoms->step_is_stable(0, u, shares, 0.995 * stable));
  EXPECT_FALSE(atoms->step_is_stable(0, u, shares, 1.005 * stable));
}

INSTANTIATE_TEST_SUITE_P(Clouds, EmbeddedAtomsAnywhere,
                         testing::Values(Cloud{1, false, 4.0}, Cloud{2, false, 4.0}, Cloud{2, true, 3.0},
                                         Cloud{3, false, 2.0}, Cloud{3, false, 4.5}),
                         [](const auto& of) { return "Cloud" + std::to_string(of.index); });

TEST(EmbeddedAtoms, refuse_what_makes_no_sense) {
  const std::vector<double> X = {0.0, 1.0}, same = {1.0, 1.0};
  EXPECT_THROW(make_embedded_atoms(X, 1, nodes_up_to(2), {0.0, 2.0, 4.0}), InputError);
  EXPECT_THROW(make_embedded_atoms(X, 1, nodes_up_to(2), {1.0, 2.0, 1.5}), InputError);
  EXPECT_THROW(make_embedded_atoms(X, 1, nodes_up_to(2), {1.0, 2.0, 4.0}, Box({3.0, {}, {}})), InputError);
  EXPECT_THROW(make_embedded_atoms(same, 1, nodes_up_to(2), {1.0, 2.0, 4.0}), InputError);
  EXPECT_THROW(make_embedded_atoms(X, 1, {NodeId{0}}, {1.0, 2.0, 4.0}), InputError);
  EXPECT_THROW(make_embedded_atoms(X, 1, {NodeId{0}, NodeId{7}}, {1.0, 2.0, 4.0}), InputError);
}

}  // namespace
}  // namespace tempi
