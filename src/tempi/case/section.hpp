// SPDX-License-Identifier: Apache-2.0
// A case file as TOML: its sections, read key by key through the option table. Nothing here knows what a section means.
#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/case/option_table.hpp"

namespace tempi {

[[noreturn]] void fail(const Place& place, const std::string& message);  // throws PlacedError

// Every section and key of the file must be one of the table's. Throws PlacedError.
void refuse_unknown(const toml::table& root, const Place& file);

// "mesh.size=0.1", "material.0.density=1000": replaces or adds one value. Throws PlacedError.
void apply_setting(toml::table& root, const std::string& setting);

// Throws InputError: cannot be read; PlacedError: not TOML.
toml::table parse_file(const std::filesystem::path& path);

// A node's line in its file; a value from --set has the setting for its file.
Place place_in(const toml::node& node, const Place& otherwise);

// One section of the file, or one of a repeated section. All throw PlacedError: a wrong type, a value out of range, a
// required key that is missing.
class Section {
 public:
  Section(std::string name, const toml::table* table, Place place)
      : name_(std::move(name)), table_(table), place_(std::move(place)) {}
  const Place& place() const { return place_; }
  Place place_of(const toml::node& node) const { return place_in(node, place_); }
  Place place_of(std::string_view key) const { return has(key) ? place_of(*find(key)) : place_; }
  bool has(std::string_view key) const { return find(key) != nullptr; }
  std::optional<double> number(std::string_view key) const;
  int integer(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::string text(std::string_view key) const;
  std::vector<FormulaText> formulas(std::string_view key) const;
  bool is_list(std::string_view key) const { return has(key) && find(key)->is_array(); }
  template <class T>
  std::vector<T> list(std::string_view key, std::string_view what) const {
    const auto [node, row] = look_up(key);
    std::vector<T> result;
    if (node == nullptr) return result;
    const toml::array* items = node->as_array();
    if (items == nullptr) wrong_type(*node, row, what);
    if (items->empty()) fail(place_of(*node), fmt::format("{} is empty. Name at least one, or leave it out.", key));
    for (const toml::node& item : *items) {
      const auto value = item.value<T>();
      if (!value || (item.is_boolean() && !std::is_same_v<T, bool>)) wrong_type(item, row, what);
      if constexpr (std::is_floating_point_v<T>)
        if (!std::isfinite(*value))
          fail(place_of(*node), fmt::format("{} contains {} (must be finite).", key, *value + 0.0));
      result.push_back(*value);
    }
    return result;
  }
  // A number, or a list of them.
  std::vector<double> one_or_more(std::string_view key) const;
  // Lists of as many numbers each.
  template <class T>
  std::vector<std::vector<T>> lists(std::string_view key, std::string_view what) const {
    const auto [node, row] = look_up(key);
    std::vector<std::vector<T>> result;
    if (node == nullptr) return result;
    const toml::array* items = node->as_array();
    if (items == nullptr) wrong_type(*node, row, what);
    for (const toml::node& item : *items) {
      const toml::array* entries = item.as_array();
      if (entries == nullptr) wrong_type(item, row, what);
      result.emplace_back();
      for (const toml::node& entry : *entries) {
        const auto value = entry.value<T>();
        if (!value || entry.is_boolean()) wrong_type(entry, row, what);
        if constexpr (std::is_floating_point_v<T>)
          if (!std::isfinite(*value))
            fail(place_of(entry), fmt::format("{} contains {} (must be finite).", key, *value + 0.0));
        result.back().push_back(*value);
      }
      if (result.back().size() != result.front().size())
        fail(place_of(item), fmt::format("entry {} of {} has {} numbers, the first has {}. Give as many in each.",
                                         result.size() - 1, key, result.back().size(), result.front().size()));
    }
    if (result.empty() || result.front().empty()) fail(place_of(*node), fmt::format("{} is empty.", key));
    return result;
  }
  Selector selector(std::string_view group_key) const;

 private:
  const toml::node* find(std::string_view key) const { return table_ == nullptr ? nullptr : table_->get(key); }
  // The node, or the default parsed from the table; nullptr for an optional key that is absent.
  std::pair<const toml::node*, const Option&> look_up(std::string_view key) const;
  [[noreturn]] void wrong_type(const toml::node& node, const Option& row, std::string_view expected) const;
  static std::string with_unit(double value, const Option& row);
  std::string heading() const;
  void check_range(const toml::node& node, const Option& row, double value) const;
  FormulaText formula(const toml::node& item, const Option& row) const;

  std::string name_;
  const toml::table* table_;
  Place place_;
  mutable toml::table defaults_;  // of the keys asked for and absent
};

// The sections of a file.
class Reader {
 public:
  Reader(const toml::table& root, Place file) : root_(root), file_(std::move(file)) {}

  Section section(const std::string& name) const {
    const toml::table* table = name.empty() ? &root_ : (root_.contains(name) ? root_.get(name)->as_table() : nullptr);
    return {name, table, table == nullptr ? file_ : place_in(*table, file_)};
  }
  std::vector<Section> sections(const std::string& name) const {
    std::vector<Section> result;
    if (const toml::node* node = root_.get(name))
      for (const toml::node& item : *node->as_array())
        result.emplace_back(name, item.as_table(), place_in(item, file_));
    return result;
  }
  Constants constants() const;

 private:
  const toml::table& root_;
  Place file_;
};

}  // namespace tempi
