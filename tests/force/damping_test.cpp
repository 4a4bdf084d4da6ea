// SPDX-License-Identifier: Apache-2.0
#include "tempi/force/damping.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "support/meshes.hpp"
#include "support/pair_cases.hpp"
#include "tempi/core/error.hpp"
#include "tempi/potential/wells.hpp"

namespace tempi::test {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

Vector force_of(const Force& force, Index k, const std::vector<double>& u, const std::vector<double>& v, int dim) {
  std::vector<double> p(force.stencil(k).size() * static_cast<std::size_t>(dim), 0.0);
  force.add_impulse(k, u, v, 0.0, 1.0, p);
  return Eigen::Map<Vector>(p.data(), static_cast<Index>(p.size()));
}
Matrix damping_of(const Force& force, Index k, const std::vector<double>& u, int dim) {
  const auto n = static_cast<Index>(force.stencil(k).size()) * dim;
  std::vector<double> C(static_cast<std::size_t>(n * n), 0.0);
  force.add_damping(k, u, 0.0, C);
  return Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(C.data(), n, n);
}
Matrix hessian_of(const Potential& potential, Index k, const std::vector<double>& u) {
  const auto n = static_cast<Index>(potential.stencil(k).size()) * potential.dim();
  std::vector<double> H(static_cast<std::size_t>(n * n), 0.0);
  potential.as_local()->add_hessian(k, u, 0.0, H);
  return Eigen::Map<Matrix>(H.data(), n, n);  // symmetric
}

// -dF/dv from the forces themselves: F is linear, so unit velocities do.
Matrix differences_of(const Force& force, Index k, const std::vector<double>& u, int dim) {
  const auto nodes = force.stencil(k);
  const auto n = static_cast<Index>(nodes.size()) * dim;
  Matrix C(n, n);
  for (Index j = 0; j < n; ++j) {
    std::vector<double> v(u.size(), 0.0);
    v[static_cast<std::size_t>(index(nodes[static_cast<std::size_t>(j / dim)]) * dim + j % dim)] = 1.0;
    C.col(j) = -force_of(force, k, u, v, dim);
  }
  return C;
}

void expect_a_damper(const Force& force, const std::vector<double>& u, int dim, const std::string& name) {
  SCOPED_TRACE(name);
  EXPECT_TRUE(force.is_damper());
  for (Index k = 0; k < force.size(); ++k) {
    const Matrix C = damping_of(force, k, u, dim);
    const double scale = C.cwiseAbs().maxCoeff();
    ASSERT_GT(scale, 0.0);
    EXPECT_LT((C - differences_of(force, k, u, dim)).cwiseAbs().maxCoeff(), 1e-13 * scale);
    EXPECT_LT((C - C.transpose()).cwiseAbs().maxCoeff(), 1e-13 * scale);
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<Matrix>(C).eigenvalues()(0),
              -1e-13 * scale * static_cast<double>(C.rows()));
  }
}

