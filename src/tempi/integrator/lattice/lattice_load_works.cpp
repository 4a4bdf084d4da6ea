// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/lattice_load_works.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace tempi {
namespace {

const double one = 1.0;

std::size_t row_of(std::size_t place) { return place / Eight::lanes; }
std::size_t lane_of(std::size_t place) { return place % Eight::lanes; }

}  // namespace

LatticeLoadWorks::LatticeLoadWorks(const Model& model, const LatticeGroups& plan, const LatticePart& part,
                                   const LatticeLoads::Values& values)
    : model_(model), kernel_(load_work_kernel(model.dim())), dim_(static_cast<std::size_t>(model.dim())) {
  if (!model.has_forces()) return;
  for (std::size_t i = 0; i < part.terms.size(); ++i) {
    if (!model.is_loaded(part.terms[i])) continue;
    const auto row = static_cast<std::int32_t>(row_of(i));
    if (rows_.empty() || rows_.back() != row) rows_.push_back(row);
    nodes_ = std::max(nodes_, model.term(part.terms[i]).stencil().size());
  }
  if (!any()) return;
  on_the_way_.resize(static_cast<std::size_t>(Batch::padded(std::ssize(part.terms))));
  lines_.resize(rows_.size() * nodes_);
  way_.resize(rows_.size());
  values_.push_back(&one);
  std::vector<Product> products;
  bool any_changes = false;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    products.clear();
    const std::size_t begin = static_cast<std::size_t>(rows_[row]) * Eight::lanes;
    for (std::size_t i = begin; i < std::min(begin + Eight::lanes, part.terms.size()); ++i) {
      if (!model.is_loaded(part.terms[i])) continue;
      const auto stencil = model.term(part.terms[i]).stencil();
      for (std::size_t a = 0; a < stencil.size(); ++a) lines_[row * nodes_ + a][lane_of(i)] = plan.line(stencil[a]);
      add_products(part.terms[i], lane_of(i), values, products);
    }
    any_changes = add_row(row, products) || any_changes;
  }
  first_entry_.push_back(entries_.size());
  if (any_changes) displacement_.resize(force_.size());
}

// The sum of these products is the term's force.
void LatticeLoadWorks::add_products(TermId term, std::size_t lane, const LatticeLoads::Values& values,
                                    std::vector<Product>& products) const {
  for (const HostedForce& h : model_.forces_within(term)) {
    const Force& force = *h.force;
    if (force.is_damper()) continue;
    const auto place = [&](std::size_t a) { return h.local.empty() ? a : static_cast<std::size_t>(h.local[a]); };
    if (!force.is_dead()) {
      const double* value = values.of(force, h.element);
      for (std::size_t a = 0; a < force.stencil(h.element).size(); ++a)
        for (std::size_t c = 0; c < dim_; ++c) products.push_back({lane, place(a), c, 1.0, value++});
      continue;
    }
    const auto add = [&](const DeadPart& part) {
      double weight = part.weight;
      const bool changes = part.value->depends_on_time();
      if (weight != 0.0 && !changes) weight *= LatticeLoads::value_without_time(part);
      if (weight != 0.0)
        products.push_back({lane, place(part.node), static_cast<std::size_t>(part.component), weight,
                            changes ? values.of(force, part) : &one});
    };
    force.each_dead_part(h.element, std::ref(add));  // a reference: nothing is allocated
  }
}

// Whether it changes.
bool LatticeLoadWorks::add_row(std::size_t row, std::span<const Product> products) {
  unsigned components = 0;  // a bit for each
  for (const Product& p : products) components |= 1u << p.component;
  const bool single = dim_ > 1 && std::has_single_bit(components);
  parts_.push_back({single ? std::countr_zero(components) : LoadRow::all, std::ssize(force_)});
  force_.resize(force_.size() + numbers(row));
  const bool changes = std::ranges::any_of(products, [](const Product& p) { return p.value != &one; });
  first_entry_.push_back(entries_.size());
  for (const Product& p : products) {
    const std::size_t number = (single ? p.node : p.node * dim_ + p.component) * Eight::lanes + p.lane;
    if (!changes) {
      forces(row)[row_of(number)].lane[lane_of(number)] += p.weight;
      continue;
    }
    const bool stays = p.value == &one;
    if (!stays && values_.back() != p.value) values_.push_back(p.value);
    entries_.push_back(
        {p.weight, static_cast<std::int32_t>(stays ? 0 : values_.size() - 1), static_cast<std::int32_t>(number)});
  }
  return changes;
}

// The forces of a row that change.
void LatticeLoadWorks::look(std::size_t row) {
  const auto entries = std::span(entries_).subspan(first_entry_[row], first_entry_[row + 1] - first_entry_[row]);
  if (entries.empty()) return;
  const auto force = forces(row);
  std::ranges::fill(force, Eight());
  for (const auto& [weight, value, number] : entries) {
    const auto at = static_cast<std::size_t>(number);
    force[row_of(at)].lane[lane_of(at)] += weight * *values_[static_cast<std::size_t>(value)];
  }
}

void LatticeLoadWorks::add(Index first, Index last, double step, std::span<const NodeLine> nodes,
                           std::span<const NodeMean> means, std::span<double> work) {
  const auto place_of = [&](Index place) {
    return std::ranges::lower_bound(rows_, (place + Eight::lanes - 1) / Eight::lanes) - rows_.begin();
  };
  constexpr Index at_once = 64;
  std::array<Eight, at_once> power, done;
  for (Index row = place_of(first), end = place_of(last); row < end;) {
    const Index begin = row, stop = std::min(begin + at_once, end);
    for (Index looked_at = begin; looked_at < stop; ++looked_at) look(static_cast<std::size_t>(looked_at));
    kernel_({nodes_, lines_.data(), parts_.data(), force_.data(),
             displacement_.empty() ? nullptr : displacement_.data(), way_.data()},
            begin, stop, nodes.data(), means.data(), power.data(), done.data());
    for (; row < stop; ++row) {
      const Index place = rows_[static_cast<std::size_t>(row)] * Eight::lanes;
      const auto at = static_cast<std::size_t>(row - begin);
      double *of_terms = &work[static_cast<std::size_t>(place - first)],
             *of_loads = &on_the_way_[static_cast<std::size_t>(place)];
      for (std::size_t i = 0; i < Eight::lanes; ++i) {
        of_terms[i] += step * power[at].lane[i];
        of_loads[i] = done[at].lane[i];
      }
    }
  }
}

void LatticeLoadWorks::add_impulses(std::size_t place, double step, std::span<double> impulses) const {
  const auto found = std::ranges::lower_bound(rows_, static_cast<std::int32_t>(row_of(place)));
  if (found == rows_.end() || *found != static_cast<std::int32_t>(row_of(place))) return;
  const LoadRow& part = parts_[static_cast<std::size_t>(found - rows_.begin())];
  const bool all = part.component == LoadRow::all;
  const auto component = static_cast<std::size_t>(part.component);
  for (std::size_t i = 0; i < (all ? impulses.size() : impulses.size() / dim_); ++i)
    impulses[all ? i : i * dim_ + component] +=
        step * force_[static_cast<std::size_t>(part.force) + i].lane[lane_of(place)];
}

void LatticeLoadWorks::save(ArchiveWriter& archive) const {
  archive.put("load_displacement", displacement_);
  archive.put("load_way", way_);
}

void LatticeLoadWorks::load(ArchiveReader& archive) {
  archive.get("load_displacement", displacement_);
  archive.get("load_way", way_);
}

}  // namespace tempi
