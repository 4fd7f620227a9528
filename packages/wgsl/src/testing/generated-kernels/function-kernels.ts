import { elementwise, floats, type Input, type Scalar, type TestKernel, typeOf } from './elementwise.ts'

/** Functions of floats and of vectors of them. */
export function* floatFunctionKernels(): Generator<TestKernel> {
  /** Name, ranges of the arguments, tolerance for f32, tolerance for f16. */
  const loose16 = 'absolute:0.004,relative:0.008'
  const floatFunctions: readonly (readonly [string, readonly string[], string?, string?])[] = [
    ['abs', ['special']],
    ['acos', ['random(-1, 1)'], 'absolute:0.001'],
    ['acosh', ['random(1, 10)'], 'absolute:0.002,relative:0.001', 'absolute:0.05'],
    ['asin', ['random(-1, 1)'], 'absolute:0.001'],
    ['asinh', ['random'], 'absolute:0.001,relative:0.001'],
    ['atan', ['random(-10, 10)'], 'absolute:0.0002'],
    ['atanh', ['random(-0.9, 0.9)'], 'absolute:0.001,relative:0.001'],
    ['ceil', ['special']],
    ['cos', ['random(-3.1, 3.1)'], 'absolute:0.0005'],
    ['cosh', ['random(-4, 4)'], 'relative:0.0001', 'relative:0.03'],
    ['degrees', ['random'], 'ulp:3'],
    ['exp', ['random(-5, 5)'], 'relative:0.00001', 'relative:0.02'],
    ['exp2', ['random(-5, 5)'], 'relative:0.00001', 'relative:0.02'],
    ['floor', ['special']],
    ['fract', ['special'], 'absolute:0.000001'],
    ['inverseSqrt', ['random(0.01, 100)'], 'ulp:2'],
    ['log', ['random(0.01, 100)'], 'absolute:0.000001,relative:0.000001'],
    ['log2', ['random(0.01, 100)'], 'absolute:0.000001,relative:0.000001'],
    ['quantizeToF16', ['values(0, 1, -1, 0.1, 1000.7, -0.3333333, 65504, -65504, 0.25, 2.0009765625)']],
    ['radians', ['random(-360, 360)'], 'ulp:3'],
    ['round', ['special']],
    ['saturate', ['special']],
    ['sign', ['special']],
    ['sin', ['random(-3.1, 3.1)'], 'absolute:0.0005'],
    ['sinh', ['random(-4, 4)'], 'absolute:0.0001,relative:0.0001', 'absolute:0.03,relative:0.03'],
    ['sqrt', ['random(0, 100)'], 'ulp:3'],
    ['tan', ['random(-1.4, 1.4)'], 'absolute:0.002,relative:0.002', 'absolute:0.05,relative:0.05'],
    ['tanh', ['random(-4, 4)'], 'absolute:0.0001', 'absolute:0.03'],
    ['trunc', ['special']],
    ['atan2', ['random(-8, 8)', 'random(0.5, 8)'], 'absolute:0.001'],
    ['max', ['special', 'random']],
    ['min', ['special', 'random']],
    [
      'pow',
      ['random(0.1, 4)', 'random(-3, 3)'],
      'absolute:0.0001,relative:0.0001',
      'absolute:0.05,relative:0.05',
    ],
    ['step', ['random', 'special']],
    ['clamp', ['random', 'values(-2)', 'values(3)']],
    ['fma', ['random', 'random(-4, 4)', 'random(-2, 2)'], 'absolute:0.00001,ulp:2', 'absolute:0.05'],
    ['mix', ['random', 'random(-4, 4)', 'random(0, 1)'], 'absolute:0.00001', 'absolute:0.05'],
    ['smoothstep', ['values(-1)', 'values(2)', 'random(-3, 3)'], 'absolute:0.00001', 'absolute:0.02'],
  ]
  for (const [
    f,
    fills,
    tolerance = 'exact',
    tolerance16 = tolerance === 'exact' ? 'exact' : loose16,
  ] of floatFunctions) {
    for (const n of [1, 2, 3, 4] as const) {
      const args = fills.map((_, i) => 'abc'[i]).join(', ')
      const inputs = fills.map((fill) => ({ scalar: 'f32' as const, n, fill }))
      yield elementwise(`${f}-${typeOf('f32', n)}`, inputs, { scalar: 'f32', n }, `${f}(${args})`, tolerance)
      if (f === 'quantizeToF16' || n === 2 || n === 4) continue
      const halves = fills.map((fill) => ({
        scalar: 'f16' as const,
        n,
        fill: fill === 'special' ? 'values(0, -0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 7.5, 100, -100)' : fill,
      }))
      yield elementwise(
        `${f}-${typeOf('f16', n)}`,
        halves,
        { scalar: 'f16', n },
        `${f}(${args})`,
        tolerance16,
      )
    }
  }

  const vectorFunctions: readonly (readonly [string, number, 'scalar' | 'vector', string])[] = [
    ['distance', 2, 'scalar', 'relative:0.00001,absolute:0.00001'],
    ['dot', 2, 'scalar', 'relative:0.00001,absolute:0.0001'],
    ['length', 1, 'scalar', 'relative:0.00001'],
    ['normalize', 1, 'vector', 'absolute:0.00001'],
    ['faceForward', 3, 'vector', 'exact'],
    ['reflect', 2, 'vector', 'absolute:0.001,relative:0.0001'],
  ]
  for (const [f, count, result, tolerance] of vectorFunctions) {
    for (const n of [2, 3, 4] as const) {
      const inputs = Array.from({ length: count }, () => ({
        scalar: 'f32' as const,
        n,
        fill: 'random(0.5, 4)',
      }))
      const args = 'abc'.slice(0, count).split('').join(', ')
      yield elementwise(
        `${f}-vec${n}f`,
        inputs,
        { scalar: 'f32', n: result === 'scalar' ? 1 : n },
        `${f}(${args})`,
        tolerance,
      )
    }
  }
  yield elementwise(
    'cross-vec3f',
    [floats(3), floats(3)],
    { scalar: 'f32', n: 3 },
    'cross(a, b)',
    'absolute:0.00001',
  )
  for (const n of [2, 3, 4]) {
    yield elementwise(
      `refract-vec${n}f`,
      [floats(n), floats(n)],
      { scalar: 'f32', n },
      'refract(normalize(a), normalize(b), 0.5)',
      'absolute:0.0001',
    )
    yield elementwise(
      `mix-vec${n}f-scalar`,
      [floats(n), floats(n), floats(1)],
      { scalar: 'f32', n },
      'mix(a, b, c)',
      'absolute:0.00001',
    )
  }
  for (const f of ['length', 'distance'] as const) {
    yield elementwise(
      `${f}-f32`,
      [floats(1), floats(1)],
      { scalar: 'f32', n: 1 },
      f === 'length' ? 'length(a - b)' : 'distance(a, b)',
      'ulp:2',
    )
  }
  for (const n of [1, 3]) {
    const t = typeOf('f32', n)
    const fill = 'values(1, -1.5, 0.1, 1000, -0.375, 65536, 3, 7.75)'
    yield elementwise(`frexp-fract-${t}`, [floats(n, fill)], { scalar: 'f32', n }, 'frexp(a).fract')
    yield elementwise(`frexp-exp-${t}`, [floats(n, fill)], { scalar: 'i32', n }, 'frexp(a).exp')
    yield elementwise(`modf-fract-${t}`, [floats(n, fill)], { scalar: 'f32', n }, 'modf(a).fract')
    yield elementwise(`modf-whole-${t}`, [floats(n, fill)], { scalar: 'f32', n }, 'modf(a).whole')
    yield elementwise(
      `ldexp-${t}`,
      [floats(n, 'random(0.5, 2)'), { scalar: 'i32', n, fill: 'random(-20, 20)' }],
      { scalar: 'f32', n },
      'ldexp(a, b)',
    )
  }
}

