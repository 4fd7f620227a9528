import { describe, expect, it } from 'vitest'
import { expectValidation, openedGpu, stage, usage } from './testing-gpu.ts'

const opened = openedGpu()

/** Checks which error `finish` reports for recorded commands. */
async function expectFinish(
  device: GPUDevice,
  problem: RegExp | undefined,
  record: (encoder: GPUCommandEncoder) => void,
): Promise<void> {
  const encoder = device.createCommandEncoder()
  // Errors in recorded commands are reported by `finish`, not by the recording calls.
  await expectValidation(device, undefined, () => record(encoder))
  await expectValidation(device, problem, () => encoder.finish())
}

describe('13.2 encoder state', () => {
  it('after finish, every call is an error at once', async () => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 4, usage: usage.COPY_SRC | usage.COPY_DST })
    const querySet = device.createQuerySet({ type: 'occlusion', count: 1 })
    const encoder = device.createCommandEncoder()
    encoder.finish()
    let pass: GPUComputePassEncoder | undefined
    for (const call of [
      () => encoder.finish(),
      () => encoder.clearBuffer(buffer),
      () => encoder.copyBufferToBuffer(buffer, 0, buffer, 0, 4),
      () => encoder.resolveQuerySet(querySet, 0, 1, buffer, 0),
      () => encoder.pushDebugGroup('x'),
      () => encoder.popDebugGroup(),
      () => encoder.insertDebugMarker('x'),
      () => {
        pass = encoder.beginComputePass()
      },
      () => pass!.end(),
    ])
      await expectValidation(device, /has finished|never began/, call)
    device.destroy()
  })

  it('while a pass is open, calls make the encoder invalid', async () => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 4, usage: usage.COPY_SRC | usage.COPY_DST })
    for (const call of [
      (encoder: GPUCommandEncoder) => encoder.clearBuffer(buffer),
      (encoder: GPUCommandEncoder) => encoder.pushDebugGroup('x'),
      (encoder: GPUCommandEncoder) => encoder.popDebugGroup(),
      (encoder: GPUCommandEncoder) => encoder.insertDebugMarker('x'),
      (encoder: GPUCommandEncoder) => void encoder.beginComputePass(),
    ])
      await expectFinish(device, /a pass is open/, (encoder) => {
        const pass = encoder.beginComputePass()
        call(encoder)
        pass.end()
      })
    await expectFinish(device, /a pass is open/, (encoder) => void encoder.beginComputePass())
    device.destroy()
  })

  it('a pass that has ended accepts no calls', async () => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 12, usage: usage.INDIRECT })
    const module = device.createShaderModule({ code: '@compute @workgroup_size(1) fn main() {}' })
    const pipeline = device.createComputePipeline({ layout: 'auto', compute: { module } })
    const encoder = device.createCommandEncoder()
    const first = encoder.beginComputePass()
    const second = encoder.beginComputePass()
    // The second pass has made the encoder invalid; its end reports nothing, and the first pass is still open.
    await expectValidation(device, undefined, () => {
      second.insertDebugMarker('x')
      second.end()
      first.insertDebugMarker('x')
      first.end()
    })
    await expectValidation(device, /has ended/, () => second.end())
    for (const call of [
      () => first.end(),
      () => first.setPipeline(pipeline),
      () => first.setBindGroup(0, null),
      () => first.dispatchWorkgroups(1),
      () => first.dispatchWorkgroupsIndirect(buffer, 0),
      () => first.pushDebugGroup('x'),
      () => first.popDebugGroup(),
      () => first.insertDebugMarker('x'),
    ])
      await expectValidation(device, /has ended/, call)
    await expectValidation(device, /a pass is open/, () => encoder.finish())
    device.destroy()
  })

  it('a pass that is open when its encoder finishes cannot end', async () => {
    const device = await opened.device()
    const encoder = device.createCommandEncoder()
    const pass = encoder.beginComputePass()
    await expectValidation(device, /a pass is open/, () => encoder.finish())
    await expectValidation(device, undefined, () => pass.insertDebugMarker('x'))
    await expectValidation(device, /has finished/, () => pass.end())
    device.destroy()
  })

  it('methods throw for missing arguments', async () => {
    const device = await opened.device()
    const encoder = device.createCommandEncoder()
    const pass = encoder.beginComputePass()
    for (const [target, method, ...given] of [
      [encoder, 'pushDebugGroup'],
      [encoder, 'insertDebugMarker'],
      [encoder, 'clearBuffer'],
      [encoder, 'resolveQuerySet'],
      [pass, 'pushDebugGroup'],
      [pass, 'insertDebugMarker'],
      [pass, 'setPipeline'],
      [pass, 'setBindGroup'],
      [pass, 'setBindGroup', 0],
      [pass, 'setBindGroup', 0, null, new Uint32Array(1), 0],
      [pass, 'dispatchWorkgroups'],
      [pass, 'dispatchWorkgroupsIndirect'],
    ] as [object, string, ...unknown[]][]) {
      const call = target[method as keyof typeof target] as (...given: unknown[]) => unknown
      expect(() => call.apply(target, given), method).toThrow(TypeError)
    }
    await expectValidation(device, undefined, () => {
      encoder.pushDebugGroup.call(device.createCommandEncoder(), undefined as unknown as string)
      pass.setBindGroup(0, undefined)
      pass.end()
      encoder.finish()
    })
    device.destroy()
  })

  it('debug groups are balanced, in the encoder and in each pass', async () => {
    const device = await opened.device()
    await expectFinish(device, undefined, (encoder) => {
      encoder.pushDebugGroup('a')
      encoder.insertDebugMarker('b')
      const pass = encoder.beginComputePass({ label: 'pass' })
      pass.pushDebugGroup('c')
      pass.insertDebugMarker('d')
      pass.popDebugGroup()
      pass.end()
      encoder.popDebugGroup()
    })
    await expectFinish(device, /debug group is open/, (encoder) => encoder.pushDebugGroup('a'))
    await expectFinish(device, /no debug group is open/, (encoder) => encoder.popDebugGroup())
    await expectFinish(device, /debug group of the pass is open/, (encoder) => {
      const pass = encoder.beginComputePass()
      pass.pushDebugGroup('a')
      pass.end()
    })
    await expectFinish(device, /no debug group is open in the pass/, (encoder) => {
      encoder.pushDebugGroup('a')
      const pass = encoder.beginComputePass()
      pass.popDebugGroup()
      pass.end()
      encoder.popDebugGroup()
    })
    device.destroy()
  })
})

