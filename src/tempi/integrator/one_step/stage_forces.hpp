// SPDX-License-Identifier: Apache-2.0
// Forces at the stages of a step, and what they give: what maps of one step are made of.
//
// Dampers are taken at the velocities of their stages: methods solve for them where these are unknown. Supported
// components follow their prescribed motion.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tempi/core/archive.hpp"
#include "tempi/integrator/kick_drift.hpp"

namespace tempi {

class BatchForces;

inline std::span<const double> span_of(const Eigen::VectorXd& x) {
  return {x.data(), static_cast<std::size_t>(x.size())};
}
inline std::span<double> room_of(Eigen::VectorXd& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }
inline Eigen::Map<const Eigen::VectorXd> map_of(const std::vector<double>& x) {
  return {x.data(), static_cast<Eigen::Index>(x.size())};
}
inline Eigen::Map<Eigen::VectorXd> map_of(std::vector<double>& x) {
  return {x.data(), static_cast<Eigen::Index>(x.size())};
}

struct Stage {                   // a moment at which forces are wanted
  Eigen::VectorXd u, v;          // displacements, velocities
  Eigen::VectorXd force, load;   // all, and the loads' part [N]
  Eigen::VectorXd damping = {};  // the dampers' part
};

// visit(first, size) of pieces of n numbers that stay in a near cache from one statement on them to the next.
template <class Visit>
void each_piece(Index n, Visit&& visit) {
  constexpr Index at_once = 1024;
  for (Index first = 0; first < n; first += at_once) visit(first, std::min(at_once, n - first));
}

struct Admissibility {  // of the first term that is not admissible; 1 where all are
  TermId term{};
  double value = 1.0;
  std::string fault{};  // a message, where it does not hold
  double time = 0.0;    // [s]
  bool holds() const;
};

// The first term of a model that is not admissible at displacements u.
Admissibility first_fault(const Model& model, std::span<const double> u, double t);

class StageForces {
 public:
  using Vector = Eigen::VectorXd;

  // step > 0 [s]: the nominal one, of which prescribed motions are differenced over a tenth. `model` must outlive it.
  StageForces(const Model& model, double step, ConstraintsKept kept = ConstraintsKept::none);
  ~StageForces();

  const Model& model() const { return model_; }
  double step() const { return step_; }
  const KickDrift& kick_drift() const { return kick_drift_; }
  const Vector& mass() const { return mass_; }              // of each component
  const std::vector<Index>& held() const { return held_; }  // components with a support, or driven
  Index evaluations() const { return evaluations_; }        // of the model's forces so far, remembered ones left out
  // The solution of `solve`, its evaluations counted as if nobody had solved these equations before (LastSolution).
  template <class Last, class Solve>
  auto counted(Last& last, Solve&& solve) const {
    const Index before = evaluations_;
    auto solution = solve();
    if (solution.known) evaluations_ = before + last.evaluations;
    last.evaluations = evaluations_ - before;
    return solution;
  }

  // Threads for forces; results do not depend on their number.
  void use_threads(int threads) const;

  // Components without a support that others move, along straight lines in time: held from now on. Once.
  void drive(std::span<const Index> components);
  // At the velocities w, in the order given to drive(). They are not a function of time: its differences late in a run
  // have lost the digits that keep the moment of momentum.
  void drive_along(const Vector& w) const;
  const std::vector<Index>& driven() const { return driven_; }
  const Vector& driven_velocity() const { return driven_velocity_; }

  // Fills in the forces of a stage, by batches. Those of the last displacements and time are remembered.
  Admissibility evaluate(Stage& stage, double t) const;
  Admissibility evaluate_undamped(Stage& stage, double t) const;  // without dampers, which want velocities
  void add_dampings(Stage& stage, double t) const;
  Admissibility evaluate_once(Stage& stage, double t) const;  // of a stage that nobody comes back to
  // For steps that begin where the last one ended: `begin` fills in a stage at u but for its velocities, `finish` one
  // at the step's end, `keep` remembers the latter when all is done with it. By exchanging vectors where there are no
  // dampers, whose forces are not remembered: only v is left of it then.
  Admissibility begin(std::span<const double> u, Stage& stage, double t) const;
  Admissibility finish(Stage& stage, double t) const;
  void keep(Stage& stage, double t) const;
  // Of a stage that nobody comes back to, with sum V_K [J].
  Admissibility measure(Stage& stage, double t, double& potential_energy) const;
  // What is remembered outlives this: output may evaluate what it likes between steps.
  class Aside;
  double potential_energy(std::span<const double> u, double t) const;  // sum V_K [J], by batches
  static void require(const Admissibility& admissibility);             // throws StepError
  // Adds the dampers within a term to the forces of a stage.
  void add_damping(TermId term, Stage& stage, double t) const;

