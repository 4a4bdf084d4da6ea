// SPDX-License-Identifier: Apache-2.0
#include "tempi/constraint/holonomic.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <functional>

#include "support/pair_cases.hpp"
#include "tempi/core/error.hpp"

namespace tempi::test {
namespace {

std::vector<NodeId> first_nodes(Index n) {
  std::vector<NodeId> nodes;
  for (Index a = 0; a < n; ++a) nodes.push_back(make_id<NodeId>(a));
  return nodes;
}

// Four points in dim dimensions, and displacements of a tenth of their distances.
struct Cloud {
  explicit Cloud(int dim) : x(random_cloud(dim, 4, 1.5, 0.3, 3)), points{x, dim} {
    Random random(4);
    for (std::size_t i = 0; i < x.size(); ++i) u.push_back(random.uniform(-0.1, 0.1));
  }
  std::vector<double> x, u;
  Points points;
};

std::vector<Constraints> all_kinds(const Points& points) {
  std::vector<Constraints> all;
  all.push_back(make_distances(points, chain(4)));
  all.push_back(make_distances(points, chain(3), 1.3));
  all.push_back(make_links(points, first_nodes(2), {0.3, -0.2, 2.5}));
  all.push_back(make_surface(points, first_nodes(4), Expression("1.3*X - 0.2*sin(X + 2*Y) + 0.4*Z^2 - 0.1", {})));
  if (points.dim > 1) all.push_back(make_rigid_body(points, first_nodes(4)));
  return all;
}

// dg/dx by central differences of spacing 1e-5: in error by 1e-10 and rounding of 1e-11.
TEST(HolonomicConstraint, GradientIsThatOfTheValue) {
  for (const int dim : {1, 2, 3}) {
    const Cloud cloud(dim);
    for (const Constraints& constraints : all_kinds(cloud.points))
      for (const auto& constraint : constraints) {
        SCOPED_TRACE(constraint->describe());
        const auto d = static_cast<std::size_t>(dim);
        std::vector<double> gradient(constraint->stencil().size() * d, 1e9);
        constraint->gradient(cloud.u, gradient);
        for (std::size_t i = 0; i < gradient.size(); ++i) {
          std::vector<double> up = cloud.u, down = cloud.u;
          const std::size_t place = static_cast<std::size_t>(index(constraint->stencil()[i / d])) * d + i % d;
          up[place] += 1e-5, down[place] -= 1e-5;
          EXPECT_NEAR(gradient[i], (constraint->value(up) - constraint->value(down)) / 2e-5, 1e-9);
        }
      }
  }
}

TEST(HolonomicConstraint, IsALengthWhoseSlopeAtRestIsOne) {
  const Cloud cloud(3);
  const std::vector<double> rest(cloud.x.size(), 0.0);
  for (const auto& constraint : make_distances(cloud.points, chain(4))) {
    std::vector<double> gradient(6);
    constraint->gradient(rest, gradient);
    EXPECT_NEAR(constraint->value(rest), 0.0, 1e-15);
    EXPECT_NEAR(std::hypot(gradient[0], gradient[1], gradient[2]), 1.0, 1e-15);
    EXPECT_TRUE(constraint->is_internal());
  }
  std::vector<Constraints> external;
  external.push_back(make_links(cloud.points, first_nodes(4), {0.1, 0.2, 5.0}));
  external.push_back(make_surface(cloud.points, first_nodes(4), Expression("7*X^2 + Y - Z", {})));
  for (const Constraints& constraints : external)
    for (const auto& constraint : constraints) {
      std::vector<double> gradient(3);
      constraint->gradient(rest, gradient);
      EXPECT_NEAR(std::hypot(gradient[0], gradient[1], gradient[2]), 1.0, 1e-15);
      EXPECT_FALSE(constraint->is_internal());
    }
}

TEST(Distance, IsHalfTheExcessOfItsSquareOverTheLength) {
  const std::vector<double> x = {0.0, 0.0, 3.0, 4.0};
  const auto held = make_distances({x, 2}, chain(2), 2.0);
  EXPECT_DOUBLE_EQ(held[0]->value(std::vector<double>(4, 0.0)), (25.0 - 4.0) / 4.0);
  EXPECT_DOUBLE_EQ(held[0]->value(std::vector<double>{3.0, 4.0, 0.0, 2.0}), 0.0);
  EXPECT_EQ(held[0]->length(), 2.0);
  EXPECT_EQ(make_distances({x, 2}, chain(2))[0]->length(), 5.0);
  EXPECT_EQ(held[0]->describe(), "the distance of nodes 0 and 1");
}

TEST(Distance, AcrossAPeriodicBoxIsThatOfTheNearestImagesForGood) {
  const std::vector<double> x = {0.1, 2.0, 9.8, 2.4};
  const BoxLengths box = {10.0, std::nullopt, std::nullopt};
  const auto held = make_distances({x, 2}, chain(2), {}, box);
  EXPECT_NEAR(held[0]->length(), 0.5, 1e-14);
  // Both drift through the box many times, and turn by 90 degrees.
  const std::vector<double> u = {33.0 - 0.1, 5.0 - 2.0, 33.0 + 10.0 + 0.4 - 9.8, 5.0 + 0.3 - 2.4};
  EXPECT_NEAR(held[0]->value(u), 0.0, 1e-14);
  EXPECT_GT(std::abs(make_distances({x, 2}, chain(2))[0]->value(u)), 0.5);  // control: without the box
}

// Of the sphere the gradient is x / |X|; of a wave that bends over a sixth of the extent, as the header says.
TEST(Surface, HasAGradientAsGoodAsItSays) {
  const std::vector<double> x = {0.6, 0.0, 0.8}, u = {0.05, -0.1, 0.02};
  std::vector<double> gradient(3);
  const std::vector<NodeId> node = {NodeId{0}};
  make_surface({x, 3}, node, Expression("X^2 + Y^2 + Z^2 - 1", {}), 1.0)[0]->gradient(u, gradient);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(gradient[c], x[c] + u[c], 1e-12);
  make_surface({x, 3}, node, Expression("Z - 0.1*sin(6*X)", {}), 1.0)[0]->gradient(u, gradient);
  const double scale = std::hypot(1.0, 0.6 * std::cos(3.6));
  EXPECT_NEAR(gradient[0] * scale, -0.6 * std::cos(6.0 * 0.65), 1e-10);
  EXPECT_NEAR(gradient[2] * scale, 1.0, 1e-10);
}

// The Jacobian has 6 motions (5 of a line in space, 3 in the plane) that it does not see, and no row too many. `flat`:
// the cloud has that many dimensions fewer than space, in which it lies askew.
TEST(RigidBody, IsHeldByAsManyEquationsAsItTakesAndByIndependentOnes) {
  const Eigen::Matrix3d askew = Eigen::AngleAxisd(0.9, Eigen::Vector3d(1.0, -2.0, 0.5).normalized()).matrix();
  for (const int dim : {1, 2, 3})
    for (const int flat : {0, 1, 2})
      for (const Index n : {2, 3, 4, 5, 9, 20}) {
        if (flat >= dim) continue;
        SCOPED_TRACE(fmt::format("{} nodes in {} dimensions, {} fewer", n, dim, flat));
        const auto cloud = random_cloud(dim - flat, static_cast<std::size_t>(n), 12.0, 0.5, 7);
        std::vector<double> x;
        for (Index a = 0; a < n; ++a) {
          Eigen::Vector3d y = Eigen::Vector3d::Zero();
          for (int c = 0; c < dim - flat; ++c) y(c) = cloud[static_cast<std::size_t>(a * (dim - flat) + c)];
          if (dim == 2 && flat == 1) y(1) = -0.4 * y(0) + 3.0;
          if (dim == 3) y = askew * y + Eigen::Vector3d(4.0, 1.0, -2.0);
          x.insert(x.end(), y.begin(), y.begin() + dim);
        }
        const Constraints body = make_rigid_body({x, dim}, first_nodes(n));
        const Index spanned = std::min<Index>(n - 1, dim - flat);   // its dimension
        const Index turns = spanned * (2 * dim - spanned - 1) / 2;  // of dim (dim - 1)/2, those that move it
        ASSERT_EQ(static_cast<Index>(body.size()), dim * n - dim - turns);
        Eigen::MatrixXd J = Eigen::MatrixXd::Zero(static_cast<Index>(body.size()), dim * n);
        for (Index c = 0; c < J.rows(); ++c) {
          const auto& constraint = *body[static_cast<std::size_t>(c)];
          const std::vector<double> rest(x.size(), 0.0);
          std::vector<double> gradient(constraint.stencil().size() * static_cast<std::size_t>(dim));
          EXPECT_NEAR(constraint.value(rest), 0.0, 1e-14);
          constraint.gradient(rest, gradient);
          for (Index i = 0; i < std::ssize(gradient); ++i)
            J(c, index(constraint.stencil()[static_cast<std::size_t>(i / dim)]) * dim + i % dim) =
                gradient[static_cast<std::size_t>(i)];
        }
        EXPECT_GT(J.jacobiSvd().singularValues().minCoeff(), 1e-2);
        Eigen::VectorXd moving(dim * n);  // as a rigid body
        for (Index a = 0; a < n; ++a) {
          Eigen::Vector3d X = Eigen::Vector3d::Zero();
          for (int c = 0; c < dim; ++c) X(c) = x[static_cast<std::size_t>(a * dim + c)];
          const Eigen::Vector3d spin = dim == 3   ? Eigen::Vector3d(0.3, -0.7, 0.5)
                                       : dim == 2 ? Eigen::Vector3d(0.0, 0.0, 0.5)
                                                  : Eigen::Vector3d::Zero();
          moving.segment(a * dim, dim) = (Eigen::Vector3d(0.2, 0.4, -0.1) + spin.cross(X)).head(dim);
        }
        EXPECT_LT((J * moving).cwiseAbs().maxCoeff(), 1e-13 * moving.cwiseAbs().maxCoeff());
      }
}

TEST(RigidBody, IsMadeOfNodesOfWhichManyLieInAPlane) {
  const std::vector<double> pyramid = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 0.5, 1, 0.5, 0, 0};
  EXPECT_EQ(make_rigid_body({pyramid, 3}, first_nodes(6)).size(), 12u);
  EXPECT_EQ(make_rigid_body({pyramid, 3}, first_nodes(3)).size(), 3u);
}

std::string refusal(const std::function<void()>& make) {
  try {
    make();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}
void expect_words(const std::string& message, const std::vector<std::string>& words) {
  for (const std::string& word : words) EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
}

TEST(RigidBody, OfNodesInOnePointOrAlmostInAPlaneIsRefused) {
  const std::vector<double> line = {0, 0, 0, 1, 1, 1, 3, 3, 3}, square = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 1e-8};
  EXPECT_EQ(refusal([&] { make_rigid_body({line, 3}, first_nodes(3)); }), "");
  expect_words(refusal([&] { make_rigid_body({square, 3}, first_nodes(4)); }), {"off the plane", "7.1e-09"});
  const std::vector<double> bent = {0, 0, 0, 1e-10, 1e-17, 0, 2e-10, 0, 0};
  expect_words(refusal([&] { make_rigid_body({bent, 3}, first_nodes(3)); }), {"node 1", "off the line", "5e-08"});
  const std::vector<double> same = {1, 1, 1, 1, 1, 1};
  expect_words(refusal([&] { make_rigid_body({same, 2}, first_nodes(3)); }), {"in one point"});
  expect_words(refusal([&] { make_rigid_body({line, 3}, first_nodes(1)); }), {"1 node", "at least 2"});
  EXPECT_EQ(refusal([&] { make_rigid_body({line, 3}, first_nodes(2)); }), "");
}

TEST(HolonomicConstraint, ThatCannotBeIsRefusedWithTheReason) {
  const std::vector<double> x = {0.0, 0.0, 3.0, 4.0, 3.0, 4.0};
  const Points points{x, 2};
  const auto pair = [](int a, int b) { return std::vector<NodePair>{{make_id<NodeId>(a), make_id<NodeId>(b)}}; };
  const std::vector<NodeId> origin = {NodeId{0}};
  expect_words(refusal([&] { make_distances(points, pair(0, 3)); }), {"node 3", "3 nodes"});
  expect_words(refusal([&] { make_distances(points, pair(-1, 2)); }), {"node -1"});
  expect_words(refusal([&] { make_distances(points, pair(1, 1)); }), {"node 1 twice"});
  expect_words(refusal([&] { make_distances(points, pair(1, 2)); }), {"nodes 1 and 2", "0 m", "> 0"});
  expect_words(refusal([&] { make_distances(points, pair(0, 1), -2.0); }), {"nodes 0 and 1", "-2 m", "> 0"});
  expect_words(refusal([&] { make_distances(points, pair(0, 1), NAN); }), {"nan m"});
  expect_words(refusal([&] { make_distances(points, {}); }), {"no pairs"});
  expect_words(refusal([&] { make_distances(points, pair(0, 1), 2.0, {3.0, {}, {}}); }), {"box", "half", "along x"});
  expect_words(refusal([&] { make_links(points, origin, {0.0, 0.0, 0.0}); }), {"node 0 from (0, 0)", "0 m"});
  expect_words(refusal([&] { make_links(points, {}, {0.0, 0.0, 0.0}); }), {"no nodes"});
  expect_words(refusal([&] { make_surface(points, origin, Expression("X^2 + Y^2", {})); }),
               {"X^2 + Y^2", "gradient (0, 0)", "node 0, (0, 0)"});
  expect_words(refusal([&] { make_surface(points, origin, Expression("Y - t", {})); }), {"depends on t"});
  expect_words(refusal([&] { make_surface(points, origin, Expression(1.0)); }), {"gradient"});
  expect_words(refusal([&] { make_surface(points, origin, Expression("Y", {}), 0.0); }), {"extent", "0 m"});
}

}  // namespace
}  // namespace tempi::test
