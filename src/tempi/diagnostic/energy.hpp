// SPDX-License-Identifier: Apache-2.0
// Energies, momenta and reactions of a model brought to one time, and their behaviour over a run.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "tempi/integrator/integrator.hpp"
#include "tempi/model/state.hpp"

namespace tempi {

struct Energies {
  double kinetic;    // sum m_a |v_a|^2 / 2 [J]
  double potential;  // sum V_K [J], from V(I) = 0
};
Energies energies(const Model& model, const Snapshot& snapshot);

struct Momenta {
  std::array<double, 3> linear;   // sum m v [kg m/s]
  std::array<double, 3> angular;  // sum m x cross v about the origin [kg m^2/s]; in 2-D the last component
  double linear_scale;            // sum m |v|
  double angular_scale;           // sum m |x - x_c| |v|, x_c the centre of mass
};
Momenta momenta(const Model& model, const State& state);

// Force with which each support holds its components at the snapshot's time: m a - f [N].
// `delta` [s]: spacing of the differences for prescribed accelerations.
std::vector<std::array<double, 3>> reactions(const Model& model, const Snapshot& snapshot, double delta);

// One sample of a run: everything at one time, velocities of second order.
struct Sample {
  double time;
  Energies energy;
  Momenta momentum;
  double external_work;                  // of loads and supports [J]
  std::array<double, 3> booked_impulse;  // of loads, supports, dampers and constraints to fixed points [N s]
  std::array<double, 3> booked_moment;   // [N m s]
  double damping_work = 0.0;             // of dampers [J]: minus what they have dissipated
};
Sample sample(const Model& model, const Snapshot& snapshot);

// What becomes of energy and momenta over the samples of a run; the definitions of `drift`, `band` and `error`.
class Balance {
 public:
  void add(const Sample& sample);

  struct Energy {
    double initial, final, min, max;  // of kinetic + potential [J]
    double drift;      // least-squares slope of (total energy - booked work) times the sampled time, over E_ref
    double band;       // (max - min) of (total energy - booked work), over E_ref
    double reference;  // E_ref: the larger of the largest kinetic energy and the largest change of potential energy [J]
  };
  Energy energy() const;                                                          // cost: all samples
  double reference() const { return std::max(kinetic_max_, potential_change_); }  // E_ref so far [J]
  // (Total energy - booked work) of the last sample less that of the first, over E_ref; 0 where E_ref is.
  double last_change() const;

  struct Momentum {
    std::array<double, 3> initial{}, final{};
    double error = 0.0;  // max |change - booked impulses| over max sum m|v|; angular: over max sum m |x - x_c| |v|
  };
  Momentum linear_momentum() const;
  Momentum angular_momentum() const;

 private:
  std::vector<double> time_, balance_;  // of each sample: total energy - work of loads, supports and dampers
  std::array<double, 3> linear_start_{}, angular_start_{}, linear_end_{}, angular_end_{};
  double linear_error_ = 0.0, angular_error_ = 0.0, linear_scale_ = 0.0, angular_scale_ = 0.0;
  double total_first_ = 0.0, total_last_ = 0.0, total_min_ = 0.0, total_max_ = 0.0;
  double potential_first_ = 0.0, kinetic_max_ = 0.0, potential_change_ = 0.0;
};

}  // namespace tempi
