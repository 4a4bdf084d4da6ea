// SPDX-License-Identifier: Apache-2.0
// Elements of dampers in packs for a DampingBatch: those of a pack share no node, so that the lanes may write what they
// make of velocities. Packs are full wherever that can be: what a block of terms leaves over fills packs with what
// other blocks of its colour leave, which share no node with it.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tempi/integrator/lattice/lattice_groups.hpp"

namespace tempi {

// Of one force within one part of a group.
struct DamperPacks {
  const Force* force;
  std::vector<Index> elements = {};  // pack behind pack; -1 where a pack is not full
  std::vector<TermId> hosts = {};    // of these
  // First and last packs, that one thread takes; none of a colour shares a node with another of it.
  std::vector<std::vector<std::pair<Index, Index>>> colours = {};
};

class DamperPacker {
 public:
  // Both must outlive it.
  DamperPacker(const Model& model, const LatticeGroups& plan);

  // Dampers within terms of a part, but for drags and those with a memory.
  std::vector<DamperPacks> operator()(const LatticePart& part);

 private:
  static constexpr std::size_t at_once = 64;  // packs that are filled, a bit each
  struct Element {
    Index number;
    TermId host;
  };
  struct Block {  // elements of one force to be packed
    DamperPacks packs;
    std::vector<Element> elements, left;
  };
  void collect(std::span<const TermId> terms, std::vector<Block>& blocks) const;
  void add(DamperPacks& packs, std::vector<std::pair<Index, Index>>& of_colour, std::vector<Element>& elements,
           std::vector<Element>* left);
  void fill(DamperPacks& packs, std::span<const Element> elements, bool whole, std::vector<Element>& left);

  const Model& model_;
  const LatticeGroups& plan_;
  std::vector<std::uint64_t> within_;  // by line, while packs are filled: a bit for each it lies in
};

}  // namespace tempi
