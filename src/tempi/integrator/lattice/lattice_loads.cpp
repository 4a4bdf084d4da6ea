// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_loads.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "tempi/core/distinct.hpp"
#include "tempi/core/fingerprint.hpp"

namespace tempi {
namespace {

using Vector = LatticeLoads::Vector;

constexpr std::size_t entries_at_once = 256;
constexpr std::size_t lines_at_once = 512;  // of a stretch, whose nodes one thread kicks
Index blocks_of(std::size_t entries) { return static_cast<Index>((entries + entries_at_once - 1) / entries_at_once); }

void book(Ledger& ledger, const Vector& force, const Vector& moment, double duration) {
  for (std::size_t c = 0; c < 3; ++c) {
    ledger.impulse[c] += duration * force[c];
    ledger.moment[c] += duration * moment[c];
  }
}

// Where an entry has its numbers, of which it has one for each component there are forces in: bit c of `which`.
template <unsigned which>
struct Components {
  static constexpr bool x = (which & 1U) != 0, y = (which & 2U) != 0, z = (which & 4U) != 0;
  static constexpr std::size_t at_y = x ? 1 : 0, at_z = at_y + (y ? 1 : 0), count = at_z + (z ? 1 : 0);
};

}  // namespace

// The loads of one group, gathered term by term.
class LatticeLoads::Builder {
 public:
  Builder(const Model& model, const LatticeGroups& plan) : model_(model), plan_(plan) {}

  Group operator()(const LatticeGroup& from) {
    group_ = {};
    raw_.clear();
    formulas_.clear();
    following_.clear();
    constant_.clear();
    timed_.clear();
    for (const LatticePart& part : from.parts)
      for (const TermId term : part.terms)
        for (const HostedForce& hosted : model_.forces_within(term)) add(hosted);
    finish(constant_, group_.constant);
    for (OfTime& loads : timed_) finish_timed(loads);
    finish_changing();
    for (auto& [force, elements] : following_) finish_following(*force, elements);
    return std::move(group_);
  }

 private:
  using ByLine = std::unordered_map<std::int32_t, Vector>;
  struct OfTime {
    const Force* force;
    std::array<const Expression*, 3> formula{};
    std::array<std::string, 3> what{};
    ByLine weights{};
  };
  struct Formula {
    const Expression* value;
    std::string what;
    std::vector<double> points;
    std::unordered_map<Vector, std::size_t, HashOfPoint> point_of;
  };

  void add(const HostedForce& hosted) {
    const Force& force = *hosted.force;
    if (force.is_damper()) return;
    if (!force.is_dead()) {
      auto found = std::ranges::find(following_, &force, &ElementsOf::first);
      if (found == following_.end()) found = following_.insert(found, {&force, {}});
      found->second.push_back(hosted.element);
      return;
    }
    const auto stencil = force.stencil(hosted.element);
    force.each_dead_part(hosted.element, [&](const DeadPart& part) {
      if (part.weight == 0.0) return;
      const std::int32_t line = plan_.line(stencil[part.node]);
      if (!part.value->depends_on_time()) {
        constant_[line][static_cast<std::size_t>(part.component)] += part.weight * value_without_time(part);
      } else if (!part.value->depends_on_position()) {
        weights_of(force, part)[line][static_cast<std::size_t>(part.component)] += part.weight;
      } else {
        const auto [formula, point] = place_of(part);
        raw_.push_back({line, formula, static_cast<std::size_t>(part.component), point, part.weight});
      }
    });
  }

  ByLine& weights_of(const Force& force, const DeadPart& part) {
    const auto c = static_cast<std::size_t>(part.component);
    auto found = std::ranges::find_if(timed_, [&](const OfTime& loads) {
      return loads.force == &force && (loads.formula[c] == nullptr || loads.formula[c] == part.value);
    });
    if (found == timed_.end()) found = timed_.insert(found, {&force});
    found->formula[c] = part.value;
    found->what[c] = part.what;
    return found->weights;
  }

