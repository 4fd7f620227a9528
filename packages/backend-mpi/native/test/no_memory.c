// When preloaded, denies large blocks of memory to all threads except the main one while the environment
// variable NO_MEMORY is set.
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);

void *malloc(size_t byteLength) {
  if (byteLength >= 64 << 20 && getenv("NO_MEMORY") != NULL && syscall(SYS_gettid) != getpid()) return NULL;
  return __libc_malloc(byteLength);
}
