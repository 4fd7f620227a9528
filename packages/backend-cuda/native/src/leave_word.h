// The word that running kernels look at.
#pragma once

#include "cuda_handles.h"

namespace tandem::cuda {

/// A word in a GPU's own memory at which kernels look, to leave once it is not 0. They do not look at the host's since the looks of thousands of
/// warps wait for the bus: 0.5 µs each on an H200, one after the other. Kernels with loops that may run long fetch the host's once a millisecond:
/// they leave also while calls of the driver wait for them.
class LeaveWord {
public:
  /// Both words are 0 for what comes next in the GPU's stream; `hostWord`, page-locked and mapped, outlives the kernels. Throws NativeError.
  LeaveWord(const Gpu &gpu, void *hostWord);
  LeaveWord(const LeaveWord &) = delete;
  DevicePtr address() const { return memory_.address(); }
  /// Returns when the word is written, whatever the GPU's stream does meanwhile: on any thread. Failures are those of a lost context, whose kernels have ended.
  void write(bool leave) const;

private:
  const Gpu &gpu_;
  const Allocation memory_;
  /// What is copied: the four words at the start, and 1.
  const HostMemory values_;
  const OwnedStream stream_;
  /// Recorded in the GPU's stream when the memory is there.
  const OwnedEvent ready_;
};

} // namespace tandem::cuda
