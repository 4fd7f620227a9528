import { referenceBackend } from '@tandem-gpu/core/testing'
import { describe, expect, it } from 'vitest'
import { globals } from './globals.ts'
import { install } from './install.ts'
import {
  expectValidation,
  mapMode,
  onReference,
  openedGpu,
  rejection,
  usage,
  validated,
} from './testing-gpu.ts'

const opened = openedGpu()
const wrongBuffer = { size: 4, usage: 0 }

/** Creates more buffers of the maximum size than fit in the GPU's memory. */
async function tooManyBuffers() {
  const { maxBufferSize } = (await opened.gpu.requestAdapter())!.limits
  const { memoryByteLength } = opened.group.devices[0]!.info
  const device = await opened.device({ requiredLimits: { maxBufferSize } })
  const create = () => device.createBuffer({ size: maxBufferSize, usage: usage.COPY_DST })
  return { device, create, count: Math.floor(memoryByteLength! / maxBufferSize) + 1 }
}

describe('22 errors: scopes', () => {
  it('catch the first error of their kind', async () => {
    const device = await opened.device()
    device.pushErrorScope('validation')
    device.createBuffer({ size: 4, usage: 0 })
    device.createBuffer({ size: 4, usage: 0x10000 })
    const error = await device.popErrorScope()
    expect(error).toBeInstanceOf(globals.GPUValidationError)
    expect(error!.message).toContain('0x0')
    device.destroy()
  })

  it('pass errors of other kinds to the enclosing scope', async () => {
    const device = await opened.device()
    device.pushErrorScope('validation')
    device.pushErrorScope('out-of-memory')
    device.pushErrorScope('internal')
    device.createBuffer(wrongBuffer)
    const errors = [device.popErrorScope(), device.popErrorScope(), device.popErrorScope()]
    expect((await Promise.all(errors)).map((error) => error?.constructor.name)).toEqual([
      undefined,
      undefined,
      'GPUValidationError',
    ])
    device.destroy()
  })

  it('reject if no scope is open', async () => {
    const device = await opened.device()
    expect(await rejection(device.popErrorScope())).toBe('OperationError')
    device.pushErrorScope('internal')
    expect(await device.popErrorScope()).toBeNull()
    expect(await rejection(device.popErrorScope())).toBe('OperationError')
    expect(() => device.pushErrorScope('other' as 'internal')).toThrow(TypeError)
    device.destroy()
  })

  it('catch the error of a buffer for which there is no memory', async () => {
    const { device, create, count } = await tooManyBuffers()
    const buffers: GPUBuffer[] = []
    let error: GPUError | null = null
    while (error === null && buffers.length < count) {
      device.pushErrorScope('out-of-memory')
      buffers.push(create())
      error = await device.popErrorScope()
    }
    expect(error).toBeInstanceOf(globals.GPUOutOfMemoryError)
    expect(buffers.length).toBeGreaterThan(1)
    await expectValidation(device, /is invalid/, () =>
      device.queue.writeBuffer(buffers.at(-1)!, 0, new Uint32Array(1)),
    )
    device.destroy()
    await new Promise((resolve) => setTimeout(resolve, 20))
  })

  const reason = onReference ? '' : ' (skipped: nothing limits the page-locked memory of this device)'
  it.skipIf(!onReference)(`catch the error of a buffer that has no memory to map${reason}`, async () => {
    const { device, count } = await tooManyBuffers()
    const size = device.limits.maxBufferSize
    device.pushErrorScope('out-of-memory')
    const buffers = Array.from({ length: count }, () =>
      device.createBuffer({ size, usage: usage.COPY_DST | usage.MAP_READ }),
    )
    expect(await rejection(buffers.at(-1)!.mapAsync(mapMode.READ, 0, 8))).toBe('OperationError')
    expect(await device.popErrorScope()).toBeInstanceOf(globals.GPUOutOfMemoryError)
    device.destroy()
    await new Promise((resolve) => setTimeout(resolve, 20))
  })

  it('catch the error of a submit with a buffer whose failed allocation is not known yet', async () => {
    const { device, create, count } = await tooManyBuffers()
    device.pushErrorScope('out-of-memory')
    const buffers = Array.from({ length: count }, create)
    device.pushErrorScope('validation')
    const encoder = device.createCommandEncoder()
    encoder.clearBuffer(buffers.at(-1)!)
    device.queue.submit([encoder.finish()])
    expect((await device.popErrorScope())?.message).toContain('no memory')
    expect(await device.popErrorScope()).toBeInstanceOf(globals.GPUOutOfMemoryError)
    device.destroy()
    await new Promise((resolve) => setTimeout(resolve, 20))
  })
})

