// SPDX-License-Identifier: Apache-2.0
// Viscous cells and dashpots solved one by one: the kernels of every element against dense matrices, their order of
// accuracy against the matrix exponential, whole runs against the common solution of dampers.hpp.
#include "tempi/integrator/lattice/lattice_dampers.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <set>
#include <unsupported/Eigen/MatrixFunctions>

#include "support/damping.hpp"
#include "support/lattice.hpp"
#include "support/pair_cases.hpp"
#include "tempi/integrator/lattice/lattice_nodes.hpp"
#include "tempi/simd/instruction_set.hpp"

namespace tempi::test {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Held = std::vector<std::array<bool, 3>>;

constexpr Viscosity viscosity{0.4, 0.3};

Body viscous_body(Mesh mesh, bool held) {
  return make_body_with(std::move(mesh), NeoHookean{{1.3, 0.7}}, 1.2, [&](const Mesh& of, Model::Parts& parts) {
    host(parts, make_kelvin_voigt(cells_of(parts), viscosity));
    if (held) parts.supports = held_at_rest(of, "left");
  });
}

State shaken(const Body& body, double by = 0.03) {
  State state = moving_state(body, 0.3, 0.2, 4);
  state.displacement = random_displacements(*body.mesh, by, 5);
  return state;
}

// -dF/dv of one quadrature point: V B^T D B with the rate of deformation B v = F^{-T} E' F^{-1}, E' that of the Green
// strain, from its definition.
Matrix damping_at(const ElasticCells& cells, Index k, Index q, std::span<const double> u) {
  const CellPoint at = cells.at_point(k, q);
  const auto nodes = cells.stencil(k);
  const int dim = cells.dim();
  Eigen::Matrix3d F = Eigen::Matrix3d::Identity();
  for (std::size_t a = 0; a < nodes.size(); ++a)
    for (int i = 0; i < dim; ++i)
      for (int J = 0; J < dim; ++J)
        F(i, J) += u[ordinal(nodes[a]) * static_cast<std::size_t>(dim) + static_cast<std::size_t>(i)] *
                   at.dN[a][static_cast<std::size_t>(J)];
  const Index n = std::ssize(nodes) * dim;
  Matrix B(9, n);
  for (Index j = 0; j < n; ++j) {
    Eigen::Matrix3d rate = Eigen::Matrix3d::Zero();
    for (int J = 0; J < dim; ++J)
      rate(static_cast<int>(j % dim), J) = at.dN[static_cast<std::size_t>(j / dim)][static_cast<std::size_t>(J)];
    const Eigen::Matrix3d E = 0.5 * (F.transpose() * rate + rate.transpose() * F);
    const Eigen::Matrix3d d = F.inverse().transpose() * E * F.inverse();
    B.col(j) = Eigen::Map<const Vector>(d.data(), 9);
  }
  const double lambda = viscosity.bulk - 2.0 / 3.0 * viscosity.shear;
  Matrix D = 2.0 * viscosity.shear * Matrix::Identity(9, 9);
  for (const int i : {0, 4, 8})
    for (const int j : {0, 4, 8}) D(i, j) += lambda;
  return at.volume * B.transpose() * D * B;
}

class EveryElement : public testing::TestWithParam<MeshCase> {};
INSTANTIATE_TEST_SUITE_P(Meshes, EveryElement, testing::ValuesIn(mesh_cases()), testing::PrintToStringParamName());

// Velocities, impulses and work of the elements of one pack, each alone, against dense matrices: those of `parts` of an
// element act one after the other. Returns how many components were held.
int expect_as_dense(const Model& model, const LatticeGroups& plan, const Held& held, const State& state,
                    const Force& force, const std::vector<Index>& elements, bool backward,
                    const std::function<std::vector<Matrix>(Index)>& parts, double step) {
  const double relax = 0.5 * step;
  const auto d = static_cast<std::size_t>(model.dim());
  LatticeNodes lines(model, plan, 1.0);
  lines.read(state);
  std::vector<std::array<double, 3>> withheld(held.size());
  const auto batch = force.damping_batch(model.dim(), elements, plan.line_of_node, held);
  std::vector<double> kept(batch->row() * 8), q(batch->row());
  const double work = batch->resist(0, 1, {0.0, relax, step, backward, held, withheld}, lines.lines(), kept);
  double expected_work = 0.0, largest_stiffest = 1.0;
  int at_supports = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] < 0) continue;
    const auto nodes = force.stencil(elements[i]);
    const Index n = std::ssize(nodes) * model.dim();
    Vector v(n), inverse_mass(n), total = Vector::Zero(n);
    for (Index j = 0; j < n; ++j) {
      const NodeId a = nodes[static_cast<std::size_t>(j / model.dim())];
      const auto c = static_cast<std::size_t>(j % model.dim());
      const bool is_held = held[static_cast<std::size_t>(plan.line(a))][c];
      at_supports += is_held ? 1 : 0;
      v(j) = state.velocity[ordinal(a) * d + c];
      inverse_mass(j) = is_held ? 0.0 : 1.0 / model.mass(a);
    }
    std::vector<Matrix> in_order = parts(elements[i]);
    double stiffest = 1.0;  // C is known to its own rounding
    for (const Matrix& C : in_order)
      stiffest = std::max(stiffest, relax * inverse_mass.maxCoeff() * C.cwiseAbs().maxCoeff());
    largest_stiffest = std::max(largest_stiffest, stiffest);
    const double within = 1e-13 * stiffest;
    if (backward) std::ranges::reverse(in_order);
    for (const Matrix& C : in_order) {
      const Matrix A = Matrix::Identity(n, n) + relax * inverse_mass.asDiagonal() * C;
      const Vector w = A.partialPivLu().solve(v), p = -step * C * w;
      v += inverse_mass.asDiagonal() * p;
      total += p;
      expected_work += p.dot(w);
    }
    batch->impulse(i, kept, q);
    for (Index j = 0; j < n; ++j) {
      const auto line = static_cast<std::size_t>(plan.line(nodes[static_cast<std::size_t>(j / model.dim())]));
      const auto c = static_cast<std::size_t>(j % model.dim());
      EXPECT_NEAR(lines.lines()[line].velocity[c], v(j), within);
      const double of_impulse = within * std::max(1.0, total.cwiseAbs().maxCoeff());
      EXPECT_NEAR(q[static_cast<std::size_t>(j)], total(j), of_impulse);
      EXPECT_NEAR(withheld[line][c], held[line][c] ? total(j) : 0.0, of_impulse);
    }
  }
  EXPECT_NEAR(work, expected_work, 1e-13 * largest_stiffest * std::abs(expected_work) + 1e-16);
  return at_supports;
}

