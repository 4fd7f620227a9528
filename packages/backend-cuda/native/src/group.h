#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "communicator.h"
#include "cuda_handles.h"
#include "js_types.h"

namespace tandem {

/// A range of a GPU's memory.
struct TransferRegion {
  std::size_t gpu = 0;
  cuda::DevicePtr address = 0;
  std::size_t rowByteLength = 0;
  std::size_t rows = 0;
  std::size_t rowByteStride = 0;
  std::size_t byteLength() const { return rowByteLength * rows; }
  template <typename Self, typename Visit> static void eachMember(Self &self, Visit visit) {
    visit("gpu", self.gpu);
    visit("address", self.address);
    visit("rowByteLength", self.rowByteLength);
    visit("rows", self.rows);
    visit("rowByteStride", self.rowByteStride);
  }
};

/// A range of device memory that a run clears before its first launch and reads back after the last.
struct CollectedRange {
  std::size_t gpu = 0;
  cuda::DevicePtr address = 0;
  std::size_t byteLength = 0;
  bool clear = false;
  template <typename Self, typename Visit> static void eachMember(Self &self, Visit visit) {
    visit("gpu", self.gpu);
    visit("address", self.address);
    visit("byteLength", self.byteLength);
    visit("clear", self.clear);
  }
};

/// Graphs launched together, one a GPU (or one in all), `count` times in a row.
struct RunStep {
  std::vector<std::uint32_t> graphs;
  std::uint64_t count = 0;
  template <typename Self, typename Visit> static void eachMember(Self &self, Visit visit) {
    visit("graphs", self.graphs);
    visit("count", self.count);
  }
};

/// What another process needs to map device memory.
struct SharedMemory {
  std::vector<std::uint8_t> handle;
  /// Of the memory in what the handle maps.
  std::size_t byteOffset = 0;
  template <typename Self, typename Visit> static void eachMember(Self &self, Visit visit) {
    visit("handle", self.handle);
    visit("byteOffset", self.byteOffset);
  }
};

struct UniformTarget {
  std::size_t gpu = 0;
  cuda::DevicePtr address = 0;
  template <typename Self, typename Visit> static void eachMember(Self &self, Visit visit) {
    visit("gpu", self.gpu);
    visit("address", self.address);
  }
};

struct RunRequest {
  /// Graphs launched together once, before the clock starts.
  std::vector<std::uint32_t> before;
  std::vector<RunStep> steps;
  /// Copied to each target before the first launch. Nobody changes them until then.
  std::optional<HostBytes> uniforms;
  std::vector<UniformTarget> uniformTargets;
  std::vector<CollectedRange> collect;
  /// Nonzero aborts between launches; lives in a JavaScript array that the job keeps referenced.
  const std::int32_t *abortWord = nullptr;
  template <typename Self, typename Visit> static void eachMember(Self &self, Visit visit) {
    visit("before", self.before);
    visit("steps", self.steps);
    visit("uniforms", self.uniforms);
    visit("uniformTargets", self.uniformTargets);
    visit("collect", self.collect);
    visit("abortWord", self.abortWord);
  }
};

struct RunOutcome {
  double seconds = 0;
  std::uint64_t launches = 0;
  std::vector<std::vector<std::uint8_t>> collected;
  template <typename Self, typename Visit> static void eachMember(Self &self, Visit visit) {
    visit("seconds", self.seconds);
    visit("launches", self.launches);
    visit("collected", self.collected);
  }
};

/// Graphs that native code of another package starts together, one a GPU (or one in all), again and again.
struct LaunchSet {
  struct Launch {
    cuda::OwnedEvent end;
    std::function<void(const char *)> done;
  };
  std::vector<std::uint32_t> graphs;
  /// The GPUs of the graphs, each once. The stream of the first starts before the others, and ends after them.
  std::vector<const cuda::Gpu *> gpus;
  std::deque<Launch> inFlight;
  std::vector<cuda::OwnedEvent> spare;
};

/// What a TandemDeviceMemory refers to. It outlives the group.
struct DeviceMemory {
  const cuda::Driver &driver;
  cuda::ContextHandle context;
  cuda::DevicePtr address;
  std::size_t byteLength;
  /// TandemDeviceMemory::use; `self` is a std::shared_ptr<const DeviceMemory> *.
  static bool use(void *self);
};

/// Contexts, memory, modules and graphs over a set of physical GPUs. Every member function runs on the group's worker thread and throws
/// NativeError; the destructor runs there too, waits for the GPUs and frees what is left. Ids are the caller's, so that it can queue a use
/// right behind the creation.
class Group {
public:
  /// `shareable`: other processes may map its memory. `failures` outlives the group: the destructor adds to it. `stopping` returns true once the environment closes: runs end early then.
  Group(const cuda::Driver &driver, const std::vector<int> &ordinals, bool shareable, std::shared_ptr<cuda::ReleaseFailures> failures,
        std::function<bool()> stopping);
  ~Group();

