// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/support_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tempi/case/formula.hpp"
#include "tempi/case/selection.hpp"
#include "tempi/core/error.hpp"

namespace tempi {
namespace {

// The given name, or the group's; later supports on the same group are numbered, so that reactions stay apart.
std::string name_of_support(const FixInput& fix, std::size_t i, std::vector<std::string>& names) {
  std::string name = !fix.name.empty()         ? fix.name
                     : !fix.nodes.name.empty() ? fix.nodes.name
                                               : fmt::format("fix{}", i + 1);
  if (std::ranges::find(names, name) != names.end()) {
    if (!fix.name.empty()) throw InputError(fmt::format("there are two supports named '{}'.", fix.name));
    name = fmt::format("{} {}", name, i + 1);
  }
  names.push_back(name);
  return name;
}

Support support_of(const FixInput& fix, std::string its_name, const Mesh& mesh, const Constants& constants) {
  Support support;
  support.name = std::move(its_name);
  if (fix.nodes.everything()) throw InputError("a support needs a group or where.");
  support.nodes = Selection(mesh, constants).nodes(fix.nodes);
  std::vector<std::size_t> components;
  for (const std::string& name : fix.components) {
    const std::size_t c = name.size() == 1 ? std::string("xyz").find(name) : std::string::npos;
    if (c >= static_cast<std::size_t>(mesh.dim()))
      throw PlacedError(fix.components_place, fmt::format("component \"{}\" does not exist (there {}).", name,
                                                          mesh.dim() == 1   ? "is x"
                                                          : mesh.dim() == 2 ? "are x and y"
                                                                            : "are x, y and z"));
    if (std::ranges::find(components, c) != components.end())
      throw PlacedError(fix.components_place, fmt::format("component \"{}\" is given twice.", name));
    components.push_back(c);
  }
  if (fix.components.empty())
    for (std::size_t c = 0; c < static_cast<std::size_t>(mesh.dim()); ++c) components.push_back(c);
  if (!fix.displacement.empty() && fix.displacement.size() != components.size())
    throw PlacedError(fix.displacement_place,
                      fmt::format("displacement has {} expression{} for {} component{}. Give one for each.",
                                  fix.displacement.size(), fix.displacement.size() == 1 ? "" : "s", components.size(),
                                  components.size() == 1 ? "" : "s"));
  for (std::size_t k = 0; k < components.size(); ++k) {
    const std::size_t c = components[k];
    support.motion[c] = fix.displacement.empty() ? Support::Motion::at_rest : Support::Motion::prescribed;
    if (!fix.displacement.empty()) support.displacement[c] = expression_of(fix.displacement[k], constants);
  }
  return support;
}

}  // namespace

Supports choose_supports(const std::vector<FixInput>& fixes, const Mesh& mesh, const Constants& constants) {
  if (fixes.empty()) return {};
  std::vector<Support> supports;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fixes.size(); ++i)
    supports.push_back(at_place(fixes[i].place, [&] {
      return support_of(fixes[i], name_of_support(fixes[i], i, names), mesh, constants);
    }));
  return at_place(fixes.front().place, [&] { return Supports(std::move(supports), mesh.points(), mesh.dim()); });
}

}  // namespace tempi
