#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "js_types.h"
#include "leave_word.h"
#include "native_error.h"
#include "watchdog.h"

namespace tandem {

/// A kernel of a command queue, as described by TypeScript.
struct QueueKernel {
  std::vector<std::uint8_t> image;
  std::string entry;
  std::vector<unsigned> block;
  unsigned dynamicSharedByteLength = 0;
  /// For each parameter, twice the position of its binding, plus 1 if it is the binding's length instead of
  /// its address. Twice `bindings` stands for the address of the stop word, 1 more for the address of the
  /// workgroup counts, and 2 more for the maximum count.
  std::vector<unsigned> parameters;
  unsigned bindings = 0;
  NAMED_MEMBERS(image, entry, block, dynamicSharedByteLength, parameters, bindings)
};

/// A buffer in page-locked memory, which JavaScript's thread maps once all previous work is complete.
struct HostBuffer {
  std::shared_ptr<void> block;
};

/// Callbacks of a queue. All are called on the group's thread.
struct QueueMessages {
  std::function<void(std::uint64_t buffer, const std::string &message)> outOfMemory;
  std::function<void(std::uint64_t serial, std::uint64_t buffer)> skipped;
  std::function<void(const NativeError &)> lost;
};

/// Settles a promise. Called once, on the group's thread, with null or with the error that rejects it.
using Settled = std::function<void(const NativeError *)>;

/// Core's CommandQueue on one GPU: commands are put into the GPU's one stream as they are read, without
/// waiting for the GPU. Every member function runs on the group's thread. If too much is in flight, calls
/// wait here in order, and `poll` continues them.
class CommandQueue {
public:
  struct Options {
    /// 0 means no limit.
    double timeoutSeconds = 0;
    /// The runtime's own kernels.
    struct {
      cuda::Function copy16, scatter, stamp;
    } functions{};
    /// Makes the stream wait for the work that the group has started elsewhere.
    std::function<void()> beforeWork;
    /// Returns the next number in the order in which the group's work begins.
    std::function<std::uint64_t()> nextOrder;
    /// Makes all queues check their time limits: called when work begins in an idle queue.
    std::function<void()> keepTime;
    /// Returns page-locked zeros, which the last owner gives back.
    std::function<std::shared_ptr<void>(std::size_t byteLength)> takeHostBlock;
    QueueMessages messages;
  };
  CommandQueue(const cuda::Gpu &gpu, Watchdog &watchdog, Options options);
  ~CommandQueue();

  void loadKernel(std::uint64_t number, const QueueKernel &kernel);
  void createBuffer(std::uint64_t number, std::size_t byteLength);
  void createHostBuffer(std::uint64_t number, std::size_t byteLength, std::shared_ptr<HostBuffer> buffer);
  void adoptBuffer(std::uint64_t number, cuda::DevicePtr address, std::size_t byteLength);
  /// The address of a buffer's memory, which is kept until `releaseShared` is called as well. Throws
  /// `out-of-memory` if the buffer has no memory.
  cuda::DevicePtr shareBuffer(std::uint64_t number);
  void releaseShared(std::uint64_t number);
  void destroyBuffer(std::uint64_t number);
  void submit(std::uint64_t serial, std::vector<double> words, std::vector<std::uint8_t> data);
  /// Calls `settled` when all previous commands are complete.
  void fence(Settled settled);
  /// Calls `settled` when all previous commands have been read.
  void settle(Settled settled);
  /// Calls `settled` when the stream is empty, even if the queue is lost.
  void drain(std::function<void()> settled);

  /// Checks what is complete, and continues with waiting calls. Returns true if there was anything to do.
  bool poll();
  /// Frees everything that is not shared; previous commands are complete.
  void close();
  /// Whether the queue is closed and nothing of it is shared any more.
  bool ended() const { return closed_ && buffers_.empty(); }
  bool idle() const { return waiting_.empty() && marks_.empty() && drained_.empty(); }
  /// Whether calls are waiting that have not reached the GPU.
  bool behind() const { return !waiting_.empty(); }
  bool inFlight() const { return launched_ > completed_; }
  double timeoutSeconds() const { return options_.timeoutSeconds; }
  /// The order of the oldest work in flight, for which other work may have to wait; `nothing` once the work
  /// of a lost queue should have ended.
  std::uint64_t oldestOrder() const;
  static constexpr std::uint64_t nothing = ~std::uint64_t{0};
  /// Checks the time limit. The limit of a submit begins when all work that the group began before it is
  /// complete: `secondsBefore` is the maximum time that this may still take, 0 if there is none, and infinite
  /// if it has no limit.
  void keepTime(double secondsBefore);
  const cuda::Gpu &gpu() const { return gpu_; }
  /// Reports once that the queue is lost; after that it does nothing.
  void lose(const NativeError &error);

private:
  static constexpr std::size_t stagingByteLength = std::size_t{4} << 20;
  using Clock = std::chrono::steady_clock;
  struct Buffer {
    enum class Kind { device, host, adopted } kind = Kind::device;
    std::uint64_t address = 0;
    std::size_t byteLength = 0;
    /// Nothing has been written to the buffer, not even the zeros.
    bool fresh = false;
    bool shared = false;
    bool destroyed = false;
    std::optional<cuda::Allocation> memory;
    std::shared_ptr<HostBuffer> host;
  };
  struct Kernel {
    cuda::OwnedModule module;
    cuda::Function function = nullptr;
    unsigned block[3] = {1, 1, 1};
    unsigned dynamicSharedByteLength = 0;
    std::vector<unsigned> parameters;
    unsigned bindings = 0;
  };
  /// A position in the stream whose completion is awaited.
  struct Mark {
    cuda::OwnedEvent event;
    std::uint64_t launched;
    /// The order of the first work that no earlier mark covers.
    std::uint64_t order;
    std::vector<Settled> settled;
    std::vector<cuda::HostMemory> staging;
    /// Destroyed before this mark, and kept even if the queue is lost in the meantime.
    std::vector<std::shared_ptr<HostBuffer>> held;
  };
  struct Range {
    std::uint64_t buffer, offset, byteLength;
  };
  struct GatheredWrite {
    std::uint64_t target, source, byteLength;
  };
  /// The commands of one call, and how far they have been read.
  struct Submit {
    std::uint64_t serial;
    std::vector<double> words;
    std::vector<std::uint8_t> data;
    std::size_t position = 0;
    bool saidSkipped = false;
    /// The number of bytes of a long write that are already in the stream.
    std::uint64_t written = 0;

