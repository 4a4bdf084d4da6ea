// SPDX-License-Identifier: Apache-2.0
// The limit case: AVI whose steps are all equal is explicit Newmark; and no number of a node or an element matters.
#include <gtest/gtest.h>

#include "support/runs.hpp"

namespace tempi::test {
namespace {

// 1000 steps add at most 1000 roundings of 2.2e-16; nonlinear neighbours part by a factor of some tens in that time.
// Found: 2e-15 to 3e-14.
constexpr double tolerance = 1e-11;
constexpr double safety = 0.5;

struct Case {
  MeshCase mesh;
  Material material;
};
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const MeshCase& mesh : mesh_cases())
    for (const Material& material : materials()) all.push_back({mesh, material});
  return all;
}
void PrintTo(const Case& c, std::ostream* out) { *out << c.mesh.name << ", " << name_of(c.material); }
std::string name(const testing::TestParamInfo<Case>& info) {
  return plain(info.param.mesh.name + "_" + name_of(info.param.material));
}

// Linear elasticity knows small rotations only: no spin.
double spin_for(const Material& material) { return is_frame_indifferent(material) ? 0.3 : 0.0; }

template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[static_cast<std::size_t>(random.below(static_cast<Index>(i)))]);
}

// A random numbering of a cell's vertices that keeps its orientation: cyclic for triangles, even for tetrahedra.
std::vector<int> turned(CellType type, Random& random) {
  if (info(type).dim == 1) return {0, 1};
  if (info(type).dim == 2) {
    const auto k = static_cast<int>(random.below(3));
    return {k, (k + 1) % 3, (k + 2) % 3};
  }
  std::vector<int> order = {0, 1, 2, 3};
  shuffle(order, random);
  int inversions = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < i; ++j) inversions += order[j] > order[i] ? 1 : 0;
  if (inversions % 2 == 1) std::swap(order[0], order[1]);
  return order;
}

std::vector<NodeId> turned_cell(CellType type, std::span<const NodeId> nodes, Random& random) {
  const std::vector<int> order = turned(type, random);
  std::vector<NodeId> result;
  for (const int v : order) result.push_back(nodes[static_cast<std::size_t>(v)]);
  const auto edges = mid_edges(type);
  for (const auto& edge : edges) {
    const auto wanted = std::minmax(order[static_cast<std::size_t>(edge[0])], order[static_cast<std::size_t>(edge[1])]);
    for (std::size_t e = 0; e < edges.size(); ++e)
      if (std::minmax(edges[e][0], edges[e][1]) == std::pair<const int&, const int&>(wanted.first, wanted.second))
        result.push_back(nodes[static_cast<std::size_t>(info(type).vertices) + e]);
  }
  return result;
}

struct Relabelled {
  Mesh mesh;
  std::vector<std::size_t> node;  // new number of each old node
};
Relabelled relabelled(const Mesh& mesh, std::uint64_t seed) {
  Random random(seed);
  const auto d = static_cast<std::size_t>(mesh.dim());
  std::vector<std::size_t> node(static_cast<std::size_t>(mesh.node_count()));
  std::iota(node.begin(), node.end(), std::size_t{0});
  shuffle(node, random);
  std::vector<Index> cells(static_cast<std::size_t>(mesh.cells().size()));
  std::iota(cells.begin(), cells.end(), Index{0});
  shuffle(cells, random);
  MeshData data;
  data.dim = mesh.dim();
  data.points.resize(mesh.points().size());
  for (std::size_t a = 0; a < node.size(); ++a) {
    data.point_labels.push_back(static_cast<Index>(a) + 1);
    for (std::size_t c = 0; c < d; ++c) data.points[node[a] * d + c] = mesh.points()[a * d + c];
  }
  for (const Index c : cells) {
    const CellType type = mesh.cells().types[static_cast<std::size_t>(c)];
    std::vector<NodeId> nodes = turned_cell(type, mesh.cells()[c], random);
    for (NodeId& a : nodes) a = make_id<NodeId>(static_cast<Index>(node[static_cast<std::size_t>(index(a))]));
    data.cells.push_back(type, nodes, data.cells.size() + 1);
  }
  return {Mesh(std::move(data)), std::move(node)};
}

State relabelled_state(const State& state, const std::vector<std::size_t>& node, std::size_t d) {
  State result = state;
  for (std::size_t a = 0; a < node.size(); ++a)
    for (std::size_t c = 0; c < d; ++c) {
      result.displacement[node[a] * d + c] = state.displacement[a * d + c];
      result.velocity[node[a] * d + c] = state.velocity[a * d + c];
    }
  return result;
}

