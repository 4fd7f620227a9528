// Runs generated CUDA C++ on the CPU: the CUDA words and functions that generated kernels use, and a scheduler that runs a
// block's threads as fibers on one operating system thread, so that barriers and warp operations work and every run is the
// same. Buffers end at a guard page: an access past the end stops the job, not the program. For tests; x86-64 or ucontext.
#pragma once

#include <cstddef>
// Without the special functions of C++17, which nobody calls: with them, <cmath> takes longer to compile than most kernels.
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static __attribute__((section(TANDEM_SHARED_SECTION)))
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(n)

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

// ---------------------------------------------------------------------------------------------------------- fibers

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
    const unsigned mask = lanes[i].mask;
    if (!(mask >> i & 1u)) stop("a lane takes part in a warp operation whose mask leaves it out");
    if ((mask & ~live) != 0) stop("the mask of a warp operation holds lanes that have ended, or do not exist");
    bool complete = true;
    for (unsigned j = 0; j < count; j++)
      if ((mask >> j & 1u) && !(lanes[j].at == state::at_exchange && lanes[j].mask == mask)) complete = false;
    if (!complete) continue;
    uint32_t values[32] = {};
    for (unsigned j = 0; j < count; j++)
      if (mask >> j & 1u) values[j] = lanes[j].posted;
    for (unsigned j = 0; j < count; j++) {
      if (!(mask >> j & 1u)) continue;
      memcpy(lanes[j].seen, values, sizeof values);
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
    if (ended != 0) stop("threads have ended while others wait at a barrier");
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

// --------------------------------------------------------------------------------------------------- CUDA functions

inline void __syncthreads() { tandem_cpu::to_scheduler(tandem_cpu::state::at_barrier); }
template <class T> T __shfl_sync(unsigned mask, T v, int from) { return tandem_cpu::shuffle(mask, v, (unsigned)from & 31u); }
template <class T> T __shfl_up_sync(unsigned mask, T v, unsigned by) { return tandem_cpu::shuffle(mask, v, tandem_cpu::lane() >= by ? tandem_cpu::lane() - by : 32u); }
template <class T> T __shfl_down_sync(unsigned mask, T v, unsigned by) { return tandem_cpu::shuffle(mask, v, tandem_cpu::lane() + by); }
template <class T> T __shfl_xor_sync(unsigned mask, T v, int by) { return tandem_cpu::shuffle(mask, v, tandem_cpu::lane() ^ (unsigned)by); }
inline unsigned __ballot_sync(unsigned mask, int p) {
  const tandem_cpu::fiber& f = tandem_cpu::exchange(mask, p != 0);
  unsigned result = 0;
  for (unsigned i = 0; i < 32; i++)
    if ((f.mask >> i & 1u) && f.seen[i]) result |= 1u << i;
  return result;
}
inline int __all_sync(unsigned mask, int p) {
  const unsigned ballot = __ballot_sync(mask, p);
  return ballot == tandem_cpu::the_scheduler().current->mask;
}
inline int __any_sync(unsigned mask, int p) { return __ballot_sync(mask, p) != 0; }

inline int __clz(int a) { return a == 0 ? 32 : __builtin_clz((unsigned)a); }
inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline unsigned __brev(unsigned a) {
  unsigned r = 0;
  for (int i = 0; i < 32; i++) r |= (a >> i & 1u) << (31 - i);
  return r;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 0xffu) * (b >> i & 0xffu);
  return c;
}
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += (int)(int8_t)((unsigned)a >> i) * (int)(int8_t)((unsigned)b >> i);
  return c;
}
inline unsigned __float_as_uint(float a) { return tandem_cpu::word(a); }
inline float __uint_as_float(unsigned a) { return tandem_cpu::from_word<float>(a); }
inline float __sinf(float a) { return sinf(a); }
inline float __cosf(float a) { return cosf(a); }
inline float __expf(float a) { return expf(a); }
inline float __logf(float a) { return logf(a); }
inline float __log2f(float a) { return log2f(a); }

