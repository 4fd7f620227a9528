import { Random } from './random.ts'
import { hasDivergentSubgroups, hasLargeMemory, hasPartialSubgroups } from './random-types.ts'

/** What stands at the head of a kernel, among its declarations, and before all else in its entry point. */
export interface RareForms {
  readonly directives: string
  readonly declarations: string
  readonly body: string
}

const largeElements = 12_800

/**
 * Forms that few kernels have: workgroup memory above 48 KiB, subgroup operations where not all lanes come by, and in functions of kernels
 * whose last subgroup is not whole. They are drawn apart from a kernel's other forms.
 */
export function rareForms(seed: number, threads: number): RareForms {
  const random = new Random(seed + 0x10000)
  if (hasLargeMemory(seed)) return largeMemory(random, threads)
  if (hasDivergentSubgroups(seed)) return divergentSubgroups(random)
  if (hasPartialSubgroups(seed)) return partialSubgroups(random)
  return { directives: '', declarations: '', body: '' }
}

function largeMemory(random: Random, threads: number): RareForms {
  const own = () => `large[li * 3u + ${random.below(3)}u]`
  const anyone = () => `large[(li * ${1 + random.below(9)}u + ${random.below(99)}u) % ${3 * threads}u]`
  // Elements behind those that are stored to are zero.
  const nobodys = `large[${largeElements - 1}u - li]`
  return {
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

/** The lanes that come by may come one by one: they pass values on which all agree. */
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
    directives: 'diagnostic(off, subgroup_uniformity);\n',
    declarations: `fn among(x: u32) -> u32 { if x > 2u { return ${call()}; } return x; }\n`,
    body: `  ${place()}\n  ${place()}\n  ${place()}\n  workgroupBarrier();\n`,
  }
}

function partialSubgroups(random: Random): RareForms {
  const sums = ['subgroupAdd', 'subgroupInclusiveAdd', 'subgroupExclusiveAdd', 'subgroupMax', 'subgroupXor']
  return {
    directives: '',
    declarations: `fn summed(x: u32) -> u32 { return ${random.pick(sums)}(x ^ ${random.below(9)}u) + ${random.pick(sums)}(x); }
fn counted(x: bool) -> u32 { return subgroupBallot(x).x + summed(u32(subgroupAll(x)) + u32(subgroupElect())); }
`,
    body: `  state += summed(input) ^ counted(input % ${2 + random.below(3)}u == 1u);\n`,
  }
}
