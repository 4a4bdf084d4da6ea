// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tempi/case/method_table.hpp"
#include "tempi/element/configurational_force.hpp"
#include "tempi/integrator/stepping/stepping_energy.hpp"

namespace tempi {
namespace {

constexpr const char* axes = "xyz";
std::vector<double> mean_of(const std::vector<double>& values, const std::vector<NodeId>& nodes, int dim) {
  std::vector<double> mean(static_cast<std::size_t>(dim), 0.0);
  for (const NodeId a : nodes)
    for (std::size_t c = 0; c < mean.size(); ++c)
      mean[c] += values[static_cast<std::size_t>(index(a) * dim) + c] / static_cast<double>(nodes.size());
  return mean;
}

// dim components a node, filled up to three.
std::vector<double> three_components(std::span<const double> values, int dim) {
  std::vector<double> out(values.size() / static_cast<std::size_t>(dim) * 3, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i)
    out[i / static_cast<std::size_t>(dim) * 3 + i % static_cast<std::size_t>(dim)] = values[i];
  return out;
}

double von_mises(const std::array<double, 6>& s) {
  const double a = s[0] - s[1], b = s[1] - s[2], c = s[2] - s[0];
  return std::sqrt(0.5 * (a * a + b * b + c * c) + 3.0 * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5]));
}

// Of a probe's cells, the mean by volume.
void add_stress_and_strain(const Simulation& s, const Probe& probe, std::span<const double> u,
                           std::vector<double>& row) {
  std::array<double, 12> mean{};
  double volume = 0.0;
  for (const ElasticCells* cells : s.body.cells)
    for (Index k = 0; k < cells->size(); ++k) {
      if (!std::ranges::binary_search(probe.cells, cells->cell(k))) continue;
      const auto stress = cells->cauchy_stress(k, u), strain = cells->green_strain(k, u);
      for (std::size_t c = 0; c < 6; ++c) {
        mean[c] += cells->volume(k) * stress[c];
        mean[6 + c] += cells->volume(k) * strain[c];
      }
      volume += cells->volume(k);
    }
  for (const double value : mean) row.push_back(value / volume);
}

// T_K + V_K now, with total nodal masses as in (97), and the residual until now; zeros where nobody has watched.
void add_residual(const Simulation& s, CellId element, const Snapshot& snapshot, const EnergyResidual* residual,
                  std::vector<double>& row) {
  const auto term = make_id<TermId>(s.body.term_of_cell()[ordinal(element)]);
  const auto [potential, k] = s.model->term(term);
  double energy = potential->energy(k, snapshot.state.displacement, snapshot.time);
  const auto d = static_cast<std::size_t>(s.model->dim());
  for (const NodeId a : s.model->term(term).stencil())
    for (std::size_t c = 0; c < d; ++c)
      energy += 0.5 * s.model->mass(a) * std::pow(snapshot.state.velocity[ordinal(a) * d + c], 2);
  row.push_back(energy);
  row.push_back(residual != nullptr ? residual->last()[ordinal(term)] : 0.0);
  row.push_back(residual != nullptr ? residual->accumulated()[ordinal(term)] : 0.0);
}

std::vector<double> forces_on_the_mesh(const Simulation& s, const Snapshot& snapshot) {
  return configurational_forces(s.body.cells, s.model->node_count(), s.model->dim(), snapshot.state.displacement,
                                snapshot.state.velocity, Carried::places, s.threads);
}

void add_ledger(const Simulation& s, const Probe& probe, const Snapshot& snapshot, std::vector<double>& row) {
  const PartLedger ledger = ledger_of(*s.model, snapshot, probe.nodes, *probe.body->terms);
  for (const auto* momentum : {&ledger.momentum.linear, &ledger.momentum.angular})
    row.insert(row.end(), momentum->begin(), momentum->end());
  row.insert(row.end(), {ledger.kinetic, ledger.vibrational, ledger.potential});
  if (probe.body->subdomains.empty()) return;
  const auto& stepping = dynamic_cast<const SteppingEnergy&>(*s.integrator);
  double levels = 0.0;
  for (const Index i : probe.body->subdomains)
    levels += static_cast<double>(stepping.level(i)) * stepping.energy_step(i);
  row.push_back(levels);
}

}  // namespace

