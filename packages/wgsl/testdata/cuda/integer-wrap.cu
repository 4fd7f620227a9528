// integer-wrap.wgsl: translated from WGSL, bounds: clamp
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

extern "C" __global__ void __launch_bounds__(32) main_(
    const array<int, 32>* __restrict__ a_,
    unsigned long long a_bytes,
    array<int, 64>* out_,
    unsigned long long out_bytes
) {
  const unsigned i_ = threadIdx.x;
  const int v_ = (*a_)[i_];
  (*out_)[i_] = sub(mul(add(v_, 2147483647), v_), neg(v_));
  const int small_ = sub(mul((int)i_, 4), 7);
  (*out_)[min((unsigned)(add(32, (int)i_)), 63u)] = add(small_, 1);
}
}
