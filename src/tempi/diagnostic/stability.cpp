// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/stability.hpp"

#include <Eigen/Core>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "tempi/core/error.hpp"
#include "tempi/integrator/avi/avi_lattice.hpp"

namespace tempi {
namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

// Normally distributed, the same on every machine (the standard distributions are not): in any orthonormal basis its
// components are alike. Zero where `like` is.
class RandomMotion {
 public:
  explicit RandomMotion(std::uint64_t seed) : engine_(seed) {}
  Vector operator()(const Vector& like) {
    Vector x = Vector::Zero(like.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      if (like(i) == 0.0) continue;
      const double radius = std::sqrt(-2.0 * std::log(uniform()));  // Box, Muller
      x(i) = radius * std::cos(2.0 * std::numbers::pi * uniform());
    }
    return x;
  }

 private:
  double uniform() { return static_cast<double>((engine_() >> 11) + 1) * 0x1.0p-53; }  // above 0
  std::mt19937_64 engine_;
};

// All terms together, for their forces: any tick will do that layers of contact, which nobody asks, do not refuse.
TickLattice one_tick(const Model& model) {
  double tick = 1.0;  // [s]
  for (const auto& contact : model.layers()) tick = std::min(tick, contact->range_of_steps()[0]);
  return {tick, std::vector<std::int32_t>(static_cast<std::size_t>(model.term_count()), 1)};
}

// Small motions d about u in x = M^{1/2} d, where masses are one: x'' + A x = 0, A = M^{-1/2} K M^{-1/2}. Zero on what
// is held. K d is a difference of forces; for linear models it is exact.
class ScaledModel {
 public:
  ScaledModel(const Model& model, std::span<const double> u, int threads)
      : u_(Eigen::Map<const Vector>(u.data(), static_cast<Eigen::Index>(u.size()))),
        reach_(1e-6 * shortest_edge(model)),
        engine_(model.term_count() > 0
                    ? std::make_unique<AviLattice>(model, one_tick(model), LatticeOptions{threads, 1.0})
                    : nullptr),
        force_(force(u_)),
        root_mass_(Vector::Zero(model.node_count() * model.dim())),
        inverse_root_(root_mass_) {
    for (Index a = 0; a < model.node_count(); ++a)
      for (int c = 0; c < model.dim(); ++c) {
        if (model.supports().support_of(make_id<NodeId>(a), c) != Supports::none) continue;
        root_mass_(a * model.dim() + c) = std::sqrt(model.mass(make_id<NodeId>(a)));
        inverse_root_(a * model.dim() + c) = 1.0 / root_mass_(a * model.dim() + c);
      }
  }

  const Vector& root_mass() const { return root_mass_; }
  const Vector& inverse_root_mass() const { return inverse_root_; }
  Index free_count() const { return (root_mass_.array() != 0.0).count(); }

  Vector A_times(const Vector& x) const {
    const Vector d = inverse_root_.cwiseProduct(x);
    const double largest = d.cwiseAbs().maxCoeff();
    if (!(largest > 0.0)) return Vector::Zero(d.size());
    const double scale = reach_ / largest;
    return inverse_root_.cwiseProduct(force_ - force(u_ + scale * d)) / scale;
  }

 private:
  Vector force(const Vector& u) const {
    if (engine_ == nullptr) return Vector::Zero(u.size());
    const auto f = engine_->internal_forces({u.data(), static_cast<std::size_t>(u.size())}, 0.0);
    return Eigen::Map<const Vector>(f.data(), u.size());
  }

  // Between neighbours, of the reference positions.
  static double shortest_edge(const Model& model) {
    const Eigen::Map<const Matrix> X(model.reference().data(), model.dim(), model.node_count());
    double least = std::numeric_limits<double>::infinity();
    const auto look_at = [&](std::span<const NodeId> nodes) {
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
          least = std::min(least, (X.col(index(nodes[a])) - X.col(index(nodes[b]))).norm());
    };
    const std::vector<double> at_rest(model.reference().size(), 0.0);
    for (Index i = 0; i < model.term_count(); ++i) {
      const auto [potential, k] = model.term(make_id<TermId>(i));
      if (potential->as_local() != nullptr)
        look_at(potential->stencil(k));
      else
        potential->each_hessian_piece(k, at_rest, 0.0, [&](auto nodes, auto) { look_at(nodes); });
    }
    return std::isfinite(least) ? least : 1.0;
  }

