// SPDX-License-Identifier: Apache-2.0
// Letter case of ASCII text, whatever the locale; other bytes are left alone.
#pragma once

#include <string>
#include <string_view>

namespace tempi {

inline std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

inline std::string upper_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return result;
}

}  // namespace tempi
