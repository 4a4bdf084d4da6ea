// SPDX-License-Identifier: Apache-2.0
// Isoparametric simplices: shape functions N_a and their derivatives on the reference cell, and quadrature.
//
// Reference cells: line [-1, 1]; triangle 0 <= xi, eta, xi + eta <= 1; tetrahedron likewise. Node order as in
// cell_type.hpp. The stiffness rule of each element integrates the products of gradients exactly on straight cells:
// 1 point for linear, 3 for the 6-node triangle, 4 for the 10-node tetrahedron (full rank in each case); curved
// 10-node tetrahedra have 8, curved 6-node triangles pass the patch test with their 3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "tempi/mesh/cell_type.hpp"

namespace tempi {

template <int D>
struct QuadraturePoint {
  std::array<double, static_cast<std::size_t>(D)> xi;
  double weight;
};

struct Line2 {
  static constexpr CellType type = CellType::line2;
  static constexpr int dim = 1, nodes = 2;
  using Point = std::array<double, 1>;
  static constexpr std::array<double, 2> shape(const Point& p) { return {0.5 * (1.0 - p[0]), 0.5 * (1.0 + p[0])}; }
  static constexpr std::array<Point, 2> derivative(const Point&) { return {{{-0.5}, {0.5}}}; }
  static constexpr std::array<QuadraturePoint<1>, 1> stiffness_rule = {{{{0.0}, 2.0}}};
  static constexpr std::array<double, 2> hrz = {1.0 / 2, 1.0 / 2};
};

struct Line3 {  // a facet only
  static constexpr CellType type = CellType::line3;
  static constexpr int dim = 1, nodes = 3;
  using Point = std::array<double, 1>;
  static constexpr std::array<double, 3> shape(const Point& p) {
    const double s = p[0];
    return {0.5 * s * (s - 1.0), 0.5 * s * (s + 1.0), (1.0 - s) * (1.0 + s)};
  }
  static constexpr std::array<Point, 3> derivative(const Point& p) {
    return {{{p[0] - 0.5}, {p[0] + 0.5}, {-2.0 * p[0]}}};
  }
};

struct Triangle3 {
  static constexpr CellType type = CellType::triangle3;
  static constexpr int dim = 2, nodes = 3;
  using Point = std::array<double, 2>;
  static constexpr std::array<double, 3> shape(const Point& p) { return {1.0 - p[0] - p[1], p[0], p[1]}; }
  static constexpr std::array<Point, 3> derivative(const Point&) { return {{{-1.0, -1.0}, {1.0, 0.0}, {0.0, 1.0}}}; }
  static constexpr std::array<QuadraturePoint<2>, 1> stiffness_rule = {{{{1.0 / 3, 1.0 / 3}, 0.5}}};
  static constexpr std::array<double, 3> hrz = {1.0 / 3, 1.0 / 3, 1.0 / 3};
};

struct Triangle6 {
  static constexpr CellType type = CellType::triangle6;
  static constexpr int dim = 2, nodes = 6;
  using Point = std::array<double, 2>;
  static constexpr std::array<double, 6> shape(const Point& p) {
    const double r = p[0], s = p[1], q = 1.0 - r - s;
    return {q * (2.0 * q - 1.0), r * (2.0 * r - 1.0), s * (2.0 * s - 1.0), 4.0 * q * r, 4.0 * r * s, 4.0 * s * q};
  }
  static constexpr std::array<Point, 6> derivative(const Point& p) {
    const double r = p[0], s = p[1], q = 1.0 - r - s;
    return {{{1.0 - 4.0 * q, 1.0 - 4.0 * q},
             {4.0 * r - 1.0, 0.0},
             {0.0, 4.0 * s - 1.0},
             {4.0 * (q - r), -4.0 * r},
             {4.0 * s, 4.0 * r},
             {-4.0 * s, 4.0 * (q - s)}}};
  }
  static constexpr std::array<QuadraturePoint<2>, 3> stiffness_rule = {
      {{{1.0 / 6, 1.0 / 6}, 1.0 / 6}, {{2.0 / 3, 1.0 / 6}, 1.0 / 6}, {{1.0 / 6, 2.0 / 3}, 1.0 / 6}}};
  static constexpr std::array<double, 6> hrz = {1.0 / 19, 1.0 / 19, 1.0 / 19, 16.0 / 57, 16.0 / 57, 16.0 / 57};
};

struct Tetrahedron4 {
  static constexpr CellType type = CellType::tetrahedron4;
  static constexpr int dim = 3, nodes = 4;
  using Point = std::array<double, 3>;
  static constexpr std::array<double, 4> shape(const Point& p) { return {1.0 - p[0] - p[1] - p[2], p[0], p[1], p[2]}; }
  static constexpr std::array<Point, 4> derivative(const Point&) {
    return {{{-1.0, -1.0, -1.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
  }
  static constexpr std::array<QuadraturePoint<3>, 1> stiffness_rule = {{{{0.25, 0.25, 0.25}, 1.0 / 6}}};
  static constexpr std::array<double, 4> hrz = {0.25, 0.25, 0.25, 0.25};
};

struct Tetrahedron10 {
  static constexpr CellType type = CellType::tetrahedron10;
  static constexpr int dim = 3, nodes = 10;
  using Point = std::array<double, 3>;
  static constexpr std::array<double, 10> shape(const Point& p) {
    const double r = p[0], s = p[1], t = p[2], q = 1.0 - r - s - t;
    return {q * (2.0 * q - 1.0), r * (2.0 * r - 1.0), s * (2.0 * s - 1.0), t * (2.0 * t - 1.0), 4.0 * q * r,
            4.0 * r * s,         4.0 * s * q,         4.0 * q * t,         4.0 * r * t,         4.0 * s * t};
  }
  static constexpr std::array<Point, 10> derivative(const Point& p) {
    const double r = p[0], s = p[1], t = p[2], q = 1.0 - r - s - t;
    const double d0 = 1.0 - 4.0 * q;
    return {{{d0, d0, d0},
             {4.0 * r - 1.0, 0.0, 0.0},
             {0.0, 4.0 * s - 1.0, 0.0},
             {0.0, 0.0, 4.0 * t - 1.0},
             {4.0 * (q - r), -4.0 * r, -4.0 * r},
             {4.0 * s, 4.0 * r, 0.0},
             {-4.0 * s, 4.0 * (q - s), -4.0 * s},
             {-4.0 * t, -4.0 * t, 4.0 * (q - t)},
             {4.0 * t, 0.0, 4.0 * r},
             {0.0, 4.0 * t, 4.0 * s}}};
  }
  static constexpr double near = 0.1381966011250105, far = 0.5854101966249685;  // (5 -+ sqrt 5)/20 and the rest
  static constexpr std::array<QuadraturePoint<3>, 4> stiffness_rule = {{{{near, near, near}, 1.0 / 24},
                                                                        {{far, near, near}, 1.0 / 24},
                                                                        {{near, far, near}, 1.0 / 24},
                                                                        {{near, near, far}, 1.0 / 24}}};
  static constexpr std::array<double, 10> hrz = {1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36, 4.0 / 27,
                                                 4.0 / 27, 4.0 / 27, 4.0 / 27, 4.0 / 27, 4.0 / 27};
};

// Curved tetrahedra: the area vectors of their sides are of degree 3 under the integral, so that the patch test needs a
// rule of that degree: vertices and centroids of faces.
struct CurvedTetrahedron10 : Tetrahedron10 {
  static constexpr double third = 1.0 / 3;
  static constexpr std::array<QuadraturePoint<3>, 8> stiffness_rule = {{{{0.0, 0.0, 0.0}, 1.0 / 240},
                                                                        {{1.0, 0.0, 0.0}, 1.0 / 240},
                                                                        {{0.0, 1.0, 0.0}, 1.0 / 240},
                                                                        {{0.0, 0.0, 1.0}, 1.0 / 240},
                                                                        {{0.0, third, third}, 3.0 / 80},
                                                                        {{third, 0.0, third}, 3.0 / 80},
                                                                        {{third, third, 0.0}, 3.0 / 80},
                                                                        {{third, third, third}, 3.0 / 80}}};
};

// The elements that cells have: for straight ones, whose quadrature points share one Jacobian, and for curved ones.
// Everything that is made of elements (cells, their kernels) is made from this list.
template <class E, bool of_straight>
struct CellElement {
  using Element = E;
  static constexpr bool straight = of_straight;
};
using CellElements = std::tuple<CellElement<Line2, true>, CellElement<Triangle3, true>, CellElement<Triangle6, true>,
                                CellElement<Triangle6, false>, CellElement<Tetrahedron4, true>,
                                CellElement<Tetrahedron10, true>, CellElement<CurvedTetrahedron10, false>>;
enum class CellShape : std::uint8_t {};  // a place in the list

// visit(element, shape) for each in the list until it returns true; whether one did.
template <class Visit>
constexpr bool any_cell_element(Visit&& visit) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return (visit(std::tuple_element_t<i, CellElements>{}, static_cast<CellShape>(i)) || ...);
  }
  (std::make_index_sequence<std::tuple_size_v<CellElements>>{});
}

// The element of cells of a type; none where there is no such element. Cells of linear types are always straight.
constexpr std::optional<CellShape> cell_shape(CellType type, bool straight) {
  std::optional<CellShape> found;
  any_cell_element([&]<class E>(E, CellShape shape) {
    if (E::Element::type == type && E::straight == straight) found = shape;
    return found.has_value();
  });
  return found;
}

// A rule exact for polynomials of degree 2 n - D on the reference cell (n <= 5): Gauss points on the collapsed cube.
// For set-up, where cost does not matter: masses of curved cells, loads on facets.
template <int D>
std::vector<QuadraturePoint<D>> collapsed_gauss_rule(int n);

}  // namespace tempi
