// SPDX-License-Identifier: Apache-2.0
// The kernels of pair potentials: W pairs at once, by the formulas of pair_laws.hpp. Include in
// pair_kernels_*.cpp only, once per instruction set.
#pragma once

#include <array>
#include <limits>

#include "tempi/pair/packed_laws.hpp"
#include "tempi/potential/follow_terms.hpp"
#include "tempi/potential/kept_impulses.hpp"
#include "tempi/space/find_near_points.hpp"

namespace tempi {

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
    return with_parameters<P>(pairs, pack,
                              [&](const auto& parameters) { return finish(parameters, pairs.law, r2, factor, w); });
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

  // dV/dx of the second node, as it changes with a difference v of displacements: V'' along the pair, V'/r across it.
  static std::array<P, 3> change_of(const PackedPairs& pairs, Index pack, std::array<P, 3> w,
                                    const std::array<P, 3>& v) {
    const P r2 = nearest(pairs, w), along = (w[0] * v[0] + w[1] * v[1] + w[2] * v[2]) / r2, zero(0.0);
    const P factor = P::load(pairs.geometry + (pack * 4 + 3) * static_cast<Index>(W));
    return with_parameters<P>(pairs, pack, [&](const auto& parameters) {
      const Law law(parameters, pairs.law);
      const P reach = parameters.reach(), reach2 = reach * reach;
      const auto within = [&](P x) { return factor * P(r2.v < reach2.v ? x.v : zero.v); };
      const P slope_over_r = within(law(r2).slope_over_r), more = within(law.curvature(r2)) - slope_over_r;
      std::array<P, 3> change;
      for (std::size_t c = 0; c < 3; ++c) change[c] = slope_over_r * v[c] + more * along * w[c];
      return change;
    });
  }

  [[gnu::flatten]] static void change(const PackedPairs& pairs, const std::int32_t* shift_places, Index first,
                                      Index last, int dim, NodeLine* nodes, const NodeShift* shifts, double* impulses) {
    for (Index pack = first; pack < last; ++pack) {
      const std::int32_t* place = pairs.places + pack * static_cast<Index>(2 * W);
      const std::int32_t* shift_place = shift_places + pack * static_cast<Index>(2 * W);
      std::array<P, 3> a, v, q;
      gather<3>(shifts, shift_place, a.data());
      gather<3>(shifts, shift_place + W, v.data());
      for (std::size_t c = 0; c < 3; ++c) v[c] = v[c] - a[c];
      const std::array<P, 3> p = change_of(pairs, pack, difference(pairs, pack, nodes), v);
      for (std::size_t c = 0; c < 3; ++c) q[c] = -p[c];
      scatter<3>(nodes, place, p.data());
      scatter<3>(nodes, place + W, q.data());
      if (impulses == nullptr) continue;
      const auto d = static_cast<std::size_t>(dim);
      for (std::size_t lane = 0; lane < W; ++lane, impulses += 2 * d)
        for (std::size_t c = 0; c < d; ++c) {
          impulses[c] = p[c].v[lane];
          impulses[d + c] = q[c].v[lane];
        }
    }
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
