// names.wgsl: translated from WGSL, bounds: clamp
#pragma nv_diag_suppress 177,186
namespace wgsl {
#define WGSL_FN __device__ __forceinline__
// i32 wraps around: the sum is formed in unsigned arithmetic.
WGSL_FN int add(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
WGSL_FN int sub(int a, int b) { return (int)((unsigned)a - (unsigned)b); }
WGSL_FN int mul(int a, int b) { return (int)((unsigned)a * (unsigned)b); }
WGSL_FN int neg(int a) { return (int)(0u - (unsigned)a); }
WGSL_FN unsigned add(unsigned a, unsigned b) { return a + b; }
WGSL_FN unsigned sub(unsigned a, unsigned b) { return a - b; }
WGSL_FN unsigned mul(unsigned a, unsigned b) { return a * b; }
WGSL_FN float add(float a, float b) { return a + b; }
WGSL_FN float sub(float a, float b) { return a - b; }
WGSL_FN float mul(float a, float b) { return a * b; }
WGSL_FN float neg(float a) { return -a; }
#define WGSL_CTOR __host__ __device__ __forceinline__ constexpr
template <class T> struct element { typedef T type; static WGSL_CTOR T& of(T& e) { return e; } static WGSL_CTOR const T& of(const T& e) { return e; } };
template <class T, unsigned N> struct array {
  typename element<T>::type data[N];
  WGSL_CTOR T& operator[](unsigned i) { return element<T>::of(data[i]); }
  WGSL_CTOR const T& operator[](unsigned i) const { return element<T>::of(data[i]); }
};

struct alignas(4) float4_t {
  int int__;
  int x_;
  float4_t() = default;
  WGSL_CTOR float4_t(int a0, int a1) : int__(a0), x_(a1) {}
};
static_assert(sizeof(float4_t) == 8, "layout");
WGSL_FN int printf_(const int unsigned_) {
  return add(unsigned_, 1);
}
WGSL_FN int min__(const int Gruf6uudfue_) {
  const int min_1_ = mul(Gruf6uudfue_, 2);
  return min_1_;
}
extern "C" __global__ void __launch_bounds__(1) kernel_(
    array<int, 4>* __restrict__ out_,
    unsigned long long out_bytes
) {
  return [&]() __attribute__((always_inline)) -> void {
  const int int_ = 3;
  float4_t threadIdx_ = float4_t(int_, printf_(int_));
  {
    const int int_1 = 4;
    threadIdx_.x_ = add(threadIdx_.x_, int_1);
  }
  const int long_ = min__(threadIdx_.x_);
  (*out_)[0u] = long_;
  (*out_)[1u] = threadIdx_.int__;
  (*out_)[2u] = int_;
  }();
}
}
