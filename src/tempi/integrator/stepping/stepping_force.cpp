// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/stepping/stepping_force.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <tuple>

#include "tempi/core/error.hpp"
#include "tempi/integrator/checkpoint.hpp"
#include "tempi/integrator/stepping/conservative.hpp"
#include "tempi/integrator/stepping/quadratic.hpp"

namespace tempi {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Index most_at_once = 100'000;  // steps without time passing: it slides along a crease

// The first s >= 0 at which f0 + f1 s + f2 s^2 becomes negative; f0 >= 0 but for rounding.
double first_negative(double f0, double f1, double f2) {
  if (f0 <= 0.0) {
    if (f1 < 0.0 || (f1 == 0.0 && f2 < 0.0)) return 0.0;
    return f2 < 0.0 ? -f1 / f2 : infinity;
  }
  return first_positive_root(f0, f1, f2);
}

// Whether it is seen without a root that it does not by then, f0 > 0: it is positive there and was not less before.
bool stays_positive(double f0, double f1, double f2, double until) {
  if (!(f0 > 0.0) || !(f0 + until * (f1 + until * f2) >= 0.0)) return false;
  return f2 <= 0.0 || f1 >= 0.0 || -f1 >= 2.0 * f2 * until || f1 * f1 < 4.0 * f0 * f2;
}

}  // namespace

SteppingForce::SteppingForce(const Model& model, ForceGrid grid, double nominal_step)
    : model_(model),
      kick_drift_(model, 0.0),
      nominal_(nominal_step),
      parity_(grid.parity),
      terms_of_(node_terms(model)) {
  const auto d = static_cast<std::size_t>(model.dim());
  std::vector<double>& spacing = grid.spacing;
  if (spacing.size() == 1) spacing.assign(d, spacing.front());
  if (spacing.size() != d)
    throw InputError(fmt::format("grid has {} spacings (must be one, or one for each of {} axes).", spacing.size(), d));
  for (const double h : spacing)
    if (!(h > 0.0) || !std::isfinite(h)) throw InputError(fmt::format("grid = {} m (must be > 0).", h));
  require_conservative(model, "force-stepping");
  if (grid.reduced) {
    for (Index p = 0; p < model.potential_count(); ++p)
      for (Index k = 0; k < model.potential(p).size(); ++k)
        if (model.potential(p).stencil(k).size() < 2)
          throw InputError(
              fmt::format("reduced = true leaves out where the centre of mass is, on which {} depends. "
                          "Leave it out.",
                          model.potential(p).describe(k)));
    kind_ = model.node_count() == 2 ? Kind::radial : Kind::jacobi;
    const std::span<const NodeId> held = model.supports().held_nodes();
    if (!held.empty() && (kind_ != Kind::radial || held.size() > 1))
      throw InputError("reduced = true needs a body that nothing holds (or two particles, of which one may be held).");
    for (std::size_t c = 0; c < d && !held.empty(); ++c)
      if (model.supports().support_of(held.front(), static_cast<int>(c)) == Supports::none)
        throw InputError("reduced = true needs the held particle to be held along every axis.");
    if (kind_ == Kind::radial && parity_)
      throw InputError("two particles are reduced to their distance, which has no mirror image. Leave parity out.");
  }
  choose_coordinates(spacing);
  if (h_.empty()) throw InputError("force-stepping has nothing to move: every component is held.");
  u_.assign(model.reference().size(), 0.0);
}

// ---- the simplex ----

