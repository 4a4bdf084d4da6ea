// SPDX-License-Identifier: Apache-2.0
// An instant of contact by layers: who may push, what they give each other, kicks.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "tempi/integrator/lattice/lattice_contact.hpp"

namespace tempi {
namespace {

constexpr std::size_t pairs_at_once = 64;
constexpr std::size_t blocks_worth_sharing = 8;  // two caches share the nodes of fewer at a loss

}  // namespace

void LatticeContact::strike(Fine now, State& state) {
  const int zeros = std::countr_zero(static_cast<std::uint64_t>(now));
  for (Section& section : sections_) {
    const Section::Level* due = nullptr;
    for (const Section::Level& level : section.levels)
      if (level.exponent <= zeros) due = &level;
    if (due != nullptr) strike(section, *due, zeros, now, state);
  }
}

// Forces of all pairs first, then kicks: what is not touched leaves no trace in sums either. The impulses of a vertex
// are summed in the order of its pairs, by the thread that has the vertex: the same bits on any number of threads.
void LatticeContact::strike(Section& section, const Section::Level& due, int zeros, Fine now, State& state) {
  const double at = in_ticks(now);
  section.rigid.set_lines(at);
  const std::size_t blocks = (due.pairs.size() + pairs_of_block - 1) / pairs_of_block;
  const bool is_shared = team_->size() > 1 && blocks >= blocks_worth_sharing;
  ThreadTeam& team = is_shared ? *team_ : alone_;
  const auto shares = static_cast<std::size_t>(team.size());
  const std::size_t at_once = section.takes || is_shared ? blocks : 1;
  if (blocks_.size() < at_once) {
    blocks_.resize(at_once);
    pushes_.resize(at_once * pairs_of_block);
    pushing_.resize(pushes_.size());
  }
  if (section.takes && taking_.size() < pushes_.size()) taking_.resize(pushes_.size());
  const auto each_share = [&](auto&& what) {
    team.for_each(team.size(), [&](Index k) { what(static_cast<std::size_t>(k)); });
  };
  for (std::size_t k = 0; k < shares; ++k) {
    shares_[k].from = is_shared ? due.vertices_from[k] : 0;
    shares_[k].to = is_shared ? due.vertices_from[k + 1] : std::numeric_limits<std::int32_t>::max();
  }
  for (std::size_t first = 0; first < blocks; first += at_once) {
    const std::size_t some = std::min(at_once, blocks - first);
    const auto each_block = [&](auto&& what) {
      each_share([&](std::size_t k) {
        for (std::size_t i = k * some / shares; i < (k + 1) * some / shares; ++i)
          what(is_shared ? static_cast<std::size_t>(due.order[i]) : i);
      });
    };
    each_block([&](std::size_t b) {
      const std::size_t begin = (first + b) * pairs_of_block;
      const std::size_t size = std::min(pairs_of_block, due.pairs.size() - begin);
      look(section, std::span(due.pairs).subspan(begin, size), b, zeros, at);
    });
    for (std::size_t b = 0; b < some; ++b) count(blocks_[b]);
    if (section.takes) {
      each_share([&](std::size_t k) { count_taking(section, some, shares_[k]); });
      if (is_shared) each_block([&](std::size_t b) { take(section, b); });
    }
    each_share([&](std::size_t k) {
      each_block_of(some, shares_[k], [&](std::size_t b) {
        if (section.takes && !is_shared) take(section, b);  // while they are near
        add(section, b, shares_[k]);
      });
    });
  }
  each_share([&](std::size_t k) { kick(section, shares_[k], at); });
  kick_booked(section, shares, at, state);
  if (section.takes) sum_up_taken(state);
  state.constraints += std::exchange(held_, {});
  wake_faster();
}

// Those of some pairs due who may push, and what they do.
void LatticeContact::look(Section& section, std::span<const std::int32_t> due, std::size_t block, int zeros,
                          double now) {
  std::array<std::int32_t, pairs_of_block> looked_at;
  std::size_t size = 0;
  for (const std::int32_t i : due) {
    const Quiet& quiet = section.quiet[static_cast<std::size_t>(i)];
    looked_at[size] = i;
    __builtin_prefetch(&section.pairs[static_cast<std::size_t>(i)]);
    size += quiet.until <= now || std::max(0, quiet.exponent - zeros) < quiet.layer ? 1 : 0;
  }
  Block found;
  std::size_t next = block * pairs_of_block;
  for (std::size_t first = 0; first < size; first += pairs_at_once) {
    const auto some = std::span(looked_at).subspan(first, std::min(pairs_at_once, size - first));
    PairPush* pushes = &pushes_[next];
    look(section, some, zeros, now, pushes);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const PairPush& push = pushes[i];
      const auto k = static_cast<std::size_t>(some[i]);
      Pair& pair = section.pairs[k];
      section.quiet[k] = quiet_after(section, pair, push, now);
      if (push.near > pair.near) pair.near = push.near;
      if (push.touched == 0) continue;
      if (push.touched > pair.touched) pair.touched = push.touched;
      for (const std::int32_t v : pair.pair.vertices()) {
        found.lowest = std::min(found.lowest, v);
        found.highest = std::max(found.highest, v);
      }
      found.strikes += push.touched - std::max(0, pair.exponent - zeros);
      found.smallest_distance = std::min(found.smallest_distance, push.distance);
      found.fastest = std::max(found.fastest, -push.rate);
      if (&pushes_[next] != &push) pushes_[next] = push;
      pushing_[next++] = pair.pair;
    }
  }
  found.pushing = static_cast<std::int32_t>(next - block * pairs_of_block);
  blocks_[block] = found;
}

