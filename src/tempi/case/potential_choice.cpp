// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/potential_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "tempi/case/option_table.hpp"
#include "tempi/case/selection.hpp"
#include "tempi/pair/pair_sum.hpp"
#include "tempi/potential/uniform_field.hpp"
#include "tempi/potential/wells.hpp"
#include "tempi/space/neighbour_pairs.hpp"

namespace tempi {
namespace {

struct Entry {
  const char* type;
  const char* required;
  const char* optional;
  bool between_pairs, needs_pairs;
};

constexpr std::array<Entry, 9> entries = {{
    {"lennard-jones", "epsilon sigma", "cutoff skin", true, false},
    {"morse", "depth inverse_width length", "", true, true},
    {"spring", "stiffness length", "", true, true},
    {"tanh-spring", "strength width length", "", true, true},
    {"gravity", "G", "", true, false},
    {"hertz", "stiffness length", "skin", true, false},
    {"expression", "expression", "", true, false},
    {"well", "stiffness", "centre", false, false},
    {"uniform-field", "acceleration", "", false, false},
}};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    result.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

class Chooser {
 public:
  Chooser(const PotentialInput& in, const Surroundings& around)
      : in_(in),
        around_(around),
        mesh_(around.mesh),
        masses_(around.masses),
        box_(around.box),
        constants_(around.constants) {}

  ChosenPotential operator()() {
    const Entry& entry = *std::ranges::find(entries, in_.type, [](const Entry& e) { return std::string_view(e.type); });
    compare_keys(entry);
    chosen_.is_field = !entry.between_pairs;
    if (chosen_.is_field)
      chosen_.potential = in_.type == "well" ? well() : uniform_field();
    else
      chosen_.potential = pairs(entry);
    return std::move(chosen_);
  }

 private:
  void compare_keys(const Entry& entry) const {
    std::vector<std::pair<std::string, Place>> given;
    for (const auto& values : in_.values) given.emplace_back(values.key, values.place);
    if (in_.expression) given.emplace_back("expression", in_.expression->place);
    if (in_.pairs_given) given.emplace_back("pairs", in_.pairs_place);
    if (in_.together) given.emplace_back("together", in_.together_place);
    for (const auto& [key, place] : given) {
      const bool of_pairs = key == "pairs" || key == "within" || key == "together";
      if (of_pairs ? entry.between_pairs : has_key(entry.required, key) || has_key(entry.optional, key)) continue;
      std::vector<std::string_view> owners;
      for (const Entry& e : entries)
        if (of_pairs ? e.between_pairs : has_key(e.required, key) || has_key(e.optional, key))
          owners.emplace_back(e.type);
      throw PlacedError(place, fmt::format("{} belongs to {}, not to {}. Leave it out, or choose another type.", key,
                                           fmt::join(owners, ", "), in_.type));
    }
    for (const std::string& key : words(entry.required))
      if (std::ranges::find(given, key, &std::pair<std::string, Place>::first) == given.end())
        throw PlacedError(in_.place, fmt::format("{} needs {}. Add {} = ...", in_.type, entry.required, key));
  }

  double value(std::string_view key) const {
    const auto* found = in_.find(key);
    if (found->values.size() != 1)
      throw PlacedError(found->place,
                        fmt::format("{} has {} values (must be one for {}).", key, found->values.size(), in_.type));
    return found->values.front();
  }
  std::optional<double> optional_value(std::string_view key) const {
    return in_.find(key) == nullptr ? std::nullopt : std::optional(value(key));
  }

  std::array<double, 3> vector(std::string_view key, bool or_one_for_all) const {
    const auto* found = in_.find(key);
    const auto d = static_cast<std::size_t>(mesh_.dim());
    const std::vector<double>& v = found->values;
    if (v.size() != d && !(or_one_for_all && v.size() == 1))
      throw PlacedError(found->place, fmt::format("{} has {} components (there are {} dimensions).", key, v.size(), d));
    std::array<double, 3> result{};
    for (std::size_t c = 0; c < d; ++c) result[c] = v.size() == 1 ? v.front() : v[c];
    return result;
  }

  std::vector<NodeId> nodes() const { return Selection(mesh_, constants_).nodes(in_.nodes); }

  std::unique_ptr<Potential> well() const {
    const bool placed = in_.find("centre") != nullptr;
    const Well w{vector("stiffness", true), placed ? vector("centre", false) : std::array<double, 3>{}, !placed};
    return at_place(in_.place, [&] { return make_wells(mesh_.points(), mesh_.dim(), nodes(), w); });
  }

