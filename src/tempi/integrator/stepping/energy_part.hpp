// SPDX-License-Identifier: Apache-2.0
// A subdomain of energy-stepping. Not for others than stepping_energy.cpp and stepping_energy_set_up.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "tempi/integrator/stepping/stepping_energy.hpp"

namespace tempi {

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
    std::vector<double> energies{}, gradients{};
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

  // Where it is: what a checkpoint keeps.
  std::int64_t level = 0;
  Edge standing = Edge::none;
  double flight_start = 0.0, curvature = 0.0;  // [s], [W/s]
  Events met;
  Index at_once = 0;  // events in a row without time passing
  bool just_struck = false;

  Exit next;  // counted from flight_start
  std::vector<NodeLine> lines;
  std::vector<double> x0, v, n;  // displacements at the flight's start, velocities, dV/dx; dim components a node
  std::size_t rate_count = 0;
  std::vector<double> rest;  // of our nodes, dim components each
  double horizon_ = 0.0, kink_ = 0.0;
  double measured_at = std::numeric_limits<double>::quiet_NaN();  // s of the energies and gradients there are

  double low() const { return static_cast<double>(level) * h; }
  double high() const { return static_cast<double>(level + 1) * h; }

  // `measured`: the energies and gradients there are belong to this place, as after an event of its own.
  void begin(const State& state, bool measured = false) {
    measured_at = measured ? 0.0 : std::numeric_limits<double>::quiet_NaN();
    const auto d = static_cast<std::size_t>(dim);
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      const std::size_t i = ordinal(nodes[a]) * d;
      const double elapsed = flight_start - state.clock[ordinal(nodes[a])];
      for (std::size_t c = 0; c < d; ++c) {
        v[a * d + c] = state.velocity[i + c];
        x0[a * d + c] = state.displacement[i + c] + elapsed * v[a * d + c];
      }
    }
  }

  void move_to(double s) {
    const auto d = static_cast<std::size_t>(dim);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t c = 0; c < d; ++c) lines[a].displacement[c] = x0[a * d + c] + s * v[a * d + c];
  }

  void measure(double s) {
    move_to(s);
    for (Piece& p : pieces) p.batch->measure(0, std::ssize(p.terms), flight_start + s, lines, p.energies, p.gradients);
    measured_at = s;
  }

  void look(double s, Look& at) override {
    if (s != measured_at) measure(s);
    at.V = at.rate = at.magnitude = 0.0;
    at.rates.resize(rate_count);
    with_dim([&]<std::size_t d>() {
      double* rate = at.rates.data();
      for (const Piece& p : pieces) {
        const double* g = p.gradients.data();
        const std::int32_t* place = p.places.data();
        for (std::size_t k = 0; k < p.terms.size(); ++k) {
          double sum = 0.0;
          for (std::size_t a = 0; a < p.width; ++a, ++place, g += d) {
            const double* w = &v[static_cast<std::size_t>(*place) * d];
            double of_node = 0.0;
            for (std::size_t c = 0; c < d; ++c) of_node += g[c] * w[c];
            if (p.length) *rate++ = of_node;  // of what a sum has at different nodes nothing cancels either
            sum += of_node;
          }
          if (!p.length) *rate++ = sum;
          at.rate += sum;
          at.V += p.energies[k];
          at.magnitude += std::abs(p.energies[k]);
        }
      }
    });
  }

  template <class Use>
  void with_dim(Use&& use) const {
    if (dim == 1) use.template operator()<1>();
    if (dim == 2) use.template operator()<2>();
    if (dim == 3) use.template operator()<3>();
  }

  double horizon() const override { return horizon_; }
  // Nothing in it moves against anything else: its energy stays as it is.
  bool is_rigid() const {
    return std::isinf(horizon_) && std::ranges::all_of(pieces, [](const Piece& p) { return p.width > 1; });
  }
  double kink() const override { return kink_; }

  // In which no two nodes of a term come nearer, or go farther, by more than a tenth of the shortest distance in it; of
  // a sum of its shortest length.
  void find_horizon() {
    constexpr double tenth = 0.1;
    horizon_ = kink_ = std::numeric_limits<double>::infinity();
    double fastest_of_all = 0.0;
    for (const double speed : v) fastest_of_all = std::max(fastest_of_all, std::abs(speed));
    const double rounding =
        std::pow(16.0 * std::numeric_limits<double>::epsilon() * fastest_of_all, 2);  // of relative velocities, squared
    double least = horizon_;                                                          // (distance / speed)^2
    with_dim([&]<std::size_t d>() {
      for (const Piece& p : pieces) {
        for (const double own : p.own_horizons) horizon_ = std::min(horizon_, own);
        for (std::size_t k = 0; k < p.own_horizons.size(); ++k) {
          const std::size_t i = static_cast<std::size_t>(p.places[k]) * d;
          kink_ = std::min(kink_, p.potential->first_kink(p.terms[k], std::span(x0).subspan(i, d),
                                                          std::span(v).subspan(i, d)));
        }
        if (p.length) {
          const double faster = spread_of_velocities<d>(p);
          if (faster > rounding && *p.length * *p.length < least * faster) least = *p.length * *p.length / faster;
          continue;
        }
        const std::int32_t* place = p.places.data();
        for (std::size_t k = 0; k < p.terms.size(); ++k, place += p.width) {
          double nearest = std::numeric_limits<double>::infinity(), fastest = 0.0;
          for (std::size_t a = 1; a < p.width; ++a)
            for (std::size_t b = 0; b < a; ++b) {
              const auto i = static_cast<std::size_t>(place[a]) * d, j = static_cast<std::size_t>(place[b]) * d;
              double distance = 0.0, speed = 0.0;
              for (std::size_t c = 0; c < d; ++c) {
                const double r = rest[i + c] - rest[j + c] + x0[i + c] - x0[j + c], w = v[i + c] - v[j + c];
                distance += r * r;
                speed += w * w;
              }
              nearest = std::min(nearest, distance);
              if (speed > rounding) fastest = std::max(fastest, speed);
            }
          if (nearest < least * fastest) least = nearest / fastest;
        }
      }
    });
    horizon_ = std::min(horizon_, tenth * std::sqrt(least));
    if (flight_start + kink_ == flight_start) kink_ = std::numeric_limits<double>::infinity();
  }

  // Of no two nodes the velocities differ by more; squared.
  template <std::size_t d>
  double spread_of_velocities(const Piece& p) const {
    double sum = 0.0;
    for (std::size_t c = 0; c < d; ++c) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (const std::int32_t place : p.places) {
        const double speed = v[static_cast<std::size_t>(place) * d + c];
        low = std::min(low, speed);
        high = std::max(high, speed);
      }
      sum += (high - low) * (high - low);
    }
    return sum;
  }

  // n = dV/dx where the flight ends; of components that are held too.
  void find_gradient() {
    if (measured_at != next.s) measure(next.s);
    std::ranges::fill(n, 0.0);
    with_dim([&]<std::size_t d>() {
      for (const Piece& p : pieces) {
        const double* g = p.gradients.data();
        for (std::size_t i = 0; i < p.terms.size() * p.width; ++i)
          for (std::size_t c = 0; c < d; ++c) n[static_cast<std::size_t>(p.places[i]) * d + c] += *g++;
      }
    });
  }
};

}  // namespace tempi
