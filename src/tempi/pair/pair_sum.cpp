// SPDX-License-Identifier: Apache-2.0
#include "tempi/pair/pair_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tempi/core/error.hpp"
#include "tempi/potential/many_body_sum.hpp"
#include "tempi/space/near_pairs.hpp"
#include "tempi/space/pair_list.hpp"

namespace tempi {
namespace {

// All pairs at once. Nodes are numbered anew in the order of their lines.
class SumBatch final : public Batch {
 public:
  SumBatch(const PairGeometry& geometry, const PackedLawChoice& law, const NearPairs& near,
           std::span<const double> fourth, std::span<const std::int32_t> place)
      : kernel_(pair_kernel(law.kind, law.part)),
        law_(law.law),
        box_(packed_box(geometry.box(), geometry.dim())),
        dim_(geometry.dim()),
        reach_(near.reach()) {
    const auto nodes = near.nodes();
    const auto d = static_cast<std::size_t>(dim_);
    const auto line = [&](std::size_t i) { return place[ordinal(nodes[i])]; };
    for (std::size_t i = 0; i < nodes.size(); ++i) local_.push_back(static_cast<std::int32_t>(i));
    std::ranges::sort(local_, {}, [&](std::int32_t i) { return line(static_cast<std::size_t>(i)); });
    points_.assign(4 * nodes.size(), 0.0);
    reference_ = listed_ = points_;
    gradients_.assign(points_.size() + 4, 0.0);
    for (const std::int32_t i : local_)
      if (near.between_groups()) side_.push_back(near.side(static_cast<std::size_t>(i)));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto k = static_cast<std::size_t>(local_[i]);
      lines_.push_back(line(k));
      points_[4 * i + 3] = fourth.empty() ? 1.0 : fourth[ordinal(nodes[k])];
      for (std::size_t c = 0; c < d; ++c)  // from one of them: their own digits count, not those of where they are
        reference_[4 * i + c] =
            geometry.reference()[ordinal(nodes[k]) * d + c] - geometry.reference()[ordinal(nodes[0]) * d + c];
    }
  }

  bool strike(Index first, Index last, double step, double, std::span<NodeLine> nodes) const override {
    if (first == last) return true;
    if (!evaluate(kernel_.gradients, nodes).admissible) return false;  // before any kick: nothing is to be undone
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      NodeLine& node = nodes[static_cast<std::size_t>(lines_[i])];
      const double factor = step * node.inverse_mass;
      for (std::size_t c = 0; c < 3; ++c) node.velocity[c] -= factor * gradients_[4 * i + c];
    }
    return true;
  }

  Index row() const override { return static_cast<Index>(lines_.size()) * dim_; }
  void measure(Index first, Index last, double, std::span<const NodeLine> nodes, std::span<double> energies,
               std::span<double> gradients) const override {
    if (first == last) return;
    energies[0] = evaluate(kernel_.gradients_and_energy, nodes).energy;
    const auto d = static_cast<std::size_t>(dim_);
    for (std::size_t i = 0; i < lines_.size(); ++i)
      std::copy_n(&gradients_[4 * i], d, &gradients[static_cast<std::size_t>(local_[i]) * d]);
  }

