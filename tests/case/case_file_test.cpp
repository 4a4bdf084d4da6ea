// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/case_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tempi/case/method_table.hpp"
#include "tempi/case/option_table.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

using Value = std::variant<double, std::string>;

std::vector<Value> values_of(const std::vector<tempi::FormulaText>& formulas) {
  std::vector<Value> values;
  for (const auto& formula : formulas) values.push_back(formula.value);
  return values;
}

// Lines matter: messages are held against them.
const std::string complete = R"(title = "Block"
[constants]
omega = 40
[mesh]
file = "block.msh"
[[material]]
density = 7800
lambda = 93e9
mu = 10e9
[[fix]]
group = "left"
components = ["x"]
displacement = ["0.1*t"]
[[load]]
type = "gravity"
value = [0, "-9.81"]
[[probe]]
name = "tip"
point = [1, 0.5]
[initial]
velocity = ["-omega*Y", "omega*X"]
[integrator]
method = "avi"
[run]
end_time = 1e-2
[output]
frames = 5
)";

std::filesystem::path write(const std::string& text) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const auto folder = std::filesystem::path(testing::TempDir()) / fmt::format("tempi_case_{}", test->name());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "block.toml") << text;
  return folder / "block.toml";
}

CaseFile read(const std::string& text, const std::vector<std::string>& settings = {}) {
  return read_case(write(text), settings);
}

