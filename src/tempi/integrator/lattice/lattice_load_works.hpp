// SPDX-License-Identifier: Apache-2.0
// What the loads within the terms of a part do at a strike, for those who watch: their work with the terms' mean
// velocities, and on the way since the last strike. In rows of eight terms (load_work_kernel.hpp); rows without a load
// are left out, and what has one component only, as gravity mostly does, keeps one. Loads that change have been
// evaluated where they kick (lattice_loads.hpp): a row adds up what its terms have of these values.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "tempi/force/load_work_kernel.hpp"
#include "tempi/integrator/lattice/lattice_loads.hpp"

namespace tempi {

class LatticeLoadWorks {
 public:
  // `model` must outlive it, and the loads whose `values` of the part's group they are.
  LatticeLoadWorks(const Model& model, const LatticeGroups& plan, const LatticePart& part,
                   const LatticeLoads::Values& values);

  bool any() const { return !rows_.empty(); }

  // Of the part's terms first to last - 1, whole rows unless at the end: adds step * sum f . v to `work`, which begins
  // with term `first`, and notes the work on the way. Threads may add different terms.
  void add(Index first, Index last, double step, std::span<const NodeLine> nodes, std::span<const NodeMean> means,
           std::span<double> work);

  // By place in the part: of the loads' forces now on the way since the term's last strike [J]. Empty without loads.
  std::span<const double> on_the_way() const { return on_the_way_; }
  // impulses += step * the forces of a term, dim components a stencil node, as at the last `add`.
  void add_impulses(std::size_t place, double step, std::span<double> impulses) const;

  // Where loaded terms last struck.
  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive);

 private:
  struct Entry {  // of a number that changes
    double weight;
    std::int32_t value, number;  // place in `values_`; the number's of its row
  };
  struct Product {  // a part of the force on a node of one of a row's terms
    std::size_t lane, node, component;
    double weight;
    const double* value;
  };
  void add_products(TermId term, std::size_t lane, const LatticeLoads::Values& values,
                    std::vector<Product>& products) const;
  bool add_row(std::size_t row, std::span<const Product> products);
  void look(std::size_t row);
  std::span<Eight> forces(std::size_t row) {
    return std::span(force_).subspan(static_cast<std::size_t>(parts_[row].force), numbers(row));
  }
  std::size_t numbers(std::size_t row) const { return nodes_ * (parts_[row].component == LoadRow::all ? dim_ : 1); }

  const Model& model_;
  LoadWorkKernel kernel_;
  std::size_t dim_, nodes_ = 0;     // nodes: of a term, at most
  std::vector<std::int32_t> rows_;  // which there are
  std::vector<LoadRow> parts_;      // what these have
  std::vector<std::array<std::int32_t, Eight::lanes>> lines_;
  std::vector<Eight> force_, displacement_, way_;
  std::vector<const double*> values_;     // the first: of what stays, 1
  std::vector<Entry> entries_;            // by row
  std::vector<std::size_t> first_entry_;  // of each row, and behind the last
  std::vector<double> on_the_way_;
};

}  // namespace tempi