 private:
  RowSum evaluate(RowKernel kernel, std::span<const NodeLine> nodes) const {
    double farthest = 0.0, sum = 0.0;  // since the list was made; of all: no number if one of them is none
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const double* u = nodes[static_cast<std::size_t>(lines_[i])].displacement;
      double moved = 0.0;
      for (std::size_t c = 0; c < 3; ++c) {
        const double d = u[c] - listed_[4 * i + c];
        moved += d * d;
        points_[4 * i + c] = reference_[4 * i + c] + u[c];
      }
      farthest = std::max(farthest, moved);
      sum += moved;
    }
    if (!std::isfinite(sum)) return {std::numeric_limits<double>::quiet_NaN(), false};
    const bool all = reach_.everywhere() && side_.empty();
    if (!all && (!is_listed_ || (!reach_.everywhere() && reach_.exceeded_by(farthest) && is_outgrown(nodes))))
      list(nodes);
    std::ranges::fill(gradients_, 0.0);
    return kernel({static_cast<Index>(lines_.size()), points_.data(), all ? nullptr : list_.first(),
                   all ? nullptr : list_.others(), gradients_.data(), law_, box_});
  }

  bool is_outgrown(std::span<const NodeLine> nodes) const {
    return reach_.exceeded_by(lines_.size(), [&](std::size_t i) {
      const double* u = nodes[static_cast<std::size_t>(lines_[i])].displacement;
      const double* from = &listed_[4 * i];
      return std::array{u[0] - from[0], u[1] - from[1], u[2] - from[2]};
    });
  }

  void list(std::span<const NodeLine> nodes) const {
    if (reach_.everywhere())
      list_.make_all(lines_.size());
    else
      list_.make(points_, reach_.list(), box_);
    if (!side_.empty()) list_.keep([&](std::size_t a, std::size_t b) { return side_[a] != side_[b]; });
    for (std::size_t i = 0; i < lines_.size(); ++i)
      std::copy_n(nodes[static_cast<std::size_t>(lines_[i])].displacement, 3, &listed_[4 * i]);
    is_listed_ = true;
  }

  PairKernel kernel_;
  PackedLaw law_;
  PackedBox box_;
  int dim_;
  Reach reach_;
  std::vector<char> side_;                   // of each point, where only pairs across count
  std::vector<std::int32_t> local_, lines_;  // of each point its place in the stencil, and its line
  AlignedVector<double> reference_;          // four numbers a point
  // What an evaluation works with. The list decides only who is looked at.
  mutable PairList list_;
  mutable bool is_listed_ = false;
  mutable AlignedVector<double> points_, listed_, gradients_;
};

class PairSum final : public ManyBodySum {
 public:
  // `fourth`: of each node, what its pairs' laws want to know (PairRows::points).
  PairSum(PairGeometry geometry, std::span<const double> fourth, std::vector<NodeId> nodes, std::optional<double> skin,
          std::vector<NodeId> others)
      : geometry_(std::move(geometry)),
        near_(geometry_.reference(), geometry_.dim(), std::move(nodes),
              reach_of(tempi::reach(geometry_.law()), skin, geometry_.box()), geometry_.box(), std::move(others)) {
    if (geometry_.by_masses() || !geometry_.radii().empty()) fourth_.assign(fourth.begin(), fourth.end());
    const std::vector<double> rest(geometry_.reference().size(), 0.0);
    for (const auto& p : *near_.at(rest)) {
      const NodePair pair = near_.pair(p);
      const double r = geometry_.separation(pair, rest).r;
      if (r > 0.0 && std::isfinite(r)) continue;
      throw InputError(fmt::format("{} at {} and {} has the length {} m (must be > 0). Move one of the nodes.",
                                   describe(pair), geometry_.place(pair[0], rest), geometry_.place(pair[1], rest), r));
    }
  }

  int dim() const override { return geometry_.dim(); }
  std::span<const NodeId> stencil(Index) const override { return near_.nodes(); }
  double mass(Index, std::size_t) const override { return 0.0; }

  double energy(Index, std::span<const double> u, double) const override {
    if (!near_.is_finite(u)) return std::numeric_limits<double>::quiet_NaN();
    double V = 0.0;
    for (const auto& p : *near_.at(u)) V += geometry_.energy(near_.pair(p), u);
    return V;
  }

  double add_gradient(Index, std::span<const double> u, double, std::span<double> g) const override {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (!near_.is_finite(u)) return std::numeric_limits<double>::quiet_NaN();
    const auto d = static_cast<std::size_t>(dim());
    double least = infinity;
    for (const auto& p : *near_.at(u)) {
      const auto [admissibility, gradient] = geometry_.force(near_.pair(p), u);
      if (admissibility < least || std::isnan(admissibility)) least = admissibility;  // a NaN wins, and stays
      for (std::size_t c = 0; c < d; ++c) {
        g[static_cast<std::size_t>(p[0]) * d + c] -= gradient[c];
        g[static_cast<std::size_t>(p[1]) * d + c] += gradient[c];
      }
    }
    return least == infinity ? 1.0 : least;
  }

