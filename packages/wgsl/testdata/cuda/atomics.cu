// atomics.wgsl: translated from WGSL, bounds: clamp
#pragma nv_diag_suppress 177,186
namespace wgsl {
#define WGSL_FN __device__ __forceinline__
WGSL_FN float ptx_div(float a, float b) { float r; asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
// x / 0 is x and x % 0 is 0; so are MIN / -1 and MIN % -1. f32 division is within 2 ULP.
WGSL_FN int div(int a, int b) { return a / (b == 0 || (b == -1 && a == (-2147483647 - 1)) ? 1 : b); }
WGSL_FN int rem(int a, int b) { return a % (b == 0 || (b == -1 && a == (-2147483647 - 1)) ? 1 : b); }
WGSL_FN unsigned div(unsigned a, unsigned b) { return a / (b == 0u ? 1u : b); }
WGSL_FN unsigned rem(unsigned a, unsigned b) { return a % (b == 0u ? 1u : b); }
WGSL_FN float div(float a, float b) { return ptx_div(a, b); }
WGSL_FN float rem(float a, float b) { return fmodf(a, b); }
WGSL_FN float min(float a, float b) { return fminf(a, b); }
WGSL_FN float max(float a, float b) { return fmaxf(a, b); }
#ifdef WGSL_OPAQUE_SIGNS
// Compilers define this where ptxas would otherwise make one instruction of two minimums or maximums.
WGSL_FN unsigned is_less(int a, int b) { unsigned r; asm("{ .reg .pred %%p; setp.lt.s32 %%p, %1, %2; selp.u32 %0, 1, 0, %%p; }" : "=r"(r) : "r"(a), "r"(b)); return r; }
WGSL_FN int min(int a, int b) { return is_less(a, b) != 0u ? a : b; }
WGSL_FN int max(int a, int b) { return is_less(b, a) != 0u ? a : b; }
#else
WGSL_FN int min(int a, int b) { return a < b ? a : b; }
WGSL_FN int max(int a, int b) { return a > b ? a : b; }
#endif
WGSL_FN unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
WGSL_FN unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
#define WGSL_CTOR __host__ __device__ __forceinline__ constexpr
// Elements of a runtime-sized array that starts at 'offset' in a binding.
WGSL_FN unsigned array_length(unsigned long long bytes, unsigned offset, unsigned stride) {
  const unsigned long long rest = bytes < offset ? 0ull : bytes - offset;
  unsigned elements = (unsigned)(rest >> 32) >= stride ? 0xffffffffu : (unsigned)(rest / stride);
  asm("" : "+r"(elements));  // computed once, not again at each use
  return elements;
}
// C++ may assume that a loop without side effects ends; WGSL gives endless loops a meaning. And where a loop compares its
// counter with what stays the same, nvcc 13.0 exchanges != and ==, for others who use the result too, to split the loop.
// For sm_100, it leaves branches around nothing otherwise, on which ptxas 13.0 crashes.
#if __CUDA_ARCH__ >= 1000
#define KEPT_LOOP { unsigned unused; asm volatile("mov.u32 %0, 0;" : "=r"(unused)); }
#else
#define KEPT_LOOP asm volatile("");
#endif
// The same value, of which neither nvcc nor ptxas knows anything: a grid has less than 65,536 rows.
WGSL_FN unsigned grid_rows() { unsigned r; asm("mov.u32 %0, %%nctaid.y;" : "=r"(r)); return r; }
WGSL_FN unsigned unknown(unsigned value) { return value ^ __umulhi(grid_rows(), grid_rows()); }
WGSL_FN bool unknown(bool value) { return value != ((grid_rows() & 65536u) != 0u); }
// A value of a type that no other function has: see FunctionWriter.own. Where LLVM does not tell types by their
// names, the structures before the value do, which write the function's number in binary.
template <int number, bool odd = number % 2 == 1> struct own_number { own_number<number / 2> rest; };
template <int number> struct own_number<number, true> { own_number<number / 2> rest[1]; };
template <> struct own_number<0, false> {
  unsigned word;
  __device__ __forceinline__ own_number() {}
};
template <int function, class T> struct local {
  own_number<function> before;
  T value;
};
WGSL_FN int unknown(int value) { return (int)unknown((unsigned)value); }
WGSL_FN float unknown(float value) { return __uint_as_float(unknown(__float_as_uint(value))); }
// Zeroes workgroup memory, spread over the threads of the block.
WGSL_FN void zero_workgroup(void* memory, unsigned bytes, unsigned thread, unsigned threads) {
  struct alignas(16) quad { unsigned w[4]; };
  quad* const quads = static_cast<quad*>(memory);
  const unsigned whole = bytes / 16u / threads * threads;
  if (whole / threads <= 16u) {
    // Written out: a loop here costs the code after it registers and order.
    _Pragma("unroll") for (unsigned i = 0; i < 16u; i++) if (i < whole / threads) quads[i * threads + thread] = quad{};
  } else {
    _Pragma("unroll 1") for (unsigned i = 0; i < whole; i += threads) quads[i + thread] = quad{};
  }
  if (thread < bytes / 16u - whole) quads[whole + thread] = quad{};
  if (thread < bytes % 16u) static_cast<unsigned char*>(memory)[bytes / 16u * 16u + thread] = 0;
}
template <class T> WGSL_FN T atomicLoad(const T& place) { return *static_cast<const volatile T*>(&place); }
template <class T> WGSL_FN void atomicStore(T& place, T value) { *static_cast<volatile T*>(&place) = value; }
WGSL_FN int atomicAdd(int& place, int value) { return ::atomicAdd(&place, value); }
WGSL_FN unsigned atomicAdd(unsigned& place, unsigned value) { return ::atomicAdd(&place, value); }
WGSL_FN int atomicMax(int& place, int value) { return ::atomicMax(&place, value); }
WGSL_FN unsigned atomicMax(unsigned& place, unsigned value) { return ::atomicMax(&place, value); }
WGSL_FN int atomicOr(int& place, int value) { return ::atomicOr(&place, value); }
WGSL_FN unsigned atomicOr(unsigned& place, unsigned value) { return ::atomicOr(&place, value); }
// Never fails spuriously.
template <class Result, class T> WGSL_FN Result atomicCompareExchangeWeak(T& place, T expected, T desired) {
  const T old = ::atomicCAS(&place, expected, desired);
  return Result(old, old == expected);
}

struct atomic_compare_exchange_result_u32_t {
  unsigned old_value_;
  bool exchanged_;
  unsigned char pad0[3];
  atomic_compare_exchange_result_u32_t() = default;
  WGSL_CTOR atomic_compare_exchange_result_u32_t(unsigned a0, bool a1) : old_value_(a0), exchanged_(a1), pad0{} {}
};
alignas(16) __shared__ int most_;
extern "C" __global__ void __launch_bounds__(64) main_(
    unsigned* counters_,
    unsigned long long counters_bytes,
    unsigned* out_,
    unsigned long long out_bytes
) {
  const unsigned counters_length = array_length(counters_bytes, 0u, 4u);
  zero_workgroup(&most_, sizeof(most_), threadIdx.x, 64u);
  __syncthreads();
  const unsigned i_ = threadIdx.x;
  atomicMax(most_, (int)i_);
  atomicAdd(counters_[min(rem(i_, 4u), counters_length - 1u)], i_);
  atomicOr(counters_[min(4u, counters_length - 1u)], 1u << (rem(i_, 32u) & 31u));
  unsigned seen_ = atomicLoad(counters_[min(5u, counters_length - 1u)]);
  _Pragma("unroll 1") while (true) {
    KEPT_LOOP
    const atomic_compare_exchange_result_u32_t& result_ = local<0, atomic_compare_exchange_result_u32_t>{{}, atomicCompareExchangeWeak<atomic_compare_exchange_result_u32_t>(counters_[min(5u, counters_length - 1u)], seen_, seen_ + 3u)}.value;
    if (unknown(result_.exchanged_)) {
      break;
    }
    seen_ = result_.old_value_;
  }
  __syncthreads();
  if (i_ == 0u) {
    atomicAdd(*out_, (unsigned)(atomicLoad(most_)));
  }
}
}
