// SPDX-License-Identifier: Apache-2.0
#include "tempi/pair/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/potential/packed_places.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi {
namespace {

class PackedBatch final : public Batch {
 public:
  PackedBatch(PairPacks packs, AlignedVector<std::int32_t> places, int dim)
      : packs_(std::move(packs)), places_(std::move(places)), dim_(dim) {}

  bool strike(Index first, Index last, double step, double, std::span<NodeLine> nodes) const override {
    return packs_.kernel.strike(packed(), first / width_, packs(last), step, nodes.data(), nullptr, nullptr);
  }

  bool offers_change() const override { return true; }
  void place_shifts(std::span<const std::int32_t> of_line) override { shift_places_ = places_of(places_, of_line); }
  void strike_change(Index first, Index last, double, std::span<NodeLine> nodes, std::span<const NodeShift> w,
                     std::span<double> impulses) const override {
    const auto& shift_places = shift_places_.empty() ? places_ : shift_places_;
    packs_.kernel.change(packed(), shift_places.data(), first / width_, packs(last), dim_, nodes.data(), w.data(),
                         impulses.empty() ? nullptr : impulses.data());
  }

  Index kept() const override { return 3; }
  bool watch(Index first, Index last, double step, double, std::span<NodeLine> nodes, std::span<double> energies,
             std::span<double> kept) const override {
    return packs_.kernel.watch(packed(), first / width_, packs(last), step, nodes.data(), energies.data(), kept.data());
  }
  void works(Index first, Index last, std::span<const NodeMean> means, std::span<const double> kept,
             std::span<double> kinetic, std::span<double> work) const override {
    packs_.kernel.works(packed(), std::ssize(places_) / (2 * width_), first / width_, packs(last), means.data(),
                        kept.data(), kinetic.data(), work.data());
  }
  Index followed() const override { return 3; }
  double depart(Index first, Index last, std::span<const NodeLine> nodes, std::span<const NodeShift>, double rounding,
                std::span<double> flight) const override {
    return packs_.kernel.depart(packed(), first / width_, packs(last), nodes.data(), rounding, flight.data());
  }
  Followed follow(Index first, Index last, double s, std::span<const double> flight, std::span<double> rates,
                  std::span<double> kept) const override {
    return packs_.kernel.follow(packed(), first / width_, packs(last), s, flight.data(), rates.data(), kept.data());
  }
  Followed turn(Index first, Index last, std::span<const double> flight, std::span<double> rates,
                std::span<const double> kept) const override {
    return packs_.kernel.turn(first / width_, packs(last), flight.data(), rates.data(), kept.data());
  }
  void add_gradient(Index first, Index last, std::span<const double> kept, std::span<double> gradient) const override {
    packs_.kernel.add_gradient(packed(), first / width_, packs(last), dim_, kept.data(), gradient.data());
  }

  Index row() const override { return 2 * dim_; }
  void measure(Index first, Index last, double, std::span<const NodeLine> nodes, std::span<double> energies,
               std::span<double> gradients) const override {
    packs_.kernel.measure(packed(), first / width_, packs(last), dim_, nodes.data(), energies.data(), gradients.data());
  }

 private:
  PackedPairs packed() const { return packs_.at(places_); }
  Index packs(Index last) const { return (last + width_ - 1) / width_; }

  Index width_ = pack_width();
  PairPacks packs_;
  AlignedVector<std::int32_t> places_, shift_places_;
  int dim_;
};

class Pairs final : public PairPotential {
 public:
  Pairs(PairGeometry geometry, std::vector<NodePair> pairs, Company company)
      : geometry_(std::move(geometry)), pairs_(std::move(pairs)), company_(company) {
    const std::vector<double> rest(geometry_.reference().size(), 0.0);
    for (Index k = 0; k < size(); ++k) check_pair(k, rest);
  }

  Index size() const override { return static_cast<Index>(pairs_.size()); }
  int dim() const override { return geometry_.dim(); }
  std::span<const NodeId> stencil(Index k) const override { return pair(k); }
  double mass(Index, std::size_t) const override { return 0.0; }
  bool stays_together() const override { return company_ == Company::bonded; }

  double energy(Index k, std::span<const double> u, double) const override {
    return geometry_.energy(pair(k), u, law_of(k));
  }

  double add_gradient(Index k, std::span<const double> u, double, std::span<double> g) const override {
    const auto [admissibility, gradient] = geometry_.force(pair(k), u, law_of(k));
    const auto d = static_cast<std::size_t>(dim());
    for (std::size_t c = 0; c < d; ++c) {
      g[c] -= gradient[c];
      g[d + c] += gradient[c];
    }
    return admissibility;
  }

  void add_hessian(Index k, std::span<const double> u, double, std::span<double> H) const override {
    geometry_.add_hessian(pair(k), u, H, law_of(k));
  }
  void add_positive_hessian(Index k, std::span<const double> u, std::span<double> H) const override {
    geometry_.add_hessian(pair(k), u, H, law_of(k), PairGeometry::Part::positive);
  }

  std::unique_ptr<Batch> batch(std::span<const Index> terms, std::span<const std::int32_t> place) const override {
    auto packed = packs(terms);
    if (!packed) return Potential::batch(terms, place);
    return std::make_unique<PackedBatch>(std::move(*packed), packed_places(*this, terms, place), dim());
  }

