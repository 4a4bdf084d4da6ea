// SPDX-License-Identifier: Apache-2.0
// What [[contact]] of the case file means: which faces, which nodes, pushed by what.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/constraint/supports.hpp"
#include "tempi/contact/face_contact.hpp"
#include "tempi/contact/layered_contact.hpp"
#include "tempi/mesh/mesh.hpp"

namespace tempi {

struct TouchingBody {
  const Mesh& mesh;                // cells and particles
  const Mesh* cells;               // without particles; null: there are none
  Index first_particle;            // node, or how many there are
  std::span<const double> masses;  // [kg], one a node
  const Constants& constants;
  std::span<const double> radii = {};                           // of the nodes [m]; empty: nobody has one
  std::span<const double> velocity = {};                        // where the run starts [m/s]; for layers
  const Supports* supports = nullptr;                           // for layers
  double driven = 0.0;                                          // driven_speed of these; for layers
  std::span<const std::unique_ptr<Potential>> potentials = {};  // for layers
  double fall = 0.0;                                            // the speed that loads may give [m/s]; for layers
  double travel = 0.0;                                          // how far things may get [m]; for layers
  double end_time = 0.0;                                        // [s]; for layers
};

// How fast nodes that move as prescribed come towards each other or towards what rests, at most [m/s]: over the run, as
// directions along axes and diagonals tell; of many nodes, some thousand of them.
double driven_speed(const Supports& supports, double end_time, int dim);

// The stable step of a penalty, 2 sqrt(epsilon m) of the lightest of `nodes` [s], and less where a node feels several
// faces at once.
double penalty_limit(std::span<const NodeId> nodes, std::span<const double> masses, double penalty);

// Throws PlacedError: no cells, a plane model, groups without faces or that share one, a penalty out of range.
std::unique_ptr<FaceContact> choose_contact(const ContactInput& in, const TouchingBody& body);

// Layers of contact between what [[contact]] chooses, and the walls, which are rigid things among it. What it does not
// give is chosen: inner distance a tenth of the outer one; speed as velocities, walls, falls and prescribed motions
// have it; stiffness as stiff as the surface is by itself (median over its nodes), and stiff enough that the first
// layer stops every node by itself and the pressure of a wave of this speed. Throws PlacedError: nobody who may touch,
// keys of the other law, values out of range, a wall inside out.
struct ChosenLayers {
  std::unique_ptr<LayeredContact> layers;
  std::unique_ptr<FaceContact> faces;  // to see who crosses where the run starts; null where there are no faces
};
ChosenLayers choose_layers(const ContactInput& in, std::span<const WallInput> walls, const TouchingBody& body);

}  // namespace tempi
