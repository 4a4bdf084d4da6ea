// SPDX-License-Identifier: Apache-2.0
// Which steps are stable: bodies drawn at random from many kinds (drawn_bodies.hpp), their small motions run under the
// AVI map (diagnostic/stability.hpp) and, where asked for, the bodies themselves. A line of JSON a body, as soon as it
// is known; stability_table.py draws docs/stability.md from all of them.
//
//   tempi_stability_sweep [OPTION VALUE]... OUT.jsonl ELEMENT...        elements: bar tri3 tri6 tet4 tet10
//
//   --first N --meshes N     seeds of each kind (1 and 6)
//   --kind TEXT              only the kinds whose names hold it
//   --limit L                default | none | nodal | one-ring | a ratio     (default: what lattice = "auto" takes)
//   --rule R                 a lattice of the case file (powers-of-two)
//   --safety S               (0.9)
//   --shares own|balanced    (balanced)
//   --coupling plain|mollified   (mollified; plain where steps do not nest)
//   --longest-steps N        that growth has (100000)
//   --run 1                  run the linear motion for as many, too: what the spectrum says, seen (0)
//   --nonlinear N            longest steps of the body itself, from smooth velocities of 2e-4 of the wave speed (0)
//   --spectrum 0             leaves out the whole body's spectrum and runs nothing: the trial only (1)
//   --mode FILE              the fastest growing motion of the first body, for stability_picture.py
//   --file FILE              one body: of a mesh, or of a geometry that Gmsh meshes
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "drawn_bodies.hpp"
#include "tempi/case/step_choice.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/diagnostic/stability.hpp"
#include "tempi/diagnostic/step_trial.hpp"
#include "tempi/integrator/avi/avi_lattice.hpp"
#include "tempi/model/linearised_model.hpp"
#include "tempi/model/steps.hpp"

