// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tempi/core/error.hpp"
#include "tempi/integrator/multi_domain/blocks.hpp"
#include "tempi/integrator/multi_domain/response.hpp"
#include "tempi/integrator/one_step/newton.hpp"
#include "tempi/integrator/one_step/sync_variational.hpp"

namespace tempi {
namespace {

// Substeps are steps of the variational map whose driven components are held. Its nominal step is the system's, over a
// part of which prescribed motions are differenced: alike in all domains that share a support.
class MidpointDomain : public Domain {
 public:
  MidpointDomain(const DomainInterface::Part& part, const DomainRule& rule, double system_step)
      : part_(part),
        rule_(rule),
        map_(*part.submodel.model, symmetric_midpoint_action(rule.alpha), system_step),
        stiffness_(*part.submodel.model),
        state_(reference_state(*part.submodel.model)) {
    map_.forces().drive(part.driven);
    for (const Index i : map_.forces().held())
      if (!std::ranges::binary_search(part.driven, i)) held_.push_back(i);
  }

  bool is_explicit() const override {
    return part_.driven.empty() || (rule_.substeps == 1 && map_.action().is_explicit() && !model().has_dampers());
  }

  void begin(const State& whole, SystemStep step) override {
    start_ = part_.submodel.restricted(whole);
    step_ = step;
    map_.keep_matrix();  // for this step: what came before leaves no trace
  }

  const Impulses& run(const Vector& w) override {
    state_ = start_;
    map_of(state_.velocity)(part_.driven) = w;
    map_.forces().drive_along(w);
    const Index n = static_cast<Index>(part_.driven.size());
    impulses_ = {Vector::Zero(n), Vector::Zero(n), Vector::Zero(n)};
    const double h = step_.length / rule_.substeps;
    for (int k = 0; k < rule_.substeps; ++k) {
      try {
        map_.step(state_, step_.t0 + k * h, h);
      } catch (const SolveError& error) {
        return failed(error.what());
      }
      add_substep(k);
    }
    return impulses_;
  }

  Matrix response(Around) override {
    const Matrix K = stiffness_(start_.displacement, step_.t0);
    return interface_response(K, damping(), map_.forces().mass(), part_.driven, held_, rule_, step_.length);
  }

  Vector rounding() override { return rounding_of_forces()(part_.driven); }

  void put_back(State& whole, bool /*may_wait*/) override {
    part_.submodel.put_back(state_, whole);
    whole.loads += state_.loads;
    whole.damping += state_.damping;
    for (std::size_t s = 0; s < whole.supports.size(); ++s) whole.supports[s] += state_.supports[s];
    whole.constraints += state_.constraints;
  }

  void use_threads(int threads) override { map_.forces().use_threads(threads); }
  bool may_run_beside_others() const override {
    return !model().has_forces() &&
           std::ranges::none_of(model().supports().held_nodes(), [&](NodeId a) { return model().supports().moves(a); });
  }
  Index evaluations() const override { return map_.forces().evaluations(); }

 protected:
  const Model& model() const { return *part_.submodel.model; }

  void add_substep(int k) {
    const double h = step_.length / rule_.substeps;
    impulses_.last.setZero();
    for (std::size_t i = 0; i < map_.stages().size(); ++i) {
      const double point = map_.action().points[i], tau = (k + point) / rule_.substeps;
      const Vector J = h * map_.action().weights[i] * map_.stages()[i].force(part_.driven);
      impulses_.early += (1.0 - tau) * J;
      impulses_.late += tau * J;
      impulses_.last += point * J;
    }
  }
  const Impulses& failed(std::string fault) {
    impulses_.admissible = false;
    impulses_.fault = std::move(fault);
    return impulses_;
  }
  Matrix damping() {  // empty where there is none
    if (!model().has_dampers()) return {};
    return stiffness_.damping(start_.displacement, step_.t0);
  }
  Vector rounding_of_forces() {
    stiffness_(start_.displacement, step_.t0);
    return step_.length * stiffness_.rounding_of_forces(start_.displacement, step_.t0);
  }

