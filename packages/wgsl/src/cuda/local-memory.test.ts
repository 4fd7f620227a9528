import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { corpus } from '../testing/corpus.ts'
import { emitCuda } from './emit-cuda.ts'
import { hasProgram } from './testing/kernel-cases.ts'
import { nvccPtx } from './testing/nvcc-ptx.ts'

/** The bytes of local memory of the last function in the PTX that nvcc makes of a kernel. */
function localMemory(source: string, options: { indirect?: boolean } = {}): number {
  const ptx = nvccPtx(emitCuda(lower(parseWgsl(source)), { bounds: 'clamp', ...options }).source)
  return Number([...ptx.matchAll(/__local_depot\d+\[(\d+)\];/g)].at(-1)![1])
}

const accepted = (name: string) => corpus('accepted').find((kernel) => kernel.name === name)!.source
const source = accepted('local-memory.wgsl')
/** The first and the third array, of 16 bytes, may share a place; the second has 12 bytes. */
const leastBytes = 28

it.skipIf(!hasProgram('nvcc'))(
  'nvcc has separate places for arrays that live at the same time (needs nvcc)',
  () => {
    expect(localMemory(source)).toBeGreaterThanOrEqual(leastBytes)
    expect(localMemory(source, { indirect: true })).toBeGreaterThanOrEqual(leastBytes)
  },
)

it.skipIf(!hasProgram('nvcc'))(
  'nvcc has separate places for such arrays in an indirect kernel that is long (needs nvcc)',
  () => {
    const statements = Array.from(
      { length: 2000 },
      (_, k) => `  f += g * ${k}.5; if (f > ${k}.25) { out[${k % 64}] = u32(f); }`,
    )
    const long = source
      .replace('  if (i < 4u)', '  var f = f32(i); let g = f32(par.x);\n  if (i < 4u)')
      .replace('  out[i] = x', `${statements.join('\n')}\n  out[i] = x`)
    expect(localMemory(long, { indirect: true })).toBeGreaterThanOrEqual(leastBytes)
  },
)

it.skipIf(!hasProgram('nvcc'))(
  'nvcc has separate places for such arrays in a function that is not inlined (needs nvcc)',
  () => {
    const statements = Array.from({ length: 60 }, (_, k) => `  out[i] = out[i] * ${k}u + 1u;`).join('\n')
    const called = source
      .replace(/@compute.*\n.*\{/, 'fn called(i: u32) {')
      .replace('  out[i] = x', `${statements}\n  out[i] = x`)
    const calls = '  called(i);\n'.repeat(40)
    const entry = `@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {\n${calls}}\n`
    const text = emitCuda(lower(parseWgsl(called + entry)), { bounds: 'clamp' }).source
    expect(text).toContain('noinline')
    expect(localMemory(called + entry)).toBeGreaterThanOrEqual(leastBytes)
  },
)

it.skipIf(!hasProgram('nvcc'))(
  'nvcc has separate places for an array that is passed to an inlined function and one of that function (needs nvcc)',
  () => {
    // Arrays of 8 and 9 elements live together, each behind the word that makes its type another one.
    expect(localMemory(accepted('arrays-of-functions.wgsl'))).toBeGreaterThanOrEqual(4 + 32 + 4 + 36)
  },
)

it('hides the scalar results of functions that are not inlined from nvcc', () => {
  const text = emitCuda(lower(parseWgsl(accepted('results-of-long-functions.wgsl'))), {
    bounds: 'clamp',
  }).source
  const functions = text.split('__attribute__((noinline)) ').slice(1)
  const scalar = functions.filter((f) => /^(unsigned|int|float|bool) /.test(f))
  expect(scalar).not.toEqual([])
  for (const f of scalar)
    for (const [, value] of f.matchAll(/^ +return (.*);$/gm)) expect(value).toMatch(/^unknown\(/)
})
