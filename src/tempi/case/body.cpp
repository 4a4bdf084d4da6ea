// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/body.hpp"

#include <algorithm>

namespace tempi {

std::vector<Index> Body::term_of_cell() const {
  std::vector<Index> term(static_cast<std::size_t>(mesh->cells().size()), -1);
  std::ranges::copy(particle_terms, term.end() - std::ssize(particle_terms));
  Index next = 0;
  for (const ElasticCells* potential : cells)
    for (Index k = 0; k < potential->size(); ++k) term[ordinal(potential->cell(k))] = next++;
  return term;
}

CellType Body::type_of(const ElasticCells& potential) const { return mesh->cells().types[ordinal(potential.cell(0))]; }

}  // namespace tempi
