// SPDX-License-Identifier: Apache-2.0
// The kernels of pair sums: rows of W pairs at once. Include in pair_kernels_*.cpp only, once per instruction
// set.
#pragma once

#include "tempi/pair/packed_laws.hpp"
#include "tempi/pair/resist_bonds.hpp"
#include "tempi/pair/strike_pairs.hpp"

namespace tempi {

// The later points of a row within reach, side by side.
template <class P>
struct Within {
  static constexpr Index W = P::width, room = 512;
  alignas(64) std::array<double, room + W> x, y, z, m;  // m: the fourth number of PairRows::points
  alignas(64) std::array<std::int32_t, room + W> id;
  Index size = 0;
};

template <class P, class Law>
struct RowsAtOnce {
  static constexpr Index W = P::width;
  using Bits = typename P::Bits;
  static constexpr bool by_radii = requires(const Law& law, P p) { law(p, p, p); };
  static constexpr bool by_masses = [] {
    if constexpr (by_radii)
      return false;
    else
      return Law::by_masses;
  }();
  struct Sums {
    std::array<P, 3> gradient;  // of the rows' own point
    P energy;
    Bits admissible;
  };

  // Appends those of the W points `ids` that are within reach of point i; only the first `count` are asked.
  static void sieve(const PairRows& rows, const double* point, const std::int32_t* ids, Index count,
                    Within<P>& within) {
    P at[4];
    if (count < W) {
      std::int32_t some[W];
      for (Index lane = 0; lane < W; ++lane) some[lane] = ids[lane < count ? lane : 0];
      gather_quads<4>([&](Index lane) { return rows.points + 4 * static_cast<Index>(some[lane]); }, at);
    } else {
      gather_quads<4>([&](Index lane) { return rows.points + 4 * static_cast<Index>(ids[lane]); }, at);
    }
    P r2(0.0);
    for (std::size_t c = 0; c < 3; ++c) {
      at[c] = nearest_image(at[c] - P(point[c]), rows.box.length[c], rows.box.inverse[c]);
      r2 = r2 + at[c] * at[c];
    }
    const P reach2(rows.law.reach * rows.law.reach);
    const Bits asked = first_lanes<W>(count);
    const Bits kept = asked & (r2.v < reach2.v);
    const Index size = within.size;
    compress(at[0], kept, &within.x[static_cast<std::size_t>(size)]);
    compress(at[1], kept, &within.y[static_cast<std::size_t>(size)]);
    compress(at[2], kept, &within.z[static_cast<std::size_t>(size)]);
    if constexpr (by_masses || by_radii) compress(at[3], kept, &within.m[static_cast<std::size_t>(size)]);
    within.size += compress<W>(ids, kept, &within.id[static_cast<std::size_t>(size)]);
  }

  template <bool with_energy>
  static void add(const PairRows& rows, const Law& law, P own, Index begin, Index count, Within<P>& within,
                  Sums& sums) {
    const auto k = static_cast<std::size_t>(begin);
    const std::array<P, 3> w = {P::read(&within.x[k]), P::read(&within.y[k]), P::read(&within.z[k])};
    const P r2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], zero(0.0);
    auto [V, f] = [&] {
      if constexpr (by_radii)
        return law(r2, own, P::read(&within.m[k]));
      else
        return law(r2);
    }();
    if constexpr (by_masses) {
      const P factor = own * P::read(&within.m[k]);
      V = factor * V, f = factor * f;
    }
    const Bits asked = first_lanes<W>(count);
    f = P(asked ? f.v : zero.v);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    sums.admissible &= ~asked | ((r2.v > 0.0) & (f.v < infinity) & (f.v > -infinity));
    if constexpr (with_energy) sums.energy = sums.energy + P(asked ? V.v : zero.v);
    P g[4];
    for (std::size_t c = 0; c < 3; ++c) {
      g[c] = f * w[c];
      sums.gradient[c] = sums.gradient[c] - g[c];
    }
    g[3] = zero;
    scatter_quads(g, [&](Index lane, const Quad& quad) {
      double* to = rows.gradients + 4 * static_cast<Index>(within.id[k + static_cast<std::size_t>(lane)]);
      *reinterpret_cast<QuadOfLine*>(to) += quad;
    });
  }

