// SPDX-License-Identifier: Apache-2.0
// Implicit equations without a solution: the run stops and tells how the residuals went, and the state is that of
// before.
#include <gtest/gtest.h>

#include <regex>

#include "support/every_method.hpp"
#include "support/motions.hpp"
#include "tempi/core/error.hpp"
#include "tempi/integrator/one_step/newton.hpp"

namespace tempi::test {
namespace {

// The numbers behind the first ": ..." of a message.
std::vector<double> history_in(const std::string& message) {
  std::vector<double> history;
  const std::size_t begin = message.find(": ..., ");
  if (begin == std::string::npos) return history;
  const std::string text = message.substr(begin + 7, message.find_first_of(";)", begin) - begin - 7);
  const std::regex number("-?[0-9.]+(e[-+]?[0-9]+)?");
  for (std::sregex_iterator i(text.begin(), text.end(), number), end; i != end; ++i)
    history.push_back(std::strtod(i->str().c_str(), nullptr));
  return history;
}

// R(z) = f(z) of one unknown, with impulses of size 1.
std::string message_of_newton(double (*f)(double), double (*slope)(double), double guess) {
  double z = 0.0;
  StepEquations equations;
  equations.evaluate = [&](const Eigen::VectorXd& at) {
    z = at(0);
    return true;
  };
  equations.residual = [&] { return Eigen::VectorXd::Constant(1, f(z)); };
  equations.scale = [] { return 1.0; };
  double A = 0.0;
  equations.linearise = [&] {
    A = -slope(z);
    return true;
  };
  equations.correct = [&](const Eigen::VectorXd& R) -> Eigen::VectorXd { return R / A; };
  const std::vector<Eigen::VectorXd> guesses = {Eigen::VectorXd::Constant(1, guess)};
  try {
    const auto solution = solve_newton(equations, guesses, 0.25);
    return std::to_string(solution.z(0));
  } catch (const SolveError& error) {
    return error.what();
  }
}

TEST(Newton, TellsTheResidualsOfAnEquationWithoutARoot) {
  const std::string message =
      message_of_newton([](double z) { return 1.0 + z * z; }, [](double z) { return 2.0 * z; }, 0.7);
  EXPECT_NE(message.find("t = 0.25 s"), std::string::npos) << message;
  EXPECT_NE(message.find("100 iterations"), std::string::npos) << message;
  const auto history = history_in(message);
  EXPECT_EQ(history.size(), 5u) << message;
  for (const double R : history) EXPECT_GE(R, 1.0) << message;
  // Control: with roots it has nothing to tell.
  const std::string root =
      message_of_newton([](double z) { return z * z - 4.0; }, [](double z) { return 2.0 * z; }, 0.7);
  EXPECT_NEAR(std::stod(root), 2.0, 1e-6);
}

TEST(Newton, GivesItsAdviceOnceWhereOtherEquationsHaveGivenIt) {
  StepEquations equations;
  equations.evaluate = [](const Eigen::VectorXd&) { return false; };
  equations.fault = [] { return "others are not solved. Choose a smaller step."; };
  std::string message;
  try {
    solve_newton(equations, std::array{Eigen::VectorXd(Eigen::VectorXd::Zero(1))}, 0.25);
  } catch (const SolveError& error) {
    message = error.what();
  }
  EXPECT_TRUE(message.ends_with("others are not solved. Choose a smaller step.")) << message;
}

// V = -20 u^3: a force that grows with the square of the displacement. The step from u = 1 has no real solution for any
// implicit method where h^2 is not small: for the midpoint rule 2 (m - 1) = 30 h^2 m^2.
Motion runaway() {
  return on_a_line(1.0,
                   std::make_unique<OnALine>([](double u) { return -20.0 * u * u * u; },
                                             [](double u) { return -60.0 * u * u; },
                                             [](double u) { return -120.0 * u; }),
                   1.0, 0.0);
}
std::vector<Method> implicit_ones() {
  std::vector<Method> all;
  for (const Method& method : every_method())
    for (const std::string name :
         {"avi implicit 0.5", "midpoint 0.5", "midpoint 0.3", "symmetric midpoint 0.25", "gauss 4", "gauss 6",
          "lobatto 4", "lobatto 6", "newmark 0.25 0.5", "energy momentum"})
      if (method.name == name) all.push_back(method);
  return all;
}

class ImplicitMethod : public testing::TestWithParam<Method> {};

TEST_P(ImplicitMethod, StopsWithTheResidualsWhereItsEquationsHaveNoSolution) {
  const Motion motion = runaway();
  const double h = 0.5;
  const auto integrator = GetParam().make(*motion.model, {h});
  State state = motion.start;
  std::string message;
  try {
    integrator->advance_to(state, 1.5 * h);
  } catch (const SolveError& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("residuals relative to"), std::string::npos) << message;
  EXPECT_NE(message.find("t = "), std::string::npos) << message;
  EXPECT_NE(message.find("smaller step"), std::string::npos) << message;
  const auto history = history_in(message);
  EXPECT_EQ(history.size(), 5u) << message;
  for (const double R : history) EXPECT_GT(R, 1e-9) << message;
  EXPECT_EQ(state.displacement, motion.start.displacement);
  EXPECT_EQ(state.velocity, motion.start.velocity);
  EXPECT_EQ(integrator->updates(TermId{0}), 0);
  // Control: a short step has a solution.
  State other = motion.start;
  EXPECT_NO_THROW(GetParam().make(*motion.model, {0.02})->advance_to(other, 0.05));
}

// Whatever the method: it does not begin where two particles are at one place, and names them. All but implicit AVI,
// whose terms act beside that place.
TEST(ParticlesAtOnePlace, StopEveryMethodAtItsFirstStep) {
  for (const Method& method : every_method()) {
    if (method.name == "avi implicit 0.5") continue;
    SCOPED_TRACE(method.name);
    const std::vector<double> X = {0.0, 8.0, 32.0};
    Model::Parts parts = particles(1, X, {1.0, 1.0, 1.0});
    parts.add(make_pairs(X, 1, parts.mass, all_pairs(3), LennardJones{1.0, 1.0, {}}, {}, Company::wandering));
    const Model model(std::move(parts));
    State state = reference_state(model);
    state.displacement[1] = -8.0;
    const auto integrator = method.make(model, uniform_steps(model, 0.25));
    try {
      integrator->advance_to(state, 2.0);
      ADD_FAILURE() << "went on";
    } catch (const SolveError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("of nodes 0 and 1"), std::string::npos) << text;
      EXPECT_NE(text.find("t = "), std::string::npos) << text;
      EXPECT_EQ(text.find("element"), std::string::npos) << text;
    }
    EXPECT_EQ(state.velocity, std::vector<double>(3, 0.0));
  }
}

INSTANTIATE_TEST_SUITE_P(Of, ImplicitMethod, testing::ValuesIn(implicit_ones()),
                         [](const auto& c) { return plain(c.param.name); });

}  // namespace
}  // namespace tempi::test
