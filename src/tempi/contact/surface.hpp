// SPDX-License-Identifier: Apache-2.0
// The outer surface of a mesh: flat triangles on its nodes in space, edges in a plane.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "tempi/contact/contact_surface.hpp"
#include "tempi/mesh/facets.hpp"

namespace tempi {

using SurfaceTriangle = std::array<NodeId, 3>;  // its normal points out of the body

// 3-node facets as they are, 6-node ones as four. Other facets have none.
std::vector<SurfaceTriangle> surface_triangles(const Mesh& mesh, std::span<const CellFacet> facets);

// Puts together what may touch, on the nodes of a mesh (of cells and particles).
class SurfaceBuilder {
 public:
  explicit SurfaceBuilder(const Mesh& mesh);

  // Outer facets, of a side (ContactSurface::first, second, both); 3-node edges as two.
  void add_facets(const Mesh& of, std::span<const CellFacet> facets, std::int32_t side);
  // A sphere around a node, or with radius 0 a point [m].
  void add_sphere(NodeId node, double radius, std::int32_t side);
  // Things at rest or moving, which touch both sides: a sphere; a rod, its axis from `a` to `b`; a box.
  void add_rigid_sphere(const std::array<double, 3>& centre, double radius, const RigidMotion& motion);
  void add_rigid_rod(const std::array<double, 3>& a, const std::array<double, 3>& b, double radius,
                     const RigidMotion& motion);
  // Hollow ones, for all that is within.
  void add_hollow_sphere(const std::array<double, 3>& centre, double radius, const RigidMotion& motion);
  void add_hollow_rod(const std::array<double, 3>& a, const std::array<double, 3>& b, double radius,
                      const RigidMotion& motion);
  // An edge or a face by its corners.
  void add_rigid_face(std::span<const std::array<double, 3>> corners, const RigidMotion& motion);
  void add_rigid_box(const std::array<double, 3>& low, const std::array<double, 3>& high, const RigidMotion& motion);

  ContactSurface build() && { return std::move(surface_); }

 private:
  std::int32_t vertex(NodeId node);
  std::int32_t rigid(const std::array<double, 3>& place, double radius, const RigidMotion& motion);

  const Mesh& mesh_;
  ContactSurface surface_;
  std::vector<std::int32_t> of_node_;  // -1: none yet
};

}  // namespace tempi
