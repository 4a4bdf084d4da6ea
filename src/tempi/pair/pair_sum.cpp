// SPDX-License-Identifier: Apache-2.0
#include "tempi/pair/pair_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "tempi/core/error.hpp"
#include "tempi/space/neighbour_pairs.hpp"
#include "tempi/space/pair_list.hpp"

namespace tempi {
namespace {

// How far a law reaches, and how much farther its list does.
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
};

Reach reach_of(const PairGeometry& geometry, std::optional<double> skin) {
  const auto law = reach(geometry.law());
  if (skin && (!(*skin >= 0.0) || !std::isfinite(*skin)))
    throw InputError(fmt::format("skin = {} m (must be >= 0).", *skin));
  if (!law) return {std::numeric_limits<double>::infinity(), 0.0};
  double width = skin.value_or(0.12 * *law);
  for (std::size_t c = 0; c < 3; ++c)
    if (const auto L = geometry.box().length(c)) width = std::min(width, 0.5 * *L - *law);
  return {*law, width};
}

// All pairs at once. Nodes are numbered anew in the order of their lines.
class SumBatch final : public Batch {
 public:
  SumBatch(const PairGeometry& geometry, const PackedLawChoice& law, std::span<const NodeId> nodes,
           std::span<const double> masses, const Reach& reach, std::span<const std::int32_t> place)
      : kernel_(pair_kernel(law.kind)),
        law_(law.law),
        box_(geometry.packed_box()),
        dim_(geometry.dim()),
        reach_(reach) {
    const auto d = static_cast<std::size_t>(dim_);
    const auto line = [&](std::size_t i) { return place[static_cast<std::size_t>(index(nodes[i]))]; };
    for (std::size_t i = 0; i < nodes.size(); ++i) local_.push_back(static_cast<std::int32_t>(i));
    std::ranges::sort(local_, {}, [&](std::int32_t i) { return line(static_cast<std::size_t>(i)); });
    points_.assign(4 * nodes.size(), 0.0);
    reference_ = listed_ = points_;
    gradients_.assign(points_.size() + 4, 0.0);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto k = static_cast<std::size_t>(local_[i]);
      lines_.push_back(line(k));
      points_[4 * i + 3] = masses.empty() ? 1.0 : masses[static_cast<std::size_t>(index(nodes[k]))];
      for (std::size_t c = 0; c < d; ++c)  // from one of them: their own digits count, not those of where they are
        reference_[4 * i + c] = geometry.reference()[static_cast<std::size_t>(index(nodes[k])) * d + c] -
                                geometry.reference()[static_cast<std::size_t>(index(nodes[0])) * d + c];
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
    if (!reach_.everywhere() && (!is_listed_ || reach_.exceeded_by(farthest))) list(nodes);
    std::ranges::fill(gradients_, 0.0);
    const bool all = reach_.everywhere();
    return kernel({static_cast<Index>(lines_.size()), points_.data(), all ? nullptr : list_.first(),
                   all ? nullptr : list_.others(), gradients_.data(), law_, box_});
  }

  void list(std::span<const NodeLine> nodes) const {
    list_.make(points_, reach_.list(), box_);
    for (std::size_t i = 0; i < lines_.size(); ++i)
      std::copy_n(nodes[static_cast<std::size_t>(lines_[i])].displacement, 3, &listed_[4 * i]);
    is_listed_ = true;
  }

