// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/potential.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace tempi {
namespace {

// A pendulum-like term of one node in the plane, V = (1 - cos x) + y^4/4 + t x y; its gradient may be given an error.
class Toy final : public LocalPotential {
 public:
  explicit Toy(double gradient_error = 0.0) : gradient_error_(gradient_error) {}

  Index size() const override { return 1; }
  int dim() const override { return 2; }
  std::span<const NodeId> stencil(Index) const override { return stencil_; }
  double energy(Index, std::span<const double> u, double t) const override {
    return 1.0 - std::cos(u[2]) + 0.25 * std::pow(u[3], 4) + t * u[2] * u[3];
  }
  double add_gradient(Index, std::span<const double> u, double t, std::span<double> g) const override {
    g[0] += std::sin(u[2]) + t * u[3];
    g[1] += (1.0 + gradient_error_) * u[3] * u[3] * u[3] + t * u[2];
    return 1.0;
  }
  void add_hessian(Index, std::span<const double> u, double t, std::span<double> H) const override {
    H[0] += std::cos(u[2]);
    H[1] += t;
    H[2] += t;
    H[3] += 3.0 * u[3] * u[3];
  }
  double mass(Index, std::size_t) const override { return 0.0; }
  std::string describe(Index) const override { return "toy"; }

 private:
  double gradient_error_;
  std::array<NodeId, 1> stencil_{NodeId{1}};
};

const std::vector<double> share = {2.0};
const std::vector<double> place = {9.0, 9.0, 0.7, 0.4};

TEST(CheckGradient, agrees_with_a_right_gradient) { EXPECT_LT(check_gradient(Toy(), 0, place, 0.3, 1e-5), 1e-9); }

TEST(CheckGradient, notices_a_wrong_gradient) {
  const double error = check_gradient(Toy(0.01), 0, place, 0.3, 1e-5);
  EXPECT_NEAR(error, 0.01 * 0.064 / (std::sin(0.7) + 0.3 * 0.4), 1e-8);
}

// Relative deviations of a potential with huge forces and of one with tiny ones are both measured against itself.
TEST(CheckGradient, is_of_second_order_in_its_spacing) {
  const double coarse = check_gradient(Toy(), 0, place, 0.3, 2e-3), fine = check_gradient(Toy(), 0, place, 0.3, 1e-3);
  EXPECT_NEAR(coarse / fine, 4.0, 0.05);
}

TEST(CheckGradient, where_nothing_pulls_is_zero) {
  EXPECT_EQ(check_gradient(Toy(), 0, std::vector<double>(4, 0.0), 0.0, 1e-5), 0.0);
}

// V'' = 1 and 3 y^2 on a mass of 2: omega^2 = max(1, 12) / 2 at y = 2.
TEST(StableStep, default_is_two_over_the_largest_frequency) {
  EXPECT_DOUBLE_EQ(Toy().stable_step(0, std::vector<double>{0, 0, 0, 2}, share), 2.0 / std::sqrt(6.0));
  EXPECT_DOUBLE_EQ(Toy().stable_step(0, std::vector<double>{0, 0, 0, 0}, share), 2.0 / std::sqrt(0.5));
}

TEST(StableStep, of_terms_without_mass_is_by_how_fast_they_fall_where_nothing_is_stiff) {
  const std::vector<double> upside_down = {0, 0, 3.14159, 0};
  EXPECT_NEAR(Toy().stable_step(0, upside_down, share), 2.0 / std::sqrt(0.5), 1e-9);
  EXPECT_TRUE(Toy().step_is_stable(0, upside_down, share, 1e100));
}

TEST(StableStep, agrees_with_the_cheaper_question) {
  const std::vector<double> u = {0, 0, 0.5, 1.3};
  const double step = Toy().stable_step(0, u, share);
  EXPECT_TRUE(Toy().step_is_stable(0, u, share, step * (1.0 - 1e-8)));
  EXPECT_FALSE(Toy().step_is_stable(0, u, share, step * (1.0 + 1e-8)));
}

TEST(StableStep, a_configuration_that_is_not_finite_has_no_stable_step) {
  EXPECT_FALSE(Toy().step_is_stable(0, std::vector<double>{0, 0, std::nan(""), 0}, share, 1e-3));
}

}  // namespace
}  // namespace tempi