  std::pair<std::size_t, std::size_t> place_of(const DeadPart& part) {
    auto found = std::ranges::find(formulas_, part.value, &Formula::value);
    if (found == formulas_.end()) {
      formulas_.push_back({part.value, part.what, {}, {}});
      found = formulas_.end() - 1;
    }
    const auto [point, is_new] = found->point_of.try_emplace(part.X, found->point_of.size());
    if (is_new) found->points.insert(found->points.end(), part.X.begin(), part.X.end());
    return {static_cast<std::size_t>(found - formulas_.begin()), point->second};
  }

  Vector reference(std::int32_t line) const {
    const auto d = static_cast<std::size_t>(model_.dim());
    Vector X{};
    std::copy_n(&model_.reference()[ordinal(plan_.node_of_line[static_cast<std::size_t>(line)]) * d], d, X.begin());
    return X;
  }
  void finish_moving(Moving& loads) const {
    for (const std::int32_t line : loads.lines) loads.X.push_back(reference(line));
    loads.force.resize(loads.lines.size() * loads.components.size());
    loads.last.resize(2 * loads.force.size());
  }

  void finish(const ByLine& weights, Dead& loads) const {
    std::vector<std::pair<std::int32_t, Vector>> sorted(weights.begin(), weights.end());
    std::ranges::sort(sorted, {}, &std::pair<std::int32_t, Vector>::first);
    std::erase_if(sorted, [](const auto& entry) { return entry.second == Vector{}; });
    for (std::size_t c = 0; c < 3; ++c)
      if (std::ranges::any_of(sorted, [c](const auto& entry) { return entry.second[c] != 0.0; }))
        loads.components.push_back(c);
    for (const auto& [line, weight] : sorted) {
      loads.lines.push_back(line);
      for (const std::size_t c : loads.components) loads.weights.push_back(weight[c]);
      const Vector X = reference(line);
      for (std::size_t c = 0; c < 3; ++c) {
        loads.sum[c] += weight[c];
        for (std::size_t i = 0; i < 3; ++i) loads.lever[c][i] += weight[c] * X[i];
      }
    }
  }

  void finish_timed(const OfTime& from) {
    Dead& loads = group_.timed.emplace_back();
    loads.force = from.force;
    loads.of = from.formula;
    for (std::size_t c = 0; c < 3; ++c)
      if (from.formula[c] != nullptr)
        loads.formulas.emplace_back(static_cast<int>(c),
                                    ExpressionAtPoints(*from.formula[c], std::vector<double>(3), from.what[c]));
    finish(from.weights, loads);
  }

  void finish_changing() {
    std::ranges::stable_sort(raw_, {}, [](const Part& p) { return std::tuple(p.line, p.point); });
    Changing& loads = group_.changing;
    std::vector<std::int32_t> entry;  // of each part
    for (const Part& part : raw_) {
      if (entry.empty() || loads.lines.back() != part.line) loads.lines.push_back(part.line);
      entry.push_back(static_cast<std::int32_t>(loads.lines.size() - 1));
    }
    for (std::size_t c = 0; c < 3; ++c)
      if (std::ranges::any_of(raw_, [&](const Part& part) { return part.component == c; }))
        loads.components.push_back(c);
    finish_moving(loads);
    for (std::size_t f = 0; f < formulas_.size(); ++f) {
      for (std::size_t c = 0; c < loads.components.size(); ++c) {
        Shares shares{f, c, {}, {}};
        for (std::size_t i = 0; i < raw_.size(); ++i) {
          const Part& part = raw_[i];
          if (part.formula != f || part.component != loads.components[c]) continue;
          const Share share{entry[i], static_cast<std::int32_t>(part.point), part.weight};
          if (!shares.each.empty() && shares.each.back().entry == share.entry &&
              shares.each.back().point == share.point)
            shares.each.back().weight += share.weight;
          else
            shares.each.push_back(share);
        }
        if (shares.each.empty()) continue;
        for (Index b = 0; b <= blocks_of(loads.lines.size()); ++b)
          shares.first.push_back(static_cast<std::size_t>(
              std::ranges::lower_bound(shares.each, b * static_cast<Index>(entries_at_once), {}, &Share::entry) -
              shares.each.begin()));
        loads.shares.push_back(std::move(shares));
      }
      loads.of.push_back(formulas_[f].value);
      loads.formulas.emplace_back(*formulas_[f].value, in_order_of_use(formulas_[f].points, f, loads.shares),
                                  formulas_[f].what);
    }
  }

