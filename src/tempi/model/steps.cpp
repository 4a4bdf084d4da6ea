// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"
#include "tempi/core/largest_eigenvalue.hpp"
#include "tempi/core/thread_team.hpp"
#include "tempi/potential/stable_step.hpp"

namespace tempi {

void share_around_nodes(const Model& model, std::vector<double>& steps) {
  std::vector<double> smallest(static_cast<std::size_t>(model.node_count()), std::numeric_limits<double>::infinity());
  for (Index i = 0; i < model.term_count(); ++i)
    for (const NodeId a : model.term(make_id<TermId>(i)).stencil()) {
      double& s = smallest[ordinal(a)];
      s = std::min(s, steps[static_cast<std::size_t>(i)]);
    }
  for (Index i = 0; i < model.term_count(); ++i)
    for (const NodeId a : model.term(make_id<TermId>(i)).stencil())
      steps[static_cast<std::size_t>(i)] = std::min(steps[static_cast<std::size_t>(i)], smallest[ordinal(a)]);
}

void follow_neighbours(const Model& model, std::vector<double>& steps) {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  if (std::ranges::find(steps, unlimited) == steps.end()) return;
  double slowest = 0.0;
  for (const double step : steps)
    if (step < unlimited) slowest = std::max(slowest, step);
  std::vector<double> around = steps;
  share_around_nodes(model, around);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto [potential, k] = model.term(make_id<TermId>(static_cast<Index>(i)));
    if (steps[i] < unlimited || potential->mass(k, 0) > 0.0) continue;
    if (slowest == 0.0)
      throw InputError(
          "nothing in the model is stiff where it starts, so no step is a fraction of a stable step. Give a step "
          "instead of safety.");
    steps[i] = std::min(around[i], slowest);
  }
}

namespace {

void require_positive(const Model& model, std::span<const double> steps) {
  for (Index i = 0; i < model.term_count(); ++i) {
    const double step = steps[static_cast<std::size_t>(i)];
    if (step > 0.0 && std::isfinite(step)) continue;
    const auto [potential, k] = model.term(make_id<TermId>(i));
    throw InputError(
        fmt::format("the step of {} is {} s (must be positive and finite). Look at its material and its "
                    "initial deformation.",
                    potential->describe(k), step));
  }
}

// Steps that differ by rounding only, as those of congruent cells do, become the smallest of them: such cells then act
// at the same times instead of drifting apart over billions of updates.
void join_equal(std::vector<double>& steps) {
  constexpr double rounding = 1e-11;
  std::vector<std::size_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return steps[i]; });
  double smallest = 0.0;
  for (const std::size_t i : order) {
    if (steps[i] > smallest * (1.0 + rounding)) smallest = steps[i];
    steps[i] = smallest;
  }
}

// Steps chosen without looking at the stiffness are held against it.
void refuse_unstable(const Model& model, std::span<const double> u, std::span<const double> steps) {
  for (Index i = 0; i < model.term_count(); ++i) {
    const auto term = model.term(make_id<TermId>(i));
    const double step = steps[static_cast<std::size_t>(i)];
    if (model.step_is_stable(make_id<TermId>(i), u, step)) continue;
    throw InputError(fmt::format(
        "the step {:.6g} s of {} exceeds its stable step {:.6g} s. Choose a smaller step or courant, or use safety.",
        step, term.potential->describe(term.k), model.stable_step(make_id<TermId>(i), u)));
  }
}

bool is_free(const Model& model, NodeId a, std::size_t component) {
  return model.supports().support_of(a, static_cast<int>(component)) == Supports::none;
}

bool is_free(const Model& model, NodeId a) {
  for (std::size_t c = 0; c < static_cast<std::size_t>(model.dim()); ++c)
    if (is_free(model, a, c)) return true;
  return false;
}

