// SPDX-License-Identifier: Apache-2.0
// Where a model is and how it moves, with a clock for every node, and what has been booked so far.
#pragma once

#include <array>
#include <vector>

#include "tempi/core/archive.hpp"
#include "tempi/core/compensated_sum.hpp"
#include "tempi/model/model.hpp"

namespace tempi {

// What a few acts at one instant have given to the model, in plain sums; of a Ledger's meaning.
struct Given {
  std::array<double, 3> impulse{}, moment{};  // [N s, N m s]
  double work = 0.0;                          // [J]

  void add(const std::array<double, 3>& x, const std::array<double, 3>& p, double done) {  // the impulse p at x
    for (std::size_t e = 0; e < 3; ++e) {
      impulse[e] += p[e];
      moment[e] += x[(e + 1) % 3] * p[(e + 2) % 3] - x[(e + 2) % 3] * p[(e + 1) % 3];
    }
    work += done;
  }
};

// What something outside the model has given to it since t = 0. The moment is about the origin of coordinates; in 2-D
// only its last component can differ from zero.
struct Ledger {
  std::array<CompensatedSum, 3> impulse{};  // [N s]
  std::array<CompensatedSum, 3> moment{};   // [N m s]
  CompensatedSum work;                      // [J]

  void add(const std::array<double, 3>& x, const std::array<double, 3>& p, double done) {  // the impulse p at x
    Given given;
    given.add(x, p, done);
    *this += given;
  }
  Ledger& operator+=(const Given& given) {
    for (std::size_t e = 0; e < 3; ++e) {
      impulse[e] += given.impulse[e];
      moment[e] += given.moment[e];
    }
    work += given.work;
    return *this;
  }
  Ledger& operator+=(const Ledger& other) {
    for (std::size_t e = 0; e < 3; ++e) {
      impulse[e] += other.impulse[e].value();
      moment[e] += other.moment[e].value();
    }
    work += other.work.value();
    return *this;
  }
};

struct State {
  std::vector<double> displacement;  // u [m], dim components a node
  std::vector<double> velocity;      // [m/s]
  std::vector<double> clock;         // [s], the time to which each node has drifted
  Ledger loads;
  Ledger damping;                // the work is what dampers have taken, with a minus sign
  std::vector<Ledger> supports;  // one per support of the model
  Ledger constraints;            // of those that hold nodes to what is fixed, and of walls, which work where they move
  std::vector<std::vector<Touch>> memory;  // of dampers that have one (Force::remember)
  // For the work of loads, per Model::force_slot: their force and the nodes' displacement when their term last acted.
  std::vector<double> load_force, load_displacement;

  void save(ArchiveWriter& archive) const;
  void load(ArchiveReader& archive);  // into a state of the same model

  // Without load_force and load_displacement, dim numbers a node of every loaded term: for engines and output that do
  // not look at them.
  State without_way_of_loads() const;
};

// The model at rest in its reference configuration at t = 0.
State reference_state(const Model& model);

}  // namespace tempi