  // Points renumbered so that values lie as the shares ask for them.
  static std::vector<double> in_order_of_use(const std::vector<double>& points, std::size_t formula,
                                             std::vector<Shares>& all) {
    std::vector<std::int32_t> place(points.size() / 3, -1);
    std::vector<double> placed;
    for (Shares& shares : all)
      for (Share& share : shares.each) {
        if (shares.formula != formula) break;
        const auto old = static_cast<std::size_t>(share.point);
        if (place[old] < 0) {
          place[old] = static_cast<std::int32_t>(placed.size() / 3);
          placed.insert(placed.end(), &points[3 * old], &points[3 * old] + 3);
        }
        share.point = place[old];
      }
    return placed;
  }

  // In the order of their nodes, so that threads find theirs in their own caches.
  void finish_following(const Force& force, std::vector<Index>& elements) {
    const auto first_line = [&](Index k) {
      std::int32_t first = std::numeric_limits<std::int32_t>::max();
      for (const NodeId a : force.stencil(k)) first = std::min(first, plan_.line(a));
      return first;
    };
    std::ranges::stable_sort(elements, {}, first_line);
    Following loads;
    loads.of = &force;
    loads.batch = force.batch(model_.dim(), elements, plan_.line_of_node);
    loads.elements = elements;
    loads.rows.resize(static_cast<std::size_t>(loads.batch->row()) * elements.size());
    for (const Index k : elements)
      for (const NodeId a : force.stencil(k)) loads.lines.push_back(plan_.line(a));
    make_distinct(loads.lines);
    for (std::size_t c = 0; c < static_cast<std::size_t>(model_.dim()); ++c) loads.components.push_back(c);
    finish_moving(loads);
    const auto entry = [&](NodeId a) {
      return static_cast<std::int32_t>(std::ranges::lower_bound(loads.lines, plan_.line(a)) - loads.lines.begin());
    };
    std::vector<std::pair<std::int32_t, std::int32_t>> given;  // an entry, and where it is given something
    for (std::size_t i = 0; i < elements.size(); ++i) {
      auto place = static_cast<std::int32_t>(i * static_cast<std::size_t>(loads.batch->row()));
      for (const NodeId a : force.stencil(elements[i])) {
        given.emplace_back(entry(a), place);
        place += static_cast<std::int32_t>(model_.dim());
      }
    }
    std::ranges::sort(given);
    for (const auto& [to, place] : given) {
      while (std::ssize(loads.first_given) <= to)
        loads.first_given.push_back(static_cast<std::int32_t>(loads.given.size()));
      loads.given.push_back(place);
    }
    loads.first_given.push_back(static_cast<std::int32_t>(loads.given.size()));
    group_.following.push_back(std::move(loads));
  }

  const Model& model_;
  const LatticeGroups& plan_;
  Group group_;
  ByLine constant_;
  std::vector<OfTime> timed_;
  struct Part {
    std::int32_t line;
    std::size_t formula, component, point;
    double weight;
  };
  std::vector<Part> raw_;
  std::vector<Formula> formulas_;
  using ElementsOf = std::pair<const Force*, std::vector<Index>>;
  std::vector<ElementsOf> following_;
};

LatticeLoads::LatticeLoads(const Model& model, const LatticeGroups& plan, ThreadTeam& team)
    : team_(team), dim_(static_cast<std::size_t>(model.dim())), groups_(plan.groups.size()) {
  if (!model.has_forces()) return;
  is_listed_.resize((plan.node_of_line.size() + lines_at_once - 1) / lines_at_once);
  Builder builder(model, plan);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    groups_[g] = builder(plan.groups[g]);
    const auto divide = [&](Forces& loads) {
      any_ = any_ || !loads.lines.empty();
      for (std::size_t stretch = 0; stretch <= is_listed_.size(); ++stretch) {
        const auto first = std::ranges::lower_bound(loads.lines, static_cast<std::int32_t>(stretch * lines_at_once));
        loads.first.push_back(static_cast<std::int32_t>(first - loads.lines.begin()));
        if (stretch > 0 && loads.first[stretch] > loads.first[stretch - 1])
          groups_[g].stretches.push_back(static_cast<std::int32_t>(stretch - 1));
      }
    };
    each_dead(groups_[g], divide);
    each_moving(groups_[g], divide);
    make_distinct(groups_[g].stretches);
  }
}

