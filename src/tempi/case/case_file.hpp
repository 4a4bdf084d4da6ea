// SPDX-License-Identifier: Apache-2.0
// A case as the user wrote it, checked key by key, before any mesh is read.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tempi/case/method_options.hpp"
#include "tempi/case/place.hpp"
#include "tempi/core/expression.hpp"
#include "tempi/core/ids.hpp"

namespace tempi {

// A number or an expression of X, Y, Z, t.
struct FormulaText {
  std::variant<double, std::string> value;
  Place place;
};

// A group by name or tag, a condition on X, Y, Z, or particles by number; none of these: everything.
struct Selector {
  std::string name;        // set when the group is given by name
  std::optional<int> tag;  // set when it is given by its number
  std::optional<std::string> where;
  std::vector<Index> particles;
  Place place;
  bool everything() const { return name.empty() && !tag && !where && particles.empty(); }
  std::string text() const;  // "group 'left'", "X < 1e-6"
};

struct ParticlesInput {
  std::string file;    // as written, relative to the case file; empty: particles are given here
  std::string units;   // of the file; empty: as it says
  double scale = 0.0;  // of the file
  std::vector<double> mass;
  bool one_mass = false;  // written without brackets
  std::vector<std::vector<double>> position, velocity;
  std::vector<double> box;
  std::vector<double> radius;  // empty: points without a size
  bool one_radius = false;     // written without brackets
  Place mass_place, position_place, velocity_place, box_place, radius_place, place;
};

struct PotentialInput {
  struct Values {  // of one key: a number, or several
    std::string key;
    std::vector<double> values;
    Place place;
  };
  std::string type;
  Selector nodes;
  std::vector<Selector> between;   // two, or none
  std::vector<std::string> kinds;  // groups whose particles have parameters of their own
  bool pairs_given = false;
  std::string pairs_file;                       // as written; empty: all pairs, or those listed
  std::vector<std::array<Index, 2>> pair_list;  // labels
  std::vector<Values> values;                   // of the keys given
  std::optional<FormulaText> expression;
  std::optional<FormulaText> restitution;        // of v
  std::optional<FormulaText> restitution_table;  // a file's name, as written
  std::optional<bool> together;
  Place pairs_place, together_place, between_place, kinds_place, place;
  const Values* find(std::string_view key) const;
};

struct ConstraintInput {
  std::string type;
  Selector nodes;
  std::vector<std::array<Index, 2>> pair_list;  // labels
  std::optional<double> length, extent, within;
  std::vector<double> anchor;
  std::optional<FormulaText> expression;
  int size = 0;                                     // of bodies of consecutive nodes; 0: all are one
  std::vector<std::pair<std::string, Place>> keys;  // those given
  Place place;
};

struct DampingInput {
  std::string type;
  Selector target;
  std::optional<double> coefficient, alpha, beta, bulk, shear;
  std::vector<std::pair<std::string, Place>> keys;  // those given
  Place place;
};

struct MaterialInput {
  Selector cells;
  std::string model;
  std::optional<double> lambda, mu, young, poisson;      // [Pa], [Pa], [Pa], [1]
  double density = 0.0;                                  // [kg/m^3]
  std::optional<double> thickness;                       // [m], of shells
  std::string stretching;                                // of shells
  std::vector<std::pair<std::string, Place>> of_shells;  // keys given that only they have
  Place place;

