#include "command_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tandem {

namespace {

constexpr std::size_t largestSpare = std::size_t{1} << 20;
constexpr std::size_t mostSpareByteLength = std::size_t{64} << 20;
/// Kernels that have been told to leave do so sooner.
constexpr auto leaveTime = std::chrono::seconds(2);
/// Marks that nobody waits for are queried this often: a query takes a third of the time of a launch.
constexpr auto queryPause = std::chrono::microseconds(20);
/// Seconds beyond which no clock is set.
constexpr double longestWait = 1e9;

} // namespace

CommandQueue::CommandQueue(const cuda::Gpu &gpu, Watchdog &watchdog, Options options)
    : gpu_(gpu), driver_(gpu.context.driver()), options_(std::move(options)),
      stopWord_(gpu.context, driver_.memHostAlloc, sizeof(cuda::HostLeaveWord), cuda::hostAllocPortable | cuda::hostAllocMapped),
      leaveWord_(gpu, *static_cast<cuda::HostLeaveWord *>(stopWord_.get())), watched_(watchdog, stopWord_.get()) {
  int multiprocessors = 0, threads = 0;
  gpu.call(driver_.deviceGetAttribute, &multiprocessors, cuda::multiprocessorCount, gpu.context.device());
  gpu.call(driver_.deviceGetAttribute, &threads, cuda::maxThreadsPerMultiprocessor, gpu.context.device());
  residentThreads_ = static_cast<unsigned>(multiprocessors * threads);
}

CommandQueue::~CommandQueue() {
  const NativeError closed("group-lost", "The devices have been closed.");
  for (auto &mark : marks_)
    for (const auto &settled : mark.settled) settled(&closed);
  lost_ = true;
  for (auto &call : waiting_) attempt(call);
  for (const auto &settled : drained_) settled();
}


// Calls in their order.

/// True if the call need not be made again.
bool CommandQueue::attempt(const std::function<bool()> &call) {
  try {
    return call();
  } catch (...) {
    lose(currentError());
  }
  return true;
}

void CommandQueue::inOrder(std::function<bool()> call) {
  if (!waiting_.empty() || !attempt(call)) waiting_.push_back(std::move(call));
}

void CommandQueue::lose(const NativeError &error) {
  if (lost_) return;
  lost_ = true;
  lostAt_ = Clock::now();
  options_.messages.lost(error);
  // Work in flight may continue: its memory is kept until the marks are reached.
  for (auto &mark : marks_)
    for (const auto &settled : std::exchange(mark.settled, {})) settled(&error);
}

void CommandQueue::submit(std::uint64_t serial, std::vector<double> words, std::vector<std::uint8_t> data) {
  auto submit = std::make_shared<Submit>();
  submit->serial = serial;
  submit->words = std::move(words);
  submit->data = std::move(data);
  inOrder([this, submit] { return lost_ || execute(*submit); });
}

void CommandQueue::fence(Settled settled) {
  inOrder([this, settled = std::move(settled)] {
    // A mark that fails loses the queue, and this call is not in any mark then.
    attempt([this] {
      if (!lost_) mark();
      return true;
    });
    const NativeError error("group-lost", "The queue has been lost.");
    if (lost_) settled(&error);
    else if (completed_ == launched_) settled(nullptr);
    else {
      marks_.back().settled.push_back(settled);
      awaited_ = launched_;
    }
    return true;
  });
}

void CommandQueue::settle(Settled settled) {
  inOrder([this, settled = std::move(settled)] {
    const NativeError error("group-lost", "The queue has been lost.");
    settled(lost_ ? &error : nullptr);
    return true;
  });
}

/// How many marks the stream has reached, or none if it need not be known yet. The stream reaches them in order,
/// so that not all of them need to be queried.
std::size_t CommandQueue::marksReached() {
  if (marks_.empty()) return 0;
  const auto now = Clock::now();
  const bool awaited = completed_ < awaited_ || !waiting_.empty() || !drained_.empty();
  if (!awaited && now - queried_ < queryPause) return 0;
  queried_ = now;
  gpu_.use();
  std::size_t reached = 0, least = marks_.size(), step = 1;
  // The first `reached` marks have been reached, and the one at `least`, if there is one, has not.
  while (reached < least) {
    const auto at = std::min(reached + step, least) - 1;
    const auto state = driver_.eventQuery(marks_[at].event.get());
    if (state == cuda::errorNotReady) {
      least = at;
      step = std::max<std::size_t>(1, (least - reached) / 2);
    } else {
      gpu_.context.check(state, driver_.eventQuery);
      reached = at + 1;
      step *= 2;
    }
  }
  return reached;
}

