import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fusedStripRows, fusedSweepsSeconds } from '../../packages/algorithms/src/jacobi/fused-strip.ts'
import { checks, predicted } from './checks.ts'
import { constants as c, links, staged } from './machine.ts'
import { openRank } from './paper-group.ts'
import { predictRank } from './predict.ts'
import { jacobiOf, recordOn, sumOf, transposeOf } from './programs.ts'
import { cell, checkRow, constantsTable, document, withBlocks } from './scaling.ts'
import { rankCounts, strong, studied } from './studies.ts'

const text = readFileSync(document, 'utf8')
const block = (name: string) =>
  new RegExp(`<!-- scaling:${name} -->\\n([\\s\\S]*?)\\n<!-- /scaling -->`).exec(text)![1]!

describe('rank 5 of 16, on hosts of 8', () => {
  const rank = 5
  const record = (program: Parameters<typeof recordOn>[1]) => recordOn(() => openRank(rank, 16), program)

  it('exchanges one tile with each other rank of a transpose', async () => {
    const recorded = await record(transposeOf(1024))
    const tile = 64 * 64 * 4
    // One thread carries thirty messages.
    expect(predictRank(recorded, rank, 16, staged)).toEqual({
      bound: 'carrier',
      seconds: expect.closeTo(30 * (tile / 6.8e9 + c.stagedLatency.value / 2), 9),
    })
  })

  it('sends its leaves’ sums to the root, which receives those of all', async () => {
    const recorded = await record(sumOf(2 ** 22))
    expect(predictRank(recorded, rank, 16, links)).toEqual({
      bound: 'path',
      seconds: expect.closeTo(
        c.kernelStart.value +
          (2 ** 20 + 64) / c.sumRate.value +
          c.messageGap.value +
          64 / c.messageRate.value,
        12,
      ),
    })
  })

  it('exchanges four rows with two neighbours in each pass of Jacobi’s iteration', async () => {
    const recorded = await record(jacobiOf(2048, 2048, '1d'))
    expect(recorded.sweeps).toBe(200)
    const halos = recorded.plan.commands.flatMap((command) =>
      command.label === 'halo row' && (command.kind === 'send' || command.kind === 'receive')
        ? [command.peer]
        : [],
    )
    expect([...new Set(halos)].sort()).toEqual([4, 6])
    // Whole rows, with the boundary beside them.
    const rows = 4 * 2112 * 4
    // A pass ends, its rows arrive, the next one begins: the sender's command begins when the receiver's
    // does.
    const pass =
      c.kernelStart.value +
      fusedSweepsSeconds(128, 2048, fusedStripRows(128, 2048)) +
      c.messageLatency.value +
      rows / c.messageRate.value
    expect(predictRank(recorded, rank, 16, links)).toEqual({
      bound: 'path',
      seconds: expect.closeTo(pass / 4, 9),
    })
  })
})

describe('docs/scaling.md', () => {
  it.each(['transpose 2048²', 'Jacobi 16384², 1D'])(
    'says of %s on 8 ranks what its plans give',
    async (title) => {
      const study = strong.find((one) => one.title === title)!
      const outcome = await studied(study, 8)
      const column = rankCounts.indexOf(8)
      for (const [name, transport] of [
        ['strong', 'links'],
        ['strong-staged', 'staged'],
      ] as const) {
        const row = block(name)
          .split('\n')
          .find((line) => line.startsWith(`| ${title} |`))!
        expect(row.split(' | ')[column + 1]).toBe(cell(outcome[transport]))
      }
    },
  )

  it('states the error of the model in each row that it was checked with', async () => {
    const rows = block('check').split('\n')
    expect(rows).toHaveLength(checks.length + 2)
    for (const title of ['transpose 2048²', 'sum of 2^22']) {
      const index = checks.findIndex((check) => check.title === title)
      expect(rows[index + 2]).toBe(checkRow(checks[index]!, await predicted(checks[index]!)))
    }
  })

  it('lists the constants of the machine', () => {
    expect(block('constants')).toBe(constantsTable())
  })

  it('keeps what stands around the blocks', () => {
    expect(withBlocks('a\n<!-- scaling:x -->\nold\n<!-- /scaling -->\nb', new Map([['x', 'new']]))).toBe(
      'a\n<!-- scaling:x -->\nnew\n<!-- /scaling -->\nb',
    )
  })
})
