/**
 * Writes the generated kernels of the corpus, `kernels/b-*.wgsl`: one for each built-in function, operator and conversion, over
 * the kinds and shapes that it takes. Run it with `node testdata/generate-kernels.ts`; its output is committed.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'

const folder = new URL('kernels/', import.meta.url)
for (const file of readdirSync(folder)) if (file.startsWith('b-')) rmSync(new URL(file, folder))

type Scalar = 'f32' | 'f16' | 'i32' | 'u32'
const shapes = [1, 2, 3, 4] as const
const threads = 32

let written = 0
function write(name: string, text: string): void {
  writeFileSync(new URL(`b-${name}.wgsl`, folder), text)
  written++
}

const suffix = (scalar: Scalar) => (scalar[0] === 'f' ? (scalar === 'f16' ? 'h' : 'f') : scalar[0]!)
const typeOf = (scalar: string, n: number) =>
  n === 1 ? scalar : scalar === 'bool' ? `vec${n}<bool>` : `vec${n}${suffix(scalar as Scalar)}`
/** Scalars that one element of an array takes up. */
const slots = (n: number) => (n === 3 ? 4 : n)

interface Input {
  scalar: Scalar
  n: number
  fill: string
}

/** A kernel in which thread i stores `expression` of the elements i of its inputs, which it calls a, b, c. */
function elementwise(
  name: string,
  inputs: readonly Input[],
  output: { scalar: Scalar; n: number },
  expression: string,
  options: { tolerance?: string; enable?: string; before?: string } = {},
): void {
  const { tolerance = 'exact', enable = '', before = '' } = options
  const half = [...inputs, output].some((v) => v.scalar === 'f16')
  const names = inputs.map((_, i) => `in${i}`)
  const header = [
    `// run: workgroups=1,1,1 tolerance=${tolerance}`,
    ...inputs.map((v, i) => `// buffer ${names[i]}: ${v.scalar}[${threads * slots(v.n)}] ${v.fill}`),
    `// buffer out: ${output.scalar}[${threads * slots(output.n)}]`,
  ]
  const variables = [
    ...inputs.map(
      (v, i) => `@group(0) @binding(${i}) var<storage, read> ${names[i]}: array<${typeOf(v.scalar, v.n)}>;`,
    ),
    `@group(0) @binding(${inputs.length}) var<storage, read_write> out: array<${typeOf(output.scalar, output.n)}>;`,
  ]
  const lets = inputs.map((_, i) => `  let ${'abcd'[i]} = ${names[i]}[i];`)
  write(
    name,
    `${header.join('\n')}
${half ? 'enable f16;\n' : ''}${enable ? `enable ${enable};\n` : ''}
${variables.join('\n')}
${before ? `\n${before}\n` : ''}
@compute @workgroup_size(${threads})
fn main(@builtin(local_invocation_index) i: u32) {
${lets.join('\n')}
  out[i] = ${expression};
}
`,
  )
}

