// SPDX-License-Identifier: Apache-2.0
// Energies, momenta and reactions of a model brought to one time, and their behaviour over a run.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "tempi/integrator/integrator.hpp"
#include "tempi/model/state.hpp"
#include "tempi/model/term_energies.hpp"

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

// Of a part of a model, what it would have if it were alone.
struct PartLedger {
  Momenta momentum;
  double kinetic;      // [J]
  double vibrational;  // sum m_a |v_a - <v>|^2 / 2, <v> that of the centre of mass: Gonzalez (2011), eq. (4.45) [J]
  double potential;    // of its terms [J]
};
// `nodes`: ascending; `terms`: those of the part.
PartLedger ledger_of(const Model& model, const Snapshot& snapshot, std::span<const NodeId> nodes,
                     const TermEnergies& terms);

// Force with which each support holds its components at the snapshot's time: m a - f [N].
// `delta` [s]: spacing of the differences for prescribed accelerations.
std::vector<std::array<double, 3>> reactions(const Model& model, const Snapshot& snapshot, double delta);

// Of every component: force over mass, or as a support prescribes it [m/s^2]. `delta` as above.
std::vector<double> accelerations(const Model& model, const Snapshot& snapshot, double delta);

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
  Energy energy() const;                                                                  // cost: all samples
  double reference() const { return std::max(now_.kinetic_max, now_.potential_change); }  // E_ref so far [J]
  // (Total energy - booked work) of the last sample less that of the first, over E_ref; 0 where E_ref is.
  double last_change() const;
  // What the total energy less booked work of a sample to come has gained since the first one, over the energy the
  // motion has without the gain: the largest, over all samples, of kinetic energy and change of potential energy less
  // the gain. (E_ref would grow with what is wrong.) 0: nothing gained, or less than `resolution` [J]
  // (Integrator::energy_resolution).
  double gain(const Sample& next, double resolution = 0.0) const;

  struct Momentum {
    std::array<double, 3> initial{}, final{};
    double error = 0.0;  // max |change - booked impulses| over max sum m|v|; angular: over max sum m |x - x_c| |v|
  };
  Momentum linear_momentum() const;
  Momentum angular_momentum() const;

  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive);

 private:
  struct Figures {
    std::array<double, 3> linear_start{}, angular_start{}, linear_end{}, angular_end{};
    double linear_error = 0.0, angular_error = 0.0, linear_scale = 0.0, angular_scale = 0.0;
    double total_first = 0.0, total_last = 0.0, total_min = 0.0, total_max = 0.0;
    double potential_first = 0.0, kinetic_max = 0.0, potential_change = 0.0;
    double true_reference = 0.0;  // E_ref without what has been gained
  };
  struct Gain {
    double absolute, reference;  // [J]: what was gained; E_ref of this sample without it
  };
  Gain gained(const Sample& sample) const;

  std::vector<double> time_, balance_;  // of each sample: total energy - work of loads, supports and dampers
  Figures now_;
};

}  // namespace tempi