double LatticeLoads::value_without_time(const DeadPart& part) {
  return part.value->constant() ? *part.value->constant() : finite_value(*part.value, part.X, 0.0, part.what);
}

void LatticeLoads::each_way(auto& group, auto&& visit) {
  for (auto& loads : group.timed) {
    visit(std::span(loads.last_value));
    visit(std::span(loads.last_way));
  }
  each_moving(group, [&](auto& loads) { visit(std::span(loads.last)); });
}

bool LatticeLoads::are_constant() const {
  return std::ranges::all_of(groups_, [](const Group& group) {
    return group.timed.empty() && group.changing.lines.empty() && group.following.empty();
  });
}

void LatticeLoads::add(Sums& to, const Sums& sums) {
  for (std::size_t c = 0; c < 3; ++c) {
    to.force[c] += sums.force[c];
    to.moment[c] += sums.moment[c];
    to.way[c] += sums.way[c];
  }
  to.work += sums.work;
}

// What is done node by node: kicks, where nodes may be kicked, and sums that depend on places. In plain numbers:
// compilers make something slow of arrays.
template <unsigned which, LatticeLoads::Ways ways, class Line>
LatticeLoads::Sums LatticeLoads::node_sums_of(const Dead& loads, std::size_t stretch, Line* nodes, double step) {
  using Of = Components<which>;
  constexpr bool x = Of::x, y = Of::y, z = Of::z;
  constexpr bool kicks = !std::is_const_v<Line>, sums_ways = ways == Ways::summed;
  const double v0 = loads.value[0], v1 = loads.value[1], v2 = loads.value[2];
  const std::int32_t* lines = loads.lines.data();
  const double* weights = loads.weights.data();
  Sums of_stretch;
  loads.each_entry(stretch, [=, &of_stretch](std::size_t i) {
    Line& node = nodes[lines[i]];
    const double *w = weights + i * Of::count, *u = node.displacement;
    const double u0 = u[0], u1 = u[1], u2 = u[2], factor = kicks ? step * node.inverse_mass : 0.0;
    const double f0 = x ? v0 * w[0] : 0.0, f1 = y ? v1 * w[Of::at_y] : 0.0, f2 = z ? v2 * w[Of::at_z] : 0.0;
    if constexpr (x && kicks) node.velocity[0] += factor * f0;
    if constexpr (y && kicks) node.velocity[1] += factor * f1;
    if constexpr (z && kicks) node.velocity[2] += factor * f2;
    if constexpr (x && sums_ways) of_stretch.way[0] += w[0] * u0;
    if constexpr (y && sums_ways) of_stretch.way[1] += w[Of::at_y] * u1;
    if constexpr (z && sums_ways) of_stretch.way[2] += w[Of::at_z] * u2;
    if constexpr (y || z) of_stretch.moment[0] += (z ? u1 * f2 : 0.0) - (y ? u2 * f1 : 0.0);
    if constexpr (z || x) of_stretch.moment[1] += (x ? u2 * f0 : 0.0) - (z ? u0 * f2 : 0.0);
    if constexpr (x || y) of_stretch.moment[2] += (y ? u0 * f1 : 0.0) - (x ? u1 * f0 : 0.0);
  });
  return of_stretch;
}

template <LatticeLoads::Ways ways, class Line>
LatticeLoads::Sums LatticeLoads::sums_of(const Dead& loads, std::size_t stretch, Line* nodes, double step) {
  Sums sums;
  with_components(loads, [&]<unsigned which>() { sums = node_sums_of<which, ways>(loads, stretch, nodes, step); });
  return sums;
}

