// array-length.wgsl: translated from WGSL, bounds: clamp
#pragma nv_diag_suppress 177,186
namespace wgsl {
#define WGSL_FN __device__ __forceinline__
// Conversion of a float to an integer truncates and clamps to the largest float that the integer type can hold.
template <class To> struct converter { template <class From> static __device__ __forceinline__ To of(From a) { return To(a); } };
template <> struct converter<int> {
  template <class From> static __device__ __forceinline__ int of(From a) { return int(a); }
  static __device__ __forceinline__ int of(float a) { return (int)fminf(fmaxf(a, -2147483648.0f), 2147483520.0f); }
};
template <> struct converter<unsigned> {
  template <class From> static __device__ __forceinline__ unsigned of(From a) { return unsigned(a); }
  static __device__ __forceinline__ unsigned of(float a) { return (unsigned)fminf(fmaxf(a, 0.0f), 4294967040.0f); }
};
template <> struct converter<bool> { template <class From> static __device__ __forceinline__ bool of(From a) { return a != From(0); } };
template <class To, class From> WGSL_FN To convert(From a) { return converter<To>::of(a); }
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
template <class To, class From> WGSL_FN vec<To, 2> convert(vec<From, 2> a) { return vec<To, 2>(convert<To>(a.x), convert<To>(a.y)); }
template <class To, class From> WGSL_FN vec<To, 3> convert(vec<From, 3> a) { return vec<To, 3>(convert<To>(a.x), convert<To>(a.y), convert<To>(a.z)); }
template <class To, class From> WGSL_FN vec<To, 4> convert(vec<From, 4> a) { return vec<To, 4>(convert<To>(a.x), convert<To>(a.y), convert<To>(a.z), convert<To>(a.w)); }
// Elements of a runtime-sized array that starts at 'offset' in a binding.
WGSL_FN unsigned array_length(unsigned long long bytes, unsigned offset, unsigned stride) {
  const unsigned long long rest = bytes < offset ? 0ull : bytes - offset;
  unsigned elements = (unsigned)(rest >> 32) >= stride ? 0xffffffffu : (unsigned)(rest / stride);
  asm("" : "+r"(elements));  // computed once, not again at each use
  return elements;
}
// The runtime-sized array at the end of a structure.
template <class T> WGSL_FN T* tail(void* base, unsigned offset) { return reinterpret_cast<T*>(static_cast<char*>(base) + offset); }
template <class T> WGSL_FN const T* tail(const void* base, unsigned offset) { return reinterpret_cast<const T*>(static_cast<const char*>(base) + offset); }

struct alignas(16) Items_t {
  unsigned count_;
};
extern "C" __global__ void __launch_bounds__(1) main_(
    const Items_t* __restrict__ items_,
    unsigned long long items_bytes,
    unsigned* out_,
    unsigned long long out_bytes
) {
  const unsigned items_length = array_length(items_bytes, 16u, 16u);
  const unsigned out_length = array_length(out_bytes, 0u, 4u);
  if (0u < out_length) out_[0u] = items_length;
  if (1u < out_length) out_[1u] = out_length;
  if (2u < out_length) out_[2u] = convert<unsigned>(tail<slot<float>>(items_, 16u)[min(items_length - 1u, items_length - 1u)].value.y);
}
}
