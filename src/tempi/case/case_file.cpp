// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/case_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "tempi/case/method_table.hpp"
#include "tempi/case/option_table.hpp"
#include "tempi/case/section.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

MethodOptions method_options_of(const Section& s) {
  return {.alpha = *s.number("alpha"),
          .beta = *s.number("beta"),
          .gamma = *s.number("gamma"),
          .order = s.integer("order"),
          .action = s.text("action"),
          .without_root = s.text("without_root"),
          .residuals = s.text("residuals"),
          .newmark_limit = s.text("newmark_limit"),
          .step_bounds = s.list<double>("step_bounds", "two numbers, such as [0.25, 4]"),
          .implicit_step = s.number("implicit_step").value_or(0.0),
          .softness = *s.number("softness"),
          .energy_step = s.number("energy_step").value_or(0.0),
          .subdomains = s.text("subdomains"),
          .grid = s.one_or_more("grid"),
          .parity = s.boolean("parity"),
          .reduced = s.boolean("reduced"),
          .framework = s.text("framework"),
          .domains = s.text("domains"),
          .load_steps = s.integer("load_steps")};
}

IntegratorInput read_integrator(const Section& s, bool particles) {
  IntegratorInput in;
  in.place = s.place();
  in.method = s.text("method");
  in.steps = s.text("steps");
  in.lattice = s.text("lattice");
  in.lattice_place = s.place_of("lattice");
  in.coupling = s.text("coupling");
  in.coupling_place = s.place_of("coupling");
  in.accuracy = s.number("accuracy");
  in.accuracy_place = s.place_of("accuracy");
  in.neighbour_ratio = s.number("neighbour_ratio");
  in.nodal_safety = s.number("nodal_safety");
  in.trial = *s.number("trial");
  in.mass_shares = s.text("mass_shares");
  in.options = method_options_of(s);
  for (const Option& o : option_table())
    if (o.section == "integrator" && s.has(o.key) &&
        std::ranges::any_of(method_table(), [&](const Method& m) { return has_key(m.keys, o.key); }))
      in.method_keys.emplace_back(o.key, s.place_of(o.key));
  in.residual_asked = s.has("residual") && s.boolean("residual");
  const Engine engine = method_of(in).engine;
  if (particles && in.mass_shares == "own")
    fail(s.place_of("mass_shares"), "mass_shares = \"own\" belongs to meshes (pairs of particles bring no mass).");
  in.own_shares_asked = in.mass_shares == "own";
  in.steps_asked = s.has("safety") || s.has("courant") || s.has("step");
  if (in.mass_shares == "auto")
    in.mass_shares = particles || (in.lattice == "auto" && engine != Engine::softened) || engine == Engine::one_step ||
                             engine == Engine::domains
                         ? "balanced"
                         : "own";
  in.residual = in.residual_asked && engine == Engine::strikes;
  in.step_place = s.place_of(s.has("courant") ? "courant" : s.has("step") ? "step" : "safety");
  const int given = int{s.has("safety")} + int{s.has("courant")} + int{s.has("step")};
  if (given > 1) {
    std::string both;
    for (const char* key : {"safety", "courant", "step"})
      if (s.has(key)) both += fmt::format("{}{} = {}", both.empty() ? "" : " and ", key, *s.number(key));
    fail(s.place(), fmt::format("{} are both given. Keep one.", both));
  }
  if (particles && s.has("courant"))
    fail(s.place_of("courant"), "courant belongs to meshes (particles have no wave speed). Use safety or step.");
  if (s.has("courant"))
    in.courant = s.number("courant");
  else if (s.has("step"))
    in.step = s.number("step");
  else
    in.safety = s.number("safety");
  return in;
}

