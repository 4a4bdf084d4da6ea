// SPDX-License-Identifier: Apache-2.0
// The `tempi` command: parse, call, print. Data to stdout, talk to stderr.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tempi/case/adapt.hpp"
#include "tempi/case/method_table.hpp"
#include "tempi/case/model_report.hpp"
#include "tempi/case/option_table.hpp"
#include "tempi/case/restitution.hpp"
#include "tempi/case/run.hpp"
#include "tempi/case/run_checkpoint.hpp"
#include "tempi/case/stability_report.hpp"
#include "tempi/core/error.hpp"
#include "tempi/version.hpp"

namespace {

namespace fs = std::filesystem;

enum ExitCode { done = 0, bad_input = 2, numerical_failure = 3, write_failure = 4, interrupted = 130 };

std::atomic<bool> stop_requested = false;

// The second time, at once; but a signal may come twice, to the process and to its group (timeout, batch systems).
void request_stop(int) {
  static volatile std::time_t first = 0;
  if (!stop_requested.exchange(true)) first = std::time(nullptr);
  if (std::time(nullptr) > first + 1) std::_Exit(interrupted);
}

// One line, however long and whatever is in what it quotes.
void say(std::string line) {
  constexpr std::size_t most = 2000;
  if (line.size() > most) line.replace(most / 2, line.size() - most, " [...] ");
  for (char& c : line)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  fmt::print(stderr, "tempi: {}\n", line);
}

// A case brought to life. What fails numerically here does so before the run begins: its input is wrong.
tempi::Simulation built(tempi::CaseFile input, int threads) {
  try {
    return tempi::build(std::move(input), threads);
  } catch (const tempi::SolveError& e) {
    throw tempi::InputError(e.what());
  }
}

// As many threads as the system lets us have, up to `wanted`.
int startable(int wanted) {
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  try {
    while (std::ssize(threads) < wanted - 1) threads.emplace_back([&] { over.wait(false); });
  } catch (const std::system_error&) {
    say(fmt::format("warning: only {} of {} threads could be started.", threads.size() + 1, wanted));
  }
  over = true;
  over.notify_all();
  for (std::thread& thread : threads) thread.join();
  return static_cast<int>(threads.size()) + 1;
}

// For CLI11, whose own message tells the largest number there is, digit by digit.
std::string positive(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return value > 0.0 && std::isfinite(value) && *end == '\0' ? "" : fmt::format("'{}' must be a number > 0", text);
}

struct Arguments {
  std::string case_file;
  std::optional<std::string> folder;
  std::vector<std::string> settings;
  int threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 16);
  bool quiet = false, overwrite = false, resume = false, markdown = false, table = false;
  tempi::Index longest_steps = tempi::stability_horizon;
  std::vector<std::string> run_folders;
  int frame = -1;
  tempi::AdaptionOptions adaption;
  std::vector<double> speeds;
};

std::string time_left(const tempi::Progress& p) {
  const double rate = p.time / p.wall_time;
  const auto seconds = static_cast<long>((p.end_time - p.time) / rate);
  if (seconds >= 3600) return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
  return seconds >= 60 ? fmt::format("{} min {:02} s", seconds / 60, seconds % 60) : fmt::format("{} s", seconds);
}

void show_progress(const tempi::Progress& p) {
  constexpr int width = 24;
  const int full = static_cast<int>(width * p.time / p.end_time);
  fmt::print(stderr, "\r[{:#<{}}{:.<{}}] {:5.1f} %  t = {:.4g} s  {:.3g} updates/s  energy {:+.1e}  {} left \033[K", "",
             full, "", width - full, 100.0 * p.time / p.end_time, p.time, static_cast<double>(p.updates) / p.wall_time,
             p.energy_change, time_left(p));
}

fs::path folder_of(const Arguments& arguments, const char* ending) {
  return arguments.folder ? fs::path(*arguments.folder)
                          : fs::path(arguments.case_file).filename().replace_extension(ending);
}

void hear_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (std::signal(signal, request_stop) == SIG_IGN) std::signal(signal, SIG_IGN);  // as nohup wants it
}

void show_warnings(const tempi::Simulation& simulation) {
  for (const std::string& warning : simulation.warnings) say("warning: " + warning);
}

