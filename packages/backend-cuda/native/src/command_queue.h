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

#include "leave_word.h"
#include "native_error.h"
#include "watchdog.h"

namespace tandem {

/// A kernel of a command queue, as TypeScript describes it.
struct QueueKernel {
  std::vector<std::uint8_t> image;
  std::string entry;
  std::vector<unsigned> block;
  unsigned dynamicSharedByteLength = 0;
  /// For each parameter the position of its binding, twice, and 1 more where it is the binding's length in
  /// place of its address; twice `bindings` for the address of the stop word, 1 more for that of the numbers
  /// of workgroups, and 2 more for the largest allowed.
  std::vector<unsigned> parameters;
  unsigned bindings = 0;
  template <typename Self, typename Visit> static void eachMember(Self &self, Visit visit) {
    visit("image", self.image);
    visit("entry", self.entry);
    visit("block", self.block);
    visit("dynamicSharedByteLength", self.dynamicSharedByteLength);
    visit("parameters", self.parameters);
    visit("bindings", self.bindings);
  }
};

/// A buffer in page-locked memory, which JavaScript's thread maps once the work before is complete.
struct HostBuffer {
  std::shared_ptr<void> block;
};

/// What a queue says. All are called on the group's thread.
struct QueueMessages {
  std::function<void(std::uint64_t buffer, const std::string &message)> outOfMemory;
  std::function<void(std::uint64_t serial, std::uint64_t buffer)> skipped;
  std::function<void(const NativeError &)> lost;
};

/// Settles a promise; called once, on the group's thread, with null or why it is rejected.
using Settled = std::function<void(const NativeError *)>;

/// Core's CommandQueue on one GPU: commands go into the GPU's one stream as they are read, and nothing waits
/// for the GPU. Every member function runs on the group's thread. Where too much is in flight, calls wait
/// here in their order, and `poll` goes on with them.
class CommandQueue {
public:
  struct Options {
    /// 0: no limit.
    double timeoutSeconds = 0;
    /// The runtime's own kernels.
    struct {
      cuda::Function copy16, scatter, stamp;
    } functions{};
    /// Makes the stream wait for what the group has started elsewhere.
    std::function<void()> beforeWork;
    /// The next number in the order in which work of the group begins.
    std::function<std::uint64_t()> nextOrder;
    /// Has all queues keep their time: called when work begins in an idle queue.
    std::function<void()> keepTime;
    /// Page-locked zeros, which the last owner gives back.
    std::function<std::shared_ptr<void>(std::size_t byteLength)> takeHostBlock;
    QueueMessages messages;
  };
  CommandQueue(const cuda::Gpu &gpu, Watchdog &watchdog, Options options);
  ~CommandQueue();

  void loadKernel(std::uint64_t number, const QueueKernel &kernel);
  void createBuffer(std::uint64_t number, std::size_t byteLength);
  void createHostBuffer(std::uint64_t number, std::size_t byteLength, std::shared_ptr<HostBuffer> buffer);
  void adoptBuffer(std::uint64_t number, cuda::DevicePtr address, std::size_t byteLength);
  /// The address of a buffer's memory, which stays until `releaseShared` too. Throws `out-of-memory` where it
  /// has none.
  cuda::DevicePtr shareBuffer(std::uint64_t number);
  void releaseShared(std::uint64_t number);
  void destroyBuffer(std::uint64_t number);
  void submit(std::uint64_t serial, std::vector<double> words, std::vector<std::uint8_t> data);
  /// `settled` is told when the commands before are complete.
  void fence(Settled settled);
  /// `settled` is told when the commands before have been read.
  void settle(Settled settled);
  /// `settled` is told when nothing is in the stream any more, also of a queue that is lost.
  void drain(std::function<void()> settled);

