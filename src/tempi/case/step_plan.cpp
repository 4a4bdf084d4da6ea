// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/step_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>

#include "tempi/case/lattice_plan.hpp"
#include "tempi/case/method_table.hpp"
#include "tempi/case/option_table.hpp"
#include "tempi/case/simulation.hpp"
#include "tempi/case/subdomain_choice.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/diagnostic/stability.hpp"
#include "tempi/integrator/avi/avi_implicit.hpp"
#include "tempi/integrator/avi/avi_lattice.hpp"
#include "tempi/mesh/quality.hpp"
#include "tempi/model/linearised_model.hpp"
#include "tempi/model/steps.hpp"

namespace tempi {
namespace {

bool differ(const auto& steps) {
  return std::ranges::adjacent_find(steps, std::not_equal_to{}) != std::ranges::end(steps);
}

constexpr double least_price = 1e-3;  // [s], of a trial whose run's time nobody has predicted

class StepPlanner {
 public:
  StepPlanner(Simulation& s, const std::vector<TermsOfOneStep>& together)
      : s_(s), p_(s.plan), method_(method_of(s.input.integrator)), together_(together) {}

  void operator()() {
    const IntegratorInput& in = s_.input.integrator;
    refuse_coupling();
    refuse_accuracy();
    if (!method_.keeps_constraints) at_place(in.place, [&] { require_unconstrained(*s_.model); });
    if (method_.engine == Engine::stepping || method_.quasi_static)
      refuse_steps();
    else
      require_steps_for_wanderers();
    if (method_.engine == Engine::domains) {
      use_domains();
      return;
    }
    find_own_steps();
    p_.wished = p_.own;
    if (!method_.asynchronous) take_one_step();
    p_.safety = largest_safety();
    LatticeOptions options{s_.threads, 1.0};
    if (!method_.asynchronous && method_.engine == Engine::strikes && in.options.newmark_limit == "assembled")
      options.rechecked = take_assembled_limit();
    constexpr double most_steps = 1e15;  // beyond, times are not told apart in double precision
    if (s_.input.end_time / p_.smallest() > most_steps)
      throw PlacedError(in.step_place,
                        fmt::format("the smallest step {:.6g} s is too small for an end_time of {:.6g} s (over "
                                    "1e15 steps). Choose larger steps or a shorter run.",
                                    p_.smallest(), s_.input.end_time));
    if (method_.engine == Engine::softened)
      use_implicit_steps();
    else if (method_.engine == Engine::stepping)
      use_energy_steps();
    else if (method_.engine == Engine::strikes && in.lattice != "exact")
      use_lattice(options);
    else
      use_steps_as_wished();
  }

 private:
  // As safety, courant or step and `steps` have them.
  void find_own_steps() {
    const IntegratorInput& in = s_.input.integrator;
    std::vector<double> times;
    if (in.courant && (!s_.input.potentials.empty() || !s_.body.bending.empty()))
      throw PlacedError(in.step_place,
                        fmt::format("courant belongs to cells, and {} has no wave speed. Use safety or step.",
                                    s_.body.bending.empty() ? "a [[potential]]" : "the bending of shells"));
    if (in.courant) {
      for (const ElasticCells* cells : s_.body.cells)
        for (Index k = 0; k < cells->size(); ++k)
          times.push_back(inradius(*s_.body.mesh, cells->cell(k)) /
                          dilatational_wave_speed(lame_of(cells->material()), cells->density()));
      times.resize(static_cast<std::size_t>(s_.model->term_count()), std::numeric_limits<double>::infinity());
      for (const auto& [first, end, step] : together_)  // behind the cells, with steps of their own
        if (step) std::fill(times.begin() + first, times.begin() + end, *step / *in.courant);
    }
    const StepSize size = in.courant ? StepSize(CourantNumber{*in.courant})
                          : in.step  ? StepSize(FixedStep{*in.step})
                                     : StepSize(SafetyFraction{*in.safety});
    const StepRule rule = in.steps == "uniform"    ? StepRule::uniform
                          : in.steps == "one-ring" ? StepRule::one_ring
                                                   : StepRule::element;
    const bool implicit = method_.engine == Engine::one_step && !method_.is_explicit(in.options);
    if (method_.quasi_static)
      p_.own.assign(static_cast<std::size_t>(s_.model->term_count()), s_.input.end_time / in.options.load_steps);
    else if (in.step && implicit)
      p_.own.assign(static_cast<std::size_t>(s_.model->term_count()), *in.step);
    else if (method_.engine == Engine::stepping && !is_stiff())
      p_.own.assign(static_cast<std::size_t>(s_.model->term_count()), s_.input.end_time);  // nobody touches yet
    else
      p_.own = at_place(in.step_place,
                        [&] { return choose_steps(*s_.model, s_.state.displacement, size, rule, times, s_.threads); });
    shorten_at_surfaces();
    for (const auto& [first, end, step] : together_) {
      const auto terms =
          std::span(p_.own).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
      std::ranges::fill(terms, step.value_or(*std::ranges::min_element(terms)));
    }
  }

