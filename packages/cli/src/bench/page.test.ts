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

const copy: BenchResult = { ...result(1, 1, 1e10), work: 'copy', shape: { elements: 2 ** 27 } }
const document: BenchDocument = {
  schema: 1,
  kind: 'bench',
  date: '2026-01-01T00:00:00Z',
  commit: '<abc>',
  machine: {},
  ours: [result(1, 1024, 1e9), result(1, 2048, 4e9), result(2, 2048, 8e9)],
  peers: [result(1, 2048, 2e9, 'A & B'), result(2, 2048, 4e9, 'A & B')],
  limits: [copy],
}

const figuresOf = (page: string) =>
  page
    .split('<figure>')
    .slice(1)
    .map((part) => part.split('</figure>')[0]!)

it('draws ours, the peers and the limit together, a plot for each number of devices', async () => {
  const page = await benchPage(document)
  const [one, two] = figuresOf(page)
  expect(figuresOf(page)).toHaveLength(2)
  // Two sizes give a line per series; one size gives bars.
  expect(one).toContain('<h3>1 device</h3>')
  expect(one!.match(/aria-label="line"/g)).toHaveLength(2)
  expect(one).toContain('1024²')
  expect(one).toContain('>limit<')
  expect(two).toContain('<h3>2 devices, 2048²</h3>')
  expect(two!.match(/<rect /g)!.length).toBeGreaterThanOrEqual(2)
  expect(page).toContain('limit: copies within devices and between them')
  expect(page).toContain('A &#38; B')
  expect(page).toContain(
    'Tandem reaches 8 GB/s for 2048² on 2 devices: 40 % of the limit that copies set (20 GB/s), 2 times A &#38; B.',
  )
})

it('uses copies between devices as the limit of a transpose if they are slower', async () => {
  const link: BenchResult = { ...copy, work: 'peer-copy', devices: 2, rate: 1e9 }
  const page = await benchPage({ ...document, limits: [copy, link] })
  // 2 · 2² / (2 − 1) times the rate of the link.
  expect(page).toContain(
    'Tandem reaches 8 GB/s for 2048² on 2 devices: 100 % of the limit that copies set (8 GB/s), 2 times',
  )
})

it('draws no limit that is far beyond all figures, and says which share of it is reached', async () => {
  const far = { ...document, limits: [{ ...copy, rate: 1e13 }], ours: [result(1, 1024, 7e10)], peers: [] }
  const page = await benchPage(far)
  expect(page).toContain('0.7 % of the limit that copies set (10,000 GB/s)')
  expect(page).not.toContain('stroke-dasharray="1 3"')
  expect(page).toContain('<summary>The measurement</summary>')
})

it('says in a sentence what was measured, and escapes markup of the document', async () => {
  const adapters = [
    { name: 'H200', driver: '580' },
    { name: 'H200', driver: '580' },
  ]
  const machine = { adapters, backend: 'cuda', node: 'v24.1.0', platform: 'linux-x64' }
  const page = await benchPage({ ...document, machine })
  expect(page).toContain(
    'Measured on 2026-01-01 on 2 × H200 (driver 580), backend cuda, linux-x64, Node 24.1.0, commit &#60;abc&#62;.',
  )
  expect(page).not.toMatch(/\{&#34;/)
  expect(page).not.toMatch(/https?:\/\/(?!www\.w3\.org)|src=|href=/)
})

it('draws every series in a different colour, and peers with dashes', async () => {
  const ours = Array.from({ length: 12 }, (_, i) => result(1, 1024, (i + 1) * 1e9, `tandem ${i}`))
  const peers = [result(1, 1024, 1.062e13, 'A peer with quite a long name')]
  const page = await benchPage({ ...document, ours, peers })
  const keys = [...page.match(/<ul class="legend">.*?<\/ul>/s)![0].matchAll(/stroke="([^"]+)"([^/]*)\/>/g)]
  expect(keys).toHaveLength(14)
  expect(new Set(keys.map(([, color]) => color)).size).toBe(14)
  expect(keys[12]![2]).toContain('stroke-dasharray')
})

it('writes figures without exponents, and plots nothing that is not a number', async () => {
  const page = await benchPage({ ...document, ours: [result(1, 1024, 1.062e13)], peers: [] })
  expect(page).toContain('<td>10.6</td>')
  expect(page).toContain('TB/s')
  expect(page).not.toMatch(/\de[+-]\d|NaN|Infinity|undefined/)
  const nothing = await benchPage({ ...document, ours: [result(1, 1024, 0)], peers: [], limits: [] })
  expect(nothing).not.toMatch(/NaN|Infinity|undefined|<figure>/)
})
