// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/initial_state.hpp"

#include <gtest/gtest.h>

#include "support/cases.hpp"
#include "support/runs.hpp"

namespace tempi {
namespace {

using test::expect_words;
using test::refusal;

struct ChooseInitialState : testing::Test {
  test::Body body = test::make_body(test::triangle_mesh(CellType::triangle3, 2), NeoHookean{{1.0, 1.0}}, 1.0);
  CaseFile in;
  ChooseInitialState() {
    in.position_place = "case.toml:4", in.velocity_place = "case.toml:5";
    in.end_time = 1.0;
    in.constants = {{"omega", 3.0}};
  }
  State choose(const std::vector<double>& velocities = {}) const {
    return choose_initial_state(in, *body.mesh, *body.model, 0, velocities);
  }
  static FormulaText text(const char* formula) { return {std::string(formula), ""}; }
};

TEST_F(ChooseInitialState, is_the_mesh_at_rest_unless_formulas_say_otherwise) {
  const State rest = choose();
  for (const double u : rest.displacement) EXPECT_EQ(u, 0.0);
  in.initial_position = {text("1.5*X"), text("Y")};
  in.initial_velocity = {text("-omega*Y"), text("omega*X")};
  const State state = choose();
  for (std::size_t a = 0; a < state.displacement.size() / 2; ++a) {
    const auto X = body.mesh->point(make_id<NodeId>(static_cast<Index>(a)));
    EXPECT_NEAR(state.displacement[2 * a], 0.5 * X[0], 1e-15);
    EXPECT_NEAR(state.displacement[2 * a + 1], 0.0, 1e-15);
    EXPECT_DOUBLE_EQ(state.velocity[2 * a], -3.0 * X[1]);
    EXPECT_DOUBLE_EQ(state.velocity[2 * a + 1], 3.0 * X[0]);
  }
}

TEST_F(ChooseInitialState, takes_velocities_from_one_source_only) {
  const std::vector<double> moving(body.mesh->points().size(), 0.5);
  EXPECT_EQ(choose(moving).velocity, moving);
  in.initial_velocity = {text("1"), text("0")};
  expect_words(refusal([&] { choose(moving); }), {"case.toml:5", "velocities already"});
}

TEST_F(ChooseInitialState, refuses_what_is_no_start_where_it_stands) {
  in.initial_velocity = {text("t"), text("0")};
  expect_words(refusal([&] { choose(); }), {"case.toml:5", "depends on the time"});
  in.initial_velocity = {text("log(X - 2)"), text("0")};
  expect_words(refusal([&] { choose(); }), {"case.toml:5", "must be finite"});
  in.initial_velocity.clear();
  in.initial_position = {text("X")};
  expect_words(refusal([&] { choose(); }), {"case.toml:4", "1 component"});
  in.initial_position = {text("-X"), text("Y")};
  expect_words(refusal([&] { choose(); }), {"case.toml:4", "inverts", "det F = -1"});
}

TEST_F(ChooseInitialState, must_agree_with_prescribed_motions) {
  body = test::make_body_with(test::triangle_mesh(CellType::triangle3, 2), NeoHookean{{1.0, 1.0}}, 1.0,
                              [](const Mesh& mesh, Model::Parts& parts) {
                                Support support;
                                support.name = "left";
                                support.nodes = {NodeId{0}};
                                support.motion[0] = Support::Motion::prescribed;
                                support.displacement[0] = Expression("0.1 + t", {});
                                std::vector<Support> supports;
                                supports.push_back(std::move(support));
                                parts.supports = Supports(std::move(supports), mesh.points(), 2);
                              });
  FixInput fix;
  fix.place = "case.toml:9";
  in.fixes = {fix};
  expect_words(refusal([&] { choose(); }), {"case.toml:9", "disagree", "left"});
  in.initial_position = {text("X + 0.1"), text("Y")};
  EXPECT_NEAR(choose().displacement[0], 0.1, 1e-15);
}

}  // namespace
}  // namespace tempi
