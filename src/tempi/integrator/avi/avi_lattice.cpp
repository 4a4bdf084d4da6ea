// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/avi/avi_lattice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "tempi/core/error.hpp"
#include "tempi/integrator/checkpoint.hpp"

namespace tempi {
namespace {

// Of a term's stable step, for each of its nodes: a few per cent of a run.
constexpr Index updates_between_rechecks = 256;
constexpr Index lines_at_once = 2048;
constexpr Index worth_sharing = 512;  // terms, or lines, below which threads cost more than they save

void drift_line(NodeLine& node, double now, double tick) {
  const double dt = (now - node.clock) * tick;
  for (std::size_t c = 0; c < 3; ++c) node.displacement[c] += node.velocity[c] * dt;
  node.clock = now;
}

}  // namespace

AviLattice::AviLattice(const Model& model, TickLattice lattice, LatticeOptions options)
    : model_(model),
      lattice_(std::move(lattice)),
      rechecked_(options.rechecked),
      synchronous_(std::ranges::all_of(lattice_.ticks, [](std::int32_t m) { return m == 1; })),
      plan_(lattice_groups(model, lattice_.ticks)),
      kick_drift_(model, 0.1 * lattice_.tick * *std::ranges::min_element(lattice_.ticks)),
      dampers_(model, kick_drift_),
      team_(options.threads),
      lines_(static_cast<std::size_t>(model.node_count())),
      p_(model.largest_stencil() * static_cast<std::size_t>(model.dim())),
      q_(p_.size()),
      load_impulses_(static_cast<std::size_t>(model.force_slot_count())) {
  acting_.reserve(plan_.groups.size());
  std::size_t most = 0;
  for (const LatticeGroup& group : plan_.groups) {
    std::size_t at_once = 0;
    for (const LatticePart& part : group.parts) at_once += part.terms.size() / updates_between_rechecks + 1;
    most = std::max(most, at_once);
  }
  rechecked_terms_.reserve(most);
}

void AviLattice::set_due() {
  due_.clear();
  for (const LatticeGroup& group : plan_.groups) due_.push_back((now_ / group.ticks + 1) * group.ticks);
}

void AviLattice::advance(State& state, double t_end, Observer* observer) {
  if (!started_) {
    kick_drift_.start(state);
    kick_drift_.kick_all(state, 0.0, [&](TermId term) { return 0.5 * step(term); });
    started_ = true;
  }
  to_lines(state);
  set_due();
  while (static_cast<double>(now_ + 1) * lattice_.tick < t_end) {
    try {
      act(state, now_ + 1, observer);
    } catch (...) {
      to_state(state);
      throw;
    }
    ++now_;
  }
  to_state(state);
}

void AviLattice::act(State& state, Index s, Observer* observer) {
  acting_.clear();
  for (std::size_t g = 0; g < due_.size(); ++g)
    if (due_[g] == s) {
      due_[g] += plan_.groups[g].ticks;
      acting_.push_back(&plan_.groups[g]);
    }
  if (acting_.empty()) return;
  const double t = static_cast<double>(s) * lattice_.tick;
  for (const LatticeGroup* group : acting_) drift(state, *group, s);
  for (const LatticeGroup* group : acting_) recheck_stability(state, *group, s / group->ticks, t);
  if (observer != nullptr) {
    energies_.clear();
    gradients_.clear();
    for (const LatticeGroup* group : acting_) measure(*group, t);
  }
  for (const LatticeGroup* group : acting_) evaluate_loads(state, *group, t);  // they may throw: before any kick
  announce_dampers(state);
  bool admissible = true;
  for (const LatticeGroup* group : acting_) admissible = strike(*group, step(*group), t, lines_) && admissible;
  if (!admissible) fail(state, t);
  for (const LatticeGroup* group : acting_) apply_loads(state, *group, 1.0);
  for (const LatticeGroup* group : acting_) settle_supports(state, *group);
  try {
    apply_dampers(state, t);
  } catch (...) {
    take_back(state, t);
    throw;
  }
  if (observer == nullptr) return;
  for (const LatticeGroup* group : acting_)
    each_line(*group, [&](std::int32_t i) { to_state(state, plan_.node_of_line[static_cast<std::size_t>(i)]); });
  show(state, s, *observer);
}

void AviLattice::drift(State& state, const LatticeGroup& group, Index s) {
  const auto now = static_cast<double>(s);
  for (const NodeId a : group.held) {  // the state has the truth about held nodes: they may have to follow a motion
    kick_drift_.drift(state, a, now * lattice_.tick);
    to_line(state, a);
  }
  const auto range = [&](Index count, auto&& node) {
    const auto block = [&](Index b) {
      const Index end = std::min(count, (b + 1) * lines_at_once);
      for (Index i = b * lines_at_once; i < end; ++i) drift_line(node(i), now, lattice_.tick);
    };
    const Index blocks = (count + lines_at_once - 1) / lines_at_once;
    team_.for_each(blocks, block);
  };
  NodeLine* own = lines_.data() + group.first_line;
  range(group.last_line - group.first_line, [&](Index i) -> NodeLine& { return own[i]; });
  const std::int32_t* other = group.other_lines.data();
  range(static_cast<Index>(group.other_lines.size()),
        [&](Index i) -> NodeLine& { return lines_[static_cast<std::size_t>(other[i])]; });
}

// item(first, last) for all terms of the part, in blocks that share no node while they are done at the same time. The
// division does not depend on the number of threads.
template <class Item>
void AviLattice::each_block(const LatticePart& part, Item&& item) const {
  for (std::size_t c = 0; c + 1 < part.colours.size(); ++c) {
    const Index first = part.colours[c], last = part.colours[c + 1];
    const Index block = last - first < worth_sharing ? last - first : part.block;
    team_.for_each((last - first + block - 1) / block, [&](Index b) {
      const Index begin = first + b * block;
      item(begin, std::min(begin + block, last));
    });
  }
}

bool AviLattice::strike(const LatticeGroup& group, double step, double t, std::span<NodeLine> nodes) const {
  std::atomic<bool> admissible = true;
  for (const LatticePart& part : group.parts)
    each_block(part, [&](Index first, Index last) {
      if (!part.batch->strike(first, last, step, t, nodes)) admissible.store(false, std::memory_order_relaxed);
    });
  return admissible;
}

double AviLattice::time_of_pass(const State& state) {
  using Clock = std::chrono::steady_clock;
  double least = std::numeric_limits<double>::infinity();
  for (int pass = 0; pass < 3; ++pass) {
    to_lines(state);
    const auto start = Clock::now();
    for (const LatticeGroup& group : plan_.groups) {
      for (std::int32_t i = group.first_line; i < group.last_line; ++i)
        drift_line(lines_[static_cast<std::size_t>(i)], 0.0, 0.0);
      strike(group, 0.0, 0.0, lines_);
    }
    least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return least;
}

// A few terms of the group each time, so that all have had their turn after a while.
void AviLattice::recheck_stability(State& state, const LatticeGroup& group, Index update, double t) {
  if (rechecked_ == 0.0) return;
  rechecked_terms_.clear();
  for (const LatticePart& part : group.parts) {
    const auto size = static_cast<Index>(part.terms.size());
    const auto nodes = std::min<Index>(10, static_cast<Index>(part.potential->stencil(0).size()));
    const Index period = updates_between_rechecks * nodes;
    const Index turn = update % period;
    for (Index i = turn * size / period; i < (turn + 1) * size / period; ++i) {
      rechecked_terms_.push_back(part.terms[static_cast<std::size_t>(i)]);
      to_state(state, rechecked_terms_.back());
    }
  }
  const double step = rechecked_ * this->step(group);
  std::atomic<bool> stable = true;
  team_.for_each(static_cast<Index>(rechecked_terms_.size()), [&](Index i) {
    if (!model_.step_is_stable(rechecked_terms_[static_cast<std::size_t>(i)], state.displacement, step))
      stable.store(false, std::memory_order_relaxed);
  });
  if (!stable)
    for (const TermId term : rechecked_terms_) kick_drift_.require_stable(term, state, step, t);
}

// Takes back what the tick in hand has done but for dampers: velocities become those before it, to rounding.
void AviLattice::take_back(State& state, double t) {
  for (const LatticeGroup* group : acting_) strike(*group, -step(*group), t, lines_);
  for (const LatticeGroup* group : acting_) apply_loads(state, *group, -1.0);
  for (const LatticeGroup* group : acting_) settle_supports(state, *group);
  to_state(state);
}

// Takes back the strikes of the tick in hand and says whose fault it was.
void AviLattice::fail(State& state, double t) {
  for (const LatticeGroup* group : acting_) strike(*group, -step(*group), t, lines_);
  to_state(state);
  std::vector<TermId> terms;
  for (const LatticeGroup* group : acting_)
    for (const LatticePart& part : group->parts) terms.insert(terms.end(), part.terms.begin(), part.terms.end());
  std::ranges::sort(terms);
  for (const TermId term : terms) {
    const std::size_t size = model_.term(term).stencil().size() * static_cast<std::size_t>(model_.dim());
    const double admissibility = kick_drift_.impulses(term, state.displacement, state.velocity, t, step(term),
                                                      std::span(p_).first(size), std::span(q_).first(size));
    kick_drift_.require_admissible(term, state.displacement, admissibility, t);
  }
  throw SolveError(
      fmt::format("an element is about to invert, or particles to meet, at t = {:.9g} s. Try smaller steps.", t));
}

void AviLattice::evaluate_loads(State& state, const LatticeGroup& group, double t) {
  for (const TermId term : group.loaded) {
    for (const NodeId a : model_.term(term).stencil())
      if (!model_.supports().holds(a)) to_state(state, a);
    kick_drift_.load_impulses(term, state.displacement, state.velocity, t, step(group), load_impulses(term));
  }
}

// `sign`: -1 takes them back, but for their work.
void AviLattice::apply_loads(State& state, const LatticeGroup& group, double sign) {
  const auto d = static_cast<std::size_t>(model_.dim());
  for (const TermId term : group.loaded) {
    const auto nodes = model_.term(term).stencil();
    const auto q = load_impulses(term);
    if (sign > 0.0) kick_drift_.book_load_work(state, term, q, step(group));
    for (double& impulse : q) impulse *= sign;
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      const auto at_node = q.subspan(a * d, d);
      kick_drift_.book(state.loads, state, nodes[a], at_node);
      NodeLine& node = line(nodes[a]);
      for (std::size_t c = 0; c < d; ++c) node.velocity[c] += at_node[c] * node.inverse_mass;
    }
  }
}

std::span<double> AviLattice::load_impulses(TermId term) {
  const std::size_t size = model_.term(term).stencil().size() * static_cast<std::size_t>(model_.dim());
  return std::span(load_impulses_).subspan(static_cast<std::size_t>(model_.force_slot(term)), size);
}

// The kernels kick held nodes as if they were free; what that has given them goes to their supports.
void AviLattice::settle_supports(State& state, const LatticeGroup& group) {
  const auto d = static_cast<std::size_t>(model_.dim());
  for (const NodeId a : group.held) {
    std::array<double, 3> p{}, none{};
    NodeLine& node = line(a);
    for (std::size_t c = 0; c < d; ++c) p[c] = model_.mass(a) * (node.velocity[c] - state.velocity[ordinal(a) * d + c]);
    kick_drift_.kick(state, a, std::span(p).first(d), std::span(none).first(d));
    to_line(state, a);
  }
}

// Dampers work on the state. Held nodes have their truth there already.
void AviLattice::announce_dampers(State& state) {
  dampers_.begin();
  for (const LatticeGroup* group : acting_)
    for (const TermId term : group->damped) {
      for (const NodeId a : model_.term(term).stencil())
        if (!model_.supports().holds(a)) to_state(state, a);
      dampers_.announce(state, term, step(*group));
    }
}

void AviLattice::apply_dampers(State& state, double t) {
  for (const NodeId a : dampers_.nodes())
    if (!model_.supports().holds(a)) to_state(state, a);
  dampers_.act(state, t);
  for (const NodeId a : dampers_.nodes()) to_line(state, a);
}

// The nodes that drifted with the group.
template <class Visit>
void AviLattice::each_line(const LatticeGroup& group, Visit&& visit) {
  for (std::int32_t i = group.first_line; i < group.last_line; ++i) visit(i);
  for (const std::int32_t i : group.other_lines) visit(i);
}

void AviLattice::measure(const LatticeGroup& group, double t) {
  before_.resize(lines_.size());
  each_line(group, [&](std::int32_t i) {
    const auto k = static_cast<std::size_t>(i);
    std::copy_n(lines_[k].velocity, 3, before_[k].begin());
  });
  for (const LatticePart& part : group.parts) {
    const auto size = static_cast<Index>(part.terms.size());
    const Index padded = (size + Batch::grain - 1) / Batch::grain * Batch::grain;
    const Index row = part.batch->row();
    const auto first = static_cast<Index>(energies_.size()), first_row = static_cast<Index>(gradients_.size());
    energies_.resize(static_cast<std::size_t>(first + padded));
    gradients_.resize(static_cast<std::size_t>(first_row + padded * row));
    each_block(part, [&](Index begin, Index end) {
      part.batch->measure(begin, end, t, lines_, std::span(energies_).subspan(static_cast<std::size_t>(first + begin)),
                          std::span(gradients_).subspan(static_cast<std::size_t>(first_row + begin * row)));
    });
  }
}

// Every strike of the tick, with velocities before and after all of them.
void AviLattice::show(const State& state, Index s, Observer& observer) {
  const auto d = static_cast<std::size_t>(model_.dim());
  const Supports& supports = model_.supports();
  const double* energy = energies_.data();
  const double* gradient = gradients_.data();
  for (const LatticeGroup* group : acting_)
    for (const LatticePart& part : group->parts) {
      const auto size = static_cast<Index>(part.terms.size());
      for (Index i = 0; i < size; ++i) {
        const TermId term = part.terms[static_cast<std::size_t>(i)];
        const auto nodes = part.potential->stencil(index(term) - index(part.first));
        const Index slot = model_.force_slot(term);
        const double* q = slot >= 0 ? &load_impulses_[static_cast<std::size_t>(slot)] : nullptr;
        const auto resistance = dampers_.impulses(term);
        double kinetic_before = 0.0, change = 0.0, damping_work = 0.0;
        for (std::size_t a = 0; a < nodes.size(); ++a) {
          const auto at = static_cast<std::size_t>(plan_.line_of_node[ordinal(nodes[a])]);
          const double mass = 1.0 / lines_[at].inverse_mass;
          const bool held = supports.holds(nodes[a]);
          for (std::size_t c = 0; c < d; ++c) {
            const double after = lines_[at].velocity[c];
            // A supported component is not kicked: it has the velocity of its motion before and after.
            const bool free = !held || supports.support_of(nodes[a], static_cast<int>(c)) == Supports::none;
            const double before = free ? before_[at][c] : after;
            const double p = (q != nullptr ? q[a * d + c] : 0.0) - step(*group) * gradient[a * d + c];
            kinetic_before += 0.5 * mass * before * before;
            change += 0.5 * p * (before + after);
            if (!resistance.empty()) damping_work += 0.5 * resistance[a * d + c] * (before + after);
          }
        }
        const std::span<const double> loads(q, q != nullptr ? nodes.size() * d : 0);
        observer.on_strike({term, s / group->ticks, static_cast<double>(s) * lattice_.tick, step(*group),
                            kinetic_before, change + damping_work, damping_work, *energy++, loads, state});
        gradient += part.batch->row();
      }
      const Index padding = (size + Batch::grain - 1) / Batch::grain * Batch::grain - size;
      energy += padding;
      gradient += padding * part.batch->row();
    }
}

void AviLattice::to_lines(const State& state) {
  for (Index a = 0; a < model_.node_count(); ++a) to_line(state, make_id<NodeId>(a));
}

void AviLattice::to_line(const State& state, NodeId a) {
  const auto i = ordinal(a), d = static_cast<std::size_t>(model_.dim());
  NodeLine& node = line(a);
  std::copy_n(&state.displacement[i * d], d, node.displacement);
  std::copy_n(&state.velocity[i * d], d, node.velocity);
  node.clock = std::nearbyint(state.clock[i] / lattice_.tick);
  node.inverse_mass = 1.0 / model_.mass(a);
}

void AviLattice::to_state(State& state) {
  for (Index a = 0; a < model_.node_count(); ++a) to_state(state, make_id<NodeId>(a));
}

void AviLattice::to_state(State& state, NodeId a) {
  const auto i = ordinal(a), d = static_cast<std::size_t>(model_.dim());
  const NodeLine& node = line(a);
  std::copy_n(node.displacement, d, &state.displacement[i * d]);
  std::copy_n(node.velocity, d, &state.velocity[i * d]);
  state.clock[i] = node.clock * lattice_.tick;
}

void AviLattice::to_state(State& state, TermId term) {
  for (const NodeId a : model_.term(term).stencil()) to_state(state, a);
}

// Lines at rest whose nodes weigh 1 kg collect impulses in their velocities.
template <class Duration>
std::vector<double> AviLattice::impulses(std::span<NodeLine> nodes, double t, Duration&& duration) const {
  for (NodeLine& node : nodes) std::ranges::fill(node.velocity, 0.0);
  for (const LatticeGroup& group : plan_.groups) strike(group, duration(group), t, nodes);
  const auto d = static_cast<std::size_t>(model_.dim());
  std::vector<double> sum(nodes.size() * d);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    std::copy_n(nodes[i].velocity, d, &sum[ordinal(plan_.node_of_line[i]) * d]);
  return sum;
}

std::vector<double> AviLattice::internal_forces(std::span<const double> u, double t) const {
  AlignedVector<NodeLine> nodes = lines_at(u);
  return impulses(nodes, t, [](const LatticeGroup&) { return 1.0; });
}

// As KickDrift::synchronized, by batches; itself where dampers want to know every term's forces.
Snapshot AviLattice::synchronized(const State& state, double t) const {
  if (!started_ || model_.has_dampers())
    return kick_drift_.synchronized(state, t, started_, [&](TermId term) {
      return t - (static_cast<double>(updates(term)) + 0.5) * step(term);
    });
  Snapshot snapshot{t, state, {}, 0.0};
  for (Index a = 0; a < model_.node_count(); ++a) kick_drift_.drift(snapshot.state, make_id<NodeId>(a), t);
  AlignedVector<NodeLine> nodes = lines_at(snapshot.state.displacement);
  snapshot.potential_energy = potential_energy(nodes, t);
  snapshot.force = impulses(nodes, t, [](const LatticeGroup&) { return 1.0; });
  std::vector<double> impulse = impulses(nodes, t, [&](const LatticeGroup& group) {
    return t - (static_cast<double>(now_ / group.ticks) + 0.5) * step(group);
  });
  std::vector<double> load_impulse(impulse.size(), 0.0);
  add_loads(snapshot, impulse, load_impulse);
  const auto d = static_cast<std::size_t>(model_.dim());
  for (Index a = 0; a < model_.node_count(); ++a) {
    const auto at_node = static_cast<std::size_t>(a) * d;
    kick_drift_.kick(snapshot.state, make_id<NodeId>(a), std::span(impulse).subspan(at_node, d),
                     std::span(load_impulse).subspan(at_node, d));
  }
  return snapshot;
}

AlignedVector<NodeLine> AviLattice::lines_at(std::span<const double> u) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  AlignedVector<NodeLine> nodes(lines_.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::copy_n(&u[ordinal(plan_.node_of_line[i]) * d], d, nodes[i].displacement);
    nodes[i].inverse_mass = 1.0;
  }
  return nodes;
}