describe('22 errors: uncaptured', () => {
  it('are dispatched to listeners and to the handler, as events of the device', async () => {
    const device = await opened.device()
    const heard: string[] = []
    const event = new Promise<GPUUncapturedErrorEvent>((resolve) => {
      device.addEventListener('uncapturederror', (given) => {
        heard.push('listener')
        given.preventDefault()
        resolve(given)
      })
    })
    device.onuncapturederror = () => void heard.push('handler')
    device.createBuffer(wrongBuffer)
    const { error, target } = await event
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(error).toBeInstanceOf(globals.GPUValidationError)
    expect(target).toBe(device)
    // The handler was set when the device was opened, and keeps its place.
    expect(heard).toEqual(['handler', 'listener'])
    device.onuncapturederror = null
    expect(device.onuncapturederror).toBeNull()
    device.destroy()
  })

  it('handlers that return false cancel the event; objects that cannot be called are kept', async () => {
    const device = await opened.device()
    const events: Event[] = []
    const next = () =>
      new Promise<void>((resolve) => {
        const listener = (event: Event) => {
          events.push(event)
          event.preventDefault()
          resolve()
        }
        device.addEventListener('uncapturederror', listener, { once: true })
      })
    const { GPUUncapturedErrorEvent, GPUValidationError } = globals as unknown as typeof globalThis
    const handlers = device as unknown as { onuncapturederror: unknown }
    handlers.onuncapturederror = () => false
    const dispatched = new GPUUncapturedErrorEvent('uncapturederror', {
      error: new GPUValidationError('wrong'),
      cancelable: true,
    } as GPUUncapturedErrorEventInit)
    expect(device.dispatchEvent(dispatched)).toBe(false)
    const object = { handleEvent: () => expect.unreachable() }
    handlers.onuncapturederror = object
    expect(handlers.onuncapturederror).toBe(object)
    const heard = next()
    device.createBuffer(wrongBuffer)
    await heard
    expect(events.length).toBe(1)
    handlers.onuncapturederror = 5
    expect(handlers.onuncapturederror).toBeNull()
    device.destroy()
  })

  it('can be constructed by users', () => {
    const { GPUUncapturedErrorEvent, GPUValidationError, GPUPipelineError, GPUError, GPUBuffer } =
      globals as unknown as typeof globalThis & { GPUError: new () => unknown; GPUBuffer: new () => unknown }
    const error = new GPUValidationError('wrong')
    expect(error.message).toBe('wrong')
    const event = new GPUUncapturedErrorEvent('uncapturederror', {
      error,
      cancelable: true,
    } as GPUUncapturedErrorEventInit)
    expect([event.error, event.cancelable, event.type]).toEqual([error, true, 'uncapturederror'])
    const pipelineError = new GPUPipelineError('wrong', { reason: 'internal' })
    expect(pipelineError).toBeInstanceOf(DOMException)
    expect([pipelineError.name, pipelineError.reason, pipelineError.message]).toEqual([
      'GPUPipelineError',
      'internal',
      'wrong',
    ])
    for (const make of [
      () => new GPUError(),
      () => new GPUBuffer(),
      () => new (GPUValidationError as unknown as new () => unknown)(),
      () => new GPUPipelineError('', {} as GPUPipelineErrorInit),
      () => new GPUPipelineError('', { reason: 'other' as 'internal' }),
      () => new GPUUncapturedErrorEvent('x', {} as GPUUncapturedErrorEventInit),
    ])
      expect(make).toThrow(TypeError)
  })
})

