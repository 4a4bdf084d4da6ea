// SPDX-License-Identifier: Apache-2.0
// Measures what docs/adaption.md reports: adaptive AVI against AVI with fixed steps, on a block and on a net of
// springs, and symplectic-energy-momentum with an implicit and two explicit actions.
//
//   tempi_adaptive      prints the tables; two minutes
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/diagnostic/energy_residual.hpp"
#include "tempi/element/elastic_cells.hpp"
#include "tempi/integrator/avi/avi_adaptive.hpp"
#include "tempi/integrator/avi/avi_explicit.hpp"
#include "tempi/integrator/one_step/sync_symplectic_energy_momentum.hpp"
#include "tempi/model/steps.hpp"
#include "tempi/pair/pairs.hpp"

namespace tempi::bench {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Problem {
  std::string name;
  std::unique_ptr<Mesh> mesh;
  std::unique_ptr<Model> model;
  State start;
  double period;  // of its slowest motion, about [s]
};

// The block of examples/block with 8 x 4 squares graded by 1.5, each cut in two: held at X = 0, released from 1.2.
Problem stretched_block() {
  constexpr int columns = 8, rows = 4;
  constexpr double narrowing = 0.857407;
  MeshData data;
  data.dim = 2;
  double length = 0.0, x = 0.0;
  for (int i = 0; i < columns; ++i) length += std::pow(1.5, -i);
  for (int i = 0; i <= columns; ++i) {
    for (int j = 0; j <= rows; ++j) {
      data.points.insert(data.points.end(), {x / length, static_cast<double>(j) / rows});
      data.point_labels.push_back(static_cast<Index>(data.point_labels.size()) + 1);
    }
    x += std::pow(1.5, -i);
  }
  const auto node = [](int i, int j) { return make_id<NodeId>(static_cast<Index>(i * (rows + 1) + j)); };
  const auto add = [&](std::vector<NodeId> nodes) {
    data.cells.push_back(CellType::triangle3, nodes, data.cells.size() + 1);
  };
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j < rows; ++j)
      if ((i + j) % 2 == 0) {
        add({node(i, j), node(i + 1, j), node(i + 1, j + 1)});
        add({node(i, j), node(i + 1, j + 1), node(i, j + 1)});
      } else {
        add({node(i, j), node(i + 1, j), node(i, j + 1)});
        add({node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)});
      }
  Support left;
  left.name = "left";
  for (int j = 0; j <= rows; ++j) left.nodes.push_back(node(0, j));
  left.motion = {Support::Motion::at_rest, Support::Motion::at_rest, Support::Motion::free};
  std::vector<Support> supports;
  supports.push_back(std::move(left));

  Problem problem{"block", std::make_unique<Mesh>(std::move(data)), nullptr, {}, 1.9e-3};
  std::vector<CellId> cells;
  for (Index c = 0; c < problem.mesh->cells().size(); ++c) cells.push_back(make_id<CellId>(c));
  Model::Parts parts;
  parts.dim = 2;
  parts.reference.assign(problem.mesh->points().begin(), problem.mesh->points().end());
  parts.mass.assign(static_cast<std::size_t>(problem.mesh->node_count()), 0.0);
  parts.add(make_elastic_cells(*problem.mesh, CellType::triangle3, std::move(cells), NeoHookean{{93e9, 10e9}}, 7800.0));
  parts.supports = Supports(std::move(supports), problem.mesh->points(), 2);
  problem.model = std::make_unique<Model>(std::move(parts));
  problem.start = reference_state(*problem.model);
  for (std::size_t i = 0; i < problem.start.displacement.size(); i += 2) {
    problem.start.displacement[i] = 0.2 * problem.mesh->points()[i];
    problem.start.displacement[i + 1] = (narrowing - 1.0) * (problem.mesh->points()[i + 1] - 0.5);
  }
  return problem;
}

