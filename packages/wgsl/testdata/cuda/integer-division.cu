// integer-division.wgsl: translated from WGSL, bounds: clamp
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
    const array<int, 32>* __restrict__ b_,
    unsigned long long b_bytes,
    array<int, 160>* out_,
    unsigned long long out_bytes
) {
  const unsigned i_ = threadIdx.x;
  (*out_)[i_] = div((*a_)[i_], (*b_)[i_]);
  (*out_)[32u + i_] = rem((*a_)[i_], (*b_)[i_]);
  (*out_)[64u + i_] = (int)(div((unsigned)((*a_)[i_]), (unsigned)((*b_)[i_])));
  (*out_)[96u + i_] = (int)(rem((unsigned)((*a_)[i_]), (unsigned)((*b_)[i_])));
  (*out_)[128u + i_] = add(add(div((*a_)[i_], 5), rem((*a_)[i_], 8)), (int)(div(i_, 4u)));
}
}