describe('13.4 to 13.6 copies, clears and queries', () => {
  it('copyBufferToBuffer checks usages, ranges and alignment', async () => {
    const device = await opened.device()
    const a = device.createBuffer({ size: 32, usage: usage.COPY_SRC })
    const b = device.createBuffer({ size: 16, usage: usage.COPY_DST })
    const both = device.createBuffer({ size: 32, usage: usage.COPY_SRC | usage.COPY_DST })
    const copy = (problem: RegExp | undefined, ...given: unknown[]) =>
      expectFinish(device, problem, (encoder) =>
        (encoder.copyBufferToBuffer as (...given: unknown[]) => undefined)(...given),
      )
    await copy(undefined, a, 0, b, 0, 16)
    await copy(undefined, a, 32, b, 16, 0)
    await copy(undefined, a, 16, b, 0)
    await copy(undefined, a, b, 16)
    await copy(/out of range/, a, b)
    await copy(/does not have the usage COPY_SRC/, b, 0, b, 0, 4)
    await copy(/does not have the usage COPY_DST/, a, 0, a, 16, 4)
    await copy(/the source and the destination are the same buffer/, both, 0, both, 16, 4)
    await copy(/multiples of 4/, a, 2, b, 0, 4)
    await copy(/multiples of 4/, a, 0, b, 2, 4)
    await copy(/multiples of 4/, a, 0, b, 0, 6)
    await copy(/out of range/, a, 20, b, 0, 16)
    await copy(/out of range/, a, 0, b, 4, 16)
    await copy(/out of range/, a, 0, b, Number.MAX_SAFE_INTEGER - 3, 4)
    const encoder = device.createCommandEncoder()
    const wrong = encoder.copyBufferToBuffer.bind(encoder) as (...given: unknown[]) => void
    for (const given of [[a], [a, 0, b], [a, -1, b, 0], [{}, b], [a, {}], [a, 0, {}, 0]])
      expect(() => wrong(...given)).toThrow(TypeError)
    device.destroy()
  })

  it('clearBuffer does the same', async () => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 32, usage: usage.COPY_DST })
    const clear = (problem: RegExp | undefined, ...given: [number?, number?]) =>
      expectFinish(device, problem, (encoder) => encoder.clearBuffer(buffer, ...given))
    await clear(undefined)
    await clear(undefined, 8)
    await clear(undefined, 32, 0)
    await clear(/multiples of 4/, 2)
    await clear(/multiples of 4/, 0, 3)
    await clear(/out of range/, 8, 28)
    await clear(/out of range/, 36)
    const source = device.createBuffer({ size: 4, usage: usage.COPY_SRC })
    await expectFinish(device, /COPY_DST/, (encoder) => encoder.clearBuffer(source))
    const other = await opened.device()
    await expectFinish(other, /another device/, (encoder) => encoder.clearBuffer(buffer))
    device.destroy()
    other.destroy()
  })

  it('query sets are made, resolved and written by passes within their bounds', async () => {
    const device = await opened.device({ requiredFeatures: ['timestamp-query'] })
    const plain = await opened.device()
    expect(() => plain.createQuerySet({ type: 'timestamp', count: 1 })).toThrow(TypeError)
    expect(() => plain.createQuerySet({ type: 'other' as 'occlusion', count: 1 })).toThrow(TypeError)
    await expectValidation(device, /4096/, () => device.createQuerySet({ type: 'timestamp', count: 4097 }))
    const querySet = device.createQuerySet({ type: 'timestamp', count: 4 })
    expect([querySet.type, querySet.count]).toEqual(['timestamp', 4])
    const target = device.createBuffer({ size: 288, usage: usage.QUERY_RESOLVE })
    const resolve = (problem: RegExp | undefined, first: number, count: number, offset: number) =>
      expectFinish(device, problem, (encoder) =>
        encoder.resolveQuerySet(querySet, first, count, target, offset),
      )
    await resolve(undefined, 0, 4, 256)
    await resolve(undefined, 3, 0, 0)
    await resolve(/out of range/, 4, 0, 0)
    await resolve(/out of range/, 1, 4, 0)
    await resolve(/multiple of 256/, 0, 1, 8)
    await resolve(/out of range/, 0, 1, 512)
    const occlusion = device.createQuerySet({ type: 'occlusion', count: 4 })
    const write = (
      problem: RegExp | undefined,
      beginningOfPassWriteIndex?: number,
      endOfPassWriteIndex?: number,
      from = querySet,
    ) =>
      expectFinish(device, problem, (encoder) => {
        const timestampWrites = {
          querySet: from,
          ...(beginningOfPassWriteIndex !== undefined && { beginningOfPassWriteIndex }),
          ...(endOfPassWriteIndex !== undefined && { endOfPassWriteIndex }),
        }
        encoder.beginComputePass({ timestampWrites }).end()
      })
    await write(undefined, 0, 3)
    await write(undefined, undefined, 0)
    await write(/no index/)
    await write(/twice/, 1, 1)
    await write(/out of range for/, 4)
    await write(/out of range for/, 0, 4)
    await write(/type 'occlusion'/, 0, 1, occlusion)
    const encoder = device.createCommandEncoder()
    encoder.resolveQuerySet(querySet, 0, 1, target, 0)
    const commands = encoder.finish()
    querySet.destroy()
    querySet.destroy()
    await expectValidation(device, /query set .* is destroyed/, () => device.queue.submit([commands]))
    device.destroy()
    plain.destroy()
  })
})

