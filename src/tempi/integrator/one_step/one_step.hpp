// SPDX-License-Identifier: Apache-2.0
// Methods that take the whole of a model from (u, v) at t to (u, v) at t + h in one step: a map each, and one driver
// that has the clock, the loop over steps, output between them and checkpoints.
//
// A map holds for whatever model it was made with: the whole, or a part with nodes and terms of its own. Velocities in
// State are those of its displacements' time. Observers are not told of strikes: there are none.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "tempi/integrator/integrator.hpp"
#include "tempi/integrator/one_step/stage_forces.hpp"

namespace tempi {

// (state, t, h) -> state.
class OneStepMap {
 public:
  virtual ~OneStepMap() = default;

  virtual std::string_view name() const = 0;
  virtual Claims claims() const = 0;
  virtual const StageForces& forces() const = 0;
  virtual std::vector<double> parameters() const { return {}; }  // without which a checkpoint is refused

  // Makes a state ready for the first step; throws InputError where it cannot.
  virtual void start(State& state) const { forces().kick_drift().start(state); }
  // From t0 to t0 + h. Leaves `state` alone when it throws.
  virtual void step(State& state, double t0, double h) const = 0;
  // For output, a copy of a state at t that start(), step() or take_step() left: velocities as the method shows them.
  virtual void show(State& /*state*/, double /*t*/) const {}
  // What constraints add to the forces of a stage, for output.
  virtual void add_constraint_forces(Stage& /*stage*/, double /*t*/) const {}

  // Methods that choose their steps: when the one that begins at t0 ends, from `state` and what save() keeps; then that
  // step. Others end at nominal_end.
  virtual double end_of_step(const State& /*state*/, double /*t0*/, double nominal_end) { return nominal_end; }
  virtual void take_step(State& state, double t0, double t1) { step(state, t0, t1 - t0); }
  // After several of them in a row, before anybody else looks at `state`. Until then a map may keep parts of it to
  // itself.
  virtual void finish(State& /*state*/) {}
  virtual Integrator::Measures measures() const { return {}; }
  virtual Index evaluations() const { return forces().evaluations(); }  // of forces so far
  virtual Index substeps(TermId) const { return 1; }                    // how often a term acts in a step
  virtual void use_threads(int threads) const { forces().use_threads(threads); }
  virtual void save(ArchiveWriter& /*archive*/) const {}
  virtual void load(ArchiveReader& /*archive*/) {}  // leaves the map alone when it throws
};

class OneStepDriver {
 public:
  explicit OneStepDriver(OneStepMap& map) : map_(map) {}  // which must outlive it

  void advance(State& state, double t_end);
  Snapshot synchronized(const State& state, double t) const;  // by a shorter step of the same map, on a copy
  Index steps_done() const { return steps_done_; }
  Integrator::Measures measures() const;
  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive);

 private:
  std::vector<double> parameters() const;  // the step first

  OneStepMap& map_;
  Index steps_done_ = 0;
  Index evaluations_ = 0;  // of forces, without those of output
  double time_ = 0.0;      // [s], where the last step ended
  bool started_ = false;
};

// The integrator that repeats a map. `Map` is made of the model and what else it wants, a step > 0 [s] among it;
// `model` must outlive the integrator.
template <class Map>
class OneStep final : public Integrator {
 public:
  template <class... Arguments>
  explicit OneStep(const Model& model, Arguments&&... arguments)
      : map_(model, std::forward<Arguments>(arguments)...), driver_(map_) {}
  OneStep(const OneStep&) = delete;
  OneStep& operator=(const OneStep&) = delete;

  const Map& map() const { return map_; }

  std::string_view name() const override { return map_.name(); }
  Claims claims() const override { return map_.claims(); }
  Snapshot synchronized(const State& state, double t) const override { return driver_.synchronized(state, t); }
  double step(TermId term) const override { return map_.forces().step() / static_cast<double>(map_.substeps(term)); }
  Index updates(TermId term) const override { return driver_.steps_done() * map_.substeps(term); }
  Measures measures() const override { return driver_.measures(); }
  void use_threads(int threads) override { map_.use_threads(threads); }
  void save(ArchiveWriter& archive) const override { driver_.save(archive); }
  void load(ArchiveReader& archive) override { driver_.load(archive); }

 private:
  void advance(State& state, double t_end, Observer*) override { driver_.advance(state, t_end); }

  Map map_;
  OneStepDriver driver_;
};

}  // namespace tempi
