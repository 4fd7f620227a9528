import { afterAll, expect, it } from 'vitest'
import { lower, parseWgsl } from './frontend/lower.ts'
import { findSubgroupMatrixUses } from './subgroup-matrices.ts'
import { StepCounter } from './testing/step-counter.ts'

const counter = new StepCounter()
afterAll(() => counter.close())

const levels = 28

/** A structure that contains `first`, and structures that each contain the previous one twice. */
function doubled(first: string): string {
  return `enable chromium_experimental_subgroup_matrix;
    struct S0 { a: ${first} }
    ${Array.from({ length: levels }, (_, i) => `struct S${i + 1} { a: S${i}, b: S${i} }`).join('\n')}`
}

it('types that double in size take no more time than their text', { timeout: 10_000 }, () => {
  const module = lower(
    parseWgsl(`${doubled('u32')}
      @group(0) @binding(0) var<storage, read_write> s: array<S${levels}>;
      fn f(p: ptr<storage, array<S${levels}>, read_write>) -> u32 { return arrayLength(p); }
      @compute @workgroup_size(32) fn main() { s[0]${'.a'.repeat(levels + 1)} = f(&s); }`),
  )
  expect(findSubgroupMatrixUses(module)).toEqual([])
})

it('a structure of many matrices that is used often is searched once', () => {
  const members = Array.from({ length: 512 }, (_, i) => `m${i}: subgroup_matrix_left<f32, 8, ${i + 1}>,`)
  const module = lower(
    parseWgsl(`enable chromium_experimental_subgroup_matrix; struct S { ${members.join('')} }
      @compute @workgroup_size(32) fn main() { var s: S; ${'s = s;'.repeat(512)} }`),
  )
  const [steps] = counter.count(() => expect(findSubgroupMatrixUses(module)).toHaveLength(512))
  expect(steps! / 512).toBeLessThan(100)
})

it('matrices inside structures are found', () => {
  const module = lower(
    parseWgsl(
      `enable chromium_experimental_subgroup_matrix;
      struct S { a: array<subgroup_matrix_left<f16, 16, 16>, 2> }
      @compute @workgroup_size(32) fn main() { var s: S; }`.replace('enable', 'enable f16, '),
    ),
  )
  expect(findSubgroupMatrixUses(module).map(({ type }) => [type.role, type.component])).toEqual([
    ['left', 'f16'],
  ])
})
