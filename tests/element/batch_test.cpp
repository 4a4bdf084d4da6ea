// SPDX-License-Identifier: Apache-2.0
// Batches do what the loop over add_gradient does, with every instruction set this machine has.
#include "tempi/potential/batch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "support/measured_batches.hpp"
#include "tempi/simd/pack.hpp"

namespace tempi {
namespace {

using namespace test;
constexpr double step = strike_step;
constexpr double infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

// ---- bodies ----

struct Case {
  std::string name;
  std::function<Mesh()> mesh;
  double distance;  // between neighbouring nodes, about [m]
  Material material;
  std::string instructions;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name << ", " << test::name_of(c.material) << ", " << c.instructions;
}

std::string name(const testing::TestParamInfo<Case>& info) {
  std::string text = info.param.name + "_" + test::name_of(info.param.material) + "_" + info.param.instructions;
  std::ranges::replace(text, '-', '_');
  return text;
}

std::vector<Case> cases() {
  using enum CellType;
  std::vector<Case> all;
  for (const std::string& instructions : instruction_sets())
    for (const Material& material : test::materials()) {
      const auto add = [&](std::string name, std::function<Mesh()> mesh, double distance) {
        all.push_back({std::move(name), std::move(mesh), distance, material, instructions});
      };
      add(
          "line2", [] { return test::bar_mesh(41, 0.15, 11); }, 1.0 / 41);
      add(
          "triangle3", [] { return test::triangle_mesh(triangle3, 4, 0.15, 12); }, 0.25);
      add(
          "triangle6", [] { return test::triangle_mesh(triangle6, 4, 0.15, 13); }, 0.125);
      add(
          "curved_triangle6", [] { return test::triangle_mesh(triangle6, 4, 0.12, 14, 0.05); }, 0.125);
      add(
          "tetrahedron4", [] { return test::tetrahedron_mesh(tetrahedron4, 2, 0.15, 15); }, 0.5);
      add(
          "tetrahedron10", [] { return test::tetrahedron_mesh(tetrahedron10, 2, 0.15, 16); }, 0.25);
      add(
          "curved_tetrahedron10", [] { return test::tetrahedron_mesh(tetrahedron10, 2, 0.12, 17, 0.05); }, 0.25);
    }
  return all;
}

// The same cells, the first `count` of them, apart from each other: none shares a node.
Mesh apart(const Mesh& mesh, std::size_t count) {
  std::vector<double> points;
  std::vector<std::vector<int>> cells;
  int next = 0;
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<int> cell;
    for (const NodeId a : mesh.cells()[static_cast<Index>(k)]) {
      const auto X = mesh.point(a);
      points.insert(points.end(), X.begin(), X.end());
      cell.push_back(next++);
    }
    cells.push_back(std::move(cell));
  }
  return test::mesh_of(mesh.dim(), std::move(points), mesh.cells().types.front(), cells);
}

class BatchOf : public testing::TestWithParam<Case> {
 protected:
  test::Body body = test::make_body(GetParam().mesh(), GetParam().material, 1.2);
  Instructions instructions{GetParam().instructions};
  const Potential& potential = body.model->potential(0);
  std::vector<Index> terms = shuffled_terms(potential, 5);
  Index size = potential.size();

  // Within +- a part of the distance of the nodes.
  std::vector<double> displacements(double part, unsigned seed) const {
    return test::random_displacements(*body.mesh, part * GetParam().distance, seed);
  }
};

TEST_P(BatchOf, cells_does_what_the_loop_over_terms_does) {
  for (const unsigned seed : {1U, 2U, 3U}) EXPECT_LT(deviation(potential, terms, displacements(0.05, seed)), 1e-12);
}

TEST_P(BatchOf, cells_may_leave_lanes_over) {
  for (const std::size_t count : {1u, 2u, 3u, 7u, 8u, 9u, 15u, 16u, 17u, 31u})
    EXPECT_LT(deviation(potential, std::span(terms).first(count), displacements(0.05, 4)), 1e-12) << count;
}

// Strains enter as displacement gradients: no digit of a small one is lost.
TEST_P(BatchOf, cells_keeps_the_digits_of_small_strains) {
  for (const double strain : {1e-3, 1e-9, 1e-15, 1e-100})
    EXPECT_LT(deviation(potential, terms, displacements(strain, 6)), 1e-12) << strain;
}

TEST_P(BatchOf, cells_changes_with_its_hessians) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{17}, terms.size()})
    EXPECT_LT(deviation_of_change(potential, std::span(terms).first(count), displacements(0.05, 4),
                                  displacements(0.1, 8)),
              1e-12)
        << count;
}

