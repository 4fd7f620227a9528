import { Random } from './random.ts'
import { hasDivergentSubgroups, hasLargeMemory, hasMatrices, hasPartialSubgroups } from './random-types.ts'

/** Parts of a kernel: lines of its header, its declarations, and the first statements of its entry point. */
export interface RareForms {
  /** Lines of the test's header. */
  readonly buffers: string
  readonly directives: string
  readonly declarations: string
  readonly body: string
}

const largeElements = 12_800

/**
 * Forms that few kernels have: workgroup memory above 48 KiB, products of subgroup matrices, subgroup
 * operations that not all lanes reach, and subgroup operations in functions of kernels with a partial last
 * subgroup; the others have a loop whose update is a call, and a shared pointer. They are drawn separately
 * from a kernel's other forms.
 */
export function rareForms(seed: number, threads: number, isInputStructure: boolean): RareForms {
  const random = new Random(seed + 0x10000)
  if (hasLargeMemory(seed)) return largeMemory(random, threads)
  if (hasDivergentSubgroups(seed)) return divergentSubgroups(random)
  if (hasPartialSubgroups(seed)) return partialSubgroups(random)
  // Matrices need uniform operands, and no member of a structure of built-in values is uniform.
  if (hasMatrices(seed) && !isInputStructure) return subgroupMatrices(random, threads)
  return sharedPlaces(random)
}

/** A loop whose update is a call that steps the counter, and a pointer that is used under several conditions. */
function sharedPlaces(random: Random): RareForms {
  const use = () => random.pick(['*place += li;', '*place ^= state;', 'state += *place;'])
  const bound = () => `${random.pick([3, 4, 8, 9])}u`
  return {
    buffers: '',
    directives: '',
    declarations: `fn rare_step(p: ptr<function, u32>, by: u32) -> u32 { *p += by; return *p; }\n`,
    body: `  {
    var kept: array<u32, 8>;
    for (var k = ${random.below(3)}u; k < ${bound()}; ${random.pick(['_ = ', ''])}rare_step(&k, ${1 + random.below(3)}u)) {
      kept[k & 7u] ^= li + k;
      state += kept[min(k, 7u)];
    }
    let at = input ^ (input & ${random.pick(['4294967288u', '4294967292u'])});
    let place = &kept[at];
    ${use()}
    if at < ${bound()} { ${use()} }
    ${random.pick([`if at >= ${bound()} || li > 2u { ${use()} }`, `for (var k = at; k < ${bound()}; k++) { ${use()} }`])}
    ${use()}
  }
`,
  }
}

function largeMemory(random: Random, threads: number): RareForms {
  const own = () => `large[li * 3u + ${random.below(3)}u]`
  const anyone = () => `large[(li * ${1 + random.below(9)}u + ${random.below(99)}u) % ${3 * threads}u]`
  // Elements after those that are stored are zero.
  const nobodys = `large[${largeElements - 1}u - li]`
  return {
    buffers: '',
    directives: '',
    declarations: `var<workgroup> large: array<u32, ${largeElements}>;\n`,
    body: `  ${own()} = input;
  ${own()} ${random.pick(['=', '+=', '^='])} li + ${random.below(9)}u;
  workgroupBarrier();
  state += ${anyone()} ^ ${anyone()} ^ ${nobodys};
  workgroupBarrier();
`,
  }
}

/**
 * Lanes may arrive one by one, so they pass values that are the same in all lanes, except where all lanes come
 * together.
 */
function divergentSubgroups(random: Random): RareForms {
  const value = () => random.pick(['limits.x', 'limits.z + 1u', '(limits.y ^ 5u)'])
  const call = () =>
    random.pick([
      () => `subgroupMin(${value()})`,
      () => `subgroupMax(${value()})`,
      () => `subgroupAnd(${value()})`,
      () => `subgroupOr(${value()})`,
      () => `subgroupBroadcastFirst(${value()})`,
      () => `u32(subgroupAll(${value()} < 6u))`,
      () => `u32(subgroupAny(${value()} == 3u))`,
    ])()
  const some = () =>
    random.pick(['(li & 1u) == 0u', 'input % 3u == 1u', 'li > 2u', '(out[i] == 0u && li != 1u)'])
  const place = () =>
    random.pick([
      () => `if ${some()} { state += ${call()}; } else { state ^= ${call()} * 3u; }`,
      () => `if ${some()} { if ${some()} { words[li] = ${call()}; } state += ${call()}; }`,
      () => `for (var k = 0u; k < li % 3u; k++) { state += ${call()} + k; }`,
      () => `switch li % 3u { case 1u: { state += ${call()}; } default: { state -= ${call()}; } }`,
      () => `if ${some()} && ${call()} > 2u { state += 7u; }`,
      () => `if ${some()} || ${call()} > 2u { state += 5u; }`,
      () => `if ${some()} { state += among(${value()}); }`,
      () => `state ^= among(li);`,
    ])()
  return {
    buffers: '',
    directives: 'diagnostic(off, subgroup_uniformity);\n',
    declarations: `fn among(x: u32) -> u32 { if x > 2u { return ${call()}; } return x; }
fn together(x: u32) -> u32 { return u32(subgroupAny(x % 4u == 3u)); }
`,
    body: `  for (var round = 0u; round < 2u; round++) {
    state = state * 3u + together(li);
    ${place()}
    ${place()}
  }
  ${place()}
  state ^= together(li);
  workgroupBarrier();
`,
  }
}

