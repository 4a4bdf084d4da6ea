// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/force_hosts.hpp"

namespace tempi {

NodeTerms hosts_of_nodes(Index node_count, std::span<const HostPotential> potentials) {
  const auto each = [&](bool local, auto&& visit) {
    for (const HostPotential& p : potentials)
      for (Index k = 0; p.takes_nodes && (p.potential->as_local() != nullptr) == local && k < p.potential->size(); ++k)
        for (const NodeId a : p.potential->stencil(k)) visit(a, make_id<TermId>(p.first_term + k));
  };
  std::vector<char> is_in_few(static_cast<std::size_t>(node_count), 0);
  each(true, [&](NodeId a, TermId) { is_in_few[ordinal(a)] = 1; });
  return NodeTerms::of(node_count, [&](auto&& visit) {
    each(true, visit);
    each(false, [&](NodeId a, TermId term) {
      if (is_in_few[ordinal(a)] == 0) visit(a, term);
    });
  });
}

}  // namespace tempi