  // Whether anything is where it starts.
  bool is_stiff() const {
    for (Index i = 0; i < s_.model->term_count(); ++i)
      if (std::isfinite(s_.model->stable_step(make_id<TermId>(i), s_.state.displacement))) return true;
    return false;
  }

  // Contact makes nodes of the surface stiffer: near the limit of their cells energy grows. And cells that hardly look
  // while the first layer is crossed do not see how it turns them round. Whoever is too far from others to meet them
  // before the end is left alone.
  void shorten_at_surfaces() {
    constexpr double part_of_crossing = 0.7;
    const IntegratorInput& in = s_.input.integrator;
    if (!in.safety || s_.model->layers().empty()) return;
    struct Most {
      double part = 1.0, step = std::numeric_limits<double>::infinity();
      void hold_to(const Most& other) {
        part = std::min(part, other.part);
        step = std::min(step, other.step);
      }
    };
    std::vector<Most> of_node(static_cast<std::size_t>(s_.model->node_count()));
    std::size_t k = 0;
    for (const auto& contact : s_.model->layers()) {
      while (!s_.input.contacts[k].has_layers()) ++k;
      const double crossing = (contact->distance(0) - contact->distance(1)) / contact->options().speed;
      const Most most{s_.input.contacts[k++].surface_safety * in.shortened / *in.safety,
                      part_of_crossing * in.shortened * crossing};
      const ContactSurface& surface = contact->surface();
      const std::vector<char> meets = surface.near_others(reach_of(*contact));
      for (std::size_t v = 0; v < meets.size(); ++v)
        if (meets[v] != 0 && !surface.vertices()[v].is_rigid())
          of_node[ordinal(surface.vertices()[v].node)].hold_to(most);
    }
    for (Index i = 0; i < s_.model->term_count(); ++i) {
      Most most;
      for (const NodeId a : s_.model->term(make_id<TermId>(i)).stencil()) most.hold_to(of_node[ordinal(a)]);
      double& own = p_.own[static_cast<std::size_t>(i)];
      own = std::min(own * most.part, most.step);
    }
  }

  // How near others are that it may meet: at its speed, both ways, where nothing else sets things in motion. Shells may
  // fold onto themselves.
  double reach_of(const LayeredContact& contact) const {
    constexpr double anywhere = std::numeric_limits<double>::infinity();
    const CaseFile& in = s_.input;
    const auto& options = contact.options();
    const auto is_in_speed = [](const LoadInput& load) {
      return load.type == "gravity" && std::ranges::all_of(load.value, [](const FormulaText& g) {
               return std::holds_alternative<double>(g.value);
             });
    };
    bool folds = false;
    for (Index c = 0; c < s_.body.mesh->cells().size() && !folds; ++c)
      folds = s_.body.mesh->is_shell(make_id<CellId>(c));
    const bool moves = std::ranges::any_of(s_.model->supports().held_nodes(),
                                           [&](NodeId a) { return s_.model->supports().moves(a); }) ||
                       std::ranges::any_of(in.walls, [](const WallInput& wall) { return !wall.displacement.empty(); });
    const bool starts_elsewhere = std::ranges::any_of(s_.state.displacement, [](double u) { return u != 0.0; });
    if (options.speed == 0.0 || folds || moves || starts_elsewhere || !in.potentials.empty() ||
        !std::ranges::all_of(in.loads, is_in_speed))
      return anywhere;
    return options.law.outer + 2.0 * options.speed * in.end_time;
  }

