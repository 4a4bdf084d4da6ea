// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/sync_variational.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/CholmodSupport>
#include <Eigen/UmfPackSupport>
#include <algorithm>
#include <cmath>
#include <limits>

#include "tempi/core/error.hpp"
#include "tempi/integrator/checkpoint.hpp"

namespace tempi {
namespace {

constexpr int most_iterations = 30, most_halvings = 12;
// Of the largest impulse in hand: sought, and enough where rounding lets no more.
constexpr double sought = 1e-14, enough = 1e-11;

std::span<const double> span_of(const Eigen::VectorXd& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }
Eigen::Map<Eigen::VectorXd> map_of(std::vector<double>& x) { return {x.data(), static_cast<Eigen::Index>(x.size())}; }

}  // namespace

// A dZ = R with A = -dR/dZ, one block for each Q_j and Z_l:
//   A_jl = h^2 sum_i w_i phi_j(c_i) phi_l(c_i) K_i - (sum_i w_i phi_j'(c_i) phi_l'(c_i)) M
// For one unknown position it is symmetric, positive definite unless K is strongly negative: Cholesky, else LU.
struct SyncVariational::Solver {
  Solver(const Model& model, std::size_t degree) : stiffness(model), s(static_cast<Index>(degree)) {
    const auto& K = stiffness.pattern();
    const Index n = K.cols();
    A.resize(s * n, s * n);
    Eigen::VectorXi sizes(s * n);
    for (Index l = 0; l < s; ++l)
      for (Index c = 0; c < n; ++c)
        sizes(l * n + c) = static_cast<int>(s) * (K.outerIndexPtr()[c + 1] - K.outerIndexPtr()[c]);
    A.reserve(sizes);
    for (Index l = 0; l < s; ++l)
      for (Index c = 0; c < n; ++c)
        for (Index j = 0; j < s; ++j)
          for (AssembledStiffness::Matrix::InnerIterator k(K, c); k; ++k) A.insert(j * n + k.row(), l * n + c) = 0.0;
    A.makeCompressed();
    cholesky.cholmod().print = 0;  // a matrix that is not definite is no news for the user: LU takes it
  }

  bool factorise() {
    if (s == 1) {
      if (!analysed) cholesky.analyzePattern(A);
      analysed = true;
      cholesky.factorize(A);
      if (cholesky.info() == Eigen::Success) {
        by_cholesky = true;
        return true;
      }
    }
    by_cholesky = false;
    if (!lu_analysed) lu.analyzePattern(A);
    lu_analysed = true;
    lu.factorize(A);
    return lu.info() == Eigen::Success;
  }
  Vector solve(const Vector& R) {
    if (by_cholesky) return cholesky.solve(R);
    return lu.solve(R);
  }

