// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/static_equilibrium.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "support/meshes.hpp"
#include "support/runs.hpp"
#include "tempi/force/loads.hpp"

namespace tempi {
namespace {

// One whole correction from beside the equilibrium leaves the square of how far that was: with every law that is not
// linear, on triangles and tetrahedra. Linear elasticity has nothing left, a control of what is measured.
TEST(StaticEquilibrium, NewtonsMethodIsQuadraticNearTheSolution) {
  for (const Material& material : test::materials())
    for (const Mesh& mesh : {test::triangle_mesh(CellType::triangle6, 3, 0.1, 2),
                             test::tetrahedron_mesh(CellType::tetrahedron4, 2, 0.1, 2)}) {
      Model::Parts parts = test::elastic_parts(mesh, material, 1.0);
      parts.supports = test::held_at_rest(mesh, "left");
      test::add_force(parts, make_traction(mesh, test::facets_of(mesh, "right"),
                                           test::formulas({"0.05", "0.02", "0.01"}, mesh.dim())));
      const Model model(std::move(parts));
      const StaticMap map(model, 1.0);
      State state = reference_state(model);
      map.step(state, 0.0, 1.0);
      const Eigen::VectorXd solution = map_of(state.displacement);
      ASSERT_GE(solution.cwiseAbs().maxCoeff(), 1e-2);
      const StageForces& forces = map.forces();
      const std::vector<double> drawn = test::random_displacements(mesh, 1.0, 5);
      Eigen::VectorXd ones = Eigen::VectorXd::Zero(solution.size());
      for (const Index i : forces.held()) ones(i) = 1.0;
      StepMatrix matrix(model, ones, forces.held(), SparseFactors::Kind::symmetric);
      const auto left = [&](double distance) {
        Stage stage{solution, Eigen::VectorXd::Zero(solution.size()), {}, {}};
        for (Index i = 0; i < solution.size(); ++i) stage.u(i) += distance * drawn[static_cast<std::size_t>(i)];
        for (const Index i : forces.held()) stage.u(i) = solution(i);
        EXPECT_TRUE(forces.evaluate(stage, 1.0).holds());
        Eigen::VectorXd R = stage.force;
        for (const Index i : forces.held()) R(i) = 0.0;
        const auto& K = matrix.stiffness()(span_of(stage.u), 1.0);
        EXPECT_TRUE(matrix.factorise(K, 1.0));
        return (stage.u + matrix.solve(R) - solution).norm();
      };
      const double far = left(1e-3), near = left(1e-4);
      if (std::holds_alternative<LinearElastic>(material)) {
        EXPECT_LE(far, 1e-12);
        continue;
      }
      EXPECT_NEAR(std::log10(far / near), 2.0, 0.05) << test::name_of(material) << ' ' << mesh.dim();
    }
}

// What a row has found is the next step's: kept, so that evaluations and iterations are counted as in a run not cut
// off.
TEST(StaticEquilibrium, GoesOnThroughACheckpointWithTheSameBitsAndCounts) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle6, 3, 0.1, 2);
  Model::Parts parts = test::elastic_parts(mesh, NeoHookean{{1.3, 0.7}}, 1.0);
  parts.supports = test::held_at_rest(mesh, "left");
  test::add_force(parts, make_traction(mesh, test::facets_of(mesh, "right"),
                                       test::formulas({"0.05*t", "0.02*t"}, mesh.dim())));
  const Model model(std::move(parts));
  for (const double looked_at : {0.25, 0.375, 0.5}) {  // no row, within a step, at the end of one
    StaticEquilibrium whole(model, 0.25), resumed(model, 0.25);
    State a = reference_state(model), b = a;
    whole.advance_to(a, 0.3);
    whole.synchronized(a, looked_at);
    std::stringstream file;
    {
      ArchiveWriter archive(file);
      a.save(archive);
      whole.save(archive);
    }
    ArchiveReader archive(file);
    b.load(archive);
    resumed.load(archive);
    whole.advance_to(a, 1.1);
    resumed.advance_to(b, 1.1);
    EXPECT_TRUE(test::same_bits(a, b)) << looked_at;
    EXPECT_EQ(whole.measures(), resumed.measures()) << looked_at;
  }
}

}  // namespace
}  // namespace tempi
