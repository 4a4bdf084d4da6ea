// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/simulation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <iterator>

#include "tempi/case/constraint_choice.hpp"
#include "tempi/case/damping_choice.hpp"
#include "tempi/case/method_choice.hpp"
#include "tempi/case/particle_choice.hpp"
#include "tempi/case/potential_choice.hpp"
#include "tempi/case/selection.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/stability.hpp"
#include "tempi/integrator/avi_adaptive.hpp"
#include "tempi/integrator/avi_explicit.hpp"
#include "tempi/integrator/avi_implicit.hpp"
#include "tempi/integrator/avi_lattice.hpp"
#include "tempi/integrator/sync_newmark.hpp"
#include "tempi/io/read_mesh.hpp"
#include "tempi/mesh/quality.hpp"
#include "tempi/force/loads.hpp"
#include "tempi/potential/uniform_field.hpp"

namespace tempi {
namespace {

Expression expression_of(const FormulaText& text, const Constants& constants) {
  if (const double* value = std::get_if<double>(&text.value)) return Expression(*value);
  return at_place(text.place, [&] { return Expression(std::get<std::string>(text.value), constants); });
}

VectorExpression vector_of(const std::vector<FormulaText>& texts, const Constants& constants, int dim,
                           std::string_view what) {
  if (static_cast<int>(texts.size()) != dim)
    throw InputError(fmt::format("{} has {} component{} (there {} {} dimension{}). Give one for each.", what,
                                 texts.size(), texts.size() == 1 ? "" : "s", dim == 1 ? "is" : "are", dim,
                                 dim == 1 ? "" : "s"));
  std::vector<Expression> components;
  for (const FormulaText& text : texts) components.push_back(expression_of(text, constants));
  return VectorExpression(std::move(components));
}

// Whether not all of them are equal.
bool differ(const auto& steps) {
  return std::ranges::adjacent_find(steps, std::not_equal_to{}) != std::ranges::end(steps);
}

class Builder {
 public:
  Builder(CaseFile input, int threads) {
    s_.input = std::move(input);
    s_.threads = threads;
  }

  Simulation operator()() && {
    if (s_.has_particles()) {
      place_particles();
    } else {
      read_mesh_file();
      add_materials();
    }
    add_potentials();
    add_supports();
    add_loads();
    add_dampers();
    parts_.dim = s_.mesh->dim();
    // Potentials between nodes bring no mass, so cells must leave them some.
    if (input().integrator.own_shares_asked && !input().potentials.empty())
      throw PlacedError(input().integrator.place,
                        "mass_shares = \"own\" leaves a [[potential]] without mass. Leave it "
                        "out.");
    const bool balanced = input().integrator.mass_shares == "balanced" || !input().potentials.empty();
    parts_.shares = balanced ? MassShares::balanced : MassShares::own;
    parts_.reference.assign(s_.mesh->points().begin(), s_.mesh->points().end());
    s_.model = std::make_unique<Model>(std::move(parts_));
    set_initial_state();
    choose_integrator();
    try_start();
    find_probes();
    return std::move(s_);
  }

 private:
  const CaseFile& input() const { return s_.input; }
  const Mesh& mesh() const { return *s_.mesh; }
  Selection selection() const { return {mesh(), input().constants}; }

  void read_mesh_file() {
    std::filesystem::path file = input().mesh_file;
    if (file.is_relative()) file = input().path.parent_path() / file;
    s_.mesh = at_place(fmt::format("{}: {}", input().mesh_place, file.filename().string()), [&] {
      return std::make_unique<Mesh>(
          read_mesh(file, {.order = input().mesh_order, .size = input().mesh_size, .refine = input().mesh_refine}));
    });
    s_.warnings = mesh().warnings();
    if (!is_geometry(file))
      for (const auto& [key, is_set] :
           {std::pair{"order", input().mesh_order != 1}, std::pair{"size", input().mesh_size > 0.0},
            std::pair{"refine", input().mesh_refine > 0}})
        if (is_set)
          s_.notes.push_back(fmt::format("{} has no effect: '{}' is a mesh already.", key, file.filename().string()));
    if (input().mesh_scale != 1.0) s_.mesh = std::make_unique<Mesh>(mesh().scaled(input().mesh_scale));
  }

  std::filesystem::path folder() const { return input().path.parent_path(); }

  void place_particles() {
    particles_ = choose_particles(*input().particles, folder());
    s_.box = particles_.box;
    s_.mesh = std::make_unique<Mesh>(mesh_of(particles_, {}));
    parts_.mass = particles_.particles.mass;
    s_.particle_terms.assign(parts_.mass.size(), -1);
  }

  Surroundings surroundings() const {
    return {mesh(), parts_.mass, s_.box, input().constants, folder(), input().integrator.method == "energy-momentum"};
  }

