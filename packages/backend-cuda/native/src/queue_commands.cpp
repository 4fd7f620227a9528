// The commands that a command queue puts into the GPU's stream.
#include "command_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tandem {

namespace {

/// Completion is looked for at least this often.
constexpr std::uint64_t launchesPerMark = 64;
constexpr std::size_t mostStaging = 16;
/// Writes up to this length are gathered: one kernel carries many of them out.
constexpr std::uint64_t gatheredByteLength = 4096;
constexpr std::size_t mostGathered = 64;
constexpr unsigned scatterThreads = 128;
/// Above this the kernel copies within a GPU faster than the driver does.
constexpr std::uint64_t kernelCopyByteLength = 256 * 1024;
constexpr unsigned queueCopyThreads = 256;
/// A multiprocessor has room for 2,048 threads, and for 32 blocks.
constexpr unsigned leastThreadsPerBlock = 64;
/// The driver takes about a thousand launches of a stream, and blocks at the next.
constexpr std::uint64_t mostInFlight = 512;

enum CommandKind : std::uint64_t { dispatchKind, dispatchIndirectKind, copyKind, clearKind, writeKind, timestampKind };

} // namespace

bool CommandQueue::crowded() const { return launched_ - completed_ >= mostInFlight; }

bool CommandQueue::execute(Submit &submit) {
  gpu_.use();
  options_.beforeWork();
  if (unmarkedOrder_ == 0) unmarkedOrder_ = options_.nextOrder();
  while (!submit.ended()) {
    if (crowded()) {
      mark();
      return false;
    }
    const auto begin = submit.position;
    bool done = true;
    switch (submit.next()) {
    case dispatchKind: dispatch(submit, false); break;
    case dispatchIndirectKind: dispatch(submit, true); break;
    case copyKind: copy(submit); break;
    case clearKind: clear(submit); break;
    case writeKind: done = write(submit); break;
    case timestampKind: stamp(submit); break;
    default: throw NativeError("driver", "A list of commands contains an unknown command.");
    }
    if (!done) {
      submit.position = begin;
      return false;
    }
  }
  flushWrites();
  if (options_.timeoutSeconds > 0 || marks_.empty() || launched_ - marks_.back().launched >= launchesPerMark) mark();
  return true;
}

bool CommandQueue::lacksMemory(Submit &submit, std::uint64_t buffer) {
  if (withoutMemory_.count(buffer) == 0) return false;
  if (!std::exchange(submit.saidSkipped, true)) options_.messages.skipped(submit.serial, buffer);
  return true;
}

void CommandQueue::launch(cuda::Function function, const unsigned *grid, const unsigned *block, unsigned sharedByteLength,
                          void **parameters) {
  gpu_.call(driver_.launchKernel, function, grid[0], grid[1], grid[2], block[0], block[1], block[2], sharedByteLength,
            gpu_.stream.get(), parameters, nullptr);
  launched_ += 1;
}

void CommandQueue::dispatch(Submit &submit, bool indirect) {
  const auto found = kernels_.find(submit.next());
  if (found == kernels_.end()) throw NativeError("driver", "A dispatch names a kernel that does not exist.");
  const auto &kernel = found->second;
  unsigned grid[3] = {};
  Range counts{};
  std::uint64_t largest = 0;
  if (indirect) {
    counts.buffer = submit.next();
    counts.offset = submit.next();
    largest = submit.next();
  } else {
    for (auto &size : grid) size = static_cast<unsigned>(submit.next());
  }
  std::vector<Range> bindings(kernel.bindings);
  for (auto &binding : bindings) binding = submit.range();
  if (indirect && lacksMemory(submit, counts.buffer)) return;
  for (const auto &binding : bindings)
    if (lacksMemory(submit, binding.buffer)) return;
  flushWrites();
  if (indirect) {
    // The grid has as many blocks as the GPU runs at a time; they process the workgroups in turn.
    const auto threads = kernel.block[0] * kernel.block[1] * kernel.block[2];
    grid[0] = std::max(1u, residentThreads_ / std::max(threads, leastThreadsPerBlock));
    grid[1] = grid[2] = 1;
  }
  std::vector<std::uint64_t> values(kernel.parameters.size());
  std::vector<void *> pointers(kernel.parameters.size());
  for (std::size_t index = 0; index < values.size(); ++index) {
    pointers[index] = &values[index];
    const auto parameter = kernel.parameters[index];
    if (parameter < 2 * kernel.bindings) {
      const auto &binding = bindings[parameter / 2];
      values[index] = parameter % 2 == 1 ? binding.byteLength : addressOf(binding.buffer, binding.offset);
    } else if (parameter == 2 * kernel.bindings) values[index] = leaveWord_.address();
    else values[index] = parameter == 2 * kernel.bindings + 1 ? addressOf(counts.buffer, counts.offset) : largest;
  }
  launch(kernel.function, grid, kernel.block, kernel.dynamicSharedByteLength, pointers.data());
}

