// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/archive.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <istream>
#include <ostream>

#include "tempi/core/error.hpp"

namespace tempi {

void ArchiveWriter::put_bytes(std::string_view name, const void* data, std::size_t size) {
  const std::uint64_t header[2] = {name.size(), size};
  out_.write(reinterpret_cast<const char*>(header), sizeof header);
  out_.write(name.data(), static_cast<std::streamsize>(name.size()));
  out_.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  if (!out_) throw OutputError(fmt::format("cannot write '{}' to the checkpoint (is the disk full?).", name));
}

void ArchiveReader::get(std::string_view name, bool& value) {
  get_bytes(name, sizeof(bool));
  const auto byte = static_cast<unsigned char>(buffer_.front());
  if (byte > 1) throw InputError(fmt::format("the checkpoint is damaged ('{}' is {}).", name, byte));
  value = byte == 1;
}

void ArchiveReader::get_bytes(std::string_view name, std::size_t size) {
  std::uint64_t header[2] = {0, 0};
  in_.read(reinterpret_cast<char*>(header), sizeof header);
  if (!in_ || header[0] > 256) throw InputError(fmt::format("the checkpoint ends before '{}'.", name));
  std::string found(header[0], '\0');
  in_.read(found.data(), static_cast<std::streamsize>(found.size()));
  if (size == any_size && in_) {  // no more than there is
    const auto here = in_.tellg();
    in_.seekg(0, std::ios::end);
    const auto left = static_cast<std::uint64_t>(in_.tellg() - here);
    in_.seekg(here);
    if (header[1] <= left) size = header[1];
  }
  if (!in_ || found != name || header[1] != size)
    throw InputError(
        fmt::format("the checkpoint holds '{}' with {} bytes where '{}' with {} bytes is expected (another model or "
                    "another method wrote it).",
                    found, header[1], name, size));
  buffer_.resize(size);
  in_.read(buffer_.data(), static_cast<std::streamsize>(size));
  if (!in_) throw InputError(fmt::format("the checkpoint ends inside '{}'.", name));
}

}  // namespace tempi
