// SPDX-License-Identifier: Apache-2.0
// A lattice engine's strikes, watched: what each term's impulses have done with the velocities before and after all
// strikes of their instant (Strike in integrator.hpp). The batches keep the impulses of an instant; once it is over
// they are multiplied with the mean velocities. Blocks on all threads; single strikes for observers who want those.
#pragma once

#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "tempi/core/aligned_vector.hpp"
#include "tempi/force/load_work_kernel.hpp"
#include "tempi/integrator/dampers.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/integrator/kick_drift.hpp"
#include "tempi/integrator/lattice/lattice_dampers.hpp"
#include "tempi/integrator/lattice/lattice_mollifier.hpp"
#include "tempi/integrator/lattice/lattice_nodes.hpp"
#include "tempi/integrator/lattice/lattice_strikes.hpp"

namespace tempi {

class LatticeWatch {
 public:
  // All must outlive it.
  LatticeWatch(const Model& model, const LatticeGroups& plan, const LatticeStrikes& strikes,
               const KickDrift& kick_drift);

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
  bool strike(std::size_t group, double step, double t, std::span<NodeLine> nodes);

  // Once the nodes are noted: what a group's terms have done by the chain rule, in an instant of so many groups.
  void add_works(std::size_t group, const LatticeMollifier& mollifier, std::size_t acting);
  // Then: shows the group's strikes. `state`: where the observer may look. The dampers are
  // those that have acted in this instant, `dampers` or, where that is null, `packed`.
  void show(std::size_t group, Index update, double step, double t, const LatticeNodes& nodes, State& state,
            const Dampers* dampers, const LatticeDampers& packed, Observer& observer);

  // Where loaded terms last struck.
  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive);

 private:
  // Loads within a part's terms, in rows of eight of them (load_work_kernel.hpp); rows without a load are left out.
  struct Loads {
    std::size_t nodes = 0;                  // of a term, at most
    std::vector<std::int32_t> rows, slots;  // which there are; of each loaded term, eight times its row and its lane
    std::vector<LoadRow> parts;             // what these rows have
    std::vector<std::array<std::int32_t, Eight::lanes>> lines;
    std::vector<Eight> force, displacement, way;
    std::vector<std::size_t> changing;  // which of the loaded terms' forces change
  };
  struct Kept {
    Index place = 0;                         // of the part's first term in the engine's order
    std::size_t room = 0;                    // its terms, in whole packs
    std::size_t energies = 0, impulses = 0;  // where those of the instant in hand begin in `told_`
    std::vector<double> damping_work, load_work;
    std::vector<double> more_work;             // by the chain rule, to be shown; empty where nothing is mollified
    std::vector<std::int32_t> loaded, damped;  // places of its terms with loads, with dampers; ascending
    Loads loads;
  };
  typedef double Two __attribute__((vector_size(16)));
  static constexpr Index most_at_once = 1024;  // terms looked at together, at the most
  struct Figures {                             // of those
    alignas(64) std::array<double, most_at_once> kinetic, work;
  };
  void look_at_loads(const LatticePart& part, Kept& kept, double t, const LatticeNodes& nodes, State& state);
  void review(const LatticePart& part, Kept& kept, Index first, Index last, double step,
              std::span<const NodeLine> nodes, const Dampers* dampers, const LatticeDampers& packed, Figures& found);
  void make_room_for_loads(const LatticePart& part, Kept& kept) const;
  std::vector<double> load_forces(TermId term, double t, const State& state) const;
  void put_load(Loads& loads, std::size_t k, std::span<const double> force) const;
  void add_loads(Kept& kept, Index first, Index last, double step, std::span<const NodeLine> nodes, Figures& found);
  double* load_force(Loads& loads, std::size_t k, std::size_t component) const;
  double damping_work(TermId term, double step, const Dampers* dampers, const LatticeDampers& packed) const;
  template <class Visit>
  void each_component(TermId term, Visit&& visit) const;
  void show_one_by_one(const LatticePart& part, Kept& kept, Index first, Index last, const Figures& found, Index update,
                       double step, double t, State& state, Observer& observer) const;

  std::span<double> energies(const Kept& kept) { return std::span(told_).subspan(kept.energies, kept.room); }

  const Model& model_;
  const LatticeGroups& plan_;
  const LatticeStrikes& strikes_;
  const KickDrift& kick_drift_;
  LoadWorkKernel load_works_;
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