std::string refusal(const std::string& text, const std::vector<std::string>& settings = {}) {
  try {
    read(text, settings);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

// The complete case with one line replaced (counted from 1).
std::string with_line(int number, const std::string& line) {
  std::string text = complete;
  std::size_t at = 0;
  for (int i = 1; i < number; ++i) at = text.find('\n', at) + 1;
  return text.replace(at, text.find('\n', at) - at, line);
}

void expect_words(const std::string& message, const std::vector<std::string>& words) {
  for (const std::string& word : words) EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
}

TEST(ReadCase, reads_every_section) {
  const CaseFile c = read(complete);
  EXPECT_EQ(c.title, "Block");
  EXPECT_EQ(c.constants, (Constants{{"omega", 40.0}}));
  EXPECT_EQ(c.mesh_file, "block.msh");
  ASSERT_EQ(c.materials.size(), 1u);
  EXPECT_TRUE(c.materials[0].cells.everything());
  EXPECT_EQ(c.materials[0].density, 7800.0);
  EXPECT_EQ(c.materials[0].lambda, 93e9);
  EXPECT_FALSE(c.materials[0].young);
  ASSERT_EQ(c.fixes.size(), 1u);
  EXPECT_EQ(c.fixes[0].nodes.name, "left");
  EXPECT_EQ(c.fixes[0].components, std::vector<std::string>{"x"});
  EXPECT_EQ(values_of(c.fixes[0].displacement), std::vector<Value>{"0.1*t"});
  ASSERT_EQ(c.loads.size(), 1u);
  EXPECT_EQ(values_of(c.loads[0].value), (std::vector<Value>{0.0, "-9.81"}));
  EXPECT_FALSE(c.loads[0].single_value);
  ASSERT_EQ(c.probes.size(), 1u);
  EXPECT_EQ(c.probes[0].point, (std::vector<double>{1.0, 0.5}));
  EXPECT_EQ(values_of(c.initial_velocity), (std::vector<Value>{"-omega*Y", "omega*X"}));
  EXPECT_TRUE(c.initial_position.empty());
  EXPECT_EQ(c.end_time, 1e-2);
  EXPECT_EQ(c.frames, 5);
}

double default_of(std::string_view section, std::string_view key) {
  return std::stod(std::string(option(section, key).fallback));
}

TEST(ReadCase, fills_in_the_defaults_of_the_table) {
  const CaseFile c = read("mesh = {file = \"a.msh\"}\nrun.end_time = 1\n[[material]]\ndensity = 1\n");
  EXPECT_EQ(c.title, "block");  // the name of the file
  EXPECT_EQ(c.mesh_order, default_of("mesh", "order"));
  EXPECT_EQ(c.mesh_size, 0.0);
  EXPECT_EQ(c.mesh_scale, default_of("mesh", "scale"));
  EXPECT_EQ(c.materials[0].model, "neo-hookean");
  EXPECT_EQ(c.integrator.method, "avi");
  EXPECT_EQ(c.integrator.safety, default_of("integrator", "safety"));
  EXPECT_FALSE(c.integrator.courant || c.integrator.step);
  EXPECT_EQ(c.integrator.steps, "element");
  EXPECT_FALSE(c.integrator.residual);
  EXPECT_FALSE(c.frames || c.history);  // to be chosen
  EXPECT_TRUE(c.fields.empty());
  EXPECT_FALSE(c.float32);
}

TEST(ReadCase, refuses_a_field_that_frames_do_not_have) {
  const std::string wrong = refusal(std::string(complete), {"output.fields=[\"stres\"]"});
  EXPECT_NE(wrong.find("Did you mean \"stress\"?"), std::string::npos) << wrong;
  EXPECT_EQ(refusal(std::string(complete), {"output.fields=[\"stress\", \"velocity\"]"}), "");
}

// Writing a default out must be accepted and change nothing.
TEST(ReadCase, every_default_of_the_table_is_a_value_it_accepts) {
  for (const Option& o : option_table()) {
    if (o.fallback.empty() || o.fallback == "required") continue;
    if (o.section == "domain") continue;  // which no method takes yet
    const bool repeated = std::ranges::find(section_table(), o.section, &SectionInfo::name)->repeated;
    const std::string path = o.section.empty() ? std::string(o.key)
                             : repeated        ? fmt::format("{}.0.{}", o.section, o.key)
                                               : fmt::format("{}.{}", o.section, o.key);
    const std::string text = std::string(complete) +
                             "[[potential]]\ntype = \"well\"\nstiffness = 1\n"
                             "[[constraint]]\ntype = \"rigid-body\"\n[[contact]]\npenalty = 1\n"
                             "[[wall]]\ntype = \"plane\"\n"
                             "[[path_integral]]\nname = \"tip\"\ndirection = [1, 0]\n";
    std::vector<std::string> settings = {fmt::format("{}={}", path, o.fallback)};
    const auto owner = std::ranges::find_if(method_table(), [&](const Method& m) { return has_key(m.keys, o.key); });
    if (o.section == "integrator" && owner != method_table().end())  // a key of some methods only
      settings.push_back(fmt::format("integrator.method=\"{}\"", owner->name));
    if (o.section == "particles") settings.push_back("particles.file=\"some.xyz\"");
    EXPECT_EQ(refusal(text, settings), "") << path;
  }
}

TEST(ReadCase, a_group_may_be_a_name_a_tag_or_a_condition) {
  EXPECT_EQ(read(with_line(11, "group = 7")).fixes[0].nodes.tag, 7);
  EXPECT_EQ(read(with_line(11, "where = \"X < 1e-6\"")).fixes[0].nodes.where, "X < 1e-6");
  EXPECT_EQ(read(with_line(11, "group = 7")).fixes[0].nodes.text(), "group 7");
  EXPECT_EQ(read(complete).fixes[0].nodes.text(), "group 'left'");
}

TEST(ReadCase, a_load_may_have_a_single_value) {
  const CaseFile c = read(with_line(16, "value = \"1e5*t\""));
  EXPECT_TRUE(c.loads[0].single_value);
  EXPECT_EQ(values_of(c.loads[0].value), std::vector<Value>{"1e5*t"});
}

TEST(ReadCase, an_unknown_key_is_refused_with_line_section_and_the_nearest_name) {
  expect_words(refusal(with_line(8, "lamda = 93e9")), {"block.toml:8", "'lamda'", "[material]", "'lambda'"});
  expect_words(refusal(with_line(25, "endtime = 1")), {"block.toml:25", "'endtime'", "'end_time'"});
  expect_words(refusal(with_line(1, "titel = \"x\"")), {"block.toml:1", "'titel'", "'title'"});
  expect_words(refusal(with_line(22, "[integrater]")), {"block.toml:22", "[integrater]", "'integrator'"});
  expect_words(refusal(with_line(27, "zzzzzzzzzzzzzzz = 5")), {"zzzz", "tempi options"});
}

TEST(ReadCase, a_value_of_the_wrong_type_is_refused_with_line_and_both_types) {
  expect_words(refusal(with_line(7, "density = \"7800\"")),
               {"block.toml:7", "density = \"7800\" is a text", "must be a number"});
  expect_words(refusal(with_line(7, "density = true")), {"block.toml:7", "true or false", "must be a number"});
  expect_words(refusal(with_line(5, "file = 3")), {"block.toml:5", "file is an integer", "must be a text"});
  expect_words(refusal(with_line(12, "components = \"x\"")), {"block.toml:12", "components = \"x\" is a text", "list"});
  expect_words(refusal(with_line(13, "displacement = \"0\"")),
               {"block.toml:13", "displacement = \"0\" is a text", "list"});
  expect_words(refusal(with_line(16, "value = [0, true]")), {"block.toml:16", "value is true or false"});
  expect_words(refusal(with_line(19, "point = [\"a\", 0]")), {"block.toml:19", "point = \"a\" is a text"});
  expect_words(refusal(with_line(27, "frames = 5.5")), {"block.toml:27", "frames is a number", "must be an integer"});
  expect_words(refusal(with_line(3, "omega = \"40\"")), {"block.toml:3", "omega is a text", "must be a number"});
  expect_words(refusal(with_line(23, "residual = 1")), {"block.toml:23", "residual is an integer", "true or false"});
  expect_words(refusal(with_line(11, "group = 1.5")),
               {"block.toml:11", "group must be a name in quotes or an integer"});
  expect_words(refusal(with_line(25, "end_time = 2024-01-01")), {"block.toml:25", "a date or time"});
}

TEST(ReadCase, a_value_out_of_range_is_refused_with_value_unit_and_range) {
  expect_words(refusal(with_line(7, "density = -7800")), {"block.toml:7", "density = -7800 kg/m^3", "must be > 0"});
  expect_words(refusal(with_line(9, "mu = 0")), {"block.toml:9", "mu = 0 Pa", "> 0"});
  expect_words(refusal(with_line(9, "poisson = 0.5")), {"poisson = 0.5", "> -1 and < 0.5"});
  expect_words(refusal(with_line(25, "end_time = 0")), {"end_time = 0 s", "> 0"});
  expect_words(refusal(with_line(25, "end_time = inf")), {"end_time = inf", "finite"});
  expect_words(refusal(with_line(25, "end_time = nan")), {"end_time = nan", "finite"});
  expect_words(refusal(with_line(27, "frames = -1")), {"frames = -1", ">= 0"});
  expect_words(refusal(with_line(27, "history = 0")), {"history = 0", ">= 1"});
  expect_words(refusal(with_line(27, "frames = 99999999999")), {"frames = 99999999999", "<= "});
  expect_words(refusal(with_line(5, "file = \"a\"\norder = 3")), {"order = 3", ">= 1 and <= 2"});
  expect_words(refusal(with_line(23, "safety = 1.01")), {"safety = 1.01", "> 0 and <= 1"});
  expect_words(refusal(with_line(23, "safety = 0")), {"safety = 0", "> 0"});
  EXPECT_EQ(refusal(with_line(23, "safety = 1")), "");
  EXPECT_EQ(refusal(with_line(27, "frames = 0")), "");
}

TEST(ReadCase, a_choice_that_does_not_exist_is_refused_with_the_known_ones) {
  expect_words(refusal(with_line(23, "method = \"newmarc\"")),
               {"block.toml:23", "newmarc", "avi | avi-implicit", "\"newmark\""});
  expect_words(refusal(with_line(9, "model = \"rubber\"")), {"block.toml:9", "rubber", "saint-venant-kirchhoff"});
}

TEST(ReadCase, only_one_of_safety_courant_and_step_may_be_given) {
  for (const char* two : {"safety = 0.5\ncourant = 0.1", "courant = 0.1\nstep = 1e-6", "safety = 0.5\nstep = 1e-6"})
    expect_words(refusal(with_line(23, two)), {"block.toml:22", " and ", "both given", "Keep one"});
  EXPECT_EQ(read(with_line(23, "courant = 0.1")).integrator.courant, 0.1);
  EXPECT_EQ(read(with_line(23, "step = 1e-6")).integrator.step, 1e-6);
  EXPECT_FALSE(read(with_line(23, "step = 1e-6")).integrator.safety);
}

TEST(ReadCase, a_required_key_that_is_missing_is_told_with_its_section_and_meaning) {
  expect_words(refusal(with_line(25, "")), {"block.toml:24", "end_time", "[run]", "in s"});
  expect_words(refusal(with_line(7, "")), {"block.toml:6", "density", "[material]", "kg/m^3"});
  expect_words(refusal("[run]\nend_time = 1\n"), {"block.toml", "file", "[mesh]"});
  expect_words(refusal("mesh.file = \"a\"\nrun.end_time = 1\n"), {"[[material]]"});
}

TEST(ReadCase, a_group_and_a_condition_together_are_refused) {
  expect_words(refusal(with_line(11, "group = \"left\"\nwhere = \"X < 0\"")), {"block.toml:12", "group", "where"});
  expect_words(refusal(with_line(11, "group = \"\"")), {"block.toml:11", "group"});
}

TEST(ReadCase, sections_and_lists_of_sections_are_not_mixed_up) {
  expect_words(refusal("[material]\ndensity = 1\n"), {"block.toml:1", "[[material]]"});
  expect_words(refusal("[[run]]\nend_time = 1\n"), {"block.toml:1", "[run]"});
  expect_words(refusal("mesh = 3\n"), {"block.toml:1", "[mesh]"});
  expect_words(refusal("material = [3]\n"), {"block.toml:1", "[[material]]"});
}

TEST(ReadCase, a_constant_with_the_name_of_a_variable_is_refused) {
  for (const char* name : {"X", "Y", "Z", "t", "pi"})
    expect_words(refusal(with_line(3, fmt::format("{} = 1", name))), {"block.toml:3", name});
}

TEST(ReadCase, text_that_is_not_toml_is_refused_with_its_line) {
  expect_words(refusal(with_line(7, "density == 7800")), {"block.toml:7", "not valid TOML"});
  expect_words(refusal(with_line(7, "density = 1\ndensity = 2")), {"block.toml:8", "not valid TOML"});
}

TEST(ReadCase, a_file_that_is_not_there_is_told_by_name) {
  try {
    read_case("no/such/case.toml", {});
    FAIL();
  } catch (const InputError& e) {
    expect_words(e.what(), {"no/such/case.toml", "cannot be read"});
  }
  EXPECT_THROW(read_case(testing::TempDir(), {}), InputError);
}

TEST(ReadCase, places_point_to_the_line_of_their_section) {
  const CaseFile c = read(complete);
  EXPECT_EQ(c.materials[0].place, "block.toml:6");
  EXPECT_EQ(c.fixes[0].place, "block.toml:10");
  EXPECT_EQ(c.fixes[0].nodes.place, "block.toml:11");
  EXPECT_EQ(c.loads[0].place, "block.toml:14");
  EXPECT_EQ(c.integrator.place, "block.toml:22");
}

TEST(Settings, replace_values_of_sections_lists_and_the_top) {
  const CaseFile c =
      read(complete, {"run.end_time=2e-3", "material.0.density=1000", "title=\"New\"", "constants.omega=1"});
  EXPECT_EQ(c.end_time, 2e-3);
  EXPECT_EQ(c.materials[0].density, 1000.0);
  EXPECT_EQ(c.title, "New");
  EXPECT_EQ(c.constants.at("omega"), 1.0);
}

TEST(Settings, add_keys_and_sections) {
  const CaseFile c = read("mesh.file = \"a\"\nrun.end_time = 1\n[[material]]\ndensity = 1\n",
                          {"output.frames=7", "integrator.courant=0.1", "fix=[{group = \"left\"}]"});
  EXPECT_EQ(c.frames, 7);
  EXPECT_EQ(c.integrator.courant, 0.1);
  EXPECT_EQ(c.fixes[0].nodes.name, "left");
}

TEST(Settings, take_texts_with_and_without_quotes_and_lists) {
  const CaseFile c =
      read(complete, {"integrator.method=newmark", "mesh.file=\"other mesh.msh\"", "load.0.value=[1, \"2*t\"]"});
  EXPECT_EQ(c.integrator.method, "newmark");
  EXPECT_EQ(c.mesh_file, "other mesh.msh");
  EXPECT_EQ(values_of(c.loads[0].value), (std::vector<Value>{1.0, "2*t"}));
}

TEST(Settings, with_an_expression_may_contain_equals_signs_and_dots) {
  const CaseFile c = read(with_line(11, "where = \"X < 0\""), {"fix.0.where=Y == 0.5"});
  EXPECT_EQ(c.fixes[0].nodes.where, "Y == 0.5");
}

TEST(Settings, the_last_one_wins) { EXPECT_EQ(read(complete, {"run.end_time=1", "run.end_time=2"}).end_time, 2.0); }

TEST(Settings, are_part_of_the_record) {
  EXPECT_NE(read(complete, {"output.frames=77"}).text.find("frames = 77"), std::string::npos);
}

TEST(Settings, that_are_wrong_are_refused_with_the_setting_as_place) {
  expect_words(refusal(complete, {"run.end_time"}), {"--set run.end_time", "KEY=VALUE"});
  expect_words(refusal(complete, {"=5"}), {"--set =5", "KEY=VALUE"});
  expect_words(refusal(complete, {"material.1.density=5"}), {"--set material.1.density=5", "'1'", "list of 1"});
  expect_words(refusal(complete, {"material.first.density=5"}), {"'first'", "list of 1"});
  expect_words(refusal(complete, {"material.-1.density=5"}), {"'-1'", "list of 1"});
  expect_words(refusal(complete, {"material.0=5"}), {"--set material.0=5", "list of 1"});
  expect_words(refusal(complete, {"run.end_time.s=5"}), {"'end_time' is not a section"});
}

TEST(Settings, are_checked_like_the_file) {
  expect_words(refusal(complete, {"run.end_tim=5"}), {"--set run.end_tim=5", "'end_tim'", "'end_time'"});
  expect_words(refusal(complete, {"run.end_time=-1"}), {"--set run.end_time=-1", "end_time = -1 s", "> 0"});
  expect_words(refusal(complete, {"run.end_time=soon"}), {"--set run.end_time=soon", "end_time = \"soon\" is a text"});
  expect_words(refusal(complete, {"integrator.safety=0.5", "integrator.step=1"}),
               {"safety = 0.5 and step = 1 are both given"});
}

// A value is one value: what stands behind a line break must not become another key unseen.
TEST(Settings, with_a_line_break_are_no_second_setting) {
  expect_words(refusal(complete, {"output.frames=7\nhistory=9"}), {"--set output.frames=7", "more than one line"});
}

}  // namespace
}  // namespace tempi
