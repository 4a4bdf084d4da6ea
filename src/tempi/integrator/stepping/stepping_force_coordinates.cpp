// SPDX-License-Identifier: Apache-2.0
// The coordinates of force-stepping: displacements, Jacobi's, or the distance of two particles.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "tempi/core/error.hpp"
#include "tempi/integrator/stepping/stepping_force.hpp"

namespace tempi {

void SteppingForce::choose_coordinates(const std::vector<double>& spacing) {
  const auto d = static_cast<std::size_t>(model_.dim());
  double before = 0.0;
  for (Index a = 0; a < model_.node_count(); ++a) {
    const auto node = make_id<NodeId>(a);
    const double m = model_.mass(node);
    if (kind_ == Kind::jacobi)
      for (std::size_t c = 0; c < d && a > 0; ++c) {
        h_.push_back(spacing[c]);
        inverse_mass_.push_back((before + m) / (m * before));  // eq. (3.49)
      }
    mass_before_.push_back(before += m);
    for (std::size_t c = 0; c < d && kind_ == Kind::nodal; ++c) {
      free_.push_back(-1);
      if (model_.supports().support_of(node, static_cast<int>(c)) != Supports::none) continue;
      free_.back() = static_cast<std::int32_t>(component_.size());
      component_.push_back(static_cast<std::size_t>(a) * d + c);
      h_.push_back(spacing[c]);
      inverse_mass_.push_back(1.0 / m);
      node_of_.push_back(a);
    }
  }
  if (kind_ != Kind::radial) return;
  h_.push_back(spacing.front());
  inverse_mass_.push_back(0.0);
  for (Index a = 0; a < 2; ++a)  // who is held counts as infinitely heavy
    if (model_.supports().support_of(make_id<NodeId>(a), 0) == Supports::none)
      inverse_mass_.front() += 1.0 / model_.mass(make_id<NodeId>(a));
}

// Where the centre of mass is, or who is held, and the plane of the relative motion of two.
void SteppingForce::find_frame(const State& state) {
  if (kind_ == Kind::nodal) return;
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto x = [&](std::size_t a, std::size_t c) {
    return model_.reference()[a * d + c] + state.displacement[a * d + c];
  };
  const auto v = [&](std::size_t a, std::size_t c) { return state.velocity[a * d + c]; };
  const double total = mass_before_.back();
  frame_ = {};
  for (std::size_t a = 0; a < mass_before_.size(); ++a)
    for (std::size_t c = 0; c < d; ++c) {
      frame_.centre[c] += model_.mass()[a] * x(a, c) / total;
      frame_.speed[c] += model_.mass()[a] * v(a, c) / total;
    }
  if (kind_ == Kind::jacobi) return;
  if (const auto held = model_.supports().held_nodes(); !held.empty())
    for (std::size_t c = 0; c < d; ++c) {
      frame_.centre[c] = x(ordinal(held.front()), c);
      frame_.speed[c] = 0.0;
    }
  double r = 0.0, rate = 0.0, across = 0.0;
  for (std::size_t c = 0; c < d; ++c) r += std::pow(frame_.ahead[c] = x(1, c) - x(0, c), 2);
  r = std::sqrt(r);
  if (!(r > 0.0)) throw InputError("the two particles are at one place: they have no distance to be reduced to.");
  for (std::size_t c = 0; c < d; ++c) rate += (frame_.ahead[c] /= r) * (v(1, c) - v(0, c));
  for (std::size_t c = 0; c < d; ++c)
    across += std::pow(frame_.aside[c] = v(1, c) - v(0, c) - rate * frame_.ahead[c], 2);
  across = std::sqrt(across);
  for (std::size_t c = 0; c < d && across > 0.0; ++c) frame_.aside[c] /= across;
  frame_.moment = r * across / inverse_mass_.front();
}

void SteppingForce::find_coordinates(const State& state, std::vector<double>& q, std::vector<double>& v) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  q.clear(), v.clear();
  const auto x = [&](std::size_t k) { return model_.reference()[k] + state.displacement[k]; };
  if (kind_ == Kind::nodal)
    for (const std::size_t k : component_) q.push_back(x(k)), v.push_back(state.velocity[k]);
  if (kind_ == Kind::jacobi) {
    std::array<double, 3> sum{}, rates{};
    for (std::size_t a = 0; a < mass_before_.size(); ++a)
      for (std::size_t c = 0; c < d; ++c) {
        const std::size_t k = a * d + c;
        if (a > 0) q.push_back(x(k) - sum[c] / mass_before_[a - 1]);
        if (a > 0) v.push_back(state.velocity[k] - rates[c] / mass_before_[a - 1]);
        sum[c] += model_.mass()[a] * x(k);
        rates[c] += model_.mass()[a] * state.velocity[k];
      }
  }
  if (kind_ == Kind::radial) {
    q.assign(1, 0.0), v.assign(1, 0.0);
    for (std::size_t c = 0; c < d; ++c) q[0] += std::pow(x(d + c) - x(c), 2);
    q[0] = std::sqrt(q[0]);
    for (std::size_t c = 0; c < d; ++c) v[0] += frame_.ahead[c] * (state.velocity[d + c] - state.velocity[c]);
  }
}

