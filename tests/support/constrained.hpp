// SPDX-License-Identifier: Apache-2.0
// What tests of constraints share: uniform gravity, pendulums, free molecules, and the methods that keep constraints.
#pragma once

#include "support/pair_cases.hpp"
#include "support/sync.hpp"
#include "tempi/integrator/one_step/sync_constrained.hpp"

namespace tempi::test {

// V = -m g.x of every node: one term each.
class Weight final : public LocalPotential {
 public:
  Weight(int dim, std::vector<double> masses, const std::array<double, 3>& g)
      : d_(static_cast<std::size_t>(dim)), masses_(std::move(masses)), g_(g) {
    for (Index a = 0; a < size(); ++a) nodes_.push_back(make_id<NodeId>(a));
  }
  Index size() const override { return static_cast<Index>(masses_.size()); }
  int dim() const override { return static_cast<int>(d_); }
  std::span<const NodeId> stencil(Index k) const override { return {&nodes_[static_cast<std::size_t>(k)], 1}; }
  double energy(Index k, std::span<const double> u, double) const override {
    double V = 0.0;
    for (std::size_t c = 0; c < d_; ++c) V -= mass_of(k) * g_[c] * u[static_cast<std::size_t>(k) * d_ + c];
    return V;
  }
  double add_gradient(Index k, std::span<const double>, double, std::span<double> g) const override {
    for (std::size_t c = 0; c < d_; ++c) g[c] -= mass_of(k) * g_[c];
    return 1.0;
  }
  void add_hessian(Index, std::span<const double>, double, std::span<double>) const override {}
  double mass(Index, std::size_t) const override { return 0.0; }
  std::string describe(Index k) const override { return fmt::format("weight of node {}", k); }

 private:
  double mass_of(Index k) const { return masses_[static_cast<std::size_t>(k)]; }
  std::size_t d_;
  std::vector<double> masses_;
  std::array<double, 3> g_;
  std::vector<NodeId> nodes_;
};

inline Model::Parts under_gravity(int dim, std::vector<double> reference, std::vector<double> mass,
                                  const std::array<double, 3>& g) {
  Model::Parts parts = particles(dim, std::move(reference), std::move(mass));
  parts.shares = MassShares::own;
  parts.add(std::make_unique<Weight>(dim, parts.mass, g));
  return parts;
}

inline Points points_of(const Model::Parts& parts) { return {parts.reference, parts.dim}; }
inline void add(Model::Parts& parts, Constraints constraints) {
  for (auto& constraint : constraints) parts.constraints.push_back(std::move(constraint));
}

// A chain of rods hanging from the origin, in the plane, g = 9.81 downwards; rod i makes angle[i] with the vertical.
// With a node at the origin that a support holds, or with a link to the fixed point.
enum class Pivot { fixed_point, held_node };
struct Rods {
  std::vector<double> lengths, masses, angles;
  double g = 9.81;

  std::vector<double> positions() const {  // of the masses
    std::vector<double> x;
    double px = 0.0, py = 0.0;
    for (std::size_t i = 0; i < lengths.size(); ++i)
      x.insert(x.end(), {px += lengths[i] * std::sin(angles[i]), py -= lengths[i] * std::cos(angles[i])});
    return x;
  }
  std::unique_ptr<Model> model(Pivot pivot = Pivot::fixed_point) const {
    std::vector<double> x = positions(), m = masses;
    if (pivot == Pivot::held_node) x.insert(x.begin(), {0.0, 0.0}), m.insert(m.begin(), 0.5);
    Model::Parts parts = under_gravity(2, std::move(x), std::move(m), {0.0, -g, 0.0});
    if (pivot == Pivot::held_node) {
      std::vector<Support> supports = {};
      supports.push_back(resting("pivot", {NodeId{0}}, 2));
      parts.supports = Supports(std::move(supports), parts.reference, 2);
    } else {
      add(parts, make_links(points_of(parts), std::array{NodeId{0}}, {0.0, 0.0, 0.0}, lengths[0]));
    }
    if (parts.mass.size() > 1)
      add(parts, make_distances(points_of(parts), chain(static_cast<Index>(parts.mass.size()))));
    return std::make_unique<Model>(std::move(parts));
  }

  // With the rods turning at `rates` [1/s].
  State start(const Model& model, const std::vector<double>& rates) const {
    State state = reference_state(model);
    std::size_t place = state.velocity.size() - 2 * lengths.size();
    double vx = 0.0, vy = 0.0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      state.velocity[place++] = vx += lengths[i] * rates[i] * std::cos(angles[i]);
      state.velocity[place++] = vy += lengths[i] * rates[i] * std::sin(angles[i]);
    }
    return state;
  }
};

// A free body of particles held rigid, with the velocities V + Omega cross (x - origin).
struct RigidBody {
  std::unique_ptr<Model> model;
  State start;
};
inline RigidBody rigid_body(const std::vector<double>& x, const std::vector<double>& m, const std::array<double, 3>& V,
                            const std::array<double, 3>& spin) {
  Model::Parts parts = particles(3, x, m);
  std::vector<NodeId> nodes;
  for (Index a = 0; a < static_cast<Index>(m.size()); ++a) nodes.push_back(make_id<NodeId>(a));
  add(parts, make_rigid_body(points_of(parts), nodes));
  RigidBody body{std::make_unique<Model>(std::move(parts)), {}};
  body.start = reference_state(*body.model);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = i % 3, first = i - c, e = (c + 1) % 3, f = (c + 2) % 3;
    body.start.velocity[i] = V[c] + spin[e] * x[first + f] - spin[f] * x[first + e];
  }
  return body;
}

inline std::unique_ptr<Integrator> make_shake(const Model& model, double h) {
  return std::make_unique<SyncConstrained>(model, ConstrainedVelocity::central, h);
}
inline std::unique_ptr<Integrator> make_rattle(const Model& model, double h) {
  return std::make_unique<SyncConstrained>(model, ConstrainedVelocity::projected, h);
}
struct ConstrainedMethod {
  std::string name;
  MakeStepper make;
};
inline std::vector<ConstrainedMethod> constrained_methods() { return {{"shake", make_shake}, {"rattle", make_rattle}}; }
inline void PrintTo(const ConstrainedMethod& method, std::ostream* out) { *out << method.name; }

// Largest |g| of a model's constraints, relative to their lengths, and largest |J v|.
inline double constraint_error(const Model& model, const State& state) {
  double worst = 0.0;
  for (const auto& constraint : model.constraints())
    worst = std::max(worst, std::abs(constraint->value(state.displacement)) / constraint->length());
  return worst;
}
inline double constraint_rate(const Model& model, const State& state) {
  double worst = 0.0;
  const auto d = static_cast<std::size_t>(model.dim());
  for (const auto& constraint : model.constraints()) {
    std::vector<double> gradient(constraint->stencil().size() * d);
    constraint->gradient(state.displacement, gradient);
    double rate = 0.0;
    for (std::size_t i = 0; i < gradient.size(); ++i)
      rate += gradient[i] * state.velocity[static_cast<std::size_t>(index(constraint->stencil()[i / d])) * d + i % d];
    worst = std::max(worst, std::abs(rate));
  }
  return worst;
}

}  // namespace tempi::test
