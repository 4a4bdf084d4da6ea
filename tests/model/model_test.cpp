// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include "support/meshes.hpp"
#include "tempi/core/error.hpp"
#include "tempi/force/loads.hpp"
#include "tempi/pair/pairs.hpp"

namespace tempi {
namespace {

const Material material = NeoHookean{{1.3, 0.7}};

VectorExpression uniform(int dim, double value) {
  std::vector<Expression> all;
  for (int c = 0; c < dim; ++c) all.emplace_back(value);
  return VectorExpression(std::move(all));
}

// Two potentials over alternating cells of one mesh.
Model::Parts striped(const Mesh& mesh) {
  std::vector<CellId> even, odd;
  for (Index c = 0; c < mesh.cells().size(); ++c) (c % 2 == 0 ? even : odd).push_back(make_id<CellId>(c));
  Model::Parts parts = test::elastic_parts(mesh, material, 1.0);
  parts.potentials.clear();
  parts.potentials.push_back(make_elastic_cells(mesh, mesh.cells().types[0], even, material, 1.0));
  parts.potentials.push_back(make_elastic_cells(mesh, mesh.cells().types[0], odd, SaintVenantKirchhoff{{1, 1}}, 1.0));
  return parts;
}

TEST(Model, numbers_terms_through_all_potentials_in_their_order) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 3);
  const Model model(striped(mesh));
  EXPECT_EQ(model.term_count(), 18);
  EXPECT_EQ(model.potential_count(), 2);
  EXPECT_EQ(model.first_term(0), TermId{0});
  EXPECT_EQ(model.first_term(1), TermId{9});
  Index i = 0;
  for (Index p = 0; p < 2; ++p)
    for (Index k = 0; k < model.potential(p).size(); ++k, ++i) {
      const auto term = model.term(make_id<TermId>(i));
      EXPECT_EQ(term.potential, &model.potential(p));
      EXPECT_EQ(term.k, k);
      EXPECT_EQ(dynamic_cast<const ElasticCells&>(*term.potential).cell(k), make_id<CellId>(2 * k + p));
    }
}

TEST(Model, skips_potentials_without_terms) {
  const Mesh mesh = test::bar_mesh(2);
  Model::Parts parts = test::elastic_parts(mesh, material, 1.0);
  parts.potentials.insert(parts.potentials.begin(), make_elastic_cells(mesh, CellType::line2, {}, material, 1.0));
  const Model model(std::move(parts));
  EXPECT_EQ(model.term_count(), 2);
  EXPECT_EQ(model.term(TermId{0}).potential, &model.potential(1));
}

TEST(Model, a_node_without_a_positive_finite_mass_is_refused) {
  const Mesh mesh = test::bar_mesh(2);
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    Model::Parts parts = test::elastic_parts(mesh, material, 1.0);
    parts.mass[1] = bad;
    try {
      const Model model(std::move(parts));
      FAIL() << bad;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("node 1"), std::string::npos) << e.what();
    }
  }
}

TEST(Model, masses_alone_make_a_model) {
  Model::Parts parts;
  parts.dim = 2;
  parts.reference = {0, 0, 1, 0};
  parts.mass = {1, 2};
  const Model model(std::move(parts));
  EXPECT_EQ(model.term_count(), 0);
  EXPECT_EQ(model.node_count(), 2);
  EXPECT_EQ(model.mass(NodeId{1}), 2.0);
}

TEST(Model, largest_stencil_is_that_of_its_widest_term) {
  EXPECT_EQ(test::make_body(test::bar_mesh(2), material, 1.0).model->largest_stencil(), 2u);
  const auto solid = test::make_body(test::tetrahedron_mesh(CellType::tetrahedron10, 1), material, 1.0);
  EXPECT_EQ(solid.model->largest_stencil(), 10u);
}

TEST(Model, without_forces_nothing_acts_within_a_term) {
  const auto body = test::make_body(test::bar_mesh(2), material, 1.0);
  EXPECT_FALSE(body.model->has_forces());
  EXPECT_TRUE(body.model->forces_within(TermId{1}).empty());
}

