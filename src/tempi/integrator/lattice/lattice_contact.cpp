// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_contact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

constexpr std::size_t pairs_at_once = 64, pairs_in_cache = 1024;
constexpr Index blocks_worth_sharing = 16;  // of pairs: two caches share the nodes of fewer at a loss
constexpr Index vertices_at_once = 2048;
constexpr Index windows_kept = 3;  // a layer that nobody touches

}  // namespace

LatticeContact::LatticeContact(const Model& model, const LatticeGroups& plan, LatticeNodes& nodes,
                               LatticeSupports& supports, ThreadTeam& team, double tick)
    : nodes_(nodes),
      supports_(supports),
      all_(team),
      tick_(tick),
      path_of_line_(plan.node_of_line.size(), -1),
      reference_(plan.node_of_line.size(), Vector{}),
      kernel_(push_kernel()) {
  const auto d = static_cast<std::size_t>(model.dim());
  for (std::size_t i = 0; i < reference_.size(); ++i)
    std::copy_n(&model.reference()[ordinal(plan.node_of_line[i]) * d], d, reference_[i].begin());
  for (const auto& contact : model.layers()) {
    Section section;
    section.contact = contact.get();
    section.search.by_sweep = contact->options().by_sweep;
    for (const ContactSurface::Vertex& vertex : contact->surface().vertices()) {
      section.line_of_vertex.push_back(vertex.is_rigid() ? -1 : plan.line(vertex.node));
      if (const std::int32_t line = section.line_of_vertex.back(); line >= 0) line_of_path_.push_back(line);
    }
    section.has_sides = std::ranges::any_of(contact->surface().vertices(),
                                            [](const auto& v) { return v.sides == ContactSurface::first; });
    section.pushes.resize(section.line_of_vertex.size());
    section.given.resize(section.line_of_vertex.size());
    section.is_pushed.resize(section.line_of_vertex.size(), 0);
    section.is_watched.resize(section.line_of_vertex.size(), 0);
    section.swept.resize(section.line_of_vertex.size());
    for (const ContactSurface::Vertex& vertex : contact->surface().vertices())
      section.grown_by.push_back(0.5 * contact->law().outer * (1.0 + 1e-6) + vertex.radius);
    section.takes = contact->takes_energy();
    if (section.takes) {
      section.rubbed.resize(section.given.size());
      section.withheld.resize(section.given.size());
      section.taking.resize(section.given.size(), 0);
    }
    section.rigid = RigidPaths(contact->surface(), tick);
    for (std::size_t v = 0; v < section.line_of_vertex.size(); ++v) {
      const ContactSurface::Vertex& vertex = contact->surface().vertices()[v];
      const std::int32_t line = section.line_of_vertex[v];
      NodeShift& reference = section.reference_of_vertex.emplace_back();
      std::ranges::copy(line < 0 ? vertex.place : reference_[static_cast<std::size_t>(line)], reference.displacement);
      section.node_of_vertex.push_back(line < 0 ? section.rigid.line(v)
                                                : &nodes.lines()[static_cast<std::size_t>(line)]);
    }
    sections_.push_back(std::move(section));
  }
  make_distinct(line_of_path_);  // in the order in which lines are gone through
  for (std::size_t p = 0; p < line_of_path_.size(); ++p)
    path_of_line_[static_cast<std::size_t>(line_of_path_[p])] = static_cast<std::int32_t>(p);
  for (Section& section : sections_) {
    section.vertex_of_path.assign(line_of_path_.size(), -1);
    for (std::size_t v = 0; v < section.line_of_vertex.size(); ++v) {
      const std::int32_t line = section.line_of_vertex[v];
      const std::int32_t path = line < 0 ? -1 : path_of_line_[static_cast<std::size_t>(line)];
      section.path_of_vertex.push_back(path);
      if (path >= 0) section.vertex_of_path[static_cast<std::size_t>(path)] = static_cast<std::int32_t>(v);
    }
    section.vertices_by_path.resize(section.path_of_vertex.size());
    std::iota(section.vertices_by_path.begin(), section.vertices_by_path.end(), 0);
    std::ranges::sort(section.vertices_by_path, {},
                      [&](std::int32_t v) { return section.path_of_vertex[static_cast<std::size_t>(v)]; });
  }
  correct_velocities(plan);
  forget();
  paths_.resize(line_of_path_.size());
  chords_.resize(line_of_path_.size());
  stray_.resize(line_of_path_.size(), 0.0);
  piece_.resize(line_of_path_.size());
  for (Piece& piece : piece_) piece.until_kick = std::numeric_limits<double>::infinity();
  is_faster_.resize(line_of_path_.size(), 0);
  for (const LatticeGroup& group : plan.groups) {
    std::vector<std::int32_t>&of_group = paths_of_group_.emplace_back(),
    &moving = moving_paths_of_group_.emplace_back();
    for (const std::int32_t line : group.lines) {
      const std::int32_t path = path_of_line_[static_cast<std::size_t>(line)];
      if (path < 0) continue;
      of_group.push_back(path);
      Piece& piece = piece_[static_cast<std::size_t>(path)];
      piece.until_kick = std::min(piece.until_kick, static_cast<double>(group.ticks));
      if (!model.supports().moves(plan.node_of_line[static_cast<std::size_t>(line)])) continue;
      moving.push_back(path);
      piece.tolerance = -1.0;
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
  if (line < 0) return section.rigid.place(vertex, now);
  Vector x{};
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
  make_distinct(distinct);
  section.levels.clear();
  for (const std::int32_t exponent : distinct) {
    Section::Level& level = section.levels.emplace_back();
    level.exponent = exponent;
    for (std::size_t i = 0; i < exponents.size(); ++i)
      if (exponents[i] <= exponent) level.pairs.push_back(static_cast<std::int32_t>(i));
  }
  section.quiet.clear();
  section.first_of_vertex.assign(section.line_of_vertex.size() + 1, 0);
  for (const Pair& pair : section.pairs) {
    section.quiet.push_back({never_quiet, 0, pair.exponent});
    for (const std::int32_t v : pair.pair.vertices()) ++section.first_of_vertex[static_cast<std::size_t>(v)];
  }
  std::partial_sum(section.first_of_vertex.begin(), section.first_of_vertex.end(), section.first_of_vertex.begin());
  section.of_vertex.resize(static_cast<std::size_t>(section.first_of_vertex.back()));
  for (std::size_t i = section.pairs.size(); i-- > 0;)
    for (const std::int32_t v : section.pairs[i].pair.vertices())
      section.of_vertex[static_cast<std::size_t>(--section.first_of_vertex[static_cast<std::size_t>(v)])] =
          static_cast<std::int32_t>(i);
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

// Forces of all pairs first, then kicks: what is not touched leaves no trace in sums either.
void LatticeContact::strike(Section& section, const Section::Level& due, int zeros, Fine now, State& state) {
  const double at = in_ticks(now);
  looked_at_.clear();
  taking_.clear();
  section.rigid.set_lines(at);
  for (const std::int32_t i : due.pairs) {
    const Quiet& quiet = section.quiet[static_cast<std::size_t>(i)];
    if (quiet.until <= at || std::max(0, quiet.exponent - zeros) < quiet.layer) looked_at_.push_back(i);
  }
  const std::size_t at_once = section.takes ? looked_at_.size() : team_->size() > 1 ? pairs_in_cache : pairs_at_once;
  for (std::size_t first = 0; first < looked_at_.size(); first += at_once) {
    const auto some = std::span(looked_at_).subspan(first, std::min(at_once, looked_at_.size() - first));
    if (pushes_.size() < some.size()) pushes_.resize(some.size());
    const auto blocks = static_cast<Index>((some.size() + pairs_at_once - 1) / pairs_at_once);
    team_->for_each(blocks, blocks < blocks_worth_sharing ? blocks : 1, [&](Index b) {
      const std::size_t begin = static_cast<std::size_t>(b) * pairs_at_once;
      const auto pairs = some.subspan(begin, std::min(pairs_at_once, some.size() - begin));
      look(section, pairs, zeros, at, &pushes_[begin]);
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto k = static_cast<std::size_t>(pairs[i]);
        section.quiet[k] = quiet_after(section, section.pairs[k], pushes_[begin + i], at);
      }
    });
    for (std::size_t i = 0; i < some.size(); ++i) {
      const PairPush& push = pushes_[i];
      if (push.near == 0) continue;
      Pair& pair = section.pairs[static_cast<std::size_t>(some[i])];
      pair.near = std::max(pair.near, push.near);
      if (push.touched == 0) continue;
      pair.touched = std::max(pair.touched, push.touched);
      counts_.strikes += push.touched - std::max(0, pair.exponent - zeros);
      counts_.smallest_distance = std::min(counts_.smallest_distance, push.distance);
      counts_.fastest = std::max(counts_.fastest, -push.rate);
      if (section.takes)
        taking_.push_back({some[i], static_cast<std::int32_t>(i), 1.0, {}});
      else
        add(section, pair, push);
    }
  }
  if (section.takes) take(section);
  kick(section, at, state);
  state.damping += std::exchange(taken_, {});
  state.constraints += std::exchange(held_, {});
  wake_faster();
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

void LatticeContact::note_pushed(Section& section, std::int32_t vertex) {
  if (std::exchange(section.is_pushed[static_cast<std::size_t>(vertex)], 1) == 0) pushed_.push_back(vertex);
}

// Impulses go to their nodes once all are known.
void LatticeContact::add(Section& section, const Pair& pair, const PairPush& push) {
  const auto vertices = pair.pair.vertices();
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    auto& given = section.given[static_cast<std::size_t>(vertices[i])];
    for (std::size_t c = 0; c < 4; ++c) given[c] += push.impulse[i][c];
    note_pushed(section, vertices[i]);
  }
}

// Vertices that were pushed feel it.
void LatticeContact::kick(Section& section, double now, State& state) {
  const auto feel = [&](std::size_t v) {
    const auto line = static_cast<std::size_t>(section.line_of_vertex[v]);
    const auto given = std::exchange(section.given[v], {});
    nodes_.drift(line, now);
    NodeLine& node = nodes_.lines()[line];
    for (std::size_t c = 0; c < 3; ++c) node.velocity[c] += given[c] * node.inverse_mass;
  };
  const auto is_booked = [&](std::size_t v) {  // an impulse of something rigid, or of a support
    const std::int32_t line = section.line_of_vertex[v];
    return line < 0 || supports_.held(static_cast<std::size_t>(line)) >= 0;
  };
  for (const std::int32_t vertex : pushed_) {
    const auto v = static_cast<std::size_t>(vertex);
    if (section.takes) book_taken(section, v, now);
    if (!is_booked(v)) continue;
    if (const std::int32_t line = section.line_of_vertex[v]; line >= 0) {
      feel(v);
      supports_.settle_line(static_cast<std::size_t>(line), nodes_.lines(), state.supports);
    } else {
      const auto p = std::exchange(section.given[v], {});
      const Vector given = {p[0], p[1], p[2]};
      held_.add(section.rigid.place(v, now), {-given[0], -given[1], -given[2]},
                -dot(given, section.rigid.velocity(v, now)));
    }
  }
  team_->for_each(std::ssize(pushed_), vertices_at_once, [&](Index i) {
    const auto v = static_cast<std::size_t>(pushed_[static_cast<std::size_t>(i)]);
    section.is_pushed[v] = 0;
    if (!is_booked(v)) feel(v);
    if (const std::int32_t path = section.path_of_vertex[v]; path >= 0) follow(path, now);
  });
  pushed_.clear();
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
    bool is_searched = section.searched.size() == boxes.size();
    for (std::size_t v = 0; is_searched && v < boxes.size(); ++v) is_searched = section.searched[v].holds(boxes[v]);
    std::vector<ContactPair> near;
    if (!is_searched) {
      ContactSurface::Search search;
      contact.surface().find_pairs(boxes, search, near);
    }
    for (const ContactPair& pair : is_searched ? section.candidates : near)
      report(section, fresh(section, pair, 0), x, t, done, sums, now);
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
  now.layers = std::max(now.layers, static_cast<Index>(here.touched));
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

void LatticeContact::save(ArchiveWriter& archive) const {
  archive.put("contact", counts_);
  if (corrections_) corrections_->save(archive);
}

void LatticeContact::load(ArchiveReader& archive) {
  forget();
  archive.get("contact", counts_);
  if (corrections_) corrections_->load(archive);
}

// Nobody is there: whoever has to be will be found, with the same bits.
void LatticeContact::forget() {
  counts_ = {};
  if (corrections_) corrections_->forget();
  for (Section& section : sections_) {
    section.pairs.clear();
    if (section.contact->options().all_pairs) add_all(section);
    make_levels(section);
  }
}

LatticeContact::Pair LatticeContact::fresh(const Section& section, const ContactPair& key, int layers) const {
  const std::int32_t first = exponent(*section.contact, key);
  return {key, section.contact->constants(key), first, std::ldexp(tick_, first - fine_bits), layers};
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
