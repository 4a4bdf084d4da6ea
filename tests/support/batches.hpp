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

// The same of a change with displacements w, against sum_b H_ab w_b: w by line, and where place_shifts has said.
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
    for (std::size_t i = 0; i < w.size(); ++i)
      shifts[static_cast<std::size_t>(place[static_cast<std::size_t>(rest.place[i / d])])].displacement[i % d] = w[i];
    Lines lines = rest;
    batch->strike_change(0, std::ssize(terms), time_now, lines.nodes, shifts, {});
    for (std::size_t i = 0; i < u.size(); ++i) {
      const NodeLine& node = lines.of(make_id<NodeId>(static_cast<Index>(i / d)));
      const double difference = std::abs(node.velocity[i % d] / node.inverse_mass - expected[i]);
      if (!(difference <= worst)) worst = difference;
    }
  }
  return worst / largest(expected);
}

struct Measured {
  std::vector<double> energies, gradients;  // gradients: rows of batch->row()
};
inline Measured measured(const Batch& batch, Index first, Index last, std::span<const NodeLine> nodes) {
  const auto padded = static_cast<std::size_t>((last - first + Batch::grain - 1) / Batch::grain * Batch::grain);
  Measured result{std::vector<double>(padded, std::nan("")),
                  std::vector<double>(padded * static_cast<std::size_t>(batch.row()), std::nan(""))};
  batch.measure(first, last, time_now, nodes, result.energies, result.gradients);
  result.energies.resize(static_cast<std::size_t>(last - first));
  result.gradients.resize(static_cast<std::size_t>((last - first) * batch.row()));
  return result;
}

// Largest difference of what a batch that can follow a flight finds from energy and add_gradient, over the largest of
// its kind.
inline double deviation_of_followed(const Potential& potential, std::span<const Index> terms,
                                    const std::vector<double>& u, const Batch& batch, const Lines& lines) {
  const auto d = static_cast<std::size_t>(potential.dim()), W = static_cast<std::size_t>(pack_width());
  const Index size = std::ssize(terms);
  const Lines later = lines_of(u, potential.dim(), 1.0, 4);  // the same places, other velocities
  AlignedVector<double> kept(static_cast<std::size_t>(Batch::padded(size) * batch.followed()), std::nan(""));
  std::vector<double> rates((terms.size() + W - 1) / W * W, std::nan("")), turned = rates;
  std::vector<double> gradient(u.size(), 0.0), expected_gradient = gradient;
  Lines now = lines;
  for (std::size_t a = 0; a < lines.place.size(); ++a) {
    const NodeId node = make_id<NodeId>(static_cast<Index>(a));
    std::copy_n(later.of(node).velocity, 3, now.of(node).velocity);
  }
  // To the places meant from places before them, and off again with other velocities.
  AlignedVector<double> flight(2 * kept.size(), std::nan(""));
  AlignedVector<NodeShift> reference(lines.nodes.size());
  const double s = 0.1 * largest(u);
  Lines earlier = lines;
  for (NodeLine& node : earlier.nodes)
    for (std::size_t c = 0; c < 3; ++c) node.displacement[c] -= s * node.velocity[c];
  batch.depart(0, size, earlier.nodes, reference, 0.0, flight);
  const Batch::Followed found = batch.follow(0, size, s, flight, rates, kept);
  batch.depart(0, size, now.nodes, reference, 0.0, flight);
  const Batch::Followed then = batch.turn(0, size, flight, turned, kept);
  batch.add_gradient(0, size, kept, gradient);
  double V = 0.0, magnitude = 0.0, largest_rate = 0.0, worst_rate = 0.0;
  std::array<double, 2> rate{}, noise{};
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto stencil = potential.stencil(terms[i]);
    std::vector<double> g(stencil.size() * d, 0.0);
    potential.add_gradient(terms[i], u, time_now, g);
    V += potential.energy(terms[i], u, time_now);
    magnitude += std::abs(potential.energy(terms[i], u, time_now));
    std::array<double, 2> own{};
    for (std::size_t c = 0; c < g.size(); ++c) {
      own[0] += g[c] * lines.of(stencil[c / d]).velocity[c % d];
      own[1] += g[c] * now.of(stencil[c / d]).velocity[c % d];
      expected_gradient[static_cast<std::size_t>(lines.place[ordinal(stencil[c / d])]) * d + c % d] += g[c];
    }
    for (std::size_t j = 0; j < 2; ++j) {
      rate[j] += own[j], noise[j] += std::abs(own[j]);
      largest_rate = std::max(largest_rate, std::abs(own[j]));
    }
    const double off = std::max(std::abs(rates[i] - own[0]), std::abs(turned[i] - own[1]));
    if (!(off <= worst_rate)) worst_rate = off;
  }
  for (std::size_t i = terms.size(); i < rates.size(); ++i) EXPECT_EQ(rates[i], 0.0);
  EXPECT_EQ(then.V, 0.0);
  double worst = 0.0;
  for (const double off :
       {std::abs(found.V - V) / magnitude, std::abs(found.magnitude - magnitude) / magnitude,
        std::abs(found.rate - rate[0]) / noise[0], std::abs(then.rate - rate[1]) / noise[1], worst_rate / largest_rate,
        largest_difference(gradient, expected_gradient) / largest(expected_gradient)})
    if (!(off <= worst)) worst = off;
  return worst;
}

