import { afterAll, describe, expect, it, vi } from 'vitest'
import { expectNear } from './near.ts'
import { onWebGpu } from './on-webgpu.ts'
import { positive, product, rowsOf, sum, values } from './plain.ts'
import { stubCanvas } from './stubs.ts'

// biome-ignore lint/suspicious/noExplicitAny: three.d.ts says why
type Node = any

let TSL: Record<string, Node>
let renderer: Node

onWebGpu(async () => {
  const canvas = stubCanvas()
  const THREE = await import('three/webgpu')
  TSL = (await import('three/tsl')) as never
  renderer = new THREE.WebGPURenderer({ canvas })
  await renderer.init()
  expect(renderer.backend.isWebGPUBackend).toBe(true)
})
afterAll(() => {
  // The library reports the loss of the device, although it destroys the device itself.
  vi.spyOn(console, 'error').mockImplementation(() => {})
  renderer.dispose()
})

const length = 24
const a = values(length)
const b = positive(length)

const floats = (data: readonly number[]) => TSL.instancedArray!(Float32Array.from(data), 'float')
const read = async (array: Node) => new Float32Array(await renderer.getArrayBufferAsync(array.value))

/** Runs `body` once for each of `count` elements. */
async function run(count: number, body: () => void): Promise<void> {
  await renderer.computeAsync(TSL.Fn!(body)().compute(count))
}

describe('TSL of three.js', () => {
  it('adds and divides element by element', async () => {
    const [x, y, result] = [floats(a), floats(b), floats(Array(length).fill(0))]
    const { instanceIndex: i } = TSL
    await run(length, () => {
      result.element(i).assign(x.element(i).add(y.element(i)).div(y.element(i)))
    })
    expectNear(
      await read(result),
      a.map((value, k) => (value + b[k]!) / b[k]!),
    )
  })

  it('takes functions of its library', async () => {
    const [x, result] = [floats(b), floats(Array(length).fill(0))]
    const { instanceIndex: i, exp, log, sin, sqrt, pow } = TSL
    await run(length, () => {
      const value = x.element(i)
      result.element(i).assign(log(exp(sin(value))).add(pow(sqrt(value), 3)))
    })
    expectNear(
      await read(result),
      b.map((value) => Math.sin(value) + value ** 1.5),
    )
  })

  it('selects by conditions', async () => {
    const x = floats(a)
    const { instanceIndex: i, If } = TSL
    await run(length, () => {
      const element = x.element(i)
      If(element.lessThan(0), () => {
        element.assign(element.negate())
      }).Else(() => {
        element.mulAssign(2)
      })
    })
    expectNear(
      await read(x),
      a.map((value) => (value < 0 ? -value : 2 * value)),
    )
  })

  it('multiplies matrices in a loop', async () => {
    const [x, y, result] = [floats(a), floats(b), floats(Array(16).fill(0))]
    const { instanceIndex: i, Loop, float, uint } = TSL
    await run(16, () => {
      const [row, column] = [i.div(uint(4)), i.mod(uint(4))]
      const total = float(0).toVar()
      Loop({ start: uint(0), end: uint(6), type: 'uint', condition: '<' }, ({ i: k }: Node) => {
        total.addAssign(x.element(row.mul(uint(6)).add(k)).mul(y.element(k.mul(uint(4)).add(column))))
      })
      result.element(i).assign(total)
    })
    expectNear(await read(result), product(rowsOf(a, 6), rowsOf(b, 4)).flat())
  })

  it('moves particles, with uniform values that change', async () => {
    const count = 10
    const start = values(4 * count)
    const positions = TSL.instancedArray!(Float32Array.from(start), 'vec4')
    const step = TSL.uniform!(0.5)
    const { instanceIndex: i, vec4 } = TSL
    const kernel = TSL.Fn!(() => {
      positions.element(i).addAssign(vec4(1, 2, 3, 0).mul(step))
    })().compute(count)
    await renderer.computeAsync(kernel)
    step.value = 2
    await renderer.computeAsync(kernel)
    expectNear(
      await read(positions),
      start.map((value, k) => value + 2.5 * [1, 2, 3, 0][k % 4]!),
    )
  })

  it('counts with atomics', async () => {
    const x = floats(b)
    const counts = TSL.instancedArray!(new Uint32Array(5), 'uint').toAtomic()
    const { instanceIndex: i, atomicAdd } = TSL
    await run(length, () => {
      atomicAdd(counts.element(x.element(i).toUint()), 1)
    })
    const expected = [0, 0, 0, 0, 0]
    for (const value of b) expected[Math.floor(value)]!++
    expect([...new Uint32Array(await renderer.getArrayBufferAsync(counts.value))]).toEqual(expected)
  })

  it('sums in workgroup memory, between barriers', async () => {
    const data = values(128)
    const [x, result] = [floats(data), floats([0, 0])]
    const { workgroupArray, workgroupBarrier, localId, workgroupId, instanceIndex: i, If, uint } = TSL
    const kernel = TSL.Fn!(() => {
      const shared = workgroupArray('float', 64)
      const lid = localId.x
      shared.element(lid).assign(x.element(i))
      workgroupBarrier()
      for (let half = 32; half > 0; half /= 2) {
        If(lid.lessThan(uint(half)), () => {
          shared.element(lid).addAssign(shared.element(lid.add(uint(half))))
        })
        workgroupBarrier()
      }
      If(lid.equal(uint(0)), () => {
        result.element(workgroupId.x).assign(shared.element(uint(0)))
      })
    })().compute(128, [64])
    await renderer.computeAsync(kernel)
    expectNear(await read(result), rowsOf(data, 64).map(sum))
  })

  it('computes what one kernel leaves in another', async () => {
    const [x, y] = [floats(a), floats(Array(length).fill(0))]
    const { instanceIndex: i, uint, Fn } = TSL
    const square = Fn!(() => {
      x.element(i).mulAssign(x.element(i))
    })().compute(length)
    const reverse = Fn!(() => {
      y.element(i).assign(x.element(uint(length - 1).sub(i)))
    })().compute(length)
    await renderer.computeAsync([square, reverse])
    expectNear(await read(y), a.map((value) => value * value).toReversed())
  })

  it('hashes integers', async () => {
    const hashes = TSL.instancedArray!(new Uint32Array(length), 'uint')
    const { instanceIndex: i, uint } = TSL
    await run(length, () => {
      const value = i.mul(uint(2654435761)).toVar()
      value.assign(value.bitXor(value.shiftRight(uint(15))))
      hashes.element(i).assign(value)
    })
    const expected = Array.from({ length }, (_, k) => {
      const value = Math.imul(k, 2654435761) >>> 0
      return (value ^ (value >>> 15)) >>> 0
    })
    expect([...new Uint32Array(await renderer.getArrayBufferAsync(hashes.value))]).toEqual(expected)
  })

  it('takes functions in WGSL', async () => {
    const x = floats(a)
    const { instanceIndex: i, wgslFn } = TSL
    const twice = wgslFn('fn twice(x: f32) -> f32 { return 2.0 * x; }')
    await run(length, () => {
      x.element(i).assign(twice({ x: x.element(i) }))
    })
    expectNear(
      await read(x),
      a.map((value) => 2 * value),
    )
  })
})
