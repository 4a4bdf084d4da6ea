// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/output_plan.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>

#include "tempi/case/method_table.hpp"
#include "tempi/case/option_table.hpp"
#include "tempi/case/results.hpp"
#include "tempi/case/simulation.hpp"
#include "tempi/case/subdomain_choice.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy_residual.hpp"
#include "tempi/io/history.hpp"
#include "tempi/io/vtu.hpp"

namespace tempi {
namespace {

constexpr double part = 0.05;  // of the run, for rows and for frames each
constexpr int fewest_rows = 50, most_rows = 1000, fewest_frames = 5, most_frames = 50;

// The shorter of two turns, of the first where that is long, each after what is not counted.
template <class Prepare, class What>
double seconds(Prepare&& prepare, What&& what) {
  using Clock = std::chrono::steady_clock;
  constexpr double is_long = 0.2;
  double least = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < (least < is_long ? 2 : 1); ++turn) {
    prepare();
    const auto start = Clock::now();
    what();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return least;
}

}  // namespace

OutputPlan plan_outputs(std::optional<int> rows, std::optional<int> frames, double updates, double row, double frame) {
  const auto affordable = [&](double cost, int fewest, int most) {
    return static_cast<int>(std::clamp(part * updates / cost, static_cast<double>(fewest), static_cast<double>(most)));
  };
  return {rows ? *rows : affordable(row, fewest_rows, most_rows),
          frames ? *frames : affordable(frame, fewest_frames, most_frames), !rows, !frames};
}

// Of methods that solve equations between steps as they do for whole ones: outputs whose number is chosen here, or
// fits, are at the ends of steps, where the run solves anyway; evenly spaced where a number near enough divides the
// steps.
void align(OutputPlan& plan, double step, double end_time) {
  const auto steps = static_cast<int>(std::min(end_time / step + 1e-9, 1e9));
  if (steps == 0) return;
  const auto best = [](int of, int most) {
    most = std::min(of, most);
    int n = most;
    while (of % n != 0) --n;
    return 4 * n >= most ? n : most;
  };
  if (plan.rows_chosen) plan.rows = best(steps, plan.rows);
  if (plan.frames_chosen) plan.frames = best(plan.rows, plan.frames);
  const bool whole = std::abs(steps * step - end_time) <= 1e-9 * end_time;
  const auto fits = [&](int n, bool chosen) { return chosen || n == 0 || (whole && steps % n == 0); };
  plan.ahead = fits(plan.rows, plan.rows_chosen) && fits(plan.frames, plan.frames_chosen);
  if (plan.ahead) plan.moment = step;
}

OutputPlan plan_outputs(const Simulation& s) {
  constexpr double of_node = 150.0, of_cell_in_frame = 2500.0, of_node_in_frame = 2500.0;  // [ns]
  double updates = 0.0, pass = 0.0;
  const std::vector<double> costs = s.costs_per_update();
  for (std::size_t i = 0; i < costs.size(); ++i) {
    updates +=
        costs[i] * static_cast<double>(s.plan.updates_until(make_id<TermId>(static_cast<Index>(i)), s.input.end_time));
    pass += costs[i];
  }
  const auto nodes = static_cast<double>(s.model->node_count()),
             cells = static_cast<double>(s.body.mesh->cells().size());
  OutputPlan plan = plan_outputs(s.input.history, s.input.frames, updates, 1.3 * pass + of_node * nodes,
                                 of_cell_in_frame * cells + of_node_in_frame * nodes);
  if (s.plan.domains) {
    plan.moment = s.plan.domains->step;
    const auto steps = static_cast<int>(std::min(s.input.end_time / plan.moment, 1e9));
    if (plan.rows_chosen) plan.rows = std::max(1, std::min(plan.rows, steps));
    if (plan.frames_chosen) plan.frames = std::max(1, std::min(plan.frames, steps));
  } else if (const Method& method = method_of(s.input.integrator);
             method.engine == Engine::one_step && !method.is_explicit(s.input.integrator.options)) {
    align(plan, s.plan.smallest(), s.input.end_time);
  }
  return plan;
}

namespace {

// As many a second as there were so far.
double events_until(const SteppingEnergy& method, double t) {
  double count = 0.0, time = 0.0;
  for (Index i = 0; i < method.subdomain_count(); ++i) {
    count += static_cast<double>(method.events(i).all());
    time = std::max(time, method.events(i).last);
  }
  return time > 0.0 ? count / time * t : 0.0;
}

// Makes of a state one of a run that has begun: numbers of many digits, which take longer to write, and to pack, than
// zeros, other ones each time, so that nothing is known of them from before. They are far too small to matter
// otherwise.
void move_a_little(State& state, std::uint32_t& dice) {
  constexpr double little = 1e-30;
  for (auto* values : {&state.displacement, &state.velocity})
    for (double& x : *values) {
      dice = 1664525u * dice + 1013904223u;
      x += little * static_cast<double>(dice);
    }
}

// The first two load steps and the time of all: under loads that stay the first finds all there is to find. Outputs
// between load steps are found likewise.
FirstSteps first_load_steps(const Simulation& s) {
  using Clock = std::chrono::steady_clock;
  const double h = s.plan.smallest(), end = s.input.end_time;
  const double all = std::max({std::round(end / h), double(s.outputs.rows), double(s.outputs.frames)});
  FirstSteps result{{}, s.state, 0.0};
  double took = 0.0;
  try {
    for (int k = 1; k <= 2 && result.time < end; ++k) {
      const auto start = Clock::now();
      result.time = std::min(k * h, end);
      s.integrator->advance_to(result.state, result.time);  // takes the step before
      s.integrator->synchronized(result.state, result.time);
      const double one = std::chrono::duration<double>(Clock::now() - start).count();
      took += k == 1 ? one : (all - 1.0) * one;
    }
    result.pace = took / end;
  } catch (const SolveError&) {  // the run will say so
  }
  return result;
}

}  // namespace

Prediction predict(Simulation& s) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  Prediction p{s.start_time, unknown, unknown, unknown};
  const bool load_steps = method_of(s.input.integrator).quasi_static;
  FirstSteps first = load_steps ? first_load_steps(s) : s.first_steps(*s.integrator);
  if (!first.pace) return p;
  p.updates = s.plan.pace.value_or(*first.pace) * s.input.end_time;
  if (const auto* stepping = dynamic_cast<const SteppingEnergy*>(s.integrator.get()))
    p.events = events_until(*stepping, s.input.end_time);
  else if (method_of(s.input.integrator).engine == Engine::stepping)
    p.events = s.input.end_time / s.integrator->step(TermId{0});
  const Engine engine = method_of(s.input.integrator).engine;
  if (engine == Engine::stepping && p.events == 0.0)  // nothing deforms yet
    p.updates = unknown;
  const double seen = 2.0 * *std::ranges::max_element(s.plan.steps);
  if (engine == Engine::adaptive && first.time < std::min(seen, s.input.end_time))  // first strikes solve for nothing
    p.updates = unknown;
  std::optional<EnergyResidual> residual;
  if (s.input.integrator.residual) {
    residual.emplace(*s.model);
    residual->begin(s.state);
  }
  const EnergyResidual* const watching = residual ? &*residual : nullptr;
  std::uint32_t dice = 1;
  Snapshot now;
  if (s.outputs.ahead) first.time = s.outputs.moment * std::ceil(first.time / s.outputs.moment - 1e-9);
  const auto row = [&] {
    now = s.integrator->synchronized(first.state, first.time);
    to_line(history_row(s, now, sample(*s.model, now), watching));
  };
  const auto next = [&] {
    if (!s.outputs.ahead) move_a_little(first.state, dice);
  };
  try {
    if (s.outputs.ahead) row();  // finds the step, which is the run's
    p.history = (s.outputs.rows + 1) * seconds(next, row);
  } catch (const SolveError&) {  // the run will say so
    return p;
  }
  p.frames = 0.0;
  if (s.outputs.frames > 0) try {
      p.frames = (s.outputs.frames + 1) *
                 seconds([] {}, [&] { write_vtu_to_nowhere(*s.body.mesh, make_frame(s, now, watching)); });
    } catch (const OutputError&) {  // no room for a temporary file: said without frames
    }
  return p;
}

}  // namespace tempi
