// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/damping_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "tempi/case/option_table.hpp"
#include "tempi/case/selection.hpp"
#include "tempi/force/damping.hpp"

namespace tempi {
namespace {

class Chooser {
 public:
  Chooser(const DampingInput& in, const Surroundings& around, const std::vector<HostPotential>& potentials)
      : in_(in), around_(around), potentials_(potentials) {}

  std::vector<ChosenForce> operator()() {
    if (in_.type == "drag") {
      compare_keys("coefficient");
      add_drag([&](NodeId) { return *in_.coefficient; });
    } else if (in_.type == "rayleigh") {
      compare_keys("alpha beta");
      add_rayleigh();
    } else {
      compare_keys(has_cells() ? "bulk_viscosity shear_viscosity" : "coefficient");
      has_cells() ? add_viscosity() : add_dashpots();
    }
    if (dampers_.empty()) throw PlacedError(in_.place, fmt::format("{} finds nothing to act on.", in_.type));
    return std::move(dampers_);
  }

 private:
  bool has_cells() const {
    return std::ranges::any_of(potentials_, [](const HostPotential& p) { return p.cells != nullptr; });
  }

  void compare_keys(std::string_view known) const {
    for (const auto& [key, place] : in_.keys)
      if (!has_key(known, key))
        throw PlacedError(place, fmt::format("{} does not go with {} here, which takes {}. Leave it out.", key,
                                             in_.type, known));
    if (in_.keys.empty()) throw PlacedError(in_.place, fmt::format("{} has no strength. Give {}.", in_.type, known));
  }

  // The drag of a node is shared out evenly among its terms.
  template <class Coefficient>
  void add_drag(const Coefficient& coefficient) {
    const std::vector<NodeId> nodes = Selection(around_.mesh, around_.constants).nodes(in_.target);
    const NodeTerms around = hosts_of_nodes(around_.mesh.node_count(), potentials_);
    auto [drags, hosts] = shared_out<NodalDrag>(nodes, around, coefficient);
    if (!drags.empty()) add(make_drag(around_.mesh.dim(), std::move(drags)), std::move(hosts));
  }

  void add_rayleigh() {
    const Rayleigh rayleigh{in_.alpha.value_or(0.0), in_.beta.value_or(0.0)};
    if (has_cells()) {
      each_cells([&](const HostPotential& p) {
        if (rayleigh.beta > 0.0) refuse_shells(*p.cells, "beta");
        add(make_rayleigh(*p.cells, rayleigh), hosts_of(p));
      });
      return;
    }
    if (rayleigh.alpha > 0.0) add_drag([&](NodeId a) { return rayleigh.alpha * around_.masses[ordinal(a)]; });
    if (rayleigh.beta == 0.0) return;
    if (!in_.target.everything())
      throw PlacedError(in_.target.place, "beta damps all pairs and wells. Leave out group, where and particles.");
    for (const HostPotential& p : potentials_) {
      const LocalPotential* local = p.potential->as_local();
      if (!p.is_stiff) continue;
      if (local == nullptr)
        throw PlacedError(in_.place, fmt::format("beta does not damp {}, whose pairs act together. Give that potential "
                                                 "together = false, or leave out beta.",
                                                 p.potential->describe(0)));
      add(make_stiffness_damping(*local, rayleigh.beta), hosts_of(p));
    }
  }

  void add_viscosity() {
    const Viscosity viscosity{in_.bulk.value_or(0.0), in_.shear.value_or(0.0)};
    each_cells([&](const HostPotential& p) {
      refuse_shells(*p.cells, "kelvin-voigt");
      add(make_kelvin_voigt(*p.cells, viscosity), hosts_of(p));
    });
  }

  void refuse_shells(const ElasticCells& cells, const char* what) const {
    if (cells.thickness() > 0.0)
      throw PlacedError(in_.place, fmt::format("{} is viscosity, which shells do not have here: they take drag, and "
                                               "rayleigh with alpha. Choose one of these, or other cells.",
                                               what));
  }

  void add_dashpots() {
    if (!in_.target.everything())
      throw PlacedError(in_.target.place, "dashpots lie along all bonds. Leave out group, where and particles.");
    std::set<std::array<Index, 2>> damped;  // a pair has one dashpot, however many potentials it has
    for (const HostPotential& p : potentials_) {
      std::vector<NodePair> bonds;
      std::vector<TermId> hosts;
      for (std::size_t k = 0; k < p.bonds.size(); ++k) {
        std::array<Index, 2> ends = {index(p.bonds[k][0]), index(p.bonds[k][1])};
        std::ranges::sort(ends);
        if (!damped.insert(ends).second) continue;
        bonds.push_back(p.bonds[k]);
        hosts.push_back(make_id<TermId>(p.first_term + static_cast<Index>(k)));
      }
      if (!bonds.empty())
        add(make_dashpots(around_.mesh.points(), around_.mesh.dim(), std::move(bonds), *in_.coefficient, around_.box),
            std::move(hosts));
    }
  }

  // Those of the material that the target names: all of its cells, or none.
  template <class Visit>
  void each_cells(Visit&& visit) const {
    const auto wanted = Selection(around_.mesh, around_.constants).cells(in_.target, in_.type);
    for (const HostPotential& p : potentials_) {
      if (p.cells == nullptr) continue;
      Index found = 0;
      for (Index k = 0; k < p.cells->size(); ++k) found += std::ranges::binary_search(wanted, p.cells->cell(k)) ? 1 : 0;
      if (found != 0 && found != p.cells->size())
        throw PlacedError(
            in_.target.place,
            fmt::format("{} names {} of the {} cells of one material. Damping is by material: name all of "
                        "its cells, or give them a [[material]] of their own.",
                        in_.target.text(), found, p.cells->size()));
      if (found != 0) visit(p);
    }
  }

  static std::vector<TermId> hosts_of(const HostPotential& p) {
    std::vector<TermId> hosts;
    for (Index k = 0; k < p.potential->size(); ++k) hosts.push_back(make_id<TermId>(p.first_term + k));
    return hosts;
  }

  void add(std::unique_ptr<Force> force, std::vector<TermId> hosts) {
    dampers_.push_back({std::move(force), std::move(hosts)});
  }

  const DampingInput& in_;
  const Surroundings& around_;
  const std::vector<HostPotential>& potentials_;
  std::vector<ChosenForce> dampers_;
};

}  // namespace

std::vector<ChosenForce> choose_dampers(const DampingInput& in, const Surroundings& around,
                                        const std::vector<HostPotential>& potentials) {
  return at_place(in.place, [&] { return Chooser(in, around, potentials)(); });
}

}  // namespace tempi
