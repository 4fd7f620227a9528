import { expect, it } from 'vitest'
import type { BenchDocument, BenchResult } from './document.ts'
import { benchPage } from './page.ts'

const result = (devices: number, side: number, rate: number, variant = 'tandem cuda'): BenchResult => ({
  work: 'transpose',
  variant,
  devices,
  shape: { rows: side, columns: side },
  seconds: 1,
  rate,
  unit: 'B/s',
  verified: true,
})

const document: BenchDocument = {
  schema: 1,
  kind: 'bench',
  date: '2026-01-01',
  commit: '<abc>',
  machine: {},
  ours: [result(1, 1024, 1e9), result(1, 2048, 4e9), result(2, 2048, 8e9)],
  peers: [result(1, 2048, 2e9, 'A & B')],
}

it('plots our results and those of the peers over sizes, and over numbers of devices where there are several', () => {
  const page = benchPage(document)
  expect(page.match(/<figure>/g)).toHaveLength(2)
  const [bySize, byDevices] = page
    .split('<figure>')
    .slice(1)
    .map((part) => part.split('</figure>')[0]!)
  expect(bySize!.match(/<polyline /g)).toHaveLength(3)
  expect(byDevices!.match(/<polyline /g)).toHaveLength(1)
  expect(bySize).toContain('A &#38; B, 1 ×')
  expect(bySize).toContain('2^20')
  expect(page).toContain('<dd>&#60;abc&#62;</dd>')
  expect(page.match(/<tr><td>/g)).toHaveLength(4)
})

it('plots no value that is not a number', () => {
  expect(benchPage(document)).not.toMatch(/NaN|Infinity|undefined/)
  expect(benchPage({ ...document, ours: [result(1, 1024, 0)], peers: [] })).not.toMatch(
    /NaN|Infinity|undefined/,
  )
})

it('draws every series in a style of its own, peers dashed, and names each below the plot', () => {
  const ours = Array.from({ length: 25 }, (_, i) => result(1, 1024, (i + 1) * 1e9, `tandem ${i}`))
  const page = benchPage({
    ...document,
    ours,
    peers: [result(1, 1024, 1.062e13, 'A peer with quite a long name')],
  })
  const styles = [...page.matchAll(/<polyline [^>]*(stroke="[^>]*)\/>/g)].map(([, style]) => style)
  expect(new Set(styles).size).toBe(26)
  expect(styles.at(-1)).toContain('stroke-dasharray')
  expect(page.match(/<figcaption>.*?<\/figcaption>/s)![0].match(/<span>/g)).toHaveLength(26)
})

it('writes numbers without exponents, and the machine as words', () => {
  const adapters = [
    { name: 'H200', driver: '580' },
    { name: 'H200', driver: '580' },
  ]
  const page = benchPage({
    ...document,
    machine: { adapters, node: 'v24' },
    ours: [result(1, 1024, 1.062e13)],
  })
  expect(page).toContain('<td>10,620</td>')
  expect(page).not.toMatch(/\de[+-]\d/)
  expect(page).toContain('<dt>devices</dt><dd>2 × H200 (driver 580)</dd>')
  expect(page).not.toContain('{&#34;')
})
