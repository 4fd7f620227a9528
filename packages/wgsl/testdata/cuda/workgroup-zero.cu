// workgroup-zero.wgsl: translated from WGSL, bounds: clamp
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
// For sm_100, nvcc 13.0 takes the distance of two elements with one index for the same, even if their sizes differ, as in
// a[i][0] and a[0][i]. So composites, in which others may have their index, are at distances in bytes.
#if __CUDA_ARCH__ >= 1000
template <class T> WGSL_CTOR T& element_at(T* from, unsigned i) { return __is_constructible(T, int) ? from[i] : *(T*)((char*)from + i * (unsigned long long)sizeof(T)); }
#else
#define element_at(from, i) (from)[i]
#endif
template <class T> struct element { typedef T type; static WGSL_CTOR T& of(T& e) { return e; } static WGSL_CTOR const T& of(const T& e) { return e; } };
template <class T, unsigned N> struct array {
  typename element<T>::type data[N];
  WGSL_CTOR T& operator[](unsigned i) { return element<T>::of(element_at(data, i)); }
  WGSL_CTOR const T& operator[](unsigned i) const { return element<T>::of(element_at(data, i)); }
};
template <class T> struct element<vec<T, 3>> { typedef slot<T> type; static WGSL_CTOR vec<T, 3>& of(slot<T>& e) { return e.value; } static WGSL_CTOR const vec<T, 3>& of(const slot<T>& e) { return e.value; } };
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

alignas(16) __shared__ array<array<unsigned, 9>, 8> covered_;
alignas(16) __shared__ array<unsigned, 64> guarded_;
alignas(16) __shared__ array<unsigned, 64> sparse_;
extern "C" __global__ void __launch_bounds__(64) main_(
    const unsigned* __restrict__ size_,
    unsigned long long size_bytes,
    array<unsigned, 128>* out_,
    unsigned long long out_bytes
) {
  zero_workgroup(&guarded_, sizeof(guarded_), threadIdx.x + threadIdx.y * 8u, 64u);
  zero_workgroup(&sparse_, sizeof(sparse_), threadIdx.x + threadIdx.y * 8u, 64u);
  __syncthreads();
  const vec3u local_(threadIdx.x, threadIdx.y, 0u);
  const unsigned i_ = threadIdx.x + threadIdx.y * 8u;
  const vec3u group_(blockIdx.x, blockIdx.y, blockIdx.z);
  covered_[local_.y][local_.x] = i_;
  if (i_ < (*size_)) {
    guarded_[i_] = i_ * 2u;
  }
  if (rem(i_, 5u) == 0u) {
    sparse_[i_] = 7u;
  }
  __syncthreads();
  (*out_)[min((group_.x * 64u) + i_, 127u)] = (covered_[local_.x][local_.y] + (guarded_[63u - i_] * 100u)) + (sparse_[i_ ^ 1u] * 10000u);
}
}