void CommandQueue::copy(Submit &submit) {
  Range source{submit.next(), submit.next(), 0};
  Range target{submit.next(), submit.next(), 0};
  const auto byteLength = submit.next();
  if (lacksMemory(submit, source.buffer) || lacksMemory(submit, target.buffer)) return;
  flushWrites();
  const auto from = addressOf(source.buffer, source.offset);
  const auto to = addressOf(target.buffer, target.offset, byteLength);
  const auto onHost = [this](std::uint64_t buffer) { return buffers_.at(buffer).kind == Buffer::Kind::host; };
  const auto stream = gpu_.stream.get();
  if (onHost(source.buffer) && onHost(target.buffer)) {
    // The driver would wait for the stream; a copy through the GPU avoids that.
    std::size_t length = byteLength;
    const auto between = allocate(length);
    gpu_.call(driver_.memcpyAsync, between.address(), from, byteLength, stream);
    gpu_.call(driver_.memcpyAsync, to, between.address(), byteLength, stream);
    launched_ += 2;
    return;
  }
  if (!onHost(source.buffer) && !onHost(target.buffer) && byteLength >= kernelCopyByteLength && (from | to | byteLength) % 16 == 0) {
    std::uint64_t values[] = {from, byteLength, to, byteLength, byteLength / 16, 1};
    void *pointers[6];
    for (int index = 0; index < 6; ++index) pointers[index] = &values[index];
    const unsigned grid[] = {static_cast<unsigned>(std::min<std::uint64_t>(0x7fffffff, (byteLength / 16 + queueCopyThreads - 1) / queueCopyThreads)), 1, 1};
    const unsigned block[] = {queueCopyThreads, 1, 1};
    launch(options_.functions.copy16, grid, block, 0, pointers);
    return;
  }
  gpu_.call(driver_.memcpyAsync, to, from, byteLength, stream);
  launched_ += 1;
}

void CommandQueue::clear(Submit &submit) {
  const auto range = submit.range();
  if (lacksMemory(submit, range.buffer)) return;
  flushWrites();
  const auto to = addressOf(range.buffer, range.offset, range.byteLength);
  const auto stream = gpu_.stream.get();
  if (buffers_.at(range.buffer).kind == Buffer::Kind::host) {
    std::size_t length = range.byteLength;
    const auto zeros = allocate(length);
    gpu_.call(driver_.memsetD8Async, zeros.address(), static_cast<unsigned char>(0), range.byteLength, stream);
    gpu_.call(driver_.memcpyAsync, to, zeros.address(), range.byteLength, stream);
    launched_ += 2;
  } else {
    gpu_.call(driver_.memsetD8Async, to, static_cast<unsigned char>(0), range.byteLength, stream);
    launched_ += 1;
  }
}