// Largest difference of AVI with uniform steps and Newmark after `steps` steps, over the largest displacement.
double difference_from_newmark(const Body& body, const State& start, int steps) {
  const double h = smallest(own_steps(*body.model, safety));
  const double t = (steps + 0.3) * h;
  AviExplicit avi(*body.model, uniform_steps(*body.model, h));
  SyncNewmark newmark(*body.model, h);
  State a = start, b = start;
  avi.advance_to(a, t);
  newmark.advance_to(b, t);
  EXPECT_EQ(avi.updates(TermId{0}), steps);
  EXPECT_EQ(newmark.updates(TermId{0}), steps);
  return largest_difference(a.displacement, b.displacement) / largest(b.displacement);
}

// Largest difference of the relabelled run after 1000 smallest steps, over the largest displacement.
double difference_when_relabelled(const Body& body, const Material& material, const State& start, Method method) {
  const auto d = static_cast<std::size_t>(body.mesh->dim());
  Relabelled other = relabelled(*body.mesh, 77);
  const Body twin = make_body(std::move(other.mesh), material, 1.2);
  State a = start, b = relabelled_state(start, other.node, d);
  const std::vector<double> steps = own_steps(*body.model, safety), twin_steps = own_steps(*twin.model, safety);
  const double t = 1000.3 * smallest(steps);
  const auto first = method.make(*body.model, steps), second = method.make(*twin.model, twin_steps);
  first->advance_to(a, t);
  second->advance_to(b, t);
  const State at_t = first->synchronized(a, t).state, twin_at_t = second->synchronized(b, t).state;
  const State mapped = relabelled_state(at_t, other.node, d);
  return largest_difference(mapped.displacement, twin_at_t.displacement) / largest(mapped.displacement);
}

class AviWithEqualSteps : public testing::TestWithParam<Case> {};

TEST_P(AviWithEqualSteps, IsNewmarkToRoundingAfterAThousandSteps) {
  const Body body = make_body(GetParam().mesh.make(), GetParam().material, 1.2);
  const State start = moving_state(body, spin_for(GetParam().material), 0.05, 5);
  const double error = difference_from_newmark(body, start, 1000);
  RecordProperty("difference", std::to_string(error * 1e15) + "e-15");
  EXPECT_LT(error, tolerance);
}

TEST_P(AviWithEqualSteps, IsNewmarkToRoundingWhenTheMotionIsAMillionthOfTheBody) {
  const Body body = make_body(GetParam().mesh.make(), GetParam().material, 1.2);
  const double error = difference_from_newmark(body, moving_state(body, 0.0, 1e-6, 6), 1000);
  RecordProperty("difference", std::to_string(error * 1e15) + "e-15");
  EXPECT_LT(error, tolerance);
}

INSTANTIATE_TEST_SUITE_P(EveryElementAndMaterial, AviWithEqualSteps, testing::ValuesIn(cases()), name);

TEST(AviWithEqualSteps, IsNewmarkToRoundingFarFromTheOriginToo) {
  for (const MeshCase& mesh : mesh_cases()) {
    SCOPED_TRACE(mesh.name);
    const Material material = materials().front();
    const Body far = make_body(moved(mesh.make(), {1e3, -2e3, 5e2}), material, 1.2);
    EXPECT_LT(difference_from_newmark(far, moving_state(far, 0.0, 1e-6, 6), 1000), tolerance);
  }
}

// Strikes at one instant are one event: what loads are said to have done must not depend on the order of the terms.
TEST(AviWithEqualSteps, BooksTheImpulsesMomentsAndWorkOfNewmark) {
  for (const MeshCase& mesh : mesh_cases()) {
    SCOPED_TRACE(mesh.name);
    const Body body = make_body_with(mesh.make(), materials().front(), 1.2, [](const Mesh& m, Model::Parts& parts) {
      parts.supports =
          one_support(m, moving("left", nodes_of(m, "left"), {"0.02*sin(t)", "0.01*Y*t", "-0.01*t*t"}, m.dim()));
      add_force(parts, make_gravity(m, cells_of(parts), {}, formulas({"0.05", "-0.1", "0.03*X"}, m.dim())));
      add_force(parts, make_traction(m, facets_of(m, "right"), formulas({"0.02*t", "0.01", "-0.01*Y"}, m.dim())));
    });
    const double h = smallest(own_steps(*body.model, safety)), t = 100.3 * h;
    AviExplicit avi(*body.model, uniform_steps(*body.model, h));
    SyncNewmark newmark(*body.model, h);
    State a = moving_state(body, 0.1, 0.02, 5), b = a;
    avi.advance_to(a, t);
    newmark.advance_to(b, t);
    const Sample first = sample(*body.model, avi.synchronized(a, t)),
                 second = sample(*body.model, newmark.synchronized(b, t));
    // Of numbers of size one or less, booked some thousand times.
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(first.booked_impulse[c], second.booked_impulse[c], 1e-12);
      EXPECT_NEAR(first.booked_moment[c], second.booked_moment[c], 1e-12);
    }
    EXPECT_NEAR(first.external_work, second.external_work, 1e-12);
  }
}

