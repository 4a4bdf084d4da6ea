// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/path_integral.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "support/cases.hpp"
#include "support/meshes.hpp"
#include "tempi/element/configurational_force.hpp"

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
    return PathIntegral(mesh, all, front, advance(direction), rings)(u, moving ? v : none, moving ? a : none);
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
  EXPECT_NEAR(PathIntegral(sheet.mesh, sheet.all, front, advance(std::vector{1.0, 0.0, 0.0}), 2).length(), 1.0, 1e-14);
  const Sheet small(test::tetrahedron_mesh(CellType::tetrahedron4, 8));
  std::vector<NodeId> part;
  for (Index a = 0; a < small.mesh.node_count(); ++a) {
    const auto X = small.mesh.point(make_id<NodeId>(a));
    if (std::abs(X[0] - 0.5) < 1e-9 && std::abs(X[2] - 0.5) < 1e-9) part.push_back(make_id<NodeId>(a));
  }
  expect_released_energy(small, part, {1.0, 0.0, 0.0}, 1.0);
}

// In motion: what is added is the rate of the pseudomomentum of the nodes within the ring, d/dt sum m q v . H xi, and
// the kinetic energy's own derivative. Along a motion u + t v + t^2 a / 2 both are had by differences.
void expect_rate_of_pseudomomentum(const DefectMotion& motion, bool per_length) {
  const Sheet sheet(test::triangle_mesh(CellType::triangle3, 8, 0.15, 4));
  const std::vector<NodeId> tip = {make_id<NodeId>(40)};
  constexpr int rings = 3;
  const std::vector<int> ring = rings_of(sheet.mesh, tip, rings);
  const std::vector<double> none(sheet.u.size(), 0.0);
  const PathIntegral of(sheet.mesh, sheet.all, tip, motion, rings, per_length);
  const std::vector<double> still = of(sheet.u, none, none), moving = of(sheet.u, sheet.v, sheet.a);
  for (int k = 1; k <= rings; ++k) {
    const auto pseudomomentum = [&](double t) {
      double sum = 0.0;
      for (Index c = 0; c < sheet.cells->size(); ++c) {
        const CellPoint at = sheet.cells->at_point(c, 0);
        const auto nodes = sheet.cells->stencil(c);
        double H[2][2] = {};
        for (std::size_t b = 0; b < 3; ++b)
          for (std::size_t i = 0; i < 2; ++i) {
            const std::size_t j = 2 * ordinal(nodes[b]) + i;
            for (std::size_t J = 0; J < 2; ++J)
              H[i][J] += at.dN[b][J] * (sheet.u[j] + t * sheet.v[j] + 0.5 * t * t * sheet.a[j]);
          }
        for (std::size_t b = 0; b < 3; ++b)
          for (std::size_t i = 0; i < 2 && ring[ordinal(nodes[b])] < k; ++i) {
            const std::size_t j = 2 * ordinal(nodes[b]) + i;
            const auto xi = motion(sheet.mesh.point(nodes[b]));
            sum += sheet.cells->mass(c, b) * (sheet.v[j] + t * sheet.a[j]) * (H[i][0] * xi[0] + H[i][1] * xi[1]);
          }
      }
      return sum;
    };
    const auto kinetic = [&](double by) {
      std::vector<double> X(sheet.mesh.points().begin(), sheet.mesh.points().end());
      for (std::size_t i = 0; i < X.size(); ++i)
        if (ring[i / 2] < k) X[i] += by * motion(sheet.mesh.points().subspan(i / 2 * 2, 2))[i % 2];
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

TEST(PathIntegral, InMotionHasTheRateOfThePseudomomentum) {
  expect_rate_of_pseudomomentum(advance(std::vector{1.0, 0.0}), true);
  expect_rate_of_pseudomomentum(turn(std::vector{0.3, 0.6}, {0.0, 0.0, 1.0}), false);
}

TEST(PathIntegral, TellsWhereItReachesAnotherMaterialAndRefusesWhatIsNone) {
  const Sheet sheet(test::triangle_mesh(CellType::triangle3, 8));
  const std::vector<NodeId> tip = {make_id<NodeId>(40)};
  const DefectMotion along = advance(std::vector{1.0, 0.0});
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
  expect_words(refusal([&] { advance(std::vector{0.0, 0.0}); }), {"no length"});
  const Sheet block(test::tetrahedron_mesh(CellType::tetrahedron4, 3));
  expect_words(refusal([&] { PathIntegral(block.mesh, block.all, tip, along, 1); }), {"line of nodes"});
}

// Straight cells of 6 nodes stay straight: their mid-edge nodes go with the vertices.
TEST(PathIntegral, OfQuadraticCellsIsTheEnergyReleasedByStraightOnes) {
  const Sheet sheet(test::triangle_mesh(CellType::triangle6, 5, 0.15, 4));
  std::vector<NodeId> tip;
  for (Index a = 0; a < sheet.mesh.node_count(); ++a)
    if (const auto X = sheet.mesh.point(make_id<NodeId>(a)); std::hypot(X[0] - 0.4, X[1] - 0.4) < 0.04)
      tip.push_back(make_id<NodeId>(a));
  ASSERT_EQ(tip.size(), 1u);
  const std::vector<double> J = sheet.J(tip, {1.0, 0.5}, 2, false);
  std::vector<int> ring(static_cast<std::size_t>(sheet.mesh.node_count()), 2);
  ring[ordinal(tip[0])] = 0;
  for (Index c = 0; c < sheet.mesh.cells().size(); ++c) {
    const auto vertices = sheet.mesh.cells()[c].first(3);
    if (std::ranges::find(vertices, tip[0]) != vertices.end())
      for (const NodeId a : vertices) ring[ordinal(a)] = std::min(ring[ordinal(a)], 1);
  }
  for (int k = 1; k <= 2; ++k) {
    const auto at = [&](double by) {
      std::vector<double> X(sheet.mesh.points().begin(), sheet.mesh.points().end());
      const auto move = [&](NodeId a, double part) {
        X[2 * ordinal(a)] += part * by * 2.0 / std::sqrt(5.0);
        X[2 * ordinal(a) + 1] += part * by * 1.0 / std::sqrt(5.0);
      };
      std::vector<char> done(ring.size(), 0);
      for (Index c = 0; c < sheet.mesh.cells().size(); ++c) {
        const auto nodes = sheet.mesh.cells()[c];
        for (std::size_t v = 0; v < 3; ++v) {
          const NodeId middle = nodes[3 + v];
          for (const NodeId a : {nodes[v], nodes[(v + 1) % 3]}) {
            if (done[ordinal(middle)] == 0 && ring[ordinal(a)] < k) move(middle, 0.5);
          }
          done[ordinal(middle)] = 1;
          if (std::exchange(done[ordinal(nodes[v])], 1) == 0 && ring[ordinal(nodes[v])] < k) move(nodes[v], 1.0);
        }
      }
      return energy(moved(sheet.mesh, X), sheet.u);
    };
    constexpr double h = 1e-4;
    EXPECT_NEAR(J[static_cast<std::size_t>(k - 1)], -(8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h),
                1e-10);
  }
}

// L and M by their definition: the energy released when the nodes of a region turn, or grow, about a centre.
TEST(PathIntegral, OfATurnAndOfGrowthIsTheEnergyReleased) {
  const Sheet sheet(test::triangle_mesh(CellType::triangle3, 8, 0.15, 4));
  const std::vector<NodeId> hole = {make_id<NodeId>(40), make_id<NodeId>(41)};
  const std::vector<double> centre = {0.3, 0.6}, none(sheet.u.size(), 0.0);
  const std::vector<int> ring = rings_of(sheet.mesh, hole, 3);
  const auto released = [&](const std::function<std::array<double, 2>(double, double)>& by, int k) {
    const auto at = [&](double h) {
      std::vector<double> X(sheet.mesh.points().begin(), sheet.mesh.points().end());
      for (std::size_t a = 0; a < ring.size(); ++a) {
        const auto way = by(X[2 * a] - centre[0], X[2 * a + 1] - centre[1]);
        for (std::size_t c = 0; c < 2 && ring[a] < k; ++c) X[2 * a + c] += h * way[c];
      }
      return energy(moved(sheet.mesh, X), sheet.u);
    };
    constexpr double h = 1e-4;
    return -(8.0 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12.0 * h);
  };
  const PathIntegral L(sheet.mesh, sheet.all, hole, turn(centre, {0.0, 0.0, 1.0}), 3, false),
      M(sheet.mesh, sheet.all, hole, growth(centre), 3, false);
  const auto of_L = L(sheet.u, none, none), of_M = M(sheet.u, none, none);
  for (int k = 1; k <= 3; ++k) {
    EXPECT_NEAR(of_L[static_cast<std::size_t>(k - 1)],
                released(
                    [](double x, double y) {
                      return std::array{-y, x};
                    },
                    k),
                1e-10);
    EXPECT_NEAR(of_M[static_cast<std::size_t>(k - 1)],
                released(
                    [](double x, double y) {
                      return std::array{x, y};
                    },
                    k),
                1e-10);
  }
}

// In the plane, where growth of places alone changes neither gradients' squares times areas. A control: another law.
TEST(PathIntegral, OfGrowthOfAWholeBodyIsNothingWhereTheEnergyIsOfSecondDegree) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 8, 0.15, 4);
  std::vector<CellId> ids;
  for (Index c = 0; c < mesh.cells().size(); ++c) ids.push_back(make_id<CellId>(c));
  const auto total = [&](const Material& material, const DefectMotion& motion) {
    const auto cells = make_elastic_cells(mesh, CellType::triangle3, ids, material, 1.0);
    const Sheet sheet{Mesh(mesh)};
    std::array<double, 30> f{};
    double sum = 0.0, size = 0.0;
    for (Index k = 0; k < cells->size(); ++k) {
      f.fill(0.0);
      add_configurational_forces(*cells, k, sheet.u, {}, Carried::displacements, f);
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t i = 0; i < 2; ++i) {
          const double part = f[3 * a + i] * motion(mesh.point(cells->stencil(k)[a]))[i];
          sum += part;
          size += std::abs(part);
        }
    }
    return std::abs(sum) / size;
  };
  const std::vector<double> centre = {0.3, 0.6};
  EXPECT_LE(total(LinearElastic{{1.3, 0.7}}, growth(centre)), 1e-14);
  EXPECT_GE(total(NeoHookean{{1.3, 0.7}}, growth(centre)), 1e-4);  // a control
}

