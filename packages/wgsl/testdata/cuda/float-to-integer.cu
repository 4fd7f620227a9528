// float-to-integer.wgsl: translated from WGSL, bounds: clamp
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
template <class To, class From> WGSL_FN To bitcast(From from) {
  static_assert(sizeof(To) == sizeof(From), "a bitcast keeps the size");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}
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
template <class To, class From> WGSL_FN vec<To, 2> convert(vec<From, 2> a) { return vec<To, 2>(convert<To>(a.x), convert<To>(a.y)); }
template <class To, class From> WGSL_FN vec<To, 3> convert(vec<From, 3> a) { return vec<To, 3>(convert<To>(a.x), convert<To>(a.y), convert<To>(a.z)); }
template <class To, class From> WGSL_FN vec<To, 4> convert(vec<From, 4> a) { return vec<To, 4>(convert<To>(a.x), convert<To>(a.y), convert<To>(a.z), convert<To>(a.w)); }

extern "C" __global__ void __launch_bounds__(8) main_(
    const array<float, 8>* __restrict__ a_,
    unsigned long long a_bytes,
    array<int, 24>* out_,
    unsigned long long out_bytes
) {
  const unsigned i_ = threadIdx.x;
  (*out_)[i_] = convert<int>((*a_)[i_]);
  (*out_)[8u + i_] = bitcast<int>(convert<unsigned>((*a_)[i_]));
  (*out_)[16u + i_] = convert<int>(vec2f((*a_)[i_], -(*a_)[i_])).y;
}
}
