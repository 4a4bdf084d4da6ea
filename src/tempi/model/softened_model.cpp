// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/softened_model.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/potential/softened.hpp"

namespace tempi {
namespace {

// The forces of another model, in the order of their host terms.
class BorrowedForces final : public Force {
 public:
  BorrowedForces(std::vector<HostedForce> all, bool dampers) : all_(std::move(all)), dampers_(dampers) {}

  Index size() const override { return static_cast<Index>(all_.size()); }
  CellId host(Index k) const override { return of(k).force->host(of(k).element); }
  std::span<const NodeId> stencil(Index k) const override { return of(k).force->stencil(of(k).element); }
  void add_impulse(Index k, std::span<const double> u, std::span<const double> v, double t, double dt,
                   std::span<double> p) const override {
    of(k).force->add_impulse(of(k).element, u, v, t, dt, p);
  }
  bool is_damper() const override { return dampers_; }
  void add_damping(Index k, std::span<const double> u, double t, std::span<double> C) const override {
    of(k).force->add_damping(of(k).element, u, t, C);
  }

 private:
  const HostedForce& of(Index k) const { return all_[static_cast<std::size_t>(k)]; }
  std::vector<HostedForce> all_;
  bool dampers_;
};

void borrow_forces(const Model& model, Model::Parts& parts, bool dampers) {
  std::vector<HostedForce> all;
  std::vector<TermId> hosts;
  for (Index i = 0; i < model.term_count(); ++i)
    for (const HostedForce& force : model.forces_within(make_id<TermId>(i))) {
      if (force.force->is_damper() != dampers) continue;
      all.push_back(force);
      hosts.push_back(make_id<TermId>(i));
    }
  if (all.empty()) return;
  parts.forces.push_back(std::make_unique<BorrowedForces>(std::move(all), dampers));
  parts.hosts.push_back(std::move(hosts));
}

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
    if (potential.in_pieces())
      throw InputError(
          fmt::format("{} acts on many nodes at once, and cannot be softened. Make its pairs terms of "
                      "their own.",
                      potential.describe(0)));
    Softening softening{{}, {}, held};
    for (Index k = 0; k < potential.size(); ++k) {
      const auto term = make_id<TermId>(index(model.first_term(p)) + k);
      const double time = times[static_cast<std::size_t>(index(term))];
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
    parts.potentials.push_back(soften(potential, model.reference(), std::move(softening)));
  }
  for (const bool dampers : {false, true}) borrow_forces(model, parts, dampers);
  return Model(std::move(parts));
}

}  // namespace tempi
