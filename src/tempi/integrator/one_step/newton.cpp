// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/newton.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#ifdef TEMPI_WITH_SUITESPARSE
#include <Eigen/CholmodSupport>
#include <Eigen/UmfPackSupport>
#else
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#endif
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "tempi/core/error.hpp"

// Of the OpenMP that CHOLMOD may bring along.
extern "C" {
int omp_get_max_active_levels() __attribute__((weak));
void omp_set_max_active_levels(int) __attribute__((weak));
int omp_get_max_threads() __attribute__((weak));
void omp_set_num_threads(int) __attribute__((weak));
}

namespace tempi {
namespace {

// While it lives libraries start no OpenMP threads from this one. CHOLMOD asks for a number of its own, so levels are
// closed; an OpenBLAS that divides its work by the number of threads must know, too, or its parts wait for each other.
// For pieces of work as small as the supernodes of our matrices CHOLMOD's cost more than they do: implicit midpoint on
// 25,794 tetrahedra took 66 s with them and takes 27 s without (two cores).
class WithoutOpenMp {
 public:
  WithoutOpenMp() {
    if (!there()) return;
    levels_ = omp_get_max_active_levels();
    threads_ = omp_get_max_threads();
    omp_set_max_active_levels(0);
    omp_set_num_threads(1);
  }
  ~WithoutOpenMp() {
    if (!there()) return;
    omp_set_max_active_levels(levels_);
    omp_set_num_threads(threads_);
  }
  WithoutOpenMp(const WithoutOpenMp&) = delete;
  WithoutOpenMp& operator=(const WithoutOpenMp&) = delete;

