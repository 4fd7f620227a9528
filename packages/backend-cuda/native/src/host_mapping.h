#pragma once
#include <cstddef>
#include <memory>

namespace tandem {

/// Anonymous pages, unmapped with the last owner. Page-locking works on whole pages, so these are not shared
/// with the heap. They cost nothing until they are touched or page-locked. Throws std::bad_alloc.
std::shared_ptr<void> mapPages(std::size_t byteLength);

} // namespace tandem