  bool is_shell() const { return model == "shell"; }
};

struct FixInput {
  std::string name;
  Selector nodes;
  std::vector<std::string> components;  // empty: all
  std::vector<FormulaText> displacement;
  bool clamped = false;
  Place components_place, displacement_place, clamped_place, place;
};

struct LoadInput {
  std::string type;
  Selector target;
  std::vector<FormulaText> value;
  bool single_value = false;  // written without brackets
  bool dead = false;
  Place value_place, dead_place, place;
};

struct ContactInput {
  std::vector<Selector> between;  // two, or none
  std::string law;
  std::optional<double> penalty, skin, step;                         // of faces: [m/N], [m], [s]
  std::optional<double> distance, inner_distance, stiffness, speed;  // of layers: [m], [m], [J/m^p], [m/s]
  double exponent = 0.0, surface_safety = 0.0, alpha = 0.0, pairs = 0.0, friction = 0.0,
         energy_restitution = 0.0;                                 // of layers
  std::vector<std::pair<std::string, Place>> of_faces, of_layers;  // keys given that belong to one law
  Place place;
  bool has_layers() const { return law == "layers"; }
};

struct WallInput {
  struct Vector {
    std::string key;
    std::vector<double> values;
    Place place;
  };
  std::string type;
  Selector target;
  std::vector<Vector> vectors;  // of the keys given
  double radius = 0.0;          // [m]; 0: not given
  bool inside = false;
  std::optional<double> penalty, step;              // [m/N], absent: nobody goes beyond it; [s]
  std::optional<double> young, poisson;             // [Pa]; of what spheres touch by Hertz's law
  std::vector<double> velocity;                     // [m/s]; empty: none
  std::vector<FormulaText> displacement;            // [m], of t; empty: none
  std::vector<std::pair<std::string, Place>> keys;  // those given that belong to some types
  Place place;
};

struct ProbeInput {
  std::string name;
  std::vector<double> point;
  Selector nodes;
  bool stress = false, residual = false, body = false;
  Place name_place, residual_place, place;
};

struct PathIntegralInput {
  std::string name, kind;
  std::vector<double> point;
  Selector nodes;
  std::vector<FormulaText> direction;  // of J
  std::vector<double> centre, axis;    // of L and M; of L in space
  std::optional<int> rings;
  std::vector<std::string> contours;  // groups of facets, instead of rings
  Place name_place, kind_place, contours_place, place;
};

struct DomainInput {
  std::string name;
  Selector target;
  double alpha = 0.0;           // of its symmetric midpoint rule: 0 and 1 are explicit
  std::optional<int> substeps;  // per system step; absent: as many as stability asks for
  std::string integrator;       // empty: avi where that goes
  std::optional<int> rings;     // of elements around it that it takes from others
  Place place;
};

struct TieInput {
  std::vector<std::string> groups;          // two surfaces, or empty
  std::vector<std::array<Index, 2>> pairs;  // of particles: who follows whom
  std::optional<double> reach;              // [m]
  Place place;
};

struct SubdomainInput {
  Selector target;
  std::optional<double> energy_step;  // [J]; absent: that of [integrator]
  Place place;
};

struct IntegratorInput {
  std::string method, steps, lattice, coupling, mass_shares;
  MethodOptions options;
  std::vector<std::pair<std::string, Place>> method_keys;  // of the options, those that were given
  bool residual_asked = false, own_shares_asked = false, steps_asked = false;
  std::optional<double> neighbour_ratio, nodal_safety;
  double trial = 0.0;
  std::optional<double> accuracy;
  std::optional<double> safety, courant, step;  // exactly one is set
  double shortened = 1.0;                       // what runs that began again have left of safety
  bool residual = false;
  Place step_place, lattice_place, coupling_place, accuracy_place, place;  // step_place: of the key that sets the steps
};

struct CaseFile {
  std::filesystem::path path;
  std::string title;
  Constants constants;
  std::optional<ParticlesInput> particles;  // instead of a mesh, or beside it
  std::filesystem::path mesh_file;          // as written, relative to the case file
  std::vector<std::string> meshes_beside;   // more of them
  Place mesh_place;
  int mesh_order = 0;
  double mesh_size = 0.0;  // 0: as the geometry says
  int mesh_refine = 0;
  bool mesh_curved, mesh_system_calls;
  double mesh_scale = 0.0;
  std::vector<MaterialInput> materials;
  std::vector<PotentialInput> potentials;
  std::vector<ConstraintInput> constraints;
  std::vector<DampingInput> dampings;
  std::vector<FixInput> fixes;
  std::vector<LoadInput> loads;
  std::vector<FormulaText> initial_position, initial_velocity;
  Place position_place, velocity_place;
  std::vector<ContactInput> contacts;
  std::vector<WallInput> walls;
  std::vector<ProbeInput> probes;
  std::vector<PathIntegralInput> path_integrals;
  std::vector<DomainInput> domains;
  std::vector<TieInput> ties;
  std::vector<SubdomainInput> subdomains;
  IntegratorInput integrator;
  double end_time = 0.0;               // [s]
  double energy_tolerance = 0.0;       // 0: none
  double checkpoint_interval = 0.0;    // [s] of wall time; 0: none
  std::optional<double> wall_limit;    // [s]
  std::optional<int> frames, history;  // absent: to be chosen
  std::vector<std::string> fields;     // of frames; empty: all
  bool float32 = false, deformed = true, configurational_forces = false;
  Place configurational_place;
  bool only_particles() const { return particles && mesh_file.empty(); }
  std::string text;      // the case as run, with --set applied and no comments: for the record
  std::string identity;  // the same without what does not change results, in the middle of a run either
};

// Reads a case file and applies `settings` of the form "section.key=value" or "section.index.key=value" (index from 0).
// Throws InputError: cannot be read, not TOML, an unknown key (nearest name), a wrong type, a value out of range,
// a required key missing. Messages begin with the place.
CaseFile read_case(const std::filesystem::path& path, const std::vector<std::string>& settings);

}  // namespace tempi
