/*
 * What NVLink carries when four GPUs exchange the tiles of a transpose of 32768² f32 all at once: by kernels that read or write their
 * peers, contiguous or transposing, and by copy engines. The bounds in docs/performance/transpose.md come from it.
 *   nvcc -O3 -arch=sm_90 -o link-bounds link-bounds.cu && ./link-bounds
 * Every line: median of 4 samples of 8 rounds by the host's clock, and what arrives at each GPU a second (805 MB a round).
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(call)                                                \
  do {                                                             \
    cudaError_t error = (call);                                    \
    if (error) {                                                   \
      printf("%s: %s\n", #call, cudaGetErrorString(error));        \
      exit(1);                                                     \
    }                                                              \
  } while (0)

const int gpus = 4;
const size_t side = 32768, rows = side / gpus;  // a slice is rows × side
struct Slices {
  float *input[gpus], *output[gpus];
};

/** Block by block in turn over the three peers: reads their tiles, or writes them, contiguously. */
template <class T, bool push>
__global__ void contiguous(Slices p, int me) {
  const size_t tile = rows * rows * 4 / sizeof(T);
  const int peer = (me + 1 + blockIdx.x % 3) % gpus;
  const T* from = (const T*)(push ? p.input[me] : p.input[peer]) + (push ? peer : me) * tile;
  T* to = (T*)(push ? p.output[peer] : p.output[me]) + (push ? me : peer) * tile;
  const size_t step = (gridDim.x / 3) * blockDim.x * 4;
  for (size_t at = (blockIdx.x / 3) * blockDim.x * 4 + threadIdx.x; at < tile; at += step) {
    T v[4];
#pragma unroll
    for (int i = 0; i < 4; i++) v[i] = from[at + i * blockDim.x];
#pragma unroll
    for (int i = 0; i < 4; i++) to[at + i * blockDim.x] = v[i];
  }
}

/** All tiles of a GPU, its own included, in turn over the GPUs: pulled by the receiver or pushed by the sender. */
template <int columns, int height, bool push>
__global__ void __launch_bounds__(256) transpose(Slices p, int me) {
  __shared__ float tile[columns * height];
  const int other = (me + blockIdx.x % gpus) % gpus;
  const unsigned block = blockIdx.x / gpus, down = rows / height;
  const unsigned strip = block / (4 * down), within = block % (4 * down);
  const unsigned c0 = (strip * 4 + within % 4) * columns, r0 = within / 4 * height;
  const int sender = push ? me : other, receiver = push ? other : me;
  const float* from = p.input[sender] + receiver * rows;
  float* to = p.output[receiver] + sender * rows;
  const int x = threadIdx.x % 32, y = threadIdx.x / 32, across = columns / 32;
  float v[columns * height / 256];
#pragma unroll
  for (int k = 0; k < columns * height / 256; k++)
    v[k] = from[(r0 + y + k / across * 8) * side + c0 + x + k % across * 32];
#pragma unroll
  for (int k = 0; k < columns * height / 256; k++) {
    const int r = y + k / across * 8, c = x + k % across * 32;
    tile[r * columns + (c ^ (r & 31))] = v[k];
  }
  __syncthreads();
#pragma unroll
  for (int d = 0; d < columns; d += 8)
#pragma unroll
    for (int a = 0; a < height; a += 32) {
      const int r = x + a;
      to[(c0 + y + d) * side + r0 + x + a] = tile[r * columns + ((y + d) ^ (r & 31))];
    }
}

int main() {
  Slices p;
  cudaStream_t stream[gpus][gpus];
  for (int d = 0; d < gpus; d++) {
    CHECK(cudaSetDevice(d));
    for (int q = 0; q < gpus; q++)
      if (q != d) CHECK(cudaDeviceEnablePeerAccess(q, 0));
    CHECK(cudaMalloc(&p.input[d], rows * side * 4));
    CHECK(cudaMalloc(&p.output[d], rows * side * 4));
    CHECK(cudaMemset(p.input[d], 1 + d, rows * side * 4));
    for (int i = 0; i < gpus; i++) CHECK(cudaStreamCreateWithFlags(&stream[d][i], cudaStreamNonBlocking));
  }
  auto synchronize = [&] {
    for (int d = 0; d < gpus; d++) {
      CHECK(cudaSetDevice(d));
      CHECK(cudaDeviceSynchronize());
    }
  };
  auto time = [&](const char* name, std::function<void(int)> launch) {
    std::vector<double> samples;
    for (int sample = 0; sample < 5; sample++) {
      synchronize();
      const auto start = std::chrono::steady_clock::now();
      for (int round = 0; round < 8; round++)
        for (int d = 0; d < gpus; d++) {
          CHECK(cudaSetDevice(d));
          launch(d);
        }
      synchronize();
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 8;
      if (sample > 0) samples.push_back(seconds);
    }
    std::sort(samples.begin(), samples.end());
    printf("%-50s %.3f ms  %.1f GB/s into each GPU\n", name, samples[1] * 1e3, 3.0 * rows * rows * 4 / samples[1] / 1e9);
    fflush(stdout);
  };
  auto copy = [&](int sender, int receiver, cudaStream_t on) {
    CHECK(cudaMemcpy2DAsync(p.output[receiver] + sender * rows * rows, rows * 4, p.input[sender] + receiver * rows, side * 4,
                            rows * 4, rows, cudaMemcpyDeviceToDevice, on));
  };
  time("kernels read, 4 bytes a lane", [&](int d) { contiguous<float, false><<<792, 256, 0, stream[d][0]>>>(p, d); });
  time("kernels read, 16 bytes a lane", [&](int d) { contiguous<float4, false><<<792, 256, 0, stream[d][0]>>>(p, d); });
  time("kernels write, 4 bytes a lane", [&](int d) { contiguous<float, true><<<792, 256, 0, stream[d][0]>>>(p, d); });
  time("kernels write, 16 bytes a lane", [&](int d) { contiguous<float4, true><<<792, 256, 0, stream[d][0]>>>(p, d); });
  const unsigned tiles = gpus * rows * rows;
  time("transpose, reading, 32 x 64 tiles", [&](int d) { transpose<32, 64, false><<<tiles / 2048, 256, 0, stream[d][0]>>>(p, d); });
  time("transpose, reading, 64 x 64 tiles", [&](int d) { transpose<64, 64, false><<<tiles / 4096, 256, 0, stream[d][0]>>>(p, d); });
  time("transpose, writing, 32 x 64 tiles", [&](int d) { transpose<32, 64, true><<<tiles / 2048, 256, 0, stream[d][0]>>>(p, d); });
  time("transpose, writing, 64 x 64 tiles", [&](int d) { transpose<64, 64, true><<<tiles / 4096, 256, 0, stream[d][0]>>>(p, d); });
  time("copy engines of the senders, three at once", [&](int d) {
    for (int k = 1; k < gpus; k++) copy(d, (d + k) % gpus, stream[d][k]);
  });
  time("copy engines of the senders, one after another", [&](int d) {
    for (int k = 1; k < gpus; k++) copy(d, (d + k) % gpus, stream[d][0]);
  });
  time("copy engines of the receivers, three at once", [&](int d) {
    for (int k = 1; k < gpus; k++) copy((d + k) % gpus, d, stream[d][k]);
  });
}
