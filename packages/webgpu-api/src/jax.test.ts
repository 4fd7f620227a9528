import { chooseBlocking, compileMatmul, recordMatmul } from '@tandem-gpu/algorithms'
import { type DeviceGroup, openGroup } from '@tandem-gpu/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGPU } from './create-gpu.ts'
import { install } from './install.ts'
import { viewOf } from './sharing.ts'
import { testedBackend, usage } from './testing-gpu.ts'

// jax-js, unchanged, compared with plain JavaScript in f64.

type Jax = typeof import('@jax-js/jax')
type JaxArray = ReturnType<Jax['numpy']['array']>

let jax: Jax
let group: DeviceGroup
let close: () => Promise<void>

beforeAll(async () => {
  group = await openGroup({ backends: [await testedBackend(2)], devices: 2, virtual: true })
  const uninstall = install(await createGPU(group.devices[0]!))
  close = async () => {
    uninstall()
    await group.destroy()
  }
  jax = await import('@jax-js/jax')
  expect(await jax.init('webgpu')).toContain('webgpu')
  jax.defaultDevice('webgpu')
})
afterAll(() => close())

async function expectNear(actual: JaxArray, expected: readonly number[], tolerance = 1e-5): Promise<void> {
  const data = await actual.data()
  expect(data.length).toBe(expected.length)
  for (const [i, value] of expected.entries()) {
    const bound = tolerance * Math.max(1, Math.abs(value))
    expect(Math.abs(data[i]! - value), `element ${i}: ${data[i]}, not ${value}`).toBeLessThanOrEqual(bound)
  }
}

const length = 12
const a = Array.from({ length }, (_, i) => Math.sin(i + 1))
const b = Array.from({ length }, (_, i) => 0.5 + ((i * 7) % 5))
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const rows = (values: readonly number[], columns: number) =>
  Array.from({ length: values.length / columns }, (_, r) => values.slice(r * columns, (r + 1) * columns))
const product = (x: readonly (readonly number[])[], y: readonly (readonly number[])[]) =>
  x.map((row) => y[0]!.map((_, column) => sum(row.map((value, k) => value * y[k]![column]!))))

