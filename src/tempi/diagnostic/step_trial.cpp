// SPDX-License-Identifier: Apache-2.0
#include "tempi/diagnostic/step_trial.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tempi/core/distinct.hpp"
#include "tempi/core/error.hpp"
#include "tempi/core/largest_eigenvalue.hpp"
#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/lattice/lattice_mollifier.hpp"
#include "tempi/simd/matrix_product.hpp"

namespace tempi {
namespace {

using Matrix = Eigen::MatrixXd;
using Place = std::size_t;

constexpr std::size_t most_components = 64;     // of a neighbourhood
constexpr std::size_t wide_components = 400;    // of a wide one
constexpr std::int64_t longest_period = 16384;  // ticks, of steps that do not nest; where it is longer nothing is tried

Place at(NodeId a) { return static_cast<Place>(index(a)); }
Place at(TermId i) { return static_cast<Place>(index(i)); }

// All stiffness of one step, in the scaled variables.
struct Level {
  std::int64_t ticks;
  Matrix A;
};

// Of a term's Hessian, between its nodes.
struct Piece {
  std::vector<NodeId> nodes;
  std::vector<double> H;
};

// A neighbourhood, ready to be tried without the model. No levels: nothing can move, or its period is too long.
struct Neighbourhood {
  NodeId centre;
  double tick = 0.0;                    // [s], after division by what all steps have in common
  std::vector<Level> levels;            // ascending ticks
  std::vector<Eigen::Index> first_row;  // of each node with free components, and the end
};

// factor A B.
Matrix product(double factor, const Matrix& A, const Matrix& B) {
  static const MatrixProduct multiply = matrix_product();
  Matrix C(A.rows(), A.rows());
  multiply(factor, A.data(), B.data(), A.rows(), C.data());
  return C;
}
Matrix product(const Matrix& A, const Matrix& B) { return product(1.0, A, B); }

// The stiffnesses that mollified kicks amount to.
void mollify(Neighbourhood& n) {
  std::vector<Matrix> forces;  // A_l Y_l
  std::vector<double> squares;
  std::vector<Matrix> felt;
  const Eigen::Index size = n.levels.front().A.rows();
  for (Level& level : n.levels) {
    const double h = n.tick * static_cast<double>(level.ticks);
    Matrix shift = Matrix::Zero(size, size), stiffness = Matrix::Zero(size, size);
    for (std::size_t l = 0; l < forces.size(); ++l) {
      shift += (h * h - squares[l]) / 24.0 * forces[l];
      stiffness += (h * h - squares[l]) / 24.0 * felt[l];
    }
    for (std::size_t a = 0; !forces.empty() && a + 1 < n.first_row.size(); ++a) {
      const Eigen::Index row = n.first_row[a], rows = n.first_row[a + 1] - row;
      const Matrix block = stiffness.block(row, row, rows, rows);
      shift.middleRows(row, rows) *= mollified_share(largest_eigenvalue(block));
    }
    const Matrix Y = Matrix::Identity(size, size) + shift;
    squares.push_back(h * h);
    felt.push_back(level.A);
    forces.push_back(product(level.A, Y));
    level.A = product(Y.transpose(), forces.back());
  }
}

struct Verdict {
  bool proved = false;
  double growth = 0.0;  // a longest step
  double longest_step = 0.0;
};

bool nests(const Neighbourhood& n) {
  for (std::size_t l = 1; l < n.levels.size(); ++l)
    if (n.levels[l].ticks % n.levels[l - 1].ticks != 0) return false;
  return true;
}

std::int64_t period_of(const Neighbourhood& n) {
  std::int64_t period = 1;
  for (const Level& level : n.levels) period = std::lcm(period, level.ticks);
  return period;
}

bool in_central_zone(const Neighbourhood& n, double period) {
  Matrix rest = Matrix::Identity(n.levels.front().A.rows(), n.levels.front().A.cols()) * (4.0 / (period * period));
  for (const Level& level : n.levels) rest -= level.A;
  return Eigen::LLT<Matrix>(rest).info() == Eigen::Success;
}

// Whether the stiffness has a direction in which it pushes away: then the model itself grows, slowly, whatever the
// steps.
bool releases_energy(const Neighbourhood& n) {
  Matrix sum = n.levels.front().A;
  for (std::size_t l = 1; l < n.levels.size(); ++l) sum += n.levels[l].A;
  sum.diagonal().array() += 1e-9 * sum.diagonal().maxCoeff();
  return Eigen::LLT<Matrix>(sum).info() != Eigen::Success;
}

// Of a map that is its own reverse, x -> C x + S v are the positions. Then after r of its periods C_r = T_r(C) and
// S_r = U_{r-1}(C) S (Chebyshev's polynomials): half of them by doubling, C_2r = 2 C_r^2 - 1, S_2r = 2 C_r S_r.
struct Positions {
  Matrix C, S;