  const DomainInterface::Part& part_;
  DomainRule rule_;
  VariationalMap map_;
  AssembledStiffness stiffness_;
  std::vector<Index> held_;  // by supports
  SystemStep step_{};
  State start_, state_;  // where the step begins; after the last run
  Impulses impulses_;
};

// One substep, whose equations are solved with those of the interface: no trial of it solves anything.
class JointMidpointDomain final : public MidpointDomain {
 public:
  JointMidpointDomain(const DomainInterface::Part& part, const DomainRule& rule, double system_step)
      : MidpointDomain(part, rule, system_step), all_(part.driven) {
    for (Index i = 0; i < map_.forces().mass().size(); ++i)
      if (!std::ranges::binary_search(map_.forces().held(), i)) inner_.push_back(i);
    all_.insert(all_.end(), inner_.begin(), inner_.end());
  }

  const std::vector<Index>& inner() const override { return inner_; }

  void begin(const State& whole, SystemStep step) override {
    MidpointDomain::begin(whole, step);
    momentum_ = map_.forces().mass().cwiseProduct(map_of(start_.velocity));
    Z_.setZero(momentum_.size());
    map_.place_held(start_, step_.t0, step_.length, Z_);
  }

  const Impulses& attempt(const Vector& x) override {
    const Index n = std::ssize(part_.driven);
    Z_(all_) = x;
    impulses_ = {Vector::Zero(n), Vector::Zero(n), Vector::Zero(n)};
    const Admissibility here = map_.attempt(start_, step_.t0, step_.length, Z_);
    if (!here.holds()) return failed(here.fault);
    add_substep(0);
    impulses_.left = map_.residual(momentum_, step_.length)(inner_);
    impulses_.largest = momentum_.cwiseAbs().maxCoeff();
    for (std::size_t i = 0; i < map_.stages().size(); ++i)
      impulses_.largest = std::max(impulses_.largest, step_.length * map_.action().weights[i] *
                                                          map_.stages()[i].force.cwiseAbs().maxCoeff());
    return impulses_;
  }

  const Impulses& run(const Vector& x) override {
    if (!attempt(x).admissible) return impulses_;
    state_ = start_;
    map_.forces().drive_along(x.head(std::ssize(part_.driven)));
    map_.complete(state_, step_.t0, step_.length, Z_);
    return impulses_;
  }

  // -(h^2 alpha (1 - alpha) K + h/2 C), and - M of inner components.
  Matrix response(Around around) override {
    const double h = step_.length;
    const std::span<const double> u =
        around == Around::last_trial ? span_of(map_.stages().front().u) : std::span<const double>(start_.displacement);
    Matrix A = h * h * rule_.alpha * (1.0 - rule_.alpha) * stiffness_(u, step_.t0);
    if (model().has_dampers()) A += Matrix(0.5 * h * damping());
    for (const Index i : inner_) A.coeffRef(i, i) += map_.forces().mass()(i);
    return -block(A, all_);
  }

  Vector rounding() override { return rounding_of_forces()(all_); }

 private:
  std::vector<Index> inner_;
  std::vector<Index> all_;  // driven ones, then these
  Vector momentum_, Z_;     // where the step begins; velocities over it
};

}  // namespace

std::unique_ptr<Domain> make_domain(const DomainInterface::Part& part, const DomainRule& rule, double system_step) {
  if (rule.is_explicit() && !part.submodel.model->has_dampers()) return make_explicit_domain(part, rule, system_step);
  if (rule.substeps == 1 && !part.driven.empty()) return std::make_unique<JointMidpointDomain>(part, rule, system_step);
  return make_midpoint_domain(part, rule, system_step);
}

std::unique_ptr<Domain> make_midpoint_domain(const DomainInterface::Part& part, const DomainRule& rule,
                                             double system_step) {
  return std::make_unique<MidpointDomain>(part, rule, system_step);
}

}  // namespace tempi
