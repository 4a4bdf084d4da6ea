// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/output_plan.hpp"

#include <algorithm>
#include <chrono>
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

template <class What>
double seconds(What&& what) {
  using Clock = std::chrono::steady_clock;
  double least = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < 2; ++turn) {
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

// A state of a run that has begun: numbers of many digits, which take longer to write, and to pack, than zeros. They
// are far too small to matter otherwise.
State as_in_motion(const State& start) {
  constexpr double little = 1e-30;
  State state = start;
  std::uint32_t dice = 1;
  for (auto* values : {&state.displacement, &state.velocity})
    for (double& x : *values) {
      dice = 1664525u * dice + 1013904223u;
      x += little * static_cast<double>(dice);
    }
  return state;
}

}  // namespace

Prediction predict(const Simulation& s) {
  Prediction p{s.start_time, 0.0, 0.0, 0.0};
  std::optional<double> pace = s.plan.pace;
  if (!pace) {
    const Method& method = method_of(s.input.integrator);
    const auto& steps = method.engine == Engine::softened ? s.plan.wished : s.plan.steps;  // it softens them itself
    std::unique_ptr<Integrator> fresh;
    if (s.plan.domains)
      fresh = make_multi_domain(*s.model, *s.plan.domains);
    else if (has_key(method.keys, "energy_step"))
      fresh = std::make_unique<SteppingEnergy>(*s.model, choose_subdomains(s), steps, s.body.walls);
    else
      fresh = make_integrator(method, *s.model, steps, s.input.integrator.options, s.threads);
    fresh->use_threads(s.threads);
    pace = s.measured_pace(*fresh);
    if (const auto* stepping = dynamic_cast<const SteppingEnergy*>(fresh.get()))
      p.events = events_until(*stepping, s.input.end_time);
    else if (method.engine == Engine::stepping)
      p.events = s.input.end_time / fresh->step(TermId{0});
  }
  p.updates = pace.value_or(std::numeric_limits<double>::quiet_NaN()) * s.input.end_time;
  if (method_of(s.input.integrator).engine == Engine::stepping && p.events == 0.0)  // nothing deforms yet
    p.updates = std::numeric_limits<double>::quiet_NaN();
  std::optional<EnergyResidual> residual;
  if (s.input.integrator.residual) {
    residual.emplace(*s.model);
    residual->begin(s.state);
  }
  const EnergyResidual* const watching = residual ? &*residual : nullptr;
  const State state = as_in_motion(s.state);
  const Snapshot snapshot = s.integrator->synchronized(state, 0.0);
  p.history = (s.outputs.rows + 1) * seconds([&] {
                const Snapshot now = s.integrator->synchronized(state, 0.0);
                to_line(history_row(s, now, sample(*s.model, now), watching));
              });
  if (s.outputs.frames > 0) try {
      p.frames = (s.outputs.frames + 1) *
                 seconds([&] { write_vtu_to_nowhere(*s.body.mesh, make_frame(s, snapshot, watching)); });
    } catch (const OutputError&) {  // no room for a temporary file: said without frames
    }
  return p;
}

}  // namespace tempi