TEST(PathIntegral, OfAContourIsThatOfTheNodesItEncloses) {
  const Mesh plain = test::triangle_mesh(CellType::triangle3, 8, 0.1, 4);
  MeshData data;
  data.dim = 2;
  data.points.assign(plain.points().begin(), plain.points().end());
  data.cells = plain.cells();
  for (Index a = 0; a < plain.node_count(); ++a) data.point_labels.push_back(a + 1);
  const auto node = [](int i, int j) { return make_id<NodeId>(9 * j + i); };
  const auto side = [&](NodeId a, NodeId b) {
    const std::array<NodeId, 2> nodes = {a, b};
    data.facets.push_back(CellType::line2, nodes, data.facets.size() + 1);
  };
  for (int k = 2; k < 6; ++k) {  // a square of 4 x 4 around node (4, 4)
    side(node(k, 2), node(k + 1, 2));
    side(node(k, 6), node(k + 1, 6));
    side(node(2, k), node(2, k + 1));
    side(node(6, k), node(6, k + 1));
  }
  const Sheet sheet{Mesh(data)};
  std::vector<FacetId> contour, open;
  for (Index f = 0; f < sheet.mesh.facets().size(); ++f) contour.push_back(make_id<FacetId>(f));
  open.assign(contour.begin(), contour.end() - 1);
  const std::vector<NodeId> tip = {node(4, 4)};
  const DefectMotion along = advance(std::vector{1.0, 0.0});
  const std::vector<double> none(sheet.u.size(), 0.0);
  const std::array<std::vector<FacetId>, 1> one = {contour}, leaking = {open};
  const double J = PathIntegral(sheet.mesh, sheet.all, tip, along, one)(sheet.u, none, none)[0];
  // Minus the sum over the nodes inside, and plus that over the contour's of what the cells inside give (Fig. 20).
  double inside = 0.0, boundary = 0.0;
  std::array<double, 30> f{};
  for (Index k = 0; k < sheet.cells->size(); ++k) {
    f.fill(0.0);
    add_configurational_forces(*sheet.cells, k, sheet.u, {}, Carried::displacements, f);
    const auto X = sheet.mesh.centroid(sheet.cells->cell(k));
    for (std::size_t a = 0; a < 3; ++a) {
      const Index i = index(sheet.cells->stencil(k)[a]) % 9, j = index(sheet.cells->stencil(k)[a]) / 9;
      if (i > 2 && i < 6 && j > 2 && j < 6)
        inside += f[3 * a];
      else if (std::abs(X[0] - 0.5) < 0.25 && std::abs(X[1] - 0.5) < 0.25 && i >= 2 && i <= 6 && j >= 2 && j <= 6)
        boundary += f[3 * a];
    }
  }
  EXPECT_NEAR(J, -inside, 1e-14);
  EXPECT_NEAR(J, boundary, 1e-14);
  EXPECT_GE(std::abs(J), 1e-6);
  expect_words(refusal([&] { PathIntegral(sheet.mesh, sheet.all, tip, along, leaking); }), {"does not enclose"});
}

