// SPDX-License-Identifier: Apache-2.0
// Cases drawn at random from all that a case file can put together: bodies of every element and material and particles,
// supports, loads, dampers, walls, lattices, couplings, methods. Whatever the case:
//
//   - threads, stops on the way, an observer and a checkpoint change no bit;
//   - momenta are those of the start and what was booked, to rounding, of methods that claim it;
//   - of methods that strike, kinetic energy is booked kick by kick, and the lattice gives what the exact queue gives
//     with its steps;
//   - with smaller steps each comes to the motion of Newmark's method with small ones.
//
// TEMPI_DRAWN_CASES asks for another number of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/cases.hpp"
#include "support/lattice.hpp"
#include "support/meshes.hpp"
#include "support/runs.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/diagnostic/energy_residual.hpp"
#include "tempi/diagnostic/soundness.hpp"
#include "tempi/integrator/avi/avi_explicit.hpp"
#include "tempi/integrator/checkpoint.hpp"
#include "tempi/io/msh_writer.hpp"

namespace tempi {
namespace {

using test::CaseFolder;
using test::Random;

class Draw {
 public:
  enum class Methods { that_strike, any, with_contact };
  // `finer`: such a part of the steps drawn. `reference`: by Newmark's method instead of the one drawn.
  Draw(const CaseFolder& folder, Methods methods, std::uint64_t seed, double finer = 1.0, bool reference = false)
      : folder_(folder), methods_(methods), random_(seed), seed_(seed), finer_(finer), reference_(reference) {}

  std::string operator()() {
    if (methods_ == Methods::with_contact) return contact();
    dim_ = chance(0.5) ? 2 : 3;
    method_ = methods_ == Methods::that_strike
                  ? chance(0.15) ? "newmark" : "avi"
                  : one_of({"symplectic-euler-a", "symplectic-euler-b", "trapezoidal", "midpoint", "symmetric-midpoint",
                            "gauss", "lobatto", "implicit newmark", "damped newmark", "avi-implicit",
                            "symplectic-energy-momentum", "multi-domain", "energy-stepping", "async-energy-stepping",
                            "avi-adaptive", "energy-momentum", "rk4", "shake", "rattle"});
    const std::string_view method = method_;
    takes_loads_ = method.find("energy-") == std::string_view::npos;
    takes_dampers_ = takes_loads_ && method != "avi-adaptive";
    const std::string model = chance(0.35) || method == "energy-momentum" ? particles() : chance(0.1) ? bar() : body();
    std::string text = model + integrator();
    if (chance(0.4)) text += wall();
    if (is_body_ && chance(0.8)) text += "[initial]\nvelocity = " + field(0.2) + "\n";
    if (chance(0.7)) text += fix();
    if (!takes_loads_) return text;
    if (chance(0.6)) text += fmt::format("[[load]]\ntype = \"gravity\"\nvalue = {}\n", vector(0.3));
    if (chance(0.4)) text += fmt::format("[[load]]\ntype = \"force\"\n{}value = {}\n", place(), vector(0.02));
    if (is_body_ && chance(0.4))
      text += fmt::format("[[load]]\ntype = \"traction\"\ngroup = \"right\"\nvalue = {}\n", vector(0.05));
    if (is_body_ && chance(0.4))
      text += fmt::format("[[load]]\ntype = \"pressure\"\ngroup = \"right\"\nvalue = {}\ndead = {}\n", value(0.05),
                          chance(0.5));
    if (!takes_dampers_) return text;
    if (chance(0.3))
      text += fmt::format("[[damping]]\ntype = \"drag\"\n{}coefficient = {:.4g}\n", maybe(place()), in(0.0, 0.1));
    if (is_body_ && chance(0.3))
      text += fmt::format("[[damping]]\ntype = \"rayleigh\"\nalpha = {:.4g}\n", in(0.0, 0.3)) +
              (is_sheet_ ? "" : fmt::format("beta = {:.4g}\n", in(0.0, 0.02)));
    if (is_body_ && !is_sheet_ && chance(0.2))
      text += fmt::format("[[damping]]\ntype = \"kelvin-voigt\"\nbulk_viscosity = {:.4g}\nshear_viscosity = {:.4g}\n",
                          in(0.0, 0.02), in(0.0, 0.02));
    if (!is_body_ && bonds_ && chance(0.4))
      text += fmt::format("[[damping]]\ntype = \"kelvin-voigt\"\ncoefficient = {:.4g}\n", in(0.0, 0.05));
    return text;
  }