// --------------------------------------------------------------------------------------------- float functions

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
  for (const n of shapes) {
    const args = fills.map((_, i) => 'abc'[i]).join(', ')
    const inputs = fills.map((fill) => ({ scalar: 'f32' as const, n, fill }))
    elementwise(`${f}-${typeOf('f32', n)}`, inputs, { scalar: 'f32', n }, `${f}(${args})`, { tolerance })
    if (f === 'quantizeToF16' || n === 2 || n === 4) continue
    const halves = fills.map((fill) => ({
      scalar: 'f16' as const,
      n,
      fill: fill === 'special' ? 'values(0, -0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 7.5, 100, -100)' : fill,
    }))
    elementwise(`${f}-${typeOf('f16', n)}`, halves, { scalar: 'f16', n }, `${f}(${args})`, {
      tolerance: tolerance16,
    })
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
    elementwise(`${f}-vec${n}f`, inputs, { scalar: 'f32', n: result === 'scalar' ? 1 : n }, `${f}(${args})`, {
      tolerance,
    })
  }
}
const vec = (n: number, fill = 'random(-1, 1)'): Input => ({ scalar: 'f32', n, fill })
elementwise('cross-vec3f', [vec(3), vec(3)], { scalar: 'f32', n: 3 }, 'cross(a, b)', {
  tolerance: 'absolute:0.00001',
})
for (const n of [2, 3, 4]) {
  elementwise(
    `refract-vec${n}f`,
    [vec(n), vec(n)],
    { scalar: 'f32', n },
    'refract(normalize(a), normalize(b), 0.5)',
    { tolerance: 'absolute:0.0001' },
  )
  elementwise(`mix-vec${n}f-scalar`, [vec(n), vec(n), vec(1)], { scalar: 'f32', n }, 'mix(a, b, c)', {
    tolerance: 'absolute:0.00001',
  })
}
for (const f of ['length', 'distance'] as const) {
  elementwise(
    `${f}-f32`,
    [vec(1), vec(1)],
    { scalar: 'f32', n: 1 },
    f === 'length' ? 'length(a - b)' : 'distance(a, b)',
    { tolerance: 'ulp:2' },
  )
}
for (const n of [1, 3]) {
  const t = typeOf('f32', n)
  const fill = 'values(1, -1.5, 0.1, 1000, -0.375, 65536, 3, 7.75)'
  elementwise(`frexp-fract-${t}`, [vec(n, fill)], { scalar: 'f32', n }, 'frexp(a).fract')
  elementwise(`frexp-exp-${t}`, [vec(n, fill)], { scalar: 'i32', n }, 'frexp(a).exp')
  elementwise(`modf-fract-${t}`, [vec(n, fill)], { scalar: 'f32', n }, 'modf(a).fract')
  elementwise(`modf-whole-${t}`, [vec(n, fill)], { scalar: 'f32', n }, 'modf(a).whole')
  elementwise(
    `ldexp-${t}`,
    [vec(n, 'random(0.5, 2)'), { scalar: 'i32', n, fill: 'random(-20, 20)' }],
    { scalar: 'f32', n },
    'ldexp(a, b)',
  )
}

// --------------------------------------------------------------------------------------------- integer functions

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
      elementwise(
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
    elementwise(
      `clamp-${t}`,
      [{ scalar, n, fill: 'special' }],
      { scalar, n },
      `clamp(a, ${t}(3), ${t}(1000))`,
    )
    elementwise(
      `extractBits-${t}`,
      [value, amount('iota(0, 1)'), amount('iota(0, 2)')],
      { scalar, n },
      'extractBits(a, b, c)',
    )
    elementwise(
      `insertBits-${t}`,
      [value, value, amount('iota(0, 1)')],
      { scalar, n },
      'insertBits(a, b, c, 40u - c)',
    )
  }
  for (const n of [2, 3, 4])
    elementwise(
      `dot-${typeOf(scalar, n)}`,
      [
        { scalar, n, fill: 'random' },
        { scalar, n, fill: 'special' },
      ],
      { scalar, n: 1 },
      'dot(a, b)',
    )
}
elementwise(
  'dot4U8Packed',
  [
    { scalar: 'u32', n: 1, fill: 'random' },
    { scalar: 'u32', n: 1, fill: 'random' },
  ],
  { scalar: 'u32', n: 1 },
  'dot4U8Packed(a, b)',
)
elementwise(
  'dot4I8Packed',
  [
    { scalar: 'u32', n: 1, fill: 'random' },
    { scalar: 'u32', n: 1, fill: 'random' },
  ],
  { scalar: 'i32', n: 1 },
  'dot4I8Packed(a, b)',
)

// ------------------------------------------------------------------------------------------------ logical, select

for (const n of [1, 2, 3, 4]) {
  const a: Input = { scalar: 'i32', n, fill: 'values(0, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0)' }
  const t = typeOf('bool', n)
  for (const f of ['all', 'any'])
    elementwise(`${f}-${typeOf('i32', n)}`, [a], { scalar: 'u32', n: 1 }, `u32(${f}(${t}(a)))`)
  for (const scalar of ['f32', 'i32', 'u32'] as const) {
    const v: Input = { scalar, n, fill: 'random' }
    elementwise(`select-${typeOf(scalar, n)}`, [v, v, a], { scalar, n }, `select(a, b, ${t}(c))`)
  }
  if (n > 1)
    elementwise(
      `select-scalar-condition-${n}`,
      [vec(n), vec(n)],
      { scalar: 'f32', n },
      'select(a, b, i % 2u == 0u)',
    )
}

