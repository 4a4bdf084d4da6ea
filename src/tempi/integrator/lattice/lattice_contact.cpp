// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_contact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

constexpr Index pairs_at_once = 64;
constexpr Index windows_kept = 3;  // a layer that nobody touches
constexpr int layers_added_at_once = 2;

double dot(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

}  // namespace

LatticeContact::LatticeContact(const Model& model, const LatticeGroups& plan, LatticeNodes& nodes,
                               LatticeSupports& supports, ThreadTeam& team, double tick)
    : nodes_(nodes),
      supports_(supports),
      team_(team),
      tick_(tick),
      path_of_line_(plan.node_of_line.size(), -1),
      reference_(plan.node_of_line.size(), Vector{}) {
  const auto d = static_cast<std::size_t>(model.dim());
  for (std::size_t i = 0; i < reference_.size(); ++i)
    std::copy_n(&model.reference()[ordinal(plan.node_of_line[i]) * d], d, reference_[i].begin());
  for (const auto& contact : model.layers()) {
    Section section;
    section.contact = contact.get();
    for (const ContactSurface::Vertex& vertex : contact->surface().vertices()) {
      const std::int32_t line = vertex.is_rigid() ? -1 : plan.line(vertex.node);
      section.line_of_vertex.push_back(line);
      if (line >= 0 && path_of_line_[static_cast<std::size_t>(line)] < 0) {
        path_of_line_[static_cast<std::size_t>(line)] = static_cast<std::int32_t>(line_of_path_.size());
        line_of_path_.push_back(line);
      }
      section.path_of_vertex.push_back(line < 0 ? -1 : path_of_line_[static_cast<std::size_t>(line)]);
    }
    section.has_sides = std::ranges::any_of(contact->surface().vertices(),
                                            [](const auto& v) { return v.sides == ContactSurface::first; });
    section.pushes.resize(section.line_of_vertex.size());
    section.place_of_vertex.resize(section.line_of_vertex.size());
    sections_.push_back(std::move(section));
  }
  forget();
  paths_.resize(line_of_path_.size());
  is_pushed_.resize(line_of_path_.size(), 0);
  for (const LatticeGroup& group : plan.groups) {
    std::vector<std::int32_t>&of_group = paths_of_group_.emplace_back(),
    &moving = moving_paths_of_group_.emplace_back();
    for (const std::int32_t line : group.lines) {
      const std::int32_t path = path_of_line_[static_cast<std::size_t>(line)];
      if (path < 0) continue;
      of_group.push_back(path);
      if (model.supports().moves(plan.node_of_line[static_cast<std::size_t>(line)])) moving.push_back(path);
    }
  }
  for (const Section& section : sections_)
    if (const double step = section.contact->range_of_steps()[0]; step < std::ldexp(tick, -fine_bits))
      throw InputError(fmt::format(
          "{}: its first layer needs steps of {:.3g} s, below what time resolves, 2^-{} of the tick of {:.3g} "
          "s. Choose a smaller stiffness.",
          section.contact->name(), step, fine_bits, tick));
}

// The largest power of two within the step.
std::int32_t LatticeContact::exponent(const LayeredContact& contact, const ContactPair& pair) const {
  constexpr int longest = fine_bits + 20;
  const double fine = std::ldexp(contact.step(pair) / tick_, fine_bits);
  return fine < std::ldexp(1.0, longest) ? std::ilogb(fine) : longest;
}

LatticeContact::Vector LatticeContact::place(const Section& section, std::size_t vertex,
                                             std::span<const NodeLine> nodes, double now) const {
  const std::int32_t line = section.line_of_vertex[vertex];
  Vector x{};
  if (line < 0) {
    const ContactSurface::Vertex& rigid = section.contact->surface().vertices()[vertex];
    for (std::size_t c = 0; c < 3; ++c) x[c] = rigid.place[c] + rigid.velocity[c] * (now * tick_);
    return x;
  }
  // As LatticeNodes::drift has it, to the bit.
  const NodeLine& node = nodes[static_cast<std::size_t>(line)];
  const double dt = (now - node.clock) * tick_;
  for (std::size_t c = 0; c < 3; ++c)
    x[c] = reference_[static_cast<std::size_t>(line)][c] + (node.displacement[c] + node.velocity[c] * dt);
  return x;
}

