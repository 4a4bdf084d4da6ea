// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/stepping/stepping_energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/integrator/checkpoint.hpp"
#include "tempi/integrator/stepping/conservative.hpp"

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
    const double rounding = std::pow(16.0 * eps * fastest_of_all, 2);  // of relative velocities, squared
    double least = horizon_;                                           // (distance / speed)^2
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

SteppingEnergy::SteppingEnergy(const Model& model, Subdomains subdomains, std::vector<double> nominal,
                               std::vector<HardWall> walls)
    : model_(model), kick_drift_(model, 0.0), nominal_(std::move(nominal)), of_term_(std::move(subdomains.of_term)) {
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
  std::vector<std::vector<std::int32_t>> around(static_cast<std::size_t>(model.node_count()));  // subdomains of a node
  std::vector<std::int32_t> place(around.size(), -1);
  for (std::size_t i = 0; i < count; ++i) {
    Part& part = parts_[i];
    part.h = subdomains.energy_step[i];
    part.dim = model.dim();
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
        part.rate_count += piece.terms.size() * (piece.length ? width : 1);
        part.sparse = part.sparse || piece.length;
        part.pieces.push_back(std::move(piece));
      }
    }
    const std::vector<double> rest(model.reference().size(), 0.0);
    for (Part::Piece& piece : part.pieces) {
      piece.batch = piece.potential->batch(piece.terms, place);
      const auto room = static_cast<std::size_t>(Batch::padded(std::ssize(piece.terms)));
      piece.energies.assign(room, 0.0);
      piece.gradients.assign(room * piece.width * d, 0.0);
      TEMPI_ASSERT(piece.batch->row() == static_cast<Index>(piece.width * d));
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
    part.v = part.n = part.rest = part.x0;
    for (std::size_t a = 0; a < part.nodes.size(); ++a)
      for (std::size_t c = 0; c < d; ++c) part.rest[a * d + c] = model.reference()[ordinal(part.nodes[a]) * d + c];
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
    std::ranges::sort(part.walls);
    part.walls.erase(std::unique(part.walls.begin(), part.walls.end()), part.walls.end());
  }
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
          if (!std::isfinite(p.energies[k]))
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
  part.find_horizon();
  if (part.is_rigid()) {
    part.next = {std::numeric_limits<double>::infinity(), Edge::none, part.curvature};
    return EventLoop::never;
  }
  part.next = search_.first_exit(part, part.low(), part.high(), part.standing, part.curvature,
                                 4.0 * eps * std::max(part.flight_start, std::numeric_limits<double>::min()));
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
  double vn = 0.0, mn = 0.0;
  for (std::size_t a = 0; a < part.nodes.size(); ++a)
    for (std::size_t c = 0; c < d; ++c) {
      const std::size_t i = ordinal(part.nodes[a]) * d + c;
      vn += state.velocity[i] * n[a * d + c];
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
  std::array<double, 3> p{};
  for (std::size_t a = 0; a < part.nodes.size() && lambda != 0.0; ++a) {
    if (part.sparse && !feels(a)) continue;
    for (std::size_t c = 0; c < d; ++c) p[c] = lambda * n[a * d + c];
    kick(part.nodes[a], std::span(p).first(d));
  }
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
  if (met.all() > 1) met.shortest = std::min(met.shortest, t - met.last);
  met.longest = std::max(met.longest, t - met.last);
  part.at_once = t - met.last > 4.0 * eps * t ? 0 : part.at_once + 1;
  met.last = t;
  if (part.at_once > most_at_once)
    throw SolveError(fmt::format(
        "{} events at t = {:.9g} s: the potential energy has no bottom there, or the energy step {:.6g} J is far too "
        "small. Choose a larger one, or a start farther from where particles meet.",
        most_at_once, t, part.h));
  part.flight_start = t;
  part.just_struck = !part.sparse;  // some of its nodes are where their own lines have them, to rounding
  if (lambda != 0.0) {
    for (const Part::Neighbour& near : part.neighbours)
      if (std::ranges::any_of(near.shared, feels)) start_anew(parts_[static_cast<std::size_t>(near.part)], t);
    for (const std::int32_t w : part.walls) loop_.predict_again(walls_[static_cast<std::size_t>(w)].slot);
  }
  if (witness_) witness_(static_cast<Index>(&part - parts_.data()), t, crossed ? jump : 0.0);
}

void SteppingEnergy::start_anew(Part& part, double t) {
  if (part.flight_start != t) part.standing = Edge::none;
  part.flight_start = t;
  part.just_struck = false;
  loop_.predict_again(part.slot);
}

