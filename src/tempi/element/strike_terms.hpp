// SPDX-License-Identifier: Apache-2.0
// Kernels of W terms at once, whatever the terms: they come as formulas on displacements relative to the first node.
// Include in cell_kernels_*.cpp only, once per instruction set.
//
// Everything is inlined into the kernels (gnu::flatten): left to itself GCC passes matrices of packs through memory, at
// twice the time.
#pragma once

#include <array>
#include <limits>

#include "tempi/element/term_kernel.hpp"
#include "tempi/potential/follow_terms.hpp"
#include "tempi/potential/kept_impulses.hpp"
#include "tempi/simd/pack.hpp"

namespace tempi {

enum class Energy { no, yes, asked };  // asked: where `ask` says so, without a change to the bits of the forces

// What one pack has come to.
template <class P, std::size_t N, std::size_t D>
struct PackSums {
  std::array<std::array<P, D>, N> force;  // `factor` times dV/dx
  P energy;                               // only where it is asked for
  typename P::Bits admissible;

  void require(P positive) {
    admissible &= (positive.v > 0.0) & (positive.v < std::numeric_limits<double>::infinity());
  }
};

// Strikes, looks and so on for terms of one kind:
//   Term::N, D          nodes and dimension
//   Term::per_pack      doubles of geometry
//   Term::add           adds to cleared sums `factor` dV/dx of all nodes but the first, V where asked for, and whether
//                       the term can be there, of displacements e relative to the first node
//   Term::add_change    adds to cleared forces minus the change of dV/dx with displacements w, all relative as well;
//                       looks at e only where Term::stiffness_varies with it
template <class P, class Term>
struct TermsAtOnce {
  static constexpr std::size_t D = Term::D, N = Term::N, W = P::width;
  using Local = std::array<std::array<P, D>, N>;
  using Bits = typename P::Bits;
  using Sums = PackSums<P, N, D>;

  // Displacements of a pack's nodes, relative to the first of each cell: a common translation leaves no rounding
  // behind.
  template <class Lines>
  static void gather_relative(const Lines* lines, const std::int32_t* place, Local& e) {
    gather<D>(lines, place, e[0].data());
    for (std::size_t a = 1; a < N; ++a) {
      gather<D>(lines, place + a * W, e[a].data());
      for (std::size_t i = 0; i < D; ++i) e[a][i] = e[a][i] - e[0][i];
    }
  }
  static void clear(Local& force) {
    for (std::size_t a = 1; a < N; ++a)
      for (std::size_t i = 0; i < D; ++i) force[a][i] = P(0.0);
  }
  // The first node's force is minus the sum of the others'.
  static void balance(Local& force) {
    for (std::size_t i = 0; i < D; ++i) {
      P sum = force[1][i];
      for (std::size_t a = 2; a < N; ++a) sum = sum + force[a][i];
      force[0][i] = -sum;
    }
  }

  template <Energy energy>
  static void add_pack(const PackedTerms& terms, Index pack, P factor, const NodeLine* nodes, Sums& sums,
                       bool ask = false) {
    Local e;
    gather_relative(nodes, terms.places + pack * static_cast<Index>(N * W), e);
    clear(sums.force);
    Term::template add<energy>(terms.lame, terms.geometry + pack * static_cast<Index>(Term::per_pack), factor, e, ask,
                               sums);
    balance(sums.force);
  }

  // What a pack to come needs: nodes and cells of large models are not in a near cache.
  static constexpr Index ahead = 2;
  static void prefetch(const PackedTerms& terms, Index pack, const NodeLine* nodes) {
    const std::int32_t* place = terms.places + pack * static_cast<Index>(N * W);
    const double* geometry = terms.geometry + pack * static_cast<Index>(Term::per_pack);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < N * W; ++i) __builtin_prefetch(nodes + place[i], 1);
    for (std::size_t i = 0; i < Term::per_pack; i += 8) __builtin_prefetch(geometry + i);
  }

  static bool all(const Bits& admissible) {
    for (std::size_t lane = 0; lane < W; ++lane)
      if (admissible[lane] == 0) return false;
    return true;
  }

