// SPDX-License-Identifier: Apache-2.0
// Batches of pairs do what the loop over add_gradient does, for every law, with every instruction set this machine has:
// of pairs that are terms of their own, and of sums that are one term.
#include <gtest/gtest.h>

#include "support/measured_batches.hpp"
#include "support/pair_cases.hpp"
#include "tempi/pair/pair_sum.hpp"

namespace tempi {
namespace {

using namespace test;

constexpr double box_length = 6.0;

struct Case {
  LawCase law;
  std::string instructions;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.law.name << ", " << c.instructions; }
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string& instructions : instruction_sets())
    for (const LawCase& law : law_cases()) all.push_back({law, instructions});
  return all;
}

std::vector<NodeId> nodes_up_to(std::size_t count) {
  std::vector<NodeId> nodes;
  for (std::size_t a = 0; a < count; ++a) nodes.push_back(make_id<NodeId>(static_cast<Index>(a)));
  return nodes;
}

// Particles none of which are nearer than 0.6; in a box some have left it.
struct Cloud {
  Cloud(int dim, bool periodic, std::size_t count, unsigned seed) : mass(count) {
    const auto d = static_cast<std::size_t>(dim);
    reference = random_cloud(dim, count, dim == 1 ? 0.6 * static_cast<double>(count) : 0.5 * box_length, 0.6, seed);
    Random random(seed + 1);
    for (double& m : mass) m = random.uniform(0.5, 2.0);
    displacement.resize(reference.size());
    for (double& u : displacement) u = random.uniform(-0.05, 0.05);
    if (!periodic) return;
    Box::Lengths lengths;
    for (std::size_t c = 0; c < d; ++c) lengths[c] = box_length;
    box = Box(lengths);
    for (double& X : reference) X += box_length * static_cast<double>(random.below(5) - 2);
  }
  std::vector<double> reference, mass, displacement;
  Box box;
};

class BatchOfPairs : public testing::TestWithParam<Case> {
 protected:
  // visit(cloud, dim) in every dimension, open and in a box; 1-D boxes would be crowded.
  template <class Visit>
  void everywhere(Visit&& visit) const {
    const Instructions wish(GetParam().instructions);
    for (const int dim : {1, 2, 3})
      for (const bool periodic : {false, true}) {
        if (dim == 1 && periodic) continue;
        SCOPED_TRACE(testing::Message() << dim << "-D" << (periodic ? " in a box" : ""));
        visit(Cloud(dim, periodic, dim == 1 ? 30 : 45, 17), dim);
      }
  }
  PairLaw law() const { return GetParam().law.make(); }
  std::unique_ptr<Potential> sum(const Cloud& cloud, int dim, std::optional<double> skin = {}) const {
    return make_pair_sum(cloud.reference, dim, cloud.mass, nodes_up_to(cloud.mass.size()), law(), cloud.box, skin);
  }
};

TEST_P(BatchOfPairs, changes_as_its_hessian_says) {
  everywhere([&](const Cloud& cloud, int dim) {
    const auto pairs = make_pairs(cloud.reference, dim, cloud.mass, all_pairs(static_cast<Index>(cloud.mass.size())),
                                  law(), cloud.box);
    std::vector<double> w(cloud.displacement.size());
    Random random(8);
    for (double& x : w) x = random.uniform(-1.0, 1.0);
    EXPECT_LT(deviation_of_change(*pairs, shuffled_terms(*pairs, 5), cloud.displacement, w), 1e-14);
  });
}

// Rounding of positions by the steepness of the laws.
TEST_P(BatchOfPairs, does_what_the_loop_does) {
  everywhere([&](const Cloud& cloud, int dim) {
    const auto pairs = make_pairs(cloud.reference, dim, cloud.mass, all_pairs(static_cast<Index>(cloud.mass.size())),
                                  law(), cloud.box);
    const auto terms = shuffled_terms(*pairs, 5);
    EXPECT_LT(deviation(*pairs, terms, cloud.displacement), 1e-13);
    const auto [energy, gradient] = deviations_of_measured(*pairs, terms, cloud.displacement);
    EXPECT_LT(energy, 1e-13);
    EXPECT_LT(gradient, 1e-13);
  });
}

TEST_P(BatchOfPairs, as_a_sum_does_what_add_gradient_does) {
  everywhere([&](const Cloud& cloud, int dim) {
    const auto potential = sum(cloud, dim);
    const std::vector<Index> term = {0};
    EXPECT_LT(deviation(*potential, term, cloud.displacement), 2e-13);
    const auto [energy, gradient] = deviations_of_measured(*potential, term, cloud.displacement);
    EXPECT_LT(energy, 2e-13);
    EXPECT_LT(gradient, 2e-13);
  });
}