void SteppingEnergy::kick(NodeId node, std::span<const double> impulse) {
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto speed = [&] {
    const double* v = &state_->velocity[ordinal(node) * d];
    double squared = 0.0;
    for (std::size_t c = 0; c < d; ++c) squared += v[c] * v[c];
    return squared;
  };
  constexpr std::array<double, 3> no_load{};
  const double before = speed();
  kick_drift_.kick(*state_, node, impulse, std::span(no_load).first(d));
  strayed_ += 0.5 * model_.mass(node) * (speed() - before);
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
  std::array<double, 3> p{};
  if (vn < 0.0 && mn > 0.0)
    for (std::size_t c = 0; c < d; ++c) p[c] = -2.0 * vn / mn * at.normal[c];
  if (mn > 0.0) kick(node, std::span(p).first(d));
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
    const Index looks = search_.looks();
    loop_.predict_all();
    if (goes_on) search_.count_from(looks);  // these flights were counted before
  }
  loop_.run_until(t_end);
}

Snapshot SteppingEnergy::synchronized(const State& state, double t) const {
  return kick_drift_.synchronized(state, t, false, [](TermId) { return 0.0; });
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
  Measures all = {{"events", events},
                  {"uphill", number(sum.uphill)},
                  {"downhill", number(sum.downhill)},
                  {"reflected", number(sum.reflected)},
                  {"subdomains", number(std::ssize(parts_))},
                  {"level_error", level_error() / std::max(std::abs(start_energy_), energy_resolution())},
                  {"looks_per_event", events > 0.0 ? number(search_.looks()) / events : 0.0}};
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

void SteppingEnergy::save(ArchiveWriter& archive) const {
  save_model(archive, model_);
  archive.put("started", started_);
  archive.put("energy", start_energy_);
  archive.put("strayed", strayed_);
  archive.put("looks", search_.looks());
  archive.put("subdomain_of_term", of_term_);
  archive.put("subdomains", subdomain_count());
  for (const Part& part : parts_) {
    archive.put("energy_step", part.h);
    archive.put("level", part.level);
    archive.put("standing", part.standing);
    archive.put("flight", std::array{part.flight_start, part.curvature});
    archive.put("events", part.met);
    archive.put("at_once", part.at_once);
  }
  std::vector<Index> hits;
  std::vector<double> last;
  for (const WallPart& wall : walls_) {
    hits.insert(hits.end(), {wall.hits, wall.at_once});
    last.push_back(wall.last);
  }
  archive.put("wall_hits", hits);
  archive.put("last_hits", last);
}

void SteppingEnergy::load(ArchiveReader& archive) {
  struct Kept {
    double h;
    std::int64_t level;
    Edge standing;
    std::array<double, 2> flight;
    Events met;
    Index at_once;
  };
  require_same_model(archive, model_);
  bool started = false;
  double energy = 0.0;
  CompensatedSum strayed;
  Index looks = 0, count = 0;
  std::vector<std::int32_t> of_term(of_term_.size());
  archive.get("started", started);
  archive.get("energy", energy);
  archive.get("strayed", strayed);
  archive.get("looks", looks);
  archive.get("subdomain_of_term", of_term);
  archive.get("subdomains", count);
  std::vector<Kept> all(parts_.size());
  bool same = of_term == of_term_ && count == subdomain_count();
  for (std::size_t i = 0; i < all.size() && same; ++i) {
    archive.get("energy_step", all[i].h);
    archive.get("level", all[i].level);
    archive.get("standing", all[i].standing);
    archive.get("flight", all[i].flight);
    archive.get("events", all[i].met);
    archive.get("at_once", all[i].at_once);
    same = all[i].h == parts_[i].h;
  }
  std::vector<Index> hits(2 * walls_.size());
  std::vector<double> last(walls_.size());
  if (same) {
    archive.get("wall_hits", hits);
    archive.get("last_hits", last);
  }
  if (!same) throw InputError("the checkpoint was written with other energy steps or subdomains. Use the same case.");
  started_ = started;
  start_energy_ = energy;
  strayed_ = strayed;
  search_.count_from(looks);
  for (std::size_t i = 0; i < all.size(); ++i) {
    parts_[i].level = all[i].level;
    parts_[i].standing = all[i].standing;
    parts_[i].flight_start = all[i].flight[0];
    parts_[i].curvature = all[i].flight[1];
    parts_[i].met = all[i].met;
    parts_[i].at_once = all[i].at_once;
  }
  for (std::size_t w = 0; w < walls_.size(); ++w) {
    walls_[w].hits = hits[2 * w];
    walls_[w].at_once = hits[2 * w + 1];
    walls_[w].last = last[w];
  }
  state_ = nullptr;  // flights are predicted from the state it goes on with
}

}  // namespace tempi
