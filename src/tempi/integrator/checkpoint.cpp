// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/checkpoint.hpp"

#include <new>
#include <sstream>
#include <stdexcept>

#include "tempi/core/error.hpp"

namespace tempi {

void save_model(ArchiveWriter& archive, const Model& model) { archive.put("model", model.fingerprint()); }

void require_same_model(ArchiveReader& archive, const Model& model) {
  std::uint64_t saved = 0;
  archive.get("model", saved);
  if (saved != model.fingerprint()) throw InputError("the checkpoint was written by another model. Use the same case.");
}

void put_checkpoint(Sections& sections, const State& state, const Integrator& integrator) {
  const auto put = [&](const char* name, const auto& what) {
    std::ostringstream out;
    ArchiveWriter archive(out);
    what.save(archive);
    sections.add(name, std::move(out).str());
  };
  put("state", state);
  put("integrator", integrator);
}

void take_checkpoint(const Sections& sections, State& state, Integrator& integrator) {
  std::istringstream of_state(sections["state"]), of_integrator(sections["integrator"]);
  State loaded = state;
  ArchiveReader first(of_state), second(of_integrator);
  try {
    loaded.load(first);
    integrator.load(second);  // changes nothing when it refuses
  } catch (const std::bad_alloc&) {
    throw InputError("the checkpoint is damaged (it speaks of more than memory holds).");
  } catch (const std::length_error&) {
    throw InputError("the checkpoint is damaged (it speaks of more than memory holds).");
  }
  state = std::move(loaded);
}

void write_checkpoint(const std::filesystem::path& file, const State& state, const Integrator& integrator) {
  Sections sections;
  put_checkpoint(sections, state, integrator);
  write_sections(file, sections);
}

void read_checkpoint(const std::filesystem::path& file, State& state, Integrator& integrator) {
  take_checkpoint(read_sections(file), state, integrator);
}

}  // namespace tempi
