// SPDX-License-Identifier: Apache-2.0
// Who came near enough in a window for a layer that was not there: paths of vertices, boxes swept, certified
// separation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tempi/core/error.hpp"
#include "tempi/integrator/lattice/lattice_contact.hpp"

namespace tempi {
namespace {

constexpr Index pairs_at_once = 64;
constexpr int layers_added_at_once = 2;

}  // namespace

// Paths may jump: two places at one time.
void LatticeContact::bend(std::int32_t path, double now) {
  std::vector<Bend>& bends = paths_[static_cast<std::size_t>(path)];
  const auto line = static_cast<std::size_t>(line_of_path_[static_cast<std::size_t>(path)]);
  const NodeLine& node = nodes_.lines()[line];
  const double dt = (now - node.clock) * tick_;
  Bend bend{now, {}};
  for (std::size_t c = 0; c < 3; ++c)
    bend.place[c] = reference_[line][c] + (node.displacement[c] + node.velocity[c] * dt);
  if (bends.empty() || bends.back().time != now || bends.back().place != bend.place) bends.push_back(bend);
}

void LatticeContact::note_before(std::span<const std::size_t> groups, double now) {
  for (const std::size_t g : groups)
    for (const std::int32_t path : moving_paths_of_group_[g]) bend(path, now);
}

void LatticeContact::note(std::span<const std::size_t> groups, double now) {
  constexpr Index at_once = 1024;
  for (const std::size_t g : groups) {
    const std::vector<std::int32_t>& of_group = paths_of_group_[g];
    team_.for_each(std::ssize(of_group), at_once, [&](Index i) { bend(of_group[static_cast<std::size_t>(i)], now); });
  }
}

void LatticeContact::begin(double from) {
  from_ = from;
  kept_counts_ = counts_;
  begin_again();
}

void LatticeContact::begin_again() {
  constexpr Index at_once = 1024;
  counts_ = kept_counts_;
  for (Section& section : sections_)
    for (Pair& pair : section.pairs) pair.touched = pair.near = 0;
  team_.for_each(std::ssize(paths_), at_once, [&](Index i) {
    paths_[static_cast<std::size_t>(i)].clear();
    bend(static_cast<std::int32_t>(i), from_);
  });
}

bool LatticeContact::missed(double to) {
  constexpr Index at_once = 1024;
  team_.for_each(std::ssize(paths_), at_once, [&](Index i) {
    if (paths_[static_cast<std::size_t>(i)].back().time < to) bend(static_cast<std::int32_t>(i), to);
  });
  bool any = false;
  for (Section& section : sections_) {
    if (section.contact->options().all_pairs) continue;
    find(section, to);
    any = add_missed(section, to) || any;
  }
  return any;
}

// Where the vertices have been in the window, grown by half of what counts as near.
std::vector<Bounds> LatticeContact::swept(const Section& section, double to) const {
  const auto vertices = section.contact->surface().vertices();
  std::vector<Bounds> boxes(vertices.size());
  const double grown = 0.5 * section.contact->law().outer * (1.0 + 1e-6);
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    if (vertices[v].is_rigid())
      for (const double t : {from_, to}) boxes[v].take(place(section, v, {}, t));
    else
      for (const Bend& bend : paths_[static_cast<std::size_t>(section.path_of_vertex[v])]) boxes[v].take(bend.place);
    double reach = 0.0;
    for (std::size_t c = 0; c < 3; ++c)
      reach = std::max({reach, std::abs(boxes[v].low[c]), std::abs(boxes[v].high[c])});
    boxes[v].grow(grown + vertices[v].radius + 1e-15 * reach);
  }
  return boxes;
}

