// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_drag.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace tempi {
namespace {

// Three numbers in two registers: compilers make something slow of arrays.
struct Three {
  typedef double Two __attribute__((vector_size(16)));
  Two xy{};
  double z = 0.0;

  Three() = default;
  Three(Two of_xy, double of_z) : xy(of_xy), z(of_z) {}
  explicit Three(const double* from) : z(from[2]) { std::memcpy(&xy, from, sizeof xy); }
  void store(double* to) const {
    std::memcpy(to, &xy, sizeof xy);
    to[2] = z;
  }
  // Where takes(component), that of `other`.
  Three with(const Three& other, auto&& takes) const {
    return {Two{takes(0) ? other.xy[0] : xy[0], takes(1) ? other.xy[1] : xy[1]}, takes(2) ? other.z : z};
  }
};
Three operator+(const Three& a, const Three& b) { return {a.xy + b.xy, a.z + b.z}; }
Three operator-(const Three& a, const Three& b) { return {a.xy - b.xy, a.z - b.z}; }
Three operator*(double s, const Three& a) { return {s * a.xy, s * a.z}; }

// Given::add of many, whose moments are put together at the end.
class DragSums {
 public:
  void add(const Three& x, const Three& q, const Three& w) {
    impulse_ = impulse_ + q;
    x_on_z_ += q.z * x.xy;
    z_on_xy_ += x.z * q.xy;
    crosswise_ += x.xy * Three::Two{q.xy[1], q.xy[0]};
    work_.xy += q.xy * w.xy;
    work_.z += q.z * w.z;
  }
  Given given() const {
    return {{impulse_.xy[0], impulse_.xy[1], impulse_.z},
            {x_on_z_[1] - z_on_xy_[1], z_on_xy_[0] - x_on_z_[0], crosswise_[0] - crosswise_[1]},
            work_.xy[0] + work_.xy[1] + work_.z};
  }

 private:
  Three impulse_, work_;
  Three::Two x_on_z_{}, z_on_xy_{}, crosswise_{};
};

}  // namespace

LatticeDrag::LatticeDrag(const Model& model, const LatticeGroups& plan, const LatticeSupports& supports,
                         ThreadTeam& team)
    : supports_(supports), team_(team) {
  if (!model.has_dampers()) return;
  const auto d = static_cast<std::size_t>(model.dim());
  const std::size_t lines = plan.node_of_line.size();
  C_.assign(lines, 0.0);
  X_.resize(lines);
  for (std::size_t line = 0; line < lines; ++line)
    std::copy_n(&model.reference()[ordinal(plan.node_of_line[line]) * d], d, X_[line].begin());
  for (const LatticeGroup& group : plan.groups) {
    for (const LatticePart& part : group.parts)
      each_drag(model, part.terms, [&](NodeId a, double c) { C_[static_cast<std::size_t>(plan.line(a))] += c; });
    std::vector<Entry> entries;
    for (const std::int32_t line : group.lines) {
      double& c = C_[static_cast<std::size_t>(line)];
      if (c > 0.0) entries.push_back({line, c});
      c = 0.0;
    }
    of_group_.push_back(std::move(entries));
  }
}

std::vector<LatticeDrag::Entry> LatticeDrag::sum_of(const ActingGroups& acting) const {
  std::vector<Entry> sums;
  for (const auto& [group, step] : acting)
    for (const Entry& entry : of_group_[group]) {
      double& C = C_[static_cast<std::size_t>(entry.line)];
      if (C == 0.0) sums.push_back({entry.line, 0.0});
      C += step * entry.c;
    }
  for (Entry& sum : sums) sum.c = std::exchange(C_[static_cast<std::size_t>(sum.line)], 0.0);
  return sums;
}

void LatticeDrag::act(const ActingGroups& acting, std::span<NodeLine> nodes, std::span<const Vector> before,
                      std::span<Vector> felt, std::span<Vector> withheld, Ledger& ledger) {
  constexpr std::size_t at_once = 1024;
  const std::vector<Entry>& entries = of_instant_.of(acting, [&](const ActingGroups& of) { return sum_of(of); });
  const auto blocks = static_cast<Index>((entries.size() + at_once - 1) / at_once);
  of_block_.resize(static_cast<std::size_t>(blocks));
  const bool any_held = supports_.any();
  team_.for_each(blocks, [&, any_held, lines = nodes.data(), before = before.data(), felt = felt.data(),
                          withheld = withheld.data(), X = X_.data()](Index b) {
    DragSums sums;
    const std::size_t first = static_cast<std::size_t>(b) * at_once, last = std::min(first + at_once, entries.size());
    for (const auto& [line, C] : std::span(entries).subspan(first, last - first)) {
      NodeLine& node = lines[line];
      const double ratio = C * node.inverse_mass, slowed = 1.0 / (1.0 + 0.5 * ratio);
      const Three v(node.velocity), middle = before == nullptr ? v : 0.5 * (Three(before[line].data()) + v);
      Three w = slowed * middle, change = ratio * w;
      if (any_held && supports_.held(static_cast<std::size_t>(line)) >= 0) {
        const auto is_held = [&](std::size_t c) { return supports_.holds(static_cast<std::size_t>(line), c); };
        w = w.with(v, is_held);
        change = ratio * w;
        if (withheld != nullptr) {
          (Three(withheld[line].data()) + Three().with(-C * w, is_held)).store(withheld[line].data());
          change = change.with(Three(), is_held);
        }
      }
      if (felt != nullptr) w.store(felt[line].data());
      (v - change).store(node.velocity);
      sums.add(Three(X[line].data()) + Three(node.displacement), -C * w, w);
    }
    of_block_[static_cast<std::size_t>(b)] = sums.given();
  });
  for (const Given& given : of_block_) ledger += given;
}

std::vector<LatticeDrag::Resistance> LatticeDrag::resistance(std::span<const double> duration_of_group) const {
  std::vector<Resistance> result(C_.size());
  for (std::size_t g = 0; g < of_group_.size(); ++g)
    for (const Entry& entry : of_group_[g]) {
      Resistance& r = result[static_cast<std::size_t>(entry.line)];
      r.signed_sum += duration_of_group[g] * entry.c;
      r.sum += std::abs(duration_of_group[g]) * entry.c;
      r.coefficient += entry.c;
    }
  return result;
}

}  // namespace tempi