void LatticeContact::count(const Block& block) {
  counts_.strikes += block.strikes;
  counts_.smallest_distance = std::min(counts_.smallest_distance, block.smallest_distance);
  counts_.fastest = std::max(counts_.fastest, block.fastest);
}

// What layers due do to pairs, those of one kind at a time.
void LatticeContact::look(const Section& section, std::span<const std::int32_t> pairs, int zeros, double now,
                          PairPush* pushes) const {
  const SurfaceNodes nodes{section.node_of_vertex.data(), section.reference_of_vertex.data(), now, tick_,
                           section.takes ? section.correction_of_vertex.data() : nullptr};
  std::array<PairToPush, pairs_at_once> to_push;
  for (std::size_t begin = 0, end = 0; begin < pairs.size(); begin = end) {
    const SimplexPair kind = section.pairs[static_cast<std::size_t>(pairs[begin])].pair.kind;
    for (end = begin; end < pairs.size(); ++end) {
      const Pair& pair = section.pairs[static_cast<std::size_t>(pairs[end])];
      if (pair.pair.kind != kind) break;
      for (const std::int32_t vertex : pair.pair.vertices()) {
        const auto v = static_cast<std::size_t>(vertex);
        __builtin_prefetch(nodes.line[v]);
        __builtin_prefetch(nodes.reference + v);
        if (nodes.correction != nullptr) __builtin_prefetch(nodes.correction[v]);
      }
      to_push[end] = {pair.pair.vertex,
                      pair.constants.radii,
                      pair.constants.parallel_from,
                      pair.step,
                      std::max(0, pair.exponent - zeros),
                      pair.layers};
    }
    kernel_(kind, section.contact->layers(), nodes, std::span(to_push).subspan(begin, end - begin), pushes + begin);
  }
}

// Distances do not change faster than the fastest vertex of the one goes and that of the other, together.
LatticeContact::Quiet LatticeContact::quiet_after(const Section& section, const Pair& pair, const PairPush& push,
                                                  double now) const {
  Quiet quiet{never_quiet, 0, pair.exponent};
  if (section.contact->options().all_pairs) return quiet;
  while (quiet.layer < pair.layers && section.contact->distance(quiet.layer) > push.distance) ++quiet.layer;
  if (quiet.layer == pair.layers || !std::isfinite(push.distance)) return quiet;
  std::array<double, 2> speed{};
  for (std::size_t a = 0; a < pair.pair.vertices().size(); ++a) {
    const auto v = static_cast<std::size_t>(pair.pair.vertex[a]);
    double& of_side = speed[a < static_cast<std::size_t>(pair.pair.kind.first) ? 0 : 1];
    const std::int32_t path = section.path_of_vertex[v];
    of_side = std::max(of_side, path >= 0 ? piece_[static_cast<std::size_t>(path)].limit : section.rigid.speed(v));
  }
  constexpr double rounding = 64.0 * std::numeric_limits<double>::epsilon(), nearly = 1.0 - 1e-9;
  const double gap = push.distance - section.contact->distance(quiet.layer) - rounding * push.reach;
  if (gap > 0.0) quiet.until = now + nearly * gap / ((speed[0] + speed[1]) * tick_);
  return quiet;
}