  void add_potentials() {
    std::vector<NodePair> bonds;
    Index first = 0;  // term of the next potential
    for (std::size_t p = 0; p < parts_.potentials.size(); ++p) {
      damped_.push_back({parts_.potentials[p].get(), first, s_.cells[p]});
      first += parts_.potentials[p]->size();
    }
    for (const PotentialInput& in : input().potentials) {
      ChosenPotential chosen = choose_potential(in, surroundings());
      damped_.push_back({chosen.potential.get(), first, nullptr, chosen.bonds});
      s_.notes.insert(s_.notes.end(), chosen.notes.begin(), chosen.notes.end());
      for (std::size_t k = 0; k < chosen.bonds.size() && s_.has_particles(); ++k) {
        if (crosses_boundary(chosen.bonds[k])) continue;
        bonds.push_back(chosen.bonds[k]);
        s_.particle_terms.push_back(first + static_cast<Index>(k));
      }
      s_.in_field = s_.in_field || chosen.is_field;
      if (chosen.one_step) acting_together_.emplace_back(first, first + chosen.potential->size());
      first += chosen.potential->size();
      parts_.add(std::move(chosen.potential));
    }
    for (const ConstraintInput& in : input().constraints) {
      ChosenConstraints chosen = choose_constraints(in, surroundings());
      std::ranges::move(chosen.constraints, std::back_inserter(parts_.constraints));
      for (const NodePair& link : chosen.links) {
        if (!s_.has_particles() || crosses_boundary(link)) continue;
        bonds.push_back(link);
        s_.particle_terms.push_back(-1);
      }
    }
    if (!s_.has_particles()) return;
    const bool drags = std::ranges::any_of(input().dampings, [](const auto& d) { return d.type != "kelvin-voigt"; });
    const bool nothing_else = parts_.potentials.empty() && !parts_.constraints.empty();
    if (!input().loads.empty() || drags || nothing_else) {  // particles carry their loads themselves
      std::vector<NodeId> all;
      for (Index a = 0; a < mesh().node_count(); ++a) {
        all.push_back(make_id<NodeId>(a));
        s_.particle_terms[static_cast<std::size_t>(a)] = first + a;
      }
      parts_.add(make_uniform_field(mesh().points(), mesh().dim(), parts_.mass, std::move(all), {}));
      for (DampedPotential& p : damped_) p.hosts_drag = false;
      damped_.push_back({parts_.potentials.back().get(), first});
    }
    if (parts_.potentials.empty())
      throw InputError(fmt::format("{}: nothing acts on the particles. Add a [[potential]] or a [[load]].",
                                   input().path.filename().string()));
    s_.mesh = std::make_unique<Mesh>(mesh_of(particles_, bonds));
  }

  bool crosses_boundary(const NodePair& pair) const {
    for (std::size_t c = 0; c < static_cast<std::size_t>(mesh().dim()); ++c)
      if (s_.box.length(c) && std::abs(mesh().point(pair[1])[c] - mesh().point(pair[0])[c]) > 0.5 * *s_.box.length(c))
        return true;
    return false;
  }

  static Material material_of(const MaterialInput& m) {
    const bool lame = m.lambda || m.mu, engineering = m.young || m.poisson;
    if (lame == engineering || (lame && !(m.lambda && m.mu)) || (engineering && !(m.young && m.poisson)))
      throw InputError("the elastic constants are not two of a kind. Give lambda and mu, or young and poisson.");
    const Lame constants = lame ? checked_lame(*m.lambda, *m.mu) : lame_from_young(*m.young, *m.poisson);
    if (m.model == SaintVenantKirchhoff::name) return SaintVenantKirchhoff{constants};
    if (m.model == LinearElastic::name) return LinearElastic{constants};
    return NeoHookean{constants};
  }

  void add_materials() {
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    const auto count = static_cast<std::size_t>(mesh().cells().size());
    std::vector<std::size_t> owner(count, none);
    for (std::size_t m = 0; m < input().materials.size(); ++m) {
      const MaterialInput& material = input().materials[m];
      for (const CellId c : selection().cells(material.cells, "a material")) {
        std::size_t& o = owner[static_cast<std::size_t>(index(c))];
        if (o != none)
          throw InputError(fmt::format("{}: cell {} already has the material of {}. Give every cell one material.",
                                       material.place, mesh().cells().labels[static_cast<std::size_t>(index(c))],
                                       input().materials[o].place));
        o = m;
      }
    }
    const auto bare = static_cast<std::size_t>(std::ranges::count(owner, none));
    if (bare > 0) {
      const auto first = std::ranges::find(owner, none) - owner.begin();
      throw InputError(fmt::format(
          "{}: {} of {} cells have no material (the first is cell {} at ({:.6g})). The mesh's groups: {}. Add a "
          "[[material]] for them, or leave out its group to mean every cell.",
          input().path.filename().string(), bare, count, mesh().cells().labels[static_cast<std::size_t>(first)],
          fmt::join(mesh().centroid(make_id<CellId>(first)), ", "), list_groups(mesh())));
    }
    parts_.mass.assign(static_cast<std::size_t>(mesh().node_count()), 0.0);
    for (std::size_t m = 0; m < input().materials.size(); ++m)
      for (const CellType type :
           {CellType::line2, CellType::triangle3, CellType::triangle6, CellType::tetrahedron4, CellType::tetrahedron10})
        for (const bool straight : {true, false}) add_cells(m, type, straight, owner);
  }

