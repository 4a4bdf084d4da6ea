// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/option_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace tempi {
namespace {

const std::vector<std::string> words = {"lambda", "mu", "young", "poisson", "density"};

TEST(Nearest, finds_the_word_that_was_meant) {
  EXPECT_EQ(nearest("lamda", words), "lambda");
  EXPECT_EQ(nearest("Poisson", words), "poisson");
  EXPECT_EQ(nearest("desnity", words), "density");
  EXPECT_EQ(nearest("mu", words), "mu");
}

TEST(Nearest, is_silent_when_nothing_is_near) {
  EXPECT_EQ(nearest("temperature", words), "");
  EXPECT_EQ(nearest("lambda", std::vector<std::string>{}), "");
}

// Among equally near words the first of the list; a nearer one later wins.
TEST(Nearest, takes_the_first_of_equals_and_the_nearest_of_all) {
  EXPECT_EQ(nearest("step", std::vector<std::string>{"steps", "stop", "step"}), "step");
  EXPECT_EQ(nearest("ste", std::vector<std::string>{"step", "stem"}), "step");
}

TEST(OptionTable, every_row_belongs_to_a_section_and_has_a_meaning) {
  for (const Option& o : option_table()) {
    EXPECT_FALSE(o.text.empty()) << o.section << '.' << o.key;
    EXPECT_FALSE(o.key.empty());
    EXPECT_NE(std::ranges::find(section_table(), o.section, &SectionInfo::name), section_table().end()) << o.section;
  }
}

TEST(OptionTable, every_section_has_a_meaning_and_rows) {
  for (const SectionInfo& s : section_table()) {
    EXPECT_FALSE(s.text.empty()) << s.name;
    if (s.name != "constants") {
      EXPECT_TRUE(std::ranges::any_of(option_table(), [&](const Option& o) { return o.section == s.name; })) << s.name;
    }
  }
}

TEST(OptionTable, no_key_is_there_twice) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const Option& o : option_table())
    EXPECT_TRUE(seen.insert({o.section, o.key}).second) << o.section << '.' << o.key;
}

TEST(OptionTable, choices_are_given_where_and_only_where_they_are_needed) {
  for (const Option& o : option_table()) {
    const bool needed = o.kind == OptionKind::choice || o.kind == OptionKind::choice_or_count;
    const bool possible = needed || o.kind == OptionKind::words;  // a list of words may be free or of a fixed set
    EXPECT_TRUE(!needed || !choices_of(o).empty()) << o.key;
    EXPECT_TRUE(possible || choices_of(o).empty()) << o.key;
  }
  EXPECT_FALSE(choices_of(option("output", "fields")).empty());
}

TEST(OptionTable, finds_a_row_by_section_and_key) {
  EXPECT_EQ(option("run", "end_time").unit, "s");
  EXPECT_EQ(option("material", "group").section, "material");
  EXPECT_EQ(option("fix", "group").section, "fix");
}

TEST(OptionTable, splits_choices) {
  EXPECT_EQ(choices_of(option("integrator", "steps")), (std::vector<std::string>{"element", "one-ring", "uniform"}));
}

TEST(Describe, says_what_a_range_allows) {
  EXPECT_EQ(describe(Range{}), "");
  EXPECT_EQ(describe(Range{.low = 0.0}), "> 0");
  EXPECT_EQ(describe(Range{.high = 0.5}), "< 0.5");
  EXPECT_EQ(describe(Range{.low = 1.0, .high = 2.0, .low_closed = true, .high_closed = true}), ">= 1 and <= 2");
}

TEST(Options, texts_for_people_name_every_key_section_and_meaning) {
  const std::string plain = options_as_text(), markdown = options_as_markdown();
  for (const Option& o : option_table())
    for (const std::string& out : {plain, markdown}) {
      EXPECT_NE(out.find(o.key), std::string::npos) << o.key;
      EXPECT_NE(out.find(o.text), std::string::npos) << o.key;
    }
  for (const SectionInfo& s : section_table()) EXPECT_NE(markdown.find(s.text), std::string::npos) << s.name;
}

// A bar inside a cell of a Markdown table ends it unless escaped: every row must have five cells.
TEST(Options, markdown_rows_have_as_many_cells_as_their_heading) {
  std::istringstream lines(options_as_markdown());
  std::size_t rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    ++rows;
    std::size_t bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    EXPECT_EQ(bars, 6u) << line;
  }
  EXPECT_EQ(rows, option_table().size());
}

TEST(Options, input_reference_is_what_the_table_says) {
  const std::filesystem::path path = std::filesystem::path(TEMPI_SOURCE_DIR) / "docs" / "input.md";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "docs/input.md is not there";
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), options_as_markdown()) << "renew it: tempi options --markdown > docs/input.md";
}

}  // namespace
}  // namespace tempi
