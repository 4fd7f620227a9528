/// <reference types="@webgpu/types" />
import { referenceBackend } from '@tandem-gpu/core/testing'
import { createGPU, destroyGPU, install } from '@tandem-gpu/webgpu-api'

const gpu = await createGPU({ backends: [referenceBackend()] })
const uninstall = install(gpu)
const adapter = await gpu.requestAdapter()
const device = await adapter!.requestDevice()
const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage
const numbers = device.createBuffer({ size: 16, usage: STORAGE | COPY_SRC | COPY_DST })
const read = device.createBuffer({ size: 16, usage: COPY_DST | MAP_READ })
device.queue.writeBuffer(numbers, 0, Float32Array.of(1, 2, 3, 4))
const code =
  '@group(0) @binding(0) var<storage, read_write> x: array<f32>;' +
  '@compute @workgroup_size(4) fn square(@builtin(local_invocation_index) i: u32) { x[i] *= x[i]; }'
const pipeline = device.createComputePipeline({
  layout: 'auto',
  compute: { module: device.createShaderModule({ code }) },
})
const encoder = device.createCommandEncoder()
const pass = encoder.beginComputePass()
pass.setPipeline(pipeline)
pass.setBindGroup(
  0,
  device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [{ binding: 0, resource: { buffer: numbers } }],
  }),
)
pass.dispatchWorkgroups(1)
pass.end()
encoder.copyBufferToBuffer(numbers, 0, read, 0, 16)
device.queue.submit([encoder.finish()])
await read.mapAsync(GPUMapMode.READ)
console.log(new Float32Array(read.getMappedRange()).join(' ')) // 1 4 9 16
device.destroy()
uninstall()
await destroyGPU(gpu)