describe('22 device loss', () => {
  it('destroy loses the device, once, and unmaps its buffers', async () => {
    const device = await opened.device()
    const mapped = device.createBuffer({ size: 8, usage: usage.MAP_WRITE, mappedAtCreation: true })
    const range = mapped.getMappedRange()
    device.destroy()
    device.destroy()
    const info = await device.lost
    expect(info.reason).toBe('destroyed')
    expect(await device.lost).toBe(info)
    expect([mapped.mapState, range.byteLength]).toEqual(['unmapped', 0])
  })

  it('after it, objects can be created, and no error is reported', async () => {
    const device = await opened.device()
    device.pushErrorScope('validation')
    device.destroy()
    device.createBuffer(wrongBuffer)
    const buffer = device.createBuffer({
      size: 8,
      usage: usage.MAP_READ | usage.COPY_DST,
      mappedAtCreation: true,
    })
    expect(buffer.getMappedRange().byteLength).toBe(8)
    buffer.unmap()
    const mapping = rejection(buffer.mapAsync(1))
    expect(buffer.mapState).toBe('pending')
    expect(await mapping).toBe('AbortError')
    expect(buffer.mapState).toBe('unmapped')
    const code = '@compute @workgroup_size(1) fn main() {}'
    const module = device.createShaderModule({ code })
    const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module } })
    const encoder = device.createCommandEncoder()
    const pass = encoder.beginComputePass()
    pass.setPipeline(pipeline)
    pass.dispatchWorkgroups(1)
    pass.end()
    encoder.clearBuffer(buffer)
    device.queue.submit([encoder.finish()])
    device.queue.writeBuffer(buffer, 0, new Uint32Array(1))
    device.createQuerySet({ type: 'occlusion', count: 1 }).destroy()
    await device.queue.onSubmittedWorkDone()
    expect(await device.popErrorScope()).toBeNull()
    expect(await device.popErrorScope()).toBeNull()
  })

  it('aborts mappings and settles pending promises', async () => {
    const device = await opened.device()
    const buffer = device.createBuffer({ size: 8, usage: usage.MAP_READ | usage.COPY_DST })
    const mapping = buffer.mapAsync(1)
    const done = device.queue.onSubmittedWorkDone()
    device.destroy()
    expect(await rejection(mapping)).toBe('AbortError')
    await done
  })

  it('comes after the errors of earlier calls', async () => {
    const device = await opened.device()
    const module = device.createShaderModule({ code: '@compute @workgroup_size(1) fn main() {}' })
    const events: string[] = []
    const wrong = device.createComputePipelineAsync({
      layout: 'auto',
      compute: { module, entryPoint: 'other' },
    })
    wrong.catch((error: Error) => events.push(error.name))
    device.destroy()
    await device.lost.then(({ reason }) => events.push(reason))
    expect(events).toEqual(['GPUPipelineError', 'destroyed'])
  })
})

it('the outcomes of buffers created in a row, and of submits after them, are rarely queried', async () => {
  const backend = referenceBackend()
  const open = backend.open.bind(backend)
  let asked = 0
  backend.open = async (...given) => {
    const runtime = await open(...given)
    const openQueue = runtime.openCommandQueue!.bind(runtime)
    runtime.openCommandQueue = (...options) => {
      const queue = openQueue(...options)
      const settled = queue.settled.bind(queue)
      queue.settled = () => {
        asked++
        return settled()
      }
      return queue
    }
    return runtime
  }
  const { createGPU, destroyGPU } = await import('./create-gpu.ts')
  const gpu = await createGPU({ backends: [backend] })
  const device = await (await gpu.requestAdapter())!.requestDevice()
  for (let i = 0; i < 2000; i++) device.createBuffer({ size: 4, usage: usage.STORAGE }).destroy()
  await device.queue.onSubmittedWorkDone()
  expect(asked).toBe(1)
  device.pushErrorScope('out-of-memory')
  device.createBuffer({ size: 4, usage: usage.STORAGE })
  expect(await device.popErrorScope()).toBeNull()
  expect(asked).toBe(2)
  const buffer = device.createBuffer({ size: 4, usage: usage.COPY_DST })
  for (const count of [300, 300]) {
    for (let i = 0; i < count; i++) {
      const encoder = device.createCommandEncoder()
      encoder.clearBuffer(buffer)
      device.queue.submit([encoder.finish()])
    }
    await device.queue.onSubmittedWorkDone()
    // Only once: after that every outcome is known.
    expect(asked).toBe(3)
  }
  device.destroy()
  await destroyGPU(gpu)
})

