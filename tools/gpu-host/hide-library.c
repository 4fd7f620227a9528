/*
 * Hides a shared library from dlopen, to see what a user without it sees:
 *   cc -shared -fPIC hide-library.c -o hide.so; HIDE_LIBRARY=libnvrtc LD_PRELOAD=$PWD/hide.so tandem doctor
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void *dlopen(const char *name, int flags) {
  static void *(*real)(const char *, int);
  if (!real) real = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
  const char *hidden = getenv("HIDE_LIBRARY");
  if (name && hidden && *hidden && strstr(name, hidden)) name = "/hidden/library.so";
  return real(name, flags);
}
