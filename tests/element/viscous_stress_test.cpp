// SPDX-License-Identifier: Apache-2.0
// The viscous stress against its definition, T = lambda tr(e) 1 + 2 mu e with e = d - (T G + G T) / 2, and what nodes
// tell of it one by one.
#include "tempi/element/viscous_stress.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tempi {
namespace {

template <int dim>
double largest(const Mat<double, dim>& m) {
  double most = 0.0;
  for (const double x : m.a) most = std::max(most, std::abs(x));
  return most;
}

// Nodes of a cell: g = dN/dx, with r V / m in `factor`.
template <int dim>
struct Nodes {
  std::array<std::array<double, dim>, dim + 1> g;
  std::array<double, dim + 1> factor;
};

template <int dim>
class Drawn {
 public:
  explicit Drawn(unsigned seed) : dice_(seed) {}
  double number() { return std::uniform_real_distribution<double>(-1.0, 1.0)(dice_); }
  Mat<double, dim> symmetric() {
    Mat<double, dim> m;
    for (int i = 0; i < dim; ++i)
      for (int j = 0; j <= i; ++j) m(i, j) = m(j, i) = number();
    return m;
  }
  // r V / m from 1e-3 to 10^most, cells up to a thousand times as flat as wide.
  Nodes<dim> nodes(double most) {
    Nodes<dim> of;
    const double flat = std::pow(10.0, 1.5 * (1.0 + number()));
    for (double& f : of.factor) f = std::pow(10.0, -3.0 + (3.0 + most) * 0.5 * (1.0 + number()));
    of.g[0].fill(0.0);
    for (std::size_t a = 1; a <= dim; ++a)
      for (std::size_t i = 0; i < dim; ++i) {
        of.g[a][i] = number() * (i == 0 ? flat : 1.0);
        of.g[0][i] -= of.g[a][i];
      }
    return of;
  }

 private:
  std::mt19937_64 dice_;
};

template <int dim>
Mat<double, dim> metric_of(const Nodes<dim>& nodes) {
  Mat<double, dim> G;
  for (std::size_t a = 0; a <= dim; ++a)
    for (int i = 0; i < dim; ++i)
      for (int j = 0; j < dim; ++j)
        G(i, j) += nodes.factor[a] * nodes.g[a][static_cast<std::size_t>(i)] * nodes.g[a][static_cast<std::size_t>(j)];
  return G;
}

template <int dim>
Mat<double, dim> law_of(double lambda, double mu, const Mat<double, dim>& e) {
  return lambda * trace(e) * identity<double, dim>() + 2.0 * mu * e;
}

// What is left of the equation for T over the largest of what is in it, and of the power likewise.
template <int dim>
double error_of(double lambda, double mu, const Mat<double, dim>& G, const Mat<double, dim>& d,
                const ViscousStress<double, dim>& found) {
  const Mat<double, dim> TG = found.stress * G, felt = 0.5 * (TG + transpose(TG)), e = d + -1.0 * felt;
  const double scale = (std::abs(lambda) + 2.0 * mu) * (largest(d) + dim * largest(G) * largest(found.stress));
  const double left = largest(law_of(lambda, mu, e) + -1.0 * found.stress);
  EXPECT_GE(found.power, -1e-15 * scale * largest(d));
  return std::max(left, std::abs(found.power - inner(found.stress, e)) / largest(d)) / scale;
}

struct Law {
  double lambda, mu;
};
// Of both signs; without resistance to dilation or to shear; nearly incompressible.
template <int dim>
const std::array<Law, 6> laws = {
    {{0.5, 0.3}, {-0.2, 0.3}, {-2.0 / dim * 0.3, 0.3}, {0.8, 0.0}, {0.0, 0.4}, {1e3, 1.0}}};

template <int dim>
void expect_the_stress_of_the_law() {
  Drawn<dim> drawn(7);
  double worst = 0.0, at_supports = 0.0, control = 0.0;
  for (int draw = 0; draw < 2000; ++draw)
    for (const auto& [lambda, mu] : laws<dim>) {
      const auto nodes = drawn.nodes(draw % 2 == 0 ? 0.0 : 6.0);
      const auto G = metric_of(nodes), d = drawn.symmetric();
      const ViscousLaw<double, dim> law(lambda, mu);
      const auto found = viscous_stress(law, G, d);
      worst = std::max(worst, error_of(lambda, mu, G, d, found) / (1.0 + mu * trace(G)));  // by the condition of M
      ViscousMetric<double, dim> metric;
      for (std::size_t a = 0; a <= dim; ++a)
        for (std::size_t i = 0; i < dim; ++i) metric.add(i, nodes.g[a], nodes.factor[a]);
      at_supports = std::max(at_supports, error_of(lambda, mu, G, d, viscous_stress(law, metric, d)));
      auto wrong = found;  // as if the trace were forgotten
      wrong.stress = law_of(0.0, mu, wrong.stress);
      control = std::max(control, error_of(lambda, mu, G, d, wrong));
    }
  EXPECT_LT(worst, 2e-14);
  EXPECT_LT(at_supports, 3e-15);
  EXPECT_GT(control, 0.1);
}
TEST(ViscousStress, isThatOfTheLawInOneDimension) { expect_the_stress_of_the_law<1>(); }
TEST(ViscousStress, isThatOfTheLawInTwoDimensions) { expect_the_stress_of_the_law<2>(); }
TEST(ViscousStress, isThatOfTheLawInThreeDimensions) { expect_the_stress_of_the_law<3>(); }

}  // namespace
}  // namespace tempi
