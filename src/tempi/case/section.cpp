// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <sstream>

#include "tempi/core/error.hpp"

namespace tempi {

void fail(const Place& place, const std::string& message) { throw PlacedError(place, message); }

Place place_in(const toml::node& node, const Place& otherwise) {
  if (!node.source().path) return otherwise;
  const std::string& file = *node.source().path;
  return file.starts_with("--set") ? file : fmt::format("{}:{}", file, node.source().begin.line);
}

namespace {

std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string: return "a text";
    case toml::node_type::integer: return "an integer";
    case toml::node_type::floating_point: return "a number";
    case toml::node_type::boolean: return "true or false";
    case toml::node_type::array: return "a list";
    case toml::node_type::table: return "a table";
    default: return "a date or time";
  }
}

std::vector<std::string> known_keys(std::string_view section) {
  std::vector<std::string> keys;
  for (const Option& o : option_table())
    if (o.section == section) keys.emplace_back(o.key);
  return keys;
}

std::vector<std::string> known_sections() {
  std::vector<std::string> names;
  for (const SectionInfo& s : section_table())
    if (!s.name.empty()) names.emplace_back(s.name);
  return names;
}

void refuse_unknown_keys(const toml::table& table, std::string_view section, const Place& file) {
  const auto keys = known_keys(section);
  for (const auto& [key, node] : table) {
    if (std::ranges::find(keys, key.str()) != keys.end()) continue;
    const std::string near = nearest(key.str(), keys);
    fail(place_in(node, file), fmt::format("unknown key '{}' in [{}].{}", key.str(), section,
                                           near.empty() ? " `tempi options` lists the known keys."
                                                        : fmt::format(" Did you mean '{}'?", near)));
  }
}

}  // namespace

void refuse_unknown(const toml::table& root, const Place& file) {
  auto known = known_sections();
  for (const auto& [key, node] : root) {
    const auto info = std::ranges::find(section_table(), key.str(), &SectionInfo::name);
    if (info == section_table().end() || key.str().empty()) {
      const auto top = known_keys("");
      if (std::ranges::find(top, key.str()) != top.end()) continue;
      known.insert(known.end(), top.begin(), top.end());
      for (const Option& o : option_table())
        if (o.key == key.str() && !o.section.empty())
          fail(place_in(node, file),
               fmt::format("unknown key '{}' outside a section. Did you mean '{}.{}'?", key.str(), o.section, o.key));
      const std::string near = nearest(key.str(), known);
      const std::string what =
          node.is_table() ? fmt::format("section [{}]", key.str()) : fmt::format("key '{}'", key.str());
      fail(place_in(node, file), fmt::format("unknown {}.{}", what,
                                             near.empty() ? " `tempi options` lists the known sections and keys."
                                                          : fmt::format(" Did you mean '{}'?", near)));
    }
    if (info->repeated) {
      const toml::array* items = node.as_array();
      if (items == nullptr || !std::ranges::all_of(*items, [](const toml::node& n) { return n.is_table(); }))
        fail(place_in(node, file), fmt::format("{} must be written as [[{}]].", key.str(), key.str()));
      for (const toml::node& item : *items) refuse_unknown_keys(*item.as_table(), info->name, file);
    } else {
      const toml::table* table = node.as_table();
      if (table == nullptr) fail(place_in(node, file), fmt::format("{0} must be a section [{0}].", key.str()));
      if (info->name != "constants") refuse_unknown_keys(*table, info->name, file);
    }
  }
}

void apply_setting(toml::table& root, const std::string& setting) {
  const Place place = fmt::format("--set {}", setting);
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    fail(place, "is not of the form KEY=VALUE, such as run.end_time=1e-3.");
  std::vector<std::string> path;
  std::stringstream names(setting.substr(0, equals));
  for (std::string part; std::getline(names, part, '.');) path.push_back(part);
  const std::string value = setting.substr(equals + 1);
  toml::table parsed;
  if (value.find('\n') != std::string::npos) fail(place, "has more than one line.");
  try {
    parsed = toml::parse(fmt::format("v = {}", value), place);
  } catch (const toml::parse_error& e) {
    if (value.starts_with('[') || value.starts_with('{') || value.starts_with('"'))
      fail(place, fmt::format("the value is not valid TOML ({}).", e.description()));
    parsed = toml::parse(fmt::format("v = '{}'", value), place);  // a text without quotes
  }
  toml::node* at = &root;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool last = i + 1 == path.size();
    if (toml::array* list = at->as_array()) {
      const bool digits = !path[i].empty() && std::ranges::all_of(path[i], [](char c) { return c >= '0' && c <= '9'; });
      const std::size_t k = digits && path[i].size() < 9 ? std::stoul(path[i]) : list->size();
      if (k >= list->size() || last)
        fail(place,
             fmt::format("'{}' is not an entry of this list of {} (count from 0, as in material.0.density=1000).",
                         path[i], list->size()));
      at = list->get(k);
    } else if (toml::table* table = at->as_table()) {
      if (last) {
        table->insert_or_assign(path[i], std::move(*parsed.get("v")));
        return;
      }
      if (!table->contains(path[i])) table->insert(path[i], toml::table{});
      at = table->get(path[i]);
    } else {
      fail(place, fmt::format("'{}' is not a section.", path[i - 1]));
    }
  }
}