  Vector u_;
  double reach_;                        // largest |d| of a difference [m]: strains of 1e-6 or less
  std::unique_ptr<AviLattice> engine_;  // none where no term acts
  Vector force_, root_mass_, inverse_root_;
};

// ---- the assembled limit ----

// The largest eigenvalue of the tridiagonal matrix T with alpha on and beta beside the diagonal, by bisection: above it
// every pivot of T - value I is negative. (T holds copies of an eigenvalue that Lanczos has found before; they keep
// Eigen's QL iteration from converging.)
double largest_eigenvalue(const std::vector<double>& alpha, const std::vector<double>& beta) {
  const auto is_above = [&](double value) {
    double pivot = -1.0;
    for (std::size_t i = 0; i < alpha.size() && pivot < 0.0; ++i)
      pivot = alpha[i] - value - (i > 0 ? beta[i - 1] * beta[i - 1] / pivot : 0.0);
    return pivot < 0.0;
  };
  double low = *std::ranges::max_element(alpha), high = low;
  for (const double b : beta) high = std::max(high, low + 2.0 * b);
  const double tolerance = 1e-15 * std::max(std::abs(low), std::abs(high));
  while (high - low > tolerance) {
    const double middle = 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (is_above(middle) ? high : low) = middle;
  }
  return high;
}

// The largest Ritz value after `steps` steps of the Lanczos method. Without reorthogonalisation: what rounding does is
// to find the largest eigenvalue once more.
double largest_ritz_value(const ScaledModel& model, Index steps) {
  std::vector<double> alpha, beta;
  Vector q = RandomMotion(1)(model.root_mass()).normalized(), before = Vector::Zero(q.size());
  double largest = 0.0;
  while (static_cast<Index>(alpha.size()) < steps) {
    Vector w = model.A_times(q);
    if (!beta.empty()) w -= beta.back() * before;
    alpha.push_back(q.dot(w));
    w -= alpha.back() * q;
    beta.push_back(w.norm());
    largest = std::max(largest, std::abs(alpha.back()));
    if (!(beta.back() > 1e-13 * largest)) break;  // the motions so far are closed under A, to rounding
    before = std::exchange(q, w / beta.back());
  }
  beta.pop_back();  // it couples to what would follow
  return largest_eigenvalue(alpha, beta);
}

// ---- rigid motions ----

// Translations and infinitesimal rotations about the centre of mass, a column each, all of about the same size.
Matrix free_rigid_motions(const Model& model) {
  const Eigen::Index d = model.dim(), n = model.node_count();
  const Eigen::Map<const Matrix> X(model.reference().data(), d, n);
  const Eigen::Map<const Vector> mass(model.mass().data(), n);
  const Vector centre = X * mass / mass.sum();
  const double size = std::max((X.colwise() - centre).norm() / std::sqrt(static_cast<double>(n)), 1e-300);
  const Eigen::Index turns = d * (d - 1) / 2;
  Matrix R = Matrix::Zero(d * n, d + turns);
  for (Eigen::Index a = 0; a < n; ++a) {
    const Vector x = (X.col(a) - centre) / size;
    for (Eigen::Index i = 0, column = d; i < d; ++i) {
      R(a * d + i, i) = 1.0;
      for (Eigen::Index j = i + 1; j < d; ++j, ++column) {
        R(a * d + i, column) = -x(j);
        R(a * d + j, column) = x(i);
      }
    }
  }
  return R;
}

// Those combinations of the columns of R that vanish on everything held.
Matrix allowed_by_supports(const Matrix& R, const ScaledModel& model) {
  const Index held = R.rows() - model.free_count();
  if (held == 0) return R;
  Matrix on_held(held, R.cols());
  for (Eigen::Index i = 0, row = 0; i < R.rows(); ++i)
    if (model.root_mass()(i) == 0.0) on_held.row(row++) = R.row(i);
  Eigen::JacobiSVD<Matrix> svd(on_held, Eigen::ComputeFullV);
  svd.setThreshold(1e-9);
  return R * svd.matrixV().rightCols(R.cols() - svd.rank());
}

// Orthonormal columns spanning those of Q, dependent ones left out.
Matrix orthonormal(Matrix Q) {
  Eigen::Index kept = 0;
  for (Eigen::Index j = 0; j < Q.cols(); ++j) {
    Vector q = Q.col(j);
    const double before = q.norm();
    for (int twice = 0; twice < 2; ++twice) q -= Q.leftCols(kept) * (Q.leftCols(kept).transpose() * q);
    if (q.norm() > 1e-9 * before) Q.col(kept++) = q.normalized();
  }
  return Q.leftCols(kept);
}

// The rigid motions that neither the supports nor the stiffness resist, as orthonormal columns in the scaled variables.
// About a stressed configuration rotations may be resisted: then they belong to the motion.
Matrix rigid_motions(const Model& linear, const ScaledModel& model) {
  Matrix Q = orthonormal(model.root_mass().asDiagonal() * allowed_by_supports(free_rigid_motions(linear), model));
  if (Q.cols() == 0) return Q;
  const Vector random = RandomMotion(2)(model.root_mass());
  const double typical = model.A_times(random).norm() / random.norm();
  Matrix AQ(Q.rows(), Q.cols());
  for (Eigen::Index j = 0; j < Q.cols(); ++j) AQ.col(j) = model.A_times(Q.col(j));
  const Eigen::JacobiSVD<Matrix> svd(AQ, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Eigen::Index resisted = (svd.singularValues().array() > 1e-9 * typical).count();
  return Q * svd.matrixV().rightCols(Q.cols() - resisted);
}

// ---- growth ----

// Logarithms of the amplitude at regular times; the interval doubles whenever there are too many.
class AmplitudeLog {
 public:
  void add(Index step, double value) {
    time_.push_back(static_cast<double>(step));
    value_.push_back(value);
    if (time_.size() < largest_count) return;
    for (std::size_t i = 0; 2 * i < largest_count; ++i) {
      time_[i] = time_[2 * i];
      value_[i] = value_[2 * i];
    }
    time_.resize(largest_count / 2);
    value_.resize(largest_count / 2);
    interval_ *= 2;
  }

  Index next() const { return static_cast<Index>(time_.back()) + interval_; }

  // Growth that cannot be undone: by 1e8, and at a steady rate through the later half.
  bool settled() const {
    if (time_.size() < 32 || value_.back() - value_.front() < std::log(1e8)) return false;
    return exponential() && steady(0.5, 0.02);
  }

  // In the later half of the run the amplitude reached more than 8 times what it had ever been, as a cubic of time
  // would, and half as much again, in logarithm, as in the quarter before: powers of time do the same in both, growth
  // in proportion to time twice as much, beating nothing.
  bool exponential() const {
    if (time_.size() < 16) return false;
    const double later = largest_until(1.0) - largest_until(0.5), earlier = largest_until(0.5) - largest_until(0.25);
    return later > established_rise && later > 1.5 * earlier;
  }
  static constexpr double established_rise = 3.0 * std::numbers::ln2;

  // Per longest step: where it is established, from the largest later part through which it was steady.
  double growth() const {
    if (!exponential()) return slope(0.5, 1.0);
    for (const double begin : {0.5, 0.75})
      if (steady(begin, 0.1)) return slope(begin, 1.0);
    return slope(0.875, 1.0);
  }

 private:
  static constexpr std::size_t largest_count = 256;

  bool steady(double begin, double tolerance) const {
    const double middle = 0.5 * (begin + 1.0), first = slope(begin, middle), second = slope(middle, 1.0);
    return std::abs(second - first) <= tolerance * std::abs(second);
  }

  double largest_until(double part) const {
    double result = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < time_.size() && time_[i] <= part * time_.back(); ++i)
      result = std::max(result, value_[i]);
    return result;
  }

  // Least squares between two parts of the run; 0 where there are fewer than two values.
  double slope(double from, double to) const {
    double n = 0.0, t = 0.0, y = 0.0, tt = 0.0, ty = 0.0;
    const double end = time_.back(), origin = value_.back();
    for (std::size_t i = 0; i < time_.size(); ++i) {
      if (time_[i] < from * end || time_[i] > to * end) continue;
      const double s = time_[i] - end, v = value_[i] - origin;
      n += 1.0, t += s, y += v, tt += s * s, ty += s * v;
    }
    return n < 2.0 ? 0.0 : (n * ty - t * y) / (n * tt - t * t);
  }

  std::vector<double> time_, value_;  // [longest steps], logarithm of the amplitude
  Index interval_ = 1;
};

// Kinetic energy plus the absolute strain energies of all terms, and the sum of these as they are.
struct ElasticEnergy {
  double size, strain;
};

ElasticEnergy elastic_energy(const Model& linear, const State& state, double t) {
  ElasticEnergy e{0.0, 0.0};
  const auto d = static_cast<std::size_t>(linear.dim());
  std::vector<double> u = state.displacement;
  for (std::size_t i = 0; i < u.size(); ++i) {
    u[i] += state.velocity[i] * (t - state.clock[i / d]);
    e.size += 0.5 * linear.mass()[i / d] * state.velocity[i] * state.velocity[i];
  }
  for (Index p = 0; p < linear.potential_count(); ++p)
    for (Index k = 0; k < linear.potential(p).size(); ++k) {
      const double V = linear.potential(p).energy(k, u, 0.0);
      e.size += std::abs(V);
      e.strain += V;
    }
  return e;
}

// A mode of the state begins with about 1 / sqrt(2 n) of the amplitude, n free components. It is seen when it has
// overtaken all others and grown by established_rise in the later half.
double resolution(Index free_count, Index longest_steps) {
  const double rise = AmplitudeLog::established_rise;
  const double hidden = 0.5 * std::log(2.0 * static_cast<double>(free_count));
  return std::max(2.0 * rise, rise + hidden) / static_cast<double>(longest_steps);
}

double smallest_step(const Model& model, const Integrator& map) {
  double result = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < model.term_count(); ++i) result = std::min(result, map.step(make_id<TermId>(i)));
  return result;
}

