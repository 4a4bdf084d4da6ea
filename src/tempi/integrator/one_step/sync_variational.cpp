// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/sync_variational.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "tempi/integrator/one_step/newton.hpp"

namespace tempi {

// A = -dR/dZ, one block for each Q_j and Z_l:
//   A_jl = sum_i w_i [h^2 phi_j(c_i) phi_l(c_i) K_i + h phi_j(c_i) phi_l'(c_i) C_i - phi_j'(c_i) phi_l'(c_i) M]
// C_i the damping; how it changes with the position is left out. For one unknown position it is symmetric, and positive
// definite unless K is strongly negative.
struct VariationalMap::Matrix {
  Matrix(const Model& model, std::size_t degree)
      : stiffness(model), factors(degree == 1 ? SparseFactors::Kind::symmetric : SparseFactors::Kind::general) {
    set_pattern(degree);
  }

  void set_pattern(std::size_t degree) {
    const auto& K = stiffness.pattern();
    const Index s = static_cast<Index>(degree), n = K.cols();
    A.resize(s * n, s * n);
    Eigen::VectorXi sizes(s * n);
    for (Index l = 0; l < s; ++l)
      for (Index c = 0; c < n; ++c)
        sizes(l * n + c) = static_cast<int>(s) * (K.outerIndexPtr()[c + 1] - K.outerIndexPtr()[c]);
    A.reserve(sizes);
    for (Index l = 0; l < s; ++l)
      for (Index c = 0; c < n; ++c)
        for (Index j = 0; j < s; ++j)
          for (SparseFactors::Matrix::InnerIterator k(K, c); k; ++k) A.insert(j * n + k.row(), l * n + c) = 0.0;
    A.makeCompressed();
  }

