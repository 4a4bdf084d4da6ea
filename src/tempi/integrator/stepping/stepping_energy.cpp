// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/stepping/stepping_energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/integrator/stepping/energy_part.hpp"

namespace tempi {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr Index most_at_once = 10'000;  // events of a subdomain without time passing: its potential has no bottom

double length_scale(const Model& model) {
  double largest = 0.0;
  for (const double x : model.reference()) largest = std::max(largest, std::abs(x));
  return largest;
}

}  // namespace

Subdomains one_subdomain(const Model& model, double energy_step) {
  return {std::vector<std::int32_t>(static_cast<std::size_t>(model.term_count()), 0), {energy_step}};
}

SteppingEnergy::~SteppingEnergy() = default;

std::string_view SteppingEnergy::name() const {
  return parts_.size() == 1 ? "energy-stepping" : "async-energy-stepping";
}

Claims SteppingEnergy::claims() const {
  return {0.5, Conservation::exact, Conservation::exact, Conservation::bounded, true, true};
}

void SteppingEnergy::start(State& state) {
  kick_drift_.start(state);
  CompensatedSum energy;
  const auto d = static_cast<std::size_t>(model_.dim());
  for (std::size_t i = 0; i < inverse_mass_.size(); ++i)
    energy += 0.5 * model_.mass()[i / d] * state.velocity[i] * state.velocity[i];
  Look at;
  for (Part& part : parts_) {
    part.flight_start = 0.0;
    part.begin(state);
    part.look(0.0, at);
    if (!std::isfinite(at.V))
      for (const Part::Piece& p : part.pieces)
        for (std::size_t k = 0; k < p.terms.size(); ++k)
          if (!std::isfinite(p.potential->energy(p.terms[k], state.displacement, 0.0)))
            throw SolveError(p.potential->fault(p.terms[k], state.displacement, 0.0, 0.0));
    // On a level set, as every undeformed body is, the flight stands on the lower edge of its band.
    const double levels = at.V / part.h, nearest = std::round(levels);
    const bool on_level = std::abs(at.V - nearest * part.h) <= 1e-12 * std::max(at.magnitude, part.h);
    if (!(std::abs(levels) < 9e15))
      throw InputError(fmt::format("energy_step = {} J is too small to count levels of {:.6g} J.", part.h, at.V));
    part.level = static_cast<std::int64_t>(on_level ? nearest : std::floor(levels));
    part.standing = on_level ? Edge::low : Edge::none;
    energy += static_cast<double>(part.level) * part.h;
  }
  for (const WallPart& wall : walls_)
    for (const NodeId a : wall.hard.nodes)
      if (gap_of(wall, a).distance < -1e-12 * length_scale(model_))
        throw InputError(fmt::format("node {} starts {:.6g} m beyond a wall. Move the body, or the wall.", index(a),
                                     -gap_of(wall, a).distance));
  start_energy_ = energy.value();
  started_ = true;
}

std::array<double, 3> SteppingEnergy::place_of(NodeId node) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  std::array<double, 3> x{};
  for (std::size_t c = 0; c < d; ++c)
    x[c] = model_.reference()[ordinal(node) * d + c] + state_->displacement[ordinal(node) * d + c];
  return x;
}

Gap SteppingEnergy::gap_of(const WallPart& wall, NodeId node) const { return gap(wall.hard.wall, place_of(node)); }

double SteppingEnergy::predict(const EventLoop::Item& item) {
  if (!started_ || state_ == nullptr) return EventLoop::never;
  if (item[1] != 0) {
    WallPart& wall = walls_[static_cast<std::size_t>(item[0])];
    const auto d = static_cast<std::size_t>(model_.dim());
    double first = EventLoop::never;
    for (std::size_t i = 0; i < wall.hard.nodes.size(); ++i) {
      const std::size_t a = ordinal(wall.hard.nodes[i]);
      std::array<double, 3> v{};
      std::copy_n(&state_->velocity[a * d], d, v.begin());
      const double t = state_->clock[a] + time_to_reach(wall.hard.wall, place_of(wall.hard.nodes[i]), v);
      if (!(t < first)) continue;
      first = t;
      wall.next = i;
    }
    return first;
  }
  Part& part = parts_[static_cast<std::size_t>(item[0])];
  part.begin(*state_, std::exchange(part.just_struck, false));
  if (std::exchange(part.is_predicted, false)) return part.flight_start + part.next.s;
  const double resolution = 4.0 * eps * std::max(part.flight_start, std::numeric_limits<double>::min());
  part.find_horizon(resolution);
  if (part.is_rigid()) {
    part.next = {std::numeric_limits<double>::infinity(), Edge::none, part.curvature};
    return EventLoop::never;
  }
  part.next = part.search.first_exit(part, part.low(), part.high(), part.standing, part.curvature, resolution);
  return part.flight_start + part.next.s;
}

