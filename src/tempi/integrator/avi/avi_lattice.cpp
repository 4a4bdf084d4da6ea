// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/avi/avi_lattice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/integrator/checkpoint.hpp"

namespace tempi {
namespace {

// Of a term's stable step, for each of its nodes: a few per cent of a run.
constexpr Index updates_between_rechecks = 256;
constexpr Index terms_at_once = 8;

}  // namespace

AviLattice::AviLattice(const Model& model, TickLattice lattice, LatticeOptions options)
    : model_(model),
      lattice_(std::move(lattice)),
      rechecked_(options.rechecked),
      ahead_(options.ahead),
      name_(options.name),
      synchronous_(std::ranges::all_of(lattice_.ticks, [](std::int32_t m) { return m == 1; })),
      plan_(lattice_groups(model, lattice_.ticks)),
      kick_drift_(model, 0.1 * lattice_.tick * *std::ranges::min_element(lattice_.ticks), ConstraintsKept::none,
                  SumsStruck::as_one, LayersStruck::by_the_integrator),
      team_(options.threads),
      nodes_(model, plan_, lattice_.tick, model.layers().empty() ? 0 : LatticeContact::fine_bits),
      strikes_(plan_, team_),
      loads_(model, plan_, team_),
      supports_(model, plan_, team_, lattice_.tick, 0.1 * lattice_.tick * *std::ranges::min_element(lattice_.ticks)),
      mollifier_(options.coupling == Coupling::mollified && !synchronous_
                     ? std::make_unique<LatticeMollifier>(model, plan_, strikes_, supports_, team_, lattice_)
                     : nullptr),
      contact_(model.layers().empty()
                   ? nullptr
                   : std::make_unique<LatticeContact>(model, plan_, nodes_, supports_, team_, lattice_.tick)),
      dampers_(model, plan_, supports_, team_, lattice_.tick),
      asked_window_(options.window),
      window_(std::max<Fine>(1, std::llround(std::ldexp(options.window, LatticeContact::fine_bits)))) {
  if (!(ahead_ >= 0.0 && ahead_ <= 1.0) || (ahead_ != 0.5 && (!synchronous_ || model.has_dampers() || contact_)))
    throw InputError(
        fmt::format("terms kick by {} of their step at the start (must be 0 to 1, and 1/2 where steps are "
                    "unequal or the model has dampers or layers of contact).",
                    ahead_));
  acting_.reserve(plan_.groups.size());
  if (model.has_dampers()) before_.resize(nodes_.lines().size());
  std::size_t most = 0;
  for (const LatticeGroup& group : plan_.groups)
    for (const LatticePart& part : group.parts) most += part.terms.size() / updates_between_rechecks + 1;
  rechecked_terms_.reserve(most);
}

Integrator::Measures AviLattice::measures() const {
  Measures all = contact_ ? contact_->measures() : Measures{};
  if (!name_.empty()) all.emplace_back("force_evaluations", static_cast<double>(now_ + (started_ ? 1 : 0)));
  if (dampers_.turns() > 1) all.emplace_back("damping_turns", dampers_.turns());
  return all;
}

void AviLattice::set_due() {
  due_.clear();
  for (const LatticeGroup& group : plan_.groups) due_.push_back((now_ / group.ticks + 1) * group.ticks);
}

void AviLattice::advance(State& state, double t_end, Observer* observer) {
  nodes_.read(state);
  if (!started_) start(state);
  supports_.read(nodes_.lines());
  set_due();
  try {
    if (contact_)
      go_in_windows(state, t_end, observer);
    else
      for (; static_cast<double>(now_ + 1) * lattice_.tick < t_end; ++now_) act(state, now_ + 1, observer);
  } catch (...) {
    nodes_.write(state);
    throw;
  }
  nodes_.write(state);
}

// Half a kick of everybody, or another part. What throws leaves the state as it was.
void AviLattice::start(State& state) {
  State begun = state;
  supports_.start(nodes_.lines());
  supports_.read(nodes_.lines());
  loads_.start(nodes_.lines());
  acting_.clear();
  for (std::size_t g = 0; g < plan_.groups.size(); ++g) acting_.push_back(g);
  instant(begun, 0.0, ahead_, nullptr);
  state = std::move(begun);
  started_ = true;
}

void AviLattice::act(State& state, Index s, Observer* observer) {
  acting_.clear();
  for (std::size_t g = 0; g < due_.size(); ++g)
    if (due_[g] == s) {
      due_[g] += group(g).ticks;
      acting_.push_back(g);
    }
  if (acting_.empty() && !contact_) return;
  instant(state, static_cast<double>(s), 1.0, observer);
  if (contact_) contact_->note(acting_, static_cast<double>(s));
}

// The acting groups strike at tick `now`, with this part of their steps.
void AviLattice::instant(State& state, double now, double part, Observer* observer) {
  const double t = now * lattice_.tick;
  if (observer != nullptr) {
    if (!watch_) watch_ = new_watch();
    observer->make_room(watch_->places());
    watch_->begin();
  }
  if (contact_) contact_->note_before(acting_, now);
  drift(state, now, observer != nullptr);
  if (now > 0.0) recheck_stability(state, now);
  if (loads_.any()) loads_.evaluate(acting_, t, nodes_.lines());  // they may throw: before any kick
  announce_dampers(part);
  LatticeCorrections* corrections = contact_ ? contact_->corrections() : nullptr;
  if (corrections != nullptr) corrections->begin(acting_);
  if (!strike(t, part, observer != nullptr, corrections)) fail(state, t, part);
  if (loads_.any()) strike_loads(state, part, corrections);
  if (corrections != nullptr) corrections->end(acting_, now, part);
  for (const std::size_t g : acting_) supports_.settle(g, nodes_.lines(), state.supports);
  if (contact_ && now > 0.0) contact_->strike(std::lround(now) << LatticeContact::fine_bits, state);
  try {
    apply_dampers(state, now, observer != nullptr);
  } catch (...) {
    take_back(state, t, part);
    throw;
  }
  if (observer != nullptr) show(state, now, *observer);
}

// Whether every term was admissible. Groups strike one after the other where somebody looks at nodes between them.
bool AviLattice::strike(double t, double part, bool watched, LatticeCorrections* corrections) {
  failed_at_.clear();
  const auto strike_groups = [&](std::span<const std::size_t> groups) {
    if (corrections != nullptr) corrections->before(groups.front(), nodes_.lines());
    gather(groups, part);
    const bool all =
        watched ? watch_->strike(together_, t, nodes_.lines()) : strikes_.strike(together_, t, nodes_.lines());
    if (corrections != nullptr) corrections->after(groups.front(), nodes_.lines());
    if (!all && failed_at_.empty()) failed_at_ = displacements();
    return all;
  };
  const auto group_strikes = [&](std::size_t g) { return strike_groups({&g, 1}); };
  if (mollifier_) return mollifier_->strike(acting_.size(), part, t, nodes_.lines(), watched, group_strikes);
  if (corrections == nullptr) return strike_groups(acting_);
  bool admissible = true;
  for (const std::size_t g : acting_) admissible = group_strikes(g) && admissible;
  return admissible;
}

void AviLattice::strike_loads(State& state, double part, LatticeCorrections* corrections) {
  if (corrections == nullptr) {
    loads_.strike(acting_, steps(part), nodes_.lines(), state.loads);
    return;
  }
  for (const std::size_t g : acting_) {
    corrections->before(g, nodes_.lines());
    const double duration = part * step(g);
    loads_.strike({&g, 1}, {&duration, 1}, nodes_.lines(), state.loads);
    corrections->after(g, nodes_.lines());
  }
}

// What groups strike with, for this part of their steps.
void AviLattice::gather(std::span<const std::size_t> groups, double part) {
  together_.clear();
  for (const std::size_t g : groups) together_.add(plan_, g, part * step(g));
}

// Of the acting groups, this part of each.
std::span<const double> AviLattice::steps(double part) {
  steps_.clear();
  for (const std::size_t g : acting_) steps_.push_back(part * step(g));
  return steps_;
}

// Where nodes are now, shifted or not, as a state has them.
std::vector<double> AviLattice::displacements() const {
  const auto d = static_cast<std::size_t>(model_.dim());
  std::vector<double> u(plan_.node_of_line.size() * d);
  for (std::size_t i = 0; i < plan_.node_of_line.size(); ++i)
    std::copy_n(nodes_.lines()[i].displacement, d, &u[ordinal(plan_.node_of_line[i]) * d]);
  return u;
}

void AviLattice::strike_back(double t, double part) {
  const auto strike_groups = [&](std::span<const std::size_t> groups) {
    gather(groups, -part);
    return strikes_.strike(together_, t, nodes_.lines());
  };
  if (mollifier_)
    mollifier_->strike(acting_.size(), -part, t, nodes_.lines(), false, [&](std::size_t g) {
      return strike_groups({&g, 1});
    });
  else
    strike_groups(acting_);
}

// The nodes that drift with the acting groups, some of them twice where steps do not nest.
template <class Visit>
void AviLattice::each_acting_line(Visit&& visit) {
  for (std::size_t i = 0; i < acting_.size();) {
    const Index first = group(acting_[i]).first_line;
    Index last = first;
    for (; i < acting_.size() && group(acting_[i]).first_line == last; ++i) last = group(acting_[i]).last_line;
    team_.for_each(last - first, ThreadTeam::nodes_at_once,
                   [&](Index line) { visit(static_cast<std::size_t>(first + line)); });
  }
  for (const std::size_t g : acting_) {
    const auto& others = group(g).other_lines;
    team_.for_each(std::ssize(others), ThreadTeam::nodes_at_once,
                   [&](Index i) { visit(static_cast<std::size_t>(others[static_cast<std::size_t>(i)])); });
  }
}

void AviLattice::drift(State& state, double now, bool watched) {
  for (const std::size_t g : acting_) supports_.follow(g, now, nodes_.lines(), state.supports);
  if (!watched && !model_.has_dampers()) {
    each_acting_line([&](std::size_t line) { nodes_.drift(line, now); });
    return;
  }
  each_acting_line([&](std::size_t line) {
    nodes_.drift(line, now);
    const NodeLine& node = nodes_.lines()[line];
    if (model_.has_dampers()) std::copy_n(node.velocity, 3, before_[line].begin());
    if (watched) watch_->note_before(line, node);
  });
}

std::unique_ptr<LatticeWatch> AviLattice::new_watch() const {
  return std::make_unique<LatticeWatch>(model_, plan_, strikes_, loads_);
}

void AviLattice::rewind() {
  started_ = false;
  now_ = 0;
  fine_ = 0;
  window_from_ = 0.0;
  if (contact_) contact_->forget();
  watch_.reset();
}

// A few terms of each acting group each time, so that all have had their turn after a while.
void AviLattice::recheck_stability(State& state, double now) {
  if (rechecked_ == 0.0) return;
  rechecked_terms_.clear();
  for (const std::size_t g : acting_)
    for (const LatticePart& part : group(g).parts) {
      const auto size = static_cast<Index>(part.terms.size());
      const auto nodes = std::min<Index>(10, static_cast<Index>(part.potential->stencil(0).size()));
      const Index period = updates_between_rechecks * nodes;
      const Index turn = std::lround(now) / group(g).ticks % period;
      for (Index i = turn * size / period; i < (turn + 1) * size / period; ++i)
        rechecked_terms_.push_back(part.terms[static_cast<std::size_t>(i)]);
    }
  team_.for_each(std::ssize(rechecked_terms_), terms_at_once,
                 [&](Index i) { nodes_.write_displacements_of(rechecked_terms_[static_cast<std::size_t>(i)], state); });
  const auto is_stable = [&](TermId term) {
    return model_.step_is_stable(term, state.displacement, rechecked_ * step(term));
  };
  std::atomic<bool> stable = true;
  team_.for_each(std::ssize(rechecked_terms_), [&](Index i) {
    if (!is_stable(rechecked_terms_[static_cast<std::size_t>(i)])) stable.store(false, std::memory_order_relaxed);
  });
  if (!stable)
    for (const TermId term : rechecked_terms_)
      kick_drift_.require_stable(term, state, rechecked_ * step(term), now * lattice_.tick);
}

// Takes back what the instant in hand has done but for dampers: velocities become those before it, to rounding.
void AviLattice::take_back(State& state, double t, double part) {
  strike_back(t, part);
  if (loads_.any()) loads_.take_back(acting_, steps(part), nodes_.lines(), state.loads);
  for (const std::size_t g : acting_) supports_.settle(g, nodes_.lines(), state.supports);
}

// Takes back the strikes of the instant in hand and says whose fault it was.
void AviLattice::fail(State& state, double t, double part) {
  strike_back(t, part);
  nodes_.write(state);
  std::vector<TermId> terms;
  for (const std::size_t g : acting_)
    for (const LatticePart& part_of : group(g).parts)
      terms.insert(terms.end(), part_of.terms.begin(), part_of.terms.end());
  std::ranges::sort(terms);
  const std::vector<double> u = std::exchange(failed_at_, {});
  std::vector<double> p(model_.largest_stencil() * static_cast<std::size_t>(model_.dim())), q(p.size());
  for (const TermId term : terms) {
    const std::size_t size = model_.term(term).stencil().size() * static_cast<std::size_t>(model_.dim());
    const double admissibility = kick_drift_.impulses(term, u, state.velocity, t, step(term), std::span(p).first(size),
                                                      std::span(q).first(size));
    kick_drift_.require_admissible(term, u, admissibility, t);
  }
  throw StepError(
      fmt::format("an element is about to invert, or particles to meet, at t = {:.9g} s. Try smaller steps.", t), t);
}

void AviLattice::announce_dampers(double part) {
  dampers_.begin();
  for (const std::size_t g : acting_) dampers_.announce(g, part * step(g));
}

void AviLattice::apply_dampers(State& state, double now, bool watched) {
  if (!model_.has_dampers()) return;
  dampers_.act(now, nodes_.lines(), before_, watched, state.memory, state.damping);
  for (const std::size_t g : acting_) supports_.settle(g, nodes_.lines(), state.supports);
}

// Every strike of the instant, with velocities before and after all of them.
void AviLattice::show(State& state, double now, Observer& observer) {
  if (!observer.takes_strikes_together())
    for (const std::size_t g : acting_)
      for (const std::int32_t line : group(g).lines)
        nodes_.write(state, plan_.node_of_line[static_cast<std::size_t>(line)]);
  each_acting_line([&](std::size_t line) { watch_->note_after(line, nodes_.lines()[line]); });
  if (mollifier_)
    for (const std::size_t g : acting_) watch_->add_works(g, *mollifier_, acting_.size());
  if (model_.has_dampers()) dampers_.look_at_works(watch_->means());
  for (const std::size_t g : acting_)
    watch_->show(g, std::lround(now) / group(g).ticks, step(g), now * lattice_.tick, nodes_, state, dampers_, observer);
}

std::vector<double> AviLattice::internal_forces(std::span<const double> u, double t) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  AlignedVector<NodeLine> nodes(plan_.node_of_line.size());
  const auto place = [&](NodeId a, std::size_t line) {
    std::copy_n(&u[ordinal(a) * d], d, nodes[line].displacement);
    nodes[line].inverse_mass = 1.0;
  };
  plan_.each_node(place, nodes.data());
  const std::vector<double> none(plan_.groups.size(), 0.0);
  const auto sums = strikes_.look(nodes, t, none, LatticeStrikes::Ahead::left_out);
  std::vector<double> force(u.size());
  const auto copy = [&](NodeId a, std::size_t line) {
    std::copy_n(sums.lines[line].force.begin(), d, &force[ordinal(a) * d]);
  };
  plan_.each_node(copy, sums.lines.data());
  return force;
}

