import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { bufferOf, viewOf } from './sharing.ts'
import { expectValidation, openedGpu, readBack, usage } from './testing-gpu.ts'

const opened = openedGpu({ devices: 2 })

it('programs can use a GPUBuffer, in the order of the calls', async () => {
  const device = await opened.device()
  const { group } = opened
  const buffer = device.createBuffer({
    size: 16,
    usage: usage.STORAGE | usage.COPY_DST | usage.COPY_SRC,
    label: 'shared',
  })
  device.queue.writeBuffer(buffer, 0, Uint32Array.of(1, 2, 3, 4))
  const view = await viewOf(buffer, 'u32')
  expect([view.length, view.label, view.device, await viewOf(buffer, 'u32')]).toEqual([
    4,
    'shared',
    group.devices[0],
    view,
  ])
  const far = await group.devices[1]!.allocate('u32', 4)
  const program = group.record((recorder) => recorder.copy(view, far))
  const reads: Promise<Uint32Array>[] = []
  for (const value of [10, 20]) {
    device.queue.writeBuffer(buffer, 4, Uint32Array.of(value))
    void group.queue.run(program)
    device.queue.writeBuffer(buffer, 4, Uint32Array.of(0))
    reads.push(group.queue.read(far))
  }
  expect((await Promise.all(reads)).map((read) => [...read])).toEqual([
    [1, 10, 3, 4],
    [1, 20, 3, 4],
  ])
  await group.queue.write(view.slice(2, 2), Uint32Array.of(7, 8))
  expect([...(await readBack(device, buffer))]).toEqual([1, 0, 7, 8])
  // A program keeps the memory.
  buffer.destroy()
  device.destroy()
  expect(view.destroyed).toBe(true)
  await group.queue.run(program)
  expect([...(await group.queue.read(far))]).toEqual([1, 0, 7, 8])
  program.destroy()
  far.destroy()
  expect(group.live().allocations).toBe(0)
})

it('a view whose GPUBuffer is no longer referenced keeps its memory until the GPUDevice is destroyed', async () => {
  const device = await opened.device()
  const shared = async () => viewOf(device.createBuffer({ size: 16, usage: usage.STORAGE }), 'u32')
  const view = await shared()
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let turn = 0; turn < 5; turn++) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  expect(view.destroyed).toBe(false)
  await opened.group.queue.write(view, Uint32Array.of(1, 2, 3, 4))
  expect([...(await opened.group.queue.read(view))]).toEqual([1, 2, 3, 4])
  device.destroy()
  await device.lost
  expect(view.destroyed).toBe(true)
  expect(opened.group.live().allocations).toBe(0)
})

it('memory of the group can be used as a GPUBuffer', async () => {
  const device = await opened.device()
  const { group } = opened
  const memory = await group.devices[0]!.allocate('f32', 192)
  const buffer = bufferOf(device, memory.slice(64, 64), { label: 'part' })
  expect([buffer.size, buffer.label, buffer.mapState]).toEqual([256, 'part', 'unmapped'])
  device.queue.writeBuffer(buffer, 252, Float32Array.of(9))
  expect((await group.queue.read(memory.slice(127, 2))).join()).toBe('9,0')
  memory.destroy()
  expect(new Float32Array((await readBack(device, buffer)).buffer)[63]).toBe(9)
  expect(group.live().allocations).toBe(1)
  buffer.destroy()
  await device.queue.onSubmittedWorkDone()
  expect(group.live().allocations).toBe(0)
  device.destroy()
})

it('data written before the GPUDevice is destroyed reaches the memory of the group', async () => {
  const device = await opened.device()
  const memory = await opened.group.devices[0]!.allocate('u32', 4)
  device.queue.writeBuffer(bufferOf(device, memory), 4, Uint32Array.of(6))
  device.destroy()
  expect([...(await opened.group.queue.read(memory))]).toEqual([0, 6, 0, 0])
  memory.destroy()
})

it('aliases are found by memory, not by object', async () => {
  const device = await opened.device()
  const memory = await opened.group.devices[0]!.allocate('u32', 192)
  const [first, second, apart] = [memory.slice(0, 128), memory.slice(64, 64), memory.slice(128, 64)].map(
    (view) => bufferOf(device, view),
  ) as [GPUBuffer, GPUBuffer, GPUBuffer]
  const code = `
    @group(0) @binding(0) var<storage, read> x: array<u32>;
    @group(0) @binding(1) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(1) fn main() { y[0] = x[0]; }`
  const pipeline = device.createComputePipeline({
    layout: 'auto',
    compute: { module: device.createShaderModule({ code }) },
  })
  const dispatch = (x: GPUBuffer, y: GPUBuffer) => () => {
    const encoder = device.createCommandEncoder()
    const pass = encoder.beginComputePass()
    pass.setPipeline(pipeline)
    const entries = [x, y].map((resource, binding) => ({ binding, resource }))
    pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }))
    pass.dispatchWorkgroups(1)
    pass.end()
    encoder.finish()
  }
  await expectValidation(device, /shares memory with one that is read/, dispatch(first, second))
  await expectValidation(device, undefined, dispatch(first, apart))
  const copy = (to: GPUBuffer) => () => {
    const encoder = device.createCommandEncoder()
    encoder.copyBufferToBuffer(first, 128, to, 0, 192)
    encoder.finish()
  }
  await expectValidation(device, /share memory/, copy(second))
  await expectValidation(device, undefined, copy(apart))
  device.destroy()
  memory.destroy()
})

it('memory that cannot be shared is refused', async () => {
  const device = await opened.device()
  const { group } = opened
  const far = await group.devices[1]!.allocate('f32', 4)
  const invalid = (part: string) =>
    expect.objectContaining({ code: 'validation', message: expect.stringContaining(part) })
  expect(() => bufferOf(device, far)).toThrow(invalid('on device 1, not on device 0'))
  expect(() => bufferOf(device, far, { usage: usage.MAP_READ })).toThrow(invalid('usage'))
  expect(() => bufferOf({} as GPUDevice, far)).toThrow(invalid('must be a GPUDevice'))
  const make = (size: number, flags: number) => device.createBuffer({ size, usage: flags })
  await expect(viewOf(make(4, usage.MAP_READ))).rejects.toThrow(invalid('can be mapped'))
  await expect(viewOf(make(6, usage.STORAGE))).rejects.toThrow(invalid('multiple of 4'))
  await expect(viewOf({} as GPUBuffer)).rejects.toThrow(invalid('must be a GPUBuffer'))
  const buffer = make(4, usage.STORAGE)
  await viewOf(buffer)
  await expect(viewOf(buffer, 'u32')).rejects.toThrow(invalid('already has a view of type f32'))
  buffer.destroy()
  await expect(viewOf(buffer)).rejects.toThrow(invalid('is destroyed'))
  far.destroy()
  device.destroy()
})