it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e12])(
  'a time limit of %f s is refused',
  async (timeoutSeconds) => {
    const { createGPU } = await import('./create-gpu.ts')
    await expect(createGPU(opened.group.devices[0]!, { timeoutSeconds })).rejects.toMatchObject({
      code: 'validation',
      message: `The time limit of command queue "WebGPU" is ${timeoutSeconds} seconds; it must be a number above 0 and at most 2147483.`,
    })
  },
)

it('the longest time limit does not end a submit', async () => {
  const { createGPU } = await import('./create-gpu.ts')
  const gpu = await createGPU(opened.group.devices[0]!, { timeoutSeconds: 2_147_483 })
  const device = await (await gpu.requestAdapter())!.requestDevice()
  const buffer = device.createBuffer({ size: 4, usage: usage.COPY_DST })
  device.queue.writeBuffer(buffer, 0, new Uint32Array(1))
  await device.queue.onSubmittedWorkDone()
  const lost = await Promise.race([
    device.lost.then(() => true),
    new Promise((resolve) => setTimeout(resolve, 300)),
  ])
  expect(lost).toBe(undefined)
  device.destroy()
})

it('a kernel that does not end loses only its own GPUDevice', async () => {
  const group = opened.group
  const { createGPU } = await import('./create-gpu.ts')
  const gpu = await createGPU(group.devices[0]!, { timeoutSeconds: 0.2 })
  const [device, other] = await Promise.all(
    [0, 1].map(async () => (await gpu.requestAdapter())!.requestDevice()),
  )
  const code = `@group(0) @binding(0) var<storage, read_write> x: atomic<u32>;
    @compute @workgroup_size(1) fn main() { while (atomicLoad(&x) == 0) { atomicMax(&x, 0); } }`
  const pipeline = device!.createComputePipeline({
    layout: 'auto',
    compute: { module: device!.createShaderModule({ code }) },
  })
  const buffer = device!.createBuffer({ size: 4, usage: usage.STORAGE })
  const encoder = device!.createCommandEncoder()
  const pass = encoder.beginComputePass()
  pass.setPipeline(pipeline)
  pass.setBindGroup(
    0,
    device!.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [{ binding: 0, resource: buffer }],
    }),
  )
  pass.dispatchWorkgroups(1)
  pass.end()
  device!.queue.submit([encoder.finish()])
  const lost = await device!.lost
  expect([lost.reason, lost.message]).toEqual(['unknown', expect.stringContaining('0.2 s')])
  expect(
    (await validated(other!, () => other!.createBuffer({ size: 4, usage: usage.STORAGE }))).error,
  ).toBeUndefined()
  await other!.queue.onSubmittedWorkDone()
  device!.destroy()
  other!.destroy()
})

it('using what is not supported is a validation error, and returns an invalid object', async () => {
  const device = await opened.device()
  const texture = { size: [1], format: 'rgba8unorm', usage: 4 } as const
  const missing = /does not support textures, samplers or rendering/
  const made = await expectValidation(device, missing, () => device.createTexture(texture))
  // As large as the device's limits for textures allow, as a list and as a dictionary.
  const { maxTextureDimension2D: side, maxTextureArrayLayers: layers } = device.limits
  for (const size of [[side, side, layers], { width: side, height: side, depthOrArrayLayers: layers }]) {
    device.pushErrorScope('out-of-memory')
    device.createTexture({ size, format: 'rgba32float', usage: 2 })
    expect((await device.popErrorScope())?.message).toMatch(/needs \d{12} bytes/)
  }
  const sampler = await expectValidation(device, missing, () => device.createSampler())
  const layout = device.createBindGroupLayout({ entries: [{ binding: 0, visibility: 4, sampler: {} }] })
  await expectValidation(device, /GPUSampler .* is invalid/, () =>
    device.createBindGroup({ layout, entries: [{ binding: 0, resource: sampler }] }),
  )
  await expectValidation(device, undefined, () => made.createView())
  const rejected = device.createRenderPipelineAsync({} as GPURenderPipelineDescriptor)
  expect(await rejection(rejected)).toBe('GPUPipelineError')
  device.destroy()
})

