// SPDX-License-Identifier: Apache-2.0
// Discrete gradients: DG . dq = V(u1) - V(u0), no net force, no net moment of pairs, symmetric, near the gradient.
#include "tempi/integrator/one_step/discrete_gradient.hpp"

#include <gtest/gtest.h>

#include "support/sync.hpp"
#include "tempi/model/linearised_model.hpp"

namespace tempi::test {
namespace {

using Vector = Eigen::VectorXd;

struct Term {
  TermId id;
  std::vector<std::size_t> components;  // of the stencil in u
};
std::vector<Term> terms_of(const Model& model) {
  std::vector<Term> terms;
  for (Index k = 0; k < model.term_count(); ++k) {
    Term term{make_id<TermId>(k), {}};
    for (const NodeId a : model.term(term.id).stencil())
      for (Index c = 0; c < model.dim(); ++c)
        term.components.push_back(static_cast<std::size_t>(index(a) * model.dim() + c));
    terms.push_back(std::move(term));
  }
  return terms;
}

Vector random_vector(const Model& model, double amplitude, unsigned seed) {
  Random random(seed);
  Vector u(static_cast<Index>(model.reference().size()));
  for (double& value : u) value = random.uniform(-amplitude, amplitude);
  return u;
}
std::vector<double> discrete_gradient(DiscreteGradient& gradient, const Term& term) {
  std::vector<double> g(term.components.size());
  EXPECT_GT(gradient(term.id, g), 0.0);
  return g;
}
double energy(const Model& model, const Term& term, const Vector& u) {
  const auto [potential, k] = model.term(term.id);
  return potential->energy(k, {u.data(), static_cast<std::size_t>(u.size())}, 0.0);
}

// Holds every term of the model between u0 and u0 + dq; `moment`: none is expected.
void check(const Model& model, const Vector& u0, const Vector& dq, bool moment) {
  const auto d = static_cast<std::size_t>(model.dim());
  DiscreteGradient there(model, u0, 0.0), back(model, u0 + dq, 0.0);
  there.move_to(dq);
  back.move_to(-dq);
  for (const Term& term : terms_of(model)) {
    const auto g = discrete_gradient(there, term), g_back = discrete_gradient(back, term);
    const double scale = std::max(largest(g), 1e-3);
    double gained = 0.0, turned = 0.0;
    std::array<double, 3> force{};
    for (std::size_t i = 0; i < g.size(); ++i) {
      const auto at = static_cast<Index>(term.components[i]);
      gained += g[i] * dq(at);
      force[i % d] += g[i];
      if (d == 2) {
        const Index other = i % 2 == 0 ? at + 1 : at - 1;
        const double x = model.reference()[static_cast<std::size_t>(other)] + u0(other) + 0.5 * dq(other);
        turned += (i % 2 == 0 ? -x : x) * g[i];
      }
    }
    EXPECT_NEAR(gained, energy(model, term, u0 + dq) - energy(model, term, u0), 1e-14 * scale);
    EXPECT_LT(largest(force), 1e-14 * scale);
    EXPECT_LT(largest_difference(g, g_back), 1e-10 * scale);
    EXPECT_TRUE(moment || std::abs(turned) < 1e-14 * scale) << turned;
  }
}

TEST(DiscreteGradientOfPairs, GivesTheChangeOfEnergyWithoutForceOrMoment) {
  const auto model = spring_model(3.0);
  for (unsigned seed = 1; seed <= 20; ++seed)
    for (const double size : {0.3, 1e-2, 1e-4, 1e-6, 1e-8, 0.0})
      check(*model, random_vector(*model, 0.1, seed), random_vector(*model, size, seed + 50), false);
}

TEST(DiscreteGradientOfElements, GivesTheChangeOfEnergyWithoutForce) {
  for (const MeshCase& mesh : mesh_cases())
    for (const Material& material : materials()) {
      SCOPED_TRACE(mesh.name + " " + std::string(name_of(material)));
      const Body body = make_body(mesh.make(), material, 1.2);
      for (const double size : {0.01, 1e-4, 1e-6, 1e-8, 0.0})
        check(*body.model, random_vector(*body.model, 0.01, 3), random_vector(*body.model, size, 5), true);
    }
}

// Of two nodes, but not of their distance alone.
TEST(DiscreteGradientOfPairs, ThatAreNotCentralGivesTheChangeOfEnergyWithoutForce) {
  const auto springs = spring_model(3.0);
  const Model model = linearised(*springs, spinning_springs(*springs).displacement);
  for (const double size : {0.3, 1e-3, 0.0})
    check(model, random_vector(model, 0.1, 2), random_vector(model, size, 4), true);
}

// [V(r1) - V(r0)] / (r1^2 - r0^2) (w0 + w1), of LaBudde and Greenspan.
TEST(DiscreteGradientOfPairs, IsThatOfLaBuddeAndGreenspan) {
  const auto model = spring_model(3.0);
  const Vector u0 = random_vector(*model, 0.1, 7), dq = random_vector(*model, 0.2, 8), u1 = u0 + dq;
  DiscreteGradient gradient(*model, u0, 0.0);
  gradient.move_to(dq);
  for (const Term& term : terms_of(*model)) {
    const auto g = discrete_gradient(gradient, term);
    std::array<double, 2> w0{}, w1{};
    for (std::size_t c = 0; c < 2; ++c) {
      const std::size_t a = term.components[c], b = term.components[2 + c];
      const double X = model->reference()[b] - model->reference()[a];
      w0[c] = X + u0(static_cast<Index>(b)) - u0(static_cast<Index>(a));
      w1[c] = X + u1(static_cast<Index>(b)) - u1(static_cast<Index>(a));
    }
    const double quotient = (energy(*model, term, u1) - energy(*model, term, u0)) /
                            (w1[0] * w1[0] + w1[1] * w1[1] - w0[0] * w0[0] - w0[1] * w0[1]);
    for (std::size_t c = 0; c < 2; ++c) EXPECT_NEAR(g[2 + c], quotient * (w0[c] + w1[c]), 1e-12);
  }
}

// r1 = r0 but for `difference`, after half a radian: V'(r)/r (w0 + w1)/2.
TEST(DiscreteGradientOfPairs, HasItsLimitAtEqualDistances) {
  const auto model = spring_model(3.0);
  const Term spring = terms_of(*model).front();  // along (1, 0.1)
  const double length = std::hypot(1.0, 0.1), angle = std::atan2(0.1, 1.0), e = 0.2, r = length + e;
  const auto end = [&](double distance, double turn) {
    Vector u = Vector::Zero(8);
    u(2) = distance * std::cos(angle + turn) - 1.0;
    u(3) = distance * std::sin(angle + turn) - 0.1;
    return u;
  };
  for (const double difference : {0.0, 1e-15, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4}) {
    SCOPED_TRACE(difference);
    const Vector u0 = end(r, 0.0), u1 = end(r + difference, 0.5);
    DiscreteGradient gradient(*model, u0, 0.0);
    gradient.move_to(u1 - u0);
    const auto g = discrete_gradient(gradient, spring);
    const double tension = 2.0 * e + 3.0 * e * e * e;
    for (std::size_t c = 0; c < 2; ++c) {
      const auto i = static_cast<Index>(2 + c);
      const double w = model->reference()[2 + c] + 0.5 * (u0(i) + u1(i));
      EXPECT_NEAR(g[2 + c], tension / r * w, 1e-10 + 3.0 * difference);
    }
  }
}

TEST(DiscreteGradientOfElements, IsTheGradientAtTheMidpointToOrder2) {
  const Body body = make_body(triangle_mesh(CellType::triangle3, 2, 0.1, 3), NeoHookean{{1.3, 0.7}}, 1.2);
  const Vector middle = random_vector(*body.model, 0.02, 3), direction = random_vector(*body.model, 1.0, 5);
  const Term term = terms_of(*body.model)[2];
  std::vector<double> sizes, errors;
  for (const double size : {0.04, 0.02, 0.01, 0.005}) {
    DiscreteGradient gradient(*body.model, middle - 0.5 * size * direction, 0.0);
    gradient.move_to(size * direction);
    const auto g = discrete_gradient(gradient, term);
    std::vector<double> exact(g.size(), 0.0);
    const auto [potential, k] = body.model->term(term.id);
    potential->add_gradient(k, {middle.data(), static_cast<std::size_t>(middle.size())}, 0.0, exact);
    sizes.push_back(size);
    errors.push_back(largest_difference(g, exact));
  }
  EXPECT_NEAR(slope(sizes, errors), 2.0, 0.1);
}

// Largest deviation of the derivatives of all terms from central differences, over their largest component.
double derivative_error(const Model& model, const Vector& u0, const Vector& dq) {
  constexpr double spacing = 1e-5;
  DiscreteGradient gradient(model, u0, 0.0);
  double worst = 0.0, scale = 0.0;
  for (const Term& term : terms_of(model)) {
    const std::size_t n = term.components.size();
    std::vector<double> derivative(n * n, 0.0);
    gradient.move_to(dq);
    gradient.add_derivative(term.id, derivative);
    scale = std::max(scale, largest(derivative));
    for (std::size_t j = 0; j < n; ++j) {
      const auto at = [&](double by) {
        Vector moved = dq;
        moved(static_cast<Index>(term.components[j])) += by;
        gradient.move_to(moved);
        return discrete_gradient(gradient, term);
      };
      const auto up = at(spacing), down = at(-spacing);
      for (std::size_t i = 0; i < n; ++i)
        worst = std::max(worst, std::abs(derivative[i * n + j] - (up[i] - down[i]) / (2.0 * spacing)));
    }
  }
  return worst / scale;
}

TEST(DiscreteGradient, HasTheDerivativeItGives) {
  const auto springs = spring_model(3.0);
  for (unsigned seed = 1; seed <= 5; ++seed)
    EXPECT_LT(derivative_error(*springs, random_vector(*springs, 0.1, seed), random_vector(*springs, 0.3, seed + 50)),
              1e-7);
  for (const MeshCase& mesh : mesh_cases()) {
    SCOPED_TRACE(mesh.name);
    const Body body = make_body(mesh.make(), NeoHookean{{1.3, 0.7}}, 1.2);
    EXPECT_LT(derivative_error(*body.model, random_vector(*body.model, 0.01, 3), random_vector(*body.model, 0.02, 5)),
              1e-5);
  }
}

TEST(DiscreteGradient, TellsWhatIsNotAdmissible) {
  const Body body = make_body(bar_mesh(2), LinearElastic{{1.3, 0.7}}, 1.2);
  DiscreteGradient gradient(*body.model, Vector::Zero(3), 0.0);
  std::vector<double> g(2);
  Vector dq(3);
  dq << 0.0, -0.8, 0.0;  // the first bar of length 0.5: upright at the midpoint, inverted at the end
  gradient.move_to(dq);
  EXPECT_NEAR(gradient(TermId{0}, g), -0.6, 1e-12);
  dq << 0.0, std::numeric_limits<double>::quiet_NaN(), 0.0;
  gradient.move_to(dq);
  EXPECT_FALSE(gradient(TermId{0}, g) > 0.0);
}

}  // namespace
}  // namespace tempi::test
