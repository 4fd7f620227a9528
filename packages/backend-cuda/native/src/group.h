#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cuda_handles.h"

namespace tandem {

struct TransferRegion {
  std::size_t gpu = 0;
  cuda::DevicePtr address = 0;
  std::size_t rowByteLength = 0;
  std::size_t rows = 0;
  std::size_t rowByteStride = 0;
  std::size_t byteLength() const { return rowByteLength * rows; }
};

/// A range of device memory that a run clears before its first launch and reads back after the last.
struct CollectedRange {
  std::size_t gpu = 0;
  cuda::DevicePtr address = 0;
  std::size_t byteLength = 0;
  bool clear = false;
};

/// Graphs launched together, one a GPU (or one in all), `count` times in a row.
struct RunStep {
  std::vector<std::uint32_t> graphs;
  std::uint64_t count = 0;
};

struct RunRequest {
  std::vector<RunStep> steps;
  /// Copied to each address before the first launch.
  std::vector<std::pair<std::size_t, cuda::DevicePtr>> uniformTargets;
  std::vector<std::uint8_t> uniforms;
  std::vector<CollectedRange> collect;
  /// Nonzero aborts between launches; lives in a JavaScript array that the job keeps referenced.
  const std::int32_t *abortWord = nullptr;
  /// Set when the environment goes away.
  std::function<bool()> stopping;
};

/// Graphs that native code of another package starts together, one a GPU (or one in all), again and again.
struct LaunchSet {
  struct Lane {
    const cuda::Gpu *gpu;
    /// Follows the lane's graph; absent on the first lane, whose stream waits for the others.
    cuda::Owned<cuda::EventKind> joined;
  };
  struct Launch {
    cuda::Owned<cuda::EventKind> end;
    std::function<void(const char *)> done;
  };
  std::vector<std::uint32_t> graphs;
  std::vector<Lane> lanes;
  /// What the first lane's stream has reached when the others start; absent where there is one lane.
  std::optional<cuda::Owned<cuda::EventKind>> begin;
  std::deque<Launch> inFlight;
  std::vector<cuda::Owned<cuda::EventKind>> spare;
};

struct RunOutcome {
  double seconds = 0;
  std::uint64_t launches = 0;
  std::vector<std::vector<std::uint8_t>> collected;
};

/// Contexts, memory, modules and graphs over a set of physical GPUs. Every member function runs on the group's worker thread and throws
/// NativeError; the destructor runs there too, waits for the GPUs and frees what is left. Ids are the caller's, so that it can queue a use
/// right behind the creation.
class Group {
public:
  /// `failures` outlives the group: the destructor adds to it.
  Group(const cuda::Driver &driver, const std::vector<int> &ordinals, std::shared_ptr<cuda::ReleaseFailures> failures);
  ~Group();

  /// `peer(i, j)`: GPU i may read and write the memory of GPU j.
  bool peer(std::size_t reader, std::size_t owner) const { return peers_[reader * gpus_.size() + owner]; }
  std::size_t gpuCount() const { return gpus_.size(); }
  /// Address of the word that ends every spinning kernel when it is not zero.
  std::uintptr_t stopAddress() const { return reinterpret_cast<std::uintptr_t>(stopWord_.get()); }

  /// The address is usable on every peer as soon as this returns.
  cuda::DevicePtr allocate(std::size_t gpu, std::size_t byteLength, bool zero);
  void free(cuda::DevicePtr address);
  void zero(std::size_t gpu, cuda::DevicePtr address, std::size_t byteLength);

  void lockHost(void *address, std::size_t byteLength);
  void unlockHost(void *address);

  void loadKernel(std::uint32_t id, std::size_t gpu, const std::vector<std::uint8_t> &image, const std::string &entry,
                  int dynamicSharedByteLength);
  void unloadKernel(std::uint32_t id);

  /// `words`: the nodes as native/src/graph.cpp describes them.
  void createGraph(std::uint32_t id, std::size_t mainGpu, const std::vector<double> &words);
  void destroyGraph(std::uint32_t id);

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
  void write(const TransferRegion &region, const std::uint8_t *source);
  void read(const TransferRegion &region, std::uint8_t *target);

private:
  using Module = cuda::Owned<cuda::ModuleKind>;
  using GraphExec = cuda::Owned<cuda::GraphExecKind>;
  using Event = cuda::Owned<cuda::EventKind>;
  using HostMemory = cuda::Owned<cuda::HostMemoryKind>;
  using HostLock = cuda::Owned<cuda::HostLockKind>;

  struct LoadedKernel {
    const cuda::Gpu *gpu;
    Module module;
    cuda::Function function;
  };
  struct InstantiatedGraph {
    std::size_t gpu;
    GraphExec exec;
  };
  /// Events of one GPU and one sort, reused by every run: creating one costs microseconds.
  struct EventPool {
    std::vector<Event> events;
    std::size_t used = 0;
  };

  void openPeers();
  LoadedKernel load(const cuda::Gpu &gpu, const std::vector<std::uint8_t> &image, const std::string &entry,
                    int dynamicSharedByteLength) const;
  const LoadedKernel &kernelOf(std::uint32_t id) const;
  const InstantiatedGraph &graphOf(std::uint32_t id) const;
  cuda::Owned<cuda::GraphKind> buildGraph(const cuda::Gpu &main, const std::vector<double> &words) const;
  HostMemory pinned(std::size_t byteLength, unsigned flags) const;
  void prepareStaging();
  cuda::Event pooledEvent(std::size_t gpu, unsigned flags);
  void waitFor(const cuda::Gpu &gpu, cuda::Event event) const;
  RunOutcome launchSteps(const RunRequest &request);
  void abandon(const RunRequest &request);
  void startGraphs(LaunchSet &set, std::function<void(const char *)> done);

  const cuda::Driver &driver_;
  const std::shared_ptr<cuda::ReleaseFailures> failures_;
  std::deque<cuda::Gpu> gpus_;
  std::vector<bool> peers_;
  HostMemory stopWord_;
  HostMemory staging_[2];
  std::map<std::pair<std::size_t, unsigned>, EventPool> events_;
  std::map<void *, HostLock> locked_;
  std::map<cuda::DevicePtr, cuda::Allocation> allocations_;
  std::map<std::uint32_t, LoadedKernel> kernels_;
  /// Why a kernel is not among those: graphs that use it are refused for the same reason.
  std::map<std::uint32_t, NativeError> refusedKernels_;
  std::map<std::uint32_t, InstantiatedGraph> graphs_;
  std::map<std::uint32_t, LaunchSet> launchSets_;
  /// When a launch was last started or completed.
  std::chrono::steady_clock::time_point lastLaunchProgress_;
  bool polling_ = false;
};

} // namespace tandem