  void take_one_step() {
    const IntegratorInput& in = s_.input.integrator;
    const double limit = std::min(1.0, method_.step_limit(in.options));
    std::ranges::fill(p_.wished, *std::ranges::min_element(p_.own) * (in.safety ? limit : 1.0));
    if (limit == 1.0 || in.safety) return;
    const double most = limit * std::ranges::min(stable_steps(*s_.model, s_.state.displacement, s_.threads));
    if (p_.smallest() > most)
      throw PlacedError(in.step_place, fmt::format("the step {:.6g} s exceeds what {} takes with these beta and gamma, "
                                                   "{:.6g} s. Choose a smaller one, or use safety.",
                                                   p_.smallest(), in.method, most));
  }

  // Returns the part of its step that each term's is to be held against.
  double take_assembled_limit() {
    const IntegratorInput& in = s_.input.integrator;
    if (!in.safety || in.lattice == "exact")
      throw PlacedError(in.place,
                        "newmark_limit = \"assembled\" goes with safety, and not with lattice = \"exact\". Leave out "
                        "step, courant and lattice.");
    const double step = *in.safety * s_.assembled_limit(), before = p_.smallest();
    std::ranges::fill(p_.wished, step);
    return before / step;
  }

  // Where they start does not tell what steps particles that wander will need.
  void require_steps_for_wanderers() const {
    const IntegratorInput& in = s_.input.integrator;
    for (Index p = 0; p < s_.model->potential_count() && !in.steps_asked; ++p) {
      const Potential& potential = s_.model->potential(p);
      if (potential.stays_together() && potential.as_local() != nullptr) continue;
      const Index first = index(s_.model->first_term(p));
      if (std::ranges::any_of(together_, [&](const TermsOfOneStep& t) { return t.first == first && t.step; })) continue;
      throw PlacedError(in.place,
                        fmt::format("{} is among particles that wander, so where they start does not tell what steps "
                                    "they will need. Give a step (in s; the smallest stable one at the start is "
                                    "{:.3g} s, closer pairs need less), or safety if the start does tell.",
                                    potential.describe(0),
                                    std::ranges::min(stable_steps(*s_.model, s_.state.displacement, s_.threads))));
    }
  }

  // Dampers that a method takes explicitly make it grow beyond its limit.
  void refuse_stiff_dampers(double step) const {
    const IntegratorInput& in = s_.input.integrator;
    const double limit = method_.damping_limit(in.options);  // of the step times the largest damping rate
    if (!s_.model->has_dampers() || std::isinf(limit)) return;
    const double rate = largest_damping_rate(*s_.model, s_.state.displacement);
    if (rate * step > limit)
      throw PlacedError(in.step_place,
                        fmt::format("the step {:.6g} s exceeds what {} takes with these dampers, {:.6g} s. Choose a "
                                    "smaller one, or another method.",
                                    step, in.method, limit / rate));
  }

  double largest_safety() const {
    const auto [least, most] = std::ranges::minmax(p_.own);
    if (least == most) return 0.0;  // synchronous: nothing can resonate
    if (s_.input.integrator.safety) return *s_.input.integrator.safety;
    const std::vector<double> stable = stable_steps(*s_.model, s_.state.displacement, s_.threads);
    double largest = 0.0;
    for (std::size_t i = 0; i < stable.size(); ++i) largest = std::max(largest, p_.own[i] / stable[i]);
    return largest;
  }

  void use_steps_as_wished() {
    const IntegratorInput& in = s_.input.integrator;
    p_.steps = p_.wished;
    if (method_.engine == Engine::strikes && in.neighbour_ratio)
      limit_neighbours(*s_.model, p_.steps, *in.neighbour_ratio);
    if (method_.engine == Engine::one_step) refuse_stiff_dampers(p_.smallest());
    const Place place = in.method_keys.empty() ? in.place : in.method_keys.front().second;
    s_.integrator =
        at_place(place, [&] { return make_integrator(method_, *s_.model, p_.steps, in.options, s_.threads); });
    if (method_.engine != Engine::strikes || !p_.unequal()) return;
    constexpr double slower = 2.7, least = 1.0;
    try_whole(cost_on_queue(s_.costs_per_update(), p_.steps), slower, least,
              [&](const Model& linear) { return method_.make(linear, p_.steps, in.options); });
  }