void SteppingEnergy::act(double t, std::span<const EventLoop::Event> due) {
  if (due.front().item[1] != 0) return hit(walls_[static_cast<std::size_t>(due.front().item[0])], t);
  Part& part = parts_[static_cast<std::size_t>(due.front().item[0])];
  part.curvature = part.next.curvature;
  if (part.next.edge == Edge::none) {  // nothing so far
    part.flight_start = t;
    part.standing = Edge::none;
    return;
  }
  strike(part, t);
}

template <std::size_t d>
void SteppingEnergy::kick(NodeId node, const std::array<double, d>& impulse) {
  double* v = &state_->velocity[ordinal(node) * d];
  double before = 0.0, after = 0.0;
  if (model_.supports().holds(node)) {
    constexpr std::array<double, d> no_load{};
    for (std::size_t c = 0; c < d; ++c) before += v[c] * v[c];
    kick_drift_.kick(*state_, node, impulse, no_load);
    for (std::size_t c = 0; c < d; ++c) after += v[c] * v[c];
  } else {
    for (std::size_t c = 0; c < d; ++c) {
      const double old = v[c], now = old + impulse[c] * inverse_mass_[ordinal(node) * d];
      before += old * old, after += now * now;
      v[c] = now;
    }
  }
  strayed_ += 0.5 * model_.mass()[ordinal(node)] * (after - before);
}

std::string SteppingEnergy::why_no_time_passes(const Part& part, double t) const {
  std::vector<double> ahead = state_->displacement;
  for (std::size_t i = 0; i < ahead.size(); ++i) ahead[i] += 64.0 * eps * t * state_->velocity[i];
  for (const Part::Piece& p : part.pieces)
    for (const Index k : p.terms) {
      std::vector<double> g(p.width * static_cast<std::size_t>(model_.dim()), 0.0);
      const double admissible = p.potential->add_gradient(k, ahead, t, g);
      if (!(admissible > 0.0))
        return fmt::format("{} No level of the energy stops it before: choose an energy_step smaller than {:.6g} J.",
                           p.potential->fault(k, ahead, t, admissible), part.h);
    }
  double V = 0.0;
  for (const Part::Piece& p : part.pieces) V += p.found.V;
  const double beyond = std::max(V - part.high(), part.low() - V) / part.h;
  if (beyond > 1.0)
    return fmt::format(
        "at t = {:.9g} s the potential energy jumps by {:.3g} energy steps of {:.6g} J at once, as that of faces does "
        "which meet flat: they cross nowhere before and along their whole length behind. Turn one of the bodies a "
        "little, or let them touch by law = \"layers\".",
        t, beyond, part.h);
  return fmt::format(
      "{} events at t = {:.9g} s: the potential energy has no bottom there, or the energy step {:.6g} J is far too "
      "small. Choose a larger one, or a start farther from where particles meet.",
      most_at_once, t, part.h);
}

