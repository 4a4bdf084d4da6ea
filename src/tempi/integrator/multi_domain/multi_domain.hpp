// SPDX-License-Identifier: Apache-2.0
// Asynchronous multi-domain variational integrators: domains with steps and rules of their own, held together by an
// interface whose nodes move along a straight line over a system step Dt (Gates, Matous, Heath 2008, section 3.2).
//
//   L_d(z_n, z_n+1) = ext sum_d sum_k L_d^d(q_k, q_k+1),   B^d q_k = C^d [(1 - k/s) psi_n + (k/s) psi_n+1]
//
// (eqs (32)-(34)), extremal over the substeps inside: a discrete Lagrangian of the state at system times alone. Its
// equation for the interface, (35e) and (37h) in one, is with the domains' impulses of domain.hpp
//
//   P_n - M w + sum_d C^T early^d(w) = 0,   w = (psi_n+1 - psi_n) / Dt,   M = sum_d C^T M^d C
//   P_n+1 = P_n + sum_d C^T (early^d + late^d)
//
// so that multipliers need not be kept: P_n, the discrete momentum of the interface, knows what they would say of the
// step before. It is solved by Newton's method with the domains' responses d early / dw summed up on the interface
// (the Schur complement of the bordered system (25), (38)), made again when residuals fall too slowly. A domain is
// eliminated by itself, but for implicit ones of one substep, whose velocities are unknowns beside w. Momentum is kept
// to the rounding of sums whatever the solver leaves, angular momentum to what it leaves; symplectic; energy stays in a
// band. With one domain, or all substeps 1, positions are those of the undivided method.
//
// What is shown as velocity of the interface:
//   canonical    P / M: of second order, and the only one whose momenta are exact with substeps
//   hamiltonian  the paper's (37e)-(37g): momenta of the domains, projected so that velocities agree; with substeps of
//                first order in time, and its momenta wander by what is on the way between domains
//   lagrangian   differences of positions over the last two system steps, everywhere; of second order
// The motion is the same.
//
// Order 2. Not for: models that one explicit step suits (newmark), or many different ones (avi).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/multi_domain/domain.hpp"
#include "tempi/integrator/one_step/newton.hpp"
#include "tempi/integrator/one_step/one_step.hpp"

namespace tempi {

enum class Framework { canonical, hamiltonian, lagrangian };

struct Domains {
  std::vector<int> of_term;       // numbered from 0
  std::vector<DomainRule> rules;  // one each
  std::vector<TiedNode> ties{};
  bool by_reference = false;  // every domain by make_midpoint_domain: what others are tested against
};

class MultiDomainMap final : public OneStepMap {
 public:
  // system_step > 0 [s]; `model` must outlive it. Throws InputError: as DomainInterface; not one rule a domain,
  // substeps below 1, alpha beyond [0, 1].
  MultiDomainMap(const Model& model, Domains domains, double system_step, Framework framework = Framework::canonical);
  ~MultiDomainMap() override;

  std::string_view name() const override { return "multi-domain"; }
  Claims claims() const override {
    return {2, Conservation::exact, Conservation::exact, Conservation::bounded, true, true};
  }
  const StageForces& forces() const override { return forces_; }
  std::vector<double> parameters() const override;

  void start(State& state) const override;
  void step(State& state, double t0, double h) const override;
  void take_step(State& state, double t0, double t1) override;
  void finish(State& state) override;
  void show(State& state, double t) const override;
  Integrator::Measures measures() const override;
  Index evaluations() const override;  // of single domains
  Index substeps(TermId term) const override;
  void use_threads(int threads) const override;
  void save(ArchiveWriter& archive) const override;
  void load(ArchiveReader& archive) override;

  const DomainInterface& interface() const { return interface_; }
  const Domains& domains() const { return domains_; }

 private:
  using Vector = Eigen::VectorXd;
  struct Schur {  // factors of the interface's matrix
    SparseFactors::Matrix A{};
    SparseFactors factors{SparseFactors::Kind::symmetric};
    double length = 0.0;       // of the step it is for [s]; 0: not made yet
    double time = 0.0;         // when it was made [s]
    Index fewest = 0;          // iterations of a step taken with it
    Index more = 0;            // of all these, beyond as many each
    std::vector<double> at{};  // displacements where it was made
  };
  struct Taken {  // of a step
    double t0, t1;
    std::vector<double> from{};       // displacements at t0
    std::vector<double> w{}, v{};     // of psi and inner components: velocity over the step, and at t0
    std::vector<double> projected{};  // of psi at t1, as the paper has it
    double work = 0.0;     // of the multipliers on all domains together, by velocities linear between system times [J]
    double traffic = 0.0;  // sum over the domains of what the interface did to each, magnitudes [J]
    Index iterations = 0;
  };
  struct Taking {  // all steps so far
    std::optional<Taken> last{}, before{};
    double interface_work = 0.0, imbalance = 0.0;  // sums of traffic and work
    double gap = 0.0, slip = 0.0;                  // the largest between tied nodes and where they belong [m], [m/s]
    Index iterations = 0, most_iterations = 0, steps = 0;
  };
  struct Row {  // steps whose ends wait in the domains
    State from;
    Taking taking;
    std::vector<std::array<double, 2>> steps{};  // from, to [s]
  };

  // With the matrix that is ready where it suits the step, otherwise with one made in `own`.
  // What the other domains do not need of a domain may wait until finish() puts it into the state.
  Taken advance(State& state, SystemStep step, const Schur* ready, Schur& own, bool may_wait) const;
  void count(Taken taken, const State& state);
  class Trial;
  void set_known(const State& state, SystemStep step, Vector& w) const;
  void solve(Trial& trial, const State& state, SystemStep step, const Vector& P, Vector& w, const Schur* ready,
             Schur& own, Taken& taken) const;
  void book_known(State& state, const Vector& given, const Vector& w) const;
  Vector guess(const Vector& v, double h) const;
  Vector velocities(const State& state) const;
  DomainInterface::Matrix distribution(std::size_t d) const;
  void make_schur(Schur& schur, const State& state, SystemStep step,
                  Domain::Around around = Domain::Around::start) const;
  std::vector<std::string> names_of(const std::vector<Index>& places) const;

  StageForces forces_;  // of the whole model, for output
  Domains domains_;
  Framework framework_;
  DomainInterface interface_;
  std::vector<std::unique_ptr<Domain>> all_;
  mutable std::unique_ptr<ThreadTeam> team_;  // a domain on each
  bool explicit_ = true;
  std::vector<Index> inner_from_;       // by domain: where its inner components begin, after those of psi; and the end
  std::vector<Index> unknown_;          // before a step, among all these
  std::vector<std::int32_t> substeps_;  // by term
  Schur schur_;
  mutable Schur shown_schur_;
  Taking taking_;
  std::optional<Row> row_;
  mutable std::optional<Taken> shown_;  // the last for output
};

using MultiDomain = OneStep<MultiDomainMap>;

}  // namespace tempi
