// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/probe_choice.hpp"

#include <gtest/gtest.h>

#include "support/cases.hpp"
#include "support/meshes.hpp"

namespace tempi {
namespace {

using test::expect_words;
using test::refusal;

ProbeInput probe(const char* name, std::vector<double> point, const char* group = "") {
  ProbeInput in;
  in.name = name;
  in.point = std::move(point);
  in.nodes.name = group;
  in.place = "case.toml:5", in.name_place = "case.toml:6";
  return in;
}

TEST(ChooseProbes, follows_the_nearest_node_or_a_group) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 2);
  const auto probes = choose_probes({probe("tip", {0.9, 0.55}), probe("edge", {}, "right")}, mesh, {});
  ASSERT_EQ(probes.size(), 2u);
  ASSERT_EQ(probes[0].nodes.size(), 1u);
  EXPECT_EQ(mesh.point(probes[0].nodes[0])[0], 1.0);
  EXPECT_EQ(mesh.point(probes[0].nodes[0])[1], 0.5);
  EXPECT_EQ(probes[1].nodes.size(), 3u);
}

TEST(ChooseProbes, finds_the_element_whose_residual_is_wanted) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 2);
  ProbeInput in = probe("one", {0.7, 0.2});
  in.residual = true;
  const auto probes = choose_probes({in}, mesh, {});
  ASSERT_TRUE(probes[0].element);
  const auto centre = mesh.centroid(*probes[0].element);
  EXPECT_LT(std::hypot(centre[0] - 2.0 / 3.0, centre[1] - 1.0 / 6.0), 1e-12);
  in.point.clear();
  in.nodes.name = "right";
  in.residual_place = "case.toml:7";
  expect_words(refusal([&] { choose_probes({in}, mesh, {}); }), {"case.toml:7", "Give a point"});
}

TEST(ChooseProbes, refuses_what_does_not_fit_where_it_stands) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 2);
  const auto refused = [&](std::vector<ProbeInput> in) { return refusal([&] { choose_probes(in, mesh, {}); }); };
  expect_words(refused({probe("", {0, 0})}), {"case.toml:6", "needs one"});
  expect_words(refused({probe("a", {0, 0}), probe("a", {1, 0})}), {"case.toml:6", "two probes named 'a'"});
  expect_words(refused({probe("a", {0, 0, 0})}), {"case.toml:5", "3 components"});
  expect_words(refused({probe("a", {0, 0}, "left")}), {"case.toml:5", "either"});
  expect_words(refused({probe("a", {})}), {"case.toml:5", "either"});
}

}  // namespace
}  // namespace tempi
