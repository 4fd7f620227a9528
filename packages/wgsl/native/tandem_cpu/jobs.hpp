// Runs grids of kernels, and serves jobs over stdin and stdout.
#pragma once

#include <sys/wait.h>

#include "prelude.hpp"

namespace tandem_cpu {

struct kernel {
  const char* name;
  // Calls the kernel; arguments[i] points to the i-th parameter's value.
  void (*body)(void* const* arguments);
  unsigned x, y, z;
  // Threads meet at barriers or exchange values.
  bool meets;
  // Workgroup memory; null when there is none.
  char *shared_begin, *shared_end;
};

// A parameter's value, or memory with its contents for a pointer.
struct argument {
  bool is_buffer;
  size_t bytes;
  uint64_t value;  // the number, or the address
};

inline void* guarded(size_t bytes) {
  const size_t page = 4096, room = (bytes + page - 1) / page * page + (bytes == 0 ? page : 0);
  char* base = static_cast<char*>(mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  mprotect(base + room, page, PROT_NONE);
  return base + (room - bytes) / 16 * 16;
}

// Runs a thread that meets no other.
inline void run_thread(const kernel& k, void* const* arguments) {
  if (setjmp(the_scheduler().end) == 0) k.body(arguments);
}

inline void run_grid(const kernel& k, unsigned gx, unsigned gy, unsigned gz, void* const* arguments) {
  gridDim = {gx, gy, gz};
  blockDim = {k.x, k.y, k.z};
  scheduler& s = the_scheduler();
  s.count = k.x * k.y * k.z;
  s.body = k.body;
  s.arguments = arguments;
  for (unsigned z = 0; z < gz; z++)
    for (unsigned y = 0; y < gy; y++)
      for (unsigned x = 0; x < gx; x++) {
        blockIdx = {x, y, z};
        s.left = false;
        if (k.shared_begin != nullptr) memset(k.shared_begin, 0xa5, (size_t)(k.shared_end - k.shared_begin));
        memset(wgsl::workgroup_memory, 0xa5, sizeof wgsl::workgroup_memory);
        if (k.meets) {
          run_block_as_fibers();
          continue;
        }
        s.fibers_run = false;
        for (unsigned i = 0; i < s.count; i++) {
          s.current = &s.fibers[i];
          s.current->copies.count = 0;
          threadIdx = {i % k.x, i / k.x % k.y, i / (k.x * k.y)};
          run_thread(k, arguments);
        }
      }
}

inline bool read_exactly(void* to, size_t bytes) { return fread(to, 1, bytes, stdin) == bytes; }

// Reads jobs from stdin until it ends, runs each in a child process, and writes what its buffers then hold to stdout.
//
//   job:    "run KERNEL GX GY GZ SECONDS COUNT\n", then COUNT of  "number VALUE\n" | "buffer BYTES\n" and the bytes
//   answer: "ok\n" and the bytes of all buffers in order, or "failed REASON\n"
inline int serve(const kernel* kernels, unsigned count) {
  char line[256];
  while (fgets(line, sizeof line, stdin) != nullptr) {
    unsigned index, gx, gy, gz, seconds, parameters;
    if (sscanf(line, "run %u %u %u %u %u %u", &index, &gx, &gy, &gz, &seconds, &parameters) != 6 || index >= count) {
      fprintf(stderr, "bad job: %s", line);
      return 2;
    }
    list<argument> values(parameters);
    for (argument& a : values) {
      unsigned long long n;
      if (fgets(line, sizeof line, stdin) == nullptr) return 2;
      if (sscanf(line, "number %llu", &n) == 1) a = {false, 0, n};
      else if (sscanf(line, "buffer %llu", &n) == 1) {
        a = {true, (size_t)n, reinterpret_cast<uint64_t>(guarded((size_t)n))};
        if (!read_exactly(reinterpret_cast<void*>(a.value), a.bytes)) return 2;
      } else return 2;
    }
    list<void*> arguments(parameters);
    for (unsigned i = 0; i < parameters; i++) arguments[i] = &values[i].value;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      alarm(seconds);
      run_grid(kernels[index], gx, gy, gz, arguments.items);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      printf("ok\n");
      for (const argument& a : values)
        if (a.is_buffer) fwrite(reinterpret_cast<void*>(a.value), 1, a.bytes, stdout);
    } else if (WIFSIGNALED(status)) printf("failed signal %d\n", WTERMSIG(status));
    else printf("failed status %d\n", WEXITSTATUS(status));
    for (const argument& a : values)
      if (a.is_buffer) munmap(reinterpret_cast<void*>(a.value / 4096 * 4096), (a.bytes + 4095) / 4096 * 4096 + 4096);
  }
  return 0;
}

}  // namespace tandem_cpu
