// SPDX-License-Identifier: Apache-2.0
// Mollified kicks: the engine, which goes forwards and backwards through the groups, against the gradient of the kick's
// potential Phi by dense Jacobians; that gradient against differences of Phi; the error of asynchrony with and without.
#include "tempi/integrator/lattice/lattice_mollifier.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <map>

#include "support/pair_cases.hpp"
#include "support/runs.hpp"
#include "tempi/core/error.hpp"
#include "tempi/pair/pair_sum.hpp"

namespace tempi::test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// The obvious form. beta by the nodal blocks at rest, y_g and its Jacobian group by group.
class Reference {
 public:
  Reference(const Model& model, const TickLattice& lattice) : model_(model), lattice_(lattice) {
    for (const std::int32_t m : lattice.ticks) groups_[m];
    for (Index i = 0; i < model.term_count(); ++i)
      groups_[lattice.ticks[static_cast<std::size_t>(i)]].push_back(make_id<TermId>(i));
  }

  struct Kick {
    double potential = 0.0;  // Phi
    VectorXd gradient;
  };
  Kick at(const std::vector<double>& u, double t, std::int64_t tick) const {
    const auto n = static_cast<Index>(u.size());
    const VectorXd x = Eigen::Map<const VectorXd>(u.data(), n);
    Kick kick{0.0, VectorXd::Zero(n)};
    std::vector<VectorXd> force;
    std::vector<MatrixXd> derivative;  // of the force with x
    std::vector<std::int32_t> before;
    for (const auto& [m, terms] : groups_) {
      if (tick % m != 0) continue;
      VectorXd shift = VectorXd::Zero(n);
      MatrixXd J = MatrixXd::Identity(n, n);
      for (std::size_t l = 0; l < before.size(); ++l) {
        const double c = (double(m) * m - double(before[l]) * before[l]) * lattice_.tick * lattice_.tick / 24.0;
        for (Index i = 0; i < n; ++i) {
          const double share = share_of(m, i);
          shift(i) += share * c * force[l](i) / mass(i);
          J.row(i) += share * c / mass(i) * derivative[l].row(i);
        }
      }
      const VectorXd y = x + shift;
      const std::vector<double> at_y(y.data(), y.data() + n);
      VectorXd f = VectorXd::Zero(n);
      MatrixXd H = MatrixXd::Zero(n, n);
      const double h = m * lattice_.tick;
      for (const TermId term : terms) {
        add_gradient(term, at_y, t, f);
        add_hessian(term, at_y, t, H);
        kick.potential += h * model_.term(term).potential->energy(model_.term(term).k, at_y, t);
      }
      kick.gradient += h * J.transpose() * f;
      force.push_back(f);
      derivative.push_back(H * J);
      before.push_back(m);
    }
    return kick;
  }

  // The steps from tick to tick, as positions and velocities; begins with half a kick.
  void advance(State& state, std::int64_t ticks) const {
    const auto kick = [&](std::int64_t s, double part) {
      const VectorXd g = at(state.displacement, static_cast<double>(s) * lattice_.tick, s).gradient;
      for (Index i = 0; i < g.size(); ++i)
        if (!held(i)) state.velocity[static_cast<std::size_t>(i)] -= part * g(i) / mass(i);
    };
    kick(0, 0.5);
    for (std::int64_t s = 1; s <= ticks; ++s) {
      for (std::size_t i = 0; i < state.velocity.size(); ++i)
        state.displacement[i] += lattice_.tick * state.velocity[i];
      kick(s, 1.0);
    }
  }

 private:
  std::size_t dim() const { return static_cast<std::size_t>(model_.dim()); }
  double mass(Index i) const { return model_.mass()[static_cast<std::size_t>(i) / dim()]; }
  bool held(Index i) const {
    return model_.supports().size() > 0 &&
           model_.supports().support_of(make_id<NodeId>(i / model_.dim()), static_cast<int>(i % model_.dim())) !=
               Supports::none;
  }
  void add_gradient(TermId term, const std::vector<double>& u, double t, VectorXd& f) const {
    const auto [potential, k] = model_.term(term);
    const auto stencil = potential->stencil(k);
    std::vector<double> g(stencil.size() * dim(), 0.0);
    potential->add_gradient(k, u, t, g);
    for (std::size_t j = 0; j < g.size(); ++j) f(row(stencil[j / dim()], j % dim())) += g[j];
  }
  void add_hessian(TermId term, const std::vector<double>& u, double t, MatrixXd& K) const {
    const auto [potential, k] = model_.term(term);
    potential->each_hessian_piece(k, u, t, [&](std::span<const NodeId> nodes, std::span<const double> H) {
      const std::size_t n = nodes.size() * dim();
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          K(row(nodes[i / dim()], i % dim()), row(nodes[j / dim()], j % dim())) += H[i * n + j];
    });
  }
  Index row(NodeId a, std::size_t c) const { return index(a) * model_.dim() + static_cast<Index>(c); }

