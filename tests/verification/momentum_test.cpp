// SPDX-License-Identifier: Apache-2.0
// Linear and angular momentum: exact for free bodies; otherwise their change is what loads and supports gave, to
// rounding (Lew, Marsden, Ortiz, West 2004, eqs. (55), (56) and the end of section 4.4).
#include <gtest/gtest.h>

#include "support/runs.hpp"

namespace tempi::test {
namespace {

// A million updates each round the momenta of a few nodes: 2.2e-16 * sqrt(1e6) of one share. Found: at most 2e-13.
constexpr double tolerance = 1e-12;

struct Case {
  MeshCase mesh;
  Material material;
};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const MeshCase& mesh : mesh_cases())
    for (const Material& material : materials())
      if (is_frame_indifferent(material)) all.push_back({mesh, material});
  return all;
}
void PrintTo(const Case& c, std::ostream* out) { *out << c.mesh.name << ", " << name_of(c.material); }
std::string name(const testing::TestParamInfo<Case>& info) {
  return plain(info.param.mesh.name + "_" + name_of(info.param.material));
}

double time_of_updates(const std::vector<double>& steps, double updates) {
  double rate = 0.0;
  for (const double step : steps) rate += 1.0 / step;
  return updates / rate;
}

void record(const Balance& balance) {
  testing::Test::RecordProperty("linear", std::to_string(balance.linear_momentum().error * 1e15) + "e-15");
  testing::Test::RecordProperty("angular", std::to_string(balance.angular_momentum().error * 1e15) + "e-15");
  testing::Test::RecordProperty("band", std::to_string(balance.energy().band));
  testing::Test::RecordProperty("drift", std::to_string(balance.energy().drift));
}

class FreeBody : public testing::TestWithParam<Case> {};

TEST_P(FreeBody, KeepsItsMomentaOverAMillionAsynchronousUpdates) {
  const Body body = make_body(centred(GetParam().mesh.make()), GetParam().material, 1.2);
  const std::vector<double> steps = own_steps(*body.model, 0.5);
  AviExplicit avi(*body.model, steps);
  State state = without_net_momentum(body, moving_state(body, 0.3, 0.05, 5));
  const double t_end = time_of_updates(steps, 1.0e6);
  const Balance balance = run_and_balance(*body.model, avi, state, t_end, 200);
  Index updates = 0;
  for (Index i = 0; i < body.model->term_count(); ++i) updates += avi.updates(make_id<TermId>(i));
  EXPECT_NEAR(static_cast<double>(updates), 1e6, static_cast<double>(body.model->term_count()));
  record(balance);
  EXPECT_LT(balance.linear_momentum().error, tolerance);
  EXPECT_LT(balance.angular_momentum().error, tolerance);
}

// Angular momentum counts about the origin: a body that has travelled s body lengths rounds its positions to s
// * 1.1e-16, and its momenta with them.
TEST_P(FreeBody, KeepsItsMomentaOnAJourneyToTheRoundingOfItsPlace) {
  const Body body = make_body(GetParam().mesh.make(), GetParam().material, 1.2);
  const std::vector<double> steps = own_steps(*body.model, 0.5);
  AviExplicit avi(*body.model, steps);
  State state = moving_state(body, 0.3, 0.05, 5);
  const Balance balance = run_and_balance(*body.model, avi, state, time_of_updates(steps, 1.0e5), 100);
  record(balance);
  const double journey = largest(state.displacement);
  EXPECT_LT(balance.linear_momentum().error, tolerance);
  EXPECT_LT(balance.angular_momentum().error, tolerance * (1.0 + 0.1 * journey));
}

INSTANTIATE_TEST_SUITE_P(EveryElementAndMaterial, FreeBody, testing::ValuesIn(cases()), name);

TEST(FreeBody, OfLinearElasticityLosesAngularMomentum) {
  const Body body = make_body(triangle_mesh(CellType::triangle3, 3, 0.15, 12), LinearElastic{{1.3, 0.7}}, 1.2);
  const std::vector<double> steps = own_steps(*body.model, 0.5);
  AviExplicit avi(*body.model, steps);
  State state = moving_state(body, 0.02, 0.005, 5);
  const Balance balance = run_and_balance(*body.model, avi, state, time_of_updates(steps, 1e4), 50);
  EXPECT_LT(balance.linear_momentum().error, tolerance);
  EXPECT_GT(balance.angular_momentum().error, 1e-4);
}