  // Steps without a period, or with a long one, are tried by running the small motions of the whole model, for a part
  // of the run's time, and at least for `least` [s]. `cost` of the run [ns per simulated second], by typical costs:
  // what is found must not depend on the clock; that of these motions is so many times larger.
  template <class Make>
  void try_whole(double cost, double times, double least, Make&& make) {
    constexpr Index fewest = 32;     // longest steps: of less nothing is learnt
    constexpr Index most = 200'000;  // terms: beyond, their stiffnesses would take more memory than the run
    const double trial = s_.input.integrator.trial;
    for (Index p = 0; p < s_.model->potential_count(); ++p)  // where they wander the start tells nothing
      if (s_.model->potential(p).as_local() == nullptr || !s_.model->potential(p).stays_together()) return;
    if (trial == 0.0 || s_.model->term_count() > most) return;
    const double longest = *std::ranges::max_element(p_.steps);
    const double run_steps = std::ceil(s_.input.end_time / longest);
    const double price = std::max(trial * 1e-9 * cost * s_.input.end_time, least);
    const double affordable = price / (1e-9 * times * cost * longest);
    const auto steps = static_cast<Index>(std::min(affordable, run_steps));
    if (steps < fewest) return;
    const Model linear = linearised(*s_.model, s_.state.displacement);
    try {
      const auto map = make(linear);
      const StabilityReport found = measure_growth(linear, *map, longest, {.longest_steps = steps});
      const bool seen = found.exponential || found.growth > found.resolution;
      const bool grows =
          seen && !found.releases_energy && found.growth * run_steps > std::log(StepTrial::tolerated_amplitude);
      p_.whole = {found, static_cast<Index>(run_steps), grows};
    } catch (const SolveError&) {  // a step beyond its term's own: the run will say so
    }
  }

  // A slow term can hear of its faster neighbours only where all of them act when it does.
  void refuse_coupling() const {
    const IntegratorInput& in = s_.input.integrator;
    if (in.coupling != "mollified") return;
    if (method_.engine != Engine::strikes || !method_.asynchronous)
      throw PlacedError(in.coupling_place,
                        fmt::format("coupling = \"mollified\" belongs to avi, not to {}. Leave it out.", in.method));
    const auto rule = lattice_rule(in.lattice);
    if (in.lattice == "exact" || (rule && !nests(*rule)))
      throw PlacedError(in.coupling_place,
                        fmt::format("coupling = \"mollified\" needs steps of which each divides the next, and those of "
                                    "lattice = \"{}\" do not. Use lattice = \"auto\", or coupling = \"plain\".",
                                    in.lattice));
  }

  void refuse_accuracy() const {
    const IntegratorInput& in = s_.input.integrator;
    if (!in.accuracy) return;
    if (method_.engine != Engine::strikes || !method_.asynchronous)
      throw PlacedError(in.accuracy_place, fmt::format("accuracy belongs to avi, not to {}. Leave it out.", in.method));
    if (!in.safety || in.lattice != "auto" || in.nodal_safety || in.neighbour_ratio || in.steps != "element")
      throw PlacedError(in.accuracy_place,
                        "accuracy chooses the steps itself, up to safety. Leave out step, courant, steps, lattice, "
                        "nodal_safety and neighbour_ratio.");
    for (Index p = 0; p < s_.model->potential_count(); ++p)
      if (s_.model->potential(p).as_local() == nullptr || !s_.model->potential(p).stays_together())
        throw PlacedError(in.accuracy_place,
                          fmt::format("the error of steps is not predicted with {}, which joins no fixed neighbours. "
                                      "Leave out accuracy.",
                                      s_.model->potential(p).describe(0)));
  }

  void refuse_steps() const {
    const IntegratorInput& in = s_.input.integrator;
    if (in.steps_asked && method_.quasi_static)
      throw PlacedError(in.step_place, fmt::format("{} has load steps instead of time steps. Leave it out, or give "
                                                   "load_steps.",
                                                   in.method));
    if (in.steps_asked)
      throw PlacedError(in.step_place, fmt::format("{} has no time steps: its events follow from {}. Leave out "
                                                   "safety, courant and step.",
                                                   in.method, has_key(method_.keys, "grid") ? "grid" : "energy_step"));
  }

