// Graphs of the fake driver. What is issued to a stream that captures becomes a graph, and a graph a node of
// another one. Included once, by fake_cuda.cpp.
#pragma once
#include <algorithm>
#include <utility>

#include "fake_machine.h"

namespace {

Result fStreamBeginCapture(Stream stream, int) {
  if (sticky.load() != 0) return sticky.load();
  if (fake(stream)->capture != nullptr) return errorInvalidValue;
  fake(stream)->capture = new FakeGraph{fake(stream)->device, {}};
  count(fake(stream)->device, "graph", 1);
  return 0;
}
Result fStreamEndCapture(Stream stream, Graph *graph) {
  *graph = reinterpret_cast<Graph>(std::exchange(fake(stream)->capture, nullptr));
  return *graph == nullptr ? errorInvalidValue : sticky.load();
}
Result fGraphAddChildGraphNode(GraphNode *node, Graph graph, const GraphNode *after, std::size_t count, Graph child) {
  const auto part = std::make_shared<FakeExec>();
  part->graph = *fake(child);
  if (part->graph.nodes.empty()) return errorInvalidValue;
  const auto result = addNode(node, graph, after, count, [part] {
    part->run();
    return 0;
  });
  auto &added = fake(graph)->nodes.back();
  for (const auto &inner : part->graph.nodes) added.priority = std::min(added.priority, inner.priority);
  return result;
}

Result fGraphCreate(Graph *graph, unsigned) {
  STICKY;
  *graph = reinterpret_cast<Graph>(new FakeGraph{currentContext->device, {}});
  count(currentContext->device, "graph", 1);
  return 0;
}
Result fGraphDestroy(Graph graph) {
  count(fake(graph)->device, "graph", -1);
  delete fake(graph);
  return 0;
}
Result fLaunchKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,
                     unsigned, Stream stream, void **parameters, void **) {
  STICKY;
  const auto *called = reinterpret_cast<const FakeFunction *>(function);
  if (called->device != currentContext->device || gridX == 0 || gridY == 0 || gridZ == 0) return errorInvalidValue;
  std::vector<std::uint64_t> values;
  for (std::size_t index = 0; index < called->parameterCount; ++index) values.push_back(*static_cast<std::uint64_t *>(parameters[index]));
  fake(stream)->push([=, values = std::move(values)] {
    const unsigned grid[] = {gridX, gridY, gridZ};
    const unsigned block[] = {blockX, blockY, blockZ};
    if (sticky.load() == 0) fail(launch(*called, grid, block, values));
  });
  return 0;
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
                           ContextHandle context) {
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
                           ContextHandle context) {
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
/// The driver ignores the priorities of nodes without the flag; here that is an error.
Result fGraphInstantiate(GraphExec *exec, Graph graph, unsigned long long flags) {
  STICKY;
  const auto &nodes = fake(graph)->nodes;
  if (flags != graphUsesNodePriorities && std::any_of(nodes.begin(), nodes.end(), [](const FakeNode &node) { return node.priority != 0; }))
    return errorInvalidValue;
  if (liveGraphs.load() >= setting("FAKE_CUDA_GRAPHS", 1000000)) return errorOutOfMemory;
  ++liveGraphs;
  auto *made = new FakeExec();
  made->graph = *fake(graph);
  count(made->graph.device, "instantiated graph", 1);
  *exec = reinterpret_cast<GraphExec>(made);
  return 0;
}
/// Graphs in the order of their launches: streams of a GPU may share a queue.
struct LaunchQueue {
  std::mutex mutex;
  long launched = 0;
  std::atomic<long> ended{0};
};
auto *const launchQueues = new LaunchQueue[64];
Result fGraphUpload(GraphExec, Stream) { return 0; }
Result fGraphLaunch(GraphExec exec, Stream stream) {
  STICKY;
  auto *launched = reinterpret_cast<FakeExec *>(exec);
  const int device = fake(stream)->device;
  if (device == setting("FAKE_CUDA_FAIL_DEVICE", -1)) return errorOutOfMemory;
  if (setting("FAKE_CUDA_ONE_QUEUE", 0) == 0) {
    fake(stream)->push([launched] { launched->run(); });
    return 0;
  }
  // Long enough for other threads to launch in between.
  std::this_thread::sleep_for(std::chrono::microseconds(50));
  auto &queue = launchQueues[device];
  std::lock_guard lock(queue.mutex);
  fake(stream)->push([launched, &queue, place = queue.launched++] {
    spinUntil([&] { return queue.ended.load() == place; });
    launched->run();
    queue.ended.store(place + 1);
  });
  return 0;
}
Result fGraphExecDestroy(GraphExec exec) {
  count(reinterpret_cast<FakeExec *>(exec)->graph.device, "instantiated graph", -1);
  delete reinterpret_cast<FakeExec *>(exec);
  --liveGraphs;
  return 0;
}

} // namespace
