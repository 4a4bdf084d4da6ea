// SPDX-License-Identifier: Apache-2.0
#include "tempi/pair/pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/core/error.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi {
namespace {

// Packs of pairs; the last one is filled up with the last pair, whose force does not count again.
class PackedBatch final : public Batch {
 public:
  // `laws`: of each pair, or one of all.
  PackedBatch(const PairGeometry& geometry, std::span<const PackedLawChoice> laws, std::span<const NodePair> pairs,
              std::span<const std::int32_t> place)
      : kernel_(pair_kernel(laws.front().kind, laws.front().part)),
        law_(laws.front().law),
        box_(packed_box(geometry.box(), geometry.dim())),
        dim_(geometry.dim()) {
    constexpr std::size_t numbers = PackedLaw{}.parameters.size() + 1;
    const auto W = static_cast<std::size_t>(width_), d = static_cast<std::size_t>(dim_);
    const std::size_t padded = (pairs.size() + W - 1) / W * W;
    geometry_.assign(padded * 4, 0.0);
    places_.resize(padded * 2);
    if (laws.size() > 1) lanes_.resize(padded * numbers);
    for (std::size_t i = 0; i < padded; ++i) {
      const NodePair& pair = pairs[std::min(i, pairs.size() - 1)];
      double* lane = &geometry_[i / W * 4 * W + i % W];
      std::array<std::size_t, 2> node{};
      for (std::size_t a = 0; a < 2; ++a) {
        node[a] = ordinal(pair[a]);
        places_[(i / W * 2 + a) * W + i % W] = place[node[a]];
      }
      for (std::size_t c = 0; c < d; ++c)
        lane[c * W] = geometry.reference()[node[1] * d + c] - geometry.reference()[node[0] * d + c];
      if (i < pairs.size()) lane[3 * W] = geometry.factor(pair);
      if (lanes_.empty()) continue;
      const PackedLaw& law = laws[std::min(i, pairs.size() - 1)].law;
      double* own = &lanes_[i / W * numbers * W + i % W];
      for (const double parameter : law.parameters) *std::exchange(own, own + W) = parameter;
      *own = law.reach;
    }
  }

  bool strike(Index first, Index last, double step, double, std::span<NodeLine> nodes) const override {
    return kernel_.strike(packed(), first / width_, packs(last), step, nodes.data(), nullptr, nullptr);
  }
  Index kept() const override { return 3; }
  bool watch(Index first, Index last, double step, double, std::span<NodeLine> nodes, std::span<double> energies,
             std::span<double> kept) const override {
    return kernel_.watch(packed(), first / width_, packs(last), step, nodes.data(), energies.data(), kept.data());
  }
  void works(Index first, Index last, std::span<const NodeMean> means, std::span<const double> kept,
             std::span<double> kinetic, std::span<double> work) const override {
    kernel_.works(packed(), std::ssize(places_) / (2 * width_), first / width_, packs(last), means.data(), kept.data(),
                  kinetic.data(), work.data());
  }
  Index followed() const override { return 3; }
  double depart(Index first, Index last, std::span<const NodeLine> nodes, std::span<const NodeShift>, double rounding,
                std::span<double> flight) const override {
    return kernel_.depart(packed(), first / width_, packs(last), nodes.data(), rounding, flight.data());
  }
  Followed follow(Index first, Index last, double s, std::span<const double> flight, std::span<double> rates,
                  std::span<double> kept) const override {
    return kernel_.follow(packed(), first / width_, packs(last), s, flight.data(), rates.data(), kept.data());
  }
  Followed turn(Index first, Index last, std::span<const double> flight, std::span<double> rates,
                std::span<const double> kept) const override {
    return kernel_.turn(first / width_, packs(last), flight.data(), rates.data(), kept.data());
  }
  void add_gradient(Index first, Index last, std::span<const double> kept, std::span<double> gradient) const override {
    kernel_.add_gradient(packed(), first / width_, packs(last), dim_, kept.data(), gradient.data());
  }

  Index row() const override { return 2 * dim_; }
  void measure(Index first, Index last, double, std::span<const NodeLine> nodes, std::span<double> energies,
               std::span<double> gradients) const override {
    kernel_.measure(packed(), first / width_, packs(last), dim_, nodes.data(), energies.data(), gradients.data());
  }

 private:
  PackedPairs packed() const {
    return {geometry_.data(), lanes_.empty() ? nullptr : lanes_.data(), places_.data(), law_, box_};
  }
  Index packs(Index last) const { return (last + width_ - 1) / width_; }

  Index width_ = pack_width();
  PairKernel kernel_;
  PackedLaw law_;
  PackedBox box_;
  int dim_;
  AlignedVector<double> geometry_, lanes_;
  AlignedVector<std::int32_t> places_;
};

class Pairs final : public LocalPotential {
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

  std::unique_ptr<Batch> batch(std::span<const Index> terms, std::span<const std::int32_t> place) const override {
    std::vector<PackedLawChoice> laws;
    for (std::size_t i = 0; i < (geometry_.law_count() > 1 ? terms.size() : 1); ++i) {
      const auto law = packed_law(geometry_.law(law_of(terms[i])));
      if (!law || (i > 0 && (law->kind != laws.front().kind || law->part != laws.front().part ||
                             law->law.switches != laws.front().law.switches)))
        return Potential::batch(terms, place);
      laws.push_back(*law);
    }
    std::vector<NodePair> pairs;
    for (const Index k : terms) pairs.push_back(pair(k));
    return std::make_unique<PackedBatch>(geometry_, laws, pairs, place);
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