ParticlesInput read_particles(const Section& s) {
  ParticlesInput p;
  p.file = s.text("file");
  p.units = s.text("units");
  p.scale = *s.number("scale");
  p.mass = s.one_or_more("mass");
  p.one_mass = !s.is_list("mass");
  p.position = s.lists<double>("position", "lists of numbers, such as [[0, 0], [1, 0]]");
  p.velocity = s.lists<double>("velocity", "lists of numbers, such as [[0, 0], [0, 1]]");
  p.box = s.list<double>("box", "a list of numbers");
  p.radius = s.one_or_more("radius");
  p.one_radius = !s.is_list("radius");
  p.radius_place = s.place_of("radius");
  p.mass_place = s.place_of("mass");
  p.position_place = s.place_of("position");
  p.velocity_place = s.place_of("velocity");
  p.box_place = s.place_of("box");
  p.place = s.place();
  if (p.file.empty() && p.position.empty())
    fail(p.place, "[particles] has neither file nor position. Give one of them.");
  if (!p.file.empty() && !(p.position.empty() && p.velocity.empty()))
    fail(p.place, "file and position or velocity are both given. Keep one.");
  if (p.file.empty() && (!p.units.empty() || p.scale != 1.0))
    fail(s.place_of(p.units.empty() ? "scale" : "units"),
         "units and scale belong to a file of particles; these are given here.");
  if (p.file.empty() && p.mass.empty()) fail(p.place, "[particles] has no mass (in kg). Add mass = ...");
  return p;
}

std::vector<std::array<Index, 2>> read_pair_list(const Section& s);

TieInput read_tie(const Section& s) {
  TieInput tie{s.list<std::string>("groups", "two names of groups"), read_pair_list(s), s.number("reach"), s.place()};
  if (tie.groups.empty() == tie.pairs.empty())
    fail(tie.place, tie.pairs.empty() ? "[[tie]] has neither groups nor pairs. Give one of them."
                                      : "groups and pairs are both given. Keep one.");
  if (!tie.groups.empty() && tie.groups.size() != 2)
    fail(tie.place, fmt::format("groups has {} names (must be 2).", tie.groups.size()));
  return tie;
}

std::vector<std::array<Index, 2>> read_pair_list(const Section& s) {
  std::vector<std::array<Index, 2>> result;
  for (const auto& pair : s.lists<Index>("pairs", "pairs of integers, such as [[0, 1], [1, 2]]")) {
    if (pair.size() != 2)
      fail(s.place_of("pairs"), fmt::format("pairs has entries of {} numbers (must be 2).", pair.size()));
    result.push_back({pair[0], pair[1]});
  }
  return result;
}

std::vector<Selector> read_between(const Section& s) {
  std::vector<Selector> result;
  const Place place = s.place_of("between");
  for (const std::string& name : s.list<std::string>("between", "two groups, such as [\"ball\", \"plate\"]")) {
    result.emplace_back();
    result.back().name = name;
    result.back().place = place;
  }
  if (!result.empty() && result.size() != 2)
    fail(place, fmt::format("between has {} groups (must be two).", result.size()));
  return result;
}

PotentialInput read_potential(const Section& s) {
  PotentialInput p;
  p.type = s.text("type");
  p.nodes = s.selector("group");
  p.place = s.place();
  p.pairs_given = s.has("pairs");
  p.pairs_place = s.place_of("pairs");
  if (s.is_list("pairs")) {
    p.pair_list = read_pair_list(s);
  } else if (const std::string text = s.text("pairs"); text != "all") {
    p.pairs_file = text;
  }
  for (const std::string_view key :
       {"within", "cutoff", "skin", "depth", "inverse_width", "length", "strength", "width", "G", "exponent", "blend"})
    if (const auto value = s.number(key)) p.values.push_back({std::string(key), {*value}, s.place_of(key)});
  for (const std::string_view key : {"stiffness", "epsilon", "sigma", "young", "poisson", "step"})
    if (s.has(key)) p.values.push_back({std::string(key), s.one_or_more(key), s.place_of(key)});
  for (const std::string_view key : {"centre", "acceleration", "split", "laplacian_damping"})
    if (s.has(key)) p.values.push_back({std::string(key), s.list<double>(key, "a list of numbers"), s.place_of(key)});
  p.kinds = s.list<std::string>("kinds", "a list of groups, such as [\"Ar\", \"Kr\"]");
  p.kinds_place = s.place_of("kinds");
  p.between_place = s.place_of("between");
  p.between = read_between(s);
  if (!p.between.empty() && (!p.nodes.everything() || p.pairs_given))
    fail(p.between_place,
         "between says whose pairs are meant: group, where, particles and pairs have no meaning beside "
         "it. Leave them out.");
  if (s.has("together")) p.together = s.boolean("together");
  p.together_place = s.place_of("together");
  if (s.has("expression")) p.expression = FormulaText{s.text("expression"), s.place_of("expression")};
  if (s.has("restitution")) p.restitution = s.formulas("restitution").front();
  if (s.has("restitution_table"))
    p.restitution_table = FormulaText{s.text("restitution_table"), s.place_of("restitution_table")};
  return p;
}

