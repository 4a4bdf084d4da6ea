// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_watch.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <functional>
#include <utility>

namespace tempi {

LatticeWatch::LatticeWatch(const Model& model, const LatticeGroups& plan, const LatticeStrikes& strikes,
                           const KickDrift& kick_drift)
    : model_(model),
      plan_(plan),
      strikes_(strikes),
      kick_drift_(kick_drift),
      load_works_(load_work_kernel(model.dim())),
      means_(plan.node_of_line.size()) {
  for (const NodeId a : plan.node_of_line) half_mass_.push_back(0.5 * model.mass(a));
  for (const LatticeGroup& group : plan.groups) {
    std::vector<Kept> parts;
    for (const LatticePart& part : group.parts) {
      Kept kept;
      kept.place = places_;
      kept.room = static_cast<std::size_t>(Batch::padded(std::ssize(part.terms)));
      for (std::size_t i = 0; model.has_forces() && i < part.terms.size(); ++i) {
        if (model.is_loaded(part.terms[i])) kept.loaded.push_back(static_cast<std::int32_t>(i));
        if (model.is_damped(part.terms[i])) kept.damped.push_back(static_cast<std::int32_t>(i));
      }
      if (!kept.loaded.empty()) {
        kept.load_work.resize(kept.room);
        make_room_for_loads(part, kept);
      }
      if (!kept.damped.empty()) kept.damping_work.resize(kept.room);
      places_ += static_cast<Index>(kept.room);
      parts.push_back(std::move(kept));
    }
    kept_.push_back(std::move(parts));
  }
}

void LatticeWatch::make_room_for_loads(const LatticePart& part, Kept& kept) const {
  Loads& loads = kept.loads;
  const auto stencil = [&](std::int32_t i) { return model_.term(part.terms[static_cast<std::size_t>(i)]).stencil(); };
  for (const std::int32_t i : kept.loaded) {
    loads.nodes = std::max(loads.nodes, stencil(i).size());
    if (loads.rows.empty() || loads.rows.back() != i / Eight::lanes) loads.rows.push_back(i / Eight::lanes);
  }
  const std::size_t d = static_cast<std::size_t>(model_.dim());
  loads.lines.resize(loads.rows.size() * loads.nodes);
  loads.way.resize(loads.rows.size());
  std::vector<std::vector<double>> constant;               // forces; those that change are not looked at yet
  std::vector<unsigned> components(loads.rows.size(), 0);  // a bit for each
  std::int32_t row = 0;
  for (const std::int32_t i : kept.loaded) {
    while (loads.rows[static_cast<std::size_t>(row)] != i / Eight::lanes) ++row;
    loads.slots.push_back(row * Eight::lanes + i % Eight::lanes);
    const std::size_t first = static_cast<std::size_t>(row) * loads.nodes;
    for (std::size_t a = 0; a < stencil(i).size(); ++a)
      loads.lines[first + a][static_cast<std::size_t>(i % Eight::lanes)] = plan_.line(stencil(i)[a]);
    unsigned& of_row = components[static_cast<std::size_t>(row)];
    bool changes = false;
    const auto look = [&](const DeadPart& dead) {
      if (!dead.value->constant() || *dead.value->constant() != 0.0) of_row |= 1u << dead.component;
      changes = changes || dead.value->depends_on_time();
    };
    const TermId term = part.terms[static_cast<std::size_t>(i)];
    for (const HostedForce& h : model_.forces_within(term)) {
      if (h.force->is_damper()) continue;
      if (!h.force->is_dead()) {
        of_row = ~0u;
        changes = true;
      }
      h.force->each_dead_part(h.element, std::ref(look));
    }
    if (changes) loads.changing.push_back(constant.size());
    constant.push_back(changes ? std::vector<double>() : load_forces(term, 0.0, {}));
  }
  Index numbers = 0;
  for (const unsigned some : components) {
    const bool one = d > 1 && std::has_single_bit(some);
    loads.parts.push_back({one ? std::countr_zero(some) : LoadRow::all, numbers});
    numbers += static_cast<Index>(loads.nodes * (one ? 1 : d));
  }
  loads.force.resize(static_cast<std::size_t>(numbers));
  if (!loads.changing.empty()) loads.displacement.resize(loads.force.size());
  for (std::size_t k = 0; k < constant.size(); ++k) put_load(loads, k, constant[k]);
}

// dim components a node; `state`: where loads that change look.
std::vector<double> LatticeWatch::load_forces(TermId term, double t, const State& state) const {
  std::vector<double> force(model_.term(term).stencil().size() * static_cast<std::size_t>(model_.dim()));
  kick_drift_.load_impulses(term, state.displacement, state.velocity, t, 1.0, force);
  return force;
}

void LatticeWatch::put_load(Loads& loads, std::size_t k, std::span<const double> force) const {
  for (std::size_t i = 0; i < force.size(); ++i)
    if (double* to = load_force(loads, k, i)) *to = force[i];
}

// Of the k-th term with loads; null: zero.
double* LatticeWatch::load_force(Loads& loads, std::size_t k, std::size_t component) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto [row, lane] = std::div(loads.slots[k], Eight::lanes);
  const LoadRow& part = loads.parts[static_cast<std::size_t>(row)];
  const bool all = part.component == LoadRow::all;
  if (!all && component % d != static_cast<std::size_t>(part.component)) return nullptr;
  const std::size_t at = static_cast<std::size_t>(part.force) + (all ? component : component / d);
  return &loads.force[at].lane[static_cast<std::size_t>(lane)];
}

