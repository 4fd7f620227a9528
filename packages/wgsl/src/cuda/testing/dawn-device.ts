import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

/** One run of a kernel on a WebGPU device. */
export interface DawnJob {
  readonly wgsl: string
  readonly entryPoint: string
  readonly constants: Readonly<Record<string, number>>
  readonly workgroups: readonly [number, number, number]
  readonly bindings: readonly {
    readonly group: number
    readonly binding: number
    readonly space: 'storage' | 'uniform'
    readonly bytes: Uint8Array
  }[]
}

/** A Dawn device on SwiftShader, which computes on the CPU. */
export interface DawnDevice {
  /** Resolves to the contents of the buffers after the run, in the order of `bindings`. */
  run(job: DawnJob): Promise<Uint8Array[]>
  readonly features: ReadonlySet<string>
}

const library = fileURLToPath(new URL('../../../../swiftshader-linux-x64/lib/', import.meta.url))

/**
 * The key under which the process keeps its device and the objects behind it; see `openDawnOracle` for the
 * reason.
 */
const kept = Symbol.for('tandem.dawn-device')
const place = globalThis as { [kept]?: Promise<readonly [DawnDevice | string, ...unknown[]]> }

/**
 * Opens the Dawn device on SwiftShader, one per process; resolves to a string that tells what is missing, if
 * anything.
 */
export async function openDawnDevice(): Promise<DawnDevice | string> {
  place[kept] ??= open()
  return (await place[kept])[0]
}

async function open(): Promise<readonly [DawnDevice | string, ...unknown[]]> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return ['Linux on x64']
  if (!existsSync(`${library}vk_swiftshader_icd.json`))
    return ['the built package @tandem-gpu/swiftshader-linux-x64']
  process.env.VK_DRIVER_FILES = `${library}vk_swiftshader_icd.json`
  process.env.VK_ICD_FILENAMES = process.env.VK_DRIVER_FILES
  try {
    // The loader is not a Node addon, so this throws, but the library remains loaded and Dawn finds it.
    process.dlopen({ exports: {} }, `${library}libvulkan.so.1`, constants.dlopen.RTLD_NOW | 0x1000)
  } catch {}
  let webgpu: typeof import('webgpu')
  try {
    webgpu = await import('webgpu')
  } catch {
    return ['npm webgpu']
  }
  Object.assign(globalThis, webgpu.globals)
  const gpu = webgpu.create(['enable-dawn-features=allow_unsafe_apis'])
  const adapter = await gpu.requestAdapter()
  if (adapter === null) return ['a WebGPU adapter']
  const requiredFeatures = (['shader-f16', 'subgroups'] as GPUFeatureName[]).filter((f) =>
    adapter.features.has(f),
  )
  const device = await adapter.requestDevice({ requiredFeatures })
  return [{ run: (job) => runJob(device, job), features: new Set(requiredFeatures) }, gpu, adapter]
}

async function runJob(device: GPUDevice, job: DawnJob): Promise<Uint8Array[]> {
  device.pushErrorScope('validation')
  const pipeline = device.createComputePipeline({
    layout: 'auto',
    compute: {
      module: device.createShaderModule({ code: job.wgsl }),
      entryPoint: job.entryPoint,
      constants: job.constants,
    },
  })
  const usage = GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST
  const padded = (n: number) => Math.max(4, Math.ceil(n / 4) * 4)
  const buffers = job.bindings.map(({ space, bytes }) => {
    const size = padded(bytes.byteLength)
    const buffer = device.createBuffer({
      size,
      usage: usage | (space === 'uniform' ? GPUBufferUsage.UNIFORM : GPUBufferUsage.STORAGE),
    })
    const data = new Uint8Array(size)
    data.set(bytes)
    device.queue.writeBuffer(buffer, 0, data)
    return buffer
  })
  const encoder = device.createCommandEncoder()
  const pass = encoder.beginComputePass()
  pass.setPipeline(pipeline)
  for (const group of new Set(job.bindings.map((b) => b.group))) {
    const entries = job.bindings.flatMap((b, i) =>
      b.group === group ? [{ binding: b.binding, resource: { buffer: buffers[i]! } }] : [],
    )
    pass.setBindGroup(group, device.createBindGroup({ layout: pipeline.getBindGroupLayout(group), entries }))
  }
  pass.dispatchWorkgroups(...job.workgroups)
  pass.end()
  const readbacks = buffers.map((buffer) => {
    const copy = device.createBuffer({
      size: buffer.size,
      usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
    })
    encoder.copyBufferToBuffer(buffer, 0, copy, 0, buffer.size)
    return copy
  })
  device.queue.submit([encoder.finish()])
  const error = await device.popErrorScope()
  if (error !== null) throw new Error(error.message)
  const results: Uint8Array[] = []
  for (const [i, copy] of readbacks.entries()) {
    await copy.mapAsync(GPUMapMode.READ)
    results.push(new Uint8Array(copy.getMappedRange()).slice(0, job.bindings[i]!.bytes.byteLength))
    copy.destroy()
    buffers[i]!.destroy()
  }
  return results
}
