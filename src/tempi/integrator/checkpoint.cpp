// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/checkpoint.hpp"

#include <fmt/format.h>

#include <fstream>

#include "tempi/core/error.hpp"

namespace tempi {

void save_model(ArchiveWriter& archive, const Model& model) { archive.put("model", model.fingerprint()); }

void require_same_model(ArchiveReader& archive, const Model& model) {
  std::uint64_t saved = 0;
  archive.get("model", saved);
  if (saved != model.fingerprint()) throw InputError("the checkpoint was written by another model. Use the same case.");
}

void write_checkpoint(const std::filesystem::path& file, const State& state, const Integrator& integrator) {
  std::ofstream out(file, std::ios::binary);
  if (!out) throw OutputError(fmt::format("cannot open the checkpoint '{}' for writing.", file.string()));
  ArchiveWriter archive(out);
  state.save(archive);
  integrator.save(archive);
  out.close();
  if (!out) throw OutputError(fmt::format("cannot write the checkpoint '{}'.", file.string()));
}

void read_checkpoint(const std::filesystem::path& file, State& state, Integrator& integrator) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(fmt::format("the checkpoint '{}' cannot be read (does it exist?).", file.string()));
  ArchiveReader archive(in);
  State loaded = state;
  loaded.load(archive);
  integrator.load(archive);  // changes nothing when it refuses
  state = std::move(loaded);
}

}  // namespace tempi
