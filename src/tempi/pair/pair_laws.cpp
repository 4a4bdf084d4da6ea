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

}  // namespace

std::optional<double> reach(const PairLaw& law) {
  if (const auto* lj = std::get_if<LennardJones>(&law)) return lj->cutoff;
  if (const auto* hertz = std::get_if<Hertz>(&law)) return hertz->length;
  return std::nullopt;
}

void check(const PairLaw& law) {
  std::visit([](const auto& l) { check_law(l); }, law);
}

}  // namespace tempi
