import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { HostBuffer } from './buffers/host-buffer.ts'
import { isGpuError } from './errors.ts'
import type { DeviceBuffer } from './group/device.ts'
import { type DeviceGroup, openGroup } from './group/group.ts'
import { keepAwake } from './group/keep-awake.ts'
import { OwnedResources } from './group/owned-resources.ts'
import { elementArray, printPlan, requireCount, requireOptions, selectAdapters } from './index.ts'
import { compileAll } from './kernels/compile-all.ts'
import type { Kernel } from './kernels/kernel.ts'
import {
  bindableByteLength,
  bindableRows,
  blocked,
  dispatchBlocks,
  foldWorkgroups,
  ranges,
} from './recording/dispatch-blocks.ts'
import type { Program } from './running/program.ts'
import { accumulate, scale } from './testing/conformance/kernels.ts'
import { expectEveryEdgeToMatter } from './testing/edges-matter.ts'
import { referenceBackend } from './testing/reference-backend.ts'
import { simulateRanks } from './testing/simulated-ranks.ts'

const backend = referenceBackend()
let group: DeviceGroup
let kernel: Kernel
let scaling: Kernel
let x: DeviceBuffer<'u32'>
let y: DeviceBuffer<'u32'>
let host: HostBuffer<'u32'>
let program: Program

beforeAll(async () => {
  group = await openGroup({ backends: [backend], devices: 2 })
  kernel = await group.compile({ wgsl: accumulate, label: 'k' })
  scaling = await group.compile({ wgsl: scale, label: 'scale' })
  x = await group.devices[0]!.allocate('u32', 8, { label: 'x' })
  y = await group.devices[0]!.allocate('u32', 8, { label: 'y' })
  host = group.allocateHost('u32', 8)
  program = group.record((r) => {
    const addend = r.parameter('addend', 'u32', 1)
    r.dispatch(kernel, { workgroups: 1, args: { x, y, addend } })
  })
})

afterAll(async () => {
  for (const resource of [program, host, y, x, scaling, kernel]) resource.destroy()
  expect(await group.destroy()).toEqual({ leaks: [] })
})

/**
 * Each call of the public API with arguments that work; a wrong call replaces one of them, or something
 * inside one.
 */
