import { GpuError } from '@tandem-gpu/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { generatedElements } from '../element-source.ts'
import { allocateSharded, gatherSharded, writeSharded } from '../sharded-matrix.ts'
import { asHardware, describeOnBackends } from '../testing-groups.ts'
import { recordTranspose } from '../transpose/record-transpose.ts'
import { transpose } from '../transpose/transpose.ts'
import { compileTranspose } from '../transpose/transpose-kernels.ts'
import { choiceOptions, transposeCandidates } from '../transpose/tune-transpose.ts'
import { type Candidate, timeProgram, tune } from './tune.ts'
import { tuningKey } from './tuning-key.ts'

const candidates: [Candidate<number>, ...Candidate<number>[]] = [
  { name: 'shipped', choice: 0 },
  { name: 'one', choice: 1 },
  { name: 'two', choice: 2 },
]

describe('tune', () => {
  it('times every candidate once, stores the fastest, and times nothing afterwards', async () => {
    const store = new Map<string, string>()
    const timed: number[] = []
    const time = async (choice: number) => {
      timed.push(choice)
      return [3, 1, 2][choice]!
    }
    expect(await tune(store, 'key', candidates, time)).toBe(candidates[1])
    expect(await tune(store, 'key', candidates, time)).toBe(candidates[1])
    expect(timed).toEqual([0, 1, 2])
    expect([...store]).toEqual([['key', 'one']])
  })

  it('takes the shipped choice without a store, and if there is one candidate', async () => {
    const fail = () => Promise.reject(new Error('timed'))
    expect(await tune(undefined, 'key', candidates, fail)).toBeUndefined()
    expect(await tune(false, 'key', candidates, fail)).toBeUndefined()
    expect(await tune(new Map(), 'key', [candidates[2]!], fail)).toBeUndefined()
  })

  it('skips candidates that cannot run, stores nothing if none can, and rethrows other errors', async () => {
    const store = new Map<string, string>()
    const full = new GpuError('out-of-memory', 'full')
    const time = (unfit: readonly number[], error: Error) => (choice: number) =>
      unfit.includes(choice) ? Promise.reject(error) : Promise.resolve(10 - choice)
    expect(await tune(store, 'none', candidates, time([0, 1, 2], full))).toBeUndefined()
    expect(store.size).toBe(0)
    expect((await tune(store, 'some', candidates, time([0, 2], full)))?.name).toBe('one')
    const stop = new DOMException('stop', 'AbortError')
    await expect(tune(store, 'other', candidates, time([1], stop))).rejects.toBe(stop)
    expect([...store]).toEqual([['some', 'one']])
  })

  it('measures again if the store names an unknown candidate', async () => {
    const store = new Map([['key', 'a candidate of another version']])
    expect((await tune(store, 'key', candidates, async (choice) => 5 - choice))?.name).toBe('two')
    expect(store.get('key')).toBe('two')
  })

  it('is never slower than the shipped choice, and slower than the fastest by no more than the required advantage', async () => {
    const seconds = fc.array(fc.double({ min: 1e-6, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(seconds, async (times) => {
        const [first, ...others] = times.map((time, index) => ({ name: `${index}`, choice: time }))
        const measured = await tune(new Map(), 'key', [first!, ...others], async (time, limit) =>
          // Like timeProgram, which may stop early for a candidate that is far slower.
          time > 1.5 * limit ? time * 1.1 : time,
        )
        const { choice } = measured ?? first!
        expect(choice).toBeLessThanOrEqual(times[0]!)
        expect(choice * 0.98).toBeLessThanOrEqual(Math.min(...times))
      }),
    )
  })
})

describeOnBackends('tuning', (backend) => {
  it('names devices, driver, traits and the class of the shape in its keys', async () => {
    const group = await backend.group(2)
    const key = (rows: number, columns: number) =>
      tuningKey(group, { algorithm: 'a', version: 3, traits: ['f32'], sizes: { rows, columns } })
    const { name, driver } = group.devices[0]!.info
    const adapters = new Set(group.devices.map((device) => device.info.id)).size
    expect(key(1000, 0)).toBe(
      `a 3 | ${group.backend} | 2 × ${name} (driver ${driver ?? 'unknown'}) on ${adapters} adapters | f32 | rows 2^10 | columns 0`,
    )
    expect(key(1000, 70)).toBe(key(1024, 64))
    expect(key(1000, 70)).not.toBe(key(1000, 140))
    const one = await backend.group(1)
    expect(tuningKey(one, { algorithm: 'a', version: 3, traits: [], sizes: {} })).not.toBe(
      tuningKey(group, { algorithm: 'a', version: 3, traits: [], sizes: {} }),
    )
  })

  it('times programs', async () => {
    const group = await backend.group(1)
    const buffer = await group.devices[0]!.allocate('u32', 16)
    const program = group.record((recorder) => recorder.fill(buffer, 1))
    expect(await timeProgram(group, program)).toBeGreaterThanOrEqual(0)
    const controller = new AbortController()
    controller.abort()
    await expect(timeProgram(group, program, 1, controller.signal)).rejects.toMatchObject({
      code: 'aborted',
    })
    for (const resource of [program, buffer]) resource.destroy()
  })

  it('gives the same bits whichever candidate it chooses', async () => {
    const group = await backend.group(3)
    const input = await allocateSharded(group, 'f32', 70, 130)
    const output = await allocateSharded(group, 'f32', 130, 70)
    await writeSharded(group, input, generatedElements('f32', 9))
    const all = transposeCandidates(asHardware(group))
    const results = []
    for (const { choice } of all) {
      const options = choiceOptions(choice)
      const kernel = await compileTranspose(group, { type: 'f32', ...options })
      const program = group.record((recorder) => {
        for (const slice of output.slices) recorder.fill(slice.view, 0)
        recordTranspose(recorder, group, { ...options, kernel, input, output })
      })
      await group.queue.run(program)
      results.push(new Uint32Array((await gatherSharded(group, output)).buffer))
      for (const resource of [program, kernel]) resource.destroy()
    }
    expect(results.length).toBeGreaterThan(2)
    expect(results[0]!.some((bits) => bits !== 0)).toBe(true)
    for (const result of results) expect(result).toEqual(results[0])
    for (const matrix of [input, output]) matrix.destroy()
  })

  it('tunes a transpose once for each shape class, and not at all if the caller has chosen', async () => {
    const group = asHardware(await backend.group(2))
    const store = new Map<string, string>()
    const options = { rows: 40, columns: 30, type: 'f32', tuning: store } as const
    const first = await transpose(group, options)
    expect(first.verified).toBe(true)
    expect(store.size).toBe(1)
    expect([...store.values()]).toEqual([first.choice])
    expect(transposeCandidates(group).map(({ name }) => name)).toContain(first.choice)
    for (const { name, choice } of transposeCandidates(group)) {
      store.set([...store.keys()][0]!, name)
      const report = await transpose(group, { ...options, rows: 33, columns: 32 })
      expect(report).toMatchObject({ verified: true, choice: name })
      expect(report.transports).toMatchObject({ [choice.transport]: 2 })
    }
    expect(store.size).toBe(1)
    const chosen = await transpose(group, { ...options, rows: 500, kernel: 'square' })
    expect(chosen.choice).toBeUndefined()
    expect(store.size).toBe(1)
    await transpose(group, { ...options, transport: 'copy' })
    expect([...store.values()].at(-1)).toMatch(/^copy/)
  })

  it('measures nothing on a software adapter', async ({ skip }) => {
    const group = await backend.group(2)
    if (!group.software) skip('needs a software adapter')
    const store = new Map<string, string>()
    const report = await transpose(group, { rows: 9, columns: 9, type: 'f32', tuning: store })
    expect(report.verified).toBe(true)
    expect(report.choice).toBeUndefined()
    expect(store.size).toBe(0)
  })
})
