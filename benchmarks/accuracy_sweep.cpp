// SPDX-License-Identifier: Apache-2.0
// What asynchrony does to a body's lowest frequency, predicted and measured, plain and mollified, beside Newmark.
//
//   tempi_accuracy_sweep [options] OUT.jsonl ELEMENT ...       bodies drawn at random (drawn_bodies.hpp)
//   tempi_accuracy_sweep [options] --block CELLS GRADING OUT.jsonl ELEMENT     one graded block, timed
//
//   --time T: no frequencies, T seconds of a stretched body, for bodies too large to have their mode found
//   --equal: how long each coupling and Newmark take to errors of 1e-2, 1e-3, 1e-4, safety as large as that allows;
//   with --time T: of bodies too large to vibrate for periods by each, timed for T seconds
//   --jitter J (0.15), --two R: of the block, the half beyond X = 1/2 R times as soft;   --insert R: a ball of radius
//   0.1 in its middle R times as stiff;   --file F: a mesh, or a geometry that Gmsh meshes
//   --hold X|Y|Z (X): where the body is held, at its least;   --neo-hookean: with --time, its material
//   --kind K, --meshes N, --seed S, --rule R, --limit none|nodes, --shares own|balanced, --safety a,b,c, --cycles N
//
// The body is linear elastic unless said, one end held; its slowest vibration is let go
// (diagnostic/vibration.hpp). accuracy_table.py makes the tables of docs/accuracy.md of the lines.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>

#include "drawn_bodies.hpp"
#include "tempi/case/step_choice.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/asynchrony_error.hpp"
#include "tempi/diagnostic/stability.hpp"
#include "tempi/diagnostic/vibration.hpp"
#include "tempi/element/elastic_cells.hpp"
#include "tempi/integrator/avi/avi_lattice.hpp"
#include "tempi/model/steps.hpp"

