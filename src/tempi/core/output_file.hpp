// SPDX-License-Identifier: Apache-2.0
// A file that is being written, by the system's own calls, so that every failure is seen where it happens: a full disk,
// an error of the device, a short write. All files of a run are written through here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace tempi {

// Every member throws OutputError with the file's name and the system's reason.
class OutputFile {
 public:
  enum class Unfinished { removed, kept };  // what becomes of a file that is not closed by close()

  explicit OutputFile(std::filesystem::path path, Unfinished unfinished = Unfinished::removed);  // empties it
  // Goes on after the first `keep` bytes of a file that has as many, and loses the rest.
  OutputFile(std::filesystem::path path, std::uint64_t keep);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(const void* data, std::size_t size);  // through a buffer
  void write(std::string_view text) { write(text.data(), text.size()); }
  std::uint64_t position() const { return written_ + buffer_.size(); }
  void overwrite(std::uint64_t place, const void* data, std::size_t size);  // of bytes written before
  void flush();                                                             // to the system
  void sync();                                                              // to the device
  void cut(std::uint64_t size) noexcept;  // back to `size` bytes, as far as the system lets us
  void close();

 private:
  void put(const char* data, std::size_t size, std::int64_t place);
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  Unfinished unfinished_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;  // [bytes] handed to the system
  std::string buffer_;
};

enum class Durable { no, yes };  // yes: on the device when it returns, a crash of the machine included

// Puts a whole file in place in one go: the old one stays until the new one is complete. Throws OutputError.
void replace_file(const std::filesystem::path& file, std::string_view text, Durable durable = Durable::no);

// Renames, and throws OutputError with both names and the reason.
void rename_file(const std::filesystem::path& from, const std::filesystem::path& to);
// A file that was written, or the names in a folder, to the device. Throws OutputError.
void sync(const std::filesystem::path& path);

}  // namespace tempi
