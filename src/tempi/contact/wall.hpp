// SPDX-License-Identifier: Apache-2.0
// Obstacles at rest: planes, spheres, cylinders, boxes; met exactly, as the set constraint g(x) >= 0 of Gonzalez
// (2011), eq. (2.92), by a penalty on the nodes beyond them, V = sum_a min(0, g(x_a))^2 / (2 epsilon), eqs. (3.90),
// (3.91) (with a unit normal, unlike the thesis' example), or by spheres around nodes that touch them by Hertz's law,
// V = sum_a 2/5 K_a max(0, R_a - g(x_a))^(5/2).
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "tempi/potential/potential.hpp"

namespace tempi {

struct Wall {
  enum class Shape { plane, sphere, cylinder, box };  // cylinder: without ends, in space only
  Shape shape = Shape::plane;
  std::array<double, 3> point{};      // on the plane, on the cylinder's axis; the sphere's centre; the box's low corner
  std::array<double, 3> direction{};  // the plane's normal, towards where bodies are; the cylinder's axis; any length
  std::array<double, 3> high{};       // the box's other corner
  double radius = 0.0;                // [m]
  bool inside = false;                // bodies are in the sphere or the cylinder, not around it; a box is solid
};

// Throws InputError: a direction without length, a radius that is not positive, a box without extent, a solid box or a
// plane that is said to be hollow, what is not finite. `dim`: components beyond it do not count. Returns it with a
// direction of unit length.
Wall checked(Wall wall, int dim);

struct Gap {
  double distance;               // [m]; negative beyond the wall; outside a box only its sign means something
  std::array<double, 3> normal;  // of unit length, out of the wall
};
// Of a `checked` wall from x; `x` has three components.
Gap gap(const Wall& wall, const std::array<double, 3>& x);

// When x + s v, s >= 0, first goes beyond the wall [s]; infinite: never. One that stands on it and leaves does not.
double time_to_reach(const Wall& wall, const std::array<double, 3>& x, const std::array<double, 3>& v);

// The penalty on `nodes`, each a term of its own, which brings no mass and never degenerates. The stable step of terms
// tells nothing of it, as nobody touches the wall yet: steps have to be within 2 sqrt(epsilon m). `reference` [m]: dim
// components a node. Throws InputError: a penalty [m/N] that is not positive.
std::unique_ptr<Potential> make_wall_contact(std::span<const double> reference, int dim, std::vector<NodeId> nodes,
                                             const Wall& wall, double penalty);

// The same of spheres; planes and spheres only, where the area of contact is round. Throws InputError: another wall, a
// radius or stiffness that is not positive, a hollow one in which a sphere has no room.
struct WallSphere {
  NodeId node;
  double radius;     // R [m]
  double stiffness;  // K = 4/3 E* sqrt(R*) [N/m^(3/2)]
};
std::unique_ptr<Potential> make_wall_contact(std::span<const double> reference, int dim,
                                             std::span<const WallSphere> spheres, const Wall& wall);

}  // namespace tempi
