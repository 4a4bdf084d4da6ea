// SPDX-License-Identifier: Apache-2.0
// Implicit asynchronous variational integrator: terms with alpha > 0 act at positions that give way to their own
// impulse (Lew, Marsden, Ortiz, West 2004, section 4.7, rearranged so that it is local; decision 0007).
//
//   S_d = sum_a,i m_a |x_a^{i+1} - x_a^i|^2 / (2 (t_a^{i+1} - t_a^i))
//         - sum_K,j step_K [ V_K(y_K^j) + |y_K^j - x_K^j|^2 / (2 (alpha_K step_K)^2) ],   |d|^2 = sum_a m_Ka |d_a|^2
//
//   at t = j step_K:  x_a += v_a (t - tau_a), tau_a = t, solve y = x - (alpha_K step_K)^2 M_K^-1 dV_K/dx (y),
//                     v_a -= step_K dV_K/dx_a (y) / m_a                           for all nodes a of K
//
// M_K: the term's shares of its nodes' masses (Model::shares). The minimum over y is a potential of x: this is explicit
// AVI (avi_explicit.hpp) on softened terms, with its momenta, symplecticity, starting half kick and order 2. For a
// single term and alpha^2 = a (1 - a) it is the generalised midpoint rule with a, seen (1 - a) step later.
//
//   alpha = 0           AviExplicit, bit for bit
//   0 < alpha < 1/2     step_K must stay below stable_step_K / sqrt(1 - 4 alpha^2)
//   alpha = 1/2         no step is too long for the term itself: its stable step is sqrt(stable_step_K^2 + step_K^2)
//   alpha > 1/2         softer: a stiff term acts like an explicit one at 1 / (2 alpha) of its stable step
//
// Steps of different terms resonate as those of AviExplicit do: a stiff softened term like an explicit one at 1 / (2
// alpha). Safe (decision 0007): alpha >= 0.55 where the steps of neighbours nest, 1.5 where they do not, with steps no
// shorter than half the neighbours'. Modes faster than 1 / (alpha step) are slowed to it, and a term that carries the
// force f gives way by (alpha step)^2 f / m_Ka: second order, whatever its stiffness, but felt at rest too. Its stress
// is that at y. Observers and snapshots report the energy in the brackets.
//
// Cost: an implicit update takes 20 to 60 explicit ones at any step (decision 0007): it pays for a few terms that would
// need more updates than that for one of their neighbours'. Not for: motion that is to be resolved (AviExplicit), whole
// meshes that are stiff (midpoint).
#pragma once

#include <vector>

#include "tempi/integrator/avi/avi_explicit.hpp"

namespace tempi {

class AviImplicit final : public Integrator {
 public:
  // `steps`: one per term [s], positive; `alphas`: one per term, >= 0. `model` must outlive the integrator. Throws
  // InputError where an alpha is negative or not finite, or an implicit term has no share of a node's mass.
  AviImplicit(const Model& model, std::vector<double> steps, std::vector<double> alphas);

  std::string_view name() const override { return "avi-implicit"; }
  Claims claims() const override { return avi_.claims(); }
  Snapshot synchronized(const State& state, double t) const override { return avi_.synchronized(state, t); }
  double step(TermId term) const override { return avi_.step(term); }
  Index updates(TermId term) const override { return avi_.updates(term); }
  void act_at(TermId term, std::span<double> u) const override;  // y
  void save(ArchiveWriter& archive) const override;
  void load(ArchiveReader& archive) override;

  // What AviExplicit runs on, for diagnostics: stable steps, energies.
  const Model& softened_model() const { return softened_; }

 private:
  void advance(State& state, double t_end, Observer* observer) override;

  std::vector<double> alphas_;
  Model softened_;
  AviExplicit avi_;
};

// The least alpha with which each step is at most `safety` times the term's softened stable step at displacements u: 0
// where it is so already, sqrt(1 / safety^2 - (stable_step / step)^2) / 2 elsewhere. 0 < safety <= 1.
std::vector<double> least_alphas(const Model& model, std::span<const double> u, std::span<const double> steps,
                                 double safety);

}  // namespace tempi
