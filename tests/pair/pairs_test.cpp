// SPDX-License-Identifier: Apache-2.0
#include "tempi/pair/pairs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "support/meshes.hpp"
#include "support/pair_cases.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using test::Random;

const std::vector<double> masses = {2.0, 0.7, 1.3};
const std::vector<NodePair> first_and_last = {{NodeId{0}, NodeId{2}}};
constexpr double box_length = 6.0;

Box periodic_box(int dim) {
  Box::Lengths lengths;
  for (int c = 0; c < dim; ++c) lengths[static_cast<std::size_t>(c)] = box_length;
  return Box(lengths);
}

enum class Space { open, periodic };

// Nodes 0 and 2 of three at a distance r in a random direction: partly by their reference positions, partly by their
// displacements, and in a box some lengths of it apart.
struct Configuration {
  Configuration(int dim, double r, Space space, unsigned seed) {
    Random random(seed);
    const auto d = static_cast<std::size_t>(dim);
    std::array<double, 3> w{};
    double norm = 0.0;
    for (std::size_t c = 0; c < d; ++c) w[c] = random.uniform(0.2, 1.0) * (random.below(2) == 0 ? 1.0 : -1.0);
    for (const double x : w) norm += x * x;
    reference.resize(3 * d);
    u.resize(3 * d);
    for (double& x : reference) x = random.uniform(-1.0, 1.0);
    for (double& x : u) x = random.uniform(-1.0, 1.0);
    for (std::size_t c = 0; c < d; ++c) {
      u[2 * d + c] = reference[c] + u[c] + w[c] * r / std::sqrt(norm) - reference[2 * d + c];
      if (space == Space::open) continue;
      u[2 * d + c] += box_length * static_cast<double>(random.below(5) - 2);
      reference[c] += box_length * static_cast<double>(random.below(5) - 2);
    }
  }
  std::vector<double> reference, u;
};

std::vector<double> gradient(const Potential& potential, Index k, std::span<const double> u) {
  std::vector<double> g(2 * static_cast<std::size_t>(potential.dim()), 0.0);
  potential.add_gradient(k, u, 0.0, g);
  return g;
}

std::vector<double> hessian(const Potential& potential, Index k, std::span<const double> u) {
  const auto n = 2 * static_cast<std::size_t>(potential.dim());
  std::vector<double> H(n * n, 0.0);
  potential.as_local()->add_hessian(k, u, 0.0, H);
  return H;
}

class PairsOfEveryLaw : public testing::TestWithParam<test::LawCase> {
 public:
  // visit(potential, configuration, r) for every dimension, space and distance.
  template <class Visit>
  void everywhere(Visit&& visit) const {
    for (const int dim : {1, 2, 3})
      for (const Space space : {Space::open, Space::periodic})
        for (const double r : GetParam().distances) {
          SCOPED_TRACE(testing::Message() << dim << "-D, r = " << r << (space == Space::open ? "" : " in a box"));
          const Configuration at(dim, r, space, 7);
          const Box box = space == Space::open ? Box() : periodic_box(dim);
          visit(*make_pairs(at.reference, dim, masses, first_and_last, GetParam().make(), box), at, r);
        }
  }
};

TEST_P(PairsOfEveryLaw, have_the_energy_of_their_law) {
  everywhere([&](const Potential& pairs, const Configuration& at, double r) {
    const PairLaw law = GetParam().make();
    const double factor = multiplies_by_masses(law) ? masses[0] * masses[2] : 1.0;
    const double expected = factor * evaluate(law, r).V;
    EXPECT_NEAR(pairs.energy(0, at.u, 0.0), expected, 1e-12 * (std::abs(expected) + 1.0));
  });
}

// Central differences of 1e-5: error 1e-10 r^2 V''' / 6, for the steepest (r^-12) 3e-9 of V'; 1e-10 by rounding.
TEST_P(PairsOfEveryLaw, have_the_gradient_of_their_energy) {
  everywhere([](const Potential& pairs, const Configuration& at, double r) {
    EXPECT_LT(check_gradient(pairs, 0, at.u, 0.0, 1e-5 * r), 1e-8);
  });
}