  // beta of component i for the group of m ticks; 0 where it does not move with its faster terms.
  double share_of(std::int32_t m, Index i) const {
    if (held(i)) return 0.0;
    const NodeId a = make_id<NodeId>(i / model_.dim());
    if (!touches(groups_.at(m), a)) return 0.0;
    const std::vector<double> rest(model_.reference().size(), 0.0);
    MatrixXd block = MatrixXd::Zero(model_.dim(), model_.dim());
    for (const auto& [l, terms] : groups_) {
      if (l >= m) break;
      MatrixXd K = MatrixXd::Zero(static_cast<Index>(rest.size()), static_cast<Index>(rest.size()));
      for (const TermId term : terms)
        if (touches({term}, a)) add_hessian(term, rest, 0.0, K);
      block += (double(m) * m - double(l) * l) * lattice_.tick * lattice_.tick / 24.0 / mass(i) *
               K.block(row(a, 0), row(a, 0), model_.dim(), model_.dim());
    }
    for (Index c = 0; c < model_.dim(); ++c)
      if (held(row(a, static_cast<std::size_t>(c)))) {
        block.row(c).setZero();
        block.col(c).setZero();
      }
    return mollified_share(Eigen::SelfAdjointEigenSolver<MatrixXd>(block).eigenvalues()(model_.dim() - 1));
  }
  bool touches(const std::vector<TermId>& terms, NodeId a) const {
    return std::ranges::any_of(terms, [&](TermId i) {
      const auto stencil = model_.term(i).stencil();
      return std::ranges::find(stencil, a) != stencil.end();
    });
  }

  const Model& model_;
  const TickLattice& lattice_;
  std::map<std::int32_t, std::vector<TermId>> groups_;
};

TickLattice nested_lattice(const Model& model, double safety, unsigned seed) {
  Random random(seed);
  TickLattice lattice{safety / 8.0 * smallest(own_steps(model, 1.0)), {}};
  for (Index i = 0; i < model.term_count(); ++i)
    lattice.ticks.push_back(static_cast<std::int32_t>(1) << random.below(4));
  return lattice;
}

std::vector<Body> bodies_of(const Material& material) {
  std::vector<Body> bodies;
  const auto add = [&](Mesh mesh) { bodies.push_back(make_body(std::move(mesh), material, 1.3)); };
  add(bar_mesh(7, 0.1));
  add(triangle_mesh(CellType::triangle3, 3, 0.1, 3));
  add(triangle_mesh(CellType::triangle6, 2, 0.1, 4, 0.05));
  add(tetrahedron_mesh(CellType::tetrahedron4, 2, 0.1, 5));
  add(tetrahedron_mesh(CellType::tetrahedron10, 1, 0.1, 6, 0.0));
  add(tetrahedron_mesh(CellType::tetrahedron10, 1, 0.1, 6, 0.05));
  return bodies;
}

void expect_reference(const Model& model, const TickLattice& lattice, State state, double tolerance) {
  State expected = state;
  constexpr std::int64_t ticks = 16;
  Reference(model, lattice).advance(expected, ticks);
  for (const int threads : {1, 3}) {
    AviLattice engine(model, lattice, {.threads = threads, .coupling = Coupling::mollified});
    State moved = state;
    engine.advance_to(moved, (static_cast<double>(ticks) + 0.5) * lattice.tick);
    EXPECT_LT(largest_difference(moved.velocity, expected.velocity), tolerance * largest(expected.velocity));
  }
  AviLattice plain(model, lattice);
  plain.advance_to(state, (static_cast<double>(ticks) + 0.5) * lattice.tick);
  EXPECT_GT(largest_difference(state.velocity, expected.velocity), 1e4 * tolerance * largest(expected.velocity));
}

