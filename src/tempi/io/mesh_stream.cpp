// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/mesh_stream.hpp"

#include <utility>

#include "tempi/core/archive.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

void put_text(ArchiveWriter& archive, const char* name, const std::string& text) {
  archive.put(name, std::vector<char>(text.begin(), text.end()));
}

std::string get_text(ArchiveReader& archive, const char* name) {
  std::vector<char> text;
  archive.get_all(name, text);
  return {text.begin(), text.end()};
}

}  // namespace

void send_error(std::ostream& out, const std::string& message) {
  ArchiveWriter archive(out);
  put_text(archive, "error", message);
}

void send(std::ostream& out, const MeshExtract& mesh) {
  ArchiveWriter archive(out);
  put_text(archive, "error", "");
  archive.put("repeated", mesh.repeated);
  archive.put("point_labels", mesh.blocks.point_labels);
  archive.put("points", mesh.blocks.points);
  archive.put("groups", mesh.blocks.groups.size());
  for (const Group& group : mesh.blocks.groups) {
    put_text(archive, "name", group.name);
    archive.put("tag", group.tag);
  }
  archive.put("blocks", mesh.blocks.blocks.size());
  for (const ElementBlock& block : mesh.blocks.blocks) {
    archive.put("type", block.type);
    archive.put("labels", block.labels);
    archive.put("nodes", block.nodes);
    archive.put("groups_of_block", block.groups);
  }
}

MeshExtract receive_mesh(std::istream& in) {
  ArchiveReader archive(in);
  if (const std::string error = get_text(archive, "error"); !error.empty()) throw InputError(error);
  MeshExtract mesh;
  archive.get("repeated", mesh.repeated);
  archive.get_all("point_labels", mesh.blocks.point_labels);
  archive.get_all("points", mesh.blocks.points);
  std::size_t count = 0;
  archive.get("groups", count);
  for (std::size_t i = 0; i < count; ++i) {
    Group& group = mesh.blocks.groups.emplace_back();
    group.name = get_text(archive, "name");
    archive.get("tag", group.tag);
  }
  archive.get("blocks", count);
  for (std::size_t i = 0; i < count; ++i) {
    ElementBlock& block = mesh.blocks.blocks.emplace_back();
    archive.get("type", block.type);
    archive.get_all("labels", block.labels);
    archive.get_all("nodes", block.nodes);
    archive.get_all("groups_of_block", block.groups);
  }
  return mesh;
}

}  // namespace tempi
