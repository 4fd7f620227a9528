import type { Constant, ElementName, Graph, Node, TensorType } from './onnx-model.ts'
import {
  normalized,
  positive,
  product,
  type Rows,
  rowsOf,
  softmax,
  sum,
  transposed,
  values,
} from './plain.ts'

/** A model, its inputs, and its outputs as computed by plain JavaScript, by the names in the model. */
export interface OnnxCase {
  readonly name: string
  readonly graph: Graph
  readonly feeds: Readonly<Record<string, readonly number[]>>
  readonly expected: Readonly<Record<string, readonly number[]>>
  readonly tolerance?: number
}

const tensor = (type: ElementName, ...dims: number[]): TensorType => ({ type, dims })
const f32 = (...dims: number[]) => tensor('float32', ...dims)
const f32s = (data: readonly number[], ...dims: number[]): Constant => ({
  dims,
  data: Float32Array.from(data),
})
const i64s = (...data: number[]): Constant => ({
  ...tensor('int64', data.length),
  data: BigInt64Array.from(data, BigInt),
})
const i64 = (data: number): Constant => ({ ...tensor('int64'), data: BigInt64Array.of(BigInt(data)) })

/** A model of a single node, from inputs to the output `y`. */
function single(
  op: string,
  inputs: Readonly<Record<string, TensorType>>,
  y: TensorType,
  rest: Pick<Graph, 'constants'> & Pick<Node, 'attributes' | 'domain'> = {},
): Graph {
  const { constants = {}, ...node } = rest
  const names = [...Object.keys(inputs), ...Object.keys(constants)]
  return {
    nodes: [{ op, inputs: names, outputs: ['y'], ...node }],
    inputs,
    outputs: { y },
    constants,
  }
}

const a = values(24)
const b = positive(24)
const rows = rowsOf(a, 6)

const unary = (op: string, x: readonly number[], f: (x: number) => number): OnnxCase => ({
  name: op,
  graph: single(op, { x: f32(4, 6) }, f32(4, 6)),
  feeds: { x },
  expected: { y: x.map(f) },
})

/** Attention over heads, which are adjacent groups of columns. */
export function attention(query: Rows, key: Rows, value: Rows, heads: number): number[][] {
  const width = query[0]!.length / heads
  const columns = (x: Rows, head: number) => x.map((row) => row.slice(head * width, (head + 1) * width))
  const results = Array.from({ length: heads }, (_, head) => {
    const scores = product(columns(query, head), transposed(columns(key, head)))
    const weights = scores.map((row) => softmax(row.map((score) => score / Math.sqrt(width))))
    return product(weights, columns(value, head))
  })
  return query.map((_, r) => results.flatMap((result) => result[r]!))
}

export const erf = (x: number): number => {
  // The series, exact in f64 for the small values here.
  let [term, total] = [x, x]
  for (let n = 1; n < 60; n++) {
    term *= -(x * x) / n
    total += term / (2 * n + 1)
  }
  return (2 / Math.sqrt(Math.PI)) * total
}

const gelu = (x: number) => (x / 2) * (1 + erf(x / Math.SQRT2))

function convolution(): OnnxCase {
  const [channels, size, filters] = [3, 8, 4]
  const [x, w, bias] = [
    values(channels * size * size),
    values(filters * channels * 9, 2),
    [0.1, 0.2, 0.3, 0.4],
  ]
  const y = Array.from({ length: filters * size * size }, (_, i) => {
    const [f, row, column] = [Math.floor(i / size / size), Math.floor(i / size) % size, i % size]
    let total = bias[f]!
    for (let tap = 0; tap < channels * 9; tap++) {
      const [c, dy, dx] = [Math.floor(tap / 9), (Math.floor(tap / 3) % 3) - 1, (tap % 3) - 1]
      const [at, beside] = [row + dy, column + dx]
      if (at < 0 || beside < 0 || at >= size || beside >= size) continue
      total += x[(c * size + at) * size + beside]! * w[f * channels * 9 + tap]!
    }
    return total
  })
  return {
    name: 'Conv',
    graph: single('Conv', { x: f32(1, channels, size, size) }, f32(1, filters, size, size), {
      constants: { w: f32s(w, filters, channels, 3, 3), bias: f32s(bias, filters) },
      attributes: { kernel_shape: [3, 3], pads: [1, 1, 1, 1] },
    }),
    feeds: { x },
    expected: { y },
    tolerance: 1e-4,
  }
}

function fourBitProduct(): OnnxCase {
  const [m, k, n, block] = [3, 64, 16, 32]
  const x = values(m * k)
  const quantized = Array.from({ length: n * k }, (_, i) => (i * 7 + Math.floor(i / k)) % 16)
  const scales = positive((n * k) / block).map((scale) => scale / 8)
  const packed = Uint8Array.from(
    { length: (n * k) / 2 },
    (_, i) => quantized[2 * i]! | (quantized[2 * i + 1]! << 4),
  )
  const weights = quantized.map((value, i) => (value - 8) * scales[Math.floor(i / block)]!)
  return {
    name: 'MatMulNBits (4 bits)',
    graph: single('MatMulNBits', { x: f32(m, k) }, f32(m, n), {
      constants: {
        w: { ...tensor('uint8', n, k / block, block / 2), data: packed },
        scales: f32s(scales, (n * k) / block),
      },
      attributes: { K: k, N: n, bits: 4, block_size: block },
      domain: 'com.microsoft',
    }),
    feeds: { x },
    expected: { y: product(rowsOf(x, k), transposed(rowsOf(weights, k))).flat() },
    tolerance: 1e-4,
  }
}

