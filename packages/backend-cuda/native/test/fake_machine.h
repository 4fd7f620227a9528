// The fake GPUs: their memory, streams (threads), events, kernels and graphs, which run in a seeded random
// topological order, so that a missing edge shows. Included once, by fake_cuda.cpp.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../src/cuda_api.h"
#include "fake_settings.h"

using namespace tandem::cuda;

/// A driver after a fault answers every call with it.
#define STICKY                                                                                                         \
  if (sticky.load() != 0) return sticky.load()

namespace {

std::size_t deviceMemory() { return static_cast<std::size_t>(setting("FAKE_CUDA_MEMORY", 1L << 30)); }
bool peersAllowed() {
  const char *text = getenv("FAKE_CUDA_PEERS");
  return text == nullptr || std::strcmp(text, "none") != 0;
}

// Threads may call until the last moment of a process, so nothing here is ever destroyed.
std::mutex stateMutex;
std::atomic<Result> sticky{0};
/// Once the process ends, every call returns this, as the driver's do.
constexpr Result errorDeinitialized = 4;
std::atomic<bool> deinitialized{false};
struct EndOfProcess {
  ~EndOfProcess() { deinitialized.store(true); }
} endOfProcess;
std::size_t usedBytes[64];
thread_local struct FakeContext *currentContext = nullptr;

struct FakeContext {
  int device;
};
FakeContext contexts[64];

/// What each device has made and not got back, by kind, and how often its primary context is retained.
auto *const live = new std::map<std::string, long>[64];
int retained[64];
void count(int device, const char *kind, int change) {
  std::lock_guard lock(stateMutex);
  live[device][kind] += change;
}

struct FakePool {
  int device;
  std::set<int> readers;
};

struct Block {
  std::size_t byteLength;
  int device; // -1: host
  FakePool *pool;
  /// Whether every device reaches it.
  bool open = false;
};
auto &blocks = *new std::map<std::uintptr_t, Block>();

/// Is [address, address + byteLength) live memory that `device` may touch? Host memory is any page-locked
/// range.
Result checkRange(int device, const void *pointer, std::size_t byteLength) {
  std::lock_guard lock(stateMutex);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  auto found = blocks.upper_bound(address);
  if (found == blocks.begin()) return 700;
  --found;
  if (address + byteLength > found->first + found->second.byteLength) return 700;
  if (found->second.device < 0 || found->second.device == device || found->second.open) return 0;
  return found->second.pool != nullptr && found->second.pool->readers.count(device) > 0 ? 0 : errorInvalidValue;
}

struct FakeFunction {
  void *entry = nullptr;
  void (*setThread)(const unsigned *) = nullptr;
  /// Runs a whole grid: kernels that bring their own scheduler.
  void (*launchGrid)(const unsigned *, void *const *) = nullptr;
  int *fault = nullptr;
  std::string name;
  std::size_t parameterCount = 0;
  int device = 0;
  int dynamicShared = 0;
};
/// A library of kernels, which is unloaded with its last module.
using FakeLibrary = std::shared_ptr<void>;
struct FakeModule {
  FakeLibrary library;
  std::map<std::string, std::size_t> entries;
  std::vector<std::unique_ptr<FakeFunction>> functions;
  int device = 0;
};

/// Nanoseconds between the clocks of a GPU and the next: far more than a busy machine adds to what the
/// calibration measures.
constexpr std::uint64_t clocksApart = 100'000'000'000;

std::uint64_t nanoseconds() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

template <typename T> std::atomic<T> &word(std::uint64_t address) { return *reinterpret_cast<std::atomic<T> *>(address); }

/// Polls, then sleeps between polls: threads that only yield wait whole time slices for a busy machine.
template <typename Done> void spinUntil(Done done) {
  for (unsigned polls = 0; !done(); ++polls) {
    if (polls < 64) std::this_thread::yield();
    else std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

/// Kernels of the runtime itself, which come as PTX.
bool runInternal(const FakeFunction &function, unsigned workgroups, const std::vector<std::uint64_t> &p) {
  if (function.name == "tandem_stamp") {
    // Clocks of real GPUs differ.
    *reinterpret_cast<std::uint64_t *>(p[0]) = nanoseconds() + static_cast<std::uint64_t>(function.device) * clocksApart;
    return true;
  }
  if (function.name == "tandem_ping_pong") {
    auto *stamps = reinterpret_cast<std::uint64_t *>(p[3]);
    const auto clock = [&] { return nanoseconds() + static_cast<std::uint64_t>(function.device) * clocksApart; };
    for (std::uint64_t round = 1; round <= p[4]; ++round) {
      if (p[0] == 0) {
        *stamps++ = clock();
        word<std::uint64_t>(p[2]).store(round);
      }
      // Like the real one, it gives up if the other side does not start, but never on a busy machine.
      const auto seconds = static_cast<std::uint64_t>(setting("FAKE_CUDA_PING_PONG_SECONDS", 600));
      const auto late = nanoseconds() + seconds * 1'000'000'000;
      spinUntil([&] { return word<std::uint64_t>(p[1]).load() >= round || nanoseconds() > late; });
      if (word<std::uint64_t>(p[1]).load() < round) return true;
      *stamps++ = clock();
      if (p[0] != 0) word<std::uint64_t>(p[2]).store(round);
    }
    return true;
  }
  if (function.name == "tandem_begin") {
    word<std::uint32_t>(p[0]).fetch_add(1);
    return true;
  }
  if (function.name == "tandem_sync") {
    const auto epoch = word<std::uint32_t>(p[0]).load();
    for (std::uint64_t index = 0; index < p[2]; ++index) word<std::uint32_t>(p[5 + index]).store(epoch);
    for (std::uint64_t index = 0; index < p[3]; ++index) {
      const auto target = epoch - static_cast<std::uint32_t>(p[4] >> index & 1);
      spinUntil([&] {
        return static_cast<std::int32_t>(word<std::uint32_t>(p[13 + index]).load() - target) >= 0 ||
               word<std::uint32_t>(p[1]).load() != 0;
      });
    }
    return true;
  }
  if (function.name == "tandem_scatter") {
    const auto *entry = reinterpret_cast<const std::uint64_t *>(p[0]);
    for (unsigned index = 0; index < workgroups; ++index, entry += 3) {
      if (checkRange(function.device, reinterpret_cast<void *>(entry[0]), entry[2]) != 0) return false;
      std::memcpy(reinterpret_cast<void *>(entry[0]), reinterpret_cast<void *>(entry[1]), entry[2]);
    }
    return true;
  }
  if (function.name == "tandem_copy16" || function.name == "tandem_copy4") {
    const std::size_t unit = function.name == "tandem_copy16" ? 16 : 4;
    for (std::uint64_t row = 0; row < p[5]; ++row) {
      const auto *source = reinterpret_cast<const char *>(p[0] + row * p[1]);
      auto *target = reinterpret_cast<char *>(p[2] + row * p[3]);
      if (checkRange(function.device, source, p[4] * unit) != 0 || checkRange(function.device, target, p[4] * unit) != 0) return false;
      std::memcpy(target, source, p[4] * unit);
    }
    return true;
  }
  return false;
}

Result launch(const FakeFunction &function, const unsigned *grid, const unsigned *block, const std::vector<std::uint64_t> &p) {
  if (function.launchGrid != nullptr) {
    // The scheduler's state is global.
    static std::mutex gridMutex;
    std::lock_guard lock(gridMutex);
    std::vector<void *> arguments;
    for (const auto &value : p) arguments.push_back(const_cast<std::uint64_t *>(&value));
    function.launchGrid(grid, arguments.data());
    return 0;
  }
  if (function.entry == nullptr) return runInternal(function, grid[0], p) ? 0 : 500;
  unsigned ids[12];
  for (int i = 0; i < 3; ++i) {
    ids[6 + i] = block[i];
    ids[9 + i] = grid[i];
  }
  std::vector<std::uint64_t> padded = p;
  padded.resize(16);
  using Entry = void (*)(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                         std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                         std::uint64_t, std::uint64_t);
  const auto entry = reinterpret_cast<Entry>(function.entry);
  for (ids[2] = 0; ids[2] < grid[2]; ++ids[2])
    for (ids[1] = 0; ids[1] < grid[1]; ++ids[1])
      for (ids[0] = 0; ids[0] < grid[0]; ++ids[0])
        for (ids[5] = 0; ids[5] < block[2]; ++ids[5])
          for (ids[4] = 0; ids[4] < block[1]; ++ids[4])
            for (ids[3] = 0; ids[3] < block[0]; ++ids[3]) {
              function.setThread(ids);
              const auto *a = padded.data();
              entry(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15]);
              if (*function.fault != 0) return *function.fault;
            }
  return 0;
}

Result copyRows(int device, const char *source, std::size_t sourcePitch, char *target, std::size_t targetPitch,
                std::size_t width, std::size_t height, bool checkSource, bool checkTarget) {
  if (width == 0 || height == 0) return 0;
  if (checkSource) {
    if (const auto bad = checkRange(device, source, sourcePitch * (height - 1) + width)) return bad;
  }
  if (checkTarget) {
    if (const auto bad = checkRange(device, target, targetPitch * (height - 1) + width)) return bad;
  }
  for (std::size_t row = 0; row < height; ++row) std::memcpy(target + row * targetPitch, source + row * sourcePitch, width);
  return 0;
}

struct FakeEvent {
  int device;
  std::mutex mutex;
  std::condition_variable reached;
  std::uint64_t recorded = 0;
  std::uint64_t completed = 0;
  std::uint64_t time = 0;
};

/// Priorities go from 0 down to this one.
constexpr int greatestPriority = -5;

struct FakeNode {
  std::function<Result()> work;
  std::vector<std::size_t> after;
  int priority = 0;
};
struct FakeGraph {
  int device = 0;
  std::vector<FakeNode> nodes;
};

/// How much was issued to a stream, and how much of it is done. Outlives the stream.
struct FakeProgress {
  int device = 0;
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t issued = 0;
  std::uint64_t done = 0;
};
auto &allProgress = *new std::set<std::shared_ptr<FakeProgress>>();
/// Waits for all that was issued on the device until now, as some calls of the driver do.
void drainDevice(int device) {
  std::vector<std::shared_ptr<FakeProgress>> streams;
  {
    std::lock_guard lock(stateMutex);
    for (const auto &one : allProgress) {
      if (one->device == device) streams.push_back(one);
    }
  }
  for (const auto &one : streams) {
    std::unique_lock lock(one->mutex);
    one->changed.wait(lock, [&, until = one->issued] { return one->done >= until; });
  }
}

struct FakeStream {
  int device = 0;
  const std::shared_ptr<FakeProgress> progress = std::make_shared<FakeProgress>();
  int priority = 0;
  /// Where what is issued goes while it is captured.
  FakeGraph *capture = nullptr;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> queue;
  bool busy = false;
  bool stop = false;
  std::thread thread;

  FakeStream() {
    thread = std::thread([this] {
      for (;;) {
        std::function<void()> task;
        {
          std::unique_lock lock(mutex);
          changed.wait(lock, [this] { return stop || !queue.empty(); });
          if (queue.empty()) return;
          task = std::move(queue.front());
          queue.pop_front();
          busy = true;
        }
        task();
        {
          std::lock_guard lock(progress->mutex);
          progress->done += 1;
          progress->changed.notify_all();
        }
        std::lock_guard lock(mutex);
        busy = false;
        changed.notify_all();
      }
    });
  }
  void push(std::function<void()> task) {
    {
      std::lock_guard lock(progress->mutex);
      progress->issued += 1;
    }
    std::lock_guard lock(mutex);
    queue.push_back(std::move(task));
    changed.notify_all();
  }
  void drain() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return queue.empty() && !busy; });
  }
};
FakeStream *fake(Stream stream) { return reinterpret_cast<FakeStream *>(stream); }

