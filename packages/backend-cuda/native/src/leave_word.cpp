#include "leave_word.h"

#include <cstring>

namespace tandem::cuda {

namespace {

constexpr std::size_t wordCount = 4;

} // namespace

LeaveWord::LeaveWord(const Gpu &gpu, void *hostWord)
    : gpu_(gpu), memory_(gpu, wordCount * sizeof(std::uint32_t)),
      values_(gpu.context, gpu.context.driver().memHostAlloc, (wordCount + 1) * sizeof(std::uint32_t), hostAllocPortable),
      stream_(gpu.context, gpu.context.driver().streamCreate, streamNonBlocking, 0),
      ready_(gpu.context, gpu.context.driver().eventCreate, eventDisableTiming) {
  auto *values = static_cast<std::uint32_t *>(values_.get());
  *static_cast<std::uint32_t *>(hostWord) = 0;
  values[0] = values[1] = 0;
  std::memcpy(values + 2, &hostWord, sizeof hostWord);
  values[wordCount] = 1;
  gpu.call(gpu.context.driver().memcpyHtoDAsync, address(), values, wordCount * sizeof *values, gpu.stream.get());
  gpu.record(ready_);
}

void LeaveWord::write(bool leave) const {
  const auto &driver = gpu_.context.driver();
  driver.ctxSetCurrent(gpu_.context.handle());
  driver.streamWaitEvent(stream_.get(), ready_.get(), 0);
  driver.memcpyHtoDAsync(address(), static_cast<const std::uint32_t *>(values_.get()) + (leave ? wordCount : 0), sizeof(std::uint32_t), stream_.get());
  driver.streamSynchronize(stream_.get());
}

} // namespace tandem::cuda
