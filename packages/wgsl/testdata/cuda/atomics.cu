// atomics.wgsl: translated from WGSL, bounds: clamp
#pragma nv_diag_suppress 177
namespace wgsl {
#define WGSL_FN __device__ __forceinline__
// i32 wraps around: the sum is formed in unsigned arithmetic.
WGSL_FN int add(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
WGSL_FN int sub(int a, int b) { return (int)((unsigned)a - (unsigned)b); }
WGSL_FN int mul(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
WGSL_FN int neg(int a) { return (int)(0u - (unsigned)a); }
WGSL_FN unsigned add(unsigned a, unsigned b) { return a + b; }
WGSL_FN unsigned sub(unsigned a, unsigned b) { return a - b; }
WGSL_FN unsigned mul(unsigned a, unsigned b) { return a * b; }
WGSL_FN float add(float a, float b) { return a + b; }
WGSL_FN float sub(float a, float b) { return a - b; }
WGSL_FN float mul(float a, float b) { return a * b; }
WGSL_FN float neg(float a) { return -a; }
WGSL_FN float ptx_sqrt(float a) { float r; asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
WGSL_FN float ptx_rsqrt(float a) { float r; asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
WGSL_FN float sqrt(float a) { return ptx_sqrt(a); }
WGSL_FN float min(float a, float b) { return fminf(a, b); }
WGSL_FN float max(float a, float b) { return fmaxf(a, b); }
WGSL_FN int min(int a, int b) { return a < b ? a : b; }
WGSL_FN int max(int a, int b) { return a > b ? a : b; }
WGSL_FN unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
WGSL_FN unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
#define WGSL_CTOR __host__ __device__ __forceinline__ constexpr
template <class T, int N> struct vec;
template <class T> struct alignas(2 * sizeof(T)) vec<T, 2> {
  T x, y;
  vec() = default;
  explicit WGSL_CTOR vec(T s) : x(s), y(s) {}
  WGSL_CTOR vec(T x, T y) : x(x), y(y) {}
};
template <class T> struct vec<T, 3> {
  T x, y, z;
  vec() = default;
  explicit WGSL_CTOR vec(T s) : x(s), y(s), z(s) {}
  WGSL_CTOR vec(T x, T y, T z) : x(x), y(y), z(z) {}
  WGSL_CTOR vec(vec<T, 2> a, T z) : x(a.x), y(a.y), z(z) {}
  WGSL_CTOR vec(T x, vec<T, 2> a) : x(x), y(a.x), z(a.y) {}
};
template <class T> struct alignas(4 * sizeof(T)) vec<T, 4> {
  T x, y, z, w;
  vec() = default;
  explicit WGSL_CTOR vec(T s) : x(s), y(s), z(s), w(s) {}
  WGSL_CTOR vec(T x, T y, T z, T w) : x(x), y(y), z(z), w(w) {}
  WGSL_CTOR vec(vec<T, 2> a, T z, T w) : x(a.x), y(a.y), z(z), w(w) {}
  WGSL_CTOR vec(T x, vec<T, 2> a, T w) : x(x), y(a.x), z(a.y), w(w) {}
  WGSL_CTOR vec(T x, T y, vec<T, 2> a) : x(x), y(y), z(a.x), w(a.y) {}
  WGSL_CTOR vec(vec<T, 2> a, vec<T, 2> b) : x(a.x), y(a.y), z(b.x), w(b.y) {}
  WGSL_CTOR vec(vec<T, 3> a, T w) : x(a.x), y(a.y), z(a.z), w(w) {}
  WGSL_CTOR vec(T x, vec<T, 3> a) : x(x), y(a.x), z(a.y), w(a.z) {}
};
// A vec3 as an element of an array or a column of a matrix: 12 bytes in a stride of 16.
template <class T> struct alignas(4 * sizeof(T)) slot { vec<T, 3> value; };
template <class T> WGSL_FN vec<T, 2> make_vec(T x, T y) { return vec<T, 2>(x, y); }
template <class T> WGSL_FN vec<T, 3> make_vec(T x, T y, T z) { return vec<T, 3>(x, y, z); }
template <class T> WGSL_FN vec<T, 4> make_vec(T x, T y, T z, T w) { return vec<T, 4>(x, y, z, w); }
typedef vec<float, 2> vec2f; typedef vec<float, 3> vec3f; typedef vec<float, 4> vec4f;
typedef vec<int, 2> vec2i; typedef vec<int, 3> vec3i; typedef vec<int, 4> vec4i;
typedef vec<unsigned, 2> vec2u; typedef vec<unsigned, 3> vec3u; typedef vec<unsigned, 4> vec4u;
typedef vec<bool, 2> vec2b; typedef vec<bool, 3> vec3b; typedef vec<bool, 4> vec4b;
template <class A, class B> WGSL_FN auto operator-(vec<A, 2> a, vec<B, 2> b) { return make_vec(sub(a.x, b.x), sub(a.y, b.y)); }
template <class T> WGSL_FN auto operator-(vec<T, 2> a, T b) { return make_vec(sub(a.x, b), sub(a.y, b)); }
template <class T> WGSL_FN auto operator-(T a, vec<T, 2> b) { return make_vec(sub(a, b.x), sub(a, b.y)); }
template <class A, class B> WGSL_FN auto operator-(vec<A, 3> a, vec<B, 3> b) { return make_vec(sub(a.x, b.x), sub(a.y, b.y), sub(a.z, b.z)); }
template <class T> WGSL_FN auto operator-(vec<T, 3> a, T b) { return make_vec(sub(a.x, b), sub(a.y, b), sub(a.z, b)); }
template <class T> WGSL_FN auto operator-(T a, vec<T, 3> b) { return make_vec(sub(a, b.x), sub(a, b.y), sub(a, b.z)); }
template <class A, class B> WGSL_FN auto operator-(vec<A, 4> a, vec<B, 4> b) { return make_vec(sub(a.x, b.x), sub(a.y, b.y), sub(a.z, b.z), sub(a.w, b.w)); }
template <class T> WGSL_FN auto operator-(vec<T, 4> a, T b) { return make_vec(sub(a.x, b), sub(a.y, b), sub(a.z, b), sub(a.w, b)); }
template <class T> WGSL_FN auto operator-(T a, vec<T, 4> b) { return make_vec(sub(a, b.x), sub(a, b.y), sub(a, b.z), sub(a, b.w)); }
template <class A, class B> WGSL_FN auto operator*(vec<A, 2> a, vec<B, 2> b) { return make_vec(mul(a.x, b.x), mul(a.y, b.y)); }
template <class T> WGSL_FN auto operator*(vec<T, 2> a, T b) { return make_vec(mul(a.x, b), mul(a.y, b)); }
template <class T> WGSL_FN auto operator*(T a, vec<T, 2> b) { return make_vec(mul(a, b.x), mul(a, b.y)); }
template <class A, class B> WGSL_FN auto operator*(vec<A, 3> a, vec<B, 3> b) { return make_vec(mul(a.x, b.x), mul(a.y, b.y), mul(a.z, b.z)); }
template <class T> WGSL_FN auto operator*(vec<T, 3> a, T b) { return make_vec(mul(a.x, b), mul(a.y, b), mul(a.z, b)); }
template <class T> WGSL_FN auto operator*(T a, vec<T, 3> b) { return make_vec(mul(a, b.x), mul(a, b.y), mul(a, b.z)); }
template <class A, class B> WGSL_FN auto operator*(vec<A, 4> a, vec<B, 4> b) { return make_vec(mul(a.x, b.x), mul(a.y, b.y), mul(a.z, b.z), mul(a.w, b.w)); }
template <class T> WGSL_FN auto operator*(vec<T, 4> a, T b) { return make_vec(mul(a.x, b), mul(a.y, b), mul(a.z, b), mul(a.w, b)); }
template <class T> WGSL_FN auto operator*(T a, vec<T, 4> b) { return make_vec(mul(a, b.x), mul(a, b.y), mul(a, b.z), mul(a, b.w)); }
template <class T> WGSL_FN T dot(vec<T, 2> a, vec<T, 2> b) { return add(mul(a.x, b.x), mul(a.y, b.y)); }
template <class T> WGSL_FN T dot(vec<T, 3> a, vec<T, 3> b) { return add(add(mul(a.x, b.x), mul(a.y, b.y)), mul(a.z, b.z)); }
template <class T> WGSL_FN T dot(vec<T, 4> a, vec<T, 4> b) { return add(add(add(mul(a.x, b.x), mul(a.y, b.y)), mul(a.z, b.z)), mul(a.w, b.w)); }
WGSL_FN float length(float a) { return fabsf(a); }
template <int N> WGSL_FN float length(vec<float, N> a) { return ptx_sqrt(dot(a, a)); }
WGSL_FN float distance(float a, float b) { return fabsf(a - b); }
template <int N> WGSL_FN float distance(vec<float, N> a, vec<float, N> b) { return length(a - b); }
template <int N> WGSL_FN vec<float, N> normalize(vec<float, N> a) { return a * ptx_rsqrt(dot(a, a)); }
// Elements of a runtime-sized array that starts at 'offset' in a binding.
WGSL_FN unsigned array_length(unsigned long long bytes, unsigned offset, unsigned stride) {
  const unsigned long long n = bytes < offset ? 0ull : (bytes - offset) / stride;
  unsigned length = n > 0xffffffffull ? 0xffffffffu : (unsigned)n;
  asm("" : "+r"(length));  // computed once, not again at each use
  return length;
}
// C++ may assume that a loop without side effects ends; WGSL gives endless loops a meaning.
#define ENDLESS_LOOP asm volatile("");
// Zeroes workgroup memory, spread over the threads of the block.
WGSL_FN void zero_workgroup(void* memory, unsigned bytes, unsigned thread, unsigned threads) {
  struct alignas(16) quad { unsigned w[4]; };
  for (unsigned i = thread; i < bytes / 16u; i += threads) static_cast<quad*>(memory)[i] = quad{};
  if (bytes % 16u != 0u)
    for (unsigned i = bytes / 16u * 16u + thread; i < bytes; i += threads) static_cast<unsigned char*>(memory)[i] = 0;
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

struct atomic_compare_exchange_result_u32_ {
  unsigned old_value_;
  bool exchanged_;
  atomic_compare_exchange_result_u32_() = default;
  WGSL_CTOR atomic_compare_exchange_result_u32_(unsigned a0, bool a1) : old_value_(a0), exchanged_(a1) {}
};
alignas(16) __shared__ int most_;
extern "C" __global__ void __launch_bounds__(64) main_(
    unsigned* __restrict__ counters_,
    unsigned long long counters_bytes,
    unsigned* __restrict__ out_,
    unsigned long long out_bytes
) {
  const unsigned counters_length = array_length(counters_bytes, 0u, 4u);
  zero_workgroup(&most_, sizeof(most_), threadIdx.x, 64u);
  __syncthreads();
  const unsigned i_ = threadIdx.x;
  atomicMax(most_, (int)i_);
  atomicAdd(counters_[min(i_ % 4u, counters_length - 1u)], i_);
  atomicOr(counters_[min(4u, counters_length - 1u)], 1u << (i_ % 32u));
  unsigned seen_ = atomicLoad(counters_[min(5u, counters_length - 1u)]);
  while (true) {
    ENDLESS_LOOP
    const atomic_compare_exchange_result_u32_ result_ = atomicCompareExchangeWeak<atomic_compare_exchange_result_u32_>(counters_[min(5u, counters_length - 1u)], seen_, seen_ + 3u);
    if (result_.exchanged_) {
      break;
    }
    seen_ = result_.old_value_;
  }
  __syncthreads();
  if (i_ == 0u) {
    atomicAdd((*out_), (unsigned)(atomicLoad(most_)));
  }
}
}
