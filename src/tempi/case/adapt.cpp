// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/adapt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "tempi/case/formula.hpp"
#include "tempi/case/load_choice.hpp"
#include "tempi/case/method_table.hpp"
#include "tempi/case/path_integral_choice.hpp"
#include "tempi/case/selection.hpp"
#include "tempi/core/distinct.hpp"
#include "tempi/io/history.hpp"
#include "tempi/io/msh_writer.hpp"
#include "tempi/io/vtu.hpp"

namespace tempi {
namespace {

void refuse_what_has_no_part(const Simulation& s) {
  const CaseFile& in = s.input;
  if (!method_of(in.integrator).quasi_static)
    throw PlacedError(in.integrator.place,
                      fmt::format("tempi adapt moves the nodes of a body at rest, and {} moves it. Choose method = "
                                  "\"static\" (--set integrator.method=static, and no steps).",
                                  in.integrator.method));
  const auto refuse = [](const auto& sections, std::string_view what) {
    if (!sections.empty())
      throw PlacedError(sections.front().place,
                        fmt::format("tempi adapt knows no derivative of {} by the places of nodes. Leave it out, or "
                                    "the adaption.",
                                    what));
  };
  if (in.particles)
    throw PlacedError(in.particles->place,
                      "particles have no mesh whose nodes tempi adapt could move. Leave them out.");
  refuse(in.potentials, "a [[potential]]");
  refuse(in.constraints, "a [[constraint]]");
  refuse(in.contacts, "a [[contact]]");
  refuse(in.walls, "a [[wall]]");
  refuse(in.ties, "a [[tie]]");
  require_solids(s.body, in.integrator.place, "the nodes that tempi adapt moves", "Run the case as it is.");
  for (const LoadInput& load : in.loads)
    if (load.type == "pressure" && !load.dead)
      throw PlacedError(load.place,
                        "a pressure that follows the surface has no potential for tempi adapt. Give "
                        "dead = true, if the surface turns little.");
}

class Adapter {
 public:
  explicit Adapter(Simulation& s)
      : s_(s),
        mesh_(*s.body.mesh),
        d_(static_cast<std::size_t>(mesh_.dim())),
        held_(static_cast<std::size_t>(mesh_.node_count()), 0) {
    loads_.force.assign(mesh_.points().size(), 0.0);
    loads_.of_cells.assign(static_cast<std::size_t>(mesh_.cells().size()), {});
  }

  AdaptReport operator()(const std::filesystem::path& folder, const AdaptRun& run) {
    s_.integrator->use_threads(s_.threads);
    s_.integrator->advance_to(s_.state, s_.input.end_time);
    s_.state = s_.integrator->synchronized(s_.state, s_.input.end_time).state;
    add_loads();
    hold_what_is_looked_at();
    const SlidingNodes sliding = sliding_nodes(mesh_, kinds(), demands(), held_);
    std::vector<char> supported(mesh_.points().size(), 0);
    for (Index a = 0; a < mesh_.node_count(); ++a)
      for (std::size_t c = 0; c < d_; ++c)
        supported[static_cast<std::size_t>(a) * d_ + c] =
            s_.model->supports().support_of(make_id<NodeId>(a), static_cast<int>(c)) != Supports::none;
    const MeshPotential potential(mesh_, s_.body.cells, loads_);
    HistoryWriter history(folder / adaption_history,
                          {"iteration", "potential_energy", "barrier_energy", "largest_force", "largest_force_of_all",
                           "active_cells", "least_shape"});
    const AdaptedMesh adapted =
        adapt_mesh(potential, sliding, s_.state.displacement, supported, run.options, [&](const AdaptionState& now) {
          history.write(std::array{static_cast<double>(now.iteration), now.potential, now.barrier, now.largest_force,
                                   now.largest_of_all, static_cast<double>(now.active_cells), now.least_shape});
          if (run.on_iteration) run.on_iteration(now);
          return run.stop == nullptr || !run.stop->load();
        });
    write(folder, adapted);
    AdaptReport report{sliding.free, sliding.sliding, sliding.held, adapted.first, adapted.last, adapted.converged, ""};
    if (!adapted.converged)
      report.fault = fmt::format(
          "after {} iterations the largest configurational force is {:.2g} of what it was ({:.2g} was sought): {}. The "
          "mesh is written as it is.",
          adapted.last.iteration, adapted.last.largest_of_all / adapted.first.largest_of_all, run.options.tolerance,
          adapted.last.iteration >= run.options.iterations ? "give more --iterations"
          : adapted.lost_equilibrium
              ? "beyond it the body has no stable equilibrium, as where a cell turns over at a corner"
              : "no step lowers the energy any more");
    return report;
  }

