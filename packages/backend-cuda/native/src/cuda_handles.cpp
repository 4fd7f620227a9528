#include "cuda_handles.h"

#include <limits>

namespace tandem::cuda {

Context::Context(const Driver &driver, int ordinal, ReleaseFailures &failures)
    : driver_(driver), ordinal_(ordinal), failures_(failures) {
  check(driver_.deviceGet(&device_, ordinal), "cuDeviceGet");
  check(driver_.devicePrimaryCtxRetain(&handle_, device_), "cuDevicePrimaryCtxRetain");
}

Context::~Context() {
  driver_.ctxSetCurrent(nullptr);
  released(driver_.devicePrimaryCtxRelease(device_), "cuDevicePrimaryCtxRelease");
}

void Context::use() const {
  if (contextsLost()) throw NativeError("device-lost", contextsLostReason());
  check(driver_.ctxSetCurrent(handle_), "cuCtxSetCurrent");
}

void Context::check(Result result, const char *call) const {
  if (result == success) return;
  try {
    cuda::check(driver_, result, call);
  } catch (NativeError &error) {
    if (noteFault(result, error.what())) error.code = "device-lost";
    throw;
  }
}

void Context::released(Result result, const char *call) const noexcept {
  // After a fault every call fails, and the end of the process frees all.
  if (result == success || contextsLost()) return;
  try {
    check(result, call);
  } catch (const NativeError &error) {
    if (error.code != "device-lost") failures_.push_back("On CUDA device " + std::to_string(ordinal_) + ", " + error.what());
  }
}

namespace {

Result createPool(const Driver &driver, Device device, MemoryPool *pool) {
  MemoryPoolProperties properties{};
  properties.allocType = allocationTypePinned;
  properties.location = {locationTypeDevice, device};
  return driver.memPoolCreate(pool, &properties);
}

} // namespace

Gpu::Gpu(const Driver &driver, int ordinal, ReleaseFailures &failures)
    : context(driver, ordinal, failures),
      pool(context, "cuMemPoolCreate",
           [this](MemoryPool *created) { return createPool(context.driver(), context.device(), created); }),
      stream(context, "cuStreamCreate",
             [this](Stream *created) { return context.driver().streamCreate(created, streamNonBlocking); }) {
  // Keep freed memory for the next allocation; `Allocation` trims before it gives up.
  auto threshold = std::numeric_limits<std::uint64_t>::max();
  check(driver.memPoolSetAttribute(pool.get(), memoryPoolReleaseThreshold, &threshold), "cuMemPoolSetAttribute");
}

Gpu::~Gpu() {
  context.driver().ctxSetCurrent(context.handle());
  context.released(context.driver().streamSynchronize(stream.get()), "cuStreamSynchronize");
}

Allocation::Allocation(const Gpu &gpu, std::size_t byteLength) : gpu_(&gpu) {
  gpu.use();
  const auto &driver = gpu.context.driver();
  auto result = driver.memAllocFromPoolAsync(&address_, byteLength, gpu.pool.get(), gpu.stream.get());
  if (result == errorOutOfMemory) {
    // The pool may hold freed blocks of other sizes.
    gpu.synchronize();
    gpu.check(driver.memPoolTrimTo(gpu.pool.get(), 0), "cuMemPoolTrimTo");
    result = driver.memAllocFromPoolAsync(&address_, byteLength, gpu.pool.get(), gpu.stream.get());
  }
  gpu.check(result, "cuMemAllocFromPoolAsync");
}

Allocation::~Allocation() {
  if (address_ == 0) return;
  const auto &context = gpu_->context;
  context.driver().ctxSetCurrent(context.handle());
  context.released(context.driver().memFreeAsync(address_, gpu_->stream.get()), "cuMemFreeAsync");
}

} // namespace tandem::cuda
