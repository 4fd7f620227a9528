// Types that js_values.h converts, for code without JavaScript.
#pragma once
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace tandem {

/// Memory of an ArrayBuffer, to which the user of this struct keeps a reference.
struct HostBytes {
  std::uint8_t *data;
  std::size_t byteLength;
};

constexpr std::tuple<> namedMembers() { return {}; }
/// Names and members in turn. A struct that goes to JavaScript or comes from there has them as `members`.
template <typename Member, typename... Rest> constexpr auto namedMembers(const char *name, Member member, Rest... rest) {
  return std::tuple_cat(std::make_tuple(std::make_pair(name, member)), namedMembers(rest...));
}

} // namespace tandem