 private:
  bool chance(double p) { return random_.uniform(0.0, 1.0) < p; }
  double in(double low, double high) { return random_.uniform(low, high); }
  const char* one_of(std::initializer_list<const char*> all) {
    return *(all.begin() + random_.below(static_cast<Index>(all.size())));
  }
  std::string maybe(const std::string& text) { return chance(0.5) ? text : ""; }
  // A number, or a formula of t, of places or of both.
  std::string value(double size) {
    const double a = in(-size, size);
    switch (random_.below(4)) {
      case 0: return fmt::format("{:.4g}", a);
      case 1: return fmt::format("\"{:.4g}*sin({:.3g}*t)\"", a, in(1.0, 6.0));
      case 2: return fmt::format("\"{:.4g}*(X - {:.3g}*Y)\"", a, in(0.0, 1.0));
      default: return fmt::format("\"{:.4g}*cos({:.3g}*t)*X\"", a, in(1.0, 6.0));
    }
  }
  std::string vector(double size) {
    std::string text = "[";
    for (int c = 0; c < dim_; ++c) text += (c > 0 ? ", " : "") + value(size);
    return text + "]";
  }
  std::string along_x(double x, double y) const {
    return fmt::format("[{}", x) + (dim_ > 1 ? fmt::format(", {}", y) : "") + (dim_ > 2 ? ", 0]" : "]");
  }
  std::string field(double size) {  // of X, Y alone
    std::string text = "[";
    for (int c = 0; c < dim_; ++c)
      text += fmt::format("{}\"{:.4g} + {:.4g}*X - {:.4g}*Y\"", c > 0 ? ", " : "", in(-size, size), in(-size, size),
                          in(-size, size));
    return text + "]";
  }
  std::string place() {
    return fmt::format("where = \"{} > {:.3g}\"\n", dim_ == 1 ? "X" : one_of({"X", "Y"}),
                       is_body_ ? in(0.3, 0.8) : in(-0.1, 0.3));
  }

  // Triangles in space, nearly flat over the unit square.
  std::string sheet(double height) {
    is_body_ = is_sheet_ = true;
    const int n = 3 + static_cast<int>(random_.below(4));
    std::string nodes = "*NODE\n", cells = "*ELEMENT, TYPE=S3, ELSET=right\n", left = "*NSET, NSET=left\n";
    for (int i = 0; i <= n; ++i)
      for (int j = 0; j <= n; ++j) {
        nodes += fmt::format("{}, {:.6f}, {:.6f}, {:.6f}\n", i * (n + 1) + j + 1, (i + in(-0.1, 0.1)) / n,
                             (j + in(-0.1, 0.1)) / n, height + in(-0.02, 0.02) / n);
        if (i == 0) left += fmt::format("{}\n", j + 1);
      }
    for (int i = 0, e = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const int a = i * (n + 1) + j + 1, b = a + n + 1;
        cells += fmt::format("{}, {}, {}, {}\n{}, {}, {}, {}\n", e + 1, a, b, b + 1, e + 2, a, b + 1, a + 1);
        e += 2;
      }
    folder_.write("drawn.inp", nodes + cells + left);
    return fmt::format(
        "[mesh]\nfile = \"drawn.inp\"\n[[material]]\nmodel = \"shell\"\nthickness = {:.3g}\nyoung = {:.4g}\n"
        "poisson = {:.3g}\ndensity = {:.4g}\nstretching = \"{}\"\n",
        in(0.01, 0.05), std::pow(10.0, in(0.0, 1.5)), in(0.0, 0.4), in(0.5, 2.0),
        one_of({"neo-hookean", "saint-venant-kirchhoff"}));
  }