void LatticeLoads::add_what_needs_no_nodes(const Dead& loads, Sums& sums) {
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t j = (c + 1) % 3, k = (c + 2) % 3;
    sums.force[c] = loads.value[c] * loads.sum[c];
    sums.moment[c] += loads.value[k] * loads.lever[k][j] - loads.value[j] * loads.lever[j][k];
    sums.work += 0.5 * (loads.last_value[c] + loads.value[c]) * (sums.way[c] - loads.last_way[c]);
  }
}

// Sums of each(stretch), which threads share.
template <class Each>
LatticeLoads::Sums LatticeLoads::in_stretches(const Forces& loads, Each&& each) const {
  if (loads.lines.empty()) return {};
  std::vector<Sums> of_stretch(loads.first.size() - 1);
  team_.for_each(std::ssize(of_stretch), [&](Index s) {
    const auto stretch = static_cast<std::size_t>(s);
    if (loads.first[stretch] < loads.first[stretch + 1]) of_stretch[stretch] = each(stretch);
  });
  Sums all;
  for (const Sums& sums : of_stretch) add(all, sums);
  return all;
}

// Of nodes that are not kicked.
LatticeLoads::Sums LatticeLoads::sums_of(const Dead& loads, std::span<const NodeLine> nodes) const {
  Sums all = in_stretches(loads, [&](std::size_t stretch) {
    return sums_of<Ways::summed>(loads, stretch, nodes.data(), 0.0);
  });
  add_what_needs_no_nodes(loads, all);
  return all;
}

void LatticeLoads::start(std::span<const NodeLine> nodes) {
  start_ = 0.0;
  start_ = work_of_constant(nodes);
  for (Group& group : groups_) {
    for (Dead& loads : group.timed) loads.last_way = sums_of(loads, nodes).way;
    each_moving(group, [&](Moving& loads) {
      const std::size_t n = loads.components.size();
      for (std::size_t i = 0; i < loads.lines.size(); ++i)
        for (std::size_t k = 0; k < n; ++k)
          loads.last[(2 * i + 1) * n + k] =
              nodes[static_cast<std::size_t>(loads.lines[i])].displacement[loads.components[k]];
    });
  }
}

std::vector<double> LatticeLoads::ways() const {
  std::vector<double> all;
  for (const Group& group : groups_)
    each_way(group, [&](std::span<const double> own) { all.insert(all.end(), own.begin(), own.end()); });
  return all;
}

void LatticeLoads::set_ways(std::span<const double> ways) {
  for (Group& group : groups_)
    each_way(group, [&](std::span<double> own) {
      std::ranges::copy(ways.first(own.size()), own.begin());
      ways = ways.subspan(own.size());
    });
}

double LatticeLoads::work_of_constant(std::span<const NodeLine> nodes) const {
  double sum = 0.0;
  for (const Group& group : groups_)
    for (const double work : sums_of(group.constant, nodes).way) sum += work;
  return sum - start_;
}

// lists(visit) calls visit(count, act) of some lists, each with act(i) for i = 0 ... count - 1, on all threads: each
// thread has the same part of every list.
template <class Lists>
void LatticeLoads::share_out(Lists&& lists) {
  Index total = 0;
  lists([&](Index count, auto&&) { total += count; });
  team_.for_each(total, [&](Index slice) {
    lists([&](Index count, auto&& act) {
      for (Index i = count * slice / total; i < count * (slice + 1) / total; ++i) act(i);
    });
  });
}

