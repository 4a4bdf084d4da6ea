// SPDX-License-Identifier: Apache-2.0
// Bodies that touch by layers of contact.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "support/runs.hpp"
#include "tempi/contact/surface.hpp"

namespace tempi::test {

// Both meshes in one, the second moved; groups are dropped.
inline Mesh beside(const Mesh& mesh, const Mesh& other, const std::array<double, 3>& by) {
  MeshData data;
  data.dim = mesh.dim();
  for (const Mesh* m : {&mesh, &other}) {
    const auto first = static_cast<Index>(data.point_labels.size());
    for (Index a = 0; a < m->node_count(); ++a) {
      for (int c = 0; c < m->dim(); ++c)
        data.points.push_back(m->point(make_id<NodeId>(a))[static_cast<std::size_t>(c)] +
                              (m == &other ? by[static_cast<std::size_t>(c)] : 0.0));
      data.point_labels.push_back(first + a + 1);
    }
    for (Index c = 0; c < m->cells().size(); ++c) {
      std::vector<NodeId> nodes;
      for (const NodeId a : m->cells()[c]) nodes.push_back(make_id<NodeId>(first + index(a)));
      data.cells.push_back(m->cells().types[static_cast<std::size_t>(c)], nodes, data.cells.size() + 1);
    }
  }
  return Mesh(std::move(data));
}

inline LayerOptions layers_of(double outer, double stiffness) {
  LayerOptions options;
  options.law = {outer, 0.1 * outer, stiffness, 3.0};
  return options;
}

// All outer facets of a mesh with each other.
inline std::unique_ptr<LayeredContact> contact_of(const Mesh& mesh, const LayerOptions& options,
                                                  std::span<const double> masses) {
  SurfaceBuilder builder(mesh);
  builder.add_facets(mesh, boundary_facets(mesh), ContactSurface::both);
  return std::make_unique<LayeredContact>(std::move(builder).build(), options, masses, "[[contact]]");
}

inline Body touching_body(Mesh mesh, const Material& material, const LayerOptions& options) {
  return make_body_with(std::move(mesh), material, 1.0, [&](const Mesh& m, Model::Parts& parts) {
    parts.layers.push_back(contact_of(m, options, parts.mass));
  });
}

// Nodes from `first` on with one velocity, the others with another.
inline State approaching(const Body& body, Index first, const std::vector<double>& v, const std::vector<double>& w) {
  State state = reference_state(*body.model);
  const auto d = static_cast<std::size_t>(body.model->dim());
  for (Index a = 0; a < body.model->node_count(); ++a)
    for (std::size_t c = 0; c < d; ++c) state.velocity[static_cast<std::size_t>(a) * d + c] = a < first ? v[c] : w[c];
  return state;
}

inline std::unique_ptr<AviLattice> avi_with(const Body& body, LatticeOptions options = {}, double safety = 0.5) {
  return std::make_unique<AviLattice>(*body.model,
                                      lattice_of(own_steps(*body.model, safety), LatticeRule::powers_of_two), options);
}

// All nodes are in a sphere at `end`.
inline void expect_within(const Body& body, const State& state, double end, const std::array<double, 3>& centre,
                          double radius) {
  for (Index a = 0; a < body.model->node_count(); ++a) {
    double squared = 0.0;
    for (std::size_t c = 0; c < 3; ++c) {
      const auto i = 3 * static_cast<std::size_t>(a) + c;
      const double x = body.model->reference()[i] + state.displacement[i] +
                       state.velocity[i] * (end - state.clock[static_cast<std::size_t>(a)]);
      squared += std::pow(x - centre[c], 2);
    }
    EXPECT_LT(squared, radius * radius);
  }
}

// run(options, all_pairs) has the same bits however pairs are looked for.
template <class Run>
void expect_no_trace_of_the_search(Run&& run) {
  const State one = run(LatticeOptions{}, false);
  EXPECT_TRUE(same_bits(one, run(LatticeOptions{}, true)));
  for (const double window : {0.3, 7.0, 200.0}) {
    LatticeOptions options;
    options.window = window;
    options.threads = window > 1.0 ? 3 : 1;
    EXPECT_TRUE(same_bits(one, run(options, false))) << window;
  }
}

}  // namespace tempi::test
