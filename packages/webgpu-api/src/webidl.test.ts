import { describe, expect, it } from 'vitest'
import { openedGpu, usage } from './testing-gpu.ts'

const opened = openedGpu()

/** Logs the names of the members that are read, with those of dictionaries in the dictionary. */
function observed<T extends object>(dictionary: T, log: string[], path = ''): T {
  const result = {}
  for (const [name, value] of Object.entries(dictionary))
    Object.defineProperty(result, name, {
      enumerable: true,
      get() {
        log.push(path + name)
        const isDictionary = Object.getPrototypeOf(value ?? 0) === Object.prototype
        if (Array.isArray(value)) return value.map((item) => observed(item, log, `${path}${name}[].`))
        return isDictionary ? observed(value, log, `${path}${name}.`) : value
      },
    })
  return result as T
}

describe('dictionaries', () => {
  it('members are read once: inherited ones first, then by name', async () => {
    const device = await opened.device({ requiredFeatures: ['timestamp-query'] })
    const log: string[] = []
    const reads = (call: () => unknown) => {
      log.length = 0
      call()
      return log.splice(0)
    }
    const buffer = device.createBuffer({ size: 16, usage: usage.STORAGE })
    const entry = { visibility: 4, binding: 0, buffer: { type: 'storage', minBindingSize: 4 } } as const
    const layout = device.createBindGroupLayout({ entries: [entry] })
    const module = device.createShaderModule({ code: '@compute @workgroup_size(1) fn main() {}' })
    const querySet = device.createQuerySet({ type: 'timestamp', count: 2 })
    const writes = { querySet, endOfPassWriteIndex: 1, beginningOfPassWriteIndex: 0 }
    const compute = { module, entryPoint: 'main', constants: {} }

    expect(
      reads(() => device.createBindGroupLayout(observed({ entries: [entry], label: 'a' }, log))),
    ).toEqual([
      ...['label', 'entries', 'entries[].binding', 'entries[].buffer'],
      ...['entries[].buffer.minBindingSize', 'entries[].buffer.type', 'entries[].visibility'],
    ])
    const texture = {
      binding: 0,
      texture: { sampleType: 'uint', multisampled: true },
      visibility: 4,
    } as const
    expect(reads(() => device.createBindGroupLayout(observed({ entries: [texture] }, log)))).toEqual([
      ...['entries', 'entries[].binding', 'entries[].texture', 'entries[].texture.multisampled'],
      ...['entries[].texture.sampleType', 'entries[].visibility'],
    ])
    const bound = [{ resource: { size: 8, buffer, offset: 0 }, binding: 0 }]
    expect(reads(() => device.createBindGroup(observed({ layout, entries: bound }, log)))).toEqual([
      ...['entries', 'entries[].binding', 'entries[].resource', 'entries[].resource.buffer'],
      ...['entries[].resource.offset', 'entries[].resource.size', 'layout'],
    ])
    expect(reads(() => device.createComputePipeline(observed({ layout: 'auto', compute }, log)))).toEqual([
      ...['layout', 'compute', 'compute.constants', 'compute.entryPoint', 'compute.module'],
    ])
    const hinted = { compilationHints: [], code: '' }
    expect(reads(() => device.createShaderModule(observed(hinted, log)))).toEqual([
      ...['code', 'compilationHints'],
    ])
    const encoder = device.createCommandEncoder()
    expect(reads(() => encoder.beginComputePass(observed({ timestampWrites: writes }, log)))).toEqual([
      ...['timestampWrites', 'timestampWrites.beginningOfPassWriteIndex'],
      ...['timestampWrites.endOfPassWriteIndex', 'timestampWrites.querySet'],
    ])
    const options = { powerPreference: 'low-power', forceFallbackAdapter: false } as const
    expect(reads(() => void opened.gpu.requestAdapter(observed(options, log)))).toEqual([
      ...['forceFallbackAdapter', 'powerPreference'],
    ])
    device.destroy()
  })

  it('an error of a getter, an iterator or a conversion reaches the caller', async () => {
    const device = await opened.device()
    const failing = (): never => {
      throw new SyntaxError('from the caller')
    }
    const wrong = (value: object) => value as never
    expect(() => device.createBuffer(wrong(Object.defineProperty({}, 'label', { get: failing })))).toThrow(
      SyntaxError,
    )
    expect(() => device.createBuffer(wrong({ size: { valueOf: failing }, usage: 8 }))).toThrow(SyntaxError)
    expect(() => device.createBindGroupLayout(wrong({ entries: { [Symbol.iterator]: failing } }))).toThrow(
      SyntaxError,
    )
    expect(() => device.queue.submit(wrong({ [Symbol.iterator]: () => ({ next: failing }) }))).toThrow(
      SyntaxError,
    )
    device.destroy()
  })
})

it('a sequence asks for its iterator once', async () => {
  const device = await opened.device()
  let reads = 0
  const entries = Object.defineProperty({}, Symbol.iterator, {
    get() {
      reads++
      return [][Symbol.iterator].bind([])
    },
  })
  device.createBindGroupLayout({ entries: entries as [] })
  expect(reads).toBe(1)
  device.destroy()
})

it('a record has the enumerable members in their order, and symbols are not names', async () => {
  const device = await opened.device()
  const module = device.createShaderModule({
    code: 'override a: u32; override b: u32; @compute @workgroup_size(a, b) fn main() {}',
  })
  const log: string[] = []
  const member = (name: string, enumerable = true) => ({ enumerable, get: () => log.push(name) })
  const constants = Object.defineProperties({}, { b: member('b'), a: member('a'), c: member('c', false) })
  const create = (given: object) =>
    device.createComputePipeline({
      layout: 'auto',
      compute: { module, constants: given as Record<string, number> },
    })
  create(constants)
  expect(log).toEqual(['b', 'a'])
  expect(() => create({ a: 1, b: 1, [Symbol('c')]: 1 })).toThrow(TypeError)
  device.destroy()
})
