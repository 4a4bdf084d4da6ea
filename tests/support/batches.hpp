// SPDX-License-Identifier: Apache-2.0
// Batches against the loop over add_gradient, with every instruction set this machine has.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "support/runs.hpp"
#include "tempi/core/aligned_vector.hpp"
#include "tempi/simd/instruction_set.hpp"
#include "tempi/simd/node_line.hpp"

namespace tempi::test {

constexpr double strike_step = 0.37, time_now = 0.6;

// Asks for an instruction set while it lives.
class Instructions {
 public:
  explicit Instructions(const std::string& name) {
    if (const char* old = std::getenv(variable)) before_ = old;
    setenv(variable, name.c_str(), 1);
  }
  ~Instructions() { before_ ? setenv(variable, before_->c_str(), 1) : unsetenv(variable); }
  Instructions(const Instructions&) = delete;
  Instructions& operator=(const Instructions&) = delete;

 private:
  static constexpr const char* variable = "TEMPI_INSTRUCTIONS";
  std::optional<std::string> before_;
};

inline std::vector<std::string> instruction_sets() {
  std::vector<std::string> result;
  for (const std::string name : {"baseline", "avx2", "avx512"}) {
    const Instructions wish(name);
    if (name_of(instruction_set()) == name) result.push_back(name);
  }
  return result;
}

// ---- lines of nodes ----

// Nodes in lines of a random order, which move anyhow; what strikes must leave alone is no round number.
struct Lines {
  std::vector<std::int32_t> place;
  AlignedVector<NodeLine> nodes;

  NodeLine& of(NodeId a) { return nodes[static_cast<std::size_t>(place[static_cast<std::size_t>(index(a))])]; }
  const NodeLine& of(NodeId a) const {
    return nodes[static_cast<std::size_t>(place[static_cast<std::size_t>(index(a))])];
  }
};

template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[static_cast<std::size_t>(random.below(static_cast<Index>(i)))]);
}

inline Lines lines_of(const std::vector<double>& u, int dim, double speed, unsigned seed) {
  Random random(seed);
  const auto d = static_cast<std::size_t>(dim);
  Lines lines;
  lines.place.resize(u.size() / d);
  std::iota(lines.place.begin(), lines.place.end(), 0);
  shuffle(lines.place, random);
  lines.nodes.resize(lines.place.size());
  for (std::size_t a = 0; a < lines.place.size(); ++a) {
    NodeLine& node = lines.of(make_id<NodeId>(static_cast<Index>(a)));
    for (std::size_t c = 0; c < d; ++c) {
      node.displacement[c] = u[a * d + c];
      node.velocity[c] = random.uniform(-speed, speed);
    }
    node.clock = random.uniform(0.0, 1e6);
    node.inverse_mass = random.uniform(0.1, 10.0);
  }
  return lines;
}

inline bool same_bits(const NodeLine& a, const NodeLine& b) { return std::memcmp(&a, &b, sizeof(NodeLine)) == 0; }
inline bool same_bits(const Lines& a, const Lines& b) {
  return std::memcmp(a.nodes.data(), b.nodes.data(), a.nodes.size() * sizeof(NodeLine)) == 0;
}

inline std::vector<Index> shuffled_terms(const Potential& potential, unsigned seed) {
  std::vector<Index> terms(static_cast<std::size_t>(potential.size()));
  std::iota(terms.begin(), terms.end(), Index{0});
  Random random(seed);
  shuffle(terms, random);
  return terms;
}

// ---- the slow way ----

struct Struck {
  std::vector<double> impulse;  // [N s], dim components a node
  bool admissible = true;
};
inline Struck loop(const Potential& potential, std::span<const Index> terms, const std::vector<double>& u) {
  const auto d = static_cast<std::size_t>(potential.dim());
  Struck result{std::vector<double>(u.size(), 0.0)};
  for (const Index k : terms) {
    const auto stencil = potential.stencil(k);
    std::vector<double> g(stencil.size() * d, 0.0);
    const double smallest = potential.add_gradient(k, u, time_now, g);
    result.admissible = result.admissible && smallest > 0.0 && std::isfinite(smallest);
    for (std::size_t i = 0; i < g.size(); ++i)
      result.impulse[static_cast<std::size_t>(index(stencil[i / d])) * d + i % d] -= strike_step * g[i];
  }
  return result;
}

