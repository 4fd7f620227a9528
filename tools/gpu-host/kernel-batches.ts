/*
 * Runs folders of WGSL kernels on a GPU and compares with the reference executor, to look for errors of the
 * translator and of NVIDIA's compilers.
 *
 *   node tools/gpu-host/kernel-batches.ts expect FOLDER...
 *   node tools/gpu-host/kernel-batches.ts run SECONDS FORMS FOLDER...
 *
 * Each kernel, FOLDER/*.wgsl, says in its head how to run it (packages/wgsl/testdata/README.md). `expect` needs no
 * GPU: it writes the results of the reference executor to FOLDER/expected.json, and names the kernels that it
 * cannot run. `run` runs them on the first CUDA device in one process for each core, in each of FORMS (separated by
 * commas): `clamp`, `trap` and `unchecked` are the bounds, `indirect` is an indirect dispatch with `clamp` through the
 * WebGPU API, `min` and `max` are `clamp` with NVRTC's options --Ofast-compile, as for kernels that take long to
 * compile. A file FOLDER/FORMS has the forms of that folder. Prints a line for each kernel that differs, fails or takes
 * more than 60 s (its process is killed), writes them to $OUT/FOLDER.txt too, and starts none after SECONDS.
 */
/// <reference types="@webgpu/types" />
import { type ChildProcess, fork } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { cuda } from '@tandem-gpu/backend-cuda'
import type { Backend } from '@tandem-gpu/core'
import type { Runtime } from '@tandem-gpu/core/backend'
import { referenceBackend, runKernelTest } from '@tandem-gpu/core/testing'
import { createGPU, install } from '@tandem-gpu/webgpu-api'
import { lower, parseWgsl, reflect } from '@tandem-gpu/wgsl'
import { compareBuffers, fillBuffer, parseKernelTest } from '@tandem-gpu/wgsl/testing'
import { type NativeAddon, nativeAddon } from '../../packages/backend-cuda/src/native-addon.ts'

type Bounds = Parameters<typeof runKernelTest>[3]
type Results = Record<string, string>
interface Job {
  readonly folder: string
  readonly file: string
  readonly form: string
}

/** A kernel may take this long, its compilation included. */
const mostSeconds = 60

const [command, ...rest] = process.argv.slice(2)
if (command === 'expect' && rest.length > 0) for (const folder of rest) await expectResults(folder)
else if (command === 'run' && rest.length > 2) await runAll(Number(rest[0]), rest[1]!, rest.slice(2))
else if (command === 'work') await work()
else throw new Error('usage: kernel-batches.ts expect FOLDER... | run SECONDS FORMS FOLDER...')

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
      const results = await runKernelTest(runtime, file, readFileSync(join(folder, file), 'utf8'))
      expected[file] = Object.fromEntries(
        Array.from(results, ([name, { bytes }]) => [name, Buffer.from(bytes).toString('base64')]),
      )
    } catch (error) {
      console.log(`${file}: ${(error as Error).message.slice(0, 300)}`)
    }
  writeFileSync(join(folder, 'expected.json'), JSON.stringify(expected))
  await runtime.dispose()
  console.log(`${folder}: ${Object.keys(expected).length} kernels`)
}

