// SPDX-License-Identifier: Apache-2.0
// Who came near enough in a window for a layer that was not there: paths of vertices, boxes swept, certified
// separation.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "tempi/core/error.hpp"
#include "tempi/integrator/lattice/lattice_contact.hpp"

namespace tempi {
namespace {

constexpr Index pairs_at_once = 64;
constexpr int layers_added_at_once = 2;

}  // namespace

LatticeContact::Vector LatticeContact::place_of_path(std::size_t path, double now) const {
  const auto line = static_cast<std::size_t>(line_of_path_[path]);
  const NodeLine& node = nodes_.lines()[line];
  const double dt = (now - node.clock) * tick_;
  Vector x;
  for (std::size_t c = 0; c < 3; ++c) x[c] = reference_[line][c] + (node.displacement[c] + node.velocity[c] * dt);
  return x;
}

// Paths may jump: two places at one time.
void LatticeContact::bend(std::int32_t path, double now) {
  std::vector<Bend>& of_path = paths_[static_cast<std::size_t>(path)];
  const Bend bend{now, place_of_path(static_cast<std::size_t>(path), now)};
  if (of_path.empty() || of_path.back().time != now || of_path.back().place != bend.place) of_path.push_back(bend);
  hold_to_limit(path);
}

// A node may have been kicked.
void LatticeContact::follow(std::int32_t path, double now) {
  kept_[static_cast<std::size_t>(path)] == bends ? bend(path, now) : note_swerve(path);
}

// How far a path that is not kept may have gone astray.
void LatticeContact::note_swerve(std::int32_t path) {
  const auto p = static_cast<std::size_t>(path);
  const auto& v = nodes_.lines()[static_cast<std::size_t>(line_of_path_[p])].velocity;
  double squared = 0.0;
  for (std::size_t c = 0; c < 3; ++c) squared += (v[c] - velocity_before_[p][c]) * (v[c] - velocity_before_[p][c]);
  if (squared > swerve_[p] * swerve_[p]) swerve_[p] = std::sqrt(squared) * (1.0 + 1e-12);
  hold_to_limit(path);
}

void LatticeContact::note_before(std::span<const std::size_t> groups, double now) {
  end_pieces(now);
  for (const std::size_t g : groups)
    for (const std::int32_t path : moving_paths_of_group_[g]) {
      bend(path, now);
      wake(path);  // it will jump
    }
}

void LatticeContact::note(std::span<const std::size_t> groups, double now) {
  constexpr Index at_once = 2048;
  for (const std::size_t g : groups) {
    const std::vector<std::int32_t>& of_group = paths_of_group_[g];
    team_.for_each(std::ssize(of_group), at_once, [&](Index i) { follow(of_group[static_cast<std::size_t>(i)], now); });
  }
  wake_faster();
}

void LatticeContact::begin(double from, double to) {
  constexpr double kept = 0.9, more = 1.5, of_fastest = 0.02;
  from_ = from;
  kept_counts_ = counts_;
  if (corrections_) corrections_->keep();
  double fastest = 0.0;
  const auto speed = [&](std::size_t path) {
    const auto& v = nodes_.lines()[static_cast<std::size_t>(line_of_path_[path])].velocity;
    return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  };
  for (std::size_t p = 0; p < limit_.size(); ++p) fastest = std::max(fastest, speed(p));
  for (std::size_t p = 0; p < limit_.size(); ++p)
    limit_[p] = std::max({kept * limit_[p], more * speed(p), of_fastest * fastest});
  std::ranges::fill(wanted_, swerve);
  note_near();
  begin_paths(to);
}

void LatticeContact::begin_again(double to) {
  counts_ = kept_counts_;
  if (corrections_) corrections_->go_back();
  for (Section& section : sections_)
    for (Quiet& quiet : section.quiet) quiet.until = -std::numeric_limits<double>::infinity();
  begin_paths(to);
}

void LatticeContact::begin_paths(double to) {
  constexpr Index at_once = 1024;
  for (Section& section : sections_)
    for (Pair& pair : section.pairs) pair.touched = pair.near = 0;
  kept_ = wanted_;
  for (const std::vector<std::int32_t>& moving : moving_paths_of_group_)
    for (const std::int32_t path : moving) kept_[static_cast<std::size_t>(path)] = bends;
  in_pieces_.clear();
  for (std::size_t p = 0; p < kept_.size(); ++p)
    if (kept_[p] == pieces) in_pieces_.push_back(static_cast<std::int32_t>(p));
  ends_ = ends_of_pieces(to);
  ended_ = 0;
  team_.for_each(std::ssize(paths_), at_once, [&](Index i) {
    const auto p = static_cast<std::size_t>(i);
    paths_[p].clear();
    chords_[p].piece.clear();
    chords_[p].most_of_piece = 0.0;
    bend(static_cast<std::int32_t>(i), from_);
    begin_swerve(p);
  });
}

bool LatticeContact::missed(double to) {
  make_chords(to);
  bool any = false;
  for (Section& section : sections_) {
    if (section.contact->options().all_pairs) continue;
    any = find(section, to) || any;
    any = add_missed(section, to) || any;
  }
  return any;
}

// Where the vertices have been in the window, or may have been, grown by half of what counts as near.
void LatticeContact::sweep(Section& section, double to) const {
  const auto vertices = section.contact->surface().vertices();
  const double grown = 0.5 * section.contact->law().outer * (1.0 + 1e-6);
  section.swept.assign(vertices.size(), {});
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    Swept& swept = section.swept[v];
    const std::int32_t path = section.path_of_vertex[v];
    const auto p = static_cast<std::size_t>(path);
    const Vector begin = path < 0 ? place(section, v, {}, from_) : paths_[p].front().place;
    const Vector end = place(section, v, nodes_.lines(), to);
    swept.box.take(begin);
    swept.box.take(end);
    double grown_by = grown + vertices[v].radius;
    if (path >= 0 && kept_[p] == swerve) {
      swept.stray = swerve_[p] * (to - from_) * tick_;
      grown_by += swept.stray;
    } else if (path >= 0) {
      for (const Bend& bend : paths_[p]) swept.box.take(bend.place);
      for (const Chord& piece : chords_[p].piece) swept.box.take(piece.end);
      swept.stray = chords_[p].whole.stray;
      grown_by += chords_[p].most_of_piece;
    }
    double reach = 0.0;
    for (std::size_t c = 0; c < 3; ++c) {
      swept.way[c] = end[c] - begin[c];
      reach = std::max({reach, std::abs(swept.box.low[c]), std::abs(swept.box.high[c])});
    }
    swept.box.grow(grown_by + 1e-15 * reach);
  }
}