  void repeat(std::int64_t times) {
    for (; times % 2 == 0; times /= 2) {
      S = product(2.0, C, S);
      C = product(2.0, C, C);
      C.diagonal().array() -= 1.0;
    }
    Positions before{Matrix::Identity(C.rows(), C.rows()), Matrix::Zero(C.rows(), C.rows())}, now = *this;
    for (std::int64_t r = 1; r < times; ++r) {
      Positions next{product(2.0, C, now.C) - before.C, product(2.0, C, now.S) - before.S};
      before = std::exchange(now, std::move(next));
    }
    *this = std::move(now);
  }
  // Half a kick at both ends: v -= k x.
  void kick(const Matrix& k) { C -= product(S, k); }
};

// C of one period, by doubling from the fastest step to the slowest.
Matrix nested_positions(const Neighbourhood& n) {
  const Eigen::Index size = n.levels.front().A.rows();
  const double h = n.tick * static_cast<double>(n.levels.front().ticks);
  Positions map{Matrix::Identity(size, size), h * Matrix::Identity(size, size)};
  for (std::size_t l = 0; l < n.levels.size(); ++l) {
    if (l > 0) map.repeat(n.levels[l].ticks / n.levels[l - 1].ticks);
    map.kick(0.5 * n.tick * static_cast<double>(n.levels[l].ticks) * n.levels[l].A);
  }
  return map.C;
}

// The same tick by tick, for steps that do not nest.
Matrix positions_after_a_period(const Neighbourhood& n, std::int64_t period) {
  const Eigen::Index size = n.levels.front().A.rows();
  Matrix X = Matrix::Identity(size, size), V = Matrix::Zero(size, size);
  for (const Level& level : n.levels) V -= 0.5 * static_cast<double>(level.ticks) * n.tick * level.A;
  std::int64_t last = 0;
  for (std::int64_t s = 1; s <= period; ++s) {
    const bool acts = std::ranges::any_of(n.levels, [&](const Level& level) { return s % level.ticks == 0; });
    if (!acts) continue;
    X += static_cast<double>(s - last) * n.tick * V;
    last = s;
    for (const Level& level : n.levels)
      if (s < period && s % level.ticks == 0) V -= product(static_cast<double>(level.ticks) * n.tick, level.A, X);
  }
  return X;
}

Verdict try_neighbourhood(const Neighbourhood& n) {
  Verdict verdict;
  verdict.longest_step = n.tick * static_cast<double>(n.levels.back().ticks);
  const std::int64_t period = period_of(n);
  if (in_central_zone(n, n.tick * static_cast<double>(period))) {
    verdict.proved = true;
    return verdict;
  }
  const bool releases = releases_energy(n);
  const Matrix C = nests(n) ? nested_positions(n) : positions_after_a_period(n, period);
  const Eigen::EigenSolver<Matrix> solver(C, false);
  if (!C.allFinite() || solver.info() != Eigen::Success) {
    verdict.growth = std::log(std::numeric_limits<double>::max());  // beyond all numbers within a period
    return verdict;
  }
  for (Eigen::Index i = 0; i < solver.eigenvalues().size(); ++i) {
    const std::complex<double> mu = solver.eigenvalues()(i);
    if (releases && mu.imag() == 0.0 && mu.real() > 0.0) continue;
    verdict.growth = std::max(verdict.growth, std::abs(std::log(std::abs(mu + std::sqrt(mu * mu - 1.0)))));
  }
  verdict.growth *= static_cast<double>(n.levels.back().ticks) / static_cast<double>(period);
  return verdict;
}

// Of a wide neighbourhood, without a spectrum: how fast T_N(C) grows, N = 2^k at least four times as many periods as
// the run has, so that it can be told from the size that bounded motions have anyway. Where the stiffness pushes away
// nobody knows what is growing.
constexpr int most_doublings = 24;
int doublings_for(double periods) {
  return std::clamp(static_cast<int>(std::ceil(std::log2(4.0 * std::max(periods, 1.0)))), 10, most_doublings);
}

Verdict try_wide(const Neighbourhood& n, double duration) {
  Verdict verdict;
  verdict.longest_step = n.tick * static_cast<double>(n.levels.back().ticks);
  const std::int64_t period = period_of(n);
  const double periods = duration / (n.tick * static_cast<double>(period));
  verdict.proved = in_central_zone(n, n.tick * static_cast<double>(period));
  if (verdict.proved || releases_energy(n)) return verdict;
  Matrix T = nests(n) ? nested_positions(n) : positions_after_a_period(n, period);
  double log_norm = 0.0;
  int k = 0;
  for (; k < doublings_for(periods); ++k) {
    T = product(2.0, T, T);
    T.diagonal().array() -= 1.0;
    log_norm = 0.5 * std::log(T.squaredNorm() / static_cast<double>(T.rows()));
    if (!(log_norm < 100.0)) break;
  }
  if (!std::isfinite(log_norm)) log_norm = 100.0;
  verdict.growth = std::max(0.0, log_norm) / std::ldexp(1.0, std::min(k + 1, doublings_for(periods))) *
                   static_cast<double>(n.levels.back().ticks) / static_cast<double>(period);
  return verdict;
}

// Products of matrices it takes to have C.
double products_of(const Neighbourhood& n) {
  double products = 0.0;
  for (const Level& level : n.levels)
    products += nests(n) ? 3.0 : static_cast<double>(period_of(n)) / static_cast<double>(level.ticks);
  return products;
}

double cube_of(const Neighbourhood& n) { return std::pow(static_cast<double>(n.levels.front().A.rows()), 3); }

// [s], of one core, by instructions every machine has: what the tables of docs/stability.md took; of a neighbourhood
// without a spectrum, with one, and of a wide one.
constexpr double price_when_settled = 5e-5;
double price_of(const Neighbourhood& n) { return 2e-5 + 1.2e-9 * cube_of(n) * (4.0 + 0.3 * products_of(n)); }
double wide_price_of(const Neighbourhood& n, double duration) {
  const double periods = duration / (n.tick * static_cast<double>(period_of(n)));
  return 2.3e-10 * cube_of(n) * (products_of(n) + doublings_for(periods));
}

class Trial {
 public:
  Trial(const Model& model, std::span<const double> u, const TickLattice& lattice, std::span<const double> nodal,
        Coupling coupling)
      : model_(model),
        coupling_(coupling),
        u_(u),
        lattice_(lattice),
        nodal_(nodal),
        around_(node_terms(model)),
        local_(model.mass().size(), -1),
        inside_(model.mass().size(), 0) {
    for (const double m : model.mass()) inverse_root_mass_.push_back(1.0 / std::sqrt(m));
  }