// What each node feels when it alone moves [N/m]: zero in what is held and beyond the model's dimensions.
std::vector<Eigen::Matrix3d> nodal_stiffness(const Model& model, std::span<const double> u) {
  const auto d = static_cast<std::size_t>(model.dim());
  std::vector<Eigen::Matrix3d> K(static_cast<std::size_t>(model.node_count()), Eigen::Matrix3d::Zero());
  const auto add = [&](std::span<const NodeId> nodes, std::span<const double> H) {
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t r = 0; r < d; ++r)
        for (std::size_t c = 0; c < d; ++c)
          if (is_free(model, nodes[a], r) && is_free(model, nodes[a], c))
            K[ordinal(nodes[a])](static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) +=
                H[(a * d + r) * nodes.size() * d + a * d + c];
  };
  for (Index i = 0; i < model.term_count(); ++i) {
    const auto [potential, k] = model.term(make_id<TermId>(i));
    potential->each_hessian_piece(k, u, 0.0, add);
  }
  return K;
}

}  // namespace

double largest_damping_rate(const Model& model, std::span<const double> u) {
  const auto d = static_cast<std::size_t>(model.dim());
  std::vector<double> rows(u.size(), 0.0);
  const auto add = [&](std::span<const NodeId> nodes, std::span<const double> C) {
    const std::size_t n = nodes.size() * d;
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < n; ++c) rows[ordinal(nodes[r / d]) * d + r % d] += std::abs(C[r * n + c]);
  };
  for (Index i = 0; i < model.term_count() && model.has_dampers(); ++i)
    model.each_damping_piece(make_id<TermId>(i), u, 0.0, add);
  double largest = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) largest = std::max(largest, rows[i] / model.mass()[i / d]);
  return largest;
}

std::vector<double> nodal_stable_steps(const Model& model, std::span<const double> u) {
  const std::vector<Eigen::Matrix3d> K = nodal_stiffness(model, u);
  std::vector<double> steps;
  for (std::size_t a = 0; a < K.size(); ++a)
    steps.push_back(step_of_eigenvalue(largest_eigenvalue(K[a]) / model.mass()[a]));
  return steps;
}

std::vector<double> smallest_within_a_ring(const Model& model, std::span<const double> nodal) {
  std::vector<double> of_terms(static_cast<std::size_t>(model.term_count()), std::numeric_limits<double>::infinity());
  for (Index i = 0; i < model.term_count(); ++i)
    for (const NodeId a : model.term(make_id<TermId>(i)).stencil())
      of_terms[static_cast<std::size_t>(i)] = std::min(of_terms[static_cast<std::size_t>(i)], nodal[ordinal(a)]);
  share_around_nodes(model, of_terms);
  return of_terms;
}

std::vector<std::int32_t> next_slower(const Model& model, std::span<const std::int32_t> ticks) {
  std::vector<std::int32_t> distinct(ticks.begin(), ticks.end());
  make_distinct(distinct);
  TEMPI_ASSERT(distinct.size() <= 64);
  const auto place = [&](Index i) {
    return std::ranges::lower_bound(distinct, ticks[static_cast<std::size_t>(i)]) - distinct.begin();
  };
  std::vector<std::uint64_t> met(static_cast<std::size_t>(model.node_count()), 0);  // by node, a bit for each step
  for (Index i = 0; i < model.term_count(); ++i)
    for (const NodeId a : model.term(make_id<TermId>(i)).stencil()) met[ordinal(a)] |= std::uint64_t{1} << place(i);
  for (Index a = 0; a < model.node_count(); ++a)
    if (!is_free(model, make_id<NodeId>(a))) met[static_cast<std::size_t>(a)] = 0;
  std::vector<std::int32_t> slower;
  for (Index i = 0; i < model.term_count(); ++i) {
    std::uint64_t around = 0;
    for (const NodeId a : model.term(make_id<TermId>(i)).stencil()) around |= met[ordinal(a)];
    const std::uint64_t longer = around & ~((std::uint64_t{2} << place(i)) - 1);
    slower.push_back(longer == 0 ? 0 : distinct[static_cast<std::size_t>(std::countr_zero(longer))]);
  }
  return slower;
}

