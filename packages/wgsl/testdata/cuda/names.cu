// names.wgsl: translated from WGSL, bounds: clamp
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
// A value of a type that no other function has: see FunctionWriter.own. Where LLVM does not tell types by their
// names, the structures before the value do, which write the function's number in binary.
template <int number, bool odd = number % 2 == 1> struct own_number { own_number<number / 2> rest; };
template <int number> struct own_number<number, true> { own_number<number / 2> rest[1]; };
template <> struct own_number<0, false> {
  unsigned word;
  __device__ __forceinline__ own_number() {}
};
template <int function, class T> struct local {
  own_number<function> before;
  T value;
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
    array<int, 4>* out_,
    unsigned long long out_bytes
) {
  const int int_ = 3;
  float4_t&& threadIdx_ = local<2, float4_t>{{}, float4_t(int_, printf_(int_))}.value;
  {
    const int int_1 = 4;
    threadIdx_.x_ = add(threadIdx_.x_, int_1);
  }
  const int long_ = min__(threadIdx_.x_);
  (*out_)[0u] = long_;
  (*out_)[1u] = threadIdx_.int__;
  (*out_)[2u] = int_;
}
}
