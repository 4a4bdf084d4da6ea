// SPDX-License-Identifier: Apache-2.0
// What batches measure, watch and follow, against energy and add_gradient.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "support/batches.hpp"

namespace tempi::test {

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
