// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/surface.hpp"

#include <algorithm>

namespace tempi {

std::vector<SurfaceTriangle> surface_triangles(const Mesh& mesh, std::span<const CellFacet> facets) {
  constexpr std::array<std::array<std::size_t, 3>, 4> quarters = {{{0, 3, 5}, {1, 4, 3}, {2, 5, 4}, {3, 4, 5}}};
  std::vector<SurfaceTriangle> result;
  for (const CellFacet& facet : facets) {
    const std::vector<NodeId> n = facet_nodes(mesh, facet);
    if (n.size() == 3 && facet_type(mesh, facet) == CellType::triangle3) result.push_back({n[0], n[1], n[2]});
    if (n.size() == 6)
      for (const auto& q : quarters) result.push_back({n[q[0]], n[q[1]], n[q[2]]});
  }
  return result;
}

SurfaceBuilder::SurfaceBuilder(const Mesh& mesh)
    : mesh_(mesh), surface_(mesh.dim()), of_node_(static_cast<std::size_t>(mesh.node_count()), -1) {}

std::int32_t SurfaceBuilder::vertex(NodeId node) {
  std::int32_t& place = of_node_[ordinal(node)];
  if (place >= 0) return place;
  ContactSurface::Vertex vertex;
  vertex.node = node;
  std::ranges::copy(mesh_.point(node), vertex.place.begin());
  return place = surface_.add_vertex(vertex);
}

void SurfaceBuilder::add_facets(const Mesh& of, std::span<const CellFacet> facets, std::int32_t side) {
  if (of.dim() == 3) {
    for (const SurfaceTriangle& t : surface_triangles(of, facets))
      surface_.add_simplex({vertex(t[0]), vertex(t[1]), vertex(t[2])}, side);
    return;
  }
  for (const CellFacet& facet : facets) {  // ends, then a middle
    const std::vector<NodeId> n = facet_nodes(of, facet);
    if (n.size() == 1) surface_.add_simplex({vertex(n[0]), -1, -1}, side);
    if (n.size() == 2) surface_.add_simplex({vertex(n[0]), vertex(n[1]), -1}, side);
    if (n.size() == 3) {
      surface_.add_simplex({vertex(n[0]), vertex(n[2]), -1}, side);
      surface_.add_simplex({vertex(n[2]), vertex(n[1]), -1}, side);
    }
  }
}

void SurfaceBuilder::add_sphere(NodeId node, double radius, std::int32_t side) {
  const std::int32_t v = vertex(node);
  surface_.set_radius(v, radius);
  surface_.add_simplex({v, -1, -1}, side);
}

std::int32_t SurfaceBuilder::rigid(const std::array<double, 3>& place, double radius, const RigidMotion& motion) {
  ContactSurface::Vertex vertex;
  vertex.place = place;
  vertex.motion = motion;
  vertex.radius = radius;
  return surface_.add_vertex(vertex);
}

void SurfaceBuilder::add_rigid_sphere(const std::array<double, 3>& centre, double radius, const RigidMotion& motion) {
  surface_.add_simplex({rigid(centre, radius, motion), -1, -1}, ContactSurface::both);
}

void SurfaceBuilder::add_rigid_rod(const std::array<double, 3>& a, const std::array<double, 3>& b, double radius,
                                   const RigidMotion& motion) {
  surface_.add_simplex({rigid(a, radius, motion), rigid(b, radius, motion), -1}, ContactSurface::both);
}

void SurfaceBuilder::add_hollow_sphere(const std::array<double, 3>& centre, double radius, const RigidMotion& motion) {
  surface_.add_hollow({rigid(centre, radius, motion), -1});
}

void SurfaceBuilder::add_hollow_rod(const std::array<double, 3>& a, const std::array<double, 3>& b, double radius,
                                    const RigidMotion& motion) {
  surface_.add_hollow({rigid(a, radius, motion), rigid(b, radius, motion)});
}

void SurfaceBuilder::add_rigid_face(std::span<const std::array<double, 3>> corners, const RigidMotion& motion) {
  std::array<std::int32_t, 3> vertices{-1, -1, -1};
  for (std::size_t k = 0; k < corners.size(); ++k) vertices[k] = rigid(corners[k], 0.0, motion);
  surface_.add_simplex(vertices, ContactSurface::both);
}

void SurfaceBuilder::add_rigid_box(const std::array<double, 3>& low, const std::array<double, 3>& high,
                                   const RigidMotion& motion) {
  const auto d = static_cast<std::size_t>(surface_.dim());
  std::array<std::int32_t, 8> corner{};
  for (std::size_t k = 0; k < (d == 3 ? 8u : 4u); ++k) {
    std::array<double, 3> x{};
    for (std::size_t c = 0; c < d; ++c) x[c] = (k >> c & 1) != 0 ? high[c] : low[c];
    corner[k] = rigid(x, 0.0, motion);
  }
  if (d == 2) {
    for (const auto& [a, b] : {std::pair{0, 1}, std::pair{1, 3}, std::pair{3, 2}, std::pair{2, 0}})
      surface_.add_simplex({corner[static_cast<std::size_t>(a)], corner[static_cast<std::size_t>(b)], -1},
                           ContactSurface::both);
    return;
  }
  for (const std::size_t axis : {std::size_t{1}, std::size_t{2}, std::size_t{4}})
    for (const std::size_t side : {std::size_t{0}, axis}) {  // bits of the two other axes
      const std::size_t u = axis == 1 ? 2 : 1, v = axis == 4 ? 2 : 4;
      const std::array<std::int32_t, 4> q = {corner[side], corner[side + u], corner[side + u + v], corner[side + v]};
      surface_.add_simplex({q[0], q[1], q[2]}, ContactSurface::both);
      surface_.add_simplex({q[0], q[2], q[3]}, ContactSurface::both);
    }
}

}  // namespace tempi
