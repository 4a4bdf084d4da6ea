// SPDX-License-Identifier: Apache-2.0
// Where the rigid vertices of a contact's surface are: at rest, at a constant velocity, or where formulas have them at
// whole ticks, and straight between, as nodes go between kicks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tempi/contact/contact_surface.hpp"
#include "tempi/contact/separation.hpp"
#include "tempi/core/aligned_vector.hpp"
#include "tempi/potential/batch.hpp"

namespace tempi {

class RigidPaths {
 public:
  using Vector = std::array<double, 3>;

  RigidPaths() = default;
  // Of all vertices of the surface, which has to outlive it; `tick` [s].
  RigidPaths(const ContactSurface& surface, double tick);

  // Its line; vertices by their numbers in the surface, all of them rigid. `set_lines` puts those that follow formulas
  // on the way that they take at `now` [ticks].
  NodeLine* line(std::size_t vertex) { return &lines_[place_of(vertex)]; }
  void set_lines(double now);

  Vector place(std::size_t vertex, double now) const;     // at a time [ticks]
  Vector velocity(std::size_t vertex, double now) const;  // [m/s]; where it bends the mean of before and after
  double speed(std::size_t vertex) const;                 // that it does not exceed in the window [m/s]

  // A window of time begins [ticks]: paths are there, from now on. Whether something goes faster than its speed has
  // been until now. Throws SolveError: a formula without a finite value.
  bool begin(double from, double to);
  Path path(std::size_t vertex) const { return paths_[place_of(vertex)]; }

 private:
  struct Course {  // that follows formulas
    const VectorExpression* displacement;
    std::vector<Vector> at;  // of the window's ticks, and one before and behind
    Index first = 0;         // of these
    double speed = 0.0;      // [m/s]
  };
  struct Rigid {
    Vector start, velocity;
    double speed;
    std::int32_t course;  // -1: none
  };

  std::size_t place_of(std::size_t vertex) const { return static_cast<std::size_t>(place_of_vertex_[vertex]); }
  Vector at_tick(const Course& course, Index tick) const;
  Vector rate(const Course& course, Index tick) const;  // from this tick to the next [m/s]

  double tick_ = 0.0;
  std::vector<std::int32_t> place_of_vertex_;  // -1: not rigid
  std::vector<Rigid> rigid_;
  std::vector<Course> courses_;
  AlignedVector<NodeLine> lines_;
  std::vector<std::vector<Bend>> paths_;
};

}  // namespace tempi
