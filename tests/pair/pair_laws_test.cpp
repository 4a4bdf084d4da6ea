// SPDX-License-Identifier: Apache-2.0
#include "tempi/pair/pair_laws.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <thread>

#include "support/pair_cases.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

class EveryLaw : public testing::TestWithParam<test::LawCase> {};

// Differences of fourth order: error 1e-12 V^(5) / 30, for the steepest (r^-12) 3e-8 of V'; 1e-13 of it by rounding.
TEST_P(EveryLaw, slope_and_curvature_are_the_derivatives) {
  const PairLaw law = GetParam().make();
  for (const double r : GetParam().distances) {
    const double h = 1e-3 * r;
    const auto derivative = [&](auto value) {
      return (value(r - 2 * h) - 8.0 * value(r - h) + 8.0 * value(r + h) - value(r + 2 * h)) / (12.0 * h);
    };
    const PairValues at = evaluate(law, r);
    const double slope = derivative([&](double x) { return evaluate(law, x).V; });
    const double curvature = derivative([&](double x) { return evaluate(law, x).slope; });
    EXPECT_NEAR(at.slope, slope, 1e-8 * std::abs(slope)) << r;
    EXPECT_NEAR(at.curvature, curvature, 1e-8 * (std::abs(curvature) + std::abs(slope) / r)) << r;
  }
}

INSTANTIATE_TEST_SUITE_P(OfAPair, EveryLaw, testing::ValuesIn(test::law_cases()),
                         [](const auto& of) { return of.param.name; });

// V = 0 at sigma; at r = 2^(1/6) sigma, (sigma/r)^6 = 1/2: V = -epsilon, V' = 0,
// V'' = 24 epsilon (26/4 - 7/2) / r^2 = 72 epsilon / (2^(1/3) sigma^2).
TEST(LennardJones, has_its_minimum_at_the_sixth_root_of_two) {
  const double epsilon = 1.3, sigma = 0.9, r = std::pow(2.0, 1.0 / 6.0) * sigma;
  const PairValues at = LennardJones{epsilon, sigma, {}}.at(r);
  EXPECT_NEAR(at.V, -epsilon, 1e-15);
  EXPECT_NEAR(at.slope, 0.0, 1e-13);  // of 24 epsilon / r
  EXPECT_NEAR(at.curvature, 72.0 / std::cbrt(2.0) * epsilon / (sigma * sigma), 1e-12);
  EXPECT_EQ((LennardJones{epsilon, sigma, {}}.at(sigma).V), 0.0);
  EXPECT_NEAR(72.0 / std::cbrt(2.0), 57.1464, 1e-4);
}

TEST(LennardJones, with_a_cutoff_is_shifted_before_it_and_zero_from_there_on) {
  const LennardJones whole{1.3, 0.9, {}}, cut{1.3, 0.9, 2.25};
  const double beyond = std::nextafter(2.25, 3.0), before = std::nextafter(2.25, 0.0);
  for (const double r : {2.25, beyond, 100.0}) {
    EXPECT_EQ(cut.at(r).V, 0.0);
    EXPECT_EQ(cut.at(r).slope, 0.0);
    EXPECT_EQ(cut.at(r).curvature, 0.0);
  }
  EXPECT_NEAR(cut.at(before).V, 0.0, 1e-15);
  EXPECT_NEAR(cut.at(1.2).V, whole.at(1.2).V - whole.at(2.25).V, 1e-15);
  EXPECT_EQ(cut.at(1.2).slope, whole.at(1.2).slope);
  EXPECT_EQ(cut.at(1.2).curvature, whole.at(1.2).curvature);
  EXPECT_NEAR(cut.at(before).slope * 0.9 / 1.3, 0.0390, 1e-4);  // the jump of the force, in epsilon/sigma
}

