// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/section_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>

#include "tempi/core/error.hpp"
#include "tempi/core/fingerprint.hpp"
#include "tempi/core/output_file.hpp"

namespace tempi {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "tempi sections 2\n";
constexpr std::uint64_t most_sections = 1000;

std::uint64_t checksum(const Sections::Section& section) {
  const auto bytes = [](const std::string& text) { return std::as_bytes(std::span(text)); };
  const std::uint64_t length = section.name.size();
  return fingerprint(bytes(section.bytes),
                     fingerprint(bytes(section.name), fingerprint(std::as_bytes(std::span(&length, 1)))));
}

// What is left of a file in memory.
class Rest {
 public:
  Rest(std::string_view bytes, const fs::path& file) : bytes_(bytes), file_(file) {}
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size()) damaged("it ends early");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  bool empty() const { return bytes_.empty(); }
  [[noreturn]] void damaged(std::string_view how) const {
    throw InputError(fmt::format("'{}' is damaged ({}).", file_.string(), how));
  }

 private:
  std::string_view bytes_;
  const fs::path& file_;
};

}  // namespace

bool Sections::has(std::string_view name) const {
  return std::ranges::find(all_, name, &Sections::Section::name) != all_.end();
}

const std::string& Sections::operator[](std::string_view name) const {
  const auto found = std::ranges::find(all_, name, &Sections::Section::name);
  if (found == all_.end())
    throw InputError(fmt::format("the file has no section '{}' (another program wrote it).", name));
  return found->bytes;
}

fs::path generation_before(const fs::path& file) {
  return fs::path(file).replace_filename(file.stem().string() + ".previous" + file.extension().string());
}

void write_sections(const fs::path& file, const Sections& sections) {
  fs::path part = file;
  part += ".part";
  OutputFile out(part);
  const auto number = [&](std::uint64_t value) { out.write(&value, sizeof value); };
  out.write(magic);
  number(sections.all().size());
  for (const Sections::Section& section : sections.all()) {
    number(section.name.size());
    out.write(section.name);
    number(section.bytes.size());
    number(checksum(section));
    out.write(section.bytes);
  }
  out.sync();
  out.close();
  std::error_code error;
  if (fs::exists(file, error)) rename_file(file, generation_before(file));
  rename_file(part, file);
  sync(file.parent_path());
}

Sections read_sections(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(fmt::format("'{}' cannot be read (does it exist?).", file.string()));
  std::error_code error;
  const std::uintmax_t there = fs::is_regular_file(file, error) ? fs::file_size(file, error) : 0;
  std::string content(error ? 0 : there, '\0');
  in.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(in.gcount()));
  Rest rest(content, file);
  if (rest.take(std::min(content.size(), magic.size())) != magic)
    rest.damaged("it does not begin as a file of this format does");
  const std::uint64_t count = rest.number();
  if (count > most_sections) rest.damaged("too many sections");
  Sections sections;
  for (std::uint64_t i = 0; i < count; ++i) {
    Sections::Section section;
    section.name = rest.take(rest.number());
    const std::uint64_t size = rest.number(), sum = rest.number();
    section.bytes = rest.take(size);
    if (checksum(section) != sum) rest.damaged("a checksum does not agree");
    sections.add(std::move(section.name), std::move(section.bytes));
  }
  if (!rest.empty()) rest.damaged("it goes on after its end");
  return sections;
}

Sections read_sections(const fs::path& file, std::string& damage) {
  damage.clear();
  try {
    return read_sections(file);
  } catch (const InputError& newer) {
    std::error_code ignored;
    if (fs::exists(file, ignored)) damage = newer.what();
    try {
      return read_sections(generation_before(file));
    } catch (const InputError&) {
      throw newer;
    }
  }
}

}  // namespace tempi
