// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_mollifier.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "tempi/core/cross.hpp"
#include "tempi/core/error.hpp"
#include "tempi/core/largest_eigenvalue.hpp"
#include "tempi/model/steps.hpp"

namespace tempi {
namespace {

// [m s], half of the jitter's 1/12: the other half comes by the chain rule.
constexpr double half_deviation = 1.0 / 24.0;

std::unique_ptr<Batch> batch_with_changes(const Potential& potential, std::span<const Index> terms,
                                          std::span<const std::int32_t> place) {
  auto batch = potential.batch(terms, place);
  return batch->offers_change() ? std::move(batch) : potential.Potential::batch(terms, place);
}

}  // namespace

double mollified_share(double q) {
  constexpr double whole = 0.135, reversed = 0.2, against = 0.3;
  if (!(q > whole)) return 1.0;
  if (q >= reversed) return -against / q;
  return 1.0 - (1.0 + against / reversed) * (q - whole) / (reversed - whole);
}

LatticeMollifier::LatticeMollifier(const Model& model, const LatticeGroups& plan, const LatticeStrikes& strikes,
                                   LatticeSupports& supports, ThreadTeam& team, const TickLattice& lattice)
    : model_(model), plan_(plan), strikes_(strikes), supports_(supports), team_(team), tick_(lattice.tick) {
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    if (g > 0 && plan.groups[g].ticks % plan.groups[g - 1].ticks != 0)
      throw InputError(
          "the mollified coupling needs steps of which each divides the next: a slow term has to hear of all its "
          "faster neighbours when it acts. Choose lattice = \"auto\", \"powers-of-two\" or \"powers-of-three\".");
    levels_.push_back({});
    levels_.back().ticks = plan.groups[g].ticks;
  }
  const std::vector<std::int32_t> shared = add_entries(plan);
  add_changes(plan, lattice);
  place_w(shared);
  find_shares(plan, shared);
  take_out_simple(plan);
  order_entries();
}

// Most nodes of terms with changes lie at no border: they all have the w of place 0, which stays zero and in a near
// cache.
void LatticeMollifier::place_w(std::span<const std::int32_t> shared) {
  w_.resize(sums_.size() + 1);
  std::vector<std::int32_t> place(shared.size());
  std::ranges::transform(shared, place.begin(), [](std::int32_t s) { return s + 1; });
  for (Level& level : levels_)
    for (Change& change : level.changes) change.part.batch->place_shifts(place);
}

// Returns the place of each line among nodes of several groups, or -1.
std::vector<std::int32_t> LatticeMollifier::add_entries(const LatticeGroups& plan) {
  const std::size_t lines = plan.node_of_line.size();
  std::vector<std::uint32_t> slower(lines, none);  // of the groups looked at, from slow to fast
  std::vector<std::int32_t> shared(lines, -1);
  std::vector<char> groups(lines, 0);
  for (const LatticeGroup& group : plan.groups)
    for (const std::int32_t line : group.lines) {
      char& n = groups[static_cast<std::size_t>(line)];
      n = static_cast<char>(std::min(n + 1, 2));
    }
  std::int32_t count = 0;
  for (std::size_t line = 0; line < lines; ++line)
    if (groups[line] > 1) shared[line] = count++;
  sums_.resize(static_cast<std::size_t>(count));
  for (std::size_t g = plan.groups.size(); g-- > 0;)
    for (const std::int32_t l : plan.groups[g].lines) {
      const auto line = static_cast<std::size_t>(l);
      if (shared[line] < 0) continue;
      Entry entry{l, shared[line], std::exchange(slower[line], static_cast<std::uint32_t>(g)), false, {}};
      for (std::size_t c = 0; c < 3; ++c) entry.held[c] = supports_.any() && supports_.holds(line, c);
      levels_[g].entries.push_back(entry);
    }
  // The fastest group of a node is the last one met.
  for (std::size_t g = 0; g < levels_.size(); ++g)
    for (Entry& entry : levels_[g].entries) entry.has_faster = slower[static_cast<std::size_t>(entry.line)] != g;
  return shared;
}

