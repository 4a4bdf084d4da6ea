// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/avi/avi_implicit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tempi/core/error.hpp"
#include "tempi/model/softened_model.hpp"

namespace tempi {
namespace {

std::vector<double> products(std::span<const double> a, std::span<const double> b) {
  std::vector<double> result(a.size());
  std::ranges::transform(a, b, result.begin(), std::multiplies{});
  return result;
}

}  // namespace

AviImplicit::AviImplicit(const Model& model, std::vector<double> steps, std::vector<double> alphas)
    : alphas_(std::move(alphas)),
      softened_(softened(model, products(alphas_, steps))),
      avi_(softened_, std::move(steps)) {}

void AviImplicit::advance(State& state, double t_end, Observer* observer) {
  if (observer != nullptr)
    avi_.advance_to(state, t_end, *observer);
  else
    avi_.advance_to(state, t_end);
}

void AviImplicit::act_at(TermId term, std::span<double> u) const {
  const double time = alphas_[ordinal(term)] * step(term);
  if (time == 0.0) return;
  const auto [potential, k] = softened_.term(term);
  const auto nodes = potential->stencil(k);
  const auto d = static_cast<std::size_t>(softened_.dim());
  std::vector<double> g(nodes.size() * d, 0.0);
  potential->add_gradient(k, u, 0.0, g);
  for (std::size_t a = 0; a < nodes.size(); ++a)
    for (std::size_t c = 0; c < d; ++c)
      if (softened_.supports().support_of(nodes[a], static_cast<int>(c)) == Supports::none)
        u[ordinal(nodes[a]) * d + c] -= time * time * g[a * d + c] / potential->mass(k, a);
}

void AviImplicit::save(ArchiveWriter& archive) const {
  archive.put("alphas", alphas_);
  avi_.save(archive);
}

void AviImplicit::load(ArchiveReader& archive) {
  std::vector<double> alphas(alphas_.size());
  archive.get("alphas", alphas);
  if (alphas != alphas_) throw InputError("the checkpoint was written with other values of alpha. Use the same case.");
  avi_.load(archive);
}

std::vector<double> least_alphas(const Model& model, std::span<const double> u, std::span<const double> steps,
                                 double safety) {
  std::vector<double> alphas;
  for (Index i = 0; i < model.term_count(); ++i) {
    const double ratio = model.stable_step(make_id<TermId>(i), u) / steps[static_cast<std::size_t>(i)];
    const double missing = 1.0 / (safety * safety) - ratio * ratio;
    alphas.push_back(missing > 0.0 ? 0.5 * std::sqrt(missing) : 0.0);
  }
  return alphas;
}

}  // namespace tempi
