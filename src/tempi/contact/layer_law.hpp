// SPDX-License-Identifier: Apache-2.0
// The potentials between two things that come close: layers l = 0, 1, 2 ... without end, each softer, wider and slower
// than the next,
//
//   V_l = r_l (eta_l - d)^p / p  where the distance d < eta_l,
//   eta_l - eta_inner = (eta_0 - eta_inner) 2^(-l/2),  r_(l+1) / r_l = 2^(p/2 + 1)
//
// so the energy it takes to pass a layer doubles from one to the next: no finite energy brings anything to eta_inner.
// The largest curvature of a layer grows fourfold, so its step halves: steps are powers of two of each other and every
// layer has the same share of its stable step. Vouga, Harmon, Tamstorf, Grinspun (2010), section 5, give the idea of
// layers with steps of their own, not their numbers; those are ours.
//
// p = 3 by default: the force has no kink. With p = 2, as published, energy wanders: at the same share of the stable
// step some hundred times as far (docs/contact.md).
#pragma once

#include <cmath>

namespace tempi {

struct LayerLaw {
  double outer = 0.0, inner = 0.0;  // eta_0 > eta_inner > 0 [m]
  double stiffness = 0.0;           // r_0 [J/m^p]
  double exponent = 3.0;            // p, from 2 to 4

  double depth(int layer) const { return (outer - inner) * std::exp2(-0.5 * layer); }  // eta_l - eta_inner [m]
  double distance(int layer) const { return inner + depth(layer); }                    // eta_l [m]
  double stiffness_of(int layer) const { return stiffness * std::exp2((0.5 * exponent + 1.0) * layer); }

  double power(double deep) const {  // deep^(p - 1)
    return exponent == 3.0 ? deep * deep : exponent == 2.0 ? deep : std::pow(deep, exponent - 1.0);
  }
  // Of a layer [J], and its -dV_l/dd [N], at a distance d; zero from eta_l on.
  struct Values {
    double energy = 0.0, force = 0.0;
  };
  Values at(int layer, double d) const {
    const double deep = distance(layer) - d;
    if (!(deep > 0.0)) return {};
    const double force = stiffness_of(layer) * power(deep);
    return {force * deep / exponent, force};
  }

  double barrier(int layer) const {  // V_l at eta_inner [J]
    return stiffness_of(layer) * std::pow(depth(layer), exponent) / exponent;
  }
  double curvature(int layer) const {  // the largest d2V_l/dd2, there [N/m]
    return stiffness_of(layer) * (exponent - 1.0) * std::pow(depth(layer), exponent - 2.0);
  }
};

}  // namespace tempi