// Two materials in a row, pulled: the stress is the same, W - P H is not. Where rings stay in one material no force is
// left; across the interface J is its jump times the height of what moves, which no finer mesh takes away.
TEST(PathIntegral, AcrossAnInterfaceIsNotThatOfTheTip) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 8);
  std::vector<CellId> left, right;
  for (Index c = 0; c < mesh.cells().size(); ++c)
    (mesh.centroid(make_id<CellId>(c))[0] < 0.5 ? left : right).push_back(make_id<CellId>(c));
  const auto soft = make_elastic_cells(mesh, CellType::triangle3, left, LinearElastic{{1.0, 1.0}}, 1.0),
             stiff = make_elastic_cells(mesh, CellType::triangle3, right, LinearElastic{{2.0, 2.0}}, 1.0);
  const std::array<const ElasticCells*, 2> both = {soft.get(), stiff.get()};
  std::vector<double> u(mesh.points().size(), 0.0);
  const std::vector<double> none(u.size(), 0.0);
  constexpr double strain = 0.02;  // of the soft one; half of it on the other side
  for (std::size_t i = 0; i < u.size(); i += 2) {
    const double X = mesh.points()[i];
    u[i] = strain * (std::min(X, 0.5) + 0.5 * std::max(X - 0.5, 0.0));
  }
  const DefectMotion along = advance(std::vector{1.0, 0.0});
  const auto of = [&](int i, int j, int rings) {
    const std::vector<NodeId> at = {make_id<NodeId>(9 * j + i)};
    return PathIntegral(mesh, both, at, along, rings)(u, none, none);
  };
  for (const double J : of(2, 4, 2)) EXPECT_NEAR(J, 0.0, 1e-16);
  const double jump = 0.5 * 3.0 * strain * strain * (1.0 - 0.5);  // of P H / 2
  const std::vector<double> crossing = of(4, 4, 3);
  for (std::size_t k = 0; k < 3; ++k) {  // 1, 3, 5 nodes of the interface
    EXPECT_NEAR(std::abs(crossing[k]), jump * (2.0 * static_cast<double>(k) + 1.0) / 8.0, 1e-15) << k;
  }
}

}  // namespace
}  // namespace tempi