void LatticeMollifier::add_changes(const LatticeGroups& plan, const TickLattice& lattice) {
  const std::vector<std::int32_t> slower = next_slower(model_, lattice.ticks);
  std::vector<std::size_t> place(slower.size());  // of each term in its part
  LatticePacker pack(model_, plan.line_of_node);
  for (std::size_t g = 0; g < levels_.size(); ++g) {
    for (std::size_t p = 0; p < plan.groups[g].parts.size(); ++p) {
      const LatticePart& host = plan.groups[g].parts[p];
      std::map<std::int32_t, std::vector<TermId>> terms;  // by the next slower step
      for (std::size_t i = 0; i < host.terms.size(); ++i) {
        const std::size_t term = ordinal(host.terms[i]);
        place[term] = i;
        if (slower[term] > 0) terms[slower[term]].push_back(host.terms[i]);
      }
      for (const auto& [ticks, some] : terms) {
        const auto next = std::ranges::lower_bound(plan.groups, ticks, {}, &LatticeGroup::ticks) - plan.groups.begin();
        Change change{static_cast<std::size_t>(next), p, pack(some, batch_with_changes), {}, {}};
        for (const TermId term : change.part.terms) change.place.push_back(place[ordinal(term)]);
        levels_[g].changes.push_back(std::move(change));
      }
    }
    std::ranges::stable_sort(levels_[g].changes, {}, &Change::slower);
  }
}

// By the stiffness that each node feels of each group.
void LatticeMollifier::find_shares(const LatticeGroups& plan, std::span<const std::int32_t> shared) {
  using Block = Eigen::Matrix3d;
  const auto d = static_cast<std::size_t>(model_.dim());
  const std::vector<double> rest(model_.reference().size(), 0.0);
  std::vector<Block> zeroth(sums_.size(), Block::Zero()), second(sums_.size(), Block::Zero());
  for (Level& level : levels_) {
    const double m2 = level.ticks * level.ticks;
    for (Entry& entry : level.entries) {
      if (!entry.has_faster) continue;
      const auto i = static_cast<std::size_t>(entry.shared);
      Block K = m2 * zeroth[i] - second[i];
      for (Index c = 0; c < 3; ++c)
        if (entry.held[static_cast<std::size_t>(c)]) {
          K.row(c).setZero();
          K.col(c).setZero();
        }
      const double mass = model_.mass(plan.node_of_line[static_cast<std::size_t>(entry.line)]);
      entry.share = mollified_share(half_deviation * tick_ * tick_ * largest_eigenvalue(K) / mass);
    }
    for (const Change& change : level.changes)
      for (const TermId term : change.part.terms) {
        const auto [potential, k] = model_.term(term);
        potential->each_hessian_piece(k, rest, 0.0, [&](std::span<const NodeId> nodes, std::span<const double> H) {
          for (std::size_t a = 0; a < nodes.size(); ++a) {
            const std::int32_t s = shared[static_cast<std::size_t>(plan.line(nodes[a]))];
            if (s < 0) continue;
            Block block = Block::Zero();
            for (std::size_t i = 0; i < d; ++i)
              for (std::size_t j = 0; j < d; ++j)
                block(static_cast<Index>(i), static_cast<Index>(j)) = H[(a * d + i) * nodes.size() * d + a * d + j];
            zeroth[static_cast<std::size_t>(s)] += block;
            second[static_cast<std::size_t>(s)] += m2 * block;
          }
        });
      }
  }
}

