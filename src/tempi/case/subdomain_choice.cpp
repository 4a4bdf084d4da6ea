// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/subdomain_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tempi/case/method_table.hpp"
#include "tempi/case/results.hpp"
#include "tempi/case/simulation.hpp"
#include "tempi/case/term_choice.hpp"
#include "tempi/core/disjoint_sets.hpp"
#include "tempi/mesh/partition.hpp"

namespace tempi {
namespace {

class Chooser {
 public:
  explicit Chooser(const Simulation& s)
      : s_(s), in_(s.input.integrator), number_(static_cast<std::size_t>(s.model->term_count()), none) {}

  Subdomains operator()() {
    if (method_of(in_).asynchronous) {
      take_sections();
      if (in_.options.subdomains == "terms")
        std::ranges::for_each(number_, [&](std::int32_t& of) { of = of == none ? count_++ : of; });
      else if (in_.options.subdomains == "groups")
        take_groups();
      else if (in_.options.subdomains == "bodies")
        take_bodies();
      else
        take_parts(std::stoi(in_.options.subdomains));
      take_potentials();
    } else {
      if (!s_.input.subdomains.empty())
        throw PlacedError(s_.input.subdomains.front().place,
                          "[[subdomain]] belongs to async-energy-stepping: energy-stepping has one. Leave it out.");
      std::ranges::fill(number_, 0);
      count_ = 1;
    }
    steps_.resize(static_cast<std::size_t>(count_), in_.options.energy_step);
    if (std::ranges::find(steps_, 0.0) != steps_.end())
      throw PlacedError(in_.place,
                        fmt::format("{} needs energy_step (in J): a small part of the energies that change. Add "
                                    "energy_step = ...",
                                    in_.method));
    return {std::move(number_), std::move(steps_)};
  }

 private:
  static constexpr std::int32_t none = -1;

  std::span<const NodeId> stencil(std::size_t term) const {
    return s_.model->term(make_id<TermId>(static_cast<Index>(term))).stencil();
  }

  // Cells by name or place; other terms where all their nodes are.
  void take_sections() {
    for (const SubdomainInput& in : s_.input.subdomains) {
      const auto [terms, inside] = terms_of(s_, in.target, "[[subdomain]]");
      if (terms.empty()) throw PlacedError(in.place, "holds no cell and no bond. Choose another group.");
      for (const std::size_t k : terms) {
        if (number_[k] != none)
          throw PlacedError(in.place, fmt::format("{} is in another [[subdomain]] already. Keep them apart.",
                                                  describe_term(s_, k)));
        number_[k] = count_;
      }
      ++count_;
      steps_.push_back(in.energy_step.value_or(in_.options.energy_step));
    }
  }

  std::size_t elements() const {
    Index count = 0;
    for (const ElasticCells* cells : s_.body.cells) count += cells->size();
    return static_cast<std::size_t>(count);
  }

  // A number of their own for all terms of equal keys that have none yet.
  template <class Key>
  void take(std::size_t first, std::size_t last, Key&& key) {
    std::map<std::int64_t, std::int32_t> known;
    for (std::size_t k = first; k < last; ++k) {
      if (number_[k] != none) continue;
      const auto [found, is_new] = known.emplace(key(k), count_);
      if (is_new) ++count_;
      number_[k] = found->second;
    }
  }

  void take_bodies() {
    DisjointSets nodes(s_.model->node_count());
    for (std::size_t k = 0; k < elements(); ++k)
      for (const NodeId a : stencil(k)) nodes.join(index(a), index(stencil(k).front()));
    take(0, elements(), [&](std::size_t k) { return nodes[index(stencil(k).front())]; });
  }

  void take_groups() { take_by_cell(group_of_cells(*s_.body.mesh)); }

  void take_parts(int count) {
    if (s_.body.cells.empty())
      throw PlacedError(in_.place, fmt::format("subdomains = {} cuts a mesh into parts, and there are only particles. "
                                               "Choose \"bodies\" or \"terms\".",
                                               count));
    const Mesh& mesh = s_.body.elastic ? *s_.body.elastic : *s_.body.mesh;
    take_by_cell(at_place(in_.place, [&] { return partition(mesh, count); }));
  }

  template <class Number>
  void take_by_cell(const std::vector<Number>& number_of) {
    std::vector<std::int64_t> of_term(elements(), 0);
    const std::vector<Index> term_of_cell = s_.body.term_of_cell();
    for (std::size_t c = 0; c < std::min(term_of_cell.size(), number_of.size()); ++c)
      if (term_of_cell[c] >= 0 && static_cast<std::size_t>(term_of_cell[c]) < of_term.size())
        of_term[static_cast<std::size_t>(term_of_cell[c])] = number_of[c];
    take(0, elements(), [&](std::size_t k) { return of_term[k]; });
  }

  void take_potentials() {
    std::size_t first = elements();
    for (const auto& [type, count] : s_.body.forces) {
      take(first, first + static_cast<std::size_t>(count), [](std::size_t) { return Index{0}; });
      first += static_cast<std::size_t>(count);
    }
    take(first, number_.size(), [](std::size_t) { return Index{0}; });
  }

  const Simulation& s_;
  const IntegratorInput& in_;
  std::vector<std::int32_t> number_;
  std::vector<double> steps_;
  std::int32_t count_ = 0;
};

}  // namespace

Subdomains choose_subdomains(const Simulation& simulation) { return Chooser(simulation)(); }

}  // namespace tempi
