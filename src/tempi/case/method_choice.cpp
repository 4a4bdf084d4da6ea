// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/method_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tempi/case/option_table.hpp"
#include "tempi/integrator/avi_adaptive.hpp"
#include "tempi/integrator/avi_explicit.hpp"
#include "tempi/integrator/avi_implicit.hpp"
#include "tempi/integrator/sync_constrained.hpp"
#include "tempi/integrator/sync_energy_momentum.hpp"
#include "tempi/integrator/sync_newmark.hpp"
#include "tempi/integrator/sync_newmark_implicit.hpp"
#include "tempi/integrator/sync_rk4.hpp"
#include "tempi/integrator/sync_symplectic_energy_momentum.hpp"
#include "tempi/integrator/sync_variational.hpp"
#include "tempi/pair/pairs.hpp"

namespace tempi {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

SyncMethod variational(const IntegratorInput& in, DiscreteAction action) {
  action.name = in.method;
  return {action.is_explicit(), action.is_explicit() ? 1.0 : unlimited,
          [action](const Model& model, double step) -> std::unique_ptr<Integrator> {
            return std::make_unique<SyncVariational>(model, action, step);
          }};
}

template <class Method, class... Parameters>
auto maker(Parameters... parameters) {
  return [=](const Model& model, double step) -> std::unique_ptr<Integrator> {
    return std::make_unique<Method>(model, step, parameters...);
  };
}

auto constrained(ConstrainedVelocity velocity) {
  return [velocity](const Model& model, double step) -> std::unique_ptr<Integrator> {
    return std::make_unique<SyncConstrained>(model, velocity, step);
  };
}

struct Entry {
  const char* method;
  const char* keys;  // of its own
  SyncMethod (*make)(const IntegratorInput& in);
};

// symplectic-energy-momentum: of the action named.
SyncMethod energy_kept(const IntegratorInput& in) {
  const DiscreteAction action = in.action == "gauss"         ? gauss_action(in.order)
                                : in.action == "trapezoidal" ? trapezoidal_action(in.alpha)
                                                             : midpoint_action(in.alpha);
  return {false, unlimited, maker<SyncSymplecticEnergyMomentum>(action, step_bounds(in))};
}

constexpr std::array<Entry, 15> entries = {{
    {"symplectic-euler-a", "", [](const IntegratorInput& in) { return variational(in, midpoint_action(0.0)); }},
    {"symplectic-euler-b", "", [](const IntegratorInput& in) { return variational(in, midpoint_action(1.0)); }},
    {"midpoint", "alpha", [](const IntegratorInput& in) { return variational(in, midpoint_action(in.alpha)); }},
    {"trapezoidal", "alpha", [](const IntegratorInput& in) { return variational(in, trapezoidal_action(in.alpha)); }},
    {"symmetric-midpoint", "alpha",
     [](const IntegratorInput& in) { return variational(in, symmetric_midpoint_action(in.alpha)); }},
    {"gauss", "order", [](const IntegratorInput& in) { return variational(in, gauss_action(in.order)); }},
    {"lobatto", "order", [](const IntegratorInput& in) { return variational(in, lobatto_action(in.order)); }},
    {"newmark", "beta gamma",
     [](const IntegratorInput& in) {
       // Of x'' = -omega^2 x a root of the step's map leaves the unit circle at omega h = 1 / sqrt(gamma/2 - beta).
       const double limit = in.gamma > 2.0 * in.beta ? 0.5 / std::sqrt(0.5 * in.gamma - in.beta) : unlimited;
       return SyncMethod{in.beta == 0.0, limit, maker<SyncNewmarkImplicit>(in.beta, in.gamma)};
     }},
    {"shake", "",
     [](const IntegratorInput&) {
       return SyncMethod{true, 1.0, constrained(ConstrainedVelocity::central)};
     }},
    {"rattle", "",
     [](const IntegratorInput&) {
       return SyncMethod{true, 1.0, constrained(ConstrainedVelocity::projected)};
     }},
    {"symplectic-energy-momentum", "action alpha order step_bounds", energy_kept},
    {"avi-adaptive", "step_bounds without_root", nullptr},
    {"avi-implicit", "implicit_step softness", nullptr},
    {"rk4", "",
     [](const IntegratorInput&) {
       return SyncMethod{true, 1.0, maker<SyncRk4>()};
     }},
    {"energy-momentum", "",
     [](const IntegratorInput&) {
       return SyncMethod{false, unlimited, maker<SyncEnergyMomentum>()};
     }},
}};

void refuse_keys_of_others(const IntegratorInput& in) {
  for (const auto& [key, place] : in.method_keys) {
    std::string owners;
    bool mine = false;
    for (const Entry& entry : entries) {
      if (!has_key(entry.keys, key)) continue;
      owners += fmt::format("{}{}", owners.empty() ? "" : ", ", entry.method);
      mine = mine || entry.method == in.method;
    }
    if (!mine)
      throw PlacedError(place, fmt::format("{} belongs to {}, not to {}. Leave it out, or choose another method.", key,
                                           owners, in.method));
  }
}

const char* word(Conservation c) {
  return c == Conservation::exact ? "exact" : c == Conservation::bounded ? "bounded" : "no";
}
const char* word(bool value) { return value ? "yes" : "no"; }

// Two particles on a spring.
Model pair_model() {
  Model::Parts parts;
  parts.dim = 2;
  parts.reference = {0.0, 0.0, 1.0, 0.0};
  parts.mass = {1.0, 1.0};
  parts.shares = MassShares::balanced;
  parts.add(make_pairs(parts.reference, 2, parts.mass, all_pairs(2), Spring{1.0, 1.0}));
  return Model(std::move(parts));
}

struct Row {
  const char *method, *keys;
  std::vector<std::pair<const char*, double>> values{};
};
const Row rows[] = {
    {"avi", ""},
    {"avi-implicit", "implicit_step"},
    {"avi-adaptive", ""},
    {"newmark", ""},
    {"symplectic-euler-a", ""},
    {"symplectic-euler-b", ""},
    {"trapezoidal", "alpha = 0.5", {{"alpha", 0.5}}},
    {"trapezoidal", "other alpha", {{"alpha", 0.3}}},
    {"midpoint", "alpha = 0.5", {{"alpha", 0.5}}},
    {"midpoint", "other alpha", {{"alpha", 0.3}}},
    {"symmetric-midpoint", "any alpha", {{"alpha", 0.3}}},
    {"gauss", "order = 2", {{"order", 2}}},
    {"gauss", "order = 4", {{"order", 4}}},
    {"gauss", "order = 6", {{"order", 6}}},
    {"lobatto", "order = 2", {{"order", 2}}},
    {"lobatto", "order = 4", {{"order", 4}}},
    {"lobatto", "order = 6", {{"order", 6}}},
    {"newmark", "beta = 0.25", {{"beta", 0.25}}},
    {"newmark", "beta = 0.3025, gamma = 0.6", {{"beta", 0.3025}, {"gamma", 0.6}}},
    {"shake", ""},
    {"rattle", ""},
    {"symplectic-energy-momentum", "action = \"midpoint\""},
    {"energy-momentum", "pairs of particles"},
    {"rk4", ""},
};

IntegratorInput input_of(const Row& row) {
  IntegratorInput in;
  in.method = row.method;
  for (const auto& [key, value] : row.values) {
    in.method_keys.emplace_back(key, Place{});
    if (key == std::string_view("alpha")) in.alpha = value;
    if (key == std::string_view("beta")) in.beta = value;
    if (key == std::string_view("gamma")) in.gamma = value;
    if (key == std::string_view("order")) in.order = static_cast<int>(value);
  }
  return in;
}

}  // namespace