std::vector<Matrix> damping_at_points(const ElasticCells& cells, Index k, std::span<const double> u) {
  std::vector<Matrix> all;
  for (Index q = 0; q < cells.point_count(); ++q) all.push_back(damping_at(cells, k, q, u));
  return all;
}

TEST_P(EveryElement, ResistsAsItsDenseMatricesDo) {
  const Body body = viscous_body(GetParam().make(), true);
  const Model& model = *body.model;
  const LatticeGroups plan = with_one_step(model);
  ThreadTeam team(1);
  const LatticeSupports supports(model, plan, team, 1.0, 0.01);
  Held held(plan.node_of_line.size());
  for (std::size_t i = 0; i < held.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) held[i][c] = supports.holds(i, c);
  const State state = shaken(body);
  int at_supports = 0;
  for (const bool backward : {false, true})
    for (Index k = 0; k < body.cells().size(); ++k)
      at_supports += expect_as_dense(
          model, plan, held, state, *model.forces_within(make_id<TermId>(k)).front().force, {k}, backward,
          [&](Index cell) { return damping_at_points(body.cells(), cell, state.displacement); }, 0.4);
  EXPECT_GT(at_supports, 0);
}

// Some nodes held, in all components or in one; not so many that packs would not be full.
Held some_held(const LatticeGroups& plan, int dim, bool whole) {
  Held held(plan.node_of_line.size());
  Random random(7);
  for (auto& node : held) {
    if (random.below(4) != 0) continue;
    const auto one = static_cast<std::size_t>(random.below(dim));
    for (std::size_t c = 0; c < static_cast<std::size_t>(dim); ++c) node[c] = whole || c == one;
  }
  return held;
}

