// SPDX-License-Identifier: Apache-2.0
// Subdomains, who is beside whom and at which walls; and what a checkpoint keeps of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"
#include "tempi/integrator/checkpoint.hpp"
#include "tempi/integrator/stepping/conservative.hpp"
#include "tempi/integrator/stepping/energy_part.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi {

SteppingEnergy::SteppingEnergy(const Model& model, Subdomains subdomains, std::vector<double> nominal,
                               std::vector<HardWall> walls)
    : model_(model),
      team_(std::make_unique<ThreadTeam>(1)),
      kick_drift_(model, 0.0),
      nominal_(std::move(nominal)),
      of_term_(std::move(subdomains.of_term)) {
  TEMPI_ASSERT(std::ssize(of_term_) == model.term_count() && std::ssize(nominal_) == model.term_count());
  for (const double h : subdomains.energy_step)
    if (!(h > 0.0) || !std::isfinite(h)) throw InputError(fmt::format("energy_step = {} J (must be > 0).", h));
  require_conservative(model, "energy-stepping", SumsTaken::of_known_length);
  const auto d = static_cast<std::size_t>(model.dim());
  for (Index a = 0; a < model.node_count(); ++a)
    for (int c = 0; c < model.dim(); ++c) {
      const auto node = make_id<NodeId>(a);
      inverse_mass_.push_back(model.supports().support_of(node, c) == Supports::none ? 1.0 / model.mass(node) : 0.0);
    }

  const std::size_t count = subdomains.energy_step.size();
  parts_.resize(count);
  constexpr std::size_t most_told_apart = 16;
  steps_.resize(count > most_told_apart ? 1 : count);
  std::vector<std::vector<std::int32_t>> around(static_cast<std::size_t>(model.node_count()));  // subdomains of a node
  std::vector<std::int32_t> place(around.size(), -1);
  for (std::size_t i = 0; i < count; ++i) {
    Part& part = parts_[i];
    part.h = subdomains.energy_step[i];
    part.dim = model.dim();
    part.team = team_.get();
    for (Index p = 0, term = 0; p < model.potential_count(); ++p) {
      const Potential& potential = model.potential(p);
      std::map<std::size_t, std::vector<Index>> of_width;
      for (Index k = 0; k < potential.size(); ++k, ++term)
        if (of_term_[static_cast<std::size_t>(term)] == static_cast<std::int32_t>(i))
          of_width[potential.stencil(k).size()].push_back(k);
      for (auto& [width, terms] : of_width) {
        Part::Piece piece{&potential, nullptr, std::move(terms), {}, width};
        if (potential.as_sum() != nullptr) piece.length = potential.as_sum()->shortest_length();
        for (const Index k : piece.terms)
          for (const NodeId a : potential.stencil(k)) {
            std::int32_t& mine = place[ordinal(a)];
            if (mine < 0) {
              mine = static_cast<std::int32_t>(part.nodes.size());
              part.nodes.push_back(a);
              around[ordinal(a)].push_back(static_cast<std::int32_t>(i));
            }
            piece.places.push_back(mine);
          }
        part.sparse = part.sparse || piece.length;
        part.pieces.push_back(std::move(piece));
      }
    }
    const std::vector<double> rest(model.reference().size(), 0.0);
    const auto whole_pack = static_cast<std::size_t>(pack_width());
    for (Part::Piece& piece : part.pieces) {
      piece.batch = piece.potential->batch(piece.terms, place);
      const auto room =  // of a sum, which may be of many nodes, no more than it takes
          piece.length ? piece.terms.size() : static_cast<std::size_t>(Batch::padded(std::ssize(piece.terms)));
      piece.first_rate = part.rate_count;
      piece.followed = piece.batch->followed();
      if (piece.follows()) {
        piece.kept.assign(room * static_cast<std::size_t>(piece.followed), 0.0);
        if (room > Part::Piece::at_once) {
          piece.found_of.resize((room + Part::Piece::at_once - 1) / Part::Piece::at_once);
          piece.approach_of.resize(piece.found_of.size());
        }
        piece.flight.assign(2 * piece.kept.size(), 0.0);
        piece.rates = piece.length ? piece.width : (piece.terms.size() + whole_pack - 1) / whole_pack * whole_pack;
      } else {
        TEMPI_ASSERT(!piece.length);
        part.measures = true;
        piece.energies.assign(room, 0.0);
        piece.gradients.assign(room * piece.width * d, 0.0);
        piece.rates = piece.terms.size();
        TEMPI_ASSERT(piece.batch->row() == static_cast<Index>(piece.width * d));
      }
      part.rate_count += piece.rates;
      if (piece.width > 1) continue;
      constexpr double part_of_step = 0.5;  // of a node alone: no distance tells how far it may go
      for (const Index k : piece.terms) {
        const std::array share = {model.mass(piece.potential->stencil(k)[0])};
        piece.own_horizons.push_back(part_of_step * piece.potential->stable_step(k, rest, share));
      }
    }
    for (const NodeId a : part.nodes) place[ordinal(a)] = -1;
    part.lines.resize(part.nodes.size());
    part.x0.assign(part.nodes.size() * d, 0.0);
    part.v = part.n = part.x0;
    part.reference.resize(part.nodes.size());
    for (std::size_t a = 0; a < part.nodes.size(); ++a)
      for (std::size_t c = 0; c < d; ++c)
        part.reference[a].displacement[c] = model.reference()[ordinal(part.nodes[a]) * d + c];
  }
  const auto may_move = [&](std::size_t a) {
    return std::ranges::any_of(std::span(inverse_mass_).subspan(a * d, d), [](double m) { return m > 0.0; });
  };
  const std::int32_t source = loop_.add(*this);
  for (std::size_t i = 0; i < count; ++i) {
    Part& part = parts_[i];
    std::map<std::int32_t, std::vector<std::size_t>> near;
    for (std::size_t a = 0; a < part.nodes.size(); ++a)
      for (const std::int32_t j : around[ordinal(part.nodes[a])])
        if (j != static_cast<std::int32_t>(i) && may_move(ordinal(part.nodes[a]))) near[j].push_back(a);
    for (auto& [j, shared] : near) part.neighbours.push_back({j, std::move(shared)});
    part.sparse = part.sparse && count > 1;
    part.slot = loop_.add(source, {static_cast<std::int32_t>(i), 0, 0, 0});
  }
  std::vector<std::vector<std::int32_t>> walls_around(around.size());
  for (std::size_t w = 0; w < walls.size(); ++w)
    for (const NodeId a : walls[w].nodes)
      if (may_move(ordinal(a))) walls_around[ordinal(a)].push_back(static_cast<std::int32_t>(w));
  for (HardWall& hard : walls) {
    WallPart& wall = walls_.emplace_back(WallPart{.hard = std::move(hard), .parts = {}, .walls = {}});
    std::erase_if(wall.hard.nodes, [&](NodeId a) { return !may_move(ordinal(a)); });
    for (const NodeId a : wall.hard.nodes) {
      wall.parts.push_back(around[ordinal(a)]);
      wall.walls.push_back(walls_around[ordinal(a)]);
    }
    wall.slot = loop_.add(source, {static_cast<std::int32_t>(walls_.size() - 1), 1, 0, 0});
  }
  for (Part& part : parts_) {
    for (const NodeId a : part.nodes)
      part.walls.insert(part.walls.end(), walls_around[ordinal(a)].begin(), walls_around[ordinal(a)].end());
    make_distinct(part.walls);
  }
}

