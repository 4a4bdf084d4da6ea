// SPDX-License-Identifier: Apache-2.0
// tempi-mesh: reads or meshes one file by Gmsh and tells what is in it on standard output (io/mesh_stream.hpp). A
// program of its own, started by read_gmsh, so that whatever Gmsh does to itself it does to nobody else.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <sstream>
#include <string>

#include "gmsh_file.hpp"
#include "tempi/core/error.hpp"

namespace {

bool system_calls_allowed = false;
std::string refused_call;  // the first command that a script wanted to run

void limit(int what, double most) {
  if (most <= 0.0) return;
  rlimit now{};
  getrlimit(static_cast<__rlimit_resource_t>(what), &now);
  now.rlim_cur = std::min(now.rlim_max, static_cast<rlim_t>(most));
  setrlimit(static_cast<__rlimit_resource_t>(what), &now);
}

// Standard output is for the mesh alone: what Gmsh and the kernels below it print goes nowhere.
int keep_output_to_ourselves() {
  const int out = dup(STDOUT_FILENO);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  close(nowhere);
  return out;
}

void write_all(int descriptor, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t now = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (now <= 0) std::_Exit(1);
    done += static_cast<std::size_t>(now);
  }
}

}  // namespace

// In the place of the C library's: SystemCall in a .geo comes by here.
extern "C" int system(const char* command) {
  if (system_calls_allowed) {
    static auto* const real = reinterpret_cast<int (*)(const char*)>(dlsym(RTLD_NEXT, "system"));
    return real(command);
  }
  if (command != nullptr && refused_call.empty()) refused_call = command;
  return -1;
}

int main(int argc, char** argv) {
  if (argc != 10) {
    fmt::print(stderr, "tempi-mesh is started by tempi to read meshes. Run tempi.\n");
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int out = keep_output_to_ourselves();
  tempi::MeshOptions options;
  options.order = std::atoi(argv[3]);
  options.size = std::strtod(argv[4], nullptr);
  options.refine = std::atoi(argv[5]);
  options.curved = std::string(argv[6]) == "curved";
  system_calls_allowed = std::string(argv[7]) == "system-calls";
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  limit(RLIMIT_DATA, std::strtod(argv[8], nullptr));
#endif
  limit(RLIMIT_CPU, std::strtod(argv[9], nullptr));
  limit(RLIMIT_CORE, 1.0);
  const std::string file = argv[1];
  std::ostringstream stream;
  try {
    const tempi::MeshExtract mesh = tempi::extract_by_gmsh(file, std::string(argv[2]) == "geometry", options);
    if (!refused_call.empty())
      throw tempi::InputError(
          fmt::format("{}: it wants to run the command '{:.80}' (SystemCall; a file from elsewhere "
                      "should not). Remove it, or set mesh.system_calls = true.",
                      file, refused_call));
    send(stream, mesh);
  } catch (const std::bad_alloc&) {
    stream.str("");
    tempi::send_error(stream,
                      fmt::format("{}: it needs more memory than there is for it ({:.2g} GB). Give a larger mesh.size, "
                                  "or export the file again.",
                                  file, 1e-9 * std::strtod(argv[8], nullptr)));
  } catch (const std::exception& e) {
    stream.str("");
    tempi::send_error(stream, e.what());
  }
  write_all(out, stream.str());
  std::_Exit(0);  // what Gmsh would clean up goes with the process
}
