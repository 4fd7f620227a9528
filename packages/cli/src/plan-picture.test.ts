import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tandem } from './testing/tandem.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

it('--plan draws the recorded program: a box for each command, a line for each wait', async () => {
  const folder = await temporaryFolder()
  const line = `transpose --rows 8 --cols 6 --devices 2 --virtual --transport copy --backend webgpu --plan ${folder}`
  expect(await tandem(`${line}/plan.svg`)).toMatchObject({ exit: 0, stderr: '' })
  expect(await tandem(`${line}/plan.txt`)).toMatchObject({ exit: 0 })
  const svg = await readFile(join(folder, 'plan.svg'), 'utf8')
  const text = await readFile(join(folder, 'plan.txt'), 'utf8')
  // Two local tiles, two copies, and the transposes of the copies.
  expect(svg.match(/<g><title>/g)).toHaveLength(6)
  // Lines pass behind opaque boxes, and a key explains the picture.
  expect(svg.lastIndexOf('<path ')).toBeLessThan(svg.indexOf('<g><title>'))
  expect(svg.match(/<rect class="paper"/g)).toHaveLength(6)
  const [key] = svg.match(/<g class="key">.*<\/g>/)!
  expect([...key.matchAll(/>([^<]+)<\/text>/g)].map(([, text]) => text)).toEqual([
    ...['dispatch', 'copy', 'waits for', 'waits for the previous repetition'],
  ])
  expect(svg).toContain('>device 1</text>')
  expect(svg).not.toMatch(/NaN|undefined|Infinity/)
  // Programs that do not know the system colours of CSS, such as librsvg, take the colours before them.
  for (const colours of [/ color: black; color: CanvasText;/, /background: white; background: Canvas;/])
    expect(svg).toMatch(colours)
  expect(svg).toContain('.paper { fill: white; fill: Canvas;')
  expect(text).toContain('copy tile')
  const waits = [...text.matchAll(/after ([\d, ]+)/g)].length
  expect(svg.match(/<path /g)!.length).toBeGreaterThanOrEqual(Math.max(2, waits))
})

it('draws the wait of a command for its own previous run as a loop beside the box', async () => {
  const folder = await temporaryFolder()
  await tandem(
    `transpose --rows 8 --cols 6 --devices 2 --virtual --transport direct --backend webgpu --plan ${folder}/plan.svg`,
  )
  const svg = await readFile(join(folder, 'plan.svg'), 'utf8')
  const ends = [...svg.matchAll(/class="previous" d="M([\d.]+) ([\d.]+) C.* ([\d.]+) ([\d.]+)"/g)]
  const loops = ends.map((match) => match.slice(1).map(Number)).filter(([x1, , x2]) => x1 === x2)
  expect(loops).toHaveLength(4)
  for (const [, y1, , y2] of loops) expect(y2! - y1!).toBeGreaterThan(10)
})

it('refuses a program that is too long for a picture', async () => {
  const folder = await temporaryFolder()
  const { exit, stderr } = await tandem(
    `transpose --rows 99 --cols 99 --devices 24 --transport copy --backend webgpu --plan ${folder}/plan.svg`,
  )
  expect([exit, stderr]).toEqual([2, expect.stringMatching(/commands.*--plan plan\.txt/)])
})
