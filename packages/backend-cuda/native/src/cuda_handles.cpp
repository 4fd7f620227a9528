#include "cuda_handles.h"

#include <limits>

namespace tandem::cuda {

Context::Context(const Driver &driver, int ordinal, ReleaseFailures &failures)
    : driver_(driver), ordinal_(ordinal), failures_(failures) {
  call(driver_.deviceGet, &device_, ordinal);
  call(driver_.devicePrimaryCtxRetain, &handle_, device_);
}

Context::~Context() {
  driver_.ctxSetCurrent(nullptr);
  noteRelease(driver_.devicePrimaryCtxRelease(device_), driver_.devicePrimaryCtxRelease);
}

void Context::use() const {
  if (contextsLost()) throw NativeError("device-lost", contextsLostReason());
  call(driver_.ctxSetCurrent, handle_);
}

void Context::keep() const {
  ContextHandle kept = nullptr;
  call(driver_.devicePrimaryCtxRetain, &kept, device_);
}

void Context::check(Result result, const ImportEntry &function) const {
  if (result == success) return;
  try {
    cuda::check(driver_, result, function);
  } catch (NativeError &error) {
    if (noteFault(result, error.what())) error.code = "device-lost";
    throw;
  }
}

void Context::noteRelease(Result result, const ImportEntry &function) const noexcept {
  // After a fault every call fails, and everything is freed when the process ends.
  if (result == success || contextsLost()) return;
  try {
    check(result, function);
  } catch (const NativeError &error) {
    if (error.code != "device-lost") failures_.push_back("On CUDA device " + std::to_string(ordinal_) + ", " + error.what());
  }
}

namespace {

OwnedPool createPool(const Context &context) {
  MemoryPoolProperties properties{};
  properties.allocType = allocationTypePinned;
  properties.location = {locationTypeDevice, context.device()};
  return {context, context.driver().memPoolCreate, &properties};
}

/// Any number below the range of the driver's priorities means the greatest.
constexpr int greatestPriority = std::numeric_limits<int>::min();

OwnedEvent untimedEvent(const Context &context) { return {context, context.driver().eventCreate, eventDisableTiming}; }

} // namespace

Gpu::Gpu(const Driver &driver, int ordinal, bool shareable, ReleaseFailures &failures)
    : shareable(shareable), context(driver, ordinal, failures), pool(createPool(context)),
      stream(context, driver.streamCreate, streamNonBlocking, greatestPriority), turns{untimedEvent(context), untimedEvent(context)},
      joined(untimedEvent(context)), start(context, driver.eventCreate, 0), end(context, driver.eventCreate, 0) {
  // Keep freed memory for the next allocation; `Allocation` trims before it gives up.
  auto threshold = std::numeric_limits<std::uint64_t>::max();
  call(driver.memPoolSetAttribute, pool.get(), memoryPoolReleaseThreshold, &threshold);
}

/// The most local memory of a thread, on every GPU (CUDA C++ Programming Guide, "Technical Specifications").
/// Graphs with kernels that need more cannot be instantiated, and the driver does not say why.
constexpr int mostLocalBytes = 512 * 1024;

Function Gpu::kernel(Module module, const std::string &entry, int dynamicSharedByteLength) const {
  const Driver &driver = context.driver();
  Function function = nullptr;
  call(driver.moduleGetFunction, &function, module, entry.c_str());
  int localBytes = 0;
  call(driver.funcGetAttribute, &localBytes, functionLocalSizeBytes, function);
  if (localBytes > mostLocalBytes)
    throw NativeError("unsupported", "An invocation needs " + std::to_string(localBytes) + " bytes of private memory, and a GPU has at most " +
                                         std::to_string(mostLocalBytes) + ".");
  // Workgroup memory above 48 KiB is dynamic and needs the opt-in.
  if (dynamicSharedByteLength > 0) call(driver.funcSetAttribute, function, functionMaxDynamicSharedSizeBytes, dynamicSharedByteLength);
  return function;
}

Gpu::~Gpu() { context.release(context.driver().streamSynchronize, stream.get()); }

Allocation::Allocation(const Gpu &gpu, std::size_t byteLength) : gpu_(&gpu) {
  gpu.use();
  const auto &driver = gpu.context.driver();
  if (gpu.shareable) {
    gpu.call(driver.memAlloc, &address_, byteLength);
    return;
  }
  const auto allocate = [&] {
    return driver.memAllocFromPoolAsync(&address_, byteLength, gpu.pool.get(), gpu.stream.get());
  };
  auto result = allocate();
  if (result == errorOutOfMemory) {
    // The pool may hold freed blocks of other sizes.
    gpu.synchronize();
    gpu.call(driver.memPoolTrimTo, gpu.pool.get(), std::size_t{0});
    result = allocate();
  }
  gpu.context.check(result, driver.memAllocFromPoolAsync);
}

Allocation::~Allocation() {
  if (address_ == 0) return;
  const auto &context = gpu_->context;
  if (gpu_->shareable) {
    context.release(context.driver().streamSynchronize, gpu_->stream.get());
    context.release(context.driver().memFree, address_);
    return;
  }
  context.release(context.driver().memFreeAsync, address_, gpu_->stream.get());
}

Memcpy3D rowCopy(const CopySide &source, const CopySide &target, std::size_t rowByteLength, std::size_t rows) {
  Memcpy3D copy{};
  copy.srcMemoryType = source.onHost ? memoryTypeHost : memoryTypeDevice;
  if (source.onHost) copy.srcHost = reinterpret_cast<const void *>(source.address);
  else copy.srcDevice = source.address;
  copy.srcPitch = source.pitch;
  copy.dstMemoryType = target.onHost ? memoryTypeHost : memoryTypeDevice;
  if (target.onHost) copy.dstHost = reinterpret_cast<void *>(target.address);
  else copy.dstDevice = target.address;
  copy.dstPitch = target.pitch;
  copy.widthInBytes = rowByteLength;
  copy.height = copy.srcHeight = copy.dstHeight = rows;
  copy.depth = 1;
  return copy;
}

} // namespace tandem::cuda
