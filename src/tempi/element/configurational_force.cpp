// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/configurational_force.hpp"

#include <algorithm>
#include <array>

#include "tempi/core/thread_team.hpp"

namespace tempi {

void add_configurational_forces(const ElasticCells& cells, Index k, std::span<const double> u,
                                std::span<const double> v, Carried carried, std::span<double> f) {
  const auto d = static_cast<std::size_t>(cells.dim());
  const auto nodes = cells.stencil(k);
  double T = 0.0;
  for (std::size_t a = 0; a < nodes.size() && !v.empty(); ++a)
    for (std::size_t i = 0; i < d; ++i) {
      const double speed = v[ordinal(nodes[a]) * d + i];
      T += 0.5 * cells.mass(k, a) * speed * speed;
    }
  T /= cells.volume(k);
  for (Index q = 0; q < cells.point_count(); ++q) {
    const CellPoint at = cells.at_point(k, q);
    const ElasticCells::PointStress stress = cells.stress_at(k, q, u);
    std::array<std::array<double, 3>, 3> A{}, C{};
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t i = 0; i < d; ++i)
        for (std::size_t J = 0; J < d; ++J) A[i][J] += u[ordinal(nodes[a]) * d + i] * at.dN[a][J];
    for (std::size_t i = 0; i < d && carried == Carried::places; ++i) A[i][i] += 1.0;
    for (std::size_t I = 0; I < d; ++I) {
      C[I][I] = stress.energy - T;
      for (std::size_t J = 0; J < d; ++J)
        for (std::size_t i = 0; i < d; ++i) C[I][J] -= A[i][I] * stress.P[i][J];
    }
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t I = 0; I < d; ++I)
        for (std::size_t J = 0; J < d; ++J) f[3 * a + I] += at.volume * C[I][J] * at.dN[a][J];
  }
}

std::vector<double> configurational_forces(std::span<const ElasticCells* const> all, Index node_count, int dim,
                                           std::span<const double> displacement, std::span<const double> velocity,
                                           Carried carried, int threads) {
  const auto d = static_cast<std::size_t>(dim);
  std::vector<double> f(static_cast<std::size_t>(node_count) * d, 0.0);
  ThreadTeam team(threads);
  constexpr Index at_once = 256;
  for (const ElasticCells* cells : all) {
    const std::size_t width = 3 * cells->stencil(0).size();
    std::vector<double> of_cells(static_cast<std::size_t>(cells->size()) * width, 0.0);
    team.for_each((cells->size() + at_once - 1) / at_once, [&](Index block) {
      for (Index k = block * at_once; k < std::min(cells->size(), (block + 1) * at_once); ++k)
        add_configurational_forces(*cells, k, displacement, velocity, carried,
                                   std::span(of_cells).subspan(static_cast<std::size_t>(k) * width, width));
    });
    for (Index k = 0; k < cells->size(); ++k) {  // in their order, on one thread
      const auto nodes = cells->stencil(k);
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t i = 0; i < d; ++i)
          f[ordinal(nodes[a]) * d + i] += of_cells[static_cast<std::size_t>(k) * width + 3 * a + i];
    }
  }
  return f;
}

}  // namespace tempi
