// SPDX-License-Identifier: Apache-2.0
// Terms of one node each whose gradient is linear, component by component, one after the other: fields, wells.
#pragma once

#include <span>
#include <vector>

#include "tempi/potential/packed_places.hpp"

namespace tempi {

// Of a potential that tells: dim(), slope(k, c, u) [N] at the node's displacement u along c, stiffness(c) [N/m], and
// energy_at(k, u) [J], u dim components; it must outlive this.
template <class Of>
class OneNodeBatch final : public Batch {
 public:
  OneNodeBatch(const Of& of, std::span<const Index> terms, std::span<const std::int32_t> place)
      : of_(of), terms_(terms.begin(), terms.end()), dim_(static_cast<std::size_t>(of.dim())) {
    for (const Index k : terms_) places_.push_back(place[ordinal(of.stencil(k)[0])]);
    shift_places_ = places_;
  }

  bool strike(Index first, Index last, double step, double, std::span<NodeLine> nodes) const override {
    each(first, last, [&](std::size_t i) {
      NodeLine& node = nodes[static_cast<std::size_t>(places_[i])];
      for (std::size_t c = 0; c < dim_; ++c)
        node.velocity[c] -= step * of_.slope(terms_[i], c, node.displacement[c]) * node.inverse_mass;
    });
    return true;
  }

  bool offers_change() const override { return true; }
  void place_shifts(std::span<const std::int32_t> of_line) override { shift_places_ = places_of(places_, of_line); }
  void strike_change(Index first, Index last, double, std::span<NodeLine> nodes, std::span<const NodeShift> w,
                     std::span<double> impulses) const override {
    double* kept = impulses.data();
    each(first, last, [&](std::size_t i) {
      NodeLine& node = nodes[static_cast<std::size_t>(places_[i])];
      for (std::size_t c = 0; c < dim_; ++c) {
        const double p = -of_.stiffness(c) * w[static_cast<std::size_t>(shift_places_[i])].displacement[c];
        node.velocity[c] += p * node.inverse_mass;
        if (!impulses.empty()) *kept++ = p;
      }
    });
  }

  Index row() const override { return static_cast<Index>(dim_); }
  void measure(Index first, Index last, double, std::span<const NodeLine> nodes, std::span<double> energies,
               std::span<double> gradients) const override {
    double *energy = energies.data(), *gradient = gradients.data();
    each(first, last, [&](std::size_t i) {
      const double* u = nodes[static_cast<std::size_t>(places_[i])].displacement;
      *energy++ = of_.energy_at(terms_[i], {u, dim_});
      for (std::size_t c = 0; c < dim_; ++c) *gradient++ = of_.slope(terms_[i], c, u[c]);
    });
  }

 private:
  template <class Visit>
  static void each(Index first, Index last, Visit&& visit) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) visit(i);
  }

  const Of& of_;
  std::vector<Index> terms_;
  std::size_t dim_;
  AlignedVector<std::int32_t> places_, shift_places_;
};

}  // namespace tempi
