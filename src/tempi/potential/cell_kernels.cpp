// SPDX-License-Identifier: Apache-2.0
#include "tempi/potential/cell_kernels.hpp"

#include <cstdlib>
#include <string_view>

namespace tempi {

const CellKernels& cell_kernels() {
#ifdef TEMPI_X86_KERNELS
  const char* wish = std::getenv("TEMPI_INSTRUCTIONS");
  const std::string_view limit = wish != nullptr ? wish : "";
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (limit == "baseline" || !avx2) return baseline_kernels();
  return limit == "avx2" || !avx512 ? avx2_kernels() : avx512_kernels();
#else
  return baseline_kernels();
#endif
}

}  // namespace tempi
