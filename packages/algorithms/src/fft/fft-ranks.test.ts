import { openGroup } from '@tandem-gpu/core'
import { imaginedRanks, referenceBackend, simulateRanks } from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { allocateSharded } from '../sharded-matrix.ts'
import { compileFft } from './compile-fft.ts'
import { type FftOptions, fft } from './fft.ts'
import { fftLimits, planFft } from './plan-fft.ts'
import { recordFft } from './record-fft.ts'

describe('a transform over ranks', () => {
  it.each<{ readonly options: FftOptions; readonly numbers: number }>([
    { options: { shape: [9, 14] }, numbers: 252 },
    { options: { shape: [9, 14], order: 'transposed' }, numbers: 252 },
    { options: { shape: [7, 6, 5], order: 'transposed', direction: 'inverse' }, numbers: 420 },
    { options: { shape: [10, 24], axes: [1] }, numbers: 480 },
    { options: { shape: [7, 6, 5], real: true }, numbers: 252 },
    { options: { shape: [7, 6, 5], real: true, direction: 'inverse' }, numbers: 210 },
  ])(
    'gives the bits of one process on every rank: $options',
    { timeout: 60_000 },
    async ({ options, numbers }) => {
      const work = async (group: Awaited<ReturnType<typeof openGroup>>) => {
        const output = new Float32Array(numbers)
        expect(await fft(group, { ...options, output, repetitions: 2 })).toMatchObject({ verified: true })
        expect(await group.destroy()).toEqual({ leaks: [] })
        return new Uint32Array(output.buffer)
      }
      const expected = await work(await openGroup({ backends: [referenceBackend()], devices: 1 }))
      for (const { ranks, adapters } of [
        { ranks: 2, adapters: 1 },
        { ranks: 3, adapters: [2, 0, 1] },
        { ranks: 4, adapters: 1 },
        { ranks: 7, adapters: 1 },
      ]) {
        const { backends } = simulateRanks({ ranks, adapters, seed: ranks })
        const found = await Promise.all(
          backends.map(async (backend) => work(await openGroup({ backends: [backend] }))),
        )
        for (const bits of found) expect(bits).toEqual(expected)
      }
    },
  )

  it('is blocks of rows that each rank of 64 sends to every other one and gets from it, in rounds', async () => {
    const count = 64
    const group = await openGroup({ backends: [imaginedRanks(5, count)] })
    const plan = planFft({ shape: [128, 128, 4], order: 'transposed', limits: fftLimits(group.devices) })
    const compiled = await compileFft(group, plan)
    const input = await allocateSharded(group, 'f32', 128, 1024, { zero: false })
    const output = await allocateSharded(group, 'f32', 128, 1024, { zero: false })
    const { plan: program } = group.record((recorder) =>
      recordFft(recorder, group, { fft: compiled, input, output }),
    )
    const labels = (kind: string) =>
      program.commands.filter((command) => command.kind === kind).map(({ label }) => label)
    const rounds = Array.from({ length: count - 1 }, (_, k) => k + 1)
    expect(labels('send')).toEqual(rounds.map((k) => `block (${(5 + k) % count}, 5)`))
    expect(labels('receive')).toHaveLength(count - 1)
    expect(labels('receive')).toEqual(
      expect.arrayContaining(rounds.map((k) => `block (5, ${(5 + count - k) % count})`)),
    )
    expect(labels('copy')).toEqual(['block (5, 5)'])
    await group.destroy()
  })
})
