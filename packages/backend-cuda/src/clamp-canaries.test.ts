// Kernels bounded by `clamp` and `trap` must not change memory outside their views: tested on this machine's
// GPUs, or else on the CPU build of the CUDA text.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Backend,
  type Bounds,
  type DeviceBuffer,
  type DeviceGroup,
  isGpuError,
  openGroup,
} from '@tandem-gpu/core'
import { emitCuda } from '@tandem-gpu/wgsl'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { cuda, cudaBackend } from './cuda.ts'
import type { Translate } from './cuda-kernel.ts'
import { type CanaryKernel, canary, canaryKernels, poison } from './testing/canary-kernels.ts'
import { translateForCpu } from './testing/cpu-translation.ts'
import { configureFake, fakeLibraries } from './testing/fake-driver.ts'

const real = (await cuda().adapters()).adapters.length > 0
const translate: Translate = real
  ? ({ module, bounds, label }) => emitCuda(module, { bounds, label, lineDirectives: false })
  : translateForCpu
const directory = join(tmpdir(), `tandem-canaries-${randomUUID()}`)
const groups: DeviceGroup[] = []
if (!real) configureFake()
afterEach(async () => {
  for (const group of groups.splice(0)) await group.destroy()
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function backend(translation: Translate = translate): Backend {
  // The key of a cached translation does not name the translator.
  const cache = translation === translate ? directory : join(directory, randomUUID())
  return cudaBackend(
    real ? { kernelCache: false } : { libraries: fakeLibraries(), kernelCache: { directory: cache } },
    translation,
  )
}

async function open(translation?: Translate): Promise<DeviceGroup> {
  const group = await openGroup({ backends: [backend(translation)], devices: 1 })
  groups.push(group)
  return group
}

/** There are many small kernels, so the C++ compiler takes most of the time. */
const long = real || process.env.TANDEM_LONG === '1'
/** One in `every` kernels, different ones each day; on GPUs and in the long form, all of them. */
function sample(every: number): readonly CanaryKernel[] {
  const start = Math.floor(Date.now() / 86_400_000)
  return long ? canaryKernels : canaryKernels.filter((_, i) => (i + start) % every === 0)
}

/** Words before and after each view; bindings start at multiples of 256 bytes. */
const border = 64
const outLength = 8
const asFloat = new Float32Array(Uint32Array.of(canary).buffer)[0]!

/** Shows the canaries of its own uniform block; its trap record is next to those of others. */
const witness = `
struct P { index: u32, list: array<vec4<u32>, 4> }
@group(0) @binding(0) var<uniform> p: P;
@group(0) @binding(1) var<storage, read_write> seen: array<u32>;
@compute @workgroup_size(1) fn main() {
  seen[0] = p.index;
  for (var k = 0u; k < 4u; k++) { for (var c = 0u; c < 4u; c++) { seen[1u + 4u * k + c] = p.list[k][c]; } }
}`
const seenLength = 17

async function place(group: DeviceGroup, label: string, length: number, type: 'u32' | 'f32' = 'u32') {
  const buffer: DeviceBuffer = await group.devices[0]!.allocate(type, border + length + border, { label })
  const words = type === 'u32' ? new Uint32Array(buffer.length) : new Float32Array(buffer.length)
  words.fill(type === 'u32' ? canary : asFloat)
  await group.queue.write(buffer, words)
  return { buffer, view: buffer.slice(border, length), length }
}

/** Runs the kernel at each index. Resolves to a list of faults, which is empty if all canaries are intact. */
async function damage(
  group: DeviceGroup,
  tested: CanaryKernel,
  indices: readonly number[],
  bounds: Bounds = 'clamp',
): Promise<string[]> {
  const kernel = await group.compile({ label: tested.name, wgsl: tested.wgsl, bounds })
  const watching = await group.compile({ label: 'witness', wgsl: witness, bounds: 'trap' })
  const below = await place(group, 'below', 0)
  const x = await place(group, 'x', tested.length, tested.type)
  const out = await place(group, 'out', outLength)
  const first = await place(group, 'first witness', seenLength)
  const last = await place(group, 'last witness', seenLength)
  const placed = [below, x, out, first, last]
  const list = new Array<number>(16)
  const program = group.record((r) => {
    const index = r.parameter('index', 'u32', 0)
    const watch = (seen: (typeof placed)[number]) =>
      r.dispatch(watching, {
        workgroups: 1,
        args: { seen: seen.view, index: canary, list: list.fill(canary).slice() },
      })
    r.fill(x.view, 0)
    r.fill(out.view, 0)
    watch(first)
    const args = { x: x.view, out: out.view, index, list: list.fill(0).slice() }
    const names = kernel.reflection.bindings.find(({ name }) => name === 'p')!.members
    r.dispatch(kernel, { workgroups: 1, args: names === undefined ? {} : args })
    watch(last)
  })
  const wrong: string[] = []
  for (const index of indices) {
    const say = (what: string) => wrong.push(`a kernel that ${tested.name} at ${index}: ${what}`)
    try {
      // Later repetitions read the uniform blocks left by the first one. The number is odd, because of
      // exclusive or.
      await group.queue.run(program, 3, { parameters: { index } })
    } catch (error) {
      const named = isGpuError(error, 'validation') && error.message.includes(`dispatch '${tested.name}'`)
      if (bounds !== 'trap' || !named) throw error
    }
    for (const { buffer, length } of placed) {
      const read = await group.queue.read(buffer)
      const words = new Uint32Array(read.buffer)
      for (const [at, word] of words.entries())
        if ((at < border || at >= border + length) && word !== canary)
          say(`${buffer.label}[${at - border}] is ${word.toString(16)}`)
      const own = words.subarray(border, border + length)
      if (buffer === out.buffer && own.some((word) => word === canary || word === poison))
        say(`it sees ${[...own].map((word) => word.toString(16))}`)
      if (length === seenLength && own.some((word) => word !== canary))
        say(`a uniform block holds ${[...own].map((word) => word.toString(16))}`)
    }
    if (wrong.length > 0) break
  }
  for (const resource of [program, kernel, watching, ...placed.map(({ buffer }) => buffer)])
    resource.destroy()
  return wrong
}

const hostile = [0x3fff_ffff, 0x4000_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff]
const indicesOf = ({ near, meets }: CanaryKernel) => [
  ...new Set([0, near - 1, near, near + 1, near + 5, meets, 16, 52, 64, 999, ...hostile]),
]

describe(`on ${real ? 'CUDA' : 'the CPU build of the CUDA text'}`, () => {
  it.each([
    ['clamp', 5],
    ['trap', 12],
  ] as const)('no kernel bounded by %s accesses memory outside its views', async (bounds, every) => {
    const group = await open()
    const wrong: string[] = []
    const waiting = [...sample(every)]
    const worker = async () => {
      for (let tested = waiting.shift(); tested !== undefined; tested = waiting.shift())
        wrong.push(...(await damage(group, tested, indicesOf(tested), bounds)))
    }
    await Promise.all([worker(), worker()])
    expect(wrong).toEqual([])
  })
})

/**
 * A guard in the text of a kernel: a condition before a store, an index that is kept below its limit, or the
 * offset of a view in a buffer.
 */
const guards = [
  /if \((?:[^()]|\([^()]*\))* < \w+_length\) /g,
  /\bmin\(([^()]*(?:\([^()]*\)[^()]*)*), (?:\d+u|\w+_length - 1u)\)/g,
  /\bmin\((\w+), \(\([^;]*\) \/ 4u\) - 1u\)/g,
  /\bt\d+ \? (t\d+) : 0u/g,
]

describe('a guard that is missing', () => {
  it.each(sample(24).filter(({ shows }) => shows))('is noticed where a kernel $name', async (tested) => {
    let removed = ''
    let left = 0
    const without =
      (number: number): Translate =>
      (source) => {
        const translated = translate(source)
        if (source.label === 'witness') return translated
        // The helper functions before the kernel's own types have their own bounds.
        const start = translated.source.lastIndexOf('static_assert(sizeof(')
        const text = translated.source.slice(start)
        const found = guards.flatMap((guard) => [...text.matchAll(guard)])
        left = found.length
        const match = found[number]
        if (match === undefined) return translated
        removed = match[0]
        const after = text.slice(match.index + match[0].length)
        return {
          ...translated,
          source: translated.source.slice(0, start) + text.slice(0, match.index) + (match[1] ?? '') + after,
        }
      }
    const noticed: string[] = []
    for (let number = 0, count = 1; number < count && noticed.length === 0; number += 1) {
      const group = await open(without(number))
      const wrong = await damage(group, tested, [tested.meets])
      count = left
      if (wrong.length > 0) noticed.push(removed)
    }
    expect(left, 'guards in the text').toBeGreaterThan(0)
    expect(noticed).not.toEqual([])
  })
})
