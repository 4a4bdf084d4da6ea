// SPDX-License-Identifier: Apache-2.0
// The loads of a lattice engine, packed by group: they act within their terms (Lew, Marsden, Ortiz, West 2003, eq.
// (9)), at the tempo of those, and are no updates of their own.
//
//   constant     dead loads without time in their formulas: one force a node and group, summed over all of them. They
//                have a potential, -sum f . u: their work is its difference, found when somebody asks.
//   timed        dead loads of t alone, one for each force of the model: weights w_a times a vector f(t). What they
//                keep of their way is one sum, of w_a u_a.
//   changing     dead loads of X and t: sum_j w_j f_j(X_j, t), formulas looked at once an instant
//   following    loads that depend on where the nodes are, evaluated by batches
//
// The work of the last three is that of the trapezium rule along their nodes' way from one instant of the group to the
// next. What is booked is summed in blocks, in an order that does not depend on the number of threads.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "tempi/core/archive.hpp"
#include "tempi/core/fingerprint.hpp"
#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/lattice/lattice_groups.hpp"
#include "tempi/integrator/lattice/lattice_strikes.hpp"
#include "tempi/model/state.hpp"

namespace tempi {

class LatticeLoads {
  struct Group;
  struct HashOfPoint {
    std::size_t operator()(const std::array<double, 3>& X) const { return fingerprint(std::as_bytes(std::span(X)), 0); }
  };

 public:
  using Vector = std::array<double, 3>;

  // All must outlive it.
  LatticeLoads(const Model& model, const LatticeGroups& plan, ThreadTeam& team);

  static double value_without_time(const DeadPart& part);  // throws SolveError where it has none

  bool any() const { return any_; }
  bool are_constant() const;  // in time and wherever nodes are

  // Their way begins where the nodes are now.
  void start(std::span<const NodeLine> nodes);

  // Forces of groups at time t, where the nodes are. Throws SolveError where a formula has no value.
  using Groups = std::span<const std::size_t>;
  void evaluate(Groups groups, double t, std::span<const NodeLine> nodes);
  // Kicks by these forces times a step for each group, one group after the other at each node, and books them in the
  // ledger. `take_back` undoes this, but for the work.
  void strike(Groups groups, std::span<const double> steps, std::span<NodeLine> nodes, Ledger& ledger);
  void take_back(Groups groups, std::span<const double> steps, std::span<NodeLine> nodes, Ledger& ledger);

  // Work of constant loads since `start` [J], when the nodes are there.
  double work_of_constant(std::span<const NodeLine> nodes) const;

  // As if a group struck now for `duration` [s], at the forces last evaluated: adds these to the sums, and books them
  // in a ledger that is not the run's.
  void report(std::size_t group, double duration, std::span<const NodeLine> nodes, LatticeStrikes::NodalSums& sums,
              Ledger& ledger) const;

  // visit(line, force) of the forces last evaluated.
  template <class Visit>
  void each_force(std::size_t group, Visit&& visit) const {
    const auto each = [&](const auto& loads) {
      for (std::size_t i = 0; i < loads.lines.size(); ++i)
        visit(static_cast<std::size_t>(loads.lines[i]), force_of(loads, i).data());
    };
    each_dead(groups_[group], each);
    each_moving(groups_[group], [&](const Moving& loads) { each(loads); });
  }

  // Where what a group's loads are made of has its values as last evaluated, for who looks at single terms. The loads
  // must outlive it.
  class Values {
   public:
    Values(const LatticeLoads& loads, std::size_t group);
    const double* of(const Force& force, const DeadPart& part) const;  // of a part that depends on time
    const double* of(const Force& force, Index element) const;         // row of a load that is not dead [N]

   private:
    using Places = std::unordered_map<Vector, std::size_t, HashOfPoint>;
    const Group& group_;
    std::vector<Places> place_of_;                                    // by formula of the changing
    std::vector<std::unordered_map<Index, std::size_t>> element_of_;  // of each of the following
  };

  // Where the ways of the loads are, for who takes several instants back (the ledger is his, too).
  std::vector<double> ways() const;
  void set_ways(std::span<const double> ways);

  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive);

 private:
  // Forces on nodes [N], each line once, ascending.
  struct Forces {
    std::vector<std::int32_t> lines;
    std::vector<std::int32_t> first;      // entry of each stretch of lines, and behind the last
    std::vector<std::size_t> components;  // in which there are forces: few bytes a node, where all nodes have some

