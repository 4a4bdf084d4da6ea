// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/subdomain_choice.hpp"

#include <gtest/gtest.h>

#include "support/cases.hpp"
#include "tempi/case/term_choice.hpp"

namespace tempi {
namespace {

using test::CaseFolder;
using test::expect_words;
using test::refusal;

TEST(ChooseSubdomains, gives_terms_groups_and_sections_subdomains_of_their_own) {
  const CaseFolder folder;
  const auto chosen = [&](const std::string& keys, const std::string& sections = "") {
    return choose_subdomains(
        folder.build(folder.square("method = \"async-energy-stepping\"\nenergy_step = 1e-3\n" + keys,
                                   "[initial]\nvelocity = [\"X\", \"0\"]\n" + sections)));
  };
  EXPECT_EQ(chosen("subdomains = \"terms\"").of_term, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(chosen("subdomains = \"bodies\"").of_term, (std::vector<std::int32_t>{0, 0}));
  const Subdomains own = chosen("", "[[subdomain]]\ngroup = \"first\"\nenergy_step = 2e-3\n");
  ASSERT_EQ(own.energy_step.size(), 2u);
  EXPECT_NE(own.of_term[0], own.of_term[1]);
  EXPECT_EQ(own.energy_step[static_cast<std::size_t>(own.of_term[0])], 2e-3);
  EXPECT_EQ(own.energy_step[static_cast<std::size_t>(own.of_term[1])], 1e-3);
}

// Between two levels nothing stops a body: it collapses into a line, and whoever looks ahead by its size stands there.
TEST(ChooseSubdomains, energy_steps_that_nothing_reaches_end_where_cells_invert) {
  const CaseFolder folder;
  for (const char* method : {"energy-stepping", "async-energy-stepping"}) {
    Simulation s = folder.build(
        "[mesh]\nfile = \"square.inp\"\n[[material]]\nmodel = \"saint-venant-kirchhoff\"\n"
        "lambda = 1.0\nmu = 1.0\ndensity = 1.0\n[integrator]\nmethod = \"" +
        std::string(method) + "\"\nenergy_step = 100\n[initial]\nvelocity = [\"-2*X\", \"0\"]\n[run]\nend_time = 1\n");
    try {
      s.integrator->advance_to(s.state, 1.0);
      ADD_FAILURE() << method << " goes on";
    } catch (const SolveError& e) {
      expect_words(e.what(), {"is inverted at t = 0.5", "smaller than 100 J"});
    }
  }
}

TEST(ChooseSubdomains, refuses_what_does_not_fit_where_it_stands) {
  const CaseFolder folder;
  const auto refused = [&](const std::string& integrator, const std::string& sections = "") {
    return refusal([&] { folder.build(folder.square(integrator, sections)); });
  };
  expect_words(refused("method = \"energy-stepping\""), {"case.toml", "needs energy_step"});
  expect_words(refused("method = \"energy-stepping\"\nenergy_step = 1e-3", "[[subdomain]]\ngroup = \"first\"\n"),
               {"belongs to async-energy-stepping"});
  expect_words(refused("method = \"async-energy-stepping\"\nenergy_step = 1e-3",
                       "[[subdomain]]\ngroup = \"first\"\n[[subdomain]]\ngroup = \"body\"\n"),
               {"in another [[subdomain]] already"});
}

TEST(TermsOf, takes_cells_by_group_and_bonds_by_both_their_particles) {
  const CaseFolder folder;
  const Simulation body = folder.build(folder.square());
  Selector first;
  first.name = "first";
  const TakenTerms cells = terms_of(body, first, "a test");
  EXPECT_EQ(cells.terms, (std::vector<std::size_t>{0}));
  EXPECT_EQ(cells.node_is_inside, (std::vector<char>{1, 1, 1, 0}));
  const Simulation chain = folder.build(folder.chain("step = 0.1"));
  Selector end;
  end.particles = {1, 2};
  EXPECT_EQ(terms_of(chain, end, "a test").terms, (std::vector<std::size_t>{1}));
}

}  // namespace
}  // namespace tempi
