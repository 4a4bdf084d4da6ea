// SPDX-License-Identifier: Apache-2.0
// Times every candidate that this processor can run on the same batches, interleaved; checks each against plain double.
//   bench_simd [repetitions]       nanoseconds of processor time per element: smallest and median
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include "strike.hpp"

namespace tempi::bench {

#define TEMPI_ENTRY(name)       \
  namespace name {              \
  extern const Candidate entry; \
  }
#include "candidates.inc"
#undef TEMPI_ENTRY
#define TEMPI_ENTRY(name) &name::entry,
const Candidate* const all[] = {
#include "candidates.inc"
};

double now() {  // [ns]
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

bool runs_here(std::string_view name) {
#if defined(__x86_64__)
  if (name.find("avx512") != name.npos)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd");
  if (name.find("avx2") != name.npos) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return true;
}

// n^3 jittered cubes of six tetrahedra each; cubes and nodes along a Z-order curve.
struct Block {
  std::vector<Node> nodes;
  std::vector<std::array<std::int32_t, 4>> cells;
  std::vector<std::array<double, 10>> geometry;
};

std::uint64_t z_order(std::array<int, 3> p) {
  std::uint64_t key = 0;
  for (int bit = 0; bit < 10; ++bit)
    for (int d = 0; d < 3; ++d) key |= std::uint64_t((p[static_cast<std::size_t>(d)] >> bit) & 1) << (3 * bit + d);
  return key;
}

std::vector<std::array<int, 3>> along_curve(int n) {
  std::vector<std::array<int, 3>> places;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      for (int k = 0; k < n; ++k) places.push_back({i, j, k});
  std::ranges::sort(places, {}, z_order);
  return places;
}

Block make_block(int n) {
  Block block;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> jitter(-0.15, 0.15);
  const auto points = along_curve(n + 1);
  std::vector<std::array<double, 3>> X;
  std::vector<std::int32_t> id(points.size());
  const auto at = [n](int i, int j, int k) { return static_cast<std::size_t>((i * (n + 1) + j) * (n + 1) + k); };
  for (const auto [i, j, k] : points) {
    id[at(i, j, k)] = static_cast<std::int32_t>(X.size());
    X.push_back({i + jitter(random), j + jitter(random), k + jitter(random)});
    Node node{};
    for (double& u : node.u) u = 0.3 * jitter(random);
    node.inverse_mass = 1.0 + jitter(random);
    block.nodes.push_back(node);
  }
  for (const auto p : along_curve(n)) {
    std::array<int, 3> axis = {0, 1, 2};
    do {
      std::array<std::int32_t, 4> cell;
      auto q = p;
      cell[0] = id[at(q[0], q[1], q[2])];
      for (std::size_t a = 0; a < 3; ++a) {
        ++q[static_cast<std::size_t>(axis[a])];
        cell[a + 1] = id[at(q[0], q[1], q[2])];
      }
      Mat<double, 3> J;
      for (int turn = 0; turn < 2; ++turn) {
        for (int i = 0; i < 3; ++i)
          for (int a = 0; a < 3; ++a)
            J(i, a) = X[static_cast<std::size_t>(cell[static_cast<std::size_t>(a) + 1])][static_cast<std::size_t>(i)] -
                      X[static_cast<std::size_t>(cell[0])][static_cast<std::size_t>(i)];
        if (determinant(J) > 0.0) break;
        std::swap(cell[2], cell[3]);
      }
      const Mat<double, 3> inverse = transpose((1.0 / determinant(J)) * cofactor(J));
      std::array<double, 10> g;
      std::ranges::copy(inverse.a, g.begin());
      g[9] = determinant(J) / 6.0;
      block.cells.push_back(cell);
      block.geometry.push_back(g);
    } while (std::ranges::next_permutation(axis).found);
  }
  return block;
}

struct alignas(64) CacheLine {
  double value[8];
};

struct Packed {
  std::vector<std::int32_t> nodes;
  std::vector<CacheLine> geometry;
  std::int64_t packs;

  Batch batch() const { return {packs, nodes.data(), geometry.front().value}; }
};

// Elements in order, the last pack filled up with elements of no volume. With spread > 1, the lanes of a pack are
// elements `spread` apart, so that neighbours do not kick one node directly after each other.
Packed pack(const Block& block, int width, int spread) {
  const auto w = static_cast<std::size_t>(width), s = static_cast<std::size_t>(spread);
  const std::size_t tile = 8 * s, n = (block.cells.size() + tile - 1) / tile * tile;
  Packed p;
  p.packs = static_cast<std::int64_t>(n / w);
  p.nodes.resize(4 * n);
  p.geometry.resize(10 * n / 8);
  for (std::size_t k = 0; k < n / w; ++k)
    for (std::size_t l = 0; l < w; ++l) {
      const std::size_t place = k * w + l, in = place % (w * s);
      const std::size_t cell = spread == 1 ? place : place - in + (in % w) * s + in / w;
      const std::size_t c = std::min(cell, block.cells.size() - 1);
      for (std::size_t a = 0; a < 4; ++a) p.nodes[(4 * k + a) * w + l] = block.cells[c][a];
      for (std::size_t i = 0; i < 10; ++i) {
        const std::size_t at = (10 * k + i) * w + l;
        p.geometry[at / 8].value[at % 8] = cell == c || i < 9 ? block.geometry[c][i] : 0.0;
      }
    }
  return p;
}

struct Timing {
  double smallest, median;
};

void time_strikes(int n, int spread, int repetitions, const std::vector<const Candidate*>& candidates) {
  const Block block = make_block(n);
  const NeoHookean material{{2.0, 1.0}};
  const double step = 1e-3;
  std::vector<Packed> packed;
  std::vector<double> error;
  std::vector<Node> reference;
  for (const Candidate* c : candidates) {
    packed.push_back(pack(block, c->width, spread));
    const Packed& p = packed.back();
    auto nodes = block.nodes;
    c->strike(p.batch(), nodes.data(), step, material);
    if (reference.empty()) reference = nodes;
    double largest = 0.0, difference = 0.0;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (std::size_t d = 0; d < 3; ++d) {
        largest = std::max(largest, std::abs(reference[i].v[d]));
        difference = std::max(difference, std::abs(reference[i].v[d] - nodes[i].v[d]));
        if (nodes[i].inverse_mass != block.nodes[i].inverse_mass || nodes[i].u[d] != block.nodes[i].u[d]) largest = NAN;
      }
    error.push_back(difference / largest);
  }
  const int passes = std::max(1, static_cast<int>(50000 / block.cells.size()));
  auto nodes = block.nodes;
  std::vector<std::vector<double>> times(candidates.size());
  for (int r = 0; r < repetitions; ++r)
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const Packed& p = packed[i];
      const Batch batch = p.batch();
      candidates[i]->strike(batch, nodes.data(), step, material);  // caches
      const double start = now();
      for (int k = 0; k < passes; ++k) candidates[i]->strike(batch, nodes.data(), step, material);
      times[i].push_back((now() - start) / (passes * static_cast<double>(p.packs * candidates[i]->width)));
    }
  std::printf("\n%zu elements, %zu nodes, lanes %d apart\n%-28s %8s %8s  %s\n", block.cells.size(), nodes.size(),
              spread, "", "min ns", "median", "largest difference");
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::ranges::sort(times[i]);
    std::printf("%-28s %8.2f %8.2f  %.1e%s\n", candidates[i]->name, times[i].front(), times[i][times[i].size() / 2],
                error[i], error[i] < 1e-12 ? "" : "  WRONG");
  }
}

