// SPDX-License-Identifier: Apache-2.0
// Compiled with -ffast-math, without which GCC does not take the vector forms: nothing else may stand here.
#include "tempi/core/vector_functions.hpp"

#include <cmath>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TEMPI_FOR_EVERY_PROCESSOR __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define TEMPI_FOR_EVERY_PROCESSOR
#endif

namespace tempi {

// Eight by eight, so that no rest is left to the scalar form, which rounds otherwise. (GCC 12 takes no vector form in
// what it has inlined into a clone.)
#define TEMPI_VECTOR_FUNCTION(name, arguments, value) \
  TEMPI_FOR_EVERY_PROCESSOR void name arguments {     \
    for (std::size_t i = 0; i < n; i += 8)            \
      for (std::size_t j = 0; j < 8; ++j) {           \
        const std::size_t k = i + j;                  \
        y[k] = value;                                 \
      }                                               \
  }
TEMPI_VECTOR_FUNCTION(vector_sin, (const double* __restrict x, std::size_t n, double* __restrict y), std::sin(x[k]))
TEMPI_VECTOR_FUNCTION(vector_cos, (const double* __restrict x, std::size_t n, double* __restrict y), std::cos(x[k]))
TEMPI_VECTOR_FUNCTION(vector_tanh, (const double* __restrict x, std::size_t n, double* __restrict y), std::tanh(x[k]))
TEMPI_VECTOR_FUNCTION(vector_exp, (const double* __restrict x, std::size_t n, double* __restrict y), std::exp(x[k]))
TEMPI_VECTOR_FUNCTION(vector_log, (const double* __restrict x, std::size_t n, double* __restrict y), std::log(x[k]))
TEMPI_VECTOR_FUNCTION(vector_sqrt, (const double* __restrict x, std::size_t n, double* __restrict y), std::sqrt(x[k]))
TEMPI_VECTOR_FUNCTION(vector_pow,
                      (const double* __restrict x, const double* __restrict exponent, std::size_t n,
                       double* __restrict y),
                      std::pow(x[k], exponent[k]))

}  // namespace tempi