// Every element of every force acts within exactly one term: the one of its host cell, at its own nodes.
TEST(Model, forces_act_within_the_terms_of_their_host_cells_each_once) {
  const Mesh mesh = test::tetrahedron_mesh(CellType::tetrahedron10, 2, 0.1, 3);
  Model::Parts parts = striped(mesh);
  std::vector<const ElasticCells*> cells;
  for (const auto& p : parts.potentials) cells.push_back(dynamic_cast<const ElasticCells*>(p.get()));
  const auto corner = test::nodes_of(mesh, "left");
  std::map<const Force*, std::vector<CellId>> hosts;
  const auto add = [&](CellLoad load) {
    hosts[load.force.get()] = load.hosts;
    test::add_force(parts, std::move(load));
  };
  add(make_gravity(mesh, *cells[1], {}, uniform(3, 1.0)));
  add(make_pressure(mesh, boundary_facets(mesh), Expression(1.0), PressureFrame::deformed));
  add(make_nodal_force(mesh, cells, corner, uniform(3, 1.0)));
  std::vector<std::pair<const Force*, Index>> expected, found;
  for (const auto& f : parts.forces)
    for (Index e = 0; e < f->size(); ++e) expected.emplace_back(f.get(), e);
  const Model model(std::move(parts));
  for (Index i = 0; i < model.term_count(); ++i) {
    const auto term = model.term(make_id<TermId>(i));
    for (const HostedForce& h : model.forces_within(make_id<TermId>(i))) {
      found.emplace_back(h.force, h.element);
      EXPECT_EQ(hosts.at(h.force)[static_cast<std::size_t>(h.element)],
                dynamic_cast<const ElasticCells&>(*term.potential).cell(term.k));
      const auto nodes = h.force->stencil(h.element);
      ASSERT_EQ(h.local.size(), nodes.size());
      for (std::size_t a = 0; a < nodes.size(); ++a) EXPECT_EQ(term.stencil()[h.local[a]], nodes[a]);
    }
  }
  std::ranges::sort(expected);
  std::ranges::sort(found);
  EXPECT_EQ(found, expected);
}

TEST(NodeTerms, list_for_every_node_the_terms_that_touch_it_in_order) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle6, 3);
  const Model model(striped(mesh));
  const NodeTerms around = node_terms(model);
  for (Index a = 0; a < model.node_count(); ++a) {
    std::vector<TermId> expected;
    for (Index i = 0; i < model.term_count(); ++i) {
      const auto stencil = model.term(make_id<TermId>(i)).stencil();
      if (std::ranges::find(stencil, make_id<NodeId>(a)) != stencil.end()) expected.push_back(make_id<TermId>(i));
    }
    const auto found = around[make_id<NodeId>(a)];
    EXPECT_EQ((std::vector<TermId>(found.begin(), found.end())), expected);
  }
}

TEST(State, starts_at_rest_in_the_reference_configuration) {
  const auto body = test::make_body_held_at(test::triangle_mesh(CellType::triangle3, 2), material, 1.0, "left");
  const State state = reference_state(*body.model);
  EXPECT_EQ(state.displacement, std::vector<double>(18, 0.0));
  EXPECT_EQ(state.velocity, std::vector<double>(18, 0.0));
  EXPECT_EQ(state.clock, std::vector<double>(9, 0.0));
  EXPECT_EQ(state.supports.size(), 1u);
  EXPECT_EQ(state.loads.work.value(), 0.0);
}

Ledger booked(double impulse, double moment, double work) {
  Ledger ledger;
  for (auto& p : ledger.impulse) p += impulse++;
  for (auto& m : ledger.moment) m += moment++;
  ledger.work += work;
  return ledger;
}

State busy_state(const Model& model) {
  State state = reference_state(model);
  test::Random random(7);
  for (auto* values : {&state.displacement, &state.velocity, &state.clock})
    for (double& v : *values) v = random.uniform(-1.0, 1.0);
  state.loads = booked(1, 4, 7);
  state.loads.work += 1e-30;  // what a plain sum would have lost
  state.damping = booked(-2, 5, -8);
  state.supports[0] = booked(0.1, 0.4, 0.7);
  return state;
}