 private:
  static bool there() {
    return omp_get_max_active_levels != nullptr && omp_set_max_active_levels != nullptr &&
           omp_get_max_threads != nullptr && omp_set_num_threads != nullptr;
  }
  int levels_ = 1, threads_ = 1;
};

using Vector = Eigen::VectorXd;

constexpr std::size_t most_iterations = 100;
constexpr int most_halvings = 12;
constexpr double falls = 0.1;  // to this part of it a residual falls by a correction while its matrix is kept
// Of the largest impulse in hand: enough where rounding lets no more.
constexpr double enough = 1e-11;
// Over StepEquations::rounding, the most that was seen where R shrinks no more: 27 (two blocks, contrasts 1e6 to 1e12).
constexpr double rounding_seen = 32.0;

// Whether a correction is halved until it makes the residual smaller (the last half is taken anyway: it may lead out of
// a valley), or taken wherever it is admissible.
enum class Descent { monotone, free };

// Moves z along dz, from the residual `before`; false: by nothing. `final`: nothing but rounding is left to gain.
bool search(const StepEquations& equations, Vector& z, const Vector& dz, double before, Descent descent, bool final) {
  double part = 1.0;
  for (int halvings = 0;; ++halvings, part *= 0.5) {
    const Vector moved = z + part * dz;
    const bool admissible = equations.evaluate(moved);
    const double after = admissible ? equations.residual().norm() : std::numeric_limits<double>::infinity();
    const bool last = halvings == most_halvings;
    if (after < before || (admissible && !final && (last || descent == Descent::free))) {
      z = moved;
      return true;
    }
    if (final || last) {
      equations.evaluate(z);
      return false;
    }
  }
}

constexpr std::string_view advice = "Choose a smaller step.";

// Of the z last evaluated. It may come from other equations, which have given the advice already.
std::string fault(const StepEquations& equations) {
  std::string text = equations.fault ? equations.fault() : "";
  if (text.empty()) text = "an element is inverted, particles meet, or a position is not finite";
  if (text.ends_with(advice)) text.resize(text.size() - advice.size());
  while (text.ends_with(' ') || text.ends_with('.')) text.pop_back();
  return text;
}

// Moves z by dz, which an A of earlier gave, if that serves: it leaves less than a tenth of R.
bool follow(const StepEquations& equations, Vector& z, const Vector& dz, double before) {
  const Vector moved = z + dz;
  if (equations.evaluate(moved) && equations.residual().norm() < falls * before) {
    z = moved;
    return true;
  }
  equations.evaluate(z);
  return false;
}

// Solves from `z` on, which may have been the last to be evaluated, or says why not.
std::string attempt(const StepEquations& equations, Vector& z, Descent descent, bool evaluated, Index& iterations) {
  if (!evaluated && !equations.evaluate(z)) return "have no value where they begin: " + fault(equations);
  std::vector<double> history;
  int times_lost = 0;
  bool serves = equations.linearised;  // A of earlier
  bool is_last = false;                // A is one for the last digits
  for (;; ++iterations) {
    const Vector R = equations.residual();
    const double scale = equations.scale(), size = R.cwiseAbs().maxCoeff() / (scale > 0.0 ? scale : 1.0);
    const bool stuck = !history.empty() && size > 0.5 * history.back();
    history.push_back(size);
    if (size <= equations.sought || (stuck && size <= enough)) return {};
    if (stuck && equations.rounding && (R.array().abs() <= rounding_seen * equations.rounding().array()).all())
      return {};
    if (history.size() > most_iterations || !std::isfinite(size))
      return fmt::format("are not solved after {} iterations (residuals relative to {}: ..., {:.2g})",
                         history.size() - 1, equations.measure,
                         fmt::join(std::span(history).last(std::min<std::size_t>(5, history.size())), ", "));
    const double before = R.norm();
    const bool final = size <= enough;
    if (serves && !final && follow(equations, z, equations.correct(R), before)) continue;
    if (!(serves && final && (is_last || equations.sought > 0.0))) {
      if (!equations.linearise()) return "are singular";
      is_last = final;
    }
    const Vector dz = equations.correct(R);
    const bool lost =
        dz.allFinite() && dz.cwiseAbs().maxCoeff() <= equations.resolution;  // in the rounding of displacements
    if (lost && ++times_lost > 4 && stuck) return {};
    if (search(equations, z, dz, before, descent, final)) {
      serves = equations.residual().norm() < falls * before;
      continue;
    }
    if (final || lost) return {};
    equations.evaluate(z + std::ldexp(1.0, -most_halvings) * dz);
    return "have no value however little it moves: " + fault(equations);
  }
}

}  // namespace

StepSolution solve_newton(const StepEquations& equations, std::span<const Vector> guesses, double t0,
                          LastSolution* last) {
  const bool evaluated = last != nullptr && equations.evaluate(guesses.front());
  if (!evaluated) last = nullptr;  // nothing to know them by
  if (last != nullptr) {
    Vector R = equations.residual();
    if (last->z.size() == R.size() && last->t0 == t0 && last->guess == guesses.front() && last->residual == R) {
      equations.evaluate(last->z);
      return {last->z, last->iterations, true};
    }
    *last = {t0, guesses.front(), std::move(R), {}, 0, 0};
  }
  Index iterations = 0;
  std::string failure;
  std::array order = {Descent::monotone, Descent::free};
  if (equations.whole_first) std::ranges::reverse(order);
  for (const Descent descent : order)
    for (const Vector& guess : guesses) {
      Vector z = guess;
      const bool is_first = descent == order.front() && &guess == &guesses.front();
      failure = attempt(equations, z, descent, evaluated && is_first, iterations);
      if (!failure.empty()) continue;
      if (last != nullptr) last->z = z, last->iterations = iterations;
      return {std::move(z), iterations};
    }
  throw SolveError(fmt::format("the {} of the step at t = {:.9g} s {}. {}", equations.name, t0, failure, advice));
}

struct SparseFactors::Factors {
#ifdef TEMPI_WITH_SUITESPARSE
  using Cholesky = Eigen::CholmodSupernodalLLT<Matrix>;
  using LU = Eigen::UmfPackLU<Matrix>;
#else
  using Cholesky = Eigen::SimplicialLLT<Matrix>;
  using LU = Eigen::SparseLU<Matrix>;
#endif
  Kind kind;
  Cholesky cholesky{};
  LU lu{};
  bool cholesky_analysed = false, lu_analysed = false, by_cholesky = false;
  Matrix A{};          // the last one
  bool ready = false;  // its factors are there

