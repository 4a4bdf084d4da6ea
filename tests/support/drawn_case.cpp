// SPDX-License-Identifier: Apache-2.0
#include "support/drawn_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "support/lattice.hpp"
#include "support/meshes.hpp"
#include "tempi/io/msh_writer.hpp"

namespace tempi::test {
namespace {

class Draw {
 public:
  Draw(const CaseFolder& folder, DrawnMethods methods, std::uint64_t seed, double finer, bool reference)
      : folder_(folder), methods_(methods), random_(seed), seed_(seed), finer_(finer), reference_(reference) {}

  std::string operator()() {
    if (methods_ == DrawnMethods::with_contact) return contact();
    dim_ = chance(0.5) ? 2 : 3;
    method_ = methods_ == DrawnMethods::that_strike
                  ? chance(0.15) ? "newmark" : "avi"
                  : one_of({"symplectic-euler-a", "symplectic-euler-b", "trapezoidal", "midpoint", "symmetric-midpoint",
                            "gauss", "lobatto", "implicit newmark", "damped newmark", "avi-implicit",
                            "symplectic-energy-momentum", "multi-domain", "energy-stepping", "async-energy-stepping",
                            "avi-adaptive", "energy-momentum", "rk4", "shake", "rattle"});
    const std::string_view method = method_;
    takes_loads_ = method.find("energy-") == std::string_view::npos;
    takes_dampers_ = takes_loads_ && method != "avi-adaptive";
    const std::string model = chance(0.35) || method == "energy-momentum" ? particles() : chance(0.1) ? bar() : body();
    const std::string bound = method == "shake" || method == "rattle" ? maybe(constraint()) : "";
    is_bound_ = !bound.empty();
    std::string text = model + bound + integrator();
    if (method == "multi-domain" && is_body_ && chance(0.6)) {
      const std::string two = domains();
      if (!reference_) text += two;
    }
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

  // With the default parts of stable steps, or finer ones.
  std::string layers(double distance) const {
    return fmt::format("[[contact]]\ndistance = {:.3g}\nalpha = {:.3g}\nsurface_safety = {:.3g}\n", distance,
                       0.05 * finer_, 0.3 * finer_);
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
    text += layers(in(0.02, 0.05));
    if (chance(0.3)) text += fmt::format("friction = {:.3g}\n", in(0.1, 0.8));
    if (chance(0.3)) text += fmt::format("energy_restitution = {:.3g}\n", in(0.3, 0.9));
    text += fmt::format("[integrator]\nsafety = {:.3g}\ntrial = 0\n", finer_ * (chance(0.5) ? 0.9 : in(0.3, 0.8)));
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
    std::string text = sheet(0.56) + layers(in(0.01, 0.03));
    if (chance(0.5)) text += fmt::format("friction = {:.3g}\n", in(0.1, 0.8));
    text += fmt::format(
        "[integrator]\nsafety = {:.3g}\ntrial = 0\n[run]\nend_time = 1.0\n[[wall]]\ntype = \"sphere\"\nradius = 0.5\n",
        0.9 * finer_);
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
        if (takes_dampers_ && methods_ == DrawnMethods::that_strike && chance(0.3))
          text += fmt::format("restitution = {:.3g}\n", in(0.3, 1.0));
        else if (takes_dampers_ && methods_ == DrawnMethods::that_strike && chance(0.2))
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
      if (chance(0.15)) {
        text += fmt::format(
            "[[potential]]\ntype = \"lennard-jones\"\nepsilon = {:.4g}\nsigma = 0.3\ncutoff = 0.9\nsplit = [{:.3g}]\n",
            in(0.001, 0.01), in(0.45, 0.6));
        is_stiff_ = any = true;
      }
      if (chance(0.15)) {
        text += fmt::format("[[potential]]\ntype = \"embedded-atom\"\ndepth = {:.4g}\ncutoff = {:.3g}\nexponent = {}\n",
                            in(0.005, 0.05), in(0.5, 0.8), one_of({"3", "4"}));
        is_stiff_ = any = true;
      }
      if (chance(0.15)) {
        text += fmt::format(
            "[[potential]]\ntype = \"expression\"\nwithin = 0.4\nexpression = \"{:.4g}*(r - 0.35)^2 + exp(-6*r)\"\n",
            in(0.5, 5.0));
        bonds_ = is_stiff_ = any = true;
      }
      if (chance(0.2)) {
        text +=
            fmt::format("[[potential]]\ntype = \"gravity\"\nG = {:.4g}\ntogether = {}\n", in(0.001, 0.02), chance(0.5));
        is_stiff_ = any = true;
      }
      if (chance(0.2)) {
        text += fmt::format("[[potential]]\ntype = \"well\"\nstiffness = {:.4g}\n{}", in(0.5, 10.0),
                            maybe("particles = [0]\n"));
        is_stiff_ = any = true;
      }
      if (chance(0.15)) {
        text += fmt::format(
            "[[potential]]\ntype = \"tanh-spring\"\nwithin = 0.4\nstrength = {:.3g}\nwidth = 0.1\nlength = 0.35\n",
            in(0.1, 1.0));
        bonds_ = is_stiff_ = any = true;
      }
      if (any && chance(0.15)) {
        text += fmt::format("[[potential]]\ntype = \"uniform-field\"\nacceleration = {}\n",
                            dim_ == 2 ? "[0.1, -0.2]" : "[0.1, -0.2, 0.05]");
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

  // For the methods that keep them.
  std::string constraint() {
    const std::string nodes =
        is_body_ ? fmt::format("where = \"X > {:.3g}\"\n", in(0.6, 0.95)) : "particles = [0, 1, 2]\n";
    switch (random_.below(4)) {
      case 0:
        return "[[constraint]]\ntype = \"distance\"\n" +
               (is_body_ ? nodes + "within = 0.6\n" : "pairs = [[0, 1], [1, 2]]\n");
      case 1: return "[[constraint]]\ntype = \"link\"\n" + nodes + fmt::format("anchor = {}\n", along_x(1.3, -0.4));
      case 2: return "[[constraint]]\ntype = \"rigid-body\"\n" + nodes;
      default:
        return "[[constraint]]\ntype = \"surface\"\nparticles = [1]\n" +
               fmt::format("expression = \"X^2 + Y^2 - {}\"\n", is_body_ ? "0" : "0.1225");
    }
  }

  // Two halves with rules and rhythms of their own.
  std::string domains() {
    std::string text;
    for (const char* side : {"<=", ">"}) {
      text += fmt::format("[[domain]]\nwhere = \"X {} 0.5\"\nalpha = {}\n", side, one_of({"0", "0.5", "1"}));
      if (chance(0.5)) text += fmt::format("substeps = {}\n", 1 + random_.below(4));
    }
    return text;
  }

  // With a penalty or, of energy-stepping, hard.
  std::string wall() {
    const bool hard = std::string_view(method_).ends_with("energy-stepping") && chance(0.5);
    const std::string penalty = hard ? "" : fmt::format("penalty = {:.3g}\n", in(0.5, 5.0));
    if (chance(0.3)) {
      switch (random_.below(dim_ == 3 ? 3 : 2)) {
        case 0:
          return fmt::format("[[wall]]\ntype = \"sphere\"\ncentre = {}\nradius = {:.3g}\ninside = true\n{}",
                             along_x(0.5, 0.5), in(0.9, 1.1), penalty);
        case 1:
          return fmt::format("[[wall]]\ntype = \"box\"\nlow = {}\nhigh = {}\n{}", along_x(1.02, -0.5),
                             dim_ == 1   ? "[2]"
                             : dim_ == 2 ? "[2, 2]"
                                         : "[2, 2, 2]",
                             penalty);
        default:
          return fmt::format(
              "[[wall]]\ntype = \"cylinder\"\npoint = [1.5, 0.5, 0]\naxis = [0, {:.3g}, 1]\nradius = 0.48\n{}",
              in(-0.3, 0.3), penalty);
      }
    }
    if (!is_body_ && hertz_)
      return fmt::format("[[wall]]\ntype = \"plane\"\npoint = {}\nnormal = {}\nyoung = {:.4g}\npoisson = 0.3\n",
                         dim_ == 2 ? "[0, -0.17]" : "[0, 0, -0.17]", dim_ == 2 ? "[0, 1]" : "[0, 0, 1]", in(5.0, 50.0));
    return fmt::format("[[wall]]\ntype = \"plane\"\n{}point = {}\nnormal = {}\n{}",
                       is_body_ ? "group = \"right\"\n" : "", along_x(1.02, 0.0), along_x(-1.0, 0.1), penalty);
  }

  std::string steps(double safety) const {
    return is_body_ || is_stiff_ ? fmt::format("safety = {:.3g}\n", finer_ * safety)
                                 : fmt::format("step = {:.3g}\n", finer_ * 0.02);
  }
  // Of avi: which part of its stable step each element takes.
  std::string own_steps(double safety) {
    std::string text =
        is_body_ && !is_sheet_ && chance(0.2) ? fmt::format("courant = {:.3g}\n", finer_ * safety) : steps(safety);
    if (chance(0.2)) text += fmt::format("neighbour_ratio = {:.3g}\n", in(1.0, 4.0));
    if (is_body_ && chance(0.2)) text += fmt::format("mass_shares = \"{}\"\n", one_of({"own", "balanced"}));
    if (is_body_ && chance(0.1)) text += fmt::format("nodal_safety = {:.3g}\n", finer_ * in(0.5, 0.9));
    return text;
  }
  std::string integrator() {
    const std::string drawn = methods_ == DrawnMethods::any ? any_method() : method_that_strikes();
    if (!reference_) return drawn;
    return fmt::format("[integrator]\nmethod = \"{}\"\n", is_bound_ ? "rattle" : "newmark") + steps(0.4) +
           drawn.substr(drawn.find("[run]"));
  }
  std::string method_that_strikes() {
    const double safety = in(0.2, 0.7);
    std::string text = "[integrator]\nresidual = true\n";
    if (method_ == std::string_view("newmark"))
      return text + "method = \"newmark\"\n" + steps(safety) + "[run]\nend_time = 1.5\n";
    text += own_steps(safety);
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
      text += fmt::format("energy_step = {:.3g}\n", (is_sheet_ ? 0.01 : 1.0) * finer_ * in(0.002, 0.01));
    else
      text += steps(in(0.2, 0.6));
    if (method == "async-energy-stepping")
      text += fmt::format("subdomains = {}\n", one_of({"\"bodies\"", "\"groups\"", "\"terms\"", "3"}));
    if (method == "implicit newmark") text += "beta = 0.25\n";
    if (method == "damped newmark") text += "beta = 0.3025\ngamma = 0.6\n";
    if (method == "avi-implicit") text += fmt::format("implicit_step = {:.3g}\n", finer_ * in(0.01, 0.05));
    if (method == "trapezoidal" || method == "symmetric-midpoint")
      text += fmt::format("alpha = {:.2g}\n", in(0.0, 1.0));
    if (method == "gauss" || method == "lobatto") text += fmt::format("order = {}\n", one_of({"2", "4", "6"}));
    return text + "[run]\nend_time = 0.6\n";
  }

  const CaseFolder& folder_;
  DrawnMethods methods_;
  Random random_;
  std::uint64_t seed_;
  double finer_;
  bool reference_;
  const char* method_ = "";
  bool takes_loads_ = true, takes_dampers_ = true;
  int dim_ = 2;
  bool is_body_ = true, is_sheet_ = false, is_stiff_ = false, hertz_ = false, bonds_ = false, is_bound_ = false;
};

}  // namespace

std::string draw_case(const CaseFolder& folder, DrawnMethods methods, std::uint64_t seed, double finer,
                      bool reference) {
  return Draw(folder, methods, seed, finer, reference)();
}

}  // namespace tempi::test
