/*
 * What NCCL alone takes for the messages of a transpose over four processes of one GPU each: every GPU sends as much to each other one. Groups of messages
 * are captured into a graph and replayed, as in Tandem's transport `nccl`; nothing of Tandem's runs.
 *   nvcc -O3 -arch=sm_90 -o nccl-bound nccl-bound.cu -ldl && NCCL_NVLS_ENABLE=0 ./nccl-bound [GPUS, default 4]
 * NCCL_LIBRARY names the library. With ALLOC=nccl the memory comes from ncclMemAlloc, so that senders write into it directly. "With passes": each group stands
 * behind a copy of what it sends and before a copy of what it receives, as packing and transposing are; the copies of one group may overlap the next group.
 * BLOCKS=n gives those copies n blocks of 1,024 threads in all, where they else fill the GPU. FIRST=1 has NCCL's kernels start before blocks of the copies that
 * wait for room, as Tandem does; each of NCCL's blocks needs all registers of a multiprocessor. NCCL's own settings (NCCL_MIN_CTAS, …) apply.
 * Every line: the slowest GPU, by its own clock, in the best of four samples of some repetitions, and what leaves each GPU a second.
 */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                      \
  do {                                                   \
    if (const int error = int(call)) {                   \
      fprintf(stderr, "%s returns %d\n", #call, error);  \
      _exit(1);                                          \
    }                                                    \
  } while (0)

using Comm = struct ncclComm *;
struct Id {
  char bytes[128];
};
/** NCCL's interface, as nccl.h has it; 0 is its type of bytes. */
struct Nccl {
  int (*ncclGetUniqueId)(Id *);
  int (*ncclCommInitRank)(Comm *, int, Id, int);
  int (*ncclGroupStart)();
  int (*ncclGroupEnd)();
  int (*ncclSend)(const void *, size_t, int, int, Comm, cudaStream_t);
  int (*ncclRecv)(void *, size_t, int, int, Comm, cudaStream_t);
  int (*ncclMemAlloc)(void **, size_t);
  int (*ncclGetVersion)(int *);
} nccl;

struct Shared {
  Id id;
  pthread_barrier_t barrier;
  double microseconds[16];
} *shared;

int count, rank, blocks;
bool first;
const size_t most = size_t(256) << 20;
char *input, *output, *scratch;
Comm comm;
cudaStream_t stream;

void meet() { pthread_barrier_wait(&shared->barrier); }

__global__ void pass(const float4 *from, float4 *to, size_t length) {
  const size_t step = size_t(gridDim.x) * blockDim.x;
  for (size_t at = blockIdx.x * size_t(blockDim.x) + threadIdx.x; at < length; at += step) to[at] = from[at];
}

void copy(size_t byteLength, cudaStream_t on) {
  const size_t length = byteLength / sizeof(float4);
  const auto *from = reinterpret_cast<const float4 *>(input);
  auto *to = reinterpret_cast<float4 *>(scratch);
  if (blocks > 0) pass<<<blocks, 1024, 0, on>>>(from, to, length);
  else pass<<<unsigned(length / 1024 + 1), 256, 0, on>>>(from, to, length);
}

/** What is issued to `to` from here on waits for what `from` has now. */
void order(cudaStream_t from, cudaStream_t to) {
  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaEventRecord(event, from));
  CHECK(cudaStreamWaitEvent(to, event, 0));
}

