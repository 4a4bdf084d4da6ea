// SPDX-License-Identifier: Apache-2.0
#include "tempi/integrator/lattice/rigid_paths.hpp"

#include <algorithm>
#include <cmath>

#include "tempi/contact/point3.hpp"

namespace tempi {

RigidPaths::RigidPaths(const ContactSurface& surface, double tick) : tick_(tick) {
  for (const ContactSurface::Vertex& vertex : surface.vertices()) {
    place_of_vertex_.push_back(vertex.is_rigid() ? static_cast<std::int32_t>(rigid_.size()) : -1);
    if (!vertex.is_rigid()) continue;
    const Vector& v = vertex.motion.velocity;
    Rigid& rigid = rigid_.emplace_back(Rigid{vertex.place, v, std::sqrt(dot(v, v)), -1});
    const VectorExpression* formulas = vertex.motion.displacement.get();
    if (formulas == nullptr) continue;
    const auto known = std::ranges::find(courses_, formulas, &Course::displacement);
    rigid.course = static_cast<std::int32_t>(known - courses_.begin());
    if (known == courses_.end()) courses_.push_back({formulas, {}});
  }
  lines_.resize(rigid_.size());
  paths_.resize(rigid_.size());
  for (std::size_t r = 0; r < rigid_.size(); ++r) std::ranges::copy(rigid_[r].velocity, lines_[r].velocity);
}

RigidPaths::Vector RigidPaths::at_tick(const Course& course, Index tick) const {
  if (tick >= course.first && tick < course.first + std::ssize(course.at))
    return course.at[static_cast<std::size_t>(tick - course.first)];
  Vector u{};
  for (int c = 0; c < course.displacement->size(); ++c)
    u[static_cast<std::size_t>(c)] = finite_value((*course.displacement)[c], std::array<double, 3>{},
                                                  static_cast<double>(tick) * tick_, "the displacement of a wall");
  return u;
}

RigidPaths::Vector RigidPaths::rate(const Course& course, Index tick) const {
  const Vector from = at_tick(course, tick), to = at_tick(course, tick + 1);
  return {(to[0] - from[0]) / tick_, (to[1] - from[1]) / tick_, (to[2] - from[2]) / tick_};
}

RigidPaths::Vector RigidPaths::place(std::size_t vertex, double now) const {
  const Rigid& rigid = rigid_[place_of(vertex)];
  Vector x;
  for (std::size_t c = 0; c < 3; ++c) x[c] = rigid.start[c] + rigid.velocity[c] * (now * tick_);
  if (rigid.course < 0) return x;
  const Course& course = courses_[static_cast<std::size_t>(rigid.course)];
  const double tick = std::floor(now);
  const Vector u = at_tick(course, static_cast<Index>(tick)), w = rate(course, static_cast<Index>(tick));
  for (std::size_t c = 0; c < 3; ++c) x[c] += u[c] + w[c] * ((now - tick) * tick_);
  return x;
}

RigidPaths::Vector RigidPaths::velocity(std::size_t vertex, double now) const {
  const Rigid& rigid = rigid_[place_of(vertex)];
  if (rigid.course < 0) return rigid.velocity;
  const Course& course = courses_[static_cast<std::size_t>(rigid.course)];
  const double tick = std::floor(now);
  const auto k = static_cast<Index>(tick);
  const Vector after = rate(course, k), before = now == tick && k > 0 ? rate(course, k - 1) : after;
  Vector v;
  for (std::size_t c = 0; c < 3; ++c) v[c] = rigid.velocity[c] + 0.5 * (before[c] + after[c]);
  return v;
}

double RigidPaths::speed(std::size_t vertex) const {
  const Rigid& rigid = rigid_[place_of(vertex)];
  return rigid.speed + (rigid.course < 0 ? 0.0 : courses_[static_cast<std::size_t>(rigid.course)].speed);
}

void RigidPaths::set_lines(double now) {
  if (courses_.empty()) return;
  const double tick = std::floor(now);
  for (std::size_t r = 0; r < rigid_.size(); ++r) {
    const Rigid& rigid = rigid_[r];
    if (rigid.course < 0) continue;
    const Course& course = courses_[static_cast<std::size_t>(rigid.course)];
    const auto k = static_cast<Index>(tick);
    const Vector u = at_tick(course, k), after = rate(course, k),
                 before = now == tick && k > 0 ? rate(course, k - 1) : after;
    lines_[r].clock = tick;
    for (std::size_t c = 0; c < 3; ++c) {
      lines_[r].displacement[c] = u[c] + rigid.velocity[c] * (tick * tick_);
      lines_[r].velocity[c] = rigid.velocity[c] + 0.5 * (before[c] + after[c]);
    }
  }
}

bool RigidPaths::begin(double from, double to) {
  constexpr double more = 1.5, kept = 0.9;
  const auto first = static_cast<Index>(std::floor(from)), last = static_cast<Index>(std::ceil(to));
  bool is_faster = false;
  for (Course& course : courses_) {
    std::vector<Vector> at;
    for (Index k = std::max<Index>(0, first - 1); k <= last + 1; ++k) at.push_back(at_tick(course, k));
    course.at = std::move(at);
    course.first = std::max<Index>(0, first - 1);
    double fastest = 0.0;
    for (Index k = course.first; k <= last; ++k) {
      const Vector w = rate(course, k);
      fastest = std::max(fastest, std::sqrt(dot(w, w)));
    }
    is_faster = is_faster || fastest > course.speed;
    course.speed = std::max(kept * course.speed, more * fastest);
  }
  for (std::size_t v = 0; v < place_of_vertex_.size(); ++v) {
    if (place_of_vertex_[v] < 0) continue;
    std::vector<Bend>& path = paths_[place_of(v)];
    path.clear();
    path.push_back({from, place(v, from)});
    if (rigid_[place_of(v)].course >= 0)
      for (Index k = first + 1; static_cast<double>(k) < to; ++k)
        path.push_back({static_cast<double>(k), place(v, static_cast<double>(k))});
    path.push_back({to, place(v, to)});
  }
  return is_faster;
}

}  // namespace tempi
