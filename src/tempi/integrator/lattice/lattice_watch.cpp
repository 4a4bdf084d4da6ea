// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_watch.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace tempi {

LatticeWatch::LatticeWatch(const Model& model, const LatticeGroups& plan, const LatticeStrikes& strikes,
                           const LatticeLoads& loads)
    : model_(model), plan_(plan), strikes_(strikes), means_(plan.node_of_line.size()) {
  for (const NodeId a : plan.node_of_line) half_mass_.push_back(0.5 * model.mass(a));
  std::size_t damped = 0;
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const LatticeLoads::Values values(loads, g);
    std::vector<Kept> parts;
    for (const LatticePart& part : plan.groups[g].parts) {
      Kept kept(LatticeLoadWorks(model, plan, part, values));
      kept.place = places_;
      kept.room = static_cast<std::size_t>(Batch::padded(std::ssize(part.terms)));
      for (std::size_t i = 0; model.has_dampers() && i < part.terms.size(); ++i)
        if (model.is_damped(part.terms[i])) kept.damped.push_back(static_cast<std::int32_t>(i));
      kept.first_damped = damped;
      damped += kept.damped.size();
      if (!kept.damped.empty()) kept.damping_work.resize(kept.room);
      places_ += static_cast<Index>(kept.room);
      parts.push_back(std::move(kept));
    }
    kept_.push_back(std::move(parts));
  }
}

bool LatticeWatch::strike(const LatticeStrikes::Together& together, double t, std::span<NodeLine> nodes) {
  for (std::size_t p = 0; p < together.parts.size(); ++p) {
    Kept& kept = kept_of(together, p);
    kept.energies = kept_so_far_;
    kept.impulses = kept.energies + kept.room;
    kept_so_far_ = kept.impulses + kept.room * numbers_kept(*together.parts[p]->batch);
  }
  if (told_.size() < kept_so_far_) told_.resize(kept_so_far_);
  std::atomic<bool> admissible = true;
  strikes_.each_block(together.parts, [&](std::size_t p, Index first, Index last) {
    const Batch& batch = *together.parts[p]->batch;
    const double step = together.steps[p];
    const Kept& kept = kept_of(together, p);
    const auto energies = this->energies(kept).subspan(static_cast<std::size_t>(first));
    const auto keep = std::span(told_).subspan(kept.impulses + static_cast<std::size_t>(first) * numbers_kept(batch));
    const bool at_speed = batch.kept() > 0;
    if (!at_speed) batch.measure(first, last, t, nodes, energies, keep);
    const bool all =
        at_speed ? batch.watch(first, last, step, t, nodes, energies, keep) : batch.strike(first, last, step, t, nodes);
    if (!all) admissible.store(false, std::memory_order_relaxed);
  });
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
                        const LatticeDampers& dampers, Observer& observer) {
  const LatticeGroup& group = plan_.groups[g];
  const bool together = observer.takes_strikes_together();
  for (std::size_t p = 0; p < group.parts.size(); ++p) {
    const LatticePart& part = group.parts[p];
    Kept& kept = kept_[g][p];
    const auto each = [&](Index first, Index last) {
      Figures found;
      review(part, kept, first, last, step, nodes.lines(), dampers, found);
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
                           figures(kept.damping_work), figures(energies(kept)), figures(kept.loads.on_the_way())});
    };
    const auto in_pieces = [&](Index begin, Index end) {
      for (Index first = begin; first < end; first += most_at_once) each(first, std::min(first + most_at_once, end));
    };
    const LatticePart* one = &part;
    if (together)
      strikes_.each_block_backward({&one, 1}, [&](std::size_t, Index first, Index last) { in_pieces(first, last); });
    else
      in_pieces(0, std::ssize(part.terms));
  }
}

// What the kept impulses of terms first to last - 1 have done; loads and dampers belong to their terms.
void LatticeWatch::review(const LatticePart& part, Kept& kept, Index first, Index last, double step,
                          std::span<const NodeLine> nodes, const LatticeDampers& dampers, Figures& found) {
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
  if (kept.loads.any()) {
    for (std::size_t i = end - begin; i % Eight::lanes != 0; ++i) found.work[i] = 0.0;  // whole rows
    kept.loads.add(first, last, step, nodes, means_, found.work);
  }
  for (auto at = std::ranges::lower_bound(kept.damped, static_cast<std::int32_t>(first));
       at != kept.damped.end() && *at < last; ++at) {
    const auto i = static_cast<std::size_t>(*at);
    const TermId term = part.terms[i];
    kept.damping_work[i] =
        dampers.work(kept.first_damped + static_cast<std::size_t>(at - kept.damped.begin()), term, means_);
    found.work[i - begin] += kept.damping_work[i];
  }
}

void LatticeWatch::show_one_by_one(const LatticePart& part, Kept& kept, Index first, Index last, const Figures& found,
                                   Index update, double step, double t, State& state, Observer& observer) const {
  const auto d = static_cast<std::size_t>(model_.dim()), begin = static_cast<std::size_t>(first);
  std::vector<double> loads;
  for (std::size_t i = begin; i < static_cast<std::size_t>(last); ++i) {
    const TermId term = part.terms[i];
    loads.assign(model_.force_slot(term) >= 0 ? model_.term(term).stencil().size() * d : 0, 0.0);
    kept.loads.add_impulses(i, step, loads);
    observer.on_strike({term, update, t, step, found.kinetic[i - begin], found.work[i - begin],
                        kept.damping_work.empty() ? 0.0 : kept.damping_work[i], told_[kept.energies + i], loads,
                        state});
  }
}

void LatticeWatch::save(ArchiveWriter& archive) const {
  for (const auto& parts : kept_)
    for (const Kept& kept : parts) kept.loads.save(archive);
}

void LatticeWatch::load(ArchiveReader& archive) {
  for (auto& parts : kept_)
    for (Kept& kept : parts) kept.loads.load(archive);
}

}  // namespace tempi
