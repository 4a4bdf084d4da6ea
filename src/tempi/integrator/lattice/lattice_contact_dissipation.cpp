// SPDX-License-Identifier: Apache-2.0
// What friction and restitution take, and its books (decision 0025).
#include <algorithm>
#include <cmath>
#include <utility>

#include "tempi/integrator/lattice/lattice_contact.hpp"

namespace tempi {
// Friction and restitution ask how fast bodies slide and part.
void LatticeContact::correct_velocities(const LatticeGroups& plan) {
  static constexpr VelocityCorrection none;
  if (std::ranges::none_of(sections_, &Section::takes)) return;
  corrections_ = std::make_unique<LatticeCorrections>(plan, supports_, all_, line_of_path_);
  for (Section& section : sections_)
    for (std::size_t v = 0; section.takes && v < section.line_of_vertex.size(); ++v) {
      const std::int32_t line = section.line_of_vertex[v];
      Quad& lightness = section.lightness.emplace_back();
      if (line >= 0)
        for (std::size_t c = 0; c < 3; ++c)
          if (!supports_.any() || !supports_.holds(static_cast<std::size_t>(line), c))
            lightness[c] = section.node_of_vertex[v]->inverse_mass;
      section.correction_of_vertex.push_back(
          line < 0 ? &none : &corrections_->all()[static_cast<std::size_t>(section.path_of_vertex[v])]);
    }
}

// How many pairs push each vertex of a share.
void LatticeContact::count_taking(Section& section, std::size_t blocks, const Share& share) {
  each_block_of(blocks, share, [&](std::size_t block) {
    each_push_of(block, [&](std::size_t k) {
      for (const std::int32_t v : pushing_[k].vertices())
        if (v >= share.from && v < share.to) ++section.taking[static_cast<std::size_t>(v)];
    });
  });
}

// While bodies part they get a part of the push; Coulomb's friction stops at most. Both look at velocities before the
// instant, friction as if each node's mass were shared out among the pairs that push it: what each takes from its
// shares all together take at least, for kinetic energy is convex.
void LatticeContact::take(const Section& section, std::size_t block) {
  const LayerOptions& options = section.contact->options();
  each_push_of(block, [&](std::size_t k) {
    const auto vertices = pushing_[k].vertices();
    const PairPush& push = pushes_[k];
    Taking& taking = taking_[k] = {push.rate > 0.0 ? options.restitution : 1.0, {}};
    Quad squares;
    for (std::size_t c = 0; c < 4; ++c) squares[c] = push.sliding[c] * push.sliding[c];
    const double squared = squares[0] + squares[1] + squares[2];
    if (options.friction == 0.0 || !(squared > 0.0)) return;
    double light = 0.0;  // how fast an impulse along it changes that speed, times its square
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const auto v = static_cast<std::size_t>(vertices[i]);
      const Quad& of = section.lightness[v];
      light += push.weight[i] * push.weight[i] * section.taking[v] *
               (of[0] * squares[0] + of[1] * squares[1] + of[2] * squares[2]);
    }
    if (!(light > 0.0)) return;
    const double p = std::min(options.friction * taking.kept * push.along / std::sqrt(squared), squared / light);
    for (std::size_t c = 0; c < 4; ++c) taking.friction[c] = -p * push.sliding[c];
  });
}

// The work of what was taken at a vertex, at the mean of the velocities before and after.
void LatticeContact::book_taken(Section& section, std::size_t v, double now) {
  section.taking[v] = 0;
  const auto rubbed = std::exchange(section.rubbed[v], {}), withheld = std::exchange(section.withheld[v], {});
  const NodeLine& node = *section.node_of_vertex[v];
  const VelocityCorrection& correction = *section.correction_of_vertex[v];
  double of_friction = 0.0, of_restitution = 0.0;
  for (std::size_t c = 0; c < 3; ++c) {
    const double mean = node.velocity[c] + correction.change[c] + correction.per_tick[c] * (now - correction.since) +
                        0.5 * section.given[v][c] * section.lightness[v][c];
    of_friction += rubbed[c] * mean;
    of_restitution += withheld[c] * mean;
  }
  Taken& taken = taken_[sum_of(section, v)];
  taken.by_friction += of_friction;
  taken.by_restitution += of_restitution;
  // Friction acts a distance apart: a moment.
  taken.given.add(place(section, v, nodes_.lines(), now), {rubbed[0], rubbed[1], rubbed[2]},
                  of_friction + of_restitution);
}

void LatticeContact::sum_up_taken(State& state) {
  Given all;
  for (Taken& taken : taken_) {
    for (std::size_t c = 0; c < 3; ++c) {
      all.impulse[c] += taken.given.impulse[c];
      all.moment[c] += taken.given.moment[c];
    }
    all.work += taken.given.work;
    counts_.friction_work += taken.by_friction;
    counts_.restitution_work += taken.by_restitution;
    taken = {};
  }
  state.damping += all;
}

}  // namespace tempi
