import { type DeviceGroup, isGpuError, openGroup } from '@tandem-gpu/core'
import { referenceBackend } from '@tandem-gpu/core/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { generatedElements, readElements } from './element-source.ts'
import { jacobi } from './jacobi/jacobi.ts'
import { allocateField, type JacobiField, writeSource, writeState } from './jacobi/jacobi-field.ts'
import { compileJacobi } from './jacobi/jacobi-kernels.ts'
import { matmul } from './matmul/matmul.ts'
import { reduce } from './reduction/reduce.ts'
import { ringMatmul } from './ring/ring-matmul.ts'
import { runMeasured } from './run-measured.ts'
import {
  allocateSharded,
  gatherSharded,
  readSharded,
  type ShardedMatrix,
  shardedFromViews,
  splitRows,
  writeSharded,
} from './sharded-matrix.ts'
import { algorithms } from './testing/algorithms.ts'
import { transpose } from './transpose/transpose.ts'

let group: DeviceGroup
let matrix: ShardedMatrix<'f32'>
let field: JacobiField

beforeAll(async () => {
  group = await openGroup({ backends: [referenceBackend()], devices: 2 })
  matrix = await allocateSharded(group, 'f32', 2, 3)
  field = await allocateField(group, 2, 3, '1d', { source: true, columnHalos: true })
})

afterAll(async () => {
  for (const one of [matrix, field]) one.destroy()
  expect(await group.destroy()).toEqual({ leaks: [] })
})

const measuring = {
  schedule: 'serial',
  verify: true,
  warmup: 0,
  samples: 1,
  seed: 3,
  trace() {},
  onProgram() {},
}
const six = () => new Float32Array(6)

/** Each algorithm with valid options, one of which a wrong call replaces. */
const calls = Object.values(algorithms).flatMap(({ run, calls }) =>
  calls.map(
    (options) => [run as (...args: unknown[]) => Promise<unknown>, { ...measuring, ...options() }] as const,
  ),
)

const wrong = [
  null,
  Number.NaN,
  -1,
  1.5,
  2 ** 60,
  Number.POSITIVE_INFINITY,
  '',
  '2',
  'all',
  true,
  7n,
  Symbol('x'),
  {},
  [],
  [1, 2],
  () => 'x',
  Promise.resolve(1),
  new Uint8Array(6),
  new Float32Array(5),
  new Date(0),
]

it('answer every wrong call with a typed error', async () => {
  const cases = fc.integer({ min: 0, max: calls.length - 1 }).chain((call) =>
    fc.record({
      call: fc.constant(call),
      name: fc.constantFrom(
        ...Object.keys(calls[call]![1]),
        'signal',
        'kernel',
        'repetitions',
        'group',
        'options',
      ),
      value: fc.constantFrom(...wrong),
    }),
  )
  await fc.assert(
    fc.asyncProperty(cases, async ({ call, name, value }) => {
      const [algorithm, options] = calls[call]!
      try {
        if (name === 'group') await algorithm(value, options)
        else await algorithm(group, name === 'options' ? value : { ...options, [name]: value })
      } catch (error) {
        if (!isGpuError(error)) throw error
        expect(error.message).toMatch(/\w \w.*\.$/s)
      }
    }),
    { numRuns: process.env.TANDEM_LONG === '1' ? 20_000 : 600 },
  )
})

/** Each building block with arguments that work, one of which a wrong call replaces. */
const blocks = (): readonly (readonly [
  args: readonly unknown[],
  // biome-ignore lint/suspicious/noExplicitAny: callers from JavaScript have no types.
  call: (...args: any[]) => unknown,
])[] => [
  [
    [group, 'f32', 4, 3, { label: 'a', zero: true, alignment: 2 }],
    async (...args: Parameters<typeof allocateSharded>) => (await allocateSharded(...args)).destroy(),
  ],
  [
    [group, 'f32', matrix.slices.map(({ view }) => view)],
    (...args: Parameters<typeof shardedFromViews>) => shardedFromViews(...args),
  ],
  [[group, matrix, six()], writeSharded],
  [[group, matrix, six()], readSharded],
  [[group, matrix], gatherSharded],
  [[7, 2, 3], splitRows],
  [
    [group, () => {}, { schedule: 'serial', warmup: 0, samples: 1, repetitions: 2, label: 'l', trace() {} }],
    runMeasured,
  ],
  [[six(), 'f32', 0, 6], readElements],
  [
    [group, { transport: 'copy', source: false, fuse: false }],
    async (...args: Parameters<typeof compileJacobi>) => (await compileJacobi(...args)).destroy(),
  ],
  [[field, six()], writeState],
  [[field, six()], writeSource],
  [['f32', 1], (type, seed) => generatedElements(type, seed)(0, six())],
]

