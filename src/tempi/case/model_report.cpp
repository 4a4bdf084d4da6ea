// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/model_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "tempi/case/method_table.hpp"
#include "tempi/case/summary.hpp"
#include "tempi/mesh/doubts.hpp"
#include "tempi/mesh/quality.hpp"
#include "tempi/model/steps.hpp"

namespace tempi {
namespace {

std::string duration(double seconds) {
  if (std::isnan(seconds)) return "unknown";
  if (seconds < 120.0) return fmt::format("{:.3g} s", seconds);
  return seconds < 7200.0 ? fmt::format("{:.3g} min", seconds / 60.0) : fmt::format("{:.4g} h", seconds / 3600.0);
}

// Of frequencies, the mean over uniform strains.
std::string mean_error(const StepChoice& c) {
  return c.stiffness.of_strain.empty() ? "" : fmt::format("{:.1e}", 0.5 * c.stiffness.mean());
}

// Of the steps that are taken, the errors of stiffness, strain by strain.
std::string stiffness_errors(const StepChoice& c, int dim) {
  if (c.stiffness.of_strain.empty()) return "";
  std::string out = "  note: stiffness is predicted to be off by ";
  std::size_t k = 0;
  for (int i = 0; i < dim; ++i)
    for (int j = i; j < dim; ++j, ++k)
      out += fmt::format("{}{:.1e} ({}{})", k == 0 ? "" : ", ", c.stiffness.of_strain[k], "xyz"[i], "xyz"[j]);
  return out + " in uniform strain, frequencies by half of that\n";
}

struct Evidence {
  std::string coupling, error, mean, stability;
};

std::string line_of_choice(bool chosen, std::string_view lattice, const NeighbourLimit& limit, double saving,
                           double seconds, const Evidence& known) {
  return fmt::format("  {} {:<26} {:>10} {:>8.2f} {:>10} {:>10} {:>8} {:>8}  {}\n", chosen ? '*' : ' ', lattice,
                     describe(limit), saving, duration(seconds), known.coupling, known.error, known.mean,
                     known.stability);
}

// Every way to choose the steps: updates saved against Newmark at the element limit, time, the error that asynchrony
// makes in frequencies of smooth motion (in the worst uniform strain, and the mean of all), what is known of stability.
std::string table_of_choices(const Simulation& s) {
  const StepWish wish = s.step_wish(s.plan.own);
  const double element_limit = *std::ranges::min_element(s.plan.own);  // times safety, or as the steps are chosen
  std::string out = fmt::format("  mass shares {}\n  {:<28} {:>10} {:>8} {:>10} {:>10} {:>8} {:>8}  {}\n",
                                name_of(s.model->share_rule()), "choices of steps", "neighbours", "saving", "time",
                                "coupling", "error", "mean", "stability");
  const auto add = [&](const StepChoice& c, bool chosen) {
    constexpr Index many = 200'000;  // terms: beyond, each row would take a second
    const std::string found = chosen && s.plan.trial ? s.describe_trial(*s.plan.trial)
                              : s.model->term_count() > many
                                  ? "tried when chosen"
                                  : s.describe_trial(s.try_lattice(*s.model, c.lattice, c.coupling, 0.0));
    out += line_of_choice(chosen, name_of(c.rule), c.limit, c.saving, s.predicted_time(c),
                          {name_of(c.coupling), c.error ? fmt::format("{:.1e}", *c.error) : "", mean_error(c), found});
  };
  const Method& method = method_of(s.input.integrator);
  const bool strikes = method.engine == Engine::strikes, asynchronous = strikes && method.asynchronous;
  const bool on_lattice = asynchronous && s.plan.choice.has_value();
  std::vector<StepChoice> choices;
  std::optional<std::size_t> taken;
  for (const LatticeRule rule :
       {LatticeRule::powers_of_two, LatticeRule::powers_of_three, LatticeRule::twos_and_threes, LatticeRule::any}) {
    std::vector<NeighbourLimit> limits = {{}};
    if (nests(rule)) limits.push_back(attempts().front().limit);
    if (on_lattice && s.plan.choice->rule == rule && std::ranges::find(limits, s.plan.choice->limit) == limits.end())
      limits.push_back(s.plan.choice->limit);
    for (const NeighbourLimit& limit : limits) {
      const bool chosen = on_lattice && s.plan.choice->rule == rule && s.plan.choice->limit == limit;
      if (chosen) taken = choices.size();
      choices.push_back(chosen ? *s.plan.choice : choice_of(wish, rule, limit));
      if (!chosen || !nests(rule)) continue;
      StepWish other = wish;  // the one that is taken with the other coupling, too
      other.part = choices.back().part;
      other.coupling = choices.back().coupling == Coupling::plain ? Coupling::mollified : Coupling::plain;
      StepChoice with = choice_of(other, rule, limit);
      if (with.coupling == other.coupling) choices.push_back(std::move(with));
    }
  }
  predict_errors(*s.model, s.state.displacement, s.plan.safety, choices, s.threads);
  for (std::size_t i = 0; i < choices.size(); ++i) add(choices[i], i == taken);
  const std::string of_taken = taken ? stiffness_errors(choices[*taken], s.body.mesh->dim()) : "";
  const bool newmark_itself = strikes && !asynchronous;
  const std::vector<double> costs = s.costs_per_update();
  const double exact = cost_on_queue(costs, wish.steps);  // [ns] per simulated second
  double newmark = 0.0;                                   // the same
  for (const double cost : costs) newmark += cost / element_limit;
  const double scale = s.time_factor() * s.input.end_time;
  const bool layered = !s.model->layers().empty();
  const std::string refused = "takes no contact by layers";
  const auto others = [&](const char* stability) { return layered ? refused : stability; };
  out +=
      line_of_choice(asynchronous && !s.plan.choice, "exact", {}, ideal_speedup(wish.steps), exact * scale,
                     {"plain", "", "", others(asynchronous && !s.plan.choice ? "see the note" : "tried when chosen")});
  out += line_of_choice(newmark_itself && s.input.integrator.options.newmark_limit == "element",
                        "newmark, element limit", {}, 1.0, newmark * scale, {"", "", "", others("stable")});
  const bool used = newmark_itself && s.input.integrator.options.newmark_limit == "assembled";
  if (!s.input.integrator.safety) return out + of_taken;
  const double step = used ? s.plan.smallest() : *s.input.integrator.safety * s.assembled_limit();
  out += line_of_choice(used, "newmark, assembled limit", {}, step / element_limit,
                        newmark * scale * element_limit / step, {"", "", "", others("stable")});
  if (on_lattice && !layered && newmark * scale * element_limit / step < s.predicted_time(*s.plan.choice))
    out +=
        "  note: newmark is predicted to be faster here, and has no error of asynchrony: method = \"newmark\", "
        "newmark_limit = \"assembled\"\n";
  return out + of_taken;
}

}  // namespace

namespace {

// What an explicit method's steps are, and how many updates.
std::string steps_and_updates(const Simulation& s) {
  const auto largest_step = *std::ranges::max_element(s.plan.steps);
  const double smallest_step = s.plan.choice ? s.plan.smallest() : *std::ranges::min_element(s.plan.steps);
  std::string out = fmt::format("  steps    {:.6g} s to {:.6g} s, ratio {:.3g}\n", smallest_step, largest_step,
                                largest_step / smallest_step);
  Index avi = 0;
  for (Index i = 0; i < s.model->term_count(); ++i) avi += s.plan.updates_until(make_id<TermId>(i), s.input.end_time);
  const Method& method = method_of(s.input.integrator);
  const bool synchronous = !method.asynchronous;
  out += fmt::format("  updates until {:.6g} s\n", s.input.end_time);
  if (!synchronous) out += fmt::format("    {:<8} {:>16}\n", s.input.integrator.method, avi);
  out += fmt::format("    {:<8} {:>16}\n", synchronous ? s.input.integrator.method : "newmark",
                     s.plan.newmark_updates(s.input.end_time));
  if (!synchronous) {
    const double before = ideal_speedup(s.plan.wished), with = s.plan.choice ? s.plan.choice->saving : before;
    out += fmt::format("  predicted saving in updates: {:.3f}", with);
    if (s.plan.choice) out += fmt::format(" on the lattice, {:.3f} before rounding to it", before);
    out += "\n";
  }
  return out;
}

// Of methods without steps.
std::string events(const Simulation& s, const Prediction& time) {
  const double steps = s.integrator->energy_resolution();
  const std::string levels =
      steps > 0.0 ? fmt::format("  energy   in steps of {:.6g} J, of all subdomains together\n", steps) : "";
  if (time.events == 0.0)
    return levels + "  events   none at the start, where nothing deforms: how many there will be is not known\n";
  return fmt::format("{}  events   {:.3g} until {:.6g} s, if there are as many a second as at the start\n", levels,
                     time.events, s.input.end_time);
}

std::string domains(const DomainPlan& plan) {
  std::string out = fmt::format("  system   steps of {:.6g} s\n", plan.step);
  for (std::size_t d = 0; d < plan.about.size(); ++d) {
    const DomainPlan::About& about = plan.about[d];
    const DomainRule& rule = plan.domains.rules[d];
    out += fmt::format("  domain   {}: {} terms, {} a system step of {:.6g} s, {} (its elements' limit {:.6g} s)\n",
                       about.name, about.terms,
                       rule.substeps == 1 ? "one step" : fmt::format("{} substeps", rule.substeps),
                       plan.step / rule.substeps,
                       !rule.ticks.empty()  ? "avi within"
                       : rule.is_explicit() ? "explicit"
                                            : fmt::format("implicit, alpha {:g}", rule.alpha),
                       about.limit);
  }
  if (!plan.domains.ties.empty())
    out += fmt::format("  tied     {} nodes, at most {:.3g} m from what they follow\n", plan.domains.ties.size(),
                       plan.largest_gap);
  return out;
}

const Mesh& elastic(const Simulation& s) { return s.body.elastic ? *s.body.elastic : *s.body.mesh; }

}  // namespace

std::string describe_model(Simulation s) {
  double mass = 0.0;
  for (const double m : s.model->mass()) mass += m;
  std::string out = s.input.title + "\n";
  if (s.only_particles())
    out += fmt::format("  model    {} particles, {}-D, {}\n", s.body.mesh->node_count(), s.body.mesh->dim(),
                       text_of_box(s.body).empty() ? "in free space" : "in a periodic box of " + text_of_box(s.body));
  else
    out += fmt::format("  mesh     {} cells, {} nodes, {}-D, from {} m\n", elastic(s).cells().size(),
                       elastic(s).node_count(), elastic(s).dim(), text_of(extent(elastic(s)), elastic(s).dim()));
  if (s.body.elastic)
    out += fmt::format("  beside   {} particles\n", s.body.mesh->node_count() - s.body.first_particle);
  for (const ElasticCells* cells : s.body.cells) {
    const Lame lame = lame_of(cells->material());
    const auto name = std::visit([](const auto& m) { return m.name; }, cells->material());
    out += fmt::format(
        "  cells    {} of type {}, {}: lambda {:.6g} Pa, mu {:.6g} Pa, density {:.6g} kg/m^3, wave speed {:.6g} m/s\n",
        cells->size(), info(s.body.mesh->cells().types[ordinal(cells->cell(0))]).name, name, lame.lambda, lame.mu,
        cells->density(), dilatational_wave_speed(lame, cells->density()));
    if (cells->thickness() > 0.0)
      out += fmt::format("           thickness {:.6g} m, bending stiffness {:.6g} J\n", cells->thickness(),
                         bending_stiffness({cells->material(), cells->density(), cells->thickness()}));
  }
  for (auto at = s.body.forces.begin(); at != s.body.forces.end();) {  // a hertz potential for each kind of pair
    const auto first = at;
    Index terms = 0;
    for (; at != s.body.forces.end() && at->first == first->first; ++at) terms += at->second;
    out += fmt::format("  forces   {}: {} terms{}\n", first->first, terms,
                       at - first > 1 ? fmt::format(" in {} potentials", at - first) : "");
  }
  for (const auto& contact : s.model->layers()) {
    const LayerOptions& o = contact->options();
    const ContactSurface& surface = contact->surface();
    out += fmt::format(
        "  contact  {} faces, {} edges, {} vertices; layers from {:.4g} to {:.4g} m, the first of {:.4g} J/m^{:.3g}, "
        "barrier {:.3g} J, each next twice that, for speeds to {:.3g} m/s\n",
        surface.face_count(), surface.edge_count(), surface.vertices().size(), o.law.outer, o.law.inner,
        o.law.stiffness, o.law.exponent, o.law.barrier(0), o.speed);
    const auto [shortest, longest] = contact->range_of_steps();
    constexpr double pairs = 1000.0, fast = 1e-7, slow = 1e-6;  // a strike takes that long [s], docs/contact.md
    const double strikes = pairs * s.input.end_time / shortest;
    out += fmt::format(
        "           first steps {:.4g} to {:.4g} s, each next half of that; the time below is of a run in which nobody "
        "touches: {} pairs that touch all the time strike {:.2g} times, which takes {:.2g} to {:.2g} s more\n",
        shortest, longest, pairs, strikes, fast * strikes, slow * strikes);
  }
  for (const HardWall& wall : s.body.walls)
    out += fmt::format("  wall     for {} nodes, which do not pass it\n", wall.nodes.size());
  out += fmt::format("  mass     {:.6g} kg{}\n", mass,
                     s.only_particles()        ? ""
                     : s.body.mesh->dim() == 2 ? "/m"
                     : s.body.mesh->dim() == 1 ? "/m^2"
                                               : "");
  for (Index i = 0; i < s.model->supports().size(); ++i)
    out += fmt::format("  support  {}: {} nodes\n", s.model->supports()[i].name, s.model->supports()[i].nodes.size());
  for (const ConstraintInput& c : s.input.constraints) out += fmt::format("  held     {} constraint\n", c.type);
  if (!s.model->constraints().empty())
    out += fmt::format("           {} equations in all\n", s.model->constraints().size());
  for (const DampingInput& d : s.input.dampings) out += fmt::format("  damping  {}\n", d.type);
  for (std::size_t i = 0; i < s.path_integrals.size(); ++i) {
    const PathIntegralInput& in = s.input.path_integrals[i];
    out += fmt::format("  path     {}: {} of {} {} about {} nodes{}\n", in.name, in.kind, s.path_integrals[i].regions(),
                       in.contours.empty() ? "rings" : "contours", s.path_integrals[i].front().size(),
                       in.kind == "J" && s.body.mesh->dim() == 3
                           ? fmt::format(", {:.6g} m of front", s.path_integrals[i].length())
                           : "");
  }
  if (s.plan.domains) out += domains(*s.plan.domains);
  const Method& method = method_of(s.input.integrator);
  const Prediction time = predict(s);
  out += method.engine == Engine::stepping ? events(s, time) : steps_and_updates(s);
  const auto counted = [](int count, bool chosen, const char* what) {
    return fmt::format("{} {}{}", count + 1, what, chosen ? ", chosen so that they take about a twentieth" : "");
  };
  out += fmt::format("  time here {}: {} updates, {} history ({}), {} frames ({}), {} start\n", duration(time.total()),
                     duration(time.updates), duration(time.history),
                     counted(s.outputs.rows, s.outputs.rows_chosen, "rows"), duration(time.frames),
                     s.outputs.frames == 0 ? "none" : counted(s.outputs.frames, s.outputs.frames_chosen, "frames"),
                     duration(time.start));
  if (method.engine != Engine::one_step && method.engine != Engine::stepping) out += table_of_choices(s);
  for (const std::string& before : s.plan.resonant) out += fmt::format("  tried and left: {}\n", before);
  if (const std::string caution = s.caution(); !caution.empty()) out += fmt::format("  note: {}\n", caution);
  return out;
}

}  // namespace tempi
