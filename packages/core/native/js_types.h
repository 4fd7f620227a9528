// Types that js_values.h converts, for code that does not use JavaScript. A struct that is passed to or from
// JavaScript has a function that calls `visit` with the JavaScript name and the value of each member:
//   template <typename Self, typename Visit>
//   static void eachMember(Self &self, Visit visit) { visit("data", self.data); … }
#pragma once
#include <cstddef>
#include <cstdint>

namespace tandem {

/// Memory of an ArrayBuffer, to which the user of this struct keeps a reference.
struct HostBytes {
  std::uint8_t *data;
  std::size_t byteLength;
};

} // namespace tandem
