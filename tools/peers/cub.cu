/*
 * CUB's scan, histogram and sort on one GPU, as JSON lines: nvcc -O3 -std=c++17 -arch=native -o cub
 * tools/peers/cub.cu && ./cub [LOG2 ...] (default 28 and 22). Each figure is the median of 9 samples by
 * events, each of as many calls back to back as take 5 ms.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <functional>
#include <vector>

#define CHECK(call)                                                                  \
  do {                                                                               \
    cudaError_t error = (call);                                                      \
    if (error) {                                                                     \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                 \
      exit(1);                                                                       \
    }                                                                                \
  } while (0)

__global__ void fill(uint32_t* words, size_t n, int kind) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    uint32_t h = (uint32_t)i * 0x9e3779b9u + 0x85ebca6bu;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    h ^= h >> 16;
    // Uniform: f32 in [-1, 1), or all u32, or u32 below 256.
    words[i] = kind == 0 ? __float_as_uint((h >> 8) * 0x1p-23f - 1.f) : kind == 1 ? h : h >> 24;
  }
}

static double median(std::function<void()> work) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  auto time = [&](int calls) {
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < calls; i++) work();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms * 1e-3 / calls;
  };
  time(2);
  int calls = std::max(1, std::min(500, (int)(5e-3 / time(2)) + 1));
  std::vector<double> samples;
  for (int i = 0; i < 9; i++) samples.push_back(time(calls));
  std::sort(samples.begin(), samples.end());
  return samples[4];
}

static void report(const char* work, size_t n, double seconds) {
  printf("{\"work\":\"%s\",\"by\":\"CUB\",\"elements\":%zu,\"devices\":1,\"seconds\":%.9f}\n", work, n, seconds);
  fflush(stdout);
}

/** `call(temporary, size)` as CUB has it: the first call asks for the size. */
template <class F>
static void measured(const char* work, size_t n, F call) {
  void* temporary = nullptr;
  size_t size = 0;
  CHECK(call(temporary, size));
  CHECK(cudaMalloc(&temporary, size));
  report(work, n, median([&] { CHECK(call(temporary, size)); }));
  CHECK(cudaFree(temporary));
}

int main(int argc, char** argv) {
  std::vector<int> logs;
  for (int i = 1; i < argc; i++) logs.push_back(atoi(argv[i]));
  if (logs.empty()) logs = {28, 22};
  for (int log : logs) {
    size_t n = 1ull << log;
    uint32_t *a, *b, *c, *d, *counts;
    float* edges;
    CHECK(cudaMalloc(&a, n * 4));
    CHECK(cudaMalloc(&b, n * 4));
    CHECK(cudaMalloc(&c, n * 4));
    CHECK(cudaMalloc(&d, n * 4));
    CHECK(cudaMalloc(&counts, 1024));
    CHECK(cudaMalloc(&edges, 257 * 4));
    std::vector<float> host(257);
    for (int k = 0; k < 257; k++) host[k] = -1.f + k / 128.f;
    CHECK(cudaMemcpy(edges, host.data(), 257 * 4, cudaMemcpyHostToDevice));
    fill<<<4096, 256>>>(a, n, 0);
    float* x = (float*)a;
    measured("copy", n, [&](void*& t, size_t& s) {
      if (!t) return s = 4, cudaSuccess;
      return cudaMemcpyAsync(b, a, n * 4, cudaMemcpyDeviceToDevice);
    });
    measured("scan f32", n, [&](void*& t, size_t& s) { return cub::DeviceScan::InclusiveSum(t, s, x, (float*)b, (int)n); });
    measured("histogram f32 even", n, [&](void*& t, size_t& s) {
      return cub::DeviceHistogram::HistogramEven(t, s, x, (int*)counts, 257, -1.f, 1.f, (int)n);
    });
    measured("histogram f32 edges", n, [&](void*& t, size_t& s) {
      return cub::DeviceHistogram::HistogramRange(t, s, x, (int*)counts, 257, edges, (int)n);
    });
    fill<<<4096, 256>>>(a, n, 2);
    measured("histogram u32 even", n, [&](void*& t, size_t& s) {
      return cub::DeviceHistogram::HistogramEven(t, s, a, (int*)counts, 257, 0u, 256u, (int)n);
    });
    fill<<<4096, 256>>>(a, n, 1);
    measured("sort u32", n, [&](void*& t, size_t& s) { return cub::DeviceRadixSort::SortKeys(t, s, a, b, (int)n); });
    measured("sort u32 pairs", n, [&](void*& t, size_t& s) {
      return cub::DeviceRadixSort::SortPairs(t, s, a, b, c, d, (int)n);
    });
    for (void* p : {(void*)a, (void*)b, (void*)c, (void*)d, (void*)counts, (void*)edges}) CHECK(cudaFree(p));
  }
}
