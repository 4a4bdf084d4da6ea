// SPDX-License-Identifier: Apache-2.0
#include "tempi/element/shell.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

#include "support/measured_batches.hpp"
#include "support/shells.hpp"
#include "tempi/core/error.hpp"
#include "tempi/mesh/facets.hpp"

namespace tempi {
namespace {

constexpr Lame lame{1.3, 0.7};
constexpr double thickness = 0.07, density = 2.5;
using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Part {
  std::string name;
  std::unique_ptr<Potential> potential;
};

// Everything a shell of a mesh is made of; the mesh's first material.
std::vector<Part> parts_of(const Mesh& mesh) {
  std::vector<Part> parts;
  for (const Material& material : {Material(SaintVenantKirchhoff{lame}), Material(NeoHookean{lame})})
    parts.push_back(
        {test::name_of(material), make_membrane(mesh, test::all_cells(mesh), {material, density, thickness})});
  const std::vector<double> D(static_cast<std::size_t>(mesh.cells().size()), 0.4);
  parts.push_back({"hinges", make_hinges(mesh, D)});
  std::vector<NodeId> all;
  for (Index a = 0; a < mesh.node_count(); ++a) all.push_back(make_id<NodeId>(a));
  parts.push_back({"clamped edges", make_clamped_edges(mesh, D, std::vector<std::vector<NodeId>>{all})});
  return parts;
}

Dense hessian(const LocalPotential& potential, Index k, std::span<const double> u) {
  const auto n = static_cast<Index>(potential.stencil(k).size()) * 3;
  Dense H = Dense::Zero(n, n);
  potential.add_hessian(k, u, 0.0, {H.data(), static_cast<std::size_t>(n * n)});
  return H;
}

std::vector<double> gradient(const Potential& potential, Index k, std::span<const double> u) {
  std::vector<double> g(potential.stencil(k).size() * 3, 0.0);
  potential.add_gradient(k, u, 0.0, g);
  return g;
}

void put(const Eigen::Vector3d& x, double* to) { std::copy_n(x.data(), 3, to); }

TEST(Shell, has_gradients_of_its_energies) {
  for (const double jitter : {0.0, 0.15}) {
    const Mesh mesh = test::curved_shell(4, jitter, 3);
    for (const double part : {0.05, 0.3}) {
      const std::vector<double> u = test::random_displacements(mesh, part * 0.25, 7);
      for (const Part& p : parts_of(mesh)) {
        double largest = 0.0, worst = 0.0;
        for (Index k = 0; k < p.potential->size(); ++k) {
          const double of_term = test::largest(gradient(*p.potential, k, u));
          largest = std::max(largest, of_term);
          worst = std::max(worst, of_term * check_gradient(*p.potential, k, u, 0.0, 1e-5 * 0.25));
        }
        EXPECT_LT(worst, 1e-8 * largest) << p.name;
      }
    }
  }
}

TEST(Shell, has_hessians_of_its_gradients) {
  const Mesh mesh = test::curved_shell(3, 0.1, 3);
  std::vector<double> u = test::random_displacements(mesh, 0.05, 7);
  for (const Part& p : parts_of(mesh))
    for (Index k = 0; k < p.potential->size(); ++k) {
      const auto nodes = p.potential->stencil(k);
      const Dense H = hessian(*p.potential->as_local(), k, u);
      EXPECT_LT((H - H.transpose()).norm(), 1e-13 * H.norm());
      for (std::size_t j = 0; j < 3 * nodes.size(); ++j) {
        double& x = u[ordinal(nodes[j / 3]) * 3 + j % 3];
        const double kept = x, h = 1e-5;
        x = kept + h;
        const auto ahead = gradient(*p.potential, k, u);
        x = kept - h;
        const auto behind = gradient(*p.potential, k, u);
        x = kept;
        for (std::size_t i = 0; i < ahead.size(); ++i)
          EXPECT_NEAR((ahead[i] - behind[i]) / (2.0 * h), H(static_cast<Index>(i), static_cast<Index>(j)),
                      2e-8 * H.norm())
              << p.name;
      }
    }
}

// Turned by anything and moved, no term pulls; forces are held against those of a strain or an angle of one.
TEST(Shell, feels_no_rigid_motion) {
  const Mesh mesh = test::curved_shell(4, 0.15, 5);
  const Eigen::Matrix3d R = Eigen::AngleAxisd(2.1, Eigen::Vector3d(1.0, -2.0, 0.5).normalized()).toRotationMatrix();
  std::vector<double> u(mesh.points().size());
  for (std::size_t a = 0; a < u.size() / 3; ++a) {
    const Eigen::Vector3d X(mesh.points()[3 * a], mesh.points()[3 * a + 1], mesh.points()[3 * a + 2]);
    put(R * X - X + Eigen::Vector3d(0.3, -2.0, 1.0), &u[3 * a]);
  }
  for (const Part& p : parts_of(mesh)) {
    if (p.name == "clamped edges") continue;  // they feel rotations: that is what they are for
    for (Index k = 0; k < p.potential->size(); ++k) {
      const double stiffness = hessian(*p.potential->as_local(), k, std::vector<double>(u.size(), 0.0)).norm();
      EXPECT_LT(test::largest(gradient(*p.potential, k, u)), 1e-13 * stiffness) << p.name;
    }
  }
}

TEST(Shell, clamped_edges_feel_rotations_but_no_translation) {
  const Mesh mesh = test::curved_shell(3, 0.1, 5);
  const Part clamps = std::move(parts_of(mesh).back());
  std::vector<double> u(mesh.points().size());
  for (std::size_t a = 0; a < u.size() / 3; ++a) u[3 * a + 1] = 0.37;
  for (Index k = 0; k < clamps.potential->size(); ++k) {
    EXPECT_LT(test::largest(gradient(*clamps.potential, k, u)), 1e-13);
    const double phi = 0.3;  // about its own edge
    const auto nodes = clamps.potential->stencil(k);
    const auto X = [&](NodeId a) { return Eigen::Vector3d(mesh.point(a)[0], mesh.point(a)[1], mesh.point(a)[2]); };
    const Eigen::Vector3d axis = X(nodes[1]) - X(nodes[0]), p = X(nodes[2]) - X(nodes[0]);
    const Eigen::Matrix3d R = Eigen::AngleAxisd(phi, axis.normalized()).toRotationMatrix();
    std::vector<double> turned(u.size(), 0.0);
    put(R * p - p, &turned[3 * ordinal(nodes[2])]);
    const double area = 0.5 * axis.cross(p).norm();
    EXPECT_NEAR(clamps.potential->energy(k, turned, 0.0), 0.4 / 6.0 * 3.0 * axis.squaredNorm() / area * phi * phi,
                1e-12);
  }
}

// A plane state of strain: forces cancel at every inner node, the stress is what plane stress says.
TEST(Shell, membranes_pass_the_patch_test) {
  const Mesh plane = test::triangle_mesh(CellType::triangle3, 4, 0.15, 9);
  const Mesh mesh = test::shell_of(plane, [](double x, double y) { return std::array{0.8 * x, y, 0.6 * x}; });
  const Eigen::Vector3d a(0.8, 0.0, 0.6), b(0.0, 1.0, 0.0);
  for (const double size : {1e-7, 0.2}) {
    Eigen::Matrix3d G;  // any gradient
    G << 0.3, -0.2, 0.5, 0.7, 0.4, -0.1, -0.6, 0.2, 0.1;
    G *= size;
    std::vector<double> u(mesh.points().size());
    for (std::size_t n = 0; n < u.size() / 3; ++n)
      put(G * Eigen::Map<const Eigen::Vector3d>(&mesh.points()[3 * n]), &u[3 * n]);
    const Eigen::Vector3d Fa = a + G * a, Fb = b + G * b;
    const Eigen::Vector3d Ga = G * a, Gb = G * b;
    const double Caa = 2.0 * a.dot(Ga) + Ga.squaredNorm(), Cbb = 2.0 * b.dot(Gb) + Gb.squaredNorm();
    const double Cab = a.dot(Gb) + b.dot(Ga) + Ga.dot(Gb);
    const double plane_lambda = 2.0 * lame.lambda * lame.mu / (lame.lambda + 2.0 * lame.mu);
    const double tr = 0.5 * (Caa + Cbb);
    for (const Part& p : parts_of(mesh)) {
      const auto* membrane = dynamic_cast<const ElasticCells*>(p.potential.get());
      if (membrane == nullptr) continue;
      std::vector<double> force(u.size(), 0.0);
      double scale = 0.0;
      for (Index k = 0; k < membrane->size(); ++k) {
        const auto g = gradient(*membrane, k, u);
        scale = std::max(scale, test::largest(g));
        for (std::size_t i = 0; i < 9; ++i) force[3 * ordinal(membrane->stencil(k)[i / 3]) + i % 3] += g[i];
      }
      for (Index n = 0; n < plane.node_count(); ++n) {
        const auto X = plane.point(make_id<NodeId>(n));
        const bool inner = std::min(X[0], X[1]) > 0.05 && std::max(X[0], X[1]) < 0.8;
        for (std::size_t c = 0; inner && c < 3; ++c)
          EXPECT_LT(std::abs(force[3 * static_cast<std::size_t>(n) + c]), 1e-13 * scale + 1e-16) << p.name;
      }
      if (p.name != "saint-venant-kirchhoff") continue;
      const double Saa = plane_lambda * tr + lame.mu * Caa, Sbb = plane_lambda * tr + lame.mu * Cbb;
      const Eigen::Matrix3d second = Saa * Fa * Fa.transpose() + Sbb * Fb * Fb.transpose() +
                                     lame.mu * Cab * (Fa * Fb.transpose() + Fb * Fa.transpose());
      const double J = Fa.cross(Fb).norm() * std::exp(-lame.lambda / (lame.lambda + 2.0 * lame.mu) * tr);
      const auto sigma = membrane->cauchy_stress(3, u);
      const Eigen::Matrix3d expected = second / J;
      const std::array<double, 6> of = {expected(0, 0), expected(1, 1), expected(2, 2),
                                        expected(0, 1), expected(1, 2), expected(0, 2)};
      for (std::size_t c = 0; c < 6; ++c) EXPECT_NEAR(sigma[c], of[c], 1e-9 * expected.norm());
    }
  }
}

// The neo-Hookean membrane is the body of material.hpp in plane stress: its energy is the least over all thicknesses.
TEST(Shell, neo_hookean_membranes_take_the_thickness_of_least_energy) {
  const Mesh mesh = test::mesh_of(3, {0, 0, 0, 1, 0, 0, 0, 1, 0}, CellType::shell3, {{0, 1, 2}});
  const auto membrane = make_membrane(mesh, test::all_cells(mesh), {NeoHookean{lame}, density, thickness});
  for (const double stretch : {1e-6, 0.05, -0.4, 2.0}) {
    const std::vector<double> u = {0, 0, 0, stretch, 0.3 * stretch, 0, 0.1 * stretch, -0.3 * stretch, 0};
    Mat<double, 3> H;
    H(0, 0) = u[3];
    H(1, 0) = u[4];
    H(0, 1) = u[6];
    H(1, 1) = u[7];
    const NeoHookean body{lame};
    double low = -0.95, high = 3.0;  // where nothing pulls across
    for (int i = 0; i < 200; ++i) {
      H(2, 2) = 0.5 * (low + high);
      (body.stress(H).P(2, 2) > 0.0 ? high : low) = H(2, 2);
    }
    const double least = body.energy(H);
    EXPECT_NEAR(membrane->energy(0, u, 0.0), 0.5 * thickness * least, 1e-9 * thickness * least);
    const auto sigma = membrane->cauchy_stress(0, u);
    const Stress<double, 3> P = body.stress(H);
    const Mat<double, 3> cauchy = (1.0 / P.det_F) * (P.P * transpose(identity<double, 3>() + H));
    EXPECT_NEAR(sigma[0], cauchy(0, 0), 1e-9 * std::abs(cauchy(0, 0)));
    EXPECT_NEAR(sigma[3], cauchy(0, 1), 1e-9 * std::abs(cauchy(0, 0)));
    EXPECT_EQ(sigma[2], 0.0);
    EXPECT_NEAR(membrane->green_strain(0, u)[2], H(2, 2) + 0.5 * H(2, 2) * H(2, 2), 1e-9 * std::abs(H(2, 2)));
  }
}

// Equilateral triangles rolled up along an edge, whose strips stay flat: D / (2 R^2) per area, wherever the boundary
// does not cut strips off. Rolled up across an edge they are no developable surface; in the limit of small angles the
// energy is the same.
TEST(Shell, hinges_have_the_energy_of_a_bent_plate) {
  const double edge = 0.05, D = 0.4;
  for (const bool along : {true, false})
    for (const double radius : {2.0, 20.0}) {
      const Mesh flat = test::equilateral_shell(40, 40, edge, [](double x, double y) { return std::array{x, y, 0.0}; });
      const std::vector<double> stiffness(static_cast<std::size_t>(flat.cells().size()), D);
      const auto hinges = make_hinges(flat, stiffness);
      std::vector<double> u(flat.points().size());
      for (std::size_t a = 0; a < u.size() / 3; ++a) {
        const double x = flat.points()[3 * a], y = flat.points()[3 * a + 1], s = along ? y : x;
        u[3 * a + (along ? 1 : 0)] = radius * std::sin(s / radius) - s;
        u[3 * a + 2] = radius * (1.0 - std::cos(s / radius));
      }
      std::vector<double> energy(stiffness.size(), 0.0), curvature(6 * stiffness.size(), 0.0);
      hinges->add_energy(u, energy);
      hinges->add_curvature(u, curvature);
      double inner = 0.0, area = 0.0, mean = 0.0;
      for (Index c = 0; c < flat.cells().size(); ++c) {
        const auto X = flat.centroid(make_id<CellId>(c));
        if (X[0] < 0.3 || X[0] > 1.5 || X[1] < 0.3 || X[1] > 1.4) continue;
        inner += energy[static_cast<std::size_t>(c)];
        area += 0.25 * std::sqrt(3.0) * edge * edge;
        const double* k = &curvature[6 * static_cast<std::size_t>(c)];
        mean += (k[0] + k[1] + k[2]) * 0.25 * std::sqrt(3.0) * edge * edge;
      }
      const double expected = 0.5 * D / (radius * radius);
      EXPECT_NEAR(inner / area, expected, 1e-3 * expected) << along << ' ' << radius;
      // Seen from where triangles are counter-clockwise it is a valley: normals come together.
      EXPECT_NEAR(mean / area, -1.0 / radius, 1e-3 / radius) << along << ' ' << radius;
    }
}

// Past half a turn from rest the shorter way is the other one: energy goes on without a jump.
TEST(Shell, folds_beyond_half_a_turn_without_a_jump) {
  const Mesh mesh = test::mesh_of(3, {0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1}, CellType::shell3, {{0, 1, 2}, {1, 0, 3}});
  const auto hinge = make_hinges(mesh, std::vector<double>{1.0, 1.0});
  double before = 0.0;
  for (int i = 0; i <= 628; ++i) {
    const double angle = 0.01 * i;
    const std::vector<double> u = {0, 0, 0, 0, 0, 0, 0, 0, 0, std::sin(angle), 0, std::cos(angle) - 1.0};
    const double root = std::sqrt(hinge->energy(0, u, 0.0));
    if (i > 0) {
      EXPECT_LT(std::abs(root - before), 0.02) << angle;
    }
    before = root;
  }
}

TEST(Shell, knows_its_stable_steps) {
  const Mesh mesh = test::curved_shell(4, 0.15, 5);
  const std::vector<double> u(mesh.points().size(), 0.0);
  for (const Part& p : parts_of(mesh))
    for (Index k = 0; k < p.potential->size(); ++k) {
      const auto n = static_cast<Index>(p.potential->stencil(k).size());
      std::vector<double> shares;
      for (Index a = 0; a < n; ++a) shares.push_back(0.1 + 0.05 * static_cast<double>(a));
      Dense A = hessian(*p.potential->as_local(), k, u);
      for (Index i = 0; i < 3 * n; ++i)
        for (Index j = 0; j < 3 * n; ++j)
          A(i, j) /= std::sqrt(shares[static_cast<std::size_t>(i / 3)] * shares[static_cast<std::size_t>(j / 3)]);
      const double largest = Eigen::SelfAdjointEigenSolver<Dense>(A).eigenvalues().maxCoeff();
      EXPECT_NEAR(p.potential->stable_step(k, u, shares), 2.0 / std::sqrt(largest), 1e-10 / std::sqrt(largest))
          << p.name;
    }
}

TEST(Shell, batches_do_what_the_loop_over_terms_does) {
  const Mesh mesh = test::curved_shell(5, 0.15, 11);
  for (const std::string& instructions : test::instruction_sets()) {
    const test::Instructions wish(instructions);
    for (const Part& p : parts_of(mesh)) {
      const std::vector<Index> terms = test::shuffled_terms(*p.potential, 5);
      // 0.45 of an edge folds some hinges far.
      for (const double part : {0.45, 0.05, 1e-4}) {
        const auto u = test::random_displacements(mesh, part * 0.2, 4);
        EXPECT_LT(test::deviation(*p.potential, terms, u), 1e-12) << p.name << ' ' << instructions << ' ' << part;
        for (const std::size_t count : {1u, 2u, 3u, 7u, 8u, 9u, 16u, 17u})
          EXPECT_LT(test::deviation(*p.potential, std::span(terms).first(count), u), 1e-12)
              << p.name << ' ' << instructions << ' ' << part << ' ' << count;
        const auto [energy, slope] = test::deviations_of_measured(*p.potential, terms, u);
        EXPECT_LT(energy, 1e-12) << p.name << ' ' << instructions;
        EXPECT_LT(slope, 1e-12) << p.name << ' ' << instructions;
      }
    }
  }
}

// v_a -= (sum_b H_ab w_b) / m_a.
TEST(Shell, batches_change_with_their_hessians) {
  const Mesh mesh = test::curved_shell(4, 0.15, 11);
  const auto u = test::random_displacements(mesh, 0.05, 4), shift = test::random_displacements(mesh, 0.3, 8);
  for (const std::string& instructions : test::instruction_sets()) {
    const test::Instructions wish(instructions);
    for (const Part& p : parts_of(mesh))
      EXPECT_LT(test::deviation_of_change(*p.potential, test::shuffled_terms(*p.potential, 5), u, shift), 1e-12)
          << p.name << ' ' << instructions;
  }
}

TEST(Shell, says_where_it_collapses) {
  const Mesh mesh = test::curved_shell(2, 0.1, 11);
  for (const Part& p : parts_of(mesh)) {
    const auto nodes = p.potential->stencil(0);
    std::vector<double> u(mesh.points().size(), 0.0);
    for (std::size_t c = 0; c < 3; ++c)  // all of the term's nodes in one place
      for (std::size_t a = 1; a < nodes.size(); ++a)
        u[3 * ordinal(nodes[a]) + c] = mesh.point(nodes[0])[c] - mesh.point(nodes[a])[c];
    std::vector<double> g(3 * nodes.size());
    EXPECT_FALSE(p.potential->add_gradient(0, u, 0.0, g) > 1e-14) << p.name;
  }
}

TEST(Shell, refuses_what_is_no_shell) {
  const Mesh mesh = test::mesh_of(3, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0}, CellType::shell3,
                                  {{0, 1, 2}, {0, 1, 3}, {0, 1, 4}});
  EXPECT_THROW(make_hinges(mesh, std::vector<double>(3, 1.0)), InputError);
  const Mesh flat = test::mesh_of(3, {0, 0, 0, 1, 1, 1, 2, 2, 2}, CellType::shell3, {{0, 1, 2}});
  EXPECT_THROW(make_membrane(flat, test::all_cells(flat), {SaintVenantKirchhoff{lame}, density, thickness}),
               InputError);
  const Mesh good = test::curved_shell(1, 0.0, 1);
  EXPECT_THROW(make_membrane(good, test::all_cells(good), {LinearElastic{lame}, density, thickness}), InputError);
  EXPECT_THROW(make_membrane(good, test::all_cells(good), {SaintVenantKirchhoff{lame}, density, 0.0}), InputError);
  EXPECT_THROW(make_membrane(good, test::all_cells(good), {SaintVenantKirchhoff{lame}, -1.0, 1.0}), InputError);
}

// All of a shell is surface; where it covers a solid the facet is the solid's.
TEST(Shell, is_its_own_surface) {
  const Mesh mesh = test::curved_shell(3, 0.1, 1);
  EXPECT_EQ(std::ssize(boundary_facets(mesh)), mesh.cells().size());
  MeshData data;
  data.dim = 3;
  data.points = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  data.point_labels = {1, 2, 3, 4};
  const std::vector<NodeId> all = {NodeId{0}, NodeId{1}, NodeId{2}, NodeId{3}};
  data.cells.push_back(CellType::tetrahedron4, all, 1);
  data.cells.push_back(CellType::shell3, std::span(all).first(3), 2);
  const auto facets = boundary_facets(Mesh(std::move(data)));
  ASSERT_EQ(facets.size(), 4u);
  for (const CellFacet& f : facets) EXPECT_EQ(f.cell, CellId{0});  // it wears the shell
}

}  // namespace
}  // namespace tempi
