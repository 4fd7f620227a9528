// continuing.wgsl: translated from WGSL, bounds: clamp
#pragma nv_diag_suppress 177,186
namespace wgsl {
#define WGSL_FN __device__ __forceinline__
#define WGSL_CTOR __host__ __device__ __forceinline__ constexpr
template <class T> struct element { typedef T type; static WGSL_CTOR T& of(T& e) { return e; } static WGSL_CTOR const T& of(const T& e) { return e; } };
template <class T, unsigned N> struct array {
  typename element<T>::type data[N];
  WGSL_CTOR T& operator[](unsigned i) { return element<T>::of(data[i]); }
  WGSL_CTOR const T& operator[](unsigned i) const { return element<T>::of(data[i]); }
};
// C++ may assume that a loop without side effects ends; WGSL gives endless loops a meaning.
#define ENDLESS_LOOP asm volatile("");
// What decides that a loop is left, in a form that the compiler does not see through: see exit-conditions.ts.
WGSL_FN unsigned exit_condition(unsigned selector) { asm("" : "+r"(selector)); return selector; }
WGSL_FN int exit_condition(int selector) { return (int)exit_condition((unsigned)selector); }
WGSL_FN bool exit_condition(bool holds) { return exit_condition((unsigned)holds) != 0u; }

extern "C" __global__ void __launch_bounds__(8) main_(
    array<unsigned, 8>* __restrict__ out_,
    unsigned long long out_bytes
) {
  const unsigned i_ = threadIdx.x;
  unsigned n_ = i_;
  unsigned trace_ = 0u;
  while (true) {
    ENDLESS_LOOP
    unsigned step_;
     {
      step_ = (n_ % 3u) + 1u;
      switch (exit_condition(n_ % 4u)) {
        case 0u: {
          trace_ += 100u;
          goto next0;
        }
        break;
        case 1u: case 2u: {
          trace_ += 10u;
        }
        break;
        default: {
          trace_ += 1u;
          break;
        }
        break;
      }
      trace_ += 1000u;
    }
    next0:;
    const unsigned next_ = n_ + step_;
    n_ = next_;
    if (exit_condition(next_ > 12u)) break;
  }
  (*out_)[i_] = trace_;
}
}
