// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <vector>

#include "tempi/core/error.hpp"
#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/lattice/lattice_loads.hpp"
#include "tempi/integrator/lattice/lattice_strikes.hpp"
#include "tempi/integrator/multi_domain/near_interface.hpp"
#include "tempi/integrator/multi_domain/response.hpp"
#include "tempi/integrator/one_step/stage_forces.hpp"
#include "tempi/model/assembled_stiffness.hpp"

namespace tempi {
namespace {

using Vector3 = std::array<double, 3>;

// Velocity Verlet by batches; or, where terms have steps of their own, avi between two instants at which all act. The
// forces of the end of a step are those of the beginning of the next.
class ExplicitDomain final : public Domain {
 public:
  ExplicitDomain(const DomainInterface::Part& part, const DomainRule& rule, double system_step)
      : part_(part),
        rule_(rule),
        delta_(0.1 * system_step),
        plan_(lattice_groups(model(), ticks_of(part, rule))),
        lines_(plan_.node_of_line.size()),
        aside_(lines_.size()),
        place_(lines_.size()) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const NodeId a = plan_.node_of_line[i];
      lines_[i].inverse_mass = 1.0 / model().mass(a);
      place_[i] = ordinal(part.submodel.nodes[ordinal(a)]) * dim();
    }
    use_threads(1);
    find_held();
    ledgers_.resize(static_cast<std::size_t>(model().supports().size()));
  }

  bool is_explicit() const override { return part_.driven.empty() || rule_.substeps == 1 || near().is_nothing(); }

  void begin(const State& whole, SystemStep step) override {
    whole_ = &whole;
    step_ = step;
    tried_ = arrived_ = false;
  }

  const Impulses& run(const Vector& w) override {
    if (!arrived_ && !arrive()) return failed();
    arrived_ = false;
    impulses_ = none();
    impulses_.early = begun_;
    return go(w) ? impulses_ : failed();
  }

  const Impulses& attempt(const Vector& w) override {
    const bool is_explicit = this->is_explicit();
    if (!is_explicit && (!near().pays() || moves_ || (loads_->any() && !loads_->are_constant()))) return run(w);
    if (!tried_) {  // the same for all attempts
      if (!arrived_ && !arrive()) return failed();
      if (!is_explicit) {
        set_off();
        near().begin(lines_, *loads_);
      }
      tried_ = true;
    }
    impulses_ = none();
    impulses_.early = begun_;
    return is_explicit || near().run(*strikes_, step_, w, impulses_.early) ? impulses_ : failed();
  }

  Matrix response(Around) override { return near().response(part_.submodel.restricted(*whole_).displacement, step_); }
  Vector rounding() override { return near().rounding(part_.submodel.restricted(*whole_).displacement, step_); }

  void put_back(State& whole, bool may_wait) override {
    whole.loads += of_loads_;
    for (std::size_t s = 0; s < ledgers_.size(); ++s) whole.supports[s] += ledgers_[s];
    waiting_ = may_wait;
    if (!may_wait) write(whole);
  }

  void finish(State& whole) override {
    if (!waiting_) return;
    read_driven(whole);
    write(whole);
    waiting_ = false;
  }

  void use_threads(int threads) override {
    team_ = std::make_unique<ThreadTeam>(threads);
    strikes_ = std::make_unique<LatticeStrikes>(plan_, *team_);
    loads_ = std::make_unique<LatticeLoads>(model(), plan_, *team_);
    forces_at_.reset();
  }
  bool may_run_beside_others() const override { return !moves_ && (!loads_->any() || loads_->are_constant()); }
  Index evaluations() const override { return evaluations_; }

 private:
  struct Held {  // a component that a support or the interface moves
    std::size_t line, component;
    double mass;
    Index driven;          // place among the driven, or -1
    NodeId node;           // of the part
    std::int32_t support;  // where not driven
    bool moves;
    double velocity = 0.0;  // over the substep
  };

