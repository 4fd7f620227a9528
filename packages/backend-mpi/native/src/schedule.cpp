#include "schedule.h"

#include <algorithm>

namespace tandem {

namespace {

/// A sender is at most this many repetitions ahead of its receiver: without a limit, small messages, which
/// MPI accepts immediately, would accumulate at the receiver.
constexpr std::int64_t maximumLead = 2;
/// linked-runs.ts (`partsOf`) has the same number.
constexpr std::int64_t firstBatch = 64;

} // namespace

Schedule::Schedule(mpi::Channel channel, const std::vector<NodeSpec> &specs) : nodes_(specs.size()) {
  for (std::uint32_t index = 0; index < specs.size(); ++index) {
    const auto &spec = specs[index];
    auto &node = nodes_[index];
    node.kind = spec.kind;
    node.peer = spec.peer;
    node.after = spec.after;
    node.afterPrevious = spec.afterPrevious;
    for (const auto *list : {&spec.after, &spec.afterPrevious}) {
      for (const auto from : *list) nodes_.at(from).next.push_back(index);
    }
    if (spec.kind == NodeSpec::Kind::segment) continue;
    const auto direction = spec.kind == NodeSpec::Kind::send ? Transfer::Direction::send : Transfer::Direction::receive;
    node.transfer = std::make_unique<Transfer>(channel, direction, spec.region, spec.peer, spec.tag);
    (spec.kind == NodeSpec::Kind::send ? sendsTo_ : receivesFrom_)[spec.peer].push_back(index);
    peers_[spec.peer];
  }
}

void Schedule::start(std::int64_t times, Host host, bool frozen) {
  host_ = std::move(host);
  times_ = times;
  started_ = 0;
  frozen_ = frozen;
  active_ = true;
  unfinished_ = nodes_.size();
  for (auto &node : nodes_) node.started = node.done = node.previous = 0;
  for (auto &[peer, state] : peers_) state = {};
  if (unfinished_ == 0 || times == 0) {
    active_ = false;
    host_.finished();
    return;
  }
  for (auto &[peer, receives] : receivesFrom_) peers_.at(peer).incomplete = receives.size();
  for (auto index = static_cast<std::uint32_t>(nodes_.size()); index-- > 1;) work_.push_back(index);
  advance(0);
}

std::int64_t Schedule::progress(const Node &from, const Node &to) const {
  const bool issueIsEnough = from.kind == NodeSpec::Kind::segment && to.kind == NodeSpec::Kind::segment;
  return issueIsEnough ? from.started : from.done;
}

bool Schedule::ready(const Node &node) const {
  const auto repetition = node.started;
  if (repetition >= times_ || (frozen_ && repetition >= started_)) return false;
  // A message waits for itself in the previous repetition; two repetitions of a segment may be in flight.
  if (node.kind == NodeSpec::Kind::segment ? node.done < node.previous : node.started > node.done) return false;
  if (node.kind == NodeSpec::Kind::send && peers_.at(node.peer).credits + maximumLead <= repetition) return false;
  for (const auto from : node.after) {
    if (progress(nodes_[from], node) <= repetition) return false;
  }
  for (const auto from : node.afterPrevious) {
    if (progress(nodes_[from], node) < repetition) return false;
  }
  return true;
}

/// Starts `first` and all nodes that its progress makes ready, as far as possible.
void Schedule::advance(std::uint32_t first) {
  work_.push_back(first);
  if (working_) return;
  working_ = true;
  while (!work_.empty() && active_) {
    const auto index = work_.back();
    work_.pop_back();
    while (active_ && ready(nodes_[index])) begin(index);
  }
  work_.clear();
  working_ = false;
}

void Schedule::begin(std::uint32_t index) {
  auto &node = nodes_[index];
  const auto repetition = node.started;
  const auto count = batch(node);
  node.previous = repetition;
  node.started += count;
  started_ = std::max(started_, node.started);
  if (node.kind == NodeSpec::Kind::segment) {
    host_.issue(index, repetition, count);
    for (const auto next : node.next) work_.push_back(next);
    return;
  }
  node.transfer->start([this, index] { nodeDone(index); });
}

/// Without messages, a repetition waits only for the previous one, so many are issued at once. Each batch has
/// as many repetitions as all batches before it, so that an abort takes at most about as long as the run has
/// lasted.
std::int64_t Schedule::batch(const Node &node) const {
  if (nodes_.size() > 1 || node.kind != NodeSpec::Kind::segment) return 1;
  return std::min(times_ - node.started, std::max(firstBatch, node.started));
}

void Schedule::segmentCompleted(std::uint32_t index, std::int64_t count) {
  for (; count > 1; --count) ++nodes_[index].done;
  nodeDone(index);
}

std::vector<int> Schedule::waitsFor() const {
  std::vector<int> peers;
  for (const auto &node : nodes_) {
    if (node.transfer && node.transfer->active()) peers.push_back(node.peer);
  }
  return peers;
}

void Schedule::nodeDone(std::uint32_t index) {
  auto &node = nodes_[index];
  ++node.done;
  if (node.kind == NodeSpec::Kind::receive) giveCredit(node);
  if (node.done == times_ && --unfinished_ == 0) {
    active_ = false;
    host_.finished();
    return;
  }
  for (const auto next : node.next) work_.push_back(next);
  advance(index);
}

void Schedule::giveCredit(Node &node) {
  auto &state = peers_.at(node.peer);
  if (node.done != state.complete + 1 || --state.incomplete > 0) return;
  const auto &receives = receivesFrom_.at(node.peer);
  while (state.incomplete == 0 && state.complete < times_) {
    // The last repetitions have no successor that waits for a credit.
    if (state.complete + maximumLead < times_) host_.credit(node.peer, state.complete);
    ++state.complete;
    state.incomplete = static_cast<std::size_t>(std::count_if(
        receives.begin(), receives.end(), [&](std::uint32_t index) { return nodes_[index].done <= state.complete; }));
  }
}

void Schedule::credited(int peer, std::int64_t count) {
  const auto found = peers_.find(peer);
  if (found == peers_.end()) return;
  found->second.credits = std::max(found->second.credits, count);
  const auto sends = sendsTo_.find(peer);
  if (sends == sendsTo_.end()) return;
  for (const auto index : sends->second) advance(index);
}

std::int64_t Schedule::freeze() {
  frozen_ = true;
  return started_;
}

void Schedule::limit(std::int64_t times) {
  frozen_ = false;
  if (!active_ || times >= times_) {
    for (std::uint32_t index = 0; active_ && index < nodes_.size(); ++index) advance(index);
    return;
  }
  times_ = times;
  unfinished_ = 0;
  for (const auto &node : nodes_) {
    if (node.done < times_) ++unfinished_;
  }
  if (unfinished_ == 0) {
    active_ = false;
    host_.finished();
    return;
  }
  for (std::uint32_t index = 0; active_ && index < nodes_.size(); ++index) advance(index);
}

} // namespace tandem
