// SPDX-License-Identifier: Apache-2.0
// What acts on the model from outside, or is not a potential: loads, follower pressure, (later) damping and drag.
//
// A force has elements k, each with a stencil and a host: the cell whose term it acts within
// (Lew, Marsden, Ortiz, West 2003, eq. (9): loads are part of their elements' potentials). The integrator books the
// impulses, their moments and their work in a ledger.
#pragma once

#include <span>

#include "tempi/core/ids.hpp"

namespace tempi {

class Force {
 public:
  virtual ~Force() = default;

  virtual Index size() const = 0;
  virtual CellId host(Index k) const = 0;
  virtual std::span<const NodeId> stencil(Index k) const = 0;  // nodes of the host

  // p += dt * force at time t [N s], dim components a stencil node; u: displacements, v: velocities of all nodes.
  virtual void add_impulse(Index k, std::span<const double> u, std::span<const double> v, double t, double dt,
                           std::span<double> p) const = 0;
};

}  // namespace tempi
