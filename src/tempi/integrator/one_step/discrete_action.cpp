// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/one_step/discrete_action.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

// Fills in phi and slope: Lagrange polynomials on the control points.
DiscreteAction complete(DiscreteAction action) {
  const auto& d = action.control;
  for (const double c : action.points) {
    std::vector<double> phi, slope;
    for (std::size_t j = 0; j < d.size(); ++j) {
      double value = 1.0, derivative = 0.0;
      for (std::size_t k = 0; k < d.size(); ++k) {
        if (k == j) continue;
        double product = 1.0 / (d[j] - d[k]);
        for (std::size_t l = 0; l < d.size(); ++l)
          if (l != j && l != k) product *= (c - d[l]) / (d[j] - d[l]);
        derivative += product;
        value *= (c - d[k]) / (d[j] - d[k]);
      }
      phi.push_back(value);
      slope.push_back(derivative);
    }
    action.phi.push_back(std::move(phi));
    action.slope.push_back(std::move(slope));
  }
  return action;
}

void require_alpha(double alpha) {
  if (!(alpha >= 0.0 && alpha <= 1.0)) throw InputError(fmt::format("alpha = {} (must be from 0 to 1).", alpha));
}

// Points and weights of Lobatto's rule of degree s.
std::pair<std::vector<double>, std::vector<double>> lobatto(int s) {
  const double a = 0.5 / std::sqrt(5.0);
  if (s == 1) return {{0.0, 1.0}, {0.5, 0.5}};
  if (s == 2) return {{0.0, 0.5, 1.0}, {1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0}};
  return {{0.0, 0.5 - a, 0.5 + a, 1.0}, {1.0 / 12.0, 5.0 / 12.0, 5.0 / 12.0, 1.0 / 12.0}};
}

int degree_of(const char* method, int order) {
  if (order != 2 && order != 4 && order != 6)
    throw InputError(fmt::format("{}: order = {} (must be 2, 4 or 6).", method, order));
  return order / 2;
}

}  // namespace

bool DiscreteAction::is_explicit() const {
  for (const auto& at : phi)
    for (std::size_t j = 0; j < degree(); ++j)
      for (std::size_t l = 1; l <= degree(); ++l)
        if (at[j] * at[l] != 0.0) return false;
  return true;
}

std::optional<double> DiscreteAction::ahead() const {
  if (!is_explicit() || degree() > 1) return std::nullopt;
  double part = 0.0;
  for (std::size_t i = 0; i < points.size(); ++i) part += weights[i] * phi[i][0];
  return part;
}

DiscreteAction midpoint_action(double alpha) {
  require_alpha(alpha);
  const bool middle = alpha == 0.5;
  return complete({"midpoint", middle ? 2 : 1, middle, {0.0, 1.0}, {alpha}, {1.0}, {}, {}});
}

DiscreteAction trapezoidal_action(double alpha) {
  require_alpha(alpha);
  const bool even = alpha == 0.5;
  return complete({"trapezoidal", even ? 2 : 1, even, {0.0, 1.0}, {0.0, 1.0}, {1.0 - alpha, alpha}, {}, {}});
}

DiscreteAction symmetric_midpoint_action(double alpha) {
  require_alpha(alpha);
  return complete({"symmetric-midpoint", 2, true, {0.0, 1.0}, {alpha, 1.0 - alpha}, {0.5, 0.5}, {}, {}});
}

DiscreteAction gauss_action(int order) {
  const int s = degree_of("gauss", order);
  const double a = s == 2 ? std::sqrt(3.0) / 6.0 : std::sqrt(15.0) / 10.0;
  DiscreteAction action{"gauss", order, true, lobatto(s).first, {0.5}, {1.0}, {}, {}};
  if (s == 2) action.points = {0.5 - a, 0.5 + a}, action.weights = {0.5, 0.5};
  if (s == 3) action.points = {0.5 - a, 0.5, 0.5 + a}, action.weights = {5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};
  return complete(std::move(action));
}

DiscreteAction lobatto_action(int order) {
  auto [points, weights] = lobatto(degree_of("lobatto", order));
  return complete({"lobatto", order, true, points, points, weights, {}, {}});
}

}  // namespace tempi
