// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/wall.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "support/measured_batches.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using Vector = std::array<double, 3>;
using enum Wall::Shape;

std::vector<Wall> walls(int dim) {
  std::vector<Wall> all = {{plane, {0.1, 0.2, 0.3}, {1, -2, 2}, {}, 0.0, false},
                           {sphere, {0.1, 0.2, 0.3}, {}, {}, 0.7, false},
                           {sphere, {0.1, 0.2, 0.3}, {}, {}, 1.7, true},
                           {box, {-0.3, -0.4, -0.5}, {}, {0.5, 0.4, 0.3}, 0.0, false}};
  if (dim == 3) {
    all.push_back({cylinder, {0.1, 0.2, 0.3}, {1, 1, -3}, {}, 0.6, false});
    all.push_back({cylinder, {0.1, 0.2, 0.3}, {1, 1, -3}, {}, 1.6, true});
  }
  for (Wall& w : all) w = checked(w, dim);
  return all;
}

Vector drawn(std::mt19937& random, int dim, double size) {
  std::uniform_real_distribution<double> unit(-size, size);
  Vector x{};
  for (int c = 0; c < dim; ++c) x[static_cast<std::size_t>(c)] = unit(random);
  return x;
}

TEST(Wall, IsReachedWhenTheGapCloses) {
  std::mt19937 random(1);
  for (const int dim : {2, 3})
    for (const Wall& wall : walls(dim)) {
      int reached = 0, never = 0;
      for (int i = 0; i < 4000; ++i) {
        const Vector x = drawn(random, dim, 2.0), v = drawn(random, dim, 1.0);
        if (gap(wall, x).distance <= 0.0) continue;
        const auto at = [&](double s) {
          return gap(wall, {x[0] + s * v[0], x[1] + s * v[1], x[2] + s * v[2]}).distance;
        };
        const double s = time_to_reach(wall, x, v);
        const double until = std::min(s, 50.0);
        for (int k = 0; k < 60; ++k) ASSERT_GT(at(until * k / 60.0), -1e-12);  // not before
        if (std::isinf(s)) {
          ++never;
          continue;
        }
        ++reached;
        ASSERT_NEAR(at(s), 0.0, 1e-11 * (1.0 + s));
        ASSERT_LT(at(s + 1e-6 * (1.0 + s)), 0.0);
        // Thrown back it does not go through.
        const Vector p = {x[0] + s * v[0], x[1] + s * v[1], x[2] + s * v[2]}, n = gap(wall, p).normal;
        const double vn = v[0] * n[0] + v[1] * n[1] + v[2] * n[2];
        ASSERT_LT(vn, 0.0);
        const Vector back = {v[0] - 2 * vn * n[0], v[1] - 2 * vn * n[1], v[2] - 2 * vn * n[2]};
        const double again = time_to_reach(wall, p, back);
        if (vn < -1e-3) {
          ASSERT_GT(again, 1e-6);
        }
      }
      EXPECT_GT(reached, 100) << static_cast<int>(wall.shape);
      if (!wall.inside) {
        EXPECT_GT(never, 100);
      }
    }
}

