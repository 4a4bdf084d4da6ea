// SPDX-License-Identifier: Apache-2.0
#include "tempi/pair/embedded_atoms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tempi/core/error.hpp"
#include "tempi/pair/pair_geometry.hpp"
#include "tempi/space/near_pairs.hpp"

namespace tempi {
namespace {

class EmbeddedAtoms final : public ManyBodySum {
 public:
  EmbeddedAtoms(std::span<const double> reference, int dim, std::vector<NodeId> nodes, const Embedding& embedding,
                const Box& box, std::optional<double> skin)
      : law_(embedding),
        dim_(static_cast<std::size_t>(dim)),
        reference_(reference.begin(), reference.end()),
        box_(box),
        near_(reference, dim, std::move(nodes), reach_of(checked_range(embedding, box), skin, box), box) {
    const std::vector<double> rest(reference_.size(), 0.0);
    for (const auto& p : *near_.at(rest))
      if (!(neighbour(near_.pair(p), rest).r > 0.0))
        throw InputError(fmt::format("the atoms {} and {} are at the same place. Move one of them.",
                                     index(near_.pair(p)[0]), index(near_.pair(p)[1])));
  }

  int dim() const override { return static_cast<int>(dim_); }
  std::span<const NodeId> stencil(Index) const override { return near_.nodes(); }
  double mass(Index, std::size_t) const override { return 0.0; }

  double energy(Index, std::span<const double> u, double) const override {
    if (!near_.is_finite(u)) return std::numeric_limits<double>::quiet_NaN();
    double V = 0.0;
    each_atom(u, [&](const Atom& atom) { V -= law_.depth * std::sqrt(atom.rho); });
    return V;
  }

  double add_gradient(Index, std::span<const double> u, double, std::span<double> g) const override {
    if (!near_.is_finite(u)) return std::numeric_limits<double>::quiet_NaN();
    double least = 1.0;
    each_gradient(u, [&](const Atom& atom, double admissibility, std::span<const double> of_atom) {
      if (admissibility < least || std::isnan(admissibility)) least = admissibility;
      for (std::size_t k = 0; k < atom.places.size(); ++k)
        for (std::size_t c = 0; c < dim_; ++c)
          g[static_cast<std::size_t>(atom.places[k]) * dim_ + c] += of_atom[k * dim_ + c];
    });
    return least;
  }

  void each_present(std::span<const double> u, double, const VisitPresent& visit) const override {
    if (!near_.is_finite(u)) {
      const std::array bad = {std::numeric_limits<double>::quiet_NaN(), 0.0, 0.0};
      return visit({term_key(near_.nodes()[0]), near_.nodes().first(1), bad[0], std::span(bad).first(dim_)});
    }
    each_gradient(u, [&](const Atom& atom, double admissibility, std::span<const double> g) {
      const std::span<const NodeId> nodes = nodes_of(atom);
      visit({term_key(nodes[0]), nodes, admissibility, g});
    });
  }

  // F'' (grad rho)(grad rho)^T + F' sum_b [phi'' n n^T + phi'/r (I - n n^T)] between a and b.
  void each_hessian_piece(Index, std::span<const double> u, double, const VisitPiece& visit) const override {
    thread_local std::vector<double> H, grad;
    if (!near_.is_finite(u)) {
      H.assign(dim_ * dim_, std::numeric_limits<double>::quiet_NaN());
      return visit(near_.nodes().first(1), H);
    }
    each_atom(u, [&](const Atom& atom) {
      const std::size_t n = atom.places.size() * dim_;
      const double root = std::sqrt(atom.rho), slope = -0.5 * law_.depth / root;
      const double curvature = 0.25 * law_.depth / (atom.rho * root);
      H.assign(n * n, 0.0);
      grad.assign(n, 0.0);
      for (std::size_t k = 1; k < atom.places.size(); ++k) {
        const Neighbour& b = atom.neighbours[k - 1];
        for (std::size_t c = 0; c < dim_; ++c) {
          grad[k * dim_ + c] += b.slope * b.n[c];
          grad[c] -= b.slope * b.n[c];
        }
        for (std::size_t i = 0; i < dim_; ++i)
          for (std::size_t j = 0; j < dim_; ++j) {
            const double nn = b.n[i] * b.n[j];
            const double h = slope * (b.curvature * nn + b.slope / b.r * ((i == j ? 1.0 : 0.0) - nn));
            const std::size_t bi = k * dim_ + i, bj = k * dim_ + j;
            H[bi * n + bj] += h;
            H[i * n + j] += h;
            H[bi * n + j] -= h;
            H[i * n + bj] -= h;
          }
      }
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) H[i * n + j] += curvature * grad[i] * grad[j];
      visit(nodes_of(atom), H);
    });
  }

  std::string describe(Index) const override { return fmt::format("{} embedded atoms", near_.nodes().size()); }
  std::string fault(Index k, std::span<const double>, double t, double) const override {
    return fmt::format(
        "two of the {} have met, or one has a position that is not finite, at t = {:.9g} s. Try smaller steps, and a "
        "pair potential that keeps them apart.",
        describe(k), t);
  }

