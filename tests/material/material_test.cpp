// SPDX-License-Identifier: Apache-2.0
// Every law in every dimension through the same tests; W, P and dP/dF are held against each other by dual numbers.
#include "tempi/material/material.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "support/meshes.hpp"
#include "tempi/core/dual.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using Derivative = Dual<double>;

constexpr Lame lame{1.3, 0.7};

template <class Model, int Dim>
struct Law {
  static constexpr int D = Dim;
  Model model{lame};
  static constexpr bool frame_indifferent = !std::is_same_v<Model, LinearElastic>;
  static constexpr bool is_neo_hookean = std::is_same_v<Model, NeoHookean>;
  static constexpr bool is_linear = std::is_same_v<Model, LinearElastic>;
};

template <int D>
Mat<double, D> random_gradient(test::Random& random, double size) {
  Mat<double, D> H;
  for (double& v : H.a) v = random.uniform(-size, size);
  return H;
}

template <class T, int D>
Mat<T, D> cast(const Mat<double, D>& H) {
  Mat<T, D> r;
  for (std::size_t i = 0; i < H.a.size(); ++i) r.a[i] = T(H.a[i]);
  return r;
}

template <int D>
double norm(const Mat<double, D>& m) {
  return std::sqrt(inner(m, m));
}

template <int D>
Mat<double, D> rotation(double angle) {
  Mat<double, D> Q;
  const auto values = test::rotation(D, angle);
  std::copy(values.begin(), values.end(), Q.a.begin());
  return Q;
}

template <int D>
Mat<double, D> minus_identity(Mat<double, D> F) {
  for (int i = 0; i < D; ++i) F(i, i) -= 1.0;
  return F;
}

// Truncated power series in a small parameter: c[0] + c[1] e + ... Formulas evaluated naively with it give Taylor
// coefficients of which none has lost digits to another, so a sum at e = 1e-8 is right to the last one.
struct Series {
  static constexpr std::size_t terms = 6;
  std::array<long double, terms> c{};

  Series() = default;
  explicit Series(long double v) { c[0] = v; }
  friend Series operator+(Series a, const Series& b) {
    for (std::size_t i = 0; i < terms; ++i) a.c[i] += b.c[i];
    return a;
  }
  friend Series operator-(Series a, const Series& b) {
    for (std::size_t i = 0; i < terms; ++i) a.c[i] -= b.c[i];
    return a;
  }
  friend Series operator-(const Series& a) { return Series(0.0L) - a; }
  friend Series operator*(const Series& a, const Series& b) {
    Series r;
    for (std::size_t i = 0; i < terms; ++i)
      for (std::size_t j = 0; i + j < terms; ++j) r.c[i + j] += a.c[i] * b.c[j];
    return r;
  }
  friend Series operator/(const Series& a, const Series& b) {
    Series r;
    for (std::size_t i = 0; i < terms; ++i) {
      r.c[i] = a.c[i];
      for (std::size_t j = 0; j < i; ++j) r.c[i] -= r.c[j] * b.c[i - j];
      r.c[i] /= b.c[0];
    }
    return r;
  }
  friend Series log(const Series& a) {  // from a (log a)' = a'
    Series r;
    r.c[0] = std::log(a.c[0]);
    for (std::size_t i = 1; i < terms; ++i) {
      long double s = static_cast<long double>(i) * a.c[i];
      for (std::size_t j = 1; j < i; ++j) s -= static_cast<long double>(j) * r.c[j] * a.c[i - j];
      r.c[i] = s / (static_cast<long double>(i) * a.c[0]);
    }
    return r;
  }
  // The sum at e, from the power `first` on.
  long double at(long double e, std::size_t first) const {
    long double sum = 0.0L;
    for (std::size_t i = terms; i-- > first;) sum = sum * e + c[i];
    return sum * std::pow(e, static_cast<long double>(first));
  }
};

