// subgroups-partial.wgsl: translated from WGSL, bounds: clamp
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
// ptxas knows that it is below 32. If nvcc did not, it would leave branches to ptxas that are never taken.
WGSL_FN unsigned lane_index() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); __builtin_assume(r < 32u); return r; }
WGSL_FN int shuffle(unsigned mask, int v, unsigned lane) { return __shfl_sync(mask, v, (int)(lane & 31u)); }
WGSL_FN int shuffle_up(unsigned mask, int v, unsigned by) { return __shfl_up_sync(mask, v, by & 31u); }
WGSL_FN int shuffle_down(unsigned mask, int v, unsigned by) { return __shfl_down_sync(mask, v, by & 31u); }
WGSL_FN int shuffle_xor(unsigned mask, int v, unsigned by) { return __shfl_xor_sync(mask, v, (int)(by & 31u)); }
WGSL_FN unsigned shuffle(unsigned mask, unsigned v, unsigned lane) { return __shfl_sync(mask, v, (int)(lane & 31u)); }
WGSL_FN unsigned shuffle_up(unsigned mask, unsigned v, unsigned by) { return __shfl_up_sync(mask, v, by & 31u); }
WGSL_FN unsigned shuffle_down(unsigned mask, unsigned v, unsigned by) { return __shfl_down_sync(mask, v, by & 31u); }
WGSL_FN unsigned shuffle_xor(unsigned mask, unsigned v, unsigned by) { return __shfl_xor_sync(mask, v, (int)(by & 31u)); }
WGSL_FN float shuffle(unsigned mask, float v, unsigned lane) { return __shfl_sync(mask, v, (int)(lane & 31u)); }
WGSL_FN float shuffle_up(unsigned mask, float v, unsigned by) { return __shfl_up_sync(mask, v, by & 31u); }
WGSL_FN float shuffle_down(unsigned mask, float v, unsigned by) { return __shfl_down_sync(mask, v, by & 31u); }
WGSL_FN float shuffle_xor(unsigned mask, float v, unsigned by) { return __shfl_xor_sync(mask, v, (int)(by & 31u)); }
WGSL_FN unsigned first_lane(unsigned mask) { return (mask & 1u) != 0u ? 0u : (unsigned)__ffs((int)mask) - 1u; }
template <class T> WGSL_FN T subgroupBroadcastFirst(unsigned mask, T v) { return shuffle(mask, v, first_lane(mask)); }
template <class T, class Op> WGSL_FN T reduce_lanes(unsigned mask, T v, Op op) {
  if (mask == 0xffffffffu) {
    for (unsigned by = 16u; by != 0u; by >>= 1) v = op(v, shuffle_xor(mask, v, by));
    return v;
  }
  unsigned rest = mask & (mask - 1u);
  T sum = shuffle(mask, v, first_lane(mask));
  _Pragma("unroll 1") for (; rest != 0u; rest &= rest - 1u) sum = op(sum, shuffle(mask, v, (unsigned)__ffs((int)rest) - 1u));
  return sum;
}
template <bool inclusive, class T, class Op> WGSL_FN T scan_lanes(unsigned mask, T v, T identity, Op op) {
  const unsigned lane = lane_index();
  if (mask == 0xffffffffu) {
    for (unsigned by = 1u; by != 32u; by <<= 1) {
      const T other = shuffle_up(mask, v, by);
      if (lane >= by) v = op(other, v);
    }
    if (inclusive) return v;
    const T before = shuffle_up(mask, v, 1u);
    return lane == 0u ? identity : before;
  }
  T sum = identity;
  _Pragma("unroll 1") for (unsigned rest = mask; rest != 0u; rest &= rest - 1u) {
    const unsigned from = (unsigned)__ffs((int)rest) - 1u;
    const T other = shuffle(mask, v, from);
    if (from < lane || (inclusive && from == lane)) sum = op(sum, other);
  }
  return sum;
}
struct subgroupAdd_op { template <class T> __device__ __forceinline__ T operator()(T a, T b) const { return add(a, b); } };
template <class T> WGSL_FN T subgroupAdd(unsigned mask, T v) { return reduce_lanes(mask, v, subgroupAdd_op()); }
struct subgroupMax_op { template <class T> __device__ __forceinline__ T operator()(T a, T b) const { return max(a, b); } };
template <class T> WGSL_FN T subgroupMax(unsigned mask, T v) { return reduce_lanes(mask, v, subgroupMax_op()); }
template <class T> WGSL_FN T subgroupInclusiveAdd(unsigned mask, T v) { return scan_lanes<true>(mask, v, T(0), subgroupAdd_op()); }
template <class T> WGSL_FN T subgroupExclusiveAdd(unsigned mask, T v) { return scan_lanes<false>(mask, v, T(0), subgroupAdd_op()); }

extern "C" __global__ void __launch_bounds__(40) main_(
    array<unsigned, 40>* out_,
    unsigned long long out_bytes
) {
  const unsigned lanes = (threadIdx.x) >> 5 == 1u ? 255u : 0xffffffffu;
  const unsigned i_ = threadIdx.x;
  const unsigned lane_ = (threadIdx.x) & 31u;
  const unsigned last_ = subgroupMax(lanes, i_);
  const unsigned count_ = subgroupAdd(lanes, 1u);
  const unsigned t0 = ((unsigned)(last_ >= i_) + ((unsigned)(subgroupInclusiveAdd(lanes, 1u) == (lane_ + 1u)) * 10u)) + ((unsigned)(count_ > lane_) * 100u);
  (*out_)[i_] = t0;
}
}
