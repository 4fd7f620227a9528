// half.wgsl: translated from WGSL, bounds: clamp
#pragma nv_diag_suppress 177,186
namespace wgsl {
#define WGSL_FN __device__ __forceinline__
// i32 wraps around: the sum is formed in unsigned arithmetic.
WGSL_FN int add(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
WGSL_FN int sub(int a, int b) { return (int)((unsigned)a - (unsigned)b); }
WGSL_FN int mul(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
#ifdef WGSL_OPAQUE_SIGNS
// Compilers define this where nvcc would otherwise make an absolute value of a negation, or one of 16 bits.
WGSL_FN int neg(int a) { int r; asm("neg.s32 %0, %1;" : "=r"(r) : "r"(a)); return r; }
#else
WGSL_FN int neg(int a) { return (int)(0u - (unsigned)a); }
#endif
WGSL_FN unsigned add(unsigned a, unsigned b) { return a + b; }
WGSL_FN unsigned sub(unsigned a, unsigned b) { return a - b; }
WGSL_FN unsigned mul(unsigned a, unsigned b) { return a * b; }
WGSL_FN float add(float a, float b) { return a + b; }
WGSL_FN float sub(float a, float b) { return a - b; }
WGSL_FN float mul(float a, float b) { return a * b; }
WGSL_FN float neg(float a) { return -a; }
WGSL_FN int ptx_neg(int a) { int r; asm("neg.s32 %0, %1;" : "=r"(r) : "r"(a)); return r; }
WGSL_FN float ptx_div(float a, float b) { float r; asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }
WGSL_FN float ptx_sqrt(float a) { float r; asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
// x / 0 is x and x % 0 is 0; so are MIN / -1 and MIN % -1. f32 division is within 2 ULP.
WGSL_FN int div(int a, int b) { return a / (b == 0 || (b == -1 && a == (-2147483647 - 1)) ? 1 : b); }
WGSL_FN int rem(int a, int b) { return a % (b == 0 || (b == -1 && a == (-2147483647 - 1)) ? 1 : b); }
WGSL_FN unsigned div(unsigned a, unsigned b) { return a / (b == 0u ? 1u : b); }
WGSL_FN unsigned rem(unsigned a, unsigned b) { return a % (b == 0u ? 1u : b); }
WGSL_FN float div(float a, float b) { return ptx_div(a, b); }
WGSL_FN float rem(float a, float b) { return fmodf(a, b); }
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
WGSL_FN float ptx_f16_to_f32(unsigned short a) { float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(a)); return r; }
WGSL_FN unsigned short ptx_f32_to_f16(float a) { unsigned short r; asm("{ .reg .b16 %%t; cvt.rn.f16.f32 %%t, %1; mov.b16 %0, %%t; }" : "=h"(r) : "f"(a)); return r; }
WGSL_FN unsigned short ptx_f16_add(unsigned short a, unsigned short b) { unsigned short r; asm("{ .reg .b16 %%t; add.f16 %%t, %1, %2; mov.b16 %0, %%t; }" : "=h"(r) : "h"(a), "h"(b)); return r; }
WGSL_FN unsigned short ptx_f16_sub(unsigned short a, unsigned short b) { unsigned short r; asm("{ .reg .b16 %%t; sub.f16 %%t, %1, %2; mov.b16 %0, %%t; }" : "=h"(r) : "h"(a), "h"(b)); return r; }
WGSL_FN unsigned short ptx_f16_mul(unsigned short a, unsigned short b) { unsigned short r; asm("{ .reg .b16 %%t; mul.f16 %%t, %1, %2; mov.b16 %0, %%t; }" : "=h"(r) : "h"(a), "h"(b)); return r; }
WGSL_FN unsigned short ptx_f16_fma(unsigned short a, unsigned short b, unsigned short c) { unsigned short r; asm("{ .reg .b16 %%t; fma.rn.f16 %%t, %1, %2, %3; mov.b16 %0, %%t; }" : "=h"(r) : "h"(a), "h"(b), "h"(c)); return r; }
WGSL_FN unsigned short ptx_f16_abs(unsigned short a) { unsigned short r; asm("{ .reg .b16 %%t; abs.f16 %%t, %1; mov.b16 %0, %%t; }" : "=h"(r) : "h"(a)); return r; }
struct f16 {
  unsigned short bits;
  f16() = default;
  explicit __device__ __forceinline__ f16(float a) : bits(ptx_f32_to_f16(a)) {}
  explicit __device__ __forceinline__ f16(int a) : bits(ptx_f32_to_f16((float)a)) {}
  explicit __device__ __forceinline__ f16(unsigned a) : bits(ptx_f32_to_f16((float)a)) {}
  explicit __device__ __forceinline__ f16(bool a) : bits(a ? 0x3c00 : 0) {}
  struct raw { unsigned short bits; };
  explicit constexpr __host__ __device__ __forceinline__ f16(raw a) : bits(a.bits) {}
  explicit __device__ __forceinline__ operator float() const { return ptx_f16_to_f32(bits); }
};
constexpr __host__ __device__ __forceinline__ f16 f16_bits(unsigned short bits) { return f16(f16::raw{bits}); }
WGSL_FN f16 operator+(f16 a, f16 b) { return f16_bits(ptx_f16_add(a.bits, b.bits)); }
WGSL_FN f16 operator-(f16 a, f16 b) { return f16_bits(ptx_f16_sub(a.bits, b.bits)); }
WGSL_FN f16 operator*(f16 a, f16 b) { return f16_bits(ptx_f16_mul(a.bits, b.bits)); }
WGSL_FN f16 operator-(f16 a) { return f16_bits((unsigned short)(a.bits ^ 0x8000)); }
WGSL_FN bool operator==(const f16& a, f16 b) { return (float)a == (float)b; }
WGSL_FN bool operator!=(const f16& a, f16 b) { return (float)a != (float)b; }
WGSL_FN bool operator<(const f16& a, f16 b) { return (float)a < (float)b; }
WGSL_FN bool operator<=(const f16& a, f16 b) { return (float)a <= (float)b; }
WGSL_FN bool operator>(const f16& a, f16 b) { return (float)a > (float)b; }
WGSL_FN bool operator>=(const f16& a, f16 b) { return (float)a >= (float)b; }
WGSL_FN f16 add(f16 a, f16 b) { return a + b; }
WGSL_FN f16 sub(f16 a, f16 b) { return a - b; }
WGSL_FN f16 mul(f16 a, f16 b) { return a * b; }
WGSL_FN f16 neg(f16 a) { return -a; }
WGSL_FN f16 div(f16 a, f16 b) { return f16((float)a / (float)b); }
WGSL_FN f16 rem(f16 a, f16 b) { return f16(fmodf((float)a, (float)b)); }
template <class To> WGSL_FN To convert(const f16& a) { return convert<To>((float)a); }
template <> __device__ __forceinline__ bool convert<bool>(const f16& a) { return (float)a != 0.0f; }
template <> __device__ __forceinline__ f16 convert<f16>(const f16& a) { return a; }
WGSL_FN float sqrt(float a) { return ptx_sqrt(a); }
WGSL_FN f16 sqrt(f16 a) { return f16(sqrt((float)a)); }
WGSL_FN float fma(float a, float b, float c) { return fmaf(a, b, c); }
WGSL_FN f16 fma(f16 a, f16 b, f16 c) { return f16_bits(ptx_f16_fma(a.bits, b.bits, c.bits)); }
WGSL_FN float abs(float a) { return fabsf(a); }
WGSL_FN unsigned abs(unsigned a) { return a; }
// A minimum, because ptxas 13.0 takes the result of abs.s32, even of the least value, for positive.
WGSL_FN int abs(int a) { const unsigned u = (unsigned)a, n = (unsigned)ptx_neg(a); return (int)(u < n ? u : n); }
WGSL_FN f16 abs(f16 a) { return f16_bits(ptx_f16_abs(a.bits)); }
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
WGSL_FN f16 min(f16 a, f16 b) { return b < a ? b : a; }
WGSL_FN f16 max(f16 a, f16 b) { return a < b ? b : a; }
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
typedef vec<f16, 2> vec2h; typedef vec<f16, 3> vec3h; typedef vec<f16, 4> vec4h;
template <class A, class B> WGSL_FN auto operator+(vec<A, 2> a, vec<B, 2> b) { return make_vec(add(a.x, b.x), add(a.y, b.y)); }
template <class T> WGSL_FN auto operator+(vec<T, 2> a, T b) { return make_vec(add(a.x, b), add(a.y, b)); }
template <class T> WGSL_FN auto operator+(T a, vec<T, 2> b) { return make_vec(add(a, b.x), add(a, b.y)); }
template <class A, class B> WGSL_FN auto operator+(vec<A, 3> a, vec<B, 3> b) { return make_vec(add(a.x, b.x), add(a.y, b.y), add(a.z, b.z)); }
template <class T> WGSL_FN auto operator+(vec<T, 3> a, T b) { return make_vec(add(a.x, b), add(a.y, b), add(a.z, b)); }
template <class T> WGSL_FN auto operator+(T a, vec<T, 3> b) { return make_vec(add(a, b.x), add(a, b.y), add(a, b.z)); }
template <class A, class B> WGSL_FN auto operator+(vec<A, 4> a, vec<B, 4> b) { return make_vec(add(a.x, b.x), add(a.y, b.y), add(a.z, b.z), add(a.w, b.w)); }
template <class T> WGSL_FN auto operator+(vec<T, 4> a, T b) { return make_vec(add(a.x, b), add(a.y, b), add(a.z, b), add(a.w, b)); }
template <class T> WGSL_FN auto operator+(T a, vec<T, 4> b) { return make_vec(add(a, b.x), add(a, b.y), add(a, b.z), add(a, b.w)); }
template <class A, class B> WGSL_FN auto operator*(vec<A, 2> a, vec<B, 2> b) { return make_vec(mul(a.x, b.x), mul(a.y, b.y)); }
template <class T> WGSL_FN auto operator*(vec<T, 2> a, T b) { return make_vec(mul(a.x, b), mul(a.y, b)); }
template <class T> WGSL_FN auto operator*(T a, vec<T, 2> b) { return make_vec(mul(a, b.x), mul(a, b.y)); }
template <class A, class B> WGSL_FN auto operator*(vec<A, 3> a, vec<B, 3> b) { return make_vec(mul(a.x, b.x), mul(a.y, b.y), mul(a.z, b.z)); }
template <class T> WGSL_FN auto operator*(vec<T, 3> a, T b) { return make_vec(mul(a.x, b), mul(a.y, b), mul(a.z, b)); }
template <class T> WGSL_FN auto operator*(T a, vec<T, 3> b) { return make_vec(mul(a, b.x), mul(a, b.y), mul(a, b.z)); }
template <class A, class B> WGSL_FN auto operator*(vec<A, 4> a, vec<B, 4> b) { return make_vec(mul(a.x, b.x), mul(a.y, b.y), mul(a.z, b.z), mul(a.w, b.w)); }
template <class T> WGSL_FN auto operator*(vec<T, 4> a, T b) { return make_vec(mul(a.x, b), mul(a.y, b), mul(a.z, b), mul(a.w, b)); }
template <class T> WGSL_FN auto operator*(T a, vec<T, 4> b) { return make_vec(mul(a, b.x), mul(a, b.y), mul(a, b.z), mul(a, b.w)); }
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
// An element of an array with structures in it. Before sm_100, nvcc takes accesses that begin at different
// members of structures of one type for accesses to different places, even if it has joined one of several members.
template <class A> WGSL_FN auto& hidden_element_at(A&& a, unsigned i) {
  unsigned long long offset = (unsigned long long)i * sizeof(a[0u]);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 1000
  asm("" : "+l"(offset));
#endif
  return *(decltype(&a[0u]))((char*)&a[0u] + offset);
}

struct alignas(8) Pair_t {
  alignas(8) vec3h v_;
  f16 s_;
  Pair_t() = default;
  WGSL_CTOR Pair_t(const vec3h& a0, const f16& a1) : v_(a0), s_(a1) {}
};
static_assert(sizeof(Pair_t) == 8, "layout");
extern "C" __global__ void __launch_bounds__(4) main_(
    const array<vec4h, 4>* __restrict__ a_,
    unsigned long long a_bytes,
    array<Pair_t, 6>* out_,
    unsigned long long out_bytes
) {
  const unsigned i_ = threadIdx.x;
  const vec4h v_ = (*a_)[i_];
  hidden_element_at(*out_, i_).v_ = (vec3h(v_.x, v_.y, v_.z) * f16_bits(0x4000)) + vec3h(f16(i_));
  hidden_element_at(*out_, i_).s_ = div(fma(v_.x, v_.y, v_.z), f16_bits(0x4200));
  if (i_ == 0u) {
    hidden_element_at(*out_, 4u).v_ = vec3h(sqrt(abs(v_.x)), f16((float)v_.y * 0.5f), max(v_.z, f16_bits(0x3800)));
    hidden_element_at(*out_, 5u).s_ = f16(convert<unsigned>(abs(v_.w))) - f16_bits(0x3400);
  }
}
}
