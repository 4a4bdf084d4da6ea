// SPDX-License-Identifier: Apache-2.0
// What the parts make of their sections, joined to a Simulation.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>

#include "tempi/case/constraint_choice.hpp"
#include "tempi/case/contact_choice.hpp"
#include "tempi/case/damping_choice.hpp"
#include "tempi/case/initial_state.hpp"
#include "tempi/case/load_choice.hpp"
#include "tempi/case/material_choice.hpp"
#include "tempi/case/method_table.hpp"
#include "tempi/case/particle_choice.hpp"
#include "tempi/case/path_integral_choice.hpp"
#include "tempi/case/potential_choice.hpp"
#include "tempi/case/shell_choice.hpp"
#include "tempi/case/simulation.hpp"
#include "tempi/case/support_choice.hpp"
#include "tempi/case/wall_choice.hpp"
#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"
#include "tempi/io/read_mesh.hpp"
#include "tempi/mesh/doubts.hpp"
#include "tempi/potential/uniform_field.hpp"

namespace tempi {
namespace {

class Builder {
 public:
  Builder(CaseFile input, int threads) {
    s_.input = std::move(input);
    s_.threads = threads;
  }

  Simulation operator()() && {
    const auto start = std::chrono::steady_clock::now();
    if (!input().mesh_file.empty()) {
      read_mesh_file();
      add_materials();
    }
    if (s_.has_particles()) place_particles();
    add_potentials();
    parts_.supports = choose_supports(input().fixes, mesh(), input().constants);
    add_loads();
    add_dampers();
    add_layers();
    parts_.dim = s_.body.mesh->dim();
    // Potentials between nodes, walls and the bending of shells bring no mass, so cells must leave them some.
    const auto massless = std::ranges::find_if(parts_.potentials, [](const auto& potential) {
      return potential->size() > 0 && potential->mass(0, 0) == 0.0;
    });
    const bool without_mass = massless != parts_.potentials.end();
    if (input().integrator.own_shares_asked && without_mass)
      throw PlacedError(input().integrator.place,
                        fmt::format("mass_shares = \"own\" leaves {} without mass. Leave it out.",
                                    (*massless)->describe(0)));
    const bool balanced = input().integrator.mass_shares == "balanced" || without_mass;
    parts_.shares = balanced ? MassShares::balanced : MassShares::own;
    parts_.reference.assign(s_.body.mesh->points().begin(), s_.body.mesh->points().end());
    s_.model = std::make_unique<Model>(std::move(parts_));
    s_.state = choose_initial_state(input(), mesh(), *s_.model, s_.body.first_particle, particles_.particles.velocity);
    refuse_crossings();
    refuse_what_is_too_close();
    plan_steps(s_, acting_together_);
    try_start();
    s_.probes = choose_probes(input().probes, mesh(), input().constants);
    for (std::size_t i = 0; i < s_.probes.size(); ++i)
      if (input().probes[i].body) s_.probes[i].body = body_of(s_.probes[i], *s_.model, *s_.integrator);
    check_residual_probes();
    s_.path_integrals = choose_path_integrals(input().path_integrals, s_.body, input().constants,
                                              method_of(input().integrator).quasi_static, s_.warnings);
    if (input().configurational_forces)
      require_solids(s_.body, input().configurational_place, "configurational_forces");
    s_.outputs = plan_outputs(s_);
    s_.start_time = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(s_);
  }

 private:
  void check_residual_probes() const {
    const std::vector<Index> terms = s_.body.term_of_cell();
    for (std::size_t i = 0; i < s_.probes.size(); ++i) {
      const auto& element = s_.probes[i].element;
      if (!element) continue;
      const Place& place = input().probes[i].residual_place;
      if (terms[ordinal(*element)] < 0) throw PlacedError(place, "the element there has no material.");
      if (!input().integrator.residual_asked)
        throw PlacedError(place, "nobody measures residuals. Give residual = true in [integrator] too.");
      if (!input().integrator.residual)
        throw PlacedError(place, fmt::format("{} has no local energy residual.", input().integrator.method));
    }
  }

