// SPDX-License-Identifier: Apache-2.0
// With layers of contact time passes in windows, which are run again until no layer was missed (decision 0017).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/integrator/avi/avi_lattice.hpp"

namespace tempi {

void AviLattice::keep(const State& state) {
  if (!kept_) kept_ = std::make_unique<Kept>();
  kept_->nodes.assign(nodes_.lines().begin(), nodes_.lines().end());
  kept_->loads = state.loads;
  kept_->damping = state.damping;
  kept_->constraints = state.constraints;
  kept_->supports = state.supports;
  kept_->memory = state.memory;
  kept_->ways = loads_.ways();
  kept_->now = now_;
  kept_->fine = fine_;
}

// A window up to `to` begins again.
void AviLattice::go_back(State& state, double to) {
  std::ranges::copy(kept_->nodes, nodes_.lines().begin());
  state.loads = kept_->loads;
  state.damping = kept_->damping;
  state.constraints = kept_->constraints;
  state.supports = kept_->supports;
  state.memory = kept_->memory;
  loads_.set_ways(kept_->ways);
  now_ = kept_->now;
  fine_ = kept_->fine;
  supports_.read(nodes_.lines());
  set_due();
  contact_->begin_again(to);
}

// Every instant before t_end and before `until`.
void AviLattice::go(State& state, double t_end, Fine until, Observer* observer) {
  for (;;) {
    const Fine tick = (now_ + 1) << LatticeContact::fine_bits, next = std::min(contact_->next(fine_), tick);
    if (next >= until || !(LatticeContact::in_ticks(next) * lattice_.tick < t_end)) return;
    going_ = next;
    if (next == tick)
      act(state, now_ + 1, observer);
    else
      contact_->strike(next, state);
    now_ += next == tick ? 1 : 0;
    fine_ = next;
  }
}

// Whether it stands: nothing was missed. What fails in a motion that missed somebody has not happened; what none of the
// layers stops leaves the state as it was when the window began.
bool AviLattice::run_window(State& state, double t_end, Fine until, double to) {
  const auto missed = [&](double by) {
    try {
      return contact_->missed(by);
    } catch (const SolveError&) {
      go_back(state, to);
      throw;
    }
  };
  try {
    go(state, t_end, until, nullptr);
  } catch (const SolveError&) {
    if (!missed(LatticeContact::in_ticks(going_))) throw;
    return false;
  }
  return !missed(to);
}

namespace {

constexpr LatticeContact::Fine fine_tick = LatticeContact::Fine{1} << LatticeContact::fine_bits,
                               shortest_window = fine_tick / 16;

}  // namespace

// Longer ones spare little, and whoever was missed in one makes all of it run again.
AviLattice::Fine AviLattice::longest_window() const {
  return 8 * fine_tick * *std::ranges::max_element(lattice_.ticks);
}

// Windows become longer where none had to run again and time passed no slower; otherwise longer, or shorter, for as
// long as that makes time pass faster.
void AviLattice::choose_window(double taken, bool again) {
  constexpr Index enough = 4;        // windows
  constexpr double by_chance = 1.2;  // one time may differ from another
  cost_.taken += taken;
  cost_.again = cost_.again || again;
  if (++cost_.windows < enough) return;
  const double now = cost_.taken / static_cast<double>(enough * window_);
  const bool longer = (!cost_.again && now < by_chance * cost_.before) || cost_.longer == (now <= cost_.before);
  cost_ = {0.0, now, 0, longer, false};
  window_ = std::clamp(cost_.longer ? 2 * window_ : window_ / 2, shortest_window, longest_window());
}

namespace {

constexpr Index windows_of_a_trial = 6, windows_between_trials = 60;

}  // namespace

// Pairs are so short of work that threads may lose more by handing their nodes back and forth than they save: now and
// then windows with and without them take turns. Whether such a window is about to begin.
bool AviLattice::try_sharing() {
  if (team_.size() == 1) return false;
  const Index at = sharing_.windows % windows_between_trials;
  const bool on_trial = at < windows_of_a_trial;
  contact_->share(on_trial ? at % 2 == 0 : sharing_.pays);
  return on_trial;
}

void AviLattice::note_sharing(double cost) {
  const Index at = sharing_.windows++ % windows_between_trials;
  if (at >= windows_of_a_trial) return;
  sharing_.cost[at % 2 == 0 ? 0 : 1] += cost;
  if (at + 1 < windows_of_a_trial) return;
  sharing_.pays = sharing_.cost[0] <= sharing_.cost[1];
  sharing_.cost = {};
}

void AviLattice::go_in_windows(State& state, double t_end, Observer* observer) {
  using Clock = std::chrono::steady_clock;
  constexpr double most_ticks = 0x1p31;
  constexpr int most_runs = 8;  // of a window: in one of many impacts each may have to be found after the one before
  const double end = t_end / lattice_.tick;
  if (end > most_ticks)
    throw SolveError(
        fmt::format("{:.9g} s are more than 2^31 ticks of {:.3g} s, beyond which instants of contact are not told "
                    "apart. Choose larger steps or a shorter run.",
                    t_end, lattice_.tick));
  if (window_ <= 1) window_ = longest_window();
  while (window_from_ < end) {
    const auto next = [&] {
      return (static_cast<Fine>(std::floor(std::ldexp(window_from_, LatticeContact::fine_bits))) / window_ + 1) *
             window_;
    };
    Fine until = next();
    double to = std::min(end, LatticeContact::in_ticks(until));
    const bool on_trial = try_sharing();
    contact_->begin(window_from_, to);
    keep(state);
    auto start = Clock::now();
    int runs = 1;
    for (; !run_window(state, t_end, until, to); ++runs) {
      if (runs % most_runs == 0 && asked_window_ == 0.0 && window_ > shortest_window) {
        window_ /= 2;
        until = next();
        to = std::min(end, LatticeContact::in_ticks(until));
        start = Clock::now();
        cost_ = {0.0, std::numeric_limits<double>::infinity(), 0, false, false};
      }
      go_back(state, to);
    }
    const double taken = std::chrono::duration<double>(Clock::now() - start).count();
    if (observer != nullptr) {  // who looks sees only what stands
      go_back(state, to);
      go(state, t_end, until, observer);
    }
    contact_->accept();
    const double from = std::exchange(window_from_, to);
    const bool whole = to == LatticeContact::in_ticks(until);
    if (asked_window_ == 0.0 && whole && !on_trial) choose_window(taken, runs > 1);
    note_sharing(taken / (to - from));
  }
}

}  // namespace tempi
