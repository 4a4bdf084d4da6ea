// SPDX-License-Identifier: Apache-2.0
// The kernels of pair potentials: W pairs at once, by the formulas of pair_laws.hpp. Include in
// pair_kernels_*.cpp only, once per instruction set.
#pragma once

#include <array>
#include <limits>

#include "tempi/pair/pair_kernels.hpp"
#include "tempi/potential/follow_terms.hpp"
#include "tempi/potential/kept_impulses.hpp"
#include "tempi/space/find_near_points.hpp"

namespace tempi {

// ---- laws: V and V'/r of r^2; anything beyond the reach ----
//
// Made of their parameters, parameter(i) a pack: the same in all lanes, or of each lane's own pair.

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
  static PackedPairValues<P> switched(P r, P begin, P rate) {  // s and its slope
    const P zero(0.0), one(1.0), t = (r - begin) * rate, low(t.v > zero.v ? t.v : zero.v);
    const P x(low.v < one.v ? low.v : one.v), y = one - x;
    return {x * x * x * (P(10.0) + x * (P(6.0) * x - P(15.0))), P(30.0) * x * x * y * y * rate};
  }
  PackedPairValues<P> operator()(P r2) const {
    const P r = sqrt(r2);
    const auto [V, slope_over_r] = law(r2);
    const auto [risen, rising] = switched(r, rise, rise_rate);
    const auto [gone, going] = switched(r, fall, fall_rate);
    const P s = risen - gone;
    return {s * V, s * slope_over_r + (rising - going) * V / r};
  }
};

// ---- pairs that are terms of their own ----

template <class P, class Law>
struct PairsAtOnce {
  static constexpr std::size_t W = P::width;
  using Bits = typename P::Bits;
  struct Pair {
    std::array<P, 3> gradient;  // of the second node
    P V;
    Bits admissible;
  };

  // From the first node to the second; then to its nearest image, with the square of that length.
  static std::array<P, 3> difference(const PackedPairs& pairs, Index pack, const NodeLine* nodes) {
    const std::int32_t* place = pairs.places + pack * static_cast<Index>(2 * W);
    const double* geometry = pairs.geometry + pack * static_cast<Index>(4 * W);
    std::array<P, 3> a, b;
    gather<3>(nodes, place, a.data());
    gather<3>(nodes, place + W, b.data());
    for (std::size_t c = 0; c < 3; ++c) b[c] = P::load(geometry + c * W) + (b[c] - a[c]);
    return b;
  }
  static P nearest(const PackedPairs& pairs, std::array<P, 3>& w) {
    P r2(0.0);
    for (std::size_t c = 0; c < 3; ++c) {
      w[c] = nearest_image(w[c], pairs.box.length[c], pairs.box.inverse[c]);
      r2 = r2 + w[c] * w[c];
    }
    return r2;
  }

  static Pair evaluate(const PackedPairs& pairs, Index pack, std::array<P, 3> w) {
    const P r2 = nearest(pairs, w);
    const P factor = P::load(pairs.geometry + (pack * 4 + 3) * static_cast<Index>(W));
    if (pairs.lanes == nullptr) return finish(SameInAllLanes<P>{pairs.law}, pairs.law, r2, factor, w);
    constexpr auto numbers = static_cast<Index>((PackedLaw{}.parameters.size() + 1) * W);
    return finish(OfEachLane<P>{pairs.lanes + pack * numbers}, pairs.law, r2, factor, w);
  }

  template <class Parameters>
  static Pair finish(const Parameters& parameters, const PackedLaw& law, P r2, P factor, const std::array<P, 3>& w) {
    const auto [V, slope_over_r] = Law(parameters, law)(r2);
    const P reach = parameters.reach(), reach2 = reach * reach, zero(0.0);
    const Bits near = r2.v < reach2.v;
    const P f(near ? (factor * slope_over_r).v : zero.v);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Bits admissible = (r2.v > 0.0) & (r2.v < infinity) & (f.v < infinity) & (f.v > -infinity);
    return {{f * w[0], f * w[1], f * w[2]}, P(near ? (factor * V).v : zero.v), admissible};
  }

