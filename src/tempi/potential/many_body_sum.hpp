// SPDX-License-Identifier: Apache-2.0
// A potential of many nodes as one term of the model, with one step: V = sum of terms of its own, which come and go
// while the nodes move. Pairs within a cutoff, atoms embedded in their neighbours.
//
// Most methods take the sum as it is. Those that strike its terms one by one (avi on the exact queue) know each by a
// key that does not depend on when it came: they keep what they keep by key (model/per_term.hpp), and the bits of a run
// are those of a run whose terms are all there all the time.
#pragma once

#include <array>
#include <optional>

#include "tempi/potential/potential.hpp"

namespace tempi {

// The nodes that tell a term of a sum from others, ascending (of a pair of faces those of each); -1 behind them.
using TermKey = std::array<NodeId, 6>;
constexpr TermKey term_key(NodeId a, NodeId b = NodeId{-1}) {
  constexpr NodeId none{-1};
  return {a, b, none, none, none, none};
}

class ManyBodySum : public Potential {
 public:
  const ManyBodySum* as_sum() const final { return this; }

  Index size() const final { return 1; }

  // A term of the sum at some displacements.
  struct Present {
    TermKey key;
    std::span<const NodeId> nodes;     // those of the sum's stencil it touches there
    double admissibility;              // as Potential::add_gradient has it
    std::span<const double> gradient;  // [N], dim components for each of `nodes`
  };
  using VisitPresent = std::function<void(const Present&)>;
  // Every term that is not zero at u, and maybe others; ascending by key. Together they are add_gradient, to rounding.
  virtual void each_present(std::span<const double> u, double t, const VisitPresent& visit) const = 0;

  // For those who follow its energy along a flight x + s v: how far nodes may go before a term changes its course [m];
  // absent: nobody can tell, nor does smooth_until.
  virtual std::optional<double> shortest_length() const { return std::nullopt; }
  // The first s > after at which a term comes or goes or V'' jumps, [s]; or up to which it is known that there is none,
  // at most `within`. `u`, `v`: of the stencil's nodes, in its order.
  virtual double smooth_until(std::span<const double> /*u*/, std::span<const double> /*v*/, double after,
                              double /*within*/) const {
    return after;
  }

  // By the Lanczos method, to 1e-3.
  double stable_step(Index k, std::span<const double> u, std::span<const double> shares) const override;
  // By a bound, and by stable_step where that does not tell.
  bool step_is_stable(Index k, std::span<const double> u, std::span<const double> shares, double step) const override;
};

}  // namespace tempi