  AssembledStiffness stiffness;
  Index s;
  AssembledStiffness::Matrix A;
  Eigen::CholmodSupernodalLLT<AssembledStiffness::Matrix> cholesky;
  Eigen::UmfPackLU<AssembledStiffness::Matrix> lu;
  bool analysed = false, lu_analysed = false, by_cholesky = false;
};

SyncVariational::SyncVariational(const Model& model, DiscreteAction action, double step)
    : model_(model),
      action_(std::move(action)),
      step_(step),
      explicit_(action_.is_explicit()),
      kick_drift_(model, 0.1 * step),
      mass_(model.node_count() * model.dim()),
      stages_(action_.points.size()) {
  if (!(step > 0.0) || !std::isfinite(step)) throw InputError(fmt::format("step = {} s (must be > 0).", step));
  for (Index i = 0; i < mass_.size(); ++i) {
    const auto a = make_id<NodeId>(i / model.dim());
    mass_(i) = model.mass(a);
    if (model.supports().support_of(a, static_cast<int>(i % model.dim())) != Supports::none) held_.push_back(i);
  }
}

SyncVariational::~SyncVariational() = default;

void SyncVariational::advance(State& state, double t_end, Observer*) {
  if (!started_) {
    kick_drift_.start(state);
    started_ = true;
  }
  while (static_cast<double>(steps_done_ + 1) * step_ < t_end) {
    const double t0 = static_cast<double>(steps_done_) * step_, t1 = static_cast<double>(steps_done_ + 1) * step_;
    make_step(state, t0, t1 - t0);
    std::ranges::fill(state.clock, t1);
    ++steps_done_;
  }
}

void SyncVariational::make_step(State& state, double t0, double h) const {
  const Vector p0 = mass_.cwiseProduct(map_of(state.velocity));
  const auto s = static_cast<Index>(action_.degree()), n = mass_.size();
  Vector Z(s * n);
  for (Index l = 0; l < s; ++l)
    Z.segment(l * n, n) = action_.control[static_cast<std::size_t>(l) + 1] * map_of(state.velocity);
  prescribe(state, t0, h, Z);
  if (!evaluate(state, t0, h, Z)) {
    Z.setZero();
    prescribe(state, t0, h, Z);
    if (!evaluate(state, t0, h, Z))
      throw SolveError(
          fmt::format("an element is inverted at t = {:.9g} s, or a position is not finite. Choose a smaller step.",
                      t0));
  }
  std::vector<double> history;
  for (;;) {
    const Vector R = residual(p0, h);
    double scale = p0.size() > 0 ? p0.cwiseAbs().maxCoeff() : 0.0;
    for (std::size_t i = 0; i < stages_.size(); ++i)
      scale = std::max(scale, h * std::abs(action_.weights[i]) * stages_[i].force.cwiseAbs().maxCoeff());
    const double size = R.cwiseAbs().maxCoeff() / (scale > 0.0 ? scale : 1.0);
    history.push_back(size);
    const bool stuck = history.size() > 2 && size > 0.5 * history[history.size() - 2];
    if (size <= sought || (stuck && size <= enough)) break;
    const bool explicit_done = explicit_ && history.size() == 2;  // one step of Newton's method solves it
    if (explicit_done && size <= enough) break;
    if (history.size() > most_iterations || !std::isfinite(size))
      throw SolveError(
          fmt::format("the implicit equations of the step at t = {:.9g} s are not solved after {} iterations: the "
                      "residuals, relative "
                      "to the largest impulse, were {:.2g}. Choose a smaller step.",
                      t0, history.size() - 1, fmt::join(history, ", ")));
    Vector dZ;
    if (explicit_) {
      dZ = R.cwiseQuotient(mass_);
      for (const Index i : held_) dZ(i) = 0.0;
    } else {
      assemble(t0, h);
      if (!solver_->factorise())
        throw SolveError(
            fmt::format("the implicit equations of the step at t = {:.9g} s are singular. Choose a smaller step.", t0));
      dZ = solver_->solve(R);
      ++newton_iterations_;
    }
    double part = 1.0;
    const double before = R.norm();
    for (int halvings = 0;; ++halvings, part *= 0.5) {
      const bool admissible = evaluate(state, t0, h, Z + part * dZ);
      const double after = admissible ? residual(p0, h).norm() : std::numeric_limits<double>::infinity();
      if (after < before || (admissible && (size < 1e-8 || halvings == most_halvings))) break;
      if (halvings == most_halvings)
        throw SolveError(fmt::format(
            "an element is inverted within the step at t = {:.9g} s however little it moves. Choose a smaller step.",
            t0));
    }
    Z += part * dZ;
  }
  finish(state, t0, h, Z, p0);
}

// Z_l = (Q_l - q_0) / h of held components.
void SyncVariational::prescribe(const State& state, double t0, double h, Vector& Z) const {
  const auto s = static_cast<Index>(action_.degree()), n = mass_.size();
  for (const Index i : held_)
    for (Index l = 0; l < s; ++l) {
      const double t = t0 + action_.control[static_cast<std::size_t>(l) + 1] * h;
      const auto u =
          model_.supports().displacement(make_id<NodeId>(i / model_.dim()), static_cast<int>(i % model_.dim()), t);
      Z(l * n + i) = u ? (*u - state.displacement[static_cast<std::size_t>(i)]) / h : 0.0;
    }
}

bool SyncVariational::evaluate(const State& state, double t0, double h, const Vector& Z) const {
  const auto n = mass_.size();
  const Eigen::Map<const Vector> u0(state.displacement.data(), n);
  bool admissible = true;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage& stage = stages_[i];
    stage.u = u0;
    stage.v = Vector::Zero(n);
    for (std::size_t j = 1; j <= action_.degree(); ++j) {
      const auto Zj = Z.segment(static_cast<Index>(j - 1) * n, n);
      stage.u += h * action_.phi[i][j] * Zj;
      stage.v += action_.slope[i][j] * Zj;
    }
    evaluate_forces(stage, t0 + action_.points[i] * h, admissible);
  }
  return admissible;
}

