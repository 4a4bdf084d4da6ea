// SPDX-License-Identifier: Apache-2.0
// The error of asynchrony: as predicted, and what is left of it by mollified kicks. Terms of a body of every element
// take steps of 1, 2, 4 or 8 ticks at random, or any of 1 to 8: worse than meshes are. Slowest vibrations, held at one
// end.
#include "tempi/diagnostic/asynchrony_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/runs.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/vibration.hpp"

namespace tempi::test {
namespace {

struct Case {
  std::string name;
  std::function<Mesh()> mesh;
};

std::vector<Case> cases() {
  return {{"bars", [] { return bar_mesh(64, 0.1, 3); }},
          {"tri3", [] { return triangle_mesh(CellType::triangle3, 8, 0.1, 3); }},
          {"tri6", [] { return triangle_mesh(CellType::triangle6, 4, 0.1, 4, 0.05); }},
          {"tet4", [] { return tetrahedron_mesh(CellType::tetrahedron4, 4, 0.1, 5); }},
          {"tet10", [] { return tetrahedron_mesh(CellType::tetrahedron10, 2, 0.1, 6, 0.05); }}};
}

Body held(const Case& of) {
  return make_body_with(of.mesh(), LinearElastic{{1.3, 0.7}}, 1.0, [](const Mesh& mesh, Model::Parts& parts) {
    parts.supports = one_support(mesh, resting("left", nodes_of(mesh, "left"), mesh.dim()));
  });
}

// Steps up to `safety` of the smallest stable one.
TickLattice at_random(const Model& model, double safety, bool nested) {
  Random random(11);
  TickLattice lattice{safety / 8.0 * smallest(own_steps(model, 1.0)), {}};
  for (Index i = 0; i < model.term_count(); ++i) {
    const Index draw = random.below(nested ? 4 : 8);
    lattice.ticks.push_back(nested ? std::int32_t{1} << draw : static_cast<std::int32_t>(draw + 1));
  }
  return lattice;
}

class Vibrating {
 public:
  explicit Vibrating(const Case& of)
      : body_(held(of)),
        rest_(body_.model->reference().size(), 0.0),
        vibration_(slowest_vibration(*body_.model, rest_)) {}

  const Model& model() const { return *body_.model; }
  MeasuredVibration measured(const TickLattice& lattice, Coupling coupling) const {
    AviLattice engine(model(), lattice, {.coupling = coupling});
    return measure_vibration(model(), rest_, engine, vibration_, 1e-6, 3.0);
  }
  VibrationError predicted(const TickLattice& lattice) const {  // of the frequency
    std::vector<double> w = vibration_.shape;
    for (double& x : w) x *= 1e-6;
    const VibrationError of_stiffness = vibration_error(model(), rest_, w, lattice, 2);
    return {0.5 * of_stiffness.whole, 0.5 * of_stiffness.of_acceleration};
  }

 private:
  Body body_;
  std::vector<double> rest_;
  Vibration vibration_;
};

TEST(AsynchronyError, IsAsPredicted) {
  for (const Case& of : cases()) {
    const Vibrating v(of);
    for (const bool nested : {true, false}) {
      const TickLattice lattice = at_random(v.model(), 0.3, nested);
      const double measured = v.measured(lattice, Coupling::plain).error;
      EXPECT_GT(measured, 2e-5) << of.name;
      EXPECT_NEAR(v.predicted(lattice).whole / measured, 1.0, 0.1) << of.name << nested;
    }
  }
}

// Equal steps: h^2 omega^2 / 24, all of it that of Newmark's method.
TEST(AsynchronyError, OfOneStepIsNewmarks) {
  for (const Case& of : cases()) {
    const Vibrating v(of);
    const TickLattice one{0.3 * smallest(own_steps(v.model(), 1.0)),
                          std::vector<std::int32_t>(static_cast<std::size_t>(v.model().term_count()), 1)};
    EXPECT_NEAR(v.predicted(one).whole / v.measured(one, Coupling::plain).error, 1.0, 0.01) << of.name;
    const TickLattice* lattice = &one;
    EXPECT_EQ(asynchrony_errors(v.model(), std::vector<double>(v.model().reference().size(), 0.0),
                                std::span(&lattice, 1), 1)
                  .front()
                  .worst(),
              0.0);
  }
}

TEST(AsynchronyError, InUniformStrainIsThatOfASmoothMotion) {
  const Vibrating v(cases().front());  // bars: the vibration is strain of one kind, nearly uniform from bar to bar
  const TickLattice lattice = at_random(v.model(), 0.3, true);
  const TickLattice* one = &lattice;
  const auto errors =
      asynchrony_errors(v.model(), std::vector<double>(v.model().reference().size(), 0.0), std::span(&one, 1), 2);
  EXPECT_NEAR(0.5 * errors.front().worst() / v.measured(lattice, Coupling::plain).error, 1.0, 0.3);
  EXPECT_EQ(errors.front().worst(), errors.front().mean());
}

// What is left beside the error of accelerations is of order 4 in the steps; at half the stable step a tenth.
TEST(AsynchronyError, MollifiedIsOfOrderFour) {
  for (const Case& of : cases()) {
    const Vibrating v(of);
    const std::vector<double> safeties = {0.25, 0.35, 0.5};
    std::vector<double> errors, without;
    for (const double s : safeties) {
      const TickLattice lattice = at_random(v.model(), s, true);
      const double rest = v.predicted(lattice).of_acceleration;
      errors.push_back(std::abs(v.measured(lattice, Coupling::mollified).error - rest));
      without.push_back(std::abs(v.measured(lattice, Coupling::plain).error - rest));
    }
    EXPECT_LT(errors.back(), without.back() / 10.0) << of.name;
    EXPECT_GT(slope(safeties, errors), 3.5) << of.name << " " << errors[0] << " " << errors[1] << " " << errors[2];
    EXPECT_LT(slope(safeties, without), 2.3) << of.name;  // the control
    const TickLattice lattice = at_random(v.model(), 0.5, true);
    if (of.name == "bars") {
      EXPECT_LT(v.measured(lattice, Coupling::mollified).band, v.measured(lattice, Coupling::plain).band / 5.0);
    }
  }
}

TEST(Vibration, OfABarHeldAtOneEnd) {
  const Vibrating v({"bar", [] { return bar_mesh(200); }});
  const Vibration found = slowest_vibration(v.model(), std::vector<double>(v.model().reference().size(), 0.0));
  const double speed = std::sqrt(1.3 + 2.0 * 0.7);  // uniaxial strain, density 1
  EXPECT_NEAR(found.frequency, 0.5 * 3.14159265358979 * speed, 1e-4);
}

TEST(Vibration, NeedsAHold) {
  const Body body = make_body(bar_mesh(4), LinearElastic{{1.0, 1.0}}, 1.0);
  EXPECT_THROW(slowest_vibration(*body.model, std::vector<double>(5, 0.0)), InputError);
}

}  // namespace
}  // namespace tempi::test
