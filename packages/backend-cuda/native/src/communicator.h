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

/// 22803 for NCCL 2.28.3. Throws NativeError `unsupported` where NCCL does not load, or is too old.
int version(const std::vector<std::string> &libraries);
/// 128 bytes that name a communicator to all of its ranks. Throws as `version`.
std::vector<std::uint8_t> uniqueId(const std::vector<std::string> &libraries);

/// One rank's end of a communicator over all ranks, each with one GPU, which is current in the calling
/// thread. It never blocks in NCCL, so that it notices when `broken` says that another rank cannot go on.
/// Every member throws NativeError.
class Communicator {
public:
  /// Waits until all ranks have come here.
  Communicator(const std::vector<std::string> &libraries, const std::vector<std::uint8_t> &id, int rank, int count,
               std::function<bool()> broken, std::vector<std::string> &releaseFailures);
  /// Graphs with its operations are gone. Waits for NCCL, but not for ever; adds a sentence to
  /// `releaseFailures` where it fails.
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  /// One group: all of its messages make progress together. It is issued to the stream, or captured by it.
  void exchange(const std::vector<Message> &messages, cuda::Stream stream) const;
  /// Throws `peer-lost` where another rank cannot go on, or NCCL has found an error.
  void requireWhole() const;
  /// Ends what is under way on the GPU. Graphs may still be there: the communicator, which takes no more
  /// calls, goes once they have gone.
  void abort();

private:
  void close();
  void check(Result result, const ImportEntry &function) const;
  /// The same for a call that may go on in a thread of NCCL's: waits for it.
  void settle(Result result, const ImportEntry &function) const;

  const Library &library_;
  const std::function<bool()> broken_;
  Comm comm_ = nullptr;
  std::vector<std::string> &releaseFailures_;
  std::future<Result> gone_;
};

} // namespace tandem::nccl
