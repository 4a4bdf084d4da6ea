// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tempi/case/method_choice.hpp"
#include "tempi/mesh/quality.hpp"
#include "tempi/version.hpp"

namespace tempi {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* axes = "xyz";
#if defined(__clang__)
constexpr std::string_view compiler = "clang++ " __clang_version__;
#else
constexpr std::string_view compiler = "g++ " __VERSION__;
#endif

std::vector<double> mean_of(const std::vector<double>& values, const std::vector<NodeId>& nodes, int dim) {
  std::vector<double> mean(static_cast<std::size_t>(dim), 0.0);
  for (const NodeId a : nodes)
    for (std::size_t c = 0; c < mean.size(); ++c)
      mean[c] += values[static_cast<std::size_t>(index(a) * dim) + c] / static_cast<double>(nodes.size());
  return mean;
}

// dim components a node, filled up to three.
std::vector<double> three_components(std::span<const double> values, int dim) {
  std::vector<double> out(values.size() / static_cast<std::size_t>(dim) * 3, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i)
    out[i / static_cast<std::size_t>(dim) * 3 + i % static_cast<std::size_t>(dim)] = values[i];
  return out;
}

double von_mises(const std::array<double, 6>& s) {
  const double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
  return std::sqrt(0.5 * (a * a + b * b + c * c) + 3.0 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}

std::vector<std::int64_t> group_of_cells(const Mesh& mesh) {
  std::vector<std::int64_t> group(static_cast<std::size_t>(mesh.cells().size()), 0);
  for (std::size_t g = mesh.groups().size(); g > 0; --g)  // the first group of a cell wins
    for (const CellId c : mesh.groups()[g - 1].cells)
      group[static_cast<std::size_t>(index(c))] = static_cast<std::int64_t>(g);
  return group;
}

Json group_names(const Mesh& mesh) {
  Json names = Json::object();
  for (std::size_t g = 0; g < mesh.groups().size(); ++g) {
    const Group& group = mesh.groups()[g];
    if (!group.cells.empty())
      names[std::to_string(g + 1)] = group.name.empty() ? std::to_string(group.tag) : group.name;
  }
  return names;
}

std::string_view name_of(Status status) {
  return status == Status::completed ? "completed" : status == Status::interrupted ? "interrupted" : "failed";
}

std::string_view name_of(Conservation c) {
  return c == Conservation::exact ? "exact" : c == Conservation::bounded ? "bounded" : "none";
}

// "2 m x free"; empty in free space.
std::string text_of_box(const Simulation& s) {
  std::vector<std::string> sides;
  for (std::size_t c = 0; c < static_cast<std::size_t>(s.mesh->dim()); ++c)
    sides.push_back(s.box.length(c) ? fmt::format("{:.6g} m", *s.box.length(c)) : "free");
  const bool is_free = std::ranges::all_of(sides, [](const std::string& side) { return side == "free"; });
  return is_free ? "" : fmt::format("{}", fmt::join(sides, " x "));
}

// `kept`: by the model; otherwise a change is no error.
Json momentum_json(const Balance::Momentum& m, bool kept) {
  return {{"initial", m.initial}, {"final", m.final}, {"error", kept ? Json(m.error) : Json()}};
}

Json claims_json(const Claims& c) {
  return {{"order", c.order},
          {"linear_momentum", name_of(c.linear_momentum)},
          {"angular_momentum", name_of(c.angular_momentum)},
          {"energy", name_of(c.energy)},
          {"symplectic", c.symplectic},
          {"reversible", c.reversible}};
}

Json lattice_json(const Simulation& s) {
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  Json j = {{"rule", name_of(s.choice->rule)},
            {"neighbours", describe(s.choice->limit)},
            {"neighbour_ratio", number(s.choice->limit.ratio)},
            {"nodal_safety", number(s.choice->limit.nodal_safety)},
            {"tick", s.choice->lattice.tick},
            {"resonant_before", s.resonant}};
  if (s.trial)
    j["trial"] = {{"places", s.trial->places},           {"tried", s.trial->tried},
                  {"proved", s.trial->proved},           {"growth", s.trial->growth},
                  {"found", s.describe_trial(*s.trial)}, {"grows", s.trial->grows}};
  return j;
}

Json residual_json(const Simulation& s, const EnergyResidual& residual) {
  const auto w = residual.worst();
  const auto [potential, k] = s.model->term(w.term);
  return {{"largest_accumulated", w.accumulated},
          {"where", potential->describe(k)},
          {"time", w.time},
          {"element_energy", w.term_energy},
          {"largest_element_energy", w.largest_energy},
          {"ratio", w.largest_energy > 0.0 ? std::abs(w.accumulated) / w.largest_energy : 0.0},
          {"largest_ratio_to_own_energy", w.largest_ratio}};
}

}  // namespace

Index total_updates(const Integrator& integrator, const Model& model) {
  Index total = 0;
  for (Index i = 0; i < model.term_count(); ++i) total += integrator.updates(make_id<TermId>(i));
  return total;
}

std::vector<std::string> history_columns(const Simulation& s) {
  std::vector<std::string> names = {"time", "kinetic_energy", "potential_energy", "total_energy", "external_work"};
  if (s.model->has_dampers()) names.emplace_back("damping_work");
  for (const char* momentum : {"linear_momentum", "angular_momentum"})
    for (int c = 0; c < 3; ++c) names.push_back(fmt::format("{}_{}", momentum, axes[c]));
  for (Index i = 0; i < s.model->supports().size(); ++i)
    for (int c = 0; c < s.mesh->dim(); ++c)
      names.push_back(fmt::format("{}.reaction_{}", s.model->supports()[i].name, axes[c]));
  for (const Probe& probe : s.probes)
    for (const char* what : {"displacement", "velocity"})
      for (int c = 0; c < s.mesh->dim(); ++c) names.push_back(fmt::format("{}.{}_{}", probe.name, what, axes[c]));
  return names;
}

std::vector<double> history_row(const Simulation& s, const Snapshot& snapshot, const Sample& now) {
  const int dim = s.mesh->dim();
  std::vector<double> row = {now.time, now.energy.kinetic, now.energy.potential,
                             now.energy.kinetic + now.energy.potential, now.external_work};
  if (s.model->has_dampers()) row.push_back(now.damping_work);
  row.insert(row.end(), now.momentum.linear.begin(), now.momentum.linear.end());
  row.insert(row.end(), now.momentum.angular.begin(), now.momentum.angular.end());
  for (const auto& r : reactions(*s.model, snapshot, s.difference_spacing()))
    row.insert(row.end(), r.begin(), r.begin() + dim);
  for (const Probe& probe : s.probes)
    for (const auto* values : {&snapshot.state.displacement, &snapshot.state.velocity}) {
      const auto mean = mean_of(*values, probe.nodes, dim);
      row.insert(row.end(), mean.begin(), mean.end());
    }
  return row;
}

namespace {

// Calls use(u) with the nodes of a term where it acts, and puts them back in u.
template <class Use>
void where_it_acts(const Simulation& s, TermId term, std::vector<double>& u, Use&& use) {
  const auto d = static_cast<std::size_t>(s.mesh->dim());
  const auto nodes = s.model->term(term).stencil();
  std::vector<double> kept;
  for (const NodeId a : nodes)
    for (std::size_t c = 0; c < d; ++c) kept.push_back(u[static_cast<std::size_t>(index(a)) * d + c]);
  s.integrator->act_at(term, u);
  use(std::span<const double>(u));
  auto value = kept.begin();
  for (const NodeId a : nodes)
    for (std::size_t c = 0; c < d; ++c) u[static_cast<std::size_t>(index(a)) * d + c] = *value++;
}

void add_stresses(const Simulation& s, const Snapshot& snapshot, Frame& frame) {
  const auto cells = static_cast<std::size_t>(s.mesh->cells().size());
  std::vector<double> u = snapshot.state.displacement;
  Index term = 0;
  std::vector<double> stress(6 * cells), mises(cells);
  for (const ElasticCells* potential : s.cells)
    for (Index k = 0; k < potential->size(); ++k, ++term) {
      const auto c = static_cast<std::size_t>(index(potential->cell(k)));
      where_it_acts(s, make_id<TermId>(term), u, [&](std::span<const double> x) {
        const auto sigma = potential->cauchy_stress(k, x);
        std::ranges::copy(sigma, stress.begin() + static_cast<std::ptrdiff_t>(6 * c));
        mises[c] = von_mises(sigma);
      });
    }
  frame.cell_data.push_back({"stress", 6, std::move(stress), {"XX", "YY", "ZZ", "XY", "YZ", "XZ"}});
  frame.cell_data.push_back({"von_mises", 1, std::move(mises), {}});
}

}  // namespace

Frame make_frame(const Simulation& s, const Snapshot& snapshot, const EnergyResidual* residual) {
  const auto cells = static_cast<std::size_t>(s.mesh->cells().size());
  Frame frame;
  frame.time = snapshot.time;
  std::vector<double> position = snapshot.state.displacement;
  for (std::size_t i = 0; i < position.size(); ++i) position[i] += s.mesh->points()[i];
  frame.points = three_components(position, s.mesh->dim());
  const std::vector<double> mass(s.model->mass().begin(), s.model->mass().end());
  frame.point_data = {{"displacement", 3, three_components(snapshot.state.displacement, s.mesh->dim()), {}},
                      {"velocity", 3, three_components(snapshot.state.velocity, s.mesh->dim()), {}},
                      {"mass", 1, mass, {}}};
  std::vector<double> step(cells), strain_energy(cells), accumulated(cells), last(cells);
  std::vector<std::int64_t> updates(cells);
  const std::vector<Index> term_of_cell = s.term_of_cell();
  std::vector<double> u = snapshot.state.displacement;
  for (std::size_t c = 0; c < cells; ++c) {
    if (term_of_cell[c] < 0) continue;
    const auto i = static_cast<std::size_t>(term_of_cell[c]);
    const auto id = make_id<TermId>(term_of_cell[c]);
    updates[c] = s.integrator->updates(id);
    step[c] = s.integrator->step(id);
    const auto [potential, k] = s.model->term(id);
    where_it_acts(s, id, u, [&, term = k, of = potential](std::span<const double> x) {
      strain_energy[c] = of->energy(term, x, snapshot.time);
    });
    if (residual != nullptr) {
      accumulated[c] = residual->accumulated()[i];
      last[c] = residual->last()[i];
    }
  }
  frame.integer_cell_data = {{"updates", std::move(updates)}, {"group", group_of_cells(*s.mesh)}};
  frame.cell_data = {{"step", 1, std::move(step), {}},
                     {s.has_particles() ? "energy" : "strain_energy", 1, std::move(strain_energy), {}}};
  if (!s.has_particles()) add_stresses(s, snapshot, frame);
  if (residual != nullptr) {
    frame.cell_data.push_back({"energy_residual", 1, std::move(accumulated), {}});
    frame.cell_data.push_back({"energy_residual_last", 1, std::move(last), {}});
  }
  return frame;
}

std::string summary_json(const Simulation& s, const Balance& balance, const EnergyResidual* residual,
                         const RunFigures& figures) {
  Index total = 0, least = std::numeric_limits<Index>::max(), most = 0;
  for (Index i = 0; i < s.model->term_count(); ++i) {
    const Index n = s.integrator->updates(make_id<TermId>(i));
    total += n;
    least = std::min(least, n);
    most = std::max(most, n);
  }
  const auto per_update = [&](double value) { return total > 0 ? Json(value / static_cast<double>(total)) : Json(); };
  const Balance::Energy e = balance.energy();
  const auto largest_step = *std::ranges::max_element(s.steps);
  Json j;
  j["status"] = name_of(figures.status);
  if (!figures.message.empty()) j["message"] = figures.message;
  j["title"] = s.input.title;
  j["method"] = s.input.integrator.method;
  j["version"] = version;
  j["elements"] = s.model->term_count();
  j["nodes"] = s.mesh->node_count();
  j["end_time"] = s.input.end_time;
  j["reached_time"] = figures.reached;
  j["updates"] = {{"total", total}, {"min", least}, {"max", most}};
  const Index newmark = s.newmark_updates(figures.status == Status::completed ? s.input.end_time : figures.reached);
  j["newmark_updates"] = newmark;
  j["newmark_step"] = s.smallest_step();
  j["predicted_speedup"] = ideal_speedup(s.wished_steps);
  j["counted_speedup"] = per_update(static_cast<double>(newmark));
  j["step"] = {{"min", *std::ranges::min_element(s.steps)}, {"max", largest_step}};
  if (s.choice) j["lattice"] = lattice_json(s);
  j["energy"] = {{"initial", e.initial}, {"final", e.final},        {"min", e.min}, {"max", e.max}, {"drift", e.drift},
                 {"band", e.band},       {"reference", e.reference}};
  j["linear_momentum"] = momentum_json(balance.linear_momentum(), !s.in_field);
  j["angular_momentum"] = momentum_json(balance.angular_momentum(), !s.in_field && text_of_box(s).empty());
  if (residual != nullptr) j["energy_residual"] = residual_json(s, *residual);
  if (const auto measures = s.integrator->measures(); !measures.empty()) {
    j["measures"] = Json::object();
    for (const auto& [name, value] : measures) j["measures"][name] = value;
  }
  if (s.input.integrator.method == "avi-implicit") j["measures"]["implicit_elements"] = s.implicit_terms;
  j["claims"] = claims_json(s.integrator->claims());
  j["groups"] = group_names(*s.mesh);
  j["wall_time"] = figures.wall_time;
  if (s.choice) j["predicted_wall_time"] = s.predicted_time(*s.choice);
  if (s.trial) j["trial_time"] = s.trial_time;
  j["total_time"] = figures.total_time;
  j["time_per_update"] = per_update(figures.wall_time);
  j["threads"] = figures.threads;
  j["warnings"] = s.warnings;
  std::string caution = s.caution();
  if (e.band > 0.2 && s.integrator->claims().energy != Conservation::none)
    caution = fmt::format("the energy strays by {:.2g} of its reference: the steps are too large for this motion. {}",
                          e.band, caution);
  if (!caution.empty()) j["caution"] = caution;
  j["git_hash"] = git_hash;
  j["compiler"] = compiler;
  j[s.has_particles() ? "particles_fingerprint" : "mesh_fingerprint"] = fmt::format("{:016x}", fingerprint(*s.mesh));
  j["case"] = s.input.text;
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

namespace {

std::string spaced(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

}  // namespace

std::string describe_result(const std::string& summary) {
  const Json j = Json::parse(summary);
  const auto& e = j["energy"];
  const bool particles = j.contains("particles_fingerprint");
  std::string out =
      fmt::format("{}: {}, {} of {} {}, {} {}\n", j["title"].get<std::string>(), j["status"].get<std::string>(),
                  j["method"].get<std::string>(), j["elements"].get<Index>(), particles ? "forces" : "elements",
                  j["nodes"].get<Index>(), particles ? "particles" : "nodes");
  out += fmt::format("  time            {:.6g} s of {:.6g} s\n", j["reached_time"].get<double>(),
                     j["end_time"].get<double>());
  if (is_synchronous(j["method"].get<std::string>()) && j["method"] != "newmark") {
    out += fmt::format("  steps           {}\n", j["updates"]["max"].get<Index>());
  } else {
    out += fmt::format("  updates         {} in all, {} to {} per element; Newmark would need {}\n",
                       j["updates"]["total"].get<Index>(), j["updates"]["min"].get<Index>(),
                       j["updates"]["max"].get<Index>(), j["newmark_updates"].get<Index>());
    if (j["counted_speedup"].is_number())
      out += fmt::format("  saving          {:.3f} x in updates (predicted {:.3f})\n",
                         j["counted_speedup"].get<double>(), j["predicted_speedup"].get<double>());
  }
  if (j.contains("measures"))
    for (const auto& [name, value] : j["measures"].items())
      if (value.is_number() && name != "steps")
        out += fmt::format("  {:<15} {:.6g}\n", spaced(name), value.get<double>());
  const auto text = [](const Json& v, std::string_view format) {
    return v.is_number() ? fmt::format(fmt::runtime(format), v.get<double>()) : std::string("not a number");
  };
  const auto momentum = [&](const char* which) {
    const Json& error = j[which]["error"];
    return error.is_number() ? fmt::format("{:.1e}", error.get<double>()) : std::string("not kept by the model");
  };
  out += fmt::format("  energy          {} J, band {}, drift {}\n", text(e["initial"], "{:.6g}"),
                     text(e["band"], "{:.2e}"), text(e["drift"], "{:.2e}"));
  out += fmt::format("  momentum error  linear {}, angular {}\n", momentum("linear_momentum"),
                     momentum("angular_momentum"));
  if (j.contains("energy_residual"))
    out += fmt::format("  local residual  {} of the largest element energy\n",
                       text(j["energy_residual"]["ratio"], "{:.2e}"));
  if (j.contains("lattice") && j["lattice"].contains("trial"))
    out += fmt::format("  steps           {}, neighbours: {}; tried before the run: {}\n",
                       j["lattice"]["rule"].get<std::string>(), j["lattice"]["neighbours"].get<std::string>(),
                       j["lattice"]["trial"]["found"].get<std::string>());
  if (j.contains("caution")) out += fmt::format("  caution         {}\n", j["caution"].get<std::string>());
  if (j["time_per_update"].is_number())
    out += fmt::format("  wall time       {:.3g} s{}, {:.3g} us per update\n", j["wall_time"].get<double>(),
                       j.contains("predicted_wall_time")
                           ? fmt::format(" (predicted {:.3g} s)", j["predicted_wall_time"].get<double>())
                           : "",
                       1e6 * j["time_per_update"].get<double>());
  return out;
}

namespace {

std::string duration(double seconds) {
  if (seconds < 120.0) return fmt::format("{:.3g} s", seconds);
  return seconds < 7200.0 ? fmt::format("{:.3g} min", seconds / 60.0) : fmt::format("{:.4g} h", seconds / 3600.0);
}

std::string line_of_choice(bool chosen, std::string_view lattice, const NeighbourLimit& limit, double saving,
                           double seconds, std::string_view evidence) {
  return fmt::format("  {} {:<26} {:>10} {:>8.2f} {:>10}  {}\n", chosen ? '*' : ' ', lattice, describe(limit), saving,
                     duration(seconds), evidence);
}

// Every way to choose the steps: updates saved against Newmark at the element limit, time, what is known of stability.
std::string table_of_choices(const Simulation& s) {
  const StepWish wish = s.step_wish(s.own_steps);
  const double element_limit = *std::ranges::min_element(s.own_steps);  // times safety, or as the steps are chosen
  std::string out = fmt::format("  mass shares {}\n  {:<28} {:>10} {:>8} {:>10}  {}\n", name_of(s.model->share_rule()),
                                "choices of steps", "neighbours", "saving", "time", "stability");
  const auto add = [&](const StepChoice& c, bool chosen) {
    constexpr Index many = 200'000;  // terms: beyond, each row would take a second
    const std::string found = chosen && s.trial ? s.describe_trial(*s.trial)
                              : s.model->term_count() > many
                                  ? "tried when chosen"
                                  : s.describe_trial(s.try_lattice(*s.model, c.lattice, 0.0));
    out += line_of_choice(chosen, name_of(c.rule), c.limit, c.saving, s.predicted_time(c), found);
  };
  const bool asynchronous = s.input.integrator.method == "avi" && s.choice.has_value();
  for (const LatticeRule rule :
       {LatticeRule::powers_of_two, LatticeRule::powers_of_three, LatticeRule::twos_and_threes, LatticeRule::any}) {
    std::vector<NeighbourLimit> limits = {{}};
    if (nests(rule)) limits.push_back(attempts().front().limit);
    if (asynchronous && s.choice->rule == rule && std::ranges::find(limits, s.choice->limit) == limits.end())
      limits.push_back(s.choice->limit);
    for (const NeighbourLimit& limit : limits) {
      const bool chosen = asynchronous && s.choice->rule == rule && s.choice->limit == limit;
      add(chosen ? *s.choice : choice_of(wish, rule, limit), chosen);
    }
  }
  double exact = 0.0, newmark = 0.0;  // [ns] per simulated second
  const std::vector<double> costs = s.costs_per_update(s.input.integrator.residual);
  for (std::size_t i = 0; i < wish.steps.size(); ++i) {
    exact += (costs[i] + queue_cost) / wish.steps[i];
    newmark += costs[i] / element_limit;
  }
  const double scale = 1e-9 * s.machine_factor * s.input.end_time;
  out += line_of_choice(s.input.integrator.method == "avi" && !s.choice, "exact", {}, ideal_speedup(wish.steps),
                        exact * scale, "not tried: `tempi stability` measures it");
  out += line_of_choice(s.input.integrator.method == "newmark" && s.input.integrator.newmark_limit == "element",
                        "newmark, element limit", {}, 1.0, newmark * scale, "stable");
  const bool used = s.input.integrator.method == "newmark" && s.input.integrator.newmark_limit == "assembled";
  if (!s.input.integrator.safety) return out;
  const double step = used ? s.smallest_step() : *s.input.integrator.safety * s.assembled_limit();
  out += line_of_choice(used, "newmark, assembled limit", {}, step / element_limit,
                        newmark * scale * element_limit / step, "stable");
  return out;
}

}  // namespace

std::string describe_model(const Simulation& s) {
  const auto largest_step = *std::ranges::max_element(s.steps);
  const double smallest_step = s.choice ? s.smallest_step() : *std::ranges::min_element(s.steps);
  double mass = 0.0;
  for (const double m : s.model->mass()) mass += m;
  std::string out = s.input.title + "\n";
  if (s.has_particles())
    out += fmt::format("  model    {} particles, {}-D, {}\n", s.mesh->node_count(), s.mesh->dim(),
                       text_of_box(s).empty() ? "in free space" : "in a periodic box of " + text_of_box(s));
  else
    out += fmt::format("  mesh     {} cells, {} nodes, {}-D\n", s.mesh->cells().size(), s.mesh->node_count(),
                       s.mesh->dim());
  for (const ElasticCells* cells : s.cells) {
    const Lame lame = lame_of(cells->material());
    const auto name = std::visit([](const auto& m) { return m.name; }, cells->material());
    out += fmt::format(
        "  cells    {} of type {}, {}: lambda {:.6g} Pa, mu {:.6g} Pa, density {:.6g} kg/m^3, wave speed {:.6g} m/s\n",
        cells->size(), info(s.mesh->cells().types[static_cast<std::size_t>(index(cells->cell(0)))]).name, name,
        lame.lambda, lame.mu, cells->density(), dilatational_wave_speed(lame, cells->density()));
  }
  const auto bodies = static_cast<Index>(s.cells.size());
  for (std::size_t i = 0; i < s.input.potentials.size(); ++i)
    out += fmt::format("  forces   {}: {} terms\n", s.input.potentials[i].type,
                       s.model->potential(bodies + static_cast<Index>(i)).size());
  out += fmt::format("  mass     {:.6g} kg{}\n", mass,
                     s.has_particles()    ? ""
                     : s.mesh->dim() == 2 ? "/m"
                     : s.mesh->dim() == 1 ? "/m^2"
                                          : "");
  for (Index i = 0; i < s.model->supports().size(); ++i)
    out += fmt::format("  support  {}: {} nodes\n", s.model->supports()[i].name, s.model->supports()[i].nodes.size());
  for (const ConstraintInput& c : s.input.constraints) out += fmt::format("  held     {} constraint\n", c.type);
  if (!s.model->constraints().empty())
    out += fmt::format("           {} equations in all\n", s.model->constraints().size());
  for (const DampingInput& d : s.input.dampings) out += fmt::format("  damping  {}\n", d.type);
  out += fmt::format("  steps    {:.6g} s to {:.6g} s, ratio {:.3g}\n", smallest_step, largest_step,
                     largest_step / smallest_step);
  Index avi = 0;
  for (Index i = 0; i < s.model->term_count(); ++i) avi += s.updates_until(make_id<TermId>(i), s.input.end_time);
  const bool synchronous = is_synchronous(s.input.integrator.method);
  out += fmt::format("  updates until {:.6g} s\n", s.input.end_time);
  if (!synchronous) out += fmt::format("    {:<8} {:>16}\n", s.input.integrator.method, avi);
  out += fmt::format("    {:<8} {:>16}\n", synchronous ? s.input.integrator.method : "newmark",
                     s.newmark_updates(s.input.end_time));
  if (!synchronous) {
    const double before = ideal_speedup(s.wished_steps), with = s.choice ? s.choice->saving : before;
    out += fmt::format("  predicted saving in updates: {:.3f}", with);
    if (s.choice) out += fmt::format(" on the lattice, {:.3f} before rounding to it", before);
    out += "\n";
  }
  if (!synchronous_method(s.input.integrator)) out += table_of_choices(s);
  for (const std::string& before : s.resonant) out += fmt::format("  tried and left: {}\n", before);
  if (const std::string caution = s.caution(); !caution.empty()) out += fmt::format("  note: {}\n", caution);
  return out;
}

}  // namespace tempi