int run_built(tempi::Simulation& simulation, const Arguments& arguments, tempi::RunOptions options) {
  if (!arguments.quiet) show_warnings(simulation);
  options.threads = arguments.threads;
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal && !arguments.quiet) options.on_progress = show_progress;
  options.stop = &stop_requested;
  hear_signals();
  options.on_warning = [&](const std::string& warning) { say("warning: " + warning); };
  const auto clear_line = [&] {
    if (options.on_progress) fmt::print(stderr, "\r\033[K");
  };
  tempi::Summary summary;
  try {
    summary = tempi::run(simulation, options);
  } catch (const tempi::SolveError& e) {
    clear_line();
    throw tempi::SolveError(
        fmt::format("{} '{}' holds what was computed until then.", e.what(), options.folder.string()));
  } catch (...) {
    clear_line();
    throw;
  }
  clear_line();
  if (!summary.caution.empty()) say("caution: " + summary.caution);
  if (!arguments.quiet) fmt::print("{}  results         {}\n", tempi::to_text(summary), options.folder.string());
  if (summary.status == tempi::Status::interrupted) {
    say(fmt::format("interrupted ({}); '{}' holds what was computed so far. Add --resume to go on.", summary.message,
                    options.folder.string()));
    return interrupted;
  }
  return done;
}

tempi::Existing existing_of(const Arguments& arguments) {
  if (arguments.overwrite) return tempi::Existing::overwrite;
  return arguments.resume ? tempi::Existing::resume : tempi::Existing::refuse;
}

int run_case(const Arguments& arguments) {
  tempi::RunOptions options;
  options.existing = existing_of(arguments);
  options.folder = folder_of(arguments, ".out");
  tempi::CaseFile input = tempi::read_case(arguments.case_file, arguments.settings);
  tempi::check_output_folder(options.folder, options.existing);
  if (arguments.resume && tempi::is_complete(options.folder, input)) {
    if (!arguments.quiet) say(fmt::format("'{}' is complete already.", options.folder.string()));
    return done;
  }
  tempi::Simulation simulation = built(std::move(input), arguments.threads);
  return run_built(simulation, arguments, options);
}

// Moves the nodes, and runs the case on the mesh that it has written.
int adapt_case(const Arguments& arguments) {
  const tempi::Existing existing = arguments.overwrite ? tempi::Existing::overwrite : tempi::Existing::refuse;
  const fs::path folder = folder_of(arguments, ".adapted");
  tempi::CaseFile input = tempi::read_case(arguments.case_file, arguments.settings);
  tempi::check_output_folder(folder, existing);
  std::vector<std::string> settings = arguments.settings;
  settings.push_back(fmt::format("mesh.file=\"{}\"", fs::absolute(folder / tempi::adapted_mesh).string()));
  if (input.mesh_scale != 1.0) settings.emplace_back("mesh.scale=1.0");
  if (!input.meshes_beside.empty()) settings.emplace_back("mesh.beside=[]");
  tempi::Simulation simulation = built(std::move(input), arguments.threads);
  tempi::prepare_output_folder(folder, existing);
  std::optional<tempi::FolderLock> lock(std::in_place, folder);
  if (existing == tempi::Existing::overwrite) tempi::move_results_aside(folder);
  hear_signals();
  tempi::AdaptRun adaption;
  adaption.options = arguments.adaption;
  adaption.stop = &stop_requested;
  if (!arguments.quiet) {
    fmt::print("{:>9}  {:>20}  {:>13}  {:>12}  {:>11}\n", "iteration", "potential energy [J]", "largest force",
               "active cells", "least shape");
    adaption.on_iteration = [](const tempi::AdaptionState& now) {
      fmt::print("{:>9}  {:>20.12g}  {:>13.4g}  {:>12}  {:>11.3g}\n", now.iteration, now.potential, now.largest_force,
                 now.active_cells, now.least_shape);
    };
  }
  const tempi::AdaptReport report = tempi::adapt(simulation, folder, adaption);
  if (!arguments.quiet) fmt::print("{}", tempi::to_text(report));
  if (!report.converged && !stop_requested) say(fmt::format("warning: {}", report.fault));
  stop_requested = false;
  lock.reset();
  tempi::RunOptions options;
  options.existing = tempi::Existing::resume;  // of the folder as it is now
  options.folder = folder;
  tempi::Simulation adapted = built(tempi::read_case(arguments.case_file, settings), arguments.threads);
  return run_built(adapted, arguments, options);
}