  // Nodes whose neighbours' terms have not all the same step, the most dangerous first.
  std::vector<NodeId> places(std::span<const double> priority) const {
    const Place nodes = model_.mass().size();
    std::vector<std::int32_t> fastest(nodes, std::numeric_limits<std::int32_t>::max()), slowest(nodes, 0);
    std::vector<double> vibration(nodal_.begin(), nodal_.end());
    for (Index i = 0; i < model_.term_count(); ++i) {
      const auto stencil = model_.term(make_id<TermId>(i)).stencil();
      double least = std::numeric_limits<double>::infinity();
      for (const NodeId a : stencil) {
        fastest[at(a)] = std::min(fastest[at(a)], ticks(make_id<TermId>(i)));
        slowest[at(a)] = std::max(slowest[at(a)], ticks(make_id<TermId>(i)));
        least = std::min(least, nodal_[at(a)]);
      }
      for (const NodeId a : stencil) vibration[at(a)] = std::min(vibration[at(a)], least);
    }
    std::vector<std::pair<double, NodeId>> order;
    for (Place a = 0; a < nodes; ++a) {
      const auto node = make_id<NodeId>(static_cast<Index>(a));
      const bool alike = std::ranges::all_of(around_[node], [&](TermId i) {
        return std::ranges::all_of(model_.term(i).stencil(), [&](NodeId b) {
          return fastest[at(b)] == slowest[a] && slowest[at(b)] == slowest[a];
        });
      });
      if (alike || around_[node].empty()) continue;
      order.emplace_back(priority.empty() ? slowest[a] / vibration[a] : priority[a], node);
    }
    std::ranges::stable_sort(order, std::ranges::greater{}, &std::pair<double, NodeId>::first);
    std::vector<NodeId> result;
    for (const auto& [danger, node] : order) result.push_back(node);
    return result;
  }

