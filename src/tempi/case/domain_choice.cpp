// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/domain_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "tempi/case/results.hpp"
#include "tempi/case/selection.hpp"
#include "tempi/case/simulation.hpp"
#include "tempi/case/term_choice.hpp"
#include "tempi/contact/surface_tie.hpp"
#include "tempi/mesh/partition.hpp"
#include "tempi/model/steps.hpp"

namespace tempi {
namespace {

class Planner {
 public:
  Planner(const Simulation& s, std::span<const TermsOfOneStep> together, double part)
      : s_(s),
        part_(part),
        in_(s.input.integrator),
        safety_(in_.safety.value_or(0.9)),
        of_term_(static_cast<std::size_t>(s.model->term_count()), none),
        given_(of_term_.size(), std::numeric_limits<double>::infinity()) {
    for (const auto& [first, end, step] : together)
      if (step) std::fill(given_.begin() + first, given_.begin() + end, *step);
  }

  DomainPlan operator()() {
    if (s_.input.domains.empty())
      cut();
    else
      take_sections();
    take_the_rest();
    grow();
    if (s_.input.domains.empty() && in_.options.domains == "auto" && s_.input.ties.empty()) join_apart();
    find_limits();
    choose_steps();
    plan_.domains.of_term = of_term_;
    plan_.framework = in_.options.framework == "hamiltonian"  ? Framework::hamiltonian
                      : in_.options.framework == "lagrangian" ? Framework::lagrangian
                                                              : Framework::canonical;
    for (const TieInput& tie : s_.input.ties) take_tie(tie);
    return std::move(plan_);
  }

 private:
  static constexpr int none = -1;

  std::span<const NodeId> stencil(std::size_t term) const {
    return s_.model->term(make_id<TermId>(static_cast<Index>(term))).stencil();
  }

  void take_sections() {
    int d = 0;
    for (const DomainInput& in : s_.input.domains) {
      inside_.push_back(terms_of(s_, in.target, "[[domain]]"));
      for (const std::size_t k : inside_.back().terms) {
        if (of_term_[k] != none)
          throw PlacedError(in.place, fmt::format("{} is in domain '{}' already. Keep them apart.",
                                                  describe_term(s_, k), name(of_term_[k])));
        of_term_[k] = d;
      }
      if (inside_.back().terms.empty()) throw PlacedError(in.place, "holds no cell and no bond. Choose another group.");
      ++d;
    }
    const std::vector<Index> term_of_cell = s_.body.term_of_cell();
    for (const Index k : term_of_cell)
      if (k >= 0 && of_term_[static_cast<std::size_t>(k)] == none && stencil(static_cast<std::size_t>(k)).size() > 1)
        throw PlacedError(s_.input.domains.front().place,
                          fmt::format("{} is in no [[domain]]. Every cell and bond belongs to one: add another.",
                                      describe_term(s_, static_cast<std::size_t>(k))));
  }

  // What is neither a cell nor a bond goes where its nodes are.
  void take_the_rest() {
    std::vector<int> of_node(static_cast<std::size_t>(s_.model->node_count()), none);
    const auto note = [&](std::size_t k) {
      for (const NodeId a : stencil(k)) {
        int& of = of_node[ordinal(a)];
        of = of == none ? of_term_[k] : std::min(of, of_term_[k]);
      }
    };
    for (std::size_t k = 0; k < of_term_.size(); ++k)
      if (of_term_[k] != none) note(k);
    for (std::size_t d = 0; d < inside_.size(); ++d)
      for (std::size_t a = 0; a < of_node.size(); ++a)
        if (of_node[a] == none && inside_[d].node_is_inside[a] != 0) of_node[a] = static_cast<int>(d);
    for (std::size_t k = 0; k < of_term_.size(); ++k) {
      if (of_term_[k] != none) continue;
      for (std::size_t d = 0; d < inside_.size() && of_term_[k] == none; ++d)
        if (std::ranges::all_of(stencil(k), [&](NodeId a) { return inside_[d].node_is_inside[ordinal(a)] != 0; }))
          of_term_[k] = static_cast<int>(d);
      for (const NodeId a : stencil(k))
        if (of_term_[k] == none) of_term_[k] = of_node[ordinal(a)];
      if (of_term_[k] == none && s_.input.domains.empty()) of_term_[k] = 0;
      if (of_term_[k] == none)
        throw PlacedError(s_.input.domains.front().place,
                          fmt::format("{} is in no [[domain]]. Add another.", describe_term(s_, k)));
    }
  }

