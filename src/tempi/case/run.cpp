// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tempi/case/results.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/diagnostic/energy_residual.hpp"
#include "tempi/diagnostic/resonance_guard.hpp"
#include "tempi/diagnostic/soundness.hpp"
#include "tempi/io/frames.hpp"
#include "tempi/io/history.hpp"

namespace tempi {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

class Run {
 public:
  Run(Simulation& simulation, const RunOptions& options)
      : s_(simulation),
        options_(options),
        history_(options.folder / "history.csv", history_columns(simulation)),
        frames_(options.folder, *simulation.body.mesh) {
    if (s_.input.integrator.residual) residual_.emplace(*s_.model);
    slice_ = 4.0 * s_.plan.smallest();
    start_time_ = seconds_since(options.started);
    if (s_.plan.may_resonate()) guard_.emplace(*s_.model, s_.plan.choice->lattice, s_.plan.nodal, options_.threads);
  }

  Summary operator()() {
    try {
      const bool finished = go();
      return finish(finished ? Status::completed : Status::interrupted, "");
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
      const std::string message = fmt::format("the run broke off at t = {:.9g} s: {}.", reached_, e.what());
      finish(Status::failed, message);
      throw SolveError(message);
    }
  }

 private:
  // Writes the k-th of n evenly spaced outputs at exactly end_time k / n. Tells whether the end was reached.
  bool go() {
    const Index rows = s_.outputs.rows, pictures = s_.outputs.frames;
    Index row = 0, picture = pictures > 0 ? 0 : 1;
    const auto time_of = [&](Index k, Index n) {
      if (k > n || n == 0) return std::numeric_limits<double>::infinity();
      return k == n ? s_.input.end_time : s_.input.end_time * static_cast<double>(k) / static_cast<double>(n);
    };
    while (row <= rows || (pictures > 0 && picture <= pictures)) {
      const double next_row = time_of(row, rows), next_picture = time_of(picture, pictures);
      const double t = std::min(next_row, next_picture);
      if (!advance_to(t)) {
        output(reached_, reached_ > last_row_, pictures > 0 && reached_ > last_picture_);
        return false;
      }
      output(t, next_row == t, next_picture == t);
      row += next_row == t ? 1 : 0;
      picture += next_picture == t ? 1 : 0;
    }
    return true;
  }

  // In slices of a fraction of a second, so that an interruption is heard and progress is shown.
  bool advance_to(double t) {
    while (reached_ < t) {
      if (options_.stop != nullptr && options_.stop->load()) return false;
      const double target = std::min(t, reached_ + slice_);
      const auto start = Clock::now();
      if (residual_)
        s_.integrator->advance_to(s_.state, target, *residual_);
      else
        s_.integrator->advance_to(s_.state, target);
      const double elapsed = seconds_since(start);
      wall_time_ += elapsed;
      reached_ = target;
      if (elapsed < 0.1) slice_ *= 2.0;
      if (elapsed > 0.4) slice_ *= 0.5;
      report_progress(elapsed);
    }
    return true;
  }

  void report_progress(double elapsed) {
    since_report_ += elapsed;
    if (!options_.on_progress || since_report_ < 0.1) return;
    since_report_ = 0.0;
    options_.on_progress(
        {reached_, s_.input.end_time, total_updates(*s_.integrator, *s_.model), wall_time_, energy_change_});
  }

  void output(double t, bool row, bool picture) {
    if (!row && !picture) return;
    auto from = Clock::now();
    const auto passed = [&] {  // since it was last asked
      const auto before = std::exchange(from, Clock::now());
      return std::chrono::duration<double>(from - before).count();
    };
    const Snapshot snapshot = s_.integrator->synchronized(s_.state, t);
    require_sound(*s_.model, snapshot);
    if (row) {
      const Sample now = sample(*s_.model, snapshot);
      balance_.add(now);
      history_.write(history_row(s_, snapshot, now, residual_ ? &*residual_ : nullptr));
      energy_change_ = balance_.last_change();
      if (guard_) guard_->look(snapshot, balance_.reference(), s_.input.end_time - t);
    }
    history_time_ += passed();
    if (picture) frames_.write(make_frame(s_, snapshot, residual_ ? &*residual_ : nullptr));
    frame_time_ += passed();
    if (row) last_row_ = t;
    if (picture) last_picture_ = t;
  }

  // What an element inverts by may be its steps.
  std::string explained(const std::string& what) const {
    if (!guard_ || what.starts_with("the steps resonate")) return what;
    const std::string verdict = guard_->verdict(s_.input.end_time - reached_);
    return verdict.empty() ? what : fmt::format("the steps resonate: {} So at last: {}", verdict, what);
  }

  Summary finish(Status status, const std::string& message) {
    RunFigures figures{status,        message,     std::max(last_row_, 0.0),        wall_time_,      start_time_,
                       history_time_, frame_time_, seconds_since(options_.started), options_.threads};
    Summary summary = summarise(s_, balance_, residual_ ? &*residual_ : nullptr, figures);
    write_text(options_.folder / "summary.json", to_json(summary));
    return summary;
  }

  Simulation& s_;
  const RunOptions& options_;
  HistoryWriter history_;
  FrameWriter frames_;
  std::optional<EnergyResidual> residual_;
  Balance balance_;
  std::optional<ResonanceGuard> guard_;                                         // of unequal steps on a lattice
  double reached_ = 0.0, last_row_ = -1.0, last_picture_ = -1.0, slice_ = 0.0;  // [s] simulated
  double start_time_ = 0.0, history_time_ = 0.0, frame_time_ = 0.0;             // wall times [s]
  double wall_time_ = 0.0, since_report_ = 0.0, energy_change_ = 0.0;
};

}  // namespace

Summary run(Simulation& simulation, const RunOptions& options) {
  prepare_output_folder(options.folder, options.existing);
  return Run(simulation, options)();
}

}  // namespace tempi
