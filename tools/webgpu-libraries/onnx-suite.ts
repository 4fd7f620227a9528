import type * as Ort from 'onnxruntime-web'
import { describe, expect, it } from 'vitest'
import { expectNear } from './near.ts'
import { onWebGpu } from './on-webgpu.ts'
import { onnxCases } from './onnx-cases.ts'
import { type Graph, onnxModel } from './onnx-model.ts'
import { values } from './plain.ts'

export type OnnxRuntime = typeof Ort

/**
 * Every node must run on the GPU: without this option, ONNX Runtime uses the CPU for operators that its
 * provider lacks.
 */
export const onGpuAlone = {
  executionProviders: ['webgpu'],
  extra: { session: { disable_cpu_ep_fallback: '1' } },
} as const

const lengthOf = (dims: readonly number[]) => dims.reduce((product, dim) => product * dim, 1)

/** The cases, with one build of ONNX Runtime. */
export function testOnnxRuntime(build: string, load: () => Promise<OnnxRuntime>): void {
  let ort: OnnxRuntime

  onWebGpu(async () => {
    ort = await load()
    // Several threads would need cross-origin isolation and Workers, as in browsers.
    ort.env.wasm.numThreads = 1
  })

  const feedsOf = (graph: Graph, feeds: Readonly<Record<string, readonly number[]>>) =>
    Object.fromEntries(
      Object.entries(feeds).map(([name, data]) => [
        name,
        new ort.Tensor('float32', Float32Array.from(data), graph.inputs[name]!.dims),
      ]),
    )

  describe(`ONNX Runtime, ${build}`, () => {
    it.each(onnxCases.map((one) => [one.name, one] as const))('%s', async (_, one) => {
      const session = await ort.InferenceSession.create(onnxModel(one.graph), onGpuAlone)
      const results = await session.run(feedsOf(one.graph, one.feeds))
      for (const [name, expected] of Object.entries(one.expected)) {
        const result = results[name]!
        expect(result.dims).toEqual(one.graph.outputs[name]!.dims)
        expectNear(result.data as Float32Array, expected, one.tolerance)
      }
      await session.release()
    })

    it('computes from GPUBuffers to GPUBuffers', async () => {
      const dims = [4, 6]
      const graph: Graph = {
        nodes: [{ op: 'Mul', inputs: ['x', 'x'], outputs: ['y'] }],
        inputs: { x: { dims } },
        outputs: { y: { dims } },
      }
      const session = await ort.InferenceSession.create(onnxModel(graph), {
        ...onGpuAlone,
        preferredOutputLocation: 'gpu-buffer',
      })
      const device = (await ort.env.webgpu.device) as GPUDevice
      const size = 4 * lengthOf(dims)
      const buffer = device.createBuffer({
        size,
        usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
      })
      device.queue.writeBuffer(buffer, 0, Float32Array.from(values(24)))
      const x = ort.Tensor.fromGpuBuffer(buffer as never, { dataType: 'float32', dims })
      const { y } = await session.run({ x })
      expect(y!.location).toBe('gpu-buffer')
      expect(y!.gpuBuffer).toBeInstanceOf(GPUBuffer)
      const expected = values(24).map((value) => value * value)
      expectNear((await y!.getData()) as Float32Array, expected)
      y!.dispose()
      await session.release()
      buffer.destroy()
    })
  })
}