void SteppingEnergy::strike(Part& part, double t) {
  State& state = *state_;
  const auto d = static_cast<std::size_t>(model_.dim());
  part.find_gradient();
  const auto feels = [&](std::size_t a) {
    return std::any_of(&part.n[a * d], &part.n[a * d] + d, [](double component) { return component != 0.0; });
  };
  for (std::size_t a = 0; a < part.nodes.size(); ++a) {  // where n was found, to the bit: moments depend on it
    if (part.sparse && !feels(a)) continue;
    const std::size_t i = ordinal(part.nodes[a]);
    for (std::size_t c = 0; c < d; ++c) state.displacement[i * d + c] = part.lines[a].displacement[c];
    state.clock[i] = t;
  }
  const std::vector<double>& n = part.n;
  // v . n as the search found it, term by term: a sum over nodes has the rounding of a common velocity, and might not
  // agree that a grazing flight leaves.
  double vn = 0.0, mn = 0.0;
  for (const Part::Piece& p : part.pieces) vn += p.found.rate;
  for (std::size_t a = 0; a < part.nodes.size(); ++a)
    for (std::size_t c = 0; c < d; ++c) {
      const std::size_t i = ordinal(part.nodes[a]) * d + c;
      mn += inverse_mass_[i] * n[a * d + c] * n[a * d + c];
    }
  if (!std::isfinite(vn) || !std::isfinite(mn))
    for (const Part::Piece& p : part.pieces)
      for (const Index k : p.terms) {
        std::vector<double> g(p.width * d, 0.0);
        const double admissible = p.potential->add_gradient(k, state.displacement, t, g);
        if (!(admissible > 0.0)) throw SolveError(p.potential->fault(k, state.displacement, t, admissible));
      }
  const double sign = part.next.edge == Edge::high ? 1.0 : -1.0, jump = sign * part.h;
  const bool towards = sign * vn > 0.0 && mn > 0.0;  // not so: rounding of a grazing flight
  const double left = vn * vn - 2.0 * jump * mn;
  const bool reflects = left <= 0.0;
  const double lambda = !towards ? 0.0 : reflects ? -2.0 * vn / mn : (-vn + sign * std::sqrt(left)) / mn;
  with_dim(model_.dim(), [&]<std::size_t dim>() {
    for (std::size_t a = 0; a < part.nodes.size() && lambda != 0.0; ++a) {
      if (part.sparse && !feels(a)) continue;
      std::array<double, dim> p;
      for (std::size_t c = 0; c < dim; ++c) p[c] = lambda * n[a * dim + c];
      kick(part.nodes[a], p);
    }
  });
  const bool crossed = towards && !reflects;
  if (crossed) {
    part.level += sign > 0.0 ? 1 : -1;
    strayed_ += jump;
  }
  // Uphill it stands on the lower edge of the band above; downhill on the upper one of that below; reflected where it
  // was.
  part.standing = crossed ? (sign > 0.0 ? Edge::low : Edge::high) : part.next.edge;

  Events& met = part.met;
  ++(!crossed ? met.reflected : sign > 0.0 ? met.uphill : met.downhill);
  if (met.all() > 1) {
    met.shortest = std::min(met.shortest, t - met.last);
    steps_[steps_.size() > 1 ? static_cast<std::size_t>(&part - parts_.data()) : 0].add(t - met.last);
  }
  met.longest = std::max(met.longest, t - met.last);
  part.at_once = t - met.last > 4.0 * eps * t ? 0 : part.at_once + 1;
  met.last = t;
  if (part.at_once > most_at_once) throw SolveError(why_no_time_passes(part, t));
  part.flight_start = t;
  part.just_struck = !part.sparse;  // some of its nodes are where their own lines have them, to rounding
  if (lambda != 0.0) {
    for (const Part::Neighbour& near : part.neighbours)
      if (std::ranges::any_of(near.shared, feels)) start_anew(parts_[static_cast<std::size_t>(near.part)], t);
    predict_anew();
    for (const std::int32_t w : part.walls) loop_.predict_again(walls_[static_cast<std::size_t>(w)].slot);
  }
  if (witness_) witness_(static_cast<Index>(&part - parts_.data()), t, crossed ? jump : 0.0);
}

void SteppingEnergy::start_anew(Part& part, double t) {
  if (part.flight_start != t) part.standing = Edge::none;
  part.flight_start = t;
  part.just_struck = false;
  anew_.push_back(&part);
}

// Several at once, each alone on a thread; one alone on all of them.
void SteppingEnergy::predict_anew() {
  slots_.clear();
  for (Part* part : anew_) {
    slots_.push_back(part->slot);
    if (anew_.size() > 1) part->team = &alone_;
  }
  const auto ended = [&] {
    for (Part* part : anew_) part->team = team_.get();
    anew_.clear();
  };
  try {
    slots_.size() == 1 ? loop_.predict_again(slots_.front()) : loop_.predict_again(slots_, *team_);
  } catch (...) {
    ended();
    throw;
  }
  ended();
}

void SteppingEnergy::hit(WallPart& wall, double t) {
  State& state = *state_;
  const NodeId node = wall.hard.nodes[wall.next];
  const auto d = static_cast<std::size_t>(model_.dim());
  const std::size_t i = ordinal(node) * d;
  for (std::size_t c = 0; c < d; ++c)
    state.displacement[i + c] += (t - state.clock[ordinal(node)]) * state.velocity[i + c];
  state.clock[ordinal(node)] = t;
  const Gap at = gap_of(wall, node);
  double vn = 0.0, mn = 0.0;
  for (std::size_t c = 0; c < d; ++c) {
    vn += state.velocity[i + c] * at.normal[c];
    mn += inverse_mass_[i + c] * at.normal[c] * at.normal[c];
  }
  const double lambda = vn < 0.0 && mn > 0.0 ? -2.0 * vn / mn : 0.0;
  const auto bounce = [&]<std::size_t dim>() {
    std::array<double, dim> p;
    for (std::size_t c = 0; c < dim; ++c) p[c] = lambda * at.normal[c];
    kick(node, p);
  };
  if (mn > 0.0) with_dim(model_.dim(), bounce);
  ++wall.hits;
  wall.at_once = t - wall.last > 4.0 * eps * t ? 0 : wall.at_once + 1;
  wall.last = t;
  const Index once_each = std::ssize(wall.hard.nodes);  // as a flat face meets it
  if (wall.at_once > most_at_once + once_each || !(mn > 0.0))
    throw SolveError(
        fmt::format("node {} cannot leave a wall at t = {:.9g} s: it is held there, or between walls. Move "
                    "the wall, or leave its components free.",
                    index(node), t));
  for (const std::int32_t j : wall.parts[wall.next]) start_anew(parts_[static_cast<std::size_t>(j)], t);
  predict_anew();
  for (const std::int32_t w : wall.walls[wall.next]) {
    WallPart& other = walls_[static_cast<std::size_t>(w)];
    if (&other != &wall) loop_.predict_again(other.slot);
  }
}

