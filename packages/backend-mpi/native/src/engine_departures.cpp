// Handling of ranks that leave while others wait for them, and reports of long waits.
#include <unistd.h>

#include <algorithm>

#include "engine.h"

namespace tandem {

namespace {

/// How long to wait for results that a departing rank may already have sent.
constexpr auto leaveTime = std::chrono::seconds(2);

} // namespace

void Engine::setNames(std::vector<std::string> names) {
  post([this, names = std::move(names)] { names_ = names; });
}

std::string Engine::nameOf(int rank) const {
  const auto index = static_cast<std::size_t>(rank);
  return index < names_.size() ? names_[index] : "rank " + std::to_string(rank);
}

void Engine::rankLeft(int rank, std::uint64_t group, const Failure &reason) {
  post([this, rank, group, reason] {
    if (group == everyGroup) gone_.insert(rank);
    if (failed_.load()) return;
    const auto [place, isFirst] = departures_.try_emplace(group);
    auto &departure = place->second;
    departure.ranks.insert(rank);
    // A rank that has given a reason leaves once more when it destroys the group.
    const bool hasReason = !reason.message.empty();
    if (!isFirst && (!hasReason || !departure.reason.message.empty())) return;
    departure.who = nameOf(rank);
    departure.reason = reason;
    departure.time = Clock::now();
    if (hasReason) untold_.insert(group);
  });
}

const Engine::Departure *Engine::departureFrom(std::uint64_t group) const {
  auto found = departures_.find(group);
  if (found == departures_.end()) found = departures_.find(everyGroup);
  return found == departures_.end() ? nullptr : &found->second;
}

/// The rank that has left and with which the delivery exchanges a message, if there is one. Any other rank may
/// leave when its own part is done.
std::optional<int> Engine::waitsInVain(const Delivery &delivery, const Departure &departure) const {
  for (const int peer : delivery.waitsFor()) {
    if (departure.ranks.count(peer) > 0 || gone_.count(peer) > 0) return peer;
  }
  return std::nullopt;
}

void Engine::left(std::uint64_t group, const Failure &reason) {
  post([this, group, reason] {
    if (failed_.load()) return;
    if (runs(group)) fail({"device-lost", reason.message});
    else settleGroup(group, reason);
  });
}

bool Engine::isInUse(std::uint64_t group) const {
  const auto delivery = deliveries_.lower_bound({group, 0});
  return runs(group) || (delivery != deliveries_.end() && delivery->first.first == group);
}

/// Fails the calls that wait for a rank that has left. It first leaves time for two things: a result that the
/// other ranks already have, and the error of a call that differs, which all ranks should report.
void Engine::checkDepartures(Clock::time_point now) {
  std::set<std::uint64_t> waiting;
  /// Groups with a delivery that never ends, and the rank that has left in the middle of it.
  std::map<std::uint64_t, int> inVain;
  {
    std::lock_guard lock(pendingMutex_);
    const auto collect = [&](const auto &pending) {
      for (const auto &[key, settle] : pending) waiting.insert(key.group);
    };
    collect(pendingGathers_);
    collect(pendingOpenings_);
    collect(pendingRuns_);
    for (const auto &[tag, queue] : deliveries_) {
      const auto group = tag.first;
      const auto *departure = departureFrom(group);
      if (departure == nullptr || pendingDeliveries_.count(queue.front().key) == 0) continue;
      const auto peer = waitsInVain(*queue.front().delivery, *departure);
      if (peer) inVain.emplace(group, *peer);
      if (peer || !departure->reason.message.empty()) waiting.insert(group);
    }
  }
  auto concerned = waiting;
  concerned.insert(untold_.begin(), untold_.end());
  for (const auto group : concerned) {
    const auto *found = departureFrom(group);
    if (found == nullptr) continue;
    const auto &departure = *found;
    const auto vain = inVain.find(group);
    const auto who = vain == inVain.end() ? departure.who : nameOf(vain->second);
    const bool waits = waiting.count(group) > 0;
    if (waits && now - departure.time < leaveTime) continue;
    const auto failure = departure.reason.message.empty()
                             ? Failure{"device-lost", who + " makes no more calls, but this rank waits for one: every rank must "
                                                                      "make the same calls in the same order."}
                         : departure.reason.code == "device-lost"
                             ? Failure{"device-lost", departure.who + " failed: " + departure.reason.message}
                             : departure.reason;
    if (runs(group)) {
      // Messages in flight can be neither completed nor cancelled.
      fail(failure);
      lost_(everyGroup, failure);
      if (finalizing_) endsInTheMiddle(failure);
      return;
    }
    if (waits) settleGroup(group, failure);
    // Ranks to which a delivery would have been passed on learn of it too.
    if (untold_.erase(group) > 0 || vain != inVain.end()) lost_(group, failure);
  }
}

/// Finalizes MPI if possible. While something is pending, other ranks may still take part in it. Once all of
/// them have gone, it never completes, and neither does anything that would need JavaScript, which has ended.
/// Without messages in flight, MPI can be finalized nevertheless.
void Engine::tryToFinalize(Clock::time_point lastProgress) {
  if (failed_.load() || !mpi_ || finalized_.load()) return;
  if (busy()) {
    const bool alone = static_cast<int>(gone_.size()) == size_ - 1;
    if (!alone || Clock::now() - lastProgress < leaveTime) return;
    if (mpi_->pending() > 0) {
      const Failure failure{"device-lost", "No other rank is left to exchange messages with."};
      fail(failure);
      endsInTheMiddle(failure);
      return;
    }
  }
  mpi_->finalize();
  {
    std::lock_guard lock(mutex_);
    finalized_ = true;
    ended_.notify_all();
  }
  // Later calls must fail, because MPI has ended.
  fail({"device-lost", "This process has left the job: it had nothing left to do."});
}

bool Engine::finalize() {
  if (finalized_.load()) return true;
  post([this] { finalizing_ = true; });
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::milliseconds(100), [this] { return finalized_.load(); })) {
    if (failed_.load()) return finalized_.load();
  }
  return true;
}

