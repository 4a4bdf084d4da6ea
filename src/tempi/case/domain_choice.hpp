// SPDX-License-Identifier: Apache-2.0
// Domains of multi-domain, their rules and substeps, and what ties them: what [[domain]], [[tie]] and `domains` of the
// case file mean.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tempi/integrator/multi_domain/multi_domain.hpp"

namespace tempi {

struct Simulation;

// Terms that take one step: the smallest of theirs, or one of their own.
struct TermsOfOneStep {
  Index first, end;  // terms from, to before
  std::optional<double> step;
};

struct DomainPlan {
  Domains domains;
  double step = 0.0;  // [s], of the system
  Framework framework = Framework::canonical;
  struct About {  // of each domain
    std::string name;
    Index terms;
    double limit;  // smallest stable step of a term in it [s]
  };
  std::vector<About> about;
  double largest_gap = 0.0;           // [m], of tied nodes
  std::vector<double> step_of_terms;  // [s]: substeps, or what a term of a domain with integrator = "avi" has
};

// `simulation` has its body, model, input and state. Without [[domain]] the mesh is cut by `domains`: "auto", where
// steps are so much shorter that substeps pay; "groups", by the first group of each cell; or so many parts by METIS.
// Substeps left open are as many as stability asks for, with `safety` (0.9 beside a `step`); the system step left open
// is the largest that a domain takes in one. Throws PlacedError: cells in no domain or in two, domains without cells,
// steps beyond what their elements take, ties that hold nothing, no step where every domain is implicit. Terms with a
// step of their own take none larger. `part`: of the system step that would be chosen.
DomainPlan plan_domains(const Simulation& simulation, std::span<const TermsOfOneStep> together, double part = 1.0);

std::unique_ptr<Integrator> make_multi_domain(const Model& model, const DomainPlan& plan);

}  // namespace tempi
