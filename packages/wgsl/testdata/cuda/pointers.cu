// pointers.wgsl: translated from WGSL, bounds: clamp
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
// C++ may assume that a loop without side effects ends; WGSL gives endless loops a meaning. And where a loop compares its
// counter with what stays the same, nvcc 13.0 exchanges != and ==, for others who use the result too, to split the loop.
// For sm_100, it leaves branches around nothing otherwise, on which ptxas 13.0 crashes.
#if __CUDA_ARCH__ >= 1000
#define KEPT_LOOP { unsigned unused; asm volatile("mov.u32 %0, 0;" : "=r"(unused)); }
#else
#define KEPT_LOOP asm volatile("");
#endif
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

struct alignas(4) Pair_t {
  float first_;
  float second_;
  Pair_t() = default;
  WGSL_CTOR Pair_t(float a0, float a1) : first_(a0), second_(a1) {}
};
static_assert(sizeof(Pair_t) == 8, "layout");
__device__ constexpr array<float, 3> scale_ = array<float, 3>{{1.0f, 10.0f, 100.0f}};
WGSL_FN void bump_(Pair_t& pair_, const float by_, float& total_) {
  pair_.first_ += by_;
  total_ += pair_.second_;
}
WGSL_FN float largest_(const unsigned start_, array<float, 16>* data_) {
  float most_ = (*data_)[start_];
  _Pragma("unroll 4") for (unsigned i_ = start_ + 1u; i_ < (start_ + 4u); i_ += 1u) {
    KEPT_LOOP
    most_ = max(most_, (*data_)[i_]);
  }
  return most_;
}
extern "C" __global__ void __launch_bounds__(4) main_(
    array<float, 16>* data_,
    unsigned long long data_bytes,
    array<float, 8>* out_,
    unsigned long long out_bytes
) {
  float total_ = 0.5f;
  const unsigned i_1 = threadIdx.x;
  Pair_t&& pair_1 = local<3, Pair_t>{{}, Pair_t((float)i_1, 2.0f)}.value;
  bump_(pair_1, 3.0f, total_);
  const unsigned slot_index_ = i_1 * 4u;
  (*data_)[slot_index_] += 100.0f;
  (*out_)[i_1] = pair_1.first_ + (total_ * scale_[rem(i_1, 3u)]);
  (*out_)[4u + i_1] = largest_(i_1 * 4u, data_);
}
}
