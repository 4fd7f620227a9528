#include "host_mapping.h"

#include <sys/mman.h>

#include <new>

namespace tandem {

HostMapping::HostMapping(std::size_t byteLength) : byteLength_(byteLength) {
  address_ = mmap(nullptr, byteLength, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address_ == MAP_FAILED) throw std::bad_alloc();
  // Fewer pages to lock; a hint that may be refused.
  madvise(address_, byteLength, MADV_HUGEPAGE);
}

HostMapping::~HostMapping() { munmap(address_, byteLength_); }

} // namespace tandem