void LatticeContact::make_levels(Section& section) {
  std::vector<std::int32_t> exponents;
  for (const Pair& pair : section.pairs) exponents.push_back(pair.exponent - pair.layers + 1);
  std::vector<std::int32_t> distinct = exponents;
  std::ranges::sort(distinct);
  distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
  section.levels.clear();
  for (const std::int32_t exponent : distinct) {
    Section::Level& level = section.levels.emplace_back();
    level.exponent = exponent;
    for (std::size_t i = 0; i < exponents.size(); ++i)
      if (exponents[i] <= exponent) level.pairs.push_back(static_cast<std::int32_t>(i));
    for (const std::int32_t i : level.pairs) {
      const auto vertices = section.pairs[static_cast<std::size_t>(i)].pair.vertices();
      level.vertices.insert(level.vertices.end(), vertices.begin(), vertices.end());
    }
    std::ranges::sort(level.vertices);
    level.vertices.erase(std::ranges::unique(level.vertices).begin(), level.vertices.end());
  }
}

LatticeContact::Fine LatticeContact::next(Fine done) const {
  Fine first = never;
  for (const Section& section : sections_)
    if (!section.levels.empty()) {
      const std::int32_t e = section.levels.front().exponent;
      first = std::min(first, ((done >> e) + 1) << e);
    }
  return first;
}

void LatticeContact::strike(Fine now, State& state) {
  const int zeros = std::countr_zero(static_cast<std::uint64_t>(now));
  for (Section& section : sections_) {
    const Section::Level* due = nullptr;
    for (const Section::Level& level : section.levels)
      if (level.exponent <= zeros) due = &level;
    if (due != nullptr) strike(section, *due, zeros, now, state);
  }
}

// Forces of all pairs first, then kicks in the order of the pairs: what is not touched leaves no trace in sums either.
void LatticeContact::strike(Section& section, const Section::Level& due, int zeros, Fine now, State& state) {
  const double at = in_ticks(now);
  constexpr Index vertices_at_once = 256;
  team_.for_each(std::ssize(due.vertices), vertices_at_once, [&](Index i) {
    const auto v = static_cast<std::size_t>(due.vertices[static_cast<std::size_t>(i)]);
    section.place_of_vertex[v] = place(section, v, nodes_.lines(), at);
  });
  pushes_.resize(due.pairs.size());
  team_.for_each(std::ssize(due.pairs), pairs_at_once, [&](Index i) {
    const Pair& pair = section.pairs[static_cast<std::size_t>(due.pairs[static_cast<std::size_t>(i)])];
    std::array<Vector, 4> x;
    for (std::size_t k = 0; k < pair.pair.vertices().size(); ++k)
      x[k] = section.place_of_vertex[static_cast<std::size_t>(pair.pair.vertex[k])];
    pushes_[static_cast<std::size_t>(i)] =
        section.contact->push(pair.pair.kind, pair.constants, x, std::max(0, pair.exponent - zeros), pair.layers,
                              [&](int layer) { return step(pair, layer); });
  });
  pushed_.clear();
  for (std::size_t i = 0; i < due.pairs.size(); ++i) {
    Pair& pair = section.pairs[static_cast<std::size_t>(due.pairs[i])];
    pair.near = std::max(pair.near, pushes_[i].near);
    if (pushes_[i].touched == 0) continue;
    counts_.strikes += pushes_[i].touched - std::max(0, pair.exponent - zeros);
    apply(section, pair, pushes_[i], now, state);
  }
  for (const std::int32_t path : pushed_) {
    is_pushed_[static_cast<std::size_t>(path)] = 0;
    bend(path, at);
  }
}

