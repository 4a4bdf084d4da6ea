// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/softened_model.hpp"

#include <gtest/gtest.h>

#include "support/pair_cases.hpp"
#include "tempi/core/error.hpp"
#include "tempi/pair/pair_sum.hpp"

namespace tempi::test {
namespace {

const std::vector<double> square = {0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0};

Model::Parts particles() {
  Model::Parts parts;
  parts.dim = 2;
  parts.reference = square;
  parts.mass.assign(4, 1.0);
  parts.shares = MassShares::balanced;
  return parts;
}

TEST(SoftenedModel, takes_what_it_can_soften) {
  Model::Parts parts = particles();
  parts.add(make_pairs(square, 2, parts.mass, all_pairs(4), Spring{1.0, 1.0}));
  const Model model(std::move(parts));
  EXPECT_EQ(softened(model, std::vector<double>(6, 0.1)).term_count(), 6);
  EXPECT_THROW(softened(model, {0.1}), InputError);
}

TEST(SoftenedModel, refuses_constraints_instead_of_dropping_them) {
  Model::Parts parts = particles();
  parts.add(make_pairs(square, 2, parts.mass, all_pairs(4), Spring{1.0, 1.0}));
  const std::array<NodePair, 1> pair = {NodePair{NodeId{0}, NodeId{1}}};
  parts.constraints = make_distances({square, 2}, pair, 1.0);
  const Model model(std::move(parts));
  EXPECT_THROW(softened(model, std::vector<double>(6, 0.1)), InputError);
}

TEST(SoftenedModel, refuses_sums_of_many_nodes_instead_of_overflowing) {
  Model::Parts parts = particles();
  parts.reference.clear();
  std::vector<NodeId> nodes;
  for (Index a = 0; a < 16; ++a) {
    parts.reference.push_back(static_cast<double>(a % 4));
    parts.reference.push_back(static_cast<double>(a / 4));
    nodes.push_back(make_id<NodeId>(a));
  }
  parts.mass.assign(16, 1.0);
  const std::vector<double> reference = parts.reference;
  parts.add(make_pair_sum(reference, 2, parts.mass, nodes, LennardJones{1.0, 1.0, 2.0}));
  const Model model(std::move(parts));
  EXPECT_THROW(softened(model, {0.1}), InputError);
}

}  // namespace
}  // namespace tempi::test
