import { type Fragment, forEachSize, lift } from './fragment.ts'

/**
 * f32 functions of one argument: WGSL name and body. f16 goes through f32, whose error is far below f16's.
 */
const unary: readonly (readonly [string, string])[] = [
  ['ceil', 'ceilf(a)'],
  ['floor', 'floorf(a)'],
  ['round', 'rintf(a)'],
  ['trunc', 'truncf(a)'],
  ['fract', 'a - floorf(a)'],
  ['saturate', 'fminf(fmaxf(a, 0.0f), 1.0f)'],
  ['degrees', 'a * 57.29577951308232f'],
  ['radians', 'a * 0.017453292519943295f'],
  ['acos', 'acosf(a)'],
  ['acosh', 'acoshf(a)'],
  ['asin', 'asinf(a)'],
  ['asinh', 'asinhf(a)'],
  ['atan', 'atanf(a)'],
  ['atanh', 'atanhf(a)'],
  ['cosh', 'coshf(a)'],
  ['sinh', 'sinhf(a)'],
  ['tanh', 'tanhf(a)'],
  ['cos', '__cosf(reduce_angle(a))'],
  ['sin', '__sinf(reduce_angle(a))'],
  ['tan', 'ptx_div(__sinf(reduce_angle(a)), __cosf(reduce_angle(a)))'],
  ['exp', '__expf(a)'],
  ['exp2', 'exp2f(a)'],
  ['log', '__logf(a)'],
  ['log2', '__log2f(a)'],
  ['sqrt', 'ptx_sqrt(a)'],
  ['inverseSqrt', 'ptx_rsqrt(a)'],
]

const binary: readonly (readonly [string, string])[] = [
  ['atan2', 'atan2f(a, b)'],
  ['pow', 'exp2f(b * __log2f(a))'],
  ['step', 'a <= b ? 1.0f : 0.0f'],
]

const ternary: readonly (readonly [string, string])[] = [
  ['mix', 'a * (1.0f - c) + b * c'],
  ['smoothstep', 'smooth_hermite(fminf(fmaxf(ptx_div(c - a, b - a), 0.0f), 1.0f))'],
]

const parameters = ['a', 'b', 'c']
const declare = (type: string, count: number, name: string, body: string) =>
  `WGSL_FN ${type} ${name}(${parameters
    .slice(0, count)
    .map((p) => `${type} ${p}`)
    .join(', ')}) { return ${body}; }`

function family(count: 1 | 2 | 3, table: readonly (readonly [string, string])[]): Fragment[] {
  return table.flatMap(([name, body]): Fragment[] => [
    { provides: [name], source: declare('float', count, name, body) },
    {
      provides: [name],
      when: ['f16'],
      source: declare(
        'f16',
        count,
        name,
        `f16(${name}(${parameters
          .slice(0, count)
          .map((p) => `(float)${p}`)
          .join(', ')}))`,
      ),
    },
    ...lift(count, name),
  ])
}

/**
 * The float functions, within WGSL's accuracy, with hardware approximations if the specification allows them.
 */
