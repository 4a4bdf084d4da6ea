// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/body.hpp"

namespace tempi {

std::vector<Index> Body::term_of_cell() const {
  if (!particle_terms.empty()) return particle_terms;
  std::vector<Index> term(static_cast<std::size_t>(mesh->cells().size()), -1);
  Index next = 0;
  for (const ElasticCells* potential : cells)
    for (Index k = 0; k < potential->size(); ++k) term[static_cast<std::size_t>(index(potential->cell(k)))] = next++;
  return term;
}

CellType Body::type_of(const ElasticCells& potential) const {
  return mesh->cells().types[static_cast<std::size_t>(index(potential.cell(0)))];
}

}  // namespace tempi