  const CaseFile& input() const { return s_.input; }
  const Mesh& mesh() const { return *s_.body.mesh; }
  // Without particles; null: there are only these.
  const Mesh* cell_mesh() const {
    return s_.body.elastic ? s_.body.elastic.get() : s_.has_particles() ? nullptr : &mesh();
  }

  void read_mesh_file() {
    const auto read = [&](std::filesystem::path file) {
      if (file.is_relative()) file = input().path.parent_path() / file;
      return at_place(fmt::format("{}: {}", input().mesh_place, file.filename().string()), [&] {
        return read_mesh(file, {.order = input().mesh_order,
                                .size = input().mesh_size,
                                .refine = input().mesh_refine,
                                .curved = input().mesh_curved,
                                .system_calls = input().mesh_system_calls,
                                .shells = shells_of(input())});
      });
    };
    const std::filesystem::path& file = input().mesh_file;
    s_.body.mesh = std::make_unique<Mesh>(read(file));
    for (const std::string& more : input().meshes_beside)
      s_.body.mesh = std::make_unique<Mesh>(
          at_place(fmt::format("{}: {}", input().mesh_place, more), [&] { return mesh().beside(read(more)); }));
    if (const ShellGroups shells = shells_of(input()); shells.any())
      at_place(input().mesh_place, [&] { require_shells(mesh(), shells); });
    s_.warnings = mesh().warnings();
    const std::vector<std::string> more =
        doubts(mesh(), input().contacts.empty() && input().ties.empty() ? LooseParts::doubtful : LooseParts::expected);
    s_.warnings.insert(s_.warnings.end(), more.begin(), more.end());
    if (!is_geometry(file))
      for (const auto& [key, is_set] :
           {std::pair{"order", input().mesh_order != 1}, std::pair{"size", input().mesh_size > 0.0},
            std::pair{"refine", input().mesh_refine > 0}, std::pair{"curved", !input().mesh_curved}})
        if (is_set)
          s_.notes.push_back(fmt::format("{} has no effect: '{}' is a mesh already.", key, file.filename().string()));
    if (input().mesh_scale != 1.0) s_.body.mesh = std::make_unique<Mesh>(mesh().scaled(input().mesh_scale));
    s_.body.first_particle = mesh().node_count();
  }

  std::filesystem::path folder() const { return input().path.parent_path(); }

  void place_particles() {
    particles_ = choose_particles(*input().particles, folder());
    s_.warnings.insert(s_.warnings.end(), particles_.warnings.begin(), particles_.warnings.end());
    s_.body.box = particles_.box;
    s_.body.elastic = std::move(s_.body.mesh);
    draw_particles({});
    const Particles& p = particles_.particles;
    parts_.mass.insert(parts_.mass.end(), p.mass.begin(), p.mass.end());
    s_.body.particle_terms.assign(p.mass.size(), -1);
    if (particles_.radii.empty()) return;
    radii_.assign(parts_.mass.size() - p.mass.size(), 0.0);
    radii_.insert(radii_.end(), particles_.radii.begin(), particles_.radii.end());
  }
  void draw_particles(const std::vector<NodePair>& bonds) {
    s_.body.mesh = at_place(input().particles->place,
                            [&] { return std::make_unique<Mesh>(mesh_of(s_.body.elastic.get(), particles_, bonds)); });
  }

  Surroundings surroundings() const {
    return {mesh(), parts_.mass,   s_.body.box, input().constants, folder(), !method_of(input().integrator).takes_sums,
            radii_, elastic_walls_};
  }

  // What spheres touch by Hertz's law.
  void find_elastic_walls(const TouchingBody& body) {
    for (const WallInput& given : input().walls) {
      if (given.young.has_value() != given.poisson.has_value() || (given.young && given.penalty))
        throw PlacedError(given.place, "young and poisson go together, and without a penalty.");
      if (!given.young) continue;
      const auto takes = [](const PotentialInput& p) { return p.type == "hertz" && p.find("young") != nullptr; };
      if (std::ranges::none_of(input().potentials, takes))
        throw PlacedError(given.place,
                          "young and poisson are of what spheres touch. Add a [[potential]] of type "
                          "hertz with young and poisson, or give a penalty.");
      if (!given.velocity.empty() || given.step)
        throw PlacedError(given.place,
                          "what spheres touch by Hertz's law rests, and has no step of its own. Leave out "
                          "velocity and step.");
      HardWall wall = choose_wall(given, body);
      elastic_walls_.push_back({wall.wall, std::move(wall.nodes), *given.young, *given.poisson, given.place});
    }
  }

