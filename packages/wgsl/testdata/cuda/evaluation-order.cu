// evaluation-order.wgsl: translated from WGSL, bounds: clamp
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
template <class T> WGSL_FN T select(T no, T yes, bool condition) { return condition ? yes : no; }
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

WGSL_FN int next_(int& counter_) {
  counter_ = add(counter_, 1);
  return counter_;
}
WGSL_FN int pack_(const int a_, const int b_, const int c_) {
  return add(add(mul(a_, 100), mul(b_, 10)), c_);
}
extern "C" __global__ void __launch_bounds__(1) main_(
    array<int, 12>* out_,
    unsigned long long out_bytes
) {
  int counter_ = 0;
  const int t0 = counter_;
  const int t1 = add(t0, mul(next_(counter_), 10));
  const int t2 = add(t1, mul(counter_, 100));
  (*out_)[0u] = t2;
  const int index_ = next_(counter_);
  const int t3 = next_(counter_);
  (*out_)[min((unsigned)index_, 11u)] = t3;
  const int t4 = next_(counter_);
  const int t5 = counter_;
  const int t6 = pack_(t4, t5, next_(counter_));
  (*out_)[3u] = t6;
  array<int, 3>&& sums_ = local<2, array<int, 3>>{{}, array<int, 3>{{1, 2, 3}}}.value;
  const int index_1 = rem(counter_, 3);
  const int t7 = sums_[min((unsigned)index_1, 2u)];
  sums_[min((unsigned)index_1, 2u)] = add(t7, next_(counter_));
  (*out_)[4u] = sums_[0u];
  (*out_)[5u] = sums_[1u];
  (*out_)[6u] = sums_[2u];
  const int t8 = next_(counter_);
  const int t9 = next_(counter_);
  const int t10 = select(t8, t9, next_(counter_) > 0);
  (*out_)[7u] = t10;
  const bool skipped_ = (counter_ > 1000) && (next_(counter_) > 0);
  (*out_)[8u] = add(select(0, 1, skipped_), counter_);
  const int t11 = next_(counter_);
  const int t12 = counter_;
  const vec3i v_ = vec3i(t11, t12, next_(counter_));
  (*out_)[9u] = v_.x;
  (*out_)[10u] = v_.y;
  (*out_)[11u] = v_.z;
}
}