std::vector<std::int64_t> group_of_cells(const Mesh& mesh) {
  std::vector<std::int64_t> group(static_cast<std::size_t>(mesh.cells().size()), 0);
  for (std::size_t g = mesh.groups().size(); g > 0; --g)  // the first group of a cell wins
    for (const CellId c : mesh.groups()[g - 1].cells) group[ordinal(c)] = static_cast<std::int64_t>(g);
  return group;
}

std::vector<std::string> history_columns(const Simulation& s) {
  std::vector<std::string> names = {"time", "kinetic_energy", "potential_energy", "total_energy", "external_work"};
  if (s.model->dissipates()) names.emplace_back("damping_work");
  if (s.books_every_strike()) names.emplace_back("ledger_error");
  for (const char* momentum : {"linear_momentum", "angular_momentum"})
    for (int c = 0; c < 3; ++c) names.push_back(fmt::format("{}_{}", momentum, axes[c]));
  for (Index i = 0; i < s.model->supports().size(); ++i)
    for (int c = 0; c < s.body.mesh->dim(); ++c)
      names.push_back(fmt::format("{}.reaction_{}", s.model->supports()[i].name, axes[c]));
  for (std::size_t k = 1; k <= s.model->layers().size(); ++k) {
    names.push_back(fmt::format("contact_{}.force", k));
    for (int c = 0; c < s.body.mesh->dim(); ++c) names.push_back(fmt::format("contact_{}.force_{}", k, axes[c]));
    for (const char* what : {"distance", "layers", "pairs"}) names.push_back(fmt::format("contact_{}.{}", k, what));
  }
  for (const Probe& probe : s.probes) {
    for (const char* what : {"displacement", "velocity"})
      for (int c = 0; c < s.body.mesh->dim(); ++c) names.push_back(fmt::format("{}.{}_{}", probe.name, what, axes[c]));
    for (const char* what : {"stress", "strain"})
      for (const char* component : {"xx", "yy", "zz", "xy", "yz", "xz"})
        if (!probe.cells.empty()) names.push_back(fmt::format("{}.{}_{}", probe.name, what, component));
    for (int c = 0; c < s.body.mesh->dim() && s.input.configurational_forces; ++c)
      names.push_back(fmt::format("{}.configurational_force_{}", probe.name, axes[c]));
    for (const char* what : {"energy", "residual", "accumulated_residual"})
      if (probe.element) names.push_back(fmt::format("{}.{}", probe.name, what));
    if (!probe.body) continue;
    for (const char* momentum : {"linear_momentum", "angular_momentum"})
      for (int c = 0; c < 3; ++c) names.push_back(fmt::format("{}.{}_{}", probe.name, momentum, axes[c]));
    for (const char* energy : {"kinetic_energy", "vibrational_energy", "potential_energy"})
      names.push_back(fmt::format("{}.{}", probe.name, energy));
    if (!probe.body->subdomains.empty()) names.push_back(fmt::format("{}.level_energy", probe.name));
  }
  for (std::size_t i = 0; i < s.path_integrals.size(); ++i)
    for (int k = 1; k <= s.path_integrals[i].regions(); ++k)
      names.push_back(fmt::format("{}.{}_{}", s.input.path_integrals[i].name, s.input.path_integrals[i].kind, k));
  return names;
}

