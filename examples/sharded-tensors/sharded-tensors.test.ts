import { splitRows } from '@tandem-gpu/algorithms'
import { openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { expect, it } from 'vitest'
import { jaxOn } from './jax-on.ts'
import { multiply, type Shard } from './multiply.ts'

const [m, k, n] = [13, 9, 7]
const a = Array.from({ length: m * k }, (_, i) => Math.sin(i))
const b = Array.from({ length: k * n }, (_, i) => Math.cos(i))
const expected = Array.from({ length: m * n }, (_, i) => {
  const [row, column] = [Math.floor(i / n), i % n]
  let total = 0
  for (let l = 0; l < k; l++) total += a[row * k + l]! * b[l * n + column]!
  return total
})

it.each([1, 3])('multiplies tensors on %i devices, and jax-js goes on with the product', async (devices) => {
  const group = await openGroup({ backends: [referenceBackend({ devices })], devices })
  const [rows, inner] = [splitRows(m, devices), splitRows(k, devices)]
  const shards: Shard[] = []
  const uninstalls: (() => void)[] = []
  for (const device of group.devices) {
    const { jax, uninstall } = await jaxOn(device)
    uninstalls.unshift(uninstall)
    const tensor = (data: number[], columns: number, part: { row: number; rows: number }) =>
      jax.numpy
        .array(data.slice(part.row * columns, (part.row + part.rows) * columns))
        .reshape([part.rows, columns])
    const [left, right] = [tensor(a, k, rows[device.ordinal]!), tensor(b, n, inner[device.ordinal]!)]
    shards.push({ jax, left, right })
  }
  const products = await multiply(group, shards)
  const doubled: number[] = []
  for (const [i, product] of products.entries()) {
    const { numpy: np } = shards[i]!.jax
    doubled.push(...(await product.mul(np.array([2])).data()))
  }
  expect(doubled.length).toBe(m * n)
  for (const [i, value] of doubled.entries()) expect(value).toBeCloseTo(2 * expected[i]!, 4)
  // The tensors that were multiplied are as they were.
  expect([...(await shards[0]!.left.ref.data())]).toEqual([
    ...Float32Array.from(a).slice(0, rows[0]!.rows * k),
  ])
  expect(await group.destroy()).toEqual({ leaks: [] })
  for (const uninstall of uninstalls) uninstall()
})