// Nodes of two groups of which nothing is held and no change is of the slower one; of those held in all components
// nothing is needed.
void LatticeMollifier::take_out_simple(const LatticeGroups& plan) {
  std::vector<std::size_t> groups(sums_.size()), fastest(sums_.size());  // of each shared node
  std::vector<char> out(sums_.size());
  for (std::size_t g = levels_.size(); g-- > 0;)
    for (const Entry& entry : levels_[g].entries) {
      const auto shared = static_cast<std::size_t>(entry.shared);
      ++groups[shared];
      fastest[shared] = g;
      if (held_components(entry) == model_.dim()) out[shared] = 1;
    }
  std::vector<std::size_t> changed(plan.node_of_line.size(), levels_.size());  // by line: the last group that looked
  for (std::size_t g = 0; g < levels_.size(); ++g) {
    for (const Change& change : levels_[g].changes)
      for (const TermId term : change.part.terms)
        for (const NodeId node : model_.term(term).stencil()) changed[static_cast<std::size_t>(plan.line(node))] = g;
    std::map<std::size_t, Pair> pairs;  // by the faster group
    for (const Entry& entry : levels_[g].entries) {
      const auto shared = static_cast<std::size_t>(entry.shared), line = static_cast<std::size_t>(entry.line);
      if (!entry.has_faster || groups[shared] != 2 || held_components(entry) != 0 || changed[line] == g) continue;
      Pair& pair = pairs.try_emplace(fastest[shared], fastest[shared], g).first->second;
      pair.nodes.push_back({{}, {}, entry.share, entry.line, entry.shared});
      out[shared] = 1;
    }
    for (auto& [faster, pair] : pairs) {
      std::ranges::sort(pair.nodes, {}, &Simple::line);
      pairs_.push_back(std::move(pair));
    }
  }
  for (Level& level : levels_)
    std::erase_if(level.entries, [&](const Entry& entry) { return out[static_cast<std::size_t>(entry.shared)] != 0; });
}

void LatticeMollifier::order_entries() {
  for (Level& level : levels_) {
    std::ranges::stable_sort(level.entries, {}, [](const Entry& e) { return std::pair(!e.has_faster, e.slower); });
    level.with_faster = static_cast<std::size_t>(std::ranges::count_if(level.entries, &Entry::has_faster));
    for (std::size_t i = 0; i < level.with_faster; ++i)
      if (held_components(level.entries[i]) > 0) level.partly_held.push_back(static_cast<std::int32_t>(i));
    for (std::size_t acting = 0; acting <= levels_.size(); ++acting)
      level.until.push_back(static_cast<std::size_t>(std::ranges::count_if(level.entries, [&](const Entry& e) {
        return acting > 0 && (e.has_faster || e.slower < acting);
      })));
  }
}

int LatticeMollifier::held_components(const Entry& entry) const {
  return static_cast<int>(
      std::ranges::count(std::span(entry.held).first(static_cast<std::size_t>(model_.dim())), true));
}

template <class Visit>
void LatticeMollifier::each_entry(Level& level, std::size_t count, Visit&& visit) {
  constexpr Index at_once = 1024;
  team_.for_each(static_cast<Index>(count), at_once,
                 [&](Index i) { visit(level.entries[static_cast<std::size_t>(i)]); });
}

// visit(node of the pair, its line).
template <class Visit>
void LatticeMollifier::each_simple(Pair& pair, std::span<NodeLine> nodes, Visit&& visit) {
  constexpr Index at_once = 1024;
  team_.for_each(std::ssize(pair.nodes), at_once, [&](Index i) {
    Simple& simple = pair.nodes[static_cast<std::size_t>(i)];
    visit(simple, nodes[static_cast<std::size_t>(simple.line)]);
  });
}

// To y_g, and notes velocities.
void LatticeMollifier::shift(std::size_t g, std::size_t acting, double part, std::span<NodeLine> nodes) {
  Level& level = levels_[g];
  const double m2 = level.ticks * level.ticks, factor = -half_deviation * tick_ / part;
  for (Pair& pair : pairs_)
    if (pair.faster == g && pair.slower < acting)
      each_simple(pair, nodes, [](Simple& simple, const NodeLine& node) {
        std::copy_n(node.displacement, 3, simple.displacement);
        std::copy_n(node.velocity, 3, simple.velocity);
      });
  noted_ = g + 1;
  shifted_ = &level;
  each_entry(level, level.until[acting], [&](Entry& entry) {
    NodeLine& node = nodes[static_cast<std::size_t>(entry.line)];
    std::copy_n(node.velocity, 3, entry.given);
    if (!entry.has_faster) return;
    const Sums& sums = sums_[static_cast<std::size_t>(entry.shared)];
    for (std::size_t c = 0; c < 3; ++c) {
      entry.shift[c] = entry.share * factor * (m2 * sums.zeroth[c] - sums.second[c]);
      entry.displacement[c] = node.displacement[c];
      if (!entry.held[c]) node.displacement[c] += entry.shift[c];
    }
  });
}

