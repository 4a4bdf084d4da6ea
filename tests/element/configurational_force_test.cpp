// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/configurational_force.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/batches.hpp"
#include "support/meshes.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using test::MeshCase;
using test::moved;

const std::array<Material, 3> materials = {NeoHookean{{1.3, 0.7}}, SaintVenantKirchhoff{{1.3, 0.7}},
                                           LinearElastic{{1.3, 0.7}}};

std::unique_ptr<ElasticCells> cells_of(const Mesh& mesh, const Material& material) {
  std::vector<CellId> all;
  for (Index c = 0; c < mesh.cells().size(); ++c) all.push_back(make_id<CellId>(c));
  return make_elastic_cells(mesh, mesh.cells().types.front(), all, material, 2.5);
}

double energy(const ElasticCells& cells, std::span<const double> u) {
  double V = 0.0;
  for (Index k = 0; k < cells.size(); ++k) V += cells.energy(k, u, 0.0);
  return V;
}

double kinetic(const ElasticCells& cells, std::span<const double> v) {
  double T = 0.0;
  const auto d = static_cast<std::size_t>(cells.dim());
  for (Index k = 0; k < cells.size(); ++k)
    for (std::size_t a = 0; a < cells.stencil(k).size(); ++a)
      for (std::size_t i = 0; i < d; ++i)
        T += 0.5 * cells.mass(k, a) * std::pow(v[ordinal(cells.stencil(k)[a]) * d + i], 2);
  return T;
}

std::vector<double> drawn(std::size_t n, double amplitude, unsigned seed) {
  std::mt19937 dice(seed);
  std::uniform_real_distribution<double> part(-amplitude, amplitude);
  std::vector<double> x(n);
  for (double& value : x) value = part(dice);
  return x;
}

std::vector<double> forces(const ElasticCells& cells, const Mesh& mesh, std::span<const double> u,
                           std::span<const double> v, Carried carried, int threads = 1) {
  const std::array<const ElasticCells*, 1> all = {&cells};
  return configurational_forces(all, mesh.node_count(), mesh.dim(), u, v, carried, threads);
}

class ConfigurationalForces : public testing::TestWithParam<MeshCase> {
 protected:
  const Mesh mesh = GetParam().make();
  const std::size_t n = mesh.points().size();
  const std::size_t d = static_cast<std::size_t>(mesh.dim());
  const std::vector<double> X{mesh.points().begin(), mesh.points().end()};
};
INSTANTIATE_TEST_SUITE_P(Meshes, ConfigurationalForces, testing::ValuesIn(test::mesh_cases()),
                         [](const auto& of) { return of.param.name; });

// Straight cells keep their straight edges: mid-edge nodes go with their vertices, and give them half of their forces.
// `lead[i]`: the nodes that node i goes with, by which part.
std::vector<std::vector<std::pair<std::size_t, double>>> leads(const Mesh& mesh, bool straight) {
  std::vector<std::vector<std::pair<std::size_t, double>>> lead(static_cast<std::size_t>(mesh.node_count()));
  for (std::size_t a = 0; a < lead.size(); ++a) lead[a] = {{a, 1.0}};
  constexpr std::array<std::array<std::size_t, 2>, 6> edges = {{{0, 1}, {1, 2}, {0, 2}, {0, 3}, {2, 3}, {1, 3}}};
  for (Index c = 0; c < mesh.cells().size() && straight; ++c) {
    const auto nodes = mesh.cells()[c];
    const std::size_t vertices = static_cast<std::size_t>(mesh.dim()) + 1;
    for (std::size_t m = vertices; m < nodes.size(); ++m)
      for (const auto& [i, j] : edges) {  // whichever edge it is in the middle of
        double off = 0.0;
        for (std::size_t x = 0; x < static_cast<std::size_t>(mesh.dim()) && j < vertices; ++x)
          off += std::abs(mesh.point(nodes[m])[x] - 0.5 * (mesh.point(nodes[i])[x] + mesh.point(nodes[j])[x]));
        if (j < vertices && off < 1e-12) lead[ordinal(nodes[m])] = {{ordinal(nodes[i]), 0.5}, {ordinal(nodes[j]), 0.5}};
      }
  }
  return lead;
}