bool CommandQueue::poll() {
  bool progress = false;
  // Checked before the marks: a kernel that had to leave has let the stream reach them.
  if (watched_.written() && !lost_) lose({"timeout", "A submit took longer than its limit."});
  try {
    for (auto reached = marksReached(); reached > 0; --reached) {
      auto mark = std::move(marks_.front());
      marks_.pop_front();
      progress = true;
      completed_ = mark.launched;
      spareEvents_.push_back(std::move(mark.event));
      for (auto &memory : mark.staging) spareStaging_.push_back(std::move(memory));
      for (const auto &settled : mark.settled) settled(nullptr);
    }
  } catch (...) {
    lose(currentError());
    marks_.clear();
  }
  if (progress) since_ = Clock::now();
  while (!waiting_.empty()) {
    // The call may append other calls but never prepend any, so the reference stays valid.
    if (!attempt(waiting_.front())) break;
    waiting_.pop_front();
    progress = true;
  }
  // Others wait for the end of this work, although nobody awaits it directly.
  if (marks_.empty() && inFlight() && !lost_) attempt([this] {
      mark();
      return true;
    });
  if (marks_.empty() && waiting_.empty())
    for (const auto &settled : std::exchange(drained_, {})) settled();
  return progress;
}

std::uint64_t CommandQueue::oldestOrder() const {
  if (marks_.empty() || (lost_ && Clock::now() - lostAt_ > leaveTime)) return nothing;
  return marks_.front().order;
}

