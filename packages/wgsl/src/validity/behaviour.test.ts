import { describe, expect, it } from 'vitest'
import { lower, parseWgsl } from '../frontend/lower.ts'
import { openDawnOracle } from '../testing/dawn-oracle.ts'

const dawn = await openDawnOracle()

const sourceOf = (body: string) => `@group(0) @binding(0) var<storage, read_write> o: array<u32>;
fn f() -> u32 { ${body} }
@compute @workgroup_size(1) fn main() { o[1] = f(); }`

const accepted = [
  'return 1u;',
  'if (o[0] == 1) { return 1u; } else { return 2u; }',
  'switch (o[0]) { case 1: { return 1u; } default: { return 2u; } }',
  'loop { return 1u; }',
  'loop { if (o[0] == 1) { return 1u; } }',
  'for (;;) { if (o[0] == 1) { return 1u; } }',
  'loop { if (o[0] == 1) { break; } } return 1u;',
  'loop { continuing { break if o[0] == 1; } } return 1u;',
  'loop { if (o[0] == 1) { continue; } return 1u; continuing { break if o[0] == 1; } } return 2u;',
  'while (false) { } return 1u;',
  'return 1u; o[2] = 1u;',
  '{ return 1u; } o[2] = 1u;',
]
const neverReturns = [
  '',
  'if (o[0] == 1) { return 1u; }',
  'if (true) { return 1u; }',
  'switch (o[0]) { case 1: { return 1u; } default: { } }',
  'switch (o[0]) { case 1: { break; } default: { return 2u; } }',
  'loop { if (o[0] == 1) { break; } return 1u; }',
  'while (true) { return 1u; }',
  'for (; true; ) { return 1u; }',
]
const neverEnds = [
  'loop { }',
  'for (;;) { }',
  'loop { if (o[0] == 1) { continue; } }',
  'for (;;) { continue; }',
  'loop { switch (o[0]) { default: { break; } } } return 1u;',
  'loop { loop { break; } } return 1u;',
]

function textOf(source: string): string | undefined {
  try {
    lower(parseWgsl(source), { entryPoint: 'main' })
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

describe('a function', () => {
  it.each(accepted)('may be: %s', (body) => expect(textOf(sourceOf(body))).toBeUndefined())
  it.each(neverReturns)('must not be able to end without a value: %s', (body) =>
    expect(textOf(sourceOf(body))).toMatch("the function 'f' can end without returning u32"),
  )
  it.each(neverEnds)('must not have a loop that never ends: %s', (body) =>
    expect(textOf(sourceOf(body))).toMatch('the loop never ends'),
  )

  it.skipIf(dawn === undefined)('gets the same verdict from Dawn (needs npm webgpu)', async () => {
    for (const body of accepted) expect(await dawn!(sourceOf(body)), body).toEqual([])
    for (const body of [...neverReturns, ...neverEnds])
      expect(await dawn!(sourceOf(body)), body).not.toEqual([])
  })
})
