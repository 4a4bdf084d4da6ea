// SPDX-License-Identifier: Apache-2.0
// Cases drawn at random from all that a case file can put together: bodies of every element and material and particles,
// supports, loads, dampers, walls, lattices, couplings, methods. Whatever the case:
//
//   - threads, stops on the way, an observer and a checkpoint change no bit;
//   - momenta are those of the start and what was booked, to rounding, of methods that claim it;
//   - of methods that strike, kinetic energy is booked kick by kick, and the lattice gives what the exact queue gives
//     with its steps;
//   - with smaller steps each comes to the motion of Newmark's method with small ones; contact, to one of its own.
//
// TEMPI_DRAWN_CASES asks for another number of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/cases.hpp"
#include "support/drawn_case.hpp"
#include "support/lattice.hpp"
#include "support/runs.hpp"
#include "tempi/core/error.hpp"
#include "tempi/diagnostic/energy.hpp"
#include "tempi/diagnostic/energy_residual.hpp"
#include "tempi/diagnostic/soundness.hpp"
#include "tempi/integrator/avi/avi_explicit.hpp"
#include "tempi/integrator/checkpoint.hpp"

namespace tempi {
namespace {

using test::CaseFolder;
using test::draw_case;
using test::DrawnMethods;
using test::Random;

double most(const std::vector<double>& values) {
  double result = 0.0;
  for (const double x : values) result = std::max(result, std::abs(x));
  return result;
}
struct Tally {
  int refused = 0, failed = 0, ran = 0, queues = 0, particles = 0, mollified = 0, motions = 0, near = 0;
  double ledger = 0.0, momentum = 0.0, queue = 0.0, gain = 0.0;
};

// Momenta that the method keeps are those of the start and what was booked since.
void look_at_momenta(const Simulation& s, const Snapshot& first, const Snapshot& last, Tally& tally) {
  if (s.body.in_field || s.integrator->claims().linear_momentum != Conservation::exact) return;
  Balance balance;
  balance.add(sample(*s.model, first));
  balance.add(sample(*s.model, last));
  const double error = balance.linear_momentum().error;
  tally.momentum = std::max(tally.momentum, error);
  EXPECT_LT(error, 1e-11);
}

// A run with stops on the way, on two threads, put to sleep and woken, without observers.
void look_at_bits(const CaseFolder& folder, const std::string& text, const Simulation& s, std::uint64_t seed) {
  Random random(seed + 1000000);
  const double end = s.input.end_time, stop = random.uniform(0.1, 0.5) * end, sleep = random.uniform(0.5, 0.9) * end;
  Simulation other = folder.build(text);
  other.integrator->use_threads(2);
  other.integrator->advance_to(other.state, stop);
  other.integrator->synchronized(other.state, stop);
  other.integrator->advance_to(other.state, sleep);
  write_checkpoint(folder.path() / "sleep", other.state, *other.integrator);
  Simulation woken = folder.build(text);
  read_checkpoint(folder.path() / "sleep", woken.state, *woken.integrator);
  woken.integrator->advance_to(woken.state, end);
  EXPECT_TRUE(test::same_bits(woken.state, s.state));
}

// The queue with the lattice's steps.
void look_at_queue(const CaseFolder& folder, const std::string& text, const Simulation& s, const State& fast,
                   double worked, Tally& tally) {
  if (!s.plan.choice || s.plan.choice->coupling != Coupling::plain) {
    tally.mollified += s.plan.choice ? 1 : 0;
    return;
  }
  // On the lattice dampers other than drag act one after the other, on the queue all of an instant together; and there
  // strikes at multiples of a third are not of one instant to the last bit. Alike to order 2.
  const bool one_by_one = std::ranges::any_of(std::array{"rayleigh", "kelvin", "restitution", "laplacian"},
                                              [&](const char* of) { return text.find(of) != std::string::npos; });
  if (s.model->has_dampers() && (one_by_one || s.plan.choice->rule != LatticeRule::powers_of_two)) return;
  Simulation queue = folder.build(text);
  AviExplicit exact(*queue.model, s.plan.steps);
  exact.advance_to(queue.state, s.input.end_time);
  const State slow = exact.synchronized(queue.state, s.input.end_time).state;
  const double size = std::max({most(slow.displacement), most(slow.velocity), 1e-3});
  const double off = std::max(test::largest_difference(fast.displacement, slow.displacement),
                              test::largest_difference(fast.velocity, slow.velocity));
  if (off < 1e-9 * size) {
    tally.queue = std::max(tally.queue, off / size);
  } else {  // chaotic: a push of 1e-15 goes as far
    Simulation pushed = folder.build(text);
    for (double& v : pushed.state.velocity) v *= 1.0 + 1e-15;
    pushed.integrator->advance_to(pushed.state, s.input.end_time);
    const State gone = pushed.integrator->synchronized(pushed.state, s.input.end_time).state;
    EXPECT_LT(off, 10.0 * test::largest_difference(fast.velocity, gone.velocity));
  }
  EXPECT_NEAR(fast.damping.work.value(), slow.damping.work.value(), 1e-9 * worked);
  EXPECT_NEAR(fast.loads.work.value(), slow.loads.work.value(), 1e-9 * worked);
  for (std::size_t i = 0; i < fast.supports.size(); ++i)
    EXPECT_NEAR(fast.supports[i].work.value(), slow.supports[i].work.value(), 1e-9 * worked);
  ++tally.queues;
}

void look_at_strikes(const CaseFolder& folder, const std::string& text, std::uint64_t seed, Tally& tally) {
  Simulation s = folder.build(text);
  const double end = s.input.end_time;
  EnergyResidual residual(*s.model);
  const Snapshot first = s.integrator->synchronized(s.state, 0.0);
  s.integrator->advance_to(s.state, 0.0);
  residual.begin(s.state);
  s.integrator->advance_to(s.state, end, residual);
  const Snapshot last = s.integrator->synchronized(s.state, end);
  double worked = std::abs(s.state.damping.work.value()) + std::abs(last.potential_energy);
  for (std::size_t i = 0; i < s.state.velocity.size(); ++i)
    worked += s.model->mass()[i / static_cast<std::size_t>(s.model->dim())] * s.state.velocity[i] * s.state.velocity[i];
  worked = std::max(worked, 1e-24);  // at rest there is rounding only
  tally.ledger = std::max(tally.ledger, std::abs(residual.unbooked(s.state)) / worked);
  EXPECT_LE(std::abs(residual.unbooked(s.state)), 1e-12 * worked);
  look_at_momenta(s, first, last, tally);
  look_at_bits(folder, text, s, seed);
  look_at_queue(folder, text, s, last.state, worked, tally);
}

void look_at_any(const CaseFolder& folder, const std::string& text, std::uint64_t seed, Tally& tally) {
  Simulation s = folder.build(text);
  const Snapshot first = s.integrator->synchronized(s.state, 0.0);
  s.integrator->advance_to(s.state, s.input.end_time);
  look_at_momenta(s, first, s.integrator->synchronized(s.state, s.input.end_time), tally);
  look_at_bits(folder, text, s, seed);
}

// Comes to the motion that Newmark's method has with small steps as its own become sixteen times smaller: its
// difference falls, unless that of Newmark's own with steps twice as large hides it.
void look_at_motion(const CaseFolder& folder, DrawnMethods methods, std::uint64_t seed, Tally& tally) {
  const auto end = [&](double finer, bool reference) {
    Simulation s = folder.build(draw_case(folder, methods, seed, finer, reference));
    s.integrator->advance_to(s.state, s.input.end_time);
    return s.integrator->synchronized(s.state, s.input.end_time).state;
  };
  const State exact = end(0.05, true);
  const double u = most(exact.displacement), v = most(exact.velocity);
  const auto off = [&](double finer, bool reference) {
    const State found = end(finer, reference);
    return std::max(test::largest_difference(found.displacement, exact.displacement) / u,
                    test::largest_difference(found.velocity, exact.velocity) / v);
  };
  constexpr double rest = 1e-9, chaos = 0.05;
  const double unsure = off(0.1, true);
  if (v < rest || unsure > chaos) return;
  const double coarse = std::max(off(1.0, false), off(0.25, false)), fine = off(0.0625, false);
  ++tally.motions;
  tally.near += fine < coarse / 10.0 + 2.0 * unsure ? 1 : 0;
  EXPECT_LT(fine, coarse / 4.0 + 2.0 * unsure);
}

// Layers, walls, friction and restitution come to a motion of their own as all steps become 64 times smaller. Some
// bodies take the steps in which the first layer is crossed at the start already, and are as far from it at 4 times.
void look_at_motion_with_contact(const CaseFolder& folder, std::uint64_t seed, Tally& tally) {
  const auto end = [&](double finer) {
    Simulation s = folder.build(draw_case(folder, DrawnMethods::with_contact, seed, finer));
    s.integrator->advance_to(s.state, s.input.end_time);
    return s.integrator->synchronized(s.state, s.input.end_time).state.displacement;
  };
  const std::vector<double> exact = end(1.0 / 64.0);
  const auto off = [&](double finer) { return test::largest_difference(end(finer), exact) / most(exact); };
  const double coarse = std::max(off(1.0), off(0.25)), fine = off(1.0 / 16.0);
  ++tally.motions;
  tally.near += fine < coarse / 10.0 ? 1 : 0;
  EXPECT_LT(fine, coarse / 3.0 + 1e-5);
}

// Draws so many cases, or as many as TEMPI_DRAWN_CASES says, and looks at each.
template <class Look>
Tally draw_cases(DrawnMethods methods, int count, Look&& look) {
  const CaseFolder folder;
  if (const char* asked = std::getenv("TEMPI_DRAWN_CASES")) count = std::atoi(asked);
  Tally tally;
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(count); ++seed) {
    const std::string text = draw_case(folder, methods, seed);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const auto note = [&](int& of, const std::exception& e) {
      ++of;
      std::printf("%d: %s\n%s", static_cast<int>(seed), e.what(), std::getenv("TEMPI_SHOW") ? text.c_str() : "");
    };
    try {
      look(folder, text, seed, tally);
      ++tally.ran;
      tally.particles += text.find("[particles]") != std::string::npos ? 1 : 0;
    } catch (const InputError& e) {
      note(tally.refused, e);
    } catch (const SolveError& e) {
      note(tally.failed, e);
    }
  }
  std::printf(
      "%d ran (%d of particles, %d beside the queue, %d mollified), %d refused, %d failed; ledger %.1e, "
      "momentum %.1e, queue %.1e\n",
      tally.ran, tally.particles, tally.queues, tally.mollified, tally.refused, tally.failed, tally.ledger,
      tally.momentum, tally.queue);
  return tally;
}

TEST(DrawnCases, KeepTheirLedgersAndTheirBits) {
  const Tally tally = draw_cases(DrawnMethods::that_strike, 60, look_at_strikes);
  const int all = tally.ran + tally.refused + tally.failed;
  EXPECT_GE(tally.ran, all * 8 / 10);
  EXPECT_GE(tally.queues, all / 5);
}

// And nobody passes through anybody.
TEST(DrawnCases, WithContactKeepTheirMomentaAndTheirBits) {
  int touched = 0;
  const auto look = [&](const CaseFolder& folder, const std::string& text, std::uint64_t seed, Tally& tally) {
    Simulation s = folder.build(text);
    const Snapshot first = s.integrator->synchronized(s.state, 0.0);
    Balance balance;
    balance.add(sample(*s.model, first));
    double force = 0.0, gain = 0.0;
    for (int k = 1; k <= 50; ++k) {
      const double t = k * s.input.end_time / 50;
      s.integrator->advance_to(s.state, t);
      const Snapshot now = s.integrator->synchronized(s.state, t);
      EXPECT_NO_THROW(require_sound(*s.model, now));
      force = std::max(force, now.contact[0].force);
      gain = std::max(gain, balance.gain(sample(*s.model, now)));
      balance.add(sample(*s.model, now));
    }
    touched += force > 0.0 ? 1 : 0;
    tally.gain = std::max(tally.gain, gain);
    EXPECT_LT(gain, s.input.energy_tolerance);
    look_at_momenta(s, first, s.integrator->synchronized(s.state, s.input.end_time), tally);
    look_at_bits(folder, text, s, seed);
  };
  const Tally tally = draw_cases(DrawnMethods::with_contact, 30, look);
  std::printf("%d touched, energy gained at most %.1e\n", touched, tally.gain);
  EXPECT_GE(tally.ran, (tally.ran + tally.refused + tally.failed) * 8 / 10);
  EXPECT_GE(touched, tally.ran / 3);
}

TEST(DrawnCases, OfOtherMethodsKeepTheirMomentaAndTheirBits) {
  const Tally tally = draw_cases(DrawnMethods::any, 60, look_at_any);
  EXPECT_GE(tally.ran, (tally.ran + tally.refused + tally.failed) * 7 / 10);  // not every method takes everything
}

// Whatever acts on it. But energy-stepping comes near as the root of its step in energy only, and avi-adaptive as its
// energies have it.
TEST(DrawnCases, ComeToOneMotion) {
  for (const auto methods : {DrawnMethods::that_strike, DrawnMethods::any}) {
    const auto look = [&](const CaseFolder& folder, const std::string& text, std::uint64_t seed, Tally& tally) {
      const bool other_steps =
          text.find("energy_step") != std::string::npos || text.find("adaptive") != std::string::npos;
      if (!other_steps) look_at_motion(folder, methods, seed, tally);
    };
    const Tally tally = draw_cases(methods, 40, look);
    std::printf("%d compared, %d of them at least ten times nearer\n", tally.motions, tally.near);
    EXPECT_GE(tally.motions, (tally.ran + tally.refused + tally.failed) * 6 / 10);
    EXPECT_GE(tally.near, tally.motions * 9 / 10);
  }
}

TEST(DrawnCases, WithContactComeToTheirMotion) {
  const auto look = [&](const CaseFolder& folder, const std::string&, std::uint64_t seed, Tally& tally) {
    look_at_motion_with_contact(folder, seed, tally);
  };
  const Tally tally = draw_cases(DrawnMethods::with_contact, 6, look);
  std::printf("%d compared, %d of them at least ten times nearer\n", tally.motions, tally.near);
  EXPECT_GE(tally.motions, (tally.ran + tally.refused + tally.failed) * 8 / 10);
  EXPECT_GE(tally.near, tally.motions / 2);
}

}  // namespace
}  // namespace tempi
