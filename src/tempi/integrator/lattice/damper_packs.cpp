// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/damper_packs.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "tempi/simd/instruction_set.hpp"

namespace tempi {

DamperPacker::DamperPacker(const Model& model, const LatticeGroups& plan, std::span<const Held> held)
    : model_(model), plan_(plan), held_(held), within_(plan.node_of_line.size(), 0) {}

std::vector<DamperPacks> DamperPacker::operator()(const LatticePart& part) {
  constexpr Index together = 8;  // blocks whose left elements fill packs
  std::vector<Block> of_force;
  for (std::size_t colour = 0; colour + 1 < part.colours.size(); ++colour) {
    const Index last = part.colours[colour + 1], block = part.terms_at_once(colour);
    std::vector<std::vector<std::pair<Index, Index>>> whole, rest;  // by force
    for (Index begin = part.colours[colour], n = 1; begin < last; begin += block, ++n) {
      const Index end = std::min(begin + block, last);
      collect(std::span(part.terms).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
              of_force);
      whole.resize(of_force.size());
      rest.resize(of_force.size());
      for (std::size_t f = 0; f < of_force.size(); ++f) {
        auto& [packs, elements, left] = of_force[f];
        add(packs, whole[f], elements, &left);
        if (end == last || n % together == 0) add(packs, rest[f], left, nullptr);
      }
    }
    for (std::size_t f = 0; f < of_force.size(); ++f)
      for (auto* list : {&whole[f], &rest[f]})
        if (!list->empty()) of_force[f].packs.colours.push_back(std::move(*list));
  }
  std::vector<DamperPacks> result;
  for (Block& block : of_force) result.push_back(std::move(block.packs));
  return result;
}

std::vector<DamperPart> DamperPacker::parts(const LatticePart& part) {
  std::vector<DamperPart> all;
  for (DamperPacks& packs : (*this)(part)) {
    auto batch = packs.force->damping_batch(model_.dim(), packs.elements, plan_.line_of_node, held_);
    all.push_back({std::move(packs), std::move(batch)});
  }
  return all;
}

double DamperPart::resist(const DampingBatch::Sweep& how, std::span<NodeLine> nodes, std::span<double> kept,
                          ThreadTeam& team, std::vector<double>& of_block) const {
  double work = 0.0;
  for (std::size_t c = 0; c < packs.colours.size(); ++c) {
    const auto& blocks = packs.colours[how.backward ? packs.colours.size() - 1 - c : c];
    of_block.assign(blocks.size(), 0.0);
    team.for_each(std::ssize(blocks), [&](Index b) {
      const auto [first, last] = blocks[static_cast<std::size_t>(b)];
      of_block[static_cast<std::size_t>(b)] = batch->resist(first, last, how, nodes, kept);
    });
    for (const double done : of_block) work += done;
  }
  return work;
}

void DamperPacker::collect(std::span<const TermId> terms, std::vector<Block>& blocks) const {
  const auto nothing = [](std::size_t, double) {};
  for (const TermId term : terms)
    for (const HostedForce& h : model_.forces_within(term)) {
      if (!h.force->is_damper() || h.memory >= 0 || h.force->each_drag(h.element, nothing)) continue;
      auto of = std::ranges::find(blocks, h.force, [](const Block& block) { return block.packs.force; });
      if (of == blocks.end()) of = blocks.insert(of, Block{{h.force}, {}, {}});
      of->elements.push_back({h.element, term, at_support(h)});
    }
}

bool DamperPacker::at_support(const HostedForce& of) const {
  const auto is_held = [&](NodeId a) {
    return std::ranges::count(held_[static_cast<std::size_t>(plan_.line(a))], true) > 0;
  };
  return !held_.empty() && std::ranges::any_of(of.force->stencil(of.element), is_held);
}

// Packs for one thread, of all elements. `left`: whole ones only, and what they leave goes there.
void DamperPacker::add(DamperPacks& packs, std::vector<std::pair<Index, Index>>& of_colour,
                       std::vector<Element>& elements, std::vector<Element>* left) {
  const auto count = [&] { return std::ssize(packs.elements) / pack_width(); };
  const Index first = count();
  const auto is_free = [](const Element& element) { return !element.at_support; };
  for (std::vector<Element> later; !elements.empty(); later.clear()) {
    const auto at_supports = std::stable_partition(elements.begin(), elements.end(), is_free);
    const auto of_a_kind =
        static_cast<std::size_t>((at_supports == elements.begin() ? elements.end() : at_supports) - elements.begin());
    const std::size_t now = std::min(of_a_kind, at_once * static_cast<std::size_t>(pack_width()));
    fill(packs, std::span(elements).first(now), left != nullptr, left != nullptr ? *left : later);
    later.insert(later.end(), elements.begin() + static_cast<std::ptrdiff_t>(now), elements.end());
    elements.swap(later);
  }
  if (count() > first) of_colour.emplace_back(first, count());
}

// As few packs as can be, at most `at_once`, once through the elements: each goes into the first pack that has room and
// none of its nodes, from where it would lie if none shared any.
void DamperPacker::fill(DamperPacks& packs, std::span<const Element> elements, bool whole, std::vector<Element>& left) {
  const auto width = static_cast<std::size_t>(pack_width());
  const auto each_line = [&](const Element& element, auto&& visit) {
    for (const NodeId a : packs.force->stencil(element.number)) visit(within_[static_cast<std::size_t>(plan_.line(a))]);
  };
  std::array<std::vector<Element>, at_once> filling;
  const std::size_t wanted = (elements.size() + width - 1) / width;
  std::uint64_t room = ~std::uint64_t{0} >> (at_once - wanted);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::uint64_t free = room;
    each_line(elements[i], [&](const std::uint64_t& line) { free &= ~line; });
    if (free == 0) {
      left.push_back(elements[i]);
      continue;
    }
    const std::size_t at = i / width % wanted;
    const std::size_t p =
        (at + static_cast<std::size_t>(std::countr_zero(std::rotr(free, static_cast<int>(at))))) % at_once;
    const std::uint64_t bit = std::uint64_t{1} << p;
    filling[p].push_back(elements[i]);
    each_line(elements[i], [&](std::uint64_t& line) { line |= bit; });
    if (filling[p].size() == width) room &= ~bit;
  }
  for (const auto& pack : filling) {
    for (const Element& element : pack) each_line(element, [](std::uint64_t& line) { line = 0; });
    if (whole && pack.size() < width) {
      left.insert(left.end(), pack.begin(), pack.end());
      continue;
    }
    for (std::size_t lane = 0; !pack.empty() && lane < width; ++lane) {
      packs.elements.push_back(lane < pack.size() ? pack[lane].number : -1);
      packs.hosts.push_back(pack[std::min(lane, pack.size() - 1)].host);
    }
  }
}

}  // namespace tempi
