// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/stage_forces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tempi/core/error.hpp"
#include "tempi/integrator/lattice/batch_forces.hpp"

namespace tempi {

bool Admissibility::holds() const { return value > 0.0 && std::isfinite(value); }

Admissibility first_fault(const Model& model, std::span<const double> u, double t) {
  std::vector<double> p(model.largest_stencil() * static_cast<std::size_t>(model.dim()));
  for (Index k = 0; k < model.term_count(); ++k) {
    const auto term = make_id<TermId>(k);
    const auto [potential, i] = model.term(term);
    std::ranges::fill(p, 0.0);
    const Admissibility here{term, potential->add_gradient(i, u, t, p)};
    if (!here.holds()) return {term, here.value, potential->fault(i, u, t, here.value), t};
  }
  return {TermId{}, 0.0, fmt::format("an element is about to invert, or particles to meet, at t = {:.9g} s.", t), t};
}

StageForces::StageForces(const Model& model, double step, ConstraintsKept kept)
    : model_(model),
      step_(step),
      delta_(0.1 * step),
      kick_drift_(model, delta_, kept),
      mass_(model.node_count() * model.dim()),
      support_(static_cast<std::size_t>(mass_.size())) {
  if (!(step > 0.0) || !std::isfinite(step)) throw InputError(fmt::format("step = {} s (must be > 0).", step));
  if (model.memory_count() > 0)
    throw InputError(
        "contacts with a restitution remember how hard they were hit, which this method does not. Choose avi or "
        "newmark, or leave out restitution.");
  for (Index i = 0; i < mass_.size(); ++i) {
    mass_(i) = model.mass(node(i));
    support_[static_cast<std::size_t>(i)] = model.supports().support_of(node(i), component(i));
    if (is_supported(i)) held_.push_back(i);
  }
  find_paths();
}

StageForces::~StageForces() = default;

void StageForces::use_threads(int threads) const {
  threads_ = threads;
  batches_.reset();
}

BatchForces& StageForces::batches() const {
  if (!batches_) batches_ = std::make_unique<BatchForces>(model_, threads_);
  return *batches_;
}

double StageForces::potential_energy(std::span<const double> u, double t) const {
  std::vector<double> force(u.size());
  return batches().look(u, t, force).energy;
}

bool StageForces::is_remembered(std::span<const double> u, double t) const {
  return last_ && last_->t == t && std::memcmp(last_->u.data(), u.data(), u.size_bytes()) == 0;
}

Admissibility StageForces::evaluate(Stage& stage, double t) const {
  const Admissibility found = evaluate_undamped(stage, t);
  if (found.holds()) add_dampings(stage, t);
  return found;
}

Admissibility StageForces::evaluate_undamped(Stage& stage, double t) const {
  if (is_remembered(span_of(stage.u), t)) {
    stage.force = last_->force;
    if (model_.has_forces() || stage.load.size() != mass_.size()) stage.load = last_->load;
    return {};
  }
  if (!last_) last_.emplace();
  last_->t = std::numeric_limits<double>::quiet_NaN();  // should it throw
  if (const Admissibility fault = look(stage, t); !fault.holds()) return fault;
  last_->u = stage.u;
  last_->force = stage.force;
  if (model_.has_forces() || last_->load.size() != mass_.size()) last_->load = stage.load;
  last_->t = t;
  return {};
}

Admissibility StageForces::begin(std::span<const double> u, Stage& stage, double t) const {
  if (!is_remembered(u, t)) {
    stage.u = Eigen::Map<const Vector>(u.data(), std::ssize(u));
    return evaluate_once(stage, t);
  }
  exchange(stage, std::numeric_limits<double>::quiet_NaN());
  add_dampings(stage, t);
  return {};
}

Admissibility StageForces::finish(Stage& stage, double t) const {
  return model_.has_dampers() ? evaluate(stage, t) : evaluate_once(stage, t);
}

void StageForces::keep(Stage& stage, double t) const {
  if (!model_.has_dampers()) exchange(stage, t);
}

void StageForces::exchange(Stage& stage, double t) const {
  if (!last_) last_.emplace();
  last_->t = t;
  last_->u.swap(stage.u);
  last_->force.swap(stage.force);
  last_->load.swap(stage.load);
}

Admissibility StageForces::evaluate_once(Stage& stage, double t) const {
  const Admissibility found = look(stage, t);
  if (found.holds()) add_dampings(stage, t);
  return found;
}

Admissibility StageForces::measure(Stage& stage, double t, double& potential_energy) const {
  const Admissibility found = look(stage, t, &potential_energy);
  if (found.holds()) add_dampings(stage, t);
  return found;
}

// All but dampers.
Admissibility StageForces::look(Stage& stage, double t, double* potential_energy) const {
  ++evaluations_;
  stage.force.resize(mass_.size());
  if (stage.load.size() != mass_.size()) stage.load.setZero(mass_.size());
  const auto load = model_.has_forces() ? room_of(stage.load) : std::span<double>();
  if (batches().evaluate(span_of(stage.u), t, room_of(stage.force), load, potential_energy)) return {};
  stage.damping = Vector::Zero(mass_.size());
  return first_fault(model_, span_of(stage.u), t);
}

void StageForces::add_dampings(Stage& stage, double t) const {
  stage.damping.resize(model_.has_dampers() ? mass_.size() : 0);
  if (!model_.has_dampers()) return;
  batches().resist(span_of(stage.u), span_of(stage.v), t, room_of(stage.damping));
  stage.force += stage.damping;
}

void StageForces::damp(std::span<const double> u, double t, double c, Vector& v) const {
  constexpr double rounding = 1e-15;
  auto& [near, rest, direction, image, resistance] = damped_;
  near = mass_;  // the matrix, where there is only drag
  batches().add_drags(c, room_of(near));
  resistance.resize(mass_.size());
  const auto resist_along = [&](const Vector& w) {  // c C w, of components that are not held
    batches().resist(u, span_of(w), t, room_of(resistance));
    resistance *= -c;
    for (const Index i : held_) resistance(i) = 0.0;
  };
  const double size = v.dot(mass_.cwiseProduct(v));
  resist_along(v);
  rest = -resistance;
  direction = rest.cwiseQuotient(near);
  double left = rest.dot(direction);
  const Index most = 1000 + 10 * mass_.size();
  for (Index turn = 0; left > rounding * rounding * size; ++turn) {
    if (turn == most)
      throw SolveError(
          fmt::format("the dampers' equations are not solved at t = {:.9g} s: dampers are too stiff for the step, or "
                      "unlike each other by too much. Try smaller steps or less damping.",
                      t));
    resist_along(direction);
    image = mass_.cwiseProduct(direction) + resistance;
    const double length = left / direction.dot(image), before = left;
    v += length * direction;
    rest -= length * image;
    left = rest.dot(rest.cwiseQuotient(near));
    direction = rest.cwiseQuotient(near) + left / before * direction;
  }
}

void StageForces::add_damping(TermId term, Stage& stage, double t) const {
  if (!model_.is_damped(term)) return;
  if (stage.damping.size() == 0) stage.damping.setZero(mass_.size());
  const auto d = static_cast<std::size_t>(model_.dim());
  const auto nodes = model_.term(term).stencil();
  std::vector<double> q(nodes.size() * d);
  kick_drift_.damping_impulses(term, span_of(stage.u), span_of(stage.v), {}, t, 1.0, q);
  for (std::size_t i = 0; i < q.size(); ++i) {
    const auto at = static_cast<Index>(ordinal(nodes[i / d]) * d + i % d);
    stage.force(at) += q[i];
    stage.damping(at) += q[i];
  }
}

void StageForces::require(const Admissibility& admissibility) {
  if (!admissibility.holds()) throw StepError(admissibility.fault, admissibility.time);
}

void StageForces::drive(std::span<const Index> components) {
  driven_.assign(components.begin(), components.end());
  driven_velocity_ = Vector::Zero(std::ssize(driven_));
  held_.insert(held_.end(), components.begin(), components.end());
  std::ranges::sort(held_);
  find_paths();
}

void StageForces::drive_along(const Vector& w) const { driven_velocity_ = w; }

void StageForces::find_paths() {
  std::vector<Supports::Component> components;
  for (const Index i : held_) components.push_back({node(i), component(i)});
  paths_ = model_.supports().paths(components);
  paths_at_ = velocities_.t = accelerations_.t = std::numeric_limits<double>::quiet_NaN();
}

std::span<const SupportPath> StageForces::paths_at(double t) const {
  if (paths_at_ != t) {
    paths_at_ = std::numeric_limits<double>::quiet_NaN();  // should it throw
    for (SupportPath& path : paths_)
      for (Index block = 0; block < path.displacement.blocks(); ++block) path.displacement.evaluate(block, t);
    paths_at_ = t;
  }
  return paths_;
}

void StageForces::look_at(Rates rates, double t, Prescribed& prescribed) const {
  if (prescribed.t == t) return;
  prescribed.t = std::numeric_limits<double>::quiet_NaN();
  prescribed.values.setZero(std::ssize(held_));
  std::vector<double> found;
  for (const SupportPath& path : paths_) {
    found.assign(path.displacement.size(), 0.0);
    for (Index block = 0; block < path.displacement.blocks(); ++block)
      (path.displacement.*rates)(block, t, delta_, path.displacement.of_block(found, block));
    for (std::size_t k = 0; k < path.places.size(); ++k)
      prescribed.values(static_cast<Index>(path.places[k])) = found[std::min(k, found.size() - 1)];
  }
  prescribed.t = t;
}

const StageForces::Vector& StageForces::held_velocities(double t) const {
  look_at(&ExpressionAtPoints::rates, t, velocities_);
  for (Index k = 0; k < velocities_.values.size(); ++k)
    if (const Index i = held_[static_cast<std::size_t>(k)]; !std::isfinite(velocities_.values(k)))
      model_.supports().velocity(node(i), component(i), t, delta_);  // throws, and says where
  return velocities_.values;
}

const StageForces::Vector& StageForces::held_accelerations(double t) const {
  look_at(&ExpressionAtPoints::second_rates, t, accelerations_);
  return accelerations_.values;
}

void StageForces::place(double t, Eigen::Ref<Vector> u) const {
  each_placed(t, [&](Index i, double there) { u(i) = there; });
}

void StageForces::prescribe(double t, Eigen::Ref<Vector> u, Eigen::Ref<Vector> v) const {
  if (held_.empty()) return;
  place(t, u);
  v(held_) = held_velocities(t);
  v(driven_) = driven_velocity_;
}

void StageForces::book_forces(State& state, const Stage& stage, double dt) const {
  if (!model_.has_forces()) return;
  const Index d = model_.dim();
  for (const auto& [ledger, force] :
       {std::pair(&state.loads, &stage.load), std::pair(&state.damping, &stage.damping)}) {
    if (force->size() == 0) continue;
    each_piece(model_.node_count(), [&](Index first, Index n) {
      Given given;
      for (Index a = first; a < first + n; ++a) {
        std::array<double, 3> q{};
        double work = 0.0;
        for (Index c = 0; c < d; ++c) {
          q[static_cast<std::size_t>(c)] = dt * (*force)(a * d + c);
          work += q[static_cast<std::size_t>(c)] * stage.v(a * d + c);
        }
        given.add(position(make_id<NodeId>(a), stage.u), q, work);
      }
      *ledger += given;
    });
  }
}

void StageForces::save(ArchiveWriter& archive) const {
  const bool remembered = last_ && !std::isnan(last_->t);
  archive.put("remembered", remembered);
  if (!remembered) return;
  archive.put("time_of_forces", last_->t);
  archive.put("place_of_forces", std::vector<double>(last_->u.begin(), last_->u.end()));
}

void StageForces::load(ArchiveReader& archive) const {
  bool remembered = false;
  archive.get("remembered", remembered);
  last_.reset();
  if (!remembered) return;
  double t = 0.0;
  std::vector<double> u(static_cast<std::size_t>(mass_.size()));
  archive.get("time_of_forces", t);
  archive.get("place_of_forces", u);
  const Index before = evaluations_;
  try {
    Stage stage{map_of(u), Vector::Zero(mass_.size()), {}, {}};
    evaluate(stage, t);
  } catch (const SolveError&) {  // of numbers that no run has written
    last_.reset();
  }
  evaluations_ = before;
}

std::array<double, 3> StageForces::position(NodeId a, const Vector& u) const {
  std::array<double, 3> x{};
  for (Index c = 0; c < model_.dim(); ++c) {
    const Index i = index(a) * model_.dim() + c;
    x[static_cast<std::size_t>(c)] = model_.reference()[static_cast<std::size_t>(i)] + u(i);
  }
  return x;
}

}  // namespace tempi