void LatticeLoads::evaluate(Groups groups, double t, std::span<const NodeLine> nodes) {
  for (const std::size_t g : groups) {
    for (Dead& loads : groups_[g].timed)
      for (auto& [component, formula] : loads.formulas) {
        for (Index block = 0; block < formula.blocks(); ++block) formula.evaluate(block, t);
        loads.value[static_cast<std::size_t>(component)] = formula[0];
      }
    for (Following& loads : groups_[g].following) loads.batch->prepare(t);
  }
  share_out([&](auto&& visit) {
    for (const std::size_t g : groups) {
      for (ExpressionAtPoints& formula : groups_[g].changing.formulas)
        visit(formula.blocks(), [&](Index block) { formula.evaluate(block, t); });
      for (Following& loads : groups_[g].following) visit(loads.blocks(), [&](Index b) { loads.look(b, nodes); });
    }
  });
  share_out([&](auto&& visit) {
    for (const std::size_t g : groups) {
      Changing& changing = groups_[g].changing;
      visit(blocks_of(changing.lines.size()), [&](Index b) { changing.sum_up(static_cast<std::size_t>(b)); });
      for (Following& loads : groups_[g].following)
        visit(blocks_of(loads.lines.size()), [&](Index b) { loads.sum_up(static_cast<std::size_t>(b), dim_); });
    }
  });
}

void LatticeLoads::Changing::sum_up(std::size_t b) {
  const std::size_t n = components.size(), begin = b * entries_at_once;
  std::ranges::fill(std::span(force).subspan(begin * n, std::min(entries_at_once, lines.size() - begin) * n), 0.0);
  for (const Shares& some : shares) {
    const ExpressionAtPoints& value = formulas[some.formula];
    for (std::size_t i = some.first[b]; i < some.first[b + 1]; ++i) {
      const Share& share = some.each[i];
      force[static_cast<std::size_t>(share.entry) * n + some.component] +=
          share.weight * value[static_cast<std::size_t>(share.point)];
    }
  }
}

void LatticeLoads::Following::look(Index b, std::span<const NodeLine> nodes) {
  const Index begin = b * elements_at_once, end = std::min(begin + elements_at_once, std::ssize(elements));
  batch->evaluate(begin, end, nodes, std::span(rows).subspan(static_cast<std::size_t>(begin * batch->row())));
}

void LatticeLoads::Following::sum_up(std::size_t b, std::size_t dim) {
  const auto sum = [&]<std::size_t d>() {
    for (std::size_t i = b * entries_at_once; i < std::min((b + 1) * entries_at_once, lines.size()); ++i) {
      std::array<double, d> total{};
      for (auto place = first_given[i]; place < first_given[i + 1]; ++place)
        for (std::size_t c = 0; c < d; ++c)
          total[c] += rows[static_cast<std::size_t>(given[static_cast<std::size_t>(place)]) + c];
      std::ranges::copy(total, &force[i * d]);
    }
  };
  dim == 1 ? sum.operator()<1>() : dim == 2 ? sum.operator()<2>() : sum.operator()<3>();
}

// each.operator()<which>(), bit c of `which`: whether there are forces in component c. Compilers make something slow of
// components that are known no sooner than loads are.
template <class Each>
void LatticeLoads::with_components(const Forces& loads, Each&& each) {
  unsigned which = 0;
  for (const std::size_t c : loads.components) which |= 1U << c;
  [&]<unsigned... w>(std::integer_sequence<unsigned, w...>) {
    ((which == w + 1 ? each.template operator()<w + 1>() : void()), ...);
  }
  (std::make_integer_sequence<unsigned, 7>{});
}

// What force i does at its node, and has done on the way there.
template <unsigned which>
inline LatticeLoads::Vector LatticeLoads::add_to_sums(const Moving& loads, std::size_t i, const NodeLine& node,
                                                      Sums& sums) {
  using Of = Components<which>;
  constexpr std::size_t n = Of::count, at_y = Of::at_y, at_z = Of::at_z;
  const double *force = &loads.force[i * n], *last = &loads.last[2 * i * n], *X = loads.X[i].data();
  const double u0 = node.displacement[0], u1 = node.displacement[1], u2 = node.displacement[2];
  const double x0 = X[0] + u0, x1 = X[1] + u1, x2 = X[2] + u2;
  double f0 = 0.0, f1 = 0.0, f2 = 0.0;
  if constexpr (Of::x) sums.work += 0.5 * (last[0] + (f0 = force[0])) * (u0 - last[n]);
  if constexpr (Of::y) sums.work += 0.5 * (last[at_y] + (f1 = force[at_y])) * (u1 - last[n + at_y]);
  if constexpr (Of::z) sums.work += 0.5 * (last[at_z] + (f2 = force[at_z])) * (u2 - last[n + at_z]);
  sums.force[0] += f0;
  sums.force[1] += f1;
  sums.force[2] += f2;
  sums.moment[0] += x1 * f2 - x2 * f1;
  sums.moment[1] += x2 * f0 - x0 * f2;
  sums.moment[2] += x0 * f1 - x1 * f0;
  return {f0, f1, f2};
}

