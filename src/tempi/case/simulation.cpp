// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/simulation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "tempi/case/method_table.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy_residual.hpp"
#include "tempi/diagnostic/stability.hpp"
#include "tempi/model/steps.hpp"

namespace tempi {

// What was measured with the chosen lattice, scaled by what choices cost.
double Simulation::predicted_time(const StepChoice& of) const { return time_factor() * of.cost * input.end_time; }

double Simulation::time_factor() const { return plan.pace && plan.choice ? *plan.pace / plan.choice->cost : 1e-9; }

FirstSteps Simulation::first_steps(Integrator& on) const {
  using Clock = std::chrono::steady_clock;
  constexpr double enough = 0.05, most = 0.5;  // [s] of wall time
  std::optional<EnergyResidual> residual;
  if (input.integrator.residual) residual.emplace(*model);
  FirstSteps result{{}, state, 0.0};
  const double longest = *std::ranges::max_element(plan.steps);
  const double piece = input.end_time / std::max(1, std::max(input.history.value_or(0), input.frames.value_or(0)));
  double from = 0.0, to = std::min(1.5 * longest, input.end_time);
  double& reached = result.time;
  auto start = Clock::now();
  const auto taken = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  on.come_back_when([&] { return taken() > most; });
  const auto measured = [&] {
    on.come_back_when({});
    return std::move(result);
  };
  try {
    for (bool warm = false;; warm = true) {
      start = Clock::now();
      bool came_back = false;
      while (reached < to && !came_back) {
        const double next = std::min(reached + piece, to);
        reached = residual ? on.advance_to(result.state, next, *residual) : on.advance_to(result.state, next);
        came_back = reached < next;
      }
      const double wall = taken();
      const bool over = to >= input.end_time;
      if ((warm && wall > enough) || over || came_back) {
        result.pace = wall / (reached - from);
        return measured();
      }
      const double next = warm ? 2.0 * (to - from) : 4.0 * longest;
      from = to;
      to = std::min(to + next, input.end_time);
    }
  } catch (const SolveError&) {  // the run will say so
    return measured();
  }
}

std::vector<double> Simulation::costs_per_update() const {
  std::vector<double> costs;
  for (const ElasticCells* potential : body.cells)
    costs.insert(costs.end(), static_cast<std::size_t>(potential->size()), typical_cost(body.type_of(*potential)));
  while (std::ssize(costs) < model->term_count()) {
    const auto nodes = model->term(make_id<TermId>(std::ssize(costs))).stencil().size();
    costs.push_back(typical_cost(CellType::line2) * (nodes > 10  ? 40.0 * static_cast<double>(nodes)
                                                     : nodes > 2 ? 2.0
                                                                 : 1.0));
  }
  return costs;
}

double Simulation::assembled_limit() const { return assembled_stable_step(*model, state.displacement, threads); }

StepWish Simulation::step_wish(std::vector<double> of) const {
  return {*model, std::move(of), costs_per_update(), smallest_within_a_ring(*model, nodal(*model)),
          plan.choice ? plan.choice->coupling : Coupling::plain};
}

std::vector<double> Simulation::nodal(const Model& of) const {
  return plan.nodal.empty() ? nodal_stable_steps(of, state.displacement) : plan.nodal;
}

StepTrial Simulation::try_lattice(const Model& of, const TickLattice& lattice, Coupling coupling, double price) const {
  constexpr double least = 0.03;  // [s]: below, a trial would tell nothing
  TrialOptions options;
  options.duration = input.end_time;
  constexpr double for_wide = 0.2;  // of the price
  constexpr double whole = 1.0;     // [s], for models that wide neighbourhoods cover in that time, or nearly
  constexpr Index small = 2500;     // terms of such a model
  options.price = std::max((1.0 - for_wide) * price, least);
  options.wide = price > 0.0 && of.term_count() <= small ? std::max(whole, for_wide * price) : for_wide * price;
  options.coupling = coupling;
  options.threads = threads;
  return try_steps(of, state.displacement, lattice, nodal(of), options);
}

namespace {

// Of steps that do not nest a trial is dear: it may have looked at next to nothing.
bool seen_little_of(const StepTrial& of) { return 20 * of.tried < of.places; }

// Dampers that look at the motion between nodes.
bool has_viscous_terms(const Model& model) {
  for (Index i = 0; model.has_dampers() && i < model.term_count(); ++i)
    for (const HostedForce& h : model.forces_within(make_id<TermId>(i)))
      if (h.force->is_damper() && !h.force->each_drag(h.element, [](std::size_t, double) {})) return true;
  return false;
}

}  // namespace

std::string Simulation::describe_trial(const StepTrial& of) const {
  if (of.grows)
    return fmt::format("grows by {:.2g} per longest step of {:.3g} s around node {} at ({:.4g})", of.growth,
                       of.longest_step, body.mesh->point_label(*of.where),
                       fmt::join(body.mesh->point(*of.where), ", "));
  if (of.places == 0) return "no unequal steps meet";
  if (seen_little_of(of))
    return fmt::format("tried at {} of {} nodes only, where it does not grow", of.tried, of.places);
  const std::string wide =
      of.wide > 0 ? fmt::format(", nor in {} wide neighbourhood{}", of.wide, of.wide == 1 ? "" : "s") : "";
  return fmt::format("no growth at {} of {} nodes where steps differ{}", of.tried, of.places, wide);
}

std::string Simulation::caution() const {
  if (!plan.unequal()) return "";
  const Engine engine = method_of(input.integrator).engine;
  if (plan.trial && plan.trial->grows)
    return fmt::format(
        "these steps resonate: a small motion {}, e^{:.3g} over the run. Leave the choice to lattice = \"auto\", or "
        "take a smaller safety or nodal_safety.",
        describe_trial(*plan.trial), plan.trial->growth / plan.trial->longest_step * input.end_time);
  const bool nested = plan.choice && nests(plan.choice->rule);
  if (plan.whole && plan.whole->grows)
    return fmt::format(
        "these steps resonate: a small motion of the whole model grows by {:.2g} per longest step, seen in {} of them, "
        "of "
        "which the run has {}. {}",
        plan.whole->report.growth, plan.whole->report.longest_steps, plan.whole->run_steps,
        plan.domains ? "Take a smaller step, fewer substeps, or rings = 2 around the stiff domain."
                     : "Leave the choice to lattice = \"auto\", or take a smaller safety.");
  if (engine == Engine::strikes && !plan.choice && has_viscous_terms(*model))
    return "where every element strikes by itself viscous forces feel the jitter of single kicks, and take energy that "
           "no motion has, the more the larger the steps (docs/stability.md). Leave the choice to lattice = \"auto\".";
  if (engine == Engine::strikes && !nested && plan.whole)
    return fmt::format(
        "steps that do not nest often resonate: tried as a whole for {} longest steps, of which the run has {}, where "
        "no "
        "small motion grew by more than {:.1g} each. `tempi stability` tries for longer.",
        plan.whole->report.longest_steps, plan.whole->run_steps, plan.whole->report.resolution);
  if (plan.trial || (engine != Engine::strikes && engine != Engine::softened)) return "";
  return "whether these steps resonate was not tried: `tempi stability` measures it.";
}

}  // namespace tempi
