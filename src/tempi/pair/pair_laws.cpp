// SPDX-License-Identifier: Apache-2.0
#include "tempi/pair/pair_laws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "tempi/core/error.hpp"

namespace tempi {

PairValues LennardJones::at(double r) const {
  if (cutoff && r >= *cutoff) return {0.0, 0.0, 0.0};
  const auto sixth_power = [&](double distance) {
    const double s = sigma / distance, s2 = s * s;
    return s2 * s2 * s2;
  };
  const double s6 = sixth_power(r);
  double V = 4.0 * epsilon * s6 * (s6 - 1.0);
  if (cutoff) {
    const double c6 = sixth_power(*cutoff);
    V -= 4.0 * epsilon * c6 * (c6 - 1.0);
  }
  return {V, -24.0 * epsilon * s6 * (2.0 * s6 - 1.0) / r, 24.0 * epsilon * s6 * (26.0 * s6 - 7.0) / (r * r)};
}

PairValues Morse::at(double r) const {
  const double x = (r - length) * inverse_width, q = -std::expm1(-x), e = 1.0 - q;
  return {depth * q * q, 2.0 * depth * inverse_width * q * e,
          2.0 * depth * inverse_width * inverse_width * e * (e - q)};
}

PairValues Spring::at(double r) const {
  const double q = r - length;
  return {0.5 * stiffness * q * q, stiffness * q, stiffness};
}

PairValues TanhSpring::at(double r) const {
  const double x = (r - length) / (2.0 * width), size = std::abs(x);
  // ln cosh: cosh x = 1 + 2 sinh^2(x/2) keeps the digits of small x, cosh x = e^x (1 + e^-2x) / 2 does not overflow.
  const double half = std::sinh(0.5 * std::min(size, 1.0));
  const double log_cosh =
      size < 1.0 ? std::log1p(2.0 * half * half) : size + std::log1p(std::exp(-2.0 * size)) - std::log(2.0);
  const double cosh_x = std::cosh(x);
  return {2.0 * strength * width * log_cosh, strength * std::tanh(x), strength / (2.0 * width) / cosh_x / cosh_x};
}

PairValues Gravitation::at(double r) const {
  const double V = -G / r;
  return {V, -V / r, 2.0 * V / (r * r)};
}

PairValues Hertz::at(double r) const {
  if (r >= length) return {0.0, 0.0, 0.0};
  const double overlap = length - r, root = std::sqrt(overlap);
  return {0.4 * stiffness * overlap * overlap * root, -stiffness * overlap * root, 1.5 * stiffness * root};
}

UserLaw::UserLaw(Expression V) : V_(std::move(V)), one_at_a_time_(std::make_unique<std::mutex>()) {
  if (V_.depends_on_time())
    throw InputError(
        fmt::format("the pair potential \"{}\" depends on t (must be a function of the distance).", V_.text()));
}

PairValues UserLaw::at(double r) const {
  const double h = 1e-3 * r;
  const std::lock_guard lock(*one_at_a_time_);
  const auto V = [&](double k) { return V_(std::array{r + k * h}, 0.0); };
  const double far_left = V(-2.0), left = V(-1.0), here = V(0.0), right = V(1.0), far_right = V(2.0);
  return {here, (far_left - 8.0 * left + 8.0 * right - far_right) / (12.0 * h),
          (-far_left + 16.0 * left - 30.0 * here + 16.0 * right - far_right) / (12.0 * h * h)};
}

PairValues LawPart::Switch::at(double r) const {
  if (r <= begin) return {0.0, 0.0, 0.0};
  if (r >= end) return {1.0, 0.0, 0.0};
  const double width = end - begin, x = (r - begin) / width, y = 1.0 - x;
  return {x * x * x * (10.0 + x * (6.0 * x - 15.0)), 30.0 * x * x * y * y / width,
          60.0 * x * y * (y - x) / (width * width)};
}

LawPart::LawPart(WholeLaw law, std::optional<Switch> rise, std::optional<Switch> fall)
    : whole_(std::move(law)), rise_(rise), fall_(fall) {
  for (const auto& s : {rise, fall})
    if (s && !(s->begin >= 0.0 && s->end > s->begin && std::isfinite(s->end)))
      throw InputError(
          fmt::format("a law is switched between {} m and {} m (must be 0 <= first < second).", s->begin, s->end));
  if (rise && fall && fall->begin < rise->end)
    throw InputError(
        fmt::format("a part of a law ends at {} m, before it has begun at {} m. Set the distances that "
                    "divide it farther apart, or switch within less.",
                    fall->begin, rise->end));
}

PairValues LawPart::at(double r) const {
  if ((rise_ && r <= rise_->begin) || (fall_ && r >= fall_->end)) return {0.0, 0.0, 0.0};
  const PairValues law = std::visit([r](const auto& l) { return l.at(r); }, whole_);
  PairValues s = {1.0, 0.0, 0.0};
  if (rise_) s = rise_->at(r);
  if (fall_) {
    const PairValues gone = fall_->at(r);
    s = {s.V - gone.V, s.slope - gone.slope, s.curvature - gone.curvature};
  }
  return {s.V * law.V, s.V * law.slope + s.slope * law.V,
          s.V * law.curvature + 2.0 * s.slope * law.slope + s.curvature * law.V};
}

namespace {

void require_positive(std::string_view name, double value, std::string_view unit) {
  if (!(value > 0.0) || !std::isfinite(value))
    throw InputError(fmt::format("{} = {} {} (must be > 0).", name, value, unit));
}
void require_not_negative(std::string_view name, double value, std::string_view unit) {
  if (!(value >= 0.0) || !std::isfinite(value))
    throw InputError(fmt::format("{} = {} {} (must be >= 0).", name, value, unit));
}

void check_law(const LennardJones& law) {
  require_positive("epsilon", law.epsilon, "J");
  require_positive("sigma", law.sigma, "m");
  if (law.cutoff) require_positive("cutoff", *law.cutoff, "m");
}
void check_law(const Morse& law) {
  require_positive("depth", law.depth, "J");
  require_positive("inverse_width", law.inverse_width, "1/m");
  require_positive("length", law.length, "m");
}
void check_law(const Spring& law) {
  require_positive("stiffness", law.stiffness, "N/m");
  require_not_negative("length", law.length, "m");
}
void check_law(const TanhSpring& law) {
  require_positive("strength", law.strength, "N");
  require_positive("width", law.width, "m");
  require_not_negative("length", law.length, "m");
}
void check_law(const Gravitation& law) { require_positive("G", law.G, "N m^2/kg^2"); }
void check_law(const Hertz& law) {
  require_positive("stiffness", law.stiffness, "N/m^1.5");
  require_positive("length", law.length, "m");
}
void check_law(const UserLaw&) {}  // valid as made
void check_law(const LawPart& part) {
  std::visit([](const auto& l) { check_law(l); }, part.whole());
}

std::optional<double> reach_of_law(const auto&) { return std::nullopt; }
std::optional<double> reach_of_law(const LennardJones& law) { return law.cutoff; }
std::optional<double> reach_of_law(const Hertz& law) { return law.length; }
std::optional<double> reach_of_law(const LawPart& part) {
  const auto whole = std::visit([](const auto& l) { return reach_of_law(l); }, part.whole());
  if (!part.fall()) return whole;
  return std::min(part.fall()->end, whole.value_or(part.fall()->end));
}

}  // namespace

std::optional<double> reach(const PairLaw& law) {
  return std::visit([](const auto& l) { return reach_of_law(l); }, law);
}

bool multiplies_by_masses(const PairLaw& law) {
  const auto* part = std::get_if<LawPart>(&law);
  return part != nullptr ? std::holds_alternative<Gravitation>(part->whole())
                         : std::holds_alternative<Gravitation>(law);
}

void check(const PairLaw& law) {
  std::visit([](const auto& l) { check_law(l); }, law);
}

}  // namespace tempi