void LatticeContact::apply(Section& section, Pair& pair, const LayeredContact::Push& push, Fine now, State& state) {
  const LayerOptions& options = section.contact->options();
  const auto vertices = pair.pair.vertices();
  const double at = in_ticks(now);
  pair.touched = std::max(pair.touched, push.touched);
  counts_.smallest_distance = std::min(counts_.smallest_distance, push.distance);
  std::array<Vector, 4> velocity{}, lightness{};  // held components are as heavy as can be [1/kg]
  Vector relative{};                              // velocity of the first closest point, seen from the second
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const auto v = static_cast<std::size_t>(vertices[i]);
    if (const std::int32_t line = section.line_of_vertex[v]; line < 0) {
      velocity[i] = section.contact->surface().vertices()[v].velocity;
    } else {
      const auto l = static_cast<std::size_t>(line);
      nodes_.drift(l, at);
      const NodeLine& node = nodes_.lines()[l];
      for (std::size_t c = 0; c < 3; ++c) {
        velocity[i][c] = node.velocity[c];
        lightness[i][c] = supports_.holds(l, c) ? 0.0 : node.inverse_mass;
      }
    }
    for (std::size_t c = 0; c < 3; ++c) relative[c] += push.weight[i] * velocity[i][c];
  }
  const double rate = dot(relative, push.normal);
  counts_.fastest = std::max(counts_.fastest, -rate);
  const double kept = rate > 0.0 ? options.restitution : 1.0;
  const bool takes = options.friction > 0.0 || kept < 1.0;
  std::array<Vector, 4> given{}, friction{};
  for (std::size_t i = 0; i < vertices.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) given[i][c] = kept * push.impulse[i][c];
  if (options.friction > 0.0) {
    Vector along{};
    for (std::size_t c = 0; c < 3; ++c) along[c] = relative[c] - rate * push.normal[c];
    const double speed = std::sqrt(dot(along, along));
    double light = 0.0;  // how fast an impulse along it changes that speed
    for (std::size_t i = 0; i < vertices.size() && speed > 0.0; ++i)
      for (std::size_t c = 0; c < 3; ++c)
        light += push.weight[i] * push.weight[i] * lightness[i][c] * (along[c] / speed) * (along[c] / speed);
    const double p = light > 0.0 ? std::min(options.friction * kept * push.along, speed / light) : 0.0;
    for (std::size_t i = 0; i < vertices.size() && p > 0.0; ++i)
      for (std::size_t c = 0; c < 3; ++c) {
        friction[i][c] = -p * push.weight[i] * along[c] / speed;
        given[i][c] += friction[i][c];
      }
  }
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const auto v = static_cast<std::size_t>(vertices[i]);
    for (std::size_t c = 0; c < 3 && takes; ++c) {
      const double mean = velocity[i][c] + 0.5 * given[i][c] * lightness[i][c];
      const double rubbed = friction[i][c] * mean, withheld = (kept - 1.0) * push.impulse[i][c] * mean;
      counts_.friction_work += rubbed;
      counts_.restitution_work += withheld;
      state.damping.work += rubbed + withheld;
    }
    const std::int32_t line = section.line_of_vertex[v];
    const Vector& x = section.place_of_vertex[v];
    if (options.friction > 0.0) state.damping.add(x, friction[i], 0.0);  // they act a distance apart: a moment
    if (line < 0) {
      state.constraints.add(x, {-given[i][0], -given[i][1], -given[i][2]}, -dot(given[i], velocity[i]));
      continue;
    }
    const auto l = static_cast<std::size_t>(line);
    NodeLine& node = nodes_.lines()[l];
    for (std::size_t c = 0; c < 3; ++c) node.velocity[c] += given[i][c] * node.inverse_mass;
    supports_.settle_line(l, nodes_.lines(), state.supports);
    const std::int32_t path = section.path_of_vertex[v];
    if (is_pushed_[static_cast<std::size_t>(path)] != 0) continue;
    is_pushed_[static_cast<std::size_t>(path)] = 1;
    pushed_.push_back(path);
  }
}

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

void LatticeContact::accept() {
  ++window_;
  for (Section& section : sections_) {
    bool changed = false;
    Index touched = 0;
    std::ranges::fill(section.pushes, 0);
    for (Pair& pair : section.pairs) {
      counts_.layers = std::max<Index>(counts_.layers, pair.touched);
      if (pair.touched > 0) {
        ++touched;
        for (const std::int32_t v : pair.pair.vertices())
          if (section.line_of_vertex[static_cast<std::size_t>(v)] >= 0)
            counts_.at_vertex = std::max<Index>(counts_.at_vertex, ++section.pushes[static_cast<std::size_t>(v)]);
      }
      if (pair.near >= pair.layers) pair.used = window_;
      if (window_ - pair.used > windows_kept && !section.contact->options().all_pairs) {
        pair.layers = std::max(pair.near, pair.layers - 1);
        pair.used = window_;
        changed = true;
      }
    }
    counts_.pairs = std::max(counts_.pairs, touched);
    if (!changed) continue;
    std::erase_if(section.pairs, [](const Pair& pair) { return pair.layers == 0; });
    make_levels(section);
  }
}

