#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "control_message.h"
#include "key.h"

namespace tandem {

/// The ranks that send a text under a key: the lowest of them, and the greatest number that they send with
/// it.
struct Saying {
  int rank = 0;
  double number = 0;
};
/// The texts of all ranks under one key, each once.
using Sayings = std::map<std::string, Saying>;

/// Gathers over a binomial tree of ranks: texts are combined on the way to rank 0, which sends the result
/// down, so that all ranks get the same. Gathers are matched by key, not by arrival. Every rank gets their
/// results in the order in which rank 0 completes them, because results are passed down in that order and
/// messages of one rank are handled in the order in which it sends them. Only the progress thread calls this
/// class.
class Gathers {
public:
  using Send = std::function<void(int peer, ControlKind kind, Key key, const Bytes &payload)>;
  using Settle = std::function<void(const Sayings &)>;

  Gathers(int rank, int size, Send send);

  /// `awaited`: this rank cannot continue without the result.
  void start(Key key, const std::string &text, double number, Settle settle, bool awaited = true);
  void receivedUp(Key key, int child, RecordReader &reader);
  void receivedDown(Key key, RecordReader &reader);
  /// Stops waiting for the result here. If it arrives, it is still passed on.
  void forget(Key key);
  /// Gathers whose results this rank awaits.
  std::size_t pending() const { return awaited_; }
  /// Ranks whose text, or that of a rank in their subtree, has not arrived here.
  std::vector<int> missing() const;

private:
  struct State {
    Sayings sayings;
    Settle settle;
    std::vector<int> heard;
    bool started = false;
    bool awaited = false;
  };

  void advance(Key key, State &state);
  void finish(Key key, State &state, const Sayings &result);

  int rank_;
  std::vector<int> children_;
  Send send_;
  std::map<Key, State> states_;
  std::size_t awaited_ = 0;
};

} // namespace tandem
