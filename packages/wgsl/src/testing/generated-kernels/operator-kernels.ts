import {
  elementwise,
  type Input,
  kernel,
  type Scalar,
  slots,
  type TestKernel,
  typeOf,
} from './elementwise.ts'

/** Operators on scalars and vectors. */
export function* operatorKernels(): Generator<TestKernel> {
  const operatorNames: Record<string, string> = {
    '+': 'add',
    '-': 'subtract',
    '*': 'multiply',
    '/': 'divide',
    '%': 'remainder',
    '&': 'and',
    '|': 'or',
    '^': 'xor',
    '<<': 'shift-left',
    '>>': 'shift-right',
    '==': 'equal',
    '!=': 'unequal',
    '<': 'less',
    '<=': 'less-equal',
    '>': 'greater',
    '>=': 'greater-equal',
  }
  for (const [operator, name] of Object.entries(operatorNames)) {
    for (const scalar of ['i32', 'u32', 'f32'] as const) {
      const arithmetic = '+-*/%'.includes(operator)
      const comparison = /[=<>]/.test(operator) && operator !== '<<' && operator !== '>>'
      if (scalar === 'f32' && !arithmetic && !comparison) continue
      for (const n of [1, 3] as const) {
        const t = typeOf(scalar, n)
        const shift = operator === '<<' || operator === '>>'
        const left: Input = { scalar, n, fill: 'special' }
        const right: Input = shift
          ? { scalar: 'u32', n, fill: 'iota(0, 3)' }
          : {
              scalar,
              n,
              fill:
                scalar === 'f32' ? 'random(0.5, 4)' : 'values(0, -1, 1, 3, -7, 100, 2, 1000000, -2147483648)',
            }
        const inexact = operator === '/' || operator === '%'
        const tolerance = scalar === 'f32' && inexact ? 'ulp:3,absolute:0.0001' : 'exact'
        const result = comparison ? { scalar: 'u32' as const, n } : { scalar, n }
        const e = `a ${operator} b`
        yield elementwise(
          `${name}-${t}`,
          [left, right],
          result,
          comparison ? `${typeOf('u32', n)}(${e})` : e,
          tolerance,
        )
      }
      if (!arithmetic) continue
      const s: Input = { scalar, n: 1, fill: scalar === 'f32' ? 'random(0.5, 4)' : 'values(3, -7, 0, 100)' }
      const v: Input = { scalar, n: 4, fill: 'special' }
      const tolerance = scalar === 'f32' && '/%'.includes(operator) ? 'ulp:3,absolute:0.0001' : 'exact'
      yield elementwise(
        `${name}-vec4-scalar-${scalar}`,
        [v, s],
        { scalar, n: 4 },
        `a ${operator} b`,
        tolerance,
      )
      if (operator !== '%')
        yield elementwise(
          `${name}-scalar-vec2-${scalar}`,
          [s, { ...v, n: 2, fill: scalar === 'f32' ? 'random(0.5, 4)' : 'special' }],
          { scalar, n: 2 },
          `a ${operator} b`,
          tolerance,
        )
    }
  }
  for (const n of [1, 4]) {
    for (const scalar of ['i32', 'f32'] as const)
      yield elementwise(`negate-${typeOf(scalar, n)}`, [{ scalar, n, fill: 'special' }], { scalar, n }, '-a')
    for (const scalar of ['i32', 'u32'] as const)
      yield elementwise(
        `complement-${typeOf(scalar, n)}`,
        [{ scalar, n, fill: 'special' }],
        { scalar, n },
        '~a',
      )
    yield elementwise(
      `not-${n}`,
      [{ scalar: 'i32', n, fill: 'values(0, 1, 0, 0, 1)' }],
      { scalar: 'u32', n },
      `${typeOf('u32', n)}(!${typeOf('bool', n)}(a))`,
    )
    for (const operator of ['&', '|', '==', '!=']) {
      const t = typeOf('bool', n)
      const flags = (fill: string): Input => ({ scalar: 'i32', n, fill })
      const e = `${typeOf('u32', n)}(${t}(a) ${operator} ${t}(b))`
      yield elementwise(
        `${operatorNames[operator]}-bool-${n}`,
        [flags('values(0, 1, 1, 0)'), flags('values(0, 0, 1, 1, 1)')],
        { scalar: 'u32', n },
        e,
      )
    }
  }
  for (const operator of ['+', '-', '*', '/', '%']) {
    const half = (fill: string): Input => ({ scalar: 'f16', n: 1, fill })
    yield elementwise(
      `${operatorNames[operator]}-f16`,
      [half('random(-8, 8)'), half('random(0.5, 4)')],
      { scalar: 'f16', n: 1 },
      `a ${operator} b`,
      operator === '%' ? 'absolute:4.01' : 'ulp:1',
    )
    const vector = (fill: string): Input => ({ scalar: 'f16', n: 4, fill })
    if (operator !== '%')
      yield elementwise(
        `${operatorNames[operator]}-vec4h`,
        [vector('random(-8, 8)'), vector('random(0.5, 4)')],
        { scalar: 'f16', n: 4 },
        `a ${operator} b`,
        'ulp:1',
      )
  }
}

