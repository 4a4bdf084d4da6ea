// SPDX-License-Identifier: Apache-2.0
// Elements of dampers in packs for a DampingBatch: those of a pack share no node, so that the lanes may write what they
// make of velocities. Packs are full wherever that can be: what a block of terms leaves over fills packs with what
// other blocks of its colour leave, which share no node with it. Elements at supports, which take longer, have packs of
// their own: one of them holds up all of its pack.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tempi/core/thread_team.hpp"
#include "tempi/force/damping_batch.hpp"
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

// These, packed.
struct DamperPart {
  DamperPacks packs;
  std::unique_ptr<DampingBatch> batch;

  // One sweep over all, blocks of a colour on all threads. Returns the work [J]; `kept` as of DampingBatch::resist,
  // `of_block` is room.
  double resist(const DampingBatch::Sweep& how, std::span<NodeLine> nodes, std::span<double> kept, ThreadTeam& team,
                std::vector<double>& of_block) const;
};

class DamperPacker {
 public:
  using Held = std::array<bool, 3>;

  // All must outlive it. `held`: by line, components of prescribed velocity; empty if there are none.
  DamperPacker(const Model& model, const LatticeGroups& plan, std::span<const Held> held = {});

  // Dampers within terms of a part, but for drags and those with a memory.
  std::vector<DamperPacks> operator()(const LatticePart& part);
  std::vector<DamperPart> parts(const LatticePart& part);  // the same in batches

 private:
  static constexpr std::size_t at_once = 64;  // packs that are filled, a bit each
  struct Element {
    Index number;
    TermId host;
    bool at_support;
  };
  struct Block {  // elements of one force to be packed
    DamperPacks packs;
    std::vector<Element> elements, left;
  };
  void collect(std::span<const TermId> terms, std::vector<Block>& blocks) const;
  bool at_support(const HostedForce& of) const;
  void add(DamperPacks& packs, std::vector<std::pair<Index, Index>>& of_colour, std::vector<Element>& elements,
           std::vector<Element>* left);
  void fill(DamperPacks& packs, std::span<const Element> elements, bool whole, std::vector<Element>& left);

  const Model& model_;
  const LatticeGroups& plan_;
  std::span<const Held> held_;
  std::vector<std::uint64_t> within_;  // by line, while packs are filled: a bit for each it lies in
};

}  // namespace tempi