  std::string bar() {
    is_body_ = true;
    dim_ = 1;
    return of_mesh(test::bar_mesh(4 + static_cast<int>(random_.below(20)), 0.35, static_cast<unsigned>(seed_)), 1.8);
  }
  std::string body() {
    is_body_ = true;
    if (dim_ == 3 && chance(0.25)) return sheet(0.0);
    const int n = dim_ == 2 ? 2 + static_cast<int>(random_.below(4)) : 1 + static_cast<int>(random_.below(2));
    const auto seed = static_cast<unsigned>(seed_);
    const bool quadratic = chance(0.4);
    const Mesh mesh =
        dim_ == 2 ? test::triangle_mesh(quadratic ? CellType::triangle6 : CellType::triangle3, n, 0.1, seed)
                  : test::tetrahedron_mesh(quadratic ? CellType::tetrahedron10 : CellType::tetrahedron4, n, 0.1, seed);
    return of_mesh(mesh, quadratic ? 1.4 : 1.8);
  }
  std::string of_mesh(const Mesh& mesh, double most) {
    std::vector<double> points(mesh.points().begin(), mesh.points().end());
    const double power = chance(0.5) ? in(1.0, most) : 1.0;  // graded towards x = 0
    for (std::size_t i = 0; i < points.size(); i += static_cast<std::size_t>(dim_))
      points[i] = std::copysign(std::pow(std::abs(points[i]), power), points[i]);
    write_msh(folder_.path() / "drawn.msh", mesh, points);
    std::string text = "[mesh]\nfile = \"drawn.msh\"\n";
    const bool two = chance(0.4);
    for (int k = 0; k < (two ? 2 : 1); ++k)
      text += fmt::format("[[material]]\n{}model = \"{}\"\nyoung = {:.4g}\npoisson = {:.3g}\ndensity = {:.4g}\n",
                          two ? fmt::format("where = \"X {} 0.5\"\n", k == 0 ? "<=" : ">") : "",
                          one_of({"neo-hookean", "saint-venant-kirchhoff", "linear-elastic"}),
                          std::pow(10.0, in(-0.5, 1.5)), in(0.0, 0.4), in(0.5, 2.0));
    return text;
  }

  // Two bodies of one kind of element, the second one beside the first, smaller, turned a little, and on its way to it.
  std::string contact() {
    dim_ = chance(0.5) ? 2 : 3;
    if (dim_ == 3 && chance(0.4)) return sheet_over_a_sphere();
    const bool quadratic = chance(0.2);
    const CellType type = dim_ == 2 ? (quadratic ? CellType::triangle6 : CellType::triangle3)
                                    : (quadratic ? CellType::tetrahedron10 : CellType::tetrahedron4);
    std::vector<double> points;
    std::vector<std::vector<int>> cells;
    const double turn = in(-0.6, 0.6), size = in(0.4, 0.9), gap = in(0.06, 0.1);
    for (int k = 0; k < 2; ++k) {
      const int n = (dim_ == 2 ? 2 : 1) + static_cast<int>(random_.below(dim_ == 2 ? 3 : 2));
      const auto seed = static_cast<unsigned>(2 * seed_) + static_cast<unsigned>(k);
      const Mesh mesh =
          dim_ == 2 ? test::triangle_mesh(type, n, 0.1, seed) : test::tetrahedron_mesh(type, n, 0.1, seed);
      const auto first = static_cast<int>(points.size()) / dim_;
      std::vector<double> own(mesh.points().begin(), mesh.points().end());
      double least = 1e9;
      for (std::size_t i = 0; i < own.size() && k == 1; i += static_cast<std::size_t>(dim_)) {
        const double x = size * own[i], y = size * (own[i + 1] - 0.5);
        own[i] = std::cos(turn) * x - std::sin(turn) * y;
        own[i + 1] = std::sin(turn) * x + std::cos(turn) * y + 0.5;
        if (dim_ == 3) own[i + 2] = size * own[i + 2] + 0.1;
        least = std::min(least, own[i]);
      }
      for (std::size_t i = 0; i < own.size() && k == 1; i += static_cast<std::size_t>(dim_))
        own[i] += 1.0 + 0.03 + gap - least;
      points.insert(points.end(), own.begin(), own.end());
      for (Index c = 0; c < mesh.cells().size(); ++c) {
        cells.emplace_back();
        for (const NodeId a : mesh.cells()[c]) cells.back().push_back(first + static_cast<int>(index(a)));
      }
    }
    const Mesh both = test::mesh_of(dim_, points, type, cells);
    write_msh(folder_.path() / "drawn.msh", both, both.points());
    const double speed = in(0.05, 0.5);
    std::string text = "[mesh]\nfile = \"drawn.msh\"\n";
    for (const char* side : {"<", ">"})
      text += fmt::format(
          "[[material]]\nwhere = \"X {} 1.04\"\nmodel = \"{}\"\nyoung = {:.4g}\npoisson = {:.3g}\ndensity = {:.4g}\n",
          side, one_of({"neo-hookean", "neo-hookean", "saint-venant-kirchhoff"}), std::pow(10.0, in(0.3, 1.5)),
          in(0.0, 0.4), in(0.5, 2.0));
    text += fmt::format("[[contact]]\ndistance = {:.3g}\n", in(0.02, 0.05));
    if (chance(0.3)) text += fmt::format("friction = {:.3g}\n", in(0.1, 0.8));
    if (chance(0.3)) text += fmt::format("energy_restitution = {:.3g}\n", in(0.3, 0.9));
    text += "[integrator]\n" + maybe(fmt::format("safety = {:.3g}\n", in(0.3, 0.8))) + "trial = 0\n";
    text += maybe(fmt::format("lattice = \"{}\"\n", one_of({"powers-of-two", "powers-of-three"})));
    text += "[run]\nend_time = 1.0\n";
    text += fmt::format("[initial]\nvelocity = [\"X > 1.04 ? {:.3g} : 0\", \"{:.3g}*X\"{}]\n", -speed, in(-0.2, 0.2),
                        dim_ == 3 ? ", \"0\"" : "");
    if (chance(0.4))
      text += fmt::format("[[fix]]\nwhere = \"X < 0.02\"\n{}",
                          maybe(fmt::format("displacement = [\"0.05*sin(2*t)\", 0{}]\n", dim_ == 3 ? ", 0" : "")));
    if (chance(0.3)) text += fmt::format("[[load]]\ntype = \"gravity\"\nvalue = {}\n", vector(0.2));
    if (chance(0.2)) text += fmt::format("[[damping]]\ntype = \"drag\"\ncoefficient = {:.3g}\n", in(0.0, 0.02));
    if (chance(0.2))
      text +=
          fmt::format("[[damping]]\ntype = \"rayleigh\"\nalpha = {:.3g}\nbeta = {:.3g}\n", in(0.0, 0.3), in(0.0, 0.01));
    if (chance(0.4)) {
      text += fmt::format("[[wall]]\ntype = \"plane\"\npoint = {}\nnormal = {}\n",
                          dim_ == 2 ? "[0, -0.3]" : "[0, -0.3, 0]", dim_ == 2 ? "[0, 1]" : "[0, 1, 0]");
      text += maybe(fmt::format("velocity = {}\n", dim_ == 2 ? "[0, 0.15]" : "[0, 0.15, 0]"));
      text += maybe(fmt::format("displacement = [\"0.2*sin({:.3g}*t)\", \"0.06*(1-cos({:.3g}*t))\"{}]\n", in(1, 5),
                                in(1, 9), dim_ == 2 ? "" : ", 0"));
    }
    return text;
  }

