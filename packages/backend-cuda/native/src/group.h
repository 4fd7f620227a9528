#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda_driver.h"

namespace tandem {

/// One physical GPU of a group. All members are used on the group's worker thread only.
struct Gpu {
  int ordinal = 0;
  cuda::Device device = 0;
  cuda::Context context = nullptr;
  cuda::Stream stream = nullptr;
  cuda::MemoryPool pool = nullptr;
};

struct TransferRegion {
  std::size_t gpu = 0;
  cuda::DevicePtr address = 0;
  std::size_t rowByteLength = 0;
  std::size_t rows = 0;
  std::size_t rowByteStride = 0;
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

struct RunOutcome {
  double seconds = 0;
  /// Of each step, by the clock of the first GPU.
  std::vector<double> stepSeconds;
  std::uint64_t launches = 0;
  std::vector<std::vector<std::uint8_t>> collected;
};

/// Contexts, memory, modules and graphs over a set of physical GPUs. Every member function runs on the group's worker thread
/// and throws NativeError. Handles are numbers; whatever is left is freed by `close`.
class Group {
public:
  Group(const cuda::Driver &driver, const std::vector<int> &ordinals);
  ~Group();

  /// `peer(i, j)`: GPU i may read and write the memory of GPU j.
  bool peer(std::size_t reader, std::size_t owner) const { return peers_[reader * gpus_.size() + owner]; }
  std::size_t gpuCount() const { return gpus_.size(); }
  /// Address of the word that ends every spinning kernel when it is not zero.
  std::uintptr_t stopAddress() const { return reinterpret_cast<std::uintptr_t>(stopWord_); }

  /// The address is usable on every peer as soon as this returns.
  cuda::DevicePtr allocate(std::size_t gpu, std::size_t byteLength, bool zero);
  void free(std::size_t gpu, cuda::DevicePtr address);
  void zero(std::size_t gpu, cuda::DevicePtr address, std::size_t byteLength);
  void memoryInfo(std::size_t gpu, std::size_t &freeByteLength, std::size_t &totalByteLength);

  void registerHost(void *address, std::size_t byteLength);
  void unregisterHost(void *address);

  /// Ids are the caller's, so that it can queue a use right behind the creation.
  void loadKernel(std::uint32_t id, std::size_t gpu, const std::vector<std::uint8_t> &image, const std::string &entry,
                  int dynamicSharedByteLength, std::map<std::string, double> &attributes);
  void unloadKernel(std::uint32_t id);

  /// `words`: the nodes as native/src/graph.cpp describes them.
  void createGraph(std::uint32_t id, std::size_t mainGpu, const std::vector<double> &words);
  void destroyGraph(std::uint32_t id);

  RunOutcome run(const RunRequest &request);
  void write(const TransferRegion &region, const std::uint8_t *source);
  void read(const TransferRegion &region, std::uint8_t *target);

  void close();

private:
  struct LoadedKernel {
    std::size_t gpu;
    cuda::Module module;
    cuda::Function function;
  };
  struct InstantiatedGraph {
    std::size_t gpu;
    cuda::GraphExec exec;
  };
  struct Staging {
    void *memory = nullptr;
  };

  const LoadedKernel &kernelOf(std::uint32_t id) const;
  const InstantiatedGraph &graphOf(std::uint32_t id) const;
  void check(cuda::Result result, const char *call) const;
  void use(std::size_t gpu) const;
  void prepareStaging();
  cuda::Event pooledEvent(std::size_t gpu, unsigned flags);
  void waitFor(cuda::Event event) const;
  template <typename Visit> void forEachChunk(const TransferRegion &region, Visit visit) const;
  RunOutcome launchSteps(const RunRequest &request);
  void abandon(const RunRequest &request);
  [[noreturn]] void throwGraphOutOfMemory(std::size_t gpu, const NativeError &cause);
  [[noreturn]] void throwOutOfMemory(std::size_t gpu, std::size_t byteLength, const NativeError &cause);

  const cuda::Driver &driver_;
  std::vector<Gpu> gpus_;
  std::vector<bool> peers_;
  std::map<cuda::DevicePtr, std::size_t> allocations_;
  std::map<void *, std::size_t> registered_;
  std::map<std::uint32_t, LoadedKernel> kernels_;
  std::map<std::uint32_t, InstantiatedGraph> graphs_;
  Staging staging_[2];
  std::uint32_t *stopWord_ = nullptr;
  /// Events by GPU and flags, reused by every run: creating one costs microseconds.
  std::map<std::pair<std::size_t, unsigned>, std::vector<cuda::Event>> events_;
  std::map<std::pair<std::size_t, unsigned>, std::size_t> eventsInUse_;
  bool closed_ = false;
};

} // namespace tandem