  void each_present(std::span<const double> u, double, const VisitPresent& visit) const override {
    const auto d = static_cast<std::size_t>(dim());
    std::array<double, 6> g{};
    if (!near_.is_finite(u)) {
      const NodePair pair = near_.pair({0, 1});
      return visit(
          {term_key(pair[0], pair[1]), pair, std::numeric_limits<double>::quiet_NaN(), std::span(g).first(2 * d)});
    }
    for (const auto& p : *near_.at(u)) {
      const NodePair pair = near_.pair(p);
      if (geometry_.separation(pair, u).r >= near_.reach().law) continue;
      const auto [admissibility, gradient] = geometry_.force(pair, u);
      for (std::size_t c = 0; c < d; ++c) {
        g[c] = 0.0 - gradient[c];
        g[d + c] = 0.0 + gradient[c];
      }
      visit({term_key(pair[0], pair[1]), pair, admissibility, std::span(g).first(2 * d)});
    }
  }

  void each_hessian_piece(Index, std::span<const double> u, double, const VisitPiece& visit) const override {
    const auto size = static_cast<std::size_t>(4 * dim() * dim());
    std::array<double, 36> H{};
    if (!near_.is_finite(u)) {  // nobody is near a position that is none: no step is stable
      H.fill(std::numeric_limits<double>::quiet_NaN());
      return visit(near_.pair({0, 1}), std::span(H).first(size));
    }
    for (const auto& p : *near_.at(u)) {
      const NodePair pair = near_.pair(p);
      if (geometry_.separation(pair, u).r >= near_.reach().law) continue;
      H.fill(0.0);
      geometry_.add_hessian(pair, u, H);
      visit(pair, std::span(H).first(size));
    }
  }

  std::unique_ptr<Batch> batch(std::span<const Index> terms, std::span<const std::int32_t> place) const override {
    const auto law =
        geometry_.radii().empty() ? packed_law(geometry_.law()) : packed_spheres(std::get<Hertz>(geometry_.law()));
    if (!law) return Potential::batch(terms, place);
    return std::make_unique<SumBatch>(geometry_, *law, near_, fourth_, place);
  }

  std::string describe(Index) const override { return fmt::format("the pair sum over {} nodes", near_.nodes().size()); }
  std::string fault(Index k, std::span<const double> u, double t, double admissibility) const override {
    for (const NodeId a : near_.nodes())
      if (!near_.is_finite(a, u))
        return fmt::format(
            "node {} of {} is at {} at t = {:.9g} s (must be finite). The run has become unstable: try smaller steps.",
            index(a), describe(k), geometry_.place(a, u), t);
    NodePair worst{};
    double least = std::numeric_limits<double>::infinity();
    for (const auto& p : *near_.at(u)) {
      const double r = geometry_.force(near_.pair(p), u).admissibility;
      if (r >= least) continue;
      worst = near_.pair(p), least = r;
      if (std::isnan(r)) break;
    }
    return geometry_.fault(describe(worst), worst, u, t, admissibility);
  }

 private:
  static std::string describe(const NodePair& pair) {
    return fmt::format("the pair of nodes {} and {}", index(pair[0]), index(pair[1]));
  }

  PairGeometry geometry_;
  NearPairs near_;
  std::vector<double> fourth_;
};

}  // namespace

std::unique_ptr<Potential> make_pair_sum(std::span<const double> reference, int dim, std::span<const double> masses,
                                         std::vector<NodeId> nodes, PairLaw law, const Box& box,
                                         std::optional<double> skin, std::vector<NodeId> others) {
  std::vector<PairLaw> laws;
  laws.push_back(std::move(law));
  return std::make_unique<PairSum>(PairGeometry(reference, dim, masses, std::move(laws), box), masses, std::move(nodes),
                                   skin, std::move(others));
}

std::unique_ptr<Potential> make_sphere_sum(std::span<const double> reference, int dim, std::vector<double> radii,
                                           std::vector<NodeId> nodes, double modulus, const Box& box,
                                           std::optional<double> skin, std::vector<NodeId> others) {
  std::array<double, 2> largest{};  // of two nodes
  for (const auto* side : {&nodes, &others})
    for (const NodeId a : *side) {
      const double radius = radii[ordinal(a)];
      if (!(radius > 0.0) || !std::isfinite(radius))
        throw InputError(fmt::format("node {} has the radius {} m (must be > 0).", index(a), radius));
      if (radius > largest[0])
        largest = {radius, largest[0]};
      else
        largest[1] = std::max(largest[1], radius);
    }
  PairGeometry geometry(reference, dim, radii, Hertz{modulus, largest[0] + largest[1]}, box);
  return std::make_unique<PairSum>(std::move(geometry), radii, std::move(nodes), skin, std::move(others));
}

}  // namespace tempi
