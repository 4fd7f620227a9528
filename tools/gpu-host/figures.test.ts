import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { documents, figures, withFigures } from './figures.ts'

const root = new URL('../../', import.meta.url)
const tableOf = (name: string) => {
  const path = `docs/measurements/${name}.json`
  return { path, table: JSON.parse(readFileSync(new URL(path, root), 'utf8')) }
}
const { path, table } = tableOf('2026-11-21-4xh200-table')
const { table: ranks, path: ranksPath } = tableOf('2026-11-22-4xh200-ranks')
const textOf = (document: string) => readFileSync(new URL(document, root), 'utf8')
const blocksOf = (kind: string) =>
  documents.flatMap((document) =>
    [...textOf(document).matchAll(new RegExp(`<!-- ${kind}:([\\w-]+) -->`, 'g'))].map(([, name]) => name!),
  )

describe('the figures in the documents', () => {
  it.each([
    '2026-11-21-4xh200-table',
    '2026-11-22-4xh200-tensor-table',
    '2026-11-22-4xh200-ranks',
    '2026-11-22-2xh200-ranks',
    '2026-11-24-h200-primitives',
    '2026-11-24-h200-webgpu-api',
  ])('are those of %s', (name) => {
    const measured = tableOf(name)
    for (const document of documents) {
      const text = textOf(document)
      expect(withFigures(text, measured.table, measured.path), document).toBe(text)
    }
  })
  it('stand in a document each', () => {
    expect(blocksOf('figures').sort()).toEqual(['comparisons', 'highlights', 'ladder'])
    expect(blocksOf('tensor').sort()).toEqual(['errors', 'f16', 'f32', 'same-gpu', 'several'])
    expect(blocksOf('ranks').sort()).toEqual(['costs', 'table'])
    expect(blocksOf('2-ranks').sort()).toEqual(['costs', 'table'])
    expect(blocksOf('primitives').sort()).toEqual(['fft', 'vectors'])
    expect(blocksOf('webgpu-api')).toEqual(['calls'])
  })
  it('of two ranks stand in blocks of their own', () => {
    const ofTwo = { ...ranks, ranks: 2 }
    const text =
      '<!-- ranks:table -->\nfour\n<!-- /ranks -->\n<!-- 2-ranks:table -->\ntwo\n<!-- /2-ranks -->\n'
    const written = withFigures(text, ofTwo, ranksPath)
    expect(written).toContain('<!-- ranks:table -->\nfour\n<!-- /ranks -->')
    expect(written).toContain('2 processes of one GPU each')
    expect(written).not.toMatch(/\ntwo\n/)
  })
  it('name what no check stands behind, and leave out what was not measured on both sides', () => {
    const unverified = table.ours.map((r: object) => ({ ...r, verified: false }))
    const written = figures('highlights', { ...table, ours: unverified }, path)
    expect(written.match(/\(not verified\)/g)).toHaveLength(7)
    expect(figures('highlights', { ...table, peers: [] }, path)).not.toContain('PyTorch')
  })
  it('of primitives have each peer with its time over Tandem’s', () => {
    const figure = { work: 'scan f32', elements: 2 ** 28, devices: 1 }
    const results = [
      { ...figure, by: 'Tandem', seconds: 800e-6 },
      { ...figure, by: 'CUB', seconds: 720e-6 },
      { ...figure, by: 'Tandem', devices: 4, seconds: 210e-6 },
    ]
    const measured = {
      kind: 'primitives',
      date: '2026-11-23',
      commit: 'abc',
      machine: 'One GPU',
      results,
    } as const
    expect(figures('vectors', measured, 'x.json')).toBe(`One GPU, 2026-11-23, commit abc; from \`x.json\`.

| work | elements | GPUs | Tandem | 10⁹ elements/s | peer: its time, and over Tandem’s |
|---|---|---|---|---|---|
| scan f32 | 2²⁸ | 1 | 800 µs | 335.5 | CUB 720 µs: 0.90 |`)
    expect(figures('several', measured, 'x.json')).toContain('| scan f32 | 2²⁸ | 4 | 210 µs | 1278.3 |')
  })
  it('change with the table', () => {
    const other = { ...table, ours: table.ours.map((r: { rate: number }) => ({ ...r, rate: r.rate * 2 })) }
    expect(figures('highlights', other, path)).not.toBe(figures('highlights', table, path))
    expect(() => figures('none', table, path)).toThrow(/no figures named none/)
  })
})