toml::table parse_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (std::filesystem::is_directory(path))
    throw InputError(fmt::format("the case file '{}' is a folder.", path.string()));
  if (!in) throw InputError(fmt::format("the case file '{}' cannot be read (does it exist?).", path.string()));
  try {
    return toml::parse(in, path.filename().string());
  } catch (const toml::parse_error& e) {
    fail(fmt::format("{}:{}", path.filename().string(), e.source().begin.line),
         fmt::format("not valid TOML ({}).", e.description()));
  }
}

std::optional<double> Section::number(std::string_view key) const {
  const auto [node, row] = look_up(key);
  if (node == nullptr) return std::nullopt;
  const auto value = node->value<double>();
  if (!value || node->is_boolean()) wrong_type(*node, row, "a number");
  if (!std::isfinite(*value))
    fail(place_of(*node), fmt::format("{} = {} (must be a finite number).", key, with_unit(*value, row)));
  check_range(*node, row, *value);
  return value;
}

int Section::integer(std::string_view key) const {
  const auto [node, row] = look_up(key);
  if (node == nullptr || !node->is_integer()) wrong_type(*node, row, "an integer");
  const auto value = node->as_integer()->get();
  check_range(*node, row, static_cast<double>(value));
  return static_cast<int>(value);
}

bool Section::boolean(std::string_view key) const {
  const auto [node, row] = look_up(key);
  if (!node->is_boolean()) wrong_type(*node, row, "true or false");
  return node->as_boolean()->get();
}

std::string Section::text(std::string_view key) const {
  const auto [node, row] = look_up(key);
  if (node == nullptr) return "";
  const bool may_be_number = row.kind == OptionKind::choice_or_count;
  if (may_be_number && node->is_integer()) {
    const std::int64_t number = node->as_integer()->get();
    check_range(*node, row, static_cast<double>(number));
    return fmt::format("{}", number);
  }
  if (!node->is_string()) wrong_type(*node, row, may_be_number ? "a text in quotes or an integer" : "a text in quotes");
  const std::string value = node->as_string()->get();
  if (row.kind == OptionKind::choice || may_be_number) {
    const auto known = choices_of(row);
    if (std::ranges::find(known, value) == known.end()) {
      const std::string near = nearest(value, known);
      fail(place_of(*node), fmt::format("{} = \"{}\" is not known (one of {}).{}", key, value, row.choices,
                                        near.empty() ? "" : fmt::format(" Did you mean \"{}\"?", near)));
    }
  }
  return value;
}

std::vector<FormulaText> Section::formulas(std::string_view key) const {
  const auto [node, row] = look_up(key);
  std::vector<FormulaText> result;
  if (node == nullptr) return result;
  if (const toml::array* list = node->as_array(); list != nullptr && row.kind != OptionKind::formula) {
    for (const toml::node& item : *list) result.push_back(formula(item, row));
  } else if (row.kind == OptionKind::formula_or_formulas || row.kind == OptionKind::formula) {
    result.push_back(formula(*node, row));
  } else {
    wrong_type(*node, row, "a list of numbers or expressions, such as [\"0\", \"0.1*t\"]");
  }
  return result;
}

std::vector<double> Section::one_or_more(std::string_view key) const {
  const auto [node, row] = look_up(key);
  if (node == nullptr) return {};
  std::vector<double> result;
  if (!node->is_array())
    result.push_back(*number(key));
  else
    result = list<double>(key, "a number or a list of numbers");
  for (const double value : result) check_range(*node, row, value);
  return result;
}

Selector Section::selector(std::string_view group_key) const {
  Selector s;
  s.place = place_;
  if (const toml::node* node = find(group_key)) {
    s.place = place_of(*node);
    if (node->is_integer()) {
      const std::int64_t tag = node->as_integer()->get();
      s.tag = static_cast<int>(tag);
      if (*s.tag != tag) fail(s.place, fmt::format("{} = {} (no mesh has such a number).", group_key, tag));
    } else if (node->is_string() && !node->as_string()->get().empty())
      s.name = node->as_string()->get();
    else
      fail(s.place, fmt::format("{} must be a name in quotes or an integer tag.", group_key));
  }
  if (const toml::node* node = find("where")) {
    if (has(group_key)) fail(place_of(*node), fmt::format("both {} and where are given. Keep one.", group_key));
    s.place = place_of(*node);
    s.where = text("where");
  }
  if (const toml::node* node = find("particles")) {
    if (!s.everything()) fail(place_of(*node), "particles and group or where are both given. Keep one.");
    s.place = place_of(*node);
    s.particles = list<Index>("particles", "a list of integers, such as [0, 3]");
  }
  return s;
}