LatticeContact::Pieces LatticeContact::ends_of_pieces(double to) const {
  Pieces times{};
  for (std::size_t k = 0; k < times.size(); ++k)
    times[k] = from_ + (to - from_) * (static_cast<double>(k) / static_cast<double>(pieces_of_window));
  times.back() = to;
  return times;
}

// Pieces of the window that lie before `now`, at which something is about to happen.
void LatticeContact::end_pieces(double now) {
  while (ended_ + 1 < pieces_of_window && ends_[ended_ + 1] < now) end_piece(ends_[ended_ + 1]);
}

// A velocity that differs by no more than s from some other leads astray from the chord by no more than s times half
// of the time.
void LatticeContact::end_piece(double at) {
  constexpr Index at_once = 256;
  const double half = 0.5 * (at - ends_[ended_]) * tick_ * (1.0 + 1e-12);
  team_.for_each(std::ssize(in_pieces_), at_once, [&](Index i) {
    const auto p = static_cast<std::size_t>(in_pieces_[static_cast<std::size_t>(i)]);
    std::vector<Chord>& piece = chords_[p].piece;
    const auto begin = piece.empty() ? paths_[p].front().place : piece.back().end;
    piece.push_back({begin, place_of_path(p, at), half * swerve_[p]});
    begin_swerve(p);
  });
  ++ended_;
}

void LatticeContact::begin_swerve(std::size_t path) {
  swerve_[path] = 0.0;
  std::copy_n(nodes_.lines()[static_cast<std::size_t>(line_of_path_[path])].velocity, 3,
              velocity_before_[path].begin());
}

void LatticeContact::make_chords(double to) {
  constexpr Index at_once = 64;
  constexpr std::size_t few = 8;  // bends, that pieces would tell no better
  end_pieces(to);
  for (double& end : ends_) end = std::min(end, to);
  while (ended_ < pieces_of_window) end_piece(ends_[ended_ + 1]);
  team_.for_each(std::ssize(paths_), at_once, [&](Index i) {
    const auto p = static_cast<std::size_t>(i);
    if (kept_[p] == swerve) return;
    Chords& chords = chords_[p];
    if (kept_[p] == pieces) {
      chords.join_pieces(ends_);
      return;
    }
    if (paths_[p].back().time < to) bend(static_cast<std::int32_t>(i), to);
    chords.whole = chord_of(paths_[p], from_, to);
    for (std::size_t k = 0; paths_[p].size() > few && k < pieces_of_window; ++k)
      chords.piece.push_back(chord_of(paths_[p], ends_[k], ends_[k + 1]));
  });
}

