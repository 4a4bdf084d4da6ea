// SPDX-License-Identifier: Apache-2.0
#include "tempi/mesh/elements.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/meshes.hpp"

namespace tempi {
namespace {

// Reference coordinates of an element's nodes: vertices, then the middles of the edges.
template <class Element>
std::vector<typename Element::Point> nodes_of_reference() {
  std::vector<typename Element::Point> nodes;
  constexpr auto D = static_cast<std::size_t>(Element::dim);
  for (std::size_t v = 0; v <= D; ++v) {
    typename Element::Point p{};
    if (Element::dim == 1) {
      p[0] = v == 0 ? -1.0 : 1.0;
    } else if (v > 0) {
      p[v - 1] = 1.0;
    }
    nodes.push_back(p);
  }
  for (const auto& [a, b] : mid_edges(Element::type)) {
    typename Element::Point p{};
    for (std::size_t i = 0; i < D; ++i)
      p[i] = 0.5 * (nodes[static_cast<std::size_t>(a)][i] + nodes[static_cast<std::size_t>(b)][i]);
    nodes.push_back(p);
  }
  return nodes;
}

template <class Element>
typename Element::Point random_point(test::Random& random) {
  typename Element::Point p{};
  double sum = 0.0;
  do {
    sum = 0.0;
    for (double& x : p) sum += x = random.uniform(Element::dim == 1 ? -1.0 : 0.0, 1.0);
  } while (Element::dim > 1 && sum > 1.0);
  return p;
}

using Powers = std::array<int, 3>;

// All monomials of total degree `degree` in D variables.
std::vector<Powers> monomials(int D, int degree) {
  std::vector<Powers> all;
  for (int a = 0; a <= degree; ++a)
    for (int b = 0; b <= (D > 1 ? degree - a : 0); ++b) {
      const int c = degree - a - b;
      if (D == 3) all.push_back({a, b, c});
      if (D == 2 && c == 0) all.push_back({a, b, 0});
      if (D == 1 && c == 0) all.push_back({a, 0, 0});
    }
  return all;
}

// Integral of x^a y^b z^c: a! b! c! / (a + b + c + D)! on a simplex, 2 / (a + 1) or 0 on [-1, 1].
double exact_integral(int D, const Powers& p) {
  if (D == 1) return p[0] % 2 == 0 ? 2.0 / (p[0] + 1) : 0.0;
  return std::tgamma(p[0] + 1.0) * std::tgamma(p[1] + 1.0) * std::tgamma(p[2] + 1.0) /
         std::tgamma(p[0] + p[1] + p[2] + D + 1.0);
}

template <class Rule>
double integral(const Rule& rule, const Powers& p) {
  double sum = 0.0;
  for (const auto& at : rule) {
    double value = at.weight;
    for (std::size_t i = 0; i < at.xi.size(); ++i) value *= std::pow(at.xi[i], p[i]);
    sum += value;
  }
  return sum;
}

template <class Rule>
double worst_error(const Rule& rule, int D, int degree) {
  double worst = 0.0;
  for (const Powers& p : monomials(D, degree))
    worst = std::max(worst, std::abs(integral(rule, p) - exact_integral(D, p)));
  return worst;
}

template <class E>
class AnyElement : public testing::Test {};
using AllElements = testing::Types<Line2, Line3, Triangle3, Triangle6, Tetrahedron4, Tetrahedron10>;
TYPED_TEST_SUITE(AnyElement, AllElements);

TYPED_TEST(AnyElement, has_the_dimension_and_nodes_of_its_cell_type) {
  EXPECT_EQ(TypeParam::dim, info(TypeParam::type).dim);
  EXPECT_EQ(TypeParam::nodes, info(TypeParam::type).nodes);
  EXPECT_EQ(nodes_of_reference<TypeParam>().size(), static_cast<std::size_t>(TypeParam::nodes));
}

TYPED_TEST(AnyElement, each_shape_function_is_one_at_its_node_and_zero_at_the_others) {
  const auto nodes = nodes_of_reference<TypeParam>();
  for (std::size_t b = 0; b < nodes.size(); ++b)
    for (std::size_t a = 0; a < nodes.size(); ++a)
      EXPECT_EQ(TypeParam::shape(nodes[b])[a], a == b ? 1.0 : 0.0) << a << " at " << b;
}

TYPED_TEST(AnyElement, shape_functions_sum_to_one_and_their_derivatives_to_zero) {
  test::Random random(1);
  for (int trial = 0; trial < 20; ++trial) {
    const auto p = random_point<TypeParam>(random);
    const auto N = TypeParam::shape(p);
    EXPECT_NEAR(std::accumulate(N.begin(), N.end(), 0.0), 1.0, 1e-15);
    typename TypeParam::Point sum{};
    for (const auto& dN : TypeParam::derivative(p))
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += dN[i];
    for (const double s : sum) EXPECT_NEAR(s, 0.0, 1e-14);
  }
}

// Central differences of polynomials of degree two are exact: only rounding is left.
TYPED_TEST(AnyElement, derivatives_are_those_of_the_shape_functions) {
  test::Random random(2);
  constexpr double h = 0.125;
  for (int trial = 0; trial < 20; ++trial) {
    const auto p = random_point<TypeParam>(random);
    const auto dN = TypeParam::derivative(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
      auto up = p, down = p;
      up[i] += h;
      down[i] -= h;
      const auto above = TypeParam::shape(up), below = TypeParam::shape(down);
      for (std::size_t a = 0; a < dN.size(); ++a) EXPECT_NEAR(dN[a][i], (above[a] - below[a]) / (2.0 * h), 2e-14);
    }
  }
}

TYPED_TEST(AnyElement, reproduces_polynomials_of_its_degree) {
  const auto nodes = nodes_of_reference<TypeParam>();
  const int degree = TypeParam::nodes > TypeParam::dim + 1 ? 2 : 1;
  test::Random random(3);
  const auto p = random_point<TypeParam>(random);
  const auto N = TypeParam::shape(p);
  const auto value = [](const Powers& power, const auto& at) {
    double v = 1.0;
    for (std::size_t i = 0; i < at.size(); ++i) v *= std::pow(at[i], power[i]);
    return v;
  };
  for (int k = 0; k <= degree; ++k)
    for (const Powers& power : monomials(TypeParam::dim, k)) {
      double interpolated = 0.0;
      for (std::size_t a = 0; a < nodes.size(); ++a) interpolated += N[a] * value(power, nodes[a]);
      EXPECT_NEAR(interpolated, value(power, p), 1e-15);
    }
}

template <class E>
class ElasticElement : public testing::Test {};
using ElasticElements = testing::Types<Line2, Triangle3, Triangle6, Tetrahedron4, Tetrahedron10>;
TYPED_TEST_SUITE(ElasticElement, ElasticElements);

TYPED_TEST(ElasticElement, stiffness_rule_is_exact_for_products_of_gradients_and_not_beyond) {
  constexpr int D = TypeParam::dim;
  const int needed = TypeParam::nodes > D + 1 ? 2 : 0;
  const int reached = TypeParam::nodes > D + 1 ? 2 : 1;
  ASSERT_GE(reached, needed);
  for (int k = 0; k <= reached; ++k) EXPECT_LT(worst_error(TypeParam::stiffness_rule, D, k), 1e-16) << k;
  EXPECT_GT(worst_error(TypeParam::stiffness_rule, D, reached + 1), 1e-4);
}

// HRZ: the diagonal of the consistent mass, scaled to the element's mass. Integrated here by a rule of degree 7.
TYPED_TEST(ElasticElement, lumping_fractions_are_the_scaled_diagonal_of_the_consistent_mass) {
  std::array<double, TypeParam::nodes> diagonal{};
  for (const auto& at : collapsed_gauss_rule<TypeParam::dim>(5)) {
    const auto N = TypeParam::shape(at.xi);
    for (std::size_t a = 0; a < N.size(); ++a) diagonal[a] += at.weight * N[a] * N[a];
  }
  const double trace = std::accumulate(diagonal.begin(), diagonal.end(), 0.0);
  for (std::size_t a = 0; a < diagonal.size(); ++a) EXPECT_NEAR(TypeParam::hrz[a], diagonal[a] / trace, 1e-15) << a;
  EXPECT_NEAR(std::accumulate(TypeParam::hrz.begin(), TypeParam::hrz.end(), 0.0), 1.0, 1e-15);
}

TEST(Lumping, quadratic_elements_have_the_fractions_of_the_documentation) {
  EXPECT_DOUBLE_EQ(Triangle6::hrz[0], 1.0 / 19.0);
  EXPECT_DOUBLE_EQ(Triangle6::hrz[3], 16.0 / 57.0);
  EXPECT_DOUBLE_EQ(Tetrahedron10::hrz[0], 1.0 / 36.0);
  EXPECT_DOUBLE_EQ(Tetrahedron10::hrz[4], 4.0 / 27.0);
}

// Why the lumping is not a row sum: vertices would get no mass in 2-D and a negative one in 3-D.
TEST(Lumping, row_sums_would_leave_vertices_without_mass) {
  double triangle = 0.0, tetrahedron = 0.0;
  for (const auto& at : collapsed_gauss_rule<2>(5)) triangle += at.weight * Triangle6::shape(at.xi)[0];
  for (const auto& at : collapsed_gauss_rule<3>(5)) tetrahedron += at.weight * Tetrahedron10::shape(at.xi)[0];
  EXPECT_NEAR(triangle, 0.0, 1e-16);
  EXPECT_NEAR(tetrahedron, -1.0 / 120.0, 1e-16);
}

template <int D>
void check_collapsed_rule() {
  for (int n = 1; n <= 5; ++n) {
    const auto rule = collapsed_gauss_rule<D>(n);
    EXPECT_EQ(rule.size(), static_cast<std::size_t>(std::lround(std::pow(n, D))));
    for (int k = 0; k <= 2 * n - D; ++k) EXPECT_LT(worst_error(rule, D, k), 1e-14) << "n " << n << " degree " << k;
    EXPECT_GT(worst_error(rule, D, 2 * n - D + 1), 1e-9) << "n " << n << ": more than is claimed";
    for (const auto& at : rule) {
      EXPECT_GT(at.weight, 0.0);
      double sum = 0.0;
      for (const double x : at.xi) {
        EXPECT_GT(x, D == 1 ? -1.0 : 0.0);
        sum += x;
      }
      EXPECT_LT(sum, 1.0);
    }
  }
}

TEST(CollapsedGaussRule, is_exact_on_the_line_to_its_degree_and_not_beyond) { check_collapsed_rule<1>(); }
TEST(CollapsedGaussRule, is_exact_on_the_triangle_to_its_degree_and_not_beyond) { check_collapsed_rule<2>(); }
TEST(CollapsedGaussRule, is_exact_on_the_tetrahedron_to_its_degree_and_not_beyond) { check_collapsed_rule<3>(); }

}  // namespace
}  // namespace tempi
