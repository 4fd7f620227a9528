import { type Batch, bindings, hex, type KernelFailure } from './kernel-batch.ts'

/** A composite whose parts are 32-bit words, with paths of indices to them. */
interface Shape {
  readonly type: string
  /** The number of choices of each index on the path. */
  readonly extents: readonly number[]
  /** The path, with `I0`, `I1` for the indices. */
  readonly path: string
  /** WGSL that converts a word to a part, and a part to a word. */
  readonly toPart: (word: string) => string
  readonly toWord: (part: string) => string
}

const plain = { toPart: (word: string) => word, toWord: (part: string) => part }
const float = { toPart: (word: string) => `f32(${word})`, toWord: (part: string) => `u32(${part})` }

const shapes: readonly Shape[] = [
  { type: 'array<u32, 7>', extents: [7], path: '[I0]', ...plain },
  { type: 'array<vec4u, 5>', extents: [5], path: '[I0].z', ...plain },
  { type: 'array<vec3u, 5>', extents: [5, 3], path: '[I0][I1]', ...plain },
  { type: 'array<array<u32, 3>, 4>', extents: [4, 3], path: '[I0][I1]', ...plain },
  { type: 'array<Inner, 3>', extents: [3, 5], path: '[I0].values[I1]', ...plain },
  { type: 'vec2u', extents: [2], path: '[I0]', ...plain },
  { type: 'vec3u', extents: [3], path: '[I0]', ...plain },
  { type: 'vec4u', extents: [4], path: '[I0]', ...plain },
  { type: 'mat2x2f', extents: [2, 2], path: '[I0][I1]', ...float },
  { type: 'mat3x4f', extents: [3, 4], path: '[I0][I1]', ...float },
  { type: 'mat4x3f', extents: [4, 3], path: '[I0][I1]', ...float },
  { type: 'array<mat2x3f, 2>', extents: [2, 2, 3], path: '[I0][I1][I2]', ...float },
]

/** Indices inside and outside, as bits: small ones, and the ends of i32 and u32. */
const indexBits: readonly number[] = [
  ...[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 31, 64, 1000, 0xffff, 0x10000, 0x20000000, 0x3fffffff, 0x40000000,
  ],
  ...[0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xaaaaaaab, 0xfffffff0, 0xfffffffe, 0xffffffff],
]

const mark = 9999

/** Reads and writes by indices outside of every kind of composite, in every kind of memory. */
export function* robustAccessBatches(): Generator<Batch> {
  for (const index of ['u32', 'i32'] as const) {
    for (const shape of shapes) {
      for (const space of ['storage', 'workgroup', 'private', 'function', 'pointer'] as const)
        yield accessBatch(shape, space, index)
      yield valueBatch(shape, index)
    }
    yield runtimeSizedBatch(index)
    yield atomicBatch(index)
  }
}

/** A function that visits every part of a shape: `visit` gives the statement for a path of constants. */
function eachPart({ extents }: Shape, visit: (path: readonly number[], position: number) => string): string {
  const paths = extents.reduce<number[][]>(
    (all, n) => all.flatMap((path) => [...Array(n).keys()].map((i) => [...path, i])),
    [[]],
  )
  return paths.map(visit).join('\n')
}

function partCount({ extents }: Shape): number {
  return extents.reduce((product, n) => product * n, 1)
}

function partAt(shape: Shape, name: string, indices: readonly (number | string)[]): string {
  return `${name}${indices.reduce<string>((path, index, i) => path.replace(`I${i}`, String(index)), shape.path)}`
}

/** Cases of indices: each index takes all values, the others stay inside. */
function indexCases({ extents }: Shape): number[][] {
  return extents.flatMap((_, varied) =>
    indexBits.map((bits, i) => extents.map((n, k) => (k === varied ? bits : (i * 5 + k) % n))),
  )
}

function isInside({ extents }: Shape, indices: readonly number[]): boolean {
  return indices.every((index, k) => index < extents[k]!)
}

const innerType = 'struct Inner { before: u32, values: array<u32, 5>, after: u32 }\n'

