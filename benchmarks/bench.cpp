// SPDX-License-Identifier: Apache-2.0
// Measures what docs/benchmarks.md reports, and writes it as JSON for table.py. Every ratio is taken side by side: the
// competitors run in turns within one process, and the median over the turns is kept.
//
//   bench [--quick] OUT.json      --quick: small meshes and few turns, to see that it works
#include <fmt/format.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "bodies.hpp"
#include "tempi/case/step_choice.hpp"
#include "tempi/diagnostic/stability.hpp"
#include "tempi/integrator/avi/avi_explicit.hpp"
#include "tempi/integrator/avi/avi_lattice.hpp"
#include "tempi/integrator/sync_newmark.hpp"
#include "tempi/mesh/quality.hpp"
#include "tempi/model/linearised_model.hpp"
#include "tempi/model/steps.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

struct Scale {
  double cells = 1.0;  // factor on all sizes
  int turns = 7;
  double seconds = 0.4;  // of each competitor in each turn
};

// One integrator at work on a body.
class Competitor {
 public:
  Competitor(std::string name, const Body& body, std::unique_ptr<Integrator> integrator, double smallest_step)
      : name_(std::move(name)),
        body_(body),
        integrator_(std::move(integrator)),
        state_(shaken(body, 7)),
        slice_(8.0 * smallest_step) {}

  const std::string& name() const { return name_; }

  // Runs for about `seconds`; notes the time per update and the simulated time per wall time.
  void turn(double seconds) {
    double spent = 0.0;
    const Index before = updates();
    const double start = time_;
    do {
      const double begin = now();
      integrator_->advance_to(state_, time_ + slice_);
      time_ += slice_;
      const double elapsed = now() - begin;
      spent += elapsed;
      if (elapsed < 0.1 * seconds) slice_ *= 2.0;
    } while (spent < seconds);
    per_update_.push_back(1e9 * spent / static_cast<double>(updates() - before));
    pace_.push_back((time_ - start) / spent);
  }
  void forget() {
    per_update_.clear();
    pace_.clear();
  }
  double per_update() const { return median(per_update_); }  // [ns]
  const std::vector<double>& times() const { return per_update_; }
  const std::vector<double>& paces() const { return pace_; }  // simulated seconds per second

 private:
  Index updates() const {
    Index total = 0;
    for (Index i = 0; i < body_.model->term_count(); ++i) total += integrator_->updates(make_id<TermId>(i));
    return total;
  }

  std::string name_;
  const Body& body_;
  std::unique_ptr<Integrator> integrator_;
  State state_;
  double slice_, time_ = 0.0;
  std::vector<double> per_update_, pace_;
};

double median_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  return median(ratios);
}

void race(std::vector<Competitor>& competitors, const Scale& scale) {
  for (int turn = 0; turn <= scale.turns; ++turn) {
    for (Competitor& c : competitors) c.turn(scale.seconds);
    if (turn == 0)
      for (Competitor& c : competitors) c.forget();  // caches and slices are warm now
  }
}

struct Case {
  std::string name;
  BlockShape shape;
  Material material = NeoHookean{{93e9, 10e9}};
  bool two_materials = false;
};

struct Steps {
  std::vector<double> own;
  double smallest, lambda;
};

// For costs `safety` does not matter: 0.2, at which no lattice resonates, keeps the bodies whole however long they run.
Steps steps_of(const Body& body, double safety = 0.2) {
  Steps s{choose_steps(*body.model, reference_state(*body.model).displacement, SafetyFraction{safety},
                       StepRule::element, {}),
          0.0, 0.0};
  s.smallest = *std::ranges::min_element(s.own);
  s.lambda = ideal_speedup(s.own);
  return s;
}

StepWish wish_of(const Body& body, const std::vector<double>& steps) {
  const CellType type = body.mesh->cells().types.front();
  const auto u = reference_state(*body.model).displacement;
  return {*body.model, steps, std::vector<double>(steps.size(), typical_cost(type)),
          smallest_within_a_ring(*body.model, nodal_stable_steps(*body.model, u))};
}

