// Ending runs on all ranks after the same repetition: rank 0 asks all ranks how many repetitions they have
// begun, and no rank begins more until rank 0 has sent the greatest number to all.
#include <algorithm>

#include "engine.h"

namespace tandem {

void Engine::abortRun(Key key) {
  post([this, key] {
    if (!failed_.load()) send(0, ControlKind::abortRequest, key, {});
  });
}

std::optional<std::int64_t> Engine::ended(Key key) const {
  for (const auto &[other, times] : endedRuns_) {
    if (other == key) return times;
  }
  return std::nullopt;
}

void Engine::requestAbort(Key run) {
  auto &abort = aborts_[run];
  if (abort.asked) return;
  abort.asked = true;
  for (int peer = size_; peer-- > 0;) send(peer, ControlKind::abortFreeze, run, {});
}

void Engine::freeze(Key key) {
  std::int64_t started = 0;
  if (auto *run = running(key)) started = run->schedule->freeze();
  else if (const auto times = ended(key)) started = *times;
  else frozen_.insert(key);
  RecordWriter writer;
  writer.number(started);
  send(0, ControlKind::abortReport, key, writer.take());
}

void Engine::report(Key run, std::int64_t started) {
  auto &abort = aborts_[run];
  abort.started = std::max(abort.started, started);
  if (++abort.reports < size_) return;
  RecordWriter writer;
  writer.number(abort.started);
  const auto payload = writer.take();
  aborts_.erase(run);
  for (int peer = size_; peer-- > 0;) send(peer, ControlKind::abortStop, run, payload);
}

void Engine::stopAt(Key key, std::int64_t times) {
  frozen_.erase(key);
  if (auto *run = running(key)) {
    run->times = std::min(run->times, times);
    run->schedule->limit(times);
  } else if (!ended(key)) {
    limits_[key] = times;
  }
}

} // namespace tandem