  std::string sheet_over_a_sphere() {
    std::string text = sheet(0.56) + fmt::format("[[contact]]\ndistance = {:.3g}\n", in(0.01, 0.03));
    if (chance(0.5)) text += fmt::format("friction = {:.3g}\n", in(0.1, 0.8));
    text += "[integrator]\ntrial = 0\n[run]\nend_time = 1.0\n[[wall]]\ntype = \"sphere\"\nradius = 0.5\n";
    text += fmt::format("centre = [{:.3g}, {:.3g}, 0]\n", in(0.3, 0.7), in(0.3, 0.7));
    text += fmt::format("[[load]]\ntype = \"gravity\"\nvalue = [0, 0, {:.3g}]\n", in(-2.0, -0.5));
    if (chance(0.3)) text += "[[fix]]\ngroup = \"left\"\n" + maybe("clamped = true\n");
    if (chance(0.3)) text += fmt::format("[[damping]]\ntype = \"rayleigh\"\nalpha = {:.3g}\n", in(0.0, 0.5));
    return text;
  }

  std::string particles() {
    is_body_ = false;
    const int n = 3 + static_cast<int>(random_.below(12));
    std::string mass, position, velocity, radius;
    for (int i = 0; i < n; ++i) {
      const char* comma = i > 0 ? ", " : "";
      mass += fmt::format("{}{:.3g}", comma, in(0.5, 2.0));
      radius += fmt::format("{}{:.3g}", comma, in(0.12, 0.16));
      std::string x = "[", v = "[";
      const int at[3] = {i % 3, i / 3 % 3, i / 9};
      for (int c = 0; c < dim_; ++c) {
        const int place = dim_ == 2 && c == 1 ? i / 3 : at[c];
        x += fmt::format("{}{:.4g}", c > 0 ? ", " : "", 0.35 * place + in(-0.02, 0.02));
        v += fmt::format("{}{:.4g}", c > 0 ? ", " : "", in(-0.3, 0.3));
      }
      position += comma + x + "]";
      velocity += comma + v + "]";
    }
    std::string text = fmt::format("[particles]\nmass = [{}]\nradius = [{}]\nposition = [{}]\nvelocity = [{}]\n", mass,
                                   radius, position, velocity);
    bool any = false;
    while (!any) {
      if (chance(0.5)) {
        text += fmt::format("[[potential]]\ntype = \"hertz\"\nyoung = {:.4g}\npoisson = 0.3\n", in(5.0, 50.0));
        if (takes_dampers_ && methods_ == Methods::that_strike && chance(0.3))
          text += fmt::format("restitution = {:.3g}\n", in(0.3, 1.0));
        else if (takes_dampers_ && methods_ == Methods::that_strike && chance(0.2))
          text += fmt::format("laplacian_damping = [{:.3g}, 1.5]\n", in(0.1, 2.0));
        hertz_ = any = true;
      }
      if (chance(0.4)) {
        text += fmt::format("[[potential]]\ntype = \"spring\"\nwithin = 0.4\nstiffness = {:.4g}\nlength = 0.35\n",
                            in(1.0, 20.0));
        bonds_ = is_stiff_ = any = true;
      }
      if (chance(0.2)) {
        text += fmt::format(
            "[[potential]]\ntype = \"morse\"\nwithin = 0.4\ndepth = {:.4g}\ninverse_width = 3.0\nlength = 0.35\n",
            in(0.05, 0.5));
        bonds_ = is_stiff_ = any = true;
      }
      if (chance(0.2)) {
        text += fmt::format("[[potential]]\ntype = \"lennard-jones\"\nepsilon = {:.4g}\nsigma = 0.3\ncutoff = 0.75\n",
                            in(0.001, 0.01));
        is_stiff_ = any = true;
      }
      if (chance(0.2)) {
        text +=
            fmt::format("[[potential]]\ntype = \"gravity\"\nG = {:.4g}\ntogether = {}\n", in(0.001, 0.02), chance(0.5));
        is_stiff_ = any = true;
      }
      if (chance(0.2)) {
        text += fmt::format("[[potential]]\ntype = \"well\"\nstiffness = {:.4g}\n", in(0.5, 10.0));
        is_stiff_ = any = true;
      }
    }
    return text;
  }

