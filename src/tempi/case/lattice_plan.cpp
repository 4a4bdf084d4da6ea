// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/lattice_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "tempi/case/method_table.hpp"
#include "tempi/case/simulation.hpp"
#include "tempi/model/steps.hpp"

namespace tempi {
namespace {

class LatticePlanner {
 public:
  explicit LatticePlanner(Simulation& s) : s_(s), p_(s.plan), method_(method_of(s.input.integrator)) {}

  void operator()() {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    find_lattice();
    if (p_.trial) p_.trial_time = std::chrono::duration<double>(Clock::now() - start).count();
  }

 private:
  // As the case has it; with lattice = "auto" and no limit of its own the first of the attempts that does not grow.
  void find_lattice() {
    const IntegratorInput& in = s_.input.integrator;
    if (!method_.asynchronous) {  // all steps are equal: no node holds them back
      p_.choice = equal_steps({*s_.model, p_.wished, s_.costs_per_update(), {}});
      return;
    }
    p_.nodal = nodal_stable_steps(*s_.model, s_.state.displacement);
    const StepWish wish = s_.step_wish(p_.wished);
    const NeighbourLimit own{in.nodal_safety, in.neighbour_ratio, false};
    const auto rule = lattice_rule(in.lattice);
    if (rule || own != NeighbourLimit{} || in.steps == "one-ring" || in.steps == "uniform") {
      p_.choice =
          coupled(wish, [&](const StepWish& w) { return rule ? choice_of(w, *rule, own) : automatic_choice(w, own); });
      p_.trial = trial_of(*p_.choice);
      return;
    }
    if (in.accuracy) {
      find_accurate(wish);
      return;
    }
    for (const StepAttempt& attempt : attempts()) {
      StepWish part = wish;
      part.part = attempt.part;
      p_.choice = coupled(part, [&](const StepWish& w) { return automatic_choice(w, attempt.limit); });
      p_.trial = trial_of(*p_.choice);
      if (!p_.trial || !p_.trial->grows) return;
      p_.resonant.push_back(fmt::format("{}, {}{}: {}", name_of(p_.choice->rule), describe(attempt.limit),
                                        attempt.part < 1.0 ? fmt::format(", {:g} of the steps", attempt.part) : "",
                                        s_.describe_trial(*p_.trial)));
    }
    p_.choice = equal_steps(wish);
    p_.trial.reset();
  }

  // As the case has it; left open, plain where the error of that is small, mollified elsewhere.
  template <class Choose>
  StepChoice coupled(StepWish wish, Choose&& choose) const {
    const std::string& asked = s_.input.integrator.coupling;
    wish.coupling = asked == name_of(Coupling::mollified) ? Coupling::mollified : Coupling::plain;
    StepChoice choice = choose(wish);
    if (asked != "auto" || !nests(choice.rule) || !unequal(choice.lattice)) return choice;
    predict_errors(*s_.model, s_.state.displacement, p_.safety, std::span(&choice, 1), s_.threads);
    if (!choice.error || *choice.error <= tolerated_error) return choice;
    wish.coupling = Coupling::mollified;
    StepChoice better = choose(wish);  // maybe of other steps: it costs more where they differ
    predict_errors(*s_.model, s_.state.displacement, p_.safety, std::span(&better, 1), s_.threads);
    return better;
  }

  // The largest steps of one coupling below the wished error, which is of order 2 or 4 in them.
  std::optional<StepChoice> accurate(const StepWish& wish, const NeighbourLimit& limit, Coupling coupling) const {
    const double wished = *s_.input.integrator.accuracy, order = coupling == Coupling::plain ? 2.0 : 4.0;
    constexpr int most_tries = 8;
    StepWish smaller = wish;
    smaller.coupling = coupling;
    for (int tried = 0; tried < most_tries; ++tried) {
      StepChoice choice = automatic_choice(smaller, limit);
      predict_errors(*s_.model, s_.state.displacement, p_.safety, std::span(&choice, 1), s_.threads);
      if (!choice.error) return std::nullopt;
      if (*choice.error <= wished) return choice;
      smaller.part *= std::min(0.95, 0.95 * std::pow(wished / *choice.error, 1.0 / order));
    }
    return std::nullopt;
  }

  // The fastest choice below the wished error that does not grow; one step for all has none of asynchrony.
  void find_accurate(const StepWish& wish) {
    const IntegratorInput& in = s_.input.integrator;
    for (const StepAttempt& attempt : attempts()) {
      if (attempt.part < 1.0) continue;
      std::vector<StepChoice> choices = {equal_steps(wish)};
      choices.front().error = 0.0;
      for (const Coupling coupling : {Coupling::plain, Coupling::mollified}) {
        if (in.coupling != "auto" && in.coupling != name_of(coupling)) continue;
        if (auto choice = accurate(wish, attempt.limit, coupling)) choices.push_back(std::move(*choice));
      }
      p_.choice = *std::ranges::min_element(choices, {}, &StepChoice::cost);
      p_.trial = trial_of(*p_.choice);
      if (!p_.trial || !p_.trial->grows) return;
      p_.resonant.push_back(fmt::format("{}, {}: {}", name_of(p_.choice->rule), describe(p_.choice->limit),
                                        s_.describe_trial(*p_.trial)));
    }
    p_.choice = equal_steps(wish);
    p_.trial.reset();
  }

  std::optional<StepTrial> trial_of(const StepChoice& choice) const {
    if (s_.input.integrator.trial == 0.0 || !unequal(choice.lattice)) return std::nullopt;
    return s_.try_lattice(*s_.model, choice.lattice, choice.coupling,
                          s_.input.integrator.trial * 1e-9 * choice.cost * s_.input.end_time);
  }

  Simulation& s_;
  StepPlan& p_;
  const Method& method_;
};

}  // namespace

void choose_lattice(Simulation& simulation) { LatticePlanner{simulation}(); }

}  // namespace tempi
