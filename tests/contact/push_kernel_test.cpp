// SPDX-License-Identifier: Apache-2.0
#include "tempi/contact/push_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/touching.hpp"

namespace tempi {
namespace {

using namespace test;
using Point = std::array<double, 3>;

// Pairs on their way, as many at once as there may be, are pushed as each is where it will be.
TEST(PushKernel, PushesAsEachPairIsPushed) {
  Random random(4);
  int touched = 0, deeper = 0;
  for (const double exponent : {2.0, 2.5, 3.0})
    for (const SimplexPair kind : {SimplexPair{1, 1}, SimplexPair{1, 2}, SimplexPair{1, 3}, SimplexPair{2, 2},
                                   SimplexPair{1, 1, true}, SimplexPair{1, 2, true}})
      for (std::size_t count = 1; count <= 19; ++count) {
        const auto size = static_cast<std::size_t>(kind.size());
        LayerOptions options = layers_of(1.2, 3.0);
        options.law.exponent = exponent;
        const LayeredContact contact(ContactSurface(3), options, {}, "pairs");
        std::vector<NodeLine> nodes(4 * count);
        std::vector<const NodeLine*> lines;
        std::vector<NodeShift> reference(nodes.size());
        std::vector<VelocityCorrection> corrections(nodes.size());
        std::vector<const VelocityCorrection*> correction;
        std::vector<PairToPush> pairs;
        std::vector<std::array<Point, 4>> places(count);
        constexpr double now = 3.25, tick = 0.125;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          NodeLine& node = nodes[i];
          node.clock = random.uniform(0.0, 3.0);
          for (std::size_t c = 0; c < 3; ++c) {
            reference[i].displacement[c] = random.uniform(-1, 1);
            node.displacement[c] = random.uniform(-0.1, 0.1);
            node.velocity[c] = random.uniform(-0.5, 0.5);
            places[i / 4][i % 4][c] =
                reference[i].displacement[c] + node.displacement[c] + node.velocity[c] * (now - node.clock) * tick;
          }
          lines.push_back(&node);
          for (std::size_t c = 0; c < 3; ++c) {
            corrections[i].change[c] = random.uniform(-0.5, 0.5);
            corrections[i].per_tick[c] = random.uniform(-0.5, 0.5);
          }
          corrections[i].since = random.uniform(0.0, 3.0);
          correction.push_back(&corrections[i]);
        }
        for (std::size_t k = 0; k < count; ++k) {
          PairToPush& pair = pairs.emplace_back();
          for (std::size_t a = 0; a < 4; ++a) pair.vertex[a] = a < size ? static_cast<std::int32_t>(4 * k + a) : -1;
          pair.radii = kind.within ? 1.8 : 0.1;
          pair.parallel_from = 1e-3;
          pair.step = random.uniform(0.5, 2.0);
          pair.from = static_cast<std::int32_t>(k % 3);
          pair.to = pair.from + static_cast<std::int32_t>(k % 5);
        }
        std::vector<PairPush> pushes(count);
        const bool corrected = count % 2 == 0;
        push_kernel()(kind, contact.layers(),
                      {lines.data(), reference.data(), now, tick, corrected ? correction.data() : nullptr}, pairs,
                      pushes.data());
        for (std::size_t k = 0; k < count; ++k) {
          const PairToPush& pair = pairs[k];
          const auto expected = contact.push(kind, {pair.radii, pair.parallel_from}, std::span(places[k]).first(size),
                                             pair.from, pair.to, [&](int l) { return std::ldexp(pair.step, -l); });
          const PairPush& found = pushes[k];
          EXPECT_NEAR(found.distance, expected.distance, 1e-13);
          ASSERT_EQ(found.near, expected.near);
          ASSERT_EQ(found.touched, expected.touched);
          if (found.touched == 0) continue;
          ++touched;
          deeper += found.near > pair.from + 1 ? 1 : 0;
          Point relative{};
          double rate = 0.0, reach = 0.0, largest = expected.along;
          for (const Point& p : expected.impulse)
            for (const double c : p) largest = std::max(largest, std::abs(c));
          for (std::size_t a = 0; a < 4; ++a)
            for (std::size_t c = 0; c < 3; ++c) {
              EXPECT_NEAR(found.impulse[a][c], expected.impulse[a][c], 1e-11 * largest);
              if (a >= size) continue;
              const VelocityCorrection& by = corrections[4 * k + a];
              const double v =
                  nodes[4 * k + a].velocity[c] + (corrected ? by.change[c] + by.per_tick[c] * (now - by.since) : 0.0);
              relative[c] += expected.weight[a] * v;
              rate += expected.weight[a] * expected.normal[c] * v;
              reach = std::max(reach, std::abs(places[k][a][c]));
            }
          EXPECT_NEAR(found.rate, rate, 1e-11);
          for (std::size_t c = 0; c < 3; ++c)
            EXPECT_NEAR(found.sliding[c], relative[c] - rate * expected.normal[c], 1e-11);
          EXPECT_NEAR(found.reach, reach, 1e-14);
          EXPECT_NEAR(found.along, expected.along, 1e-11 * expected.along);
        }
      }
  EXPECT_GT(touched, 500);
  EXPECT_GT(deeper, 100);  // in several layers
}

}  // namespace
}  // namespace tempi
