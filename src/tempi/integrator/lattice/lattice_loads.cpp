// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_loads.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <unordered_map>

#include "tempi/core/distinct.hpp"
#include "tempi/core/fingerprint.hpp"

namespace tempi {
namespace {

using Vector = LatticeLoads::Vector;

constexpr std::size_t entries_at_once = 1024;

// sum += x cross f
void add_cross(Vector& sum, const double* x, const double* f) {
  sum[0] += x[1] * f[2] - x[2] * f[1];
  sum[1] += x[2] * f[0] - x[0] * f[2];
  sum[2] += x[0] * f[1] - x[1] * f[0];
}

void book(Ledger& ledger, const Vector& force, const Vector& moment, double duration) {
  for (std::size_t c = 0; c < 3; ++c) {
    ledger.impulse[c] += duration * force[c];
    ledger.moment[c] += duration * moment[c];
  }
}

struct HashOfPoint {
  std::size_t operator()(const Vector& X) const { return fingerprint(std::as_bytes(std::span(X)), 0); }
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
    for (const LatticePart& part : from.parts)
      for (const TermId term : part.terms)
        for (const HostedForce& hosted : model_.forces_within(term)) add(hosted);
    finish_constant();
    finish_changing();
    for (const auto& [force, elements] : following_) finish_following(*force, elements);
    return std::move(group_);
  }

 private:
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
        const double value =
            part.value->constant() ? *part.value->constant() : finite_value(*part.value, part.X, 0.0, part.what);
        Vector& f = constant_.try_emplace(line).first->second;
        f[static_cast<std::size_t>(part.component)] += part.weight * value;
      } else {
        const auto [formula, point] = place_of(part);
        raw_.push_back({static_cast<std::size_t>(line), formula, point, part.component, part.weight});
      }
    });
  }

  std::pair<std::size_t, std::size_t> place_of(const DeadPart& part) {
    auto found = std::ranges::find(formulas_, part.value, &Formula::value);
    if (found == formulas_.end()) {
      formulas_.push_back({part.value, part.what, {}, {}});
      found = formulas_.end() - 1;
    }
    const Vector X = part.value->depends_on_position() ? part.X : Vector{};
    const auto [point, is_new] = found->point_of.try_emplace(X, found->point_of.size());
    if (is_new) found->points.insert(found->points.end(), X.begin(), X.end());
    return {static_cast<std::size_t>(found - formulas_.begin()), point->second};
  }

  Vector reference(std::int32_t line) const {
    const auto d = static_cast<std::size_t>(model_.dim());
    Vector X{};
    std::copy_n(&model_.reference()[ordinal(plan_.node_of_line[static_cast<std::size_t>(line)]) * d], d, X.begin());
    return X;
  }
  static std::size_t add_entry(Forces& loads, std::int32_t line) {
    loads.lines.push_back(line);
    loads.force.push_back({});
    return loads.lines.size() - 1;
  }
  std::size_t add_moving(Moving& loads, std::int32_t line) const {
    loads.X.push_back(reference(line));
    loads.last.push_back({});
    return add_entry(loads, line);
  }

  void finish_constant() {
    Constant& loads = group_.constant;
    std::vector<std::pair<std::int32_t, Vector>> sorted(constant_.begin(), constant_.end());
    std::ranges::sort(sorted, {}, &std::pair<std::int32_t, Vector>::first);
    for (const auto& [line, force] : sorted) {
      if (force == Vector{}) continue;
      std::ranges::copy(force, loads.force[add_entry(loads, line)].f);
      for (std::size_t c = 0; c < 3; ++c) loads.sum[c] += force[c];
      add_cross(loads.moment, reference(line).data(), force.data());
    }
  }

  void finish_changing() {
    const auto key = [](const Part& p) { return std::tuple(p.entry, p.formula, p.point, p.component); };
    std::ranges::stable_sort(raw_, {}, key);
    Changing& loads = group_.changing;
    std::int32_t line = -1;
    for (const Part& part : raw_) {
      const auto own = static_cast<std::int32_t>(part.entry);
      if (own != line) add_moving(loads, line = own);
      const Part placed{loads.lines.size() - 1, part.formula, part.point, part.component, part.weight};
      if (!loads.parts.empty() && key(loads.parts.back()) == key(placed))
        loads.parts.back().weight += placed.weight;
      else
        loads.parts.push_back(placed);
    }
    for (Formula& formula : formulas_)
      loads.formulas.emplace_back(*formula.value, std::move(formula.points), formula.what);
  }

  void finish_following(const Force& force, const std::vector<Index>& elements) {
    Following loads;
    loads.batch = force.batch(model_.dim(), elements, plan_.line_of_node);
    loads.elements = std::ssize(elements);
    loads.rows.resize(static_cast<std::size_t>(loads.batch->row()) * elements.size());
    std::vector<std::int32_t> lines;
    for (const Index k : elements)
      for (const NodeId a : force.stencil(k)) lines.push_back(plan_.line(a));
    make_distinct(lines);
    for (const std::int32_t line : lines) add_moving(loads, line);
    const auto entry = [&](NodeId a) {
      return static_cast<std::int32_t>(std::ranges::lower_bound(lines, plan_.line(a)) - lines.begin());
    };
    const auto most = static_cast<std::size_t>(loads.batch->row() / model_.dim());
    for (const Index k : elements) {
      const auto stencil = force.stencil(k);
      for (std::size_t a = 0; a < most; ++a)  // rows are as long as the longest
        loads.entry.push_back(a < stencil.size() ? entry(stencil[a]) : -1);
    }
    group_.following.push_back(std::move(loads));
  }

  const Model& model_;
  const LatticeGroups& plan_;
  Group group_;
  std::unordered_map<std::int32_t, Vector> constant_;  // by line
  std::vector<Part> raw_;                              // `entry` is the line
  std::vector<Formula> formulas_;
  using ElementsOf = std::pair<const Force*, std::vector<Index>>;
  std::vector<ElementsOf> following_;
};

