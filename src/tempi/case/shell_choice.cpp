// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/shell_choice.hpp"

#include <algorithm>

#include "tempi/case/selection.hpp"
#include "tempi/core/error.hpp"

namespace tempi {

ShellGroups shells_of(const CaseFile& in) {
  ShellGroups shells;
  for (const MaterialInput& material : in.materials) {
    if (!material.is_shell()) continue;
    if (material.cells.everything() || material.cells.where) shells.everything = true;
    if (!material.cells.name.empty()) shells.names.push_back(material.cells.name);
    if (material.cells.tag) shells.tags.push_back(*material.cells.tag);
  }
  return shells;
}

std::vector<std::unique_ptr<ShellBending>> choose_bending(const CaseFile& in, const Mesh& mesh,
                                                          std::span<const ElasticCells* const> cells) {
  std::vector<double> stiffness(static_cast<std::size_t>(mesh.cells().size()), 0.0);
  bool any = false;
  for (const ElasticCells* of : cells) {
    if (of->thickness() == 0.0) continue;
    any = true;
    const double D = bending_stiffness({of->material(), of->density(), of->thickness()});
    for (Index k = 0; k < of->size(); ++k) stiffness[ordinal(of->cell(k))] = D;
  }
  std::vector<std::unique_ptr<ShellBending>> all;
  if (any)
    at_place(in.mesh_place, [&] {
      if (auto hinges = make_hinges(mesh, stiffness)) all.push_back(std::move(hinges));
    });
  std::vector<std::vector<NodeId>> clamped;
  for (const FixInput& fix : in.fixes) {
    if (!fix.clamped) continue;
    if (!fix.nodes.particles.empty())
      throw PlacedError(fix.clamped_place, "particles have no slope. Leave out clamped.");
    clamped.push_back(Selection(mesh, in.constants).nodes(fix.nodes));
    if (!any || !make_clamped_edges(mesh, stiffness, std::span(clamped).last(1)))
      throw PlacedError(fix.clamped_place,
                        "there is no outer edge of a shell between these nodes, and clamped belongs to such edges. "
                        "Leave it out, or choose other nodes.");
  }
  if (!clamped.empty()) all.push_back(make_clamped_edges(mesh, stiffness, clamped));
  return all;
}

}  // namespace tempi
