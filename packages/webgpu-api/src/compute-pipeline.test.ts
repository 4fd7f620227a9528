import { describe, expect, it } from 'vitest'
import { globals } from './globals.ts'
import { expectValidation, openedGpu, stage, usage } from './testing-gpu.ts'

const opened = openedGpu()
const empty = '@compute @workgroup_size(1) fn main() {}'

describe('9.1 createShaderModule', () => {
  it('accepts valid WGSL, and reports where it is invalid', async () => {
    const device = await opened.device()
    const good = await expectValidation(device, undefined, () =>
      device.createShaderModule({ code: empty, label: 'good' }),
    )
    expect((await good.getCompilationInfo()).messages).toEqual([])
    const code = '// 😀 first\r\nfn f() {\n  let a: i32 = 1.5;\n}'
    const bad = await expectValidation(device, /createShaderModule/, () =>
      device.createShaderModule({ code }),
    )
    const { messages } = await bad.getCompilationInfo()
    expect(Object.isFrozen(messages)).toBe(true)
    const [{ type, lineNum, linePos, offset, length, message }] = messages as [GPUCompilationMessage]
    expect([messages.length, type, lineNum, length]).toEqual([1, 'error', 3, 0])
    expect(message.length).toBeGreaterThan(5)
    const lines = code.slice(0, offset).split(/\r\n|\n/)
    expect([lines.length, lines.at(-1)!.length + 1]).toEqual([lineNum, linePos])
    device.destroy()
  })

  it('shows no messages once the device is lost', async () => {
    const device = await opened.device()
    const module = await expectValidation(device, /createShaderModule/, () =>
      device.createShaderModule({ code: 'wrong' }),
    )
    expect((await module.getCompilationInfo()).messages.length).toBe(1)
    device.destroy()
    expect((await module.getCompilationInfo()).messages).toEqual([])
  })

  it('reports warnings, with their positions, for modules with and without entry points', async () => {
    const device = await opened.device({ requiredFeatures: ['subgroups'] })
    const shown = async (code: string) => {
      const module = await expectValidation(device, undefined, () => device.createShaderModule({ code }))
      const { messages } = await module.getCompilationInfo()
      return messages.map(({ type, lineNum, linePos, offset, length, message }) => {
        expect(message).not.toBe('')
        expect(length).toBe(0)
        const lines = code.slice(0, offset).split(/\r\n|\n/)
        expect([lines.length, lines.at(-1)!.length + 1]).toEqual([lineNum, linePos])
        return `${type} ${lineNum}: ${code.slice(offset, offset + 5)}`
      })
    }
    const rule = 'diagnostic(off, nobody_has_this);\n'
    expect(await shown(`${rule}const a = 1;`)).toEqual(['warning 1: nobod'])
    expect(await shown(`${rule}${empty}`)).toEqual(['warning 1: nobod'])
    const divergent = `enable subgroups; diagnostic(info, subgroup_uniformity);\r
      fn called(i: u32) { if (i == 0) { _ = subgroupElect(); } }
      @compute @workgroup_size(32) fn main(@builtin(local_invocation_index) i: u32) {
        if (i == 0) { _ = subgroupAdd(1u); }
        called(i);
      }`
    expect(await shown(divergent)).toEqual(['info 2: subgr', 'info 4: subgr'])
    device.destroy()
  })

  it.each([
    [undefined, ''],
    [undefined, 'const a = 1;'],
    [
      undefined,
      'override n: u32; var<workgroup> x: array<u32, n>; @compute @workgroup_size(n) fn main() { x[0] = 1; }',
    ],
    [undefined, '@vertex fn v() -> @builtin(position) vec4f { return vec4f(); }'],
    [
      undefined,
      '@group(0) @binding(0) var t: texture_2d<f32>; @compute @workgroup_size(1) fn main() { _ = textureLoad(t, vec2u(), 0); }',
    ],
    [undefined, 'fn tandem_stand_in() {} const tandem_stand_in_ = 1;'],
    [/createShaderModule/, 'fn f() { tandem_stand_in(); }'],
    [/createShaderModule/, 'fn f() -> u32 {}'],
    [/createShaderModule/, 'fn'],
    [/createShaderModule/, `${empty} fn unused() { let a: u32 = -1; }`],
    [/createShaderModule/, `override n: u32; ${empty} fn unused() { let a: u32 = -1; }`],
    [/shader-f16/, `/* enable x; */ enable /**/ f16; ${empty}`],
    [/shader-f16/, `/* /* */ */ enable f16; ${empty}`],
    [/subgroups/, `diagnostic(off, derivative_uniformity);\nenable subgroups;\n${empty}`],
    [undefined, `// enable f16;\n${empty}`],
  ])('%s for %s', async (problem, code) => {
    const device = await opened.device()
    await expectValidation(device, problem, () => device.createShaderModule({ code }))
    device.destroy()
  })

  it('has a message for an extension whose feature is missing', async () => {
    const device = await opened.device()
    device.pushErrorScope('validation')
    const module = device.createShaderModule({ code: `enable f16; diagnostic(off, none);\n${empty}` })
    const { messages } = await module.getCompilationInfo()
    expect(messages).toMatchObject([
      { type: 'error', lineNum: 0, linePos: 0, message: expect.stringContaining('shader-f16') },
      { type: 'warning', lineNum: 1 },
    ])
    expect(await device.popErrorScope()).not.toBeNull()
    device.destroy()
  })

  it('accepts hints and throws for wrong arguments', async () => {
    const device = await opened.device()
    const layout = device.createPipelineLayout({ bindGroupLayouts: [] })
    const compilationHints = [
      { entryPoint: 'main', layout },
      { entryPoint: 'other', layout: 'auto' as const },
    ]
    await expectValidation(device, undefined, () =>
      device.createShaderModule({ code: empty, compilationHints }),
    )
    for (const descriptor of [
      {},
      { code: Symbol('x') },
      { code: empty, compilationHints: [{}] },
      { code: empty, compilationHints: [{ entryPoint: '', layout: {} }] },
    ])
      expect(() => device.createShaderModule(descriptor as unknown as GPUShaderModuleDescriptor)).toThrow(
        TypeError,
      )
    device.destroy()
  })

  it('accepts an extension if the device has its feature', async () => {
    const device = await opened.device({ requiredFeatures: ['shader-f16', 'subgroups'] })
    const code = `enable f16, subgroups; ${empty}`
    const module = await expectValidation(device, undefined, () => device.createShaderModule({ code }))
    await device.createComputePipelineAsync({ layout: 'auto', compute: { module } })
    device.destroy()
  })
})