void SyncVariational::evaluate_forces(Stage& stage, double t, bool& admissible) const {
  const auto d = static_cast<std::size_t>(model_.dim());
  stage.force = Vector::Zero(mass_.size());
  stage.load = Vector::Zero(mass_.size());
  std::vector<double> p(model_.largest_stencil() * d), q(p.size());
  for (Index k = 0; k < model_.term_count(); ++k) {
    const auto term = make_id<TermId>(k);
    const auto nodes = model_.term(term).stencil();
    const auto local_p = std::span(p).first(nodes.size() * d), local_q = std::span(q).first(nodes.size() * d);
    const double J = kick_drift_.impulses(term, span_of(stage.u), span_of(stage.v), t, 1.0, local_p, local_q);
    admissible = admissible && J > 0.0 && std::isfinite(J);
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t c = 0; c < d; ++c) {
        const auto global = static_cast<Index>(static_cast<std::size_t>(index(nodes[a])) * d + c);
        stage.force(global) += local_p[a * d + c];
        if (model_.has_forces()) stage.load(global) += local_q[a * d + c];
      }
  }
}

// R_j = p_0 delta_j0 + dL_d/dQ_j + F_j for j < s; zero where a support has its way.
SyncVariational::Vector SyncVariational::residual(const Vector& p0, double h) const {
  const auto s = static_cast<Index>(action_.degree()), n = mass_.size();
  Vector R = Vector::Zero(s * n);
  R.head(n) = p0;
  for (Index j = 0; j < s; ++j)
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const auto k = static_cast<std::size_t>(j);
      R.segment(j * n, n) += action_.weights[i] * (action_.slope[i][k] * mass_.cwiseProduct(stages_[i].v) +
                                                   h * action_.phi[i][k] * stages_[i].force);
    }
  for (const Index i : held_)
    for (Index j = 0; j < s; ++j) R(j * n + i) = 0.0;
  return R;
}

void SyncVariational::assemble(double t0, double h) const {
  const std::size_t s = action_.degree();
  if (!solver_) solver_ = std::make_unique<Solver>(model_, s);
  auto& A = solver_->A;
  const auto n = mass_.size();
  std::fill_n(A.valuePtr(), A.nonZeros(), 0.0);
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const auto factor = [&](std::size_t j, std::size_t l) {
      return h * h * action_.weights[i] * action_.phi[i][j] * action_.phi[i][l];
    };
    bool needed = false;
    for (std::size_t j = 0; j < s; ++j)
      for (std::size_t l = 1; l <= s; ++l) needed = needed || factor(j, l) != 0.0;
    if (!needed) continue;
    const auto& K = solver_->stiffness(span_of(stages_[i].u), t0 + action_.points[i] * h);
    double* value = A.valuePtr();
    for (std::size_t l = 1; l <= s; ++l)
      for (Index c = 0; c < n; ++c)
        for (std::size_t j = 0; j < s; ++j)
          for (auto k = K.outerIndexPtr()[c]; k < K.outerIndexPtr()[c + 1]; ++k)
            *value++ += factor(j, l) * K.valuePtr()[k];
  }
  std::vector<char> held(static_cast<std::size_t>(n), 0);
  for (const Index i : held_) held[static_cast<std::size_t>(i)] = 1;
  for (std::size_t l = 1; l <= s; ++l)
    for (Index c = 0; c < n; ++c)
      for (AssembledStiffness::Matrix::InnerIterator k(A, static_cast<Index>(l - 1) * n + c); k; ++k) {
        const auto j = static_cast<std::size_t>(k.row() / n);
        const Index row = k.row() % n;
        if (held[static_cast<std::size_t>(row)] != 0 || held[static_cast<std::size_t>(c)] != 0) {
          k.valueRef() = row == c && j + 1 == l ? mass_(c) : 0.0;
        } else if (row == c) {
          for (std::size_t i = 0; i < stages_.size(); ++i)
            k.valueRef() -= action_.weights[i] * action_.slope[i][j] * action_.slope[i][l] * mass_(c);
        }
      }
}

