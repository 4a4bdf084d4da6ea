// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/soundness.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

bool finite(double x) { return std::isfinite(x); }

[[noreturn]] void name_the_term(const Model& model, const Snapshot& snapshot) {
  std::vector<double> gradient(model.largest_stencil() * static_cast<std::size_t>(model.dim()));
  for (Index i = 0; i < model.term_count(); ++i) {
    const auto [potential, k] = model.term(make_id<TermId>(i));
    std::ranges::fill(gradient, 0.0);
    const double admissibility = potential->add_gradient(k, snapshot.state.displacement, snapshot.time, gradient);
    if (!(admissibility > 0.0 && finite(admissibility)))
      throw StepError(potential->fault(k, snapshot.state.displacement, snapshot.time, admissibility), snapshot.time);
  }
  throw StepError(fmt::format("an element is inverted, or particles meet, at t = {:.9g} s. Try smaller steps.",
                              snapshot.time),
                  snapshot.time);
}

void require_finite(const Model& model, std::span<const double> values, const char* what, double t) {
  const auto bad = std::ranges::find_if_not(values, finite);
  if (bad == values.end()) return;
  const auto d = static_cast<std::size_t>(model.dim());
  const auto node = static_cast<std::size_t>(bad - values.begin()) / d;
  throw StepError(fmt::format("the node at X = ({:.6g}) has no finite {} any more at t = {:.9g} s. Try smaller steps.",
                              fmt::join(model.reference().subspan(node * d, d), ", "), what, t),
                  t);
}

}  // namespace

void require_sound(const Model& model, const Snapshot& snapshot) {
  const State& state = snapshot.state;
  require_finite(model, state.displacement, "place", snapshot.time);
  if (!snapshot.admissible) name_the_term(model, snapshot);
  require_finite(model, state.velocity, "velocity", snapshot.time);
  if (!finite(snapshot.potential_energy))
    throw StepError(fmt::format("the energy is not finite any more at t = {:.9g} s. Try smaller steps.", snapshot.time),
                    snapshot.time);
}

}  // namespace tempi
