// SPDX-License-Identifier: Apache-2.0
// A domain over one system step, while its interface moves along a straight line: what a multi-domain integrator is
// made of (multi_domain.hpp).
//
//   early = sum_e (1 - tau_e) J_e,   late = sum_e tau_e J_e,   tau_e = (t_e - t_n) / Dt in [0, 1]
//
// J_e: the impulses the domain's forces give to the driven components at their moments t_e. As the interface is linear
// over the step, psi(t) = psi_n + (t - t_n) w, that is all the rest of the model has to know of a domain.
#pragma once

#include <Eigen/SparseCore>
#include <memory>
#include <string>

#include "tempi/integrator/multi_domain/interface.hpp"

namespace tempi {

struct SystemStep {
  double t0, length;        // [s]
  double t1 = t0 + length;  // as whoever goes on from there knows it: the sum may be another number [s]
};

// How a domain gets along its steps.
struct DomainRule {
  double alpha = 0.0;  // of the symmetric midpoint rule (Gates, Matous, Heath 2008, eq. (13)): explicit for 0 and 1
  int substeps = 1;    // of equal length, per system step
  // Of an explicit domain, by term of it: every how many substeps it acts, a divisor of `substeps`. Empty: at each.
  // With them the domain runs as avi does (Lew, Marsden, Ortiz, West 2004, Fig. 7) between system times.
  std::vector<std::int32_t> ticks{};
  bool is_explicit() const { return alpha == 0.0 || alpha == 1.0; }
};

class Domain {
 public:
  using Vector = Eigen::VectorXd;
  using Matrix = Eigen::SparseMatrix<double>;

  struct Impulses {          // on driven components [N s]
    Vector early, late;      // as above
    Vector last;             // of the last substep alone, in proportion to the time passed in it
    Vector left{};           // by its own equations, one for each of inner()
    double largest = 0.0;    // impulse in these
    bool admissible = true;  // if not, nothing else means anything
    std::string fault{};
  };

  virtual ~Domain() = default;

  // Whether what comes early does not depend on w at all: of an explicit domain with one substep, or where no term at
  // the interface acts within a step.
  virtual bool is_explicit() const = 0;

  // Components of the part whose velocities over the step are unknowns beside those of the interface, because all are
  // solved for at once. Of the others a domain takes care itself.
  virtual const std::vector<Index>& inner() const {
    static const std::vector<Index> none;
    return none;
  }

  // What follows is of the step that begins from this state of the whole model, which must stay until put_back(). Where
  // something waits, the step begins where the last one ended, and of the state only driven components are read.
  virtual void begin(const State& whole, SystemStep step) = 0;
  // At x [m/s]: the velocities of driven components, and after them of inner ones. What it led to is remembered.
  virtual const Impulses& run(const Vector& x) = 0;
  // The early part alone, and what is left, of those x that are only tried.
  virtual const Impulses& attempt(const Vector& x) { return run(x); }

  // d (early, left) / dx [kg], symmetric: of the linearised domain around where the step begins, or, of those with
  // inner components, around the last trial in it.
  enum class Around { start, last_trial };
  virtual Matrix response(Around around = Around::start) = 0;
  // What rounding of the forces may leave of `early` and `left` [N s].
  virtual Vector rounding() = 0;

  // Puts what the last run led to where it belongs: but for driven components; ledgers are added to those of `whole`.
  // What nobody else needs may wait, if allowed, until finish().
  virtual void put_back(State& whole, bool may_wait) = 0;
  virtual void finish(State& /*whole*/) {}

  virtual void use_threads(int threads) = 0;
  // Whether it may run on one thread while others run on theirs: not where formulas are evaluated that they share.
  virtual bool may_run_beside_others() const = 0;
  virtual Index evaluations() const = 0;  // of forces so far
};

// `part` must outlive them. The fastest that takes the rule: explicit ones without dampers by batches.
std::unique_ptr<Domain> make_domain(const DomainInterface::Part& part, const DomainRule& rule, double system_step);
// Any rule but terms' own steps, by Newton's method where forces depend on what is sought: the reference.
std::unique_ptr<Domain> make_midpoint_domain(const DomainInterface::Part& part, const DomainRule& rule,
                                             double system_step);
// alpha of 0 or 1, no dampers. Terms may have steps of their own: `ticks`, each a divisor of the substeps.
std::unique_ptr<Domain> make_explicit_domain(const DomainInterface::Part& part, const DomainRule& rule,
                                             double system_step);

}  // namespace tempi
