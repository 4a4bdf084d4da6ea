// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/softened.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "support/pair_cases.hpp"
#include "support/runs.hpp"
#include "tempi/core/error.hpp"
#include "tempi/model/softened_model.hpp"

namespace tempi::test {
namespace {

double largest_of(const std::vector<double>& values) { return *std::ranges::max_element(values); }

std::vector<double> gradient(const Potential& potential, Index k, std::span<const double> u) {
  std::vector<double> g(potential.stencil(k).size() * static_cast<std::size_t>(potential.dim()), 0.0);
  potential.add_gradient(k, u, 0.0, g);
  return g;
}
std::vector<double> hessian(const Potential& potential, Index k, std::span<const double> u) {
  const std::size_t n = potential.stencil(k).size() * static_cast<std::size_t>(potential.dim());
  std::vector<double> H(n * n, 0.0);
  potential.as_local()->add_hessian(k, u, 0.0, H);
  return H;
}

// tau of a few stable steps: a term of a quarter or less of its stiffness.
std::vector<double> times_of(const Model& model) {
  std::vector<double> times = own_steps(model, 2.0);
  for (std::size_t i = 0; i < times.size(); i += 2) times[i] *= 0.3;
  return times;
}

class SoftenedCells : public testing::TestWithParam<MeshCase> {};

// One side at rest: held components do not give way, and the energy is still that of the gradient.
TEST_P(SoftenedCells, HaveTheGradientOfTheirEnergyAndTheHessianOfTheirGradient) {
  for (const std::string side : {"", "left"}) {
    const Body body = side.empty() ? make_body(GetParam().make(), NeoHookean{{1.3, 0.7}}, 1.2)
                                   : make_body_held_at(GetParam().make(), NeoHookean{{1.3, 0.7}}, 1.2, side);
    const Model soft = softened(*body.model, times_of(*body.model));
    const Potential& cells = soft.potential(0);
    const std::vector<double> u = random_displacements(*body.mesh, 0.01, 8);
    const auto d = static_cast<std::size_t>(soft.dim());
    for (Index k = 0; k < cells.size(); k += 5) {
      EXPECT_LT(check_gradient(cells, k, u, 0.0, 1e-5),
                1e-7);  // truncation 1e-10 / size^2, rounding 1e-16 / 1e-5 / strain
      const std::vector<double> H = hessian(cells, k, u);
      const auto stencil = cells.stencil(k);
      const std::size_t n = stencil.size() * d;
      double worst = 0.0;
      for (std::size_t j = 0; j < n; ++j) {
        std::vector<double> moved = u;
        double& x = moved[static_cast<std::size_t>(index(stencil[j / d])) * d + j % d];
        x += 1e-5;
        const auto up = gradient(cells, k, moved);
        x -= 2e-5;
        const auto down = gradient(cells, k, moved);
        for (std::size_t i = 0; i < n; ++i) worst = std::max(worst, std::abs((up[i] - down[i]) / 2e-5 - H[i * n + j]));
      }
      EXPECT_LT(worst, 1e-6 * largest_of(H)) << "cell " << k << " " << side;
    }
  }
}

// Frequencies between the shares: w / sqrt(1 + w^2 tau^2).
TEST_P(SoftenedCells, OscillateMoreSlowlyAsTheirTimeSays) {
  const Body body = make_body(GetParam().make(), NeoHookean{{1.3, 0.7}}, 1.2);
  const std::vector<double> times = times_of(*body.model);
  const Model soft = softened(*body.model, times);
  const std::vector<double> rest(body.mesh->points().size(), 0.0);
  for (Index k = 0; k < soft.term_count(); k += 5) {
    const auto term = make_id<TermId>(k);
    const double tau = times[static_cast<std::size_t>(k)];
    const auto spectrum = [&](const Model& model) {
      const std::vector<double> H = hessian(model.potential(0), k, rest);
      const auto n = static_cast<Index>(std::sqrt(static_cast<double>(H.size())));
      Eigen::MatrixXd A = Eigen::Map<const Eigen::MatrixXd>(H.data(), n, n);
      std::array<double, 10> shares;
      (void)body.model->shares(term, shares);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j)
          A(i, j) /= std::sqrt(shares[static_cast<std::size_t>(i / model.dim())] *
                               shares[static_cast<std::size_t>(j / model.dim())]);
      return Eigen::VectorXd(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(A).eigenvalues());
    };
    const Eigen::VectorXd own = spectrum(*body.model), slowed = spectrum(soft);
    for (Index i = 0; i < own.size(); ++i)
      EXPECT_NEAR(slowed(i), own(i) / (1.0 + own(i) * tau * tau), 1e-10 * own.maxCoeff());
    const double stable = soft.stable_step(term, rest);
    EXPECT_NEAR(stable, 2.0 / std::sqrt(slowed.maxCoeff()), 1e-9 * stable);
    EXPECT_TRUE(soft.step_is_stable(term, rest, stable * (1.0 - 1e-7)));
    EXPECT_FALSE(soft.step_is_stable(term, rest, stable * (1.0 + 1e-7)));
  }
}

TEST_P(SoftenedCells, ExertForcesInBalanceWithMomentsInBalance) {
  const Body body = make_body(GetParam().make(), NeoHookean{{1.3, 0.7}}, 1.2);
  const Model soft = softened(*body.model, times_of(*body.model));
  std::vector<double> u = random_displacements(*body.mesh, 0.01, 8);
  const std::vector<double> turned = rigid_displacements(*body.mesh, 0.7, std::vector<double>(3, 0.1));
  for (std::size_t i = 0; i < u.size(); ++i) u[i] += turned[i];
  const auto d = static_cast<std::size_t>(soft.dim());
  for (Index k = 0; k < soft.term_count(); ++k) {
    const std::vector<double> g = gradient(soft.potential(0), k, u);
    const auto stencil = soft.potential(0).stencil(k);
    std::array<double, 3> force{}, moment{};
    for (std::size_t a = 0; a < stencil.size(); ++a) {
      std::array<double, 3> x{}, f{};
      for (std::size_t c = 0; c < d; ++c) {
        const std::size_t i = static_cast<std::size_t>(index(stencil[a])) * d + c;
        x[c] = body.mesh->points()[i] + u[i];
        f[c] = g[a * d + c];
        force[c] += f[c];
      }
      for (std::size_t c = 0; c < 3; ++c)
        moment[c] += x[(c + 1) % 3] * f[(c + 2) % 3] - x[(c + 2) % 3] * f[(c + 1) % 3];
    }
    EXPECT_LT(largest(force), 1e-13 * largest(g));
    EXPECT_LT(largest(moment), 1e-13 * largest(g));
  }
}

// The definition: y leaves dV/dx (y) + M (y - x) / tau^2 = 0, so the envelope lies below V and above its least value.
TEST_P(SoftenedCells, HaveLessEnergyThanTheCellsAndTheCellsOwnWithoutTime) {
  const Body body = make_body(GetParam().make(), NeoHookean{{1.3, 0.7}}, 1.2);
  const Model soft = softened(*body.model, times_of(*body.model));
  const Model stiff = softened(*body.model, std::vector<double>(times_of(*body.model).size(), 0.0));
  const std::vector<double> u = random_displacements(*body.mesh, 0.01, 8);
  for (Index k = 0; k < soft.term_count(); ++k) {
    const double V = body.cells().energy(k, u, 0.0), V_tau = soft.potential(0).energy(k, u, 0.0);
    EXPECT_LT(V_tau, V);
    EXPECT_GT(V_tau, 0.0);
    EXPECT_EQ(stiff.potential(0).energy(k, u, 0.0), V);
    EXPECT_EQ(gradient(stiff.potential(0), k, u), gradient(body.cells(), k, u));
    EXPECT_EQ(hessian(stiff.potential(0), k, u), hessian(body.cells(), k, u));
  }
}

// Turned inside out by what moved its nodes: the cell itself could not be evaluated there.
TEST_P(SoftenedCells, FindAShapeWhereTheirNodesAreTurnedInsideOut) {
  const Body body = make_body(GetParam().make(), NeoHookean{{1.3, 0.7}}, 1.2);
  const Model soft = softened(*body.model, times_of(*body.model));
  std::vector<double> u(body.mesh->points().size());
  for (std::size_t i = 0; i < u.size(); ++i)
    u[i] = i % static_cast<std::size_t>(body.mesh->dim()) == 0 ? -1.1 * body.mesh->points()[i] : 0.0;
  std::vector<double> g(30);
  for (Index k = 0; k < soft.term_count(); ++k) {
    EXPECT_LT(body.cells().add_gradient(k, u, 0.0, g), 0.0);
    EXPECT_GT(soft.potential(0).add_gradient(k, u, 0.0, std::span(g).first(gradient(soft.potential(0), k, u).size())),
              0.0);
  }
}

INSTANTIATE_TEST_SUITE_P(OfEveryMesh, SoftenedCells, testing::ValuesIn(mesh_cases()),
                         [](const auto& c) { return c.param.name; });

Model::Parts pair_of_law(PairLaw law) {
  Model::Parts parts = particles(2, {0.0, 0.0, 1.0, 0.5}, {1.0, 0.6});
  add_pairs(parts, chain(2), std::move(law));
  return parts;
}

// V = -X^4 falls faster than any |d|^2 / tau^2 rises.
TEST(SoftenedPair, OfALawWithoutMinimumIsASolveErrorThatNamesItAndTheTime) {
  const Model model(pair_of_law(user_law("-X^4")));
  const Model soft = softened(model, {2.0});
  try {
    (void)soft.potential(0).energy(0, std::vector<double>{0.0, 0.0, 0.1, 0.0}, 3.25);
    FAIL();
  } catch (const SolveError& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("pair 0 of nodes 0 and 1"), std::string::npos) << message;
    EXPECT_NE(message.find("t = 3.25 s"), std::string::npos) << message;
    EXPECT_NE(message.find("residuals"), std::string::npos) << message;
  }
}

TEST(SoftenedPair, WithoutAShareOfTheMassIsRefused) {
  Model::Parts parts = pair_of_law(Spring{2.0, 1.0});
  parts.shares = MassShares::own;
  const Model model(std::move(parts));
  EXPECT_NO_THROW((void)softened(model, {0.0}));
  EXPECT_THROW((void)softened(model, {0.1}), InputError);
}

TEST(SoftenedPair, WithATimeThatIsNegativeOrNotFiniteIsRefused) {
  const Model model(pair_of_law(Spring{2.0, 1.0}));
  for (const double time : {-0.1, std::numeric_limits<double>::infinity(), std::nan("")})
    EXPECT_THROW((void)softened(model, {time}), InputError);
}

}  // namespace
}  // namespace tempi::test