TEST(State, comes_back_from_an_archive_bit_for_bit) {
  const auto body = test::make_body_held_at(test::triangle_mesh(CellType::triangle3, 2), material, 1.0, "left");
  const State saved = busy_state(*body.model);
  std::stringstream stream;
  ArchiveWriter writer(stream);
  saved.save(writer);
  State loaded = reference_state(*body.model);
  ArchiveReader reader(stream);
  loaded.load(reader);
  EXPECT_EQ(loaded.displacement, saved.displacement);
  EXPECT_EQ(loaded.velocity, saved.velocity);
  EXPECT_EQ(loaded.clock, saved.clock);
  EXPECT_EQ(loaded.loads.impulse, saved.loads.impulse);
  EXPECT_EQ(loaded.loads.moment, saved.loads.moment);
  EXPECT_EQ(loaded.loads.work.value(), saved.loads.work.value());
  EXPECT_EQ(loaded.damping.impulse, saved.damping.impulse);
  EXPECT_EQ(loaded.damping.moment, saved.damping.moment);
  EXPECT_EQ(loaded.damping.work.value(), saved.damping.work.value());
  EXPECT_EQ(loaded.supports[0].impulse, saved.supports[0].impulse);
  EXPECT_EQ(loaded.supports[0].moment, saved.supports[0].moment);
  EXPECT_EQ(loaded.supports[0].work.value(), saved.supports[0].work.value());
}

TEST(State, of_another_model_is_refused) {
  const auto small = test::make_body_held_at(test::triangle_mesh(CellType::triangle3, 2), material, 1.0, "left");
  const auto large = test::make_body_held_at(test::triangle_mesh(CellType::triangle3, 3), material, 1.0, "left");
  std::stringstream stream;
  ArchiveWriter writer(stream);
  busy_state(*small.model).save(writer);
  State other = reference_state(*large.model);
  ArchiveReader reader(stream);
  EXPECT_THROW(other.load(reader), InputError);
}

// ---- shares of mass ----

Model with_shares(const Mesh& mesh, MassShares shares) {
  Model::Parts parts = test::elastic_parts(mesh, material, 2.0);
  parts.shares = shares;
  return Model(std::move(parts));
}

std::vector<double> shares_of(const Model& model, TermId id) {
  std::vector<double> room(model.largest_stencil());
  const auto shares = model.shares(id, room);
  return {shares.begin(), shares.end()};
}

// sum_Ka tr(K_aa) / m_Ka with the shares m_Ka times a factor that may depend on the term.
template <class Factor>
double squared_frequencies(const Model& model, Factor&& factor) {
  const auto d = static_cast<std::size_t>(model.dim());
  const std::vector<double> at_rest(model.reference().size(), 0.0);
  double sum = 0.0;
  for (Index i = 0; i < model.term_count(); ++i) {
    const auto [potential, k] = model.term(make_id<TermId>(i));
    const auto shares = shares_of(model, make_id<TermId>(i));
    const std::size_t n = shares.size() * d;
    std::vector<double> H(n * n, 0.0);
    potential->as_local()->add_hessian(k, at_rest, 0.0, H);
    for (std::size_t r = 0; r < n; ++r)
      sum += H[r * (n + 1)] / (shares[r / d] * factor(i, potential->stencil(k)[r / d]));
  }
  return sum;
}
double squared_frequencies(const Model& model) {
  return squared_frequencies(model, [](Index, NodeId) { return 1.0; });
}