export interface BlockSize {
  readonly length: number
  readonly width: number
  readonly heads: number
  /** Width of the perceptron between its two layers. */
  readonly inner: number
}

/**
 * A block of a transformer: attention and a perceptron, each with a normalisation before it and a residual
 * connection.
 */
export function transformerBlock({ length, width, heads, inner }: BlockSize): OnnxCase {
  const scaled = (rowCount: number, columns: number, seed: number) =>
    values(rowCount * columns, seed).map((value) => value / Math.sqrt(rowCount))
  const weights = {
    wq: scaled(width, width, 2),
    wk: scaled(width, width, 3),
    wv: scaled(width, width, 4),
    wo: scaled(width, width, 5),
    w1: scaled(width, inner, 6),
    w2: scaled(inner, width, 7),
  }
  const x = values(length * width, 8)
  const norm = (input: string, output: string): Node => ({
    op: 'LayerNormalization',
    inputs: [input, 'one', 'zero'],
    outputs: [output],
    attributes: { axis: -1, epsilon: { float: 1e-5 } },
  })
  const matmul = (left: string, right: string, output: string): Node => ({
    op: 'MatMul',
    inputs: [left, right],
    outputs: [output],
  })
  const add = (left: string, right: string, output: string): Node => ({
    op: 'Add',
    inputs: [left, right],
    outputs: [output],
  })
  const nodes: Node[] = [
    norm('x', 'n1'),
    matmul('n1', 'wq', 'q'),
    matmul('n1', 'wk', 'k'),
    matmul('n1', 'wv', 'v'),
    {
      op: 'MultiHeadAttention',
      domain: 'com.microsoft',
      inputs: ['q', 'k', 'v'],
      outputs: ['attended'],
      attributes: { num_heads: heads },
    },
    matmul('attended', 'wo', 'projected'),
    add('x', 'projected', 'middle'),
    norm('middle', 'n2'),
    matmul('n2', 'w1', 'h'),
    { op: 'Gelu', domain: 'com.microsoft', inputs: ['h'], outputs: ['activated'] },
    matmul('activated', 'w2', 'last'),
    add('middle', 'last', 'y'),
  ]
  const plus = (one: Rows, other: Rows) => one.map((row, r) => row.map((value, i) => value + other[r]![i]!))
  const byRows = (name: keyof typeof weights) => rowsOf(weights[name], name === 'w1' ? inner : width)
  const expected = () => {
    const input = rowsOf(x, width)
    const n1 = input.map((row) => normalized(row))
    const [q, k, v] = (['wq', 'wk', 'wv'] as const).map((name) => product(n1, byRows(name)))
    const middle = plus(input, product(attention(q!, k!, v!, heads), byRows('wo')))
    const h = product(
      middle.map((row) => normalized(row)),
      byRows('w1'),
    )
    return plus(
      middle,
      product(
        h.map((row) => row.map(gelu)),
        byRows('w2'),
      ),
    )
  }
  return {
    name: 'a transformer block',
    graph: {
      nodes,
      inputs: { x: f32(1, length, width) },
      outputs: { y: f32(1, length, width) },
      constants: {
        one: f32s(Array(width).fill(1), width),
        zero: f32s(Array(width).fill(0), width),
        ...Object.fromEntries(
          Object.entries(weights).map(([name, data]) => [
            name,
            f32s(data, name === 'w2' ? inner : width, name === 'w1' ? inner : width),
          ]),
        ),
      },
    },
    feeds: { x },
    get expected() {
      return { y: expected().flat() }
    },
    tolerance: 1e-4,
  }
}