// V(z^i) - V(z^(i-1)): of the terms around the node whose coordinate changes.
double SteppingForce::difference(std::size_t i) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto axis = static_cast<std::size_t>(order_[i - 1]);
  const NodeId node = make_id<NodeId>(node_of_[axis]);
  double sum = 0.0;
  for (const TermId id : terms_of_[node]) {
    const auto term = model_.term(id);
    for (const NodeId a : term.stencil())
      for (std::size_t c = 0; c < d; ++c) {
        const std::size_t k = ordinal(a) * d + c;
        if (free_[k] < 0) continue;  // held: stays in u_
        const auto j = static_cast<std::size_t>(free_[k]);
        const bool up = static_cast<std::size_t>(rank_[j]) < i - 1;
        u_[k] = place(j, up ? 1.0 : 0.0) - model_.reference()[k];
      }
    const double before = term.potential->energy(term.k, u_, 0.0);
    u_[component_[axis]] = place(axis, 1.0) - model_.reference()[component_[axis]];
    const double after = term.potential->energy(term.k, u_, 0.0);
    if (!std::isfinite(before) || !std::isfinite(after))
      throw SolveError(
          fmt::format("at t = {:.9g} s {} has no energy at a point of the grid: it is inverted there, or "
                      "particles meet. Choose a finer grid.",
                      t_, term.potential->describe(term.k)));
    sum += after - before;
  }
  return sum;
}

void SteppingForce::find_force() {
  const std::size_t n = order_.size();
  jump_.resize(n);
  levels_.resize(kind_ == Kind::nodal ? 0 : n + 1);
  for (std::size_t i = 0; i < levels_.size(); ++i) levels_[i] = vertex_energy(i);
  for (std::size_t i = 1; i <= n; ++i)
    jump_[i - 1] = kind_ == Kind::nodal ? difference(i) : levels_[i] - levels_[i - 1];
}

void SteppingForce::renew_vertex(std::size_t i) {
  if (kind_ != Kind::nodal) levels_[i] = vertex_energy(i);
  for (std::size_t k = std::max<std::size_t>(i, 1); k <= std::min(i + 1, order_.size()); ++k)
    jump_[k - 1] = kind_ == Kind::nodal ? difference(k) : levels_[k] - levels_[k - 1];
}

// Finds the simplex.
void SteppingForce::place_on_grid(const State& state) {
  const std::size_t n = h_.size();
  std::vector<double> q, v;
  find_coordinates(state, q, v);
  corner_.resize(n), w_.resize(n), v_.resize(n), order_.resize(n), rank_.resize(n);
  sign_.assign(n, 1.0);
  for (std::size_t j = 0; j < n; ++j) {
    if (parity_ && (q[j] < 0.0 || (q[j] == 0.0 && v[j] < 0.0))) sign_[j] = -1.0;
    const double z = sign_[j] * q[j] / h_[j] + offset_[j];
    if (!(std::abs(z) < 9e15))
      throw InputError(fmt::format("grid = {} m is too fine for a coordinate of {:.6g} m.", h_[j], z * h_[j]));
    corner_[j] = static_cast<std::int64_t>(std::floor(z));
    w_[j] = z - std::floor(z);
    v_[j] = sign_[j] * v[j];
  }
  // Equal parts in the order in which they are about to be.
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::stable_sort(order_, [&](std::int32_t a, std::int32_t b) {
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    return w_[i] != w_[j] ? w_[i] > w_[j] : v_[i] / h_[i] > v_[j] / h_[j];
  });
}

// Whether the start lies on a face and moves along it: two coordinates as far within their cells and as fast, or one at
// rest on a plane of the grid.
bool SteppingForce::slides() const {
  constexpr double near = 1e-9;  // of a spacing
  double fastest = 0.0;
  for (std::size_t j = 0; j < v_.size(); ++j) fastest = std::max(fastest, std::abs(v_[j] / h_[j]));
  const auto rate = [&](std::size_t i) {
    return v_[static_cast<std::size_t>(order_[i])] / h_[static_cast<std::size_t>(order_[i])];
  };
  const auto part = [&](std::size_t i) { return w_[static_cast<std::size_t>(order_[i])]; };
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (i > 0 && part(i - 1) - part(i) < near && std::abs(rate(i - 1) - rate(i)) <= near * fastest) return true;
    if ((part(i) < near || part(i) > 1.0 - near) && std::abs(rate(i)) <= near * fastest) return true;
  }
  return false;
}

