#pragma once
#include <cstddef>

namespace tandem {

/// Anonymous pages of their own, unmapped at destruction: page-locking works on whole pages, so these share none with the heap.
class HostMapping {
public:
  /// Throws std::bad_alloc. Pages cost nothing until touched or page-locked.
  explicit HostMapping(std::size_t byteLength);
  ~HostMapping();
  HostMapping(const HostMapping &) = delete;
  HostMapping &operator=(const HostMapping &) = delete;
  void *address() const { return address_; }
  std::size_t byteLength() const { return byteLength_; }

private:
  void *address_;
  std::size_t byteLength_;
};

} // namespace tandem
