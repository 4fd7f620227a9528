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

describe('the figures in the documents', () => {
  it.each(documents)('%s quotes the measured table', (document) => {
    const text = readFileSync(new URL(document, root), 'utf8')
    expect(text).toContain('<!-- figures:')
    expect(withFigures(text, table, path)).toBe(text)
  })
  it.each(documents)('%s quotes the table of products on tensor cores', (document) => {
    const text = readFileSync(new URL(document, root), 'utf8')
    expect(text).toContain('<!-- tensor:')
    expect(withFigures(text, products, productsPath)).toBe(text)
    const other = {
      ...products,
      ours: products.ours.map((r: { rate: number }) => ({ ...r, rate: r.rate * 2 })),
    }
    expect(withFigures(text, other, productsPath)).not.toBe(text)
  })
  it.each(documents)('%s quotes the table of several processes', (document) => {
    const text = readFileSync(new URL(document, root), 'utf8')
    expect(text).toContain('<!-- ranks:')
    expect(withFigures(text, ranks, ranksPath)).toBe(text)
    const results = ranks.results.map((r: { seconds: number }) => ({ ...r, seconds: 2 * r.seconds }))
    expect(withFigures(text, { ...ranks, results }, ranksPath)).not.toBe(text)
  })
  it('docs/performance.md quotes the table of two processes', () => {
    const twoPath = 'docs/measurements/2026-11-22-2xh200-ranks.json'
    const two = JSON.parse(readFileSync(new URL(twoPath, root), 'utf8'))
    const text = readFileSync(new URL('docs/performance.md', root), 'utf8')
    expect(text).toContain('<!-- 2-ranks:')
    expect(withFigures(text, two, twoPath)).toBe(text)
  })
  it('of two ranks stand in blocks of their own, where no target is met or missed', () => {
    const two = { ...ranks, ranks: 2 }
    const text =
      '<!-- ranks:targets -->\nfour\n<!-- /ranks -->\n<!-- 2-ranks:targets -->\ntwo\n<!-- /2-ranks -->\n'
    const written = withFigures(text, two, ranksPath)
    expect(written).toContain('<!-- ranks:targets -->\nfour\n<!-- /ranks -->')
    expect(written).toContain('| work | measured with 2 GPUs | target for 4 |')
    const { seconds } = ranks.results.find(
      (r: { work: string; size: number; way: string }) =>
        r.work === 'jacobi' && r.size === 2048 && r.way === 'ipc',
    )
    const measured = (1e6 * seconds).toFixed(1)
    expect(written).toContain(`| Jacobi 2048², \`ipc\` | ${measured} | ≤ 6.5 µs |`)
    expect(written).not.toMatch(/yes|\*\*no|\ntwo\n/)
    expect(withFigures(text, ranks, ranksPath)).toContain(
      `| Jacobi 2048², \`ipc\` | ≤ 6.5 µs | ${measured} | yes |`,
    )
  })
  it('change with the table', () => {
    const other = { ...table, ours: table.ours.map((r: { rate: number }) => ({ ...r, rate: r.rate * 2 })) }
    expect(figures('highlights', other, path)).not.toBe(figures('highlights', table, path))
    expect(() => figures('none', table, path)).toThrow(/no figures named none/)
  })
})
