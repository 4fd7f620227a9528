// buffer-view-bounds.wgsl: translated from WGSL, bounds: clamp
#pragma nv_diag_suppress 177,186
namespace wgsl {
#define WGSL_FN __device__ __forceinline__
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
// A number that nvcc knows nothing of. If it knows that views of a buffer with elements of different sizes begin at one place, it
// takes, for sm_100 and newer, parts of elements with one index for each other.
WGSL_FN unsigned hidden(unsigned value) { asm volatile("" : "+r"(value)); return value; }

extern "C" __global__ void __launch_bounds__(1) main_(
    unsigned* memory_,
    unsigned long long memory_bytes,
    array<unsigned, 4>* output_,
    unsigned long long output_bytes
) {
  const unsigned memory_length = array_length(memory_bytes, 0u, 1u);
  const unsigned offset_ = (*output_)[0u] + 20u;
  (*output_)[0u] = memory_length;
  const unsigned t0 = (offset_) & 4294967288u;
  const bool t1 = 8u <= memory_length && t0 <= memory_length - 8u;
  const unsigned t2 = t1 ? t0 : 0u;
  (*output_)[1u] = (*tail<vec2u>(memory_, hidden(t2))).y;
  const unsigned t3 = (offset_) & 4294967288u;
  const bool t4 = 8u <= memory_length && t3 <= memory_length - 8u;
  const unsigned t5 = t4 ? t3 : 0u;
  (*tail<vec2u>(memory_, hidden(t5))).x = 7u;
  const unsigned t6 = (offset_) & 4294967292u;
  const unsigned t7 = max(12u, 4u);
  const bool t8 = t7 <= memory_length && t6 <= memory_length - t7;
  const unsigned t9 = t8 ? t6 : 0u;
  (*output_)[2u] = ((t8 ? t7 : 4u)) / 4u;
  const unsigned t10 = (offset_) & 4294967292u;
  const unsigned t11 = max(12u, 4u);
  const bool t12 = t11 <= memory_length && t10 <= memory_length - t11;
  const unsigned t13 = t12 ? t10 : 0u;
  (*output_)[3u] = tail<unsigned>(memory_, hidden(t13))[min(offset_, (((t12 ? t11 : 4u)) / 4u) - 1u)];
}
}
