// SPDX-License-Identifier: Apache-2.0
// What acts on the model from outside, or is not a potential: loads, follower pressure, dampers.
//
// A force has elements k, each with a stencil and a host: the term it acts within
// (Lew, Marsden, Ortiz, West 2003, eq. (9): loads are part of their elements' potentials). The integrator books the
// impulses, their moments and their work in a ledger, those of dampers in one of their own.
#pragma once

#include <span>

#include "tempi/core/ids.hpp"

namespace tempi {

class Force {
 public:
  virtual ~Force() = default;

  virtual Index size() const = 0;
  // The cell whose term hosts the element; dampers have none of their own, their hosts are those of Model::Parts.
  virtual CellId host(Index) const { return make_id<CellId>(-1); }
  virtual std::span<const NodeId> stencil(Index k) const = 0;  // nodes of the host

  // p += dt * force at time t [N s], dim components a stencil node; u: displacements, v: velocities of all nodes.
  virtual void add_impulse(Index k, std::span<const double> u, std::span<const double> v, double t, double dt,
                           std::span<double> p) const = 0;

  // Whether it is a damper, F = -C(u, t) v: linear in the velocities, C symmetric and without negative eigenvalues, so
  // that it can only take energy. Integrators treat it implicitly in v; no other force may depend on v.
  virtual bool is_damper() const { return false; }

  // C += -dF/dv [kg/s], row major, (dim * stencil size)^2 entries.
  virtual void add_damping(Index /*k*/, std::span<const double> /*u*/, double /*t*/, std::span<double> /*C*/) const {}
};

}  // namespace tempi
