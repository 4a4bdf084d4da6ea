// SPDX-License-Identifier: Apache-2.0
// A restitution campaign: `tempi restitution`. Two bodies of a case meet head on at several speeds, and 1 - c v^p is
// fitted to the speed at which they part over that at which they met (M. Gonzalez (2011), section 5.3, Fig. 5.9): what
// a chain of particles takes as `restitution`.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tempi/case/simulation.hpp"

namespace tempi {

// The constant of a case that its initial velocities are made of.
inline constexpr const char* impact_speed = "speed";
inline constexpr const char* restitution_table = "restitution.csv";

// What becomes of a case at another speed, as for --set: impact_speed, and run.end_time by speed^(-1/5), as an impact
// lasts by Hertz. Throws InputError: the case has no such constant, or not two probes with body = true.
std::vector<std::string> settings_of_impact(const CaseFile& input, double speed);

struct Impact {
  double speed;        // of approach [m/s]
  double restitution;  // speed of parting over it, along the way they met
  double vibrating;    // of the energy of approach, what both have in vibrations in the end
};

// The first two bodies a case follows, from the start to the end of a run.
class ImpactWatch {
 public:
  // Before the run. Throws InputError: their velocities are not `speed` apart.
  ImpactWatch(const Simulation& simulation, double speed);
  // After it, with the simulation as it is then. Throws SolveError: they have not parted yet, or not met.
  Impact operator()(const Simulation& simulation) const;

 private:
  struct Parting {
    std::array<double, 3> velocity;  // of the second less the first
    double force, vibrating;         // that changes it: reduced mass times its rate [N]; of both bodies [J]
  };
  static Parting look(const Simulation& simulation, double t);

  double speed_, energy_ = 0.0;  // of approach [J]
  std::array<double, 3> towards_{};
};

struct RestitutionFit {
  double loss, exponent;  // e = 1 - loss v^exponent, v in m/s
  double scatter;         // largest of |ln(1 - e) - ln(loss v^exponent)|
};
// Least squares of logarithms, of those with 0 < e < 1 within rounding; absent of less than two.
std::optional<RestitutionFit> fit_restitution(std::span<const Impact> impacts);

// A row each; with the fit, as [[potential]] takes it.
std::string to_text(const std::optional<RestitutionFit>& fit);
void write_restitution(const std::filesystem::path& file, std::span<const Impact> impacts);
// What is written there, row by row up to the first that is not whole; none without a file.
std::vector<Impact> read_restitution(const std::filesystem::path& file);

}  // namespace tempi
