// loops.wgsl: translated from WGSL, bounds: clamp
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

extern "C" __global__ void __launch_bounds__(8) main_(
    const array<unsigned, 8>* __restrict__ limits_,
    unsigned long long limits_bytes,
    array<unsigned, 8>* out_,
    unsigned long long out_bytes
) {
  const unsigned i_ = threadIdx.x;
  unsigned sum_ = 0u;
  _Pragma("unroll 4") for (unsigned k_ = 0u; k_ < (*limits_)[i_]; k_ += 1u) {
    KEPT_LOOP
    sum_ += k_ * k_;
  }
  unsigned x_ = (*limits_)[i_] + 1u;
  _Pragma("unroll 1") while (unknown(x_ != 1u)) {
    KEPT_LOOP
    x_ = select(div(x_, 2u), (3u * x_) + 1u, rem(x_, 2u) == 1u);
    sum_ += 1u;
  }
  _Pragma("unroll") for (unsigned k_1 = 0u; k_1 < 4u; k_1 += 1u) {
    sum_ ^= k_1 << (i_ & 31u);
  }
  (*out_)[i_] = sum_;
}
}