// Of a body about its centre of mass, eq. (3.47); of two particles along the first axis.
void SteppingForce::displace(std::span<const double> q) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  if (kind_ == Kind::radial) {
    for (std::size_t c = 0; c < d; ++c) {
      u_[c] = -model_.reference()[c];
      u_[d + c] = (c == 0 ? q[0] : 0.0) - model_.reference()[d + c];
    }
    return;
  }
  std::array<double, 3> later{};  // sum over i > a of m_i q'_(i-1) / M_i
  for (std::size_t a = mass_before_.size(); a-- > 0;)
    for (std::size_t c = 0; c < d; ++c) {
      const double own = a > 0 ? q[(a - 1) * d + c] : 0.0;
      const double part = a > 0 ? mass_before_[a - 1] / mass_before_[a] : 0.0;
      u_[a * d + c] = own * part - later[c] - model_.reference()[a * d + c];
      later[c] += model_.mass()[a] * own / mass_before_[a];
    }
}

double SteppingForce::vertex_energy(std::size_t i) const {
  thread_local std::vector<double> q;
  q.resize(h_.size());
  for (std::size_t j = 0; j < q.size(); ++j) q[j] = place(j, static_cast<std::size_t>(rank_[j]) < i ? 1.0 : 0.0);
  displace(q);
  double V = model_.potential_energy(u_, 0.0);
  if (kind_ == Kind::radial) V += 0.5 * frame_.moment * frame_.moment * inverse_mass_.front() / (q[0] * q[0]);
  if (!std::isfinite(V))
    throw SolveError(
        fmt::format("at t = {:.9g} s there is no energy at a point of the grid: particles meet there. Choose a finer "
                    "grid.",
                    t_));
  return V;
}

// Of L / (mu r^2) over s from now, r a parabola: by Gauss' rule of 8 points, to rounding where r changes by a part of
// itself.
double SteppingForce::angle_in(double s) const {
  constexpr std::array<double, 4> at = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267, 0.9602898564975363};
  constexpr std::array<double, 4> weight = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                            0.1012285362903763};
  const double r = place(0, w_[0]), half = -0.5 * inverse_mass_[0] * jump_[0] / h_[0];
  double sum = 0.0;
  for (std::size_t i = 0; i < at.size(); ++i)
    for (const double side : {-1.0, 1.0}) {
      const double t = 0.5 * s * (1.0 + side * at[i]), there = r + t * (v_[0] + half * t);
      sum += weight[i] / (there * there);
    }
  return 0.5 * s * sum * frame_.moment * inverse_mass_[0];
}

}  // namespace tempi