  void add_cells(std::size_t m, CellType type, bool straight, const std::vector<std::size_t>& owner) {
    std::vector<CellId> cells;
    for (std::size_t i = 0; i < owner.size(); ++i) {
      const auto cell = make_id<CellId>(static_cast<Index>(i));
      if (owner[i] == m && mesh().cells().types[i] == type && is_straight(mesh(), cell) == straight)
        cells.push_back(cell);
    }
    if (cells.empty()) return;
    const MaterialInput& material = input().materials[m];
    const Material model = at_place(material.place, [&] { return material_of(material); });
    const Place mesh_file = fmt::format("{}: {}", input().mesh_place, input().mesh_file.filename().string());
    auto potential = at_place(mesh_file, [&] {
      return make_elastic_cells(mesh(), type, std::move(cells), model, material.density);
    });
    s_.cells.push_back(potential.get());
    parts_.add(std::move(potential));
  }

  void add_supports() {
    std::vector<Support> supports;
    for (std::size_t i = 0; i < input().fixes.size(); ++i)
      supports.push_back(at_place(input().fixes[i].place, [&] { return support_of(input().fixes[i], i); }));
    if (supports.empty()) return;
    const Place place = input().fixes.front().place;
    parts_.supports = at_place(place, [&] { return Supports(std::move(supports), mesh().points(), mesh().dim()); });
  }

  // The given name, or the group's; later supports on the same group are numbered, so that reactions stay apart.
  std::string name_of_support(const FixInput& fix, std::size_t i) {
    std::string name = !fix.name.empty()         ? fix.name
                       : !fix.nodes.name.empty() ? fix.nodes.name
                                                 : fmt::format("fix{}", i + 1);
    if (std::ranges::find(names_of_supports_, name) != names_of_supports_.end()) {
      if (!fix.name.empty()) throw InputError(fmt::format("there are two supports named '{}'.", fix.name));
      name = fmt::format("{} {}", name, i + 1);
    }
    names_of_supports_.push_back(name);
    return name;
  }

  Support support_of(const FixInput& fix, std::size_t i) {
    Support support;
    support.name = name_of_support(fix, i);
    if (fix.nodes.everything()) throw InputError("a support needs a group or where.");
    support.nodes = selection().nodes(fix.nodes);
    std::vector<std::size_t> components;
    for (const std::string& name : fix.components) {
      const std::size_t c = name.size() == 1 ? std::string("xyz").find(name) : std::string::npos;
      if (c >= static_cast<std::size_t>(mesh().dim()))
        throw PlacedError(fix.components_place, fmt::format("component \"{}\" does not exist (there {}).", name,
                                                            mesh().dim() == 1   ? "is x"
                                                            : mesh().dim() == 2 ? "are x and y"
                                                                                : "are x, y and z"));
      if (std::ranges::find(components, c) != components.end())
        throw PlacedError(fix.components_place, fmt::format("component \"{}\" is given twice.", name));
      components.push_back(c);
    }
    if (fix.components.empty())
      for (std::size_t c = 0; c < static_cast<std::size_t>(mesh().dim()); ++c) components.push_back(c);
    if (!fix.displacement.empty() && fix.displacement.size() != components.size())
      throw PlacedError(fix.displacement_place,
                        fmt::format("displacement has {} expression{} for {} component{}. Give one for each.",
                                    fix.displacement.size(), fix.displacement.size() == 1 ? "" : "s", components.size(),
                                    components.size() == 1 ? "" : "s"));
    for (std::size_t k = 0; k < components.size(); ++k) {
      const std::size_t c = components[k];
      support.motion[c] = fix.displacement.empty() ? Support::Motion::at_rest : Support::Motion::prescribed;
      if (!fix.displacement.empty()) support.displacement[c] = expression_of(fix.displacement[k], input().constants);
    }
    return support;
  }

  void add_loads() {
    for (const LoadInput& load : input().loads) at_place(load.place, [&] { add_load(load); });
  }

  void add_dampers() {
    for (const DampingInput& in : input().dampings)
      for (ChosenDamper& damper : choose_dampers(in, surroundings(), damped_)) {
        parts_.forces.push_back(std::move(damper.force));
        parts_.hosts.push_back(std::move(damper.hosts));
      }
  }