// ------------------------------------------------------------------------------------------------------ operators

const operatorNames: Record<string, string> = {
  ...{
    '+': 'add',
    '-': 'subtract',
    '*': 'multiply',
    '/': 'divide',
    '%': 'remainder',
    '&': 'and',
    '|': 'or',
    '^': 'xor',
  },
  ...{
    '<<': 'shift-left',
    '>>': 'shift-right',
    '==': 'equal',
    '!=': 'unequal',
    '<': 'less',
    '<=': 'less-equal',
  },
  ...{ '>': 'greater', '>=': 'greater-equal' },
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
      elementwise(`${name}-${t}`, [left, right], result, comparison ? `${typeOf('u32', n)}(${e})` : e, {
        tolerance,
      })
    }
    if (!arithmetic) continue
    const s: Input = { scalar, n: 1, fill: scalar === 'f32' ? 'random(0.5, 4)' : 'values(3, -7, 0, 100)' }
    const v: Input = { scalar, n: 4, fill: 'special' }
    const tolerance = scalar === 'f32' && '/%'.includes(operator) ? 'ulp:3,absolute:0.0001' : 'exact'
    elementwise(`${name}-vec4-scalar-${scalar}`, [v, s], { scalar, n: 4 }, `a ${operator} b`, { tolerance })
    if (operator !== '%')
      elementwise(
        `${name}-scalar-vec2-${scalar}`,
        [s, { ...v, n: 2, fill: scalar === 'f32' ? 'random(0.5, 4)' : 'special' }],
        { scalar, n: 2 },
        `a ${operator} b`,
        { tolerance },
      )
  }
}
for (const n of [1, 4]) {
  for (const scalar of ['i32', 'f32'] as const)
    elementwise(`negate-${typeOf(scalar, n)}`, [{ scalar, n, fill: 'special' }], { scalar, n }, '-a')
  for (const scalar of ['i32', 'u32'] as const)
    elementwise(`complement-${typeOf(scalar, n)}`, [{ scalar, n, fill: 'special' }], { scalar, n }, '~a')
  elementwise(
    `not-${n}`,
    [{ scalar: 'i32', n, fill: 'values(0, 1, 0, 0, 1)' }],
    { scalar: 'u32', n },
    `${typeOf('u32', n)}(!${typeOf('bool', n)}(a))`,
  )
  for (const operator of ['&', '|', '==', '!=']) {
    const t = typeOf('bool', n)
    const flags = (fill: string): Input => ({ scalar: 'i32', n, fill })
    const e = `${typeOf('u32', n)}(${t}(a) ${operator} ${t}(b))`
    elementwise(
      `${operatorNames[operator]}-bool-${n}`,
      [flags('values(0, 1, 1, 0)'), flags('values(0, 0, 1, 1, 1)')],
      { scalar: 'u32', n },
      e,
    )
  }
}
for (const operator of ['+', '-', '*', '/', '%']) {
  const half = (fill: string): Input => ({ scalar: 'f16', n: 1, fill })
  elementwise(
    `${operatorNames[operator]}-f16`,
    [half('random(-8, 8)'), half('random(0.5, 4)')],
    { scalar: 'f16', n: 1 },
    `a ${operator} b`,
    { tolerance: operator === '%' ? 'absolute:4.01' : 'ulp:1' },
  )
  const vector = (fill: string): Input => ({ scalar: 'f16', n: 4, fill })
  if (operator !== '%')
    elementwise(
      `${operatorNames[operator]}-vec4h`,
      [vector('random(-8, 8)'), vector('random(0.5, 4)')],
      { scalar: 'f16', n: 4 },
      `a ${operator} b`,
      { tolerance: 'ulp:1' },
    )
}

