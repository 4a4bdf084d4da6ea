// SPDX-License-Identifier: Apache-2.0
#include "tempi/mesh/partition.hpp"

#include <fmt/format.h>
#include <metis.h>

#include <algorithm>

#include "tempi/core/error.hpp"

namespace tempi {

std::vector<std::int32_t> partition(const Mesh& mesh, int parts) {
  const Index count = mesh.cells().size();
  if (parts < 1 || parts > count)
    throw InputError(fmt::format("{} parts of {} cells (must be from 1 to as many as there are cells).", parts, count));
  std::vector<std::int32_t> part(static_cast<std::size_t>(count), 0);
  if (parts == 1) return part;
  std::vector<idx_t> first = {0}, nodes;
  for (Index c = 0; c < count; ++c) {  // vertices are enough to tell who shares a face
    const auto type = mesh.cells().types[static_cast<std::size_t>(c)];
    for (int v = 0; v < info(type).vertices; ++v)
      nodes.push_back(static_cast<idx_t>(index(mesh.cells()[c][static_cast<std::size_t>(v)])));
    first.push_back(static_cast<idx_t>(nodes.size()));
  }
  idx_t cells = static_cast<idx_t>(count), points = static_cast<idx_t>(mesh.node_count()),
        shared = static_cast<idx_t>(mesh.dim()), wanted = parts, cut = 0;
  std::vector<idx_t> of_cell(part.size()), of_node(static_cast<std::size_t>(mesh.node_count()));
  const auto is_cut = [&](idx_t way) {
    std::array<idx_t, METIS_NOPTIONS> options{};
    METIS_SetDefaultOptions(options.data());
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_PTYPE] = way;
    const int done = METIS_PartMeshDual(&cells, &points, first.data(), nodes.data(), nullptr, nullptr, &shared, &wanted,
                                        nullptr, options.data(), &cut, of_cell.data(), of_node.data());
    std::vector<Index> sizes(static_cast<std::size_t>(parts), 0);
    for (const idx_t p : of_cell) ++sizes[static_cast<std::size_t>(p)];
    return done == METIS_OK && std::ranges::find(sizes, 0) == sizes.end();
  };
  // In many parts at once leaves some empty where cells are few.
  if (!is_cut(METIS_PTYPE_KWAY) && !is_cut(METIS_PTYPE_RB))
    throw InputError(fmt::format("METIS cannot cut {} cells into {} parts. Choose fewer.", count, parts));
  std::ranges::copy(of_cell, part.begin());
  return part;
}

}  // namespace tempi
