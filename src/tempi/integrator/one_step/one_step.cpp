// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/one_step.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tempi/core/error.hpp"
#include "tempi/integrator/checkpoint.hpp"

namespace tempi {

void OneStepDriver::advance(State& state, double t_end) {
  if (!started_) {
    map_.start(state);
    started_ = true;
  }
  const Index before = map_.evaluations();
  for (;;) {
    const double nominal_end = static_cast<double>(steps_done_ + 1) * map_.forces().step();
    const double t = map_.end_of_step(state, time_, nominal_end);
    if (!(t < t_end)) break;
    map_.take_step(state, time_, t);
    std::ranges::fill(state.clock, t);
    ++steps_done_;
    time_ = t;
  }
  map_.finish(state);
  evaluations_ += map_.evaluations() - before;
}

Snapshot OneStepDriver::synchronized(const State& state, double t) const {
  Snapshot snapshot{t, {}, {}, 0.0};
  const StageForces::Aside aside(map_.forces());
  snapshot.state = started_ ? state.without_way_of_loads() : state;
  if (!started_) map_.start(snapshot.state);
  if (t > time_) map_.step(snapshot.state, time_, t - time_);
  map_.show(snapshot.state, t);
  std::ranges::fill(snapshot.state.clock, t);
  Stage stage{map_of(snapshot.state.displacement), map_of(snapshot.state.velocity), {}, {}};
  snapshot.admissible = map_.forces().measure(stage, t, snapshot.potential_energy).holds();
  map_.add_constraint_forces(stage, t);
  snapshot.force.assign(stage.force.begin(), stage.force.end());
  return snapshot;
}

Integrator::Measures OneStepDriver::measures() const {
  Integrator::Measures all = {{"force_evaluations", static_cast<double>(evaluations_)}};
  const Integrator::Measures more = map_.measures();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<double> OneStepDriver::parameters() const {
  std::vector<double> all = map_.parameters();
  all.insert(all.begin(), map_.forces().step());
  return all;
}

void OneStepDriver::save(ArchiveWriter& archive) const {
  save_model(archive, map_.forces().model());
  archive.put(map_.name(), parameters());
  archive.put("started", started_);
  archive.put("steps_done", steps_done_);
  archive.put("time", time_);
  archive.put("evaluations", evaluations_);
  map_.save(archive);
  map_.forces().save(archive);
}

void OneStepDriver::load(ArchiveReader& archive) {
  std::vector<double> parameters(this->parameters().size());
  bool started = false;
  Index steps_done = 0;
  double time = 0.0;
  require_same_model(archive, map_.forces().model());
  archive.get(map_.name(), parameters);
  if (parameters != this->parameters())
    throw InputError(
        fmt::format("the checkpoint was written with another time step or other parameters of {}. Use the same case.",
                    map_.name()));
  archive.get("started", started);
  archive.get("steps_done", steps_done);
  archive.get("time", time);
  Index evaluations = 0;
  archive.get("evaluations", evaluations);
  map_.load(archive);
  map_.forces().load(archive);
  started_ = started;
  steps_done_ = steps_done;
  time_ = time;
  evaluations_ = evaluations;
}

}  // namespace tempi