// As KickDrift::synchronized, by batches.
Snapshot AviLattice::synchronized(const State& state, double t) const {
  Snapshot snapshot{t, {}, {}, 0.0};
  if (started_) {
    snapshot.state = state.without_way_of_loads();
  } else {
    snapshot.state = state;
    kick_drift_.start(snapshot.state);
  }
  const auto d = static_cast<std::size_t>(model_.dim());
  AlignedVector<NodeLine> nodes(plan_.node_of_line.size());
  const auto drift = [&](NodeId a, std::size_t line) {
    kick_drift_.drift(snapshot.state, a, t);
    std::copy_n(&snapshot.state.displacement[ordinal(a) * d], d, nodes[line].displacement);
    nodes[line].inverse_mass = 1.0;
  };
  plan_.each_node(drift, nodes.data());
  const auto duration = [&](std::int32_t ticks) {
    return started_ ? t - (static_cast<double>(now_ / ticks) + ahead_) * lattice_.tick * ticks : 0.0;
  };
  std::vector<double> durations;
  for (const LatticeGroup& of : plan_.groups) durations.push_back(duration(of.ticks));
  LatticeStrikes::NodalSums sums =
      strikes_.look(nodes, t, durations,
                    model_.has_dampers() ? LatticeStrikes::Ahead::summed : LatticeStrikes::Ahead::left_out);
  if (contact_) snapshot.contact = contact_->report(nodes, t, fine_, sums);
  snapshot.potential_energy = sums.potential_energy;
  snapshot.admissible = sums.admissible;
  if (loads_.any()) {
    Ledger nothing;  // before the start they have done nothing
    if (started_) snapshot.state.loads.work += loads_.work_of_constant(nodes);
    for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
      loads_.evaluate({&g, 1}, t, nodes);
      loads_.report(g, durations[g], nodes, sums, started_ ? snapshot.state.loads : nothing);
    }
  }
  if (model_.has_dampers()) {
    add_damping(snapshot, nodes, durations, sums);
    return snapshot;
  }
  snapshot.force.resize(snapshot.state.velocity.size());
  const Vector none{};
  const auto kick = [&](NodeId a, std::size_t line) {
    const auto& [force, impulse] = sums.lines[line];
    std::copy_n(force.begin(), d, &snapshot.force[ordinal(a) * d]);
    if (supports_.held(line) >= 0) {
      kick_drift_.kick(snapshot.state, a, std::span(impulse).first(d), std::span(none).first(d));
    } else {
      for (std::size_t c = 0; c < d; ++c) snapshot.state.velocity[ordinal(a) * d + c] += impulse[c] / model_.mass(a);
    }
  };
  plan_.each_node(kick, sums.lines.data());
  return snapshot;
}