const calls = (): readonly (readonly [
  name: string,
  args: readonly unknown[],
  // biome-ignore lint/suspicious/noExplicitAny: callers from JavaScript have no types.
  call: (...args: any[]) => unknown,
])[] => [
  [
    'openGroup',
    [
      {
        backends: [backend],
        devices: 1,
        virtual: true,
        by: 'index',
        adapters: () => true,
        portableLimits: true,
        debug: false,
        label: 'g',
      },
    ],
    async (options) => (await openGroup(options)).destroy(),
  ],
  ['requireCount', [5, 'The count', 1], (...args: [never, never, never]) => requireCount(...args)],
  [
    'requireOptions',
    [{ a: 1 }, 'a call', { a: 'number' }],
    (...args: [never, never, never]) => requireOptions(...args),
  ],
  [
    'keepAwake',
    [Promise.resolve(), 1, 1, () => {}],
    (...args: [never, never, never, never]) => keepAwake(...args),
  ],
  [
    'expectEveryEdgeToMatter',
    [backend, program, async () => true, { seeds: 1 }],
    (...args: [never, never, never, never]) =>
      expectEveryEdgeToMatter(...args).catch((error: unknown) => {
        // What it says of a program whose edges do not matter is for a test's reader.
        if (!String(error).startsWith('Error: Program "')) throw error
      }),
  ],
  ['selectAdapters', [{ backends: [backend], devices: 1 }], (options) => selectAdapters(options)],
  [
    'allocate',
    ['u32', [2, 3], { label: 'a', zero: true }],
    async (...args: [never, never, never]) => (await group.devices[0]!.allocate(...args)).destroy(),
  ],
  [
    'allocateHost',
    ['u32', 4, { label: 'h', device: 0 }],
    (...args: [never, never, never]) => group.allocateHost(...args).destroy(),
  ],
  ['canAccessPeer', [0, group.devices[1]], (...args: [never, never]) => group.canAccessPeer(...args)],
  [
    'compile',
    [{ wgsl: accumulate, label: 'c', entryPoint: 'accumulate', constants: {}, bounds: 'trap' }],
    async (options) => (await group.compile(options)).destroy(),
  ],
  [
    'record',
    [() => {}, { schedule: 'serial', label: 'r' }],
    (...args: [never, never]) => group.record(...args).destroy(),
  ],
  ['write', [x, new Uint32Array(8)], (...args: [never, never]) => group.queue.write(...args)],
  [
    'read',
    [y, { into: new Uint32Array(8), to: 'all' }],
    (...args: [never, never]) => group.queue.read(...args),
  ],
  [
    'run',
    [program, 1, { signal: new AbortController().signal, profile: false, parameters: { addend: 2 } }],
    (...args: [never, never, never]) => group.queue.run(...args),
  ],
  ['slice', [1, 2], (...args: [never, never]) => x.slice(...args)],
  ['block', [0, 1, 1, 2], (...args: [never, never, never, never]) => x.block(...args)],
  ['reshape', [2, 2, 3], (...args: [never, never, never]) => x.reshape(...args)],
  ['host slice', [1, 2], (...args: [never, never]) => host.slice(...args)],
  ['printPlan', [program.plan], (plan) => printPlan(plan)],
  [
    'elementArray',
    ['f32', 4, new ArrayBuffer(16), 0],
    (...args: [never, never, never, never]) => elementArray(...args),
  ],
  [
    'compileAll',
    [group, { c: { wgsl: accumulate, label: 'c' }, none: undefined }],
    async (...args: [never, never]) => (await compileAll(...args)).destroy(),
  ],
  [
    'referenceBackend',
    [{ devices: 1, seed: 1, peerAccess: true, memoryByteLength: 1e6, limits: {}, features: new Set() }],
    (options) => referenceBackend(options),
  ],
  [
    'simulateRanks',
    [{ ranks: 2, seed: 1, messages: 'mixed', order: 'random', limits: {} }],
    (options) => simulateRanks(options),
  ],
  ['keep', [{ destroy: () => {} }], (resource) => new OwnedResources().keep(resource)],
  ['keepAll', [[Promise.resolve({ destroy: () => {} })]], (pending) => new OwnedResources().keepAll(pending)],
  ['bindableByteLength', [group.devices[0]], (device) => bindableByteLength(device)],
  ['bindableRows', [group.devices[0], x], (...args: [never, never]) => bindableRows(...args)],
  ['foldWorkgroups', [7, group.devices[0]], (...args: [never, never]) => foldWorkgroups(...args)],
  ['ranges', [7, 3], (count, most) => ranges(count, most).next()],
  [
    'dispatchBlocks',
    [kernel, { blocks: 2, blocksPerWorkgroup: 1, args: { x, y, addend: 1 }, device: 0, label: 'b' }],
    (...args: [never, never]) => group.record((r) => dispatchBlocks(r, ...args)).destroy(),
  ],
  ['blocked', [x, 4], (view, length) => recordBlocks(blocked(view, length))],
  [
    'dispatchBlocks into',
    [0],
    (recorder) => dispatchBlocks(recorder, kernel, { blocks: 0, args: { x, y, addend: 1 } }),
  ],
  ...(
    [
      ['fill', [x, 3, { label: 'f' }]],
      ['copy', [x, y, { label: 'c' }]],
      ['upload', [host, x, { label: 'u' }]],
      ['download', [x, host, { label: 'd' }]],
      ['dispatch', [kernel, { workgroups: [1, 1, 1], args: { x, y, addend: 1 }, device: 0, label: 'k' }]],
      ['scratch', [0, 'f16', [2, 2], { label: 's', zero: true }]],
      ['parameter', ['p', 'f32', 2]],
      ['fence', [1]],
      ['touches', [0, 1]],
    ] as const
  ).map(
    ([name, args]) =>
      [
        name,
        args,
        (...given: never[]) => {
          const recorded = group.record((r) => void (r[name] as (...given: never[]) => unknown)(...given))
          recorded.destroy()
        },
      ] as const,
  ),
]

