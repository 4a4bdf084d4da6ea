// SPDX-License-Identifier: Apache-2.0
#include "support/chains.hpp"

#include <Eigen/Eigenvalues>

namespace tempi::test {

Assembled assembled(const Model& linear, const std::vector<TermId>& terms) {
  const auto d = static_cast<std::size_t>(linear.dim());
  std::vector<Index> place;
  Index free = 0;
  Assembled a;
  a.M.resize(linear.node_count() * linear.dim());
  for (Index n = 0; n < linear.node_count(); ++n)
    for (int c = 0; c < linear.dim(); ++c) {
      const bool held = linear.supports().support_of(make_id<NodeId>(n), c) != Supports::none;
      place.push_back(held ? -1 : free);
      if (!held) a.M(free++) = linear.mass(make_id<NodeId>(n));
    }
  a.M.conservativeResize(free);
  a.K = Dense::Zero(free, free);
  const std::vector<double> zero(place.size(), 0.0);
  for (const TermId id : terms) {
    const auto [potential, k] = linear.term(id);
    const auto nodes = potential->stencil(k);
    const std::size_t n = nodes.size() * d;
    std::vector<double> H(n * n, 0.0);
    potential->as_local()->add_hessian(k, zero, 0.0, H);
    const auto row = [&](std::size_t i) { return place[static_cast<std::size_t>(index(nodes[i / d])) * d + i % d]; };
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (row(i) >= 0 && row(j) >= 0) a.K(row(i), row(j)) += H[i * n + j];
  }
  return a;
}
Assembled assembled(const Model& linear) {
  std::vector<TermId> all;
  for (Index i = 0; i < linear.term_count(); ++i) all.push_back(make_id<TermId>(i));
  return assembled(linear, all);
}

double dense_limit(const Model& linear) {
  const Assembled a = assembled(linear);
  const Eigen::GeneralizedSelfAdjointEigenSolver<Dense> solver(a.K, a.M.asDiagonal(), Eigen::EigenvaluesOnly);
  return 2.0 / std::sqrt(solver.eigenvalues().maxCoeff());
}

Chain::Chain(const std::vector<double>& lengths) {
  std::vector<double> points = {0.0};
  std::vector<std::vector<int>> cells;
  for (const double length : lengths) {
    cells.push_back({static_cast<int>(points.size()) - 1, static_cast<int>(points.size())});
    points.push_back(points.back() + length);
  }
  body.mesh = std::make_unique<Mesh>(test::mesh_of(1, points, CellType::line2, cells));
  body.model =
      test::make_model(*body.mesh, unit_bar, 1.0, one_support(*body.mesh, resting({NodeId{0}}, {true, true, true})));
}

Steps Chain::steps(double safety, double rule) const {
  std::vector<double> step = stable_steps(*body.model, std::vector<double>(body.mesh->points().size(), 0.0));
  for (double& h : step) h *= safety;
  const std::vector<double> before = step;
  const auto limit = [&](std::size_t i, std::size_t j) {
    step[i] = std::min(step[i], rule == one_ring ? before[j] : rule * step[j]);
  };
  for (std::size_t i = 1; i < step.size(); ++i) limit(i, i - 1);
  for (std::size_t i = step.size() - 1; i-- > 0;) limit(i, i + 1);
  Steps result{*std::ranges::min_element(step), {}};
  for (const double h : step)
    result.ticks.push_back(1 << static_cast<int>(std::floor(std::log2(h / result.tick * (1.0 + 1e-9)))));
  return result;
}

double exact_growth(const Model& linear, const Steps& steps) {
  const auto n = assembled(linear).M.size();
  Dense map = Dense::Identity(2 * n, 2 * n);
  for (int s = 1; s <= steps.longest(); ++s) {
    std::vector<TermId> acting;
    Dense kick = Dense::Zero(n, n);
    for (std::size_t i = 0; i < steps.ticks.size(); ++i) {
      if (s % steps.ticks[i] != 0) continue;
      const Assembled a = assembled(linear, {make_id<TermId>(static_cast<Index>(i))});
      kick += steps.tick * steps.ticks[i] * (a.M.cwiseInverse().asDiagonal() * a.K);
    }
    map.topRows(n) += steps.tick * map.bottomRows(n);
    map.bottomRows(n) -= kick * map.topRows(n);
  }
  return std::log(map.eigenvalues().cwiseAbs().maxCoeff());
}

}  // namespace tempi::test