#define TANDEM_CPU_ATOMIC(name, result) \
  template <class T> T name(T* p, T v) { const T old = *p; *p = (result); return old; }
TANDEM_CPU_ATOMIC(atomicAdd, (T)((unsigned)old + (unsigned)v))
TANDEM_CPU_ATOMIC(atomicSub, (T)((unsigned)old - (unsigned)v))
TANDEM_CPU_ATOMIC(atomicMax, old > v ? old : v)
TANDEM_CPU_ATOMIC(atomicMin, old < v ? old : v)
TANDEM_CPU_ATOMIC(atomicAnd, old & v)
TANDEM_CPU_ATOMIC(atomicOr, old | v)
TANDEM_CPU_ATOMIC(atomicXor, old ^ v)
TANDEM_CPU_ATOMIC(atomicExch, v)
template <class T> T atomicCAS(T* p, T expected, T desired) {
  const T old = *p;
  if (old == expected) *p = desired;
  return old;
}

// ------------------------------------------------------------------------------- what the prelude has PTX for on GPUs

namespace wgsl {

#define WGSL_DYNAMIC_WORKGROUP
alignas(16) inline unsigned char workgroup_memory[1 << 18];

// An asynchronous copy happens as late as it may, at the wait, and the last one first: code that does not wait, or
// looks in between, sees something else.
template <class T> void async_copy(T& to, const T& from) {
  tandem_cpu::the_scheduler().current->copies.add({&to, &from, sizeof(T), tandem_cpu::the_scheduler().current->group});
}
inline void async_wait() {
  auto& copies = tandem_cpu::the_scheduler().current->copies;
  for (; copies.count > 0; copies.count--) memcpy(copies.end()[-1].to, copies.end()[-1].from, copies.end()[-1].bytes);
}

inline void async_commit() { tandem_cpu::the_scheduler().current->group++; }
template <unsigned groups> void async_wait_before() {
  tandem_cpu::fiber& f = *tandem_cpu::the_scheduler().current;
  size_t due = 0;
  while (due < f.copies.count && f.group - f.copies[due].group > groups) due++;
  for (size_t i = due; i-- > 0;) memcpy(f.copies[i].to, f.copies[i].from, f.copies[i].bytes);
  memmove(f.copies.begin(), f.copies.begin() + due, (f.copies.count -= due) * sizeof(tandem_cpu::copy));
}

// A component of a matrix of halves as a tensor core takes it: exact.
inline double half_value(unsigned bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 31 ? (fraction != 0 ? NAN : INFINITY) : exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}
template <bool transposed, class At> void load_words(unsigned (&r)[4], At at) {
  const unsigned lane = tandem_cpu::lane();
  for (unsigned i = 0; i < 4; i++) {
    unsigned short halves[2];
    for (unsigned e = 0; e < 2; e++) {
      const unsigned across = lane / 4, along = lane % 4 * 2 + e;
      const unsigned row = i % 2 * 8 + (transposed ? along : across), column = i / 2 * 8 + (transposed ? across : along);
      memcpy(&halves[e], at(row, column), 2);
    }
    r[i] = halves[0] | (unsigned)halves[1] << 16;
  }
}
template <bool transposed> void load_matrix_words(unsigned (&r)[4], const void* from, unsigned stride_bytes) {
  load_words<transposed>(r, [&](unsigned row, unsigned column) { return static_cast<const char*>(from) + row * stride_bytes + column * 2; });
}
// In groups of eight elements of 16 bytes the elements are exchanged, differently from row to row.
template <bool transposed, unsigned width> void load_swizzled_words(unsigned (&r)[4], const void* array, unsigned moved, unsigned kept) {
  load_words<transposed>(r, [&](unsigned row, unsigned column) {
    const unsigned element = moved + kept + row * width + column / 8;
    const unsigned shift = width < 8 ? element / 8 % width : element / width % 8;
    return static_cast<const char*>(array) + (element ^ shift) * 16 + column % 8 * 2;
  });
}
// What the lanes hold of a product's factors, by word and lane.
struct factor_words {
  uint32_t left[4][32], right[2][32];
  factor_words(const unsigned (&a)[4], unsigned b0, unsigned b1) {
    for (unsigned i = 0; i < 4; i++) memcpy(left[i], tandem_cpu::exchange(0xffffffffu, a[i]).seen, sizeof left[i]);
    memcpy(right[0], tandem_cpu::exchange(0xffffffffu, b0).seen, sizeof right[0]);
    memcpy(right[1], tandem_cpu::exchange(0xffffffffu, b1).seen, sizeof right[1]);
  }
};
// Calls done(i, x, y) for each of four components with its 16 pairs of factors, in the order of k.
template <class F> void with_factors(const unsigned (&a)[4], unsigned b0, unsigned b1, F done) {
  const factor_words words(a, b0, b1);
  const unsigned lane = tandem_cpu::lane();
  for (unsigned i = 0; i < 4; i++) {
    const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    double x[16], y[16];
    for (unsigned k = 0; k < 16; k++) {
      x[k] = half_value(words.left[row / 8 + k / 8 * 2][row % 8 * 4 + k % 8 / 2] >> k % 2 * 16 & 0xffff);
      y[k] = half_value(words.right[k / 8][column * 4 + k % 8 / 2] >> k % 2 * 16 & 0xffff);
    }
    done(i, x, y);
  }
}
inline void multiply_matrices_i32(int (&d)[8], unsigned half, const unsigned (&a)[4], unsigned b0, unsigned b1, const int (&c)[8]) {
  const factor_words words(a, b0, b1);
  const unsigned lane = tandem_cpu::lane();
  for (unsigned i = 0; i < 4; i++) {
    const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    unsigned sum = (unsigned)c[half + i];
    for (unsigned k = 0; k < 32; k++) {
      const signed char x = (signed char)(words.left[row / 8 + k / 16 * 2][row % 8 * 4 + k % 16 / 4] >> k % 4 * 8);
      const signed char y = (signed char)(words.right[k / 16][column * 4 + k % 16 / 4] >> k % 4 * 8);
      sum += (unsigned)(x * y);
    }
    d[half + i] = (int)sum;
  }
}
// Like the tensor cores of an H100, as the reference executor does (reference/tensor-core.ts): the products and c are cut off two bits below the last bit of the largest.
inline void multiply_matrices_f32(float (&d)[8], unsigned half, const unsigned (&a)[4], unsigned b0, unsigned b1, const float (&c)[8]) {
  with_factors(a, b0, b1, [&](unsigned i, const double (&x)[16], const double (&y)[16]) {
    const double sum = c[half + i];
    const auto larger = [](int first, int second) { return first > second ? first : second; };
    const auto exponent = [&](double value, int least) { return value == 0 ? -4096 : larger(std::ilogb(value), least); };
    double plain = 0;
    int largest = exponent(sum, -126);
    for (unsigned k = 0; k < 16; k++) {
      plain += x[k] * y[k];
      if (std::isfinite(plain)) largest = larger(largest, exponent(x[k], -14) + exponent(y[k], -14));
    }
    if (!std::isfinite(plain + sum)) {
      d[half + i] = (float)(plain + sum);
      return;
    }
    largest = larger(largest, -512);
    double total = std::trunc(std::ldexp(sum, 25 - largest));
    for (unsigned k = 0; k < 16; k++) total += std::trunc(std::ldexp(x[k] * y[k], 25 - largest));
    const int excess = total == 0 ? 0 : larger(0, std::ilogb(total) - 23);
    d[half + i] = (float)std::ldexp(std::trunc(std::ldexp(total, -excess)), excess + largest - 25);
  });
}
inline unsigned short ptx_f32_to_f16(float a);
inline void multiply_matrices_f16(unsigned (&d)[4], unsigned half, const unsigned (&a)[4], unsigned b0, unsigned b1, const unsigned (&c)[4]) {
  double sums[4];
  with_factors(a, b0, b1, [&](unsigned i, const double (&x)[16], const double (&y)[16]) {
    sums[i] = 0;
    for (unsigned k = 0; k < 16; k++) sums[i] += x[k] * y[k];
  });
  for (unsigned i = 0; i < 2; i++) {
    const unsigned low = ptx_f32_to_f16((float)(sums[2 * i] + half_value(c[half + i] & 0xffff)));
    d[half + i] = low | (unsigned)ptx_f32_to_f16((float)(sums[2 * i + 1] + half_value(c[half + i] >> 16))) << 16;
  }
}

template <unsigned chunks, class T> T load_uniform(const T* from) { return *from; }
inline unsigned lane_index() { return tandem_cpu::lane(); }
inline unsigned active_lanes(int site) {
  tandem_cpu::fiber* f = tandem_cpu::the_scheduler().current;
  f->site = site;
  tandem_cpu::to_scheduler(tandem_cpu::state::at_active);
  return f->mask;
}
inline float ptx_div(float a, float b) { return a / b; }
inline float ptx_sqrt(float a) { return sqrtf(a); }
inline float ptx_rsqrt(float a) { return 1.0f / sqrtf(a); }

inline float ptx_f16_to_f32(unsigned short a) {
  const unsigned sign = (unsigned)(a & 0x8000) << 16, exponent = a >> 10 & 31u, mantissa = a & 0x3ffu;
  if (exponent == 31u) return __uint_as_float(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0u) {
    const float magnitude = ldexpf((float)mantissa, -24);
    return sign ? -magnitude : magnitude;
  }
  return __uint_as_float(sign | (exponent + 112u) << 23 | mantissa << 13);
}
// To nearest, ties to even.
inline unsigned short round_to_f16(double a) {
  const unsigned sign = std::signbit(a) ? 0x8000u : 0u;
  const double m = fabs(a);
  if (m != m) return 0x7e00;
  if (m >= 65520.0) return (unsigned short)(sign | 0x7c00u);
  if (m < ldexp(1.0, -25)) return (unsigned short)sign;
  int e;
  frexp(m, &e);
  const int exponent = e - 1 < -14 ? -14 : e - 1;
  const unsigned steps = (unsigned)nearbyint(ldexp(m, 10 - exponent));
  return (unsigned short)(sign | (((unsigned)(exponent + 14) << 10) + steps));
}
inline unsigned short ptx_f32_to_f16(float a) { return round_to_f16(a); }
inline unsigned short ptx_f16_add(unsigned short a, unsigned short b) { return round_to_f16((double)ptx_f16_to_f32(a) + ptx_f16_to_f32(b)); }
inline unsigned short ptx_f16_sub(unsigned short a, unsigned short b) { return round_to_f16((double)ptx_f16_to_f32(a) - ptx_f16_to_f32(b)); }
inline unsigned short ptx_f16_mul(unsigned short a, unsigned short b) { return round_to_f16((double)ptx_f16_to_f32(a) * ptx_f16_to_f32(b)); }
inline unsigned short ptx_f16_fma(unsigned short a, unsigned short b, unsigned short c) {
  return round_to_f16((double)ptx_f16_to_f32(a) * ptx_f16_to_f32(b) + ptx_f16_to_f32(c));
}

}  // namespace wgsl

// ------------------------------------------------------------------------------------------------------------ jobs

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
        if (k.shared_begin != nullptr) memset(k.shared_begin, 0xa5, (size_t)(k.shared_end - k.shared_begin));
        memset(wgsl::workgroup_memory, 0xa5, sizeof wgsl::workgroup_memory);
        if (k.meets) {
          run_block_as_fibers();
          continue;
        }
        for (unsigned i = 0; i < s.count; i++) {
          s.current = &s.fibers[i];
          s.current->copies.count = 0;
          threadIdx = {i % k.x, i / k.x % k.y, i / (k.x * k.y)};
          k.body(arguments);
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
