// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/load_work_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace tempi::test {
namespace {

// Against the sums written out, of two strikes with the nodes elsewhere: rows whose forces change and such that do not.
TEST(LoadWorkKernel, SumsWhatForcesDoWithVelocitiesAndOnTheWay) {
  constexpr std::size_t lines = 40, rows = 7, N = 4;
  std::mt19937 random(3);
  const auto number = [&] { return std::uniform_real_distribution<double>(-1.0, 1.0)(random); };
  for (const std::size_t d : {1u, 2u, 3u})
    for (const bool changes : {false, true}) {
      SCOPED_TRACE(testing::Message() << d << " dimensions" << (changes ? ", changing" : ""));
      std::vector<std::array<std::int32_t, Eight::lanes>> of(rows * N);
      for (auto& row : of)
        for (std::int32_t& line : row) line = static_cast<std::int32_t>(random() % lines);
      std::vector<LoadRow> parts;  // the second, fourth, sixth: of one component where there are more
      Index numbers = 0;
      for (std::size_t row = 0; row < rows; ++row) {
        const bool one = d > 1 && row % 2 == 1;
        parts.push_back({one ? static_cast<std::int32_t>(row / 2 % d) : LoadRow::all, numbers});
        numbers += static_cast<Index>(N * (one ? 1 : d));
      }
      std::vector<Eight> force(static_cast<std::size_t>(numbers)), before(changes ? force.size() : 0), way(rows),
          power(rows), work(rows);
      for (Eight& f : force)
        for (double& x : f.lane) x = number();
      std::vector<NodeLine> nodes(lines), last(lines);  // at rest in the origin
      std::vector<NodeMean> means(lines);
      for (int strike = 0; strike < 2; ++strike) {
        for (std::size_t i = 0; i < lines; ++i)
          for (std::size_t c = 0; c < d; ++c) {
            nodes[i].displacement[c] = number();
            means[i].velocity[c] = number();
          }
        load_work_kernel(static_cast<int>(d))({N, of.data(), parts.data(), force.data(),
                                               changes ? before.data() : nullptr, way.data()},
                                              0, rows, nodes.data(), means.data(), power.data(), work.data());
        for (std::size_t row = 0; row < rows; ++row)
          for (std::size_t lane = 0; lane < Eight::lanes; ++lane) {
            double fv = 0.0, fu = 0.0;
            auto f = static_cast<std::size_t>(parts[row].force);
            for (std::size_t a = row * N; a < (row + 1) * N; ++a)
              for (std::size_t c = 0; c < d; ++c) {
                if (parts[row].component != LoadRow::all && parts[row].component != static_cast<std::int32_t>(c))
                  continue;
                const auto line = static_cast<std::size_t>(of[a][lane]);
                fv += force[f].lane[lane] * means[line].velocity[c];
                fu += force[f].lane[lane] * (nodes[line].displacement[c] - last[line].displacement[c]);
                ++f;
              }
            EXPECT_NEAR(power[row].lane[lane], fv, 1e-14);
            EXPECT_NEAR(work[row].lane[lane], fu, 1e-14);
          }
        last = nodes;
      }
      if (d == 1) continue;  // a control: of the wrong component nothing is right
      const std::vector<Eight> right = power;
      for (const std::size_t row : {1u, 3u, 5u})
        parts[row].component = (parts[row].component + 1) % static_cast<std::int32_t>(d);
      load_work_kernel(static_cast<int>(d))({N, of.data(), parts.data(), force.data(),
                                             changes ? before.data() : nullptr, way.data()},
                                            0, rows, nodes.data(), means.data(), power.data(), work.data());
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t lane = 0; lane < Eight::lanes; ++lane)
          EXPECT_EQ(std::abs(power[row].lane[lane] - right[row].lane[lane]) > 1e-10, row % 2 == 1);
    }
}

// Rows one after the other, as blocks of terms on threads take them, are the same bits.
TEST(LoadWorkKernel, TakesAnyRows) {
  constexpr std::size_t rows = 6, N = 2;
  std::vector<std::array<std::int32_t, Eight::lanes>> of(rows * N);
  std::vector<Eight> force(rows * N * 3), way(rows), other_way(rows), power(rows), work(rows), one(1), other(1);
  std::vector<LoadRow> parts;
  for (std::size_t row = 0; row < rows; ++row)
    parts.push_back({row % 3 == 0 ? 1 : LoadRow::all, static_cast<Index>(row * N * 3)});
  std::vector<NodeLine> nodes(9);
  std::vector<NodeMean> means(9);
  for (std::size_t i = 0; i < 9; ++i)
    nodes[i].displacement[i % 3] = means[i].velocity[1] = 0.1 * static_cast<double>(i * i);
  for (std::size_t i = 0; i < of.size(); ++i) of[i].fill(static_cast<std::int32_t>(i % 9));
  for (std::size_t i = 0; i < force.size(); ++i) force[i].lane.fill(static_cast<double>(i % 7) - 3.0);
  const LoadWorkKernel kernel = load_work_kernel(3);
  kernel({N, of.data(), parts.data(), force.data(), nullptr, way.data()}, 0, rows, nodes.data(), means.data(),
         power.data(), work.data());
  for (std::size_t row = 0; row < rows; ++row) {
    const auto first = static_cast<Index>(row);
    kernel({N, of.data(), parts.data(), force.data(), nullptr, other_way.data()}, first, first + 1, nodes.data(),
           means.data(), one.data(), other.data());
    EXPECT_EQ(one[0].lane, power[row].lane);
    EXPECT_EQ(other[0].lane, work[row].lane);
    EXPECT_EQ(other_way[row].lane, way[row].lane);
    EXPECT_NE(power[row].lane[0], 0.0);
  }
}

}  // namespace
}  // namespace tempi::test
