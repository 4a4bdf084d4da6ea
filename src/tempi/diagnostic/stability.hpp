// SPDX-License-Identifier: Apache-2.0
// Whether given steps are stable, asked of the model itself. An asynchronous integrator whose steps are all below their
// terms' stable steps can still resonate (Fong, Darve, Lew 2008): slowly, and for some choices of steps only. On a
// linear model its map over the longest step is linear, so the rate of growth is found by applying the map again and
// again to a random motion; the map's matrix is never formed.
//
// Steps that nest (each divides the next) repeat after the longest step; for others the rate is a mean over many.
// Measured, not proved: a mode growing more slowly than `resolution` goes unseen, and large deformation is not looked
// at.
#pragma once

#include <cstdint>
#include <span>

#include "tempi/integrator/integrator.hpp"
#include "tempi/model/model.hpp"

namespace tempi {

// A bound below 2/omega_max of the assembled model [s], omega_max^2 the largest eigenvalue of M^{-1} K on the
// components that are not held, K the stiffness at the displacements u: what a synchronous method may use. Infinite
// where nothing is stiff.
//
// By the Lanczos method from a random motion, which like power iteration approaches omega_max from below. It makes so
// many steps (about 200, each an evaluation of all gradients by batches) that with a probability of 1 - 1e-6 over
// random motions its omega^2 is within 0.2 % of the largest, whatever the spectrum (Kuczynski, Wozniakowski 1992; K
// without negative eigenvalues), and the step returned is shorter by so much: 0.1 %.
double assembled_stable_step(const Model& model, std::span<const double> u, int threads = 1);

// What steps have to stand: no motion may grow more than `tolerated_growth`-fold over `stability_horizon` longest
// steps.
inline constexpr Index stability_horizon = 100'000;
inline constexpr double tolerated_growth = 100.0;

struct StabilityOptions {
  Index longest_steps = stability_horizon;  // run at most; fewer see strong growth only, below 15 none
  std::uint64_t seed = 1;                   // of the random motion
};

struct StabilityReport {
  Index longest_steps = 0;        // run; fewer than allowed where growth was beyond doubt
  int rigid_motions = 0;          // the supports allow: left out of the motion
  double growth = 0.0;            // of the logarithm of the amplitude per longest step, over the later part of the run
  double total_log_growth = 0.0;  // over stability_horizon longest steps at that rate
  double resolution = 0.0;        // growth per longest step from which on a run of this length tells it from none
  bool exponential = false;       // it grew, and in proportion to time: no beating, no power of time
  bool unstable = false;          // exponential, and by more than tolerated_growth over stability_horizon
  bool releases_energy = false;   // unstable, with strain energy below zero: the model itself is, whatever the steps
};

// Runs `map`, a new integrator made with `linear` (a linearised model), from a random motion and measures how its
// amplitude, the square root of kinetic plus strain energy, grows. `longest_step` [s]: the longest step of a term.
// Throws what `map` throws, in particular SolveError when a step exceeds its term's stable step.
StabilityReport measure_growth(const Model& linear, Integrator& map, double longest_step,
                               const StabilityOptions& options = {});

}  // namespace tempi
