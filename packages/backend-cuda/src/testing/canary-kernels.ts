/** A value that no kernel computes, in memory that no kernel may read or write. */
export const canary = 0xca11ab1e
/** The value that kernels write out of bounds. */
export const poison = 0xdead0001

/**
 * Kernels that read and write out of bounds in every way that the language allows. Each receives `x`, a view
 * with canaries on both sides; `out`, eight words with canaries on both sides; and an index in a uniform
 * block between blocks of canaries. It writes the values that it reads, and the variables next to its own, to
 * `out`.
 */
export interface CanaryKernel {
  readonly name: string
  /** The first index that is out of bounds. */
  readonly near: number
  /** An index at which an unguarded access reaches a canary. */
  readonly meets: number
  /** The element type of `x`, and the number of its elements. */
  readonly type: 'u32' | 'f32'
  readonly length: number
  readonly wgsl: string
  /**
   * False if a missing guard has no visible effect: a component is selected among values, or compilers rely
   * on the contents of an array.
   */
  readonly shows: boolean
}

type Details = Partial<Pick<CanaryKernel, 'meets' | 'type' | 'length' | 'shows'>> & {
  readonly declare?: string
  readonly workgroupSize?: number
}

function kernel(
  name: string,
  near: number,
  x: string,
  statements: string,
  { declare = '', workgroupSize = 1, ...details }: Details = {},
): CanaryKernel {
  const wgsl = `
${declare}
struct P { index: u32, list: array<vec4<u32>, 4> }
@group(0) @binding(0) var<storage, read_write> x: ${x};
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@group(0) @binding(2) var<uniform> p: P;
const poison = ${poison}u;
const canary = ${canary}u;
@compute @workgroup_size(${workgroupSize}) fn main(@builtin(local_invocation_index) l: u32) {
  _ = &x; _ = &out; _ = l; let i = p.index;
  ${statements}
}`
  return { name, near, meets: near, type: 'u32', length: 16, shows: true, ...details, wgsl }
}

const beside = 'struct Beside { own: array<u32, 4>, other: array<u32, 4> }'
const others = (place: string) => `for (var k = 0u; k < 4u; k++) { out[k] = ${place}.other[k]; }`

/** Workgroup variables on both sides of `v`, since a compiler may put them in any order. */
const three = (v: string) => `var<workgroup> below: ${v}; var<workgroup> v: ${v}; var<workgroup> above: ${v};`
const fourWords = 'array<u32, 4>'
/** Canaries that a compiler can neither leave out nor predict, on both sides of `v`. */
const canariesAround = 'let c = x[0] | canary; for (var k = 0u; k < 4u; k++) { below[k] = c; above[k] = c; }'
const keepCanaries = 'out[1] = (below[i % 4u] ^ c) + (above[i % 4u] ^ c);'
const otherWords = 'for (var k = 0u; k < 4u; k++) { out[k] = below[k]; out[4u + k] = above[k]; }'

