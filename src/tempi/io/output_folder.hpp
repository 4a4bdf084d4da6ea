// SPDX-License-Identifier: Apache-2.0
// The folder that receives a run's results.
#pragma once

#include <filesystem>
#include <string>

namespace tempi {

enum class Existing { refuse, overwrite };

// Whether `folder` could take the results; changes nothing. Throws InputError: it is a file, holds results already (and
// they may not be overwritten), or its parent cannot be written to.
void check_output_folder(const std::filesystem::path& folder, Existing existing);

// Creates `folder`, removes results of an earlier run, and proves that it can be written to. Throws InputError.
void prepare_output_folder(const std::filesystem::path& folder, Existing existing);

// Writes a whole text file in one go: the old one stays until the new one is complete. Throws OutputError.
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace tempi