// Gates, Matous, Heath (2008), section 4.2: 9 x 9 nodes of mass 0.1, the boundary held, 112 springs V = 2 c d ln cosh,
// c = 45 and 3 in the halves of the square, d = 0.5, released from z = sin(pi x) sin(pi y). The paper does not give the
// springs' lengths; here they are free of force in the plane.
Problem spring_net() {
  constexpr int n = 8;
  Model::Parts parts;
  parts.dim = 3;
  parts.shares = MassShares::balanced;
  parts.mass.assign((n + 1) * (n + 1), 0.1);
  const auto node = [](int i, int j) { return make_id<NodeId>(static_cast<Index>(j * (n + 1) + i)); };
  const auto inside = [](int i, int j) { return i > 0 && i < n && j > 0 && j < n; };
  Support rim;
  rim.name = "rim";
  rim.motion.fill(Support::Motion::at_rest);
  std::vector<NodePair> stiff, soft;
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i) {
      parts.reference.insert(parts.reference.end(), {i / double(n), j / double(n), 0.0});
      if (!inside(i, j)) rim.nodes.push_back(node(i, j));
      for (const auto& [k, l] : {std::pair{i + 1, j}, std::pair{i, j + 1}})
        if (k <= n && l <= n && (inside(i, j) || inside(k, l)))
          (i + k <= n ? stiff : soft).push_back({node(i, j), node(k, l)});
    }
  for (const bool is_stiff : {true, false})
    parts.add(make_pairs(parts.reference, 3, parts.mass, is_stiff ? stiff : soft,
                         TanhSpring{is_stiff ? 45.0 : 3.0, 0.5, 1.0 / n}));
  std::vector<Support> supports;
  supports.push_back(std::move(rim));
  parts.supports = Supports(std::move(supports), parts.reference, 3);
  Problem problem{"net", nullptr, std::make_unique<Model>(std::move(parts)), {}, 2.0};
  problem.start = reference_state(*problem.model);
  for (int j = 0; j <= n; ++j)
    for (int i = 0; i <= n; ++i)
      problem.start.displacement[static_cast<std::size_t>(3 * index(node(i, j)) + 2)] =
          std::sin(std::numbers::pi * i / n) * std::sin(std::numbers::pi * j / n);
  return problem;
}

Index updates_of(const Model& model, const Integrator& integrator) {
  Index sum = 0;
  for (Index i = 0; i < model.term_count(); ++i) sum += integrator.updates(make_id<TermId>(i));
  return sum;
}

// Runs, and prints a row of the table; energies are sampled 500 times, outside the measured time.
void run(const Problem& problem, Integrator& integrator, double end, const std::string& name,
         const AviAdaptive* adaptive) {
  const Model& model = *problem.model;
  State state = problem.start;
  EnergyResidual residual(model);
  Balance balance;
  double wall = 0.0;
  std::string failure;
  try {
    constexpr int samples = 500;
    for (int i = 0; i <= samples; ++i) {
      const double t = end * i / samples, begin = now();
      integrator.advance_to(state, t, residual);
      wall += now() - begin;
      balance.add(sample(model, integrator.synchronized(state, t)));
    }
  } catch (const SolveError& error) {
    failure = fmt::format(" failed at {:.3g} periods", *std::ranges::max_element(state.clock) / problem.period);
  }
  const auto energy = balance.energy();
  const Index updates = updates_of(model, integrator);
  std::string shares = "- | - | - | - | -";
  if (adaptive != nullptr) {
    const auto& a = adaptive->adaption();
    const auto sum = static_cast<double>(a.accepted + a.without_root);
    shares = fmt::format("{:.0f} % | {:.2f} | {:.2f} | {:.0f} | {:+.1e}", 100.0 * static_cast<double>(a.accepted) / sum,
                         a.smallest, a.largest, static_cast<double>(a.evaluations) / static_cast<double>(updates),
                         a.gain_without_root / energy.reference);
  }
  fmt::print("| {} | {} | {} | {:.2f} | {:.1e} | {:+.1e} | {:.1e} |{}\n", name, updates, shares,
             1e6 * wall / static_cast<double>(updates), energy.band, energy.drift, residual.worst().largest_ratio,
             failure);
  std::fflush(stdout);
}

std::vector<double> scaled(std::vector<double> steps, double factor) {
  for (double& step : steps) step *= factor;
  return steps;
}