LatticeLoads::LatticeLoads(const Model& model, const LatticeGroups& plan, ThreadTeam& team)
    : team_(team), dim_(static_cast<std::size_t>(model.dim())), groups_(plan.groups.size()) {
  if (!model.has_forces()) return;
  Builder builder(model, plan);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    groups_[g] = builder(plan.groups[g]);
    any_ = any_ || !groups_[g].constant.lines.empty();
    each_moving(groups_[g], [&](const Moving& loads) { any_ = any_ || !loads.lines.empty(); });
  }
}

template <class Visit>
void LatticeLoads::each_moving(auto& group, Visit&& visit) {
  visit(group.changing);
  for (auto& loads : group.following) visit(loads);
}

bool LatticeLoads::are_constant() const {
  return std::ranges::all_of(groups_, [](const Group& group) {
    return group.changing.lines.empty() && group.following.empty();
  });
}

void LatticeLoads::start(std::span<const NodeLine> nodes) {
  start_ = 0.0;
  start_ = work_of_constant(nodes);
  for (Group& group : groups_)
    each_moving(group, [&](Moving& loads) {
      for (std::size_t i = 0; i < loads.lines.size(); ++i)
        std::copy_n(nodes[static_cast<std::size_t>(loads.lines[i])].displacement, 3,
                    loads.last[i].displacement.begin());
    });
}

std::vector<LatticeLoads::Way> LatticeLoads::ways() const {
  std::vector<Way> all;
  for (const Group& group : groups_)
    each_moving(group, [&](const Moving& loads) { all.insert(all.end(), loads.last.begin(), loads.last.end()); });
  return all;
}

void LatticeLoads::set_ways(std::span<const Way> ways) {
  for (Group& group : groups_)
    each_moving(group, [&](Moving& loads) {
      std::ranges::copy(ways.first(loads.last.size()), loads.last.begin());
      ways = ways.subspan(loads.last.size());
    });
}

double LatticeLoads::work_of_constant(std::span<const NodeLine> nodes) const {
  double sum = 0.0;
  for (const Group& group : groups_)
    sum += in_blocks(group.constant, [&](std::size_t i, Sums& sums) {
             const double* f = group.constant.force[i].f;
             const double* u = nodes[static_cast<std::size_t>(group.constant.lines[i])].displacement;
             sums.work += f[0] * u[0] + f[1] * u[1] + f[2] * u[2];
           }).work;
  return sum - start_;
}

void LatticeLoads::evaluate(std::size_t g, double t, std::span<const NodeLine> nodes) {
  Changing& changing = groups_[g].changing;
  if (!changing.lines.empty()) {
    for (ExpressionAtPoints& formula : changing.formulas)
      team_.for_each(formula.blocks(), [&](Index block) { formula.evaluate(block, t); });
    std::ranges::fill(changing.force, Force4{});
    for (const Part& part : changing.parts)
      changing.force[part.entry].f[static_cast<std::size_t>(part.component)] +=
          part.weight * changing.formulas[part.formula][part.point];
  }
  for (Following& loads : groups_[g].following) {
    loads.batch->prepare(t);
    constexpr Index at_once = 256;
    const Index row = loads.batch->row();
    team_.for_each((loads.elements + at_once - 1) / at_once, [&](Index b) {
      const Index first = b * at_once, last = std::min(first + at_once, loads.elements);
      loads.batch->evaluate(first, last, nodes, std::span(loads.rows).subspan(static_cast<std::size_t>(first * row)));
    });
    std::ranges::fill(loads.force, Force4{});
    const double* f = loads.rows.data();
    for (const std::int32_t entry : loads.entry) {
      for (std::size_t c = 0; entry >= 0 && c < dim_; ++c) loads.force[static_cast<std::size_t>(entry)].f[c] += f[c];
      f += dim_;
    }
  }
}

