// SPDX-License-Identifier: Apache-2.0
// Stopping leaves no trace: advance_to(a); advance_to(b) gives the bits of advance_to(b), also through a checkpoint
// file in the middle of the asynchrony, and whoever looks at a run does not change it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/adaptive_methods.hpp"
#include "support/coming_back.hpp"
#include "support/implicit.hpp"
#include "support/runs.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy_residual.hpp"
#include "tempi/integrator/checkpoint.hpp"

namespace tempi::test {
namespace {

std::vector<double> mixed_steps(const Model& model) {
  std::vector<double> steps = own_steps(model, 0.4);
  const double least = smallest(steps);
  for (std::size_t i = 0; i < steps.size(); i += 3) steps[i] = i % 2 == 0 ? least : 0.5 * least;
  for (std::size_t i = 0; i < steps.size(); i += 6) steps[i + 1] = least;  // at the moving support, all at once
  return steps;
}
State start_of(const Body& body) { return moving_state(body, 0.1, 0.02, 5); }

std::filesystem::path scratch(const std::string& name) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  return std::filesystem::temp_directory_path() /
         plain("tempi_" + std::string(info->test_suite_name()) + "_" + info->name() + "_" + name);
}

class GoingOn : public testing::TestWithParam<Method> {
 protected:
  Body body = loaded_body();
  std::vector<double> steps = mixed_steps(*body.model);
  double end = 40.3 * smallest(steps);