  /// Looks at what is complete, and goes on with calls that wait. True where there was something.
  bool poll();
  /// Gives back what nobody shares; the commands before are complete.
  void close();
  /// Whether it is closed, and nothing of it is shared any more.
  bool ended() const { return closed_ && buffers_.empty(); }
  bool idle() const { return waiting_.empty() && marks_.empty() && drained_.empty(); }
  /// Whether calls wait here that have not reached the GPU.
  bool behind() const { return !waiting_.empty(); }
  bool inFlight() const { return launched_ > completed_; }
  double timeoutSeconds() const { return options_.timeoutSeconds; }
  /// The order of the oldest work in flight, behind which other work may have to wait; `nothing` once a lost
  /// queue's should have ended.
  std::uint64_t oldestOrder() const;
  static constexpr std::uint64_t nothing = ~std::uint64_t{0};
  /// Looks at the time limit. The limit of a submit begins when all work that the group began before it is
  /// complete: `secondsBefore` is how long that may take still, 0 where there is none, and infinite where it
  /// has no limit.
  void keepTime(double secondsBefore);
  const cuda::Gpu &gpu() const { return gpu_; }
  /// Says once that the queue is lost; from then on it does nothing.
  void lose(const NativeError &error);

private:
  static constexpr std::size_t stagingByteLength = std::size_t{4} << 20;
  using Clock = std::chrono::steady_clock;
  struct Buffer {
    enum class Kind { device, host, adopted } kind = Kind::device;
    std::uint64_t address = 0;
    std::size_t byteLength = 0;
    /// Nothing has been written to it, not even the zeros.
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
  /// A place in the stream whose completion somebody waits for.
  struct Mark {
    cuda::OwnedEvent event;
    std::uint64_t launched;
    /// Of the first work that no mark before has.
    std::uint64_t order;
    std::vector<Settled> settled;
    std::vector<cuda::HostMemory> staging;
    /// Destroyed before, and kept also where the queue is lost meanwhile.
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
    /// Of a long write, what is in the stream.
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

  /// Carries out a call now, or after those that wait. It returns false where it has to be called again
  /// later.
  void inOrder(std::function<bool()> call);
  bool attempt(const std::function<bool()> &call);
  bool execute(Submit &submit);
  void dispatch(Submit &submit, bool indirect);
  void copy(Submit &submit);
  void clear(Submit &submit);
  bool write(Submit &submit);
  void stamp(Submit &submit);
  /// Says so, and is true, where the buffer has no memory.
  bool lacksMemory(Submit &submit, std::uint64_t buffer);
  /// Zeroes the memory where that has not been done, unless all of it is written now.
  std::uint64_t addressOf(std::uint64_t buffer, std::uint64_t offset, std::size_t writtenByteLength = 0);
  void launch(cuda::Function function, const unsigned *grid, const unsigned *block, unsigned sharedByteLength, void **parameters);
  /// Room for as many bytes of these as one piece of staging memory has left, at least 4; null where too much
  /// is in flight.
  char *stage(std::size_t byteLength, std::size_t &piece);
  /// Puts the gathered writes into the stream, ahead of what comes next.
  void flushWrites();
  void mark(Settled settled = nullptr);
  void giveBack(Buffer &buffer);
  cuda::Allocation allocate(std::size_t &byteLength);
  bool crowded() const;

  const cuda::Gpu &gpu_;
  const cuda::Driver &driver_;
  const Options options_;
  /// Threads that the GPU runs at a time.
  unsigned residentThreads_ = 0;
  /// Kernels leave once it is not 0.
  const cuda::HostMemory stopWord_;
  const cuda::LeaveWord leaveWord_;
  Watchdog::Watched watched_;
  std::unordered_map<std::uint64_t, Kernel> kernels_;
  std::unordered_map<std::uint64_t, Buffer> buffers_;
  std::unordered_set<std::uint64_t> withoutMemory_;
  /// Small blocks of device memory that buffers gave back, by length.
  std::unordered_map<std::size_t, std::vector<cuda::Allocation>> spare_;
  std::size_t spareByteLength_ = 0;
  std::deque<std::function<bool()>> waiting_;
  std::deque<Mark> marks_;
  std::vector<std::function<void()>> drained_;
  std::vector<cuda::OwnedEvent> spareEvents_;
  /// What work in flight may still use after the queue is lost.
  std::vector<std::shared_ptr<HostBuffer>> held_;
  std::vector<cuda::HostMemory> spareStaging_;
  /// The last one is being filled, from `staged_` on.
  std::vector<cuda::HostMemory> usedStaging_;
  std::size_t staged_ = 0;
  std::size_t stagingCount_ = 0;
  std::vector<GatheredWrite> gathered_;
  std::uint64_t launched_ = 0;
  std::uint64_t completed_ = 0;
  /// The order of the first work that no mark has; 0 where there is none.
  std::uint64_t unmarkedOrder_ = 0;
  /// When the oldest work in flight began, as far as is known.
  Clock::time_point since_;
  bool lost_ = false;
  Clock::time_point lostAt_;
  bool closed_ = false;
};

} // namespace tandem
