/**
 * An operation on f32: WGSL for operands `a`, `b`, `c` and its accuracy in the specification (section
 * "Floating Point Accuracy").
 */
export interface FloatOperation {
  readonly text: string
  /** The exact value, in f64; NaN if the specification leaves it open. Booleans are exact. */
  readonly value: (a: number, b: number, c: number) => number | boolean
  /** The largest error, absolute. */
  readonly error: (want: number, a: number, b: number, c: number) => number
  /** Only for scalars. */
  readonly isScalar?: true
  /** Whether constants with these values are an error. */
  readonly failsAsConstant?: (a: number, b: number, c: number) => boolean
}

const smallest = 2 ** -126
const largest = 3.4028234663852886e38

/** The distance of f32 numbers at a magnitude. */
export function ulp(x: number): number {
  const magnitude = Math.max(Math.abs(x), smallest)
  return 2 ** (Math.floor(Math.log2(magnitude)) - 23)
}

const exact = () => 0
const ulps = (n: number) => (want: number) => n * ulp(want)
const logError = (x: number, want: number) =>
  x >= 0.5 && x <= 2 ? Math.max(2 ** -21, 3 * ulp(want)) : 3 * ulp(want)
const expError = (x: number, want: number) => (3 + 2 * Math.abs(x)) * ulp(want)
const within = (low: number, x: number, high: number, value: number) =>
  x >= low && x <= high ? value : Number.NaN
const round = (x: number) => {
  const floor = Math.floor(x)
  const part = x - floor
  return part < 0.5 || (part === 0.5 && floor % 2 === 0) ? floor : floor + 1
}
/** A remainder is open if the quotient is near a whole number, since the division has an error. */
const remainder = (a: number, b: number) => {
  const q = a / b
  const isNear = Math.abs(q - Math.round(q)) < 4 * ulp(q) && a % b !== 0
  return isNear || Math.abs(q) > 2 ** 20 || b === 0 ? Number.NaN : a % b
}
const divided = (a: number, b: number) =>
  Math.abs(b) >= smallest && Math.abs(b) <= 2 ** 126 ? a / b : Number.NaN
const wholeNumber = (low: number, high: number) => (a: number) => Math.min(high, Math.max(low, Math.trunc(a)))