 private:
  void add_loads() {
    const std::vector<Index> term_of_cell = s_.body.term_of_cell();
    const NodeTerms no_particles;
    const LoadedBody body = {mesh_,
                             &mesh_,
                             s_.body.cells,
                             s_.model->mass(),
                             mesh_.node_count(),
                             s_.input.constants,
                             s_.input.end_time,
                             term_of_cell,
                             no_particles};
    const double t = s_.input.end_time;
    for (const LoadInput& load : s_.input.loads) {
      if (load.type == "gravity") {
        add_gravity(load, t);
        continue;
      }
      for (const auto& [force, hosts] : choose_load(load, body))
        for (Index k = 0; k < force->size(); ++k) {
          const auto nodes = force->stencil(k);
          std::vector<double> p(nodes.size() * d_, 0.0);
          force->add_impulse(k, s_.state.displacement, s_.state.velocity, t, 1.0, p);
          for (std::size_t i = 0; i < p.size(); ++i) {
            loads_.force[ordinal(nodes[i / d_]) * d_ + i % d_] += p[i];
            if (p[i] != 0.0) held_[ordinal(nodes[i / d_])] = 1;
          }
        }
    }
  }

  void add_gravity(const LoadInput& load, double t) {
    const VectorExpression value =
        at_place(load.value_place, [&] { return vector_of(load.value, s_.input.constants, mesh_.dim(), "value"); });
    std::array<double, 3> b{};
    for (std::size_t c = 0; c < d_; ++c) {
      const Expression& f = value[static_cast<int>(c)];
      if (f.depends_on_position())
        throw PlacedError(load.value_place,
                          "tempi adapt knows no derivative of gravity by a formula of the place. "
                          "Give a constant, or a formula of t.");
      b[c] = finite_value(f, std::array<double, 3>{}, t, "gravity");
    }
    for (const CellId c : Selection(mesh_, s_.input.constants).cells(load.target, "gravity"))
      for (std::size_t i = 0; i < d_; ++i) loads_.of_cells[ordinal(c)][i] += b[i];
  }

  void hold_what_is_looked_at() {
    for (std::size_t i = 0; i < s_.path_integrals.size(); ++i)
      if (s_.input.path_integrals[i].kind == "J")
        for (const NodeId a : s_.path_integrals[i].front()) held_[ordinal(a)] = 1;
    for (std::size_t i = 0; i < s_.probes.size(); ++i)
      if (!s_.input.probes[i].point.empty())
        for (const NodeId a : s_.probes[i].nodes) held_[ordinal(a)] = 1;
  }

  // Of each cell: material, gravity and groups.
  std::vector<int> kinds() const {
    using Kind = std::tuple<std::size_t, double, double, double, std::array<double, 3>, std::vector<int>>;
    std::vector<std::vector<int>> groups(static_cast<std::size_t>(mesh_.cells().size()));
    for (int g = 0; g < std::ssize(mesh_.groups()); ++g)
      for (const CellId c : mesh_.groups()[static_cast<std::size_t>(g)].cells) groups[ordinal(c)].push_back(g);
    std::map<Kind, int> known;
    std::vector<int> kind(groups.size(), -1);
    for (const ElasticCells* cells : s_.body.cells)
      for (Index k = 0; k < cells->size(); ++k) {
        const std::size_t c = ordinal(cells->cell(k));
        const Lame lame = lame_of(cells->material());
        const Kind its{cells->material().index(), lame.lambda,        lame.mu,
                       cells->density(),          loads_.of_cells[c], groups[c]};
        kind[c] = known.emplace(its, static_cast<int>(known.size())).first->second;
      }
    return kind;
  }

