// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/asynchrony_error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tempi/core/thread_team.hpp"

namespace tempi {
namespace {

constexpr Index at_once = 1024;

class StateForces {
 public:
  StateForces(const Model& model, std::span<const double> u, int threads)
      : model_(model),
        d_(static_cast<std::size_t>(model.dim())),
        u_(u.begin(), u.end()),
        around_(node_terms(model)),
        team_(threads) {
    for (Index i = 0; i < model.term_count(); ++i)
      first_.push_back(first_.back() + model.term(make_id<TermId>(i)).stencil().size() * d_);
    at_u_ = forces_at(u_);
  }

  // Of all terms, beyond those at u; and the energy beyond that of linear terms.
  void look(std::span<const double> w) {
    std::vector<double> moved = u_;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += w[i];
    force_ = forces_at(moved);
    energy_ = 0.0;
    for (Index i = 0; i < model_.term_count(); ++i) {
      const auto stencil = model_.term(make_id<TermId>(i)).stencil();
      for (std::size_t j = 0; j < stencil.size() * d_; ++j) {
        const std::size_t at = first_[static_cast<std::size_t>(i)] + j;
        force_[at] -= at_u_[at];
        energy_ += 0.5 * force_[at] * w[ordinal(stencil[j / d_]) * d_ + j % d_];
      }
    }
  }

  enum class Forces { balance, accelerate };  // at every node

  double error(const TickLattice& lattice, Forces kind) {
    if (!(energy_ > 0.0)) return 0.0;
    const Index nodes = model_.node_count(), blocks = (nodes + at_once - 1) / at_once;
    std::vector<double> sums(static_cast<std::size_t>(blocks), 0.0);
    team_.for_each(blocks, [&](Index b) {
      std::vector<Group> groups;
      for (Index a = b * at_once; a < std::min(nodes, (b + 1) * at_once); ++a)
        sums[static_cast<std::size_t>(b)] += at_node(make_id<NodeId>(a), lattice, kind, groups);
    });
    return 0.5 * lattice.tick * lattice.tick * std::accumulate(sums.begin(), sums.end(), 0.0) / energy_;
  }

 private:
  struct Group {
    std::int32_t ticks;
    std::array<double, 3> force{};
  };

  // sum_K f_Ka . dev_Ka, in ticks.
  double at_node(NodeId a, const TickLattice& lattice, Forces kind, std::vector<Group>& groups) const {
    groups.clear();
    for (const TermId term : around_[a]) {
      const std::int32_t m = lattice.ticks[ordinal(term)];
      auto group = std::ranges::find(groups, m, &Group::ticks);
      if (group == groups.end()) group = groups.insert(groups.end(), {m});
      const auto stencil = model_.term(term).stencil();
      for (std::size_t i = 0; i < stencil.size(); ++i)
        for (std::size_t c = 0; c < d_ && stencil[i] == a; ++c)
          group->force[c] += force_[first_[ordinal(term)] + i * d_ + c];
    }
    double sum = 0.0;
    for (const Group& g : groups)
      for (const Group& k : groups) {
        const double m = g.ticks, n = k.ticks, common = std::gcd(g.ticks, k.ticks);
        const double squares = common * common - (kind == Forces::balance ? 0.5 * (m * m + n * n) : 0.0);
        for (std::size_t c = 0; c < d_; ++c)
          if (model_.supports().support_of(a, static_cast<int>(c)) == Supports::none)
            sum += squares * g.force[c] * k.force[c];
      }
    return sum / (12.0 * model_.mass(a));
  }

  // dV_K/dx of all terms.
  std::vector<double> forces_at(const std::vector<double>& x) {
    std::vector<double> g(first_.back(), 0.0);
    team_.for_each(model_.term_count(), at_once, [&](Index i) {
      const auto [potential, k] = model_.term(make_id<TermId>(i));
      potential->add_gradient(k, x, 0.0,
                              std::span(g).subspan(first_[static_cast<std::size_t>(i)],
                                                   potential->stencil(k).size() * d_));
    });
    return g;
  }

  const Model& model_;
  std::size_t d_;
  std::vector<double> u_;
  NodeTerms around_;
  ThreadTeam team_;
  std::vector<std::size_t> first_{0};  // of each term's forces in force_
  std::vector<double> at_u_, force_;
  double energy_ = 0.0;
};

}  // namespace

double AsynchronyError::worst() const { return of_strain.empty() ? 0.0 : *std::ranges::max_element(of_strain); }

double AsynchronyError::mean() const {
  double sum = 0.0;
  for (const double error : of_strain) sum += error;
  return of_strain.empty() ? 0.0 : sum / static_cast<double>(of_strain.size());
}

std::vector<AsynchronyError> asynchrony_errors(const Model& model, std::span<const double> u,
                                               std::span<const TickLattice* const> lattices, int threads) {
  constexpr double strain = 1e-6;
  const auto d = static_cast<std::size_t>(model.dim());
  std::vector<AsynchronyError> errors(lattices.size());
  StateForces forces(model, u, threads);
  std::vector<double> w(u.size());
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = i; j < d; ++j) {
      std::ranges::fill(w, 0.0);
      for (std::size_t a = 0; a < w.size(); a += d) {
        const auto x = model.reference().subspan(a, d);
        w[a + i] += 0.5 * strain * (x[j] + u[a + j]);
        w[a + j] += 0.5 * strain * (x[i] + u[a + i]);
      }
      forces.look(w);
      for (std::size_t l = 0; l < lattices.size(); ++l) {
        const double error = forces.error(*lattices[l], StateForces::Forces::balance);
        errors[l].of_strain.push_back(std::abs(error));
      }
    }
  return errors;
}

VibrationError vibration_error(const Model& model, std::span<const double> u, std::span<const double> w,
                               const TickLattice& lattice, int threads) {
  StateForces forces(model, u, threads);
  forces.look(w);
  const double whole = forces.error(lattice, StateForces::Forces::accelerate);
  return {whole, whole - forces.error(lattice, StateForces::Forces::balance)};
}

}  // namespace tempi
