// SPDX-License-Identifier: Apache-2.0
// What an implicit step costs: the midpoint rule on a block of tetrahedra at 20 times the explicit limit, against one
// assembly and one factorisation of its matrix.
//
//   tempi_implicit [CELLS]     default 100000; one core, some minutes
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "bodies.hpp"
#include "tempi/integrator/one_step/newton.hpp"
#include "tempi/integrator/one_step/sync_variational.hpp"
#include "tempi/model/steps.hpp"

namespace {

using namespace tempi;

template <class Work>
double seconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  bench::BlockShape shape;
  if (argc > 1) shape.cells = std::atoll(argv[1]);
  const bench::Body body = bench::body_of(bench::block(shape), NeoHookean{{93e9, 10e9}}, false);
  const Model& model = *body.model;
  State state = bench::shaken(body, 1);
  const std::vector<double> rest(state.displacement.size(), 0.0);
  const double h = 20.0 * std::ranges::min(stable_steps(model, rest));

  AssembledStiffness stiffness(model);
  const double assembly = seconds([&] { stiffness(rest, 0.0); });
  Eigen::VectorXd mass(static_cast<Index>(rest.size()));
  for (Index i = 0; i < mass.size(); ++i) mass(i) = model.mass(make_id<NodeId>(i / model.dim()));
  StepMatrix matrix(model, mass, {}, SparseFactors::Kind::symmetric);
  const auto factorise = [&](double part) { matrix.factorise(stiffness.pattern(), part * h * h); };
  const double first = seconds([&] { factorise(0.2); }), factorisation = seconds([&] { factorise(0.25); });
  fmt::print("assembly {:.3f} s, factorisation {:.3f} s, the first with its symbolic part {:.3f} s\n", assembly,
             factorisation, first);

  SyncVariational midpoint(model, midpoint_action(0.5), h);
  midpoint.advance_to(state, 1.5 * h);
  const Index before = midpoint.map().newton_iterations();
  constexpr int steps = 3;
  const double time = seconds([&] { midpoint.advance_to(state, (1.5 + steps) * h); });
  const auto iterations = static_cast<double>(midpoint.map().newton_iterations() - before);
  fmt::print("{} steps: {:.1f} corrections each, a step {:.3f} s = {:.2f} of assembly and factorisation\n", steps,
             iterations / steps, time / steps, time / steps / (assembly + factorisation));
}
