// The words of CUDA C++ and those of its functions that generated kernels use.
#pragma once

#include "fibers.hpp"

// Without the special functions of C++17, which nobody calls: with them, <cmath> takes longer to compile than most kernels.
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#include <cmath>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static __attribute__((section(TANDEM_SHARED_SECTION)))
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(n)

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

// The product is exact in a double; of the sums that kernels form, so is every one that matters.
inline float __fmaf_rd(float a, float b, float c) {
  const double sum = (double)a * b + c;
  const float nearest = (float)sum;
  return nearest > sum ? nextafterf(nearest, -INFINITY) : nearest;
}
inline int __clz(int a) { return a == 0 ? 32 : __builtin_clz((unsigned)a); }
inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline unsigned __brev(unsigned a) {
  unsigned r = 0;
  for (int i = 0; i < 32; i++) r |= (a >> i & 1u) << (31 - i);
  return r;
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
