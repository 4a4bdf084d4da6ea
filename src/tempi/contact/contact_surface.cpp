// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/contact_surface.hpp"

#include <algorithm>
#include <numeric>

#include "tempi/core/distinct.hpp"
#include "tempi/space/box_sweep.hpp"

namespace tempi {
namespace {

Bounds joined(std::span<const Bounds> boxes, std::span<const std::int32_t> vertices) {
  Bounds box;
  for (const std::int32_t v : vertices) box.take(boxes[static_cast<std::size_t>(v)]);
  return box;
}

}  // namespace

std::int32_t ContactSurface::add_vertex(const Vertex& vertex) {
  vertices_.push_back(vertex);
  return static_cast<std::int32_t>(vertices_.size()) - 1;
}

void ContactSurface::add_simplex(std::array<std::int32_t, 3> vertices, std::int32_t sides) {
  const auto size = static_cast<std::int32_t>(3 - std::ranges::count(vertices, -1));
  simplices_.push_back({vertices, size, sides});
  for (const std::int32_t v : vertices)
    if (v >= 0) vertices_[static_cast<std::size_t>(v)].sides |= sides;
}

// Halves of halves along the longest side, down to a few.
void ContactSurface::number_by_place() {
  constexpr std::ptrdiff_t few = 16;
  std::vector<std::int32_t> order(vertices_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto halve = [&](auto&& again, auto begin, auto end) -> void {
    if (end - begin <= few) return std::sort(begin, end);
    Bounds box;
    for (auto v = begin; v != end; ++v) box.take(vertices_[static_cast<std::size_t>(*v)].place);
    std::size_t axis = 0;
    for (const std::size_t c : {std::size_t{1}, std::size_t{2}})
      if (box.high[c] - box.low[c] > box.high[axis] - box.low[axis]) axis = c;
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, [&](std::int32_t a, std::int32_t b) {
      return std::pair(vertices_[static_cast<std::size_t>(a)].place[axis], a) <
             std::pair(vertices_[static_cast<std::size_t>(b)].place[axis], b);
    });
    again(again, begin, middle);
    again(again, middle, end);
  };
  halve(halve, order.begin(), order.end());
  std::vector<Vertex> vertices;
  std::vector<std::int32_t> number(order.size());
  for (const std::int32_t v : order) {
    number[static_cast<std::size_t>(v)] = static_cast<std::int32_t>(vertices.size());
    vertices.push_back(std::move(vertices_[static_cast<std::size_t>(v)]));
  }
  vertices_ = std::move(vertices);
  const auto renumber = [&](auto& of) {
    for (std::int32_t& v : of)
      if (v >= 0) v = number[static_cast<std::size_t>(v)];
  };
  for (Simplex& s : simplices_) renumber(s.vertex);
  for (auto& hollow : hollows_) renumber(hollow);
}

void ContactSurface::finish() {
  number_by_place();
  std::vector<char> has_owner(vertices_.size(), 0);
  std::vector<std::pair<std::array<std::int32_t, 2>, std::size_t>> edges;  // and their simplex
  edge_count_ = face_count_ = 0;
  of_second_.clear();
  // Those that share a vertex are looked for all together: it is looked after by one side only.
  if (std::ranges::none_of(vertices_, [](const Vertex& v) { return v.sides == both; }))
    for (std::size_t i = 0; i < simplices_.size(); ++i)
      if (simplices_[i].sides == second) of_second_.push_back(static_cast<std::int32_t>(i));
  for (std::size_t i = 0; i < simplices_.size(); ++i) {
    Simplex& s = simplices_[i];
    s.own_vertices = s.own_edges = 0;
    for (std::int32_t k = 0; k < s.size; ++k) {
      const std::int32_t v = s.vertex[static_cast<std::size_t>(k)];
      if (std::exchange(has_owner[static_cast<std::size_t>(v)], 1) == 0)
        s.own_vertex[static_cast<std::size_t>(s.own_vertices++)] = v;
    }
    face_count_ += s.size == 3 ? 1 : 0;
    for (std::int32_t k = 0; k < (s.size == 3 ? 3 : s.size - 1); ++k) {
      const std::int32_t a = s.vertex[static_cast<std::size_t>(k)],
                         b = s.vertex[static_cast<std::size_t>((k + 1) % s.size)];
      edges.push_back({{std::min(a, b), std::max(a, b)}, i});
    }
  }
  std::ranges::sort(edges);
  for (std::size_t i = 0, end = 0; i < edges.size(); i = end, ++edge_count_) {
    Simplex& owner = simplices_[edges[i].second];
    std::int32_t sides = 0;
    for (end = i; end < edges.size() && edges[end].first == edges[i].first; ++end)
      sides |= simplices_[edges[end].second].sides;
    owner.own_edge[static_cast<std::size_t>(owner.own_edges++)] = {edges[i].first[0], edges[i].first[1], sides};
  }
}

double ContactSurface::radii(const ContactPair& pair) const {
  double one = 0.0, other = 0.0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(pair.kind.size()); ++i) {
    double& largest = i < static_cast<std::size_t>(pair.kind.first) ? one : other;
    largest = std::max(largest, vertices_[static_cast<std::size_t>(pair.vertex[i])].radius);
  }
  return pair.kind.within ? other - one : one + other;
}

