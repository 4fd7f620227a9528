#pragma once
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "nccl_api.h"
#include "native_error.h"

namespace tandem::nccl {

/// One operation of a group, in device memory of this rank.
struct Message {
  bool sends;
  int peer;
  cuda::DevicePtr address;
  std::size_t byteLength;
};

/// 22803 for NCCL 2.28.3. Throws NativeError `unsupported` if NCCL cannot be loaded or is too old.
int version(const std::vector<std::string> &libraries);
/// 128 bytes that identify a communicator to all of its ranks. Throws as `version` does.
std::vector<std::uint8_t> uniqueId(const std::vector<std::string> &libraries);

/// One rank's end of a communicator over all ranks, each with one GPU, which is current in the calling
/// thread. It never blocks in NCCL, so that it notices when `broken` reports that another rank cannot
/// continue. Every member throws NativeError.
class Communicator {
public:
  /// Waits until all ranks have called this.
  Communicator(const std::vector<std::string> &libraries, const std::vector<std::uint8_t> &id, int rank, int count,
               std::function<bool()> broken, std::vector<std::string> &releaseFailures);
  /// All graphs with its operations must have been destroyed. Waits for NCCL, but not forever; adds a
  /// sentence to `releaseFailures` on failure.
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  /// One group: all of its messages make progress together. It is issued to the stream, or captured by it.
  void exchange(const std::vector<Message> &messages, cuda::Stream stream) const;
  /// Throws `peer-lost` if another rank cannot continue, or if NCCL has found an error.
  void requireWhole() const;
  /// Ends the work in progress on the GPU. Graphs may still exist: the communicator accepts no more calls,
  /// and is destroyed after them.
  void abort();

private:
  void close();
  void check(Result result, const ImportEntry &function) const;
  /// The same for a call that may continue in one of NCCL's threads: waits for it.
  void settle(Result result, const ImportEntry &function) const;

  const Library &library_;
  const std::function<bool()> broken_;
  Comm comm_ = nullptr;
  std::vector<std::string> &releaseFailures_;
  std::future<Result> gone_;
};

} // namespace tandem::nccl