  std::string fix() {
    std::string text = fmt::format("[[fix]]\n{}", is_body_ ? "group = \"left\"\n" : "particles = [0, 2]\n");
    std::string motion = "[";
    for (int c = 0; c < dim_; ++c) {
      motion += c > 0 ? ", " : "";
      motion += chance(0.5) ? "0"
                            : fmt::format("\"{:.3g}*sin({:.3g}*t){}\"", in(-0.05, 0.05), in(1.0, 5.0),
                                          chance(0.3) ? "*(1 + Y)" : "");
    }
    motion += "]";
    if (dim_ > 1 && chance(0.4)) {
      const char* component = one_of({"x", "y"});
      text += fmt::format("components = [\"{}\"]\n", component);
      motion = fmt::format("[{}]", chance(0.5) ? "0" : "\"0.04*sin(3*t)\"");
    }
    if (takes_loads_ && chance(0.6)) text += "displacement = " + motion + "\n";
    return text;
  }

  std::string wall() {
    if (!is_body_ && hertz_)
      return fmt::format("[[wall]]\ntype = \"plane\"\npoint = {}\nnormal = {}\nyoung = {:.4g}\npoisson = 0.3\n",
                         dim_ == 2 ? "[0, -0.17]" : "[0, 0, -0.17]", dim_ == 2 ? "[0, 1]" : "[0, 0, 1]", in(5.0, 50.0));
    return fmt::format("[[wall]]\ntype = \"plane\"\n{}point = {}\nnormal = {}\npenalty = {:.3g}\n",
                       is_body_ ? "group = \"right\"\n" : "", along_x(1.02, 0.0), along_x(-1.0, 0.1), in(0.5, 5.0));
  }

  std::string steps(double safety) const {
    return is_body_ || is_stiff_ ? fmt::format("safety = {:.3g}\n", finer_ * safety)
                                 : fmt::format("step = {:.3g}\n", finer_ * 0.02);
  }
  std::string integrator() {
    const std::string drawn = methods_ == Methods::any ? any_method() : method_that_strikes();
    if (!reference_) return drawn;
    return "[integrator]\nmethod = \"newmark\"\n" + steps(0.4) + drawn.substr(drawn.find("[run]"));
  }
  std::string method_that_strikes() {
    std::string text = "[integrator]\nresidual = true\n" + steps(in(0.2, 0.7));
    if (method_ == std::string_view("newmark")) return text + "method = \"newmark\"\n[run]\nend_time = 1.5\n";
    if (chance(0.9) && (is_body_ || is_stiff_)) text += "trial = 0\n";  // or it is most of the time
    const bool nests = chance(0.6);
    text += fmt::format("lattice = \"{}\"\n", nests ? one_of({"auto", "powers-of-two", "powers-of-three"})
                                                    : one_of({"twos-and-threes", "any", "exact"}));
    text += fmt::format("steps = \"{}\"\n", one_of({"element", "element", "one-ring", "uniform"}));
    text += fmt::format("coupling = \"{}\"\n", nests ? one_of({"auto", "plain", "mollified"}) : "auto");
    return text + "[run]\nend_time = 1.5\n";
  }

