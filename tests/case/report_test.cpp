// SPDX-License-Identifier: Apache-2.0
// What `tempi check` and `tempi stability` say, and what a run writes.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/cases.hpp"
#include "tempi/case/model_report.hpp"
#include "tempi/case/output_plan.hpp"
#include "tempi/case/results.hpp"
#include "tempi/case/run.hpp"
#include "tempi/case/stability_report.hpp"
#include "tempi/diagnostic/energy.hpp"

namespace tempi {
namespace {

using test::CaseFolder;
using test::expect_words;
using test::refusal;

RunOptions into(const std::filesystem::path& folder) {
  RunOptions options;
  options.folder = folder;
  return options;
}

TEST(DescribeModel, tells_what_there_is) {
  const CaseFolder folder;
  const std::string square = describe_model(
      folder.build(CaseFolder::square("safety = 0.5",
                                      "[[fix]]\ngroup = \"left\"\n[[damping]]\ntype = \"drag\"\ncoefficient = 0.1\n")));
  expect_words(square, {"2 cells, 4 nodes, 2-D", "2 of type 3-node triangle, neo-hookean", "mass     1 kg/m",
                        "left: 2 nodes", "damping  drag", "steps", "newmark", "predicted saving"});
  const std::string chain = describe_model(folder.build(CaseFolder::chain("method = \"newmark\"\nsafety = 0.5")));
  expect_words(chain, {"3 particles, 2-D, in free space", "spring: 2 terms in 2 potentials", "mass     3 kg"});
  EXPECT_EQ(chain.find("predicted saving"), std::string::npos);
}

TEST(DescribeModel, proposes_only_what_takes_the_case) {
  const CaseFolder folder;
  // Of alike elements newmark takes longer steps, at its assembled limit.
  const std::string proposal = "newmark is predicted to be faster";
  const auto square = [&](const std::string& sections) {
    return describe_model(folder.build(CaseFolder::square("safety = 0.5\nneighbour_ratio = 1\n", sections)));
  };
  EXPECT_NE(square("").find(proposal), std::string::npos);
  const std::string layered = square("[[contact]]\ndistance = 0.01\n");
  EXPECT_EQ(layered.find(proposal), std::string::npos);
  expect_words(layered, {"takes no contact by layers"});
}

TEST(Predict, does_not_know_the_time_of_a_run_that_fails_at_once) {
  const CaseFolder folder;
  const std::string inwards = "[initial]\nvelocity = [\"-100*X\", \"0\"]\n";  // inverts in the first step
  Simulation sound = folder.build(CaseFolder::square("method = \"newmark\"\nsafety = 0.5\n"));
  Simulation s = folder.build(CaseFolder::square("method = \"newmark\"\nsafety = 0.5\n", inwards));
  EXPECT_GT(predict(sound).history, 0.0);
  EXPECT_TRUE(std::isnan(predict(s).total()));
}

TEST(MeasureStability, says_what_it_has_seen) {
  const CaseFolder folder;
  const Simulation s = folder.build(CaseFolder::chain("safety = 0.5"));
  expect_words(describe_stability(s, measure_stability(s, {.longest_steps = 2000})),
               {"linear stability", "avi", "growth", "verdict         stable", "would not have been seen"});
  const Simulation damped = folder.build(CaseFolder::chain("", "[[damping]]\ntype = \"drag\"\ncoefficient = 0.1\n"));
  expect_words(refusal([&] { measure_stability(damped, {}); }), {"without dampers"});
}

TEST(HistoryRow, has_a_number_for_each_column) {
  const CaseFolder folder;
  const Simulation s =
      folder.build(CaseFolder::square("",
                                      "[[fix]]\ngroup = \"left\"\n[[probe]]\nname = \"tip\"\npoint = [1, 1]\n"
                                      "[initial]\nvelocity = [\"X\", \"0\"]\n"));
  const Snapshot snapshot = s.integrator->synchronized(s.state, 0.0);
  const auto columns = history_columns(s);
  const auto row = history_row(s, snapshot, sample(*s.model, snapshot), nullptr);
  ASSERT_EQ(columns.size(), row.size());
  const auto value = [&](const char* name) {
    return row[static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin())];
  };
  EXPECT_EQ(value("time"), 0.0);
  EXPECT_NEAR(value("tip.velocity_x"), 1.0, 1e-15);
  EXPECT_NEAR(value("linear_momentum_x"), 0.5, 1e-15);  // 1/3 kg at (1,1), 1/6 at (1,0)
  EXPECT_NEAR(value("kinetic_energy"), 0.25, 1e-15);
}

TEST(Report, a_probe_of_the_residual_tells_of_one_element) {
  const CaseFolder folder;
  const std::string rest =
      "[[fix]]\ngroup = \"left\"\n[[probe]]\nname = \"one\"\npoint = [1, 0.3]\nresidual = true\n"
      "[initial]\nvelocity = [\"X\", \"0\"]\n";
  Simulation s = folder.build(CaseFolder::square("residual = true\n", rest));
  ASSERT_TRUE(s.probes[0].element);
  EnergyResidual residual(*s.model);
  s.integrator->advance_to(s.state, s.input.end_time, residual);
  const Snapshot snapshot = s.integrator->synchronized(s.state, s.input.end_time);
  const auto columns = history_columns(s);
  const auto row = history_row(s, snapshot, sample(*s.model, snapshot), &residual);
  ASSERT_EQ(columns.size(), row.size());
  const auto value = [&](const char* name) {
    return row[static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin())];
  };
  const auto term = static_cast<std::size_t>(s.body.term_of_cell()[ordinal(*s.probes[0].element)]);
  EXPECT_EQ(value("one.residual"), residual.last()[term]);
  EXPECT_EQ(value("one.accumulated_residual"), residual.accumulated()[term]);
  EXPECT_NE(value("one.accumulated_residual"), 0.0);
  EXPECT_LT(std::abs(value("one.accumulated_residual")), value("total_energy"));
  EXPECT_LE(value("one.energy"), value("kinetic_energy") + value("potential_energy"));
  test::expect_words(test::refusal([&] { folder.build(CaseFolder::square("", rest)); }),
                     {"residual = true in [integrator]"});
}

