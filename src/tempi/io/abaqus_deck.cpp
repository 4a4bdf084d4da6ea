// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/abaqus_deck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <system_error>

#include "tempi/core/error.hpp"
#include "tempi/io/letter_case.hpp"

namespace tempi {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view unquoted(std::string_view text) {
  return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2) : text;
}

std::string keyword_name(std::string_view text) {
  std::string name;
  for (const char c : upper_case(trimmed(text)))
    if (c != ' ' || (!name.empty() && name.back() != ' ')) name.push_back(c);
  return name;
}

// Splits at commas outside quotes; a trailing comma opens no field.
void split(std::string_view text, std::vector<std::string_view>& fields) {
  fields.clear();
  bool quoted = false;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] != ',' || quoted) continue;
    fields.push_back(trimmed(text.substr(start, i - start)));
    start = i + 1;
  }
  if (start < text.size()) fields.push_back(trimmed(text.substr(start)));
}

AbaqusKeyword parse_keyword(std::string_view text, Index line) {
  std::vector<std::string_view> fields;
  split(text.substr(1), fields);
  AbaqusKeyword keyword;
  keyword.line = line;
  if (fields.empty()) return keyword;
  keyword.name = keyword_name(fields.front());
  for (std::size_t i = 1; i < fields.size(); ++i) {
    const std::size_t equals = fields[i].find('=');
    const std::string_view value = equals == std::string_view::npos ? "" : trimmed(fields[i].substr(equals + 1));
    keyword.parameters.push_back({keyword_name(fields[i].substr(0, equals)), std::string(unquoted(value))});
  }
  return keyword;
}

}  // namespace

const AbaqusKeyword::Parameter* AbaqusKeyword::find(std::string_view parameter) const {
  const auto found = std::ranges::find(parameters, parameter, &Parameter::name);
  return found == parameters.end() ? nullptr : &*found;
}

AbaqusDeck::AbaqusDeck(const std::filesystem::path& path) : file_(path.string()) {
  std::ifstream in(path, std::ios::binary);
  if (in) text_.assign(std::istreambuf_iterator<char>(in), {});
  if (!in) throw InputError(fmt::format("mesh file '{}' cannot be read. Check the file and its permissions.", file_));
}

void AbaqusDeck::fail(Index line, std::string_view message) const {
  throw InputError(fmt::format("{}:{}: {}", file_, line, message));
}

bool AbaqusDeck::next_line(std::string_view& text) {
  previous_place_ = place_;
  previous_line_ = line_;
  while (place_ < text_.size()) {
    const std::size_t end = std::min(text_.find('\n', place_), text_.size());
    text = trimmed(std::string_view(text_).substr(place_, end - place_));
    place_ = end + 1;
    ++line_;
    if (!text.empty() && !text.starts_with("**")) return true;
  }
  return false;
}

void AbaqusDeck::push_back_line() {
  place_ = previous_place_;
  line_ = previous_line_;
}

std::optional<AbaqusKeyword> AbaqusDeck::next_keyword() {
  std::string_view text;
  while (next_line(text)) {
    if (!text.starts_with('*')) continue;
    const Index first = line_;
    std::string whole(text);
    while (whole.ends_with(',') && next_line(text)) {
      if (text.starts_with('*')) {
        push_back_line();
        break;
      }
      whole += text;
    }
    return parse_keyword(whole, first);
  }
  return std::nullopt;
}

bool AbaqusDeck::next_data(std::vector<std::string_view>& fields) {
  std::string_view text;
  if (!next_line(text)) return false;
  if (text.starts_with('*')) {
    push_back_line();
    return false;
  }
  split(text, fields);
  for (std::string_view& field : fields) field = unquoted(field);
  return true;
}

Index AbaqusDeck::integer(std::string_view field) const {
  Index value = 0;
  const std::string_view digits = field.starts_with('+') ? field.substr(1) : field;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size())
    fail(line_, fmt::format("'{}' is not a whole number. Correct this line.", field));
  return value;
}

double AbaqusDeck::real(std::string_view field) const {
  if (field.empty()) return 0.0;
  std::string digits(field.starts_with('+') ? field.substr(1) : field);
  std::ranges::replace(digits, 'd', 'e');
  std::ranges::replace(digits, 'D', 'e');
  double value = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size())
    fail(line_, fmt::format("'{}' is not a number. Correct this line.", field));
  return value;
}

}  // namespace tempi
