// A block's threads as fibers on one operating system thread, which go on together at barriers and warp operations. The order is always the same.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace tandem_cpu {

struct index3 {
  unsigned x, y, z;
};

// An array that grows. <vector> takes longer to compile than most kernels.
template <typename T> struct list {
  T* items = nullptr;
  size_t count = 0;
  size_t room = 0;

  list() = default;
  explicit list(size_t n) : items(static_cast<T*>(calloc(n + 1, sizeof(T)))), count(n), room(n + 1) {}
  list(const list&) = delete;
  list& operator=(const list&) = delete;
  ~list() { free(items); }
  T* begin() { return items; }
  T* end() { return items + count; }
  T& operator[](size_t i) { return items[i]; }
  void add(const T& item) {
    if (count == room) items = static_cast<T*>(realloc(items, (room = 2 * room + 8) * sizeof(T)));
    items[count++] = item;
  }
};

constexpr unsigned most_threads = 1024;
constexpr size_t stack_bytes = 1 << 20;

enum class state { ready, at_barrier, at_exchange, at_active, ended };

struct copy {
  void* to;
  const void* from;
  size_t bytes;
  unsigned group;
};

struct fiber {
#if defined(__x86_64__)
  void* stack_pointer;
#else
  ucontext_t context;
#endif
  char* stack;
  state at;
  index3 thread;
  unsigned mask;         // at_exchange: who takes part; at_active: the answer
  int site;              // at_active: where
  uint32_t posted;       // at_exchange: this lane's value
  uint32_t seen[32];     // at_exchange: everyone's values
  list<copy> copies;  // asynchronous ones that are not waited for yet
  unsigned group = 0; // of the copies that come next
};

struct scheduler {
  fiber fibers[most_threads];
  fiber* current = nullptr;
  unsigned count = 0;
  void (*body)(void* const*) = nullptr;
  void* const* arguments = nullptr;
  bool fibers_run = false;
  // A thread of this block has left the kernel: barriers and warp operations count it as arrived.
  bool left = false;
  jmp_buf end;  // where a thread that is no fiber leaves to
#if defined(__x86_64__)
  void* stack_pointer;
#else
  ucontext_t context;
#endif
};

inline scheduler& the_scheduler() {
  static scheduler s;
  return s;
}

// Before the library of a kernel is unloaded. Nothing of it runs any more, which does not hold where the process exits: no destructor does this.
inline void free_stacks() {
  for (fiber& f : the_scheduler().fibers) {
    if (f.stack != nullptr) munmap(f.stack, stack_bytes);
    f.stack = nullptr;
  }
}

#if defined(__x86_64__)
extern "C" void tandem_cpu_switch(void** save, void* load);
asm(R"(
.text
.weak tandem_cpu_switch
tandem_cpu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
#endif

}  // namespace tandem_cpu

inline tandem_cpu::index3 threadIdx, blockIdx, blockDim, gridDim;

