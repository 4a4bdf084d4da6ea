// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "tempi/case/method_table.hpp"
#include "tempi/case/results.hpp"
#include "tempi/case/run_checkpoint.hpp"
#include "tempi/case/smaller_steps.hpp"
#include "tempi/core/error.hpp"
#include "tempi/core/output_file.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/diagnostic/energy_residual.hpp"
#include "tempi/diagnostic/resonance_guard.hpp"
#include "tempi/diagnostic/soundness.hpp"
#include "tempi/integrator/checkpoint.hpp"
#include "tempi/io/frames.hpp"
#include "tempi/io/history.hpp"
#include "tempi/io/run_log.hpp"
#include "tempi/version.hpp"

namespace tempi {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// What rounding of places may hold of energy [J]: that of nodes which move by a few roundings of the model's size a
// step.
double rounding_energy(const Model& model, double step) {
  double mass = 0.0, size = 0.0;
  for (const double m : model.mass()) mass += m;
  for (const double x : model.reference()) size = std::max(size, std::abs(x));
  const double speed = 8.0 * std::numeric_limits<double>::epsilon() * size / step;
  return 0.5 * mass * speed * speed;
}

class Run {
 public:
  // `lost`: by earlier tries since options.started [s].
  Run(Simulation& simulation, const RunOptions& options, Existing existing, double lost)
      : s_(simulation), options_(options), log_(options.folder / "run.log"), file_(checkpoint_file(options.folder)) {
    if (s_.input.integrator.residual) residual_.emplace(*s_.model);
    const bool touches =
        !s_.input.contacts.empty() || !s_.input.walls.empty();  // small motions tell nothing of impacts
    if (s_.plan.may_resonate() && !touches)
      guard_.emplace(*s_.model, s_.plan.choice->lattice, s_.plan.choice->coupling, s_.plan.nodal,
                     1e-9 * s_.plan.choice->cost * s_.input.end_time, options_.threads);
    now_.slice = 4.0 * s_.plan.smallest();
    resolution_ = std::max(s_.integrator->energy_resolution(), rounding_energy(*s_.model, s_.plan.smallest()));
    log_.say(fmt::format("tempi {} ({}) runs '{}', {}, {} thread{}", version, git_hash, s_.input.path.string(),
                         s_.input.integrator.method, options.threads, options.threads == 1 ? "" : "s"));
    for (const std::string& warning : s_.warnings) log_.say("warning: " + warning);
    if (existing != Existing::resume || !go_on()) begin();
    s_.integrator->come_back_when([this] { return seconds_since(slice_start_) > long_slice || must_stop(); });
    now_.start_time += seconds_since(options.started) - lost;
    now_.tries_time += lost;
    last_checkpoint_ = Clock::now();
  }

