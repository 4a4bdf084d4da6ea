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
      explicit_(action_.ahead().has_value()),
      stages_(action_.points.size()) {}

VariationalMap::~VariationalMap() = default;

std::vector<double> VariationalMap::parameters() const {
  std::vector<double> all = action_.control;
  all.insert(all.end(), action_.points.begin(), action_.points.end());
  all.insert(all.end(), action_.weights.begin(), action_.weights.end());
  return all;
}

void VariationalMap::step(State& state, double t0, double h) const {
  solve(state, t0, h, Z_);
  complete(state, t0, h, Z_);
}

// p_1 is the sum of all equations: what a residual has left cannot change the sum of momenta.
void VariationalMap::complete(State& state, double t0, double h, const Vector& Z) const {
  if (forces_.model().has_forces() || !forces_.held().empty()) book(state, t0, h, Z);
  const Index n = forces_.mass().size();
  auto u = map_of(state.displacement), v = map_of(state.velocity);
  u += h * Z.tail(n);
  constexpr Index in_cache = 1024;
  for (Index i = 0; i < n; i += in_cache) {
    const Index size = std::min(in_cache, n - i);
    const auto here = [&](auto& x) { return x.segment(i, size); };
    for (std::size_t k = 0; k < stages_.size(); ++k)
      here(v) += (h * action_.weights[k] * here(stages_[k].force)).cwiseQuotient(here(forces_.mass()));
  }
  forces_.prescribe(t0 + h, u, v);
}

// What loads give, and supports so that the equation of each Q_j holds.
void VariationalMap::book(State& state, double t0, double h, const Vector& Z) const {
  const std::size_t s = action_.degree();
  const Index n = forces_.mass().size();
  if (explicit_) set_velocities(Z);
  std::vector<Vector> moving;  // velocities of supports: they may throw, before anything is booked
  for (const double c : action_.control) moving.push_back(forces_.held_velocities(t0 + c * h));
  for (std::size_t j = 0; j <= s && !forces_.held().empty(); ++j) {
    Vector& uj = reached_;
    uj = map_of(state.displacement);
    if (j > 0) uj += h * Z.segment(static_cast<Index>(j - 1) * n, n);
    forces_.place(t0 + action_.control[j] * h, uj);
    forces_.book_reactions(state, forces_.held(), uj, [&](Index k, Index i) {
      const double v = moving[j](k);
      double given = -equation(j, h, i);
      if (j == 0) given -= forces_.mass()(i) * state.velocity[static_cast<std::size_t>(i)];
      if (j == s) given += forces_.mass()(i) * v;
      return StageForces::Reaction{given, given * v};
    });
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) forces_.book_forces(state, stages_[i], h * action_.weights[i]);
}

double VariationalMap::discrete_energy(const State& state, double t0, double h) const {
  solve(state, t0, h, Z_);
  set_velocities(Z_);
  double energy = 0.0;
  for (std::size_t i = 0; i < stages_.size(); ++i)
    energy += action_.weights[i] * (0.5 * stages_[i].v.dot(forces_.mass().cwiseProduct(stages_[i].v)) +
                                    forces_.potential_energy(span_of(stages_[i].u), t0 + action_.points[i] * h));
  return energy;
}

// The increments Z_j = (Q_j - q_0) / h, j = 1 ... s, that make R vanish; the stages are those of the solution.
void VariationalMap::solve(const State& state, double t0, double h, Vector& Z) const {
  const Index s = static_cast<Index>(action_.degree()), n = forces_.mass().size();
  Z.resize(s * n);
  for (Index l = 0; l < s; ++l)
    Z.segment(l * n, n) = action_.control[static_cast<std::size_t>(l) + 1] * map_of(state.velocity);
  place_held(state, t0, h, Z);
  if (explicit_) {
    forces_.require(evaluate_stages(state, t0, h, Z, Wanted::known));
    // R is linear, and at Z = v_0 has the known forces only. Z is the velocity of all stages.
    double damped = 0.0;
    for (std::size_t i = 0; i < stages_.size(); ++i)
      if (is_known(i)) {
        damped += h * action_.weights[i] * action_.phi[i][0];
        Z += (h * action_.weights[i] * action_.phi[i][0] * stages_[i].force).cwiseQuotient(forces_.mass());
      }
    place_held(state, t0, h, Z);
    if (forces_.model().has_dampers()) {
      if (damped > 0.0) forces_.damp(state.displacement, t0, damped, Z);
      set_velocities(Z);
      for (std::size_t i = 0; i < stages_.size(); ++i)
        if (is_known(i)) forces_.add_dampings(stages_[i], t0);
    }
    forces_.require(evaluate_stages(state, t0, h, Z, Wanted::unknown));
    return;
  }
  const Vector p0 = forces_.mass().cwiseProduct(map_of(state.velocity));
  std::array<Vector, 2> guesses = {Z, Vector::Zero(s * n)};
  place_held(state, t0, h, guesses[1]);
  if (!matrix_) matrix_ = std::make_unique<Matrix>(forces_.model(), action_.degree());
  StepEquations equations;
  Admissibility last;
  equations.evaluate = [&](const Vector& tried) { return (last = evaluate_stages(state, t0, h, tried)).holds(); };
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
  equations.linearised = matrix_kept_ && matrix_for_ == h;
  equations.linearise = [&] {
    matrix_for_ = 0.0;
    assemble(t0, h);
    if (!matrix_->factors.factorise(matrix_->A)) return false;
    matrix_for_ = h;
    return true;
  };
  equations.correct = [&](const Vector& R) { return matrix_->factors.solve(R); };
  StepSolution solution = forces_.counted(last_solution_, [&] {
    return solve_newton(equations, guesses, t0, matrix_kept_ ? nullptr : &last_solution_);
  });
  newton_iterations_ += solution.iterations;
  Z = std::move(solution.z);
}