  // By rings of elements around them, which others lose: an interface in soft material answers stiff ones gently.
  void grow() {
    const std::vector<double> stable = stable_steps(*s_.model, s_.state.displacement, s_.threads);
    std::vector<double> limit(static_cast<std::size_t>(count()), std::numeric_limits<double>::infinity());
    for (std::size_t k = 0; k < stable.size(); ++k) {
      double& least = limit[static_cast<std::size_t>(of_term_[k])];
      least = std::min(least, stable[k]);
    }
    for (std::size_t d = 0; d < limit.size(); ++d) {
      constexpr int unasked = 2;
      const bool asked = !s_.input.domains.empty() && s_.input.domains[d].rings.has_value();
      std::vector<char> gives(limit.size(), 1);
      for (std::size_t other = 0; other < limit.size() && !asked; ++other)
        gives[other] = is_avi(d) && is_explicit(other) && limit[other] >= 2.0 * limit[d] ? 1 : 0;
      grow(static_cast<int>(d), asked ? *s_.input.domains[d].rings : unasked, gives, asked);
    }
  }

  // Rings that nobody asked for leave something of everybody.
  void grow(int d, int rings, std::span<const char> gives, bool asked) {
    if (std::ranges::find(of_term_, d) == of_term_.end()) return;
    for (int r = 0; r < rings; ++r) {
      const std::vector<int> before = of_term_;
      std::vector<char> touched(static_cast<std::size_t>(s_.model->node_count()), 0);
      for (std::size_t k = 0; k < of_term_.size(); ++k)
        if (of_term_[k] == d)
          for (const NodeId a : stencil(k)) touched[ordinal(a)] = 1;
      for (std::size_t k = 0; k < of_term_.size(); ++k) {
        if (gives[static_cast<std::size_t>(of_term_[k])] == 0) continue;
        if (std::ranges::any_of(stencil(k), [&](NodeId a) { return touched[ordinal(a)] != 0; })) of_term_[k] = d;
      }
      for (int other = 0; !asked && other < std::ssize(gives); ++other)
        if (std::ranges::find(before, other) != before.end() && std::ranges::find(of_term_, other) == of_term_.end()) {
          of_term_ = before;
          return;
        }
    }
  }

  void cut() {
    const std::string& how = in_.options.domains;
    if (how == "auto") {
      cut_by_steps();
      return;
    }
    if (s_.body.cells.empty())
      throw PlacedError(in_.place,
                        fmt::format("domains = {} cuts a mesh, and there are only particles. Give [[domain]] "
                                    "sections.",
                                    how));
    const Mesh& mesh = s_.body.elastic ? *s_.body.elastic : *s_.body.mesh;
    std::vector<std::int64_t> of_cell;
    if (how == "groups") {
      for (const auto g : group_of_cells(*s_.body.mesh)) of_cell.push_back(g);
    } else {
      for (const auto p : at_place(in_.place, [&] { return partition(mesh, std::stoi(how)); })) of_cell.push_back(p);
    }
    std::map<std::int64_t, int> known;
    const std::vector<Index> term_of_cell = s_.body.term_of_cell();
    for (std::size_t c = 0; c < std::min(term_of_cell.size(), of_cell.size()); ++c) {
      if (term_of_cell[c] < 0) continue;
      const auto [found, is_new] = known.emplace(of_cell[c], static_cast<int>(known.size()));
      of_term_[static_cast<std::size_t>(term_of_cell[c])] = found->second;
    }
  }

  // One domain whose substeps are a power of two shorter than the system step, where that saves most updates. What is
  // not stiff where it starts, as a wall, goes where its nodes are.
  void cut_by_steps() {
    const std::vector<double> of_all = stable_steps(*s_.model, s_.state.displacement, s_.threads);
    std::vector<double> stable;
    std::ranges::copy_if(of_all, std::back_inserter(stable), [](double h) { return std::isfinite(h); });
    if (stable.empty()) return;
    const double least = *std::ranges::min_element(stable);
    double cheapest = static_cast<double>(stable.size());
    int substeps = 1;
    for (int s = 2; s <= 64; s *= 2) {
      const auto fine = static_cast<double>(std::ranges::count_if(stable, [&](double h) { return h < s * least; }));
      if (fine == static_cast<double>(stable.size())) break;
      const double cost = (static_cast<double>(stable.size()) - fine) / s + fine;
      if (cost < 0.95 * cheapest) cheapest = cost, substeps = s;
    }
    for (std::size_t k = 0; k < of_all.size(); ++k)
      if (std::isfinite(of_all[k])) of_term_[k] = substeps > 1 && of_all[k] < substeps * least ? 1 : 0;
  }

