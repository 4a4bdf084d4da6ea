// SPDX-License-Identifier: Apache-2.0
#include "tempi/core/ordered_loop.hpp"

#include <algorithm>

#include "tempi/core/error.hpp"

namespace tempi {

void OrderedLoop::add(std::span<const std::int32_t> after, double place) {
  TEMPI_ASSERT(place >= 0.0 && place < 1.0);
  TEMPI_ASSERT(std::ranges::all_of(after, [&](std::int32_t i) { return i >= 0 && i < size(); }));
  after_.insert(after_.end(), after.begin(), after.end());
  first_after_.push_back(after_.size());
  place_.push_back(place);
}

void OrderedLoop::begin(int threads) {
  if (done_.size() != place_.size() || std::ssize(begins_) != threads + 1) {
    done_ = std::vector<std::atomic<std::uint32_t>>(place_.size());
    round_ = 0;
    begins_ = {0};
    order_.clear();
    for (int k = 0; k < threads; ++k) {
      for (std::size_t i = 0; i < place_.size(); ++i)
        if (static_cast<int>(place_[i] * threads) == k) order_.push_back(static_cast<std::uint32_t>(i));
      begins_.push_back(std::ssize(order_));
    }
  }
  ++round_;
}

}  // namespace tempi
