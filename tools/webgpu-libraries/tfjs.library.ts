import type * as Core from '@tensorflow/tfjs-core'
import { describe, expect, it } from 'vitest'
import { expectNear } from './near.ts'
import { onWebGpu } from './on-webgpu.ts'
import { normalized, positive, product, rowsOf, softmax, sum, transposed, values } from './plain.ts'

let tf: typeof Core

onWebGpu(async () => {
  tf = await import('@tensorflow/tfjs-core')
  await import('@tensorflow/tfjs-backend-webgpu')
  await import('@tensorflow/tfjs-core/dist/register_all_gradients.js')
  // Otherwise, it computes small tensors on the CPU.
  tf.env().set('WEBGPU_CPU_FORWARD', false)
  expect(await tf.setBackend('webgpu')).toBe(true)
  await tf.ready()
})

const a = values(24)
const b = positive(24)

describe('TensorFlow.js', () => {
  const matrix = (numbers: readonly number[], columns: number) =>
    tf.tensor2d([...numbers], [numbers.length / columns, columns])

  it('adds, multiplies and divides element by element, with broadcasting', async () => {
    const result = tf.div(tf.mul(tf.add(matrix(a, 6), matrix(b, 6)), tf.tensor1d([1, 2, 3, 4, 5, 6])), 3)
    expectNear(
      await result.data(),
      a.map((x, i) => ((x + b[i]!) * (1 + (i % 6))) / 3),
    )
  })

  it('takes exponentials, logarithms, square roots and powers', async () => {
    const result = tf.log(tf.add(tf.exp(tf.tensor1d(a)), tf.pow(tf.sqrt(tf.tensor1d(b)), 3)))
    expectNear(
      await result.data(),
      a.map((x, i) => Math.log(Math.exp(x) + b[i]! ** 1.5)),
    )
  })

  it('takes sines, hyperbolic tangents, sigmoids and the error function', async () => {
    expectNear(
      await tf.tanh(tf.sin(tf.sigmoid(tf.tensor1d(b)))).data(),
      b.map((x) => Math.tanh(Math.sin(1 / (1 + Math.exp(-x))))),
    )
    expectNear(await tf.erf(tf.tensor1d([0, 0.5, -1])).data(), [0, 0.5204999, -0.8427008])
  })

  it('sums, averages and finds the largest element along an axis', async () => {
    const rows = rowsOf(a, 6)
    expectNear(await tf.sum(matrix(a, 6), 1).data(), rows.map(sum))
    expectNear(
      await tf.mean(matrix(a, 6), 0).data(),
      transposed(rows).map((column) => sum(column) / 4),
    )
    expectNear(
      await tf.max(matrix(a, 6), 1).data(),
      rows.map((row) => Math.max(...row)),
    )
    expect([...(await tf.argMax(matrix(a, 6), 1).data())]).toEqual(
      rows.map((row) => row.indexOf(Math.max(...row))),
    )
  })

  it('multiplies matrices of several sizes', async () => {
    for (const [m, k, n] of [
      [4, 6, 4],
      [1, 300, 7],
      [65, 33, 70],
    ] as const) {
      const [x, y] = [values(m * k), values(k * n, 2)]
      const expected = product(rowsOf(x, k), rowsOf(y, n)).flat()
      expectNear(await tf.matMul(matrix(x, k), matrix(y, n)).data(), expected, 1e-4)
    }
  })

  it('multiplies transposed matrices with a bias and an activation', async () => {
    const expected = product(rowsOf(a, 6), transposed(rowsOf(b, 6))).map((row) =>
      row.map((value, column) => Math.max(0, value + column - 2)),
    )
    const result = tf.fused.matMul({
      a: matrix(a, 6),
      b: matrix(b, 6),
      transposeB: true,
      bias: tf.tensor1d([-2, -1, 0, 1]),
      activation: 'relu',
    })
    expectNear(await result.data(), expected.flat(), 1e-4)
  })

  it('transposes, slices, pads, joins and gathers', async () => {
    const rows = rowsOf(a, 6)
    expectNear(await tf.transpose(matrix(a, 6)).data(), transposed(rows).flat())
    expectNear(
      await tf.slice(matrix(a, 6), [1, 2], [2, 3]).data(),
      rows.slice(1, 3).flatMap((row) => row.slice(2, 5)),
    )
    expectNear(
      await tf
        .pad(matrix(a, 6), [
          [0, 0],
          [1, 2],
        ])
        .data(),
      rows.flatMap((row) => [0, ...row, 0, 0]),
    )
    expectNear(
      await tf.concat([matrix(a, 6), matrix(b, 6)], 1).data(),
      rows.flatMap((row, r) => [...row, ...rowsOf(b, 6)[r]!]),
    )
    expectNear(await tf.gather(matrix(a, 6), tf.tensor1d([3, 0], 'int32')).data(), [...rows[3]!, ...rows[0]!])
  })

  it('compares and selects', async () => {
    const [x, y] = [tf.tensor1d(a), tf.tensor1d(b)]
    expectNear(
      await tf.where(tf.less(x, 0), y, x).data(),
      a.map((value, i) => (value < 0 ? b[i]! : value)),
    )
  })

  it('computes with integers', async () => {
    const x = tf.tensor1d([7, -8, 9], 'int32')
    expect([...(await tf.floorDiv(x, tf.tensor1d([2, 3, 4], 'int32')).data())]).toEqual([3, -3, 2])
  })

  it('takes softmax and adds up along an array', async () => {
    expectNear(await tf.softmax(matrix(a, 6)).data(), rowsOf(a, 6).flatMap(softmax))
    let total = 0
    expectNear(
      await tf.cumsum(tf.tensor1d(b)).data(),
      b.map((x) => (total += x)),
    )
  })

  it('finds the largest elements', async () => {
    const order = a.map((_, i) => i).sort((i, j) => a[j]! - a[i]!)
    const { values: largest, indices } = tf.topk(tf.tensor1d(a), 5)
    expectNear(
      await largest.data(),
      order.slice(0, 5).map((i) => a[i]!),
    )
    expect([...(await indices.data())]).toEqual(order.slice(0, 5))
  })

  it('convolves images', async () => {
    const [size, channels, filters] = [7, 3, 4]
    const image = values(size * size * channels)
    const weights = values(9 * channels * filters, 2)
    const at = (y: number, x: number, c: number) =>
      y < 0 || x < 0 || y >= size || x >= size ? 0 : image[(y * size + x) * channels + c]!
    const expected = Array.from({ length: size * size * filters }, (_, i) => {
      const [y, x, f] = [Math.floor(i / filters / size), Math.floor(i / filters) % size, i % filters]
      let total = 0
      for (let tap = 0; tap < 9 * channels; tap++) {
        const [dy, dx, c] = [
          Math.floor(tap / channels / 3) - 1,
          (Math.floor(tap / channels) % 3) - 1,
          tap % channels,
        ]
        total += at(y + dy, x + dx, c) * weights[tap * filters + f]!
      }
      return total
    })
    const result = tf.conv2d(
      tf.tensor3d(image, [size, size, channels]),
      tf.tensor4d(weights, [3, 3, channels, filters]),
      1,
      'same',
    )
    expectNear(await result.data(), expected, 1e-4)
  })

  it('pools images', async () => {
    const image = values(36)
    const blocks = Array.from({ length: 9 }, (_, i) => {
      const corner = Math.floor(i / 3) * 12 + (i % 3) * 2
      return [0, 1, 6, 7].map((offset) => image[corner + offset]!)
    })
    const pooled = (kind: 'avg' | 'max') => tf.pool(tf.tensor3d(image, [6, 6, 1]), 2, kind, 'valid', 1, 2)
    expectNear(
      await pooled('max').data(),
      blocks.map((block) => Math.max(...block)),
    )
    expectNear(
      await pooled('avg').data(),
      blocks.map((block) => sum(block) / 4),
    )
  })

  it('normalises a batch', async () => {
    const columns = transposed(rowsOf(a, 6))
    const { mean, variance } = tf.moments(matrix(a, 6), 0)
    const [offset, scale] = [tf.zeros([6]), tf.ones([6])] as [Core.Tensor1D, Core.Tensor1D]
    const given = [mean, variance] as [Core.Tensor1D, Core.Tensor1D]
    const result = tf.batchNorm(matrix(a, 6), ...given, offset, scale, 1e-5)
    expectNear(await result.data(), transposed(columns.map((column) => normalized(column))).flat(), 1e-4)
  })

  it('differentiates', async () => {
    const gradient = tf.grad((x) => tf.sum(tf.square(tf.sin(x))))
    expectNear(
      await gradient(tf.tensor1d(a)).data(),
      a.map((x) => Math.sin(2 * x)),
    )
  })

  it('trains a perceptron of two layers', async () => {
    const [inputs, targets] = [matrix(a.slice(0, 12), 3), matrix(b.slice(0, 4), 1)]
    const first = tf.variable(matrix(a.slice(0, 6), 2))
    const second = tf.variable(matrix([0.3, -0.2], 1))
    const optimizer = tf.train.sgd(0.1)
    const losses: number[] = []
    for (let step = 0; step < 5; step++) {
      const loss = optimizer.minimize(
        () => tf.mean(tf.squaredDifference(tf.matMul(tf.tanh(tf.matMul(inputs, first)), second), targets)),
        true,
      )!
      losses.push((await loss.data())[0]!)
    }
    // The same in plain JavaScript.
    const x = rowsOf(a.slice(0, 12), 3)
    const w1 = rowsOf(a.slice(0, 6), 2)
    const w2 = [0.3, -0.2]
    for (const value of losses) {
      const hidden = product(x, w1).map((row) => row.map(Math.tanh))
      const errors = hidden.map((row, i) => sum(row.map((h, k) => h * w2[k]!)) - b[i]!)
      expect(value).toBeCloseTo(sum(errors.map((error) => error ** 2)) / 4, 4)
      const toSecond = w2.map((_, k) => sum(errors.map((error, i) => (error * hidden[i]![k]!) / 2)))
      const toFirst = w1.map((row, j) =>
        row.map((_, k) =>
          sum(errors.map((error, i) => (error / 2) * w2[k]! * (1 - hidden[i]![k]! ** 2) * x[i]![j]!)),
        ),
      )
      for (const [k, gradient] of toSecond.entries()) w2[k]! -= 0.1 * gradient
      for (const [j, row] of toFirst.entries())
        for (const [k, gradient] of row.entries()) w1[j]![k]! -= 0.1 * gradient
    }
  })

  it('gives the memory of a tensor as a GPUBuffer', async () => {
    const { buffer } = tf.add(tf.tensor1d(a), 1).dataToGPU()
    expect(buffer).toBeInstanceOf(GPUBuffer)
    expect(buffer!.size).toBe(4 * a.length)
  })

  it('cannot read at once, since WebGPU cannot', () => {
    expect(() => tf.add(tf.tensor1d(a), 1).dataSync()).toThrow(/OffscreenCanvas|document/)
  })
})
