// Which driver calls wait for a kernel of 55 ms that runs on another stream of the context. One line a call: the least and the most of four times in ms
// while the kernel runs, the time of one without it, and how long a launch by a second thread takes meanwhile (most).
//
//   g++ -O1 -std=c++17 -I/usr/local/cuda/include tools/gpu-host/driver-calls.cpp -o driver-calls /path/of/libcuda.so.1 -pthread
//   echo 'extern "C" __global__ void small() {}' > small.cu && nvcc -cubin -arch=native small.cu && ./driver-calls small.cubin
#include <cuda.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>
#define OK(call) do { CUresult r_ = (call); if (r_ != CUDA_SUCCESS) { const char *n; cuGetErrorName(r_, &n); printf("%s: %s\n", #call, n); exit(1); } } while (0)
static const char *ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 until) {
  .reg .u64 %r<6>; .reg .pred %p<2>;
  ld.param.u64 %r1, [until];
  mov.u64 %r2, %globaltimer;
LOOP:
  mov.u64 %r3, %globaltimer;
  sub.u64 %r4, %r3, %r2;
  setp.lt.u64 %p1, %r4, %r1;
  @%p1 bra LOOP;
  ret;
}
.visible .entry nothing() { ret; }
)";
using Clock = std::chrono::steady_clock;
static double ms(Clock::time_point a) { return std::chrono::duration<double, std::milli>(Clock::now() - a).count(); }
static CUcontext context;
static CUstream busy, other, third;
static CUfunction spin, nothing;
static void launchSpin() {
  unsigned long long ns = 55'000'000;
  void *p[] = {&ns};
  OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, busy, p, nullptr));
}
static void measure(const char *name, std::function<void()> prepare, std::function<void()> call, std::function<void()> after) {
  double least = 1e9, most = 0, idle = 1e9, launch = 0;
  for (int turn = 0; turn < 5; ++turn) {
    prepare();
    OK(cuCtxSynchronize());
    if (turn == 0) {
      auto t = Clock::now();
      call();
      idle = ms(t);
      OK(cuCtxSynchronize());
      after();
      continue;
    }
    launchSpin();
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    std::atomic<bool> go{false};
    double took = 0;
    std::thread second([&] {
      OK(cuCtxSetCurrent(context));
      while (!go) {}
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      auto t = Clock::now();
      OK(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, third, nullptr, nullptr));
      took = ms(t);
    });
    auto t = Clock::now();
    go = true;
    call();
    const double time = ms(t);
    second.join();
    least = std::min(least, time);
    most = std::max(most, time);
    launch = std::max(launch, took);
    OK(cuCtxSynchronize());
    after();
  }
  printf("%-44s busy %8.3f to %8.3f   idle %8.3f   another thread's launch %8.3f\n", name, least, most, idle, launch);
  fflush(stdout);
}
int main(int argc, char **argv) {
  OK(cuInit(0));
  CUdevice device;
  OK(cuDeviceGet(&device, 0));
  OK(cuDevicePrimaryCtxRetain(&context, device));
  OK(cuCtxSetCurrent(context));
  for (auto s : {&busy, &other, &third}) OK(cuStreamCreate(s, CU_STREAM_NON_BLOCKING));
  CUmodule base;
  OK(cuModuleLoadDataEx(&base, ptx, 0, nullptr, nullptr));
  OK(cuModuleGetFunction(&spin, base, "spin"));
  OK(cuModuleGetFunction(&nothing, base, "nothing"));
  launchSpin();
  OK(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, other, nullptr, nullptr));
  OK(cuCtxSynchronize());
  std::vector<char> cubin;
  if (FILE *f = fopen(argv[1], "rb")) { char b[4096]; size_t n; while ((n = fread(b, 1, sizeof b, f)) > 0) cubin.insert(cubin.end(), b, b + n); fclose(f); }
  auto none = [] {};
  CUmodule module = nullptr; CUfunction function; void *host = nullptr; CUdeviceptr memory = 0; CUgraph graph; CUgraphExec exec; CUstream stream; CUevent event; CUmemoryPool pool;
  auto load = [&] { OK(cuModuleLoadDataEx(&module, cubin.data(), 0, nullptr, nullptr)); };
  auto unload = [&] { OK(cuModuleUnload(module)); };
  auto used = [&] { load(); OK(cuModuleGetFunction(&function, module, "small")); OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, other, nullptr, nullptr)); };
  measure("cuModuleLoadDataEx (cubin)", none, load, unload);
  measure("cuModuleGetFunction", load, [&] { OK(cuModuleGetFunction(&function, module, "small")); }, unload);
  measure("cuFuncSetAttribute", [&] { load(); OK(cuModuleGetFunction(&function, module, "small")); }, [&] { OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536)); }, unload);
  measure("first cuLaunchKernel of a module", [&] { load(); OK(cuModuleGetFunction(&function, module, "small")); }, [&] { OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, other, nullptr, nullptr)); }, unload);
  measure("cuModuleUnload", used, unload, none);
  measure("cuMemHostAlloc 64 KiB", none, [&] { OK(cuMemHostAlloc(&host, 65536, 3)); }, [&] { OK(cuMemFreeHost(host)); });
  measure("cuMemFreeHost 64 KiB", [&] { OK(cuMemHostAlloc(&host, 65536, 3)); }, [&] { OK(cuMemFreeHost(host)); }, none);
  measure("cuMemHostAlloc 16 MiB", none, [&] { OK(cuMemHostAlloc(&host, 16 << 20, 3)); }, [&] { OK(cuMemFreeHost(host)); });
  measure("cuMemFreeHost 16 MiB", [&] { OK(cuMemHostAlloc(&host, 16 << 20, 3)); }, [&] { OK(cuMemFreeHost(host)); }, none);
  void *pages = aligned_alloc(4096, 16 << 20);
  measure("cuMemHostRegister 16 MiB", none, [&] { OK(cuMemHostRegister(pages, 16 << 20, 1)); }, [&] { OK(cuMemHostUnregister(pages)); });
  measure("cuMemHostUnregister 16 MiB", [&] { OK(cuMemHostRegister(pages, 16 << 20, 1)); }, [&] { OK(cuMemHostUnregister(pages)); }, none);
  measure("cuMemAlloc 1 MiB", none, [&] { OK(cuMemAlloc(&memory, 1 << 20)); }, [&] { OK(cuMemFree(memory)); });
  measure("cuMemFree 1 MiB", [&] { OK(cuMemAlloc(&memory, 1 << 20)); }, [&] { OK(cuMemFree(memory)); }, none);
  measure("cuMemAlloc 64 MiB", none, [&] { OK(cuMemAlloc(&memory, 64 << 20)); }, [&] { OK(cuMemFree(memory)); });
  measure("cuMemFree 64 MiB", [&] { OK(cuMemAlloc(&memory, 64 << 20)); }, [&] { OK(cuMemFree(memory)); }, none);
  CUmemPoolProps props{};
  props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED; props.location.type = CU_MEM_LOCATION_TYPE_DEVICE; props.location.id = device;
  measure("cuMemPoolCreate", none, [&] { OK(cuMemPoolCreate(&pool, &props)); }, [&] { OK(cuMemPoolDestroy(pool)); });
  measure("cuMemPoolDestroy", [&] { OK(cuMemPoolCreate(&pool, &props)); }, [&] { OK(cuMemPoolDestroy(pool)); }, none);
  OK(cuMemPoolCreate(&pool, &props));
  cuuint64_t keep = ~0ull;
  OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
  auto allocate = [&](size_t n) { OK(cuMemAllocFromPoolAsync(&memory, n, pool, other)); };
  measure("cuMemAllocFromPoolAsync 64 MiB, new memory", [&] { OK(cuMemPoolTrimTo(pool, 0)); }, [&] { allocate(64 << 20); }, [&] { OK(cuMemFreeAsync(memory, other)); OK(cuCtxSynchronize()); OK(cuMemPoolTrimTo(pool, 0)); });
  measure("cuMemAllocFromPoolAsync 1 MiB, kept memory", none, [&] { allocate(1 << 20); }, [&] { OK(cuMemFreeAsync(memory, other)); });
  measure("cuMemFreeAsync", [&] { allocate(1 << 20); }, [&] { OK(cuMemFreeAsync(memory, other)); }, none);
  measure("cuMemPoolTrimTo 64 MiB", [&] { allocate(64 << 20); OK(cuMemFreeAsync(memory, other)); }, [&] { OK(cuMemPoolTrimTo(pool, 0)); }, none);
  OK(cuMemAlloc(&memory, 1 << 20));
  OK(cuMemHostAlloc(&host, 65536, 3));
  auto synchronize = [&] { OK(cuStreamSynchronize(other)); };
  measure("read 64 KiB, page-locked, and synchronize", none, [&] { OK(cuMemcpyDtoHAsync(host, memory, 65536, other)); synchronize(); }, none);
  measure("read 64 KiB, pageable, and synchronize", none, [&] { OK(cuMemcpyDtoHAsync(pages, memory, 65536, other)); synchronize(); }, none);
  measure("write 64 KiB, page-locked, and synchronize", none, [&] { OK(cuMemcpyHtoDAsync(memory, host, 65536, other)); synchronize(); }, none);
  measure("write 64 KiB, pageable, and synchronize", none, [&] { OK(cuMemcpyHtoDAsync(memory, pages, 65536, other)); synchronize(); }, none);
  measure("cuMemsetD8Async and synchronize", none, [&] { OK(cuMemsetD8Async(memory, 0, 65536, other)); synchronize(); }, none);
  OK(cuGraphCreate(&graph, 0));
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = nothing; params.gridDimX = params.gridDimY = params.gridDimZ = params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  CUgraphNode node;
  for (int i = 0; i < 200; ++i) OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  auto instantiate = [&] { OK(cuGraphInstantiateWithFlags(&exec, graph, 0)); };
  auto destroy = [&] { OK(cuGraphExecDestroy(exec)); };
  measure("cuGraphInstantiate, 200 kernels", none, instantiate, destroy);
  measure("cuGraphUpload and synchronize", instantiate, [&] { OK(cuGraphUpload(exec, other)); synchronize(); }, destroy);
  measure("cuGraphLaunch and synchronize", [&] { instantiate(); OK(cuGraphUpload(exec, other)); }, [&] { OK(cuGraphLaunch(exec, other)); synchronize(); }, destroy);
  measure("cuGraphExecDestroy", [&] { instantiate(); OK(cuGraphLaunch(exec, other)); }, destroy, none);
  measure("cuStreamCreate", none, [&] { OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)); }, [&] { OK(cuStreamDestroy(stream)); });
  measure("cuStreamDestroy", [&] { OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)); }, [&] { OK(cuStreamDestroy(stream)); }, none);
  measure("cuEventCreate", none, [&] { OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING)); }, [&] { OK(cuEventDestroy(event)); });
  measure("cuEventDestroy", [&] { OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING)); }, [&] { OK(cuEventDestroy(event)); }, none);
  CUipcMemHandle handle;
  measure("cuIpcGetMemHandle", none, [&] { OK(cuIpcGetMemHandle(&handle, memory)); }, none);
  size_t a, b;
  measure("cuMemGetInfo", none, [&] { OK(cuMemGetInfo(&a, &b)); }, none);
  CUcontext second;
  measure("cuDevicePrimaryCtxRetain", none, [&] { OK(cuDevicePrimaryCtxRetain(&second, device)); }, [&] { OK(cuDevicePrimaryCtxRelease(device)); });
  measure("cuDevicePrimaryCtxRelease, not the last", [&] { OK(cuDevicePrimaryCtxRetain(&second, device)); }, [&] { OK(cuDevicePrimaryCtxRelease(device)); }, none);
}