    bool ended() const { return position == words.size(); }
    std::uint64_t next() {
      if (ended()) throw NativeError("driver", "A list of commands is incomplete.");
      return static_cast<std::uint64_t>(words[position++]);
    }
    Range range() {
      const auto buffer = next();
      const auto offset = next();
      return {buffer, offset, next()};
    }
  };

  /// Executes a call now, or after those that are waiting. The call returns false if it must be called again
  /// later.
  void inOrder(std::function<bool()> call);
  bool attempt(const std::function<bool()> &call);
  bool execute(Submit &submit);
  void dispatch(Submit &submit, bool indirect);
  void copy(Submit &submit);
  void clear(Submit &submit);
  bool write(Submit &submit);
  void stamp(Submit &submit);
  /// Reports a buffer without memory, and returns true for it.
  bool lacksMemory(Submit &submit, std::uint64_t buffer);
  /// Zeroes the memory if that has not been done, unless all of it is written now.
  std::uint64_t addressOf(std::uint64_t buffer, std::uint64_t offset, std::size_t writtenByteLength = 0);
  void launch(cuda::Function function, const unsigned *grid, const unsigned *block, unsigned sharedByteLength, void **parameters);
  /// Space in staging memory for as many of these bytes as fit into one piece, at least 4; null if too much
  /// is in flight.
  char *stage(std::size_t byteLength, std::size_t &piece);
  /// Puts the gathered writes into the stream, before whatever follows.
  void flushWrites();
  void mark();
  std::size_t marksReached();
  void giveBack(Buffer &buffer);
  cuda::Allocation allocate(std::size_t &byteLength);
  bool crowded() const;

  const cuda::Gpu &gpu_;
  const cuda::Driver &driver_;
  const Options options_;
  /// The number of threads that the GPU runs at a time.
  unsigned residentThreads_ = 0;
  /// Kernels leave once this is not 0.
  const cuda::HostMemory stopWord_;
  const cuda::LeaveWord leaveWord_;
  Watchdog::Watched watched_;
  std::unordered_map<std::uint64_t, Kernel> kernels_;
  std::unordered_map<std::uint64_t, Buffer> buffers_;
  std::unordered_set<std::uint64_t> withoutMemory_;
  /// Small blocks of device memory from destroyed buffers, by length.
  std::unordered_map<std::size_t, std::vector<cuda::Allocation>> spare_;
  std::size_t spareByteLength_ = 0;
  std::deque<std::function<bool()>> waiting_;
  std::deque<Mark> marks_;
  std::vector<std::function<void()>> drained_;
  std::vector<cuda::OwnedEvent> spareEvents_;
  /// Buffers that work in flight may still use after the queue is lost.
  std::vector<std::shared_ptr<HostBuffer>> held_;
  std::vector<cuda::HostMemory> spareStaging_;
  /// The last one is being filled, starting at `staged_`.
  std::vector<cuda::HostMemory> usedStaging_;
  std::size_t staged_ = 0;
  std::size_t stagingCount_ = 0;
  std::vector<GatheredWrite> gathered_;
  std::uint64_t launched_ = 0;
  std::uint64_t completed_ = 0;
  /// Up to here somebody waits for completion.
  std::uint64_t awaited_ = 0;
  Clock::time_point queried_;
  /// The order of the first work that no mark covers; 0 if there is none.
  std::uint64_t unmarkedOrder_ = 0;
  /// When the oldest work in flight began, as far as is known.
  Clock::time_point since_;
  bool lost_ = false;
  Clock::time_point lostAt_;
  bool closed_ = false;
};

} // namespace tandem
