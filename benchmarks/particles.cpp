// SPDX-License-Identifier: Apache-2.0
// Lennard-Jones particles of mass 1 (epsilon = sigma = 1, cut off) from a text file: what peers/particles.py runs
// beside LAMMPS.
//
// usage: tempi_particles IN OUT METHOD STEP STEPS CUTOFF SKIN
//   IN      first line: count and length of the periodic box (0: free space); then x y z vx vy vz of each
//   OUT     x y z vx vy vz fx fy fz of each after STEPS steps, in full precision
//   METHOD  newmark, or avi: its one term acts every second tick
// Prints JSON: potential and kinetic energy, pairs within the cutoff at first, wall and processor time of the steps
// [s].
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>

#include "tempi/integrator/avi/avi_lattice.hpp"
#include "tempi/pair/pair_sum.hpp"
#include "tempi/space/neighbour_pairs.hpp"

namespace {

using namespace tempi;

struct Particles {
  double box = 0.0;
  std::vector<double> x, v;
};

Particles read(const std::string& name) {
  std::ifstream in(name);
  std::size_t count = 0;
  Particles p;
  in >> count >> p.box;
  p.x.resize(3 * count);
  p.v.resize(3 * count);
  for (std::size_t a = 0; a < count; ++a)
    in >> p.x[3 * a] >> p.x[3 * a + 1] >> p.x[3 * a + 2] >> p.v[3 * a] >> p.v[3 * a + 1] >> p.v[3 * a + 2];
  if (!in) throw std::runtime_error(name + " is not as it should be.");
  return p;
}

void run(const std::vector<std::string>& arguments) {
  const Particles p = read(arguments.at(1));
  const bool avi = arguments.at(3) == "avi";
  const double step = std::stod(arguments.at(4)), steps = std::stod(arguments.at(5)), t_end = steps * step;
  const double cutoff = std::stod(arguments.at(6)), skin = std::stod(arguments.at(7));
  const Box box = p.box > 0.0 ? Box({p.box, p.box, p.box}) : Box();
  std::vector<NodeId> nodes;
  for (std::size_t a = 0; 3 * a < p.x.size(); ++a) nodes.push_back(make_id<NodeId>(static_cast<Index>(a)));

  Model::Parts parts;
  parts.reference = p.x;
  parts.mass.assign(nodes.size(), 1.0);
  parts.shares = MassShares::balanced;
  parts.add(make_pair_sum(p.x, 3, parts.mass, nodes, LennardJones{1.0, 1.0, cutoff}, box, skin));
  const Model model(std::move(parts));
  AviLattice integrator(model, avi ? TickLattice{0.5 * step, {2}} : TickLattice{step, {1}});
  State state = reference_state(model);
  state.velocity = p.v;
  integrator.advance_to(state, 0.0);  // the starting half kick
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t cpu_begin = std::clock();
  integrator.advance_to(state, t_end + 0.25 * step);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const double cpu = static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC;

  const Snapshot at = integrator.synchronized(state, t_end);
  double kinetic = 0.0;
  for (const double v : at.state.velocity) kinetic += 0.5 * v * v;
  std::cout << fmt::format(
      "{{\"potential\": {:.17g}, \"kinetic\": {:.17g}, \"pairs\": {}, \"wall_time\": {:.6g}, \"cpu_time\": {:.6g}}}\n",
      at.potential_energy, kinetic, pairs_within(p.x, 3, cutoff, box).size(), wall, cpu);
  std::ofstream out(arguments.at(2));
  for (std::size_t i = 0; i < p.x.size(); i += 3) {
    for (std::size_t c = i; c < i + 3; ++c) out << fmt::format("{:.17g} ", p.x[c] + at.state.displacement[c]);
    for (std::size_t c = i; c < i + 3; ++c) out << fmt::format("{:.17g} ", at.state.velocity[c]);
    for (std::size_t c = i; c < i + 3; ++c) out << fmt::format("{:.17g} ", at.force[c]);
    out << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv, argv + argc});
  } catch (const std::exception& e) {
    std::cerr << "tempi_particles: " << e.what() << '\n';
    return 2;
  }
  return 0;
}