// As Dampers::report; `nodes` are where the snapshot is.
void AviLattice::add_damping(Snapshot& snapshot, std::span<NodeLine> nodes, std::span<const double> durations,
                             const LatticeStrikes::NodalSums& sums) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  State& state = snapshot.state;
  const auto meet = [&](NodeId a, std::size_t i) {
    nodes[i].inverse_mass = 1.0 / model_.mass(a);
    for (std::size_t c = 0; c < d; ++c)
      nodes[i].velocity[c] =
          state.velocity[ordinal(a) * d + c] + (supports_.holds(i, c) ? 0.0 : nodes[i].inverse_mass * sums.ahead[i][c]);
  };
  plan_.each_node(meet, nodes.data(), sums.ahead.data());
  const auto q = dampers_.impulses(snapshot.time, nodes, durations, state.memory);
  const Vector none{};
  double work = 0.0;
  const auto kick = [&](NodeId a, std::size_t i) {
    Vector p = sums.lines[i].impulse, before{};
    double* v = &state.velocity[ordinal(a) * d];
    for (std::size_t c = 0; c < d; ++c) {
      before[c] = v[c];
      p[c] += q[i][c];
    }
    if (supports_.held(i) >= 0)
      kick_drift_.kick(state, a, std::span(p).first(d), std::span(none).first(d));
    else
      for (std::size_t c = 0; c < d; ++c) v[c] += p[c] * nodes[i].inverse_mass;
    kick_drift_.book(state.damping, state, a, std::span(q[i]).first(d));
    for (std::size_t c = 0; c < d; ++c) {
      work += q[i][c] * 0.5 * (before[c] + v[c]);
      nodes[i].velocity[c] = v[c];
    }
  };
  plan_.each_node(kick, nodes.data(), q.data(), sums.lines.data());
  state.damping.work += work;
  const auto resistance = dampers_.forces(snapshot.time, nodes, state.memory);
  snapshot.force.resize(state.velocity.size());
  const auto add = [&](NodeId a, std::size_t i) {
    for (std::size_t c = 0; c < d; ++c) snapshot.force[ordinal(a) * d + c] = sums.lines[i].force[c] + resistance[i][c];
  };
  plan_.each_node(add, sums.lines.data(), resistance.data());
}