/** Functions of integers. */
export function* integerFunctionKernels(): Generator<TestKernel> {
  const integerFunctions: readonly (readonly [string, number])[] = [
    ...([
      ['abs', 1],
      ['countLeadingZeros', 1],
      ['countOneBits', 1],
      ['countTrailingZeros', 1],
      ['firstLeadingBit', 1],
    ] as const),
    ...([
      ['firstTrailingBit', 1],
      ['reverseBits', 1],
      ['max', 2],
      ['min', 2],
      ['sign', 1],
    ] as const),
  ]
  for (const scalar of ['i32', 'u32'] as const) {
    for (const [f, count] of integerFunctions) {
      if (f === 'sign' && scalar === 'u32') continue
      for (const n of [1, 3, 4] as const) {
        const inputs = ['special', 'random'].slice(0, count).map((fill) => ({ scalar, n, fill }))
        yield elementwise(
          `${f}-${typeOf(scalar, n)}`,
          inputs,
          { scalar, n },
          `${f}(${'ab'.slice(0, count).split('').join(', ')})`,
        )
      }
    }
    for (const n of [1, 2] as const) {
      const t = typeOf(scalar, n)
      const value = { scalar, n, fill: 'random' }
      const amount = (fill: string): Input => ({ scalar: 'u32', n: 1, fill })
      yield elementwise(
        `clamp-${t}`,
        [{ scalar, n, fill: 'special' }],
        { scalar, n },
        `clamp(a, ${t}(3), ${t}(1000))`,
      )
      yield elementwise(
        `extractBits-${t}`,
        [value, amount('iota(0, 1)'), amount('iota(0, 2)')],
        { scalar, n },
        'extractBits(a, b, c)',
      )
      yield elementwise(
        `insertBits-${t}`,
        [value, value, amount('iota(0, 1)')],
        { scalar, n },
        'insertBits(a, b, c, 40u - c)',
      )
    }
    for (const n of [2, 3, 4])
      yield elementwise(
        `dot-${typeOf(scalar, n)}`,
        [
          { scalar, n, fill: 'random' },
          { scalar, n, fill: 'special' },
        ],
        { scalar, n: 1 },
        'dot(a, b)',
      )
  }
  yield elementwise(
    'dot4U8Packed',
    [
      { scalar: 'u32', n: 1, fill: 'random' },
      { scalar: 'u32', n: 1, fill: 'random' },
    ],
    { scalar: 'u32', n: 1 },
    'dot4U8Packed(a, b)',
  )
  yield elementwise(
    'dot4I8Packed',
    [
      { scalar: 'u32', n: 1, fill: 'random' },
      { scalar: 'u32', n: 1, fill: 'random' },
    ],
    { scalar: 'i32', n: 1 },
    'dot4I8Packed(a, b)',
  )
}