NeighbourLimit limit() { return attempts().front().limit; }  // what lattice = "auto" takes first

std::unique_ptr<Integrator> on_lattice(const Body& body, const std::vector<double>& steps, LatticeRule rule,
                                       int threads = 1) {
  return std::make_unique<AviLattice>(*body.model, choice_of(wish_of(body, steps), rule, {}).lattice,
                                      LatticeOptions{threads, 1.0});
}
std::unique_ptr<Integrator> newmark(const Body& body, double step, LatticeOptions options = {}) {
  const auto n = static_cast<std::size_t>(body.model->term_count());
  return std::make_unique<AviLattice>(*body.model, TickLattice{step, std::vector<std::int32_t>(n, 1)}, options);
}

class Bench {
 public:
  explicit Bench(Scale scale) : scale_(scale) {}

  Json results() && { return std::move(results_); }

  // Newmark, AVI by powers of two and by any multiples; with the scalar reference where asked for.
  void compare(const std::string& row, Case c, bool scalar) {
    c.shape.cells = static_cast<Index>(static_cast<double>(c.shape.cells) * scale_.cells);
    const Body body = body_of(block(c.shape), c.material, c.two_materials);
    const Steps s = steps_of(body);
    std::vector<Competitor> all;
    all.emplace_back("newmark", body, newmark(body, s.smallest), s.smallest);
    all.emplace_back("powers-of-two", body, on_lattice(body, s.own, LatticeRule::powers_of_two), s.smallest);
    all.emplace_back("any", body, on_lattice(body, s.own, LatticeRule::any), s.smallest);
    if (scalar)
      all.emplace_back("scalar newmark", body, std::make_unique<SyncNewmark>(*body.model, s.smallest), s.smallest);
    race(all, scale_);
    Json j = describe(row, c, body, s);
    for (const Competitor& a : all) {
      j[a.name()] = {{"ns_per_update", a.per_update()},
                     {"ratio", median_ratio(a.times(), all[0].times())},
                     {"net", median_ratio(a.paces(), all[0].paces())}};
    }
    add(std::move(j));
  }

  // One thread against two.
  void threads(Case c) {
    c.shape.cells = static_cast<Index>(static_cast<double>(c.shape.cells) * scale_.cells);
    const Body body = body_of(block(c.shape), c.material, false);
    const Steps s = steps_of(body);
    Json j = describe("threads", c, body, s);
    for (const std::string method : {"newmark", "powers-of-two", "any"}) {
      std::vector<Competitor> all;
      for (const int n : {1, 2})
        all.emplace_back(fmt::format("{} threads", n), body,
                         method == "newmark" ? newmark(body, s.smallest, {n, 1.0})
                                             : on_lattice(body, s.own, *lattice_rule(method), n),
                         s.smallest);
      race(all, scale_);
      j[method] = median_ratio(all[1].paces(), all[0].paces());
    }
    add(std::move(j));
  }

  // Against the event queue: on the same ticks, and as printed in the papers (courant 0.1).
  void against_queue(Case c) {
    c.shape.cells = static_cast<Index>(static_cast<double>(c.shape.cells) * scale_.cells);
    const Body body = body_of(block(c.shape), c.material, false, MassShares::balanced);
    const Steps s = steps_of(body, 0.9);
    const StepChoice choice = choice_of(wish_of(body, s.own), LatticeRule::powers_of_two, limit());
    std::vector<double> on_ticks, printed;
    for (const std::int32_t m : choice.lattice.ticks) on_ticks.push_back(m * choice.lattice.tick);
    const double speed = dilatational_wave_speed(lame_of(c.material), 7800.0);
    for (Index k = 0; k < body.mesh->cells().size(); ++k)
      printed.push_back(0.1 * inradius(*body.mesh, make_id<CellId>(k)) / speed);
    std::vector<Competitor> all;
    all.emplace_back("lattice", body, std::make_unique<AviLattice>(*body.model, choice.lattice), s.smallest);
    all.emplace_back("queue", body, std::make_unique<AviExplicit>(*body.model, on_ticks), s.smallest);
    all.emplace_back("printed", body, std::make_unique<AviExplicit>(*body.model, printed),
                     *std::ranges::min_element(printed));
    Scale few = scale_;
    few.turns = std::min(few.turns, 3);
    race(all, few);
    Json j = describe("queue", c, body, s);
    j["lattice_ns"] = all[0].per_update();
    j["queue_ns"] = all[1].per_update();
    j["engine"] = median_ratio(all[1].times(), all[0].times());
    j["against_printed"] = median_ratio(all[0].paces(), all[2].paces());
    add(std::move(j));
  }

