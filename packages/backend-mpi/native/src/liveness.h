#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "js_types.h"
#include "socket.h"

namespace tandem {

/// The control thread: a connection from each rank to rank 0, over which ranks send heartbeats and learn
/// which rank failed. A rank counts as dead when its connection ends or its host stops answering (socket.h),
/// but not because it is silent: five seconds without a heartbeat only print a line, as does the next
/// heartbeat. MPI has no such failure detection; everything else uses MPI, which is faster.
class Liveness {
public:
  struct Options {
    int rank = 0;
    int size = 1;
    /// For messages: "rank 2 (process 4711 on host b)".
    std::vector<std::string> names;
    /// A secret that the ranks share: connections without it are dropped.
    std::string token;
    /// The addresses of rank 0.
    std::vector<std::string> addresses;
    std::uint16_t port = 0;
    /// How long the report of a death is delayed, so that a launcher that itself reports deaths and ends the
    /// job does so first.
    std::int64_t deathDelayMilliseconds = 0;
    /// Called once with the reason why the ranks cannot watch each other, or an empty string if they can.
    std::function<void(const std::string &)> connected;
    /// Called with a sentence about the rank that is lost or has failed.
    std::function<void(const std::string &)> lost;
    /// Called when a rank makes no more calls of a group, because of `reason` unless it is empty.
    std::function<void(int rank, std::uint64_t group, const std::string &code, const std::string &reason)> left;
    /// Called with the text of another rank's `sayWaiting`.
    std::function<void(int rank, const std::string &text)> waiting;
    NAMED_MEMBERS(names, token, addresses, port, deathDelayMilliseconds)
  };

  /// Rank 0 listens before it sends the port to the others.
  static Descriptor listen(std::uint16_t &port) { return listenAnywhere(port); }

  /// Throws NativeError, with `out-of-memory` if the operating system cannot start a thread.
  Liveness(Options options, Descriptor listener);
  ~Liveness();
  Liveness(const Liveness &) = delete;
  Liveness &operator=(const Liveness &) = delete;

  /// Tells the others that this rank makes no more calls of `group`, and the reason if it cannot. Any thread.
  void leave(std::uint64_t group, const std::string &code, const std::string &reason);
  /// Tells the others which calls this rank has waited for too long. Any thread.
  void sayWaiting(const std::string &text);
  /// Announces that this rank ends, so that the end of its connection does not count as a death. Any thread.
  void end();

private:
  using Clock = std::chrono::steady_clock;
  struct Peer {
    Descriptor socket;
    std::string input;
    /// Bytes that the socket has not yet accepted: a stopped process reads nothing, and frames must not be
    /// truncated.
    std::string output;
    Clock::time_point heard;
    bool silent = false;
    bool hasLeft = false;
    bool gone = false;
  };

  void main();
  void loop();
  bool connectAll();
  bool accept(Clock::time_point deadline);
  void readFrom(int rank, Peer &peer);
  void handle(int rank, Peer &peer, char kind, int about, const std::string &text);
  void died(int rank, Peer &peer, const std::string &how);
  void noteDeath(int rank, const std::string &how);
  void queueFrame(Peer &peer, char kind, int about, const std::string &text);
  /// Sends as much as the socket accepts now.
  void flush(int rank, Peer &peer);
  void flushLast();
  void beat(Clock::time_point now);
  void request(char kind, std::string text);
  void flushRequests();
  std::string nameOf(int rank) const;
  /// Whether this rank prints messages about that rank; exactly one rank does.
  bool prints(int about) const;

  Options options_;
  Descriptor listener_;
  Descriptor wakeReader_;
  Descriptor wakeWriter_;
  std::map<int, Peer> peers_;
  std::mutex mutex_;
  /// Frames about this rank, for all others: their kind and text.
  std::vector<std::pair<char, std::string>> requests_;
  std::atomic<bool> stop_{false};
  bool leaving_ = false;
  /// The sentence about the first death, whether this rank prints it, when it happened, and whether it has
  /// been reported.
  std::string death_;
  bool deathPrinted_ = false;
  Clock::time_point deathTime_;
  bool told_ = false;
  std::thread thread_;
};

} // namespace tandem
