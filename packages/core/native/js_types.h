// Types that js_values.h converts, for code without JavaScript. A struct that goes to JavaScript or comes
// from there passes each member, by its name there, to what visits it:
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