std::vector<std::pair<std::string, Place>> given_keys(const Section& s, std::initializer_list<const char*> keys) {
  std::vector<std::pair<std::string, Place>> given;
  for (const char* key : keys)
    if (s.has(key)) given.emplace_back(key, s.place_of(key));
  return given;
}

ConstraintInput read_constraint(const Section& s) {
  ConstraintInput c;
  c.type = s.text("type");
  c.nodes = s.selector("group");
  if (s.has("pairs")) c.pair_list = read_pair_list(s);
  c.length = s.number("length");
  c.extent = s.number("extent");
  c.within = s.number("within");
  c.anchor = s.list<double>("anchor", "a list of numbers");
  if (s.has("expression")) c.expression = FormulaText{s.text("expression"), s.place_of("expression")};
  c.size = s.integer("size");
  c.keys = given_keys(s, {"pairs", "within", "length", "anchor", "expression", "extent", "size"});
  c.place = s.place();
  return c;
}

DampingInput read_damping(const Section& s) {
  return {s.text("type"),
          s.selector("group"),
          s.number("coefficient"),
          s.number("alpha"),
          s.number("beta"),
          s.number("bulk_viscosity"),
          s.number("shear_viscosity"),
          given_keys(s, {"coefficient", "alpha", "beta", "bulk_viscosity", "shear_viscosity"}),
          s.place()};
}

WallInput read_wall(const Section& s) {
  WallInput w;
  w.type = s.text("type");
  w.target = s.selector("group");
  for (const char* key : {"point", "normal", "centre", "axis", "low", "high"})
    if (s.has(key)) w.vectors.push_back({key, s.list<double>(key, "a list of numbers"), s.place_of(key)});
  w.radius = s.number("radius").value_or(0.0);
  w.inside = s.boolean("inside");
  w.penalty = s.number("penalty");
  w.step = s.number("step");
  w.young = s.number("young");
  w.poisson = s.number("poisson");
  if (s.has("velocity")) w.velocity = s.list<double>("velocity", "a list of numbers");
  if (s.has("displacement")) w.displacement = s.formulas("displacement");
  w.keys = given_keys(s, {"point", "normal", "centre", "axis", "low", "high", "radius", "inside"});
  w.place = s.place();
  return w;
}

