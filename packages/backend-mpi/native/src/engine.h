#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "delivery.h"
#include "gather.h"
#include "group_communicators.h"
#include "js_types.h"
#include "key.h"
#include "mpi.h"
#include "schedule.h"

namespace tandem {

struct Failure {
  std::string code;
  std::string message;
};

/// The one thread that calls MPI: it starts MPI, posts and completes messages, combines the messages of
/// gathers, and repeats schedules. All public functions may be called from any thread and return immediately,
/// except `finalize` and `close`. The thread owns the engine, because a call into MPI that hangs may outlive
/// the engine's creator.
class Engine : public std::enable_shared_from_this<Engine> {
public:
  using GatherSettle = std::function<void(const Sayings *, const Failure *)>;
  using Settle = std::function<void(const Failure *)>;
  struct RunResult {
    double seconds = 0;
    std::int64_t repetitions = 0;
    NAMED_MEMBERS(seconds, repetitions)
  };
  using RunSettle = std::function<void(const RunResult *, const Failure *)>;
  using SegmentFailed = std::function<void(const std::string &reason)>;
  using Issue = std::function<void(std::uint32_t node, std::int64_t repetition, std::int64_t count)>;
  /// Called when a group is lost here, or all of them if `group` is `everyGroup`.
  using Lost = std::function<void(std::uint64_t group, const Failure &)>;
  static constexpr std::uint64_t everyGroup = ~std::uint64_t{0};

  Engine(const mpi::Library &library, Lost lost) : library_(library), lost_(std::move(lost)) {}
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;

  /// Calls MPI_Init_thread on the thread; `settle` gets the failure, or null once `rank`, `size` and
  /// `gpuSupport` are known. Throws `out-of-memory` if the operating system cannot start a thread.
  void start(Settle settle);
  /// Ends the thread, waiting at most two seconds, since a call into MPI that hangs cannot be ended. Pending
  /// calls never settle.
  void close();
  int rank() const { return rank_; }
  int size() const { return size_; }
  std::optional<mpi::GpuSupport> gpuSupport() const { return gpuSupport_; }
  /// Sets the names of the ranks in messages.
  void setNames(std::vector<std::string> names);

  /// Assigns a communicator to a group, whose number must be unique, for its deliveries and runs. Every rank
  /// must call it; it settles once all have. Fails with `out-of-memory`, on all ranks, if MPI has no more
  /// communicators.
  void openGroup(std::uint64_t group, Settle settle);
  /// Declares that this rank has no more deliveries and runs of the group. `clean`: it has completed
  /// everything that it began, and so have the others as far as it knows. Never waits for other ranks.
  void closeGroup(std::uint64_t group, bool clean);
  /// The result contains, for each text, the greatest `number` of the ranks that sent it. `takesTurn`: it begins
  /// work in which devices of the ranks wait for each other. It settles once such work of other groups that
  /// began before has ended here; all ranks get the turns in the same order, as they do results. Each call needs
  /// one of `endTurn`.
  void gather(Key key, const std::string &text, double number, bool takesTurn, GatherSettle settle);
  /// May be called again for a turn that has ended.
  void endTurn(Key key);
  /// Deliveries of one group begin in the same order on all ranks: a later one waits for an earlier one with
  /// the same tag.
  void deliver(Key key, int from, int to, MessageRegion bytes, Settle settle);
  /// Runs of one group execute one after another, in the order of the calls; runs of different groups do not
  /// wait for each other. `issue` and `failed` are called from the thread.
  void run(Key key, std::vector<NodeSpec> &&nodes, std::int64_t times, Issue issue, SegmentFailed failed, RunSettle settle);
  void segmentCompleted(Key key, std::uint32_t node, std::int64_t count);
  /// Reports that a segment that native code started has failed; the run's `failed` is called.
  void segmentFailed(Key key, std::string reason);
  /// Ends a run that has no messages, only on this rank.
  void endRun(Key key);
  /// Makes all ranks end the run after the same repetition, the last that any of them has begun.
  void abortRun(Key key);
  /// Keeps the thread awake for `time` from now, which replaces the time of an earlier call.
  void stayAwake(std::chrono::milliseconds time);

  /// Called when a rank makes no more calls of `group` (`everyGroup`: of any group). The message of `reason`
  /// is the reason why the rank cannot continue, or empty.
  void rankLeft(int rank, std::uint64_t group, const Failure &reason);
  /// Called when this rank leaves `group` with a reason; all pending calls of the group settle with it. If a
  /// run is in progress, MPI is unusable from then on.
  void left(std::uint64_t group, const Failure &reason);
  /// Settles all pending and later calls with `failure`; MPI is not called any more. Only the first failure
  /// counts.
  void fail(const Failure &failure) noexcept;
  bool failed() const { return failed_.load(); }
  /// Calls MPI_Finalize, and waits for it, once nothing is pending in which other ranks may still take part.
  /// False after a failure.
  bool finalize();
  void abort(int exitCode);

private:
  using Clock = std::chrono::steady_clock;
  struct ControlMessage final : mpi::Completion {
    Engine *engine = nullptr;
    int peer = 0;
    bool incoming = false;
    bool done = false;
    Bytes bytes;
    void completed() override;
  };
  struct Run {
    Key key;
    std::vector<NodeSpec> nodes;
    std::int64_t times = 0;
    Issue issue;
    SegmentFailed failed;
    Clock::time_point begin;
    std::unique_ptr<Schedule> schedule;
  };
  struct Abort {
    int reports = 0;
    std::int64_t started = 0;
    bool asked = false;
  };
  /// Ranks that make no more calls of a group, and the one that counts: the first with a reason, or the first.
  struct Departure {
    std::set<int> ranks;
    std::string who;
    Failure reason;
    Clock::time_point time;
  };
  struct Turn {
    Key key;
    /// Empty once it has been called.
    std::function<void()> begin;
  };
  struct Delivering {
    Key key;
    std::unique_ptr<Delivery> delivery;
  };
  /// A group, and the tag of a delivery in it.
  using DeliveryTag = std::pair<std::uint64_t, int>;