it('answer every wrong call of a building block with a typed error', async () => {
  const table = blocks()
  for (const [args, call] of table)
    for (const [at, given] of args.entries()) {
      const isOptions =
        given !== matrix && given !== field && Object.getPrototypeOf(given) === Object.prototype
      for (const name of isOptions ? [undefined, 'surprise', ...Object.keys(given as object)] : [undefined])
        for (const value of [undefined, ...wrong]) {
          const replaced = name === undefined ? value : { ...(given as object), [name]: value }
          try {
            await call(...args.with(at, replaced))
          } catch (error) {
            if (!isGpuError(error))
              throw new Error(`${call} with ${String(value)} at ${at}, ${name}`, { cause: error })
            expect(error.message).toMatch(/\w \w.*\.$/s)
          }
        }
    }
})

it.each([
  [
    'a group that is not awaited',
    () => transpose(Promise.resolve(group) as never, { rows: 1, columns: 1, type: 'f32' }),
    'The group is a Promise: await it; it must be a group that openGroup returned.',
  ],
  [
    'a number as a string',
    () => matmul(group, { m: 2, n: 2, k: '2' as never }),
    "The option k of matmul is '2', a string; it must be a number.",
  ],
  [
    'no options',
    () => reduce(group, undefined as never),
    'The options of reduce are undefined; they must be an object.',
  ],
  ['a missing option', () => jacobi(group, { rows: 3 } as never), 'The option columns of jacobi is missing.'],
  [
    'an option that does not exist',
    () => reduce(group, { elements: 6, type: 'f32', op: 'max' } as never),
    'There is no option op of reduce; the closest option is operation.',
  ],
  [
    'an option of products of f16 where the type is f32',
    () => matmul(group, { m: 2, n: 2, k: 2, resultType: 'f32' } as never),
    'There is no option resultType of matmul; its options are m, n, k, type, a, b, output, streamWidth, memoryLimitBytes, mode, devices, model, precision, schedule, verify, compareSchedules, warmup, samples, repetitions, seed, trace, onProgram, onRun, signal, tuning.',
  ],
  [
    'an array of another type that takes the result',
    () => jacobi(group, { rows: 3, columns: 3, output: new Int32Array(9) as never }),
    'The output is Int32Array; elements of f32 need a Float32Array or a function.',
  ],
  [
    'an array of another type that a streamed product takes',
    () => matmul(group, { m: 2, n: 3, k: 2, b: new Float64Array(6) as never, mode: 'streamed' }),
    'B is Float64Array; elements of f32 need a Float32Array, host memory of f32 or a function.',
  ],
  [
    'numbers where the product takes bits of f16',
    () => matmul(group, { m: 2, n: 3, k: 2, type: 'f16', a: new Float32Array(4) as never }),
    'A is Float32Array; elements of f16 need a Uint16Array or a function.',
  ],
  [
    'an array of another type that a ring takes',
    () => ringMatmul(group, { m: 2, n: 3, k: 2, a: new Int32Array(4) as never }),
    'A is Int32Array; elements of f32 need a Float32Array or a function.',
  ],
  [
    'an array of another length that is uploaded during the run',
    () => reduce(group, { elements: 6, type: 'f32', input: new Float32Array(5), timeUploads: true }),
    'The input has 5 elements, but the shape needs 6.',
  ],
  [
    'an output of another type before anything runs',
    () =>
      transpose(group, {
        rows: 2,
        columns: 3,
        type: 'f32',
        output: new Int32Array(6) as never,
        input: () => expect.unreachable('The input is read.'),
      }),
    'The output is Int32Array; elements of f32 need a Float32Array or a function.',
  ],
  [
    'a transport that does not exist, which a function chooses',
    () => transpose(group, { rows: 2, columns: 3, type: 'f32', chooseTransport: (() => 'peer') as never }),
    "chooseTransport returned 'peer', a string for the tile from device 1 to device 0; it must return 'copy', 'direct' or 'scatter'.",
  ],
  [
    'an array that is not typed',
    () => jacobi(group, { rows: 3, columns: 3, input: [1, 2, 3, 4, 5, 6, 7, 8, 9] as never }),
    'The option input of jacobi is an array; it must be a typed array or a function.',
  ],
  [
    'a value that does not exist',
    () => jacobi(group, { rows: 3, columns: 3, transport: 'copies' as never }),
    "The option transport of jacobi is 'copies', a string; it must be one of 'auto', 'copy', 'direct'.",
  ],
])('name %s', async (_, call, message) => {
  await expect(call()).rejects.toMatchObject({ code: 'validation', message })
})