// The whole of a path from its pieces.
void LatticeContact::Chords::join_pieces(const Pieces& ends) {
  whole = {piece.front().begin, piece.back().end, 0.0};
  most_of_piece = 0.0;
  double squared = 0.0;
  const double duration = ends.back() - ends.front();
  for (std::size_t k = 0; k < piece.size(); ++k) {
    most_of_piece = std::max(most_of_piece, piece[k].stray);
    const double s = duration > 0.0 ? (ends[k + 1] - ends.front()) / duration : 1.0;
    double off = 0.0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double d = piece[k].end[c] - (whole.begin[c] + s * (whole.end[c] - whole.begin[c]));
      off += d * d;
    }
    squared = std::max(squared, off);
  }
  whole.stray = std::sqrt(squared) + most_of_piece;
}

// Whether a pair came within the distance of a layer in the window: chords tell of most that it did not, then theirs in
// the pieces of the window, then every bend.
LatticeContact::Closer LatticeContact::came_closer(const Section& section, const ContactPair& pair, int layer,
                                                   double to) {
  const auto size = pair.vertices().size();
  const double distance = section.contact->surface().apart_at(pair, section.contact->distance(layer));
  std::array<const Chords*, 4> of{};
  bool in_pieces = false, in_bends = true;
  for (std::size_t k = 0; k < size; ++k)
    if (const std::int32_t path = section.path_of_vertex[static_cast<std::size_t>(pair.vertex[k])]; path >= 0) {
      of[k] = &chords_[static_cast<std::size_t>(path)];
      in_pieces = in_pieces || !of[k]->piece.empty();
      in_bends = in_bends && kept_[static_cast<std::size_t>(path)] == bends;
    }
  const auto apart = [&](double from, double until, auto&& chord_of_path) {
    std::array<Chord, 4> chords;
    for (std::size_t k = 0; k < size; ++k) {
      const auto v = static_cast<std::size_t>(pair.vertex[k]);
      chords[k] = of[k] != nullptr ? chord_of_path(*of[k], section.path_of_vertex[v])
                                   : Chord{place(section, v, {}, from), place(section, v, {}, until), 0.0};
    }
    return chords_stay_apart(pair.kind, std::span(chords).first(size), distance);
  };
  const auto by_bends = [&](double from, double until) {
    for (std::size_t k = 0; k < size; ++k)
      if (const std::int32_t path = section.path_of_vertex[static_cast<std::size_t>(pair.vertex[k])]; path >= 0)
        std::atomic_ref(is_asked_[static_cast<std::size_t>(path)]).store(1, std::memory_order_relaxed);
    if (!in_bends) return Closer::unknown;
    return comes_closer(section, pair, layer, from, until) ? Closer::yes : Closer::no;
  };
  if (apart(from_, to, [](const Chords& chords, std::int32_t) { return chords.whole; })) return Closer::no;
  if (!in_pieces) return by_bends(from_, to);
  for (std::size_t k = 0; k < pieces_of_window; ++k) {
    const auto piece = [&](const Chords& chords, std::int32_t path) {
      return !chords.piece.empty() ? chords.piece[k]
                                   : chord_of(paths_[static_cast<std::size_t>(path)], ends_[k], ends_[k + 1]);
    };
    if (apart(ends_[k], ends_[k + 1], piece)) continue;
    if (const Closer answer = by_bends(ends_[k], ends_[k + 1]); answer != Closer::no) return answer;
  }
  return Closer::no;
}

// Whether a pair comes within the distance of a layer between two times in the window.
bool LatticeContact::comes_closer(const Section& section, const ContactPair& pair, int layer, double from,
                                  double to) const {
  std::array<std::array<Bend, 2>, 4> rigid;
  std::array<Path, 4> paths;
  for (std::size_t k = 0; k < pair.vertices().size(); ++k) {
    const auto v = static_cast<std::size_t>(pair.vertex[k]);
    if (const std::int32_t path = section.path_of_vertex[v]; path >= 0) {
      paths[k] = paths_[static_cast<std::size_t>(path)];
    } else {
      rigid[k] = {Bend{from, place(section, v, {}, from)}, Bend{to, place(section, v, {}, to)}};
      paths[k] = rigid[k];
    }
  }
  return ever_closer(pair.kind, std::span(paths).first(pair.vertices().size()), from, to,
                     section.contact->surface().apart_at(pair, section.contact->distance(layer)));
}

