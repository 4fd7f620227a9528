import { type DeviceGroup, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { expect, it, onTestFinished } from 'vitest'
import { generatedElements } from '../../element-source.ts'
import { asHardware } from '../../testing-groups.ts'
import { compileMatmul, type MatmulBlocking } from '../single/matmul-kernels.ts'
import { recordMatmul } from '../single/record-matmul.ts'
import { blockingName, tuneMatmul } from './tune-matmul.ts'

const tiled = (tileRows: number, tileColumns: number): MatmulBlocking => ({
  body: 'tiled',
  tileRows,
  tileColumns,
  parts: 2,
})
const candidates: [MatmulBlocking, ...MatmulBlocking[]] = [tiled(128, 128), tiled(64, 64), tiled(64, 128)]
const shape = { m: 9, n: 10, k: 12 }

/** A group with one device of the reference executor that is presented as hardware, so that it is tuned. */
async function hardware(memoryByteLength?: number): Promise<DeviceGroup> {
  const group = await openGroup({
    backends: [referenceBackend(memoryByteLength === undefined ? {} : { memoryByteLength })],
  })
  onTestFinished(async () => {
    const { leaks } = await group.destroy()
    expect(leaks).toEqual([])
  })
  return asHardware(group)
}

it('measures once for a class of shapes, stores the name, and frees everything', async () => {
  const group = await hardware()
  const tuning = new Map<string, string>()
  const [device] = group.devices
  const first = await tuneMatmul(group, device!, 'f32', shape, candidates, { tuning })
  expect(candidates).toContain(first)
  expect([...tuning]).toEqual([[expect.stringContaining('f32 | 2 parts | m 2^3'), blockingName(first!)]])
  expect(group.live()).toMatchObject({ allocations: 0, executables: 0 })
  for (const candidate of candidates) {
    tuning.set([...tuning.keys()][0]!, blockingName(candidate))
    expect(await tuneMatmul(group, device!, 'f32', { ...shape, k: 14 }, candidates, { tuning })).toBe(
      candidate,
    )
  }
  expect(tuning.size).toBe(1)
})

it('takes the shipped choice if no tile fits, if tuning is off, and for an empty product', async () => {
  const tuning = new Map<string, string>()
  const small = await hardware(1000)
  expect(await tuneMatmul(small, small.devices[0]!, 'i32', shape, candidates, { tuning })).toBeUndefined()
  const group = await hardware()
  const [device] = group.devices
  expect(await tuneMatmul(group, device!, 'f32', shape, candidates, { tuning: false })).toBeUndefined()
  expect(await tuneMatmul(group, device!, 'f32', { ...shape, m: 0 }, candidates, { tuning })).toBeUndefined()
  expect(tuning.size).toBe(0)
})

it('chooses among blockings that give the same bits', async () => {
  const group = await hardware()
  const { m, n, k } = { m: 70, n: 68, k: 20 }
  const [device] = group.devices
  const [a, b, c] = [
    await device!.allocate('f32', [m, k]),
    await device!.allocate('f32', [k, n]),
    await device!.allocate('f32', [m, n]),
  ]
  for (const [seed, buffer] of [a, b].entries()) {
    const data = new Float32Array(buffer.length)
    await generatedElements('f32', seed)(0, data)
    await group.queue.write(buffer, data)
  }
  const results = []
  for (const blocking of candidates) {
    const kernels = await compileMatmul(group, 'f32', blocking)
    const program = group.record((recorder) => recordMatmul(recorder, kernels, a, b, c))
    await group.queue.run(program)
    results.push(new Uint32Array((await group.queue.read(c)).buffer))
    for (const resource of [program, kernels.vector, kernels.scalar, kernels.sumOfParts]) resource?.destroy()
  }
  expect(new Set(results[0]).size).toBeGreaterThan(1000)
  for (const result of results) expect(result).toEqual(results[0])
  for (const buffer of [a, b, c]) buffer.destroy()
})