  void add_load(const LoadInput& load) {
    const Constants& constants = input().constants;
    if (s_.has_particles() && load.type != "gravity" && load.type != "force")
      throw InputError(fmt::format("{} belongs to meshes. Particles take gravity and force.", load.type));
    if (load.dead && load.type != "pressure")
      throw PlacedError(load.dead_place, "dead belongs to pressure (other loads are dead anyway).");
    if (load.type == "pressure") {
      if (!load.single_value && load.value.size() != 1)
        throw PlacedError(load.value_place, fmt::format("value has {} components (a pressure has one value, positive "
                                                        "in compression).",
                                                        load.value.size()));
      const auto facets = selection().facets(load.target, "a pressure", Selection::Interior::refuse);
      host(load, make_pressure(mesh(), facets, expression_of(load.value.front(), constants),
                               load.dead ? PressureFrame::reference : PressureFrame::deformed));
      return;
    }
    auto value = [&] {
      return at_place(load.value_place, [&] { return vector_of(load.value, constants, mesh().dim(), "value"); });
    };
    if (s_.has_particles()) {
      add_load_on_particles(load, value());
    } else if (load.type == "gravity") {
      for (const ElasticCells* cells : s_.cells) {
        const auto wanted = selection().cells(load.target, "gravity");
        std::vector<Index> terms;
        for (Index k = 0; k < cells->size(); ++k)
          if (load.target.everything() || std::ranges::binary_search(wanted, cells->cell(k))) terms.push_back(k);
        if (!terms.empty()) host(load, make_gravity(mesh(), *cells, std::move(terms), value()));
      }
    } else if (load.type == "traction") {
      host(load, make_traction(mesh(), selection().facets(load.target, "a traction", Selection::Interior::take_first),
                               value()));
    } else {
      if (load.target.everything()) throw InputError("a force needs a group or where.");
      host(load, make_nodal_force(mesh(), s_.cells, selection().nodes(load.target), value()));
    }
  }

  void add_load_on_particles(const LoadInput& load, VectorExpression value) {
    if (load.type == "force" && load.target.everything())
      throw InputError("a force needs particles, a group or where.");
    std::vector<double> factors;
    const std::vector<NodeId> nodes = selection().nodes(load.target);
    for (const NodeId a : nodes)
      factors.push_back(load.type == "gravity" ? parts_.mass[static_cast<std::size_t>(index(a))] : 1.0);
    host(load, make_point_force(mesh(), nodes, factors, std::move(value)));
  }

  void host(const LoadInput& load, std::unique_ptr<Force> force) {
    at_place(load.value_place, [&] { try_load(*force); });
    if (term_of_cell_.empty()) term_of_cell_ = s_.term_of_cell();
    std::vector<TermId> hosts;
    for (Index k = 0; k < force->size(); ++k)
      hosts.push_back(make_id<TermId>(term_of_cell_[static_cast<std::size_t>(index(force->host(k)))]));
    parts_.forces.push_back(std::move(force));
    parts_.hosts.push_back(std::move(hosts));
  }

  void set_initial_state() {
    s_.state = reference_state(*s_.model);
    if (s_.has_particles()) {
      s_.state.velocity = particles_.particles.velocity;
      if (!input().initial_velocity.empty() &&
          std::ranges::any_of(s_.state.velocity, [](double v) { return v != 0.0; }))
        throw PlacedError(input().velocity_place, "the particles have velocities already. Leave out one of the two.");
    }
    at_place(input().position_place,
             [&] { evaluate_initial(input().initial_position, "position", s_.state.displacement); });
    at_place(input().velocity_place,
             [&] { evaluate_initial(input().initial_velocity, "velocity", s_.state.velocity); });
    if (!input().initial_position.empty())
      for (std::size_t i = 0; i < s_.state.displacement.size(); ++i) s_.state.displacement[i] -= mesh().points()[i];
    compare_with_supports();
    for (Index p = 0; p < s_.model->potential_count(); ++p) require_admissible_start(s_.model->potential(p));
  }

  void evaluate_initial(const std::vector<FormulaText>& texts, std::string_view what,
                        std::vector<double>& values) const {
    if (texts.empty()) return;
    const VectorExpression f = vector_of(texts, input().constants, mesh().dim(), what);
    for (int c = 0; c < f.size(); ++c)
      if (f[c].depends_on_time())
        throw InputError(fmt::format("the initial {} \"{}\" depends on the time t (only X, Y, Z count at the start).",
                                     what, f[c].text()));
    const auto dim = static_cast<std::size_t>(mesh().dim());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto X = mesh().point(make_id<NodeId>(static_cast<Index>(i / dim)));
      const Expression& component = f[static_cast<int>(i % dim)];
      values[i] = component(X, 0.0);
      if (!std::isfinite(values[i]))
        throw InputError(fmt::format("the initial {} \"{}\" is {} at X = ({:.6g}) (must be finite).", what,
                                     component.text(), values[i], fmt::join(X, ", ")));
    }
  }

  // Where the motion of a support is prescribed, the body must start there.
  void compare_with_supports() const {
    const Supports& supports = s_.model->supports();
    double size = 0.0;
    for (const double x : mesh().points()) size = std::max(size, std::abs(x));
    for (const NodeId a : supports.held_nodes())
      for (int c = 0; c < mesh().dim(); ++c) {
        const std::int32_t i = supports.support_of(a, c);
        if (i == Supports::none) continue;
        const Place& place = input().fixes[static_cast<std::size_t>(i)].place;
        const auto prescribed = at_place(input().fixes[static_cast<std::size_t>(i)].displacement_place, [&] {
          for (const double t : {0.5 * input().end_time, input().end_time}) supports.displacement(a, c, t);
          return supports.displacement(a, c, 0.0);
        });
        if (!prescribed) continue;
        const double u = s_.state.displacement[static_cast<std::size_t>(index(a) * mesh().dim() + c)];
        const double tolerance = 1e-9 * (std::abs(u) + std::abs(*prescribed)) + 1e-12 * size;
        if (std::abs(u - *prescribed) > tolerance)
          throw InputError(fmt::format(
              "{}: the initial position and the prescribed displacement disagree at node {}: component {} starts at "
              "displacement {:.9g} m, the support \"{}\" has {:.9g} m at t = 0. Make them agree, or leave out "
              "displacement to hold the node where it starts.",
              place, mesh().point_label(a), "xyz"[c], u, supports[i].name, *prescribed));
      }
  }