bool CommandQueue::write(Submit &submit) {
  Range target{submit.next(), submit.next(), 0};
  const auto dataOffset = submit.next();
  target.byteLength = submit.next();
  if (lacksMemory(submit, target.buffer)) return true;
  const auto *source = submit.data.data() + dataOffset;
  const bool onHost = buffers_.count(target.buffer) > 0 && buffers_.at(target.buffer).kind == Buffer::Kind::host;
  if (!onHost && target.byteLength <= gatheredByteLength) {
    const auto to = addressOf(target.buffer, target.offset, target.byteLength);
    // Gathered writes never overlap: libraries write the same uniforms before each dispatch of a submit, and
    // only the last write counts.
    const auto end = to + target.byteLength;
    const auto overlapping = std::find_if(gathered_.begin(), gathered_.end(), [&](const GatheredWrite &write) {
      return write.target < end && to < write.target + write.byteLength;
    });
    if (overlapping != gathered_.end() && overlapping->target <= to && end <= overlapping->target + overlapping->byteLength) {
      std::memcpy(reinterpret_cast<char *>(overlapping->source) + (to - overlapping->target), source, target.byteLength);
      return true;
    }
    if (overlapping != gathered_.end() || gathered_.size() == mostGathered) flushWrites();
    std::size_t piece = target.byteLength;
    auto *place = stage(target.byteLength, piece);
    if (place == nullptr) return false;
    std::memcpy(place, source, target.byteLength);
    gathered_.push_back({to, reinterpret_cast<std::uint64_t>(place), target.byteLength});
    return true;
  }
  flushWrites();
  const auto to = addressOf(target.buffer, target.offset, target.byteLength);
  if (onHost && launched_ == completed_) {
    std::memcpy(reinterpret_cast<void *>(to), source, target.byteLength);
    submit.written = 0;
    return true;
  }
  while (submit.written < target.byteLength) {
    std::size_t piece = 0;
    auto *place = stage(target.byteLength - submit.written, piece);
    if (place == nullptr) return false;
    std::memcpy(place, source + submit.written, piece);
    const auto staged = reinterpret_cast<std::uint64_t>(place);
    if (onHost) {
      std::size_t length = piece;
      const auto between = allocate(length);
      gpu_.call(driver_.memcpyAsync, between.address(), staged, piece, gpu_.stream.get());
      gpu_.call(driver_.memcpyAsync, to + submit.written, between.address(), piece, gpu_.stream.get());
      launched_ += 1;
    } else {
      gpu_.call(driver_.memcpyAsync, to + submit.written, staged, piece, gpu_.stream.get());
    }
    launched_ += 1;
    submit.written += piece;
  }
  submit.written = 0;
  return true;
}

void CommandQueue::stamp(Submit &submit) {
  const auto buffer = submit.next();
  const auto offset = submit.next();
  if (lacksMemory(submit, buffer)) return;
  flushWrites();
  std::uint64_t to = addressOf(buffer, offset);
  void *pointers[] = {&to};
  const unsigned one[] = {1, 1, 1};
  launch(options_.functions.stamp, one, one, 0, pointers);
}

// Staging.

char *CommandQueue::stage(std::size_t byteLength, std::size_t &piece) {
  const auto wanted = std::min(byteLength, stagingByteLength);
  // A small write is one piece, with room for the list of gathered writes after it; a long one fills the
  // remaining space.
  const auto least = byteLength <= gatheredByteLength ? wanted + mostGathered * sizeof(GatheredWrite) + 16 : std::min(wanted, std::size_t{64} << 10);
  if (usedStaging_.empty() || stagingByteLength - staged_ < least) {
    if (spareStaging_.empty() && stagingCount_ == mostStaging) {
      flushWrites();
      staged_ = stagingByteLength;
      mark();
      return nullptr;
    }
    if (spareStaging_.empty()) {
      spareStaging_.emplace_back(gpu_.context, driver_.memHostAlloc, stagingByteLength, cuda::hostAllocPortable | cuda::hostAllocMapped);
      stagingCount_ += 1;
    }
    usedStaging_.push_back(std::move(spareStaging_.back()));
    spareStaging_.pop_back();
    staged_ = 0;
  }
  piece = std::min(wanted, stagingByteLength - staged_);
  auto *place = static_cast<char *>(usedStaging_.back().get()) + staged_;
  // Every piece begins at a multiple of 16 bytes.
  staged_ = std::min(stagingByteLength, (staged_ + piece + 15) / 16 * 16);
  return place;
}

void CommandQueue::flushWrites() {
  if (gathered_.empty()) return;
  const auto byteLength = gathered_.size() * sizeof(GatheredWrite);
  // `stage` has left space for it.
  auto *place = static_cast<char *>(usedStaging_.back().get()) + staged_;
  staged_ += byteLength;
  std::memcpy(place, gathered_.data(), byteLength);
  auto list = reinterpret_cast<std::uint64_t>(place);
  void *pointers[] = {&list};
  const unsigned grid[] = {static_cast<unsigned>(gathered_.size()), 1, 1};
  const unsigned block[] = {scatterThreads, 1, 1};
  gathered_.clear();
  launch(options_.functions.scatter, grid, block, 0, pointers);
}

} // namespace tandem
