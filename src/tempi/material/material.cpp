// SPDX-License-Identifier: Apache-2.0
#include "tempi/material/material.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tempi/core/error.hpp"

namespace tempi {

Lame lame_from_young(double young, double poisson) {
  if (!(young > 0.0) || !std::isfinite(young)) throw InputError(fmt::format("young = {} Pa (must be > 0).", young));
  if (!(poisson > -1.0 && poisson < 0.5))
    throw InputError(
        fmt::format("poisson = {} (must be > -1 and < 0.5; 0.5 is incompressible and has an infinite wave speed).",
                    poisson));
  return {young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)), young / (2.0 * (1.0 + poisson))};
}

Lame checked_lame(double lambda, double mu) {
  if (!(mu > 0.0) || !std::isfinite(mu)) throw InputError(fmt::format("mu = {} Pa (must be > 0).", mu));
  if (!(3.0 * lambda + 2.0 * mu > 0.0) || !std::isfinite(lambda))
    throw InputError(
        fmt::format("lambda = {} Pa with mu = {} Pa (the bulk modulus lambda + 2/3 mu must be > 0).", lambda, mu));
  return {lambda, mu};
}

double dilatational_wave_speed(Lame lame, double rho) { return std::sqrt((lame.lambda + 2.0 * lame.mu) / rho); }

}  // namespace tempi
