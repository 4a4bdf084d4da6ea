// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/configurational_force.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "tempi/core/error.hpp"
#include "tempi/core/thread_team.hpp"
#include "tempi/element/cell_kernels.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi {

namespace {

// Kinetic energy of a cell's lumped masses over its volume [J/m^3].
double kinetic_density(const ElasticCells& cells, Index k, std::span<const double> v) {
  if (v.empty()) return 0.0;
  const auto d = static_cast<std::size_t>(cells.dim());
  const auto nodes = cells.stencil(k);
  double T = 0.0;
  for (std::size_t a = 0; a < nodes.size(); ++a)
    for (std::size_t i = 0; i < d; ++i) {
      const double speed = v[ordinal(nodes[a]) * d + i];
      T += 0.5 * cells.mass(k, a) * speed * speed;
    }
  return T / cells.volume(k);
}

}  // namespace

void add_configurational_forces(const ElasticCells& cells, Index k, std::span<const double> u,
                                std::span<const double> v, Carried carried, std::span<double> f) {
  const auto d = static_cast<std::size_t>(cells.dim());
  const auto nodes = cells.stencil(k);
  const double T = kinetic_density(cells, k, v);
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
  AlignedVector<NodeLine> lines(static_cast<std::size_t>(node_count));
  for (std::size_t i = 0; i < displacement.size(); ++i) lines[i / d].displacement[i % d] = displacement[i];
  std::vector<std::int32_t> place(lines.size());
  std::iota(place.begin(), place.end(), 0);
  std::vector<double> f(lines.size() * d, 0.0);
  ThreadTeam team(threads);
  constexpr Index at_once = 512;
  for (const ElasticCells* cells : all) {
    if (cells->thickness() > 0.0)
      throw InputError("shells have no configurational forces here: their bending has none.");
    const std::size_t width = d * cells->stencil(0).size();
    const auto material = static_cast<CellMaterial>(cells->material().index());
    std::vector<double> of_cells(static_cast<std::size_t>((cells->size() + at_once - 1) / at_once * at_once) * width);
    team.for_each((cells->size() + at_once - 1) / at_once, [&](Index block) {
      std::vector<Index> terms(static_cast<std::size_t>(std::min(at_once, cells->size() - block * at_once)));
      std::iota(terms.begin(), terms.end(), block * at_once);
      const PackedGeometry packed = cells->pack(terms, place);
      std::array<double, at_once> kinetic{};
      for (std::size_t i = 0; i < terms.size(); ++i) kinetic[i] = kinetic_density(*cells, terms[i], velocity);
      const Index packs = (std::ssize(terms) + pack_width() - 1) / pack_width();
      configurational_kernel(packed.shape, material)({packed.geometry.data(), packed.places.data(), packs,
                                                      lame_of(cells->material())},
                                                     packs, lines.data(), kinetic.data(), carried == Carried::places,
                                                     &of_cells[static_cast<std::size_t>(block * at_once) * width]);
    });
    for (Index k = 0; k < cells->size(); ++k) {  // in their order, on one thread
      const auto nodes = cells->stencil(k);
      const double* of = &of_cells[static_cast<std::size_t>(k) * width];
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t i = 0; i < d; ++i) f[ordinal(nodes[a]) * d + i] += of[a * d + i];
    }
  }
  return f;
}

}  // namespace tempi
