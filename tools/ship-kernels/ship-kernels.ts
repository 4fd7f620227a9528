// Compiles the kernels of @tandem-gpu/algorithms to PTX with nvcc, into
// packages/backend-cuda/prebuilds/kernels.json.gz, so that they run on machines with a driver but without
// NVRTC: `node tools/ship-kernels/ship-kernels.ts [--nvcc PATH]`, after `npm run build`; `npm pack` and `npm
// publish` of that package run it first. Fails without nvcc, so that a package without its kernels is not
// published by accident. Takes two minutes on two cores; outputs are kept in packages/backend-cuda/.cache, by
// source and nvcc release.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { mayBeMiscompiled, mayBeWrong } from '../../packages/backend-cuda/src/machine-code.ts'
import { findNvcc, run } from './nvcc.ts'
import { architectures, type ShippedSource, shippedSources } from './shipped-sources.ts'

const packageFolder = fileURLToPath(new URL('../../packages/backend-cuda/', import.meta.url))
const target = join(packageFolder, 'prebuilds/kernels.json.gz')
/** Drivers 525 (CUDA 12.0) accept PTX 8.0; nvcc writes its own newest version, which older drivers reject. */
const ptxVersions = ['6.3', '7.0', '7.8', '8.0']

await main()

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { nvcc: { type: 'string' } } })
  const candidates = values.nvcc === undefined ? ['nvcc', '/usr/local/cuda/bin/nvcc'] : [values.nvcc]
  const found = await findNvcc(candidates)
  if (found === undefined) {
    console.error(
      `nvcc is not found (${candidates.join(', ')}), so the kernels of the algorithms cannot be packed. ` +
        'Install the CUDA toolkit 12.0 or newer, or make a package for tests with `npm run pack -- --without-kernels`.',
    )
    process.exitCode = 1
    return
  }
  const cache = join(packageFolder, '.cache/ptx', found.release)
  mkdirSync(cache, { recursive: true })
  const sources = shippedSources()
  const packed: Record<string, string> = {}
  let compiled = 0
  let done = 0
  const work = [...sources]
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let source = work.shift(); source !== undefined; source = work.shift()) {
        const path = join(cache, `${source.key}.ptx`)
        if (!existsSync(path)) {
          const ptx = await compile(found.nvcc, path, source)
          writeFileSync(`${path}.new`, ptx)
          renameSync(`${path}.new`, path)
          compiled += 1
        }
        packed[source.key] = readFileSync(path, 'utf8')
        done += 1
        showProgress(done, sources.length)
      }
    }),
  )
  const sorted = Object.fromEntries(Object.entries(packed).sort(([a], [b]) => (a < b ? -1 : 1)))
  const file = gzipSync(JSON.stringify(sorted), { level: 9 })
  mkdirSync(join(packageFolder, 'prebuilds'), { recursive: true })
  writeFileSync(`${target}.new`, file)
  renameSync(`${target}.new`, target)
  const names = architectures.map((architecture) => `sm_${architecture}`).join(' and ')
  console.error(
    `${Object.keys(sorted).length} kernels for ${names} (${compiled} compiled now, nvcc ${found.release}), ${(file.length / 1024).toFixed(0)} KiB`,
  )
}

/** One line on a terminal; elsewhere a line for every tenth. */
function showProgress(done: number, total: number): void {
  if (process.stderr.isTTY)
    process.stderr.write(`\rkernels: ${done} of ${total}${done === total ? '\n' : ''}`)
  else if (Math.floor((done * 10) / total) > Math.floor(((done - 1) * 10) / total))
    process.stderr.write(`kernels: ${done} of ${total}\n`)
}

/** Returns PTX that states the oldest version in which ptxas supports everything it uses. */
async function compile(
  nvcc: string,
  path: string,
  { source, label, architecture }: ShippedSource,
): Promise<string> {
  const [input, output] = [`${path}.cu`, `${path}.out`]
  writeFileSync(input, source)
  await run(nvcc, ['-ptx', `-arch=compute_${architecture}`, '-std=c++17', input, '-o', output])
  const ptx = readFileSync(output, 'utf8').replace(/^\/\/.*\n/gm, '')
  const ptxas = nvcc.replace(/nvcc$/, 'ptxas')
  for (const version of ptxVersions) {
    const lowered = ptx.replace(/^\.version .*$/m, `.version ${version}`)
    writeFileSync(output, lowered)
    // Only tests whether it is accepted, so without optimization.
    const accepted = await run(ptxas, [
      '-O0',
      '--gpu-name',
      `sm_${architecture}`,
      output,
      '-o',
      '/dev/null',
    ]).then(
      () => true,
      () => false,
    )
    if (!accepted) continue
    await checkCode(ptxas, output, label)
    return lowered
  }
  throw new Error(
    `Kernel '${label}' needs PTX above ${ptxVersions.at(-1)}, which drivers below CUDA 12.1 reject.`,
  )
}

/** Throws if nvcc may have written wrong PTX, or if drivers may miscompile it. */
async function checkCode(ptxas: string, file: string, label: string): Promise<void> {
  const ptx = readFileSync(file, 'utf8')
  if (mayBeWrong(ptx))
    throw new Error(`Kernel '${label}' has loads or products of small integers that nvcc may get wrong.`)
  for (const architecture of ['sm_90', 'sm_100']) {
    const cubin = `${file}.cubin`
    await run(ptxas, ['--gpu-name', architecture, file, '-o', cubin])
    if (mayBeMiscompiled({ ptx, cubin: readFileSync(cubin) }, architecture))
      throw new Error(
        `Kernel '${label}' uses signed integers, conditions or workgroup memory in a way that drivers may miscompile.`,
      )
  }
}
