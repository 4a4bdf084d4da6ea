// SPDX-License-Identifier: Apache-2.0
// The keys of [integrator] that belong to some methods only. Their defaults stand in the option table.
#pragma once

#include <string>
#include <vector>

namespace tempi {

struct MethodOptions {
  double alpha, beta, gamma;
  int order;
  std::string action, without_root, residuals, newmark_limit;
  std::vector<double> step_bounds;
  double implicit_step;  // [s]; 0: not given
  double softness;
  double energy_step;  // [J]; 0: not given
  std::string subdomains;
  std::vector<double> grid;  // [m]; empty: not given
  bool parity, reduced;
  std::string framework, domains;
  int load_steps;
};

// Those of the option table.
MethodOptions default_method_options();

}  // namespace tempi
