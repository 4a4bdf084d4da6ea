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
    section.expected.resize(section.line_of_vertex.size());
    section.expected_in.resize(section.line_of_vertex.size());
    section.is_off.resize(section.line_of_vertex.size(), 0);
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
  shares_.resize(static_cast<std::size_t>(all_.size()));
  taken_.resize(sums_of_taken);
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
  for (Section::Level& level : section.levels) share_out(section, level);
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

// Vertices near each other have numbers near each other: blocks go by their first, and each thread has as many vertices
// as belong to its blocks.
void LatticeContact::share_out(const Section& section, Section::Level& level) const {
  const auto first_vertex = [&](std::int32_t block) {
    const std::int32_t pair = level.pairs[static_cast<std::size_t>(block) * pairs_of_block];
    return section.pairs[static_cast<std::size_t>(pair)].pair.vertex[0];
  };
  level.order.resize((level.pairs.size() + pairs_of_block - 1) / pairs_of_block);
  std::iota(level.order.begin(), level.order.end(), 0);
  std::ranges::stable_sort(level.order, {}, first_vertex);
  level.vertices_from = {0};
  const auto threads = static_cast<std::size_t>(all_.size());
  for (std::size_t k = 1; k < threads; ++k) {
    const std::int32_t first = first_vertex(level.order[k * level.order.size() / threads]);
    level.vertices_from.push_back(begin_of_sum(section, sum_of(section, static_cast<std::size_t>(first))));
  }
  level.vertices_from.push_back(std::numeric_limits<std::int32_t>::max());
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
  const auto add = [&](const LayeredContact::Push& of, auto&& to) {
    for (std::size_t k = 0; k < vertices.size(); ++k)
      if (const std::int32_t line = section.line_of_vertex[static_cast<std::size_t>(vertices[k])]; line >= 0)
        for (std::size_t c = 0; c < 3; ++c) to(static_cast<std::size_t>(line))[c] += of.impulse[k][c];
  };
  const LayeredContact::Push here = push([](int) { return 1.0; });
  if (here.touched == 0) return;
  add(here, [&](std::size_t line) -> Vector& { return sums.lines[line].force; });
  sums.potential_energy += here.energy;
  const auto since = [&](int layer) {  // from the middle of the layer's last step
    const int e = pair.exponent - layer;
    return t - (static_cast<double>(done >> e) + 0.5) * step(pair, layer);
  };
  add(push(since), [&](std::size_t line) -> Vector& { return sums.lines[line].impulse; });
  if (!sums.ahead.empty())
    add(push([&](int layer) { return std::abs(since(layer)); }),
        [&](std::size_t line) -> Vector& { return sums.ahead[line]; });
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
