// SPDX-License-Identifier: Apache-2.0
// Loaded before the C library (LD_PRELOAD): makes the n-th write, fsync, rename, truncation or close of files below a
// folder fail, and says how many there were. For tests of what a run leaves behind.
//   FAULT_BELOW   part of the paths that count
//   FAULT_AT      which call fails, from 1; 0: none
//   FAULT_KIND    ENOSPC | EIO | short (half of a write is done, the next one finds no space)
//   FAULT_COUNT   file that receives the number of calls
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int most_descriptors = 1024;
bool counts[most_descriptors] = {};
std::atomic<long> calls = 0;

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool below(const char* path) { return *setting("FAULT_BELOW") != '\0' && std::strstr(path, setting("FAULT_BELOW")); }
bool counted(int descriptor) { return descriptor >= 0 && descriptor < most_descriptors && counts[descriptor]; }

enum class Fault { none, whole, half };

// A disk that is full stays so: all calls after the n-th fail too, but for EIO.
Fault next(bool writes) {
  const long n = ++calls, at = std::atol(setting("FAULT_AT"));
  const bool device = std::strcmp(setting("FAULT_KIND"), "EIO") == 0;
  if (at == 0 || n < at || (device && n > at)) return Fault::none;
  errno = device ? EIO : ENOSPC;
  return writes && n == at && std::strcmp(setting("FAULT_KIND"), "short") == 0 ? Fault::half : Fault::whole;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  static auto* const function = real<int(const char*, int, mode_t)>("open");
  const int descriptor = function(path, flags, mode);
  if (descriptor >= 0 && descriptor < most_descriptors) counts[descriptor] = below(path);
  return descriptor;
}

ssize_t write(int descriptor, const void* data, size_t size) {
  static auto* const function = real<ssize_t(int, const void*, size_t)>("write");
  const Fault fault = counted(descriptor) ? next(true) : Fault::none;
  if (fault == Fault::whole) return -1;
  return function(descriptor, data, fault == Fault::half ? size / 2 : size);
}

ssize_t pwrite(int descriptor, const void* data, size_t size, off_t place) {
  static auto* const function = real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  const Fault fault = counted(descriptor) ? next(true) : Fault::none;
  if (fault == Fault::whole) return -1;
  return function(descriptor, data, fault == Fault::half ? size / 2 : size, place);
}

int fsync(int descriptor) {
  static auto* const function = real<int(int)>("fsync");
  return counted(descriptor) && next(false) != Fault::none ? -1 : function(descriptor);
}

int close(int descriptor) {
  static auto* const function = real<int(int)>("close");
  const bool fails = counted(descriptor) && next(false) != Fault::none;
  const int reason = errno;
  if (descriptor >= 0 && descriptor < most_descriptors) counts[descriptor] = false;
  const int status = function(descriptor);
  if (fails) errno = reason;
  return fails ? -1 : status;
}

int rename(const char* from, const char* to) {
  static auto* const function = real<int(const char*, const char*)>("rename");
  return below(to) && next(false) != Fault::none ? -1 : function(from, to);
}
}

namespace {

struct Report {
  ~Report() {
    if (*setting("FAULT_COUNT") == '\0') return;
    if (std::FILE* file = std::fopen(setting("FAULT_COUNT"), "w")) {
      std::fprintf(file, "%ld\n", calls.load());
      std::fclose(file);
    }
  }
} report;

}  // namespace
