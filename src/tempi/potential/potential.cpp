// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/potential.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tempi/core/largest_eigenvalue.hpp"
#include "tempi/potential/stable_step.hpp"

namespace tempi {
namespace {

// At most 10 nodes in 3-D: storage on the stack.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor, 30, 30>;

Matrix hessian(const LocalPotential& potential, Index k, std::span<const double> u) {
  const auto n = static_cast<Index>(potential.stencil(k).size()) * potential.dim();
  Matrix H = Matrix::Zero(n, n);
  potential.add_hessian(k, u, 0.0, {H.data(), static_cast<std::size_t>(n * n)});
  return H;
}

// One term after the other. Positions go through an array as add_gradient wants it; parts struck at the same time
// share no node, so they write different places of it.
class TermLoop final : public Batch {
 public:
  TermLoop(const Potential& potential, std::span<const Index> terms, std::span<const std::int32_t> place)
      : potential_(potential),
        terms_(terms.begin(), terms.end()),
        place_(place.begin(), place.end()),
        u_(place.size() * static_cast<std::size_t>(potential.dim())) {
    for (const Index k : terms_)
      row_ = std::max(row_, static_cast<Index>(potential.stencil(k).size()) * potential.dim());
  }

  bool strike(Index first, Index last, double step, double t, std::span<NodeLine> nodes) const override {
    const auto d = static_cast<std::size_t>(potential_.dim());
    bool admissible = true;
    thread_local std::vector<double> room;
    if (std::ssize(room) < row_) room.resize(static_cast<std::size_t>(row_));
    const auto g = std::span(room).first(static_cast<std::size_t>(row_));
    for (Index i = first; i < last; ++i) {
      const Index k = terms_[static_cast<std::size_t>(i)];
      const auto stencil = potential_.stencil(k);
      place_nodes(stencil, nodes);
      std::ranges::fill(g, 0.0);
      const double smallest = potential_.add_gradient(k, u_, t, g);
      admissible = admissible && smallest > 0.0 && std::isfinite(smallest);
      for (std::size_t a = 0; a < stencil.size(); ++a)
        for (std::size_t c = 0; c < d; ++c) {
          NodeLine& node = nodes[line(stencil[a])];
          node.velocity[c] -= step * g[a * d + c] * node.inverse_mass;
        }
    }
    return admissible;
  }

  bool offers_change() const override { return true; }
  void place_shifts(std::span<const std::int32_t> of_line) override { shift_.assign(of_line.begin(), of_line.end()); }
  void strike_change(Index first, Index last, double t, std::span<NodeLine> nodes, std::span<const NodeShift> w,
                     std::span<double> impulses) const override {
    const auto d = static_cast<std::size_t>(potential_.dim());
    for (Index i = first; i < last; ++i) {
      const Index k = terms_[static_cast<std::size_t>(i)];
      const auto stencil = potential_.stencil(k);
      place_nodes(stencil, nodes);
      const auto kept = impulses.empty() ? impulses : impulses.subspan(static_cast<std::size_t>((i - first) * row_));
      if (!kept.empty()) std::ranges::fill(kept.first(static_cast<std::size_t>(row_)), 0.0);
      potential_.each_hessian_piece(k, u_, t, [&](std::span<const NodeId> piece, std::span<const double> H) {
        const std::size_t n = piece.size() * d;
        for (std::size_t a = 0; a < piece.size(); ++a)
          for (std::size_t c = 0; c < d; ++c) {
            double p = 0.0;
            for (std::size_t j = 0; j < n; ++j)
              p -= H[(a * d + c) * n + j] * w[shift(piece[j / d])].displacement[j % d];
            NodeLine& node = nodes[line(piece[a])];
            node.velocity[c] += p * node.inverse_mass;
            if (kept.empty()) continue;
            const auto at = static_cast<std::size_t>(std::ranges::find(stencil, piece[a]) - stencil.begin());
            kept[at * d + c] += p;
          }
      });
    }
  }

  Index row() const override { return row_; }
  void measure(Index first, Index last, double t, std::span<const NodeLine> nodes, std::span<double> energies,
               std::span<double> gradients) const override {
    const auto d = static_cast<std::size_t>(potential_.dim());
    for (Index i = first; i < last; ++i) {
      const Index k = terms_[static_cast<std::size_t>(i)];
      const auto stencil = potential_.stencil(k);
      place_nodes(stencil, nodes);
      energies[static_cast<std::size_t>(i - first)] = potential_.energy(k, u_, t);
      const auto g = gradients.subspan(static_cast<std::size_t>((i - first) * row_), stencil.size() * d);
      std::ranges::fill(g, 0.0);
      potential_.add_gradient(k, u_, t, g);
    }
  }

