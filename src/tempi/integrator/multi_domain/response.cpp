// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/multi_domain/response.hpp"

#include <algorithm>
#include <vector>

#include "tempi/core/error.hpp"
#include "tempi/integrator/multi_domain/blocks.hpp"
#include "tempi/integrator/one_step/newton.hpp"

namespace tempi {
namespace {

using Vector = Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;
using Dense = Eigen::MatrixXd;

struct Blocks {  // R: free, I: driven
  Sparse RR, RI, IR, II;
};

struct Partition {
  std::vector<Index> free_place, driven_place;
  Index free = 0, driven = 0;

  Partition(Index n, std::span<const Index> driven_components, std::span<const Index> held)
      : free_place(static_cast<std::size_t>(n), 0), driven_place(static_cast<std::size_t>(n), -1) {
    for (const Index i : held) free_place[static_cast<std::size_t>(i)] = -1;
    for (const Index i : driven_components) {
      free_place[static_cast<std::size_t>(i)] = -1;
      driven_place[static_cast<std::size_t>(i)] = driven++;
    }
    for (Index& place : free_place)
      if (place == 0) place = free++;
  }

  Blocks blocks(const Sparse& A) const {
    return {block(A, free_place, free, free_place, free), block(A, free_place, free, driven_place, driven),
            block(A, driven_place, driven, free_place, free), block(A, driven_place, driven, driven_place, driven)};
  }
};

// What comes early by way of free components, of the columns `I` of driven ones. `solve`: (M/h + C/2 + h a K / 2)^-1.
template <class Solve>
Dense by_way_of_free(const Blocks& K, const Blocks& C, const Vector& mass, const Dense& I, DomainRule rule, double h,
                     Solve&& solve) {
  const double alpha = rule.alpha, a = 2.0 * alpha * (1.0 - alpha), b = 1.0 - a, s = rule.substeps;
  const bool damped = C.RR.nonZeros() + C.RI.nonZeros() > 0;
  const auto inertia = (mass / h).asDiagonal();
  const Dense KI = K.RI * I;
  Dense q = Dense::Zero(mass.size(), I.cols()), p = q, early = Dense::Zero(K.IR.rows(), I.cols());
  for (int k = 0; k < rule.substeps; ++k) {
    const double from = k * h, to = (k + 1) * h;
    const Dense Kq = K.RR * q;
    Dense rhs = p + inertia * q - 0.5 * h * b * Kq - 0.5 * h * (b * from + a * to) * KI;
    if (damped) rhs += 0.5 * (C.RR * q) - 0.5 * h * (C.RI * I);
    const Dense next = solve(rhs), moved = next - q;
    p = inertia * moved;
    p -= 0.5 * h * (a * Kq + b * (K.RR * next)) + 0.5 * h * (a * from + b * to) * KI;
    if (damped) p -= 0.5 * (C.RR * moved) + 0.5 * h * (C.RI * I);
    for (const double point : {alpha, 1.0 - alpha}) {
      const double still = 1.0 - (k + point) / s;  // 1 - tau
      if (still == 0.0) continue;
      early -= 0.5 * h * still * (K.IR * ((1.0 - point) * q + point * next));
      if (damped) early -= 0.5 * still * (C.IR * moved);
    }
    q = next;
  }
  return early;
}

// What driven components do to one another.
Sparse directly(const Blocks& K, const Blocks& C, DomainRule rule, double h) {
  double of_K = 0.0, of_C = 0.0;
  for (int k = 0; k < rule.substeps; ++k)
    for (const double point : {rule.alpha, 1.0 - rule.alpha}) {
      const double still = 1.0 - (k + point) / rule.substeps;
      of_K -= 0.5 * h * still * (k + point) * h;
      of_C -= 0.5 * h * still;
    }
  Sparse G = of_K * K.II;
  if (C.II.nonZeros() > 0) G += Sparse(of_C * C.II);
  return G;
}

Vector of_free(const Partition& partition, const Vector& mass) {
  Vector free(partition.free);
  for (Index i = 0; i < mass.size(); ++i)
    if (const Index place = partition.free_place[static_cast<std::size_t>(i)]; place >= 0) free(place) = mass(i);
  return free;
}

// How many terms lie between free components and driven ones, by what they feel: 1 next to them.
std::vector<int> rings_of_rows(std::span<const Blocks> K, Index free) {
  std::vector<int> ring(static_cast<std::size_t>(free), 0);
  std::vector<Index> front, next;
  const auto reach = [&](Index row, int r) {
    if (int& here = ring[static_cast<std::size_t>(row)]; here == 0) {
      here = r;
      next.push_back(row);
    }
  };
  for (const Blocks& of_ticks : K)
    for (Index c = 0; c < of_ticks.RI.cols(); ++c)
      for (Sparse::InnerIterator e(of_ticks.RI, c); e; ++e) reach(e.row(), 1);
  for (int r = 2; !next.empty(); ++r) {
    front.swap(next);
    next.clear();
    for (const Index column : front)
      for (const Blocks& of_ticks : K)
        for (Sparse::InnerIterator e(of_ticks.RR, column); e; ++e) reach(e.row(), r);
  }
  return ring;
}

Sparse symmetric(const Sparse& G) { return 0.5 * (G + Sparse(G.transpose())); }

}  // namespace

Sparse interface_response(const Sparse& stiffness, const Sparse& damping, const Vector& mass,
                          std::span<const Index> driven, std::span<const Index> held, DomainRule rule,
                          double system_step) {
  const double h = system_step / rule.substeps, a = 2.0 * rule.alpha * (1.0 - rule.alpha);
  const Partition partition(mass.size(), driven, held);
  const Blocks K = partition.blocks(stiffness);
  const Blocks C = damping.size() > 0 ? partition.blocks(damping) : Blocks{};
  const Vector free_mass = of_free(partition, mass);
  const Index n = partition.driven;
  Sparse A = 0.5 * h * a * K.RR;
  if (damping.size() > 0) A += Sparse(0.5 * C.RR);
  for (Index i = 0; i < A.cols(); ++i) A.coeffRef(i, i) += free_mass(i) / h;
  const Sparse G = directly(K, C, rule, h);
  if (partition.free == 0) return symmetric(G);
  SparseFactors factors(SparseFactors::Kind::symmetric);
  if (!factors.factorise(A)) throw SolveError("the equations of a domain are singular. Choose a smaller step.");
  std::vector<Index> coupled;  // driven components that free ones feel
  for (Index j = 0; j < n; ++j)
    if (K.RI.col(j).nonZeros() > 0 || (damping.size() > 0 && C.RI.col(j).nonZeros() > 0)) coupled.push_back(j);
  constexpr Index at_once = 64;  // columns, for the sake of memory
  std::vector<Eigen::Triplet<double>> entries;
  for (Index first = 0; first < std::ssize(coupled); first += at_once) {
    const Index count = std::min<Index>(at_once, std::ssize(coupled) - first);
    Dense I = Dense::Zero(n, count);
    for (Index j = 0; j < count; ++j) I(coupled[static_cast<std::size_t>(first + j)], j) = 1.0;
    const Dense early = by_way_of_free(K, C, free_mass, I, rule, h, [&](const Dense& rhs) {
      Dense x(rhs.rows(), rhs.cols());
      for (Index j = 0; j < rhs.cols(); ++j) x.col(j) = factors.solve(rhs.col(j));
      return x;
    });
    for (Index j = 0; j < count; ++j)
      for (const Index i : coupled)
        if (early(i, j) != 0.0) entries.emplace_back(i, coupled[static_cast<std::size_t>(first + j)], early(i, j));
  }
  Sparse by_free(n, n);
  by_free.setFromTriplets(entries.begin(), entries.end());
  return symmetric(G + by_free);
}

// Columns are taken some at a time, and of these the rows that have been reached and still matter: at substep k those
// with at most min(k, s - k) rings to go.
Sparse explicit_response(std::span<const StiffnessOfTicks> stiffness, const Vector& mass, std::span<const Index> driven,
                         std::span<const Index> held, int substeps, double system_step) {
  const double h = system_step / substeps;
  const Partition partition(mass.size(), driven, held);
  const Vector inverse_mass = of_free(partition, mass).cwiseInverse();
  const Index n = partition.driven, free = partition.free;
  std::vector<Blocks> K;
  for (const StiffnessOfTicks& of_ticks : stiffness) K.push_back(partition.blocks(of_ticks.K));
  const std::vector<int> ring = rings_of_rows(K, free);

  Sparse G(n, n);
  for (std::size_t g = 0; g < K.size(); ++g) {
    double direct = 0.0;
    for (int k = stiffness[g].ticks; k < substeps; k += stiffness[g].ticks)
      direct -= stiffness[g].ticks * h * (1.0 - static_cast<double>(k) / substeps) * k * h;
    G += direct * K[g].II;
  }

  constexpr Index at_once = 32;  // columns: wide enough for vectors of any kind, narrow enough to stay in the cache
  using Row = Eigen::Array<double, 1, at_once>;
  std::vector<Row> q(static_cast<std::size_t>(free)), v = q, of_driven(static_cast<std::size_t>(n));
  std::vector<Index> reached, touched;
  std::vector<char> is_reached(q.size(), 0), is_touched(of_driven.size(), 0);
  std::vector<Eigen::Triplet<double>> entries;
  for (Index first = 0; first < n; first += at_once) {
    const Index count = std::min(at_once, n - first);
    const auto reach = [&](Index row) {
      const auto i = static_cast<std::size_t>(row);
      if (is_reached[i] != 0) return;
      is_reached[i] = 1;
      reached.push_back(row);
      q[i].setZero();
      v[i].setZero();
    };
    for (int k = 1; k < substeps; ++k) {
      for (const Index row : reached) q[static_cast<std::size_t>(row)] += h * v[static_cast<std::size_t>(row)];
      const auto moved = static_cast<Index>(reached.size());
      for (std::size_t g = 0; g < K.size(); ++g) {
        if (k % stiffness[g].ticks != 0) continue;
        const double act = stiffness[g].ticks * h, still = 1.0 - static_cast<double>(k) / substeps;
        for (Index r = 0; r < moved; ++r) {
          const Index column = reached[static_cast<std::size_t>(r)];
          const auto j = static_cast<std::size_t>(column);
          if (ring[j] > substeps - k) continue;
          for (Sparse::InnerIterator e(K[g].RR, column); e; ++e) {
            if (ring[static_cast<std::size_t>(e.row())] >= substeps - k) continue;
            reach(e.row());
            v[static_cast<std::size_t>(e.row())] -= act * inverse_mass(e.row()) * e.value() * q[j];
          }
          for (Sparse::InnerIterator e(K[g].IR, column); e; ++e) {
            const auto i = static_cast<std::size_t>(e.row());
            if (is_touched[i] == 0) {
              is_touched[i] = 1;
              touched.push_back(e.row());
              of_driven[i].setZero();
            }
            of_driven[i] -= act * still * e.value() * q[j];
          }
        }
        for (Index c = 0; c < count; ++c)
          for (Sparse::InnerIterator e(K[g].RI, first + c); e; ++e) {
            reach(e.row());
            v[static_cast<std::size_t>(e.row())](c) -= act * inverse_mass(e.row()) * e.value() * k * h;
          }
      }
    }
    for (const Index i : touched) {
      for (Index c = 0; c < count; ++c)
        if (const double value = of_driven[static_cast<std::size_t>(i)](c); value != 0.0)
          entries.emplace_back(i, first + c, value);
      is_touched[static_cast<std::size_t>(i)] = 0;
    }
    for (const Index row : reached) is_reached[static_cast<std::size_t>(row)] = 0;
    reached.clear();
    touched.clear();
  }
  Sparse by_free(n, n);
  by_free.setFromTriplets(entries.begin(), entries.end());
  return symmetric(G + by_free);
}

}  // namespace tempi