// The same bits from lists of any width, also when they were made elsewhere.
TEST_P(BatchOfPairs, as_a_sum_does_not_show_the_width_and_the_age_of_its_list) {
  everywhere([&](const Cloud& cloud, int dim) {
    std::vector<Lines> struck;
    std::vector<double> energies;
    const auto d = static_cast<std::size_t>(dim);
    for (const double skin : {0.0, 0.1, 0.7, 0.7, 0.7}) {
      const auto potential = sum(cloud, dim, skin);
      Lines lines = lines_of(cloud.displacement, dim, 1.0, 3), elsewhere = lines;
      const auto batch = potential->batch(std::vector<Index>{0}, lines.place);
      for (NodeLine& node : elsewhere.nodes)
        for (std::size_t c = 0; c < d; ++c)
          node.displacement[c] = struck.size() == 3 ? node.displacement[c] + 1.5  // all together
                                                    : (struck.size() == 2 ? 0.3 : 1.0) * node.displacement[c];
      EXPECT_TRUE(batch->strike(0, 1, strike_step, time_now, elsewhere.nodes));
      EXPECT_TRUE(batch->strike(0, 1, strike_step, time_now, lines.nodes));
      energies.push_back(measured(*batch, 0, 1, lines.nodes).energies[0]);
      struck.push_back(std::move(lines));
      EXPECT_TRUE(same_bits(struck.front(), struck.back())) << skin;
      EXPECT_EQ(energies.front(), energies.back());
    }
  });
}

// At whole numbers, where they meet exactly.
TEST_P(BatchOfPairs, notices_nodes_that_meet_or_are_nowhere) {
  const Instructions wish(GetParam().instructions);
  std::vector<double> X(60, 0.0);
  for (std::size_t a = 0; a < 20; ++a) X[3 * a] = static_cast<double>(a);
  const std::vector<double> mass(20, 1.0);
  const auto pairs = make_pairs(X, 3, mass, all_pairs(20), law());
  const auto whole = make_pair_sum(X, 3, mass, nodes_up_to(20), law());
  const auto holds = [&](const Potential& potential, double move) {
    std::vector<double> u(X.size(), 0.0);
    u[9] = move;
    Lines lines = lines_of(u, 3, 1.0, 3);
    const auto terms = shuffled_terms(potential, 5);
    return potential.batch(terms, lines.place)->strike(0, potential.size(), strike_step, time_now, lines.nodes);
  };
  for (const Potential* potential : {pairs.get(), whole.get()}) {
    EXPECT_TRUE(holds(*potential, 0.25));
    for (const double move : {4.0, std::nan(""), static_cast<double>(INFINITY)})
      EXPECT_FALSE(holds(*potential, move)) << move;
  }
}

INSTANTIATE_TEST_SUITE_P(OfEveryLaw, BatchOfPairs, testing::ValuesIn(cases()),
                         [](const auto& of) { return of.param.law.name + "_" + of.param.instructions; });

// Two particles at the cutoff and one unit of the last place on either side of it.
TEST(PairSumBatch, ends_where_the_law_ends) {
  for (const std::string& instructions : instruction_sets()) {
    const Instructions wish(instructions);
    for (const double r : {std::nextafter(2.5, 0.0), 2.5, std::nextafter(2.5, 3.0)}) {
      const std::vector<double> X = {0.0, 0.0, 0.0, r, 0.0, 0.0}, m = {1.0, 1.0};
      const LennardJones law{1.0, 1.0, 2.5};
      const auto sum = make_pair_sum(X, 3, m, nodes_up_to(2), law);
      Lines lines = lines_of(std::vector<double>(6, 0.0), 3, 0.0, 3);
      const auto batch = sum->batch(std::vector<Index>{0}, lines.place);
      ASSERT_TRUE(batch->strike(0, 1, 1.0, 0.0, lines.nodes));
      const NodeLine& first = lines.of(NodeId{0});
      EXPECT_NEAR(first.velocity[0] / first.inverse_mass, law.at(r).slope, 1e-16) << r;
      EXPECT_EQ(first.velocity[0] == 0.0, r >= 2.5) << r;
    }
  }
}

// Enough for several grains of cells, some of them crowded, and too empty for a grid: the list against brute force.
TEST(PairSumBatch, finds_the_pairs_of_crowds_and_of_stragglers) {
  for (const double straggler : {0.0, 3e3, 1e9}) {
    const std::size_t count = 1500;
    std::vector<double> X = random_cloud(3, count, 5.0, 0.4, 23);
    X[3 * 700] += straggler;
    const std::vector<double> mass(count, 1.0);
    const Hertz law{3.0, 1.1};
    const auto sum = make_pair_sum(X, 3, mass, nodes_up_to(count), law);
    const auto pairs = make_pairs(X, 3, mass, all_pairs(static_cast<Index>(count)), law);
    std::vector<double> u(X.size(), 0.0), expected(X.size(), 0.0);
    for (Index k = 0; k < pairs->size(); ++k) {
      std::array<double, 6> g{};
      pairs->add_gradient(k, u, 0.0, g);
      for (std::size_t i = 0; i < 6; ++i)
        expected[static_cast<std::size_t>(index(pairs->stencil(k)[i / 3])) * 3 + i % 3] += g[i];
    }
    const Lines lines = lines_of(u, 3, 0.0, 3);
    const auto batch = sum->batch(std::vector<Index>{0}, lines.place);
    EXPECT_LT(largest_difference(measured(*batch, 0, 1, lines.nodes).gradients, expected), 1e-12 + 1e-15 * straggler);
    EXPECT_GT(largest(expected), 1.0);
  }
}

}  // namespace
}  // namespace tempi
