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
  NAMED_MEMBERS(gpu, address, rowByteLength, rows, rowByteStride)
};

/// A range of device memory that a run clears before its first launch and reads back after the last.
struct CollectedRange {
  std::size_t gpu = 0;
  cuda::DevicePtr address = 0;
  std::size_t byteLength = 0;
  bool clear = false;
  NAMED_MEMBERS(gpu, address, byteLength, clear)
};

/// Graphs launched together, one per GPU (or one for all), `count` times in a row.
struct RunStep {
  std::vector<std::uint32_t> graphs;
  std::uint64_t count = 0;
  NAMED_MEMBERS(graphs, count)
};

/// The information that another process needs to map device memory.
struct SharedMemory {
  std::vector<std::uint8_t> handle;
  /// The offset of the memory in the block that the handle maps.
  std::size_t byteOffset = 0;
  NAMED_MEMBERS(handle, byteOffset)
};

struct UniformTarget {
  std::size_t gpu = 0;
  cuda::DevicePtr address = 0;
  NAMED_MEMBERS(gpu, address)
};

struct RunRequest {
  /// Graphs launched together once, before the clock starts.
  std::vector<std::uint32_t> before;
  std::vector<RunStep> steps;
  /// Copied to each target before the first launch. Not JavaScript's memory, because a copy may wait for the GPU
  /// longer than an environment that closes waits for the run.
  std::optional<std::vector<std::uint8_t>> uniforms;
  std::vector<UniformTarget> uniformTargets;
  std::vector<CollectedRange> collect;
  /// 1 aborts between launches, 2 also ends the running kernels. Part of a JavaScript array that the job
  /// keeps referenced.
  const std::int32_t *abortWord = nullptr;
  /// This long after its first launch the run ends, including the kernels in flight.
  std::optional<double> limitSeconds;
  NAMED_MEMBERS(before, steps, uniforms, uniformTargets, collect, abortWord, limitSeconds)
};

struct RunOutcome {
  double seconds = 0;
  std::uint64_t launches = 0;
  std::vector<std::vector<std::uint8_t>> collected;
  NAMED_MEMBERS(seconds, launches, collected)
};

/// Reports the end of a launch: null, or the error.
using LaunchDone = std::function<void(const NativeError *)>;

/// The contents of the stop word: why kernels must leave.
enum class Stop : std::uint32_t {
  none = 0,
  /// A wait for another GPU has been given up, a launch has failed, or another process has ended.
  broken = 1,
  /// The run has exceeded its time limit.
  limit = 2,
  /// The caller ends the run.
  abort = 3,
};

/// Graphs that native code of another package repeatedly starts together, one per GPU (or one for all).
struct LaunchSet {
  struct Launch {
    cuda::OwnedEvent end;
    LaunchDone done;
    /// Its position in the order of all work of the group.
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

/// The object to which a TandemDeviceMemory refers. It outlives the group.
struct DeviceMemory {
  const cuda::Driver &driver;
  cuda::ContextHandle context;
  cuda::DevicePtr address;
  std::size_t byteLength;
  /// TandemDeviceMemory::use; `self` is a std::shared_ptr<const DeviceMemory> *.
  static bool use(void *self);
};

/// Contexts, memory, modules and graphs on a set of physical GPUs. Every member function runs on the group's
/// worker thread and throws NativeError; the destructor also runs there, waits for the GPUs and frees what is
/// left. The caller chooses the IDs, so that it can queue a use directly after the creation.
class Group {
public:
  /// `shareable`: other processes may map its memory. `failures` outlives the group: the destructor adds to
  /// it. `stopping` returns true once the environment closes; runs then end early.
  Group(const cuda::Driver &driver, const std::vector<int> &ordinals, bool shareable, std::shared_ptr<cuda::ReleaseFailures> failures,
        std::function<bool()> stopping);
  ~Group();

  /// Whether a GPU can read and write the memory of another: reader × owner, row-major.
  const std::vector<bool> &peers() const { return peers_; }
  /// The address of the word that, when nonzero, ends every kernel that checks it.
  std::uintptr_t stopAddress() const { return reinterpret_cast<std::uintptr_t>(stopWord_.get()); }
  /// The addresses of the words in each GPU's memory that its kernels check.
  std::vector<cuda::DevicePtr> leaveAddresses() const;

  /// The address is usable on every peer as soon as this returns.
  cuda::DevicePtr allocate(std::size_t gpu, std::size_t byteLength, bool zero);
  void free(cuda::DevicePtr address) {
    settleQueues();
    allocations_.erase(address);
  }
  void zero(std::size_t gpu, cuda::DevicePtr address, std::size_t byteLength);

