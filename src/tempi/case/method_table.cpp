// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/method_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "tempi/case/option_table.hpp"
#include "tempi/integrator/avi/avi_adaptive.hpp"
#include "tempi/integrator/avi/avi_explicit.hpp"
#include "tempi/integrator/avi/avi_implicit.hpp"
#include "tempi/integrator/avi/avi_lattice.hpp"
#include "tempi/integrator/multi_domain/multi_domain.hpp"
#include "tempi/integrator/one_step/static_equilibrium.hpp"
#include "tempi/integrator/one_step/sync_constrained.hpp"
#include "tempi/integrator/one_step/sync_energy_momentum.hpp"
#include "tempi/integrator/one_step/sync_newmark_implicit.hpp"
#include "tempi/integrator/one_step/sync_rk4.hpp"
#include "tempi/integrator/one_step/sync_symplectic_energy_momentum.hpp"
#include "tempi/integrator/one_step/sync_variational.hpp"
#include "tempi/integrator/stepping/stepping_energy.hpp"
#include "tempi/integrator/stepping/stepping_force.hpp"
#include "tempi/integrator/sync_newmark.hpp"
#include "tempi/pair/pairs.hpp"

namespace tempi {
namespace {

using Options = const MethodOptions&;
using Steps = const std::vector<double>&;
using Made = std::unique_ptr<Integrator>;

constexpr double unlimited = std::numeric_limits<double>::infinity();
double without_limit(Options) { return unlimited; }

// ---- discrete Lagrangians ----

using ActionOf = DiscreteAction (*)(Options);

template <ActionOf action>
Made variational(const Model& model, Steps steps, Options options) {
  return std::make_unique<SyncVariational>(model, action(options), steps.front());
}

template <ActionOf action>
std::optional<double> ahead_of(Options options) {
  return action(options).ahead();
}

template <ActionOf action>
double limit_of(Options options) {
  return action(options).is_explicit() ? 1.0 : unlimited;
}

DiscreteAction named(DiscreteAction action, std::string_view name) {
  action.name = name;
  return action;
}
DiscreteAction euler_a(Options) { return named(midpoint_action(0.0), "symplectic-euler-a"); }
DiscreteAction euler_b(Options) { return named(midpoint_action(1.0), "symplectic-euler-b"); }
DiscreteAction midpoint(Options o) { return named(midpoint_action(o.alpha), "midpoint"); }
DiscreteAction trapezoidal(Options o) { return named(trapezoidal_action(o.alpha), "trapezoidal"); }
DiscreteAction symmetric(Options o) { return named(symmetric_midpoint_action(o.alpha), "symmetric-midpoint"); }
DiscreteAction gauss(Options o) { return named(gauss_action(o.order), "gauss"); }
DiscreteAction lobatto(Options o) { return named(lobatto_action(o.order), "lobatto"); }

DiscreteAction action_named(Options o) {
  return o.action == "gauss"         ? gauss_action(o.order)
         : o.action == "trapezoidal" ? trapezoidal_action(o.alpha)
                                     : midpoint_action(o.alpha);
}

// Forces at (1 - alpha) of the step: dampers count as explicit where that is the earlier half.
double damping_limit_of_alpha(Options o) { return o.alpha > 0.5 ? 2.0 / (2.0 * o.alpha - 1.0) : unlimited; }

// ---- the others ----

template <ConstrainedVelocity velocity>
Made constrained(const Model& model, Steps steps, Options) {
  return std::make_unique<SyncConstrained>(model, velocity, steps.front());
}

// Of x'' = -omega^2 x a root of the step's map leaves the unit circle at omega h = 1 / sqrt(gamma/2 - beta).
double newmark_limit(Options o) { return o.gamma > 2.0 * o.beta ? 0.5 / std::sqrt(0.5 * o.gamma - o.beta) : unlimited; }

// ---- the table ----

using Variant = Method::Variant;

const std::vector<Method>& rows() {
  static const std::vector<Method> table = {
      {.name = "avi",
       .keys = "",
       .text = "each element at its own step (2004 paper, Fig. 7), on a lattice of ticks or the exact queue",
       .variants = {{}},
       .make = [](const Model& model, Steps steps, Options) -> Made {
         return std::make_unique<AviExplicit>(model, steps);
       },
       .engine = Engine::strikes,
       .asynchronous = true},
      {.name = "avi-implicit",
       .keys = "implicit_step softness",
       .text = "`avi` with stiff elements implicit, at a step of their own",
       .variants = {{"implicit_step", [](MethodOptions& o) { o.implicit_step = 2.0, o.softness = 0.55; }}},
       .make = [](const Model& model, Steps steps, Options options) -> Made {
         SoftenedSteps plan = softened_steps(steps, options);
         return std::make_unique<AviImplicit>(model, std::move(plan.steps), std::move(plan.alphas));
       },
       .engine = Engine::softened,
       .asynchronous = true,
       .takes_sums = false,
       .step_limit = without_limit},
      {.name = "avi-adaptive",
       .keys = "step_bounds without_root residuals",
       .text = "steps from the local energy equation (2004, 6.3): an experiment",
       .variants = {{}},
       .make = [](const Model& model, Steps steps, Options options) -> Made {
         return std::make_unique<AviAdaptive>(model, steps, step_bounds(options),
                                              options.without_root == "nominal-step" ? WithoutRoot::nominal_step
                                                                                     : WithoutRoot::least_residual,
                                              options.residuals == "carried" ? Residuals::carried
                                                                             : Residuals::forgotten);
       },
       .engine = Engine::adaptive,
       .asynchronous = true},
      {.name = "newmark",
       .keys = "newmark_limit",
       .text = "explicit Newmark, one step for all (beta 0, gamma 1/2)",
       .variants = {{}},
       .make = [](const Model& model, Steps steps, Options) -> Made {
         return std::make_unique<SyncNewmark>(model, steps.front());
       },
       .engine = Engine::strikes},
      {.name = "symplectic-euler-a",
       .keys = "",
       .text = "kick, then drift",
       .variants = {{}},
       .make = variational<euler_a>,
       .ahead = ahead_of<euler_a>},
      {.name = "symplectic-euler-b",
       .keys = "",
       .text = "drift, then kick",
       .variants = {{}},
       .make = variational<euler_b>,
       .damping_limit = [](Options) { return 2.0; },
       .ahead = ahead_of<euler_b>},
      {.name = "trapezoidal",
       .keys = "alpha",
       .text = "explicit; alpha = 1/2 is velocity Verlet",
       .variants = {{"alpha = 0.5", [](MethodOptions& o) { o.alpha = 0.5; }},
                    {"other alpha", [](MethodOptions& o) { o.alpha = 0.3; }}},
       .make = variational<trapezoidal>,
       .step_limit = limit_of<trapezoidal>,
       .damping_limit = damping_limit_of_alpha,
       .ahead = ahead_of<trapezoidal>},
      {.name = "midpoint",
       .keys = "alpha",
       .text = "implicit, forces at one instant of the step",
       .variants = {{"alpha = 0.5", [](MethodOptions& o) { o.alpha = 0.5; }},
                    {"other alpha", [](MethodOptions& o) { o.alpha = 0.3; }}},
       .make = variational<midpoint>,
       .step_limit = limit_of<midpoint>,
       .damping_limit = damping_limit_of_alpha,
       .ahead = ahead_of<midpoint>},
      {.name = "symmetric-midpoint",
       .keys = "alpha",
       .text = "half of `midpoint` of alpha and of 1 − alpha",
       .variants = {{"any alpha", [](MethodOptions& o) { o.alpha = 0.3; }}},
       .make = variational<symmetric>,
       .step_limit = limit_of<symmetric>,
       .ahead = ahead_of<symmetric>},
      {.name = "gauss",
       .keys = "order",
       .text = "Galerkin in time, Gauss points; implicit; of order 2, 4 or 6",
       .variants = {{"order = 2", [](MethodOptions& o) { o.order = 2; }},
                    {"order = 4", [](MethodOptions& o) { o.order = 4; }},
                    {"order = 6", [](MethodOptions& o) { o.order = 6; }}},
       .make = variational<gauss>,
       .step_limit = limit_of<gauss>},
      {.name = "lobatto",
       .keys = "order",
       .text = "Galerkin in time, Lobatto points; of order 2 (explicit), 4 or 6",
       .variants = {{"order = 2", [](MethodOptions& o) { o.order = 2; }},
                    {"order = 4", [](MethodOptions& o) { o.order = 4; }},
                    {"order = 6", [](MethodOptions& o) { o.order = 6; }}},
       .make = variational<lobatto>,
       .step_limit = limit_of<lobatto>,
       .ahead = ahead_of<lobatto>},
      {.name = "newmark",
       .keys = "beta gamma",
       .text = "implicit for beta > 0, stable at any step for 1/4 and 1/2",
       .variants = {{"beta = 0.25", [](MethodOptions& o) { o.beta = 0.25; }},
                    {"beta = 0.3025, gamma = 0.6", [](MethodOptions& o) { o.beta = 0.3025, o.gamma = 0.6; }}},
       .make = [](const Model& model, Steps steps, Options o) -> Made {
         return std::make_unique<SyncNewmarkImplicit>(model, steps.front(), o.beta, o.gamma);
       },
       .step_limit = newmark_limit},
      {.name = "shake",
       .keys = "",
       .text = "velocity Verlet with holonomic constraints, central velocities",
       .variants = {{}},
       .make = constrained<ConstrainedVelocity::central>,
       .keeps_constraints = true,
       .damping_limit = [](Options) { return 1.0; }},
      {.name = "rattle",
       .keys = "",
       .text = "velocity Verlet with holonomic constraints, projected velocities",
       .variants = {{}},
       .make = constrained<ConstrainedVelocity::projected>,
       .keeps_constraints = true,
       .damping_limit = [](Options) { return 1.0; }},
      {.name = "symplectic-energy-momentum",
       .keys = "action alpha order step_bounds",
       .text = "implicit; the step solves the energy equation",
       .variants = {{"action = \"midpoint\"", [](MethodOptions& o) { o.action = "midpoint"; }}},
       .make = [](const Model& model, Steps steps, Options o) -> Made {
         return std::make_unique<SyncSymplecticEnergyMomentum>(model, steps.front(), action_named(o), step_bounds(o));
       },
       .step_limit = without_limit},
      {.name = "energy-momentum",
       .keys = "",
       .text = "implicit, discrete gradients",
       .variants = {{"pairs of particles"}},
       .make = [](const Model& model, Steps steps, Options) -> Made {
         return std::make_unique<SyncEnergyMomentum>(model, steps.front());
       },
       .takes_sums = false,
       .step_limit = without_limit},
      {.name = "multi-domain",
       .keys = "framework domains",
       .text = "domains with rules and substeps of their own, explicit or implicit (2008 paper)",
       .variants = {{}},
       .make = [](const Model& model, Steps steps, Options) -> Made {  // one domain
         Domains one{std::vector<int>(static_cast<std::size_t>(model.term_count()), 0), {DomainRule{}}};
         return std::make_unique<MultiDomain>(model, std::move(one), steps.front());
       },
       .engine = Engine::domains,
       .asynchronous = true},
      {.name = "energy-stepping",
       .keys = "energy_step",
       .text = "straight flights between levels of the energy (2011 thesis, chapter 2)",
       .variants = {{"energy_step", [](MethodOptions& o) { o.energy_step = 1e-3; }}},
       .make = [](const Model& model, Steps steps, Options o) -> Made {
         return std::make_unique<SteppingEnergy>(model, one_subdomain(model, o.energy_step), steps);
       },
       .engine = Engine::stepping,
       .takes_sums = false,
       .takes_faces = true,
       .takes_hard_walls = true},
      {.name = "force-stepping",
       .keys = "grid parity reduced",
       .text = "parabolas in the simplices of a grid of all coordinates (2011 thesis, chapter 3); for few of them",
       .variants = {{"grid", [](MethodOptions& o) { o.grid = {1e-2}; }},
                    {"grid, reduced: two particles", [](MethodOptions& o) { o.grid = {1e-2}, o.reduced = true; }}},
       .make = [](const Model& model, Steps steps, Options o) -> Made {
         if (o.grid.empty())
           throw InputError("force-stepping needs grid (in m): a small part of how far things move. Add grid = ...");
         return std::make_unique<SteppingForce>(model, ForceGrid{o.grid, o.parity, o.reduced}, steps.front());
       },
       .engine = Engine::stepping,
       .takes_sums = false},
      {.name = "async-energy-stepping",
       .keys = "energy_step subdomains",
       .text = "the same, each subdomain at times of its own (2011 thesis, chapter 4)",
       .variants = {{"energy_step", [](MethodOptions& o) { o.energy_step = 1e-3; }}},
       .make = [](const Model& model, Steps steps, Options o) -> Made {  // every term a subdomain
         Subdomains all = one_subdomain(model, o.energy_step);
         std::iota(all.of_term.begin(), all.of_term.end(), 0);
         all.energy_step.assign(all.of_term.size(), o.energy_step);
         return std::make_unique<SteppingEnergy>(model, std::move(all), steps);
       },
       .engine = Engine::stepping,
       .asynchronous = true,
       .takes_sums = false,
       .takes_faces = true,
       .takes_hard_walls = true},
      {.name = "static",
       .keys = "load_steps",
       .text = "equilibrium under the loads of each load step, by Newton's method; nothing moves",
       .variants = {{"load_steps"}},
       .make = [](const Model& model, Steps steps, Options) -> Made {
         return std::make_unique<StaticEquilibrium>(model, steps.front());
       },
       .quasi_static = true,
       .step_limit = without_limit},
      {.name = "rk4",
       .keys = "",
       .text = "classical Runge-Kutta, a control",
       .variants = {{}},
       .make = [](const Model& model, Steps steps, Options) -> Made {
         return std::make_unique<SyncRk4>(model, steps.front());
       },
       .damping_limit = [](Options) { return 2.785; }},
  };
  return table;
}

// ---- claims ----

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

// visit(method, variant, whether it is explicit, what it claims)
template <class Visit>
void each_variant(Visit&& visit) {
  const Model model = pair_model();
  for (const Method& method : method_table())
    for (const Variant& variant : method.variants) {
      MethodOptions options = default_method_options();
      variant.set(options);
      visit(method, variant, method.is_explicit(options), method.make(model, {1.0}, options)->claims());
    }
}

std::string claims_as_cells(const Claims& c) {
  return fmt::format("{} | {} | {} | {} | {} | {}", c.order, word(c.linear_momentum), word(c.angular_momentum),
                     word(c.energy), word(c.symplectic), word(c.reversible));
}

}  // namespace

bool Method::is_explicit(const MethodOptions& options) const { return std::isfinite(step_limit(options)); }

std::span<const Method> method_table() { return rows(); }

std::unique_ptr<Integrator> make_integrator(const Method& method, const Model& model, const std::vector<double>& steps,
                                            const MethodOptions& options, int threads) {
  const std::optional<double> ahead = method.ahead(options);
  if (ahead && !model.has_dampers() && model.layers().empty() && model.memory_count() == 0)
    return std::make_unique<AviLattice>(model, TickLattice{steps.front(), std::vector<std::int32_t>(steps.size(), 1)},
                                        LatticeOptions{threads, 1.0, Coupling::plain, 0.0, *ahead, method.name});
  auto integrator = method.make(model, steps, options);
  integrator->use_threads(threads);
  return integrator;
}

std::string names_of_methods() {
  std::string names;
  std::set<std::string_view> seen;
  for (const Method& method : method_table())
    if (seen.insert(method.name).second) names += fmt::format("{}{}", names.empty() ? "" : " | ", method.name);
  return names;
}

const Method& method_of(const IntegratorInput& in) {
  const auto has_all = [&](const Method& method) {
    return std::ranges::all_of(in.method_keys, [&](const auto& key) { return has_key(method.keys, key.first); });
  };
  const Method* of_that_name = nullptr;
  for (const Method& method : method_table()) {
    if (method.name != in.method) continue;
    if (of_that_name == nullptr) of_that_name = &method;
    if (!has_all(method)) continue;
    if (in.residual_asked && method.engine != Engine::strikes && method.engine != Engine::adaptive)
      throw PlacedError(in.place, fmt::format("residual = true goes with avi, avi-adaptive and newmark without beta "
                                              "and gamma: {} has no local updates that it could watch. Leave it out.",
                                              in.method));
    return method;
  }
  TEMPI_ASSERT(of_that_name != nullptr);
  for (const auto& [key, place] : in.method_keys) {
    std::string owners;
    bool mine = false;
    for (const Method& method : method_table()) {
      if (!has_key(method.keys, key)) continue;
      mine = mine || method.name == in.method;
      owners += fmt::format("{}{}", owners.empty() ? "" : ", ", method.name);
    }
    if (!mine)
      throw PlacedError(place, fmt::format("{} belongs to {}, not to {}. Leave it out, or choose another method.", key,
                                           owners, in.method));
  }
  throw PlacedError(in.method_keys.front().second,
                    fmt::format("{} and {} do not go together. Leave one out.", in.method_keys.front().first,
                                in.method_keys.back().first));
}

StepBounds step_bounds(const MethodOptions& options) {
  if (options.step_bounds.size() != 2)
    throw InputError(
        fmt::format("step_bounds has {} numbers (must be two, such as [0.25, 4]).", options.step_bounds.size()));
  const StepBounds bounds{options.step_bounds[0], options.step_bounds[1]};
  check(bounds);
  return bounds;
}

SoftenedSteps softened_steps(const std::vector<double>& own, const MethodOptions& options) {
  SoftenedSteps result;
  const double longest = options.implicit_step;
  for (const double step : own) {
    const bool stiff = step < longest;
    result.steps.push_back(stiff ? longest : std::ldexp(longest, std::ilogb(step / longest)));
    result.alphas.push_back(stiff ? options.softness : 0.0);
  }
  return result;
}

std::string methods_as_markdown() {
  std::string page =
      "# Methods\n\nMade from what every method claims in the program (`tempi methods`): do not edit. One suite of "
      "tests holds each to its\n"
      "row. *Exact* is to rounding, on free bodies of a frame-indifferent material and free particles; *bounded*: in a "
      "band, without\n"
      "trend. `static` moves nothing and claims nothing.\n\n"
      "| `method` | keys | solves | order | linear momentum | angular momentum | energy | symplectic | reversible |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  each_variant([&](const Method& method, const Variant& variant, bool is_explicit, const Claims& claims) {
    if (method.quasi_static) return;
    page += fmt::format("| `{}` | {} | {} | {} |\n", method.name, variant.keys, is_explicit ? "explicit" : "implicit",
                        claims_as_cells(claims));
  });
  page +=
      "\n`energy-momentum` keeps the angular momentum of particles only, not that of elements with three nodes or "
      "more. `newmark` "
      "with\nbeta other than 0 and gamma = 0.5 keeps a form and an angular momentum of its own, near the true ones. "
      "`shake` and\n`rattle` keep momenta where constraints act between particles, and are symplectic on the "
      "constraints. What\n`symplectic-energy-momentum` keeps exactly is its discrete energy, while its equation has a "
      "solution. What the stepping methods keep exactly is the\nenergy of a terraced, or a piecewise linear, "
      "potential; their order is "
      "in `energy_step` and `grid`.\n";
  return page;
}

std::string table_of_methods() {
  std::string table =
      "| `method` | keys | what it does | order | linear momentum | angular momentum | energy | symplectic | "
      "reversible "
      "|\n|---|---|---|---|---|---|---|---|---|\n";
  const Method* last = nullptr;
  each_variant([&](const Method& method, const Variant& variant, bool, const Claims& claims) {
    if (std::exchange(last, &method) == &method) return;
    table += fmt::format("| `{}` | {} | {} | {} |\n", method.name, variant.keys, method.text,
                         method.quasi_static ? "- | - | - | - | - | -" : claims_as_cells(claims));
  });
  return table;
}

}  // namespace tempi
