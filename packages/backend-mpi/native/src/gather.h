#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "control_message.h"

namespace tandem {

/// Who says a text under a key: the lowest rank that does, and the greatest number that comes with it.
struct Saying {
  int rank = 0;
  double number = 0;
};
/// What ranks say under one key, each text once.
using Sayings = std::map<std::string, Saying>;

/// Gathers over a binomial tree of ranks: texts are united on the way to rank 0, which sends the result down, so that all ranks get the
/// same. Gathers are matched by key, not by arrival. Only the progress thread calls this.
class Gathers {
public:
  using Send = std::function<void(int peer, ControlKind kind, std::uint64_t key, const Bytes &payload)>;
  using Settle = std::function<void(const Sayings &)>;

  Gathers(int rank, int size, Send send);

  void start(std::uint64_t key, const std::string &text, double number, Settle settle);
  void receivedUp(std::uint64_t key, int child, RecordReader &reader);
  void receivedDown(std::uint64_t key, RecordReader &reader);
  /// Nobody waits for it any more.
  void forget(std::uint64_t key);
  /// Gathers that this rank has started and that have no result yet.
  std::size_t pending() const { return started_; }
  /// Ranks whose word, or the word of one behind them, is missing here.
  std::vector<int> missing() const;

private:
  struct State {
    Sayings sayings;
    Settle settle;
    std::vector<int> heard;
    bool started = false;
  };

  void advance(std::uint64_t key, State &state);
  void finish(std::uint64_t key, State &state, const Sayings &result);

  int rank_;
  std::vector<int> children_;
  Send send_;
  std::map<std::uint64_t, State> states_;
  std::size_t started_ = 0;
};

} // namespace tandem