describe('jax-js on the WebGPU API', () => {
  const array = (values: readonly number[], shape = [values.length]) =>
    jax.numpy.array([...values]).reshape(shape)

  it('adds, multiplies and divides element by element', async () => {
    const result = array(a)
      .add(array(b))
      .mul(array(b))
      .div(array([3]))
    await expectNear(
      result,
      a.map((x, i) => ((x + b[i]!) * b[i]!) / 3),
    )
  })

  it('broadcasts', async () => {
    const result = array(a, [3, 4]).mul(array([1, 10, 100, 1000]))
    await expectNear(
      result,
      a.map((x, i) => x * 10 ** (i % 4)),
    )
  })

  it('computes exponentials, logarithms and square roots', async () => {
    const { numpy: np } = jax
    await expectNear(
      np.log(np.exp(array(a)).add(np.sqrt(array(b)))),
      a.map((x, i) => Math.log(Math.exp(x) + Math.sqrt(b[i]!))),
    )
  })

  it('computes sines and hyperbolic tangents', async () => {
    const { numpy: np } = jax
    await expectNear(
      np.tanh(np.sin(array(b))),
      b.map((x) => Math.tanh(Math.sin(x))),
    )
  })

  it('sums along an axis', async () => {
    await expectNear(array(a, [3, 4]).sum(1), rows(a, 4).map(sum))
  })

  it('finds the largest element and the mean', async () => {
    await expectNear(array(a, [3, 4]).max(), [Math.max(...a)])
    await expectNear(array(a).mean(), [sum(a) / length])
  })

  it('multiplies matrices', async () => {
    const result = jax.numpy.matmul(array(a, [3, 4]), array(b, [4, 3]))
    await expectNear(result, product(rows(a, 4), rows(b, 3)).flat())
  })

  it('transposes, slices and joins', async () => {
    const { numpy: np } = jax
    const transposed = np.transpose(array(a, [3, 4]))
    await expectNear(
      np.concatenate([transposed, array(b, [4, 3])], 1),
      rows(b, 3).flatMap((row, r) => [a[r]!, a[4 + r]!, a[8 + r]!, ...row]),
    )
  })

  it('compares and selects', async () => {
    const { numpy: np } = jax
    const negative = np.less(array(a), array([0]))
    await expectNear(
      np.where(negative, array(b), array(a)),
      a.map((x, i) => (x < 0 ? b[i]! : x)),
    )
  })

  it('computes cumulative sums', async () => {
    let total = 0
    const sums = b.map((x) => (total += x))
    await expectNear(jax.numpy.cumsum(array(b)), sums)
  })

  it('computes the softmax', async () => {
    const total = sum(a.map(Math.exp))
    await expectNear(
      jax.nn.softmax(array(a)),
      a.map((x) => Math.exp(x) / total),
    )
  })

  it('convolves', async () => {
    const kernel = [1, -2, 3]
    const expected = Array.from({ length: length + 2 }, (_, i) =>
      sum(kernel.map((k, j) => k * (a[i - j] ?? 0))),
    )
    await expectNear(jax.numpy.convolve(array(a), array(kernel)), expected)
  })

  it('differentiates', async () => {
    const { numpy: np } = jax
    const gradient = jax.grad((x: JaxArray) => np.sum(np.square(np.sin(x))))
    await expectNear(
      gradient(array(a)),
      a.map((x) => Math.sin(2 * x)),
    )
  })

  it('trains a perceptron of two layers', async () => {
    const { numpy: np } = jax
    const [inputs, targets] = [array(a, [4, 3]), array(b.slice(0, 4), [4, 1])]
    let weights = [array(a.slice(0, 6), [3, 2]), array([0.3, -0.2], [2, 1])] as [JaxArray, JaxArray]
    const loss = ([first, second]: [JaxArray, JaxArray]) =>
      np.mean(np.square(np.matmul(np.tanh(np.matmul(inputs.ref, first)), second).sub(targets.ref)))
    const losses: number[] = []
    for (let step = 0; step < 5; step++) {
      const [value, [first, second]] = jax.valueAndGrad(loss)([
        weights[0].ref,
        weights[1].ref,
      ]) as unknown as [JaxArray, [JaxArray, JaxArray]]
      losses.push((await value.data())[0]!)
      weights = [weights[0].sub(first.mul(0.1)), weights[1].sub(second.mul(0.1))]
    }
    // The same computation in plain JavaScript.
    const x = rows(a, 3)
    const y = b.slice(0, 4)
    const first = rows(a.slice(0, 6), 2)
    const second = [0.3, -0.2]
    for (const value of losses) {
      const hidden = product(x, first).map((row) => row.map(Math.tanh))
      const errors = hidden.map((row, i) => sum(row.map((h, k) => h * second[k]!)) - y[i]!)
      expect(value).toBeCloseTo(sum(errors.map((error) => error ** 2)) / 4, 4)
      const toSecond = second.map((_, k) => sum(errors.map((error, i) => (error * hidden[i]![k]!) / 2)))
      const toFirst = first.map((row, j) =>
        row.map((_, k) =>
          sum(errors.map((error, i) => (error / 2) * second[k]! * (1 - hidden[i]![k]! ** 2) * x[i]![j]!)),
        ),
      )
      for (const [k, gradient] of toSecond.entries()) second[k]! -= 0.1 * gradient
      for (const [j, row] of toFirst.entries())
        for (const [k, gradient] of row.entries()) first[j]![k]! -= 0.1 * gradient
    }
    expect(losses[4]!).toBeLessThan(losses[0]!)
  })

  it("shares its tensors with Tandem's matmul over two devices, whose result is a tensor of jax-js again", async () => {
    const { numpy: np } = jax
    const [m, k, n] = [8, 4, 4]
    const values = Array.from({ length: m * k }, (_, i) => Math.cos(i))
    const left = np.square(array(values, [m, k])).add(array([1]))
    const right = array(b, [3, 4])
    const square = np.concatenate([right, np.ones([1, 4])], 0)
    const result = np.zeros([m, n]).add(array([0]))
    const matrix = async (tensor: JaxArray, rowCount: number) =>
      (await viewOf(await tensor.ref.gpuBuffer())).reshape(rowCount, 4)
    const [A, B, C] = await Promise.all([matrix(left, m), matrix(square, k), matrix(result, m)])

    // The other device's rows are in buffers of that device's own GPUDevice.
    const other = await (await (await createGPU(group.devices[1]!)).requestAdapter())!.requestDevice()
    const far = async (rowCount: number) =>
      (await viewOf(other.createBuffer({ size: rowCount * 16, usage: usage.STORAGE }))).reshape(rowCount, 4)
    const [farA, farB, farC] = await Promise.all([far(m / 2), far(k), far(m / 2)])
    const kernels = await compileMatmul(group, 'f32', chooseBlocking(group.devices[0]!, { m, n, k }, m / 2))
    const program = group.record((recorder) => {
      recorder.copy(A.block(m / 2, 0, m / 2, k), farA)
      recorder.copy(B, farB)
      recordMatmul(recorder, kernels, A.block(0, 0, m / 2, k), B, C.block(0, 0, m / 2, n))
      recordMatmul(recorder, kernels, farA, farB, farC)
      recorder.copy(farC, C.block(m / 2, 0, m / 2, n))
    })
    const running = group.queue.run(program)
    // jax-js continues immediately; its submits take effect after the run.
    const doubled = result.mul(array([2]))
    const whole = product(
      rows(
        values.map((x) => x * x + 1),
        k,
      ),
      [...rows(b, 4), [1, 1, 1, 1]],
    )
    await expectNear(
      doubled,
      whole.flat().map((x) => 2 * x),
    )
    await running
    program.destroy()
    kernels.destroy()
    other.destroy()
    for (const tensor of [left, square]) tensor.dispose()
  })
})
