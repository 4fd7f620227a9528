#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "command_queue.h"
#include "communicator.h"
#include "cuda_handles.h"
#include "host_blocks.h"
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
  /// 1 aborts between launches, 2 also ends the kernels that run; lives in a JavaScript array that the job
  /// keeps referenced.
  const std::int32_t *abortWord = nullptr;
  /// After so many seconds from its first launch the run ends, the kernels in flight too.
  std::optional<double> limitSeconds;
  template <typename Self, typename Visit> static void eachMember(Self &self, Visit visit) {
    visit("before", self.before);
    visit("steps", self.steps);
    visit("uniforms", self.uniforms);
    visit("uniformTargets", self.uniformTargets);
    visit("collect", self.collect);
    visit("abortWord", self.abortWord);
    visit("limitSeconds", self.limitSeconds);
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

/// Tells how a launch ends: without an error, or why.
using LaunchDone = std::function<void(const NativeError *)>;

/// What the stop word holds: why kernels are to leave.
enum class Stop : std::uint32_t {
  none = 0,
  /// A wait for another GPU has been given up, a launch has failed, or another process has ended.
  broken = 1,
  /// The run takes longer than its limit.
  limit = 2,
  /// The caller ends the run.
  abort = 3,
};

/// Graphs that native code of another package starts together, one a GPU (or one in all), again and again.
struct LaunchSet {
  struct Launch {
    cuda::OwnedEvent end;
    LaunchDone done;
    /// Its place among all work of the group.
    std::uint64_t order;
    std::optional<NativeError> error;
  };
  std::vector<std::uint32_t> graphs;
  /// The GPUs of the graphs, each once. The stream of the first starts before the others, and ends after
  /// them.
  std::vector<const cuda::Gpu *> gpus;
  std::list<Launch> inFlight;
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

/// Contexts, memory, modules and graphs over a set of physical GPUs. Every member function runs on the
/// group's worker thread and throws NativeError; the destructor runs there too, waits for the GPUs and frees
/// what is left. Ids are the caller's, so that it can queue a use right behind the creation.
class Group {
public:
  /// `shareable`: other processes may map its memory. `failures` outlives the group: the destructor adds to
  /// it. `stopping` returns true once the environment closes: runs end early then.
  Group(const cuda::Driver &driver, const std::vector<int> &ordinals, bool shareable, std::shared_ptr<cuda::ReleaseFailures> failures,
        std::function<bool()> stopping);
  ~Group();

  /// Whether a GPU may read and write the memory of another: reader × owner, row-major.
  const std::vector<bool> &peers() const { return peers_; }
  /// Address of the word that ends every kernel that looks at it when it is not zero.
  std::uintptr_t stopAddress() const { return reinterpret_cast<std::uintptr_t>(stopWord_.get()); }
  /// Of the word in each GPU's memory at which its kernels look.
  std::vector<cuda::DevicePtr> leaveAddresses() const;

  /// The address is usable on every peer as soon as this returns.
  cuda::DevicePtr allocate(std::size_t gpu, std::size_t byteLength, bool zero);
  void free(cuda::DevicePtr address) {
    settleQueues();
    allocations_.erase(address);
  }
  void zero(std::size_t gpu, cuda::DevicePtr address, std::size_t byteLength);

  /// Memory of a shareable group, for other processes; the group keeps it until `free`.
  SharedMemory exportMemory(cuda::DevicePtr address);
  /// Maps another process's memory until `closeMemory` has been called as often. A process that ends takes
  /// its memory along: then an access is a fault.
  cuda::DevicePtr importMemory(std::size_t gpu, const std::vector<std::uint8_t> &handle);
  void closeMemory(cuda::DevicePtr address);
  /// Memory of a shareable group for native code of another package, which may keep what it makes in the
  /// context of the group's one GPU: the context stays from now on.
  std::shared_ptr<const DeviceMemory> deviceMemory(cuda::DevicePtr address, std::size_t byteLength);
  /// From any thread: kernels that wait for another process end, and nothing runs any more.
  void breakOff();

  /// Makes the group's one GPU that of `rank` in a communicator over `count` ranks, which `id` names, and
  /// tries a message to each. Waits for all ranks.
  void joinRanks(const std::vector<std::string> &libraries, const std::vector<std::uint8_t> &id, int rank, int count);

  /// For memory of the host that a caller has until it gives it back.
  HostBlocks &hostBlocks() { return hostBlocks_; }
  void lockHost(void *address, std::size_t byteLength);
  void unlockHost(void *address) { locked_.erase(address); }
  /// Takes a block back whose pages nobody else reaches any more.
  void giveBack(const HostBlocks::Block &block);

  void loadKernel(std::uint32_t id, std::size_t gpu, const std::vector<std::uint8_t> &image, const std::string &entry,
                  int dynamicSharedByteLength);
  /// The driver unloads it when the group is idle, closes or lacks memory: until then it would wait for the
  /// GPU.
  void unloadKernel(std::uint32_t id);
  /// Nothing has been asked for a while: what waits for the GPU does now.
  void rest();

  /// `words`: the nodes as native/src/graph.cpp describes them.
  void createGraph(std::uint32_t id, std::size_t mainGpu, const std::vector<double> &words);
  void destroyGraph(std::uint32_t id) { graphs_.erase(id); }

  RunOutcome run(const RunRequest &request);
  /// Graphs that `launch` starts; `id` is not that of another set.
  void createLaunchSet(std::uint32_t id, const std::vector<std::uint32_t> &graphs);
  void destroyLaunchSet(std::uint32_t id) { launchSets_.erase(id); }
  /// Starts a set behind everything that was started before; `pollLaunches` calls `done` once it is complete.
  /// Where this throws, nobody calls it.
  void launch(std::uint32_t id, LaunchDone done);
  /// Calls `done` of the launches that are complete. True while it is to be called again soon.
  bool pollLaunches();
  /// Whether somebody calls `pollLaunches` until it is false.
  bool polls() const { return polls_; }
  void setPolls(bool polls) { polls_ = polls; }
  /// Between device memory and ordinary host memory, which is dense, row after row.
  void write(const TransferRegion &region, const HostBytes &source) { transfer(region, source, true); }
  void read(const TransferRegion &region, const HostBytes &target) { transfer(region, target, false); }

  /// Opens a command queue on a GPU. `internalKernels` are the ids of the kernels `copy16`, `scatter` and
  /// `stamp`.
  void openQueue(std::uint32_t id, std::size_t gpu, double timeoutSeconds, const std::vector<std::uint32_t> &internalKernels,
                 QueueMessages messages);
  /// Throws `group-lost` where it is closed.
  CommandQueue &queueOf(std::uint32_t id);
  /// The commands before are complete. A queue whose memory is shared with programs stays until they let it
  /// go.
  void closeQueue(std::uint32_t id);
  void releaseShared(std::uint32_t id, std::uint64_t buffer);
  /// Goes on with the queues. True while it is to be called again soon.
  bool pollQueues();
  bool beginPollingQueues() { return !std::exchange(pollingQueues_, true); }
  void endPollingQueues() { pollingQueues_ = false; }

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
  /// What `work` returns. Where the driver lacks memory and there is something that nobody uses, that is
  /// released, and `work` tried once more.
  template <typename Work> auto withMemory(Work work);
  LoadedKernel load(const cuda::Gpu &gpu, const std::vector<std::uint8_t> &image, const std::string &entry,
                    int dynamicSharedByteLength) const;
  const LoadedKernel &kernelOf(std::uint32_t id) const;
  const InstantiatedGraph &graphOf(std::uint32_t id) const;
  cuda::OwnedGraph buildGraph(const cuda::Gpu &main, const std::vector<double> &words) const;
  cuda::OwnedGraph captureMessages(const cuda::Gpu &gpu, const std::vector<nccl::Message> &messages) const;
  cuda::HostMemory pinned(std::size_t byteLength, unsigned flags) const;
  void transfer(const TransferRegion &region, const HostBytes &host, bool toDevice);
  using Clock = std::chrono::steady_clock;
  /// Calls `look` before each pause.
  void waitFor(const cuda::Gpu &gpu, cuda::Event event, Clock::time_point from, int pauses, const std::function<void()> &look) const;
  /// The GPUs of graphs, each once.
  std::vector<const cuda::Gpu *> gpusOf(const std::vector<std::uint32_t> &graphs) const;
  /// The streams of all but the first go on after what `event` was recorded behind.
  void fork(const std::vector<const cuda::Gpu *> &gpus, const cuda::OwnedEvent &event) const;
  /// The first GPU's stream goes on after all others.
  void join(const std::vector<const cuda::Gpu *> &gpus) const;
  void launchGraphs(const std::vector<std::uint32_t> &graphs) const;
  /// Throws `peer-lost` after `breakOff`, or where another rank does not answer.
  void requireWhole() const;
  Stop stopped() const { return Stop(__atomic_load_n(static_cast<std::uint32_t *>(stopWord_.get()), __ATOMIC_RELAXED)); }
  /// Tells the kernels to leave, unless they have been told before.
  void tell(Stop why);
  /// Why kernels have been told to leave since the last call.
  Stop takeStop();
  RunOutcome launchSteps(const RunRequest &request);
  void abandon(const RunRequest &request);
  /// A page-locked block of zeros, which the last owner gives back on any thread. It stays mapped beyond the
  /// group.
  std::shared_ptr<void> takeHostBlock(std::size_t byteLength);
  void takeBackBlocks();
  /// Waits until no call of a command queue waits for room in a stream: what comes next is behind them.
  void settleQueues();
  /// The GPU's stream goes on after what command queues have put into the streams of the others.
  void followQueues(const cuda::Gpu &gpu);
  /// Has every queue look at its time limit.
  void keepTime();
  void startLaunch(LaunchSet &set, LaunchDone done);

  const cuda::Driver &driver_;
  const std::shared_ptr<cuda::ReleaseFailures> failures_;
  const std::function<bool()> stopping_;
  std::deque<cuda::Gpu> gpus_;
  std::vector<bool> peers_;
  /// Kernels that wait for other GPUs look at it, and raise it.
  cuda::HostMemory stopWord_;
  /// All other kernels look at these.
  std::deque<cuda::WrittenLeaveWord> leaveWords_;
  cuda::HostMemory smallStaging_;
  cuda::HostMemory staging_[2];
  HostBlocks hostBlocks_;
  std::map<void *, cuda::HostLock> locked_;
  std::map<cuda::DevicePtr, cuda::Allocation> allocations_;
  /// The driver gives one address to all handles of a block of memory, which is mapped until each is closed.
  std::multimap<cuda::DevicePtr, cuda::ImportedMemory> imported_;
  std::atomic<bool> broken_{false};
  /// Goes after the graphs with its operations.
  std::unique_ptr<nccl::Communicator> communicator_;
  /// Loaded kernels, or the errors of those that do not load: a graph that uses one fails with the same
  /// error.
  std::map<std::uint32_t, std::variant<LoadedKernel, NativeError>> kernels_;
  /// Of kernels that nobody uses any more.
  std::vector<cuda::OwnedModule> unused_;
  std::map<std::uint32_t, InstantiatedGraph> graphs_;
  std::map<std::uint32_t, LaunchSet> launchSets_;
  /// When a launch was last started or completed.
  std::chrono::steady_clock::time_point lastLaunchProgress_;
  /// Its stream comes last: the end of the last launch is there.
  const cuda::Gpu *lastLaunched_ = nullptr;
  bool polls_ = false;
  /// Page-locked blocks of command queues that nobody has any more; any thread adds to them.
  struct ReturnedBlocks {
    std::mutex mutex;
    std::vector<HostBlocks::Block> blocks;
  };
  const std::shared_ptr<ReturnedBlocks> returned_ = std::make_shared<ReturnedBlocks>();
  std::uint64_t order_ = 0;
  /// From the first queue on.
  std::optional<Watchdog> watchdog_;
  std::map<std::uint32_t, CommandQueue> queues_;
  std::chrono::steady_clock::time_point lastQueueProgress_;
  bool pollingQueues_ = false;
  bool contextKept_ = false;
};

} // namespace tandem