TEST(MakeFrame, has_stresses_of_cells_and_energies_of_forces) {
  const CaseFolder folder;
  const Simulation square = folder.build(CaseFolder::square("", "[initial]\nposition = [\"1.1*X\", \"Y\"]\n"));
  const Frame body = make_frame(square, square.integrator->synchronized(square.state, 0.0), nullptr);
  const auto find = [](const Frame& frame, const char* name) -> const std::vector<double>& {
    return std::ranges::find(frame.cell_data, std::string(name), [](const auto& d) { return d.name; })->values;
  };
  EXPECT_GT(find(body, "von_mises")[0], 0.0);
  EXPECT_NEAR(find(body, "strain_energy")[0], find(body, "strain_energy")[1], 1e-15);
  EXPECT_NEAR(body.points[3], 1.1, 1e-15);
  const Simulation chain = folder.build(CaseFolder::chain());
  const Frame particles = make_frame(chain, chain.integrator->synchronized(chain.state, 0.0), nullptr);
  EXPECT_EQ(find(particles, "energy").size(), 5u);  // three points, two bonds
}

TEST(Run, writes_what_it_did_and_refuses_a_folder_with_results) {
  const CaseFolder folder;
  Simulation s = folder.build(CaseFolder::chain("step = 0.01", "[output]\nframes = 2\nhistory = 4\n"));
  const auto out = folder.path() / "out";
  const Summary summary = run(s, into(out));
  EXPECT_EQ(summary.status, Status::completed);
  std::ifstream file(out / "summary.json");
  const auto json = nlohmann::json::parse(file);
  EXPECT_EQ(json["status"], "completed");
  EXPECT_EQ(json["updates"]["max"], 99);
  std::ifstream history(out / "history.csv");
  Index lines = 0;
  for (std::string line; std::getline(history, line);) ++lines;
  EXPECT_EQ(lines, 6);  // a header, the start, four rows
  EXPECT_TRUE(std::filesystem::exists(out / "frames.pvd"));
  Simulation again = folder.build(CaseFolder::chain("step = 0.01"));
  expect_words(refusal([&] { run(again, into(out)); }), {"out", "overwrite"});
}

