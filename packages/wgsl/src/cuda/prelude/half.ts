import type { Fragment } from './fragment.ts'

/** f16 in 16 bits, without `cuda_fp16.h`: a machine that has only the driver has no header files. */
export const halfFragments: readonly Fragment[] = [
  {
    provides: ['f16', 'f16_bits', 'ptx_f16_to_f32', 'ptx_f32_to_f16'],
    ptx: true,
    source: `WGSL_FN float ptx_f16_to_f32(unsigned short a) { float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(a)); return r; }
WGSL_FN unsigned short ptx_f32_to_f16(float a) { unsigned short r; asm("{ .reg .b16 %%t; cvt.rn.f16.f32 %%t, %1; mov.b16 %0, %%t; }" : "=h"(r) : "f"(a)); return r; }
${['add', 'sub', 'mul'].map((name) => `WGSL_FN unsigned short ptx_f16_${name}(unsigned short a, unsigned short b) { unsigned short r; asm("{ .reg .b16 %%t; ${name}.f16 %%t, %1, %2; mov.b16 %0, %%t; }" : "=h"(r) : "h"(a), "h"(b)); return r; }`).join('\n')}
WGSL_FN unsigned short ptx_f16_fma(unsigned short a, unsigned short b, unsigned short c) { unsigned short r; asm("{ .reg .b16 %%t; fma.rn.f16 %%t, %1, %2, %3; mov.b16 %0, %%t; }" : "=h"(r) : "h"(a), "h"(b), "h"(c)); return r; }
WGSL_FN unsigned short ptx_f16_abs(unsigned short a) { unsigned short r; asm("{ .reg .b16 %%t; abs.f16 %%t, %1; mov.b16 %0, %%t; }" : "=h"(r) : "h"(a)); return r; }`,
  },
  {
    provides: ['f16', 'f16_bits'],
    source: `struct f16 {
  unsigned short bits;
  f16() = default;
  explicit __device__ __forceinline__ f16(float a) : bits(ptx_f32_to_f16(a)) {}
  explicit __device__ __forceinline__ f16(int a) : bits(ptx_f32_to_f16((float)a)) {}
  explicit __device__ __forceinline__ f16(unsigned a) : bits(ptx_f32_to_f16((float)a)) {}
  explicit __device__ __forceinline__ f16(bool a) : bits(a ? 0x3c00 : 0) {}
  struct raw { unsigned short bits; };
  explicit constexpr __host__ __device__ __forceinline__ f16(raw a) : bits(a.bits) {}
  explicit __device__ __forceinline__ operator float() const { return ptx_f16_to_f32(bits); }
};
constexpr __host__ __device__ __forceinline__ f16 f16_bits(unsigned short bits) { return f16(f16::raw{bits}); }
WGSL_FN f16 operator+(f16 a, f16 b) { return f16_bits(ptx_f16_add(a.bits, b.bits)); }
WGSL_FN f16 operator-(f16 a, f16 b) { return f16_bits(ptx_f16_sub(a.bits, b.bits)); }
WGSL_FN f16 operator*(f16 a, f16 b) { return f16_bits(ptx_f16_mul(a.bits, b.bits)); }
WGSL_FN f16 operator-(f16 a) { return f16_bits((unsigned short)(a.bits ^ 0x8000)); }
WGSL_FN bool operator==(const f16& a, f16 b) { return (float)a == (float)b; }
WGSL_FN bool operator!=(const f16& a, f16 b) { return (float)a != (float)b; }
WGSL_FN bool operator<(const f16& a, f16 b) { return (float)a < (float)b; }
WGSL_FN bool operator<=(const f16& a, f16 b) { return (float)a <= (float)b; }
WGSL_FN bool operator>(const f16& a, f16 b) { return (float)a > (float)b; }
WGSL_FN bool operator>=(const f16& a, f16 b) { return (float)a >= (float)b; }`,
  },
  {
    provides: ['add', 'sub', 'mul', 'neg'],
    when: ['f16'],
    source: `WGSL_FN f16 add(f16 a, f16 b) { return a + b; }
WGSL_FN f16 sub(f16 a, f16 b) { return a - b; }
WGSL_FN f16 mul(f16 a, f16 b) { return a * b; }
WGSL_FN f16 neg(f16 a) { return -a; }`,
  },
  {
    // The quotient of two f16 in f32, rounded again, is the correctly rounded one.
    provides: ['div', 'rem'],
    when: ['f16'],
    source: `WGSL_FN f16 div(f16 a, f16 b) { return f16((float)a / (float)b); }
WGSL_FN f16 rem(f16 a, f16 b) { return f16(fmodf((float)a, (float)b)); }`,
  },
  {
    provides: ['equal', 'not_equal', 'less', 'less_equal', 'greater', 'greater_equal'],
    when: ['f16'],
    source: `WGSL_FN bool equal(const f16& a, f16 b) { return a == b; }
WGSL_FN bool not_equal(const f16& a, f16 b) { return a != b; }
WGSL_FN bool less(const f16& a, f16 b) { return a < b; }
WGSL_FN bool less_equal(const f16& a, f16 b) { return a <= b; }
WGSL_FN bool greater(const f16& a, f16 b) { return a > b; }
WGSL_FN bool greater_equal(const f16& a, f16 b) { return a >= b; }`,
  },
  {
    provides: ['bitcast'],
    when: ['vec2h'],
    source: `template <class To> WGSL_FN To bitcast(const vec<f16, 2>& from) {
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}`,
  },
  {
    provides: ['convert'],
    when: ['f16'],
    source: `template <class To> WGSL_FN To convert(const f16& a) { return convert<To>((float)a); }
template <> __device__ __forceinline__ bool convert<bool>(const f16& a) { return (float)a != 0.0f; }
template <> __device__ __forceinline__ f16 convert<f16>(const f16& a) { return a; }`,
  },
]
