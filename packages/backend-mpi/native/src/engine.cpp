#include "engine.h"

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace tandem {

namespace {

/// Tags below the first belong to messages of programs; MPI grants 32,767 everywhere.
constexpr int firstDeliveryTag = 16'384;
/// Of these, how many each group has for its programs (lower-plan.ts counts them too), and how many groups have some of their own.
constexpr int programTags = 512;
constexpr std::uint32_t tagSpaces = firstDeliveryTag / programTags;
std::uint32_t tagSpaceOf(std::uint32_t group) { return group % tagSpaces; }
constexpr int deliveryTags = 8'192;
constexpr int controlTag = 32'000;
/// Runs that have ended here and that an abort may still ask for: as many as calls that wait for nothing run ahead of another rank.
constexpr std::size_t rememberedRuns = 1024;
/// How long the thread polls without a pause after the last progress, how it pauses then, and how many polls follow a pause: one poll a
/// pause would halve TCP's bandwidth.
constexpr auto spinTime = std::chrono::microseconds(200);
constexpr auto pauseTime = std::chrono::microseconds(50);
constexpr int pollsInARow = 16;
/// A thread that waits for other ranks' calls alone, and has no message under way, pauses for a hundredth of the time that it has waited: what
/// arrives is seen that little later, and a rank that waits for long leaves the core to the others.
constexpr int waitedPerPause = 100;
constexpr auto longestPause = std::chrono::microseconds(1'000);
/// No wait longer than this is silent.
constexpr auto stallTime = std::chrono::seconds(5);

/// Waits until what reads this process's output has taken all of it, a second at most. MPICH's launcher ends at MPI_Abort without the rest: the
/// sentence that says why the job ends would be lost.
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

Engine::~Engine() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    wake_.notify_all();
    hasCommands_ = true;
  }
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  const bool ended = ended_.wait_for(lock, std::chrono::seconds(2), [this] { return threadEnded_; });
  lock.unlock();
  if (ended) thread_.join();
  // A call into MPI that hangs cannot be ended; the process is about to.
  else thread_.detach();
}

void Engine::start(std::function<void(const Failure *)> settle) {
  thread_ = std::thread([this, settle = std::move(settle)] {
    // Pauses of 50 µs take 50 µs, not 100.
    prctl(PR_SET_TIMERSLACK, 1'000UL);
    try {
      mpi_ = mpi::start(library_);
      rank_ = mpi_->rank();
      size_ = mpi_->size();
      gpuSupport_ = mpi_->gpuSupport();
      gathers_ = std::make_unique<Gathers>(
          rank_, size_, [this](int peer, ControlKind kind, std::uint64_t key, const Bytes &payload) { send(peer, kind, key, payload); });
    } catch (const NativeError &error) {
      const Failure failure{error.code, error.what()};
      fail(failure);
      settle(&failure);
    }
    if (mpi_) settle(nullptr);
    loop();
    std::lock_guard lock(mutex_);
    threadEnded_ = true;
    ended_.notify_all();
  });
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
  // A message that is under way may make progress with every poll.
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
      for (auto &command : commands) {
        try {
          command();
        } catch (const NativeError &error) {
          fail({error.code, error.what()});
        }
      }
      commands.clear();
      lastProgress = Clock::now();
      said = false;
    }
    if (finalizing_) {
      try {
        tryToFinalize(lastProgress);
      } catch (const NativeError &error) {
        fail({error.code, error.what()});
      }
    }
    if (!busy()) {
      // The next call often follows the last at once, and to wake a thread takes longer than a message.
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
    try {
      for (int poll = 0; poll < pollsInARow && !progressed && busy(); ++poll) progressed = step();
    } catch (const NativeError &error) {
      fail({error.code, error.what()});
    }
    const auto now = Clock::now();
    if (!progressed && !departures_.empty()) checkDepartures(now);
    if (!said && now - lastProgress > stallTime) {
      said = true;
      sayWhatIsMissing();
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
  bool progressed = !completed_.empty();
  if (const auto incoming = mpi_->probe(controlTag)) {
    auto message = std::make_unique<ControlMessage>();
    message->engine = this;
    message->peer = incoming->source;
    message->incoming = true;
    message->bytes.resize(incoming->byteLength);
    mpi_->receive(message->bytes.data(), message->bytes.size(), incoming->source, controlTag, *message);
    messages_.push_back(std::move(message));
    progressed = true;
  }
  while (!messages_.empty() && messages_.front()->done) messages_.pop_front();
  return progressed;
}

void Engine::ControlMessage::completed() {
  done = true;
  if (incoming) engine->received(peer, bytes);
}

void Engine::send(int peer, ControlKind kind, std::uint64_t key, const Bytes &payload) {
  RecordWriter writer;
  writer.number(static_cast<std::uint8_t>(kind)).number(key);
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
  mpi_->send(message->bytes.data(), message->bytes.size(), peer, controlTag, *message);
  messages_.push_back(std::move(message));
}

void Engine::received(int source, const Bytes &bytes) {
  RecordReader reader(bytes.data(), bytes.size());
  const auto kind = static_cast<ControlKind>(reader.number<std::uint8_t>());
  const auto key = reader.number<std::uint64_t>();
  switch (kind) {
  case ControlKind::gatherUp: gathers_->receivedUp(key, source, reader); return;
  case ControlKind::gatherDown: gathers_->receivedDown(key, reader); return;
  case ControlKind::credit: {
    const auto count = reader.number<std::int64_t>();
    // A credit for a run that an abort has cut short is late and counts for nothing.
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

/// Takes the waiting function out of `pending`; empty where a failure has settled it.
template <class Settle> Settle take(std::mutex &mutex, std::map<std::uint64_t, Settle> &pending, std::uint64_t key) {
  std::lock_guard lock(mutex);
  const auto found = pending.find(key);
  if (found == pending.end()) return {};
  auto settle = std::move(found->second);
  pending.erase(found);
  return settle;
}

/// False where a failure came before: then `settle` is still the caller's.
template <class Settle>
bool putOff(std::mutex &mutex, const std::atomic<bool> &failed, std::map<std::uint64_t, Settle> &pending, std::uint64_t key,
            Settle &settle) {
  std::lock_guard lock(mutex);
  if (failed.load()) return false;
  pending.emplace(key, std::move(settle));
  return true;
}

} // namespace

void Engine::gather(Key key, const std::string &text, double number, GatherSettle settle) {
  const auto packed = key.packed();
  if (!putOff(pendingMutex_, failed_, pendingGathers_, packed, settle)) {
    settle(nullptr, &failure_);
    return;
  }
  post([this, packed, text, number] {
    if (failed_.load()) return;
    gathers_->start(packed, text, number, [this, packed](const Sayings &result) {
      if (const auto waiting = take(pendingMutex_, pendingGathers_, packed)) waiting(&result, nullptr);
    });
  });
}

void Engine::deliver(Key key, int from, int to, MessageRegion bytes, DeliverSettle settle) {
  const auto packed = key.packed();
  if (!putOff(pendingMutex_, failed_, pendingDeliveries_, packed, settle)) {
    settle(&failure_);
    return;
  }
  post([this, key, packed, from, to, bytes] {
    if (failed_.load()) return;
    // Two deliveries of one tag are matched in the order of their calls: 8,192 in flight at once are far more than there are.
    const int tag = firstDeliveryTag + static_cast<int>((key.number + 977 * key.group) % deliveryTags);
    auto &delivery = deliveries_[packed];
    delivery = std::make_unique<Delivery>(*mpi_, from, to, tag, bytes);
    // Not at once: the delivery is on the stack.
    delivery->start([this, packed] {
      post([this, packed] {
        deliveries_.erase(packed);
        if (const auto waiting = take(pendingMutex_, pendingDeliveries_, packed)) waiting(nullptr);
      });
    });
  });
}

void Engine::run(Key key, std::vector<NodeSpec> &&nodes, std::int64_t times, Issue issue, SegmentFailed failed, RunSettle settle) {
  if (!putOff(pendingMutex_, failed_, pendingRuns_, key.packed(), settle)) {
    settle(nullptr, &failure_);
    return;
  }
  auto run = std::make_shared<std::unique_ptr<Run>>(std::make_unique<Run>());
  (*run)->key = key;
  (*run)->nodes = std::move(nodes);
  const auto space = tagSpaceOf(key.group);
  for (auto &node : (*run)->nodes) node.tag += static_cast<int>(space) * programTags;
  (*run)->times = times;
  (*run)->issue = std::move(issue);
  (*run)->failed = std::move(failed);
  post([this, run, space] {
    if (failed_.load()) return;
    auto &runs = runs_[space];
    runs.push_back(std::move(*run));
    if (runs.size() == 1) startRun(*runs.front());
  });
}

Engine::Run *Engine::running(std::uint64_t key) const {
  const auto place = runs_.find(tagSpaceOf(Key::groupOf(key)));
  if (place == runs_.end() || place->second.front()->key.packed() != key) return nullptr;
  return place->second.front().get();
}

void Engine::startRun(Run &run) {
  const auto key = run.key.packed();
  if (const auto limit = limits_.find(key); limit != limits_.end()) {
    run.times = std::min(run.times, limit->second);
    limits_.erase(limit);
  }
  run.begin = Clock::now();
  run.schedule = std::make_unique<Schedule>(*mpi_, run.nodes);
  Schedule::Host host;
  host.issue = run.issue;
  host.credit = [this, key](int peer, std::int64_t repetition) {
    RecordWriter writer;
    writer.number<std::int64_t>(repetition + 1);
    send(peer, ControlKind::credit, key, writer.take());
  };
  // Not at once: the schedule is on the stack.
  host.finished = [this, key] { post([this, key] { finishRun(key); }); };
  // Asked to report before this rank came here: it has begun nothing, and waits for the answer.
  run.schedule->start(run.times, std::move(host), frozen_.count(key) > 0);
}

void Engine::finishRun(std::uint64_t key) {
  if (failed_.load() || running(key) == nullptr) return;
  const auto place = runs_.find(tagSpaceOf(Key::groupOf(key)));
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

std::optional<std::int64_t> Engine::ended(std::uint64_t key) const {
  for (const auto &[other, times] : endedRuns_) {
    if (other == key) return times;
  }
  return std::nullopt;
}

void Engine::segmentCompleted(Key key, std::uint32_t node, std::int64_t count) {
  post([this, key, node, count] {
    if (failed_.load()) return;
    if (auto *run = running(key.packed())) run->schedule->segmentCompleted(node, count);
  });
}

void Engine::segmentFailed(Key key, std::string reason) {
  post([this, key, reason = std::move(reason)] {
    if (failed_.load()) return;
    if (auto *run = running(key.packed())) run->failed(reason);
  });
}

void Engine::endRun(Key key) {
  post([this, key] {
    if (!failed_.load()) finishRun(key.packed());
  });
}

void Engine::abortRun(Key key) {
  post([this, key] {
    if (!failed_.load()) send(0, ControlKind::abortRequest, key.packed(), {});
  });
}

void Engine::stayAwake(std::chrono::milliseconds time) {
  awakeUntil_ = Clock::now() + time;
  // Wakes it.
  post([] {});
}

void Engine::requestAbort(std::uint64_t run) {
  auto &abort = aborts_[run];
  if (abort.asked) return;
  abort.asked = true;
  for (int peer = size_; peer-- > 0;) send(peer, ControlKind::abortFreeze, run, {});
}

void Engine::freeze(std::uint64_t key) {
  std::int64_t started = 0;
  if (auto *run = running(key)) started = run->schedule->freeze();
  else if (const auto times = ended(key)) started = *times;
  else frozen_.insert(key);
  RecordWriter writer;
  writer.number(started);
  send(0, ControlKind::abortReport, key, writer.take());
}

void Engine::report(std::uint64_t run, std::int64_t started) {
  auto &abort = aborts_[run];
  abort.started = std::max(abort.started, started);
  if (++abort.reports < size_) return;
  RecordWriter writer;
  writer.number(abort.started);
  const auto payload = writer.take();
  aborts_.erase(run);
  for (int peer = size_; peer-- > 0;) send(peer, ControlKind::abortStop, run, payload);
}

void Engine::stopAt(std::uint64_t key, std::int64_t times) {
  frozen_.erase(key);
  if (auto *run = running(key)) {
    run->times = std::min(run->times, times);
    run->schedule->limit(times);
  } else if (!ended(key)) {
    limits_[key] = times;
  }
}

void Engine::fail(const Failure &failure) {
  std::map<std::uint64_t, GatherSettle> gathers;
  std::map<std::uint64_t, DeliverSettle> deliveries;
  std::map<std::uint64_t, RunSettle> runs;
  {
    std::lock_guard lock(pendingMutex_);
    if (failed_.load()) return;
    failure_ = failure;
    failed_ = true;
    gathers.swap(pendingGathers_);
    deliveries.swap(pendingDeliveries_);
    runs.swap(pendingRuns_);
  }
  for (auto &[key, settle] : gathers) settle(nullptr, &failure);
  for (auto &[key, settle] : deliveries) settle(&failure);
  for (auto &[key, settle] : runs) settle(nullptr, &failure);
}

bool Engine::finalize() {
  if (finalized_.load()) return true;
  post([this] { finalizing_ = true; });
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::milliseconds(100), [this] { return finalized_.load(); })) {
    if (failed_.load()) return false;
  }
  return true;
}

void Engine::abort(int exitCode) {
  // From the caller's thread: the progress thread may hang in MPI, and the process is to end whatever it does.
  if (!mpi_ || finalized_.load()) return;
  awaitReaders();
  mpi_->abort(exitCode);
}

} // namespace tandem
