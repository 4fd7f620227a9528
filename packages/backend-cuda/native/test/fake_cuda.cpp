// A CUDA driver, an NVRTC and an NVML on host memory, in one library, for tests on machines without a GPU. Streams are threads; graphs
// run in a seeded random topological order, so that a missing edge shows; "device code" is host code: NVRTC runs the C++ compiler.
// What it refuses, it refuses as the driver does: unknown addresses, memory of peers without access, freed modules.
//
// Environment: FAKE_CUDA_DEVICES (2), FAKE_CUDA_MEMORY bytes a device (2^30), FAKE_CUDA_PEERS (all | none), FAKE_CUDA_VERSION (13000),
// FAKE_CUDA_SEED (1), FAKE_CUDA_BUSY_MS a graph launch (0), FAKE_CUDA_GRAPHS how many may live (10^6), FAKE_CUDA_FAIL_DEVICE the device
// that refuses graph launches for want of memory (-1), FAKE_NVML_ERROR (fail init).
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "../src/cuda_api.h"

using namespace tandem::cuda;

namespace {

long setting(const char *name, long fallback) {
  const char *text = getenv(name);
  return text != nullptr && *text != '\0' ? std::strtol(text, nullptr, 10) : fallback;
}
int deviceCount() { return static_cast<int>(setting("FAKE_CUDA_DEVICES", 2)); }
std::size_t deviceMemory() { return static_cast<std::size_t>(setting("FAKE_CUDA_MEMORY", 1L << 30)); }
bool peersAllowed() {
  const char *text = getenv("FAKE_CUDA_PEERS");
  return text == nullptr || std::strcmp(text, "none") != 0;
}

std::mutex stateMutex;
std::atomic<Result> sticky{0};
std::size_t usedBytes[64];
thread_local struct FakeContext *currentContext = nullptr;

struct FakeContext {
  int device;
};
FakeContext contexts[64];

struct FakePool {
  int device;
  std::set<int> readers;
};

struct Block {
  std::size_t byteLength;
  int device; // -1: host
  FakePool *pool;
};
std::map<std::uintptr_t, Block> blocks;

/// Is [address, address + byteLength) live memory that `device` may touch? Host memory is any page-locked range.
Result checkRange(int device, const void *pointer, std::size_t byteLength) {
  std::lock_guard lock(stateMutex);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  auto found = blocks.upper_bound(address);
  if (found == blocks.begin()) return 700;
  --found;
  if (address + byteLength > found->first + found->second.byteLength) return 700;
  if (found->second.device < 0 || found->second.device == device) return 0;
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
struct FakeModule {
  void *library = nullptr;
  std::map<std::string, std::size_t> entries;
  std::vector<std::unique_ptr<FakeFunction>> functions;
  int device = 0;
};

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
bool runInternal(const FakeFunction &function, const std::vector<std::uint64_t> &p) {
  if (function.name == "tandem_stamp") {
    // Clocks of real GPUs differ.
    *reinterpret_cast<std::uint64_t *>(p[0]) = nanoseconds() + static_cast<std::uint64_t>(function.device) * 50000;
    return true;
  }
  if (function.name == "tandem_ping_pong") {
    auto *stamps = reinterpret_cast<std::uint64_t *>(p[3]);
    const auto clock = [&] { return nanoseconds() + static_cast<std::uint64_t>(function.device) * 50000; };
    for (std::uint64_t round = 1; round <= p[4]; ++round) {
      if (p[0] == 0) {
        *stamps++ = clock();
        word<std::uint64_t>(p[2]).store(round);
      }
      spinUntil([&] { return word<std::uint64_t>(p[1]).load() >= round; });
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
  if (function.entry == nullptr) return runInternal(function, p) ? 0 : 500;
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
  std::mutex mutex;
  std::condition_variable reached;
  std::uint64_t recorded = 0;
  std::uint64_t completed = 0;
  std::uint64_t time = 0;
};

struct FakeStream {
  int device = 0;
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
        std::lock_guard lock(mutex);
        busy = false;
        changed.notify_all();
      }
    });
  }
  void push(std::function<void()> task) {
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

struct FakeNode {
  std::function<Result()> work;
  std::vector<std::size_t> after;
};
struct FakeGraph {
  std::vector<FakeNode> nodes;
};
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

int deviceOf(Context context) { return reinterpret_cast<FakeContext *>(context)->device; }

#define STICKY                                                                                                         \
  if (sticky.load() != 0) return sticky.load()

Result fInit(unsigned) { return deviceCount() == 0 ? errorNoDevice : 0; }
Result fDriverGetVersion(int *version) {
  *version = static_cast<int>(setting("FAKE_CUDA_VERSION", 13000));
  return 0;
}
Result fGetErrorName(Result error, const char **name) {
  switch (error) {
  case 1: *name = "CUDA_ERROR_INVALID_VALUE"; return 0;
  case 2: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return 0;
  case 209: *name = "CUDA_ERROR_NO_BINARY_FOR_GPU"; return 0;
  case 700: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; return 0;
  default: *name = "CUDA_ERROR_UNKNOWN"; return 0;
  }
}
Result fGetErrorString(Result error, const char **text) {
  *text = error == 700 ? "an illegal memory access was encountered" : error == 2 ? "out of memory" : "error of the fake driver";
  return 0;
}
Result fDeviceGetCount(int *count) {
  *count = deviceCount();
  return 0;
}
Result fDeviceGet(Device *device, int ordinal) {
  if (ordinal < 0 || ordinal >= deviceCount()) return 101;
  *device = ordinal;
  return 0;
}
Result fDeviceGetName(char *name, int length, Device device) {
  std::snprintf(name, static_cast<std::size_t>(length), "Fake GPU %d", device);
  return 0;
}
Result fDeviceGetUuid(Uuid *uuid, Device device) {
  for (int index = 0; index < 16; ++index) uuid->bytes[index] = static_cast<unsigned char>(0xa0 + device);
  return 0;
}
Result fDeviceTotalMem(std::size_t *bytes, Device) {
  *bytes = deviceMemory();
  return 0;
}
Result fDeviceGetAttribute(int *value, int attribute, Device) {
  static const std::map<int, int> values = {{1, 1024}, {2, 1024}, {3, 1024}, {4, 64},  {8, 49152}, {10, 32}, {11, 2147483647},
                                            {16, 4},   {38, 1 << 20}, {75, 9}, {76, 0}, {97, 232448}, {115, 1}};
  const auto found = values.find(attribute);
  if (found == values.end()) return errorInvalidValue;
  *value = found->second;
  return 0;
}
Result fDeviceGetPciBusId(char *text, int length, Device device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", 0x1b + device);
  return 0;
}
Result fDeviceCanAccessPeer(int *can, Device reader, Device owner) {
  *can = reader != owner && peersAllowed() ? 1 : 0;
  return 0;
}
Result fDevicePrimaryCtxRetain(Context *context, Device device) {
  STICKY;
  contexts[device].device = device;
  *context = reinterpret_cast<Context>(&contexts[device]);
  return 0;
}
Result fDevicePrimaryCtxRelease(Device) { return 0; }
Result fCtxSetCurrent(Context context) {
  currentContext = reinterpret_cast<FakeContext *>(context);
  return sticky.load();
}
Result fCtxEnablePeerAccess(Context, unsigned) { return 0; }
Result fMemGetInfo(std::size_t *freeBytes, std::size_t *totalBytes) {
  std::lock_guard lock(stateMutex);
  *totalBytes = deviceMemory();
  *freeBytes = deviceMemory() - usedBytes[currentContext->device];
  return 0;
}
Result fMemPoolCreate(MemoryPool *pool, const MemoryPoolProperties *properties) {
  *pool = reinterpret_cast<MemoryPool>(new FakePool{properties->location.id, {}});
  return 0;
}
Result fMemPoolDestroy(MemoryPool pool) {
  delete reinterpret_cast<FakePool *>(pool);
  return 0;
}
Result fMemPoolSetAttribute(MemoryPool, int, void *) { return 0; }
Result fMemPoolSetAccess(MemoryPool pool, const MemoryAccess *map, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) reinterpret_cast<FakePool *>(pool)->readers.insert(map[index].location.id);
  return 0;
}
Result fMemPoolTrimTo(MemoryPool, std::size_t) { return 0; }
Result fMemAllocFromPoolAsync(DevicePtr *address, std::size_t bytes, MemoryPool pool, Stream) {
  STICKY;
  std::lock_guard lock(stateMutex);
  auto *owner = reinterpret_cast<FakePool *>(pool);
  if (usedBytes[owner->device] + bytes > deviceMemory()) return errorOutOfMemory;
  usedBytes[owner->device] += bytes;
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  // Contents are undefined; large blocks stay untouched, so that tests can have more than the machine.
  if (bytes <= std::size_t{64} << 20) std::memset(memory, 0xcd, bytes);
  blocks[reinterpret_cast<std::uintptr_t>(memory)] = {bytes, owner->device, owner};
  *address = reinterpret_cast<DevicePtr>(memory);
  return 0;
}
Result fMemFreeAsync(DevicePtr address, Stream stream) {
  fake(stream)->drain();
  std::lock_guard lock(stateMutex);
  const auto found = blocks.find(address);
  if (found == blocks.end()) return errorInvalidValue;
  usedBytes[found->second.device] -= found->second.byteLength;
  blocks.erase(found);
  std::free(reinterpret_cast<void *>(address));
  return 0;
}
Result fMemHostAlloc(void **address, std::size_t bytes, unsigned) {
  *address = std::malloc(bytes);
  std::lock_guard lock(stateMutex);
  blocks[reinterpret_cast<std::uintptr_t>(*address)] = {bytes, -1, nullptr};
  return 0;
}
Result fMemFreeHost(void *address) {
  std::lock_guard lock(stateMutex);
  blocks.erase(reinterpret_cast<std::uintptr_t>(address));
  std::free(address);
  return 0;
}
Result fMemHostRegister(void *address, std::size_t bytes, unsigned) {
  STICKY;
  std::lock_guard lock(stateMutex);
  blocks[reinterpret_cast<std::uintptr_t>(address)] = {bytes, -1, nullptr};
  return 0;
}
Result fMemHostUnregister(void *address) {
  std::lock_guard lock(stateMutex);
  return blocks.erase(reinterpret_cast<std::uintptr_t>(address)) == 1 ? 0 : 713;
}
Result fMemcpyHtoDAsync(DevicePtr target, const void *source, std::size_t bytes, Stream stream) {
  STICKY;
  const int device = currentContext->device;
  if (const auto bad = checkRange(device, reinterpret_cast<void *>(target), bytes)) return errorInvalidValue + 0 * bad;
  fake(stream)->push([=] { fail(copyRows(device, static_cast<const char *>(source), 0, reinterpret_cast<char *>(target), 0, bytes, 1, false, true)); });
  return 0;
}
Result fMemcpyDtoHAsync(void *target, DevicePtr source, std::size_t bytes, Stream stream) {
  STICKY;
  const int device = currentContext->device;
  fake(stream)->push([=] { fail(copyRows(device, reinterpret_cast<const char *>(source), 0, static_cast<char *>(target), 0, bytes, 1, true, false)); });
  return 0;
}
Result fMemcpy2DAsync(const Memcpy2D *copy, Stream stream) {
  STICKY;
  const int device = currentContext->device;
  fake(stream)->push([device, copy = *copy] {
    const bool fromHost = copy.srcMemoryType == memoryTypeHost;
    const bool toHost = copy.dstMemoryType == memoryTypeHost;
    fail(copyRows(device, fromHost ? static_cast<const char *>(copy.srcHost) : reinterpret_cast<const char *>(copy.srcDevice),
                  copy.srcPitch, toHost ? static_cast<char *>(copy.dstHost) : reinterpret_cast<char *>(copy.dstDevice),
                  copy.dstPitch, copy.widthInBytes, copy.height, !fromHost, !toHost));
  });
  return 0;
}
Result fMemsetD8Async(DevicePtr target, unsigned char value, std::size_t count, Stream stream) {
  STICKY;
  fake(stream)->push([=] { std::memset(reinterpret_cast<void *>(target), value, count); });
  return 0;
}
Result fStreamCreate(Stream *stream, unsigned) {
  auto *created = new FakeStream();
  created->device = currentContext->device;
  *stream = reinterpret_cast<Stream>(created);
  return 0;
}
Result fStreamDestroy(Stream stream) {
  auto *gone = fake(stream);
  {
    std::lock_guard lock(gone->mutex);
    gone->stop = true;
    gone->changed.notify_all();
  }
  gone->thread.join();
  delete gone;
  return 0;
}
Result fStreamSynchronize(Stream stream) {
  fake(stream)->drain();
  return sticky.load();
}
Result fStreamWaitEvent(Stream stream, Event event, unsigned) {
  auto *awaited = reinterpret_cast<FakeEvent *>(event);
  std::uint64_t number;
  {
    std::lock_guard lock(awaited->mutex);
    number = awaited->recorded;
  }
  fake(stream)->push([=] {
    std::unique_lock lock(awaited->mutex);
    awaited->reached.wait(lock, [=] { return awaited->completed >= number; });
  });
  return 0;
}
Result fEventCreate(Event *event, unsigned) {
  *event = reinterpret_cast<Event>(new FakeEvent());
  return 0;
}
// Events leak: streams may still refer to them, as the driver allows.
Result fEventDestroy(Event) { return 0; }
Result fEventRecord(Event event, Stream stream) {
  auto *recorded = reinterpret_cast<FakeEvent *>(event);
  std::uint64_t number;
  {
    std::lock_guard lock(recorded->mutex);
    number = ++recorded->recorded;
  }
  fake(stream)->push([=] {
    std::lock_guard lock(recorded->mutex);
    recorded->completed = number;
    recorded->time = nanoseconds();
    recorded->reached.notify_all();
  });
  return 0;
}
Result fEventQuery(Event event) {
  STICKY;
  auto *asked = reinterpret_cast<FakeEvent *>(event);
  std::lock_guard lock(asked->mutex);
  return asked->completed >= asked->recorded ? 0 : errorNotReady;
}
Result fEventSynchronize(Event event) {
  auto *asked = reinterpret_cast<FakeEvent *>(event);
  std::unique_lock lock(asked->mutex);
  const auto number = asked->recorded;
  asked->reached.wait(lock, [=] { return asked->completed >= number; });
  return sticky.load();
}
Result fEventElapsedTime(float *milliseconds, Event start, Event end) {
  *milliseconds = static_cast<float>(reinterpret_cast<FakeEvent *>(end)->time - reinterpret_cast<FakeEvent *>(start)->time) / 1e6f;
  return 0;
}
Result fModuleLoadDataEx(Module *module, const void *image, unsigned, int *, void **) {
  STICKY;
  auto loaded = std::make_unique<FakeModule>();
  loaded->device = currentContext->device;
  const std::string text(static_cast<const char *>(image));
  if (text.rfind("FAKE ", 0) == 0) {
    std::istringstream lines(text);
    std::string word;
    std::string path;
    lines >> word >> path;
    loaded->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded->library == nullptr) return 209;
    std::string name;
    std::size_t count;
    while (lines >> name >> count) loaded->entries[name] = count;
  } else if (text.rfind(".version", 0) == 0) {
    const std::regex entry("\\.entry (\\w+)\\(([^)]*)\\)");
    for (std::sregex_iterator it(text.begin(), text.end(), entry), end; it != end; ++it) {
      const std::string parameters = (*it)[2];
      loaded->entries[(*it)[1]] = static_cast<std::size_t>(std::count(parameters.begin(), parameters.end(), ',')) + 1;
    }
  } else {
    return 209;
  }
  *module = reinterpret_cast<Module>(loaded.release());
  return 0;
}
// The library stays loaded: functions of tests may share names.
Result fModuleUnload(Module module) {
  delete reinterpret_cast<FakeModule *>(module);
  return 0;
}
Result fModuleGetFunction(Function *function, Module module, const char *name) {
  auto *owner = reinterpret_cast<FakeModule *>(module);
  const auto found = owner->entries.find(name);
  if (found == owner->entries.end()) return 500;
  auto made = std::make_unique<FakeFunction>();
  made->name = name;
  made->parameterCount = found->second;
  made->device = owner->device;
  if (owner->library != nullptr) {
    made->entry = dlsym(owner->library, name);
    made->launchGrid = reinterpret_cast<void (*)(const unsigned *, void *const *)>(dlsym(owner->library, "fake_launch"));
    if (made->launchGrid != nullptr) made->entry = reinterpret_cast<void *>(made->launchGrid);
    made->setThread = reinterpret_cast<void (*)(const unsigned *)>(dlsym(owner->library, "fake_set_thread"));
    made->fault = static_cast<int *>(dlsym(owner->library, "fake_fault"));
    if (made->entry == nullptr) return 500;
  }
  *function = reinterpret_cast<Function>(made.get());
  owner->functions.push_back(std::move(made));
  return 0;
}
Result fFuncGetAttribute(int *value, int attribute, Function) {
  *value = attribute == 0 ? 1024 : 0;
  return 0;
}
Result fFuncSetAttribute(Function function, int, int value) {
  reinterpret_cast<FakeFunction *>(function)->dynamicShared = value;
  return 0;
}
Result fLaunchKernel(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void **, void **) {
  return 801;
}
Result fGraphCreate(Graph *graph, unsigned) {
  STICKY;
  *graph = reinterpret_cast<Graph>(new FakeGraph());
  return 0;
}
Result fGraphDestroy(Graph graph) {
  delete fake(graph);
  return 0;
}
Result fGraphAddEmptyNode(GraphNode *node, Graph graph, const GraphNode *after, std::size_t count) {
  return addNode(node, graph, after, count, [] { return 0; });
}
Result fGraphAddKernelNode(GraphNode *node, Graph graph, const GraphNode *after, std::size_t count, const KernelNodeParams *params) {
  const auto *function = reinterpret_cast<const FakeFunction *>(params->func);
  if (function->device != currentContext->device) return errorInvalidValue;
  std::vector<std::uint64_t> values;
  for (std::size_t index = 0; index < function->parameterCount; ++index) {
    values.push_back(*static_cast<std::uint64_t *>(params->kernelParams[index]));
  }
  return addNode(node, graph, after, count, [function, values, params = *params] {
    const unsigned grid[] = {params.gridDimX, params.gridDimY, params.gridDimZ};
    const unsigned block[] = {params.blockDimX, params.blockDimY, params.blockDimZ};
    return launch(*function, grid, block, values);
  });
}
Result fGraphAddMemcpyNode(GraphNode *node, Graph graph, const GraphNode *after, std::size_t count, const Memcpy3D *params,
                           Context context) {
  const auto copy = *params;
  const int device = deviceOf(context);
  const bool fromHost = copy.srcMemoryType == memoryTypeHost;
  const bool toHost = copy.dstMemoryType == memoryTypeHost;
  const auto *source = fromHost ? static_cast<const char *>(copy.srcHost) : reinterpret_cast<const char *>(copy.srcDevice);
  auto *target = toHost ? static_cast<char *>(copy.dstHost) : reinterpret_cast<char *>(copy.dstDevice);
  if (copy.height > 1 && (copy.srcPitch < copy.widthInBytes || copy.dstPitch < copy.widthInBytes)) return errorInvalidValue;
  if (checkRange(device, source, copy.widthInBytes) != 0 || checkRange(device, target, copy.widthInBytes) != 0) {
    return errorInvalidValue;
  }
  return addNode(node, graph, after, count, [=] {
    return copyRows(device, source, copy.srcPitch, target, copy.dstPitch, copy.widthInBytes, copy.height, true, true);
  });
}
Result fGraphAddMemsetNode(GraphNode *node, Graph graph, const GraphNode *after, std::size_t count, const MemsetNodeParams *params,
                           Context context) {
  const auto fill = *params;
  const int device = deviceOf(context);
  if (checkRange(device, reinterpret_cast<void *>(fill.dst), fill.width * fill.elementSize) != 0) return errorInvalidValue;
  return addNode(node, graph, after, count, [=] {
    for (std::size_t row = 0; row < fill.height; ++row) {
      auto *start = reinterpret_cast<char *>(fill.dst) + row * fill.pitch;
      if (const auto bad = checkRange(device, start, fill.width * fill.elementSize)) return bad;
      for (std::size_t index = 0; index < fill.width; ++index) {
        std::memcpy(start + index * fill.elementSize, &fill.value, fill.elementSize);
      }
    }
    return 0;
  });
}
std::atomic<long> liveGraphs{0};
Result fGraphInstantiate(GraphExec *exec, Graph graph, unsigned long long) {
  STICKY;
  if (liveGraphs.load() >= setting("FAKE_CUDA_GRAPHS", 1000000)) return errorOutOfMemory;
  ++liveGraphs;
  auto *made = new FakeExec();
  made->graph = *fake(graph);
  *exec = reinterpret_cast<GraphExec>(made);
  return 0;
}
Result fGraphUpload(GraphExec, Stream) { return 0; }
Result fGraphLaunch(GraphExec exec, Stream stream) {
  STICKY;
  auto *launched = reinterpret_cast<FakeExec *>(exec);
  if (fake(stream)->device == setting("FAKE_CUDA_FAIL_DEVICE", -1)) return errorOutOfMemory;
  fake(stream)->push([launched] { launched->run(); });
  return 0;
}
Result fGraphExecDestroy(GraphExec exec) {
  delete reinterpret_cast<FakeExec *>(exec);
  --liveGraphs;
  return 0;
}

