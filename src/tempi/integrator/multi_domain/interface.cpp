// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/multi_domain/interface.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tempi/core/error.hpp"
#include "tempi/integrator/multi_domain/blocks.hpp"
#include "tempi/integrator/one_step/newton.hpp"
#include "tempi/integrator/one_step/stage_forces.hpp"

namespace tempi {
namespace {

bool is_held(const Model& model, Index component) {
  return model.supports().support_of(make_id<NodeId>(component / model.dim()),
                                     static_cast<int>(component % model.dim())) != Supports::none;
}

void require_sound(const Model& model, std::span<const TiedNode> ties) {
  std::vector<char> tied(static_cast<std::size_t>(model.node_count()), 0);
  for (const TiedNode& tie : ties) {
    if (index(tie.node) < 0 || index(tie.node) >= model.node_count())
      throw InputError(fmt::format("node {} is to be tied, and there are {}.", index(tie.node), model.node_count()));
    if (tied[ordinal(tie.node)]++ != 0)
      throw InputError(fmt::format("node {} is tied twice. Tie it to one surface.", index(tie.node)));
  }
  for (const TiedNode& tie : ties) {
    double sum = 0.0;
    for (const auto& [master, weight] : tie.masters) {
      sum += weight;
      if (tied[ordinal(master)] != 0)
        throw InputError(
            fmt::format("node {} is tied to node {}, which is tied itself. Let one of the surfaces follow.",
                        index(tie.node), index(master)));
    }
    if (!(std::abs(sum - 1.0) < 1e-9))
      throw InputError(fmt::format("the weights of node {}'s tie sum to {:.9g} (must be 1).", index(tie.node), sum));
  }
}

}  // namespace

struct DomainInterface::Factors {
  Matrix A{};
  SparseFactors of_A{SparseFactors::Kind::symmetric};
};

DomainInterface::DomainInterface(const Model& model, std::span<const int> domain_of_term,
                                 std::span<const TiedNode> ties)
    : model_(model) {
  require_sound(model, ties);
  for (Submodel& part : divide(model, domain_of_term)) parts_.push_back({std::move(part), {}, {}, {}});
  find_psi(ties);
  make_parts();
  require_joined();
}

DomainInterface::~DomainInterface() = default;

// Nodes of several domains, and those that others are tied to; but for nodes that are tied.
void DomainInterface::find_psi(std::span<const TiedNode> ties) {
  const auto d = static_cast<Index>(model_.dim());
  std::vector<int> sharers(static_cast<std::size_t>(model_.node_count()), 0);
  for (const Part& part : parts_)
    for (const NodeId a : part.submodel.nodes) ++sharers[ordinal(a)];
  for (const TiedNode& tie : ties)
    for (const auto& [master, weight] : tie.masters) sharers[ordinal(master)] += 2;
  for (const TiedNode& tie : ties) sharers[ordinal(tie.node)] = 0;
  std::vector<Index> place(static_cast<std::size_t>(model_.node_count() * d), -1);
  for (Index a = 0; a < model_.node_count(); ++a) {
    if (sharers[static_cast<std::size_t>(a)] < 2) continue;
    for (Index i = a * d; i < (a + 1) * d; ++i) {
      place[static_cast<std::size_t>(i)] = static_cast<Index>(psi_.size());
      if (!is_held(model_, i)) unknown_.push_back(static_cast<Index>(psi_.size()));
      psi_.push_back(i);
    }
  }
  row_of_.resize(place.size());
  for (const Index k : unknown_) row_of_[static_cast<std::size_t>(psi_[static_cast<std::size_t>(k)])] = {{k, 1.0}};
  for (const TiedNode& tie : ties)
    for (Index c = 0; c < d; ++c) {
      const Index i = index(tie.node) * d + c;
      if (is_held(model_, i)) continue;
      Row row{i, {}};
      for (const auto& [master, weight] : tie.masters)
        row.psi.emplace_back(place[ordinal(master) * static_cast<std::size_t>(d) + static_cast<std::size_t>(c)],
                             weight);
      row_of_[static_cast<std::size_t>(i)] = row.psi;
      tied_.push_back(std::move(row));
    }
}

void DomainInterface::make_parts() {
  using Triplets = std::vector<Eigen::Triplet<double>>;
  const auto d = static_cast<Index>(model_.dim()), n = static_cast<Index>(psi_.size());
  Triplets of_mass;
  for (Part& part : parts_) {
    Triplets of_C;
    std::vector<double> mass;
    for (std::size_t a = 0; a < part.submodel.nodes.size(); ++a)
      for (Index c = 0; c < d; ++c) {
        const auto& row =
            row_of_[ordinal(part.submodel.nodes[a]) * static_cast<std::size_t>(d) + static_cast<std::size_t>(c)];
        if (row.empty()) continue;
        const double m = part.submodel.model->mass(make_id<NodeId>(static_cast<Index>(a)));
        for (const auto& [k, weight] : row) {
          of_C.emplace_back(static_cast<Index>(part.driven.size()), k, weight);
          for (const auto& [l, other] : row) of_mass.emplace_back(k, l, m * weight * other);
        }
        part.driven.push_back(static_cast<Index>(a) * d + c);
        mass.push_back(m);
      }
    part.C.resize(static_cast<Index>(part.driven.size()), n);
    part.C.setFromTriplets(of_C.begin(), of_C.end());
    part.mass = Eigen::Map<const Vector>(mass.data(), static_cast<Index>(mass.size()));
  }
  mass_.resize(n, n);
  mass_.setFromTriplets(of_mass.begin(), of_mass.end());
}

void DomainInterface::require_joined() const {
  for (std::size_t p = 0; p < parts_.size() && parts_.size() > 1; ++p)
    if (parts_[p].driven.empty() && std::ranges::none_of(parts_[p].submodel.nodes, [&](NodeId a) {
          return std::ranges::binary_search(psi_, index(a) * model_.dim());
        }))
      throw InputError(
          fmt::format("domain {} has an empty interface: no node of it is in another domain or tied to one. Tie them, "
                      "or run it as a case of its own.",
                      p));
}

void DomainInterface::start(State& state) const {
  if (tied_.empty()) return;
  Vector momentum = Vector::Zero(static_cast<Index>(psi_.size()));
  const auto add = [&](Index i) {
    const double p = model_.mass(make_id<NodeId>(i / model_.dim())) * state.velocity[static_cast<std::size_t>(i)];
    for (const auto& [k, weight] : row_of_[static_cast<std::size_t>(i)]) momentum(k) += weight * p;
  };
  for (Index i = 0; i < std::ssize(row_of_); ++i) add(i);
  Vector v = velocities(state);
  solve_velocities(momentum(unknown_), v);
  map_of(state.velocity)(psi_) = v;
  follow(state.displacement);
  follow(state.velocity);
}

double DomainInterface::of_others(const Row& row, const std::vector<double>& x) const {
  double sum = 0.0;
  for (const auto& [k, weight] : row.psi)
    sum += weight * x[static_cast<std::size_t>(psi_[static_cast<std::size_t>(k)])];
  return sum;
}

void DomainInterface::follow(std::vector<double>& x) const {
  for (const Row& row : tied_) x[static_cast<std::size_t>(row.component)] = of_others(row, x);
}

double DomainInterface::gap(const std::vector<double>& x) const {
  double largest = 0.0;
  for (const Row& row : tied_)
    largest = std::max(largest, std::abs(x[static_cast<std::size_t>(row.component)] - of_others(row, x)));
  return largest;
}

DomainInterface::Vector DomainInterface::velocities(const State& state) const { return map_of(state.velocity)(psi_); }

DomainInterface::Vector DomainInterface::momentum(const Vector& v) const {
  const Vector all = mass_ * v;
  return all(unknown_);
}

void DomainInterface::solve_velocities(const Vector& momentum, Vector& v) const {
  if (unknown_.empty()) return;
  if (tied_.empty()) {
    for (std::size_t k = 0; k < unknown_.size(); ++k)
      v(unknown_[k]) = momentum(static_cast<Index>(k)) / mass_.coeff(unknown_[k], unknown_[k]);
    return;
  }
  if (!factors_) {
    factors_ = std::make_unique<Factors>();
    factors_->A = block(mass_, unknown_);
    factors_->of_A.factorise(factors_->A);
  }
  for (const Index k : unknown_) v(k) = 0.0;
  const Vector of_known = mass_ * v;
  v(unknown_) = factors_->of_A.solve(momentum - of_known(unknown_));
}

}  // namespace tempi