  // Domains that nobody asked for meet somewhere, or are one.
  void join_apart() {
    std::vector<int> of_node(static_cast<std::size_t>(s_.model->node_count()), none);
    for (std::size_t k = 0; k < of_term_.size(); ++k)
      for (const NodeId a : stencil(k)) {
        int& of = of_node[ordinal(a)];
        if (of != none && of != of_term_[k]) return;
        of = of_term_[k];
      }
    std::ranges::fill(of_term_, 0);
  }

  int count() const {
    return std::max(*std::ranges::max_element(of_term_) + 1, static_cast<int>(s_.input.domains.size()));
  }

  // By node: nodal_stable_steps of all that is explicit.
  std::vector<double> explicit_nodal() const {
    std::vector<int> side;
    for (const int d : of_term_) side.push_back(is_explicit(static_cast<std::size_t>(d)) ? 0 : 1);
    if (std::ranges::find(side, 1) == side.end()) return s_.nodal(*s_.model);
    std::vector<double> nodal(static_cast<std::size_t>(s_.model->node_count()),
                              std::numeric_limits<double>::infinity());
    if (std::ranges::find(side, 0) == side.end()) return nodal;
    const std::vector<Submodel> parts = divide(*s_.model, side);
    const std::vector<double> of_part = nodal_stable_steps(*parts[0].model, parts[0].restricted(s_.state).displacement);
    for (std::size_t b = 0; b < of_part.size(); ++b) nodal[ordinal(parts[0].nodes[b])] = of_part[b];
    return nodal;
  }

  void find_limits() {
    for (int d = 0; d < count(); ++d)
      if (std::ranges::find(of_term_, d) == of_term_.end())
        throw PlacedError(place(static_cast<std::size_t>(d)),
                          fmt::format("the rings of others leave nothing of domain '{}'. Choose fewer.", name(d)));
    const std::vector<Submodel> parts = at_place(in_.place, [&] { return divide(*s_.model, of_term_); });
    std::vector<double> limit(of_term_.size());
    for (const Submodel& part : parts) {
      const std::vector<double> stable = stable_steps(*part.model, part.restricted(s_.state).displacement, s_.threads);
      for (std::size_t k = 0; k < stable.size(); ++k) {
        const std::size_t term = ordinal(part.terms[k]);
        limit[term] = std::min(stable[k], given_[term] / safety_);
      }
    }
    const bool any_stiff = std::ranges::any_of(limit, [](double h) { return std::isfinite(h); });
    if (any_stiff || !in_.step) at_place(in_.step_place, [&] { follow_neighbours(*s_.model, limit); });
    for (std::size_t d = 0; d < parts.size(); ++d) {
      stable_.emplace_back();
      for (const TermId term : parts[d].terms) stable_.back().push_back(limit[ordinal(term)]);
      plan_.about.push_back(
          {name(static_cast<int>(d)), std::ssize(parts[d].terms), *std::ranges::min_element(stable_.back())});
    }
    constexpr double of_nodes = 0.9;  // as lattice = "auto" of avi: slow elements keep away from fast nodes
    const std::vector<double> nodal = explicit_nodal();
    for (std::size_t d = 0; d < parts.size(); ++d) {
      own_.emplace_back();
      for (std::size_t k = 0; k < parts[d].terms.size(); ++k) {
        own_.back().push_back(safety_ * stable_[d][k]);
        for (const NodeId a : stencil(ordinal(parts[d].terms[k])))
          own_.back().back() = std::min(own_.back().back(), of_nodes * nodal[ordinal(a)]);
      }
    }
    std::vector<int> domains_at(static_cast<std::size_t>(s_.model->node_count()), 0);
    for (const Submodel& part : parts)
      for (const NodeId a : part.nodes) ++domains_at[ordinal(a)];
    for (std::size_t d = 0; d < parts.size(); ++d) {
      at_interface_.push_back(std::numeric_limits<double>::infinity());
      for (std::size_t k = 0; k < parts[d].terms.size(); ++k)
        if (std::ranges::any_of(stencil(ordinal(parts[d].terms[k])),
                                [&](NodeId a) { return domains_at[ordinal(a)] > 1; }))
          at_interface_.back() = std::min(at_interface_.back(), own_[d][k]);
    }
  }

  std::string name(int d) const {
    const auto k = static_cast<std::size_t>(d);
    return k < s_.input.domains.size() && !s_.input.domains[k].name.empty() ? s_.input.domains[k].name
                                                                            : fmt::format("domain{}", d + 1);
  }

