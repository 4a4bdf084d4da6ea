// SPDX-License-Identifier: Apache-2.0
// What acts on the model from outside, or is not a potential: loads, follower pressure, dampers.
//
// A force has elements k, each with a stencil and, in a model, a host: the term it acts within
// (Lew, Marsden, Ortiz, West 2003, eq. (9): loads are part of their elements' potentials). The integrator books the
// impulses, their moments and their work in a ledger, those of dampers in one of their own.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tempi/core/expression.hpp"
#include "tempi/core/ids.hpp"
#include "tempi/force/damping_batch.hpp"
#include "tempi/force/load_batch.hpp"

namespace tempi {

// A part of a dead load: weight f(X, t) [N] along one component on one node of an element's stencil.
struct DeadPart {
  std::size_t node;  // of the stencil
  int component;
  const Expression* value;
  std::array<double, 3> X;  // where it is looked at
  double weight;
  const char* what;  // "gravity", for messages
};

// A contact that a damper remembers (impact_damping.hpp).
struct Touch {
  std::array<std::int32_t, 2> place{-1, -1};  // of two nodes in their element's stencil; the second -1: a wall
  double speed = 0.0;                         // the largest of approach since they touched [m/s]
  double strength = 0.0;                      // that belongs to it
  std::array<double, 3> along{};              // c of the first node [sqrt(kg/s)], where it was last looked at

  template <class Visit>
  void each_place(Visit&& visit) const {  // visit(place, sign of c there)
    visit(static_cast<std::size_t>(place[0]), 1.0);
    if (place[1] >= 0) visit(static_cast<std::size_t>(place[1]), -1.0);
  }
};

class Force {
 public:
  virtual ~Force() = default;

  virtual Index size() const = 0;
  virtual std::span<const NodeId> stencil(Index k) const = 0;  // nodes of the host: Model::Parts::hosts

  // p += dt * force at time t [N s], dim components a stencil node; u: displacements, v: velocities of all nodes.
  virtual void add_impulse(Index k, std::span<const double> u, std::span<const double> v, double t, double dt,
                           std::span<double> p) const = 0;

  // Whether it is dead: a sum of parts that do not depend on where the nodes are, visited in a fixed order.
  virtual bool is_dead() const { return false; }
  virtual void each_dead_part(Index /*k*/, const std::function<void(const DeadPart&)>& /*visit*/) const {}

  // These elements, packed, of a load that is not dead; `place` of each node is its line in the engine's order. The
  // batch may refer to this force. The base class offers a plain loop over add_impulse.
  virtual std::unique_ptr<LoadBatch> batch(int dim, std::span<const Index> elements,
                                           std::span<const std::int32_t> place) const;

  // Whether it is a damper, F = -C(u, t) v: linear in the velocities, C symmetric and without negative eigenvalues, so
  // that it can only take energy. Integrators treat it implicitly in v; no other force may depend on v.
  virtual bool is_damper() const { return false; }

  // Dampers that remember what touches, in State::memory, where nothing is in the beginning: C = sum c c^T over those,
  // c their Touch::along and its opposite, and add_impulse and add_damping have it at unit strength. An integrator
  // reminds them of every moment an element acts at, before it does; without velocities they are told where it is, and
  // learn nothing.
  virtual bool remembers() const { return false; }
  virtual void remember(Index /*k*/, std::span<const double> /*u*/, std::span<const double> /*v*/,
                        std::vector<Touch>& /*memory*/) const {}
  virtual std::span<const Touch> touching(Index /*k*/, std::span<const Touch> /*memory*/) const { return {}; }

  // Numbers that tell it from others of its kind, where its impulses on a body at rest do not.
  virtual std::vector<double> identity() const { return {}; }

  // What of a damper is a drag on single nodes: visit(node of the stencil, c [kg/s]). Whether that is all of it.
  virtual bool each_drag(Index /*k*/, const std::function<void(std::size_t node, double c)>& /*visit*/) const {
    return false;
  }

  // Of a damper whose elements are not drags alone, what is no drag, packed. `elements` in packs of pack_width(), no
  // two of a pack sharing a node, -1 for none; `place` of each node is its line, `held` of each line whether a
  // component of it is held. The batch may refer to this force. The base class offers a plain loop over add_damping,
  // all of it.
  virtual std::unique_ptr<DampingBatch> damping_batch(int dim, std::span<const Index> elements,
                                                      std::span<const std::int32_t> place,
                                                      std::span<const std::array<bool, 3>> held) const;

  // C += -dF/dv [kg/s], row major, (dim * stencil size)^2 entries. Dampers have to know it: the base class throws
  // SolveError.
  virtual void add_damping(Index k, std::span<const double> u, double t, std::span<double> C) const;
};

}  // namespace tempi
