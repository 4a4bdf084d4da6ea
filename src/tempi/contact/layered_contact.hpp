// SPDX-License-Identifier: Apache-2.0
// Contact by layers (layer_law.hpp) between the pairs of a surface: what one [[contact]] is. It knows the law, the
// pairs, their steps and what a pair does; who is there at a time is the integrator's
// (integrator/lattice/lattice_contact.hpp).
//
//   V = sum over pairs, layers of  m V_l(d - R),   d the distance of the simplices, R the radii of their spheres; V_l(R
//   - d) of a vertex within something hollow, d from its centre or axis, R what its radius leaves, m = S(|e_1 x e_2|^2
//   / (1e-3 |E_1|^2 |E_2|^2)) S(4 s) S(4 - 4 s) S(4 t) S(4 - 4 t) for two edges e, of E in the reference configuration,
//   whose closest points are at the parts s and t of them; S(x) = x^2 (3 - 2 x), 0 below 0 and 1 beyond 1; otherwise m
//   = 1
//
// The factor m takes two edges away smoothly as they become parallel, where their closest points jump, and as these
// near their ends, which are vertices near faces then: without it two vertices that meet would be pushed by all pairs
// of their edges, too. Where m is not zero layers still grow without end, so no edge passes an edge. Momenta are exact:
// V depends on distances, areas and ratios of lengths only.
//
// Steps: h_l of a pair is a power of two of the model's tick, at most alpha 2 sqrt(m / (2 n k)), m the lightest of its
// nodes, n the pairs that a vertex may have, k = 4/3 of the layer's largest curvature (all softer layers with it), and
// at most a tenth of the layer's crossing time (eta_l - eta_(l+1)) / v.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "tempi/contact/contact_surface.hpp"
#include "tempi/contact/layer_law.hpp"
#include "tempi/contact/push_formula.hpp"

namespace tempi {

struct LayerOptions {
  LayerLaw law;
  double alpha = 0.05;       // share of the stable step
  double pairs = 8.0;        // at a vertex, that steps allow for
  double speed = 0.0;        // [m/s], at which layers may be crossed
  double friction = 0.0;     // Coulomb's coefficient
  double restitution = 1.0;  // part of the energy of a layer that is given back
  bool all_pairs = false;    // all pairs and `deepest` layers are there all the time: a reference, for small cases
  int deepest = 8;           // of these
  bool by_sweep = false;     // pairs by a sweep along an axis, not by a tree: a reference
};

class LayeredContact {
 public:
  static constexpr int most_layers = LayerTable::most;

  // `masses` [kg]: of the model's nodes. Throws InputError: a law, a share or a coefficient out of range.
  LayeredContact(ContactSurface surface, const LayerOptions& options, std::span<const double> masses, std::string name);

  const ContactSurface& surface() const { return surface_; }
  const LayerOptions& options() const { return options_; }
  const LayerLaw& law() const { return options_.law; }
  const std::string& name() const { return name_; }
  bool takes_energy() const { return options_.friction > 0.0 || options_.restitution < 1.0; }
  // What tells it from others: numbers of its law and its surface.
  std::vector<double> identity() const;

  double distance(int layer) const { return layers_.distance[static_cast<std::size_t>(layer)]; }  // eta_l [m]

  // The longest step its first layer may have [s]; that of layer l is 2^-l of the power of two below it.
  double step(const ContactPair& pair) const;

  // Of the first layers of pairs of the lightest and the heaviest nodes [s].
  std::array<double, 2> range_of_steps() const;

  // What stays the same of a pair.
  struct Constants {
    double radii;          // ContactSurface::radii [m]
    double parallel_from;  // 1e-3 |E_1|^2 |E_2|^2 [m^4]; 0: no edges
  };
  Constants constants(const ContactPair& pair) const;

  // A pair at some places, in layers `from` to `to` - 1, weighted: push_formula.hpp. weight(layer) is asked for layers
  // that are touched, and the next one. Throws nothing: places that are not finite push nobody.
  using Push = PushOf<double>;
  template <class Weight>
  Push push(SimplexPair kind, const Constants& constants, std::span<const std::array<double, 3>> x, int from, int to,
            Weight&& weight) const {
    std::array<std::array<double, 3>, 4> places{};
    std::copy_n(x.begin(), kind.size(), places.begin());
    return with_simplices(kind, [&]<int first, int second>() {
      return push_of<first, second>(places, kind.within, constants.radii, constants.parallel_from, layers_,
                                    static_cast<double>(from), static_cast<double>(to), from, to, weight);
    });
  }
  const LayerTable& layers() const { return layers_; }

  // "faces of ball with node 17 ...": for messages.
  std::string describe(const ContactPair& pair, std::span<const std::array<double, 3>> x) const;

 private:
  ContactSurface surface_;
  LayerOptions options_;
  std::string name_;
  std::vector<double> lightness_;  // of the vertices, 1 / m [1/kg]
  LayerTable layers_;
  double of_mass_, of_crossing_;  // step sqrt(1/m), and the longest whatever the mass [s]
};

// The first two things closer than `distance` [m] where they are, in words; empty: none are. `x`: of the vertices.
std::string too_close(const LayeredContact& contact, std::span<const std::array<double, 3>> x, double distance);

}  // namespace tempi
