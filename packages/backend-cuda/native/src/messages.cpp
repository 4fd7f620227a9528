// Messages between this process's GPU and those of other ranks.
#include <algorithm>

#include "group.h"

namespace tandem {

void Group::joinRanks(const std::vector<std::string> &libraries, const std::vector<std::uint8_t> &id, int rank, int count) {
  const auto &gpu = gpus_.front();
  gpu.use();
  communicator_ = std::make_unique<nccl::Communicator>(
      libraries, id, rank, count, [this] { return broken_.load() || stopping_(); }, *failures_);
  // Pairs connect with their first message, and no message may be outside graphs once one is inside a graph.
  // So each rank receives one from every other rank here.
  constexpr std::size_t wordByteLength = sizeof(std::uint32_t);
  const auto total = static_cast<std::size_t>(count);
  const cuda::Allocation words(gpu, 2 * total * wordByteLength);
  const std::vector<std::uint32_t> sent(total, static_cast<std::uint32_t>(rank));
  std::vector<std::uint32_t> expected;
  std::vector<nccl::Message> messages;
  for (int peer = 0; peer < count; ++peer) {
    const auto index = static_cast<std::size_t>(peer);
    messages.push_back({true, peer, words.address() + index * wordByteLength, wordByteLength});
    messages.push_back({false, peer, words.address() + (total + index) * wordByteLength, wordByteLength});
    expected.push_back(static_cast<std::uint32_t>(peer));
  }
  std::vector<std::uint32_t> received(total, ~0u);
  try {
    gpu.call(driver_.memcpyHtoDAsync, words.address(), sent.data(), total * wordByteLength, gpu.stream.get());
    communicator_->exchange(messages, gpu.stream.get());
    gpu.record(gpu.end);
    waitFor(gpu, gpu.end.get(), Clock::now(), 8, [] {});
    gpu.call(driver_.memcpyDtoHAsync, received.data(), words.address() + total * wordByteLength, total * wordByteLength,
             gpu.stream.get());
    gpu.synchronize();
  } catch (...) {
    abandon(RunRequest{});
    throw;
  }
  if (received != expected) throw NativeError("unsupported", "The first messages between the ranks arrived with the wrong contents.");
}

cuda::OwnedGraph Group::captureMessages(const cuda::Gpu &gpu, const std::vector<nccl::Message> &messages) const {
  if (!communicator_) throw NativeError("driver", "The graph has messages, but the group has not joined other ranks.");
  communicator_->requireWhole();
  gpu.use();
  // NCCL issues a group from its own thread.
  gpu.call(driver_.streamBeginCapture, gpu.stream.get(), cuda::streamCaptureModeThreadLocal);
  cuda::Graph captured = nullptr;
  try {
    communicator_->exchange(messages, gpu.stream.get());
  } catch (...) {
    driver_.streamEndCapture(gpu.stream.get(), &captured);
    if (captured != nullptr) driver_.graphDestroy(captured);
    throw;
  }
  gpu.call(driver_.streamEndCapture, gpu.stream.get(), &captured);
  return {gpu.context, captured};
}

} // namespace tandem
