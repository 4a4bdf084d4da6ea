// SPDX-License-Identifier: Apache-2.0
// The folder that receives a run's results.
#pragma once

#include <filesystem>
#include <string>

namespace tempi {

enum class Existing { refuse, overwrite, resume };

// Whether `folder` could take the results; changes nothing. Throws InputError: it is a file, holds results already (and
// they may be neither replaced nor gone on with), or its parent cannot be written to.
void check_output_folder(const std::filesystem::path& folder, Existing existing);

// Creates `folder` and proves that it can be written to. Throws InputError, as check_output_folder too.
void prepare_output_folder(const std::filesystem::path& folder, Existing existing);

// Results of an earlier run move to the subfolder `previous`, in the place of those that were there. Throws InputError.
void move_results_aside(const std::filesystem::path& folder);

// Keeps other runs out of a folder that exists, as long as it lives; ends with the process, however that ends.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder);  // throws InputError: another run has it
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;  // none where the file system cannot lock
};

}  // namespace tempi
