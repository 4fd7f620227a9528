import { expect, it } from 'vitest'
import { mapMode, openedGpu, readBack, usage } from './testing-gpu.ts'

const opened = openedGpu({ limits: { maxStorageBuffersPerDispatch: 16 } })

const addScaled = `
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(1) @binding(5) var<uniform> factor: f32;
override more = 0.0;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&y)) { y[id.x] += factor * x[id.x] + more; }
}`

it('a kernel runs as often as it is dispatched, on what is bound, in the order of the calls', async () => {
  const device = await opened.device()
  const module = device.createShaderModule({ code: addScaled })
  const pipeline = device.createComputePipeline({
    layout: 'auto',
    compute: { module, entryPoint: 'main', constants: { more: 0.5 } },
  })
  const buffer = (size: number, flags: number) => device.createBuffer({ size, usage: flags })
  const x = buffer(16, usage.STORAGE | usage.COPY_DST)
  const y = buffer(24, usage.STORAGE | usage.COPY_SRC)
  const factor = buffer(4, usage.UNIFORM | usage.COPY_DST)
  const group = (index: number, entries: GPUBindGroupEntry[]) =>
    device.createBindGroup({ layout: pipeline.getBindGroupLayout(index), entries })
  const groups = [
    group(0, [
      { binding: 1, resource: y },
      { binding: 0, resource: { buffer: x } },
    ]),
    group(1, [{ binding: 5, resource: { buffer: factor, size: 4 } }]),
  ]
  device.queue.writeBuffer(x, 0, Float32Array.of(0, 1, 2, 3, 4), 1, 4)
  for (const value of [10, 100]) {
    device.queue.writeBuffer(factor, 0, Float32Array.of(value))
    const encoder = device.createCommandEncoder()
    const pass = encoder.beginComputePass()
    pass.setPipeline(pipeline)
    for (const [index, bound] of groups.entries()) pass.setBindGroup(index, bound)
    pass.dispatchWorkgroups(2)
    pass.dispatchWorkgroups(1, 0, 1)
    pass.end()
    device.queue.submit([encoder.finish()])
  }
  const values = new Float32Array((await readBack(device, y)).buffer)
  // If y is longer than x, the out-of-bounds index is clamped to the last element of x.
  expect([...values]).toEqual([111, 221, 331, 441, 441, 441])
  device.destroy()
})

it('a submit waits for its pipelines, and later work waits for the submit', async () => {
  const device = await opened.device()
  const buffer = device.createBuffer({ size: 4, usage: usage.STORAGE | usage.COPY_SRC | usage.COPY_DST })
  const code = (text: string) => `
    @group(0) @binding(0) var<storage, read_write> y: u32;
    @compute @workgroup_size(1) fn main() { y = ${text}; }`
  for (const text of ['y + 1', 'y * 3']) {
    const pipeline = device.createComputePipeline({
      layout: 'auto',
      compute: { module: device.createShaderModule({ code: code(text) }) },
    })
    const encoder = device.createCommandEncoder()
    const pass = encoder.beginComputePass()
    pass.setPipeline(pipeline)
    pass.setBindGroup(
      0,
      device.createBindGroup({
        layout: pipeline.getBindGroupLayout(0),
        entries: [{ binding: 0, resource: buffer }],
      }),
    )
    pass.dispatchWorkgroups(1)
    pass.end()
    device.queue.submit([encoder.finish()])
    device.queue.writeBuffer(buffer, 0, Uint32Array.of(text === 'y + 1' ? 5 : 6))
  }
  expect([...(await readBack(device, buffer))]).toEqual([6])
  device.destroy()
})

it('data may be changed as soon as writeBuffer returns, even while the write is queued', async () => {
  const device = await opened.device()
  const buffer = device.createBuffer({ size: 200_000, usage: usage.COPY_DST | usage.COPY_SRC })
  const held = await opened.group.devices[0]!.allocate('u32', 1)
  for (const waits of [false, true]) {
    const data = new Uint32Array(50_000).fill(7)
    const writing = waits ? opened.group.queue.write(held, Uint32Array.of(1)) : undefined
    device.queue.writeBuffer(buffer, 0, data)
    data.fill(8)
    device.queue.writeBuffer(buffer, 4, data, 0, 1)
    data.fill(9)
    const words = await readBack(device, buffer)
    expect([...words.subarray(0, 3), words.at(-1)]).toEqual([7, 8, 7, 7])
    await writing
  }
  held.destroy()
  device.destroy()
})