// Whether a pair came within the distance of a layer, from the beginning of the window on.
bool LatticeContact::comes_closer(const Section& section, const ContactPair& pair, int layer, double to) const {
  std::array<std::array<Bend, 2>, 4> rigid;
  std::array<Path, 4> paths;
  for (std::size_t k = 0; k < pair.vertices().size(); ++k) {
    const auto v = static_cast<std::size_t>(pair.vertex[k]);
    if (const std::int32_t path = section.path_of_vertex[v]; path >= 0) {
      paths[k] = paths_[static_cast<std::size_t>(path)];
    } else {
      rigid[k] = {Bend{from_, place(section, v, {}, from_)}, Bend{to, place(section, v, {}, to)}};
      paths[k] = rigid[k];
    }
  }
  return ever_closer(pair.kind, std::span(paths).first(pair.vertices().size()), from_, to,
                     section.contact->distance(layer) + section.contact->surface().radii(pair));
}

// How many layers each pair near enough lacks.
void LatticeContact::find(Section& section, double to) {
  constexpr double windows_ahead = 1.0;  // of motion, that a search is good for
  const LayeredContact& contact = *section.contact;
  const auto vertices = contact.surface().vertices();
  const std::vector<Bounds> boxes = swept(section, to);
  const auto is_held = [&](std::size_t v) { return section.searched[v].holds(boxes[v]); };
  bool good = section.searched.size() == boxes.size();
  for (std::size_t v = 0; good && v < boxes.size(); ++v) good = is_held(v);
  if (!good) {
    double motion = 0.0;
    for (std::size_t v = 0; v < boxes.size(); ++v)
      for (std::size_t c = 0; c < static_cast<std::size_t>(contact.surface().dim()); ++c)
        motion = std::max(motion, boxes[v].high[c] - boxes[v].low[c] - 2.0 * vertices[v].radius);
    section.searched = boxes;
    for (Bounds& box : section.searched) box.grow(windows_ahead * std::max(0.0, motion - contact.law().outer));
    contact.surface().find_pairs(section.searched, section.search, section.candidates);
  }
  const auto apart = [&](const ContactPair& pair) {
    std::array<Bounds, 2> sides;
    for (std::size_t k = 0; k < pair.vertices().size(); ++k)
      sides[k < static_cast<std::size_t>(pair.kind.first) ? 0 : 1].take(
          boxes[static_cast<std::size_t>(pair.vertex[k])]);
    return !sides[0].touches(sides[1]);
  };
  section.lacking.assign(section.candidates.size(), 0);
  team_.for_each(std::ssize(section.candidates), pairs_at_once, [&](Index i) {
    const ContactPair& pair = section.candidates[static_cast<std::size_t>(i)];
    if (apart(pair)) return;
    const auto there = std::ranges::lower_bound(section.pairs, pair, {}, &Pair::pair);
    const int layers = there != section.pairs.end() && there->pair == pair ? there->layers : 0;
    std::int8_t& lacking = section.lacking[static_cast<std::size_t>(i)];
    while (lacking < layers_added_at_once && layers + lacking < LayeredContact::most_layers &&
           comes_closer(section, pair, layers + lacking, to))
      ++lacking;
  });
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
    (comes_closer(section, key, layers, middle) ? after : before) = middle;
  }
  for (std::size_t i = 0; i < section.candidates.size(); ++i)
    if (const ContactPair& other = section.candidates[i]; section.lacking[i] > 0 && other != key)
      if (const int there = layers_of(other);
          there < std::min(exponent(*section.contact, other) + 1, LayeredContact::most_layers) &&
          comes_closer(section, other, there, before))
        return;
  std::array<Vector, 4> x;
  for (std::size_t k = 0; k < key.vertices().size(); ++k)
    x[k] = place(section, static_cast<std::size_t>(key.vertex[k]), nodes_.lines(), after);
  throw SolveError(
      fmt::format("{} came closer than {} layers of contact could stop, at t = {:.9g} s: the steps of more would be "
                  "below what time "
                  "resolves ({:.3g} s). Give a larger stiffness or distance, or a smaller step to the model.",
                  section.contact->describe(key, std::span(x).first(key.vertices().size())), layers, after * tick_,
                  std::ldexp(tick_, -fine_bits)));
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