namespace tandem_cpu {

inline void to_scheduler(state at) {
  scheduler& s = the_scheduler();
  fiber* f = s.current;
  f->at = at;
#if defined(__x86_64__)
  tandem_cpu_switch(&f->stack_pointer, s.stack_pointer);
#else
  swapcontext(&f->context, &s.context);
#endif
}

inline void fiber_main() {
  scheduler& s = the_scheduler();
  s.body(s.arguments);
  to_scheduler(state::ended);
  abort();
}

// Ends the thread that runs, from any depth.
[[noreturn]] inline void leave() {
  scheduler& s = the_scheduler();
  s.left = true;
  if (!s.fibers_run) longjmp(s.end, 1);
  to_scheduler(state::ended);
  abort();
}

inline void start(fiber& f) {
  if (f.stack == nullptr)
    f.stack = static_cast<char*>(mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  f.at = state::ready;
  f.copies.count = 0;
#if defined(__x86_64__)
  void** top = reinterpret_cast<void**>(f.stack + stack_bytes - 64);
  *--top = nullptr;  // keeps the stack aligned as after a call
  *--top = reinterpret_cast<void*>(&fiber_main);
  for (int i = 0; i < 6; i++) *--top = nullptr;
  f.stack_pointer = top;
#else
  getcontext(&f.context);
  f.context.uc_stack.ss_sp = f.stack;
  f.context.uc_stack.ss_size = stack_bytes;
  f.context.uc_link = nullptr;
  makecontext(&f.context, fiber_main, 0);
#endif
}

inline void resume(fiber& f) {
  scheduler& s = the_scheduler();
  s.current = &f;
  threadIdx = f.thread;
#if defined(__x86_64__)
  tandem_cpu_switch(&s.stack_pointer, f.stack_pointer);
#else
  swapcontext(&s.context, &f.context);
#endif
}

[[noreturn]] inline void stop(const char* why) {
  fprintf(stderr, "%s\n", why);
  _exit(3);
}

// Lets lanes of one warp go on that wait for each other. Returns whether any did. Exactly the lanes of a mask have to arrive:
// on a GPU anything else is undefined.
inline bool release_warp(fiber* lanes, unsigned count) {
  bool released = false;
  unsigned live = 0;
  for (unsigned i = 0; i < count; i++)
    if (lanes[i].at != state::ended) live |= 1u << i;
  for (unsigned i = 0; i < count; i++) {
    if (lanes[i].at != state::at_exchange) continue;
    const unsigned asked = lanes[i].mask;
    const unsigned mask = the_scheduler().left ? asked & live : asked;
    if (!(mask >> i & 1u)) stop("a lane takes part in a warp operation whose mask leaves it out");
    if ((mask & ~live) != 0) stop("the mask of a warp operation holds lanes that have ended, or do not exist");
    bool complete = true;
    for (unsigned j = 0; j < count; j++)
      if ((mask >> j & 1u) && !(lanes[j].at == state::at_exchange && lanes[j].mask == asked)) complete = false;
    if (!complete) continue;
    uint32_t values[32] = {};
    for (unsigned j = 0; j < count; j++)
      if (mask >> j & 1u) values[j] = lanes[j].posted;
    for (unsigned j = 0; j < count; j++) {
      if (!(mask >> j & 1u)) continue;
      memcpy(lanes[j].seen, values, sizeof values);
      lanes[j].mask = mask;
      lanes[j].at = state::ready;
    }
    released = true;
  }
  if (released) return true;
  // Nobody can move: the lanes that stand at the first place in the source form a group.
  int first = -1;
  for (unsigned i = 0; i < count; i++) {
    if (lanes[i].at == state::ready) return false;
    if (lanes[i].at == state::at_active && (first < 0 || lanes[i].site < first)) first = lanes[i].site;
  }
  if (first < 0) return false;
  unsigned mask = 0;
  for (unsigned i = 0; i < count; i++)
    if (lanes[i].at == state::at_active && lanes[i].site == first) mask |= 1u << i;
  for (unsigned i = 0; i < count; i++)
    if (mask >> i & 1u) {
      lanes[i].mask = mask;
      lanes[i].at = state::ready;
    }
  return true;
}

inline void run_block_as_fibers() {
  scheduler& s = the_scheduler();
  s.fibers_run = true;
  for (unsigned i = 0; i < s.count; i++) {
    fiber& f = s.fibers[i];
    f.thread = {i % blockDim.x, i / blockDim.x % blockDim.y, i / (blockDim.x * blockDim.y)};
    start(f);
  }
  for (;;) {
    for (unsigned i = 0; i < s.count; i++)
      if (s.fibers[i].at == state::ready) resume(s.fibers[i]);
    bool moved = false;
    for (unsigned w = 0; w < s.count; w += 32) moved |= release_warp(s.fibers + w, s.count - w < 32 ? s.count - w : 32);
    if (moved) continue;
    unsigned waiting = 0, ended = 0;
    for (unsigned i = 0; i < s.count; i++) {
      waiting += s.fibers[i].at == state::at_barrier;
      ended += s.fibers[i].at == state::ended;
    }
    if (ended == s.count) return;
    if (waiting + ended != s.count) stop("threads wait for each other at different warp operations");
    if (ended != 0 && !s.left) stop("threads have ended while others wait at a barrier");
    for (unsigned i = 0; i < s.count; i++)
      if (s.fibers[i].at == state::at_barrier) s.fibers[i].at = state::ready;
  }
}

// Posts a value and waits until every lane of the mask has.
inline const fiber& exchange(unsigned mask, uint32_t value) {
  fiber* f = the_scheduler().current;
  f->mask = mask;
  f->posted = value;
  to_scheduler(state::at_exchange);
  return *f;
}

inline unsigned lane() { return static_cast<unsigned>(the_scheduler().current - the_scheduler().fibers) & 31u; }

template <class T> uint32_t word(T v) {
  static_assert(sizeof(T) == 4, "lanes exchange words");
  uint32_t w;
  memcpy(&w, &v, 4);
  return w;
}
template <class T> T from_word(uint32_t w) {
  T v;
  memcpy(&v, &w, 4);
  return v;
}
template <class T> T shuffle(unsigned mask, T v, unsigned from) {
  const fiber& f = exchange(mask, word(v));
  return from < 32u ? from_word<T>(f.seen[from]) : v;
}

}  // namespace tandem_cpu
