// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/damping_choice.hpp"

#include <gtest/gtest.h>

#include "support/cases.hpp"

namespace tempi {
namespace {

using test::CaseFolder;
using test::expect_words;
using test::refusal;

struct ChooseDampers : testing::Test {
  CaseFolder folder;
  // The sum over all terms of the power taken at velocities v [W].
  double power(const std::string& text, const std::vector<double>& v) {
    const Simulation s = folder.build(text);
    const auto d = static_cast<std::size_t>(s.model->dim());
    double sum = 0.0;
    const auto add = [&](std::span<const NodeId> nodes, std::span<const double> C) {
      const std::size_t n = nodes.size() * d;
      const auto at = [&](std::size_t i_local) {
        return v[static_cast<std::size_t>(index(nodes[i_local / d])) * d + i_local % d];
      };
      for (std::size_t r = 0; r < n; ++r)
        for (std::size_t c = 0; c < n; ++c) sum += at(r) * C[r * n + c] * at(c);
    };
    for (Index i = 0; i < s.model->term_count(); ++i)
      s.model->each_damping_piece(make_id<TermId>(i), s.state.displacement, 0.0, add);
    return sum;
  }
};

// Chain: masses of 1 kg at x = 0, 1, 2, springs of 4 and 1 N/m.
TEST_F(ChooseDampers, takes_what_each_kind_takes) {
  const std::vector<double> v = {1, 0, 0, 2, 0, 0};
  const std::vector<double> apart = {0, 0, 1, 0, 3, 0};
  EXPECT_NEAR(power(CaseFolder::chain("", "[[damping]]\ntype = \"drag\"\ncoefficient = 0.5\n"), v), 0.5 * 5.0, 1e-14);
  EXPECT_NEAR(power(CaseFolder::chain("", "[[damping]]\ntype = \"drag\"\ncoefficient = 0.5\nparticles = [1]\n"), v),
              0.5 * 4.0, 1e-14);
  EXPECT_NEAR(power(CaseFolder::chain("", "[[damping]]\ntype = \"rayleigh\"\nalpha = 0.2\nbeta = 0.1\n"), apart),
              0.2 * 10.0 + 0.1 * (4.0 * 1.0 + 1.0 * 4.0), 1e-13);
  EXPECT_NEAR(power(CaseFolder::chain("", "[[damping]]\ntype = \"kelvin-voigt\"\ncoefficient = 0.3\n"), apart),
              0.3 * (1.0 + 4.0), 1e-14);
  // of cells: drag of the mass alone takes alpha m v^2
  const std::vector<double> all = {1, 0, 1, 0, 1, 0, 1, 0};
  EXPECT_NEAR(power(CaseFolder::square("", "[[damping]]\ntype = \"rayleigh\"\nalpha = 0.2\n"), all), 0.2, 1e-14);
  EXPECT_NEAR(power(CaseFolder::square("", "[[damping]]\ntype = \"kelvin-voigt\"\nbulk_viscosity = 1.0\n"), all), 0.0,
              1e-14);
}

// What acts on particles is no term, unless nothing else would give it a tempo.
TEST_F(ChooseDampers, adds_terms_to_lonely_particles_alone) {
  const std::string load = "[[load]]\ntype = \"gravity\"\nvalue = [0, -1]\n";
  const auto terms = [&](const std::string& text) { return folder.build(text).model->term_count(); };
  for (const char* damping : {"type = \"rayleigh\"\nbeta = 0.1\n", "type = \"kelvin-voigt\"\ncoefficient = 0.1\n",
                              "type = \"rayleigh\"\nalpha = 0.1\n", "type = \"drag\"\ncoefficient = 0.1\n"})
    EXPECT_EQ(terms(CaseFolder::chain("", load + "[[damping]]\n" + damping)), 2) << damping;  // its springs
  const std::string points = "[particles]\nmass = 1.0\nposition = [[0, 0], [1, 0], [9, 0]]\n";
  const std::string drag = load + "[[damping]]\ntype = \"drag\"\ncoefficient = 0.1\n";
  const std::string end = "[integrator]\nmethod = \"newmark\"\nstep = 0.01\n[run]\nend_time = 1.0\n";
  const std::string pair = "[[potential]]\ntype = \"spring\"\npairs = [[0, 1]]\nstiffness = 4.0\nlength = 1.0\n";
  EXPECT_EQ(terms(points + pair + end), 1);
  EXPECT_EQ(terms(points + pair + drag + end), 2);  // and the third particle
  const std::string sum = "[[potential]]\ntype = \"lennard-jones\"\nepsilon = 1.0\nsigma = 0.9\ncutoff = 1.5\n";
  EXPECT_EQ(terms(points + sum + drag + end), 1);
}

TEST_F(ChooseDampers, refuses_what_does_not_fit) {
  const auto chain = [&](const std::string& damping) {
    return refusal([&] { folder.build(CaseFolder::chain("", "[[damping]]\n" + damping)); });
  };
  const auto square = [&](const std::string& damping) {
    return refusal([&] { folder.build(CaseFolder::square("", "[[damping]]\n" + damping)); });
  };
  expect_words(chain("type = \"drag\"\n"), {"drag has no strength"});
  expect_words(chain("type = \"drag\"\nalpha = 1.0\n"), {"alpha does not go with drag"});
  expect_words(chain("type = \"rayleigh\"\nbeta = 0.1\nparticles = [0]\n"), {"beta damps all pairs"});
  expect_words(square("type = \"kelvin-voigt\"\nshear_viscosity = 1.0\ngroup = \"first\"\n"),
               {"names 1 of the 2 cells"});
}

TEST_F(ChooseDampers, does_not_damp_the_stiffness_of_pairs_that_act_together) {
  expect_words(refusal([&] {
                 folder.build(
                     "[particles]\nmass = 1.0\nposition = [[0, 0], [1, 0], [2, 0]]\n[[potential]]\n"
                     "type = \"lennard-jones\"\nepsilon = 1.0\nsigma = 0.9\ncutoff = 1.5\n[[damping]]\n"
                     "type = \"rayleigh\"\nbeta = 0.1\n[integrator]\nstep = 0.01\n[run]\nend_time = 1.0\n");
               }),
               {"beta does not damp", "together = false"});
}

}  // namespace
}  // namespace tempi
