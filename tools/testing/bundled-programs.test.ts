import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { removeUnused } from '../../packages/wgsl/src/testing/kept-files.ts'
import { keptMilliseconds } from './bundled-programs.ts'

it('removes the programs that nobody has used for a day, and keeps the others', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-programs-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const hours = { old: 25, recent: 23, new: 0 }
  for (const [name, age] of Object.entries(hours)) {
    mkdirSync(join(folder, name, 'compiled'), { recursive: true })
    writeFileSync(join(folder, name, 'bin.mjs'), '')
    const time = Date.now() / 1000 - age * 3600
    utimesSync(join(folder, name), time, time)
  }
  removeUnused(folder, keptMilliseconds)
  expect(readdirSync(folder).sort()).toEqual(['new', 'recent'])
  removeUnused(join(folder, 'none'), keptMilliseconds)
})
