// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/contact_surface.hpp"

#include <algorithm>

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

void ContactSurface::finish() {
  std::vector<char> has_owner(vertices_.size(), 0);
  std::vector<std::pair<std::array<std::int32_t, 2>, std::size_t>> edges;  // and their simplex
  edge_count_ = face_count_ = 0;
  of_second_.clear();
  if (std::ranges::none_of(simplices_, [](const Simplex& s) { return s.sides == both; }))
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
  return one + other;
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
  constexpr Index between_rebuilds = 32;
  const auto box_of = [&](const Simplex& s) {
    return joined(boxes, std::span(s.vertex).first(static_cast<std::size_t>(s.size)));
  };
  const auto simplex = [&](std::int32_t i) -> const Simplex& { return simplices_[static_cast<std::size_t>(i)]; };
  search.boxes.clear();
  if (of_second_.empty())
    for (const Simplex& s : simplices_) search.boxes.push_back(box_of(s));
  else
    for (const std::int32_t i : of_second_) search.boxes.push_back(box_of(simplex(i)));
  if (search.searches++ % between_rebuilds == 0 || search.tree.size() != search.boxes.size())
    search.tree.make(search.boxes);
  else
    search.tree.refit(search.boxes);
  pairs.clear();
  if (of_second_.empty()) {
    search.tree.each_pair([&](std::int32_t i, std::int32_t j) { find_between(simplex(i), simplex(j), boxes, pairs); });
  } else {
    for (const Simplex& s : simplices_)
      if (s.sides == first)
        search.tree.each_touching(box_of(s), [&](std::int32_t j) {
          find_between(s, simplex(of_second_[static_cast<std::size_t>(j)]), boxes, pairs);
        });
  }
  std::ranges::sort(pairs);
}

void ContactSurface::find_between(const Simplex& s, const Simplex& t, std::span<const Bounds> boxes,
                                  std::vector<ContactPair>& pairs) const {
  find_vertices(s, t, boxes, pairs);
  find_vertices(t, s, boxes, pairs);
  find_edges(s, t, boxes, pairs);
}

// The vertices that one looks after, with the other.
void ContactSurface::find_vertices(const Simplex& of, const Simplex& with, std::span<const Bounds> boxes,
                                   std::vector<ContactPair>& pairs) const {
  const bool lone = of.size == 1;
  if (with.size == 1 && (!lone || of.vertex[0] > with.vertex[0])) return;  // the other is the vertex
  if (with.size == 2 && dim_ == 3 && !lone) return;                        // their edges meet
  const Bounds box = joined(boxes, std::span(with.vertex).first(static_cast<std::size_t>(with.size)));
  for (std::int32_t k = 0; k < of.own_vertices; ++k) {
    const std::int32_t v = of.own_vertex[static_cast<std::size_t>(k)];
    const Vertex& vertex = vertices_[static_cast<std::size_t>(v)];
    if (with.has(v) || !may_touch(vertex.sides, with.sides) || both_rigid(v, with.vertex[0])) continue;
    if (!box.touches(boxes[static_cast<std::size_t>(v)])) continue;
    pairs.push_back({{1, static_cast<std::int8_t>(with.size)}, {v, with.vertex[0], with.vertex[1], with.vertex[2]}});
  }
}

void ContactSurface::find_edges(const Simplex& s, const Simplex& t, std::span<const Bounds> boxes,
                                std::vector<ContactPair>& pairs) const {
  if (dim_ != 3) return;
  for (std::int32_t i = 0; i < s.own_edges; ++i) {
    const Edge& e = s.own_edge[static_cast<std::size_t>(i)];
    const Bounds box = joined(boxes, std::array{e.a, e.b});
    for (std::int32_t j = 0; j < t.own_edges; ++j) {
      const Edge& f = t.own_edge[static_cast<std::size_t>(j)];
      if (e.a == f.a || e.a == f.b || e.b == f.a || e.b == f.b || !may_touch(e.sides, f.sides)) continue;
      if (both_rigid(e.a, f.a) || !box.touches(joined(boxes, std::array{f.a, f.b}))) continue;
      const bool in_order = std::pair(e.a, e.b) < std::pair(f.a, f.b);
      const Edge &low = in_order ? e : f, &high = in_order ? f : e;
      pairs.push_back({{2, 2}, {low.a, low.b, high.a, high.b}});
    }
  }
}

}  // namespace tempi