/** Each case reads a part by its indices, then writes one, and copies everything and the guards around it. */
function accessBatch(
  shape: Shape,
  space: 'storage' | 'workgroup' | 'private' | 'function' | 'pointer',
  index: 'u32' | 'i32',
): Batch {
  const cases = indexCases(shape)
  const { extents } = shape
  const parts = partCount(shape)
  const stride = parts + 3
  const held = `struct Held { before: vec4u, data: ${shape.type}, after: vec4u }\n`
  const name = space === 'pointer' ? '(*p)' : 'held.data'
  const indices = extents.map((_, k) => `${index}(input[i * ${extents.length} + ${k}])`)
  const access = partAt(shape, name, indices)
  const fill = eachPart(
    shape,
    (path, n) => `  ${partAt(shape, 'held.data', path)} = ${shape.toPart(`${n + 1}u`)};`,
  )
  const dump = eachPart(
    shape,
    (path, n) => `  out[at + ${n}] = ${shape.toWord(partAt(shape, 'held.data', path))};`,
  )
  const memory = {
    storage: '',
    workgroup: 'var<workgroup> held: Held;',
    private: 'var<private> held: Held;',
    function: '',
    pointer: '',
  }[space]
  const body = `
  let at = i * ${stride};
  held.before = vec4u(${mark + 1}u); held.after = vec4u(${mark + 2}u);
${fill}
  ${space === 'pointer' ? `out[at + ${parts}] = readPart(&held.data, i); writePart(&held.data, i);` : `out[at + ${parts}] = ${shape.toWord(access)}; ${access} = ${shape.toPart(`${mark}u`)};`}
${dump}
  out[at + ${parts + 1}] = select(0u, 1u, all(held.before == vec4u(${mark + 1}u)));
  out[at + ${parts + 2}] = select(0u, 1u, all(held.after == vec4u(${mark + 2}u)));`
  const functions =
    space === 'pointer'
      ? `fn readPart(p: ptr<function, ${shape.type}>, i: u32) -> u32 { return ${shape.toWord(access)}; }
fn writePart(p: ptr<function, ${shape.type}>, i: u32) { ${access} = ${shape.toPart(`${mark}u`)}; }\n`
      : ''
  // In storage, the composite lies among other words of the output.
  const inStorage = space === 'storage'
  const wgsl = inStorage
    ? storageKernel(shape, indices)
    : `${innerType}${held}${bindings}${memory}
${functions}@compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3u) {
  let i = id.x;
  ${space === 'function' || space === 'pointer' ? 'var held: Held;' : ''}${body}
}`
  return {
    name: `robust ${space} ${shape.type} by ${index}`,
    wgsl,
    workgroups: cases.length,
    input: Uint32Array.from(cases.flat()),
    output: new Uint32Array(cases.length * (inStorage ? storageStride(shape) : stride)),
    cases: cases.length * 2,
    check: (out) =>
      cases.flatMap((given, i) => {
        const words = inStorage
          ? storageWords(shape, out, i)
          : [...out.subarray(i * stride, (i + 1) * stride)]
        return judge(shape, given, words, access)
      }),
  }
}

function judge(
  shape: Shape,
  given: readonly number[],
  words: readonly number[],
  access: string,
): KernelFailure[] {
  const failures: KernelFailure[] = []
  const parts = partCount(shape)
  const [read, before, after] = words.slice(parts) as [number, number, number]
  const inside = isInside(shape, given)
  const position = given.reduce((at, index, k) => at * shape.extents[k]! + index, 0)
  const reproducer = `${access} with indices ${given.map(hex).join(', ')} of ${shape.type}`
  const fail = (expected: string, got: string) => failures.push({ reproducer, expected, got })
  const isPart = read === 0 || (read >= 1 && read <= parts)
  if (inside ? read !== position + 1 : !isPart)
    fail(inside ? `to read ${position + 1}` : `to read 0 to ${parts}`, String(read))
  const changed = words.slice(0, parts).flatMap((word, n) => (word === n + 1 ? [] : [{ n, word }]))
  const isRight = inside
    ? changed.length === 1 && changed[0]!.n === position && changed[0]!.word === mark
    : changed.length <= 1 && changed.every(({ word }) => word === mark)
  if (!isRight)
    fail(inside ? `to write part ${position} alone` : 'to write at most one part', JSON.stringify(changed))
  if (before !== 1 || after !== 1) fail('to leave the memory around it alone', `${before}, ${after}`)
  return failures
}

// The composite in storage: `out` is an array of structures with guards, each with room for what was read.
function storageStride(shape: Shape): number {
  return 64 + 4 * Math.ceil(dataWords(shape) / 4)
}

/** More words than the composite can have in memory. */
function dataWords(shape: Shape): number {
  return shape.extents.reduce((product, n) => product * Math.max(4, n + 2), 1) * 2
}

/** A kernel like the others, with the composite in a structure of the output, between guards. */
function storageKernel(shape: Shape, indices: readonly string[]): string {
  const access = partAt(shape, 'data', indices)
  const fill = eachPart(
    shape,
    (path, n) => `  ${partAt(shape, 'out[i].data', path)} = ${shape.toPart(`${n + 1}u`)};`,
  )
  const words = storageStride(shape)
  const dump = eachPart(
    shape,
    (path, n) => `  out[i].dump[${n}] = ${shape.toWord(partAt(shape, 'out[i].data', path))};`,
  )
  return `${innerType}
struct Slot { dump: array<u32, 32>, before: vec4u, @size(${(words - 44) * 4}) data: ${shape.type}, after: vec4u, read: u32 }
@group(0) @binding(0) var<storage, read> input: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<Slot>;
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3u) {
  let i = id.x;
  out[i].before = vec4u(${mark + 1}u); out[i].after = vec4u(${mark + 2}u);
${fill}
  out[i].read = ${shape.toWord(access.replaceAll('data', 'out[i].data'))};
  ${access.replaceAll('data', 'out[i].data')} = ${shape.toPart(`${mark}u`)};
${dump}
}`
}

