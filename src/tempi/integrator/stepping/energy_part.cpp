// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/stepping/energy_part.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "tempi/potential/many_body_sum.hpp"

namespace tempi {

// Of no two nodes the velocities differ by more; squared.
template <std::size_t d>
double SteppingEnergy::Part::spread_of_velocities(const Piece& p) const {
  std::array<double, d> low, high;
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
  for (const std::int32_t place : p.places)
    for (std::size_t c = 0; c < d; ++c) {
      const double speed = v[static_cast<std::size_t>(place) * d + c];
      low[c] = std::min(low[c], speed);
      high[c] = std::max(high[c], speed);
    }
  double sum = 0.0;
  for (std::size_t c = 0; c < d; ++c) sum += (high[c] - low[c]) * (high[c] - low[c]);
  return sum;
}

// Asking costs the more the farther ahead, and neighbours end most flights: not farther than flights go, about.
template <std::size_t d>
void SteppingEnergy::Part::find_kink_of_sum(const Piece& p, double longest, double resolution) {
  window = std::min(window, longest);
  u_of_sum.resize(p.places.size() * d);
  v_of_sum.resize(p.places.size() * d);
  for (std::size_t a = 0; a < p.places.size(); ++a)
    for (std::size_t c = 0; c < d; ++c) {
      const std::size_t i = static_cast<std::size_t>(p.places[a]) * d + c;
      u_of_sum[a * d + c] = x0[i];
      v_of_sum[a * d + c] = v[i];
    }
  kink_ = std::min(kink_, p.potential->as_sum()->smooth_until(u_of_sum, v_of_sum, resolution, window));
}

void SteppingEnergy::Part::find_horizon(double resolution) {
  constexpr double tenth = 0.1;
  horizon_ = kink_ = std::numeric_limits<double>::infinity();
  const double flown = flight_start - std::exchange(asked_at, flight_start);
  if (flown > 0.5 * window) window *= 4.0;
  if (flown < 0.0625 * window) window = std::max(0.5 * window, resolution);
  double least = horizon_;  // (distance / speed)^2
  with_dim(dim, [&]<std::size_t d>() {
    for (const Piece& p : pieces) {
      for (const double own : p.own_horizons) horizon_ = std::min(horizon_, own);
      for (std::size_t k = 0; k < p.own_horizons.size(); ++k) {
        const std::size_t i = static_cast<std::size_t>(p.places[k]) * d;
        const double own = p.potential->first_kink(p.terms[k], std::span(x0).subspan(i, d), std::span(v).subspan(i, d));
        if (own > resolution) kink_ = std::min(kink_, own);
      }
      if (p.length) {
        const double faster = spread_of_velocities<d>(p);
        if (!(faster > rounding)) continue;
        least = std::min(least, *p.length * *p.length / faster);
        find_kink_of_sum<d>(p, *p.length / std::sqrt(faster), resolution);
        continue;
      }
      if (p.follows()) {
        least = std::min(least, p.approach);
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
              const double X = reference[static_cast<std::size_t>(place[a])].displacement[c] -
                               reference[static_cast<std::size_t>(place[b])].displacement[c];
              const double r = X + x0[i + c] - x0[j + c], w = v[i + c] - v[j + c];
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
  horizon_ = std::max(std::min(horizon_, tenth * std::sqrt(least)), resolution);  // nodes may be at one place
}

}  // namespace tempi
