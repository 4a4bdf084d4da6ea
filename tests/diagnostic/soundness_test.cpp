// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/soundness.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/lattice.hpp"
#include "support/sync.hpp"
#include "support/variational_methods.hpp"
#include "tempi/core/error.hpp"

namespace tempi::test {
namespace {

std::string verdict(const Model& model, const Snapshot& snapshot) {
  try {
    require_sound(model, snapshot);
  } catch (const SolveError& error) {
    return error.what();
  }
  return "";
}

// A body one of whose elements is turned inside out by its nodes, seen by every method before it has begun.
TEST(RequireSound, NamesTheElementThatIsInvertedWhateverTheMethodAndTheMaterial) {
  for (const Material& material : materials()) {
    const Body body = make_body(triangle_mesh(CellType::triangle3, 3, 0.1, 12), material, 1.2);
    const std::vector<double> steps = own_steps(*body.model, 0.3);
    std::vector<Method> all = methods();
    for (const auto& more : {variational_methods(), other_synchronous_methods()})
      all.insert(all.end(), more.begin(), more.end());
    for (const Method& method : all) {
      SCOPED_TRACE(method.name);
      const auto integrator = method.make(*body.model, steps);
      State state = reference_state(*body.model);
      EXPECT_EQ(verdict(*body.model, integrator->synchronized(state, 0.0)), "");
      const NodeId moved = body.cells().stencil(4)[0];
      state.displacement[ordinal(moved) * 2] += 3.0;
      const std::string said = verdict(*body.model, integrator->synchronized(state, 0.0));
      EXPECT_NE(said.find("is inverted at t = 0"), std::string::npos) << said;
      EXPECT_NE(said.find("det F"), std::string::npos) << said;
    }
  }
}

TEST(RequireSound, RefusesWhatIsNotFinite) {
  const Body body = make_body(triangle_mesh(CellType::triangle3, 2), LinearElastic{{1.3, 0.7}}, 1.2);
  Snapshot snapshot{0.5, reference_state(*body.model), {}, 0.0};
  EXPECT_EQ(verdict(*body.model, snapshot), "");
  snapshot.state.velocity[3] = std::nan("");
  EXPECT_NE(verdict(*body.model, snapshot).find("no finite velocity"), std::string::npos);
  snapshot.state.velocity[3] = 0.0;
  snapshot.potential_energy = INFINITY;
  EXPECT_NE(verdict(*body.model, snapshot).find("energy is not finite"), std::string::npos);
}

}  // namespace
}  // namespace tempi::test