  std::string any_method() {
    const std::string_view method = method_;
    std::string text =
        "[integrator]\nmethod = \"" + std::string(method.ends_with(" newmark") ? "newmark" : method) + "\"\n";
    if (method == "energy-stepping" || method == "async-energy-stepping")
      text += fmt::format("energy_step = {:.3g}\n", finer_ * in(0.002, 0.01));
    else
      text += steps(in(0.2, 0.6));
    if (method == "implicit newmark") text += "beta = 0.25\n";
    if (method == "damped newmark") text += "beta = 0.3025\ngamma = 0.6\n";
    if (method == "avi-implicit") text += fmt::format("implicit_step = {:.3g}\n", finer_ * in(0.01, 0.05));
    if (method == "trapezoidal" || method == "symmetric-midpoint")
      text += fmt::format("alpha = {:.2g}\n", in(0.0, 1.0));
    if (method == "gauss" || method == "lobatto") text += fmt::format("order = {}\n", one_of({"2", "4", "6"}));
    return text + "[run]\nend_time = 0.6\n";
  }

  const CaseFolder& folder_;
  Methods methods_;
  Random random_;
  std::uint64_t seed_;
  double finer_;
  bool reference_;
  const char* method_ = "";
  bool takes_loads_ = true, takes_dampers_ = true;
  int dim_ = 2;
  bool is_body_ = true, is_sheet_ = false, is_stiff_ = false, hertz_ = false, bonds_ = false;
};

double most(const std::vector<double>& values) {
  double result = 0.0;
  for (const double x : values) result = std::max(result, std::abs(x));
  return result;
}
struct Tally {
  int refused = 0, failed = 0, ran = 0, queues = 0, particles = 0, mollified = 0, motions = 0, near = 0;
  double ledger = 0.0, momentum = 0.0, queue = 0.0, gain = 0.0;
};

// Momenta that the method keeps are those of the start and what was booked since.
void look_at_momenta(const Simulation& s, const Snapshot& first, const Snapshot& last, Tally& tally) {
  if (s.body.in_field || s.integrator->claims().linear_momentum != Conservation::exact) return;
  Balance balance;
  balance.add(sample(*s.model, first));
  balance.add(sample(*s.model, last));
  const double error = balance.linear_momentum().error;
  tally.momentum = std::max(tally.momentum, error);
  EXPECT_LT(error, 1e-11);
}

// A run with stops on the way, on two threads, put to sleep and woken, without observers.
void look_at_bits(const CaseFolder& folder, const std::string& text, const Simulation& s, std::uint64_t seed) {
  Random random(seed + 1000000);
  const double end = s.input.end_time, stop = random.uniform(0.1, 0.5) * end, sleep = random.uniform(0.5, 0.9) * end;
  Simulation other = folder.build(text);
  other.integrator->use_threads(2);
  other.integrator->advance_to(other.state, stop);
  other.integrator->synchronized(other.state, stop);
  other.integrator->advance_to(other.state, sleep);
  write_checkpoint(folder.path() / "sleep", other.state, *other.integrator);
  Simulation woken = folder.build(text);
  read_checkpoint(folder.path() / "sleep", woken.state, *woken.integrator);
  woken.integrator->advance_to(woken.state, end);
  EXPECT_TRUE(test::same_bits(woken.state, s.state));
}

// The queue with the lattice's steps.
void look_at_queue(const CaseFolder& folder, const std::string& text, const Simulation& s, const State& fast,
                   double worked, Tally& tally) {
  if (!s.plan.choice || s.plan.choice->coupling != Coupling::plain) {
    tally.mollified += s.plan.choice ? 1 : 0;
    return;
  }
  // On the lattice dampers other than drag act one after the other, on the queue all of an instant together; and there
  // strikes at multiples of a third are not of one instant to the last bit. Alike to order 2.
  const bool one_by_one = std::ranges::any_of(std::array{"rayleigh", "kelvin", "restitution", "laplacian"},
                                              [&](const char* of) { return text.find(of) != std::string::npos; });
  if (s.model->has_dampers() && (one_by_one || s.plan.choice->rule != LatticeRule::powers_of_two)) return;
  Simulation queue = folder.build(text);
  AviExplicit exact(*queue.model, s.plan.steps);
  exact.advance_to(queue.state, s.input.end_time);
  const State slow = exact.synchronized(queue.state, s.input.end_time).state;
  const double size = std::max({most(slow.displacement), most(slow.velocity), 1e-3});
  const double off = std::max(test::largest_difference(fast.displacement, slow.displacement),
                              test::largest_difference(fast.velocity, slow.velocity));
  if (off < 1e-9 * size) {
    tally.queue = std::max(tally.queue, off / size);
  } else {  // chaotic: a push of 1e-15 goes as far
    Simulation pushed = folder.build(text);
    for (double& v : pushed.state.velocity) v *= 1.0 + 1e-15;
    pushed.integrator->advance_to(pushed.state, s.input.end_time);
    const State gone = pushed.integrator->synchronized(pushed.state, s.input.end_time).state;
    EXPECT_LT(off, 10.0 * test::largest_difference(fast.velocity, gone.velocity));
  }
  EXPECT_NEAR(fast.damping.work.value(), slow.damping.work.value(), 1e-9 * worked);
  EXPECT_NEAR(fast.loads.work.value(), slow.loads.work.value(), 1e-9 * worked);
  for (std::size_t i = 0; i < fast.supports.size(); ++i)
    EXPECT_NEAR(fast.supports[i].work.value(), slow.supports[i].work.value(), 1e-9 * worked);
  ++tally.queues;
}

void look_at_strikes(const CaseFolder& folder, const std::string& text, std::uint64_t seed, Tally& tally) {
  Simulation s = folder.build(text);
  const double end = s.input.end_time;
  EnergyResidual residual(*s.model);
  const Snapshot first = s.integrator->synchronized(s.state, 0.0);
  s.integrator->advance_to(s.state, 0.0);
  residual.begin(s.state);
  s.integrator->advance_to(s.state, end, residual);
  const Snapshot last = s.integrator->synchronized(s.state, end);
  double worked = std::abs(s.state.damping.work.value()) + std::abs(last.potential_energy);
  for (std::size_t i = 0; i < s.state.velocity.size(); ++i)
    worked += s.model->mass()[i / static_cast<std::size_t>(s.model->dim())] * s.state.velocity[i] * s.state.velocity[i];
  worked = std::max(worked, 1e-24);  // at rest there is rounding only
  tally.ledger = std::max(tally.ledger, std::abs(residual.unbooked(s.state)) / worked);
  EXPECT_LE(std::abs(residual.unbooked(s.state)), 1e-12 * worked);
  look_at_momenta(s, first, last, tally);
  look_at_bits(folder, text, s, seed);
  look_at_queue(folder, text, s, last.state, worked, tally);
}

void look_at_any(const CaseFolder& folder, const std::string& text, std::uint64_t seed, Tally& tally) {
  Simulation s = folder.build(text);
  const Snapshot first = s.integrator->synchronized(s.state, 0.0);
  s.integrator->advance_to(s.state, s.input.end_time);
  look_at_momenta(s, first, s.integrator->synchronized(s.state, s.input.end_time), tally);
  look_at_bits(folder, text, s, seed);
}

// Comes to the motion that Newmark's method has with small steps as its own become sixteen times smaller: its
// difference falls, unless that of Newmark's own with steps twice as large hides it.
void look_at_motion(const CaseFolder& folder, Draw::Methods methods, std::uint64_t seed, Tally& tally) {
  const auto end = [&](double finer, bool reference) {
    Simulation s = folder.build(Draw(folder, methods, seed, finer, reference)());
    s.integrator->advance_to(s.state, s.input.end_time);
    return s.integrator->synchronized(s.state, s.input.end_time).state;
  };
  const State exact = end(0.05, true);
  const double u = most(exact.displacement), v = most(exact.velocity);
  const auto off = [&](double finer, bool reference) {
    const State found = end(finer, reference);
    return std::max(test::largest_difference(found.displacement, exact.displacement) / u,
                    test::largest_difference(found.velocity, exact.velocity) / v);
  };
  constexpr double rest = 1e-9, chaos = 0.05;
  const double unsure = off(0.1, true);
  if (v < rest || unsure > chaos) return;
  const double coarse = std::max(off(1.0, false), off(0.25, false)), fine = off(0.0625, false);
  ++tally.motions;
  tally.near += fine < coarse / 10.0 + 2.0 * unsure ? 1 : 0;
  EXPECT_LT(fine, coarse / 4.0 + 2.0 * unsure);
}

// Draws so many cases, or as many as TEMPI_DRAWN_CASES says, and looks at each.
template <class Look>
Tally draw_cases(Draw::Methods methods, int count, Look&& look) {
  const CaseFolder folder;
  if (const char* asked = std::getenv("TEMPI_DRAWN_CASES")) count = std::atoi(asked);
  Tally tally;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(count); ++seed) {
    const std::string text = Draw(folder, methods, seed)();
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto note = [&](int& of, const std::exception& e) {
      ++of;
      std::printf("%d: %s\n%s", static_cast<int>(seed), e.what(), std::getenv("TEMPI_SHOW") ? text.c_str() : "");
    };
    try {
      look(folder, text, seed, tally);
      ++tally.ran;
      tally.particles += text.find("[particles]") != std::string::npos ? 1 : 0;
    } catch (const InputError& e) {
      note(tally.refused, e);
    } catch (const SolveError& e) {
      note(tally.failed, e);
    }
  }
  std::printf(
      "%d ran (%d of particles, %d beside the queue, %d mollified), %d refused, %d failed; ledger %.1e, "
      "momentum %.1e, queue %.1e\n",
      tally.ran, tally.particles, tally.queues, tally.mollified, tally.refused, tally.failed, tally.ledger,
      tally.momentum, tally.queue);
  return tally;
}

TEST(DrawnCases, KeepTheirLedgersAndTheirBits) {
  const Tally tally = draw_cases(Draw::Methods::that_strike, 60, look_at_strikes);
  const int all = tally.ran + tally.refused + tally.failed;
  EXPECT_GE(tally.ran, all * 8 / 10);
  EXPECT_GE(tally.queues, all / 5);
}

// And nobody passes through anybody.
TEST(DrawnCases, WithContactKeepTheirMomentaAndTheirBits) {
  int touched = 0;
  const auto look = [&](const CaseFolder& folder, const std::string& text, std::uint64_t seed, Tally& tally) {
    Simulation s = folder.build(text);
    const Snapshot first = s.integrator->synchronized(s.state, 0.0);
    Balance balance;
    balance.add(sample(*s.model, first));
    double force = 0.0, gain = 0.0;
    for (int k = 1; k <= 50; ++k) {
      const double t = k * s.input.end_time / 50;
      s.integrator->advance_to(s.state, t);
      const Snapshot now = s.integrator->synchronized(s.state, t);
      EXPECT_NO_THROW(require_sound(*s.model, now));
      force = std::max(force, now.contact[0].force);
      gain = std::max(gain, balance.gain(sample(*s.model, now)));
      balance.add(sample(*s.model, now));
    }
    touched += force > 0.0 ? 1 : 0;
    tally.gain = std::max(tally.gain, gain);
    EXPECT_LT(gain, s.input.energy_tolerance);
    look_at_momenta(s, first, s.integrator->synchronized(s.state, s.input.end_time), tally);
    look_at_bits(folder, text, s, seed);
  };
  const Tally tally = draw_cases(Draw::Methods::with_contact, 30, look);
  std::printf("%d touched, energy gained at most %.1e\n", touched, tally.gain);
  EXPECT_GE(tally.ran, (tally.ran + tally.refused + tally.failed) * 8 / 10);
  EXPECT_GE(touched, tally.ran / 3);
}

TEST(DrawnCases, OfOtherMethodsKeepTheirMomentaAndTheirBits) {
  const Tally tally = draw_cases(Draw::Methods::any, 60, look_at_any);
  EXPECT_GE(tally.ran, (tally.ran + tally.refused + tally.failed) * 7 / 10);  // not every method takes everything
}

// Whatever acts on it. But energy-stepping comes near as the root of its step in energy only, and avi-adaptive as its
// energies have it.
TEST(DrawnCases, ComeToOneMotion) {
  for (const auto methods : {Draw::Methods::that_strike, Draw::Methods::any}) {
    const auto look = [&](const CaseFolder& folder, const std::string& text, std::uint64_t seed, Tally& tally) {
      const bool other_steps =
          text.find("energy_step") != std::string::npos || text.find("adaptive") != std::string::npos;
      if (!other_steps) look_at_motion(folder, methods, seed, tally);
    };
    const Tally tally = draw_cases(methods, 40, look);
    std::printf("%d compared, %d of them at least ten times nearer\n", tally.motions, tally.near);
    EXPECT_GE(tally.motions, (tally.ran + tally.refused + tally.failed) * 6 / 10);
    EXPECT_GE(tally.near, tally.motions * 9 / 10);
  }
}

}  // namespace
}  // namespace tempi