// The printed formulas, straight from F: eqs. (7), (8) of the 2003 paper, and their like.
template <class Model, class T, int D>
T naive_energy(const Mat<T, D>& F) {
  using std::log;
  const T lambda(lame.lambda), mu(lame.mu), half(0.5);
  const Mat<T, D> C = transpose(F) * F;
  if constexpr (std::is_same_v<Model, NeoHookean>) {
    const T log_J = log(determinant(F));
    return half * lambda * log_J * log_J - mu * log_J + half * mu * (trace(C) - T(D));
  } else {
    Mat<T, D> E = std::is_same_v<Model, LinearElastic> ? F + transpose(F) : C;
    for (int i = 0; i < D; ++i) E(i, i) = E(i, i) - T(std::is_same_v<Model, LinearElastic> ? 2.0 : 1.0);
    E = half * E;
    return half * lambda * trace(E) * trace(E) + mu * inner(E, E);
  }
}

template <class T, int D>
Mat<T, D> naive_neo_hookean_stress(const Mat<T, D>& F) {
  using std::log;
  const T J = determinant(F), lambda(lame.lambda), mu(lame.mu);
  const Mat<T, D> inverse_transpose = (T(1.0) / J) * cofactor(F);
  return (lambda * log(J)) * inverse_transpose + mu * (F + T(-1.0) * inverse_transpose);
}

template <class L>
class EveryLaw : public testing::Test {
 protected:
  L law;
};
using Laws = testing::Types<Law<NeoHookean, 1>, Law<NeoHookean, 2>, Law<NeoHookean, 3>, Law<SaintVenantKirchhoff, 1>,
                            Law<SaintVenantKirchhoff, 2>, Law<SaintVenantKirchhoff, 3>, Law<LinearElastic, 1>,
                            Law<LinearElastic, 2>, Law<LinearElastic, 3>>;
TYPED_TEST_SUITE(EveryLaw, Laws);

// Largest deviation of P from dW/dF over random gradients, relative to the largest stress.
template <class Model, class Other, int D>
double stress_error(const Model& model, const Other& energy_of) {
  test::Random random(1);
  double worst = 0.0;
  for (int trial = 0; trial < 20; ++trial) {
    const auto H = random_gradient<D>(random, 0.3);
    const auto P = model.template stress<double, D>(H).P;
    for (std::size_t k = 0; k < H.a.size(); ++k) {
      auto moved = cast<Derivative>(H);
      moved.a[k].slope = 1.0;
      worst = std::max(worst, std::abs(energy_of.template energy<Derivative, D>(moved).slope - P.a[k]) / norm(P));
    }
  }
  return worst;
}

TYPED_TEST(EveryLaw, stress_is_the_derivative_of_energy) {
  constexpr int D = TypeParam::D;
  const auto& model = this->law.model;
  EXPECT_LT((stress_error<decltype(this->law.model), decltype(this->law.model), D>(model, model)), 1e-13);
}

TYPED_TEST(EveryLaw, a_stress_that_is_not_the_derivative_of_the_energy_is_noticed) {
  constexpr int D = TypeParam::D;
  using Model = decltype(this->law.model);
  EXPECT_GT((stress_error<Model, Model, D>(this->law.model, Model{{lame.lambda, 1.001 * lame.mu}})), 1e-4);
}

TYPED_TEST(EveryLaw, tangent_is_the_derivative_of_stress) {
  constexpr int D = TypeParam::D;
  test::Random random(2);
  for (int trial = 0; trial < 20; ++trial) {
    const auto H = random_gradient<D>(random, 0.3);
    const auto A = this->law.model.template tangent<double, D>(H);
    for (int q = 0; q < D * D; ++q) {
      auto moved = cast<Derivative>(H);
      moved.a[static_cast<std::size_t>(q)].slope = 1.0;
      const auto P = this->law.model.template stress<Derivative, D>(moved).P;
      for (int p = 0; p < D * D; ++p)
        EXPECT_NEAR(A(p, q), P.a[static_cast<std::size_t>(p)].slope, 1e-13 * norm(A)) << p << ' ' << q;
    }
  }
}

TYPED_TEST(EveryLaw, change_of_stress_is_the_tangent_times_the_change) {
  constexpr int D = TypeParam::D;
  test::Random random(5);
  for (int trial = 0; trial < 20; ++trial) {
    const auto H = random_gradient<D>(random, 0.3), dH = random_gradient<D>(random, 1.0);
    const auto A = this->law.model.template tangent<double, D>(H);
    const auto dP = this->law.model.template stress_change<double, D>(H, dH);
    for (int p = 0; p < D * D; ++p) {
      double expected = 0.0;
      for (int q = 0; q < D * D; ++q) expected += A(p, q) * dH.a[static_cast<std::size_t>(q)];
      EXPECT_NEAR(dP.a[static_cast<std::size_t>(p)], expected, 1e-14 * norm(A)) << p;
    }
  }
}