// Differences of fourth order: error 1e-12 r^4 V^(5) / 30, for the steepest 3e-8 of V''. User's slopes are good to
// 1e-12, which 1e-3 magnifies.
TEST_P(PairsOfEveryLaw, have_the_hessian_of_their_energy) {
  everywhere([](const Potential& pairs, const Configuration& at, double r) {
    const auto d = static_cast<std::size_t>(pairs.dim()), n = 2 * d;
    const std::vector<double> H = hessian(pairs, 0, at.u);
    const double h = 1e-3 * r, scale = test::largest_entry(H);
    for (std::size_t j = 0; j < n; ++j) {
      std::vector<double> moved = at.u, difference(n, 0.0);
      double& x = moved[(j < d ? 0 : 2 * d) + j % d];
      const double x0 = x;
      for (const auto& [step, weight] : {std::pair{-2, 1.0}, {-1, -8.0}, {1, 8.0}, {2, -1.0}}) {
        x = x0 + step * h;
        const std::vector<double> g = gradient(pairs, 0, moved);
        for (std::size_t i = 0; i < n; ++i) difference[i] += weight * g[i] / (12.0 * h);
      }
      for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(H[i * n + j], difference[i], 5e-8 * scale) << i << " " << j;
    }
  });
}

TEST_P(PairsOfEveryLaw, push_both_nodes_alike_and_have_a_symmetric_hessian_to_the_bit) {
  everywhere([](const Potential& pairs, const Configuration& at, double) {
    const auto d = static_cast<std::size_t>(pairs.dim()), n = 2 * d;
    const std::vector<double> g = gradient(pairs, 0, at.u), H = hessian(pairs, 0, at.u);
    for (std::size_t c = 0; c < d; ++c) EXPECT_EQ(g[c] + g[d + c], 0.0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        EXPECT_EQ(H[i * n + j], H[j * n + i]);
        EXPECT_EQ(H[i * n + j] + H[i * n + (j + d) % n], 0.0);
      }
  });
}

TEST_P(PairsOfEveryLaw, add_to_what_is_there_and_return_the_distance) {
  everywhere([](const Potential& pairs, const Configuration& at, double r) {
    std::vector<double> g = gradient(pairs, 0, at.u), H = hessian(pairs, 0, at.u);
    const std::vector<double> once = g, H_once = H;
    EXPECT_NEAR(pairs.add_gradient(0, at.u, 0.0, g), r, 1e-14 * box_length);
    pairs.as_local()->add_hessian(0, at.u, 0.0, H);
    for (std::size_t i = 0; i < g.size(); ++i) EXPECT_EQ(g[i], 2.0 * once[i]);
    for (std::size_t i = 0; i < H.size(); ++i) EXPECT_EQ(H[i], 2.0 * H_once[i]);
  });
}

double energy(const Potential& potential, std::span<const double> u) {
  double V = 0.0;
  for (Index k = 0; k < potential.size(); ++k) V += potential.energy(k, u, 0.0);
  return V;
}

double torque_over_scale(const Potential& pairs, std::span<const double> reference, std::span<const double> u) {
  std::array<double, 3> torque{};
  double scale = 0.0;
  const auto d = static_cast<std::size_t>(pairs.dim());
  for (Index k = 0; k < pairs.size(); ++k) {
    const std::vector<double> g = gradient(pairs, k, u);
    for (std::size_t a = 0; a < 2; ++a) {
      std::array<double, 3> x{}, f{};
      for (std::size_t c = 0; c < d; ++c) {
        const std::size_t i = static_cast<std::size_t>(index(pairs.stencil(k)[a])) * d + c;
        x[c] = reference[i] + u[i];
        f[c] = g[a * d + c];
        scale += std::abs(x[c] * f[c]);
      }
      for (std::size_t c = 0; c < 3; ++c)
        torque[c] += x[(c + 1) % 3] * f[(c + 2) % 3] - x[(c + 2) % 3] * f[(c + 1) % 3];
    }
  }
  return (std::abs(torque[0]) + std::abs(torque[1]) + std::abs(torque[2])) / scale;
}

// Ten nodes; rounding of positions, 2e-16 times their size over the distance, by the steepness 12 of the law.
TEST_P(PairsOfEveryLaw, do_not_feel_translations_and_rotations_and_exert_no_torque) {
  for (const int dim : {1, 2, 3}) {
    SCOPED_TRACE(dim);
    const auto d = static_cast<std::size_t>(dim);
    const std::vector<double> X = test::random_cloud(dim, 10, dim == 1 ? 15.0 : 2.5, 0.7, 3), m(10, 1.5);
    const auto pairs = make_pairs(X, dim, m, all_pairs(10), GetParam().make());
    std::vector<double> u(X.size(), 0.0);
    const double V = energy(*pairs, u);
    double scale = 0.0;
    for (Index k = 0; k < pairs->size(); ++k) scale += std::abs(pairs->energy(k, u, 0.0));
    EXPECT_LT(torque_over_scale(*pairs, X, u), 1e-14);
    for (std::size_t i = 0; i < u.size(); ++i) u[i] = 0.3 + 0.4 * static_cast<double>(i % d);
    EXPECT_NEAR(energy(*pairs, u), V, 1e-13 * scale);
    const std::vector<double> R = test::rotation(dim, 1.1);
    for (std::size_t i = 0; i < u.size(); ++i)
      for (std::size_t c = 0; c < d; ++c) u[i] += (R[i % d * d + c] - (c == i % d ? 1.0 : 0.0)) * X[i - i % d + c];
    EXPECT_NEAR(energy(*pairs, u), V, 1e-13 * scale);
    EXPECT_LT(torque_over_scale(*pairs, X, u), 1e-14);
  }
}