// All elements of a force in packs of disjoint nodes; returns how many full ones had held components.
int expect_packs_as_dense(const Model& model, const Force& force, const State& state, const Held& held,
                          const std::function<std::vector<Matrix>(Index)>& parts) {
  const LatticeGroups plan = with_one_step(model);
  const auto width = static_cast<std::size_t>(pack_width());
  std::vector<std::vector<Index>> packs;
  std::vector<std::set<NodeId>> taken;
  for (Index k = 0; k < force.size(); ++k) {
    const auto nodes = force.stencil(k);
    std::size_t at = 0;
    while (at < packs.size() &&
           (packs[at].size() == width || std::ranges::any_of(nodes, [&](NodeId a) { return taken[at].contains(a); })))
      ++at;
    packs.resize(std::max(packs.size(), at + 1));
    taken.resize(packs.size());
    packs[at].push_back(k);
    taken[at].insert(nodes.begin(), nodes.end());
  }
  int full = 0;
  for (std::size_t at = 0; at < packs.size(); ++at) {
    const bool is_full = packs[at].size() == width;
    packs[at].resize(width, -1);
    full += expect_as_dense(model, plan, held, state, force, packs[at], at % 2 == 1, parts, 0.004) > 0 && is_full;
  }
  return full;
}

TEST(LatticeDampers, ResistInPacksOfFreeAndHeldNodesAsDenseMatricesDo) {
  using enum CellType;
  const std::vector<std::function<Mesh()>> meshes = {[] { return bar_mesh(60, 0.15, 11); },
                                                     [] { return triangle_mesh(triangle3, 8, 0.15, 12); },
                                                     [] { return triangle_mesh(triangle6, 8, 0.15, 14, 0.06); },
                                                     [] { return tetrahedron_mesh(tetrahedron4, 4, 0.15, 15); },
                                                     [] { return tetrahedron_mesh(tetrahedron10, 4, 0.12, 17, 0.05); }};
  for (const auto& mesh : meshes)
    for (const bool whole : {true, false}) {
      const Body body = viscous_body(mesh(), false);
      const Model& model = *body.model;
      const State state = shaken(body, 0.005);
      const Force& force = *model.forces_within(TermId{0}).front().force;
      const auto dense = [&](Index k) { return damping_at_points(body.cells(), k, state.displacement); };
      const Held held = some_held(with_one_step(model), model.dim(), whole);
      EXPECT_GT(expect_packs_as_dense(model, force, state, held, dense), 0) << body.cells().size();
    }
}

// What damps bonds of a potential.
using MakeDamper = std::function<std::unique_ptr<Force>(const Model::Parts&, const std::vector<NodePair>&, const Box&)>;
std::unique_ptr<Force> dashpots(const Model::Parts& parts, const std::vector<NodePair>& pairs, const Box& box) {
  return make_dashpots(parts.reference, parts.dim, pairs, 0.7, box);
}
std::unique_ptr<Force> stiffness(const Model::Parts& parts, const std::vector<NodePair>&, const Box&) {
  return make_stiffness_damping(*parts.potentials.front()->as_local(), 0.7);
}

using MakeLaw = std::function<PairLaw()>;
PairLaw spring() { return Spring{1.0, 1.0}; }