TEST(MassShares, of_a_node_sum_to_its_mass_and_are_what_terms_brought_or_balanced) {
  for (const auto& c : test::mesh_cases()) {
    SCOPED_TRACE(c.name);
    const Mesh mesh = c.make();
    for (const MassShares rule : {MassShares::own, MassShares::balanced}) {
      const Model model = with_shares(mesh, rule);
      std::vector<double> sum(static_cast<std::size_t>(model.node_count()), 0.0);
      for (Index i = 0; i < model.term_count(); ++i) {
        const auto [potential, k] = model.term(make_id<TermId>(i));
        const auto shares = shares_of(model, make_id<TermId>(i));
        for (std::size_t a = 0; a < shares.size(); ++a) {
          EXPECT_GT(shares[a], 0.0);
          if (rule == MassShares::own) {
            EXPECT_EQ(shares[a], potential->mass(k, a));
          }
          sum[static_cast<std::size_t>(index(potential->stencil(k)[a]))] += shares[a];
        }
      }
      for (std::size_t a = 0; a < sum.size(); ++a) EXPECT_NEAR(sum[a], model.mass()[a], 1e-14 * model.mass()[a]);
    }
  }
}

// In space the trace of gravitation's Hessian is zero, and what rounding leaves of it must not share out masses: the
// sizes of its eigenvalues, in proportion to m_a m_b / r^3, do.
TEST(MassShares, of_gravitation_go_by_the_size_of_its_stiffness) {
  Model::Parts parts;
  parts.reference = {0.1, 0.2, 0.3, 1.3, -0.4, 0.8, -0.7, 1.9, 2.2, 2.0, 2.1, -0.6};
  parts.mass = {1.0, 2.0, 0.5, 1.5};
  std::vector<NodePair> pairs;
  for (Index a = 0; a < 4; ++a)
    for (Index b = a + 1; b < 4; ++b) pairs.push_back({make_id<NodeId>(a), make_id<NodeId>(b)});
  parts.add(make_pairs(parts.reference, 3, parts.mass, pairs, Gravitation{0.7}));
  parts.shares = MassShares::balanced;
  const Model model(std::move(parts));
  std::array<double, 4> sum{};
  std::vector<double> roots;
  for (const auto& [a, b] : pairs) {
    double square = 0.0;
    for (std::size_t c = 0; c < 3; ++c)
      square += std::pow(model.reference()[ordinal(b) * 3 + c] - model.reference()[ordinal(a) * 3 + c], 2);
    roots.push_back(std::sqrt(model.mass(a) * model.mass(b) * std::pow(square, -1.5)));
    for (const NodeId n : {a, b}) sum[ordinal(n)] += roots.back();
  }
  for (std::size_t k = 0; k < pairs.size(); ++k)
    for (std::size_t end = 0; end < 2; ++end) {
      const NodeId n = pairs[k][end];
      EXPECT_NEAR(shares_of(model, make_id<TermId>(static_cast<Index>(k)))[end],
                  model.mass(n) * roots[k] / sum[ordinal(n)], 1e-13);
    }
}

// The least sum of squared frequencies: below that of own shares, and any exchange between two terms at a node raises
// it.
TEST(MassShares, balanced_ones_make_the_squared_frequencies_least) {
  for (const auto& c : test::mesh_cases()) {
    SCOPED_TRACE(c.name);
    const Mesh mesh = c.make();
    const Model balanced = with_shares(mesh, MassShares::balanced);
    const double least = squared_frequencies(balanced);
    EXPECT_LT(least, squared_frequencies(with_shares(mesh, MassShares::own)));
    const NodeTerms around = node_terms(balanced);
    for (Index a = 0; a < balanced.node_count(); ++a) {
      const auto terms = around[make_id<NodeId>(a)];
      if (terms.size() < 2) continue;
      const auto share = [&](TermId id) {
        const auto stencil = balanced.term(id).stencil();
        return shares_of(
            balanced, id)[static_cast<std::size_t>(std::ranges::find(stencil, make_id<NodeId>(a)) - stencil.begin())];
      };
      const double given = 0.01 * std::min(share(terms[0]), share(terms[1]));
      for (const double sign : {1.0, -1.0})
        EXPECT_GT(squared_frequencies(balanced,
                                      [&](Index i, NodeId node) {
                                        if (node != make_id<NodeId>(a)) return 1.0;
                                        if (i == index(terms[0])) return 1.0 + sign * given / share(terms[0]);
                                        if (i == index(terms[1])) return 1.0 - sign * given / share(terms[1]);
                                        return 1.0;
                                      }),
                  least * (1.0 - 1e-14));
    }
  }
}

