// SPDX-License-Identifier: Apache-2.0
// The instruction sets kernels are built for, and which of them this machine runs (decision 0004).
//
// A kernel is a template over the width W of its packs. One source for each set (*_baseline.cpp, *_avx2.cpp,
// *_avx512.cpp) instantiates it with that width and is compiled with that set's options; whoever wants one asks
// with_pack_width.
#pragma once

#include <string_view>

#include "tempi/core/ids.hpp"

namespace tempi {

enum class InstructionSet { baseline = 2, avx2 = 4, avx512 = 8 };  // doubles in a pack

// The widest this machine and this build have; TEMPI_INSTRUCTIONS = baseline | avx2 | avx512 in the environment asks
// for a narrower one.
InstructionSet instruction_set();
std::string_view name_of(InstructionSet set);
inline Index pack_width() { return static_cast<Index>(instruction_set()); }

// f.operator()<W>() with the width W of the set in use. For sources of the library: others do not know what was built.
template <class F>
auto with_pack_width(F&& f) {
#ifdef TEMPI_X86_KERNELS
  if (instruction_set() == InstructionSet::avx512) return f.template operator()<8>();
  if (instruction_set() == InstructionSet::avx2) return f.template operator()<4>();
#endif
  return f.template operator()<2>();
}

}  // namespace tempi
