// An MPI that accepts addresses of GPU memory, on top of one that does not; the fake CUDA driver's device
// memory is host memory. It checks the conditions that a real one relies on, and ends the process if they do
// not hold. HANDLE is the type of the interface's handles; MPICH is defined for MPICH's.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef HANDLE Handle;

int PMPI_Isend(const void *, int, Handle, int, int, Handle, Handle *);
int PMPI_Irecv(void *, int, Handle, int, int, Handle, Handle *);
int PMPI_Finalize(void);
int PMPI_Init_thread(int *, char ***, int, int *);

static long deviceMessages = 0;

/// FAKE_GPU_AWARE_RANKS: the number of ranks, from rank 0 on, whose MPI accepts addresses of GPU memory.
static int gpuAware(void) {
  const char *rank = getenv("OMPI_COMM_WORLD_RANK");
  if (rank == NULL) rank = getenv("PMI_RANK");
  const char *ranks = getenv("FAKE_GPU_AWARE_RANKS");
  return ranks != NULL && atoi(rank != NULL ? rank : "0") < atoi(ranks);
}

#ifdef MPICH
__attribute__((visibility("default"))) int MPIX_GPU_query_support(int type, int *supported) {
  *supported = type == 0 && gpuAware();
  return 0;
}
#else
__attribute__((visibility("default"))) int MPIX_Query_cuda_support(void) { return gpuAware(); }
#endif

/// Asks the fake driver about the memory at an address, if this process has loaded the driver.
static void look(const void *address, int byteLength) {
  static int (*memoryOf)(const void *, size_t, const char **) = NULL;
  const char *driver = getenv("FAKE_DRIVER");
  if (memoryOf == NULL && driver != NULL) {
    void *library = dlopen(driver, RTLD_NOW | RTLD_NOLOAD);
    if (library != NULL) memoryOf = (int (*)(const void *, size_t, const char **))dlsym(library, "fakeMemoryForMessages");
  }
  const char *problem = NULL;
  if (memoryOf != NULL && memoryOf(address, (size_t)byteLength, &problem)) ++deviceMessages;
  if (problem == NULL) return;
  fprintf(stderr, "fake GPU-aware MPI: %d bytes at %p: %s\n", byteLength, address, problem);
  abort();
}

__attribute__((visibility("default"))) int MPI_Isend(const void *data, int count, Handle type, int peer, int tag, Handle comm, Handle *request) {
  look(data, count);
  return PMPI_Isend(data, count, type, peer, tag, comm, request);
}

__attribute__((visibility("default"))) int MPI_Irecv(void *data, int count, Handle type, int peer, int tag, Handle comm, Handle *request) {
  look(data, count);
  return PMPI_Irecv(data, count, type, peer, tag, comm, request);
}

/// With FAKE_MPI_SINGLE set, it allows no threads.
__attribute__((visibility("default"))) int MPI_Init_thread(int *count, char ***arguments, int required, int *provided) {
  const int result = PMPI_Init_thread(count, arguments, required, provided);
  if (getenv("FAKE_MPI_SINGLE") != NULL) *provided = 0;
  return result;
}

__attribute__((visibility("default"))) int MPI_Finalize(void) {
  fprintf(stderr, "fake GPU-aware MPI: %ld messages of device memory\n", deviceMessages);
  return PMPI_Finalize();
}
