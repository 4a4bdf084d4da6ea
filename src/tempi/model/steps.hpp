// SPDX-License-Identifier: Apache-2.0
// The time step of every term [s], chosen once at the initial configuration.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "tempi/model/model.hpp"

namespace tempi {

// How large: a fraction of each term's stable step 2/omega_max, or of the papers' inradius / wave speed
// (Lew, Marsden, Ortiz, West 2004, eq. (59), f = courant; 0.1 there is 0.04 to 0.065 of the stable step of 4-node
// tetrahedra), or one step for all terms.
struct SafetyFraction {
  double value;
};
struct CourantNumber {
  double value;
};
struct FixedStep {
  double seconds;
};
using StepSize = std::variant<SafetyFraction, CourantNumber, FixedStep>;

// Which terms share: each its own; the smallest of the terms around its nodes (one-ring); the smallest of all.
enum class StepRule { element, one_ring, uniform };

// Gives steps to terms without mass that are not stiff where they start (infinite ones), as a field's or those of pairs
// out of reach: they act with the fastest of their neighbours, those without such neighbours with the slowest of all
// terms. Throws InputError where nothing is stiff.
void follow_neighbours(const Model& model, std::vector<double>& steps);

// One step per term. Steps that differ by rounding only (1e-11) are made equal, so that congruent cells keep time.
// `courant_times`: inradius / wave speed of each term [s], needed for CourantNumber only.
// Throws InputError when a step exceeds the term's stable step at displacements `u` (term, both values).
std::vector<double> choose_steps(const Model& model, std::span<const double> u, StepSize size, StepRule rule,
                                 std::span<const double> courant_times, int threads = 1);

// Lowers steps until none is more than `ratio` >= 1 times the smallest among the terms sharing a node with it: the
// largest steps for which that holds, so each lowered one is ratio times a neighbour's, to the bit. The bound cascades:
// n terms away from a step s none exceeds s ratio^n; ratio 1 leaves each connected part one step. (StepRule::one_ring
// takes the minimum itself, but one ring far only.) Cost O(n log n): one sort and one visit of every stencil.
void limit_neighbours(const Model& model, std::vector<double>& steps, double ratio);

// 2/omega_a of every node a at `u` [s], omega_a^2 the largest eigenvalue of K_aa / m_a on its components that are free:
// K_aa the block of the assembled stiffness that a node feels when it alone moves. What an explicit step between fixed
// neighbours may be. Infinite where nothing stiff acts or everything is held.
// Cost: a Hessian of each term.
std::vector<double> nodal_stable_steps(const Model& model, std::span<const double> u);

// Each step becomes the smallest of the terms around its nodes (StepRule::one_ring).
void share_around_nodes(const Model& model, std::vector<double>& steps);

// The smallest of `nodal` (one a node) among all nodes of the terms that share a node with the term, itself included:
// within one ring of it. Cost O(n).
std::vector<double> smallest_within_a_ring(const Model& model, std::span<const double> nodal);

// Of each term the shortest step that is longer than its own among terms that share a node with it, one that is not
// held in all components; 0: none. `ticks`: steps of the terms, of at most 64 different ones. Cost O(n).
std::vector<std::int32_t> next_slower(const Model& model, std::span<const std::int32_t> ticks);

// Of each term the longest step among its own and those of these terms. Cost O(n).
std::vector<double> longest_around(const Model& model, std::span<const double> steps);

// A bound of the largest eigenvalue of M^-1 C at displacements u [1/s], by its rows; 0 without dampers.
double largest_damping_rate(const Model& model, std::span<const double> u);

// 2/omega_max of every term at `u` [s]: the same bits on any number of threads.
std::vector<double> stable_steps(const Model& model, std::span<const double> u, int threads = 1);

// Element updates a synchronous method with the smallest step would need, over those of the given steps: eq. (62).
double ideal_speedup(std::span<const double> steps);

// Number of updates of a term until `end_time`: acts at t = j step, j >= 1, with t < end_time, counted as the event
// queue does, in floating point.
Index update_count(double step, double end_time);

}  // namespace tempi