  /// Returns the name of a shareable group's memory for other processes; the group keeps the memory until
  /// `free`.
  SharedMemory exportMemory(cuda::DevicePtr address);
  /// Maps another process's memory until `closeMemory` has been called equally often. If that process ends,
  /// its memory disappears, and an access is a fault.
  cuda::DevicePtr importMemory(std::size_t gpu, const std::vector<std::uint8_t> &handle);
  void closeMemory(cuda::DevicePtr address);
  /// Memory of a shareable group for native code of another package, which may keep objects in the context of
  /// the group's one GPU: this call keeps the context until the process ends.
  std::shared_ptr<const DeviceMemory> deviceMemory(cuda::DevicePtr address, std::size_t byteLength);
  /// Callable from any thread: kernels that wait for another process end, and nothing runs any more.
  void breakOff();

  /// Makes the group's one GPU the GPU of `rank` in a communicator over `count` ranks, identified by `id`,
  /// and tries a message to each rank. Waits for all ranks.
  void joinRanks(const std::vector<std::string> &libraries, const std::vector<std::uint8_t> &id, int rank, int count);

  /// Host memory that a caller holds until it gives it back.
  HostBlocks &hostBlocks() { return hostBlocks_; }
  void lockHost(void *address, std::size_t byteLength);
  void unlockHost(void *address) { locked_.erase(address); }
  /// Accepts a block back whose pages nobody else can access any more.
  void giveBack(const HostBlocks::Block &block);

  void loadKernel(std::uint32_t id, std::size_t gpu, const std::vector<std::uint8_t> &image, const std::string &entry,
                  int dynamicSharedByteLength);
  /// The driver unloads the kernel when the group is idle, closes or lacks memory, because unloading waits
  /// for the GPU.
  void unloadKernel(std::uint32_t id);
  /// Called when nothing has been requested for a while: does the work that waits for the GPU.
  void rest();

  /// `words`: the nodes as native/src/graph.cpp describes them.
  void createGraph(std::uint32_t id, std::size_t mainGpu, const std::vector<double> &words);
  void destroyGraph(std::uint32_t id) { graphs_.erase(id); }

  RunOutcome run(const RunRequest &request);
  /// Creates a set of graphs that `launch` starts; `id` must not be that of another set.
  void createLaunchSet(std::uint32_t id, const std::vector<std::uint32_t> &graphs);
  void destroyLaunchSet(std::uint32_t id) { launchSets_.erase(id); }
  /// Starts a set after everything that was started before; `pollLaunches` calls `done` once it is complete.
  /// If this throws, `done` is not called.
  void launch(std::uint32_t id, LaunchDone done);
  /// Calls `done` for the launches that are complete. Returns true if it must be called again soon.
  bool pollLaunches();
  /// Whether someone is calling `pollLaunches` until it returns false.
  bool polls() const { return polls_; }
  void setPolls(bool polls) { polls_ = polls; }
  /// Transfers between device memory and ordinary host memory, which is dense and row-major.
  void write(const TransferRegion &region, const HostBytes &source) { transfer(region, source, true); }
  void read(const TransferRegion &region, const HostBytes &target) { transfer(region, target, false); }

