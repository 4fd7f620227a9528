// Launches of graphs that native code of another package requests, repetition by repetition.
#include <thread>

#include "group.h"

namespace tandem {

namespace {

/// How long the group's thread polls without a pause after the last progress, and goes on polling when
/// nothing is in flight: the next launch of a repeated program follows soon, and waking a thread takes longer
/// than a short kernel.
constexpr auto spinTime = std::chrono::milliseconds(5);
constexpr auto lingerTime = std::chrono::microseconds(200);
constexpr auto pauseTime = std::chrono::microseconds(50);

} // namespace

void Group::createLaunchSet(std::uint32_t id, const std::vector<std::uint32_t> &graphs) {
  if (graphs.empty()) throw NativeError("driver", "A launch needs a graph.");
  launchSets_.insert_or_assign(id, LaunchSet{graphs, gpusOf(graphs), {}, {}});
}

void Group::launch(std::uint32_t id, LaunchDone done) {
  const auto found = launchSets_.find(id);
  if (found == launchSets_.end()) throw NativeError("driver", "The program has been released.");
  lastLaunchProgress_ = std::chrono::steady_clock::now();
  try {
    startLaunch(found->second, std::move(done));
  } catch (...) {
    RunRequest failed;
    failed.steps.push_back({found->second.graphs, 1});
    abandon(failed);
    throw;
  }
}

void Group::startLaunch(LaunchSet &set, LaunchDone done) {
  const auto &main = *set.gpus.front();
  // Callers expect all launches to run in the order of the requests, as in one queue, but each GPU has its
  // own stream.
  if (lastLaunched_ != nullptr && lastLaunched_ != &main) {
    const auto held = holdOrder();
    follow(main, *lastLaunched_);
  }
  lastLaunched_ = &main;
  settleQueues();
  const auto held = holdOrder();
  followQueues(main);
  main.use();
  // No GPU joins the first one, so its event is free to mark the start.
  if (set.gpus.size() > 1) main.record(main.joined);
  fork(set.gpus, main.joined);
  launchGraphs(set.graphs);
  join(set.gpus);
  if (set.spare.empty()) set.spare.emplace_back(main.context, driver_.eventCreate, cuda::eventDisableTiming);
  auto end = std::move(set.spare.back());
  set.spare.pop_back();
  main.record(end);
  set.inFlight.push_back({std::move(end), std::move(done), ++order_, {}});
}

bool Group::pollLaunches() {
  const auto now = std::chrono::steady_clock::now();
  bool waiting = false;
  // `done` may launch the same set again, so it is called last, when nothing of the set is referenced.
  std::list<LaunchSet::Launch> complete;
  for (auto &[id, set] : launchSets_) {
    while (!set.inFlight.empty()) {
      auto &launch = set.inFlight.front();
      const auto &gpu = *set.gpus.front();
      try {
        gpu.use();
        const auto state = driver_.eventQuery(launch.end.get());
        if (state == cuda::errorNotReady) {
          waiting = true;
          break;
        }
        gpu.context.check(state, driver_.eventQuery);
        if (stopped() != Stop::none) {
          throw NativeError("driver", "A GPU timed out while it waited for another one: the driver does not run them at the same time here.");
        }
        set.spare.push_back(std::move(launch.end));
      } catch (...) {
        launch.error = currentError();
      }
      complete.splice(complete.end(), set.inFlight, set.inFlight.begin());
    }
  }
  if (!complete.empty()) lastLaunchProgress_ = now;
  for (const auto &launch : complete) launch.done(launch.error ? &*launch.error : nullptr);
  const auto idle = now - lastLaunchProgress_;
  if (!waiting) return idle < lingerTime;
  if (complete.empty()) {
    if (idle > spinTime) std::this_thread::sleep_for(pauseTime);
    else std::this_thread::yield();
  }
  return true;
}

} // namespace tandem
