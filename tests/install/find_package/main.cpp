// SPDX-License-Identifier: Apache-2.0
// Built for this very processor, with Eigen of its own: what it exports must not meet the library that reads meshes.
#include <Eigen/Dense>
#include <array>
#include <cstdio>
#include <fstream>
#include <tempi/core/expression.hpp>
#include <tempi/io/read_mesh.hpp>
#include <tempi/version.hpp>

int main() {
  const tempi::Expression f("2*X + t", {});
  const std::array<double, 1> X = {1.5};
  std::printf("tempi %s: 2*X + t = %g\n", tempi::version.data(), f(X, 0.25));
  if (f(X, 0.25) != 3.25) return 1;  // every term is exact in binary
#ifdef WITH_GMSH
  for (int round = 0; round < 3; ++round) {
    std::ofstream("ball.geo") << "SetFactory(\"OpenCASCADE\");\nSphere(1) = {0, 0, 0, 1};\n";
    const tempi::Mesh mesh = tempi::read_mesh("ball.geo", {.order = 2, .size = 0.3});
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(3 * mesh.node_count(), 12);
    for (tempi::Index a = 0; a < mesh.node_count(); ++a)
      for (int c = 0; c < 3; ++c) A(3 * a + c, c) = mesh.points()[static_cast<std::size_t>(3 * a + c)];
    const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(A).singularValues();
    std::printf("%ld cells, %g\n", static_cast<long>(mesh.cells().size()), values(0));
    if (mesh.cells().size() < 100 || !(values(0) > 1.0)) return 2;
  }
#endif
  return 0;
}
