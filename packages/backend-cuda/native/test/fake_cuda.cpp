// A CUDA driver on host memory, for tests on machines without a GPU; with fake_nvrtc.cpp, fake_nvml.cpp and
// fake_nccl.h it makes one library. It refuses what the driver refuses: unknown addresses, memory of peers
// without access, freed modules. Unlike the driver, it also fails when a device's last user leaves something.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "fake_graphs.h"
#include "fake_injection.h"
#include "fake_ipc.h"
#include "fake_machine.h"
#include "fake_modules.h"
#include "fake_nccl.h"
#include "fake_signatures.h"

namespace {

/// The fake's own: a device is let go with something left on it, which `leakText` lists.
constexpr Result errorLeak = 998;
thread_local std::string leakText;

Result fInit(unsigned) { return deviceCount() == 0 ? errorNoDevice : 0; }
Result fDriverGetVersion(int *version) {
  *version = static_cast<int>(setting("FAKE_CUDA_VERSION", 13000));
  return 0;
}
Result fGetErrorName(Result error, const char **name) {
  switch (error) {
  case 1: *name = "CUDA_ERROR_INVALID_VALUE"; return 0;
  case 2: *name = "CUDA_ERROR_OUT_OF_MEMORY"; return 0;
  case 209: *name = "CUDA_ERROR_NO_BINARY_FOR_GPU"; return 0;
  case 700: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; return 0;
  case errorLeak: *name = "FAKE_ERROR_LEAK"; return 0;
  default: *name = "CUDA_ERROR_UNKNOWN"; return 0;
  }
}
Result fGetErrorString(Result error, const char **text) {
  *text = error == errorLeak ? leakText.c_str() : error == 700 ? "an illegal memory access was encountered" : error == 2 ? "out of memory" : "error of the fake driver";
  return 0;
}
Result fDeviceGetCount(int *count) {
  *count = deviceCount();
  return 0;
}
Result fDeviceGet(Device *device, int ordinal) {
  if (ordinal < 0 || ordinal >= deviceCount()) return 101;
  *device = ordinal;
  return 0;
}
Result fDeviceGetName(char *name, int length, Device device) {
  std::snprintf(name, static_cast<std::size_t>(length), "Fake GPU %d", device);
  return 0;
}
Result fDeviceGetUuid(Uuid *uuid, Device device) {
  for (int index = 0; index < 16; ++index) uuid->bytes[index] = static_cast<unsigned char>(0xa0 + device);
  return 0;
}
Result fDeviceTotalMem(std::size_t *bytes, Device) {
  *bytes = deviceMemory();
  return 0;
}
Result fDeviceGetAttribute(int *value, int attribute, Device) {
  static const auto &values = *new std::map<int, int>{{1, 1024}, {2, 1024}, {3, 1024}, {4, 64},  {8, 49152}, {10, 32}, {11, 2147483647},
                                            {16, 4},   {38, 1 << 20}, {39, 2048}, {75, 9}, {76, 0}, {97, 232448}, {115, 1}};
  const auto found = values.find(attribute);
  if (found == values.end()) return errorInvalidValue;
  *value = found->second;
  return 0;
}
Result fDeviceGetPciBusId(char *text, int length, Device device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", 0x1b + device);
  return 0;
}
Result fDeviceCanAccessPeer(int *can, Device reader, Device owner) {
  *can = reader != owner && peersAllowed() ? 1 : 0;
  return 0;
}
Result fDevicePrimaryCtxRetain(ContextHandle *context, Device device) {
  STICKY;
  contexts[device].device = device;
  *context = reinterpret_cast<ContextHandle>(&contexts[device]);
  std::lock_guard lock(stateMutex);
  ++retained[device];
  return 0;
}
Result fDevicePrimaryCtxRelease(Device device) {
  {
    std::lock_guard lock(stateMutex);
    if (--retained[device] > 0) return 0;
  }
  leakText = leftOn(device);
  // A call that was made to fail may have kept what it was to take back.
  return leakText.empty() || failuresInjected().load() || sticky.load() != 0 ? 0 : errorLeak;
}
Result fCtxSetCurrent(ContextHandle context) {
  currentContext = reinterpret_cast<FakeContext *>(context);
  return sticky.load();
}
Result fCtxEnablePeerAccess(ContextHandle, unsigned) { return 0; }
Result fMemGetInfo(std::size_t *freeBytes, std::size_t *totalBytes) {
  std::lock_guard lock(stateMutex);
  *totalBytes = deviceMemory();
  *freeBytes = deviceMemory() - usedBytes[currentContext->device];
  return 0;
}
Result fMemPoolCreate(MemoryPool *pool, const MemoryPoolProperties *properties) {
  *pool = reinterpret_cast<MemoryPool>(new FakePool{properties->location.id, {}});
  count(properties->location.id, "pool", 1);
  return 0;
}
Result fMemPoolDestroy(MemoryPool pool) {
  count(reinterpret_cast<FakePool *>(pool)->device, "pool", -1);
  delete reinterpret_cast<FakePool *>(pool);
  return 0;
}
Result fMemPoolSetAttribute(MemoryPool, int, void *) { return 0; }
Result fMemPoolSetAccess(MemoryPool pool, const MemoryAccess *map, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) reinterpret_cast<FakePool *>(pool)->readers.insert(map[index].location.id);
  return 0;
}
Result fMemPoolTrimTo(MemoryPool, std::size_t) { return 0; }
Result fMemAllocFromPoolAsync(DevicePtr *address, std::size_t bytes, MemoryPool pool, Stream) {
  STICKY;
  std::lock_guard lock(stateMutex);
  auto *owner = reinterpret_cast<FakePool *>(pool);
  if (usedBytes[owner->device] + bytes > deviceMemory()) return errorOutOfMemory;
  usedBytes[owner->device] += bytes;
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (memory == nullptr) {
    usedBytes[owner->device] -= bytes;
    return errorOutOfMemory;
  }
  // Contents are undefined; large blocks stay untouched, so that tests can have more than the machine.
  if (bytes <= std::size_t{64} << 20) std::memset(memory, 0xcd, bytes);
  blocks[reinterpret_cast<std::uintptr_t>(memory)] = {bytes, owner->device, owner};
  *address = reinterpret_cast<DevicePtr>(memory);
  return 0;
}
Result fMemFreeAsync(DevicePtr address, Stream stream) {
  fake(stream)->drain();
  std::lock_guard lock(stateMutex);
  const auto found = blocks.find(address);
  if (found == blocks.end()) return errorInvalidValue;
  usedBytes[found->second.device] -= found->second.byteLength;
  blocks.erase(found);
  std::free(reinterpret_cast<void *>(address));
  return 0;
}
Result fMemHostAlloc(void **address, std::size_t bytes, unsigned) {
  *address = std::malloc(bytes);
  if (*address == nullptr) return errorOutOfMemory;
  std::lock_guard lock(stateMutex);
  blocks[reinterpret_cast<std::uintptr_t>(*address)] = {bytes, -1, nullptr};
  return 0;
}
Result fMemFreeHost(void *address) {
  drainDevice(currentContext->device);
  std::lock_guard lock(stateMutex);
  blocks.erase(reinterpret_cast<std::uintptr_t>(address));
  std::free(address);
  return 0;
}
Result fMemHostRegister(void *address, std::size_t bytes, unsigned) {
  STICKY;
  std::lock_guard lock(stateMutex);
  blocks[reinterpret_cast<std::uintptr_t>(address)] = {bytes, -1, nullptr};
  return 0;
}
Result fMemHostUnregister(void *address) {
  drainDevice(currentContext->device);
  std::lock_guard lock(stateMutex);
  return blocks.erase(reinterpret_cast<std::uintptr_t>(address)) == 1 ? 0 : 713;
}
/// What dense copies between host and device take at least.
void takeCopyTime() { std::this_thread::sleep_for(std::chrono::milliseconds(setting("FAKE_CUDA_COPY_MS", 0))); }
Result fMemcpyHtoDAsync(DevicePtr target, const void *source, std::size_t bytes, Stream stream) {
  STICKY;
  const int device = currentContext->device;
  if (const auto bad = checkRange(device, reinterpret_cast<void *>(target), bytes)) return errorInvalidValue + 0 * bad;
  fake(stream)->push([=] {
    takeCopyTime();
    fail(copyRows(device, static_cast<const char *>(source), 0, reinterpret_cast<char *>(target), 0, bytes, 1, false, true));
  });
  return 0;
}
Result fMemcpyDtoHAsync(void *target, DevicePtr source, std::size_t bytes, Stream stream) {
  STICKY;
  const int device = currentContext->device;
  fake(stream)->push([=] {
    takeCopyTime();
    fail(copyRows(device, reinterpret_cast<const char *>(source), 0, static_cast<char *>(target), 0, bytes, 1, true, false));
  });
  return 0;
}
Result fMemcpy3DAsync(const Memcpy3D *copy, Stream stream) {
  STICKY;
  if (std::max(copy->srcPitch, copy->dstPitch) > 2147483647) return errorInvalidValue;
  const int device = currentContext->device;
  fake(stream)->push([device, copy = *copy] {
    const bool fromHost = copy.srcMemoryType == memoryTypeHost;
    const bool toHost = copy.dstMemoryType == memoryTypeHost;
    fail(copyRows(device, fromHost ? static_cast<const char *>(copy.srcHost) : reinterpret_cast<const char *>(copy.srcDevice),
                  copy.srcPitch, toHost ? static_cast<char *>(copy.dstHost) : reinterpret_cast<char *>(copy.dstDevice),
                  copy.dstPitch, copy.widthInBytes, copy.height, !fromHost, !toHost));
  });
  return 0;
}
/// Between memory of the device and page-locked memory, either way.
Result fMemcpyAsync(DevicePtr target, DevicePtr source, std::size_t bytes, Stream stream) {
  STICKY;
  const int device = currentContext->device;
  for (const auto address : {target, source})
    if (checkRange(device, reinterpret_cast<void *>(address), bytes) != 0) return errorInvalidValue;
  fake(stream)->push([=] {
    takeCopyTime();
    fail(copyRows(device, reinterpret_cast<const char *>(source), 0, reinterpret_cast<char *>(target), 0, bytes, 1, true, true));
  });
  return 0;
}
Result fMemsetD8Async(DevicePtr target, unsigned char value, std::size_t count, Stream stream) {
  STICKY;
  fake(stream)->push([=] { std::memset(reinterpret_cast<void *>(target), value, count); });
  return 0;
}
Result fStreamCreate(Stream *stream, unsigned, int priority) {
  auto *created = new FakeStream();
  created->priority = std::clamp(priority, greatestPriority, 0);
  created->device = created->progress->device = currentContext->device;
  count(created->device, "stream", 1);
  {
    std::lock_guard lock(stateMutex);
    allProgress.insert(created->progress);
  }
  *stream = reinterpret_cast<Stream>(created);
  return 0;
}
Result fStreamDestroy(Stream stream) {
  auto *gone = fake(stream);
  {
    std::lock_guard lock(gone->mutex);
    gone->stop = true;
    gone->changed.notify_all();
  }
  gone->thread.join();
  {
    std::lock_guard lock(stateMutex);
    allProgress.erase(gone->progress);
  }
  count(gone->device, "stream", -1);
  delete gone;
  return 0;
}
Result fStreamSynchronize(Stream stream) {
  fake(stream)->drain();
  return sticky.load();
}
Result fStreamWaitEvent(Stream stream, Event event, unsigned) {
  auto *awaited = reinterpret_cast<FakeEvent *>(event);
  std::uint64_t number;
  {
    std::lock_guard lock(awaited->mutex);
    number = awaited->recorded;
  }
  fake(stream)->push([=] {
    std::unique_lock lock(awaited->mutex);
    awaited->reached.wait(lock, [=] { return awaited->completed >= number; });
  });
  return 0;
}
Result fEventCreate(Event *event, unsigned) {
  *event = reinterpret_cast<Event>(new FakeEvent{currentContext->device});
  count(currentContext->device, "event", 1);
  return 0;
}
// The memory of events leaks: streams may still refer to them, as the driver allows.
Result fEventDestroy(Event event) {
  count(reinterpret_cast<FakeEvent *>(event)->device, "event", -1);
  return 0;
}
Result fEventRecord(Event event, Stream stream) {
  auto *recorded = reinterpret_cast<FakeEvent *>(event);
  std::uint64_t number;
  {
    std::lock_guard lock(recorded->mutex);
    number = ++recorded->recorded;
  }
  fake(stream)->push([=] {
    std::lock_guard lock(recorded->mutex);
    recorded->completed = number;
    recorded->time = nanoseconds();
    recorded->reached.notify_all();
  });
  return 0;
}
Result fEventQuery(Event event) {
  STICKY;
  auto *asked = reinterpret_cast<FakeEvent *>(event);
  std::lock_guard lock(asked->mutex);
  return asked->completed >= asked->recorded ? 0 : errorNotReady;
}
Result fEventSynchronize(Event event) {
  auto *asked = reinterpret_cast<FakeEvent *>(event);
  std::unique_lock lock(asked->mutex);
  const auto number = asked->recorded;
  asked->reached.wait(lock, [=] { return asked->completed >= number; });
  return sticky.load();
}
Result fEventElapsedTime(float *milliseconds, Event start, Event end) {
  *milliseconds = static_cast<float>(reinterpret_cast<FakeEvent *>(end)->time - reinterpret_cast<FakeEvent *>(start)->time) / 1e6f;
  return 0;
}
/// A function of the driver behind the failures that are asked for. Faults stick, as the driver's do.
template <int Number, typename Function> struct Injectable;
template <int Number, typename... Arguments> struct Injectable<Number, Result (*)(Arguments...)> {
  inline static const char *symbol = nullptr;
  inline static Result (*real)(Arguments...) = nullptr;
  static Result call(Arguments... arguments) {
    if (deinitialized.load()) return errorDeinitialized;
    const int failure = injectedFailure(symbol);
    if (failure >= 700 && failure < 720 && failure != errorPeerAccessAlreadyEnabled && failure != 701) fail(failure);
    return failure != 0 ? failure : real(arguments...);
  }
};
template <int Number, typename Function> void *injectable(const char *symbol, Function real) {
  Injectable<Number, Function>::symbol = symbol;
  Injectable<Number, Function>::real = real;
  return reinterpret_cast<void *>(&Injectable<Number, Function>::call);
}

