// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <tempi/core/expression.hpp>
#include <tempi/version.hpp>

int main() {
  const tempi::Expression f("2*X + t", {});
  const std::array<double, 1> X = {1.5};
  std::printf("tempi %s: 2*X + t = %g\n", tempi::version.data(), f(X, 0.25));
  return f(X, 0.25) == 3.25 ? 0 : 1;  // every term is exact in binary
}
