import { openGroup } from '@tandem-gpu/core'
import {
  accumulated,
  expectEveryEdgeToMatter,
  recordAccumulate,
  referenceBackend,
} from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { allocateSharded, gatherSharded, type ShardedMatrix, writeSharded } from '../sharded-matrix.ts'
import { recordSort } from './record-sort.ts'
import { compileSort } from './sort-kernels.ts'

/** The keys of the next repetition: every digit of them may change, and so may the splitters. */
const next = (key: number) => (Math.imul(key, 0x2545f491) + 0x6c078965) & 0x01010101
const changing = `
struct Params { data_base: u32, data_length: u32 }
@group(0) @binding(0) var<storage, read_write> data: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;
@compute @workgroup_size(64)
fn change(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < params.data_length) {
    data[params.data_base + id.x] = (data[params.data_base + id.x] * 0x2545f491u + 0x6c078965u) & 0x01010101u;
  }
}`

describe('the order of a sort', () => {
  it.each([1, 2])('needs every edge on %i devices', { timeout: 120_000 }, async (devices) => {
    const backend = referenceBackend()
    const group = await openGroup({ backends: [backend], devices })
    const elements = 32 * devices
    const kernels = await compileSort(group, { type: 'u32', variant: 'serial' })
    const [input, output, total] = await Promise.all(
      [1, 2, 3].map(() => allocateSharded(group, 'u32', elements, 1)),
    )
    const change = await group.compile({ label: 'change', wgsl: changing })
    const accumulate = await recordAccumulate(group)
    const views = ({ slices }: ShardedMatrix<'u32'>) => slices.map(({ view, rows }) => view.reshape(1, rows))
    const program = group.record((recorder) => {
      for (const data of views(input!)) recorder.dispatch(change, { workgroups: 1, args: { data } })
      recordSort(recorder, group, { kernels, input: views(input!), output: views(output!) })
      accumulate(recorder, views(output!), views(total!))
    })
    // With fewer than 17 different keys, there are several of each after every digit. Each data set alone
    // misses a command that counts too early, where the digit stays the same.
    const sets = [(i: number) => next(i * i), (i: number) => next(next(i * 77777))].map((start) => {
      const data = Uint32Array.from({ length: elements }, (_, i) => start(i))
      const first = data.map(next)
      const second = first.map(next)
      const sorted = [first, second, second.map(next)].map((keys) => keys.toSorted())
      return { data, expected: data.map((_, i) => accumulated(sorted.map((keys) => keys[i]!))) }
    })
    await expectEveryEdgeToMatter(
      backend,
      program,
      async () => {
        for (const { data, expected } of sets) {
          await writeSharded(group, input!, data)
          await writeSharded(group, total!, new Uint32Array(elements))
          await group.queue.run(program, 3)
          const found = await gatherSharded(group, total!)
          if (!found.every((value, i) => value === expected[i])) return false
        }
        return true
      },
      { seeds: 40 },
    )
    expect(program.plan.commands.length).toBeGreaterThan(10)
    await group.destroy()
  })
})
