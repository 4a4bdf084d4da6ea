// SPDX-License-Identifier: Apache-2.0
#include "tempi/adaption/sliding_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "tempi/core/cross.hpp"
#include "tempi/mesh/facets.hpp"
#include "tempi/mesh/quality.hpp"

namespace tempi {
namespace {

using Vec = std::array<double, 3>;
constexpr double parallel = 1e-10;  // 1 - cosine of the angle below which planes and lines are one: 1e-5 rad

Vec place(const Mesh& mesh, NodeId a) {
  Vec X{};
  std::ranges::copy(mesh.point(a), X.begin());
  return X;
}

Vec minus(const Vec& x, const Vec& y) { return {x[0] - y[0], x[1] - y[1], x[2] - y[2]}; }
double dot(const Vec& x, const Vec& y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; }
Vec unit(Vec x) {
  const double length = std::sqrt(dot(x, x));
  for (double& c : x) c /= length;
  return x;
}
bool same_direction(const Vec& x, const Vec& y) { return dot(x, y) > 1.0 - parallel; }

// A part of a surface.
struct Patch {
  std::vector<NodeId> vertices;
  Vec normal{};
  std::vector<int> demands;  // groups, and what is asked of all its vertices
  bool flat = true;
  bool like(const Patch& other) const {
    return flat && other.flat && demands == other.demands && same_direction(normal, other.normal);
  }
};

class Slides {
 public:
  Slides(const Mesh& mesh, std::span<const int> kind, const std::vector<std::vector<int>>& asked)
      : mesh_(mesh), asked_(asked) {
    find_patches(kind);
    add_groups();
    for (Patch& p : patches_) {
      std::vector<int> common = asked[ordinal(p.vertices.front())];
      for (const NodeId a : p.vertices) common = both(common, asked[ordinal(a)]);
      p.demands.insert(p.demands.end(), common.begin(), common.end());
      std::ranges::sort(p.demands);
    }
  }

  std::vector<std::vector<Index>> patches_of_nodes() const {
    std::vector<std::vector<Index>> at(static_cast<std::size_t>(mesh_.node_count()));
    for (Index i = 0; i < std::ssize(patches_); ++i)
      for (const NodeId a : patches_[static_cast<std::size_t>(i)].vertices) at[ordinal(a)].push_back(i);
    return at;
  }

  // What a node may do between its patches.
  SlidingNodes::Freedom freedom(NodeId a, const std::vector<Index>& at) const {
    SlidingNodes::Freedom f;
    if (at.empty()) {
      if (!asked_[ordinal(a)].empty() || at_line_[ordinal(a)] != 0) return f;
      f.count = mesh_.dim();
      for (std::size_t c = 0; c < static_cast<std::size_t>(f.count); ++c) f.along[c][c] = 1.0;
      return f;
    }
    const Patch& first = patch(at.front());
    const bool one = std::ranges::all_of(at, [&](Index i) { return patch(i).like(first); });
    std::vector<int> demands;
    for (const Index i : at) demands.insert(demands.end(), patch(i).demands.begin(), patch(i).demands.end());
    std::ranges::sort(demands);
    const auto& own = asked_[ordinal(a)];
    if (at_line_[ordinal(a)] != 0 ||
        !std::ranges::all_of(own, [&](int ask) { return std::ranges::binary_search(demands, ask); }))
      return f;
    if (mesh_.dim() == 2) {
      if (one && at.size() == 2) f = {1, {Vec{-first.normal[1], first.normal[0], 0.0}}};
      return f;
    }
    if (mesh_.dim() == 3) return one && is_closed(a, at) ? in_plane(first.normal) : along_edge(a, at);
    return f;
  }

 private:
  const Patch& patch(Index i) const { return patches_[static_cast<std::size_t>(i)]; }
  static std::vector<int> both(const std::vector<int>& x, const std::vector<int>& y) {
    std::vector<int> z;
    std::ranges::set_intersection(x, y, std::back_inserter(z));
    return z;
  }