  // Each at its largest stable step: AVI as it chooses by itself at safety 0.9, Newmark at 0.95 of the assembled limit.
  void largest_stable(Case c) {
    c.shape.cells = static_cast<Index>(static_cast<double>(c.shape.cells) * scale_.cells);
    const double lambda = steps_of(body_of(block(c.shape), c.material, false)).lambda;  // of the papers' steps
    const Body body = body_of(block(c.shape), c.material, false, MassShares::balanced);
    const Steps s = steps_of(body, 0.9);
    const StepChoice choice = automatic_choice(wish_of(body, s.own), limit());
    const double step = 0.95 * assembled_stable_step(*body.model, reference_state(*body.model).displacement, 2);
    std::vector<Competitor> all;
    all.emplace_back("newmark", body, newmark(body, step, {1, s.smallest / step}), step);
    all.emplace_back("avi", body, std::make_unique<AviLattice>(*body.model, choice.lattice), s.smallest);
    race(all, scale_);
    Json j = describe("largest stable", c, body, s);
    j["lambda_balanced"] = std::exchange(j["lambda"], lambda);
    j["rule"] = name_of(choice.rule);
    j["newmark_step_over_element_limit"] = step / (s.smallest / 0.9);
    j["net"] = median_ratio(all[1].paces(), all[0].paces());
    add(std::move(j));
  }

  // In a process of its own: what it needs in all, mesh, model, engine and state, at the most.
  void memory(Case c) {
    c.shape.cells = static_cast<Index>(static_cast<double>(c.shape.cells) * scale_.cells);
    int ends[2];
    if (pipe(ends) != 0) return;
    const pid_t child = fork();
    if (child == 0) {
      const Mesh mesh = block(c.shape);
      malloc_trim(0);  // what the generator has left behind is not ours
      std::array<double, 3> report{static_cast<double>(mesh.cells().size()), 0.0, 0.0};
      reset_peak();
      const Body body = body_of(Mesh(mesh), c.material, false);
      const Steps s = steps_of(body);
      AviLattice avi(*body.model, automatic_choice(wish_of(body, s.own), limit()).lattice);
      State state = shaken(body, 7);
      avi.advance_to(state, 8.0 * s.smallest);
      report[1] = status("VmHWM:");
      report[2] = status("VmRSS:");
      const auto written = write(ends[1], report.data(), sizeof report);
      _exit(written == sizeof report ? 0 : 1);
    }
    std::array<double, 3> report{};
    const auto got = read(ends[0], report.data(), sizeof report);
    waitpid(child, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
    if (got != sizeof report) return;
    Json j = {{"row", "memory"}, {"case", c.name}, {"cells", report[0]}};
    j["bytes_per_cell"] = 1024.0 * report[2] / report[0];
    j["peak_bytes_per_cell"] = 1024.0 * report[1] / report[0];
    add(std::move(j));
  }

 private:
  static void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }
  static double status(const std::string& key) {  // [KiB]
    std::ifstream in("/proc/self/status");
    for (std::string word; in >> word;)
      if (word == key) {
        double value = 0.0;
        in >> value;
        return value;
      }
    return 0.0;
  }