/** Conversions and bitcasts. */
export function* conversionKernels(): Generator<TestKernel> {
  const conversionFill: Record<Scalar, string> = {
    f32: 'values(0, 1, -1, 1.9, -1.9, 3e9, -3e9, 5e9, 1e20, -1e20, 2147483520, 2147483648, 4294967040, 0.5, 123456.7, -0.1)',
    f16: 'values(0, 1, -1, 1.9, -1.9, 65504, -65504, 0.5, 1234, -0.1)',
    i32: 'special',
    u32: 'special',
  }
  const scalars = ['f32', 'f16', 'i32', 'u32'] as const
  for (const source of scalars) {
    for (const target of scalars) {
      for (const n of [1, 3] as const) {
        if (source === target) continue
        let fill = conversionFill[source]
        if (target === 'f16')
          fill =
            source === 'f32'
              ? 'values(0, 1, -1, 0.1, 1000.5, 2048.9, 65504, -0.333)'
              : source === 'i32'
                ? 'random(-2000, 2000)'
                : 'random(0, 2000)'
        yield elementwise(
          `convert-${typeOf(source, n)}-${target}`,
          [{ scalar: source, n, fill }],
          { scalar: target, n },
          `${typeOf(target, n)}(a)`,
        )
      }
    }
    yield elementwise(
      `convert-${source}-bool`,
      [{ scalar: source, n: 1, fill: conversionFill[source] }],
      { scalar: 'u32', n: 1 },
      'select(0u, 1u, bool(a))',
    )
    yield elementwise(
      `convert-bool-${source}`,
      [{ scalar: 'u32', n: 1, fill: 'values(0, 1, 1)' }],
      { scalar: source, n: 1 },
      `${source}(a == 1u)`,
    )
    yield elementwise(
      `convert-vec4bool-${source}`,
      [{ scalar: 'u32', n: 4, fill: 'values(0, 1, 1)' }],
      { scalar: source, n: 4 },
      `${typeOf(source, 4)}(vec4<bool>(a))`,
    )
  }
  for (const source of ['f32', 'i32', 'u32'] as const) {
    for (const target of ['f32', 'i32', 'u32'] as const) {
      for (const n of [1, 2, 3, 4] as const) {
        if (source === target && n > 1) continue
        const fill = target === 'f32' && source !== 'f32' ? 'random(1000000000, 1090000000)' : 'special'
        yield elementwise(
          `bitcast-${typeOf(source, n)}-${target}`,
          [{ scalar: source, n, fill }],
          { scalar: target, n },
          `bitcast<${typeOf(target, n)}>(a)`,
        )
      }
    }
  }
  yield elementwise(
    'bitcast-vec2h-u32',
    [{ scalar: 'f16', n: 2, fill: 'random' }],
    { scalar: 'u32', n: 1 },
    'bitcast<u32>(a)',
  )
  yield elementwise(
    'bitcast-u32-vec2h',
    [{ scalar: 'u32', n: 1, fill: 'values(1006648320, 805317632, 939539456)' }],
    { scalar: 'f16', n: 2 },
    'bitcast<vec2h>(a)',
  )
  yield elementwise(
    'bitcast-vec4h-vec2u',
    [{ scalar: 'f16', n: 4, fill: 'random' }],
    { scalar: 'u32', n: 2 },
    'bitcast<vec2u>(a)',
  )
  yield elementwise(
    'bitcast-vec2f-vec4h',
    [{ scalar: 'f32', n: 2, fill: 'values(1.5, 0.0078431377, 2.5)' }],
    { scalar: 'f16', n: 4 },
    'bitcast<vec4h>(a)',
  )
}

