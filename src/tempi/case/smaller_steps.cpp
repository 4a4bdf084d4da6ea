// SPDX-License-Identifier: Apache-2.0
#include "tempi/case/smaller_steps.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "tempi/case/method_table.hpp"

namespace tempi {
namespace {

using Json = nlohmann::json;

constexpr std::size_t by_thirds = 2, most_tries = 4;  // before the last
constexpr double same_time = 0.02;  // two failures this near each other, of the time, are of the motion

// The safety after `tries`, of which the last had this one: 0.9, 0.6, 0.4, 0.2, 0.1.
double next_safety(std::size_t tries, double safety) { return safety * (tries <= by_thirds ? 2.0 / 3.0 : 0.5); }

}  // namespace

bool begins_again(const Simulation& s, const StepError& failure) {
  const IntegratorInput& in = s.input.integrator;
  if (!in.safety || in.steps_asked || method_of(in).engine == Engine::stepping || method_of(in).quasi_static)
    return false;
  if (s.tries.size() >= most_tries) return false;
  return s.tries.empty() || std::abs(failure.time() - s.tries.back().time) > same_time * s.tries.back().time;
}

void begin_again(Simulation& s, std::vector<EarlierTry> tries) {
  CaseFile input = std::move(s.input);
  const int threads = s.threads;
  s.integrator.reset();  // no two of them in memory
  s.model.reset();
  input.integrator.safety = next_safety(tries.size(), tries.back().safety);
  input.integrator.shortened = *input.integrator.safety / tries.front().safety;
  s = build(std::move(input), threads);
  for (std::size_t i = 0; i < tries.size(); ++i) {
    const EarlierTry& earlier = tries[i];
    s.warnings.push_back(
        fmt::format("{} So the run begins again from the start with safety = {:.2g} instead of {:.2g}{}, "
                    "the steps being left to it; give safety, courant or step to have it end there.",
                    earlier.message, next_safety(i + 1, earlier.safety), earlier.safety,
                    s.model->layers().empty() ? "" : " (and with it surface_safety of contact)"));
  }
  s.tries = std::move(tries);
}

std::string lesson(const std::vector<EarlierTry>& tries) {
  if (tries.empty()) return "";
  std::string text;
  for (const EarlierTry& earlier : tries)
    text += fmt::format("{}{:.2g} (at t = {:.6g} s)", text.empty() ? "" : ", ", earlier.safety, earlier.time);
  return fmt::format(
      " So it ended with safety = {} too: smaller steps do not spare it. Look at the loads, the "
      "material and the mesh there.",
      text);
}

void put_tries(Sections& sections, const std::vector<EarlierTry>& tries) {
  Json all = Json::array();
  for (const EarlierTry& earlier : tries) all.push_back({earlier.safety, earlier.time, earlier.message});
  sections.add("tries", all.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::vector<EarlierTry> tries_of(const Sections& sections) {
  std::vector<EarlierTry> tries;
  if (!sections.has("tries")) return tries;
  const Json all = Json::parse(sections["tries"], nullptr, false);
  for (const Json& one : all)
    if (one.is_array() && one.size() == 3 && one[0].is_number() && one[1].is_number() && one[2].is_string())
      tries.push_back({one[0], one[1], one[2]});
  return tries;
}

}  // namespace tempi