  static void strike_pack(const PackedTerms& terms, Index pack, NodeLine* nodes, const Local& force) {
    const std::int32_t* place = terms.places + pack * static_cast<Index>(N * W);
    for (std::size_t a = 1; a < N; ++a) scatter<D>(nodes, place + a * W, force[a].data());
    scatter<D>(nodes, place, force[0].data());  // last: it is the sum of the others
  }

  // Of terms whose impulses are kept: those of more do not stay in a third cache until they are reviewed.
  static constexpr Index most_packs_in_caches = (Index{8} << 20) / static_cast<Index>((N - 1) * D * W * sizeof(double));

  [[gnu::flatten]] static bool strike(const PackedTerms& terms, Index first, Index last, double step, NodeLine* nodes,
                                      double* energies, double* kept) {
    Sums sums = {{}, P(0.0), ~Bits{}};
    const bool keeps = energies != nullptr, streams = keeps && terms.packs > most_packs_in_caches;
    for (Index pack = first; pack < last; ++pack) {
      if (pack + ahead < terms.packs) {
        prefetch(terms, pack + ahead, nodes);
        for (std::size_t i = 0; keeps && !streams && i < (N - 1) * D; ++i)
          __builtin_prefetch(kept + ((N - 1) * D * ahead + i) * W, 1);
      }
      add_pack<Energy::asked>(terms, pack, P(-step), nodes, sums, keeps);
      if (keeps) {
        sums.energy.store(energies);
        sums.energy = P(0.0);
        energies += W;
        for (std::size_t a = 1; a < N; ++a)
          for (std::size_t i = 0; i < D; ++i, kept += W)
            streams ? sums.force[a][i].stream(kept) : sums.force[a][i].store(kept);
      }
      strike_pack(terms, pack, nodes, sums.force);
    }
    if (streams) stream_end();
    return all(sums.admissible);
  }

  [[gnu::flatten]] static bool look(const PackedTerms& terms, Index first, Index last, NodeLine* nodes,
                                    double& energy) {
    P sum(0.0);
    Sums sums = {{}, P(0.0), ~Bits{}};
    for (Index pack = first; pack < last; ++pack) {
      if (pack + ahead < terms.packs) prefetch(terms, pack + ahead, nodes);
      sums.energy = P(0.0);
      add_pack<Energy::yes>(terms, pack, P(-1.0), nodes, sums);
      strike_pack(terms, pack, nodes, sums.force);
      sum = sum + sums.energy;
    }
    energy = 0.0;
    for (std::size_t lane = 0; lane < W; ++lane) energy += sum.v[lane];
    return all(sums.admissible);
  }

  static void works(const PackedTerms& terms, Index first, Index last, const NodeMean* means, const double* kept,
                    double* kinetic, double* work) {
    KeptImpulses<P, N, D>::works(terms.places, terms.packs, first, last, means, kept, kinetic, work);
  }

  [[gnu::flatten]] static void measure(const PackedTerms& terms, Index first, Index last, const NodeLine* nodes,
                                       double* energies, double* gradients) {
    for (Index pack = first; pack < last; ++pack) {
      Sums sums = {{}, P(0.0), ~Bits{}};
      add_pack<Energy::yes>(terms, pack, P(1.0), nodes, sums);
      for (std::size_t lane = 0; lane < W; ++lane) {
        *energies++ = sums.energy.v[lane];
        for (std::size_t a = 0; a < N; ++a)
          for (std::size_t i = 0; i < D; ++i) *gradients++ = sums.force[a][i].v[lane];
      }
    }
  }

  using Followed = FollowedTerms<P, N, D>;

