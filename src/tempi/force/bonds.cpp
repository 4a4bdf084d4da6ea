// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/bonds.hpp"

#include <utility>
#include <vector>

#include "tempi/force/damper.hpp"
#include "tempi/potential/packed_places.hpp"

namespace tempi {
namespace {

class BondBatch final : public PackedDampers {
 public:
  BondBatch(const Force& of, std::size_t dim, PairPacks pairs, BondResistance kernel, double coefficient,
            std::span<const Index> elements, std::span<const std::int32_t> place,
            std::span<const std::array<bool, 3>> held)
      : PackedDampers(dim, 2, packed_places(of, elements, place)),
        pairs_(std::move(pairs)),
        kernel_(kernel),
        coefficient_(coefficient),
        at_support_(places_.size() / (2 * width_), 0) {
    if (held.empty()) return;
    held_.resize(places_.size() * 3);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const std::size_t end = i / width_, lane = i % width_;  // of all ends
      for (std::size_t component = 0; component < dim_; ++component) {
        if (!held[static_cast<std::size_t>(places_[i])][component]) continue;
        held_[(end * 3 + component) * width_ + lane] = 1;
        at_support_[end / 2] = 1;
      }
    }
  }

  double resist(Index first, Index last, const Sweep& sweep, std::span<NodeLine> nodes,
                std::span<double> kept) const override {
    return kernel_({pairs_.at(places_), at_support_.data(), held_.data(), dim_, coefficient_},
                   {sweep.relax, sweep.step, sweep.backward, sweep.withheld.data()}, first, last, nodes.data(),
                   kept.empty() ? nullptr : kept.data());
  }

 private:
  PairPacks pairs_;
  BondResistance kernel_;
  double coefficient_;
  std::vector<char> at_support_, held_;
};

}  // namespace

std::unique_ptr<DampingBatch> make_bond_batch(const Force& of, int dim, PairPacks pairs, BondResistance kernel,
                                              double coefficient, std::span<const Index> elements,
                                              std::span<const std::int32_t> place,
                                              std::span<const std::array<bool, 3>> held) {
  return std::make_unique<BondBatch>(of, static_cast<std::size_t>(dim), std::move(pairs), kernel, coefficient, elements,
                                     place, held);
}

}  // namespace tempi