const std::map<std::string, void *> &symbols() {
  static const std::map<std::string, void *> table = {
      {"cuInit", (void *)fInit},
      {"cuDriverGetVersion", (void *)fDriverGetVersion},
      {"cuGetErrorName", (void *)fGetErrorName},
      {"cuGetErrorString", (void *)fGetErrorString},
      {"cuDeviceGetCount", (void *)fDeviceGetCount},
      {"cuDeviceGet", (void *)fDeviceGet},
      {"cuDeviceGetName", (void *)fDeviceGetName},
      {"cuDeviceGetUuid", (void *)fDeviceGetUuid},
      {"cuDeviceTotalMem", (void *)fDeviceTotalMem},
      {"cuDeviceGetAttribute", (void *)fDeviceGetAttribute},
      {"cuDeviceGetPCIBusId", (void *)fDeviceGetPciBusId},
      {"cuDeviceCanAccessPeer", (void *)fDeviceCanAccessPeer},
      {"cuDevicePrimaryCtxRetain", (void *)fDevicePrimaryCtxRetain},
      {"cuDevicePrimaryCtxRelease", (void *)fDevicePrimaryCtxRelease},
      {"cuCtxSetCurrent", (void *)fCtxSetCurrent},
      {"cuCtxEnablePeerAccess", (void *)fCtxEnablePeerAccess},
      {"cuMemGetInfo", (void *)fMemGetInfo},
      {"cuMemPoolCreate", (void *)fMemPoolCreate},
      {"cuMemPoolDestroy", (void *)fMemPoolDestroy},
      {"cuMemPoolSetAttribute", (void *)fMemPoolSetAttribute},
      {"cuMemPoolSetAccess", (void *)fMemPoolSetAccess},
      {"cuMemPoolTrimTo", (void *)fMemPoolTrimTo},
      {"cuMemAllocFromPoolAsync", (void *)fMemAllocFromPoolAsync},
      {"cuMemFreeAsync", (void *)fMemFreeAsync},
      {"cuMemHostAlloc", (void *)fMemHostAlloc},
      {"cuMemFreeHost", (void *)fMemFreeHost},
      {"cuMemHostRegister", (void *)fMemHostRegister},
      {"cuMemHostUnregister", (void *)fMemHostUnregister},
      {"cuMemcpyHtoDAsync", (void *)fMemcpyHtoDAsync},
      {"cuMemcpyDtoHAsync", (void *)fMemcpyDtoHAsync},
      {"cuMemcpy2DAsync", (void *)fMemcpy2DAsync},
      {"cuMemsetD8Async", (void *)fMemsetD8Async},
      {"cuStreamCreate", (void *)fStreamCreate},
      {"cuStreamDestroy", (void *)fStreamDestroy},
      {"cuStreamSynchronize", (void *)fStreamSynchronize},
      {"cuStreamWaitEvent", (void *)fStreamWaitEvent},
      {"cuEventCreate", (void *)fEventCreate},
      {"cuEventDestroy", (void *)fEventDestroy},
      {"cuEventRecord", (void *)fEventRecord},
      {"cuEventQuery", (void *)fEventQuery},
      {"cuEventSynchronize", (void *)fEventSynchronize},
      {"cuEventElapsedTime", (void *)fEventElapsedTime},
      {"cuModuleLoadDataEx", (void *)fModuleLoadDataEx},
      {"cuModuleUnload", (void *)fModuleUnload},
      {"cuModuleGetFunction", (void *)fModuleGetFunction},
      {"cuFuncGetAttribute", (void *)fFuncGetAttribute},
      {"cuFuncSetAttribute", (void *)fFuncSetAttribute},
      {"cuLaunchKernel", (void *)fLaunchKernel},
      {"cuGraphCreate", (void *)fGraphCreate},
      {"cuGraphDestroy", (void *)fGraphDestroy},
      {"cuGraphAddEmptyNode", (void *)fGraphAddEmptyNode},
      {"cuGraphAddKernelNode", (void *)fGraphAddKernelNode},
      {"cuGraphAddMemcpyNode", (void *)fGraphAddMemcpyNode},
      {"cuGraphAddMemsetNode", (void *)fGraphAddMemsetNode},
      {"cuGraphInstantiateWithFlags", (void *)fGraphInstantiate},
      {"cuGraphUpload", (void *)fGraphUpload},
      {"cuGraphLaunch", (void *)fGraphLaunch},
      {"cuGraphExecDestroy", (void *)fGraphExecDestroy},
  };
  return table;
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT Result cuDriverGetVersion(int *version) { return fDriverGetVersion(version); }
EXPORT Result cuGetProcAddress_v2(const char *symbol, void **function, int, std::uint64_t, int *status) {
  const auto found = symbols().find(symbol);
  *function = found == symbols().end() ? nullptr : found->second;
  *status = *function == nullptr ? 1 : 0;
  return *function == nullptr ? 500 : 0;
}

// NVRTC: the host's C++ compiler. Threads of a block run one after another, so kernels with barriers do not work.
namespace {

struct FakeProgram {
  std::string source;
  std::string name;
  std::string log;
  std::string image;
};

const char *const shim = R"(
struct FakeDim { unsigned x, y, z; };
static thread_local FakeDim blockIdx, threadIdx, blockDim, gridDim;
#define __global__
extern "C" int fake_fault;
int fake_fault = 0;
extern "C" void fake_set_thread(const unsigned *ids) {
  blockIdx = {ids[0], ids[1], ids[2]}; threadIdx = {ids[3], ids[4], ids[5]};
  blockDim = {ids[6], ids[7], ids[8]}; gridDim = {ids[9], ids[10], ids[11]};
}
)";

} // namespace

