// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/element_blocks.hpp"

#include <gtest/gtest.h>

namespace tempi {
namespace {

// An element that a file repeats under another label is one cell, and once in its group, whatever the order of labels.
TEST(ElementBlocks, ARepeatedElementIsOnceInItsGroup) {
  for (const std::vector<Index>& labels : {std::vector<Index>{1, 2, 3}, {1, 3, 2}, {3, 1, 2}}) {
    ElementBlocks blocks;
    blocks.point_labels = {1, 2, 3, 4};
    blocks.points = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    blocks.groups.resize(1);
    blocks.groups[0].name = "body";
    blocks.blocks = {{CellType::triangle3, labels, {1, 2, 3, 1, 2, 3, 1, 3, 4}, {0}}};
    const MeshData data = assemble(blocks, Repeated::same, "twice.msh");
    EXPECT_EQ(data.cells.size(), 2);
    EXPECT_EQ(data.groups[0].cells, (std::vector<CellId>{CellId{0}, CellId{1}}));
  }
}

}  // namespace
}  // namespace tempi