  static Json describe(const std::string& row, const Case& c, const Body& body, const Steps& s) {
    return {{"row", row},
            {"case", c.name},
            {"cells", body.mesh->cells().size()},
            {"nodes", body.mesh->node_count()},
            {"lambda", s.lambda},
            {"spread", *std::ranges::max_element(s.own) / s.smallest}};
  }

  void add(Json j) {
    fmt::print(stderr, "{}\n", j.dump());
    results_.push_back(std::move(j));
  }

  Scale scale_;
  Json results_ = Json::array();
};

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

Case graded(const std::string& name, CellType type, Index cells, double grading = 12.0) {
  return {name, {.type = type, .cells = cells, .grading = grading}};
}
Case slivers(Index cells) {
  return {"tet4, 1 % slivers", {.cells = cells, .grading = 1.0, .slivers = 0.01, .flatness = 0.05}};
}

Json measure(const Scale& scale) {
  Bench bench(scale);
  const auto tet4 = CellType::tetrahedron4;
  for (const Index n : {10'000, 100'000, 500'000, 1'000'000})
    bench.compare("size", graded("tet4, graded", tet4, n), n == 100'000);
  bench.compare("size", graded("tet10, graded", CellType::tetrahedron10, 100'000), true);
  bench.compare("size", graded("tri6, graded", CellType::triangle6, 100'000), true);
  for (const Index n : {100'000, 500'000}) bench.compare("slivers", slivers(n), false);
  Case two = graded("tet4, graded, two materials", tet4, 100'000);
  two.two_materials = true;
  bench.compare("two materials", two, false);
  for (const Index n : {500'000}) {
    bench.threads(graded("tet4, graded", tet4, n));
    bench.against_queue(graded("tet4, graded", tet4, n));
    bench.largest_stable(graded("tet4, graded", tet4, n, 14.0));
    bench.largest_stable(slivers(n));
  }
  bench.memory(graded("tet4, graded", tet4, 1'000'000));
  const std::pair<std::string, CellType> shapes[] = {{"bar", CellType::line2},
                                                     {"tri3", CellType::triangle3},
                                                     {"tri6", CellType::triangle6},
                                                     {"tet4", CellType::tetrahedron4},
                                                     {"tet10", CellType::tetrahedron10}};
  const Lame lame{93e9, 10e9};
  const std::pair<std::string, Material> laws[] = {{"neo-hookean", NeoHookean{lame}},
                                                   {"saint-venant-kirchhoff", SaintVenantKirchhoff{lame}},
                                                   {"linear-elastic", LinearElastic{lame}}};
  for (const auto& [shape, type] : shapes)
    for (const auto& [law, material] : laws)
      for (const double bend : {0.0, 0.02}) {
        if (bend > 0.0 && mid_edges(type).empty()) continue;
        Case c = graded(fmt::format("{}{}, {}", bend > 0.0 ? "curved " : "", shape, law), type, 50'000);
        c.shape.bend = bend;
        if (bend > 0.0) c.shape.grading = 4.0;  // or the long sides' bend would fold thin cells
        c.material = material;
        bench.compare("elements", c, true);
      }
  return std::move(bench).results();
}

}  // namespace
}  // namespace tempi::bench

int main(int argc, char** argv) {
  using namespace tempi::bench;
  const bool quick = argc == 3 && std::string(argv[1]) == "--quick";
  if (argc != (quick ? 3 : 2)) {
    fmt::print(stderr, "usage: bench [--quick] OUT.json\n");
    return 2;
  }
  const Scale scale = quick ? Scale{0.01, 3, 0.002} : Scale{};
  Json j;
  j["machine"] = {{"processor", processor()},
                  {"cores", std::thread::hardware_concurrency()},
                  {"instructions", tempi::name_of(tempi::instruction_set())},
                  {"compiler", __VERSION__}};
  j["quick"] = quick;
  j["results"] = measure(scale);
  std::ofstream(argv[argc - 1]) << j.dump(1) << '\n';
  return 0;
}