// A random motion, without what is rigid in it, and the record of its amplitude.
class GrowthRun {
 public:
  GrowthRun(const Model& linear, std::uint64_t seed)
      : linear_(linear),
        model_(linear, std::vector<double>(linear.reference().size(), 0.0), 1),
        rigid_(rigid_motions(linear, model_)),
        state_(reference_state(linear)) {
    const Vector motion = RandomMotion(seed)(model_.root_mass());
    Eigen::Map<Vector>(state_.velocity.data(), motion.size()) = model_.inverse_root_mass().cwiseProduct(motion);
  }

  void run(Integrator& map, double longest_step, Index longest_steps) {
    if (model_.free_count() == rigid_.cols()) return;  // nothing can move, or only as a whole
    // Samples follow all strikes of their instant.
    const double behind = 0.5 * std::min(smallest_step(linear_, map), longest_step);
    while (note(static_cast<double>(steps_) * longest_step) && steps_ < longest_steps && !log_.settled()) {
      steps_ = std::min(log_.next(), longest_steps);
      map.advance_to(state_, static_cast<double>(steps_) * longest_step + behind);
    }
  }

  StabilityReport report() const {
    StabilityReport r;
    r.longest_steps = steps_;
    r.rigid_motions = static_cast<int>(rigid_.cols());
    r.resolution = resolution(model_.free_count(), std::max<Index>(steps_, 1));
    if (steps_ == 0) return r;
    const bool finite = std::isfinite(energy_.size);
    r.growth = finite ? log_.growth() : std::numeric_limits<double>::infinity();
    r.total_log_growth = r.growth * static_cast<double>(stability_horizon);
    r.exponential = !finite || log_.exponential();
    r.unstable = r.exponential && r.total_log_growth > std::log(tolerated_growth);
    r.releases_energy = r.unstable && energy_.strain < 0.0;
    return r;
  }

