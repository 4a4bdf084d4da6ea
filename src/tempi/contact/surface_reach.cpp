// SPDX-License-Identifier: Apache-2.0
// Who is near other parts of a surface: boxes of simplices drawn into a grid, and each of its cells spread as far as
// the reach, along one axis after the other.
#include <algorithm>
#include <cmath>

#include "tempi/contact/contact_surface.hpp"
#include "tempi/contact/point3.hpp"
#include "tempi/core/disjoint_sets.hpp"

namespace tempi {
namespace {

constexpr std::int32_t nobody = -1, several = -2;

std::int32_t together(std::int32_t a, std::int32_t b) { return a == nobody ? b : b == nobody || a == b ? a : several; }

// Of parts, by cells.
struct PartGrid {
  using Cell = std::array<Index, 3>;

  Bounds box;
  double size;  // of a cell [m]
  Cell count{};
  std::vector<std::int32_t> part;

  PartGrid(const Bounds& of, double cell) : box(of), size(cell) {
    for (std::size_t c = 0; c < 3; ++c) count[c] = static_cast<Index>((box.high[c] - box.low[c]) / size) + 1;
    part.assign(static_cast<std::size_t>(count[0] * count[1] * count[2]), nobody);
  }

  std::int32_t& at(const Cell& i) { return part[static_cast<std::size_t>((i[2] * count[1] + i[1]) * count[0] + i[0])]; }
  Index along(std::size_t axis, double x) const {  // the nearest one there is
    const double i = (x - box.low[axis]) / size;
    return static_cast<Index>(std::clamp(i, 0.0, static_cast<double>(count[axis] - 1)));
  }
  // What lies in a box and no farther than `thick` from the plane through `on` with normal n (0: no such plane).
  void draw(const Bounds& what, const Point3<double>& on, const Point3<double>& n, double thick, std::int32_t of_part) {
    if (!box.touches(what)) return;
    const double beyond = std::sqrt(dot(n, n)) * (thick + size * std::sqrt(0.75));
    Cell i{};
    for (i[2] = along(2, what.low[2]); i[2] <= along(2, what.high[2]); ++i[2])
      for (i[1] = along(1, what.low[1]); i[1] <= along(1, what.high[1]); ++i[1])
        for (i[0] = along(0, what.low[0]); i[0] <= along(0, what.high[0]); ++i[0]) {
          double off = 0.0;  // of the middle of the cell
          for (std::size_t c = 0; c < 3; ++c)
            off += n[c] * (box.low[c] + (static_cast<double>(i[c]) + 0.5) * size - on[c]);
          if (std::abs(off) <= beyond) at(i) = together(at(i), of_part);
        }
  }
  void spread(std::size_t axis, Index far) {
    std::vector<std::int32_t> before(static_cast<std::size_t>(count[axis]));
    Cell i{};
    const std::size_t j = (axis + 1) % 3, k = (axis + 2) % 3;
    for (i[j] = 0; i[j] < count[j]; ++i[j])
      for (i[k] = 0; i[k] < count[k]; ++i[k]) {
        for (i[axis] = 0; i[axis] < count[axis]; ++i[axis]) before[static_cast<std::size_t>(i[axis])] = at(i);
        for (i[axis] = 0; i[axis] < count[axis]; ++i[axis])
          for (Index n = std::max<Index>(0, i[axis] - far); n <= std::min(count[axis] - 1, i[axis] + far); ++n)
            at(i) = together(at(i), before[static_cast<std::size_t>(n)]);
      }
  }
};

}  // namespace

std::vector<char> ContactSurface::near_others(double reach) const {
  constexpr double cells_of_reach = 8.0, most_cells = 96.0;  // along an axis, of the model
  Bounds all;
  for (const Vertex& v : vertices_)
    if (!v.is_rigid()) all.take(v.place);
  double longest = 0.0;
  for (std::size_t c = 0; c < 3; ++c) longest = std::max(longest, all.high[c] - all.low[c]);
  if (!hollows_.empty() || !(reach < longest)) return std::vector<char>(vertices_.size(), 1);

  DisjointSets parts(std::ssize(vertices_));
  for (const Simplex& s : simplices_)
    for (std::int32_t k = 1; k < s.size; ++k) parts.join(s.vertex[0], s.vertex[static_cast<std::size_t>(k)]);
  all.grow(reach);
  PartGrid grid(all, std::max(reach / cells_of_reach, longest / most_cells));
  for (const Simplex& s : simplices_) {
    Bounds box;
    double radius = 0.0;
    for (std::int32_t k = 0; k < s.size; ++k) {
      const Vertex& v = vertices_[static_cast<std::size_t>(s.vertex[static_cast<std::size_t>(k)])];
      box.take(v.place);
      radius = std::max(radius, v.radius);
    }
    box.grow(radius);
    const auto side = [&](std::size_t k) {
      const auto &x = vertices_[static_cast<std::size_t>(s.vertex[0])].place,
                 &y = vertices_[static_cast<std::size_t>(s.vertex[k])].place;
      return Point3<double>{y[0] - x[0], y[1] - x[1], y[2] - x[2]};
    };
    Point3<double> normal{};
    if (s.size == 3) normal = cross(side(1), side(2));
    if (s.size == 2 && dim_ == 2) normal = {-side(1)[1], side(1)[0], 0.0};
    grid.draw(box, vertices_[static_cast<std::size_t>(s.vertex[0])].place, normal, radius,
              static_cast<std::int32_t>(parts[s.vertex[0]]));
  }
  const auto far = static_cast<Index>(std::ceil(reach / grid.size)) + 1;
  for (std::size_t axis = 0; axis < 3; ++axis) grid.spread(axis, far);
  std::vector<char> near(vertices_.size(), 1);
  for (std::size_t v = 0; v < near.size(); ++v) {
    const auto& x = vertices_[v].place;
    near[v] = grid.at({grid.along(0, x[0]), grid.along(1, x[1]), grid.along(2, x[2])}) == several ? 1 : 0;
  }
  return near;
}

}  // namespace tempi
