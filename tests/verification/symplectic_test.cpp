// SPDX-License-Identifier: Apache-2.0
// The tangent A of the map from (q, p) at t = 0 to the synchronised (q, p) at t is symplectic: A^T J A = J (Lew,
// Marsden, Ortiz, West 2004, eqs. (36) to (38)). A by central differences, in the scaled variables q sqrt(m omega),
// p / sqrt(m omega), in which a stiff oscillation is a circle.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "support/runs.hpp"

namespace tempi::test {
namespace {

// A map of displacements and velocities.
using Flow = std::function<State(const State&)>;

// Largest entry of A^T J A - J.
double symplectic_defect(const Model& model, const State& at, double omega, const Flow& flow) {
  const auto d = static_cast<std::size_t>(model.dim());
  const std::size_t n = at.displacement.size();
  // Differences of spacing s: truncation s^2 times third derivatives of size one, rounding 1e-16 / s.
  constexpr double spacing = 1e-5;
  Eigen::MatrixXd A(2 * n, 2 * n);
  const auto scale = [&](std::size_t i) { return std::sqrt(model.mass()[i / d] * omega); };
  for (std::size_t j = 0; j < 2 * n; ++j) {
    const std::size_t i = j % n;
    const auto moved = [&](double by) {
      State state = at;
      if (j < n)
        state.displacement[i] += by / scale(i);
      else
        state.velocity[i] += by * scale(i) / model.mass()[i / d];
      return flow(state);
    };
    const State up = moved(spacing), down = moved(-spacing);
    for (std::size_t k = 0; k < n; ++k) {
      const auto row = static_cast<Eigen::Index>(k), column = static_cast<Eigen::Index>(j);
      A(row, column) = scale(k) * (up.displacement[k] - down.displacement[k]) / (2.0 * spacing);
      A(row + static_cast<Eigen::Index>(n), column) =
          model.mass()[k / d] / scale(k) * (up.velocity[k] - down.velocity[k]) / (2.0 * spacing);
    }
  }
  const auto N = static_cast<Eigen::Index>(n);
  Eigen::MatrixXd J = Eigen::MatrixXd::Zero(2 * N, 2 * N);
  J.topRightCorner(N, N).setIdentity();
  J.bottomLeftCorner(N, N) = -Eigen::MatrixXd::Identity(N, N);
  return (A.transpose() * J * A - J).cwiseAbs().maxCoeff();
}

struct Example {
  std::string name;
  std::function<Mesh()> mesh;
};
std::vector<Example> examples() {
  using enum CellType;
  return {{"bar", [] { return bar_mesh(4, 0.15, 11); }},
          {"triangle3", [] { return triangle_mesh(triangle3, 2, 0.15, 12); }},
          {"triangle6", [] { return triangle_mesh(triangle6, 1, 0.1, 13, 0.05); }},
          {"tetrahedron4", [] { return tetrahedron_mesh(tetrahedron4, 1, 0.15, 14); }},
          {"tetrahedron10", [] { return tetrahedron_mesh(tetrahedron10, 1, 0.1, 15); }}};
}
void PrintTo(const Example& e, std::ostream* out) { *out << e.name; }

// Steps of irrational ratios with omega h about 1 (the stable step is omega h = 2).
std::vector<double> irrational_steps(const Model& model) {
  std::vector<double> steps = own_steps(model, 0.5);
  Random random(9);
  for (double& step : steps) step *= random.uniform(0.7, 1.0);
  return steps;
}

State deformed(const Body& body) {
  State state = moving_state(body, 0.3, 0.05, 5);
  state.displacement = random_displacements(*body.mesh, 0.01, 8);
  return state;
}

Flow flow_of(const Method& method, const Model& model, const std::vector<double>& steps, double t) {
  return [&, t](const State& state) {
    State moved = state;
    const auto integrator = method.make(model, steps);
    integrator->advance_to(moved, t);
    return integrator->synchronized(moved, t).state;
  };
}

// Accelerations of all nodes.
std::vector<double> accelerations(const Model& model, const std::vector<double>& u) {
  std::vector<double> a(u.size(), 0.0);
  const auto d = static_cast<std::size_t>(model.dim());
  for (Index i = 0; i < model.term_count(); ++i) {
    const auto term = model.term(make_id<TermId>(i));
    std::vector<double> g(term.stencil().size() * d, 0.0);
    term.potential->add_gradient(term.k, u, 0.0, g);
    for (std::size_t k = 0; k < g.size(); ++k) {
      const NodeId node = term.stencil()[k / d];
      a[static_cast<std::size_t>(index(node)) * d + k % d] -= g[k] / model.mass(node);
    }
  }
  return a;
}

// Classical Runge-Kutta, of fourth order and not symplectic.
Flow runge_kutta(const Model& model, double h, int steps) {
  return [&model, h, steps](const State& start) {
    State s = start;
    const std::size_t n = s.velocity.size();
    const auto plus = [n](const std::vector<double>& x, double c, const std::vector<double>& y) {
      std::vector<double> z(n);
      for (std::size_t i = 0; i < n; ++i) z[i] = x[i] + c * y[i];
      return z;
    };
    for (int j = 0; j < steps; ++j) {
      const auto v1 = s.velocity, a1 = accelerations(model, s.displacement);
      const auto v2 = plus(s.velocity, h / 2, a1), a2 = accelerations(model, plus(s.displacement, h / 2, v1));
      const auto v3 = plus(s.velocity, h / 2, a2), a3 = accelerations(model, plus(s.displacement, h / 2, v2));
      const auto v4 = plus(s.velocity, h, a3), a4 = accelerations(model, plus(s.displacement, h, v3));
      for (std::size_t i = 0; i < n; ++i) {
        s.displacement[i] += h / 6 * (v1[i] + 2 * v2[i] + 2 * v3[i] + v4[i]);
        s.velocity[i] += h / 6 * (a1[i] + 2 * a2[i] + 2 * a3[i] + a4[i]);
      }
    }
    return s;
  };
}

class TangentOf : public testing::TestWithParam<Example> {};

TEST_P(TangentOf, TheMapBetweenTwoInstantsIsSymplectic) {
  const Body body = make_body(GetParam().mesh(), NeoHookean{{1.3, 0.7}}, 1.2);
  const std::vector<double> steps = irrational_steps(*body.model);
  const double h = smallest(steps);
  for (const Method& method : methods()) {
    const double defect =
        symplectic_defect(*body.model, deformed(body), 1.0 / h, flow_of(method, *body.model, steps, 20.3 * h));
    RecordProperty(method.name, std::to_string(defect * 1e9) + "e-9");
    EXPECT_LT(defect, 1e-6) << method.name;  // differences of spacing 1e-5: 1e-10 to 1e-8, products of ten such
  }
}

TEST_P(TangentOf, RungeKuttaIsFarFromSymplectic) {
  const Body body = make_body(GetParam().mesh(), NeoHookean{{1.3, 0.7}}, 1.2);
  const double h = smallest(irrational_steps(*body.model));
  const double defect = symplectic_defect(*body.model, deformed(body), 1.0 / h, runge_kutta(*body.model, h, 20));
  RecordProperty("defect", std::to_string(defect));
  EXPECT_GT(defect, 1e-3);  // (omega h)^6 / 72 a step and mode
}

INSTANTIATE_TEST_SUITE_P(EveryElement, TangentOf, testing::ValuesIn(examples()),
                         [](const auto& c) { return c.param.name; });

// Loads that follow the surface of a part of the body are no potential: the same test finds it out.
TEST(TangentOfAFollowerLoad, IsNotSymplectic) {
  const Body body = make_body_with(triangle_mesh(CellType::triangle3, 2, 0.15, 12), NeoHookean{{1.3, 0.7}}, 1.2,
                                   [](const Mesh& mesh, Model::Parts& parts) {
                                     add_force(parts, make_pressure(mesh, facets_of(mesh, "right"), Expression(0.3),
                                                                    PressureFrame::deformed));
                                   });
  const std::vector<double> steps = irrational_steps(*body.model);
  const double h = smallest(steps);
  EXPECT_GT(symplectic_defect(*body.model, deformed(body), 1.0 / h,
                              flow_of(methods().front(), *body.model, steps, 20.3 * h)),
            1e-3);
}

}  // namespace
}  // namespace tempi::test