  const Model& model() const { return *part_.submodel.model; }
  std::size_t dim() const { return static_cast<std::size_t>(model().dim()); }
  Impulses none() const {
    const auto n = static_cast<Index>(part_.driven.size());
    return {Vector::Zero(n), Vector::Zero(n), Vector::Zero(n)};
  }
  static std::vector<std::int32_t> ticks_of(const DomainInterface::Part& part, const DomainRule& rule) {
    if (!rule.ticks.empty()) return rule.ticks;
    return std::vector<std::int32_t>(part.submodel.terms.size(), 1);
  }
  NearInterface& near() const {
    if (!near_) near_.emplace(part_, plan_, ticks_of(part_, rule_), rule_.substeps);
    return *near_;
  }

  void find_held() {
    const auto d = static_cast<Index>(dim());
    for (std::size_t k = 0; k < part_.driven.size(); ++k) {
      const auto a = make_id<NodeId>(part_.driven[k] / d);
      held_.push_back({static_cast<std::size_t>(plan_.line(a)), static_cast<std::size_t>(part_.driven[k] % d),
                       model().mass(a), static_cast<Index>(k), a, Supports::none, false});
    }
    for (const NodeId a : model().supports().held_nodes())
      for (int c = 0; c < model().dim(); ++c) {
        const std::int32_t support = model().supports().support_of(a, c);
        if (support == Supports::none) continue;
        const bool moves = model().supports().is_prescribed(a, c);
        moves_ = moves_ || moves;
        held_.push_back({static_cast<std::size_t>(plan_.line(a)), static_cast<std::size_t>(c), model().mass(a), -1, a,
                         support, moves});
      }
  }

  // To where the step begins, and what the half kick there gives to held components.
  bool arrive() {
    impulses_ = none();
    of_loads_ = {};
    std::ranges::fill(ledgers_, Ledger{});
    if (!(waiting_ ? follow() : read())) return false;
    of_loads_ += half_of_loads_;
    settle(0, [&](const Held& held) { return held.velocity + kick(held); });
    begun_ = impulses_.early;
    set_off_ = false;
    arrived_ = true;
    return true;
  }

  // Where the last step ended.
  bool follow() {
    read_driven(*whole_);
    loads_->start(lines_);
    return true;
  }

  bool read() {
    std::atomic<bool> moved = forces_at_ != step_.t0 || forces_for_ != step_.length;
    each_line([&](std::size_t line) {
      NodeLine& node = lines_[line];
      const std::size_t at = place_[line];
      bool same = true;
      for (std::size_t c = 0; c < dim(); ++c) {
        same = same && node.displacement[c] == whole_->displacement[at + c];
        node.displacement[c] = whole_->displacement[at + c];
        aside_[line][c] = whole_->velocity[at + c];
      }
      node.clock = 0.0;
      if (!same) moved.store(true, std::memory_order_relaxed);
    });
    for (Held& held : held_) held.velocity = whole_->velocity[place_[held.line] + held.component];
    loads_->start(lines_);
    if (!moved) return true;
    each_line([&](std::size_t line) { std::ranges::fill(lines_[line].velocity, 0.0); });
    return half_kick(step_.t0);
  }

  void read_driven(const State& whole) {
    for (Held& held : held_) {
      if (held.driven < 0) continue;
      const std::size_t at = place_[held.line] + held.component;
      lines_[held.line].displacement[held.component] = whole.displacement[at];
      held.velocity = whole.velocity[at];
    }
  }

  void write(State& whole) const {
    each_line([&](std::size_t line) {
      for (std::size_t c = 0; c < dim(); ++c) {
        whole.displacement[place_[line] + c] = lines_[line].displacement[c];
        whole.velocity[place_[line] + c] = aside_[line][c] + lines_[line].velocity[c];
      }
    });
    for (const Held& held : held_) whole.velocity[place_[held.line] + held.component] = held.velocity;
  }

  // The velocity just after the half kick at which the step begins.
  double first_velocity(std::size_t line, std::size_t c) const {
    const double kick = lines_[line].velocity[c];
    return (waiting_ ? aside_[line][c] + kick : aside_[line][c]) + kick;
  }

  void set_off() {
    forces_at_.reset();
    each_line([&](std::size_t line) {
      for (std::size_t c = 0; c < 3; ++c) lines_[line].velocity[c] = first_velocity(line, c);
    });
    for (const Held& held : held_) lines_[held.line].velocity[held.component] = held.velocity;
    set_off_ = true;
  }

