import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Backend } from '@tandem-gpu/core'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'

// The modules are loaded anew for each start, as in a new process.

const backends = new URL('../../backend-cuda/src/testing/fake-backend.ts', import.meta.url).pathname

afterEach(() => {
  vi.doUnmock('@tandem-gpu/wgsl')
  vi.resetModules()
})

const code = `
  override scale: f32;
  @group(0) @binding(0) var<storage, read_write> x: array<f32>;
  @compute @workgroup_size(1) fn main() { x[0] = scale; }
  @compute @workgroup_size(1) fn other() { x[1] = x[0] + 1; }`

/** Runs two kernels on the fake driver, one of them indirectly. Returns their results. */
async function start(directory: string): Promise<number[]> {
  vi.resetModules()
  const { fakeCudaBackend } = (await import(backends)) as {
    fakeCudaBackend(devices: number, cache: { readonly directory: string }): Backend
  }
  const { createGPU, destroyGPU } = await import('./create-gpu.ts')
  const { readBack, usage } = await import('./testing-gpu.ts')
  const gpu = await createGPU({ backends: [fakeCudaBackend(1, { directory })] })
  const device = await (await gpu.requestAdapter())!.requestDevice()
  const module = device.createShaderModule({ code })
  const x = device.createBuffer({ size: 8, usage: usage.STORAGE | usage.COPY_SRC })
  const counts = device.createBuffer({ size: 12, usage: usage.INDIRECT | usage.COPY_DST })
  device.queue.writeBuffer(counts, 0, Uint32Array.of(1, 1, 1))
  const encoder = device.createCommandEncoder()
  for (const [entryPoint, constants] of [
    ['main', { scale: 4 }],
    ['other', { scale: 0 }],
  ] as const) {
    const compute = { module, entryPoint, constants }
    const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute })
    const pass = encoder.beginComputePass()
    pass.setPipeline(pipeline)
    const layout = pipeline.getBindGroupLayout(0)
    pass.setBindGroup(0, device.createBindGroup({ layout, entries: [{ binding: 0, resource: x }] }))
    if (entryPoint === 'main') pass.dispatchWorkgroups(1)
    else pass.dispatchWorkgroupsIndirect(counts, 0)
    pass.end()
  }
  device.queue.submit([encoder.finish()])
  const words = await readBack(device, x)
  await destroyGPU(gpu)
  return [...new Float32Array(words.buffer)]
}

it.skipIf(process.env.TANDEM_TEST_BACKEND !== 'fake-cuda')(
  'runs no front end for kernels that an earlier start has compiled, unless the files that it left are damaged (skipped: the backend keeps nothing)',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'tandem-second-start-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    expect(await start(directory)).toEqual([4, 5])
    const called: string[] = []
    vi.doMock('@tandem-gpu/wgsl', async (original) => {
      const wgsl = await original<typeof import('@tandem-gpu/wgsl')>()
      const counted = <F extends (...given: never[]) => unknown>(call: F) =>
        ((...given) => {
          called.push(call.name)
          return call(...given)
        }) as F
      const { parseWgsl, lower, reflect, emitCuda } = wgsl
      return {
        ...wgsl,
        ...{ parseWgsl: counted(parseWgsl), lower: counted(lower) },
        ...{ reflect: counted(reflect), emitCuda: counted(emitCuda) },
      }
    })
    expect(await start(directory)).toEqual([4, 5])
    expect(called).toEqual([])
    for (const name of readdirSync(directory)) writeFileSync(join(directory, name), 'damaged')
    expect(await start(directory)).toEqual([4, 5])
    expect(new Set(called)).toEqual(new Set(['parseWgsl', 'lower', 'reflect', 'emitCuda']))
  },
)