// Particles near a cubic lattice, bonds and dampers between neighbours, through the box's sides too where it is
// periodic.
struct Bonded {
  Bonded(int dim, bool periodic, const MakeDamper& damper = dashpots, const MakeLaw& law = spring)
      : model(make(dim, periodic, damper, law)), state(reference_state(model)) {
    Random random(3);
    for (double& u : state.displacement) u = random.uniform(-0.2, 0.2);
    for (double& v : state.velocity) v = random.uniform(-1.0, 1.0);
  }
  static Model make(int dim, bool periodic, const MakeDamper& damper, const MakeLaw& law) {
    constexpr Index side = 5;
    const auto d = static_cast<std::size_t>(dim);
    Model::Parts parts;
    parts.dim = dim;
    parts.shares = MassShares::balanced;
    const Index count = dim == 3 ? side * side * side : side * side;
    std::vector<NodePair> pairs;
    for (Index i = 0; i < count; ++i) {
      const std::array<Index, 3> at = {i % side, i / side % side, i / side / side};
      for (std::size_t c = 0; c < d; ++c) {
        parts.reference.push_back(static_cast<double>(at[c]));
        std::array<Index, 3> next = at;
        if (++next[c] == side && !periodic) continue;
        next[c] %= side;
        pairs.push_back({make_id<NodeId>(i), make_id<NodeId>(next[0] + side * (next[1] + side * next[2]))});
      }
      parts.mass.push_back(1.0 + 0.5 * static_cast<double>(i % 3));
    }
    const Box box = periodic ? Box({5.0, 5.0, dim == 3 ? std::optional(5.0) : std::nullopt}) : Box();
    std::vector<PairLaw> laws;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      laws.push_back(law());
      if (auto* of = std::get_if<Spring>(&laws[i])) of->length *= 1.0 + 0.1 * static_cast<double>(i % 3);
    }
    parts.add(make_pairs(parts.reference, dim, parts.mass, pairs, std::move(laws), box));
    host(parts, damper(parts, pairs, box));
    return Model(std::move(parts));
  }
  Model model;
  State state;
};

// The dampers of a potential's terms, some nodes held and none.
void expect_terms_as_dense(const Model& model, const State& state) {
  const Force& force = *model.forces_within(make_id<TermId>(0)).front().force;
  const auto dense = [&](Index k) {
    const Index n = std::ssize(force.stencil(k)) * model.dim();
    std::vector<double> C(static_cast<std::size_t>(n * n), 0.0);
    force.add_damping(k, state.displacement, 0.0, C);
    return std::vector<Matrix>{Eigen::Map<const Matrix>(C.data(), n, n)};
  };
  const LatticeGroups plan = with_one_step(model);
  for (const bool whole : {true, false})
    EXPECT_GT(expect_packs_as_dense(model, force, state, some_held(plan, model.dim(), whole), dense), 0);
  EXPECT_EQ(expect_packs_as_dense(model, force, state, {Held(plan.node_of_line.size())}, dense), 0);
}

TEST(LatticeDampers, TakeDashpotsAsDenseMatricesDo) {
  for (const int dim : {2, 3})
    for (const bool periodic : {false, true}) {
      const Bonded bonded(dim, periodic);
      expect_terms_as_dense(bonded.model, bonded.state);
    }
}

// Bonds between 0.6 and 1.4 long: some of each law resist along, some across, some both ways.
TEST(LatticeDampers, TakeTheStiffnessOfPairsOfEveryLawAsDenseMatricesDo) {
  for (const int dim : {2, 3})
    for (const bool periodic : {false, true})
      for (const LawCase& law : law_cases()) {
        SCOPED_TRACE(law.name);
        const Bonded bonded(dim, periodic, stiffness, law.make);
        expect_terms_as_dense(bonded.model, bonded.state);
      }
}

