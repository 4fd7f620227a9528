// Preloaded, it lets the operating system start no thread while the environment variable NO_THREADS is set. Where NO_THREADS_OF is LIBRARY:N, it refuses the N-th
// thread alone that a library starts whose path has that text in it, or with 0 all of its threads.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int isRefused(const void *caller) {
  static int started = 0;
  const char *which = getenv("NO_THREADS_OF");
  const char *colon = which == NULL ? NULL : strrchr(which, ':');
  Dl_info where;
  if (colon == NULL || dladdr(caller, &where) == 0 || where.dli_fname == NULL) return 0;
  char library[256] = "";
  strncat(library, which, (size_t)(colon - which) < sizeof library - 1 ? (size_t)(colon - which) : sizeof library - 1);
  if (strstr(where.dli_fname, library) == NULL) return 0;
  const int refused = atoi(colon + 1);
  return __atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST) == refused || refused == 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  if (getenv("NO_THREADS") != NULL || isRefused(__builtin_return_address(0))) return EAGAIN;
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
  return create(thread, attributes, start, argument);
}
