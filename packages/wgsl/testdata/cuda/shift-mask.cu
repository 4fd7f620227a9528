// shift-mask.wgsl: translated from WGSL, bounds: clamp
#pragma nv_diag_suppress 177,186
namespace wgsl {
#define WGSL_FN __device__ __forceinline__
// Only the low five bits of a shift amount count.
WGSL_FN int shl(int a, unsigned b) { return (int)((unsigned)a << (b & 31u)); }
WGSL_FN int shr(int a, unsigned b) { return a >> (b & 31u); }
WGSL_FN unsigned shl(unsigned a, unsigned b) { return a << (b & 31u); }
WGSL_FN unsigned shr(unsigned a, unsigned b) { return a >> (b & 31u); }
#define WGSL_CTOR __host__ __device__ __forceinline__ constexpr
template <class T> struct element { typedef T type; static WGSL_CTOR T& of(T& e) { return e; } static WGSL_CTOR const T& of(const T& e) { return e; } };
template <class T, unsigned N> struct array {
  typename element<T>::type data[N];
  WGSL_CTOR T& operator[](unsigned i) { return element<T>::of(data[i]); }
  WGSL_CTOR const T& operator[](unsigned i) const { return element<T>::of(data[i]); }
};

extern "C" __global__ void __launch_bounds__(32) main_(
    const array<unsigned, 32>* __restrict__ a_,
    unsigned long long a_bytes,
    const array<unsigned, 32>* __restrict__ s_,
    unsigned long long s_bytes,
    array<unsigned, 96>* __restrict__ out_,
    unsigned long long out_bytes
) {
  const unsigned i_ = threadIdx.x;
  (*out_)[i_] = (*a_)[i_] << ((*s_)[i_] & 31u);
  (*out_)[32u + i_] = (unsigned)((int)((*a_)[i_]) >> ((*s_)[i_] & 31u));
  (*out_)[64u + i_] = (((*a_)[i_] << 4) | ((*a_)[i_] >> ((i_ % 8u) & 31u))) | (unsigned)(shl(1, i_));
}
}
