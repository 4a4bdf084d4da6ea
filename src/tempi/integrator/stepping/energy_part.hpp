// SPDX-License-Identifier: Apache-2.0
// A subdomain of energy-stepping. Not for others than those of stepping_energy.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/integrator/stepping/stepping_energy.hpp"

namespace tempi {

// use.operator()<dim>().
template <class Use>
void with_dim(int dim, Use&& use) {
  if (dim == 1) use.template operator()<1>();
  if (dim == 2) use.template operator()<2>();
  if (dim == 3) use.template operator()<3>();
}

// A subdomain: its terms packed, its nodes in an order of its own, its level and its next event.
struct SteppingEnergy::Part final : Flight {
  struct Piece {  // its terms of one potential
    const Potential* potential;
    std::unique_ptr<Batch> batch;
    std::vector<Index> terms;
    std::vector<std::int32_t> places;    // of the nodes of each term among ours
    std::size_t width = 0;               // nodes of a term
    std::optional<double> length{};      // of a sum: how far its nodes may go [m]
    std::vector<double> own_horizons{};  // of terms of one node [s]
    // Where its batch can follow a flight: what it keeps, and has last found. Otherwise what it measures.
    AlignedVector<double> kept{}, flight{};
    // In blocks of terms, whose sums are added in their order: the same bits on any number of threads.
    static constexpr std::size_t at_once = 512;
    std::vector<double> approach_of{};  // of several blocks
    std::vector<Batch::Followed> found_of{};
    double approach = 0.0;  // the least (distance / speed)^2 where the flight begins [s^2]
    Batch::Followed found{};
    std::vector<double> energies{}, gradients{};
    std::size_t first_rate = 0, rates = 0;  // in a Look
    Index followed = 0;                     // of its batch
    bool follows() const { return followed > 0; }

    // visit(block, first and last of its terms), on all threads, where they are more than one block.
    template <class Visit>
    void each_block(ThreadTeam& team, Visit&& visit) const {
      const auto size = std::ssize(terms);
      team.for_each(std::ssize(found_of), [&](Index b) {
        constexpr auto most = static_cast<Index>(at_once);
        visit(static_cast<std::size_t>(b), b * most, std::min(size, (b + 1) * most));
      });
    }
    // What it keeps of the terms from `first` on, `numbers` times `followed`.
    template <class Values>
    auto from(Index first, Index numbers, Values& values) const {
      return std::span(values).subspan(static_cast<std::size_t>(first * numbers * followed));
    }
    void depart(ThreadTeam& team, std::span<const NodeLine> lines, std::span<const NodeShift> reference,
                double rounding) {
      const auto of = [&](Index first, Index last) {
        return batch->depart(first, last, lines, reference, rounding, from(first, 2, flight));
      };
      if (found_of.empty()) {
        approach = of(0, std::ssize(terms));
        return;
      }
      each_block(team, [&](std::size_t b, Index first, Index last) { approach_of[b] = of(first, last); });
      approach = std::ranges::min(approach_of);
    }
    void follow(ThreadTeam& team, double s, bool measured, std::span<double> rates_of_terms) {
      const auto of = [&](Index first, Index last, Batch::Followed& sums) {
        const auto mine = rates_of_terms.subspan(static_cast<std::size_t>(first));
        const auto where = from(first, 2, std::as_const(flight));
        if (measured) {
          sums.rate = batch->turn(first, last, where, mine, from(first, 1, std::as_const(kept))).rate;
        } else {
          sums = batch->follow(first, last, s, where, mine, from(first, 1, kept));
        }
      };
      if (found_of.empty()) return of(0, std::ssize(terms), found);
      each_block(team, [&](std::size_t b, Index first, Index last) { of(first, last, found_of[b]); });
      found = {};
      for (const Batch::Followed& block : found_of)
        found.V += block.V, found.rate += block.rate, found.magnitude += block.magnitude;
    }
  };

  double h = 0.0;
  std::vector<NodeId> nodes;
  std::vector<Piece> pieces;
  struct Neighbour {  // a subdomain that shares a component that may move
    std::int32_t part;
    std::vector<std::size_t> shared;  // places of such nodes among ours
  };
  std::vector<Neighbour> neighbours;
  std::vector<std::int32_t> walls;  // that one of its nodes may reach
  bool sparse = false;              // most of its nodes feel nothing of its events
  EventLoop::Slot slot = 0;
  int dim = 0;
  ThreadTeam* team = nullptr;
  LevelSearch search;

  // Where it is: what a checkpoint keeps.
  std::int64_t level = 0;
  Edge standing = Edge::none;
  double flight_start = 0.0, curvature = 0.0;  // [s], [W/s]
  Events met;
  Index at_once = 0;  // events in a row without time passing
  bool just_struck = false;
  // Of sums: for how long ahead their kinks are asked for [s], as far as flights go; and where they were last.
  double window = std::numeric_limits<double>::infinity(), asked_at = 0.0;