describe('14 and 16 bind groups and dispatches', () => {
  const code = `
    @group(0) @binding(0) var<storage, read> x: array<u32>;
    @group(0) @binding(1) var<storage, read_write> y: array<u32>;
    @group(1) @binding(0) var<storage, read_write> z: array<u32>;
    @compute @workgroup_size(1) fn main() { y[0] = x[0]; z[0] = 1; }`
  const layoutOf = (device: GPUDevice, ...types: GPUBufferBindingType[]) =>
    device.createBindGroupLayout({
      entries: types.map((type, binding) => ({
        binding,
        visibility: stage.COMPUTE,
        buffer: { type, hasDynamicOffset: type === 'storage' },
      })),
    })

  async function setup() {
    const device = await opened.device()
    const layouts = [layoutOf(device, 'read-only-storage', 'storage'), layoutOf(device, 'storage')] as const
    const pipeline = device.createComputePipeline({
      layout: device.createPipelineLayout({ bindGroupLayouts: layouts }),
      compute: { module: device.createShaderModule({ code }) },
    })
    const make = () =>
      device.createBuffer({ size: 1024, usage: usage.STORAGE | usage.INDIRECT | usage.COPY_SRC })
    const group = (index: 0 | 1, ...resources: GPUBufferBinding[]) =>
      device.createBindGroup({
        layout: layouts[index],
        entries: resources.map((resource, binding) => ({ binding, resource })),
      })
    /** Records a dispatch with these bind groups and offsets. */
    const dispatch = (
      problem: RegExp | undefined,
      first: readonly [GPUBindGroup | null, number[]],
      second: readonly [GPUBindGroup | null, number[]],
      more: (pass: GPUComputePassEncoder) => void = (pass) => pass.dispatchWorkgroups(1),
    ) =>
      expectFinish(device, problem, (encoder) => {
        const pass = encoder.beginComputePass()
        pass.setPipeline(pipeline)
        pass.setBindGroup(0, ...first)
        pass.setBindGroup(1, ...second)
        more(pass)
        pass.end()
      })
    return { device, pipeline, make, group, dispatch }
  }

  it('accepts what is compatible', async () => {
    const { device, make, group, dispatch, pipeline } = await setup()
    const [x, y, z] = [make(), make(), make()]
    const whole = group(0, { buffer: x }, { buffer: y, size: 256 })
    const other = group(1, { buffer: z, size: 512 })
    await dispatch(undefined, [whole, [0]], [other, [512]])
    await dispatch(/no bind group is set for group 1/, [whole, [0]], [null, []])
    await dispatch(/not have the same layout/, [other, [0]], [other, [0]])
    await dispatch(/1 dynamic offsets|0 dynamic offsets/, [whole, []], [other, [0]])
    await dispatch(/2 dynamic offsets/, [whole, [0, 0]], [other, [0]])
    await dispatch(/multiple of 256/, [whole, [4]], [other, [0]])
    await dispatch(/out of/, [whole, [1024]], [other, [0]])
    await dispatch(/out of/, [whole, [0]], [other, [768]])
    await dispatch(/without a bind group/, [whole, [0]], [null, [0]])
    await expectFinish(device, /no pipeline is set/, (encoder) => {
      const pass = encoder.beginComputePass()
      pass.dispatchWorkgroups(0)
      pass.end()
    })
    await expectFinish(device, /must be less than maxBindGroups/, (encoder) => {
      const pass = encoder.beginComputePass()
      pass.setBindGroup(4, null)
      pass.end()
    })
    await dispatch(/exceed maxComputeWorkgroupsPerDimension/, [whole, [0]], [other, [0]], (pass) =>
      pass.dispatchWorkgroups(1, 65_536),
    )
    await dispatch(undefined, [whole, [0]], [other, [0]], (pass) =>
      pass.dispatchWorkgroups(65_535, 65_535, 0),
    )
    // The check is repeated after another bind group is set.
    await dispatch(/written share memory/, [whole, [0]], [other, [0]], (pass) => {
      pass.dispatchWorkgroups(1)
      pass.setBindGroup(1, group(1, { buffer: y, size: 256 }), [0])
      pass.dispatchWorkgroups(1)
    })
    const pass = device.createCommandEncoder().beginComputePass()
    const offsets = Uint32Array.of(7, 256, 8)
    for (const [start, length] of [
      [0, 4],
      [3, 1],
    ] as const)
      expect(() => pass.setBindGroup(0, whole, offsets, start, length)).toThrow(RangeError)
    expect(() => pass.setBindGroup(0, whole, [0] as unknown as Uint32Array, 0, 1)).toThrow(TypeError)
    expect(() => pass.dispatchWorkgroups(-1)).toThrow(TypeError)
    expect(() => pass.setPipeline({} as GPUComputePipeline)).toThrow(TypeError)
    await dispatch(undefined, [whole, [0]], [other, [0]], (given) => {
      given.setBindGroup(0, whole, offsets, 1, 1)
      given.dispatchWorkgroups(1)
    })
    // What is checked is what is bound, whatever methods the caller's arrays have.
    const forged = { length: 1, 0: 0 }
    const array = Object.assign([2 ** 20], { map: () => forged }) as number[]
    const typed = Object.assign(Uint32Array.of(2 ** 20), { slice: () => forged }) as unknown as Uint32Array
    for (const given of [[array], [typed, 0, 1]])
      await dispatch(/out of/, [whole, [0]], [other, [0]], (pass) =>
        Reflect.apply(pass.setBindGroup, pass, [0, whole, ...given]),
      )
    expect(pipeline.label).toBe('')
    device.destroy()
  })

  it('a dispatch reads or writes a buffer, and what it writes overlaps nothing else', async () => {
    const { device, make, group, dispatch } = await setup()
    const [x, y] = [make(), make()]
    const part = (buffer: GPUBuffer, offset: number) => ({ buffer, offset, size: 256 })
    const first = group(0, part(x, 0), part(y, 0))
    await dispatch(undefined, [first, [0]], [group(1, part(y, 256)), [0]])
    await dispatch(/written share memory/, [first, [0]], [group(1, part(y, 0)), [0]])
    await dispatch(/written share memory/, [first, [512]], [group(1, part(y, 256)), [256]])
    await dispatch(undefined, [first, [512]], [group(1, part(y, 256)), [512]])
    await dispatch(/for reading and for writing/, [first, [0]], [group(1, part(x, 512)), [0]])
    await dispatch(
      /for reading and for writing/,
      [group(0, part(x, 0), part(x, 512)), [0]],
      [group(1, part(y, 0)), [0]],
    )
    device.destroy()
  })

  it('one bind group that is set for two groups is compared with itself', async () => {
    const { device, make } = await setup()
    const layout = layoutOf(device, 'storage')
    const code = `@group(0) @binding(0) var<storage, read_write> x: u32;
      @group(1) @binding(0) var<storage, read_write> y: u32;
      @compute @workgroup_size(1) fn main() { x = 1; y = 2; }`
    const pipeline = device.createComputePipeline({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout, layout] }),
      compute: { module: device.createShaderModule({ code }) },
    })
    const entries = [{ binding: 0, resource: { buffer: make(), size: 256 } }]
    const group = device.createBindGroup({ layout, entries })
    for (const [offset, problem] of [
      [0, /written share memory/],
      [256, undefined],
    ] as const)
      await expectFinish(device, problem, (encoder) => {
        const pass = encoder.beginComputePass()
        pass.setPipeline(pipeline)
        pass.setBindGroup(0, group, [0])
        pass.setBindGroup(1, group, [offset])
        pass.dispatchWorkgroups(1)
        pass.end()
      })
    device.destroy()
  })

  it('counts of an indirect dispatch are read from a buffer that nothing writes', async () => {
    const { device, make, group, dispatch } = await setup()
    const [x, y, z, counts] = [make(), make(), make(), make()]
    const plain = device.createBuffer({ size: 16, usage: usage.STORAGE })
    const groups = [
      [group(0, { buffer: x }, { buffer: y }), [0]],
      [group(1, { buffer: z }), [0]],
    ] as const
    const indirect = (problem: RegExp | undefined, buffer: GPUBuffer, offset: number) =>
      dispatch(problem, groups[0] as never, groups[1] as never, (pass) =>
        pass.dispatchWorkgroupsIndirect(buffer, offset),
      )
    await indirect(undefined, counts, 1012)
    await indirect(undefined, x, 0)
    await indirect(/out of range/, counts, 1016)
    await indirect(/multiple of 4/, counts, 2)
    await indirect(/does not have the usage INDIRECT/, plain, 0)
    await indirect(/for reading and for writing/, z, 512)
    device.destroy()
  })

  it('bindings without a size in the layout are as large as the kernel needs', async () => {
    const device = await opened.device()
    const layout = layoutOf(device, 'read-only-storage')
    const kernel =
      '@group(0) @binding(0) var<storage, read> x: array<vec4u, 2>; @compute @workgroup_size(1) fn main() { _ = x[0]; }'
    const pipeline = device.createComputePipeline({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module: device.createShaderModule({ code: kernel }) },
    })
    const buffer = device.createBuffer({ size: 64, usage: usage.STORAGE })
    for (const [problem, size] of [
      [undefined, 32],
      [/has 28 bytes; the kernel needs 32/, 28],
    ] as const)
      await expectFinish(device, problem, (encoder) => {
        const pass = encoder.beginComputePass()
        pass.setPipeline(pipeline)
        pass.setBindGroup(
          0,
          device.createBindGroup({ layout, entries: [{ binding: 0, resource: { buffer, size } }] }),
        )
        pass.dispatchWorkgroups(1)
        pass.end()
      })
    device.destroy()
  })
})