EXPORT int nvrtcVersion(int *major, int *minor) {
  *major = 13;
  *minor = 0;
  return 0;
}
EXPORT const char *nvrtcGetErrorString(int) { return "NVRTC_ERROR"; }
EXPORT int nvrtcCreateProgram(FakeProgram **program, const char *source, const char *name, int, const char *const *,
                              const char *const *) {
  *program = new FakeProgram{source, name, "", ""};
  return 0;
}
EXPORT int nvrtcDestroyProgram(FakeProgram **program) {
  delete *program;
  *program = nullptr;
  return 0;
}
EXPORT int nvrtcCompileProgram(FakeProgram *program, int, const char *const *) {
  static std::atomic<int> serial{0};
  const auto base = std::string("/tmp/tandem-fake-") + std::to_string(getpid()) + "-" + std::to_string(serial++);
  {
    std::ofstream file(base + ".cpp");
    if (program->source.find("fake_launch") == std::string::npos) file << shim;
    file << "#line 1 \"" << program->name << "\"\n" << program->source;
  }
  const auto command = "c++ -shared -fPIC -std=c++17 -O1 -w -fno-strict-aliasing -fwrapv -ffp-contract=off -fno-gnu-unique -fno-diagnostics-show-caret " + base + ".cpp -o " + base + ".so 2>&1";
  FILE *pipe = popen(command.c_str(), "r");
  char buffer[4096];
  std::string output;
  while (fgets(buffer, sizeof buffer, pipe) != nullptr) output += buffer;
  const int status = pclose(pipe);
  unlink((base + ".cpp").c_str());
  // NVRTC writes name(line): error: text
  program->log = std::regex_replace(output, std::regex("^([^:\\n]+):(\\d+):\\d+: ", std::regex::multiline), "$1($2): ");
  if (status != 0) return 6;
  std::ostringstream image;
  image << "FAKE " << base << ".so";
  const std::regex entry("__global__ void (\\w+)\\(([^)]*)\\)");
  const auto &source = program->source;
  std::smatch told;
  if (std::regex_search(source, told, std::regex("// fake-entry: (\\w+) (\\d+)"))) {
    program->image = image.str() + " " + told[1].str() + " " + told[2].str();
    return 0;
  }
  for (std::sregex_iterator it(source.begin(), source.end(), entry), end; it != end; ++it) {
    const std::string parameters = (*it)[2];
    image << " " << (*it)[1] << " " << std::count(parameters.begin(), parameters.end(), ',') + 1;
  }
  program->image = image.str();
  return 0;
}
EXPORT int nvrtcGetProgramLogSize(FakeProgram *program, std::size_t *size) {
  *size = program->log.size() + 1;
  return 0;
}
EXPORT int nvrtcGetProgramLog(FakeProgram *program, char *log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}
EXPORT int nvrtcGetCUBINSize(FakeProgram *program, std::size_t *size) {
  *size = program->image.size() + 1;
  return 0;
}
EXPORT int nvrtcGetCUBIN(FakeProgram *program, char *image) {
  std::memcpy(image, program->image.c_str(), program->image.size() + 1);
  return 0;
}
EXPORT int nvrtcGetPTXSize(FakeProgram *program, std::size_t *size) { return nvrtcGetCUBINSize(program, size); }
EXPORT int nvrtcGetPTX(FakeProgram *program, char *image) { return nvrtcGetCUBIN(program, image); }