  [[gnu::flatten]] static double depart(const PackedTerms& terms, Index first, Index last, const NodeLine* nodes,
                                        const NodeShift* reference, double rounding, double* flight) {
    Approach<P> least;
    for (Index pack = first; pack < last; ++pack, flight += 2 * Followed::row * W) {
      if (pack + ahead < terms.packs) prefetch(terms, pack + ahead, nodes);
      const std::int32_t* place = terms.places + pack * static_cast<Index>(N * W);
      Local e, v, x;
      gather_relative(nodes, place, e);
      gather_relative(reference, place, x);
      for (std::size_t a = 0; a < N; ++a) {
        gather_velocities<D>(nodes, place + a * W, v[a].data());
        for (std::size_t i = 0; a > 0 && i < D; ++i) {
          v[a][i] = v[a][i] - v[0][i];
          e[a][i].store(flight + ((a - 1) * D + i) * W);
          v[a][i].store(flight + (Followed::row + (a - 1) * D + i) * W);
          x[a][i] = x[a][i] + e[a][i];
        }
      }
      x[0].fill(P(0.0));
      v[0].fill(P(0.0));
      least.next_terms();
      for (std::size_t a = 1; a < N; ++a)
        for (std::size_t b = 0; b < a; ++b) {
          P distance(0.0), speed(0.0);
          for (std::size_t i = 0; i < D; ++i) {
            const P r = x[a][i] - x[b][i], w = v[a][i] - v[b][i];
            distance = distance + r * r;
            speed = speed + w * w;
          }
          least.add(distance, speed, rounding);
        }
    }
    return least.value();
  }

  [[gnu::flatten]] static Batch::Followed follow(const PackedTerms& terms, Index first, Index last, double s,
                                                 const double* flight, double* rates, double* kept) {
    Followed found;
    for (Index pack = first; pack < last; ++pack) {
      Local e;
      for (std::size_t i = 0; i < Followed::row; ++i)
        e[1 + i / D][i % D] = P::load(flight + i * W) + P(s) * P::load(flight + (Followed::row + i) * W);
      Sums sums = {{}, P(0.0), ~Bits{}};
      clear(sums.force);
      Term::template add<Energy::yes>(terms.lame, terms.geometry + pack * static_cast<Index>(Term::per_pack), P(1.0), e,
                                      false, sums);
      found.add_energies(P(sums.admissible ? sums.energy.v : P(std::numeric_limits<double>::quiet_NaN()).v));
      for (std::size_t i = 0; i < Followed::row; ++i) sums.force[1 + i / D][i % D].store(kept + i * W);
      found.add_rates(kept, flight, rates);
    }
    return found.sums();
  }

  [[gnu::flatten]] static void add_gradient(const PackedTerms& terms, Index first, Index last, const double* kept,
                                            double* gradient) {
    for (Index pack = first; pack < last; ++pack, kept += Followed::row * W)
      Followed::add_gradients(kept, terms.places + pack * static_cast<Index>(N * W), D, gradient);
  }

  [[gnu::flatten]] static void change(const PackedTerms& terms, Index first, Index last, NodeLine* nodes,
                                      const NodeShift* shifts, double* impulses) {
    for (Index pack = first; pack < last; ++pack) {
      if (pack + 2 * ahead < terms.packs) {
        const std::int32_t* next = terms.shift_places + (pack + 2 * ahead) * static_cast<Index>(N * W);
        prefetch(terms, pack + 2 * ahead, nodes);
#pragma GCC unroll 8
        for (std::size_t i = 0; i < N * W; ++i) __builtin_prefetch(shifts + next[i]);
      }
      const std::int32_t* place = terms.places + pack * static_cast<Index>(N * W);
      Local e, w, force;
      if constexpr (Term::stiffness_varies) gather_relative(nodes, place, e);
      gather_relative(shifts, terms.shift_places + pack * static_cast<Index>(N * W), w);
      clear(force);
      Term::add_change(terms.lame, terms.geometry + pack * static_cast<Index>(Term::per_pack), e, w, force);
      balance(force);
      strike_pack(terms, pack, nodes, force);
      if (impulses == nullptr) continue;
      for (std::size_t lane = 0; lane < W; ++lane)
        for (std::size_t a = 0; a < N; ++a)
          for (std::size_t i = 0; i < D; ++i) *impulses++ = force[a][i].v[lane];
    }
  }

  static constexpr TermKernel kernel() {
    return {strike, measure, works, look, change, depart, follow, Followed::turn, add_gradient};
  }
};

}  // namespace tempi