bool LatticeWatch::strike(std::size_t g, double step, double t, std::span<NodeLine> nodes) {
  const LatticeGroup& group = plan_.groups[g];
  std::atomic<bool> admissible = true;
  for (std::size_t i = 0; i < group.parts.size(); ++i) {
    const Batch& batch = *group.parts[i].batch;
    Kept& kept = kept_[g][i];
    const bool at_speed = batch.kept() > 0;
    const auto numbers = static_cast<std::size_t>(at_speed ? batch.kept() : batch.row());
    kept.energies = kept_so_far_;
    kept.impulses = kept.energies + kept.room;
    kept_so_far_ = kept.impulses + kept.room * numbers;
    if (told_.size() < kept_so_far_) told_.resize(kept_so_far_);
    strikes_.each_block(group.parts[i], [&](Index first, Index last) {
      const auto energies = this->energies(kept).subspan(static_cast<std::size_t>(first));
      const auto keep = std::span(told_).subspan(kept.impulses + static_cast<std::size_t>(first) * numbers);
      if (!at_speed) batch.measure(first, last, t, nodes, energies, keep);
      const bool all = at_speed ? batch.watch(first, last, step, t, nodes, energies, keep)
                                : batch.strike(first, last, step, t, nodes);
      if (!all) admissible.store(false, std::memory_order_relaxed);
    });
  }
  return admissible;
}

void LatticeWatch::add_works(std::size_t group, const LatticeMollifier& mollifier, std::size_t acting) {
  mollifier.each_work(group, acting, means_, [&](std::size_t part, std::size_t place, double work) {
    Kept& kept = kept_[group][part];
    kept.more_work.resize(kept.room);
    kept.more_work[place] = work;
  });
}