double AviLattice::potential_energy(std::span<const NodeLine> nodes, double t) const {
  double sum = 0.0;
  for (const LatticeGroup& group : plan_.groups)
    for (const LatticePart& part : group.parts) {
      std::vector<double> of_block(part.terms.size() / Batch::grain + 1, 0.0);  // by where it begins
      each_block(part, [&](Index begin, Index end) {
        const Index padded = (end - begin + Batch::grain - 1) / Batch::grain * Batch::grain;
        std::vector<double> energies(static_cast<std::size_t>(padded));
        std::vector<double> gradients(static_cast<std::size_t>(padded * part.batch->row()));
        part.batch->measure(begin, end, t, nodes, energies, gradients);
        for (Index i = 0; i < end - begin; ++i)
          of_block[static_cast<std::size_t>(begin / Batch::grain)] += energies[static_cast<std::size_t>(i)];
      });
      for (const double block_sum : of_block) sum += block_sum;
    }
  return sum;
}

// The loads' part of what KickDrift::kick_all does.
void AviLattice::add_loads(Snapshot& snapshot, std::span<double> impulse, std::span<double> load_impulse) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  std::vector<double> q(q_.size());
  for (const LatticeGroup& group : plan_.groups) {
    const double duration = snapshot.time - (static_cast<double>(now_ / group.ticks) + 0.5) * step(group);
    for (const TermId term : group.loaded) {
      const auto nodes = model_.term(term).stencil();
      const auto local = std::span(q).first(nodes.size() * d);
      const State& state = snapshot.state;
      kick_drift_.load_impulses(term, state.displacement, state.velocity, snapshot.time, 1.0, local);
      kick_drift_.book_load_work(snapshot.state, term, local, 1.0);
      for (std::size_t i = 0; i < local.size(); ++i) {
        const std::size_t at = ordinal(nodes[i / d]) * d + i % d;
        snapshot.force[at] += local[i];
        impulse[at] += duration * local[i];
        load_impulse[at] += duration * local[i];
      }
    }
  }
}

void AviLattice::save(ArchiveWriter& archive) const {
  save_model(archive, model_);
  archive.put("started", started_);
  archive.put("tick", lattice_.tick);
  archive.put("ticks", lattice_.ticks);
  archive.put("now", now_);
}

void AviLattice::load(ArchiveReader& archive) {
  bool started = false;
  double tick = 0.0;
  std::vector<std::int32_t> ticks(lattice_.ticks.size());
  Index now = 0;
  require_same_model(archive, model_);
  archive.get("started", started);
  archive.get("tick", tick);
  archive.get("ticks", ticks);
  if (tick != lattice_.tick || ticks != lattice_.ticks)
    throw InputError("the checkpoint was written with other time steps. Use the same case.");
  archive.get("now", now);
  started_ = started;
  now_ = now;
}

}  // namespace tempi
