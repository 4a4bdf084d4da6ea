// SPDX-License-Identifier: Apache-2.0
// The laws of pairs on packs, by the formulas of pair_laws.hpp: V and V'/r of r^2, and V''; anything beyond the reach.
// Made of their parameters, parameter(i) a pack: the same in all lanes, or of each lane's own pair. Include in
// pair_kernels_*.cpp only, once per instruction set.
#pragma once

#include "tempi/pair/pair_kernels.hpp"
#include "tempi/simd/pack.hpp"
#include "tempi/simd/pack_functions.hpp"

namespace tempi {

template <class P>
struct SameInAllLanes {
  const PackedLaw& law;
  P operator()(std::size_t i) const { return P(law.parameters[i]); }
  P reach() const { return P(law.reach); }
};
template <class P>
struct OfEachLane {
  const double* lanes;
  P operator()(std::size_t i) const { return P::load(lanes + i * static_cast<std::size_t>(P::width)); }
  P reach() const { return (*this)(PackedLaw{}.parameters.size()); }
};

// visit(the parameters of a pack)
template <class P, class Visit>
auto with_parameters(const PackedPairs& pairs, Index pack, Visit&& visit) {
  if (pairs.lanes == nullptr) return visit(SameInAllLanes<P>{pairs.law});
  constexpr auto numbers = static_cast<Index>((PackedLaw{}.parameters.size() + 1) * P::width);
  return visit(OfEachLane<P>{pairs.lanes + pack * numbers});
}

template <class P>
struct PackedPairValues {
  P V, slope_over_r;
};

template <class P>
struct PackedLennardJones {  // sigma^2, 4 epsilon, V(cutoff) before the shift
  static constexpr bool by_masses = false;
  P sigma2, depth, shift;
  template <class Parameters>
  PackedLennardJones(const Parameters& parameter, const PackedLaw&)
      : sigma2(parameter(0)), depth(parameter(1)), shift(parameter(2)) {}
  PackedPairValues<P> operator()(P r2) const {
    const P inverse = P(1.0) / r2, s2 = sigma2 * inverse, s6 = s2 * s2 * s2;
    return {depth * s6 * (s6 - P(1.0)) - shift, P(-6.0) * depth * s6 * (s6 + s6 - P(1.0)) * inverse};
  }
  P curvature(P r2) const {
    const P inverse = P(1.0) / r2, s2 = sigma2 * inverse, s6 = s2 * s2 * s2;
    return P(6.0) * depth * s6 * (P(26.0) * s6 - P(7.0)) * inverse;
  }
};

template <class P>
struct PackedMorse {  // depth, inverse width, length
  static constexpr bool by_masses = false;
  P depth, inverse_width, length;
  template <class Parameters>
  PackedMorse(const Parameters& parameter, const PackedLaw&)
      : depth(parameter(0)), inverse_width(parameter(1)), length(parameter(2)) {}
  PackedPairValues<P> operator()(P r2) const {
    const P r = sqrt(r2), q = -expm1((length - r) * inverse_width);
    return {depth * q * q, P(2.0) * depth * inverse_width * q * (P(1.0) - q) / r};
  }
  P curvature(P r2) const {
    const P q = -expm1((length - sqrt(r2)) * inverse_width), e = P(1.0) - q;
    return P(2.0) * depth * inverse_width * inverse_width * e * (e - q);
  }
};

template <class P>
struct PackedSpring {  // stiffness, length
  static constexpr bool by_masses = false;
  P stiffness, length;
  template <class Parameters>
  PackedSpring(const Parameters& parameter, const PackedLaw&) : stiffness(parameter(0)), length(parameter(1)) {}
  PackedPairValues<P> operator()(P r2) const {
    const P r = sqrt(r2), q = r - length;
    return {P(0.5) * stiffness * q * q, stiffness * q / r};
  }
  P curvature(P) const { return stiffness; }
};

template <class P>
struct PackedTanhSpring {  // strength, 1/(2 width), length
  static constexpr bool by_masses = false;
  P strength, rate, length;
  template <class Parameters>
  PackedTanhSpring(const Parameters& parameter, const PackedLaw&)
      : strength(parameter(0)), rate(parameter(1)), length(parameter(2)) {}
  // With E = e^s - 1, s = |x| up to where tanh is one: cosh x = 1 + E^2 / (2 (1 + E)).
  struct Stretch {
    P x, beyond, E, square;
  };
  Stretch stretch(P r) const {
    const P most(300.0), x = (r - length) * rate, size(x.v < 0.0 ? -x.v : x.v), s(size.v < most.v ? size.v : most.v);
    const P E = expm1(s);
    return {x, size - s, E, E * E};
  }
  static P tanh(const Stretch& at) {  // E (2 + E) / (2 + 2 E + E^2)
    const P size = at.E * (P(2.0) + at.E) / (P(2.0) + P(2.0) * at.E + at.square);
    return P(at.x.v < 0.0 ? -size.v : size.v);
  }
  PackedPairValues<P> operator()(P r2) const {
    const P r = sqrt(r2);
    const Stretch at = stretch(r);
    const P log_cosh = log1p(at.square / (P(2.0) + P(2.0) * at.E)) + at.beyond;
    return {strength / rate * log_cosh, strength * tanh(at) / r};
  }
  P curvature(P r2) const {
    const Stretch at = stretch(sqrt(r2));
    const P cosh = P(1.0) + at.square / (P(2.0) + P(2.0) * at.E);
    return strength * rate / cosh / cosh;
  }
};

template <class P>
struct PackedGravitation {  // G
  static constexpr bool by_masses = true;
  P G;
  template <class Parameters>
  PackedGravitation(const Parameters& parameter, const PackedLaw&) : G(parameter(0)) {}
  PackedPairValues<P> operator()(P r2) const {
    const P V = -G / sqrt(r2);
    return {V, -V / r2};
  }
  P curvature(P r2) const { return P(-2.0) * G / (sqrt(r2) * r2); }
};

template <class P>
struct PackedHertz {  // stiffness, length
  static constexpr bool by_masses = false;
  P stiffness, length;
  template <class Parameters>
  PackedHertz(const Parameters& parameter, const PackedLaw&) : stiffness(parameter(0)), length(parameter(1)) {}
  PackedPairValues<P> operator()(P r2) const {
    const P r = sqrt(r2), gap = length - r, overlap(gap.v > 0.0 ? gap.v : 0.0 * gap.v);
    const P force = stiffness * overlap * sqrt(overlap);
    return {P(0.4) * force * overlap, -force / r};
  }
  P curvature(P r2) const {
    const P gap = length - sqrt(r2), overlap(gap.v > 0.0 ? gap.v : 0.0 * gap.v);
    return P(1.5) * stiffness * sqrt(overlap);
  }
};

template <class P>
struct PackedSpheres {  // 4/3 E*; with the radii of both
  P modulus;
  template <class Parameters>
  PackedSpheres(const Parameters& parameter, const PackedLaw&) : modulus(parameter(0)) {}
  PackedPairValues<P> operator()(P r2, P a, P b) const {
    const P r = sqrt(r2), sum = a + b, gap = sum - r, overlap(gap.v > 0.0 ? gap.v : 0.0 * gap.v);
    const P force = modulus * sqrt(a * b / sum) * overlap * sqrt(overlap);
    return {P(0.4) * force * overlap, -force / r};
  }
};

template <class P, class Law>
struct PackedPart {  // S V; the switches as in LawPart
  static constexpr bool by_masses = Law::by_masses;
  Law law;
  P rise, rise_rate, fall, fall_rate;
  template <class Parameters>
  PackedPart(const Parameters& parameter, const PackedLaw& packed)
      : law(parameter, packed),
        rise(packed.switches[0]),
        rise_rate(packed.switches[1]),
        fall(packed.switches[2]),
        fall_rate(packed.switches[3]) {}
  static P way_of(P r, P begin, P rate) {  // x
    const P zero(0.0), one(1.0), t = (r - begin) * rate, low(t.v > zero.v ? t.v : zero.v);
    return P(low.v < one.v ? low.v : one.v);
  }
  static PackedPairValues<P> switched(P r, P begin, P rate) {  // s and its slope
    const P x = way_of(r, begin, rate), y = P(1.0) - x;
    return {x * x * x * (P(10.0) + x * (P(6.0) * x - P(15.0))), P(30.0) * x * x * y * y * rate};
  }
  static P bending(P r, P begin, P rate) {  // the curvature of s
    const P x = way_of(r, begin, rate), y = P(1.0) - x;
    return P(60.0) * x * y * (y - x) * rate * rate;
  }
  PackedPairValues<P> operator()(P r2) const {
    const P r = sqrt(r2);
    const auto [V, slope_over_r] = law(r2);
    const auto [risen, rising] = switched(r, rise, rise_rate);
    const auto [gone, going] = switched(r, fall, fall_rate);
    const P s = risen - gone;
    return {s * V, s * slope_over_r + (rising - going) * V / r};
  }
  P curvature(P r2) const {
    const P r = sqrt(r2);
    const auto [V, slope_over_r] = law(r2);
    const auto [risen, rising] = switched(r, rise, rise_rate);
    const auto [gone, going] = switched(r, fall, fall_rate);
    const P bent = bending(r, rise, rise_rate) - bending(r, fall, fall_rate);
    return (risen - gone) * law.curvature(r2) + P(2.0) * (rising - going) * slope_over_r * r + bent * V;
  }
};

}  // namespace tempi