void LatticeWatch::show(std::size_t g, Index update, double step, double t, const LatticeNodes& nodes, State& state,
                        const Dampers* dampers, const LatticeDampers& packed, Observer& observer) {
  const LatticeGroup& group = plan_.groups[g];
  const bool together = observer.takes_strikes_together();
  for (std::size_t p = 0; p < group.parts.size(); ++p) {
    const LatticePart& part = group.parts[p];
    Kept& kept = kept_[g][p];
    look_at_loads(part, kept, t, nodes, state);
    const auto each = [&](Index first, Index last) {
      Figures found;
      review(part, kept, first, last, step, nodes.lines(), dampers, packed, found);
      if (!together) {
        show_one_by_one(part, kept, first, last, found, update, step, t, state, observer);
        return;
      }
      const auto n = static_cast<std::size_t>(last - first);
      const auto figures = [&](const auto& values) {
        return values.empty() ? std::span<const double>()
                              : std::span(values).subspan(static_cast<std::size_t>(first), n);
      };
      observer.on_strikes({std::span(part.terms).subspan(static_cast<std::size_t>(first), n), kept.place + first,
                           update, t, step, std::span(found.kinetic).first(n), std::span(found.work).first(n),
                           figures(kept.damping_work), figures(energies(kept)), figures(kept.load_work)});
    };
    const auto in_pieces = [&](Index begin, Index end) {
      for (Index first = begin; first < end; first += most_at_once) each(first, std::min(first + most_at_once, end));
    };
    if (together)
      strikes_.each_block(part, in_pieces, LatticeStrikes::Colours::backward);  // first what was struck last
    else
      in_pieces(0, std::ssize(part.terms));
  }
}

// What the kept impulses of terms first to last - 1 have done; loads and dampers belong to their terms.
void LatticeWatch::review(const LatticePart& part, Kept& kept, Index first, Index last, double step,
                          std::span<const NodeLine> nodes, const Dampers* dampers, const LatticeDampers& packed,
                          Figures& found) {
  const Batch& batch = *part.batch;
  const auto begin = static_cast<std::size_t>(first), end = static_cast<std::size_t>(last);
  if (batch.kept() > 0) {
    batch.works(first, last, means_,
                std::span(told_).subspan(kept.impulses + begin * static_cast<std::size_t>(batch.kept())), found.kinetic,
                found.work);
  } else {
    for (std::size_t i = begin; i < end; ++i) {
      const double* gradient = &told_[kept.impulses + i * static_cast<std::size_t>(batch.row())];
      double &kinetic = found.kinetic[i - begin] = 0.0, &work = found.work[i - begin] = 0.0;
      for (const NodeId a : part.potential->stencil(index(part.terms[i]) - index(part.first))) {
        const NodeMean& mean = means_[static_cast<std::size_t>(plan_.line(a))];
        kinetic += mean.kinetic;
        for (int c = 0; c < model_.dim(); ++c) work -= step * *gradient++ * mean.velocity[static_cast<std::size_t>(c)];
      }
    }
  }
  for (std::size_t i = begin; i < end && !kept.more_work.empty(); ++i)
    found.work[i - begin] += std::exchange(kept.more_work[i], 0.0);
  if (!kept.loaded.empty()) add_loads(kept, first, last, step, nodes, found);
  for (auto at = std::ranges::lower_bound(kept.damped, static_cast<std::int32_t>(first));
       at != kept.damped.end() && *at < last; ++at) {
    const auto i = static_cast<std::size_t>(*at);
    kept.damping_work[i] = damping_work(part.terms[i], step, dampers, packed);
    found.work[i - begin] += kept.damping_work[i];
  }
}

// visit(place in the term's rows, line, component).
template <class Visit>
void LatticeWatch::each_component(TermId term, Visit&& visit) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto stencil = model_.term(term).stencil();
  for (std::size_t a = 0; a < stencil.size(); ++a)
    for (std::size_t c = 0; c < d; ++c) visit(a * d + c, static_cast<std::size_t>(plan_.line(stencil[a])), c);
}

// The loads' forces within terms that change.
void LatticeWatch::look_at_loads(const LatticePart& part, Kept& kept, double t, const LatticeNodes& nodes,
                                 State& state) {
  for (const std::size_t k : kept.loads.changing) {
    const TermId term = part.terms[static_cast<std::size_t>(kept.loaded[k])];
    nodes.write_nodes_of(term, state);
    put_load(kept.loads, k, load_forces(term, t, state));
  }
}

