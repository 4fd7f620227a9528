// Compares our declarations with NVIDIA's cuda.h: compiles or does not (c++ -fsyntax-only -I…/cuda/include).
#include <cuda.h>

#include <type_traits>

#include "../src/cuda_api.h"

namespace ours = tandem::cuda;

#define SAME_SIZE(mine, theirs) static_assert(sizeof(mine) == sizeof(theirs) && alignof(mine) == alignof(theirs), #theirs)
#define SAME_PLACE(mine, member, theirs, their_member)                                                                 \
  static_assert(offsetof(mine, member) == offsetof(theirs, their_member) &&                                            \
                    sizeof(mine::member) == sizeof(theirs::their_member),                                              \
                #theirs "." #their_member)
#define SAME_VALUE(mine, theirs) static_assert(static_cast<long>(mine) == static_cast<long>(theirs), #theirs)

SAME_SIZE(ours::DevicePtr, CUdeviceptr);
SAME_SIZE(ours::Uuid, CUuuid);
SAME_SIZE(ours::IpcMemHandle, CUipcMemHandle);
SAME_SIZE(ours::MemoryPoolProperties, CUmemPoolProps);
SAME_PLACE(ours::MemoryPoolProperties, location, CUmemPoolProps, location);
SAME_PLACE(ours::MemoryPoolProperties, maxSize, CUmemPoolProps, maxSize);
SAME_SIZE(ours::MemoryAccess, CUmemAccessDesc);
SAME_SIZE(ours::KernelNodeParams, CUDA_KERNEL_NODE_PARAMS_v2);
SAME_PLACE(ours::KernelNodeParams, sharedMemBytes, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
SAME_PLACE(ours::KernelNodeParams, kernelParams, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
SAME_PLACE(ours::KernelNodeParams, ctx, CUDA_KERNEL_NODE_PARAMS_v2, ctx);
SAME_SIZE(ours::MemsetNodeParams, CUDA_MEMSET_NODE_PARAMS);
SAME_PLACE(ours::MemsetNodeParams, elementSize, CUDA_MEMSET_NODE_PARAMS, elementSize);
SAME_PLACE(ours::MemsetNodeParams, height, CUDA_MEMSET_NODE_PARAMS, height);
SAME_SIZE(ours::Memcpy3D, CUDA_MEMCPY3D);
SAME_PLACE(ours::Memcpy3D, srcDevice, CUDA_MEMCPY3D, srcDevice);
SAME_PLACE(ours::Memcpy3D, srcHeight, CUDA_MEMCPY3D, srcHeight);
SAME_PLACE(ours::Memcpy3D, dstHost, CUDA_MEMCPY3D, dstHost);
SAME_PLACE(ours::Memcpy3D, dstHeight, CUDA_MEMCPY3D, dstHeight);
SAME_PLACE(ours::Memcpy3D, depth, CUDA_MEMCPY3D, Depth);

SAME_VALUE(ours::errorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME_VALUE(ours::errorNoDevice, CUDA_ERROR_NO_DEVICE);
SAME_VALUE(ours::errorInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
SAME_VALUE(ours::errorNotReady, CUDA_ERROR_NOT_READY);
SAME_VALUE(ours::errorPeerAccessAlreadyEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
SAME_VALUE(ours::maxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME_VALUE(ours::maxBlockDimZ, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
SAME_VALUE(ours::warpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
SAME_VALUE(ours::multiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_VALUE(ours::maxThreadsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
SAME_VALUE(ours::computeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_VALUE(ours::computeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_VALUE(ours::maxSharedMemoryPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME_VALUE(ours::functionLocalSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME_VALUE(ours::functionMaxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_VALUE(ours::streamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME_VALUE(ours::eventDisableTiming, CU_EVENT_DISABLE_TIMING);
SAME_VALUE(ours::graphUsesNodePriorities, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
SAME_VALUE(ours::hostAllocPortable, CU_MEMHOSTALLOC_PORTABLE);
SAME_VALUE(ours::hostAllocMapped, CU_MEMHOSTALLOC_DEVICEMAP);
SAME_VALUE(ours::hostRegisterPortable, CU_MEMHOSTREGISTER_PORTABLE);
SAME_VALUE(ours::ipcLazyEnablePeerAccess, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
SAME_VALUE(ours::memoryTypeHost, CU_MEMORYTYPE_HOST);
SAME_VALUE(ours::memoryTypeDevice, CU_MEMORYTYPE_DEVICE);
SAME_VALUE(ours::memoryPoolReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME_VALUE(ours::allocationTypePinned, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME_VALUE(ours::locationTypeDevice, CU_MEM_LOCATION_TYPE_DEVICE);
SAME_VALUE(ours::accessReadWrite, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
SAME_VALUE(ours::jitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
SAME_VALUE(ours::jitErrorLogBufferSizeBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);

// Every call takes as many arguments of the same sizes as NVIDIA's.
template <typename> struct Signature;
template <typename... Arguments> struct Signature<CUresult(Arguments...)> {
  static constexpr std::size_t count = sizeof...(Arguments);
  static constexpr std::size_t bytes = (sizeof(Arguments) + ... + 0);
};
template <typename... Arguments> struct Signature<tandem::Import<ours::Result(Arguments...)>> {
  static constexpr std::size_t count = sizeof...(Arguments);
  static constexpr std::size_t bytes = (sizeof(Arguments) + ... + 0);
};
#define SAME_CALL(member, theirs)                                                                                      \
  static_assert(Signature<decltype(ours::Driver::member)>::count == Signature<decltype(theirs)>::count &&              \
                    Signature<decltype(ours::Driver::member)>::bytes == Signature<decltype(theirs)>::bytes,            \
                #theirs)
SAME_CALL(deviceGetUuid, cuDeviceGetUuid);
SAME_CALL(deviceTotalMem, cuDeviceTotalMem);
SAME_CALL(memPoolCreate, cuMemPoolCreate);
SAME_CALL(memPoolSetAccess, cuMemPoolSetAccess);
SAME_CALL(memPoolTrimTo, cuMemPoolTrimTo);
SAME_CALL(memAllocFromPoolAsync, cuMemAllocFromPoolAsync);
SAME_CALL(memAlloc, cuMemAlloc);
SAME_CALL(memFree, cuMemFree);
SAME_CALL(memGetAddressRange, cuMemGetAddressRange);
SAME_CALL(ipcGetMemHandle, cuIpcGetMemHandle);
SAME_CALL(ipcOpenMemHandle, cuIpcOpenMemHandle);
SAME_CALL(ipcCloseMemHandle, cuIpcCloseMemHandle);
SAME_CALL(memHostAlloc, cuMemHostAlloc);
SAME_CALL(memHostRegister, cuMemHostRegister);
SAME_CALL(memcpyHtoDAsync, cuMemcpyHtoDAsync);
SAME_CALL(memcpyDtoHAsync, cuMemcpyDtoHAsync);
SAME_CALL(memcpyAsync, cuMemcpyAsync);
SAME_CALL(memcpy3DAsync, cuMemcpy3DAsync);
SAME_CALL(launchKernel, cuLaunchKernel);
SAME_CALL(memsetD8Async, cuMemsetD8Async);
SAME_CALL(streamWaitEvent, cuStreamWaitEvent);
SAME_CALL(moduleLoadDataEx, cuModuleLoadDataEx);
SAME_CALL(graphAddKernelNode, cuGraphAddKernelNode);
SAME_CALL(graphAddMemcpyNode, cuGraphAddMemcpyNode);
SAME_CALL(graphAddMemsetNode, cuGraphAddMemsetNode);
SAME_CALL(graphInstantiate, cuGraphInstantiateWithFlags);
SAME_CALL(graphUpload, cuGraphUpload);
SAME_CALL(graphLaunch, cuGraphLaunch);