  std::unique_ptr<Potential> uniform_field() const {
    return at_place(in_.place, [&] {
      return make_uniform_field(mesh_.points(), mesh_.dim(), masses_, nodes(), vector("acceleration", false));
    });
  }

  PairLaw law() const {
    if (in_.type == "lennard-jones") return LennardJones{value("epsilon"), value("sigma"), optional_value("cutoff")};
    if (in_.type == "morse") return Morse{value("depth"), value("inverse_width"), value("length")};
    if (in_.type == "spring") return Spring{value("stiffness"), value("length")};
    if (in_.type == "tanh-spring") return TanhSpring{value("strength"), value("width"), value("length")};
    if (in_.type == "gravity") return Gravitation{value("G")};
    if (in_.type == "hertz") return Hertz{value("stiffness"), value("length")};
    const FormulaText& formula = *in_.expression;
    return at_place(formula.place,
                    [&] { return UserLaw(Expression::of("r", std::get<std::string>(formula.value), constants_)); });
  }

  std::unique_ptr<Potential> pairs(const Entry& entry) {
    PairLaw chosen = law();
    const bool listed = !in_.pair_list.empty() || !in_.pairs_file.empty();
    if (entry.needs_pairs && !in_.pairs_given && in_.find("within") == nullptr)
      throw PlacedError(in_.place,
                        fmt::format("{} needs pairs = [[0, 1], ...], or within (which joins all that start no farther "
                                    "apart). Write pairs = \"all\" if every pair is meant.",
                                    in_.type));
    if (listed && (!in_.nodes.everything() || in_.find("within") != nullptr))
      throw PlacedError(in_.pairs_place,
                        "pairs are listed, so group, where, particles and within have no meaning. "
                        "Leave them out.");
    note_cutoff();
    const bool near = in_.find("within") != nullptr;
    if (!listed && !near && together()) return pair_sum(std::move(chosen));
    if (const auto* skin = in_.find("skin"))
      throw PlacedError(skin->place, "skin belongs to pairs that act together. Leave it out.");
    std::vector<NodePair> all = listed ? listed_pairs()
                                : near
                                    ? pairs_no_farther(in_.nodes, value("within"), in_.find("within")->place, around_)
                                    : every_pair();
    if (all.empty()) throw PlacedError(in_.pairs_place, fmt::format("{} joins no pair.", in_.type));
    if (listed || near) chosen_.bonds = all;
    chosen_.one_step = chosen_.bonds.empty() && in_.type != "gravity";
    const Company company = chosen_.bonds.empty() ? Company::wandering : Company::bonded;
    return at_place(in_.place, [&] {
      return make_pairs(mesh_.points(), mesh_.dim(), masses_, std::move(all), std::move(chosen), box_, company);
    });
  }

  bool together() const {
    if (!in_.together) return (in_.find("cutoff") != nullptr || in_.type == "hertz") && !around_.small_terms;
    if (*in_.together && around_.small_terms)
      throw PlacedError(in_.together_place,
                        "together = true does not go with energy-momentum, whose discrete gradients "
                        "are those of single pairs. Leave it out.");
    return *in_.together;
  }

  std::unique_ptr<Potential> pair_sum(PairLaw chosen) const {
    constexpr std::size_t most = 10'000;
    if (nodes().size() > most && in_.find("cutoff") == nullptr && in_.type != "hertz")
      throw PlacedError(in_.place, fmt::format("{} particles are too many for {} without a cutoff (at most {}).",
                                               nodes().size(), in_.type, most));
    return at_place(in_.place, [&] {
      return make_pair_sum(mesh_.points(), mesh_.dim(), masses_, nodes(), std::move(chosen), box_,
                           optional_value("skin"));
    });
  }

  std::vector<NodePair> listed_pairs() const {
    if (in_.pairs_file.empty()) return nodes_of_pairs(mesh_, in_.pair_list, in_.pairs_place);
    const Place place = fmt::format("{}: {}", in_.pairs_place, in_.pairs_file);
    return nodes_of_pairs(mesh_, read_pairs(place), place);
  }