// How many layers each pair near enough lacks. True where a path that is not kept matters: it is from now on.
bool LatticeContact::find(Section& section, double to) {
  constexpr double windows_ahead = 2.0;  // of motion, that a search is good for
  const LayeredContact& contact = *section.contact;
  sweep(section, to);
  const auto size = section.swept.size();
  bool good = section.searched.size() == size;
  for (std::size_t v = 0; good && v < size; ++v) good = section.searched[v].holds(section.swept[v].box);
  if (!good) {
    section.searched.resize(size);
    for (std::size_t v = 0; v < size; ++v) {
      const Swept& swept = section.swept[v];
      Bounds& box = section.searched[v] = swept.box;
      for (std::size_t c = 0; c < 3; ++c) (swept.way[c] > 0.0 ? box.high : box.low)[c] += windows_ahead * swept.way[c];
      box.grow(0.25 * contact.law().outer + windows_ahead * swept.stray);
    }
    contact.surface().find_pairs(section.searched, section.search, section.candidates);
    leave_out_far(section, to);
    note_near();
  }
  const auto apart = [&](const ContactPair& pair) {
    std::array<Bounds, 2> sides;
    for (std::size_t k = 0; k < pair.vertices().size(); ++k)
      sides[k < static_cast<std::size_t>(pair.kind.first) ? 0 : 1].take(
          section.swept[static_cast<std::size_t>(pair.vertex[k])].box);
    return !sides[0].touches(sides[1]);
  };
  section.lacking.assign(section.candidates.size(), 0);
  std::atomic<bool> unknown = false, coarse = false;  // for want of paths, of bends
  team_.for_each(std::ssize(section.candidates), pairs_at_once, [&](Index i) {
    const ContactPair& pair = section.candidates[static_cast<std::size_t>(i)];
    if (apart(pair)) return;
    for (const std::int32_t v : pair.vertices())
      if (const std::int32_t path = section.path_of_vertex[static_cast<std::size_t>(v)];
          path >= 0 && kept_[static_cast<std::size_t>(path)] == swerve) {
        unknown.store(true, std::memory_order_relaxed);
        return;
      }
    const auto there = std::ranges::lower_bound(section.pairs, pair, {}, &Pair::pair);
    const int layers = there != section.pairs.end() && there->pair == pair ? there->layers : 0;
    std::int8_t& lacking = section.lacking[static_cast<std::size_t>(i)];
    while (lacking < layers_added_at_once && layers + lacking < LayeredContact::most_layers) {
      const Closer answer = came_closer(section, pair, layers + lacking, to);
      if (answer == Closer::unknown) coarse.store(true, std::memory_order_relaxed);
      if (answer != Closer::yes) return;
      ++lacking;
    }
  });
  if (coarse) {
    patience_ *= 2.0;
    for (std::size_t p = 0; p < is_asked_.size(); ++p)
      if (is_asked_[p] != 0) wanted_[p] = bends;
  }
  return unknown || coarse;
}

// Boxes of faces in one plane touch where faces do not. Left out are pairs that are too far from each other for
// anything that vertices may do in their boxes.
void LatticeContact::leave_out_far(Section& section, double to) {
  const LayeredContact& contact = *section.contact;
  const double outer = contact.law().outer, grown = 0.5 * outer;  // or a little more
  std::vector<Vector> place_of(section.searched.size());
  std::vector<double> reach(place_of.size());  // of each vertex, within its box
  for (std::size_t v = 0; v < reach.size(); ++v) {
    place_of[v] = place(section, v, nodes_.lines(), to);
    double squared = 0.0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double way =
          std::max(section.searched[v].high[c] - place_of[v][c], place_of[v][c] - section.searched[v].low[c]) - grown -
          contact.surface().vertices()[v].radius;
      squared += way * way;
    }
    reach[v] = std::sqrt(squared);
  }
  std::vector<char> is_far(section.candidates.size(), 0);
  team_.for_each(std::ssize(is_far), pairs_at_once, [&](Index i) {
    const ContactPair& pair = section.candidates[static_cast<std::size_t>(i)];
    std::array<Vector, 4> x{};
    std::array<double, 2> farthest{};
    for (std::size_t k = 0; k < pair.vertices().size(); ++k) {
      const auto v = static_cast<std::size_t>(pair.vertex[k]);
      x[k] = place_of[v];
      double& of_side = farthest[k < static_cast<std::size_t>(pair.kind.first) ? 0 : 1];
      of_side = std::max(of_side, reach[v]);
    }
    const double apart = closest_points(pair.kind, std::span(x).first(pair.vertices().size())).distance;
    is_far[static_cast<std::size_t>(i)] =
        contact.surface().gap(pair, apart) - 1e-9 * apart > outer + farthest[0] + farthest[1] ? 1 : 0;
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < is_far.size(); ++i)
    if (is_far[i] == 0) section.candidates[kept++] = section.candidates[i];
  section.candidates.resize(kept);
}