  static SlidingNodes::Freedom in_plane(const Vec& normal) {
    Vec axis{};  // the one most across
    axis[static_cast<std::size_t>(std::ranges::min_element(normal, {}, [](double c) { return std::abs(c); }) -
                                  normal.begin())] = 1.0;
    const Vec first = unit(cross(normal, axis));
    return {2, {first, cross(normal, first)}};
  }

  // The facets around a node inside a surface: every edge at it belongs to two of them.
  bool is_closed(NodeId a, const std::vector<Index>& at) const {
    std::map<NodeId, int> edges;
    for (const Index i : at)
      for (const NodeId b : patch(i).vertices)
        if (b != a) ++edges[b];
    return std::ranges::all_of(edges, [](const auto& e) { return e.second == 2; });
  }

  // On an edge where two surfaces meet, and goes on straight: its two ends.
  SlidingNodes::Freedom along_edge(NodeId a, const std::vector<Index>& at) const {
    std::map<NodeId, std::vector<Index>> edges;
    for (const Index i : at) {
      if (!patch(i).flat) return {};
      for (const NodeId b : patch(i).vertices)
        if (b != a) edges[b].push_back(i);
    }
    std::vector<Vec> ways;
    std::vector<std::vector<const Patch*>> sides;
    for (const auto& [b, around] : edges) {
      if (around.size() == 2 && patch(around[0]).like(patch(around[1]))) continue;
      ways.push_back(unit(minus(place(mesh_, b), place(mesh_, a))));
      auto& of_this = sides.emplace_back();
      for (const Index i : around) of_this.push_back(&patch(i));
    }
    if (ways.size() != 2 || !same_direction(ways[0], {-ways[1][0], -ways[1][1], -ways[1][2]})) return {};
    // What meets at one of them has to meet at the other, and ask as much of the node.
    const auto has_like = [](const std::vector<const Patch*>& of, const Patch* p) {
      return std::ranges::any_of(of, [&](const Patch* q) { return p->like(*q); });
    };
    if (sides[0].size() != sides[1].size()) return {};
    for (const Patch* p : sides[0])
      if (!has_like(sides[1], p)) return {};
    return {1, {ways[0]}};
  }

  void find_patches(std::span<const int> kind) {
    std::map<FacetKey, std::vector<CellFacet>> facets;
    for (Index c = 0; c < mesh_.cells().size(); ++c)
      if (kind[static_cast<std::size_t>(c)] >= 0)
        for (int f = 0; f < std::ssize(local_facets(mesh_.cells().types[static_cast<std::size_t>(c)])); ++f) {
          const CellFacet facet{make_id<CellId>(c), f};
          facets[facet_key(mesh_, facet)].push_back(facet);
        }
    for (auto& [key, of] : facets) {
      std::ranges::stable_sort(of, {}, [&](const CellFacet& f) { return kind[ordinal(f.cell)]; });
      if (of.size() == 2 && kind[ordinal(of[0].cell)] == kind[ordinal(of[1].cell)]) {
        inner_[key] = of[0];
        continue;
      }
      of_key_[key] = std::ssize(patches_);
      add_patch(of[0], of.size() == 1 ? std::vector<int>{} : std::vector<int>{-2 - kind[ordinal(of[1].cell)]});
      patches_.back().demands.push_back(-2 - kind[ordinal(of[0].cell)]);
    }
  }

  void add_patch(CellFacet facet, std::vector<int> demands) {
    Patch p;
    p.vertices = vertices_of(facet);
    p.demands = std::move(demands);
    const Vec X0 = place(mesh_, p.vertices[0]);
    if (mesh_.dim() == 2) {
      const Vec t = minus(place(mesh_, p.vertices[1]), X0);
      p.normal = unit({t[1], -t[0], 0.0});
    } else if (mesh_.dim() == 3) {
      p.normal = unit(cross(minus(place(mesh_, p.vertices[1]), X0), minus(place(mesh_, p.vertices[2]), X0)));
    }
    p.flat = is_straight(mesh_, facet.cell) || has_straight_edges(facet);
    patches_.push_back(std::move(p));
  }

