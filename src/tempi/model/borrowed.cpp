// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/borrowed.hpp"

#include <algorithm>
#include <utility>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

std::vector<NodeId> in_part(std::span<const NodeId> nodes, const NodeNumbers& numbers) {
  std::vector<NodeId> result(nodes.begin(), nodes.end());
  for (NodeId& a : result)
    if (!numbers.alike()) a = numbers.of_part[ordinal(a)];
  return result;
}

// What the whole model's potentials and forces read at the nodes of one term; other places hold anything. Which of the
// arrays is meant tells displacements from velocities.
class Room {
 public:
  Room(const NodeNumbers& numbers, int dim) : numbers_(numbers), d_(static_cast<std::size_t>(dim)) {}

  std::span<const double> operator()(std::span<const NodeId> nodes_of_part, std::span<const double> values,
                                     std::size_t which = 0) const {
    if (numbers_.alike()) return values;
    thread_local std::array<std::array<std::vector<double>, 2>, 2> rooms;
    std::vector<double>& first = rooms[which][0];  // of a part of a part the values are there
    const bool is_taken = values.data() >= first.data() && values.data() < first.data() + first.size();
    std::vector<double>& room = is_taken ? rooms[which][1] : first;
    if (room.size() < numbers_.of_part.size() * d_) room.resize(numbers_.of_part.size() * d_);
    for (const NodeId a : nodes_of_part) {
      const auto part = ordinal(a);
      std::copy_n(&values[part * d_], d_, &room[ordinal(numbers_.of_whole[part]) * d_]);
    }
    return std::span(room).first(numbers_.of_part.size() * d_);
  }

 private:
  const NodeNumbers& numbers_;
  std::size_t d_;
};

class BorrowedForces final : public Force {
 public:
  BorrowedForces(std::vector<HostedForce> all, bool dampers, int dim, const NodeNumbers& numbers)
      : all_(std::move(all)), dampers_(dampers), numbers_(numbers), room_(numbers_, dim) {
    for (const HostedForce& h : all_) stencils_.push_back(in_part(h.force->stencil(h.element), numbers_));
  }

  Index size() const override { return std::ssize(all_); }
  std::span<const NodeId> stencil(Index k) const override { return stencils_[static_cast<std::size_t>(k)]; }
  void add_impulse(Index k, std::span<const double> u, std::span<const double> v, double t, double dt,
                   std::span<double> p) const override {
    of(k).force->add_impulse(of(k).element, room_(stencil(k), u), room_(stencil(k), v, 1), t, dt, p);
  }
  bool is_damper() const override { return dampers_; }
  void add_damping(Index k, std::span<const double> u, double t, std::span<double> C) const override {
    of(k).force->add_damping(of(k).element, room_(stencil(k), u), t, C);
  }

 private:
  const HostedForce& of(Index k) const { return all_[static_cast<std::size_t>(k)]; }

  std::vector<HostedForce> all_;
  bool dampers_;
  NodeNumbers numbers_;
  Room room_;
  std::vector<std::vector<NodeId>> stencils_;
};

class BorrowedTerms final : public LocalPotential {
 public:
  BorrowedTerms(const LocalPotential& whole, std::vector<Index> terms, const NodeNumbers& numbers)
      : whole_(whole), terms_(std::move(terms)), numbers_(numbers), room_(numbers_, whole.dim()) {
    for (const Index k : terms_) stencils_.push_back(in_part(whole.stencil(k), numbers_));
  }

  Index size() const override { return std::ssize(terms_); }
  int dim() const override { return whole_.dim(); }
  std::span<const NodeId> stencil(Index k) const override { return stencils_[static_cast<std::size_t>(k)]; }
  double mass(Index k, std::size_t a) const override { return whole_.mass(of(k), a); }
  bool stays_together() const override { return whole_.stays_together(); }
  double first_kink(Index k, std::span<const double> u, std::span<const double> v) const override {
    return whole_.first_kink(of(k), u, v);
  }
  double energy(Index k, std::span<const double> u, double t) const override {
    return whole_.energy(of(k), room_(stencil(k), u), t);
  }
  double add_gradient(Index k, std::span<const double> u, double t, std::span<double> g) const override {
    return whole_.add_gradient(of(k), room_(stencil(k), u), t, g);
  }
  void add_hessian(Index k, std::span<const double> u, double t, std::span<double> H) const override {
    whole_.add_hessian(of(k), room_(stencil(k), u), t, H);
  }
  double stable_step(Index k, std::span<const double> u, std::span<const double> shares) const override {
    return whole_.stable_step(of(k), room_(stencil(k), u), shares);
  }
  bool step_is_stable(Index k, std::span<const double> u, std::span<const double> shares, double step) const override {
    return whole_.step_is_stable(of(k), room_(stencil(k), u), shares, step);
  }
  std::unique_ptr<Batch> batch(std::span<const Index> terms, std::span<const std::int32_t> place) const override {
    std::vector<Index> of_whole;
    for (const Index k : terms) of_whole.push_back(of(k));
    if (numbers_.alike()) return whole_.batch(of_whole, place);
    std::vector<std::int32_t> places(numbers_.of_part.size(), 0);
    for (std::size_t a = 0; a < place.size(); ++a) places[ordinal(numbers_.of_whole[a])] = place[a];
    return whole_.batch(of_whole, places);
  }
  std::string describe(Index k) const override { return whole_.describe(of(k)); }
  std::string fault(Index k, std::span<const double> u, double t, double admissibility) const override {
    return whole_.fault(of(k), room_(stencil(k), u), t, admissibility);
  }