TEST(Run, ends_when_it_is_told_to) {
  const CaseFolder folder;
  Simulation s = folder.build(CaseFolder::chain("step = 0.01"));
  const std::atomic<bool> stop = true;
  RunOptions options = into(folder.path() / "out");
  options.stop = &stop;
  EXPECT_EQ(run(s, options).status, Status::interrupted);
}

TEST(ParticlesBesideAMesh, strike_it) {
  const CaseFolder folder;
  const std::string text =
      "[mesh]\nfile = \"square.inp\"\n[[material]]\nmodel = \"linear-elastic\"\nyoung = 1e4\npoisson = 0.0\n"
      "density = 1.0\n[particles]\nmass = 0.1\nposition = [[-0.15, 0]]\nvelocity = [[1.0, 0]]\nradius = 0.1\n"
      "[[potential]]\ntype = \"hertz\"\nbetween = [\"particles\", \"left\"]\nyoung = 1e4\npoisson = 0.0\n"
      "[integrator]\nstep = 1e-3\nlattice = \"powers-of-two\"\n[run]\nend_time = 1.0\n[output]\nframes = 2\n";
  Simulation s = folder.build(text);
  EXPECT_EQ(s.model->node_count(), 5);
  EXPECT_EQ(s.body.first_particle, 4);
  expect_words(describe_model(folder.build(text)), {"2 cells, 4 nodes, 2-D", "beside   1 particles", "hertz"});
  const Summary summary = run(s, into(folder.path() / "out"));
  EXPECT_EQ(summary.status, Status::completed);
  const Snapshot end = s.integrator->synchronized(s.state, 1.0);
  // The ball has given momentum to the square and flies back; nothing is lost.
  EXPECT_LT(end.state.velocity[8], -0.1);
  double momentum = 0.0;
  for (std::size_t a = 0; a < 5; ++a) momentum += s.model->mass()[a] * end.state.velocity[2 * a];
  EXPECT_NEAR(momentum, 0.1, 1e-14);
  // gravity falls on both, a force on either
  const auto forces = [&](const std::string& load) {
    const Simulation with = folder.build(text + "[[load]]\n" + load);
    return with.integrator->synchronized(with.state, 0.0).force;
  };
  const auto weight = forces("type = \"gravity\"\nvalue = [0, -2.0]\n");
  double sum = 0.0;
  for (std::size_t a = 0; a < 5; ++a) sum += weight[2 * a + 1];
  EXPECT_NEAR(sum, -2.0 * 1.1, 1e-13);
  EXPECT_NEAR(forces("type = \"gravity\"\nvalue = [0, -2.0]\ngroup = \"particles\"\n")[9], -0.2, 1e-14);
  EXPECT_EQ(forces("type = \"gravity\"\nvalue = [0, -2.0]\ngroup = \"body\"\n")[9], 0.0);
  EXPECT_NEAR(forces("type = \"force\"\nvalue = [3.0, 0]\nparticles = [0]\n")[8], 3.0, 1e-14);
  EXPECT_NEAR(forces("type = \"force\"\nvalue = [3.0, 0]\ngroup = \"left\"\n")[0], 3.0, 1e-13);
}

TEST(Domains, are_read_and_refused_by_methods_that_have_none) {
  const CaseFolder folder;
  const std::string domains = "[[domain]]\nname = \"stiff\"\ngroup = \"first\"\nalpha = 0.0\nsubsteps = 8\n";
  expect_words(refusal([&] { folder.read(CaseFolder::square("", domains)); }), {"[[domain]]", "not to avi"});
  expect_words(refusal([&] { folder.read(CaseFolder::square("", "[[domain]]\nsubsteps = 0\n")); }), {"substeps"});
}

}  // namespace
}  // namespace tempi
