import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { expectNear } from './near.ts'
import { onWebGpu } from './on-webgpu.ts'
import { type OnnxCase, onnxCases } from './onnx-cases.ts'
import { type Graph, onnxModel } from './onnx-model.ts'
import { product, rowsOf, values } from './plain.ts'
import { stubWindow } from './stubs.ts'

let wonnx: typeof import('@webonnx/wonnx-wasm')

onWebGpu(async () => {
  stubWindow()
  wonnx = await import('@webonnx/wonnx-wasm/wonnx.js' as '@webonnx/wonnx-wasm')
  const path = createRequire(import.meta.url).resolve('@webonnx/wonnx-wasm/wonnx_bg.wasm')
  await wonnx.default(await readFile(path))
})

/** The operators of ONNX Runtime's cases that wonnx has. */
const shared = onnxCases.filter(({ name }) =>
  /^(Add|Div|Sigmoid|Tanh|Sqrt|Conv|MaxPool|ReduceMean|Transpose)\b/.test(name),
)

const [x, w1, w2] = [values(16), values(32, 2), values(16, 3)]

/** wonnx multiplies only matrices of even sizes, and its indices have 32 bits. */
const own: readonly OnnxCase[] = [
  {
    name: 'Gather',
    graph: {
      nodes: [{ op: 'Gather', inputs: ['x', 'at'], outputs: ['y'] }],
      inputs: { x: { dims: [4, 4] } },
      outputs: { y: { dims: [2, 4] } },
      constants: { at: { type: 'int32', dims: [2], data: Int32Array.of(3, 0) } },
    },
    feeds: { x },
    expected: { y: [...x.slice(12), ...x.slice(0, 4)] },
  },
  {
    name: 'a perceptron of two layers',
    graph: {
      nodes: [
        { op: 'MatMul', inputs: ['x', 'w1'], outputs: ['h'] },
        { op: 'Relu', inputs: ['h'], outputs: ['r'] },
        { op: 'MatMul', inputs: ['r', 'w2'], outputs: ['y'] },
      ],
      inputs: { x: { dims: [4, 4] } },
      outputs: { y: { dims: [4, 2] } },
      between: { h: { dims: [4, 8] }, r: { dims: [4, 8] } },
      constants: {
        w1: { dims: [4, 8], data: Float32Array.from(w1) },
        w2: { dims: [8, 2], data: Float32Array.from(w2) },
      },
    },
    feeds: { x },
    expected: {
      y: product(
        product(rowsOf(x, 4), rowsOf(w1, 8)).map((row) => row.map((value) => Math.max(0, value))),
        rowsOf(w2, 2),
      ).flat(),
    },
    tolerance: 1e-4,
  },
]

async function run(graph: Graph, feeds: Readonly<Record<string, readonly number[]>>) {
  const session = await wonnx.Session.fromBytes(onnxModel(graph, 13)).catch((error) => {
    throw new Error(String(error))
  })
  const input = new wonnx.Input()
  for (const [name, data] of Object.entries(feeds)) input.insert(name, Float32Array.from(data))
  const result = (await session.run(input).catch((error) => {
    throw new Error(String(error))
  })) as Map<string, number[]>
  session.free()
  return result
}

describe('wonnx', () => {
  it.each([...shared, ...own].map((one) => [one.name, one] as const))(
    '%s',
    async (_, { graph, feeds, expected, tolerance }) => {
      const results = await run(graph, feeds)
      expect([...results.keys()]).toEqual(['y'])
      expectNear(results.get('y')!, expected.y!, tolerance)
    },
  )
})
