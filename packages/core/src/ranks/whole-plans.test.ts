import { describe, expect, test } from 'vitest'
import { type DeviceGroup, openGroup } from '../group/group.ts'
import { printPlan } from '../plan/print-plan.ts'
import type { Recorder } from '../recording/recorder.ts'
import { accumulate } from '../testing/conformance/kernels.ts'
import { imaginedRanks } from '../testing/imagined-ranks.ts'

const count = 3

/** What each rank records, which shares memory with two others. */
async function recordedBy(
  body: (group: DeviceGroup) => Promise<(recorder: Recorder) => void>,
): Promise<string[]> {
  const texts: string[] = []
  for (let rank = 0; rank < count; rank++) {
    const group = await openGroup({ backends: [imaginedRanks(rank, count, true)] })
    texts.push(printPlan(group.record(await body(group)).plan))
    await group.destroy()
  }
  return texts
}

/** The commands of a printed plan, without the lines of the plan and its buffers. */
const commandsOf = (text: string) => text.split('\n').filter((line) => /^\d/.test(line))

const buffers = (group: DeviceGroup) => Promise.all(group.devices.map((device) => device.allocate('u32', 8)))

describe('ranks that share memory', () => {
  test('get the commands of all devices, the same on each rank, and no messages', async () => {
    const texts = await recordedBy(async (group) => {
      const kernel = await group.compile({ wgsl: accumulate })
      const [x, y] = [await buffers(group), await buffers(group)]
      return (r) => {
        expect(r.touches(count - 1)).toBe(true)
        for (let i = 0; i < count; i++) r.copy(x[i]!, y[(i + 1) % count]!)
        for (let i = 0; i < count; i++) {
          const scratch = r.scratch(i, 'u32', 8)
          r.fill(scratch, i)
          // A kernel of one rank's device reads another's memory.
          r.dispatch(kernel, { workgroups: 1, args: { x: x[(i + 2) % count]!, y: scratch, addend: 1 } })
        }
      }
    })
    expect(new Set(texts).size).toBe(1)
    expect(commandsOf(texts[0]!).map((line) => line.split(' ').slice(0, 3).join(' '))).toEqual([
      ...['0 d1 copy', '1 d2 copy', '2 d0 copy', '3 d0 fill', '4 d0 dispatch'],
      ...['5 d1 fill', '6 d1 dispatch', '7 d2 fill', '8 d2 dispatch'],
    ])
    expect(texts[0]).not.toMatch(/send|receive/)
  })

  test('copy host memory by devices of its own rank, and between the hosts of two ranks through a device of the sender', async () => {
    const texts = await recordedBy(async (group) => {
      const [x] = await buffers(group)
      const all = group.allocateHost('u32', 8, { label: 'all' })
      const [zero, two] = [0, 2].map((device) =>
        group.allocateHost('u32', 8, { label: `of ${device}`, device }),
      )
      return (r) => {
        r.copy(x!, all, { label: 'to all' })
        r.copy(all, x!, { label: 'from all' })
        r.copy(x!, two!, { label: 'to another' })
        r.copy(two!, x!, { label: 'from another' })
        r.copy(zero!, two!, { label: 'between hosts' })
        r.copy(all, two!, { label: 'own copy' })
        r.copy(two!, all, { label: 'passed on' })
      }
    })
    expect(new Set(texts).size).toBe(1)
    const short = commandsOf(texts[0]!).map((line) =>
      /^\d+ (d\d) (\w+) "([^"]*)"/.exec(line)!.slice(1, 4).join(' '),
    )
    expect(short).toEqual([
      ...['d0 download to all', 'd1 download to all', 'd2 download to all'],
      'd0 upload from all',
      'd2 download to another',
      'd2 upload from another',
      ...['d0 upload between hosts', 'd2 download between hosts'],
      ...['d2 upload own copy', 'd2 download own copy'],
      ...['d2 upload passed on', 'd0 download passed on', 'd1 download passed on', 'd2 download passed on'],
    ])
  })

  test('start a run when all earlier work is complete, and later work when the run has ended', async () => {
    const backend = imaginedRanks(0, 1, true)
    const events: string[] = []
    const group = await openGroup({
      backends: [
        {
          ...backend,
          async open(...given) {
            const runtime = await backend.open(...given)
            const slowly = async <R>(name: string, call: () => Promise<R>) => {
              events.push(`${name} begins`)
              await new Promise((resolve) => setTimeout(resolve, 20))
              const result = await call()
              events.push(`${name} ends`)
              return result
            }
            const { run, write, read } = runtime
            runtime.run = (...args) => slowly('run', () => run.apply(runtime, args))
            runtime.write = (...args) => slowly('write', () => write.apply(runtime, args))
            runtime.read = (...args) => slowly('read', () => read.apply(runtime, args))
            return runtime
          },
        },
      ],
    })
    const [x] = await buffers(group)
    const program = group.record((r) => r.fill(x!, 7))
    const calls = [
      group.queue.write(x!, new Uint32Array(8)),
      group.queue.run(program),
      group.queue.read(x!, { to: 'owner' }),
      group.queue.run(program),
    ]
    await Promise.all(calls)
    expect(events).toEqual(
      ['write', 'run', 'read', 'run'].flatMap((name) => [`${name} begins`, `${name} ends`]),
    )
    await group.destroy()
  })
})
