// SPDX-License-Identifier: Apache-2.0
#include "tempi/adaption/mesh_potential.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/meshes.hpp"

namespace tempi {
namespace {

using test::MeshCase;
using test::moved;

class MeshPotentials : public testing::TestWithParam<MeshCase> {
 protected:
  const Mesh mesh = GetParam().make();
  const std::size_t n = mesh.points().size(), d = static_cast<std::size_t>(mesh.dim());

  std::unique_ptr<ElasticCells> cells_of(const Mesh& of, const Material& material) const {
    std::vector<CellId> all;
    for (Index c = 0; c < of.cells().size(); ++c) all.push_back(make_id<CellId>(c));
    return make_elastic_cells(of, of.cells().types.front(), all, material, 2.5);
  }
  MeshLoads loads() const {
    return {test::random_displacements(mesh, 0.3, 5),
            std::vector<std::array<double, 3>>(static_cast<std::size_t>(mesh.cells().size()),
                                               std::array{0.2, -0.3, 0.4})};
  }
  ShapeBarrier barrier(double least) const {
    return {least, least, 0.3, std::vector<double>(static_cast<std::size_t>(mesh.cells().size()), 0.7)};
  }
  // Vertices displaced at random, mid-edge nodes along.
  std::vector<double> displaced(const MeshPotential& potential, double amplitude) const {
    std::vector<double> x = test::random_displacements(mesh, amplitude, 3);
    potential.place_mid_nodes(x);
    return x;
  }
};
INSTANTIATE_TEST_SUITE_P(Meshes, MeshPotentials, testing::ValuesIn(test::mesh_cases()),
                         [](const auto& of) { return of.param.name; });

// The value is that of the mesh with the nodes in their new places, made anew.
TEST_P(MeshPotentials, IsTheEnergyOfTheMovedMesh) {
  for (const Material& material : test::materials()) {
    const auto cells = cells_of(mesh, material);
    const std::array<const ElasticCells*, 1> all = {cells.get()};
    const MeshPotential potential(mesh, all, loads());
    const std::vector<double> by = displaced(potential, 0.02), u = test::random_displacements(mesh, 0.01, 1);
    std::vector<double> X(mesh.points().begin(), mesh.points().end());
    for (std::size_t i = 0; i < n; ++i) X[i] += by[i];
    const Mesh other = moved(mesh, X);
    const auto there = cells_of(other, material);
    double expected = 0.0, fall = 0.0;
    for (Index k = 0; k < there->size(); ++k) {
      expected += there->energy(k, u, 0.0);
      for (std::size_t a = 0; a < there->stencil(k).size(); ++a)
        for (std::size_t i = 0; i < d; ++i)
          fall += there->mass(k, a) * std::array{0.2, -0.3, 0.4}[i] * u[ordinal(there->stencil(k)[a]) * d + i];
    }
    const MeshLoads given = loads();
    for (std::size_t i = 0; i < n; ++i) expected -= given.force[i] * u[i];
    const auto value = potential(by, u, {});
    EXPECT_TRUE(value.admissible);
    EXPECT_EQ(value.barrier, 0.0);
    // Fractions of the mass of curved cells stay what they were.
    EXPECT_NEAR(value.potential, expected - fall, GetParam().curved ? 1e-2 * std::abs(fall) : 1e-13);
  }
}

// Gradient against differences of the value, second derivatives against differences of the gradient, with a barrier
// that acts.
TEST_P(MeshPotentials, HasTheDerivativesOfItsValue) {
  for (const Material& material : test::materials()) {
    const auto cells = cells_of(mesh, material);
    const std::array<const ElasticCells*, 1> all = {cells.get()};
    const MeshPotential potential(mesh, all, loads());
    const std::vector<double> by = displaced(potential, 0.02), u = test::random_displacements(mesh, 0.01, 1);
    for (const double least : {1e-3, 1.5}) {  // nobody's shape or size is below; everybody's is
      const ShapeBarrier acting = barrier(least);
      const auto gradient = [&](const std::vector<double>& X, const std::vector<double>& w) {
        std::vector<double> g(2 * n, 0.0);
        potential.each_cell(X, w, acting, [&](const MeshPotential::CellDerivatives& cell) {
          EXPECT_EQ(cell.barrier_acts, least > 1.0);
          for (std::size_t i = 0; i < cell.vertices * d; ++i)
            g[ordinal(cell.nodes[i / d]) * d + i % d] += cell.gradient[i];
          for (std::size_t i = 0; i < cell.nodes.size() * d; ++i)
            g[n + ordinal(cell.nodes[i / d]) * d + i % d] += cell.gradient[cell.vertices * d + i];
        });
        for (std::size_t i = 0; i < n; ++i) g[n + i] -= potential.dead_forces()[i];
        return g;
      };
      const auto at = [&](std::size_t i, double h) {  // the i-th unknown moved
        std::pair<std::vector<double>, std::vector<double>> z(by, u);
        (i < n ? z.first[i] : z.second[i - n]) += h;
        potential.place_mid_nodes(z.first);
        return z;
      };
      std::vector<double> H(4 * n * n, 0.0);
      potential.each_cell(by, u, acting, [&](const MeshPotential::CellDerivatives& cell) {
        std::vector<std::size_t> place;
        for (std::size_t i = 0; i < cell.vertices * d; ++i) place.push_back(ordinal(cell.nodes[i / d]) * d + i % d);
        for (std::size_t i = 0; i < cell.nodes.size() * d; ++i)
          place.push_back(n + ordinal(cell.nodes[i / d]) * d + i % d);
        for (std::size_t i = 0; i < place.size(); ++i)
          for (std::size_t j = 0; j < place.size(); ++j)
            H[place[i] * 2 * n + place[j]] += cell.hessian[i * place.size() + j];
      });
      const std::vector<double> g = gradient(by, u);
      double largest = 0.0, stiffest = 0.0;
      for (const double x : g) largest = std::max(largest, std::abs(x));
      for (const double x : H) stiffest = std::max(stiffest, std::abs(x));
      constexpr double h = 1e-4;
      for (std::size_t i = 0; i < 2 * n; i += std::max<std::size_t>(3, n / 19)) {  // some of them
        if (i < n && !potential.is_vertex(make_id<NodeId>(static_cast<Index>(i / d)))) continue;
        const auto value = [&](double by_h) {
          const auto [X, w] = at(i, by_h);
          return potential(X, w, acting).total();
        };
        EXPECT_NEAR(g[i], (8.0 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12.0 * h), 1e-8 * largest);
        const auto [X1, w1] = at(i, h);
        const auto [X0, w0] = at(i, -h);
        const auto [X2, w2] = at(i, 2 * h);
        const auto [X3, w3] = at(i, -2 * h);
        const auto g1 = gradient(X1, w1), g0 = gradient(X0, w0), g2 = gradient(X2, w2), g3 = gradient(X3, w3);
        for (std::size_t j = 0; j < 2 * n; ++j) {
          if (j < n && !potential.is_vertex(make_id<NodeId>(static_cast<Index>(j / d)))) continue;
          EXPECT_NEAR(H[j * 2 * n + i], (8.0 * (g1[j] - g0[j]) - (g2[j] - g3[j])) / (12.0 * h), 1e-7 * stiffest);
        }
      }
    }
  }
}

TEST_P(MeshPotentials, KnowsCellsThatAreTurnedOver) {
  const auto cells = cells_of(mesh, LinearElastic{{1.3, 0.7}});
  const std::array<const ElasticCells*, 1> all = {cells.get()};
  const MeshPotential potential(mesh, all, loads());
  std::vector<double> by(n, 0.0);
  const std::vector<double> u(n, 0.0);
  EXPECT_TRUE(potential.keeps_cells(by, by, 0.999));
  for (std::size_t i = 0; i < n; i += d) by[i] = -1.5 * mesh.points()[i];  // X is mirrored
  EXPECT_FALSE(potential(by, u, {}).admissible);
  EXPECT_FALSE(potential.keeps_cells(std::vector<double>(n, 0.0), by, 0.1));
}

}  // namespace
}  // namespace tempi