 private:
  struct Neighbour {
    double r;
    std::array<double, 3> n;       // from the atom to it, of unit length
    double phi, slope, curvature;  // of the density it makes
  };
  struct Atom {
    std::vector<std::int32_t> places;  // among the nodes: its own, then those of its neighbours, ascending
    std::vector<Neighbour> neighbours;
    double rho = 0.0;
  };

  static std::optional<double> checked_range(const Embedding& law, const Box& box) {
    for (const auto& [name, value, unit] : {std::tuple{"depth", law.depth, "J"}, std::tuple{"cutoff", law.cutoff, "m"}})
      if (!(value > 0.0) || !std::isfinite(value))
        throw InputError(fmt::format("{} = {} {} (must be > 0).", name, value, unit));
    if (!(law.exponent >= 2.0) || !std::isfinite(law.exponent))
      throw InputError(fmt::format("exponent = {} (must be >= 2).", law.exponent));
    box.require_room_for("cutoff", law.cutoff);
    return law.cutoff;
  }

  Neighbour neighbour(const NodePair& pair, std::span<const double> u) const {
    const auto [r, n] = separation_of(pair, reference_, u, dim(), box_);
    Neighbour b{r, n, 0.0, 0.0, 0.0};
    const double x = 1.0 - b.r / law_.cutoff, e = law_.exponent;
    if (!(x > 0.0)) return b;
    const double power = std::pow(x, e - 2.0);
    b.phi = power * x * x;
    b.slope = -e / law_.cutoff * power * x;
    b.curvature = e * (e - 1.0) / (law_.cutoff * law_.cutoff) * power;
    return b;
  }

  // visit(atom, least distance, gradient) for all of them; dV_a = F' sum_b phi'(r_ab) n_ab at b, and the negative of
  // their sum at a.
  template <class Visit>
  void each_gradient(std::span<const double> u, Visit&& visit) const {
    thread_local std::vector<double> g;
    each_atom(u, [&](const Atom& atom) {
      const double slope = -0.5 * law_.depth / std::sqrt(atom.rho);
      g.assign(atom.places.size() * dim_, 0.0);
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t k = 1; k < atom.places.size(); ++k) {
        const Neighbour& b = atom.neighbours[k - 1];
        least = std::isnan(b.r) || b.r < least ? b.r : least;
        for (std::size_t c = 0; c < dim_; ++c) {
          const double force = slope * b.slope * b.n[c];
          g[k * dim_ + c] += force;
          g[c] -= force;
        }
      }
      visit(atom, least, std::span<const double>(g));
    });
  }

  // visit(atom) for all that have a neighbour within reach, ascending; the positions are finite.
  template <class Visit>
  void each_atom(std::span<const double> u, Visit&& visit) const {
    struct Pair {
      NearPairs::LocalPair atoms;
      Neighbour second;  // of the first one
    };
    thread_local std::vector<Pair> pairs;
    thread_local std::vector<std::size_t> end, mine;  // of each atom, behind its pairs in `mine`
    thread_local Atom atom;
    pairs.clear();
    end.assign(near_.nodes().size() + 1, 0);
    for (const auto& p : *near_.at(u)) {
      const Neighbour b = neighbour(near_.pair(p), u);
      if (b.r >= law_.cutoff) continue;
      pairs.push_back({p, b});
      for (const std::int32_t a : p) ++end[static_cast<std::size_t>(a) + 1];
    }
    std::partial_sum(end.begin(), end.end(), end.begin());
    mine.resize(2 * pairs.size());
    for (std::size_t k = 0; k < pairs.size(); ++k)  // pairs ascend, and so do neighbours
      for (const std::int32_t a : pairs[k].atoms) mine[end[static_cast<std::size_t>(a)]++] = k;
    std::size_t next = 0;
    for (std::int32_t a = 0; a < std::ssize(near_.nodes()); ++a) {
      if (next == end[static_cast<std::size_t>(a)]) continue;
      atom.places.assign(1, a);
      atom.neighbours.clear();
      atom.rho = 0.0;
      for (; next < end[static_cast<std::size_t>(a)]; ++next) {
        const auto& [atoms, second] = pairs[mine[next]];
        const bool is_first = atoms[0] == a;
        atom.places.push_back(atoms[is_first ? 1 : 0]);
        Neighbour& b = atom.neighbours.emplace_back(second);
        if (!is_first)
          for (double& n : b.n) n = -n;
        atom.rho += b.phi;
      }
      visit(std::as_const(atom));
    }
  }

  // Of an atom and its neighbours.
  std::span<const NodeId> nodes_of(const Atom& atom) const {
    thread_local std::vector<NodeId> nodes;
    nodes.clear();
    for (const std::int32_t k : atom.places) nodes.push_back(near_.nodes()[static_cast<std::size_t>(k)]);
    return nodes;
  }

  Embedding law_;
  std::size_t dim_;
  std::vector<double> reference_;
  Box box_;
  NearPairs near_;
};

}  // namespace

std::unique_ptr<Potential> make_embedded_atoms(std::span<const double> reference, int dim, std::vector<NodeId> nodes,
                                               const Embedding& embedding, const Box& box, std::optional<double> skin) {
  return std::make_unique<EmbeddedAtoms>(reference, dim, std::move(nodes), embedding, box, skin);
}

}  // namespace tempi
