// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/summary.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "support/cases.hpp"
#include "support/meshes.hpp"
#include "tempi/case/run.hpp"

namespace tempi {
namespace {

using Json = nlohmann::json;
using test::CaseFolder;
using test::expect_words;

Summary of_run(const CaseFolder& folder, const std::string& text) {
  Simulation s = folder.build(text);
  RunOptions options;
  options.folder = folder.path() / "out";
  options.existing = Existing::overwrite;
  return run(s, options);
}

TEST(Summary, tells_of_a_run_what_the_run_has_done) {
  const CaseFolder folder;
  const Summary r = of_run(folder, folder.chain("step = 0.125", "[output]\nframes = 0\n"));
  EXPECT_EQ(r.status, Status::completed);
  EXPECT_EQ(r.method, "avi");
  EXPECT_TRUE(r.particles);
  EXPECT_EQ(r.elements, 2);
  EXPECT_EQ(r.nodes, 3);
  EXPECT_EQ(r.updates.total, 2 * 7);  // at 1/8 ... 7/8
  EXPECT_EQ(r.reached_time, 1.0);
  EXPECT_LT(r.linear_momentum.balance.error, 1e-14);
  EXPECT_DOUBLE_EQ(r.energy.initial, 0.5);
}

TEST(Summary, is_the_same_as_json_and_as_text) {
  const CaseFolder folder;
  const Summary r =
      of_run(folder, folder.square("safety = 0.5\nresidual = true", "[output]\nframes = 1\nhistory = 4\n"));
  const Json j = Json::parse(to_json(r));
  EXPECT_EQ(j["status"], "completed");
  EXPECT_EQ(j["updates"]["total"], r.updates.total);
  EXPECT_EQ(j["groups"].size(), r.groups.size());
  EXPECT_DOUBLE_EQ(j["counted_speedup"], *r.per_update(static_cast<double>(r.newmark_updates)));
  EXPECT_TRUE(j.contains("mesh_fingerprint"));
  std::ifstream file(folder.path() / "out" / "summary.json");
  EXPECT_EQ(Json::parse(file), j);
  expect_words(to_text(r), {"completed, avi of 2 elements, 4 nodes", "time            1 s of 1 s", "local residual"});
}

TEST(Summary, has_no_numbers_where_there_are_none) {
  Summary r;
  r.updates = {0, 0, 0};
  r.energy.band = std::numeric_limits<double>::quiet_NaN();
  r.linear_momentum.kept = false;
  const Json j = Json::parse(to_json(r));
  EXPECT_TRUE(j["counted_speedup"].is_null());
  EXPECT_TRUE(j["time_per_update"].is_null());
  EXPECT_TRUE(j["linear_momentum"]["error"].is_null());
  EXPECT_FALSE(j.contains("lattice"));
  expect_words(to_text(r), {"band not a number", "linear not kept by the model"});
}

TEST(Summary, writes_a_box_by_its_sides) {
  Body body;
  body.mesh = std::make_unique<Mesh>(test::triangle_mesh(CellType::triangle3, 1));
  EXPECT_EQ(text_of_box(body), "");
  body.box = Box({2.0, {}, {}});
  EXPECT_EQ(text_of_box(body), "2 m x free");
}

}  // namespace
}  // namespace tempi
