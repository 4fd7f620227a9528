#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tandem::mpi {

enum class Family { openMpi, mpich, standardAbi };

/// "Open MPI", "MPICH" or "the MPI 5 ABI".
const char *familyName(Family family);

/// A library of MPI that is open, but not started: what it is.
struct Library {
  void *handle = nullptr;
  std::string path;
  Family family = Family::openMpi;
  /// First line of MPI_Get_library_version.
  std::string version;
  /// Whether messages may come from device memory, as far as the library says before it is started.
  std::optional<bool> gpuAware;
};

/// Whether messages may come from device memory (CUDA's), and the function that says so.
struct GpuSupport {
  bool supported;
  const char *asked;
};

/// Opens the first of `candidates` that the loader accepts and never closes it: a second MPI in one process
/// would clash with it. Throws `no-driver` with what was tried, `unsupported` where what loads is of no use.
const Library &openLibrary(const std::vector<std::string> &candidates);

/// Told when a message has been sent (its memory may be reused) or has arrived.
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

/// One of the communicators that a started MPI has made, each over all ranks.
using Communicator = std::uint32_t;
/// That of the messages between engines; others are duplicates of it.
constexpr Communicator controlCommunicator = 0;

/// A started MPI. Every call comes from the thread that started it (MPI_THREAD_FUNNELED).
class Mpi {
public:
  /// Largest message of one call: MPI counts in int.
  static constexpr std::size_t maximumByteLength = std::size_t{1} << 30;

  virtual ~Mpi() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Absent where the library does not say.
  virtual std::optional<GpuSupport> gpuSupport() const = 0;
  /// Messages of one communicator, pair and tag match in the order of the calls.
  virtual void send(Communicator communicator, const void *data, std::size_t byteLength, int peer, int tag, Completion &completion) = 0;
  virtual void receive(Communicator communicator, void *data, std::size_t byteLength, int peer, int tag, Completion &completion) = 0;
  /// Drives messages on and adds to `done` what completed.
  virtual void poll(std::vector<Completion *> &done) = 0;
  virtual std::size_t pending() const = 0;
  /// A control message, from anybody, that waits for its `receive`.
  virtual std::optional<Incoming> probe(int tag) = 0;
  /// Begins one more communicator, without waiting. All ranks do so in the same order, one at a time:
  /// duplicates that Open MPI makes of one communicator at once may get one identity. Throws `out-of-memory`
  /// where the library has no more.
  virtual void beginDuplicate() = 0;
  /// The communicator that was begun, once all ranks have begun it. Throws as `beginDuplicate`.
  virtual std::optional<Communicator> duplicated() = 0;
  virtual void finalize() = 0;
  /// Ends every process of the job; does not return where MPI keeps its word.
  virtual void abort(int exitCode) = 0;
};

/// A communicator, to post messages in.
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

/// MPI_Init_thread on the calling thread. Throws `unsupported` where the library may not be called from it.
std::unique_ptr<Mpi> start(const Library &library);

} // namespace tandem::mpi
