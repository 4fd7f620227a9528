// The command queues of a group, which exist in addition to its graphs and transfers.
#include <algorithm>
#include <limits>
#include <system_error>
#include <thread>

#include "group.h"

namespace tandem {

namespace {

/// As for launches: the next submit follows soon, and waking a thread takes longer than a short kernel.
constexpr auto queueSpinTime = std::chrono::milliseconds(5);
constexpr auto queueLingerTime = std::chrono::microseconds(200);
constexpr auto queuePauseTime = std::chrono::microseconds(50);

} // namespace

void Group::openQueue(std::uint32_t id, std::size_t gpuIndex, double timeoutSeconds,
                      const std::vector<std::uint32_t> &internalKernels, QueueMessages messages) {
  const auto &gpu = gpus_.at(gpuIndex);
  CommandQueue::Options options;
  options.timeoutSeconds = timeoutSeconds;
  options.messages = std::move(messages);
  options.functions = {kernelOf(internalKernels.at(0)).function, kernelOf(internalKernels.at(1)).function,
                       kernelOf(internalKernels.at(2)).function};
  // Work that launch sets have started on other GPUs may still use this GPU's memory.
  options.beforeWork = [this, &gpu] {
    if (lastLaunched_ == nullptr || lastLaunched_ == &gpu) return;
    const auto held = holdOrder();
    follow(gpu, *lastLaunched_);
  };
  options.takeHostBlock = [this](std::size_t byteLength) { return takeHostBlock(byteLength); };
  options.nextOrder = [this] { return ++order_; };
  options.keepTime = [this] { keepTime(); };
  try {
    if (!watchdog_) watchdog_.emplace();
  } catch (const std::system_error &error) {
    throw NativeError("out-of-memory", "The operating system cannot start a thread: " + error.code().message() + ".");
  }
  queues_.try_emplace(id, gpu, *watchdog_, std::move(options));
}

void Group::keepTime() {
  for (auto &[id, queue] : queues_) {
    const auto order = queue.oldestOrder();
    double before = 0;
    for (const auto &[otherId, other] : queues_)
      if (&other != &queue && other.oldestOrder() < order)
        before += other.timeoutSeconds() > 0 ? other.timeoutSeconds() : std::numeric_limits<double>::infinity();
    for (const auto &[setId, set] : launchSets_)
      if (!set.inFlight.empty() && set.inFlight.front().order < order) before = std::numeric_limits<double>::infinity();
    queue.keepTime(before);
  }
}

CommandQueue &Group::queueOf(std::uint32_t id) {
  const auto found = queues_.find(id);
  if (found == queues_.end()) throw NativeError("group-lost", "The queue has been closed.");
  return found->second;
}

void Group::closeQueue(std::uint32_t id) {
  const auto found = queues_.find(id);
  if (found == queues_.end()) return;
  found->second.close();
  if (found->second.ended()) queues_.erase(found);
}

void Group::releaseShared(std::uint32_t id, std::uint64_t buffer) {
  const auto found = queues_.find(id);
  if (found == queues_.end()) return;
  settleQueues();
  found->second.releaseShared(buffer);
  if (found->second.ended()) queues_.erase(found);
}

bool Group::tendQueues() {
  bool progress = false;
  for (auto &[id, queue] : queues_) progress = queue.poll() || progress;
  keepTime();
  return progress;
}

bool Group::pollQueues() {
  const bool progress = tendQueues();
  const bool waiting = std::any_of(queues_.begin(), queues_.end(), [](const auto &entry) { return !entry.second.idle(); });
  const auto now = std::chrono::steady_clock::now();
  if (progress) lastQueueProgress_ = now;
  takeBackBlocks();
  const auto idle = now - lastQueueProgress_;
  if (!waiting) return idle < queueLingerTime;
  if (!progress) {
    if (idle > queueSpinTime) std::this_thread::sleep_for(queuePauseTime);
    else std::this_thread::yield();
  }
  return true;
}

std::shared_ptr<void> Group::takeHostBlock(std::size_t byteLength) {
  takeBackBlocks();
  HostBlocks::Block block;
  try {
    block = hostBlocks_.take(byteLength);
  } catch (const std::bad_alloc &) {
    throw NativeError("out-of-memory", "The host does not have " + std::to_string(byteLength) + " bytes of free memory.");
  }
  auto *address = block.pages.get();
  if (!block.locked) lockHost(address, block.byteLength);
  return {address, [block, returned = returned_](void *) {
            std::lock_guard lock(returned->mutex);
            returned->blocks.push_back(block);
          }};
}

void Group::takeBackBlocks() {
  std::vector<HostBlocks::Block> blocks;
  {
    std::lock_guard lock(returned_->mutex);
    blocks.swap(returned_->blocks);
  }
  for (const auto &block : blocks) giveBack(block);
}

void Group::settleQueues() {
  const auto isBehind = [](const auto &entry) { return entry.second.behind(); };
  while (!stopping_() && std::any_of(queues_.begin(), queues_.end(), isBehind)) {
    if (!tendQueues()) std::this_thread::sleep_for(queuePauseTime);
  }
}

void Group::awaitQueues() {
  const auto works = [](const auto &entry) { return entry.second.oldestOrder() != CommandQueue::nothing; };
  tendQueues();
  while (!stopping_() && std::any_of(queues_.begin(), queues_.end(), works)) {
    if (!tendQueues()) std::this_thread::sleep_for(queuePauseTime);
  }
}

void Group::followQueues(const cuda::Gpu &gpu) {
  for (auto &[id, queue] : queues_) {
    const auto &other = queue.gpu();
    if (&other == &gpu || !queue.inFlight()) continue;
    follow(gpu, other);
  }
}

} // namespace tandem
