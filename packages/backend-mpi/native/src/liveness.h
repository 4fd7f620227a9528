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

#include "socket.h"

namespace tandem {

/// The control thread: a connection from each rank to rank 0, over which ranks show that they live and learn
/// who failed. A rank is dead when its connection ends or its host stops answering (socket.h), never because
/// it is silent: five seconds without its heartbeat only print a line, as does its return. MPI has no such
/// notice; it carries everything else, since it is faster.
class Liveness {
public:
  struct Options {
    int rank = 0;
    int size = 1;
    /// For messages: "rank 2 (process 4711 on host b)".
    std::vector<std::string> names;
    /// A secret that the ranks share: strangers' connections are dropped.
    std::string token;
    /// Of rank 0.
    std::vector<std::string> addresses;
    std::uint16_t port = 0;
    /// How long a death is kept back, so that a launcher that reports deaths itself and ends the job comes
    /// first.
    std::chrono::milliseconds deathDelay{0};
    /// Empty, or why the ranks cannot watch each other.
    std::function<void(const std::string &)> connected;
    /// A rank is lost or has failed; the sentence names it.
    std::function<void(const std::string &)> lost;
    /// A rank makes no more calls of a group, because of `reason` where it is not empty.
    std::function<void(int rank, std::uint64_t group, const std::string &code, const std::string &reason)> left;
    /// What a rank says with `sayWaiting`.
    std::function<void(int rank, const std::string &text)> waiting;
  };

  /// Rank 0 listens before it tells anybody the port.
  static Descriptor listen(std::uint16_t &port) { return listenAnywhere(port); }

  /// Throws NativeError, `out-of-memory` where the operating system starts no thread.
  Liveness(Options options, Descriptor listener);
  ~Liveness();
  Liveness(const Liveness &) = delete;
  Liveness &operator=(const Liveness &) = delete;

  /// Tells the others that this rank makes no more calls of `group`, and why where it cannot. Any thread.
  void leave(std::uint64_t group, const std::string &code, const std::string &reason);
  /// Tells the others for what this rank has waited too long. Any thread.
  void sayWaiting(const std::string &text);
  /// This rank ends: that its connection does too is no death. Any thread.
  void end();

private:
  using Clock = std::chrono::steady_clock;
  struct Peer {
    Descriptor socket;
    std::string input;
    /// What the socket has yet to take: a process that is stopped reads nothing, and no frame may be cut
    /// short.
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
  /// Sends what the socket takes now.
  void flush(int rank, Peer &peer);
  void flushLast();
  void beat(Clock::time_point now);
  void request(char kind, std::string text);
  void flushRequests();
  std::string nameOf(int rank) const;
  /// Of the living, one rank prints.
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
  /// Who died, and when it is told.
  std::string death_;
  bool deathPrinted_ = false;
  Clock::time_point deathTime_;
  bool told_ = false;
  std::thread thread_;
};

} // namespace tandem