std::vector<double> history_row(const Simulation& s, const Snapshot& snapshot, const Sample& now,
                                const EnergyResidual* residual) {
  const int dim = s.body.mesh->dim();
  std::vector<double> row = {now.time, now.energy.kinetic, now.energy.potential,
                             now.energy.kinetic + now.energy.potential, now.external_work};
  if (s.model->dissipates()) row.push_back(now.damping_work);
  if (s.books_every_strike()) row.push_back(residual != nullptr ? residual->unbooked(s.state) : 0.0);
  row.insert(row.end(), now.momentum.linear.begin(), now.momentum.linear.end());
  row.insert(row.end(), now.momentum.angular.begin(), now.momentum.angular.end());
  for (const auto& r : reactions(*s.model, snapshot, s.plan.difference_spacing()))
    row.insert(row.end(), r.begin(), r.begin() + dim);
  for (const ContactNow& contact : snapshot.contact) {
    row.push_back(contact.force);
    row.insert(row.end(), contact.on_first.begin(), contact.on_first.begin() + dim);
    row.push_back(contact.distance);
    row.push_back(static_cast<double>(contact.layers));
    row.push_back(static_cast<double>(contact.pairs));
  }
  const std::vector<double> configurational =
      s.input.configurational_forces && !s.probes.empty() ? forces_on_the_mesh(s, snapshot) : std::vector<double>();
  for (const Probe& probe : s.probes) {
    for (const auto* values : {&snapshot.state.displacement, &snapshot.state.velocity}) {
      const auto mean = mean_of(*values, probe.nodes, dim);
      row.insert(row.end(), mean.begin(), mean.end());
    }
    if (!probe.cells.empty()) add_stress_and_strain(s, probe, snapshot.state.displacement, row);
    if (!configurational.empty()) {
      const auto sum = mean_of(configurational, probe.nodes, dim);
      for (const double mean : sum) row.push_back(mean * static_cast<double>(probe.nodes.size()));
    }
    if (probe.element) add_residual(s, *probe.element, snapshot, residual, row);
    if (probe.body) add_ledger(s, probe, snapshot, row);
  }
  if (s.path_integrals.empty()) return row;
  const std::vector<double> acceleration = method_of(s.input.integrator).quasi_static
                                               ? std::vector<double>(snapshot.force.size(), 0.0)
                                               : accelerations(*s.model, snapshot, s.plan.difference_spacing());
  for (const PathIntegral& J : s.path_integrals) {
    const std::vector<double> values = J(snapshot.state.displacement, snapshot.state.velocity, acceleration);
    row.insert(row.end(), values.begin(), values.end());
  }
  return row;
}

namespace {

// Calls use(u) with the nodes of a term where it acts, and puts them back in u.
template <class Use>
void where_it_acts(const Simulation& s, TermId term, std::vector<double>& u, Use&& use) {
  const auto d = static_cast<std::size_t>(s.body.mesh->dim());
  const auto nodes = s.model->term(term).stencil();
  std::vector<double> kept;
  for (const NodeId a : nodes)
    for (std::size_t c = 0; c < d; ++c) kept.push_back(u[ordinal(a) * d + c]);
  s.integrator->act_at(term, u);
  use(std::span<const double>(u));
  auto value = kept.begin();
  for (const NodeId a : nodes)
    for (std::size_t c = 0; c < d; ++c) u[ordinal(a) * d + c] = *value++;
}

void add_stresses(const Simulation& s, const Snapshot& snapshot, Frame& frame) {
  const auto cells = static_cast<std::size_t>(s.body.mesh->cells().size());
  std::vector<double> u = snapshot.state.displacement;
  Index term = 0;
  std::vector<double> stress(6 * cells), mises(cells);
  for (const ElasticCells* potential : s.body.cells)
    for (Index k = 0; k < potential->size(); ++k, ++term) {
      const auto c = ordinal(potential->cell(k));
      where_it_acts(s, make_id<TermId>(term), u, [&](std::span<const double> x) {
        const auto sigma = potential->cauchy_stress(k, x);
        std::ranges::copy(sigma, stress.begin() + static_cast<std::ptrdiff_t>(6 * c));
        mises[c] = von_mises(sigma);
      });
    }
  frame.cell_data.push_back({"stress", 6, std::move(stress), {"XX", "YY", "ZZ", "XY", "YZ", "XZ"}});
  frame.cell_data.push_back({"von_mises", 1, std::move(mises), {}});
}

}  // namespace