// Largest error in units of the last place, and time per value.
void check_log1p(const std::vector<const Candidate*>& candidates) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> power(-60.0, 0.0), unit(-0.9, 3.0), near(-0.35, 0.45);
  std::vector<double> x, y;
  for (int i = 0; i < 1 << 14; ++i) {
    x.push_back((i % 2 ? 1.0 : -0.9) * std::exp2(power(random)));
    x.push_back(unit(random));
    x.push_back(near(random));
    x.push_back(near(random));
  }
  y.resize(x.size());
  std::printf("\nlog1p: largest error [ulp], min ns per value\n");
  for (const Candidate* c : candidates) {
    const auto n = static_cast<std::int64_t>(x.size());
    double best = 1e300, error = 0.0;
    for (int r = 0; r < 15; ++r) {
      const double start = now();
      c->log1p(x.data(), y.data(), n);
      best = std::min(best, (now() - start) / static_cast<double>(n));
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double exact = std::log1p(static_cast<long double>(x[i]));
      const double rounded = std::abs(static_cast<double>(exact));
      const double ulp = std::nextafter(rounded, INFINITY) - rounded;
      error = std::max(error, static_cast<double>(std::abs(y[i] - exact)) / ulp);
    }
    std::printf("%-28s %8.2f %8.2f\n", c->name, error, best);
  }
}

}  // namespace tempi::bench

int main(int count, char** arguments) {
  using namespace tempi::bench;
  const int repetitions = count > 1 ? std::max(1, std::atoi(arguments[1])) : 60;
  std::vector<const Candidate*> candidates;
  for (const Candidate* c : all)
    if (runs_here(c->name)) candidates.push_back(c);
  check_log1p(candidates);
  for (const int spread : {1, 24})
    for (const int n : {9, 26}) time_strikes(n, spread, repetitions, candidates);
}
