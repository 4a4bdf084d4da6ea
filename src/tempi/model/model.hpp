// SPDX-License-Identifier: Apache-2.0
// A model: masses plus potentials, the loads that act within their terms, supports and constraints. Immutable.
//
//   L(x, v, t) = sum_a m_a |v_a|^2 / 2 - sum_K V_K(x, t)    (Lew, Marsden, Ortiz, West 2004, eq. (39))
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tempi/constraint/holonomic.hpp"
#include "tempi/constraint/supports.hpp"
#include "tempi/contact/layered_contact.hpp"
#include "tempi/force/force.hpp"
#include "tempi/model/node_terms.hpp"
#include "tempi/potential/many_body_sum.hpp"

namespace tempi {

// An element of a force, attached to the term it acts within.
struct HostedForce {
  const Force* force;
  Index element;
  std::vector<std::int32_t> local;  // place of each of its nodes in the host term's stencil; empty: it has those
  Index memory = -1;                // place of the force's in State::memory; -1: it has none
};

// How a node's mass is shared among its terms, for their stable steps; the shares of a node sum to its mass.
//   own       what each term brought, as the papers have it; a stiff term that brought none has no stable step
//   balanced  in proportion to sqrt(k_Ka), k_Ka the trace of the term's Hessian at the node and the reference
//             positions; of terms without mass, which may push apart, the sum of its eigenvalues' sizes. That makes the
//             sum of the squared frequencies, sum_K tr(M_K^-1 K_K) = sum_Ka k_Ka / m_Ka, least; the sum of 1/step comes
//             within 1 % of its least, too (decision 0006). Slivers lean on their neighbours' mass.
enum class MassShares { own, balanced };

class Model {
 public:
  struct Parts {
    int dim = 3;
    std::vector<double> reference;  // [m], dim components a node: where displacements count from
    std::vector<double> mass;       // [kg] per node; per unit thickness in 2-D, per unit area in 1-D
    std::vector<std::unique_ptr<Potential>> potentials;
    std::vector<std::unique_ptr<Force>> forces;
    std::vector<std::vector<TermId>> hosts;  // for each force, the term each of its elements acts within
    Supports supports;
    Constraints constraints;
    std::vector<std::unique_ptr<LayeredContact>> layers;
    MassShares shares = MassShares::own;

    void add(std::unique_ptr<Potential> potential);  // and what it brings to the masses
  };
  // Throws InputError when the mass of a node, held or free, is not positive and finite, a term other than a sum has
  // more than 10 nodes, a force has not one host for each of its elements or acts on nodes its host does not touch, a
  // constraint acts on a node that is not there, or constraints are more than the free components they act on.
  explicit Model(Parts parts);

  int dim() const { return parts_.dim; }
  Index node_count() const { return static_cast<Index>(parts_.mass.size()); }
  std::span<const double> reference() const { return parts_.reference; }
  std::span<const double> mass() const { return parts_.mass; }
  double mass(NodeId a) const { return parts_.mass[ordinal(a)]; }
  const Supports& supports() const { return parts_.supports; }
  std::span<const std::unique_ptr<HolonomicConstraint>> constraints() const { return parts_.constraints; }
  // Potentials without end between what may touch: not among the terms; of integrators that strike them
  // (require_no_layers).
  std::span<const std::unique_ptr<LayeredContact>> layers() const { return parts_.layers; }
  bool has_forces() const { return !parts_.forces.empty(); }

  // Terms are numbered through all potentials: first those of the first potential, in its order, and so on.
  Index term_count() const { return first_term_.back(); }
  struct Term {
    const Potential* potential;
    Index k;
    std::span<const NodeId> stencil() const { return potential->stencil(k); }
  };
  Term term(TermId id) const;
  Index potential_count() const { return static_cast<Index>(parts_.potentials.size()); }
  const Potential& potential(Index p) const { return *parts_.potentials[static_cast<std::size_t>(p)]; }
  TermId first_term(Index p) const { return make_id<TermId>(first_term_[static_cast<std::size_t>(p)]); }

  std::span<const HostedForce> forces_within(TermId id) const;

  bool has_dampers() const { return has_dampers_; }
  bool dissipates() const;  // by dampers or by contact
  bool is_damped(TermId id) const;
  bool is_loaded(TermId id) const;  // by forces that are no dampers
  // Visits -dF/dv [kg/s] of each damper within a term, between the nodes of the damper and laid out as in
  // LocalPotential::add_hessian; of those with a memory nothing, as at the start.
  void each_damping_piece(TermId id, std::span<const double> u, double t, const Potential::VisitPiece& visit) const;

  // Where the terms with forces keep something of their own: a place for dim components a stencil node each, one term
  // behind the other. -1 for a term without forces.
  Index force_slot(TermId id) const { return slots_.empty() ? -1 : slots_[ordinal(id)]; }
  Index force_slot_count() const { return slot_count_; }

  Index memory_count() const { return memory_count_; }  // dampers that remember

  double potential_energy(std::span<const double> u, double t) const;  // sum V_K [J]

  MassShares share_rule() const { return parts_.shares; }
  // A term's shares [kg] in the masses of its stencil nodes, for its stable step: written to `shares`, as many as the
  // term has nodes, and returned.
  std::span<const double> shares(TermId id, std::span<double> shares) const;

  // 2/omega_max of the term's stiffness at u between its shares [s]. The smallest over all terms bounds that of the
  // assembled model from below, whatever the shares are.
  double stable_step(TermId id, std::span<const double> u) const;
  // The masses [kg] a step is held against while the model moves: the term's shares; of a sum, whose terms come and go
  // so that its shares at the reference positions tell nothing of later, those of its nodes.
  std::span<const double> masses_held_against(TermId id, std::span<double> masses) const;
  // Whether `step` [s] is within the stable step between these; true for terms that do not stay together.
  bool step_is_stable(TermId id, std::span<const double> u, double step) const;

  std::size_t largest_stencil() const { return largest_stencil_; }

  // Of positions, masses, stencils and of what laws, loads and prescribed motions do: tells whether a checkpoint
  // belongs to this model. Cost: that of a few force evaluations, once.
  std::uint64_t fingerprint() const;

 private:
  void check_constraints() const;
  void attach_forces();
  std::uint64_t make_fingerprint() const;
  std::vector<float> what_it_does() const;
  void balance_shares();
  template <class Visit>
  void each_root_stiffness(TermId id, Visit&& visit) const;

  Parts parts_;
  std::vector<Index> first_term_;
  struct Balance {  // of the shares at a node
    double least;   // sqrt(k_Ka) counts for no less, so that no term is left without mass when it stiffens
    double scale;   // mass over the sum of sqrt(k_Ka)
  };
  std::vector<Balance> balance_;       // empty: own shares
  std::vector<double> at_rest_;        // no displacements, where shares are balanced
  std::vector<Index> hosted_offsets_;  // empty without forces
  std::vector<HostedForce> hosted_;
  std::vector<Index> slots_;  // empty without forces
  Index slot_count_ = 0, memory_count_ = 0;
  bool has_dampers_ = false;
  std::size_t largest_stencil_ = 0;
  struct Once {
    std::once_flag made;
    std::uint64_t value = 0;
  };
  std::unique_ptr<Once> fingerprint_ = std::make_unique<Once>();
};

// For what knows nothing of constraints: throws InputError when the model has any.
void require_unconstrained(const Model& model);
// For what does not strike layers of contact: throws InputError when the model has any.
void require_no_layers(const Model& model);

NodeTerms node_terms(const Model& model);  // ascending

}  // namespace tempi
