// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/damper_packs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/damping.hpp"
#include "support/lattice.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi::test {
namespace {

class EveryMesh : public testing::TestWithParam<MeshCase> {};
INSTANTIATE_TEST_SUITE_P(
    Meshes, EveryMesh,
    testing::Values(MeshCase{"triangle3", [] { return triangle_mesh(CellType::triangle3, 60, 0.2, 11); }},
                    MeshCase{"triangle6", [] { return triangle_mesh(CellType::triangle6, 60, 0.2, 12); }},
                    MeshCase{"tetrahedron4", [] { return tetrahedron_mesh(CellType::tetrahedron4, 16, 0.2, 15); }},
                    MeshCase{"tetrahedron10", [] { return tetrahedron_mesh(CellType::tetrahedron10, 16, 0.2, 16); }}),
    testing::PrintToStringParamName());

TEST_P(EveryMesh, FillsPacksOfElementsThatShareNoNode) {
  const Body body =
      make_body_with(GetParam().make(), NeoHookean{{1.3, 0.7}}, 1.2, [&](const Mesh&, Model::Parts& parts) {
        host(parts, make_kelvin_voigt(cells_of(parts), {0.4, 0.3}));
        host_drag(parts, 0.02);  // no pack's
      });
  const Model& model = *body.model;
  const LatticeGroups plan = with_one_step(model);
  const LatticePart& part = plan.groups.front().parts.front();
  ASSERT_GT(part.colours.size(), 2u);
  const std::vector<DamperPacks> found = DamperPacker(model, plan)(part);
  ASSERT_EQ(found.size(), 1u);
  const DamperPacks& packs = found.front();
  const auto width = static_cast<std::size_t>(pack_width());

  std::vector<Index> all;
  for (std::size_t i = 0; i < packs.elements.size(); ++i)
    if (packs.elements[i] >= 0) {
      all.push_back(packs.elements[i]);
      const auto within = model.forces_within(packs.hosts[i]);
      EXPECT_TRUE(std::ranges::any_of(within, [&](const HostedForce& h) {
        return h.force == packs.force && h.element == packs.elements[i];
      }));
    }
  std::ranges::sort(all);
  ASSERT_EQ(std::ssize(all), model.term_count());
  for (Index k = 0; k < std::ssize(all); ++k) ASSERT_EQ(all[static_cast<std::size_t>(k)], k);

  const auto nodes_of = [&](Index pack, std::multiset<NodeId>& nodes) {
    for (std::size_t lane = 0; lane < width; ++lane)
      if (const Index k = packs.elements[static_cast<std::size_t>(pack) * width + lane]; k >= 0)
        for (const NodeId a : packs.force->stencil(k)) nodes.insert(a);
  };
  Index taken_packs = 0;
  for (const auto& colour : packs.colours) {
    std::set<NodeId> taken;
    for (const auto& [first, last] : colour) {
      taken_packs += last - first;
      std::set<NodeId> of_block;
      for (Index pack = first; pack < last; ++pack) {
        std::multiset<NodeId> nodes;
        nodes_of(pack, nodes);
        of_block.insert(nodes.begin(), nodes.end());
        EXPECT_EQ(std::set(nodes.begin(), nodes.end()).size(), nodes.size()) << pack;
      }
      for (const NodeId a : of_block) EXPECT_TRUE(taken.insert(a).second) << index(a);
    }
  }
  EXPECT_EQ(taken_packs * pack_width(), std::ssize(packs.elements));

  const double empty = 1.0 - static_cast<double>(all.size()) / static_cast<double>(packs.elements.size());
  RecordProperty("empty", std::to_string(empty));
  EXPECT_LT(empty, 0.02);
}

// An element at a support holds up all of its pack. The control: a packer that does not know of supports.
TEST_P(EveryMesh, PutsElementsAtSupportsInPacksOfTheirOwn) {
  const Mesh mesh = GetParam().make();
  const Body body =
      make_body_with(GetParam().make(), NeoHookean{{1.3, 0.7}}, 1.2, [&](const Mesh&, Model::Parts& parts) {
        host(parts, make_kelvin_voigt(cells_of(parts), {0.4, 0.3}));
      });
  const Model& model = *body.model;
  const LatticeGroups plan = with_one_step(model);
  std::vector<std::array<bool, 3>> held(plan.node_of_line.size());
  for (const NodeId a : nodes_of(mesh, "left")) held[static_cast<std::size_t>(plan.line(a))].fill(true);
  const auto width = static_cast<std::size_t>(pack_width());
  const auto share_at_supports = [&](const DamperPacks& packs) {
    std::size_t at_supports = 0, mixed = 0;
    for (std::size_t at = 0; at < packs.elements.size(); at += width) {
      std::size_t of_pack = 0, real = 0;
      for (std::size_t i = at; i < at + width; ++i) {
        if (packs.elements[i] < 0) continue;
        ++real;
        of_pack += std::ranges::any_of(packs.force->stencil(packs.elements[i]),
                                       [&](NodeId a) { return held[static_cast<std::size_t>(plan.line(a))][0]; });
      }
      at_supports += of_pack > 0;
      mixed += of_pack > 0 && of_pack < real;
    }
    const double packs_in_all = static_cast<double>(packs.elements.size() / width);
    return std::pair(static_cast<double>(at_supports) / packs_in_all, mixed);
  };
  const LatticePart& part = plan.groups.front().parts.front();
  const auto [share, mixed] = share_at_supports(DamperPacker(model, plan, held)(part).front());
  const auto [unaware, mixed_unaware] = share_at_supports(DamperPacker(model, plan)(part).front());
  RecordProperty("share", std::to_string(share));
  RecordProperty("unaware", std::to_string(unaware));
  EXPECT_EQ(mixed, 0u);
  EXPECT_GT(mixed_unaware, 0u);
  EXPECT_LT(share, unaware);
}

}  // namespace
}  // namespace tempi::test
