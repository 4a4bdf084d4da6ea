// SPDX-License-Identifier: Apache-2.0
// The functions that strike packed terms of an element, and the data they work on.
#pragma once

#include <cstdint>

#include "tempi/core/ids.hpp"
#include "tempi/material/material.hpp"
#include "tempi/potential/batch.hpp"
#include "tempi/simd/node_line.hpp"

namespace tempi {

// Terms in packs of `width`, everything of a pack side by side, lane by lane. In front of the lanes:
//   places    node of the term; shift_places: the same, where its shift lies (Batch::place_shifts)
//   geometry  what its kernel says
struct PackedTerms {
  const double* geometry;
  const std::int32_t* places;
  Index packs;  // there are
  Lame lame;
  const std::int32_t* shift_places = nullptr;
};

struct TermKernel {
  // Strikes packs first to last - 1; tells whether all terms were admissible (Potential::add_gradient). Where
  // `energies` is not null it is watched (Batch::watch): writes there V_K and to `kept` the impulses -step dV/dx of all
  // nodes but the first, pack by pack, all lanes. One function for both, so that watching changes no bit of the run.
  bool (*strike)(const PackedTerms& terms, Index first, Index last, double step, NodeLine* nodes, double* energies,
                 double* kept);
  // Energies and gradients of packs first to last - 1, one term behind the other, all lanes (Batch::measure).
  void (*measure)(const PackedTerms& terms, Index first, Index last, const NodeLine* nodes, double* energies,
                  double* gradients);
  // What became of the impulses kept (Batch::works).
  void (*works)(const PackedTerms& terms, Index first, Index last, const NodeMean* means, const double* kept,
                double* kinetic, double* work);
  // Strikes with step 1, and the sum of the energies.
  bool (*look)(const PackedTerms& terms, Index first, Index last, NodeLine* nodes, double& energy);
  // How a strike of step 1 changes with displacements w (Batch::strike_change). `impulses`, if not null: one term
  // behind the other, all lanes.
  void (*change)(const PackedTerms& terms, Index first, Index last, NodeLine* nodes, const NodeShift* w,
                 double* impulses);
  // Along flights (Batch::depart, follow, turn, add_gradient); rates of all lanes.
  double (*depart)(const PackedTerms& terms, Index first, Index last, const NodeLine* nodes, const NodeShift* reference,
                   double rounding, double* flight);
  Batch::Followed (*follow)(const PackedTerms& terms, Index first, Index last, double s, const double* flight,
                            double* rates, double* kept);
  Batch::Followed (*turn)(Index first, Index last, const double* flight, double* rates, const double* kept);
  void (*add_gradient)(const PackedTerms& terms, Index first, Index last, const double* kept, double* gradient);
};

}  // namespace tempi