TEST(Mollified, TheEngineKicksByTheGradientOfItsPotential) {
  for (const Material& material : {Material(NeoHookean{{1.3, 0.7}}), Material(SaintVenantKirchhoff{{1.3, 0.7}}),
                                   Material(LinearElastic{{1.3, 0.7}})})
    for (const Body& body : bodies_of(material))
      expect_reference(*body.model, nested_lattice(*body.model, 0.9, 3), moving_state(body, 0.3, 0.2, 7), 1e-12);
}

// Steps so long that shifts go against the vibration: 16 ticks before it grows beyond reason.
TEST(Mollified, TheEngineKicksSoWhereNodesVibrateFast) {
  const Body body = make_body_of_two(tetrahedron_mesh(CellType::tetrahedron4, 2, 0.1, 5), NeoHookean{{1.3, 0.7}}, 1.0,
                                     NeoHookean{{400.0, 300.0}}, 1.0);
  expect_reference(*body.model, nested_lattice(*body.model, 3.0, 3), moving_state(body, 1e-4, 1e-4, 7), 1e-12);
}

// Springs and a sum of all pairs, which is slower than they (mollified impulses as molecular dynamics has them) or
// faster.
TEST(Mollified, TheEngineKicksParticlesSo) {
  for (const bool sum_is_slow : {true, false}) {
    const Index count = 9;
    Model::Parts parts = particles(3, random_cloud(3, count, 1.5, 0.9, 4), std::vector<double>(count, 1.3));
    add_pairs(parts, chain(count), Spring{sum_is_slow ? 8.0 : 1.0, 1.0});
    std::vector<NodeId> all;
    for (Index a = 0; a < count; ++a) all.push_back(make_id<NodeId>(a));
    parts.add(make_pair_sum(parts.reference, 3, parts.mass, all, Morse{0.3, 1.5, 1.2}));
    const Model model(std::move(parts));
    Random random(6);
    TickLattice lattice{0.01, {}};
    for (Index i = 0; i + 1 < model.term_count(); ++i)
      lattice.ticks.push_back((sum_is_slow ? 1 : 2) << random.below(2));
    lattice.ticks.push_back(sum_is_slow ? 8 : 1);
    State state = reference_state(model);
    for (double& v : state.velocity) v = random.uniform(-0.1, 0.1);
    expect_reference(model, lattice, state, 1e-12);
  }
}

TEST(Mollified, SupportsAreNotShifted) {
  const Body body = make_body_with(triangle_mesh(CellType::triangle3, 4, 0.1, 8), NeoHookean{{1.3, 0.7}}, 1.0,
                                   [](const Mesh& mesh, Model::Parts& parts) {
                                     std::vector<Support> supports;
                                     supports.push_back(resting("left", nodes_of(mesh, "left"), 2));
                                     Support sliding;
                                     sliding.name = "right";
                                     sliding.nodes = nodes_of(mesh, "right");
                                     sliding.motion[1] = Support::Motion::at_rest;
                                     supports.push_back(std::move(sliding));
                                     parts.supports = Supports(std::move(supports), mesh.points(), 2);
                                   });
  State state = moving_state(body, 0.3, 0.2, 9);
  for (Index a = 0; a < body.model->node_count(); ++a)
    for (int c = 0; c < 2; ++c)
      if (body.model->supports().support_of(make_id<NodeId>(a), c) != Supports::none)
        state.velocity[static_cast<std::size_t>(2 * a + c)] = 0.0;
  expect_reference(*body.model, nested_lattice(*body.model, 0.8, 4), state, 1e-12);
}

TEST(Mollified, TheReferencesGradientIsThatOfItsPotential) {
  for (const Body& body : bodies_of(NeoHookean{{1.3, 0.7}})) {
    const TickLattice lattice = nested_lattice(*body.model, 0.9, 5);
    const Reference reference(*body.model, lattice);
    std::vector<double> u = random_displacements(*body.mesh, 0.02, 4);
    const VectorXd gradient = reference.at(u, 0.0, 8).gradient;
    constexpr double spacing = 1e-5;
    for (std::size_t i = 0; i < u.size(); i += 3) {
      const double there = u[i];
      u[i] = there + spacing;
      const double up = reference.at(u, 0.0, 8).potential;
      u[i] = there - spacing;
      const double down = reference.at(u, 0.0, 8).potential;
      u[i] = there;
      EXPECT_NEAR((up - down) / (2.0 * spacing), gradient(static_cast<Index>(i)), 1e-7 * gradient.norm());
    }
  }
}