  // Whole packs, and keeps the rest; with `all` the rest too, its pack filled up with the last point's like.
  template <bool with_energy>
  static void add_packs(const PairRows& rows, const Law& law, P own, bool all, Within<P>& within, Sums& sums) {
    Index begin = 0;
    for (; begin + W <= within.size; begin += W) add<with_energy>(rows, law, own, begin, W, within, sums);
    const Index rest = within.size - begin;
    const auto from = static_cast<std::size_t>(begin), size = static_cast<std::size_t>(within.size);
    if (all && rest > 0) {
      for (std::size_t i = size; i < from + static_cast<std::size_t>(W); ++i) {
        within.x[i] = within.x[size - 1], within.y[i] = within.y[size - 1], within.z[i] = within.z[size - 1];
        within.m[i] = within.m[size - 1], within.id[i] = static_cast<std::int32_t>(rows.count);
      }
      add<with_energy>(rows, law, own, begin, rest, within, sums);
    }
    within.size = all ? 0 : rest;
    for (std::size_t i = 0; !all && begin > 0 && i < static_cast<std::size_t>(rest); ++i) {
      within.x[i] = within.x[from + i], within.y[i] = within.y[from + i], within.z[i] = within.z[from + i];
      within.m[i] = within.m[from + i], within.id[i] = within.id[from + i];
    }
  }

  template <bool with_energy>
  [[gnu::flatten]] static RowSum sum(const PairRows& rows) {
    const Law law(SameInAllLanes<P>{rows.law}, rows.law);
    Within<P> within;
    within.m.fill(0.0);
    Sums sums = {{}, P(0.0), ~Bits{}};
    std::int32_t following[W];
    for (Index i = 0; i < rows.count; ++i) {
      const double* point = rows.points + 4 * i;
      const P own(point[3]);
      for (P& g : sums.gradient) g = P(0.0);
      const Index first = rows.first != nullptr ? rows.first[i] : i + 1;
      const Index last = rows.first != nullptr ? rows.first[i + 1] : rows.count;
      for (Index k = first; k < last; k += W) {
        const std::int32_t* ids = following;
        if (rows.first != nullptr)
          ids = rows.others + k;
        else
          for (Index lane = 0; lane < W; ++lane) following[lane] = static_cast<std::int32_t>(k + lane);
        sieve(rows, point, ids, last - k < W ? last - k : W, within);
        if (within.size > Within<P>::room - W) add_packs<with_energy>(rows, law, own, false, within, sums);
      }
      add_packs<with_energy>(rows, law, own, true, within, sums);
      for (std::size_t c = 0; c < 3; ++c) {
        double total = 0.0;
        for (Index lane = 0; lane < W; ++lane) total += sums.gradient[c].v[lane];
        rows.gradients[4 * i + static_cast<Index>(c)] += total;
      }
    }
    RowSum result = {0.0, true};
    for (Index lane = 0; lane < W; ++lane) {
      result.energy += sums.energy.v[lane];
      result.admissible = result.admissible && sums.admissible[lane] != 0;
    }
    return result;
  }
};

template <class P, class Law>
constexpr PairKernel pair_kernel_of_law() {
  using Pairs = PairsAtOnce<P, Law>;
  return {Pairs::template strike<false>,
          Pairs::template strike<true>,
          BondsAtOnce<P, StiffnessAtOnce<P, Law>>::resist,
          Pairs::works,
          Pairs::change,
          Pairs::measure,
          Pairs::depart,
          Pairs::follow,
          Pairs::Followed::turn,
          Pairs::add_gradient,
          RowsAtOnce<P, Law>::template sum<false>,
          RowsAtOnce<P, Law>::template sum<true>};
}

template <class P, class Law>
constexpr PairKernel pair_kernel_of_law(bool part) {
  return part ? pair_kernel_of_law<P, PackedPart<P, Law>>() : pair_kernel_of_law<P, Law>();
}

template <int W>
PairKernel pair_kernel_of(PackedLawKind law, bool part) {
  using P = Pack<W>;
  switch (law) {
    case PackedLawKind::lennard_jones: return pair_kernel_of_law<P, PackedLennardJones<P>>(part);
    case PackedLawKind::morse: return pair_kernel_of_law<P, PackedMorse<P>>(part);
    case PackedLawKind::spring: return pair_kernel_of_law<P, PackedSpring<P>>(part);
    case PackedLawKind::tanh_spring: return pair_kernel_of_law<P, PackedTanhSpring<P>>(part);
    case PackedLawKind::gravitation: return pair_kernel_of_law<P, PackedGravitation<P>>(part);
    case PackedLawKind::hertz: return pair_kernel_of_law<P, PackedHertz<P>>(part);
    case PackedLawKind::spheres: {
      PairKernel kernel{};  // as a sum alone
      kernel.gradients = RowsAtOnce<P, PackedSpheres<P>>::template sum<false>;
      kernel.gradients_and_energy = RowsAtOnce<P, PackedSpheres<P>>::template sum<true>;
      return kernel;
    }
  }
  return {};
}

}  // namespace tempi
