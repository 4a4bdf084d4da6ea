// SPDX-License-Identifier: Apache-2.0
#include "tempi/adaption/mesh_equilibrium.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/meshes.hpp"
#include "tempi/core/error.hpp"
#include "tempi/element/configurational_force.hpp"

namespace tempi {
namespace {

// A body whose whole surface is displaced as given and stays where it is in the reference configuration.
struct Held {
  Mesh mesh;
  Material material;
  std::unique_ptr<ElasticCells> cells;
  std::array<const ElasticCells*, 1> all;
  std::vector<double> u;
  std::vector<char> held;
  SlidingNodes sliding;
  MeshLoads loads;

  template <class Motion>
  Held(Mesh of, Material its, Motion&& motion) : mesh(std::move(of)), material(its) {
    std::vector<CellId> ids;
    for (Index c = 0; c < mesh.cells().size(); ++c) ids.push_back(make_id<CellId>(c));
    cells = make_elastic_cells(mesh, mesh.cells().types.front(), ids, material, 1.0);
    all = {cells.get()};
    const auto d = static_cast<std::size_t>(mesh.dim());
    u.assign(mesh.points().size(), 0.0);
    held.assign(u.size(), 0);
    std::vector<char> stays(static_cast<std::size_t>(mesh.node_count()), 0);
    for (const CellFacet f : boundary_facets(mesh))
      for (const NodeId a : facet_nodes(mesh, f)) {
        const std::array<double, 3> value = motion(mesh.point(a));
        stays[ordinal(a)] = 1;
        for (std::size_t c = 0; c < d; ++c) {
          u[ordinal(a) * d + c] = value[c];
          held[ordinal(a) * d + c] = 1;
        }
      }
    sliding = sliding_nodes(mesh, std::vector<int>(ids.size(), 0), std::vector<std::vector<int>>(stays.size()), stays);
    loads.force.assign(u.size(), 0.0);
    loads.of_cells.assign(ids.size(), {});
  }

