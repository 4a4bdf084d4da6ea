// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/path_integral.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/cases.hpp"
#include "support/meshes.hpp"

namespace tempi {
namespace {

using test::expect_words;
using test::moved;
using test::refusal;

struct Sheet {
  Mesh mesh;
  std::unique_ptr<ElasticCells> cells;
  std::vector<const ElasticCells*> all;
  std::vector<double> u, v, a;

  explicit Sheet(Mesh of) : mesh(std::move(of)) {
    std::vector<CellId> ids;
    for (Index c = 0; c < mesh.cells().size(); ++c) ids.push_back(make_id<CellId>(c));
    cells = make_elastic_cells(mesh, mesh.cells().types.front(), ids, NeoHookean{{1.3, 0.7}}, 2.5);
    all = {cells.get()};
    std::mt19937 dice(3);
    std::uniform_real_distribution<double> part(-0.01, 0.01);
    for (std::vector<double>* x : {&u, &v, &a})
      for (std::size_t i = 0; i < mesh.points().size(); ++i) x->push_back(part(dice));
  }
  std::vector<double> J(std::span<const NodeId> front, const std::vector<double>& direction, int rings,
                        bool moving) const {
    const std::vector<double> none(u.size(), 0.0);
    return PathIntegral(mesh, all, front, direction, rings)(u, moving ? v : none, moving ? a : none);
  }
};

double energy(const Mesh& mesh, std::span<const double> u) {
  const Sheet sheet(Mesh{mesh});
  double V = 0.0;
  for (Index k = 0; k < sheet.cells->size(); ++k) V += sheet.cells->energy(k, u, 0.0);
  return V;
}

// Node rings around a front by their definition: cells that share a node.
std::vector<int> rings_of(const Mesh& mesh, std::span<const NodeId> front, int rings) {
  std::vector<int> ring(static_cast<std::size_t>(mesh.node_count()), rings);
  for (const NodeId a : front) ring[ordinal(a)] = 0;
  for (int k = 1; k < rings; ++k) {
    const std::vector<int> before = ring;
    for (Index c = 0; c < mesh.cells().size(); ++c) {
      int least = rings;
      for (const NodeId a : mesh.cells()[c]) least = std::min(least, before[ordinal(a)]);
      for (const NodeId a : mesh.cells()[c])
        if (least == k - 1) ring[ordinal(a)] = std::min(ring[ordinal(a)], k);
    }
  }
  return ring;
}

// The energy released when all nodes within k rings move along, by differences; displacements stay with the nodes.
void expect_released_energy(const Sheet& sheet, std::span<const NodeId> front, const std::vector<double>& direction,
                            double length) {
  constexpr int rings = 3;
  const std::vector<double> J = sheet.J(front, direction, rings, false);
  const std::vector<int> ring = rings_of(sheet.mesh, front, rings);
  const auto d = static_cast<std::size_t>(sheet.mesh.dim());
  double norm = 0.0;
  for (const double e : direction) norm += e * e;
  for (int k = 1; k <= rings; ++k) {
    const auto at = [&](double by) {
      std::vector<double> X(sheet.mesh.points().begin(), sheet.mesh.points().end());
      for (std::size_t i = 0; i < X.size(); ++i)
        if (ring[i / d] < k) X[i] += by * direction[i % d] / std::sqrt(norm);
      return energy(moved(sheet.mesh, X), sheet.u);
    };
    constexpr double h = 1e-4;
    EXPECT_NEAR(J[static_cast<std::size_t>(k - 1)],
                -(8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h) / length, 1e-10)
        << k;
  }
}

TEST(PathIntegral, IsTheEnergyReleasedWhenNodesWithinARingMove) {
  const Sheet sheet(test::triangle_mesh(CellType::triangle3, 8, 0.15, 4));
  const std::vector<NodeId> tip = {make_id<NodeId>(40)};
  expect_released_energy(sheet, tip, {2.0, 0.5}, 1.0);
}

TEST(PathIntegral, OfAFrontInSpaceIsPerLength) {
  const Sheet sheet(test::tetrahedron_mesh(CellType::tetrahedron4, 6));
  std::vector<NodeId> front;  // the line X = Z = 1/2
  for (Index a = 0; a < sheet.mesh.node_count(); ++a) {
    const auto X = sheet.mesh.point(make_id<NodeId>(a));
    if (std::abs(X[0] - 0.5) < 1e-9 && std::abs(X[2] - 0.5) < 1e-9) front.push_back(make_id<NodeId>(a));
  }
  ASSERT_EQ(front.size(), 7u);
  EXPECT_NEAR(PathIntegral(sheet.mesh, sheet.all, front, std::vector{1.0, 0.0, 0.0}, 2).length(), 1.0, 1e-14);
  const Sheet small(test::tetrahedron_mesh(CellType::tetrahedron4, 8));
  std::vector<NodeId> part;
  for (Index a = 0; a < small.mesh.node_count(); ++a) {
    const auto X = small.mesh.point(make_id<NodeId>(a));
    if (std::abs(X[0] - 0.5) < 1e-9 && std::abs(X[2] - 0.5) < 1e-9) part.push_back(make_id<NodeId>(a));
  }
  expect_released_energy(small, part, {1.0, 0.0, 0.0}, 1.0);
}

// In motion: what is added is the rate of the pseudomomentum of the nodes within the ring, d/dt sum m q v . H e, and
// the kinetic energy's own derivative. Along a motion u + t v + t^2 a / 2 both are had by differences.
TEST(PathIntegral, InMotionHasTheRateOfThePseudomomentum) {
  const Sheet sheet(test::triangle_mesh(CellType::triangle3, 8, 0.15, 4));
  const std::vector<NodeId> tip = {make_id<NodeId>(40)};
  constexpr int rings = 3;
  const std::vector<int> ring = rings_of(sheet.mesh, tip, rings);
  const std::vector<double> still = sheet.J(tip, {1.0, 0.0}, rings, false),
                            moving = sheet.J(tip, {1.0, 0.0}, rings, true);
  for (int k = 1; k <= rings; ++k) {
    const auto pseudomomentum = [&](double t) {
      double sum = 0.0;
      for (Index c = 0; c < sheet.cells->size(); ++c) {
        const CellPoint at = sheet.cells->at_point(c, 0);
        const auto nodes = sheet.cells->stencil(c);
        double H[2] = {};
        for (std::size_t b = 0; b < 3; ++b)
          for (std::size_t i = 0; i < 2; ++i) {
            const std::size_t j = 2 * ordinal(nodes[b]) + i;
            H[i] += at.dN[b][0] * (sheet.u[j] + t * sheet.v[j] + 0.5 * t * t * sheet.a[j]);
          }
        for (std::size_t b = 0; b < 3; ++b)
          for (std::size_t i = 0; i < 2 && ring[ordinal(nodes[b])] < k; ++i) {
            const std::size_t j = 2 * ordinal(nodes[b]) + i;
            sum += sheet.cells->mass(c, b) * (sheet.v[j] + t * sheet.a[j]) * H[i];
          }
      }
      return sum;
    };
    const auto kinetic = [&](double by) {
      std::vector<double> X(sheet.mesh.points().begin(), sheet.mesh.points().end());
      for (std::size_t i = 0; i < X.size(); i += 2)
        if (ring[i / 2] < k) X[i] += by;
      const Sheet other(moved(sheet.mesh, X));
      double T = 0.0;
      for (Index c = 0; c < other.cells->size(); ++c)
        for (std::size_t b = 0; b < 3; ++b)
          for (std::size_t i = 0; i < 2; ++i)
            T += 0.5 * other.cells->mass(c, b) * std::pow(sheet.v[2 * ordinal(other.cells->stencil(c)[b]) + i], 2);
      return T;
    };
    constexpr double h = 1e-3;
    const double expected = (pseudomomentum(h) - pseudomomentum(-h)) / (2 * h) + (kinetic(h) - kinetic(-h)) / (2 * h);
    EXPECT_NEAR(moving[static_cast<std::size_t>(k - 1)] - still[static_cast<std::size_t>(k - 1)], expected, 1e-10) << k;
    EXPECT_GE(std::abs(expected), 1e-8);  // there is something to miss
  }
}

TEST(PathIntegral, TellsWhereItReachesAnotherMaterialAndRefusesWhatIsNone) {
  const Sheet sheet(test::triangle_mesh(CellType::triangle3, 8));
  const std::vector<NodeId> tip = {make_id<NodeId>(40)};
  const std::vector<double> along = {1.0, 0.0};
  EXPECT_EQ(PathIntegral(sheet.mesh, sheet.all, tip, along, 3).first_other_material(), 0);
  std::vector<CellId> left, right;
  for (Index c = 0; c < sheet.mesh.cells().size(); ++c)
    (sheet.mesh.centroid(make_id<CellId>(c))[0] < 0.25 ? left : right).push_back(make_id<CellId>(c));
  const auto soft = make_elastic_cells(sheet.mesh, CellType::triangle3, left, NeoHookean{{1.3, 0.7}}, 2.5),
             stiff = make_elastic_cells(sheet.mesh, CellType::triangle3, right, NeoHookean{{2.6, 1.4}}, 2.5);
  const std::array<const ElasticCells*, 2> two = {soft.get(), stiff.get()};
  EXPECT_EQ(PathIntegral(sheet.mesh, two, tip, along, 3).first_other_material(), 3);  // node 40 is at (1/2, 1/2)
  expect_words(refusal([&] { PathIntegral(sheet.mesh, sheet.all, {}, along, 3); }), {"no node"});
  expect_words(refusal([&] { PathIntegral(sheet.mesh, sheet.all, tip, along, 0); }), {"rings = 0"});
  expect_words(refusal([&] { PathIntegral(sheet.mesh, sheet.all, tip, along, 20); }), {"every node", "fewer"});
  expect_words(refusal([&] { PathIntegral(sheet.mesh, sheet.all, tip, std::vector{0.0, 0.0}, 2); }), {"no length"});
  expect_words(refusal([&] {
                 PathIntegral(sheet.mesh, sheet.all, tip, std::vector{1.0, 0.0, 0.0}, 2);
               }),
               {"3 components"});
  const Sheet block(test::tetrahedron_mesh(CellType::tetrahedron4, 3));
  expect_words(refusal([&] {
                 PathIntegral(block.mesh, block.all, tip, std::vector{1.0, 0.0, 0.0}, 1);
               }),
               {"line of nodes"});
}

}  // namespace
}  // namespace tempi
