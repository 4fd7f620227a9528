import { expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { emitCuda } from './emit-cuda.ts'

it('a function names only those workgroup variables in dynamic memory that it uses itself', () => {
  // Alone, 64 variables of 1 KiB need dynamic memory.
  const list = (part: (i: number) => string) => Array.from({ length: 64 }, (_, i) => part(i)).join('\n')
  const module = lower(
    parseWgsl(`${list((i) => `var<workgroup> w${i}: array<u32, 256>;`)}
${list((i) => `fn f${i}(x: u32) { w${i}[x] = x; ${i < 63 ? `f${i + 1}(x);` : ''} }`)}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) { f0(i); }`),
  )
  const { body } = emitCuda(module, { bounds: 'clamp', lineDirectives: false }).parts
  const functions = body.match(/^WGSL_FN void f\d+_.*?^}/gms)!
  expect(functions.length).toBe(64)
  for (const text of functions) expect(text.match(/ = \*reinterpret_cast/g)?.length).toBe(1)
})
