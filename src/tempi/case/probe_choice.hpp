// SPDX-License-Identifier: Apache-2.0
// What the [[probe]] sections of the case file mean.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tempi/case/case_file.hpp"
#include "tempi/integrator/integrator.hpp"
#include "tempi/mesh/mesh.hpp"
#include "tempi/model/term_energies.hpp"

namespace tempi {

struct Probe {
  std::string name;
  std::vector<NodeId> nodes;                    // the mean of these
  std::vector<CellId> cells{};                  // and, where stresses are wanted, of the cells around them
  std::optional<CellId> element{};              // the one whose energy and residual are wanted
  struct Body {                                 // wanted as a body of its own
    std::shared_ptr<const TermEnergies> terms;  // that touch no other nodes
    std::vector<Index> subdomains;              // of energy-stepping methods, whose terms are all among these
  };
  std::optional<Body> body{};
};

// Throws PlacedError: no name or one that is taken, neither or both of point and group, the residual of no point.
std::vector<Probe> choose_probes(const std::vector<ProbeInput>& in, const Mesh& mesh, const Constants& constants);

// Of the undeformed mesh. Throws InputError: not as many components as dimensions.
NodeId nearest_node(const std::vector<double>& point, const Mesh& mesh);

// What a probe's nodes are as a body.
Probe::Body body_of(const Probe& probe, const Model& model, const Integrator& integrator);

}  // namespace tempi