/** `groups` groups, one after another, of equal parts of messages of `byteLength` to and from each other GPU. */
void measure(size_t byteLength, int groups, bool passes, int repetitions, int launches) {
  cudaStream_t before, behind;
  CHECK(cudaStreamCreateWithFlags(&before, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&behind, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int repetition = 0; repetition < repetitions; repetition++) {
    if (passes) order(stream, before), order(stream, behind);
    const size_t part = byteLength / groups;
    for (int group = 0; group < groups; group++) {
      if (passes) copy(part * (count - 1), before), order(before, stream);
      CHECK(nccl.ncclGroupStart());
      for (int distance = 1; distance < count; distance++) {
        const int to = (rank + distance) % count, from = (rank - distance + count) % count;
        CHECK(nccl.ncclSend(input + to * most + group * part, part, 0, to, comm, stream));
        CHECK(nccl.ncclRecv(output + from * most + group * part, part, 0, from, comm, stream));
      }
      CHECK(nccl.ncclGroupEnd());
      if (passes) order(stream, behind), copy(part * (count - 1), behind);
    }
    if (passes) order(behind, stream), order(before, stream);
  }
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamEndCapture(stream, &graph));
  // Without the flag a graph ignores the priorities of the streams in which its kernels were captured.
  CHECK(cudaGraphInstantiate(&exec, graph, first ? cudaGraphInstantiateFlagUseNodePriority : 0));
  cudaEvent_t start, end;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&end));
  double best = 1e30;
  for (int sample = 0; sample < 4; sample++) {
    meet();
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventRecord(start, stream));
    for (int launch = 0; launch < launches; launch++) CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, start, end));
    shared->microseconds[rank] = milliseconds * 1e3 / (repetitions * launches);
    meet();
    best = std::min(best, *std::max_element(shared->microseconds, shared->microseconds + count));
  }
  meet();
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  if (rank != 0) return;
  printf("%9zu B to each, groups: %d%s: %8.2f us, %5.1f GB/s\n", byteLength, groups, passes ? ", with passes" : "", best,
         (count - 1) * double(byteLength) / best / 1e3);
  fflush(stdout);
}

int main(int argumentCount, char **arguments) {
  count = argumentCount > 1 ? atoi(arguments[1]) : 4;
  if (count < 2 || count > 16) return fprintf(stderr, "nccl-bound [GPUS, 2 to 16]\n"), 2;
  shared = static_cast<Shared *>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attributes, count);
  // Before CUDA is there: it does not outlive a fork.
  for (int other = 1; other < count && rank == 0; other++)
    if (fork() == 0) rank = other;

  const char *name = getenv("NCCL_LIBRARY");
  void *library = dlopen(name ? name : "libnccl.so.2", RTLD_NOW);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
#define LOAD(function) nccl.function = reinterpret_cast<decltype(nccl.function)>(dlsym(library, #function))
  LOAD(ncclGetUniqueId);
  LOAD(ncclCommInitRank);
  LOAD(ncclGroupStart);
  LOAD(ncclGroupEnd);
  LOAD(ncclSend);
  LOAD(ncclRecv);
  LOAD(ncclMemAlloc);
  LOAD(ncclGetVersion);

  CHECK(cudaSetDevice(rank));
  const char *kind = getenv("ALLOC");
  const bool mapped = kind && !strcmp(kind, "nccl");
  blocks = getenv("BLOCKS") ? atoi(getenv("BLOCKS")) : 0;
  first = getenv("FIRST") && !strcmp(getenv("FIRST"), "1");
  if (rank == 0) {
    int version;
    CHECK(nccl.ncclGetVersion(&version));
    printf("NCCL %d, memory of %s, blocks of passes: %d, NCCL first: %d\n", version, mapped ? "ncclMemAlloc" : "cudaMalloc", blocks, first);
    CHECK(nccl.ncclGetUniqueId(&shared->id));
  }
  meet();
  CHECK(nccl.ncclCommInitRank(&comm, count, shared->id, rank));
  CHECK(cudaMalloc(&scratch, most * count));
  for (char **memory : {&input, &output})
    CHECK(mapped ? nccl.ncclMemAlloc(reinterpret_cast<void **>(memory), most * count) : int(cudaMalloc(memory, most * count)));
  int least, greatest;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, first ? greatest : least));

  for (const bool passes : {false, true})
    for (const int groups : {1, 2, 4, 8}) measure(most, groups, passes, 1, 3);
  for (const size_t byteLength : {size_t(4), size_t(32) << 10, size_t(256) << 10, size_t(1) << 20})
    measure(byteLength, 1, false, 20, 5);
  measure(size_t(1) << 20, 1, true, 20, 5);
  meet();
  // The others may still be in NCCL, whose end is not what is measured.
  fflush(stdout);
  _exit(0);
}
