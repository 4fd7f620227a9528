import { readFile } from 'node:fs/promises'
import { cuda } from '@tandem-gpu/backend-cuda'
import { referenceBackend } from '@tandem-gpu/core/testing'
import { createGPU, destroyGPU, install } from '@tandem-gpu/webgpu-api'

const gpu = await createGPU({ backends: [cuda(), referenceBackend()] })
install(gpu)

const ort = await import('onnxruntime-web/webgpu')
// The GPU does the work, so the CPU does not need threads.
ort.env.wasm.numThreads = 1

const model = await readFile('model.onnx')
const session = await ort.InferenceSession.create(model, { executionProviders: ['webgpu'] })
const x = new ort.Tensor('float32', Float32Array.of(1, 2, 3, 4), [1, 4])
const { y } = await session.run({ x })
console.log(y!.dims.join(' × '), (await y!.getData()).toString())

await session.release()
await destroyGPU(gpu)