  void use_domains() {
    const IntegratorInput& in = s_.input.integrator;
    if (in.courant)
      throw PlacedError(in.step_place, "courant does not choose the steps of domains. Use safety or step.");
    constexpr double shorter = 0.75, shortest = 0.02;
    for (double part = 1.0;; part *= shorter) {
      const auto make = try_domains(part);
      const bool divided = std::ranges::any_of(p_.domains->domains.rules, [](const auto& r) { return r.substeps > 1; });
      if (!divided) return;
      const bool through = gets_through(*make(*s_.model));
      if (through) try_whole(cost_of_domains(), 2.0, 0.4, make);
      if (in.step || (through && !(p_.whole && p_.whole->grows))) return;
      p_.resonant.push_back(
          fmt::format("a system step of {:.6g} s: {}", p_.domains->step,
                      p_.whole ? fmt::format("a small motion grows by {:.2g} in each", p_.whole->report.growth)
                               : "it does not get through the first steps"));
      if (part * shorter > shortest) continue;
      if (!through) {  // it is not the step's fault; the run will say what is wrong
        p_.resonant.clear();
        try_domains(1.0);
      }
      return;
    }
  }

  // Plans for a part of the largest step; returns who makes the integrator for a model.
  std::function<std::unique_ptr<Integrator>(const Model&)> try_domains(double part) {
    p_.domains = plan_domains(s_, together_, part);
    p_.own = p_.wished = p_.steps = p_.domains->step_of_terms;
    p_.safety = largest_safety();
    std::function<std::unique_ptr<Integrator>(const Model&)> make = [this](const Model& model) {
      auto made = make_multi_domain(model, *p_.domains);
      made->use_threads(s_.threads);
      return made;
    };
    s_.integrator = at_place(s_.input.integrator.place, [&] { return make(*s_.model); });
    p_.pace = s_.first_steps(*make(*s_.model)).pace;
    p_.whole.reset();
    return make;
  }

  // Of a part of the run's steps, as many whatever the clock says.
  bool gets_through(Integrator& integrator) const {
    const double trial = s_.input.integrator.trial, step = p_.domains->step;
    if (trial == 0.0) return true;
    constexpr double fewest = 4.0, most = 32.0;
    const double steps = std::clamp(std::ceil(trial * s_.input.end_time / step), fewest, most);
    State copy = s_.state;
    try {
      integrator.advance_to(copy, std::min(steps * step, s_.input.end_time));
      return true;
    } catch (const SolveError&) {
      return false;
    }
  }

  // [ns per simulated second], roughly.
  double cost_of_domains() const {
    constexpr double trials = 2.0, implicit = 50.0;  // times as dear as explicit substeps alone
    const std::vector<double> costs = s_.costs_per_update();
    double sum = 0.0;
    for (std::size_t k = 0; k < costs.size(); ++k) {
      const Domains& all = p_.domains->domains;
      const bool cheap = all.rules[static_cast<std::size_t>(all.of_term[k])].is_explicit();
      sum += (cheap ? trials : implicit) * costs[k] / p_.steps[k];
    }
    return sum;
  }

  // Without steps: those of `own` are what an explicit method would take, for outputs that want a time scale.
  void use_energy_steps() {
    const IntegratorInput& in = s_.input.integrator;
    p_.steps = p_.own;
    if (!has_key(method_.keys, "energy_step")) {
      s_.integrator = at_place(in.place, [&] {
        auto made = method_.make(*s_.model, p_.steps, in.options);
        made->advance_to(s_.state, 0.0);  // what is wrong with the start is known now
        return made;
      });
      return;
    }
    Subdomains subdomains = choose_subdomains(s_);
    const double energy_step = std::ranges::min(subdomains.energy_step);
    s_.integrator = at_place(in.place, [&] {
      return std::make_unique<SteppingEnergy>(*s_.model, std::move(subdomains), p_.steps, s_.body.walls);
    });
    s_.integrator->use_threads(s_.threads);
    at_place(in.place, [&] { s_.integrator->advance_to(s_.state, 0.0); });  // so that levels are known
    const Snapshot start = s_.integrator->synchronized(s_.state, 0.0);
    const Energies there = energies(*s_.model, start);
    if (there.kinetic == 0.0)
      s_.warnings.push_back(
          "everything starts at rest, and within a step of the terrace no force acts: nothing will ever move. Give an "
          "initial velocity.");
    if (there.kinetic > 0.0 && energy_step > there.kinetic && std::abs(there.potential) < energy_step)
      s_.warnings.push_back(
          fmt::format("energy_step = {:.6g} J is more than the kinetic energy at the start, {:.6g} J: "
                      "nothing can climb a step of it. Take a small part of that.",
                      energy_step, there.kinetic));
  }