/** The operations of the expression group on f32. */
export const floatOperations: readonly FloatOperation[] = [
  { text: 'a + b', value: (a, b) => a + b, error: ulps(1) },
  { text: 'a - b', value: (a, b) => a - b, error: ulps(1) },
  { text: 'a * b', value: (a, b) => a * b, error: ulps(1) },
  { text: 'a / b', value: divided, error: ulps(2.5), failsAsConstant: (_, b) => b === 0 },
  {
    text: 'a % b',
    value: remainder,
    error: (_, a, b) => 3 * ulp(a) + 2 * ulp(b),
    failsAsConstant: (_, b) => b === 0,
  },
  { text: '-a', value: (a) => -a, error: exact },
  { text: 'a == b', value: (a, b) => a === b, error: exact },
  { text: 'a != b', value: (a, b) => a !== b, error: exact },
  { text: 'a < b', value: (a, b) => a < b, error: exact },
  { text: 'a <= b', value: (a, b) => a <= b, error: exact },
  { text: 'a > b', value: (a, b) => a > b, error: exact },
  { text: 'a >= b', value: (a, b) => a >= b, error: exact },
  { text: 'abs(a)', value: Math.abs, error: exact },
  { text: 'sign(a)', value: Math.sign, error: exact },
  { text: 'min(a, b)', value: (a, b) => Math.min(a, b), error: exact },
  { text: 'max(a, b)', value: (a, b) => Math.max(a, b), error: exact },
  { text: 'ceil(a)', value: Math.ceil, error: exact },
  { text: 'floor(a)', value: Math.floor, error: exact },
  { text: 'trunc(a)', value: Math.trunc, error: exact },
  { text: 'round(a)', value: round, error: exact },
  { text: 'fract(a)', value: (a) => a - Math.floor(a), error: ulps(1) },
  { text: 'saturate(a)', value: (a) => Math.min(1, Math.max(0, a)), error: exact },
  { text: 'step(a, b)', value: (a, b) => (a <= b ? 1 : 0), error: exact },
  { text: 'select(a, b, a < c)', value: (a, b, c) => (a < c ? b : a), error: exact },
  {
    text: 'clamp(a, min(b, c), max(b, c))',
    value: (a, b, c) => Math.min(Math.max(a, Math.min(b, c)), Math.max(b, c)),
    error: exact,
  },
  { text: 'sqrt(a)', value: Math.sqrt, error: ulps(5), failsAsConstant: (a) => a < 0 },
  { text: 'inverseSqrt(a)', value: (a) => (a > 0 ? 1 / Math.sqrt(a) : Number.NaN), error: ulps(2) },
  { text: 'exp(a)', value: Math.exp, error: (want, a) => expError(a, want) },
  { text: 'exp2(a)', value: (a) => 2 ** a, error: (want, a) => expError(a, want) },
  { text: 'log(a)', value: (a) => (a > 0 ? Math.log(a) : Number.NaN), error: (want, a) => logError(a, want) },
  {
    text: 'log2(a)',
    value: (a) => (a > 0 ? Math.log2(a) : Number.NaN),
    error: (want, a) => logError(a, want),
  },
  {
    text: 'pow(abs(a), b)',
    value: (a, b) => (a === 0 ? Number.NaN : Math.abs(a) ** b),
    error: (want, a, b) => {
      const log = Math.log2(Math.abs(a))
      const exponentError = Math.abs(b) * logError(Math.abs(a), log) + ulp(b * log)
      return want * (2 ** exponentError - 1) + expError(b * log, want)
    },
  },
  { text: 'sin(a)', value: (a) => within(-Math.PI, a, Math.PI, Math.sin(a)), error: () => 2 ** -11 },
  { text: 'cos(a)', value: (a) => within(-Math.PI, a, Math.PI, Math.cos(a)), error: () => 2 ** -11 },
  {
    text: 'tan(a)',
    value: (a) => within(-1.4, a, 1.4, Math.tan(a)),
    error: (want, a) => 2 ** -10 * ((1 + Math.abs(want)) / Math.abs(Math.cos(a))) + 3 * ulp(want),
  },
  {
    text: 'asin(a)',
    value: (a) => within(-1, a, 1, Math.asin(a)),
    error: (want) => Math.max(6.82e-5, 4097 * ulp(want)),
  },
  {
    text: 'acos(a)',
    value: (a) => within(-1, a, 1, Math.acos(a)),
    error: (want) => Math.max(6.82e-5, 4097 * ulp(want)),
  },
  { text: 'atan(a)', value: Math.atan, error: ulps(4096) },
  {
    text: 'atan2(a, b)',
    value: (a, b) =>
      divided(a, b) === 0
        ? Number.NaN
        : Math.abs(divided(a, b)) > 0 && Math.abs(a / b) > smallest
          ? Math.atan2(a, b)
          : Number.NaN,
    error: ulps(4096),
  },
  {
    text: 'sinh(a)',
    value: (a) => within(-80, a, 80, Math.sinh(a)),
    error: (want, a) => expError(a, Math.exp(Math.abs(a))) + ulp(want),
  },
  {
    text: 'cosh(a)',
    value: (a) => within(-80, a, 80, Math.cosh(a)),
    error: (want, a) => expError(a, Math.exp(Math.abs(a))) + ulp(want),
  },
  {
    text: 'tanh(a)',
    value: (a) => within(-40, a, 40, Math.tanh(a)),
    error: (_, a) => 1e-5 + (16 + 8 * Math.abs(a)) * 2 ** -23,
  },
  {
    text: 'asinh(a)',
    value: (a) => within(-100, a, 1e6, Math.asinh(a)),
    error: (want, a) => (8 * ulp(Math.abs(a) + 1)) / Math.exp(want) + logError(1, want),
  },
  {
    text: 'acosh(a)',
    value: (a) => within(1.01, a, 1e6, Math.acosh(a)),
    error: (want, a) => (16 * ulp(a)) / Math.sqrt(a * a - 1) + logError(1, want),
  },
  {
    text: 'atanh(a)',
    value: (a) => within(-0.99, a, 0.99, Math.atanh(a)),
    error: (want) => 8 * 2 ** -22 + logError(1, want),
  },
  {
    text: 'fma(a, b, c)',
    value: (a, b, c) => (Math.abs(a * b) > largest ? Number.NaN : a * b + c),
    error: (want, a, b) => ulp(a * b) + ulp(want),
  },
  {
    text: 'mix(a, b, c)',
    value: (a, b, c) =>
      Math.abs(a) + Math.abs(b) > 1e30 || Math.abs(c) > 1e6 ? Number.NaN : a * (1 - c) + b * c,
    error: (_, a, b, c) =>
      3 * (ulp(a * (1 - c)) + ulp(a * c) + ulp(b * c)) +
      2 * ulp(a) +
      2 * ulp(b) +
      2 * ulp(c) * (Math.abs(a) + Math.abs(b)),
  },
  {
    text: 'smoothstep(-2.5, 7.5, a)',
    value: (a) => {
      const t = Math.min(1, Math.max(0, (a + 2.5) / 10))
      return t * t * (3 - 2 * t)
    },
    error: (want: number) => 16 * ulp(want) + 2 ** -22,
    isScalar: true,
  },
  { text: 'degrees(a)', value: (a) => (a * 180) / Math.PI, error: ulps(3) },
  { text: 'radians(a)', value: (a) => (a * Math.PI) / 180, error: ulps(3) },
  {
    text: 'quantizeToF16(a)',
    value: (a) => within(-65504, a, 65504, Math.abs(a) < 2 ** -14 ? Number.NaN : a),
    error: (_, a) => 2 ** (Math.floor(Math.log2(Math.abs(a))) - 10),
    failsAsConstant: (a) => Math.abs(a) > 65504,
  },
  { text: 'ldexp(a, 3)', value: (a) => a * 8, error: ulps(1), isScalar: true },
  { text: 'ldexp(a, -5)', value: (a) => a / 32, error: ulps(1), isScalar: true },
  { text: 'bitcast<f32>(bitcast<u32>(a))', value: (a) => a, error: exact, isScalar: true },
  {
    text: 'F(I(a))',
    value: wholeNumber(-(2 ** 31), 2147483520),
    error: exact,
    failsAsConstant: (a) => Math.abs(a) >= 2 ** 31,
  },
  {
    text: 'F(U(a))',
    value: wholeNumber(0, 4294967040),
    error: exact,
    failsAsConstant: (a) => a <= -1 || a >= 2 ** 32,
  },
  { text: 'F(bitcast<I>(a))', value: (a) => new Int32Array(Float32Array.of(a).buffer)[0]!, error: ulps(1) },
  { text: 'F(bitcast<U>(a))', value: (a) => new Uint32Array(Float32Array.of(a).buffer)[0]!, error: ulps(1) },
]

/** Operands: normal numbers, zeros and what lies near the ends of ranges. */
export const floatValues: readonly number[] = [
  ...[
    0, -0, 1, -1, 0.5, -0.5, 2, 3, -3.5, 0.1, -0.7, 7, 10, 12.5, 100.25, -1000, 1e-3, 1e5, 16777216, 33554434,
  ],
  ...[
    2147483648,
    -2147483904,
    4294967296,
    1e10,
    -1e10,
    1e-10,
    smallest,
    largest,
    -largest,
    Math.PI / 2,
    65504,
  ],
].map(Math.fround)

/** Whether an f32 may be the result; subnormal results may be flushed to zero, and what overflows is open. */
export function accepts(got: number, want: number, error: number): boolean {
  if (Number.isNaN(want) || Math.abs(want) + error > largest) return true
  if (got === want || Math.abs(got - want) <= error) return true
  return Math.abs(want) - error < smallest && got === 0
}
