// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/restitution.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/cases.hpp"

namespace tempi {
namespace {

using test::CaseFolder;
using test::expect_words;
using test::refusal;

// Two spheres by Hertz's law, the first at `velocity`.
std::string pair_of(const std::string& law, const std::string& end_time, const std::string& probes,
                    const std::string& velocity = "speed") {
  return "[constants]\nspeed = 1.0\n[particles]\nposition = [[0.0, 0.0], [0.02001, 0.0]]\nradius = 0.01\nmass = [0.03, "
         "0.05]\n"
         "[initial]\nvelocity = [\"X < 0.01 ? " +
         velocity + " : 0\", \"0\"]\n[[potential]]\ntype = \"hertz\"\nyoung = 2e11\npoisson = 0.3\n" + law +
         "[integrator]\nmethod = \"avi\"\nstep = 1e-7\n[run]\nend_time = " + end_time + "\n" + probes;
}
const std::string both =
    "[[probe]]\nname = \"a\"\nparticles = [0]\nbody = true\n[[probe]]\nname = \"b\"\nparticles = [1]\nbody = true\n";

Impact impact_of(const CaseFolder& folder, const std::string& text, double speed) {
  folder.write("case.toml", text);
  const CaseFile given = read_case(folder.path() / "case.toml", {});
  Simulation s = build(read_case(folder.path() / "case.toml", settings_of_impact(given, speed)));
  const ImpactWatch watch(s, speed);
  s.integrator->advance_to(s.state, s.input.end_time);
  return watch(s);
}

TEST(Restitution, is_that_of_the_law_whatever_the_masses) {
  const CaseFolder folder;
  std::vector<Impact> impacts;
  for (const double v : {0.1, 0.4, 1.6, 6.4}) {
    impacts.push_back(impact_of(folder, pair_of("restitution = \"1 - 0.05*v^0.3\"\n", "1e-3", both), v));
    EXPECT_NEAR(impacts.back().restitution, 1.0 - 0.05 * std::pow(v, 0.3), 2e-4);
    EXPECT_EQ(impacts.back().vibrating, 0.0);  // points cannot
  }
  const auto fit = fit_restitution(impacts);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->loss, 0.05, 1e-4);
  EXPECT_NEAR(fit->exponent, 0.3, 2e-3);
  EXPECT_LT(fit->scatter, 5e-3);
  expect_words(to_text(fit), {"restitution = \"1 - 0.05", "*v^0.3"});
}

// The run is as long as an impact at that speed by Hertz.
TEST(Restitution, runs_are_longer_at_lower_speeds) {
  const CaseFolder folder;
  const CaseFile given = folder.read(pair_of("", "1e-3", both));
  const auto settings = settings_of_impact(given, 1.0 / 32.0);
  ASSERT_EQ(settings.size(), 2u);
  EXPECT_EQ(settings[0], "constants.speed=0.03125");
  EXPECT_NEAR(std::stod(settings[1].substr(settings[1].find('=') + 1)), 2e-3, 1e-15);
}

TEST(Restitution, of_what_loses_nothing_there_is_no_fit) {
  const std::vector<Impact> impacts = {{1.0, 1.0, 0.0}, {2.0, 0.9, 0.0}};
  EXPECT_FALSE(fit_restitution(impacts));
  expect_words(to_text(fit_restitution(impacts)), {"no fit"});
}

TEST(Restitution, says_what_a_case_lacks) {
  const CaseFolder folder;
  const auto refused = [&](const std::string& text) { return refusal([&] { impact_of(folder, text, 0.5); }); };
  expect_words(refused(pair_of("", "1e-3", "")), {"[[probe]]", "body = true"});
  expect_words(refused(pair_of("", "1e-3", both, "2*speed")), {"'a' and 'b'", "have velocities 1 m/s apart"});
  expect_words(refused(folder.square("", both)), {"constant speed", "[constants] speed = 1.0"});
}

TEST(Restitution, says_when_bodies_have_not_met_or_not_parted) {
  const CaseFolder folder;
  for (const auto& [end_time, words] : {std::pair("1e-6", "not met"), std::pair("4e-5", "not parted")}) {
    try {
      impact_of(folder, pair_of("", end_time, both), 1.0);
      FAIL() << end_time;
    } catch (const SolveError& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace tempi