  void require_admissible_start(const Potential& potential) const {
    std::vector<double> g;
    for (Index k = 0; k < potential.size(); ++k) {
      g.assign(potential.stencil(k).size() * static_cast<std::size_t>(mesh().dim()), 0.0);
      const double J = potential.add_gradient(k, s_.state.displacement, 0.0, g);
      if (J > 0.0 && std::isfinite(J)) continue;
      if (s_.has_particles())
        throw PlacedError(s_.input.particles->place, potential.fault(k, s_.state.displacement, 0.0, J));
      throw InputError(fmt::format(
          "{}: the initial position inverts {} (det F = {:.6g}, must be > 0). Start from a smaller deformation.",
          input().position_place, potential.describe(k), J));
    }
  }

  // Evaluates a load at the start, the middle and the end of the run: a NaN is found now.
  void try_load(const Force& force) const {
    std::array<double, 30> p{};
    const std::vector<double> zero(mesh().points().size(), 0.0);
    for (Index e = 0; e < force.size(); ++e)
      for (const double t : {0.0, 0.5 * input().end_time, input().end_time})
        force.add_impulse(e, zero, zero, t, 1.0, p);
  }

  void choose_integrator() {
    const IntegratorInput& in = input().integrator;
    if (in.method != "shake" && in.method != "rattle") at_place(in.place, [&] { require_unconstrained(*s_.model); });
    std::vector<double> times;
    if (in.courant && !input().potentials.empty())
      throw PlacedError(in.step_place,
                        "courant belongs to cells, and a [[potential]] has no wave speed. Use safety or "
                        "step.");
    if (in.courant)
      for (const ElasticCells* cells : s_.cells)
        for (Index k = 0; k < cells->size(); ++k)
          times.push_back(inradius(mesh(), cells->cell(k)) /
                          dilatational_wave_speed(lame_of(cells->material()), cells->density()));
    const StepSize size = in.courant ? StepSize(CourantNumber{*in.courant})
                          : in.step  ? StepSize(FixedStep{*in.step})
                                     : StepSize(SafetyFraction{*in.safety});
    const StepRule rule = in.steps == "uniform"    ? StepRule::uniform
                          : in.steps == "one-ring" ? StepRule::one_ring
                                                   : StepRule::element;
    require_steps_for_wanderers();
    const auto method = synchronous_method(in);
    if (in.step && method && method->limit == std::numeric_limits<double>::infinity())
      s_.own_steps.assign(static_cast<std::size_t>(s_.model->term_count()), *in.step);
    else
      s_.own_steps =
          at_place(in.step_place, [&] { return choose_steps(*s_.model, s_.state.displacement, size, rule, times); });
    for (const auto& [first, end] : acting_together_) {
      const auto terms =
          std::span(s_.own_steps).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
      std::ranges::fill(terms, *std::ranges::min_element(terms));
    }
    s_.wished_steps = s_.own_steps;
    const double limit = method ? std::min(1.0, method->limit) : 1.0;
    if (is_synchronous(in.method))
      std::ranges::fill(s_.wished_steps, *std::ranges::min_element(s_.own_steps) * (in.safety ? limit : 1.0));
    if (limit < 1.0 && !in.safety) {
      const double most = limit * std::ranges::min(stable_steps(*s_.model, s_.state.displacement));
      if (s_.smallest_step() > most)
        throw PlacedError(in.step_place,
                          fmt::format("the step {:.6g} s exceeds what {} takes with these beta and gamma, "
                                      "{:.6g} s. Choose a smaller one, or use safety.",
                                      s_.smallest_step(), in.method, most));
    }
    s_.safety = largest_safety();
    LatticeOptions options{s_.threads, 1.0};
    if (in.method == "newmark" && in.newmark_limit == "assembled") {
      if (!in.safety || in.lattice == "exact")
        throw PlacedError(in.place,
                          "newmark_limit = \"assembled\" goes with safety, and not with lattice = \"exact\". Leave out "
                          "step, courant and lattice.");
      const double step = *in.safety * s_.assembled_limit();
      options.rechecked = s_.smallest_step() / step;
      std::ranges::fill(s_.wished_steps, step);
    }
    constexpr double most_steps = 1e15;  // beyond, times are not told apart in double precision
    if (input().end_time / s_.smallest_step() > most_steps)
      throw PlacedError(in.step_place,
                        fmt::format("the smallest step {:.6g} s is too small for an end_time of {:.6g} s (over "
                                    "1e15 steps). Choose larger steps or a shorter run.",
                                    s_.smallest_step(), input().end_time));
    if (method) {
      s_.steps = s_.wished_steps;
      refuse_stiff_dampers(s_.smallest_step());
      s_.integrator = at_place(in.place, [&] { return method->make(*s_.model, s_.smallest_step()); });
    } else if (in.method == "avi-adaptive") {
      use_adaptive_steps();
    } else if (in.method == "avi-implicit") {
      use_implicit_steps();
    } else if (in.lattice == "exact")
      use_queue();
    else
      use_lattice(options);
  }

