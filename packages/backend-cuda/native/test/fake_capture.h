// What is issued to a stream that captures becomes a graph, and a graph a node of another one. Included once, by fake_cuda.cpp.
#pragma once
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
  return addNode(node, graph, after, count, [part] {
    part->run();
    return 0;
  });
}

} // namespace
