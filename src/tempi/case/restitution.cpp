// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/restitution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/io/history.hpp"

namespace tempi {
namespace {

using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

std::vector<const Probe*> bodies_of(const Simulation& s) {
  std::vector<const Probe*> bodies;
  for (const Probe& probe : s.probes)
    if (probe.body && bodies.size() < 2) bodies.push_back(&probe);
  return bodies;
}

double mass_of(const Simulation& s, const Probe& body) {
  double mass = 0.0;
  for (const NodeId a : body.nodes) mass += s.model->mass(a);
  return mass;
}

double reduced_mass(const Simulation& s) {
  const auto bodies = bodies_of(s);
  const double first = mass_of(s, *bodies[0]), second = mass_of(s, *bodies[1]);
  return first * second / (first + second);
}

}  // namespace

std::vector<std::string> settings_of_impact(const CaseFile& input, double speed) {
  const auto given = input.constants.find(impact_speed);
  if (given == input.constants.end() || !(given->second > 0.0))
    throw InputError(
        fmt::format("tempi restitution runs a case at several values of the constant {0}, which this one "
                    "has not (or not above 0). Write [constants] {0} = 1.0, and {0} in the velocities of "
                    "[initial].",
                    impact_speed));
  if (std::ranges::count_if(input.probes, &ProbeInput::body) < 2)
    throw InputError(
        "tempi restitution looks at the first two [[probe]] sections with body = true, the two bodies that "
        "meet. Write them.");
  return {fmt::format("constants.{}={:.17g}", impact_speed, speed),
          fmt::format("run.end_time={:.17g}", input.end_time * std::pow(given->second / speed, 0.2))};
}

ImpactWatch::ImpactWatch(const Simulation& s, double speed) : speed_(speed) {
  const Parting start = look(s, 0.0);
  const double approach = std::sqrt(dot(start.velocity, start.velocity));
  if (!(std::abs(approach - speed) < 1e-9 * speed))
    throw InputError(
        fmt::format("with {} = {:.6g} the first two bodies, '{}' and '{}', have velocities {:.9g} m/s apart where the "
                    "run starts. Make these that constant alone (one of them at {}, say).",
                    impact_speed, speed, bodies_of(s)[0]->name, bodies_of(s)[1]->name, approach, impact_speed));
  for (std::size_t c = 0; c < 3; ++c) towards_[c] = start.velocity[c] / approach;
  energy_ = 0.5 * reduced_mass(s) * speed * speed;
}

Impact ImpactWatch::operator()(const Simulation& s) const {
  const double end = s.input.end_time, small = 1e-6;
  const Parting now = look(s, end);
  const double speed = -dot(now.velocity, towards_);
  const char* what = std::abs(speed + speed_) < small * speed_                           ? "met"
                     : now.force * end > small * reduced_mass(s) * speed_ || speed < 0.0 ? "parted"
                                                                                         : nullptr;
  if (what != nullptr)
    throw SolveError(
        fmt::format("at {} = {:.6g} m/s the two bodies have not {} by t = {:.6g} s. Give a later run.end_time "
                    "(it is that of the case's own {}, and longer or shorter at others as an impact by Hertz is), or "
                    "less of a gap.",
                    impact_speed, speed_, what, end, impact_speed));
  return {speed_, speed / speed_, now.vibrating / energy_};
}

ImpactWatch::Parting ImpactWatch::look(const Simulation& s, double t) {
  const Snapshot snapshot = s.integrator->synchronized(s.state, t);
  const auto d = static_cast<std::size_t>(s.model->dim());
  Parting result{};
  Vector acceleration{};
  double sign = -1.0;
  for (const Probe* body : bodies_of(s)) {
    const PartLedger ledger = ledger_of(*s.model, snapshot, body->nodes, *body->body->terms);
    const double mass = mass_of(s, *body);
    for (std::size_t c = 0; c < 3; ++c) result.velocity[c] += sign * ledger.momentum.linear[c] / mass;
    for (const NodeId a : body->nodes)
      for (std::size_t c = 0; c < d; ++c) acceleration[c] += sign * snapshot.force[ordinal(a) * d + c] / mass;
    result.vibrating += ledger.vibrational + ledger.potential;
    sign = 1.0;
  }
  result.force = reduced_mass(s) * std::sqrt(dot(acceleration, acceleration));
  return result;
}

std::optional<RestitutionFit> fit_restitution(std::span<const Impact> impacts) {
  std::vector<std::array<double, 2>> points;
  for (const Impact& impact : impacts)
    if (impact.restitution > 0.0 && impact.restitution < 1.0 - 1e-9)
      points.push_back({std::log(impact.speed), std::log1p(-impact.restitution)});
  if (points.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(points.size());
  std::array<double, 2> mean{};
  for (const auto& p : points)
    for (std::size_t c = 0; c < 2; ++c) mean[c] += p[c] / count;
  double squares = 0.0, products = 0.0;
  for (const auto& p : points) {
    squares += (p[0] - mean[0]) * (p[0] - mean[0]);
    products += (p[0] - mean[0]) * (p[1] - mean[1]);
  }
  if (!(squares > 0.0)) return std::nullopt;
  const double exponent = products / squares, height = mean[1] - exponent * mean[0];
  RestitutionFit fit{std::exp(height), exponent, 0.0};
  for (const auto& p : points) fit.scatter = std::max(fit.scatter, std::abs(p[1] - (height + exponent * p[0])));
  return fit;
}

std::string to_text(const std::optional<RestitutionFit>& fit) {
  if (!fit) return "no fit of 1 - c v^p: it wants two speeds at which something is lost\n";
  return fmt::format("restitution = \"1 - {:.4g}*v^{:.4g}\"   # off by at most {:.1f} % of what is lost\n", fit->loss,
                     fit->exponent, 100.0 * std::expm1(fit->scatter));
}

void write_restitution(const std::filesystem::path& file, std::span<const Impact> impacts) {
  HistoryWriter table(file, {"speed", "restitution", "vibrating"});
  for (const Impact& impact : impacts) table.write(std::array{impact.speed, impact.restitution, impact.vibrating});
}

std::vector<Impact> read_restitution(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<Impact> impacts;
  std::string line;
  std::getline(in, line);  // names
  while (std::getline(in, line)) {
    std::ranges::replace(line, ',', ' ');
    std::istringstream text(line);
    Impact impact{};
    if (!(text >> impact.speed >> impact.restitution >> impact.vibrating)) break;
    impacts.push_back(impact);
  }
  return impacts;
}

}  // namespace tempi
