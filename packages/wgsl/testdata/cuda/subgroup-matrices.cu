// subgroup-matrices.wgsl: translated from WGSL, bounds: clamp
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
// Copies 16 bytes from global to workgroup memory past the registers; they are there after 'async_wait'.
template <class T> WGSL_FN void async_copy(T& to, const T& from) {
  static_assert(sizeof(T) == 16, "size of the copy");
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"((unsigned)__cvta_generic_to_shared(&to)), "l"(&from));
#else
  to = from;
#endif
}
WGSL_FN void async_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
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
// ptxas knows that it is below 32. If nvcc did not, it would leave branches to ptxas that are never taken.
WGSL_FN unsigned lane_index() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); __builtin_assume(r < 32u); return r; }
// Two components in each word. Role 0 is a left factor, 1 a right one, 2 a result.
template <int role> struct matrix_f16 {
  unsigned r[4];
  // The first component of word i: the second is in the next column, of a right factor in the next row.
  static __device__ __forceinline__ unsigned row(unsigned i) { return role == 1 ? lane_index() % 4u * 2u + i % 2u * 8u : lane_index() / 4u + i % 2u * 8u; }
  static __device__ __forceinline__ unsigned column(unsigned i) { return role == 1 ? lane_index() / 4u + i / 2u * 8u : lane_index() % 4u * 2u + i / 2u * 8u; }
};
struct matrix_f32 {
  float c[8];
  // Component 2 * i; the next one is in the next column.
  static __device__ __forceinline__ unsigned row(unsigned i) { return lane_index() / 4u + i % 2u * 8u; }
  static __device__ __forceinline__ unsigned column(unsigned i) { return lane_index() % 4u * 2u + i / 2u * 8u; }
};
// Does a matrix of rows or columns of 'slice' bytes lie in an array of so many bytes?
template <unsigned slices, unsigned slice, unsigned element> WGSL_FN bool matrix_inside(unsigned long long bytes, unsigned offset, unsigned stride) {
  return ((unsigned long long)offset + (slices - 1ull) * stride) * element + slice <= bytes;
}
// Four blocks of 8 x 8 halves from workgroup memory whose rows begin at multiples of 16 bytes: those below each other first.
template <bool transposed> WGSL_FN void load_matrix_words(unsigned (&r)[4], const void* from, unsigned stride_bytes) {
  const unsigned lane = lane_index();
  const unsigned at = (unsigned)__cvta_generic_to_shared(from) + lane % 16u * stride_bytes + lane / 16u * 16u;
  if (transposed) asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
  else asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
template <class M> struct matrix_access;
template <int role> struct matrix_access<matrix_f16<role>> {
  template <bool columns, unsigned element, bool shared> static __device__ __forceinline__ matrix_f16<role> load(const char* from, unsigned long long stride) {
    typedef matrix_f16<role> M;
    M m;
    if constexpr (shared && element % 16u == 0u) {
      load_matrix_words<(role == 1) != columns>(m.r, from, (unsigned)stride);
      if (columns) { const unsigned middle = m.r[1]; m.r[1] = m.r[2]; m.r[2] = middle; }
    } else {
      _Pragma("unroll") for (unsigned i = 0; i < 4u; i++) {
        const unsigned row = M::row(i), column = M::column(i);
        const char* const at = from + (columns ? column * stride + row * 2u : row * stride + column * 2u);
        if (columns == (role == 1) && element % 4u == 0u) m.r[i] = *reinterpret_cast<const unsigned*>(at);
        else m.r[i] = *reinterpret_cast<const unsigned short*>(at) | (unsigned)*reinterpret_cast<const unsigned short*>(at + (columns == (role == 1) ? 2ull : stride)) << 16;
      }
    }
    return m;
  }
};
template <> struct matrix_access<matrix_f32> {
  template <bool columns, unsigned element, bool shared> static __device__ __forceinline__ matrix_f32 load(const char* from, unsigned long long stride) {
    matrix_f32 m;
    _Pragma("unroll") for (unsigned i = 0; i < 4u; i++) {
      const unsigned row = matrix_f32::row(i), column = matrix_f32::column(i);
      const char* const at = from + (columns ? column * stride + row * 4u : row * stride + column * 4u);
      m.c[2u * i] = *reinterpret_cast<const float*>(at);
      m.c[2u * i + 1u] = *reinterpret_cast<const float*>(at + (columns ? stride : 4ull));
    }
    return m;
  }
};
template <class M, bool columns, unsigned element, bool shared> WGSL_FN M subgroupMatrixLoad(const void* array, unsigned offset, unsigned stride) {
  if (shared) return matrix_access<M>::template load<columns, element, shared>(static_cast<const char*>(array) + offset * element, stride * element);
  return matrix_access<M>::template load<columns, element, shared>(static_cast<const char*>(array) + (unsigned long long)offset * element, (unsigned long long)stride * element);
}
template <bool columns, unsigned element, int role> WGSL_FN void store_matrix(char* to, const matrix_f16<role>& m, unsigned long long stride) {
  typedef matrix_f16<role> M;
  _Pragma("unroll") for (unsigned i = 0; i < 4u; i++) {
    const unsigned row = M::row(i), column = M::column(i);
    char* const at = to + (columns ? column * stride + row * 2u : row * stride + column * 2u);
    if (columns == (role == 1) && element % 4u == 0u) *reinterpret_cast<unsigned*>(at) = m.r[i];
    else {
      *reinterpret_cast<unsigned short*>(at) = (unsigned short)m.r[i];
      *reinterpret_cast<unsigned short*>(at + (columns == (role == 1) ? 2ull : stride)) = (unsigned short)(m.r[i] >> 16);
    }
  }
}
template <bool columns, unsigned element> WGSL_FN void store_matrix(char* to, const matrix_f32& m, unsigned long long stride) {
  struct alignas(8) pair { float first, second; };
  _Pragma("unroll") for (unsigned i = 0; i < 4u; i++) {
    const unsigned row = matrix_f32::row(i), column = matrix_f32::column(i);
    char* const at = to + (columns ? column * stride + row * 4u : row * stride + column * 4u);
    if (!columns && element % 8u == 0u) *reinterpret_cast<pair*>(at) = pair{m.c[2u * i], m.c[2u * i + 1u]};
    else {
      *reinterpret_cast<float*>(at) = m.c[2u * i];
      *reinterpret_cast<float*>(at + (columns ? stride : 4ull)) = m.c[2u * i + 1u];
    }
  }
}
template <bool columns, unsigned element, bool shared, class M> WGSL_FN void subgroupMatrixStore(void* array, unsigned offset, const M& m, unsigned stride) {
  if (shared) store_matrix<columns, element>(static_cast<char*>(array) + offset * element, m, stride * element);
  else store_matrix<columns, element>(static_cast<char*>(array) + (unsigned long long)offset * element, m, (unsigned long long)stride * element);
}
// Adds the product of 16 x 16 and 16 x 8 halves to c; the order of the sums, and how they round, are the tensor core's.
WGSL_FN void multiply_matrices_f32(float (&d)[8], unsigned half, const unsigned (&a)[4], unsigned b0, unsigned b1, const float (&c)[8]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" : "=f"(d[half]), "=f"(d[half + 1u]), "=f"(d[half + 2u]), "=f"(d[half + 3u]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[half]), "f"(c[half + 1u]), "f"(c[half + 2u]), "f"(c[half + 3u]));
}
WGSL_FN matrix_f32 subgroupMatrixMultiplyAccumulate(const matrix_f16<0>& a, const matrix_f16<1>& b, const matrix_f32& c) {
  matrix_f32 d;
  multiply_matrices_f32(d.c, 0u, a.r, b.r[0], b.r[1], c.c);
  multiply_matrices_f32(d.c, 4u, a.r, b.r[2], b.r[3], c.c);
  return d;
}
template <class M, class A, class B> WGSL_FN M subgroupMatrixMultiply(const A& a, const B& b) { return subgroupMatrixMultiplyAccumulate(a, b, M{}); }
template <int role> WGSL_FN matrix_f16<role> subgroupMatrixScalarMultiply(const matrix_f16<role>& a, f16 b) {
  matrix_f16<role> m;
  _Pragma("unroll") for (unsigned i = 0; i < 4u; i++)
    m.r[i] = mul(f16_bits((unsigned short)a.r[i]), b).bits | (unsigned)mul(f16_bits((unsigned short)(a.r[i] >> 16)), b).bits << 16;
  return m;
}
WGSL_FN matrix_f32 subgroupMatrixScalarMultiply(const matrix_f32& a, float b) {
  matrix_f32 m;
  _Pragma("unroll") for (unsigned i = 0; i < 8u; i++) m.c[i] = mul(a.c[i], b);
  return m;
}

alignas(16) __shared__ array<vec4u, 96> tile_;
extern "C" __global__ void __launch_bounds__(128) main_(
    const vec4u* __restrict__ a_,
    unsigned long long a_bytes,
    float* c_,
    unsigned long long c_bytes
) {
  const unsigned a_length = array_length(a_bytes, 0u, 16u);
  const unsigned c_length = array_length(c_bytes, 0u, 4u);
  zero_workgroup(&tile_, sizeof(tile_), threadIdx.x, 128u);
  __syncthreads();
  const unsigned i_ = threadIdx.x;
  const unsigned subgroup_ = (threadIdx.x) >> 5;
  if (i_ < 64u) {
    async_copy(tile_[(div(i_, 2u) * 3u) + rem(i_, 2u)], a_[min(i_, a_length - 1u)]);
  }
  async_wait();
  __syncthreads();
  const unsigned row_ = rem(subgroup_, 2u) * 48u;
  const matrix_f16<0> left_ = matrix_inside<16u, 32u, 16u>(96ull * 16ull, row_, 3u) ? subgroupMatrixLoad<matrix_f16<0>, false, 16u, true>(&tile_, row_, 3u) : matrix_f16<0>{};
  array<matrix_f32, 2>&& sums_ = local<0, array<matrix_f32, 2>>{{}, array<matrix_f32, 2>{}}.value;
  _Pragma("unroll") for (unsigned j_ = 0u; j_ < 2u; j_ += 1u) {
    const unsigned t0 = j_ * 48u;
    const matrix_f16<1> right_ = matrix_inside<16u, 32u, 16u>(96ull * 16ull, t0, 3u) ? subgroupMatrixLoad<matrix_f16<1>, true, 16u, true>(&tile_, t0, 3u) : matrix_f16<1>{};
    const unsigned index_ = j_;
    const matrix_f32 t1 = subgroupMatrixMultiplyAccumulate(left_, right_, sums_[j_]);
    sums_[index_] = t1;
    const unsigned t2 = ((subgroup_ * 2u) + j_) * 256u;
    const unsigned t3 = t2;
    const matrix_f32 t4 = subgroupMatrixScalarMultiply(sums_[j_], 0.5f);
    if (matrix_inside<16u, 64u, 4u>(c_length * 4ull, t3, 16u)) subgroupMatrixStore<false, 4u, false>(c_, t3, t4, 16u);
  }
}
}
