// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/case_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <sstream>

#include "tempi/case/method_table.hpp"
#include "tempi/case/option_table.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

[[noreturn]] void fail(const Place& place, const std::string& message) { throw PlacedError(place, message); }

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

// A node's line in its file; a value from --set has the setting for its file.
Place place_in(const toml::node& node, const Place& otherwise) {
  if (!node.source().path) return otherwise;
  const std::string& file = *node.source().path;
  return file.starts_with("--set") ? file : fmt::format("{}:{}", file, node.source().begin.line);
}

// One section of the file, or one of a repeated section. Reads keys through the option table.
class Section {
 public:
  Section(std::string name, const toml::table* table, Place place)
      : name_(std::move(name)), table_(table), place_(std::move(place)) {}

  const Place& place() const { return place_; }

  Place place_of(const toml::node& node) const { return place_in(node, place_); }
  Place place_of(std::string_view key) const { return has(key) ? place_of(*find(key)) : place_; }

  bool has(std::string_view key) const { return find(key) != nullptr; }

  std::optional<double> number(std::string_view key) const {
    const auto [node, row] = look_up(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->value<double>();
    if (!value || node->is_boolean()) wrong_type(*node, row, "a number");
    if (!std::isfinite(*value))
      fail(place_of(*node), fmt::format("{} = {} (must be a finite number).", key, with_unit(*value, row)));
    check_range(*node, row, *value);
    return value;
  }

  int integer(std::string_view key) const {
    const auto [node, row] = look_up(key);
    if (node == nullptr || !node->is_integer()) wrong_type(*node, row, "an integer");
    const auto value = node->as_integer()->get();
    check_range(*node, row, static_cast<double>(value));
    return static_cast<int>(value);
  }

  bool boolean(std::string_view key) const {
    const auto [node, row] = look_up(key);
    if (!node->is_boolean()) wrong_type(*node, row, "true or false");
    return node->as_boolean()->get();
  }

  std::string text(std::string_view key) const {
    const auto [node, row] = look_up(key);
    if (node == nullptr) return "";
    if (!node->is_string()) wrong_type(*node, row, "a text in quotes");
    const std::string value = node->as_string()->get();
    if (row.kind == OptionKind::choice) {
      const auto known = choices_of(row);
      if (std::ranges::find(known, value) == known.end()) {
        const std::string near = nearest(value, known);
        fail(place_of(*node), fmt::format("{} = \"{}\" is not known (one of {}).{}", key, value, row.choices,
                                          near.empty() ? "" : fmt::format(" Did you mean \"{}\"?", near)));
      }
    }
    return value;
  }

  std::vector<FormulaText> formulas(std::string_view key) const {
    const auto [node, row] = look_up(key);
    std::vector<FormulaText> result;
    if (node == nullptr) return result;
    if (const toml::array* list = node->as_array()) {
      for (const toml::node& item : *list) result.push_back(formula(item, row));
    } else if (row.kind == OptionKind::formula_or_formulas) {
      result.push_back(formula(*node, row));
    } else {
      wrong_type(*node, row, "a list of numbers or expressions, such as [\"0\", \"0.1*t\"]");
    }
    return result;
  }

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
  std::vector<double> one_or_more(std::string_view key) const {
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

  Selector selector(std::string_view group_key) const {
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

 private:
  const toml::node* find(std::string_view key) const { return table_ == nullptr ? nullptr : table_->get(key); }

  // The node, or the default parsed from the table; nullptr for an optional key that is absent.
  std::pair<const toml::node*, const Option&> look_up(std::string_view key) const {
    const Option& row = option(name_, key);
    if (const toml::node* node = find(key)) return {node, row};
    if (row.fallback == "required")
      fail(place_, fmt::format("{} has no {} ({}{}). Add {} = ...", heading(), key, row.text,
                               row.unit.empty() ? "" : fmt::format(", in {}", row.unit), key));
    if (row.fallback.empty()) return {nullptr, row};
    defaults_.insert(key, *toml::parse(fmt::format("v = {}", row.fallback)).get("v"));
    return {defaults_.get(key), row};
  }

  [[noreturn]] void wrong_type(const toml::node& node, const Option& row, std::string_view expected) const {
    std::string shown;
    if (node.is_string()) shown = fmt::format(" = \"{}\"", node.as_string()->get());
    const bool quoted_number = node.is_string() && expected.ends_with("number");
    fail(place_of(node), fmt::format("{}{} is {} (must be {}{}).{}", row.key, shown, type_name(node), expected,
                                     row.unit.empty() ? "" : fmt::format(", in {}", row.unit),
                                     quoted_number ? " Remove the quotes." : ""));
  }

  static std::string with_unit(double value, const Option& row) {
    const std::string number = std::isnan(value) ? "nan" : fmt::format("{}", value);
    return row.unit.empty() ? number : fmt::format("{} {}", number, row.unit);
  }

  std::string heading() const {
    const auto info = std::ranges::find(section_table(), name_, &SectionInfo::name);
    return info != section_table().end() && info->repeated ? fmt::format("[[{}]]", name_) : fmt::format("[{}]", name_);
  }

  void check_range(const toml::node& node, const Option& row, double value) const {
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

  FormulaText formula(const toml::node& item, const Option& row) const {
    if (item.is_string()) return {item.as_string()->get(), place_of(item)};
    if (item.is_integer() || item.is_floating_point()) {
      const double value = *item.value<double>();
      if (!std::isfinite(value)) fail(place_of(item), fmt::format("{} contains {} (must be finite).", row.key, value));
      return {value, place_of(item)};
    }
    wrong_type(item, row, "a number or an expression in quotes");
  }

  std::string name_;
  const toml::table* table_;
  Place place_;
  mutable toml::table defaults_;  // of the keys asked for and absent
};

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

// Every section and key of the file must be one of the table's.
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

// "mesh.size=0.1", "material.0.density=1000": replaces or adds one value.
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

MethodOptions method_options_of(const Section& s) {
  return {.alpha = *s.number("alpha"),
          .beta = *s.number("beta"),
          .gamma = *s.number("gamma"),
          .order = s.integer("order"),
          .action = s.text("action"),
          .without_root = s.text("without_root"),
          .newmark_limit = s.text("newmark_limit"),
          .step_bounds = s.list<double>("step_bounds", "two numbers, such as [0.25, 4]"),
          .implicit_step = s.number("implicit_step").value_or(0.0),
          .softness = *s.number("softness")};
}

IntegratorInput read_integrator(const Section& s, bool particles) {
  IntegratorInput in;
  in.place = s.place();
  in.method = s.text("method");
  in.steps = s.text("steps");
  in.lattice = s.text("lattice");
  in.lattice_place = s.place_of("lattice");
  in.neighbour_ratio = s.number("neighbour_ratio");
  in.nodal_safety = s.number("nodal_safety");
  in.trial = *s.number("trial");
  in.mass_shares = s.text("mass_shares");
  in.options = method_options_of(s);
  for (const Option& o : option_table())
    if (o.section == "integrator" && s.has(o.key) &&
        std::ranges::any_of(method_table(), [&](const Method& m) { return has_key(m.keys, o.key); }))
      in.method_keys.emplace_back(o.key, s.place_of(o.key));
  in.residual_asked = s.has("residual") && s.boolean("residual");
  const Engine engine = method_of(in).engine;
  if (particles && in.mass_shares == "own")
    fail(s.place_of("mass_shares"), "mass_shares = \"own\" belongs to meshes (pairs of particles bring no mass).");
  in.own_shares_asked = in.mass_shares == "own";
  in.steps_asked = s.has("safety") || s.has("courant") || s.has("step");
  if (in.mass_shares == "auto")
    in.mass_shares = particles || (in.lattice == "auto" && engine != Engine::softened) || engine == Engine::one_step
                         ? "balanced"
                         : "own";
  in.residual = (particles ? in.residual_asked : s.boolean("residual")) && engine == Engine::strikes;
  in.step_place = s.place_of(s.has("courant") ? "courant" : s.has("step") ? "step" : "safety");
  const int given = int{s.has("safety")} + int{s.has("courant")} + int{s.has("step")};
  if (given > 1) {
    std::string both;
    for (const char* key : {"safety", "courant", "step"})
      if (s.has(key)) both += fmt::format("{}{} = {}", both.empty() ? "" : " and ", key, *s.number(key));
    fail(s.place(), fmt::format("{} are both given. Keep one.", both));
  }
  if (particles && s.has("courant"))
    fail(s.place_of("courant"), "courant belongs to meshes (particles have no wave speed). Use safety or step.");
  if (s.has("courant"))
    in.courant = s.number("courant");
  else if (s.has("step"))
    in.step = s.number("step");
  else
    in.safety = s.number("safety");
  return in;
}

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
  Constants constants() const {
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
        fail(place_in(value, file_),
             fmt::format("the constant {} = {} (must be a finite number).", key.str(),
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

 private:
  const toml::table& root_;
  Place file_;
};

ParticlesInput read_particles(const Section& s) {
  ParticlesInput p;
  p.file = s.text("file");
  p.mass = s.one_or_more("mass");
  p.one_mass = !s.is_list("mass");
  p.position = s.lists<double>("position", "lists of numbers, such as [[0, 0], [1, 0]]");
  p.velocity = s.lists<double>("velocity", "lists of numbers, such as [[0, 0], [0, 1]]");
  p.box = s.list<double>("box", "a list of numbers");
  p.mass_place = s.place_of("mass");
  p.position_place = s.place_of("position");
  p.velocity_place = s.place_of("velocity");
  p.box_place = s.place_of("box");
  p.place = s.place();
  if (p.file.empty() && p.position.empty())
    fail(p.place, "[particles] has neither file nor position. Give one of them.");
  if (!p.file.empty() && !(p.position.empty() && p.velocity.empty()))
    fail(p.place, "file and position or velocity are both given. Keep one.");
  if (p.file.empty() && p.mass.empty()) fail(p.place, "[particles] has no mass (in kg). Add mass = ...");
  return p;
}

std::vector<std::array<Index, 2>> read_pair_list(const Section& s) {
  std::vector<std::array<Index, 2>> result;
  for (const auto& pair : s.lists<Index>("pairs", "pairs of integers, such as [[0, 1], [1, 2]]")) {
    if (pair.size() != 2)
      fail(s.place_of("pairs"), fmt::format("pairs has entries of {} numbers (must be 2).", pair.size()));
    result.push_back({pair[0], pair[1]});
  }
  return result;
}

PotentialInput read_potential(const Section& s) {
  PotentialInput p;
  p.type = s.text("type");
  p.nodes = s.selector("group");
  p.place = s.place();
  p.pairs_given = s.has("pairs");
  p.pairs_place = s.place_of("pairs");
  if (s.is_list("pairs")) {
    p.pair_list = read_pair_list(s);
  } else if (const std::string text = s.text("pairs"); text != "all") {
    p.pairs_file = text;
  }
  for (const std::string_view key :
       {"within", "epsilon", "sigma", "cutoff", "skin", "depth", "inverse_width", "length", "strength", "width", "G"})
    if (const auto value = s.number(key)) p.values.push_back({std::string(key), {*value}, s.place_of(key)});
  if (s.has("stiffness")) p.values.push_back({"stiffness", s.one_or_more("stiffness"), s.place_of("stiffness")});
  for (const std::string_view key : {"centre", "acceleration"})
    if (s.has(key)) p.values.push_back({std::string(key), s.list<double>(key, "a list of numbers"), s.place_of(key)});
  if (s.has("together")) p.together = s.boolean("together");
  p.together_place = s.place_of("together");
  if (s.has("expression")) p.expression = FormulaText{s.text("expression"), s.place_of("expression")};
  return p;
}

std::vector<std::pair<std::string, Place>> given_keys(const Section& s, std::initializer_list<const char*> keys) {
  std::vector<std::pair<std::string, Place>> given;
  for (const char* key : keys)
    if (s.has(key)) given.emplace_back(key, s.place_of(key));
  return given;
}

ConstraintInput read_constraint(const Section& s) {
  ConstraintInput c;
  c.type = s.text("type");
  c.nodes = s.selector("group");
  if (s.has("pairs")) c.pair_list = read_pair_list(s);
  c.length = s.number("length");
  c.extent = s.number("extent");
  c.within = s.number("within");
  c.anchor = s.list<double>("anchor", "a list of numbers");
  if (s.has("expression")) c.expression = FormulaText{s.text("expression"), s.place_of("expression")};
  c.size = s.integer("size");
  c.keys = given_keys(s, {"pairs", "within", "length", "anchor", "expression", "extent", "size"});
  c.place = s.place();
  return c;
}

DampingInput read_damping(const Section& s) {
  return {s.text("type"),
          s.selector("group"),
          s.number("coefficient"),
          s.number("alpha"),
          s.number("beta"),
          s.number("bulk_viscosity"),
          s.number("shear_viscosity"),
          given_keys(s, {"coefficient", "alpha", "beta", "bulk_viscosity", "shear_viscosity"}),
          s.place()};
}

void read_body(const Reader& reader, CaseFile& c) {
  for (const Section& s : reader.sections("constraint")) c.constraints.push_back(read_constraint(s));
  for (const Section& s : reader.sections("damping")) c.dampings.push_back(read_damping(s));
  for (const Section& s : reader.sections("potential")) c.potentials.push_back(read_potential(s));
  for (const Section& s : reader.sections("material"))
    c.materials.push_back({s.selector("group"), s.text("model"), s.number("lambda"), s.number("mu"), s.number("young"),
                           s.number("poisson"), *s.number("density"), s.place()});
  for (const Section& s : reader.sections("fix"))
    c.fixes.push_back({s.text("name"), s.selector("group"),
                       s.list<std::string>("components", "a list of \"x\", \"y\", \"z\""), s.formulas("displacement"),
                       s.place_of("components"), s.place_of("displacement"), s.place()});
  for (const Section& s : reader.sections("load"))
    c.loads.push_back({s.text("type"), s.selector("group"), s.formulas("value"), !s.is_list("value"), s.boolean("dead"),
                       s.place_of("value"), s.place_of("dead"), s.place()});
  for (const Section& s : reader.sections("probe"))
    c.probes.push_back({s.text("name"), s.list<double>("point", "a list of numbers"), s.selector("group"),
                        s.place_of("name"), s.place()});
  const Section initial = reader.section("initial");
  c.initial_position = initial.formulas("position");
  c.initial_velocity = initial.formulas("velocity");
  c.position_place = initial.place_of("position");
  c.velocity_place = initial.place_of("velocity");
}

}  // namespace

const PotentialInput::Values* PotentialInput::find(std::string_view key) const {
  const auto found = std::ranges::find(values, key, &Values::key);
  return found == values.end() ? nullptr : &*found;
}

std::string Selector::text() const {
  if (!particles.empty()) return fmt::format("particles [{}]", fmt::join(particles, ", "));
  if (where) return fmt::format("\"{}\"", *where);
  if (tag) return fmt::format("group {}", *tag);
  return name.empty() ? "everything" : fmt::format("group '{}'", name);
}

MethodOptions default_method_options() { return method_options_of(Section("integrator", nullptr, "")); }

CaseFile read_case(const std::filesystem::path& path, const std::vector<std::string>& settings) {
  toml::table root = parse_file(path);
  for (const std::string& setting : settings) apply_setting(root, setting);
  const Place file = path.filename().string();
  refuse_unknown(root, file);
  const Reader reader(root, file);

  CaseFile c;
  c.path = path;
  c.title = reader.section("").text("title");
  if (c.title.empty()) c.title = path.stem().string();
  c.constants = reader.constants();
  if (root.contains("particles")) {
    c.particles = read_particles(reader.section("particles"));
    for (const char* other : {"mesh", "material"})
      if (root.contains(other))
        fail(place_in(*root.get(other), file), fmt::format("[particles] and {} are both given. Keep one.", other));
  }
  const Section mesh = reader.section("mesh");
  c.mesh_file = mesh.text("file");
  c.mesh_place = mesh.place_of("file");
  c.mesh_order = mesh.integer("order");
  c.mesh_size = mesh.number("size").value_or(0.0);
  c.mesh_refine = mesh.integer("refine");
  c.mesh_scale = *mesh.number("scale");
  read_body(reader, c);
  if (root.contains("mesh") && c.mesh_file.empty())
    fail(mesh.place(), fmt::format("[mesh] has no file ({}). Add file = ...", option("mesh", "file").text));
  if (!c.particles && c.mesh_file.empty())
    fail(file, "there is neither [mesh] with a file nor [particles]. Give one of them.");
  if (!c.particles && c.materials.empty())
    fail(file, "there is no [[material]]. Give at least one, with density and elastic constants.");
  c.integrator = read_integrator(reader.section("integrator"), c.particles.has_value());
  c.end_time = *reader.section("run").number("end_time");
  c.frames = reader.section("output").integer("frames");
  c.history = reader.section("output").integer("history");
  std::stringstream text;
  text << root;
  c.text = text.str();
  return c;
}

}  // namespace tempi