  // Constraints look at the start when they first see it.
  void try_start() const {
    if (s_.model->constraints().empty()) return;
    at_place(input().constraints.front().place, [&] { s_.integrator->synchronized(s_.state, 0.0); });
  }

  // Where they start does not tell what steps particles that wander will need.
  void require_steps_for_wanderers() const {
    const IntegratorInput& in = input().integrator;
    for (Index p = 0; p < s_.model->potential_count() && !in.steps_asked; ++p) {
      const Potential& potential = s_.model->potential(p);
      if (potential.stays_together() && !potential.in_pieces()) continue;
      throw PlacedError(in.place,
                        fmt::format("{} is among particles that wander, so where they start does not tell what steps "
                                    "they will need. Give a step (in s; the smallest stable one at the start is "
                                    "{:.3g} s, closer pairs need less), or safety if the start does tell.",
                                    potential.describe(0),
                                    std::ranges::min(stable_steps(*s_.model, s_.state.displacement))));
    }
  }

  // Dampers that a method takes explicitly make it grow beyond its limit.
  void refuse_stiff_dampers(double step) const {
    const IntegratorInput& in = input().integrator;
    double limit = std::numeric_limits<double>::infinity();  // of the step times the largest damping rate
    if (in.method == "shake" || in.method == "rattle") limit = 1.0;
    if (in.method == "rk4") limit = 2.785;
    if (in.method == "symplectic-euler-b") limit = 2.0;
    if ((in.method == "midpoint" || in.method == "trapezoidal") && in.alpha > 0.5) limit = 2.0 / (2.0 * in.alpha - 1.0);
    if (!s_.model->has_dampers() || std::isinf(limit)) return;
    const double rate = largest_damping_rate(*s_.model, s_.state.displacement);
    if (rate * step > limit)
      throw PlacedError(in.step_place,
                        fmt::format("the step {:.6g} s exceeds what {} takes with these dampers, {:.6g} s. Choose a "
                                    "smaller one, or another method.",
                                    step, in.method, limit / rate));
  }

  double largest_safety() const {
    const auto [least, most] = std::ranges::minmax(s_.own_steps);
    if (least == most) return 0.0;  // synchronous: nothing can resonate
    if (input().integrator.safety) return *input().integrator.safety;
    const std::vector<double> stable = stable_steps(*s_.model, s_.state.displacement);
    double largest = 0.0;
    for (std::size_t i = 0; i < stable.size(); ++i) largest = std::max(largest, s_.own_steps[i] / stable[i]);
    return largest;
  }

  void use_queue() {
    s_.steps = s_.wished_steps;
    if (input().integrator.neighbour_ratio) limit_neighbours(*s_.model, s_.steps, *input().integrator.neighbour_ratio);
    if (input().integrator.method == "newmark")
      s_.integrator = std::make_unique<SyncNewmark>(*s_.model, s_.smallest_step());
    else
      s_.integrator = std::make_unique<AviExplicit>(*s_.model, s_.steps);
  }

  void use_adaptive_steps() {
    const IntegratorInput& in = input().integrator;
    s_.steps = s_.wished_steps;
    s_.integrator = at_place(in.place, [&] {
      return std::make_unique<AviAdaptive>(*s_.model, s_.steps, step_bounds(in),
                                           in.without_root == "nominal-step" ? WithoutRoot::nominal_step
                                                                             : WithoutRoot::least_residual);
    });
  }

  // Steps that nest: implicit_step, its halves and its doubles.
  void use_implicit_steps() {
    const IntegratorInput& in = input().integrator;
    if (in.implicit_step == 0.0)
      throw PlacedError(in.place,
                        "avi-implicit needs implicit_step (in s): elements whose own step would be shorter act "
                        "implicitly at it. Add implicit_step = ...");
    if (in.step)
      throw PlacedError(in.step_place,
                        "step has no meaning beside implicit_step. Use safety, for the elements that "
                        "stay explicit.");
    for (Index p = 0; p < s_.model->potential_count(); ++p)
      if (s_.model->potential(p).in_pieces())
        throw PlacedError(in.place, fmt::format("avi-implicit does not take {}, whose pairs act together. Give that "
                                                "potential together = false, or choose avi.",
                                                s_.model->potential(p).describe(0)));
    std::vector<double> alphas;
    for (const double own : s_.wished_steps) {
      const bool stiff = own < in.implicit_step;
      s_.steps.push_back(stiff ? in.implicit_step : std::ldexp(in.implicit_step, std::ilogb(own / in.implicit_step)));
      alphas.push_back(stiff ? in.softness : 0.0);
    }
    s_.implicit_terms = std::ranges::count_if(alphas, [](double alpha) { return alpha > 0.0; });
    auto integrator =
        at_place(in.place, [&] { return std::make_unique<AviImplicit>(*s_.model, s_.steps, std::move(alphas)); });
    const double truly = s_.model->potential_energy(s_.state.displacement, 0.0);
    const double softly = integrator->softened_model().potential_energy(s_.state.displacement, 0.0);
    if (std::abs(truly - softly) > 0.05 * std::abs(truly))
      s_.warnings.push_back(fmt::format(
          "{} of {} elements act implicitly and give way so much that the model starts with {:.4g} J of potential "
          "energy instead of {:.4g} J: avi-implicit is for a few stiff elements. Take a smaller implicit_step.",
          s_.implicit_terms, s_.model->term_count(), softly, truly));
    if (in.trial > 0.0 && differ(s_.steps)) {
      TickLattice lattice{*std::ranges::min_element(s_.steps), {}};  // they nest
      for (const double step : s_.steps)
        lattice.ticks.push_back(static_cast<std::int32_t>(std::lround(step / lattice.tick)));
      s_.trial = s_.try_lattice(integrator->softened_model(), lattice, 0.0);
    }
    s_.integrator = std::move(integrator);
  }

