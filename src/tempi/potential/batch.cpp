// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/batch.hpp"

#include <vector>

#include "tempi/core/error.hpp"

namespace tempi {

Batch::Looked Batch::look(Index first, Index last, double t, std::span<NodeLine> nodes) const {
  const auto room = static_cast<std::size_t>(padded(last - first));
  std::vector<double> energies(room), gradients(room * static_cast<std::size_t>(row()));
  measure(first, last, t, nodes, energies, gradients);
  double sum = 0.0;
  for (Index i = 0; i < last - first; ++i) sum += energies[static_cast<std::size_t>(i)];
  return {sum, strike(first, last, 1.0, t, nodes)};
}

void Batch::strike_change(Index, Index, double, std::span<NodeLine>, std::span<const NodeShift>,
                          std::span<double>) const {
  TEMPI_ASSERT(false);  // not offered
}

bool Batch::watch(Index, Index, double, double, std::span<NodeLine>, std::span<double>, std::span<double>) const {
  TEMPI_ASSERT(false);  // nothing is kept
  return false;
}

void Batch::works(Index, Index, std::span<const NodeMean>, std::span<const double>, std::span<double>,
                  std::span<double>) const {
  TEMPI_ASSERT(false);
}

double Batch::depart(Index, Index, std::span<const NodeLine>, std::span<const NodeShift>, double,
                     std::span<double>) const {
  TEMPI_ASSERT(false);  // nothing is followed
  return 0.0;
}

Batch::Followed Batch::follow(Index, Index, double, std::span<const double>, std::span<double>,
                              std::span<double>) const {
  TEMPI_ASSERT(false);
  return {};
}

Batch::Followed Batch::turn(Index, Index, std::span<const double>, std::span<double>, std::span<const double>) const {
  TEMPI_ASSERT(false);
  return {};
}

void Batch::add_gradient(Index, Index, std::span<const double>, std::span<double>) const { TEMPI_ASSERT(false); }

}  // namespace tempi