  Neighbourhood neighbourhood(NodeId centre, std::size_t most) {
    Neighbourhood n;
    n.centre = centre;
    const std::vector<NodeId> nodes = grow(centre, most);
    std::vector<TermId> terms;
    for (const NodeId a : nodes) terms.insert(terms.end(), around_[a].begin(), around_[a].end());
    make_distinct(terms);
    std::int64_t common = 0;
    for (const TermId i : terms) common = std::gcd(common, std::int64_t{ticks(i)});
    n.tick = lattice_.tick * static_cast<double>(common);
    const auto d = static_cast<Place>(model_.dim());
    Eigen::Index size = 0;  // of the free components, numbered node by node
    place_.clear();
    for (Place k = 0; k < nodes.size(); ++k) {
      if (n.first_row.empty() || n.first_row.back() != size) n.first_row.push_back(size);
      local_[at(nodes[k])] = static_cast<std::int32_t>(k);
      for (Place c = 0; c < d; ++c) {
        const bool held = model_.supports().support_of(nodes[k], static_cast<int>(c)) != Supports::none;
        place_.push_back(held ? -1 : size++);
      }
    }
    if (n.first_row.back() != size) n.first_row.push_back(size);
    if (size > 0)
      for (const TermId i : terms) add(level(n, ticks(i) / common, size), i);
    for (const NodeId a : nodes) local_[at(a)] = -1;
    if (most > most_components)
      for (const NodeId a : nodes) inside_[at(a)] = 1;
    std::ranges::sort(n.levels, {}, &Level::ticks);
    if (!nests(n) && period_of(n) > longest_period) n.levels.clear();
    if (coupling_ == Coupling::mollified && !n.levels.empty()) mollify(n);
    return n;
  }

  // A wide neighbourhood.
  bool was_inside(NodeId a) const { return inside_[at(a)] != 0; }

 private:
  std::int32_t ticks(TermId i) const { return lattice_.ticks[at(i)]; }

