// The part of the CUDA driver API that Tandem calls: our own minimal declarations, so that no toolkit is needed to build.
// Names, layouts and values are those of the driver's documented ABI; `native/test/abi_check.cpp` compares them with cuda.h where a toolkit is present.
#pragma once
#include <cstddef>
#include <cstdint>

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
constexpr Result errorNotReady = 600;
constexpr Result errorPeerAccessAlreadyEnabled = 704;

enum DeviceAttribute : int {
  maxThreadsPerBlock = 1,
  maxBlockDimX = 2,
  maxBlockDimY = 3,
  maxBlockDimZ = 4,
  warpSize = 10,
  computeCapabilityMajor = 75,
  computeCapabilityMinor = 76,
  maxSharedMemoryPerBlockOptin = 97,
};

enum FunctionAttribute : int {
  functionMaxDynamicSharedSizeBytes = 8,
};

constexpr unsigned streamNonBlocking = 1;
constexpr unsigned eventDisableTiming = 2;
constexpr unsigned hostAllocPortable = 1;
constexpr unsigned hostAllocMapped = 2;
constexpr unsigned hostRegisterPortable = 1;
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

struct Memcpy2D {
  std::size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void *srcHost;
  DevicePtr srcDevice;
  void *srcArray;
  std::size_t srcPitch;
  std::size_t dstXInBytes, dstY;
  int dstMemoryType;
  void *dstHost;
  DevicePtr dstDevice;
  void *dstArray;
  std::size_t dstPitch;
  std::size_t widthInBytes, height;
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

// X(member, symbol, version, parameters): `version` is the API version whose ABI of `symbol` is declared here. A bare dlsym
// would return the oldest ABI (32-bit sizes for cuMemAlloc), so every symbol goes through cuGetProcAddress.
#define TANDEM_CUDA_FUNCTIONS(X)                                                                                        \
  X(init, "cuInit", 2000, (unsigned flags))                                                                             \
  X(getErrorName, "cuGetErrorName", 6000, (Result error, const char **name))                                            \
  X(getErrorString, "cuGetErrorString", 6000, (Result error, const char **text))                                        \
  X(deviceGetCount, "cuDeviceGetCount", 2000, (int *count))                                                             \
  X(deviceGet, "cuDeviceGet", 2000, (Device * device, int ordinal))                                                     \
  X(deviceGetName, "cuDeviceGetName", 2000, (char *name, int length, Device device))                                    \
  X(deviceGetUuid, "cuDeviceGetUuid", 11040, (Uuid * uuid, Device device))                                              \
  X(deviceTotalMem, "cuDeviceTotalMem", 3020, (std::size_t * bytes, Device device))                                     \
  X(deviceGetAttribute, "cuDeviceGetAttribute", 2000, (int *value, int attribute, Device device))                       \
  X(deviceGetPciBusId, "cuDeviceGetPCIBusId", 4010, (char *text, int length, Device device))                            \
  X(deviceCanAccessPeer, "cuDeviceCanAccessPeer", 4000, (int *can, Device reader, Device owner))                        \
  X(devicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", 7000, (ContextHandle * context, Device device))                       \
  X(devicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease", 11000, (Device device))                                       \
  X(ctxSetCurrent, "cuCtxSetCurrent", 4000, (ContextHandle context))                                                          \
  X(ctxEnablePeerAccess, "cuCtxEnablePeerAccess", 4000, (ContextHandle peer, unsigned flags))                                 \
  X(memGetInfo, "cuMemGetInfo", 3020, (std::size_t * freeBytes, std::size_t *totalBytes))                               \
  X(memPoolCreate, "cuMemPoolCreate", 11020, (MemoryPool * pool, const MemoryPoolProperties *properties))               \
  X(memPoolDestroy, "cuMemPoolDestroy", 11020, (MemoryPool pool))                                                       \
  X(memPoolSetAttribute, "cuMemPoolSetAttribute", 11020, (MemoryPool pool, int attribute, void *value))                 \
  X(memPoolSetAccess, "cuMemPoolSetAccess", 11020, (MemoryPool pool, const MemoryAccess *map, std::size_t count))       \
  X(memPoolTrimTo, "cuMemPoolTrimTo", 11020, (MemoryPool pool, std::size_t keepBytes))                                  \
  X(memAllocFromPoolAsync, "cuMemAllocFromPoolAsync", 11020,                                                            \
    (DevicePtr * address, std::size_t bytes, MemoryPool pool, Stream stream))                                           \
  X(memFreeAsync, "cuMemFreeAsync", 11020, (DevicePtr address, Stream stream))                                          \
  X(memHostAlloc, "cuMemHostAlloc", 2020, (void **address, std::size_t bytes, unsigned flags))                          \
  X(memFreeHost, "cuMemFreeHost", 2000, (void *address))                                                                \
  X(memHostRegister, "cuMemHostRegister", 6050, (void *address, std::size_t bytes, unsigned flags))                     \
  X(memHostUnregister, "cuMemHostUnregister", 4000, (void *address))                                                    \
  X(memcpyHtoDAsync, "cuMemcpyHtoDAsync", 3020,                                                                         \
    (DevicePtr target, const void *source, std::size_t bytes, Stream stream))                                           \
  X(memcpyDtoHAsync, "cuMemcpyDtoHAsync", 3020, (void *target, DevicePtr source, std::size_t bytes, Stream stream))     \
  X(memcpy2DAsync, "cuMemcpy2DAsync", 3020, (const Memcpy2D *copy, Stream stream))                                      \
  X(memsetD8Async, "cuMemsetD8Async", 3020, (DevicePtr target, unsigned char value, std::size_t count, Stream stream))  \
  X(streamCreate, "cuStreamCreate", 2000, (Stream * stream, unsigned flags))                                            \
  X(streamDestroy, "cuStreamDestroy", 4000, (Stream stream))                                                            \
  X(streamSynchronize, "cuStreamSynchronize", 2000, (Stream stream))                                                    \
  X(streamWaitEvent, "cuStreamWaitEvent", 3020, (Stream stream, Event event, unsigned flags))                           \
  X(eventCreate, "cuEventCreate", 2000, (Event * event, unsigned flags))                                                \
  X(eventDestroy, "cuEventDestroy", 4000, (Event event))                                                                \
  X(eventRecord, "cuEventRecord", 2000, (Event event, Stream stream))                                                   \
  X(eventQuery, "cuEventQuery", 2000, (Event event))                                                                    \
  X(eventSynchronize, "cuEventSynchronize", 2000, (Event event))                                                        \
  X(eventElapsedTime, "cuEventElapsedTime", 2000, (float *milliseconds, Event start, Event end))                        \
  X(moduleLoadDataEx, "cuModuleLoadDataEx", 2010,                                                                       \
    (Module * module, const void *image, unsigned optionCount, int *options, void **optionValues))                      \
  X(moduleUnload, "cuModuleUnload", 2000, (Module module))                                                              \
  X(moduleGetFunction, "cuModuleGetFunction", 2000, (Function * function, Module module, const char *name))             \
  X(funcSetAttribute, "cuFuncSetAttribute", 9000, (Function function, int attribute, int value))                        \
  X(graphCreate, "cuGraphCreate", 10000, (Graph * graph, unsigned flags))                                               \
  X(graphDestroy, "cuGraphDestroy", 10000, (Graph graph))                                                               \
  X(graphAddKernelNode, "cuGraphAddKernelNode", 12000,                                                                  \
    (GraphNode * node, Graph graph, const GraphNode *after, std::size_t afterCount, const KernelNodeParams *params))    \
  X(graphAddMemcpyNode, "cuGraphAddMemcpyNode", 10000,                                                                  \
    (GraphNode * node, Graph graph, const GraphNode *after, std::size_t afterCount, const Memcpy3D *params,             \
     ContextHandle context))                                                                                                  \
  X(graphAddMemsetNode, "cuGraphAddMemsetNode", 10000,                                                                  \
    (GraphNode * node, Graph graph, const GraphNode *after, std::size_t afterCount, const MemsetNodeParams *params,     \
     ContextHandle context))                                                                                                  \
  X(graphInstantiate, "cuGraphInstantiateWithFlags", 11040,                                                             \
    (GraphExec * exec, Graph graph, unsigned long long flags))                                                          \
  X(graphUpload, "cuGraphUpload", 11010, (GraphExec exec, Stream stream))                                               \
  X(graphLaunch, "cuGraphLaunch", 10000, (GraphExec exec, Stream stream))                                               \
  X(graphExecDestroy, "cuGraphExecDestroy", 10000, (GraphExec exec))

/// The resolved driver. Every pointer is set once `loadCuda` has returned.
struct Driver {
#define TANDEM_MEMBER(member, symbol, version, parameters) Result(*member) parameters = nullptr;
  TANDEM_CUDA_FUNCTIONS(TANDEM_MEMBER)
#undef TANDEM_MEMBER
  /// As cuDriverGetVersion reports it: 13000 for CUDA 13.0.
  int version = 0;
};

/// Oldest driver API that has every call above (kernel nodes with a context, 12.0; driver 525).
constexpr int oldestDriverVersion = 12000;

} // namespace tandem::cuda