export const onnxCases: readonly OnnxCase[] = [
  {
    name: 'Add, with broadcasting',
    graph: single('Add', { x: f32(4, 6), z: f32(6) }, f32(4, 6)),
    feeds: { x: a, z: b.slice(0, 6) },
    expected: { y: a.map((x, i) => x + b[i % 6]!) },
  },
  {
    name: 'Div',
    graph: single('Div', { x: f32(4, 6), z: f32(4, 6) }, f32(4, 6)),
    feeds: { x: a, z: b },
    expected: { y: a.map((x, i) => x / b[i]!) },
  },
  unary('Sigmoid', a, (x) => 1 / (1 + Math.exp(-x))),
  unary('Tanh', a, Math.tanh),
  unary('Erf', a, erf),
  unary('Sqrt', b, Math.sqrt),
  {
    name: 'MatMul',
    graph: single('MatMul', { x: f32(33, 40), z: f32(40, 20) }, f32(33, 20)),
    feeds: { x: values(33 * 40), z: values(40 * 20, 2) },
    expected: { y: product(rowsOf(values(33 * 40), 40), rowsOf(values(40 * 20, 2), 20)).flat() },
    tolerance: 1e-4,
  },
  {
    name: 'Gemm, transposed, with a bias',
    graph: single('Gemm', { x: f32(4, 6), z: f32(4, 6) }, f32(4, 4), {
      constants: { bias: f32s([1, 2, 3, 4], 4) },
      attributes: { transB: 1, alpha: { float: 0.5 } },
    }),
    feeds: { x: a, z: b },
    expected: {
      y: product(rows, transposed(rowsOf(b, 6))).flatMap((row) => row.map((value, i) => value / 2 + i + 1)),
    },
    tolerance: 1e-4,
  },
  convolution(),
  {
    name: 'MaxPool',
    graph: single('MaxPool', { x: f32(1, 1, 4, 6) }, f32(1, 1, 2, 3), {
      attributes: { kernel_shape: [2, 2], strides: [2, 2] },
    }),
    feeds: { x: a },
    expected: {
      y: Array.from({ length: 6 }, (_, i) => {
        const corner = Math.floor(i / 3) * 12 + (i % 3) * 2
        return Math.max(...[0, 1, 6, 7].map((offset) => a[corner + offset]!))
      }),
    },
  },
  {
    name: 'Softmax',
    graph: single('Softmax', { x: f32(4, 6) }, f32(4, 6), { attributes: { axis: -1 } }),
    feeds: { x: a },
    expected: { y: rows.flatMap(softmax) },
  },
  {
    name: 'LayerNormalization',
    graph: single('LayerNormalization', { x: f32(4, 6) }, f32(4, 6), {
      constants: { scale: f32s(b.slice(0, 6), 6), bias: f32s(a.slice(0, 6), 6) },
      attributes: { axis: -1, epsilon: { float: 1e-5 } },
    }),
    feeds: { x: a },
    expected: { y: rows.flatMap((row) => normalized(row).map((value, i) => value * b[i]! + a[i]!)) },
    tolerance: 1e-4,
  },
  {
    name: 'ReduceMean',
    graph: single('ReduceMean', { x: f32(4, 6) }, f32(4), { attributes: { axes: [1], keepdims: 0 } }),
    feeds: { x: a },
    expected: { y: rows.map((row) => sum(row) / 6) },
  },
  {
    name: 'Transpose',
    graph: single('Transpose', { x: f32(4, 6) }, f32(6, 4), { attributes: { perm: [1, 0] } }),
    feeds: { x: a },
    expected: { y: transposed(rows).flat() },
  },
  {
    name: 'Slice and Concat',
    graph: {
      nodes: [
        { op: 'Slice', inputs: ['x', 'starts', 'ends', 'axes'], outputs: ['part'] },
        { op: 'Concat', inputs: ['part', 'z'], outputs: ['y'], attributes: { axis: 1 } },
      ],
      inputs: { x: f32(4, 6), z: f32(4, 2) },
      outputs: { y: f32(4, 5) },
      constants: { starts: i64s(2), ends: i64s(5), axes: i64s(1) },
    },
    feeds: { x: a, z: b.slice(0, 8) },
    expected: { y: rows.flatMap((row, r) => [...row.slice(2, 5), b[2 * r]!, b[2 * r + 1]!]) },
  },
  {
    name: 'Gather',
    graph: single('Gather', { x: f32(4, 6) }, f32(2, 6), { constants: { at: i64s(3, 0) } }),
    feeds: { x: a },
    expected: { y: [...rows[3]!, ...rows[0]!] },
  },
  {
    name: 'Less and Where',
    graph: {
      nodes: [
        { op: 'Less', inputs: ['x', 'z'], outputs: ['less'] },
        { op: 'Where', inputs: ['less', 'x', 'z'], outputs: ['y'] },
      ],
      inputs: { x: f32(4, 6), z: f32(4, 6) },
      outputs: { y: f32(4, 6) },
    },
    feeds: { x: a, z: transposed(rowsOf(a, 4)).flat() },
    expected: { y: a.map((x, i) => Math.min(x, transposed(rowsOf(a, 4)).flat()[i]!)) },
  },
  {
    name: 'CumSum',
    graph: single('CumSum', { x: f32(24) }, f32(24), { constants: { axis: i64(0) } }),
    feeds: { x: b },
    expected: { y: b.map((_, i) => sum(b.slice(0, i + 1))) },
  },
  fourBitProduct(),
  {
    name: 'MultiHeadAttention',
    graph: single(
      'MultiHeadAttention',
      { q: f32(1, 5, 16), k: f32(1, 7, 16), v: f32(1, 7, 16) },
      f32(1, 5, 16),
      { attributes: { num_heads: 2 }, domain: 'com.microsoft' },
    ),
    feeds: { q: values(80), k: values(112, 2), v: values(112, 3) },
    expected: {
      y: attention(rowsOf(values(80), 16), rowsOf(values(112, 2), 16), rowsOf(values(112, 3), 16), 2).flat(),
    },
    tolerance: 1e-4,
  },
  transformerBlock({ length: 9, width: 32, heads: 4, inner: 64 }),
]
