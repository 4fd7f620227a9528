/*
 * Runs folders of WGSL kernels, or random ones, on a GPU and compares with the reference executor, to look for errors
 * of the translator and of NVIDIA's compilers.
 *
 *   node tools/gpu-host/kernel-batches.ts expect FOLDER...
 *   node tools/gpu-host/kernel-batches.ts run SECONDS FORMS FOLDER...
 *   node tools/gpu-host/kernel-batches.ts random SECONDS FORMS SEED
 *   node tools/gpu-host/kernel-batches.ts reduce SECONDS FORM FILE
 *
 * Each kernel, FOLDER/*.wgsl, says in its head how to run it (packages/wgsl/testdata/README.md). `expect` needs no
 * GPU: it writes the results of the reference executor to FOLDER/expected.json, and names the kernels that it
 * cannot run. `run` runs them on the first CUDA device in one process for each core, in each of FORMS (separated by
 * commas): `clamp`, `trap` and `unchecked` are the bounds, `indirect` is an indirect dispatch with `clamp` through the
 * WebGPU API, with bindings of parts of buffers whose other bytes must stay as they are, `min` and `max` are `clamp`
 * with NVRTC's options --Ofast-compile, as for kernels that take long to compile; `sm_75`, `sm_100` and so on are
 * `clamp` with the PTX that NVRTC writes for that architecture, which ptxas translates for this GPU. A file
 * FOLDER/FORMS has the forms of that folder. Prints a line for each kernel that differs, fails or takes more than 60 s
 * (its process is killed), writes them to $OUT/FOLDER.txt too, and starts none after SECONDS.
 *
 * `random` runs the kernels of random-sources.ts for SEED, SEED + 1 and so on, each in one of FORMS in turn, until
 * SECONDS are over, and writes those that differ, fail or take too long to $OUT/random.
 *
 * `reduce` prints the smallest kernel that it makes of FILE which differs in FORM and not in `max`.
 */
/// <reference types="@webgpu/types" />
import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { cuda } from '@tandem-gpu/backend-cuda'
import type { Backend } from '@tandem-gpu/core'
import type { Runtime } from '@tandem-gpu/core/backend'
import { referenceBackend, runKernelTest } from '@tandem-gpu/core/testing'
import { createGPU, install } from '@tandem-gpu/webgpu-api'
import { lower, parseWgsl, reflect } from '@tandem-gpu/wgsl'
import { compareBuffers, fillBuffer, parseKernelTest } from '@tandem-gpu/wgsl/testing'
import {
  type NativeAddon,
  type NvrtcOutcome,
  type NvrtcRequest,
  nativeAddon,
} from '../../packages/backend-cuda/src/native-addon.ts'
import { randomSource } from './random-sources.ts'
import { smallerSources } from './smaller-sources.ts'

type Bounds = Parameters<typeof runKernelTest>[3]
type Results = Record<string, string>
type Compile = (request: NvrtcRequest) => Promise<NvrtcOutcome>
interface Job {
  readonly folder: string
  readonly file: string
  readonly form: string
  /** The kernel follows from it; the folder is 'random'. */
  readonly seed?: number
  /** The kernel; the folder and the file only name it. */
  readonly source?: string
}

/** A kernel may take this long, its compilation included. */
const mostSeconds = 60

const [command, ...rest] = process.argv.slice(2)
if (command === 'expect' && rest.length > 0) for (const folder of rest) await expectResults(folder)
else if (command === 'run' && rest.length > 2) await runFolders(Number(rest[0]), rest[1]!, rest.slice(2))
else if (command === 'random' && rest.length === 3)
  await runRandom(Number(rest[0]), rest[1]!, Number(rest[2]))
else if (command === 'reduce' && rest.length === 3) await reduce(Number(rest[0]), rest[1]!, rest[2]!)
else if (command === 'work') await work()
else
  throw new Error(
    'usage: kernel-batches.ts expect FOLDER... | run SECONDS FORMS FOLDER... | random SECONDS FORMS SEED | reduce SECONDS FORM FILE',
  )