  template <bool watched>
  [[gnu::flatten]] static bool strike(const PackedPairs& pairs, Index first, Index last, double step, NodeLine* nodes,
                                      double* energies, double* kept) {
    Bits admissible = ~Bits{};
    for (Index pack = first; pack < last; ++pack) {
      const std::array<P, 3> w = difference(pairs, pack, nodes);
      const Pair pair = evaluate(pairs, pack, w);
      admissible &= pair.admissible;
      std::array<P, 3> p, q;
      for (std::size_t c = 0; c < 3; ++c) {
        p[c] = P(step) * pair.gradient[c];
        q[c] = -p[c];
      }
      if constexpr (watched) {  // by itself: the bits of forces stay
        evaluate(pairs, pack, {apart(w[0]), apart(w[1]), apart(w[2])}).V.store(energies);
        energies += W;
        for (std::size_t c = 0; c < 3; ++c, kept += W) q[c].store(kept);
      }
      const std::int32_t* place = pairs.places + pack * static_cast<Index>(2 * W);
      scatter<3>(nodes, place, p.data());
      scatter<3>(nodes, place + W, q.data());
    }
    for (std::size_t lane = 0; lane < W; ++lane)
      if (admissible[lane] == 0) return false;
    return true;
  }

  static void works(const PackedPairs& pairs, Index packs, Index first, Index last, const NodeMean* means,
                    const double* kept, double* kinetic, double* work) {
    KeptImpulses<P, 2, 3>::works(pairs.places, packs, first, last, means, kept, kinetic, work);
  }

  [[gnu::flatten]] static void measure(const PackedPairs& pairs, Index first, Index last, int dim,
                                       const NodeLine* nodes, double* energies, double* gradients) {
    const auto d = static_cast<std::size_t>(dim);
    for (Index pack = first; pack < last; ++pack) {
      const Pair pair = evaluate(pairs, pack, difference(pairs, pack, nodes));
      for (std::size_t lane = 0; lane < W; ++lane, gradients += 2 * d) {
        *energies++ = pair.V.v[lane];
        for (std::size_t c = 0; c < d; ++c) {
          gradients[c] = -pair.gradient[c].v[lane];
          gradients[d + c] = pair.gradient[c].v[lane];
        }
      }
    }
  }

  using Followed = FollowedTerms<P, 2, 3>;

  [[gnu::flatten]] static double depart(const PackedPairs& pairs, Index first, Index last, const NodeLine* nodes,
                                        double rounding, double* flight) {
    Approach<P> least;
    for (Index pack = first; pack < last; ++pack, flight += 2 * Followed::row * W) {
      const std::int32_t* place = pairs.places + pack * static_cast<Index>(2 * W);
      std::array<P, 3> w = difference(pairs, pack, nodes), a, b;
      gather_velocities<3>(nodes, place, a.data());
      gather_velocities<3>(nodes, place + W, b.data());
      P speed(0.0);
      for (std::size_t c = 0; c < 3; ++c) {
        b[c] = b[c] - a[c];
        speed = speed + b[c] * b[c];
        w[c].store(flight + c * W);
        b[c].store(flight + (3 + c) * W);
      }
      least.next_terms();
      least.add(nearest(pairs, w), speed, rounding);
    }
    return least.value();
  }

  [[gnu::flatten]] static Batch::Followed follow(const PackedPairs& pairs, Index first, Index last, double s,
                                                 const double* flight, double* rates, double* kept) {
    Followed found;
    for (Index pack = first; pack < last; ++pack) {
      std::array<P, 3> w;
      for (std::size_t c = 0; c < 3; ++c) w[c] = P::load(flight + c * W) + P(s) * P::load(flight + (3 + c) * W);
      const Pair pair = evaluate(pairs, pack, w);
      found.add_energies(P(pair.admissible ? pair.V.v : P(std::numeric_limits<double>::quiet_NaN()).v));
      for (std::size_t c = 0; c < 3; ++c) pair.gradient[c].store(kept + c * W);
      found.add_rates(kept, flight, rates);
    }
    return found.sums();
  }

  [[gnu::flatten]] static void add_gradient(const PackedPairs& pairs, Index first, Index last, int dim,
                                            const double* kept, double* gradient) {
    for (Index pack = first; pack < last; ++pack, kept += 3 * W)
      Followed::add_gradients(kept, pairs.places + pack * static_cast<Index>(2 * W), static_cast<std::size_t>(dim),
                              gradient);
  }
};

}  // namespace tempi