  ~Run() { s_.integrator->come_back_when({}); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Summary operator()() {
    try {
      const bool finished = go();
      if (finished) return finish(Status::completed, "");
      return finish(Status::interrupted, why_);
    } catch (const StepError& e) {
      std::string message = explained(e.what());
      if (!begins_again(s_, e)) finish(Status::failed, message += lesson(s_.tries));
      throw StepError(message, e.time());
    } catch (const SolveError& e) {
      const std::string message = explained(e.what());
      finish(Status::failed, message);
      throw SolveError(message);
    } catch (const OutputError& e) {
      try {
        finish(Status::failed, e.what());
      } catch (const OutputError&) {  // the disk that failed may refuse the summary too
      }
      throw;
    } catch (const std::exception& e) {  // no memory, and what nobody has thought of
      const std::string message = fmt::format("the run broke off at t = {:.9g} s: {}.", now_.reached, e.what());
      finish(Status::failed, message);
      throw SolveError(message);
    }
  }

 private:
  void begin() {
    write_sections(file_, case_sections(s_));
    history_.emplace(options_.folder / "history.csv", history_columns(s_));
    frames_.emplace(options_.folder, *s_.body.mesh);
    if (s_.outputs.frames == 0) now_.picture = 1;
  }

  // From the checkpoint in the folder. Tells whether there was one with anything in it.
  bool go_on() {
    std::error_code error;
    if (!fs::exists(file_, error) && !fs::exists(generation_before(file_), error)) return false;
    std::string damage;
    const Sections sections = read_sections(file_, damage);
    if (!damage.empty()) warn(damage + " The one before is taken.");
    if (const std::string other = require_same_case(sections, s_); !other.empty()) warn(other);
    if (!sections.has("run")) return false;
    take_checkpoint(sections, s_.state, *s_.integrator);
    std::istringstream in(sections["run"]);
    ArchiveReader archive(in);
    std::vector<double> times;
    archive.get("position", now_);
    archive.get_all("frames", times);
    balance_.load(archive);
    if (residual_) residual_->load(archive);
    if (guard_) guard_->load(archive);
    history_.emplace(options_.folder / "history.csv", history_columns(s_), now_.history_size);
    frames_.emplace(options_.folder, *s_.body.mesh, std::move(times));
    fs::remove(options_.folder / "summary.json", error);
    ++now_.resumed;
    log_.say(fmt::format("goes on from t = {:.9g} s", now_.reached));
    return true;
  }

  // All that a run needs to go on to the same bits; rows and frames before it are on the device first.
  void write_checkpoint() {
    const auto from = Clock::now();
    write_rows();
    history_->sync();
    frames_->sync();
    RunPosition position = now_;
    position.history_size = history_->size();
    position.total_time = total_time();
    Sections sections = case_sections(s_);
    put_checkpoint(sections, s_.state, *s_.integrator);
    std::ostringstream out;
    ArchiveWriter archive(out);
    archive.put("position", position);
    archive.put("frames", frames_->times());
    balance_.save(archive);
    if (residual_) residual_->save(archive);
    if (guard_) guard_->save(archive);
    sections.add("run", std::move(out).str());
    write_sections(file_, sections);
    checkpoint_time_ = seconds_since(from);
    log_.say(fmt::format("checkpoint at t = {:.9g} s, in {:.2g} s", now_.reached, checkpoint_time_));
    last_checkpoint_ = Clock::now();
  }

  // Writes the k-th of n evenly spaced outputs at exactly end_time k / n, or the nearest whole step where that is asked
  // for. Tells whether the end was reached.
  bool go() {
    constexpr double enough = 16.0;  // of the longest steps: windows of contact are up to eight of them
    if (!s_.model->layers().empty()) least_slice_ = enough * *std::ranges::max_element(s_.plan.steps);
    const Index rows = s_.outputs.rows, pictures = s_.outputs.frames;
    const auto time_of = [&](Index k, Index n) {
      if (k > n || n == 0) return std::numeric_limits<double>::infinity();
      const double exactly = s_.input.end_time * static_cast<double>(k) / static_cast<double>(n);
      if (k == n) return s_.input.end_time;
      const double moment = s_.outputs.moment, apart = s_.input.end_time / static_cast<double>(n);
      return moment > 0.0 && apart > 0.999 * moment ? moment * std::round(exactly / moment) : exactly;
    };
    while (now_.row <= rows || (pictures > 0 && now_.picture <= pictures)) {
      const double next_row = time_of(now_.row, rows), next_picture = time_of(now_.picture, pictures);
      const double t = std::min(next_row, next_picture);
      if (!advance_to(t)) {
        write_checkpoint();  // what follows is not of an uninterrupted run
        output(now_.reached, now_.reached > now_.last_row, pictures > 0 && now_.reached > now_.last_picture);
        write_rows();
        return false;
      }
      output(t, next_row == t, next_picture == t);
      now_.row += next_row == t ? 1 : 0;
      now_.picture += next_picture == t ? 1 : 0;
    }
    write_rows();
    return true;
  }

  // In slices of a fraction of a second, so that an interruption is heard and progress is shown. Methods that find
  // their events come back from a slice in which more happens.
  bool advance_to(double t) {
    while (now_.reached < t) {
      if (must_stop()) return false;
      const double interval = s_.input.checkpoint_interval;
      if (interval > 0.0 && rows_.empty() && seconds_since(last_checkpoint_) > interval) write_checkpoint();
      now_.slice = std::max(now_.slice, least_slice_);
      double target = std::min(t, now_.reached + now_.slice);
      const auto start = slice_start_ = Clock::now();
      if (s_.books_every_strike() && now_.reached == 0.0) {
        s_.integrator->advance_to(s_.state, 0.0);  // the starting half kicks
        residual_->begin(s_.state);
      }
      target = residual_ ? s_.integrator->advance_to(s_.state, target, *residual_)
                         : s_.integrator->advance_to(s_.state, target);
      const double elapsed = seconds_since(start);
      now_.wall_time += elapsed;
      now_.reached = target;
      if (elapsed < 0.1) now_.slice *= 2.0;
      if (elapsed > long_slice) now_.slice *= 0.5;
      if (elapsed > 5.0 * long_slice) least_slice_ *= 0.5;  // where many touch, windows are far shorter
      last_slice_ = elapsed;
      report_progress(elapsed);
    }
    return true;
  }

  bool must_stop() {
    if (options_.stop != nullptr && options_.stop->load()) {
      why_ = "a signal asked for it";
      return true;
    }
    if (!s_.input.wall_limit) return false;
    const double margin = 2.0 * checkpoint_time_ + longest_output_ + std::max(long_slice, last_slice_);
    if (seconds_since(options_.started) + margin < *s_.input.wall_limit) return false;
    why_ = fmt::format("the wall limit of {:.6g} s is near", *s_.input.wall_limit);
    return true;
  }

  void report_progress(double elapsed) {
    since_report_ += elapsed;
    if (!options_.on_progress || since_report_ < 0.1) return;
    since_report_ = 0.0;
    options_.on_progress({now_.reached, s_.input.end_time, total_updates(*s_.integrator, *s_.model), now_.wall_time,
                          now_.energy_change});
  }

  void output(double t, bool row, bool picture) {
    if (!row && !picture) return;
    const auto start = Clock::now();
    auto from = start;
    const auto passed = [&] {  // since it was last asked
      const auto before = std::exchange(from, Clock::now());
      return std::chrono::duration<double>(from - before).count();
    };
    const Snapshot snapshot = s_.integrator->synchronized(s_.state, t);
    if (s_.outputs.ahead || method_of(s_.input.integrator).quasi_static) now_.wall_time += passed();
    require_sound(*s_.model, snapshot);
    if (row) {
      const Sample now = sample(*s_.model, snapshot);
      rows_.push_back({now, history_row(s_, snapshot, now, residual_ ? &*residual_ : nullptr)});
      if (!in_doubt(now)) {
        write_rows();
        if (guard_) guard_->look(snapshot, balance_.reference(), s_.input.end_time - t);
      }
    }
    now_.history_time += passed();
    if (picture) frames_->write(make_frame(s_, snapshot, residual_ ? &*residual_ : nullptr));
    now_.frame_time += passed();
    if (picture) now_.last_picture = t;
    longest_output_ = std::max(longest_output_, seconds_since(start));
  }

  // Whether energy has come from nowhere: then the row waits. Work of loads is booked as they act, and a row within a
  // few steps of where one sets in may see the motion before the work; so may rows just after a start from rest, where
  // energies are as small as their errors. What is still there some steps later is real.
  bool in_doubt(const Sample& now) {
    constexpr double few = 4.0;  // of the longest steps
    const double gain = balance_.gain(now, resolution_), most = s_.input.energy_tolerance;
    if (most == 0.0 || gain <= most || method_of(s_.input.integrator).quasi_static) return false;
    const double since = rows_.front().sample.time;
    const double a_while = few * *std::ranges::max_element(s_.plan.steps);
    const Supports& supports = s_.model->supports();
    const bool may_be_late = s_.model->has_forces() || since < a_while ||
                             std::ranges::any_of(supports.held_nodes(), [&](NodeId a) { return supports.moves(a); });
    if (may_be_late && now.time - since < a_while) return true;
    throw StepError(
        fmt::format("at t = {:.9g} s the total energy has gained {:.2g} of what the motion has without the gain "
                    "(energy_tolerance = {:.6g}), which no load has given: the steps are too large for this motion. "
                    "Try smaller ones (safety, courant or step), or energy_tolerance = 0 to see where it leads.",
                    since, gain, most),
        since);
  }

  void write_rows() {
    for (const Row& row : rows_) {
      balance_.add(row.sample);
      history_->write(row.values);
      last_values_ = row.values;
      now_.last_row = row.sample.time;
    }
    rows_.clear();
    now_.energy_change = balance_.last_change();
  }

  // What an element inverts by may be its steps.
  std::string explained(const std::string& what) const {
    if (!guard_ || what.starts_with("the steps resonate")) return what;
    const std::string verdict = guard_->verdict(s_.input.end_time - now_.reached);
    return verdict.empty() ? what : fmt::format("the steps resonate: {} So at last: {}", verdict, what);
  }

  double total_time() const { return now_.total_time + seconds_since(options_.started); }

  void warn(const std::string& warning) {
    s_.warnings.push_back(warning);
    log_.say("warning: " + warning);
    if (options_.on_warning) options_.on_warning(warning);
  }

  Summary finish(Status status, const std::string& message) {
    const RunFigures figures{status,          message,          std::max(now_.last_row, 0.0),
                             now_.wall_time,  now_.start_time,  now_.history_time,
                             now_.frame_time, now_.tries_time,  total_time(),
                             now_.resumed,    options_.threads, last_values_};
    Summary summary = summarise(s_, balance_, residual_ ? &*residual_ : nullptr, figures);
    if (!summary.caution.empty()) log_.say("caution: " + summary.caution);
    log_.say(fmt::format("{}{}{}", name_of(status), message.empty() ? "" : ": ", message));
    replace_file(options_.folder / "summary.json", to_json(summary), Durable::yes);
    if (status == Status::completed) remove_checkpoints(options_.folder);
    return summary;
  }

  Simulation& s_;
  const RunOptions& options_;
  RunLog log_;
  fs::path file_;  // of checkpoints
  std::optional<HistoryWriter> history_;
  std::optional<FrameWriter> frames_;
  std::optional<EnergyResidual> residual_;
  Balance balance_;
  double resolution_ = 0.0;  // of energy [J]: less is no gain
  struct Row {
    Sample sample;
    std::vector<double> values;
  };
  std::vector<double> last_values_;      // of the last row written
  std::vector<Row> rows_;                // in doubt, or about to be written
  std::optional<ResonanceGuard> guard_;  // of unequal steps on a lattice
  RunPosition now_;
  static constexpr double long_slice = 0.4;  // wall time [s]
  double least_slice_ = 0.0;                 // [s]
  Clock::time_point slice_start_;
  double last_slice_ = 0.0;  // wall time [s]
  std::string why_;          // it is interrupted
  Clock::time_point last_checkpoint_;
  double checkpoint_time_ = 0.0, longest_output_ = 0.0, since_report_ = 0.0;  // wall times [s]
};

// A run that was cut off after it had begun again goes on with the steps it had.
void take_up_tries(Simulation& simulation, const fs::path& folder) {
  const fs::path file = checkpoint_file(folder);
  std::error_code error;
  if (!fs::exists(file, error) && !fs::exists(generation_before(file), error)) return;
  std::string damage;
  std::vector<EarlierTry> tries = tries_of(read_sections(file, damage));
  if (tries.empty() || !simulation.input.integrator.safety || simulation.input.integrator.steps_asked) return;
  begin_again(simulation, std::move(tries));
}

}  // namespace

Summary run(Simulation& simulation, const RunOptions& options) {
  prepare_output_folder(options.folder, options.existing);
  const FolderLock lock(options.folder);  // before anything of another run that may be going on is moved
  if (options.existing == Existing::overwrite) move_results_aside(options.folder);
  if (options.existing == Existing::resume) take_up_tries(simulation, options.folder);
  Existing existing = options.existing;
  for (double lost = 0.0;;) {
    try {
      return Run(simulation, options, existing, lost)();
    } catch (const StepError& e) {
      if (!begins_again(simulation, e)) throw;
      std::vector<EarlierTry> tries = std::move(simulation.tries);
      tries.push_back({*simulation.input.integrator.safety, e.time(), e.what()});
      lost = seconds_since(options.started);
      begin_again(simulation, std::move(tries));
      if (options.on_warning) options.on_warning(simulation.warnings.back());
      existing = Existing::overwrite;
    }
  }
}

}  // namespace tempi
