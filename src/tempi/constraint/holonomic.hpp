// SPDX-License-Identifier: Apache-2.0
// Holonomic constraints g_c(x) = 0 on the positions x = X + u of nodes, one scalar equation each (Lew, Marsden, Ortiz,
// West 2004, section 2.5). The methods shake and rattle keep them; no other method does.
//
// g is a length [m] whose gradient is of size one near where it vanishes. It does not depend on time, so constraints do
// no work. Not for what gives way, for friction, or for rolling (which no function of positions can say).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tempi/core/expression.hpp"
#include "tempi/core/ids.hpp"

namespace tempi {

class HolonomicConstraint {
 public:
  virtual ~HolonomicConstraint() = default;

  virtual std::span<const NodeId> stencil() const = 0;  // the nodes it acts on, each once
  // `u` [m]: displacements of all nodes, dim components each.
  virtual double value(std::span<const double> u) const = 0;                               // g [m]
  virtual void gradient(std::span<const double> u, std::span<double> gradient) const = 0;  // dg/dx, dim a stencil node
  // What g is to be small against [m].
  virtual double length() const = 0;
  // Whether it acts between nodes of the model only. What does not gives them momentum from outside.
  virtual bool is_internal() const = 0;
  // For messages: "the distance of nodes 0 and 3".
  virtual std::string describe() const = 0;
};

using Constraints = std::vector<std::unique_ptr<HolonomicConstraint>>;

// Where the nodes of the model are at u = 0: dim components a node [m]. Needed only while constraints are made.
struct Points {
  std::span<const double> positions;
  int dim;
  Index size() const { return static_cast<Index>(positions.size()) / dim; }
};

// Lengths of a periodic box along x, y, z [m]; empty: space does not repeat along that axis. Nodes are held to the
// images that are nearest at u = 0, for good: positions go on counting when they leave the box.
using BoxLengths = std::array<std::optional<double>, 3>;

// All throw InputError: a node that is not there or is given twice, a length that is not positive, no nodes at all.

// g = (r^2 - l^2) / (2 l), r the distance between two nodes; without `length` [m] l is that at u = 0.
Constraints make_distances(const Points& points, std::span<const std::array<NodeId, 2>> pairs,
                           std::optional<double> length = {}, const BoxLengths& box = {});

// The same for the distance of each node from a fixed point: dim components of `anchor` [m] count.
Constraints make_links(const Points& points, std::span<const NodeId> nodes, const std::array<double, 3>& anchor,
                       std::optional<double> length = {});

// g = x_b - x_a, an equation a component: nodes that coincide at u = 0 stay together, as those on the border of two
// parts that were meshed, or are integrated, apart. Linear; keeps linear and angular momentum. Throws InputError for
// nodes that do not coincide, to 1e-9 of the largest coordinate.
Constraints make_coincident(const Points& points, std::span<const std::array<NodeId, 2>> pairs);

// g = F(x) / |grad F(X)|: each node stays where the formula, whose X, Y, Z are here the node's present position,
// vanishes. The gradient is taken by fourth-order differences of spacing extent/1000, in error by about 1e-13 of itself
// while F bends over `extent` [m], by 1e-9 where it bends over a tenth of that. Default: the largest distance of a
// coordinate of any point from zero.
// Throws InputError: F depends on t, or has no finite gradient other than zero where a node is at u = 0.
Constraints make_surface(const Points& points, std::span<const NodeId> nodes, Expression F,
                         std::optional<double> extent = {});

// What makes a rigid body of the nodes, and no more than it takes: dim n - dim(dim+1)/2 equations (3n - 6 in space), or
// n(n-1)/2 of a pair or a triangle. They are distances at u = 0; of more than two nodes on a line, or more than three
// in a plane of space, those of two or three of them, of which the others stay combinations, x_b = sum_i w_i x_i with
// sum_i w_i = 1, an equation a component (3n - 5 on a line in space). Linear; keeps linear and angular momentum.
// Throws InputError: nodes at one place, or that lie on a line or in a plane to 1e-6 of their size but not to 1e-9.
Constraints make_rigid_body(const Points& points, std::span<const NodeId> nodes, const BoxLengths& box = {});

}  // namespace tempi
