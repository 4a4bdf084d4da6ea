// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/uniform_field.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/measured_batches.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

const std::vector<double> reference = {1.0, 2.0, 3.0, 4.0}, masses = {2.0, 5.0};

std::unique_ptr<Potential> field(std::array<double, 3> g) {
  return make_uniform_field(reference, 2, masses, {make_id<NodeId>(1)}, g);
}

TEST(UniformField, has_the_energy_of_a_weight_at_its_height) {
  const auto f = field({0.0, -10.0, 0.0});
  const std::vector<double> u = {0.0, 0.0, 0.25, 0.5};
  EXPECT_DOUBLE_EQ(5.0 * 10.0 * 4.5, f->energy(0, u, 0.0));
}

TEST(UniformField, pulls_along_its_gradient_and_is_nowhere_stiff) {
  const auto f = field({3.0, -10.0, 0.0});
  const std::vector<double> u = {0.0, 0.0, 0.25, 0.5}, share = {5.0};
  EXPECT_LE(check_gradient(*f, 0, u, 0.0, 1e-3), 1e-9);
  EXPECT_EQ(std::numeric_limits<double>::infinity(), f->stable_step(0, u, share));
}

TEST(UniformField, acts_in_batches_as_one_by_one) {
  const std::vector<double> u = {0.0, 0.0, 0.25, 0.5};
  const auto f = make_uniform_field(reference, 2, masses, {make_id<NodeId>(1), make_id<NodeId>(0)}, {3.0, -10.0, 0.0});
  const std::vector<Index> terms = {0, 1};
  EXPECT_LT(test::deviation(*f, terms, u), 1e-15);
  const auto [energy, gradient] = test::deviations_of_measured(*f, terms, u);
  EXPECT_EQ(energy, 0.0);
  EXPECT_EQ(gradient, 0.0);
}

TEST(UniformField, refuses_nodes_that_are_not_there_and_what_is_not_finite) {
  EXPECT_THROW(make_uniform_field(reference, 2, masses, {make_id<NodeId>(2)}, {}), InputError);
  EXPECT_THROW(field({std::numeric_limits<double>::quiet_NaN(), 0.0, 0.0}), InputError);
}

}  // namespace
}  // namespace tempi
