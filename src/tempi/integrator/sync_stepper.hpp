// SPDX-License-Identifier: Apache-2.0
// What synchronous methods have in common that take the whole model from (u, v) at t to (u, v) at t + h in one step:
// the loop over steps, output between them, checkpoints, forces, and the booking of loads and supports.
//
// Dampers are taken at the velocities of their stages: methods solve for them where these are unknown.
// Velocities in State are those of its displacements' time. Supported components follow their prescribed motion.
// Observers are not told of strikes: there are none.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "tempi/integrator/integrator.hpp"
#include "tempi/integrator/kick_drift.hpp"

namespace tempi {

inline std::span<const double> span_of(const Eigen::VectorXd& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}
inline Eigen::Map<const Eigen::VectorXd> map_of(const std::vector<double>& x) {
  return {x.data(), static_cast<Eigen::Index>(x.size())};
}
inline Eigen::Map<Eigen::VectorXd> map_of(std::vector<double>& x) {
  return {x.data(), static_cast<Eigen::Index>(x.size())};
}

class SyncStepper : public Integrator {
 public:
  // A shorter step of the same method, on a copy.
  Snapshot synchronized(const State& state, double t) const final;
  double step(TermId) const final { return step_; }
  Index updates(TermId) const final { return steps_done_; }
  Measures measures() const override { return {{"force_evaluations", static_cast<double>(evaluations_in_run_)}}; }
  void save(ArchiveWriter& archive) const override;
  void load(ArchiveReader& archive) override;

 protected:
  using Vector = Eigen::VectorXd;

  struct Stage {          // a moment at which forces are wanted
    Vector u, v;          // displacements, velocities
    Vector force, load;   // all, and the loads' part [N]
    Vector damping = {};  // the dampers' part
  };
  struct Admissibility {  // of the first term that is not admissible; 1 where all are
    TermId term{};
    double value = 1.0;
    std::string fault{};  // a message, where it does not hold
    bool holds() const;
  };

  // step > 0 [s]; `model` must outlive the integrator. A checkpoint is refused unless name() and parameters agree.
  SyncStepper(const Model& model, double step, std::vector<double> parameters = {},
              ConstraintsKept kept = ConstraintsKept::none);

  // Makes a state ready for the first step; throws InputError where it cannot.
  virtual void start(State& state) const { kick_drift_.start(state); }
  // From t0 to t0 + h. Leaves `state` alone when it throws.
  virtual void make_step(State& state, double t0, double h) const = 0;
  // Makes the step that begins at t0 and returns when it ends; t0 without a step, if it would not end before t_end.
  // Methods that choose their steps do so here, from `state` and what save() keeps, whatever t_end is.
  virtual double step_before(State& state, double t0, double t_end);

  // What constraints add to the forces of a stage, for output.
  virtual void add_constraint_forces(Stage&, double) const {}

  // Adds the dampers within a term to the forces of a stage.
  void add_damping(TermId term, Stage& stage, double t) const;

  // Fills in the forces of a stage.
  Admissibility evaluate(Stage& stage, double t) const;
  void require(const Admissibility& admissibility) const;  // throws SolveError
  // Puts the held components where their supports have them at t.
  void prescribe(double t, Vector& u, Vector& v) const;
  double held_acceleration(Index i, double t) const;
  std::array<double, 3> position(NodeId a, const Vector& u) const;

  // Of increments (q - u) / h, to the rounding of displacements.
  static double resolution(const Vector& u, double h) { return 1e-15 * u.cwiseAbs().maxCoeff() / h; }

  // The loads and dampers of a stage, acting for the duration dt.
  void book_forces(State& state, const Stage& stage, double dt) const;
  // What a support gives to the held component i at displacements u.
  void book_reaction(State& state, Index i, const Vector& u, double impulse, double work) const;

  const Model& model() const { return model_; }
  double nominal_step() const { return step_; }
  Index steps_done() const { return steps_done_; }
  const KickDrift& kick_drift() const { return kick_drift_; }
  const Vector& mass() const { return mass_; }              // of each component
  const std::vector<Index>& held() const { return held_; }  // components with a support

 private:
  void advance(State& state, double t_end, Observer* observer) final;
  NodeId node(Index i) const { return make_id<NodeId>(i / model_.dim()); }
  int component(Index i) const { return static_cast<int>(i % model_.dim()); }

  const Model& model_;
  double step_;
  std::vector<double> parameters_;  // the step first
  Index steps_done_ = 0;
  mutable Index evaluations_ = 0;  // of the model's forces, output's included
  Index evaluations_in_run_ = 0;   // without
  double time_ = 0.0;              // [s], where the last step ended
  bool started_ = false;
  double delta_;  // spacing of the time differences of prescribed motions [s]
  KickDrift kick_drift_;
  Vector mass_;
  std::vector<Index> held_;
};

}  // namespace tempi
