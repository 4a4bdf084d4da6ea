// SPDX-License-Identifier: Apache-2.0
#include "tempi/io/abaqus_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tempi/io/letter_case.hpp"

namespace tempi {
namespace {

using Fields = std::vector<std::string_view>;

std::optional<CellType> cell_type(std::string_view element) {
  if (element.empty()) return std::nullopt;
  return find_cell_type(
      [&](const CellTypeInfo& of) { return std::ranges::find(of.abaqus, element) != of.abaqus.end(); });
}

// Elements that programs write on the surface and the edges of solids: facets there, never cells.
std::optional<CellType> facet_type(std::string_view element) {
  constexpr std::array<std::pair<std::string_view, CellType>, 14> known = {{{"CPS3", CellType::triangle3},
                                                                            {"S3", CellType::triangle3},
                                                                            {"S3R", CellType::triangle3},
                                                                            {"M3D3", CellType::triangle3},
                                                                            {"SFM3D3", CellType::triangle3},
                                                                            {"CPS6", CellType::triangle6},
                                                                            {"STRI65", CellType::triangle6},
                                                                            {"M3D6", CellType::triangle6},
                                                                            {"SFM3D6", CellType::triangle6},
                                                                            {"T3D2", CellType::line2},
                                                                            {"B31", CellType::line2},
                                                                            {"T2D2", CellType::line2},
                                                                            {"T3D3", CellType::line3},
                                                                            {"B32", CellType::line3}}};
  const auto found = std::ranges::find(known, element, [](const auto& entry) { return entry.first; });
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

class ModelReader {
 public:
  ModelReader(AbaqusDeck& deck, bool takes_facets_alone) : deck_(deck), takes_facets_alone_(takes_facets_alone) {}

  AbaqusModel read() {
    while (const auto keyword = deck_.next_keyword()) {
      if (keyword->name == "NODE")
        read_nodes(*keyword);
      else if (keyword->name == "ELEMENT")
        read_elements(*keyword);
      else if (keyword->name == "NSET")
        read_set(*keyword, AbaqusSet::Kind::nodes, "NSET");
      else if (keyword->name == "ELSET")
        read_set(*keyword, AbaqusSet::Kind::elements, "ELSET");
      else if (keyword->name == "SURFACE")
        read_surface(*keyword);
      else if (!read_structure(*keyword))
        refuse_mesh_keyword(*keyword);
    }
    if (!takes_facets_alone_) refuse_without_solids();
    return std::move(model_);
  }

 private:
  struct OnSolids {
    std::string name;
    int dim;
    Index line;
  };
  void refuse_without_solids() const {
    int top = 0;
    for (const AbaqusElement& element : model_.elements) top = std::max(top, info(element.type).dim);
    for (const OnSolids& type : on_solids_)
      if (type.dim == top)
        deck_.fail(type.line,
                   fmt::format("elements of type {} are supported on the surface of solids only, where they name "
                               "facets. Mesh with C3D4, C3D10, CPE3 or CPE6; or make them shells by a [[material]] "
                               "with model = \"shell\".",
                               type.name));
  }

  // *PART, *ASSEMBLY, *INSTANCE and their ends. False: it is something else.
  bool read_structure(const AbaqusKeyword& keyword) {
    if (keyword.name == "PART") {
      if (++parts_ > 1) deck_.fail(keyword.line, "a second *PART (only one is supported). Write the mesh as one part.");
    } else if (keyword.name == "ASSEMBLY") {
      in_assembly_ = true;
    } else if (keyword.name == "END ASSEMBLY") {
      in_assembly_ = false;
    } else if (keyword.name == "INSTANCE") {
      read_instance(keyword);
    } else if (keyword.name == "END INSTANCE") {
      in_instance_ = false;
    } else {
      return false;
    }
    return true;
  }

  void read_instance(const AbaqusKeyword& keyword) {
    if (++instances_ > 1)
      deck_.fail(
          keyword.line,
          "a second *INSTANCE (only one is supported). Merge the instances to one part in the program that wrote "
          "this file.");
    in_instance_ = true;
    if (const auto* name = keyword.find("NAME")) model_.instance = name->value;
    Fields fields;
    while (deck_.next_data(fields))
      for (const std::string_view field : fields)
        if (deck_.real(field) != 0.0)
          deck_.fail(deck_.line(),
                     "the instance is translated or rotated (not supported). Move the part itself, or merge the "
                     "instances to one part.");
  }

  void refuse_mesh_keyword(const AbaqusKeyword& keyword) const {
    static constexpr std::array<std::string_view, 8> names = {"INCLUDE", "SYSTEM", "NGEN",  "NFILL",
                                                              "NCOPY",   "NMAP",   "ELGEN", "ELCOPY"};
    if (std::ranges::find(names, keyword.name) == names.end()) return;
    if (keyword.name == "INCLUDE")
      deck_.fail(keyword.line, "*INCLUDE is not supported. Put the included file's text in its place.");
    deck_.fail(keyword.line,
               fmt::format("*{} is not supported. Write all nodes and elements out, in the global system.",
                           keyword.name));
  }

  void refuse_parameter(const AbaqusKeyword& keyword, std::string_view parameter, std::string_view advice) const {
    if (keyword.find(parameter) != nullptr)
      deck_.fail(keyword.line, fmt::format("*{} with {} is not supported. {}", keyword.name, parameter, advice));
  }

  AbaqusScope scope() const { return in_assembly_ && !in_instance_ ? AbaqusScope::assembly : AbaqusScope::part; }

  AbaqusSet& set(AbaqusSet::Kind kind, const std::string& name) {
    const std::string upper = upper_case(name);
    const auto found = std::ranges::find_if(model_.sets, [&](const AbaqusSet& s) {
      return s.kind == kind && s.scope == scope() && upper_case(s.name) == upper;
    });
    if (found != model_.sets.end()) return *found;
    return model_.sets.emplace_back(AbaqusSet{.kind = kind, .scope = scope(), .name = name, .entries = {}});
  }

  const std::string& name_of(const AbaqusKeyword& keyword, std::string_view parameter) const {
    const auto* name = keyword.find(parameter);
    if (name == nullptr || name->value.empty())
      deck_.fail(keyword.line, fmt::format("*{} has no name. Add {}=...", keyword.name, parameter));
    return name->value;
  }

  // The set that *NODE, NSET= or *ELEMENT, ELSET= fills on the way.
  AbaqusSet* inline_set(const AbaqusKeyword& keyword, AbaqusSet::Kind kind, std::string_view parameter) {
    return keyword.find(parameter) == nullptr ? nullptr : &set(kind, name_of(keyword, parameter));
  }

  void read_nodes(const AbaqusKeyword& keyword) {
    refuse_parameter(keyword, "INPUT", "Put the text of the other file in its place.");
    if (const auto* system = keyword.find("SYSTEM"); system != nullptr && upper_case(system->value) != "R")
      refuse_parameter(keyword, "SYSTEM", "Give Cartesian coordinates.");
    if (scope() == AbaqusScope::assembly)
      deck_.fail(keyword.line, "nodes of the assembly (reference points) are not supported. Remove them.");
    AbaqusSet* listed = inline_set(keyword, AbaqusSet::Kind::nodes, "NSET");
    Fields fields;
    while (deck_.next_data(fields)) {
      // Coordinates that are left out are 0.
      AbaqusNode node{.label = label(fields[0]), .x = {}, .line = deck_.line()};
      for (std::size_t i = 0; i < 3 && i + 1 < fields.size(); ++i) node.x[i] = deck_.real(fields[i + 1]);
      model_.nodes.push_back(node);
      if (listed != nullptr) listed->entries.push_back({.name = {}, .label = node.label, .line = node.line});
    }
  }

  Index label(std::string_view field) const {
    const Index value = deck_.integer(field);
    if (value < 1 || value > 999999999)
      deck_.fail(deck_.line(), fmt::format("label {} (must be > 0 and below 1e9). Correct this line.", value));
    return value;
  }

  void read_elements(const AbaqusKeyword& keyword) {
    refuse_parameter(keyword, "INPUT", "Put the text of the other file in its place.");
    const auto* type_name = keyword.find("TYPE");
    const std::string name = type_name == nullptr ? "(none)" : upper_case(type_name->value);
    const bool is_facet = facet_type(name).has_value();
    const auto type = is_facet ? facet_type(name) : cell_type(name);
    if (is_facet) on_solids_.push_back({name, info(*type).dim, keyword.line});
    if (!type)
      deck_.fail(keyword.line, fmt::format("element type {} is not supported (C3D4, C3D10, C3D10M, CPE3, CPE6, CPE6M "
                                           "are). Mesh with tetrahedra or triangles, and leave other elements out.",
                                           name));
    AbaqusSet* listed = inline_set(keyword, AbaqusSet::Kind::elements, "ELSET");
    Fields fields;
    while (deck_.next_data(fields)) {
      AbaqusElement element{.label = label(fields[0]),
                            .type = *type,
                            .first = static_cast<Index>(model_.element_nodes.size()),
                            .line = deck_.line()};
      read_element_nodes(fields, element);
      model_.elements.push_back(element);
      if (listed != nullptr) listed->entries.push_back({.name = {}, .label = element.label, .line = element.line});
    }
  }

  // The rest of this line, and further lines until the element is complete.
  void read_element_nodes(Fields& fields, const AbaqusElement& element) {
    const int expected = info(element.type).nodes;
    int count = 0;
    std::size_t next = 1;
    while (true) {
      for (; next < fields.size(); ++next, ++count)
        if (count < expected) model_.element_nodes.push_back(label(fields[next]));
      if (count >= expected) break;
      next = 0;
      if (!deck_.next_data(fields)) break;
    }
    if (count != expected)
      deck_.fail(element.line, fmt::format("element {} has {} nodes (a {} has {}). Correct its line.", element.label,
                                           count, info(element.type).name, expected));
  }

  void read_set(const AbaqusKeyword& keyword, AbaqusSet::Kind kind, std::string_view parameter) {
    AbaqusSet& target = set(kind, name_of(keyword, parameter));
    if (kind == AbaqusSet::Kind::nodes && keyword.find("ELSET") != nullptr)
      target.entries.push_back({.name = name_of(keyword, "ELSET"), .nodes_of_elements = true, .line = keyword.line});
    Fields fields;
    while (deck_.next_data(fields)) {
      if (keyword.find("GENERATE") != nullptr) {
        generate(fields, target);
        continue;
      }
      for (const std::string_view field : fields)
        if (!field.empty()) target.entries.push_back(entry(field));
    }
  }

  AbaqusSet::Entry entry(std::string_view field) const {
    const bool is_label = field.find_first_not_of("+0123456789") == std::string_view::npos;
    if (is_label) return {.name = {}, .label = label(field), .line = deck_.line()};
    return {.name = std::string(field), .line = deck_.line()};
  }

  void generate(const Fields& fields, AbaqusSet& target) const {
    if (fields.size() < 2 || fields.size() > 3)
      deck_.fail(deck_.line(), "GENERATE takes first, last and, if not 1, step. Correct this line.");
    const Index first = label(fields[0]);
    const Index last = label(fields[1]);
    const Index step = fields.size() == 3 && !fields[2].empty() ? deck_.integer(fields[2]) : 1;
    if (step < 1 || last < first)
      deck_.fail(deck_.line(), fmt::format("GENERATE from {} to {} in steps of {} (the first may not exceed the last, "
                                           "the step must be > 0). Correct this line.",
                                           first, last, step));
    target.entries.push_back({.name = {}, .label = first, .last = last, .step = step, .line = deck_.line()});
  }

  void read_surface(const AbaqusKeyword& keyword) {
    if (const auto* type = keyword.find("TYPE"); type != nullptr && upper_case(type->value) != "ELEMENT") return;
    refuse_parameter(keyword, "COMBINE", "List the faces of the surface.");
    AbaqusSet& target = set(AbaqusSet::Kind::surface, name_of(keyword, "NAME"));
    Fields fields;
    while (deck_.next_data(fields)) {
      AbaqusSet::Entry faces = entry(fields[0]);
      const std::string face = fields.size() > 1 ? upper_case(fields[1]) : "";
      if (face.size() != 2 || face[0] != 'S' || face[1] < '1' || face[1] > '4')
        deck_.fail(deck_.line(), fmt::format("face '{}' of surface '{}' is not supported (S1 to S4 are). Name the face "
                                             "of each element.",
                                             face, target.name));
      faces.face = face[1] - '0';
      target.entries.push_back(std::move(faces));
    }
  }

  AbaqusDeck& deck_;
  bool takes_facets_alone_;
  std::vector<OnSolids> on_solids_;
  AbaqusModel model_;
  int parts_ = 0;
  int instances_ = 0;
  bool in_assembly_ = false;
  bool in_instance_ = false;
};

}  // namespace

AbaqusModel read_abaqus_model(AbaqusDeck& deck, bool takes_facets_alone) {
  return ModelReader(deck, takes_facets_alone).read();
}

}  // namespace tempi
