// subgroups.wgsl: translated from WGSL, bounds: clamp
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
template <class T, int N> struct vec;
template <class T> struct alignas(2 * sizeof(T)) vec<T, 2> {
  T x, y;
  vec() = default;
  explicit WGSL_CTOR vec(T s) : x(s), y(s) {}
  WGSL_CTOR vec(T x, T y) : x(x), y(y) {}
};
template <class T> struct vec<T, 3> {
  T x, y, z;
  vec() = default;
  explicit WGSL_CTOR vec(T s) : x(s), y(s), z(s) {}
  WGSL_CTOR vec(T x, T y, T z) : x(x), y(y), z(z) {}
  WGSL_CTOR vec(vec<T, 2> a, T z) : x(a.x), y(a.y), z(z) {}
  WGSL_CTOR vec(T x, vec<T, 2> a) : x(x), y(a.x), z(a.y) {}
};
template <class T> struct alignas(4 * sizeof(T)) vec<T, 4> {
  T x, y, z, w;
  vec() = default;
  explicit WGSL_CTOR vec(T s) : x(s), y(s), z(s), w(s) {}
  WGSL_CTOR vec(T x, T y, T z, T w) : x(x), y(y), z(z), w(w) {}
  WGSL_CTOR vec(vec<T, 2> a, T z, T w) : x(a.x), y(a.y), z(z), w(w) {}
  WGSL_CTOR vec(T x, vec<T, 2> a, T w) : x(x), y(a.x), z(a.y), w(w) {}
  WGSL_CTOR vec(T x, T y, vec<T, 2> a) : x(x), y(y), z(a.x), w(a.y) {}
  WGSL_CTOR vec(vec<T, 2> a, vec<T, 2> b) : x(a.x), y(a.y), z(b.x), w(b.y) {}
  WGSL_CTOR vec(vec<T, 3> a, T w) : x(a.x), y(a.y), z(a.z), w(w) {}
  WGSL_CTOR vec(T x, vec<T, 3> a) : x(x), y(a.x), z(a.y), w(a.z) {}
};
// A vec3 as an element of an array or a column of a matrix: 12 bytes in a stride of 16.
template <class T> struct alignas(4 * sizeof(T)) slot { vec<T, 3> value; };
template <class T> WGSL_FN vec<T, 2> make_vec(T x, T y) { return vec<T, 2>(x, y); }
template <class T> WGSL_FN vec<T, 3> make_vec(T x, T y, T z) { return vec<T, 3>(x, y, z); }
template <class T> WGSL_FN vec<T, 4> make_vec(T x, T y, T z, T w) { return vec<T, 4>(x, y, z, w); }
typedef vec<float, 2> vec2f; typedef vec<float, 3> vec3f; typedef vec<float, 4> vec4f;
typedef vec<int, 2> vec2i; typedef vec<int, 3> vec3i; typedef vec<int, 4> vec4i;
typedef vec<unsigned, 2> vec2u; typedef vec<unsigned, 3> vec3u; typedef vec<unsigned, 4> vec4u;
typedef vec<bool, 2> vec2b; typedef vec<bool, 3> vec3b; typedef vec<bool, 4> vec4b;
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
template <class T> struct element<vec<T, 3>> { typedef slot<T> type; static WGSL_CTOR vec<T, 3>& of(slot<T>& e) { return e.value; } static WGSL_CTOR const vec<T, 3>& of(const slot<T>& e) { return e.value; } };
// ptxas knows that it is below 32. If nvcc did not, it would leave branches to ptxas that are never taken.
WGSL_FN unsigned lane_index() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); __builtin_assume(r < 32u); return r; }
// The lanes that are here now; the argument tells one place in the source from another.
WGSL_FN unsigned active_lanes(int) { return __activemask(); }
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
template <class T> WGSL_FN vec<T, 2> shuffle(unsigned mask, vec<T, 2> v, unsigned lane) { return make_vec(shuffle(mask, v.x, lane), shuffle(mask, v.y, lane)); }
template <class T> WGSL_FN vec<T, 3> shuffle(unsigned mask, vec<T, 3> v, unsigned lane) { return make_vec(shuffle(mask, v.x, lane), shuffle(mask, v.y, lane), shuffle(mask, v.z, lane)); }
template <class T> WGSL_FN vec<T, 4> shuffle(unsigned mask, vec<T, 4> v, unsigned lane) { return make_vec(shuffle(mask, v.x, lane), shuffle(mask, v.y, lane), shuffle(mask, v.z, lane), shuffle(mask, v.w, lane)); }
template <class T> WGSL_FN vec<T, 2> shuffle_up(unsigned mask, vec<T, 2> v, unsigned lane) { return make_vec(shuffle_up(mask, v.x, lane), shuffle_up(mask, v.y, lane)); }
template <class T> WGSL_FN vec<T, 3> shuffle_up(unsigned mask, vec<T, 3> v, unsigned lane) { return make_vec(shuffle_up(mask, v.x, lane), shuffle_up(mask, v.y, lane), shuffle_up(mask, v.z, lane)); }
template <class T> WGSL_FN vec<T, 4> shuffle_up(unsigned mask, vec<T, 4> v, unsigned lane) { return make_vec(shuffle_up(mask, v.x, lane), shuffle_up(mask, v.y, lane), shuffle_up(mask, v.z, lane), shuffle_up(mask, v.w, lane)); }
template <class T> WGSL_FN vec<T, 2> shuffle_down(unsigned mask, vec<T, 2> v, unsigned lane) { return make_vec(shuffle_down(mask, v.x, lane), shuffle_down(mask, v.y, lane)); }
template <class T> WGSL_FN vec<T, 3> shuffle_down(unsigned mask, vec<T, 3> v, unsigned lane) { return make_vec(shuffle_down(mask, v.x, lane), shuffle_down(mask, v.y, lane), shuffle_down(mask, v.z, lane)); }
template <class T> WGSL_FN vec<T, 4> shuffle_down(unsigned mask, vec<T, 4> v, unsigned lane) { return make_vec(shuffle_down(mask, v.x, lane), shuffle_down(mask, v.y, lane), shuffle_down(mask, v.z, lane), shuffle_down(mask, v.w, lane)); }
template <class T> WGSL_FN vec<T, 2> shuffle_xor(unsigned mask, vec<T, 2> v, unsigned lane) { return make_vec(shuffle_xor(mask, v.x, lane), shuffle_xor(mask, v.y, lane)); }
template <class T> WGSL_FN vec<T, 3> shuffle_xor(unsigned mask, vec<T, 3> v, unsigned lane) { return make_vec(shuffle_xor(mask, v.x, lane), shuffle_xor(mask, v.y, lane), shuffle_xor(mask, v.z, lane)); }
template <class T> WGSL_FN vec<T, 4> shuffle_xor(unsigned mask, vec<T, 4> v, unsigned lane) { return make_vec(shuffle_xor(mask, v.x, lane), shuffle_xor(mask, v.y, lane), shuffle_xor(mask, v.z, lane), shuffle_xor(mask, v.w, lane)); }
template <class T> WGSL_FN T subgroupBroadcast(unsigned mask, T v, unsigned lane) { return shuffle(mask, v, lane); }
template <class T> WGSL_FN T subgroupShuffle(unsigned mask, T v, unsigned lane) { return shuffle(mask, v, lane); }
template <class T> WGSL_FN T subgroupShuffleUp(unsigned mask, T v, unsigned by) { return shuffle_up(mask, v, by); }
template <class T> WGSL_FN T subgroupShuffleDown(unsigned mask, T v, unsigned by) { return shuffle_down(mask, v, by); }
template <class T> WGSL_FN T subgroupShuffleXor(unsigned mask, T v, unsigned by) { return shuffle_xor(mask, v, by); }
WGSL_FN unsigned first_lane(unsigned mask) { return (mask & 1u) != 0u ? 0u : (unsigned)__ffs((int)mask) - 1u; }
template <class T> WGSL_FN T subgroupBroadcastFirst(unsigned mask, T v) { return shuffle(mask, v, first_lane(mask)); }
WGSL_FN bool subgroupElect(unsigned mask) { return lane_index() == first_lane(mask); }
WGSL_FN bool subgroupAll(unsigned mask, bool p) { return __ballot_sync(mask, p) == mask; }
WGSL_FN bool subgroupAny(unsigned mask, bool p) { return __ballot_sync(mask, p) != 0u; }
WGSL_FN vec4u subgroupBallot(unsigned mask, bool p) { return vec4u(__ballot_sync(mask, p), 0u, 0u, 0u); }
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
template <class T> WGSL_FN vec<T, 2> subgroupAdd(unsigned mask, vec<T, 2> v) { return make_vec(subgroupAdd(mask, v.x), subgroupAdd(mask, v.y)); }
template <class T> WGSL_FN vec<T, 3> subgroupAdd(unsigned mask, vec<T, 3> v) { return make_vec(subgroupAdd(mask, v.x), subgroupAdd(mask, v.y), subgroupAdd(mask, v.z)); }
template <class T> WGSL_FN vec<T, 4> subgroupAdd(unsigned mask, vec<T, 4> v) { return make_vec(subgroupAdd(mask, v.x), subgroupAdd(mask, v.y), subgroupAdd(mask, v.z), subgroupAdd(mask, v.w)); }
template <class T> WGSL_FN T subgroupInclusiveAdd(unsigned mask, T v) { return scan_lanes<true>(mask, v, T(0), subgroupAdd_op()); }
template <class T> WGSL_FN T subgroupExclusiveAdd(unsigned mask, T v) { return scan_lanes<false>(mask, v, T(0), subgroupAdd_op()); }
template <class T> WGSL_FN vec<T, 2> subgroupInclusiveAdd(unsigned mask, vec<T, 2> v) { return make_vec(subgroupInclusiveAdd(mask, v.x), subgroupInclusiveAdd(mask, v.y)); }
template <class T> WGSL_FN vec<T, 3> subgroupInclusiveAdd(unsigned mask, vec<T, 3> v) { return make_vec(subgroupInclusiveAdd(mask, v.x), subgroupInclusiveAdd(mask, v.y), subgroupInclusiveAdd(mask, v.z)); }
template <class T> WGSL_FN vec<T, 4> subgroupInclusiveAdd(unsigned mask, vec<T, 4> v) { return make_vec(subgroupInclusiveAdd(mask, v.x), subgroupInclusiveAdd(mask, v.y), subgroupInclusiveAdd(mask, v.z), subgroupInclusiveAdd(mask, v.w)); }
template <class T> WGSL_FN vec<T, 2> subgroupExclusiveAdd(unsigned mask, vec<T, 2> v) { return make_vec(subgroupExclusiveAdd(mask, v.x), subgroupExclusiveAdd(mask, v.y)); }
template <class T> WGSL_FN vec<T, 3> subgroupExclusiveAdd(unsigned mask, vec<T, 3> v) { return make_vec(subgroupExclusiveAdd(mask, v.x), subgroupExclusiveAdd(mask, v.y), subgroupExclusiveAdd(mask, v.z)); }
template <class T> WGSL_FN vec<T, 4> subgroupExclusiveAdd(unsigned mask, vec<T, 4> v) { return make_vec(subgroupExclusiveAdd(mask, v.x), subgroupExclusiveAdd(mask, v.y), subgroupExclusiveAdd(mask, v.z), subgroupExclusiveAdd(mask, v.w)); }

extern "C" __global__ void __launch_bounds__(64) main_(
    array<unsigned, 128>* out_,
    unsigned long long out_bytes
) {
  const vec3u id_(blockIdx.x * 64u + threadIdx.x, blockIdx.y, blockIdx.z);
  const unsigned lane_ = (threadIdx.x) & 31u;
  const unsigned size_ = 32u;
  const unsigned sum_ = div(subgroupAdd(0xffffffffu, 1u), size_);
  const unsigned before_ = subgroupExclusiveAdd(0xffffffffu, 1u) - lane_;
  unsigned odd_ = 0u;
  if (rem(lane_, 2u) == 1u) {
    const unsigned t0 = div(subgroupAdd(active_lanes(0), 2u), size_);
    odd_ = t0;
  }
  const unsigned neighbour_ = subgroupShuffleXor(0xffffffffu, id_.x, 1u) ^ id_.x;
  const unsigned t1 = ((sum_ + (before_ * 10u)) + (odd_ * 100u)) + (neighbour_ * 1000u);
  const unsigned t2 = t1 + ((unsigned)(subgroupAll(0xffffffffu, true)) * 10000u);
  (*out_)[min(id_.x, 127u)] = t2;
}
}
