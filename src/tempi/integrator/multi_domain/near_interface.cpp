// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/multi_domain/near_interface.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>

#include "tempi/integrator/multi_domain/response.hpp"

namespace tempi {
namespace {

// Of each term: 1 where it touches a driven node, 2 where it touches one of those, and so on up to `most`; 0 beyond,
// and where it does not act within a step.
std::vector<int> rings_of(const Model& model, std::span<const Index> driven, std::span<const std::int32_t> ticks,
                          int substeps) {
  const int most = substeps - 1;
  std::vector<int> ring(static_cast<std::size_t>(model.term_count()), 0);
  std::vector<char> reached(static_cast<std::size_t>(model.node_count()), 0);
  const NodeTerms around = node_terms(model);
  std::vector<NodeId> front, next;
  const auto reach = [&](NodeId a) {
    if (reached[ordinal(a)]++ == 0) next.push_back(a);
  };
  for (const Index i : driven) reach(make_id<NodeId>(i / model.dim()));
  for (int r = 1; r <= most; ++r) {
    front.swap(next);
    next.clear();
    for (const NodeId a : front)
      for (const TermId term : around[a]) {
        if (ring[ordinal(term)] != 0 || ticks[ordinal(term)] >= substeps) continue;
        ring[ordinal(term)] = r;
        for (const NodeId b : model.term(term).stencil()) reach(b);
      }
  }
  return ring;
}

}  // namespace

NearInterface::NearInterface(const DomainInterface::Part& part, const LatticeGroups& plan,
                             std::span<const std::int32_t> ticks, int substeps)
    : part_(part), plan_(plan), substeps_(substeps), nodes_(plan.node_of_line.size()) {
  const Model& model = *part.submodel.model;
  const auto d = static_cast<Index>(model.dim());
  const std::vector<int> ring = rings_of(model, part.driven, ticks, substeps);
  constexpr int beyond = std::numeric_limits<int>::max();
  std::vector<int> ring_of_line(plan.node_of_line.size(), beyond);
  for (std::size_t k = 0; k < ring.size(); ++k)
    for (const NodeId a : model.term(make_id<TermId>(static_cast<Index>(k))).stencil())
      if (int& r = ring_of_line[static_cast<std::size_t>(plan.line(a))]; ring[k] > 0) r = std::min(r, ring[k]);
  for (const Index i : part.driven) ring_of_line[static_cast<std::size_t>(plan.line(make_id<NodeId>(i / d)))] = 0;

  LatticePacker pack(model, plan.line_of_node);
  double work = 0.0;
  for (int r = 1; r < substeps; ++r)
    for (std::size_t g = 0; g < plan.groups.size(); ++g)
      for (const LatticePart& whole : plan.groups[g].parts) {
        std::vector<TermId> terms;
        for (const TermId term : whole.terms)
          if (ring[ordinal(term)] == r) terms.push_back(term);
        if (terms.empty()) continue;
        work += static_cast<double>(terms.size()) * ((substeps - r) / plan.groups[g].ticks);
        parts_.push_back({r, g, pack(terms)});
      }
  double all = 0.0;
  for (const std::int32_t m : ticks) all += static_cast<double>(substeps) / m;
  pays_ = work < all;

  for (int r = 0; r <= substeps; ++r) {
    lines_of_ring_.push_back(static_cast<std::int32_t>(lines_.size()));
    for (std::size_t i = 0; r < substeps && i < ring_of_line.size(); ++i)
      if (ring_of_line[i] == r) lines_.push_back(static_cast<std::int32_t>(i));
  }
  start_.resize(lines_.size());
  before_.resize(lines_.size());
  for (const Index i : part.driven) {
    const auto a = make_id<NodeId>(i / d);
    driven_.push_back({static_cast<std::size_t>(plan.line(a)), static_cast<std::size_t>(i % d), model.mass(a)});
  }
  for (const NodeId a : model.supports().held_nodes())
    for (int c = 0; c < model.dim(); ++c)
      if (const auto line = static_cast<std::size_t>(plan.line(a));
          model.supports().support_of(a, c) != Supports::none && ring_of_line[line] != beyond)
        held_.push_back({line, static_cast<std::size_t>(c), model.mass(a)});

  std::vector<int> answers(ring.size());
  for (std::size_t k = 0; k < ring.size(); ++k) answers[k] = ring[k] > 0 && ring[k] <= substeps / 2 ? 0 : 1;
  if (std::ranges::find(answers, 0) == answers.end()) return;
  answering_ = divide(model, answers);
  const Submodel& zone = answering_.front();
  for (const TermId term : zone.terms) ticks_.push_back(ticks[ordinal(term)]);
  stiffness_ = std::make_unique<AssembledStiffness>(*zone.model);
  answering_mass_.resize(static_cast<Index>(zone.nodes.size()) * d);
  for (std::size_t b = 0; b < zone.nodes.size(); ++b)
    for (Index c = 0; c < d; ++c) {
      const Index of_zone = static_cast<Index>(b) * d + c, of_part = index(zone.nodes[b]) * d + c;
      answering_mass_(of_zone) = model.mass(zone.nodes[b]);
      if (const auto at = std::ranges::lower_bound(part.driven, of_part); at != part.driven.end() && *at == of_part) {
        answering_driven_.push_back(of_zone);
        answering_place_.push_back(at - part.driven.begin());
      } else if (model.supports().support_of(zone.nodes[b], static_cast<int>(c)) != Supports::none)
        answering_held_.push_back(of_zone);
    }
}

void NearInterface::begin(std::span<const NodeLine> lines, const LatticeLoads& loads) {
  for (std::size_t i = 0; i < lines_.size(); ++i) start_[i] = lines[static_cast<std::size_t>(lines_[i])];
  first_ = true;
  loads_.clear();
  if (!loads.any()) return;
  std::vector<char> near(nodes_.size(), 0);
  for (const std::int32_t line : lines_) near[static_cast<std::size_t>(line)] = 1;
  for (std::size_t g = 0; g < plan_.groups.size(); ++g)
    loads.each_force(g, [&](std::size_t line, const double* f) {
      if (near[line] != 0) loads_.push_back({line, g, {f[0], f[1], f[2]}});
    });
}

bool NearInterface::strike(const LatticeStrikes& strikes, SystemStep step, int substep, int after, int last) {
  const double h = step.length / substeps_;
  for (const RingPart& now : parts_) {
    const std::int32_t ticks = plan_.groups[now.group].ticks;
    if (now.ring <= after || now.ring > last || substep % ticks != 0) continue;
    std::atomic<bool> admissible = true;
    strikes.each_block(now.part, [&](Index first, Index end) {
      if (!now.part.batch->strike(first, end, ticks * h, step.t0 + substep * h, nodes_))
        admissible.store(false, std::memory_order_relaxed);
    });
    if (!admissible) return false;
  }
  return true;
}

bool NearInterface::run(const LatticeStrikes& strikes, SystemStep step, const Vector& w, Vector& early) {
  const double h = step.length / substeps_;
  // At substep k what the interface does has moved nodes of the rings before k, and strikes those of k.
  const auto place = [&](const AlignedVector<NodeLine>& of, int first, int last) {
    auto from = static_cast<std::size_t>(lines_of_ring_[static_cast<std::size_t>(first)]);
    for (const std::int32_t line : lines_of(first, last)) nodes_[static_cast<std::size_t>(line)] = of[from++];
  };
  const auto set = [&] {
    for (std::size_t j = 0; j < driven_.size(); ++j)
      nodes_[driven_[j].line].velocity[driven_[j].component] = w(static_cast<Index>(j));
    for (const Component& held : held_) nodes_[held.line].velocity[held.component] = 0.0;
  };
  place(start_, 0, first_ ? substeps_ : 1);
  set();
  for (int k = 1; k < substeps_; ++k) {
    const int matter = substeps_ - k;
    for (const std::int32_t line : lines_of(0, first_ ? matter + 1 : std::min(k, matter + 1))) {
      NodeLine& node = nodes_[static_cast<std::size_t>(line)];
      for (std::size_t c = 0; c < 3; ++c) node.displacement[c] += node.velocity[c] * h;
    }
    if (first_ && !strike(strikes, step, k, k, matter)) return false;
    for (const Load& load : loads_) {
      const std::int32_t ticks = plan_.groups[load.group].ticks;
      if (k % ticks != 0) continue;
      NodeLine& node = nodes_[load.line];
      for (std::size_t c = 0; c < 3; ++c) node.velocity[c] += ticks * h * load.force[c] * node.inverse_mass;
    }
    if (k <= matter) {
      if (first_) {
        auto to = static_cast<std::size_t>(lines_of_ring_[static_cast<std::size_t>(k)]);
        for (const std::int32_t line : lines_of(k, k + 1)) before_[to++] = nodes_[static_cast<std::size_t>(line)];
      } else {
        place(before_, k, k + 1);
      }
    }
    if (!strike(strikes, step, k, 0, std::min(k, matter))) return false;
    const double still = 1.0 - static_cast<double>(k) / substeps_;
    for (std::size_t j = 0; j < driven_.size(); ++j) {
      const auto& [line, c, mass] = driven_[j];
      early(static_cast<Index>(j)) += still * mass * (nodes_[line].velocity[c] - w(static_cast<Index>(j)));
    }
    set();
  }
  first_ = false;
  return true;
}

std::vector<double> NearInterface::restricted(std::span<const double> u) const {
  const Submodel& zone = answering_.front();
  const auto d = static_cast<std::size_t>(zone.model->dim());
  std::vector<double> of_zone;
  for (const NodeId a : zone.nodes) of_zone.insert(of_zone.end(), &u[ordinal(a) * d], &u[ordinal(a) * d] + d);
  return of_zone;
}

Eigen::SparseMatrix<double> NearInterface::response(std::span<const double> u, SystemStep step) {
  const auto n = static_cast<Index>(part_.driven.size());
  Eigen::SparseMatrix<double> G(n, n);
  if (answering_.empty()) return G;
  const std::vector<double> here = restricted(u);
  const Model& model = *answering_.front().model;
  std::vector<StiffnessOfTicks> stiffness;
  std::map<std::int32_t, int> distinct;
  for (const std::int32_t m : ticks_) ++distinct[m];
  for (const auto& of : distinct) {
    const std::int32_t m = of.first;
    if (distinct.size() == 1) {
      stiffness.push_back({m, (*stiffness_)(here, step.t0)});
      continue;
    }
    stiffness.push_back({m, stiffness_->assemble([&](TermId id, std::span<double> H) {
                           if (ticks_[ordinal(id)] != m) return;
                           const auto [potential, k] = model.term(id);
                           if (const LocalPotential* local = potential->as_local())
                             local->add_hessian(k, here, step.t0, H);
                         })});
  }
  const Eigen::SparseMatrix<double> of_zone =
      explicit_response(stiffness, answering_mass_, answering_driven_, answering_held_, substeps_, step.length);
  std::vector<Eigen::Triplet<double>> entries;
  const auto place = [&](Index i) { return answering_place_[static_cast<std::size_t>(i)]; };
  for (Index c = 0; c < of_zone.cols(); ++c)
    for (Eigen::SparseMatrix<double>::InnerIterator k(of_zone, c); k; ++k)
      entries.emplace_back(place(k.row()), place(c), k.value());
  G.setFromTriplets(entries.begin(), entries.end());
  return G;
}

NearInterface::Vector NearInterface::rounding(std::span<const double> u, SystemStep step) {
  Vector all = Vector::Zero(std::ssize(part_.driven));
  if (answering_.empty()) return all;
  const std::vector<double> here = restricted(u);
  (*stiffness_)(here, step.t0);
  all(answering_place_) = step.length * stiffness_->rounding_of_forces(here, step.t0)(answering_driven_);
  return all;
}

}  // namespace tempi