async function runAll(seconds: number, defaultForms: string, folders: readonly string[]): Promise<void> {
  const end = performance.now() + 1000 * seconds
  const jobs: Job[] = folders.flatMap((folder) => {
    const list = join(folder, 'FORMS')
    const forms = existsSync(list) ? readFileSync(list, 'utf8') : defaultForms
    return forms
      .trim()
      .split(/[\s,]+/)
      .flatMap((form) => kernelsOf(folder).map((file) => ({ folder, file, form })))
  })
  const counts = new Map<string, Record<string, number>>()
  const lines = new Map<string, string[]>(folders.map((folder) => [folder, []]))
  const report = ({ folder, file, form }: Job, outcome: string): void => {
    const key = `${basename(folder)} ${form}`
    const kind = /^\w+/.exec(outcome)![0]
    const count = counts.get(key) ?? {}
    count[kind] = (count[kind] ?? 0) + 1
    counts.set(key, count)
    if (kind === 'right') return
    const line = `${basename(folder)}/${file} ${form}: ${outcome}`
    console.log(line)
    lines.get(folder)!.push(line)
  }
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      let child: ChildProcess | undefined
      for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
        if (performance.now() > end) {
          report(job, 'left out')
          continue
        }
        child ??= fork(import.meta.filename, ['work'], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
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
  const { OUT } = process.env
  if (OUT === undefined) return
  mkdirSync(OUT, { recursive: true })
  for (const [folder, list] of lines) writeFileSync(join(OUT, `${basename(folder)}.txt`), list.join('\n'))
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

/** What the CUDA backend gives NVRTC when it does not finish in time. */
const quickerOptions: Record<string, readonly string[]> = {
  min: ['--Ofast-compile=min'],
  max: ['--Ofast-compile=max', '--ptxas-options=-O0'],
}

/** A process that runs the jobs that it is sent. */
async function work(): Promise<void> {
  // The same object as the backend's.
  const addon = nativeAddon() as NativeAddon
  const compile = addon.nvrtcCompile.bind(addon)
  let more: readonly string[] = []
  addon.nvrtcCompile = (libraries, request, thread) =>
    compile(libraries, { ...request, options: [...request.options, ...more] }, thread)
  // Measurements of compilers need no cache.
  const backend = cuda({ kernelCache: false })
  let runtime: Runtime | undefined
  let device: GPUDevice | undefined
  const expected = new Map<string, Record<string, Results>>()
  process.on('message', async ({ folder, file, form }: Job) => {
    try {
      if (!expected.has(folder))
        expected.set(folder, JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')))
      const results = expected.get(folder)![file]
      if (results === undefined) return process.send!('unsupported by the reference executor')
      const source = readFileSync(join(folder, file), 'utf8')
      more = quickerOptions[form] ?? []
      let actual: Map<string, Uint8Array>
      if (form === 'indirect') {
        if (/^enable .*subgroup_matrix/m.test(source)) return process.send!('unsupported by the WebGPU API')
        device ??= await openDevice(backend)
        actual = await runIndirectly(device, source)
      } else {
        runtime ??= await openFirst(backend)
        const bounds = form in quickerOptions ? 'clamp' : (form as Bounds)
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

/** Like `runKernelTest`, by an indirect dispatch. */
async function runIndirectly(device: GPUDevice, code: string): Promise<Map<string, Uint8Array>> {
  const { workgroups, entryPoint, constants, buffers } = parseKernelTest(code)
  const reflection = reflect(
    lower(parseWgsl(code), { ...(entryPoint === undefined ? {} : { entryPoint }), constants }),
  )
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
    return { ...binding, buffer: bufferOf(bytes, binding.space === 'uniform' ? UNIFORM : STORAGE | COPY_SRC) }
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
          .map(({ binding, buffer }) => ({ binding, resource: { buffer } })),
      }),
    )
  pass.dispatchWorkgroupsIndirect(counts, 0)
  pass.end()
  const outputs = bound
    .filter(({ space, access }) => space !== 'uniform' && access === 'read_write')
    .map(({ name, buffer }) => {
      const copy = device.createBuffer({ size: buffer.size, usage: MAP_READ | COPY_DST })
      encoder.copyBufferToBuffer(buffer, 0, copy, 0, buffer.size)
      return { name, copy }
    })
  device.queue.submit([encoder.finish()])
  const error = await device.popErrorScope()
  if (error !== null) throw new Error(error.message)
  const results = new Map<string, Uint8Array>()
  for (const { name, copy } of outputs) {
    await copy.mapAsync(GPUMapMode.READ)
    results.set(name, new Uint8Array(copy.getMappedRange().slice(0)))
    copy.destroy()
  }
  for (const { buffer } of bound) buffer.destroy()
  counts.destroy()
  return results
}