// A run for each speed, and what they tell together.
int measure_restitution(const Arguments& arguments) {
  tempi::RunOptions options;
  options.existing = existing_of(arguments);
  const fs::path folder = folder_of(arguments, ".restitution");
  const tempi::CaseFile given = tempi::read_case(arguments.case_file, arguments.settings);
  const std::set<double> speeds(arguments.speeds.begin(), arguments.speeds.end());
  const auto folder_at = [&](double speed) { return folder / fmt::format("speed-{:.6g}", speed); };
  for (const double speed : speeds) tempi::check_output_folder(folder_at(speed), options.existing);
  const fs::path table = folder / tempi::restitution_table;
  const std::vector<tempi::Impact> known =
      arguments.resume ? tempi::read_restitution(table) : std::vector<tempi::Impact>();
  Arguments of_run = arguments;
  of_run.quiet = true;
  std::vector<tempi::Impact> impacts;
  std::set<std::string> warnings;
  for (const double speed : speeds) {
    std::vector<std::string> settings = arguments.settings;
    for (std::string& setting : tempi::settings_of_impact(given, speed)) settings.push_back(std::move(setting));
    options.folder = folder_at(speed);
    tempi::CaseFile input = tempi::read_case(arguments.case_file, settings);
    const auto row = std::ranges::find(known, speed, &tempi::Impact::speed);
    if (row != known.end() && tempi::is_complete(options.folder, input)) {
      impacts.push_back(*row);
    } else {
      tempi::Simulation simulation = built(std::move(input), arguments.threads);
      for (const std::string& warning : simulation.warnings)
        if (!arguments.quiet && warnings.insert(warning).second) say("warning: " + warning);
      const tempi::ImpactWatch watch(simulation, speed);
      options.started = std::chrono::steady_clock::now();
      if (const int code = run_built(simulation, of_run, options); code != done) return code;
      impacts.push_back(watch(simulation));
    }
    tempi::write_restitution(table, impacts);
    if (arguments.quiet) continue;
    if (impacts.size() == 1) fmt::print("{:>12}  {:>12}  {:>13}\n", "speed [m/s]", "restitution", "in vibrations");
    fmt::print("{:>12.6g}  {:>12.8f}  {:>13.4g}\n", speed, impacts.back().restitution, impacts.back().vibrating);
    std::fflush(stdout);
  }
  if (!arguments.quiet) fmt::print("{}", tempi::to_text(tempi::fit_restitution(impacts)));
  return done;
}

int check_case(const Arguments& arguments) {
  tempi::Simulation simulation = built(tempi::read_case(arguments.case_file, arguments.settings), arguments.threads);
  show_warnings(simulation);
  for (const std::string& note : simulation.notes) say("note: " + note);
  fmt::print("{}", tempi::describe_model(std::move(simulation)));
  return done;
}

int measure_stability(const Arguments& arguments) {
  const tempi::Simulation simulation =
      built(tempi::read_case(arguments.case_file, arguments.settings), arguments.threads);
  show_warnings(simulation);
  tempi::StabilityOptions options;
  options.longest_steps = arguments.longest_steps;
  const tempi::StabilityReport report = tempi::measure_stability(simulation, options);
  fmt::print("{}", tempi::describe_stability(simulation, report));
  return done;
}

// The folder of scripts stands beside the command in a build folder, and in ../share/tempi of an installation.
int plot_runs(const Arguments& arguments) {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& script : {here / "plot", here / "../share/tempi/plot"}) {
    if (!fs::exists(script / "__main__.py")) continue;
    const std::string python = fs::exists("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
    std::vector<std::string> words = {python, script.string()};
    words.insert(words.end(), arguments.run_folders.begin(), arguments.run_folders.end());
    if (arguments.frame >= 0) words.insert(words.end(), {"--frame", std::to_string(arguments.frame)});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    throw tempi::InputError("python3 cannot be started. Install the package python3 (and python3-matplotlib).");
  }
  throw tempi::InputError(fmt::format("the folder plot is missing beside the command (in '{}').", here.string()));
}