TEST(Wall, PenaltyHasItsOwnGradientAndHessian) {
  std::mt19937 random(2);
  for (const int dim : {2, 3}) {
    const auto d = static_cast<std::size_t>(dim);
    for (const Wall& wall : walls(dim)) {
      int beyond = 0;
      for (int i = 0; i < 1000; ++i) {
        const Vector X = drawn(random, dim, 1.6);
        const std::vector<double> reference(X.begin(), X.begin() + dim);
        const auto contact = make_wall_contact(reference, dim, {NodeId{0}}, wall, 1e-3);
        std::vector<double> u(d, 0.0);
        const double distance = gap(wall, X).distance;
        EXPECT_NEAR(contact->energy(0, u, 0.0), distance < 0.0 ? distance * distance / 2e-3 : 0.0, 1e-9);
        if (std::abs(distance) < 1e-3) continue;
        beyond += distance < 0.0 ? 1 : 0;
        if (wall.shape != box) {
          EXPECT_LT(check_gradient(*contact, 0, u, 0.0, 1e-6), 1e-6);
        }
        std::vector<double> H(d * d, 0.0);
        contact->as_local()->add_hessian(0, u, 0.0, H);
        for (std::size_t j = 0; j < d && wall.shape != box; ++j) {
          std::vector<double> up(d, 0.0), down(d, 0.0), w = u;
          w[j] = 1e-6;
          contact->add_gradient(0, w, 0.0, up);
          w[j] = -1e-6;
          contact->add_gradient(0, w, 0.0, down);
          for (std::size_t k = 0; k < d; ++k) EXPECT_NEAR(H[k * d + j], (up[k] - down[k]) / 2e-6, 2e-2);
        }
      }
      EXPECT_GT(beyond, 20);
    }
  }
}

// Spheres: nothing before they touch, Hertz's energy beyond, derivatives by differences, and energy-stepping's kink
// where they touch first.
TEST(Wall, IsTouchedBySpheresAsHertzHasIt) {
  const double R = 0.3, K = 7.0;
  for (const auto& [wall, from] : {std::pair{Wall{Wall::Shape::plane, {0, 0, 0.1}, {0, 0.6, 0.8}, {}, 0.0, false}, 0.5},
                                   std::pair{Wall{Wall::Shape::sphere, {0.2, 0, 0}, {}, {}, 0.8, false}, 1.5},
                                   std::pair{Wall{Wall::Shape::sphere, {0.2, 0, 0}, {}, {}, 0.8, true}, 0.1}}) {
    const Wall whole = checked(wall, 3);
    const std::array<double, 3> way = {0.48, 0.6, 0.64};  // a unit vector; inwards for what is hollow: outwards
    for (const double at : {from, from - 0.21, from - 0.43, from - 0.49, from + 0.45}) {
      std::vector<double> X = {wall.point[0] + at * way[0], wall.point[1] + at * way[1], wall.point[2] + at * way[2]};
      const auto contact = make_wall_contact(X, 3, std::vector{WallSphere{NodeId{0}, R, K}}, wall);
      const std::vector<double> u(3, 0.0);
      const Gap g = gap(whole, {X[0], X[1], X[2]});
      const double overlap = std::max(0.0, R - g.distance);
      EXPECT_NEAR(contact->energy(0, u, 0.0), 0.4 * K * std::pow(overlap, 2.5), 1e-12);
      EXPECT_LT(check_gradient(*contact, 0, u, 0.0, 1e-6), 1e-7);
      std::vector<double> H(9, 0.0);
      contact->as_local()->add_hessian(0, u, 0.0, H);
      for (std::size_t j = 0; j < 3; ++j) {
        std::vector<double> up(3, 0.0), down(3, 0.0), w = u;
        w[j] = 1e-6;
        contact->add_gradient(0, w, 0.0, up);
        w[j] = -1e-6;
        contact->add_gradient(0, w, 0.0, down);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(H[k * 3 + j], (up[k] - down[k]) / 2e-6, 1e-5);
      }
      if (overlap == 0.0) {
        const std::vector<double> v = {-g.normal[0], -g.normal[1], -g.normal[2]};
        EXPECT_NEAR(contact->first_kink(0, u, v), g.distance - R, 1e-12);
      }
    }
  }
  const std::vector<double> X(3, 0.0);
  const Wall box{Wall::Shape::box, {0, 0, 0}, {}, {1, 1, 1}, 0.0, false},
      hollow{Wall::Shape::sphere, {}, {}, {}, 0.2, true};
  EXPECT_THROW(make_wall_contact(X, 3, std::vector{WallSphere{NodeId{0}, 0.1, 1.0}}, box), InputError);
  EXPECT_THROW(make_wall_contact(X, 3, std::vector{WallSphere{NodeId{0}, 0.3, 1.0}}, hollow), InputError);
  EXPECT_THROW(make_wall_contact(X, 3, std::vector{WallSphere{NodeId{0}, 0.1, 0.0}}, hollow), InputError);
}