  // Ring by ring around the centre while that is not too many; of a ring that is, in wide neighbourhoods or if it is
  // the first, the nodes that vibrate fastest.
  std::vector<NodeId> grow(NodeId centre, std::size_t most) {
    const auto d = static_cast<Place>(model_.dim());
    std::vector<NodeId> met = {centre}, nodes;
    local_[at(centre)] = 0;
    for (Place looked = 0; looked < met.size();) {
      nodes = met;
      for (; looked < nodes.size(); ++looked)
        for (const TermId i : around_[nodes[looked]])
          for (const NodeId b : model_.term(i).stencil())
            if (std::exchange(local_[at(b)], 0) < 0) met.push_back(b);
      if (met.size() * d > most) {
        if (nodes.size() == 1 || most > most_components) {
          const auto ring = met.begin() + static_cast<std::ptrdiff_t>(nodes.size());
          std::ranges::stable_sort(ring, met.end(), {}, [&](NodeId a) { return nodal_[at(a)]; });
          nodes.assign(met.begin(), met.begin() + static_cast<std::ptrdiff_t>(most / d));
        }
        break;
      }
    }
    for (const NodeId a : met) local_[at(a)] = -1;
    return nodes;
  }

  static Matrix& level(Neighbourhood& n, std::int64_t ticks, Eigen::Index size) {
    const auto found = std::ranges::find(n.levels, ticks, &Level::ticks);
    return found != n.levels.end() ? found->A : n.levels.emplace_back(Level{ticks, Matrix::Zero(size, size)}).A;
  }

  // The term's stiffness between the neighbourhood's free components.
  void add(Matrix& A, TermId i) {
    const auto d = static_cast<Place>(model_.dim());
    for (const auto& [nodes, H] : stiffness(i)) {
      const Place n = nodes.size() * d;
      for (Place a = 0; a < nodes.size(); ++a)
        for (Place b = 0; b < nodes.size(); ++b) {
          const std::int32_t row = local_[at(nodes[a])], column = local_[at(nodes[b])];
          if (row < 0 || column < 0) continue;
          const double scale = 0.5 * inverse_root_mass_[at(nodes[a])] * inverse_root_mass_[at(nodes[b])];
          for (Place r = 0; r < d; ++r)
            for (Place c = 0; c < d; ++c) {
              const Eigen::Index to = place_[static_cast<Place>(row) * d + r],
                                 from = place_[static_cast<Place>(column) * d + c];
              if (to < 0 || from < 0) continue;
              A(to, from) += scale * (H[(a * d + r) * n + b * d + c] + H[(b * d + c) * n + a * d + r]);
            }
        }
    }
  }

  // Pieces of the term's Hessian at u. Neighbourhoods overlap, a tetrahedron lies in twenty and more: the pieces last
  // met are kept.
  const std::vector<Piece>& stiffness(TermId i) {
    constexpr std::size_t most_kept = std::size_t{1} << 23;  // numbers, 64 MiB
    if (kept_numbers_ > most_kept) {
      kept_.clear();
      kept_numbers_ = 0;
    }
    const auto [found, is_new] = kept_.try_emplace(index(i));
    std::vector<Piece>& pieces = found->second;
    if (is_new) {
      const auto [potential, k] = model_.term(i);
      potential->each_hessian_piece(k, u_, 0.0, [&](std::span<const NodeId> nodes, std::span<const double> H) {
        pieces.push_back({{nodes.begin(), nodes.end()}, {H.begin(), H.end()}});
        kept_numbers_ += H.size();
      });
    }
    return pieces;
  }

