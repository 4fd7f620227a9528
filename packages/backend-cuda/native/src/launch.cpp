// Launches of graphs that native code of another package asks for, repetition by repetition.
#include <algorithm>
#include <thread>

#include "group.h"

namespace tandem {

namespace {

/// How long the group's thread polls without a pause after the last progress, and goes on polling when nothing is in flight: the next launch
/// of a repeated program follows soon, and waking a thread takes longer than a short kernel.
constexpr auto spinTime = std::chrono::milliseconds(5);
constexpr auto lingerTime = std::chrono::microseconds(200);
constexpr auto pauseTime = std::chrono::microseconds(50);

} // namespace

void Group::createLaunchSet(std::uint32_t id, const std::vector<std::uint32_t> &graphs) {
  LaunchSet set;
  set.graphs = graphs;
  const auto event = [&](const cuda::Gpu &gpu) {
    return Event(gpu.context, "cuEventCreate",
                 [&](cuda::Event *created) { return driver_.eventCreate(created, cuda::eventDisableTiming); });
  };
  for (const auto graph : graphs) {
    const auto &gpu = gpus_[graphOf(graph).gpu];
    const auto known = std::any_of(set.lanes.begin(), set.lanes.end(), [&](const auto &lane) { return lane.gpu == &gpu; });
    if (!known) set.lanes.push_back({&gpu, event(gpu)});
  }
  if (set.lanes.empty()) throw NativeError("driver", "A launch needs a graph.");
  if (set.lanes.size() > 1) set.begin = event(*set.lanes.front().gpu);
  launchSets_.insert_or_assign(id, std::move(set));
}

void Group::launch(std::uint32_t id, std::function<void(const char *)> done) {
  const auto found = launchSets_.find(id);
  if (found == launchSets_.end()) {
    done("The program is released.");
    return;
  }
  lastLaunchProgress_ = std::chrono::steady_clock::now();
  try {
    startGraphs(found->second, done);
  } catch (const NativeError &error) {
    RunRequest failed;
    failed.steps.push_back({found->second.graphs, 1});
    abandon(failed);
    done(error.what());
  }
}

void Group::startGraphs(LaunchSet &set, std::function<void(const char *)> done) {
  const auto &main = *set.lanes.front().gpu;
  main.use();
  if (set.begin) {
    main.check(driver_.eventRecord(set.begin->get(), main.stream.get()), "cuEventRecord");
    for (const auto &lane : set.lanes) {
      if (lane.gpu != &main) main.check(driver_.streamWaitEvent(lane.gpu->stream.get(), set.begin->get(), 0), "cuStreamWaitEvent");
    }
  }
  for (const auto id : set.graphs) {
    const auto &graph = graphOf(id);
    const auto &gpu = gpus_[graph.gpu];
    gpu.use();
    gpu.check(driver_.graphLaunch(graph.exec.get(), gpu.stream.get()), "cuGraphLaunch");
  }
  for (const auto &lane : set.lanes) {
    if (lane.gpu == &main) continue;
    lane.gpu->use();
    lane.gpu->check(driver_.eventRecord(lane.joined.get(), lane.gpu->stream.get()), "cuEventRecord");
    main.check(driver_.streamWaitEvent(main.stream.get(), lane.joined.get(), 0), "cuStreamWaitEvent");
  }
  main.use();
  if (set.spare.empty()) {
    set.spare.emplace_back(main.context, "cuEventCreate",
                           [&](cuda::Event *created) { return driver_.eventCreate(created, cuda::eventDisableTiming); });
  }
  auto end = std::move(set.spare.back());
  set.spare.pop_back();
  main.check(driver_.eventRecord(end.get(), main.stream.get()), "cuEventRecord");
  set.inFlight.push_back({std::move(end), std::move(done)});
}

bool Group::pollLaunches() {
  const auto now = std::chrono::steady_clock::now();
  bool waiting = false;
  // A launch that is complete may be followed by one of the same set: `done` comes last, when nothing of the set is held.
  std::vector<std::pair<std::function<void(const char *)>, std::string>> complete;
  for (auto &[id, set] : launchSets_) {
    while (!set.inFlight.empty()) {
      auto &launch = set.inFlight.front();
      const auto &gpu = *set.lanes.front().gpu;
      gpu.use();
      const auto state = driver_.eventQuery(launch.end.get());
      if (state == cuda::errorNotReady) {
        waiting = true;
        break;
      }
      std::string error;
      try {
        gpu.check(state, "cuEventQuery");
        if (__atomic_load_n(static_cast<std::uint32_t *>(stopWord_.get()), __ATOMIC_RELAXED) != 0) {
          error = "A GPU waited in vain for another one: the driver does not run them side by side here.";
        }
      } catch (const NativeError &failure) {
        error = failure.what();
      }
      set.spare.push_back(std::move(launch.end));
      complete.emplace_back(std::move(launch.done), std::move(error));
      set.inFlight.pop_front();
    }
  }
  if (!complete.empty()) lastLaunchProgress_ = now;
  for (const auto &[done, error] : complete) done(error.empty() ? nullptr : error.c_str());
  const auto idle = now - lastLaunchProgress_;
  if (!waiting) return idle < lingerTime;
  if (complete.empty()) {
    if (idle > spinTime) std::this_thread::sleep_for(pauseTime);
    else std::this_thread::yield();
  }
  return true;
}

} // namespace tandem
