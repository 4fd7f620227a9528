// The handles of the driver that a group owns. Each destructor releases its handle, so the order of closing
// is the order of members.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "cuda_driver.h"

namespace tandem::cuda {

/// Sentences about calls that release something and fail; the group reports them when it closes.
using ReleaseFailures = std::vector<std::string>;

/// The retained primary context of one GPU. Handles created in it refer to it, and are destroyed before it.
class Context {
public:
  Context(const Driver &driver, int ordinal, ReleaseFailures &failures);
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  /// Makes this the current context of the calling thread. Throws NativeError `device-lost` once the contexts
  /// of this process are lost.
  void use() const;
  /// Throws NativeError for any result but success: `device-lost` for a fault, otherwise `cuda`.
  void check(Result result, const ImportEntry &function) const;
  template <typename... Parameters, typename... Arguments>
  void call(const Import<Result(Parameters...)> &function, Arguments... arguments) const {
    check(function(arguments...), function);
  }
  /// Calls a function that releases something, and records its failure. Destructors call it.
  template <typename... Parameters>
  void release(const Import<Result(Parameters...)> &function, Parameters... arguments) const noexcept {
    driver_.ctxSetCurrent(handle_);
    noteRelease(function(arguments...), function);
  }
  const Driver &driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  Device device() const { return device_; }
  /// Keeps the context until the process ends, beyond this object.
  void keep() const;
  ContextHandle handle() const { return handle_; }

private:
  void noteRelease(Result result, const ImportEntry &function) const noexcept;

  const Driver &driver_;
  int ordinal_;
  ReleaseFailures &failures_;
  Device device_ = 0;
  ContextHandle handle_ = nullptr;
};

/// A handle, and the function that releases it.
template <typename Handle, Import<Result(Handle)> Driver::*destroy> class Owned {
public:
  Owned() = default;
  /// Calls `create`, which stores the handle through its first parameter. Throws NativeError.
  template <typename... Parameters, typename... Arguments>
  Owned(const Context &context, const Import<Result(Handle *, Parameters...)> &create, Arguments... arguments) {
    Handle handle{};
    context.use();
    context.call(create, &handle, arguments...);
    context_ = &context;
    handle_ = handle;
  }
  /// Owns a handle that was created in `context`.
  Owned(const Context &context, Handle handle) : context_(&context), handle_(handle) {}
  ~Owned() {
    if (handle_ != Handle{}) context_->release(context_->driver().*destroy, handle_);
  }
  Owned(Owned &&other) noexcept : context_(other.context_), handle_(std::exchange(other.handle_, Handle{})) {}
  Owned &operator=(Owned &&other) noexcept {
    std::swap(context_, other.context_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  Handle get() const { return handle_; }

private:
  const Context *context_ = nullptr;
  Handle handle_{};
};

using OwnedStream = Owned<Stream, &Driver::streamDestroy>;
using OwnedEvent = Owned<Event, &Driver::eventDestroy>;
using OwnedPool = Owned<MemoryPool, &Driver::memPoolDestroy>;
using OwnedModule = Owned<Module, &Driver::moduleUnload>;
using OwnedGraph = Owned<Graph, &Driver::graphDestroy>;
using OwnedGraphExec = Owned<GraphExec, &Driver::graphExecDestroy>;
using HostMemory = Owned<void *, &Driver::memFreeHost>;
using ImportedMemory = Owned<DevicePtr, &Driver::ipcCloseMemHandle>;
using HostLock = Owned<void *, &Driver::memHostUnregister>;

/// One physical GPU of a group: its context, the pool for its memory, the stream for all its work, and
/// events, whose creation would take microseconds.
class Gpu {
public:
  /// `shareable`: other processes may map its memory, which is then not allocated from a pool.
  Gpu(const Driver &driver, int ordinal, bool shareable, ReleaseFailures &failures);
  /// Waits for the stream.
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  void use() const { context.use(); }
  /// Calls a function of the driver. Throws as `Context::check` does.
  template <typename... Parameters, typename... Arguments>
  void call(const Import<Result(Parameters...)> &function, Arguments... arguments) const {
    context.call(function, arguments...);
  }
  /// The kernel of a module that is loaded on this GPU. Throws `unsupported` if an invocation needs more private
  /// memory than a GPU has for it.
  Function kernel(Module module, const std::string &entry, int dynamicSharedByteLength) const;
  void synchronize() const { call(context.driver().streamSynchronize, stream.get()); }
  /// Records the event after the work in the stream.
  void record(const OwnedEvent &event) const { call(context.driver().eventRecord, event.get(), stream.get()); }

  const bool shareable;
  const Context context;
  const OwnedPool pool;
  const OwnedStream stream;
  /// Recorded in turn after launches and parts of transfers; at most this many are in flight.
  static constexpr std::size_t turnCount = 2;
  const OwnedEvent turns[turnCount];
  /// The event that streams of other GPUs wait for.
  const OwnedEvent joined;
  /// The clock of a run.
  const OwnedEvent start, end;
};

/// Device memory, from the GPU's pool or, if shareable, allocated separately.
class Allocation {
public:
  /// Throws NativeError.
  Allocation(const Gpu &gpu, std::size_t byteLength);
  /// The memory is freed after the work in the GPU's stream.
  ~Allocation();
  Allocation(Allocation &&other) noexcept : gpu_(other.gpu_), address_(std::exchange(other.address_, 0)) {}
  Allocation &operator=(Allocation &&) = delete;
  DevicePtr address() const { return address_; }

private:
  const Gpu *gpu_;
  DevicePtr address_ = 0;
};

/// One side of a copy of rows, which start `pitch` bytes apart.
struct CopySide {
  bool onHost;
  std::uint64_t address;
  std::size_t pitch;
};
Memcpy3D rowCopy(const CopySide &source, const CopySide &target, std::size_t rowByteLength, std::size_t rows);

} // namespace tandem::cuda