void read_body(const Reader& reader, CaseFile& c) {
  for (const Section& s : reader.sections("contact"))
    c.contacts.push_back({read_between(s), s.text("law"), s.number("penalty"), s.number("skin"), s.number("step"),
                          s.number("distance"), s.number("inner_distance"), s.number("stiffness"), s.number("speed"),
                          *s.number("exponent"), *s.number("surface_safety"), *s.number("alpha"), *s.number("pairs"),
                          *s.number("friction"), *s.number("energy_restitution"),
                          given_keys(s, {"penalty", "skin", "step"}),
                          given_keys(s, {"distance", "inner_distance", "stiffness", "speed", "exponent",
                                         "surface_safety", "alpha", "pairs", "friction", "energy_restitution"}),
                          s.place()});
  for (const Section& s : reader.sections("wall")) c.walls.push_back(read_wall(s));
  for (const Section& s : reader.sections("constraint")) c.constraints.push_back(read_constraint(s));
  for (const Section& s : reader.sections("damping")) c.dampings.push_back(read_damping(s));
  for (const Section& s : reader.sections("potential")) c.potentials.push_back(read_potential(s));
  for (const Section& s : reader.sections("material"))
    c.materials.push_back({s.selector("group"), s.text("model"), s.number("lambda"), s.number("mu"), s.number("young"),
                           s.number("poisson"), *s.number("density"), s.number("thickness"), s.text("stretching"),
                           given_keys(s, {"thickness", "stretching"}), s.place()});
  for (const Section& s : reader.sections("fix"))
    c.fixes.push_back({s.text("name"), s.selector("group"),
                       s.list<std::string>("components", "a list of \"x\", \"y\", \"z\""), s.formulas("displacement"),
                       s.boolean("clamped"), s.place_of("components"), s.place_of("displacement"),
                       s.place_of("clamped"), s.place()});
  for (const Section& s : reader.sections("load"))
    c.loads.push_back({s.text("type"), s.selector("group"), s.formulas("value"), !s.is_list("value"), s.boolean("dead"),
                       s.place_of("value"), s.place_of("dead"), s.place()});
  for (const Section& s : reader.sections("probe"))
    c.probes.push_back({s.text("name"), s.list<double>("point", "a list of numbers"), s.selector("group"),
                        s.boolean("stress"), s.boolean("residual"), s.boolean("body"), s.place_of("name"),
                        s.place_of("residual"), s.place()});
  for (const Section& s : reader.sections("path_integral"))
    c.path_integrals.push_back(
        {s.text("name"), s.text("kind"), s.list<double>("point", "a list of numbers"), s.selector("group"),
         s.formulas("direction"), s.list<double>("centre", "a list of numbers"),
         s.list<double>("axis", "a list of numbers"), s.has("rings") ? std::optional(s.integer("rings")) : std::nullopt,
         s.list<std::string>("contours", "a list of groups"), s.place_of("name"), s.place_of("kind"),
         s.place_of("contours"), s.place()});
  for (const Section& s : reader.sections("domain"))
    c.domains.push_back({s.text("name"), s.selector("group"), *s.number("alpha"),
                         s.has("substeps") ? std::optional(s.integer("substeps")) : std::nullopt, s.text("integrator"),
                         s.has("rings") ? std::optional(s.integer("rings")) : std::nullopt, s.place()});
  for (const Section& s : reader.sections("tie")) c.ties.push_back(read_tie(s));
  for (const Section& s : reader.sections("subdomain"))
    c.subdomains.push_back({s.selector("group"), s.number("energy_step"), s.place()});
  const Section initial = reader.section("initial");
  c.initial_position = initial.formulas("position");
  c.initial_velocity = initial.formulas("velocity");
  c.position_place = initial.place_of("position");
  c.velocity_place = initial.place_of("velocity");
}

}  // namespace

const PotentialInput::Values* PotentialInput::find(std::string_view key) const {
  const auto found = std::ranges::find(values, key, &Values::key);
  return found == values.end() ? nullptr : &*found;
}

std::string Selector::text() const {
  if (!particles.empty()) return fmt::format("particles [{}]", fmt::join(particles, ", "));
  if (where) return fmt::format("\"{}\"", *where);
  if (tag) return fmt::format("group {}", *tag);
  return name.empty() ? "everything" : fmt::format("group '{}'", name);
}

MethodOptions default_method_options() { return method_options_of(Section("integrator", nullptr, "")); }

