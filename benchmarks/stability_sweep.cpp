// SPDX-License-Identifier: Apache-2.0
// Which steps are stable, for every element: the growth of small motions of graded and sliver-ridden blocks under the
// linear AVI map (diagnostic/stability.hpp), over rules, limits on neighbours and fractions of the stable step.
// stability_table.py draws docs/stability.md from its output.
//
//   tempi_stability_sweep [--balanced] [--longest-steps N] [--meshes N] [--from-above | --default] OUT.json ELEMENT...
//
// --balanced: masses shared so (model/model.hpp), as lattice = "auto" has it; otherwise each cell has its own.
// Elements: bar tri3 tri6 tet4 tet10. --from-above tries fractions from the largest down and leaves out what is
// smaller, or has a tighter limit on neighbours, than one without growth: hours become minutes for the tetrahedra.
// --default tries nothing but what lattice = "auto" takes at safety 0.9.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "bodies.hpp"
#include "tempi/case/step_choice.hpp"
#include "tempi/diagnostic/stability.hpp"
#include "tempi/integrator/avi_lattice.hpp"
#include "tempi/model/linearised_model.hpp"
#include "tempi/model/steps.hpp"

namespace tempi::bench {
namespace {

using Json = nlohmann::ordered_json;

struct Element {
  std::string name;
  CellType type;
  Index cells;
};
const std::array<Element, 5> elements = {{{"bar", CellType::line2, 24},
                                          {"tri3", CellType::triangle3, 512},
                                          {"tri6", CellType::triangle6, 288},
                                          {"tet4", CellType::tetrahedron4, 1296},
                                          {"tet10", CellType::tetrahedron10, 384}}};

// Half of the meshes graded, half with slivers; bars: of random lengths.
BlockShape shape_of(const Element& element, int mesh) {
  const bool slivers = mesh % 2 == 1;
  BlockShape shape{.type = element.type,
                   .cells = element.cells,
                   .grading = slivers ? 1.0 : 10.0,
                   .jitter = slivers ? 0.2 : 0.25};
  if (slivers) shape.slivers = element.type == CellType::line2 ? 0.1 : 0.03;
  shape.flatness = mesh % 4 == 1 ? 0.1 : 0.02;
  shape.seed = static_cast<unsigned>(mesh + 1);
  return shape;
}

struct Trial {
  LatticeRule rule;
  NeighbourRatio ratio;
  double safety;
};

std::vector<Trial> trials() {
  std::vector<Trial> all;
  for (const double safety : {0.2, 0.3, 0.5, 0.7, 0.9}) all.push_back({LatticeRule::any, {}, safety});
  for (const double safety : {0.3, 0.5, 0.7, 0.9}) all.push_back({LatticeRule::twos_and_threes, {}, safety});
  for (const LatticeRule rule : {LatticeRule::powers_of_two, LatticeRule::powers_of_three})
    for (const NeighbourRatio ratio : {NeighbourRatio{}, NeighbourRatio{4.0}, NeighbourRatio{2.0}, NeighbourRatio{1.5}})
      for (const double safety : {0.3, 0.5, 0.7, 0.8, 0.9, 0.95}) all.push_back({rule, ratio, safety});
  return all;
}

struct Effort {
  Index longest_steps = 20'000;
  int meshes = 6;
  bool from_above = false, only_default = false;
  MassShares shares = MassShares::own;
};

// The loosest limits on neighbours found stable at the default safety.
std::vector<Trial> defaults(const Element& element, MassShares shares) {
  std::vector<Trial> all;
  for (const LatticeRule rule : {LatticeRule::powers_of_two, LatticeRule::powers_of_three}) {
    NeighbourRatio ratio;
    for (const double next : {4.0, 2.0, 1.5})
      if (verified_safety(element.type, shares, rule, ratio) < 0.9) ratio = next;
    all.push_back({rule, ratio, 0.9});
  }
  return all;
}

Json sweep(const Element& element, const Effort& effort) {
  Json result = Json::array();
  std::vector<Trial> all = effort.only_default ? defaults(element, effort.shares) : trials(), passed;
  if (effort.from_above) std::ranges::stable_sort(all, std::ranges::greater{}, &Trial::safety);
  for (const Trial& trial : all) {
    const auto covers = [&](const Trial& p) {
      return p.rule == trial.rule && p.safety >= trial.safety && p.ratio.value_or(1e9) >= trial.ratio.value_or(1e9);
    };
    if (effort.from_above && std::ranges::any_of(passed, covers)) continue;
    int unstable = 0, ran = 0;
    double worst = 0.0, resolution = 0.0;
    for (int mesh = 0; mesh < effort.meshes; ++mesh) {
      const Body body = body_of(block(shape_of(element, mesh)), NeoHookean{{93e9, 10e9}}, false, effort.shares);
      const auto u = reference_state(*body.model).displacement;
      const auto steps = choose_steps(*body.model, u, SafetyFraction{trial.safety}, StepRule::element, {});
      const StepWish wish{*body.model, steps, {element.type}, std::vector<double>(steps.size(), 1.0), trial.safety};
      const StepChoice choice = choice_of(wish, trial.rule, trial.ratio);
      const Model linear = linearised(*body.model, u);
      AviLattice map(linear, choice.lattice);
      const double longest = choice.lattice.tick * *std::ranges::max_element(choice.lattice.ticks);
      const StabilityReport r = measure_growth(linear, map, longest, {effort.longest_steps, 1});
      ++ran;
      resolution = std::max(resolution, r.resolution);
      if (!r.unstable) continue;
      ++unstable;
      worst = std::max(worst, r.growth);
    }
    if (unstable == 0) passed.push_back(trial);
    result.push_back({{"element", element.name},
                      {"shares", name_of(effort.shares)},
                      {"rule", name_of(trial.rule)},
                      {"ratio", trial.ratio ? Json(*trial.ratio) : Json()},
                      {"safety", trial.safety},
                      {"meshes", ran},
                      {"unstable", unstable},
                      {"growth", worst},
                      {"resolution", resolution}});
    fmt::print(stderr, "{}\n", result.back().dump());
  }
  return result;
}

}  // namespace
}  // namespace tempi::bench

int main(int argc, char** argv) {
  using namespace tempi::bench;
  Effort effort;
  std::vector<std::string> words(argv + 1, argv + argc);
  while (!words.empty() && words.front().starts_with("--")) {
    if (words[0] == "--from-above") {
      effort.from_above = true;
    } else if (words[0] == "--default") {
      effort.only_default = true;
    } else if (words[0] == "--balanced") {
      effort.shares = tempi::MassShares::balanced;
    } else {
      if (words.size() < 2) break;
      if (words[0] == "--meshes") effort.meshes = std::stoi(words[1]);
      if (words[0] == "--longest-steps") effort.longest_steps = std::stol(words[1]);
      words.erase(words.begin());
    }
    words.erase(words.begin());
  }
  if (words.size() < 2) {
    fmt::print(stderr,
               "usage: tempi_stability_sweep [--balanced] [--longest-steps N] [--meshes N] [--from-above | --default] "
               "OUT.json ELEMENT...\n");
    return 2;
  }
  Json all{{"longest_steps", effort.longest_steps}, {"default", effort.only_default}, {"rows", Json::array()}};
  for (std::size_t i = 1; i < words.size(); ++i)
    for (const Element& element : elements)
      if (element.name == words[i])
        for (auto& row : sweep(element, effort)) all["rows"].push_back(std::move(row));
  std::ofstream(words[0]) << all.dump(1) << '\n';
  return 0;
}