  /// Whether a GPU may read and write the memory of another: reader × owner, row-major.
  const std::vector<bool> &peers() const { return peers_; }
  /// Address of the word that ends every spinning kernel when it is not zero.
  std::uintptr_t stopAddress() const { return reinterpret_cast<std::uintptr_t>(stopWord_.get()); }

  /// The address is usable on every peer as soon as this returns.
  cuda::DevicePtr allocate(std::size_t gpu, std::size_t byteLength, bool zero);
  void free(cuda::DevicePtr address) { allocations_.erase(address); }
  void zero(std::size_t gpu, cuda::DevicePtr address, std::size_t byteLength);

  /// Memory of a shareable group, for other processes; the group keeps it until `free`.
  SharedMemory exportMemory(cuda::DevicePtr address);
  /// Maps another process's memory until `closeMemory`. A process that ends takes its memory along: then an access is a fault.
  cuda::DevicePtr importMemory(std::size_t gpu, const std::vector<std::uint8_t> &handle);
  void closeMemory(cuda::DevicePtr address) { imported_.erase(address); }
  /// Memory of a shareable group for native code of another package, which may keep what it makes in the context of the group's one GPU: the context
  /// stays from now on.
  std::shared_ptr<const DeviceMemory> deviceMemory(cuda::DevicePtr address, std::size_t byteLength);
  /// From any thread: kernels that wait for another process end, and nothing runs any more.
  void breakOff();

  /// Makes the group's one GPU that of `rank` in a communicator over `count` ranks, which `id` names, and tries a message to each. Waits for all ranks.
  void joinRanks(const std::vector<std::string> &libraries, const std::vector<std::uint8_t> &id, int rank, int count);

  void lockHost(void *address, std::size_t byteLength);
  void unlockHost(void *address) { locked_.erase(address); }

  void loadKernel(std::uint32_t id, std::size_t gpu, const std::vector<std::uint8_t> &image, const std::string &entry,
                  int dynamicSharedByteLength);
  void unloadKernel(std::uint32_t id) { kernels_.erase(id); }

  /// `words`: the nodes as native/src/graph.cpp describes them.
  void createGraph(std::uint32_t id, std::size_t mainGpu, const std::vector<double> &words);
  void destroyGraph(std::uint32_t id) { graphs_.erase(id); }