  PairKernel kernel_;
  PackedLaw law_;
  PackedBox box_;
  int dim_;
  Reach reach_;
  std::vector<std::int32_t> local_, lines_;  // of each point its place in the stencil, and its line
  AlignedVector<double> reference_;          // four numbers a point
  // What an evaluation works with. The list decides only who is looked at.
  mutable PairList list_;
  mutable bool is_listed_ = false;
  mutable AlignedVector<double> points_, listed_, gradients_;
};

class PairSum final : public Potential {
 public:
  PairSum(PairGeometry geometry, std::span<const double> masses, std::vector<NodeId> nodes, std::optional<double> skin)
      : geometry_(std::move(geometry)), nodes_(std::move(nodes)), reach_(reach_of(geometry_, skin)) {
    if (std::holds_alternative<Gravitation>(geometry_.law())) masses_.assign(masses.begin(), masses.end());
    std::ranges::sort(nodes_);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (index(nodes_[i]) < 0 || index(nodes_[i]) >= geometry_.node_count())
        throw InputError(fmt::format("a pair sum over node {} (there are {} nodes, numbered from 0).", index(nodes_[i]),
                                     geometry_.node_count()));
      if (i > 0 && nodes_[i] == nodes_[i - 1])
        throw InputError(fmt::format("a pair sum has node {} twice. Give each once.", index(nodes_[i])));
    }
    if (nodes_.size() < 2) throw InputError("a pair sum has fewer than two nodes.");
    const std::vector<double> rest(geometry_.reference().size(), 0.0);
    for (const LocalPair& p : list_at(rest)->pairs) {
      const double r = geometry_.separation(pair(p), rest).r;
      if (r > 0.0 && std::isfinite(r)) continue;
      throw InputError(fmt::format("{} at {} and {} has the length {} m (must be > 0). Move one of the nodes.",
                                   describe(pair(p)), geometry_.place(pair(p)[0], rest),
                                   geometry_.place(pair(p)[1], rest), r));
    }
  }

  Index size() const override { return 1; }
  int dim() const override { return geometry_.dim(); }
  std::span<const NodeId> stencil(Index) const override { return nodes_; }
  double mass(Index, std::size_t) const override { return 0.0; }

  double energy(Index, std::span<const double> u, double) const override {
    if (!is_finite(u)) return std::numeric_limits<double>::quiet_NaN();
    double V = 0.0;
    for (const LocalPair& p : list_at(u)->pairs) V += geometry_.energy(pair(p), u);
    return V;
  }

  double add_gradient(Index, std::span<const double> u, double, std::span<double> g) const override {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (!is_finite(u)) return std::numeric_limits<double>::quiet_NaN();
    const auto d = static_cast<std::size_t>(dim());
    double least = infinity;
    for (const LocalPair& p : list_at(u)->pairs) {
      const auto [admissibility, gradient] = geometry_.force(pair(p), u);
      if (admissibility < least || std::isnan(admissibility)) least = admissibility;  // a NaN wins, and stays
      for (std::size_t c = 0; c < d; ++c) {
        g[static_cast<std::size_t>(p[0]) * d + c] -= gradient[c];
        g[static_cast<std::size_t>(p[1]) * d + c] += gradient[c];
      }
    }
    return least == infinity ? 1.0 : least;
  }

  void add_hessian(Index k, std::span<const double> u, double t, std::span<double> H) const override {
    const auto d = static_cast<std::size_t>(dim()), n = nodes_.size() * d;
    each_hessian_piece(k, u, t, [&](std::span<const NodeId> piece, std::span<const double> part) {
      std::array<std::size_t, 2> first{};
      for (std::size_t a = 0; a < 2; ++a)
        first[a] = static_cast<std::size_t>(std::ranges::lower_bound(nodes_, piece[a]) - nodes_.begin()) * d;
      for (std::size_t i = 0; i < 2 * d; ++i)
        for (std::size_t j = 0; j < 2 * d; ++j)
          H[(first[i / d] + i % d) * n + first[j / d] + j % d] += part[i * 2 * d + j];
    });
  }

  bool in_pieces() const override { return true; }
  void each_hessian_piece(Index, std::span<const double> u, double, const VisitPiece& visit) const override {
    const auto size = static_cast<std::size_t>(4 * dim() * dim());
    std::array<double, 36> H{};
    if (!is_finite(u)) {  // nobody is near a position that is none: no step is stable
      H.fill(std::numeric_limits<double>::quiet_NaN());
      return visit(pair({0, 1}), std::span(H).first(size));
    }
    for (const LocalPair& p : list_at(u)->pairs) {
      if (geometry_.separation(pair(p), u).r >= reach_.law) continue;
      H.fill(0.0);
      geometry_.add_hessian(pair(p), u, H);
      visit(pair(p), std::span(H).first(size));
    }
  }

  std::unique_ptr<Batch> batch(std::span<const Index> terms, std::span<const std::int32_t> place) const override {
    const auto law = packed_law(geometry_.law());
    if (!law) return Potential::batch(terms, place);
    return std::make_unique<SumBatch>(geometry_, *law, nodes_, masses_, reach_, place);
  }