  void add_potentials() {
    std::vector<NodePair> bonds;
    Index first = 0;  // term of the next potential
    for (std::size_t p = 0; p < parts_.potentials.size(); ++p) {
      const bool is_cells = p < s_.body.cells.size();
      potentials_.push_back({parts_.potentials[p].get(), first, is_cells ? s_.body.cells[p] : nullptr, {}, is_cells});
      first += parts_.potentials[p]->size();
    }
    const auto take = [&](std::unique_ptr<Potential> potential, std::string_view type, std::vector<NodePair> bonds_of,
                          bool one_step, std::optional<double> step) {
      potentials_.push_back({potential.get(), first, nullptr, std::move(bonds_of)});
      potentials_.back().is_stiff = type != "uniform-field";
      if (one_step || step) acting_together_.push_back({first, first + potential->size(), step});
      s_.body.forces.emplace_back(type, potential->size());
      first += potential->size();
      parts_.add(std::move(potential));
    };
    find_elastic_walls({mesh(), cell_mesh(), s_.body.first_particle, parts_.mass, input().constants});
    const auto draw = [&](const NodePair& bond, Index term) {  // those between particles
      if (std::min(index(bond[0]), index(bond[1])) < s_.body.first_particle || !s_.has_particles()) return;
      if (crosses_boundary(bond)) return;
      bonds.push_back(bond);
      s_.body.particle_terms.push_back(term);
    };
    for (const PotentialInput& in : input().potentials)
      for (ChosenPotential& chosen : choose_potential(in, surroundings())) {
        s_.notes.insert(s_.notes.end(), chosen.notes.begin(), chosen.notes.end());
        for (std::size_t k = 0; k < chosen.bonds.size(); ++k) draw(chosen.bonds[k], first + static_cast<Index>(k));
        s_.body.in_field = s_.body.in_field || chosen.is_field;
        if (chosen.wall) {  // whoever touches it does so once, however many potentials it is in
          std::vector<NodeId> touching;
          for (Index k = 0; k < chosen.potential->size(); ++k) touching.push_back(chosen.potential->stencil(k).front());
          make_distinct(touching);
          std::erase_if(elastic_walls_[*chosen.wall].nodes,
                        [&](NodeId a) { return std::ranges::binary_search(touching, a); });
        }
        if (chosen.impacts) {
          std::vector<TermId> hosts;
          for (Index k = 0; k < chosen.impacts->size(); ++k) hosts.push_back(make_id<TermId>(first + k));
          impacts_.push_back({std::move(chosen.impacts), std::move(hosts)});
        }
        take(std::move(chosen.potential), in.type, std::move(chosen.bonds), chosen.one_step, chosen.step);
      }
    add_contacts(take);
    for (const ConstraintInput& in : input().constraints) {
      ChosenConstraints chosen = choose_constraints(in, surroundings());
      std::ranges::move(chosen.constraints, std::back_inserter(parts_.constraints));
      for (const NodePair& link : chosen.links) draw(link, -1);
    }
    if (!s_.has_particles()) return;
    host_lonely_particles(first);
    if (parts_.potentials.empty())
      throw InputError(fmt::format("{}: nothing acts on the particles. Add a [[potential]] or a [[load]].",
                                   input().path.filename().string()));
    draw_particles(bonds);
  }

