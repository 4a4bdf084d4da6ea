// SPDX-License-Identifier: Apache-2.0
#include "tempi/pair/pair_geometry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tempi/core/error.hpp"

namespace tempi {

PairGeometry::PairGeometry(std::span<const double> reference, int dim, std::span<const double> masses,
                           std::vector<PairLaw> laws, const Box& box)
    : reference_(reference.begin(), reference.end()), dim_(dim), laws_(std::move(laws)), box_(box) {
  TEMPI_ASSERT(reference.size() == masses.size() * static_cast<std::size_t>(dim));
  TEMPI_ASSERT(!laws_.empty());
  if (multiplies_by_masses(laws_.front())) masses_.assign(masses.begin(), masses.end());
  for (const PairLaw& law : laws_) {
    check(law);
    if (const auto range = reach(law))
      box.require_room_for(std::holds_alternative<Hertz>(law) ? "length" : "cutoff", *range);
  }
}

PairGeometry::PairGeometry(std::span<const double> reference, int dim, std::vector<double> radii, const Hertz& largest,
                           const Box& box)
    : reference_(reference.begin(), reference.end()), dim_(dim), radii_(std::move(radii)), box_(box) {
  laws_.emplace_back(largest);
  TEMPI_ASSERT(reference.size() == radii_.size() * static_cast<std::size_t>(dim));
  check(laws_.front());
  box.require_room_for("the largest sum of two radii", largest.length);
}

PairValues PairGeometry::values(const NodePair& pair, double r, std::size_t l) const {
  if (!radii_.empty()) {
    const double a = radii_[ordinal(pair[0])], b = radii_[ordinal(pair[1])];
    return Hertz{std::get<Hertz>(laws_[l]).stiffness * std::sqrt(a * b / (a + b)), a + b}.at(r);
  }
  const PairValues one = evaluate(laws_[l], r);
  const double by = factor(pair);
  return {by * one.V, by * one.slope, by * one.curvature};
}

Separation separation_of(const NodePair& pair, std::span<const double> reference, std::span<const double> u, int dim,
                         const Box& box) {
  const auto d = static_cast<std::size_t>(dim);
  const std::size_t i = ordinal(pair[0]) * d, j = ordinal(pair[1]) * d;
  std::array<double, 3> w{};
  double r2 = 0.0;
  for (std::size_t c = 0; c < d; ++c) {
    w[c] = box.nearest((reference[j + c] - reference[i + c]) + (u[j + c] - u[i + c]), c);
    r2 += w[c] * w[c];
  }
  const double r = std::sqrt(r2);
  return {r, {w[0] / r, w[1] / r, w[2] / r}};
}

PairGeometry::Force PairGeometry::force(const NodePair& pair, std::span<const double> u, std::size_t l) const {
  const auto [r, n] = separation(pair, u);
  const double slope = values(pair, r, l).slope;
  return {std::isfinite(slope) ? r : std::numeric_limits<double>::quiet_NaN(),
          {slope * n[0], slope * n[1], slope * n[2]}};
}

// d2V/dx_b dx_b = V'' n n^T + V'/r (I - n n^T), and its negative off the diagonal.
void PairGeometry::add_hessian(const NodePair& pair, std::span<const double> u, std::span<double> H, std::size_t l,
                               Part part) const {
  const auto [r, n] = separation(pair, u);
  const PairValues at = values(pair, r, l);
  const double least = part == Part::all ? -std::numeric_limits<double>::infinity() : 0.0;
  const double along = std::max(at.curvature, least), across = std::max(at.slope / r, least);
  const auto d = static_cast<std::size_t>(dim_);
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j < d; ++j) {
      const double nn = n[i] * n[j], h = along * nn + across * ((i == j ? 1.0 : 0.0) - nn);
      H[i * 2 * d + j] += h;
      H[i * 2 * d + d + j] -= h;
      H[(d + i) * 2 * d + j] -= h;
      H[(d + i) * 2 * d + d + j] += h;
    }
}

