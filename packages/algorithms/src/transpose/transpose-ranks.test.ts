import { openGroup } from '@tandem-gpu/core'
import { imaginedRanks, openRanks } from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { allocateSharded, readSharded, writeSharded } from '../sharded-matrix.ts'
import { recordTranspose } from './record-transpose.ts'
import { compileTranspose } from './transpose-kernels.ts'

it('a rank of 1,024 records the tiles that it sends or receives, and no others', async () => {
  const count = 1024
  const group = await openGroup({ backends: [imaginedRanks(5, count)] })
  const input = await allocateSharded(group, 'f32', 16 * count, 16 * count, { zero: false })
  const output = await allocateSharded(group, 'f32', 16 * count, 16 * count)
  const kernel = await compileTranspose(group, { type: 'f32' })
  const program = group.record((recorder) => {
    const tiles = recordTranspose(recorder, group, { kernel, input, output })
    expect(tiles).toHaveLength(2 * count - 1)
  })
  const kinds = program.plan.commands.map(({ kind }) => kind)
  const of = (kind: string) => kinds.filter((other) => other === kind).length
  expect({ sends: of('send'), receives: of('receive'), dispatches: of('dispatch') }).toEqual({
    sends: count - 1,
    receives: count - 1,
    dispatches: count,
  })
  expect(kinds).toHaveLength(3 * count - 2)
  await group.destroy()
})

describe('tiles that are messages', () => {
  /** The commands that rank 1 of `count` records. */
  async function recorded(side: number, messageParts?: number, persistent?: boolean, count = 2) {
    const group = await openGroup({ backends: [imaginedRanks(1, count)] })
    const input = await allocateSharded(group, 'f32', side, side, { zero: false })
    const output = await allocateSharded(group, 'f32', side, side)
    const kernel = await compileTranspose(group, { type: 'f32', persistent })
    const options = { kernel, input, output, transport: 'copy', messageParts } as const
    const { plan } = group.record((recorder) => void recordTranspose(recorder, group, options))
    await group.destroy()
    return plan.commands
  }

  it('take turns in parts: while one moves, the next is packed and the one before transposed by few workgroups', async () => {
    const commands = await recorded(6000, 3)
    const shown = commands.map((command) => {
      const { kind, label, after } = command
      const groups = command.kind === 'dispatch' ? ` in ${command.workgroups.join(' × ')} workgroups` : ''
      return `${kind} ${label}${groups}, after ${after.join()}`
    })
    expect(shown).toEqual([
      'copy pack tile (0, 1) part 0, after ',
      'send copy tile (0, 1) part 0, after 0',
      'receive copy tile (1, 0) part 0, after 0',
      'dispatch transpose tile (1, 1) in 64 × 1 × 1 workgroups, after 0',
      'dispatch pack tile (0, 1) part 1 in 64 × 1 × 1 workgroups, after 0',
      'send copy tile (0, 1) part 1, after 1,2,3,4',
      'receive copy tile (1, 0) part 1, after 1,2,3,4',
      'dispatch transpose tile (1, 0) part 0 in 64 × 1 × 1 workgroups, after 1,2,3,4',
      'dispatch pack tile (0, 1) part 2 in 64 × 1 × 1 workgroups, after 1,2,3,4',
      'send copy tile (0, 1) part 2, after 5,6,7,8',
      'receive copy tile (1, 0) part 2, after 5,6,7,8',
      'dispatch transpose tile (1, 0) part 1 in 64 × 1 × 1 workgroups, after 5,6,7,8',
      'dispatch transpose tile (1, 0) part 2 in 94 × 32 × 1 workgroups, after 10',
    ])
    const messages = commands.flatMap((command) => (command.kind === 'receive' ? [command.region!] : []))
    const row = 3000 * 4
    expect(messages.map(({ byteOffset, rows, rowByteLength }) => [byteOffset, rows * rowByteLength])).toEqual(
      [0, 1, 2].map((part) => [part * 1000 * row, 1000 * row]),
    )
  })

  it('share few workgroups with the other tiles that move at a time', async () => {
    const shared = await recorded(6000, 2, true, 3)
    const workgroups = shared.flatMap((command) =>
      command.kind === 'dispatch' && /pack|tile \(1, .*\) part 0/.test(command.label)
        ? [command.workgroups[0]]
        : [],
    )
    expect(workgroups).toEqual([32, 32, 32, 32])
  })

  it('move as one, or in two parts from 64 MiB on if there are kernels that work beside messages', async () => {
    const sends = async (side: number, persistent?: boolean) =>
      (await recorded(side, undefined, persistent)).filter(({ kind }) => kind === 'send').length
    expect([await sends(2048), await sends(8190), await sends(8192)]).toEqual([1, 1, 2])
    expect(await sends(8192, false)).toBe(1)
  })

  it('arrive right, in parts or whole, with kernels that work beside messages and without, in any order of execution', async () => {
    const [rows, columns] = [150, 331]
    const source = Int32Array.from({ length: rows * columns }, (_, i) => i)
    for (let seed = 1; seed <= 12; seed++) {
      const ranks = await openRanks({ ranks: 3, seed, order: seed % 2 === 0 ? 'adversarial' : 'random' })
      await ranks.each(async (group) => {
        const input = await allocateSharded(group, 'i32', rows, columns)
        const output = await allocateSharded(group, 'i32', columns, rows)
        await writeSharded(group, input, source)
        const kernel = await compileTranspose(group, { type: 'i32', persistent: seed % 3 !== 0 })
        const program = group.record((recorder) => {
          const messageParts = 1 + (seed % 5)
          recordTranspose(recorder, group, { kernel, input, output, transport: 'copy', messageParts })
        })
        await group.queue.run(program, 2)
        const result = new Int32Array(rows * columns)
        await readSharded(group, output, result)
        if (group.rank === 0)
          expect(
            result.findIndex((value, i) => value !== source[(i % rows) * columns + Math.floor(i / rows)]),
          ).toBe(-1)
      })
      await ranks.destroy()
    }
  })

  it('take a whole number of parts', async () => {
    await expect(recorded(16, 1.5)).rejects.toThrow(
      'The option messageParts is 1.5; it must be a whole number of at least 1.',
    )
  })
})
