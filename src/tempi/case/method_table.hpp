// SPDX-License-Identifier: Apache-2.0
// The methods a case can name, one row each: whatever depends on a method is read from its row. `tempi methods`,
// docs/methods.md, README's table, the choices and refusals of the case file are made from this table.
//
// A new method is a row here, and its keys are rows of the option table.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/case/method_options.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/integrator/one_step/step_search.hpp"

namespace tempi {

// What runs it.
enum class Engine {
  one_step,  // a map of the whole model, again and again, over one step for all; or as make_integrator has it
  strikes,   // terms one by one, on the lattice or the queue; observers may watch
  adaptive,  // terms one by one, at times that follow from the motion
  domains,   // parts of the model, each with a map and substeps of its own
  stepping,  // subdomains, at times that follow from the motion; no steps
  softened   // terms one by one, those with short steps implicitly at a longer one
};

struct Method {
  // Keys at which claims are told apart, and how.
  struct Variant {
    const char* keys = "";
    void (*set)(MethodOptions&) = [](MethodOptions&) {};
  };

  std::string_view name;
  std::string_view keys;  // its own of [integrator]; rows of one name are told apart by them
  std::string_view text;  // what it does
  std::vector<Variant> variants;
  // `steps` [s]: one a term, all alike for methods with one step. Throws InputError: an option or a model it does not
  // take.
  std::unique_ptr<Integrator> (*make)(const Model& model, const std::vector<double>& steps,
                                      const MethodOptions& options);
  Engine engine = Engine::one_step;
  bool asynchronous = false;  // terms have steps of their own
  bool keeps_constraints = false;
  bool quasi_static = false;      // nothing moves: load_steps in place of steps, and nothing to claim
  bool takes_sums = true;         // of many nodes in one term
  bool takes_faces = takes_sums;  // contact of faces, which is such a sum
  bool takes_hard_walls = false;
  // Largest stable step of an oscillator, over 2/omega; infinite for implicit methods.
  double (*step_limit)(const MethodOptions& options) = [](const MethodOptions&) { return 1.0; };
  // Largest step times damping rate; infinite where dampers are implicit.
  double (*damping_limit)(const MethodOptions& options) = [](const MethodOptions&) {
    return std::numeric_limits<double>::infinity();
  };

  // Of explicit rules with forces at the ends of the step: the part of it by which those at its start act
  // (LatticeOptions::ahead). Empty of others.
  std::optional<double> (*ahead)(const MethodOptions& options) = [](const MethodOptions&) {
    return std::optional<double>();
  };

  bool is_explicit(const MethodOptions& options) const;
};

std::span<const Method> method_table();

// What runs a case: where the method tells how far ahead it kicks, and the model has neither dampers nor layers nor
// contacts with a memory, the lattice engine, to which what method.make() gives is the reference; otherwise that.
std::unique_ptr<Integrator> make_integrator(const Method& method, const Model& model, const std::vector<double>& steps,
                                            const MethodOptions& options, int threads);

std::string names_of_methods();  // "avi | newmark | ...", each once

// The row of a case's method: the first of its name that has all the keys given. Throws PlacedError: a key that belongs
// to others, residual asked of a method without local strikes.
const Method& method_of(const IntegratorInput& in);

// Of symplectic-energy-momentum and avi-adaptive. Throws InputError: not two numbers, out of range.
StepBounds step_bounds(const MethodOptions& options);

// Of avi-implicit: terms whose own step is shorter than implicit_step act implicitly at it, the others at its halves
// and doubles.
struct SoftenedSteps {
  std::vector<double> steps;   // [s]
  std::vector<double> alphas;  // 0 where explicit
};
SoftenedSteps softened_steps(const std::vector<double>& own, const MethodOptions& options);

// What every method claims (Integrator::claims): docs/methods.md, and README's table.
std::string methods_as_markdown();
std::string table_of_methods();

}  // namespace tempi