TEST(AviWithEqualSteps, IsNotNewmarkOfAnotherStep) {
  const Body body = make_body(triangle_mesh(CellType::triangle3, 3, 0.15, 12), materials().front(), 1.2);
  const double h = smallest(own_steps(*body.model, safety));
  const State start = moving_state(body, 0.3, 0.05, 5);
  AviExplicit avi(*body.model, uniform_steps(*body.model, h));
  SyncNewmark newmark(*body.model, 0.999 * h);
  State a = start, b = start;
  avi.advance_to(a, 1000.3 * h);
  newmark.advance_to(b, 1000.3 * h);
  const State at = avi.synchronized(a, 1000.3 * h).state, other = newmark.synchronized(b, 1000.3 * h).state;
  EXPECT_GT(largest_difference(at.displacement, other.displacement), 1e-6);
}

class Relabelling : public testing::TestWithParam<Case> {};

TEST_P(Relabelling, NodesAndElementsChangesRoundingOnly) {
  const Body body = make_body(GetParam().mesh.make(), GetParam().material, 1.2);
  const State start = moving_state(body, spin_for(GetParam().material), 0.05, 5);
  for (const Method& method : methods()) {
    SCOPED_TRACE(method.name);
    const double error = difference_when_relabelled(body, GetParam().material, start, method);
    RecordProperty(method.name, std::to_string(error * 1e15) + "e-15");
    EXPECT_LT(error, tolerance);
  }
}

TEST_P(Relabelling, ChangesRoundingOnlyWhenTheMotionIsAMillionthOfTheBody) {
  const Body body = make_body(GetParam().mesh.make(), GetParam().material, 1.2);
  const State start = moving_state(body, 0.0, 1e-6, 6);
  const double error = difference_when_relabelled(body, GetParam().material, start, methods().front());
  RecordProperty("avi", std::to_string(error * 1e15) + "e-15");
  EXPECT_LT(error, tolerance);
}

INSTANTIATE_TEST_SUITE_P(EveryElementAndMaterial, Relabelling, testing::ValuesIn(cases()), name);

TEST(Relabelling, ChangesRoundingOnlyFarFromTheOriginToo) {
  for (const MeshCase& mesh : mesh_cases()) {
    SCOPED_TRACE(mesh.name);
    const Material material = materials().front();
    const Body far = make_body(moved(mesh.make(), {1e3, -2e3, 5e2}), material, 1.2);
    const State start = moving_state(far, 0.0, 1e-6, 6);
    EXPECT_LT(difference_when_relabelled(far, material, start, methods().front()), tolerance);
  }
}

// Coordinates of size 2e3 are rounded to 2e-13, cells are 0.3 large: stiffness differs by 1e-12, phases of 1000 steps
// by 1e-9.
TEST(MovingTheMesh, ChangesNoMoreThanTheRoundingOfItsCoordinates) {
  for (const MeshCase& mesh : mesh_cases()) {
    SCOPED_TRACE(mesh.name);
    const Material material = materials().front();
    const Body near = make_body(mesh.make(), material, 1.2);
    const Body far = make_body(moved(mesh.make(), {1e3, -2e3, 5e2}), material, 1.2);
    const std::vector<double> steps = own_steps(*near.model, safety);
    const double t = 1000.3 * smallest(steps);
    AviExplicit first(*near.model, steps), second(*far.model, steps);
    State a = moving_state(near, 0.0, 1e-6, 6), b = a;
    first.advance_to(a, t);
    second.advance_to(b, t);
    EXPECT_LT(largest_difference(a.displacement, b.displacement) / largest(a.displacement), 1e-8);
  }
}

}  // namespace
}  // namespace tempi::test
