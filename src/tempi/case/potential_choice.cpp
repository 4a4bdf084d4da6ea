// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/potential_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <sstream>

#include "tempi/case/option_table.hpp"
#include "tempi/case/pair_law_choice.hpp"
#include "tempi/case/selection.hpp"
#include "tempi/core/distinct.hpp"
#include "tempi/force/impact_damping.hpp"
#include "tempi/pair/embedded_atoms.hpp"
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

constexpr std::array<Entry, 10> entries = {{
    {"lennard-jones", "epsilon sigma", "cutoff skin kinds", true, false},
    {"morse", "depth inverse_width length", "", true, true},
    {"spring", "stiffness length", "", true, true},
    {"tanh-spring", "strength width length", "", true, true},
    {"gravity", "G", "", true, false},
    {"hertz", "", "stiffness length young poisson skin kinds restitution restitution_table laplacian_damping", true,
     false},
    {"expression", "expression", "", true, false},
    {"embedded-atom", "depth cutoff", "exponent skin", false, false},
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
        constants_(around.constants),
        laws_(in, around) {}

  std::vector<ChosenPotential> operator()() {
    const Entry& entry = *std::ranges::find(entries, in_.type, [](const Entry& e) { return std::string_view(e.type); });
    compare_keys(entry);
    if (entry.between_pairs) {
      pairs(entry);
      if (laws_.of_spheres()) {
        refuse_overlaps();
        touch_walls();
        if (chosen_.empty())
          throw PlacedError(in_.place, fmt::format("{} joins no pair, and nobody to a wall.", in_.type));
      }
      if (in_.find("laplacian_damping") != nullptr) damp_by_laplacian();
    } else {
      ChosenPotential& chosen = chosen_.emplace_back();
      chosen.is_field = in_.type != "embedded-atom";
      chosen.potential = in_.type == "well" ? well() : in_.type == "uniform-field" ? uniform_field() : embedded_atoms();
    }
    if (const auto* steps = in_.find("step"); steps != nullptr && in_.find("split") == nullptr)
      for (ChosenPotential& chosen : chosen_) chosen.step = value("step");
    return std::move(chosen_);
  }

 private:
  void compare_keys(const Entry& entry) const {
    std::vector<std::pair<std::string, Place>> given;
    for (const auto& values : in_.values) given.emplace_back(values.key, values.place);
    if (in_.expression) given.emplace_back("expression", in_.expression->place);
    if (in_.restitution) given.emplace_back("restitution", in_.restitution->place);
    if (in_.restitution_table) given.emplace_back("restitution_table", in_.restitution_table->place);
    if (in_.pairs_given) given.emplace_back("pairs", in_.pairs_place);
    if (in_.together) given.emplace_back("together", in_.together_place);
    if (!in_.between.empty()) given.emplace_back("between", in_.between_place);
    if (!in_.kinds.empty()) given.emplace_back("kinds", in_.kinds_place);
    for (const auto& [key, place] : given) {
      if (key == "step") continue;
      const bool of_pairs = has_key("pairs within together between split blend", key);
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

  double value(std::string_view key) const { return value_of(in_, key); }
  std::optional<double> optional_value(std::string_view key) const { return optional_value_of(in_, key); }

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

  std::unique_ptr<Potential> embedded_atoms() const {
    if (around_.small_terms)
      throw PlacedError(in_.place,
                        "embedded atoms feel all their neighbours at once, which this method cannot take. "
                        "Choose another method.");
    const Embedding embedding{value("depth"), value("cutoff"), optional_value("exponent").value_or(4.0)};
    return at_place(in_.place, [&] {
      return make_embedded_atoms(mesh_.points(), mesh_.dim(), nodes(), embedding, box_, optional_value("skin"));
    });
  }

  // ---- who with whom ----

  std::vector<NodeId> side(std::size_t s) const { return Selection(mesh_, constants_).nodes(in_.between[s]); }
  std::vector<NodeId> participants() const {
    if (in_.between.empty()) return nodes();
    std::vector<NodeId> both = side(0);
    const std::vector<NodeId> other = side(1);
    both.insert(both.end(), other.begin(), other.end());
    std::ranges::sort(both);
    if (const auto twice = std::ranges::adjacent_find(both); twice != both.end())
      throw PlacedError(in_.between_place,
                        fmt::format("node {} is in both groups (they must share no node).", mesh_.point_label(*twice)));
    return both;
  }
  void keep_across(std::vector<NodePair>& pairs) const {
    if (in_.between.empty()) return;
    const std::vector<NodeId> first = side(0), second = side(1);
    const auto is_in = [](const std::vector<NodeId>& group, NodeId a) { return std::ranges::binary_search(group, a); };
    std::erase_if(pairs, [&](const NodePair& p) {
      return !(is_in(first, p[0]) && is_in(second, p[1])) && !(is_in(first, p[1]) && is_in(second, p[0]));
    });
  }

  void pairs(const Entry& entry) {
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
    laws_.compare_keys();
    const bool near = in_.find("within") != nullptr;
    const std::vector<NodePair> list = listed ? listed_pairs() : std::vector<NodePair>();
    if (listed)
      for (const NodePair& pair : list) participants_.insert(participants_.end(), pair.begin(), pair.end());
    else
      participants_ = participants();
    laws_.find_kinds(participants_);
    if (!listed && !near && together()) return pair_sums();
    if (const auto* skin = in_.find("skin"))
      throw PlacedError(skin->place, "skin belongs to pairs that act together. Leave it out.");
    std::vector<NodePair> all = listed ? list
                                : near
                                    ? pairs_no_farther(in_.nodes, value("within"), in_.find("within")->place, around_)
                                    : every_pair();
    keep_across(all);
    if (all.empty() && laws_.of_spheres()) return;  // they may touch walls
    if (all.empty()) throw PlacedError(in_.pairs_place, fmt::format("{} joins no pair.", in_.type));
    const bool bonded = listed || near;
    const bool alike = in_.kinds.empty() && !laws_.of_spheres();
    for (std::size_t c = 0; c < laws_.class_count(); ++c) {
      ChosenPotential& chosen = chosen_.emplace_back();
      if (bonded && c == 0) chosen.bonds = all;
      // A pair that hardly feels a class now may be in the midst of it soon.
      const bool fades = laws_.class_count() > 1;
      chosen.one_step = !bonded && (in_.type != "gravity" || fades);
      chosen.step = laws_.step_of_class(c);
      std::vector<PairLaw> laws;
      for (std::size_t k = 0; k < (alike ? 1 : all.size()); ++k) laws.push_back(laws_.law(c, all[k][0], all[k][1]));
      const Company company = bonded ? Company::bonded : Company::wandering;
      chosen.potential = at_place(in_.place, [&] {
        return alike ? make_pairs(mesh_.points(), mesh_.dim(), masses_, all, std::move(laws.front()), box_, company)
                     : make_pairs(mesh_.points(), mesh_.dim(), masses_, all, std::move(laws), box_, company);
      });
      if (loses()) chosen.impacts = impacts(all);
    }
    note_cutoff();
  }

  // Overlap that may be meant, of the radius: things are pressed together. Hertz's law is of small ones, but formulas
  // go on.
  static constexpr double bearable = 0.5;

  void refuse_overlaps() const {
    std::vector<char> takes_part(around_.radii.size(), 0);
    double largest = 0.0;
    for (const NodeId a : participants_) {
      takes_part[ordinal(a)] = 1;
      largest = std::max(largest, around_.radii[ordinal(a)]);
    }
    std::vector<NodePair> near =
        at_place(in_.place, [&] { return pairs_within(mesh_.points(), mesh_.dim(), 2.0 * largest, box_); });
    keep_across(near);
    const auto d = static_cast<std::size_t>(mesh_.dim());
    for (const auto& [a, b] : near) {
      const double ra = around_.radii[ordinal(a)], rb = around_.radii[ordinal(b)];
      if (takes_part[ordinal(a)] == 0 || takes_part[ordinal(b)] == 0 || ra == 0.0 || rb == 0.0) continue;
      double squared = 0.0;
      for (std::size_t c = 0; c < d; ++c) {
        double x = mesh_.point(b)[c] - mesh_.point(a)[c];
        if (const auto length = box_.length(c)) x = std::remainder(x, *length);
        squared += x * x;
      }
      if (std::sqrt(squared) < ra + rb - bearable * std::min(ra, rb))
        throw PlacedError(in_.place,
                          fmt::format("the spheres of nodes {} and {} are {:.4g} m apart and overlap by more "
                                      "than half a radius where the run starts. Move them apart.",
                                      mesh_.point_label(a), mesh_.point_label(b), std::sqrt(squared)));
    }
  }

  // A potential for each wall, of those who take part and may touch it.
  void touch_walls() {
    std::vector<NodeId> all = participants_;
    make_distinct(all);
    for (std::size_t w = 0; w < around_.walls.size(); ++w) {
      const Surroundings::ElasticWall& wall = around_.walls[w];
      std::vector<WallSphere> spheres;
      for (const NodeId a : wall.nodes) {
        if (!std::ranges::binary_search(all, a)) continue;
        spheres.push_back(laws_.contact(a, wall));
        refuse_cut(wall, spheres.back());
      }
      if (spheres.empty()) continue;
      ChosenPotential& chosen = chosen_.emplace_back();
      chosen.one_step = chosen.is_field = true;
      chosen.wall = w;
      if (loses()) chosen.impacts = make_impact_damping(mesh_.points(), mesh_.dim(), spheres, wall.wall, restitution());
      touched_walls_.push_back({wall.wall, spheres});
      chosen.potential =
          at_place(wall.place, [&] { return make_wall_contact(mesh_.points(), mesh_.dim(), spheres, wall.wall); });
    }
  }

  void refuse_cut(const Surroundings::ElasticWall& wall, const WallSphere& sphere) const {
    std::array<double, 3> x{};
    for (std::size_t c = 0; c < static_cast<std::size_t>(mesh_.dim()); ++c) x[c] = mesh_.point(sphere.node)[c];
    if (gap(checked(wall.wall, mesh_.dim()), x).distance < (1.0 - bearable) * sphere.radius)
      throw PlacedError(wall.place,
                        fmt::format("it cuts the sphere of node {} at ({:.4g}) by more than half its radius "
                                    "where the run starts. Move one of them, or turn the wall's normal.",
                                    mesh_.point_label(sphere.node),
                                    fmt::join(std::span(x).first(static_cast<std::size_t>(mesh_.dim())), ", ")));
  }

  // Of all that touches a bead together, so of one sum and all walls.
  void damp_by_laplacian() {
    const auto& given = *in_.find("laplacian_damping");
    if (given.values.size() != 2)
      throw PlacedError(given.place, fmt::format("laplacian_damping has {} values (must be two: gamma, alpha).",
                                                 given.values.size()));
    if (loses()) throw PlacedError(given.place, "laplacian_damping and restitution both damp. Leave out one of them.");
    const auto is_sum = [](const ChosenPotential& chosen) { return chosen.potential->as_sum() != nullptr; };
    const auto is_other = [&](const ChosenPotential& chosen) { return !is_sum(chosen) && !chosen.wall; };
    if (std::ranges::count_if(chosen_, is_sum) != 1 || std::ranges::any_of(chosen_, is_other))
      throw PlacedError(
          given.place,
          "laplacian_damping wants all pairs together, of spheres of one material. Leave out pairs, within, "
          "split and together = false, or give one young and poisson.");
    ChosenPotential& sum = *std::ranges::find_if(chosen_, is_sum);
    sum.impacts = at_place(given.place, [&] {
      return make_laplacian_damping(*sum.potential->as_sum(), mesh_.points(), masses_, given.values[0], given.values[1],
                                    std::move(touched_walls_));
    });
  }

  bool loses() const { return in_.restitution || in_.restitution_table; }
  // The ratio of speeds of an impact.
  Restitution restitution() const {
    const Place& place = in_.restitution ? in_.restitution->place : in_.restitution_table->place;
    if (in_.restitution && in_.restitution_table)
      throw PlacedError(in_.restitution_table->place,
                        "restitution and restitution_table say the same. Leave out one of them.");
    if (laws_.class_count() > 1) throw PlacedError(place, "restitution does not go with split. Leave out one of them.");
    if (in_.restitution_table) return restitution_by_table();
    const double* number = std::get_if<double>(&in_.restitution->value);
    if (number != nullptr) at_place(place, [&] { return impact_damping(*number); });  // throws what it throws
    const auto e = std::make_shared<const Expression>(at_place(place, [&] {
      return number != nullptr ? Expression(*number)
                               : Expression::of("v", std::get<std::string>(in_.restitution->value), constants_);
    }));
    return [e](double v) { return (*e)(std::span(&v, 1), 0.0); };
  }
  Restitution restitution_by_table() const {
    const auto& name = std::get<std::string>(in_.restitution_table->value);
    const Place place = fmt::format("{}: {}", in_.restitution_table->place, name);
    auto rows = read_rows<double>(name, place, "a speed and a restitution", "Give a file of two columns.");
    if (rows.empty()) throw PlacedError(place, "has no rows. Give a speed and a restitution a line.");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      at_place(place, [&] { return impact_damping(rows[i][1]); });
      if (i > 0 && !(rows[i][0] > rows[i - 1][0]))
        throw PlacedError(place, fmt::format("speed {} comes after {}. Sort the rows.", rows[i][0], rows[i - 1][0]));
    }
    return [rows = std::move(rows)](double v) {
      const auto above = std::ranges::upper_bound(rows, v, {}, [](const auto& row) { return row[0]; });
      if (above == rows.begin()) return rows.front()[1];
      if (above == rows.end()) return rows.back()[1];
      const auto &low = *(above - 1), &high = *above;
      return low[1] + (high[1] - low[1]) * (v - low[0]) / (high[0] - low[0]);
    };
  }

  // What the pairs do not give back, each as an impact of its own.
  std::unique_ptr<Force> impacts(const std::vector<NodePair>& pairs) const {
    Restitution e = restitution();
    std::vector<Hertz> laws;
    for (const auto& [a, b] : pairs) laws.push_back(std::get<Hertz>(laws_.law(0, a, b)));
    return make_impact_damping(mesh_.points(), mesh_.dim(), pairs, std::move(laws), std::move(e), box_);
  }

  bool together() const {
    if (!in_.together) return (in_.find("cutoff") != nullptr || in_.type == "hertz") && !around_.small_terms;
    if (*in_.together && around_.small_terms)
      throw PlacedError(in_.together_place,
                        "together = true makes one term of all pairs, and this method takes pairs one by one. "
                        "Leave it out.");
    return *in_.together;
  }

  // One for each class; where parameters differ one for each two kinds, too.
  void pair_sums() {
    constexpr std::size_t most = 10'000, most_kinds = 16;
    if (participants_.size() > most && in_.find("cutoff") == nullptr && in_.type != "hertz")
      throw PlacedError(in_.place, fmt::format("{} particles are too many for {} without a cutoff (at most {}).",
                                               participants_.size(), in_.type, most));
    std::map<std::vector<double>, std::vector<NodeId>> kinds;
    for (const NodeId a : participants_) kinds[laws_.parameters_of(a)].push_back(a);
    const bool as_one = kinds.size() > most_kinds || (kinds.size() > 1 && in_.find("laplacian_damping") != nullptr);
    const bool of_many_sizes = laws_.of_spheres() && as_one && laws_.class_count() == 1;
    if (of_many_sizes) {
      kinds.clear();
      for (const NodeId a : participants_) kinds[laws_.materials_of(a)].push_back(a);
    }
    if (kinds.size() > most_kinds)
      throw PlacedError(in_.place, fmt::format("{} particles have {} different parameters (at most {} where all pairs "
                                               "act together). List the pairs, or give within.",
                                               participants_.size(), kinds.size(), most_kinds));
    std::vector<std::vector<NodeId>> groups;
    for (auto& [parameters, members] : kinds) groups.push_back(std::move(members));
    for (std::size_t c = 0; c < laws_.class_count(); ++c)
      for (std::size_t i = 0; i < groups.size(); ++i)
        for (std::size_t j = i; j < groups.size(); ++j) add_sums(c, groups[i], groups[j], i == j, of_many_sizes);
    if (chosen_.empty() && !laws_.of_spheres())
      throw PlacedError(in_.place, fmt::format("{} joins no pair.", in_.type));
    note_cutoff();
  }

  // Between two kinds, or among one; only across where `between` says so.
  void add_sums(std::size_t c, const std::vector<NodeId>& one, const std::vector<NodeId>& two, bool same,
                bool of_many_sizes) {
    if (in_.between.empty()) return add_sum(c, one, same ? std::vector<NodeId>() : two, of_many_sizes);
    const std::array<std::vector<NodeId>, 2> sides = {side(0), side(1)};
    const auto common = [](const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
      std::vector<NodeId> result;
      std::ranges::set_intersection(a, b, std::back_inserter(result));
      return result;
    };
    for (std::size_t s = 0; s < (same ? 1 : 2); ++s) {
      const auto first = common(one, sides[s]), second = common(two, sides[1 - s]);
      if (!first.empty() && !second.empty()) add_sum(c, first, second, of_many_sizes);
    }
  }

  void add_sum(std::size_t c, const std::vector<NodeId>& nodes, const std::vector<NodeId>& others, bool of_many_sizes) {
    if (nodes.size() + others.size() < 2) return;
    ChosenPotential& chosen = chosen_.emplace_back();
    chosen.step = laws_.step_of_class(c);
    const NodeId one = nodes.front(), other = others.empty() ? nodes.back() : others.front();
    chosen.potential = at_place(in_.place, [&] {
      return of_many_sizes ? make_sphere_sum(mesh_.points(), mesh_.dim(), {around_.radii.begin(), around_.radii.end()},
                                             nodes, laws_.modulus(one, other), box_, optional_value("skin"), others)
                           : make_pair_sum(mesh_.points(), mesh_.dim(), masses_, nodes, laws_.law(c, one, other), box_,
                                           optional_value("skin"), others);
    });
    if (loses()) chosen.impacts = make_impact_damping(*chosen.potential->as_sum(), restitution());
  }

  std::vector<NodePair> listed_pairs() const {
    if (in_.pairs_file.empty()) return nodes_of_pairs(mesh_, in_.pair_list, in_.pairs_place);
    const Place place = fmt::format("{}: {}", in_.pairs_place, in_.pairs_file);
    return nodes_of_pairs(mesh_,
                          read_rows<Index>(in_.pairs_file, place, "a pair of integers",
                                           "Give \"all\", a list of pairs, or a file of them."),
                          place);
  }

  // Two numbers a line, by a comma or blanks; a header without digits is skipped.
  template <class T>
  std::vector<std::array<T, 2>> read_rows(std::filesystem::path file, const Place& place, std::string_view what,
                                          std::string_view instead) const {
    if (file.is_relative()) file = around_.folder / file;
    std::ifstream in(file);
    if (!in || std::filesystem::is_directory(file))
      throw PlacedError(place, fmt::format("cannot be read (does it exist?). {}", instead));
    std::vector<std::array<T, 2>> result;
    std::string line;
    for (Index number = 1; std::getline(in, line); ++number) {
      const std::string original = line;
      if (line.find_first_of("0123456789") == std::string::npos || line.front() == '#') continue;
      std::ranges::replace(line, ',', ' ');
      std::array<T, 2> row{};
      char rest = 0;
      std::istringstream text(line);
      if (!(text >> row[0] >> row[1]) || text >> rest)
        throw PlacedError(place, fmt::format("line {}: \"{}\" is not {}.", number, original, what));
      result.push_back(row);
    }
    return result;
  }

  std::vector<NodePair> every_pair() const {
    const std::vector<NodeId>& chosen = participants_;
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
      for (const NodeId a : participants_) {
        low = std::min(low, mesh_.point(a)[c]);
        high = std::max(high, mesh_.point(a)[c]);
      }
      diagonal += std::pow(box_.length(c) ? std::min(high - low, 0.5 * *box_.length(c)) : high - low, 2);
    }
    diagonal = std::sqrt(diagonal);
    if (diagonal < cutoff->values.front())
      chosen_.front().notes.push_back(
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
  PairLawChoice laws_;
  std::vector<ChosenPotential> chosen_;
  std::vector<NodeId> participants_;
  std::vector<TouchedWall> touched_walls_;
  std::vector<int> kind_;  // of each node; empty without kinds
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

std::vector<ChosenPotential> choose_potential(const PotentialInput& in, const Surroundings& around) {
  return Chooser(in, around)();
}

}  // namespace tempi