// A spring to the origin that has no answer from some time on.
class Fading final : public LocalPotential {
 public:
  Fading(NodeId node, int dim, double until) : node_(node), dim_(dim), until_(until) {}
  Index size() const override { return 1; }
  int dim() const override { return dim_; }
  std::span<const NodeId> stencil(Index) const override { return {&node_, 1}; }
  double mass(Index, std::size_t) const override { return 0.0; }
  std::string describe(Index) const override { return "a fading spring"; }
  double energy(Index, std::span<const double> u, double) const override {
    return 0.5 * 1e-2 * u[ordinal(node_) * static_cast<std::size_t>(dim_)] *
           u[ordinal(node_) * static_cast<std::size_t>(dim_)];
  }
  double add_gradient(Index, std::span<const double> u, double t, std::span<double> g) const override {
    if (t > until_) throw SolveError("it has faded");
    g[0] += 1e-2 * u[ordinal(node_) * static_cast<std::size_t>(dim_)];
    return 1.0;
  }
  void add_hessian(Index, std::span<const double>, double, std::span<double> H) const override { H[0] += 1e-2; }

 private:
  NodeId node_;
  int dim_;
  double until_;
};

// In the slowest group, whose faster neighbours are back from where they were shifted, and in one at whose strike they
// are away.
TEST(Mollified, ATermThatThrowsLeavesNodesWhereTheyHaveDrifted) {
  constexpr double tick = 1e-3;
  const Body body = make_body_with(triangle_mesh(CellType::triangle3, 3, 0.1, 3), NeoHookean{{1.3, 0.7}}, 1.0,
                                   [&](const Mesh&, Model::Parts& parts) {
                                     parts.add(std::make_unique<Fading>(NodeId{5}, 2, 7.5 * tick));
                                   });
  for (const std::int32_t of_the_spring : {2, 4}) {
    TickLattice lattice{tick, std::vector<std::int32_t>(static_cast<std::size_t>(body.model->term_count()), 1)};
    for (std::size_t i = 0; i < lattice.ticks.size(); i += 3) lattice.ticks[i] = 2;
    lattice.ticks.back() = of_the_spring;
    State state = moving_state(body, 0.3, 0.2, 9), before = state;
    AviLattice engine(*body.model, lattice, {.coupling = Coupling::mollified}),
        twin(*body.model, lattice, {.coupling = Coupling::mollified});
    EXPECT_THROW(engine.advance_to(state, 8.5 * tick), SolveError);
    twin.advance_to(before, 7.5 * tick);
    for (std::size_t i = 0; i < state.displacement.size(); ++i)
      EXPECT_EQ(state.displacement[i],
                before.displacement[i] +
                    before.velocity[i] * ((state.clock[i / 2] - before.clock[i / 2]) / tick * tick))
          << i << ", " << of_the_spring;
  }
}

TEST(Mollified, TheShareFallsFromOneToAgainstTheVibration) {
  EXPECT_EQ(mollified_share(0.0), 1.0);
  EXPECT_EQ(mollified_share(0.135), 1.0);
  EXPECT_EQ(mollified_share(-1.0), 1.0);
  EXPECT_NEAR(mollified_share(0.2 - 1e-12), mollified_share(0.2), 1e-9);
  EXPECT_DOUBLE_EQ(mollified_share(3.0) * 3.0, -0.3);
}

TEST(Mollified, StepsThatDoNotNestAreRefused) {
  const Body body = make_body(bar_mesh(4), NeoHookean{{1.0, 1.0}}, 1.0);
  EXPECT_THROW(AviLattice(*body.model, {1e-3, {2, 3, 4, 6}}, {.coupling = Coupling::mollified}), InputError);
  EXPECT_NO_THROW(AviLattice(*body.model, {1e-3, {2, 3, 4, 6}}));
}

}  // namespace
}  // namespace tempi::test