// ---------------------------------------------------------------------------------------------------- conversions

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
      elementwise(
        `convert-${typeOf(source, n)}-${target}`,
        [{ scalar: source, n, fill }],
        { scalar: target, n },
        `${typeOf(target, n)}(a)`,
      )
    }
  }
  elementwise(
    `convert-${source}-bool`,
    [{ scalar: source, n: 1, fill: conversionFill[source] }],
    { scalar: 'u32', n: 1 },
    'select(0u, 1u, bool(a))',
  )
  elementwise(
    `convert-bool-${source}`,
    [{ scalar: 'u32', n: 1, fill: 'values(0, 1, 1)' }],
    { scalar: source, n: 1 },
    `${source}(a == 1u)`,
  )
  elementwise(
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
      elementwise(
        `bitcast-${typeOf(source, n)}-${target}`,
        [{ scalar: source, n, fill }],
        { scalar: target, n },
        `bitcast<${typeOf(target, n)}>(a)`,
      )
    }
  }
}
elementwise(
  'bitcast-vec2h-u32',
  [{ scalar: 'f16', n: 2, fill: 'random' }],
  { scalar: 'u32', n: 1 },
  'bitcast<u32>(a)',
)
elementwise(
  'bitcast-u32-vec2h',
  [{ scalar: 'u32', n: 1, fill: 'values(1006648320, 805317632, 939539456)' }],
  { scalar: 'f16', n: 2 },
  'bitcast<vec2h>(a)',
)
elementwise(
  'bitcast-vec4h-vec2u',
  [{ scalar: 'f16', n: 4, fill: 'random' }],
  { scalar: 'u32', n: 2 },
  'bitcast<vec2u>(a)',
)
elementwise(
  'bitcast-vec2f-vec4h',
  [{ scalar: 'f32', n: 2, fill: 'values(1.5, 0.0078431377, 2.5)' }],
  { scalar: 'f16', n: 4 },
  'bitcast<vec4h>(a)',
)

// -------------------------------------------------------------------------------------------------------- packing

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
  ['unpack2x16snorm', { scalar: 'u32', n: 1, fill: 'random' }, { scalar: 'f32', n: 2 }, 'absolute:0.000001'],
  ['unpack2x16unorm', { scalar: 'u32', n: 1, fill: 'random' }, { scalar: 'f32', n: 2 }, 'absolute:0.000001'],
  [
    'unpack2x16float',
    { scalar: 'u32', n: 1, fill: 'values(1006648320, 805317632, 939539456, 0)' },
    { scalar: 'f32', n: 2 },
  ],
  ['unpack4xI8', { scalar: 'u32', n: 1, fill: 'random' }, { scalar: 'i32', n: 4 }],
  ['unpack4xU8', { scalar: 'u32', n: 1, fill: 'random' }, { scalar: 'u32', n: 4 }],
]
for (const [f, input, output, tolerance = 'exact'] of packs)
  elementwise(f, [input], output, `${f}(a)`, { tolerance })

// ------------------------------------------------------------------------------------------------------- matrices

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
    write(`transpose-${m}`, `${head(t, 4 * rows * slots(columns))}${main('  out[i] = transpose(in0[i]);')}`)
    write(
      `multiply-${m}-vector`,
      `${head(`vec${rows}f`, 4 * columnSlots)}${main(`  let v = vec${columns}f(${Array.from({ length: columns }, (_, k) => `f32(i) + ${k}.5`).join(', ')});\n  out[i] = in0[i] * v;`)}`,
    )
    write(
      `multiply-vector-${m}`,
      `${head(`vec${columns}f`, 4 * slots(columns))}${main(`  let v = vec${rows}f(${Array.from({ length: rows }, (_, k) => `f32(i) + ${k}.5`).join(', ')});\n  out[i] = v * in0[i];`)}`,
    )
    write(
      `multiply-${m}-${t}`,
      `${head(`mat${rows}x${rows}f`, 4 * rows * columnSlots)}${main('  out[i] = in0[i] * transpose(in0[3u - i]);')}`,
    )
    write(
      `arithmetic-${m}`,
      `${head(m, 4 * size)}${main('  out[i] = (in0[i] + in0[3u - i] * 2.0) - 0.5 * in0[i];')}`,
    )
    write(
      `construct-${m}`,
      `${head(m, 4 * size)}${main(`  let s = in0[i];
  let columns = ${m}(${Array.from({ length: columns }, (_, c) => `s[${columns - 1 - c}]`).join(', ')});
  let scalars = ${m}(${Array.from({ length: columns * rows }, (_, k) => `s[${Math.floor(k / rows)}][${rows - 1 - (k % rows)}]`).join(', ')});
  out[i] = columns + scalars;
  out[i][i % ${columns}u][i % ${rows}u] += 100.0;
  out[i][1] *= 2.0;`)}`,
    )
    if (columns === rows)
      write(`determinant-${m}`, `${head('f32', 4)}${main('  out[i] = determinant(in0[i]);')}`)
  }
}

