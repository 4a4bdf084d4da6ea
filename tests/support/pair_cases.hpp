// SPDX-License-Identifier: Apache-2.0
// One of every pair law, with distances at which all its derivatives count, and models of particles.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "support/lattice.hpp"
#include "tempi/model/model.hpp"
#include "tempi/pair/pairs.hpp"

namespace tempi::test {

inline UserLaw user_law(const std::string& formula) { return UserLaw(Expression(formula, {})); }

struct LawCase {
  std::string name;
  std::function<PairLaw()> make;
  std::vector<double> distances;
  friend void PrintTo(const LawCase& c, std::ostream* out) { *out << c.name; }
};
inline std::vector<LawCase> law_cases() {
  return {{"lennard_jones",
           [] {
             return LennardJones{1.3, 0.9, {}};
           },
           {0.8, 0.95, 1.2, 2.1}},
          {"lennard_jones_cut_off",
           [] {
             return LennardJones{1.3, 0.9, 2.25};
           },
           {0.8, 0.95, 1.2, 2.1}},
          {"morse",
           [] {
             return Morse{1.7, 2.3, 1.1};
           },
           {0.6, 0.9, 1.4, 2.2}},
          {"spring",
           [] {
             return Spring{3.1, 0.8};
           },
           {0.3, 0.7, 1.0, 2.4}},
          {"spring_of_no_length",
           [] {
             return Spring{3.1, 0.0};
           },
           {0.3, 0.7, 1.0, 2.4}},
          {"tanh_spring",
           [] {
             return TanhSpring{4.5, 0.25, 0.8};
           },
           {0.3, 0.7, 1.0, 2.1}},
          {"gravitation", [] { return Gravitation{0.7}; }, {0.3, 0.7, 1.0, 2.4}},
          {"hertz",
           [] {
             return Hertz{5.3, 1.2};
           },
           {0.4, 0.7, 1.1}},
          {"near_part_of_lennard_jones",
           [] {
             return LawPart(LennardJones{1.3, 0.9, 2.25}, {}, LawPart::Switch{1.0, 2.0});
           },
           {0.8, 0.95, 1.2, 1.5}},
          {"middle_part_of_morse",
           [] {
             return LawPart(Morse{1.7, 2.3, 1.1}, LawPart::Switch{0.4, 1.0}, LawPart::Switch{1.1, 1.6});
           },
           {0.6, 0.9, 1.05, 1.4}},
          {"far_part_of_gravitation",
           [] {
             return LawPart(Gravitation{0.7}, LawPart::Switch{0.5, 1.3}, {});
           },
           {0.7, 1.0, 1.25, 2.4}},
          {"user", [] { return user_law("0.4*exp(-1.5*X)/X"); }, {0.3, 0.7, 1.0, 2.4}}};
}

inline double largest_entry(const std::vector<double>& values) {
  double result = 0.0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

// Points within +-radius in each component, none nearer to another than `apart`.
inline std::vector<double> random_cloud(int dim, std::size_t count, double radius, double apart, unsigned seed) {
  Random random(seed);
  const auto d = static_cast<std::size_t>(dim);
  std::vector<double> points;
  while (points.size() < count * d) {
    std::array<double, 3> x{};
    for (std::size_t c = 0; c < d; ++c) x[c] = random.uniform(-radius, radius);
    bool free = true;
    for (std::size_t i = 0; i < points.size() && free; i += d) {
      double r2 = 0.0;
      for (std::size_t c = 0; c < d; ++c) r2 += (points[i + c] - x[c]) * (points[i + c] - x[c]);
      free = r2 > apart * apart;
    }
    if (free) points.insert(points.end(), x.begin(), x.begin() + dim);
  }
  return points;
}

inline std::vector<NodePair> chain(Index count) {
  std::vector<NodePair> pairs;
  for (Index a = 0; a + 1 < count; ++a) pairs.push_back({make_id<NodeId>(a), make_id<NodeId>(a + 1)});
  return pairs;
}

// Particles without potentials, sharing their masses by stiffness.
inline Model::Parts particles(int dim, std::vector<double> reference, std::vector<double> mass) {
  Model::Parts parts;
  parts.dim = dim;
  parts.reference = std::move(reference);
  parts.mass = std::move(mass);
  parts.shares = MassShares::balanced;
  return parts;
}
inline void add_pairs(Model::Parts& parts, std::vector<NodePair> pairs, PairLaw law, const Box& box = {}) {
  parts.add(make_pairs(parts.reference, parts.dim, parts.mass, std::move(pairs), std::move(law), box));
}

}  // namespace tempi::test
