// SPDX-License-Identifier: Apache-2.0
// An Abaqus input file as keywords and their data lines. Knows the grammar, not the meaning: comments (**), keyword
// lines continued after a comma, parameters with or without values, quoted names, fields between commas, CRLF.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {

struct AbaqusKeyword {
  struct Parameter {
    std::string name;  // upper case
    std::string value;
  };

  std::string name;  // upper case, single blanks, no star
  std::vector<Parameter> parameters;
  Index line = 0;  // 1-based

  const Parameter* find(std::string_view parameter) const;  // nullptr if absent
};

class AbaqusDeck {
 public:
  // Reads the whole file into memory. Throws InputError if that fails.
  explicit AbaqusDeck(const std::filesystem::path& path);

  // Goes to the next keyword, past data lines not asked for. Nothing at the end of the file.
  std::optional<AbaqusKeyword> next_keyword();

  // Fills `fields` with the next data line of the keyword, trimmed; false if there is none. Views into the deck.
  bool next_data(std::vector<std::string_view>& fields);

  Index line() const { return line_; }  // of what was delivered last
  const std::string& file() const { return file_; }

  // Throws InputError "file:line: message".
  [[noreturn]] void fail(Index line, std::string_view message) const;

  Index integer(std::string_view field) const;  // both throw InputError naming the current line
  double real(std::string_view field) const;    // also Fortran's 1.0D-3; blank: 0

 private:
  bool next_line(std::string_view& text);  // the next line that is neither blank nor a comment, trimmed
  void push_back_line();

  std::string file_;
  std::string text_;
  std::size_t place_ = 0;
  std::size_t previous_place_ = 0;
  Index line_ = 0;           // of the line last taken
  Index previous_line_ = 0;  // before it
};

}  // namespace tempi