std::vector<ContactNow> LatticeContact::report(std::span<const NodeLine> nodes, double t, Fine done,
                                               LatticeStrikes::NodalSums& sums) const {
  std::vector<ContactNow> result;
  for (const Section& section : sections_) {
    const LayeredContact& contact = *section.contact;
    ContactNow& now = result.emplace_back();
    now.distance = contact.law().outer;
    std::vector<Vector> x(section.line_of_vertex.size());
    std::vector<Bounds> boxes(x.size());
    for (std::size_t v = 0; v < x.size(); ++v) {
      x[v] = place(section, v, nodes, t / tick_);
      boxes[v].take(x[v]);
      boxes[v].grow(0.5 * contact.law().outer * (1.0 + 1e-6) + contact.surface().vertices()[v].radius);
    }
    ContactSurface::Search search;
    std::vector<ContactPair> near;
    contact.surface().find_pairs(boxes, search, near);
    for (const ContactPair& pair : near) report(section, fresh(section, pair, 0), x, t, done, sums, now);
  }
  return result;
}

void LatticeContact::report(const Section& section, const Pair& pair, std::span<const Vector> x, double t, Fine done,
                            LatticeStrikes::NodalSums& sums, ContactNow& now) const {
  const auto vertices = pair.pair.vertices();
  std::array<Vector, 4> at;
  for (std::size_t k = 0; k < vertices.size(); ++k) at[k] = x[static_cast<std::size_t>(vertices[k])];
  const int layers = std::min(pair.exponent + 1, LayeredContact::most_layers);
  const auto push = [&](auto&& weight) {
    return section.contact->push(pair.pair.kind, pair.constants, at, 0, layers, weight);
  };
  const auto add = [&](const LayeredContact::Push& of, std::vector<Vector>& to) {
    for (std::size_t k = 0; k < vertices.size(); ++k)
      if (const std::int32_t line = section.line_of_vertex[static_cast<std::size_t>(vertices[k])]; line >= 0)
        for (std::size_t c = 0; c < 3; ++c) to[static_cast<std::size_t>(line)][c] += of.impulse[k][c];
  };
  const LayeredContact::Push here = push([](int) { return 1.0; });
  if (here.touched == 0) return;
  add(here, sums.force);
  sums.potential_energy += here.energy;
  const auto since = [&](int layer) {  // from the middle of the layer's last step
    const int e = pair.exponent - layer;
    return t - (static_cast<double>(done >> e) + 0.5) * step(pair, layer);
  };
  add(push(since), sums.impulse);
  add(push([&](int layer) { return std::abs(since(layer)); }), sums.ahead);
  ++now.pairs;
  now.force += here.along;
  now.distance = std::min(now.distance, here.distance);
  now.layers = std::max<Index>(now.layers, here.touched);
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    const ContactSurface::Vertex& v = section.contact->surface().vertices()[static_cast<std::size_t>(vertices[k])];
    const bool counts = section.has_sides ? v.sides == ContactSurface::first : v.is_rigid();
    const double sign = v.is_rigid() ? -1.0 : 1.0;
    for (std::size_t c = 0; c < 3 && counts; ++c) now.on_first[c] += sign * here.impulse[k][c];
  }
}

Integrator::Measures LatticeContact::measures() const {
  return {{"contact_strikes", static_cast<double>(counts_.strikes)},
          {"contact_layers", static_cast<double>(counts_.layers)},
          {"contact_pairs", static_cast<double>(counts_.pairs)},
          {"pairs_at_a_vertex", static_cast<double>(counts_.at_vertex)},
          {"smallest_distance", counts_.smallest_distance},
          {"fastest_approach", counts_.fastest},
          {"friction_work", counts_.friction_work},
          {"restitution_work", counts_.restitution_work}};
}

void LatticeContact::save(ArchiveWriter& archive) const { archive.put("contact", counts_); }

void LatticeContact::load(ArchiveReader& archive) {
  forget();
  archive.get("contact", counts_);
}

// Nobody is there: whoever has to be will be found, with the same bits.
void LatticeContact::forget() {
  counts_ = {};
  for (Section& section : sections_) {
    section.pairs.clear();
    if (section.contact->options().all_pairs) add_all(section);
    make_levels(section);
  }
}

LatticeContact::Pair LatticeContact::fresh(const Section& section, const ContactPair& key, int layers) const {
  return {key, section.contact->constants(key), exponent(*section.contact, key), layers};
}

void LatticeContact::add_all(Section& section) {
  Bounds everywhere;
  everywhere.take(std::array<double, 3>{});
  const std::vector<Bounds> boxes(section.line_of_vertex.size(), everywhere);
  section.contact->surface().find_pairs(boxes, section.search, section.candidates);
  for (const ContactPair& key : section.candidates)
    section.pairs.push_back(
        fresh(section, key, std::min(section.contact->options().deepest, exponent(*section.contact, key) + 1)));
}

}  // namespace tempi
