// SPDX-License-Identifier: Apache-2.0
#include "tempi/pair/pair_sum.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "support/pair_cases.hpp"
#include "support/runs.hpp"
#include "tempi/core/error.hpp"
#include "tempi/space/neighbour_pairs.hpp"

namespace tempi {
namespace {

using namespace test;

constexpr std::size_t count = 40;
constexpr double box_length = 6.0;

// Of every second node.
std::vector<NodeId> some_nodes() {
  std::vector<NodeId> nodes;
  for (std::size_t a = 0; a < count; a += 2) nodes.push_back(make_id<NodeId>(static_cast<Index>(a)));
  return nodes;
}
std::vector<NodePair> their_pairs() {
  std::vector<NodePair> pairs;
  for (const NodeId a : some_nodes())
    for (const NodeId b : some_nodes())
      if (a < b) pairs.push_back({a, b});
  return pairs;
}

class PairSumOfEveryLaw : public testing::TestWithParam<LawCase> {
 public:
  // visit(sum, the same pairs as terms, displacements), at the reference positions and after two moves.
  template <class Visit>
  void everywhere(Visit&& visit) const {
    for (const int dim : {1, 2, 3})
      for (const bool periodic : {false, true}) {
        if (dim == 1 && periodic) continue;
        SCOPED_TRACE(testing::Message() << dim << "-D" << (periodic ? " in a box" : ""));
        const auto X = random_cloud(dim, count, dim == 1 ? 30.0 : 3.0, 0.6, 41);
        const std::vector<double> mass(count, 1.5);
        Box::Lengths lengths;
        for (int c = 0; periodic && c < dim; ++c) lengths[static_cast<std::size_t>(c)] = box_length;
        const Box box(lengths);
        const auto sum = make_pair_sum(X, dim, mass, some_nodes(), GetParam().make(), box);
        const auto pairs = make_pairs(X, dim, mass, their_pairs(), GetParam().make(), box);
        for (const unsigned seed : {0u, 1u, 2u}) {
          // Somewhere else altogether: not a pair is where it was.
          const auto moved = random_cloud(dim, count, dim == 1 ? 30.0 : 3.0, 0.6, 42 + seed);
          std::vector<double> u(X.size(), 0.0);
          for (std::size_t i = 0; i < u.size() && seed > 0; ++i) u[i] = moved[i] - X[i];
          visit(*sum, *pairs, u);
        }
      }
  }
};

std::vector<double> gradient(const Potential& potential, std::span<const double> u) {
  const auto d = static_cast<std::size_t>(potential.dim());
  std::vector<double> all(u.size(), 0.0);
  for (Index k = 0; k < potential.size(); ++k) {
    const auto nodes = potential.stencil(k);
    std::vector<double> g(nodes.size() * d, 0.0);
    EXPECT_GT(potential.add_gradient(k, u, 0.0, g), 0.0);
    for (std::size_t i = 0; i < g.size(); ++i) all[static_cast<std::size_t>(index(nodes[i / d])) * d + i % d] += g[i];
  }
  return all;
}
Eigen::MatrixXd hessian(const Potential& potential, std::span<const double> u) {
  const auto n = static_cast<Index>(u.size()), d = static_cast<Index>(potential.dim());
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(n, n);
  const auto add = [&](std::span<const NodeId> nodes, std::span<const double> H) {
    const auto m = static_cast<Index>(nodes.size()) * d;
    const auto at = [&](Index i) { return index(nodes[static_cast<std::size_t>(i / d)]) * d + i % d; };
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < m; ++j) all(at(i), at(j)) += H[static_cast<std::size_t>(i * m + j)];
  };
  for (Index k = 0; k < potential.size(); ++k) potential.each_hessian_piece(k, u, 0.0, add);
  return all;
}

TEST_P(PairSumOfEveryLaw, is_the_sum_of_all_pairs_wherever_they_are) {
  everywhere([](const Potential& sum, const Potential& pairs, const std::vector<double>& u) {
    double V = 0.0, scale = 0.0;
    for (Index k = 0; k < pairs.size(); ++k) {
      V += pairs.energy(k, u, 0.0);
      scale += std::abs(pairs.energy(k, u, 0.0));
    }
    EXPECT_NEAR(sum.energy(0, u, 0.0), V, 1e-14 * scale);
    const auto expected = gradient(pairs, u);
    EXPECT_LT(largest_difference(gradient(sum, u), expected), 1e-14 * largest(expected));
    const Eigen::MatrixXd H = hessian(pairs, u);
    EXPECT_LT((hessian(sum, u) - H).cwiseAbs().maxCoeff(), 1e-14 * H.cwiseAbs().maxCoeff());
  });
}

// Whatever else its list holds.
TEST_P(PairSumOfEveryLaw, has_the_same_bits_with_a_list_of_any_width) {
  const auto X = random_cloud(3, count, 3.0, 0.6, 41);
  const std::vector<double> mass(count, 1.5);
  std::vector<double> u(X.size(), 0.0);
  Random random(3);
  for (double& x : u) x = random.uniform(-0.04, 0.04);
  const auto narrow = make_pair_sum(X, 3, mass, some_nodes(), GetParam().make(), {}, 0.0);
  const auto wide = make_pair_sum(X, 3, mass, some_nodes(), GetParam().make(), {}, 1.0);
  EXPECT_TRUE(same_bits(gradient(*narrow, u), gradient(*wide, u)));
  EXPECT_EQ(narrow->energy(0, u, 0.0), wide->energy(0, u, 0.0));
}

INSTANTIATE_TEST_SUITE_P(OfNodes, PairSumOfEveryLaw, testing::ValuesIn(law_cases()),
                         [](const auto& of) { return of.param.name; });

// It crosses the skin and the whole cutoff between one evaluation and the next.
TEST(PairSum, sees_who_comes_from_far_in_one_go) {
  const std::vector<double> X = {0.0, 0.0, 10.0, 0.0}, m = {1.0, 1.0};
  const LennardJones law{1.0, 1.0, 2.5};
  const auto sum = make_pair_sum(X, 2, m, {NodeId{0}, NodeId{1}}, law, {}, 0.3);
  std::vector<double> u(4, 0.0);
  EXPECT_EQ(sum->energy(0, u, 0.0), 0.0);
  u[2] = -8.9;
  EXPECT_DOUBLE_EQ(sum->energy(0, u, 0.0), law.at(10.0 - 8.9).V);
  // control: the list made at first has nobody
  EXPECT_TRUE(pairs_within(X, 2, 2.8).empty());
}

TEST(PairSum, multiplies_gravitation_by_both_masses) {
  const std::vector<double> X = {0.0, 0.5, 2.0}, m = {2.0, 0.7, 1.3}, u(3, 0.0);
  const auto sum = make_pair_sum(X, 1, m, {NodeId{2}, NodeId{0}}, Gravitation{0.5});
  EXPECT_DOUBLE_EQ(sum->energy(0, u, 0.0), -0.5 * 2.0 * 1.3 / 2.0);
  EXPECT_EQ(sum->stencil(0)[0], NodeId{0});
}

// Lanczos against all eigenvalues.
TEST(PairSum, stable_step_is_two_over_the_largest_frequency_of_all_its_pairs) {
  const auto X = random_cloud(3, count, 2.4, 0.9, 44);
  std::vector<double> mass(count);
  Random random(9);
  for (double& m : mass) m = random.uniform(0.5, 2.0);
  std::vector<NodeId> nodes;
  for (std::size_t a = 0; a < count; ++a) nodes.push_back(make_id<NodeId>(static_cast<Index>(a)));
  const auto sum = make_pair_sum(X, 3, mass, nodes, LennardJones{1.0, 1.0, 2.5});
  const std::vector<double> u(X.size(), 0.0);
  Eigen::MatrixXd A = hessian(*sum, u);
  for (Index i = 0; i < A.rows(); ++i)
    for (Index j = 0; j < A.cols(); ++j)
      A(i, j) /= std::sqrt(mass[static_cast<std::size_t>(i / 3)] * mass[static_cast<std::size_t>(j / 3)]);
  const double exact = 2.0 / std::sqrt(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(A).eigenvalues()(A.rows() - 1));
  EXPECT_NEAR(sum->stable_step(0, u, mass), exact, 1e-3 * exact);
  for (const double part : {0.1, 0.9, 0.998}) EXPECT_TRUE(sum->step_is_stable(0, u, mass, part * exact)) << part;
  for (const double part : {1.002, 2.0}) EXPECT_FALSE(sum->step_is_stable(0, u, mass, part * exact)) << part;
}

TEST(PairSum, of_nobody_near_has_no_limit_and_where_particles_meet_no_stable_step) {
  const std::vector<double> X = {0.0, 9.0}, m = {1.0, 1.0};
  const auto sum = make_pair_sum(X, 1, m, {NodeId{0}, NodeId{1}}, LennardJones{1.0, 1.0, 2.5});
  EXPECT_EQ(sum->stable_step(0, std::vector{0.0, 0.0}, m), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(sum->step_is_stable(0, std::vector{0.0, 0.0}, m, 1e9));
  EXPECT_FALSE(sum->step_is_stable(0, std::vector{9.0, 0.0}, m, 1e-9));
  EXPECT_FALSE(sum->step_is_stable(0, std::vector{0.0, std::nan("")}, m, 1e-9));
}

std::string fault_at(const Potential& potential, Index k, const std::vector<double>& u) {
  std::vector<double> g(potential.stencil(k).size() * static_cast<std::size_t>(potential.dim()), 0.0);
  const double admissibility = potential.add_gradient(k, u, 0.0, g);
  EXPECT_FALSE(admissibility > 0.0);
  return potential.fault(k, u, 0.25, admissibility);
}

TEST(PairSum, names_both_particles_that_meet_and_one_that_is_nowhere) {
  const std::vector<double> X = {0.0, 0.0, 1.5, 0.0, 3.0, 0.0}, m = {1.0, 1.0, 1.0};
  const LennardJones law{1.0, 1.0, 2.5};
  const auto sum = make_pair_sum(X, 2, m, {NodeId{0}, NodeId{1}, NodeId{2}}, law);
  const std::string met =
      " of nodes 1 and 2 at (3, 0) and (3, 0) has met at t = 0.25 s (its distance is 0 m). Try smaller steps, or "
      "initial "
      "positions and velocities that keep its nodes apart.";
  const std::vector<double> meeting = {0.0, 0.0, 1.5, 0.0, 0.0, 0.0}, lost = {0.0, 0.0, 0.0, std::nan(""), 0.0, 0.0};
  EXPECT_EQ(fault_at(*sum, 0, meeting), "the pair" + met);
  EXPECT_EQ(fault_at(*sum, 0, lost),
            "node 1 of the pair sum over 3 nodes is at (1.5, nan) at t = 0.25 s (must be finite). The run has become "
            "unstable: try smaller steps.");
  const auto pairs = make_pairs(X, 2, m, all_pairs(3), law);
  EXPECT_EQ(fault_at(*pairs, 2, meeting), "pair 2" + met);
  EXPECT_EQ(fault_at(*pairs, 0, lost),
            "pair 0 of nodes 0 and 1 at (0, 0) and (1.5, nan) has a position that is not finite at t = 0.25 s. The run "
            "has become unstable: try smaller steps.");
}

std::string refusal(const std::vector<double>& X, std::vector<NodeId> nodes, std::optional<double> skin = {},
                    const Box& box = {}) {
  try {
    make_pair_sum(X, 2, std::vector<double>(X.size() / 2, 1.0), std::move(nodes), LennardJones{1.0, 1.0, 2.5}, box,
                  skin);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

// Of many sizes: each pair has its own law, wherever they are and however the list is made.
TEST(SphereSum, is_the_sum_of_hertz_contacts_of_all_pairs) {
  constexpr double modulus = 7e3;
  for (const int dim : {1, 2, 3})
    for (const bool periodic : {false, true}) {
      if (dim == 1 && periodic) continue;
      SCOPED_TRACE(testing::Message() << dim << "-D" << (periodic ? " in a box" : ""));
      const auto X = random_cloud(dim, count, dim == 1 ? 30.0 : 3.0, 0.3, 41);
      std::vector<double> radii(count);
      for (std::size_t a = 0; a < count; ++a) radii[a] = 0.6 + 0.5 * std::fmod(0.618 * static_cast<double>(a), 1.0);
      Box::Lengths lengths;
      for (int c = 0; periodic && c < dim; ++c) lengths[static_cast<std::size_t>(c)] = box_length;
      const Box box(lengths);
      const auto sum = make_sphere_sum(X, dim, radii, some_nodes(), modulus, box);
      std::vector<PairLaw> laws;
      for (const auto& [a, b] : their_pairs()) {
        const double Ra = radii[ordinal(a)], Rb = radii[ordinal(b)];
        laws.emplace_back(Hertz{modulus * std::sqrt(Ra * Rb / (Ra + Rb)), Ra + Rb});
      }
      const auto pairs = make_pairs(X, dim, std::vector<double>(count, 1.0), their_pairs(), std::move(laws), box);
      for (const unsigned seed : {0u, 1u, 2u}) {
        const auto moved = random_cloud(dim, count, dim == 1 ? 30.0 : 3.0, 0.3, 42 + seed);
        std::vector<double> u(X.size(), 0.0);
        for (std::size_t i = 0; i < u.size() && seed > 0; ++i) u[i] = moved[i] - X[i];
        double V = 0.0;
        std::vector<double> g(X.size(), 0.0), of_sum(some_nodes().size() * static_cast<std::size_t>(dim), 0.0);
        const auto d = static_cast<std::size_t>(dim);
        for (Index k = 0; k < pairs->size(); ++k) {
          V += pairs->energy(k, u, 0.0);
          std::vector<double> mine(2 * d, 0.0);
          pairs->add_gradient(k, u, 0.0, mine);
          for (std::size_t i = 0; i < 2 * d; ++i) g[ordinal(pairs->stencil(k)[i / d]) * d + i % d] += mine[i];
        }
        EXPECT_GT(V, 0.0);
        EXPECT_NEAR(sum->energy(0, u, 0.0), V, 1e-13 * V);
        sum->add_gradient(0, u, 0.0, of_sum);
        double scale = 0.0;
        for (const double f : g) scale = std::max(scale, std::abs(f));
        const auto nodes = some_nodes();
        for (std::size_t i = 0; i < of_sum.size(); ++i)
          EXPECT_NEAR(of_sum[i], g[ordinal(nodes[i / d]) * d + i % d], 1e-13 * scale);
        // And by its batch.
        std::vector<NodeLine> lines(count);
        std::vector<std::int32_t> place(count);
        for (std::size_t a = 0; a < count; ++a) {
          place[a] = static_cast<std::int32_t>(a);
          for (std::size_t c = 0; c < d; ++c) lines[a].displacement[c] = u[a * d + c];
        }
        const auto batch = sum->batch(std::array{Index{0}}, place);
        std::vector<double> energy(1, 0.0), gradient(of_sum.size(), 0.0);
        batch->measure(0, 1, 0.0, lines, energy, gradient);
        EXPECT_NEAR(energy[0], V, 1e-12 * V);
        for (std::size_t i = 0; i < gradient.size(); ++i) EXPECT_NEAR(gradient[i], of_sum[i], 1e-12 * scale);
      }
    }
}

TEST(SphereSum, refuses_a_sphere_without_a_size) {
  const std::vector<double> X = {0.0, 1.0};
  EXPECT_THROW(make_sphere_sum(X, 1, {0.5, 0.0}, {NodeId{0}, NodeId{1}}, 1.0), InputError);
  EXPECT_THROW(make_sphere_sum(X, 1, {0.5, 0.5}, {NodeId{0}, NodeId{1}}, 0.0), InputError);
}

TEST(PairSum, refuses_what_cannot_be) {
  const std::vector<double> X = {0, 0, 1, 0, 1, 0};
  EXPECT_EQ(refusal(X, {NodeId{0}, NodeId{1}}), "");
  EXPECT_EQ(refusal(X, {NodeId{0}, NodeId{3}}), "a pair sum over node 3 (there are 3 nodes, numbered from 0).");
  EXPECT_EQ(refusal(X, {NodeId{1}, NodeId{1}}), "a pair sum has node 1 twice. Give each once.");
  EXPECT_EQ(refusal(X, {NodeId{1}}), "a pair sum has fewer than two nodes.");
  EXPECT_EQ(refusal(X, {NodeId{0}, NodeId{1}}, -0.1), "skin = -0.1 m (must be >= 0).");
  EXPECT_EQ(refusal(X, {NodeId{2}, NodeId{1}}),
            "the pair of nodes 1 and 2 at (1, 0) and (1, 0) has the length 0 m (must be > 0). Move one of the nodes.");
  EXPECT_EQ(refusal(X, {NodeId{0}, NodeId{1}}, {}, Box({5.0, 5.0, std::nullopt})), "");
  EXPECT_NE(refusal(X, {NodeId{0}, NodeId{1}}, {}, Box({4.9, 5.0, std::nullopt})), "");
}

}  // namespace
}  // namespace tempi
