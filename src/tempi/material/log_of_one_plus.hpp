// SPDX-License-Identifier: Apache-2.0
// ln(1 + x), and what it falls short of x without cancellation; packs have their own (simd/pack.hpp).
#pragma once

#include <cmath>

namespace tempi {
namespace material_detail {

// x - ln(1 + x), by ln(1 + x) = 2 atanh(s) with s = x / (2 + x) near x = 0. `log`: ln(1 + x).
template <class T>
T excess_over_log(const T& x, const T& log) {
  if (!(x * x < T(0.04))) return x - log;
  const T s = x / (T(2.0) + x), s2 = s * s;
  T series = T(1.0 / 17.0);
  for (int k = 15; k >= 3; k -= 2) series = series * s2 + T(1.0 / k);
  return s * x - T(2.0) * s * s2 * series;
}
template <class T>
T excess_over_log(const T& x) {
  using std::log1p;
  return excess_over_log(x, log1p(x));
}

}  // namespace material_detail

template <class T>
struct LogOfOnePlus {
  T x, log;
  T excess() const { return material_detail::excess_over_log(x, log); }  // x - ln(1 + x)
};
template <class T>
LogOfOnePlus<T> log_of_one_plus(const T& x) {
  using std::log1p;
  return {x, log1p(x)};
}

}  // namespace tempi
