// SPDX-License-Identifier: Apache-2.0
// Whether steps on a lattice of ticks resonate on a given model, found out neighbourhood by neighbourhood.
//
// Growth is local: a fast vibration of a few nodes meets the slow elements around it. So each node where steps differ
// is tried with what is near it: the node and its neighbours move (some rings, up to 64 components; of a first ring
// that is larger the nodes that vibrate fastest), everything else is held. There the small motions have masses M,
// stiffnesses K_l that act every m_l ticks, and a period of T, the least common multiple of their steps. In x = M^{1/2}
// d, with A_l = M^{-1/2} K_l M^{-1/2}, the positions at two ends of periods follow x(2T) - 2 C x(T) + x(0) = 0 (the
// map, begun and ended with half kicks, is its own reverse), C found by applying one period to a unit matrix. It grows
// where an eigenvalue of C lies off [-1, 1], by |log|mu + sqrt(mu^2 - 1)|| a period.
//
// Most neighbourhoods need no eigenvalues: where T^2 lambda_max(sum of A_l) < 4 nothing can grow, however the steps
// divide T (M. G. Krein's central zone of stability: x'' + P(t) x = 0, P >= 0 of period T, is stable if T times the
// largest eigenvalue of the integral of P over T is below 4; docs/stability.md).
//
// Some motions are wider: of a stiff region as a whole, which slow elements at its surface kick once in half its
// period. They grow slowly (seen: 7e-4 a longest step, two materials 4458 times apart). So wide neighbourhoods are
// tried as well, as many as their price allows, the whole of a model that is small: of those the growth of T_N(C) over
// more than the run's length, by doubling.
//
// Where the stiffness itself has a direction of negative energy (buckling, pairs past their inflection), real mu > 1
// are its own growth and are left out.
//
// Mollified kicks are those of K_l with y_l for x in its energy: A_l becomes Y_l^T A_l Y_l, Y_l the derivative of y_l.
//
// Linear motion about one configuration; loads and dampers left out. What is held around a neighbourhood shifts its
// frequencies a little: weak growth may be missed or seen where there is none (docs/stability.md says how often).
#pragma once

#include <optional>
#include <span>

#include "tempi/model/model.hpp"
#include "tempi/schedule/tick_lattice.hpp"

namespace tempi {

struct TrialOptions {
  double duration = 0.0;  // [s] simulated, that growth has
  // What may be spent, in seconds of one core of the machine the figures were taken on: counted, not measured, so that
  // the same places are tried on every machine; growth found there depends on the width of vector instructions in its
  // last digits. Models that need less than `complete` are tried everywhere.
  double price = 0.05, complete = 0.4;
  double wide = 0.0;  // for neighbourhoods of up to 400 components, in which wider motions have room
  Coupling coupling = Coupling::plain;
  int threads = 1;
};

struct StepTrial {
  Index places = 0;    // nodes with unequal steps near them
  Index tried = 0;     // of these, beginning with those that look most dangerous
  Index proved = 0;    // of these, by the central zone
  Index wide = 0;      // wide neighbourhoods tried
  double price = 0.0;  // [s], counted as in TrialOptions
  // Of the place that grows most over `duration`: growth of the logarithm of its amplitude a longest step, that step
  // [s].
  double growth = 0.0, longest_step = 0.0;
  std::optional<NodeId> where;
  bool grows = false;  // by more than tolerated_amplitude over `duration`

  static constexpr double tolerated_amplitude = 10.0;
  static constexpr double smallest_growth = 1e-6;  // a longest step; below, rounding decides
};

// `u`: displacements about which motions are small; `lattice`: the steps of all terms; `nodal`: nodal_stable_steps at u
// (model/steps.hpp), by which places are ordered; with `priority` (one a node) by that instead, largest first.
// Cost: 0.5 to 2 ms a place that has to be tried, 0.05 ms one that is proved; 0.5 s a wide one.
StepTrial try_steps(const Model& model, std::span<const double> u, const TickLattice& lattice,
                    std::span<const double> nodal, const TrialOptions& options, std::span<const double> priority = {});

}  // namespace tempi