void fail(Result result) {
  if (result != 0) {
    Result none = 0;
    sticky.compare_exchange_strong(none, result);
  }
}

FakeGraph *fake(Graph graph) { return reinterpret_cast<FakeGraph *>(graph); }
std::size_t nodeIndex(GraphNode node) { return reinterpret_cast<std::size_t>(node) - 1; }

struct FakeExec {
  FakeGraph graph;
  std::mt19937 random{static_cast<unsigned>(setting("FAKE_CUDA_SEED", 1))};
  void run() {
    std::this_thread::sleep_for(std::chrono::milliseconds(setting("FAKE_CUDA_BUSY_MS", 0)));
    const auto count = graph.nodes.size();
    std::vector<std::size_t> waiting(count);
    std::vector<std::vector<std::size_t>> followers(count);
    std::vector<std::size_t> ready;
    for (std::size_t index = 0; index < count; ++index) {
      waiting[index] = graph.nodes[index].after.size();
      for (const auto earlier : graph.nodes[index].after) followers[earlier].push_back(index);
      if (waiting[index] == 0) ready.push_back(index);
    }
    while (!ready.empty()) {
      const auto pick = random() % ready.size();
      const auto index = ready[pick];
      ready.erase(ready.begin() + static_cast<long>(pick));
      if (sticky.load() == 0) fail(graph.nodes[index].work());
      for (const auto follower : followers[index]) {
        if (--waiting[follower] == 0) ready.push_back(follower);
      }
    }
  }
};

Result addNode(GraphNode *node, Graph graph, const GraphNode *after, std::size_t count, std::function<Result()> work) {
  FakeNode added{std::move(work), {}};
  for (std::size_t index = 0; index < count; ++index) added.after.push_back(nodeIndex(after[index]));
  fake(graph)->nodes.push_back(std::move(added));
  *node = reinterpret_cast<GraphNode>(fake(graph)->nodes.size());
  return 0;
}

/// What a device still has: "1 module, 2 graphs"; empty if it has nothing.
std::string leftOn(int device) {
  std::lock_guard lock(stateMutex);
  auto left = live[device];
  const bool last = std::all_of(std::begin(retained), std::end(retained), [](int times) { return times == 0; });
  for (const auto &[address, block] : blocks) {
    if (block.device == device) left["block of memory"] += 1;
    else if (block.device < 0 && last) left["page-locked block"] += 1;
  }
  std::string text;
  for (const auto &[kind, number] : left) {
    if (number != 0) text += (text.empty() ? "" : ", ") + std::to_string(number) + " " + kind;
  }
  return text;
}

int deviceOf(ContextHandle context) { return reinterpret_cast<FakeContext *>(context)->device; }

} // namespace
