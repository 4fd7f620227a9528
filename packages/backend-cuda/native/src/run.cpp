// Launches of instantiated graphs.
#include <algorithm>
#include <chrono>
#include <thread>

#include "group.h"

namespace tandem {

namespace {

/// An abort acts between launches, so few are in flight.
constexpr std::size_t launchesInFlight = 2;

std::uint32_t takeStop(void *stopWord) {
  return __atomic_exchange_n(static_cast<std::uint32_t *>(stopWord), 0u, __ATOMIC_SEQ_CST);
}

} // namespace

const Group::InstantiatedGraph &Group::graphOf(std::uint32_t id) const {
  const auto found = graphs_.find(id);
  if (found != graphs_.end()) return found->second;
  throw NativeError("driver", "The run uses a graph that was not instantiated, or that a failed run before this one discarded.");
}

/// Spins, because short runs end within it, then looks every 50 µs: an event that blocks wakes up half a millisecond late.
void Group::waitFor(const cuda::Gpu &gpu, cuda::Event event) const {
  const auto spinUntil = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  for (;;) {
    const auto state = driver_.eventQuery(event);
    if (state == cuda::success) return;
    if (state != cuda::errorNotReady) gpu.check(state, "cuEventQuery");
    if (std::chrono::steady_clock::now() > spinUntil) std::this_thread::sleep_for(std::chrono::microseconds(50));
    else std::this_thread::yield();
  }
}

cuda::Event Group::pooledEvent(std::size_t gpu, unsigned flags) {
  auto &pool = events_[{gpu, flags}];
  if (pool.used == pool.events.size()) {
    pool.events.emplace_back(gpus_[gpu].context, "cuEventCreate",
                             [&](cuda::Event *event) { return driver_.eventCreate(event, flags); });
  }
  return pool.events[pool.used++].get();
}

RunOutcome Group::run(const RunRequest &request) {
  // First of all: runs queued behind this one count on it, whatever becomes of this one.
  for (const auto &[index, address] : request.uniformTargets) {
    const auto &gpu = gpus_.at(index);
    gpu.use();
    gpu.check(driver_.memcpyHtoDAsync(address, request.uniforms.data(), request.uniforms.size(), gpu.stream.get()),
              "cuMemcpyHtoDAsync");
    gpu.synchronize();
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
  __atomic_store_n(static_cast<std::uint32_t *>(stopWord_.get()), 1u, __ATOMIC_SEQ_CST);
  for (const auto &gpu : gpus_) {
    driver_.ctxSetCurrent(gpu.context.handle());
    driver_.streamSynchronize(gpu.stream.get());
  }
  takeStop(stopWord_.get());
  for (const auto &step : request.steps) {
    if (step.graphs.size() < 2) continue;
    for (const auto id : step.graphs) graphs_.erase(id);
  }
}

RunOutcome Group::launchSteps(const RunRequest &request) {
  // The GPUs that take part; the first one's stream carries the clock.
  struct Lane {
    const cuda::Gpu *gpu;
    cuda::Event joined;
    cuda::Event ring[launchesInFlight];
  };
  for (auto &[key, pool] : events_) pool.used = 0;
  std::vector<std::size_t> used;
  std::vector<Lane> lanes;
  for (const auto &step : request.steps) {
    for (const auto id : step.graphs) {
      const auto index = graphOf(id).gpu;
      if (std::find(used.begin(), used.end(), index) != used.end()) continue;
      used.push_back(index);
      Lane lane{&gpus_[index], pooledEvent(index, cuda::eventDisableTiming), {}};
      for (auto &event : lane.ring) event = pooledEvent(index, cuda::eventDisableTiming);
      lanes.push_back(lane);
    }
  }
  RunOutcome outcome;
  if (lanes.empty()) return outcome;
  for (const auto &range : request.collect) {
    if (range.clear) zero(range.gpu, range.address, range.byteLength);
  }

  const auto &main = *lanes.front().gpu;
  const auto mainEvent = [&] {
    const auto event = pooledEvent(used.front(), 0);
    main.use();
    main.check(driver_.eventRecord(event, main.stream.get()), "cuEventRecord");
    return event;
  };
  // Every other stream continues after what the main stream has reached, and the main stream after all others.
  const auto fork = [&](cuda::Event event) {
    for (const auto &lane : lanes) {
      if (lane.gpu != &main) main.check(driver_.streamWaitEvent(lane.gpu->stream.get(), event, 0), "cuStreamWaitEvent");
    }
  };
  const auto join = [&] {
    for (const auto &lane : lanes) {
      if (lane.gpu == &main) continue;
      lane.gpu->use();
      lane.gpu->check(driver_.eventRecord(lane.joined, lane.gpu->stream.get()), "cuEventRecord");
      main.check(driver_.streamWaitEvent(main.stream.get(), lane.joined, 0), "cuStreamWaitEvent");
    }
    return mainEvent();
  };
  // A wait that gave up has spoilt the run: more launches would only take time.
  const auto shouldStop = [&] {
    return (request.abortWord != nullptr && __atomic_load_n(request.abortWord, __ATOMIC_RELAXED) != 0) ||
           (request.stopping && request.stopping()) ||
           __atomic_load_n(static_cast<std::uint32_t *>(stopWord_.get()), __ATOMIC_RELAXED) != 0;
  };

  const auto start = mainEvent();
  auto end = start;
  bool aborted = false;
  for (const auto &step : request.steps) {
    if (aborted) break;
    fork(end);
    for (std::uint64_t launch = 0; launch < step.count; ++launch) {
      const auto slot = outcome.launches % launchesInFlight;
      for (const auto &lane : lanes) {
        if (outcome.launches < launchesInFlight) break;
        lane.gpu->use();
        waitFor(*lane.gpu, lane.ring[slot]);
      }
      aborted = shouldStop();
      if (aborted) break;
      for (const auto id : step.graphs) {
        const auto &graph = graphOf(id);
        const auto &gpu = gpus_[graph.gpu];
        gpu.use();
        gpu.check(driver_.graphLaunch(graph.exec.get(), gpu.stream.get()), "cuGraphLaunch");
      }
      for (const auto &lane : lanes) {
        lane.gpu->use();
        lane.gpu->check(driver_.eventRecord(lane.ring[slot], lane.gpu->stream.get()), "cuEventRecord");
      }
      outcome.launches += 1;
    }
    end = join();
  }
  waitFor(main, end);
  if (takeStop(stopWord_.get()) != 0) {
    throw NativeError("driver", "A GPU waited in vain for another one: the driver does not run them side by side here. "
                                "The lowering 'one-graph' does without.");
  }
  float milliseconds = 0;
  main.check(driver_.eventElapsedTime(&milliseconds, start, end), "cuEventElapsedTime");
  outcome.seconds = static_cast<double>(milliseconds) / 1000;
  for (const auto &range : request.collect) {
    const auto &gpu = gpus_.at(range.gpu);
    gpu.use();
    auto &bytes = outcome.collected.emplace_back(range.byteLength);
    gpu.check(driver_.memcpyDtoHAsync(bytes.data(), range.address, range.byteLength, gpu.stream.get()),
              "cuMemcpyDtoHAsync");
    gpu.synchronize();
  }
  if (aborted) {
    throw NativeError("aborted",
                      "The run is aborted after " + std::to_string(outcome.launches) + " completed launches.");
  }
  return outcome;
}

} // namespace tandem
