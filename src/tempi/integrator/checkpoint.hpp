// SPDX-License-Identifier: Apache-2.0
// A run put to sleep in a file: state and integrator, bit for bit. Read by the same build on the same kind of machine.
#pragma once

#include <filesystem>

#include "tempi/core/section_file.hpp"
#include "tempi/integrator/integrator.hpp"

namespace tempi {

// For integrators' own save and load: which model it is, and that it is the same. Throws InputError.
void save_model(ArchiveWriter& archive, const Model& model);
void require_same_model(ArchiveReader& archive, const Model& model);

// The sections "state" and "integrator" of a file that may have others. Taken out, neither is changed when one is
// refused.
void put_checkpoint(Sections& sections, const State& state, const Integrator& integrator);
void take_checkpoint(const Sections& sections, State& state, Integrator& integrator);

// A file of its own; the one before is kept (generation_before).
void write_checkpoint(const std::filesystem::path& file, const State& state, const Integrator& integrator);
// Into a state and an integrator of the same model, method and steps. Throws InputError where they differ.
void read_checkpoint(const std::filesystem::path& file, State& state, Integrator& integrator);

}  // namespace tempi
