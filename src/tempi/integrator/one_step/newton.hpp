// SPDX-License-Identifier: Apache-2.0
// Newton's method for the implicit equations R(z) = 0 of one step [N s], with a line search: z is moved by A^{-1} R,
// A = -dR/dz or near it, until R is as small as sought or rounding lets it become no smaller. A is made where a
// solution is begun, and again only where a correction has left more than a tenth of R, or for the last digits where
// `sought` is 0: a factorisation takes as long as many solutions. From one step to the next nothing is kept that a
// checkpoint would lack.
#pragma once

#include <Eigen/SparseCore>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tempi/model/assembled_stiffness.hpp"

namespace tempi {

struct StepEquations {
  using Vector = Eigen::VectorXd;
  std::function<bool(const Vector& z)> evaluate;  // false: a term is not admissible at z
  // Of the z last evaluated:
  std::function<std::string()> fault = {};  // what is wrong where a term is not admissible
  std::function<Vector()> residual;
  std::function<double()> scale;                          // largest impulse in hand [N s]
  std::function<bool()> linearise = [] { return true; };  // makes A of the z last evaluated; false: it is singular
  bool linearised = false;                                // A is there already, from before
  std::function<Vector(const Vector& R)> correct;         // A^{-1} R, A the last one made
  // What rounding of the forces alone may leave of each component of R; asked for where R shrinks no more.
  std::function<Vector()> rounding = {};
  double resolution = 0.0;   // of z: corrections below it cannot be told from rounding
  double sought = 1e-14;     // of the largest impulse; 0: as small as rounding lets R become
  bool whole_first = false;  // whole corrections before a line search: of residuals that grow before they fall
  std::string_view name = "implicit equations", measure = "the largest impulse";  // for messages; of R
};

struct StepSolution {
  Eigen::VectorXd z;  // the one last evaluated
  Index iterations;
  bool known = false;  // from before
};

// The last equations a map has solved. A row of the history looks at a step before it is taken: whoever finds the same
// residual at the same first guess has the same equations, and is given what solved them, to the bit.
struct LastSolution {
  double t0 = 0.0;
  Eigen::VectorXd guess{}, residual{}, z{};
  Index iterations = 0, evaluations = 0;  // of forces
};

// From the first of `guesses` that leads to a solution: with a line search for falling residuals, and if that
// fails, with whole corrections wherever they are admissible; or the other way round. Throws SolveError for the step at
// t0 [s].
// `last`, if given, is looked at and renewed.
StepSolution solve_newton(const StepEquations& equations, std::span<const Eigen::VectorXd> guesses, double t0,
                          LastSolution* last = nullptr);

// Factors of matrices whose symbolic part is made once for as long as they have the same pattern.
class SparseFactors {
 public:
  using Matrix = Eigen::SparseMatrix<double>;
  // positive: Cholesky; symmetric: Cholesky, and LU where that fails; general: LU
  enum class Kind { positive, symmetric, general };

  explicit SparseFactors(Kind kind);
  ~SparseFactors();
  // Of the last matrix once more it takes no time. False: singular, or not positive.
  bool factorise(const Matrix& A);
  Eigen::VectorXd solve(const Eigen::VectorXd& b) const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

// Of a symmetric matrix that is singular, or nearly: the `count` components in which what it takes to nothing is
// largest, largest first.
std::vector<Index> singular_components(const SparseFactors::Matrix& A, std::size_t count);

// A = M + c K, K of the pattern of the assembled stiffness, M diagonal; rows and columns of held components are those
// of M.
class StepMatrix {
 public:
  // `model` must outlive it.
  StepMatrix(const Model& model, Eigen::VectorXd mass, std::span<const Index> held, SparseFactors::Kind kind);

  AssembledStiffness& stiffness() { return stiffness_; }
  bool factorise(const AssembledStiffness::Matrix& K, double c);  // false: singular
  Eigen::VectorXd solve(const Eigen::VectorXd& b) const { return factors_.solve(b); }

 private:
  AssembledStiffness stiffness_;
  Eigen::VectorXd mass_;
  std::vector<char> held_;
  SparseFactors::Matrix A_;
  SparseFactors factors_;
};

}  // namespace tempi