// Two bars of lengths L and L/32: k ~ 1/L, so the middle node's mass is shared 1 : sqrt(32), its ends have what they
// had.
TEST(MassShares, of_two_bars_are_as_the_roots_of_their_stiffnesses) {
  const Mesh mesh = test::mesh_of(1, {0.0, 1.0, 1.0 + 1.0 / 32.0}, CellType::line2, {{0, 1}, {1, 2}});
  const Model model = with_shares(mesh, MassShares::balanced);
  EXPECT_NEAR(shares_of(model, TermId{1})[0] / shares_of(model, TermId{0})[1], std::sqrt(32.0), 1e-12);
  EXPECT_DOUBLE_EQ(shares_of(model, TermId{0})[0], model.mass(NodeId{0}));
  EXPECT_DOUBLE_EQ(shares_of(model, TermId{1})[1], model.mass(NodeId{2}));
  const Model own = with_shares(mesh, MassShares::own);
  const std::vector<double> u(3, 0.0);
  EXPECT_GT(model.stable_step(TermId{1}, u), 1.3 * own.stable_step(TermId{1}, u));
  EXPECT_LT(model.stable_step(TermId{0}, u), own.stable_step(TermId{0}, u));
}

// ---- what a checkpoint is held against ----

struct Changes {
  Material material = NeoHookean{{1.3, 0.7}};
  double gravity = -1.0;
  std::string motion = "0.1*t";
  double density = 1.0;
};
std::uint64_t fingerprint_of(const Changes& c) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 2);
  Model::Parts parts = test::elastic_parts(mesh, c.material, c.density);
  const auto& cells = dynamic_cast<const ElasticCells&>(*parts.potentials[0]);
  parts.forces.push_back(make_gravity(mesh, cells, {0, 1, 2}, uniform(2, c.gravity)).force);
  parts.hosts.push_back({TermId{0}, TermId{1}, TermId{2}});
  Support support;
  support.name = "left";
  support.nodes = {NodeId{0}};
  support.motion[0] = Support::Motion::prescribed;
  support.displacement[0] = Expression(c.motion, {});
  std::vector<Support> supports;
  supports.push_back(std::move(support));
  parts.supports = Supports(std::move(supports), mesh.points(), 2);
  return Model(std::move(parts)).fingerprint();
}

TEST(Model, is_told_from_others_by_laws_loads_and_prescribed_motions) {
  const std::uint64_t own = fingerprint_of({});
  EXPECT_EQ(own, fingerprint_of({}));
  EXPECT_NE(own, fingerprint_of({.material = NeoHookean{{1.3, 0.70001}}}));
  EXPECT_NE(own, fingerprint_of({.material = SaintVenantKirchhoff{{1.3, 0.7}}}));  // the same stiffness at rest
  EXPECT_NE(own, fingerprint_of({.gravity = -1.0001}));
  EXPECT_NE(own, fingerprint_of({.motion = "0.1*t^2"}));
  EXPECT_NE(own, fingerprint_of({.density = 1.0001}));
}

// ---- forces that do not fit ----

TEST(Model, refuses_forces_whose_hosts_are_not_there_or_do_not_touch_their_nodes) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 2);
  const auto with_hosts = [&](std::vector<TermId> hosts) {
    Model::Parts parts = test::elastic_parts(mesh, material, 1.0);
    parts.forces.push_back(
        make_gravity(mesh, dynamic_cast<const ElasticCells&>(*parts.potentials[0]), {0, 1}, uniform(2, 1.0)).force);
    parts.hosts.push_back(std::move(hosts));
    return Model(std::move(parts));
  };
  EXPECT_NO_THROW(with_hosts({TermId{0}, TermId{1}}));
  EXPECT_THROW(with_hosts({TermId{0}}), InputError);
  EXPECT_THROW(with_hosts({TermId{0}, TermId{8}}), InputError);
  EXPECT_THROW(with_hosts({TermId{0}, make_id<TermId>(-1)}), InputError);
  EXPECT_THROW(with_hosts({TermId{0}, TermId{7}}), InputError);
}

}  // namespace
}  // namespace tempi
