import { chooseBlocking, compileMatmul, recordMatmul } from '@tandem-gpu/algorithms'
import { type BufferView, type DeviceGroup, OwnedResources } from '@tandem-gpu/core'
import { viewOf } from '@tandem-gpu/webgpu-api'
import type { Jax, JaxArray } from './jax-on.ts'

/** What one device has: rows of A and rows of B, as tensors of its jax-js. */
export interface Shard {
  readonly jax: Jax
  readonly left: JaxArray
  readonly right: JaxArray
}

/** The memory of a tensor as a view for Tandem's programs. Nothing is copied. */
async function matrixOf(tensor: JaxArray): Promise<BufferView<'f32'>> {
  const [rows, columns] = tensor.shape as [number, number]
  const view = await viewOf(await tensor.ref.gpuBuffer())
  return view.slice(0, rows * columns).reshape(rows, columns)
}

/**
 * Multiplies two matrices whose rows lie on all devices of the group. Each device multiplies its rows of A by
 * all of B, which it gathers from the others. Returns the rows of the product as tensors, one on each device.
 * What jax-js does with them comes after the product.
 */
export async function multiply(group: DeviceGroup, shards: readonly Shard[]): Promise<JaxArray[]> {
  const owned = new OwnedResources()
  try {
    const lefts = await Promise.all(shards.map(({ left }) => matrixOf(left)))
    const rights = await Promise.all(shards.map(({ right }) => matrixOf(right)))
    const [m, k, n] = [sum(lefts.map(({ rows }) => rows)), lefts[0]!.columns, rights[0]!.columns]
    const results = shards.map(({ jax }, i) => jax.numpy.zeros([lefts[i]!.rows, n]).add(jax.numpy.array([0])))
    const products = await Promise.all(results.map(matrixOf))
    const blocking = chooseBlocking(group.devices[0]!, { m, n, k }, lefts[0]!.rows)
    const kernels = owned.keep(await compileMatmul(group, 'f32', blocking))
    const program = owned.keep(
      group.record((recorder) => {
        for (const [i, product] of products.entries()) {
          const right = recorder.scratch(group.devices[i]!, 'f32', [k, n])
          let row = 0
          for (const part of rights) {
            recorder.copy(part, right.block(row, 0, part.rows, n))
            row += part.rows
          }
          recordMatmul(recorder, kernels, lefts[i]!, right, product)
        }
      }),
    )
    await group.queue.run(program)
    return results
  } finally {
    owned.destroy()
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, value) => total + value, 0)