  // Solves (M + c C(u)) v' = M v for what dampers leave of v, but for held components, which keep theirs: symmetric and
  // positive definite, by conjugate gradients without a matrix, to rounding; drags alone at once. c >= 0 [s]. Throws
  // SolveError where they fail.
  void damp(std::span<const double> u, double t, double c, Vector& v) const;

  // Puts the held components where their supports have them at t.
  void place(double t, Eigen::Ref<Vector> u) const;
  // And gives them their velocities; of driven ones sets these alone.
  void prescribe(double t, Eigen::Ref<Vector> u, Eigen::Ref<Vector> v) const;
  // visit(i, u_i) of the components that supports move: neither at rest nor driven.
  template <class Visit>
  void each_placed(double t, Visit&& visit) const {
    for (const SupportPath& path : paths_at(t))
      for (std::size_t k = 0; k < path.places.size(); ++k) visit(held_[path.places[k]], path.displacement[k]);
  }
  // What supports prescribe for the components in held(), in their order; zero of driven ones. Throws SolveError where
  // a velocity is not a number.
  const Vector& held_velocities(double t) const;
  const Vector& held_accelerations(double t) const;
  bool is_supported(Index i) const { return support_[static_cast<std::size_t>(i)] != Supports::none; }
  std::array<double, 3> position(NodeId a, const Vector& u) const;

  // The loads and dampers of a stage, acting for the duration dt.
  void book_forces(State& state, const Stage& stage, double dt) const;
  // What supports give to components i at displacements u: given(k, i), a Reaction, of the one at place k. Nothing is
  // booked of driven ones, nor are they asked for.
  struct Reaction {
    double impulse, work;  // [N s, J]
  };
  template <class Of>
  void book_reactions(State& state, std::span<const Index> components, const Vector& u, Of&& given) const {
    std::vector<Given> sums(state.supports.size());
    for (std::size_t k = 0; k < components.size(); ++k) {
      const Index i = components[k];
      if (!is_supported(i)) continue;
      const auto [impulse, work] = given(static_cast<Index>(k), i);
      std::array<double, 3> p{};
      p[static_cast<std::size_t>(component(i))] = impulse;
      sums[static_cast<std::size_t>(support_[static_cast<std::size_t>(i)])].add(position(node(i), u), p, work);
    }
    for (std::size_t s = 0; s < sums.size(); ++s) state.supports[s] += sums[s];
  }

  // What is remembered, so that a run that goes on counts the evaluations of one that was never cut off.
  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive) const;

  // Of increments (q - u) / h, to the rounding of displacements.
  static double resolution(const Vector& u, double h) { return 1e-15 * u.cwiseAbs().maxCoeff() / h; }

 private:
  BatchForces& batches() const;
  bool is_remembered(std::span<const double> u, double t) const;
  Admissibility look(Stage& stage, double t, double* potential_energy = nullptr) const;
  void exchange(Stage& stage, double t) const;  // with what is remembered
  void find_paths();
  std::span<const SupportPath> paths_at(double t) const;  // with their displacements then
  using Rates = void (ExpressionAtPoints::*)(Index block, double t, double delta, std::span<double> rates) const;
  struct Prescribed {
    double t = std::numeric_limits<double>::quiet_NaN();
    Vector values;
  };
  void look_at(Rates rates, double t, Prescribed& prescribed) const;
  NodeId node(Index i) const { return make_id<NodeId>(i / model_.dim()); }
  int component(Index i) const { return static_cast<int>(i % model_.dim()); }

  const Model& model_;
  double step_;
  double delta_;  // spacing of the time differences of prescribed motions [s]
  KickDrift kick_drift_;
  Vector mass_;
  std::vector<std::int32_t> support_;  // of each component, or none
  std::vector<Index> held_;
  std::vector<Index> driven_;
  mutable std::vector<SupportPath> paths_;  // of components by their places in held()
  mutable double paths_at_ = std::numeric_limits<double>::quiet_NaN();
  mutable Prescribed velocities_, accelerations_;  // of the time last asked for
  mutable Vector driven_velocity_;
  mutable Index evaluations_ = 0;
  mutable int threads_ = 1;
  mutable std::unique_ptr<BatchForces> batches_;  // made when first needed
  struct Remembered {
    double t;
    Vector u, force, load;
  };
  mutable std::optional<Remembered> last_;
  mutable struct { Vector near, rest, direction, image, resistance; } damped_;  // work space
};

class StageForces::Aside {
 public:
  explicit Aside(const StageForces& of) : of_(of), last_(of.last_) {}
  ~Aside() { of_.last_ = std::move(last_); }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

 private:
  const StageForces& of_;
  std::optional<Remembered> last_;
};

}  // namespace tempi