  // Of each node: supports of its components, one of its own where their displacements depend on the place; groups it
  // is listed in, but for those of most nodes.
  std::vector<std::vector<int>> demands() const {
    std::vector<std::vector<int>> of(static_cast<std::size_t>(mesh_.node_count()));
    const Supports& supports = s_.model->supports();
    const int count = static_cast<int>(supports.size());
    for (const NodeId a : supports.held_nodes())
      for (int c = 0; c < mesh_.dim(); ++c) {
        const std::int32_t support = supports.support_of(a, c);
        if (support == Supports::none) continue;
        const auto& formula = supports[support].displacement[static_cast<std::size_t>(c)];
        of[ordinal(a)].push_back(3 * support + c);
        if (formula && formula->depends_on_position())
          of[ordinal(a)].push_back(3 * count + static_cast<int>(mesh_.groups().size()) + static_cast<int>(index(a)));
      }
    for (int g = 0; g < std::ssize(mesh_.groups()); ++g) {
      const auto& nodes = mesh_.groups()[static_cast<std::size_t>(g)].nodes;
      if (2 * std::ssize(nodes) > mesh_.node_count()) continue;
      for (const NodeId a : nodes) of[ordinal(a)].push_back(3 * count + g);
    }
    for (auto& demands : of) {
      make_distinct(demands);
    }
    return of;
  }

  void write(const std::filesystem::path& folder, const AdaptedMesh& adapted) const {
    std::vector<double> points(mesh_.points().begin(), mesh_.points().end());
    for (std::size_t i = 0; i < points.size(); ++i) points[i] += adapted.moved[i];
    write_msh(folder / adapted_mesh, mesh_, points);
    const auto in_space = [&](std::span<const double> values) {
      std::vector<double> three(static_cast<std::size_t>(mesh_.node_count()) * 3, 0.0);
      for (std::size_t i = 0; i < values.size(); ++i) three[i / d_ * 3 + i % d_] = values[i];
      return three;
    };
    Frame frame;
    frame.points = in_space(mesh_.points());
    frame.deformed = false;
    std::vector<double> active(adapted.active.begin(), adapted.active.end());
    frame.point_data = {{"moved", 3, in_space(adapted.moved), {}},
                        {"configurational_force", 3, in_space(adapted.first_force), {}},
                        {"barrier_acts", 1, active, {}}};
    write_vtu(folder / given_mesh, mesh_, frame);
  }

  Simulation& s_;
  const Mesh& mesh_;
  std::size_t d_;
  std::vector<char> held_;
  MeshLoads loads_;
};

}  // namespace

std::string to_text(const AdaptReport& r) {
  std::string text = fmt::format("  vertices        {} free, {} along flat surfaces and straight edges, {} stay\n",
                                 r.free, r.sliding, r.held);
  text += fmt::format("  potential       {:.10g} J, was {:.10g} J (lower by {:.2g} of it)\n", r.last.potential,
                      r.first.potential, (r.first.potential - r.last.potential) / std::abs(r.first.potential));
  text += fmt::format("  largest force   {:.3g} N, was {:.3g} N{}\n", r.last.largest_force, r.first.largest_force,
                      r.last.active_cells > 0 ? fmt::format("; {} cells are held in shape, at their nodes {:.3g} N",
                                                            r.last.active_cells, r.last.largest_of_all)
                                              : "");
  return text;
}

AdaptReport adapt(Simulation& simulation, const std::filesystem::path& folder, const AdaptRun& run) {
  refuse_what_has_no_part(simulation);
  return Adapter(simulation)(folder, run);
}

}  // namespace tempi
