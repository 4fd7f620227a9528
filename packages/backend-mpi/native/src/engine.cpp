#include "engine.h"

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <thread>

namespace tandem {

namespace {

/// MPI guarantees 32,767 tags. In each group's communicator, tags below the first delivery tag belong to
/// messages of programs (lower-plan.ts has the same number).
constexpr int firstDeliveryTag = 16'384;
constexpr std::uint64_t deliveryTags = 16'383;
/// The tag in the communicator of control messages.
constexpr int controlTag = 0;
/// Key numbers of the agreements about a group itself; others ascend from 0.
constexpr std::uint64_t openingNumber = ~std::uint64_t{0};
constexpr std::uint64_t closingNumber = openingNumber - 1;
/// How many runs that have ended here are remembered, for aborts that arrive late.
constexpr std::size_t rememberedRuns = 1024;
/// How long the thread polls without a pause after the last progress, how long it then pauses, and how many
/// polls follow a pause: one poll per pause would halve TCP's bandwidth.
constexpr auto spinTime = std::chrono::microseconds(200);
constexpr auto pauseTime = std::chrono::microseconds(50);
constexpr int pollsInARow = 16;
/// A thread that only waits for other ranks' calls, with no message in flight, pauses for a hundredth of the
/// time that it has waited: this delays arrivals only a little, and a rank that waits long leaves the core to
/// the others.
constexpr int waitedPerPause = 100;
constexpr auto longestPause = std::chrono::microseconds(1'000);
/// Longer waits are reported.
constexpr auto stallTime = std::chrono::seconds(5);

/// Waits, for at most a second, until this process's output has been read. MPICH's launcher ends at MPI_Abort
/// without reading the rest, so the message that explains why the job ends would be lost.
void awaitReaders() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    if (fstat(output, &status) != 0 || !S_ISFIFO(status.st_mode)) continue;
    int unread = 0;
    while (ioctl(output, FIONREAD, &unread) == 0 && unread > 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

} // namespace

void Engine::start(Settle settle) {
  std::lock_guard lock(mutex_);
  try {
    std::thread([self = shared_from_this(), settle = std::move(settle)] { self->main(settle); }).detach();
  } catch (const std::system_error &) {
    throw currentError();
  }
  threadEnded_ = false;
}

void Engine::main(const Settle &settle) {
  // With less timer slack, pauses of 50 µs take 50 µs, not 100.
  prctl(PR_SET_TIMERSLACK, 1'000UL);
  guarded([&] {
    Failure failure;
    try {
      mpi_ = mpi::start(library_);
      rank_ = mpi_->rank();
      size_ = mpi_->size();
      gpuSupport_ = mpi_->gpuSupport();
      gathers_ = std::make_unique<Gathers>(
          rank_, size_, [this](int peer, ControlKind kind, Key key, const Bytes &payload) { send(peer, kind, key, payload); });
      communicators_ = std::make_unique<GroupCommunicators>(*mpi_);
    } catch (...) {
      const auto error = currentError();
      failure = {error.code, error.what()};
      fail(failure);
    }
    settle(failure.code.empty() ? nullptr : &failure);
  });
  loop();
  std::lock_guard lock(mutex_);
  threadEnded_ = true;
  ended_.notify_all();
}

void Engine::close() {
  std::unique_lock lock(mutex_);
  stop_ = true;
  hasCommands_ = true;
  wake_.notify_all();
  ended_.wait_for(lock, std::chrono::seconds(2), [this] { return threadEnded_; });
}

template <class Act> void Engine::guarded(const Act &act) noexcept {
  try {
    act();
  } catch (...) {
    try {
      const auto error = currentError();
      fail({error.code, error.what()});
    } catch (...) {
      // There is no memory even for the message.
      fail({});
    }
  }
}

void Engine::post(std::function<void()> command) {
  std::lock_guard lock(mutex_);
  commands_.push_back(std::move(command));
  hasCommands_ = true;
  wake_.notify_one();
}

bool Engine::busy() const {
  if (failed_.load() || !mpi_ || finalized_.load()) return false;
  return mpi_->pending() > 0 || gathers_->pending() > 0 || !runs_.empty() || !untold_.empty();
}

std::chrono::nanoseconds Engine::pauseAfter(std::chrono::nanoseconds waited) const {
  // A message in flight may make progress with every poll.
  if (mpi_->pending() > 0 || !runs_.empty()) return pauseTime;
  return std::clamp<std::chrono::nanoseconds>(waited / waitedPerPause, pauseTime, longestPause);
}

void Engine::loop() {
  auto lastProgress = Clock::now();
  bool said = false;
  std::vector<std::function<void()>> commands;
  for (;;) {
    if (hasCommands_.load(std::memory_order_acquire)) {
      {
        std::lock_guard lock(mutex_);
        if (stop_) return;
        commands.swap(commands_);
        hasCommands_ = false;
      }
      for (auto &command : commands) guarded(command);
      commands.clear();
      lastProgress = Clock::now();
      said = false;
    }
    if (finalizing_) guarded([&] { tryToFinalize(lastProgress); });
    if (!busy()) {
      // The next call often follows the last immediately, and waking a thread takes longer than a message.
      const auto now = Clock::now();
      if (mpi_ && (now - lastProgress < spinTime || now < awakeUntil_.load())) {
        sched_yield();
        continue;
      }
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || !commands_.empty(); });
      continue;
    }
    bool progressed = false;
    guarded([&] {
      for (int poll = 0; poll < pollsInARow && !progressed && busy(); ++poll) progressed = step();
    });
    const auto now = Clock::now();
    if (!progressed && !departures_.empty()) guarded([&] { checkDepartures(now); });
    if (!said && now - lastProgress > stallTime) {
      said = true;
      guarded([this] { sayWhatIsMissing(); });
    }
    if (progressed) {
      lastProgress = now;
      said = false;
    } else if (now - lastProgress < spinTime) sched_yield();
    else {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, pauseAfter(now - lastProgress), [this] { return stop_ || !commands_.empty(); });
    }
  }
}

bool Engine::step() {
  completed_.clear();
  mpi_->poll(completed_);
  for (auto *completion : completed_) completion->completed();
  bool progressed = communicators_->poll() || !completed_.empty();
  if (const auto incoming = mpi_->probe(controlTag)) {
    auto message = std::make_unique<ControlMessage>();
    message->engine = this;
    message->peer = incoming->source;
    message->incoming = true;
    message->bytes.resize(incoming->byteLength);
    auto &received = *incoming_[incoming->source].emplace_back(std::move(message));
    mpi_->receive(mpi::controlCommunicator, received.bytes.data(), received.bytes.size(), incoming->source, controlTag, received);
    progressed = true;
  }
  while (!outgoing_.empty() && outgoing_.front()->done) outgoing_.pop_front();
  return progressed;
}

void Engine::ControlMessage::completed() {
  done = true;
  if (incoming) engine->handleIncoming(peer);
}

void Engine::handleIncoming(int source) {
  auto &messages = incoming_[source];
  while (!messages.empty() && messages.front()->done) {
    const auto message = std::move(messages.front());
    messages.pop_front();
    received(source, message->bytes);
  }
}

void Engine::send(int peer, ControlKind kind, Key key, const Bytes &payload) {
  RecordWriter writer;
  writer.number(static_cast<std::uint8_t>(kind)).number(key.group).number(key.number);
  auto bytes = writer.take();
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  if (bytes.size() > mpi::Mpi::maximumByteLength) throw NativeError("too-large", "A control message between ranks exceeds 1 GiB.");
  if (peer == rank_) {
    received(peer, bytes);
    return;
  }
  auto message = std::make_unique<ControlMessage>();
  message->engine = this;
  message->peer = peer;
  message->bytes = std::move(bytes);
  auto &sent = *outgoing_.emplace_back(std::move(message));
  mpi_->send(mpi::controlCommunicator, sent.bytes.data(), sent.bytes.size(), peer, controlTag, sent);
}

void Engine::received(int source, const Bytes &bytes) {
  RecordReader reader(bytes.data(), bytes.size());
  const auto kind = static_cast<ControlKind>(reader.number<std::uint8_t>());
  const auto group = reader.number<std::uint64_t>();
  const Key key{group, reader.number<std::uint64_t>()};
  switch (kind) {
  case ControlKind::gatherUp: gathers_->receivedUp(key, source, reader); return;
  case ControlKind::gatherDown: gathers_->receivedDown(key, reader); return;
  case ControlKind::credit: {
    const auto count = reader.number<std::int64_t>();
    // A late credit for a run that an abort has ended is ignored.
    if (auto *run = running(key)) run->schedule->credited(source, count);
    return;
  }
  case ControlKind::abortRequest: requestAbort(key); return;
  case ControlKind::abortFreeze: freeze(key); return;
  case ControlKind::abortReport: report(key, reader.number<std::int64_t>()); return;
  case ControlKind::abortStop: stopAt(key, reader.number<std::int64_t>()); return;
  }
}

namespace {

/// Removes the waiting function from `pending` and returns it; empty if a failure has already settled it.
template <class Settle> Settle take(std::mutex &mutex, std::map<Key, Settle> &pending, Key key) {
  std::lock_guard lock(mutex);
  const auto found = pending.find(key);
  if (found == pending.end()) return {};
  auto settle = std::move(found->second);
  pending.erase(found);
  return settle;
}

/// Moves `settle` to `pending`, or returns false and leaves it if the engine has already failed.
template <class Settle>
bool putOff(std::mutex &mutex, const std::atomic<bool> &failed, std::map<Key, Settle> &pending, Key key, Settle &settle) {
  std::lock_guard lock(mutex);
  if (failed.load()) return false;
  pending.emplace(key, std::move(settle));
  return true;
}

} // namespace

void Engine::openGroup(std::uint64_t group, Settle settle) {
  const Key key{group, openingNumber};
  if (!putOff(pendingMutex_, failed_, pendingOpenings_, key, settle)) {
    settle(&failure_);
    return;
  }
  post([this, key] {
    if (failed_.load()) return;
    // Opens in the order in which agreements complete on rank 0, which is the order on all ranks.
    gathers_->start(key, "opened", 0, [this, group = key.group](const Sayings &) {
      communicators_->open(group, [this, group](const NativeError *error) { opened(group, error); });
    });
  });
}

void Engine::opened(std::uint64_t group, const NativeError *error) {
  const auto waiting = take(pendingMutex_, pendingOpenings_, {group, openingNumber});
  if (!waiting) return;
  if (error == nullptr) {
    waiting(nullptr);
    return;
  }
  const Failure failure{error->code, error->what()};
  waiting(&failure);
}

void Engine::closeGroup(std::uint64_t group, bool clean) {
  post([this, group, clean] {
    if (failed_.load() || !mpi_) return;
    gathers_->start(
        {group, closingNumber}, clean && !isInUse(group) ? "closed" : "in use", 0,
        [this, group](const Sayings &said) {
          communicators_->close(group, said.size() == 1 && said.count("closed") > 0);
          departures_.erase(group);
        },
        false);
  });
}

mpi::Channel Engine::channelOf(std::uint64_t group) const {
  const auto channel = communicators_->of(group);
  if (!channel) throw NativeError("validation", "Group " + std::to_string(group) + " is not open.");
  return *channel;
}

void Engine::gather(Key key, const std::string &text, double number, bool takesTurn, GatherSettle settle) {
  if (!putOff(pendingMutex_, failed_, pendingGathers_, key, settle)) {
    settle(nullptr, &failure_);
    return;
  }
  post([this, key, text, number, takesTurn] {
    if (failed_.load()) return;
    gathers_->start(key, text, number, [this, key, takesTurn](const Sayings &result) {
      const auto tell = [this, key, result] {
        if (const auto waiting = take(pendingMutex_, pendingGathers_, key)) waiting(&result, nullptr);
      };
      if (!takesTurn || forgoneTurns_.erase(key) > 0) {
        tell();
        return;
      }
      if (!awaits(key)) return;
      turns_.push_back({key, tell});
      beginTurns();
    });
  });
}

void Engine::deliver(Key key, int from, int to, MessageRegion bytes, Settle settle) {
  if (!putOff(pendingMutex_, failed_, pendingDeliveries_, key, settle)) {
    settle(&failure_);
    return;
  }
  post([this, key, from, to, bytes] {
    if (failed_.load()) return;
    const DeliveryTag tag{key.group, firstDeliveryTag + static_cast<int>(key.number % deliveryTags)};
    auto delivery = std::make_unique<Delivery>(channelOf(key.group), from, to, tag.second, bytes);
    auto &queue = deliveries_[tag];
    queue.push_back({key, std::move(delivery)});
    if (queue.size() == 1) startDelivery(tag);
  });
}

void Engine::startDelivery(DeliveryTag tag) {
  // Posted: the delivery is still on the stack.
  deliveries_.at(tag).front().delivery->start([this, tag] {
    post([this, tag] {
      const auto place = deliveries_.find(tag);
      const auto key = place->second.front().key;
      place->second.pop_front();
      if (place->second.empty()) deliveries_.erase(place);
      else startDelivery(tag);
      if (const auto waiting = take(pendingMutex_, pendingDeliveries_, key)) waiting(nullptr);
    });
  });
}

void Engine::run(Key key, std::vector<NodeSpec> &&nodes, std::int64_t times, Issue issue, SegmentFailed failed, RunSettle settle) {
  if (!putOff(pendingMutex_, failed_, pendingRuns_, key, settle)) {
    settle(nullptr, &failure_);
    return;
  }
  auto run = std::make_shared<std::unique_ptr<Run>>(std::make_unique<Run>());
  (*run)->key = key;
  (*run)->nodes = std::move(nodes);
  (*run)->times = times;
  (*run)->issue = std::move(issue);
  (*run)->failed = std::move(failed);
  post([this, run, key] {
    if (failed_.load()) return;
    auto &runs = runs_[key.group];
    runs.push_back(std::move(*run));
    if (runs.size() == 1) startRun(*runs.front());
  });
}

Engine::Run *Engine::running(Key key) const {
  const auto place = runs_.find(key.group);
  if (place == runs_.end() || place->second.front()->key != key) return nullptr;
  return place->second.front().get();
}

void Engine::startRun(Run &run) {
  const auto key = run.key;
  if (const auto limit = limits_.find(key); limit != limits_.end()) {
    run.times = std::min(run.times, limit->second);
    limits_.erase(limit);
  }
  run.begin = Clock::now();
  run.schedule = std::make_unique<Schedule>(channelOf(key.group), run.nodes);
  Schedule::Host host;
  host.issue = run.issue;
  host.credit = [this, key](int peer, std::int64_t repetition) {
    RecordWriter writer;
    writer.number<std::int64_t>(repetition + 1);
    send(peer, ControlKind::credit, key, writer.take());
  };
  // Posted rather than called, because the schedule is still on the stack.
  host.finished = [this, key] { post([this, key] { finishRun(key); }); };
  // Frozen if an abort asked for a report before this rank reached the run: then it waits for the answer.
  run.schedule->start(run.times, std::move(host), frozen_.count(key) > 0);
}

void Engine::finishRun(Key key) {
  if (failed_.load() || running(key) == nullptr) return;
  const auto place = runs_.find(key.group);
  auto &runs = place->second;
  const auto run = std::move(runs.front());
  runs.pop_front();
  endedRuns_.emplace_back(key, run->nodes.empty() ? 0 : run->times);
  if (endedRuns_.size() > rememberedRuns) endedRuns_.pop_front();
  const RunResult result{std::chrono::duration<double>(Clock::now() - run->begin).count(), run->times};
  if (const auto waiting = take(pendingMutex_, pendingRuns_, key)) waiting(&result, nullptr);
  if (runs.empty()) runs_.erase(place);
  else startRun(*runs.front());
}

void Engine::segmentCompleted(Key key, std::uint32_t node, std::int64_t count) {
  post([this, key, node, count] {
    if (failed_.load()) return;
    if (auto *run = running(key)) run->schedule->segmentCompleted(node, count);
  });
}

void Engine::segmentFailed(Key key, std::string reason) {
  post([this, key, reason = std::move(reason)] {
    if (failed_.load()) return;
    if (auto *run = running(key)) run->failed(reason);
  });
}

void Engine::endRun(Key key) {
  post([this, key] {
    if (!failed_.load()) finishRun(key);
  });
}

void Engine::stayAwake(std::chrono::milliseconds time) {
  awakeUntil_ = Clock::now() + time;
  // Wakes the thread.
  post([] {});
}

void Engine::fail(const Failure &failure) noexcept {
  std::map<Key, GatherSettle> gathers;
  std::map<Key, Settle> openings;
  std::map<Key, Settle> deliveries;
  std::map<Key, RunSettle> runs;
  {
    std::lock_guard lock(pendingMutex_);
    if (failed_.load()) return;
    try {
      failure_ = failure.code.empty() ? Failure{"out-of-memory", "The host has no memory left."} : failure;
    } catch (const std::bad_alloc &) {
      failure_.code = "driver";
    }
    failed_ = true;
    gathers.swap(pendingGathers_);
    openings.swap(pendingOpenings_);
    deliveries.swap(pendingDeliveries_);
    runs.swap(pendingRuns_);
  }
  const auto tell = [](const auto &settle, const auto &...arguments) {
    try {
      settle(arguments...);
    } catch (...) {
      // If there is no memory to report the failure, the next call reports it.
    }
  };
  for (auto &[key, settle] : gathers) tell(settle, nullptr, &failure_);
  for (auto &[key, settle] : openings) tell(settle, &failure_);
  for (auto &[key, settle] : deliveries) tell(settle, &failure_);
  for (auto &[key, settle] : runs) tell(settle, nullptr, &failure_);
}

void Engine::abort(int exitCode) {
  // On the caller's thread: the progress thread may hang in MPI, but the process must end.
  if (!mpi_ || finalized_.load()) return;
  awaitReaders();
  mpi_->abort(exitCode);
}

} // namespace tandem