void CommandQueue::keepTime(double secondsBefore) {
  if (options_.timeoutSeconds <= 0 || lost_) return;
  const auto now = Clock::now();
  const auto after = [](Clock::time_point from, double seconds) {
    return from + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  if (secondsBefore > 0) since_ = now;
  if (marks_.empty() || secondsBefore > longestWait) return watched_.neverDue();
  const auto due = after(since_, secondsBefore + options_.timeoutSeconds);
  if (due < now) {
    watched_.write();
    lose({"timeout", "A submit took longer than its limit."});
  } else watched_.due(due);
}

void CommandQueue::drain(std::function<void()> settled) {
  if (!lost_) inOrder([this] {
      mark();
      return true;
    });
  drained_.push_back(std::move(settled));
}

/// Records how far the stream is, unless everything is complete.
void CommandQueue::mark() {
  // The stream does not use the staging memory of gathered writes yet.
  const bool staged = gathered_.empty() && !usedStaging_.empty() && (usedStaging_.size() > 1 || staged_ == stagingByteLength);
  if (completed_ == launched_ && !staged) return;
  if (!marks_.empty() && marks_.back().launched == launched_ && !staged) return;
  gpu_.use();
  if (spareEvents_.empty()) spareEvents_.emplace_back(gpu_.context, driver_.eventCreate, cuda::eventDisableTiming);
  const auto order = unmarkedOrder_ == 0 ? options_.nextOrder() : std::exchange(unmarkedOrder_, 0);
  Mark made{std::move(spareEvents_.back()), launched_, order, {}, {}, {}};
  spareEvents_.pop_back();
  gpu_.record(made.event);
  if (staged) {
    const auto full = staged_ == stagingByteLength ? usedStaging_.size() : usedStaging_.size() - 1;
    for (std::size_t index = 0; index < full; ++index) made.staging.push_back(std::move(usedStaging_[index]));
    usedStaging_.erase(usedStaging_.begin(), usedStaging_.begin() + static_cast<std::ptrdiff_t>(full));
  }
  const bool begins = marks_.empty();
  if (begins) since_ = Clock::now();
  marks_.push_back(std::move(made));
  if (begins) options_.keepTime();
}

// Kernels and buffers.

void CommandQueue::loadKernel(std::uint64_t number, const QueueKernel &given) {
  auto image = given.image;
  // PTX is text and must end with a zero.
  image.push_back(0);
  Kernel kernel;
  kernel.module = {gpu_.context, driver_.moduleLoadDataEx, image.data(), 0, nullptr, nullptr};
  kernel.function = gpu_.kernel(kernel.module.get(), given.entry, static_cast<int>(given.dynamicSharedByteLength));
  std::copy_n(given.block.begin(), 3, kernel.block);
  kernel.dynamicSharedByteLength = given.dynamicSharedByteLength;
  kernel.parameters = given.parameters;
  kernel.bindings = given.bindings;
  kernels_.emplace(number, std::move(kernel));
}

/// Rounds `byteLength` up to the length of the block that it gets.
cuda::Allocation CommandQueue::allocate(std::size_t &byteLength) {
  std::size_t length = 256;
  while (length < byteLength && length < largestSpare) length *= 2;
  byteLength = std::max(length, byteLength);
  const auto spare = spare_.find(byteLength);
  if (spare != spare_.end() && !spare->second.empty()) {
    auto allocation = std::move(spare->second.back());
    spare->second.pop_back();
    spareByteLength_ -= byteLength;
    return allocation;
  }
  try {
    return cuda::Allocation(gpu_, byteLength);
  } catch (const NativeError &error) {
    if (error.result != cuda::errorOutOfMemory || spareByteLength_ == 0) throw;
    spare_.clear();
    spareByteLength_ = 0;
    return cuda::Allocation(gpu_, byteLength);
  }
}

void CommandQueue::createBuffer(std::uint64_t number, std::size_t byteLength) {
  if (lost_) return;
  Buffer buffer;
  buffer.byteLength = byteLength;
  buffer.fresh = true;
  try {
    buffer.memory.emplace(allocate(buffer.byteLength));
    buffer.address = buffer.memory->address();
    buffers_.emplace(number, std::move(buffer));
  } catch (const NativeError &error) {
    if (error.result != cuda::errorOutOfMemory) return lose(error);
    withoutMemory_.insert(number);
    options_.messages.outOfMemory(number, "A buffer needs " + std::to_string(byteLength) + " bytes, which CUDA device " +
                                              std::to_string(gpu_.context.ordinal()) + " does not have.");
  }
}

void CommandQueue::createHostBuffer(std::uint64_t number, std::size_t byteLength, std::shared_ptr<HostBuffer> host) {
  if (lost_) return;
  try {
    host->block = options_.takeHostBlock(byteLength);
  } catch (const NativeError &error) {
    if (error.code != "out-of-memory" && error.result != cuda::errorOutOfMemory) return lose(error);
    withoutMemory_.insert(number);
    options_.messages.outOfMemory(number, error.what());
    return;
  }
  Buffer buffer;
  buffer.kind = Buffer::Kind::host;
  buffer.byteLength = byteLength;
  buffer.address = reinterpret_cast<std::uint64_t>(host->block.get());
  buffer.host = std::move(host);
  buffers_.emplace(number, std::move(buffer));
}

void CommandQueue::adoptBuffer(std::uint64_t number, cuda::DevicePtr address, std::size_t byteLength) {
  if (lost_) return;
  Buffer buffer;
  buffer.kind = Buffer::Kind::adopted;
  buffer.address = address;
  buffer.byteLength = byteLength;
  buffers_.emplace(number, std::move(buffer));
}

cuda::DevicePtr CommandQueue::shareBuffer(std::uint64_t number) {
  if (lost_) throw NativeError("group-lost", "The queue has been lost.");
  const auto found = buffers_.find(number);
  if (found == buffers_.end()) throw NativeError("out-of-memory", "The buffer has no memory.");
  found->second.shared = true;
  gpu_.use();
  const auto address = addressOf(number, 0);
  // From here on, other GPUs may use it on streams that do not wait for this one.
  gpu_.synchronize();
  return address;
}

void CommandQueue::releaseShared(std::uint64_t number) {
  const auto found = buffers_.find(number);
  if (found == buffers_.end()) return;
  found->second.shared = false;
  if (!found->second.destroyed) return;
  giveBack(found->second);
  buffers_.erase(found);
}

void CommandQueue::destroyBuffer(std::uint64_t number) {
  inOrder([this, number] {
    withoutMemory_.erase(number);
    const auto found = buffers_.find(number);
    if (found == buffers_.end()) return true;
    found->second.destroyed = true;
    if (found->second.shared) return true;
    giveBack(found->second);
    buffers_.erase(found);
    return true;
  });
}

void CommandQueue::close() {
  closed_ = true;
  for (auto entry = buffers_.begin(); entry != buffers_.end();) {
    auto &[number, buffer] = *entry;
    buffer.destroyed = true;
    if (buffer.shared) ++entry;
    else {
      giveBack(buffer);
      entry = buffers_.erase(entry);
    }
  }
  kernels_.clear();
  spare_.clear();
  spareByteLength_ = 0;
}

/// Work in the stream may still use the memory. Device memory can be reused by later work in the stream;
/// page-locked memory is released when the earlier work is complete.
void CommandQueue::giveBack(Buffer &buffer) {
  if (buffer.host && lost_) held_.push_back(std::move(buffer.host));
  else if (buffer.host) {
    mark();
    if (completed_ != launched_) marks_.back().held.push_back(std::move(buffer.host));
  }
  if (!buffer.memory) return;
  if (buffer.byteLength > largestSpare || spareByteLength_ + buffer.byteLength > mostSpareByteLength) return;
  spareByteLength_ += buffer.byteLength;
  spare_[buffer.byteLength].push_back(std::move(*buffer.memory));
}

std::uint64_t CommandQueue::addressOf(std::uint64_t number, std::uint64_t offset, std::size_t writtenByteLength) {
  const auto found = buffers_.find(number);
  if (found == buffers_.end()) throw NativeError("driver", "A command names a buffer that does not exist.");
  auto &buffer = found->second;
  if (std::exchange(buffer.fresh, false) && writtenByteLength < buffer.byteLength) {
    gpu_.call(driver_.memsetD8Async, buffer.address, static_cast<unsigned char>(0), buffer.byteLength, gpu_.stream.get());
    launched_ += 1;
  }
  return buffer.address + offset;
}

} // namespace tandem