  const Model& model_;
  Coupling coupling_;
  std::span<const double> u_;
  const TickLattice& lattice_;
  std::span<const double> nodal_;  // stable steps of single nodes
  NodeTerms around_;
  std::vector<std::int32_t> local_;        // of each node of the model its number in the neighbourhood in hand, or -1
  std::vector<Eigen::Index> place_;        // of each component of that its row, or -1
  std::vector<double> inverse_root_mass_;  // 1 / sqrt(m) of each node
  std::unordered_map<Index, std::vector<Piece>> kept_;
  std::size_t kept_numbers_ = 0;
  std::vector<char> inside_;  // of each node of the model whether it has been in a wide neighbourhood
};

// Keeps the worst.
void note(const Verdict& v, NodeId centre, double duration, StepTrial& result) {
  const double total = v.growth / v.longest_step * duration;
  const double worst = result.where ? result.growth / result.longest_step * duration : 0.0;
  if (v.growth < StepTrial::smallest_growth || total <= worst) return;
  result.growth = v.growth;
  result.longest_step = v.longest_step;
  result.where = centre;
  result.grows = total > std::log(StepTrial::tolerated_amplitude);
}

// Neighbourhoods of the places in order, as long as that costs no more than `price`, or nothing is left.
void try_places(Trial& trial, std::span<const NodeId> places, const TrialOptions& options, ThreadTeam& team,
                StepTrial& result) {
  for (auto next = places.begin(); next != places.end();) {
    const auto done = static_cast<double>(next - places.begin());
    const double whole = result.price / std::max(done, 1.0) * static_cast<double>(places.size());
    if (done > 0.0 && result.price > options.price && whole > options.complete) break;
    std::vector<Neighbourhood> some;
    for (double price = 0.0; next != places.end() && some.size() < 64 && price < 0.02; ++next) {
      Neighbourhood n = trial.neighbourhood(*next, most_components);
      if (n.levels.empty()) {  // looked at for nothing, and that has its price too
        result.price += price_when_settled;
        price += price_when_settled;
        continue;
      }
      price += price_of(n);
      some.push_back(std::move(n));
    }
    std::vector<Verdict> verdicts(some.size());
    team.for_each(std::ssize(some), [&](Index i) {
      verdicts[static_cast<std::size_t>(i)] = try_neighbourhood(some[static_cast<std::size_t>(i)]);
    });
    for (std::size_t i = 0; i < some.size(); ++i) {
      ++result.tried;
      result.proved += verdicts[i].proved ? 1 : 0;
      result.price += verdicts[i].proved ? price_when_settled : price_of(some[i]);
      note(verdicts[i], some[i].centre, options.duration, result);
    }
    if (result.grows) return;
  }
}

// Wide ones, around the most dangerous places that lie in none before.
void try_wide_places(Trial& trial, std::span<const NodeId> places, const TrialOptions& options, ThreadTeam& team,
                     StepTrial& result) {
  constexpr std::size_t at_once = 2;  // for any number of threads
  double price = 0.0;
  for (auto next = places.begin(); next != places.end() && price < options.wide && !result.grows;) {
    std::vector<Neighbourhood> some;
    for (; next != places.end() && some.size() < at_once; ++next) {
      if (trial.was_inside(*next)) continue;
      Neighbourhood n = trial.neighbourhood(*next, wide_components);
      if (n.levels.empty()) continue;
      price += wide_price_of(n, options.duration);
      if (price > options.wide) break;
      some.push_back(std::move(n));
    }
    std::vector<Verdict> verdicts(some.size());
    team.for_each(std::ssize(some), [&](Index i) {
      verdicts[static_cast<std::size_t>(i)] = try_wide(some[static_cast<std::size_t>(i)], options.duration);
    });
    for (std::size_t i = 0; i < some.size(); ++i) {
      ++result.wide;
      note(verdicts[i], some[i].centre, options.duration, result);
    }
  }
}

}  // namespace

StepTrial try_steps(const Model& model, std::span<const double> u, const TickLattice& lattice,
                    std::span<const double> nodal, const TrialOptions& options, std::span<const double> priority) {
  TEMPI_ASSERT(nodal.size() == model.mass().size());
  StepTrial result;
  Trial trial(model, u, lattice, nodal, options.coupling);
  const std::vector<NodeId> places = trial.places(priority);
  result.places = std::ssize(places);
  ThreadTeam team(options.threads);
  try_places(trial, places, options, team, result);
  if (!result.grows) try_wide_places(trial, places, options, team, result);
  return result;
}

}  // namespace tempi
