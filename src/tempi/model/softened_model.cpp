// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/softened_model.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/model/borrowed.hpp"
#include "tempi/potential/softened.hpp"

namespace tempi {
namespace {

std::vector<char> held_components(const Model& model) {
  std::vector<char> held(model.reference().size(), 0);
  for (const NodeId a : model.supports().held_nodes())
    for (int c = 0; c < model.dim(); ++c)
      held[static_cast<std::size_t>(index(a) * model.dim() + c)] =
          model.supports().support_of(a, c) != Supports::none ? 1 : 0;
  return held;
}

}  // namespace

Model softened(const Model& model, std::vector<double> times) {
  require_unconstrained(model);
  if (static_cast<Index>(times.size()) != model.term_count())
    throw InputError(fmt::format("{} times for {} terms. Give one for each.", times.size(), model.term_count()));
  Model::Parts parts;
  parts.dim = model.dim();
  parts.reference.assign(model.reference().begin(), model.reference().end());
  parts.mass.assign(model.mass().begin(), model.mass().end());
  parts.supports = model.supports();
  const std::vector<char> held = held_components(model);
  for (Index p = 0; p < model.potential_count(); ++p) {
    const Potential& potential = model.potential(p);
    const LocalPotential* local = potential.as_local();
    if (local == nullptr)
      throw InputError(
          fmt::format("{} acts on many nodes at once, and cannot be softened. Make its pairs terms of "
                      "their own.",
                      potential.describe(0)));
    Softening softening{{}, {}, held};
    for (Index k = 0; k < potential.size(); ++k) {
      const auto term = make_id<TermId>(index(model.first_term(p)) + k);
      const double time = times[ordinal(term)];
      if (!(time >= 0.0) || !std::isfinite(time))
        throw InputError(fmt::format("{} is to give way with the time {} s (must be >= 0). Choose another alpha.",
                                     potential.describe(k), time));
      std::array<double, 10> room;
      for (const double share : model.shares(term, room)) {
        if (time > 0.0 && !(share > 0.0))
          throw InputError(
              fmt::format("{} is to be implicit, but has no share of its nodes' masses. Choose balanced mass shares.",
                          potential.describe(k)));
        softening.shares.push_back(share);
      }
      softening.times.push_back(time);
    }
    parts.potentials.push_back(soften(*local, model.reference(), std::move(softening)));
  }
  std::vector<TermId> terms;
  for (Index i = 0; i < model.term_count(); ++i) terms.push_back(make_id<TermId>(i));
  borrow_forces(model, terms, {}, parts);
  return Model(std::move(parts));
}

}  // namespace tempi