  /// Opens a command queue on a GPU. `internalKernels` are the IDs of the kernels `copy16`, `scatter` and
  /// `stamp`.
  void openQueue(std::uint32_t id, std::size_t gpu, double timeoutSeconds, const std::vector<std::uint32_t> &internalKernels,
                 QueueMessages messages);
  /// Throws `group-lost` if the queue is closed.
  CommandQueue &queueOf(std::uint32_t id);
  /// All previous commands are complete. A queue whose memory is shared with programs is kept until they
  /// release it.
  void closeQueue(std::uint32_t id);
  void releaseShared(std::uint32_t id, std::uint64_t buffer);
  /// Continues the work of the queues. Returns true if it must be called again soon.
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
  /// Returns the result of `work`. If the driver lacks memory and there are unused resources, releases them
  /// and tries `work` once more.
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
  void waitFor(const cuda::Gpu &gpu, cuda::Event event, Clock::time_point from, int pauses, const std::function<void()> &look);
  /// The GPUs of graphs, each once.
  std::vector<const cuda::Gpu *> gpusOf(const std::vector<std::uint32_t> &graphs) const;
  /// To be held while work that waits for other GPUs is put into the streams of its GPUs. Streams of several
  /// groups may share a hardware queue, so such work must come in the same order on every GPU: otherwise one GPU
  /// could wait in a graph of one group while another GPU waits in a graph of another group, each in front of the
  /// graph that the other one needs.
  std::unique_lock<std::mutex> holdOrder() const;
  /// The stream of `gpu` continues after the work that is in the other's now.
  void follow(const cuda::Gpu &gpu, const cuda::Gpu &other) const;
  /// The streams of all GPUs but the first continue after the work before `event`.
  void fork(const std::vector<const cuda::Gpu *> &gpus, const cuda::OwnedEvent &event) const;
  /// The first GPU's stream continues after all others.
  void join(const std::vector<const cuda::Gpu *> &gpus) const;
  void launchGraphs(const std::vector<std::uint32_t> &graphs) const;
  /// Throws `peer-lost` after `breakOff`, or if another rank does not answer.
  void requireWhole() const;
  Stop stopped() const { return Stop(__atomic_load_n(static_cast<std::uint32_t *>(stopWord_.get()), __ATOMIC_RELAXED)); }
  /// Signals the kernels to leave, unless that has been done before.
  void tell(Stop why);
  /// Returns why kernels have been signalled to leave since the last call, and resets it.
  Stop takeStop();
  RunOutcome launchSteps(const RunRequest &request);
  void abandon(const RunRequest &request);
  /// A page-locked block of zeros, which its last owner returns, on any thread. It stays mapped after the
  /// group is destroyed.
  std::shared_ptr<void> takeHostBlock(std::size_t byteLength);
  void takeBackBlocks();
  /// Waits until no call of a command queue is waiting for space in a stream, so that later work follows
  /// those calls.
  void settleQueues();
  /// The GPU's stream continues after the work that command queues have put into the streams of the other
  /// GPUs.
  void followQueues(const cuda::Gpu &gpu);
  /// Makes every queue check its time limit.
  void keepTime();
  /// Lets the queues notice what of their work is complete; returns true if there was anything. Whatever keeps
  /// this thread busy calls it again and again, because work that nobody notices counts as in flight when its
  /// time limit is over.
  bool tendQueues();
  /// Waits until the work of the queues is complete, so that the time limit of a run does not include it.
  void awaitQueues();
  void startLaunch(LaunchSet &set, LaunchDone done);

  const cuda::Driver &driver_;
  const std::shared_ptr<cuda::ReleaseFailures> failures_;
  const std::function<bool()> stopping_;
  std::deque<cuda::Gpu> gpus_;
  std::vector<bool> peers_;
  /// Kernels that wait for other GPUs check this word, and set it.
  cuda::HostMemory stopWord_;
  /// All other kernels check these words.
  std::deque<cuda::WrittenLeaveWord> leaveWords_;
  cuda::HostMemory smallStaging_;
  cuda::HostMemory staging_[2];
  HostBlocks hostBlocks_;
  std::map<void *, cuda::HostLock> locked_;
  std::map<cuda::DevicePtr, cuda::Allocation> allocations_;
  /// The driver returns one address for all handles of a block of memory, which is mapped until each of them
  /// is closed.
  std::multimap<cuda::DevicePtr, cuda::ImportedMemory> imported_;
  std::atomic<bool> broken_{false};
  /// Destroyed after the graphs with its operations.
  std::unique_ptr<nccl::Communicator> communicator_;
  /// Loaded kernels, or the errors of those that failed to load: a graph that uses one fails with the same
  /// error.
  std::map<std::uint32_t, std::variant<LoadedKernel, NativeError>> kernels_;
  /// Modules of kernels that are no longer used.
  std::vector<cuda::OwnedModule> unused_;
  std::map<std::uint32_t, InstantiatedGraph> graphs_;
  std::map<std::uint32_t, LaunchSet> launchSets_;
  /// When a launch was last started or completed.
  std::chrono::steady_clock::time_point lastLaunchProgress_;
  /// Its stream is the last: it holds the end of the last launch.
  const cuda::Gpu *lastLaunched_ = nullptr;
  bool polls_ = false;
  /// Page-locked blocks of command queues that have no owner any more; any thread adds to them.
  struct ReturnedBlocks {
    std::mutex mutex;
    std::vector<HostBlocks::Block> blocks;
  };
  const std::shared_ptr<ReturnedBlocks> returned_ = std::make_shared<ReturnedBlocks>();
  std::uint64_t order_ = 0;
  /// Present once a queue has been opened.
  std::optional<Watchdog> watchdog_;
  std::map<std::uint32_t, CommandQueue> queues_;
  std::chrono::steady_clock::time_point lastQueueProgress_;
  bool pollingQueues_ = false;
  bool contextKept_ = false;
};

} // namespace tandem