  void main(const Settle &settle);
  void post(std::function<void()> command);
  void loop();
  /// Calls `act`; any exception makes the engine fail.
  template <class Act> void guarded(const Act &act) noexcept;
  bool step();
  bool busy() const;
  /// How long to sleep after waiting for `waited` without progress.
  std::chrono::nanoseconds pauseAfter(std::chrono::nanoseconds waited) const;
  void send(int peer, ControlKind kind, Key key, const Bytes &payload);
  void handleIncoming(int source);
  void received(int source, const Bytes &bytes);
  mpi::Channel channelOf(std::uint64_t group) const;
  void opened(std::uint64_t group, const NativeError *error);
  bool isInUse(std::uint64_t group) const;
  void startDelivery(DeliveryTag tag);
  void beginTurns();
  /// Whether the gather has not settled.
  bool awaits(Key gather);
  void startRun(Run &run);
  void finishRun(Key key);
  Run *running(Key key) const;
  /// Whether a run of the group is in progress or waits for its turn.
  bool runs(std::uint64_t group) const { return runs_.count(group) > 0; }
  /// The number of repetitions that this rank took part in, if the run has ended.
  std::optional<std::int64_t> ended(Key key) const;
  void requestAbort(Key run);
  void freeze(Key run);
  void report(Key run, std::int64_t started);
  void stopAt(Key run, std::int64_t times);
  void checkDepartures(Clock::time_point now);
  const Departure *departureFrom(std::uint64_t group) const;
  std::optional<int> waitsInVain(const Delivery &delivery, const Departure &departure) const;
  void tryToFinalize(Clock::time_point lastProgress);
  void endsInTheMiddle(const Failure &failure);
  void settleGroup(std::uint64_t group, const Failure &failure);
  void sayWhatIsMissing();
  std::string nameOf(int rank) const;

  const mpi::Library &library_;
  const Lost lost_;
  int rank_ = 0;
  int size_ = 1;
  std::optional<mpi::GpuSupport> gpuSupport_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable ended_;
  std::vector<std::function<void()>> commands_;
  bool stop_ = false;
  bool threadEnded_ = true;
  std::atomic<bool> hasCommands_{false};
  std::atomic<std::chrono::steady_clock::time_point> awakeUntil_{};
  std::atomic<bool> failed_{false};
  std::atomic<bool> finalized_{false};

  // Calls that have not settled. `fail` settles them from any thread, so that no caller is blocked if a call
  // into MPI hangs.
  std::mutex pendingMutex_;
  Failure failure_;
  std::map<Key, GatherSettle> pendingGathers_;
  std::map<Key, Settle> pendingOpenings_;
  std::map<Key, Settle> pendingDeliveries_;
  std::map<Key, RunSettle> pendingRuns_;

  // Progress thread only.
  std::unique_ptr<mpi::Mpi> mpi_;
  std::unique_ptr<Gathers> gathers_;
  std::unique_ptr<GroupCommunicators> communicators_;
  /// In the order of the results. Those at the front that belong to one group have begun.
  std::deque<Turn> turns_;
  /// Those that ended before their gather settled.
  std::set<Key> forgoneTurns_;
  /// The first delivery of each tag is in progress.
  std::map<DeliveryTag, std::deque<Delivering>> deliveries_;
  /// The first run of each group is in progress.
  std::map<std::uint64_t, std::deque<std::unique_ptr<Run>>> runs_;
  /// The last runs that ended here, with their repetitions, for late aborts.
  std::deque<std::pair<Key, std::int64_t>> endedRuns_;
  /// Runs that have not yet started here and must begin nothing until an abort is settled.
  std::set<Key> frozen_;
  std::map<Key, std::int64_t> limits_;
  std::map<Key, Abort> aborts_;
  std::map<std::uint64_t, Departure> departures_;
  /// Ranks that make no more calls of any group.
  std::set<int> gone_;
  bool finalizing_ = false;
  /// Groups that a rank has left with a reason, until their loss is reported.
  std::set<std::uint64_t> untold_;
  std::deque<std::unique_ptr<ControlMessage>> outgoing_;
  /// By source, in the order in which they were sent, which is also the order of handling: a long message may
  /// arrive after a shorter one that was sent later.
  std::map<int, std::deque<std::unique_ptr<ControlMessage>>> incoming_;
  std::vector<mpi::Completion *> completed_;
  std::vector<std::string> names_;
};

} // namespace tandem
