// Compiles the kernels of @tandem-gpu/algorithms to PTX with nvcc, into packages/backend-cuda/prebuilds/kernels.json.gz, so that a machine
// with a driver and no NVRTC runs them: `node tools/ship-kernels/ship-kernels.ts [--nvcc PATH]`, after `npm run build`; `npm pack` and
// `npm publish` of that package run it first. Without nvcc it says so and leaves the file as it is. Takes a minute or two; kernels whose
// source has not changed are taken from the last file.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { jacobiSources, matmulSources, reductionSources, transposeSources } from '@tandem-gpu/algorithms'
import { shippedKernelKey } from '@tandem-gpu/backend-cuda'
import { emitCuda, lower, parseWgsl } from '@tandem-gpu/wgsl'

const run = promisify(execFile)
const target = fileURLToPath(
  new URL('../../packages/backend-cuda/prebuilds/kernels.json.gz', import.meta.url),
)
/** Oldest architecture that nvcc 13 compiles for. */
const oldest = 75
/** From here on kernels with asynchronous copies are packed once more. */
const asynchronous = 80
/** Drivers 525 (CUDA 12.0) take PTX 8.0; nvcc writes its own newest version, which older drivers reject. */
const ptxVersions = ['6.3', '7.0', '7.8', '8.0']

await main()

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { nvcc: { type: 'string' } } })
  const nvcc =
    values.nvcc === undefined
      ? ((await finds('nvcc')) ?? (await finds('/usr/local/cuda/bin/nvcc')))
      : await finds(values.nvcc)
  if (nvcc === undefined) {
    console.error(
      existsSync(target)
        ? 'nvcc is not found: the kernels that it compiled last stay packed. Those that have changed since need NVRTC.'
        : 'nvcc is not found: no kernels are packed, and machines without NVRTC cannot run the algorithms.',
    )
    return
  }
  const sources = [...transposeSources(), ...reductionSources(), ...matmulSources(), ...jacobiSources()]
  const before = existsSync(target)
    ? (JSON.parse(gunzipSync(readFileSync(target)).toString()) as Record<string, string>)
    : {}
  const packed: Record<string, string> = {}
  const folder = mkdtempSync(join(tmpdir(), 'tandem-ptx-'))
  let compiled = 0
  const work = sources.map(
    ({ label = 'kernel', wgsl, entryPoint, constants = {}, bounds = 'clamp' }) =>
      async () => {
        const module = lower(parseWgsl(wgsl, { label }), { entryPoint, constants })
        const { source } = emitCuda(module, { bounds, label })
        const architectures = source.includes('async_copy(') ? [oldest, asynchronous] : [oldest]
        for (const architecture of architectures) {
          const key = shippedKernelKey(source, architecture === asynchronous)
          if (before[key] === undefined) compiled += 1
          packed[key] = before[key] ?? (await compile(nvcc, join(folder, key), source, label, architecture))
        }
      },
  )
  try {
    await Promise.all(
      Array.from({ length: availableParallelism() }, async () => {
        for (let next = work.shift(); next !== undefined; next = work.shift()) await next()
      }),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const sorted = Object.fromEntries(Object.entries(packed).sort(([a], [b]) => (a < b ? -1 : 1)))
  const file = gzipSync(JSON.stringify(sorted), { level: 9 })
  writeFileSync(`${target}.new`, file)
  renameSync(`${target}.new`, target)
  console.error(
    `${sources.length} kernels (${compiled} compiled now), ${(file.length / 1024).toFixed(0)} KiB`,
  )
}

/** PTX that says the oldest version in which ptxas finds everything it uses. */
async function compile(
  nvcc: string,
  path: string,
  source: string,
  label: string,
  architecture: number,
): Promise<string> {
  writeFileSync(`${path}.cu`, source)
  await run(nvcc, ['-ptx', `-arch=compute_${architecture}`, '-std=c++17', `${path}.cu`, '-o', `${path}.ptx`])
  const ptx = readFileSync(`${path}.ptx`, 'utf8').replace(/^\/\/.*\n/gm, '')
  const ptxas = nvcc.replace(/nvcc$/, 'ptxas')
  for (const version of ptxVersions) {
    const lowered = ptx.replace(/^\.version .*$/m, `.version ${version}`)
    writeFileSync(`${path}.ptx`, lowered)
    const accepted = await run(ptxas, [
      '--gpu-name',
      `sm_${architecture}`,
      `${path}.ptx`,
      '-o',
      '/dev/null',
    ]).then(
      () => true,
      () => false,
    )
    if (accepted) return lowered
  }
  throw new Error(
    `Kernel '${label}' needs PTX above ${ptxVersions.at(-1)}, which drivers below CUDA 12.1 reject.`,
  )
}

async function finds(nvcc: string): Promise<string | undefined> {
  return run(nvcc, ['--version']).then(
    () => nvcc,
    () => undefined,
  )
}