TEST_P(BatchOf, cells_measures_the_energies_and_gradients_of_its_terms) {
  for (const double part : {0.05, 1e-3, 1e-9})
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{17}, terms.size()}) {
      const auto [energy, gradient] =
          deviations_of_measured(potential, std::span(terms).first(count), displacements(part, 4));
      EXPECT_LT(energy, 1e-12) << part << ", " << count;
      EXPECT_LT(gradient, 1e-12) << part << ", " << count;
    }
}

TEST_P(BatchOf, cells_tells_which_term_is_crossed_soonest) {
  const Lines lines = lines_of(displacements(0.05, 4), potential.dim(), 1.0, 3);
  const auto batch = potential.batch(terms, lines.place);
  AlignedVector<NodeShift> reference(lines.nodes.size());
  const auto place = [&](NodeId a) { return lines.place[ordinal(a)]; };
  for (Index a = 0; a < body.mesh->node_count(); ++a) {
    const auto X = body.mesh->point(make_id<NodeId>(a));
    std::ranges::copy(X, reference[static_cast<std::size_t>(place(make_id<NodeId>(a)))].displacement);
  }
  double expected = infinite;
  for (const Index k : terms) {
    double nearest = infinite, fastest = 0.0;
    for (const NodeId a : potential.stencil(k))
      for (const NodeId b : potential.stencil(k)) {
        if (a == b) continue;
        double distance = 0.0, speed = 0.0;
        for (std::size_t c = 0; c < static_cast<std::size_t>(potential.dim()); ++c) {
          const auto i = static_cast<std::size_t>(place(a)), j = static_cast<std::size_t>(place(b));
          distance += std::pow(reference[i].displacement[c] + lines.nodes[i].displacement[c] -
                                   reference[j].displacement[c] - lines.nodes[j].displacement[c],
                               2);
          speed += std::pow(lines.nodes[i].velocity[c] - lines.nodes[j].velocity[c], 2);
        }
        nearest = std::min(nearest, distance);
        fastest = std::max(fastest, speed);
      }
    expected = std::min(expected, nearest / fastest);
  }
  AlignedVector<double> flight(static_cast<std::size_t>(2 * Batch::padded(size) * batch->followed()));
  EXPECT_NEAR(batch->depart(0, size, lines.nodes, reference, 0.0, flight), expected, 1e-12 * expected);
  EXPECT_EQ(batch->depart(0, size, lines.nodes, reference, 1e9, flight), infinite);  // all of it rounding
}

TEST_P(BatchOf, cells_measured_in_parts_gives_the_same_bits) {
  const Lines lines = lines_of(displacements(0.05, 7), potential.dim(), 1.0, 3);
  const auto batch = potential.batch(terms, lines.place);
  const Measured whole = measured(*batch, 0, size, lines.nodes);
  Measured parts;
  for (Index first = 0; first < size; first += Batch::grain) {
    const Measured part = measured(*batch, first, std::min(first + Batch::grain, size), lines.nodes);
    parts.energies.insert(parts.energies.end(), part.energies.begin(), part.energies.end());
    parts.gradients.insert(parts.gradients.end(), part.gradients.begin(), part.gradients.end());
  }
  EXPECT_TRUE(test::same_bits(parts.energies, whole.energies));
  EXPECT_TRUE(test::same_bits(parts.gradients, whole.gradients));
}