  // What is to act on particles that nothing else acts on has its tempo from a term without strength, from `first` on.
  void host_lonely_particles(Index first) {
    const bool drags = std::ranges::any_of(input().dampings, [](const auto& d) {
      return d.type == "drag" || d.alpha.value_or(0.0) > 0.0;
    });
    const bool touching = std::ranges::any_of(input().contacts, &ContactInput::has_layers);
    const bool nothing_else = parts_.potentials.empty() && !parts_.constraints.empty();
    if (input().loads.empty() && !drags && !touching && !nothing_else) return;
    const NodeTerms hosts = hosts_of_nodes(mesh().node_count(), potentials_);
    std::vector<NodeId> lonely;
    for (Index a = s_.body.first_particle; a < mesh().node_count(); ++a) {
      if (!hosts[make_id<NodeId>(a)].empty()) continue;
      s_.body.particle_terms[static_cast<std::size_t>(a - s_.body.first_particle)] = first + std::ssize(lonely);
      lonely.push_back(make_id<NodeId>(a));
    }
    if (lonely.empty()) return;
    parts_.add(make_uniform_field(mesh().points(), mesh().dim(), parts_.mass, std::move(lonely), {}));
    potentials_.push_back({parts_.potentials.back().get(), first});
    potentials_.back().is_stiff = false;
  }

  // take(potential, type, bonds, whether its terms have one step, which)
  template <class Take>
  void add_contacts(Take&& take) {
    const IntegratorInput& in = input().integrator;
    const Method& method = method_of(in);
    const TouchingBody body = {mesh(), cell_mesh(), s_.body.first_particle, parts_.mass, input().constants};
    // Nobody touches yet, so no stable step tells: a quarter of the penalty's, and less where others take less.
    const auto step = [&](const std::optional<double>& own, std::span<const NodeId> nodes, double penalty) {
      if (own || in.step) return own;
      const double part = std::min(0.25 * in.shortened, in.safety ? *in.safety : *in.courant);
      return std::optional(part * penalty_limit(nodes, parts_.mass, penalty));
    };
    for (const ContactInput& contact : input().contacts) {
      if (contact.has_layers()) continue;
      if (!method.takes_faces)
        throw PlacedError(contact.place, fmt::format("{} does not take [[contact]], whose faces act together. Choose "
                                                     "another method.",
                                                     in.method));
      std::unique_ptr<FaceContact> faces = choose_contact(contact, body);
      const auto nodes = faces->stencil(0);
      faces_.emplace_back(faces.get(), contact.place);
      note_stiffness(contact.place, nodes, *contact.penalty, contact.step);
      const auto of_its_own = step(contact.step, nodes, *contact.penalty);
      take(std::move(faces), "contact", {}, true, of_its_own);
    }
    for (const WallInput& given : input().walls) {
      if (is_of_layers(given) || given.young) continue;
      if (!given.velocity.empty() || !given.displacement.empty())
        throw PlacedError(given.place,
                          "only walls of layered contact move: leave out velocity and displacement, or penalty, and "
                          "add a [[contact]] with a distance.");
      HardWall wall = choose_wall(given, body);
      s_.body.in_field = true;
      if (given.penalty) {
        note_stiffness(given.place, wall.nodes, *given.penalty, given.step);
        const auto of_its_own = step(given.step, wall.nodes, *given.penalty);
        take(at_place(given.place,
                      [&] {
                        return make_wall_contact(mesh().points(), mesh().dim(), wall.nodes, wall.wall, *given.penalty);
                      }),
             "wall", {}, true, of_its_own);
      } else if (method.takes_hard_walls) {
        s_.body.walls.push_back(std::move(wall));
      } else {
        throw PlacedError(
            given.place,
            fmt::format("{} needs a penalty (in m/N) for a wall, or a [[contact]] of layers; without either it is for "
                        "energy-stepping and async-energy-stepping. Add penalty = ...",
                        in.method));
      }
    }
  }

  bool is_of_layers(const WallInput& wall) const {
    return !wall.penalty && !wall.young && std::ranges::any_of(input().contacts, &ContactInput::has_layers);
  }

  // What falls may reach before the end, or from as high as things are.
  double speed_of_falls() const {
    double size = 0.0, fastest = 0.0;
    for (const double x : mesh().points()) size = std::max(size, std::abs(x));
    for (const LoadInput& load : input().loads) {
      if (load.type != "gravity") continue;
      double squared = 0.0;
      for (const FormulaText& g : load.value)
        if (const double* value = std::get_if<double>(&g.value)) squared += *value * *value;
      const double g = std::sqrt(squared);
      fastest = std::max(fastest, std::min(g * input().end_time, std::sqrt(2.0 * g * size)));
    }
    return fastest;
  }

