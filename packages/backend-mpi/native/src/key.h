#pragma once
#include <compare>
#include <cstdint>

namespace tandem {

/// Identifies an operation that ranks do together: a group and a number within it.
struct Key {
  std::uint64_t group = 0;
  std::uint64_t number = 0;
  auto operator<=>(const Key &) const = default;
};

} // namespace tandem
