// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/assembled_stiffness.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tempi/core/distinct.hpp"

namespace tempi {

AssembledStiffness::AssembledStiffness(const Model& model) : model_(model) {
  for (Index p = 0; p < model.potential_count(); ++p) has_sums_ = has_sums_ || model.potential(p).as_sum() != nullptr;
  const std::vector<double> at_rest(model.reference().size(), 0.0);
  covered_ = pairs_in_sums(at_rest, 0.0);
  set_pattern();
}

void AssembledStiffness::each_piece_of_sums(std::span<const double> u, double t,
                                            const Potential::VisitPiece& visit) const {
  for (Index p = 0; p < model_.potential_count() && has_sums_; ++p)
    if (const ManyBodySum* sum = model_.potential(p).as_sum()) sum->each_hessian_piece(0, u, t, visit);
}

AssembledStiffness::NodePairs AssembledStiffness::pairs_in_sums(std::span<const double> u, double t) const {
  NodePairs pairs;
  each_piece_of_sums(u, t, [&](std::span<const NodeId> nodes, std::span<const double>) {
    for (const NodeId a : nodes)
      for (const NodeId b : nodes) pairs.push_back({a, b});
  });
  return pairs;
}

// All d columns of a node have the same rows: d for each of its neighbours, in ascending order.
void AssembledStiffness::set_pattern() {
  const Index d = model_.dim(), n = d * model_.node_count();
  neighbours_.assign(static_cast<std::size_t>(model_.node_count()), {});
  const auto of = [&](NodeId b) -> std::vector<NodeId>& { return neighbours_[ordinal(b)]; };
  for (Index b = 0; b < model_.node_count(); ++b) of(make_id<NodeId>(b)).push_back(make_id<NodeId>(b));
  const auto each_local = [&](auto&& visit) {  // stencils of the terms of few nodes
    for (Index i = 0; i < model_.term_count(); ++i) {
      const auto term = model_.term(make_id<TermId>(i));
      if (term.potential->as_local() != nullptr) visit(term.stencil());
    }
  };
  each_local([&](std::span<const NodeId> nodes) {
    for (const NodeId b : nodes) of(b).insert(of(b).end(), nodes.begin(), nodes.end());
  });
  for (const auto& [a, b] : covered_) of(b).push_back(a);
  Eigen::VectorXi sizes(n);
  for (Index b = 0; b < model_.node_count(); ++b) {
    auto& list = of(make_id<NodeId>(b));
    make_distinct(list);
    list.shrink_to_fit();
    for (Index c = 0; c < d; ++c) sizes(b * d + c) = static_cast<int>(d) * static_cast<int>(list.size());
  }
  K_.resize(n, n);
  K_.reserve(sizes);
  for (Index b = 0; b < model_.node_count(); ++b)
    for (Index c = 0; c < d; ++c)
      for (const NodeId a : of(make_id<NodeId>(b)))
        for (Index r = 0; r < d; ++r) K_.insert(index(a) * d + r, b * d + c) = 0.0;
  K_.makeCompressed();
  rank_.clear();
  each_local([&](std::span<const NodeId> nodes) {
    for (const NodeId a : nodes)
      for (const NodeId b : nodes) rank_.push_back(static_cast<std::int32_t>(place(a, b)));
  });
}

Index AssembledStiffness::place(NodeId a, NodeId b) const {
  const auto& list = neighbours_[ordinal(b)];
  return std::ranges::lower_bound(list, a) - list.begin();
}

bool AssembledStiffness::cover(std::span<const std::span<const double>> configurations, double t) {
  if (!has_sums_) return false;
  NodePairs pairs;
  for (const auto u : configurations) {
    const NodePairs here = pairs_in_sums(u, t);
    pairs.insert(pairs.end(), here.begin(), here.end());
  }
  if (pairs == covered_) return false;
  covered_ = std::move(pairs);
  set_pattern();
  return true;
}

// The block of node b and its neighbour of that rank gets one of a matrix with rows of `row` entries, beginning at H.
void AssembledStiffness::add_block(NodeId b, std::size_t rank, const double* H, std::size_t row, double factor) {
  const auto d = static_cast<std::size_t>(model_.dim());
  for (std::size_t c = 0; c < d; ++c) {
    const auto column = static_cast<Index>(ordinal(b) * d + c);
    double* values = K_.valuePtr() + K_.outerIndexPtr()[column] + rank * d;
    for (std::size_t r = 0; r < d; ++r) values[r] += factor * H[r * row + c];
  }
}

void AssembledStiffness::add_piece(std::span<const NodeId> nodes, std::span<const double> H, double factor) {
  const auto d = static_cast<std::size_t>(model_.dim());
  const std::size_t n = nodes.size() * d;
  for (std::size_t a = 0; a < nodes.size(); ++a)
    for (std::size_t b = 0; b < nodes.size(); ++b)
      add_block(nodes[b], static_cast<std::size_t>(place(nodes[a], nodes[b])), &H[a * d * n + b * d], n, factor);
}

const AssembledStiffness::Matrix& AssembledStiffness::at(std::span<const double> u, double t) {
  assemble([&](TermId id, std::span<double> H) {
    const auto [potential, k] = model_.term(id);
    potential->as_local()->add_hessian(k, u, t, H);
  });
  each_piece_of_sums(u, t, [&](std::span<const NodeId> nodes, std::span<const double> H) { add_piece(nodes, H); });
  return K_;
}

const AssembledStiffness::Matrix& AssembledStiffness::damping(std::span<const double> u, double t) {
  std::fill_n(K_.valuePtr(), K_.nonZeros(), 0.0);
  return add_damping(u, t, 1.0);
}

const AssembledStiffness::Matrix& AssembledStiffness::add_damping(std::span<const double> u, double t, double factor) {
  for (Index i = 0; i < model_.term_count() && model_.has_dampers(); ++i)
    model_.each_damping_piece(make_id<TermId>(i), u, t, [&](std::span<const NodeId> nodes, std::span<const double> C) {
      add_piece(nodes, C, factor);
    });
  return K_;
}

Eigen::VectorXd AssembledStiffness::rounding_of_forces(std::span<const double> u, double t) {
  const Matrix& K = at(u, t);
  const std::span<const double> X = model_.reference();
  const Index d = model_.dim();
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(K.rows());
  for (Index j = 0; j < K.cols(); ++j)
    for (Matrix::InnerIterator k(K, j); k; ++k) {
      const Index i = k.row();
      double distance = 0.0;
      for (Index c = 0; c < d; ++c)
        distance += std::abs(X[static_cast<std::size_t>(i / d * d + c)] - X[static_cast<std::size_t>(j / d * d + c)]);
      sum(i) += std::abs(k.value()) * (std::abs(u[static_cast<std::size_t>(j)]) + distance);
    }
  return std::numeric_limits<double>::epsilon() * sum;
}

const AssembledStiffness::Matrix& AssembledStiffness::assemble(const AddToTerm& add) {
  const auto d = static_cast<std::size_t>(model_.dim());
  std::fill_n(K_.valuePtr(), K_.nonZeros(), 0.0);
  std::vector<double> H;
  const std::int32_t* rank = rank_.data();
  for (Index i = 0; i < model_.term_count(); ++i) {
    const auto id = make_id<TermId>(i);
    const auto term = model_.term(id);
    if (term.potential->as_local() == nullptr) continue;
    const auto nodes = term.stencil();
    const std::size_t n = nodes.size() * d;
    H.assign(n * n, 0.0);
    add(id, H);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t b = 0; b < nodes.size(); ++b)
        add_block(nodes[b], static_cast<std::size_t>(*rank++), &H[a * d * n + b * d], n);
  }
  return K_;
}

}  // namespace tempi