export const canaryKernels: readonly CanaryKernel[] = [
  // Arrays whose length is known at run time.
  kernel('writes an element', 16, 'array<u32>', 'x[i] = poison;'),
  kernel('reads an element', 16, 'array<u32>', 'out[0] = x[i];'),
  kernel('adds to an element', 16, 'array<u32>', 'x[i] += poison;'),
  kernel('counts an element up', 16, 'array<u32>', 'x[i]++;'),
  kernel('writes at a signed index', 16, 'array<u32>', 'x[i32(i)] = poison;'),
  kernel('writes at a product', 16, 'array<u32>', 'x[i * 0x40000001u] = poison;'),
  kernel('writes at a difference', 16, 'array<u32>', 'x[i + 4u - 4u] = poison;'),
  kernel('writes at an index that is read', 16, 'array<u32>', 'out[1] = i; x[out[1]] = poison;'),
  kernel(
    'counts past the end',
    16,
    'array<u32>',
    'for (var k = 0u; k < min(i, 99u); k++) { x[k] = poison; }',
    {
      meets: 20,
    },
  ),
  kernel(
    'counts down from outside',
    16,
    'array<u32>',
    'for (var k = min(i, 99u); k > 0u; k--) { x[k] = poison; }',
  ),
  kernel(
    'tests an index and then changes it',
    12,
    'array<u32>',
    'var k = i; if (k < 16u) { k += 4u; x[k] = poison; }',
  ),
  kernel('writes through a pointer', 16, 'array<u32>', 'let q = &x[i]; *q = poison;'),
  kernel('writes through a pointer to the array', 16, 'array<u32>', 'put(&x, i);', {
    declare: `fn put(q: ptr<storage, array<u32>, read_write>, i: u32) { (*q)[i] = ${poison}u; }`,
  }),
  kernel('writes through a pointer to an element', 16, 'array<u32>', 'put(&x[i]);', {
    declare: `fn put(q: ptr<storage, u32, read_write>) { *q = ${poison}u; }`,
  }),
  kernel('writes behind a header', 15, 'Tail', 'x.tail[i] = poison;', {
    declare: 'struct Tail { head: u32, tail: array<u32> }',
  }),
  kernel(
    'writes an element of the last length',
    4,
    'array<vec3<u32>>',
    'x[arrayLength(&x) - 4u + i] = vec3(poison);',
  ),
  // Elements of several words, in a view that ends within one.
  kernel('writes a vector', 4, 'array<vec4<u32>>', 'x[i] = vec4(poison);'),
  kernel('writes a vector of which the view holds a part', 3, 'array<vec4<u32>>', 'x[i] = vec4(poison);', {
    length: 15,
  }),
  kernel('reads a vector of which the view holds a part', 3, 'array<vec4<u32>>', 'out[0] = x[i].w;', {
    length: 15,
  }),
  kernel('writes a vector of three', 4, 'array<vec3<u32>>', 'x[i] = vec3(poison);'),
  kernel('writes a pair of halves', 16, 'array<vec2<f32>>', 'x[i] = vec2(bitcast<f32>(poison));', {
    type: 'f32',
    length: 32,
  }),
  kernel(
    'writes a structure',
    2,
    'array<Beside>',
    'let four = array(poison, poison, poison, poison); x[i] = Beside(four, four);',
    {
      declare: beside,
    },
  ),
  kernel(
    'writes a matrix',
    1,
    'array<mat4x4<f32>>',
    'let v = vec4(bitcast<f32>(poison)); x[i] = mat4x4<f32>(v, v, v, v);',
    {
      type: 'f32',
    },
  ),
  // Places inside an element.
  kernel('writes a component', 4, 'array<vec4<u32>>', 'x[3][i] = poison;'),
  kernel('reads a component', 4, 'array<vec4<u32>>', 'out[0] = x[3][i];'),
  kernel('writes a column', 4, 'mat4x4<f32>', 'x[i] = vec4(bitcast<f32>(poison));', { type: 'f32' }),
  kernel('writes a row', 4, 'mat4x4<f32>', 'x[3][i] = bitcast<f32>(poison);', { type: 'f32' }),
  kernel('writes an inner array', 4, 'array<array<u32, 4>, 4>', 'x[3][i] = poison;'),
  kernel('writes an outer array', 4, 'array<array<u32, 4>, 4>', 'x[i][0] = poison;'),
  kernel('writes a member', 4, 'array<Beside>', 'x[1].other[i] = poison;', { declare: beside }),
  kernel('writes into the next member', 4, 'array<Beside>', `x[1].own[i] = poison; ${others('x[1]')}`, {
    declare: beside,
  }),
  // Atomics.
  kernel('stores atomically', 16, 'array<atomic<u32>>', 'atomicStore(&x[i], poison);'),
  kernel('loads atomically', 16, 'array<atomic<u32>>', 'out[0] = atomicLoad(&x[i]);'),
  ...['Add', 'Sub', 'Max', 'Min', 'And', 'Or', 'Xor', 'Exchange'].map((operation) =>
    kernel(
      `combines atomically by ${operation}`,
      16,
      'array<atomic<u32>>',
      `out[0] = atomic${operation}(&x[i], 5u);`,
    ),
  ),
  kernel(
    'compares and exchanges',
    16,
    'array<atomic<u32>>',
    'out[0] = atomicCompareExchangeWeak(&x[i], canary, 5u).old_value;',
  ),
  // Views of buffers.
  kernel('writes through a view of a buffer', 16, 'buffer<64>', 'bufferView<array<u32>>(&x, 0)[i] = poison;'),
  kernel('moves a view of a buffer', 16, 'buffer<64>', '*bufferView<u32>(&x, i * 4) = poison;'),
  kernel('reads a view of a buffer', 8, 'buffer<64>', 'out[0] = bufferArrayView<array<u32>>(&x, 32, 32)[i];'),
  // Uniform blocks: the next one begins 256 bytes behind this one.
  kernel('reads a list in a uniform block', 4, 'array<u32>', 'out[0] = p.list[i].x;', { meets: 16 }),
  kernel('reads a component in a uniform block', 4, 'array<u32>', 'out[0] = p.list[3][i];', { meets: 52 }),
  // Variables of the kernel.
  kernel(
    'writes a variable of a function',
    4,
    'array<u32>',
    `var v: Beside; v.own[i] = poison; ${others('v')}`,
    {
      declare: beside,
    },
  ),
  kernel(
    'reads a variable of a function',
    4,
    'array<u32>',
    `var v: Beside; for (var k = 0u; k < 4u; k++) { v.own[k] = x[k]; v.other[k] = x[k] | canary; } out[0] = v.own[i];`,
    {
      declare: beside,
    },
  ),
  kernel('writes through a parameter', 4, 'array<u32>', `var v: Beside; put(&v.own, i); ${others('v')}`, {
    declare: `${beside} fn put(q: ptr<function, array<u32, 4>>, i: u32) { (*q)[i] = ${poison}u; }`,
    shows: false,
  }),
  kernel('writes a private variable', 4, 'array<u32>', `v.own[i] = poison; ${others('v')}`, {
    declare: `${beside} var<private> v: Beside;`,
  }),
  kernel(
    'reads a value without a name',
    4,
    'array<u32>',
    `let c = x[0] | canary; let z = x[1]; out[0] = Beside(array(z, z + 1u, z + 2u, z + 3u), array(c, c, c, c)).own[i];`,
    {
      declare: beside,
    },
  ),
  kernel(
    'writes a component of a variable',
    4,
    'array<u32>',
    'var v: Pair; v.own[i] = 5u; out[0] = v.other.x; out[1] = v.other.w;',
    {
      declare: 'struct Pair { own: vec4<u32>, other: vec4<u32> }',
      shows: false,
    },
  ),
  kernel('writes workgroup memory', 4, 'array<u32>', `v[i] = poison; workgroupBarrier(); ${otherWords}`, {
    declare: three(fourWords),
  }),
  kernel(
    'reads workgroup memory',
    4,
    'array<u32>',
    `${canariesAround} v[i % 4u] = 0u; workgroupBarrier(); out[0] = v[i]; ${keepCanaries}`,
    { declare: three(fourWords) },
  ),
  kernel(
    'loads workgroup memory for all',
    4,
    'array<u32>',
    `${canariesAround} out[0] = workgroupUniformLoad(&v[i]); ${keepCanaries}`,
    {
      declare: three(fourWords),
    },
  ),
  kernel(
    'stores to workgroup memory atomically',
    4,
    'array<u32>',
    'atomicStore(&v[i], poison); workgroupBarrier(); for (var k = 0u; k < 4u; k++) { out[k] = atomicLoad(&below[k]); out[4u + k] = atomicLoad(&above[k]); }',
    { declare: three('array<atomic<u32>, 4>') },
  ),
  kernel(
    'copies into workgroup memory',
    4,
    'array<vec4<u32>>',
    'v[l] = x[i + l]; workgroupBarrier(); if (l < 4u) { out[l] = v[l].x; }',
    { declare: three('array<vec4<u32>, 4>'), workgroupSize: 4 },
  ),
]