void SteppingForce::start(const State& state) {
  const std::size_t n = h_.size();
  u_ = state.displacement;
  offset_.assign(n, 0.0);
  find_frame(state);
  place_on_grid(state);
  if (slides()) {
    if (parity_)
      throw InputError(
          "the motion starts on a face of the mirrored grid and along it. Leave parity out, or turn the body.");
    for (std::size_t j = 0; j < n; ++j) offset_[j] = std::fmod(static_cast<double>(j + 1) * std::numbers::phi, 1.0);
    place_on_grid(state);
  }
  for (std::size_t i = 0; i < n; ++i) rank_[static_cast<std::size_t>(order_[i])] = static_cast<std::int32_t>(i);
  find_force();
  started_ = true;
  start_energy_ = stepped_energy();
}

SteppingForce::Leaves SteppingForce::next_face() const {
  const std::size_t n = order_.size();
  Leaves first{infinity, 0};
  double w = 1.0, rate = 0.0, half = 0.0;  // of the axis before: w + rate s + half s^2
  for (std::size_t i = 0; i <= n; ++i) {
    double w_i = 0.0, rate_i = 0.0, half_i = 0.0;
    if (i < n) {
      const auto j = static_cast<std::size_t>(order_[i]);
      w_i = w_[j];
      rate_i = v_[j] / h_[j];
      half_i = -0.5 * inverse_mass_[j] * jump_[i] / (h_[j] * h_[j]);
    }
    const double f0 = w - w_i, f1 = rate - rate_i, f2 = half - half_i;
    if (!stays_positive(f0, f1, f2, first.s))
      if (const double s = first_negative(f0, f1, f2); s < first.s) first = {s, i};
    w = w_i, rate = rate_i, half = half_i;
  }
  return first;
}

void SteppingForce::move(double s) {
  if (kind_ == Kind::radial) frame_.angle += angle_in(s);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const auto j = static_cast<std::size_t>(order_[i]);
    const double dv = -s * inverse_mass_[j] * jump_[i] / h_[j];
    w_[j] += s * (v_[j] + 0.5 * dv) / h_[j];
    v_[j] += dv;
  }
}

// Through a face: the one vertex that is not on it goes, its mirror comes.
void SteppingForce::cross(std::size_t face) {
  const std::size_t n = order_.size();
  const auto put = [&](std::size_t i, std::int32_t axis) {
    order_[i] = axis;
    rank_[static_cast<std::size_t>(axis)] = static_cast<std::int32_t>(i);
  };
  if (face == 0) {  // the first axis reaches the next corner
    const std::int32_t axis = order_.front();
    const auto j = static_cast<std::size_t>(axis);
    ++corner_[j];
    w_[j] = 0.0;
    for (std::size_t i = 1; i < n; ++i) put(i - 1, order_[i]);
    put(n - 1, axis);
    std::rotate(jump_.begin(), jump_.begin() + 1, jump_.end());
    if (!levels_.empty()) std::rotate(levels_.begin(), levels_.begin() + 1, levels_.end());
    renew_vertex(n);
  } else if (const auto j = static_cast<std::size_t>(order_.back()); face == n && parity_ && corner_[j] == 0) {
    sign_[j] = -sign_[j];  // into the mirror image
    w_[j] = 0.0;
    v_[j] = -v_[j];
    renew_vertex(n);
  } else if (face == n) {  // the last one falls below its corner
    --corner_[j];
    w_[j] = 1.0;
    const std::int32_t axis = order_.back();
    for (std::size_t i = n - 1; i > 0; --i) put(i, order_[i - 1]);
    put(0, axis);
    std::rotate(jump_.begin(), jump_.end() - 1, jump_.end());
    if (!levels_.empty()) std::rotate(levels_.begin(), levels_.end() - 1, levels_.end());
    renew_vertex(0);
  } else {
    const std::int32_t before = order_[face - 1], after = order_[face];
    double& a = w_[static_cast<std::size_t>(before)];
    double& b = w_[static_cast<std::size_t>(after)];
    a = b = 0.5 * (a + b);
    put(face - 1, after);
    put(face, before);
    renew_vertex(face);
  }
}

