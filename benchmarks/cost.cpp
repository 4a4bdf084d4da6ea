// SPDX-License-Identifier: Apache-2.0
// The cost of asynchrony on a queue: Lew, Marsden, Ortiz, West (2004), section 4.4, eqs (60) to (63), measured.
//
//   C_NM / C_AVI = lambda / (1 + kappa / C_EU log2 E)   (63),   lambda = E / step_min / sum_K 1 / step_K   (62)
//
// C_EU: what an update of an element costs by Newmark term by term; kappa: what an AVI update costs more, by the level
// of the queue; means over sizes, as the model has one of each. Both engines are the references, as in the paper; steps
// are 0.1 inradius / wave speed, no two alike. The figures of a size are medians of turns taken by both in one run.
//
//   tempi_cost      prints the tables; a minute
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "bodies.hpp"
#include "tempi/integrator/avi/avi_explicit.hpp"
#include "tempi/integrator/sync_newmark.hpp"
#include "tempi/mesh/quality.hpp"

namespace tempi::bench {
namespace {

constexpr int turns = 7;

double seconds(Integrator& engine, State& state, double end) {
  const auto begin = std::chrono::steady_clock::now();
  engine.advance_to(state, end);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + turns / 2);
  return values[turns / 2];
}

struct Measured {
  double elements, lambda, newmark, avi, ratio;  // seconds an update; wall times for the same time
};

Measured measure(CellType type, Index cells) {
  const Body body = body_of(block({.type = type, .cells = cells, .grading = 12.0}), NeoHookean{{93e9, 10e9}}, false);
  const double speed = dilatational_wave_speed({93e9, 10e9}, 7800.0);
  std::vector<double> steps;
  double rate = 0.0;
  for (Index k = 0; k < body.mesh->cells().size(); ++k) {
    steps.push_back(0.1 * inradius(*body.mesh, make_id<CellId>(k)) / speed);
    rate += 1.0 / steps.back();
  }
  const auto n = static_cast<double>(steps.size());
  const double least = *std::ranges::min_element(steps);
  AviExplicit avi(*body.model, steps);
  SyncNewmark newmark(*body.model, least);
  State of_avi = shaken(body, 7), of_newmark = of_avi;
  const double span = least * std::max(4.0, 4e5 / n);  // of a turn
  seconds(avi, of_avi, span);
  seconds(newmark, of_newmark, span);
  std::vector<double> a, b, ratio;
  for (int i = 0; i < turns; ++i) {
    const double end = span * (i + 2);
    a.push_back(seconds(avi, of_avi, end));
    b.push_back(seconds(newmark, of_newmark, end));
    ratio.push_back(b.back() / a.back());
  }
  return {n, n / least / rate, median(b) / (span / least * n), median(a) / (span * rate), median(ratio)};
}

void table(const std::string& name, CellType type) {
  std::vector<Measured> all;
  for (const Index cells : {100, 400, 1600, 6400, 25600}) all.push_back(measure(type, cells));
  const auto n = static_cast<double>(all.size());
  double kappa = 0.0, C_EU = 0.0;
  for (const Measured& m : all) {
    C_EU += m.newmark / n;
    kappa += (m.avi - m.newmark) / std::log2(m.elements) / n;
  }
  fmt::print("\n{}: C_EU {:.3f} us, kappa {:.4f} us a level\n", name, 1e6 * C_EU, 1e6 * kappa);
  fmt::print(
      "| elements | lambda (62) | newmark, us an update | avi, us | C_NM / C_AVI measured | (63) | measured / (63) "
      "|\n");
  fmt::print("|---|---|---|---|---|---|---|\n");
  for (const Measured& m : all) {
    const double predicted = m.lambda / (1.0 + kappa / C_EU * std::log2(m.elements));
    fmt::print("| {} | {:.2f} | {:.3f} | {:.3f} | {:.2f} | {:.2f} | {:.2f} |\n", m.elements, m.lambda, 1e6 * m.newmark,
               1e6 * m.avi, m.ratio, predicted, m.ratio / predicted);
  }
}

}  // namespace
}  // namespace tempi::bench

int main() {
  using namespace tempi;
  bench::table("6-node triangles", CellType::triangle6);
  bench::table("4-node tetrahedra", CellType::tetrahedron4);
  bench::table("10-node tetrahedra", CellType::tetrahedron10);
  return 0;
}
