// SPDX-License-Identifier: Apache-2.0
#include "tempi/constraint/supports.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tempi/core/error.hpp"

namespace tempi {
namespace {

bool same_motion(const Support& a, const Support& b, std::size_t c) {
  if (a.motion[c] != b.motion[c]) return false;
  return a.motion[c] != Support::Motion::prescribed || a.displacement[c]->text() == b.displacement[c]->text();
}

}  // namespace

Supports::Supports(std::vector<Support> supports, std::span<const double> points, int dim)
    : supports_(std::make_shared<const std::vector<Support>>(std::move(supports))),
      slots_(points.size() / static_cast<std::size_t>(dim), -1),
      dim_(dim) {
  const auto d = static_cast<std::size_t>(dim);
  const std::vector<Support>& all = *supports_;
  for (std::size_t s = 0; s < all.size(); ++s)
    for (const NodeId a : all[s].nodes) {
      const auto node = ordinal(a);
      if (slots_[node] < 0) {
        slots_[node] = static_cast<std::int32_t>(held_.size());
        held_.push_back(a);
        carried_.push_back({none, none, none});
        points_.insert(points_.end(), points.begin() + static_cast<std::ptrdiff_t>(node * d),
                       points.begin() + static_cast<std::ptrdiff_t>((node + 1) * d));
      }
      auto& carried = carried_[static_cast<std::size_t>(slots_[node])];
      for (std::size_t c = 0; c < d; ++c) {
        if (all[s].motion[c] == Support::Motion::free) continue;
        if (carried[c] == none) carried[c] = static_cast<std::int32_t>(s);
        const Support& first = all[static_cast<std::size_t>(carried[c])];
        if (!same_motion(first, all[s], c))
          throw InputError(fmt::format(
              "the supports '{}' and '{}' want different things of component {} of the node at ({:.6g}). Give each "
              "component of a node to one of them.",
              first.name, all[s].name, "xyz"[c], fmt::join(points.subspan(node * d, d), ", ")));
      }
    }
}

Supports Supports::of(std::span<const NodeId> nodes) const {
  Supports part;
  part.supports_ = supports_;
  part.dim_ = dim_;
  part.slots_.assign(nodes.size(), -1);
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    if (!holds(nodes[a])) continue;
    part.slots_[a] = static_cast<std::int32_t>(part.held_.size());
    part.held_.push_back(make_id<NodeId>(static_cast<Index>(a)));
    part.carried_.push_back(carried_[static_cast<std::size_t>(slots_[ordinal(nodes[a])])]);
    const auto X = point(nodes[a]);
    part.points_.insert(part.points_.end(), X.begin(), X.end());
  }
  return part;
}

bool Supports::moves(NodeId a) const {
  for (int c = 0; c < dim_; ++c)
    if (const Expression* f = prescribed(a, c); f != nullptr && f->depends_on_time()) return true;
  return false;
}

std::int32_t Supports::support_of(NodeId a, int component) const {
  if (!holds(a)) return none;
  const auto slot = static_cast<std::size_t>(slots_[ordinal(a)]);
  return carried_[slot][static_cast<std::size_t>(component)];
}

const Expression* Supports::prescribed(NodeId a, int component) const {
  const std::int32_t s = support_of(a, component);
  if (s == none) return nullptr;
  const auto& displacement = (*this)[s].displacement[static_cast<std::size_t>(component)];
  return displacement ? &*displacement : nullptr;
}

std::span<const double> Supports::point(NodeId a) const {
  const auto slot = static_cast<std::size_t>(slots_[ordinal(a)]);
  return std::span(points_).subspan(slot * static_cast<std::size_t>(dim_), static_cast<std::size_t>(dim_));
}

std::vector<SupportPath> Supports::paths(std::span<const Component> of) const {
  struct Course {
    std::int32_t support;
    int component;
    std::vector<std::size_t> places{};
    std::vector<double> X{};
  };
  std::vector<Course> courses;
  for (std::size_t k = 0; k < of.size(); ++k) {
    const auto [a, component] = of[k];
    if (!is_prescribed(a, component)) continue;
    const std::int32_t s = support_of(a, component);
    auto course = std::ranges::find_if(courses, [&](const Course& known) {
      return known.support == s && known.component == component;
    });
    if (course == courses.end()) course = courses.insert(course, {s, component});
    course->places.push_back(k);
    const auto X = point(a);
    course->X.insert(course->X.end(), X.begin(), X.end());
    course->X.resize(3 * course->places.size(), 0.0);
  }
  std::vector<SupportPath> paths;
  for (Course& course : courses)
    paths.push_back(
        {course.support, course.component, std::move(course.places),
         ExpressionAtPoints(*(*this)[course.support].displacement[static_cast<std::size_t>(course.component)],
                            std::move(course.X), "prescribed displacement")});
  return paths;
}

std::optional<double> Supports::displacement(NodeId a, int component, double t) const {
  const Expression* f = prescribed(a, component);
  if (f == nullptr) return std::nullopt;
  return finite_value(*f, point(a), t, "prescribed displacement");
}

double Supports::velocity(NodeId a, int component, double t, double delta) const {
  const Expression* f = prescribed(a, component);
  if (f == nullptr) return 0.0;
  const double v = time_derivative(*f, point(a), t, delta);
  if (!std::isfinite(v))
    throw SolveError(
        fmt::format("the prescribed displacement \"{}\" has the velocity {} at X = ({:.6g}), t = {:.6g} s. "
                    "Correct the expression.",
                    f->text(), v, fmt::join(point(a), ", "), t));
  return v;
}

double Supports::acceleration(NodeId a, int component, double t, double delta) const {
  const Expression* f = prescribed(a, component);
  return f == nullptr ? 0.0 : second_time_derivative(*f, point(a), t, delta);
}

}  // namespace tempi
