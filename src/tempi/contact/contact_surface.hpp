// SPDX-License-Identifier: Apache-2.0
// What may touch: vertices, edges and faces of surfaces, spheres around particles, rigid things; and which of them may
// touch which.
//
// Pairs are a vertex and a face, or two edges, in space; a vertex and an edge in a plane, and in space where the
// edge has no face; lone vertices (spheres, points) with each other. Vertices of edges and faces meet others' within
// these. In something hollow, which is convex, all of a simplex is as far from the wall as its vertices at least: they
// alone meet it.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tempi/contact/closest_points.hpp"
#include "tempi/core/expression.hpp"
#include "tempi/core/ids.hpp"
#include "tempi/space/box_tree.hpp"

namespace tempi {

// Two simplices by their vertices, places in the surface: those of the first, then those of the second; -1 behind. Each
// pair has one way to be written, so it is a key.
struct ContactPair {
  SimplexPair kind;
  std::array<std::int32_t, 4> vertex{-1, -1, -1, -1};

  std::span<const std::int32_t> vertices() const {
    return std::span(vertex).first(static_cast<std::size_t>(kind.size()));
  }
  friend auto operator<=>(const ContactPair&, const ContactPair&) = default;
};

// How something rigid goes: it is v t + u(t) from where it is placed.
struct RigidMotion {
  std::array<double, 3> velocity{};                           // v [m/s]
  std::shared_ptr<const VectorExpression> displacement = {};  // u [m], a component per dimension; null: none
};

class ContactSurface {
 public:
  // Sides: what is of one touches what is of the other.
  static constexpr std::int32_t first = 1, second = 2, both = 3;

  struct Vertex {
    NodeId node{-1};                // of the model; -1: of a rigid thing
    std::array<double, 3> place{};  // [m], of the reference configuration; of rigid things before they move
    RigidMotion motion{};           // of rigid things
    double radius = 0.0;            // [m], of a sphere around it
    std::int32_t sides = 0;

    bool is_rigid() const { return node == NodeId{-1}; }
  };

  explicit ContactSurface(int dim) : dim_(dim) {}

  std::int32_t add_vertex(const Vertex& vertex);  // its place; sides come from simplices
  void set_radius(std::int32_t vertex, double radius) { vertices_[static_cast<std::size_t>(vertex)].radius = radius; }
  // Of one to three vertices, -1 behind: a sphere or a point, an edge, a face.
  void add_simplex(std::array<std::int32_t, 3> vertices, std::int32_t sides);
  // Hollow, of one or two rigid vertices (-1 behind): a sphere, a tube around an axis with ends far away; their radius
  // is the inner one. For all of both sides.
  void add_hollow(std::array<std::int32_t, 2> vertices) { hollows_.push_back(vertices); }
  // Once all are there, before anybody asks for pairs: vertices have other numbers from now on, near ones near numbers.
  void finish();

  int dim() const { return dim_; }
  std::span<const Vertex> vertices() const { return vertices_; }
  std::size_t edge_count() const { return edge_count_; }
  std::size_t face_count() const { return face_count_; }
  std::size_t hollow_count() const { return hollows_.size(); }

  // Of the spheres of both; within something hollow, how far the first vertex may go [m].
  double radii(const ContactPair& pair) const;
  // What layers count as the distance of simplices that are `apart`, and how far apart they are at a distance [m].
  double gap(const ContactPair& pair, double apart) const {
    return pair.kind.within ? radii(pair) - apart : apart - radii(pair);
  }
  double apart_at(const ContactPair& pair, double gap) const {
    return pair.kind.within ? radii(pair) - gap : radii(pair) + gap;
  }
  // |e_1|^2 |e_2|^2 of two edges in the reference configuration [m^4]; 0 for other pairs.
  double squared_edges(const ContactPair& pair) const;

  // Of each vertex whether some other connected part, as simplices connect it, is within `reach` of it [m] (or a few
  // cells of a grid farther) in the reference configuration; of all where something is hollow, or the reach as large as
  // all.
  std::vector<char> near_others(double reach) const;

  // A tree of boxes, kept from one search to the next, of all simplices, or, where none is of both sides, of those of
  // the second; and what the search in hand works on.
  struct Search {
    bool by_sweep = false;  // instead of the tree: a reference
    BoxTree tree;
    Index searches = 0;
    std::span<const Bounds> of_vertex{};
    std::vector<Bounds> of_simplex{}, in_tree{};
    std::vector<std::array<Bounds, 3>> of_edge{};  // of those a simplex looks after
  };
  // All pairs that may touch while the boxes of their vertices touch; ascending. Those boxes hold all places of the
  // vertices, grown by half of what counts as touching.
  void find_pairs(std::span<const Bounds> boxes, Search& search, std::vector<ContactPair>& pairs) const;

 private:
  struct Edge {
    std::int32_t a, b, sides;
  };
  struct Simplex {
    std::array<std::int32_t, 3> vertex;
    std::int32_t size, sides;
    // Each vertex and each edge is looked after by one simplex it belongs to.
    std::int32_t own_vertices = 0, own_edges = 0;
    std::array<std::int32_t, 3> own_vertex{};
    std::array<Edge, 3> own_edge{};

    bool has(std::int32_t v) const { return v == vertex[0] || v == vertex[1] || v == vertex[2]; }
  };

  bool may_touch(std::int32_t sides, std::int32_t other) const {
    return ((sides & first) != 0 && (other & second) != 0) || ((sides & second) != 0 && (other & first) != 0);
  }
  bool both_rigid(std::int32_t a, std::int32_t b) const {
    return vertices_[static_cast<std::size_t>(a)].is_rigid() && vertices_[static_cast<std::size_t>(b)].is_rigid();
  }
  void number_by_place();
  void find_by_tree(Search& search, std::vector<ContactPair>& pairs) const;
  // By their numbers.
  void find_between(std::int32_t i, std::int32_t j, const Search& search, std::vector<ContactPair>& pairs) const;
  void find_vertices(std::int32_t i, std::int32_t j, const Search& search, std::vector<ContactPair>& pairs) const;
  void find_edges(std::int32_t i, std::int32_t j, const Search& search, std::vector<ContactPair>& pairs) const;

  int dim_;
  std::vector<Vertex> vertices_;
  std::vector<Simplex> simplices_;
  std::vector<std::array<std::int32_t, 2>> hollows_;
  std::vector<std::int32_t> of_second_;  // simplices, where none is of both sides
  std::size_t edge_count_ = 0, face_count_ = 0;
};

}  // namespace tempi