TYPED_TEST(EveryLaw, tangent_has_major_symmetry) {
  constexpr int D = TypeParam::D;
  test::Random random(3);
  for (int trial = 0; trial < 20; ++trial) {
    const auto A = this->law.model.template tangent<double, D>(random_gradient<D>(random, 0.3));
    for (int p = 0; p < D * D; ++p)
      for (int q = 0; q < p; ++q) EXPECT_NEAR(A(p, q), A(q, p), 1e-15 * norm(A));
  }
}

TYPED_TEST(EveryLaw, undeformed_it_has_no_energy_and_no_stress) {
  constexpr int D = TypeParam::D;
  const Mat<double, D> zero;
  EXPECT_EQ((this->law.model.template energy<double, D>(zero)), 0.0);
  EXPECT_EQ(norm(this->law.model.template stress<double, D>(zero).P), 0.0);
  EXPECT_EQ((this->law.model.template stress<double, D>(zero).det_F), 1.0);
}

TYPED_TEST(EveryLaw, undeformed_tangent_is_hookes_law) {
  constexpr int D = TypeParam::D;
  const auto A = this->law.model.template tangent<double, D>(Mat<double, D>{});
  for (int i = 0; i < D; ++i)
    for (int J = 0; J < D; ++J)
      for (int k = 0; k < D; ++k)
        for (int L = 0; L < D; ++L)
          EXPECT_NEAR(A(i * D + J, k * D + L),
                      lame.lambda * (i == J && k == L) + lame.mu * ((i == k && J == L) + (i == L && J == k)), 1e-15);
}

// P(e H) / e -> Hooke's stress, linearly in e for the nonlinear laws.
TYPED_TEST(EveryLaw, small_strains_are_linear_elastic) {
  constexpr int D = TypeParam::D;
  test::Random random(4);
  const auto H = random_gradient<D>(random, 1.0);
  Mat<double, D> hooke = lame.mu * (H + transpose(H));
  for (int i = 0; i < D; ++i) hooke(i, i) += lame.lambda * trace(H);
  const auto deviation = [&](double e) {
    return norm((1.0 / e) * this->law.model.template stress<double, D>(e * H).P + (-1.0) * hooke) / norm(hooke);
  };
  if constexpr (TypeParam::is_linear) {
    EXPECT_LT(deviation(0.5), 1e-15);
  } else {
    EXPECT_LT(deviation(1e-6), 1e-5);
    EXPECT_NEAR(deviation(2e-4) / deviation(1e-4), 2.0, 0.01);
  }
}

// Exact to the last digits where differences of F and I would have lost half of them.
TYPED_TEST(EveryLaw, strains_of_1e_8_keep_all_digits) {
  constexpr int D = TypeParam::D;
  using Model = decltype(this->law.model);
  constexpr double e = 1e-8;
  test::Random random(5);
  for (int trial = 0; trial < 20; ++trial) {
    const auto H = random_gradient<D>(random, 1.0);
    Mat<Series, D> F = identity<Series, D>();
    for (std::size_t k = 0; k < H.a.size(); ++k) F.a[k].c[1] = H.a[k];
    const Series W = naive_energy<Model, Series, D>(F);
    ASSERT_LT(std::abs(W.c[0]) + std::abs(W.c[1]), 1e-17L);
    const auto exact = static_cast<double>(W.at(e, 2));
    EXPECT_NEAR((this->law.model.template energy<double, D>(e * H)), exact, 1e-14 * exact);
    if constexpr (TypeParam::is_neo_hookean) {
      const auto P = naive_neo_hookean_stress(F);
      const auto found = this->law.model.template stress<double, D>(e * H).P;
      for (std::size_t k = 0; k < H.a.size(); ++k)
        EXPECT_NEAR(found.a[k], static_cast<double>(P.a[k].at(e, 1)), 1e-15 * norm(found) * 4.0);
    }
  }
}