double ContactSurface::squared_edges(const ContactPair& pair) const {
  if (pair.kind.first != 2) return 0.0;
  double product = 1.0;
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    const auto &a = vertices_[static_cast<std::size_t>(pair.vertex[i])].place,
               &b = vertices_[static_cast<std::size_t>(pair.vertex[i + 1])].place;
    double squared = 0.0;
    for (std::size_t c = 0; c < 3; ++c) squared += (b[c] - a[c]) * (b[c] - a[c]);
    product *= squared;
  }
  return product;
}

void ContactSurface::find_pairs(std::span<const Bounds> boxes, Search& search, std::vector<ContactPair>& pairs) const {
  search.of_vertex = boxes;
  search.of_simplex.resize(simplices_.size());
  search.of_edge.resize(simplices_.size());
  for (std::size_t i = 0; i < simplices_.size(); ++i) {
    const Simplex& s = simplices_[i];
    search.of_simplex[i] = joined(boxes, std::span(s.vertex).first(static_cast<std::size_t>(s.size)));
    for (std::size_t k = 0; k < static_cast<std::size_t>(s.own_edges); ++k)
      search.of_edge[i][k] = joined(boxes, std::array{s.own_edge[k].a, s.own_edge[k].b});
  }
  pairs.clear();
  if (search.by_sweep) {
    sweep_boxes(search.of_simplex, [&](std::int32_t i, std::int32_t j) { find_between(i, j, search, pairs); });
  } else {
    find_by_tree(search, pairs);
  }
  for (const auto& [a, b] : hollows_)
    for (std::size_t v = 0; v < vertices_.size(); ++v)
      if (!vertices_[v].is_rigid())
        pairs.push_back({{1, static_cast<std::int8_t>(b < 0 ? 1 : 2), true}, {static_cast<std::int32_t>(v), a, b, -1}});
  make_distinct(pairs);
  search.of_vertex = {};
}

void ContactSurface::find_by_tree(Search& search, std::vector<ContactPair>& pairs) const {
  constexpr Index between_rebuilds = 32;
  search.in_tree.clear();
  for (const std::int32_t i : of_second_) search.in_tree.push_back(search.of_simplex[static_cast<std::size_t>(i)]);
  const std::vector<Bounds>& in_tree = of_second_.empty() ? search.of_simplex : search.in_tree;
  if (search.searches++ % between_rebuilds == 0 || search.tree.size() != in_tree.size())
    search.tree.make(in_tree);
  else
    search.tree.refit(in_tree);
  if (of_second_.empty()) {
    search.tree.each_pair([&](std::int32_t i, std::int32_t j) { find_between(i, j, search, pairs); });
  } else {
    for (std::size_t i = 0; i < simplices_.size(); ++i)
      if (simplices_[i].sides == first)
        search.tree.each_touching(search.of_simplex[i], [&](std::int32_t j) {
          find_between(static_cast<std::int32_t>(i), of_second_[static_cast<std::size_t>(j)], search, pairs);
        });
  }
}

void ContactSurface::find_between(std::int32_t i, std::int32_t j, const Search& search,
                                  std::vector<ContactPair>& pairs) const {
  find_vertices(i, j, search, pairs);
  find_vertices(j, i, search, pairs);
  if (dim_ == 3) find_edges(i, j, search, pairs);
}

// The vertices that the first looks after, with the other.
void ContactSurface::find_vertices(std::int32_t i, std::int32_t j, const Search& search,
                                   std::vector<ContactPair>& pairs) const {
  const Simplex &of = simplices_[static_cast<std::size_t>(i)], &with = simplices_[static_cast<std::size_t>(j)];
  if (of.own_vertices == 0) return;
  const bool lone = of.size == 1;
  if (with.size == 1 && (!lone || of.vertex[0] > with.vertex[0])) return;  // the other is the vertex
  const Bounds& box = search.of_simplex[static_cast<std::size_t>(j)];
  for (std::int32_t k = 0; k < of.own_vertices; ++k) {
    const std::int32_t v = of.own_vertex[static_cast<std::size_t>(k)];
    if (with.has(v) || !box.touches(search.of_vertex[static_cast<std::size_t>(v)])) continue;
    if (!may_touch(vertices_[static_cast<std::size_t>(v)].sides, with.sides) || both_rigid(v, with.vertex[0])) continue;
    pairs.push_back({{1, static_cast<std::int8_t>(with.size)}, {v, with.vertex[0], with.vertex[1], with.vertex[2]}});
  }
}

void ContactSurface::find_edges(std::int32_t i, std::int32_t j, const Search& search,
                                std::vector<ContactPair>& pairs) const {
  const Simplex &s = simplices_[static_cast<std::size_t>(i)], &t = simplices_[static_cast<std::size_t>(j)];
  for (std::size_t k = 0; k < static_cast<std::size_t>(s.own_edges); ++k) {
    const Edge& e = s.own_edge[k];
    const Bounds& box = search.of_edge[static_cast<std::size_t>(i)][k];
    for (std::size_t l = 0; l < static_cast<std::size_t>(t.own_edges); ++l) {
      const Edge& f = t.own_edge[l];
      if (e.a == f.a || e.a == f.b || e.b == f.a || e.b == f.b) continue;
      if (!box.touches(search.of_edge[static_cast<std::size_t>(j)][l])) continue;
      if (!may_touch(e.sides, f.sides) || both_rigid(e.a, f.a)) continue;
      const bool in_order = std::pair(e.a, e.b) < std::pair(f.a, f.b);
      const Edge &low = in_order ? e : f, &high = in_order ? f : e;
      pairs.push_back({{2, 2}, {low.a, low.b, high.a, high.b}});
    }
  }
}

}  // namespace tempi