  // Steps that nest: implicit_step, its halves and its doubles.
  void use_implicit_steps() {
    const IntegratorInput& in = s_.input.integrator;
    if (in.options.implicit_step == 0.0)
      throw PlacedError(in.place,
                        "avi-implicit needs implicit_step (in s): elements whose own step would be shorter act "
                        "implicitly at it. Add implicit_step = ...");
    if (in.step)
      throw PlacedError(in.step_place,
                        "step has no meaning beside implicit_step. Use safety, for the elements that "
                        "stay explicit.");
    for (Index p = 0; p < s_.model->potential_count(); ++p)
      if (s_.model->potential(p).as_local() == nullptr)
        throw PlacedError(in.place, fmt::format("avi-implicit does not take {}, whose pairs act together. Give that "
                                                "potential together = false, or choose avi.",
                                                s_.model->potential(p).describe(0)));
    SoftenedSteps softened = softened_steps(p_.wished, in.options);
    p_.steps = softened.steps;
    p_.implicit_terms = std::ranges::count_if(softened.alphas, [](double alpha) { return alpha > 0.0; });
    auto integrator = at_place(in.place, [&] {
      return std::make_unique<AviImplicit>(*s_.model, p_.steps, std::move(softened.alphas));
    });
    const double truly = s_.model->potential_energy(s_.state.displacement, 0.0);
    const double softly = integrator->softened_model().potential_energy(s_.state.displacement, 0.0);
    if (std::abs(truly - softly) > 0.05 * std::abs(truly))
      s_.warnings.push_back(fmt::format(
          "{} of {} elements act implicitly and give way so much that the model starts with {:.4g} J of potential "
          "energy instead of {:.4g} J: avi-implicit is for a few stiff elements. Take a smaller implicit_step.",
          p_.implicit_terms, s_.model->term_count(), softly, truly));
    if (in.trial > 0.0 && p_.unequal()) {
      TickLattice lattice{*std::ranges::min_element(p_.steps), {}};  // they nest
      for (const double step : p_.steps)
        lattice.ticks.push_back(static_cast<std::int32_t>(std::lround(step / lattice.tick)));
      p_.trial = s_.try_lattice(integrator->softened_model(), lattice, Coupling::plain, least_price);
    }
    s_.integrator = std::move(integrator);
  }

  void use_lattice(LatticeOptions options) {
    choose_lattice(s_);
    const TickLattice& lattice = p_.choice->lattice;
    for (const std::int32_t m : lattice.ticks) p_.steps.push_back(lattice.tick * m);
    options.coupling = p_.choice->coupling;
    auto integrator = std::make_unique<AviLattice>(*s_.model, lattice, options);
    p_.pace = s_.first_steps(*integrator).pace;
    integrator->rewind();
    if (p_.unequal() && !nests(p_.choice->rule) && !(p_.trial && p_.trial->grows))
      try_whole(p_.choice->cost, 1.0, 1.0, [&](const Model& linear) {
        return std::make_unique<AviLattice>(linear, lattice, LatticeOptions{1, 0.0});
      });
    s_.integrator = std::move(integrator);
  }

  Simulation& s_;
  StepPlan& p_;
  const Method& method_;
  const std::vector<TermsOfOneStep>& together_;
};

}  // namespace

double StepPlan::smallest() const { return *std::ranges::min_element(wished); }

bool StepPlan::unequal() const { return differ(steps); }

bool StepPlan::may_resonate() const { return choice && !nodal.empty() && tempi::unequal(choice->lattice); }

Index StepPlan::newmark_updates(double time) const {
  return std::ssize(wished) * static_cast<Index>(std::ceil(time / smallest()));
}

Index StepPlan::updates_until(TermId term, double time) const {
  const auto i = ordinal(term);
  return choice ? update_count(choice->lattice.tick, time) / choice->lattice.ticks[i] : update_count(steps[i], time);
}

void plan_steps(Simulation& simulation, const std::vector<TermsOfOneStep>& together) {
  StepPlanner(simulation, together)();
}

}  // namespace tempi
