// Times one library's whole operations on the backend that TANDEM_TEST_BACKEND names, and prints the medians
// as JSON. See whole-operations.ts.

import type * as Jax from '@jax-js/jax'
import { backendName, installWebGpu } from './backend.ts'
import { transformerBlock } from './onnx-cases.ts'
import { onnxModel } from './onnx-model.ts'
import { sum, values } from './plain.ts'

export interface Measured {
  readonly name: string
  /** One per repetition. */
  readonly milliseconds: readonly number[]
  /** The last result, as one number. */
  readonly result: number
}

type JaxArray = ReturnType<typeof Jax.numpy.array>

/** On the CPU, a small size is enough to show that the operations work. */
const onGpu = backendName === 'cuda' || backendName === 'dawn'

/** A perceptron of two layers that learns by gradient descent. */
const [batch, inputs, hidden, outputs] = onGpu ? [256, 784, 512, 10] : [8, 20, 16, 4]
const rate = 0.01
const given = {
  x: values(batch * inputs),
  y: values(batch * outputs, 2),
  w1: values(inputs * hidden, 3).map((value) => value / Math.sqrt(inputs)),
  w2: values(hidden * outputs, 4).map((value) => value / Math.sqrt(hidden)),
}
const size = `${batch} × ${inputs} → ${hidden} → ${outputs}`

async function timed(times: number, body: () => Promise<number>) {
  const milliseconds: number[] = []
  let result = Number.NaN
  for (let i = 0; i < times; i++) {
    const start = performance.now()
    result = await body()
    milliseconds.push(performance.now() - start)
  }
  return { milliseconds, result }
}

/** Times single training steps, the loss of which is read, and ten in a row, of which only the last is. */
async function training<Loss extends { dispose(): void }>(
  library: string,
  step: () => Loss,
  read: (loss: Loss) => Promise<number>,
): Promise<Measured[]> {
  await timed(5, () => read(step()))
  const each = await timed(30, () => read(step()))
  const tens = await timed(6, async () => {
    for (let i = 0; i < 9; i++) step().dispose()
    return read(step())
  })
  return [
    { name: `${library}: a training step, its loss read (${size})`, ...each },
    { name: `${library}: ten training steps, the last loss read`, ...tens },
  ]
}

async function jax(): Promise<Measured[]> {
  const library = await import('@jax-js/jax')
  await library.init('webgpu')
  library.defaultDevice('webgpu')
  const { numpy: np } = library
  const array = (data: readonly number[], rows: number) =>
    np.array(Float32Array.from(data)).reshape([rows, data.length / rows])
  const [x, y] = [array(given.x, batch), array(given.y, batch)]
  let weights: [JaxArray, JaxArray] = [array(given.w1, inputs), array(given.w2, hidden)]
  const loss = ([w1, w2]: [JaxArray, JaxArray]) =>
    np.mean(np.square(np.matmul(np.tanh(np.matmul(x.ref, w1)), w2).sub(y.ref)))
  const step = () => {
    const [value, gradients] = library.valueAndGrad(loss)([weights[0].ref, weights[1].ref]) as unknown as [
      JaxArray,
      [JaxArray, JaxArray],
    ]
    weights = [weights[0].sub(gradients[0].mul(rate)), weights[1].sub(gradients[1].mul(rate))]
    return value
  }
  return training('jax-js', step, async (value) => (await value.data())[0]!)
}

async function tfjs(): Promise<Measured[]> {
  const tf = await import('@tensorflow/tfjs-core')
  await import('@tensorflow/tfjs-backend-webgpu')
  await import('@tensorflow/tfjs-core/dist/register_all_gradients.js')
  await tf.setBackend('webgpu')
  await tf.ready()
  const matrix = (data: readonly number[], rows: number) => tf.tensor2d([...data], [rows, data.length / rows])
  const [x, y] = [matrix(given.x, batch), matrix(given.y, batch)]
  const [w1, w2] = [tf.variable(matrix(given.w1, inputs)), tf.variable(matrix(given.w2, hidden))]
  const optimizer = tf.train.sgd(rate)
  const step = () =>
    optimizer.minimize(
      () => tf.mean(tf.squaredDifference(tf.matMul(tf.tanh(tf.matMul(x, w1)), w2), y)),
      true,
      [w1, w2],
    )!
  return training('TensorFlow.js', step, async (value) => {
    const data = await value.data()
    value.dispose()
    return data[0]!
  })
}

async function onnx(): Promise<Measured[]> {
  const ort = await import('onnxruntime-web/webgpu')
  ort.env.wasm.numThreads = 1
  const block = onGpu
    ? { length: 128, width: 512, heads: 8, inner: 2048 }
    : { length: 4, width: 16, heads: 2, inner: 32 }
  const { graph, feeds } = transformerBlock(block)
  const start = performance.now()
  const session = await ort.InferenceSession.create(onnxModel(graph), { executionProviders: ['webgpu'] })
  const x = new ort.Tensor('float32', Float32Array.from(feeds.x!), graph.inputs.x!.dims)
  const run = async () => sum([...((await session.run({ x })).y!.data as Float32Array)].map(Math.abs))
  await run()
  const first = performance.now() - start
  await timed(5, run)
  const each = await timed(50, run)
  return [
    {
      name: 'ONNX Runtime: a session of a transformer block, and its first run',
      milliseconds: [first],
      result: each.result,
    },
    {
      name: `ONNX Runtime: a transformer block (${block.length} × ${block.width}), its result read`,
      ...each,
    },
  ]
}

const close = await installWebGpu()
const libraries: Record<string, () => Promise<Measured[]>> = { jax, tfjs, onnx }
// Libraries may print other lines; the result of this process is the last line.
console.log(`\n${JSON.stringify(await libraries[process.argv[2]!]!())}`)
await close()
process.exit(0)