TEST(LatticeDampers, TakeTheStiffnessOfWellsAsDenseMatricesDo) {
  constexpr Index count = 60;
  Model::Parts parts;
  parts.dim = 3;
  std::vector<NodeId> nodes;
  for (Index i = 0; i < count; ++i) {
    parts.reference.insert(parts.reference.end(), {static_cast<double>(i), 0.0, 0.0});
    parts.mass.push_back(1.0 + 0.5 * static_cast<double>(i % 3));
    nodes.push_back(make_id<NodeId>(i));
  }
  parts.add(make_wells(parts.reference, 3, nodes, Well{{1.0, 2.0, 0.0}, {}}));
  host(parts, make_stiffness_damping(*parts.potentials.front()->as_local(), 0.7));
  const Model model(std::move(parts));
  State state = reference_state(model);
  for (std::size_t i = 0; i < state.velocity.size(); ++i) state.velocity[i] = std::sin(1.7 * static_cast<double>(i));
  expect_terms_as_dense(model, state);
}

// However stiff: a pair's parts along and across decay, and nothing of them comes back.
TEST(LatticeDampers, TakeStiffPairsAsDenseMatricesDo) {
  for (const double beta : {1e3, 1e6}) {
    const Bonded bonded(3, false, [&](const Model::Parts& parts, const auto&, const auto&) {
      return make_stiffness_damping(*parts.potentials.front()->as_local(), beta);
    });
    expect_terms_as_dense(bonded.model, bonded.state);
  }
}

// On one and two threads the same bits; what the common solution makes of them to second order.
void expect_as_common_solution(const Bonded& bonded, double work_within) {
  const auto run = [&](double safety, int threads, State& a) {
    LatticeOptions options;
    options.threads = threads;
    const TickLattice lattice = lattice_of(own_steps(bonded.model, safety), LatticeRule::powers_of_two);
    AviLattice fast(bonded.model, lattice, options);
    a = bonded.state;
    fast.advance_to(a, 2.0);
    return at(fast, a, 2.0);
  };
  const auto difference = [&](double safety) {
    State a, b = bonded.state, c;
    const State one = run(safety, 1, a), two = run(safety, 2, c);
    EXPECT_EQ(one.velocity, two.velocity);
    const TickLattice lattice = lattice_of(own_steps(bonded.model, safety), LatticeRule::powers_of_two);
    AviExplicit slow(bonded.model, steps_taken(bonded.model, AviLattice(bonded.model, lattice)));
    slow.advance_to(b, 2.0);
    const State common = at(slow, b, 2.0);
    EXPECT_NEAR(one.damping.work.value() / common.damping.work.value(), 1.0, work_within);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(one.damping.impulse[i].value(), 0.0, 1e-13);
    return largest_difference(one.velocity, common.velocity);
  };
  const double coarse = difference(0.4), fine = difference(0.1);
  EXPECT_LT(fine, coarse / 8.0) << coarse << " " << fine;
}
TEST(LatticeDampers, TakeDashpotsAsTheCommonSolutionDoesToSecondOrder) {
  expect_as_common_solution(Bonded(3, true), 0.003);
}
TEST(LatticeDampers, TakeTheStiffnessOfPairsAsTheCommonSolutionDoesToSecondOrder) {
  expect_as_common_solution(Bonded(3, true, stiffness), 0.003);
}