  std::string describe(Index) const override { return fmt::format("the pair sum over {} nodes", nodes_.size()); }
  std::string fault(Index k, std::span<const double> u, double t, double admissibility) const override {
    for (const NodeId a : nodes_)
      if (!is_finite(a, u))
        return fmt::format(
            "node {} of {} is at {} at t = {:.9g} s (must be finite). The run has become unstable: try smaller steps.",
            index(a), describe(k), geometry_.place(a, u), t);
    NodePair worst{};
    double least = std::numeric_limits<double>::infinity();
    for (const LocalPair& p : list_at(u)->pairs) {
      const double r = geometry_.force(pair(p), u).admissibility;
      if (r >= least) continue;
      worst = pair(p), least = r;
      if (std::isnan(r)) break;
    }
    return geometry_.fault(describe(worst), worst, u, t, admissibility);
  }

 private:
  using LocalPair = std::array<std::int32_t, 2>;  // places in nodes_, ascending
  struct List {
    std::vector<double> u;  // where it was made
    std::vector<LocalPair> pairs;
  };

  NodePair pair(const LocalPair& p) const {
    return {nodes_[static_cast<std::size_t>(p[0])], nodes_[static_cast<std::size_t>(p[1])]};
  }
  static std::string describe(const NodePair& pair) {
    return fmt::format("the pair of nodes {} and {}", index(pair[0]), index(pair[1]));
  }
  std::span<const double> of(NodeId a, std::span<const double> u) const {
    const auto d = static_cast<std::size_t>(dim());
    return u.subspan(static_cast<std::size_t>(index(a)) * d, d);
  }
  bool is_finite(NodeId a, std::span<const double> u) const {
    return std::ranges::all_of(of(a, u), [](double x) { return std::isfinite(x); });
  }
  bool is_finite(std::span<const double> u) const {
    return std::ranges::all_of(nodes_, [&](NodeId a) { return is_finite(a, u); });
  }

  bool holds(const List& list, std::span<const double> u) const {
    if (reach_.everywhere()) return true;
    double farthest = 0.0;
    for (const NodeId a : nodes_) {
      double moved = 0.0;
      for (std::size_t c = 0; c < of(a, u).size(); ++c) {
        const double difference = of(a, u)[c] - of(a, list.u)[c];
        moved += difference * difference;
      }
      farthest = std::max(farthest, moved);
    }
    return !reach_.exceeded_by(farthest);
  }

  // Ascending, so that sums are rounded alike whatever else is in the list. Shared: whoever has it may go on while
  // another thread makes the next one.
  std::shared_ptr<const List> list_at(std::span<const double> u) const {
    const std::lock_guard lock(list_->making);
    if (list_->last && holds(*list_->last, u)) return list_->last;
    auto list = std::make_shared<List>();
    list->u.assign(u.begin(), u.end());
    std::vector<double> positions;
    const auto d = static_cast<std::size_t>(dim());
    for (const NodeId a : nodes_)
      for (std::size_t c = 0; c < d; ++c) positions.push_back(of(a, geometry_.reference())[c] + of(a, u)[c]);
    const auto pairs = reach_.everywhere() ? all_pairs(static_cast<Index>(nodes_.size()))
                                           : pairs_within(positions, dim(), reach_.list(), geometry_.box());
    for (const auto& [a, b] : pairs)
      list->pairs.push_back({static_cast<std::int32_t>(index(a)), static_cast<std::int32_t>(index(b))});
    list_->last = std::move(list);
    return list_->last;
  }

  struct LastList {
    std::mutex making;
    std::shared_ptr<const List> last;
  };

  PairGeometry geometry_;
  std::vector<NodeId> nodes_;   // ascending
  std::vector<double> masses_;  // of all nodes, for gravitation
  Reach reach_;
  std::unique_ptr<LastList> list_ = std::make_unique<LastList>();
};

}  // namespace

std::unique_ptr<Potential> make_pair_sum(std::span<const double> reference, int dim, std::span<const double> masses,
                                         std::vector<NodeId> nodes, PairLaw law, const Box& box,
                                         std::optional<double> skin) {
  return std::make_unique<PairSum>(PairGeometry(reference, dim, masses, std::move(law), box), masses, std::move(nodes),
                                   skin);
}

}  // namespace tempi