  // On to its end, all but driven components.
  bool go(const Vector& w) {
    const double h = step_.length / rule_.substeps;
    if (rule_.substeps > 1 && !set_off_) set_off();
    for (Held& held : held_) {
      if (held.driven >= 0) held.velocity = w(held.driven);
      aside_[held.line][held.component] = held.velocity;
      lines_[held.line].velocity[held.component] = set_off_ ? held.velocity : 0.0;
    }
    for (int k = 1; k < rule_.substeps; ++k) {
      const double t = step_.t0 + k * h;
      for (const LatticeGroup& group : plan_.groups)
        if (k % group.ticks == 0) drift(group, k, h);
      place_moving(t);
      if (!strike_all(
              t, [&](const LatticeGroup& group) { return k % group.ticks == 0 ? group.ticks * h : 0.0; }, of_loads_))
        return false;
      settle(k, [&](const Held& held) { return lines_[held.line].velocity[held.component]; });
    }
    const double t1 = step_.t1;
    forces_at_.reset();
    each_line([&](std::size_t line) {
      NodeLine& node = lines_[line];
      const double dt = (rule_.substeps - node.clock) * h;
      for (std::size_t c = 0; c < 3; ++c) {
        aside_[line][c] = set_off_ ? node.velocity[c] : first_velocity(line, c);
        node.displacement[c] += aside_[line][c] * dt;
        node.velocity[c] = 0.0;
      }
      node.clock = 0.0;
    });
    waiting_ = false;
    for (const Held& held : held_)
      if (held.driven >= 0)  // to the bits of the interface
        lines_[held.line].displacement[held.component] =
            whole_->displacement[place_[held.line] + held.component] + step_.length * w(held.driven);
    place_moving(t1);
    if (!half_kick(t1)) return false;
    of_loads_ += half_of_loads_;
    of_loads_.work += loads_->work_of_constant(lines_);
    settle(rule_.substeps, [&](const Held& held) { return aside_[held.line][held.component] + kick(held); });
    return true;
  }

