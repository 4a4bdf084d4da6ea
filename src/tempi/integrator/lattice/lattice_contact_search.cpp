// SPDX-License-Identifier: Apache-2.0
// Who came near enough in a window for a layer that was not there: paths of vertices, boxes swept, certified
// separation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/integrator/lattice/lattice_contact.hpp"

namespace tempi {
namespace {

constexpr Index pairs_at_once = 64, vertices_at_once = 1024;
constexpr int layers_added_at_once = 2;

// box_of(vertex).
bool sides_touch(const ContactPair& pair, auto&& box_of) {
  std::array<Bounds, 2> sides;
  for (std::size_t k = 0; k < pair.vertices().size(); ++k)
    sides[k < static_cast<std::size_t>(pair.kind.first) ? 0 : 1].take(box_of(static_cast<std::size_t>(pair.vertex[k])));
  return sides[0].touches(sides[1]);
}

}  // namespace

// Where a path is, and how it goes on. Paths may jump: two places at one time.
void LatticeContact::begin_piece(std::size_t path, double now) {
  const auto line = static_cast<std::size_t>(line_of_path_[path]);
  const NodeLine& node = nodes_.lines()[line];
  const double dt = (now - node.clock) * tick_;
  Bend bend{now, {}};
  for (std::size_t c = 0; c < 3; ++c)
    bend.place[c] = reference_[line][c] + (node.displacement[c] + node.velocity[c] * dt);
  std::vector<Bend>& of_path = paths_[path];
  if (of_path.empty() || of_path.back().time != now || of_path.back().place != bend.place) of_path.push_back(bend);
  Piece& piece = piece_[path];
  std::copy_n(node.velocity, 3, piece.velocity.begin());
  piece.since = now;
  piece.swerve = 0.0;
}

// How far the path may be from its pieces [m].
double LatticeContact::stray_until(std::size_t path, double now) const {
  const Piece& piece = piece_[path];
  return std::max(stray_[path], 0.5 * (now - piece.since) * tick_ * piece.swerve);
}

void LatticeContact::end_piece(std::size_t path, double now) {
  stray_[path] = stray_until(path, now);
  begin_piece(path, now);
}

// A node may have been kicked. A piece ends where it might go too far astray before the next kick; who counted on its
// speed may have to look earlier.
void LatticeContact::follow(std::int32_t path, double now) {
  constexpr double more = 1.5, rounding = 1.0 + 1e-12;
  const auto p = static_cast<std::size_t>(path);
  Piece& piece = piece_[p];
  const auto& v = nodes_.lines()[static_cast<std::size_t>(line_of_path_[p])].velocity;
  double speed = 0.0, off = 0.0;  // squared
  for (std::size_t c = 0; c < 3; ++c) {
    speed += v[c] * v[c];
    off += (v[c] - piece.velocity[c]) * (v[c] - piece.velocity[c]);
  }
  if (speed > piece.limit * piece.limit) {
    piece.limit = more * std::sqrt(speed);
    is_faster_[p] = 1;
    any_faster_.store(true, std::memory_order_relaxed);
  }
  if (off <= piece.swerve * piece.swerve && piece.tolerance >= 0.0) return;
  const double swerve = std::sqrt(off) * rounding;
  if (0.5 * (now - piece.since + piece.until_kick) * tick_ * swerve > piece.tolerance)
    end_piece(p, now);
  else
    piece.swerve = swerve;
}

void LatticeContact::note_before(std::span<const std::size_t> groups, double now) {
  for (const std::size_t g : groups)
    for (const std::int32_t path : moving_paths_of_group_[g]) {
      end_piece(static_cast<std::size_t>(path), now);
      wake(path);  // it will jump
    }
}

void LatticeContact::note(std::span<const std::size_t> groups, double now) {
  constexpr Index at_once = 2048;
  for (const std::size_t g : groups) {
    const std::vector<std::int32_t>& of_group = paths_of_group_[g];
    team_->for_each(std::ssize(of_group), at_once,
                    [&](Index i) { follow(of_group[static_cast<std::size_t>(i)], now); });
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
  for (std::size_t p = 0; p < piece_.size(); ++p) fastest = std::max(fastest, speed(p));
  for (std::size_t p = 0; p < piece_.size(); ++p) {
    double& limit = piece_[p].limit;
    limit = std::max({kept * limit, more * speed(p), of_fastest * fastest});
  }
  for (Section& section : sections_)
    if (!section.contact->options().all_pairs && !section.candidates.empty()) expect(section, to);
  begin_paths(to);
}

void LatticeContact::begin_again(double to) {
  counts_ = kept_counts_;
  if (corrections_) corrections_->go_back();
  for (Section& section : sections_)
    for (Quiet& quiet : section.quiet) quiet.until = never_quiet;
  begin_paths(to);
}

void LatticeContact::begin_paths(double to) {
  constexpr Index at_once = 1024;
  for (Section& section : sections_) {
    for (Pair& pair : section.pairs) pair.touched = pair.near = 0;
    if (section.rigid.begin(from_, to))
      for (Quiet& quiet : section.quiet) quiet.until = never_quiet;
  }
  choose_tolerances();
  for (std::size_t k = 0; k < ends_.size(); ++k)
    ends_[k] = from_ + (to - from_) * (static_cast<double>(k) / static_cast<double>(pieces_of_window));
  ends_.back() = to;
  team_->for_each(std::ssize(paths_), at_once, [&](Index i) {
    const auto p = static_cast<std::size_t>(i);
    paths_[p].clear();
    stray_[p] = 0.0;
    begin_piece(p, from_);
  });
}

// A small part of the way to the next layer that is not there; nothing, where none is left. Of whoever is in no
// candidate the box alone is asked for.
void LatticeContact::choose_tolerances() {
  constexpr double part = 0.002, of_outer = 0.05;
  for (Piece& piece : piece_)
    if (piece.tolerance >= 0.0) piece.tolerance = std::numeric_limits<double>::infinity();
  for (const Section& section : sections_) {
    if (section.contact->options().all_pairs) continue;
    const auto hold = [&](std::int32_t vertex, double tolerance) {
      if (const std::int32_t path = section.path_of_vertex[static_cast<std::size_t>(vertex)]; path >= 0) {
        double& of_path = piece_[static_cast<std::size_t>(path)].tolerance;
        of_path = std::min(of_path, tolerance);
      }
    };
    const auto way = [&](int layer) {
      return part * (section.contact->law().distance(layer) - section.contact->law().distance(layer + 1));
    };
    const double of_watched = way(0), of_others = of_outer * section.contact->law().outer;
    for (std::size_t v = 0; v < section.path_of_vertex.size(); ++v)
      hold(static_cast<std::int32_t>(v), section.is_watched[v] != 0 ? of_watched : of_others);
    for (const Pair& pair : section.pairs) {
      const double tolerance = pair.layers < most_layers(pair) ? way(pair.layers) : 0.0;
      for (const std::int32_t v : pair.pair.vertices()) hold(v, tolerance);
    }
  }
}

bool LatticeContact::missed(double to) {
  make_chords(to, false);
  bool any = false;
  for (Section& section : sections_) {
    if (section.contact->options().all_pairs) continue;
    find(section, to);
    any = add_missed(section, to) || any;
  }
  return any;
}

// Where a vertex has been in the window, or may have been, grown by half of what counts as near.
LatticeContact::Swept LatticeContact::sweep(const Section& section, std::size_t vertex, double to) const {
  const std::int32_t path_of_node = section.path_of_vertex[vertex];
  const Path path = path_of(section, vertex);
  const Vector begin = path.front().place, end = place(section, vertex, nodes_.lines(), to);
  Swept swept;
  swept.box.take(end);
  for (const Bend& bend : path) swept.box.take(bend.place);
  double grown_by = section.grown_by[vertex];
  if (path_of_node >= 0) grown_by += stray_until(static_cast<std::size_t>(path_of_node), to);
  double reach = 0.0;
  for (std::size_t c = 0; c < 3; ++c) {
    swept.way[c] = end[c] - begin[c];
    reach = std::max({reach, std::abs(swept.box.low[c]), std::abs(swept.box.high[c])});
  }
  swept.box.grow(grown_by + 1e-15 * reach);
  return swept;
}

// Straight from one time to another, straying as far as its pieces may.
Chord LatticeContact::chord(std::size_t path, double from, double to) const {
  Chord of_path = chord_of(paths_[path], from, to);
  of_path.stray += stray_[path];
  return of_path;
}

// Of those that somebody will look at, or of all.
void LatticeContact::make_chords(double to, bool of_all) {
  constexpr Index at_once = 64;
  constexpr std::size_t few = 8;  // bends, that pieces would tell no better
  for (double& end : ends_) end = std::min(end, to);
  team_->for_each(std::ssize(paths_), at_once, [&](Index i) {
    const auto p = static_cast<std::size_t>(i);
    if (!of_all && std::ranges::none_of(sections_, [&](const Section& section) {
          const std::int32_t v = section.vertex_of_path[p];
          return v >= 0 && section.is_watched[static_cast<std::size_t>(v)] != 0;
        }))
      return;
    end_piece(p, to);
    Chords& chords = chords_[p];
    chords.whole = chord(p, from_, to);
    chords.piece.clear();
    for (std::size_t k = 0; paths_[p].size() > few && k < pieces_of_window; ++k)
      chords.piece.push_back(chord(p, ends_[k], ends_[k + 1]));
  });
}

// Whether a pair came within the distance of a layer in the window: chords tell of most that it did not, then theirs in
// the pieces of the window, then every bend.
bool LatticeContact::came_closer(const Section& section, const ContactPair& pair, int layer, double to) const {
  const auto size = pair.vertices().size();
  const double distance = section.contact->surface().apart_at(pair, section.contact->distance(layer));
  std::array<std::size_t, 4> path{};  // or none
  constexpr auto none = std::numeric_limits<std::size_t>::max();
  bool in_pieces = false;
  for (std::size_t k = 0; k < size; ++k) {
    const std::int32_t of_vertex = section.path_of_vertex[static_cast<std::size_t>(pair.vertex[k])];
    path[k] = of_vertex < 0 ? none : static_cast<std::size_t>(of_vertex);
    in_pieces = in_pieces || (of_vertex >= 0 && !chords_[path[k]].piece.empty());
  }
  const auto apart = [&](double from, double until, auto&& chord_of_path) {
    std::array<Chord, 4> chords;
    for (std::size_t k = 0; k < size; ++k) {
      const auto v = static_cast<std::size_t>(pair.vertex[k]);
      chords[k] = path[k] != none ? chord_of_path(path[k]) : chord_of(section.rigid.path(v), from, until);
    }
    return chords_stay_apart(pair.kind, std::span(chords).first(size), distance);
  };
  if (apart(from_, to, [&](std::size_t p) { return chords_[p].whole; })) return false;
  if (!in_pieces) return comes_closer(section, pair, layer, from_, to);
  for (std::size_t k = 0; k < pieces_of_window; ++k) {
    const auto piece = [&](std::size_t p) {
      return chords_[p].piece.empty() ? chord(p, ends_[k], ends_[k + 1]) : chords_[p].piece[k];
    };
    if (!apart(ends_[k], ends_[k + 1], piece) && comes_closer(section, pair, layer, ends_[k], ends_[k + 1]))
      return true;
  }
  return false;
}

// Whether a pair comes within the distance of a layer between two times in the window.
bool LatticeContact::comes_closer(const Section& section, const ContactPair& pair, int layer, double from,
                                  double to) const {
  std::array<Path, 4> paths;
  double stray = 0.0;  // of both sides together, at most
  for (std::size_t k = 0; k < pair.vertices().size(); ++k) {
    const auto v = static_cast<std::size_t>(pair.vertex[k]);
    paths[k] = path_of(section, v);
    if (const std::int32_t path = section.path_of_vertex[v]; path >= 0) stray += stray_[static_cast<std::size_t>(path)];
  }
  const double distance = section.contact->surface().apart_at(pair, section.contact->distance(layer));
  return ever_closer(pair.kind, std::span(paths).first(pair.vertices().size()), from, to,
                     pair.kind.within ? std::max(0.0, distance - stray) : distance + stray);
}

// How many layers each pair near enough lacks. Whose vertices were all where they had been expected is near only if
// that was expected.
void LatticeContact::find(Section& section, double to) {
  const auto size = section.path_of_vertex.size();
  std::atomic<bool> good = section.searched.size() == size;
  if (good)
    team_->for_each(std::ssize(section.vertices_by_path), vertices_at_once, [&](Index i) {
      const auto v = static_cast<std::size_t>(section.vertices_by_path[static_cast<std::size_t>(i)]);
      const Swept swept = sweep(section, v, to);
      if (!section.searched[v].holds(swept.box)) good.store(false, std::memory_order_relaxed);
      if (section.is_watched[v] == 0) return;
      section.swept[v] = swept;
      section.is_off[v] = section.expected_in[v].holds(swept.box) ? 0 : 1;
    });
  ++section.windows_searched;
  if (!good) search(section, to);
  const bool is_expected = section.may_meet.size() == section.candidates.size();
  const auto are_off = [&](const ContactPair& pair) {
    return std::ranges::any_of(pair.vertices(),
                               [&](std::int32_t v) { return section.is_off[static_cast<std::size_t>(v)] != 0; });
  };
  count_lacking(
      section, layers_added_at_once,
      [&](std::size_t i) {
        const ContactPair& pair = section.candidates[i];
        return (!is_expected || section.may_meet[i] != 0 || are_off(pair)) &&
               sides_touch(pair, [&](std::size_t v) -> const Bounds& { return section.swept[v].box; });
      },
      [&](const ContactPair& pair, int layer) { return came_closer(section, pair, layer, to); });
}

// Who may be near while vertices stay where some windows' motion takes them: of more windows where few are near.
void LatticeContact::search(Section& section, double to) {
  constexpr double least_ahead = 4.0, most_ahead = 16.0, least_slack = 0.05, most_slack = 0.5;
  constexpr Index soon = 8, late = 32;  // windows
  make_chords(to, true);
  const auto size = section.path_of_vertex.size();
  const double ahead = std::clamp(static_cast<double>(size) / static_cast<double>(section.candidates.size() + 1),
                                  least_ahead, most_ahead);
  if (const Index lasted = std::exchange(section.windows_searched, 0); lasted > late || lasted < soon)
    section.slack = std::clamp(lasted > late ? 0.5 * section.slack : 2.0 * section.slack, least_slack, most_slack);
  section.searched.resize(size);
  for (std::size_t v = 0; v < size; ++v) {
    const Swept swept = section.swept[v] = sweep(section, v, to);
    Bounds& box = section.searched[v] = swept.box;
    for (std::size_t c = 0; c < 3; ++c) (swept.way[c] > 0.0 ? box.high : box.low)[c] += ahead * swept.way[c];
    const std::int32_t path = section.path_of_vertex[v];
    box.grow(section.slack * section.contact->law().outer +
             (path < 0 ? 0.0 : ahead * chords_[static_cast<std::size_t>(path)].whole.stray));
  }
  section.contact->surface().find_pairs(section.searched, section.search, section.candidates);
  section.may_meet.clear();
  leave_out_far(section, to);
  std::ranges::fill(section.is_watched, 0);
  for (const ContactPair& pair : section.candidates)
    for (const std::int32_t v : pair.vertices()) section.is_watched[static_cast<std::size_t>(v)] = 1;
}

// Of candidates that are near(place among them): closer(pair, layer), whether it comes within the distance of that
// layer.
template <class Near, class Closer>
void LatticeContact::count_lacking(Section& section, int most, Near&& near, Closer&& closer) {
  section.lacking.assign(section.candidates.size(), 0);
  team_->for_each(std::ssize(section.candidates), pairs_at_once, [&](Index i) {
    if (!near(static_cast<std::size_t>(i))) return;
    const ContactPair& pair = section.candidates[static_cast<std::size_t>(i)];
    const auto there = std::ranges::lower_bound(section.pairs, pair, {}, &Pair::pair);
    const int layers = there != section.pairs.end() && there->pair == pair ? there->layers : 0;
    std::int8_t& lacking = section.lacking[static_cast<std::size_t>(i)];
    while (lacking < most && layers + lacking < LayeredContact::most_layers && closer(pair, layers + lacking))
      ++lacking;
  });
}

// Who would be found missing if vertices went on as they go, straying from that as lately, had better be there from the
// beginning. Where they are pushed they will not go on so: of layers behind the first one is expected at a time, no
// more than one beyond those within whose distance the pair was, and only such as bring no finer instants.
void LatticeContact::expect(Section& section, double to) {
  const double outer = section.contact->law().outer;
  team_->for_each(std::ssize(section.expected), vertices_at_once, [&](Index i) {
    const auto v = static_cast<std::size_t>(i);
    if (section.is_watched[v] == 0) return;
    const std::int32_t path = section.path_of_vertex[v];
    const Chord chord =
        section.expected[v] = {place(section, v, nodes_.lines(), from_), place(section, v, nodes_.lines(), to),
                               path < 0 ? 0.0
                                        : 0.05 * outer + 2.0 * chords_[static_cast<std::size_t>(path)].whole.stray};
    Bounds& box = section.expected_in[v] = {};
    box.take(chord.begin);
    box.take(chord.end);
    box.grow(section.grown_by[v] + chord.stray);
  });
  section.may_meet.resize(section.candidates.size());
  count_lacking(
      section, 1,
      [&](std::size_t i) {
        const bool near =
            sides_touch(section.candidates[i], [&](std::size_t v) -> const Bounds& { return section.expected_in[v]; });
        return (section.may_meet[i] = near ? 1 : 0) != 0;
      },
      [&](const ContactPair& pair, int layer) {
        if (layer > 0) {
          const auto there = std::ranges::lower_bound(section.pairs, pair, {}, &Pair::pair);
          if (there->near + 1 < layer || there->exponent - layer < section.levels.front().exponent) return false;
        }
        std::array<Chord, 4> chords;
        for (std::size_t k = 0; k < pair.vertices().size(); ++k)
          chords[k] = section.expected[static_cast<std::size_t>(pair.vertex[k])];
        return !chords_stay_apart(pair.kind, std::span(chords).first(pair.vertices().size()),
                                  section.contact->surface().apart_at(pair, section.contact->distance(layer)));
      });
  add_lacking(section);
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
  team_->for_each(std::ssize(is_far), pairs_at_once, [&](Index i) {
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
          there < most_layers(fresh(section, other, 0)) && comes_closer(section, other, there, from_, before))
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
  for (std::size_t i = 0; i < section.candidates.size(); ++i) {
    if (section.lacking[i] == 0) continue;
    const auto there = std::ranges::lower_bound(section.pairs, section.candidates[i], {}, &Pair::pair);
    if (there != section.pairs.end() && there->pair == section.candidates[i] && there->layers == most_layers(*there))
      require_others_before(section, section.candidates[i], to);
  }
  return add_lacking(section);
}

bool LatticeContact::add_lacking(Section& section) {
  bool any = false;
  std::vector<Pair> more;
  for (std::size_t i = 0; i < section.candidates.size(); ++i) {
    if (section.lacking[i] == 0) continue;
    const ContactPair& key = section.candidates[i];
    const auto there = std::ranges::lower_bound(section.pairs, key, {}, &Pair::pair);
    const bool is_there = there != section.pairs.end() && there->pair == key;
    Pair pair = is_there ? *there : fresh(section, key, 0);
    const std::int32_t layers = std::min(pair.layers + section.lacking[i], most_layers(pair));
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