INSTANTIATE_TEST_SUITE_P(OfNodes, PairsOfEveryLaw, testing::ValuesIn(test::law_cases()),
                         [](const auto& of) { return of.param.name; });

// Controls: the checks above can tell.
TEST(PairsControl, a_box_does_feel_rotations_and_its_forces_across_it_have_a_torque) {
  const std::vector<double> X = {0.1, 0.2, 3.0, 3.0, 5.9, 1.0};
  const auto open = make_pairs(X, 2, masses, first_and_last, Spring{3.0, 0.5});
  const auto box = make_pairs(X, 2, masses, first_and_last, Spring{3.0, 0.5}, periodic_box(2));
  const double c = std::sqrt(0.5);  // turned by 45 degrees about node 0
  const std::vector<double> rest(6, 0.0), turned = {0.0, 0.0, 0.0, 0.0, (5.8 - 0.8) * c - 5.8, (5.8 + 0.8) * c - 0.8};
  EXPECT_NEAR(open->energy(0, turned, 0.0), open->energy(0, rest, 0.0), 1e-13);
  EXPECT_GT(box->energy(0, turned, 0.0), 2.0 * box->energy(0, rest, 0.0));
  EXPECT_LT(torque_over_scale(*open, X, rest), 1e-14);
  EXPECT_GT(torque_over_scale(*box, X, rest), 0.1);
}

TEST(PairsControl, without_the_force_s_own_part_the_hessian_is_another_one) {
  const Configuration at(2, 1.0, Space::open, 7);
  const auto stretched = make_pairs(at.reference, 2, masses, first_and_last, Spring{3.0, 0.5});
  const auto at_rest = make_pairs(at.reference, 2, masses, first_and_last, Spring{3.0, 1.0});
  const std::vector<double> H = hessian(*stretched, 0, at.u), along_only = hessian(*at_rest, 0, at.u);
  double difference = 0.0;
  for (std::size_t i = 0; i < H.size(); ++i) difference = std::max(difference, std::abs(H[i] - along_only[i]));
  EXPECT_GT(difference, 0.1 * test::largest_entry(H));
}

TEST(Pairs, in_a_box_feel_the_nearest_image) {
  const std::vector<double> X = {0.1, 1.0, 5.8, 1.0}, m = {1.0, 1.0}, u(4, 0.0);
  const NodePair pair = {NodeId{0}, NodeId{1}};
  const auto box = make_pairs(X, 2, m, {pair}, Spring{2.0, 0.1}, Box({6.0, std::nullopt, std::nullopt}));
  EXPECT_NEAR(box->energy(0, u, 0.0), 0.04, 1e-14);  // distance 0.3 through the wall
  const std::vector<double> g = gradient(*box, 0, u);
  EXPECT_NEAR(g[0], 0.4, 1e-14);  // to lower x, through the wall
  EXPECT_NEAR(g[2], -0.4, 1e-14);
  const std::vector<double> beside = {0.0, 0.0, -5.7, 6.0};  // y does not repeat
  EXPECT_NEAR(box->energy(0, beside, 0.0), 5.9 * 5.9, 1e-12);
}

// omega^2 = k (1/m_1 + 1/m_2) along a spring at rest, whatever its direction.
TEST(Pairs, stable_step_of_a_spring_is_two_over_the_frequency_of_its_two_masses) {
  const double k = 3.1, m1 = 2.0, m2 = 1.3;
  for (const int dim : {1, 2, 3}) {
    const Configuration at(dim, 0.8, Space::open, 9);
    const auto spring = make_pairs(at.reference, dim, masses, first_and_last, Spring{k, 0.8});
    const double expected = 2.0 / std::sqrt(k * (1.0 / m1 + 1.0 / m2));
    EXPECT_NEAR(spring->stable_step(0, at.u, std::vector{m1, m2}), expected, 1e-13);
  }
}

