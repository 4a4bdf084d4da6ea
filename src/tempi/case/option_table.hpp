// SPDX-License-Identifier: Apache-2.0
// Every key of the case file, once: the parser, the checks, `tempi options` and docs/input.md are made from this table.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tempi {

enum class OptionKind {
  text,
  choice,
  choice_or_count,
  number,
  integer,
  boolean,
  numbers,
  number_or_numbers,
  integers,
  points,
  pairs,
  formula,
  formulas,
  formula_or_formulas,
  words,
  group
};

// Open bounds unless `closed`.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_closed = false, high_closed = false;
};

struct Option {
  std::string_view section;  // "mesh"; "material" for [[material]]
  std::string_view key;
  OptionKind kind;
  std::string_view unit;
  std::string_view fallback;  // TOML text of the default; "required"; empty: optional, without a value
  std::string_view choices;   // "a | b | c"; for choice always, for words where they are of a fixed set
  Range range;
  std::string_view text;
};

std::span<const Option> option_table();
const Option& option(std::string_view section, std::string_view key);  // the row must exist

// Sections that may be repeated ([[material]]) and the order in which they are presented.
struct SectionInfo {
  std::string_view name;
  bool repeated;
  std::string_view text;
};
std::span<const SectionInfo> section_table();

std::string describe(const Range& range);  // "> 0", ">= 1 and <= 2", empty when unbounded

// The entry of `known` nearest to `word` by edits, or empty when nothing is near.
std::string nearest(std::string_view word, std::span<const std::string> known);
// Whether `key` is one of `keys`, which are separated by single blanks.
bool has_key(std::string_view keys, std::string_view key);
std::vector<std::string> choices_of(const Option& option);

std::string options_as_text();      // for `tempi options`
std::string options_as_markdown();  // docs/input.md

}  // namespace tempi
