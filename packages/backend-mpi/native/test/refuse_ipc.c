/*
 * Refuses to map the GPU memory of another process, as a driver in a container without IPC does:
 *   cc -shared -fPIC refuse-ipc.c -o refuse.so -ldl; LD_PRELOAD=$PWD/refuse.so mpirun -n 2 tandem transpose --rank-transport ipc
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

typedef int (*get_proc_address)(const char *, void **, int, uint64_t, int *);
static get_proc_address real_get_proc_address;

/* CUDA_ERROR_NOT_SUPPORTED */
static int refuse(void) { return 801; }

static int guarded(const char *symbol, void **function, int version, uint64_t flags, int *status) {
  const int result = real_get_proc_address(symbol, function, version, flags, status);
  if (result == 0 && symbol && strcmp(symbol, "cuIpcOpenMemHandle") == 0) *function = (void *)refuse;
  return result;
}

void *dlsym(void *handle, const char *name) {
  static void *(*real)(void *, const char *);
  if (!real) real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  if (!real) real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  void *found = real(handle, name);
  if (!found || strcmp(name, "cuGetProcAddress_v2") != 0) return found;
  real_get_proc_address = (get_proc_address)found;
  return (void *)guarded;
}
