// SPDX-License-Identifier: Apache-2.0
// When a potential energy along a straight flight, V(s) = V(x + s v), first leaves a band of levels [low, high]:
// SMALLEST-ROOT of Gonzalez (2011), Algorithm 1 and eq. (2.38), without its misprint (the band is the level's, wherever
// in it the flight begins).
//
// No root is skipped that the search claims to find. Between two places where V and V' are known, V lies between the
// parabolas through both ends whose curvature is 1.5 times sum_K |V_K'(b) - V_K'(a)| / (b - a), term by term so that
// nothing cancels, or what V differs by from its slopes' mean, if that is more; places are added until these parabolas
// stay within the band. That is a bound where no term's curvature passes 1.5 times its mean within an interval, and
// intervals are no longer than the flight's horizon, in which its terms change by a tenth; within a millionth of it
// nothing is looked for. Nor beyond a kink of V, where another search begins; before it there is one place more, for
// what begins with the flight and is over at the kink has neither V nor V' at both ends. What leaves the band by less
// than 1e-6 of its width and returns is taken to graze.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {

enum class Edge { none, low, high };

struct Look {                  // at one place of a flight
  double s = 0.0;              // [s]
  double V = 0.0, rate = 0.0;  // [J], dV/ds [W]
  double magnitude = 0.0;      // sum_K |V_K| [J], whose rounding V has
  std::vector<double> rates;   // dV_K/ds of each term [W], and zeros
};

class Flight {
 public:
  virtual ~Flight() = default;
  virtual void look(double s, Look& at) = 0;  // fills in all but s; V is not finite where a term is not admissible
  virtual double horizon() const = 0;         // [s], see above; infinite: nothing within a term moves
  // Where V'' jumps for the first time [s]: no exit is looked for beyond.
  virtual double kink() const { return std::numeric_limits<double>::infinity(); }
};

struct Exit {
  double s = 0.0;          // [s]
  Edge edge = Edge::none;  // none: it does not leave before s, nor at s where that is finite
  double curvature = 0.0;  // of V there, about [W/s]: a guess for the next flight
};

class LevelSearch {
 public:
  // From s = 0. `standing`: the edge on which the flight begins, towards the inside; none: anywhere inside.
  // `curvature`: a guess, whose goodness costs or saves looks. `resolution` [s]: times nearer than that are the same.
  Exit first_exit(Flight& flight, double low, double high, Edge standing, double curvature, double resolution);

  Index looks() const { return looks_; }  // so far
  void count_from(Index looks) { looks_ = looks; }

 private:
  using Place = std::unique_ptr<Look>;
  Place take(Flight& flight, double s);
  void give_back(Place place) { spare_.push_back(std::move(place)); }
  Exit ended(Exit exit);

  Place from_;                // inside, up to where no exit is
  std::vector<Place> ahead_;  // known places behind it, the nearest last
  std::vector<Place> spare_;
  Index looks_ = 0, looks_here_ = 0;  // in all, of this search
};

}  // namespace tempi
