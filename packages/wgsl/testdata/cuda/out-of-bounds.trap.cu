// out-of-bounds.wgsl: translated from WGSL, bounds: trap; ptxas must not optimize it (-O0)
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
WGSL_FN float ptx_sqrt(float a) { float r; asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
WGSL_FN float ptx_rsqrt(float a) { float r; asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }
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
WGSL_FN float length(float a) { return fabsf(a); }
template <int N> WGSL_FN float length(const vec<float, N>& a) { return ptx_sqrt(dot(a, a)); }
WGSL_FN float distance(float a, float b) { return fabsf(a - b); }
template <int N> WGSL_FN float distance(const vec<float, N>& a, vec<float, N> b) { return length(a - b); }
template <int N> WGSL_FN vec<float, N> normalize(vec<float, N> a) { return a * ptx_rsqrt(dot(a, a)); }
// Elements of a runtime-sized array that starts at 'offset' in a binding.
WGSL_FN unsigned array_length(unsigned long long bytes, unsigned offset, unsigned stride) {
  const unsigned long long rest = bytes < offset ? 0ull : bytes - offset;
  unsigned elements = (unsigned)(rest >> 32) >= stride ? 0xffffffffu : (unsigned)(rest / stride);
  asm("" : "+r"(elements));  // computed once, not again at each use
  return elements;
}
// A uniform buffer's value: the 16-byte chunks that are used, loaded here and now.
template <unsigned chunks, class T> WGSL_FN T load_uniform(const T* from) {
  unsigned words[sizeof(T) / 4u];
  const unsigned* const at = reinterpret_cast<const unsigned*>(from);
  _Pragma("unroll") for (unsigned i = 0; i < sizeof(T) / 16u; i++)
    if (chunks >> i & 1u) asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(words[4u * i]), "=r"(words[4u * i + 1u]), "=r"(words[4u * i + 2u]), "=r"(words[4u * i + 3u]) : "l"(at + 4u * i));
  if (chunks >> sizeof(T) / 16u & 1u)
    _Pragma("unroll") for (unsigned i = sizeof(T) / 16u * 4u; i < sizeof(T) / 4u; i++) asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(words[i]) : "l"(at + i));
  T value;
  memcpy(&value, words, sizeof(T));
  return value;
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
// The part of a binding that a dispatch may touch: 'rows' runs of 'row_bytes', each 'row_stride' after the last,
// from 'offset' in the binding. An access outside it is skipped, and the first one of the launch is recorded.
struct trap_view {
  unsigned long long bytes, offset, row_bytes, rows, row_stride;
  unsigned binding;
  unsigned* record;
  __device__ __noinline__ bool report(unsigned long long index) const {
    if (atomicCAS(record, 0u, 1u) == 0u) {
      record[1] = binding;
      record[2] = (unsigned)index;
      record[3] = (unsigned)(index >> 32);
      record[4] = blockIdx.x;
      record[5] = blockIdx.y;
      record[6] = blockIdx.z;
      record[7] = threadIdx.x;
      record[8] = threadIdx.y;
      record[9] = threadIdx.z;
    }
    return false;
  }
  // Is 'index' one of an array of 'length' elements?
  __device__ __forceinline__ bool index(unsigned index, unsigned length) const { return index < length || report(index); }
  // Does the access of 'size' bytes at byte 'at' of the binding lie inside the view?
  __device__ __forceinline__ bool access(unsigned long long at, unsigned long long size, unsigned long long index) const {
    if (at + size <= bytes && at >= offset) {
      const unsigned long long from = at - offset;
      const unsigned long long row = rows <= 1ull || row_stride == 0ull ? 0ull : from / row_stride;
      if (row < rows && from - row * row_stride + size <= row_bytes) return true;
    }
    return report(index);
  }
};

alignas(16) __shared__ array<unsigned, 32> tile_;
extern "C" __global__ void __launch_bounds__(32) main_(
    const unsigned* __restrict__ a_,
    unsigned long long a_bytes,
    unsigned long long a_offset,
    unsigned long long a_rowbytes,
    unsigned long long a_rows,
    unsigned long long a_rowstride,
    const array<vec4u, 2>* __restrict__ indices_buffer,
    unsigned* out_,
    unsigned long long out_bytes,
    unsigned long long out_offset,
    unsigned long long out_rowbytes,
    unsigned long long out_rows,
    unsigned long long out_rowstride,
    unsigned* trap_record
) {
  const array<vec4u, 2> indices_ = load_uniform<0x1u>(indices_buffer);
  const unsigned a_length = array_length(a_bytes, 0u, 4u);
  const trap_view a_view = {a_bytes, a_offset, a_rowbytes, a_rows, a_rowstride, 0u, trap_record};
  const unsigned out_length = array_length(out_bytes, 0u, 4u);
  const trap_view out_view = {out_bytes, out_offset, out_rowbytes, out_rows, out_rowstride, 2u, trap_record};
  const vec3u id_(blockIdx.x * 32u + threadIdx.x, blockIdx.y, blockIdx.z);
  const unsigned i_ = threadIdx.x;
  tile_[i_] = a_view.index(id_.x, a_length) && a_view.access((unsigned long long)((const char*)&a_[id_.x] - (const char*)a_), 4ull, id_.x) ? a_[id_.x] : 0u;
  __syncthreads();
  array<unsigned, 4>&& weights_ = local<0, array<unsigned, 4>>{{}, array<unsigned, 4>{{1u, 2u, 3u, 4u}}}.value;
  const unsigned index_ = rem(i_, 4u);
  weights_[index_] += 1u;
  const unsigned known_ = tile_[(i_ + 8u) & 31u] + weights_[div(i_, 8u)];
  const unsigned unknown_ = tile_[min(indices_[0u].w + 0u, 31u)] + weights_[min(indices_[0u].y, 3u)];
  if (out_view.index(id_.x, out_length) && out_view.access((unsigned long long)((const char*)&out_[id_.x] - (const char*)out_), 4ull, id_.x)) out_[id_.x] = known_ + unknown_;
  if (id_.x < out_length) {
    if (out_view.index(id_.x, out_length) && out_view.access((unsigned long long)((const char*)&out_[id_.x] - (const char*)out_), 4ull, id_.x)) out_[id_.x] = out_[id_.x] + (a_view.index(id_.x, a_length) && a_view.access((unsigned long long)((const char*)&a_[id_.x] - (const char*)a_), 4ull, id_.x) ? a_[id_.x] : 0u);
  }
}
}
