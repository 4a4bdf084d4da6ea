// SPDX-License-Identifier: Apache-2.0
#include "tempi/space/near_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tempi/core/error.hpp"
#include "tempi/space/neighbour_pairs.hpp"

namespace tempi {

Reach reach_of(std::optional<double> range, std::optional<double> skin, const Box& box) {
  if (skin && (!(*skin >= 0.0) || !std::isfinite(*skin)))
    throw InputError(fmt::format("skin = {} m (must be >= 0).", *skin));
  if (!range) return {std::numeric_limits<double>::infinity(), 0.0};
  double width = skin.value_or(0.12 * *range);
  for (std::size_t c = 0; c < 3; ++c)
    if (const auto L = box.length(c)) width = std::min(width, 0.5 * *L - *range);
  return {*range, width};
}

NearPairs::NearPairs(std::span<const double> reference, int dim, std::vector<NodeId> nodes, const Reach& reach,
                     const Box& box, std::vector<NodeId> others)
    : reference_(reference.begin(), reference.end()),
      dim_(static_cast<std::size_t>(dim)),
      nodes_(std::move(nodes)),
      reach_(reach),
      box_(box) {
  nodes_.insert(nodes_.end(), others.begin(), others.end());
  std::ranges::sort(nodes_);
  std::ranges::sort(others);
  for (std::size_t i = 0; i < nodes_.size() && !others.empty(); ++i)
    side_.push_back(std::ranges::binary_search(others, nodes_[i]) ? 1 : 0);
  const auto count = static_cast<Index>(reference_.size() / dim_);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (index(nodes_[i]) < 0 || index(nodes_[i]) >= count)
      throw InputError(
          fmt::format("a pair sum over node {} (there are {} nodes, numbered from 0).", index(nodes_[i]), count));
    if (i > 0 && nodes_[i] == nodes_[i - 1])
      throw InputError(fmt::format("a pair sum has node {} twice. Give each once.", index(nodes_[i])));
  }
  if (nodes_.size() < 2) throw InputError("a pair sum has fewer than two nodes.");
}

bool NearPairs::is_finite(NodeId a, std::span<const double> u) const {
  return std::ranges::all_of(of(a, u), [](double x) { return std::isfinite(x); });
}

bool NearPairs::is_finite(std::span<const double> u) const {
  return std::ranges::all_of(nodes_, [&](NodeId a) { return is_finite(a, u); });
}

bool NearPairs::holds(std::span<const double> u) const {
  if (reach_.everywhere()) return true;
  return !reach_.exceeded_by(nodes_.size(), [&](std::size_t i) {
    std::array<double, 3> moved{};
    for (std::size_t c = 0; c < dim_; ++c) moved[c] = of(nodes_[i], u)[c] - of(nodes_[i], last_->u)[c];
    return moved;
  });
}

NearPairs::List NearPairs::at(std::span<const double> u) const {
  const std::lock_guard lock(last_->making);
  if (last_->list && holds(u)) return last_->list;
  std::vector<double> positions;
  for (const NodeId a : nodes_)
    for (std::size_t c = 0; c < dim_; ++c) positions.push_back(of(a, reference_)[c] + of(a, u)[c]);
  const auto pairs = reach_.everywhere() ? all_pairs(std::ssize(nodes_))
                                         : pairs_within(positions, static_cast<int>(dim_), reach_.list(), box_);
  auto list = std::make_shared<std::vector<LocalPair>>();
  list->reserve(pairs.size());
  for (const auto& [a, b] : pairs) {
    const auto i = ordinal(a), j = ordinal(b);
    if (!side_.empty() && side_[i] == side_[j]) continue;
    list->push_back({static_cast<std::int32_t>(index(a)), static_cast<std::int32_t>(index(b))});
  }
  last_->u.assign(u.begin(), u.end());
  last_->list = std::move(list);
  return last_->list;
}

}  // namespace tempi
