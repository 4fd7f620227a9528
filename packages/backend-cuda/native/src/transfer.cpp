// Immediate transfers between device memory and ordinary host memory, which is dense and row-major.
#include <algorithm>
#include <cstring>
#include <system_error>
#include <thread>
#include <vector>

#include "group.h"

namespace tandem {

namespace {

constexpr std::size_t stagingByteLength = std::size_t{16} << 20;
/// Transfers up to this size do without locking so much.
constexpr std::size_t smallByteLength = std::size_t{64} << 10;
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

/// The driver copies rows that are at most this many bytes apart.
constexpr std::size_t largestPitch = 0x7fffffff;

struct Chunk {
  std::size_t hostOffset;
  cuda::DevicePtr address;
  std::size_t rowByteLength;
  std::size_t rows;
  std::size_t byteLength() const { return rowByteLength * rows; }
};

bool isContiguous(const TransferRegion &region) { return region.rows == 1 || region.rowByteStride == region.rowByteLength; }

/// Whether one copy moves several rows.
bool copiesRows(const TransferRegion &region) {
  return !isContiguous(region) && region.rowByteLength <= stagingByteLength && region.rowByteStride <= largestPitch;
}

template <typename Visit> void forEachChunk(const TransferRegion &region, Visit visit) {
  const bool contiguous = isContiguous(region);
  if (!copiesRows(region)) {
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

} // namespace

void Group::transfer(const TransferRegion &region, const HostBytes &host, bool toDevice) {
  const auto byteLength = region.byteLength();
  if (host.byteLength != byteLength) {
    throw NativeError("validation", "A transfer of " + std::to_string(byteLength) + " bytes gets " +
                                        std::to_string(host.byteLength) + " bytes of host memory.");
  }
  if (byteLength == 0) return;
  settleQueues();
  const auto &gpu = gpus_.at(region.gpu);
  const auto copy = [&](const Chunk &chunk, void *memory) {
    const auto stream = gpu.stream.get();
    const cuda::CopySide side{true, reinterpret_cast<std::uintptr_t>(memory), chunk.rowByteLength};
    const cuda::CopySide device{false, chunk.address, region.rowByteStride};
    if (chunk.rows > 1) {
      const auto rows = cuda::rowCopy(toDevice ? side : device, toDevice ? device : side, chunk.rowByteLength, chunk.rows);
      gpu.call(driver_.memcpy3DAsync, &rows, stream);
    } else if (toDevice) {
      gpu.call(driver_.memcpyHtoDAsync, chunk.address, memory, chunk.byteLength(), stream);
    } else {
      gpu.call(driver_.memcpyDtoHAsync, memory, chunk.address, chunk.byteLength(), stream);
    }
  };
  // In one chunk.
  const bool small = byteLength <= smallByteLength && (isContiguous(region) || copiesRows(region));
  const auto memory = [&](std::size_t slot) -> void * {
    auto &staging = small ? smallStaging_ : staging_[slot];
    if (staging.get() == nullptr) staging = pinned(small ? smallByteLength : stagingByteLength, cuda::hostAllocPortable);
    return staging.get();
  };
  Chunk chunks[2];
  std::size_t count = 0;
  // Once the caller's environment closes, its memory is freed. Therefore the driver accesses only staging
  // memory, and the environment is checked before each part is copied from or to the caller's memory.
  const auto requireCaller = [&] {
    if (stopping_()) throw NativeError("group-lost", "The thread that requested the transfer has ended.");
  };
  const auto land = [&](std::size_t slot) {
    gpu.call(driver_.eventSynchronize, gpu.turns[slot].get());
    tendQueues();
    if (toDevice) return;
    requireCaller();
    copyInParallel(host.data + chunks[slot].hostOffset, memory(slot), chunks[slot].byteLength());
  };
  forEachChunk(region, [&](const Chunk &chunk) {
    const auto slot = count % 2;
    if (count >= 2) land(slot);
    auto *const staging = memory(slot);
    gpu.use();
    if (toDevice) {
      requireCaller();
      copyInParallel(staging, host.data + chunk.hostOffset, chunk.byteLength());
    }
    copy(chunk, staging);
    gpu.record(gpu.turns[slot]);
    chunks[slot] = chunk;
    count += 1;
  });
  if (toDevice) gpu.synchronize();
  else for (std::size_t left = count >= 2 ? count - 2 : 0; left < count; ++left) land(left % 2);
}

} // namespace tandem