  void use_lattice(const LatticeOptions& options) {
    choose_lattice();
    const TickLattice& lattice = s_.choice->lattice;
    for (const std::int32_t m : lattice.ticks) s_.steps.push_back(lattice.tick * m);
    auto integrator = std::make_unique<AviLattice>(*s_.model, lattice, options);
    double typical = 0.0;  // of one update of every term [ns]
    for (const double cost : s_.costs_per_update(false)) typical += cost;
    s_.machine_factor = integrator->time_of_pass(s_.state) / (1e-9 * typical);
    s_.integrator = std::move(integrator);
  }

  void choose_lattice() {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    find_lattice();
    if (s_.trial) s_.trial_time = std::chrono::duration<double>(Clock::now() - start).count();
  }

  // As the case has it; with lattice = "auto" and no limit of its own the first of the attempts that does not grow.
  void find_lattice() {
    const IntegratorInput& in = input().integrator;
    if (in.method == "newmark") {  // all steps are equal: no node holds them back
      s_.choice = equal_steps({*s_.model, s_.wished_steps, s_.costs_per_update(false), {}});
      return;
    }
    s_.nodal_steps = nodal_stable_steps(*s_.model, s_.state.displacement);
    const StepWish wish = s_.step_wish(s_.wished_steps);
    const NeighbourLimit own{in.nodal_safety, in.neighbour_ratio, false};
    const auto rule = lattice_rule(in.lattice);
    if (rule || own != NeighbourLimit{} || in.steps == "one-ring" || in.steps == "uniform") {
      s_.choice = rule ? choice_of(wish, *rule, own) : automatic_choice(wish, own);
      s_.trial = trial_of(*s_.choice);
      return;
    }
    for (const StepAttempt& attempt : attempts()) {
      StepWish part = wish;
      for (double& step : part.steps) step *= attempt.part;
      s_.choice = automatic_choice(part, attempt.limit);
      s_.choice->saving *= attempt.part;  // counts from the wished steps
      s_.trial = trial_of(*s_.choice);
      if (!s_.trial || !s_.trial->grows) return;
      s_.resonant.push_back(fmt::format("{}, {}{}: {}", name_of(s_.choice->rule), describe(attempt.limit),
                                        attempt.part < 1.0 ? fmt::format(", {:g} of the steps", attempt.part) : "",
                                        s_.describe_trial(*s_.trial)));
    }
    s_.choice = equal_steps(wish);
    s_.trial.reset();
  }

  std::optional<StepTrial> trial_of(const StepChoice& choice) const {
    if (input().integrator.trial == 0.0 || !differ(choice.lattice.ticks)) return std::nullopt;
    return s_.try_lattice(*s_.model, choice.lattice, input().integrator.trial * 1e-9 * choice.cost * input().end_time);
  }

  void find_probes() {
    for (const ProbeInput& probe : input().probes) at_place(probe.place, [&] { find_probe(probe); });
  }

  void find_probe(const ProbeInput& probe) {
    if (probe.name.empty())
      throw PlacedError(probe.name_place, "name = \"\" (a probe needs one, for its columns in history.csv).");
    for (const Probe& other : s_.probes)
      if (other.name == probe.name)
        throw PlacedError(probe.name_place, fmt::format("there are two probes named '{}'.", probe.name));
    if (probe.point.empty() == probe.nodes.everything()) throw InputError("a probe needs either a point or a group.");
    if (probe.point.empty()) {
      s_.probes.push_back({probe.name, selection().nodes(probe.nodes)});
      return;
    }
    if (static_cast<int>(probe.point.size()) != mesh().dim())
      throw InputError(
          fmt::format("point has {} components (there are {} dimensions).", probe.point.size(), mesh().dim()));
    Index best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (Index a = 0; a < mesh().node_count(); ++a) {
      double d2 = 0.0;
      for (std::size_t c = 0; c < probe.point.size(); ++c)
        d2 += std::pow(mesh().point(make_id<NodeId>(a))[c] - probe.point[c], 2);
      if (d2 < least) {
        least = d2;
        best = a;
      }
    }
    s_.probes.push_back({probe.name, {make_id<NodeId>(best)}});
  }

