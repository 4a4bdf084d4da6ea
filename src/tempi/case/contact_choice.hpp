// SPDX-License-Identifier: Apache-2.0
// What [[contact]] and [[wall]] of the case file mean: which faces, which nodes, pushed by what.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/contact/face_contact.hpp"
#include "tempi/integrator/stepping/stepping_energy.hpp"
#include "tempi/mesh/mesh.hpp"

namespace tempi {

struct TouchingBody {
  const Mesh& mesh;                // cells and particles
  const Mesh* cells;               // without particles; null: there are none
  Index first_particle;            // node, or how many there are
  std::span<const double> masses;  // [kg], one a node
  const Constants& constants;
};

// How long a step a penalty takes, about: a quarter of the stable step 2 sqrt(epsilon m) of the lightest of `nodes`
// [s]. A node may feel several faces at once.
double penalty_step(std::span<const NodeId> nodes, std::span<const double> masses, double penalty);

// Throws PlacedError: no cells, a plane model, groups without faces or that share one, a penalty out of range.
std::unique_ptr<FaceContact> choose_contact(const ContactInput& in, const TouchingBody& body);

// Throws PlacedError: keys that belong to another type, a shape that cannot be, nobody who could touch it.
HardWall choose_wall(const WallInput& in, const TouchingBody& body);

}  // namespace tempi
