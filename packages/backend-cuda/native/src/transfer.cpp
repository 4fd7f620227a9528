// Immediate transfers between device memory and ordinary host memory, dense on the host, row after row.
#include <algorithm>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "group.h"

namespace tandem {

namespace {

constexpr std::size_t stagingByteLength = std::size_t{16} << 20;
/// Below this the driver's own copy from pageable memory is as quick as staging.
constexpr std::size_t directByteLength = std::size_t{64} << 10;

/// One thread copies 7 GB/s here; page-locked memory takes 55.
constexpr std::size_t copyThreads = 4;
constexpr std::size_t byteLengthPerThread = std::size_t{2} << 20;

void copyInParallel(void *target, const void *source, std::size_t byteLength) {
  const auto threads = std::min(copyThreads, byteLength / byteLengthPerThread + 1);
  const auto share = (byteLength / threads + 63) / 64 * 64;
  const auto part = [&](std::size_t index) {
    const auto begin = std::min(byteLength, index * share);
    std::memcpy(static_cast<char *>(target) + begin, static_cast<const char *>(source) + begin,
                std::min(share, byteLength - begin));
  };
  std::vector<std::thread> others;
  for (std::size_t index = 1; index < threads; ++index) {
    try {
      others.emplace_back(part, index);
    } catch (const std::system_error &) {
      part(index);
    }
  }
  part(0);
  for (auto &thread : others) thread.join();
}

struct Chunk {
  std::size_t hostOffset;
  cuda::DevicePtr address;
  std::size_t rowByteLength;
  std::size_t rows;
  std::size_t byteLength() const { return rowByteLength * rows; }
};

} // namespace

namespace {

template <typename Visit> void forEachChunk(const TransferRegion &region, Visit visit) {
  const bool contiguous = region.rows == 1 || region.rowByteStride == region.rowByteLength;
  if (contiguous || region.rowByteLength > stagingByteLength) {
    const auto runs = contiguous ? 1 : region.rows;
    const auto runByteLength = contiguous ? region.rows * region.rowByteLength : region.rowByteLength;
    for (std::size_t run = 0; run < runs; ++run) {
      for (std::size_t offset = 0; offset < runByteLength; offset += stagingByteLength) {
        visit(Chunk{run * runByteLength + offset, region.address + run * region.rowByteStride + offset,
                    std::min(stagingByteLength, runByteLength - offset), 1});
      }
    }
    return;
  }
  const auto rowsPerChunk = stagingByteLength / region.rowByteLength;
  for (std::size_t row = 0; row < region.rows; row += rowsPerChunk) {
    visit(Chunk{row * region.rowByteLength, region.address + row * region.rowByteStride, region.rowByteLength,
                std::min(rowsPerChunk, region.rows - row)});
  }
}

cuda::Result copyChunk(const cuda::Driver &driver, const Chunk &chunk, std::size_t deviceStride, void *host, bool toDevice,
                       cuda::Stream stream) {
  if (chunk.rows == 1) {
    return toDevice ? driver.memcpyHtoDAsync(chunk.address, host, chunk.byteLength(), stream)
                    : driver.memcpyDtoHAsync(host, chunk.address, chunk.byteLength(), stream);
  }
  cuda::Memcpy2D copy{};
  copy.widthInBytes = chunk.rowByteLength;
  copy.height = chunk.rows;
  if (toDevice) {
    copy.srcMemoryType = cuda::memoryTypeHost;
    copy.srcHost = host;
    copy.srcPitch = chunk.rowByteLength;
    copy.dstMemoryType = cuda::memoryTypeDevice;
    copy.dstDevice = chunk.address;
    copy.dstPitch = deviceStride;
  } else {
    copy.srcMemoryType = cuda::memoryTypeDevice;
    copy.srcDevice = chunk.address;
    copy.srcPitch = deviceStride;
    copy.dstMemoryType = cuda::memoryTypeHost;
    copy.dstHost = host;
    copy.dstPitch = chunk.rowByteLength;
  }
  return driver.memcpy2DAsync(&copy, stream);
}

/// Two events in turn, in one GPU's context: they live as long as one transfer.
struct SlotEvents {
  explicit SlotEvents(const cuda::Gpu &gpu) : gpu(gpu), events{make(gpu), make(gpu)} {}
  void record(std::size_t slot) const {
    gpu.check(gpu.context.driver().eventRecord(events[slot].get(), gpu.stream.get()), "cuEventRecord");
  }
  void wait(std::size_t slot) const {
    gpu.check(gpu.context.driver().eventSynchronize(events[slot].get()), "cuEventSynchronize");
  }

private:
  using Event = cuda::Owned<cuda::EventKind>;
  static Event make(const cuda::Gpu &gpu) {
    return {gpu.context, "cuEventCreate", [&](cuda::Event *event) {
              return gpu.context.driver().eventCreate(event, cuda::eventDisableTiming);
            }};
  }
  const cuda::Gpu &gpu;
  const Event events[2];
};

} // namespace

void Group::prepareStaging() {
  for (auto &slot : staging_) {
    if (slot.get() == nullptr) slot = pinned(stagingByteLength, cuda::hostAllocPortable);
  }
}

void Group::write(const TransferRegion &region, const std::uint8_t *source) {
  const auto byteLength = region.byteLength();
  if (byteLength == 0) return;
  const auto &gpu = gpus_.at(region.gpu);
  const auto stream = gpu.stream.get();
  if (region.rows == 1 && byteLength <= directByteLength) {
    gpu.use();
    gpu.check(driver_.memcpyHtoDAsync(region.address, source, byteLength, stream), "cuMemcpyHtoDAsync");
    gpu.synchronize();
    return;
  }
  prepareStaging();
  gpu.use();
  const SlotEvents events(gpu);
  std::size_t count = 0;
  forEachChunk(region, [&](const Chunk &chunk) {
    const auto slot = count % 2;
    if (count >= 2) events.wait(slot);
    copyInParallel(staging_[slot].get(), source + chunk.hostOffset, chunk.byteLength());
    gpu.check(copyChunk(driver_, chunk, region.rowByteStride, staging_[slot].get(), true, stream), "cuMemcpyHtoDAsync");
    events.record(slot);
    count += 1;
  });
  gpu.synchronize();
}

void Group::read(const TransferRegion &region, std::uint8_t *target) {
  const auto byteLength = region.byteLength();
  if (byteLength == 0) return;
  const auto &gpu = gpus_.at(region.gpu);
  const auto stream = gpu.stream.get();
  if (region.rows == 1 && byteLength <= directByteLength) {
    gpu.use();
    gpu.check(driver_.memcpyDtoHAsync(target, region.address, byteLength, stream), "cuMemcpyDtoHAsync");
    gpu.synchronize();
    return;
  }
  prepareStaging();
  gpu.use();
  const SlotEvents events(gpu);
  Chunk landing[2];
  std::size_t count = 0;
  const auto land = [&](std::size_t slot) {
    events.wait(slot);
    copyInParallel(target + landing[slot].hostOffset, staging_[slot].get(), landing[slot].byteLength());
  };
  forEachChunk(region, [&](const Chunk &chunk) {
    const auto slot = count % 2;
    if (count >= 2) land(slot);
    gpu.check(copyChunk(driver_, chunk, region.rowByteStride, staging_[slot].get(), false, stream), "cuMemcpyDtoHAsync");
    events.record(slot);
    landing[slot] = chunk;
    count += 1;
  });
  for (std::size_t left = count >= 2 ? count - 2 : 0; left < count; ++left) land(left % 2);
}

} // namespace tandem