  RunOutcome run(const RunRequest &request);
  /// Graphs that `launch` starts; `id` is not that of another set.
  void createLaunchSet(std::uint32_t id, const std::vector<std::uint32_t> &graphs);
  void destroyLaunchSet(std::uint32_t id) { launchSets_.erase(id); }
  /// Starts a set behind everything that was started before; `pollLaunches` calls `done`, with null or a sentence.
  void launch(std::uint32_t id, std::function<void(const char *)> done);
  /// Calls `done` of the launches that are complete. True while it is to be called again soon.
  bool pollLaunches();
  /// True where nobody polls yet: the caller does from now on, until `endPolling`.
  bool beginPolling() { return !std::exchange(polling_, true); }
  void endPolling() { polling_ = false; }
  /// Between device memory and ordinary host memory, which is dense, row after row.
  void write(const TransferRegion &region, const HostBytes &source) { transfer(region, source, true); }
  void read(const TransferRegion &region, const HostBytes &target) { transfer(region, target, false); }

private:
  struct LoadedKernel {
    const cuda::Gpu *gpu;
    cuda::OwnedModule module;
    cuda::Function function;
  };
  struct InstantiatedGraph {
    std::size_t gpu;
    cuda::OwnedGraphExec exec;
  };
  void openPeers();
  LoadedKernel load(const cuda::Gpu &gpu, const std::vector<std::uint8_t> &image, const std::string &entry,
                    int dynamicSharedByteLength) const;
  const LoadedKernel &kernelOf(std::uint32_t id) const;
  const InstantiatedGraph &graphOf(std::uint32_t id) const;
  cuda::OwnedGraph buildGraph(const cuda::Gpu &main, const std::vector<double> &words) const;
  cuda::OwnedGraph captureMessages(const cuda::Gpu &gpu, const std::vector<nccl::Message> &messages) const;
  cuda::HostMemory pinned(std::size_t byteLength, unsigned flags) const;
  void transfer(const TransferRegion &region, const HostBytes &host, bool toDevice);
  void prepareStaging();
  using Clock = std::chrono::steady_clock;
  void waitFor(const cuda::Gpu &gpu, cuda::Event event, Clock::time_point from, int pauses) const;
  /// The GPUs of graphs, each once.
  std::vector<const cuda::Gpu *> gpusOf(const std::vector<std::uint32_t> &graphs) const;
  /// The streams of all but the first go on after what `event` was recorded behind.
  void fork(const std::vector<const cuda::Gpu *> &gpus, const cuda::OwnedEvent &event) const;
  /// The first GPU's stream goes on after all others.
  void join(const std::vector<const cuda::Gpu *> &gpus) const;
  void launchGraphs(const std::vector<std::uint32_t> &graphs) const;
  /// Throws `peer-lost` after `breakOff`, or where another rank does not answer.
  void requireWhole() const;
  /// Whether a wait has been given up since the last call.
  bool takeStop();
  RunOutcome launchSteps(const RunRequest &request);
  void abandon(const RunRequest &request);
  void startLaunch(LaunchSet &set, std::function<void(const char *)> done);

  const cuda::Driver &driver_;
  const std::shared_ptr<cuda::ReleaseFailures> failures_;
  const std::function<bool()> stopping_;
  std::deque<cuda::Gpu> gpus_;
  std::vector<bool> peers_;
  cuda::HostMemory stopWord_;
  cuda::HostMemory staging_[2];
  std::map<void *, cuda::HostLock> locked_;
  std::map<cuda::DevicePtr, cuda::Allocation> allocations_;
  std::map<cuda::DevicePtr, cuda::ImportedMemory> imported_;
  std::atomic<bool> broken_{false};
  /// Goes after the graphs with its operations.
  std::unique_ptr<nccl::Communicator> communicator_;
  /// Loaded kernels, or the errors of those that do not load: a graph that uses one fails with the same error.
  std::map<std::uint32_t, std::variant<LoadedKernel, NativeError>> kernels_;
  std::map<std::uint32_t, InstantiatedGraph> graphs_;
  std::map<std::uint32_t, LaunchSet> launchSets_;
  /// When a launch was last started or completed.
  std::chrono::steady_clock::time_point lastLaunchProgress_;
  /// Its stream comes last: the end of the last launch is there.
  const cuda::Gpu *lastLaunched_ = nullptr;
  bool polling_ = false;
  bool contextKept_ = false;
};

} // namespace tandem