TEST(Morse, is_a_well_of_its_depth) {
  const Morse law{1.7, 2.3, 1.1};
  EXPECT_EQ(law.at(1.1).V, 0.0);
  EXPECT_EQ(law.at(1.1).slope, 0.0);
  EXPECT_DOUBLE_EQ(law.at(1.1).curvature, 2.0 * 1.7 * 2.3 * 2.3);
  EXPECT_DOUBLE_EQ(law.at(100.0).V, 1.7);
  EXPECT_NEAR(law.at(1.1 + 1e-7).V, 1.7 * std::pow(2.3e-7, 2), 1e-6 * 1.7 * std::pow(2.3e-7, 2));
  EXPECT_DOUBLE_EQ(law.at(1.1 + std::numbers::ln2 / 2.3).slope, 0.5 * 1.7 * 2.3);  // where it pulls most
}

TEST(Spring, is_half_of_its_stiffness_times_the_square_of_its_stretch) {
  const PairValues at = Spring{3.0, 0.5}.at(2.5);
  EXPECT_EQ(at.V, 6.0);
  EXPECT_EQ(at.slope, 6.0);
  EXPECT_EQ(at.curvature, 3.0);
}

TEST(TanhSpring, tends_to_its_strength_without_overflow) {
  const double c = 4.5, d = 0.25, l = 0.8;
  const TanhSpring law{c, d, l};
  for (const double q : {10.0, 1e3, 1e6, 1e300}) {
    EXPECT_DOUBLE_EQ(law.at(l + q).slope, c);
    EXPECT_DOUBLE_EQ(law.at(l + q).V, c * q - 2.0 * c * d * std::numbers::ln2);
    EXPECT_LT(law.at(l + q).curvature, 1e-15);
    EXPECT_GE(law.at(l + q).curvature, 0.0);
  }
  const TanhSpring long_one{c, d, 1e4};  // compressed as far
  EXPECT_DOUBLE_EQ(long_one.at(1.0).slope, -c);
  EXPECT_TRUE(std::isinf(2.0 * c * d * std::log(std::cosh(1e3 / (2.0 * d)))));  // control: the plain formula does
}

TEST(TanhSpring, is_a_spring_where_it_is_little_stretched) {
  const double c = 4.5, d = 0.25, k = c / (2.0 * d);
  const TanhSpring law{c, d, 0.0};
  for (const double q : {1e-3, 1e-6, 1e-100}) {
    EXPECT_NEAR(law.at(q).V / (0.5 * k * q * q), 1.0, 2.0 * q * q + 1e-15);
    EXPECT_NEAR(law.at(q).slope / (k * q), 1.0, 2.0 * q * q + 1e-15);
    EXPECT_NEAR(law.at(q).curvature / k, 1.0, 5.0 * q * q + 1e-15);
  }
  EXPECT_NE(std::log(std::cosh(1e-9)), 0.5e-18);  // control: the plain formula has no digit of it
}

TEST(TanhSpring, is_smooth_where_its_two_formulas_meet) {
  const TanhSpring law{4.5, 0.25, 0.8};
  const double r = 0.8 + 0.5;  // x = 1
  EXPECT_NEAR(law.at(r * (1.0 - 1e-15)).V, law.at(r * (1.0 + 1e-15)).V, 2e-14);
}

TEST(Gravitation, follows_the_inverse_square) {
  const PairValues at = Gravitation{0.5}.at(2.0);
  EXPECT_EQ(at.V, -0.25);
  EXPECT_EQ(at.slope, 0.125);
  EXPECT_EQ(at.curvature, -0.125);
}

TEST(Hertz, pushes_in_contact_only) {
  const Hertz law{5.0, 1.0};
  for (const double r : {1.0, 1.0 + 1e-15, 10.0}) {
    EXPECT_EQ(law.at(r).V, 0.0);
    EXPECT_EQ(law.at(r).slope, 0.0);
    EXPECT_EQ(law.at(r).curvature, 0.0);
  }
  EXPECT_DOUBLE_EQ(law.at(0.75).V, 0.4 * 5.0 / 32.0);
  EXPECT_DOUBLE_EQ(law.at(0.75).slope, -5.0 / 8.0);
  EXPECT_DOUBLE_EQ(law.at(0.75).curvature, 1.5 * 5.0 / 2.0);
}

