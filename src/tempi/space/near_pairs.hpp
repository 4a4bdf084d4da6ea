// SPDX-License-Identifier: Apache-2.0
// Which pairs of some nodes may feel each other, wherever they are: all, or those that a list of neighbours has. The
// list is made anew when a node has moved half a skin since, beside what all have in common; it never misses a pair
// within reach, and which others it holds is nobody's business.
#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "tempi/core/ids.hpp"
#include "tempi/space/box.hpp"

namespace tempi {

// How far something reaches, and how much farther its list does.
struct Reach {
  double law;   // [m]; infinite: all pairs
  double skin;  // [m]
  bool everywhere() const { return std::isinf(law); }
  double list() const { return law + skin; }
  // Whether a list may miss a pair once a node has moved as far; also where that is no number.
  bool exceeded_by(double squared_distance) const {
    const double half = 0.5 * skin * (1.0 - 1e-9);
    return !(squared_distance <= half * half);
  }
  // The same of nodes, each of which has moved by moved(i): their mean way, as of a body that falls, brings nobody
  // nearer.
  template <class Moved>
  bool exceeded_by(std::size_t count, const Moved& moved) const {
    std::array<double, 3> mean{};
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t c = 0; c < 3; ++c) mean[c] += moved(i)[c];
    for (double& x : mean) x /= static_cast<double>(count);
    double farthest = 0.0;
    for (std::size_t i = 0; i < count && !exceeded_by(farthest); ++i) {
      farthest = 0.0;
      for (std::size_t c = 0; c < 3; ++c) farthest += (moved(i)[c] - mean[c]) * (moved(i)[c] - mean[c]);
    }
    return exceeded_by(farthest);
  }
};
// Without a `skin` [m] 0.12 of the range; less where the box has no room for more. Throws InputError: a skin that is
// negative or not finite.
Reach reach_of(std::optional<double> range, std::optional<double> skin, const Box& box);

class NearPairs {
 public:
  using LocalPair = std::array<std::int32_t, 2>;  // places in nodes(), ascending

  // `reference` [m]: dim components a node. With `others` only pairs of one of `nodes` and one of them count. Throws
  // InputError: nodes that are not there, given twice, fewer than two.
  NearPairs(std::span<const double> reference, int dim, std::vector<NodeId> nodes, const Reach& reach, const Box& box,
            std::vector<NodeId> others = {});

  std::span<const NodeId> nodes() const { return nodes_; }  // ascending
  const Reach& reach() const { return reach_; }
  bool between_groups() const { return !side_.empty(); }
  char side(std::size_t place) const { return side_[place]; }  // 1: of the others

  // Those at displacements u, which must be finite; ascending, so that sums are rounded alike whatever else is in the
  // list. Shared: whoever has it may go on while another thread makes the next one.
  using List = std::shared_ptr<const std::vector<LocalPair>>;
  List at(std::span<const double> u) const;

  NodePair pair(const LocalPair& p) const {
    return {nodes_[static_cast<std::size_t>(p[0])], nodes_[static_cast<std::size_t>(p[1])]};
  }
  bool is_finite(NodeId a, std::span<const double> u) const;
  bool is_finite(std::span<const double> u) const;

 private:
  std::span<const double> of(NodeId a, std::span<const double> u) const { return u.subspan(ordinal(a) * dim_, dim_); }
  bool holds(std::span<const double> u) const;

  std::vector<double> reference_;
  std::size_t dim_;
  std::vector<NodeId> nodes_;
  std::vector<char> side_;  // of each node; empty where all pairs count
  Reach reach_;
  Box box_;
  struct Last {
    std::mutex making;
    std::vector<double> u;  // where it was made
    List list;
  };
  std::unique_ptr<Last> last_ = std::make_unique<Last>();
};

}  // namespace tempi
