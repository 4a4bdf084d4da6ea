// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/constraint_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "tempi/case/option_table.hpp"
#include "tempi/case/selection.hpp"

namespace tempi {
namespace {

struct Entry {
  std::string_view type;
  std::string_view required, optional;  // keys of its own
};

constexpr std::array<Entry, 5> entries = {{{"distance", "", "pairs within length"},
                                           {"coincident", "", "pairs within"},
                                           {"link", "anchor", "length"},
                                           {"surface", "expression", "extent"},
                                           {"rigid-body", "", "size"}}};

void compare_keys(const ConstraintInput& in, const Entry& entry) {
  for (const auto& [key, place] : in.keys) {
    if (has_key(entry.required, key) || has_key(entry.optional, key)) continue;
    const auto owner = std::ranges::find_if(entries, [&key = key](const Entry& e) {
      return has_key(e.required, key) || has_key(e.optional, key);
    });
    throw PlacedError(place, fmt::format("{} belongs to the type {}, not to {}. Leave it out, or choose another type.",
                                         key, owner->type, in.type));
  }
  for (const char* key : {"anchor", "expression"})
    if (has_key(entry.required, key) &&
        std::ranges::find(in.keys, key, &std::pair<std::string, Place>::first) == in.keys.end())
      throw PlacedError(in.place, fmt::format("the type {} needs {}. Add {} = ...", in.type, key, key));
}

std::vector<NodePair> pairs_of(const ConstraintInput& in, const Surroundings& around) {
  if (in.pair_list.empty() && !in.within)
    throw PlacedError(in.place, fmt::format("the type {} needs pairs or within. Give one of them.", in.type));
  if (!in.pair_list.empty() && (in.within || !in.nodes.everything()))
    throw PlacedError(in.place,
                      "pairs are listed, so within, group, where and particles have no meaning. Leave them "
                      "out.");
  if (!in.pair_list.empty()) return nodes_of_pairs(around.mesh, in.pair_list, in.place);
  std::vector<NodePair> near = pairs_no_farther(in.nodes, *in.within, in.place, around);
  if (near.empty()) throw PlacedError(in.place, "within holds no pair.");
  return near;
}

std::array<double, 3> anchor_of(const ConstraintInput& in, int dim) {
  if (static_cast<int>(in.anchor.size()) != dim)
    throw PlacedError(in.place,
                      fmt::format("anchor has {} components (there are {} dimensions).", in.anchor.size(), dim));
  std::array<double, 3> anchor{};
  std::ranges::copy(in.anchor, anchor.begin());
  return anchor;
}

Constraints rigid_bodies(const ConstraintInput& in, const Points& points, std::span<const NodeId> nodes,
                         const Box::Lengths& box) {
  const auto size = in.size > 0 ? static_cast<std::size_t>(in.size) : nodes.size();
  if (nodes.size() % size != 0)
    throw PlacedError(in.place, fmt::format("{} nodes do not make bodies of {}. Correct size or the choice of nodes.",
                                            nodes.size(), size));
  Constraints all;
  for (std::size_t first = 0; first < nodes.size(); first += size)
    std::ranges::move(make_rigid_body(points, nodes.subspan(first, size), box), std::back_inserter(all));
  return all;
}

}  // namespace

ChosenConstraints choose_constraints(const ConstraintInput& in, const Surroundings& around) {
  compare_keys(in, *std::ranges::find(entries, std::string_view(in.type), &Entry::type));
  const Points points{around.mesh.points(), around.mesh.dim()};
  Box::Lengths box{};
  for (std::size_t c = 0; c < 3; ++c) box[c] = around.box.length(c);
  return at_place(in.place, [&]() -> ChosenConstraints {
    if (in.type == "distance") {
      const std::vector<NodePair> pairs = pairs_of(in, around);
      return {make_distances(points, pairs, in.length, box), pairs};
    }
    if (in.type == "coincident") return {make_coincident(points, pairs_of(in, around)), {}};
    const std::vector<NodeId> nodes = Selection(around.mesh, around.constants).nodes(in.nodes);
    if (in.type == "link" && std::ranges::any_of(box, [](const auto& length) { return length.has_value(); }))
      throw InputError("links do not go with a periodic box (which image of the anchor?). Leave out one of them.");
    if (in.type == "link") return {make_links(points, nodes, anchor_of(in, points.dim), in.length), {}};
    if (in.type == "rigid-body") return {rigid_bodies(in, points, nodes, box), {}};
    const FormulaText& formula = *in.expression;
    return {make_surface(points, nodes,
                         at_place(formula.place,
                                  [&] { return Expression(std::get<std::string>(formula.value), around.constants); }),
                         in.extent),
            {}};
  });
}

}  // namespace tempi
