// SPDX-License-Identifier: Apache-2.0
// Two nodes and what a law makes of their distance: what potentials of pairs are made of.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tempi/pair/pair_kernels.hpp"
#include "tempi/pair/pair_laws.hpp"
#include "tempi/space/box.hpp"

namespace tempi {

struct Separation {
  double r;                 // [m]
  std::array<double, 3> n;  // from the first node to the second, of unit length
};
// Of two nodes, between nearest images; `reference`, u: dim components a node.
Separation separation_of(const NodePair& pair, std::span<const double> reference, std::span<const double> u, int dim,
                         const Box& box);

PackedBox packed_box(const Box& box, int dim);

class PairGeometry {
 public:
  // `reference` [m]: dim components a node; `masses` [kg]: one a node. Throws InputError: a parameter of a law out of
  // range, a reach of more than half a length of the box.
  PairGeometry(std::span<const double> reference, int dim, std::span<const double> masses, std::vector<PairLaw> laws,
               const Box& box);
  // Of spheres, each with its radius [m]: `largest` is the law of two of unit radius of curvature, stiffness 4/3 E*
  // [Pa], and its length the largest sum of two radii.
  PairGeometry(std::span<const double> reference, int dim, std::vector<double> radii, const Hertz& largest,
               const Box& box);

  int dim() const { return dim_; }
  // Where pairs have laws of their own, `l` tells whose is meant here and below.
  const PairLaw& law(std::size_t l = 0) const { return laws_[l]; }
  std::size_t law_count() const { return laws_.size(); }
  const Box& box() const { return box_; }
  bool by_masses() const { return !masses_.empty(); }       // the pair's are a factor of the law
  std::span<const double> radii() const { return radii_; }  // empty: pairs do not differ in them
  std::span<const double> reference() const { return reference_; }
  Index node_count() const { return static_cast<Index>(reference_.size()) / dim_; }
  double factor(const NodePair& pair) const {
    return masses_.empty() ? 1.0 : masses_[ordinal(pair[0])] * masses_[ordinal(pair[1])];
  }
  PairValues values(const NodePair& pair, double r, std::size_t l = 0) const;  // with the factor

  Separation separation(const NodePair& pair, std::span<const double> u) const {
    return separation_of(pair, reference_, u, dim_, box_);
  }

  double energy(const NodePair& pair, std::span<const double> u, std::size_t l = 0) const {
    return values(pair, separation(pair, u).r, l).V;
  }
  struct Force {
    double admissibility;            // the distance, or NaN where the force is not finite
    std::array<double, 3> gradient;  // dV/dx of the second node; the first has its negative
  };
  Force force(const NodePair& pair, std::span<const double> u, std::size_t l = 0) const;
  // H += the 2 dim by 2 dim Hessian, row major; `positive`: what it is without its negative eigenvalues.
  enum class Part { all, positive };
  void add_hessian(const NodePair& pair, std::span<const double> u, std::span<double> H, std::size_t l = 0,
                   Part part = Part::all) const;

  // Where a node is: "(0.5, 0.25)".
  std::string place(NodeId a, std::span<const double> u) const;
  // Potential::fault of this pair, called `name`.
  std::string fault(const std::string& name, const NodePair& pair, std::span<const double> u, double t,
                    double admissibility) const;

 private:
  std::vector<double> reference_;
  int dim_;
  std::vector<double> masses_;  // of gravitation; otherwise empty
  std::vector<double> radii_;
  std::vector<PairLaw> laws_;
  Box box_;
};

// The kernel of a law and what it wants to know; none where a law has only a scalar form.
struct PackedLawChoice {
  PackedLawKind kind;
  PackedLaw law;
  bool part = false;  // LawPart
};
std::optional<PackedLawChoice> packed_law(const PairLaw& law);
PackedLawChoice packed_spheres(const Hertz& largest);  // as PairGeometry has it

}  // namespace tempi
