// SPDX-License-Identifier: Apache-2.0
// A lattice engine's strikes, watched: what each term's impulses have done with the velocities before and after all
// strikes of their instant (Strike in integrator.hpp). The batches keep the impulses of an instant; once it is over
// they are multiplied with the mean velocities. Blocks on all threads; single strikes for observers who want those.
#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/integrator/lattice/lattice_dampers.hpp"
#include "tempi/integrator/lattice/lattice_load_works.hpp"
#include "tempi/integrator/lattice/lattice_mollifier.hpp"
#include "tempi/integrator/lattice/lattice_nodes.hpp"
#include "tempi/integrator/lattice/lattice_strikes.hpp"

namespace tempi {

class LatticeWatch {
 public:
  // All must outlive it.
  LatticeWatch(const Model& model, const LatticeGroups& plan, const LatticeStrikes& strikes, const LatticeLoads& loads);

  void begin() { kept_so_far_ = 0; }  // a new instant
  Index places() const { return places_; }

  // Once the nodes of the instant's terms are where it strikes them, each of them, as often as one likes; and once
  // the instant is over and supports are settled.
  void note_before(std::size_t line, const NodeLine& node) {
    Two first, last;
    std::memcpy(&first, node.velocity, sizeof first);
    std::memcpy(&last, node.velocity + 2, sizeof last);
    const Two squares = first * first;
    const double square = squares[0] + squares[1] + last[0] * last[0];
    first *= 0.5;
    last = Two{0.5 * last[0], -half_mass_[line] * square};
    NodeMean& mean = means_[line];
    std::memcpy(mean.velocity, &first, sizeof first);
    std::memcpy(mean.velocity + 2, &last, sizeof last);
  }
  void note_after(std::size_t line, const NodeLine& node) {
    NodeMean& mean = means_[line];
    if (!std::signbit(mean.kinetic)) return;  // has been noted
    for (std::size_t c = 0; c < 3; ++c) mean.velocity[c] += 0.5 * node.velocity[c];
    mean.kinetic = -mean.kinetic;
  }

  // Instead of LatticeStrikes::strike: the same bits, with V_K and impulses kept until the instant is over.
  bool strike(const LatticeStrikes::Together& together, double t, std::span<NodeLine> nodes);

  // Once the nodes are noted: what a group's terms have done by the chain rule, in an instant of so many groups.
  void add_works(std::size_t group, const LatticeMollifier& mollifier, std::size_t acting);
  std::span<const NodeMean> means() const { return means_; }  // by line
  // Then: shows the group's strikes. `state`: where the observer may look. `dampers` have acted in this instant, and
  // looked at its works.
  void show(std::size_t group, Index update, double step, double t, const LatticeNodes& nodes, State& state,
            const LatticeDampers& dampers, Observer& observer);

  // Where loaded terms last struck.
  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive);

 private:
  struct Kept {
    explicit Kept(LatticeLoadWorks of_loads) : loads(std::move(of_loads)) {}
    Index place = 0;                         // of the part's first term in the engine's order
    std::size_t room = 0;                    // its terms, in whole packs
    std::size_t energies = 0, impulses = 0;  // where those of the instant in hand begin in `told_`
    std::vector<double> damping_work;
    std::vector<double> more_work;     // by the chain rule, to be shown; empty where nothing is mollified
    std::vector<std::int32_t> damped;  // places of its terms with dampers; ascending
    std::size_t first_damped = 0;      // the first's number among the plan's
    LatticeLoadWorks loads;
  };
  typedef double Two __attribute__((vector_size(16)));
  static constexpr Index most_at_once = 1024;  // terms looked at together, at the most
  struct Figures {                             // of those
    alignas(64) std::array<double, most_at_once> kinetic, work;
  };
  void review(const LatticePart& part, Kept& kept, Index first, Index last, double step,
              std::span<const NodeLine> nodes, const LatticeDampers& dampers, Figures& found);
  void show_one_by_one(const LatticePart& part, Kept& kept, Index first, Index last, const Figures& found, Index update,
                       double step, double t, State& state, Observer& observer) const;

  Kept& kept_of(const LatticeStrikes::Together& together, std::size_t p) {
    const std::size_t g = together.groups[p];
    return kept_[g][static_cast<std::size_t>(together.parts[p] - plan_.groups[g].parts.data())];
  }
  static std::size_t numbers_kept(const Batch& batch) {  // of a term
    return static_cast<std::size_t>(batch.kept() > 0 ? batch.kept() : batch.row());
  }
  std::span<double> energies(const Kept& kept) { return std::span(told_).subspan(kept.energies, kept.room); }

  const Model& model_;
  const LatticeGroups& plan_;
  const LatticeStrikes& strikes_;
  AlignedVector<NodeMean> means_;  // by line; before they are complete the kinetic energy has a minus
  std::vector<double> half_mass_;  // by line
  Index places_ = 0;
  std::vector<std::vector<Kept>> kept_;  // of each group, by part
  // What strikes of the instant in hand have told, part behind part. Few groups act at most instants: their numbers
  // always lie at the beginning, in a near cache.
  AlignedVector<double> told_;
  std::size_t kept_so_far_ = 0;
};

}  // namespace tempi