// Differences of the energy, and of the kinetic one, in X: places stay, or displacements do. Masses of curved cells
// have fractions of their own (HRZ), which are left out of the formula: there only the energy is compared.
TEST_P(ConfigurationalForces, AreDifferencesOfTheEnergyInTheReferenceConfiguration) {
  const auto lead = leads(mesh, !GetParam().curved);
  for (const Material& material : materials)
    for (const Carried carried : {Carried::places, Carried::displacements})
      for (const bool moving : {false, true}) {
        if (moving && GetParam().curved) continue;
        const std::vector<double> u = drawn(n, 0.01, 1), v = moving ? drawn(n, 0.5, 2) : std::vector<double>{};
        const auto cells = cells_of(mesh, material);
        const std::vector<double> f = forces(*cells, mesh, u, v, carried);
        double largest = 0.0;
        for (const double x : f) largest = std::max(largest, std::abs(x));
        const auto at = [&](std::size_t node, std::size_t c, double by) {
          std::vector<double> Y = X, w = u;
          for (std::size_t a = 0; a < lead.size(); ++a)
            for (const auto& [leader, part] : lead[a])
              if (leader == node) {
                Y[a * d + c] += part * by;
                if (carried == Carried::places) w[a * d + c] -= part * by;
              }
          const Mesh other = moved(mesh, Y);
          const auto there = cells_of(other, material);
          return energy(*there, w) - (moving ? kinetic(*there, v) : 0.0);
        };
        constexpr double spacing = 1e-4;
        double with_the_other_sign = 0.0;
        for (std::size_t node = 0; node < lead.size(); ++node) {
          if (lead[node].front().first != node) continue;  // led by others
          for (std::size_t c = 0; c < d; ++c) {
            double mine = 0.0;
            for (std::size_t a = 0; a < lead.size(); ++a)
              for (const auto& [leader, part] : lead[a])
                if (leader == node) mine += part * f[a * d + c];
            const double difference = (8.0 * (at(node, c, spacing) - at(node, c, -spacing)) -
                                       (at(node, c, 2.0 * spacing) - at(node, c, -2.0 * spacing))) /
                                      (12.0 * spacing);
            EXPECT_NEAR(mine, difference, 1e-8 * std::max(0.1, largest)) << node;
            with_the_other_sign = std::max(with_the_other_sign, std::abs(mine + difference));
          }
        }
        EXPECT_GE(with_the_other_sign, 0.1 * largest);  // a control
      }
}

// linear-elastic is a control: it is no function of C alone, so W(F Q) is not W(F).
TEST_P(ConfigurationalForces, SumToNothingAndHaveNoMomentOfAnIsotropicLaw) {
  for (const Material& material : materials) {
    const auto cells = cells_of(mesh, material);
    const std::vector<double> u = drawn(n, 0.01, 3), f = forces(*cells, mesh, u, drawn(n, 0.5, 4), Carried::places),
                              g = forces(*cells, mesh, u, {}, Carried::places);
    double all = 0.0, moments = 0.0, moment = 0.0;
    std::array<double, 3> sum{};
    for (std::size_t i = 0; i < n; ++i) {
      sum[i % d] += f[i];
      all += std::abs(f[i]);
    }
    for (std::size_t a = 0; a < n / d && d > 1; ++a) {
      moment += X[a * d] * g[a * d + 1] - X[a * d + 1] * g[a * d];
      moments += std::abs(X[a * d] * g[a * d + 1]) + std::abs(X[a * d + 1] * g[a * d]);
    }
    for (const double s : sum) EXPECT_LE(std::abs(s), 1e-13 * all);
    if (std::holds_alternative<LinearElastic>(material) && d > 1)
      EXPECT_GE(std::abs(moment), 1e-6 * moments);
    else
      EXPECT_LE(std::abs(moment), 1e-13 * moments);
  }
}