it('several mapped ranges are written and read', async () => {
  const device = await opened.device()
  const source = device.createBuffer({
    size: 64,
    usage: usage.MAP_WRITE | usage.COPY_SRC,
    mappedAtCreation: true,
  })
  new Uint32Array(source.getMappedRange(8, 8)).set([1, 2])
  new Uint32Array(source.getMappedRange(32)).fill(3)
  source.unmap()
  expect([...(await readBack(device, source))]).toEqual([0, 0, 1, 2, 0, 0, 0, 0, ...Array(8).fill(3)])
  await source.mapAsync(mapMode.WRITE, 16, 32)
  const range = source.getMappedRange(16, 4)
  expect(new Uint32Array(range)[0]).toBe(0)
  new Uint32Array(range)[0] = 4
  new Uint32Array(source.getMappedRange(40, 8)).set([5, 6])
  source.unmap()
  expect(range.byteLength).toBe(0)
  expect([...(await readBack(device, source))]).toEqual([0, 0, 1, 2, 4, 0, 0, 0, 3, 3, 5, 6, 3, 3, 3, 3])
  device.destroy()
})

it('the number of workgroups may come from a buffer', async () => {
  const device = await opened.device()
  const code = `
    @group(0) @binding(0) var<storage, read_write> y: atomic<u32>;
    @compute @workgroup_size(1) fn main() { atomicAdd(&y, 1); }`
  const pipeline = await device.createComputePipelineAsync({
    layout: 'auto',
    compute: { module: device.createShaderModule({ code }) },
  })
  const counts = device.createBuffer({ size: 16, usage: usage.INDIRECT | usage.COPY_DST })
  const y = device.createBuffer({ size: 4, usage: usage.STORAGE | usage.COPY_SRC })
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [{ binding: 0, resource: y }],
  })
  let total = 0
  for (const given of [
    [2, 3, 4],
    [1, 0, 4],
    [1, 65_536, 1],
  ]) {
    device.queue.writeBuffer(counts, 4, Uint32Array.from(given))
    const encoder = device.createCommandEncoder()
    const pass = encoder.beginComputePass()
    pass.setPipeline(pipeline)
    pass.setBindGroup(0, group)
    pass.dispatchWorkgroupsIndirect(counts, 4)
    pass.end()
    device.queue.submit([encoder.finish()])
    total += given[1] === 3 ? 24 : 0
    expect([...(await readBack(device, y))]).toEqual([total])
  }
  device.destroy()
})

it('passes write timestamps into queries, which are resolved into a buffer', async () => {
  const device = await opened.device({ requiredFeatures: ['timestamp-query'] })
  const querySet = device.createQuerySet({ type: 'timestamp', count: 4 })
  const target = device.createBuffer({ size: 288, usage: usage.QUERY_RESOLVE | usage.COPY_SRC })
  for (const index of [0, 1]) {
    const encoder = device.createCommandEncoder()
    const pass = encoder.beginComputePass({
      timestampWrites: {
        querySet,
        beginningOfPassWriteIndex: 2 * index,
        ...(index === 0 && { endOfPassWriteIndex: 1 }),
      },
    })
    pass.end()
    encoder.resolveQuerySet(querySet, 0, 4, target, 256)
    device.queue.submit([encoder.finish()])
  }
  const times = new BigUint64Array((await readBack(device, target)).buffer)
  expect(times.slice(0, 32).every((time) => time === 0n)).toBe(true)
  const [first, second, third, fourth] = times.slice(32)
  expect(first! > 0n && second! >= first! && third! >= second!).toBe(true)
  expect(fourth).toBe(0n)
  device.destroy()
})