/** Matrices of every shape. */
export function* matrixKernels(): Generator<TestKernel> {
  for (const columns of [2, 3, 4]) {
    for (const rows of [2, 3, 4]) {
      const m = `mat${columns}x${rows}f`
      const columnSlots = slots(rows)
      const size = columns * columnSlots
      const head = (
        out: string,
        count: number,
      ) => `// run: workgroups=1,1,1 tolerance=absolute:0.0001,relative:0.00001
// buffer in0: f32[${4 * size}] random(-2, 2)
// buffer out: f32[${count}]

@group(0) @binding(0) var<storage, read> in0: array<${m}, 4>;
@group(0) @binding(1) var<storage, read_write> out: array<${out}>;
`
      const main = (body: string) => `
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
${body}
}
`
      const t = `mat${rows}x${columns}f`
      yield kernel(
        `transpose-${m}`,
        `${head(t, 4 * rows * slots(columns))}${main('  out[i] = transpose(in0[i]);')}`,
      )
      yield kernel(
        `multiply-${m}-vector`,
        `${head(`vec${rows}f`, 4 * columnSlots)}${main(`  let v = vec${columns}f(${Array.from({ length: columns }, (_, k) => `f32(i) + ${k}.5`).join(', ')});\n  out[i] = in0[i] * v;`)}`,
      )
      yield kernel(
        `multiply-vector-${m}`,
        `${head(`vec${columns}f`, 4 * slots(columns))}${main(`  let v = vec${rows}f(${Array.from({ length: rows }, (_, k) => `f32(i) + ${k}.5`).join(', ')});\n  out[i] = v * in0[i];`)}`,
      )
      yield kernel(
        `multiply-${m}-${t}`,
        `${head(`mat${rows}x${rows}f`, 4 * rows * columnSlots)}${main('  out[i] = in0[i] * transpose(in0[3u - i]);')}`,
      )
      yield kernel(
        `arithmetic-${m}`,
        `${head(m, 4 * size)}${main('  out[i] = (in0[i] + in0[3u - i] * 2.0) - 0.5 * in0[i];')}`,
      )
      yield kernel(
        `construct-${m}`,
        `${head(m, 4 * size)}${main(`  let s = in0[i];
  let columns = ${m}(${Array.from({ length: columns }, (_, c) => `s[${columns - 1 - c}]`).join(', ')});
  let scalars = ${m}(${Array.from({ length: columns * rows }, (_, k) => `s[${Math.floor(k / rows)}][${rows - 1 - (k % rows)}]`).join(', ')});
  out[i] = columns + scalars;
  out[i][i % ${columns}u][i % ${rows}u] += 100.0;
  out[i][1] *= 2.0;`)}`,
      )
      if (columns === rows)
        yield kernel(`determinant-${m}`, `${head('f32', 4)}${main('  out[i] = determinant(in0[i]);')}`)
    }
  }
}

