// The word that running kernels look at.
#pragma once

#include <cstdint>

#include "cuda_handles.h"

namespace tandem::cuda {

/// What a LeaveWord needs in page-locked, mapped memory, which outlives the kernels.
struct HostLeaveWord {
  /// Kernels with loops that may run long fetch it once a millisecond.
  std::uint32_t word;
  /// What is copied into the GPU's memory: `leave` is 1, and `start` all four words.
  std::uint32_t leave;
  std::uint32_t start[4];
};

/// A word in a GPU's own memory at which kernels look, to leave once it is not 0. They do not look at the
/// host's since the looks of thousands of warps wait for the bus: 0.5 µs each on an H200, one after the
/// other. The host's, once a millisecond, makes them leave also while calls of the driver wait for them.
class LeaveWord {
public:
  /// Both words are 0 for what comes next in the GPU's stream. Throws NativeError.
  LeaveWord(const Gpu &gpu, HostLeaveWord &host);
  LeaveWord(const LeaveWord &) = delete;
  DevicePtr address() const { return memory_.address(); }

private:
  const Allocation memory_;
};

/// A LeaveWord that the host writes, which takes a stream of its own.
class WrittenLeaveWord {
public:
  WrittenLeaveWord(const Gpu &gpu, HostLeaveWord &host);
  WrittenLeaveWord(const WrittenLeaveWord &) = delete;
  DevicePtr address() const { return word_.address(); }
  /// Returns when the word is written, whatever the GPU's stream does meanwhile: on any thread. Failures are
  /// those of a lost context, whose kernels have ended.
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
