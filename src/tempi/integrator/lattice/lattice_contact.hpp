// SPDX-License-Identifier: Apache-2.0
// Contact by layers on a lattice of ticks: Vouga, Harmon, Tamstorf, Grinspun (2010), eq. (11), potentials with fixed
// steps of their own that overlap as they like.
//
//   at tau = j h_l, h_l = 2^e tick, e whole and of any sign:  v_a -= h_l (dV_l/dx_a) / m_a
//
// whether anybody is near or not: a layer that is not touched gives zero. So it need not be there, and who is there
// decides the cost, never a bit: nodes that are not pushed are not even moved to the layer's time. Who is there is
// found in windows of time: the window is run, the paths of the surfaces' vertices, straight between their kicks, are
// searched for pairs that came closer than the next layer that was not there (separation.hpp, certified), those layers
// are added and the window is run again, until nothing is missed.
//
// Time is whole in units of 2^-20 tick. A layer that had to be finer ends the run: nothing resolved stops that pair.
// The bits do not depend on windows, threads, the tree or on what was there by mistake.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "tempi/contact/layered_contact.hpp"
#include "tempi/contact/push_kernel.hpp"
#include "tempi/contact/separation.hpp"
#include "tempi/core/aligned_vector.hpp"
#include "tempi/core/thread_team.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/integrator/lattice/lattice_corrections.hpp"
#include "tempi/integrator/lattice/lattice_nodes.hpp"
#include "tempi/integrator/lattice/lattice_strikes.hpp"
#include "tempi/integrator/lattice/lattice_supports.hpp"
#include "tempi/integrator/lattice/rigid_paths.hpp"

namespace tempi {

class LatticeContact {
 public:
  // Time in units of 2^-fine_bits tick.
  using Fine = Index;
  static constexpr int fine_bits = 20;
  static constexpr Fine never = std::numeric_limits<Fine>::max();
  static double in_ticks(Fine fine) { return std::ldexp(static_cast<double>(fine), -fine_bits); }

  // All must outlive it; `tick` [s]. Throws InputError: a first layer too stiff for the model's tick.
  LatticeContact(const Model& model, const LatticeGroups& plan, LatticeNodes& nodes, LatticeSupports& supports,
                 ThreadTeam& team, double tick);

  // The next instant after `done` at which a layer that is there acts, or `never`.
  Fine next(Fine done) const;
  // Kicks of all layers due.
  void strike(Fine now, State& state);
  // What is told of every group's kicks; null: nobody asks how fast bodies slide or part.
  LatticeCorrections* corrections() { return corrections_.get(); }
  // Groups are about to act at `now`: nodes that follow a prescribed motion leave the lines they were on.
  void note_before(std::span<const std::size_t> groups, double now);
  // The groups that have acted at `now` have bent the paths of their nodes.
  void note(std::span<const std::size_t> groups, double now);

  // A window of time begins [ticks], the nodes being on their way; and begins again, with more layers there.
  void begin(double from, double to);
  void begin_again(double to);
  // Whether loops over pairs and vertices go on all threads or on the caller's: the same bits.
  void share(bool on_all) { team_ = on_all ? &all_ : &alone_; }
  // It ends [ticks]: whether layers were missed, which are there from now on. Throws SolveError: time resolves none.
  bool missed(double to);
  // Nothing was missed: layers that nobody touched for a while go.
  void accept();

  // Adds to what LatticeStrikes::look has found at these places, `done` being the last instant before t.
  std::vector<ContactNow> report(std::span<const NodeLine> nodes, double t, Fine done,
                                 LatticeStrikes::NodalSums& sums) const;

  Integrator::Measures measures() const;
  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive);
  void forget();  // the run

