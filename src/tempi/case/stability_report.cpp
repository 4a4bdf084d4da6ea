// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/stability_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tempi/case/method_table.hpp"
#include "tempi/integrator/avi/avi_lattice.hpp"
#include "tempi/model/linearised_model.hpp"

namespace tempi {

StabilityReport measure_stability(const Simulation& s, const StabilityOptions& options) {
  const Method& method = method_of(s.input.integrator);
  if (method.engine == Engine::adaptive || method.engine == Engine::softened || method.engine == Engine::stepping)
    throw PlacedError(s.input.integrator.place,
                      fmt::format("the stability of {} is not measured. Choose avi or a synchronous method.",
                                  s.input.integrator.method));
  if (s.model->has_dampers() || !s.model->constraints().empty())
    throw PlacedError(s.input.integrator.place,
                      "stability is measured without dampers and constraints only. Leave them out.");
  const Model linear = linearised(*s.model, s.state.displacement);
  std::unique_ptr<Integrator> map;
  if (s.plan.choice)
    map = std::make_unique<AviLattice>(linear, s.plan.choice->lattice, LatticeOptions{1, 0.0, s.plan.choice->coupling});
  else if (s.plan.domains)
    map = make_multi_domain(linear, *s.plan.domains);
  else
    map = method.make(linear, s.plan.steps, s.input.integrator.options);
  return measure_growth(linear, *map, *std::ranges::max_element(s.plan.steps), options);
}

std::string describe_stability(const Simulation& s, const StabilityReport& r) {
  const auto [least, most] = std::ranges::minmax(s.plan.steps);
  std::string out = fmt::format("{}: linear stability where it starts\n", s.input.title);
  out += fmt::format("  method          {}, {}{}\n", s.input.integrator.method,
                     s.plan.choice                                              ? name_of(s.plan.choice->rule)
                     : s.plan.domains                                           ? "domains"
                     : method_of(s.input.integrator).engine == Engine::one_step ? "one step for all"
                                                                                : "exact",
                     s.plan.choice && s.plan.choice->limit != NeighbourLimit{}
                         ? fmt::format(", neighbours: {}", describe(s.plan.choice->limit))
                         : "");
  out += fmt::format("  steps           {:.6g} s to {:.6g} s, at most {:.3g} of a term's own stable step\n", least,
                     most, s.plan.safety);
  out +=
      fmt::format("  motion run      {} longest steps, without {} rigid motions\n", r.longest_steps, r.rigid_motions);
  out += fmt::format("  growth          {:.3e} per longest step (resolved from {:.0e}), {:.3g} in {} steps\n", r.growth,
                     r.resolution, r.total_log_growth, stability_horizon);
  out += fmt::format("  verdict         {}\n", r.unstable ? "unstable" : "stable");
  if (r.releases_energy)
    out +=
        "  note: its strain energy can fall below zero: the model itself is unstable where it starts, whatever the "
        "steps.\n";
  if (!r.unstable && r.longest_steps < stability_horizon)
    out += fmt::format("  note: growth slower than {:.1e} per longest step would not have been seen.\n", r.resolution);
  return out;
}

}  // namespace tempi