TYPED_TEST(EveryLaw, finite_strains_follow_the_printed_formula) {
  constexpr int D = TypeParam::D;
  using Model = decltype(this->law.model);
  test::Random random(6);
  for (int trial = 0; trial < 50; ++trial) {
    const auto H = random_gradient<D>(random, 0.4);
    const auto F = cast<long double>(H) + identity<long double, D>();
    const auto W = static_cast<double>(naive_energy<Model, long double, D>(F));
    EXPECT_NEAR((this->law.model.template energy<double, D>(H)), W, 1e-13 * W);
  }
}

TYPED_TEST(EveryLaw, reports_the_determinant_of_the_deformation_gradient) {
  constexpr int D = TypeParam::D;
  test::Random random(7);
  for (int trial = 0; trial < 50; ++trial) {
    const auto H = random_gradient<D>(random, 1.5);  // inverted ones included
    EXPECT_NEAR((this->law.model.template stress<double, D>(H).det_F), (determinant(identity<double, D>() + H)), 2e-14);
  }
}

// W(QF) = W(F), P(QF) = Q P(F): the material does not see the observer.
TYPED_TEST(EveryLaw, is_frame_indifferent_unless_linear) {
  constexpr int D = TypeParam::D;
  if constexpr (D > 1) {
    test::Random random(8);
    const auto& model = this->law.model;
    const auto Q = rotation<D>(0.8);
    const auto H = random_gradient<D>(random, 0.3);
    const auto turned = minus_identity(Q * (identity<double, D>() + H));
    const double W = model.template energy<double, D>(H), W_turned = model.template energy<double, D>(turned);
    const auto P = Q * model.template stress<double, D>(H).P;
    const double difference = norm(model.template stress<double, D>(turned).P + (-1.0) * P);
    if constexpr (TypeParam::frame_indifferent) {
      EXPECT_NEAR(W_turned, W, 1e-14 * (W + lame.mu));
      EXPECT_LT(difference, 1e-14 * (norm(P) + lame.mu));
    } else {
      EXPECT_GT(std::abs(W_turned - W), 0.1 * W);
      EXPECT_GT(difference, 0.1 * norm(P));
    }
  }
}

TYPED_TEST(EveryLaw, is_isotropic_unless_linear) {
  constexpr int D = TypeParam::D;
  if constexpr (D > 1 && TypeParam::frame_indifferent) {
    test::Random random(9);
    const auto H = random_gradient<D>(random, 0.3);
    const auto turned = minus_identity((identity<double, D>() + H) * rotation<D>(0.8));
    const double W = this->law.model.template energy<double, D>(H);
    EXPECT_NEAR((this->law.model.template energy<double, D>(turned)), W, 1e-14 * (W + lame.mu));
  }
}

// D = 2 is plane strain, D = 1 uniaxial strain: the same law with the missing gradients zero.
TYPED_TEST(EveryLaw, fewer_dimensions_are_strains_without_the_others) {
  constexpr int D = TypeParam::D;
  test::Random random(10);
  const auto H = random_gradient<D>(random, 0.3);
  Mat<double, 3> padded;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) padded(i, j) = H(i, j);
  const auto& model = this->law.model;
  const double W = model.template energy<double, D>(H);
  EXPECT_NEAR((model.template energy<double, 3>(padded)), W, 1e-14 * W);
  const auto P = model.template stress<double, D>(H);
  const auto P3 = model.template stress<double, 3>(padded);
  const auto A = model.template tangent<double, D>(H);
  const auto A3 = model.template tangent<double, 3>(padded);
  EXPECT_NEAR(P.det_F, P3.det_F, 1e-15);
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      EXPECT_NEAR(P.P(i, j), P3.P(i, j), 1e-14 * norm(P.P));
      for (int k = 0; k < D; ++k)
        for (int l = 0; l < D; ++l) EXPECT_NEAR(A(i * D + j, k * D + l), A3(i * 3 + j, k * 3 + l), 1e-14 * norm(A));
    }
}

TEST(LinearElastic, a_rotation_strains_it) {
  const LinearElastic law{lame};
  EXPECT_GT(law.energy(minus_identity(rotation<3>(0.5))), 0.01);
}

TEST(NeoHookean, stress_follows_equation_8_at_finite_strain) {
  test::Random random(11);
  const NeoHookean law{lame};
  for (int trial = 0; trial < 50; ++trial) {
    const auto H = random_gradient<3>(random, 0.4);
    const auto F = cast<long double>(H) + identity<long double, 3>();
    const auto expected = naive_neo_hookean_stress(F);
    const auto P = law.stress(H).P;
    for (std::size_t k = 0; k < 9; ++k) EXPECT_NEAR(P.a[k], static_cast<double>(expected.a[k]), 1e-13 * norm(P));
  }
}

