import { describe, expect, it } from 'vitest'
import { expectValidation, openedGpu, stage, usage } from './testing-gpu.ts'

const opened = openedGpu()
const { COMPUTE, VERTEX, FRAGMENT } = stage
const buffer = {}
const entry = (binding: number, more: object = { buffer }): GPUBindGroupLayoutEntry => ({
  binding,
  visibility: COMPUTE,
  ...more,
})
const many = (count: number, more: object) =>
  Array.from({ length: count }, (_, binding) => entry(binding, more))
const storage = { buffer: { type: 'storage' } }
const dynamic = (type: string) => ({ buffer: { type, hasDynamicOffset: true } })

describe('8.1 createBindGroupLayout', () => {
  const cases: [problem: RegExp | undefined, entries: GPUBindGroupLayoutEntry[]][] = [
    [undefined, []],
    [undefined, [entry(999), entry(3)]],
    [undefined, [entry(0, { buffer, visibility: 0 })]],
    [undefined, [entry(0, { buffer: { type: 'read-only-storage' }, visibility: VERTEX })]],
    [undefined, many(12, { buffer })],
    [undefined, many(8, storage)],
    [undefined, many(8, dynamic('uniform'))],
    [undefined, many(4, dynamic('read-only-storage'))],
    [
      undefined,
      [
        entry(0, { sampler: {} }),
        entry(1, { texture: {} }),
        entry(2, { storageTexture: { format: 'r32uint', access: 'read-write' } }),
      ],
    ],
    [/two entries have binding 1/, [entry(1), entry(1)]],
    [/maxBindingsPerBindGroup/, [entry(1000)]],
    [/has 0 of the members/, [entry(0, {})]],
    [/has 2 of the members/, [entry(0, { buffer, sampler: {} })]],
    [/not a valid combination of GPUShaderStage/, [entry(0, { buffer, visibility: 8 })]],
    [/visible to vertex/, [entry(0, { ...storage, visibility: VERTEX | COMPUTE })]],
    [/maxUniformBuffersPerShaderStage/, many(13, { buffer })],
    [/maxStorageBuffersPerShaderStage/, many(9, { ...storage, visibility: FRAGMENT })],
    [/maxDynamicUniformBuffersPerPipelineLayout/, many(9, dynamic('uniform'))],
    [/maxDynamicStorageBuffersPerPipelineLayout/, many(5, dynamic('storage'))],
    [/maxSamplersPerShaderStage/, many(17, { sampler: {} })],
    [undefined, many(4, { externalTexture: {} })],
    [undefined, [...many(3, { externalTexture: {} }), entry(3, { texture: {} })]],
    [/maxSampledTexturesPerShaderStage/, many(5, { externalTexture: {} })],
    [
      /20 textures in a stage exceed maxSampledTextures/,
      many(5, { externalTexture: {}, visibility: FRAGMENT }),
    ],
    [
      /17 samplers in a stage exceed maxSamplersPerShaderStage/,
      [...many(16, { sampler: {} }), entry(16, { externalTexture: {} })],
    ],
    [
      /13 uniform buffers in a stage exceed maxUniformBuffersPerShaderStage/,
      [...many(12, { buffer }), entry(12, { externalTexture: {} })],
    ],
    [/cube/, [entry(0, { storageTexture: { format: 'r32float', viewDimension: 'cube' } })]],
    [/storage textures do not support/, [entry(0, { storageTexture: { format: 'bgra8unorm' } })]],
    [
      /does not support read-write access/,
      [entry(0, { storageTexture: { format: 'rgba8unorm', access: 'read-write' } })],
    ],
    [/multisampled/, [entry(0, { texture: { multisampled: true } })]],
  ]
  it.each(cases)('%s for %j', async (problem, entries) => {
    const device = await opened.device()
    const layout = await expectValidation(device, problem, () => device.createBindGroupLayout({ entries }))
    const use = () => device.createPipelineLayout({ bindGroupLayouts: [layout] })
    await expectValidation(device, problem && /GPUBindGroupLayout .* is invalid/, use)
    device.destroy()
  })

  it('throws for arguments of wrong types', async () => {
    const device = await opened.device()
    for (const descriptor of [
      {},
      { entries: 5 },
      { entries: [{ binding: 0 }] },
      { entries: [{ visibility: 4, buffer }] },
      { entries: [entry(-1)] },
      { entries: [entry(0, { buffer: { type: 'other' } })] },
      { entries: [entry(0, { buffer: { minBindingSize: -1 } })] },
      { entries: [entry(0, { storageTexture: {} })] },
      // Formats that need features.
      ...[
        ...['bc1-rgba-unorm', 'etc2-rgb8unorm', 'eac-r11unorm', 'astc-4x4-unorm', 'depth32float-stencil8'],
        ...['r16unorm', 'r16snorm', 'rg16unorm', 'rg16snorm', 'rgba16unorm', 'rgba16snorm'],
      ].map((format) => ({ entries: [entry(0, { buffer, storageTexture: { format } })] })),
    ])
      expect(() => device.createBindGroupLayout(descriptor as GPUBindGroupLayoutDescriptor)).toThrow(
        TypeError,
      )
    // Only its iterator counts of an array.
    const strange = Object.assign([entry(0), entry(1)], { map: () => [] })
    const layout = device.createBindGroupLayout({ entries: strange })
    await expectValidation(device, /has 0 entries; its layout has 2/, () =>
      device.createBindGroup({ layout, entries: [] }),
    )
    // Web IDL accepts any iterable as a sequence.
    const entries = new Set([entry(0)])
    await expectValidation(device, undefined, () => device.createBindGroupLayout({ entries, label: 'set' }))
    device.destroy()
  })
})

