// SPDX-License-Identifier: Apache-2.0
// Strong index types: a cell number cannot be passed where a node number is meant.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tempi {

using Index = std::int64_t;  // counts and packed offsets

enum class NodeId : std::int32_t {};   // a point of the model, 0-based
enum class CellId : std::int32_t {};   // a cell of top dimension, 0-based, in the mesh file's order
enum class FacetId : std::int32_t {};  // a cell of lower dimension (boundary triangle, edge, point)
enum class TermId : std::int32_t {};   // a term V_K of the model: potentials in order, their terms in order

using NodePair = std::array<NodeId, 2>;

// The number behind an id, for addressing packed storage.
template <class Id>
  requires std::is_enum_v<Id>
constexpr Index index(Id id) { return static_cast<Index>(static_cast<std::underlying_type_t<Id>>(id)); }

// The same as an unsigned number, as standard containers count.
template <class Id>
  requires std::is_enum_v<Id>
constexpr std::size_t ordinal(Id id) { return static_cast<std::size_t>(index(id)); }

// The id of a number; the caller guarantees that it fits (meshes are refused beyond 2^31 entries).
template <class Id>
  requires std::is_enum_v<Id>
constexpr Id make_id(Index i) { return static_cast<Id>(static_cast<std::underlying_type_t<Id>>(i)); }

}  // namespace tempi
