// async-copies.wgsl: translated from WGSL, bounds: clamp
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
template <class A, class B> WGSL_FN auto operator+(vec<A, 2> a, vec<B, 2> b) { return make_vec(add(a.x, b.x), add(a.y, b.y)); }
template <class T> WGSL_FN auto operator+(vec<T, 2> a, T b) { return make_vec(add(a.x, b), add(a.y, b)); }
template <class T> WGSL_FN auto operator+(T a, vec<T, 2> b) { return make_vec(add(a, b.x), add(a, b.y)); }
template <class A, class B> WGSL_FN auto operator+(vec<A, 3> a, vec<B, 3> b) { return make_vec(add(a.x, b.x), add(a.y, b.y), add(a.z, b.z)); }
template <class T> WGSL_FN auto operator+(vec<T, 3> a, T b) { return make_vec(add(a.x, b), add(a.y, b), add(a.z, b)); }
template <class T> WGSL_FN auto operator+(T a, vec<T, 3> b) { return make_vec(add(a, b.x), add(a, b.y), add(a, b.z)); }
template <class A, class B> WGSL_FN auto operator+(vec<A, 4> a, vec<B, 4> b) { return make_vec(add(a.x, b.x), add(a.y, b.y), add(a.z, b.z), add(a.w, b.w)); }
template <class T> WGSL_FN auto operator+(vec<T, 4> a, T b) { return make_vec(add(a.x, b), add(a.y, b), add(a.z, b), add(a.w, b)); }
template <class T> WGSL_FN auto operator+(T a, vec<T, 4> b) { return make_vec(add(a, b.x), add(a, b.y), add(a, b.z), add(a, b.w)); }
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
// C++ may assume that a loop without side effects ends; WGSL gives endless loops a meaning. And where a loop compares its
// counter with what stays the same, nvcc 13.0 exchanges != and ==, for others who use the result too, to split the loop.
// For sm_100, it leaves branches around nothing otherwise, on which ptxas 13.0 crashes.
#if __CUDA_ARCH__ >= 1000
#define KEPT_LOOP { unsigned unused; asm volatile("mov.u32 %0, 0;" : "=r"(unused)); }
#else
#define KEPT_LOOP asm volatile("");
#endif
// The same value, of which neither nvcc nor ptxas knows anything: a grid has less than 65,536 rows.
WGSL_FN unsigned grid_rows() { unsigned r; asm("mov.u32 %0, %%nctaid.y;" : "=r"(r)); return r; }
WGSL_FN unsigned unknown(unsigned value) { return value ^ __umulhi(grid_rows(), grid_rows()); }
WGSL_FN bool unknown(bool value) { return value != ((grid_rows() & 65536u) != 0u); }
WGSL_FN int unknown(int value) { return (int)unknown((unsigned)value); }
WGSL_FN float unknown(float value) { return __uint_as_float(unknown(__float_as_uint(value))); }
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

alignas(16) __shared__ array<vec4f, 128> even_;
alignas(16) __shared__ array<vec4f, 128> odd_;
extern "C" __global__ void __launch_bounds__(64) main_(
    const vec4f* __restrict__ source_,
    unsigned long long source_bytes,
    const vec4u* __restrict__ turns_buffer,
    vec4f* result_,
    unsigned long long result_bytes
) {
  const vec4u turns_ = load_uniform<0x1u>(turns_buffer);
  const unsigned source_length = array_length(source_bytes, 0u, 16u);
  const unsigned result_length = array_length(result_bytes, 0u, 16u);
  zero_workgroup(&even_, sizeof(even_), threadIdx.x, 64u);
  zero_workgroup(&odd_, sizeof(odd_), threadIdx.x, 64u);
  __syncthreads();
  const unsigned thread_ = threadIdx.x;
  const vec3u group_(blockIdx.x, blockIdx.y, blockIdx.z);
  const unsigned first_ = (group_.x * 512u) + thread_;
  vec4f sum_ = vec4f{};
  async_copy(even_[thread_], source_[min(first_, source_length - 1u)]);
  async_copy(even_[thread_ + 64u], source_[min(first_ + 64u, source_length - 1u)]);
  async_wait();
  __syncthreads();
  _Pragma("unroll 1") for (unsigned turn_ = 0u; turn_ < turns_.x; turn_ += 2u) {
    KEPT_LOOP
    const unsigned next_ = first_ + ((turn_ + 1u) * 128u);
    _Pragma("unroll") for (unsigned part_ = 0u; part_ < 2u; part_ += 1u) {
      async_copy(odd_[thread_ + (part_ * 64u)], source_[min(next_ + (part_ * 64u), source_length - 1u)]);
    }
    _Pragma("unroll 4") for (unsigned i_ = 0u; i_ < 128u; i_ += 1u) {
      KEPT_LOOP
      sum_ = sum_ + even_[(i_ + thread_) & 127u];
    }
    async_wait();
    __syncthreads();
    if (unknown((turn_ + 1u) >= turns_.x)) {
      break;
    }
    async_copy(even_[thread_], source_[min(next_ + 128u, source_length - 1u)]);
    async_copy(even_[thread_ + 64u], source_[min(next_ + 192u, source_length - 1u)]);
    _Pragma("unroll 4") for (unsigned i_1 = 0u; i_1 < 128u; i_1 += 1u) {
      KEPT_LOOP
      sum_ = sum_ + odd_[(i_1 + thread_) & 127u];
    }
    async_wait();
    __syncthreads();
  }
  const unsigned t0 = (group_.x * 64u) + thread_;
  if (t0 < result_length) result_[t0] = sum_;
}
}
