// SPDX-License-Identifier: Apache-2.0
// FNV-1a, 64 bits: a fingerprint of bytes, to tell whether two things are the same. Not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tempi {

// `before`: the fingerprint of what came before; 0 at the start.
constexpr std::uint64_t fnv1a(std::span<const std::byte> bytes, std::uint64_t before = 0) {
  std::uint64_t hash = before == 0 ? 0xcbf29ce484222325U : before;
  for (const std::byte b : bytes) hash = (hash ^ static_cast<std::uint64_t>(b)) * 0x100000001b3U;
  return hash;
}

}  // namespace tempi
