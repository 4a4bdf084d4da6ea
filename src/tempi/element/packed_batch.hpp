// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <utility>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/element/term_kernel.hpp"
#include "tempi/potential/packed_places.hpp"

namespace tempi {

// Terms in packs for their kernel; what fills up the last one exerts no force.
class PackedBatch final : public Batch {
 public:
  PackedBatch(TermKernel kernel, Index width, Index dim, Index row, Lame lame, AlignedVector<double> geometry,
              AlignedVector<std::int32_t> places)
      : kernel_(kernel),
        width_(width),
        dim_(dim),
        row_(row),
        lame_(lame),
        geometry_(std::move(geometry)),
        places_(std::move(places)),
        count_(std::ssize(places_) / (width * (row / dim))) {}

  bool strike(Index first, Index last, double step, double, std::span<NodeLine> nodes) const override {
    return kernel_.strike(terms(), first / width_, packs(last), step, nodes.data(), nullptr, nullptr);
  }
  Looked look(Index first, Index last, double, std::span<NodeLine> nodes) const override {
    Looked looked{};
    looked.admissible = kernel_.look(terms(), first / width_, packs(last), nodes.data(), looked.energy);
    return looked;
  }

  bool offers_change() const override { return true; }
  void place_shifts(std::span<const std::int32_t> of_line) override { shift_places_ = places_of(places_, of_line); }
  void strike_change(Index first, Index last, double, std::span<NodeLine> nodes, std::span<const NodeShift> w,
                     std::span<double> impulses) const override {
    kernel_.change(terms(), first / width_, packs(last), nodes.data(), w.data(),
                   impulses.empty() ? nullptr : impulses.data());
  }

  Index kept() const override { return row_ - dim_; }
  bool watch(Index first, Index last, double step, double, std::span<NodeLine> nodes, std::span<double> energies,
             std::span<double> kept) const override {
    return kernel_.strike(terms(), first / width_, packs(last), step, nodes.data(), energies.data(), kept.data());
  }
  void works(Index first, Index last, std::span<const NodeMean> means, std::span<const double> kept,
             std::span<double> kinetic, std::span<double> work) const override {
    kernel_.works(terms(), first / width_, packs(last), means.data(), kept.data(), kinetic.data(), work.data());
  }

  Index followed() const override { return row_ - dim_; }
  double depart(Index first, Index last, std::span<const NodeLine> nodes, std::span<const NodeShift> reference,
                double rounding, std::span<double> flight) const override {
    return kernel_.depart(terms(), first / width_, packs(last), nodes.data(), reference.data(), rounding,
                          flight.data());
  }
  Followed follow(Index first, Index last, double s, std::span<const double> flight, std::span<double> rates,
                  std::span<double> kept) const override {
    return kernel_.follow(terms(), first / width_, packs(last), s, flight.data(), rates.data(), kept.data());
  }
  Followed turn(Index first, Index last, std::span<const double> flight, std::span<double> rates,
                std::span<const double> kept) const override {
    return kernel_.turn(first / width_, packs(last), flight.data(), rates.data(), kept.data());
  }
  void add_gradient(Index first, Index last, std::span<const double> kept, std::span<double> gradient) const override {
    kernel_.add_gradient(terms(), first / width_, packs(last), kept.data(), gradient.data());
  }

  Index row() const override { return row_; }
  void measure(Index first, Index last, double, std::span<const NodeLine> nodes, std::span<double> energies,
               std::span<double> gradients) const override {
    kernel_.measure(terms(), first / width_, packs(last), nodes.data(), energies.data(), gradients.data());
  }

 private:
  Index packs(Index terms) const { return (terms + width_ - 1) / width_; }
  PackedTerms terms() const {
    return {geometry_.data(), places_.data(), count_, lame_, (shift_places_.empty() ? places_ : shift_places_).data()};
  }

  TermKernel kernel_;
  Index width_, dim_, row_;
  Lame lame_;
  AlignedVector<double> geometry_;
  AlignedVector<std::int32_t> places_, shift_places_;
  Index count_;
};

}  // namespace tempi
