// SPDX-License-Identifier: Apache-2.0
// The potential energy of some of a model's terms, by batches: what a body asks for at every row of a history.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/model/model.hpp"
#include "tempi/potential/batch.hpp"

namespace tempi {

class TermEnergies {
 public:
  // `terms`: ascending. `model` must outlive it.
  TermEnergies(const Model& model, std::span<const TermId> terms);

  // sum V_K(u, t) [J], dim components a node of the model. One caller at a time.
  double operator()(std::span<const double> u, double t) const;

 private:
  struct Piece {
    std::unique_ptr<Batch> batch;
    Index size;
  };
  std::size_t dim_;
  std::vector<NodeId> nodes_;  // of these terms, by line
  mutable AlignedVector<NodeLine> lines_;
  std::vector<Piece> pieces_;
};

}  // namespace tempi
