// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tempi/core/error.hpp"

namespace tempi {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\"");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\"") - first + 1);
}

std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> words;
  for (std::size_t start = 0; start <= line.size();) {
    const std::size_t end = std::min(line.find(separator, start), line.size());
    words.push_back(trimmed(line.substr(start, end - start)));
    start = end + 1;
  }
  return words;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view blank = " \t\r";
  for (std::size_t start = line.find_first_not_of(blank); start != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blank, start), line.size());
    words.push_back(line.substr(start, end - start));
    start = line.find_first_not_of(blank, end);
  }
  return words;
}

TextLines::TextLines(const std::filesystem::path& file) : in_(file) {
  if (std::filesystem::is_directory(file)) throw InputError("is a folder.");
  if (!in_) throw InputError("cannot be read (does it exist?).");
}

bool TextLines::next() {
  if (!std::getline(in_, line_)) return false;
  ++number_;
  return true;
}

void TextLines::fail(const std::string& message) const {
  throw InputError(fmt::format("line {}: {}", number_, message));
}

double TextLines::number(std::string_view word, std::string_view what) const {
  double value = 0.0;
  if (word.starts_with('+')) word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
    fail(fmt::format("{} is \"{}\" (must be a finite number).", what, word));
  return value;
}

Index TextLines::count(std::string_view word, std::string_view what) const {
  Index value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < 0)
    fail(fmt::format("{} is \"{}\" (must be an integer of at least 0).", what, word));
  return value;
}

}  // namespace tempi