namespace tempi::bench {
namespace {

using Json = nlohmann::ordered_json;

const std::map<std::string, CellType> elements = {{"bar", CellType::line2},
                                                  {"tri3", CellType::triangle3},
                                                  {"tri6", CellType::triangle6},
                                                  {"tet4", CellType::tetrahedron4},
                                                  {"tet10", CellType::tetrahedron10}};

struct Effort {
  std::string limit = "default", rule = "powers-of-two", kind, file, mode;
  double safety = 0.9;
  MassShares shares = MassShares::balanced;
  Coupling coupling = Coupling::mollified;
  Index longest_steps = stability_horizon, nonlinear = 0;
  bool run = false, spectrum = true;
  std::uint64_t first = 1, meshes = 6;
};

double longest_step(const TickLattice& lattice) { return lattice.tick * *std::ranges::max_element(lattice.ticks); }

// As a run of so many longest steps has it.
StepTrial trial_of(const Model& model, std::span<const double> u, const StepChoice& choice,
                   std::span<const double> nodal, const Effort& effort) {
  TrialOptions options;
  options.duration = static_cast<double>(effort.longest_steps) * longest_step(choice.lattice);
  options.price = std::max(0.03, 0.05e-9 * choice.cost * options.duration);
  options.wide = std::max(1.0, 0.25 * options.price);
  options.coupling = choice.coupling;
  return try_steps(model, u, choice.lattice, nodal, options);
}

struct Chosen {
  StepChoice choice;
  StepTrial trial;
  int attempts = 1;
};

Chosen choose(const StepWish& wish, std::span<const double> u, std::span<const double> nodal, const Effort& effort) {
  const auto with = [&](const StepChoice& choice, int n) {
    return Chosen{choice, trial_of(wish.model, u, choice, nodal, effort), n};
  };
  if (effort.limit == "default") {
    int n = 0;
    for (const StepAttempt& attempt : attempts()) {
      StepWish part = wish;
      part.part = attempt.part;
      Chosen chosen = with(automatic_choice(part, attempt.limit), ++n);
      if (!chosen.trial.grows) return chosen;
    }
    return with(equal_steps(wish), ++n);
  }
  NeighbourLimit limit;
  if (effort.limit == "nodal") limit = attempts().front().limit;
  if (effort.limit == "one-ring") limit.one_ring = true;
  if (limit == NeighbourLimit{} && effort.limit != "none") limit.ratio = std::stod(effort.limit);
  return with(choice_of(wish, *lattice_rule(effort.rule), limit), 1);
}

extern "C" void dgeev_(const char* left, const char* right, const int* n, double* A, const int* lda, double* real,
                       double* imag, double* vl, const int* ldvl, double* vr, const int* ldvr, double* work,
                       const int* lwork, int* info);

// The growth of the fastest growing motion, of the logarithm of its amplitude per longest step, from the spectrum: of
// steps that nest the positions at the ends of longest steps follow x(2T) - 2 C x(T) + x(0) = 0 (step_trial.hpp), here
// with C of the whole model. Column by column: a unit displacement after a half kick, one longest step later.
double exact_growth(const Model& linear, const StepChoice& choice) {
  const double T = longest_step(choice.lattice);
  AviLattice map(linear, choice.lattice, LatticeOptions{1, 0.0, choice.coupling});
  const State rest = reference_state(linear);
  const auto n = static_cast<Eigen::Index>(rest.displacement.size());
  Eigen::MatrixXd C(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    State state = rest;
    state.displacement[static_cast<std::size_t>(j)] = 1.0;
    map.rewind();
    map.advance_to(state, T + 0.5 * choice.lattice.tick);
    for (Eigen::Index i = 0; i < n; ++i) C(i, j) = state.displacement[static_cast<std::size_t>(i)];
  }
  const int size = static_cast<int>(n), one = 1, room = 8 * size;
  int info = 0;
  std::vector<double> real(static_cast<std::size_t>(n)), imag(real.size()), work(static_cast<std::size_t>(room));
  dgeev_("N", "N", &size, C.data(), &size, real.data(), imag.data(), nullptr, &one, nullptr, &one, work.data(), &room,
         &info);
  double growth = info == 0 ? 0.0 : std::nan("");
  for (std::size_t i = 0; i < real.size(); ++i) {
    const std::complex<double> mu(real[i], imag[i]);
    growth = std::max(growth, std::abs(std::log(std::abs(mu + std::sqrt(mu * mu - 1.0)))));
  }
  return growth;
}

// Energy band of the body itself under these steps, over E_ref; what stopped it otherwise.
struct Outcome {
  double band;
  std::string failure;
};
Outcome run_body(const Model& model, const StepChoice& choice, double duration) {
  AviLattice avi(model, choice.lattice, {.coupling = choice.coupling});
  State state = reference_state(model);
  const auto d = static_cast<std::size_t>(model.dim());
  constexpr double speed = 2e-4 * 3806.0;  // [m/s]
  for (std::size_t i = 0; i < state.velocity.size(); ++i) {
    double phase = static_cast<double>(i % d);
    for (std::size_t c = 0; c < d; ++c)
      phase += (1.0 + static_cast<double>((c + i) % d)) * model.reference()[i / d * d + c];
    state.velocity[i] = speed * std::cos(phase);
  }
  Balance balance;
  constexpr int samples = 200;
  std::string failure;
  try {
    for (int k = 0; k <= samples; ++k) {
      const double t = duration * k / samples;
      avi.advance_to(state, t);
      balance.add(sample(model, avi.synchronized(state, t)));
    }
  } catch (const SolveError& e) {
    failure = e.what();
  }
  return {balance.energy().band, failure};
}

// The motion that is left when all others have been outgrown, with the mesh and the steps it belongs to.
void write_mode(const Body& body, const Model& linear, const StepChoice& choice, const std::string& file) {
  constexpr int longest_steps = 3000;
  const TickLattice& lattice = choice.lattice;
  AviLattice map(linear, lattice, LatticeOptions{1, 0.0, choice.coupling});
  State state = reference_state(linear);
  for (std::size_t i = 0; i < state.velocity.size(); ++i) state.velocity[i] = std::sin(1.0 + 12.9898 * double(i));
  for (int k = 1; k <= longest_steps; ++k) {
    map.advance_to(state, k * longest_step(lattice) + 0.5 * lattice.tick);
    double largest = 0.0;
    for (const double v : state.velocity) largest = std::max(largest, std::abs(v));
    for (auto* values : {&state.velocity, &state.displacement})
      for (double& v : *values) v /= largest;
  }
  Json j = {{"dim", linear.dim()},
            {"points", body.mesh->points()},
            {"velocity", state.velocity},
            {"ticks", lattice.ticks},
            {"cells", Json::array()}};
  for (Index i = 0; i < linear.term_count(); ++i) {
    Json cell = Json::array();
    for (const NodeId a : linear.term(make_id<TermId>(i)).stencil()) cell.push_back(index(a));
    j["cells"].push_back(std::move(cell));
  }
  std::ofstream(file) << j.dump() << '\n';
}

Json try_body(const std::string& element, const DrawnBody& drawn, const Effort& effort) {
  const Model& model = *drawn.body.model;
  const auto u = reference_state(model).displacement;
  const std::vector<double> nodal = nodal_stable_steps(model, u);
  const auto steps = choose_steps(model, u, SafetyFraction{effort.safety}, StepRule::element, {});
  const double cost = typical_cost(elements.at(element));
  const StepWish wish{model, steps, std::vector<double>(steps.size(), cost), smallest_within_a_ring(model, nodal),
                      effort.coupling};
  const Chosen chosen = choose(wish, u, nodal, effort);
  const StepChoice free = choice_of(wish, LatticeRule::powers_of_two, {});
  Json j = {{"element", element},
            {"shares", name_of(effort.shares)},
            {"coupling", name_of(chosen.choice.coupling)},
            {"limit", effort.limit},
            {"rule", effort.limit == "default" ? "auto" : effort.rule},
            {"safety", effort.safety},
            {"body", drawn.description},
            {"cells", steps.size()},
            {"taken", name_of(chosen.choice.rule) + ", " + describe(chosen.choice.limit)},
            {"attempts", chosen.attempts},
            {"saving", chosen.choice.saving},
            {"saving_without_limit", free.saving},
            {"places", chosen.trial.places},
            {"tried", chosen.trial.tried},
            {"proved", chosen.trial.proved},
            {"wide", chosen.trial.wide},
            {"trial_growth", chosen.trial.growth},
            {"trial_grows", chosen.trial.grows}};
  const Model linear = linearised(model, u);
  if (!effort.mode.empty()) write_mode(drawn.body, linear, chosen.choice, effort.mode);
  j["longest_steps"] = effort.longest_steps;
  const auto grows = [&](double growth) {
    return growth * static_cast<double>(effort.longest_steps) > std::log(tolerated_growth);
  };
  constexpr std::size_t most_components = 2500;  // of a spectrum; beyond, and where steps do not nest, a run tells
  const bool nested = nests(chosen.choice.rule) && u.size() <= most_components;
  if (!effort.spectrum) return j;
  j["growth"] = nested ? exact_growth(linear, chosen.choice) : 0.0;
  j["unstable"] = grows(j["growth"].get<double>());
  if (effort.run || !nested) {
    AviLattice map(linear, chosen.choice.lattice, LatticeOptions{1, 0.0, chosen.choice.coupling});
    const StabilityReport r =
        measure_growth(linear, map, longest_step(chosen.choice.lattice), {effort.longest_steps, 1});
    j["run_growth"] = r.growth;
    j["run_unstable"] = r.unstable;
    if (!nested) j["unstable"] = r.unstable;
  }
  if (effort.nonlinear > 0) {
    const double longest = longest_step(chosen.choice.lattice);
    const Outcome avi = run_body(model, chosen.choice, static_cast<double>(effort.nonlinear) * longest);
    const Outcome newmark = run_body(model, equal_steps(wish), 200.0 * longest);
    j["nonlinear_steps"] = effort.nonlinear;
    j["band"] = avi.band;
    j["newmark_band"] = newmark.band;  // of as many longest steps as a period of the slowest vibrations has, or more
    if (!avi.failure.empty()) j["failed"] = avi.failure;
  }
  return j;
}

void sweep(const std::string& element, const Effort& effort, std::ofstream& out) {
  const auto report = [&](Json j, const std::string& kind, std::uint64_t seed) {
    j["kind"] = kind;
    j["seed"] = seed;
    out << j.dump() << std::endl;
    if (effort.spectrum && (j["unstable"] != j["trial_grows"] || j.contains("failed")))
      fmt::print(stderr, "{}\n", j.dump());
  };
  const CellType type = elements.at(element);
  if (!effort.file.empty()) {
    report(try_body(element, body_of_file(effort.file, type, effort.shares), effort), "file", 0);
    return;
  }
  for (const Kind kind : all_kinds) {
    if (!exists(kind, type) || name_of(kind).find(effort.kind) == std::string::npos) continue;
    for (std::uint64_t seed = effort.first; seed < effort.first + effort.meshes; ++seed)
      report(try_body(element, drawn_body(kind, type, seed, effort.shares), effort), name_of(kind), seed);
  }
}

}  // namespace
}  // namespace tempi::bench