// What pushes apart counts as what holds together: of gravitation V'' = -2 f G / r^3 along and V'/r = f G / r^3 across;
// of a spring that is pressed V'/r = k (1 - length / r) < -k across. What is stable goes by what holds,
// here k along the spring.
TEST(Pairs, stable_step_is_by_the_largest_eigenvalue_in_size) {
  const double m1 = 2.0, m2 = 1.3, inverse = 1.0 / m1 + 1.0 / m2;
  for (const int dim : {2, 3}) {
    const Configuration at(dim, 0.5, Space::open, 9);
    const auto step_of = [&](PairLaw law) {
      return make_pairs(at.reference, dim, masses, first_and_last, std::move(law))
          ->stable_step(0, at.u, std::vector{m1, m2});
    };
    const double factor = masses[0] * masses[2];
    EXPECT_NEAR(step_of(Gravitation{3.0}), 2.0 / std::sqrt(2.0 * factor * 3.0 / 0.125 * inverse), 1e-12);
    EXPECT_NEAR(step_of(Spring{3.1, 2.0}), 2.0 / std::sqrt(3.0 * 3.1 * inverse), 1e-12);
    for (double begin = 0.3; begin < 0.49; begin += 1e-3) {  // of a law that is split, from where it hardly begins
      LawPart far(Gravitation{3.0}, LawPart::Switch{begin, begin + 0.2}, {});
      const double force = std::abs(far.at(0.5).slope) * factor, step = step_of(std::move(far));
      EXPECT_LT(force * step * step * inverse, (4.0 + 1e-9) * 0.5);  // how far it moves them in a step: no farther
    }
    EXPECT_TRUE(make_pairs(at.reference, dim, masses, first_and_last, Spring{3.1, 2.0}, {}, Company::wandering)
                    ->step_is_stable(0, at.u, std::vector{m1, m2}, 1.9 / std::sqrt(3.1 * inverse)));
  }
}

TEST(Pairs, stable_step_is_infinite_where_the_law_is_zero_or_no_number_where_nodes_meet) {
  const Configuration apart(3, 2.0, Space::open, 9);
  const auto spheres = make_pairs(apart.reference, 3, masses, first_and_last, Hertz{5.0, 1.0});
  EXPECT_EQ(spheres->stable_step(0, apart.u, std::vector{1.0, 1.0}), std::numeric_limits<double>::infinity());
  const std::vector<double> X = {0.0, 0.5, 1.0}, meeting = {1.0, 0.0, 0.0};
  const auto atoms = make_pairs(X, 1, masses, first_and_last, LennardJones{1.0, 1.0, {}});
  EXPECT_FALSE(atoms->step_is_stable(0, meeting, std::vector{1.0, 1.0}, 1e-6));
}

TEST(Pairs, are_inadmissible_where_nodes_meet_or_are_nowhere) {
  for (const auto& law : test::law_cases()) {
    const std::vector<double> X = {0.0, 0.5, 1.0};
    const auto pairs = make_pairs(X, 1, masses, first_and_last, law.make());
    std::vector<double> g(2, 0.0);
    EXPECT_FALSE(pairs->add_gradient(0, std::vector{1.0, 0.0, 0.0}, 0.0, g) > 0.0) << law.name;
    const double lost = pairs->add_gradient(0, std::vector{std::nan(""), 0.0, 0.0}, 0.0, g);
    EXPECT_TRUE(std::isnan(lost)) << law.name;
    const double far = pairs->add_gradient(0, std::vector<double>{-INFINITY, 0.0, 0.0}, 0.0, g);
    EXPECT_FALSE(far > 0.0 && std::isfinite(far)) << law.name;
  }
}

TEST(Pairs, are_inadmissible_where_a_user_s_force_is_no_number) {
  const std::vector<double> X = {0.0, 0.5, 1.0}, u(3, 0.0);
  const auto pairs = make_pairs(X, 1, masses, first_and_last, test::user_law("sqrt(X - 2)"));
  std::vector<double> g(2, 0.0);
  EXPECT_TRUE(std::isnan(pairs->add_gradient(0, u, 0.0, g)));
}

TEST(Pairs, keep_the_digits_of_small_displacements_far_from_the_origin) {
  const std::vector<double> X = {1e6, 2e6, 1e6 + 1.0}, u = {0.0, 0.0, 1e-13};
  const auto spring = make_pairs(X, 1, masses, first_and_last, Spring{1.0, 1.0});
  EXPECT_NEAR(gradient(*spring, 0, u)[1], 1e-13, 2e-16);
}