LatticeLoads::Sums LatticeLoads::kick(Moving& loads, std::size_t stretch, double step, std::span<NodeLine> nodes,
                                      Work work) {
  Sums sums;
  with_components(loads, [&]<unsigned which>() {
    using Of = Components<which>;
    Sums of_stretch;
    loads.each_entry(stretch, [&](std::size_t i) {
      NodeLine& node = nodes[static_cast<std::size_t>(loads.lines[i])];
      const auto [f0, f1, f2] = add_to_sums<which>(loads, i, node, of_stretch);
      const double factor = step * node.inverse_mass;
      node.velocity[0] += factor * f0;
      node.velocity[1] += factor * f1;
      node.velocity[2] += factor * f2;
      if (work == Work::left) return;
      double *force = &loads.last[2 * i * Of::count], *displacement = force + Of::count;
      const auto note = [&](double f, double u) {
        *force++ = f;
        *displacement++ = u;
      };
      if constexpr (Of::x) note(f0, node.displacement[0]);
      if constexpr (Of::y) note(f1, node.displacement[1]);
      if constexpr (Of::z) note(f2, node.displacement[2]);
    });
    sums = of_stretch;
  });
  return sums;
}

// A thread has stretches of lines, and kicks their nodes by one load after the other.
void LatticeLoads::kick(Groups groups, std::span<const double> steps, std::span<NodeLine> nodes, Ledger& ledger,
                        Work work) {
  const double sign = work == Work::booked ? 1.0 : -1.0;
  kicks_.clear();
  stretches_.clear();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Group& group = groups_[groups[i]];
    const auto list = [&](Dead* dead, Moving* moving, const Forces& loads) {
      if (!loads.lines.empty()) kicks_.push_back({dead, moving, sign * steps[i]});
    };
    each_dead(group, [&](Dead& loads) { list(&loads, nullptr, loads); });
    each_moving(group, [&](Moving& loads) { list(nullptr, &loads, loads); });
    for (const std::int32_t stretch : group.stretches)
      if (!std::exchange(is_listed_[static_cast<std::size_t>(stretch)], 1)) stretches_.push_back(stretch);
  }
  sums_.resize(kicks_.size() * stretches_.size());
  team_.for_each(std::ssize(stretches_), [&](Index s) {
    const auto stretch = static_cast<std::size_t>(stretches_[static_cast<std::size_t>(s)]);
    is_listed_[stretch] = 0;
    Sums* sums = &sums_[static_cast<std::size_t>(s)];
    for (const auto& [dead, moving, step] : kicks_) {
      *sums = moving != nullptr        ? kick(*moving, stretch, step, nodes, work)
              : dead->formulas.empty() ? sums_of<Ways::left>(*dead, stretch, nodes.data(), step)
                                       : sums_of<Ways::summed>(*dead, stretch, nodes.data(), step);
      sums += stretches_.size();
    }
  });
  const Sums* of_stretch = sums_.data();
  for (const auto& [dead, moving, step] : kicks_) {
    Sums sums;
    for (std::size_t s = 0; s < stretches_.size(); ++s) add(sums, *of_stretch++);
    if (dead != nullptr) add_what_needs_no_nodes(*dead, sums);
    book(ledger, sums.force, sums.moment, step);
    if (work == Work::left || (dead != nullptr && dead->formulas.empty())) continue;
    ledger.work += sums.work;
    if (dead == nullptr) continue;
    dead->last_value = dead->value;
    dead->last_way = sums.way;
  }
}