void SteppingForce::advance(State& state, double t_end, Observer*) {
  if (!started_) {
    kick_drift_.start(state);
    start(state);
  }
  coming_back_.set_out();
  for (;;) {
    const Leaves leaves = next_face();
    const double t = t_ + leaves.s;
    if (!(t < t_end) || coming_back_.before(t)) break;
    move(leaves.s);
    t_ = t;
    ++steps_;
    shortest_ = steps_ == 1 ? leaves.s : std::min(shortest_, leaves.s);
    longest_ = std::max(longest_, leaves.s);
    lengths_.add(leaves.s);
    at_once_ = leaves.s > 4.0 * std::numeric_limits<double>::epsilon() * t ? 0 : at_once_ + 1;
    if (at_once_ > most_at_once)
      throw SolveError(
          fmt::format("{} steps at t = {:.9g} s: the motion slides along a crease of the grid. Choose "
                      "another grid, or a start that is not on it.",
                      most_at_once, t));
    cross(leaves.face);
  }
  write(state);
}

void SteppingForce::write(State& state) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  std::vector<double> q, v;
  for (std::size_t j = 0; j < h_.size(); ++j) {
    q.push_back(place(j, w_[j]));
    v.push_back(sign_[j] * v_[j]);
  }
  std::ranges::fill(state.clock, t_);
  if (kind_ == Kind::nodal) {
    for (std::size_t j = 0; j < q.size(); ++j) {
      state.displacement[component_[j]] = q[j] - model_.reference()[component_[j]];
      state.velocity[component_[j]] = v[j];
    }
    return;
  }
  const auto put = [&](std::size_t a, std::size_t c, double x, double speed) {
    const std::size_t k = a * d + c;
    state.displacement[k] = frame_.centre[c] + t_ * frame_.speed[c] + x - model_.reference()[k];
    state.velocity[k] = frame_.speed[c] + speed;
  };
  if (kind_ == Kind::radial) {
    const double cosine = std::cos(frame_.angle), sine = std::sin(frame_.angle);
    const double across = frame_.moment * inverse_mass_.front() / q[0];
    for (std::size_t c = 0; c < d; ++c) {
      const double along = cosine * frame_.ahead[c] + sine * frame_.aside[c],
                   turned = cosine * frame_.aside[c] - sine * frame_.ahead[c];
      const double x = q[0] * along, speed = v[0] * along + across * turned;
      const auto held = model_.supports().held_nodes();
      const double second = !held.empty() ? (index(held.front()) == 0 ? 1.0 : 0.0) : mass_before_[0] / mass_before_[1];
      if (held.empty() || index(held.front()) != 0) put(0, c, (second - 1.0) * x, (second - 1.0) * speed);
      if (held.empty() || index(held.front()) != 1) put(1, c, second * x, second * speed);
    }
    return;
  }
  std::array<double, 3> later{}, later_speed{};
  for (std::size_t a = mass_before_.size(); a-- > 0;)
    for (std::size_t c = 0; c < d; ++c) {
      const double own = a > 0 ? q[(a - 1) * d + c] : 0.0, rate = a > 0 ? v[(a - 1) * d + c] : 0.0;
      const double part = a > 0 ? mass_before_[a - 1] / mass_before_[a] : 0.0;
      put(a, c, own * part - later[c], rate * part - later_speed[c]);
      later[c] += model_.mass()[a] * own / mass_before_[a];
      later_speed[c] += model_.mass()[a] * rate / mass_before_[a];
    }
}

Snapshot SteppingForce::synchronized(const State& state, double t) const {
  if (!started_) return kick_drift_.synchronized(state, t, false, [](TermId) { return 0.0; });
  SteppingForce there = *this;
  there.move(t - t_);
  there.t_ = t;
  State moved = state;
  there.write(moved);
  return kick_drift_.synchronized(moved, t, false, [](TermId) { return 0.0; });
}