  bool renew() {
    const WithoutOpenMp single;
    by_cholesky = false;
    if (kind != Kind::general) {
      if (!cholesky_analysed) cholesky.analyzePattern(A);
      cholesky_analysed = true;
      cholesky.factorize(A);
      by_cholesky = cholesky.info() == Eigen::Success;
      if (by_cholesky || kind == Kind::positive) return by_cholesky;
    }
    if (!lu_analysed) lu.analyzePattern(A);
    lu_analysed = true;
    lu.factorize(A);
    return lu.info() == Eigen::Success;
  }
};

SparseFactors::SparseFactors(Kind kind) : factors_(new Factors{kind}) {
#ifdef TEMPI_WITH_SUITESPARSE
  factors_->cholesky.cholmod().print = 0;  // it tells of indefinite matrices on stdout
#endif
}
SparseFactors::~SparseFactors() = default;

bool SparseFactors::factorise(const Matrix& A) {
  Factors& f = *factors_;
  const auto are_equal = [&](const auto* a, const auto* b, Index n) { return std::equal(a, a + n, b); };
  const bool last_pattern = A.outerSize() == f.A.outerSize() && A.nonZeros() == f.A.nonZeros() &&
                            are_equal(A.outerIndexPtr(), f.A.outerIndexPtr(), A.outerSize() + 1) &&
                            are_equal(A.innerIndexPtr(), f.A.innerIndexPtr(), A.nonZeros());
  if (f.ready && last_pattern && are_equal(A.valuePtr(), f.A.valuePtr(), A.nonZeros())) return true;
  if (!last_pattern) f.cholesky_analysed = f.lu_analysed = false;
  f.A = A;
  f.ready = f.renew();
  return f.ready;
}

Vector SparseFactors::solve(const Vector& b) const {
  const WithoutOpenMp single;
  if (factors_->by_cholesky) return factors_->cholesky.solve(b);
  return factors_->lu.solve(b);
}

// By inverse iteration, a little beside zero.
std::vector<Index> singular_components(const SparseFactors::Matrix& A, std::size_t count) {
  const Vector diagonal = A.diagonal().cwiseAbs();
  const double scale = diagonal.size() > 0 ? std::max(diagonal.maxCoeff(), std::numeric_limits<double>::min()) : 1.0;
  SparseFactors::Matrix beside(A.rows(), A.cols());
  beside.setIdentity();
  beside = A + SparseFactors::Matrix(1e-9 * scale * beside);
  SparseFactors factors(SparseFactors::Kind::general);
  Vector x = Vector::Ones(A.cols());
  for (Index i = 0; i < x.size(); ++i) x(i) += 0.1 * std::sin(static_cast<double>(i));  // no symmetry's
  if (factors.factorise(beside))
    for (int k = 0; k < 3; ++k) {
      x = factors.solve(x);
      x /= std::max(x.cwiseAbs().maxCoeff(), std::numeric_limits<double>::min());
    }
  std::vector<Index> order(static_cast<std::size_t>(x.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](Index i) { return std::abs(x(i)); });
  order.resize(std::min(count, order.size()));
  return order;
}

StepMatrix::StepMatrix(const Model& model, Vector mass, std::span<const Index> held, SparseFactors::Kind kind)
    : stiffness_(model), mass_(std::move(mass)), held_(static_cast<std::size_t>(mass_.size()), 0), factors_(kind) {
  for (const Index i : held) held_[static_cast<std::size_t>(i)] = 1;
}

bool StepMatrix::factorise(const AssembledStiffness::Matrix& K, double c) {
  A_ = c * K;
  for (Index column = 0; column < A_.cols(); ++column)
    for (SparseFactors::Matrix::InnerIterator k(A_, column); k; ++k) {
      const bool held = held_[static_cast<std::size_t>(k.row())] != 0 || held_[static_cast<std::size_t>(column)] != 0;
      if (held) k.valueRef() = 0.0;
      if (k.row() == column) k.valueRef() += mass_(column);
    }
  return factors_.factorise(A_);
}

}  // namespace tempi
