import { type Batch, bindings } from './kernel-batch.ts'

/** A type, and WGSL that gives zero exactly when all bits of `NAME` are zero. */
interface Zeroed {
  readonly type: string
  readonly bits: (name: string) => string
}

const scalars: readonly Zeroed[] = [
  { type: 'u32', bits: (name) => name },
  { type: 'i32', bits: (name) => `bitcast<u32>(${name})` },
  { type: 'f32', bits: (name) => `bitcast<u32>(${name})` },
  { type: 'bool', bits: (name) => `u32(${name})` },
]

function vectorOf(scalar: Zeroed, size: number): Zeroed {
  return {
    type: `vec${size}<${scalar.type}>`,
    bits: (name) =>
      [...'xyzw']
        .slice(0, size)
        .map((c) => scalar.bits(`${name}.${c}`))
        .join(' | '),
  }
}

function matrixOf(columns: number, rows: number): Zeroed {
  const column = vectorOf(scalars[2]!, rows)
  return {
    type: `mat${columns}x${rows}f`,
    bits: (name) => [...Array(columns).keys()].map((c) => column.bits(`${name}[${c}]`)).join(' | '),
  }
}

function arrayOf(element: Zeroed, length: number): Zeroed {
  return {
    type: `array<${element.type}, ${length}>`,
    bits: (name) => [...Array(length).keys()].map((i) => element.bits(`${name}[${i}]`)).join(' | '),
  }
}

const values: readonly Zeroed[] = [
  ...scalars,
  ...scalars.flatMap((scalar) => [2, 3, 4].map((size) => vectorOf(scalar, size))),
  ...[2, 3, 4].flatMap((columns) => [2, 3, 4].map((rows) => matrixOf(columns, rows))),
]

const types: readonly Zeroed[] = [
  ...values,
  ...values.map((value) => arrayOf(value, 3)),
  ...values.slice(0, 8).map((value) => arrayOf(arrayOf(value, 2), 3)),
  ...values.map((value) => ({
    type: `Pair_${value.type.replace(/[<>, ]/g, '_')}`,
    bits: (name: string) => `u32(${name}.flag) | ${value.bits(`${name}.value`)} | ${name}.last.z`,
  })),
]

const structures = values
  .map(
    (value) =>
      `struct Pair_${value.type.replace(/[<>, ]/g, '_')} { flag: bool, value: ${value.type}, last: vec3u }`,
  )
  .join('\n')

const perBatch = 12

/**
 * Variables without an initial value, in every kind of memory, after a kernel that leaves other bits there.
 */
export function* zeroInitBatches(): Generator<Batch> {
  yield poison()
  for (const space of ['function', 'private', 'workgroup', 'loop', 'value'] as const) {
    for (const threads of space === 'workgroup' ? [1, 7, 64, 100] : [1, 64]) {
      for (let from = 0; from < types.length; from += perBatch)
        yield zeroBatch(space, threads, types.slice(from, from + perBatch), from)
    }
  }
  yield atomics()
}

/** Fills workgroup memory and registers with ones. */
function poison(): Batch {
  return {
    name: 'zero-init poison',
    wgsl: `${bindings}
var<workgroup> junk: array<u32, 4096>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  for (var k = i; k < 4096; k += 64) { junk[k] = 0xffffffffu; }
  workgroupBarrier();
  out[i] = junk[4095 - i];
}`,
    workgroups: 256,
    input: new Uint32Array(1),
    output: new Uint32Array(64),
    cases: 64,
    check: (out) =>
      [...out].flatMap((word, i) =>
        word === 0xffffffff
          ? []
          : [{ reproducer: `junk[${4095 - i}]`, expected: '0xffffffff', got: String(word) }],
      ),
  }
}

function zeroBatch(
  space: 'function' | 'private' | 'workgroup' | 'loop' | 'value',
  threads: number,
  some: readonly Zeroed[],
  part: number,
): Batch {
  const names = some.map((_, i) => `v${i}`)
  const declared = some.map(({ type }, i) => `var<${space}> ${names[i]}: ${type};`).join('\n')
  const isModule = space === 'private' || space === 'workgroup'
  const reads = some.map(({ type, bits }, i) => {
    const store = `out[index * ${some.length} + ${i}] = ${bits(names[i]!)};`
    if (space === 'function') return `  var ${names[i]}: ${type};\n  ${store}`
    if (space === 'value') return `  let ${names[i]} = ${type}();\n  ${store}`
    // A variable of a loop's body begins anew at each iteration.
    if (space === 'loop')
      return `  for (var k = 0; k < 3; k++) { var ${names[i]}: ${type}; ${store} ${names[i]} = other${part + i}(); }`
    return `  ${store}`
  })
  const others = some.map(
    ({ type }, i) => `fn other${part + i}() -> ${type} { var bits: ${type}; ${scribble(type)} return bits; }`,
  )
  return {
    name: `zero-init ${space} ${threads} ${part}`,
    wgsl: `${structures}
${bindings}
${isModule ? declared : ''}
${space === 'loop' ? others.join('\n') : ''}
@compute @workgroup_size(${threads}) fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) id: vec3u) {
  let index = id.x * ${threads}u + i;
${reads.join('\n')}
}`,
    workgroups: 2,
    input: new Uint32Array(1),
    output: new Uint32Array(2 * threads * some.length).fill(0xdeadbeef),
    cases: 2 * threads * some.length,
    check: (out) =>
      [...out].flatMap((word, at) => {
        if (word === 0) return []
        const { type } = some[at % some.length]!
        const reproducer = `${space === 'value' ? `${type}()` : `var<${space}> v: ${type};`} in a workgroup of ${threads}, invocation ${Math.floor(at / some.length)}`
        return [{ reproducer, expected: 'zero', got: `0x${word.toString(16)}` }]
      }),
  }
}

/** Makes something in `bits` other than zero. */
function scribble(type: string): string {
  if (type.startsWith('Pair')) return 'bits.flag = true; bits.last = vec3u(7u);'
  if (type.startsWith('array<array')) return 'bits[1][1] = bits[0][0];'
  if (type.startsWith('array')) return 'bits[1] = bits[2];'
  if (type.startsWith('mat')) return 'bits[1][1] = 3.0;'
  if (type.startsWith('vec')) return type.includes('bool') ? 'bits.y = true;' : 'bits.y = 5;'
  return type === 'bool' ? 'bits = true;' : 'bits = 9;'
}

function atomics(): Batch {
  return {
    name: 'zero-init atomics',
    wgsl: `${bindings}
struct Counts { one: atomic<u32>, many: array<atomic<i32>, 5> }
var<workgroup> counts: Counts;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  out[i] = atomicLoad(&counts.one) | bitcast<u32>(atomicLoad(&counts.many[i % 5]));
}`,
    workgroups: 1,
    input: new Uint32Array(1),
    output: new Uint32Array(64).fill(0xdeadbeef),
    cases: 64,
    check: (out) =>
      [...out].flatMap((word, i) =>
        word === 0 ? [] : [{ reproducer: `counts.many[${i % 5}]`, expected: 'zero', got: String(word) }],
      ),
  }
}