std::pair<const toml::node*, const Option&> Section::look_up(std::string_view key) const {
  const Option& row = option(name_, key);
  if (const toml::node* node = find(key)) return {node, row};
  if (row.fallback == "required")
    fail(place_, fmt::format("{} has no {} ({}{}). Add {} = ...", heading(), key, row.text,
                             row.unit.empty() ? "" : fmt::format(", in {}", row.unit), key));
  if (row.fallback.empty()) return {nullptr, row};
  defaults_.insert(key, *toml::parse(fmt::format("v = {}", row.fallback)).get("v"));
  return {defaults_.get(key), row};
}

void Section::wrong_type(const toml::node& node, const Option& row, std::string_view expected) const {
  std::string shown;
  if (node.is_string()) shown = fmt::format(" = \"{}\"", node.as_string()->get());
  const bool quoted_number = node.is_string() && expected.ends_with("number");
  fail(place_of(node), fmt::format("{}{} is {} (must be {}{}).{}", row.key, shown, type_name(node), expected,
                                   row.unit.empty() ? "" : fmt::format(", in {}", row.unit),
                                   quoted_number ? " Remove the quotes." : ""));
}

std::string Section::with_unit(double value, const Option& row) {
  const std::string number = std::isnan(value) ? "nan" : fmt::format("{}", value);
  return row.unit.empty() ? number : fmt::format("{} {}", number, row.unit);
}

std::string Section::heading() const {
  const auto info = std::ranges::find(section_table(), name_, &SectionInfo::name);
  return info != section_table().end() && info->repeated ? fmt::format("[[{}]]", name_) : fmt::format("[{}]", name_);
}

void Section::check_range(const toml::node& node, const Option& row, double value) const {
  const Range& r = row.range;
  const bool low = r.low_closed ? value >= r.low : value > r.low;
  const bool high = r.high_closed ? value <= r.high : value < r.high;
  if (low && high) return;
  std::string advice;
  if (!low && value < 0.0 && r.low == 0.0) advice = fmt::format(" Did you mean {}?", -value);
  if (row.key == "safety" && !high) advice = " Above 1 an explicit step is unstable.";
  if (row.key == "poisson" && !high) advice = " 0.5 is incompressible: its waves have no finite speed.";
  fail(place_of(node), fmt::format("{} = {} (must be {}).{}", row.key, with_unit(value, row), describe(r), advice));
}

FormulaText Section::formula(const toml::node& item, const Option& row) const {
  if (item.is_string()) return {item.as_string()->get(), place_of(item)};
  if (item.is_integer() || item.is_floating_point()) {
    const double value = *item.value<double>();
    if (!std::isfinite(value)) fail(place_of(item), fmt::format("{} contains {} (must be finite).", row.key, value));
    return {value, place_of(item)};
  }
  wrong_type(item, row, "a number or an expression in quotes");
}

Constants Reader::constants() const {
  Constants result;
  const toml::node* node = root_.get("constants");
  if (node == nullptr) return result;
  for (const auto& [key, value] : *node->as_table()) {
    const auto number = value.value<double>();
    const auto is_letter = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
    if (!std::ranges::all_of(key.str(), is_letter) || key.str().empty() ||
        std::isdigit(static_cast<unsigned char>(key.str()[0])) != 0)
      fail(place_in(value, file_), fmt::format("the constant \"{}\" has a name that expressions cannot hold "
                                               "(letters, digits and _, not first a digit).",
                                               key.str()));
    if (number && !std::isfinite(*number))
      fail(place_in(value, file_), fmt::format("the constant {} = {} (must be a finite number).", key.str(),
                                               std::isnan(*number) ? std::string("nan") : fmt::format("{}", *number)));
    if (!number || value.is_boolean())
      fail(place_in(value, file_),
           fmt::format("the constant {} is {} (must be a number).", key.str(), type_name(value)));
    for (const std::string_view taken : {"X", "Y", "Z", "t", "pi"})
      if (key.str() == taken)
        fail(place_in(value, file_), fmt::format("the constant {} has the name of a variable.", taken));
    result[std::string(key.str())] = *number;
  }
  return result;
}

}  // namespace tempi
