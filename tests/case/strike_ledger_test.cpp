// SPDX-License-Identifier: Apache-2.0
// The ledger of kinetic energy (EnergyResidual::unbooked) of whole cases: whatever moves a velocity is in it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/cases.hpp"
#include "tempi/diagnostic/energy_residual.hpp"

namespace tempi {
namespace {

using test::CaseFolder;

struct Moved {
  std::string name, text;
};

constexpr const char* everything =
    "[[fix]]\ngroup = \"left\"\ndisplacement = [\"0.05*sin(3*t)\", 0]\n"
    "[[load]]\ntype = \"gravity\"\nvalue = [\"0.2*cos(5*t)\", -0.1]\n"
    "[[load]]\ntype = \"force\"\nwhere = \"X > 0.9\"\nvalue = [0.01, \"0.02*t\"]\n"
    "[[damping]]\ntype = \"drag\"\ncoefficient = 0.1\n[[damping]]\ntype = \"rayleigh\"\nbeta = 0.01\n"
    "[initial]\nvelocity = [\"0.3*Y\", \"0.2*X\"]\n";
// Four grains fall upon two walls; the list of neighbours has a damper with a memory.
constexpr const char* grains =
    "[particles]\nmass = [1.0, 1.2, 0.9, 1.1]\nradius = [0.5, 0.52, 0.48, 0.5]\n"
    "position = [[0.1, 0.6, 0.6], [0.9, 0.9, 0.65], [0.2, 0.1, 1.4], [1.0, 0.2, 1.7]]\n"
    "[[potential]]\ntype = \"hertz\"\nyoung = 2e3\npoisson = 0.3\nrestitution = 0.6\n"
    "[[load]]\ntype = \"gravity\"\nvalue = [0.3, 0.1, -9.81]\n"
    "[[wall]]\ntype = \"plane\"\npoint = [0, 0, 0]\nnormal = [0, 0, 1]\nyoung = 2e3\npoisson = 0.3\n"
    "[[wall]]\ntype = \"plane\"\npoint = [1.6, 0, 0]\nnormal = [-1, 0, 0]\nyoung = 2e3\npoisson = 0.3\n";

// Triangles of many sizes, so that there are many tempi.
std::string strip(const std::string& integrator) {
  std::string text = CaseFolder::square(integrator, everything);
  return text.replace(text.find("square.inp"), 6, "strip");
}
void write_strip(const CaseFolder& folder) {
  std::string nodes = "*NODE\n", cells = "*ELEMENT, TYPE=CPE3, ELSET=body\n";
  int n = 0, e = 0;
  for (const double x : {0.0, 0.4, 0.7, 0.9, 0.96, 0.98, 1.0}) {
    for (const double y : {0.0, 0.5}) nodes += fmt::format("{}, {}, {}\n", ++n, x, y);
    if (n == 2) continue;
    cells += fmt::format("{}, {}, {}, {}\n", e + 1, n - 3, n - 1, n) +
             fmt::format("{}, {}, {}, {}\n", e + 2, n - 3, n, n - 2);
    e += 2;
  }
  folder.write("strip.inp", nodes + cells + "*NSET, NSET=left\n1, 2\n");
}

std::vector<Moved> cases() {
  std::vector<Moved> all;
  for (const char* method : {"", "coupling = \"mollified\"", "lattice = \"exact\"", "method = \"newmark\""}) {
    const std::string integrator = std::string("residual = true\nsafety = 0.5\n") + method + "\n";
    all.push_back({std::string("strip, ") + method, strip(integrator)});
    all.push_back({std::string("chain, ") + method, CaseFolder::chain(integrator)});
    all.push_back(
        {std::string("grains, ") + method, grains + ("[integrator]\n" + integrator + "[run]\nend_time = 1\n")});
  }
  return all;
}

class Forgetful final : public Observer {  // of one strike
 public:
  explicit Forgetful(EnergyResidual& told) : told_(told) {}
  void on_strike(const Strike& strike) override {
    if (strike.update != 2 || strike.term != TermId{1}) told_.on_strike(strike);
  }

 private:
  EnergyResidual& told_;
};

TEST(StrikeLedger, NothingMovesAVelocityThatIsNotInIt) {
  const CaseFolder folder;
  write_strip(folder);
  for (const auto& [name, text] : cases()) {
    SCOPED_TRACE(name);
    Simulation s = folder.build(text);
    ASSERT_TRUE(s.books_every_strike());
    EnergyResidual residual(*s.model);
    double scale = 0.0, worst = 0.0;
    s.integrator->advance_to(s.state, 0.0);
    EXPECT_EQ(residual.unbooked(s.state), 0.0);
    residual.begin(s.state);
    for (int k = 1; k <= 10; ++k) {
      s.integrator->advance_to(s.state, 0.1 * k * s.input.end_time, residual);
      worst = std::max(worst, std::abs(residual.unbooked(s.state)));
      for (std::size_t i = 0; i < s.state.velocity.size(); ++i)
        scale = std::max(scale, s.model->mass()[i / static_cast<std::size_t>(s.model->dim())] * s.state.velocity[i] *
                                    s.state.velocity[i]);
    }
    RecordProperty(name, std::to_string(worst / scale * 1e15) + "e-15");
    EXPECT_LT(worst, 1e-13 * scale);
  }
}

// Blocks of terms of one node are as large as blocks get.
TEST(StrikeLedger, HoldsForManyTermsOfOneNode) {
  const CaseFolder folder;
  std::string grid = "mass,x,y,vx,vy\n";
  for (int i = 0; i < 140000; ++i) grid += fmt::format("1,{},{},{},0.5\n", i % 400, i / 400, 0.001 * (i % 97));
  folder.write("grid.csv", grid);
  Simulation s = folder.build(
      "[particles]\nfile = \"grid.csv\"\n[[potential]]\ntype = \"well\"\nstiffness = 4.0\n"
      "[integrator]\nresidual = true\nstep = 0.1\n[run]\nend_time = 1\n");
  EnergyResidual residual(*s.model);
  s.integrator->advance_to(s.state, 0.0);
  residual.begin(s.state);
  s.integrator->advance_to(s.state, 0.75, residual);
  const std::vector<double> accumulated = residual.accumulated();
  EXPECT_EQ(std::ranges::count(accumulated, 0.0), 0);
  EXPECT_LT(std::abs(residual.unbooked(s.state)), 1e-13 * 140000);
}

TEST(StrikeLedger, MissesAStrikeThatIsNotShown) {  // control
  const CaseFolder folder;
  write_strip(folder);
  Simulation s = folder.build(strip("residual = true\n"));
  EnergyResidual residual(*s.model);
  Forgetful observer(residual);
  s.integrator->advance_to(s.state, 0.0);
  residual.begin(s.state);
  s.integrator->advance_to(s.state, s.input.end_time, observer);
  EXPECT_GT(std::abs(residual.unbooked(s.state)), 1e-6);
}

}  // namespace
}  // namespace tempi
