// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "tempi/core/error.hpp"

extern char** environ;

namespace tempi {

ChildEnd run_child(const std::vector<std::string>& words, double seconds) {
  using Clock = std::chrono::steady_clock;
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    throw InputError(fmt::format("no pipe can be made ({}). Close some files.", std::strerror(errno)));
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  if (error != 0) {
    ::close(pipe[0]);
    throw InputError(fmt::format("'{}' cannot be started ({}).", words.front(), std::strerror(error)));
  }
  ChildEnd end;
  const auto deadline = Clock::now() + std::chrono::duration<double>(seconds);
  std::vector<char> part(std::size_t{1} << 16);
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready = {pipe[0], POLLIN, 0};
    const int status = left > 0 ? ::poll(&ready, 1, static_cast<int>(std::min<long>(left, 1'000'000))) : 0;
    if (status < 0 && errno == EINTR) continue;
    if (status == 0 && Clock::now() >= deadline) {
      end.too_slow = true;
      ::kill(child, SIGKILL);
      break;
    }
    if (status == 0) continue;
    const ssize_t got = ::read(pipe[0], part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    end.output.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(pipe[0]);
  int how = 0;
  while (::waitpid(child, &how, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(how)) end.signal = WTERMSIG(how);
  if (WIFEXITED(how)) end.status = WEXITSTATUS(how);
  return end;
}

}  // namespace tempi