export const mathFragments: readonly Fragment[] = [
  {
    // __sinf and __cosf are exact to 2^-21 in [-pi, pi] only. Two steps keep the error small up to about
    // 10^5.
    provides: ['reduce_angle'],
    source: `WGSL_FN float reduce_angle(float a) {
  const float turns = rintf(a * 0.15915494309189535f);
  return fmaf(turns, 1.7484556e-07f, fmaf(turns, -6.2831855f, a));
}`,
  },
  {
    provides: ['smooth_hermite'],
    source: 'WGSL_FN float smooth_hermite(float t) { return t * t * (3.0f - 2.0f * t); }',
  },
  ...family(1, unary),
  ...family(2, binary),
  ...family(3, ternary),
  {
    provides: ['vector_mix'],
    source: forEachSize(
      (n) =>
        `template <class T> WGSL_FN vec<T, ${n}> mix(vec<T, ${n}> a, vec<T, ${n}> b, T c) { return mix(a, b, vec<T, ${n}>(c)); }`,
    ),
  },
  {
    provides: ['fma'],
    source: 'WGSL_FN float fma(float a, float b, float c) { return fmaf(a, b, c); }',
  },
  {
    provides: ['fma'],
    when: ['f16'],
    source: 'WGSL_FN f16 fma(f16 a, f16 b, f16 c) { return f16_bits(ptx_f16_fma(a.bits, b.bits, c.bits)); }',
  },
  ...lift(3, 'fma'),
  {
    provides: ['abs'],
    source: `WGSL_FN float abs(float a) { return fabsf(a); }
WGSL_FN unsigned abs(unsigned a) { return a; }`,
  },
  {
    provides: ['abs'],
    source: `// A minimum, because ptxas 13.0 takes the result of abs.s32, even of the least value, for positive.
WGSL_FN int abs(int a) { const unsigned u = (unsigned)a, n = (unsigned)ptx_neg(a); return (int)(u < n ? u : n); }`,
  },
  {
    provides: ['abs'],
    when: ['f16'],
    source: 'WGSL_FN f16 abs(f16 a) { return f16_bits(ptx_f16_abs(a.bits)); }',
  },
  ...lift(1, 'abs'),
  {
    provides: ['sign'],
    source: `WGSL_FN float sign(float a) { return a > 0.0f ? 1.0f : a < 0.0f ? -1.0f : 0.0f; }
WGSL_FN int sign(int a) { return a > 0 ? 1 : a < 0 ? -1 : 0; }`,
  },
  {
    provides: ['sign'],
    when: ['f16'],
    source: 'WGSL_FN f16 sign(f16 a) { return f16(sign((float)a)); }',
  },
  ...lift(1, 'sign'),
  {
    provides: ['min', 'max'],
    source: `WGSL_FN float min(float a, float b) { return fminf(a, b); }
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
WGSL_FN unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }`,
  },
  {
    provides: ['min', 'max'],
    when: ['f16'],
    source: `WGSL_FN f16 min(f16 a, f16 b) { return b < a ? b : a; }
WGSL_FN f16 max(f16 a, f16 b) { return a < b ? b : a; }`,
  },
  ...lift(2, 'min', 'max'),
  {
    provides: ['clamp'],
    source: 'template <class T> WGSL_FN T clamp(T a, T low, T high) { return min(max(a, low), high); }',
  },
  {
    provides: ['vector_clamp'],
    needs: ['clamp', 'vector_min', 'vector_max'],
    source: '',
  },
  {
    provides: ['ldexp'],
    source: 'WGSL_FN float ldexp(float a, int b) { return ldexpf(a, b); }',
  },
  {
    provides: ['ldexp'],
    when: ['f16'],
    source: 'WGSL_FN f16 ldexp(f16 a, int b) { return f16(ldexpf((float)a, b)); }',
  },
  ...lift(2, 'ldexp'),
  {
    provides: ['quantizeToF16'],
    source: 'WGSL_FN float quantizeToF16(float a) { return ptx_f16_to_f32(ptx_f32_to_f16(a)); }',
  },
  ...lift(1, 'quantizeToF16'),
  {
    provides: ['modf', 'modf_fract'],
    source: `template <class T> WGSL_FN T modf_fract(T a) { return a - trunc(a); }
template <class Result, class T> WGSL_FN Result modf(T a) { return Result(modf_fract(a), trunc(a)); }`,
  },
  {
    provides: ['vector_modf'],
    needs: ['vector_trunc', 'vector_operator_sub'],
    source: '',
  },
  {
    provides: ['frexp', 'frexp_fract', 'frexp_exponent'],
    source: `// a = fract * 2^exponent with |fract| in [0.5, 1), or both 0.
WGSL_FN int frexp_exponent(float a) {
  const unsigned bits = __float_as_uint(a) & 0x7fffffffu;
  if (bits == 0u) return 0;
  if (bits >= 0x00800000u) return (int)(bits >> 23) - 126;
  return -117 - __clz((int)bits);
}
WGSL_FN float frexp_fract(float a) {
  const unsigned bits = __float_as_uint(a);
  const unsigned magnitude = bits & 0x7fffffffu;
  if (magnitude == 0u || magnitude >= 0x7f800000u) return a;
  const unsigned mantissa = magnitude >= 0x00800000u ? bits & 0x007fffffu : (magnitude << (__clz((int)magnitude) - 8)) & 0x007fffffu;
  return __uint_as_float((bits & 0x80000000u) | 0x3f000000u | mantissa);
}`,
  },
  {
    provides: ['frexp'],
    when: ['f16'],
    source: `WGSL_FN int frexp_exponent(const f16& a) { return frexp_exponent((float)a); }
WGSL_FN f16 frexp_fract(f16 a) { return f16(frexp_fract((float)a)); }`,
  },
  ...lift(1, 'frexp_exponent', 'frexp_fract'),
  {
    provides: ['vector_frexp'],
    needs: ['vector_frexp_exponent', 'vector_frexp_fract'],
    source: '',
  },
  {
    provides: ['frexp'],
    source: `template <class Result, class T> WGSL_FN Result frexp(T a) { return Result(frexp_fract(a), frexp_exponent(a)); }`,
  },
]