// Velocities after a time of resistance alone, the configuration fixed, against exp(-t M^-1 C) v; `now` of each step.
double error_after(const Body& body, int steps, const std::function<double(int)>& now) {
  const Model& model = *body.model;
  std::vector<std::int32_t> ticks(static_cast<std::size_t>(model.term_count()), 1);
  const LatticeGroups plan = lattice_groups(model, ticks);
  ThreadTeam team(1);
  const LatticeSupports supports(model, plan, team, 1.0, 0.01);
  LatticeDampers dampers(model, plan, supports, team, 1e-9);  // of steps so short that one turn does
  State state = shaken(body);
  const auto n = static_cast<Index>(state.velocity.size());
  Matrix C = Matrix::Zero(n, n);
  const auto d = static_cast<std::size_t>(model.dim());
  const auto add = [&](std::span<const NodeId> nodes, std::span<const double> of) {
    const std::size_t size = nodes.size() * d;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j)
        C(static_cast<Index>(ordinal(nodes[i / d]) * d + i % d),
          static_cast<Index>(ordinal(nodes[j / d]) * d + j % d)) += of[i * size + j];
  };
  for (Index k = 0; k < model.term_count(); ++k)
    model.each_damping_piece(make_id<TermId>(k), state.displacement, 0.0, add);
  constexpr double time = 0.1;
  Matrix rate = -time * C;
  for (Index i = 0; i < n; ++i) rate.row(i) /= model.mass()[static_cast<std::size_t>(i) / d];
  const Vector exact = rate.exp() * Eigen::Map<const Vector>(state.velocity.data(), n);
  LatticeNodes lines(model, plan, 1.0);
  lines.read(state);
  std::vector<LatticeDampers::Vector> before(lines.lines().size());
  for (int s = 0; s < steps; ++s) {
    for (std::size_t i = 0; i < before.size(); ++i) std::copy_n(lines.lines()[i].velocity, 3, before[i].begin());
    dampers.begin();
    dampers.announce(0, time / steps);
    dampers.act(now(s), lines.lines(), before, false, state.memory, state.damping);
  }
  lines.write(state);
  return (Eigen::Map<const Vector>(state.velocity.data(), n) - exact).norm() / exact.norm();
}

// N^2 times the error after N turns, the largest over the smallest: 1 is order 2.
double spread(const Body& body, const std::function<double(int)>& now) {
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (const int N : {20, 40, 80, 160, 320, 640}) {
    const double scaled = N * (N * error_after(body, N, now));
    least = std::min(least, scaled);
    most = std::max(most, scaled);
  }
  return most / least;
}

// On the ticks of steps that are any multiple of the first. The controls: always in the same order; and turns by the
// parity of binary ones, which on the multiples of three are mostly the same (ticks 1 and 2 are of one way each).
TEST_P(EveryElement, ResistsItsNeighboursWithOrderTwoBecauseTheOrderTurns) {
  const Body body = viscous_body(GetParam().make(), false);
  for (const int multiple : {1, 2, 3, 5, 6, 7, 12, 35})
    EXPECT_LT(spread(body, [&](int s) { return multiple * s; }), 3.0) << multiple;
  EXPECT_GT(spread(body, [](int) { return 0.0; }), 10.0);
  EXPECT_GT(spread(body, [](int s) { return 1 + std::popcount(static_cast<unsigned>(3 * s)) % 2; }), 6.0);
}

// What is solved together and what is solved one by one differ by the order of the method, and no more.
TEST(LatticeDampers, AgreeWithTheCommonSolutionToSecondOrder) {
  const Body body = make_body_with(triangle_mesh(CellType::triangle6, 3, 0.15, 12, 0.05), NeoHookean{{1.3, 0.7}}, 1.2,
                                   [](const Mesh& mesh, Model::Parts& parts) {
                                     host(parts, make_rayleigh(cells_of(parts), {0.2, 0.05}));
                                     host_drag(parts, 0.02);
                                     parts.supports = held_at_rest(mesh, "left");
                                   });
  const auto difference = [&](double safety) {
    const TickLattice lattice = lattice_of(own_steps(*body.model, safety), LatticeRule::powers_of_two);
    AviLattice fast(*body.model, lattice);
    AviExplicit slow(*body.model, steps_taken(*body.model, fast));
    State a = moving_state(body, 0.1, 0.05, 5), b = a;
    fast.advance_to(a, 2.0);
    slow.advance_to(b, 2.0);
    const State at_a = at(fast, a, 2.0), at_b = at(slow, b, 2.0);
    EXPECT_NEAR(at_a.damping.work.value(), at_b.damping.work.value(), 0.01 * std::abs(at_b.damping.work.value()));
    return largest_difference(at_a.velocity, at_b.velocity);
  };
  const double coarse = difference(0.4), fine = difference(0.025);
  EXPECT_LT(coarse, 5e-3);
  EXPECT_LT(fine, coarse / 64.0);
}

