// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/load_choice.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "support/cases.hpp"
#include "support/meshes.hpp"

namespace tempi {
namespace {

using test::expect_words;
using test::refusal;

struct ChooseLoad : testing::Test {
  test::Body body = test::make_body(test::triangle_mesh(CellType::triangle3, 2), NeoHookean{{1.0, 1.0}}, 2.0);
  std::vector<const ElasticCells*> cells = {&body.cells()};
  Constants constants;

  LoadInput load(const char* type, std::vector<FormulaText> value) const {
    LoadInput in;
    in.type = type;
    in.value = std::move(value);
    in.single_value = in.value.size() == 1;
    in.dead = false;
    in.place = "case.toml:5", in.value_place = "case.toml:7", in.dead_place = "case.toml:8";
    return in;
  }
  std::vector<ChosenForce> choose(const LoadInput& in, bool particles = false) const {
    std::vector<Index> term_of_cell(static_cast<std::size_t>(body.mesh->cells().size()));
    std::iota(term_of_cell.begin(), term_of_cell.end(), Index{0});
    const NodeTerms around = node_terms(*body.model);
    return choose_load(in, {*body.mesh, particles ? nullptr : body.mesh.get(), cells, body.model->mass(),
                            particles ? 0 : body.mesh->node_count(), constants, 2.0, term_of_cell, around});
  }
  // Sum of all forces at time t [N].
  std::array<double, 2> total(const std::vector<ChosenForce>& forces, double t) const {
    const std::vector<double> zero(body.mesh->points().size(), 0.0);
    std::array<double, 2> sum{};
    for (const auto& [force, hosts] : forces)
      for (Index k = 0; k < force->size(); ++k) {
        std::vector<double> p(2 * force->stencil(k).size(), 0.0);
        force->add_impulse(k, zero, zero, t, 1.0, p);
        for (std::size_t i = 0; i < p.size(); ++i) sum[i % 2] += p[i];
      }
    return sum;
  }
};

TEST_F(ChooseLoad, weighs_the_cells_it_names) {
  EXPECT_NEAR(total(choose(load("gravity", {{0.0, ""}, {-10.0, ""}})), 0.0)[1], -20.0, 1e-13);
  LoadInput half = load("gravity", {{0.0, ""}, {std::string("-10*t"), ""}});
  half.target.where = "X < 0.5";
  EXPECT_NEAR(total(choose(half), 0.5)[1], -5.0, 1e-13);
}

TEST_F(ChooseLoad, pulls_and_presses_on_facets_and_nodes) {
  LoadInput traction = load("traction", {{3.0, ""}, {0.0, ""}});
  traction.target.name = "right";
  EXPECT_NEAR(total(choose(traction), 0.0)[0], 3.0, 1e-13);
  LoadInput pressure = load("pressure", {{2.0, ""}});
  pressure.target.name = "right";
  EXPECT_NEAR(total(choose(pressure), 0.0)[0], -2.0, 1e-13);
  LoadInput force = load("force", {{1.0, ""}, {0.0, ""}});
  force.target.name = "right";
  EXPECT_NEAR(total(choose(force), 0.0)[0], 3.0, 1e-13);  // one each for three nodes
}

TEST_F(ChooseLoad, finds_formulas_that_are_no_numbers_before_the_run) {
  const LoadInput late = load("gravity", {{std::string("sqrt(1 - t)"), ""}, {0.0, ""}});  // of a run until 2
  expect_words(refusal([&] { choose(late); }), {"case.toml:7"});
}

TEST_F(ChooseLoad, refuses_what_does_not_fit_where_it_stands) {
  expect_words(refusal([&] { choose(load("gravity", {{1.0, ""}})); }), {"case.toml:7", "1 component"});
  expect_words(refusal([&] { choose(load("force", {{1.0, ""}, {0.0, ""}})); }), {"case.toml:5", "needs a group"});
  expect_words(refusal([&] { choose(load("pressure", {{1.0, ""}, {2.0, ""}})); }), {"case.toml:7", "one value"});
  LoadInput dead = load("gravity", {{0.0, ""}, {1.0, ""}});
  dead.dead = true;
  expect_words(refusal([&] { choose(dead); }), {"case.toml:8", "dead belongs to pressure"});
  expect_words(refusal([&] { choose(load("pressure", {{1.0, ""}}), true); }), {"belongs to meshes"});
}

}  // namespace
}  // namespace tempi
