// SPDX-License-Identifier: Apache-2.0
// Which of n things belong together, as pairs of them are joined one by one (union-find with path halving).
#pragma once

#include <numeric>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {

class DisjointSets {
 public:
  explicit DisjointSets(Index count) : root_(static_cast<std::size_t>(count)) {
    std::iota(root_.begin(), root_.end(), Index{0});
  }
  Index operator[](Index i) {  // one of its set, the same for all of it until it is joined with another
    const auto up = [&](Index k) -> Index& { return root_[static_cast<std::size_t>(k)]; };
    while (up(i) != i) i = up(i) = up(up(i));
    return i;
  }
  void join(Index i, Index j) { root_[static_cast<std::size_t>((*this)[i])] = (*this)[j]; }

 private:
  std::vector<Index> root_;
};

}  // namespace tempi