// -------------------------------------------------------------------------------------------------------- atomics

const atomicOperations: readonly (readonly [string, string])[] = [
  ...([
    ['atomicAdd', 'value'],
    ['atomicSub', 'value'],
    ['atomicMax', 'value'],
    ['atomicMin', 'value'],
  ] as const),
  ...([
    ['atomicAnd', 'value'],
    ['atomicOr', 'value'],
    ['atomicXor', 'value'],
  ] as const),
]
for (const scalar of ['i32', 'u32'] as const) {
  for (const [f] of atomicOperations) {
    const head = `// run: workgroups=4,1,1
// buffer values: ${scalar}[256] random
// buffer out: ${scalar}[8] random

@group(0) @binding(0) var<storage, read> values: array<${scalar}>;
`
    write(
      `${f}-storage-${scalar}`,
      `${head}@group(0) @binding(1) var<storage, read_write> out: array<atomic<${scalar}>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  ${f}(&out[id.x % 8u], values[id.x]);
}
`,
    )
    write(
      `${f}-workgroup-${scalar}`,
      `${head}@group(0) @binding(1) var<storage, read_write> out: array<${scalar}>;
var<workgroup> shared_values: array<atomic<${scalar}>, 2>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u) {
  _ = ${f}(&shared_values[i & 1], values[id.x]);
  workgroupBarrier();
  if i < 2 {
    out[group.x * 2 + i] = atomicLoad(&shared_values[i]);
  }
}
`,
    )
  }
  write(
    `atomicExchange-${scalar}`,
    `// run: workgroups=1,1,1
// buffer out: ${scalar}[4] values(5, 6, 7, 8)

struct Cell {
  state: atomic<${scalar}>,
  old: ${scalar},
}
@group(0) @binding(0) var<storage, read_write> out: array<Cell, 2>;

@compute @workgroup_size(1)
fn main() {
  out[0].old = atomicExchange(&out[0].state, 40);
  atomicStore(&out[1].state, atomicLoad(&out[0].state) + out[0].old);
  out[1].old = atomicExchange(&out[1].state, 3);
}
`,
  )
  write(
    `atomicCompareExchangeWeak-${scalar}`,
    `// run: workgroups=1,1,1
// buffer out: ${scalar}[2] values(5, 0)

@group(0) @binding(0) var<storage, read_write> out: array<atomic<${scalar}>, 2>;

@compute @workgroup_size(64)
fn main() {
  // Each thread adds 3 by a loop of exchanges, which may fail spuriously.
  var done = false;
  for (var tries = 0; tries < 100000 && !done; tries++) {
    let seen = atomicLoad(&out[0]);
    let result = atomicCompareExchangeWeak(&out[0], seen, seen + 3);
    if result.exchanged {
      done = true;
      if result.old_value != seen {
        atomicAdd(&out[1], 1);
      }
    }
  }
}
`,
  )
}

// ------------------------------------------------------------------------------------------------------ subgroups