/** `all`, `any` and `select`. */
export function* logicalFunctionKernels(): Generator<TestKernel> {
  for (const n of [1, 2, 3, 4]) {
    const a: Input = { scalar: 'i32', n, fill: 'values(0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0)' }
    const t = typeOf('bool', n)
    for (const f of ['all', 'any'])
      yield elementwise(`${f}-${typeOf('i32', n)}`, [a], { scalar: 'u32', n: 1 }, `u32(${f}(${t}(a)))`)
    for (const scalar of ['f32', 'i32', 'u32'] as const) {
      const v: Input = { scalar, n, fill: 'random' }
      yield elementwise(`select-${typeOf(scalar, n)}`, [v, v, a], { scalar, n }, `select(a, b, ${t}(c))`)
    }
    if (n > 1)
      yield elementwise(
        `select-scalar-condition-${n}`,
        [floats(n), floats(n)],
        { scalar: 'f32', n },
        'select(a, b, i % 2u == 0u)',
      )
  }
}

/** Packing and unpacking. */
export function* packingKernels(): Generator<TestKernel> {
  const packs: readonly (readonly [string, Input, { scalar: Scalar; n: number }, string?])[] = [
    [
      'pack4x8snorm',
      { scalar: 'f32', n: 4, fill: 'values(0, 1, -1, 0.5, -0.25, 2, -3, 0.1)' },
      { scalar: 'u32', n: 1 },
    ],
    [
      'pack4x8unorm',
      { scalar: 'f32', n: 4, fill: 'values(0, 1, -1, 0.6, 0.25, 2, -3, 0.1)' },
      { scalar: 'u32', n: 1 },
    ],
    [
      'pack2x16snorm',
      { scalar: 'f32', n: 2, fill: 'values(0, 1, -1, 0.6, -0.25, 2, -3, 0.1)' },
      { scalar: 'u32', n: 1 },
    ],
    [
      'pack2x16unorm',
      { scalar: 'f32', n: 2, fill: 'values(0, 1, -1, 0.6, 0.25, 2, -3, 0.1)' },
      { scalar: 'u32', n: 1 },
    ],
    [
      'pack2x16float',
      { scalar: 'f32', n: 2, fill: 'values(0, 1, -1, 0.5, 1000, -0.25, 65504)' },
      { scalar: 'u32', n: 1 },
    ],
    ['pack4xI8', { scalar: 'i32', n: 4, fill: 'special' }, { scalar: 'u32', n: 1 }],
    ['pack4xU8', { scalar: 'u32', n: 4, fill: 'special' }, { scalar: 'u32', n: 1 }],
    ['pack4xI8Clamp', { scalar: 'i32', n: 4, fill: 'special' }, { scalar: 'u32', n: 1 }],
    ['pack4xU8Clamp', { scalar: 'u32', n: 4, fill: 'special' }, { scalar: 'u32', n: 1 }],
    ['unpack4x8snorm', { scalar: 'u32', n: 1, fill: 'random' }, { scalar: 'f32', n: 4 }, 'absolute:0.000001'],
    ['unpack4x8unorm', { scalar: 'u32', n: 1, fill: 'random' }, { scalar: 'f32', n: 4 }, 'absolute:0.000001'],
    [
      'unpack2x16snorm',
      { scalar: 'u32', n: 1, fill: 'random' },
      { scalar: 'f32', n: 2 },
      'absolute:0.000001',
    ],
    [
      'unpack2x16unorm',
      { scalar: 'u32', n: 1, fill: 'random' },
      { scalar: 'f32', n: 2 },
      'absolute:0.000001',
    ],
    [
      'unpack2x16float',
      { scalar: 'u32', n: 1, fill: 'values(1006648320, 805317632, 939539456, 0)' },
      { scalar: 'f32', n: 2 },
    ],
    ['unpack4xI8', { scalar: 'u32', n: 1, fill: 'random' }, { scalar: 'i32', n: 4 }],
    ['unpack4xU8', { scalar: 'u32', n: 1, fill: 'random' }, { scalar: 'u32', n: 4 }],
  ]
  for (const [f, input, output, tolerance = 'exact'] of packs)
    yield elementwise(f, [input], output, `${f}(a)`, tolerance)
}
