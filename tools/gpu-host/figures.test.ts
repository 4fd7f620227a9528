import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { documents, figures, withFigures } from './figures.ts'

const root = new URL('../../', import.meta.url)
const tableOf = (name: string) => {
  const path = `docs/measurements/${name}.json`
  return { path, table: JSON.parse(readFileSync(new URL(path, root), 'utf8')) }
}
const { path, table } = tableOf('2026-11-21-4xh200-table')
const { table: ranks, path: ranksPath } = tableOf('2026-11-28-4xh100-ranks')
const textOf = (document: string) => readFileSync(new URL(document, root), 'utf8')
const blocksOf = (kind: string) =>
  documents.flatMap((document) =>
    [...textOf(document).matchAll(new RegExp(`<!-- ${kind}:([\\w-]+) -->`, 'g'))].map(([, name]) => name!),
  )

describe('the figures in the documents', () => {
  it.each([
    '2026-11-21-4xh200-table',
    '2026-11-22-4xh200-tensor-table',
    '2026-11-22-2xh200-ranks',
    '2026-11-24-h200-primitives',
    '2026-11-28-4xh200-primitives',
    '2026-11-28-4xh100-ranks',
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
    expect(blocksOf('several-primitives')).toEqual(['several'])
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
  })
  it('of primitives on several GPUs have the time of one and the ratio', () => {
    const figure = (work: string, elements: number, devices: number, seconds: number) => ({
      work,
      by: 'Tandem',
      elements,
      devices,
      seconds,
    })
    const results = [
      figure('scan f32', 2 ** 30, 1, 3e-3),
      { work: 'scan f32', by: 'CUB', elements: 2 ** 30, devices: 1, seconds: 2.8e-3 },
      figure('histogram f32 even', 2 ** 28, 1, 281e-6),
      { work: 'fft 1024³', by: 'Tandem', elements: 2 ** 30, devices: 1, impossible: 'out-of-memory' },
      figure('scan f32', 2 ** 30, 4, 800e-6),
      figure('histogram f32 even', 2 ** 28, 4, 75.2e-6),
      figure('fft 1024³', 2 ** 30, 4, 9e-3),
      { ...figure('scan f32', 2 ** 30, 4, 850e-6), transport: 'ipc' },
      { work: 'sort u32', by: 'Tandem', elements: 2 ** 30, devices: 4, impossible: 'unsupported' },
    ]
    const measured = {
      kind: 'primitives',
      date: '2026-11-23',
      commit: 'abc',
      machine: 'Four GPUs',
      results,
    } as const
    const text =
      '<!-- primitives:vectors -->\none\n<!-- /primitives -->\n<!-- several-primitives:several -->\nfour\n<!-- /several-primitives -->\n'
    expect(withFigures(text, measured, 'x.json')).toBe(`<!-- primitives:vectors -->
one
<!-- /primitives -->
<!-- several-primitives:several -->
Four GPUs, 2026-11-23, commit abc; from \`x.json\`.

| work | elements | GPUs | one GPU | these GPUs | ratio |
|---|---|---|---|---|---|
| scan f32 | 2³⁰ | 4 | 3,000 µs | 800 µs | 3.75 |
| histogram f32 even | 2²⁸ | 4 | 281 µs | 75.2 µs | 3.74 |
| fft 1024³ | 2³⁰ | 4 | out-of-memory | 9,000 µs |  |
| scan f32 | 2³⁰ | 4, \`ipc\` | 3,000 µs | 850 µs | 3.53 |
| sort u32 | 2³⁰ | 4 |  | unsupported |  |
<!-- /several-primitives -->
`)
  })
  it('change with the table', () => {
    const other = { ...table, ours: table.ours.map((r: { rate: number }) => ({ ...r, rate: r.rate * 2 })) }
    expect(figures('highlights', other, path)).not.toBe(figures('highlights', table, path))
    expect(() => figures('none', table, path)).toThrow(/no figures named none/)
  })
})