TEST(Pairs, gravitation_is_multiplied_by_both_masses) {
  const std::vector<double> X = {0.0, 0.5, 2.0}, u(3, 0.0);
  const auto pairs = make_pairs(X, 1, masses, all_pairs(3), Gravitation{0.5});
  EXPECT_DOUBLE_EQ(pairs->energy(0, u, 0.0), -0.5 * 2.0 * 0.7 / 0.5);
  EXPECT_DOUBLE_EQ(pairs->energy(1, u, 0.0), -0.5 * 2.0 * 1.3 / 2.0);
  EXPECT_DOUBLE_EQ(gradient(*pairs, 2, u)[1], 0.5 * 0.7 * 1.3 / (1.5 * 1.5));
}

TEST(Pairs, know_their_nodes_bring_no_mass_and_say_who_they_are) {
  const std::vector<double> X = {0.0, 0.5, 2.0};
  const auto pairs = make_pairs(X, 1, masses, all_pairs(3), Spring{1.0, 1.0});
  ASSERT_EQ(pairs->size(), 3);
  EXPECT_EQ(pairs->dim(), 1);
  EXPECT_EQ(pairs->stencil(1)[0], NodeId{0});
  EXPECT_EQ(pairs->stencil(1)[1], NodeId{2});
  EXPECT_EQ(pairs->mass(1, 0), 0.0);
  EXPECT_EQ(pairs->describe(1), "pair 1 of nodes 0 and 2");
}

TEST(AllPairs, are_every_pair_once_in_order) {
  const std::vector<NodePair> expected = {{NodeId{0}, NodeId{1}}, {NodeId{0}, NodeId{2}}, {NodeId{1}, NodeId{2}}};
  EXPECT_EQ(all_pairs(3), expected);
  EXPECT_TRUE(all_pairs(1).empty());
  EXPECT_TRUE(all_pairs(0).empty());
  EXPECT_EQ(all_pairs(40).size(), 780u);
}

std::string refusal(std::vector<double> X, std::vector<NodePair> pairs, PairLaw law, const Box& box = {}) {
  try {
    make_pairs(X, 2, std::vector<double>(X.size() / 2, 1.0), std::move(pairs), std::move(law), box);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(Pairs, refuse_what_cannot_be) {
  const std::vector<double> X = {0, 0, 0.5, 0, 0.5, 0, 6, 0};
  const auto pair = [](int a, int b) { return std::vector<NodePair>{{NodeId{0}, NodeId{1}}, {NodeId{a}, NodeId{b}}}; };
  const Spring spring{1.0, 1.0};
  EXPECT_EQ(
      refusal(X, pair(1, 2), spring),
      "pair 1 of nodes 1 and 2 at (0.5, 0) and (0.5, 0) has the length 0 m (must be > 0). Move one of the nodes.");
  EXPECT_EQ(refusal(X, pair(3, 3), spring), "pair 1 joins node 3 to itself. Give two different nodes.");
  EXPECT_EQ(refusal(X, pair(0, 4), spring), "pair 1 of nodes 0 and 4 (there are 4 nodes, numbered from 0).");
  EXPECT_EQ(refusal(X, pair(-1, 1), spring), "pair 1 of nodes -1 and 1 (there are 4 nodes, numbered from 0).");
  EXPECT_EQ(refusal(X, pair(0, 1), Spring{-1.0, 1.0}), "stiffness = -1 N/m (must be > 0).");
  EXPECT_EQ(refusal(X, pair(0, 3), spring), "");
  EXPECT_NE(refusal(X, pair(0, 3), spring, periodic_box(2)).find("has the length 0 m"), std::string::npos);
}

TEST(Pairs, refuse_a_box_less_than_two_cutoffs_wide) {
  const std::vector<double> X = {0, 0, 1, 0};
  const Box box({std::nullopt, 6.0, std::nullopt});
  EXPECT_EQ(refusal(X, all_pairs(2), LennardJones{1.0, 1.0, 3.0}, box), "");
  EXPECT_EQ(refusal(X, all_pairs(2), LennardJones{1.0, 1.0, {}}, box), "");
  EXPECT_EQ(refusal(X, all_pairs(2), LennardJones{1.0, 1.0, 3.001}, box),
            "cutoff = 3.001 m in a box that is 6 m long along y (must be at most half of it: only the nearest image of "
            "a particle is felt). Enlarge the box.");
  EXPECT_EQ(refusal(X, all_pairs(2), Hertz{1.0, 3.5}, box).substr(0, 14), "length = 3.5 m");
}

TEST(Box, refuses_lengths_that_are_none) {
  for (const double length : {0.0, -1.0, std::nan(""), static_cast<double>(INFINITY)})
    EXPECT_THROW(Box({1.0, length, std::nullopt}), InputError) << length;
}

}  // namespace
}  // namespace tempi