  void add_layers() {
    if (std::ranges::none_of(input().contacts, &ContactInput::has_layers)) return;
    const std::vector<double> velocity =
        initial_velocities(input(), mesh(), s_.body.first_particle, particles_.particles.velocity);
    const double driven = driven_speed(parts_.supports, input().end_time, mesh().dim());
    double fastest = std::max(speed_of_falls(), driven);
    for (const double v : velocity) fastest = std::max(fastest, std::abs(v));
    const double travel = 2.0 * fastest * input().end_time;
    for (std::size_t c = 0; c < static_cast<std::size_t>(mesh().dim()); ++c)
      if (s_.body.box.length(c))
        throw PlacedError(input().contacts.front().place,
                          "layers of contact do not reach across the boundary of a periodic box. Leave out box, or use "
                          "a [[potential]].");
    TouchingBody body{mesh(), cell_mesh(), s_.body.first_particle, parts_.mass, input().constants, radii_};
    body.velocity = velocity;
    body.potentials = parts_.potentials;
    body.supports = &parts_.supports;
    body.driven = driven;
    body.fall = speed_of_falls();
    body.travel = travel;
    body.end_time = input().end_time;
    std::vector<WallInput> walls;
    std::ranges::copy_if(input().walls, std::back_inserter(walls), [&](const WallInput& w) { return is_of_layers(w); });
    for (const ContactInput& contact : input().contacts) {
      if (!contact.has_layers()) continue;
      ChosenLayers chosen = choose_layers(contact, walls, body);
      const IntegratorInput& in = input().integrator;
      if (method_of(in).name != "avi" || in.lattice == "exact")
        throw PlacedError(contact.place, fmt::format("contact by layers, each with a step of its own, is for avi on a "
                                                     "lattice, not for {}. Choose avi, or law = \"faces\".",
                                                     in.lattice == "exact" ? "the exact queue" : in.method));
      parts_.layers.push_back(std::move(chosen.layers));
      if (chosen.faces == nullptr) continue;
      faces_.emplace_back(chosen.faces.get(), contact.place);
      starting_faces_.push_back(std::move(chosen.faces));
    }
    for (const WallInput& wall : walls)
      walls_of_layers_.push_back({choose_wall(wall, body), displacement_at(motion_of(wall, body), 0.0), wall.place});
    s_.body.in_field = s_.body.in_field || !walls.empty();
  }

  void refuse_what_is_too_close() const {
    const auto d = static_cast<std::size_t>(mesh().dim());
    for (const auto& [wall, start, place] : walls_of_layers_)
      for (const NodeId a : wall.nodes) {
        std::array<double, 3> x{};
        for (std::size_t c = 0; c < d; ++c)
          x[c] = mesh().point(a)[c] + s_.state.displacement[ordinal(a) * d + c] - start[c];
        if (gap(wall.wall, x).distance < 0.0)
          throw PlacedError(place,
                            fmt::format("node {} at ({:.4g}) is beyond the wall where the run starts. {}.",
                                        mesh().point_label(a), fmt::join(std::span(x).first(d), ", "),
                                        wall.wall.shape == Wall::Shape::plane ? "Turn its normal, or move one of them"
                                        : wall.wall.shape == Wall::Shape::box ? "Move one of them"
                                                                              : "Turn inside, or move one of them"));
      }
    std::size_t k = 0;
    for (const auto& contact : s_.model->layers()) {
      while (!input().contacts[k].has_layers()) ++k;
      const Place& place = input().contacts[k++].place;
      std::vector<std::array<double, 3>> x;
      for (const ContactSurface::Vertex& v : contact->surface().vertices()) {
        x.push_back(v.place);
        const auto moved = displacement_at(v.motion, 0.0);
        for (std::size_t c = 0; c < d; ++c)
          x.back()[c] += v.is_rigid() ? moved[c] : s_.state.displacement[ordinal(v.node) * d + c];
      }
      if (const std::string who = too_close(*contact, x, contact->law().outer); !who.empty())
        throw PlacedError(place, fmt::format("{}, nearer than distance = {:.6g} m where the run starts. Choose a "
                                             "smaller distance, or move them apart.",
                                             who, contact->law().outer));
    }
  }

