// SPDX-License-Identifier: Apache-2.0
// What the program that knows Gmsh (app/mesh_reader) tells of a file, as a stream of bytes between two processes.
#pragma once

#include <iosfwd>
#include <string>

#include "tempi/io/element_blocks.hpp"

namespace tempi {

struct MeshExtract {
  ElementBlocks blocks;
  Repeated repeated = Repeated::separate;
};

void send(std::ostream& out, const MeshExtract& mesh);
void send_error(std::ostream& out, const std::string& message);

// Throws InputError: what the other side sent as an error, or a stream that is cut off.
MeshExtract receive_mesh(std::istream& in);

}  // namespace tempi
