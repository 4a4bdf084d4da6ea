// SPDX-License-Identifier: Apache-2.0
// What tests of integrators share: bodies with supports and loads, initial motions, steps, comparison of states.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <numbers>
#include <numeric>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include "support/meshes.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/force/loads.hpp"
#include "tempi/integrator/avi/avi_explicit.hpp"
#include "tempi/integrator/avi/avi_lattice.hpp"
#include "tempi/integrator/sync_newmark.hpp"
#include "tempi/model/steps.hpp"

namespace tempi::test {

// ---- bodies ----

// `edit(mesh, parts)` adds supports, loads, further materials before the model is made.
template <class Edit>
Body make_body_with(Mesh mesh, const Material& material, double density, Edit&& edit) {
  Body body;
  body.mesh = std::make_unique<Mesh>(std::move(mesh));
  Model::Parts parts = elastic_parts(*body.mesh, material, density);
  edit(static_cast<const Mesh&>(*body.mesh), parts);
  body.model = std::make_unique<Model>(std::move(parts));
  return body;
}

// Two materials: odd cells of the first, even cells of the second. One cell type only.
inline Body make_body_of_two(Mesh mesh, const Material& first, double first_density, const Material& second,
                             double second_density) {
  Body body;
  body.mesh = std::make_unique<Mesh>(std::move(mesh));
  const CellType type = body.mesh->cells().types.front();
  std::vector<CellId> odd, even;
  for (Index c = 0; c < body.mesh->cells().size(); ++c) (c % 2 == 0 ? odd : even).push_back(make_id<CellId>(c));
  Model::Parts parts;
  parts.dim = body.mesh->dim();
  parts.reference.assign(body.mesh->points().begin(), body.mesh->points().end());
  parts.mass.assign(static_cast<std::size_t>(body.mesh->node_count()), 0.0);
  parts.add(make_elastic_cells(*body.mesh, type, odd, first, first_density));
  parts.add(make_elastic_cells(*body.mesh, type, even, second, second_density));
  body.model = std::make_unique<Model>(std::move(parts));
  return body;
}

inline VectorExpression formulas(const std::vector<std::string>& texts, int dim) {
  std::vector<Expression> components;
  for (int c = 0; c < dim; ++c) components.emplace_back(texts[static_cast<std::size_t>(c)], Constants{});
  return VectorExpression(std::move(components));
}

inline const ElasticCells& cells_of(const Model::Parts& parts, std::size_t potential = 0) {
  return dynamic_cast<const ElasticCells&>(*parts.potentials[potential]);
}

inline Support resting(std::string name, std::vector<NodeId> nodes, int dim) {
  Support support;
  support.name = std::move(name);
  support.nodes = std::move(nodes);
  for (int c = 0; c < dim; ++c) support.motion[static_cast<std::size_t>(c)] = Support::Motion::at_rest;
  return support;
}

// Every component prescribed by its formula.
inline Support moving(std::string name, std::vector<NodeId> nodes, const std::vector<std::string>& texts, int dim) {
  Support support;
  support.name = std::move(name);
  support.nodes = std::move(nodes);
  for (int c = 0; c < dim; ++c) {
    const auto i = static_cast<std::size_t>(c);
    support.motion[i] = Support::Motion::prescribed;
    support.displacement[i].emplace(texts[i], Constants{});
  }
  return support;
}

inline Supports one_support(const Mesh& mesh, Support support) {
  std::vector<Support> all;
  all.push_back(std::move(support));
  return Supports(std::move(all), mesh.points(), mesh.dim());
}

inline std::vector<NodeId> all_nodes(const Mesh& mesh) {
  std::vector<NodeId> nodes;
  for (Index a = 0; a < mesh.node_count(); ++a) nodes.push_back(make_id<NodeId>(a));
  return nodes;
}

// The same mesh elsewhere; without facets and groups.
inline Mesh moved(const Mesh& mesh, const std::array<double, 3>& by) {
  MeshData data;
  data.dim = mesh.dim();
  data.points.assign(mesh.points().begin(), mesh.points().end());
  for (std::size_t i = 0; i < data.points.size(); ++i) data.points[i] += by[i % static_cast<std::size_t>(mesh.dim())];
  for (Index a = 0; a < mesh.node_count(); ++a) data.point_labels.push_back(a + 1);
  data.cells = mesh.cells();
  return Mesh(std::move(data));
}

// Mean of nodal values, weighted by mass.
inline std::array<double, 3> mass_average(const Model& model, std::span<const double> values) {
  std::array<double, 3> sum{};
  double total = 0.0;
  const auto d = static_cast<std::size_t>(model.dim());
  for (const double m : model.mass()) total += m;
  for (std::size_t i = 0; i < values.size(); ++i) sum[i % d] += model.mass()[i / d] * values[i] / total;
  return sum;
}

// The mesh with its centre of mass at the origin.
inline Mesh centred(const Mesh& mesh) {
  const Body body = make_body(mesh.scaled(1.0), NeoHookean{{1.0, 1.0}}, 1.0);
  auto centre = mass_average(*body.model, mesh.points());
  for (double& c : centre) c = -c;
  return moved(mesh, centre);
}

// ---- initial motions ----

// The angular velocity `spin` about the axis of rotation(); in 1-D the uniform velocity `spin`.
inline std::vector<double> spinning_velocities(const Mesh& mesh, double spin) {
  const double s = spin / std::sqrt(14.0);
  const std::vector<std::vector<double>> generators = {{0.0},
                                                       {0.0, -spin, spin, 0.0},
                                                       {0.0, -3.0 * s, 2.0 * s, 3.0 * s, 0.0, -s, -2.0 * s, s, 0.0}};
  const std::vector<double> uniform(static_cast<std::size_t>(mesh.dim()), mesh.dim() == 1 ? spin : 0.0);
  return affine_displacements(mesh, generators[static_cast<std::size_t>(mesh.dim() - 1)], uniform);
}

// Undeformed, spinning, with random velocities within +-noise in each component.
inline State moving_state(const Body& body, double spin, double noise, unsigned seed) {
  State state = reference_state(*body.model);
  state.velocity = spinning_velocities(*body.mesh, spin);
  const std::vector<double> random = random_displacements(*body.mesh, noise, seed);
  for (std::size_t i = 0; i < random.size(); ++i) state.velocity[i] += random[i];
  return state;
}

// The same motion seen from its centre of mass.
inline State without_net_momentum(const Body& body, State state) {
  const auto mean = mass_average(*body.model, state.velocity);
  for (std::size_t i = 0; i < state.velocity.size(); ++i)
    state.velocity[i] -= mean[i % static_cast<std::size_t>(body.mesh->dim())];
  return state;
}

// ---- steps ----

inline std::vector<double> own_steps(const Model& model, const std::vector<double>& u, double safety) {
  return choose_steps(model, u, SafetyFraction{safety}, StepRule::element, {});
}
inline std::vector<double> own_steps(const Model& model, double safety) {
  return own_steps(model, reference_state(model).displacement, safety);
}
inline double smallest(const std::vector<double>& values) { return *std::ranges::min_element(values); }
inline std::vector<double> uniform_steps(const Model& model, double step) {
  return std::vector<double>(static_cast<std::size_t>(model.term_count()), step);
}

// The methods, by the steps of all terms; Newmark takes the smallest, the lattice what fits below them.
inline std::unique_ptr<Integrator> make_avi(const Model& model, const std::vector<double>& steps) {
  return std::make_unique<AviExplicit>(model, steps);
}
inline std::unique_ptr<Integrator> make_newmark(const Model& model, const std::vector<double>& steps) {
  return std::make_unique<SyncNewmark>(model, smallest(steps));
}
inline TickLattice lattice_of(const std::vector<double>& steps, LatticeRule rule) {
  const std::vector<double> alike(steps.size(), 1.0);
  return fit_lattice(steps, rule, {alike, 1.0});
}
inline auto avi_on_a_lattice(Coupling coupling) {
  return [coupling](const Model& model, const std::vector<double>& steps) -> std::unique_ptr<Integrator> {
    return std::make_unique<AviLattice>(model, lattice_of(steps, LatticeRule::powers_of_two),
                                        LatticeOptions{.coupling = coupling});
  };
}
inline std::unique_ptr<Integrator> make_newmark_on_a_lattice(const Model& model, const std::vector<double>& steps) {
  return std::make_unique<AviLattice>(model, TickLattice{smallest(steps), std::vector<std::int32_t>(steps.size(), 1)});
}
struct Method {
  std::string name;
  std::function<std::unique_ptr<Integrator>(const Model&, const std::vector<double>&)> make;
};
inline void PrintTo(const Method& method, std::ostream* out) { *out << method.name; }
inline std::vector<Method> methods() {
  return {{"avi", make_avi},
          {"newmark", make_newmark},
          {"avi on a lattice", avi_on_a_lattice(Coupling::plain)},
          {"avi mollified on a lattice", avi_on_a_lattice(Coupling::mollified)},
          {"newmark on a lattice", make_newmark_on_a_lattice}};
}

// The steps a method has made of those it was given.
inline std::vector<double> steps_taken(const Model& model, const Integrator& integrator) {
  std::vector<double> steps;
  for (Index i = 0; i < model.term_count(); ++i) steps.push_back(integrator.step(make_id<TermId>(i)));
  return steps;
}

// The multiple of all steps that is nearest to t, from one on; steps of small whole ratios only.
inline double common_multiple_near(double t, const std::vector<double>& steps) {
  const double longest = *std::ranges::max_element(steps);
  double period = longest;
  const auto divides = [&](double step) { return std::abs(std::remainder(period, step)) < 1e-9 * step; };
  while (!std::ranges::all_of(steps, divides)) period += longest;
  return std::max(1.0, std::round(t / period)) * period;
}

inline double largest(std::span<const double> values) {
  double result = 0.0;
  for (const double value : values) result = std::isnan(value) ? value : std::max(result, std::abs(value));
  return result;
}
inline double largest_difference(std::span<const double> a, std::span<const double> b) {
  double result = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    if (!(d <= result)) result = d;  // a NaN stays
  }
  return result;
}
inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}
inline bool same_bits(const Ledger& a, const Ledger& b) {
  static_assert(std::is_trivially_copyable_v<Ledger> && sizeof(Ledger) % (7 * sizeof(double)) == 0);  // doubles only
  return std::memcmp(&a, &b, sizeof(Ledger)) == 0;
}
// Positions, velocities and clocks.
inline bool same_motion(const State& a, const State& b) {
  return same_bits(a.displacement, b.displacement) && same_bits(a.velocity, b.velocity) && same_bits(a.clock, b.clock);
}
// The motion and what has been booked.
inline bool same_bits(const State& a, const State& b) {
  if (!same_motion(a, b) || !same_bits(a.loads, b.loads) || !same_bits(a.damping, b.damping) ||
      !same_bits(a.constraints, b.constraints) || a.supports.size() != b.supports.size())
    return false;
  for (std::size_t s = 0; s < a.supports.size(); ++s)
    if (!same_bits(a.supports[s], b.supports[s])) return false;
  return true;
}