describe('8.3 createPipelineLayout', () => {
  it('sums over its groups, and accepts gaps', async () => {
    const device = await opened.device()
    const layout = (...given: Parameters<typeof many>) =>
      device.createBindGroupLayout({ entries: many(...given) })
    const make =
      (...bindGroupLayouts: (GPUBindGroupLayout | null | undefined)[]) =>
      () =>
        device.createPipelineLayout({ bindGroupLayouts })
    const six = layout(6, { buffer })
    await expectValidation(device, undefined, make())
    await expectValidation(device, undefined, make(six, null, undefined, six))
    await expectValidation(device, /maxUniformBuffersPerShaderStage/, make(six, six, layout(1, { buffer })))
    await expectValidation(device, /maxBindGroups/, make(null, null, null, null, null))
    await expectValidation(
      device,
      /maxDynamicStorage/,
      make(layout(4, dynamic('storage')), layout(1, dynamic('storage'))),
    )
    const other = await opened.device()
    await expectValidation(
      device,
      /belongs to another device/,
      make(other.createBindGroupLayout({ entries: [] })),
    )
    expect(make({} as GPUBindGroupLayout)).toThrow(TypeError)
    other.destroy()
    device.destroy()
  })
})

describe('8.2 createBindGroup', () => {
  const sizes = { buffer: { minBindingSize: 16 } }
  const cases: [problem: RegExp | undefined, layout: object, given: Partial<GPUBufferBinding>][] = [
    [undefined, { buffer }, {}],
    [undefined, { buffer }, { offset: 256, size: 7 }],
    [undefined, storage, { offset: 512 }],
    [undefined, sizes, { size: 16 }],
    [/not a multiple of 256/, { buffer }, { offset: 128 }],
    [/not a multiple of 256/, storage, { offset: 4 }],
    [/is empty/, { buffer }, { offset: 1024 }],
    [/is empty/, { buffer }, { size: 0 }],
    [/out of range/, { buffer }, { offset: 768, size: 257 }],
    [/not a multiple of 4/, storage, { size: 6 }],
    [/minBindingSize/, sizes, { size: 12 }],
  ]
  it.each(cases)('%s for %j and %j', async (problem, layout, given) => {
    const device = await opened.device()
    const made = device.createBuffer({ size: 1024, usage: usage.UNIFORM | usage.STORAGE })
    const layoutObject = device.createBindGroupLayout({ entries: [entry(2, layout)] })
    await expectValidation(device, problem, () =>
      device.createBindGroup({
        layout: layoutObject,
        entries: [{ binding: 2, resource: { buffer: made, ...given } }],
      }),
    )
    device.destroy()
  })

  it('matches its layout, with one entry for each binding', async () => {
    const device = await opened.device()
    const layout = device.createBindGroupLayout({ entries: [entry(5), entry(1, storage)] })
    const uniform = device.createBuffer({ size: 70_000, usage: usage.UNIFORM })
    const written = device.createBuffer({ size: 16, usage: usage.STORAGE })
    const whole = { binding: 5, resource: { buffer: uniform, size: 65_536 } }
    const make =
      (...entries: unknown[]) =>
      () =>
        device.createBindGroup({ layout, entries: entries as GPUBindGroupEntry[] })
    const fit = { binding: 1, resource: written }
    await expectValidation(device, undefined, make(whole, fit))
    await expectValidation(device, /has 1 entries; its layout has 2/, make(whole))
    await expectValidation(device, /two entries have binding 1/, make(fit, fit))
    await expectValidation(device, /has no binding 3/, make(fit, { ...whole, binding: 3 }))
    await expectValidation(device, /exceeds the limit of 65536/, make(fit, { binding: 5, resource: uniform }))
    await expectValidation(
      device,
      /does not have the usage STORAGE/,
      make(whole, { binding: 1, resource: { buffer: uniform, size: 4 } }),
    )
    written.destroy()
    await expectValidation(device, undefined, make(whole, fit))
    const other = await opened.device()
    const foreign = other.createBuffer({ size: 16, usage: usage.STORAGE })
    await expectValidation(
      device,
      /belongs to another device/,
      make(whole, { binding: 1, resource: foreign }),
    )
    for (const resource of [undefined, null, 5, {}, { buffer: {} }, { buffer: written, offset: -1 }])
      expect(make(whole, { binding: 1, resource })).toThrow(TypeError)
    other.destroy()
    device.destroy()
  })
})
