// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tempi/core/error.hpp"
#include "tempi/integrator/multi_domain/response.hpp"
#include "tempi/integrator/one_step/newton.hpp"
#include "tempi/integrator/one_step/sync_variational.hpp"

namespace tempi {
namespace {

// Substeps are steps of the variational map whose driven components are held. Its nominal step is the system's, over a
// part of which prescribed motions are differenced: alike in all domains that share a support.
class MidpointDomain final : public Domain {
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
        impulses_.admissible = false;
        impulses_.fault = error.what();
        return impulses_;
      }
      impulses_.last.setZero();
      for (std::size_t i = 0; i < map_.stages().size(); ++i) {
        const double point = map_.action().points[i], tau = (k + point) / rule_.substeps;
        const Vector J = h * map_.action().weights[i] * map_.stages()[i].force(part_.driven);
        impulses_.early += (1.0 - tau) * J;
        impulses_.late += tau * J;
        impulses_.last += point * J;
      }
    }
    return impulses_;
  }

  Matrix response() override {
    const Matrix K = stiffness_(start_.displacement, step_.t0);
    Matrix C;
    if (model().has_dampers())
      C = stiffness_.assemble(
          [&](TermId id, std::span<double> H) { model().add_damping(id, start_.displacement, step_.t0, 1.0, H); });
    return interface_response(K, C, map_.forces().mass(), part_.driven, held_, rule_, step_.length);
  }

  Vector rounding() override {
    stiffness_(start_.displacement, step_.t0);
    return step_.length * stiffness_.rounding_of_forces(start_.displacement, step_.t0)(part_.driven);
  }

  void put_back(State& whole) const override {
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

 private:
  const Model& model() const { return *part_.submodel.model; }

  const DomainInterface::Part& part_;
  DomainRule rule_;
  VariationalMap map_;
  AssembledStiffness stiffness_;
  std::vector<Index> held_;  // by supports
  SystemStep step_{};
  State start_, state_;  // where the step begins; after the last run
  Impulses impulses_;
};

}  // namespace

std::unique_ptr<Domain> make_domain(const DomainInterface::Part& part, const DomainRule& rule, double system_step) {
  return rule.is_explicit() && !part.submodel.model->has_dampers() ? make_explicit_domain(part, rule, system_step)
                                                                   : make_midpoint_domain(part, rule, system_step);
}

std::unique_ptr<Domain> make_midpoint_domain(const DomainInterface::Part& part, const DomainRule& rule,
                                             double system_step) {
  return std::make_unique<MidpointDomain>(part, rule, system_step);
}

}  // namespace tempi
