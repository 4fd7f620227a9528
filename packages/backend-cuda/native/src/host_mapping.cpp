#include "host_mapping.h"

#include <sys/mman.h>

#include <new>

namespace tandem {

std::shared_ptr<void> mapPages(std::size_t byteLength) {
  void *address = mmap(nullptr, byteLength, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  // Results in fewer pages to lock; the system may ignore this hint.
  madvise(address, byteLength, MADV_HUGEPAGE);
  return {address, [byteLength](void *pages) { munmap(pages, byteLength); }};
}

} // namespace tandem