TEST_P(ConfigurationalForces, HaveTheSameBitsOnAnyNumberOfThreads) {
  const auto cells = cells_of(mesh, materials[0]);
  const std::vector<double> u = drawn(n, 0.01, 5), v = drawn(n, 1.0, 6);
  EXPECT_EQ(forces(*cells, mesh, u, v, Carried::places), forces(*cells, mesh, u, v, Carried::places, 3));
}

// A bar whose nodes are not where its energy is least for the strain they carry: the node between a long cell that is
// strained and a short one that is not is drawn towards the strained one, where the energy is. By hand: W1 - P F there.
TEST(ConfigurationalForcesOfABar, HaveTheSignOfTheEnergy) {
  const Mesh bar = test::mesh_of(1, {0.0, 1.0, 3.0}, CellType::line2, {{0, 1}, {1, 2}});
  const auto cells = cells_of(bar, LinearElastic{{1.0, 0.5}});
  const std::vector<double> u = {0.0, 0.1, 0.1};
  const double W = 0.5 * 2.0 * 0.01, P = 2.0 * 0.1;
  EXPECT_NEAR(forces(*cells, bar, u, {}, Carried::displacements)[1], W - P * 0.1, 1e-15);  // dV/dX of (u/X)^2 X
  EXPECT_NEAR(forces(*cells, bar, u, {}, Carried::places)[1], W - P * 1.1, 1e-15);
}

// Two laws beside each other: the node between them has a force, and a sum over both sides of that border is none.
TEST(ConfigurationalForcesOfABar, ShowWhereTheMaterialChanges) {
  const Mesh bar = test::mesh_of(1, {0.0, 1.0, 2.0}, CellType::line2, {{0, 1}, {1, 2}});
  const auto soft = make_elastic_cells(bar, CellType::line2, {make_id<CellId>(0)}, LinearElastic{{1.0, 0.5}}, 1.0),
             stiff = make_elastic_cells(bar, CellType::line2, {make_id<CellId>(1)}, LinearElastic{{2.0, 1.0}}, 1.0);
  const std::array<const ElasticCells*, 2> all = {soft.get(), stiff.get()};
  const std::vector<double> u = {0.0, 0.02, 0.03};  // the same stress in both
  const std::vector<double> f = configurational_forces(all, 3, 1, u, {}, Carried::displacements);
  EXPECT_NEAR(f[1], -0.5 * 0.04 * 0.02 + 0.5 * 0.04 * 0.01, 1e-16);  // the jump of W - P H
}

// Packs against the loop over cells, with every instruction set there is here.
TEST_P(ConfigurationalForces, ByBatchesAreThoseOfCellsOneByOne) {
  const std::vector<double> u = drawn(n, 0.01, 1), v = drawn(n, 0.5, 2);
  for (const std::string& instructions : test::instruction_sets()) {
    const test::Instructions wish(instructions);
    for (const Material& material : materials)
      for (const Carried carried : {Carried::places, Carried::displacements})
        for (const std::vector<double>& velocity : {v, std::vector<double>{}}) {
          const auto cells = cells_of(mesh, material);
          const std::vector<double> f = forces(*cells, mesh, u, velocity, carried);
          std::vector<double> expected(n, 0.0);
          for (Index k = 0; k < cells->size(); ++k) {
            const auto nodes = cells->stencil(k);
            std::array<double, 30> of{};
            add_configurational_forces(*cells, k, u, velocity, carried, of);
            for (std::size_t a = 0; a < nodes.size(); ++a)
              for (std::size_t i = 0; i < d; ++i) expected[ordinal(nodes[a]) * d + i] += of[3 * a + i];
          }
          double largest = 0.0;
          for (const double x : expected) largest = std::max(largest, std::abs(x));
          EXPECT_GE(largest, 1e-6);
          for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(f[i], expected[i], 1e-12 * largest) << instructions;
        }
  }
}

}  // namespace
}  // namespace tempi
