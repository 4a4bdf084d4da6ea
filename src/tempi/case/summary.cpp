// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "tempi/case/method_table.hpp"
#include "tempi/core/fingerprint.hpp"
#include "tempi/mesh/quality.hpp"
#include "tempi/model/steps.hpp"
#include "tempi/version.hpp"

namespace tempi {
namespace {

using Json = nlohmann::ordered_json;
#if defined(__clang__)
constexpr std::string_view compiler = "clang++ " __clang_version__;
#else
constexpr std::string_view compiler = "g++ " __VERSION__;
#endif

std::string_view name_of(Conservation c) {
  return c == Conservation::exact ? "exact" : c == Conservation::bounded ? "bounded" : "none";
}

Json momentum_json(const Summary::Momentum& m) {
  return {{"initial", m.balance.initial},
          {"final", m.balance.final},
          {"error", m.kept ? Json(m.balance.error) : Json()}};
}

Json claims_json(const Claims& c) {
  return {{"order", c.order},
          {"linear_momentum", name_of(c.linear_momentum)},
          {"angular_momentum", name_of(c.angular_momentum)},
          {"energy", name_of(c.energy)},
          {"symplectic", c.symplectic},
          {"reversible", c.reversible}};
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json lattice_json(const Summary::Lattice& l) {
  Json j = {{"rule", name_of(l.choice.rule)},
            {"coupling", name_of(l.choice.coupling)},
            {"border_updates", l.choice.border},
            {"predicted_error", number(l.choice.error)},
            {"neighbours", describe(l.choice.limit)},
            {"neighbour_ratio", number(l.choice.limit.ratio)},
            {"nodal_safety", number(l.choice.limit.nodal_safety)},
            {"tick", l.choice.lattice.tick},
            {"resonant_before", l.resonant_before}};
  if (l.trial)
    j["trial"] = {{"places", l.trial->places}, {"tried", l.trial->tried}, {"proved", l.trial->proved},
                  {"growth", l.trial->growth}, {"found", l.found},        {"grows", l.trial->grows}};
  return j;
}

Json residual_json(const Summary::Residual& r) {
  return {{"largest_accumulated", r.worst.accumulated},
          {"where", r.where},
          {"time", r.worst.time},
          {"element_energy", r.worst.term_energy},
          {"largest_element_energy", r.worst.largest_energy},
          {"ratio", r.ratio},
          {"largest_ratio_to_own_energy", r.worst.largest_ratio}};
}

// Those of cells, by their place among all.
std::vector<std::pair<std::size_t, std::string>> groups_of_cells(const Mesh& mesh) {
  std::vector<std::pair<std::size_t, std::string>> names;
  for (std::size_t g = 0; g < mesh.groups().size(); ++g) {
    const Group& group = mesh.groups()[g];
    if (!group.cells.empty()) names.emplace_back(g + 1, group.name.empty() ? std::to_string(group.tag) : group.name);
  }
  return names;
}

Summary::FollowedBody followed(const Probe& probe, const Model& model, const Mesh& mesh) {
  Summary::FollowedBody body{probe.name, 0.0, std::vector<double>(static_cast<std::size_t>(mesh.dim()), 0.0)};
  for (const NodeId a : probe.nodes) {
    body.mass += model.mass(a);
    for (std::size_t c = 0; c < body.centre.size(); ++c) body.centre[c] += model.mass(a) * mesh.point(a)[c];
  }
  for (double& x : body.centre) x /= body.mass;
  return body;
}

std::string spaced(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string text(double value, std::string_view format) {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "not a number";
}

std::string text(const Summary::Momentum& m) {
  return m.kept && std::isfinite(m.balance.error) ? fmt::format("{:.1e}", m.balance.error) : "not kept by the model";
}

double measure(const Integrator::Measures& measures, std::string_view name) {  // 0 where it is not there
  const auto found = std::ranges::find(measures, name, &std::pair<std::string, double>::first);
  return found == measures.end() ? 0.0 : found->second;
}

// Where contact was harder than its steps allow for.
std::string doubts_of_contact(const Simulation& s, const Integrator::Measures& measures) {
  if (s.model->layers().empty()) return "";
  double speed = std::numeric_limits<double>::infinity(), pairs = speed;
  for (const auto& contact : s.model->layers()) {
    if (contact->options().speed > 0.0) speed = std::min(speed, contact->options().speed);
    pairs = std::min(pairs, contact->options().pairs);
  }
  constexpr double much = 4.0;
  std::string found;
  if (const double fastest = measure(measures, "fastest_approach"); fastest > much * speed)
    found = fmt::format(
        "surfaces approached each other at up to {:.3g} m/s, and the steps of contact are for {:.3g} m/s: "
        "if energy strays, give [[contact]] a larger speed or stiffness.",
        fastest, speed);
  if (const double most = measure(measures, "pairs_at_a_vertex"); most > much * pairs)
    found += fmt::format(
        "{}up to {:.0f} pairs pushed one vertex, and the steps of contact allow for {:.0f}: if energy "
        "strays, give [[contact]] more pairs.",
        found.empty() ? "" : " ", most, pairs);
  return found;
}

// A motion that starts across the forces, or that has less energy than a step, only ever bounces off the next one: its
// terrace is flat, however small the step is.
std::string doubts_of_terraces(const Integrator::Measures& measures) {
  const double reflected = measure(measures, "reflected");
  if (reflected == 0.0 || measure(measures, "uphill") + measure(measures, "downhill") > 0.0) return "";
  return fmt::format(
      "all {:.0f} events were reflections: no step of the terrace was crossed, so no energy has gone from one form to "
      "the other. Try a smaller energy_step; where a motion starts across the forces even that may not help, and "
      "another method does.",
      reflected);
}

}  // namespace

std::string_view name_of(Status status) {
  return status == Status::completed ? "completed" : status == Status::interrupted ? "interrupted" : "failed";
}

Index total_updates(const Integrator& integrator, const Model& model) {
  Index total = 0;
  for (Index i = 0; i < model.term_count(); ++i) total += integrator.updates(make_id<TermId>(i));
  return total;
}

std::string text_of_box(const Body& body) {
  std::vector<std::string> sides;
  for (std::size_t c = 0; c < static_cast<std::size_t>(body.mesh->dim()); ++c)
    sides.push_back(body.box.length(c) ? fmt::format("{:.6g} m", *body.box.length(c)) : "free");
  const bool is_free = std::ranges::all_of(sides, [](const std::string& side) { return side == "free"; });
  return is_free ? "" : fmt::format("{}", fmt::join(sides, " x "));
}

std::optional<double> Summary::per_update(double value) const {
  if (updates.total == 0) return std::nullopt;
  return value / static_cast<double>(updates.total);
}

Summary summarise(const Simulation& s, const Balance& balance, const EnergyResidual* residual,
                  const RunFigures& figures) {
  Summary r;
  const StepPlan& plan = s.plan;
  const Engine engine = method_of(s.input.integrator).engine;
  r.status = figures.status;
  r.message = figures.message;
  r.title = s.input.title;
  r.method = s.input.integrator.method;
  r.one_step = engine == Engine::one_step || engine == Engine::stepping;
  r.particles = s.only_particles();
  r.elements = s.model->term_count();
  r.nodes = s.body.mesh->node_count();
  r.end_time = s.input.end_time;
  r.reached_time = figures.reached;
  r.updates = {0, std::numeric_limits<Index>::max(), 0};
  for (Index i = 0; i < s.model->term_count(); ++i) {
    const Index n = s.integrator->updates(make_id<TermId>(i));
    r.updates = {r.updates.total + n, std::min(r.updates.min, n), std::max(r.updates.max, n)};
  }
  r.newmark_updates = plan.newmark_updates(figures.status == Status::completed ? s.input.end_time : figures.reached);
  r.newmark_step = plan.smallest();
  r.predicted_speedup = ideal_speedup(plan.wished);
  r.smallest_step = *std::ranges::min_element(plan.steps);
  r.largest_step = *std::ranges::max_element(plan.steps);
  if (plan.choice)
    r.lattice = {*plan.choice, plan.resonant, plan.trial, plan.trial ? s.describe_trial(*plan.trial) : ""};
  r.energy = balance.energy();
  r.linear_momentum = {balance.linear_momentum(), !s.body.in_field};
  r.angular_momentum = {balance.angular_momentum(), !s.body.in_field && text_of_box(s.body).empty()};
  if (residual != nullptr) {
    const auto worst = residual->worst();
    const auto [potential, k] = s.model->term(worst.term);
    r.residual = {worst, potential->describe(k),
                  worst.largest_energy > 0.0 ? std::abs(worst.accumulated) / worst.largest_energy : 0.0};
  }
  r.measures = s.integrator->measures();
  r.step_histograms = s.integrator->step_histograms();
  if (engine == Engine::softened)
    r.measures.emplace_back("implicit_elements", static_cast<double>(plan.implicit_terms));
  r.claims = s.integrator->claims();
  auto value = figures.last_row.end();  // they end the row
  for (const PathIntegral& J : s.path_integrals) value -= figures.last_row.empty() ? 0 : J.regions();
  for (std::size_t i = 0; i < s.path_integrals.size() && !figures.last_row.empty(); ++i) {
    const auto first = std::exchange(value, value + s.path_integrals[i].regions());
    const PathIntegralInput& in = s.input.path_integrals[i];
    r.path_integrals.push_back({in.name, in.kind, {first, value}, s.path_integrals[i].length()});
  }
  for (const Probe& probe : s.probes)
    if (probe.body) r.bodies.push_back(followed(probe, *s.model, *s.body.mesh));
  r.groups = groups_of_cells(*s.body.mesh);
  r.wall_time = figures.wall_time;
  if (plan.choice) r.predicted_wall_time = s.predicted_time(*plan.choice);
  r.has_layers = !s.model->layers().empty();
  if (plan.trial) r.trial_time = plan.trial_time;
  r.start_time = figures.start_time;
  r.history_time = figures.history_time;
  r.frame_time = figures.frame_time;
  r.tries = s.tries;
  r.tries_time = figures.tries_time;
  r.total_time = figures.total_time;
  r.resumed = figures.resumed;
  r.threads = figures.threads;
  r.warnings = s.warnings;
  r.caution = s.caution();
  const double kept_within = r.energy.reference > 0.0 ? s.integrator->energy_resolution() / r.energy.reference : 0.0;
  // Where a load is there at once, equilibrium is a jump, and its work along a straight line is no energy's.
  if (!method_of(s.input.integrator).quasi_static && !(r.energy.band <= 0.2 + kept_within))  // nor is "not a number"
    r.caution = fmt::format("the energy strays by {} of its reference: {}. {}", text(r.energy.band, "{:.2g}"),
                            r.claims.energy == Conservation::none
                                ? fmt::format("{} does not keep it, the less the larger its steps", r.method)
                                : "the steps are too large for this motion",
                            r.caution);
  for (const std::string& found : {doubts_of_contact(s, r.measures), doubts_of_terraces(r.measures)})
    if (!found.empty()) r.caution = found + (r.caution.empty() ? "" : " " + r.caution);
  r.fingerprint = fingerprint(*s.body.mesh);
  r.case_fingerprint = fingerprint(std::as_bytes(std::span(s.input.identity)));
  r.text = s.input.text;
  return r;
}

std::string to_json(const Summary& r) {
  Json j;
  j["status"] = name_of(r.status);
  if (!r.message.empty()) j["message"] = r.message;
  j["title"] = r.title;
  j["method"] = r.method;
  j["version"] = version;
  j["elements"] = r.elements;
  j["nodes"] = r.nodes;
  j["end_time"] = r.end_time;
  j["reached_time"] = r.reached_time;
  j["updates"] = {{"total", r.updates.total}, {"min", r.updates.min}, {"max", r.updates.max}};
  j["newmark_updates"] = r.newmark_updates;
  j["newmark_step"] = r.newmark_step;
  j["predicted_speedup"] = r.predicted_speedup;
  j["counted_speedup"] = number(r.per_update(static_cast<double>(r.newmark_updates)));
  j["step"] = {{"min", r.smallest_step}, {"max", r.largest_step}};
  if (r.lattice) j["lattice"] = lattice_json(*r.lattice);
  const Balance::Energy& e = r.energy;
  j["energy"] = {{"initial", e.initial}, {"final", e.final},        {"min", e.min}, {"max", e.max}, {"drift", e.drift},
                 {"band", e.band},       {"reference", e.reference}};
  j["linear_momentum"] = momentum_json(r.linear_momentum);
  j["angular_momentum"] = momentum_json(r.angular_momentum);
  if (r.residual) j["energy_residual"] = residual_json(*r.residual);
  if (!r.measures.empty()) j["measures"] = Json::object();
  for (const auto& [name, value] : r.measures) j["measures"][name] = value;
  for (const auto& [of, edges, counts] : r.step_histograms)
    j["step_histograms"].push_back({{"of", of}, {"edges", edges}, {"counts", counts}});
  for (const Summary::Defect& defect : r.path_integrals) {
    j["path_integrals"][defect.name] = {{defect.kind, defect.values}};
    if (defect.kind == "J") j["path_integrals"][defect.name]["length"] = defect.length;
  }
  for (const Summary::FollowedBody& body : r.bodies)
    j["bodies"].push_back({{"name", body.name}, {"mass", body.mass}, {"centre", body.centre}});
  j["claims"] = claims_json(r.claims);
  j["groups"] = Json::object();
  for (const auto& [place, name] : r.groups) j["groups"][std::to_string(place)] = name;
  j["wall_time"] = r.wall_time;
  if (r.predicted_wall_time) j["predicted_wall_time"] = *r.predicted_wall_time;
  if (r.trial_time) j["trial_time"] = *r.trial_time;
  j["start_time"] = r.start_time;
  j["history_time"] = r.history_time;
  j["frame_time"] = r.frame_time;
  for (const EarlierTry& earlier : r.tries)
    j["tries"].push_back({{"safety", earlier.safety}, {"time", earlier.time}, {"message", earlier.message}});
  if (!r.tries.empty()) j["tries_time"] = r.tries_time;
  j["total_time"] = r.total_time;
  j["resumed"] = r.resumed;
  j["time_per_update"] = number(r.per_update(r.wall_time));
  j["threads"] = r.threads;
  j["warnings"] = r.warnings;
  if (!r.caution.empty()) j["caution"] = r.caution;
  j["git_hash"] = git_hash;
  j["compiler"] = compiler;
  j[r.particles ? "particles_fingerprint" : "mesh_fingerprint"] = fmt::format("{:016x}", r.fingerprint);
  j["case_fingerprint"] = fmt::format("{:016x}", r.case_fingerprint);
  j["case"] = r.text;
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_text(const Summary& r) {
  std::string out = fmt::format("{}: {}, {} of {} {}, {} {}\n", r.title, name_of(r.status), r.method, r.elements,
                                r.particles ? "forces" : "elements", r.nodes, r.particles ? "particles" : "nodes");
  out += fmt::format("  time            {:.6g} s of {:.6g} s\n", r.reached_time, r.end_time);
  if (r.one_step) {
    out += fmt::format("  steps           {}\n", r.updates.max);
  } else {
    out += fmt::format("  updates         {} in all, {} to {} per element; Newmark would need {}\n", r.updates.total,
                       r.updates.min, r.updates.max, r.newmark_updates);
    if (const auto saving = r.per_update(static_cast<double>(r.newmark_updates)))
      out += fmt::format("  saving          {:.3f} x in updates ({} {:.3f})\n", *saving,
                         r.lattice ? "before rounding to the lattice" : "predicted", r.predicted_speedup);
  }
  for (const auto& [name, value] : r.measures)
    if (std::isfinite(value) && name != "steps") out += fmt::format("  {:<15} {:.6g}\n", spaced(name), value);
  out += fmt::format("  energy          {} J, band {}, drift {}\n", text(r.energy.initial, "{:.6g}"),
                     text(r.energy.band, "{:.2e}"), text(r.energy.drift, "{:.2e}"));
  out += fmt::format("  momentum error  linear {}, angular {}\n", text(r.linear_momentum), text(r.angular_momentum));
  if (r.residual)
    out += fmt::format("  local residual  {} of the largest element energy\n", text(r.residual->ratio, "{:.2e}"));
  if (r.lattice && r.lattice->trial)
    out += fmt::format("  steps           {}, {}, neighbours: {}; tried before the run: {}\n",
                       name_of(r.lattice->choice.rule), name_of(r.lattice->choice.coupling),
                       describe(r.lattice->choice.limit), r.lattice->found);
  out += fmt::format(
      "  took            {:.3g} s: {:.3g} s updates{}, {:.2g} s history, {:.2g} s frames, {:.2g} s start{}\n",
      r.total_time, r.wall_time,
      r.predicted_wall_time
          ? fmt::format(" (predicted {:.3g} s{})", *r.predicted_wall_time, r.has_layers ? " without contact" : "")
          : "",
      r.history_time, r.frame_time, r.start_time,
      r.tries.empty() ? "" : fmt::format(", {:.3g} s with larger steps", r.tries_time));
  if (const auto each = r.per_update(r.wall_time)) out += fmt::format("  one update      {:.3g} us\n", 1e6 * *each);
  return out;
}

}  // namespace tempi
