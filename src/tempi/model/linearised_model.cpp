// SPDX-License-Identifier: Apache-2.0
#include "tempi/model/linearised_model.hpp"

#include <utility>

#include "tempi/potential/linearised.hpp"

namespace tempi {
namespace {

Supports at_rest(const Supports& supports, std::span<const double> points, int dim) {
  std::vector<Support> all;
  for (Index s = 0; s < supports.size(); ++s) {
    Support support{supports[s].name, supports[s].nodes, supports[s].motion, {}};
    for (auto& motion : support.motion)
      if (motion == Support::Motion::prescribed) motion = Support::Motion::at_rest;
    all.push_back(std::move(support));
  }
  return {std::move(all), points, dim};
}

}  // namespace

Model linearised(const Model& model, std::span<const double> u) {
  require_unconstrained(model);
  Model::Parts parts;
  parts.dim = model.dim();
  parts.reference.assign(model.reference().begin(), model.reference().end());
  for (std::size_t i = 0; i < u.size(); ++i) parts.reference[i] += u[i];
  parts.mass.assign(model.mass().begin(), model.mass().end());
  for (Index p = 0; p < model.potential_count(); ++p) parts.potentials.push_back(linearise(model.potential(p), u));
  parts.shares = model.share_rule();
  parts.supports = at_rest(model.supports(), parts.reference, parts.dim);
  return Model(std::move(parts));
}

}  // namespace tempi