// Adds the work of the loads' impulses, and notes that on the way since the last strike.
void LatticeWatch::add_loads(Kept& kept, Index first, Index last, double step, std::span<const NodeLine> nodes,
                             Figures& found) {
  Loads& loads = kept.loads;
  const auto row_of = [&](Index place) {
    const auto row = static_cast<std::int32_t>((place + Eight::lanes - 1) / Eight::lanes);
    return std::ranges::lower_bound(loads.rows, row) - loads.rows.begin();
  };
  for (auto i = static_cast<std::size_t>(last - first); i % Eight::lanes != 0; ++i) found.work[i] = 0.0;  // whole rows
  std::array<Eight, most_at_once / Eight::lanes> power, work;
  const Index begin = row_of(first), end = row_of(last);
  load_works_({loads.nodes, loads.lines.data(), loads.parts.data(), loads.force.data(),
               loads.displacement.empty() ? nullptr : loads.displacement.data(), loads.way.data()},
              begin, end, nodes.data(), means_.data(), power.data(), work.data());
  for (Index row = begin; row < end; ++row) {
    const Index place = loads.rows[static_cast<std::size_t>(row)] * Eight::lanes;
    const auto at = static_cast<std::size_t>(row - begin);
    double *of_terms = &found.work[static_cast<std::size_t>(place - first)],
           *of_loads = &kept.load_work[static_cast<std::size_t>(place)];
    for (std::size_t i = 0; i < Eight::lanes; ++i) {
      of_terms[i] += step * power[at].lane[i];
      of_loads[i] = work[at].lane[i];
    }
  }
}

double LatticeWatch::damping_work(TermId term, double step, const Dampers* dampers,
                                  const LatticeDampers& packed) const {
  double work = 0.0;
  if (dampers != nullptr) {
    const auto q = dampers->impulses(term);
    each_component(term,
                   [&](std::size_t at, std::size_t line, std::size_t c) { work += q[at] * means_[line].velocity[c]; });
    return work;
  }
  packed.add_work(term, step, means_, work);
  return work;
}

void LatticeWatch::show_one_by_one(const LatticePart& part, Kept& kept, Index first, Index last, const Figures& found,
                                   Index update, double step, double t, State& state, Observer& observer) const {
  const auto d = static_cast<std::size_t>(model_.dim()), begin = static_cast<std::size_t>(first);
  std::vector<double> loads;
  for (std::size_t i = begin; i < static_cast<std::size_t>(last); ++i) {
    const TermId term = part.terms[i];
    loads.assign(model_.force_slot(term) >= 0 ? model_.term(term).stencil().size() * d : 0, 0.0);
    const auto loaded = std::ranges::lower_bound(kept.loaded, static_cast<std::int32_t>(i));
    if (loaded != kept.loaded.end() && *loaded == static_cast<std::int32_t>(i))
      for (std::size_t c = 0; c < loads.size(); ++c)
        if (const double* force = load_force(kept.loads, static_cast<std::size_t>(loaded - kept.loaded.begin()), c))
          loads[c] = step * *force;
    observer.on_strike({term, update, t, step, found.kinetic[i - begin], found.work[i - begin],
                        kept.damping_work.empty() ? 0.0 : kept.damping_work[i], told_[kept.energies + i], loads,
                        state});
  }
}

void LatticeWatch::save(ArchiveWriter& archive) const {
  for (const auto& parts : kept_)
    for (const Kept& kept : parts) {
      archive.put("load_displacement", kept.loads.displacement);
      archive.put("load_way", kept.loads.way);
    }
}

void LatticeWatch::load(ArchiveReader& archive) {
  for (auto& parts : kept_)
    for (Kept& kept : parts) {
      archive.get("load_displacement", kept.loads.displacement);
      archive.get("load_way", kept.loads.way);
    }
}

}  // namespace tempi
