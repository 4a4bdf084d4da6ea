// SPDX-License-Identifier: Apache-2.0
// An update in steady state asks nobody for memory. All of this executable's allocations are counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "support/damping.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEMPI_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEMPI_TEST_SANITIZED 1
#endif
#endif

namespace {
std::atomic<long> allocations{0};
}

// With glibc every allocation, Eigen's and operator new's, goes through malloc; sanitizers keep theirs, uncounted.
#if defined(TEMPI_TEST_SANITIZED)
constexpr bool counted = false;
#elif defined(__GLIBC__)
constexpr bool counted = true;
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void* malloc(std::size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
}
#else
constexpr bool counted = true;
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size > 0 ? size : 1);
}
void* operator new(std::size_t size) {
  if (void* p = operator new(size, std::nothrow)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
#endif

namespace tempi::test {
namespace {

class Allocations : public testing::Test {
 protected:
  void SetUp() override {
    if (!counted) GTEST_SKIP() << "a sanitizer counts for itself";
  }
};
using AllocationCounter = Allocations;
using SteadyState = Allocations;

TEST_F(AllocationCounter, Counts) {
  const long before = allocations;
  auto number = std::make_unique<double>(1.0);
  EXPECT_GT(allocations, before);
  EXPECT_EQ(*number, 1.0);
}

void hold_and_load(const Mesh& mesh, Model::Parts& parts) {
  std::vector<Support> supports;
  supports.push_back(moving("left", nodes_of(mesh, "left"), {"0.02*sin(t)", "0.01*Y*t", "-0.01*t*t"}, mesh.dim()));
  parts.supports = Supports(std::move(supports), mesh.points(), mesh.dim());
  add_force(parts, make_gravity(mesh, cells_of(parts), {}, formulas({"0.1", "-0.2*cos(t)", "0.1*X"}, mesh.dim())));
  add_force(parts, make_traction(mesh, facets_of(mesh, "right"), formulas({"0.01*t", "0.02", "0"}, mesh.dim())));
  add_force(parts, make_pressure(mesh, facets_of(mesh, "right"), Expression("0.02*(1+sin(t))", Constants{}),
                                 PressureFrame::deformed));
}

// 200 updates of every term: the stability check, every 64th, is among them.
TEST_F(SteadyState, OfEveryElementAndMethodAllocatesNothing) {
  for (const MeshCase& mesh : mesh_cases())
    for (const Material& material : materials())
      for (const Method& method : methods())
        for (const bool loaded : {false, true}) {
          SCOPED_TRACE(mesh.name + " " + name_of(material) + " " + method.name + (loaded ? " loaded and damped" : ""));
          const Body body = make_body_with(mesh.make(), material, 1.2, [&](const Mesh& m, Model::Parts& parts) {
            if (!loaded) return;
            hold_and_load(m, parts);
            host(parts, make_kelvin_voigt(cells_of(parts), {0.02, 0.01}));
          });
          const std::vector<double> steps = own_steps(*body.model, 0.3);
          const auto integrator = method.make(*body.model, steps);
          State state = moving_state(body, 0.02, 0.01, 5);
          const double h = *std::ranges::max_element(steps);
          integrator->advance_to(state, 2.0 * h);
          const long before = allocations;
          integrator->advance_to(state, 72.0 * h);
          EXPECT_EQ(allocations - before, 0);
        }
}

// 20250 tetrahedra: enough for the threads to share the work.
TEST_F(SteadyState, OnALatticeAllocatesNothingWithAnyNumberOfThreads) {
  for (const bool loaded : {false, true}) {
    const Body body = make_body_with(tetrahedron_mesh(CellType::tetrahedron4, 15, 0.15, 21), materials().front(), 1.2,
                                     [&](const Mesh& mesh, Model::Parts& parts) {
                                       if (loaded) hold_and_load(mesh, parts);
                                     });
    for (const LatticeRule rule : {LatticeRule::any, LatticeRule::powers_of_two}) {
      const TickLattice lattice = lattice_of(own_steps(*body.model, 0.3), rule);
      for (const int threads : {1, 2}) {
        SCOPED_TRACE(testing::Message() << (rule == LatticeRule::any ? "any, " : "powers of two, ") << threads
                                        << " threads" << (loaded ? ", loaded" : ""));
        AviLattice avi(*body.model, lattice, {.threads = threads});
        State state = moving_state(body, 0.02, 0.01, 5);
        avi.advance_to(state, 2.5 * lattice.tick);
        const long before = allocations;
        avi.advance_to(state, 30.5 * lattice.tick);
        EXPECT_EQ(allocations - before, 0);
      }
    }
  }
}

}  // namespace
}  // namespace tempi::test