  bool is_explicit(std::size_t d) const {
    return s_.input.domains.empty() || s_.input.domains[d].alpha == 0.0 || s_.input.domains[d].alpha == 1.0;
  }
  bool is_avi(std::size_t d) const {
    const std::string asked = s_.input.domains.empty() ? "" : s_.input.domains[d].integrator;
    return asked == "avi" || (asked.empty() && is_explicit(d) && !s_.model->has_dampers());
  }
  Place place(std::size_t d) const { return d < s_.input.domains.size() ? s_.input.domains[d].place : in_.step_place; }

  void choose_steps() {
    const std::size_t count = plan_.about.size();
    std::vector<DomainRule> rules(count);
    std::vector<int> asked(count, 0);
    for (std::size_t d = 0; d < count && !s_.input.domains.empty(); ++d) {
      const DomainInput& in = s_.input.domains[d];
      rules[d].alpha = in.alpha;
      asked[d] = in.substeps.value_or(0);
      if (is_avi(d) && !rules[d].is_explicit())
        throw PlacedError(in.place, fmt::format("integrator = \"avi\" is explicit: alpha = {:.6g} does not go with it. "
                                                "Leave one of them out.",
                                                in.alpha));
      if (is_avi(d) && s_.model->has_dampers())
        throw PlacedError(in.place, "integrator = \"avi\" takes no dampers. Use \"midpoint\".");
    }
    double step = in_.step.value_or(0.0);
    if (!in_.step) {
      double least = 0.0, most = 0.0;  // of domains whose substeps are given; of the others
      for (std::size_t d = 0; d < count; ++d) {
        if (!rules[d].is_explicit()) continue;
        const double limit = safety_ * plan_.about[d].limit;
        if (asked[d] > 0)
          least = least == 0.0 ? asked[d] * limit : std::min(least, asked[d] * limit);
        else
          most = std::max(most, is_avi(d) ? *std::ranges::max_element(own_[d]) : limit);
      }
      step = least > 0.0 ? least : cheapest_step(rules, most);
      if (step == 0.0)
        throw PlacedError(in_.place, "no domain is explicit, so stability chooses no step. Give step (in s).");
      step *= part_;
      step = s_.input.end_time / std::ceil(s_.input.end_time / step * (1.0 - 1e-12));
    }
    plan_.step = step;
    plan_.step_of_terms.resize(of_term_.size());
    for (std::size_t d = 0; d < count; ++d) {
      DomainRule& rule = rules[d];
      rule.substeps = asked[d] > 0 ? asked[d] : needs(d, rule, step).first;
      const double h = step / rule.substeps;
      if (rule.is_explicit() && h > plan_.about[d].limit)
        throw PlacedError(place(d), fmt::format("{}: its step {:.6g} s, {} of a system step, exceeds the stable one of "
                                                "its elements, {:.6g} s. Give it {} substeps or more, or a smaller "
                                                "step.",
                                                plan_.about[d].name, h, rule.substeps, plan_.about[d].limit,
                                                static_cast<int>(std::ceil(step / plan_.about[d].limit))));
      if (is_avi(d)) rule.ticks = ticks_within(own_[d], h, rule.substeps);
      if (std::ranges::all_of(rule.ticks, [](std::int32_t m) { return m == 1; })) rule.ticks.clear();
      std::size_t next = 0;
      for (std::size_t k = 0; k < of_term_.size(); ++k)
        if (of_term_[k] == static_cast<int>(d))
          plan_.step_of_terms[k] = h * (rule.ticks.empty() ? 1 : rule.ticks[next++]);
    }
    plan_.domains.rules = std::move(rules);
  }

  // The most ticks that each term's own step holds: powers of two that divide the substeps.
  static std::vector<std::int32_t> ticks_within(std::span<const double> own, double tick, int substeps) {
    std::vector<std::int32_t> ticks;
    for (const double h : own) {
      std::int32_t m = 1;
      while (substeps % (2 * m) == 0 && 2 * m * tick <= h * (1.0 + 1e-12)) m *= 2;
      ticks.push_back(m);
    }
    return ticks;
  }

  // Substeps of a domain that stability asks for, and updates they are in one system step.
  std::pair<int, double> needs(std::size_t d, const DomainRule& rule, double step) const {
    const double limit = safety_ * plan_.about[d].limit;
    int substeps = rule.is_explicit() ? std::max(1, static_cast<int>(std::ceil(step / limit * (1.0 - 1e-12)))) : 1;
    if (!is_avi(d)) return {substeps, static_cast<double>(substeps) * static_cast<double>(plan_.about[d].terms)};
    substeps = static_cast<int>(std::exp2(std::ceil(std::log2(substeps))));
    double updates = 0.0;
    for (const std::int32_t m : ticks_within(own_[d], step / substeps, substeps)) updates += substeps / m;
    return {substeps, updates};
  }

