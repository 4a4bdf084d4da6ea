// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/assembled_stiffness.hpp"

#include <algorithm>

namespace tempi {

// All d columns of a node have the same rows: d for each of its neighbours, in ascending order.
AssembledStiffness::AssembledStiffness(const Model& model) : model_(model) {
  const NodeTerms around = node_terms(model);
  const Index d = model.dim(), n = d * model.node_count();
  std::vector<std::vector<NodeId>> neighbours(static_cast<std::size_t>(model.node_count()));
  Eigen::VectorXi sizes(n);
  for (Index b = 0; b < model.node_count(); ++b) {
    auto& list = neighbours[static_cast<std::size_t>(b)];
    list.push_back(make_id<NodeId>(b));
    for (const TermId term : around[make_id<NodeId>(b)])
      for (const NodeId a : model.term(term).stencil()) list.push_back(a);
    std::ranges::sort(list);
    list.erase(std::ranges::unique(list).begin(), list.end());
    list.shrink_to_fit();
    for (Index c = 0; c < d; ++c) sizes(b * d + c) = static_cast<int>(d) * static_cast<int>(list.size());
  }
  K_.resize(n, n);
  K_.reserve(sizes);
  for (Index b = 0; b < model.node_count(); ++b)
    for (Index c = 0; c < d; ++c)
      for (const NodeId a : neighbours[static_cast<std::size_t>(b)])
        for (Index r = 0; r < d; ++r) K_.insert(index(a) * d + r, b * d + c) = 0.0;
  K_.makeCompressed();
  for (Index i = 0; i < model.term_count(); ++i) {
    const auto nodes = model.term(make_id<TermId>(i)).stencil();
    for (const NodeId a : nodes)
      for (const NodeId b : nodes) {
        const auto& list = neighbours[static_cast<std::size_t>(index(b))];
        rank_.push_back(static_cast<std::int32_t>(std::ranges::lower_bound(list, a) - list.begin()));
      }
  }
}

const AssembledStiffness::Matrix& AssembledStiffness::operator()(std::span<const double> u, double t) {
  return assemble([&](TermId id, std::span<double> H) {
    const auto [potential, k] = model_.term(id);
    potential->add_hessian(k, u, t, H);
  });
}

const AssembledStiffness::Matrix& AssembledStiffness::assemble(
    const std::function<void(TermId, std::span<double> H)>& add) {
  const auto d = static_cast<std::size_t>(model_.dim());
  std::fill_n(K_.valuePtr(), K_.nonZeros(), 0.0);
  std::vector<double> H;
  const std::int32_t* rank = rank_.data();
  for (Index i = 0; i < model_.term_count(); ++i) {
    const auto id = make_id<TermId>(i);
    const auto nodes = model_.term(id).stencil();
    const std::size_t n = nodes.size() * d;
    H.assign(n * n, 0.0);
    add(id, H);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t b = 0; b < nodes.size(); ++b, ++rank)
        for (std::size_t c = 0; c < d; ++c) {
          const auto column = static_cast<Index>(static_cast<std::size_t>(index(nodes[b])) * d + c);
          double* values = K_.valuePtr() + K_.outerIndexPtr()[column] + static_cast<std::size_t>(*rank) * d;
          for (std::size_t r = 0; r < d; ++r) values[r] += H[(a * d + r) * n + b * d + c];
        }
  }
  return K_;
}

}  // namespace tempi
