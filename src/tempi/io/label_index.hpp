// SPDX-License-Identifier: Apache-2.0
// Where a label stands in an ascending list of labels: a table when the labels are dense, bisection when they are not.
// The list must outlive the index and hold fewer than 2^31 labels, each once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {

class LabelIndex {
 public:
  explicit LabelIndex(std::span<const Index> ascending) : labels_(ascending) {
    if (labels_.empty()) return;
    const auto count = static_cast<Index>(labels_.size());
    const Index last = labels_.back() - labels_.front();
    if (last < 0 || last / 4 > count) return;
    places_.assign(static_cast<std::size_t>(last) + 1, -1);
    for (Index i = 0; i < count; ++i)
      places_[static_cast<std::size_t>(labels_[static_cast<std::size_t>(i)] - labels_.front())] =
          static_cast<std::int32_t>(i);
  }

  std::optional<Index> find(Index label) const {
    if (labels_.empty() || label < labels_.front() || label > labels_.back()) return std::nullopt;
    if (!places_.empty()) {
      const std::int32_t place = places_[static_cast<std::size_t>(label - labels_.front())];
      return place < 0 ? std::nullopt : std::optional<Index>(place);
    }
    const auto place = std::ranges::lower_bound(labels_, label);
    return *place == label ? std::optional<Index>(place - labels_.begin()) : std::nullopt;
  }

 private:
  std::span<const Index> labels_;
  std::vector<std::int32_t> places_;  // empty: bisect
};

}  // namespace tempi