void LatticeLoads::strike(Groups groups, std::span<const double> steps, std::span<NodeLine> nodes, Ledger& ledger) {
  kick(groups, steps, nodes, ledger, Work::booked);
}

void LatticeLoads::take_back(Groups groups, std::span<const double> steps, std::span<NodeLine> nodes, Ledger& ledger) {
  kick(groups, steps, nodes, ledger, Work::left);
}

void LatticeLoads::report(std::size_t g, double duration, std::span<const NodeLine> nodes,
                          LatticeStrikes::NodalSums& sums, Ledger& ledger) const {
  const auto add_forces = [&](const auto& loads, std::size_t stretch) {
    loads.each_entry(stretch, [&](std::size_t i) {
      const auto line = static_cast<std::size_t>(loads.lines[i]);
      const Vector f = force_of(loads, i);
      for (std::size_t c = 0; c < 3; ++c) {
        sums.lines[line].force[c] += f[c];
        sums.lines[line].impulse[c] += duration * f[c];
        if (!sums.ahead.empty()) sums.ahead[line][c] += std::abs(duration) * f[c];
      }
    });
  };
  each_dead(groups_[g], [&](const Dead& loads) {
    Sums all = in_stretches(loads, [&](std::size_t stretch) {
      add_forces(loads, stretch);
      return sums_of<Ways::summed>(loads, stretch, nodes.data(), 0.0);
    });
    add_what_needs_no_nodes(loads, all);
    book(ledger, all.force, all.moment, duration);
    if (!loads.formulas.empty()) ledger.work += all.work;
  });
  each_moving(groups_[g], [&](const Moving& loads) {
    const Sums all = in_stretches(loads, [&](std::size_t stretch) {
      add_forces(loads, stretch);
      Sums of_stretch;
      with_components(loads, [&]<unsigned which>() {
        loads.each_entry(stretch, [&](std::size_t i) {
          add_to_sums<which>(loads, i, nodes[static_cast<std::size_t>(loads.lines[i])], of_stretch);
        });
      });
      return of_stretch;
    });
    book(ledger, all.force, all.moment, duration);
    ledger.work += all.work;
  });
}

LatticeLoads::Values::Values(const LatticeLoads& loads, std::size_t group) : group_(loads.groups_[group]) {
  for (const ExpressionAtPoints& formula : group_.changing.formulas) {
    Places& places = place_of_.emplace_back();
    const auto points = formula.points();
    for (std::size_t i = 0; i < points.size(); i += 3) places[{points[i], points[i + 1], points[i + 2]}] = i / 3;
  }
  for (const Following& following : group_.following) {
    auto& places = element_of_.emplace_back();
    for (std::size_t i = 0; i < following.elements.size(); ++i) places[following.elements[i]] = i;
  }
}

const double* LatticeLoads::Values::of(const Force& force, const DeadPart& part) const {
  const auto c = static_cast<std::size_t>(part.component);
  if (!part.value->depends_on_position())
    return &std::ranges::find_if(group_.timed, [&](const Dead& loads) {
              return loads.force == &force && loads.of[c] == part.value;
            })->value[c];
  const Changing& changing = group_.changing;
  const auto f = static_cast<std::size_t>(std::ranges::find(changing.of, part.value) - changing.of.begin());
  return &changing.formulas[f][place_of_[f].at(part.X)];
}

const double* LatticeLoads::Values::of(const Force& force, Index element) const {
  const auto f = std::ranges::find(group_.following, &force, &Following::of);
  const std::size_t place = element_of_[static_cast<std::size_t>(f - group_.following.begin())].at(element);
  return &f->rows[place * static_cast<std::size_t>(f->batch->row())];
}

void LatticeLoads::save(ArchiveWriter& archive) const {
  archive.put("load_start", start_);
  archive.put("loads", ways());
}

void LatticeLoads::load(ArchiveReader& archive) {
  archive.get("load_start", start_);
  std::vector<double> all = ways();
  archive.get("loads", all);
  set_ways(all);
}

}  // namespace tempi