function partialSubgroups(random: Random): RareForms {
  const sums = ['subgroupAdd', 'subgroupInclusiveAdd', 'subgroupExclusiveAdd', 'subgroupMax', 'subgroupXor']
  return {
    buffers: '',
    directives: '',
    declarations: `fn summed(x: u32) -> u32 { return ${random.pick(sums)}(x ^ ${random.below(9)}u) + ${random.pick(sums)}(x); }
fn counted(x: bool) -> u32 { return subgroupBallot(x).x + summed(u32(subgroupAll(x)) + u32(subgroupElect())); }
`,
    body: `  state += summed(input) ^ counted(input % ${2 + random.below(3)}u == 1u);\n`,
  }
}

/**
 * Products of f16 matrices, whose sums are exact in any order, from arrays with layouts that may be swizzled.
 */
function subgroupMatrices(random: Random, threads: number): RareForms {
  const cells = 256
  const stride = random.pick(['2u', '4u', '8u', '8u', '3u', 'limits.z'])
  // Where the last row begins, and how far a matrix may be moved.
  const most = cells - 2 - 15 * 8
  const offset = () =>
    random.pick([`${random.below(most)}u`, 'sid * 8u', `sid * 4u + ${random.below(8)}u`, 'limits.z'])
  const major = () => random.pick(['row_major', 'col_major'])
  const load = (side: 'left' | 'right') =>
    `subgroupMatrixLoad<subgroup_matrix_${side}<f16, 16, 16>, ${major()}>(&${random.pick(['matrix_cells', 'matrix_cells', 'plain_cells'])}, ${offset()}, ${stride})`
  const scaled = () =>
    random.pick([
      () => `product = subgroupMatrixScalarMultiply(product, ${random.pick(['2', '0.5'])});`,
      () => `product = subgroupMatrixScalarAdd(product, f32(limits.z) * 0.5 + 3.0);`,
      () => 'product = subgroupMatrixScalarSubtract(product, 1);',
      () => '',
    ])()
  const multiplied = () =>
    random.pick([
      `product = subgroupMatrixMultiplyAccumulate(${load('left')}, ${load('right')}, product);`,
      `product = subgroupMatrixMultiply<f32>(${load('left')}, ${load('right')});`,
    ])
  return {
    buffers: `// buffer plain_cells: f16[4096] values(1, -2, 3, 0, 0.5, -1, 2, -3, 1.5, 4, -0.25)
// buffer products: f32[1024]
`,
    directives: 'enable f16;\nenable chromium_experimental_subgroup_matrix;\n',
    declarations: `@group(0) @binding(9) var<storage, read> plain_cells: array<vec4u>;
@group(0) @binding(10) var<storage, read_write> products: array<f32>;
var<workgroup> matrix_cells: array<vec4u, ${cells}>;
`,
    body: `  for (var e = 0u; e < ${cells / threads}u; e++) {
    matrix_cells[li + e * ${threads}u] = plain_cells[li + e * ${threads}u + ${random.below(9)}u];
  }
  workgroupBarrier();
  var product: subgroup_matrix_result<f32, 16, 16>${random.oneIn(3) ? ' = subgroup_matrix_result<f32, 16, 16>(2)' : ''};
  ${multiplied()}
  for (var e = 0u; e < ${1 + random.below(3)}u; e++) { ${multiplied()} }
  ${scaled()}
  subgroupMatrixStore<${major()}>(&products, ((wid.x + wid.y + wid.z) * 2u + sid) * 256u, product, 16u);
  state += matrix_cells[${cells - 1}u - li].x ^ matrix_cells[(li * 5u) % ${cells}u].w;
  workgroupBarrier();
`,
  }
}