/// Launchers report only that MPI_Finalize was not called.
void Engine::endsInTheMiddle(const Failure &failure) {
  const auto text = "tandem: " + nameOf(rank_) + " ended before its work was finished. " + failure.message + "\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

void Engine::settleGroup(std::uint64_t group, const Failure &failure) {
  std::vector<GatherSettle> gathers;
  std::vector<Settle> others;
  {
    std::lock_guard lock(pendingMutex_);
    const auto forget = [this](Key key) { gathers_->forget(key); };
    const auto collect = [&](auto &pending, auto &settles, const auto &forget) {
      for (auto place = pending.begin(); place != pending.end();) {
        if (place->first.group != group) {
          ++place;
          continue;
        }
        forget(place->first);
        settles.push_back(std::move(place->second));
        place = pending.erase(place);
      }
    };
    collect(pendingGathers_, gathers, forget);
    collect(pendingOpenings_, others, forget);
    collect(pendingDeliveries_, others, [](Key) {});
  }
  for (auto &settle : gathers) settle(nullptr, &failure);
  for (auto &settle : others) settle(&failure);
}

void Engine::sayWhatIsMissing() {
  std::vector<int> ranks = gathers_->missing();
  const auto add = [&](const std::vector<int> &more) { ranks.insert(ranks.end(), more.begin(), more.end()); };
  for (const auto &[tag, queue] : deliveries_) add(queue.front().delivery->waitsFor());
  for (const auto &[group, runs] : runs_) add(runs.front()->schedule->waitsFor());
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (ranks.empty()) return;
  std::string text = "tandem: rank " + std::to_string(rank_) + " has waited 5 s for ";
  for (std::size_t index = 0; index < ranks.size(); ++index) {
    if (index > 0) text += index + 1 == ranks.size() ? " and " : ", ";
    text += nameOf(ranks[index]);
  }
  text += " (or for a rank that they wait for).\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

} // namespace tandem
