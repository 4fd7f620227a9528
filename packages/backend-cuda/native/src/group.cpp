#include "group.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstring>

namespace tandem {

namespace {

/// Modules of kernels that nobody uses hold memory of the driver's.
constexpr std::size_t mostUnused = 256;

/// Throws `out-of-memory` with the free memory of a GPU; `wanted` and `verb` begin the sentence.
[[noreturn]] void throwOutOfMemory(const cuda::Gpu &gpu, const NativeError &cause, const std::string &wanted,
                                   const std::string &verb) {
  std::size_t freeByteLength = 0;
  std::size_t totalByteLength = 0;
  gpu.context.driver().memGetInfo(&freeByteLength, &totalByteLength);
  throw NativeError("out-of-memory",
                    wanted + std::to_string(freeByteLength) + " bytes of " + std::to_string(totalByteLength) + " bytes " +
                        verb + "free on CUDA device " + std::to_string(gpu.context.ordinal()) + ".",
                    cause.result);
}

} // namespace

Group::Group(const cuda::Driver &driver, const std::vector<int> &ordinals, bool shareable,
             std::shared_ptr<cuda::ReleaseFailures> failures, std::function<bool()> stopping)
    : driver_(driver), failures_(std::move(failures)), stopping_(std::move(stopping)) {
  if (ordinals.empty()) throw NativeError("validation", "A group needs at least one CUDA device.");
  // Makes pauses of this thread, which executes everything, as short as requested, instead of 50 µs longer.
  prctl(PR_SET_TIMERSLACK, 1'000UL);
  for (const int ordinal : ordinals) gpus_.emplace_back(driver, ordinal, shareable, *failures_);
  openPeers();
  stopWord_ = pinned(sizeof(cuda::HostLeaveWord), cuda::hostAllocPortable | cuda::hostAllocMapped);
  for (const auto &gpu : gpus_) leaveWords_.emplace_back(gpu, *static_cast<cuda::HostLeaveWord *>(stopWord_.get()));
}

std::vector<cuda::DevicePtr> Group::leaveAddresses() const {
  std::vector<cuda::DevicePtr> addresses;
  for (const auto &word : leaveWords_) addresses.push_back(word.address());
  return addresses;
}

Group::~Group() {
  // Memory that the members free may be in use until the stream is idle.
  for (const auto &gpu : gpus_) gpu.context.release(driver_.streamSynchronize, gpu.stream.get());
}

void Group::openPeers() {
  const auto count = gpus_.size();
  peers_.assign(count * count, false);
  for (std::size_t owner = 0; owner < count; ++owner) {
    // cuCtxEnablePeerAccess does not cover pool memory: each pool grants access to every capable peer itself.
    std::vector<cuda::MemoryAccess> access;
    for (std::size_t reader = 0; reader < count; ++reader) {
      const auto &context = gpus_[reader].context;
      // A GPU may be listed twice, as two queues on one context: for testing synchronization without a second
      // GPU.
      if (context.device() == gpus_[owner].context.device()) {
        peers_[reader * count + owner] = true;
        continue;
      }
      int can = 0;
      context.call(driver_.deviceCanAccessPeer, &can, context.device(), gpus_[owner].context.device());
      if (can == 0) continue;
      context.use();
      const auto enabled = driver_.ctxEnablePeerAccess(gpus_[owner].context.handle(), 0);
      if (enabled != cuda::errorPeerAccessAlreadyEnabled) context.check(enabled, driver_.ctxEnablePeerAccess);
      access.push_back({{cuda::locationTypeDevice, context.device()}, cuda::accessReadWrite});
      peers_[reader * count + owner] = true;
    }
    if (access.empty()) continue;
    gpus_[owner].use();
    gpus_[owner].call(driver_.memPoolSetAccess, gpus_[owner].pool.get(), access.data(), access.size());
  }
}

cuda::HostMemory Group::pinned(std::size_t byteLength, unsigned flags) const {
  return {gpus_[0].context, driver_.memHostAlloc, byteLength, flags};
}

template <typename Work> auto Group::withMemory(Work work) {
  try {
    return work();
  } catch (const NativeError &error) {
    if (error.result != cuda::errorOutOfMemory) throw;
    const auto spare = hostBlocks_.takeAll();
    if (unused_.empty() && spare.empty()) throw;
    unused_.clear();
    for (const auto &block : spare) locked_.erase(block.pages.get());
  }
  return work();
}

cuda::DevicePtr Group::allocate(std::size_t gpuIndex, std::size_t byteLength, bool zeroed) {
  const auto &gpu = gpus_.at(gpuIndex);
  try {
    auto allocation = withMemory([&] { return cuda::Allocation(gpu, byteLength); });
    const auto address = allocation.address();
    if (zeroed) gpu.call(driver_.memsetD8Async, address, 0, byteLength, gpu.stream.get());
    // From here on, peers may use the address on streams that do not wait for this one.
    gpu.synchronize();
    allocations_.emplace(address, std::move(allocation));
    return address;
  } catch (const NativeError &error) {
    if (error.result != cuda::errorOutOfMemory) throw;
    throwOutOfMemory(gpu, error, "Device memory is exhausted: " + std::to_string(byteLength) + " bytes requested, ", "");
  }
}

void Group::zero(std::size_t gpuIndex, cuda::DevicePtr address, std::size_t byteLength) {
  const auto &gpu = gpus_.at(gpuIndex);
  gpu.use();
  gpu.call(driver_.memsetD8Async, address, 0, byteLength, gpu.stream.get());
  gpu.synchronize();
}

SharedMemory Group::exportMemory(cuda::DevicePtr address) {
  const auto &gpu = gpus_.front();
  gpu.use();
  cuda::IpcMemHandle handle{};
  gpu.call(driver_.ipcGetMemHandle, &handle, address);
  // Small allocations share a block, which the handle maps from its start.
  cuda::DevicePtr base = 0;
  std::size_t byteLength = 0;
  gpu.call(driver_.memGetAddressRange, &base, &byteLength, address);
  return {{std::begin(handle.reserved), std::end(handle.reserved)}, address - base};
}

std::shared_ptr<const DeviceMemory> Group::deviceMemory(cuda::DevicePtr address, std::size_t byteLength) {
  const auto &context = gpus_.front().context;
  if (!contextKept_) context.keep();
  contextKept_ = true;
  return std::make_shared<const DeviceMemory>(DeviceMemory{driver_, context.handle(), address, byteLength});
}

bool DeviceMemory::use(void *self) {
  const auto &memory = **static_cast<std::shared_ptr<const DeviceMemory> *>(self);
  return !cuda::contextsLost() && memory.driver.ctxSetCurrent(memory.context) == cuda::success;
}

cuda::DevicePtr Group::importMemory(std::size_t gpuIndex, const std::vector<std::uint8_t> &bytes) {
  cuda::IpcMemHandle handle{};
  if (bytes.size() != sizeof handle) throw NativeError("driver", "The handle of shared memory has the wrong length.");
  std::copy(bytes.begin(), bytes.end(), handle.reserved);
  cuda::ImportedMemory memory(gpus_.at(gpuIndex).context, driver_.ipcOpenMemHandle, handle, cuda::ipcLazyEnablePeerAccess);
  const auto address = memory.get();
  imported_.emplace(address, std::move(memory));
  return address;
}

void Group::closeMemory(cuda::DevicePtr address) {
  if (const auto found = imported_.find(address); found != imported_.end()) imported_.erase(found);
}

void Group::breakOff() {
  broken_.store(true);
  tell(Stop::broken);
}

void Group::lockHost(void *address, std::size_t byteLength) {
  const auto &context = gpus_[0].context;
  withMemory([&] {
    context.use();
    context.call(driver_.memHostRegister, address, byteLength, cuda::hostRegisterPortable);
  });
  locked_[address] = {context, address};
}

void Group::giveBack(const HostBlocks::Block &block) {
  if (locked_.count(block.pages.get()) == 0) return;
  std::memset(block.pages.get(), 0, block.byteLength);
  if (!hostBlocks_.keep(block)) unlockHost(block.pages.get());
}

void Group::loadKernel(std::uint32_t id, std::size_t gpuIndex, const std::vector<std::uint8_t> &image,
                       const std::string &entry, int dynamicSharedByteLength) {
  try {
    kernels_.emplace(id, withMemory([&] { return load(gpus_.at(gpuIndex), image, entry, dynamicSharedByteLength); }));
  } catch (const NativeError &error) {
    kernels_.emplace(id, error);
    throw;
  }
}

void Group::unloadKernel(std::uint32_t id) {
  const auto kernel = kernels_.extract(id);
  if (!kernel) return;
  if (auto *loaded = std::get_if<LoadedKernel>(&kernel.mapped())) unused_.push_back(std::move(loaded->module));
  if (unused_.size() > mostUnused) unused_.clear();
}

void Group::rest() { unused_.clear(); }

Group::LoadedKernel Group::load(const cuda::Gpu &gpu, const std::vector<std::uint8_t> &image, const std::string &entry,
                                int dynamicSharedByteLength) const {
  // PTX is text and must end with a zero; an extra one after a cubin is harmless.
  auto terminated = image;
  terminated.push_back(0);
  std::vector<char> log(8192, '\0');
  int options[] = {cuda::jitErrorLogBuffer, cuda::jitErrorLogBufferSizeBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
  LoadedKernel kernel{&gpu, {}, nullptr};
  try {
    kernel.module = {gpu.context, driver_.moduleLoadDataEx, terminated.data(), 2, options, values};
  } catch (const NativeError &error) {
    if (log[0] == '\0') throw;
    throw NativeError(error.code, std::string(error.what()) + " " + log.data(), error.result);
  }
  kernel.function = gpu.kernel(kernel.module.get(), entry, dynamicSharedByteLength);
  return kernel;
}

const Group::LoadedKernel &Group::kernelOf(std::uint32_t id) const {
  const auto found = kernels_.find(id);
  if (found == kernels_.end()) throw NativeError("driver", "The graph uses a kernel that is not loaded.");
  if (const auto *refusal = std::get_if<NativeError>(&found->second)) throw *refusal;
  return std::get<LoadedKernel>(found->second);
}

void Group::createGraph(std::uint32_t id, std::size_t mainGpu, const std::vector<double> &words) {
  const auto &gpu = gpus_.at(mainGpu);
  try {
    const auto graph = buildGraph(gpu, words);
    gpu.use();
    // Kernels have the lowest priority; NCCL's have that of the stream in which they are captured. Each of
    // NCCL's blocks needs all registers of a multiprocessor, which it would otherwise get only when no block
    // of the concurrent kernels is waiting any more.
    const auto flags = communicator_ ? cuda::graphUsesNodePriorities : 0;
    auto exec = withMemory([&] { return cuda::OwnedGraphExec(gpu.context, driver_.graphInstantiate, graph.get(), flags); });
    gpu.call(driver_.graphUpload, exec.get(), gpu.stream.get());
    gpu.synchronize();
    graphs_.insert_or_assign(id, InstantiatedGraph{mainGpu, std::move(exec)});
  } catch (const NativeError &error) {
    if (error.result != cuda::errorOutOfMemory) throw;
    throwOutOfMemory(gpu, error, std::string(error.what()) + " The graph needs memory of the driver's own; ", "are ");
  }
}

} // namespace tandem