// AVI with fixed steps, adaptive AVI in several bounds, and AVI at steps that make as many updates as the first of
// them.
void compare(const Problem& problem, double safety, double periods) {
  const Model& model = *problem.model;
  const auto steps = choose_steps(model, problem.start.displacement, SafetyFraction{safety}, StepRule::element, {});
  const double end = periods * problem.period;
  fmt::print("\n{}: {} terms, safety {}, {} periods\n", problem.name, model.term_count(), safety, periods);
  fmt::print(
      "| method | updates | accepted | smallest | largest | evaluations | gain | us/update | energy band | drift | "
      "residual "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  AviExplicit fixed(model, steps);
  run(problem, fixed, end, "avi", nullptr);
  struct Choice {
    StepBounds bounds;
    WithoutRoot without_root = WithoutRoot::nominal_step;
    Residuals residuals = Residuals::carried;
  };
  const std::vector<Choice> choices = {{{0.8, 1.25}},
                                       {{0.5, 2.0}},
                                       {{0.25, 4.0}},
                                       {{0.8, 1.25}, WithoutRoot::least_residual},
                                       {{0.5, 2.0}, WithoutRoot::least_residual},
                                       {{0.8, 1.25}, WithoutRoot::nominal_step, Residuals::forgotten},
                                       {{0.5, 2.0}, WithoutRoot::nominal_step, Residuals::forgotten},
                                       {{0.25, 4.0}, WithoutRoot::nominal_step, Residuals::forgotten}};
  for (const auto& [bounds, without_root, residuals] : choices) {
    AviAdaptive adaptive(model, steps, bounds, without_root, residuals);
    run(problem, adaptive, end,
        fmt::format("{} to {}, {}{}", bounds.least, bounds.largest,
                    without_root == WithoutRoot::nominal_step ? "nominal" : "least",
                    residuals == Residuals::carried ? "" : ", forgotten"),
        &adaptive);
    const double mean =
        static_cast<double>(updates_of(model, fixed)) / static_cast<double>(updates_of(model, adaptive));
    AviExplicit equal(model, scaled(steps, mean));
    run(problem, equal, end, fmt::format("avi, steps x {:.2f}", mean), nullptr);
  }
}

// Two bodies on ellipses of eccentricity 0.5 and period 2 pi, from the ends of the minor axes.
Problem orbit() {
  const double m1 = 2.0, m2 = 0.5, M = m1 + m2, x = -0.5, y = std::sqrt(0.75);
  Model::Parts parts;
  parts.dim = 2;
  parts.reference = {-m2 / M * x, -m2 / M * y, m1 / M * x, m1 / M * y};
  parts.mass = {m1, m2};
  parts.add(make_pairs(parts.reference, 2, parts.mass, all_pairs(2), Gravitation{1.0 / M}));
  Problem problem{"orbit", nullptr, std::make_unique<Model>(std::move(parts)), {}, 2.0 * std::numbers::pi};
  problem.start = reference_state(*problem.model);
  problem.start.velocity = {m2 / M, 0.0, -m1 / M, 0.0};
  return problem;
}

void solve_whole_steps() {
  const Problem problem = orbit();
  const double h = problem.period / 120, end = 10.0 * problem.period;
  fmt::print("\norbit: 10 periods, nominal step period / 120, bounds 0.25 to 4\n");
  fmt::print(
      "| action | steps | without solution | smallest | largest | E_d while solved | E_d left | energy band | with "
      "fixed steps |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|\n");
  const auto band_of = [&](Integrator& method) {
    State state = problem.start;
    Balance balance;
    for (int i = 0; i <= 200; ++i) {
      method.advance_to(state, end * i / 200);
      balance.add(sample(*problem.model, method.synchronized(state, end * i / 200)));
    }
    return balance.energy().band;
  };
  const std::vector<std::pair<std::string, DiscreteAction>> actions = {{"midpoint", midpoint_action(0.5)},
                                                                       {"gauss 4", gauss_action(4)},
                                                                       {"velocity Verlet", trapezoidal_action(0.5)},
                                                                       {"right endpoint", trapezoidal_action(1.0)}};
  for (const auto& [name, action] : actions) {
    SyncSymplecticEnergyMomentum method(*problem.model, h, action);
    const double band = band_of(method);
    SyncVariational fixed(*problem.model, action, h);
    const auto& a = method.map().adaption();
    fmt::print("| {} | {} | {} | {:.2f} | {:.2f} | {:.1e} | {:.1e} | {:.1e} | {:.1e} |\n", name, method.updates({}),
               a.without_solution, a.smallest / h, a.largest / h, a.largest_residual_while_solved / std::abs(a.energy),
               a.largest_residual / std::abs(a.energy), band, band_of(fixed));
  }
}

}  // namespace
}  // namespace tempi::bench

int main(int argc, char** argv) {
  const double periods = argc > 1 ? std::stod(argv[1]) : 2.0;
  std::vector<double> safeties;
  for (int i = 2; i < argc; ++i) safeties.push_back(std::stod(argv[i]));
  if (safeties.empty()) safeties = {0.05, 0.2};
  tempi::bench::solve_whole_steps();
  for (const double safety : safeties)
    for (const auto make : {tempi::bench::stretched_block, tempi::bench::spring_net})
      tempi::bench::compare(make(), safety, periods);
}