  template <class DurationOf>
  bool strike_all(double t, DurationOf&& duration_of, Ledger& ledger) {
    ++evaluations_;
    together_.clear();
    groups_.clear();
    durations_.clear();
    for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
      const double duration = duration_of(plan_.groups[g]);
      if (duration == 0.0) continue;
      together_.add(plan_, g, duration);
      groups_.push_back(g);
      durations_.push_back(duration);
    }
    const bool admissible = strikes_->strike(together_, t, lines_);
    if (loads_->any()) {
      loads_->evaluate(groups_, t, lines_);
      loads_->strike(groups_, durations_, lines_, ledger);
    }
    return admissible;
  }

  // What half a step of every group gives at t to lines at rest. It is summed by itself, so that it has the same bits
  // wherever a run goes on.
  bool half_kick(double t) {
    const double h = step_.length / rule_.substeps;
    half_of_loads_ = {};
    const bool admissible = strike_all(
        t, [&](const LatticeGroup& group) { return 0.5 * group.ticks * h; }, half_of_loads_);
    of_loads_.work += half_of_loads_.work.value();  // since they last acted
    half_of_loads_.work = {};
    if (!admissible) return false;
    forces_at_ = t;
    forces_for_ = step_.length;
    return true;
  }

  template <class Visit>
  void each_line(Visit&& visit) const {
    team_->for_each(std::ssize(lines_), ThreadTeam::nodes_at_once,
                    [&](Index i) { visit(static_cast<std::size_t>(i)); });
  }

  void drift(const LatticeGroup& group, int k, double h) {
    const auto move = [&](Index line) {
      NodeLine& node = lines_[static_cast<std::size_t>(line)];
      if (node.clock == k) return;
      const double dt = (k - node.clock) * h;
      for (std::size_t c = 0; c < 3; ++c) node.displacement[c] += node.velocity[c] * dt;
      node.clock = k;
    };
    team_->for_each(group.last_line - group.first_line, ThreadTeam::nodes_at_once,
                    [&](Index i) { move(group.first_line + i); });
    for (const std::int32_t line : group.other_lines) move(line);
  }

  double position(const Held& held, double t) const {
    return *model().supports().displacement(held.node, static_cast<int>(held.component), t);
  }

  void place_moving(double t) {
    for (const Held& held : held_)
      if (held.moves) lines_[held.line].displacement[held.component] = position(held, t);
  }

  double kick(const Held& held) const { return lines_[held.line].velocity[held.component]; }

  // What strikes gave to held components since they were set goes to the interface, or to supports.
  template <class VelocityOf>
  void settle(int k, VelocityOf&& velocity_of) {
    const double h = step_.length / rule_.substeps, t = step_.t0 + k * h;
    const double tau = static_cast<double>(k) / rule_.substeps;
    for (Held& held : held_) {
      const double J = held.mass * (velocity_of(held) - held.velocity);
      if (held.driven >= 0) {
        impulses_.early(held.driven) += (1.0 - tau) * J;
        impulses_.late(held.driven) += tau * J;
        if (k == rule_.substeps) impulses_.last(held.driven) += J;
      } else {
        book_reaction(held, J, k, t, h);
      }
      if (k > 0 && k < rule_.substeps) lines_[held.line].velocity[held.component] = held.velocity;
    }
  }

  void book_reaction(Held& held, double J, int k, double t, double h) {
    const double before = held.velocity;
    double after = before, there = 0.0;
    if (held.moves) {
      there = model().supports().velocity(held.node, static_cast<int>(held.component), t, delta_);
      after = k == rule_.substeps ? there : (position(held, t + h) - position(held, t)) / h;
    }
    std::array<double, 3> x{}, given{};
    for (std::size_t c = 0; c < dim(); ++c)
      x[c] = model().reference()[ordinal(held.node) * dim() + c] + lines_[held.line].displacement[c];
    given[held.component] = held.mass * (after - before) - J;
    ledgers_[static_cast<std::size_t>(held.support)].add(x, given, given[held.component] * there);
    held.velocity = after;
  }

  const Impulses& failed() {
    impulses_.admissible = false;
    std::vector<double> u(lines_.size() * dim());
    for (std::size_t i = 0; i < lines_.size(); ++i)
      std::copy_n(lines_[i].displacement, dim(), &u[ordinal(plan_.node_of_line[i]) * dim()]);
    impulses_.fault = first_fault(model(), u, step_.t0).fault;
    return impulses_;
  }

  const DomainInterface::Part& part_;
  DomainRule rule_;
  double delta_;  // spacing of the time differences of prescribed motions [s]
  LatticeGroups plan_;
  LatticeStrikes::Together together_;  // what strikes at the time in hand
  std::vector<std::size_t> groups_;
  std::vector<double> durations_;
  AlignedVector<NodeLine> lines_;
  // Between steps lines hold the half kick of where they are as their velocity, and by line this is put aside [m/s]:
  // the velocity before it; or after it, where it was read.
  std::vector<Vector3> aside_;
  std::vector<std::size_t> place_;  // by line, in the state of the whole model
  std::vector<Held> held_;
  bool moves_ = false;  // some support does
  std::unique_ptr<ThreadTeam> team_;
  std::unique_ptr<LatticeStrikes> strikes_;
  std::unique_ptr<LatticeLoads> loads_;
  std::optional<double> forces_at_;            // when that half kick was found, for the lines' displacements
  double forces_for_ = 0.0;                    // and for which length of a step
  mutable std::optional<NearInterface> near_;  // made when first needed
  const State* whole_ = nullptr;
  SystemStep step_{};
  bool tried_ = false, arrived_ = false;  // near the interface; all of it, and still there
  bool set_off_ = false;                  // lines have the velocities with which the step begins
  bool waiting_ = false;                  // the state does not know yet what the last step led to
  Vector begun_;                          // what comes early before anything depends on w
  Impulses impulses_;
  Ledger of_loads_, half_of_loads_;
  std::vector<Ledger> ledgers_;  // of supports
  Index evaluations_ = 0;
};

}  // namespace

std::unique_ptr<Domain> make_explicit_domain(const DomainInterface::Part& part, const DomainRule& rule,
                                             double system_step) {
  return std::make_unique<ExplicitDomain>(part, rule, system_step);
}

}  // namespace tempi