// NVML: one device more than CUDA shows, in the opposite order, as with CUDA_VISIBLE_DEVICES.
namespace {

int nvmlCount() { return deviceCount() + 1; }
/// CUDA ordinal of an NVML index; -1 for the device that CUDA does not show.
int ordinalOf(int index) { return deviceCount() - 1 - index; }
std::string uuidOf(int ordinal) {
  if (ordinal < 0) return "GPU-ffffffff-ffff-ffff-ffff-ffffffffffff";
  char pair[16];
  std::snprintf(pair, sizeof pair, "%02x", 0xa0 + ordinal);
  std::string text = "GPU-";
  for (int index = 0; index < 16; ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) text += '-';
    text += pair;
  }
  return text;
}
struct NvmlPci {
  char legacy[16];
  unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
};
int indexOf(void *device) { return static_cast<int>(reinterpret_cast<std::intptr_t>(device)) - 1; }

} // namespace

EXPORT int nvmlInit_v2() { return setting("FAKE_NVML_ERROR", 0) != 0 ? 9 : 0; }
EXPORT const char *nvmlErrorString(int result) { return result == 9 ? "Driver Not Loaded" : "Unknown Error"; }
EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned length) {
  std::snprintf(text, length, "580.00.fake");
  return 0;
}
EXPORT int nvmlDeviceGetCount_v2(unsigned *count) {
  *count = static_cast<unsigned>(nvmlCount());
  return 0;
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
  *device = reinterpret_cast<void *>(static_cast<std::intptr_t>(index) + 1);
  return 0;
}
EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
  for (int index = 0; index < nvmlCount(); ++index) {
    if (uuidOf(ordinalOf(index)) == uuid) return nvmlDeviceGetHandleByIndex_v2(static_cast<unsigned>(index), device);
  }
  return 6;
}
EXPORT int nvmlDeviceGetName(void *, char *name, unsigned length) {
  std::snprintf(name, length, "Fake GPU");
  return 0;
}
EXPORT int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length) {
  std::snprintf(uuid, length, "%s", uuidOf(ordinalOf(indexOf(device))).c_str());
  return 0;
}
EXPORT int nvmlDeviceGetPciInfo_v3(void *device, NvmlPci *pci) {
  std::snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", 0x1b + ordinalOf(indexOf(device)));
  return 0;
}
EXPORT int nvmlDeviceGetUtilizationRates(void *device, unsigned *rates) {
  rates[0] = static_cast<unsigned>(10 * (1 + ordinalOf(indexOf(device))));
  rates[1] = 5;
  return 0;
}
EXPORT int nvmlDeviceGetPowerUsage(void *, unsigned *milliwatts) {
  *milliwatts = 123456;
  return 0;
}
EXPORT int nvmlDeviceGetTemperature(void *, int, unsigned *celsius) {
  *celsius = 41;
  return 0;
}
EXPORT int nvmlDeviceGetFanSpeed(void *, unsigned *) { return 3; }
struct NvmlProcess {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpuInstance, computeInstance;
};
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *, unsigned *count, NvmlProcess *processes) {
  // More than the first guess of 16 holds.
  if (*count < 20) {
    *count = 20;
    return 7;
  }
  *count = 20;
  for (unsigned index = 0; index < 20; ++index) processes[index] = {1000 + index, index == 0 ? ~0ull : 4096ull * index, 0, 0};
  return 0;
}
EXPORT int nvmlDeviceGetNvLinkState(void *, unsigned link, int *active) {
  *active = link < 3 ? 1 : 0;
  return 0;
}
EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(void *, unsigned link, int *type) {
  *type = link == 2 ? 2 : 0;
  return 0;
}
EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned, NvmlPci *pci) {
  // Two direct links between CUDA devices 0 and 1.
  const int ordinal = ordinalOf(indexOf(device));
  std::snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", 0x1b + (ordinal == 0 ? 1 : 0));
  return 0;
}
EXPORT int nvmlDeviceGetTopologyCommonAncestor(void *, void *, int *level) {
  *level = 50;
  return 0;
}
