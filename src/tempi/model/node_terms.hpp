// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {

// Terms around each node, packed; in the order they are visited in. What may act next to what.
struct NodeTerms {
  std::vector<Index> offsets;
  std::vector<TermId> terms;

  std::span<const TermId> operator[](NodeId a) const {
    const auto k = ordinal(a);
    return {terms.data() + offsets[k], static_cast<std::size_t>(offsets[k + 1] - offsets[k])};
  }

  template <class Each>
  static NodeTerms of(Index node_count, const Each& each) {  // each(visit), visit(node, term): the same, twice
    NodeTerms result;
    result.offsets.assign(static_cast<std::size_t>(node_count) + 1, 0);
    each([&](NodeId a, TermId) { ++result.offsets[ordinal(a) + 1]; });
    for (std::size_t a = 1; a < result.offsets.size(); ++a) result.offsets[a] += result.offsets[a - 1];
    result.terms.resize(static_cast<std::size_t>(result.offsets.back()));
    std::vector<Index> next(result.offsets.begin(), result.offsets.end() - 1);
    each([&](NodeId a, TermId term) { result.terms[static_cast<std::size_t>(next[ordinal(a)]++)] = term; });
    return result;
  }
};

}  // namespace tempi