const recordBlocks = (blocks: unknown) =>
  group
    .record((r) =>
      dispatchBlocks(r, kernel, { blocks: 2, args: { x: untyped(blocks), y: blocked(y, 4), addend: 1 } }),
    )
    .destroy()

const wrong = [
  undefined,
  null,
  Number.NaN,
  -1,
  1.5,
  2 ** 60,
  Number.POSITIVE_INFINITY,
  '',
  '2',
  'constructor',
  true,
  7n,
  Symbol('x'),
  {},
  Object.create(null),
  [],
  [1, 2, 3, 4],
  [Symbol('y'), null],
  () => 'x',
  Promise.resolve(1),
  new Uint8Array(8),
  new Float32Array(5),
  new Date(0),
]

/**
 * The arguments with `value` in the place of one of them, or of a member of one that is a plain object or an
 * array.
 */
function replaced(args: readonly unknown[], at: number, member: number, value: unknown): unknown[] {
  const changed = [...args]
  const place = at % args.length
  const given = args[place]
  const names =
    Array.isArray(given) || Object.getPrototypeOf(given ?? 0) === Object.prototype
      ? Object.keys(given as object)
      : []
  const name = member === 0 ? undefined : [...names, 'surprise'][member % (names.length + 1)]
  if (name === undefined || names.length === 0) changed[place] = value
  else if (Array.isArray(given)) changed[place] = Object.assign([...given], { [name]: value })
  else changed[place] = { ...(given as object), [name]: value }
  return changed
}

it('answers every wrong call with a typed error', async () => {
  const table = calls()
  const cases = fc.record({
    call: fc.nat(table.length - 1),
    at: fc.nat(7),
    member: fc.nat(9),
    value: fc.constantFrom(...wrong),
  })
  await fc.assert(
    fc.asyncProperty(cases, async ({ call, at, member, value }) => {
      const [, args, work] = table[call]!
      try {
        await work(...replaced(args, at, member, value))
      } catch (error) {
        if (!isGpuError(error)) throw error
        if (error.code !== 'compilation') expect(error.message).toMatch(/\w \w.*\.$/s)
      }
    }),
    { numRuns: process.env.TANDEM_LONG === '1' ? 40_000 : 2000 },
  )
  // What a wrong call leaves in the buffers that others use does not matter, and what it makes is gone.
  expect(group.live()).toMatchObject({ allocations: 2, hostAllocations: 1, kernels: 2 })
})

// biome-ignore lint/suspicious/noExplicitAny: callers from JavaScript have no types.
const untyped = (value: unknown) => value as any
const dispatch = (options: object, of: () => unknown = () => kernel) =>
  group.record((r) => r.dispatch(untyped(of()), untyped(options)))
/** As in `webgpu` of the backend, which makes backends and is none. */
function webgpu() {}

