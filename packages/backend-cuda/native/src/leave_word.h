// The word that running kernels check.
#pragma once

#include <cstdint>

#include "cuda_handles.h"

namespace tandem::cuda {

/// The part of a LeaveWord in page-locked, mapped memory, which outlives the kernels.
struct HostLeaveWord {
  /// Kernels with loops that may run long read it once a millisecond.
  std::uint32_t word;
  /// The values that are copied into the GPU's memory: `leave` is 1, and `start` is all four words.
  std::uint32_t leave;
  std::uint32_t start[4];
};

/// A word in a GPU's own memory that kernels check, to leave once it is not 0. Checking a word in host memory
/// instead would be slow, since the reads of thousands of warps wait for the bus: 0.5 µs each on an H200, one
/// after the other. The word in host memory, read once a millisecond, also ends kernels while driver calls
/// are waiting for them.
class LeaveWord {
public:
  /// Sets both words to 0 for the subsequent work in the GPU's stream. Throws NativeError.
  LeaveWord(const Gpu &gpu, HostLeaveWord &host);
  LeaveWord(const LeaveWord &) = delete;
  DevicePtr address() const { return memory_.address(); }

private:
  const Allocation memory_;
};

/// A LeaveWord that the host writes, which needs a separate stream.
class WrittenLeaveWord {
public:
  WrittenLeaveWord(const Gpu &gpu, HostLeaveWord &host);
  WrittenLeaveWord(const WrittenLeaveWord &) = delete;
  DevicePtr address() const { return word_.address(); }
  /// Returns when the word is written, whatever the GPU's stream is doing; callable from any thread. Fails
  /// only for a lost context, whose kernels have ended.
  void write(bool leave) const;

private:
  const Gpu &gpu_;
  const HostLeaveWord &host_;
  const LeaveWord word_;
  const OwnedStream stream_;
  /// Recorded in the GPU's stream when the memory is there.
  const OwnedEvent ready_;
};

} // namespace tandem::cuda
