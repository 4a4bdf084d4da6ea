// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/model.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"
#include "tempi/core/fingerprint.hpp"

namespace tempi {
namespace {

constexpr std::size_t most_nodes = 10, most_entries = 30 * 30;  // of terms that are not in pieces

// The sum of its eigenvalues' sizes. At rest they are not negative, to rounding, and this is the trace.
double size_of(const Eigen::Matrix3d& symmetric) {
  constexpr double rounding = 1e-12;
  const double least = -rounding * symmetric.lpNorm<Eigen::Infinity>();
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> of;
  double sum = symmetric.trace();
  for (const double lambda : of.computeDirect(symmetric, Eigen::EigenvaluesOnly).eigenvalues())
    if (lambda < least) sum -= 2.0 * lambda;
  return std::max(sum, 0.0);
}

// A number for each node of a term.
class Room {
 public:
  explicit Room(std::size_t nodes) : large_(nodes > most_nodes ? nodes : 0) {}
  operator std::span<double>() { return large_.empty() ? std::span<double>(small_) : large_; }

 private:
  std::array<double, most_nodes> small_;
  std::vector<double> large_;
};

}  // namespace

Model::Model(Parts parts) : parts_(std::move(parts)), first_term_{0} {
  for (const auto& potential : parts_.potentials) {
    first_term_.push_back(first_term_.back() + potential->size());
    for (Index k = 0; k < potential->size(); ++k) {
      const std::size_t nodes = potential->stencil(k).size();
      if (nodes > most_nodes && potential->as_local() != nullptr)
        throw InputError(fmt::format("a term has {} nodes (must be at most {}).", nodes, most_nodes));
      largest_stencil_ = std::max(largest_stencil_, nodes);
    }
  }
  for (Index a = 0; a < node_count(); ++a) {
    const double m = parts_.mass[static_cast<std::size_t>(a)];
    if (!(m > 0.0) || !std::isfinite(m))
      throw InputError(fmt::format("node {} has the mass {} kg (must be > 0).", a, m));
  }
  check_constraints();
  if (has_forces()) attach_forces();
  if (parts_.shares == MassShares::balanced) balance_shares();
}

void Model::check_constraints() const {
  std::vector<NodeId> nodes;
  for (const auto& constraint : parts_.constraints)
    for (const NodeId a : constraint->stencil()) {
      if (index(a) < 0 || index(a) >= node_count())
        throw InputError(fmt::format("{} cannot be held (there are {} nodes, numbered from 0).", constraint->describe(),
                                     node_count()));
      nodes.push_back(a);
    }
  make_distinct(nodes);
  std::size_t free = 0;
  for (const NodeId a : nodes)
    for (int c = 0; c < dim(); ++c) free += supports().support_of(a, c) == Supports::none ? 1 : 0;
  if (parts_.constraints.size() > free)
    throw InputError(
        fmt::format("there are {} constraint equations for the {} free components of the nodes they act on (must be no "
                    "more). Remove constraints, the last is {}, or supports.",
                    parts_.constraints.size(), free, parts_.constraints.back()->describe()));
}

void Model::Parts::add(std::unique_ptr<Potential> potential) {
  for (Index k = 0; k < potential->size(); ++k)
    for (std::size_t a = 0; a < potential->stencil(k).size(); ++a)
      mass[ordinal(potential->stencil(k)[a])] += potential->mass(k, a);
  potentials.push_back(std::move(potential));
}

Model::Term Model::term(TermId id) const {
  const Index i = index(id);
  const auto next = std::upper_bound(first_term_.begin(), first_term_.end(), i);
  const auto p = static_cast<std::size_t>(next - first_term_.begin()) - 1;
  return {parts_.potentials[p].get(), i - first_term_[p]};
}

// sqrt(k_Ka) of each stencil node.
template <class Visit>
void Model::each_root_stiffness(TermId id, Visit&& visit) const {
  const auto [potential, k] = term(id);
  const auto stencil = potential->stencil(k);
  const std::size_t nodes = stencil.size(), d = static_cast<std::size_t>(dim()), n = nodes * d;
  const auto add = [&](std::size_t a, std::span<const double> H, std::size_t rows, Eigen::Matrix3d& to) {
    for (std::size_t r = 0; r < d; ++r)
      for (std::size_t c = 0; c < d; ++c)
        to(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) += H[(a * d + r) * rows + a * d + c];
  };
  if (const LocalPotential* local = potential->as_local()) {
    std::array<double, most_entries> H;
    TEMPI_ASSERT(n * n <= H.size());
    std::fill_n(H.begin(), n * n, 0.0);
    local->add_hessian(k, at_rest_, 0.0, std::span(H).first(n * n));
    for (std::size_t a = 0; a < nodes; ++a) {
      Eigen::Matrix3d at_node = Eigen::Matrix3d::Zero();
      add(a, H, n, at_node);
      visit(a, std::sqrt(potential->mass(k, a) > 0.0 ? std::max(at_node.trace(), 0.0) : size_of(at_node)));
    }
    return;
  }
  std::vector<Eigen::Matrix3d> at_nodes(parts_.mass.size(), Eigen::Matrix3d::Zero());
  potential->each_hessian_piece(k, at_rest_, 0.0, [&](std::span<const NodeId> piece, std::span<const double> H) {
    for (std::size_t a = 0; a < piece.size(); ++a) add(a, H, piece.size() * d, at_nodes[ordinal(piece[a])]);
  });
  for (std::size_t a = 0; a < nodes; ++a) visit(a, std::sqrt(size_of(at_nodes[ordinal(stencil[a])])));
}

void Model::balance_shares() {
  at_rest_.assign(parts_.reference.size(), 0.0);
  balance_.assign(parts_.mass.size(), {0.0, 0.0});
  std::vector<double> roots;  // of all terms, one behind the other
  for (Index i = 0; i < term_count(); ++i)
    each_root_stiffness(make_id<TermId>(i), [&](std::size_t, double root) { roots.push_back(root); });
  const auto each = [&](auto&& visit) {
    const double* root = roots.data();
    for (Index i = 0; i < term_count(); ++i)
      for (const NodeId a : term(make_id<TermId>(i)).stencil()) visit(balance_[ordinal(a)], *root++);
  };
  each([](Balance& node, double root) { node.least = std::max(node.least, root); });
  for (Balance& node : balance_) node.least = node.least > 0.0 ? 1e-3 * node.least : 1.0;
  each([](Balance& node, double root) { node.scale += std::max(root, node.least); });
  for (std::size_t a = 0; a < balance_.size(); ++a) balance_[a].scale = parts_.mass[a] / balance_[a].scale;
}

std::span<const double> Model::shares(TermId id, std::span<double> shares) const {
  const auto [potential, k] = term(id);
  const auto stencil = potential->stencil(k);
  if (balance_.empty()) {
    for (std::size_t a = 0; a < stencil.size(); ++a) shares[a] = potential->mass(k, a);
  } else {
    each_root_stiffness(id, [&](std::size_t a, double root) {
      const Balance& node = balance_[ordinal(stencil[a])];
      shares[a] = node.scale * std::max(root, node.least);
    });
  }
  return shares.first(stencil.size());
}

double Model::stable_step(TermId id, std::span<const double> u) const {
  const auto [potential, k] = term(id);
  Room room(potential->stencil(k).size());
  return potential->stable_step(k, u, shares(id, room));
}

bool Model::step_is_stable(TermId id, std::span<const double> u, double step) const {
  const auto [potential, k] = term(id);
  if (!potential->stays_together()) return true;
  Room room(potential->stencil(k).size());
  return potential->step_is_stable(k, u, masses_held_against(id, room), step);
}

std::span<const double> Model::masses_held_against(TermId id, std::span<double> masses) const {
  const auto [potential, k] = term(id);
  if (potential->as_sum() == nullptr) return shares(id, masses);
  const auto nodes = potential->stencil(k);
  for (std::size_t a = 0; a < nodes.size(); ++a) masses[a] = mass(nodes[a]);
  return masses.first(nodes.size());
}

double Model::potential_energy(std::span<const double> u, double t) const {
  double sum = 0.0;
  for (const auto& potential : parts_.potentials)
    for (Index k = 0; k < potential->size(); ++k) sum += potential->energy(k, u, t);
  return sum;
}

void Model::attach_forces() {
  std::vector<std::pair<TermId, HostedForce>> all;
  for (std::size_t f = 0; f < parts_.forces.size(); ++f) {
    const Force& force = *parts_.forces[f];
    has_dampers_ = has_dampers_ || (force.is_damper() && force.size() > 0);
    if (f >= parts_.hosts.size() || std::ssize(parts_.hosts[f]) != force.size())
      throw InputError(fmt::format("force {} has not one host for each of its {} elements.", f, force.size()));
    for (Index e = 0; e < force.size(); ++e) {
      const TermId host = parts_.hosts[f][static_cast<std::size_t>(e)];
      if (index(host) < 0 || index(host) >= term_count())
        throw InputError(fmt::format("force {} is to act within term {} of {}.", f, index(host), term_count()));
      all.emplace_back(host, HostedForce{&force, e, {}, force.remembers() ? memory_count_ : -1});
    }
    if (force.remembers()) ++memory_count_;
  }
  std::ranges::stable_sort(all, {}, [](const auto& entry) { return entry.first; });
  std::vector<std::size_t> place(parts_.mass.size(), 0);  // of each node in the last stencil it was in
  TermId last = make_id<TermId>(-1);
  for (auto& [host, hosted] : all) {
    const auto stencil = term(host).stencil(), own = hosted.force->stencil(hosted.element);
    for (std::size_t i = 0; host != last && i < stencil.size(); ++i) place[ordinal(stencil[i])] = i;
    last = host;
    if (hosted.memory >= 0 && std::ranges::equal(own, stencil)) continue;
    for (const NodeId a : own) {
      const std::size_t i = place[ordinal(a)];
      if (i >= stencil.size() || stencil[i] != a)
        throw InputError(fmt::format("force {} acts on node {}, which its host, {}, does not touch.",
                                     std::ranges::find(parts_.forces, hosted.force, &std::unique_ptr<Force>::get) -
                                         parts_.forces.begin(),
                                     index(a), term(host).potential->describe(term(host).k)));
      hosted.local.push_back(static_cast<std::int32_t>(i));
    }
  }
  hosted_offsets_.assign(static_cast<std::size_t>(term_count()) + 1, 0);
  for (auto& [host, hosted] : all) {
    ++hosted_offsets_[ordinal(host) + 1];
    hosted_.push_back(std::move(hosted));
  }
  for (std::size_t i = 1; i < hosted_offsets_.size(); ++i) hosted_offsets_[i] += hosted_offsets_[i - 1];
  slots_.assign(static_cast<std::size_t>(term_count()), -1);
  for (Index i = 0; i < term_count(); ++i) {
    if (forces_within(make_id<TermId>(i)).empty()) continue;
    slots_[static_cast<std::size_t>(i)] = slot_count_;
    slot_count_ += static_cast<Index>(term(make_id<TermId>(i)).stencil().size()) * dim();
  }
}

std::span<const HostedForce> Model::forces_within(TermId id) const {
  if (hosted_offsets_.empty()) return {};
  const auto i = ordinal(id);
  return std::span(hosted_).subspan(static_cast<std::size_t>(hosted_offsets_[i]),
                                    static_cast<std::size_t>(hosted_offsets_[i + 1] - hosted_offsets_[i]));
}

bool Model::dissipates() const {
  return has_dampers_ || std::ranges::any_of(layers(), [](const auto& contact) { return contact->takes_energy(); });
}

bool Model::is_damped(TermId id) const {
  return has_dampers_ && std::ranges::any_of(forces_within(id), [](const auto& h) { return h.force->is_damper(); });
}

bool Model::is_loaded(TermId id) const {
  return std::ranges::any_of(forces_within(id), [](const auto& h) { return !h.force->is_damper(); });
}

void Model::each_damping_piece(TermId id, std::span<const double> u, double t,
                               const Potential::VisitPiece& visit) const {
  for (const HostedForce& h : forces_within(id)) {
    if (!h.force->is_damper() || h.memory >= 0) continue;
    const std::size_t m = h.local.size() * static_cast<std::size_t>(dim());
    std::array<double, most_entries> part;
    const auto C = std::span(part).first(m * m);
    std::ranges::fill(C, 0.0);
    h.force->add_damping(h.element, u, t, C);
    visit(h.force->stencil(h.element), C);
  }
}

std::uint64_t Model::fingerprint() const {
  std::call_once(fingerprint_->made, [&] { fingerprint_->value = make_fingerprint(); });
  return fingerprint_->value;
}

std::uint64_t Model::make_fingerprint() const {
  std::uint64_t hash = 0;
  const auto add = [&](const auto& values) { hash = tempi::fingerprint(std::as_bytes(std::span(values)), hash); };
  add(parts_.reference);
  add(parts_.mass);
  for (const auto& potential : parts_.potentials)
    for (Index k = 0; k < potential->size(); ++k) add(potential->stencil(k));
  for (const auto& constraint : parts_.constraints) add(constraint->stencil());
  for (const auto& contact : parts_.layers) add(contact->identity());
  for (const auto& force : parts_.forces) add(force->identity());
  const std::vector<float> acts = what_it_does();
  add(acts);
  return hash;
}

// What laws, loads and prescribed motions do somewhere, summed with weights of their own and cut to the digits that do
// not depend on how a machine rounds. Of large models every so many terms.
std::vector<float> Model::what_it_does() const {
  constexpr Index enough = 100'000;  // terms
  std::uint64_t random = 1;
  const auto weight = [&] {
    random = random * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(random >> 11) * 0x1.0p-53 + 0.5;
  };
  const auto d = static_cast<std::size_t>(dim());
  std::vector<double> size(parts_.mass.size(), std::numeric_limits<double>::infinity()), u(parts_.reference.size()),
      v(u);
  for (Index i = 0; i < term_count(); ++i) {
    const auto nodes = term(make_id<TermId>(i)).stencil();
    const auto X = [&](NodeId a, std::size_t c) { return parts_.reference[ordinal(a) * d + c]; };
    for (std::size_t a = 1; a < nodes.size(); ++a) {
      double distance = 0.0;
      for (std::size_t c = 0; c < d; ++c) distance = std::hypot(distance, X(nodes[a], c) - X(nodes[a - 1], c));
      for (const NodeId b : {nodes[a - 1], nodes[a]}) size[ordinal(b)] = std::min(size[ordinal(b)], distance);
    }
  }
  for (std::size_t i = 0; i < u.size(); ++i) {
    u[i] = 1e-3 * (weight() - 1.0) * (std::isfinite(size[i / d]) ? size[i / d] : 1.0);
    v[i] = weight();
  }
  std::vector<float> sums;
  std::vector<double> p;
  const auto add = [&](double& sum) {
    for (const double value : p)
      if (std::isfinite(value)) sum += weight() * value;
  };
  for (const auto& potential : parts_.potentials) {
    double sum = 0.0;
    for (Index k = 0; k < potential->size(); k += 1 + potential->size() / enough) {
      p.assign(potential->stencil(k).size() * d, 0.0);
      potential->add_gradient(k, u, 0.3, p);
      add(sum);
    }
    sums.push_back(static_cast<float>(sum));
  }
  for (const double t : {0.3, 0.7}) {
    for (const auto& force : parts_.forces) {
      double sum = 0.0;
      for (Index k = 0; k < force->size(); k += 1 + force->size() / enough) {
        p.assign(force->stencil(k).size() * d, 0.0);
        try {
          force->add_impulse(k, u, v, t, 1.0, p);
        } catch (const SolveError&) {  // a formula without a value at this time
          continue;
        }
        add(sum);
      }
      sums.push_back(static_cast<float>(sum));
    }
    double sum = 0.0;
    for (const NodeId a : supports().held_nodes())
      for (int c = 0; c < dim(); ++c) {
        double place = supports().support_of(a, c) == Supports::none ? 0.0 : 1.0;
        try {
          place += supports().displacement(a, c, t).value_or(0.0);
        } catch (const SolveError&) {
        }
        sum += weight() * place;
      }
    sums.push_back(static_cast<float>(sum));
  }
  return sums;
}

void require_unconstrained(const Model& model) {
  if (model.constraints().empty()) return;
  throw InputError(
      fmt::format("the model has {} constraint equations (the first holds {}), which only the methods shake and rattle "
                  "keep. Choose one of them, or put stiff springs in the constraints' place.",
                  model.constraints().size(), model.constraints().front()->describe()));
}

void require_no_layers(const Model& model) {
  if (model.layers().empty()) return;
  throw InputError(
      fmt::format("{} is made of layers with steps of their own, which only avi on a lattice of ticks takes.",
                  model.layers().front()->name()));
}

NodeTerms node_terms(const Model& model) {
  return NodeTerms::of(model.node_count(), [&](auto&& visit) {
    for (Index i = 0; i < model.term_count(); ++i)
      for (const NodeId a : model.term(make_id<TermId>(i)).stencil()) visit(a, make_id<TermId>(i));
  });
}

}  // namespace tempi
