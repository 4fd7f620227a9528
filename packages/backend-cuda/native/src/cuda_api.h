// The part of the CUDA driver API that Tandem calls: our own minimal declarations, so that no toolkit is
// needed to build. Names, layouts and values are those of the driver's documented ABI;
// `native/test/abi_check.cpp` compares them with cuda.h where a toolkit is present.
#pragma once
#include <cstddef>
#include <cstdint>

#include "imports.h"

namespace tandem::cuda {

using Result = int;
using Device = int;
using DevicePtr = unsigned long long;
using ContextHandle = struct CUctx_st *;
using Module = struct CUmod_st *;
using Function = struct CUfunc_st *;
using Stream = struct CUstream_st *;
using Event = struct CUevent_st *;
using Graph = struct CUgraph_st *;
using GraphNode = struct CUgraphNode_st *;
using GraphExec = struct CUgraphExec_st *;
using MemoryPool = struct CUmemPoolHandle_st *;

constexpr Result success = 0;
constexpr Result errorInvalidValue = 1;
constexpr Result errorOutOfMemory = 2;
constexpr Result errorNoDevice = 100;
constexpr Result errorInvalidContext = 201;
constexpr Result errorNotReady = 600;
constexpr Result errorPeerAccessAlreadyEnabled = 704;

enum DeviceAttribute : int {
  maxThreadsPerBlock = 1,
  maxBlockDimX = 2,
  maxBlockDimY = 3,
  maxBlockDimZ = 4,
  warpSize = 10,
  multiprocessorCount = 16,
  maxThreadsPerMultiprocessor = 39,
  computeCapabilityMajor = 75,
  computeCapabilityMinor = 76,
  maxSharedMemoryPerBlockOptin = 97,
};

enum FunctionAttribute : int {
  functionLocalSizeBytes = 3,
  functionMaxDynamicSharedSizeBytes = 8,
};

constexpr unsigned streamNonBlocking = 1;
constexpr int streamCaptureModeThreadLocal = 1;
constexpr unsigned eventDisableTiming = 2;
constexpr unsigned long long graphUsesNodePriorities = 8;
constexpr unsigned hostAllocPortable = 1;
constexpr unsigned hostAllocMapped = 2;
constexpr unsigned hostRegisterPortable = 1;
constexpr unsigned ipcLazyEnablePeerAccess = 1;
constexpr int memoryTypeHost = 1;
constexpr int memoryTypeDevice = 2;
constexpr int memoryPoolReleaseThreshold = 4;
constexpr int allocationTypePinned = 1;
constexpr int locationTypeDevice = 1;
constexpr int accessReadWrite = 3;
constexpr int jitErrorLogBuffer = 5;
constexpr int jitErrorLogBufferSizeBytes = 6;

struct Uuid {
  unsigned char bytes[16];
};

/// Identifies device memory to other processes.
struct IpcMemHandle {
  unsigned char reserved[64];
};

struct MemoryLocation {
  int type;
  int id;
};

struct MemoryAccess {
  MemoryLocation location;
  int flags;
};

struct MemoryPoolProperties {
  int allocType;
  int handleTypes;
  MemoryLocation location;
  void *win32SecurityAttributes;
  std::size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};

struct KernelNodeParams {
  Function func;
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void **kernelParams;
  void **extra;
  void *kern;
  ContextHandle ctx;
};

struct MemsetNodeParams {
  DevicePtr dst;
  std::size_t pitch;
  unsigned value;
  unsigned elementSize;
  std::size_t width;
  std::size_t height;
};

struct Memcpy3D {
  std::size_t srcXInBytes, srcY, srcZ, srcLOD;
  int srcMemoryType;
  const void *srcHost;
  DevicePtr srcDevice;
  void *srcArray;
  void *reserved0;
  std::size_t srcPitch, srcHeight;
  std::size_t dstXInBytes, dstY, dstZ, dstLOD;
  int dstMemoryType;
  void *dstHost;
  DevicePtr dstDevice;
  void *dstArray;
  void *reserved1;
  std::size_t dstPitch, dstHeight;
  std::size_t widthInBytes, height, depth;
};

/// The resolved driver: every function is available once `loadDriver` has returned. Each has the API version
/// whose ABI is declared here. A bare dlsym would return the oldest version (32-bit sizes for cuMemAlloc), so
/// every symbol is resolved by cuGetProcAddress.
struct Driver : ImportTable {
  Import<Result(unsigned flags)> init{this, "cuInit", 2000};
  Import<Result(Result error, const char **name)> getErrorName{this, "cuGetErrorName", 6000};
  Import<Result(Result error, const char **text)> getErrorString{this, "cuGetErrorString", 6000};
  Import<Result(int *count)> deviceGetCount{this, "cuDeviceGetCount", 2000};
  Import<Result(Device *device, int ordinal)> deviceGet{this, "cuDeviceGet", 2000};
  Import<Result(char *name, int length, Device device)> deviceGetName{this, "cuDeviceGetName", 2000};
  Import<Result(Uuid *uuid, Device device)> deviceGetUuid{this, "cuDeviceGetUuid", 11040};
  Import<Result(std::size_t *bytes, Device device)> deviceTotalMem{this, "cuDeviceTotalMem", 3020};
  Import<Result(int *value, int attribute, Device device)> deviceGetAttribute{this, "cuDeviceGetAttribute", 2000};
  Import<Result(char *text, int length, Device device)> deviceGetPciBusId{this, "cuDeviceGetPCIBusId", 4010};
  Import<Result(int *can, Device reader, Device owner)> deviceCanAccessPeer{this, "cuDeviceCanAccessPeer", 4000};
  Import<Result(ContextHandle *context, Device device)> devicePrimaryCtxRetain{this, "cuDevicePrimaryCtxRetain", 7000};
  Import<Result(Device device)> devicePrimaryCtxRelease{this, "cuDevicePrimaryCtxRelease", 11000};
  Import<Result(ContextHandle context)> ctxSetCurrent{this, "cuCtxSetCurrent", 4000};
  Import<Result(ContextHandle peer, unsigned flags)> ctxEnablePeerAccess{this, "cuCtxEnablePeerAccess", 4000};
  Import<Result(std::size_t *freeBytes, std::size_t *totalBytes)> memGetInfo{this, "cuMemGetInfo", 3020};
  Import<Result(MemoryPool *pool, const MemoryPoolProperties *properties)> memPoolCreate{this, "cuMemPoolCreate", 11020};
  Import<Result(MemoryPool pool)> memPoolDestroy{this, "cuMemPoolDestroy", 11020};
  Import<Result(MemoryPool pool, int attribute, void *value)> memPoolSetAttribute{this, "cuMemPoolSetAttribute", 11020};
  Import<Result(MemoryPool pool, const MemoryAccess *map, std::size_t count)>
      memPoolSetAccess{this, "cuMemPoolSetAccess", 11020};
  Import<Result(MemoryPool pool, std::size_t keepBytes)> memPoolTrimTo{this, "cuMemPoolTrimTo", 11020};
  Import<Result(DevicePtr *address, std::size_t bytes, MemoryPool pool, Stream stream)>
      memAllocFromPoolAsync{this, "cuMemAllocFromPoolAsync", 11020};
  Import<Result(DevicePtr address, Stream stream)> memFreeAsync{this, "cuMemFreeAsync", 11020};
  Import<Result(DevicePtr *address, std::size_t bytes)> memAlloc{this, "cuMemAlloc", 3020};
  Import<Result(DevicePtr address)> memFree{this, "cuMemFree", 3020};
  Import<Result(DevicePtr *base, std::size_t *bytes, DevicePtr address)> memGetAddressRange{this, "cuMemGetAddressRange", 3020};
  Import<Result(IpcMemHandle *handle, DevicePtr address)> ipcGetMemHandle{this, "cuIpcGetMemHandle", 4010};
  Import<Result(DevicePtr *address, IpcMemHandle handle, unsigned flags)>
      ipcOpenMemHandle{this, "cuIpcOpenMemHandle", 11000};
  Import<Result(DevicePtr address)> ipcCloseMemHandle{this, "cuIpcCloseMemHandle", 4010};
  Import<Result(void **address, std::size_t bytes, unsigned flags)> memHostAlloc{this, "cuMemHostAlloc", 2020};
  Import<Result(void *address)> memFreeHost{this, "cuMemFreeHost", 2000};
  Import<Result(void *address, std::size_t bytes, unsigned flags)> memHostRegister{this, "cuMemHostRegister", 6050};
  Import<Result(void *address)> memHostUnregister{this, "cuMemHostUnregister", 4000};
  Import<Result(DevicePtr target, const void *source, std::size_t bytes, Stream stream)>
      memcpyHtoDAsync{this, "cuMemcpyHtoDAsync", 3020};
  Import<Result(void *target, DevicePtr source, std::size_t bytes, Stream stream)>
      memcpyDtoHAsync{this, "cuMemcpyDtoHAsync", 3020};
  /// Device memory and page-locked host memory, by address.
  Import<Result(DevicePtr target, DevicePtr source, std::size_t bytes, Stream stream)> memcpyAsync{this, "cuMemcpyAsync", 4000};
  Import<Result(const Memcpy3D *copy, Stream stream)> memcpy3DAsync{this, "cuMemcpy3DAsync", 3020};
  Import<Result(DevicePtr target, unsigned char value, std::size_t count, Stream stream)>
      memsetD8Async{this, "cuMemsetD8Async", 3020};
  Import<Result(Stream *stream, unsigned flags, int priority)> streamCreate{this, "cuStreamCreateWithPriority", 5050};
  Import<Result(Stream stream)> streamDestroy{this, "cuStreamDestroy", 4000};
  Import<Result(Stream stream)> streamSynchronize{this, "cuStreamSynchronize", 2000};
  Import<Result(Stream stream, Event event, unsigned flags)> streamWaitEvent{this, "cuStreamWaitEvent", 3020};
  Import<Result(Stream stream, int mode)> streamBeginCapture{this, "cuStreamBeginCapture", 10010};
  Import<Result(Stream stream, Graph *graph)> streamEndCapture{this, "cuStreamEndCapture", 10000};
  Import<Result(Event *event, unsigned flags)> eventCreate{this, "cuEventCreate", 2000};
  Import<Result(Event event)> eventDestroy{this, "cuEventDestroy", 4000};
  Import<Result(Event event, Stream stream)> eventRecord{this, "cuEventRecord", 2000};
  Import<Result(Event event)> eventQuery{this, "cuEventQuery", 2000};
  Import<Result(Event event)> eventSynchronize{this, "cuEventSynchronize", 2000};
  Import<Result(float *milliseconds, Event start, Event end)> eventElapsedTime{this, "cuEventElapsedTime", 2000};
  Import<Result(Module *module, const void *image, unsigned optionCount, int *options, void **optionValues)>
      moduleLoadDataEx{this, "cuModuleLoadDataEx", 2010};
  Import<Result(Module module)> moduleUnload{this, "cuModuleUnload", 2000};
  Import<Result(Function *function, Module module, const char *name)> moduleGetFunction{this, "cuModuleGetFunction", 2000};
  Import<Result(int *value, int attribute, Function function)> funcGetAttribute{this, "cuFuncGetAttribute", 2020};
  Import<Result(Function function, int attribute, int value)> funcSetAttribute{this, "cuFuncSetAttribute", 9000};
  Import<Result(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                unsigned blockZ, unsigned sharedBytes, Stream stream, void **parameters, void **extra)>
      launchKernel{this, "cuLaunchKernel", 4000};
  Import<Result(Graph *graph, unsigned flags)> graphCreate{this, "cuGraphCreate", 10000};
  Import<Result(Graph graph)> graphDestroy{this, "cuGraphDestroy", 10000};
  Import<Result(GraphNode *node, Graph graph, const GraphNode *after, std::size_t afterCount, const KernelNodeParams *params)>
      graphAddKernelNode{this, "cuGraphAddKernelNode", 12000};
  Import<Result(GraphNode *node, Graph graph, const GraphNode *after, std::size_t afterCount, const Memcpy3D *params,
                ContextHandle context)>
      graphAddMemcpyNode{this, "cuGraphAddMemcpyNode", 10000};
  Import<Result(GraphNode *node, Graph graph, const GraphNode *after, std::size_t afterCount,
                const MemsetNodeParams *params, ContextHandle context)>
      graphAddMemsetNode{this, "cuGraphAddMemsetNode", 10000};
  Import<Result(GraphNode *node, Graph graph, const GraphNode *after, std::size_t afterCount, Graph child)>
      graphAddChildGraphNode{this, "cuGraphAddChildGraphNode", 10000};
  Import<Result(GraphExec *exec, Graph graph, unsigned long long flags)>
      graphInstantiate{this, "cuGraphInstantiateWithFlags", 11040};
  Import<Result(GraphExec exec, Stream stream)> graphUpload{this, "cuGraphUpload", 11010};
  Import<Result(GraphExec exec, Stream stream)> graphLaunch{this, "cuGraphLaunch", 10000};
  Import<Result(GraphExec exec)> graphExecDestroy{this, "cuGraphExecDestroy", 10000};
  /// As cuDriverGetVersion reports it: 13000 for CUDA 13.0.
  int version = 0;
};

/// The oldest driver API with every call above (kernel nodes with a context, 12.0; driver 525).
constexpr int oldestDriverVersion = 12000;

} // namespace tandem::cuda