// Back to x. What the strike has given goes into the sums: of D / m and m D, by which slower groups shift; of the
// slowest, whose D is complete, beta D and m^2 beta D, which faster ones are given back.
void LatticeMollifier::unshift(std::size_t g, std::size_t acting, double part, std::span<NodeLine> nodes) {
  Level& level = levels_[g];
  const double m = level.ticks;
  const bool slowest = g + 1 == acting;
  each_entry(level, level.until[acting], [&](Entry& entry) {
    NodeLine& node = nodes[static_cast<std::size_t>(entry.line)];
    Sums& sums = sums_[static_cast<std::size_t>(entry.shared)];
    const double zeroth = slowest ? entry.share : 1.0 / m, second = slowest ? m * m * entry.share : m;
    const bool before = !slowest && entry.has_faster;  // what the sums hold goes on
    for (std::size_t c = 0; c < 3; ++c) {
      entry.given[c] = node.velocity[c] - entry.given[c];
      if (entry.has_faster) node.displacement[c] = entry.displacement[c];
      if (!slowest && entry.slower >= acting) continue;
      sums.zeroth[c] = (before ? sums.zeroth[c] : 0.0) + zeroth * entry.given[c];
      sums.second[c] = (before ? sums.second[c] : 0.0) + second * entry.given[c];
    }
  });
  shifted_ = nullptr;
  unshift_simple(g, acting, part, nodes);
}

// The same of pairs of groups.
void LatticeMollifier::unshift_simple(std::size_t g, std::size_t acting, double part, std::span<NodeLine> nodes) {
  for (Pair& pair : pairs_) {
    if (pair.slower >= acting) continue;
    const double fast = levels_[pair.faster].ticks, slow = levels_[pair.slower].ticks;
    const double difference = slow * slow - fast * fast;
    if (pair.faster == g) {  // to the y of the slower one
      const double factor = -half_deviation * tick_ / part * difference / fast;
      each_simple(pair, nodes, [&](Simple& simple, NodeLine& node) {
        const double share = simple.share * factor;
        for (std::size_t c = 0; c < 3; ++c) {
          node.displacement[c] = simple.displacement[c] + share * (node.velocity[c] - simple.velocity[c]);
          simple.velocity[c] = node.velocity[c];
        }
      });
    } else if (pair.slower == g) {
      const double factor = -half_deviation * tick_ * tick_ * difference;
      pair.told = true;
      each_simple(pair, nodes, [&](const Simple& simple, NodeLine& node) {
        const double share = simple.share * factor;
        NodeShift& w = w_of(simple);
        for (std::size_t c = 0; c < 3; ++c) {
          w.displacement[c] = share * (node.velocity[c] - simple.velocity[c]);
          node.displacement[c] = simple.displacement[c];
        }
      });
    }
  }
}