Frame make_frame(const Simulation& s, const Snapshot& snapshot, const EnergyResidual* residual) {
  const auto cells = static_cast<std::size_t>(s.body.mesh->cells().size());
  Frame frame;
  frame.time = snapshot.time;
  frame.deformed = s.input.deformed;
  std::vector<double> position(s.body.mesh->points().begin(), s.body.mesh->points().end());
  for (std::size_t i = 0; frame.deformed && i < position.size(); ++i) position[i] += snapshot.state.displacement[i];
  frame.points = three_components(position, s.body.mesh->dim());
  const std::vector<double> mass(s.model->mass().begin(), s.model->mass().end());
  frame.point_data = {{"displacement", 3, three_components(snapshot.state.displacement, s.body.mesh->dim()), {}},
                      {"velocity", 3, three_components(snapshot.state.velocity, s.body.mesh->dim()), {}},
                      {"mass", 1, mass, {}}};
  std::vector<double> step(cells), strain_energy(cells), accumulated(cells), last(cells);
  std::vector<std::int64_t> updates(cells);
  const std::vector<Index> term_of_cell = s.body.term_of_cell();
  std::vector<double> accumulated_of_term, last_of_term;
  if (residual != nullptr) {
    accumulated_of_term = residual->accumulated();
    last_of_term = residual->last();
  }
  std::vector<double> u = snapshot.state.displacement;
  for (std::size_t c = 0; c < cells; ++c) {
    if (term_of_cell[c] < 0) continue;
    const auto i = static_cast<std::size_t>(term_of_cell[c]);
    const auto id = make_id<TermId>(term_of_cell[c]);
    updates[c] = s.integrator->updates(id);
    step[c] = s.integrator->step(id);
    const auto [potential, k] = s.model->term(id);
    where_it_acts(s, id, u, [&, term = k, of = potential](std::span<const double> x) {
      strain_energy[c] = of->energy(term, x, snapshot.time);
    });
    if (residual != nullptr) {
      accumulated[c] = accumulated_of_term[i];
      last[c] = last_of_term[i];
    }
  }
  for (const ShellBending* bending : s.body.bending) bending->add_energy(snapshot.state.displacement, strain_energy);
  frame.integer_cell_data = {{"updates", std::move(updates)}, {"group", group_of_cells(*s.body.mesh)}};
  frame.cell_data = {{"step", 1, std::move(step), {}},
                     {s.only_particles() ? "energy" : "strain_energy", 1, std::move(strain_energy), {}}};
  const auto wants = [&](const char* name) {
    return s.input.fields.empty() || std::ranges::find(s.input.fields, name) != s.input.fields.end();
  };
  if (!s.only_particles() && (wants("stress") || wants("von_mises"))) add_stresses(s, snapshot, frame);
  if (!s.body.bending.empty() && wants("curvature")) {
    std::vector<double> curvature(6 * cells, 0.0);
    for (const ShellBending* bending : s.body.bending) bending->add_curvature(snapshot.state.displacement, curvature);
    frame.cell_data.push_back({"curvature", 6, std::move(curvature), {"XX", "YY", "ZZ", "XY", "YZ", "XZ"}});
  }
  if (s.input.configurational_forces && wants("configurational_force"))
    frame.point_data.push_back(
        {"configurational_force", 3, three_components(forces_on_the_mesh(s, snapshot), s.body.mesh->dim()), {}});
  if (residual != nullptr) {
    frame.cell_data.push_back({"energy_residual", 1, std::move(accumulated), {}});
    frame.cell_data.push_back({"energy_residual_last", 1, std::move(last), {}});
  }
  const auto& wanted = s.input.fields;
  const auto left_out = [&](const auto& field) {
    return !wanted.empty() && std::ranges::find(wanted, field.name) == wanted.end();
  };
  std::erase_if(frame.point_data, left_out);
  std::erase_if(frame.cell_data, left_out);
  std::erase_if(frame.integer_cell_data, left_out);
  frame.float32 = s.input.float32;
  return frame;
}

}  // namespace tempi