void LatticeContact::wake(std::int32_t path) {
  for (Section& section : sections_) {
    const std::int32_t v = section.vertex_of_path[static_cast<std::size_t>(path)];
    if (v < 0) continue;
    for (auto i = static_cast<std::size_t>(section.first_of_vertex[static_cast<std::size_t>(v)]);
         i < static_cast<std::size_t>(section.first_of_vertex[static_cast<std::size_t>(v) + 1]); ++i)
      section.quiet[static_cast<std::size_t>(section.of_vertex[i])].until = never_quiet;
  }
}

void LatticeContact::wake_faster() {
  if (!any_faster_.exchange(false)) return;
  for (std::size_t p = 0; p < is_faster_.size(); ++p)
    if (is_faster_[p] != 0) {
      is_faster_[p] = 0;
      wake(static_cast<std::int32_t>(p));
    }
}

// Impulses on the vertices of a share, which are felt once all are known.
void LatticeContact::add(Section& section, std::size_t block, Share& share) {
  each_push_of(block, [&](std::size_t k) {
    const ContactPair& pair = pushing_[k];
    const PairPush& push = pushes_[k];
    for (std::size_t i = 0; i < pair.vertices().size(); ++i) {
      const std::int32_t vertex = pair.vertex[i];
      if (vertex < share.from || vertex >= share.to) continue;
      const auto v = static_cast<std::size_t>(vertex);
      Quad given = section.given[v];
      if (section.takes) {
        const auto& [kept, friction] = taking_[k];
        Quad rubbed = section.rubbed[v], withheld = section.withheld[v];
        for (std::size_t c = 0; c < 4; ++c) {
          given[c] += kept * push.impulse[i][c] + push.weight[i] * friction[c];
          rubbed[c] += push.weight[i] * friction[c];
          withheld[c] += (kept - 1.0) * push.impulse[i][c];
        }
        section.rubbed[v] = rubbed;
        section.withheld[v] = withheld;
      } else {
        for (std::size_t c = 0; c < 4; ++c) given[c] += push.impulse[i][c];
      }
      section.given[v] = given;
      if (std::exchange(section.is_pushed[v], 1) == 0) share.pushed.push_back(vertex);
    }
  });
}

void LatticeContact::feel(Section& section, std::size_t v, double now) {
  const auto line = static_cast<std::size_t>(section.line_of_vertex[v]);
  const auto given = std::exchange(section.given[v], {});
  nodes_.drift(line, now);
  NodeLine& node = nodes_.lines()[line];
  for (std::size_t c = 0; c < 3; ++c) node.velocity[c] += given[c] * node.inverse_mass;
}

void LatticeContact::kick(Section& section, Share& share, double now) {
  for (const std::int32_t vertex : share.pushed) {
    const auto v = static_cast<std::size_t>(vertex);
    section.is_pushed[v] = 0;
    if (section.takes) book_taken(section, v, now);
    const std::int32_t line = section.line_of_vertex[v];
    if (line < 0 || supports_.held(static_cast<std::size_t>(line)) >= 0) {
      share.booked.push_back(vertex);
      continue;
    }
    feel(section, v, now);
    follow(section.path_of_vertex[v], now);
  }
  share.pushed.clear();
}

// What is rigid and what is held have their impulses from outside, booked in the order of the vertices.
void LatticeContact::kick_booked(Section& section, std::size_t shares, double now, State& state) {
  std::vector<std::int32_t>& booked = shares_.front().booked;
  for (std::size_t k = 1; k < shares; ++k) {
    booked.insert(booked.end(), shares_[k].booked.begin(), shares_[k].booked.end());
    shares_[k].booked.clear();
  }
  std::ranges::sort(booked);
  for (const std::int32_t vertex : booked) {
    const auto v = static_cast<std::size_t>(vertex);
    if (const std::int32_t line = section.line_of_vertex[v]; line >= 0) {
      feel(section, v, now);
      supports_.settle_line(static_cast<std::size_t>(line), nodes_.lines(), state.supports);
      follow(section.path_of_vertex[v], now);
    } else {
      const auto p = std::exchange(section.given[v], {});
      const Vector given = {p[0], p[1], p[2]};
      held_.add(section.rigid.place(v, now), {-given[0], -given[1], -given[2]},
                -dot(given, section.rigid.velocity(v, now)));
    }
  }
  booked.clear();
}

}  // namespace tempi