void SteppingEnergy::advance(State& state, double t_end, Observer*) {
  if (state_ != &state) {
    state_ = &state;
    const bool goes_on = started_;
    if (!started_) start(state);
    for (Part& part : parts_) part.is_predicted = goes_on;
    loop_.predict_all();
  }
  loop_.run_until(t_end);
}

Snapshot SteppingEnergy::synchronized(const State& state, double t) const {
  Snapshot snapshot{t, state, std::vector<double>(state.velocity.size()), 0.0};
  if (!started_) kick_drift_.start(snapshot.state);
  for (Index a = 0; a < model_.node_count(); ++a) kick_drift_.drift(snapshot.state, make_id<NodeId>(a), t);
  if (!looks_) looks_ = std::make_unique<BatchForces>(model_, team_->size());
  const auto [energy, admissible] = looks_->look(snapshot.state.displacement, t, snapshot.force);
  snapshot.potential_energy = energy;
  snapshot.admissible = admissible;
  return snapshot;
}

double SteppingEnergy::step(TermId term) const {
  const Events& met = events(of_term_[ordinal(term)]);
  return met.all() > 0 ? met.last / static_cast<double>(met.all()) : nominal_[ordinal(term)];
}

Index SteppingEnergy::updates(TermId term) const { return events(of_term_[ordinal(term)]).all(); }

double SteppingEnergy::energy_resolution() const {
  double sum = 0.0;
  for (const Part& part : parts_) sum += part.h;
  return sum;
}

Index SteppingEnergy::subdomain_count() const { return std::ssize(parts_); }
const SteppingEnergy::Events& SteppingEnergy::events(Index i) const { return parts_[static_cast<std::size_t>(i)].met; }
std::int64_t SteppingEnergy::level(Index i) const { return parts_[static_cast<std::size_t>(i)].level; }
double SteppingEnergy::energy_step(Index i) const { return parts_[static_cast<std::size_t>(i)].h; }
double SteppingEnergy::level_error() const { return strayed_.value(); }

std::vector<Integrator::StepHistogram> SteppingEnergy::step_histograms() const {
  std::vector<StepHistogram> all;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    all.push_back(steps_[i].histogram(parts_.size() == 1 ? "all terms"
                                      : steps_.size() == 1
                                          ? fmt::format("all {} subdomains", parts_.size())
                                          : fmt::format("subdomain {}: {} terms", i + 1, parts_[i].terms())));
  }
  return all;
}

SteppingEnergy::Measures SteppingEnergy::measures() const {
  Events sum;
  for (const Part& part : parts_) {
    sum.uphill += part.met.uphill, sum.downhill += part.met.downhill, sum.reflected += part.met.reflected;
    sum.shortest = std::min(sum.shortest, part.met.shortest);
    sum.longest = std::max(sum.longest, part.met.longest);
    sum.last = std::max(sum.last, part.met.last);
  }
  const auto number = [](Index count) { return static_cast<double>(count); };
  const double events = number(sum.all());
  double looks = 0.0, terms = 0.0;  // terms: once for each look
  for (const Part& part : parts_) {
    looks += number(part.search.looks());
    terms += number(part.search.looks()) * number(part.terms());
  }
  Measures all = {{"events", events},
                  {"uphill", number(sum.uphill)},
                  {"downhill", number(sum.downhill)},
                  {"reflected", number(sum.reflected)},
                  {"subdomains", number(std::ssize(parts_))},
                  {"level_error", level_error() / std::max(std::abs(start_energy_), energy_resolution())},
                  {"looks_per_event", events > 0.0 ? looks / events : 0.0},
                  {"terms_looked_at", terms}};
  if (!walls_.empty()) {
    Index hits = 0;
    for (const WallPart& wall : walls_) hits += wall.hits;
    all.emplace_back("wall_hits", number(hits));
  }
  if (sum.all() > 1) {
    all.emplace_back("mean_step", sum.last * number(std::ssize(parts_)) / events);
    all.emplace_back("shortest_step", sum.shortest);
    all.emplace_back("longest_step", sum.longest);
  }
  return all;
}

}  // namespace tempi