void SteppingEnergy::use_threads(int threads) {
  team_ = std::make_unique<ThreadTeam>(threads);
  looks_.reset();
  for (Part& part : parts_) part.team = team_.get();
}

void SteppingEnergy::save(ArchiveWriter& archive) const {
  save_model(archive, model_);
  archive.put("started", started_);
  archive.put("energy", start_energy_);
  archive.put("strayed", strayed_);
  archive.put("subdomain_of_term", of_term_);
  archive.put("subdomains", subdomain_count());
  for (const Part& part : parts_) {
    archive.put("energy_step", part.h);
    archive.put("level", part.level);
    archive.put("standing", part.standing);
    archive.put("flight", std::array{part.flight_start, part.curvature, part.window, part.asked_at});
    archive.put("next", std::array{part.next.s, part.next.curvature});
    archive.put("next_edge", part.next.edge);
    archive.put("looks", part.search.looks());
    archive.put("events", part.met);
    archive.put("at_once", part.at_once);
  }
  std::vector<Index> hits;
  std::vector<double> last;
  for (const WallPart& wall : walls_) {
    hits.insert(hits.end(), {wall.hits, wall.at_once});
    last.push_back(wall.last);
  }
  archive.put("steps", steps_);
  archive.put("wall_hits", hits);
  archive.put("last_hits", last);
}

