// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/material_choice.hpp"

#include <gtest/gtest.h>

#include "support/cases.hpp"
#include "support/meshes.hpp"

namespace tempi {
namespace {

using test::expect_words;
using test::refusal;

MaterialInput material(const char* model, double lambda, double mu) {
  MaterialInput input;
  input.model = model;
  input.lambda = lambda;
  input.mu = mu;
  input.density = 2.0;
  input.place = "case.toml:3";
  return input;
}

TEST(MaterialOf, takes_either_pair_of_constants_and_no_other) {
  const Material m = material_of(material("linear-elastic", 3.0, 2.0));
  EXPECT_TRUE(std::holds_alternative<LinearElastic>(m));
  EXPECT_EQ(lame_of(m).mu, 2.0);
  MaterialInput engineering = material("neo-hookean", 0.0, 0.0);
  engineering.lambda.reset(), engineering.mu.reset();
  engineering.young = 2.5, engineering.poisson = 0.25;
  EXPECT_DOUBLE_EQ(lame_of(material_of(engineering)).mu, 1.0);  // E / (2 + 2 nu)
  engineering.mu = 1.0;
  expect_words(refusal([&] { material_of(engineering); }), {"two of a kind"});
}

TEST(MaterialOf, refuses_a_model_it_does_not_know) {
  expect_words(refusal([] { material_of(material("neo-hookaen", 1.0, 1.0)); }), {"neo-hookaen", "not known"});
}

TEST(ChooseMaterials, gives_every_cell_the_one_that_names_it) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 2);
  CaseFile in;
  in.path = "case.toml";
  in.materials = {material("neo-hookean", 1.0, 1.0), material("linear-elastic", 1.0, 3.0)};
  in.materials[0].cells.where = "X < 0.5";
  in.materials[1].cells.where = "X > 0.5";
  const auto cells = choose_materials(in, mesh);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0]->size() + cells[1]->size(), mesh.cells().size());
  EXPECT_EQ(lame_of(cells[1]->material()).mu, 3.0);
  double mass = 0.0;
  for (const auto& part : cells)
    for (Index k = 0; k < part->size(); ++k)
      for (std::size_t a = 0; a < 3; ++a) mass += part->mass(k, a);
  EXPECT_NEAR(mass, 2.0, 1e-14);  // of the unit square
}

TEST(ChooseMaterials, refuses_cells_with_two_materials_or_none) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 2);
  CaseFile in;
  in.path = "case.toml";
  in.materials = {material("neo-hookean", 1.0, 1.0), material("neo-hookean", 1.0, 1.0)};
  expect_words(refusal([&] { choose_materials(in, mesh); }), {"case.toml:3", "already has the material"});
  in.materials.pop_back();
  in.materials[0].cells.where = "X < 0.5";
  expect_words(refusal([&] { choose_materials(in, mesh); }), {"4 of 8 cells have no material", "body"});
}

}  // namespace
}  // namespace tempi
