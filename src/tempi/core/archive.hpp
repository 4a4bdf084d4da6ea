// SPDX-License-Identifier: Apache-2.0
// A flat binary record of everything a run needs to go on. Written and read by the same binary on the same kind of
// machine (native byte order); each item carries its name, so a mismatch is told, not misread.
#pragma once

#include <cstring>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {

class ArchiveWriter {
 public:
  explicit ArchiveWriter(std::ostream& out) : out_(out) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(std::string_view name, const T& value) { put_bytes(name, &value, sizeof(T)); }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put(std::string_view name, const std::vector<T>& values) {
    put_bytes(name, values.data(), values.size() * sizeof(T));
  }

 private:
  void put_bytes(std::string_view name, const void* data, std::size_t size);  // throws OutputError
  std::ostream& out_;
};

class ArchiveReader {
 public:
  explicit ArchiveReader(std::istream& in) : in_(in) {}

  // Throws InputError when the next item has another name or another size.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void get(std::string_view name, T& value) {
    get_bytes(name, sizeof(T));
    std::memcpy(&value, buffer_.data(), sizeof(T));
  }
  void get(std::string_view name, bool& value);  // throws too where the byte is neither 0 nor 1
  // The vector's present size says how many values are expected.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void get(std::string_view name, std::vector<T>& values) {
    get_bytes(name, values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), buffer_.data(), buffer_.size());
  }
  // As many values as were put.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void get_all(std::string_view name, std::vector<T>& values) {
    get_bytes(name, any_size);
    values.resize(buffer_.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), buffer_.data(), values.size() * sizeof(T));
  }

 private:
  static constexpr std::size_t any_size = static_cast<std::size_t>(-1);
  void get_bytes(std::string_view name, std::size_t size);
  std::istream& in_;
  std::string buffer_;
};

}  // namespace tempi