void VariationalMap::place_held(const State& state, double t0, double h, Vector& Z) const {
  const Index n = forces_.mass().size();
  for (std::size_t j = 1; j <= action_.degree(); ++j) {
    const double t = t0 + action_.control[j] * h;
    auto of_position = Z.segment(static_cast<Index>(j - 1) * n, n);
    for (const Index i : forces_.held()) of_position(i) = 0.0;
    forces_.each_placed(t, [&](Index i, double there) {
      of_position(i) = (there - state.displacement[static_cast<std::size_t>(i)]) / h;
    });
    of_position(forces_.driven()) = action_.control[j] * forces_.driven_velocity();
  }
}

void VariationalMap::set_velocities(const Vector& Z) const {
  const Index n = forces_.mass().size();
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    stages_[i].v = action_.slope[i][1] * Z.head(n);
    for (std::size_t j = 2; j <= action_.degree(); ++j)
      stages_[i].v += action_.slope[i][j] * Z.segment(static_cast<Index>(j - 1) * n, n);
  }
}

// Whether a stage of an explicit action is at the start.
bool VariationalMap::is_known(std::size_t i) const { return action_.phi[i].front() != 0.0; }

Admissibility VariationalMap::evaluate_stages(const State& state, double t0, double h, const Vector& Z,
                                              Wanted wanted) const {
  const Index n = forces_.mass().size();
  if (wanted == Wanted::all) set_velocities(Z);  // dampers ask for them
  Admissibility worst;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage& stage = stages_[i];
    const auto& phi = action_.phi[i];
    if (wanted == (is_known(i) ? Wanted::unknown : Wanted::known)) continue;
    stage.u = map_of(state.displacement);
    for (std::size_t j = 1; j <= action_.degree() && wanted != Wanted::known; ++j)
      stage.u += h * phi[j] * Z.segment(static_cast<Index>(j - 1) * n, n);
    const double t = t0 + action_.points[i] * h;
    const Admissibility here =
        wanted == Wanted::known ? forces_.evaluate_undamped(stage, t) : forces_.evaluate(stage, t);
    if (worst.holds()) worst = here;
  }
  return worst;
}

// dL_d/dQ_j + F_j of component i. Forces without weight are left out: where they act nothing may be known yet.
double VariationalMap::equation(std::size_t j, double h, Index i) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < stages_.size(); ++k) {
    sum += action_.weights[k] * action_.slope[k][j] * (forces_.mass()(i) * stages_[k].v(i));
    if (action_.phi[k][j] != 0.0) sum += action_.weights[k] * h * action_.phi[k][j] * stages_[k].force(i);
  }
  return sum;
}

// R_j = p_0 delta_j0 + dL_d/dQ_j + F_j for j < s; zero where a support has its way.
VariationalMap::Vector VariationalMap::residual(const Vector& p0, double h) const {
  const Index s = static_cast<Index>(action_.degree()), n = forces_.mass().size();
  Vector R = Vector::Zero(s * n);
  R.head(n) = p0;
  for (Index j = 0; j < s; ++j)
    for (Index i = 0; i < n; ++i) R(j * n + i) += equation(static_cast<std::size_t>(j), h, i);
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
                 [&]() -> auto& { return matrix_->stiffness.damping(u, t); });
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
