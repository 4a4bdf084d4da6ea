// SPDX-License-Identifier: Apache-2.0
// Contacts of spheres that give back less than they take: beside Hertz's law (pair/pair_laws.hpp) the damper of Hunt
// and Crossley, with the factor for which an impact gives back what it should (Gonthier, McPhee, Lange, Piedboeuf
// 2004). Gonzalez (2011), eqs. (5.16)-(5.22) and the appendix of chapter 5 (where (5.18) lacks a factor: its first
// integrand is d' / (1 + a d')):
//
//   m d'' = -K d^(3/2) (1 + a d')     d = max(overlap, 0), d' the speed of approach
//   (1 + s) / (1 - s e) = exp(s (1 + e)),   s = a v in (0, 1/e),   e = e(v) the ratio of speeds of an impact at speed v
//
// v is a memory: the largest d' since the two touched; nothing once they are apart. s depends on e alone, and a d' <=
// s: forces stay bounded as v goes to 0. In an impact of two bodies v is that of impact and e comes out exactly; in
// chains and packings v grows while a wave comes in, and e says what is lost to vibrations of the beads and to heat.
// Momenta are exact; nothing is taken from rigid motions. Not for what rests: there d' and with it all damping vanish.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tempi/contact/wall.hpp"
#include "tempi/force/force.hpp"
#include "tempi/pair/pairs.hpp"
#include "tempi/potential/many_body_sum.hpp"

namespace tempi {

// s of the equation above; 0 for e = 1. Relative error below 1e-12 for 1 - e >= 1e-5, 2e-11 at 1e-6. Throws InputError
// unless 0 < e <= 1.
double impact_damping(double restitution);

// e of the speed of impact [m/s].
using Restitution = std::function<double(double)>;

// Element k is pair k, whose law is laws[k]; its host must be a term with those nodes. `reference` [m]: dim components
// a node. It remembers v [m/s] and a [s/m]. Evaluates e on the thread that drives it; throws SolveError
// where e is not within (0, 1].
std::unique_ptr<Force> make_impact_damping(std::span<const double> reference, int dim, std::vector<NodePair> pairs,
                                           std::vector<Hertz> laws, Restitution restitution, const Box& box = {});
// The same of all pairs of a sum over spheres (pair/pair_sum.hpp), which must outlive it, as one element whose host is
// the sum. It remembers the pairs that touch; who else is in a list of neighbours decides no bit.
std::unique_ptr<Force> make_impact_damping(const ManyBodySum& sum, Restitution restitution);
// The same of spheres that touch a wall (contact/wall.hpp), each the element of its number.
std::unique_ptr<Force> make_impact_damping(std::span<const double> reference, int dim, std::vector<WallSphere> spheres,
                                           const Wall& wall, Restitution restitution);

// The phenomenological damping of chains, eq. (5.2) of the thesis, of all pairs of a sum over spheres and of walls,
// whose spheres are nodes of the sum; as one element whose host is the sum. With s_a = sum n d' of all that touches
// bead a (n towards it; in a chain d'_k - d'_k+1) and g_a = m_a gamma |s_a|^(alpha-1), a contact of a and b resists by
// (g_a + g_b) / 2 d', one with a wall by g_a d'. `gamma` > 0 [(m/s)^(1-alpha) / s], alpha >= 1.
//
// (5.2) as printed lets the force on bead a be m_a gamma |s_a|^(alpha-1) s_a, which is this with g_a alone: for beads
// of one mass the same where there are two, where alpha = 1, and where neighbours' s are alike. But its action is not
// its reaction: momentum is not kept, some motions gain energy whatever the sign, and with the printed gamma < 0 waves
// do (decision 0021). The thesis uses it for no result.
struct TouchedWall {
  Wall wall;
  std::vector<WallSphere> spheres;
};
std::unique_ptr<Force> make_laplacian_damping(const ManyBodySum& sum, std::span<const double> reference,
                                              std::span<const double> masses, double gamma, double alpha,
                                              std::vector<TouchedWall> walls = {});

}  // namespace tempi