/** Creates a pipeline both synchronously and asynchronously; returns the error message, if any. */
async function pipelineProblem(
  device: GPUDevice,
  compute: object & { code?: string },
  layout: GPUPipelineLayout | 'auto' = 'auto',
): Promise<string | undefined> {
  const { code = empty, ...rest } = compute
  const module = device.createShaderModule({ code })
  const descriptor = { layout, compute: { module, ...rest } }
  device.pushErrorScope('validation')
  const pipeline = device.createComputePipeline(descriptor)
  const error = await device.popErrorScope()
  let rejected: Error | undefined
  await device.createComputePipelineAsync(descriptor).catch((caught: Error) => {
    rejected = caught
  })
  expect(rejected instanceof Error).toBe(error !== null)
  if (rejected !== undefined) {
    expect(rejected).toBeInstanceOf(globals.GPUPipelineError)
    expect((rejected as GPUPipelineError).reason).toBe('validation')
    await expectValidation(device, /is invalid/, () => pipeline.getBindGroupLayout(0))
  }
  return error?.message
}

describe('10.2 createComputePipeline', () => {
  const two = `${empty} @compute @workgroup_size(2) fn second() {}`
  const over =
    'override a: u32; @id(7) override b = 2.5; override c: bool = true; @compute @workgroup_size(a) fn main() { _ = b; _ = c; }'
  it.each([
    [undefined, {}],
    [undefined, { code: two, entryPoint: 'second' }],
    [/entry point/, { code: two }],
    [/entry point/, { entryPoint: 'other' }],
    [/entry point/, { entryPoint: '' }],
    [/no compute entry point/, { code: 'fn f() {}' }],
    [
      /no compute entry point 'v'/,
      { code: '@vertex fn v() -> @builtin(position) vec4f { return vec4f(); }', entryPoint: 'v' },
    ],
    [undefined, { code: over, constants: { a: 3 } }],
    [undefined, { code: over, constants: { a: 3, 7: 1, c: 0 } }],
    [/no default/, { code: over }],
    [/no override/, { code: over, constants: { a: 3, d: 1 } }],
    [/no override/, { code: over, constants: { a: 3, b: 1 } }],
    [/./, { code: over, constants: { a: -1 } }],
    [/./, { code: over, constants: { a: 2 ** 32 } }],
    [/./, { code: over, constants: { a: 1, 7: 1e40 } }],
    [/maxComputeWorkgroupSizeX/, { code: over, constants: { a: 257 } }],
    [/maxComputeWorkgroupSizeZ/, { code: '@compute @workgroup_size(1, 1, 65) fn main() {}' }],
    [/maxComputeInvocationsPerWorkgroup/, { code: '@compute @workgroup_size(32, 16) fn main() {}' }],
    [
      undefined,
      {
        code: 'var<workgroup> x: array<vec4u, 1024>; @compute @workgroup_size(1) fn main() { x[0] = vec4u(); }',
      },
    ],
    [
      /maxComputeWorkgroupStorageSize/,
      {
        code: 'var<workgroup> x: array<vec4u, 1025>; @compute @workgroup_size(1) fn main() { x[0] = vec4u(); }',
      },
    ],
    [
      /textur/,
      {
        code: '@group(0) @binding(0) var t: texture_2d<f32>; @compute @workgroup_size(1) fn main() { _ = textureLoad(t, vec2u(), 0); }',
      },
    ],
  ])('%s for %j', async (problem, compute) => {
    const device = await opened.device()
    const message = await pipelineProblem(device, compute)
    if (problem === undefined) expect(message).toBeUndefined()
    else expect(message ?? 'no error').toMatch(problem)
    device.destroy()
  })

  it('allows a kernel to use all workgroup memory of the device', async () => {
    const { maxComputeWorkgroupStorageSize: most } = (await opened.gpu.requestAdapter())!.limits
    const device = await opened.device({ requiredLimits: { maxComputeWorkgroupStorageSize: most } })
    const code = (byteLength: number) =>
      `var<workgroup> x: array<vec4u, ${byteLength / 16}>; @compute @workgroup_size(1) fn main() { _ = x; }`
    expect(await pipelineProblem(device, { code: code(most) })).toBeUndefined()
    expect(await pipelineProblem(device, { code: code(most + 16) })).toMatch(/maxComputeWorkgroupStorageSize/)
    device.destroy()
  })

  it('throws for arguments of wrong types', async () => {
    const device = await opened.device()
    const module = device.createShaderModule({ code: empty })
    for (const descriptor of [
      {},
      { layout: 'auto' },
      { compute: { module } },
      { layout: 'none', compute: { module } },
      { layout: {}, compute: { module } },
      { layout: 'auto', compute: {} },
      { layout: 'auto', compute: { module: {} } },
      { layout: 'auto', compute: { module, constants: { a: Number.NaN } } },
      { layout: 'auto', compute: { module, constants: { a: Number.POSITIVE_INFINITY } } },
    ]) {
      expect(() => device.createComputePipeline(descriptor as GPUComputePipelineDescriptor)).toThrow(
        TypeError,
      )
      await expect(
        device.createComputePipelineAsync(descriptor as GPUComputePipelineDescriptor),
      ).rejects.toThrow(TypeError)
    }
    device.destroy()
  })

  it('refuses modules and layouts that are invalid or of another device', async () => {
    const [device, other] = [await opened.device(), await opened.device()]
    const make =
      (from: GPUDevice, code = empty) =>
      () =>
        device.createComputePipeline({
          layout: 'auto',
          compute: { module: from.createShaderModule({ code }) },
        })
    await expectValidation(device, /belongs to another device/, make(other))
    const bad = await expectValidation(device, /createShaderModule/, () =>
      device.createShaderModule({ code: 'x' }),
    )
    const use = () => device.createComputePipeline({ layout: 'auto', compute: { module: bad } })
    await expectValidation(device, /is invalid/, use)
    device.destroy()
    other.destroy()
  })

  it('compares the layout with the bindings of the kernel', async () => {
    const device = await opened.device()
    const code = `
      @group(1) @binding(2) var<storage, read> x: array<vec4f>;
      @group(1) @binding(3) var<storage, read_write> y: array<u32>;
      @group(2) @binding(0) var<uniform> u: vec4u;
      @group(3) @binding(9) var<uniform> unused: vec4u;
      @compute @workgroup_size(1) fn main() { y[0] = u.x + u32(x[0].x); }`
    const entries = {
      x: { binding: 2, visibility: stage.COMPUTE, buffer: { type: 'read-only-storage', minBindingSize: 16 } },
      y: { binding: 3, visibility: stage.COMPUTE | stage.FRAGMENT, buffer: { type: 'storage' } },
      u: { binding: 0, visibility: stage.COMPUTE, buffer: { minBindingSize: 0, hasDynamicOffset: true } },
    }
    const problem = async (changes: { [K in keyof typeof entries]?: object }) => {
      const entry = (name: keyof typeof entries) =>
        ({ ...entries[name], ...changes[name] }) as GPUBindGroupLayoutEntry
      const groups = [[], [entry('y'), entry('x')], [entry('u')]].map((list) =>
        device.createBindGroupLayout({ entries: list }),
      )
      return pipelineProblem(device, { code }, device.createPipelineLayout({ bindGroupLayouts: groups }))
    }
    expect(await problem({})).toBeUndefined()
    expect(await problem({ x: { binding: 4 } })).toMatch(/no entry for @group\(1\) @binding\(2\) x/)
    expect(await problem({ x: { buffer: { type: 'storage' } } })).toMatch(
      /'read-only-storage'; the layout has 'storage'/,
    )
    expect(await problem({ x: { buffer: { type: 'read-only-storage', minBindingSize: 12 } } })).toMatch(
      /needs 16 bytes/,
    )
    expect(await problem({ y: { visibility: stage.FRAGMENT } })).toMatch(/not visible to compute/)
    expect(await problem({ u: { buffer: undefined, sampler: {} } })).toMatch(/the layout has none there/)
    device.destroy()
  })
})

