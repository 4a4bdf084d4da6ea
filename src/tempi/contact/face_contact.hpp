// SPDX-License-Identifier: Apache-2.0
// Contact by a penalty on pairs of faces that cross: V = sum |A - B|^2 / (2 epsilon) over pairs of surface triangles
// without a common node, A and B the ends of the segment in which they cross (face_crossing.hpp): Gonzalez (2011), eqs.
// (2.90), (2.91), after Kane, Repetto, Ortiz, Marsden (1999).
//
// One term, as all pairs act together; invariant under translations and rotations, so both momenta are exact. Which
// pairs may cross is known from a tree of their boxes, grown by a skin and made anew when a node has moved half of it
// since; when flying faces begin to cross, from roots of cubics (face_passages.hpp), so that no energy-stepping flight
// passes through. When not to use it: V counts where surfaces cross, not how deep, so the force between faces grows
// with the number of edges that pass through, depends on the mesh, and is none once a body is wholly within the other;
// the second derivative jumps where a crossing changes its type. It needs steps within 2 sqrt(epsilon m) or so, m the
// mass of a surface node, which no stable step tells before there is contact.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tempi/contact/surface.hpp"
#include "tempi/potential/many_body_sum.hpp"

namespace tempi {

class FaceContact : public ManyBodySum {
 public:
  // Of the two faces that cross at u, which are told by their nodes; empty: none do.
  virtual std::string first_crossing(std::span<const double> u) const = 0;
};

// `reference` [m]: three components a node. `faces` among themselves; with `others`, of one with one of the others.
// `penalty`: epsilon [m/N] > 0. `skin` [m]; default: half a mean edge. Throws InputError: a penalty or skin out of
// range, fewer than two faces, no faces on one side, a face without area.
std::unique_ptr<FaceContact> make_face_contact(std::span<const double> reference, std::vector<SurfaceTriangle> faces,
                                               std::vector<SurfaceTriangle> others, double penalty,
                                               std::optional<double> skin = {});

}  // namespace tempi