// Cells of 1/12, the slowest motion of the whole.
TEST(LatticeDampers, TakeOfSlowMotionsWhatTheyShouldHoweverStiffTheyAreTogether) {
  for (const double beta : {0.05, 0.2}) {
    const Body body = make_body_with(triangle_mesh(CellType::triangle3, 12, 0.1, 12), NeoHookean{{1.3, 0.7}}, 1.2,
                                     [&](const Mesh& mesh, Model::Parts& parts) {
                                       host(parts, make_rayleigh(cells_of(parts), {0.0, beta}));
                                       parts.supports = held_at_rest(mesh, "left");
                                     });
    const TickLattice lattice = lattice_of(own_steps(*body.model, 0.8), LatticeRule::powers_of_two);
    AviLattice fast(*body.model, lattice);
    const std::vector<double> steps = steps_taken(*body.model, fast);
    AviExplicit slow(*body.model, steps);
    State a = reference_state(*body.model), b = a;
    for (std::size_t i = 0; i < a.velocity.size(); i += 2)
      b.velocity[i] = a.velocity[i] = 0.01 * std::sin(0.5 * std::numbers::pi * body.model->reference()[i]);
    EXPECT_GT(smallest(steps) * largest_damping_rate(*body.model, a.displacement), 50.0 * beta);  // stiff
    fast.advance_to(a, 3.0);
    slow.advance_to(b, 3.0);
    RecordProperty(std::to_string(beta), std::to_string(a.damping.work.value() / b.damping.work.value()));
    EXPECT_NEAR(a.damping.work.value() / b.damping.work.value(), 1.0, 0.02);
    EXPECT_LT(largest_difference(at(fast, a, 3.0).velocity, at(slow, b, 3.0).velocity), 2e-4);
  }
}

// Bonds of a rod held at one end, the slowest motion of the whole.
TEST(LatticeDampers, TakeOfSlowMotionsOfBondsWhatTheyShouldHoweverStiffDashpotsAreTogether) {
  constexpr Index count = 40;
  for (const double c : {3.0, 30.0}) {
    Model::Parts parts;
    parts.dim = 2;
    parts.shares = MassShares::balanced;
    std::vector<NodePair> pairs;
    for (Index i = 0; i < count; ++i)
      for (Index j = 0; j < 2; ++j) {
        parts.reference.insert(parts.reference.end(), {static_cast<double>(i), static_cast<double>(j)});
        parts.mass.push_back(1.0);
        const Index a = 2 * i + j;
        if (i > 0) pairs.push_back({make_id<NodeId>(a - 2), make_id<NodeId>(a)});
        if (j > 0) pairs.push_back({make_id<NodeId>(a - 1), make_id<NodeId>(a)});
      }
    parts.add(make_pairs(parts.reference, 2, parts.mass, pairs, Spring{1.0, 1.0}));
    host(parts, make_dashpots(parts.reference, 2, pairs, c));
    Support end{"end", {NodeId{0}, NodeId{1}}};
    end.motion[0] = end.motion[1] = Support::Motion::at_rest;
    std::vector<Support> supports;
    supports.push_back(std::move(end));
    parts.supports = Supports(std::move(supports), parts.reference, 2);
    const Model model(std::move(parts));
    const TickLattice lattice = lattice_of(own_steps(model, 0.8), LatticeRule::powers_of_two);
    AviLattice fast(model, lattice);
    const std::vector<double> steps = steps_taken(model, fast);
    AviExplicit slow(model, steps);
    State a = reference_state(model), b = a;
    for (std::size_t i = 0; i < a.velocity.size(); i += 2)
      b.velocity[i] = a.velocity[i] = 0.01 * std::sin(0.5 * std::numbers::pi * model.reference()[i] / (count - 1));
    fast.advance_to(a, 40.0);
    slow.advance_to(b, 40.0);
    const double ratio = a.damping.work.value() / b.damping.work.value();
    RecordProperty(std::to_string(c), std::to_string(ratio));
    EXPECT_NEAR(ratio, 1.0, 0.025);
    EXPECT_GT(smallest(steps) * largest_damping_rate(model, a.displacement), c);  // stiff
  }
}