int dispatch(int argc, char** argv) {
  CLI::App app{"Asynchronous, structure-preserving time integration of mechanics"};
  app.name("tempi");
  app.set_version_flag("--version", fmt::format("tempi {} ({})", tempi::version, tempi::git_hash));
  app.require_subcommand(1);
  Arguments arguments;
  const auto add_case = [&](CLI::App* command) {
    command->add_option("CASE", arguments.case_file, "case file (TOML)")->required();
    command->add_option("--set", arguments.settings, "change a value of the case: KEY=VALUE, e.g. run.end_time=1e-3")
        ->allow_extra_args(false);
    command
        ->add_option("--threads", arguments.threads,
                     "threads to use (default: one per processor, at most 16); the results do not depend on them")
        ->check(CLI::Range(1, 1024));
  };
  const auto add_results = [&](CLI::App* command, const char* ending) {
    command->add_option("--out", arguments.folder,
                        fmt::format("folder for the results (default: the case's name with {})", ending));
    command->add_flag("--quiet", arguments.quiet, "print nothing but errors");
    return command->add_flag("--overwrite", arguments.overwrite,
                             "replace results that are there already; they move to the folder's `previous`");
  };
  CLI::App* run = app.add_subcommand("run", "run a case and write its results");
  add_case(run);
  const auto add_resume = [&](CLI::App* command, CLI::Option* overwrite, const char* text) {
    command->add_flag("--resume", arguments.resume, text)->excludes(overwrite);
  };
  add_resume(run, add_results(run, ".out"), "go on from the checkpoint of a run that was cut off, if there is one");
  CLI::App* adapt = app.add_subcommand(
      "adapt", "move the nodes of a static case's mesh to configurational equilibrium, and run it on that mesh");
  add_case(adapt);
  add_results(adapt, ".adapted");
  adapt
      ->add_option("--tolerance", arguments.adaption.tolerance,
                   "largest configurational force left, over that of the mesh as given (default: 1e-8)")
      ->check(positive);
  adapt->add_option("--iterations", arguments.adaption.iterations, "at most so many (default: 500)")->check(positive);
  adapt
      ->add_option("--least-shape", arguments.adaption.barrier.least_shape,
                   "shape of a cell, 1 as given, 0 flat, below which a barrier pushes back (default: 0.05)")
      ->check(CLI::Range(1e-6, 0.99));
  adapt
      ->add_option("--least-size", arguments.adaption.barrier.least_size,
                   "area or volume of a cell, 1 as given, below which a barrier pushes back (default: 1e-8)")
      ->check(CLI::Range(1e-12, 0.99));
  CLI::App* restitution = app.add_subcommand(
      "restitution", "run an impact of two bodies at several speeds, and fit the coefficient of restitution to them");
  add_case(restitution);
  add_resume(restitution, add_results(restitution, ".restitution"),
             "take what is there of speeds that are done, and go on from the checkpoint of the one that was cut off");
  restitution->add_option("--speeds", arguments.speeds, "speeds of approach [m/s], values of the case's constant speed")
      ->required()
      ->delimiter(',')
      ->check(positive);
  CLI::App* check = app.add_subcommand("check", "validate a case, print the model and its steps, run nothing");
  add_case(check);
  CLI::App* stability = app.add_subcommand("stability", "measure whether the steps of a case can resonate");
  add_case(stability);
  stability
      ->add_option("--longest-steps", arguments.longest_steps, "how many of the longest steps to run (default: 100000)")
      ->check(CLI::Range(tempi::Index{100}, tempi::Index{1} << 40));
  CLI::App* plot = app.add_subcommand("plot", "draw pictures (PNG) of a finished run, or compare several");
  plot->add_option("DIR", arguments.run_folders,
                   "the run's folder; of several, one picture compares them: comparison.png in the first folder")
      ->required();
  plot->add_option("--frame", arguments.frame, "which frame of a single run to draw (default: the last)")
      ->check(CLI::NonNegativeNumber);
  CLI::App* options = app.add_subcommand("options", "list every key of the case file");
  options->add_flag("--markdown", arguments.markdown, "as a page of the documentation");
  CLI::App* methods = app.add_subcommand("methods", "list every method and what it keeps");
  methods->add_flag("--table", arguments.table, "one row each, as README has them");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    const bool unknown = argc > 1 && app.get_subcommands().empty() && argv[1][0] != '-';
    say(fmt::format(
        "{}. `tempi --help` shows the commands: run, adapt, restitution, check, stability, plot, options, methods.",
        unknown ? fmt::format("unknown command '{}'", argv[1]) : e.what()));
    return bad_input;
  }
  if (run->parsed() || adapt->parsed() || restitution->parsed() || check->parsed() || stability->parsed())
    arguments.threads = startable(arguments.threads);
  if (run->parsed()) return run_case(arguments);
  if (adapt->parsed()) return adapt_case(arguments);
  if (restitution->parsed()) return measure_restitution(arguments);
  if (check->parsed()) return check_case(arguments);
  if (stability->parsed()) return measure_stability(arguments);
  if (options->parsed()) {
    fmt::print("{}", arguments.markdown ? tempi::options_as_markdown() : tempi::options_as_text());
    return done;
  }
  if (methods->parsed()) {
    fmt::print("{}", arguments.table ? tempi::table_of_methods() : tempi::methods_as_markdown());
    return done;
  }
  return plot_runs(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = dispatch(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.flush()) return code;
    throw tempi::OutputError("cannot write to the standard output (is the disk full?).");
  } catch (const tempi::InputError& e) {
    say(e.what());
    return bad_input;
  } catch (const tempi::SolveError& e) {
    say(e.what());
    return numerical_failure;
  } catch (const tempi::OutputError& e) {
    say(e.what());
    return write_failure;
  } catch (const std::bad_alloc&) {
    say("not enough memory. Use a smaller mesh or a larger machine.");
    return bad_input;
  } catch (const std::exception& e) {
    if (std::ferror(stdout) != 0) {
      say(fmt::format("cannot write to the standard output ({}).", e.what()));
      return write_failure;
    }
    say(fmt::format("unexpected error: {}", e.what()));
    return bad_input;
  }
}