  Simulation s_;
  Model::Parts parts_;
  ParticleModel particles_;
  std::vector<DampedPotential> damped_;                   // all potentials
  std::vector<std::pair<Index, Index>> acting_together_;  // terms from, to before
  std::vector<Index> term_of_cell_;
  std::vector<std::string> names_of_supports_;
};

}  // namespace

double Simulation::smallest_step() const { return *std::ranges::min_element(wished_steps); }

Index Simulation::updates_until(TermId term, double time) const {
  const auto i = static_cast<std::size_t>(index(term));
  return choice ? update_count(choice->lattice.tick, time) / choice->lattice.ticks[i] : update_count(steps[i], time);
}

CellType Simulation::type_of(const ElasticCells& potential) const {
  return mesh->cells().types[static_cast<std::size_t>(index(potential.cell(0)))];
}

double Simulation::predicted_time(const StepChoice& of) const {
  const std::vector<double> bare = costs_per_update(false), watched = costs_per_update(input.integrator.residual);
  double cost = of.cost;  // [ns] per simulated second
  for (std::size_t i = 0; i < bare.size(); ++i)
    cost += (watched[i] - bare[i]) / (of.lattice.tick * of.lattice.ticks[i]);
  return 1e-9 * cost * machine_factor * input.end_time;
}

std::vector<double> Simulation::costs_per_update(bool watched) const {
  std::vector<double> costs;
  for (const ElasticCells* potential : cells)
    costs.insert(costs.end(), static_cast<std::size_t>(potential->size()), typical_cost(type_of(*potential), watched));
  while (std::ssize(costs) < model->term_count()) {
    const auto nodes = model->term(make_id<TermId>(std::ssize(costs))).stencil().size();
    costs.push_back(typical_cost(CellType::line2, watched) * (nodes > 10 ? 40.0 * static_cast<double>(nodes) : 1.0));
  }
  constexpr double damper = 200.0;  // [ns] per square of a term's nodes
  for (std::size_t i = 0; i < costs.size() && model->has_dampers(); ++i)
    if (const auto id = make_id<TermId>(static_cast<Index>(i)); model->is_damped(id))
      costs[i] += damper * static_cast<double>(model->term(id).stencil().size() * model->term(id).stencil().size());
  return costs;
}

double Simulation::assembled_limit() const { return assembled_stable_step(*model, state.displacement, threads); }

StepWish Simulation::step_wish(std::vector<double> of) const {
  return {*model, std::move(of), costs_per_update(false), smallest_within_a_ring(*model, nodal(*model))};
}

Index Simulation::newmark_updates(double time) const {
  return model->term_count() * static_cast<Index>(std::ceil(time / smallest_step()));
}

std::vector<Index> Simulation::term_of_cell() const {
  if (has_particles()) return particle_terms;
  std::vector<Index> term(static_cast<std::size_t>(mesh->cells().size()), -1);
  Index next = 0;
  for (const ElasticCells* potential : cells)
    for (Index k = 0; k < potential->size(); ++k) term[static_cast<std::size_t>(index(potential->cell(k)))] = next++;
  return term;
}

bool Simulation::steps_may_resonate() const { return choice && !nodal_steps.empty() && differ(choice->lattice.ticks); }

std::vector<double> Simulation::nodal(const Model& of) const {
  return nodal_steps.empty() ? nodal_stable_steps(of, state.displacement) : nodal_steps;
}

StepTrial Simulation::try_lattice(const Model& of, const TickLattice& lattice, double price) const {
  constexpr double least = 0.03;  // [s]: below, a trial would tell nothing
  TrialOptions options;
  options.duration = input.end_time;
  options.price = std::max(price, least);
  options.threads = threads;
  return try_steps(of, state.displacement, lattice, nodal(of), options);
}

std::string Simulation::describe_trial(const StepTrial& of) const {
  if (of.grows)
    return fmt::format("grows by {:.2g} per longest step of {:.3g} s around node {} at ({:.4g})", of.growth,
                       of.longest_step, mesh->point_label(*of.where), fmt::join(mesh->point(*of.where), ", "));
  if (of.places == 0) return "no unequal steps meet";
  return fmt::format("no growth at {} of {} nodes where steps differ", of.tried, of.places);
}

std::string Simulation::caution() const {
  if (!differ(steps)) return "";
  if (trial && trial->grows)
    return fmt::format(
        "these steps resonate: a small motion {}, e^{:.3g} over the run. Leave the choice to lattice = \"auto\", or "
        "take a smaller safety or nodal_safety.",
        describe_trial(*trial), trial->growth / trial->longest_step * input.end_time);
  if (trial || !(input.integrator.method == "avi" || input.integrator.method == "avi-implicit")) return "";
  return input.integrator.lattice != "exact"
             ? "whether these steps resonate was not tried (trial = 0): `tempi stability` measures it."
             : "whether steps on the exact queue resonate is not tried: `tempi stability` measures it.";
}

Simulation build(CaseFile input, int threads) { return Builder(std::move(input), threads)(); }

}  // namespace tempi