// p_1 by the sum of all rows: what a residual has left cannot change the sum of momenta.
void SyncVariational::finish(State& state, double t0, double h, const Vector& Z, const Vector& p0) const {
  const auto s = action_.degree(), d = static_cast<std::size_t>(model_.dim());
  const auto n = mass_.size();
  const Supports& supports = model_.supports();
  const Vector u1 = map_of(state.displacement) + h * Z.tail(n);
  Vector p1 = p0;
  for (std::size_t i = 0; i < stages_.size(); ++i) p1 += h * action_.weights[i] * stages_[i].force;
  const auto motion = [&](Index i) {
    return std::pair(make_id<NodeId>(i / model_.dim()), static_cast<int>(i % model_.dim()));
  };

  if (model_.has_forces())
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const Stage& stage = stages_[i];
      map_of(state.displacement) = stage.u;  // where the loads act
      const Vector q = h * action_.weights[i] * stage.load;
      for (Index a = 0; a < model_.node_count(); ++a)
        kick_drift_.book_load(state, make_id<NodeId>(a), span_of(q).subspan(static_cast<std::size_t>(a) * d, d));
      state.loads.work += q.dot(stage.v);
    }
  // What the supports must give Q_j so that its equation holds.
  for (const Index i : held_) {
    const auto [a, c] = motion(i);
    const double v1 = supports.velocity(a, c, t0 + h, 0.1 * h);
    Ledger& ledger = state.supports[static_cast<std::size_t>(supports.support_of(a, c))];
    for (std::size_t j = 0; j <= s; ++j) {
      double given = j == 0 ? -p0(i) : j == s ? mass_(i) * v1 : 0.0;
      for (std::size_t k = 0; k < stages_.size(); ++k)
        given -= action_.weights[k] *
                 (action_.slope[k][j] * mass_(i) * stages_[k].v(i) + h * action_.phi[k][j] * stages_[k].force(i));
      std::array<double, 3> x{}, p{};
      for (std::size_t e = 0; e < d; ++e) {
        const auto at = static_cast<Index>(static_cast<std::size_t>(index(a)) * d + e);
        x[e] = model_.reference()[static_cast<std::size_t>(at)] + u1(at);
        if (j < s)
          x[e] += h * ((j == 0 ? 0.0 : Z(static_cast<Index>(j - 1) * n + at)) - Z(static_cast<Index>(s - 1) * n + at));
      }
      p[static_cast<std::size_t>(c)] = given;
      for (std::size_t e = 0; e < 3; ++e) {
        ledger.impulse[e] += p[e];
        ledger.moment[e] += x[(e + 1) % 3] * p[(e + 2) % 3] - x[(e + 2) % 3] * p[(e + 1) % 3];
      }
      ledger.work += given * supports.velocity(a, c, t0 + action_.control[j] * h, 0.1 * h);
    }
    p1(i) = mass_(i) * v1;
  }
  map_of(state.displacement) = u1;
  for (const Index i : held_) {
    const auto [a, c] = motion(i);
    if (const auto u = supports.displacement(a, c, t0 + h)) state.displacement[static_cast<std::size_t>(i)] = *u;
  }
  map_of(state.velocity) = p1.cwiseQuotient(mass_);
}

Snapshot SyncVariational::synchronized(const State& state, double t) const {
  Snapshot snapshot{t, state, {}, 0.0};
  if (!started_) kick_drift_.start(snapshot.state);
  const double t0 = static_cast<double>(steps_done_) * step_;
  if (t > t0) make_step(snapshot.state, t0, t - t0);
  std::ranges::fill(snapshot.state.clock, t);
  Stage stage;
  stage.u = map_of(snapshot.state.displacement);
  stage.v = map_of(snapshot.state.velocity);
  bool admissible = true;
  evaluate_forces(stage, t, admissible);
  snapshot.force.assign(stage.force.begin(), stage.force.end());
  snapshot.potential_energy = model_.potential_energy(snapshot.state.displacement, t);
  return snapshot;
}

void SyncVariational::save(ArchiveWriter& archive) const {
  archive.put("model", model_.fingerprint());
  archive.put("started", started_);
  archive.put("step", step_);
  archive.put("steps_done", steps_done_);
}

void SyncVariational::load(ArchiveReader& archive) {
  std::uint64_t model = 0;
  double step = 0.0;
  archive.get("model", model);
  if (model != model_.fingerprint())
    throw InputError("the checkpoint was written by another model. Use the same case.");
  archive.get("started", started_);
  archive.get("step", step);
  if (step != step_) throw InputError("the checkpoint was written with another time step. Use the same case.");
  archive.get("steps_done", steps_done_);
}

}  // namespace tempi
