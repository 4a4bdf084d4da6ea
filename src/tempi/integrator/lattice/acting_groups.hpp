// SPDX-License-Identifier: Apache-2.0
// Groups of a lattice engine that act in an instant, and what is made of them: the same few sets act all the time.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tempi {

using ActingGroups = std::vector<std::pair<std::size_t, double>>;  // groups and their steps [s], as announced

template <class Made>
class MadeOfActing {
 public:
  // make(acting), or what it has given for the same ones. Valid until the next call.
  template <class Make>
  const Made& of(const ActingGroups& acting, const Make& make) {
    for (const auto& [groups, made] : known_)
      if (groups == acting) return made;
    constexpr std::size_t most = 32;
    if (known_.size() == most) known_.erase(known_.begin());
    known_.emplace_back(acting, make(acting));
    return known_.back().second;
  }

 private:
  std::vector<std::pair<ActingGroups, Made>> known_;
};

}  // namespace tempi
