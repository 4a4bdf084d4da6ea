// SPDX-License-Identifier: Apache-2.0
// One point among rigid things.
#pragma once

#include <array>
#include <memory>

#include "support/runs.hpp"
#include "tempi/contact/surface.hpp"
#include "tempi/potential/uniform_field.hpp"

namespace tempi::test {

// A point in a model of nothing else, and what it touches.
struct LonePoint {
  std::unique_ptr<Model> model;
  std::unique_ptr<AviLattice> avi;
  State state;

  template <class Add>
  LonePoint(const LayerOptions& options, const std::array<double, 3>& velocity, Add&& add_walls,
            const std::array<double, 3>& acceleration = {}, double window = 0.0, double tick = 0.05) {
    const Mesh mesh = mesh_of(3, {0.0, 0.0, 0.0}, CellType::point1, {{0}});
    SurfaceBuilder builder(mesh);
    builder.add_sphere(make_id<NodeId>(0), 0.05, ContactSurface::both);
    add_walls(builder);
    Model::Parts parts;
    parts.dim = 3;
    parts.reference = {0.0, 0.0, 0.0};
    parts.mass = {2.0};
    parts.potentials.push_back(make_uniform_field(parts.reference, 3, parts.mass, {make_id<NodeId>(0)}, acceleration));
    parts.layers.push_back(std::make_unique<LayeredContact>(std::move(builder).build(), options, parts.mass, "walls"));
    model = std::make_unique<Model>(std::move(parts));
    LatticeOptions free;
    free.rechecked = 0.0;
    free.window = window;
    avi = std::make_unique<AviLattice>(*model, TickLattice{tick, {1}}, free);
    state = reference_state(*model);
    std::ranges::copy(velocity, state.velocity.begin());
  }
  const State& at(double t) {
    avi->advance_to(state, t);
    return state;
  }
};

}  // namespace tempi::test