// Within a window more and more.
void LatticeContact::note_wanted(std::size_t path) {
  wanted_[path] = std::max(wanted_[path], unasked_[path] >= patience_ ? pieces : bends);
}
void LatticeContact::note_near() {
  for (const Section& section : sections_)
    for (const ContactPair& pair : section.candidates)
      for (const std::int32_t v : pair.vertices())
        if (const std::int32_t path = section.path_of_vertex[static_cast<std::size_t>(v)]; path >= 0)
          note_wanted(static_cast<std::size_t>(path));
}

// A pair that has all the layers there are came closer still. Of a motion that had missed others before that tells
// nothing yet; otherwise nothing stops it.
void LatticeContact::require_others_before(const Section& section, const ContactPair& key, double to) const {
  const auto layers_of = [&](const ContactPair& pair) {
    const auto there = std::ranges::lower_bound(section.pairs, pair, {}, &Pair::pair);
    return there != section.pairs.end() && there->pair == pair ? there->layers : 0;
  };
  const int layers = layers_of(key);
  double before = from_, after = to;  // it happens between
  for (int k = 0; k < 40; ++k) {
    const double middle = 0.5 * (before + after);
    (comes_closer(section, key, layers, from_, middle) ? after : before) = middle;
  }
  for (std::size_t i = 0; i < section.candidates.size(); ++i)
    if (const ContactPair& other = section.candidates[i]; section.lacking[i] > 0 && other != key)
      if (const int there = layers_of(other);
          there < std::min(exponent(*section.contact, other) + 1, LayeredContact::most_layers) &&
          comes_closer(section, other, there, from_, before))
        return;
  std::array<Vector, 4> x;
  for (std::size_t k = 0; k < key.vertices().size(); ++k)
    x[k] = place(section, static_cast<std::size_t>(key.vertex[k]), nodes_.lines(), after);
  throw StepError(
      fmt::format("{} came closer than {} layers of contact could stop, at t = {:.9g} s: the steps of more would be "
                  "below what time "
                  "resolves ({:.3g} s). Give a larger stiffness or distance, or a smaller step to the model.",
                  section.contact->describe(key, std::span(x).first(key.vertices().size())), layers, after * tick_,
                  std::ldexp(tick_, -fine_bits)),
      after * tick_);
}

bool LatticeContact::add_missed(Section& section, double to) {
  bool any = false;
  std::vector<Pair> more;
  const auto most = [&](const Pair& pair) { return std::min(pair.exponent + 1, LayeredContact::most_layers); };
  for (std::size_t i = 0; i < section.candidates.size(); ++i) {
    if (section.lacking[i] == 0) continue;
    const auto there = std::ranges::lower_bound(section.pairs, section.candidates[i], {}, &Pair::pair);
    if (there != section.pairs.end() && there->pair == section.candidates[i] && there->layers == most(*there))
      require_others_before(section, section.candidates[i], to);
  }
  for (std::size_t i = 0; i < section.candidates.size(); ++i) {
    if (section.lacking[i] == 0) continue;
    const ContactPair& key = section.candidates[i];
    const auto there = std::ranges::lower_bound(section.pairs, key, {}, &Pair::pair);
    const bool is_there = there != section.pairs.end() && there->pair == key;
    Pair pair = is_there ? *there : fresh(section, key, 0);
    const std::int32_t layers = std::min(pair.layers + section.lacking[i], most(pair));
    if (layers == pair.layers) continue;
    any = true;
    pair.layers = layers;
    pair.used = window_;
    if (is_there)
      *there = pair;
    else
      more.push_back(pair);
  }
  if (!any) return false;
  const auto middle = std::ssize(section.pairs);
  section.pairs.insert(section.pairs.end(), more.begin(), more.end());
  std::ranges::inplace_merge(section.pairs, section.pairs.begin() + middle, {}, &Pair::pair);
  make_levels(section);
  return true;
}

}  // namespace tempi