  bool has_straight_edges(CellFacet facet) const {
    const std::vector<NodeId> nodes = facet_nodes(mesh_, facet);
    std::size_t middle = static_cast<std::size_t>(info(facet_type(mesh_, facet)).vertices);
    for (const auto& [a, b] : mid_edges(facet_type(mesh_, facet))) {
      const Vec X = place(mesh_, nodes[static_cast<std::size_t>(a)]),
                Y = place(mesh_, nodes[static_cast<std::size_t>(b)]), M = place(mesh_, nodes[middle++]);
      Vec off{};
      for (std::size_t c = 0; c < 3; ++c) off[c] = M[c] - 0.5 * (X[c] + Y[c]);
      if (dot(off, off) > 1e-20 * dot(minus(X, Y), minus(X, Y))) return false;
    }
    return true;
  }

  // Facets of groups; lines and points of groups in which nodes stay.
  void add_groups() {
    at_line_.assign(static_cast<std::size_t>(mesh_.node_count()), 0);
    int number = 0;
    for (const Group& group : mesh_.groups()) {
      ++number;
      for (const FacetId f : group.facets) {
        const auto nodes = mesh_.facets()[index(f)];
        const CellTypeInfo type = info(mesh_.facets().types[ordinal(f)]);
        const std::vector<NodeId> vertices(nodes.begin(), nodes.begin() + type.vertices);
        if (type.dim != mesh_.dim() - 1) {
          for (const NodeId a : vertices) at_line_[ordinal(a)] = 1;
          continue;
        }
        const auto key = facet_key(vertices);
        if (const auto inner = inner_.find(key); inner != inner_.end() && !of_key_.contains(key)) {
          of_key_[key] = std::ssize(patches_);
          add_patch(inner->second, {});
        }
        if (const auto found = of_key_.find(key); found != of_key_.end())
          patches_[static_cast<std::size_t>(found->second)].demands.push_back(-(1 << 20) - number);
      }
    }
    // Facets inside one kind are seen from either side: one side for all.
    for (auto& [key, i] : of_key_)
      if (inner_.contains(key)) {
        Vec& n = patches_[static_cast<std::size_t>(i)].normal;
        const auto leading = std::ranges::find_if(n, [](double c) { return std::abs(c) > 0.5; });
        if (leading != n.end() && *leading < 0.0)
          for (double& c : n) c = -c;
      }
  }

  std::vector<NodeId> vertices_of(CellFacet facet) const {
    std::vector<NodeId> nodes = facet_nodes(mesh_, facet);
    nodes.resize(static_cast<std::size_t>(info(facet_type(mesh_, facet)).vertices));
    return nodes;
  }
  const Mesh& mesh_;
  const std::vector<std::vector<int>>& asked_;
  std::vector<Patch> patches_;
  std::map<FacetKey, Index> of_key_;     // patches
  std::map<FacetKey, CellFacet> inner_;  // other facets
  std::vector<char> at_line_;
};

}  // namespace

SlidingNodes sliding_nodes(const Mesh& mesh, std::span<const int> kind, const std::vector<std::vector<int>>& asked,
                           std::span<const char> held) {
  SlidingNodes result;
  result.of_node.resize(static_cast<std::size_t>(mesh.node_count()));
  std::vector<char> vertex(result.of_node.size(), 0);
  for (Index c = 0; c < mesh.cells().size(); ++c) {
    const auto nodes = mesh.cells()[c];
    for (int v = 0; v < info(mesh.cells().types[static_cast<std::size_t>(c)]).vertices; ++v)
      vertex[ordinal(nodes[static_cast<std::size_t>(v)])] = 1;
  }
  const Slides slides(mesh, kind, asked);
  const auto at = slides.patches_of_nodes();
  for (Index a = 0; a < mesh.node_count(); ++a) {
    const auto i = static_cast<std::size_t>(a);
    if (vertex[i] == 0) continue;
    if (held[i] == 0) result.of_node[i] = slides.freedom(make_id<NodeId>(a), at[i]);
    const int count = result.of_node[i].count;
    ++(count == mesh.dim() ? result.free : count > 0 ? result.sliding : result.held);
  }
  return result;
}

}  // namespace tempi
