// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/material_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tempi/case/selection.hpp"
#include "tempi/core/error.hpp"
#include "tempi/mesh/elements.hpp"
#include "tempi/mesh/quality.hpp"

namespace tempi {
namespace {

// The material of each cell, as a place among the case's.
std::vector<std::size_t> owners(const CaseFile& in, const Mesh& mesh) {
  const Selection selection(mesh, in.constants);
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  const auto count = static_cast<std::size_t>(mesh.cells().size());
  std::vector<std::size_t> owner(count, none);
  for (std::size_t m = 0; m < in.materials.size(); ++m) {
    const MaterialInput& material = in.materials[m];
    for (const CellId c : selection.cells(material.cells, "a material")) {
      std::size_t& o = owner[ordinal(c)];
      if (o != none)
        throw InputError(fmt::format("{}: cell {} already has the material of {}. Give every cell one material.",
                                     material.place, mesh.cells().labels[ordinal(c)], in.materials[o].place));
      o = m;
    }
  }
  const auto bare = static_cast<std::size_t>(std::ranges::count(owner, none));
  if (bare > 0) {
    const auto first = std::ranges::find(owner, none) - owner.begin();
    throw InputError(fmt::format(
        "{}: {} of {} cells have no material (the first is cell {} at ({:.6g})). The mesh's groups: {}. Add a "
        "[[material]] for them, or leave out its group to mean every cell.",
        in.path.filename().string(), bare, count, mesh.cells().labels[static_cast<std::size_t>(first)],
        fmt::join(mesh.centroid(make_id<CellId>(first)), ", "), list_groups(mesh)));
  }
  return owner;
}

// Those of one material, type and shape; null where there are none.
std::unique_ptr<ElasticCells> cells_of(const CaseFile& in, const Mesh& mesh, std::size_t m, CellType type,
                                       bool straight, const std::vector<std::size_t>& owner) {
  std::vector<CellId> cells;
  for (std::size_t i = 0; i < owner.size(); ++i) {
    const auto cell = make_id<CellId>(static_cast<Index>(i));
    if (owner[i] == m && mesh.cells().types[i] == type && is_straight(mesh, cell) == straight) cells.push_back(cell);
  }
  if (cells.empty()) return nullptr;
  const MaterialInput& material = in.materials[m];
  const Material model = at_place(material.place, [&] { return material_of(material); });
  const Place mesh_file = fmt::format("{}: {}", in.mesh_place, in.mesh_file.filename().string());
  return at_place(mesh_file, [&] { return make_elastic_cells(mesh, type, std::move(cells), model, material.density); });
}

}  // namespace

Material material_of(const MaterialInput& m) {
  const bool lame = m.lambda || m.mu, engineering = m.young || m.poisson;
  if (lame == engineering || (lame && !(m.lambda && m.mu)) || (engineering && !(m.young && m.poisson)))
    throw InputError("the elastic constants are not two of a kind. Give lambda and mu, or young and poisson.");
  const Lame constants = lame ? checked_lame(*m.lambda, *m.mu) : lame_from_young(*m.young, *m.poisson);
  if (m.model == SaintVenantKirchhoff::name) return SaintVenantKirchhoff{constants};
  if (m.model == LinearElastic::name) return LinearElastic{constants};
  if (m.model == NeoHookean::name) return NeoHookean{constants};
  throw InputError(fmt::format("the material \"{}\" is not known.", m.model));
}

std::vector<std::unique_ptr<ElasticCells>> choose_materials(const CaseFile& in, const Mesh& mesh) {
  const std::vector<std::size_t> owner = owners(in, mesh);
  std::vector<std::unique_ptr<ElasticCells>> all;
  for (std::size_t m = 0; m < in.materials.size(); ++m)
    any_cell_element([&]<class E>(E, CellShape) {
      if (auto cells = cells_of(in, mesh, m, E::Element::type, E::straight, owner)) all.push_back(std::move(cells));
      return false;
    });
  return all;
}

}  // namespace tempi