TEST_P(BatchOf, cells_struck_in_parts_adds_up_to_the_whole_to_the_bit) {
  const std::vector<double> u = displacements(0.05, 7);
  const Lines start = lines_of(u, potential.dim(), 1.0, 3);
  const auto batch = potential.batch(terms, start.place);
  Lines whole = start;
  batch->strike(0, size, step, time_now, whole.nodes);
  EXPECT_FALSE(same_bits(whole, start));
  for (const Index part : {Batch::grain, 2 * Batch::grain}) {
    Lines parts = start;
    for (Index first = 0; first < size; first += part)
      EXPECT_TRUE(batch->strike(first, std::min(first + part, size), step, time_now, parts.nodes));
    EXPECT_TRUE(same_bits(parts, whole)) << part;
  }
}

TEST_P(BatchOf, cells_struck_with_the_opposite_step_undoes_it_to_rounding) {
  const std::vector<double> u = displacements(0.05, 8);
  const Lines start = lines_of(u, potential.dim(), 1.0, 3);
  const auto batch = potential.batch(terms, start.place);
  Lines lines = start;
  batch->strike(0, size, step, time_now, lines.nodes);
  double fastest = 0.0, left = 0.0;
  for (const NodeLine& node : lines.nodes) fastest = std::max(fastest, largest(node.velocity));
  batch->strike(0, size, -step, time_now, lines.nodes);
  for (std::size_t i = 0; i < lines.nodes.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c)
      left = std::max(left, std::abs(lines.nodes[i].velocity[c] - start.nodes[i].velocity[c]));
  EXPECT_LT(left, 1e-14 * fastest);  // up to 24 cells a node, each rounded twice: 48 * 1.1e-16, with room for 2
}

TEST_P(BatchOf, cells_changes_nothing_but_velocities) {
  const std::vector<double> u = displacements(0.05, 9);
  const Lines start = lines_of(u, potential.dim(), 1.0, 3);
  Lines lines = start;
  const auto some = std::span(terms).first(5);
  potential.batch(some, start.place)->strike(0, 5, step, time_now, lines.nodes);
  const auto d = static_cast<std::size_t>(potential.dim());
  std::vector<bool> touched(start.place.size(), false);
  for (const Index k : some)
    for (const NodeId a : potential.stencil(k)) touched[static_cast<std::size_t>(index(a))] = true;
  for (std::size_t a = 0; a < touched.size(); ++a) {
    const auto id = make_id<NodeId>(static_cast<Index>(a));
    NodeLine expected = start.of(id);
    if (touched[a]) std::copy_n(lines.of(id).velocity, d, expected.velocity);
    EXPECT_TRUE(same_bits(lines.of(id), expected)) << "node " << a;
  }
}

TEST_P(BatchOf, cells_feels_nothing_of_a_translation) {
  std::vector<double> u(body.mesh->points().size());
  for (std::size_t i = 0; i < u.size(); ++i)
    u[i] = std::array{1e3, -2e3, 512.7}[i % static_cast<std::size_t>(potential.dim())];
  const Lines start = lines_of(u, potential.dim(), 1.0, 3);
  Lines lines = start;
  EXPECT_TRUE(potential.batch(terms, start.place)->strike(0, size, step, time_now, lines.nodes));
  EXPECT_TRUE(same_bits(lines, start));
}

TEST_P(BatchOf, cells_feels_rounding_only_of_a_rigid_motion_unless_linear) {
  if (!test::is_frame_indifferent(GetParam().material)) return;
  const std::vector<double> u = test::rigid_displacements(*body.mesh, 0.7, {0.3, -0.2, 0.5});
  Lines lines = lines_of(u, potential.dim(), 0.0, 3);
  EXPECT_TRUE(potential.batch(terms, lines.place)->strike(0, size, step, time_now, lines.nodes));
  double impulse = 0.0;
  for (const NodeLine& node : lines.nodes) impulse = std::max(impulse, largest(node.velocity) / node.inverse_mass);
  // Strains are rounded to 1e-16 * |u| / distance; strains of 0.1 give the scale.
  EXPECT_LT(impulse, 1e-13 * 10.0 * largest(loop(potential, terms, displacements(0.05, 1)).impulse));
}