it('interfaces and namespaces follow Web IDL', async () => {
  const device = await opened.device()
  const members = (object: object) => {
    const names: string[] = []
    for (const name in object) names.push(name)
    return names
  }
  const buffer = device.createBuffer({ size: 4, usage: usage.STORAGE })
  expect(Object.keys(buffer)).toEqual([])
  expect(members(buffer).sort()).toEqual(
    ['destroy', 'getMappedRange', 'label', 'mapAsync', 'mapState', 'size', 'unmap', 'usage'].sort(),
  )
  expect(members(device)).toEqual(expect.arrayContaining(['label', 'limits', 'lost', 'createBuffer']))
  expect(members(device.features)).toEqual(expect.arrayContaining(['size', 'has', 'forEach', 'values']))
  const { GPUDeviceLostInfo, GPUError, GPUValidationError } = globals as unknown as typeof globalThis
  const own = (object: object) => Object.keys(Object.getPrototypeOf(object) as object)
  expect(own(buffer)).toContain('label')
  expect(own(device.features)).toContain('has')
  expect(members(new GPUValidationError('x'))).toEqual(['message'])
  for (const [name, value] of Object.entries(globals)) {
    if (typeof value === 'object') {
      expect(Object.prototype.toString.call(value)).toBe(`[object ${name}]`)
      continue
    }
    const { prototype } = value as { prototype: object }
    // The members of mixins, such as `label`, are the interface's own.
    const parent = Object.getPrototypeOf(prototype) as object
    const parents: object[] = [Object, EventTarget, Event, DOMException, GPUError].map((p) => p.prototype)
    expect(parents.includes(parent), name).toBe(true)
    expect(Object.prototype.toString.call(prototype)).toBe(`[object ${name}]`)
    expect(Object.getOwnPropertyDescriptor(prototype, 'constructor')!.enumerable).toBe(false)
    // Getters of objects of other interfaces throw.
    for (const [attribute, { get }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if (get !== undefined) expect(() => get.call({}), attribute).toThrow(TypeError)
  }
  expect(() => Object.assign(buffer, { size: 8 })).toThrow(TypeError)
  expect(() => new (GPUDeviceLostInfo as unknown as new () => unknown)()).toThrow(TypeError)
  for (const call of [
    () => Reflect.apply(buffer.mapAsync, {}, [1]),
    () => Reflect.apply(device.popErrorScope, {}, []),
    () => Reflect.apply(device.createComputePipelineAsync, {}, [{}]),
    () => Reflect.apply(device.queue.onSubmittedWorkDone, {}, []),
  ])
    expect(await rejection(call() as Promise<unknown>)).toBe('TypeError')
  device.destroy()
})

it('methods and arguments accept only objects of their interface, whatever the prototypes', async () => {
  const device = await opened.device()
  const buffer = device.createBuffer({ size: 4, usage: usage.STORAGE })
  const querySet = device.createQuerySet({ type: 'occlusion', count: 1 })
  expect(() => Reflect.apply(querySet.destroy, buffer, [])).toThrow(TypeError)
  expect(() => Reflect.apply(device.queue.submit, buffer, [[]])).toThrow(TypeError)
  Object.setPrototypeOf(buffer, Object.getPrototypeOf(querySet) as object)
  const encoder = device.createCommandEncoder()
  const target = device.createBuffer({ size: 8, usage: usage.QUERY_RESOLVE })
  expect(() => encoder.resolveQuerySet(buffer as unknown as GPUQuerySet, 0, 1, target, 0)).toThrow(TypeError)
  device.destroy()
})

it('install adds the API to the global scope, and can remove it again', () => {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator')
  const uninstall = install(opened.gpu)
  expect(navigator.gpu).toBe(opened.gpu)
  expect(GPUBufferUsage.STORAGE).toBe(0x80)
  expect(GPUMapMode.WRITE).toBe(2)
  expect(Object.keys(globals).filter((name) => !(name in globalThis))).toEqual([])
  uninstall()
  expect('GPUBufferUsage' in globalThis).toBe(false)
  expect(Object.getOwnPropertyDescriptor(globalThis, 'navigator')).toEqual(before)
})