 private:
  using Vector = std::array<double, 3>;
  using Quad = std::array<double, 4>;  // a vector and a zero
  struct Pair {                        // that is there
    ContactPair pair;
    LayeredContact::Constants constants;
    std::int32_t exponent;     // the first layer's step is 2^exponent
    double step;               // that is [s]
    std::int32_t layers;       // that are there
    std::int32_t touched = 0;  // layers that pushed in this window
    std::int32_t near = 0;     // layers within whose distance it was
    Index used = 0;            // window in which the deepest was touched
  };
  // Of a pair that was looked at: until then [ticks] its vertices, none faster than its limit, cannot bring it within
  // the distance of this layer. Nobody has to look for that layer's sake, nor a deeper one's.
  struct Quiet {
    double until;
    std::int32_t layer;
    std::int32_t exponent;  // the pair's
  };
  static constexpr double never_quiet = -std::numeric_limits<double>::infinity();
  // Where a vertex has been in a window, and how it went.
  struct Swept {
    Bounds box;
    Vector way{};  // from the beginning to the end [m]
  };
  struct Section {
    const LayeredContact* contact;
    bool has_sides = false;                    // two, told apart
    bool takes = false;                        // energy: friction or restitution
    std::vector<std::int32_t> line_of_vertex;  // -1: rigid
    std::vector<std::int32_t> path_of_vertex;  // -1: rigid
    RigidPaths rigid;                          // of the vertices that are
    std::vector<const NodeLine*> node_of_vertex;
    AlignedVector<NodeShift> reference_of_vertex;
    std::vector<const VelocityCorrection*> correction_of_vertex;  // where it takes energy
    AlignedVector<Quad> lightness;  // of each vertex: held components cannot be moved [1/kg]
    // Impulses of the instant, of each vertex; those of friction, and what restitution withholds, among them.
    AlignedVector<Quad> given, rubbed, withheld;
    std::vector<std::int32_t> taking;  // of each vertex: pairs that push it in the instant
    std::vector<char> is_pushed;       // of each vertex, in it
    std::vector<Pair> pairs;           // ascending
    ContactSurface::Search search;
    struct Level {  // pairs whose deepest layer acts every 2^exponent, or more often; ascending
      std::int32_t exponent;
      std::vector<std::int32_t> pairs;
      // Threads share blocks of these, near ones next to each other, and vertices: thread k those from the k-th on.
      std::vector<std::int32_t> order, vertices_from;
    };
    std::vector<Level> levels;                             // ascending
    std::vector<Quiet> quiet;                              // of each pair
    std::vector<std::int32_t> first_of_vertex, of_vertex;  // the pairs of each vertex, one after the other
    std::vector<std::int32_t> vertex_of_path;              // -1: none
    std::vector<std::int32_t> vertices_by_path;            // all, in the order in which lines are gone through
    // Pairs that may be near while every vertex stays in its box of `searched`, which is as large as some windows need.
    std::vector<ContactPair> candidates;
    std::vector<Bounds> searched;
    double slack = 0.1;                // by which these are larger than motion asks for, of the outer distance
    Index windows_searched = 0;        // how many were content with them
    std::vector<char> is_watched;      // each vertex, being in a candidate: the others' boxes are looked at alone
    std::vector<double> grown_by;      // the box of each: half of what counts as near, and its radius [m]
    std::vector<Swept> swept;          // of those watched
    std::vector<Chord> expected;       // ways of those watched, as they go when the window begins
    std::vector<Bounds> expected_in;   // and boxes
    std::vector<char> is_off;          // of these, not where they were expected
    std::vector<char> may_meet;        // of each candidate: the boxes expected touch; empty: not known
    std::vector<std::int8_t> lacking;  // of each candidate, layers
    std::vector<std::int32_t> pushes;  // of each vertex, pairs that pushed it in the window
  };
  struct Taking {   // of a pair that pushes where energy may be taken
    double kept;    // part of the push
    Quad friction;  // on the first closest point [N s]
  };
  static constexpr std::size_t pairs_of_block = 128;  // that are looked at together
  // Those of a block that push in an instant: from its number times pairs_of_block on in `pushes_`, `pushing_`,
  // `taking_`.
  struct Block {
    std::int32_t pushing = 0;
    std::int32_t lowest = std::numeric_limits<std::int32_t>::max(), highest = -1;  // of their vertices
    Index strikes = 0;
    double smallest_distance = std::numeric_limits<double>::infinity(), fastest = 0.0;
  };
  struct alignas(64) Share {                   // of a thread, in an instant
    std::int32_t from = 0, to = 0;             // vertices
    std::vector<std::int32_t> pushed, booked;  // of these; those whose impulse somebody gives from outside
  };
  // What was taken at vertices that follow each other, always the same ones: sums that do not depend on shares.
  struct alignas(64) Taken {
    Given given;
    double by_friction = 0.0, by_restitution = 0.0;  // [J]
  };
  static constexpr std::size_t sums_of_taken = 64;
  static constexpr std::size_t pieces_of_window = 16;
  using Pieces = std::array<double, pieces_of_window + 1>;  // times of their ends [ticks]
  // A path in the window: straight pieces, each of as many kicks as lead astray from it by no more than `tolerance`. A
  // velocity that differs by no more than s from some other leads astray from the chord by no more than s times half
  // of the time.
  struct alignas(64) Piece {  // that is not yet over
    Vector velocity{};        // that it began with [m/s]
    double since = 0.0;       // [ticks]
    double swerve = 0.0;      // by how much the velocity has differed from it, at most [m/s]
    double until_kick = 0.0;  // no longer than that until groups kick it again [ticks]
    double tolerance = 0.0;   // [m]; negative: it may jump, and every kick is a bend
    double limit = 0.0;       // the speed that it is held to [m/s]
  };
  struct Chords {  // of a path in the window, once it has ended
    Chord whole;
    std::vector<Chord> piece;  // empty: it has few bends
  };
  struct Counts {
    Index strikes = 0, layers = 0, pairs = 0, at_vertex = 0;
    double smallest_distance = std::numeric_limits<double>::infinity(), fastest = 0.0;
    double friction_work = 0.0, restitution_work = 0.0;
  };