CaseFile read_case(const std::filesystem::path& path, const std::vector<std::string>& settings) {
  toml::table root = parse_file(path);
  for (const std::string& setting : settings) apply_setting(root, setting);
  const Place file = path.filename().string();
  refuse_unknown(root, file);
  const Reader reader(root, file);

  CaseFile c;
  c.path = path;
  c.title = reader.section("").text("title");
  if (c.title.empty()) c.title = path.stem().string();
  c.constants = reader.constants();
  if (root.contains("particles")) c.particles = read_particles(reader.section("particles"));
  const Section mesh = reader.section("mesh");
  c.mesh_file = mesh.text("file");
  c.mesh_place = mesh.place_of("file");
  c.meshes_beside = mesh.list<std::string>("beside", "a list of file names");
  c.mesh_order = mesh.integer("order");
  c.mesh_size = mesh.number("size").value_or(0.0);
  c.mesh_refine = mesh.integer("refine");
  c.mesh_curved = mesh.boolean("curved");
  c.mesh_system_calls = mesh.boolean("system_calls");
  c.mesh_scale = *mesh.number("scale");
  read_body(reader, c);
  if (root.contains("mesh") && c.mesh_file.empty())
    fail(mesh.place(), fmt::format("[mesh] has no file ({}). Add file = ...", option("mesh", "file").text));
  if (!c.particles && c.mesh_file.empty())
    fail(file, "there is neither [mesh] with a file nor [particles]. Give one of them.");
  if (!c.mesh_file.empty() && c.materials.empty())
    fail(file, "there is no [[material]]. Give at least one, with density and elastic constants.");
  if (c.mesh_file.empty() && !c.materials.empty())
    fail(c.materials.front().place, "a [[material]] belongs to the cells of a mesh. Add [mesh], or leave it out.");
  c.integrator = read_integrator(reader.section("integrator"), c.only_particles());
  if (!c.subdomains.empty() && method_of(c.integrator).engine != Engine::stepping)
    fail(c.subdomains.front().place,
         fmt::format("[[subdomain]] belongs to async-energy-stepping, not to {}. Leave it out.", c.integrator.method));
  const bool divides = method_of(c.integrator).engine == Engine::domains;
  if (!c.domains.empty() && !divides)
    fail(c.domains.front().place,
         fmt::format("[[domain]] belongs to multi-domain, not to {}. Leave it out.", c.integrator.method));
  if (!c.ties.empty() && !divides)
    fail(c.ties.front().place, fmt::format("[[tie]] joins domains of multi-domain, and {} has none. Choose that, or "
                                           "leave it out.",
                                           c.integrator.method));
  const Section run = reader.section("run");
  c.end_time = *run.number("end_time");
  c.energy_tolerance =
      run.number("energy_tolerance").value_or(std::ranges::any_of(c.contacts, &ContactInput::has_layers) ? 0.03 : 0.5);
  c.checkpoint_interval = *run.number("checkpoint");
  c.wall_limit = run.number("wall_limit");
  const Section output = reader.section("output");
  if (output.has("frames")) c.frames = output.integer("frames");
  if (output.has("history")) c.history = output.integer("history");
  c.fields = output.list<std::string>("fields", "a list of texts");
  c.float32 = output.boolean("float32");
  c.deformed = output.boolean("deformed");
  c.configurational_forces = output.boolean("configurational_forces");
  c.configurational_place = output.place_of("configurational_forces");
  const std::vector<std::string> known = choices_of(option("output", "fields"));
  for (const std::string& field : c.fields)
    if (std::ranges::find(known, field) == known.end()) {
      const std::string near = nearest(field, known);
      fail(output.place_of("fields"), fmt::format("there is no field \"{}\". {}", field,
                                                  near.empty() ? fmt::format("There are {}.", fmt::join(known, ", "))
                                                               : fmt::format("Did you mean \"{}\"?", near)));
    }
  if (!c.deformed && !c.fields.empty() && std::ranges::find(c.fields, "displacement") == c.fields.end())
    fail(output.place_of("deformed"),
         "frames at rest without the field \"displacement\" show no motion. Add it to fields.");
  const auto text_of = [](const toml::table& table) {
    std::stringstream text;
    text << table;
    return text.str();
  };
  c.text = text_of(root);
  for (const char* key : {"energy_tolerance", "checkpoint", "wall_limit"}) root["run"].as_table()->erase(key);
  c.identity = text_of(root);
  return c;
}

}  // namespace tempi