// Slope of log(error) over log(step), least squares.
inline double slope(const std::vector<double>& steps, const std::vector<double>& errors) {
  const auto n = static_cast<double>(steps.size());
  double x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double lx = std::log(steps[i]), ly = std::log(errors[i]);
    x += lx / n, y += ly / n, xx += lx * lx / n, xy += lx * ly / n;
  }
  return (xy - x * y) / (xx - x * x);
}

// Runs to t_end and samples the balance `samples` times on the way, the start included.
inline Balance run_and_balance(const Model& model, Integrator& integrator, State& state, double t_end, int samples) {
  Balance balance;
  balance.add(sample(model, integrator.synchronized(state, 0.0)));
  for (int i = 1; i <= samples; ++i) {
    const double t = t_end * i / samples;
    integrator.advance_to(state, t);
    balance.add(sample(model, integrator.synchronized(state, t)));
  }
  return balance;
}

// Of parameters in test names.
inline std::string plain(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return text;
}

// A moving and a resting support, gravity, a follower pressure; some equal steps, some that nest, most of neither kind.
inline Body loaded_body(int n = 3, double density = 1.2) {
  return make_body_with(
      triangle_mesh(CellType::triangle6, n, 0.12, 21, 0.05), NeoHookean{{1.3, 0.7}}, density,
      [](const Mesh& mesh, Model::Parts& parts) {
        std::vector<Support> supports;
        supports.push_back(moving("left", nodes_of(mesh, "left"), {"0.02*sin(3*t)", "0.01*Y*t"}, 2));
        supports.push_back(resting("corner", {nodes_of(mesh, "right").front()}, 2));
        parts.supports = Supports(std::move(supports), mesh.points(), 2);
        add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0.1", "-0.3*cos(t)"}, 2)));
        add_force(parts, make_pressure(mesh, facets_of(mesh, "right"), Expression("0.02*(1+sin(t))", Constants{}),
                                       PressureFrame::deformed));
      });
}

}  // namespace tempi::test