  Exit next;                  // counted from flight_start
  bool is_predicted = false;  // as `next` says: going on, whose bits a search from here anew would change
  std::vector<NodeLine> lines;
  std::vector<double> u_of_sum, v_of_sum;
  std::vector<double> x0, v, n;  // displacements at the flight's start, velocities, dV/dx; dim components a node
  std::size_t rate_count = 0;
  AlignedVector<NodeShift> reference;  // places of our nodes
  bool measures = false;               // some of its pieces do not follow flights
  double rounding = 0.0;               // of relative velocities, squared
  double horizon_ = 0.0, kink_ = 0.0;
  Look there_;                                                    // where the flight ends
  double measured_at = std::numeric_limits<double>::quiet_NaN();  // s of the energies and gradients there are

  Index terms() const {
    Index sum = 0;
    for (const Piece& p : pieces) sum += std::ssize(p.terms);
    return sum;
  }
  double low() const { return static_cast<double>(level) * h; }
  double high() const { return static_cast<double>(level + 1) * h; }

  // `measured`: the energies and gradients there are belong to this place, as after an event of its own.
  void begin(const State& state, bool measured = false) {
    measured_at = measured ? 0.0 : std::numeric_limits<double>::quiet_NaN();
    std::array<double, 3> fastest{};  // by component: what is waited for is not the one before
    with_dim(dim, [&]<std::size_t d>() {
      for (std::size_t a = 0; a < nodes.size(); ++a) {
        const std::size_t i = ordinal(nodes[a]) * d;
        const double elapsed = flight_start - state.clock[ordinal(nodes[a])];
        for (std::size_t c = 0; c < d; ++c) {
          const double speed = state.velocity[i + c];
          v[a * d + c] = lines[a].velocity[c] = speed;
          x0[a * d + c] = lines[a].displacement[c] = state.displacement[i + c] + elapsed * speed;
          fastest[c] = std::max(fastest[c], std::abs(speed));
        }
      }
    });
    rounding = std::pow(16.0 * std::numeric_limits<double>::epsilon() * std::ranges::max(fastest), 2);
    for (Piece& p : pieces)
      if (p.follows()) p.depart(*team, lines, reference, rounding);
  }

  void move_to(double s) {
    const auto d = static_cast<std::size_t>(dim);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t c = 0; c < d; ++c) lines[a].displacement[c] = x0[a * d + c] + s * v[a * d + c];
  }

  void look(double s, Look& at) override {
    const bool measured = s == measured_at;
    if (!measured && measures) move_to(s);
    at.V = at.rate = at.magnitude = 0.0;
    at.rates.resize(rate_count);
    for (Piece& p : pieces) {
      const auto rates = std::span(at.rates).subspan(p.first_rate, p.rates);
      if (p.follows()) {
        p.follow(*team, s, measured, rates);
      } else {
        if (!measured) p.batch->measure(0, std::ssize(p.terms), flight_start + s, lines, p.energies, p.gradients);
        p.found = found_by_measuring(p, rates);
      }
      at.V += p.found.V, at.rate += p.found.rate, at.magnitude += p.found.magnitude;
    }
    measured_at = s;
  }

  Batch::Followed found_by_measuring(const Piece& p, std::span<double> rates) const {
    Batch::Followed found{};
    with_dim(dim, [&, rate = rates.data()]<std::size_t d>() mutable {
      const double* g = p.gradients.data();
      const std::int32_t* place = p.places.data();
      for (std::size_t k = 0; k < p.terms.size(); ++k) {
        double sum = 0.0;
        for (std::size_t a = 0; a < p.width; ++a, ++place, g += d) {
          const double* w = &v[static_cast<std::size_t>(*place) * d];
          double of_node = 0.0;
          for (std::size_t c = 0; c < d; ++c) of_node += g[c] * w[c];
          sum += of_node;
        }
        *rate++ = sum;
        found.rate += sum;
        found.V += p.energies[k];
        found.magnitude += std::abs(p.energies[k]);
      }
    });
    return found;
  }

  double horizon() const override { return horizon_; }
  // Nothing in it moves against anything else: its energy stays as it is.
  bool is_rigid() const {
    return std::isinf(horizon_) && std::ranges::all_of(pieces, [](const Piece& p) { return p.width > 1; });
  }
  double kink() const override { return kink_; }

  // In which no two nodes of a term come nearer, or go farther, by more than a tenth of the shortest distance in it; of
  // a sum of its shortest length. And where it has a kink, those nearer than `resolution` [s] left out.
  void find_horizon(double resolution);
  template <std::size_t d>
  void find_kink_of_sum(const Piece& p, double longest, double resolution);
  template <std::size_t d>
  double spread_of_velocities(const Piece& p) const;

  // n = dV/dx where the flight ends; of components that are held too.
  void find_gradient() {
    move_to(next.s);
    if (measured_at != next.s) look(next.s, there_);
    std::ranges::fill(n, 0.0);
    with_dim(dim, [&]<std::size_t d>() {
      for (const Piece& p : pieces) {
        if (p.follows()) {
          p.batch->add_gradient(0, std::ssize(p.terms), p.kept, n);
          continue;
        }
        const double* g = p.gradients.data();
        for (std::size_t i = 0; i < p.terms.size() * p.width; ++i)
          for (std::size_t c = 0; c < d; ++c) n[static_cast<std::size_t>(p.places[i]) * d + c] += *g++;
      }
    });
  }
};

}  // namespace tempi
