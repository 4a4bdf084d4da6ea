// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/resonance_guard.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tempi/core/error.hpp"

namespace tempi {

ResonanceGuard::ResonanceGuard(const Model& model, const TickLattice& lattice, Coupling coupling,
                               std::span<const double> nodal, double run_price, int threads)
    : model_(model),
      lattice_(lattice),
      coupling_(coupling),
      nodal_(nodal),
      run_price_(run_price),
      threads_(threads),
      of_nodes_(nodal.size(), 0.0) {}

void ResonanceGuard::look(const Snapshot& snapshot, double reference, double time_left) {
  constexpr double much = 1e-3, grown = 10.0, again = 4.0, most = 0.25;
  const auto d = static_cast<std::size_t>(model_.dim());
  double energy = 0.0;  // of the smallest scales
  for (std::size_t a = 0; a < of_nodes_.size(); ++a) {
    const bool held = model_.supports().holds(make_id<NodeId>(static_cast<Index>(a)));
    double f2 = 0.0;
    for (std::size_t c = a * d; c < (a + 1) * d; ++c) f2 += snapshot.force[c] * snapshot.force[c];
    of_nodes_[a] = held || std::isinf(nodal_[a]) ? 0.0 : 0.125 * f2 * nodal_[a] * nodal_[a] / model_.mass()[a];
    energy += of_nodes_[a];
  }
  displacement_ = snapshot.state.displacement;
  if (std::exchange(first_, false)) least_ = energy;
  least_ = std::min(least_, energy);
  const double share = energy / reference;
  const bool suspicious = share > much && energy > grown * least_ && energy > again * looked_at_ &&
                          share > std::min(again * share_looked_at_, most);
  if (!suspicious || !(time_left > 0.0)) return;
  // Loads that set in look like growth, once: what is wide and dear to try waits for a second time.
  const TrialOptions options = looked_at_ > 0.0 ? closer() : TrialOptions{.price = 0.03, .complete = 0.03};
  looked_at_ = energy;
  share_looked_at_ = share;
  if (const std::string found = verdict(time_left, options); !found.empty())
    throw StepError(fmt::format("the steps resonate: at t = {:.9g} s the motion of the smallest scales holds {:.2g} of "
                                "the energy, and {}",
                                snapshot.time, share, found),
                    snapshot.time);
}

void ResonanceGuard::save(ArchiveWriter& archive) const {
  archive.put("least", least_);
  archive.put("looked_at", looked_at_);
  archive.put("share_looked_at", share_looked_at_);
  archive.put("first", first_);
  archive.put("displacement", displacement_);
  archive.put("of_nodes", of_nodes_);
}

void ResonanceGuard::load(ArchiveReader& archive) {
  archive.get("least", least_);
  archive.get("looked_at", looked_at_);
  archive.get("share_looked_at", share_looked_at_);
  archive.get("first", first_);
  archive.get_all("displacement", displacement_);
  archive.get("of_nodes", of_nodes_);
}

// Whether a term at a node takes a step beyond its own stable one: that grows as well, and is no resonance.
bool ResonanceGuard::exceeds_own_limit(NodeId node) const {
  for (Index i = 0; i < model_.term_count(); ++i) {
    const auto term = make_id<TermId>(i);
    if (std::ranges::find(model_.term(term).stencil(), node) == model_.term(term).stencil().end()) continue;
    const double step = lattice_.tick * lattice_.ticks[static_cast<std::size_t>(i)];
    if (!model_.step_is_stable(term, displacement_, step)) return true;
  }
  return false;
}

// Wider motions grow slowly (step_trial.hpp): a run too short to pay for them is too short to be spoiled by them.
TrialOptions ResonanceGuard::closer() const {
  const double part = 0.2 * run_price_;
  const double narrow = std::clamp(part, 0.03, 0.1);
  return {.price = narrow, .complete = narrow, .wide = std::min(part, 1.0)};
}

std::string ResonanceGuard::verdict(double time_left) const {
  return verdict(time_left, {.price = 0.1, .complete = 0.1, .wide = 1.0});
}

std::string ResonanceGuard::verdict(double time_left, TrialOptions options) const {
  if (displacement_.empty()) return "";
  options.duration = std::max(time_left, 1000.0 * lattice_.tick * *std::ranges::max_element(lattice_.ticks));
  options.threads = threads_;
  options.coupling = coupling_;
  const StepTrial trial = try_steps(model_, displacement_, lattice_, nodal_, options, of_nodes_);
  if (!trial.grows || exceeds_own_limit(*trial.where)) return "";
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto X = model_.reference().subspan(ordinal(*trial.where) * d, d);
  return fmt::format(
      "a small motion around X = ({:.4g}) grows by {:.2g} per longest step of {:.3g} s there. Leave the choice to "
      "lattice = \"auto\", or take a smaller safety or nodal_safety.",
      fmt::join(X, ", "), trial.growth, trial.longest_step);
}

}  // namespace tempi