// A body so viscous that an explicit kick would turn its velocities around: it comes to rest, and momenta stay.
TEST(LatticeDampers, TakeEnergyHoweverStiffTheyAre) {
  for (const Viscosity& of :
       {Viscosity{200.0, 100.0}, Viscosity{0.0, 100.0}, Viscosity{2e6, 1e6}, Viscosity{0.0, 1e6}}) {
    const Body body =
        make_body_with(tetrahedron_mesh(CellType::tetrahedron4, 2, 0.15, 15), NeoHookean{{1.3, 0.7}}, 1.2,
                       [&](const Mesh&, Model::Parts& parts) { host(parts, make_kelvin_voigt(cells_of(parts), of)); });
    const TickLattice lattice = lattice_of(own_steps(*body.model, 0.4), LatticeRule::powers_of_two);
    AviLattice avi(*body.model, lattice);
    State state = moving_state(body, 0.0, 0.2, 5);
    const double first = kinetic_energy(*body.model, state);
    for (double t = 0.01; t < 2.0; t += 0.01) {
      const double work = state.damping.work.value();
      avi.advance_to(state, t);
      EXPECT_LE(state.damping.work.value(), work);
    }
    EXPECT_LT(kinetic_energy(*body.model, state), 0.9 * first);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(state.damping.impulse[c].value(), 0.0, 1e-14);
  }
}

// Linear elastic cells may be pressed flat and turned inside out: the rate of deformation is then without bound.
TEST_P(EveryElement, IsFiniteWhereItIsFlat) {
  const Body body = viscous_body(GetParam().make(), false);
  const Model& model = *body.model;
  const auto d = static_cast<std::size_t>(model.dim());
  const LatticeGroups plan = with_one_step(model);
  State state = shaken(body);
  for (std::size_t i = 0; i < state.displacement.size(); i += d) state.displacement[i] = -body.mesh->points()[i];
  const Held held(plan.node_of_line.size());
  std::vector<std::array<double, 3>> withheld(held.size());
  for (Index k = 0; k < body.cells().size(); ++k) {
    const Force& force = *model.forces_within(make_id<TermId>(k)).front().force;
    LatticeNodes lines(model, plan, 1.0);
    lines.read(state);
    const auto kinetic = [&] {
      double sum = 0.0;
      for (const NodeLine& node : lines.lines())
        for (const double v : node.velocity) sum += 0.5 * v * v / node.inverse_mass;
      return sum;
    };
    const double before = kinetic();
    const std::vector<Index> elements = {k};
    const double work = force.damping_batch(model.dim(), elements, plan.line_of_node, held)
                            ->resist(0, 1, {0.0, 0.2, 0.4, false, held, withheld}, lines.lines(), {});
    EXPECT_TRUE(std::isfinite(work));
    EXPECT_LE(kinetic(), before * (1.0 + 1e-6));
    std::vector<double> C(force.stencil(k).size() * d * force.stencil(k).size() * d, 0.0);
    force.add_damping(k, state.displacement, 0.0, C);
    for (const double c : C) EXPECT_TRUE(std::isfinite(c));
  }
}

}  // namespace
}  // namespace tempi::test
