// SPDX-License-Identifier: Apache-2.0
// Terms that act together, packed once for speed: what fast engines strike instead of single terms.
//
//   v_a -= step * (dV_k/dx_a) / m_a    for all nodes a of the terms k struck
//
// A batch reads and kicks nodes in lines of its engine's own order; it knows its terms' places among them.
#pragma once

#include <span>

#include "tempi/core/ids.hpp"
#include "tempi/simd/node_line.hpp"

namespace tempi {

class Batch {
 public:
  // Strikes begin and end at multiples of this many terms, or end at the last one.
  static constexpr Index grain = 16;
  static constexpr Index padded(Index terms) { return (terms + grain - 1) / grain * grain; }

  virtual ~Batch() = default;

  // Strikes terms first to last - 1, in the batch's order, at time t. Two threads may strike parts that share no node.
  // Returns whether every term was admissible (Potential::add_gradient): if not, the kicks of this call mean nothing
  // until they are undone by the same strike with -step.
  virtual bool strike(Index first, Index last, double step, double t, std::span<NodeLine> nodes) const = 0;

  // The same with step 1 s, and sum V_k [J] of these terms. The base class measures them.
  struct Looked {
    double energy;
    bool admissible;
  };
  virtual Looked look(Index first, Index last, double t, std::span<NodeLine> nodes) const;

  // For observers: V_k [J] and dV_k/dx [N] of terms first to last - 1, the gradient in rows of row() numbers, dim for
  // each stencil node. Both spans begin with term `first` and have room up to a whole grain.
  virtual Index row() const = 0;
  virtual void measure(Index first, Index last, double t, std::span<const NodeLine> nodes, std::span<double> energies,
                       std::span<double> gradients) const = 0;

  // How a strike of step 1 s changes with the nodes' places: v_a -= (sum_b d2V_k/dx_a dx_b w_b) / m_a, where
  // the batch offers it; that of the base class of potentials always does. w lies where `place_shifts` has said last,
  // by line, or else by line. `impulses`, if not empty: takes these, in rows like gradients, beginning with term
  // `first`.
  virtual bool offers_change() const { return false; }
  virtual void place_shifts(std::span<const std::int32_t>) {}
  virtual void strike_change(Index first, Index last, double t, std::span<NodeLine> nodes, std::span<const NodeShift> w,
                             std::span<double> impulses) const;

  // Watched at speed, where kept() > 0: `watch` strikes, gives V_k [J] and keeps kept() numbers a term; `works` makes
  // of them, once all strikes of the instant have been felt, each term's work p_k . w with the mean velocities w of its
  // nodes, and the sum of what `means` has of their kinetic energies [J]. All spans begin with term `first` and have
  // room up to a whole grain; `means` by line.
  virtual Index kept() const { return 0; }
  virtual bool watch(Index first, Index last, double step, double t, std::span<NodeLine> nodes,
                     std::span<double> energies, std::span<double> kept) const;
  virtual void works(Index first, Index last, std::span<const NodeMean> means, std::span<const double> kept,
                     std::span<double> kinetic, std::span<double> work) const;

  // Along straight flights, where followed() > 0. `depart` notes where the terms are and how they go, 2 followed()
  // numbers a term in `flight`; `follow` keeps followed() numbers of dV_k/dx a time s [s] later and writes the rates
  // dV_k/dt = dV_k/dx . v [W]; `turn` does so at the departure, of what was kept when the nodes were there; V of `turn`
  // is zero, elsewhere not a number where a term is not admissible. `add_gradient` adds the dV/dx kept by line, dim
  // numbers each. Spans as above; rates have room up to a whole pack, and are written there. Of a sum of many
  // terms (many_body_sum.hpp) a rate is that of a node: of what it has at different nodes nothing cancels.
  struct Followed {
    double V, rate, magnitude;  // sums of V_k [J], dV_k/dt [W], |V_k|
  };
  virtual Index followed() const { return 0; }
  // Returns the least over the terms of (distance / speed)^2 [s^2], the shortest distance of two of its nodes and the
  // largest speed of one as seen from another; speeds^2 up to `rounding` count as none. `reference`: places by line.
  virtual double depart(Index first, Index last, std::span<const NodeLine> nodes, std::span<const NodeShift> reference,
                        double rounding, std::span<double> flight) const;
  virtual Followed follow(Index first, Index last, double s, std::span<const double> flight, std::span<double> rates,
                          std::span<double> kept) const;
  virtual Followed turn(Index first, Index last, std::span<const double> flight, std::span<double> rates,
                        std::span<const double> kept) const;
  virtual void add_gradient(Index first, Index last, std::span<const double> kept, std::span<double> gradient) const;
};

}  // namespace tempi
