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
#include <thread>
#include <vector>

#include "delivery.h"
#include "gather.h"
#include "mpi.h"
#include "schedule.h"

namespace tandem {

/// Names what ranks do together: a group and a number within it.
struct Key {
  std::uint32_t group = 0;
  std::uint64_t number = 0;
  std::uint64_t packed() const { return std::uint64_t{group} << 44 | number; }
  static std::uint32_t groupOf(std::uint64_t packed) { return static_cast<std::uint32_t>(packed >> 44); }
};

struct Failure {
  std::string code;
  std::string message;
};

/// The one thread that calls MPI: it starts it, posts and completes messages, unites what ranks say, repeats schedules. All public
/// functions may be called from any thread and return at once, but for `finalize`.
class Engine {
public:
  using GatherSettle = std::function<void(const Sayings *, const Failure *)>;
  using DeliverSettle = std::function<void(const Failure *)>;
  struct RunResult {
    double seconds = 0;
    std::int64_t repetitions = 0;
  };
  using RunSettle = std::function<void(const RunResult *, const Failure *)>;
  using SegmentFailed = std::function<void(const std::string &reason)>;
  using Issue = std::function<void(std::uint32_t node, std::int64_t repetition, std::int64_t count)>;
  /// A group is lost here, or all of them where `group` is `everyGroup`.
  using Lost = std::function<void(std::uint32_t group, const Failure &)>;
  static constexpr std::uint32_t everyGroup = 0xfffff;

  Engine(const mpi::Library &library, Lost lost) : library_(library), lost_(std::move(lost)) {}
  ~Engine();
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;

  /// MPI_Init_thread on the thread; `settle` gets the failure, or null once `rank`, `size` and `gpuSupport` are known.
  void start(std::function<void(const Failure *)> settle);
  int rank() const { return rank_; }
  int size() const { return size_; }
  std::optional<mpi::GpuSupport> gpuSupport() const { return gpuSupport_; }
  /// How messages name the ranks.
  void setNames(std::vector<std::string> names);

  /// With the greatest `number` of the ranks that say the same.
  void gather(Key key, const std::string &text, double number, GatherSettle settle);
  void deliver(Key key, int from, int to, MessageRegion bytes, DeliverSettle settle);
  /// Runs of one group are carried out one after another, in the order of the calls; those of another wait for none of them. `issue` and `failed` are
  /// called from the thread.
  void run(Key key, std::vector<NodeSpec> &&nodes, std::int64_t times, Issue issue, SegmentFailed failed, RunSettle settle);
  void segmentCompleted(Key key, std::uint32_t node, std::int64_t count);
  /// A segment that native code started fails; the run's `failed` is called.
  void segmentFailed(Key key, std::string reason);
  /// Ends a run that has no messages, here alone.
  void endRun(Key key);
  /// All ranks end the run after the same repetition, the last that any of them has begun.
  void abortRun(Key key);
  /// The thread does not sleep for so long from now, in place of what an earlier call said.
  void stayAwake(std::chrono::milliseconds time);

  /// A rank makes no more calls of `group` (`everyGroup`: of any); `reason` is empty, or why it cannot go on.
  void rankLeft(int rank, std::uint32_t group, const std::string &reason);
  /// This rank leaves `group` with a reason: if a run of it is under way, MPI is of no use any more.
  void left(std::uint32_t group, const std::string &reason);
  /// Settles all that is pending, and all that comes, with `failure`; MPI is called no more. The first failure counts.
  void fail(const Failure &failure);
  bool failed() const { return failed_.load(); }
  /// MPI_Finalize, once nothing is pending that other ranks may yet take part in; waits for it. False after a failure.
  bool finalize();
  bool finalized() const { return finalized_.load(); }
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
  struct Departure {
    std::string who;
    std::string reason;
    Clock::time_point time;
  };

  void post(std::function<void()> command);
  void loop();
  bool step();
  bool busy() const;
  /// How long to sleep after so long a time without progress.
  std::chrono::nanoseconds pauseAfter(std::chrono::nanoseconds waited) const;
  void send(int peer, ControlKind kind, std::uint64_t key, const Bytes &payload);
  void received(int source, const Bytes &bytes);
  void startRun(Run &run);
  void finishRun(std::uint64_t key);
  Run *running(std::uint64_t key) const;
  /// Whether a run of the group is under way, or waits for its turn.
  bool runs(std::uint32_t group) const;
  /// How many repetitions of a run that is over this rank had a part in.
  std::optional<std::int64_t> ended(std::uint64_t key) const;
  void requestAbort(std::uint64_t run);
  void freeze(std::uint64_t run);
  void report(std::uint64_t run, std::int64_t started);
  void stopAt(std::uint64_t run, std::int64_t times);
  void checkDepartures(Clock::time_point now);
  void tryToFinalize(Clock::time_point lastProgress);
  void endsInTheMiddle(const Failure &failure);
  void settleGroup(std::uint32_t group, const Failure &failure);
  void sayWhatIsMissing();
  std::string nameOf(int rank) const;

  const mpi::Library &library_;
  Lost lost_;
  int rank_ = 0;
  int size_ = 1;
  std::optional<mpi::GpuSupport> gpuSupport_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable ended_;
  std::vector<std::function<void()>> commands_;
  bool stop_ = false;
  bool threadEnded_ = false;
  std::atomic<bool> hasCommands_{false};
  std::atomic<std::chrono::steady_clock::time_point> awakeUntil_{};
  std::atomic<bool> failed_{false};
  std::atomic<bool> finalized_{false};

  // What somebody waits for: settled by `fail` from any thread, so that a call into MPI that hangs holds nobody.
  std::mutex pendingMutex_;
  Failure failure_;
  std::map<std::uint64_t, GatherSettle> pendingGathers_;
  std::map<std::uint64_t, DeliverSettle> pendingDeliveries_;
  std::map<std::uint64_t, RunSettle> pendingRuns_;

  // Progress thread only.
  std::unique_ptr<mpi::Mpi> mpi_;
  std::unique_ptr<Gathers> gathers_;
  std::map<std::uint64_t, std::unique_ptr<Delivery>> deliveries_;
  /// By which tags their messages have: groups that have the same ones take turns. The first of each is under way.
  std::map<std::uint32_t, std::deque<std::unique_ptr<Run>>> runs_;
  /// The last runs that ended here and their repetitions, for an abort that asks too late.
  std::deque<std::pair<std::uint64_t, std::int64_t>> endedRuns_;
  /// Runs that have yet to come here, and begin nothing before an abort is settled.
  std::set<std::uint64_t> frozen_;
  std::map<std::uint64_t, std::int64_t> limits_;
  std::map<std::uint64_t, Abort> aborts_;
  std::map<std::uint32_t, Departure> departures_;
  /// Ranks that make no more calls of any group.
  std::set<int> gone_;
  bool finalizing_ = false;
  /// Groups that a rank has left with a reason, until they are told.
  std::set<std::uint32_t> untold_;
  std::deque<std::unique_ptr<ControlMessage>> messages_;
  std::vector<mpi::Completion *> completed_;
  std::vector<std::string> names_;
};

} // namespace tandem
