#include "group_communicators.h"

#include <utility>

namespace tandem {

void GroupCommunicators::open(std::uint64_t group, Opened opened) {
  if (!free_.empty()) {
    ofGroup_.insert_or_assign(group, free_.back());
    free_.pop_back();
    opened(nullptr);
    return;
  }
  openings_.push_back({group, std::move(opened)});
  if (openings_.size() == 1) begin();
}

void GroupCommunicators::close(std::uint64_t group, bool reusable) {
  const auto found = ofGroup_.find(group);
  if (found == ofGroup_.end()) return;
  if (reusable) free_.push_back(found->second);
  ofGroup_.erase(found);
}

std::optional<mpi::Channel> GroupCommunicators::of(std::uint64_t group) const {
  const auto found = ofGroup_.find(group);
  if (found == ofGroup_.end()) return std::nullopt;
  return mpi::Channel{mpi_, found->second};
}

bool GroupCommunicators::poll() {
  if (openings_.empty()) return false;
  std::optional<NativeError> failure;
  std::optional<mpi::Communicator> made;
  try {
    made = mpi_.duplicated();
    if (!made) return false;
  } catch (const NativeError &error) {
    failure = error;
  }
  const auto opening = std::move(openings_.front());
  openings_.pop_front();
  if (made) ofGroup_.insert_or_assign(opening.group, *made);
  if (!openings_.empty()) begin();
  opening.opened(failure ? &*failure : nullptr);
  return true;
}

/// Begins the duplicate communicator of the first opening for which MPI can create one.
void GroupCommunicators::begin() {
  while (!openings_.empty()) {
    try {
      mpi_.beginDuplicate();
      return;
    } catch (const NativeError &error) {
      const auto opening = std::move(openings_.front());
      openings_.pop_front();
      opening.opened(&error);
    }
  }
}

} // namespace tandem