// From nearly flat to threefold stretch, across the switch between series and logarithm at |J - 1| = 0.2.
TEST(NeoHookean, uniaxial_energy_keeps_its_digits_at_every_stretch) {
  const NeoHookean law{lame};
  for (int i = -990; i <= 2000; ++i) {
    if (i == 0) continue;
    const double e = i * 1e-3;
    const long double l = std::log1p(static_cast<long double>(e));
    const long double exact = 0.5L * lame.lambda * l * l + static_cast<long double>(lame.mu) * (e + 0.5L * e * e - l);
    EXPECT_NEAR(law.energy(Mat<double, 1>{{e}}), static_cast<double>(exact), 5e-15 * static_cast<double>(exact)) << e;
  }
}

TEST(NeoHookean, energy_grows_without_bound_towards_collapse) {
  const NeoHookean law{lame};
  EXPECT_GT(law.energy(Mat<double, 1>{{-1.0 + 1e-12}}), law.energy(Mat<double, 1>{{-1.0 + 1e-6}}));
  EXPECT_FALSE(std::isfinite(law.energy(Mat<double, 1>{{-1.0}})));
}

// dP/dF = (lambda + 2 mu) (3 F^2 - 1) / 2 changes sign at F = 1/sqrt 3: the limit its documentation gives.
TEST(SaintVenantKirchhoff, softens_in_compression_and_fails_at_a_stretch_of_0_58) {
  const SaintVenantKirchhoff law{lame};
  const double limit = 1.0 / std::sqrt(3.0);
  EXPECT_GT(law.tangent(Mat<double, 1>{{limit + 1e-6 - 1.0}})(0, 0), 0.0);
  EXPECT_LT(law.tangent(Mat<double, 1>{{limit - 1e-6 - 1.0}})(0, 0), 0.0);
  EXPECT_NEAR(law.tangent(Mat<double, 1>{{1.0}})(0, 0), (lame.lambda + 2.0 * lame.mu) * 5.5, 1e-14);
}

TEST(Lame, from_young_and_poisson_give_them_back) {
  for (const double nu : {-0.9, 0.0, 0.25, 0.499}) {
    const Lame l = lame_from_young(210e9, nu);
    EXPECT_NEAR(l.mu * (3.0 * l.lambda + 2.0 * l.mu) / (l.lambda + l.mu), 210e9, 1e-3);
    EXPECT_NEAR(l.lambda / (2.0 * (l.lambda + l.mu)), nu, 1e-13);
  }
}

TEST(Lame, constants_outside_their_range_are_refused_with_the_value) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const double young : {0.0, -1.0, nan, infinity}) EXPECT_THROW(lame_from_young(young, 0.3), InputError);
  for (const double poisson : {-1.0, 0.5, 0.7, nan}) EXPECT_THROW(lame_from_young(1.0, poisson), InputError);
  for (const double mu : {0.0, -1.0, nan, infinity}) EXPECT_THROW(checked_lame(1.0, mu), InputError);
  for (const double lambda : {-2.0 / 3.0, -1.0, nan, infinity}) EXPECT_THROW(checked_lame(lambda, 1.0), InputError);
  try {
    lame_from_young(2.0, 0.5);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("poisson = 0.5"), std::string::npos);
  }
}

TEST(Lame, a_negative_lambda_with_a_positive_bulk_modulus_is_accepted) {
  EXPECT_EQ(checked_lame(-0.5, 1.0).lambda, -0.5);
}

TEST(Lame, wave_speed_is_that_of_uniaxial_strain) {
  EXPECT_DOUBLE_EQ(dilatational_wave_speed({93e9, 10e9}, 7800.0), std::sqrt(113e9 / 7800.0));
  for (const Material& material : test::materials(lame)) {
    const double modulus =
        std::visit([](const auto& m) { return m.template tangent<double, 1>(Mat<double, 1>{})(0, 0); }, material);
    EXPECT_DOUBLE_EQ(dilatational_wave_speed(lame_of(material), 2.0), std::sqrt(modulus / 2.0));
  }
}

}  // namespace
}  // namespace tempi
