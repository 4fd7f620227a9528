/*
 * Rows for devices that belong to several processes: how much of its messages a ring hides, and what a run
 * costs its callers.
 */
import {
  allocateSharded,
  compileTranspose,
  type ElementReader,
  measure,
  recordTranspose,
} from '@tandem-gpu/algorithms'
import type { DeviceGroup, Program, Recorder } from '@tandem-gpu/core'
import { compileMatmul } from '../../packages/algorithms/dist/matmul/single/matmul-kernels.js'
import { recordRing } from '../../packages/algorithms/dist/ring/record-ring.js'
import { ringBlocking } from '../../packages/algorithms/dist/ring/ring-matmul.js'
import { allocateRing, fillRing } from '../../packages/algorithms/dist/ring/ring-memory.js'
import { middle, type RingCost, type RunCost } from './table-documents.ts'

/**
 * Times the product of two square matrices by scheme `direct`, with and without its messages, and the
 * messages alone.
 */
export async function measureRing(
  group: DeviceGroup,
  side: number,
  input: ElementReader<'f32'>,
): Promise<RingCost> {
  const shape = { m: side, n: side, k: side }
  const kernels = await compileMatmul(group, 'f32', ringBlocking(group.devices, shape))
  const ring = await allocateRing(group, 'f32', shape)
  await fillRing(group, ring, input, input)
  const record = (body: (recorder: Recorder) => void) => ({
    program: group.record(body),
    times: [] as number[],
  })
  const whole = record((r) => recordRing(r, kernels, ring, { scheme: 'direct' }))
  const silent = record((r) => recordRing(withoutCopies(r), kernels, ring, { scheme: 'direct' }))
  const alone = record((r) => recordRing(r, kernels, ring, { scheme: 'direct', only: 'message' }))
  const time = async ({ program, times }: typeof whole, warmup: number) => {
    times.push((await measure(group, program, { warmup })).seconds)
  }
  // The fraction is a small difference of long times. Therefore each of the two programs follows the other as
  // often as itself, and neither follows the messages, during which a GPU cools down.
  for (let sample = 0; sample < 16; sample++)
    for (const one of sample % 2 === 0 ? [whole, silent] : [silent, whole])
      await time(one, sample === 0 ? 2 : 0)
  for (let sample = 0; sample < 7; sample++) await time(alone, sample === 0 ? 2 : 0)
  for (const resource of [whole.program, silent.program, alone.program, ring, kernels]) resource.destroy()
  const [seconds, withoutMessages] = [middle(whole.times), middle(silent.times)] as const
  const messages = middle(alone.times)
  return { side, seconds, withoutMessages, messages, hidden: 1 - (seconds - withoutMessages) / messages }
}

/** A thousand runs in one call: exchanges of rows between neighbours, and transposes. */
export async function measureRuns(group: DeviceGroup): Promise<RunCost[]> {
  const repetitions = 1000
  const timed = async (name: string, program: Program): Promise<RunCost> => {
    const seconds: number[] = []
    const added: number[] = []
    let samples = 21
    for (let sample = 0; sample <= samples; sample++) {
      const from = performance.now()
      const result = await group.queue.run(program, repetitions)
      const wall = (performance.now() - from) / 1000
      if (sample === 0) {
        // Messages through host memory take seconds, and equally long in every run.
        if (result.seconds > 1) samples = 1
        continue
      }
      seconds.push(result.seconds)
      added.push(wall - result.seconds)
    }
    program.destroy()
    return { program: name, repetitions, seconds: middle(seconds), added: middle(added) }
  }
  const { devices } = group
  const allocate = () => Promise.all(devices.map((device) => device.allocate('u32', 8192)))
  const [own, come] = [await allocate(), await allocate()]
  const exchange = group.record((r) => {
    for (const i of devices.keys()) r.copy(own[i]!, come[(i + 1) % devices.length]!)
    for (const i of devices.keys()) r.copy(come[i]!, own[i]!)
  })
  const rows = await timed('rows of 32 KiB go round', exchange)
  for (const buffer of [...own, ...come]) buffer.destroy()

  const kernel = await compileTranspose(group, { type: 'f32' })
  const [input, output] = [
    await allocateSharded(group, 'f32', 4096, 4096),
    await allocateSharded(group, 'f32', 4096, 4096),
  ]
  const program = group.record((r) => void recordTranspose(r, group, { kernel, input, output }))
  const transposes = await timed('transpose 4096²', program)
  for (const resource of [kernel, input, output]) resource.destroy()
  return [rows, transposes]
}

/**
 * A recorder that omits copies, but makes the later work of their target devices wait for the earlier work,
 * as the data of the copies would. It shows how long a program would take if its messages cost nothing.
 */
function withoutCopies(recorder: Recorder): Recorder {
  const copy: Recorder['copy'] = (_, { buffer: { device } }) => {
    if (device !== undefined && recorder.touches(device)) recorder.fence(device)
  }
  return new Proxy(recorder, {
    get(target, name) {
      if (name === 'copy') return copy
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
