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
  expect(page.match(/<svg /g)).toHaveLength(2)
  const [bySize, byDevices] = page
    .split('<svg ')
    .slice(1)
    .map((part) => part.split('</svg>')[0]!)
  expect(bySize!.match(/<polyline /g)).toHaveLength(3)
  expect(byDevices!.match(/<polyline /g)).toHaveLength(1)
  expect(bySize).toContain('A &#38; B, 1 ×')
  expect(bySize).toContain('2^20')
  expect(page).toContain('commit &#60;abc&#62;')
  expect(page.match(/<tr><td>/g)).toHaveLength(4)
})

it('plots no value that is not a number', () => {
  expect(benchPage(document)).not.toMatch(/NaN|Infinity|undefined/)
  expect(benchPage({ ...document, ours: [result(1, 1024, 0)], peers: [] })).not.toMatch(
    /NaN|Infinity|undefined/,
  )
})
