import { expect, it } from 'vitest'
import { lower, parseWgsl } from './frontend/lower.ts'
import { reflect } from './reflect.ts'
import { moduleVariableOf, walk } from './walk.ts'

/** How a statement uses the variable v, in order of evaluation. */
function uses(declaration: string, statement: string): string[] {
  const module = lower(
    parseWgsl(`enable f16, chromium_experimental_subgroup_matrix;
      alias M = subgroup_matrix_left<f16, 16, 16>;
      fn change(p: ptr<function, u32>) { *p = 1; }
      ${declaration}
      @compute @workgroup_size(32) fn main() { var local = 1u; ${statement} }`),
  )
  const found: string[] = []
  walk(module.entryPoint, {
    place(place, use) {
      const name = place.kind === 'variable' ? place.variable.name : ''
      if (moduleVariableOf(place)?.name === 'v' || name === 'local') found.push(use)
      return place.kind === 'variable' ? undefined : false
    },
  })
  return found
}

const atomic = 'var<workgroup> v: atomic<u32>;'
const array = '@group(0) @binding(0) var<storage, read_write> v: array<u32>;'
const halves = 'var<workgroup> v: array<f16, 256>;'

it.each([
  ['a load', array, 'let x = v[1];', ['load']],
  ['a store', array, 'v[1] = 1;', ['store']],
  ['a compound assignment', array, 'v[1] += 1;', ['load-store']],
  ['atomicLoad', atomic, 'let x = atomicLoad(&v);', ['load']],
  ['atomicStore', atomic, 'atomicStore(&v, 1);', ['store']],
  ['atomicAdd', atomic, 'atomicAdd(&v, 1);', ['load-store']],
  ['atomicCompareExchangeWeak', atomic, '_ = atomicCompareExchangeWeak(&v, 1, 2);', ['load-store']],
  ['arrayLength', array, 'let x = arrayLength(&v);', ['measure']],
  ['workgroupUniformLoad', 'var<workgroup> v: u32;', 'let x = workgroupUniformLoad(&v);', ['load']],
  ['subgroupMatrixLoad', halves, 'let x = subgroupMatrixLoad<M, row_major>(&v, 0, 16);', ['load']],
  ['subgroupMatrixStore', halves, 'subgroupMatrixStore<row_major>(&v, 0, M(), 16);', ['store']],
  ['a function of the source', '', 'change(&local);', ['address']],
])('%s is reported with its effect', (_, declaration, statement, expected) => {
  expect(uses(declaration, statement)).toEqual(expected)
})

it('reflection does not count memory as read if code only measures it or stores to it', () => {
  const bindings = (statement: string) =>
    reflect(lower(parseWgsl(`${array} @compute @workgroup_size(1) fn main() { ${statement} }`))).bindings.map(
      ({ reads, writes }) => [reads, writes],
    )
  expect(bindings('_ = arrayLength(&v);')).toEqual([[false, false]])
  expect(bindings('v[0] = arrayLength(&v);')).toEqual([[false, true]])
})