int main(int argc, char** argv) {
  using namespace tempi::bench;
  Effort effort;
  std::vector<std::string> words(argv + 1, argv + argc);
  try {
    for (; words.size() > 1 && words[0].starts_with("--"); words.erase(words.begin(), words.begin() + 2)) {
      const std::string &option = words[0], &value = words[1];
      if (option == "--limit")
        effort.limit = value;
      else if (option == "--rule")
        effort.rule = value;
      else if (option == "--kind")
        effort.kind = value;
      else if (option == "--mode")
        effort.mode = value;
      else if (option == "--file")
        effort.file = value;
      else if (option == "--safety")
        effort.safety = std::stod(value);
      else if (option == "--shares")
        effort.shares = value == "own" ? tempi::MassShares::own : tempi::MassShares::balanced;
      else if (option == "--coupling")
        effort.coupling = value == "plain" ? tempi::Coupling::plain : tempi::Coupling::mollified;
      else if (option == "--run")
        effort.run = value == "1";
      else if (option == "--spectrum")
        effort.spectrum = value == "1";
      else if (option == "--longest-steps")
        effort.longest_steps = std::stol(value);
      else if (option == "--nonlinear")
        effort.nonlinear = std::stol(value);
      else if (option == "--first")
        effort.first = std::stoul(value);
      else if (option == "--meshes")
        effort.meshes = std::stoul(value);
      else
        throw tempi::InputError("unknown option " + option);
    }
    if (words.size() < 2)
      throw tempi::InputError("usage: tempi_stability_sweep [OPTION VALUE]... OUT.jsonl ELEMENT...");
    std::ofstream out(words[0], std::ios::app);
    for (std::size_t i = 1; i < words.size(); ++i) sweep(words[i], effort, out);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
  return 0;
}
