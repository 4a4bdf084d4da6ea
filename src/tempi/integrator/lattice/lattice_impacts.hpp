// SPDX-License-Identifier: Apache-2.0
// Dampers of a lattice engine that remember what touches (Force::remember): contacts with a restitution. Each contact
// resists alone, exactly, one after the other, as lattice_dampers.hpp has it:
//
//   w = v - relax M^{-1} c (c . w),   v -= step M^{-1} c (c . w),   c = Touch::along and its opposite
//
// In a packing at rest some contacts are very stiff against their masses: solved together they take hundreds of
// iterations. Serial: the same bits on any number of threads.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "tempi/force/damping_batch.hpp"
#include "tempi/integrator/lattice/lattice_groups.hpp"
#include "tempi/model/state.hpp"

namespace tempi {

class LatticeImpacts {
 public:
  using Vector = std::array<double, 3>;
  using Memory = std::vector<std::vector<Touch>>;  // State::memory

  // Both must outlive it.
  LatticeImpacts(const Model& model, const LatticeGroups& plan);

  bool any() const { return !by_term_.empty(); }
  bool any_in(std::size_t group) const { return !of_group_[group].empty(); }

  // They are about to act where `nodes` are, at the velocities of these less `ahead` (by line); without, they are only
  // told where. `lines`: of all nodes they touch. Throws what Force::remember does, and no node has changed.
  void remember(std::size_t group, std::span<const std::int32_t> lines, std::span<const NodeLine> nodes,
                std::span<const Vector> ahead, Memory& memory) const;
  // What they were last told of resists. Returns what that has given: work <= 0, and impulses of walls. `keep`: for
  // add_work.
  Given resist(std::size_t group, const Memory& memory, const DampingBatch::Sweep& sweep, std::span<NodeLine> nodes,
               bool keep);
  Given resist(std::size_t group, const Memory& memory, const DampingBatch::Sweep& sweep,
               std::span<NodeLine> nodes) const;

  // work += what those within a term have done when they last acted, at these velocities, by line.
  void add_work(TermId term, std::span<const NodeMean> means, double& work) const;
  // force += what they do at these velocities, which stay if the inverse masses are zero; by line.
  void add_forces(const Memory& memory, std::span<NodeLine> nodes, std::span<Vector> force) const;

 private:
  struct Element {
    const Force* force;
    Index element, memory;
    TermId host;
  };
  struct Kept {
    std::array<std::int32_t, 2> line;  // the second -1: a wall
    Vector impulse;                    // of the first [N s]
  };
  struct Slot {
    TermId term;
    std::size_t group, element;
  };

  template <class Visit>
  Given resist_each(std::size_t group, const Memory& memory, const DampingBatch::Sweep& sweep,
                    std::span<NodeLine> nodes, Visit&& visit) const;
  std::array<std::int32_t, 2> lines_of(const Element& element, const Touch& touch) const;

  const Model& model_;
  const LatticeGroups& plan_;
  std::vector<std::vector<Element>> of_group_;
  std::vector<Slot> by_term_;
  mutable std::vector<std::vector<std::size_t>> touching_;  // of each group, its elements where anything does
  std::vector<std::vector<std::vector<Kept>>> kept_;        // of each group and element; empty while nobody looks
  mutable std::vector<double> u_, v_;                       // dim components a node, where forces look
};

}  // namespace tempi
