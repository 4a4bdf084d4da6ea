// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/multi_domain/multi_domain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tempi/core/error.hpp"
#include "tempi/integrator/multi_domain/trial.hpp"

namespace tempi {
namespace {

using Vector = Eigen::VectorXd;

void require_rules(const Domains& domains) {
  const int count = domains.of_term.empty() ? 0 : *std::ranges::max_element(domains.of_term) + 1;
  if (std::ssize(domains.rules) != count)
    throw InputError(fmt::format("{} rules for {} domains. Give one for each.", domains.rules.size(), count));
  for (std::size_t d = 0; d < domains.rules.size(); ++d) {
    const DomainRule& rule = domains.rules[d];
    if (rule.substeps < 1) throw InputError(fmt::format("domain {}: substeps = {} (must be >= 1).", d, rule.substeps));
    if (!(rule.alpha >= 0.0 && rule.alpha <= 1.0))
      throw InputError(fmt::format("domain {}: alpha = {} (must be from 0 to 1).", d, rule.alpha));
  }
}

std::vector<double> list(const Vector& x) { return {x.begin(), x.end()}; }

}  // namespace

MultiDomainMap::MultiDomainMap(const Model& model, Domains domains, double system_step, Framework framework)
    : forces_(model, system_step),
      domains_(std::move(domains)),
      framework_(framework),
      interface_((require_rules(domains_), model), domains_.of_term, domains_.ties) {
  for (std::size_t d = 0; d < domains_.rules.size(); ++d) {
    all_.push_back((domains_.by_reference ? make_midpoint_domain : make_domain)(interface_.parts()[d],
                                                                                domains_.rules[d], system_step));
    explicit_ = explicit_ && all_.back()->is_explicit();
  }
  unknown_ = interface_.unknown();
  inner_from_.push_back(std::ssize(interface_.psi()));
  for (const auto& domain : all_) {
    for (std::size_t k = 0; k < domain->inner().size(); ++k)
      unknown_.push_back(inner_from_.back() + static_cast<Index>(k));
    inner_from_.push_back(inner_from_.back() + std::ssize(domain->inner()));
  }
  use_threads(1);
  std::vector<std::size_t> next(domains_.rules.size(), 0);
  for (const int d : domains_.of_term) {
    const DomainRule& rule = domains_.rules[static_cast<std::size_t>(d)];
    substeps_.push_back(rule.substeps / (rule.ticks.empty() ? 1 : rule.ticks[next[static_cast<std::size_t>(d)]++]));
  }
}

MultiDomainMap::~MultiDomainMap() = default;

std::vector<double> MultiDomainMap::parameters() const {
  std::vector<double> all = {static_cast<double>(framework_), static_cast<double>(domains_.ties.size())};
  for (const DomainRule& rule : domains_.rules) all.insert(all.end(), {rule.alpha, static_cast<double>(rule.substeps)});
  double k = 1.0, sum = 0.0;  // of who is where, good enough to tell cases apart
  for (const int d : domains_.of_term) sum += (d + 1) * std::fmod(k += 1.0, 9973.0);
  for (const std::int32_t s : substeps_) sum += s * std::fmod(k += 1.0, 9973.0);  // with steps of terms
  all.push_back(sum);
  all.push_back(static_cast<double>(inner_from_.back()));
  return all;
}

void MultiDomainMap::start(State& state) const {
  forces_.kick_drift().start(state);
  interface_.start(state);
}

// From unknowns to what domain d moves by: its driven components and its inner ones.
DomainInterface::Matrix MultiDomainMap::distribution(std::size_t d) const {
  const DomainInterface::Matrix& C = interface_.parts()[d].C;
  const Index first = inner_from_[d], inner = inner_from_[d + 1] - first;
  std::vector<Eigen::Triplet<double>> entries;
  for (Index c = 0; c < C.cols(); ++c)
    for (DomainInterface::Matrix::InnerIterator k(C, c); k; ++k) entries.emplace_back(k.row(), c, k.value());
  for (Index k = 0; k < inner; ++k) entries.emplace_back(C.rows() + k, first + k, 1.0);
  DomainInterface::Matrix wide(C.rows() + inner, inner_from_.back());
  wide.setFromTriplets(entries.begin(), entries.end());
  return wide;
}

// Of psi and of inner components.
Vector MultiDomainMap::velocities(const State& state) const {
  Vector x(inner_from_.back());
  x.head(std::ssize(interface_.psi())) = interface_.velocities(state);
  for (std::size_t d = 0; d < all_.size(); ++d)
    for (std::size_t k = 0; k < all_[d]->inner().size(); ++k)
      x(inner_from_[d] + static_cast<Index>(k)) =
          state.velocity[static_cast<std::size_t>(interface_.parts()[d].component_of_whole(all_[d]->inner()[k]))];
  return x;
}

// Of the velocity at the middle of the step, from those before.
Vector MultiDomainMap::guess(const Vector& v, double h) const {
  if (!taking_.last || h != forces_.step()) return v;
  return 3.0 * (v - map_of(taking_.last->w)) + map_of(taking_.last->v);
}

MultiDomainMap::Taken MultiDomainMap::advance(State& state, SystemStep step, const Schur* ready, Schur& own,
                                              bool may_wait) const {
  const auto& parts = interface_.parts();
  const auto& psi = interface_.psi();
  const auto& unknown = interface_.unknown();
  const auto [t0, h, t1] = step;
  Taken taken{t0, t1};
  if (framework_ == Framework::lagrangian) taken.from = state.displacement;
  Vector all = velocities(state);
  const Vector v = all.head(std::ssize(psi)), P = interface_.momentum(v);
  taken.v = list(all);
  all = guess(all, h);
  set_known(state, step, all);
  Trial trial(*this, state, step);
  if (!unknown_.empty() && explicit_) {  // without inner ones
    if (!trial.attempt(all)) throw StepError(trial.fault(), t0);
    interface_.solve_velocities(P + trial.unknown(trial.early()), all);
  } else if (!unknown_.empty()) {
    solve(trial, state, step, P, all, ready, own, taken);
  }
  trial.run(all);
  taken.w = list(all);
  const Vector w = all.head(std::ssize(psi));
  const Vector early = trial.early(), late = trial.late();

  // By the velocity interpolated between system times the multipliers' work on all domains together is zero, but for
  // what the solver leaves.
  taken.work = (P - interface_.momentum(w) + trial.unknown(early)).dot(trial.unknown(v));
  const Vector last = trial.gather([&](std::size_t d) -> const Vector& { return trial.impulses(d).last; });
  Vector projected = w;
  interface_.solve_velocities(interface_.momentum(w) + trial.unknown(last), projected);
  const Vector before = taking_.last && taking_.last->t1 == t0 ? Vector(map_of(taking_.last->projected)) : v;
  std::vector<Vector> driven;  // where they go, to the bits domains have
  for (std::size_t d = 0; d < parts.size(); ++d) {
    const Domain::Impulses& i = trial.impulses(d);
    const Vector of_part = parts[d].C * w,
                 given = parts[d].mass.cwiseProduct(parts[d].C * (w - before)) - (i.early + i.late - i.last);
    taken.traffic += std::abs(given.dot(of_part));
    driven.push_back(h * of_part);
    for (std::size_t j = 0; j < parts[d].driven.size(); ++j)
      driven[d](static_cast<Index>(j)) +=
          state.displacement[static_cast<std::size_t>(parts[d].component_of_whole(parts[d].driven[j]))];
  }

  for (const auto& domain : all_) domain->put_back(state, may_wait);
  Vector v1 = interface_.velocities(state);  // of those with a support
  interface_.solve_velocities(P + trial.unknown(early + late), v1);
  for (const Index k : unknown) state.velocity[static_cast<std::size_t>(psi[static_cast<std::size_t>(k)])] = v1(k);
  interface_.follow(state.velocity);
  for (std::size_t d = 0; d < parts.size(); ++d)
    for (std::size_t j = 0; j < parts[d].driven.size(); ++j)
      state.displacement[static_cast<std::size_t>(parts[d].component_of_whole(parts[d].driven[j]))] =
          driven[d](static_cast<Index>(j));
  book_known(state, interface_.mass() * (v1 - v) - (early + late), w);
  taken.projected = list(projected);
  return taken;
}

// What supports give to components of psi because of nodes tied to them.
void MultiDomainMap::book_known(State& state, const Vector& given, const Vector& w) const {
  const auto& psi = interface_.psi();
  if (interface_.unknown().size() == psi.size() || domains_.ties.empty()) return;
  const Vector u = map_of(state.displacement);
  forces_.book_reactions(state, psi, u, [&](Index k, Index) {
    const double known = std::ranges::binary_search(interface_.unknown(), k) ? 0.0 : given(k);
    return StageForces::Reaction{known, known * w(k)};
  });
}

void MultiDomainMap::step(State& state, double t0, double h) const {
  constexpr double instant = 1e-9;  // of a step: so little later that forces have done nothing yet
  if (h < instant * forces_.step()) {
    const Vector v = map_of(state.velocity);
    map_of(state.displacement) += h * v;
    return;
  }
  shown_ = advance(state, {t0, h}, &schur_, shown_schur_, false);
}

void MultiDomainMap::take_step(State& state, double t0, double t1) {
  if (!explicit_ || framework_ == Framework::lagrangian) {
    count(advance(state, {t0, forces_.step(), t1}, &schur_, schur_, false), state);
    return;
  }
  if (!row_) row_ = Row{state, taking_};
  try {
    count(advance(state, {t0, forces_.step(), t1}, &schur_, schur_, true), state);
  } catch (...) {  // again to where it threw, with nothing left to wait
    const Row row = std::move(*row_);
    finish(state);
    state = row.from;
    taking_ = row.taking;
    for (const auto& [from, to] : row.steps) {
      count(advance(state, {from, forces_.step(), to}, &schur_, schur_, false), state);
      std::ranges::fill(state.clock, to);
    }
    throw;
  }
  row_->steps.push_back({t0, t1});
}

void MultiDomainMap::finish(State& state) {
  for (const auto& domain : all_) domain->finish(state);
  row_.reset();
}

void MultiDomainMap::count(Taken taken, const State& state) {
  schur_.fewest = std::min(schur_.fewest, taken.iterations);
  schur_.more += taken.iterations - schur_.fewest;
  taking_.interface_work += taken.traffic;
  taking_.imbalance += taken.work;
  taking_.iterations += taken.iterations;
  taking_.most_iterations = std::max(taking_.most_iterations, taken.iterations);
  taking_.gap = std::max(taking_.gap, interface_.gap(state.displacement));
  taking_.slip = std::max(taking_.slip, interface_.gap(state.velocity));
  ++taking_.steps;
  taking_.before = std::move(taking_.last);
  taking_.last = std::move(taken);
}

void MultiDomainMap::show(State& state, double t) const {
  const bool at_step = taking_.last && std::abs(t - taking_.last->t1) < 1e-9 * forces_.step();
  const std::optional<Taken>& now = at_step ? taking_.last : shown_;
  if (framework_ == Framework::canonical || !now || (!at_step && now->t1 != t)) return;
  if (framework_ == Framework::hamiltonian) {
    map_of(state.velocity)(interface_.psi()) = map_of(now->projected);
    interface_.follow(state.velocity);
    return;
  }
  const std::optional<Taken>& earlier = at_step ? taking_.before : taking_.last;
  if (!earlier) return;
  // The slope at t of the parabola through three positions.
  const double a = t - now->t0, b = now->t0 - earlier->t0;
  const Vector first = (map_of(state.displacement) - map_of(now->from)) / a,
               second = (map_of(now->from) - map_of(earlier->from)) / b;
  const Vector slope = first + (first - second) * (a / (a + b));
  std::vector<char> held(state.velocity.size(), 0);
  for (const Index i : forces_.held()) held[static_cast<std::size_t>(i)] = 1;
  for (std::size_t i = 0; i < held.size(); ++i)
    if (held[i] == 0) state.velocity[i] = slope(static_cast<Index>(i));
}

Integrator::Measures MultiDomainMap::measures() const {
  return {{"interface_work", taking_.interface_work},
          {"interface_imbalance", taking_.imbalance},
          {"interface_gap", taking_.gap},
          {"interface_slip", taking_.slip},
          {"newton_iterations",
           taking_.steps > 0 ? static_cast<double>(taking_.iterations) / static_cast<double>(taking_.steps) : 0.0},
          {"most_newton_iterations", static_cast<double>(taking_.most_iterations)}};
}

Index MultiDomainMap::evaluations() const {
  Index sum = 0;
  for (const auto& domain : all_) sum += domain->evaluations();
  return sum;
}

Index MultiDomainMap::substeps(TermId term) const { return substeps_[ordinal(term)]; }

void MultiDomainMap::use_threads(int threads) const {
  forces_.use_threads(threads);
  const bool apart =
      all_.size() > 1 && std::ranges::all_of(all_, [](const auto& domain) { return domain->may_run_beside_others(); });
  team_ = std::make_unique<ThreadTeam>(apart ? threads : 1);
  for (const auto& domain : all_) domain->use_threads(apart ? 1 : threads);
}

void MultiDomainMap::save(ArchiveWriter& archive) const {
  archive.put("sums", std::array{taking_.interface_work, taking_.imbalance, taking_.gap, taking_.slip});
  archive.put("counts",
              std::array{taking_.iterations, taking_.most_iterations, taking_.steps, schur_.fewest, schur_.more});
  for (const std::optional<Taken>* taken : {&taking_.last, &taking_.before}) {
    archive.put("taken", taken->has_value());
    const Taken& t = taken->value_or(Taken{});
    archive.put("when", std::array{t.t0, t.t1});
    for (const std::vector<double>* list : {&t.from, &t.w, &t.v, &t.projected}) archive.put("of_step", *list);
  }
  archive.put("response_at", schur_.at);
  archive.put("response_time", schur_.time);
}

void MultiDomainMap::load(ArchiveReader& archive) {
  std::array<double, 4> sums{};
  std::array<Index, 5> counts{};
  archive.get("sums", sums);
  archive.get("counts", counts);
  std::array<std::optional<Taken>, 2> taken;
  for (std::optional<Taken>& t : taken) {
    bool there = false;
    archive.get("taken", there);
    std::array<double, 2> when{};
    archive.get("when", when);
    Taken of{when[0], when[1]};
    for (std::vector<double>* list : {&of.from, &of.w, &of.v, &of.projected}) archive.get_all("of_step", *list);
    if (there) t = std::move(of);
  }
  std::vector<double> response_at;
  double response_time = 0.0;
  archive.get_all("response_at", response_at);
  archive.get("response_time", response_time);
  schur_.length = 0.0;
  if (!response_at.empty()) {
    State there = reference_state(forces_.model());
    there.displacement = std::move(response_at);
    for (const auto& domain : all_) domain->begin(there, {response_time, forces_.step()});
    make_schur(schur_, there, {response_time, forces_.step()});
  }
  schur_.fewest = counts[3];
  schur_.more = counts[4];
  taking_.last = std::move(taken[0]);
  taking_.before = std::move(taken[1]);
  taking_.interface_work = sums[0];
  taking_.imbalance = sums[1];
  taking_.gap = sums[2];
  taking_.slip = sums[3];
  taking_.iterations = counts[0];
  taking_.most_iterations = counts[1];
  taking_.steps = counts[2];
}

}  // namespace tempi
