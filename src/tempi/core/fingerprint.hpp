// SPDX-License-Identifier: Apache-2.0
// A fingerprint of bytes, 64 bits, to tell whether two things are the same; eight bytes a step, so some 4 GB/s. Each
// step is a bijection of what came before and of its word: two sequences that differ in one word never agree. Not for
// secrets.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tempi {

// `before`: the fingerprint of what came before; 0 at the start.
inline std::uint64_t fingerprint(std::span<const std::byte> bytes, std::uint64_t before = 0) {
  constexpr std::uint64_t start = 0xcbf29ce484222325U, odd = 0x9e3779b97f4a7c15U;
  std::uint64_t hash = before == 0 ? start : before;
  const auto mix = [&](std::uint64_t word) {
    hash = (hash ^ word) * odd;  // carries upwards only
    hash ^= hash >> 32;
  };
  mix(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    mix(word);
  }
  return hash;
}

}  // namespace tempi
