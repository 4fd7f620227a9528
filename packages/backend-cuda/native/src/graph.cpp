// Graphs: built from the words that src/graph-nodes.ts writes, launched by `run`.
//
// Words (doubles that hold exact integers; addresses are below 2^53):
//   nodeCount, then per node: kind, gpu, dependencyCount, dependency...; dependencies are positions of earlier nodes. Then
//   0 empty   —
//   1 kernel  kernelId, gridX, gridY, gridZ, blockX, blockY, blockZ, dynamicSharedByteLength, parameterCount, parameter (8 bytes each)...
//   2 copy    sourceOnHost, source, sourcePitch, targetOnHost, target, targetPitch, rowByteLength, rows
//   3 fill    address, pitch, value, elementByteLength, elementsPerRow, rows
#include <algorithm>
#include <chrono>
#include <thread>

#include "group.h"

namespace tandem {

namespace {

class WordReader {
public:
  explicit WordReader(const std::vector<double> &words) : words_(words) {}
  std::uint64_t next() {
    if (position_ >= words_.size()) throw NativeError("driver", "The graph's description ends early.");
    return static_cast<std::uint64_t>(words_[position_++]);
  }

private:
  const std::vector<double> &words_;
  std::size_t position_ = 0;
};

void setSide(cuda::Memcpy3D &copy, bool source, bool onHost, std::uint64_t address, std::size_t pitch) {
  const auto type = onHost ? cuda::memoryTypeHost : cuda::memoryTypeDevice;
  if (source) {
    copy.srcMemoryType = type;
    if (onHost) copy.srcHost = reinterpret_cast<const void *>(address);
    else copy.srcDevice = address;
    copy.srcPitch = pitch;
  } else {
    copy.dstMemoryType = type;
    if (onHost) copy.dstHost = reinterpret_cast<void *>(address);
    else copy.dstDevice = address;
    copy.dstPitch = pitch;
  }
}

} // namespace

const Group::LoadedKernel &Group::kernelOf(std::uint32_t id) const {
  const auto found = kernels_.find(id);
  if (found == kernels_.end()) throw NativeError("driver", "The graph uses a kernel that is not loaded.");
  return found->second;
}

const Group::InstantiatedGraph &Group::graphOf(std::uint32_t id) const {
  const auto found = graphs_.find(id);
  if (found == graphs_.end()) throw NativeError("driver", "The run uses a graph that was not instantiated, or that a failed run before this one discarded.");
  return found->second;
}

void Group::createGraph(std::uint32_t id, std::size_t mainGpu, const std::vector<double> &words) {
  use(mainGpu);
  WordReader reader(words);
  cuda::Graph graph = nullptr;
  check(driver_.graphCreate(&graph, 0), "cuGraphCreate");
  cuda::GraphExec exec = nullptr;
  try {
    const auto nodeCount = reader.next();
    std::vector<cuda::GraphNode> nodes;
    nodes.reserve(nodeCount);
    std::vector<cuda::GraphNode> after;
    for (std::uint64_t index = 0; index < nodeCount; ++index) {
      const auto kind = reader.next();
      const auto &gpu = gpus_.at(reader.next());
      after.clear();
      for (auto count = reader.next(); count > 0; --count) after.push_back(nodes.at(reader.next()));
      cuda::GraphNode node = nullptr;
      if (kind == 0) {
        check(driver_.graphAddEmptyNode(&node, graph, after.data(), after.size()), "cuGraphAddEmptyNode");
      } else if (kind == 1) {
        const auto &kernel = kernelOf(static_cast<std::uint32_t>(reader.next()));
        cuda::KernelNodeParams params{};
        params.func = kernel.function;
        params.gridDimX = static_cast<unsigned>(reader.next());
        params.gridDimY = static_cast<unsigned>(reader.next());
        params.gridDimZ = static_cast<unsigned>(reader.next());
        params.blockDimX = static_cast<unsigned>(reader.next());
        params.blockDimY = static_cast<unsigned>(reader.next());
        params.blockDimZ = static_cast<unsigned>(reader.next());
        params.sharedMemBytes = static_cast<unsigned>(reader.next());
        const auto parameterCount = reader.next();
        std::vector<std::uint64_t> values(parameterCount);
        std::vector<void *> pointers(parameterCount);
        for (std::uint64_t parameter = 0; parameter < parameterCount; ++parameter) {
          values[parameter] = reader.next();
          pointers[parameter] = &values[parameter];
        }
        params.kernelParams = pointers.data();
        params.ctx = gpus_[kernel.gpu].context;
        // The driver reads the parameters' sizes from the function, which must belong to the current context.
        check(driver_.ctxSetCurrent(params.ctx), "cuCtxSetCurrent");
        check(driver_.graphAddKernelNode(&node, graph, after.data(), after.size(), &params), "cuGraphAddKernelNode");
      } else if (kind == 2) {
        cuda::Memcpy3D copy{};
        const bool sourceOnHost = reader.next() != 0;
        const auto source = reader.next();
        const auto sourcePitch = reader.next();
        const bool targetOnHost = reader.next() != 0;
        const auto target = reader.next();
        const auto targetPitch = reader.next();
        copy.widthInBytes = reader.next();
        copy.height = reader.next();
        copy.depth = 1;
        setSide(copy, true, sourceOnHost, source, sourcePitch);
        setSide(copy, false, targetOnHost, target, targetPitch);
        copy.srcHeight = copy.height;
        copy.dstHeight = copy.height;
        check(driver_.graphAddMemcpyNode(&node, graph, after.data(), after.size(), &copy, gpu.context),
              "cuGraphAddMemcpyNode");
      } else if (kind == 3) {
        cuda::MemsetNodeParams params{};
        params.dst = reader.next();
        params.pitch = reader.next();
        params.value = static_cast<unsigned>(reader.next());
        params.elementSize = static_cast<unsigned>(reader.next());
        params.width = reader.next();
        params.height = reader.next();
        check(driver_.graphAddMemsetNode(&node, graph, after.data(), after.size(), &params, gpu.context),
              "cuGraphAddMemsetNode");
      } else {
        throw NativeError("driver", "The graph's description has a node of kind " + std::to_string(kind) + ".");
      }
      nodes.push_back(node);
    }
    use(mainGpu);
    check(driver_.graphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
    check(driver_.graphUpload(exec, gpus_[mainGpu].stream), "cuGraphUpload");
    check(driver_.streamSynchronize(gpus_[mainGpu].stream), "cuStreamSynchronize");
  } catch (const NativeError &error) {
    if (exec != nullptr) driver_.graphExecDestroy(exec);
    driver_.graphDestroy(graph);
    if (error.result == cuda::errorOutOfMemory) throwGraphOutOfMemory(mainGpu, error);
    throw;
  } catch (...) {
    if (exec != nullptr) driver_.graphExecDestroy(exec);
    driver_.graphDestroy(graph);
    throw;
  }
  driver_.graphDestroy(graph);
  graphs_[id] = {mainGpu, exec};
}

/// Spins, because short runs end within it, then looks every 50 µs: an event that blocks wakes up half a millisecond late.
void Group::waitFor(cuda::Event event) const {
  const auto spinUntil = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  for (;;) {
    const auto state = driver_.eventQuery(event);
    if (state == cuda::success) return;
    if (state != cuda::errorNotReady) check(state, "cuEventQuery");
    if (std::chrono::steady_clock::now() > spinUntil) std::this_thread::sleep_for(std::chrono::microseconds(50));
    else std::this_thread::yield();
  }
}

cuda::Event Group::pooledEvent(std::size_t gpu, unsigned flags) {
  auto &events = events_[{gpu, flags}];
  auto &inUse = eventsInUse_[{gpu, flags}];
  if (inUse == events.size()) {
    use(gpu);
    cuda::Event event = nullptr;
    check(driver_.eventCreate(&event, flags), "cuEventCreate");
    events.push_back(event);
  }
  return events[inUse++];
}

namespace {

constexpr std::size_t launchesInFlight = 2;

} // namespace

RunOutcome Group::run(const RunRequest &request) {
  // First of all: runs queued behind this one count on it, whatever becomes of this one.
  for (const auto &[gpu, address] : request.uniformTargets) {
    use(gpu);
    check(driver_.memcpyHtoDAsync(address, request.uniforms.data(), request.uniforms.size(), gpus_[gpu].stream),
          "cuMemcpyHtoDAsync");
    check(driver_.streamSynchronize(gpus_[gpu].stream), "cuStreamSynchronize");
  }
  try {
    return launchSteps(request);
  } catch (const NativeError &error) {
    // An abort waits for what it launched, and every GPU has launched as often.
    if (error.code != "aborted") abandon(request);
    throw;
  } catch (...) {
    abandon(request);
    throw;
  }
}

/// After a failure nothing stays in flight: graphs that wait for one that did not start would spin for ever. Their GPUs' counts of
/// launches may differ, so a run queued behind must not find them.
void Group::abandon(const RunRequest &request) {
  __atomic_store_n(stopWord_, 1u, __ATOMIC_SEQ_CST);
  for (const auto &gpu : gpus_) {
    driver_.ctxSetCurrent(gpu.context);
    driver_.streamSynchronize(gpu.stream);
  }
  __atomic_store_n(stopWord_, 0u, __ATOMIC_SEQ_CST);
  for (const auto &step : request.steps) {
    if (step.graphs.size() < 2) continue;
    for (const auto id : step.graphs) {
      const auto found = graphs_.find(id);
      if (found == graphs_.end()) continue;
      driver_.graphExecDestroy(found->second.exec);
      graphs_.erase(found);
    }
  }
}

RunOutcome Group::launchSteps(const RunRequest &request) {
  RunOutcome outcome;
  use(0);
  // The GPUs that take part; the first one's stream carries the clock.
  std::vector<std::size_t> used;
  for (const auto &step : request.steps) {
    for (const auto id : step.graphs) {
      const auto gpu = graphOf(id).gpu;
      if (std::find(used.begin(), used.end(), gpu) == used.end()) used.push_back(gpu);
    }
  }
  if (used.empty()) return outcome;
  const auto main = used.front();

  for (const auto &range : request.collect) {
    if (!range.clear) continue;
    use(range.gpu);
    check(driver_.memsetD8Async(range.address, 0, range.byteLength, gpus_[range.gpu].stream), "cuMemsetD8Async");
    check(driver_.streamSynchronize(gpus_[range.gpu].stream), "cuStreamSynchronize");
  }

  eventsInUse_.clear();
  struct Lane {
    std::size_t gpu;
    cuda::Event joined;
    cuda::Event ring[launchesInFlight];
  };
  std::vector<Lane> lanes;
  for (const auto gpu : used) {
    Lane lane{gpu, pooledEvent(gpu, cuda::eventDisableTiming), {}};
    for (auto &event : lane.ring) event = pooledEvent(gpu, cuda::eventDisableTiming);
    lanes.push_back(lane);
  }
  const auto start = pooledEvent(main, 0);
  use(main);
  // Every other stream continues after what the main stream has reached, and the main stream after all others.
  const auto fork = [&](cuda::Event event) {
    for (const auto &lane : lanes) {
      if (lane.gpu == main) continue;
      check(driver_.streamWaitEvent(gpus_[lane.gpu].stream, event, 0), "cuStreamWaitEvent");
    }
  };
  const auto join = [&] {
    for (const auto &lane : lanes) {
      if (lane.gpu == main) continue;
      use(lane.gpu);
      check(driver_.eventRecord(lane.joined, gpus_[lane.gpu].stream), "cuEventRecord");
      check(driver_.streamWaitEvent(gpus_[main].stream, lane.joined, 0), "cuStreamWaitEvent");
    }
    use(main);
  };

  bool aborted = false;
  const auto shouldStop = [&] {
    return (request.abortWord != nullptr && __atomic_load_n(request.abortWord, __ATOMIC_RELAXED) != 0) ||
           (request.stopping && request.stopping());
  };
  check(driver_.eventRecord(start, gpus_[main].stream), "cuEventRecord");
  fork(start);
  std::vector<cuda::Event> boundaries{start};
  for (const auto &step : request.steps) {
    if (aborted) break;
    if (boundaries.size() > 1 && lanes.size() > 1) fork(boundaries.back());
    for (std::uint64_t launch = 0; launch < step.count; ++launch) {
      const auto slot = outcome.launches % launchesInFlight;
      if (outcome.launches >= launchesInFlight) {
        for (const auto &lane : lanes) {
          use(lane.gpu);
          waitFor(lane.ring[slot]);
        }
      }
      // A wait that gave up has spoilt the run: more launches would only take time.
      if (shouldStop() || __atomic_load_n(stopWord_, __ATOMIC_RELAXED) != 0) {
        aborted = true;
        break;
      }
      for (const auto id : step.graphs) {
        const auto &graph = graphOf(id);
        use(graph.gpu);
        check(driver_.graphLaunch(graph.exec, gpus_[graph.gpu].stream), "cuGraphLaunch");
      }
      for (const auto &lane : lanes) {
        use(lane.gpu);
        check(driver_.eventRecord(lane.ring[slot], gpus_[lane.gpu].stream), "cuEventRecord");
      }
      outcome.launches += 1;
    }
    join();
    boundaries.push_back(pooledEvent(main, 0));
    check(driver_.eventRecord(boundaries.back(), gpus_[main].stream), "cuEventRecord");
  }
  const auto end = boundaries.back();
  waitFor(end);
  if (__atomic_exchange_n(stopWord_, 0u, __ATOMIC_SEQ_CST) != 0) {
    throw NativeError("driver", "A GPU waited in vain for another one: the driver does not run them side by side here. "
                                "The lowering 'one-graph' does without.");
  }
  float milliseconds = 0;
  check(driver_.eventElapsedTime(&milliseconds, start, end), "cuEventElapsedTime");
  outcome.seconds = static_cast<double>(milliseconds) / 1000;
  for (std::size_t index = 1; index < boundaries.size(); ++index) {
    check(driver_.eventElapsedTime(&milliseconds, boundaries[index - 1], boundaries[index]), "cuEventElapsedTime");
    outcome.stepSeconds.push_back(static_cast<double>(milliseconds) / 1000);
  }
  for (const auto &range : request.collect) {
    use(range.gpu);
    outcome.collected.emplace_back(range.byteLength);
    check(driver_.memcpyDtoHAsync(outcome.collected.back().data(), range.address, range.byteLength,
                                  gpus_[range.gpu].stream),
          "cuMemcpyDtoHAsync");
    check(driver_.streamSynchronize(gpus_[range.gpu].stream), "cuStreamSynchronize");
  }
  if (aborted) {
    throw NativeError("aborted",
                      "The run is aborted after " + std::to_string(outcome.launches) + " completed launches.");
  }
  return outcome;
}

} // namespace tandem