INSTANTIATE_TEST_SUITE_P(EveryElementMaterialAndInstructionSet, BatchOf, testing::ValuesIn(cases()), name);

// ---- inadmissible cells ----

// 19 cells, none sharing a node with another.
class BatchOfCellsApart : public BatchOf {
 protected:
  static constexpr Index count = 19;
  test::Body separate = test::make_body(apart(*body.mesh, count), GetParam().material, 1.2);
  const Potential& cells = separate.model->potential(0);
  std::vector<double> u = test::random_displacements(*separate.mesh, 0.1 * GetParam().distance, 2);
  std::vector<Index> in_order = [] {
    std::vector<Index> k(count);
    std::iota(k.begin(), k.end(), Index{0});
    return k;
  }();

  double& displacement(std::vector<double>& of, NodeId a, int c) const {
    return of[static_cast<std::size_t>(index(a) * cells.dim() + c)];
  }
  std::vector<double> mirrored(Index k) const {
    std::vector<double> v = u;
    for (const NodeId a : cells.stencil(k)) displacement(v, a, 0) -= 2.0 * separate.mesh->point(a)[0];
    return v;
  }
  std::vector<double> broken(Index k, double by) const {
    std::vector<double> v = u;
    displacement(v, cells.stencil(k)[static_cast<std::size_t>(k) % cells.stencil(k).size()], 0) = by;
    return v;
  }
  // Strikes [first, last) at v.
  bool strike(const std::vector<double>& v, Index first, Index last, Lines& lines) const {
    lines = lines_of(v, cells.dim(), 1.0, 3);
    return cells.batch(in_order, lines.place)->strike(first, last, step, time_now, lines.nodes);
  }
};

TEST_P(BatchOfCellsApart, tells_one_inadmissible_cell_in_whichever_lane) {
  Lines lines;
  EXPECT_TRUE(strike(u, 0, count, lines));
  for (Index k = 0; k < count; ++k)
    for (const auto& v : {mirrored(k), broken(k, nan), broken(k, infinite), broken(k, -infinite)}) {
      EXPECT_FALSE(strike(v, 0, count, lines)) << k;
      EXPECT_EQ(strike(v, 0, Batch::grain, lines), k >= Batch::grain) << k;
      EXPECT_EQ(strike(v, Batch::grain, count, lines), k < Batch::grain) << k;
    }
}

TEST_P(BatchOfCellsApart, keeps_the_kicks_of_an_inadmissible_cell_from_the_others) {
  Lines good;
  strike(u, 0, count, good);
  for (const Index k : {0, 3, 8, 16, 18})
    for (const auto& v : {mirrored(k), broken(k, nan)}) {
      Lines lines;
      strike(v, 0, count, lines);
      for (Index other = 0; other < count; ++other)
        for (const NodeId a : cells.stencil(other))
          EXPECT_TRUE(other == k || same_bits(lines.of(a), good.of(a))) << "cell " << other << " beside " << k;
    }
}

// Deformed so much that about every other cell is inverted somewhere.
TEST_P(BatchOfCellsApart, judges_every_cell_as_the_loop_does) {
  Index bad = 0, all = 0;
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U}) {
    const std::vector<double> v = test::random_displacements(*separate.mesh, 0.6 * GetParam().distance, seed);
    for (Index k = 0; k < count; ++k) {
      const std::vector<Index> one = {k};
      Lines lines = lines_of(v, cells.dim(), 1.0, 3);
      const bool admissible = loop(cells, one, v).admissible;
      EXPECT_EQ(cells.batch(one, lines.place)->strike(0, 1, step, time_now, lines.nodes), admissible) << k;
      bad += admissible ? 0 : 1;
      ++all;
    }
  }
  EXPECT_GT(bad, 0);
  EXPECT_LT(bad, all);
}

INSTANTIATE_TEST_SUITE_P(EveryElementMaterialAndInstructionSet, BatchOfCellsApart, testing::ValuesIn(cases()), name);

