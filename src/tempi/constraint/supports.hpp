// SPDX-License-Identifier: Apache-2.0
// Supports (Dirichlet conditions): components of nodes that rest where they start, or move as prescribed.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tempi/core/expression.hpp"
#include "tempi/core/ids.hpp"
#include "tempi/mesh/mesh.hpp"

namespace tempi {

// One support, as the user gave it. A component is free, at rest, or has a prescribed displacement u(X, t) [m].
struct Support {
  enum class Motion { free, at_rest, prescribed };
  std::string name;
  std::vector<NodeId> nodes;
  std::array<Motion, 3> motion{Motion::free, Motion::free, Motion::free};
  std::array<std::optional<Expression>, 3> displacement{};  // set where prescribed
};

// Components of nodes that a support moves as one formula says, and the formula at these nodes.
struct SupportPath {
  std::int32_t support;
  int component;
  std::vector<std::size_t> places;  // of the components in the list they were looked for in, ascending
  ExpressionAtPoints displacement;  // [m], in this order
};

// All supports of a model, addressed by node. Copies share the formulas, which cannot be copied.
class Supports {
 public:
  Supports() = default;
  // `points`: reference positions, dim components a node. Throws InputError where two supports want different things of
  // the same component of a node; where they agree the first one carries it.
  Supports(std::vector<Support> supports, std::span<const double> points, int dim);

  // Those of a part of the nodes, whose node a is here nodes[a]; the same supports, in the same order.
  Supports of(std::span<const NodeId> nodes) const;

  Index size() const { return static_cast<Index>(supports_->size()); }
  const Support& operator[](Index s) const { return (*supports_)[static_cast<std::size_t>(s)]; }

  bool holds(NodeId a) const { return !slots_.empty() && slots_[ordinal(a)] >= 0; }
  bool moves(NodeId a) const;  // some component of the node is prescribed as a function of time
  std::span<const NodeId> held_nodes() const { return held_; }

  bool is_prescribed(NodeId a, int component) const { return prescribed(a, component) != nullptr; }

  static constexpr std::int32_t none = -1;
  std::int32_t support_of(NodeId a, int component) const;  // which support carries the component, or none

  struct Component {
    NodeId node;
    int component;
  };
  std::vector<SupportPath> paths(std::span<const Component> of) const;  // of those that are prescribed

  // Prescribed motion; `delta` [s]: spacing of the differences that give the derivatives. Empty where the component is
  // at rest. Throws SolveError when the formula is not finite.
  std::optional<double> displacement(NodeId a, int component, double t) const;  // [m]
  double velocity(NodeId a, int component, double t, double delta) const;       // [m/s], 0 at rest
  double acceleration(NodeId a, int component, double t, double delta) const;   // [m/s^2], 0 at rest

 private:
  const Expression* prescribed(NodeId a, int component) const;
  std::span<const double> point(NodeId a) const;

  std::shared_ptr<const std::vector<Support>> supports_ = std::make_shared<std::vector<Support>>();
  std::vector<std::int32_t> slots_;                   // node -> place in carried_, or -1
  std::vector<std::array<std::int32_t, 3>> carried_;  // support of each component, or none
  std::vector<NodeId> held_;
  std::vector<double> points_;  // of the held nodes
  int dim_ = 0;
};

}  // namespace tempi
