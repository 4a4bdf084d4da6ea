// SPDX-License-Identifier: Apache-2.0
// What fast engines keep of a node.
#pragma once

namespace tempi {

// All that a fast engine keeps of a node, one cache line: a strike reads the first half and kicks the second.
// Components beyond the model's dimension stay zero.
struct alignas(64) NodeLine {
  double displacement[3] = {};  // [m]
  double clock = 0.0;           // in ticks
  double velocity[3] = {};      // [m/s]
  double inverse_mass = 0.0;    // [1/kg]
};
static_assert(sizeof(NodeLine) == 64);

// What a node's velocity lacks of that in step with its place: at tick t, change + per_tick (t - since).
struct alignas(64) VelocityCorrection {
  double change[3] = {};  // [m/s]
  double since = 0.0;     // [ticks]
  double per_tick[3] = {};
  double none = 0.0;
};

// A change of a node's displacement.
struct alignas(32) NodeShift {
  double displacement[3] = {};  // [m]
  double none = 0.0;
};

// Of a node at an instant, for those who watch.
struct alignas(32) NodeMean {
  double velocity[3] = {};  // half of that before the instant's kicks and that after them [m/s]
  double kinetic = 0.0;     // m v^2 / 2 before them [J]
};

}  // namespace tempi
