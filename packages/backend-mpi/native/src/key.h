#pragma once
#include <compare>
#include <cstdint>

namespace tandem {

/// Names what ranks do together: a group and a number within it.
struct Key {
  std::uint64_t group = 0;
  std::uint64_t number = 0;
  auto operator<=>(const Key &) const = default;
};

} // namespace tandem
