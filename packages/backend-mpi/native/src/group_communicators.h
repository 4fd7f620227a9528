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

/// Assigns each group a communicator of its own, so that messages of different groups are never matched.
/// Every rank calls `open` and `close` for the same groups in the same order, that of the agreements of all
/// ranks, so all ranks create and reuse the same communicators. Communicators are freed only by MPI_Finalize.
/// Only the progress thread calls this class.
class GroupCommunicators {
public:
  /// Null once the group has a communicator, otherwise the error.
  using Opened = std::function<void(const NativeError *)>;

  explicit GroupCommunicators(mpi::Mpi &mpi) : mpi_(mpi) {}

  /// `opened` may be called before this returns.
  void open(std::uint64_t group, Opened opened);
  /// `reusable`: the group has nothing in flight on any rank.
  void close(std::uint64_t group, bool reusable);
  std::optional<mpi::Channel> of(std::uint64_t group) const;
  /// Makes progress with openings; returns true if there was any.
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
  /// Openings that wait for a duplicate communicator. That of the first is being created.
  std::deque<Opening> openings_;
};

} // namespace tandem