double SteppingForce::step(TermId) const { return steps_ > 0 ? t_ / static_cast<double>(steps_) : nominal_; }

double SteppingForce::stepped_energy() const {
  const std::size_t n = h_.size();
  double energy = 0.0;
  for (std::size_t j = 0; j < n; ++j) energy += 0.5 / inverse_mass_[j] * v_[j] * v_[j];
  if (kind_ == Kind::nodal) {
    std::vector<double> u = u_;
    for (std::size_t j = 0; j < n; ++j) u[component_[j]] = place(j, 0.0) - model_.reference()[component_[j]];
    energy += model_.potential_energy(u, 0.0);
  } else {
    energy += vertex_energy(0);
    for (const double speed : frame_.speed) energy += 0.5 * mass_before_.back() * speed * speed;
  }
  for (std::size_t i = 0; i < n; ++i) energy += w_[static_cast<std::size_t>(order_[i])] * jump_[i];
  return energy;
}

SteppingForce::Measures SteppingForce::measures() const {
  Measures all = {{"events", static_cast<double>(steps_)}};
  if (!started_) return all;
  all.emplace_back("level_error", (stepped_energy() - start_energy_) / std::abs(start_energy_));
  if (steps_ == 0) return all;
  all.emplace_back("mean_step", t_ / static_cast<double>(steps_));
  all.emplace_back("shortest_step", shortest_);
  all.emplace_back("longest_step", longest_);
  return all;
}

void SteppingForce::save(ArchiveWriter& archive) const {
  save_model(archive, model_);
  archive.put("grid", h_);
  archive.put("started", started_);
  archive.put("corner", corner_);
  archive.put("order", order_);
  archive.put("w", w_);
  archive.put("v", v_);
  archive.put("held", u_);
  archive.put("offset", offset_);
  archive.put("sign", sign_);
  archive.put("frame", frame_);
  archive.put("figures", std::array{t_, start_energy_, shortest_, longest_});
  archive.put("steps", std::array{steps_, at_once_});
  archive.put("lengths", lengths_);
}

void SteppingForce::load(ArchiveReader& archive) {
  require_same_model(archive, model_);
  std::vector<double> grid(h_.size());
  archive.get("grid", grid);
  if (grid != h_) throw InputError("the checkpoint was written with another grid. Use the same case.");
  SteppingForce other = *this;
  archive.get("started", other.started_);
  const std::size_t n = other.started_ ? h_.size() : 0;
  other.corner_.resize(n), other.order_.resize(n), other.w_.resize(n), other.v_.resize(n);
  std::array<double, 4> figures{};
  std::array<Index, 2> steps{};
  archive.get("corner", other.corner_);
  archive.get("order", other.order_);
  archive.get("w", other.w_);
  archive.get("v", other.v_);
  archive.get("held", other.u_);
  other.offset_.resize(n);
  archive.get("offset", other.offset_);
  other.sign_.resize(n);
  archive.get("sign", other.sign_);
  archive.get("frame", other.frame_);
  archive.get("figures", figures);
  archive.get("steps", steps);
  archive.get("lengths", other.lengths_);
  std::vector<std::int32_t> sorted = other.order_;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < n; ++i)
    if (sorted[i] != static_cast<std::int32_t>(i)) throw InputError("the checkpoint is damaged (its simplex is none).");
  corner_ = other.corner_, order_ = other.order_, w_ = other.w_, v_ = other.v_, u_ = other.u_;
  offset_ = other.offset_, sign_ = other.sign_, frame_ = other.frame_;
  rank_.resize(n);
  for (std::size_t i = 0; i < n; ++i) rank_[static_cast<std::size_t>(order_[i])] = static_cast<std::int32_t>(i);
  std::tie(t_, start_energy_, shortest_, longest_) = std::tuple_cat(figures);
  std::tie(steps_, at_once_) = std::tuple_cat(steps);
  lengths_ = other.lengths_;
  started_ = other.started_;
  if (started_) find_force();
}

}  // namespace tempi
