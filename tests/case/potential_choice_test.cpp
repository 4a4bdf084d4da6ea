// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/potential_choice.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/cases.hpp"
#include "tempi/pair/pair_laws.hpp"

namespace tempi {
namespace {

using test::expect_words;
using test::refusal;

struct ChoosePotential : testing::Test {
  test::CaseFolder folder;

  // Four particles on a line, 1 m apart; "heavy" are the last two (they come from a file).
  Simulation with(const std::string& potential, const std::string& particles = "", const std::string& step = "0.01") {
    folder.write("four.csv", "mass,x,y,group\n1,0,0,light\n1,1,0,light\n2,2,0,heavy\n2,3,0,heavy\n");
    return folder.build("[particles]\nfile = \"four.csv\"\n" + particles + "\n[[potential]]\n" + potential +
                        "\n[integrator]\n" + (step.empty() ? "" : "step = " + step) + "\n[run]\nend_time = 1.0\n");
  }
  static double energy(const Simulation& s) { return s.model->potential_energy(s.state.displacement, 0.0); }
};

double lj(double epsilon, double sigma, double r) { return LennardJones{epsilon, sigma, {}}.at(r).V; }

TEST_F(ChoosePotential, joins_who_is_meant) {
  const std::string law = "type = \"lennard-jones\"\nepsilon = 1.0\nsigma = 0.8\n";
  const double one = lj(1.0, 0.8, 1.0), two = lj(1.0, 0.8, 2.0), three = lj(1.0, 0.8, 3.0);
  EXPECT_NEAR(energy(with(law)), 3.0 * one + 2.0 * two + three, 1e-14);
  EXPECT_NEAR(energy(with(law + "together = true")), 3.0 * one + 2.0 * two + three, 1e-14);
  EXPECT_NEAR(energy(with(law + "group = \"heavy\"")), one, 1e-14);
  EXPECT_NEAR(energy(with(law + "particles = [0, 2]")), two, 1e-14);
  EXPECT_NEAR(energy(with(law + "pairs = [[0, 3]]")), three, 1e-14);
  EXPECT_NEAR(energy(with(law + "within = 1.5")), 3.0 * one, 1e-14);
  for (const char* together : {"", "together = true"})
    EXPECT_NEAR(energy(with(law + "between = [\"light\", \"heavy\"]\n" + together)), one + 2.0 * two + three, 1e-14);
  EXPECT_NEAR(energy(with(law + "between = [\"light\", \"heavy\"]\nwithin = 1.5")), one, 1e-14);
  EXPECT_EQ(with(law).model->term_count(), 6);
  EXPECT_EQ(with(law + "together = true").model->term_count(), 1);
}

// Lorentz and Berthelot.
TEST_F(ChoosePotential, mixes_kinds) {
  const std::string law =
      "type = \"lennard-jones\"\nepsilon = [1.0, 4.0]\nsigma = [0.6, 0.8]\n"
      "kinds = [\"light\", \"heavy\"]\n";
  const double expected =
      lj(1.0, 0.6, 1.0) + lj(4.0, 0.8, 1.0) + lj(2.0, 0.7, 1.0) + 2.0 * lj(2.0, 0.7, 2.0) + lj(2.0, 0.7, 3.0);
  EXPECT_NEAR(energy(with(law)), expected, 1e-14);
  EXPECT_NEAR(energy(with(law + "together = true")), expected, 1e-14);
  EXPECT_EQ(with(law + "together = true").model->term_count(), 3);  // among either, and across
  EXPECT_NEAR(energy(with(law + "within = 1.5")), lj(1.0, 0.6, 1.0) + lj(2.0, 0.7, 1.0) + lj(4.0, 0.8, 1.0), 1e-14);
  EXPECT_NEAR(energy(with(law + "together = true\nbetween = [\"light\", \"heavy\"]")),
              lj(2.0, 0.7, 1.0) + 2.0 * lj(2.0, 0.7, 2.0) + lj(2.0, 0.7, 3.0), 1e-14);
}

// Beads of four sizes in one section: 4/3 E* sqrt(R).
TEST_F(ChoosePotential, knows_spheres) {
  const std::string law = "type = \"hertz\"\nyoung = 100.0\npoisson = 0.25\n";
  const std::string radii = "radius = [0.55, 0.6, 0.5, 0.7]";
  const auto contact = [](double a, double b, double r) {
    const double E = 100.0 / (2.0 * (1.0 - 0.0625)), R = a * b / (a + b), overlap = std::max(a + b - r, 0.0);
    return 8.0 / 15.0 * E * std::sqrt(R) * std::pow(overlap, 2.5);
  };
  const double expected = contact(0.55, 0.6, 1.0) + contact(0.6, 0.5, 1.0) + contact(0.5, 0.7, 1.0);
  EXPECT_NEAR(energy(with(law + "within = 1.5", radii)), expected, 1e-13);
  EXPECT_NEAR(energy(with(law, radii)), expected, 1e-13);  // all together, four kinds
  EXPECT_NEAR(energy(with("type = \"hertz\"\nkinds = [\"light\", \"heavy\"]\nyoung = [100.0, 100.0]\n"
                          "poisson = [0.25, 0.25]\nwithin = 1.5",
                          radii)),
              expected, 1e-13);
  expect_words(refusal([&] { with(law); }), {"need spheres", "radius"});
  expect_words(refusal([&] { with(law + "length = 1.0", radii); }), {"stiffness and length, or young and poisson"});
  expect_words(refusal([&] { with("type = \"hertz\"\nstiffness = 1.0"); }), {"stiffness and length"});
}

TEST_F(ChoosePotential, divides_a_law_by_distance) {
  const std::string law = "type = \"lennard-jones\"\nepsilon = 1.0\nsigma = 0.8\nsplit = [1.5, 2.6]\nblend = 0.6\n";
  const double whole = energy(with("type = \"lennard-jones\"\nepsilon = 1.0\nsigma = 0.8\n"));
  for (const char* together : {"false", "true"}) {
    const Simulation s = with(law + "step = [0.01, 0.02, 0.04]\ntogether = " + together, "", "");
    EXPECT_EQ(s.model->potential_count(), 3);
    EXPECT_NEAR(energy(s), whole, 1e-14);
    for (Index p = 0; p < 3; ++p)
      EXPECT_EQ(s.plan.own[static_cast<std::size_t>(index(s.model->first_term(p)))], 0.01 * (1 << p));
  }
  expect_words(refusal([&] { with(law + "step = [0.01, 0.02]"); }), {"2 values for 3 classes"});
  expect_words(refusal([&] { with("type = \"lennard-jones\"\nepsilon = 1.0\nsigma = 0.8\nblend = 0.6"); }),
               {"blend belongs to split"});
  expect_words(refusal([&] { with("type = \"lennard-jones\"\nepsilon = 1.0\nsigma = 0.8\nsplit = [2.0, 1.5]"); }),
               {"must ascend"});
  expect_words(refusal([&] {
                 with("type = \"lennard-jones\"\nepsilon = 1.0\nsigma = 0.8\nsplit = [1.5, 1.7]\nblend = 0.6");
               }),
               {"before it has begun"});
}

TEST_F(ChoosePotential, embeds_atoms) {
  const Simulation s = with("type = \"embedded-atom\"\ndepth = 2.0\ncutoff = 2.0\nexponent = 2.0\n");
  const double near = 0.25;  // (1 - 1/2)^2
  EXPECT_NEAR(energy(s), -2.0 * (2.0 * std::sqrt(near) + 2.0 * std::sqrt(2.0 * near)), 1e-14);
  EXPECT_FALSE(s.body.in_field);
}

TEST_F(ChoosePotential, holds_single_particles) {
  const Simulation well = with("type = \"well\"\nstiffness = 3.0\ncentre = [0.0, 0.0]");
  EXPECT_NEAR(energy(well), 1.5 * (1.0 + 4.0 + 9.0), 1e-13);
  EXPECT_TRUE(well.body.in_field);
}

TEST_F(ChoosePotential, refuses_keys_of_others_and_misunderstandings) {
  const std::string lj_law = "type = \"lennard-jones\"\nepsilon = 1.0\nsigma = 0.8\n";
  expect_words(refusal([&] { with("type = \"morse\"\nepsilon = 1.0"); }), {"epsilon belongs to lennard-jones"});
  expect_words(refusal([&] { with("type = \"spring\"\nstiffness = 1.0\nlength = 1.0"); }), {"spring needs pairs"});
  expect_words(refusal([&] { with(lj_law + "pairs = [[0, 9]]"); }), {"names 9", "0 to 3"});
  expect_words(refusal([&] { with(lj_law + "pairs = [[0, 1], [1, 0]]"); }), {"is there already"});
  expect_words(refusal([&] { with(lj_law + "skin = 0.1"); }), {"skin belongs to pairs that act together"});
  expect_words(refusal([&] { with(lj_law + "between = [\"light\"]"); }), {"between has 1 groups"});
  expect_words(refusal([&] { with(lj_law + "between = [\"light\", \"light\"]"); }), {"share no node"});
  expect_words(refusal([&] { with(lj_law + "between = [\"light\", \"heavy\"]\ngroup = \"light\""); }),
               {"between says whose pairs"});
  expect_words(refusal([&] { with(lj_law + "kinds = [\"light\"]"); }), {"takes part and is of no kind"});
  expect_words(refusal([&] { with("type = \"lennard-jones\"\nepsilon = [1.0, 2.0]\nsigma = 1.0"); }),
               {"epsilon has 2 values", "0 kinds"});
  expect_words(refusal([&] { with(lj_law, "", ""); }), {"wander", "Give a step"});
}

}  // namespace
}  // namespace tempi
