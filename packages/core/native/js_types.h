// Types that js_values.h converts, for code that does not use JavaScript. A struct that is passed to or from
// JavaScript lists its members, which have the same names there: NAMED_MEMBERS(data, byteLength)
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

namespace tandem {

#define NAMED_MEMBERS(...)                                                                                   \
  static constexpr std::string_view memberNames = #__VA_ARGS__;                                              \
  auto members() { return std::tie(__VA_ARGS__); }                                                           \
  auto members() const { return std::tie(__VA_ARGS__); }

/// Calls `visit(name, member)` for each named member, in order.
template <typename Type, typename Visit> void eachMember(Type &value, Visit visit) {
  std::string_view names = Type::memberNames;
  const auto next = [&names] {
    const auto length = names.find(", ");
    const std::string name(names.substr(0, length));
    names = length == names.npos ? "" : names.substr(length + 2);
    return name;
  };
  std::apply([&](auto &...member) { (visit(next(), member), ...); }, value.members());
}

/// Memory of an ArrayBuffer, to which the user of this struct keeps a reference.
struct HostBytes {
  std::uint8_t *data;
  std::size_t byteLength;
};

} // namespace tandem
