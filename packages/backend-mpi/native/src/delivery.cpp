#include "delivery.h"

namespace tandem {

Delivery::Delivery(mpi::Channel channel, int from, int to, int tag, MessageRegion bytes) {
  const auto send = [&](int peer) {
    sends_.push_back(std::make_unique<Transfer>(channel, Transfer::Direction::send, bytes, peer, tag));
  };
  const auto receive = [&](int peer) {
    receive_ = std::make_unique<Transfer>(channel, Transfer::Direction::receive, bytes, peer, tag);
  };
  const int rank = channel.mpi.rank();
  if (to != toAll) {
    if (from == to) return;
    if (rank == from) send(to);
    else receive(from);
    return;
  }
  const int size = channel.mpi.size();
  const int place = (rank - from + size) % size;
  const auto rankAt = [&](int other) { return (other + from) % size; };
  if (place != 0) receive(rankAt(place & (place - 1)));
  // Serves the largest subtree first, because it takes longest.
  int bit = 1;
  while (bit < size && (place & bit) == 0) bit <<= 1;
  for (bit >>= 1; bit > 0; bit >>= 1) {
    if (place + bit < size) send(rankAt(place + bit));
  }
}

void Delivery::start(std::function<void()> finished) {
  finished_ = std::move(finished);
  if (receive_) receive_->start([this] { forward(); });
  else forward();
}

void Delivery::forward() {
  unsent_ = sends_.size();
  if (unsent_ == 0) {
    finished_();
    return;
  }
  for (auto &send : sends_) {
    send->start([this] {
      if (--unsent_ == 0) finished_();
    });
  }
}

std::vector<int> Delivery::waitsFor() const {
  std::vector<int> peers;
  if (receive_ && receive_->active()) peers.push_back(receive_->peer());
  for (const auto &send : sends_) {
    if (send->active()) peers.push_back(send->peer());
  }
  return peers;
}

} // namespace tandem
