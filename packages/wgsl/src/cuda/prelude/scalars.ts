import type { Fragment } from './fragment.ts'

/** Scalar arithmetic that differs between WGSL and the C++ operator. */
export const scalarFragments: readonly Fragment[] = [
  {
    provides: ['WGSL_FN'],
    source: `#define WGSL_FN __device__ __forceinline__`,
  },
  {
    provides: ['add', 'sub', 'mul', 'neg'],
    source: `// i32 wraps around: the sum is formed in unsigned arithmetic.
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
WGSL_FN float neg(float a) { return -a; }`,
  },
  {
    provides: ['ptx_neg'],
    ptx: true,
    source: `WGSL_FN int ptx_neg(int a) { int r; asm("neg.s32 %0, %1;" : "=r"(r) : "r"(a)); return r; }`,
  },
  {
    provides: ['ptx_div'],
    ptx: true,
    source: `WGSL_FN float ptx_div(float a, float b) { float r; asm("div.full.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r; }`,
  },
  {
    provides: ['ptx_sqrt'],
    ptx: true,
    source: `WGSL_FN float ptx_sqrt(float a) { float r; asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }`,
  },
  {
    provides: ['ptx_rsqrt'],
    ptx: true,
    source: `WGSL_FN float ptx_rsqrt(float a) { float r; asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(a)); return r; }`,
  },
  {
    provides: ['div', 'rem'],
    source: `// x / 0 is x and x % 0 is 0; so are MIN / -1 and MIN % -1. f32 division is within 2 ULP.
WGSL_FN int div(int a, int b) { return a / (b == 0 || (b == -1 && a == (-2147483647 - 1)) ? 1 : b); }
WGSL_FN int rem(int a, int b) { return a % (b == 0 || (b == -1 && a == (-2147483647 - 1)) ? 1 : b); }
WGSL_FN unsigned div(unsigned a, unsigned b) { return a / (b == 0u ? 1u : b); }
WGSL_FN unsigned rem(unsigned a, unsigned b) { return a % (b == 0u ? 1u : b); }
WGSL_FN float div(float a, float b) { return ptx_div(a, b); }
WGSL_FN float rem(float a, float b) { return fmodf(a, b); }`,
  },
  {
    provides: ['shl', 'shr'],
    source: `// Only the low five bits of a shift amount count.
WGSL_FN int shl(int a, unsigned b) { return (int)((unsigned)a << (b & 31u)); }
WGSL_FN int shr(int a, unsigned b) { return a >> (b & 31u); }
WGSL_FN unsigned shl(unsigned a, unsigned b) { return a << (b & 31u); }
WGSL_FN unsigned shr(unsigned a, unsigned b) { return a >> (b & 31u); }`,
  },
  {
    provides: ['bit_and', 'bit_or', 'bit_xor', 'logical_not'],
    source: `template <class T> WGSL_FN T bit_and(T a, T b) { return T(a & b); }
template <class T> WGSL_FN T bit_or(T a, T b) { return T(a | b); }
template <class T> WGSL_FN T bit_xor(T a, T b) { return T(a ^ b); }
WGSL_FN bool logical_not(bool a) { return !a; }`,
  },
  {
    provides: ['bit_not'],
    ptx: true,
    source: `// Neither nvcc nor ptxas knows the second operand: the product of neighbours is even, so it has all bits set.
WGSL_FN unsigned bit_not(unsigned a) { return a ^ (gridDim.x * (gridDim.x + 1u) & 1u ? gridDim.x : 0xffffffffu); }
WGSL_FN int bit_not(int a) { return (int)bit_not((unsigned)a); }`,
  },
  {
    provides: ['equal', 'not_equal', 'less', 'less_equal', 'greater', 'greater_equal'],
    source: `template <class T> WGSL_FN bool equal(T a, T b) { return a == b; }
template <class T> WGSL_FN bool not_equal(T a, T b) { return a != b; }
template <class T> WGSL_FN bool less(T a, T b) { return a < b; }
template <class T> WGSL_FN bool less_equal(T a, T b) { return a <= b; }
template <class T> WGSL_FN bool greater(T a, T b) { return a > b; }
template <class T> WGSL_FN bool greater_equal(T a, T b) { return a >= b; }`,
  },
  {
    provides: ['convert'],
    source: `// Conversion of a float to an integer truncates and clamps to the largest float that the integer type can hold.
template <class To> struct converter { template <class From> static __device__ __forceinline__ To of(From a) { return To(a); } };
template <> struct converter<int> {
  template <class From> static __device__ __forceinline__ int of(From a) { return int(a); }
  static __device__ __forceinline__ int of(float a) { return (int)fminf(fmaxf(a, -2147483648.0f), 2147483520.0f); }
};
template <> struct converter<unsigned> {
  template <class From> static __device__ __forceinline__ unsigned of(From a) { return unsigned(a); }
  static __device__ __forceinline__ unsigned of(float a) { return (unsigned)fminf(fmaxf(a, 0.0f), 4294967040.0f); }
};
template <> struct converter<bool> { template <class From> static __device__ __forceinline__ bool of(From a) { return a != From(0); } };
template <class To, class From> WGSL_FN To convert(From a) { return converter<To>::of(a); }`,
  },
  {
    provides: ['bitcast'],
    source: `template <class To, class From> WGSL_FN To bitcast(From from) {
  static_assert(sizeof(To) == sizeof(From), "a bitcast keeps the size");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}`,
  },
]
