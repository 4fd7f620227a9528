// stoppable-loops.wgsl: translated from WGSL, bounds: clamp
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
// Ends the invocation once the host has written the stop word.
WGSL_FN void look(const unsigned* word) { asm volatile("{ .reg .u32 %%w, %%t, %%x, %%y, %%n, %%m, %%b; .reg .u64 %%h; .reg .pred %%p, %%q; ld.volatile.v4.u32 {%%w, %%t, %%x, %%y}, [%0]; mov.u32 %%n, %%globaltimer_lo; sub.u32 %%m, %%n, %%t; setp.gt.u32 %%q, %%m, 1000000; activemask.b32 %%m; mov.u32 %%b, %%lanemask_lt; and.b32 %%m, %%m, %%b; setp.eq.and.u32 %%q, %%m, 0, %%q; @%%q atom.cas.b32 %%m, [%0+4], %%t, %%n; setp.eq.and.u32 %%q, %%m, %%t, %%q; mov.b64 %%h, {%%x, %%y}; @%%q ld.volatile.u32 %%w, [%%h]; setp.ne.u32 %%p, %%w, 0; setp.ne.and.u32 %%q, %%w, 0, %%q; @%%q st.volatile.u32 [%0], %%w; @%%p exit; }" :: "l"(word)); }
// Looks are far apart also where rounds are short: each waits for the word.
WGSL_FN unsigned look_clock() {
  unsigned cycles;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles));
  return cycles;
}
WGSL_FN bool look_is_due(unsigned& last) {
  const unsigned now = look_clock();
  if (now - last < 1048576u) return false;
  last = now;
  return true;
}
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

alignas(16) __shared__ array<unsigned, 32> turns_;
WGSL_FN unsigned collatz_(const unsigned start_, const unsigned* stop_word) {
  unsigned steps_ = 0u;
  unsigned value_ = start_;
  unsigned t0 = 1775u;
  _Pragma("unroll 1") while (unknown(value_ != 1u)) {
    KEPT_LOOP
    if (--t0 == 0u) { t0 = 113636u; look(stop_word); }
    value_ = select(div(value_, 2u), (3u * value_) + 1u, rem(value_, 2u) == 1u);
    steps_ += 1u;
  }
  return steps_;
}
extern "C" __global__ void __launch_bounds__(32) main_(
    const vec4u* __restrict__ limits_buffer,
    unsigned* sums_,
    unsigned long long sums_bytes,
    const unsigned* stop_word
) {
  const vec4u limits_ = load_uniform<0x1u>(limits_buffer);
  const unsigned sums_length = array_length(sums_bytes, 0u, 4u);
  zero_workgroup(&turns_, sizeof(turns_), threadIdx.x, 32u);
  __syncthreads();
  const vec3u id_(blockIdx.x * 32u + threadIdx.x, blockIdx.y, blockIdx.z);
  const unsigned lane_ = threadIdx.x;
  unsigned sum_ = 0u;
  {
    unsigned k_ = lane_;
    _Pragma("unroll 1") while (k_ < limits_.x) {
      unsigned t0 = (limits_.x - k_ - 1u) / 4u;
      if (t0++ >= 500000u) { t0 = 500000u; look(stop_word); }
      _Pragma("unroll 4") for (; t0 != 0u; t0--, k_ += 4u) {
        KEPT_LOOP
        if (unknown(k_ == (50u + lane_))) {
          break;
        }
        sum_ += k_;
      }
      if (t0 != 0u) break;
      if (k_ < limits_.x) look(stop_word);
    }
  }
  unsigned rest_ = limits_.y;
  {
    unsigned t1 = look_clock();
    _Pragma("unroll 1") while (rest_ < limits_.z) {
      unsigned t2 = limits_.z - rest_ - 1u;
      if (t2++ >= 10u) { t2 = 10u; if (look_is_due(t1)) look(stop_word); }
      _Pragma("unroll 1") for (; t2 != 0u; t2--, rest_ += 1u) {
        KEPT_LOOP
        sum_ += collatz_(rest_ + lane_, stop_word);
      }
    }
  }
  _Pragma("unroll") for (unsigned k_1 = 0u; k_1 < 8u; k_1 += 1u) {
    sum_ += k_1 * rest_;
  }
  unsigned t3 = 751u;
  _Pragma("unroll 1") while (true) {
    KEPT_LOOP
    if (--t3 == 0u) { t3 = 48076u; look(stop_word); }
    turns_[lane_] = sum_;
    __syncthreads();
    sum_ += turns_[31u - lane_];
    __syncthreads();
    rest_ += 1u;
    if (unknown(rest_ > 12u)) {
      break;
    }
  }
  if (id_.x < sums_length) sums_[id_.x] = sum_;
}
}