  // Two integers a line, by a comma or blanks; a header without digits is skipped.
  std::vector<std::array<Index, 2>> read_pairs(const Place& place) const {
    std::filesystem::path file = in_.pairs_file;
    if (file.is_relative()) file = around_.folder / file;
    std::ifstream in(file);
    if (!in || std::filesystem::is_directory(file))
      throw PlacedError(place, "cannot be read (does it exist?). Give \"all\", a list of pairs, or a file of them.");
    std::vector<std::array<Index, 2>> result;
    std::string line;
    for (Index number = 1; std::getline(in, line); ++number) {
      const std::string original = line;
      if (line.find_first_of("0123456789") == std::string::npos || line.front() == '#') continue;
      std::ranges::replace(line, ',', ' ');
      std::array<Index, 2> pair{};
      char rest = 0;
      std::istringstream text(line);
      if (!(text >> pair[0] >> pair[1]) || text >> rest)
        throw PlacedError(place, fmt::format("line {}: \"{}\" is not a pair of integers.", number, original));
      result.push_back(pair);
    }
    return result;
  }

  std::vector<NodePair> every_pair() const {
    const std::vector<NodeId> chosen = nodes();
    constexpr std::size_t most = 1'000'000;
    if (chosen.size() * (chosen.size() - 1) / 2 > most)
      throw PlacedError(
          in_.place,
          fmt::format(
              "{} particles have {} pairs (as elements of their own at most {}). Give together = true, a cutoff, or "
              "within.",
              chosen.size(), chosen.size() * (chosen.size() - 1) / 2, most));
    std::vector<NodePair> result;
    for (std::size_t i = 0; i < chosen.size(); ++i)
      for (std::size_t j = i + 1; j < chosen.size(); ++j) result.push_back({chosen[i], chosen[j]});
    return result;
  }

  // No pair is farther apart than the diagonal of what holds all.
  void note_cutoff() {
    const auto* cutoff = in_.find("cutoff");
    if (cutoff == nullptr) return;
    double diagonal = 0.0;
    const auto d = static_cast<std::size_t>(mesh_.dim());
    for (std::size_t c = 0; c < d; ++c) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (const NodeId a : nodes()) {
        low = std::min(low, mesh_.point(a)[c]);
        high = std::max(high, mesh_.point(a)[c]);
      }
      diagonal += std::pow(box_.length(c) ? std::min(high - low, 0.5 * *box_.length(c)) : high - low, 2);
    }
    diagonal = std::sqrt(diagonal);
    if (diagonal < cutoff->values.front())
      chosen_.notes.push_back(
          fmt::format("{}: cutoff = {:.6g} m is larger than needed: no pair starts farther apart "
                      "than {:.6g} m. A smaller one, or none, is faster.",
                      cutoff->place, cutoff->values.front(), diagonal));
  }

  const PotentialInput& in_;
  const Surroundings& around_;
  const Mesh& mesh_;
  std::span<const double> masses_;
  const Box& box_;
  const Constants& constants_;
  ChosenPotential chosen_;
};

}  // namespace

// A pair listed twice would act twice.
std::vector<NodePair> nodes_of_pairs(const Mesh& mesh, const std::vector<std::array<Index, 2>>& labels,
                                     const Place& place) {
  const std::map<Index, NodeId> node_of = nodes_by_label(mesh);
  std::vector<NodePair> result;
  std::map<NodePair, std::size_t> seen;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    NodePair ends{};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto found = node_of.find(labels[k][i]);
      if (found == node_of.end())
        throw PlacedError(place, fmt::format("pair {} names {} (they are numbered from {} to {}).", k, labels[k][i],
                                             node_of.begin()->first, node_of.rbegin()->first));
      ends[i] = found->second;
    }
    NodePair key = ends;
    std::ranges::sort(key);
    if (const auto [first, is_new] = seen.emplace(key, k); !is_new)
      throw PlacedError(place, fmt::format("pair {} of {} and {} is there already (pair {}). Leave one out.", k,
                                           labels[k][0], labels[k][1], first->second));
    result.push_back(ends);
  }
  return result;
}

std::vector<NodePair> pairs_no_farther(const Selector& among, double distance, const Place& place,
                                       const Surroundings& around) {
  std::vector<NodePair> pairs =
      at_place(place, [&] { return pairs_within(around.mesh.points(), around.mesh.dim(), distance, around.box); });
  const std::vector<NodeId> chosen = Selection(around.mesh, around.constants).nodes(among);
  std::erase_if(pairs, [&](const NodePair& pair) {
    return !std::ranges::all_of(pair, [&](NodeId a) { return std::ranges::binary_search(chosen, a); });
  });
  return pairs;
}

ChosenPotential choose_potential(const PotentialInput& in, const Surroundings& around) { return Chooser(in, around)(); }

}  // namespace tempi
