#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "transfer.h"

namespace tandem {

/// One node of a rank's part of a program.
struct NodeSpec {
  /// `segment`: device work of the caller, which is told when it may issue the work, and reports the
  /// completion.
  enum class Kind { send, receive, segment };
  Kind kind = Kind::segment;
  int peer = 0;
  int tag = 0;
  MessageRegion region;
  /// Nodes of the same repetition and of the previous one that must complete first. A segment waits only
  /// until another segment is issued, because segments take effect in the order in which they are issued.
  std::vector<std::uint32_t> after;
  std::vector<std::uint32_t> afterPrevious;
};

/// Repeats a rank's nodes as their edges allow, without an event loop or promises in between (device work
/// without messages in batches). Each node waits for itself in the previous repetition, so messages of one
/// tag match in order. Only the progress thread calls this class.
class Schedule {
public:
  struct Host {
    /// `count` repetitions of segment `node`, from `repetition` on, may be issued.
    std::function<void(std::uint32_t node, std::int64_t repetition, std::int64_t count)> issue;
    /// Tells `peer` that all its messages of `repetition` have arrived.
    std::function<void(int peer, std::int64_t repetition)> credit;
    std::function<void()> finished;
  };

  Schedule(mpi::Channel channel, const std::vector<NodeSpec> &specs);
  Schedule(const Schedule &) = delete;
  Schedule &operator=(const Schedule &) = delete;

  /// If it begins frozen, nothing starts before `limit`.
  void start(std::int64_t times, Host host, bool frozen);
  void segmentCompleted(std::uint32_t node, std::int64_t count);
  /// Called when `peer` has received all messages of repetitions below `count`.
  void credited(int peer, std::int64_t count);
  /// Prevents further repetitions from starting, and returns how many have started.
  std::int64_t freeze();
  /// Continues with repetitions below `times`, which is at least the result of `freeze`.
  void limit(std::int64_t times);
  bool active() const { return active_; }
  /// Ranks whose messages are in flight.
  std::vector<int> waitsFor() const;

private:
  struct Node {
    NodeSpec::Kind kind;
    int peer;
    std::vector<std::uint32_t> after;
    std::vector<std::uint32_t> afterPrevious;
    std::vector<std::uint32_t> next;
    std::unique_ptr<Transfer> transfer;
    /// Repetitions issued and completed; the repetition at which the last issue began.
    std::int64_t started = 0;
    std::int64_t done = 0;
    std::int64_t previous = 0;
  };
  struct Peer {
    /// Repetitions whose messages this peer has received from here.
    std::int64_t credits = 0;
    /// Repetitions whose messages from this peer have all arrived, and how many of the next repetition's are
    /// missing.
    std::int64_t complete = 0;
    std::size_t incomplete = 0;
  };

  bool ready(const Node &node) const;
  std::int64_t batch(const Node &node) const;
  std::int64_t progress(const Node &from, const Node &to) const;
  void advance(std::uint32_t first);
  void begin(std::uint32_t index);
  void nodeDone(std::uint32_t index);
  void giveCredit(Node &node);

  std::vector<Node> nodes_;
  std::map<int, Peer> peers_;
  std::map<int, std::vector<std::uint32_t>> receivesFrom_;
  std::map<int, std::vector<std::uint32_t>> sendsTo_;
  Host host_;
  std::int64_t times_ = 0;
  std::int64_t started_ = 0;
  bool frozen_ = false;
  bool active_ = false;
  std::size_t unfinished_ = 0;
  std::vector<std::uint32_t> work_;
  bool working_ = false;
};

} // namespace tandem
