// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/wells.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/measured_batches.hpp"
#include "support/pair_cases.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

const std::vector<double> X = {0.0, 0.0, 1.0, 2.0, 3.0, 4.0};  // three nodes in the plane
const Well well{{3.0, 0.5, 0.0}, {0.5, 1.0, 0.0}};
const std::vector<double> u = {0.0, 0.0, 0.0, 0.0, 0.1, -0.2};

TEST(Wells, pull_their_nodes_to_the_centre_along_every_axis) {
  const auto wells = make_wells(X, 2, {NodeId{0}, NodeId{2}}, well);
  ASSERT_EQ(wells->size(), 2);
  ASSERT_EQ(wells->stencil(1).size(), 1u);
  EXPECT_EQ(wells->stencil(1)[0], NodeId{2});
  EXPECT_DOUBLE_EQ(wells->energy(1, u, 0.0), 0.5 * 3.0 * 2.6 * 2.6 + 0.5 * 0.5 * 2.8 * 2.8);
  std::vector<double> g = {10.0, 20.0}, H = {1.0, 2.0, 3.0, 4.0};
  EXPECT_EQ(wells->add_gradient(1, u, 0.0, g), 1.0);
  EXPECT_DOUBLE_EQ(g[0], 10.0 + 3.0 * 2.6);
  EXPECT_DOUBLE_EQ(g[1], 20.0 + 0.5 * 2.8);
  wells->as_local()->add_hessian(1, u, 0.0, H);
  EXPECT_EQ(H, (std::vector<double>{4.0, 2.0, 3.0, 4.5}));
  EXPECT_EQ(wells->mass(1, 0), 0.0);
  EXPECT_EQ(wells->describe(1), "well of node 2");
}

TEST(Wells, have_the_gradient_of_their_energy_and_the_stable_step_of_their_stiffest_axis) {
  for (const int dim : {1, 2, 3}) {
    const auto wells = make_wells(X, dim, {NodeId{1}}, well);
    EXPECT_LT(check_gradient(*wells, 0, u, 0.0, 1e-5), 1e-9);
    EXPECT_DOUBLE_EQ(wells->stable_step(0, u, std::vector{1.7}), 2.0 / std::sqrt(3.0 / 1.7));
  }
}

TEST(Wells, act_in_batches_as_one_by_one) {
  for (const int dim : {1, 2, 3}) {
    const std::vector<double> places = test::random_cloud(dim, 20, 12.0, 0.3, 4);
    std::vector<NodeId> nodes;
    for (Index a = 0; a < 20; a += 2) nodes.push_back(make_id<NodeId>(a));
    const auto wells = make_wells(places, dim, nodes, Well{{3.0, 0.5, 0.7}, {0.5, 1.0, 0.0}});
    std::vector<double> shift(places.size()), w(places.size());
    test::Random random(5);
    for (double& x : shift) x = random.uniform(-0.5, 0.5);
    for (double& x : w) x = random.uniform(-0.5, 0.5);
    const auto terms = test::shuffled_terms(*wells, 5);
    EXPECT_LT(test::deviation(*wells, terms, shift), 1e-15);
    EXPECT_LT(test::deviation_of_change(*wells, terms, shift, w), 1e-15);
    const auto [energy, gradient] = test::deviations_of_measured(*wells, terms, shift);
    EXPECT_EQ(energy, 0.0);
    EXPECT_EQ(gradient, 0.0);
  }
}

TEST(Wells, refuse_what_cannot_be) {
  const auto refusal = [](std::vector<NodeId> nodes, const Well& wrong) -> std::string {
    try {
      make_wells(X, 2, std::move(nodes), wrong);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({NodeId{0}}, {{1.0, -2.0, 0.0}, {}}), "stiffness = -2 N/m along y (must be >= 0).");
  EXPECT_EQ(refusal({NodeId{0}}, {{1.0, 1.0, 0.0}, {NAN, 0.0, 0.0}}), "centre = nan m along x (must be finite).");
  EXPECT_EQ(refusal({NodeId{3}}, well), "well of node 3 (there are 3 nodes, numbered from 0).");
}

}  // namespace
}  // namespace tempi
