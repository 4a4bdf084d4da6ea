// SPDX-License-Identifier: Apache-2.0
// What [particles] of the case file means, and the mesh of points that stands for them.
#pragma once

#include <filesystem>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/io/particle_file.hpp"
#include "tempi/mesh/mesh.hpp"
#include "tempi/pair/pairs.hpp"
#include "tempi/space/box.hpp"

namespace tempi {

struct ParticleModel {
  Particles particles;  // with a mass and a velocity each
  Box box;
};

// Throws PlacedError: a file that cannot be read, masses, velocities or a box that do not fit the positions, a mass
// that is not positive.
ParticleModel choose_particles(const ParticlesInput& in, const std::filesystem::path& folder);

// A point cell for each particle, labelled by its number from 0, then a line for each bond that does not cross the
// box's boundary.
Mesh mesh_of(const ParticleModel& model, const std::vector<NodePair>& bonds);

}  // namespace tempi