  AssembledStiffness stiffness;
  SparseFactors::Matrix A;
  SparseFactors factors;
};

VariationalMap::VariationalMap(const Model& model, DiscreteAction action, double step)
    : forces_(model, step),
      action_(std::move(action)),
      explicit_(action_.is_explicit() && !model.has_dampers()),
      stages_(action_.points.size()) {}

VariationalMap::~VariationalMap() = default;

std::vector<double> VariationalMap::parameters() const {
  std::vector<double> all = action_.control;
  all.insert(all.end(), action_.points.begin(), action_.points.end());
  all.insert(all.end(), action_.weights.begin(), action_.weights.end());
  return all;
}

// p_1 is the sum of all equations: what a residual has left cannot change the sum of momenta.
void VariationalMap::step(State& state, double t0, double h) const {
  complete(state, t0, h, solve(state, forces_.mass().cwiseProduct(map_of(state.velocity)), t0, h));
}

void VariationalMap::complete(State& state, double t0, double h, const Vector& Z) const {
  const std::size_t s = action_.degree();
  const Index n = forces_.mass().size();
  const Vector u0 = map_of(state.displacement);  // booking moves the state to where forces act
  const auto v0 = map_of(std::as_const(state.velocity));
  Vector u1 = u0 + h * Z.tail(n), v1 = v0;
  for (std::size_t i = 0; i < stages_.size(); ++i)
    v1 += (h * action_.weights[i] * stages_[i].force).cwiseQuotient(forces_.mass());
  forces_.prescribe(t0 + h, u1, v1);

  for (std::size_t i = 0; i < stages_.size(); ++i) forces_.book_forces(state, stages_[i], h * action_.weights[i]);
  // What the supports must give so that the equation of each Q_j holds.
  for (std::size_t j = 0; j <= s && !forces_.held().empty(); ++j) {
    Vector uj = j == 0 ? u0 : Vector(u0 + h * Z.segment(static_cast<Index>(j - 1) * n, n)), vj = v0;
    forces_.prescribe(t0 + action_.control[j] * h, uj, vj);
    Vector sum = Vector::Zero(n);
    add_equation(j, h, sum);
    for (const Index i : forces_.held()) {
      const double given = forces_.mass()(i) * ((j == s ? v1(i) : 0.0) - (j == 0 ? v0(i) : 0.0)) - sum(i);
      forces_.book_reaction(state, i, uj, given, given * vj(i));
    }
  }
  map_of(state.displacement) = u1;
  map_of(state.velocity) = v1;
}

double VariationalMap::discrete_energy(const State& state, double t0, double h) const {
  solve(state, forces_.mass().cwiseProduct(map_of(state.velocity)), t0, h);
  double energy = 0.0;
  for (std::size_t i = 0; i < stages_.size(); ++i)
    energy += action_.weights[i] * (0.5 * stages_[i].v.dot(forces_.mass().cwiseProduct(stages_[i].v)) +
                                    forces_.potential_energy(span_of(stages_[i].u), t0 + action_.points[i] * h));
  return energy;
}

// The increments Z_j = (Q_j - q_0) / h, j = 1 ... s, that make R vanish; the stages are those of the solution.
VariationalMap::Vector VariationalMap::solve(const State& state, const Vector& p0, double t0, double h) const {
  const Index s = static_cast<Index>(action_.degree()), n = forces_.mass().size();
  Vector Z(s * n);
  for (Index l = 0; l < s; ++l)
    Z.segment(l * n, n) = action_.control[static_cast<std::size_t>(l) + 1] * map_of(state.velocity);
  place_held(state, t0, h, Z);
  if (explicit_) {  // forces at what is unknown have no weight in R, which is linear: one correction
    forces_.require(evaluate_stages(state, t0, h, Z, Wanted::known));
    Z += residual(p0, h).cwiseQuotient(forces_.mass());
    forces_.require(evaluate_stages(state, t0, h, Z, Wanted::unknown));
    return Z;
  }
  std::array<Vector, 2> guesses = {std::move(Z), Vector::Zero(s * n)};
  place_held(state, t0, h, guesses[1]);
  if (!matrix_) matrix_ = std::make_unique<Matrix>(forces_.model(), action_.degree());
  StepEquations equations;
  Admissibility last;
  equations.evaluate = [&](const Vector& Z) { return (last = evaluate_stages(state, t0, h, Z)).holds(); };
  equations.fault = [&] { return last.fault; };
  equations.residual = [&] { return residual(p0, h); };
  equations.scale = [&] {
    double largest = p0.cwiseAbs().maxCoeff();
    for (std::size_t i = 0; i < stages_.size(); ++i)
      largest = std::max(largest, h * action_.weights[i] * stages_[i].force.cwiseAbs().maxCoeff());
    return largest;
  };
  equations.rounding = [&] {  // weights and shape functions are at most about 1
    const Vector of_forces = matrix_->stiffness.rounding_of_forces(span_of(stages_.back().u), t0);
    return Vector(h * of_forces.replicate(s, 1));
  };
  equations.resolution = forces_.resolution(map_of(state.displacement), h);
  double before = 0.0;
  equations.correct = [&](const Vector& R) -> std::optional<Vector> {
    const double size = R.norm();
    const bool serves = matrix_kept_ && matrix_for_ == h && (before == 0.0 || size < 0.1 * before);
    before = size;
    if (serves) return matrix_->factors.solve(R);
    matrix_for_ = 0.0;
    assemble(t0, h);
    if (!matrix_->factors.factorise(matrix_->A)) return std::nullopt;
    matrix_for_ = h;
    return matrix_->factors.solve(R);
  };
  StepSolution solution = solve_newton(equations, guesses, t0);
  newton_iterations_ += solution.iterations;
  return std::move(solution.z);
}

void VariationalMap::place_held(const State& state, double t0, double h, Vector& Z) const {
  const Index n = forces_.mass().size();
  for (std::size_t j = 1; j <= action_.degree() && !forces_.held().empty(); ++j) {
    Vector u = map_of(state.displacement), v = u;
    forces_.prescribe(t0 + action_.control[j] * h, u, v);
    for (const Index i : forces_.held())
      Z(static_cast<Index>(j - 1) * n + i) = (u(i) - state.displacement[static_cast<std::size_t>(i)]) / h;
    for (const Index i : forces_.driven()) Z(static_cast<Index>(j - 1) * n + i) = action_.control[j] * v(i);
  }
}

Admissibility VariationalMap::evaluate_stages(const State& state, double t0, double h, const Vector& Z,
                                              Wanted wanted) const {
  const Index n = forces_.mass().size();
  Admissibility worst;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage& stage = stages_[i];
    const auto &phi = action_.phi[i], &slope = action_.slope[i];
    const bool is_known = phi.front() != 0.0;  // of an explicit action: it is at the start
    stage.v = slope[1] * Z.head(n);
    for (std::size_t j = 2; j <= action_.degree(); ++j)
      stage.v += slope[j] * Z.segment(static_cast<Index>(j - 1) * n, n);
    if (wanted == (is_known ? Wanted::unknown : Wanted::known)) continue;
    stage.u = map_of(state.displacement) + h * phi[1] * Z.head(n);
    for (std::size_t j = 2; j <= action_.degree(); ++j)
      stage.u += h * phi[j] * Z.segment(static_cast<Index>(j - 1) * n, n);
    const Admissibility here = forces_.evaluate(stage, t0 + action_.points[i] * h);
    if (worst.holds()) worst = here;
  }
  return worst;
}