  void correct_velocities(const LatticeGroups& plan);
  std::int32_t exponent(const LayeredContact& contact, const ContactPair& pair) const;
  static std::int32_t most_layers(const Pair& pair) {  // that time resolves
    return std::min(pair.exponent + 1, LayeredContact::most_layers);
  }
  static double step(const Pair& pair, int layer) { return pair.step / static_cast<double>(std::int64_t{1} << layer); }
  Vector place(const Section& section, std::size_t vertex, std::span<const NodeLine> nodes, double now) const;
  Path path_of(const Section& section, std::size_t vertex) const {  // in the window
    const std::int32_t path = section.path_of_vertex[vertex];
    return path < 0 ? section.rigid.path(vertex) : Path(paths_[static_cast<std::size_t>(path)]);
  }
  void make_levels(Section& section);
  void share_out(const Section& section, Section::Level& level) const;
  void strike(Section& section, const Section::Level& due, int zeros, Fine now, State& state);
  Quiet quiet_after(const Section& section, const Pair& pair, const PairPush& push, double now) const;
  void begin_paths(double to);
  void choose_tolerances();
  void begin_piece(std::size_t path, double now);
  void end_piece(std::size_t path, double now);
  double stray_until(std::size_t path, double now) const;
  void leave_out_far(Section& section, double to);
  void wake(std::int32_t path);
  void wake_faster();
  void look(const Section& section, std::span<const std::int32_t> pairs, int zeros, double now, PairPush* pushes) const;
  void look(Section& section, std::span<const std::int32_t> due, std::size_t block, int zeros, double now);
  void count(const Block& block);
  template <class Visit>
  void each_push_of(std::size_t block, Visit&& visit) const {  // its place in `pushes_`
    const std::size_t begin = block * pairs_of_block;
    for (std::size_t k = begin; k < begin + static_cast<std::size_t>(blocks_[block].pushing); ++k) visit(k);
  }
  // That push somebody of a share: others are not even looked at, as they are in other caches.
  template <class Visit>
  void each_block_of(std::size_t blocks, const Share& share, Visit&& visit) const {
    for (std::size_t b = 0; b < blocks; ++b)
      if (blocks_[b].highest >= share.from && blocks_[b].lowest < share.to) visit(b);
  }
  // Which of the sums the vertex belongs to, and with which vertex a sum begins.
  static std::size_t sum_of(const Section& section, std::size_t vertex) {
    return vertex * sums_of_taken / section.given.size();
  }
  static std::int32_t begin_of_sum(const Section& section, std::size_t sum) {
    return static_cast<std::int32_t>((sum * section.given.size() + sums_of_taken - 1) / sums_of_taken);
  }
  void count_taking(Section& section, std::size_t blocks, const Share& share);
  void take(const Section& section, std::size_t block);
  void add(Section& section, std::size_t block, Share& share);
  void book_taken(Section& section, std::size_t vertex, double now);
  void sum_up_taken(State& state);
  void feel(Section& section, std::size_t vertex, double now);
  void kick(Section& section, Share& share, double now);
  void kick_booked(Section& section, std::size_t shares, double now, State& state);
  Swept sweep(const Section& section, std::size_t vertex, double to) const;
  void follow(std::int32_t path, double now);
  void find(Section& section, double to);
  void search(Section& section, double to);
  Pair fresh(const Section& section, const ContactPair& key, int layers) const;
  void add_all(Section& section);
  Chord chord(std::size_t path, double from, double to) const;
  void make_chords(double to, bool of_all);
  bool came_closer(const Section& section, const ContactPair& pair, int layer, double to) const;
  bool comes_closer(const Section& section, const ContactPair& pair, int layer, double from, double to) const;
  void require_others_before(const Section& section, const ContactPair& key, double to) const;
  template <class Near, class Closer>
  void count_lacking(Section& section, int most, Near&& near, Closer&& closer);
  void expect(Section& section, double to);
  bool add_missed(Section& section, double to);
  bool add_lacking(Section& section);
  void report(const Section& section, const Pair& pair, std::span<const Vector> x, double t, Fine done,
              LatticeStrikes::NodalSums& sums, ContactNow& now) const;