// Not all cells need be in a batch, and several batches may share the nodes.
TEST(Batches, of_half_the_cells_each_do_together_what_one_of_all_does) {
  const test::Body body =
      test::make_body(test::tetrahedron_mesh(CellType::tetrahedron4, 3, 0.15, 15), NeoHookean{{1.3, 0.7}}, 1.2);
  const Potential& cells = body.model->potential(0);
  const std::vector<double> u = test::random_displacements(*body.mesh, 0.02, 1);
  std::vector<Index> terms = shuffled_terms(cells, 5), even, odd;
  for (const Index k : terms) (k % 2 == 0 ? even : odd).push_back(k);
  Lines one = lines_of(u, 3, 1.0, 3), two = one;
  cells.batch(terms, one.place)->strike(0, cells.size(), step, 0.0, one.nodes);
  cells.batch(even, two.place)->strike(0, static_cast<Index>(even.size()), step, 0.0, two.nodes);
  cells.batch(odd, two.place)->strike(0, static_cast<Index>(odd.size()), step, 0.0, two.nodes);
  for (std::size_t i = 0; i < one.nodes.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(one.nodes[i].velocity[c], two.nodes[i].velocity[c], 1e-13);
}

TEST(InstructionSet, asked_for_too_much_are_those_the_machine_has) {
  const std::vector<std::string> sets = instruction_sets();
  ASSERT_FALSE(sets.empty());
  EXPECT_EQ(sets.front(), "baseline");
  for (const std::string wish : {"avx512", "", "no such instructions"}) {
    const Instructions asked(wish);
    EXPECT_EQ(name_of(instruction_set()), sets.back()) << wish;
  }
  for (const std::string& wish : sets) {
    const Instructions asked(wish);
    EXPECT_EQ(Batch::grain % pack_width(), 0);
  }
}

// ---- potentials of users ----

// Springs between nodes that stiffen with time: V = (1 + t) k (|x_b - x_a| - L)^2 / 2. All they override is what they
// must. A spring whose length is not a positive number is not admissible.
class Springs final : public LocalPotential {
 public:
  struct Spring {
    std::array<NodeId, 2> nodes;
    double stiffness, length;
  };
  Springs(const Mesh& mesh, std::vector<Spring> springs) : mesh_(mesh), springs_(std::move(springs)) {}

  Index size() const override { return static_cast<Index>(springs_.size()); }
  int dim() const override { return mesh_.dim(); }
  std::span<const NodeId> stencil(Index k) const override { return springs_[static_cast<std::size_t>(k)].nodes; }
  double energy(Index k, std::span<const double> u, double t) const override {
    const Spring& s = springs_[static_cast<std::size_t>(k)];
    const double stretch = norm(way(s, u)) - s.length;
    return 0.5 * (1.0 + t) * s.stiffness * stretch * stretch;
  }
  double add_gradient(Index k, std::span<const double> u, double t, std::span<double> g) const override {
    const Spring& s = springs_[static_cast<std::size_t>(k)];
    const std::vector<double> w = way(s, u);
    const double length = norm(w), pull = (1.0 + t) * s.stiffness * (length - s.length) / length;
    for (std::size_t c = 0; c < w.size(); ++c) {
      g[c] -= pull * w[c];
      g[w.size() + c] += pull * w[c];
    }
    return length;
  }
  void add_hessian(Index, std::span<const double>, double, std::span<double>) const override {}
  double mass(Index, std::size_t) const override { return 1.0; }
  std::string describe(Index k) const override { return "spring " + std::to_string(k); }

 private:
  std::vector<double> way(const Spring& s, std::span<const double> u) const {
    const auto d = static_cast<std::size_t>(mesh_.dim());
    std::vector<double> w(d);
    for (std::size_t c = 0; c < d; ++c)
      w[c] = mesh_.point(s.nodes[1])[c] + u[static_cast<std::size_t>(index(s.nodes[1])) * d + c] -
             mesh_.point(s.nodes[0])[c] - u[static_cast<std::size_t>(index(s.nodes[0])) * d + c];
    return w;
  }
  static double norm(const std::vector<double>& w) {
    return std::sqrt(std::inner_product(w.begin(), w.end(), w.begin(), 0.0));
  }

  const Mesh& mesh_;
  std::vector<Spring> springs_;
};

// A spring between every node and another one chosen by chance.
Springs random_springs(const Mesh& mesh) {
  test::Random random(4);
  std::vector<Springs::Spring> springs;
  for (Index a = 0; a < mesh.node_count(); ++a) {
    const Index b = (a + 1 + random.below(mesh.node_count() - 1)) % mesh.node_count();
    springs.push_back({{make_id<NodeId>(a), make_id<NodeId>(b)}, random.uniform(0.5, 2.0), random.uniform(0.2, 1.0)});
  }
  return {mesh, std::move(springs)};
}

std::vector<Mesh> meshes() {
  std::vector<Mesh> all;
  all.push_back(test::bar_mesh(40, 0.15, 11));
  all.push_back(test::triangle_mesh(CellType::triangle3, 6, 0.15, 12));
  all.push_back(test::tetrahedron_mesh(CellType::tetrahedron4, 3, 0.15, 15));
  return all;
}

TEST(BatchOfAUsersPotential, does_what_the_loop_over_terms_does) {
  for (const Mesh& mesh : meshes()) {
    const Springs springs = random_springs(mesh);
    const std::vector<double> u = test::random_displacements(mesh, 0.01, 1);
    const std::vector<Index> terms = shuffled_terms(springs, 5);
    for (const std::size_t count : {std::size_t{1}, std::size_t{17}, terms.size()})
      EXPECT_LT(deviation(springs, std::span(terms).first(count), u), 1e-12) << mesh.dim() << "-D, " << count;
  }
}

TEST(BatchOfAUsersPotential, measures_the_energies_and_gradients_of_its_terms) {
  for (const Mesh& mesh : meshes()) {
    const Springs springs = random_springs(mesh);
    const auto [energy, gradient] =
        deviations_of_measured(springs, shuffled_terms(springs, 5), test::random_displacements(mesh, 0.01, 1));
    EXPECT_LT(energy, 1e-12);
    EXPECT_LT(gradient, 1e-12);
  }
}

TEST(BatchOfAUsersPotential, struck_in_parts_adds_up_to_the_whole_to_the_bit) {
  for (const Mesh& mesh : meshes()) {
    const Springs springs = random_springs(mesh);
    const std::vector<Index> terms = shuffled_terms(springs, 5);
    Lines whole = lines_of(test::random_displacements(mesh, 0.01, 1), mesh.dim(), 1.0, 3), parts = whole;
    const auto batch = springs.batch(terms, whole.place);
    batch->strike(0, springs.size(), step, time_now, whole.nodes);
    for (Index first = 0; first < springs.size(); first += Batch::grain)
      batch->strike(first, std::min(first + Batch::grain, springs.size()), step, time_now, parts.nodes);
    EXPECT_TRUE(same_bits(parts, whole));
  }
}

TEST(BatchOfAUsersPotential, changes_nothing_but_velocities) {
  for (const Mesh& mesh : meshes()) {
    const Springs springs = random_springs(mesh);
    const Lines start = lines_of(test::random_displacements(mesh, 0.01, 1), mesh.dim(), 1.0, 3);
    Lines lines = start;
    springs.batch(std::vector<Index>{2, 5}, start.place)->strike(0, 2, step, time_now, lines.nodes);
    Index changed = 0;
    for (std::size_t i = 0; i < lines.nodes.size(); ++i) {
      changed += same_bits(lines.nodes[i], start.nodes[i]) ? 0 : 1;
      std::copy_n(start.nodes[i].velocity, mesh.dim(), lines.nodes[i].velocity);
    }
    EXPECT_GE(changed, 3);
    EXPECT_LE(changed, 4);
    EXPECT_TRUE(same_bits(lines, start));
  }
}

TEST(BatchOfAUsersPotential, tells_an_inadmissible_term) {
  const Mesh mesh = test::triangle_mesh(CellType::triangle3, 6, 0.15, 12);
  const Springs springs = random_springs(mesh);
  const std::vector<Index> terms = shuffled_terms(springs, 5);
  for (const double bad : {nan, infinite}) {
    std::vector<double> u = test::random_displacements(mesh, 0.01, 1);
    u[2 * static_cast<std::size_t>(index(springs.stencil(terms[20])[0]))] = bad;
    Lines lines = lines_of(u, 2, 1.0, 3);
    EXPECT_FALSE(springs.batch(terms, lines.place)->strike(0, springs.size(), step, time_now, lines.nodes));
  }
}

// ---- the logarithm of the kernels ----

double units_in_the_last_place(double x) {
  const Pack<2> result = log1p(Pack<2>(Pack<2>::Values{x, 0.5}));
  const long double exact = log1pl(static_cast<long double>(x));
  const auto magnitude = static_cast<double>(std::abs(exact));
  const double unit = std::nextafter(magnitude, infinite) - magnitude;
  return static_cast<double>(std::abs(static_cast<long double>(result.v[0]) - exact)) / unit;
}

TEST(PackLog1p, is_accurate_to_three_units_in_the_last_place_from_near_minus_one_to_1e300) {
  double worst = 0.0;
  test::Random random(1);
  for (int i = 0; i < 200000; ++i) {
    const double small = std::pow(10.0, random.uniform(-300.0, 0.0));
    for (const double x : {random.uniform(-0.999999, 1.0), random.uniform(-0.1, 0.1), -0.999999 * small, small,
                           std::pow(10.0, random.uniform(0.0, 300.0))})
      worst = std::max(worst, units_in_the_last_place(x));
  }
  RecordProperty("units", std::to_string(worst));
  EXPECT_LT(worst, 3.0);
}

// Where the fraction wraps (sqrt 2 times powers of two) and where the exponent changes.
TEST(PackLog1p, is_accurate_to_three_units_in_the_last_place_where_its_pieces_meet) {
  double worst = 0.0;
  for (const double factor : {1.0, std::sqrt(0.5)})
    for (int k = -20; k <= 60; ++k) {
      const double y = std::ldexp(factor, k);
      for (const double centre : {y - 1.0, y, -y}) {
        double up = centre, down = centre;
        for (int i = 0; i < 50; ++i) {
          for (const double x : {up, down})
            if (x > -0.999999 && x != 0.0) worst = std::max(worst, units_in_the_last_place(x));
          up = std::nextafter(up, infinite);
          down = std::nextafter(down, -infinite);
        }
      }
    }
  RecordProperty("units", std::to_string(worst));
  EXPECT_LT(worst, 3.0);
}

// x - ln(1 + x), of what the logarithm is made of: relative, also where it is x^2 / 2 of a small x.
TEST(PackLog1p, gives_what_it_falls_short_of_x_without_cancellation) {
  double worst = 0.0, of_a_difference = 0.0;
  test::Random random(2);
  for (int i = 0; i < 200000; ++i) {
    const double small = std::pow(10.0, random.uniform(-150.0, -1.0));
    for (const double x : {random.uniform(-0.9, 3.0), random.uniform(-0.21, 0.21), -small, small}) {
      const auto wide = static_cast<long double>(x);
      const long double exact = material_detail::excess_over_log(wide, log1pl(wide));
      const auto error = [&](double value) {
        return static_cast<double>(std::abs((static_cast<long double>(value) - exact) / exact));
      };
      worst = std::max(worst, error(log_of_one_plus(Pack<2>(x)).excess().v[0]));
      of_a_difference = std::max(of_a_difference, error(x - log1p(Pack<2>(x)).v[0]));
    }
  }
  RecordProperty("relative", std::to_string(worst / std::numeric_limits<double>::epsilon()));
  EXPECT_LT(worst, 8.0 * std::numeric_limits<double>::epsilon());
  EXPECT_GT(of_a_difference, 0.1);  // control
}

TEST(PackLog1p, of_zero_is_zero) {
  const Pack<2> result = log1p(Pack<2>(0.0));
  EXPECT_EQ(result.v[0], 0.0);
  EXPECT_EQ(result.v[1], 0.0);
  EXPECT_EQ(log_of_one_plus(Pack<2>(0.0)).excess().v[0], 0.0);
}

}  // namespace
}  // namespace tempi
