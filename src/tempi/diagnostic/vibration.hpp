// SPDX-License-Identifier: Apache-2.0
// The slowest vibration of a model about a configuration, and how an integrator's differs from it: what accuracy of
// smooth motion is measured by.
#pragma once

#include <span>
#include <vector>

#include "tempi/integrator/integrator.hpp"
#include "tempi/model/model.hpp"

namespace tempi {

struct Vibration {
  std::vector<double> shape;  // phi, like displacements [m], phi^T M phi = 1 kg m^2; zero on held components
  double frequency;           // omega [rad/s], omega^2 = phi^T K phi
};

// By inverse iteration of a few shapes at once on the assembled stiffness at `u`, to a residual of 1e-10. Throws
// InputError where the stiffness cannot be factorised, as of a body that nothing holds, or nothing can move. Cost: a
// sparse factorisation.
Vibration slowest_vibration(const Model& model, std::span<const double> u);

struct MeasuredVibration {
  double error;  // of the frequency, relative
  double band;   // largest deviation of the energy from where it began, relative
};

// Lets the model go from u + amplitude phi and lays a line through the phase atan2(-phi M v / omega, phi M x) at
// `samples` times within so many periods. Nonlinear models need a small amplitude; errors below some 1e-9 are not
// resolved.
MeasuredVibration measure_vibration(const Model& model, std::span<const double> u, Integrator& integrator,
                                    const Vibration& vibration, double amplitude, double periods, int samples = 400);

}  // namespace tempi