function kernelsOf(folder: string): string[] {
  return readdirSync(folder).filter((file) => file.endsWith('.wgsl'))
}

async function openFirst(backend: Backend<Runtime>): Promise<Runtime> {
  const { adapters, absence } = await backend.adapters()
  if (adapters[0] === undefined) throw new Error(absence?.reason)
  return backend.open([adapters[0]])
}

async function expectResults(folder: string): Promise<void> {
  const runtime = await openFirst(referenceBackend())
  const expected: Record<string, Results> = {}
  for (const file of kernelsOf(folder))
    try {
      expected[file] = await resultsOf(runtime, file, readFileSync(join(folder, file), 'utf8'))
    } catch (error) {
      console.log(`${file}: ${(error as Error).message.slice(0, 300)}`)
    }
  writeFileSync(join(folder, 'expected.json'), JSON.stringify(expected))
  await runtime.dispose()
  console.log(`${folder}: ${Object.keys(expected).length} kernels`)
}

async function resultsOf(runtime: Runtime, file: string, source: string): Promise<Results> {
  const results = await runKernelTest(runtime, file, source)
  return Object.fromEntries(
    Array.from(results, ([name, { bytes }]) => [name, Buffer.from(bytes).toString('base64')]),
  )
}

async function runFolders(seconds: number, defaultForms: string, folders: readonly string[]): Promise<void> {
  const jobs: Job[] = folders.flatMap((folder) => {
    const list = join(folder, 'FORMS')
    const forms = existsSync(list) ? readFileSync(list, 'utf8') : defaultForms
    return forms
      .trim()
      .split(/[\s,]+/)
      .flatMap((form) => kernelsOf(folder).map((file) => ({ folder, file, form })))
  })
  const wrong = await runAll(seconds, jobs.values())
  const { OUT } = process.env
  if (OUT === undefined) return
  mkdirSync(OUT, { recursive: true })
  for (const folder of folders) {
    const lines = wrong.filter(({ job }) => job.folder === folder).map(({ line }) => line)
    writeFileSync(join(OUT, `${basename(folder)}.txt`), lines.join('\n'))
  }
}

async function runRandom(seconds: number, forms: string, seed: number): Promise<void> {
  const wrong = await runAll(seconds, randomJobs(seconds, forms.split(','), seed))
  const { OUT } = process.env
  if (OUT === undefined) return
  const folder = join(OUT, 'random')
  mkdirSync(folder, { recursive: true })
  for (const { job, line } of wrong) {
    const { name, source } = randomSource(job.seed!)
    writeFileSync(join(folder, name), `// ${line.replaceAll('\n', ' ')}\n${source}`)
  }
}

function* randomJobs(seconds: number, forms: readonly string[], first: number): Generator<Job> {
  const end = performance.now() + 1000 * seconds
  for (let seed = first; performance.now() < end; seed++)
    yield {
      folder: 'random',
      file: randomSource(seed).name,
      form: forms[(seed - first) % forms.length]!,
      seed,
    }
}

/** The jobs whose outcome is not right, as they are printed. */
async function runAll(seconds: number, jobs: Iterator<Job>): Promise<{ job: Job; line: string }[]> {
  const end = performance.now() + 1000 * seconds
  const counts = new Map<string, Record<string, number>>()
  const wrong: { job: Job; line: string }[] = []
  const report = (job: Job, outcome: string): void => {
    const { folder, file, form } = job
    const key = `${basename(folder)} ${form}`
    const kind = /^\w+/.exec(outcome)![0]
    const count = counts.get(key) ?? {}
    count[kind] = (count[kind] ?? 0) + 1
    counts.set(key, count)
    if (kind === 'right') return
    const line = `${basename(folder)}/${file} ${form}: ${outcome}`
    console.log(line)
    wrong.push({ job, line })
  }
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      let child: ChildProcess | undefined
      for (let { value: job, done } = jobs.next(); done !== true; { value: job, done } = jobs.next()) {
        if (performance.now() > end) {
          report(job, 'left out')
          continue
        }
        child ??= startWorker()
        const outcome = await answer(child, job)
        report(job, outcome ?? 'FAILED: took too long, or its process ended')
        // After an error of the driver, a process can do nothing more.
        if (!outcome?.startsWith('right') && !outcome?.startsWith('unsupported')) {
          child.kill('SIGKILL')
          child = undefined
        }
      }
      child?.kill('SIGKILL')
    }),
  )
  for (const [key, count] of counts) console.log(key, JSON.stringify(count))
  return wrong
}

