// SPDX-License-Identifier: Apache-2.0
// What kernels make of packed terms along a flight (Batch::follow), whatever the terms. Include in kernels only, once
// per instruction set.
#pragma once

#include <cstddef>
#include <limits>

#include "tempi/potential/batch.hpp"
#include "tempi/simd/pack.hpp"

namespace tempi {

// Terms of N nodes in packs; of a pack, W lanes each:
//   kept    dV/dx of all nodes but the first; the first one's is minus their sum
//   flight  where these are and how fast they go, relative to the first
template <class P, std::size_t N, std::size_t D>
class FollowedTerms {
 public:
  static constexpr std::size_t W = P::width, row = (N - 1) * D;

  void add_energies(P V) {
    V_ = V_ + V;
    magnitude_ = magnitude_ + magnitude(V);
  }

  // Of one pack; goes on to the next.
  template <class Kept>
  void add_rates(Kept*& kept, const double*& flight, double*& rates) {
    P rate(0.0);
    for (std::size_t i = 0; i < row; ++i) rate = rate + P::load(kept + i * W) * P::load(flight + (row + i) * W);
    rate.store(rates);
    rate_ = rate_ + rate;
    kept += row * W, flight += 2 * row * W, rates += W;
  }

  [[gnu::flatten]] static Batch::Followed turn(Index first, Index last, const double* flight, double* rates,
                                               const double* kept) {
    FollowedTerms found;
    for (Index pack = first; pack < last; ++pack) found.add_rates(kept, flight, rates);
    return found.sums();
  }

  Batch::Followed sums() const { return {sum(V_), sum(rate_), sum(magnitude_)}; }

  static void add_gradients(const double* kept, const std::int32_t* place, std::size_t dim, double* gradient) {
    for (std::size_t a = 1; a < N; ++a)
      for (std::size_t lane = 0; lane < W; ++lane)
        for (std::size_t i = 0; i < dim; ++i) {
          const double g = kept[((a - 1) * D + i) * W + lane];
          gradient[static_cast<std::size_t>(place[lane]) * dim + i] -= g;
          gradient[static_cast<std::size_t>(place[a * W + lane]) * dim + i] += g;
        }
  }

 private:
  static double sum(P of) {
    double all = 0.0;
    for (std::size_t lane = 0; lane < W; ++lane) all += of.v[lane];
    return all;
  }

  P V_{0.0}, rate_{0.0}, magnitude_{0.0};
};

// What Batch::depart returns: of pairs of nodes of one pack of terms after the other.
template <class P>
class Approach {
 public:
  void next_terms() {
    finish();
    nearest_ = P(std::numeric_limits<double>::infinity());
    fastest_ = P(0.0);
  }
  void add(P distance, P speed, double rounding) {  // squared both
    nearest_ = P(distance.v < nearest_.v ? distance.v : nearest_.v);
    const P larger(speed.v > fastest_.v ? speed.v : fastest_.v);
    fastest_ = P(speed.v > P(rounding).v ? larger.v : fastest_.v);
  }
  double value() {
    finish();
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t lane = 0; lane < P::width; ++lane) least = least_.v[lane] < least ? least_.v[lane] : least;
    return least;
  }

 private:
  void finish() {  // no comparison is true of 0 / 0
    const P square = nearest_ / fastest_;
    least_ = P(square.v < least_.v ? square.v : least_.v);
  }

  P least_{std::numeric_limits<double>::infinity()}, nearest_{std::numeric_limits<double>::infinity()}, fastest_{0.0};
};

}  // namespace tempi
