#include "group.h"

#include <algorithm>
#include <limits>

namespace tandem {

namespace {

std::string bytesText(std::size_t byteLength) { return std::to_string(byteLength) + " bytes"; }

} // namespace

void Group::check(cuda::Result result, const char *call) const {
  if (result == cuda::success) return;
  try {
    cuda::check(driver_, result, call);
  } catch (NativeError &error) {
    if (cuda::noteFault(result, error.what())) error.code = "device-lost";
    throw;
  }
}

void Group::use(std::size_t gpu) const {
  if (cuda::contextsLost()) throw NativeError("device-lost", cuda::contextsLostReason());
  check(driver_.ctxSetCurrent(gpus_.at(gpu).context), "cuCtxSetCurrent");
}

Group::Group(const cuda::Driver &driver, const std::vector<int> &ordinals) : driver_(driver) {
  if (cuda::contextsLost()) throw NativeError("device-lost", cuda::contextsLostReason());
  try {
    for (const int ordinal : ordinals) {
      gpus_.emplace_back();
      auto &gpu = gpus_.back();
      gpu.ordinal = ordinal;
      check(driver_.deviceGet(&gpu.device, ordinal), "cuDeviceGet");
      check(driver_.devicePrimaryCtxRetain(&gpu.context, gpu.device), "cuDevicePrimaryCtxRetain");
      use(gpus_.size() - 1);
      check(driver_.streamCreate(&gpu.stream, cuda::streamNonBlocking), "cuStreamCreate");
    }
    const auto count = gpus_.size();
    peers_.assign(count * count, false);
    for (std::size_t reader = 0; reader < count; ++reader) {
      use(reader);
      for (std::size_t owner = 0; owner < count; ++owner) {
        // A GPU may be listed twice, as two queues on one context: for testing synchronisation without a second GPU.
        const bool same = gpus_[reader].device == gpus_[owner].device;
        int can = same ? 1 : 0;
        if (!same) {
          check(driver_.deviceCanAccessPeer(&can, gpus_[reader].device, gpus_[owner].device), "cuDeviceCanAccessPeer");
        }
        if (!same && can != 0) {
          const auto enabled = driver_.ctxEnablePeerAccess(gpus_[owner].context, 0);
          if (enabled != cuda::errorPeerAccessAlreadyEnabled) check(enabled, "cuCtxEnablePeerAccess");
        }
        peers_[reader * count + owner] = can != 0;
      }
    }
    if (count > 0) {
      use(0);
      void *word = nullptr;
      check(driver_.memHostAlloc(&word, sizeof(std::uint32_t), cuda::hostAllocPortable | cuda::hostAllocMapped),
            "cuMemHostAlloc");
      stopWord_ = static_cast<std::uint32_t *>(word);
      *stopWord_ = 0;
    }
    // cuCtxEnablePeerAccess does not cover pool memory: each pool grants access to every capable peer itself.
    for (std::size_t owner = 0; owner < count; ++owner) {
      use(owner);
      cuda::MemoryPoolProperties properties{};
      properties.allocType = cuda::allocationTypePinned;
      properties.location = {cuda::locationTypeDevice, gpus_[owner].device};
      check(driver_.memPoolCreate(&gpus_[owner].pool, &properties), "cuMemPoolCreate");
      // Keep freed memory for the next allocation; `allocate` trims before it gives up, `close` destroys the pool.
      std::uint64_t threshold = std::numeric_limits<std::uint64_t>::max();
      check(driver_.memPoolSetAttribute(gpus_[owner].pool, cuda::memoryPoolReleaseThreshold, &threshold),
            "cuMemPoolSetAttribute");
      std::vector<cuda::MemoryAccess> access;
      for (std::size_t reader = 0; reader < count; ++reader) {
        if (gpus_[reader].device == gpus_[owner].device || !peer(reader, owner)) continue;
        access.push_back({{cuda::locationTypeDevice, gpus_[reader].device}, cuda::accessReadWrite});
      }
      if (!access.empty()) {
        check(driver_.memPoolSetAccess(gpus_[owner].pool, access.data(), access.size()), "cuMemPoolSetAccess");
      }
    }
  } catch (...) {
    close();
    throw;
  }
}

Group::~Group() { close(); }

void Group::throwOutOfMemory(std::size_t gpu, std::size_t byteLength, const NativeError &cause) {
  std::size_t freeByteLength = 0;
  std::size_t totalByteLength = 0;
  driver_.memGetInfo(&freeByteLength, &totalByteLength);
  NativeError error("out-of-memory", "Device memory runs out: " + bytesText(byteLength) + " asked, " +
                                         bytesText(freeByteLength) + " of " + bytesText(totalByteLength) +
                                         " free on CUDA device " + std::to_string(gpus_[gpu].ordinal) + ".");
  error.result = cause.result;
  error.resultName = cause.resultName;
  error.call = cause.call;
  error.askedByteLength = static_cast<double>(byteLength);
  error.freeByteLength = static_cast<double>(freeByteLength);
  throw error;
}

void Group::throwGraphOutOfMemory(std::size_t gpu, const NativeError &cause) {
  std::size_t freeByteLength = 0;
  std::size_t totalByteLength = 0;
  driver_.memGetInfo(&freeByteLength, &totalByteLength);
  NativeError error("out-of-memory", std::string(cause.what()) + " The graph needs memory of the driver's own; " +
                                         bytesText(freeByteLength) + " of " + bytesText(totalByteLength) +
                                         " are free on CUDA device " + std::to_string(gpus_[gpu].ordinal) + ".");
  error.result = cause.result;
  error.resultName = cause.resultName;
  error.call = cause.call;
  error.freeByteLength = static_cast<double>(freeByteLength);
  throw error;
}

cuda::DevicePtr Group::allocate(std::size_t gpu, std::size_t byteLength, bool zero) {
  use(gpu);
  auto &owner = gpus_[gpu];
  cuda::DevicePtr address = 0;
  auto result = driver_.memAllocFromPoolAsync(&address, byteLength, owner.pool, owner.stream);
  if (result == cuda::errorOutOfMemory) {
    // The pool may hold freed blocks of other sizes.
    driver_.streamSynchronize(owner.stream);
    driver_.memPoolTrimTo(owner.pool, 0);
    result = driver_.memAllocFromPoolAsync(&address, byteLength, owner.pool, owner.stream);
  }
  try {
    check(result, "cuMemAllocFromPoolAsync");
    if (zero) check(driver_.memsetD8Async(address, 0, byteLength, owner.stream), "cuMemsetD8Async");
    // Peers may use the address from here on, on streams that know nothing of this one.
    check(driver_.streamSynchronize(owner.stream), "cuStreamSynchronize");
  } catch (const NativeError &error) {
    if (address != 0) driver_.memFreeAsync(address, owner.stream);
    if (error.result == cuda::errorOutOfMemory) throwOutOfMemory(gpu, byteLength, error);
    throw;
  }
  allocations_[address] = gpu;
  return address;
}

void Group::free(std::size_t gpu, cuda::DevicePtr address) {
  if (allocations_.erase(address) == 0) return;
  use(gpu);
  check(driver_.memFreeAsync(address, gpus_[gpu].stream), "cuMemFreeAsync");
}

void Group::zero(std::size_t gpu, cuda::DevicePtr address, std::size_t byteLength) {
  use(gpu);
  check(driver_.memsetD8Async(address, 0, byteLength, gpus_[gpu].stream), "cuMemsetD8Async");
  check(driver_.streamSynchronize(gpus_[gpu].stream), "cuStreamSynchronize");
}

void Group::memoryInfo(std::size_t gpu, std::size_t &freeByteLength, std::size_t &totalByteLength) {
  use(gpu);
  check(driver_.memGetInfo(&freeByteLength, &totalByteLength), "cuMemGetInfo");
}

void Group::registerHost(void *address, std::size_t byteLength) {
  use(0);
  check(driver_.memHostRegister(address, byteLength, cuda::hostRegisterPortable), "cuMemHostRegister");
  registered_[address] = byteLength;
}

void Group::unregisterHost(void *address) {
  if (registered_.erase(address) == 0) return;
  use(0);
  check(driver_.memHostUnregister(address), "cuMemHostUnregister");
}

void Group::loadKernel(std::uint32_t id, std::size_t gpu, const std::vector<std::uint8_t> &image,
                       const std::string &entry, int dynamicSharedByteLength,
                       std::map<std::string, double> &attributes) {
  use(gpu);
  LoadedKernel kernel{gpu, nullptr, nullptr};
  // PTX is text and must end with a zero; a spare one after a cubin does no harm.
  auto terminated = image;
  terminated.push_back(0);
  std::vector<char> log(8192, '\0');
  int options[] = {cuda::jitErrorLogBuffer, cuda::jitErrorLogBufferSizeBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  const auto loaded = driver_.moduleLoadDataEx(&kernel.module, terminated.data(), 2, options, values);
  try {
    check(loaded, "cuModuleLoadDataEx");
  } catch (NativeError &error) {
    if (log[0] == '\0') throw;
    NativeError detailed(error.code, std::string(error.what()) + " " + log.data());
    detailed.result = error.result;
    detailed.resultName = error.resultName;
    detailed.call = error.call;
    throw detailed;
  }
  try {
    check(driver_.moduleGetFunction(&kernel.function, kernel.module, entry.c_str()), "cuModuleGetFunction");
    // Above 48 KiB workgroup memory is dynamic and needs the opt-in.
    if (dynamicSharedByteLength > 0) {
      check(driver_.funcSetAttribute(kernel.function, cuda::functionMaxDynamicSharedSizeBytes, dynamicSharedByteLength),
            "cuFuncSetAttribute");
    }
    const std::pair<const char *, int> readings[] = {
        {"maxThreadsPerBlock", cuda::functionMaxThreadsPerBlock},
        {"staticSharedByteLength", cuda::functionSharedSizeBytes},
        {"localByteLength", cuda::functionLocalSizeBytes},
        {"registers", cuda::functionNumRegs},
    };
    for (const auto &[name, attribute] : readings) {
      int value = 0;
      check(driver_.funcGetAttribute(&value, attribute, kernel.function), "cuFuncGetAttribute");
      attributes[name] = value;
    }
  } catch (...) {
    driver_.moduleUnload(kernel.module);
    throw;
  }
  kernels_[id] = kernel;
}

void Group::unloadKernel(std::uint32_t id) {
  const auto found = kernels_.find(id);
  if (found == kernels_.end()) return;
  const auto kernel = found->second;
  kernels_.erase(found);
  use(kernel.gpu);
  check(driver_.moduleUnload(kernel.module), "cuModuleUnload");
}

void Group::destroyGraph(std::uint32_t id) {
  const auto found = graphs_.find(id);
  if (found == graphs_.end()) return;
  const auto exec = found->second.exec;
  graphs_.erase(found);
  check(driver_.graphExecDestroy(exec), "cuGraphExecDestroy");
}

void Group::close() {
  if (closed_) return;
  closed_ = true;
  // Errors are dropped: after a fault every call fails, and the process's end frees all.
  for (auto &gpu : gpus_) {
    if (gpu.context == nullptr) continue;
    driver_.ctxSetCurrent(gpu.context);
    if (gpu.stream != nullptr) driver_.streamSynchronize(gpu.stream);
  }
  for (auto &[id, graph] : graphs_) driver_.graphExecDestroy(graph.exec);
  graphs_.clear();
  for (auto &[id, kernel] : kernels_) {
    driver_.ctxSetCurrent(gpus_[kernel.gpu].context);
    driver_.moduleUnload(kernel.module);
  }
  kernels_.clear();
  for (auto &[address, gpu] : allocations_) {
    driver_.ctxSetCurrent(gpus_[gpu].context);
    driver_.memFreeAsync(address, gpus_[gpu].stream);
  }
  allocations_.clear();
  if (!gpus_.empty() && gpus_[0].context != nullptr) driver_.ctxSetCurrent(gpus_[0].context);
  for (auto &[address, byteLength] : registered_) driver_.memHostUnregister(address);
  registered_.clear();
  for (auto &[key, events] : events_) {
    for (const auto event : events) driver_.eventDestroy(event);
  }
  events_.clear();
  if (stopWord_ != nullptr) driver_.memFreeHost(stopWord_);
  stopWord_ = nullptr;
  for (auto &slot : staging_) {
    if (slot.memory != nullptr) driver_.memFreeHost(slot.memory);
    slot = {};
  }
  for (auto &gpu : gpus_) {
    if (gpu.context == nullptr) continue;
    driver_.ctxSetCurrent(gpu.context);
    if (gpu.stream != nullptr) {
      driver_.streamSynchronize(gpu.stream);
      driver_.streamDestroy(gpu.stream);
    }
    if (gpu.pool != nullptr) driver_.memPoolDestroy(gpu.pool);
  }
  driver_.ctxSetCurrent(nullptr);
  for (auto &gpu : gpus_) {
    if (gpu.context != nullptr) driver_.devicePrimaryCtxRelease(gpu.device);
  }
  gpus_.clear();
}

} // namespace tandem
