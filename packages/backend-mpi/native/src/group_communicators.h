#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "mpi.h"
#include "native_error.h"

namespace tandem {

/// Gives each group a communicator of its own, so that no message of one group is taken for one of another.
/// Every rank calls `open` and `close` for the same groups in the same order, that of the agreements of all
/// ranks: so the duplicates of a communicator are made alike everywhere, and so are those that are used
/// again. No communicator is freed: MPI_Finalize does that. Only the progress thread calls this.
class GroupCommunicators {
public:
  /// Null once the group has a communicator, else why it gets none.
  using Opened = std::function<void(const NativeError *)>;

  explicit GroupCommunicators(mpi::Mpi &mpi) : mpi_(mpi) {}

  /// `opened` may be called before this returns.
  void open(std::uint64_t group, Opened opened);
  /// `reusable`: nothing of the group is under way on any rank.
  void close(std::uint64_t group, bool reusable);
  std::optional<mpi::Channel> of(std::uint64_t group) const;
  /// Makes progress with what is being opened; true where there was any.
  bool poll();

private:
  struct Opening {
    std::uint64_t group;
    Opened opened;
  };
  void begin();

  mpi::Mpi &mpi_;
  std::map<std::uint64_t, mpi::Communicator> ofGroup_;
  std::vector<mpi::Communicator> free_;
  /// Those that wait for a duplicate. That of the first is being made.
  std::deque<Opening> openings_;
};

} // namespace tandem
