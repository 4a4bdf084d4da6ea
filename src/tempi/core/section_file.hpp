// SPDX-License-Identifier: Apache-2.0
// A file of named sections of bytes that is either read back whole or refused: each section carries its length and a
// checksum over name and bytes, the file a version of its format and the number of its sections. Written to one side,
// synced and renamed, and what was there before is kept as the generation before: at no moment, a crash of the machine
// included, is there neither. Bytes are the machine's own (core/archive.hpp).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tempi {

class Sections {
 public:
  struct Section {
    std::string name, bytes;
  };
  void add(std::string name, std::string bytes) { all_.push_back({std::move(name), std::move(bytes)}); }
  bool has(std::string_view name) const;
  const std::string& operator[](std::string_view name) const;  // throws InputError where there is none
  const std::vector<Section>& all() const { return all_; }

 private:
  std::vector<Section> all_;
};

// The one before `file`: x.bin -> x.previous.bin.
std::filesystem::path generation_before(const std::filesystem::path& file);

// The file that is there becomes the generation before. Throws OutputError with the name of the file.
void write_sections(const std::filesystem::path& file, const Sections& sections);

// Throws InputError: no such file, damaged or cut off (any single changed byte is found), another format.
Sections read_sections(const std::filesystem::path& file);

// The file, or the generation before where it is missing or damaged. Throws InputError with what is wrong with the
// newer one where both are. `damage` receives what was wrong with the newer one if the older was taken.
Sections read_sections(const std::filesystem::path& file, std::string& damage);

}  // namespace tempi