  LatticeNodes& nodes_;
  LatticeSupports& supports_;
  ThreadTeam& all_;
  ThreadTeam alone_{1};
  ThreadTeam* team_ = &all_;
  double tick_;
  std::vector<Section> sections_;
  std::vector<std::vector<std::int32_t>> paths_of_group_, moving_paths_of_group_;
  std::vector<std::int32_t> line_of_path_, path_of_line_;
  std::vector<std::vector<Bend>> paths_;  // since the window began; times in ticks
  std::vector<double> stray_;             // from these, at most [m]
  AlignedVector<Piece> piece_;            // of each path
  std::vector<Chords> chords_;
  Pieces ends_{};
  std::vector<Vector> reference_;  // by line [m]
  double from_ = 0.0;              // where the window began [ticks]
  Index window_ = 0;
  Counts counts_, kept_counts_;
  PushKernel kernel_;
  std::vector<Block> blocks_;         // of the instant
  AlignedVector<PairPush> pushes_;    // of these
  std::vector<ContactPair> pushing_;  // whose they are
  AlignedVector<Taking> taking_;      // of these
  std::vector<Share> shares_;         // of the threads
  std::vector<char> is_faster_;       // than its limit was
  Given held_;                        // of the instant, by what is rigid
  std::vector<Taken> taken_;          // of it, by friction and restitution
  std::atomic<bool> any_faster_ = false;
  std::unique_ptr<LatticeCorrections> corrections_;
};

}  // namespace tempi
