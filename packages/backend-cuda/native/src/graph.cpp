// Graphs, built from the words that src/graph-nodes.ts writes: integers in doubles, which represent them
// exactly, since addresses are below 2^53.
//   nodeCount, then per node: kind, gpu, dependencyCount, dependency... (positions of earlier nodes). Then
//   0 kernel  kernelId, gridX, gridY, gridZ, blockX, blockY, blockZ, dynamicSharedByteLength,
//             parameterCount, parameter (8 bytes each)...
//   1 copy    sourceOnHost, source, sourcePitch, targetOnHost, target, targetPitch, rowByteLength, rows
//   2 fill    address, pitch, value, elementByteLength, elementsPerRow, rows
//   3 messages  count, then per message: 1 if this rank sends it, peer, address, byteLength
#include "group.h"

namespace tandem {

namespace {

class WordReader {
public:
  explicit WordReader(const std::vector<double> &words) : words_(words) {}
  std::uint64_t next() {
    if (position_ >= words_.size()) throw NativeError("driver", "The graph's description is incomplete.");
    return static_cast<std::uint64_t>(words_[position_++]);
  }
  unsigned next32() { return static_cast<unsigned>(next()); }

private:
  const std::vector<double> &words_;
  std::size_t position_ = 0;
};

cuda::CopySide sideOf(WordReader &reader) {
  const bool onHost = reader.next() != 0;
  const auto address = reader.next();
  return {onHost, address, reader.next()};
}

cuda::Memcpy3D copyOf(WordReader &reader) {
  const auto source = sideOf(reader);
  const auto target = sideOf(reader);
  const auto rowByteLength = reader.next();
  return cuda::rowCopy(source, target, rowByteLength, reader.next());
}

cuda::MemsetNodeParams fillOf(WordReader &reader) {
  cuda::MemsetNodeParams fill{};
  fill.dst = reader.next();
  fill.pitch = reader.next();
  fill.value = reader.next32();
  fill.elementSize = reader.next32();
  fill.width = reader.next();
  fill.height = reader.next();
  return fill;
}

std::vector<nccl::Message> messagesOf(WordReader &reader) {
  std::vector<nccl::Message> messages(reader.next());
  for (auto &message : messages) {
    message.sends = reader.next() != 0;
    message.peer = static_cast<int>(reader.next());
    message.address = reader.next();
    message.byteLength = reader.next();
  }
  return messages;
}

} // namespace

cuda::OwnedGraph Group::buildGraph(const cuda::Gpu &main, const std::vector<double> &words) const {
  WordReader reader(words);
  cuda::OwnedGraph graph(main.context, driver_.graphCreate, 0);
  std::vector<cuda::GraphNode> nodes;
  std::vector<cuda::GraphNode> after;
  for (auto left = reader.next(); left > 0; --left) {
    const auto kind = reader.next();
    const auto &gpu = gpus_.at(reader.next());
    after.clear();
    for (auto count = reader.next(); count > 0; --count) after.push_back(nodes.at(reader.next()));
    cuda::GraphNode node = nullptr;
    if (kind == 0) {
      const auto &kernel = kernelOf(reader.next32());
      cuda::KernelNodeParams params{};
      params.func = kernel.function;
      for (auto *size : {&params.gridDimX, &params.gridDimY, &params.gridDimZ}) *size = reader.next32();
      for (auto *size : {&params.blockDimX, &params.blockDimY, &params.blockDimZ}) *size = reader.next32();
      params.sharedMemBytes = reader.next32();
      std::vector<std::uint64_t> values;
      for (auto count = reader.next(); count > 0; --count) values.push_back(reader.next());
      std::vector<void *> pointers;
      for (auto &value : values) pointers.push_back(&value);
      params.kernelParams = pointers.data();
      params.ctx = kernel.gpu->context.handle();
      // The driver reads the parameters' sizes from the function, which must belong to the current context.
      kernel.gpu->use();
      gpu.call(driver_.graphAddKernelNode, &node, graph.get(), after.data(), after.size(), &params);
    } else if (kind == 1) {
      const auto copy = copyOf(reader);
      gpu.call(driver_.graphAddMemcpyNode, &node, graph.get(), after.data(), after.size(), &copy, gpu.context.handle());
    } else if (kind == 2) {
      const auto fill = fillOf(reader);
      gpu.call(driver_.graphAddMemsetNode, &node, graph.get(), after.data(), after.size(), &fill, gpu.context.handle());
    } else if (kind == 3) {
      const auto group = captureMessages(gpu, messagesOf(reader));
      gpu.call(driver_.graphAddChildGraphNode, &node, graph.get(), after.data(), after.size(), group.get());
    } else {
      throw NativeError("driver", "The graph's description has a node of kind " + std::to_string(kind) + ".");
    }
    nodes.push_back(node);
  }
  return graph;
}

} // namespace tandem
