import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { documents, figures, withFigures } from './figures.ts'

const path = 'docs/measurements/2026-11-21-4xh200-table.json'
const root = new URL('../../', import.meta.url)
const table = JSON.parse(readFileSync(new URL(path, root), 'utf8'))
const productsPath = 'docs/measurements/2026-11-22-4xh200-tensor-table.json'
const products = JSON.parse(readFileSync(new URL(productsPath, root), 'utf8'))
const ranksPath = 'docs/measurements/2026-11-22-4xh200-ranks.json'
const ranks = JSON.parse(readFileSync(new URL(ranksPath, root), 'utf8'))

const twoPath = 'docs/measurements/2026-11-22-2xh200-ranks.json'
const two = JSON.parse(readFileSync(new URL(twoPath, root), 'utf8'))
const primitivesPath = 'docs/measurements/2026-11-23-h200-primitives.json'
const primitives = JSON.parse(readFileSync(new URL(primitivesPath, root), 'utf8'))
const textOf = (document: string) => readFileSync(new URL(document, root), 'utf8')
const blocksOf = (kind: string) =>
  documents.flatMap((document) =>
    [...textOf(document).matchAll(new RegExp(`<!-- ${kind}:([\\w-]+) -->`, 'g'))].map(([, name]) => name!),
  )
const twiceTheRates = (results: readonly { rate: number }[]) =>
  results.map((r) => ({ ...r, rate: r.rate * 2 }))

describe('the figures in the documents', () => {
  it.each([
    ['figures', table, path],
    ['tensor', products, productsPath],
    ['ranks', ranks, ranksPath],
    ['2-ranks', two, twoPath],
    ['primitives', primitives, primitivesPath],
  ])('of the kind %s are those of its table', (_, measured, measuredPath) => {
    for (const document of documents) {
      const text = textOf(document)
      expect(withFigures(text, measured, measuredPath), document).toBe(text)
    }
  })
  it('stand in a document each', () => {
    expect(blocksOf('figures').sort()).toEqual(['comparisons', 'highlights', 'ladder', 'webgpu'])
    const ofProducts = ['errors', 'f16', 'f32', 'highlights', 'same-gpu', 'several']
    expect(blocksOf('tensor').sort()).toEqual(ofProducts)
    expect(blocksOf('ranks').sort()).toEqual(['costs', 'table'])
    expect(blocksOf('2-ranks').sort()).toEqual(['costs', 'table'])
    expect(blocksOf('primitives').sort()).toEqual(['fft', 'vectors'])
  })
  it('of docs/performance.md change with each table, and those of README.md come from one', () => {
    const text = textOf('docs/performance.md')
    const others = [
      { ...table, ours: twiceTheRates(table.ours) },
      { ...products, ours: twiceTheRates(products.ours) },
      {
        ...ranks,
        results: ranks.results.map((r: { seconds: number }) => ({ ...r, seconds: 2 * r.seconds })),
      },
    ]
    const paths = [path, productsPath, ranksPath]
    for (const [i, other] of others.entries()) expect(withFigures(text, other, paths[i]!)).not.toBe(text)
    const readme = textOf('README.md')
    const changed = others.map((other, i) => withFigures(readme, other, paths[i]!) !== readme)
    expect(changed).toEqual([true, false, false])
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
  it('change with the table', () => {
    const other = { ...table, ours: table.ours.map((r: { rate: number }) => ({ ...r, rate: r.rate * 2 })) }
    expect(figures('highlights', other, path)).not.toBe(figures('highlights', table, path))
    expect(() => figures('none', table, path)).toThrow(/no figures named none/)
  })
})