describe("10.1 getBindGroupLayout, and 'auto'", () => {
  it('returns new objects that are compatible only with the pipeline', async () => {
    const device = await opened.device()
    const code =
      '@group(1) @binding(3) var<storage, read_write> y: u32; @compute @workgroup_size(1) fn main() { y = 1; }'
    const module = device.createShaderModule({ code })
    const [pipeline, twin] = [0, 1].map(() =>
      device.createComputePipeline({ layout: 'auto', compute: { module } }),
    ) as [GPUComputePipeline, GPUComputePipeline]
    expect(pipeline.getBindGroupLayout(1)).not.toBe(pipeline.getBindGroupLayout(1))
    const buffer = device.createBuffer({ size: 4, usage: usage.STORAGE })
    const group = (layout: GPUBindGroupLayout) =>
      device.createBindGroup({ layout, entries: [{ binding: 3, resource: buffer }] })
    const dispatch = (from: GPUBindGroupLayout) => () => {
      const encoder = device.createCommandEncoder()
      const pass = encoder.beginComputePass()
      pass.setPipeline(pipeline)
      pass.setBindGroup(1, group(from))
      pass.dispatchWorkgroups(1)
      pass.end()
      encoder.finish()
    }
    await expectValidation(device, undefined, dispatch(pipeline.getBindGroupLayout(1)))
    await expectValidation(device, /not have the same layout/, dispatch(twin.getBindGroupLayout(1)))
    const equal = device.createBindGroupLayout({
      entries: [{ binding: 3, visibility: stage.COMPUTE, buffer: { type: 'storage', minBindingSize: 4 } }],
    })
    await expectValidation(device, /not have the same layout/, dispatch(equal))
    await expectValidation(device, /belongs to its pipeline/, () =>
      device.createPipelineLayout({ bindGroupLayouts: [pipeline.getBindGroupLayout(1)] }),
    )
    await expectValidation(device, undefined, () =>
      device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: [] }),
    )
    await expectValidation(device, undefined, () => pipeline.getBindGroupLayout(3))
    await expectValidation(device, /maxBindGroups/, () => pipeline.getBindGroupLayout(4))
    // The index is an `unsigned long` without [EnforceRange].
    await expectValidation(device, /the group 4294967295 must/, () => pipeline.getBindGroupLayout(-1))
    await expectValidation(device, undefined, dispatch(pipeline.getBindGroupLayout(2 ** 32 + 1)))
    expect(() => pipeline.getBindGroupLayout(1n as unknown as number)).toThrow(TypeError)
    expect(() => (pipeline.getBindGroupLayout as () => unknown).call(pipeline)).toThrow(TypeError)
    device.destroy()
  })

  it('layouts with equal entries are compatible', async () => {
    const device = await opened.device()
    const code =
      '@group(0) @binding(3) var<storage, read_write> y: u32; @compute @workgroup_size(1) fn main() { y = 1; }'
    const make = (label: string) =>
      device.createBindGroupLayout({
        label,
        entries: [{ binding: 3, visibility: stage.COMPUTE, buffer: { type: 'storage' } }],
      })
    const pipeline = device.createComputePipeline({
      layout: device.createPipelineLayout({ bindGroupLayouts: [make('one')] }),
      compute: { module: device.createShaderModule({ code }) },
    })
    const buffer = device.createBuffer({ size: 4, usage: usage.STORAGE })
    for (const layout of [make('two'), pipeline.getBindGroupLayout(0)]) {
      const encoder = device.createCommandEncoder()
      const pass = encoder.beginComputePass()
      pass.setPipeline(pipeline)
      pass.setBindGroup(0, device.createBindGroup({ layout, entries: [{ binding: 3, resource: buffer }] }))
      pass.dispatchWorkgroups(1)
      pass.end()
      await expectValidation(device, undefined, () => encoder.finish())
    }
    device.destroy()
  })

  it('refuses kernels with more bindings than the limits', async () => {
    const device = await opened.device()
    const kernel = (group: number, count: number, first = 0) => {
      const variables = Array.from(
        { length: count },
        (_, i) => `@group(${group}) @binding(${first + i}) var<storage, read> x${i}: u32;`,
      )
      return `${variables.join(' ')} @compute @workgroup_size(1) fn main() { ${variables.map((_, i) => `_ = x${i};`).join(' ')} }`
    }
    expect(await pipelineProblem(device, { code: kernel(0, 8) })).toBeUndefined()
    expect(await pipelineProblem(device, { code: kernel(0, 9) })).toMatch(/maxStorageBuffersPerShaderStage/)
    expect(await pipelineProblem(device, { code: kernel(4, 1) })).toMatch(/maxBindGroups/)
    expect(await pipelineProblem(device, { code: kernel(0, 1, 1000) })).toMatch(/maxBindingsPerBindGroup/)
    device.destroy()
  })
})