  std::optional<PairPacks> packs(std::span<const Index> terms) const override {
    constexpr std::size_t numbers = PackedLaw{}.parameters.size() + 1;
    const auto W = static_cast<std::size_t>(pack_width());
    PairPacks packs{.geometry = packed_separations(geometry_.reference(), dim(), pairs_, terms),
                    .box = packed_box(geometry_.box(), dim())};
    const std::size_t padded = packs.geometry.size() / 4;
    if (geometry_.law_count() > 1) packs.lanes.resize(padded * numbers);
    std::optional<PackedLawChoice> first, law;
    Index k = 0;
    for (std::size_t i = 0; i < padded; ++i) {
      if (i < terms.size() && terms[i] >= 0) k = terms[i];
      packs.geometry[(i / W * 4 + 3) * W + i % W] *= geometry_.factor(pair(k));
      if (first && packs.lanes.empty()) continue;
      law = packed_law(geometry_.law(law_of(k)));
      if (!first) first = law;
      if (!law || law->kind != first->kind || law->part != first->part || law->law.switches != first->law.switches)
        return std::nullopt;
      if (packs.lanes.empty()) continue;
      double* own = &packs.lanes[i / W * numbers * W + i % W];
      for (const double parameter : law->law.parameters) *std::exchange(own, own + W) = parameter;
      *own = law->law.reach;
    }
    if (!first) return std::nullopt;
    packs.kernel = pair_kernel(first->kind, first->part);
    packs.law = first->law;
    return packs;
  }

  std::string describe(Index k) const override {
    return fmt::format("pair {} of nodes {} and {}", k, index(pair(k)[0]), index(pair(k)[1]));
  }
  std::string fault(Index k, std::span<const double> u, double t, double admissibility) const override {
    return geometry_.fault(describe(k), pair(k), u, t, admissibility);
  }

 private:
  std::size_t law_of(Index k) const { return geometry_.law_count() > 1 ? static_cast<std::size_t>(k) : 0; }
  const NodePair& pair(Index k) const { return pairs_[static_cast<std::size_t>(k)]; }

  void check_pair(Index k, std::span<const double> rest) const {
    const auto& [a, b] = pair(k);
    for (const NodeId node : {a, b})
      if (index(node) < 0 || index(node) >= geometry_.node_count())
        throw InputError(fmt::format("{} (there are {} nodes, numbered from 0).", describe(k), geometry_.node_count()));
    if (a == b)
      throw InputError(fmt::format("pair {} joins node {} to itself. Give two different nodes.", k, index(a)));
    const double r = geometry_.separation(pair(k), rest).r;
    if (!(r > 0.0) || !std::isfinite(r))
      throw InputError(fmt::format("{} at {} and {} has the length {} m (must be > 0). Move one of the nodes.",
                                   describe(k), geometry_.place(a, rest), geometry_.place(b, rest), r));
  }

  PairGeometry geometry_;
  std::vector<NodePair> pairs_;
  Company company_;
};

}  // namespace

AlignedVector<double> packed_separations(std::span<const double> reference, int dim, std::span<const NodePair> pairs,
                                         std::span<const Index> terms) {
  const auto W = static_cast<std::size_t>(pack_width()), d = static_cast<std::size_t>(dim);
  const std::size_t packs = (terms.size() + W - 1) / W;
  AlignedVector<double> geometry(packs * 4 * W, 0.0);
  Index k = 0;
  for (std::size_t i = 0; i < packs * W; ++i) {
    const bool is_one = i < terms.size() && terms[i] >= 0;
    if (is_one) k = terms[i];
    const auto& [a, b] = pairs[static_cast<std::size_t>(k)];
    double* lane = &geometry[i / W * 4 * W + i % W];
    for (std::size_t c = 0; c < d; ++c) lane[c * W] = reference[ordinal(b) * d + c] - reference[ordinal(a) * d + c];
    lane[3 * W] = is_one ? 1.0 : 0.0;
  }
  return geometry;
}

std::unique_ptr<Potential> make_pairs(std::span<const double> reference, int dim, std::span<const double> masses,
                                      std::vector<NodePair> pairs, PairLaw law, const Box& box, Company company) {
  std::vector<PairLaw> laws;
  laws.push_back(std::move(law));
  return std::make_unique<Pairs>(PairGeometry(reference, dim, masses, std::move(laws), box), std::move(pairs), company);
}

std::unique_ptr<Potential> make_pairs(std::span<const double> reference, int dim, std::span<const double> masses,
                                      std::vector<NodePair> pairs, std::vector<PairLaw> laws, const Box& box,
                                      Company company) {
  if (laws.size() != pairs.size())
    throw InputError(fmt::format("{} laws for {} pairs. Give one each.", laws.size(), pairs.size()));
  for (const PairLaw& law : laws)
    if (law.index() != laws.front().index())
      throw InputError("the pairs of one potential have laws of different kinds. Give each kind a potential.");
  return std::make_unique<Pairs>(PairGeometry(reference, dim, masses, std::move(laws), box), std::move(pairs), company);
}

}  // namespace tempi
