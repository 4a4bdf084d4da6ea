// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/method_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace tempi {
namespace {

enum class Key { none, alpha, order };

struct Family {
  const char* method;
  Key key;
  std::function<DiscreteAction(const IntegratorInput&)> make;
};

const std::array<Family, 7>& families() {
  static const std::array<Family, 7> all = {{
      {"symplectic-euler-a", Key::none, [](const IntegratorInput&) { return midpoint_action(0.0); }},
      {"symplectic-euler-b", Key::none, [](const IntegratorInput&) { return midpoint_action(1.0); }},
      {"midpoint", Key::alpha, [](const IntegratorInput& in) { return midpoint_action(in.alpha); }},
      {"trapezoidal", Key::alpha, [](const IntegratorInput& in) { return trapezoidal_action(in.alpha); }},
      {"symmetric-midpoint", Key::alpha, [](const IntegratorInput& in) { return symmetric_midpoint_action(in.alpha); }},
      {"gauss", Key::order, [](const IntegratorInput& in) { return gauss_action(in.order); }},
      {"lobatto", Key::order, [](const IntegratorInput& in) { return lobatto_action(in.order); }},
  }};
  return all;
}

std::string methods_with(Key key) {
  std::string list;
  for (const Family& family : families())
    if (family.key == key) list += fmt::format("{}{}", list.empty() ? "" : ", ", family.method);
  return list;
}

}  // namespace

bool is_synchronous(const std::string& method) { return method != "avi"; }

std::optional<DiscreteAction> discrete_action(const IntegratorInput& in) {
  const auto family = std::ranges::find(families(), in.method, &Family::method);
  const Key key = family == families().end() ? Key::none : family->key;
  if (in.alpha_place && key != Key::alpha)
    throw PlacedError(*in.alpha_place,
                      fmt::format("alpha belongs to the methods {}, not to {}. Leave it out, or choose one of them.",
                                  methods_with(Key::alpha), in.method));
  if (in.order_place && key != Key::order)
    throw PlacedError(*in.order_place,
                      fmt::format("order belongs to the methods {}, not to {}. Leave it out, or choose one of them.",
                                  methods_with(Key::order), in.method));
  if (family == families().end()) return std::nullopt;
  if (in.residual_asked)
    throw PlacedError(in.place,
                      fmt::format("residual = true goes with avi and newmark: {} has no local updates. Leave it out.",
                                  in.method));
  DiscreteAction action = at_place(in.order_place.value_or(in.place), [&] { return family->make(in); });
  action.name = in.method;
  return action;
}

}  // namespace tempi
