// SPDX-License-Identifier: Apache-2.0
// The mollified kick: strikes of steps that nest, of which a slower element looks where the smooth path is.
//
// Under kicks of a force every h a node's straight segments jitter about its smooth path: at the kicks it lies h^2 a/12
// short of its mean. The accelerations of all terms at a node nearly cancel, their jitters do not where steps differ,
// and elements look at the extremes. What the slower term K, of group g, sees is off by
//
//   dev_a = (1/12) sum over faster J at a of (h_g^2 - h_J^2) a_Ja,   a_Ja = -(dV_J/dx_a) / m_a
//
// at every place where steps change, however fine the mesh (docs/accuracy.md). Half of it is taken off where K looks,
// the other half comes by the chain rule: at an instant of groups 0 ... n, ascending steps, the kick is -grad Phi,
//
//   Phi(x) = sum_g h_g V_g(y_g(x)),   y_ga = x_a + (beta_ga / (24 m_a)) sum_{l < g} (h_g^2 - h_l^2) dV_l/dx_a (y_l)
//
// on components that are free, y_ga = x_a on those held and where no faster term hangs. (Where only some components are
// held, y does not turn with x, and the moment of that is the support's: m (s x P D - P s x D), s the whole shift, P
// the free components, D what the node was given.) A kick by a potential of positions: symplectic, whatever beta is. y
// follows translations and rotations of x: both momenta exact. Mollified impulses (Garcia-Archilla, Sanz-Serna, Skeel
// 1998) of elements, the filter being that of the jitter.
//
// Evaluated as a function and its reverse: forwards, from fast to slow, each group strikes at y_g, and what it gave its
// nodes moves the slower ones' y; backwards, from slow to fast, with D_g what group g has given in all,
//
//   w_la = -(1/24) sum_{g > l} beta_ga (h_g^2 - h_l^2) D_ga,   v_a -= (d2V_l/dx2 (y_l) w_l)_a / m_a
//
// by terms that touch a slower one at a node not held in all components, at instants at which it acts: all that it
// costs (Batch::strike_change).
//
// beta_ga = 1 where the slow step is well below the half period of the node's vibration in its faster terms,
// q = lambda_max(sum (h_g^2 - h_l^2) K_l,aa) / (24 m_a) <= 0.1, which limits of nodes up to 0.9 ensure; from there down
// to -0.3 / q: the shift of stiff nodes goes against their vibration, so that fewer resonate (docs/accuracy.md).
// Stiffness is that of the reference configuration.
//
// Needs nested steps: otherwise the terms that a slow one must hear of do not all act with it. Loads and dampers are
// outside: they kick as they do.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/lattice/lattice_groups.hpp"
#include "tempi/integrator/lattice/lattice_strikes.hpp"
#include "tempi/integrator/lattice/lattice_supports.hpp"

namespace tempi {

double mollified_share(double q);  // beta

class LatticeMollifier {
 public:
  // All must outlive it but the lattice, that of the plan. Throws InputError where steps do not nest.
  LatticeMollifier(const Model& model, const LatticeGroups& plan, const LatticeStrikes& strikes,
                   LatticeSupports& supports, ThreadTeam& team, const TickLattice& lattice);

  // Kicks by `part` of the steps of the first `acting` groups; strike_group(g) strikes group g as it is, by that part
  // of its step, and tells whether all was admissible. Returns whether all were.
  template <class StrikeGroup>
  bool strike(std::size_t acting, double part, double t, std::span<NodeLine> nodes, bool keep,
              StrikeGroup&& strike_group) {
    bool admissible = true;
    try {
      for (std::size_t g = 0; g < acting; ++g) {
        shift(g, acting, part, nodes);
        admissible = strike_group(g) && admissible;
        unshift(g, acting, part, nodes);
      }
      if (admissible && acting > 1) {
        for (std::size_t g = acting - 1; g-- > 0;) give_back(g, acting, t, nodes, keep);
        for (std::size_t g = 0; g < acting; ++g) give_moments(g, nodes);
      }
    } catch (...) {  // a term that has no answer
      put_back(acting, nodes);
      throw;
    }
    return admissible;
  }

