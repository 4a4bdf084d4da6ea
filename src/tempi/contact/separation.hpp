// SPDX-License-Identifier: Apache-2.0
// Whether two simplices, whose vertices go along piecewise straight paths, ever come closer than a distance: certified,
// so that no rounding makes it miss a case.
//
// For any direction n the distance of two convex sets is at least (min over a of n . a - max over b of n . b) / |n|,
// and while vertices go straight both sides are linear in time: their values at the ends of a piece bound it for all
// times between. So a span of time is cleared by one direction, that of the closest points in its middle, or it is
// halved. The direction may be as wrong as it likes: what it proves is proved, less a bound on the rounding of these
// products. What comes within 1e-6 of the distance counts as closer (decision 0017 tells why this instead of inclusion
// in boxes of barycentric coordinates).
#pragma once

#include <array>
#include <span>

#include "tempi/contact/closest_points.hpp"

namespace tempi {

// Where a vertex is at a time, straight from one to the next.
struct Bend {
  double time;
  std::array<double, 3> place;  // [m]
};
using Path = std::span<const Bend>;  // times ascending; at least one, and those asked for lie within

// Where the path is at time t, to rounding.
std::array<double, 3> place_at(Path path, double t);

// A path as one straight piece from one time to another, and how far it strays from that [m].
struct Chord {
  std::array<double, 3> begin, end;
  double stray;
};
Chord chord_of(Path path, double from, double to);

// True only if the simplices stay farther apart than `distance` [m] >= 0, as their chords tell; most that do. Of a pair
// within: only if it stays nearer than that.
bool chords_stay_apart(SimplexPair pair, std::span<const Chord> chords, double distance);

// False only if the simplices stay farther apart than `distance` [m] >= 0 all the time from `from` to `to`; true if
// they do not, or come within rounding and 1e-6 of it. `paths`: as many as the pair has vertices. What is not finite
// counts as closer. Of a pair within: the same of going farther, which it does first where paths bend (the distance to
// what is convex and goes straight is convex in time; both ends of an axis go the same way).
bool ever_closer(SimplexPair pair, std::span<const Path> paths, double from, double to, double distance);

}  // namespace tempi
