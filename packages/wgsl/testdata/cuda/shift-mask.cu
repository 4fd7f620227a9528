// shift-mask.wgsl: translated from WGSL, bounds: clamp
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
// Only the low five bits of a shift amount count.
WGSL_FN int shl(int a, unsigned b) { return (int)((unsigned)a << (b & 31u)); }
WGSL_FN int shr(int a, unsigned b) { return a >> (b & 31u); }
WGSL_FN unsigned shl(unsigned a, unsigned b) { return a << (b & 31u); }
WGSL_FN unsigned shr(unsigned a, unsigned b) { return a >> (b & 31u); }
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
    const array<unsigned, 32>* __restrict__ a_,
    unsigned long long a_bytes,
    const array<unsigned, 32>* __restrict__ s_,
    unsigned long long s_bytes,
    array<unsigned, 96>* out_,
    unsigned long long out_bytes
) {
  const unsigned i_ = threadIdx.x;
  (*out_)[i_] = (*a_)[i_] << ((*s_)[i_] & 31u);
  (*out_)[32u + i_] = (unsigned)((int)((*a_)[i_]) >> ((*s_)[i_] & 31u));
  (*out_)[64u + i_] = (((*a_)[i_] << (4u & 31u)) | ((*a_)[i_] >> (rem(i_, 8u) & 31u))) | (unsigned)(shl(1, i_));
}
}