async function reduce(seconds: number, form: string, path: string): Promise<void> {
  const end = performance.now() + 1000 * seconds
  const children: (ChildProcess | undefined)[] = Array.from({ length: availableParallelism() })
  const ask = async (worker: number, source: string, inForm: string): Promise<string | undefined> => {
    const child = children[worker] ?? startWorker()
    children[worker] = child
    const outcome = await answer(child, { folder: '', file: basename(path), form: inForm, source })
    if (/^(?:right|DIFFERS)/.test(outcome ?? '')) return outcome
    child.kill('SIGKILL')
    children[worker] = undefined
    return outcome
  }
  const differs = async (worker: number, source: string): Promise<boolean> =>
    isTranslatable(source) &&
    (await ask(worker, source, form))?.startsWith('DIFFERS') === true &&
    (await ask(worker, source, 'max')) === 'right'
  let smallest = readFileSync(path, 'utf8')
  if (!(await differs(0, smallest))) throw new Error(`${path} does not differ in ${form} only`)
  for (let from = 0; ; ) {
    // Behind the last that differed come those that were not tried yet.
    const all = smallerSources(smallest)
    const sources = [...all.slice(from), ...all.slice(0, from)]
    let next = 0
    let found: number | undefined
    await Promise.all(
      children.map(async (_, worker) => {
        while (found === undefined && next < sources.length && performance.now() < end) {
          const at = next++
          if (await differs(worker, sources[at]!)) found = Math.min(found ?? at, at)
        }
      }),
    )
    if (found === undefined) break
    smallest = sources[found]!
    from = (from + found) % all.length
  }
  for (const child of children) child?.kill('SIGKILL')
  console.log(smallest.replaceAll(/\n\s*\n/g, '\n'))
}

function moduleOf(source: string): ReturnType<typeof lower> {
  const { entryPoint, constants } = parseKernelTest(source)
  return lower(parseWgsl(source), { ...(entryPoint === undefined ? {} : { entryPoint }), constants })
}

function isTranslatable(source: string): boolean {
  try {
    moduleOf(source)
    return true
  } catch {
    return false
  }
}

