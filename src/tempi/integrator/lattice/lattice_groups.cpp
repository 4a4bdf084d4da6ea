// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_groups.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"
#include "tempi/core/space_filling_curve.hpp"

namespace tempi {
namespace {

using Key = std::uint64_t;
constexpr Index lanes = 8;  // of the widest packs

// Centroids of the terms' stencils.
std::vector<Key> keys_of_terms(const Model& model) {
  const auto d = static_cast<std::size_t>(model.dim());
  std::vector<double> centroids(static_cast<std::size_t>(model.term_count()) * d, 0.0);
  for (Index i = 0; i < model.term_count(); ++i) {
    const auto stencil = model.term(make_id<TermId>(i)).stencil();
    for (const NodeId a : stencil)
      for (std::size_t c = 0; c < d; ++c)
        centroids[static_cast<std::size_t>(i) * d + c] +=
            model.reference()[ordinal(a) * d + c] / static_cast<double>(stencil.size());
  }
  return hilbert_keys(centroids, model.dim());
}

class Builder {
 public:
  Builder(const Model& model, std::span<const std::int32_t> ticks) : model_(model), ticks_(ticks) {}

  LatticeGroups operator()() && {
    TEMPI_ASSERT(static_cast<Index>(ticks_.size()) == model_.term_count());
    make_groups();
    place_nodes();
    add_lines();
    fill_groups();
    return std::move(result_);
  }

 private:
  std::int32_t ticks(TermId term) const { return ticks_[ordinal(term)]; }
  LatticeGroup& group_of(std::int32_t m) {
    return *std::ranges::lower_bound(result_.groups, m, {}, &LatticeGroup::ticks);
  }

  void make_groups() {
    std::vector<std::int32_t> distinct(ticks_.begin(), ticks_.end());
    make_distinct(distinct);
    for (const std::int32_t m : distinct) result_.groups.push_back({m, 0, 0, {}, {}, {}});
  }

  // Nodes by (smallest ticks, key); nodes without terms last.
  void place_nodes() {
    const auto nodes = static_cast<std::size_t>(model_.node_count());
    std::vector<std::int32_t> smallest(nodes, std::numeric_limits<std::int32_t>::max());
    for (Index i = 0; i < model_.term_count(); ++i)
      for (const NodeId a : model_.term(make_id<TermId>(i)).stencil()) {
        std::int32_t& m = smallest[ordinal(a)];
        m = std::min(m, ticks_[static_cast<std::size_t>(i)]);
      }
    const auto keys = hilbert_keys(model_.reference(), model_.dim());
    std::vector<std::int32_t> order(nodes);
    for (std::size_t a = 0; a < nodes; ++a) order[a] = static_cast<std::int32_t>(a);
    std::ranges::sort(order, {}, [&](std::int32_t a) {
      const auto i = static_cast<std::size_t>(a);
      return std::tuple(smallest[i], keys[i], a);
    });
    result_.line_of_node.resize(nodes);
    for (const std::int32_t a : order) result_.node_of_line.push_back(make_id<NodeId>(a));
    for (std::size_t line = 0; line < nodes; ++line)
      result_.line_of_node[static_cast<std::size_t>(order[line])] = static_cast<std::int32_t>(line);
    auto begin = order.begin();
    for (LatticeGroup& group : result_.groups) {
      group.first_line = static_cast<std::int32_t>(begin - order.begin());
      begin = std::find_if(begin, order.end(),
                           [&](std::int32_t a) { return smallest[static_cast<std::size_t>(a)] != group.ticks; });
      group.last_line = static_cast<std::int32_t>(begin - order.begin());
    }
  }

  // A node is drifted with group m by its own range if m is its smallest, by a group m' | m of its terms if there is
  // one, otherwise here.
  void add_lines() {
    const NodeTerms around = node_terms(model_);
    std::vector<std::int32_t> own;
    for (Index a = 0; a < model_.node_count(); ++a) {
      own.clear();
      for (const TermId term : around[make_id<NodeId>(a)]) own.push_back(ticks(term));
      make_distinct(own);
      for (const std::int32_t m : own) group_of(m).lines.push_back(result_.line_of_node[static_cast<std::size_t>(a)]);
      for (std::size_t i = 1; i < own.size(); ++i) {
        const bool drifted = std::any_of(own.begin(), own.begin() + static_cast<std::ptrdiff_t>(i),
                                         [&](std::int32_t m) { return own[i] % m == 0; });
        if (!drifted) group_of(own[i]).other_lines.push_back(result_.line_of_node[static_cast<std::size_t>(a)]);
      }
    }
    for (LatticeGroup& group : result_.groups) {
      std::ranges::sort(group.other_lines);
      std::ranges::sort(group.lines);
    }
  }

