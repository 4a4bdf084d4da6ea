// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/linearised_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/meshes.hpp"
#include "tempi/force/loads.hpp"

namespace tempi {
namespace {

const Material material = NeoHookean{{1.3, 0.7}};

// A plate pulled at its right in x as a formula says, held at its left in both, under gravity; two potentials.
struct Plate {
  Plate() {
    Model::Parts parts = test::elastic_parts(mesh, material, 1.2);
    auto more = test::elastic_parts(mesh, SaintVenantKirchhoff{{1.0, 1.0}}, 1.2);
    parts.potentials.push_back(std::move(more.potentials.front()));
    std::vector<Expression> g;
    g.emplace_back(0.0);
    g.emplace_back(-1.0);
    parts.forces.push_back(make_gravity(mesh, dynamic_cast<const ElasticCells&>(*parts.potentials.front()), {},
                                        VectorExpression(std::move(g)))
                               .force);
    parts.hosts.emplace_back();
    for (Index e = 0; e < parts.forces.back()->size(); ++e) parts.hosts.back().push_back(make_id<TermId>(e));
    std::vector<Support> supports(2);
    supports[0] = {"left", test::nodes_of(mesh, "left"), {Support::Motion::at_rest, Support::Motion::at_rest}, {}};
    supports[1] = {"right", test::nodes_of(mesh, "right"), {Support::Motion::prescribed}, {}};
    supports[1].displacement[0].emplace("0.1*X*t", Constants{});
    parts.supports = Supports(std::move(supports), mesh.points(), 2);
    model = std::make_unique<Model>(std::move(parts));
    u = test::random_displacements(mesh, 0.02, 4);
  }
  Mesh mesh = test::triangle_mesh(CellType::triangle3, 3, 0.1, 5);
  std::unique_ptr<Model> model;
  std::vector<double> u;
};

TEST(LinearisedModel, has_the_terms_and_masses_of_the_model) {
  const Plate plate;
  const Model linear = linearised(*plate.model, plate.u);
  EXPECT_EQ(linear.dim(), 2);
  EXPECT_TRUE(std::ranges::equal(linear.mass(), plate.model->mass()));
  ASSERT_EQ(linear.potential_count(), 2);
  ASSERT_EQ(linear.term_count(), plate.model->term_count());
  for (Index i = 0; i < linear.term_count(); ++i)
    EXPECT_TRUE(
        std::ranges::equal(linear.term(make_id<TermId>(i)).stencil(), plate.model->term(make_id<TermId>(i)).stencil()));
}

TEST(LinearisedModel, has_the_hessians_of_the_terms_at_u) {
  const Plate plate;
  const Model linear = linearised(*plate.model, plate.u);
  const std::vector<double> zero(plate.u.size(), 0.0);
  for (Index i = 0; i < linear.term_count(); ++i) {
    const auto original = plate.model->term(make_id<TermId>(i)), term = linear.term(make_id<TermId>(i));
    std::vector<double> H(36, 0.0), K(36, 0.0);
    original.potential->as_local()->add_hessian(original.k, plate.u, 0.0, H);
    term.potential->as_local()->add_hessian(term.k, zero, 0.0, K);
    for (std::size_t j = 0; j < 36; ++j) EXPECT_NEAR(K[j], H[j], 1e-14 * std::abs(H[j]) + 1e-16);
  }
}

TEST(LinearisedModel, displacements_count_from_the_configuration_u) {
  const Plate plate;
  const Model linear = linearised(*plate.model, plate.u);
  for (std::size_t i = 0; i < plate.u.size(); ++i)
    EXPECT_EQ(linear.reference()[i], plate.model->reference()[i] + plate.u[i]);
}

TEST(LinearisedModel, holds_what_the_supports_hold_and_keeps_it_at_rest) {
  const Plate plate;
  const Model linear = linearised(*plate.model, plate.u);
  const Supports &held = linear.supports(), &original = plate.model->supports();
  ASSERT_EQ(held.size(), 2);
  EXPECT_EQ(held[1].name, "right");
  for (Index a = 0; a < linear.node_count(); ++a)
    for (int c = 0; c < 2; ++c) {
      const auto node = make_id<NodeId>(a);
      EXPECT_EQ(held.support_of(node, c), original.support_of(node, c));
      EXPECT_FALSE(held.displacement(node, c, 1.0).has_value());
      EXPECT_EQ(held.velocity(node, c, 1.0, 1e-3), 0.0);
    }
}

TEST(LinearisedModel, bears_no_loads) {
  const Plate plate;
  EXPECT_TRUE(plate.model->has_forces());
  EXPECT_FALSE(linearised(*plate.model, plate.u).has_forces());
}

}  // namespace
}  // namespace tempi