  // Of the last strike that kept it: visit(part of the group, place in it, work) of each term of a group, its impulses
  // by the chain rule times the mean velocities of its nodes [J].
  template <class Visit>
  void each_work(std::size_t group, std::size_t acting, std::span<const NodeMean> means, Visit&& visit) const {
    for (const Change& change : levels_[group].changes) {
      if (change.slower >= acting) break;
      const auto row = static_cast<std::size_t>(change.part.batch->row());
      for (std::size_t i = 0; i < change.part.terms.size(); ++i)
        visit(change.host, change.place[i], work(change, &change.kept[i * row], change.part.terms[i], means));
    }
  }

 private:
  using Vector = std::array<double, 3>;

  // A node of a group that another group has too, unless it is `Simple` or held in all components.
  struct Entry {
    std::int32_t line, shared;  // shared: its place among all such nodes
    std::uint32_t slower;       // the next slower group there, or `none`
    bool has_faster;
    std::array<bool, 3> held;
    double share = 0.0;  // beta
    double shift[3] = {}, displacement[3] = {}, given[3] = {};
  };
  // Most nodes at borders have terms of two groups, and no change reaches them from the slower one: what they need of
  // an instant, in one cache line each.
  struct alignas(64) Simple {
    double displacement[3] = {}, velocity[3] = {};  // x; v after the last strike
    double share = 0.0;
    std::int32_t line = 0, shared = 0;
  };
  struct Pair {  // of groups
    std::size_t faster, slower;
    AlignedVector<Simple> nodes;
    bool told = false;  // w of its nodes is not zero
  };
  // Terms of a group with the same next slower group.
  struct Change {
    std::size_t slower, host;  // host: the part of the group they are of
    LatticePart part;
    std::vector<std::size_t> place;  // in the host part
    std::vector<double> kept;
  };
  struct Level {
    double ticks = 0.0;
    std::vector<Entry> entries;             // those with faster terms first, then by `slower`
    std::size_t with_faster = 0;            // of them
    std::vector<std::int32_t> partly_held;  // of those
    std::vector<Change> changes;            // by `slower`
    std::vector<std::size_t> until;         // of each number of acting groups: entries that take part
  };
  struct Sums {  // by shared node: of D or D / m, and of these times m^2, m the group's ticks
    double zeroth[3] = {}, second[3] = {};
  };
  static constexpr std::uint32_t none = 0xffffffff;

  std::vector<std::int32_t> add_entries(const LatticeGroups& plan);
  void place_w(std::span<const std::int32_t> shared);
  void add_changes(const LatticeGroups& plan, const TickLattice& lattice);
  void find_shares(const LatticeGroups& plan, std::span<const std::int32_t> shared);
  void take_out_simple(const LatticeGroups& plan);
  void order_entries();
  int held_components(const Entry& entry) const;
  void shift(std::size_t g, std::size_t acting, double part, std::span<NodeLine> nodes);
  void unshift(std::size_t g, std::size_t acting, double part, std::span<NodeLine> nodes);
  void unshift_simple(std::size_t g, std::size_t acting, double part, std::span<NodeLine> nodes);
  void give_back(std::size_t g, std::size_t acting, double t, std::span<NodeLine> nodes, bool keep);
  void put_back(std::size_t acting, std::span<NodeLine> nodes);
  void give_moments(std::size_t g, std::span<const NodeLine> nodes);
  template <class Visit>
  void each_entry(Level& level, std::size_t count, Visit&& visit);
  template <class Visit>
  void each_simple(Pair& pair, std::span<NodeLine> nodes, Visit&& visit);
  NodeShift& w_of(const auto& node) { return w_[static_cast<std::size_t>(node.shared) + 1]; }
  double work(const Change& change, const double* impulses, TermId term, std::span<const NodeMean> means) const;

  const Model& model_;
  const LatticeGroups& plan_;
  const LatticeStrikes& strikes_;
  LatticeSupports& supports_;
  ThreadTeam& team_;
  double tick_;
  std::vector<Level> levels_;
  std::vector<Pair> pairs_;
  std::vector<Sums> sums_;
  AlignedVector<NodeShift> w_;  // by shared node, from place 1 on; between instants zero but for nodes of pairs
  Level* shifted_ = nullptr;    // whose nodes are at y
  std::size_t noted_ = 0;       // groups whose simple nodes have been noted at this instant
};

}  // namespace tempi
