// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/material_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tempi/case/selection.hpp"
#include "tempi/core/error.hpp"
#include "tempi/element/shell.hpp"
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

// A shell is what its material calls one.
void refuse_other_cells(const MaterialInput& material, const Mesh& mesh, CellId cell) {
  const CellType type = mesh.cells().types[ordinal(cell)];
  if ((type == CellType::shell3) == material.is_shell()) return;
  throw PlacedError(material.place,
                    fmt::format("{} has cells of type {} (the first is cell {}), and model = \"{}\" is {} shells. Give "
                                "them a [[material]] of their own, by a group.",
                                material.cells.everything() ? "the mesh" : material.cells.text(), info(type).name,
                                mesh.cells().labels[ordinal(cell)], material.model,
                                material.is_shell() ? "for" : "not for"));
}

double thickness_of(const MaterialInput& material) {
  if (material.thickness) return *material.thickness;
  throw PlacedError(material.place, "a shell needs its thickness (in m). Add thickness = ...");
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
  refuse_other_cells(material, mesh, cells.front());
  const Material model = at_place(material.place, [&] { return material_of(material); });
  const Place mesh_file = fmt::format("{}: {}", in.mesh_place, in.mesh_file.filename().string());
  if (material.is_shell()) {
    const double thickness = thickness_of(material);
    return at_place(mesh_file, [&] {
      return make_membrane(mesh, std::move(cells), {model, material.density, thickness});
    });
  }
  return at_place(mesh_file, [&] { return make_elastic_cells(mesh, type, std::move(cells), model, material.density); });
}

}  // namespace

Material material_of(const MaterialInput& m) {
  const bool lame = m.lambda || m.mu, engineering = m.young || m.poisson;
  if (lame == engineering || (lame && !(m.lambda && m.mu)) || (engineering && !(m.young && m.poisson)))
    throw InputError("the elastic constants are not two of a kind. Give lambda and mu, or young and poisson.");
  const Lame constants = lame ? checked_lame(*m.lambda, *m.mu) : lame_from_young(*m.young, *m.poisson);
  if (!m.is_shell() && !m.of_shells.empty())
    throw PlacedError(m.of_shells.front().second,
                      fmt::format("{} belongs to model = \"shell\". Leave it out.", m.of_shells.front().first));
  const std::string& law = m.is_shell() ? m.stretching : m.model;
  if (law == SaintVenantKirchhoff::name) return SaintVenantKirchhoff{constants};
  if (law == LinearElastic::name) return LinearElastic{constants};
  if (law == NeoHookean::name) return NeoHookean{constants};
  throw InputError(fmt::format("the material \"{}\" is not known.", m.model));
}

std::vector<std::unique_ptr<ElasticCells>> choose_materials(const CaseFile& in, const Mesh& mesh) {
  const std::vector<std::size_t> owner = owners(in, mesh);
  std::vector<std::unique_ptr<ElasticCells>> all;
  for (std::size_t m = 0; m < in.materials.size(); ++m) {
    any_cell_element([&]<class E>(E, CellShape) {
      if (auto cells = cells_of(in, mesh, m, E::Element::type, E::straight, owner)) all.push_back(std::move(cells));
      return false;
    });
    if (auto cells = cells_of(in, mesh, m, CellType::shell3, true, owner)) all.push_back(std::move(cells));
  }
  return all;
}

}  // namespace tempi