  void note_stiffness(const Place& place, std::span<const NodeId> nodes, double penalty,
                      const std::optional<double>& own) {
    const IntegratorInput& in = input().integrator;
    const std::optional<double> step = own ? own : in.step;
    const double limit = penalty_limit(nodes, parts_.mass, penalty);
    if (step && *step > 0.5 * limit && method_of(in).engine != Engine::stepping)
      s_.warnings.push_back(
          fmt::format("{}: the step {:.6g} s is near or beyond the limit of this penalty, 2 "
                      "sqrt(penalty m) = {:.6g} s for the lightest node, and less where several "
                      "faces touch it. Choose a smaller step or a larger penalty.",
                      place, *step, limit));
  }

  void refuse_crossings() const {
    for (const auto& [faces, place] : faces_)
      if (const std::string which = faces->first_crossing(s_.state.displacement); !which.empty())
        throw PlacedError(place, fmt::format("{} cross where the run starts. Move the bodies apart.", which));
  }

  bool crosses_boundary(const NodePair& pair) const {
    for (std::size_t c = 0; c < static_cast<std::size_t>(mesh().dim()); ++c)
      if (s_.body.box.length(c) &&
          std::abs(mesh().point(pair[1])[c] - mesh().point(pair[0])[c]) > 0.5 * *s_.body.box.length(c))
        return true;
    return false;
  }

  void add_materials() {
    parts_.mass.assign(static_cast<std::size_t>(mesh().node_count()), 0.0);
    for (auto& cells : choose_materials(input(), mesh())) {
      s_.body.cells.push_back(cells.get());
      parts_.add(std::move(cells));
    }
    for (auto& bending : choose_bending(input(), mesh(), s_.body.cells)) {
      s_.body.bending.push_back(bending.get());
      const bool clamps = bending->stencil(0).size() == 3;
      s_.body.in_field = s_.body.in_field || clamps;
      s_.body.forces.emplace_back(clamps ? "clamped edges" : "hinges", bending->size());
      parts_.add(std::move(bending));
    }
  }

  void add_loads() {
    if (input().loads.empty()) return;
    const std::vector<Index> term_of_cell = s_.body.term_of_cell();
    const NodeTerms hosts = hosts_of_nodes(mesh().node_count(), potentials_);
    const LoadedBody loaded = {
        mesh(),           cell_mesh(),  s_.body.cells, parts_.mass, s_.body.first_particle, input().constants,
        input().end_time, term_of_cell, hosts};
    for (const LoadInput& load : input().loads)
      for (ChosenForce& chosen : choose_load(load, loaded)) add(std::move(chosen));
  }

  void add_dampers() {
    for (ChosenForce& impacts : impacts_) add(std::move(impacts));
    for (const DampingInput& in : input().dampings)
      for (ChosenForce& damper : choose_dampers(in, surroundings(), potentials_)) add(std::move(damper));
  }

  void add(ChosenForce chosen) {
    parts_.forces.push_back(std::move(chosen.force));
    parts_.hosts.push_back(std::move(chosen.hosts));
  }

  // Constraints look at the start when they first see it.
  void try_start() const {
    if (s_.model->constraints().empty()) return;
    at_place(input().constraints.front().place, [&] { s_.integrator->synchronized(s_.state, 0.0); });
  }

  Simulation s_;
  Model::Parts parts_;
  ParticleModel particles_;
  std::vector<HostPotential> potentials_;  // all, in order
  std::vector<ChosenForce> impacts_;
  std::vector<TermsOfOneStep> acting_together_;
  std::vector<std::pair<const FaceContact*, Place>> faces_;
  struct WallOfLayers {
    HardWall wall;
    std::array<double, 3> start;  // from where it is placed [m]
    Place place;
  };
  std::vector<WallOfLayers> walls_of_layers_;
  std::vector<std::unique_ptr<FaceContact>> starting_faces_;  // of layers: who may not cross at the start
  std::vector<double> radii_;                                 // of all nodes; empty: nobody has one
  std::vector<Surroundings::ElasticWall> elastic_walls_;
};

}  // namespace

Simulation build(CaseFile input, int threads) { return Builder(std::move(input), threads)(); }

}  // namespace tempi
