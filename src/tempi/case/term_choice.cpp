// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/term_choice.hpp"

#include <algorithm>

#include "tempi/case/selection.hpp"
#include "tempi/case/simulation.hpp"
#include "tempi/core/distinct.hpp"

namespace tempi {

TakenTerms terms_of(const Simulation& s, const Selector& target, std::string_view purpose) {
  const Selection selection(*s.body.mesh, s.input.constants);
  TakenTerms taken{{}, std::vector<char>(static_cast<std::size_t>(s.model->node_count()), 0)};
  const bool by_cells = target.particles.empty();
  if (by_cells) {
    const std::vector<Index> term_of_cell = s.body.term_of_cell();
    for (const CellId c : selection.cells(target, purpose)) {
      if (const Index term = term_of_cell[ordinal(c)]; term >= 0) taken.terms.push_back(static_cast<std::size_t>(term));
      for (const NodeId a : s.body.mesh->cells()[index(c)]) taken.node_is_inside[ordinal(a)] = 1;
    }
  } else {
    for (const NodeId a : selection.nodes(target)) taken.node_is_inside[ordinal(a)] = 1;
    for (Index k = 0; k < s.model->term_count(); ++k) {
      const auto nodes = s.model->term(make_id<TermId>(k)).stencil();
      if (nodes.size() > 1 &&
          std::ranges::all_of(nodes, [&](NodeId a) { return taken.node_is_inside[ordinal(a)] != 0; }))
        taken.terms.push_back(static_cast<std::size_t>(k));
    }
  }
  make_distinct(taken.terms);
  return taken;
}

std::string describe_term(const Simulation& s, std::size_t k) {
  const auto [potential, i] = s.model->term(make_id<TermId>(static_cast<Index>(k)));
  return potential->describe(i);
}

}  // namespace tempi