std::string methods_as_markdown() {
  std::string page =
      "# Methods\n\nMade from what every method claims in the program (`tempi methods`): do not edit. One suite of "
      "tests holds each to its\n"
      "row. *Exact* is to rounding, on free bodies of a frame-indifferent material and free particles; *bounded*: in a "
      "band, without\n"
      "trend.\n\n"
      "| `method` | keys | solves | order | linear momentum | angular momentum | energy | symplectic | reversible |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  const Model model = pair_model();
  for (const Row& row : rows) {
    const IntegratorInput in = input_of(row);
    const auto method = synchronous_method(in);
    const std::vector<double> steps = {1.0};
    std::unique_ptr<Integrator> integrator;
    if (method)
      integrator = method->make(model, 1.0);
    else if (in.method == "newmark")
      integrator = std::make_unique<SyncNewmark>(model, 1.0);
    else if (in.method == "avi-adaptive")
      integrator = std::make_unique<AviAdaptive>(model, steps);
    else if (in.method == "avi-implicit")
      integrator = std::make_unique<AviImplicit>(model, steps, std::vector<double>{0.55});
    else
      integrator = std::make_unique<AviExplicit>(model, steps);
    const Claims c = integrator->claims();
    page += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |\n", row.method, row.keys,
                        (method && !method->is_explicit) || in.method == "avi-implicit" ? "implicit" : "explicit",
                        c.order, word(c.linear_momentum), word(c.angular_momentum), word(c.energy), word(c.symplectic),
                        word(c.reversible));
  }
  page +=
      "\n`energy-momentum` keeps the angular momentum of particles only, not that of elements with three nodes or "
      "more. `newmark` "
      "with\nbeta other than 0 and gamma = 0.5 keeps a form and an angular momentum of its own, near the true ones. "
      "`shake` and\n`rattle` keep momenta where constraints act between particles, and are symplectic on the "
      "constraints. What\n`symplectic-energy-momentum` keeps exactly is its discrete energy, while its equation has a "
      "solution.\n";
  return page;
}

StepBounds step_bounds(const IntegratorInput& in) {
  if (in.step_bounds.size() != 2)
    throw InputError(
        fmt::format("step_bounds has {} numbers (must be two, such as [0.25, 4]).", in.step_bounds.size()));
  const StepBounds bounds{in.step_bounds[0], in.step_bounds[1]};
  check(bounds);
  return bounds;
}

bool is_synchronous(const std::string& method) { return !method.starts_with("avi"); }

std::optional<SyncMethod> synchronous_method(const IntegratorInput& in) {
  refuse_keys_of_others(in);
  if (in.acts_locally()) return std::nullopt;
  if (in.residual_asked && in.method != "avi-adaptive")
    throw PlacedError(in.place, fmt::format("residual = true goes with avi, avi-adaptive and newmark without beta and "
                                            "gamma: {} has no local updates that it could watch. Leave it out.",
                                            in.method));
  if (in.acts_alone()) return std::nullopt;
  const auto entry = std::ranges::find(entries, in.method, &Entry::method);
  TEMPI_ASSERT(entry != entries.end());
  const Place place = in.method_keys.empty() ? in.place : in.method_keys.front().second;
  return at_place(place, [&] { return entry->make(in); });
}

}  // namespace tempi
