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

// Of arrays by node of the whole; `place` is by node of the part.
std::vector<std::int32_t> places_in_whole(std::span<const std::int32_t> place, const NodeNumbers& numbers) {
  if (numbers.alike()) return {place.begin(), place.end()};
  std::vector<std::int32_t> places(numbers.of_part.size(), 0);
  for (std::size_t a = 0; a < place.size(); ++a) places[ordinal(numbers.of_whole[a])] = place[a];
  return places;
}

// Some elements of one force.
class BorrowedForce final : public Force {
 public:
  BorrowedForce(const Force& whole, std::vector<Index> elements, int dim, const NodeNumbers& numbers)
      : whole_(whole), elements_(std::move(elements)), numbers_(numbers), room_(numbers_, dim) {
    for (const Index k : elements_) stencils_.push_back(in_part(whole.stencil(k), numbers_));
  }

  Index size() const override { return std::ssize(elements_); }
  std::span<const NodeId> stencil(Index k) const override { return stencils_[static_cast<std::size_t>(k)]; }
  void add_impulse(Index k, std::span<const double> u, std::span<const double> v, double t, double dt,
                   std::span<double> p) const override {
    whole_.add_impulse(of(k), room_(stencil(k), u), room_(stencil(k), v, 1), t, dt, p);
  }
  bool is_dead() const override { return whole_.is_dead(); }
  void each_dead_part(Index k, const std::function<void(const DeadPart&)>& visit) const override {
    whole_.each_dead_part(of(k), visit);
  }
  std::unique_ptr<LoadBatch> batch(int dim, std::span<const Index> elements,
                                   std::span<const std::int32_t> place) const override {
    return whole_.batch(dim, of_whole(elements), places_in_whole(place, numbers_));
  }
  bool is_damper() const override { return whole_.is_damper(); }
  std::vector<double> identity() const override { return whole_.identity(); }
  bool each_drag(Index k, const std::function<void(std::size_t, double)>& visit) const override {
    return whole_.each_drag(of(k), visit);
  }
  std::unique_ptr<DampingBatch> damping_batch(int dim, std::span<const Index> elements,
                                              std::span<const std::int32_t> place,
                                              std::span<const std::array<bool, 3>> held) const override {
    return whole_.damping_batch(dim, of_whole(elements), places_in_whole(place, numbers_), held);
  }
  void add_damping(Index k, std::span<const double> u, double t, std::span<double> C) const override {
    whole_.add_damping(of(k), room_(stencil(k), u), t, C);
  }

 private:
  Index of(Index k) const { return elements_[static_cast<std::size_t>(k)]; }
  std::vector<Index> of_whole(std::span<const Index> elements) const {
    std::vector<Index> result(elements.begin(), elements.end());
    for (Index& k : result)
      if (k >= 0) k = of(k);
    return result;
  }

  const Force& whole_;
  std::vector<Index> elements_;
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
    return whole_.batch(of_whole, places_in_whole(place, numbers_));
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
  struct Some {
    const Force* force;
    std::vector<Index> elements;
    std::vector<TermId> hosts;
  };
  std::vector<Some> all;
  for (std::size_t i = 0; i < terms.size(); ++i)
    for (const HostedForce& h : model.forces_within(terms[i])) {
      if (h.memory >= 0)
        throw InputError("contacts with a restitution remember, and parts of a model do not. Choose avi or newmark.");
      auto of = std::ranges::find(all, h.force, &Some::force);
      if (of == all.end()) of = all.insert(of, {h.force, {}, {}});
      of->elements.push_back(h.element);
      of->hosts.push_back(make_id<TermId>(static_cast<Index>(i)));
    }
  for (Some& some : all) {
    parts.forces.push_back(
        std::make_unique<BorrowedForce>(*some.force, std::move(some.elements), model.dim(), numbers));
    parts.hosts.push_back(std::move(some.hosts));
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