// Largest difference of a batch's impulses, nodes at rest before, from those of the loop, over the largest of them.
inline double deviation(const Potential& potential, std::span<const Index> terms, const std::vector<double>& u) {
  const auto d = static_cast<std::size_t>(potential.dim());
  Lines lines = lines_of(u, potential.dim(), 0.0, 3);
  const auto batch = potential.batch(terms, lines.place);
  EXPECT_TRUE(batch->strike(0, static_cast<Index>(terms.size()), strike_step, time_now, lines.nodes));
  const Struck expected = loop(potential, terms, u);
  EXPECT_TRUE(expected.admissible);
  EXPECT_GT(largest(expected.impulse), 0.0);
  double worst = 0.0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    const NodeLine& node = lines.of(make_id<NodeId>(static_cast<Index>(i / d)));
    const double difference = std::abs(node.velocity[i % d] / node.inverse_mass - expected.impulse[i]);
    if (!(difference <= worst)) worst = difference;
  }
  return worst / largest(expected.impulse);
}

// The same of a change with displacements w, against sum_b H_ab w_b: w by line, and where place_shifts has said; of
// velocities, and of the impulses given.
inline double deviation_of_change(const Potential& potential, std::span<const Index> terms,
                                  const std::vector<double>& u, const std::vector<double>& w) {
  const auto d = static_cast<std::size_t>(potential.dim());
  std::vector<double> expected(u.size(), 0.0);
  for (const Index k : terms)
    potential.each_hessian_piece(k, u, time_now, [&](std::span<const NodeId> nodes, std::span<const double> H) {
      const std::size_t n = nodes.size() * d;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          expected[ordinal(nodes[i / d]) * d + i % d] -= H[i * n + j] * w[ordinal(nodes[j / d]) * d + j % d];
    });
  const Lines rest = lines_of(u, potential.dim(), 0.0, 3);
  const auto batch = potential.batch(terms, rest.place);
  const std::size_t count = rest.nodes.size();
  std::vector<std::int32_t> by_line(count), elsewhere(count);
  std::iota(by_line.begin(), by_line.end(), 0);
  for (std::size_t line = 0; line < count; ++line) elsewhere[line] = static_cast<std::int32_t>(2 * count - line);
  double worst = 0.0;
  for (const bool told : {false, true}) {
    const std::vector<std::int32_t>& place = told ? elsewhere : by_line;
    if (told) batch->place_shifts(place);
    AlignedVector<NodeShift> shifts(2 * count + 1);
    for (NodeShift& shift : shifts) std::ranges::fill(shift.displacement, std::nan(""));
    for (std::size_t i = 0; i < w.size(); ++i) {
      NodeShift& shift = shifts[static_cast<std::size_t>(place[static_cast<std::size_t>(rest.place[i / d])])];
      if (i % d == 0) shift = {};
      shift.displacement[i % d] = w[i];
    }
    Lines lines = rest;
    std::vector<double> impulses(static_cast<std::size_t>(Batch::padded(std::ssize(terms)) * batch->row()), 0.0),
        given(u.size(), 0.0);
    batch->strike_change(0, std::ssize(terms), time_now, lines.nodes, shifts, impulses);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const double* p = &impulses[i * static_cast<std::size_t>(batch->row())];
      for (const NodeId a : potential.stencil(terms[i]))
        for (std::size_t c = 0; c < d; ++c) given[ordinal(a) * d + c] += *p++;
    }
    for (std::size_t i = 0; i < u.size(); ++i) {
      const NodeLine& node = lines.of(make_id<NodeId>(static_cast<Index>(i / d)));
      for (const double p : {node.velocity[i % d] / node.inverse_mass, given[i]})
        if (!(std::abs(p - expected[i]) <= worst)) worst = std::abs(p - expected[i]);
    }
  }
  return worst / largest(expected);
}

}  // namespace tempi::test
