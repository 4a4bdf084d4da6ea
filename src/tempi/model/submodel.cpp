// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/submodel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"
#include "tempi/model/borrowed.hpp"

namespace tempi {
namespace {

// The mass of each node of the whole that the terms of a part brought; or of all terms.
std::vector<double> brought_mass(const Model& whole, std::span<const TermId> terms) {
  std::vector<double> mass(static_cast<std::size_t>(whole.node_count()), 0.0);
  for (const TermId id : terms) {
    const auto [potential, k] = whole.term(id);
    const auto nodes = potential->stencil(k);
    for (std::size_t a = 0; a < nodes.size(); ++a) mass[ordinal(nodes[a])] += potential->mass(k, a);
  }
  return mass;
}

// Terms of the whole in each part, ascending.
std::vector<std::vector<TermId>> terms_of_parts(const Model& whole, std::span<const int> part) {
  if (std::ssize(part) != whole.term_count())
    throw InputError(fmt::format("{} parts for {} terms. Give one for each.", part.size(), whole.term_count()));
  std::vector<std::vector<TermId>> terms;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] < 0 || part[i] >= whole.term_count())
      throw InputError(fmt::format("term {} is to be in part {} (they are numbered from 0).", i, part[i]));
    if (std::ssize(terms) <= part[i]) terms.resize(static_cast<std::size_t>(part[i]) + 1);
    terms[static_cast<std::size_t>(part[i])].push_back(make_id<TermId>(static_cast<Index>(i)));
  }
  for (std::size_t p = 0; p < terms.size(); ++p)
    if (terms[p].empty()) throw InputError(fmt::format("part {} has no terms.", p));
  return terms;
}

std::vector<NodeId> untouched_nodes(const Model& whole) {
  std::vector<char> touched(static_cast<std::size_t>(whole.node_count()), 0);
  for (Index i = 0; i < whole.term_count(); ++i)
    for (const NodeId a : whole.term(make_id<TermId>(i)).stencil()) touched[ordinal(a)] = 1;
  std::vector<NodeId> nodes;
  for (std::size_t a = 0; a < touched.size(); ++a)
    if (touched[a] == 0) nodes.push_back(make_id<NodeId>(static_cast<Index>(a)));
  return nodes;
}

// Of the nodes of some terms, and `others`.
NodeNumbers numbers_of(const Model& whole, std::span<const TermId> terms, std::vector<NodeId> others) {
  NodeNumbers numbers;
  numbers.of_whole = std::move(others);
  for (const TermId id : terms) {
    const auto nodes = whole.term(id).stencil();
    numbers.of_whole.insert(numbers.of_whole.end(), nodes.begin(), nodes.end());
  }
  make_distinct(numbers.of_whole);
  numbers.of_part.assign(static_cast<std::size_t>(whole.node_count()), NodeId{-1});
  for (std::size_t a = 0; a < numbers.of_whole.size(); ++a)
    numbers.of_part[ordinal(numbers.of_whole[a])] = make_id<NodeId>(static_cast<Index>(a));
  return numbers;
}

void add_potentials(const Model& whole, std::span<const TermId> terms, const NodeNumbers& numbers,
                    Model::Parts& parts) {
  for (auto first = terms.begin(); first != terms.end();) {
    const Potential* potential = whole.term(*first).potential;
    std::vector<Index> some;
    for (; first != terms.end() && whole.term(*first).potential == potential; ++first)
      some.push_back(whole.term(*first).k);
    parts.potentials.push_back(borrow_terms(*potential, std::move(some), numbers));
  }
}

}  // namespace

