// Launches of instantiated graphs.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "group.h"

namespace tandem {

namespace {

/// A pause while waiting for a launch is an eighth of the time spent in this wait and the one before. The
/// next launch, which takes about as long, is already queued, so the GPU does not run out of work meanwhile.
constexpr int pausesPerLaunch = 8;
/// The end of a run is noticed at most a thousandth of its duration late.
constexpr int pausesPerRun = 1000;
constexpr auto shortestPause = std::chrono::microseconds(20);
constexpr auto longestPause = std::chrono::milliseconds(1);

std::mutex order;

} // namespace

void Group::tell(Stop why) {
  auto none = static_cast<std::uint32_t>(Stop::none);
  if (__atomic_compare_exchange_n(static_cast<std::uint32_t *>(stopWord_.get()), &none, static_cast<std::uint32_t>(why), false,
                                  __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    for (const auto &word : leaveWords_) word.write(true);
}

Stop Group::takeStop() {
  const auto why = Stop(__atomic_exchange_n(static_cast<std::uint32_t *>(stopWord_.get()), 0u, __ATOMIC_SEQ_CST));
  if (why != Stop::none)
    for (const auto &word : leaveWords_) word.write(false);
  // After breaking off, any work that still starts ends at once.
  if (broken_.load()) tell(Stop::broken);
  return why;
}

void Group::requireWhole() const {
  if (communicator_) communicator_->requireWhole();
  if (broken_.load()) throw NativeError("peer-lost", "Another process, with whose GPUs this one shares memory, cannot continue.");
}

const Group::InstantiatedGraph &Group::graphOf(std::uint32_t id) const {
  const auto found = graphs_.find(id);
  if (found != graphs_.end()) return found->second;
  throw NativeError("driver", "The run uses a graph that was not instantiated, or that a failed run before this one discarded.");
}

/// Queries the event until it is complete, and calls `look` each time it is not. The pauses between queries
/// grow with the time since `from`, of which each is one part in `pauses`, so a long wait needs few queries.
/// Instead of a pause too short for a sleep, the thread yields.
void Group::waitFor(const cuda::Gpu &gpu, cuda::Event event, Clock::time_point from, int pauses, const std::function<void()> &look) {
  for (;;) {
    const auto state = driver_.eventQuery(event);
    if (state == cuda::success) return;
    if (state != cuda::errorNotReady) gpu.context.check(state, driver_.eventQuery);
    if (communicator_) communicator_->requireWhole();
    look();
    if (!queues_.empty()) {
      tendQueues();
      gpu.use();
    }
    const auto pause = std::min<Clock::duration>((Clock::now() - from) / pauses, longestPause);
    if (pause < shortestPause) std::this_thread::yield();
    else std::this_thread::sleep_for(pause);
  }
}

RunOutcome Group::run(const RunRequest &request) {
  settleQueues();
  // The uniforms come first: later runs in the queue rely on them, even if this one fails.
  for (const auto &target : request.uniformTargets) {
    const auto &gpu = gpus_.at(target.gpu);
    const auto &uniforms = request.uniforms.value();
    gpu.use();
    gpu.call(driver_.memcpyHtoDAsync, target.address, uniforms.data(), uniforms.size(), gpu.stream.get());
    gpu.synchronize();
  }
  try {
    return launchSteps(request);
  } catch (const NativeError &error) {
    // An abort and a time limit wait for what was launched, so every GPU has launched equally often.
    if (error.code != "aborted" && error.code != "timeout") abandon(request);
    throw;
  } catch (...) {
    abandon(request);
    throw;
  }
}

/// After a failure nothing stays in flight: graphs that wait for one that has not started would spin for
/// ever. Their GPUs' counts of launches may differ, so a run queued behind must not find them.
void Group::abandon(const RunRequest &request) {
  tell(Stop::broken);
  // Other ranks may never send the messages for which this one waits.
  if (communicator_) communicator_->abort();
  for (const auto &gpu : gpus_) {
    driver_.ctxSetCurrent(gpu.context.handle());
    driver_.streamSynchronize(gpu.stream.get());
  }
  takeStop();
  if (communicator_) graphs_.clear();
  for (const auto &step : request.steps) {
    if (step.graphs.size() < 2) continue;
    for (const auto id : step.graphs) graphs_.erase(id);
  }
}

std::vector<const cuda::Gpu *> Group::gpusOf(const std::vector<std::uint32_t> &graphs) const {
  std::vector<const cuda::Gpu *> found;
  for (const auto id : graphs) {
    const auto *gpu = &gpus_[graphOf(id).gpu];
    if (std::find(found.begin(), found.end(), gpu) == found.end()) found.push_back(gpu);
  }
  return found;
}

std::unique_lock<std::mutex> Group::holdOrder() const {
  return gpus_.size() > 1 ? std::unique_lock(order) : std::unique_lock<std::mutex>();
}

void Group::follow(const cuda::Gpu &gpu, const cuda::Gpu &other) const {
  other.use();
  other.record(other.joined);
  gpu.use();
  gpu.call(driver_.streamWaitEvent, gpu.stream.get(), other.joined.get(), 0);
}

void Group::fork(const std::vector<const cuda::Gpu *> &gpus, const cuda::OwnedEvent &event) const {
  for (const auto *gpu : gpus) {
    if (gpu != gpus.front()) gpu->call(driver_.streamWaitEvent, gpu->stream.get(), event.get(), 0);
  }
}

void Group::join(const std::vector<const cuda::Gpu *> &gpus) const {
  const auto &main = *gpus.front();
  for (const auto *gpu : gpus) {
    if (gpu == &main) continue;
    gpu->use();
    gpu->record(gpu->joined);
    main.call(driver_.streamWaitEvent, main.stream.get(), gpu->joined.get(), 0);
  }
  main.use();
}

void Group::launchGraphs(const std::vector<std::uint32_t> &graphs) const {
  for (const auto id : graphs) {
    const auto &graph = graphOf(id);
    const auto &gpu = gpus_[graph.gpu];
    gpu.use();
    gpu.call(driver_.graphLaunch, graph.exec.get(), gpu.stream.get());
  }
}

RunOutcome Group::launchSteps(const RunRequest &request) {
  requireWhole();
  std::vector<std::uint32_t> graphs;
  for (const auto &step : request.steps) graphs.insert(graphs.end(), step.graphs.begin(), step.graphs.end());
  // The clock events are recorded in the first GPU's stream.
  const auto used = gpusOf(graphs);
  RunOutcome outcome;
  if (used.empty()) return outcome;
  for (const auto &range : request.collect) {
    if (range.clear) zero(range.gpu, range.address, range.byteLength);
  }

  const auto &main = *used.front();
  if (request.limitSeconds) awaitQueues();
  const auto begin = Clock::now();
  const auto abortWord = [&] {
    // In this order: an environment that closes waits two seconds for the run, then frees the word.
    return stopping_() ? 1 : request.abortWord == nullptr ? 0 : __atomic_load_n(request.abortWord, __ATOMIC_RELAXED);
  };
  const auto look = [&] {
    const auto word = abortWord();
    if (request.limitSeconds && Clock::now() - begin >= std::chrono::duration<double>(*request.limitSeconds)) tell(Stop::limit);
    else if (word == 2) tell(Stop::abort);
    return word;
  };
  // Once kernels have been signalled to leave, the results are wrong, and more launches would only take time.
  // Processes that exchange messages must launch equally often, so they launch what is left: kernels end at once.
  const auto shouldStop = [&] {
    // Read once: a word that is written after the look must not end the launches of a process with messages.
    const auto word = look();
    const auto why = stopped();
    if (communicator_ && (why == Stop::limit || why == Stop::abort)) return stopping_();
    return word != 0 || why != Stop::none;
  };

  {
    const auto held = holdOrder();
    followQueues(main);
    launchGraphs(request.before);
    main.use();
    main.record(main.start);
  }
  bool aborted = false;
  Clock::duration lastWait{};
  for (const auto &step : request.steps) {
    if (aborted) break;
    {
      const auto held = holdOrder();
      fork(used, outcome.launches == 0 ? main.start : main.end);
    }
    // An abort takes effect between launches, so only few are in flight.
    for (std::uint64_t launch = 0; launch < step.count; ++launch) {
      const auto turn = outcome.launches % cuda::Gpu::turnCount;
      const auto from = Clock::now();
      for (const auto *gpu : used) {
        if (outcome.launches < cuda::Gpu::turnCount) break;
        gpu->use();
        waitFor(*gpu, gpu->turns[turn].get(), from - lastWait, pausesPerLaunch, look);
      }
      lastWait = Clock::now() - from;
      aborted = shouldStop();
      if (aborted) break;
      const auto held = holdOrder();
      launchGraphs(step.graphs);
      for (const auto *gpu : used) {
        gpu->use();
        gpu->record(gpu->turns[turn]);
      }
      outcome.launches += 1;
    }
    const auto held = holdOrder();
    join(used);
    main.record(main.end);
  }
  waitFor(main, main.end.get(), begin, pausesPerRun, look);
  switch (takeStop()) {
  case Stop::none: break;
  case Stop::limit:
    requireWhole();
    throw NativeError("timeout", "The run took longer than its limit.");
  case Stop::abort:
    requireWhole();
    throw NativeError("aborted", "The run was aborted inside its kernels, after " + std::to_string(outcome.launches) + " launches.");
  case Stop::broken:
    requireWhole();
    throw NativeError("driver", "A GPU timed out while it waited for another one: the driver does not run them at the same time here. "
                                "Use the lowering 'one-graph', which does not need that.");
  }
  float milliseconds = 0;
  main.call(driver_.eventElapsedTime, &milliseconds, main.start.get(), main.end.get());
  outcome.seconds = static_cast<double>(milliseconds) / 1000;
  for (const auto &range : request.collect) {
    const auto &gpu = gpus_.at(range.gpu);
    gpu.use();
    auto &bytes = outcome.collected.emplace_back(range.byteLength);
    gpu.call(driver_.memcpyDtoHAsync, bytes.data(), range.address, range.byteLength, gpu.stream.get());
    gpu.synchronize();
  }
  if (aborted) {
    throw NativeError("aborted",
                      "The run was aborted after " + std::to_string(outcome.launches) + " completed launches.");
  }
  return outcome;
}

} // namespace tandem
