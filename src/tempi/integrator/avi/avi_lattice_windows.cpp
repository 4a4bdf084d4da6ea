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
namespace {

using Clock = std::chrono::steady_clock;

constexpr LatticeContact::Fine fine_tick = LatticeContact::Fine{1} << LatticeContact::fine_bits,
                               shortest_window = fine_tick / 16;
constexpr Index windows_of_a_trial = 6, windows_between_trials = 60;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

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

// Whether it stands: nothing was missed. `went`: for how long it ran [s]. What fails in a motion that missed somebody
// has not happened; what none of the layers stops leaves the state as it was when the window began.
bool AviLattice::run_window(State& state, double t_end, Fine until, double to, double& went) {
  const auto missed = [&](double by) {
    try {
      return contact_->missed(by);
    } catch (const SolveError&) {
      go_back(state, to);
      throw;
    }
  };
  const auto start = Clock::now();
  try {
    go(state, t_end, until, nullptr);
    went = seconds_since(start);
  } catch (const SolveError&) {
    went = seconds_since(start);
    if (!missed(LatticeContact::in_ticks(going_))) throw;
    return false;
  }
  return !missed(to);
}

// Longer ones spare little, and whoever was missed in one makes all of it run again.
AviLattice::Fine AviLattice::longest_window() const {
  return 8 * fine_tick * *std::ranges::max_element(lattice_.ticks);
}

// Of windows twice as long there are half as many, and twice as many have to run again, each for twice as long: best
// are those whose fixed cost is what is wasted. They become longer once that of those since the last change would have
// paid for one more run as long as the last, which `went` for so long.
void AviLattice::choose_window(double went, bool whole) {
  const bool shorter = cost_.wasted > cost_.fixed, longer = whole && cost_.fixed > cost_.wasted + went;
  if (!shorter && !longer) return;
  cost_ = {};
  window_ = std::clamp(longer ? 2 * window_ : window_ / 2, shortest_window, longest_window());
}

// Pairs are so short of work that threads may lose more by handing their nodes back and forth than they save: now and
// then windows with and without them take turns.
void AviLattice::try_sharing() {
  if (team_.size() == 1) return;
  const Index at = sharing_.windows % windows_between_trials;
  contact_->share(at < windows_of_a_trial ? at % 2 == 0 : sharing_.pays);
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
  constexpr double most_ticks = 0x1p31;
  constexpr int most_runs = 8;  // of a window: in one of many impacts each may have to be found after the one before
  const double end = t_end / lattice_.tick;
  if (end > most_ticks)
    throw SolveError(
        fmt::format("{:.9g} s are more than 2^31 ticks of {:.3g} s, beyond which instants of contact are not told "
                    "apart. Choose larger steps or a shorter run.",
                    t_end, lattice_.tick));
  if (window_ <= 1) window_ = longest_window() / 8;
  while (window_from_ < end) {
    const auto next = [&] {
      return (static_cast<Fine>(std::floor(std::ldexp(window_from_, LatticeContact::fine_bits))) / window_ + 1) *
             window_;
    };
    Fine until = next();
    double to = std::min(end, LatticeContact::in_ticks(until));
    try_sharing();
    const auto start = Clock::now();
    contact_->begin(window_from_, to);
    keep(state);
    double went = 0.0, wasted = 0.0;
    for (int runs = 1; !run_window(state, t_end, until, to, went); ++runs) {
      wasted += went;
      if (runs % most_runs == 0 && asked_window_ == 0.0 && window_ > shortest_window) {
        window_ /= 2;
        until = next();
        to = std::min(end, LatticeContact::in_ticks(until));
        cost_ = {};
      }
      go_back(state, to);
    }
    const double taken = seconds_since(start);
    if (observer != nullptr) {  // who looks sees only what stands
      go_back(state, to);
      go(state, t_end, until, observer);
    }
    contact_->accept();
    const double from = std::exchange(window_from_, to);
    const bool whole = to == LatticeContact::in_ticks(until);
    cost_.fixed += taken - wasted - went;
    cost_.wasted += wasted;
    if (asked_window_ == 0.0) choose_window(went, whole);
    note_sharing(taken / (to - from));
  }
}

}  // namespace tempi