function startWorker(): ChildProcess {
  return fork(import.meta.filename, ['work'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
}

/** What a process says of a job; undefined if it ends or takes too long. */
function answer(child: ChildProcess, job: Job): Promise<string | undefined> {
  return new Promise((resolve) => {
    const done = (outcome?: unknown): void => {
      clearTimeout(timer)
      child.removeAllListeners()
      resolve(typeof outcome === 'string' ? outcome : undefined)
    }
    const timer = setTimeout(done, 1000 * mostSeconds)
    child.once('message', done)
    child.once('exit', done)
    child.send(job)
  })
}

/** NVRTC's options with those that the CUDA backend adds when it does not finish in time. */
function quicker(options: readonly string[], form: string): readonly string[] {
  const isPlain = options.includes('--ptxas-options=-O0')
  if (form === 'max') return [...options, '--Ofast-compile=max', ...(isPlain ? [] : ['--ptxas-options=-O0'])]
  return form === 'min' && !isPlain ? [...options, '--Ofast-compile=min'] : options
}

/** Compiles to PTX for the architecture `form`, and that for the GPU. */
async function compileThrough(form: string, request: NvrtcRequest, compile: Compile): Promise<NvrtcOutcome> {
  const own = '--gpu-architecture='
  const target = request.options.find((option) => option.startsWith(own))!.slice(own.length)
  const isForPtxas = (option: string) => option.startsWith('--ptxas-options=')
  const levels = request.options.filter(isForPtxas).map((option) => option.slice('--ptxas-options='.length))
  const forNvvm = request.options.filter((option) => !isForPtxas(option) && !option.startsWith(own))
  const outcome = await compile({
    ...request,
    options: [`${own}${form.replace('sm', 'compute')}`, ...forNvvm],
  })
  if (!outcome.compiled) return outcome
  const folder = mkdtempSync(join(tmpdir(), 'through-'))
  try {
    const [ptxFile, cubinFile] = ['ptx', 'cubin'].map((name) => join(folder, name)) as [string, string]
    const ptx = outcome.ptx.replace(/^\.target .*$/m, `.target ${target}`)
    writeFileSync(ptxFile, ptx)
    execFileSync('ptxas', [`-arch=${target}`, ...levels, ptxFile, '-o', cubinFile], { stdio: 'pipe' })
    return { ...outcome, ptx, cubin: new Uint8Array(readFileSync(cubinFile)) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A process that runs the jobs that it is sent. */
async function work(): Promise<void> {
  // The same object as the backend's.
  const addon = nativeAddon() as NativeAddon
  const compile = addon.nvrtcCompile.bind(addon)
  let form = ''
  addon.nvrtcCompile = (libraries, request, thread) => {
    const withOptions = { ...request, options: quicker(request.options, form) }
    const compileHere: Compile = (changed) => compile(libraries, changed, thread)
    return form.startsWith('sm_') ? compileThrough(form, withOptions, compileHere) : compileHere(withOptions)
  }
  // Measurements of compilers need no cache.
  const backend = cuda({ kernelCache: false })
  let runtime: Runtime | undefined
  let device: GPUDevice | undefined
  let reference: Runtime | undefined
  const expected = new Map<string, Record<string, Results>>()
  process.on('message', async ({ folder, file, seed, ...job }: Job) => {
    form = job.form
    try {
      let source = job.source ?? (seed === undefined ? undefined : randomSource(seed).source)
      let results: Results | undefined
      if (source === undefined) {
        if (!expected.has(folder))
          expected.set(folder, JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')))
        results = expected.get(folder)![file]
        if (results === undefined) return process.send!('unsupported by the reference executor')
        source = readFileSync(join(folder, file), 'utf8')
      } else {
        reference ??= await openFirst(referenceBackend())
        results = await resultsOf(reference, file, source)
      }
      let actual: Map<string, Uint8Array>
      if (form === 'indirect') {
        if (/^enable .*subgroup_matrix/m.test(source)) return process.send!('unsupported by the WebGPU API')
        device ??= await openDevice(backend)
        actual = await runIndirectly(device, source)
      } else {
        runtime ??= await openFirst(backend)
        const bounds = /^(?:min|max|sm_\d+)$/.test(form) ? 'clamp' : (form as Bounds)
        const found = await runKernelTest(runtime, file, source, bounds)
        actual = new Map(Array.from(found, ([name, { bytes }]) => [name, bytes]))
      }
      const { buffers, tolerance } = parseKernelTest(source)
      const differences = Object.entries(results).flatMap(([name, text]) => {
        const buffer = buffers.find((b) => b.name === name)!
        return compareBuffers(buffer, actual.get(name)!, Buffer.from(text, 'base64'), tolerance) ?? []
      })
      process.send!(differences.length === 0 ? 'right' : `DIFFERS: ${differences.join('; ')}`)
    } catch (error) {
      const { message } = error as Error
      process.send!(`FAILED: ${message.slice(0, 300)}`)
    }
  })
}

async function openDevice(backend: Backend<Runtime>): Promise<GPUDevice> {
  const gpu = await createGPU({ backends: [backend] })
  install(gpu)
  const adapter = (await gpu.requestAdapter())!
  const requiredLimits: Record<string, number> = {}
  for (const name in adapter.limits) {
    const limit = adapter.limits[name as keyof GPUSupportedLimits]
    if (typeof limit === 'number') requiredLimits[name] = limit
  }
  return adapter.requestDevice({
    requiredLimits,
    requiredFeatures: [...adapter.features] as GPUFeatureName[],
  })
}

/** Bytes of a buffer before and behind the part that is bound. */
const padding = 256
/** What they hold. */
const poison = 0xa5

/** Like `runKernelTest`, by an indirect dispatch, with parts of buffers. Rejects if bytes around them change. */
async function runIndirectly(device: GPUDevice, code: string): Promise<Map<string, Uint8Array>> {
  const { workgroups, entryPoint, constants, buffers } = parseKernelTest(code)
  const reflection = reflect(moduleOf(code))
  device.pushErrorScope('validation')
  const pipeline = await device.createComputePipelineAsync({
    layout: 'auto',
    compute: {
      module: device.createShaderModule({ code }),
      ...(entryPoint === undefined ? {} : { entryPoint }),
      constants,
    },
  })
  const { COPY_SRC, COPY_DST, INDIRECT, MAP_READ, STORAGE, UNIFORM } = GPUBufferUsage
  const bufferOf = (bytes: Uint8Array<ArrayBuffer>, usage: number): GPUBuffer => {
    const buffer = device.createBuffer({ size: bytes.byteLength, usage: usage | COPY_DST })
    device.queue.writeBuffer(buffer, 0, bytes)
    return buffer
  }
  const bound = reflection.bindings.map((binding) => {
    const bytes = fillBuffer(buffers.find(({ name }) => name === binding.name)!)
    const padded = new Uint8Array(bytes.length + 2 * padding).fill(poison)
    padded.set(bytes, padding)
    const buffer = bufferOf(padded, binding.space === 'uniform' ? UNIFORM : STORAGE | COPY_SRC)
    return { ...binding, buffer, size: bytes.length }
  })
  const counts = bufferOf(new Uint8Array(Uint32Array.from(workgroups).buffer), INDIRECT)
  const encoder = device.createCommandEncoder()
  const pass = encoder.beginComputePass()
  pass.setPipeline(pipeline)
  for (const group of new Set(bound.map((b) => b.group)))
    pass.setBindGroup(
      group,
      device.createBindGroup({
        layout: pipeline.getBindGroupLayout(group),
        entries: bound
          .filter((b) => b.group === group)
          .map(({ binding, buffer, size }) => ({ binding, resource: { buffer, offset: padding, size } })),
      }),
    )
  pass.dispatchWorkgroupsIndirect(counts, 0)
  pass.end()
  const outputs = bound
    .filter(({ space, access }) => space !== 'uniform' && access === 'read_write')
    .map(({ name, buffer, size }) => {
      const copy = device.createBuffer({ size: buffer.size, usage: MAP_READ | COPY_DST })
      encoder.copyBufferToBuffer(buffer, 0, copy, 0, buffer.size)
      return { name, copy, size }
    })
  device.queue.submit([encoder.finish()])
  const error = await device.popErrorScope()
  if (error !== null) throw new Error(error.message)
  const results = new Map<string, Uint8Array>()
  for (const { name, copy, size } of outputs) {
    await copy.mapAsync(GPUMapMode.READ)
    const bytes = new Uint8Array(copy.getMappedRange().slice(0))
    results.set(name, bytes.slice(padding, padding + size))
    bytes.fill(poison, padding, padding + size)
    if (bytes.some((byte) => byte !== poison)) throw new Error(`bytes around the binding ${name} changed`)
    copy.destroy()
  }
  for (const { buffer } of bound) buffer.destroy()
  counts.destroy()
  return results
}
