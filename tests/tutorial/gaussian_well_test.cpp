// SPDX-License-Identifier: Apache-2.0
// What docs/own-potential.md says of it, done.
#include "tutorial/gaussian_well.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <sstream>

#include "tempi/diagnostic/energy.hpp"
#include "tempi/integrator/avi/avi_explicit.hpp"
#include "tempi/integrator/avi/avi_lattice.hpp"
#include "tempi/model/state.hpp"
#include "tempi/model/steps.hpp"

namespace tempi {
namespace {

const std::vector<double> places = {0.1, 0.0, 0.0, 0.3};

Model model_of_two() {
  Model::Parts parts;
  parts.dim = 2;
  parts.reference = places;
  parts.mass = {1.0, 4.0};
  parts.shares = MassShares::balanced;
  parts.add(std::make_unique<GaussianWell>(places, 2, 1.0, 1.0));
  return Model(std::move(parts));
}

TEST(OwnPotential, has_the_gradient_of_its_energy) {
  const GaussianWell well(places, 2, 3.0, 0.5);
  const std::vector<double> u = {0.2, -0.1, 0.3, 0.05};
  for (Index k = 0; k < 2; ++k) EXPECT_LT(check_gradient(well, k, u, 0.0, 1e-5), 1e-9);
}

// Small motions about the bottom have the frequency sqrt(depth / m) / width.
TEST(OwnPotential, has_the_stable_step_of_its_curvature) {
  const Model model = model_of_two();
  const std::vector<double> at_bottom = {-0.1, 0.0, 0.0, -0.3};
  EXPECT_NEAR(model.stable_step(TermId{0}, at_bottom), 2.0, 1e-12);
  EXPECT_NEAR(model.stable_step(TermId{1}, at_bottom), 4.0, 1e-12);
}

TEST(OwnPotential, runs_on_the_queue_and_on_the_fast_engine) {
  const Model model = model_of_two();
  const std::vector<double> steps = {0.05, 0.1};
  for (const bool fast : {false, true}) {
    State state = reference_state(model);
    std::unique_ptr<Integrator> avi = std::make_unique<AviExplicit>(model, steps);
    if (fast) avi = std::make_unique<AviLattice>(model, TickLattice{0.05, {1, 2}});
    Balance balance;
    for (int k = 0; k <= 200; ++k) {
      avi->advance_to(state, 0.5 * k);
      balance.add(sample(model, avi->synchronized(state, 0.5 * k)));
    }
    EXPECT_LT(balance.energy().band, 2e-3) << fast;
    EXPECT_LT(std::abs(balance.energy().drift), 1e-3) << fast;
  }
}

TEST(OwnPotential, stands_in_the_documentation_word_for_word) {
  const auto read = [](const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(std::string(TEMPI_SOURCE_DIR) + "/" + name).rdbuf();
    return text.str();
  };
  const std::string source = read("tests/tutorial/gaussian_well.hpp"), page = read("docs/own-potential.md");
  const std::string code = source.substr(source.find("#include"));
  ASSERT_GT(code.size(), 1000u);
  EXPECT_NE(page.find("```cpp\n" + code + "```"), std::string::npos);
}

}  // namespace
}  // namespace tempi
