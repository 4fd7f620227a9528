// overrides.wgsl: translated from WGSL, bounds: clamp
#pragma nv_diag_suppress 177,186
namespace wgsl {
#define WGSL_FN __device__ __forceinline__
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
// Elements of a runtime-sized array that starts at 'offset' in a binding.
WGSL_FN unsigned array_length(unsigned long long bytes, unsigned offset, unsigned stride) {
  const unsigned long long rest = bytes < offset ? 0ull : bytes - offset;
  unsigned elements = (unsigned)(rest >> 32) >= stride ? 0xffffffffu : (unsigned)(rest / stride);
  asm("" : "+r"(elements));  // computed once, not again at each use
  return elements;
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
// The same with fewer than 16 threads, who take several of the last bytes each.
WGSL_FN void zero_workgroup_by_few(void* memory, unsigned bytes, unsigned thread, unsigned threads) {
  zero_workgroup(memory, bytes, thread, threads);
  _Pragma("unroll 1") for (unsigned i = bytes / 16u * 16u + thread; i < bytes; i += threads) static_cast<unsigned char*>(memory)[i] = 0;
}

alignas(16) __shared__ array<float, 16> shared_values_;
extern "C" __global__ void __launch_bounds__(8) main_(
    float* out_,
    unsigned long long out_bytes
) {
  const unsigned out_length = array_length(out_bytes, 0u, 4u);
  zero_workgroup_by_few(&shared_values_, sizeof(shared_values_), threadIdx.x, 8u);
  __syncthreads();
  const unsigned i_ = threadIdx.x;
  shared_values_[i_] = 2.9f;
  shared_values_[i_ + 8u] = 0.33333334f;
  __syncthreads();
  if (i_ < out_length) out_[i_] = (shared_values_[i_] + shared_values_[i_ ^ 4u]) + shared_values_[15u - i_];
}
}