// dL_d/dQ_j + F_j. Forces without weight are left out: where they act nothing may be known yet.
void VariationalMap::add_equation(std::size_t j, double h, Eigen::Ref<Vector> sum) const {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    sum += action_.weights[i] * action_.slope[i][j] * forces_.mass().cwiseProduct(stages_[i].v);
    if (action_.phi[i][j] != 0.0) sum += action_.weights[i] * h * action_.phi[i][j] * stages_[i].force;
  }
}

// R_j = p_0 delta_j0 + dL_d/dQ_j + F_j for j < s; zero where a support has its way.
VariationalMap::Vector VariationalMap::residual(const Vector& p0, double h) const {
  const Index s = static_cast<Index>(action_.degree()), n = forces_.mass().size();
  Vector R = Vector::Zero(s * n);
  R.head(n) = p0;
  for (Index j = 0; j < s; ++j) add_equation(static_cast<std::size_t>(j), h, R.segment(j * n, n));
  for (const Index i : forces_.held())
    for (Index j = 0; j < s; ++j) R(j * n + i) = 0.0;
  return R;
}

void VariationalMap::assemble(double t0, double h) const {
  const std::size_t s = action_.degree();
  const Index n = forces_.mass().size();
  std::vector<std::span<const double>> configurations;
  for (const Stage& stage : stages_) configurations.push_back(span_of(stage.u));
  if (matrix_->stiffness.cover(configurations, t0)) matrix_->set_pattern(s);
  auto& A = matrix_->A;
  std::fill_n(A.valuePtr(), A.nonZeros(), 0.0);
  // += factor(j, l) * matrix(), unless all factors are zero.
  const auto add_blocks = [&](auto&& factor, auto&& matrix) {
    bool needed = false;
    for (std::size_t j = 0; j < s; ++j)
      for (std::size_t l = 1; l <= s; ++l) needed = needed || factor(j, l) != 0.0;
    if (!needed) return;
    const AssembledStiffness::Matrix& K = matrix();
    double* value = A.valuePtr();
    for (std::size_t l = 1; l <= s; ++l)
      for (Index c = 0; c < n; ++c)
        for (std::size_t j = 0; j < s; ++j)
          for (auto k = K.outerIndexPtr()[c]; k < K.outerIndexPtr()[c + 1]; ++k)
            *value++ += factor(j, l) * K.valuePtr()[k];
  };
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const double t = t0 + action_.points[i] * h, weight = action_.weights[i];
    const auto u = span_of(stages_[i].u);
    const auto &phi = action_.phi[i], &slope = action_.slope[i];
    add_blocks([&](std::size_t j, std::size_t l) { return h * h * weight * phi[j] * phi[l]; },
               [&]() -> auto& { return matrix_->stiffness.at(u, t); });
    if (forces_.model().has_dampers())
      add_blocks([&](std::size_t j, std::size_t l) { return h * weight * phi[j] * slope[l]; },
                 [&]() -> auto& {
                   return matrix_->stiffness.assemble(
                       [&](TermId id, std::span<double> H) { forces_.model().add_damping(id, u, t, 1.0, H); });
                 });
  }
  std::vector<char> is_held(static_cast<std::size_t>(n), 0);
  for (const Index i : forces_.held()) is_held[static_cast<std::size_t>(i)] = 1;
  for (std::size_t l = 1; l <= s; ++l)
    for (Index c = 0; c < n; ++c)
      for (SparseFactors::Matrix::InnerIterator k(A, static_cast<Index>(l - 1) * n + c); k; ++k) {
        const auto j = static_cast<std::size_t>(k.row() / n);
        const Index row = k.row() % n;
        if (is_held[static_cast<std::size_t>(row)] != 0 || is_held[static_cast<std::size_t>(c)] != 0) {
          k.valueRef() = row == c && j + 1 == l ? forces_.mass()(c) : 0.0;
        } else if (row == c) {
          for (std::size_t i = 0; i < stages_.size(); ++i)
            k.valueRef() -= action_.weights[i] * action_.slope[i][j] * action_.slope[i][l] * forces_.mass()(c);
        }
      }
}

}  // namespace tempi