// Largest difference of what a batch that watches finds, energies and works with any mean velocities, from energy and
// add_gradient, over the largest of its kind; the nodes it leaves have the bits of a strike.
inline double deviation_of_watched(const Potential& potential, std::span<const Index> terms,
                                   const std::vector<double>& u, const Batch& batch, const Lines& lines) {
  const auto d = static_cast<std::size_t>(potential.dim());
  const auto room = static_cast<std::size_t>(Batch::padded(std::ssize(terms)));
  AlignedVector<double> kept(room * static_cast<std::size_t>(batch.kept()), std::nan(""));
  AlignedVector<double> energies(room), kinetic(room), work(room);
  AlignedVector<NodeMean> means(lines.nodes.size());
  Random random(9);
  for (NodeMean& mean : means) {
    for (std::size_t c = 0; c < d; ++c) mean.velocity[c] = random.uniform(-1.0, 1.0);
    mean.kinetic = random.uniform(0.0, 1.0);
  }
  Lines watched = lines, struck = lines;
  EXPECT_TRUE(batch.watch(0, std::ssize(terms), strike_step, time_now, watched.nodes, energies, kept));
  EXPECT_TRUE(batch.strike(0, std::ssize(terms), strike_step, time_now, struck.nodes));
  EXPECT_TRUE(same_bits(watched, struck));
  batch.works(0, std::ssize(terms), means, kept, kinetic, work);
  std::array<double, 3> off{}, scale{};
  const auto compare = [&](std::size_t what, double found, double expected) {
    const double difference = std::abs(found - expected);
    if (!(difference <= off[what])) off[what] = difference;
    scale[what] = std::max(scale[what], std::abs(expected));
  };
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const auto stencil = potential.stencil(terms[i]);
    std::vector<double> g(stencil.size() * d, 0.0);
    potential.add_gradient(terms[i], u, time_now, g);
    double done = 0.0, sum = 0.0;
    for (std::size_t a = 0; a < stencil.size(); ++a) {
      const NodeMean& mean = means[static_cast<std::size_t>(lines.place[ordinal(stencil[a])])];
      for (std::size_t c = 0; c < d; ++c) done -= strike_step * g[a * d + c] * mean.velocity[c];
      sum += mean.kinetic;
    }
    compare(0, energies[i], potential.energy(terms[i], u, time_now));
    compare(1, work[i], done);
    compare(2, kinetic[i], sum);
  }
  double worst = 0.0;
  for (std::size_t what = 0; what < 3; ++what)
    if (!(off[what] / scale[what] <= worst)) worst = off[what] / scale[what];
  return worst;
}

// Largest differences of what a batch measures from energy and add_gradient, over the largest of them.
struct Deviations {
  double energy, gradient;
};
inline Deviations deviations_of_measured(const Potential& potential, std::span<const Index> terms,
                                         const std::vector<double>& u) {
  const Lines lines = lines_of(u, potential.dim(), 1.0, 3);
  const auto batch = potential.batch(terms, lines.place);
  const Measured found = measured(*batch, 0, static_cast<Index>(terms.size()), lines.nodes);
  double energy = 0.0, gradient = 0.0, energy_scale = 0.0, gradient_scale = 0.0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const double V = potential.energy(terms[i], u, time_now);
    std::vector<double> g(potential.stencil(terms[i]).size() * static_cast<std::size_t>(potential.dim()), 0.0);
    potential.add_gradient(terms[i], u, time_now, g);
    const auto row = std::span(found.gradients).subspan(i * static_cast<std::size_t>(batch->row()), g.size());
    energy = std::max(energy, std::abs(found.energies[i] - V));
    gradient = std::max(gradient, largest_difference(row, g));
    energy_scale = std::max(energy_scale, std::abs(V));
    gradient_scale = std::max(gradient_scale, largest(g));
  }
  EXPECT_GT(energy_scale, 0.0);
  gradient /= gradient_scale;
  if (batch->followed() > 0) {
    const double followed = deviation_of_followed(potential, terms, u, *batch, lines);
    if (!(followed <= gradient)) gradient = followed;
  }
  if (batch->kept() > 0) {
    const double watched = deviation_of_watched(potential, terms, u, *batch, lines);
    if (!(watched <= gradient)) gradient = watched;
  }
  return {energy / energy_scale, gradient};
}

}  // namespace tempi::test