/** Constant expressions, compared with the same computation at run time. */
export function* foldingKernels(): Generator<TestKernel> {
  /** Pairs of a constant expression and the same computation on values that are read when the kernel runs. */
  const folded: readonly (readonly [string, readonly string[], string])[] = [
    ['i32-arithmetic', ['7', '-3'], '(a + b) * a - b / a % 5'],
    ['i32-bits', ['1234567', '77'], '((a & b) | (a ^ b)) + (~a >> 3u) + (b << 4u)'],
    [
      'i32-functions',
      ['-42', '17'],
      'abs(a) + max(a, b) * min(a, b) + clamp(a, -20, b) + sign(a) + countOneBits(a) + firstLeadingBit(b) + countTrailingZeros(a) + reverseBits(b) + extractBits(a, 3u, 7u) + insertBits(a, b, 2u, 5u) + countLeadingZeros(b) + firstTrailingBit(a)',
    ],
    [
      'comparisons',
      ['3', '4'],
      'i32(a < b) + i32(a <= b) * 2 + i32(a > b) * 4 + i32(a >= b) * 8 + i32(a == b) * 16 + i32(a != b) * 32 + i32(a < b && b < a) * 64 + i32(a < b || b < a) * 128 + select(1000, 2000, a < b)',
    ],
    [
      'vectors',
      ['5', '9'],
      'dot(vec3(a, b, a + b), vec3(b, a, 2).zyx) + (vec2(a, b) * 3).y + vec4(vec2(a, b), vec2(b, a))[2] + (vec2(a, b) + a).x',
    ],
  ]
  for (const [name, [a, b], expression] of folded) {
    yield kernel(
      `fold-${name}`,
      `// run: workgroups=1,1,1
// buffer in0: i32[2] values(${a}, ${b})
// buffer out: i32[3]

@group(0) @binding(0) var<storage, read> in0: array<i32>;
@group(0) @binding(1) var<storage, read_write> out: array<i32>;

fn folded() -> i32 {
  const a = i32(${a});
  const b = i32(${b});
  const result = ${expression};
  return result;
}

fn computed(a: i32, b: i32) -> i32 {
  return ${expression};
}

@compute @workgroup_size(1)
fn main() {
  out[0] = folded();
  out[1] = computed(in0[0], in0[1]);
  out[2] = i32(out[0] == out[1]);
}
`,
    )
  }
  const foldedFloats: readonly (readonly [string, string])[] = [
    [
      'rounding',
      'floor(a) + ceil(b) * 10.0 + trunc(a) * 100.0 + round(b) * 1000.0 + fract(a) + sign(b) + saturate(b)',
    ],
    ['powers', 'sqrt(a) + inverseSqrt(a) + exp(b) + exp2(b) + log(a) + log2(a) + pow(a, b)'],
    [
      'trigonometry',
      'sin(a) + cos(b) + tan(b) + atan(a) + atan2(a, b) + asin(0.5 * b) + acos(0.5 * b) + radians(a) + degrees(b)',
    ],
    ['hyperbolic', 'sinh(b) + cosh(b) + tanh(b) + asinh(a) + acosh(a) + atanh(0.25 * b)'],
    [
      'mixing',
      'mix(a, b, 0.25) + fma(a, b, 1.5) + step(b, a) + smoothstep(0.0, 4.0, a) + clamp(a, 0.0, 1.0) + min(a, b) + max(a, b) + abs(-a)',
    ],
    [
      'geometry',
      'length(vec3(a, b, 1.0)) + distance(vec2(a, b), vec2(1.0, 2.0)) + dot(vec2(a, b), vec2(b, a)) + normalize(vec2(a, b)).x + cross(vec3(a, b, 1.0), vec3(b, 1.0, a)).z + reflect(vec2(a, b), vec2(0.0, 1.0)).y + faceForward(vec2(a, b), vec2(b, a), vec2(1.0, 1.0)).x',
    ],
    [
      'matrices',
      'determinant(mat2x2(a, b, 1.0, 2.0)) + (mat2x3(a, b, 1.0, 2.0, 3.0, 4.0) * vec2(b, a)).z + (vec2(a, b) * mat3x2(1.0, 2.0, 3.0, 4.0, a, b)).y + transpose(mat2x3(a, 1.0, b, 2.0, 3.0, 4.0))[2].y + (mat2x2(a, 0.0, 0.0, b) * mat2x2(1.0, 2.0, 3.0, 4.0))[1].x',
    ],
    ['parts', 'frexp(a).fract + f32(frexp(a).exp) + modf(b).whole + modf(a).fract + ldexp(b, 3)'],
    [
      'packing',
      'f32(pack4x8unorm(vec4(a, b, 0.15, 0.85)) % 1000u) + unpack4x8snorm(bitcast<u32>(a)).y + unpack2x16float(pack2x16float(vec2(a, b))).x + f32(bitcast<i32>(b) % 1000)',
    ],
  ]
  for (const [name, expression] of foldedFloats) {
    yield kernel(
      `fold-f32-${name}`,
      `// run: workgroups=1,1,1 tolerance=relative:0.001,absolute:0.001
// buffer in0: f32[2] values(2.625, 1.375)
// buffer out: f32[2]

@group(0) @binding(0) var<storage, read> in0: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

fn folded() -> f32 {
  const a = 2.625f;
  const b = 1.375f;
  const result = ${expression};
  return result;
}

fn computed(a: f32, b: f32) -> f32 {
  return ${expression};
}

@compute @workgroup_size(1)
fn main() {
  out[0] = folded();
  out[1] = computed(in0[0], in0[1]);
}
`,
    )
  }
}
