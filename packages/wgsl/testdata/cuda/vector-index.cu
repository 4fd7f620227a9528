// vector-index.wgsl: translated from WGSL, bounds: clamp
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
template <class A, class B> WGSL_FN auto operator+(vec<A, 2> a, vec<B, 2> b) { return make_vec(add(a.x, b.x), add(a.y, b.y)); }
template <class T> WGSL_FN auto operator+(vec<T, 2> a, T b) { return make_vec(add(a.x, b), add(a.y, b)); }
template <class T> WGSL_FN auto operator+(T a, vec<T, 2> b) { return make_vec(add(a, b.x), add(a, b.y)); }
template <class A, class B> WGSL_FN auto operator+(vec<A, 3> a, vec<B, 3> b) { return make_vec(add(a.x, b.x), add(a.y, b.y), add(a.z, b.z)); }
template <class T> WGSL_FN auto operator+(vec<T, 3> a, T b) { return make_vec(add(a.x, b), add(a.y, b), add(a.z, b)); }
template <class T> WGSL_FN auto operator+(T a, vec<T, 3> b) { return make_vec(add(a, b.x), add(a, b.y), add(a, b.z)); }
template <class A, class B> WGSL_FN auto operator+(vec<A, 4> a, vec<B, 4> b) { return make_vec(add(a.x, b.x), add(a.y, b.y), add(a.z, b.z), add(a.w, b.w)); }
template <class T> WGSL_FN auto operator+(vec<T, 4> a, T b) { return make_vec(add(a.x, b), add(a.y, b), add(a.z, b), add(a.w, b)); }
template <class T> WGSL_FN auto operator+(T a, vec<T, 4> b) { return make_vec(add(a, b.x), add(a, b.y), add(a, b.z), add(a, b.w)); }
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
// A component of a vector value chosen at run time: selects, so that the vector stays in registers.
template <class T> WGSL_FN T component(const vec<T, 2>& v, unsigned i) { return i == 0u ? v.x : v.y; }
template <class T> WGSL_FN T component(const vec<T, 3>& v, unsigned i) { return i == 0u ? v.x : i == 1u ? v.y : v.z; }
template <class T> WGSL_FN T component(const vec<T, 4>& v, unsigned i) { return i < 2u ? (i == 0u ? v.x : v.y) : (i == 2u ? v.z : v.w); }
template <class T> WGSL_FN void set_component(vec<T, 2>& v, unsigned i, T s) { if (i == 0u) v.x = s; else v.y = s; }
template <class T> WGSL_FN void set_component(vec<T, 3>& v, unsigned i, T s) { v.x = i == 0u ? s : v.x; v.y = i == 1u ? s : v.y; v.z = i >= 2u ? s : v.z; }
template <class T> WGSL_FN void set_component(vec<T, 4>& v, unsigned i, T s) { v.x = i == 0u ? s : v.x; v.y = i == 1u ? s : v.y; v.z = i == 2u ? s : v.z; v.w = i >= 3u ? s : v.w; }
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
template <class T> WGSL_FN T dot(const vec<T, 2>& a, vec<T, 2> b) { return add(mul(a.x, b.x), mul(a.y, b.y)); }
template <class T> WGSL_FN T dot(const vec<T, 3>& a, vec<T, 3> b) { return add(add(mul(a.x, b.x), mul(a.y, b.y)), mul(a.z, b.z)); }
template <class T> WGSL_FN T dot(const vec<T, 4>& a, vec<T, 4> b) { return add(add(add(mul(a.x, b.x), mul(a.y, b.y)), mul(a.z, b.z)), mul(a.w, b.w)); }
// C columns of R rows; columns of three rows have a stride of four.
template <class T, int C, int R> struct mat {
  typename element<vec<T, R>>::type column[C];
  mat() = default;
  template <class... Rest> WGSL_CTOR mat(vec<T, R> first, Rest... rest) : column{{first}, {rest}...} {}
  WGSL_CTOR vec<T, R>& operator[](unsigned i) { return element<vec<T, R>>::of(column[i]); }
  WGSL_CTOR const vec<T, R>& operator[](unsigned i) const { return element<vec<T, R>>::of(column[i]); }
};
template <class T, int C, int R> WGSL_FN mat<T, C, R> operator+(mat<T, C, R> a, mat<T, C, R> b) { for (int i = 0; i < C; i++) a[i] = a[i] + b[i]; return a; }
template <class T, int C, int R> WGSL_FN mat<T, C, R> operator-(mat<T, C, R> a, mat<T, C, R> b) { for (int i = 0; i < C; i++) a[i] = a[i] - b[i]; return a; }
template <class T, int C, int R> WGSL_FN mat<T, C, R> operator*(mat<T, C, R> a, T b) { for (int i = 0; i < C; i++) a[i] = a[i] * b; return a; }
template <class T, int C, int R> WGSL_FN mat<T, C, R> operator*(T a, mat<T, C, R> b) { return b * a; }
template <class T, int C, int R> WGSL_FN vec<T, R> operator*(mat<T, C, R> a, vec<T, C> b) {
  vec<T, R> sum = a[0] * b.x + a[1] * b.y;
  if constexpr (C > 2) sum = sum + a[2] * b.z;
  if constexpr (C > 3) sum = sum + a[3] * b.w;
  return sum;
}
template <class T, int C, int R> WGSL_FN vec<T, C> operator*(vec<T, R> a, mat<T, C, R> b) {
  if constexpr (C == 2) return vec<T, C>(dot(a, b[0]), dot(a, b[1]));
  else if constexpr (C == 3) return vec<T, C>(dot(a, b[0]), dot(a, b[1]), dot(a, b[2]));
  else return vec<T, C>(dot(a, b[0]), dot(a, b[1]), dot(a, b[2]), dot(a, b[3]));
}
template <class T, int K, int C, int R> WGSL_FN mat<T, C, R> operator*(mat<T, K, R> a, mat<T, C, K> b) { mat<T, C, R> r; for (int i = 0; i < C; i++) r[i] = a * b[i]; return r; }
// A component of a vector in memory, chosen at run time.
template <class V> WGSL_FN auto& component_of(V& v, unsigned i) {
#if __CUDA_ARCH__ >= 1000
  // In loops, nvcc takes components with indices of which it knows something for others than they are.
  asm volatile("" : "+r"(i));
#endif
  return reinterpret_cast<decltype(&v.x)>(&v)[i];
}
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

extern "C" __global__ void __launch_bounds__(4) main_(
    const array<vec4f, 4>* __restrict__ data_,
    unsigned long long data_bytes,
    array<vec4f, 4>* out_,
    unsigned long long out_bytes
) {
  const unsigned i_ = threadIdx.x;
  vec4f v_ = (*data_)[i_];
  set_component(v_, rem(i_ + 1u, 4u), component(v_, i_) * 10.0f);
  mat<float, 2, 4>&& m_ = local<0, mat<float, 2, 4>>{{}, mat<float, 2, 4>(v_, (*data_)[3u - i_])}.value;
  const unsigned index_ = rem(i_, 2u);
  const unsigned index_1 = 3u - i_;
  set_component(m_[index_], index_1, component(m_[index_], index_1) + 0.25f);
  (*out_)[i_] = m_[0u] + m_[1u];
  component_of((*out_)[i_], i_) = component_of((*data_)[3u - i_], i_);
}
}