 private:
  // Whether there is an amplitude to go on with.
  bool note(double t) {
    remove_rigid_motions();
    energy_ = elastic_energy(linear_, state_, t);
    if (!(energy_.size > 0.0) || !std::isfinite(energy_.size)) return false;
    log_.add(steps_, log_scale_ + 0.5 * std::log(energy_.size));
    rescale(-std::ilogb(energy_.size) / 2);
    return true;
  }

  // They commute with the map; rounding brings them back.
  void remove_rigid_motions() {
    for (auto* values : {&state_.displacement, &state_.velocity}) {
      Eigen::Map<Vector> v(values->data(), rigid_.rows());
      const Vector parts = rigid_.transpose() * model_.root_mass().cwiseProduct(v);
      v -= model_.inverse_root_mass().cwiseProduct(rigid_ * parts);
    }
  }

  // By a power of two, which rounds nothing: the map is linear, so this changes the scale of what follows only.
  void rescale(int exponent) {
    for (auto* values : {&state_.displacement, &state_.velocity})
      for (double& value : *values) value = std::ldexp(value, exponent);
    log_scale_ -= exponent * std::numbers::ln2;
  }

  const Model& linear_;
  ScaledModel model_;
  Matrix rigid_;
  State state_;
  Index steps_ = 0;
  AmplitudeLog log_;
  ElasticEnergy energy_{0.0, 0.0};
  double log_scale_ = 0.0;  // of the amplitude over that of state_
};

}  // namespace

double assembled_stable_step(const Model& model, std::span<const double> u, int threads) {
  constexpr double error = 2e-3, failure = 1e-6;  // of omega^2, and how probable a larger one may be
  const ScaledModel scaled(model, u, threads);
  if (scaled.free_count() == 0) return std::numeric_limits<double>::infinity();
  // Kuczynski, Wozniakowski (1992), SIAM J. Matrix Anal. Appl. 13: failure <= 1.648 sqrt(n) exp(-(2k - 1) sqrt(error)).
  const double n = static_cast<double>(scaled.free_count());
  const double steps = 0.5 * (1.0 + std::log(1.648 * std::sqrt(n) / failure) / std::sqrt(error));
  const double bound = largest_ritz_value(scaled, static_cast<Index>(std::ceil(steps))) / (1.0 - error);
  return bound > 0.0 ? 2.0 / std::sqrt(bound) : std::numeric_limits<double>::infinity();
}

StabilityReport measure_growth(const Model& linear, Integrator& map, double longest_step,
                               const StabilityOptions& options) {
  TEMPI_ASSERT(longest_step > 0.0 && options.longest_steps > 0);
  GrowthRun growth(linear, options.seed);
  growth.run(map, longest_step, options.longest_steps);
  return growth.report();
}

}  // namespace tempi