std::vector<Submodel> divide(const Model& whole, std::span<const int> part) {
  const auto terms = terms_of_parts(whole, part);
  std::vector<NodeNumbers> numbers;
  std::vector<int> sharers(static_cast<std::size_t>(whole.node_count()), 0);
  for (const auto& of_part : terms) {
    numbers.push_back(
        numbers_of(whole, of_part, &of_part == &terms.back() ? untouched_nodes(whole) : std::vector<NodeId>()));
    for (const NodeId a : numbers.back().of_whole) ++sharers[ordinal(a)];
  }
  std::vector<std::vector<double>> brought_by;
  std::vector<char> is_even(sharers.size(), 0);  // where some part brings nothing
  for (std::size_t p = 0; p < terms.size(); ++p) {
    brought_by.push_back(brought_mass(whole, terms[p]));
    for (const NodeId a : numbers[p].of_whole)
      if (!(brought_by[p][ordinal(a)] > 0.0)) is_even[ordinal(a)] = 1;
  }
  std::vector<TermId> all;
  for (Index i = 0; i < whole.term_count(); ++i) all.push_back(make_id<TermId>(i));
  const std::vector<double> brought = brought_mass(whole, all);
  std::vector<char> kept(whole.constraints().size(), 0);
  const auto d = static_cast<std::size_t>(whole.dim());
  std::vector<Submodel> result;
  for (std::size_t p = 0; p < terms.size(); ++p) {
    const std::vector<NodeId>& nodes = numbers[p].of_whole;
    const std::vector<double>& own = brought_by[p];
    Model::Parts parts;
    parts.dim = whole.dim();
    parts.shares = whole.share_rule();
    for (const NodeId a : nodes) {
      const auto i = ordinal(a);
      for (std::size_t c = 0; c < d; ++c) parts.reference.push_back(whole.reference()[i * d + c]);
      const double m = whole.mass(a), n = sharers[i];
      parts.mass.push_back(sharers[i] == 1   ? m
                           : is_even[i] != 0 ? m / n
                           : m >= brought[i] ? own[i] + (m - brought[i]) / n
                                             : own[i] * m / brought[i]);
    }
    parts.supports = whole.supports().of(nodes);
    add_potentials(whole, terms[p], numbers[p], parts);
    borrow_forces(whole, terms[p], numbers[p], parts);
    for (std::size_t c = 0; c < kept.size(); ++c) {
      const HolonomicConstraint& constraint = *whole.constraints()[c];
      if (!std::ranges::all_of(constraint.stencil(),
                               [&](NodeId a) { return index(numbers[p].of_part[ordinal(a)]) >= 0; }))
        continue;
      if (kept[c] != 0)
        throw InputError(fmt::format("{} is held in two parts. Give its nodes to one.", constraint.describe()));
      kept[c] = 1;
      parts.constraints.push_back(borrow_constraint(constraint, numbers[p]));
    }
    result.push_back({std::make_unique<Model>(std::move(parts)), nodes, terms[p]});
  }
  for (std::size_t c = 0; c < kept.size(); ++c)
    if (kept[c] == 0)
      throw InputError(fmt::format("{} acts across parts. Give its nodes to one.", whole.constraints()[c]->describe()));
  return result;
}

State Submodel::restricted(const State& whole) const {
  State part = reference_state(*model);
  const auto d = static_cast<std::size_t>(model->dim());
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    const auto i = ordinal(nodes[a]);
    std::copy_n(&whole.displacement[i * d], d, &part.displacement[a * d]);
    std::copy_n(&whole.velocity[i * d], d, &part.velocity[a * d]);
    part.clock[a] = whole.clock[i];
  }
  return part;
}

void Submodel::put_back(const State& part, State& whole, std::span<const char> owns) const {
  const auto d = static_cast<std::size_t>(model->dim());
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    if (!owns.empty() && owns[a] == 0) continue;
    const auto i = ordinal(nodes[a]);
    std::copy_n(&part.displacement[a * d], d, &whole.displacement[i * d]);
    std::copy_n(&part.velocity[a * d], d, &whole.velocity[i * d]);
    whole.clock[i] = part.clock[a];
  }
}

}  // namespace tempi