// What holds or drives a body, for each mesh.
struct Environment {
  std::string name;
  std::function<void(const Mesh&, Model::Parts&)> add;
};

void hold_left_at_rest(const Mesh& mesh, Model::Parts& parts) { parts.supports = held_at_rest(mesh, "left"); }

void move_left(const Mesh& mesh, Model::Parts& parts) {
  parts.supports = one_support(mesh, moving("left", nodes_of(mesh, "left"),
                                            {"0.02*sin(1.3*t)", "0.01*(1+Y)*(1-cos(t))", "-0.01*Y*t"}, mesh.dim()));
}

// One component moves, the others are free: mixed nodes.
void move_left_in_x_only(const Mesh& mesh, Model::Parts& parts) {
  Support support;
  support.name = "left";
  support.nodes = nodes_of(mesh, "left");
  support.motion[0] = Support::Motion::prescribed;
  support.displacement[0].emplace("0.02*sin(1.3*t)*(1+0.2*Y)", Constants{});
  parts.supports = one_support(mesh, std::move(support));
}

void pull_down(const Mesh& mesh, Model::Parts& parts) {
  add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0.05", "-0.1*cos(2*t)", "0.03*X"}, mesh.dim())));
}

void pull_right(const Mesh& mesh, Model::Parts& parts) {
  add_force(parts,
            make_traction(mesh, facets_of(mesh, "right"), formulas({"0.02*sin(3*t)", "0.01", "-0.01*Y"}, mesh.dim())));
}

void press_right(const Mesh& mesh, Model::Parts& parts) {
  add_force(parts, make_pressure(mesh, facets_of(mesh, "right"), Expression("0.03*(1+sin(t))", Constants{}),
                                 PressureFrame::deformed));
}

std::vector<Environment> environments() {
  return {{"resting_support", hold_left_at_rest},
          {"moving_support", move_left},
          {"support_moving_in_one_direction", move_left_in_x_only},
          {"gravity", pull_down},
          {"traction", pull_right},
          {"follower_pressure", press_right},
          {"everything", [](const Mesh& mesh, Model::Parts& parts) {
             move_left(mesh, parts);
             pull_down(mesh, parts);
             pull_right(mesh, parts);
             press_right(mesh, parts);
           }}};
}

struct LoadedCase {
  MeshCase mesh;
  Environment environment;
  Method method;
};
std::vector<LoadedCase> loaded_cases() {
  std::vector<LoadedCase> all;
  for (const MeshCase& mesh : mesh_cases())
    for (const Environment& environment : environments())
      for (const Method& method : methods()) all.push_back({mesh, environment, method});
  return all;
}
void PrintTo(const LoadedCase& c, std::ostream* out) { *out << c.mesh.name << ", " << c.environment.name; }
std::string loaded_name(const testing::TestParamInfo<LoadedCase>& info) {
  return plain(info.param.method.name + "_" + info.param.mesh.name + "_" + info.param.environment.name);
}

double length(const std::array<double, 3>& v) { return std::hypot(v[0], v[1], v[2]); }

class LoadedBody : public testing::TestWithParam<LoadedCase> {};

TEST_P(LoadedBody, ChangesItsMomentaByWhatIsBookedToRounding) {
  const auto& [mesh, environment, method] = GetParam();
  const Body body = make_body_with(mesh.make(), NeoHookean{{1.3, 0.7}}, 1.2, environment.add);
  const std::vector<double> steps = own_steps(*body.model, 0.4);
  const auto integrator = method.make(*body.model, steps);
  State state = moving_state(body, 0.1, 0.02, 5);
  const double t_end = 300 * smallest(steps);
  const Balance balance = run_and_balance(*body.model, *integrator, state, t_end, 100);
  record(balance);
  EXPECT_LT(balance.linear_momentum().error, tolerance);
  EXPECT_LT(balance.angular_momentum().error, tolerance);
  // Control: the momenta do change, so the check has something to miss.
  const Sample last = sample(*body.model, integrator->synchronized(state, t_end));
  EXPECT_GT(length(last.booked_impulse), 1e-4);
  if (body.mesh->dim() > 1) {
    EXPECT_GT(length(last.booked_moment), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(EverywhereWithEverything, LoadedBody, testing::ValuesIn(loaded_cases()), loaded_name);

}  // namespace
}  // namespace tempi::test
