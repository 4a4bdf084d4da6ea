// SPDX-License-Identifier: Apache-2.0
// What [particles] of the case file means, and the mesh of points that stands for them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/io/particle_file.hpp"
#include "tempi/mesh/mesh.hpp"
#include "tempi/pair/pairs.hpp"
#include "tempi/space/box.hpp"

namespace tempi {

struct ParticleModel {
  Particles particles;        // with a mass and a velocity each
  std::vector<double> radii;  // [m], one each; empty: points
  Box box;
  std::vector<std::string> warnings;
};

// A file in its units becomes SI; where it has no masses and all its groups are chemical elements, those of their
// atoms. Throws PlacedError: a file that cannot be read, masses, velocities or a box that do not fit the positions, a
// mass that is not positive.
ParticleModel choose_particles(const ParticlesInput& in, const std::filesystem::path& folder);

// The cells of `elastic`, if there are any, a point cell for each particle, then a line for each bond (between nodes of
// the result). Particles are labelled by their number from 0, or on from the largest label of `elastic`; all of them
// are the group "particles". Throws InputError: different dimensions.
Mesh mesh_of(const Mesh* elastic, const ParticleModel& model, const std::vector<NodePair>& bonds);

}  // namespace tempi
