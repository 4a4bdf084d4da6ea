// SPDX-License-Identifier: Apache-2.0
// Force-stepping: Gonzalez (2011), chapter 3. The potential energy is replaced by its linear interpolation on the
// Freudenthal (Kuhn) triangulation of a grid in the space of all free coordinates. In a simplex the force is constant
// and the motion a parabola, which is known:
//
//   q(t + s) = q + s v - s^2/2 M^-1 dV_h,   v(t + s) = v - s M^-1 dV_h,                          eq. (3.13), Def. 3.2.1
//
// until it leaves through a face, where one vertex is replaced and nothing else happens: v is continuous. Here a
// simplex is an integer corner z0 and an order pi of the axes, z^i = z^(i-1) + e_pi(i): the order of the fractional
// parts 1 >= w_pi(1) >= ... >= w_pi(d) >= 0, and these inequalities are its faces. dV_h along pi(i) is (V(z^i) -
// V(z^(i-1))) / h: O(d) a step, no matrix, and of the potential only the terms that touch the coordinates that change
// (the thesis' matrices, Algorithm 4, give the same simplices; entries of its Z^-1 may be negative, G1-12).
//
// With parity the triangulation is that of the first orthant and its mirror images, so that V_h is the same for
// mirrored coordinates as V is (Figure 3.3 b, c); without it all diagonals are parallel, and V_h is the same only where
// all coordinates change their signs.
//
// Reduced, the coordinates are Jacobi's, q'_j = q_(j+1) - centre of the first j, with masses m'_j, eqs. (3.44)-(3.52):
// the centre of mass moves uniformly, and the linear momentum is exact. Two particles (one of which may be held) are
// reduced to their distance r, eqs. (3.79)-(3.81): mu r''= -d/dr (V + L^2 / (2 mu r^2)), theta' = L / (mu r^2), whose
// integral along a parabola is taken to rounding: the angular momentum is exact, too. An event then costs one energy of
// the whole model.
//
// T + V_h is kept to rounding for ever; symplectic and reversible. Else momenta are not kept exactly, the grid has not
// the potential's symmetry (nor, where coordinates begin equal and equally fast, as those of a structured mesh do, is
// it left where it is: it is shifted, by parts of its spacing that differ from axis to axis): they stay in a band that
// shrinks with the grid. Steps are some h / (d^2 speed) long, so it is for few coordinates. When not to use it: bodies
// of more than some hundreds of nodes; loads, dampers, moving supports (refused); where exact momenta matter
// (energy-stepping has them).
#pragma once

#include <cstdint>
#include <vector>

#include "tempi/integrator/integrator.hpp"
#include "tempi/integrator/kick_drift.hpp"
#include "tempi/integrator/stepping/step_counts.hpp"
#include "tempi/schedule/coming_back.hpp"

namespace tempi {

struct ForceGrid {
  std::vector<double> spacing;  // [m], one for all axes of space or one for each; of the distance the first
  bool parity = false, reduced = false;
};

class SteppingForce final : public Integrator {
 public:
  // `model` must outlive the integrator. Throws InputError: a spacing that is not positive; constraints, loads,
  // dampers, supports that move, sums; reduced: supports (but of one of two particles), fields; parity of a distance.
  SteppingForce(const Model& model, ForceGrid grid, double nominal_step);

  std::string_view name() const override { return "force-stepping"; }
  Claims claims() const override {
    return {1,
            kind_ == Kind::nodal ? Conservation::bounded : Conservation::exact,
            kind_ == Kind::radial ? Conservation::exact : Conservation::bounded,
            Conservation::bounded,
            true,
            true};
  }
  Snapshot synchronized(const State& state, double t) const override;
  double step(TermId term) const override;  // mean so far
  Index updates(TermId) const override { return steps_; }
  Measures measures() const override;
  std::vector<StepHistogram> step_histograms() const override {
    if (steps_ == 0) return {};
    return {lengths_.histogram("all terms")};
  }
  void come_back_when(std::function<bool()> enough) override { coming_back_.when(std::move(enough)); }
  void save(ArchiveWriter& archive) const override;
  void load(ArchiveReader& archive) override;

  double stepped_energy() const;  // T + V_h now [J]; cost: one evaluation of all terms

 private:
  enum class Kind { nodal, jacobi, radial };
  struct Leaves {
    double s;          // [s]
    std::size_t face;  // 0: w of the first axis is 1; i < d: those of the i-th and the next are equal; d: the last is 0
  };
  void advance(State& state, double t_end, Observer* observer) override;
  double came_back_at() const override { return coming_back_.at(); }
  void start(const State& state);
  void place_on_grid(const State& state);
  bool slides() const;
  // Of coordinate j, `part` of a spacing above its corner [m].
  double place(std::size_t j, double part) const {
    return sign_[j] * h_[j] * (static_cast<double>(corner_[j]) + part - offset_[j]);
  }
  void choose_coordinates(const std::vector<double>& spacing);
  void find_frame(const State& state);
  void find_coordinates(const State& state, std::vector<double>& q, std::vector<double>& v) const;
  void displace(std::span<const double> q) const;  // u_ from Jacobi's coordinates or the distance
  double angle_in(double s) const;
  Leaves next_face() const;
  void move(double s);
  void cross(std::size_t face);
  double difference(std::size_t i) const;     // V(z^i) - V(z^(i-1)), i = 1 ... d
  double vertex_energy(std::size_t i) const;  // V(z^i), reduced
  void renew_vertex(std::size_t i);
  void find_force();
  void write(State& state) const;

  const Model& model_;
  KickDrift kick_drift_;
  double nominal_;
  Kind kind_ = Kind::nodal;
  bool parity_ = false;
  // Of the d free components: which one it is, grid spacing, inverse mass.
  std::vector<std::size_t> component_;
  std::vector<std::int32_t> free_;  // of each component its place among these, or -1
  std::vector<double> h_, inverse_mass_;
  std::vector<Index> node_of_;
  NodeTerms terms_of_;

  std::vector<double> offset_;                // of the grid, in its spacings: see start()
  std::vector<double> sign_;                  // of the orthant mirrored into the first one; all 1 without parity
  std::vector<double> levels_;                // V(z^i), i = 0 ... d, reduced
  struct Frame {                              // of what is reduced
    std::array<double, 3> centre{}, speed{};  // of the centre of mass at t = 0 [m], [m/s]
    std::array<double, 3> ahead{}, aside{};   // directions of the distance at t = 0, and that in which it turns
    double moment = 0.0, angle = 0.0;         // L of the relative motion; how far it has turned
  } frame_;
  std::vector<double> mass_before_;  // of the first j + 1 nodes [kg]
  // The simplex and the motion in it, at time t_. w: in grid spacings from the corner; v [m/s].
  std::vector<std::int64_t> corner_;
  std::vector<std::int32_t> order_, rank_;  // pi, and where each axis stands in it
  std::vector<double> w_, v_, jump_;        // jump: V(z^i) - V(z^(i-1)) by the place in the order
  double t_ = 0.0;
  Index steps_ = 0;
  StepCounts lengths_;
  Index at_once_ = 0;
  ComingBack coming_back_;
  bool started_ = false;
  double start_energy_ = 0.0, shortest_ = 0.0, longest_ = 0.0;
  mutable std::vector<double> u_;  // displacements of all nodes, those of terms in hand at a vertex
};

}  // namespace tempi