// Against the closed forms, with the errors that are documented.
TEST(UserLaw, has_the_derivatives_of_its_formula) {
  const struct {
    std::string formula;
    double power, slope_error, curvature_error;
  } cases[] = {{"1/X", -1.0, 5e-12, 4e-10}, {"X^-12", -12.0, 2e-9, 1e-9}, {"X^2", 2.0, 1e-12, 1e-9}};
  for (const auto& [formula, p, slope_error, curvature_error] : cases)
    for (const double r : {1e-9, 0.3, 1.0, 7.0}) {
      const PairValues at = test::user_law(formula).at(r);
      const double V = std::pow(r, p), slope = p * V / r, curvature = (p - 1.0) * slope / r;
      EXPECT_NEAR(at.V / V, 1.0, 1e-15) << formula;
      EXPECT_NEAR(at.slope / slope, 1.0, slope_error) << formula;
      EXPECT_NEAR(at.curvature / curvature, 1.0, curvature_error) << formula;
    }
}

TEST(UserLaw, of_a_constant_has_no_force) {
  const PairValues at = test::user_law("2.5").at(0.3);
  EXPECT_EQ(at.V, 2.5);
  EXPECT_EQ(at.slope, 0.0);
  EXPECT_NEAR(at.curvature, 0.0, 1e-7);
}

TEST(UserLaw, may_be_evaluated_by_several_threads) {
  const UserLaw law = test::user_law("exp(-X)/X + sin(3*X)");
  const auto sum = [&](double r) {
    double result = 0.0;
    for (int i = 0; i < 20000; ++i) result += law.at(r + 1e-5 * i).slope;
    return result;
  };
  const double expected = sum(0.5), other = sum(1.5);
  double first = 0.0, second = 0.0;
  std::thread thread([&] { first = sum(0.5); });
  second = sum(1.5);
  thread.join();
  EXPECT_EQ(first, expected);
  EXPECT_EQ(second, other);
}

std::string message_of(const PairLaw& law) {
  try {
    check(law);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(CheckLaw, accepts_what_is_sound) {
  for (const auto& law : test::law_cases()) EXPECT_EQ(message_of(law.make()), "") << law.name;
}

TEST(CheckLaw, names_the_parameter_its_value_and_its_unit) {
  EXPECT_EQ(message_of(LennardJones{-1.0, 1.0, {}}), "epsilon = -1 J (must be > 0).");
  EXPECT_EQ(message_of(LennardJones{1.0, 0.0, {}}), "sigma = 0 m (must be > 0).");
  EXPECT_EQ(message_of(LennardJones{1.0, 1.0, -2.5}), "cutoff = -2.5 m (must be > 0).");
  EXPECT_EQ(message_of(Morse{0.0, 1.0, 1.0}), "depth = 0 J (must be > 0).");
  EXPECT_EQ(message_of(Morse{1.0, -1.0, 1.0}), "inverse_width = -1 1/m (must be > 0).");
  EXPECT_EQ(message_of(Morse{1.0, 1.0, 0.0}), "length = 0 m (must be > 0).");
  EXPECT_EQ(message_of(Spring{std::nan(""), 1.0}), "stiffness = nan N/m (must be > 0).");
  EXPECT_EQ(message_of(Spring{1.0, -1.0}), "length = -1 m (must be >= 0).");
  EXPECT_EQ(message_of(TanhSpring{0.0, 1.0, 1.0}), "strength = 0 N (must be > 0).");
  EXPECT_EQ(message_of(TanhSpring{1.0, 0.0, 1.0}), "width = 0 m (must be > 0).");
  EXPECT_EQ(message_of(TanhSpring{1.0, 1.0, -1.0}), "length = -1 m (must be >= 0).");
  EXPECT_EQ(message_of(Gravitation{-1.0}), "G = -1 N m^2/kg^2 (must be > 0).");
  EXPECT_EQ(message_of(Hertz{-1.0, 1.0}), "stiffness = -1 N/m^1.5 (must be > 0).");
  EXPECT_EQ(message_of(Hertz{1.0, INFINITY}), "length = inf m (must be > 0).");
}

TEST(CheckLaw, a_user_s_law_must_not_depend_on_time) { EXPECT_THROW(test::user_law("t/X"), InputError); }

}  // namespace
}  // namespace tempi