/** Flags that hold whatever the size of subgroups. \`x\` is a value of the thread, \`lane\` and \`size\` place it. */
const subgroupChecks: Record<string, string> = {
  subgroupElect:
    'subgroupBroadcastFirst(lane) == lane && subgroupElect() || subgroupBroadcastFirst(lane) != lane && !subgroupElect()',
  subgroupAll: 'subgroupAll(lane < size) && !subgroupAll(lane == 0u && size > 1u)',
  subgroupAny: 'subgroupAny(lane == 0u) && !subgroupAny(lane >= size)',
  subgroupBallot:
    'countOneBits(subgroupBallot(true).x) == min(size, 32u) && subgroupBallot(lane == 1u).x == 2u',
  subgroupBroadcast: 'subgroupBroadcast(lane, 2) == 2u',
  subgroupBroadcastFirst: 'subgroupBroadcastFirst(lane) == 0u',
  subgroupShuffle: 'subgroupShuffle(lane, (lane + 1u) % size) == (lane + 1u) % size',
  subgroupShuffleXor: 'subgroupShuffleXor(lane, 1u) == (lane ^ 1u)',
  subgroupShuffleUp: 'lane == 0u || subgroupShuffleUp(lane, 1u) == lane - 1u || lane == 0u',
  subgroupShuffleDown: 'lane + 1u == size || subgroupShuffleDown(lane, 1u) == lane + 1u',
  subgroupAdd: 'subgroupAdd(lane) == size * (size - 1u) / 2u && subgroupAdd(1.0) == f32(size)',
  subgroupExclusiveAdd:
    'subgroupExclusiveAdd(2u) == lane * 2u && subgroupExclusiveAdd(vec2i(1, -1)).y == -i32(lane)',
  subgroupInclusiveAdd: 'subgroupInclusiveAdd(2u) == lane * 2u + 2u',
  subgroupMul: 'subgroupMul(select(1u, 3u, lane < 2u)) == 9u',
  subgroupExclusiveMul: 'subgroupExclusiveMul(select(1u, 2u, lane < 3u)) == 1u << min(lane, 3u)',
  subgroupInclusiveMul: 'subgroupInclusiveMul(select(1u, 2u, lane < 3u)) == 1u << min(lane + 1u, 3u)',
  subgroupMin: 'subgroupMin(lane + 7u) == 7u && subgroupMin(-f32(lane)) == -f32(size - 1u)',
  subgroupMax: 'subgroupMax(lane) == size - 1u && subgroupMax(-i32(lane)) == 0',
  subgroupAnd: 'subgroupAnd(lane | 256u) == 256u',
  subgroupOr: 'subgroupOr(lane) == size - 1u',
  subgroupXor: 'subgroupXor(1u << (lane & 31u)) == subgroupOr(1u << (lane & 31u))',
  quadBroadcast: 'quadBroadcast(lane, 1u) == (lane & ~3u) + 1u',
  quadSwapX: 'quadSwapX(lane) == (lane ^ 1u)',
  quadSwapY: 'quadSwapY(lane) == (lane ^ 2u)',
  quadSwapDiagonal: 'quadSwapDiagonal(lane) == (lane ^ 3u)',
}
for (const [f, check] of Object.entries(subgroupChecks)) {
  // The operands of && and || are evaluated first, since subgroup functions must be reached by all threads.
  let hoisted = ''
  let count = 0
  const condition = check.replace(
    /(subgroup|quad)[A-Z]\w*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g,
    (call) => {
      hoisted += `  let r${count} = ${call};\n`
      return `r${count++}`
    },
  )
  write(
    f,
    `// run: workgroups=2,1,1
// buffer out: u32[128]
enable subgroups;

@group(0) @binding(0) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(64)
fn main(
  @builtin(global_invocation_id) id: vec3u,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) size: u32,
) {
${hoisted}  out[id.x] = select(0u, 1u, ${condition.includes('||') && condition.includes('&&') ? condition.replace(/^(.*) \|\| (.*)$/, '($1) || ($2)') : condition});
}
`,
  )
}

// ------------------------------------------------------------------------------------------------ constant folding

/** Each constant expression beside the same computation on values that are read when the kernel runs. */
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
  write(
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
  write(
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

process.stdout.write(`${written} kernels written\n`)