 private:
  Index of(Index k) const { return terms_[static_cast<std::size_t>(k)]; }

  const LocalPotential& whole_;
  std::vector<Index> terms_;
  NodeNumbers numbers_;
  Room room_;
  std::vector<std::vector<NodeId>> stencils_;
};

class BorrowedSum final : public ManyBodySum {
 public:
  BorrowedSum(const ManyBodySum& whole, const NodeNumbers& numbers)
      : whole_(whole), numbers_(numbers), room_(numbers_, whole.dim()), nodes_(in_part(whole.stencil(0), numbers_)) {}

  int dim() const override { return whole_.dim(); }
  std::span<const NodeId> stencil(Index) const override { return nodes_; }
  double mass(Index, std::size_t a) const override { return whole_.mass(0, a); }
  bool stays_together() const override { return whole_.stays_together(); }
  double energy(Index, std::span<const double> u, double t) const override {
    return whole_.energy(0, room_(nodes_, u), t);
  }
  double add_gradient(Index, std::span<const double> u, double t, std::span<double> g) const override {
    return whole_.add_gradient(0, room_(nodes_, u), t, g);
  }
  void each_hessian_piece(Index, std::span<const double> u, double t, const VisitPiece& visit) const override {
    whole_.each_hessian_piece(0, room_(nodes_, u), t, [&](std::span<const NodeId> nodes, std::span<const double> H) {
      visit(in_part(nodes, numbers_), H);
    });
  }
  std::optional<double> shortest_length() const override { return whole_.shortest_length(); }
  double smooth_until(std::span<const double> u, std::span<const double> v, double after,
                      double within) const override {
    return whole_.smooth_until(u, v, after, within);
  }
  // Nodes of the part are in the whole's order, so keys are, too.
  void each_present(std::span<const double> u, double t, const VisitPresent& visit) const override {
    whole_.each_present(room_(nodes_, u), t, [&](const Present& term) {
      TermKey key = term.key;
      for (NodeId& a : key)
        if (index(a) >= 0 && !numbers_.alike()) a = numbers_.of_part[ordinal(a)];
      const std::vector<NodeId> nodes = in_part(term.nodes, numbers_);
      visit({key, nodes, term.admissibility, term.gradient});
    });
  }
  std::string describe(Index) const override { return whole_.describe(0); }
  std::string fault(Index, std::span<const double> u, double t, double admissibility) const override {
    return whole_.fault(0, room_(nodes_, u), t, admissibility);
  }

 private:
  const ManyBodySum& whole_;
  NodeNumbers numbers_;
  Room room_;
  std::vector<NodeId> nodes_;
};

class BorrowedConstraint final : public HolonomicConstraint {
 public:
  BorrowedConstraint(const HolonomicConstraint& whole, const NodeNumbers& numbers)
      : whole_(whole), numbers_(numbers), nodes_(in_part(whole.stencil(), numbers_)) {}

  std::span<const NodeId> stencil() const override { return nodes_; }
  double value(std::span<const double> u) const override { return whole_.value(room(u)(nodes_, u)); }
  void gradient(std::span<const double> u, std::span<double> gradient) const override {
    whole_.gradient(room(u)(nodes_, u), gradient);
  }
  double length() const override { return whole_.length(); }
  bool is_internal() const override { return whole_.is_internal(); }
  std::string describe() const override { return whole_.describe(); }

 private:
  Room room(std::span<const double> u) const {
    return {numbers_, numbers_.alike() ? 1 : static_cast<int>(u.size() / numbers_.of_whole.size())};
  }
  const HolonomicConstraint& whole_;
  NodeNumbers numbers_;
  std::vector<NodeId> nodes_;
};

}  // namespace

void borrow_forces(const Model& model, std::span<const TermId> terms, const NodeNumbers& numbers, Model::Parts& parts) {
  for (const bool dampers : {false, true}) {
    std::vector<HostedForce> all;
    std::vector<TermId> hosts;
    for (std::size_t i = 0; i < terms.size(); ++i)
      for (const HostedForce& force : model.forces_within(terms[i])) {
        if (force.force->is_damper() != dampers) continue;
        if (force.memory >= 0)
          throw InputError("contacts with a restitution remember, and parts of a model do not. Choose avi or newmark.");
        all.push_back(force);
        hosts.push_back(make_id<TermId>(static_cast<Index>(i)));
      }
    if (all.empty()) continue;
    parts.forces.push_back(std::make_unique<BorrowedForces>(std::move(all), dampers, model.dim(), numbers));
    parts.hosts.push_back(std::move(hosts));
  }
}

std::unique_ptr<Potential> borrow_terms(const Potential& potential, std::vector<Index> terms,
                                        const NodeNumbers& numbers) {
  if (const LocalPotential* local = potential.as_local())
    return std::make_unique<BorrowedTerms>(*local, std::move(terms), numbers);
  return std::make_unique<BorrowedSum>(*potential.as_sum(), numbers);
}

std::unique_ptr<HolonomicConstraint> borrow_constraint(const HolonomicConstraint& constraint,
                                                       const NodeNumbers& numbers) {
  return std::make_unique<BorrowedConstraint>(constraint, numbers);
}

}  // namespace tempi