    template <class Each>
    void each_entry(std::size_t stretch, Each&& each) const {  // each(i)
      const auto last = static_cast<std::size_t>(first[stretch + 1]);
      for (auto i = static_cast<std::size_t>(first[stretch]); i < last; ++i) each(i);
    }
  };
  struct Dead : Forces {
    const Force* force = nullptr;                              // of the timed
    std::array<const Expression*, 3> of{};                     // likewise, by component
    std::vector<double> weights;                               // of the values, in these components of each entry
    std::vector<std::pair<int, ExpressionAtPoints>> formulas;  // of t, by component
    Vector value{1.0, 1.0, 1.0}, sum{};                        // sum: of the weights
    std::array<Vector, 3> lever{};                             // by component, sum of the weights times X
    Vector last_value{}, last_way{};                           // when the group last acted; way: sum w u, by component
  };
  struct Moving : Forces {
    std::vector<Vector> X;
    std::vector<double> force;  // in these components of each entry
    std::vector<double> last;   // when the group last acted: force and displacement in them
  };
  struct Share {  // of a formula's values in an entry's force
    std::int32_t entry, point;
    double weight;
  };
  struct Shares {  // in one of the components; by entry
    std::size_t formula, component;
    std::vector<Share> each;
    std::vector<std::size_t> first;  // of each block of entries, and behind the last
  };
  struct Changing : Moving {
    std::vector<Shares> shares;         // by formula
    std::vector<const Expression*> of;  // likewise
    std::vector<ExpressionAtPoints> formulas;

    void sum_up(std::size_t block);  // of entries: their forces
  };
  struct Following : Moving {
    const Force* of = nullptr;
    std::unique_ptr<LoadBatch> batch;
    std::vector<Index> elements;
    // Of each entry, where `rows` has what elements give it, `dim` numbers each: given[first_given[i]] and on.
    std::vector<std::int32_t> given, first_given;
    std::vector<double> rows;

    static constexpr Index elements_at_once = 64;
    Index blocks() const { return (std::ssize(elements) + elements_at_once - 1) / elements_at_once; }
    void look(Index block, std::span<const NodeLine> nodes);  // of elements: their rows
    void sum_up(std::size_t block, std::size_t dim);          // of entries: their forces
  };
  struct Group {
    Dead constant;
    std::vector<Dead> timed;
    Changing changing;
    std::vector<Following> following;
    std::vector<std::int32_t> stretches;  // where it has forces
  };
  struct Kick {  // with one of the two
    Dead* dead;
    Moving* moving;
    double step;
  };
  struct Sums {  // of forces, of their moments about the origin, of work; of dead loads, of w u
    Vector force{}, moment{}, way{};
    double work = 0.0;
  };
  class Builder;

  static Vector all_components(const Forces& loads, std::span<const double> numbers, std::size_t i) {
    Vector all{};
    const std::size_t n = loads.components.size();
    for (std::size_t k = 0; k < n; ++k) all[loads.components[k]] = numbers[i * n + k];
    return all;
  }
  static Vector force_of(const Dead& loads, std::size_t i) {
    Vector f = all_components(loads, loads.weights, i);
    for (std::size_t c = 0; c < 3; ++c) f[c] *= loads.value[c];
    return f;
  }
  static Vector force_of(const Moving& loads, std::size_t i) { return all_components(loads, loads.force, i); }
  template <class Each>
  static void with_components(const Forces& loads, Each&& each);
  enum class Work { booked, left };  // left where kicks are taken back
  void kick(Groups groups, std::span<const double> steps, std::span<NodeLine> nodes, Ledger& ledger, Work work);
  template <unsigned which>
  static Vector add_to_sums(const Moving& loads, std::size_t i, const NodeLine& node, Sums& sums);
  static Sums kick(Moving& loads, std::size_t stretch, double step, std::span<NodeLine> nodes, Work work);
  enum class Ways { summed, left };
  template <Ways ways, class Line>
  static Sums sums_of(const Dead& loads, std::size_t stretch, Line* nodes, double step);
  template <unsigned which, Ways ways, class Line>
  static Sums node_sums_of(const Dead& loads, std::size_t stretch, Line* nodes, double step);
  static void add(Sums& to, const Sums& sums);
  static void add_what_needs_no_nodes(const Dead& loads, Sums& sums);
  template <class Each>
  Sums in_stretches(const Forces& loads, Each&& each) const;
  Sums sums_of(const Dead& loads, std::span<const NodeLine> nodes) const;
  template <class Lists>
  void share_out(Lists&& lists);
  static void each_dead(auto& group, auto&& visit) {
    visit(group.constant);
    for (auto& loads : group.timed) visit(loads);
  }
  static void each_moving(auto& group, auto&& visit) {
    visit(group.changing);
    for (auto& loads : group.following) visit(loads);
  }
  static void each_way(auto& group, auto&& visit);

  ThreadTeam& team_;
  std::size_t dim_;
  std::vector<Group> groups_;
  double start_ = 0.0;  // sum f . u of the constant loads where their way begins [J]
  bool any_ = false;
  // Of the kicks in hand, and the stretches of lines where there are some.
  std::vector<Kick> kicks_;
  std::vector<std::int32_t> stretches_;
  std::vector<char> is_listed_;  // by stretch, among them
  std::vector<Sums> sums_;       // by kick, stretch
};

}  // namespace tempi