 private:
  std::size_t line(NodeId a) const { return static_cast<std::size_t>(place_[ordinal(a)]); }
  std::size_t shift(NodeId a) const { return shift_.empty() ? line(a) : static_cast<std::size_t>(shift_[line(a)]); }
  void place_nodes(std::span<const NodeId> stencil, std::span<const NodeLine> nodes) const {
    const auto d = static_cast<std::size_t>(potential_.dim());
    for (const NodeId a : stencil) std::copy_n(nodes[line(a)].displacement, d, &u_[ordinal(a) * d]);
  }

  const Potential& potential_;
  std::vector<Index> terms_;
  std::vector<std::int32_t> place_, shift_;
  Index row_ = 0;
  mutable std::vector<double> u_;
};

}  // namespace

std::unique_ptr<Batch> Potential::batch(std::span<const Index> terms, std::span<const std::int32_t> place) const {
  return std::make_unique<TermLoop>(*this, terms, place);
}

void LocalPotential::each_hessian_piece(Index k, std::span<const double> u, double t, const VisitPiece& visit) const {
  const std::size_t n = stencil(k).size() * static_cast<std::size_t>(dim());
  std::vector<double> H(n * n, 0.0);
  add_hessian(k, u, t, H);
  visit(stencil(k), H);
}

std::string Potential::fault(Index k, std::span<const double>, double t, double admissibility) const {
  if (std::isfinite(admissibility))
    return fmt::format(
        "{} is inverted at t = {:.9g} s (J = det F = {:.6g}, must be > 0). Try smaller steps (safety or courant), a "
        "finer mesh where it deforms most, or a load or initial motion that is less abrupt.",
        describe(k), t, admissibility);
  return fmt::format(
      "{} has a position that is not finite at t = {:.9g} s (J = {}). The run has become unstable: try smaller steps "
      "(safety or courant), and look at the loads.",
      describe(k), t, admissibility);
}

double LocalPotential::stable_step(Index k, std::span<const double> u, std::span<const double> shares) const {
  const Matrix H = hessian(*this, k, u);
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 30, 1> root(H.rows());
  for (Index i = 0; i < H.rows(); ++i) root(i) = 1.0 / std::sqrt(shares[static_cast<std::size_t>(i / dim())]);
  const Matrix scaled = root.asDiagonal() * H * root.asDiagonal();
  double largest = largest_eigenvalue(scaled);
  if (mass(k, 0) == 0.0) largest = std::max(largest, largest_eigenvalue(Matrix(-scaled)));
  return step_of_eigenvalue(largest);
}

bool LocalPotential::step_is_stable(Index k, std::span<const double> u, std::span<const double> shares,
                                    double step) const {
  const Matrix H = hessian(*this, k, u);
  Matrix A = -H;
  for (Index i = 0; i < A.rows(); ++i)
    A(i, i) += 4.0 * (1.0 + step_rounding) / (step * step) * shares[static_cast<std::size_t>(i / dim())];
  return H.allFinite() && Eigen::LLT<Matrix>(A).info() == Eigen::Success;
}

double check_gradient(const Potential& potential, Index k, std::span<const double> u, double t, double spacing) {
  const auto stencil = potential.stencil(k);
  const auto dim = static_cast<std::size_t>(potential.dim());
  std::vector<double> moved(u.begin(), u.end()), gradient(stencil.size() * dim, 0.0);
  potential.add_gradient(k, u, t, gradient);
  double worst = 0.0, scale = 0.0;
  for (std::size_t a = 0; a < stencil.size(); ++a)
    for (std::size_t c = 0; c < dim; ++c) {
      double& x = moved[ordinal(stencil[a]) * dim + c];
      const double x0 = x;
      x = x0 + spacing;
      const double up = potential.energy(k, moved, t);
      x = x0 - spacing;
      const double down = potential.energy(k, moved, t);
      x = x0;
      const double difference = (up - down) / (2.0 * spacing);
      worst = std::max(worst, std::abs(difference - gradient[a * dim + c]));
      scale = std::max(scale, std::abs(difference));
    }
  return worst / (scale > 0.0 ? scale : 1.0);
}

}  // namespace tempi
