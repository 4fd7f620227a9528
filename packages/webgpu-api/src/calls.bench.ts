/*
 * Compares Tandem's WebGPU API with npm `webgpu` (Dawn over Vulkan) on the same GPU. Both run the same
 * TypeScript, in processes that take turns.
 *
 *   node packages/webgpu-api/src/calls.bench.ts [FILE for the JSON, MACHINE and COMMIT that it names]
 *
 * Prints a table of medians with the ratio to Dawn, then the cost of 20,000 buffers that are never destroyed
 * and of an endless kernel. Needs npm `webgpu`, @jax-js/jax, and a Vulkan loader (set VK_DRIVER_FILES if it
 * finds no driver). Takes about 90 s.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const sides = ['tandem', 'dawn'] as const
type Side = (typeof sides)[number]
interface Measured {
  readonly name?: string
  readonly microseconds: Readonly<Record<string, number>>
  readonly milliseconds: Readonly<Record<string, number>>
  readonly submitsPerStep: number
}
interface Started {
  readonly milliseconds: number
  readonly withOpening: number
  readonly modules: number
  readonly sums: readonly (number | null)[]
}

const script = fileURLToPath(new URL('testing-bench-work.ts', import.meta.url))

/** Runs the work in its own process, with the disk caches of Tandem and of NVIDIA's driver in `folder`. */
function work<R>(side: Side, what: string, folder: string): R {
  const caches = {
    HOME: folder,
    XDG_CACHE_HOME: join(folder, 'cache'),
    CUDA_CACHE_PATH: join(folder, 'cuda'),
    __GL_SHADER_DISK_CACHE: '1',
    __GL_SHADER_DISK_CACHE_PATH: folder,
  }
  const output = execFileSync(process.execPath, [script, side, what, join(folder, 'kernels')], {
    env: { ...process.env, ...caches },
    timeout: 60_000,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = output.toString().trim().split('\n').at(-1)!
  return JSON.parse(line) as R
}

function inFolder<R>(body: (folder: string) => R): R {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-webgpu-api-'))
  try {
    return body(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const samples: Record<string, Record<Side, number[]>> = {}
const sample = (name: string, side: Side, value: number) => {
  samples[name] ??= { tandem: [], dawn: [] }
  samples[name][side].push(value)
}

const names = {} as Record<Side, string>
const wrong: string[] = []
const startSums = {} as Record<Side, readonly (number | null)[]>

// Each side goes first equally often.
const turns: readonly Side[] = ['tandem', 'dawn', 'dawn', 'tandem', 'tandem', 'dawn']
inFolder((folder) => {
  for (const side of turns) {
    const { name, microseconds, milliseconds, submitsPerStep } = work<Measured>(side, 'calls', folder)
    names[side] = name ?? ''
    for (const [what, value] of Object.entries(microseconds)) sample(what, side, value)
    for (const [what, value] of Object.entries(milliseconds)) sample(what, side, value * 1000)
    sample('submits a training step', side, submitsPerStep)
  }
})
for (const side of turns.slice(0, 4)) {
  inFolder((folder) => {
    for (const time of ['first', 'second']) {
      const { milliseconds, withOpening, sums } = work<Started>(side, 'start', folder)
      sample(`${time} start of 21 jax-js operations`, side, milliseconds * 1000)
      sample(`${time} start, with opening the device`, side, withOpening * 1000)
      startSums[side] = sums
    }
  })
}
for (const [i, sum] of startSums.tandem.entries()) {
  const other = startSums.dawn[i]
  if (sum === null || other == null || Math.abs(sum - other) > 1e-3 * Math.max(1, Math.abs(other)))
    wrong.push(`operation ${i + 1} of jax-js sums to ${sum}, and to ${other} with Dawn`)
}

const median = (values: readonly number[]) => [...values].sort((p, q) => p - q)[values.length >> 1]!
const rows = Object.entries(samples).map(([name, { tandem, dawn }]) => {
  const [ours, theirs] = [median(tandem), median(dawn)]
  return { name, tandem: ours, dawn: theirs, ratio: ours / theirs, samples: { tandem, dawn } }
})

console.log(`tandem: ${names.tandem}\ndawn: ${names.dawn}`)
console.log(`${'microseconds'.padEnd(50)}    tandem       dawn   ratio`)
for (const { name, tandem, dawn, ratio } of rows)
  console.log(
    `${name.padEnd(50)}${tandem.toFixed(1).padStart(10)} ${dawn.toFixed(1).padStart(10)} ${ratio.toFixed(3).padStart(7)}`,
  )

const safety = inFolder((folder) => ({
  dropped: work<Record<string, number>>('tandem', 'drop', folder),
  endless: work<Record<string, unknown>>('tandem', 'endless', folder),
}))
console.log(`20,000 buffers dropped: ${JSON.stringify(safety.dropped)}`)
console.log(`endless kernel: ${JSON.stringify(safety.endless)}`)
const { before, after, createdMebibytes } = safety.dropped as Record<string, number>
if (after! - before! > createdMebibytes! / 10) wrong.push('the memory of dropped buffers does not come back')
if (safety.endless.right !== true) wrong.push('an endless kernel costs more than its GPUDevice')
for (const sentence of wrong) console.log(`WRONG: ${sentence}`)

const [, , path, machine = names.tandem, commit = 'unknown'] = process.argv
const head = { schema: 1, kind: 'webgpu-api', date: new Date().toISOString(), machine, commit }
const json = JSON.stringify({ ...head, node: process.version, names, rows, safety, wrong }, null, 1)
if (path !== undefined) writeFileSync(path, `${json}\n`)
process.exitCode = wrong.length > 0 ? 1 : 0
