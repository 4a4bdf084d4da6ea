// SPDX-License-Identifier: Apache-2.0
// What a mesh may well be, and its author hardly meant.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tempi/mesh/mesh.hpp"

namespace tempi {

enum class LooseParts { doubtful, expected };  // as where bodies touch

// Sentences for a warning each: cells that are there twice; parts that share no node, with their sizes and places.
// Cost: a sort of the cells.
std::vector<std::string> doubts(const Mesh& mesh, LooseParts loose = LooseParts::doubtful);

// The least and the largest coordinate along each axis [m]; the rest is 0.
struct Extent {
  std::array<double, 3> low{}, high{};
};
Extent extent(const Mesh& mesh);
std::string text_of(const Extent& extent, int dim);  // "0 to 1, -0.05 to 0.05"

}  // namespace tempi