std::vector<double> longest_around(const Model& model, std::span<const double> steps) {
  std::vector<double> of_node(static_cast<std::size_t>(model.node_count()), 0.0), result(steps.begin(), steps.end());
  for (Index i = 0; i < model.term_count(); ++i)
    for (const NodeId a : model.term(make_id<TermId>(i)).stencil())
      of_node[ordinal(a)] = std::max(of_node[ordinal(a)], steps[static_cast<std::size_t>(i)]);
  for (Index a = 0; a < model.node_count(); ++a)
    if (!is_free(model, make_id<NodeId>(a))) of_node[static_cast<std::size_t>(a)] = 0.0;
  for (Index i = 0; i < model.term_count(); ++i)
    for (const NodeId a : model.term(make_id<TermId>(i)).stencil())
      result[static_cast<std::size_t>(i)] = std::max(result[static_cast<std::size_t>(i)], of_node[ordinal(a)]);
  return result;
}

std::vector<double> stable_steps(const Model& model, std::span<const double> u, int threads) {
  std::vector<double> steps(static_cast<std::size_t>(model.term_count()));
  constexpr Index at_once = 256;
  ThreadTeam(threads).for_each(model.term_count(), at_once, [&](Index i) {
    steps[static_cast<std::size_t>(i)] = model.stable_step(make_id<TermId>(i), u);
  });
  return steps;
}

std::vector<double> choose_steps(const Model& model, std::span<const double> u, StepSize size, StepRule rule,
                                 std::span<const double> courant_times, int threads) {
  std::vector<double> steps(static_cast<std::size_t>(model.term_count()));
  if (const auto* safety = std::get_if<SafetyFraction>(&size)) {
    steps = stable_steps(model, u, threads);
    for (double& s : steps) s *= safety->value;
    follow_neighbours(model, steps);
  } else if (const auto* courant = std::get_if<CourantNumber>(&size)) {
    std::ranges::transform(courant_times, steps.begin(), [&](double time) { return courant->value * time; });
  } else {
    std::ranges::fill(steps, std::get<FixedStep>(size).seconds);
  }
  require_positive(model, steps);
  join_equal(steps);
  if (rule == StepRule::one_ring) share_around_nodes(model, steps);
  if (rule == StepRule::uniform) std::ranges::fill(steps, *std::ranges::min_element(steps));
  if (!std::holds_alternative<SafetyFraction>(size)) refuse_unstable(model, u, steps);
  return steps;
}

// The smallest steps are settled first; each lowers what it touches. Bounds therefore arise in ascending order, and the
// lowered terms wait in a plain queue beside the sorted ones. At a node only the first to come is heard: who comes
// later has a larger step.
void limit_neighbours(const Model& model, std::vector<double>& steps, double ratio) {
  TEMPI_ASSERT(ratio >= 1.0 && static_cast<Index>(steps.size()) == model.term_count());
  const NodeTerms around = node_terms(model);
  const std::vector<double> own = steps;
  const auto at = [](TermId i) { return ordinal(i); };

  std::vector<TermId> order(steps.size()), lowered;
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = make_id<TermId>(static_cast<Index>(i));
  std::ranges::stable_sort(order, {}, [&](TermId i) { return own[at(i)]; });
  std::vector<char> heard(static_cast<std::size_t>(model.node_count()), 0);
  const auto settle = [&](TermId i) {
    const double bound = ratio * steps[at(i)];
    for (const NodeId a : model.term(i).stencil()) {
      if (std::exchange(heard[ordinal(a)], 1) != 0) continue;
      for (const TermId j : around[a]) {
        if (steps[at(j)] <= bound) continue;
        steps[at(j)] = bound;
        lowered.push_back(j);
      }
    }
  };
  std::size_t next = 0;
  for (const TermId i : order) {
    while (next < lowered.size() && steps[at(lowered[next])] <= own[at(i)]) settle(lowered[next++]);
    if (steps[at(i)] == own[at(i)]) settle(i);
  }
}

double ideal_speedup(std::span<const double> steps) {
  const double smallest = *std::ranges::min_element(steps);
  double sum = 0.0;
  for (const double s : steps) sum += 1.0 / s;
  return static_cast<double>(steps.size()) / smallest / sum;
}

Index update_count(double step, double end_time) {
  auto j = static_cast<Index>(end_time / step);
  while (static_cast<double>(j) * step >= end_time) --j;
  while (static_cast<double>(j + 1) * step < end_time) ++j;
  return std::max<Index>(j, 0);
}

}  // namespace tempi
