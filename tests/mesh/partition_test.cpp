// SPDX-License-Identifier: Apache-2.0
#include "tempi/mesh/partition.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "support/meshes.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

// Nodes in cells of more than one part.
std::size_t shared_nodes(const Mesh& mesh, const std::vector<std::int32_t>& part) {
  std::map<NodeId, std::set<std::int32_t>> parts_of;
  for (Index c = 0; c < mesh.cells().size(); ++c)
    for (const NodeId a : mesh.cells()[c]) parts_of[a].insert(part[static_cast<std::size_t>(c)]);
  return static_cast<std::size_t>(
      std::ranges::count_if(parts_of, [](const auto& entry) { return entry.second.size() > 1; }));
}

TEST(Partition, HasPartsOfOneSizeWithFewNodesBetween) {
  for (const CellType type : {CellType::triangle6, CellType::tetrahedron4, CellType::tetrahedron10}) {
    const Mesh mesh = type == CellType::triangle6 ? test::triangle_mesh(type, 24) : test::tetrahedron_mesh(type, 7);
    const Index cells = mesh.cells().size();
    for (const int parts : {1, 2, 5, 16}) {
      const auto part = partition(mesh, parts);
      EXPECT_EQ(part, partition(mesh, parts));
      std::vector<Index> sizes(static_cast<std::size_t>(parts), 0);
      for (const std::int32_t p : part) ++sizes.at(static_cast<std::size_t>(p));
      for (const Index size : sizes)
        EXPECT_NEAR(static_cast<double>(size) * parts / static_cast<double>(cells), 1.0, 0.12);
      std::vector<std::int32_t> by_chance(part.size());
      for (std::size_t c = 0; c < by_chance.size(); ++c) by_chance[c] = static_cast<std::int32_t>(c) % parts;
      if (parts > 1) {
        EXPECT_LT(shared_nodes(mesh, part), parts < 16 ? shared_nodes(mesh, by_chance) / 2
                                                       : shared_nodes(mesh, by_chance) * 3 / 4);  // all are near others
      }
    }
  }
}

TEST(Partition, RefusesWhatCannotBe) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 2);
  EXPECT_THROW(partition(mesh, 0), InputError);
  EXPECT_THROW(partition(mesh, static_cast<int>(mesh.cells().size()) + 1), InputError);
}

}  // namespace
}  // namespace tempi
