// SPDX-License-Identifier: Apache-2.0
// Nodes that follow others: what holds two surfaces together though their meshes differ.
//
//   u_a = sum_m c_m u_m,   sum_m c_m = 1
//
// (Gates, Matous, Heath 2008, eq. (19): B q - C psi = 0, B picking nodes, C the interpolation on the surface followed.
// The paper announces meshes that do not match and leaves them to others.)
#pragma once

#include <utility>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {

struct TiedNode {
  NodeId node;
  std::vector<std::pair<NodeId, double>> masters;  // with their weights c_m, which sum to 1
};

}  // namespace tempi