// The chain rule, for all groups but the slowest.
void LatticeMollifier::give_back(std::size_t g, std::size_t acting, double t, std::span<NodeLine> nodes, bool keep) {
  Level& level = levels_[g];
  const double m2 = level.ticks * level.ticks;
  const bool changes = !level.changes.empty() && level.changes.front().slower < acting;
  for (Pair& pair : pairs_)  // what is left from an instant at which the slower group acted
    if (changes && pair.faster == g && pair.slower >= acting && std::exchange(pair.told, false))
      for (const Simple& simple : pair.nodes) w_of(simple) = {};
  if (changes) {
    shifted_ = &level;
    each_entry(level, level.until[acting], [&](Entry& entry) {
      NodeLine& node = nodes[static_cast<std::size_t>(entry.line)];
      if (entry.slower < acting) {
        const Sums& sums = sums_[static_cast<std::size_t>(entry.shared)];
        NodeShift& w = w_of(entry);
        for (std::size_t c = 0; c < 3; ++c)
          w.displacement[c] =
              entry.held[c] ? 0.0 : -half_deviation * tick_ * tick_ * (sums.second[c] - m2 * sums.zeroth[c]);
      }
      if (!entry.has_faster) return;
      for (std::size_t c = 0; c < 3; ++c) {
        if (!entry.held[c]) node.displacement[c] += entry.shift[c];
        entry.given[c] -= node.velocity[c];
      }
    });
  }
  for (Change& change : level.changes) {
    if (change.slower >= acting) break;
    const auto row = static_cast<std::size_t>(change.part.batch->row());
    if (keep) change.kept.resize(static_cast<std::size_t>(Batch::padded(std::ssize(change.part.terms))) * row);
    strikes_.each_block(change.part, [&](Index first, Index last) {
      change.part.batch->strike_change(first, last, t, nodes, w_,
                                       keep ? std::span(change.kept).subspan(static_cast<std::size_t>(first) * row)
                                            : std::span<double>());
    });
  }
  if (changes || level.with_faster > 0)
    each_entry(level, changes ? level.until[acting] : level.with_faster, [&](Entry& entry) {
      NodeLine& node = nodes[static_cast<std::size_t>(entry.line)];
      if (entry.slower < acting) w_of(entry) = {};
      if (!entry.has_faster) return;
      Sums& sums = sums_[static_cast<std::size_t>(entry.shared)];
      const bool before = entry.slower < acting;
      for (std::size_t c = 0; c < 3; ++c) {
        if (changes) {
          entry.given[c] += node.velocity[c];
          node.displacement[c] = entry.displacement[c];
        }
        const double felt = entry.share * entry.given[c];
        sums.zeroth[c] = (before ? sums.zeroth[c] : 0.0) + felt;
        sums.second[c] = (before ? sums.second[c] : 0.0) + m2 * felt;
      }
    });
  shifted_ = nullptr;
}

void LatticeMollifier::put_back(std::size_t acting, std::span<NodeLine> nodes) {
  for (Pair& pair : pairs_) {
    pair.told = false;
    if (pair.slower < acting && pair.faster < noted_)
      for (const Simple& simple : pair.nodes)
        std::copy_n(simple.displacement, 3, nodes[static_cast<std::size_t>(simple.line)].displacement);
  }
  if (shifted_ != nullptr)
    for (std::size_t i = 0; i < shifted_->with_faster; ++i) {
      const Entry& entry = shifted_->entries[i];
      std::copy_n(entry.displacement, 3, nodes[static_cast<std::size_t>(entry.line)].displacement);
    }
  shifted_ = nullptr;
  std::ranges::fill(w_, NodeShift{});
}

void LatticeMollifier::give_moments(std::size_t g, std::span<const NodeLine> nodes) {
  for (const std::int32_t i : levels_[g].partly_held) {
    const Entry& entry = levels_[g].entries[static_cast<std::size_t>(i)];
    const auto line = static_cast<std::size_t>(entry.line);
    Vector shift, free_shift, given, free_given;
    for (std::size_t c = 0; c < 3; ++c) {
      shift[c] = entry.shift[c];
      given[c] = entry.given[c] / nodes[line].inverse_mass;
      free_shift[c] = entry.held[c] ? 0.0 : shift[c];
      free_given[c] = entry.held[c] ? 0.0 : given[c];
    }
    const Vector whole = cross(shift, free_given), part = cross(free_shift, given);
    supports_.add_moment(line, {whole[0] - part[0], whole[1] - part[1], whole[2] - part[2]});
  }
}

double LatticeMollifier::work(const Change& change, const double* impulses, TermId term,
                              std::span<const NodeMean> means) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  double sum = 0.0;
  for (const NodeId a : change.part.potential->stencil(index(term) - index(change.part.first))) {
    const NodeMean& mean = means[static_cast<std::size_t>(plan_.line(a))];
    for (std::size_t c = 0; c < d; ++c) sum += *impulses++ * mean.velocity[c];
  }
  return sum;
}

}  // namespace tempi