  std::unique_ptr<Integrator> make() const { return GetParam().make(*body.model, steps); }
  State uninterrupted() const {
    State state = start_of(body);
    make()->advance_to(state, end);
    return state;
  }
  // Times to stop at: random ones, event times exactly, the start, the end.
  std::vector<double> stops() const {
    Random random(31);
    std::vector<double> times = {0.0, end};
    for (int i = 0; i < 20; ++i) {
      times.push_back(random.uniform(0.0, end));
      const double step = make()->step(make_id<TermId>(random.below(body.model->term_count())));
      times.push_back(static_cast<double>(1 + random.below(static_cast<Index>(end / step))) * step);
    }
    return times;
  }
};

TEST_P(GoingOn, AfterAStopAtAnyTimeGivesTheSameBits) {
  const State expected = uninterrupted();
  for (const double stop : stops()) {
    SCOPED_TRACE(stop);
    const auto integrator = make();
    State state = start_of(body);
    integrator->advance_to(state, stop);
    integrator->advance_to(state, end);
    EXPECT_TRUE(same_bits(state, expected));
  }
}

TEST_P(GoingOn, InManySmallPortionsGivesTheSameBits) {
  const auto integrator = make();
  State state = start_of(body);
  std::vector<double> times = stops();
  std::ranges::sort(times);
  for (const double t : times) integrator->advance_to(state, t);
  EXPECT_TRUE(same_bits(state, uninterrupted()));
}

TEST_P(GoingOn, ThroughACheckpointFileGivesTheSameBits) {
  const State expected = uninterrupted();
  const auto file = scratch(GetParam().name);
  for (const double stop : stops()) {
    SCOPED_TRACE(stop);
    {
      const auto integrator = make();
      State state = start_of(body);
      integrator->advance_to(state, stop);
      write_checkpoint(file, state, *integrator);
    }
    const auto integrator = make();
    State state = reference_state(*body.model);
    read_checkpoint(file, state, *integrator);
    integrator->advance_to(state, end);
    EXPECT_TRUE(same_bits(state, expected));
  }
  std::filesystem::remove(file);
}

// Methods that find their events come back between them where told to, others go to the end at once.
TEST_P(GoingOn, AfterComingBackGivesTheSameBits) {
  const auto integrator = make();
  State state = start_of(body);
  const Index times = advance_coming_back(*integrator, state, end);
  const bool finds_events = GetParam().name == "avi" || GetParam().name == "avi adaptive";
  EXPECT_EQ(finds_events, times > 1) << times;
  EXPECT_TRUE(same_bits(state, uninterrupted()));
}

TEST_P(GoingOn, WithACheckpointReadIntoARunThatIsElsewhereGivesTheSameBits) {
  const auto file = scratch(GetParam().name);
  const auto first = make(), second = make();
  State state = start_of(body), other = start_of(body);
  first->advance_to(state, 0.5 * end);
  write_checkpoint(file, state, *first);
  second->advance_to(other, 0.9 * end);
  read_checkpoint(file, other, *second);
  second->advance_to(other, end);
  EXPECT_TRUE(same_bits(other, uninterrupted()));
  std::filesystem::remove(file);
}

TEST_P(GoingOn, UnderObservationGivesTheSameMotion) {
  const auto integrator = make();
  EnergyResidual residual(*body.model);
  State state = start_of(body);
  integrator->advance_to(state, end, residual);
  EXPECT_TRUE(same_motion(state, uninterrupted()));
}

TEST_P(GoingOn, UnderObservationBooksTheSameBits) {
  const auto integrator = make();
  EnergyResidual residual(*body.model);
  State state = start_of(body);
  integrator->advance_to(state, end, residual);
  const State expected = uninterrupted();
  EXPECT_TRUE(same_bits(state.loads, expected.loads));
  for (std::size_t s = 0; s < state.supports.size(); ++s)
    EXPECT_TRUE(same_bits(state.supports[s], expected.supports[s])) << "support " << s;
}

TEST_P(GoingOn, ObservedForAWhileOnlyGivesTheSameMotion) {
  const auto integrator = make();
  EnergyResidual residual(*body.model);
  State state = start_of(body);
  integrator->advance_to(state, 0.3 * end);
  integrator->advance_to(state, 0.6 * end, residual);
  integrator->advance_to(state, end);
  EXPECT_TRUE(same_motion(state, uninterrupted()));
}

TEST_P(GoingOn, AfterLookingAtItSynchronisedGivesTheSameBits) {
  const auto integrator = make();
  State state = start_of(body);
  for (int i = 0; i <= 10; ++i) {
    const double t = end * i / 10;
    integrator->advance_to(state, t);
    const State before = state;
    const Snapshot now = integrator->synchronized(state, t), later = integrator->synchronized(state, t + 0.01);
    EXPECT_TRUE(same_bits(state, before));
    for (const double clock : now.state.clock) EXPECT_EQ(clock, t);
    EXPECT_FALSE(same_bits(now.state.displacement, later.state.displacement));
  }
  EXPECT_TRUE(same_bits(state, uninterrupted()));
}

TEST_P(GoingOn, WithOtherStepsDoesNotGiveTheSameBits) {
  std::vector<double> other = steps;
  for (double& step : other) step *= 0.9;
  State state = start_of(body);
  GetParam().make(*body.model, other)->advance_to(state, end);
  EXPECT_FALSE(same_motion(state, uninterrupted()));
}

INSTANTIATE_TEST_SUITE_P(With, GoingOn, testing::ValuesIn(methods()),
                         [](const auto& c) { return plain(c.param.name); });
INSTANTIATE_TEST_SUITE_P(Adaptive, GoingOn, testing::Values(adaptive_avi()),
                         [](const auto& c) { return plain(c.param.name); });

INSTANTIATE_TEST_SUITE_P(Implicitly, GoingOn, testing::ValuesIn(implicit_methods()),
                         [](const auto& c) { return plain(c.param.name); });

// ---- what a checkpoint refuses ----

class Checkpoint : public testing::Test {
 protected:
  Body body = loaded_body();
  std::vector<double> steps = mixed_steps(*body.model);
  std::filesystem::path file = scratch("file");