std::vector<double> sum(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

// v = w + S x at the present positions, S skew.
std::vector<double> rigid_velocities(const Mesh& mesh, const std::vector<double>& u) {
  const auto d = static_cast<std::size_t>(mesh.dim());
  const std::vector<double> S = d == 1   ? std::vector<double>{0.0}
                                : d == 2 ? std::vector<double>{0.0, -0.8, 0.8, 0.0}
                                         : std::vector<double>{0.0, -0.3, 0.2, 0.3, 0.0, -0.7, -0.2, 0.7, 0.0};
  std::vector<double> v(u.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    v[i] = 0.4 - 0.1 * static_cast<double>(i % d);
    for (std::size_t j = 0; j < d; ++j) v[i] += S[i % d * d + j] * (mesh.points()[i - i % d + j] + u[i - i % d + j]);
  }
  return v;
}

struct Cells {
  explicit Cells(const MeshCase& c, const Material& material = NeoHookean{{1.3, 0.7}})
      : body(make_body(c.make(), material, 1.2)),
        u(sum(rigid_displacements(*body.mesh, 0.9, {0.2, -0.1, 0.3}), random_displacements(*body.mesh, 0.02, 7))),
        dim(body.mesh->dim()) {}
  Body body;
  std::vector<double> u;  // turned and strained
  int dim;
};

class DampingOfCells : public testing::TestWithParam<MeshCase> {};
INSTANTIATE_TEST_SUITE_P(Meshes, DampingOfCells, testing::ValuesIn(mesh_cases()),
                         [](const auto& each) { return each.param.name; });

TEST_P(DampingOfCells, HasTheMatrixOfItsForcesWhichTakesEnergy) {
  const Cells c(GetParam());
  expect_a_damper(*make_kelvin_voigt(c.body.cells(), {0.8, 0.3}), c.u, c.dim, "kelvin-voigt");
  expect_a_damper(*make_kelvin_voigt(c.body.cells(), {0.8, 0.0}), c.u, c.dim, "bulk");
  expect_a_damper(*make_kelvin_voigt(c.body.cells(), {0.0, 0.3}), c.u, c.dim, "shear");  // lambda_v < 0
  expect_a_damper(*make_rayleigh(c.body.cells(), {0.4, 0.2}), c.u, c.dim, "rayleigh");
  expect_a_damper(*make_rayleigh(c.body.cells(), {0.4, 0.0}), c.u, c.dim, "alpha");
}

// Under x = F X, v = B X:  -F.v = volume (eta_bulk tr(d)^2 + 2 eta_shear |dev d|^2), d = F^{-T} E' F^{-1}, E' from
// Green strains at two times.
TEST_P(DampingOfCells, OfKelvinVoigtTakesThePowerOfItsLaw) {
  const Body body = make_body(GetParam().make(), NeoHookean{{1.3, 0.7}}, 1.2);
  const int dim = body.mesh->dim();
  const auto d = static_cast<std::size_t>(dim);
  const std::vector<double> A9 = {0.1, -0.3, 0.2, 0.4, -0.05, 0.15, -0.2, 0.1, 0.25},
                            B9 = {0.7, 0.2, -0.4, -0.9, 0.3, 0.5, 0.6, -0.1, -0.8};
  std::vector<double> A(d * d), B(d * d);
  Eigen::Matrix3d F = Eigen::Matrix3d::Identity(), rate = Eigen::Matrix3d::Zero();
  for (std::size_t i = 0; i < d * d; ++i) {
    A[i] = A9[i / d * 3 + i % d], B[i] = B9[i / d * 3 + i % d];
    F(static_cast<Index>(i / d), static_cast<Index>(i % d)) += A[i];
    rate(static_cast<Index>(i / d), static_cast<Index>(i % d)) = B[i];
  }
  const auto strain = [](const Eigen::Matrix3d& at) {
    return Eigen::Matrix3d(0.5 * (at.transpose() * at - Eigen::Matrix3d::Identity()));
  };
  const Eigen::Matrix3d E = 0.5 * (strain(F + rate) - strain(F - rate));  // quadratic: exact
  const Eigen::Matrix3d D = F.inverse().transpose() * E * F.inverse();
  const Eigen::Matrix3d deviator = D - D.trace() / 3.0 * Eigen::Matrix3d::Identity();
  const double bulk = 0.8, shear = 0.3;
  const double density = bulk * D.trace() * D.trace() + 2.0 * shear * deviator.squaredNorm();
  const auto force = make_kelvin_voigt(body.cells(), {bulk, shear});
  const std::vector<double> none(3, 0.0), u = affine_displacements(*body.mesh, A, none),
                                          v = affine_displacements(*body.mesh, B, none);
  for (Index k = 0; k < force->size(); ++k) {
    const Vector f = force_of(*force, k, u, v, dim);
    double power = 0.0;
    for (Index i = 0; i < f.size(); ++i)
      power -= f(i) *
               v[static_cast<std::size_t>(index(force->stencil(k)[static_cast<std::size_t>(i / dim)]) * dim + i % dim)];
    EXPECT_NEAR(power, density * body.cells().volume(k), 1e-12 * power);
  }
}

TEST_P(DampingOfCells, OfKelvinVoigtKeepsMomentaAndIsBlindToRigidMotion) {
  const Cells c(GetParam());
  const auto viscous = make_kelvin_voigt(c.body.cells(), {0.8, 0.3}), beta = make_rayleigh(c.body.cells(), {0.0, 0.2}),
             alpha = make_rayleigh(c.body.cells(), {0.4, 0.0});
  const std::vector<double> rigid = rigid_velocities(*c.body.mesh, c.u),
                            random = random_displacements(*c.body.mesh, 1.0, 3);
  for (Index k = 0; k < viscous->size(); ++k) {
    const auto nodes = viscous->stencil(k);
    for (const Force* force : {viscous.get(), beta.get()}) {
      const Vector f = force_of(*force, k, c.u, random, c.dim);
      const double scale = f.cwiseAbs().maxCoeff();
      EXPECT_LT(force_of(*force, k, c.u, rigid, c.dim).cwiseAbs().maxCoeff(), 1e-13 * scale);
      Eigen::Vector3d net = Eigen::Vector3d::Zero(), moment = net;
      for (std::size_t a = 0; a < nodes.size(); ++a) {
        Eigen::Vector3d x = net * 0.0, fa = x;
        for (Index i = 0; i < c.dim; ++i) {
          const auto at = static_cast<std::size_t>(index(nodes[a]) * c.dim + i);
          x(i) = c.body.mesh->points()[at] + c.u[at];
          fa(i) = f(static_cast<Index>(a) * c.dim + i);
        }
        net += fa, moment += x.cross(fa);
      }
      EXPECT_LT(net.norm(), 1e-13 * scale);
      EXPECT_LT(moment.norm(), 1e-13 * scale);
    }
    EXPECT_GT(force_of(*alpha, k, c.u, rigid, c.dim).cwiseAbs().maxCoeff(), 1e-4);  // drag is not blind
  }
}

TEST_P(DampingOfCells, OfRayleighIsBetaKAtRestAndTurnsWithTheBody) {
  for (const Material& material : materials()) {
    const Cells c(GetParam(), material);
    const std::vector<double> rest(c.u.size(), 0.0), turned = rigid_displacements(*c.body.mesh, 0.9, {0.2, -0.1, 0.3});
    const auto damping = make_rayleigh(c.body.cells(), {0.0, 0.2});
    const std::vector<double> R = rotation(c.dim, 0.9);
    for (Index k = 0; k < damping->size(); ++k) {
      const Matrix K = 0.2 * hessian_of(c.body.cells(), k, rest);
      const double scale = K.cwiseAbs().maxCoeff();
      EXPECT_LT((damping_of(*damping, k, rest, c.dim) - K).cwiseAbs().maxCoeff(), 1e-13 * scale);
      Matrix Q = Matrix::Zero(K.rows(), K.cols());
      for (Index i = 0; i < K.rows(); ++i)
        for (Index j = 0; j < c.dim; ++j) Q(i, i - i % c.dim + j) = R[static_cast<std::size_t>(i % c.dim * c.dim + j)];
      const Matrix expected = Q * K * Q.transpose();
      EXPECT_LT((damping_of(*damping, k, turned, c.dim) - expected).cwiseAbs().maxCoeff(), 1e-13 * scale);
      EXPECT_TRUE(c.dim == 1 || (K - expected).cwiseAbs().maxCoeff() > 0.01 * scale);  // K alone does not
    }
  }
}

TEST(Damping, OfNodesAndPairsHasTheMatrixOfItsForces) {
  for (const int dim : {1, 2, 3}) {
    const std::vector<double> reference = random_cloud(dim, 4, 1.5, 0.5, 9), mass(4, 1.0);
    const std::vector<double> u(reference.size(), 0.05);
    const auto springs = make_pairs(reference, dim, mass, chain(4), Spring{3.1, 0.1}, {});
    const auto wells = make_wells(reference, dim, {NodeId{2}}, Well{{1.0, 2.0, 3.0}, {}});
    expect_a_damper(*make_drag(dim, {{NodeId{1}, 0.3}, {NodeId{3}, 0.7}}), u, dim, "drag");
    expect_a_damper(*make_dashpots(reference, dim, chain(4), 0.6), u, dim, "dashpots");
    expect_a_damper(*make_stiffness_damping(*springs->as_local(), 0.2), u, dim, "springs");
    expect_a_damper(*make_stiffness_damping(*wells->as_local(), 0.2), u, dim, "wells");
    EXPECT_LT((damping_of(*make_stiffness_damping(*springs->as_local(), 0.2), 1, u, dim) -
               0.2 * hessian_of(*springs, 1, u))
                  .cwiseAbs()
                  .maxCoeff(),
              1e-13);
    // Compressed springs would feed energy sideways: that part of K is left out.
    const auto compressed = make_pairs(reference, dim, mass, chain(4), Spring{3.1, 9.0}, {});
    EXPECT_TRUE(dim == 1 ||
                Eigen::SelfAdjointEigenSolver<Matrix>(hessian_of(*compressed, 0, u)).eigenvalues()(0) < -0.1);
    expect_a_damper(*make_stiffness_damping(*compressed->as_local(), 0.2), u, dim, "compressed springs");
  }
}

TEST(Damping, OfDashpotsSeesOnlyTheRateOfTheDistanceToTheNearestImage) {
  const std::vector<double> reference = {0.1, 0.5, 0.9, 0.7};
  const std::vector<double> u(4, 0.0), v = {0.0, 0.0, 0.3, 0.4};
  const double c = 0.6;
  const auto expect = [&](const Force& force, double ex, double ey) {
    const double r = std::hypot(ex, ey), rate = (0.3 * ex + 0.4 * ey) / r;
    const Vector f = force_of(force, 0, u, v, 2);
    EXPECT_NEAR(f(2), -c * rate * ex / r, 1e-15);
    EXPECT_NEAR(f(3), -c * rate * ey / r, 1e-15);
    EXPECT_EQ(f(0), -f(2));
    EXPECT_EQ(f(1), -f(3));
  };
  expect(*make_dashpots(reference, 2, chain(2), c), 0.8, 0.2);
  expect(*make_dashpots(reference, 2, chain(2), c, Box({1.0, 1.0, {}})), -0.2, 0.2);
  const std::vector<double> across = {0.0, 0.0, -0.2, 0.8};
  EXPECT_LT(force_of(*make_dashpots(reference, 2, chain(2), c), 0, u, across, 2).cwiseAbs().maxCoeff(), 1e-16);
}

// K(x) (w x x) = w x g: what is left of a rigid rotation when stiffness damping is used on a term under stress.
TEST(Damping, ByStiffnessResistsTheRotationOfAStressedSpringAsDocumented) {
  const std::vector<double> reference = {0.0, 0.0, 1.0, 0.0}, mass(2, 1.0), u = {0.0, 0.0, 0.5, 0.0};
  const std::vector<double> v = {0.0, 0.0, 0.0, 1.5};  // x = (1.5, 0) turns with w = 1
  const double k = 3.1, beta = 0.2;
  const auto stretched = make_pairs(reference, 2, mass, chain(2), Spring{k, 1.0}, {});
  const Vector f = force_of(*make_stiffness_damping(*stretched->as_local(), beta), 0, u, v, 2);
  EXPECT_NEAR(f(3), -beta * k * 0.5, 1e-14);
  EXPECT_NEAR(f(2), 0.0, 1e-15);
  const auto slack = make_pairs(reference, 2, mass, chain(2), Spring{k, 1.5}, {});
  EXPECT_NEAR(force_of(*make_stiffness_damping(*slack->as_local(), beta), 0, u, v, 2).norm(), 0.0, 1e-15);
}

TEST(Damping, RefusesWhatWouldGiveEnergy) {
  const Body body = make_body(bar_mesh(2), NeoHookean{{1.3, 0.7}}, 1.2);
  const std::vector<double> reference = {0.0, 1.0};
  EXPECT_THROW(make_drag(1, {{NodeId{0}, -1.0}}), InputError);
  EXPECT_THROW(make_rayleigh(body.cells(), {-0.1, 0.0}), InputError);
  EXPECT_THROW(make_rayleigh(body.cells(), {0.0, -0.1}), InputError);
  EXPECT_THROW(make_kelvin_voigt(body.cells(), {-0.1, 0.0}), InputError);
  EXPECT_THROW(make_kelvin_voigt(body.cells(), {0.0, std::nan("")}), InputError);
  EXPECT_THROW(make_stiffness_damping(body.cells(), -1.0), InputError);
  EXPECT_THROW(make_dashpots(reference, 1, chain(2), -1.0), InputError);
}

}  // namespace
}  // namespace tempi::test
