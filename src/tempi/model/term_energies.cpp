// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/term_energies.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tempi {

TermEnergies::TermEnergies(const Model& model, std::span<const TermId> terms)
    : dim_(static_cast<std::size_t>(model.dim())) {
  std::map<std::pair<Index, std::size_t>, std::vector<Index>> kinds;  // of a potential, whose stencils are as wide
  std::vector<std::int32_t> line(static_cast<std::size_t>(model.node_count()), -1);
  Index potential = 0, first = 0;  // the first term of that potential
  for (const TermId term : terms) {
    while (index(term) >= first + model.potential(potential).size()) first += model.potential(potential++).size();
    const Index k = index(term) - first;
    const auto stencil = model.potential(potential).stencil(k);
    kinds[{potential, stencil.size()}].push_back(k);
    for (const NodeId a : stencil)
      if (std::int32_t& place = line[ordinal(a)]; place < 0) {
        place = static_cast<std::int32_t>(nodes_.size());
        nodes_.push_back(a);
      }
  }
  for (const auto& [kind, of_kind] : kinds)
    pieces_.push_back({model.potential(kind.first).batch(of_kind, line), std::ssize(of_kind)});
  lines_.resize(nodes_.size());
  for (NodeLine& node : lines_) node.inverse_mass = 1.0;
}

double TermEnergies::operator()(std::span<const double> u, double t) const {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    std::ranges::fill(lines_[i].velocity, 0.0);  // a look leaves forces there
    std::copy_n(&u[ordinal(nodes_[i]) * dim_], dim_, lines_[i].displacement);
  }
  double sum = 0.0;
  for (const Piece& piece : pieces_) sum += piece.batch->look(0, piece.size, t, lines_).energy;
  return sum;
}

}  // namespace tempi
