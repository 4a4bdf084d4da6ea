// SPDX-License-Identifier: Apache-2.0
// Balance of energy over intermediate configurations: Lew, Marsden, Ortiz, West (2003), eqs. (34)-(47).
//
// Configuration m: every element where it was at the last of its times among the first m. The sums of the derivatives
// D_K^j S_d,m with respect to all times vanish identically for a Lagrangian that does not know the time, (37); where
// (36) is not enforced the inner ones are the local residuals (43), so that the energies of two configurations, (42)
// and (47), differ by what the residuals have collected between them, exactly:
//
//   E_m = sum_a m_a |v_a|^2 / 2 without each element's last strike + sum_K V_K(x_K at its last time)
//   E_m2 - E_m1 = sum_K sum_j R_K^j of the strikes in between that are followed by another one of K
//
// (47) as printed weighs velocities with the elements' own masses; what is summed here has total nodal masses, those of
// (44), (45).
#include <gtest/gtest.h>

#include "support/runs.hpp"
#include "tempi/diagnostic/energy_residual.hpp"
#include "tempi/integrator/avi/avi_adaptive.hpp"

namespace tempi::test {
namespace {

// Keeps what (42) is made of, beside the residuals themselves.
class Configurations final : public Observer {
 public:
  explicit Configurations(const Model& model)
      : residual_(model), last_(static_cast<std::size_t>(model.term_count())), place_(last_.size(), -1.0) {}

  void on_strike(const Strike& strike) override {
    residual_.on_strike(strike);
    const auto k = static_cast<std::size_t>(index(strike.term));
    kinetic_ += strike.kinetic_change;
    last_[k] = strike.kinetic_change;
    place_[k] = strike.potential_energy;
    ++strikes_;
  }
  bool complete() const {
    return std::ranges::all_of(place_, [](double V) { return V >= 0.0; });
  }
  // Less the kinetic energy at the start, which is the same for all configurations.
  double energy() const {
    double sum = kinetic_;
    for (std::size_t k = 0; k < last_.size(); ++k) sum += place_[k] - last_[k];
    return sum;
  }
  double collected() const {
    double sum = 0.0;
    for (const double R : residual_.accumulated()) sum += R;
    return sum;
  }
  Index strikes() const { return strikes_; }

 private:
  EnergyResidual residual_;
  std::vector<double> last_, place_;
  double kinetic_ = 0.0;
  Index strikes_ = 0;
};

struct Drift {
  double unbalanced = 0.0, change = 0.0, size = 0.0;  // largest |E - E_1 - collected|, |E - E_1|, and V [J]
  int configurations = 0;
};

Drift drift(const Model& model, Integrator& integrator, State state) {
  Configurations seen(model);
  Drift result;
  double first = 0.0, collected = 0.0;
  for (double t = 0.0; t < 3.0; t += 0.037) {
    integrator.advance_to(state, t, seen);
    if (!seen.complete()) continue;
    if (result.configurations++ == 0) first = seen.energy(), collected = seen.collected();
    const double change = seen.energy() - first;
    result.unbalanced = std::max(result.unbalanced, std::abs(change - (seen.collected() - collected)));
    result.change = std::max(result.change, std::abs(change));
    result.size = std::max(result.size, std::abs(seen.energy()));
  }
  return result;
}

Body body() {
  return make_body(centred(triangle_mesh(CellType::triangle6, 3, 0.15, 12, 0.05)), NeoHookean{{1.3, 0.7}}, 1.2);
}

TEST(IntermediateEnergy, ChangesByWhatTheResidualsCollectAndByNothingElse) {
  const Body b = body();
  AviExplicit avi(*b.model, own_steps(*b.model, 0.3));
  const Drift found = drift(*b.model, avi, moving_state(b, 0.2, 0.1, 5));
  EXPECT_GT(found.configurations, 70);
  EXPECT_LT(found.unbalanced, 1e-13);
  EXPECT_GT(found.change, 1e5 * found.unbalanced);  // the control: residuals left out
}

// Simultaneous strikes are one event, on the lattice as well.
TEST(IntermediateEnergy, IsBalancedOnALatticeToo) {
  const Body b = body();
  AviLattice avi(*b.model, lattice_of(own_steps(*b.model, 0.3), LatticeRule::powers_of_two));
  const Drift found = drift(*b.model, avi, moving_state(b, 0.2, 0.1, 5));
  EXPECT_LT(found.unbalanced, 1e-13);
  EXPECT_GT(found.change, 1e5 * found.unbalanced);
}

}  // namespace
}  // namespace tempi::test
