// SPDX-License-Identifier: Apache-2.0
// A block of 2 x 2 x 2 cells, each cut into six 10-node tetrahedra, bent so that no edge's middle node is in its
// middle. Writers follow the documentation of each format, not a library's idea of it.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace tempi::test {

inline std::filesystem::path write_file(const std::string& name, const std::string& content) {
  const auto folder = std::filesystem::path(testing::TempDir()) /
                      testing::UnitTest::GetInstance()->current_test_info()->test_suite_name() /
                      testing::UnitTest::GetInstance()->current_test_info()->name();
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary) << content;
  return folder / name;
}

struct Element {
  int label = 0;
  int tag = 0;             // 1 near, 3 far: tetrahedra; 2 left: triangles
  std::vector<int> nodes;  // labels; vertices, then 01 12 20 or 01 12 20 03 13 23
};

struct CurvedBlock {
  std::vector<std::array<double, 3>> points;  // label = place + 1
  std::vector<Element> cells;                 // ascending labels
  std::vector<Element> facets;                // on X = 0 before bending

  CurvedBlock();
};

inline int lattice_label(const std::array<int, 3>& p) { return 1 + p[0] + 5 * p[1] + 25 * p[2]; }

inline std::vector<int> with_mid_nodes(std::span<const std::array<int, 3>> vertices) {
  static constexpr std::array<std::array<std::size_t, 2>, 6> edges = {{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}};
  std::vector<int> nodes;
  for (const auto& v : vertices) nodes.push_back(lattice_label(v));
  for (std::size_t e = 0; e < (vertices.size() == 4 ? 6u : 3u); ++e) {
    const auto& a = vertices[edges[e][0]];
    const auto& b = vertices[edges[e][1]];
    nodes.push_back(lattice_label({(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2}));
  }
  return nodes;
}

inline CurvedBlock::CurvedBlock() {
  for (int k = 0; k < 5; ++k)
    for (int j = 0; j < 5; ++j)
      for (int i = 0; i < 5; ++i) {
        const double x = i / 4.0, y = j / 4.0, z = k / 4.0;
        points.push_back({x + 0.5 * y * y, y + 0.25 * z * z, z + 0.25 * x * x});
      }
  using Point = std::array<int, 3>;
  constexpr std::array<std::array<std::size_t, 3>, 6> paths = {
      {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
  for (int cube = 0; cube < 8; ++cube)
    for (std::size_t p = 0; p < paths.size(); ++p) {
      std::array<Point, 4> v{};
      v[0] = {2 * (cube % 2), 2 * (cube / 2 % 2), 2 * (cube / 4)};
      for (std::size_t s = 0; s < 3; ++s) {
        v[s + 1] = v[s];
        v[s + 1][paths[p][s]] += 2;
      }
      if (p >= 3) std::swap(v[1], v[2]);  // odd permutations turn the other way
      cells.push_back({static_cast<int>(cells.size()) + 1, v[0][0] == 0 ? 1 : 3, with_mid_nodes(v)});
      std::vector<Point> face;
      std::ranges::copy_if(v, std::back_inserter(face), [](const Point& q) { return q[0] == 0; });
      if (face.size() == 3) facets.push_back({static_cast<int>(facets.size()) + 101, 2, with_mid_nodes(face)});
    }
}

inline std::vector<int> gmsh_order(std::vector<int> nodes) {
  if (nodes.size() == 10) std::swap(nodes[8], nodes[9]);
  return nodes;
}

inline std::string as_msh2(const CurvedBlock& block) {
  std::string text =
      "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n3 1 \"near\"\n2 2 \"left\"\n$EndPhysicalNames\n";
  text += fmt::format("$Nodes\n{}\n", block.points.size());
  for (std::size_t a = 0; a < block.points.size(); ++a)
    text += fmt::format("{} {}\n", a + 1, fmt::join(block.points[a], " "));
  text += fmt::format("$EndNodes\n$Elements\n{}\n", block.cells.size() + block.facets.size());
  for (const auto* list : {&block.facets, &block.cells})
    for (const Element& e : *list)
      text += fmt::format("{} {} 2 {} 7 {}\n", e.label, e.nodes.size() == 10 ? 11 : 9, e.tag,
                          fmt::join(gmsh_order(e.nodes), " "));
  return text + "$EndElements\n";
}

template <class T>
void append_bytes(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Binary, from 32-bit integers and doubles.
inline std::string as_binary_msh2(const CurvedBlock& block) {
  std::string text = "$MeshFormat\n2.2 1 8\n";
  append_bytes(text, std::int32_t{1});
  text += "\n$EndMeshFormat\n$PhysicalNames\n2\n3 1 \"near\"\n2 2 \"left\"\n$EndPhysicalNames\n";
  text += fmt::format("$Nodes\n{}\n", block.points.size());
  for (std::size_t a = 0; a < block.points.size(); ++a) {
    append_bytes(text, static_cast<std::int32_t>(a + 1));
    for (const double x : block.points[a]) append_bytes(text, x);
  }
  text += fmt::format("\n$EndNodes\n$Elements\n{}\n", block.cells.size() + block.facets.size());
  for (const auto* list : {&block.facets, &block.cells}) {
    for (const int header : {list->front().nodes.size() == 10 ? 11 : 9, static_cast<int>(list->size()), 2})
      append_bytes(text, std::int32_t{header});
    for (const Element& e : *list) {
      for (const int value : {e.label, e.tag, 7}) append_bytes(text, std::int32_t{value});
      for (const int node : gmsh_order(e.nodes)) append_bytes(text, std::int32_t{node});
    }
  }
  return text + "\n$EndElements\n";
}

inline std::string block_header(int dim, int tag, int physical) {  // of an entity in .msh 4.1
  return fmt::format("{} 0 0 0 1 1 1 1 {}{}\n", tag, physical, dim > 0 ? " 0" : "");
}

inline std::string as_msh4(const CurvedBlock& block) {
  std::string text =
      "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n3 1 \"near\"\n2 2 \"left\"\n$EndPhysicalNames\n";
  text += "$Entities\n0 0 1 2\n" + block_header(2, 12, 2) + block_header(3, 11, 1) + block_header(3, 13, 3) +
          "$EndEntities\n";
  text += fmt::format("$Nodes\n1 {0} 1 {0}\n3 11 0 {0}\n", block.points.size());
  for (std::size_t a = 0; a < block.points.size(); ++a) text += fmt::format("{}\n", a + 1);
  for (const auto& x : block.points) text += fmt::format("{}\n", fmt::join(x, " "));
  text += fmt::format("$EndNodes\n$Elements\n3 {} 1 200\n", block.cells.size() + block.facets.size());
  for (const int tag : {2, 1, 3}) {
    std::string lines;
    int count = 0;
    for (const auto* list : {&block.facets, &block.cells})
      for (const Element& e : *list)
        if (e.tag == tag) lines += fmt::format("{} {}\n", (++count, e.label), fmt::join(gmsh_order(e.nodes), " "));
    text += fmt::format("{} {} {} {}\n{}", tag == 2 ? 2 : 3, 10 + tag, tag == 2 ? 9 : 11, count, lines);
  }
  return text + "$EndElements\n";
}

inline void append_entity(std::string& text, int tag, int physical) {
  append_bytes(text, std::int32_t{tag});
  for (const double x : {0., 0., 0., 1., 1., 1.}) append_bytes(text, x);
  append_bytes(text, std::uint64_t{1});
  append_bytes(text, std::int32_t{physical});
  append_bytes(text, std::uint64_t{0});
}

// Binary, from 32-bit integers, 64-bit sizes and doubles.
inline std::string as_binary_msh4(const CurvedBlock& block) {
  const auto sizes = [](std::string& to, std::initializer_list<std::size_t> values) {
    for (const std::size_t value : values) append_bytes(to, std::uint64_t{value});
  };
  std::string text = "$MeshFormat\n4.1 1 8\n";
  append_bytes(text, std::int32_t{1});
  text += "\n$EndMeshFormat\n$PhysicalNames\n2\n3 1 \"near\"\n2 2 \"left\"\n$EndPhysicalNames\n$Entities\n";
  sizes(text, {0, 0, 1, 2});
  append_entity(text, 12, 2);
  append_entity(text, 11, 1);
  append_entity(text, 13, 3);
  text += "\n$EndEntities\n$Nodes\n";
  sizes(text, {1, block.points.size(), 1, block.points.size()});
  for (const int value : {3, 11, 0}) append_bytes(text, std::int32_t{value});
  sizes(text, {block.points.size()});
  for (std::size_t a = 0; a < block.points.size(); ++a) sizes(text, {a + 1});
  for (const auto& point : block.points)
    for (const double x : point) append_bytes(text, x);
  text += "\n$EndNodes\n$Elements\n";
  sizes(text, {3, block.cells.size() + block.facets.size(), 1, 200});
  for (const int tag : {2, 1, 3}) {
    std::string bytes;
    std::size_t count = 0;
    for (const auto* list : {&block.facets, &block.cells})
      for (const Element& e : *list) {
        if (e.tag != tag) continue;
        ++count;
        sizes(bytes, {static_cast<std::size_t>(e.label)});
        for (const int node : gmsh_order(e.nodes)) sizes(bytes, {static_cast<std::size_t>(node)});
      }
    for (const int value : {tag == 2 ? 2 : 3, 10 + tag, tag == 2 ? 9 : 11}) append_bytes(text, std::int32_t{value});
    sizes(text, {count});
    text += bytes;
  }
  return text + "\n$EndElements\n";
}

// Nastran, free fields: CTETRA has vertices, then 12 23 31 14 24 34.
inline std::string as_bdf(const CurvedBlock& block) {
  std::string text = "SOL 101\nBEGIN BULK\n";
  for (std::size_t a = 0; a < block.points.size(); ++a)
    text += fmt::format("GRID,{},,{:#}\n", a + 1, fmt::join(block.points[a], ","));
  for (const Element& e : block.cells) {
    const std::span n(e.nodes);
    text += fmt::format("CTETRA,{},{},{},+\n+,{}\n", e.label, e.tag, fmt::join(n.first(6), ","),
                        fmt::join(n.subspan(6), ","));
  }
  for (const Element& e : block.facets)
    text += fmt::format("CTRIA6,{},{},{}\n", e.label, e.tag, fmt::join(e.nodes, ","));
  return text + "ENDDATA\n";
}

// Legacy VTK: types 24 and 22.
inline std::string as_vtk(const CurvedBlock& block) {
  const std::size_t count = block.cells.size() + block.facets.size();
  std::string text = "# vtk DataFile Version 2.0\nblock\nASCII\nDATASET UNSTRUCTURED_GRID\n";
  text += fmt::format("POINTS {} double\n", block.points.size());
  for (const auto& x : block.points) text += fmt::format("{}\n", fmt::join(x, " "));
  text += fmt::format("CELLS {} {}\n", count, 11 * block.cells.size() + 7 * block.facets.size());
  std::string types;
  for (const auto* list : {&block.cells, &block.facets})
    for (const Element& e : *list) {
      text += fmt::format("{}", e.nodes.size());
      for (const int node : e.nodes) text += fmt::format(" {}", node - 1);
      text += "\n";
      types += e.nodes.size() == 10 ? "24\n" : "22\n";
    }
  return text + fmt::format("CELL_TYPES {}\n{}", count, types);
}

// Medit, second order.
inline std::string as_medit(const CurvedBlock& block) {
  std::string text = fmt::format("MeshVersionFormatted 2\nDimension 3\nVertices\n{}\n", block.points.size());
  for (const auto& x : block.points) text += fmt::format("{} 0\n", fmt::join(x, " "));
  for (const auto* list : {&block.facets, &block.cells}) {
    text += fmt::format("{}\n{}\n", list->front().nodes.size() == 10 ? "TetrahedraP2" : "TrianglesP2", list->size());
    for (const Element& e : *list) text += fmt::format("{} {}\n", fmt::join(e.nodes, " "), e.tag);
  }
  return text + "End\n";
}

// I-deas universal: data sets 2411 and 2412; elements 118 and 92 go round their edges, mid nodes between vertices.
inline std::string as_unv(const CurvedBlock& block) {
  const std::string mark = "    -1\n";
  std::string text = mark + "  2411\n";
  for (std::size_t a = 0; a < block.points.size(); ++a) {
    std::string x;
    for (const double value : block.points[a]) x += fmt::format("{:25.16E}", value);
    std::ranges::replace(x, 'E', 'D');
    text += fmt::format("{:10}{:10}{:10}{:10}\n{}\n", a + 1, 1, 1, 11, x);
  }
  text += mark + mark + "  2412\n";
  constexpr std::array<std::size_t, 10> round = {0, 4, 1, 5, 2, 6, 7, 8, 9, 3};
  for (const auto* list : {&block.cells, &block.facets})
    for (const Element& e : *list) {
      text += fmt::format("{:10}{:10}{:10}{:10}{:10}{:10}\n", e.label, e.nodes.size() == 10 ? 118 : 92, e.tag, 5, 7,
                          e.nodes.size());
      const std::array<std::size_t, 6> triangle = {0, 3, 1, 4, 2, 5};
      for (std::size_t i = 0; i < e.nodes.size(); ++i)
        text += fmt::format("{:10}{}", e.nodes[e.nodes.size() == 10 ? round[i] : triangle[i]], i == 7 ? "\n" : "");
      text += "\n";
    }
  return text + mark;
}

// Abaqus: the tag as an element set, facets as CPE6 elements.
inline std::string as_inp(const CurvedBlock& block) {
  std::string text = "*HEADING\nblock\n*NODE\n";
  for (std::size_t a = 0; a < block.points.size(); ++a)
    text += fmt::format("{}, {}\n", a + 1, fmt::join(block.points[a], ", "));
  for (const auto& [tag, name] : {std::pair(3, "far"), std::pair(1, "near")}) {
    text += fmt::format("*ELEMENT, TYPE=C3D10, ELSET={}\n", name);
    for (const Element& e : block.cells)
      if (e.tag == tag)
        text += fmt::format("{}, {},\n {}\n", e.label, fmt::join(std::span(e.nodes).first(7), ", "),
                            fmt::join(std::span(e.nodes).subspan(7), ", "));
  }
  text += "*ELEMENT, TYPE=CPE6, ELSET=left\n";
  for (const Element& e : block.facets) text += fmt::format("{}, {}\n", e.label, fmt::join(e.nodes, ", "));
  return text;
}

}  // namespace tempi::test