void AviLattice::save(ArchiveWriter& archive) const {
  save_model(archive, model_);
  archive.put("started", started_);
  archive.put("tick", lattice_.tick);
  archive.put("ticks", lattice_.ticks);
  archive.put("ahead", ahead_);
  archive.put("mollified", mollifier_ != nullptr);
  archive.put("now", now_);
  archive.put("fine", fine_);
  archive.put("window", window_from_);
  if (contact_) contact_->save(archive);
  loads_.save(archive);
  archive.put("watched", watch_ != nullptr);
  if (watch_) watch_->save(archive);
}

void AviLattice::load(ArchiveReader& archive) {
  bool started = false, mollified = false;
  double tick = 0.0, ahead = 0.0;
  std::vector<std::int32_t> ticks(lattice_.ticks.size());
  Index now = 0;
  require_same_model(archive, model_);
  archive.get("started", started);
  archive.get("tick", tick);
  archive.get("ticks", ticks);
  archive.get("ahead", ahead);
  archive.get("mollified", mollified);
  if (tick != lattice_.tick || ticks != lattice_.ticks || ahead != ahead_ || mollified != (mollifier_ != nullptr))
    throw InputError(
        "the checkpoint was written with other time steps, another alpha or another coupling. Use the "
        "same case.");
  archive.get("now", now);
  archive.get("fine", fine_);
  archive.get("window", window_from_);
  if (contact_) contact_->load(archive);
  loads_.load(archive);
  bool watched = false;
  archive.get("watched", watched);
  std::unique_ptr<LatticeWatch> watch;
  if (watched) {
    watch = new_watch();
    watch->load(archive);
  }
  watch_ = std::move(watch);
  started_ = started;
  now_ = now;
}

}  // namespace tempi
