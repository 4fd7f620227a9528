#include "leave_word.h"

namespace tandem::cuda {

LeaveWord::LeaveWord(const Gpu &gpu)
    : gpu_(gpu), memory_(gpu, sizeof(std::uint32_t)),
      values_(gpu.context, gpu.context.driver().memHostAlloc, 2 * sizeof(std::uint32_t), hostAllocPortable),
      stream_(gpu.context, gpu.context.driver().streamCreate, streamNonBlocking, 0),
      ready_(gpu.context, gpu.context.driver().eventCreate, eventDisableTiming) {
  auto *values = static_cast<std::uint32_t *>(values_.get());
  values[0] = 0;
  values[1] = 1;
  gpu.call(gpu.context.driver().memcpyHtoDAsync, address(), values, sizeof *values, gpu.stream.get());
  gpu.record(ready_);
}

void LeaveWord::write(bool leave) const {
  const auto &driver = gpu_.context.driver();
  driver.ctxSetCurrent(gpu_.context.handle());
  driver.streamWaitEvent(stream_.get(), ready_.get(), 0);
  driver.memcpyHtoDAsync(address(), static_cast<const std::uint32_t *>(values_.get()) + (leave ? 1 : 0), sizeof(std::uint32_t), stream_.get());
  driver.streamSynchronize(stream_.get());
}

} // namespace tandem::cuda
