#pragma once
#include <cstddef>
#include <memory>

namespace tandem {

/// Anonymous pages, unmapped with the last owner: page-locking works on whole pages, so these share none with
/// the heap. They cost nothing until touched or page-locked. Throws std::bad_alloc.
std::shared_ptr<void> mapPages(std::size_t byteLength);

} // namespace tandem