// each(i, sums) of all entries, which threads share.
template <class Each>
LatticeLoads::Sums LatticeLoads::in_blocks(const Forces& loads, Each&& each) const {
  const std::size_t count = loads.lines.size();
  const auto blocks = static_cast<Index>((count + entries_at_once - 1) / entries_at_once);
  of_block_.resize(static_cast<std::size_t>(blocks));
  team_.for_each(blocks, [&](Index b) {
    Sums sums;
    const std::size_t first = static_cast<std::size_t>(b) * entries_at_once;
    for (std::size_t i = first; i < std::min(first + entries_at_once, count); ++i) each(i, sums);
    of_block_[static_cast<std::size_t>(b)] = sums;
  });
  Sums total;
  for (const Sums& sums : of_block_) {
    for (std::size_t c = 0; c < 3; ++c) {
      total.force[c] += sums.force[c];
      total.moment[c] += sums.moment[c];
    }
    total.work += sums.work;
  }
  return total;
}

// The moment about the origin of forces at the reference positions is known.
void LatticeLoads::kick(const Constant& loads, double step, std::span<NodeLine> nodes, Ledger& ledger) const {
  if (loads.lines.empty()) return;
  Sums sums = in_blocks(loads, [&](std::size_t i, Sums& of_block) {
    NodeLine& node = nodes[static_cast<std::size_t>(loads.lines[i])];
    const double* f = loads.force[i].f;
    const double factor = step * node.inverse_mass;
    for (std::size_t c = 0; c < 3; ++c) node.velocity[c] += factor * f[c];
    add_cross(of_block.moment, node.displacement, f);
  });
  for (std::size_t c = 0; c < 3; ++c) sums.moment[c] += loads.moment[c];
  book(ledger, loads.sum, sums.moment, step);
}

void LatticeLoads::kick(Moving& loads, double step, std::span<NodeLine> nodes, Ledger& ledger, Work work) const {
  if (loads.lines.empty()) return;
  const Sums sums = in_blocks(loads, [&](std::size_t i, Sums& of_block) {
    NodeLine& node = nodes[static_cast<std::size_t>(loads.lines[i])];
    const double* f = loads.force[i].f;
    Way& last = loads.last[i];
    const double factor = step * node.inverse_mass;
    Vector x;
    for (std::size_t c = 0; c < 3; ++c) {
      node.velocity[c] += factor * f[c];
      of_block.force[c] += f[c];
      x[c] = loads.X[i][c] + node.displacement[c];
    }
    add_cross(of_block.moment, x.data(), f);
    if (work == Work::left) return;
    for (std::size_t c = 0; c < 3; ++c) {
      of_block.work += 0.5 * (last.force[c] + f[c]) * (node.displacement[c] - last.displacement[c]);
      last.force[c] = f[c];
      last.displacement[c] = node.displacement[c];
    }
  });
  book(ledger, sums.force, sums.moment, step);
  ledger.work += sums.work;
}

void LatticeLoads::strike(std::size_t g, double step, std::span<NodeLine> nodes, Ledger& ledger) {
  kick(groups_[g].constant, step, nodes, ledger);
  each_moving(groups_[g], [&](Moving& loads) { kick(loads, step, nodes, ledger, Work::booked); });
}

void LatticeLoads::take_back(std::size_t g, double step, std::span<NodeLine> nodes, Ledger& ledger) {
  kick(groups_[g].constant, -step, nodes, ledger);
  each_moving(groups_[g], [&](Moving& loads) { kick(loads, -step, nodes, ledger, Work::left); });
}

void LatticeLoads::report(std::size_t g, double duration, std::span<const NodeLine> nodes,
                          LatticeStrikes::NodalSums& sums, Ledger& ledger) const {
  each_force(g, [&](std::size_t line, const double* f) {
    for (std::size_t c = 0; c < 3; ++c) {
      sums.force[line][c] += f[c];
      sums.impulse[line][c] += duration * f[c];
      sums.ahead[line][c] += std::abs(duration) * f[c];
    }
  });
  const Constant& constant = groups_[g].constant;
  Vector moment = constant.moment;
  for (std::size_t i = 0; i < constant.lines.size(); ++i)
    add_cross(moment, nodes[static_cast<std::size_t>(constant.lines[i])].displacement, constant.force[i].f);
  book(ledger, constant.sum, moment, duration);
  each_moving(groups_[g], [&](const Moving& loads) {
    Sums all;
    for (std::size_t i = 0; i < loads.lines.size(); ++i) {
      const double *u = nodes[static_cast<std::size_t>(loads.lines[i])].displacement, *f = loads.force[i].f;
      Vector x;
      for (std::size_t c = 0; c < 3; ++c) {
        x[c] = loads.X[i][c] + u[c];
        all.force[c] += f[c];
        all.work += 0.5 * (loads.last[i].force[c] + f[c]) * (u[c] - loads.last[i].displacement[c]);
      }
      add_cross(all.moment, x.data(), f);
    }
    book(ledger, all.force, all.moment, duration);
    ledger.work += all.work;
  });
}

void LatticeLoads::save(ArchiveWriter& archive) const {
  archive.put("load_start", start_);
  for (const Group& group : groups_) each_moving(group, [&](const Moving& loads) { archive.put("loads", loads.last); });
}

void LatticeLoads::load(ArchiveReader& archive) {
  archive.get("load_start", start_);
  for (Group& group : groups_) each_moving(group, [&](Moving& loads) { archive.get("loads", loads.last); });
}

}  // namespace tempi
