// SPDX-License-Identifier: Apache-2.0
// Potentials V(r) [J] of the distance r [m] between two particles, with V'(r) and V''(r). A positive slope attracts.
// Any consistent units. Parameters are checked where a law is used, by check().
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <variant>

#include "tempi/core/expression.hpp"

namespace tempi {

struct PairValues {
  double V;          // [J]
  double slope;      // V' [N]
  double curvature;  // V'' [N/m]
};

// V = 4 epsilon ((sigma/r)^12 - (sigma/r)^6). With a cutoff it is zero from there on and V less V(cutoff) before: the
// energy is continuous, the force jumps (as LAMMPS does with pair_style lj/cut and pair_modify shift yes). Energy is
// kept the worse the larger that jump: 2.5 sigma leaves 0.039 epsilon/sigma.
struct LennardJones {
  double epsilon;                // [J], > 0
  double sigma;                  // [m], > 0
  std::optional<double> cutoff;  // [m], > 0
  PairValues at(double r) const;
};

// V = depth (1 - exp(-(r - length) inverse_width))^2, Morse (1929); the stiffness at rest is 2 depth inverse_width^2.
struct Morse {
  double depth;          // [J], > 0
  double inverse_width;  // [1/m], > 0
  double length;         // [m], > 0
  PairValues at(double r) const;
};

// V = stiffness/2 (r - length)^2.
struct Spring {
  double stiffness;  // [N/m], > 0
  double length;     // [m], >= 0
  PairValues at(double r) const;
};

// V = 2 strength width ln cosh((r - length) / (2 width)), Gates, Matous, Heath (2008), eqs. (39), (40): the force
// tends to `strength`, the stiffness at rest is strength / (2 width).
struct TanhSpring {
  double strength;  // c [N], > 0
  double width;     // d [m], > 0
  double length;    // l_0 [m], >= 0
  PairValues at(double r) const;
};

// V = -G/r for unit masses; a pair's own are factors of its own.
struct Gravitation {
  double G;  // [N m^2/kg^2], > 0
  PairValues at(double r) const;
};

// V = 2/5 stiffness max(length - r, 0)^(5/2): spheres in contact, force stiffness overlap^(3/2).
struct Hertz {
  double stiffness;  // [N/m^(3/2)], > 0
  double length;     // sum of the radii [m], > 0
  PairValues at(double r) const;
};

// V of a user's formula of the distance (Expression::of). Derivatives by fourth-order differences of spacing r/1000: V'
// and V'' are in error by about 4e-12 and 2e-10 of themselves for 1/r, by 2e-9 and 7e-10 for 1/r^12, by more across a
// kink. The forces derive from a potential all the same, as any do that depend on the distance alone. Slow: five
// evaluations each, by one thread at a time.
class UserLaw {
 public:
  explicit UserLaw(Expression V);  // throws InputError when it depends on time
  PairValues at(double r) const;

 private:
  Expression V_;
  std::unique_ptr<std::mutex> one_at_a_time_;
};

using WholeLaw = std::variant<LennardJones, Morse, Spring, TanhSpring, Gravitation, Hertz, UserLaw>;

// A part of a law by distance, S(r) V(r): S rises smoothly from 0 to 1 between two distances, falls between two others,
// and the parts of one law sum to it. Parts with steps of their own are r-RESPA by distance (Tuckerman, Berne, Martyna
// 1992): near pairs are struck often, far ones seldom, and no pair ever changes a step, it only goes from one part to
// the next.
class LawPart {
 public:
  // s = x^3 (10 - 15 x + 6 x^2), x = (r - begin) / (end - begin) between 0 and 1: two continuous derivatives.
  struct Switch {
    double begin, end;  // [m], 0 <= begin < end
    PairValues at(double r) const;
  };
  // Throws InputError: a switch out of range, a fall that begins before the rise ends.
  LawPart(WholeLaw law, std::optional<Switch> rise, std::optional<Switch> fall);

  PairValues at(double r) const;
  const WholeLaw& whole() const { return whole_; }
  const std::optional<Switch>& rise() const { return rise_; }
  const std::optional<Switch>& fall() const { return fall_; }

 private:
  WholeLaw whole_;
  std::optional<Switch> rise_, fall_;
};

using PairLaw = std::variant<LennardJones, Morse, Spring, TanhSpring, Gravitation, Hertz, UserLaw, LawPart>;

inline PairValues evaluate(const PairLaw& law, double r) {
  return std::visit([r](const auto& l) { return l.at(r); }, law);
}

// The distance from which on V is zero [m]; none for laws that reach everywhere.
std::optional<double> reach(const PairLaw& law);
bool multiplies_by_masses(const PairLaw& law);

void check(const PairLaw& law);  // throws InputError: name, value and unit of the parameter that is out of range

}  // namespace tempi
