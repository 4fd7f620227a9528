/* What any CUDA program pays before its first work: initialises the driver, retains the primary contexts of N devices, opens
   peer access between them. Prints seconds. cc contexts.c -ldl -o contexts && ./contexts N */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : 1, failed = 0;
  double start = now();
  void *lib = dlopen("libcuda.so.1", RTLD_NOW);
  if (!lib) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*init)(unsigned) = (int (*)(unsigned))dlsym(lib, "cuInit");
  int (*retain)(void **, int) = (int (*)(void **, int))dlsym(lib, "cuDevicePrimaryCtxRetain");
  int (*set)(void *) = (int (*)(void *))dlsym(lib, "cuCtxSetCurrent");
  int (*peer)(void *, unsigned) = (int (*)(void *, unsigned))dlsym(lib, "cuCtxEnablePeerAccess");
  void *contexts[64];
  failed |= init(0);
  for (int i = 0; i < count && !failed; i++) failed |= retain(&contexts[i], i);
  for (int i = 0; i < count && !failed; i++) {
    failed |= set(contexts[i]);
    for (int j = 0; j < count; j++)
      if (i != j) failed |= peer(contexts[j], 0);
  }
  if (failed) {
    fprintf(stderr, "CUDA error %d\n", failed);
    return 1;
  }
  printf("%.4f\n", now() - start);
  return 0;
}
