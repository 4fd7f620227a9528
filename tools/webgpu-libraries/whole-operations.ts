/*
 * Compares whole operations of libraries on Tandem's WebGPU API with npm `webgpu` (Dawn over Vulkan), in
 * processes that take turns:
 *
 *   node tools/webgpu-libraries/whole-operations.ts [FILE for the JSON]
 *
 * Prints medians in milliseconds. Needs the packages that `npm run test:libraries` installs, npm `webgpu`,
 * and a GPU with CUDA and Vulkan. Takes about 60 s.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Measured } from './whole-operations-work.ts'

type Side = 'cuda' | 'dawn'

const script = fileURLToPath(new URL('.cache/whole-operations-work.mjs', import.meta.url))
// The gradients of TensorFlow.js are modules that only a bundler can resolve.
await build({
  entryPoints: [fileURLToPath(new URL('whole-operations-work.ts', import.meta.url))],
  outfile: script,
  bundle: true,
  platform: 'node',
  format: 'esm',
  mainFields: ['module', 'main'],
  logLevel: 'error',
  // The bundle loads Node's modules with `require`.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
  },
  external: ['@tandem-gpu/*', '@jax-js/jax', 'onnxruntime-web', 'protobufjs', 'webgpu'],
})

function work(side: Side, library: string): Measured[] {
  const output = execFileSync(process.execPath, [script, library], {
    env: { ...process.env, TANDEM_TEST_BACKEND: side },
    timeout: 60_000,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(output.toString().trim().split('\n').at(-1)!) as Measured[]
}

interface Row {
  readonly milliseconds: Record<Side, number[]>
  readonly results: Record<Side, number[]>
}

const rows = new Map<string, Row>()
const wrong: string[] = []
// Balanced turns: both sides are first equally often.
for (const side of ['cuda', 'dawn', 'dawn', 'cuda'] as const) {
  for (const library of ['jax', 'tfjs', 'onnx']) {
    try {
      for (const { name, milliseconds, result } of work(side, library)) {
        const row = rows.get(name) ?? {
          milliseconds: { cuda: [], dawn: [] },
          results: { cuda: [], dawn: [] },
        }
        rows.set(name, row)
        row.milliseconds[side].push(...milliseconds)
        row.results[side].push(result)
      }
    } catch (error) {
      wrong.push(`${library} with ${side}: ${error instanceof Error ? error.message.split('\n')[0] : error}`)
    }
  }
}

const median = (values: readonly number[]) =>
  values.toSorted((p, q) => p - q)[values.length >> 1] ?? Number.NaN
console.log(`${'milliseconds'.padEnd(62)}  tandem    dawn   ratio`)
const table = [...rows].map(([name, { milliseconds, results }]) => {
  const [tandem, dawn] = [median(milliseconds.cuda), median(milliseconds.dawn)]
  const all = [...results.cuda, ...results.dawn]
  const apart = Math.max(...all) - Math.min(...all)
  if (!(apart <= 1e-2 * Math.max(1, Math.abs(all[0]!))))
    wrong.push(`${name}: the results are ${all.join(', ')}`)
  const numbers = [
    tandem.toFixed(2).padStart(8),
    dawn.toFixed(2).padStart(7),
    (tandem / dawn).toFixed(3).padStart(7),
  ]
  console.log(`${name.padEnd(62)}${numbers.join(' ')}`)
  return { name, tandem, dawn, ratio: tandem / dawn, samples: milliseconds, results }
})
for (const sentence of wrong) console.log(`WRONG: ${sentence}`)
if (process.argv[2] !== undefined)
  writeFileSync(process.argv[2], `${JSON.stringify({ node: process.version, table, wrong }, null, 1)}\n`)
process.exitCode = wrong.length > 0 ? 1 : 0
