// SPDX-License-Identifier: Apache-2.0
// The three kinds of failure a caller can act on. A broken invariant is not among them: TEMPI_ASSERT.
// Messages read "<problem> (<why>). <what to do>" with name, value, unit and place.
#pragma once

#include <cassert>
#include <stdexcept>
#include <string>

#define TEMPI_ASSERT(condition) assert(condition)

namespace tempi {

// Wrong input: a file, an option, a mesh, a material constant. Nothing has been computed.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The numbers went wrong during a run: an inverted element, a step beyond its limit, a NaN.
class SolveError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Those of them that smaller steps may spare: an inverted element, a step beyond its limit, energy from nowhere.
class StepError : public SolveError {
 public:
  StepError(const std::string& message, double time) : SolveError(message), time_(time) {}
  double time() const { return time_; }  // [s], when it was noticed

 private:
  double time_;
};

// A result could not be written (disk full, permission lost) during a run.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tempi
