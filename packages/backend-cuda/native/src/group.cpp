#include "group.h"

namespace tandem {

namespace {

/// The error with the free memory of a GPU, in front of which stands what was wanted of it.
[[noreturn]] void throwOutOfMemory(const cuda::Gpu &gpu, const NativeError &cause, const std::string &wanted,
                                   const std::string &verb) {
  std::size_t freeByteLength = 0;
  std::size_t totalByteLength = 0;
  gpu.context.driver().memGetInfo(&freeByteLength, &totalByteLength);
  throw NativeError("out-of-memory",
                    wanted + std::to_string(freeByteLength) + " bytes of " + std::to_string(totalByteLength) + " bytes " +
                        verb + "free on CUDA device " + std::to_string(gpu.context.ordinal()) + ".",
                    cause);
}

} // namespace

Group::Group(const cuda::Driver &driver, const std::vector<int> &ordinals,
             std::shared_ptr<cuda::ReleaseFailures> failures)
    : driver_(driver), failures_(std::move(failures)) {
  if (ordinals.empty()) throw NativeError("validation", "A group needs at least one CUDA device.");
  for (const int ordinal : ordinals) gpus_.emplace_back(driver, ordinal, *failures_);
  openPeers();
  stopWord_ = pinned(sizeof(std::uint32_t), cuda::hostAllocPortable | cuda::hostAllocMapped);
  *static_cast<std::uint32_t *>(stopWord_.get()) = 0;
}

Group::~Group() {
  // What is freed below may be in use until then.
  for (const auto &gpu : gpus_) {
    driver_.ctxSetCurrent(gpu.context.handle());
    gpu.context.released(driver_.streamSynchronize(gpu.stream.get()), "cuStreamSynchronize");
  }
}

void Group::openPeers() {
  const auto count = gpus_.size();
  peers_.assign(count * count, false);
  for (std::size_t owner = 0; owner < count; ++owner) {
    // cuCtxEnablePeerAccess does not cover pool memory: each pool grants access to every capable peer itself.
    std::vector<cuda::MemoryAccess> access;
    for (std::size_t reader = 0; reader < count; ++reader) {
      const auto &context = gpus_[reader].context;
      // A GPU may be listed twice, as two queues on one context: for testing synchronisation without a second GPU.
      if (context.device() == gpus_[owner].context.device()) {
        peers_[reader * count + owner] = true;
        continue;
      }
      int can = 0;
      context.check(driver_.deviceCanAccessPeer(&can, context.device(), gpus_[owner].context.device()),
                    "cuDeviceCanAccessPeer");
      if (can == 0) continue;
      context.use();
      const auto enabled = driver_.ctxEnablePeerAccess(gpus_[owner].context.handle(), 0);
      if (enabled != cuda::errorPeerAccessAlreadyEnabled) context.check(enabled, "cuCtxEnablePeerAccess");
      access.push_back({{cuda::locationTypeDevice, context.device()}, cuda::accessReadWrite});
      peers_[reader * count + owner] = true;
    }
    if (access.empty()) continue;
    gpus_[owner].use();
    gpus_[owner].check(driver_.memPoolSetAccess(gpus_[owner].pool.get(), access.data(), access.size()),
                       "cuMemPoolSetAccess");
  }
}

Group::HostMemory Group::pinned(std::size_t byteLength, unsigned flags) const {
  return {gpus_[0].context, "cuMemHostAlloc",
          [&](void **memory) { return driver_.memHostAlloc(memory, byteLength, flags); }};
}

cuda::DevicePtr Group::allocate(std::size_t gpuIndex, std::size_t byteLength, bool zeroed) {
  const auto &gpu = gpus_.at(gpuIndex);
  try {
    cuda::Allocation allocation(gpu, byteLength);
    const auto address = allocation.address();
    if (zeroed) gpu.check(driver_.memsetD8Async(address, 0, byteLength, gpu.stream.get()), "cuMemsetD8Async");
    // Peers may use the address from here on, on streams that know nothing of this one.
    gpu.synchronize();
    allocations_.emplace(address, std::move(allocation));
    return address;
  } catch (const NativeError &error) {
    if (error.result != cuda::errorOutOfMemory) throw;
    throwOutOfMemory(gpu, error, "Device memory runs out: " + std::to_string(byteLength) + " bytes asked, ", "");
  }
}

void Group::free(cuda::DevicePtr address) { allocations_.erase(address); }

void Group::zero(std::size_t gpuIndex, cuda::DevicePtr address, std::size_t byteLength) {
  const auto &gpu = gpus_.at(gpuIndex);
  gpu.use();
  gpu.check(driver_.memsetD8Async(address, 0, byteLength, gpu.stream.get()), "cuMemsetD8Async");
  gpu.synchronize();
}

void Group::lockHost(void *address, std::size_t byteLength) {
  locked_[address] = {gpus_[0].context, "cuMemHostRegister", [&](void **locked) {
                        *locked = address;
                        return driver_.memHostRegister(address, byteLength, cuda::hostRegisterPortable);
                      }};
}

void Group::unlockHost(void *address) { locked_.erase(address); }

void Group::loadKernel(std::uint32_t id, std::size_t gpuIndex, const std::vector<std::uint8_t> &image,
                       const std::string &entry, int dynamicSharedByteLength) {
  try {
    kernels_.emplace(id, load(gpus_.at(gpuIndex), image, entry, dynamicSharedByteLength));
  } catch (const NativeError &error) {
    refusedKernels_.emplace(id, error);
    throw;
  }
}

Group::LoadedKernel Group::load(const cuda::Gpu &gpu, const std::vector<std::uint8_t> &image, const std::string &entry,
                                int dynamicSharedByteLength) const {
  // PTX is text and must end with a zero; a spare one after a cubin does no harm.
  auto terminated = image;
  terminated.push_back(0);
  std::vector<char> log(8192, '\0');
  int options[] = {cuda::jitErrorLogBuffer, cuda::jitErrorLogBufferSizeBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  LoadedKernel kernel{&gpu, {}, nullptr};
  try {
    kernel.module = {gpu.context, "cuModuleLoadDataEx", [&](cuda::Module *module) {
                       return driver_.moduleLoadDataEx(module, terminated.data(), 2, options, values);
                     }};
  } catch (const NativeError &error) {
    if (log[0] == '\0') throw;
    throw NativeError(error.code, std::string(error.what()) + " " + log.data(), error);
  }
  gpu.check(driver_.moduleGetFunction(&kernel.function, kernel.module.get(), entry.c_str()), "cuModuleGetFunction");
  // Above 48 KiB workgroup memory is dynamic and needs the opt-in.
  if (dynamicSharedByteLength > 0) {
    gpu.check(driver_.funcSetAttribute(kernel.function, cuda::functionMaxDynamicSharedSizeBytes, dynamicSharedByteLength),
              "cuFuncSetAttribute");
  }
  return kernel;
}

const Group::LoadedKernel &Group::kernelOf(std::uint32_t id) const {
  const auto found = kernels_.find(id);
  if (found != kernels_.end()) return found->second;
  const auto refused = refusedKernels_.find(id);
  if (refused != refusedKernels_.end()) throw refused->second;
  throw NativeError("driver", "The graph uses a kernel that is not loaded.");
}

void Group::unloadKernel(std::uint32_t id) {
  kernels_.erase(id);
  refusedKernels_.erase(id);
}

void Group::createGraph(std::uint32_t id, std::size_t mainGpu, const std::vector<double> &words) {
  const auto &gpu = gpus_.at(mainGpu);
  try {
    const auto graph = buildGraph(gpu, words);
    gpu.use();
    GraphExec exec(gpu.context, "cuGraphInstantiate",
                   [&](cuda::GraphExec *made) { return driver_.graphInstantiate(made, graph.get(), 0); });
    gpu.check(driver_.graphUpload(exec.get(), gpu.stream.get()), "cuGraphUpload");
    gpu.synchronize();
    graphs_.insert_or_assign(id, InstantiatedGraph{mainGpu, std::move(exec)});
  } catch (const NativeError &error) {
    if (error.result != cuda::errorOutOfMemory) throw;
    throwOutOfMemory(gpu, error, std::string(error.what()) + " The graph needs memory of the driver's own; ", "are ");
  }
}

void Group::destroyGraph(std::uint32_t id) { graphs_.erase(id); }

} // namespace tandem
