// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 16;

[[noreturn]] void refuse(const std::filesystem::path& path) {
  const int reason = errno;
  throw OutputError(fmt::format("cannot write '{}' ({}). Free some space, or choose another folder with --out.",
                                path.string(), std::generic_category().message(reason)));
}

}  // namespace

OutputFile::OutputFile(std::filesystem::path path, Unfinished unfinished)
    : path_(std::move(path)),
      unfinished_(unfinished),
      descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail();
}

OutputFile::OutputFile(std::filesystem::path path, std::uint64_t keep)
    : path_(std::move(path)),
      unfinished_(Unfinished::kept),
      descriptor_(::open(path_.c_str(), O_WRONLY | O_CLOEXEC)),
      written_(keep) {
  if (descriptor_ >= 0 && ::ftruncate(descriptor_, static_cast<off_t>(keep)) == 0 &&
      ::lseek(descriptor_, static_cast<off_t>(keep), SEEK_SET) >= 0)
    return;
  const int reason = errno;
  if (descriptor_ >= 0) ::close(descriptor_);
  errno = reason;
  fail();
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  if (unfinished_ == Unfinished::kept && !buffer_.empty()) {
    try {
      flush();
    } catch (const OutputError&) {  // nobody is left to hear it
    }
  }
  ::close(descriptor_);
  std::error_code ignored;
  if (unfinished_ == Unfinished::removed && std::filesystem::is_regular_file(path_, ignored))
    std::filesystem::remove(path_, ignored);
}

void OutputFile::fail() const { refuse(path_); }

// All of it, at `place` or, if that is negative, where the file is.
void OutputFile::put(const char* data, std::size_t size, std::int64_t place) {
  while (size > 0) {
    const ssize_t done = place < 0 ? ::write(descriptor_, data, size) : ::pwrite(descriptor_, data, size, place);
    if (done < 0 && errno == EINTR) continue;
    if (done == 0) errno = ENOSPC;  // no progress and no reason given
    if (done <= 0) fail();
    data += done;
    size -= static_cast<std::size_t>(done);
    if (place >= 0) place += done;
  }
}

void OutputFile::write(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  if (buffer_.size() + size > buffer_size) flush();
  if (size > buffer_size) {
    put(bytes, size, -1);
    written_ += size;
  } else {
    buffer_.append(bytes, size);
  }
}

void OutputFile::overwrite(std::uint64_t place, const void* data, std::size_t size) {
  flush();
  put(static_cast<const char*>(data), size, static_cast<std::int64_t>(place));
}

void OutputFile::flush() {
  const std::string pending = std::exchange(buffer_, {});
  put(pending.data(), pending.size(), -1);
  written_ += pending.size();
}

void OutputFile::sync() {
  flush();
  if (::fsync(descriptor_) != 0) fail();
}

void OutputFile::cut(std::uint64_t size) noexcept {
  buffer_.clear();
  const bool cut = ::ftruncate(descriptor_, static_cast<off_t>(size)) == 0;
  if (cut && ::lseek(descriptor_, static_cast<off_t>(size), SEEK_SET) >= 0) written_ = size;
}

void OutputFile::close() {
  flush();
  if (::close(std::exchange(descriptor_, -1)) == 0) return;
  const int reason = errno;
  std::error_code ignored;
  if (unfinished_ == Unfinished::removed) std::filesystem::remove(path_, ignored);
  errno = reason;
  fail();
}

void rename_file(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) refuse(to);
}

void sync(const std::filesystem::path& path) {
  const std::filesystem::path here = path.empty() ? "." : path;
  const int descriptor = ::open(here.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) refuse(here);
  const bool done = ::fsync(descriptor) == 0 || errno == EINVAL;  // some file systems have nothing to sync
  const int reason = errno;
  ::close(descriptor);
  errno = reason;
  if (!done) refuse(here);
}

void replace_file(const std::filesystem::path& file, std::string_view text, Durable durable) {
  std::filesystem::path part = file;
  part += ".part";
  OutputFile out(part);
  out.write(text);
  if (durable == Durable::yes) out.sync();
  out.close();
  try {
    rename_file(part, file);
  } catch (const OutputError&) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    throw;
  }
  if (durable == Durable::yes) sync(file.parent_path());
}

}  // namespace tempi
