// SPDX-License-Identifier: Apache-2.0
// A text file line by line, and the words of a line.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tempi/core/ids.hpp"

namespace tempi {

std::string_view trimmed(std::string_view text);                             // of blanks and quotation marks
std::vector<std::string_view> split(std::string_view line, char separator);  // each trimmed
std::vector<std::string_view> words_of(std::string_view line);               // between blanks

// The lines of a file one by one, and errors that name them.
class TextLines {
 public:
  explicit TextLines(const std::filesystem::path& file);  // throws InputError
  bool next();                                            // false: there are no more
  const std::string& text() const { return line_; }
  [[noreturn]] void fail(const std::string& message) const;  // InputError "line 3: ..."
  // Finite; `what` it is goes into the message.
  double number(std::string_view word, std::string_view what) const;
  Index count(std::string_view word, std::string_view what) const;  // an integer from 0

 private:
  std::ifstream in_;
  std::string line_;
  Index number_ = 0;
};

}  // namespace tempi
