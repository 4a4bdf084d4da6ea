// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/term_energies.hpp"

#include <gtest/gtest.h>

#include <random>

#include "support/meshes.hpp"
#include "support/runs.hpp"
#include "tempi/potential/uniform_field.hpp"

namespace tempi::test {
namespace {

// Cells of every dimension and order beside a field, of which somebody wants any part.
TEST(TermEnergies, are_the_sum_of_what_terms_have_one_by_one) {
  std::mt19937 random(7);
  for (const CellType type :
       {CellType::triangle3, CellType::triangle6, CellType::tetrahedron4, CellType::tetrahedron10}) {
    const int dim = type == CellType::triangle3 || type == CellType::triangle6 ? 2 : 3;
    const Mesh mesh = dim == 2 ? triangle_mesh(type, 4, 0.15, 12) : tetrahedron_mesh(type, 3, 0.1, 4);
    Model::Parts parts = elastic_parts(mesh, NeoHookean{{1.3, 0.7}}, 1.2);
    std::vector<NodeId> all;
    for (Index a = 0; a < mesh.node_count(); ++a) all.push_back(make_id<NodeId>(a));
    parts.add(make_uniform_field(parts.reference, dim, parts.mass, all, std::array{0.1, -0.7, 0.3}));
    const Model model(std::move(parts));
    State state = reference_state(model);
    std::uniform_real_distribution<double> any(-0.02, 0.02);
    for (double& u : state.displacement) u = any(random);
    for (const double share : {0.0, 0.05, 0.5, 1.0}) {
      std::vector<TermId> terms;
      double sum = 0.0, size = 1.0;
      for (Index k = 0; k < model.term_count(); ++k) {
        if (!std::bernoulli_distribution(share)(random)) continue;
        terms.push_back(make_id<TermId>(k));
        const Model::Term term = model.term(terms.back());
        const double energy = term.potential->energy(term.k, state.displacement, 0.0);
        sum += energy;
        size += std::abs(energy);
      }
      const TermEnergies energies(model, terms);
      EXPECT_NEAR(energies(state.displacement, 0.0), sum, 1e-14 * size);
      EXPECT_EQ(energies(state.displacement, 0.0), energies(state.displacement, 0.0));  // a look leaves nothing behind
    }
  }
}

}  // namespace
}  // namespace tempi::test