function storageWords(shape: Shape, out: Uint32Array, i: number): number[] {
  const words = storageStride(shape)
  const slot = out.subarray(i * words, (i + 1) * words)
  const afterAt = 36 + (words - 44)
  const guard = (from: number, value: number) =>
    Number(slot.subarray(from, from + 4).every((word) => word === value))
  return [
    ...slot.subarray(0, partCount(shape)),
    slot[afterAt + 4]!,
    guard(32, mark + 1),
    guard(afterAt, mark + 2),
  ]
}

/** Values, which have no memory: an index outside gives a part or zero. */
function valueBatch(shape: Shape, index: 'u32' | 'i32'): Batch {
  const cases = indexCases(shape)
  const { extents } = shape
  const fill = eachPart(
    shape,
    (path, n) => `  ${partAt(shape, 'filled', path)} = ${shape.toPart(`${n + 1}u`)};`,
  )
  const access = partAt(
    shape,
    'value',
    extents.map((_, k) => `${index}(input[i * ${extents.length} + ${k}])`),
  )
  const parts = partCount(shape)
  return {
    name: `robust value ${shape.type} by ${index}`,
    wgsl: `${innerType}${bindings}
fn make() -> ${shape.type} {
  var filled: ${shape.type};
${fill}
  return filled;
}
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3u) {
  let i = id.x;
  let value = make();
  out[i] = ${shape.toWord(access)};
}`,
    workgroups: cases.length,
    input: Uint32Array.from(cases.flat()),
    output: new Uint32Array(cases.length),
    cases: cases.length,
    check: (out) =>
      cases.flatMap((given, i) => {
        const position = given.reduce((at, n, k) => at * extents[k]! + n, 0)
        const inside = isInside(shape, given)
        if (inside ? out[i] === position + 1 : out[i]! <= parts) return []
        const reproducer = `let value: ${shape.type}; ${access} with indices ${given.map(hex).join(', ')}`
        return [
          { reproducer, expected: inside ? String(position + 1) : `0 to ${parts}`, got: String(out[i]) },
        ]
      }),
  }
}

/**
 * Runtime-sized arrays of the output itself: each invocation writes by one index, far outside too; all must
 * stay inside.
 */
function runtimeSizedBatch(index: 'u32' | 'i32'): Batch {
  const length = 128
  const inside = indexBits.map((bits) => bits < length)
  return {
    name: `robust runtime-sized array by ${index}`,
    wgsl: `${bindings}
@compute @workgroup_size(1) fn main() {
  for (var i = 0u; i < ${indexBits.length}u; i++) {
    let at = ${index}(input[i]);
    if (input[i] >= ${length}u) { out[at] = ${mark}u; }
  }
  for (var i = 0u; i < ${indexBits.length}u; i++) {
    let at = ${index}(input[i]);
    if (input[i] < ${length}u) { out[at] = out[at] + input[i] + 1u; }
    _ = out[at];
  }
}`,
    workgroups: 1,
    input: Uint32Array.from(indexBits),
    output: new Uint32Array(length),
    cases: indexBits.length,
    check: (out) =>
      indexBits.flatMap((bits, i) => {
        // A write outside may hit an element inside, which then begins with the mark.
        const isRight = !inside[i] || out[bits] === bits + 1 || out[bits] === bits + 1 + mark
        return isRight
          ? []
          : [{ reproducer: `out[${index}(${hex(bits)})]`, expected: `${bits + 1}`, got: String(out[bits]) }]
      }),
  }
}

/** Atomics by indices outside touch no memory but the array's. */
function atomicBatch(index: 'u32' | 'i32'): Batch {
  return {
    name: `robust atomics by ${index}`,
    wgsl: `${bindings}
struct Held { before: array<u32, 8>, counts: array<atomic<u32>, 4>, after: array<u32, 8> }
var<workgroup> held: Held;
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) id: vec3u) {
  let at = ${index}(input[id.x]);
  let old = atomicAdd(&held.counts[at], 5u);
  var guards = 0u;
  for (var i = 0u; i < 8; i++) { guards |= held.before[i] | held.after[i]; }
  out[id.x * 3] = old;
  out[id.x * 3 + 1] = atomicLoad(&held.counts[0]) + atomicLoad(&held.counts[1]) + atomicLoad(&held.counts[2]) + atomicLoad(&held.counts[3]);
  out[id.x * 3 + 2] = guards;
}`,
    workgroups: indexBits.length,
    input: Uint32Array.from(indexBits),
    output: new Uint32Array(indexBits.length * 3),
    cases: indexBits.length,
    check: (out) =>
      indexBits.flatMap((bits, i) => {
        const [old, sum, guards] = out.subarray(i * 3) as unknown as [number, number, number]
        const isRight = old === 0 && guards === 0 && (bits < 4 ? sum === 5 : sum === 5 || sum === 0)
        return isRight
          ? []
          : [
              {
                reproducer: `atomicAdd(&counts[${index}(${hex(bits)})], 5u)`,
                expected: '0, 5, 0',
                got: `${old}, ${sum}, ${guards}`,
              },
            ]
      }),
  }
}