std::string PairGeometry::place(NodeId a, std::span<const double> u) const {
  const auto d = static_cast<std::size_t>(dim_), first = ordinal(a) * d;
  std::vector<double> x;
  for (std::size_t c = first; c < first + d; ++c) x.push_back(reference_[c] + u[c]);
  return fmt::format("({:.6g})", fmt::join(x, ", "));
}

std::string PairGeometry::fault(const std::string& name, const NodePair& pair, std::span<const double> u, double t,
                                double admissibility) const {
  const double r = separation(pair, u).r;
  const std::string where = fmt::format("{} at {} and {}", name, place(pair[0], u), place(pair[1], u));
  if (!std::isfinite(r))
    return fmt::format(
        "{} has a position that is not finite at t = {:.9g} s. The run has become unstable: try smaller steps.", where,
        t);
  return fmt::format(
      "{} has {} at t = {:.9g} s (its distance is {:.6g} m). Try smaller steps, or initial positions and velocities "
      "that keep its nodes apart.",
      where, r > 0.0 && std::isnan(admissibility) ? "a force that is not finite" : "met", t, r);
}

PackedBox packed_box(const Box& box, int dim) {
  PackedBox packed;
  for (std::size_t c = 0; c < static_cast<std::size_t>(dim); ++c)
    if (const auto L = box.length(c)) {
      packed.length[c] = *L;
      packed.inverse[c] = 1.0 / *L;
    }
  return packed;
}

namespace {

using Choice = std::optional<PackedLawChoice>;
Choice packed(const auto&) { return std::nullopt; }  // no kernel
Choice packed(const LennardJones& law) {
  const double depth = 4.0 * law.epsilon;
  PackedLaw result{{law.sigma * law.sigma, depth, 0.0, 0.0}};
  if (law.cutoff) {
    const double s6 = std::pow(law.sigma / *law.cutoff, 6);
    result.parameters[2] = depth * s6 * (s6 - 1.0);
    result.reach = *law.cutoff;
  }
  return PackedLawChoice{PackedLawKind::lennard_jones, result};
}
Choice packed(const Morse& law) {
  return PackedLawChoice{PackedLawKind::morse, {{law.depth, law.inverse_width, law.length, 0.0}}};
}
Choice packed(const Spring& law) {
  return PackedLawChoice{PackedLawKind::spring, {{law.stiffness, law.length, 0.0, 0.0}}};
}
Choice packed(const TanhSpring& law) {
  return PackedLawChoice{PackedLawKind::tanh_spring, {{law.strength, 0.5 / law.width, law.length, 0.0}}};
}
Choice packed(const Gravitation& law) { return PackedLawChoice{PackedLawKind::gravitation, {{law.G, 0.0, 0.0, 0.0}}}; }
Choice packed(const Hertz& law) {
  return PackedLawChoice{PackedLawKind::hertz, {{law.stiffness, law.length, 0.0, 0.0}, law.length}};
}
Choice packed(const LawPart& part) {
  Choice choice = std::visit([](const auto& l) { return packed(l); }, part.whole());
  if (!choice) return choice;
  choice->part = true;
  PackedLaw& law = choice->law;
  if (const auto& rise = part.rise()) law.switches[0] = rise->begin, law.switches[1] = 1.0 / (rise->end - rise->begin);
  if (const auto& fall = part.fall()) {
    law.switches[2] = fall->begin, law.switches[3] = 1.0 / (fall->end - fall->begin);
    law.reach = std::min(law.reach, fall->end);
  }
  return choice;
}

}  // namespace

PackedLawChoice packed_spheres(const Hertz& largest) {
  return {PackedLawKind::spheres, {{largest.stiffness, 0.0, 0.0, 0.0}, largest.length}};
}

std::optional<PackedLawChoice> packed_law(const PairLaw& law) {
  return std::visit([](const auto& l) { return packed(l); }, law);
}

}  // namespace tempi
