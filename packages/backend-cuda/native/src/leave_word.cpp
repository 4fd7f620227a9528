#include "leave_word.h"

#include <cstring>

namespace tandem::cuda {

LeaveWord::LeaveWord(const Gpu &gpu, HostLeaveWord &host) : memory_(gpu, sizeof host.start) {
  const void *hostWord = &host.word;
  host.word = host.start[0] = host.start[1] = 0;
  host.leave = 1;
  std::memcpy(host.start + 2, &hostWord, sizeof hostWord);
  gpu.call(gpu.context.driver().memcpyHtoDAsync, address(), host.start, sizeof host.start, gpu.stream.get());
}

WrittenLeaveWord::WrittenLeaveWord(const Gpu &gpu, HostLeaveWord &host)
    : gpu_(gpu), host_(host), word_(gpu, host), stream_(gpu.context, gpu.context.driver().streamCreate, streamNonBlocking, 0),
      ready_(gpu.context, gpu.context.driver().eventCreate, eventDisableTiming) {
  gpu.record(ready_);
}

void WrittenLeaveWord::write(bool leave) const {
  const auto &driver = gpu_.context.driver();
  driver.ctxSetCurrent(gpu_.context.handle());
  driver.streamWaitEvent(stream_.get(), ready_.get(), 0);
  driver.memcpyHtoDAsync(address(), leave ? &host_.leave : host_.start, sizeof host_.leave, stream_.get());
  driver.streamSynchronize(stream_.get());
}

} // namespace tandem::cuda