  AdaptedMesh adapt(std::vector<AdaptionState>& states, AdaptionOptions options = {}) const {
    return adapt_mesh(MeshPotential(mesh, all, loads), sliding, u, held, options, [&](const AdaptionState& s) {
      states.push_back(s);
      return true;
    });
  }
  // Configurational forces of the moved mesh, made anew; of the vertices inside, those of mid-edge nodes shared out.
  double largest_inside(const AdaptedMesh& adapted) const {
    std::vector<double> X(mesh.points().begin(), mesh.points().end());
    for (std::size_t i = 0; i < X.size(); ++i) X[i] += adapted.moved[i];
    const Mesh other = test::moved(mesh, X);
    std::vector<CellId> ids;
    for (Index c = 0; c < other.cells().size(); ++c) ids.push_back(make_id<CellId>(c));
    const auto there = make_elastic_cells(other, other.cells().types.front(), ids, material, 1.0);
    const std::array<const ElasticCells*, 1> theirs = {there.get()};
    std::vector<double> f =
        configurational_forces(theirs, other.node_count(), other.dim(), adapted.u, {}, Carried::displacements);
    const auto d = static_cast<std::size_t>(mesh.dim());
    std::vector<char> done(static_cast<std::size_t>(mesh.node_count()), 0);
    for (Index c = 0; c < mesh.cells().size(); ++c) {
      const CellType type = mesh.cells().types[static_cast<std::size_t>(c)];
      std::size_t middle = static_cast<std::size_t>(info(type).vertices);
      for (const auto& [a, b] : mid_edges(type)) {
        const NodeId m = mesh.cells()[c][middle++];
        if (std::exchange(done[ordinal(m)], 1) != 0) continue;
        for (const int end : {a, b})
          for (std::size_t i = 0; i < d; ++i)
            f[ordinal(mesh.cells()[c][static_cast<std::size_t>(end)]) * d + i] += 0.5 * f[ordinal(m) * d + i];
      }
    }
    double most = 0.0;
    for (std::size_t a = 0; a < sliding.of_node.size(); ++a)
      for (std::size_t i = 0; i < d && sliding.of_node[a].count > 0; ++i) most = std::max(most, std::abs(f[a * d + i]));
    return most;
  }
};

std::array<double, 3> bowl(std::span<const double> X) {
  const double z = X.size() > 2 ? X[2] : 0.0;
  return {0.02 * (X[0] * X[0] + X[1] * X[1] + z * z), 0.01 * (X[0] * X[0] + X[1] * X[1]), 0.01 * (X[0] * X[0] + z * z)};
}

void expect_equilibrium(const Held& body) {
  std::vector<AdaptionState> states;
  const AdaptedMesh adapted = body.adapt(states);
  EXPECT_TRUE(adapted.converged) << states.size();
  EXPECT_GE(states.size(), 3u);
  for (std::size_t i = 1; i < states.size(); ++i)
    EXPECT_LE(states[i].potential + states[i].barrier,
              states[i - 1].potential + states[i - 1].barrier + 1e-14 * states[0].potential);
  EXPECT_LE(adapted.last.potential, adapted.first.potential * (1.0 - 1e-5));
  EXPECT_EQ(adapted.last.active_cells, 0);  // nobody's shape has to be held: forces vanish at all nodes
  EXPECT_LE(adapted.last.largest_force, 1e-8 * adapted.first.largest_force);
  EXPECT_LE(body.largest_inside(adapted), 1.5e-8 * adapted.first.largest_force);
}

TEST(MeshEquilibrium, AllForcesInsideVanishOnASmoothProblem) {
  for (const Material& material : test::materials()) {
    expect_equilibrium(Held(test::triangle_mesh(CellType::triangle3, 6, 0.2, 2), material, bowl));
    expect_equilibrium(Held(test::tetrahedron_mesh(CellType::tetrahedron4, 3, 0.2, 2), material, bowl));
  }
}

TEST(MeshEquilibrium, OfQuadraticCellsForcesVanishAtVertices) {
  const auto cubic = [](std::span<const double> X) {
    return std::array{0.02 * X[0] * (X[0] * X[0] + X[1] * X[1]), 0.01 * X[1] * (X[0] * X[0] + X[1] * X[1]), 0.0};
  };
  const Held body(test::triangle_mesh(CellType::triangle6, 5, 0.2, 2), LinearElastic{{1.3, 0.7}}, cubic);
  std::vector<AdaptionState> states;
  const AdaptedMesh adapted = body.adapt(states);
  EXPECT_TRUE(adapted.converged);
  EXPECT_LE(adapted.last.largest_force, 1e-8 * adapted.first.largest_force);
  EXPECT_EQ(adapted.last.active_cells, 0);
  EXPECT_LE(body.largest_inside(adapted), 1.5e-8 * adapted.first.largest_force);
}

// Uniform strain: no mesh is better than another, and no force asks for one.
TEST(MeshEquilibrium, LeavesAMeshOfUniformStrainAlone) {
  const Held body(test::triangle_mesh(CellType::triangle3, 6, 0.2, 2), NeoHookean{{1.3, 0.7}},
                  [](std::span<const double> X) {
                    return std::array{0.1 * X[0], 0.05 * X[0] - 0.1 * X[1], 0.0};
                  });
  std::vector<AdaptionState> states;
  const AdaptedMesh adapted = body.adapt(states);
  EXPECT_LE(adapted.first.largest_force, 1e-14);
  EXPECT_TRUE(adapted.converged);
  for (const double x : adapted.moved) EXPECT_LE(std::abs(x), 1e-6);
}

// A point that is pulled alone: without a least size the mesh would run there for ever.
TEST(MeshEquilibrium, CellsKeepAShapeAndASizeAboutAPointThatIsPulled) {
  Held body(test::triangle_mesh(CellType::triangle3, 6, 0.1, 2), LinearElastic{{1.3, 0.7}},
            [](std::span<const double>) {
              return std::array{0.0, 0.0, 0.0};
            });
  const std::size_t middle = static_cast<std::size_t>(body.mesh.node_count() / 2);
  body.loads.force[2 * middle] = 0.01;
  body.sliding.of_node[middle].count = 0;
  std::vector<AdaptionState> states;
  AdaptionOptions options;
  options.barrier.least_size = 1e-2;
  const AdaptedMesh adapted = body.adapt(states, options);
  EXPECT_TRUE(adapted.converged);
  EXPECT_GE(adapted.last.active_cells, 1);
  EXPECT_GE(adapted.last.least_shape, 1e-3);
  for (std::size_t i = 1; i < states.size(); ++i)
    EXPECT_LE(states[i].potential + states[i].barrier,
              states[i - 1].potential + states[i - 1].barrier + 1e-14 * std::abs(states[0].potential));
}

TEST(MeshEquilibrium, EndsWhereItIsAskedToAndRefusesABodyThatIsNotHeld) {
  const Held body(test::triangle_mesh(CellType::triangle3, 6, 0.2, 2), LinearElastic{{1.3, 0.7}}, bowl);
  AdaptionOptions two;
  two.iterations = 2;
  std::vector<AdaptionState> states;
  EXPECT_FALSE(body.adapt(states, two).converged);
  EXPECT_EQ(states.size(), 3u);
  const MeshPotential potential(body.mesh, body.all, body.loads);
  const std::vector<char> free(body.u.size(), 0);
  EXPECT_THROW(adapt_mesh(potential, body.sliding, body.u, free, {}), SolveError);
}

}  // namespace
}  // namespace tempi
