// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/pair_law_choice.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "tempi/case/selection.hpp"

namespace tempi {

double value_of(const PotentialInput& in, std::string_view key) {
  const auto* found = in.find(key);
  if (found->values.size() != 1)
    throw PlacedError(found->place,
                      fmt::format("{} has {} values (must be one for {}).", key, found->values.size(), in.type));
  return found->values.front();
}

std::optional<double> optional_value_of(const PotentialInput& in, std::string_view key) {
  return in.find(key) == nullptr ? std::nullopt : std::optional(value_of(in, key));
}

void PairLawChoice::compare_keys() const {
  if (in_.type == "hertz") compare_hertz_keys();
  compare_classes();
}

// The kind of each node that takes part, as a place in `kinds`; -1: none.
void PairLawChoice::find_kinds(std::span<const NodeId> participants) {
  if (in_.kinds.empty()) return;
  kind_.assign(static_cast<std::size_t>(around_.mesh.node_count()), -1);
  for (std::size_t k = 0; k < in_.kinds.size(); ++k) {
    Selector selector;
    selector.name = in_.kinds[k];
    selector.place = in_.kinds_place;
    for (const NodeId a : Selection(around_.mesh, around_.constants).nodes(selector)) {
      int& kind = kind_[ordinal(a)];
      if (kind >= 0)
        throw PlacedError(in_.kinds_place, fmt::format("node {} is of kind '{}' and of kind '{}'. Give each one kind.",
                                                       around_.mesh.point_label(a),
                                                       in_.kinds[static_cast<std::size_t>(kind)], in_.kinds[k]));
      kind = static_cast<int>(k);
    }
  }
  for (const NodeId a : participants)
    if (kind_[ordinal(a)] < 0)
      throw PlacedError(in_.kinds_place,
                        fmt::format("node {} takes part and is of no kind.", around_.mesh.point_label(a)));
}

double PairLawChoice::parameter(std::string_view key, NodeId a) const {
  const auto* found = in_.find(key);
  if (found->values.size() == 1) return found->values.front();
  if (found->values.size() != in_.kinds.size())
    throw PlacedError(found->place, fmt::format("{} has {} values (must be one, or one for each of the {} kinds).", key,
                                                found->values.size(), in_.kinds.size()));
  return found->values[static_cast<std::size_t>(kind_[ordinal(a)])];
}

double PairLawChoice::radius_of(NodeId a) const { return around_.radii.empty() ? 0.0 : around_.radii[ordinal(a)]; }

bool PairLawChoice::of_spheres() const { return in_.type == "hertz" && in_.find("young") != nullptr; }

std::vector<double> PairLawChoice::materials_of(NodeId a) const {
  std::vector<double> result;
  for (const std::string_view key : {"epsilon", "sigma", "young", "poisson"})
    if (in_.find(key) != nullptr) result.push_back(parameter(key, a));
  return result;
}

std::vector<double> PairLawChoice::parameters_of(NodeId a) const {
  std::vector<double> result = materials_of(a);
  if (of_spheres()) result.push_back(radius_of(a));
  return result;
}

void PairLawChoice::compare_hertz_keys() const {
  const bool whole = in_.find("stiffness") != nullptr || in_.find("length") != nullptr;
  const bool spheres = of_spheres() || in_.find("poisson") != nullptr;
  const bool complete = whole ? in_.find("stiffness") != nullptr && in_.find("length") != nullptr
                              : of_spheres() && in_.find("poisson") != nullptr;
  if (whole == spheres || !complete)
    throw PlacedError(in_.place, "hertz needs stiffness and length, or young and poisson of spheres. Give either.");
  if (spheres && around_.radii.empty())
    throw PlacedError(in_.find("young")->place, "young and poisson need spheres. Add radius = ... to [particles].");
}

// Hertz (1882): 4/3 E* sqrt(R), 1/E* = sum (1 - nu^2)/E, 1/R = 1/R_a + 1/R_b; who has no radius is flat.
Hertz PairLawChoice::contact(NodeId a, NodeId b) const {
  const double Ra = radius_of(a), Rb = radius_of(b);
  if (Ra == 0.0 && Rb == 0.0)
    throw PlacedError(in_.place, fmt::format("nodes {} and {} are to touch, and neither has a radius.",
                                             around_.mesh.point_label(a), around_.mesh.point_label(b)));
  const double R = Ra == 0.0 ? Rb : Rb == 0.0 ? Ra : Ra * Rb / (Ra + Rb);
  return {modulus(a, b) * std::sqrt(R), Ra + Rb};
}

double PairLawChoice::modulus(NodeId a, NodeId b) const {
  const auto softness = [&](NodeId i) {
    const double nu = parameter("poisson", i);
    return (1.0 - nu * nu) / parameter("young", i);
  };
  return 4.0 / 3.0 / (softness(a) + softness(b));
}

// The same against a wall; a hollow one is R < 0 in 1/R.
WallSphere PairLawChoice::contact(NodeId a, const Surroundings::ElasticWall& wall) const {
  const double radius = radius_of(a), nu = parameter("poisson", a);
  if (radius == 0.0)
    throw PlacedError(in_.place,
                      fmt::format("node {} is to touch a wall, and has no radius.", around_.mesh.point_label(a)));
  if (wall.wall.inside && !(radius < wall.wall.radius))
    throw PlacedError(wall.place, fmt::format("the sphere of node {}, of {:.6g} m, has no room in one of {:.6g} m.",
                                              around_.mesh.point_label(a), radius, wall.wall.radius));
  const double softness = (1.0 - nu * nu) / parameter("young", a) + (1.0 - wall.poisson * wall.poisson) / wall.young;
  const double bend = wall.wall.shape == Wall::Shape::sphere ? (wall.wall.inside ? -1.0 : 1.0) / wall.wall.radius : 0.0;
  return {a, radius, 4.0 / 3.0 / (softness * std::sqrt(1.0 / radius + bend))};
}

WholeLaw PairLawChoice::whole_law(NodeId a, NodeId b) const {
  if (in_.type == "lennard-jones")
    return LennardJones{std::sqrt(parameter("epsilon", a) * parameter("epsilon", b)),
                        0.5 * (parameter("sigma", a) + parameter("sigma", b)), optional_value_of(in_, "cutoff")};
  if (in_.type == "morse")
    return Morse{value_of(in_, "depth"), value_of(in_, "inverse_width"), value_of(in_, "length")};
  if (in_.type == "spring") return Spring{value_of(in_, "stiffness"), value_of(in_, "length")};
  if (in_.type == "tanh-spring")
    return TanhSpring{value_of(in_, "strength"), value_of(in_, "width"), value_of(in_, "length")};
  if (in_.type == "gravity") return Gravitation{value_of(in_, "G")};
  if (in_.type == "hertz")
    return of_spheres() ? contact(a, b) : Hertz{value_of(in_, "stiffness"), value_of(in_, "length")};
  const FormulaText& formula = *in_.expression;
  return at_place(formula.place, [&] {
    return UserLaw(Expression::of("r", std::get<std::string>(formula.value), around_.constants));
  });
}

std::size_t PairLawChoice::class_count() const {
  const auto* split = in_.find("split");
  return split == nullptr ? 1 : split->values.size() + 1;
}

std::optional<LawPart::Switch> PairLawChoice::border(std::size_t k) const {  // between class k - 1 and class k
  const auto* split = in_.find("split");
  if (split == nullptr || k == 0 || k > split->values.size()) return std::nullopt;
  const double blend = optional_value_of(in_, "blend").value_or(0.2 * split->values.front()), at = split->values[k - 1];
  return LawPart::Switch{at - 0.5 * blend, at + 0.5 * blend};
}

// Of a pair, in class c.
PairLaw PairLawChoice::law(std::size_t c, NodeId a, NodeId b) const {
  WholeLaw whole = whole_law(a, b);
  if (class_count() == 1) return std::visit([](auto&& l) { return PairLaw(std::move(l)); }, std::move(whole));
  return at_place(in_.find("split")->place, [&] { return LawPart(std::move(whole), border(c), border(c + 1)); });
}

std::optional<double> PairLawChoice::step_of_class(std::size_t c) const {
  const auto* steps = in_.find("step");
  if (steps == nullptr || class_count() == 1) return std::nullopt;
  if (steps->values.size() != class_count())
    throw PlacedError(steps->place, fmt::format("step has {} values for {} classes. Give one each, near ones first.",
                                                steps->values.size(), class_count()));
  return steps->values[c];
}

void PairLawChoice::compare_classes() const {
  const auto* split = in_.find("split");
  if (const auto* blend = in_.find("blend"); blend != nullptr && split == nullptr)
    throw PlacedError(blend->place, "blend belongs to split. Leave it out.");
  if (split == nullptr) return;
  for (std::size_t k = 1; k < split->values.size(); ++k)
    if (!(split->values[k] > split->values[k - 1]))
      throw PlacedError(split->place, fmt::format("split has {} m after {} m (must ascend).", split->values[k],
                                                  split->values[k - 1]));
  const auto* cutoff = in_.find("cutoff");
  if (cutoff != nullptr && split->values.back() >= cutoff->values.front())
    throw PlacedError(split->place, fmt::format("split has {} m, where the law has ended (cutoff = {} m).",
                                                split->values.back(), cutoff->values.front()));
}

}  // namespace tempi
