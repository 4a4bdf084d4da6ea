// SPDX-License-Identifier: Apache-2.0
#include "tempi/simd/instruction_set.hpp"

#include <cstdlib>

namespace tempi {

InstructionSet instruction_set() {
#ifdef TEMPI_X86_KERNELS
  const char* wish = std::getenv("TEMPI_INSTRUCTIONS");
  const std::string_view limit = wish != nullptr ? wish : "";
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (limit == "baseline" || !avx2) return InstructionSet::baseline;
  return limit == "avx2" || !avx512 ? InstructionSet::avx2 : InstructionSet::avx512;
#else
  return InstructionSet::baseline;
#endif
}

std::string_view name_of(InstructionSet set) {
  return set == InstructionSet::avx512 ? "avx512" : set == InstructionSet::avx2 ? "avx2" : "baseline";
}

}  // namespace tempi