  void write(const Method& method) const {
    const auto integrator = method.make(*body.model, steps);
    State state = start_of(body);
    integrator->advance_to(state, 10.3 * smallest(steps));
    write_checkpoint(file, state, *integrator);
  }
  ~Checkpoint() override { std::filesystem::remove(file); }
};

TEST_F(Checkpoint, OfAnotherMethodIsRefused) {
  for (const Method& writer : methods())
    for (const Method& reader : methods()) {
      if (reader.name == writer.name) continue;
      write(writer);
      const auto other = reader.make(*body.model, steps);
      State state = reference_state(*body.model);
      EXPECT_THROW(read_checkpoint(file, state, *other), InputError) << writer.name << ", " << reader.name;
    }
}

TEST_F(Checkpoint, OfOtherStepsIsRefused) {
  for (const Method& method : methods()) {
    write(method);
    std::vector<double> other = steps;
    for (double& step : other) step *= 1.0 + 1e-12;
    const auto integrator = method.make(*body.model, other);
    State state = reference_state(*body.model);
    EXPECT_THROW(read_checkpoint(file, state, *integrator), InputError) << method.name;
  }
}

TEST_F(Checkpoint, OfAnotherMeshIsRefused) {
  const Body other = make_body(triangle_mesh(CellType::triangle6, 2), NeoHookean{{1.3, 0.7}}, 1.2);
  for (const Method& method : methods()) {
    write(method);
    const auto integrator = method.make(*other.model, uniform_steps(*other.model, smallest(steps)));
    State state = reference_state(*other.model);
    EXPECT_THROW(read_checkpoint(file, state, *integrator), InputError) << method.name;
  }
}

TEST_F(Checkpoint, OfAModelOfTheSameSizeButOtherMassesIsRefused) {
  const Body other = loaded_body(3, 1.3);
  for (const Method& method : methods()) {
    write(method);
    const auto integrator = method.make(*other.model, steps);
    State state = reference_state(*other.model);
    EXPECT_THROW(read_checkpoint(file, state, *integrator), InputError) << method.name;
  }
}

TEST_F(Checkpoint, ThatIsRefusedLeavesStateAndIntegratorAlone) {
  const std::vector<Method> all = methods();
  for (std::size_t i = 0; i < all.size(); ++i) {
    write(all[i]);
    const Method& next = all[(i + 1) % all.size()];
    const auto other = next.make(*body.model, steps), twin = next.make(*body.model, steps);
    State state = start_of(body), expected = start_of(body);
    EXPECT_THROW(read_checkpoint(file, state, *other), InputError);
    EXPECT_TRUE(same_bits(state, expected));
    other->advance_to(state, 10.3 * smallest(steps));
    twin->advance_to(expected, 10.3 * smallest(steps));
    EXPECT_TRUE(same_bits(state, expected));
  }
}

TEST_F(Checkpoint, ThatIsCutShortIsRefused) {
  for (const Method& method : methods()) {
    write(method);
    const auto size = std::filesystem::file_size(file);
    for (const auto part : {std::uintmax_t{0}, std::uintmax_t{7}, size / 2, size - 1}) {
      write(method);
      std::filesystem::resize_file(file, part);
      const auto integrator = method.make(*body.model, steps);
      State state = reference_state(*body.model);
      EXPECT_THROW(read_checkpoint(file, state, *integrator), InputError) << method.name << " " << part;
    }
  }
}

TEST_F(Checkpoint, ThatDoesNotExistIsRefused) {
  const auto integrator = methods().front().make(*body.model, steps);
  State state = reference_state(*body.model);
  EXPECT_THROW(read_checkpoint(file / "nowhere", state, *integrator), InputError);
}

TEST_F(Checkpoint, IntoAPlaceThatCannotBeWrittenIsAnOutputError) {
  const auto integrator = methods().front().make(*body.model, steps);
  EXPECT_THROW(write_checkpoint(file / "nowhere", start_of(body), *integrator), OutputError);
}

}  // namespace
}  // namespace tempi::test