void SteppingEnergy::load(ArchiveReader& archive) {
  struct Kept {
    double h;
    std::int64_t level;
    Edge standing;
    std::array<double, 4> flight;
    std::array<double, 2> next;
    Edge next_edge;
    Events met;
    Index at_once, looks;
  };
  require_same_model(archive, model_);
  bool started = false;
  double energy = 0.0;
  CompensatedSum strayed;
  Index count = 0;
  std::vector<std::int32_t> of_term(of_term_.size());
  archive.get("started", started);
  archive.get("energy", energy);
  archive.get("strayed", strayed);
  archive.get("subdomain_of_term", of_term);
  archive.get("subdomains", count);
  std::vector<Kept> all(parts_.size());
  bool same = of_term == of_term_ && count == subdomain_count();
  for (std::size_t i = 0; i < all.size() && same; ++i) {
    archive.get("energy_step", all[i].h);
    archive.get("level", all[i].level);
    archive.get("standing", all[i].standing);
    archive.get("flight", all[i].flight);
    archive.get("next", all[i].next);
    archive.get("next_edge", all[i].next_edge);
    archive.get("looks", all[i].looks);
    archive.get("events", all[i].met);
    archive.get("at_once", all[i].at_once);
    same = all[i].h == parts_[i].h;
  }
  std::vector<Index> hits(2 * walls_.size());
  std::vector<double> last(walls_.size());
  std::vector<StepCounts> steps(steps_.size());
  if (same) {
    archive.get("steps", steps);
    archive.get("wall_hits", hits);
    archive.get("last_hits", last);
  }
  if (!same) throw InputError("the checkpoint was written with other energy steps or subdomains. Use the same case.");
  started_ = started;
  start_energy_ = energy;
  strayed_ = strayed;
  steps_ = std::move(steps);
  for (std::size_t i = 0; i < all.size(); ++i) {
    parts_[i].level = all[i].level;
    parts_[i].standing = all[i].standing;
    parts_[i].flight_start = all[i].flight[0];
    parts_[i].curvature = all[i].flight[1];
    parts_[i].window = all[i].flight[2];
    parts_[i].asked_at = all[i].flight[3];
    parts_[i].next = {all[i].next[0], all[i].next_edge, all[i].next[1]};
    parts_[i].search.count_from(all[i].looks);
    parts_[i].met = all[i].met;
    parts_[i].at_once = all[i].at_once;
  }
  for (std::size_t w = 0; w < walls_.size(); ++w) {
    walls_[w].hits = hits[2 * w];
    walls_[w].at_once = hits[2 * w + 1];
    walls_[w].last = last[w];
  }
  state_ = nullptr;  // flights begin from the state it goes on with
}

}  // namespace tempi