  // Up to the largest that a domain takes in one, the step that updates least a second; those of substeps count twice
  // where elements at the interface act within it, for what trying them costs.
  double cheapest_step(const std::vector<DomainRule>& rules, double most) const {
    constexpr int most_substeps = 64;
    constexpr double bearable = 2.0;  // system steps, over those of elements at the interface: beyond, most resonate
    double beyond = std::numeric_limits<double>::infinity();
    for (std::size_t d = 0; d < rules.size(); ++d)
      if (rules[d].is_explicit()) beyond = std::min(beyond, bearable * at_interface_[d]);
    std::vector<double> candidates = {most, *std::ranges::min_element(at_interface_)};
    for (std::size_t c = 0; c < rules.size(); ++c)
      for (int k = 1; k <= most_substeps && rules[c].is_explicit(); k = is_avi(c) ? 2 * k : k + 1)
        candidates.push_back(k * safety_ * plan_.about[c].limit);
    double best = most, lowest = std::numeric_limits<double>::infinity();
    for (const double step : candidates) {
      if (step > std::min(most, beyond) * (1.0 + 1e-12)) continue;
      double cost = 0.0;
      for (std::size_t d = 0; d < rules.size(); ++d) {
        const auto [substeps, updates] = needs(d, rules[d], step);
        const bool tried = substeps > 1 && !(is_avi(d) && step <= at_interface_[d] * (1.0 + 1e-12));
        cost += (tried ? 2.0 : 1.0) * updates / step;
      }
      if (cost < lowest) lowest = cost, best = step;
    }
    return best;
  }

  void take_tie(const TieInput& in) {
    if (!in.pairs.empty()) {
      const std::map<Index, NodeId> nodes = particles_by_number(*s_.body.mesh);
      for (const auto& [follower, master] : in.pairs) {
        const auto a = nodes.find(follower), b = nodes.find(master);
        if (a == nodes.end() || b == nodes.end())
          throw PlacedError(in.place, fmt::format("there is no particle {}.", a == nodes.end() ? follower : master));
        plan_.domains.ties.push_back({a->second, {{b->second, 1.0}}});
      }
      return;
    }
    const Selection selection(*s_.body.mesh, s_.input.constants);
    const auto facets_of = [&](const std::string& group) {
      Selector selector;
      selector.name = group;
      return at_place(in.place, [&] { return selection.facets(selector, "[[tie]]", Selection::Interior::refuse); });
    };
    auto following = facets_of(in.groups[0]), followed = facets_of(in.groups[1]);
    const Mesh& mesh = *s_.body.mesh;
    const double edge = mean_edge(mesh, following), other = mean_edge(mesh, followed);
    if (edge > other) std::swap(following, followed);
    const double reach = in.reach.value_or(0.1 * std::min(edge, other));
    SurfaceTie tie = tie_surfaces(mesh, following, followed, reach);
    if (tie.nodes.empty())
      throw PlacedError(in.place, fmt::format("no node of either surface is within {:.6g} m of the other. Check the "
                                              "groups, or give reach (in m).",
                                              reach));
    plan_.largest_gap = std::max(plan_.largest_gap, tie.largest_gap);
    std::ranges::move(tie.nodes, std::back_inserter(plan_.domains.ties));
  }

  const Simulation& s_;
  double part_;
  const IntegratorInput& in_;
  double safety_;
  std::vector<int> of_term_;
  std::vector<double> given_;       // to terms with a step of their own: a wall tells none before it is touched [s]
  std::vector<TakenTerms> inside_;  // of the sections
  std::vector<std::vector<double>> stable_;  // of each domain, of its terms [s]
  std::vector<std::vector<double>> own_;     // the largest steps these take by themselves [s]
  std::vector<double> at_interface_;         // of each domain, the least of those next to others [s]
  DomainPlan plan_;
};

}  // namespace

DomainPlan plan_domains(const Simulation& simulation, std::span<const TermsOfOneStep> together, double part) {
  return Planner(simulation, together, part)();
}

std::unique_ptr<Integrator> make_multi_domain(const Model& model, const DomainPlan& plan) {
  return std::make_unique<MultiDomain>(model, plan.domains, plan.step, plan.framework);
}

}  // namespace tempi