namespace {

using namespace tempi;
using namespace tempi::bench;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

struct Wish {
  std::vector<Kind> kinds;
  std::vector<double> safeties = {0.3, 0.5, 0.9};
  LatticeRule rule = LatticeRule::powers_of_two;
  NeighbourLimit limit = attempts().front().limit;
  MassShares shares = MassShares::balanced;
  int meshes = 3, seed = 1, repeats = 1;
  double cycles = 4.0;
  std::optional<BlockShape> block;
  std::string file;
  bool equal = false;
  std::size_t axis = 0;
  bool neo_hookean = false;
  double softer = 1.0, insert = 1.0, jitter = 0.15;  // of the block
  double timed = 0.0;                                // [s] simulated, of a stretched body; 0: frequencies
};

// Held where the component `axis` is least.
Model held_at_an_end(const Body& body, const Wish& wish) {
  const std::size_t axis = wish.axis;
  Model::Parts parts;
  const Mesh& mesh = *body.mesh;
  parts.dim = mesh.dim();
  parts.reference.assign(mesh.points().begin(), mesh.points().end());
  parts.mass.assign(static_cast<std::size_t>(mesh.node_count()), 0.0);
  parts.shares = body.model->share_rule();
  for (Index p = 0; p < body.model->potential_count(); ++p) {
    const auto& cells = dynamic_cast<const ElasticCells&>(body.model->potential(p));
    std::vector<CellId> of;
    for (Index k = 0; k < cells.size(); ++k) of.push_back(cells.cell(k));
    const CellType type = mesh.cells().types[ordinal(of.front())];
    const Lame lame = lame_of(cells.material());
    const Material law = wish.neo_hookean ? Material(NeoHookean{lame}) : LinearElastic{lame};
    parts.add(make_elastic_cells(mesh, type, std::move(of), law, cells.density()));
  }
  double least = std::numeric_limits<double>::infinity(), most = -least;
  const auto d = static_cast<std::size_t>(mesh.dim());
  for (std::size_t i = axis; i < mesh.points().size(); i += d) {
    least = std::min(least, mesh.points()[i]);
    most = std::max(most, mesh.points()[i]);
  }
  Support support;
  support.name = "end";
  for (Index a = 0; a < mesh.node_count(); ++a)
    if (mesh.point(make_id<NodeId>(a))[axis] < least + 0.02 * (most - least))
      support.nodes.push_back(make_id<NodeId>(a));
  for (std::size_t c = 0; c < d; ++c) support.motion[c] = Support::Motion::at_rest;
  std::vector<Support> all;
  all.push_back(std::move(support));
  parts.supports = Supports(std::move(all), mesh.points(), mesh.dim());
  return Model(std::move(parts));
}

// Not a mode: the displacements of a stretched body, and a period to run.
Vibration stretched(const Model& model, double period) {
  Vibration mode{std::vector<double>(model.reference().size(), 0.0), 2.0 * std::numbers::pi / period};
  const auto d = static_cast<std::size_t>(model.dim());
  for (std::size_t i = 0; i < mode.shape.size(); i += d) mode.shape[i] = model.reference()[i];
  return mode;
}

struct Measured {
  double error, band, wall, updates;  // of the frequency; of the energy; [s]
};

Measured measure(const Model& model, const Vibration& mode, const TickLattice& lattice, Coupling coupling, int samples,
                 double cycles) {
  const std::vector<double> rest(model.reference().size(), 0.0);
  AviLattice engine(model, lattice, {1, 0.0, coupling});
  const auto start = Clock::now();
  const MeasuredVibration found = measure_vibration(model, rest, engine, mode, 1e-6, cycles, samples);
  const double wall = std::chrono::duration<double>(Clock::now() - start).count();
  double updates = 0.0;
  for (const std::int32_t m : lattice.ticks)
    updates += cycles * 2.0 * std::numbers::pi / mode.frequency / (lattice.tick * m);
  return {found.error, found.band, wall, updates};
}

StepWish wish_of(const Model& model, CellType type, double safety, Coupling coupling) {
  const std::vector<double> rest(model.reference().size(), 0.0);
  std::vector<double> steps = choose_steps(model, rest, SafetyFraction{safety}, StepRule::element, {});
  std::vector<double> costs(steps.size(), typical_cost(type));
  return {model, std::move(steps), std::move(costs), smallest_within_a_ring(model, nodal_stable_steps(model, rest)),
          coupling};
}

Json json_of(const Measured& m) {
  return {{"error", m.error}, {"band", m.band}, {"wall", m.wall}, {"updates", m.updates}};
}

void run(const Body& drawn, const std::string& what, CellType type, const Wish& wish, std::ostream& out) {
  const Model model = held_at_an_end(drawn, wish);
  const std::vector<double> rest(model.reference().size(), 0.0);
  const Vibration mode = wish.timed > 0.0 ? stretched(model, wish.timed / wish.cycles) : slowest_vibration(model, rest);
  const auto emit = [&](Json j) {
    j["body"] = what;
    j["element"] = info(type).name;
    j["cells"] = model.term_count();
    if (wish.timed > 0.0) {
      j["timed"] = wish.timed;
      j["law"] = wish.neo_hookean ? "neo-hookean" : "linear-elastic";
    }
    if (!wish.block && wish.file.empty()) j["kind"] = what.substr(0, what.find(':'));
    out << j.dump() << '\n' << std::flush;
  };
  const int samples = wish.timed > 0.0 ? 2 : 400;
  const double assembled = assembled_stable_step(model, rest);
  for (const double safety : wish.safeties) {
    const StepWish steps = wish_of(model, type, safety, Coupling::mollified);
    const StepChoice choice = choice_of(steps, wish.rule, wish.limit);
    const TickLattice* lattice = &choice.lattice;
    const auto uniform = asynchrony_errors(model, rest, std::span(&lattice, 1), 1).front();
    std::vector<double> small = mode.shape;
    for (double& w : small) w *= 1e-6;
    const VibrationError predicted = vibration_error(model, rest, small, choice.lattice, 1);
    Json common = {{"safety", safety},
                   {"saving", choice.saving},
                   {"border", choice.border},
                   {"predicted", 0.5 * predicted.whole},
                   {"of_acceleration", 0.5 * predicted.of_acceleration},
                   {"uniform_worst", 0.5 * uniform.worst()},
                   {"uniform_mean", 0.5 * uniform.mean()}};
    // Each coupling's time is that of steps chosen for it, their errors are those of the same steps.
    const TickLattice of_plain =
        wish.timed > 0.0 ? choice_of(wish_of(model, type, safety, Coupling::plain), wish.rule, wish.limit).lattice
                         : choice.lattice;
    const TickLattice one{safety * assembled, std::vector<std::int32_t>(choice.lattice.ticks.size(), 1)};
    for (int repeat = 0; repeat < wish.repeats; ++repeat) {
      const Measured newmark = measure(model, mode, one, Coupling::plain, samples, wish.cycles);
      const Measured plain = measure(model, mode, of_plain, Coupling::plain, samples, wish.cycles);
      common["newmark"] = json_of(newmark);
      common["plain"] = json_of(plain);
      if (choice.coupling == Coupling::mollified)
        common["mollified"] = json_of(measure(model, mode, choice.lattice, Coupling::mollified, samples, wish.cycles));
      emit(common);
    }
  }
}

// What each method takes of a safety.
struct Entrant {
  std::string method;
  double safety;
  StepChoice choice;
};
Entrant entrant(const Model& model, const std::string& method, CellType type, double safety,
                const NeighbourLimit& limit) {
  if (method != "newmark")
    return {method, safety,
            automatic_choice(wish_of(model, type, safety, method == "plain" ? Coupling::plain : Coupling::mollified),
                             limit)};
  const std::vector<double> rest(model.reference().size(), 0.0);
  StepChoice one{};
  one.coupling = Coupling::plain;
  one.lattice = {safety * assembled_stable_step(model, rest),
                 std::vector<std::int32_t>(static_cast<std::size_t>(model.term_count()), 1)};
  return {method, safety, one};
}
constexpr std::array methods = {"newmark", "plain", "mollified"};
constexpr std::array tolerances = {1e-2, 1e-3, 1e-4};
constexpr std::array safeties = {0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.07, 0.05};

Json json_of(const Entrant& of, const Model& model, const std::string& what, CellType type, double tolerance) {
  return {{"race", what},        {"element", info(type).name}, {"cells", model.term_count()}, {"method", of.method},
          {"safety", of.safety}, {"tolerance", tolerance},     {"border", of.choice.border}};
}

// The largest safety with which each method stays below an error, and its time for so many cycles.
void race(const Body& drawn, const std::string& what, CellType type, const Wish& wish, std::ostream& out) {
  const Model model = held_at_an_end(drawn, wish);
  const std::vector<double> rest(model.reference().size(), 0.0);
  const Vibration mode = slowest_vibration(model, rest);
  for (const std::string method : methods) {
    std::size_t reached = 0;
    for (const double safety : safeties) {
      const Entrant of = entrant(model, method, type, safety, wish.limit);
      const auto measured = [&](int samples) {
        return measure(model, mode, of.choice.lattice, of.choice.coupling, samples, wish.cycles);
      };
      const Measured found = measured(400);
      for (; reached < tolerances.size() && std::abs(found.error) < tolerances[reached]; ++reached) {
        std::array<double, 3> walls{};
        for (double& wall : walls) wall = measured(2).wall;
        std::ranges::sort(walls);
        Json row = json_of(of, model, what, type, tolerances[reached]);
        row.update({{"error", found.error}, {"band", found.band}, {"wall", walls[1]}, {"updates", found.updates}});
        out << row.dump() << '\n' << std::flush;
      }
      if (reached == tolerances.size()) break;
    }
  }
}

// The same with errors as predicted (vibration_error, and what mollified kicks leave of it), times of `timed` seconds
// taken in turns and told for a period. At last mollified kicks of the largest safety are let vibrate for `cycles`, and
// tell what they have erred: "measured".
void race_of_large(const Body& drawn, const std::string& what, CellType type, const Wish& wish, std::ostream& out) {
  const Model model = held_at_an_end(drawn, wish);
  const std::vector<double> rest(model.reference().size(), 0.0);
  const Vibration mode = slowest_vibration(model, rest), pulled = stretched(model, wish.timed);
  const double period = 2.0 * std::numbers::pi / mode.frequency;
  std::vector<double> small = mode.shape;
  for (double& w : small) w *= 1e-6;
  struct Result {
    Entrant of;
    double predicted;
    std::vector<double> walls;
    std::optional<double> measured;
  };
  std::vector<Result> results;
  std::vector<std::pair<std::size_t, double>> rows;  // of results, tolerance
  for (const std::string method : methods) {
    std::size_t reached = 0;
    for (const double safety : safeties) {
      Entrant of = entrant(model, method, type, safety, wish.limit);
      const VibrationError error = vibration_error(model, rest, small, of.choice.lattice, 1);
      double predicted = 0.5 * error.whole;
      if (of.choice.coupling == Coupling::mollified)
        predicted = 0.5 * (error.of_acceleration + mollified_rest(safety) * (error.whole - error.of_acceleration));
      fmt::print("{} {}: {} {:g}, predicted {:.3g}\n", what, model.term_count(), method, safety, predicted);
      std::fflush(stdout);
      if (!(std::abs(predicted) < tolerances[reached])) continue;
      results.push_back({std::move(of), predicted, {}, {}});
      for (; reached < tolerances.size() && std::abs(predicted) < tolerances[reached]; ++reached)
        rows.emplace_back(results.size() - 1, tolerances[reached]);
      if (reached == tolerances.size()) break;
    }
  }
  for (int turn = 0; turn < 3; ++turn)
    for (Result& of : results)
      of.walls.push_back(measure(model, pulled, of.of.choice.lattice, of.of.choice.coupling, 2, 1.0).wall);
  const auto loosest =
      std::ranges::find(results, Coupling::mollified, [](const Result& r) { return r.of.choice.coupling; });
  if (loosest != results.end() && wish.cycles > 0.0)
    loosest->measured = measure(model, mode, loosest->of.choice.lattice, Coupling::mollified, 400, wish.cycles).error;
  for (const auto& [i, tolerance] : rows) {
    Result& of = results[i];
    std::ranges::sort(of.walls);
    Json row = json_of(of.of, model, what, type, tolerance);
    row.update({{"predicted", of.predicted}, {"period", period}, {"wall", of.walls[1] / wish.timed * period}});
    if (of.measured) row["measured"] = *of.measured;
    out << row.dump() << '\n' << std::flush;
  }
}

CellType type_of(const std::string& name) {
  for (const auto& [text, type] :
       std::initializer_list<std::pair<const char*, CellType>>{{"bar", CellType::line2},
                                                               {"tri3", CellType::triangle3},
                                                               {"tri6", CellType::triangle6},
                                                               {"tet4", CellType::tetrahedron4},
                                                               {"tet10", CellType::tetrahedron10}})
    if (name == text) return type;
  throw InputError(fmt::format("no element is called '{}': bar tri3 tri6 tet4 tet10", name));
}

int sweep(int argc, char** argv) {
  Wish wish;
  std::vector<std::string> rest;
  for (int i = 1; i < argc; ++i) {
    const std::string key = argv[i];
    const auto next = [&]() -> std::string {
      return i + 1 < argc ? argv[++i] : throw InputError(key + " wants a value");
    };
    if (key == "--kind") {
      const std::string name = next();
      for (const Kind kind : all_kinds)
        if (name_of(kind).find(name) != std::string::npos) wish.kinds.push_back(kind);
    } else if (key == "--meshes") {
      wish.meshes = std::stoi(next());
    } else if (key == "--seed") {
      wish.seed = std::stoi(next());
    } else if (key == "--repeats") {
      wish.repeats = std::stoi(next());
    } else if (key == "--rule") {
      wish.rule = lattice_rule(next()).value();
    } else if (key == "--limit") {
      if (next() == "none") wish.limit = {};
    } else if (key == "--shares") {
      if (next() == "own") wish.shares = MassShares::own;
    } else if (key == "--time") {
      wish.timed = std::stod(next());
    } else if (key == "--cycles") {
      wish.cycles = std::stod(next());
    } else if (key == "--safety") {
      wish.safeties.clear();
      std::stringstream list(next());
      for (std::string s; std::getline(list, s, ',');) wish.safeties.push_back(std::stod(s));
    } else if (key == "--jitter") {
      wish.jitter = std::stod(next());
    } else if (key == "--equal") {
      wish.equal = true;
    } else if (key == "--neo-hookean") {
      wish.neo_hookean = true;
    } else if (key == "--file") {
      wish.file = next();
    } else if (key == "--two") {
      wish.softer = std::stod(next());
    } else if (key == "--hold") {
      wish.axis = static_cast<std::size_t>(next().front() - 'X');
    } else if (key == "--insert") {
      wish.insert = std::stod(next());
    } else if (key == "--block") {
      wish.block.emplace();
      wish.block->cells = std::stoll(next());
      wish.block->grading = std::stod(next());
    } else {
      rest.push_back(key);
    }
  }
  if (rest.size() < 2) throw InputError("usage: tempi_accuracy_sweep [options] OUT.jsonl ELEMENT...");
  if (wish.kinds.empty()) wish.kinds.assign(all_kinds.begin(), all_kinds.end());
  std::ofstream out(rest.front(), std::ios::app);
  for (std::size_t e = 1; e < rest.size(); ++e) {
    const CellType type = type_of(rest[e]);
    const auto act = [&](const Body& body, const std::string& what) {
      if (wish.equal)
        wish.timed > 0.0 ? race_of_large(body, what, type, wish, out) : race(body, what, type, wish, out);
      else
        run(body, what, type, wish, out);
    };
    const LinearElastic stiff{lame_from_young(200e9, 0.3)},
        other{lame_from_young(200e9 / wish.softer * wish.insert, 0.3)};
    const auto is_other = [&](const std::vector<double>& x) {
      if (wish.insert > 1.0 && x.size() == 3) return std::hypot(x[0] - 0.5, x[1] - 0.5, x[2] - 0.5) < 0.1;
      return wish.softer > 1.0 && x[0] > 0.5;
    };
    if (wish.block) {
      wish.block->type = type;
      wish.block->jitter = wish.jitter;
      act(body_of(
              block(*wish.block), {{stiff, 7800.0}, {other, 7800.0}},
              [&](const Mesh& mesh, CellId cell) {
                return is_other(mesh.centroid(cell)) ? std::size_t{1} : std::size_t{0};
              },
              wish.shares),
          fmt::format("{}block graded {:g}{}", wish.jitter > 0.0 ? "jittered " : "", wish.block->grading,
                      wish.softer > 1.0   ? fmt::format(", half of it {:g} times as soft", wish.softer)
                      : wish.insert > 1.0 ? fmt::format(", a ball in it {:g} times as stiff", wish.insert)
                                          : ""));
    } else if (!wish.file.empty()) {
      const DrawnBody drawn = body_of_file(wish.file, type, wish.shares);
      act(drawn.body, drawn.description);
    } else {
      for (const Kind kind : wish.kinds)
        for (int m = 0; m < wish.meshes && exists(kind, type); ++m) {
          const DrawnBody drawn = drawn_body(kind, type, static_cast<std::uint64_t>(wish.seed + m), wish.shares);
          act(drawn.body, name_of(kind) + ": " + drawn.description);
        }
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return sweep(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
