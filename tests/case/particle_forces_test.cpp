// SPDX-License-Identifier: Apache-2.0
// Loads and drags on particles, within whatever terms host them: springs, a sum over all pairs, or a term without
// strength for particles that nothing else acts on.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "support/cases.hpp"
#include "tempi/integrator/integrator.hpp"

namespace tempi {
namespace {

using test::CaseFolder;

constexpr double alpha = 0.8, g = 2.0, end_time = 1.0;

struct Host {
  const char* name;
  const char* potential;
  Index lonely = 0;
};
// Four particles a square apart.
const std::array<Host, 3> hosts = {{
    {"springs", "[[potential]]\ntype = \"spring\"\nstiffness = 3.0\nlength = 0.9\nwithin = 1.2\n"},
    {"sum", "[[potential]]\ntype = \"lennard-jones\"\nepsilon = 0.1\nsigma = 0.9\ncutoff = 1.6\n"},
    {"none", "", 4},
}};
constexpr double h = 0.01;  // [s]
// Leading errors of velocities of v' = -g - alpha v, with room for the next: of Euler's rule, of the trapezium rule,
// which is the least exact of those of second order here, and of fourth order by Gauss and by Runge and Kutta.
const double leading = 1.02 * g * end_time * std::exp(-alpha * end_time), z = alpha * h;
const double first_order = leading * z / 2.0, second_order = leading * z * z / 12.0;
const double gauss = leading * std::pow(z, 4) / 720.0, runge_kutta = leading * std::pow(z, 4) / 120.0;
struct Method {
  const char* keys;
  double error;  // [m/s], at the step h
};
const std::vector<Method> methods = {
    {"method = \"avi\"\nlattice = \"powers-of-two\"", second_order},
    {"method = \"avi\"\nlattice = \"exact\"", second_order},
    {"method = \"newmark\"", second_order},
    {"method = \"newmark\"\nbeta = 0.25", second_order},
    {"method = \"trapezoidal\"", second_order},
    {"method = \"midpoint\"", second_order},
    {"method = \"gauss\"\norder = 4", gauss},
    {"method = \"lobatto\"\norder = 4", gauss},
    {"method = \"rk4\"", runge_kutta},
    {"method = \"energy-momentum\"", second_order},
    {"method = \"symplectic-euler-a\"", first_order},
    {"method = \"rattle\"", 2.0 * second_order},
};

struct Fall {
  std::array<double, 2> velocity{}, place{};  // of the centre of mass
  double load = 0.0, drag = 0.0;              // impulses, along y
  Index terms = 0, of_potentials = 0;
};
Fall fall(const CaseFolder& folder, const Host& host, const Method& method) {
  std::string text = "[particles]\nmass = [1.0, 2.0, 0.5, 1.5]\nposition = [[0, 0], [1, 0], [1, 1], [0, 1]]\n";
  text += host.potential;
  text += "[[load]]\ntype = \"gravity\"\nvalue = [0, " + std::to_string(-g) + "]\n";
  text += "[[damping]]\ntype = \"rayleigh\"\nalpha = " + std::to_string(alpha) + "\n";
  text += std::string("[integrator]\n") + method.keys + "\nstep = " + std::to_string(h) +
          "\n[run]\nend_time = " + std::to_string(end_time) + "\n[output]\nframes = 0\nhistory = 2\n";
  Simulation s = folder.build(text);
  s.integrator->advance_to(s.state, end_time);
  const Snapshot end = s.integrator->synchronized(s.state, end_time);
  Fall result;
  result.terms = s.model->term_count();
  for (const auto& [type, count] : s.body.forces) result.of_potentials += count;
  double mass = 0.0;
  for (const double m : s.model->mass()) mass += m;
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t c = 0; c < 2; ++c) {
      result.velocity[c] += s.model->mass()[a] / mass * end.state.velocity[2 * a + c];
      result.place[c] += s.model->mass()[a] / mass * end.state.displacement[2 * a + c];
    }
  result.load = end.state.loads.impulse[1].value() / mass;
  result.drag = end.state.damping.impulse[1].value() / mass;
  return result;
}

TEST(ForcesOnParticles, act_alike_whatever_hosts_them) {
  const CaseFolder folder;
  for (const Method& method : methods) {
    SCOPED_TRACE(method.keys);
    std::vector<Fall> falls;
    for (const Host& host : hosts) {
      SCOPED_TRACE(host.name);
      falls.push_back(fall(folder, host, method));
      const Fall& found = falls.back();
      EXPECT_EQ(found.terms, found.of_potentials + host.lonely);
      const double exact = -g / alpha * (1.0 - std::exp(-alpha * end_time));
      EXPECT_NEAR(found.velocity[1], exact, method.error);
      EXPECT_NEAR(found.velocity[0], 0.0, 2e-14);
      EXPECT_NEAR(found.load, -g * end_time, 2e-14);
      EXPECT_NEAR(found.load + found.drag, found.velocity[1], 2e-14);
    }
    for (const Fall& other : falls)
      for (std::size_t c = 0; c < 2; ++c) {
        EXPECT_NEAR(other.velocity[c], falls.front().velocity[c], 2e-14);
        EXPECT_NEAR(other.place[c], falls.front().place[c], 2e-14);
      }
  }
}

}  // namespace
}  // namespace tempi