  void fill_groups() {
    LatticePacker pack(model_, result_.line_of_node);
    std::vector<TermId> terms;
    for (Index p = 0; p < model_.potential_count(); ++p) {
      const Index first = index(model_.first_term(p)), size = model_.potential(p).size();
      std::vector<std::pair<std::int32_t, std::int32_t>> by_ticks;  // ticks, term
      by_ticks.reserve(static_cast<std::size_t>(size));
      for (Index i = first; i < first + size; ++i)
        by_ticks.emplace_back(ticks_[static_cast<std::size_t>(i)], static_cast<std::int32_t>(i));
      std::ranges::sort(by_ticks);
      for (auto begin = by_ticks.begin(); begin != by_ticks.end();) {
        const auto end = std::find_if(begin, by_ticks.end(), [&](const auto& e) { return e.first != begin->first; });
        terms.clear();
        for (auto i = begin; i != end; ++i) terms.push_back(make_id<TermId>(i->second));
        group_of(begin->first).parts.push_back(pack(terms));
        begin = end;
      }
    }
  }

  const Model& model_;
  std::span<const std::int32_t> ticks_;
  LatticeGroups result_;
};

// Large enough that a block's nodes are shared within it, small enough that there are many of each colour.
Index block_size(Index terms, std::size_t stencil) {
  const Index most = std::max<Index>(64, 2048 / static_cast<Index>(stencil));
  const Index size = std::clamp<Index>(terms / 64, 64, most);
  return (size + Batch::grain - 1) / Batch::grain * Batch::grain;
}

}  // namespace

LatticeGroups lattice_groups(const Model& model, std::span<const std::int32_t> ticks) {
  return Builder(model, ticks)();
}

LatticePacker::LatticePacker(const Model& model, std::span<const std::int32_t> line_of_node)
    : model_(model), line_of_node_(line_of_node), keys_(keys_of_terms(model)) {}

LatticePart LatticePacker::operator()(std::span<const TermId> terms, MakeBatch make) {
  const auto [potential, first_number] = model_.term(terms.front());
  const Index first = index(terms.front()) - first_number;
  LatticePart part{potential, make_id<TermId>(first), {}, {terms.begin(), terms.end()}, {}, 0};
  std::ranges::sort(part.terms, {}, [&](TermId i) { return std::pair(keys_[ordinal(i)], i); });
  part.block = block_size(std::ssize(terms), model_.term(terms.front()).stencil().size());
  colour(part);
  std::vector<Index> local;
  for (const TermId term : part.terms) local.push_back(index(term) - first);
  part.batch = make == nullptr ? potential->batch(local, line_of_node_) : make(*potential, local, line_of_node_);
  return part;
}

// Gives every block the first colour that none of its nodes has; 64 colours do, else the rest stand alone.
void LatticePacker::colour(LatticePart& part) {
  const Index size = static_cast<Index>(part.terms.size()), blocks = size / part.block;
  taken_.assign(line_of_node_.size(), 0);
  std::vector<std::vector<Index>> of_colour(65);
  for (Index b = 0; b < blocks; ++b) {
    std::uint64_t taken = 0;
    each_node(part, b, [&](std::uint64_t& node) { taken |= node; });
    const auto free = static_cast<std::size_t>(std::countr_one(taken));
    of_colour[free].push_back(b);
    if (free < 64) each_node(part, b, [&](std::uint64_t& node) { node |= std::uint64_t{1} << free; });
  }
  std::vector<TermId> ordered;
  ordered.reserve(part.terms.size());
  for (std::size_t c = 0; c < of_colour.size(); ++c)
    for (std::size_t i = 0; i < of_colour[c].size(); ++i) {
      if (i == 0 || c == 64) part.colours.push_back(static_cast<Index>(ordered.size()));
      // Neighbours go to different packs: a node that several lanes kick one after the other makes them wait.
      const TermId* begin = &part.terms[static_cast<std::size_t>(of_colour[c][i] * part.block)];
      for (Index pack = 0; pack < part.block / lanes; ++pack)
        for (Index lane = 0; lane < lanes; ++lane) ordered.push_back(begin[lane * (part.block / lanes) + pack]);
    }
  if (blocks * part.block < size) {  // what is left is no full block: last, on its own
    part.colours.push_back(static_cast<Index>(ordered.size()));
    ordered.insert(ordered.end(), part.terms.begin() + blocks * part.block, part.terms.end());
  }
  part.colours.push_back(size);
  part.terms = std::move(ordered);
}

template <class Visit>
void LatticePacker::each_node(const LatticePart& part, Index block, Visit&& visit) {
  for (Index i = block * part.block; i < (block + 1) * part.block; ++i)
    for (const NodeId a : model_.term(part.terms[static_cast<std::size_t>(i)]).stencil()) visit(taken_[ordinal(a)]);
}

}  // namespace tempi