// All shapes, nodes and spheres, some of them beyond; an order that is not theirs.
TEST(Wall, StrikesManyAtOnceAsItStrikesEach) {
  std::mt19937 random(11);
  for (const int dim : {2, 3})
    for (const Wall& wall : walls(dim)) {
      constexpr Index count = 60;
      std::vector<double> X, u;
      std::vector<NodeId> nodes;
      std::vector<WallSphere> spheres;
      for (Index a = 0; a < count; ++a) {
        const Vector x = drawn(random, dim, a % 2 == 0 ? 0.6 : 2.5), moved = drawn(random, dim, 0.2);
        X.insert(X.end(), x.begin(), x.begin() + dim);
        u.insert(u.end(), moved.begin(), moved.begin() + dim);
        if (a % 7 == 3) continue;  // not everybody takes part
        nodes.push_back(make_id<NodeId>(a));
        spheres.push_back({nodes.back(), 0.05 + 0.002 * static_cast<double>(a), 3.0 + static_cast<double>(a)});
      }
      std::vector<Index> terms(nodes.size());
      std::iota(terms.rbegin(), terms.rend(), 0);
      const auto look = [&](const std::unique_ptr<Potential>& contact) {
        EXPECT_LT(test::deviation(*contact, terms, u), 1e-15);
        const auto [energy, gradient] = test::deviations_of_measured(*contact, terms, u);
        EXPECT_LT(energy, 1e-15);
        EXPECT_LT(gradient, 1e-15);
        std::vector<double> shift;
        for (Index a = 0; a < count; ++a) {
          const Vector w = drawn(random, dim, 0.1);
          shift.insert(shift.end(), w.begin(), w.begin() + dim);
        }
        EXPECT_LT(test::deviation_of_change(*contact, terms, u, shift), 1e-15);
      };
      look(make_wall_contact(X, dim, nodes, wall, 0.01));
      if (wall.shape == plane || wall.shape == sphere) look(make_wall_contact(X, dim, spheres, wall));
    }
  const std::vector<double> X(3, 0.0);
  const auto contact = make_wall_contact(X, 3, {NodeId{0}}, walls(3).front(), 0.01);
  const auto lines = test::lines_of({0.0, std::nan(""), 0.0}, 3, 0.0, 1);
  auto struck = lines.nodes;
  EXPECT_FALSE(contact->batch(std::array{Index{0}}, lines.place)->strike(0, 1, 0.1, 0.0, struck));
}

TEST(Wall, RefusesWhatCannotBe) {
  EXPECT_THROW(checked({plane, {}, {}, {}, 0.0, false}, 3), InputError);
  EXPECT_THROW(checked({plane, {}, {0, 0, 1}, {}, 0.0, false}, 2), InputError);
  EXPECT_THROW(checked({plane, {}, {0, 0, 1}, {}, 0.0, true}, 3), InputError);
  EXPECT_THROW(checked({sphere, {}, {}, {}, 0.0, false}, 3), InputError);
  EXPECT_THROW(checked({cylinder, {}, {1, 0, 0}, {}, 1.0, false}, 2), InputError);
  EXPECT_THROW(checked({box, {0, 0, 0}, {}, {1, 0, 1}, 0.0, false}, 3), InputError);
  EXPECT_NO_THROW(checked({box, {0, 0, 0}, {}, {1, 1, 0}, 0.0, false}, 2));
  EXPECT_THROW(make_wall_contact(std::vector{0.0, 0.0}, 2, {NodeId{0}}, {plane, {}, {0, 1, 0}, {}, 0.0, false}, -1.0),
               InputError);
}

}  // namespace
}  // namespace tempi