const std::map<std::string, void *> &symbols() {
  static const std::map<std::string, void *> table = {
      {"cuInit", injectable<__COUNTER__>("cuInit", fInit)},
      {"cuGetErrorName", injectable<__COUNTER__>("cuGetErrorName", fGetErrorName)},
      {"cuGetErrorString", injectable<__COUNTER__>("cuGetErrorString", fGetErrorString)},
      {"cuDeviceGetCount", injectable<__COUNTER__>("cuDeviceGetCount", fDeviceGetCount)},
      {"cuDeviceGet", injectable<__COUNTER__>("cuDeviceGet", fDeviceGet)},
      {"cuDeviceGetName", injectable<__COUNTER__>("cuDeviceGetName", fDeviceGetName)},
      {"cuDeviceGetUuid", injectable<__COUNTER__>("cuDeviceGetUuid", fDeviceGetUuid)},
      {"cuDeviceTotalMem", injectable<__COUNTER__>("cuDeviceTotalMem", fDeviceTotalMem)},
      {"cuDeviceGetAttribute", injectable<__COUNTER__>("cuDeviceGetAttribute", fDeviceGetAttribute)},
      {"cuDeviceGetPCIBusId", injectable<__COUNTER__>("cuDeviceGetPCIBusId", fDeviceGetPciBusId)},
      {"cuDeviceCanAccessPeer", injectable<__COUNTER__>("cuDeviceCanAccessPeer", fDeviceCanAccessPeer)},
      {"cuDevicePrimaryCtxRetain", injectable<__COUNTER__>("cuDevicePrimaryCtxRetain", fDevicePrimaryCtxRetain)},
      {"cuDevicePrimaryCtxRelease", injectable<__COUNTER__>("cuDevicePrimaryCtxRelease", fDevicePrimaryCtxRelease)},
      {"cuCtxSetCurrent", injectable<__COUNTER__>("cuCtxSetCurrent", fCtxSetCurrent)},
      {"cuCtxEnablePeerAccess", injectable<__COUNTER__>("cuCtxEnablePeerAccess", fCtxEnablePeerAccess)},
      {"cuMemGetInfo", injectable<__COUNTER__>("cuMemGetInfo", fMemGetInfo)},
      {"cuMemPoolCreate", injectable<__COUNTER__>("cuMemPoolCreate", fMemPoolCreate)},
      {"cuMemPoolDestroy", injectable<__COUNTER__>("cuMemPoolDestroy", fMemPoolDestroy)},
      {"cuMemPoolSetAttribute", injectable<__COUNTER__>("cuMemPoolSetAttribute", fMemPoolSetAttribute)},
      {"cuMemPoolSetAccess", injectable<__COUNTER__>("cuMemPoolSetAccess", fMemPoolSetAccess)},
      {"cuMemPoolTrimTo", injectable<__COUNTER__>("cuMemPoolTrimTo", fMemPoolTrimTo)},
      {"cuMemAllocFromPoolAsync", injectable<__COUNTER__>("cuMemAllocFromPoolAsync", fMemAllocFromPoolAsync)},
      {"cuMemFreeAsync", injectable<__COUNTER__>("cuMemFreeAsync", fMemFreeAsync)},
      {"cuMemAlloc", injectable<__COUNTER__>("cuMemAlloc", fMemAlloc)},
      {"cuMemFree", injectable<__COUNTER__>("cuMemFree", fMemFree)},
      {"cuMemGetAddressRange", injectable<__COUNTER__>("cuMemGetAddressRange", fMemGetAddressRange)},
      {"cuIpcGetMemHandle", injectable<__COUNTER__>("cuIpcGetMemHandle", fIpcGetMemHandle)},
      {"cuIpcOpenMemHandle", injectable<__COUNTER__>("cuIpcOpenMemHandle", fIpcOpenMemHandle)},
      {"cuIpcCloseMemHandle", injectable<__COUNTER__>("cuIpcCloseMemHandle", fIpcCloseMemHandle)},
      {"cuMemHostAlloc", injectable<__COUNTER__>("cuMemHostAlloc", fMemHostAlloc)},
      {"cuMemFreeHost", injectable<__COUNTER__>("cuMemFreeHost", fMemFreeHost)},
      {"cuMemHostRegister", injectable<__COUNTER__>("cuMemHostRegister", fMemHostRegister)},
      {"cuMemHostUnregister", injectable<__COUNTER__>("cuMemHostUnregister", fMemHostUnregister)},
      {"cuMemcpyHtoDAsync", injectable<__COUNTER__>("cuMemcpyHtoDAsync", fMemcpyHtoDAsync)},
      {"cuMemcpyDtoHAsync", injectable<__COUNTER__>("cuMemcpyDtoHAsync", fMemcpyDtoHAsync)},
      {"cuMemcpy3DAsync", injectable<__COUNTER__>("cuMemcpy3DAsync", fMemcpy3DAsync)},
      {"cuMemcpyAsync", injectable<__COUNTER__>("cuMemcpyAsync", fMemcpyAsync)},
      {"cuLaunchKernel", injectable<__COUNTER__>("cuLaunchKernel", fLaunchKernel)},
      {"cuMemsetD8Async", injectable<__COUNTER__>("cuMemsetD8Async", fMemsetD8Async)},
      {"cuStreamCreateWithPriority", injectable<__COUNTER__>("cuStreamCreateWithPriority", fStreamCreate)},
      {"cuStreamDestroy", injectable<__COUNTER__>("cuStreamDestroy", fStreamDestroy)},
      {"cuStreamSynchronize", injectable<__COUNTER__>("cuStreamSynchronize", fStreamSynchronize)},
      {"cuStreamWaitEvent", injectable<__COUNTER__>("cuStreamWaitEvent", fStreamWaitEvent)},
      {"cuStreamBeginCapture", injectable<__COUNTER__>("cuStreamBeginCapture", fStreamBeginCapture)},
      {"cuStreamEndCapture", injectable<__COUNTER__>("cuStreamEndCapture", fStreamEndCapture)},
      {"cuEventCreate", injectable<__COUNTER__>("cuEventCreate", fEventCreate)},
      {"cuEventDestroy", injectable<__COUNTER__>("cuEventDestroy", fEventDestroy)},
      {"cuEventRecord", injectable<__COUNTER__>("cuEventRecord", fEventRecord)},
      {"cuEventQuery", injectable<__COUNTER__>("cuEventQuery", fEventQuery)},
      {"cuEventSynchronize", injectable<__COUNTER__>("cuEventSynchronize", fEventSynchronize)},
      {"cuEventElapsedTime", injectable<__COUNTER__>("cuEventElapsedTime", fEventElapsedTime)},
      {"cuModuleLoadDataEx", injectable<__COUNTER__>("cuModuleLoadDataEx", fModuleLoadDataEx)},
      {"cuModuleUnload", injectable<__COUNTER__>("cuModuleUnload", fModuleUnload)},
      {"cuModuleGetFunction", injectable<__COUNTER__>("cuModuleGetFunction", fModuleGetFunction)},
      {"cuFuncGetAttribute", injectable<__COUNTER__>("cuFuncGetAttribute", fFuncGetAttribute)},
      {"cuFuncSetAttribute", injectable<__COUNTER__>("cuFuncSetAttribute", fFuncSetAttribute)},
      {"cuGraphCreate", injectable<__COUNTER__>("cuGraphCreate", fGraphCreate)},
      {"cuGraphDestroy", injectable<__COUNTER__>("cuGraphDestroy", fGraphDestroy)},
      {"cuGraphAddKernelNode", injectable<__COUNTER__>("cuGraphAddKernelNode", fGraphAddKernelNode)},
      {"cuGraphAddMemcpyNode", injectable<__COUNTER__>("cuGraphAddMemcpyNode", fGraphAddMemcpyNode)},
      {"cuGraphAddMemsetNode", injectable<__COUNTER__>("cuGraphAddMemsetNode", fGraphAddMemsetNode)},
      {"cuGraphAddChildGraphNode", injectable<__COUNTER__>("cuGraphAddChildGraphNode", fGraphAddChildGraphNode)},
      {"cuGraphInstantiateWithFlags", injectable<__COUNTER__>("cuGraphInstantiateWithFlags", fGraphInstantiate)},
      {"cuGraphUpload", injectable<__COUNTER__>("cuGraphUpload", fGraphUpload)},
      {"cuGraphLaunch", injectable<__COUNTER__>("cuGraphLaunch", fGraphLaunch)},
      {"cuGraphExecDestroy", injectable<__COUNTER__>("cuGraphExecDestroy", fGraphExecDestroy)},
  };
  return table;
}

} // namespace

EXPORT Result cuDriverGetVersion(int *version) {
  INJECTED("cuDriverGetVersion");
  return fDriverGetVersion(version);
}
EXPORT Result cuGetProcAddress_v2(const char *symbol, void **function, int, std::uint64_t, int *status) {
  INJECTED("cuGetProcAddress_v2");
  const auto found = symbols().find(symbol);
  *function = found == symbols().end() ? nullptr : found->second;
  *status = *function == nullptr ? 1 : 0;
  return *function == nullptr ? 500 : 0;
}
