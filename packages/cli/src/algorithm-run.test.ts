import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Report } from '@tandem-gpu/algorithms'
import { expect, it } from 'vitest'
import { type AlgorithmRun, comparisonLine, runAlgorithm } from './algorithm-run.ts'
import type { CommandContext } from './command.ts'
import { recordedTerminal } from './terminal.ts'
import { testBackend } from './testing/tandem.ts'
import { temporaryFolder } from './testing/temporary-folder.ts'

const report: Report = {
  algorithm: 'guess',
  backend: testBackend,
  adapter: 'a GPU',
  software: true,
  devices: 1,
  deviceNames: ['a GPU'],
  schedule: 'overlapped',
  shape: { elements: 1 },
  checked: true,
  verified: true,
  verification: 'compared with nothing',
  maxError: 0,
  seconds: 1,
  clock: 'host',
  rate: 1,
  unit: 'GB/s',
  notes: [],
}

const options = {
  backend: testBackend as 'webgpu',
  by: 'index',
  schedule: 'overlapped',
  verify: true,
  samples: 1,
  seed: 1,
  json: true,
} as const

/** Writes `x` into a file, then returns the given report. */
async function runWriting(path: string, outcome: Partial<Report> | Error) {
  const terminal = recordedTerminal()
  const context: CommandContext = { terminal, commands: [], exit: 0 }
  const run: AlgorithmRun<Report, void> = {
    async prepare(files) {
      const file = await files.output(path, 'npy')
      await file.write('x')
    },
    async compute() {
      if (outcome instanceof Error) throw outcome
      return { ...report, ...outcome }
    },
    describe: () => [],
  }
  await runAlgorithm(context, options, run).catch(() => {})
  return { exit: context.exit, terminal }
}

it('a right answer writes its files', async () => {
  const folder = await temporaryFolder()
  const { exit, terminal } = await runWriting(join(folder, 'out'), {})
  expect(exit).toBe(0)
  expect(JSON.parse(terminal.stdout)).toMatchObject({ schema: 1, ...report })
  expect(await readdir(folder)).toEqual(['out'])
})

it('a wrong answer exits with 1, says so, and writes nothing', async () => {
  const folder = await temporaryFolder()
  const { exit, terminal } = await runWriting(join(folder, 'out'), { verified: false, maxError: 7 })
  expect(exit).toBe(1)
  expect(JSON.parse(terminal.stdout)).toMatchObject({ verified: false, maxError: 7 })
  expect(terminal.stderr).toMatch(/the result is wrong \(compared with nothing\), so no file was written/)
  expect(await readdir(folder)).toEqual([])
})

it('a failure writes nothing', async () => {
  const folder = await temporaryFolder()
  await runWriting(join(folder, 'out'), new Error('The device melts.'))
  expect(await readdir(folder)).toEqual([])
})

it.each([
  ['cuda', 'serial 3 ms, overlapped 2 ms; serial / overlapped = 1.5'],
  ['webgpu', 'serial 3 ms, overlapped 2 ms; serial / overlapped = 1.5 (WebGPU runs both in recorded order)'],
])('says which schedule is divided by which, on %s', (backend, text) => {
  const comparison = { serialSeconds: 0.003, overlappedSeconds: 0.002, speedUp: 1.5 }
  expect(comparisonLine({ comparison, backend })).toEqual([['schedules', text]])
})