it.each([
  [
    'a compile that is not awaited',
    () => dispatch({ workgroups: 1, args: { x, y, addend: 1 } }, () => Promise.resolve(kernel)),
    'The kernel of a dispatch is a Promise: await it; it must be a kernel that compile returned.',
  ],
  [
    'an allocate that is not awaited',
    () => dispatch({ workgroups: 1, args: { x: Promise.resolve(x), y, addend: 1 } }),
    'Argument x of dispatch "k" is not a view of a device buffer; it is a Promise: await it.',
  ],
  [
    'a buffer to write that is not awaited',
    () => group.queue.write(untyped(Promise.resolve(x)), new Uint32Array(8)),
    'The target of a write is not a view of a device buffer; it is a Promise: await it.',
  ],
  [
    'a backend that is not called',
    () => openGroup({ backends: [untyped(webgpu)] }),
    'Backend 0 of the option backends is a function: call it, as in webgpu(); it must be a backend.',
  ],
  [
    'a backend outside an array',
    () => openGroup({ backends: untyped(backend) }),
    'The option backends is an object (CpuReferenceBackend); it must be an array of backends.',
  ],
  [
    'no args',
    () => dispatch({ workgroups: 1 }),
    'The args of dispatch "k" are undefined; they must be an object with x, y, x_base, y_base, y_length, addend.',
  ],
  [
    'no workgroups',
    () => dispatch({ workgroups: null, args: { x, y, addend: 1 } }),
    'The workgroups of dispatch "k" are null; they must be a count, or one to three counts in an array.',
  ],
  [
    '`device` for `devices`',
    () => openGroup(untyped({ backends: [backend], device: 2 })),
    'There is no option device of openGroup; the closest option is devices.',
  ],
  [
    'a number as a string',
    () => openGroup({ backends: [backend], devices: untyped('2') }),
    "The number of devices is '2', a string; it must be a whole number of at least 1.",
  ],
  [
    'more elements than a number counts exactly',
    () => group.devices[0]!.allocate('f32', 2 ** 60, { label: 'vast' }),
    'Length of buffer "vast" is 1152921504606847000; it must be at most 9007199254740991.',
  ],
  [
    'a rank that the group lacks',
    () => group.queue.read(x, { to: 7 }),
    "The option to of a read is 7; it must be 'all', 'owner' or a rank from 0 to 0.",
  ],
  [
    'a list of devices',
    () => openGroup({ backends: [backend], devices: untyped([0, 1]) }),
    'The number of devices is an array; it must be a whole number of at least 1.',
  ],
  [
    'a typed array for a uniform scalar',
    () => {
      const f = group.record((r) => {
        const v = r.scratch(0, 'f32', 4)
        const w = r.scratch(0, 'f32', 4)
        r.dispatch(scaling, {
          workgroups: 1,
          args: { x: v, y: w, addend: 1, factor: untyped(Float32Array.of(1)) },
        })
      })
      f.destroy()
    },
    'Argument factor of dispatch "scale" is an array of 1; it must be a number of type f32, or a parameter.',
  ],
  [
    '`device` for `devices` of the reference backend',
    () => referenceBackend(untyped({ device: 2 })),
    'There is no option device of referenceBackend; the closest option is devices.',
  ],
  [
    'a device that a group lacks',
    () => group.record((r) => dispatchBlocks(r, kernel, { device: 2, blocks: 2, args: { x, y, addend: 1 } })),
    'Device 2 is not in the group, which has 2 devices.',
  ],
  [
    'blocks of something that is not a view',
    () => recordBlocks(blocked(untyped(Promise.resolve(x)), 4)),
    'Argument x of dispatch "k" is not a view of a device buffer; it is a Promise: await it.',
  ],
  [
    'ranges without a length',
    () => [...ranges(8, 0)],
    'The length of a range is 0; it must be a whole number of at least 1.',
  ],
  [
    'a kernel to keep that is not awaited',
    () =>
      new OwnedResources().keep(untyped(group.compile({ wgsl: accumulate }).then((made) => made.destroy()))),
    'The argument of keep is a Promise: await it; it must have a method destroy.',
  ],
  [
    'numbers for a parameter of a recording',
    () => group.record((r) => void r.parameter('p', 'f32', untyped([1, 2]))),
    'The initial value of parameter "p" is an array; it must be a number of type f32.',
  ],
])('names %s', async (_, call, message) => {
  await expect(async () => call()).rejects.toMatchObject({ code: 'validation', message })
})

it('does not name a group twice that has the name of another', async () => {
  const other = await openGroup({ backends: [backend] })
  const foreign = await other.devices[0]!.allocate('u32', 8, { label: 'foreign' })
  await expect(group.queue.read(foreign)).rejects.toMatchObject({
    message: 'The source of a read, buffer "foreign", belongs to another group, which is also named "group".',
  })
  foreign.destroy()
  await other.destroy()
})

it('a recording that is asynchronous and fails, or destroys objects that it uses, ends only itself', async () => {
  expect(() => group.record((async () => Promise.reject(new Error('late'))) as () => void)).toThrow(
    'asynchronous',
  )
  expect(() =>
    group.record((r) => {
      const s = r.scratch(0, 'u32', 4, { label: 's' })
      r.fill(s, 1)
      s.destroy()
    }),
  ).toThrow('destroys "s", which a command uses')
  // An unhandled rejection would end the process, and vitest fails on it.
  await new Promise((resolve) => setTimeout(resolve, 0))
})
