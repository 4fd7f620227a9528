import { openGroup } from '@tandem-gpu/core'
import { imaginedRanks } from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { allocateSharded } from '../sharded-matrix.ts'
import { recordTranspose } from './record-transpose.ts'
import { compileTranspose } from './transpose-kernels.ts'

it('a rank of 1,024 records the tiles that it sends or receives, and no others', async () => {
  const count = 1024
  const group = await openGroup({ backends: [imaginedRanks(5, count)] })
  const input = await allocateSharded(group, 'f32', 16 * count, 16 * count, { zero: false })
  const output = await allocateSharded(group, 'f32', 16 * count, 16 * count)
  const kernel = await compileTranspose(group, 'f32')
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
  /** What rank 1 of 2 records. */
  async function recorded(side: number, messageParts?: number) {
    const group = await openGroup({ backends: [imaginedRanks(1, 2)] })
    const input = await allocateSharded(group, 'f32', side, side, { zero: false })
    const output = await allocateSharded(group, 'f32', side, side)
    const kernel = await compileTranspose(group, 'f32')
    const options = { kernel, input, output, transport: 'copy', messageParts } as const
    const { plan } = group.record((recorder) => void recordTranspose(recorder, group, options))
    await group.destroy()
    return plan.commands
  }
  const words = { send: 'sends', receive: 'receives', dispatch: 'transposes' } as Record<string, string>

  it('move in parts, each before its transpose, so that the next part moves meanwhile; the own tile comes last', async () => {
    const commands = await recorded(100, 3)
    expect(commands.map(({ kind, label }) => `${words[kind]}: ${label}`)).toEqual([
      ...[0, 1, 2].flatMap((part) => [
        `sends: copy tile (0, 1) part ${part}`,
        `receives: copy tile (1, 0) part ${part}`,
        `transposes: transpose tile (1, 0) part ${part}`,
      ]),
      'transposes: transpose tile (1, 1)',
    ])
    const messages = commands.flatMap((command) => (command.kind === 'receive' ? [command.region!] : []))
    const row = 50 * 4
    expect(messages.map(({ byteOffset, rows, rowByteLength }) => [byteOffset, rows * rowByteLength])).toEqual(
      [
        [0, 17 * row],
        [17 * row, 17 * row],
        [34 * row, 16 * row],
      ],
    )
    const transposes = commands.filter(({ label }) => label.startsWith('transpose tile (1, 0)'))
    expect(transposes.map(({ after }) => after)).toEqual([[1], [4], [7]])
  })

  it('move as one, or in two parts from 128 MiB on', async () => {
    const sends = async (side: number) => (await recorded(side)).filter(({ kind }) => kind === 'send').length
    expect([await sends(2048), await sends(11584), await sends(11586)]).toEqual([1, 1, 2])
  })

  it('take a whole number of parts', async () => {
    await expect(recorded(16, 1.5)).rejects.toThrow(
      'The option messageParts is 1.5; it must be a whole number of at least 1.',
    )
  })
})
