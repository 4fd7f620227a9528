#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "js_types.h"

namespace tandem::mpi {

enum class Family { openMpi, mpich, standardAbi };

/// "Open MPI", "MPICH" or "the MPI 5 ABI".
const char *familyName(Family family);

/// An MPI library that is open but not started.
struct Library {
  void *handle = nullptr;
  std::string path;
  Family family = Family::openMpi;
  /// First line of MPI_Get_library_version.
  std::string version;
  /// Whether messages may come from device memory, if the library reports this before it is started.
  std::optional<bool> gpuAware;
};

/// Whether messages may come from CUDA device memory, and the function or info key that reports it.
struct GpuSupport {
  bool supported;
  std::string asked;
  NAMED_MEMBERS(supported, asked)
};

/// Opens the first usable library of `candidates` and never closes it: a second MPI in one process would
/// conflict with it. Throws `no-driver` with the libraries that were tried, or `unsupported` if a library
/// loads but is not usable.
const Library &openLibrary(const std::vector<std::string> &candidates);

/// Notified when a message has been sent (its memory may be reused) or has arrived.
class Completion {
public:
  virtual void completed() = 0;

protected:
  ~Completion() = default;
};

struct Incoming {
  int source;
  std::size_t byteLength;
};

/// Number of a communicator that a started MPI has created; each spans all ranks.
using Communicator = std::uint32_t;
/// The communicator of messages between engines; the others are duplicates of it.
constexpr Communicator controlCommunicator = 0;

/// A started MPI. Every call comes from the thread that started it (MPI_THREAD_FUNNELED).
class Mpi {
public:
  /// Largest message of one call: MPI counts in int.
  static constexpr std::size_t maximumByteLength = std::size_t{1} << 30;

  virtual ~Mpi() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Absent if the library does not report it.
  virtual std::optional<GpuSupport> gpuSupport() const = 0;
  /// Messages with the same communicator, pair of ranks and tag match in the order of the calls.
  virtual void send(Communicator communicator, const void *data, std::size_t byteLength, int peer, int tag, Completion &completion) = 0;
  virtual void receive(Communicator communicator, void *data, std::size_t byteLength, int peer, int tag, Completion &completion) = 0;
  /// Makes progress with messages and adds completed ones to `done`.
  virtual void poll(std::vector<Completion *> &done) = 0;
  virtual std::size_t pending() const = 0;
  /// A control message from any rank that waits for its `receive`.
  virtual std::optional<Incoming> probe(int tag) = 0;
  /// Begins to create one more communicator, without waiting. All ranks do so in the same order, one at a
  /// time: if Open MPI duplicates a communicator several times at once, the duplicates may get the same
  /// identity. Throws `out-of-memory` if the library has no more communicators.
  virtual void beginDuplicate() = 0;
  /// The communicator that was begun, once all ranks have begun it; absent before. Throws as `beginDuplicate`
  /// does.
  virtual std::optional<Communicator> duplicated() = 0;
  virtual void finalize() = 0;
  /// Ends every process of the job; normally does not return.
  virtual void abort(int exitCode) = 0;
};

/// A communicator in which to post messages.
struct Channel {
  Mpi &mpi;
  Communicator communicator;
  void send(const void *data, std::size_t byteLength, int peer, int tag, Completion &completion) const {
    mpi.send(communicator, data, byteLength, peer, tag, completion);
  }
  void receive(void *data, std::size_t byteLength, int peer, int tag, Completion &completion) const {
    mpi.receive(communicator, data, byteLength, peer, tag, completion);
  }
};

/// Calls MPI_Init_thread on the calling thread. Throws `unsupported` if the library may not be called from
/// it.
std::unique_ptr<Mpi> start(const Library &library);

} // namespace tandem::mpi
