// What a group holds of the driver. Each handle gives itself back, so the order of closing is the order of members.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "cuda_driver.h"

namespace tandem::cuda {

/// Sentences about calls that gave something back and failed; the group reports them when it closes.
using ReleaseFailures = std::vector<std::string>;

/// The retained primary context of one GPU. What is made in it refers to it, and goes before it.
class Context {
public:
  Context(const Driver &driver, int ordinal, ReleaseFailures &failures);
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  /// Makes it the calling thread's. Throws NativeError `device-lost` once the contexts of this process are gone.
  void use() const;
  /// Throws NativeError for any result but success: `device-lost` for a fault, else `cuda`.
  void check(Result result, const char *call) const;
  /// Notes that a call which gives something back fails. Destructors call it.
  void released(Result result, const char *call) const noexcept;
  const Driver &driver() const { return driver_; }
  int ordinal() const { return ordinal_; }
  Device device() const { return device_; }
  ContextHandle handle() const { return handle_; }

private:
  const Driver &driver_;
  int ordinal_;
  ReleaseFailures &failures_;
  Device device_ = 0;
  ContextHandle handle_ = nullptr;
};

/// A handle and the call that gives it back. `Kind` names both.
template <typename Kind> class Owned {
public:
  using Handle = typename Kind::Handle;

  Owned() = default;
  /// `create(Handle *)` makes it in `context`. Throws NativeError.
  template <typename Create> Owned(const Context &context, const char *call, Create create) {
    context.use();
    Handle handle{};
    context.check(create(&handle), call);
    context_ = &context;
    handle_ = handle;
  }
  ~Owned() { reset(); }
  Owned(Owned &&other) noexcept : context_(other.context_), handle_(std::exchange(other.handle_, Handle{})) {}
  Owned &operator=(Owned &&other) noexcept {
    std::swap(context_, other.context_);
    std::swap(handle_, other.handle_);
    return *this;
  }

  Handle get() const { return handle_; }
  const Context &context() const { return *context_; }

private:
  void reset() noexcept {
    if (handle_ == Handle{}) return;
    const auto &driver = context_->driver();
    driver.ctxSetCurrent(context_->handle());
    context_->released((driver.*Kind::destroy)(handle_), Kind::call);
  }

  const Context *context_ = nullptr;
  Handle handle_{};
};

template <typename Type, auto Destroy> struct Kind {
  using Handle = Type;
  static constexpr auto destroy = Destroy;
};
struct StreamKind : Kind<Stream, &Driver::streamDestroy> {
  static constexpr auto call = "cuStreamDestroy";
};
struct EventKind : Kind<Event, &Driver::eventDestroy> {
  static constexpr auto call = "cuEventDestroy";
};
struct PoolKind : Kind<MemoryPool, &Driver::memPoolDestroy> {
  static constexpr auto call = "cuMemPoolDestroy";
};
struct ModuleKind : Kind<Module, &Driver::moduleUnload> {
  static constexpr auto call = "cuModuleUnload";
};
struct GraphKind : Kind<Graph, &Driver::graphDestroy> {
  static constexpr auto call = "cuGraphDestroy";
};
struct GraphExecKind : Kind<GraphExec, &Driver::graphExecDestroy> {
  static constexpr auto call = "cuGraphExecDestroy";
};
struct HostMemoryKind : Kind<void *, &Driver::memFreeHost> {
  static constexpr auto call = "cuMemFreeHost";
};
struct HostLockKind : Kind<void *, &Driver::memHostUnregister> {
  static constexpr auto call = "cuMemHostUnregister";
};

/// One physical GPU of a group: its context, the pool that its memory comes from, and the stream that all its work goes through.
class Gpu {
public:
  Gpu(const Driver &driver, int ordinal, ReleaseFailures &failures);
  /// Waits for the stream.
  ~Gpu();
  Gpu(const Gpu &) = delete;
  Gpu &operator=(const Gpu &) = delete;

  void use() const { context.use(); }
  void check(Result result, const char *call) const { context.check(result, call); }
  void synchronize() const { check(context.driver().streamSynchronize(stream.get()), "cuStreamSynchronize"); }

  const Context context;
  const Owned<PoolKind> pool;
  const Owned<StreamKind> stream;
};

/// Device memory from a GPU's pool.
class Allocation {
public:
  /// Throws NativeError.
  Allocation(const Gpu &gpu, std::size_t byteLength);
  /// Takes effect behind what the GPU's stream holds.
  ~Allocation();
  Allocation(Allocation &&other) noexcept : gpu_(other.gpu_), address_(std::exchange(other.address_, 0)) {}
  Allocation &operator=(Allocation &&) = delete;
  DevicePtr address() const { return address_; }

private:
  const Gpu *gpu_;
  DevicePtr address_ = 0;
};

} // namespace tandem::cuda
